//! How much of a garment is inside the body.

use glam::Vec3;
use toile_assets::{Body, TriangleTree};

/// Vertices that are inside by less are counted as outside: skin and cloth are both faceted, m.
const SKIN_M: f32 = 0.001;
/// Cloth is looked for this deep, m; deeper counts as this deep.
const DEEPEST_M: f32 = 0.1;

/// Shares and depths over the frames that were looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Penetration {
    looked: u64,
    inside: u64,
    pub deepest_m: f32,
}

impl Penetration {
    /// Adds one frame's vertices against the posed body.
    pub fn add(&mut self, tree: &TriangleTree, skin: &[Vec3], body: &Body, cloth: &[Vec3]) {
        for p in cloth {
            self.looked += 1;
            let Some(near) = tree.closest_within(*p, DEEPEST_M) else { continue };
            let [a, b, c] = body.mesh.triangles[near.triangle as usize].map(|v| skin[v as usize]);
            // The nearest triangle's side settles most; at edges and folds the exact test does.
            let behind = (*p - near.point).dot((b - a).cross(c - a)) < 0.0;
            if behind && near.distance_m > SKIN_M && tree.is_inside(*p) {
                self.inside += 1;
                self.deepest_m = self.deepest_m.max(near.distance_m);
            }
        }
    }

    pub fn percent(&self) -> f64 {
        100.0 * self.inside as f64 / self.looked.max(1) as f64
    }
}
