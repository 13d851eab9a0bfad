//! Roles from the hierarchy and the rest pose, for joints whose names say nothing.

use super::Role;
use super::names::{Side, side_and_key, sided};
use crate::Skeleton;
use glam::Vec3;

/// A skeleton with what the matching keeps asking: children, depth, places at rest.
pub(super) struct Tree<'a> {
    pub(super) skeleton: &'a Skeleton,
    pub(super) at: Vec<Vec3>,
    children: Vec<Vec<usize>>,
    depth: Vec<usize>,
}

impl<'a> Tree<'a> {
    pub(super) fn new(skeleton: &'a Skeleton) -> Self {
        let world = skeleton.world_from_joints(&skeleton.rest_pose());
        let at: Vec<Vec3> = world.iter().map(|m| m.translation.into()).collect();
        let mut children = vec![Vec::new(); skeleton.len()];
        let mut depth = vec![0; skeleton.len()];
        for (j, joint) in skeleton.joints.iter().enumerate() {
            if let Some(p) = joint.parent {
                children[p].push(j);
                depth[j] = depth[p] + 1;
            }
        }
        Self { skeleton, at, children, depth }
    }

    fn parent(&self, j: usize) -> Option<usize> {
        self.skeleton.joints[j].parent
    }

    /// Whether `j` is `ancestor` or below it.
    pub(super) fn is_below(&self, mut j: usize, ancestor: usize) -> bool {
        while self.depth[j] > self.depth[ancestor] {
            match self.parent(j) {
                Some(p) => j = p,
                None => return false,
            }
        }
        j == ancestor
    }

    /// The lowest joint above both.
    fn common(&self, mut a: usize, mut b: usize) -> Option<usize> {
        while a != b {
            if self.depth[a] >= self.depth[b] {
                a = self.parent(a)?;
            } else {
                b = self.parent(b)?;
            }
        }
        Some(a)
    }

    /// From `from` (excluded) down to `to` (included).
    fn path(&self, from: usize, to: usize) -> Vec<usize> {
        let mut path = super::Humanoid::path(self.skeleton, from, to);
        if !path.is_empty() {
            path.remove(0);
        }
        path
    }
}

/// One optional joint per role.
#[derive(Default)]
pub(super) struct Roles([Option<usize>; 22]);

impl Roles {
    pub(super) fn get(&self, role: Role) -> Option<usize> {
        self.0[role as usize]
    }

    pub(super) fn set(&mut self, role: Role, joint: Option<usize>) {
        self.0[role as usize] = joint;
    }

    fn set_if_free(&mut self, role: Role, joint: Option<usize>) {
        if self.get(role).is_none() && joint.is_none_or(|j| !self.0.contains(&Some(j))) {
            self.set(role, joint);
        }
    }

    /// Gives the joints of a limb their roles, unless all that it `needs` is known.
    fn set_limb(&mut self, needs: [Role; 3], limb: [Role; 4], joints: [Option<usize>; 4]) {
        if needs.into_iter().any(|role| self.get(role).is_none()) {
            limb.into_iter().zip(joints).for_each(|(role, joint)| self.set_if_free(role, joint));
        }
    }

    /// Whether names found all that is needed.
    pub(super) fn is_complete(&self) -> bool {
        Role::NEEDED.into_iter().all(|role| self.get(role).is_some())
            && self.get(Role::LeftHand).is_some()
            && self.get(Role::RightHand).is_some()
    }

    /// Hips checked against the legs; spine, chest, neck and head put on the path up from them.
    pub(super) fn fill_trunk(&mut self, tree: &Tree) {
        use Role::*;
        if let (Some(l), Some(r)) = (self.get(LeftUpperLeg), self.get(RightUpperLeg)) {
            let above = tree.common(l, r).filter(|&j| j != l && j != r);
            // A `Hips` that does not carry both legs is a control or a name for something else.
            let carries = |hips: usize| tree.is_below(l, hips) && tree.is_below(r, hips);
            if !self.get(Hips).is_some_and(carries) {
                self.set(Hips, above);
            }
        }
        let Some(hips) = self.get(Hips) else { return };
        // Without any name the head ends the path up; with one, the path goes to it.
        let Some(top) = self.get(Head).or(self.get(Neck)) else { return };
        let mut trunk = tree.path(hips, top);
        if trunk.is_empty() {
            // Hips and spine may be siblings under one root.
            let Some(above) = tree.common(hips, top) else { return };
            trunk = tree.path(above, top);
        }
        trunk.retain(|&j| {
            Some(j) == self.get(Head) || !self.0[..].contains(&Some(j)) || Some(j) == self.get(Neck)
        });
        let arms = [LeftUpperArm, RightUpperArm].map(|r| self.get(r));
        let chest = match arms {
            [Some(l), Some(r)] => tree.common(l, r),
            _ => None,
        };
        let neck_at = self
            .get(Neck)
            .and_then(|n| trunk.iter().position(|&j| j == n))
            .or_else(|| chest.and_then(|c| trunk.iter().position(|&j| j == c)).map(|i| i + 1))
            .filter(|&i| i < trunk.len());
        let head_at = self.get(Head).and_then(|h| trunk.iter().position(|&j| j == h)).unwrap_or(trunk.len());
        if let Some(n) = neck_at.filter(|&n| n < head_at) {
            self.set(Neck, Some(trunk[n]));
        }
        let spine = &trunk[..neck_at.unwrap_or(head_at).min(head_at)];
        let (first, middle, last) = match spine {
            [] => (None, None, None),
            [one] => (Some(*one), None, None),
            [one, two] => (Some(*one), Some(*two), None),
            [one, rest @ .., last] => (Some(*one), Some(rest[(rest.len() - 1) / 2]), Some(*last)),
        };
        self.set(Spine, first);
        self.set(Chest, middle);
        self.set(UpperChest, last);
    }
}

/// Adds what names left open.
pub(super) fn fill(tree: &Tree, roles: &mut Roles) {
    use Role::*;
    if tree.skeleton.len() < 8 {
        return;
    }
    let low = tree.at.iter().fold(f32::INFINITY, |a, p| a.min(p.y));
    let high = tree.at.iter().fold(f32::NEG_INFINITY, |a, p| a.max(p.y));
    let height = high - low;
    if !(height.is_finite() && height > 0.0) {
        return;
    }
    let leaves: Vec<usize> = (0..tree.skeleton.len())
        .filter(|&j| tree.children[j].is_empty() && tree.depth[j] >= 2 && tree.at[j].is_finite())
        .filter(|&j| side_and_key(&tree.skeleton.joints[j].name).1.is_some())
        .collect();
    // The middle plane goes through the hips, or the root's first branching.
    let trunk = roles.get(Hips).or_else(|| (0..tree.skeleton.len()).find(|&j| tree.children[j].len() > 1));
    let middle = trunk.map_or(Vec3::ZERO, |j| tree.at[j]);
    let across = |j: usize| tree.at[j].x - middle.x;
    let off_centre = 0.02 * height;

    // Legs: the lowest leaf on each side.
    let lowest = |sign: f32| {
        leaves
            .iter()
            .copied()
            .filter(|&j| sign * across(j) > off_centre && tree.at[j].y < low + 0.15 * height)
            .min_by(|&a, &b| tree.at[a].y.total_cmp(&tree.at[b].y))
    };
    let (Some(plus_foot), Some(minus_foot)) = (lowest(1.0), lowest(-1.0)) else { return };
    let Some(hips) = tree.common(plus_foot, minus_foot) else { return };
    roles.set_if_free(Hips, Some(hips));
    let legs = [tree.path(hips, plus_foot), tree.path(hips, minus_foot)];

    // Head: the highest leaf near the middle that is not part of a leg.
    let head = leaves
        .iter()
        .copied()
        .filter(|&j| across(j).abs() < 0.1 * height && tree.at[j].y > low + 0.6 * height)
        .max_by(|&a, &b| tree.at[a].y.total_cmp(&tree.at[b].y));
    roles.set_if_free(Head, head.map(|leaf| head_below(tree, hips, leaf, low + 0.83 * height)));

    // Arms: the leaf furthest out on each side above the hips' height less an arm's length.
    let furthest = |sign: f32| {
        leaves
            .iter()
            .copied()
            .filter(|&j| sign * across(j) > 0.08 * height && !legs.iter().any(|leg| leg.contains(&j)))
            .filter(|&j| tree.at[j].y > low + 0.3 * height)
            .max_by(|&a, &b| (sign * across(a)).total_cmp(&(sign * across(b))))
    };
    let arms = match (furthest(1.0), furthest(-1.0)) {
        (Some(plus), Some(minus)) => {
            tree.common(plus, minus).map(|c| [tree.path(c, plus), tree.path(c, minus)])
        }
        _ => None,
    };

    let plus_is_left = plus_is_left(tree, &legs);
    let sides = if plus_is_left { [Side::Left, Side::Right] } else { [Side::Right, Side::Left] };
    for (side, leg) in sides.into_iter().zip(&legs) {
        let [.., upper, lower, foot, toes] = sided(side);
        roles.set_limb([upper, lower, foot], [upper, lower, foot, toes], fit_leg(tree, leg, low));
    }
    for (side, arm) in sides.into_iter().zip(arms.iter().flatten()) {
        let [shoulder, upper, lower, hand, ..] = sided(side);
        roles.set_limb([upper, lower, hand], [shoulder, upper, lower, hand], fit_arm(tree, arm));
    }
}

/// A face or a hat hangs below the head: the head is where the path up to a leaf branches into many, above `least_y`.
fn head_below(tree: &Tree, hips: usize, leaf: usize, least_y: f32) -> usize {
    let path = tree.path(hips, leaf);
    let many = |&j: &usize| tree.children[j].len() > 3 && tree.at[j].y > least_y;
    path.iter().rev().take(4).copied().find(many).unwrap_or(leaf)
}

/// Left is +X for a character that faces +Z. Names tell; else toes point forwards.
fn plus_is_left(tree: &Tree, legs: &[Vec<usize>; 2]) -> bool {
    let named = |leg: &[usize], side: Side| {
        leg.iter().any(|&j| side_and_key(&tree.skeleton.joints[j].name).0 == side)
    };
    if named(&legs[0], Side::Left) || named(&legs[1], Side::Right) {
        return true;
    }
    if named(&legs[0], Side::Right) || named(&legs[1], Side::Left) {
        return false;
    }
    let forwards: f32 = legs
        .iter()
        .filter_map(|leg| match leg.as_slice() {
            [.., before, toe] => Some(tree.at[*toe].z - tree.at[*before].z),
            _ => None,
        })
        .sum();
    forwards >= 0.0
}

/// Upper leg, knee, foot and toes on a chain that ends at the ground.
fn fit_leg(tree: &Tree, leg: &[usize], ground: f32) -> [Option<usize>; 4] {
    let y = |j: usize| tree.at[j].y - ground;
    let Some(&first) = leg.first() else { return [None; 4] };
    let hip_height = y(first);
    // Joints near the hips' height belong to the pelvis, except the last of them, which is the hip.
    let hip_at = leg.iter().rposition(|&j| y(j) > 0.85 * hip_height).unwrap_or(0);
    let Some(ankle_at) = leg.iter().position(|&j| y(j) < 0.2 * hip_height).filter(|&a| a > hip_at + 1) else {
        return [None; 4];
    };
    let half = 0.5 * (y(leg[hip_at]) + y(leg[ankle_at]));
    let knee = leg[hip_at + 1..ankle_at]
        .iter()
        .copied()
        .min_by(|&a, &b| (y(a) - half).abs().total_cmp(&(y(b) - half).abs()));
    [Some(leg[hip_at]), knee, Some(leg[ankle_at]), leg.get(ankle_at + 1).copied()]
}

/// Collar, upper arm, elbow and hand on a chain that ends at a finger or a hand.
fn fit_arm(tree: &Tree, arm: &[usize]) -> [Option<usize>; 4] {
    // The hand is where fingers part.
    let parting = arm.iter().position(|&j| tree.children[j].len() > 2).filter(|&i| i >= 2);
    let arm = &arm[..parting.map_or(arm.len(), |i| i + 1)];
    let length = |i: usize| tree.at[arm[i]].distance(tree.at[arm[i + 1]]);
    match arm.len() {
        0 | 1 => [None; 4],
        2 => [None, Some(arm[0]), Some(arm[1]), None],
        3 => [None, Some(arm[0]), Some(arm[1]), Some(arm[2])],
        // A short first bone is a collar bone; else the last joint is a finger.
        4 if parting.is_none() && length(0) > 0.75 * length(1) => {
            [None, Some(arm[0]), Some(arm[1]), Some(arm[2])]
        }
        _ => [Some(arm[0]), Some(arm[1]), Some(arm[2]), Some(arm[3])],
    }
}
