//! How much of a garment is inside the body: an independent look at finished frames, with no part of the solver.

use glam::{Affine3A, Vec3};
use toile_assets::{Body, Mesh, TriangleTree, self_crossings};

/// Less than this is the thickness of a line, m.
const DEPTH_M: f32 = 0.001;
/// Cloth this near to where the body crosses itself cannot be on the right side of all of it, m.
const EXCLUDED_M: f32 = 0.05;
/// A tree query radius: nothing is deeper inside a body than half its trunk, m.
const REACH_M: f32 = 0.4;

/// The body at chosen frames, ready to be asked by every tier.
pub struct Bodies {
    frames: Vec<Posed>,
}

struct Posed {
    frame: usize,
    tree: TriangleTree,
    /// Where the body crosses itself.
    crossings: Vec<Vec3>,
}

/// What was found.
#[derive(Clone, Copy, Debug, Default)]
pub struct Penetration {
    /// Vertices more than 1 mm inside, percent of those looked at.
    pub percent: f64,
    /// The deepest, mm.
    pub deepest_mm: f64,
    /// Vertices left out because the body crosses itself within 5 cm, percent.
    pub excluded_percent: f64,
}

impl Bodies {
    /// Poses the body at up to `most` frames, evenly spread.
    pub fn new(body: &Body, bones: &[Vec<Affine3A>], most: usize) -> Self {
        let stride = bones.len().div_ceil(most.max(1)).max(1);
        let frames = (0..bones.len())
            .step_by(stride)
            .map(|frame| {
                let positions = body.skinned_positions(&bones[frame]);
                let tree = TriangleTree::new(&positions, &body.mesh.triangles);
                let mesh = Mesh { positions, triangles: body.mesh.triangles.clone(), uvs: Vec::new() };
                let crossings = self_crossings(&mesh)
                    .iter()
                    .map(|c| 0.5 * (mesh.positions[c.edge[0] as usize] + mesh.positions[c.edge[1] as usize]))
                    .collect();
                Posed { frame, tree, crossings }
            })
            .collect();
        Self { frames }
    }

    /// Looks at a garment given frame by frame.
    pub fn measure(&self, cloth: &[Vec<Vec3>]) -> Penetration {
        let (mut seen, mut inside, mut excluded) = (0usize, 0usize, 0usize);
        let mut deepest = 0.0f32;
        for posed in &self.frames {
            for p in &cloth[posed.frame] {
                seen += 1;
                // Far from a body's box the test is cheap; close to its surface it has to be exact.
                if !posed.tree.is_inside(*p) {
                    continue;
                }
                let depth = posed.tree.closest_within(*p, REACH_M).map_or(REACH_M, |c| c.distance_m);
                if posed.crossings.iter().any(|c| c.distance_squared(*p) < EXCLUDED_M * EXCLUDED_M) {
                    excluded += 1;
                } else if depth > DEPTH_M {
                    inside += 1;
                    deepest = deepest.max(depth);
                }
            }
        }
        let percent = |n: usize, of: usize| 100.0 * n as f64 / of.max(1) as f64;
        Penetration {
            percent: percent(inside, seen - excluded),
            deepest_mm: 1e3 * f64::from(deepest),
            excluded_percent: percent(excluded, seen),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_assets::builtin;

    #[test]
    fn what_is_pushed_into_the_body_is_found_at_its_depth() {
        let body = builtin::body("mannequin:female").unwrap();
        let bones = vec![body.bones(&body.skeleton.rest_pose())];
        let bodies = Bodies::new(&body, &bones, 1);
        let normals = body.mesh.normals();
        let at = |depth: f32| -> Vec<Vec3> {
            // The belly: a smooth place far from any other.
            let pick = (0..normals.len())
                .filter(|&v| normals[v].z > 0.9 && (1.0..1.2).contains(&body.mesh.positions[v].y));
            pick.map(|v| body.mesh.positions[v] - depth * normals[v]).collect()
        };
        let outside = bodies.measure(&[at(-0.01)]);
        assert_eq!((outside.percent, outside.deepest_mm), (0.0, 0.0));
        let inside = bodies.measure(&[at(0.01)]);
        assert!(inside.percent > 99.0 && (9.0..10.1).contains(&inside.deepest_mm), "{inside:?}");
        let mut half = at(-0.01);
        half.extend(at(0.005));
        let half = bodies.measure(&[half]);
        assert!((49.0..51.0).contains(&half.percent), "{half:?}");
    }
}
