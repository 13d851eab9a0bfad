//! Any tier within the limits that are painted on a garment.

use crate::{Handed, Result, Tier, TierReport};
use glam::{Affine3A, Vec3};
use toile_model::{Attachment, Limits};

/// Any tier within painted limits.
pub struct Leashed<T> {
    tier: T,
    limits: Limits,
    attachment: Attachment,
    bones: Vec<Affine3A>,
}

impl<T: Tier> Leashed<T> {
    /// The garment as `attachment` skins it is what limits are measured from.
    pub fn new(tier: T, limits: Limits, attachment: Attachment) -> Self {
        Self { tier, limits, attachment, bones: Vec::new() }
    }
}

impl<T: Tier> Tier for Leashed<T> {
    fn reset(&mut self) {
        self.tier.reset();
    }

    fn step(&mut self, bones: &[Affine3A], dt_secs: f64) -> Result<TierReport> {
        let report = self.tier.step(bones, dt_secs)?;
        self.bones.clear();
        self.bones.extend_from_slice(bones);
        Ok(report)
    }

    fn start(&mut self, from: &Handed<'_>) -> Result<()> {
        self.tier.start(from)?;
        self.bones.clear();
        self.bones.extend_from_slice(from.poses.latest().unwrap_or_default());
        Ok(())
    }

    fn positions(&self, out: &mut [Vec3]) {
        self.tier.positions(out);
        if !self.bones.is_empty() {
            self.limits.keep(&self.attachment, &self.bones, out);
        }
    }

    fn velocities(&self, out: &mut [Vec3]) -> bool {
        self.tier.velocities(out)
    }

    fn vertices(&self) -> usize {
        self.tier.vertices()
    }

    fn triangles(&self) -> Option<&[[u32; 3]]> {
        self.tier.triangles()
    }
}
