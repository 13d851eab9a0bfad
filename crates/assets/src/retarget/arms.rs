//! Arms spread outwards until the hands clear the hips.

use super::World;
use super::rest::ARMS;
use crate::{Body, Humanoid, Pose, Role};
use glam::{Quat, Vec3};

/// No more than this is tried, degrees.
const MOST: f32 = 15.0;
/// Frames that are looked at.
const FRAMES: usize = 90;
/// Points of an arm that are looked at.
const POINTS: usize = 120;
/// Nearer than this to hips and thighs counts as cutting, metres: skirts and coats stand off there.
const CLEARANCE: f32 = 0.03;
/// The same at the waist, where cloth lies close and runners' elbows pass.
const WAIST_CLEARANCE: f32 = 0.01;
/// Share of the looked-at frames that may cut: a hand that strikes the thigh once is part of the motion.
const MAY_CUT: f32 = 0.05;

/// The arms of a body and what they may cut.
pub(super) struct Arms<'a> {
    body: &'a Body,
    upper: [usize; 2],
    chest: usize,
    /// Forward at rest, in the chest's frame.
    forward: Vec3,
    points: [Vec<(usize, Vec3)>; 2],
    trunk: Vec<Barrel>,
}

/// The surface around a bone as distances from its axis, by height and angle.
struct Barrel {
    joint: usize,
    /// In the joint's frame.
    start: Vec3,
    axis: Vec3,
    side: Vec3,
    length: f32,
    /// How far arms should stay off, metres.
    clearance: f32,
    radii: [[f32; Barrel::AROUND]; Barrel::ALONG],
}

impl Barrel {
    const ALONG: usize = 10;
    const AROUND: usize = 16;

    /// From points in the joint's frame; `None` when there are too few to be a surface.
    fn new(joint: usize, start: Vec3, end: Vec3, points: &[Vec3]) -> Option<Self> {
        let length = start.distance(end);
        let axis = (end - start).try_normalize()?;
        let side = axis.any_orthonormal_vector();
        let radii = [[0.0; Self::AROUND]; Self::ALONG];
        let mut barrel = Self { joint, start, axis, side, length, clearance: CLEARANCE, radii };
        let mut counts = [[0u32; Self::AROUND]; Self::ALONG];
        for &p in points {
            if let Some((h, a, r)) = barrel.cell(p) {
                barrel.radii[h][a] += r;
                counts[h][a] += 1;
            }
        }
        for (radii, counts) in barrel.radii.iter_mut().zip(&counts) {
            for (r, &n) in radii.iter_mut().zip(counts) {
                *r /= n.max(1) as f32;
            }
            // Cells between sparse vertices take after their neighbours around the bone.
            let known: Vec<usize> = (0..Self::AROUND).filter(|&a| counts[a] > 0).collect();
            let away = |a: usize, b: usize| a.abs_diff(b).min(Self::AROUND - a.abs_diff(b));
            for a in (0..Self::AROUND).filter(|&a| counts[a] == 0) {
                let nearest = known.iter().copied().filter(|&k| away(a, k) <= 2).min_by_key(|&k| away(a, k));
                radii[a] = nearest.map_or(0.0, |k| radii[k]);
            }
        }
        (points.len() >= 32).then_some(barrel)
    }

    /// A plain capsule's wall, for bodies without a usable surface.
    fn plain(joint: usize, start: Vec3, end: Vec3, radius: f32) -> Option<Self> {
        let axis = (end - start).try_normalize()?;
        let side = axis.any_orthonormal_vector();
        let length = start.distance(end);
        let radii = [[radius; Self::AROUND]; Self::ALONG];
        Some(Self { joint, start, axis, side, length, clearance: CLEARANCE, radii })
    }

    /// Height cell, angle cell and distance from the axis.
    fn cell(&self, p: Vec3) -> Option<(usize, usize, f32)> {
        let from = p - self.start;
        let along = from.dot(self.axis) / self.length;
        if !(0.0..1.0).contains(&along) {
            return None;
        }
        let out = from - self.axis * from.dot(self.axis);
        let angle = out.dot(self.axis.cross(self.side)).atan2(out.dot(self.side));
        let around = (angle / std::f32::consts::TAU + 1.0).fract() * Self::AROUND as f32;
        let h = ((along * Self::ALONG as f32) as usize).min(Self::ALONG - 1);
        Some((h, (around as usize).min(Self::AROUND - 1), out.length()))
    }

    /// How much too near a point in the joint's frame is; negative where it is clear.
    fn depth(&self, p: Vec3) -> f32 {
        self.cell(p).map_or(f32::NEG_INFINITY, |(h, a, r)| self.radii[h][a] + self.clearance - r)
    }
}

impl<'a> Arms<'a> {
    pub(super) fn new(body: &'a Body, roles: &Humanoid, chest: usize, forward: Vec3) -> Self {
        let rest = World::of(&body.skeleton, &body.skeleton.rest_pose().locals);
        let skinned = body.skinned_positions(&body.bones(&body.skeleton.rest_pose()));
        let joint = |role: Role| roles.joint(role).unwrap_or(chest);
        let into = |j: usize, p: Vec3| rest.rotations[j].inverse() * (p - rest.positions[j]);
        // Vertices by the joint that moves them most.
        let mut owned: Vec<Vec<Vec3>> = vec![Vec::new(); body.skeleton.len()];
        for (v, p) in skinned.iter().enumerate() {
            if let Some((j, w)) = body.skin.row(v).max_by(|a, b| a.1.total_cmp(&b.1))
                && w > 0.5
            {
                owned[j as usize].push(*p);
            }
        }
        let below = |j: usize, top: usize| !Humanoid::path(&body.skeleton, top, j).is_empty();

        let points = ARMS.map(|[_, _, lower, hand]| {
            let lower = joint(lower);
            let hand = roles.joint(hand);
            let mut points: Vec<(usize, Vec3)> = Vec::new();
            for (j, vertices) in owned.iter().enumerate() {
                // The upper half of the forearm does not get near the hips before the hand does.
                let is_hand = hand.is_some_and(|h| below(j, h));
                if is_hand {
                    points.extend(vertices.iter().map(|&p| (j, into(j, p))));
                } else if j == lower {
                    let elbow = rest.positions[lower];
                    let wrist = hand.map_or(elbow, |h| rest.positions[h]);
                    let far = vertices.iter().filter(|p| p.distance(elbow) > 0.5 * wrist.distance(elbow));
                    points.extend(far.map(|&p| (j, into(j, p))));
                }
            }
            let step = points.len().div_ceil(POINTS).max(1);
            let mut points: Vec<(usize, Vec3)> = points.into_iter().step_by(step).collect();
            if points.is_empty() {
                let wrist = hand.unwrap_or(lower);
                points.push((wrist, Vec3::ZERO));
                points.extend(body.skeleton.children(wrist).map(|c| (c, Vec3::ZERO)));
            }
            points
        });

        let trunk = trunk(body, roles, &rest, &owned);
        let forward = rest.rotations[chest].inverse() * forward;
        let upper = ARMS.map(|[_, upper, _, _]| joint(upper));
        Self { body, upper, chest, forward, points, trunk }
    }

    /// Turns both upper arms outwards about the chest's forward axis.
    pub(super) fn spread(&self, poses: &mut [Pose], degrees: f32) {
        if degrees == 0.0 {
            return;
        }
        for pose in poses {
            self.spread_one(pose, degrees);
        }
    }

    fn spread_one(&self, pose: &mut Pose, degrees: f32) {
        let world = World::of(&self.body.skeleton, &pose.locals);
        let axis = world.rotations[self.chest] * self.forward;
        for (&upper, sign) in self.upper.iter().zip([1.0, -1.0]) {
            let out = Quat::from_axis_angle(axis, sign * degrees.to_radians());
            let above =
                self.body.skeleton.joints[upper].parent.map_or(Quat::IDENTITY, |p| world.rotations[p]);
            pose.locals[upper].rotation = (above.inverse() * out * world.rotations[upper]).normalize();
        }
    }

    /// The smallest spread, in whole degrees, with which the hands stay out of hips and thighs.
    pub(super) fn least_abduction(&self, poses: &[Pose]) -> f32 {
        let step = poses.len().div_ceil(FRAMES).max(1);
        let looked_at: Vec<&Pose> = poses.iter().step_by(step).collect();
        let cuts = |degrees: f32| -> f32 {
            let cutting = looked_at.iter().filter(|pose| self.deepest(pose, degrees) > 0.0).count();
            cutting as f32 / looked_at.len().max(1) as f32
        };
        // Spreading never brings a hand nearer to the hips, so the limit can be bisected.
        if cuts(0.0) <= MAY_CUT {
            return 0.0;
        }
        let (mut low, mut high) = (0.0f32, MOST);
        while high - low > 1.0 {
            let middle = (0.5 * (low + high)).round();
            if cuts(middle) <= MAY_CUT { high = middle } else { low = middle }
        }
        high
    }

    /// How much too near the arms come to the trunk in one pose.
    fn deepest(&self, pose: &Pose, degrees: f32) -> f32 {
        let mut pose = pose.clone();
        if degrees != 0.0 {
            self.spread_one(&mut pose, degrees);
        }
        let world = World::of(&self.body.skeleton, &pose.locals);
        let mut deepest = f32::NEG_INFINITY;
        for &(j, p) in self.points.iter().flatten() {
            let at = world.positions[j] + world.rotations[j] * p;
            for barrel in &self.trunk {
                let local = world.rotations[barrel.joint].inverse() * (at - world.positions[barrel.joint]);
                deepest = deepest.max(barrel.depth(local));
            }
        }
        deepest
    }
}

/// The surfaces that hands may cut: thighs, pelvis and waist. Not the chest: a hand on it was put there, and
/// arms that are spread do not take it away.
fn trunk(body: &Body, roles: &Humanoid, rest: &World, owned: &[Vec<Vec3>]) -> Vec<Barrel> {
    let Some(hips) = roles.joint(Role::Hips) else { return Vec::new() };
    let joint = |role: Role| roles.joint(role).unwrap_or(hips);
    let into = |j: usize, p: Vec3| rest.rotations[j].inverse() * (p - rest.positions[j]);
    let thighs = [Role::LeftUpperLeg, Role::RightUpperLeg].map(joint);
    let knees = [Role::LeftLowerLeg, Role::RightLowerLeg].map(joint);
    let chest = roles.joint(Role::Chest).or(roles.joint(Role::Spine));
    let mut line = chest.map_or_else(Vec::new, |c| Humanoid::path(&body.skeleton, hips, c));
    line.retain(|&j| j != hips);

    // Helper joints count to the bone they hang on; everything past knees and chest to none.
    let mut bone_of: Vec<Option<usize>> = Vec::with_capacity(body.skeleton.len());
    for (j, joint) in body.skeleton.joints.iter().enumerate() {
        let own = j == hips || thighs.contains(&j) || line.contains(&j);
        let on = joint.parent.and_then(|p| bone_of[p]);
        let past = knees.contains(&j) || (on.is_some() && on == chest && !own);
        bone_of.push(if past {
            None
        } else if own {
            Some(j)
        } else {
            on
        });
    }
    let skin_of = |bone: usize| -> Vec<Vec3> {
        let joints = (0..owned.len()).filter(|&j| bone_of[j] == Some(bone));
        joints.flat_map(|j| owned[j].iter()).map(|&p| into(bone, p)).collect()
    };
    let hip_span = rest.positions[thighs[0]].distance(rest.positions[thighs[1]]);
    let mut barrels = Vec::new();
    for (thigh, knee) in thighs.into_iter().zip(knees) {
        let end = into(thigh, rest.positions[knee]);
        barrels.extend(
            Barrel::new(thigh, Vec3::ZERO, end, &skin_of(thigh))
                .or_else(|| Barrel::plain(thigh, Vec3::ZERO, end, 0.45 * hip_span)),
        );
    }
    // A spine of one joint is waist and chest at once.
    if line.len() > 1 {
        line.retain(|&j| Some(j) != chest);
    }
    for bone in std::iter::once(hips).chain(line) {
        // Around the upright line through the joint, as high as its skin goes.
        let skin = skin_of(bone);
        let up = rest.rotations[bone].inverse() * Vec3::Y;
        let heights = skin.iter().map(|p| p.dot(up));
        let (low, high) = heights.fold((0.0f32, 0.0f32), |(a, b), h| (a.min(h), b.max(h)));
        let barrel = Barrel::new(bone, up * low, up * (high + 1e-3), &skin);
        let barrel =
            barrel.map(|b| if bone == hips { b } else { Barrel { clearance: WAIST_CLEARANCE, ..b } });
        if bone == hips {
            let plain = || Barrel::plain(hips, up * (-0.5 * hip_span), up * hip_span, 0.9 * hip_span);
            barrels.extend(barrel.or_else(plain));
        } else {
            barrels.extend(barrel);
        }
    }
    barrels
}
