//! The canonical frame: where the character is and which way its hips face.

use crate::{Body, Humanoid, Pose, Skeleton};
use glam::{Affine3A, DVec3, Vec3};

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

/// Follows the heading of a hip line frame by frame: unwrapped, held where it is undefined, without jumps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RootTracker {
    heading: Option<f64>,
    /// What the heading still is away from the hip line's after it was held.
    behind: f64,
}

impl RootTracker {
    /// Below this share of its length the horizontal part of the hip line is noise.
    const LEAST_HORIZONTAL: f32 = 0.3;
    /// After a hold the hip line may come back anywhere, even reversed (a cartwheel): the heading goes over to
    /// it by no more than this many radians a frame.
    const CATCH_UP: f64 = 0.2;

    /// Before the first frame.
    pub const NEW: Self = Self { heading: None, behind: 0.0 };

    /// The heading for a hip line (left hip minus right hip), and whether it had to be held.
    pub fn follow(&mut self, line: Vec3) -> (f64, bool) {
        use std::f64::consts::TAU;
        let horizontal = Vec3::new(line.x, 0.0, line.z);
        let defined =
            horizontal.length() >= Self::LEAST_HORIZONTAL * line.length() && horizontal != Vec3::ZERO;
        if !(defined && line.is_finite()) {
            // Whatever the line does meanwhile is caught up with later.
            self.behind = f64::NAN;
            return (self.heading.unwrap_or(0.0), true);
        }
        // The left hip at +X is heading 0; turning left by r carries it to (cos r, −sin r).
        let raw = f64::from(-horizontal.z).atan2(f64::from(horizontal.x));
        let before = self.heading.unwrap_or(raw);
        if self.behind.is_nan() {
            self.behind = self.heading.map_or(0.0, |before| {
                let away = before - raw;
                away - (away / TAU).round() * TAU
            });
        }
        self.behind -= self.behind.clamp(-Self::CATCH_UP, Self::CATCH_UP);
        let heading = raw + self.behind;
        let heading = heading + ((before - heading) / TAU).round() * TAU;
        self.heading = Some(heading);
        (heading, false)
    }
}

/// Which joints carry the canonical frame and where they are in the bind pose: enough to find root and hip line
/// from bone matrices alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HipLine {
    /// The hips, the left upper leg and the right upper leg.
    pub joints: [u32; 3],
    /// The same joints' places in the bind pose, metres.
    pub bind: [Vec3; 3],
}

impl HipLine {
    /// Of a body.
    pub fn of(body: &Body) -> Self {
        let (root, left, right) = body.humanoid().hip_line(&body.skeleton);
        let joints = [root, left, right];
        let bind = joints.map(|j| body.joint_from_bind[j].inverse().translation.into());
        Self { joints: joints.map(|j| j as u32), bind }
    }

    /// Where the three joints are, for bone matrices that cover them.
    pub fn points(&self, bones: &[Affine3A]) -> [Vec3; 3] {
        [0, 1, 2].map(|i| bones[self.joints[i] as usize].transform_point3(self.bind[i]))
    }
}

impl RootTrack {
    /// Follows hips through poses. Frames before the heading is first defined take the first that is.
    pub fn new<'a>(skeleton: &Skeleton, poses: impl IntoIterator<Item = &'a Pose>) -> Self {
        let (root, left, right) = Humanoid::of(skeleton).hip_line(skeleton);
        let mut tracker = RootTracker::default();
        let mut frames: Vec<RootFrame> = Vec::new();
        let (mut held, mut leading) = (0, 0);
        for pose in poses {
            let world = skeleton.world_from_joints(pose);
            let position: Vec3 = world[root].translation.into();
            let line: Vec3 = (world[left].translation - world[right].translation).into();
            let (heading, is_held) = tracker.follow(line);
            held += usize::from(is_held);
            if is_held && leading == frames.len() {
                leading += 1;
            }
            frames.push(RootFrame { position: position.as_dvec3(), heading });
        }
        if let Some(first) = frames.get(leading).map(|f| f.heading) {
            frames[..leading].iter_mut().for_each(|f| f.heading = first);
        }
        Self { frames, held }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Joint, Transform};
    use glam::Quat;
    use std::f32::consts::{FRAC_PI_2, PI, TAU};

    /// Hips with a leg on either side, turned as a whole.
    fn track_of(turns: impl IntoIterator<Item = Quat>) -> RootTrack {
        let joint = |name: &str, parent, x: f32| Joint {
            name: name.into(),
            parent,
            rest: Transform::from_translation(Vec3::new(x, 0.0, 0.0)),
        };
        let skeleton = Skeleton::new(vec![
            joint("Hips", None, 0.0),
            joint("LeftUpLeg", Some(0), 0.1),
            joint("LeftLeg", Some(1), 0.0),
            joint("RightUpLeg", Some(0), -0.1),
            joint("RightLeg", Some(3), 0.0),
        ])
        .unwrap();
        let poses: Vec<Pose> = turns
            .into_iter()
            .map(|turn| {
                let mut pose = skeleton.rest_pose();
                pose.locals[0].rotation = turn;
                pose
            })
            .collect();
        RootTrack::new(&skeleton, &poses)
    }

    fn largest_step(track: &RootTrack) -> f64 {
        track.frames.windows(2).map(|w| (w[1].heading - w[0].heading).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn spinning_unwraps() {
        let step = TAU / 25.0;
        let track = track_of((0..=100).map(|f| Quat::from_rotation_y(f as f32 * step)));
        assert_eq!(track.held, 0);
        assert!((track.frames[100].heading - 4.0 * f64::from(TAU)).abs() < 1e-4);
        assert!(largest_step(&track) < f64::from(step) + 1e-4);
        let back = track_of((0..=100).map(|f| Quat::from_rotation_y(f as f32 * -step)));
        assert!((back.frames[100].heading + 4.0 * f64::from(TAU)).abs() < 1e-4);
    }

    #[test]
    fn lying_on_the_side_holds_the_heading_and_is_counted() {
        // Facing 0.5, rolled onto the right side about the body's forward axis, and back.
        let face = Quat::from_rotation_y(0.5);
        let roll = |f: i32| FRAC_PI_2 * (1.0 - (f as f32 / 20.0 - 1.0).abs());
        let track = track_of((0..=40).map(|f| face * Quat::from_rotation_z(roll(f))));
        // The hip line is steeper than 72.5° in 7 of the 41 frames.
        assert_eq!(track.held, 7);
        for frame in &track.frames {
            assert!((frame.heading - 0.5).abs() < 1e-4, "{}", frame.heading);
        }
    }

    #[test]
    fn a_cartwheel_that_reverses_the_hip_line_does_not_jump() {
        let track = track_of((0..=60).map(|f| Quat::from_rotation_z(PI * (f as f32 / 30.0).min(1.0))));
        assert!(track.held > 0);
        assert!(largest_step(&track) <= RootTracker::CATCH_UP + 1e-9, "{}", largest_step(&track));
        // It does arrive at what the hip line says.
        assert!((track.frames[60].heading.abs() - f64::from(PI)).abs() < 1e-4);
    }

    #[test]
    fn a_clip_that_starts_lying_down_takes_the_first_heading_there_is() {
        let up =
            |f: i32| Quat::from_rotation_y(1.2) * Quat::from_rotation_z(FRAC_PI_2 * (1.0 - f as f32 / 20.0));
        let track = track_of((0..=20).map(up));
        assert!(track.held > 0 && largest_step(&track) < 1e-4);
        assert!((track.frames[0].heading - 1.2).abs() < 1e-4);
    }

    #[test]
    fn there_and_back_is_where_it_was() {
        let frame = RootFrame { position: DVec3::new(3.0, 1.0, -2.0), heading: 0.7 };
        let p = DVec3::new(0.3, 0.2, 0.1);
        assert!((frame.canonical_from_world(frame.world_from_canonical(p)) - p).length() < 1e-12);
        // One metre to the left of a character that faces +X after turning left by 90° is −Z.
        let turned = RootFrame { position: DVec3::ZERO, heading: std::f64::consts::FRAC_PI_2 };
        assert!((turned.world_from_canonical(DVec3::X) - DVec3::NEG_Z).length() < 1e-12);
    }
}
