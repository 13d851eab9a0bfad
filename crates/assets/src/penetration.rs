//! How much of a garment is inside the body: the one definition behind every such figure.
//!
//! A vertex counts as inside when it is more than 1 mm under the skin of the posed body. Where the body crosses itself, as
//! skinned bodies do in the armpit, cloth cannot be on the right side of all of it: within 5 cm of such places nothing
//! is counted, and how much that was is said beside the figure.

use crate::{Body, Mesh, TriangleTree};
use glam::{Affine3A, Vec3};
use toile_geometry::passes_through;

/// Skin and cloth are both faceted; what is inside by less counts as outside, m.
pub const INSIDE_M: f32 = 0.001;
/// Cloth deeper than this shows, m.
pub const DEEP_M: f32 = 0.002;
/// Cloth this near to where the body crosses itself is left out, m.
pub const NEAR_CROSSING_M: f32 = 0.05;
/// Nothing is deeper inside a body than half its trunk, m.
const REACH_M: f32 = 0.4;

/// A body in a pose, ready to be asked.
pub struct PosedBody {
    mesh: Mesh,
    tree: TriangleTree,
}

impl PosedBody {
    /// Skins the body.
    pub fn new(body: &Body, bones: &[Affine3A]) -> Self {
        let positions = body.skinned_positions(bones);
        let tree = TriangleTree::new(&positions, &body.mesh.triangles);
        let mesh = Mesh { positions, triangles: body.mesh.triangles.clone(), uvs: Vec::new() };
        Self { mesh, tree }
    }

    /// Takes the same body into another pose, which is cheaper than beginning anew.
    pub fn repose(&mut self, body: &Body, bones: &[Affine3A]) {
        self.mesh.positions = body.skinned_positions(bones);
        self.tree.refit(&self.mesh.positions);
    }

    /// How far a point is under the skin; `None` outside.
    pub fn depth_m(&self, p: Vec3) -> Option<f32> {
        let near = self.tree.closest_within(p, REACH_M)?;
        let [a, b, c] = self.mesh.triangles[near.triangle as usize].map(|v| self.mesh.positions[v as usize]);
        // The side of the nearest triangle settles most; at edges and folds the exact test does.
        let behind = (p - near.point).dot((b - a).cross(c - a)) < 0.0;
        (behind && near.distance_m > INSIDE_M && self.tree.is_inside(p)).then_some(near.distance_m)
    }

    /// Whether the body crosses itself within 5 cm of a point: the middle of an edge that passes through the body is there.
    /// Only edges about the point are looked at, since all of a body's take longer than simulating a frame.
    pub fn crosses_itself_near(&self, p: Vec3) -> bool {
        let Mesh { positions, triangles, .. } = &self.mesh;
        let reach = Vec3::splat(NEAR_CROSSING_M);
        let mut found = false;
        self.tree.for_each_in_box(p - reach, p + reach, |t| {
            let corners = triangles[t as usize];
            for k in 0..3 {
                let edge = [corners[k], corners[(k + 1) % 3]];
                let [a, b] = edge.map(|v| positions[v as usize]);
                if found || (0.5 * (a + b)).distance_squared(p) >= NEAR_CROSSING_M * NEAR_CROSSING_M {
                    continue;
                }
                self.tree.for_each_in_box(a.min(b), a.max(b), |other| {
                    let other = triangles[other as usize];
                    let apart = !other.iter().any(|v| edge.contains(v));
                    found |= apart && passes_through(a, b, other.map(|v| positions[v as usize]));
                });
            }
        });
        found
    }
}

/// Shares and depths over the frames that were looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Penetration {
    looked: u64,
    inside: u64,
    deep: u64,
    excluded: u64,
    deepest_m: f32,
}

impl Penetration {
    /// Adds one frame's vertices.
    pub fn add(&mut self, body: &PosedBody, cloth: &[Vec3]) {
        for p in cloth {
            self.looked += 1;
            let Some(depth_m) = body.depth_m(*p) else { continue };
            if body.crosses_itself_near(*p) {
                self.excluded += 1;
            } else {
                self.inside += 1;
                self.deep += u64::from(depth_m > DEEP_M);
                self.deepest_m = self.deepest_m.max(depth_m);
            }
        }
    }

    /// Vertices inside, percent of those that count.
    pub fn percent(&self) -> f64 {
        100.0 * self.inside as f64 / (self.looked - self.excluded).max(1) as f64
    }

    /// Vertices deeper than 2 mm, percent of those that count.
    pub fn deep_percent(&self) -> f64 {
        100.0 * self.deep as f64 / (self.looked - self.excluded).max(1) as f64
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
        let deep = look(&[body_centre(&body)]).deepest_mm();
        assert!((60.0..130.0).contains(&deep), "the trunk is not shallow: {deep}");
        let shallow = look(&at(0.0015));
        assert!(shallow.percent() > 99.0 && shallow.deep_percent() < 1.0 && inside.deep_percent() > 99.0);
        let half = look(&[at(-0.01), at(0.005)].concat());
        assert!((49.0..51.0).contains(&half.percent()), "{half:?}");
    }

    #[test]
    fn what_lies_where_the_body_crosses_itself_is_left_out() {
        let body = builtin::body("mannequin:female").unwrap();
        // One leg brought into the other.
        let mut pose = body.skeleton.rest_pose();
        let thigh = body.humanoid().joint(crate::Role::LeftUpperLeg).unwrap();
        pose.locals[thigh].rotation = glam::Quat::from_rotation_z(-0.35) * pose.locals[thigh].rotation;
        let posed = PosedBody::new(&body, &body.bones(&pose));
        let all = crate::self_crossings(&posed.mesh);
        assert!(!all.is_empty(), "the legs cross");
        let at = |v: u32| posed.mesh.positions[v as usize];
        let places: Vec<Vec3> = all.iter().map(|c| 0.5 * (at(c.edge[0]) + at(c.edge[1]))).collect();
        for p in posed.mesh.positions.iter().step_by(5) {
            let near = places.iter().any(|c| c.distance(*p) < NEAR_CROSSING_M);
            assert_eq!(posed.crosses_itself_near(*p), near, "{p}");
        }
    }

    fn body_centre(body: &Body) -> Vec3 {
        let (lo, hi) = body.mesh.bounds();
        Vec3::new(0.0, lo.y + 0.72 * (hi.y - lo.y), 0.0)
    }
}
