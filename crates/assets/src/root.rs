//! The canonical frames of a clip: where the character is and which way its hips face.

use crate::{Body, HipLine, Humanoid, Pose, RootFrame, RootTracker, Skeleton};
use glam::Vec3;

/// The root frames of a clip and how often the heading had to be held.
#[derive(Clone, Debug, PartialEq)]
pub struct RootTrack {
    /// One per frame.
    pub frames: Vec<RootFrame>,
    /// Frames in which the hip line stood so steeply that its heading says nothing.
    pub held: usize,
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

impl Body {
    /// Which joints carry this body's canonical frame.
    pub fn hip_line(&self) -> HipLine {
        let (root, left, right) = self.humanoid().hip_line(&self.skeleton);
        let joints = [root, left, right];
        let bind = joints.map(|j| self.joint_from_bind[j].inverse().translation.into());
        HipLine { joints: joints.map(|j| j as u32), bind }
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
}
