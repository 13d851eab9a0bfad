//! A clip as numbers whose distances mean something.

use glam::{Affine3A, Mat3, Quat, Vec3};
use toile_assets::{Body, Motion, Role, RootFrame, RootTrack, Take};

/// How far apart two poses of a part may be and still be the same to cloth, radians over its bones.
pub(super) const POSE_TOLERANCE: f32 = 0.30;
/// The same of speeds, radians a second.
pub(super) const SPEED_TOLERANCE: f32 = 2.0;
/// The same of travel, metres a second, and of turning, radians a second.
pub(super) const TRAVEL_TOLERANCE: f32 = 0.35;
pub(super) const TURN_TOLERANCE: f32 = 0.70;

/// Of a clip's frames one in so many is looked at: a tenth of a second apart at thirty a second, in which a part moves by
/// about a tolerance at most.
pub(super) const LOOKED_EVERY: usize = 3;

/// A part of the body that cloth hangs on or is moved by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BodyPart {
    Pelvis,
    LeftLeg,
    RightLeg,
    Trunk,
    LeftArm,
    RightArm,
    /// The root's way over the ground and its turning.
    Travel,
}

/// What of a part is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aspect {
    /// How it is turned.
    Pose,
    /// How fast it turns or travels.
    Speed,
}

impl BodyPart {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pelvis => "pelvis",
            Self::LeftLeg => "left leg",
            Self::RightLeg => "right leg",
            Self::Trunk => "trunk",
            Self::LeftArm => "left arm",
            Self::RightArm => "right arm",
            Self::Travel => "travel",
        }
    }

    fn roles(self) -> &'static [Role] {
        use Role::*;
        match self {
            Self::Pelvis => &[Hips],
            Self::LeftLeg => &[LeftUpperLeg, LeftLowerLeg],
            Self::RightLeg => &[RightUpperLeg, RightLowerLeg],
            Self::Trunk => &[Spine, Chest, UpperChest],
            Self::LeftArm => &[LeftUpperArm, LeftLowerArm],
            Self::RightArm => &[RightUpperArm, RightLowerArm],
            Self::Travel => &[],
        }
    }
}

/// Everything that is compared, in the order of a movement's tracks.
pub const MEASURES: [(BodyPart, Aspect); 13] = {
    use Aspect::{Pose, Speed};
    use BodyPart::*;
    [
        (Pelvis, Pose),
        (Pelvis, Speed),
        (LeftLeg, Pose),
        (LeftLeg, Speed),
        (RightLeg, Pose),
        (RightLeg, Speed),
        (Trunk, Pose),
        (Trunk, Speed),
        (LeftArm, Pose),
        (LeftArm, Speed),
        (RightArm, Pose),
        (RightArm, Speed),
        (Travel, Speed),
    ]
};

/// One clip's frames, measure by measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Movement {
    /// The clip's name.
    pub clip: String,
    /// Frames per second.
    pub fps: f64,
    /// Per measure: numbers a frame, and all frames in a row.
    pub(super) tracks: Vec<(usize, Vec<f32>)>,
    pub(super) frames: usize,
}

impl Movement {
    /// Of a motion of `body`'s own skeleton, at the rate that takes are recorded with.
    pub fn of_motion(body: &Body, motion: &Motion) -> Self {
        let motion = motion.resampled(30.0);
        let roots = RootTrack::new(&motion.skeleton, &motion.poses).frames;
        let bones: Vec<Affine3A> = motion.poses.iter().flat_map(|pose| body.bones(pose)).collect();
        Self::new(body, &motion.name, motion.fps, &roots, &bones)
    }

    /// Of a take that `body` wore.
    pub fn of_take(body: &Body, take: &Take) -> Self {
        Self::new(body, &take.clip, take.fps, &take.roots, &take.bones)
    }

    fn new(body: &Body, clip: &str, fps: f64, roots: &[RootFrame], bones: &[Affine3A]) -> Self {
        let humanoid = body.humanoid();
        let (frames, joints) = (roots.len(), body.skeleton.len());
        let turned = |frame: usize, joint: usize| -> Mat3 {
            let back = Mat3::from_rotation_y(-roots[frame].heading as f32);
            back * Mat3::from(bones[frame * joints + joint].matrix3)
        };
        let tracks = MEASURES
            .iter()
            .map(|&(part, aspect)| {
                let own: Vec<usize> = part.roles().iter().filter_map(|&role| humanoid.joint(role)).collect();
                let mut track = Vec::new();
                for f in 0..frames {
                    match (part, aspect) {
                        (BodyPart::Travel, _) => track.extend(travel(roots, f, fps)),
                        // The distance of two rotations as matrices is √2 of the angle between them.
                        (_, Aspect::Pose) => own.iter().for_each(|&j| {
                            let scale = 1.0 / (std::f32::consts::SQRT_2 * POSE_TOLERANCE);
                            track.extend(turned(f, j).to_cols_array().map(|x| scale * x));
                        }),
                        (_, Aspect::Speed) => own.iter().for_each(|&j| {
                            let (a, b) = around(f, frames);
                            let rate = fps as f32 / (b - a).max(1) as f32;
                            let turn = Quat::from_mat3(&(turned(b, j) * turned(a, j).transpose()));
                            let turn = if turn.w < 0.0 { -turn } else { turn };
                            track.extend((turn.to_scaled_axis() * (rate / SPEED_TOLERANCE)).to_array());
                        }),
                    }
                }
                (track.len().checked_div(frames).unwrap_or(0), track)
            })
            .collect();
        Self { clip: clip.to_string(), fps, tracks, frames }
    }

    /// Number of frames.
    pub fn len(&self) -> usize {
        self.frames
    }

    /// Whether it has no frame.
    pub fn is_empty(&self) -> bool {
        self.frames == 0
    }

    /// One measure of one frame.
    pub(super) fn point(&self, measure: usize, frame: usize) -> &[f32] {
        let (dims, track) = &self.tracks[measure];
        &track[frame * dims..(frame + 1) * dims]
    }
}

/// The frames before and after one.
fn around(frame: usize, frames: usize) -> (usize, usize) {
    (frame.saturating_sub(1), (frame + 1).min(frames - 1))
}

/// Velocity of the root in its own frame and its turning, in tolerances.
fn travel(roots: &[RootFrame], f: usize, fps: f64) -> [f32; 4] {
    let (a, b) = around(f, roots.len());
    let rate = fps / (b - a).max(1) as f64;
    let here = RootFrame { position: glam::DVec3::ZERO, heading: roots[f].heading };
    let velocity: Vec3 = here.canonical_from_world((roots[b].position - roots[a].position) * rate).as_vec3()
        / TRAVEL_TOLERANCE;
    let turning = ((roots[b].heading - roots[a].heading) * rate) as f32 / TURN_TOLERANCE;
    [velocity.x, velocity.y, velocity.z, turning]
}
