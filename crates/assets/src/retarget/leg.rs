//! Two-bone inverse kinematics: the ankle goes where it must, the knee bends where it bent.

use super::World;
use crate::{Pose, Skeleton};
use glam::{Quat, Vec3};

/// The joints of one leg.
#[derive(Clone, Copy)]
pub(super) struct Leg {
    pub(super) upper: usize,
    pub(super) lower: usize,
    pub(super) foot: usize,
}

/// Up to this share of its length a leg is stretched. A knee pops when its leg gets straight: the nearer to
/// that, the more it moves for every millimetre at the ankle.
pub(super) const STRETCH: f32 = 0.995;

impl Leg {
    /// How far the ankle gets from the hip: shorter always, longer ever less as the leg straightens.
    fn soft_reach(&self, before: f32, wanted: f32, length: f32) -> f32 {
        let room = (STRETCH * length - before).max(5e-4);
        if wanted <= before { wanted } else { before + room * (1.0 - (-(wanted - before) / room).exp()) }
    }

    /// Moves the ankle to `goal` by turning upper and lower leg; the foot keeps its turn in the world.
    /// Returns how far the ankle stays from the goal because the leg is too short.
    pub(super) fn reach(
        &self,
        skeleton: &Skeleton,
        pose: &mut Pose,
        world: &World,
        left: Vec3,
        goal: Vec3,
    ) -> f32 {
        let [hip, knee, ankle] = [self.upper, self.lower, self.foot].map(|j| world.positions[j]);
        let (thigh, shin) = (knee.distance(hip), ankle.distance(knee));
        let (before, wanted) = (ankle - hip, goal - hip);
        if thigh < 1e-4 || shin < 1e-4 || before.length() < 1e-4 || wanted.length() < 1e-4 {
            return ankle.distance(goal);
        }
        // Where the knee bends. A nearly straight leg bends forwards: one that the capture bent backwards by a
        // degree or two would else pop from one side to the other as it passes through straight.
        let bend = (knee - hip).cross(before) / (thigh * before.length());
        let straight = (1.0 - bend.length() / 0.15).max(0.0);
        let forwards = bend.dot(left);
        let normal = bend + (straight * (forwards.abs() - forwards) + 0.02) * left;
        let normal = normal.normalize_or(left);
        let towards = wanted.normalize();
        let reach = self.soft_reach(before.length(), wanted.length(), thigh + shin);
        let reach = reach.clamp((thigh - shin).abs() + 1e-4, 0.9999 * (thigh + shin));
        // The angle at the hip between the thigh and the line to the ankle (law of cosines).
        let cos = ((thigh * thigh + reach * reach - shin * shin) / (2.0 * thigh * reach)).clamp(-1.0, 1.0);
        let aside = towards.cross(normal).normalize_or(left.cross(towards));
        let new_knee = thigh * (cos * towards + (1.0 - cos * cos).sqrt() * aside);
        let turn = |from: Vec3, to: Vec3| Quat::from_rotation_arc(from.normalize(), to.normalize());
        let thigh_turn = turn(knee - hip, new_knee);
        let shin_turn = turn(ankle - knee, reach * towards - new_knee);

        let above = |j: usize| skeleton.joints[j].parent.map_or(Quat::IDENTITY, |p| world.rotations[p]);
        let set = |pose: &mut Pose, j: usize, parent: Quat, turned: Quat| {
            pose.locals[j].rotation = (parent.inverse() * turned * world.rotations[j]).normalize();
        };
        set(pose, self.upper, above(self.upper), thigh_turn);
        // Joints between knee and hip ride along with the thigh.
        set(pose, self.lower, thigh_turn * above(self.lower), shin_turn);
        set(pose, self.foot, shin_turn * above(self.foot), Quat::IDENTITY);
        (wanted.length() - reach).max(0.0)
    }
}
