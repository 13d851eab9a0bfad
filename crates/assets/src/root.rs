//! The canonical frame: where the character is and which way its hips face.

use crate::{Humanoid, Pose, Skeleton};
use glam::{DVec3, Vec3};

/// Position of the root and heading of the hip line: `canonical = R_y(−heading)(world − position)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RootFrame {
    /// The hips' joint, metres.
    pub position: DVec3,
    /// Angle about +Y in radians, unwrapped over a clip; 0 when the left hip is towards +X (facing +Z).
    pub heading: f64,
}

/// The root frames of a clip and how often the heading had to be held.
#[derive(Clone, Debug, PartialEq)]
pub struct RootTrack {
    /// One per frame.
    pub frames: Vec<RootFrame>,
    /// Frames in which the hip line stood so steeply that its heading says nothing.
    pub held: usize,
}

impl RootFrame {
    /// From the world into the canonical frame.
    pub fn canonical_from_world(&self, p: DVec3) -> DVec3 {
        rotate_y(p - self.position, -self.heading)
    }

    /// From the canonical frame into the world.
    pub fn world_from_canonical(&self, p: DVec3) -> DVec3 {
        rotate_y(p, self.heading) + self.position
    }
}

/// Rotation about +Y.
fn rotate_y(p: DVec3, angle: f64) -> DVec3 {
    let (s, c) = angle.sin_cos();
    DVec3::new(c * p.x + s * p.z, p.y, c * p.z - s * p.x)
}

impl RootTrack {
    /// Below this share of its length the horizontal part of the hip line is noise.
    const LEAST_HORIZONTAL: f32 = 0.3;

    /// Follows hips through poses, unwrapping the heading and holding it where it is undefined.
    pub fn new<'a>(skeleton: &Skeleton, poses: impl IntoIterator<Item = &'a Pose>) -> Self {
        let (root, left, right) = Humanoid::of(skeleton).hip_line(skeleton);
        let mut frames: Vec<RootFrame> = Vec::new();
        let mut held = 0;
        for pose in poses {
            let world = skeleton.world_from_joints(pose);
            let position: Vec3 = world[root].translation.into();
            let line: Vec3 = (world[left].translation - world[right].translation).into();
            let horizontal = Vec3::new(line.x, 0.0, line.z);
            let before = frames.last().map_or(0.0, |f| f.heading);
            let heading =
                if horizontal.length() < Self::LEAST_HORIZONTAL * line.length() || line == Vec3::ZERO {
                    held += 1;
                    before
                } else {
                    // The left hip at +X is heading 0; turning left by r carries it to (cos r, −sin r).
                    let raw = f64::from(-horizontal.z).atan2(f64::from(horizontal.x));
                    let turns = ((before - raw) / std::f64::consts::TAU).round();
                    raw + turns * std::f64::consts::TAU
                };
            frames.push(RootFrame { position: position.as_dvec3(), heading });
        }
        Self { frames, held }
    }
}
