//! Which joint of a skeleton plays which part of a human.

use crate::Skeleton;

/// A part of a human that retargeting and the canonical frame know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Role {
    Hips,
    Spine,
    Chest,
    UpperChest,
    Neck,
    Head,
    LeftShoulder,
    LeftUpperArm,
    LeftLowerArm,
    LeftHand,
    RightShoulder,
    RightUpperArm,
    RightLowerArm,
    RightHand,
    LeftUpperLeg,
    LeftLowerLeg,
    LeftFoot,
    LeftToes,
    RightUpperLeg,
    RightLowerLeg,
    RightFoot,
    RightToes,
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
    /// Matches by name.
    pub fn of(skeleton: &Skeleton) -> Self {
        let mut joints = Vec::new();
        let mut left_out = Vec::new();
        for (j, joint) in skeleton.joints.iter().enumerate() {
            match role_of_name(&joint.name) {
                Some(role) if !joints.iter().any(|&(r, _)| r == role) => joints.push((role, j)),
                _ => left_out.push(j),
            }
        }
        joints.sort();
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
}

/// The role that a joint's name stands for.
fn role_of_name(name: &str) -> Option<Role> {
    use Role::*;
    Some(match name {
        "humanoid_root" | "Hips" | "hips" => Hips,
        "l_hip" | "LeftUpLeg" => LeftUpperLeg,
        "r_hip" | "RightUpLeg" => RightUpperLeg,
        _ => return None,
    })
}
