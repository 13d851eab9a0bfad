//! How much of a garment is inside the body: the one definition behind every such figure.
//!
//! A vertex counts as inside when it is more than 1 mm under the skin of the posed body. Where the body crosses itself, as
//! skinned bodies do in the armpit, cloth cannot be on the right side of all of it: within 5 cm of such places nothing
//! is counted, and how much that was is said beside the figure.

use crate::{Body, Mesh, TriangleTree, self_crossings};
use glam::{Affine3A, Vec3};
use std::sync::OnceLock;

/// Skin and cloth are both faceted; what is inside by less counts as outside, m.
const SKIN_M: f32 = 0.001;
/// Cloth this near to where the body crosses itself is left out, m.
const EXCLUDED_M: f32 = 0.05;
/// Nothing is deeper inside a body than half its trunk, m.
const REACH_M: f32 = 0.4;

/// A body in a pose, ready to be asked.
pub struct PosedBody {
    mesh: Mesh,
    tree: TriangleTree,
    /// Where it crosses itself; looked for when the first vertex is found inside.
    crossings: OnceLock<Vec<Vec3>>,
}

impl PosedBody {
    /// Skins the body.
    pub fn new(body: &Body, bones: &[Affine3A]) -> Self {
        let positions = body.skinned_positions(bones);
        let tree = TriangleTree::new(&positions, &body.mesh.triangles);
        let mesh = Mesh { positions, triangles: body.mesh.triangles.clone(), uvs: Vec::new() };
        Self { mesh, tree, crossings: OnceLock::new() }
    }

    /// Takes the same body into another pose, which is cheaper than beginning anew.
    pub fn repose(&mut self, body: &Body, bones: &[Affine3A]) {
        self.mesh.positions = body.skinned_positions(bones);
        self.tree.refit(&self.mesh.positions);
        self.crossings = OnceLock::new();
    }

    /// How far a point is under the skin; `None` outside.
    pub fn depth_m(&self, p: Vec3) -> Option<f32> {
        let near = self.tree.closest_within(p, REACH_M)?;
        let [a, b, c] = self.mesh.triangles[near.triangle as usize].map(|v| self.mesh.positions[v as usize]);
        // The side of the nearest triangle settles most; at edges and folds the exact test does.
        let behind = (p - near.point).dot((b - a).cross(c - a)) < 0.0;
        (behind && near.distance_m > SKIN_M && self.tree.is_inside(p)).then_some(near.distance_m)
    }

    /// Whether the body crosses itself near a point.
    fn excludes(&self, p: Vec3) -> bool {
        let places = self.crossings.get_or_init(|| {
            let at = |v: u32| self.mesh.positions[v as usize];
            self_crossings(&self.mesh).iter().map(|c| 0.5 * (at(c.edge[0]) + at(c.edge[1]))).collect()
        });
        places.iter().any(|c| c.distance_squared(p) < EXCLUDED_M * EXCLUDED_M)
    }
}

/// Shares and depths over the frames that were looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Penetration {
    looked: u64,
    inside: u64,
    excluded: u64,
    deepest_m: f32,
}

impl Penetration {
    /// Adds one frame's vertices.
    pub fn add(&mut self, body: &PosedBody, cloth: &[Vec3]) {
        for p in cloth {
            self.looked += 1;
            let Some(depth_m) = body.depth_m(*p) else { continue };
            if body.excludes(*p) {
                self.excluded += 1;
            } else {
                self.inside += 1;
                self.deepest_m = self.deepest_m.max(depth_m);
            }
        }
    }

    /// Vertices inside, percent of those that count.
    pub fn percent(&self) -> f64 {
        100.0 * self.inside as f64 / (self.looked - self.excluded).max(1) as f64
    }

    /// Vertices that were left out, percent of all.
    pub fn excluded_percent(&self) -> f64 {
        100.0 * self.excluded as f64 / self.looked.max(1) as f64
    }

    /// The deepest, mm.
    pub fn deepest_mm(&self) -> f64 {
        1e3 * f64::from(self.deepest_m)
    }
}

#[cfg(all(test, feature = "io"))]
mod tests {
    use super::*;
    use crate::builtin;

    #[test]
    fn what_is_pushed_into_the_body_is_found_at_its_depth() {
        let body = builtin::body("mannequin:female").unwrap();
        let posed = PosedBody::new(&body, &body.bones(&body.skeleton.rest_pose()));
        let normals = body.mesh.normals();
        let at = |depth: f32| -> Vec<Vec3> {
            // The belly: a smooth place far from any other.
            let pick = (0..normals.len())
                .filter(|&v| normals[v].z > 0.9 && (1.0..1.2).contains(&body.mesh.positions[v].y));
            pick.map(|v| body.mesh.positions[v] - depth * normals[v]).collect()
        };
        let look = |cloth: &[Vec3]| {
            let mut found = Penetration::default();
            found.add(&posed, cloth);
            found
        };
        let outside = look(&at(-0.01));
        assert_eq!((outside.percent(), outside.deepest_mm()), (0.0, 0.0));
        let inside = look(&at(0.01));
        assert!(inside.percent() > 99.0 && (9.0..10.1).contains(&inside.deepest_mm()), "{inside:?}");
        assert!(
            (100.0..130.0).contains(&look(&[body_centre(&body)]).deepest_mm()),
            "the trunk is not shallow"
        );
        let half = look(&[at(-0.01), at(0.005)].concat());
        assert!((49.0..51.0).contains(&half.percent()), "{half:?}");
    }

    fn body_centre(body: &Body) -> Vec3 {
        let (lo, hi) = body.mesh.bounds();
        Vec3::new(0.0, lo.y + 0.72 * (hi.y - lo.y), 0.0)
    }
}
