//! Two rest poses brought to agree, and one pose carried over.

use super::{SourceTrack, World};
use crate::{Error, Humanoid, Pose, Result, Role, Skeleton, Transform};
use glam::{Mat3, Quat, Vec3};

/// The two sides' leg and foot roles: upper leg, lower leg, foot, toes.
pub(super) const LEGS: [[Role; 4]; 2] = [
    [Role::LeftUpperLeg, Role::LeftLowerLeg, Role::LeftFoot, Role::LeftToes],
    [Role::RightUpperLeg, Role::RightLowerLeg, Role::RightFoot, Role::RightToes],
];

/// Collar, upper arm, lower arm, hand.
pub(super) const ARMS: [[Role; 4]; 2] = [
    [Role::LeftShoulder, Role::LeftUpperArm, Role::LeftLowerArm, Role::LeftHand],
    [Role::RightShoulder, Role::RightUpperArm, Role::RightLowerArm, Role::RightHand],
];

/// The turn of a source joint from its rest, or of a place between two of them.
#[derive(Clone, Copy)]
struct Drive {
    a: usize,
    b: usize,
    t: f32,
    /// What the turn is applied to: the target joint at rest, aligned with the source's rest.
    aligned: Quat,
}

/// All that is needed to carry poses over; made once per pair of skeletons.
pub(super) struct Plan<'a> {
    source: &'a Skeleton,
    target: &'a Skeleton,
    source_rest: World,
    drives: Vec<Option<Drive>>,
    source_hips: usize,
    /// From the target's hips to the middle of its hip joints, in the hips' frame.
    hips_to_legs: Vec3,
    pub(super) target_hips: usize,
    /// Metres of the target's travel per metre of the source's.
    pub(super) scale: f32,
    /// Where the target faces at rest.
    pub(super) target_forward: Vec3,
    feet: [SourceFoot; 2],
    used: Vec<bool>,
}

/// Which joint of the source turns which of the target, as it is found out.
struct Driving<'a> {
    used: Vec<bool>,
    drives: Vec<Option<Drive>>,
    /// Turns the resting target until it faces where the resting source faces.
    facing: Quat,
    target_rest: &'a World,
}

impl Driving<'_> {
    /// Lets `joint` follow the share `t` of the way from `a` to `b`.
    fn drive(&mut self, joint: usize, (a, b, t): (usize, usize, f32), align: Quat) {
        self.used[a] = true;
        self.used[b] |= t > 0.0;
        let aligned = (align * self.facing * self.target_rest.rotations[joint]).normalize();
        self.drives[joint] = Some(Drive { a, b, t, aligned });
    }

    /// Hips, spine, neck and head.
    fn trunk(&mut self, s: &Side<'_>, t: &Side<'_>) -> Result<()> {
        let (source_hips, target_hips) = (s.joint(Role::Hips)?, t.joint(Role::Hips)?);
        self.drive(target_hips, (source_hips, source_hips, 0.0), Quat::IDENTITY);
        let (s_trunk, t_trunk) = (s.trunk(), t.trunk());
        // Joint i of n takes the turn at the same share of the way up, counted so that the hips are before
        // the first and the last, which carries the arms, is the source's last.
        for (i, &joint) in t_trunk.spine.iter().enumerate() {
            let mut line = vec![source_hips];
            line.extend(&s_trunk.spine);
            let at = (i + 1) as f32 / t_trunk.spine.len() as f32 * s_trunk.spine.len() as f32;
            self.drive(joint, between(&line, at), Quat::IDENTITY);
        }
        let s_chest = s_trunk.spine.last().copied().unwrap_or(source_hips);
        let (s_head, t_head) = (s.joint(Role::Head)?, t.joint(Role::Head)?);
        for (i, &joint) in t_trunk.neck.iter().enumerate() {
            let mut line = vec![s_chest];
            line.extend(&s_trunk.neck);
            line.push(s_head);
            let at = (i + 1) as f32 / (t_trunk.neck.len() + 1) as f32 * (s_trunk.neck.len() + 1) as f32;
            self.drive(joint, between(&line, at), Quat::IDENTITY);
        }
        self.drive(t_head, (s_head, s_head, 0.0), Quat::IDENTITY);
        Ok(())
    }

    /// Collar bone to hand, as far as both have them.
    fn arm(&mut self, s: &Side<'_>, t: &Side<'_>, [collar, upper, lower, hand]: [Role; 4]) {
        if let (Ok(a), Ok(joint)) = (s.joint(collar), t.joint(collar)) {
            self.drive(joint, (a, a, 0.0), Quat::IDENTITY);
        }
        // Each bone is turned on from where the one above already turned it, so that a bent elbow at
        // rest does not become a twist of the forearm.
        let mut align = Quat::IDENTITY;
        for (role, end) in [(upper, Some(lower)), (lower, Some(hand)), (hand, None)] {
            let (Ok(a), Ok(joint)) = (s.joint(role), t.joint(role)) else { continue };
            let (from, to) = match end {
                Some(end) => (t.direction(role, end), s.direction(role, end)),
                None => (t.palm(joint), s.palm(a)),
            };
            if let (Some(from), Some(to)) = (from, to) {
                align = (arc(align * (self.facing * from), to) * align).normalize();
            }
            self.drive(joint, (a, a, 0.0), align);
        }
    }

    /// Thigh to toes; `forward` is where the source faces at rest.
    fn leg(
        &mut self,
        s: &Side<'_>,
        t: &Side<'_>,
        [upper, lower, foot, toes]: [Role; 4],
        forward: Vec3,
    ) -> Result<()> {
        let mut align = Quat::IDENTITY;
        for (role, end) in [(upper, lower), (lower, foot)] {
            if let (Some(from), Some(to)) = (t.direction(role, end), s.direction(role, end)) {
                align = (arc(align * (self.facing * from), to) * align).normalize();
            }
            let a = s.joint(role)?;
            self.drive(t.joint(role)?, (a, a, 0.0), align);
        }
        // Feet stand flat in both rest poses, wherever their joints are, so they need no alignment; only a
        // source whose feet are unposed at rest does.
        let mut align = Quat::IDENTITY;
        if let (Some(from), Some(to)) = (t.direction(foot, toes), s.direction(foot, toes))
            && to.dot(forward) < 0.3
        {
            align = arc(self.facing * from, to);
        }
        for role in [foot, toes] {
            if let (Ok(a), Ok(joint)) = (s.joint(role), t.joint(role)) {
                self.drive(joint, (a, a, 0.0), align);
            }
        }
        Ok(())
    }
}

/// A foot of the source.
struct SourceFoot {
    upper_leg: usize,
    foot: usize,
    toes: Option<usize>,
    /// From the ankle to the ground under it, at rest and in the world's axes.
    heel: Vec3,
    /// From the ankle to the ball at rest, where there is no joint for it.
    ball: Vec3,
}

impl<'a> Plan<'a> {
    pub(super) fn new(
        source: &'a Skeleton,
        source_roles: &Humanoid,
        target: &'a Skeleton,
        target_roles: &Humanoid,
    ) -> Result<Self> {
        let source_rest = World::of(source, &source.rest_pose().locals);
        let target_rest = World::of(target, &target.rest_pose().locals);
        let (s, t) = (
            Side { skeleton: source, roles: source_roles, rest: &source_rest },
            Side { skeleton: target, roles: target_roles, rest: &target_rest },
        );
        let (source_axes, target_axes) = (s.axes()?, t.axes()?);
        // Turns the resting target until it faces where the resting source faces.
        let facing = (source_axes * target_axes.inverse()).normalize();
        let (source_hips, target_hips) = (s.joint(Role::Hips)?, t.joint(Role::Hips)?);
        let mut driving = Driving {
            used: vec![false; source.len()],
            drives: vec![None; target.len()],
            facing,
            target_rest: &target_rest,
        };
        driving.trunk(&s, &t)?;
        ARMS.iter().for_each(|arm| driving.arm(&s, &t, *arm));
        for leg in LEGS {
            driving.leg(&s, &t, leg, source_axes * Vec3::Z)?;
        }
        let Driving { used, drives, .. } = driving;

        let scale = t.leg_length() / s.leg_length();
        if !(scale.is_finite() && scale > 0.0) {
            return Err(Error::Invalid("the legs of motion or body have no length".into()));
        }
        let feet = [0, 1].map(|side| {
            let [upper_leg, _, foot, toes] = LEGS[side].map(|role| source_roles.joint(role));
            let foot = foot.unwrap_or(source_hips);
            let ankle = source_rest.positions[foot];
            let ground = source_rest.positions.iter().fold(f32::INFINITY, |y, p| y.min(p.y));
            let forward = source_axes * Vec3::Z;
            let drop = (ankle.y - ground).max(0.0);
            let upper_leg = upper_leg.unwrap_or(source_hips);
            SourceFoot {
                upper_leg,
                foot,
                toes,
                heel: Vec3::new(0.0, -drop, 0.0),
                ball: forward * (1.5 * drop),
            }
        });
        let hips_to_legs = target_rest.rotations[target_hips].inverse() * t.hips_to_legs();
        let target_forward = target_axes * Vec3::Z;
        Ok(Self {
            source,
            target,
            drives,
            source_hips,
            hips_to_legs,
            target_hips,
            scale,
            target_forward,
            feet,
            used,
            source_rest,
        })
    }

    /// Source joints that drive nothing.
    pub(super) fn unused(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.used.len()).filter(|&j| !self.used[j])
    }

    /// Carries one pose over and notes where the source's feet are.
    pub(super) fn carry(&self, pose: &Pose, track: &mut SourceTrack) -> Pose {
        let from = World::of(self.source, &pose.locals);
        let turn = |j: usize| from.rotations[j] * self.source_rest.rotations[j].inverse();
        for (side, foot) in self.feet.iter().enumerate() {
            let ankle = from.positions[foot.foot];
            let turned = turn(foot.foot);
            track.heels[side].push(self.scale * (ankle + turned * foot.heel));
            let ball = foot.toes.map_or(ankle + turned * foot.ball, |t| from.positions[t]);
            track.balls[side].push(self.scale * ball);
        }
        let mut rotations: Vec<Quat> = Vec::with_capacity(self.target.len());
        let mut positions: Vec<Vec3> = Vec::with_capacity(self.target.len());
        let mut locals = Vec::with_capacity(self.target.len());
        for (k, joint) in self.target.joints.iter().enumerate() {
            let (up_rotation, up_position) =
                joint.parent.map_or((Quat::IDENTITY, Vec3::ZERO), |p| (rotations[p], positions[p]));
            let mut local = joint.rest;
            if let Some(drive) = &self.drives[k] {
                let turned =
                    if drive.t == 0.0 { turn(drive.a) } else { turn(drive.a).slerp(turn(drive.b), drive.t) };
                local.rotation = (up_rotation.inverse() * turned * drive.aligned).normalize();
            }
            let rotation = (up_rotation * local.rotation).normalize();
            if k == self.target_hips {
                // Over the ground the joint called hips travels as the source's does. Rigs put it anywhere in
                // the pelvis, so heights are those of the hip joints, or a pelvis that tilts would lift
                // the feet off the ground.
                let legs = self.feet.iter().map(|foot| from.positions[foot.upper_leg].y).sum::<f32>() / 2.0;
                let height = self.scale * legs - (rotation * self.hips_to_legs).y;
                let hips = self.scale * from.positions[self.source_hips];
                let at = Vec3::new(hips.x, height, hips.z);
                local.translation = up_rotation.inverse() * (at - up_position);
            }
            rotations.push(rotation);
            positions.push(up_position + up_rotation * local.translation);
            locals.push(Transform { rotation: local.rotation, translation: local.translation });
        }
        Pose { locals }
    }
}

/// The shortest rotation from one direction to another.
fn arc(from: Vec3, to: Vec3) -> Quat {
    Quat::from_rotation_arc(from.normalize_or(Vec3::Y), to.normalize_or(Vec3::Y))
}

/// The neighbours of a fractional place in a line of joints.
fn between(line: &[usize], at: f32) -> (usize, usize, f32) {
    let at = at.clamp(0.0, (line.len() - 1) as f32);
    let i = (at.floor() as usize).min(line.len() - 1);
    let t = at - i as f32;
    (line[i], line[(i + 1).min(line.len() - 1)], if t < 1e-4 { 0.0 } else { t })
}

/// Joints between hips and head.
struct Trunk {
    spine: Vec<usize>,
    neck: Vec<usize>,
}

/// One of the two skeletons with its roles.
struct Side<'a> {
    skeleton: &'a Skeleton,
    roles: &'a Humanoid,
    rest: &'a World,
}

impl Side<'_> {
    fn joint(&self, role: Role) -> Result<usize> {
        self.roles.joint(role).ok_or_else(|| Error::Invalid(format!("no joint for {role:?}")))
    }

    fn direction(&self, from: Role, to: Role) -> Option<Vec3> {
        let (a, b) = (self.roles.joint(from)?, self.roles.joint(to)?);
        (self.rest.positions[b] - self.rest.positions[a]).try_normalize()
    }

    /// Where the palm points: to the furthest knuckle. Thumbs point sideways, and some exporters put joints
    /// of no length between.
    fn palm(&self, hand: usize) -> Option<Vec3> {
        let at = self.rest.positions[hand];
        let mut row = vec![hand];
        while !row.is_empty() {
            row = row.iter().flat_map(|&j| self.skeleton.children(j)).collect();
            row.retain(|&j| !self.skeleton.joints[j].name.to_ascii_lowercase().contains("thumb"));
            let out = row.iter().map(|&j| self.rest.positions[j] - at);
            let longest = out.max_by(|a, b| a.length().total_cmp(&b.length())).unwrap_or_default();
            if longest.length() > 1e-4 {
                return longest.try_normalize();
            }
        }
        None
    }

    /// Carries left to +X, up to +Y and forward to +Z of the resting character into the world.
    fn axes(&self) -> Result<Quat> {
        let across = self
            .direction(Role::RightUpperLeg, Role::LeftUpperLeg)
            .or_else(|| self.direction(Role::RightUpperArm, Role::LeftUpperArm))
            .ok_or_else(|| Error::Invalid("left and right hips are at the same place".into()))?;
        let up = self.direction(Role::Hips, Role::Head).unwrap_or(Vec3::Y);
        // Rest poses that stand, stand upright; a leaning neck must not tilt them.
        let up = if up.y > 0.7 { Vec3::Y } else { up };
        let left = (across - up * across.dot(up)).normalize_or(Vec3::X);
        let forward = left.cross(up);
        Ok(Quat::from_mat3(&Mat3::from_cols(left, up, forward)).normalize())
    }

    fn trunk(&self) -> Trunk {
        let (Some(hips), Some(head)) = (self.roles.joint(Role::Hips), self.roles.joint(Role::Head)) else {
            return Trunk { spine: Vec::new(), neck: Vec::new() };
        };
        let mut way = Humanoid::path(self.skeleton, hips, head);
        if way.is_empty() {
            // Hips and spine are siblings: the roles are all there is.
            way = [Role::Hips, Role::Spine, Role::Chest, Role::UpperChest, Role::Neck, Role::Head]
                .into_iter()
                .filter_map(|r| self.roles.joint(r))
                .collect();
        }
        let inner = way.get(1..way.len().saturating_sub(1)).unwrap_or_default();
        let neck = self.roles.joint(Role::Neck).and_then(|n| inner.iter().position(|&j| j == n));
        let (spine, neck) = inner.split_at(neck.unwrap_or(inner.len()));
        Trunk { spine: spine.to_vec(), neck: neck.to_vec() }
    }

    /// From the hips to the middle of the hip joints, at rest.
    fn hips_to_legs(&self) -> Vec3 {
        let at = |role: Role| self.roles.joint(role).map_or(Vec3::ZERO, |j| self.rest.positions[j]);
        (at(Role::LeftUpperLeg) + at(Role::RightUpperLeg)) / 2.0 - at(Role::Hips)
    }

    /// Upper and lower leg together, both sides' mean.
    fn leg_length(&self) -> f32 {
        let length = |from: Role, to: Role| match (self.roles.joint(from), self.roles.joint(to)) {
            (Some(a), Some(b)) => self.rest.positions[a].distance(self.rest.positions[b]),
            _ => 0.0,
        };
        LEGS.iter().map(|[upper, lower, foot, _]| length(*upper, *lower) + length(*lower, *foot)).sum::<f32>()
            / 2.0
    }
}
