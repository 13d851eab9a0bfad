//! The latest poses of a wearer: what a tier that comes in needs to have its speed.

use glam::{Affine3A, Vec3};

/// Poses up to the present one.
#[derive(Clone, Debug, Default)]
pub struct Poses {
    bones: Vec<Affine3A>,
    /// Seconds from the pose before, oldest first.
    secs: Vec<f64>,
    joints: usize,
    most: usize,
}

impl Poses {
    /// Remembers at most so many, and at least two: less has no speed.
    pub fn new(most: usize) -> Self {
        Self { most: most.max(2), ..Self::default() }
    }

    /// The wearer has come to these bones.
    pub fn push(&mut self, bones: &[Affine3A], dt_secs: f64) {
        if bones.len() != self.joints {
            self.forget();
            self.joints = bones.len();
        }
        if self.secs.len() == self.most {
            self.secs.remove(0);
            self.bones.drain(..self.joints);
        }
        self.bones.extend_from_slice(bones);
        self.secs.push(dt_secs);
    }

    /// What was before means nothing any more.
    pub fn forget(&mut self) {
        self.bones.clear();
        self.secs.clear();
    }

    /// Bones and the seconds from the pose before, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (&[Affine3A], f64)> {
        self.bones.chunks(self.joints.max(1)).zip(self.secs.iter().copied())
    }

    /// The present bones.
    pub fn latest(&self) -> Option<&[Affine3A]> {
        self.iter().last().map(|(bones, _)| bones)
    }

    /// How one bone goes from the present pose back to the oldest, and its velocity on the way here, m/s.
    pub fn way_back(&self, joint: usize) -> (Affine3A, Vec3) {
        let ends = self.iter().next().zip(self.latest());
        let Some(((first, _), last)) = ends.filter(|((first, _), _)| joint < first.len()) else {
            return (Affine3A::IDENTITY, Vec3::ZERO);
        };
        let secs: f64 = self.secs.iter().skip(1).sum();
        let moved = Vec3::from(last[joint].translation - first[joint].translation);
        let velocity = if secs > 0.0 { moved / secs as f32 } else { Vec3::ZERO };
        (first[joint] * last[joint].inverse(), velocity)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.secs.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.secs.is_empty()
    }
}
