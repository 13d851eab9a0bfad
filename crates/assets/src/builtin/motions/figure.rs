//! From a plan (travel, footfalls, extra movements of the trunk) to poses.

use super::feet::{Ground, Stance, foot_at};
use super::gait::{self, Style, wave};
use super::legs::{Foot, Leg};
use super::path::{RATE, ROOM, Travel, envelope, smoothed};
use crate::{Error, Motion, Pose, Result, Skeleton, Transform};
use glam::{DQuat, DVec3};

/// Air under the sole of a swinging foot, metres (Winter 1992 measured 1.3 cm under the toes).
const CLEARANCE: f64 = 0.012;

/// The same under a foot that is held.
const HELD_CLEARANCE: f64 = 0.03;

/// A swinging foot passes a standing one at this distance of the ankles, m, while it is no farther ahead or behind than this.
const APART: f64 = 0.085;
const BESIDE: f64 = 0.30;

/// Movements on top of the gait, per sample of the travel; radians and metres.
#[derive(Clone, Debug)]
pub(super) struct Extra {
    /// Of the root: down (negative) or up, and forward in the heading's frame.
    pub rise: Vec<f64>,
    pub forward: Vec<f64>,
    /// The same to the left.
    pub aside: Vec<f64>,
    /// Of the trunk over the pelvis: turned left, bent forward, bent to the left.
    pub twist: Vec<f64>,
    pub bend: Vec<f64>,
    pub side_bend: Vec<f64>,
    /// Of the pelvis itself: turned left, tilted forward, its left side raised.
    pub pelvis_twist: Vec<f64>,
    pub pelvis_tilt: Vec<f64>,
    pub pelvis_list: Vec<f64>,
    /// Of both arms: forward, and away from the body.
    pub arms_forward: Vec<f64>,
    pub arms_out: Vec<f64>,
    pub elbows: Vec<f64>,
    /// Of the left arm and of the right one, on top of both.
    pub arm_forward: [Vec<f64>; 2],
    pub arm_out: [Vec<f64>; 2],
    pub elbow: [Vec<f64>; 2],
    /// Upper arm and forearm turned inward about themselves, left and right.
    pub arm_turn: [Vec<f64>; 2],
    pub forearm_turn: [Vec<f64>; 2],
    /// Toes of a standing foot up (negative: its heel), left and right.
    pub heels: [Vec<f64>; 2],
    /// Legs that are held from the hip, left and right.
    pub legs: [HeldLeg; 2],
}

/// A leg that does what its joints are told instead of reaching for the ground.
#[derive(Clone, Debug)]
pub(super) struct HeldLeg {
    /// 0 reaches for its footfalls, 1 is held.
    pub share: Vec<f64>,
    /// Of the thigh against the pelvis: forward, outward, turned outward.
    pub flex: Vec<f64>,
    pub out: Vec<f64>,
    pub turn: Vec<f64>,
    /// Knee from straight; foot pointed.
    pub knee: Vec<f64>,
    pub point: Vec<f64>,
}

impl Extra {
    /// None.
    pub fn none(travel: &Travel) -> Self {
        let zero = || vec![0.0; travel.len()];
        let leg = || HeldLeg {
            share: zero(),
            flex: zero(),
            out: zero(),
            turn: zero(),
            knee: zero(),
            point: zero(),
        };
        Self {
            rise: zero(),
            forward: zero(),
            aside: zero(),
            twist: zero(),
            bend: zero(),
            side_bend: zero(),
            pelvis_twist: zero(),
            pelvis_tilt: zero(),
            pelvis_list: zero(),
            arms_forward: zero(),
            arms_out: zero(),
            elbows: zero(),
            arm_forward: [zero(), zero()],
            arm_out: [zero(), zero()],
            elbow: [zero(), zero()],
            arm_turn: [zero(), zero()],
            forearm_turn: [zero(), zero()],
            heels: [zero(), zero()],
            legs: [leg(), leg()],
        }
    }
}

/// All that a motion is made of.
pub(super) struct Plan {
    pub travel: Travel,
    /// Left and right.
    pub stances: [Vec<Stance>; 2],
    pub extra: Extra,
}

/// The joints of a mannequin.
pub(super) struct Figure<'a> {
    pub skeleton: &'a Skeleton,
    pub legs: [Leg; 2],
    root: usize,
    spine: [usize; 3],
    neck: [usize; 3],
    /// Left and right: shoulder, elbow, wrist.
    arms: [[usize; 3]; 2],
}

impl<'a> Figure<'a> {
    /// Finds the joints.
    pub fn of(skeleton: &'a Skeleton) -> Result<Self> {
        let find = |name: &str| {
            skeleton.find(name).ok_or_else(|| {
                Error::Invalid(format!(
                    "built-in motions need the mannequin's joints; this skeleton has no `{name}`"
                ))
            })
        };
        let root = find("humanoid_root")?;
        Ok(Self {
            skeleton,
            legs: [Leg::of(skeleton, "l")?, Leg::of(skeleton, "r")?],
            root,
            spine: [find("vl5")?, find("vl1")?, find("vt6")?],
            neck: [find("vc7")?, find("vc4")?, find("skullbase")?],
            arms: [
                [find("l_shoulder")?, find("l_elbow")?, find("l_wrist")?],
                [find("r_shoulder")?, find("r_elbow")?, find("r_wrist")?],
            ],
        })
    }

    /// The motion of a plan.
    pub fn motion(&self, name: &str, plan: &Plan) -> Result<Motion> {
        let travel = &plan.travel;
        let n = travel.len();
        // Arms and trunk do not settle as fast as the root can be stopped.
        let speed = smoothed(&travel.speed, 0.12);
        let styles: Vec<Style> = (0..n)
            .map(|i| Style::at(speed[i], travel.running[i]).going(travel.ahead[i], travel.aside[i]))
            .collect();
        // Sideways acceleration over speed: how fast the way turns, not the root.
        let turning = if travel.aside.iter().all(|v| *v == 0.0) {
            let turning: Vec<f64> = (0..n)
                .map(|i| {
                    let (a, b) = (i.saturating_sub(1), (i + 1).min(n - 1));
                    (travel.heading[b] - travel.heading[a]) / ((b - a) as f64 / RATE)
                })
                .collect();
            smoothed(&turning, 0.12)
        } else {
            vec![0.0; n]
        };

        let length = self.legs[0].length();
        let mut feet: Vec<[(Foot, f64); 2]> = (0..n)
            .map(|i| {
                [0, 1].map(|k| {
                    let on = Ground { travel, heels: &plan.extra.heels[k] };
                    foot_at(&self.legs[k], &plan.stances[k], &on, travel.time(i))
                })
            })
            .collect();

        // The root without its height, then the height the gait asks for, then what the legs can reach.
        let mut roots: Vec<(DVec3, DQuat)> = (0..n)
            .map(|i| {
                let (s, phase) = (&styles[i], travel.phase[i]);
                let facing = DQuat::from_rotation_y(travel.heading[i]);
                let middle = 0.5 * gait::duty(travel.speed[i], travel.running[i]);
                let sway = s.sway * length * wave(phase - middle);
                let yaw = -s.pelvis_yaw * wave(phase) + plan.extra.pelvis_twist[i];
                let list = s.pelvis_list * wave(phase - 0.15);
                let roll = -0.5 * (travel.speed[i] * turning[i] / 9.81).atan();
                let rotation = facing
                    * DQuat::from_rotation_y(yaw)
                    * DQuat::from_rotation_z(list + roll + plan.extra.pelvis_list[i])
                    * DQuat::from_rotation_x(s.pelvis_tilt + plan.extra.pelvis_tilt[i]);
                let knee = self.legs[0].length_at(s.knee);
                let base = self.legs[0].ankle.y + knee - self.legs[0].hip.y;
                let bob =
                    s.bob * length * (wave(2.0 * (phase - s.bob_phase)) - wave(2.0 * (middle - s.bob_phase)));
                let height = base + bob + plan.extra.rise[i];
                let aside = facing * DVec3::new(sway + plan.extra.aside[i], height, plan.extra.forward[i]);
                (travel.place[i] + aside, rotation)
            })
            .collect();
        for k in 0..2 {
            self.hold(&plan.extra.legs[k], k, &roots, &mut feet);
        }
        self.clear_of_ground(&mut feet);
        self.clear_of_each_other(travel, &mut feet);
        let longest: Vec<f64> = styles.iter().map(|s| s.stretch * length).collect();
        self.within_reach(&longest, &mut roots, &mut feet);

        let first = (ROOM * RATE).round() as usize;
        let frames = (travel.duration * RATE).round() as usize + 1;
        let poses = (first..first + frames)
            .map(|i| self.pose(plan, i, &styles[i], turning[i], roots[i], &feet[i].map(|f| f.0)))
            .collect();
        Motion::new(name, RATE, self.skeleton.clone(), poses)
    }

    /// Takes the foot of a held leg to where hip and knee carry it, and no deeper than the ground.
    fn hold(&self, held: &HeldLeg, k: usize, roots: &[(DVec3, DQuat)], feet: &mut [[(Foot, f64); 2]]) {
        if held.share.iter().all(|s| *s == 0.0) {
            return;
        }
        let leg = &self.legs[k];
        let mut lack = vec![0.0; feet.len()];
        for (i, feet) in feet.iter_mut().enumerate() {
            let share = held.share[i];
            if share == 0.0 {
                continue;
            }
            let (place, pelvis) = roots[i];
            let [thigh, shank, foot] = held.told(i, leg, pelvis);
            let ankle = place + pelvis * leg.hip + thigh * leg.thigh + shank * leg.shank;
            let pitch = (foot * DVec3::Z).y.clamp(-1.0, 1.0).asin();
            let at = &mut feet[k].0;
            at.ankle = at.ankle.lerp(ankle, share);
            at.pitch += share * (pitch - at.pitch);
            at.toes *= 1.0 - share;
            let turned = DQuat::from_rotation_y(at.heading) * DQuat::from_rotation_x(-at.pitch);
            let low = leg.lowest(at).min(leg.lowest_turned(at.ankle.y, turned.slerp(foot, share)));
            lack[i] = (HELD_CLEARANCE * share - low).max(0.0);
        }
        for (feet, by) in feet.iter_mut().zip(envelope(&lack, 0.05)) {
            let (foot, free) = &mut feet[k];
            foot.ankle.y += by * *free;
        }
    }

    /// Lifts swinging feet where their soles would come too near the ground.
    fn clear_of_ground(&self, feet: &mut [[(Foot, f64); 2]]) {
        for k in 0..2 {
            let leg = &self.legs[k];
            let lack: Vec<f64> =
                feet.iter().map(|f| (CLEARANCE * f[k].1 - leg.lowest(&f[k].0)).max(0.0)).collect();
            for (foot, by) in feet.iter_mut().zip(envelope(&lack, 0.02)) {
                let (foot, free) = &mut foot[k];
                foot.ankle.y += by * *free;
            }
        }
    }

    /// Takes swinging feet around standing ones on their own side. Where a way turns, the straight line from one footfall to the
    /// next can lead through the other leg; straight on, gait keeps feet apart by itself.
    fn clear_of_each_other(&self, travel: &Travel, feet: &mut [[(Foot, f64); 2]]) {
        if travel.heading.iter().all(|h| *h == travel.heading[0]) {
            return;
        }
        for k in 0..2 {
            let side = self.legs[k].side;
            let aside = |i: usize| DQuat::from_rotation_y(travel.heading[i]) * DVec3::X * side;
            let lack: Vec<f64> = feet
                .iter()
                .enumerate()
                .map(|(i, feet)| {
                    let (swinging, standing) = (&feet[k].0, &feet[1 - k]);
                    let off = swinging.ankle - standing.0.ankle;
                    let apart = off.dot(aside(i));
                    let along = (DVec3::new(off.x, 0.0, off.z) - aside(i) * apart).length();
                    let room = APART * (1.0 - (along / BESIDE).powi(2)).max(0.0);
                    (room - apart).max(0.0) * feet[k].1 * (1.0 - standing.1)
                })
                .collect();
            for (i, by) in envelope(&lack, 0.03).into_iter().enumerate() {
                let (foot, free) = &mut feet[i][k];
                foot.ankle += aside(i) * (by * *free * *free);
            }
        }
    }

    /// Lowers the root where a standing leg would not reach, draws swinging feet in where theirs would not, and
    /// lowers the root again for the little that is left at the ends of swings.
    fn within_reach(&self, longest: &[f64], roots: &mut [(DVec3, DQuat)], feet: &mut [[(Foot, f64); 2]]) {
        let n = roots.len();
        let hip = |root: &(DVec3, DQuat), k: usize| root.0 + root.1 * self.legs[k].hip;
        let lower = |roots: &mut [(DVec3, DQuat)], feet: &[[(Foot, f64); 2]], all: bool| {
            let excess: Vec<f64> = (0..n)
                .map(|i| {
                    let over = |k: usize| {
                        let (foot, free) = feet[i][k];
                        if free > 0.0 && !all {
                            return 0.0;
                        }
                        let hip = hip(&roots[i], k);
                        let d = foot.ankle - hip;
                        let room = longest[i].powi(2) - d.x * d.x - d.z * d.z;
                        hip.y - (foot.ankle.y + room.max(0.01).sqrt())
                    };
                    over(0).max(over(1)).max(0.0)
                })
                .collect();
            for (root, by) in roots.iter_mut().zip(envelope(&excess, 0.03)) {
                root.0.y -= by;
            }
        };
        lower(roots, feet, false);
        for k in 0..2 {
            let excess: Vec<f64> = (0..n)
                .map(|i| ((feet[i][k].0.ankle - hip(&roots[i], k)).length() - 0.995 * longest[i]).max(0.0))
                .collect();
            for (i, by) in envelope(&excess, 0.02).into_iter().enumerate() {
                let (foot, free) = &mut feet[i][k];
                let toward = (hip(&roots[i], k) - foot.ankle).normalize_or_zero();
                foot.ankle += toward * (by * *free);
            }
        }
        soften(feet);
        lower(roots, feet, true);
    }

    fn pose(
        &self,
        plan: &Plan,
        i: usize,
        s: &Style,
        turning: f64,
        (place, pelvis): (DVec3, DQuat),
        feet: &[Foot; 2],
    ) -> Pose {
        let mut pose = self.skeleton.rest_pose();
        self.pose_legs(&mut pose, plan, i, (place, pelvis), feet);
        self.pose_trunk(&mut pose, plan, i, s, turning, pelvis);
        self.pose_arms(&mut pose, plan, i, s);
        let translation = place.as_vec3();
        pose.locals[self.root] = Transform { rotation: pelvis.normalize().as_quat(), translation };
        pose
    }

    fn pose_legs(
        &self,
        pose: &mut Pose,
        plan: &Plan,
        i: usize,
        (place, pelvis): (DVec3, DQuat),
        feet: &[Foot; 2],
    ) {
        for ((leg, foot), held) in self.legs.iter().zip(feet).zip(&plan.extra.legs) {
            let hip = place + pelvis * leg.hip;
            let (_, pelvis_yaw) = twist_about_y(pelvis);
            let knee_heading = pelvis_yaw + 0.6 * wrap(foot.heading - pelvis_yaw);
            let mut across = DQuat::from_rotation_y(knee_heading) * DVec3::X;
            let share = held.share[i];
            let told = held.told(i, leg, pelvis);
            if share > 0.0 {
                across = across.lerp(told[0] * DVec3::X, share);
            }
            let mut p = leg.reach(hip, foot, across);
            if share > 0.0 {
                p.foot = p.foot.slerp(told[2], share);
                p.toes = p.toes.slerp(told[2], share);
            }
            let [h, k, a, b] = leg.joints;
            turn(pose, h, pelvis.inverse() * p.thigh);
            turn(pose, k, p.thigh.inverse() * p.shank);
            turn(pose, a, p.shank.inverse() * p.foot);
            turn(pose, b, p.foot.inverse() * p.toes);
        }
    }

    /// Spine, neck and head.
    fn pose_trunk(&self, pose: &mut Pose, plan: &Plan, i: usize, s: &Style, turning: f64, pelvis: DQuat) {
        let travel = &plan.travel;
        let (phase, heading) = (travel.phase[i], travel.heading[i]);
        let facing = DQuat::from_rotation_y(heading);
        let roll = -0.6 * (travel.speed[i] * turning / 9.81).atan();
        let twist = plan.extra.twist[i];
        let chest = facing
            * DQuat::from_rotation_y(s.shoulder_yaw * wave(phase) + twist)
            * DQuat::from_rotation_z(roll - plan.extra.side_bend[i])
            * DQuat::from_rotation_x(s.lean + plan.extra.bend[i]);
        let mut below = pelvis;
        for (joint, share) in self.spine.into_iter().zip([0.3, 0.65, 1.0]) {
            let here = pelvis.slerp(chest, share);
            turn(pose, joint, below.inverse() * here);
            below = here;
        }
        let ahead = travel.sample(&travel.heading, travel.time(i) + 0.25);
        let look = glance(0.6 * (ahead - heading) + 0.8 * twist);
        let head = DQuat::from_rotation_y(heading + look)
            * DQuat::from_rotation_z(-0.4 * plan.extra.side_bend[i])
            * DQuat::from_rotation_x(0.3 * (s.lean + plan.extra.bend[i]));
        for (joint, share) in self.neck.into_iter().zip([0.35, 0.7, 1.0]) {
            let here = chest.slerp(head, share);
            turn(pose, joint, below.inverse() * here);
            below = here;
        }
    }

    fn pose_arms(&self, pose: &mut Pose, plan: &Plan, i: usize, s: &Style) {
        for (k, [shoulder, elbow, wrist]) in self.arms.into_iter().enumerate() {
            let side = self.legs[k].side;
            let swing = wave(plan.travel.phase[i]) * -side;
            let extra = &plan.extra;
            let flex = s.arm_mean + s.arm_swing * swing + extra.arms_forward[i] + extra.arm_forward[k][i];
            let out = 11f64.to_radians() + extra.arms_out[i] + extra.arm_out[k][i];
            let upper = self.skeleton.joints[elbow].rest.translation.as_dvec3().normalize();
            let hang = upper.y.atan2(upper.x * side) + std::f64::consts::FRAC_PI_2;
            turn(
                pose,
                shoulder,
                DQuat::from_rotation_x(-flex)
                    * DQuat::from_rotation_z(side * (out - hang))
                    * DQuat::from_axis_angle(upper, -side * (0.2 + extra.arm_turn[k][i])),
            );
            let bend = s.elbow + s.elbow_swing * swing + extra.elbows[i] + extra.elbow[k][i];
            let fore = self.skeleton.joints[wrist].rest.translation.as_dvec3().normalize();
            // The forearm keeps to the plane of the swing: as captured arms are carried over, it follows a quarter of what the
            // upper arm turns.
            let hinge =
                DQuat::from_axis_angle(upper, 0.75 * side * extra.arm_turn[k][i]) * upper.cross(DVec3::Z);
            turn(
                pose,
                elbow,
                DQuat::from_axis_angle(hinge.normalize(), bend)
                    * DQuat::from_axis_angle(fore, -side * extra.forearm_turn[k][i]),
            );
        }
    }
}

/// Turns a joint against its parent.
fn turn(pose: &mut Pose, joint: usize, rotation: DQuat) {
    pose.locals[joint].rotation = rotation.normalize().as_quat();
}

impl HeldLeg {
    /// Thigh, shank and foot as told at sample `i`.
    fn told(&self, i: usize, leg: &Leg, pelvis: DQuat) -> [DQuat; 3] {
        let thigh = pelvis
            * DQuat::from_rotation_x(-self.flex[i])
            * DQuat::from_rotation_z(leg.side * self.out[i])
            * DQuat::from_rotation_y(leg.side * self.turn[i]);
        let shank = thigh * DQuat::from_rotation_x(self.knee[i]);
        [thigh, shank, shank * DQuat::from_rotation_x(self.point[i])]
    }
}

/// Spreads the shocks of strike and toe-off over a few frames, as heel pads and tendons do. Contact points move by
/// some millimetres for it.
fn soften(feet: &mut [[(Foot, f64); 2]]) {
    const SIGMA: f64 = 0.010;
    for k in 0..2 {
        let soft = |part: fn(&Foot) -> f64| {
            smoothed(&feet.iter().map(|f| part(&f[k].0)).collect::<Vec<f64>>(), SIGMA)
        };
        let ankle = [soft(|f| f.ankle.x), soft(|f| f.ankle.y), soft(|f| f.ankle.z)];
        let (pitch, toes, heading) = (soft(|f| f.pitch), soft(|f| f.toes), soft(|f| f.heading));
        for (i, foot) in feet.iter_mut().enumerate() {
            foot[k].0 = Foot {
                ankle: DVec3::new(ankle[0][i], ankle[1][i], ankle[2][i]),
                heading: heading[i],
                pitch: pitch[i],
                toes: toes[i],
            };
        }
    }
}

/// The turn about +Y of a rotation that is mostly that, and its angle.
fn twist_about_y(q: DQuat) -> (DQuat, f64) {
    let forward = q * DVec3::Z;
    let angle = forward.x.atan2(forward.z);
    (DQuat::from_rotation_y(angle), angle)
}

/// A turn of the head against the way the root faces, held under 50 degrees.
fn glance(angle: f64) -> f64 {
    let (free, more) = (30f64.to_radians(), 20f64.to_radians());
    if angle.abs() <= free {
        return angle;
    }
    angle.signum() * (free + more * ((angle.abs() - free) / more).tanh())
}

/// An angle brought within half a turn of zero.
fn wrap(angle: f64) -> f64 {
    angle - std::f64::consts::TAU * (angle / std::f64::consts::TAU).round()
}
