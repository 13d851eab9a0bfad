//! A garment that hangs on bones.

use crate::{Result, Skin};
use glam::{Affine3A, Vec3};

/// Skinning weights of a garment on a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Attachment {
    /// One row per garment vertex.
    pub skin: Skin,
    /// The garment in the body's bind pose.
    pub rest: Vec<Vec3>,
}

impl Attachment {
    /// The same attachment for a garment's drawn vertices: each follows its simulation vertex's bones.
    pub fn spread(&self, sim_from_render: &[u32], render: &[Vec3]) -> Result<Self> {
        let rows: Vec<Vec<(u16, f32)>> =
            sim_from_render.iter().map(|&v| self.skin.row(v as usize).collect()).collect();
        Ok(Self { skin: Skin::from_rows(rows)?, rest: render.to_vec() })
    }

    /// The garment carried by the bones.
    pub fn posed(&self, bones: &[Affine3A]) -> Vec<Vec3> {
        let mut out = vec![Vec3::ZERO; self.rest.len()];
        self.skin.skin_positions(&self.rest, bones, &mut out);
        out
    }
}
