//! Kinematic cloth: the cheapest tier, and the yardstick for the others.

use crate::{Result, Tier, TierReport, clock, pose};
use glam::{Affine3A, Vec3};
use toile_model::Attachment;

/// A garment that follows its wearer's bones and nothing else.
pub struct Skinned {
    attachment: Attachment,
    posed: Vec<Vec3>,
    before: Vec<Vec3>,
    /// Of the last step; 0 until there are two poses.
    per_second: f32,
    started: bool,
}

impl Skinned {
    /// From a garment's attachment to its body.
    pub fn new(attachment: Attachment) -> Self {
        let posed = attachment.rest.clone();
        Self { before: posed.clone(), attachment, posed, per_second: 0.0, started: false }
    }
}

impl Tier for Skinned {
    fn reset(&mut self) {
        (self.started, self.per_second) = (false, 0.0);
    }

    fn step(&mut self, bones: &[Affine3A], dt_secs: f64) -> Result<TierReport> {
        clock::check(dt_secs)?;
        // Weights name the highest joint that moves the garment; bodies may have more.
        pose::check_finite(bones, bones.len().max(self.attachment.skin.joint_count()))?;
        std::mem::swap(&mut self.before, &mut self.posed);
        self.attachment.skin.skin_positions(&self.attachment.rest, bones, &mut self.posed);
        self.per_second = if self.started { (1.0 / dt_secs) as f32 } else { 0.0 };
        self.started = true;
        Ok(TierReport::default())
    }

    fn positions(&self, out: &mut [Vec3]) {
        out.copy_from_slice(&self.posed);
    }

    fn velocities(&self, out: &mut [Vec3]) -> bool {
        super::differences(&self.posed, &self.before, self.per_second, out);
        true
    }

    fn vertices(&self) -> usize {
        self.posed.len()
    }
}
