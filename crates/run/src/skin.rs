//! Kinematic cloth: the cheapest tier, and the yardstick for the others.

use crate::{StepReport, Tier};
use glam::{Affine3A, Vec3};
use toile_assets::{Attachment, RootFrame};

/// A garment that follows its wearer's bones and nothing else.
pub struct Skinned {
    attachment: Attachment,
    posed: Vec<Vec3>,
}

impl Skinned {
    /// From a garment's attachment to its body.
    pub fn new(attachment: Attachment) -> Self {
        let posed = attachment.rest.clone();
        Self { attachment, posed }
    }
}

impl Tier for Skinned {
    fn reset(&mut self) {}

    fn step(&mut self, bones: &[Affine3A], _root: &RootFrame) -> StepReport {
        if bones.len() < self.attachment.skin.joint_count() || bones.iter().any(|b| !b.is_finite()) {
            return StepReport { refused: true, ..StepReport::default() };
        }
        self.attachment.skin.skin_positions(&self.attachment.rest, bones, &mut self.posed);
        StepReport::default()
    }

    fn positions(&self, out: &mut [Vec3]) {
        out.copy_from_slice(&self.posed);
    }

    fn vertices(&self) -> usize {
        self.posed.len()
    }
}
