//! Poses over time.

use crate::{Error, Pose, Result, Skeleton};

/// A clip: poses of one skeleton at a constant rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Motion {
    /// For reports and file names.
    pub name: String,
    /// Frames per second.
    pub fps: f64,
    /// The joints the poses speak of.
    pub skeleton: Skeleton,
    /// At least one.
    pub poses: Vec<Pose>,
}

impl Motion {
    /// Puts the parts together and checks that they fit.
    pub fn new(name: impl Into<String>, fps: f64, skeleton: Skeleton, poses: Vec<Pose>) -> Result<Self> {
        let name = name.into();
        if !(fps.is_finite() && fps > 0.0) {
            return Err(Error::Invalid(format!("motion `{name}` has {fps} frames per second")));
        }
        if poses.is_empty() {
            return Err(Error::Invalid(format!("motion `{name}` has no frames")));
        }
        if let Some(frame) = poses.iter().position(|p| p.locals.len() != skeleton.len()) {
            return Err(Error::Invalid(format!(
                "motion `{name}`, frame {frame}: {} joints, the skeleton has {}",
                poses[frame].locals.len(),
                skeleton.len()
            )));
        }
        Ok(Self { name, fps, skeleton, poses })
    }

    /// Number of frames.
    pub fn len(&self) -> usize {
        self.poses.len()
    }

    /// Never true for a motion made by [`Motion::new`].
    pub fn is_empty(&self) -> bool {
        self.poses.is_empty()
    }

    /// From the first frame to the last.
    pub fn duration_secs(&self) -> f64 {
        (self.poses.len() - 1) as f64 / self.fps
    }

    /// The pose at a time, interpolated between frames and held at both ends.
    pub fn at(&self, secs: f64) -> Pose {
        let last = self.poses.len() - 1;
        let frame = (secs * self.fps).clamp(0.0, last as f64);
        let i = (frame.floor() as usize).min(last);
        let t = (frame - i as f64) as f32;
        if t < 1e-6 || i == last { self.poses[i].clone() } else { self.poses[i].lerp(&self.poses[i + 1], t) }
    }

    /// The same motion at another rate.
    pub fn resampled(&self, fps: f64) -> Self {
        let frames = (self.duration_secs() * fps + 1e-9).floor() as usize + 1;
        let poses = (0..frames).map(|f| self.at(f as f64 / fps)).collect();
        Self { fps, poses, name: self.name.clone(), skeleton: self.skeleton.clone() }
    }
}
