//! Which joint of a skeleton plays which part of a human.
//!
//! Names decide where they are known (the conventions of CMU, Mixamo, VRM and Unity, MakeHuman, Unreal,
//! Rigify, Daz, Biped, H-Anim); the hierarchy and the rest pose decide the rest.

mod facing;
mod names;
mod shape;

pub use facing::Facing;

use crate::Skeleton;

/// The parts, written down once.
macro_rules! roles {
    ($($role:ident)*) => {
        /// A part of a human that retargeting and the canonical frame know.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs)]
        pub enum Role { $($role),* }

        impl Role {
            /// Every role, in order.
            pub const ALL: [Self; 22] = [$(Self::$role),*];
        }
    };
}

roles! {
    Hips Spine Chest UpperChest Neck Head
    LeftShoulder LeftUpperArm LeftLowerArm LeftHand
    RightShoulder RightUpperArm RightLowerArm RightHand
    LeftUpperLeg LeftLowerLeg LeftFoot LeftToes
    RightUpperLeg RightLowerLeg RightFoot RightToes
}

impl Role {
    /// The same part on the other side; parts in the middle are their own.
    pub fn other_side(self) -> Self {
        use Role::*;
        match self {
            LeftShoulder => RightShoulder,
            LeftUpperArm => RightUpperArm,
            LeftLowerArm => RightLowerArm,
            LeftHand => RightHand,
            RightShoulder => LeftShoulder,
            RightUpperArm => LeftUpperArm,
            RightLowerArm => LeftLowerArm,
            RightHand => LeftHand,
            LeftUpperLeg => RightUpperLeg,
            LeftLowerLeg => RightLowerLeg,
            LeftFoot => RightFoot,
            LeftToes => RightToes,
            RightUpperLeg => LeftUpperLeg,
            RightLowerLeg => LeftLowerLeg,
            RightFoot => LeftFoot,
            RightToes => LeftToes,
            middle => middle,
        }
    }

    /// The roles without which a motion cannot be carried over.
    pub const NEEDED: [Self; 12] = {
        use Role::*;
        [
            Hips,
            Head,
            LeftUpperArm,
            LeftLowerArm,
            RightUpperArm,
            RightLowerArm,
            LeftUpperLeg,
            LeftLowerLeg,
            LeftFoot,
            RightUpperLeg,
            RightLowerLeg,
            RightFoot,
        ]
    };
}

/// The joints found for the roles, and the joints that have none.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Humanoid {
    /// Role and joint index, in the order of [`Role`].
    pub joints: Vec<(Role, usize)>,
    /// Joints without a role.
    pub left_out: Vec<usize>,
}

impl Humanoid {
    /// Matches by name, and where names do not tell by hierarchy and rest pose.
    pub fn of(skeleton: &Skeleton) -> Self {
        let tree = shape::Tree::new(skeleton);
        let mut found = names::match_names(&tree);
        if !found.is_complete() {
            shape::fill(&tree, &mut found);
        }
        found.fill_trunk(&tree);
        let joints: Vec<(Role, usize)> =
            Role::ALL.into_iter().filter_map(|role| Some((role, found.get(role)?))).collect();
        let mut has_role = vec![false; skeleton.len()];
        for &(_, j) in &joints {
            has_role[j] = true;
        }
        let left_out = (0..skeleton.len()).filter(|&j| !has_role[j]).collect();
        Self { joints, left_out }
    }

    /// The joint of a role.
    pub fn joint(&self, role: Role) -> Option<usize> {
        self.joints.iter().find(|(r, _)| *r == role).map(|&(_, j)| j)
    }

    /// Root, left hip and right hip: what the canonical frame is made of. Falls back to the root alone.
    pub fn hip_line(&self, _skeleton: &Skeleton) -> (usize, usize, usize) {
        let root = self.joint(Role::Hips).unwrap_or(0);
        let left = self.joint(Role::LeftUpperLeg).unwrap_or(root);
        let right = self.joint(Role::RightUpperLeg).unwrap_or(root);
        (root, left, right)
    }

    /// The roles of [`Role::NEEDED`] that no joint plays.
    pub fn missing(&self) -> Vec<Role> {
        Role::NEEDED.into_iter().filter(|&role| self.joint(role).is_none()).collect()
    }

    /// The joints from one to another further down, both included; empty when the second is not below the
    /// first.
    pub fn path(skeleton: &Skeleton, from: usize, to: usize) -> Vec<usize> {
        let mut path = vec![to];
        let mut at = to;
        while at != from {
            let Some(parent) = skeleton.joints[at].parent else { return Vec::new() };
            at = parent;
            path.push(at);
        }
        path.reverse();
        path
    }

    /// A table for people: every role with its joint, what is missing and what was left out.
    pub fn table(&self, skeleton: &Skeleton) -> String {
        use std::fmt::Write;
        let mut text = String::new();
        for role in Role::ALL {
            let joint = self.joint(role).map_or("-", |j| skeleton.joints[j].name.as_str());
            let _ = writeln!(text, "{:<14} {joint}", format!("{role:?}"));
        }
        let missing = self.missing();
        if !missing.is_empty() {
            let names: Vec<String> = missing.iter().map(|r| format!("{r:?}")).collect();
            let _ = writeln!(text, "missing: {}", names.join(", "));
        }
        if !self.left_out.is_empty() {
            let names: Vec<&str> = self.left_out.iter().map(|&j| skeleton.joints[j].name.as_str()).collect();
            let _ = writeln!(text, "left out: {}", names.join(", "));
        }
        text
    }
}
