//! The legs of a skeleton: their lengths, the foot that rolls on the ground, and the joints between hip and foot.

use crate::{Error, Result, Skeleton};
use glam::{DMat3, DQuat, DVec3};

/// One leg at rest, all in the skeleton's rest pose (joints world-aligned, facing +Z, sole at y = 0).
#[derive(Clone, Debug)]
pub(super) struct Leg {
    /// Joint indices: hip, knee, ankle, ball.
    pub joints: [usize; 4],
    /// The hip relative to the root.
    pub hip: DVec3,
    /// Hip to knee.
    pub thigh: DVec3,
    /// Knee to ankle.
    pub shank: DVec3,
    /// The sole under the ankle to the ankle.
    pub ankle: DVec3,
    /// The sole under the ankle to the back edge of the heel.
    pub heel: DVec3,
    /// The sole under the ankle to the ball joint, about which the toes bend.
    pub ball: DVec3,
    /// +1 left, −1 right.
    pub side: f64,
}

/// Where a foot is: its ankle, the way it points, how far its toes are up (negative: heel up), and how far
/// the toes are bent up against the foot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Foot {
    pub ankle: DVec3,
    pub heading: f64,
    pub pitch: f64,
    pub toes: f64,
}

/// Rotations in the world of thigh, shank, foot and toes.
pub(super) struct LegPose {
    pub thigh: DQuat,
    pub shank: DQuat,
    pub foot: DQuat,
    pub toes: DQuat,
}

impl Leg {
    /// Reads a leg from the skeleton by the prefix `l` or `r`.
    pub fn of(skeleton: &Skeleton, prefix: &str) -> Result<Self> {
        let find = |name: &str| {
            skeleton.find(&format!("{prefix}_{name}")).ok_or_else(|| {
                Error::Invalid(format!(
                    "built-in motions need the mannequin's joints; this skeleton has no `{prefix}_{name}`"
                ))
            })
        };
        let joints = [find("hip")?, find("knee")?, find("ankle")?, find("midtarsal")?];
        let at = |j: usize| rest_place(skeleton, j);
        let root = skeleton.find("humanoid_root").ok_or_else(|| {
            Error::Invalid("built-in motions need a joint named `humanoid_root`".to_string())
        })?;
        let [hip, knee, ankle, ball] = joints.map(at);
        let under = DVec3::new(ankle.x, 0.0, ankle.z);
        // The heel lies behind the ankle by about a fifth of the foot, which is 0.4 of ankle to ball.
        let heel = DVec3::new(0.0, 0.0, -0.4 * (ball.z - ankle.z));
        Ok(Self {
            joints,
            hip: hip - at(root),
            thigh: knee - hip,
            shank: ankle - knee,
            ankle: ankle - under,
            heel,
            ball: ball - under,
            side: if hip.x >= 0.0 { 1.0 } else { -1.0 },
        })
    }

    /// Length of the stretched leg from hip to ankle.
    pub fn length(&self) -> f64 {
        self.thigh.length() + self.shank.length()
    }

    /// Distance from hip to ankle when the knee is bent by `knee` radians from straight.
    pub fn length_at(&self, knee: f64) -> f64 {
        let (a, b) = (self.thigh.length(), self.shank.length());
        (a * a + b * b + 2.0 * a * b * knee.cos()).sqrt()
    }

    /// A planted foot with the sole's centre at `at`: it rolls about the heel's edge while the toes are up and
    /// about the ball while the heel is up, so that the point of contact does not move.
    pub fn planted(&self, at: DVec3, heading: f64, pitch: f64) -> Foot {
        let turn = DQuat::from_rotation_y(heading);
        let tilt = DQuat::from_rotation_x(-pitch);
        let pivot = if pitch > 0.0 { self.heel } else { self.ball };
        let ankle = at + turn * (pivot + tilt * (self.ankle - pivot));
        Foot { ankle, heading, pitch, toes: (-pitch).max(0.0) }
    }

    /// Height of the lowest point of a foot's sole.
    pub fn lowest(&self, foot: &Foot) -> f64 {
        let tilt = DQuat::from_rotation_x(-foot.pitch);
        let toes = DQuat::from_rotation_x(-foot.pitch - foot.toes);
        let ball = tilt * (self.ball - self.ankle);
        let under = DVec3::NEG_Y * self.ball.y;
        // The toes reach beyond the ball by about half of what lies between ankle and ball.
        let tip = under + DVec3::Z * (0.55 * self.ball.z);
        [tilt * (self.heel - self.ankle), ball + tilt * under, ball + toes * under, ball + toes * tip]
            .into_iter()
            .map(|p| foot.ankle.y + p.y)
            .fold(f64::MAX, f64::min)
    }

    /// Height of the lowest point of a straight foot's sole, its ankle at height `y`.
    pub fn lowest_turned(&self, y: f64, foot: DQuat) -> f64 {
        let ball = DVec3::new(self.ball.x, 0.0, self.ball.z);
        [self.heel, ball, ball * 1.55]
            .into_iter()
            .map(|p| y + (foot * (p - self.ankle)).y)
            .fold(f64::MAX, f64::min)
    }

    /// Thigh and shank that carry the hip to the foot's ankle, the knee bending about `across`.
    pub fn reach(&self, hip: DVec3, foot: &Foot, across: DVec3) -> LegPose {
        let (a, b) = (self.thigh.length(), self.shank.length());
        let line = foot.ankle - hip;
        // Straight legs make the knee's speed infinite; the planner keeps a margin, this is only a guard.
        let c = line.length().clamp((a - b).abs() + 1e-3, 0.9999 * (a + b));
        let down = line.normalize_or(DVec3::NEG_Y);
        let axis = (across - down * across.dot(down)).normalize_or(DVec3::X);
        let forward = down.cross(axis);
        let cos_hip = ((a * a + c * c - b * b) / (2.0 * a * c)).clamp(-1.0, 1.0);
        let thigh_line = down * cos_hip + forward * (1.0 - cos_hip * cos_hip).sqrt();
        let knee = hip + a * thigh_line;
        let shank_line = (hip + c * down - knee).normalize_or(down);
        LegPose {
            thigh: carry(self.thigh, thigh_line, axis),
            shank: carry(self.shank, shank_line, axis),
            foot: DQuat::from_rotation_y(foot.heading) * DQuat::from_rotation_x(-foot.pitch),
            toes: DQuat::from_rotation_y(foot.heading) * DQuat::from_rotation_x(-foot.pitch - foot.toes),
        }
    }
}

/// Place of a joint in the rest pose. Joints are world-aligned there, so offsets simply add.
pub(super) fn rest_place(skeleton: &Skeleton, joint: usize) -> DVec3 {
    let mut place = DVec3::ZERO;
    let mut at = Some(joint);
    while let Some(j) = at {
        place += skeleton.joints[j].rest.translation.as_dvec3();
        at = skeleton.joints[j].parent;
    }
    place
}

/// The rotation that takes the rest direction `from` to `to` and the rest axis +X (made square to it) to `axis`.
fn carry(from: DVec3, to: DVec3, axis: DVec3) -> DQuat {
    let frame = |y: DVec3, x: DVec3| {
        let y = y.normalize();
        let x = (x - y * x.dot(y)).normalize();
        DMat3::from_cols(x, y, x.cross(y))
    };
    DQuat::from_mat3(&(frame(to, axis) * frame(from, DVec3::X).transpose())).normalize()
}
