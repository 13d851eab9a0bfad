//! What a mesh is drawn as: finer than it is where cloth is coarse, with its folds and hems found.

use crate::smooth_normals;
use glam::Vec3;
use std::collections::HashMap;

/// A rounded mesh has at most this many triangles: beyond it the eye sees no corner any more, and each costs.
const ROUNDED_TRIANGLES: usize = 8000;
/// Folds of this radius, in metres, are drawn at full depth.
const FOLD_RADIUS_M: f32 = 0.03;
/// Hems farther from an edge than this are not asked for, so distances end here.
const FARTHEST_EDGE_M: f32 = 0.06;

/// The connections of a mesh as it is drawn.
pub(super) struct Shape {
    pub triangles: Vec<[u32; 3]>,
    /// Ends of the edge in whose middle each added vertex stands; they follow the mesh's own vertices.
    middles: Vec<[u32; 2]>,
    /// Every edge once.
    edges: Vec<[u32; 2]>,
    /// Vertices on an open edge.
    open: Vec<u32>,
    /// Metres to the nearest open edge along the mesh; measured on the first frame and kept.
    to_edge_m: Vec<f32>,
}

/// A vertex's place, normal and the curvature of the surface there.
#[derive(Default)]
pub(super) struct Drawn {
    pub positions: Vec<Vec3>,
    pub normals: Vec<Vec3>,
    /// −1 on a crest, 1 at the bottom of a fold, seen from outside.
    pub folds: Vec<f32>,
}

impl Shape {
    pub fn new(triangles: &[[u32; 3]], vertices: usize, rounded: bool) -> Self {
        let mut shape = Self {
            triangles: triangles.to_vec(),
            middles: Vec::new(),
            edges: Vec::new(),
            open: Vec::new(),
            to_edge_m: Vec::new(),
        };
        if rounded && 4 * triangles.len() <= ROUNDED_TRIANGLES {
            let mut numbers: HashMap<[u32; 2], u32> = HashMap::new();
            let mut middle = |a: u32, b: u32| {
                *numbers.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                    shape.middles.push([a.min(b), a.max(b)]);
                    (vertices + shape.middles.len() - 1) as u32
                })
            };
            shape.triangles = triangles
                .iter()
                .flat_map(|&[a, b, c]| {
                    let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
                    [[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]
                })
                .collect();
        }
        let mut sides: HashMap<[u32; 2], u32> = HashMap::new();
        for &[a, b, c] in &shape.triangles {
            for [p, q] in [[a, b], [b, c], [c, a]] {
                *sides.entry([p.min(q), p.max(q)]).or_default() += 1;
            }
        }
        shape.edges = sides.keys().copied().collect();
        // A hash map's order is random; sums over edges must not be.
        shape.edges.sort_unstable();
        shape.open = sides.iter().filter(|(_, n)| **n == 1).flat_map(|(e, _)| *e).collect();
        shape.open.sort_unstable();
        shape.open.dedup();
        shape
    }

    /// A value per vertex of the mesh as one per vertex that is drawn.
    pub fn spread<T: Copy>(&self, values: &[T], between: impl Fn(T, T) -> T) -> Vec<T> {
        let middle = |&[a, b]: &[u32; 2]| between(values[a as usize], values[b as usize]);
        values.iter().copied().chain(self.middles.iter().map(middle)).collect()
    }

    /// Where the vertices that are drawn stand, and how the surface bends there.
    pub fn draw(&self, positions: &[Vec3], normals: Option<&[Vec3]>, coarse: &[[u32; 3]], out: &mut Drawn) {
        out.positions.clear();
        out.positions.extend_from_slice(positions);
        if self.middles.is_empty() {
            out.normals = match normals {
                Some(given) => given.to_vec(),
                None => smooth_normals(positions, coarse),
            };
        } else {
            let owned;
            let given = match normals {
                Some(given) => given,
                None => {
                    owned = smooth_normals(positions, coarse);
                    &owned
                }
            };
            // Halfway to the mean of the projections onto both tangent planes (Boubekeur and Alexa 2008): on a circle
            // that is the arc's own height above its chord, to second order.
            out.positions.extend(self.middles.iter().map(|&[a, b]| {
                let (p, q) = (positions[a as usize], positions[b as usize]);
                let (m, n) = (given[a as usize], given[b as usize]);
                let chord = q - p;
                0.5 * (p + q) + 0.125 * (chord.dot(n) * n - chord.dot(m) * m)
            }));
            out.normals = smooth_normals(&out.positions, &self.triangles);
        }
    }

    /// Fills in `folds`: mean curvature, smoothed, in units of a fold's.
    pub fn fold(&self, out: &mut Drawn) {
        let count = out.positions.len();
        let mut sum = vec![0.0f32; count];
        let mut degree = vec![0.0f32; count];
        for &[a, b] in &self.edges {
            let (a, b) = (a as usize, b as usize);
            let along = out.positions[b] - out.positions[a];
            let square = along.length_squared().max(1e-8);
            // 2 n·(q − p) / |q − p|² is the curvature of the normal section through p and q.
            sum[a] += 2.0 * out.normals[a].dot(along) / square;
            sum[b] -= 2.0 * out.normals[b].dot(along) / square;
            degree[a] += 1.0;
            degree[b] += 1.0;
        }
        let mean =
            |sum: &[f32]| -> Vec<f32> { sum.iter().zip(&degree).map(|(s, d)| s / d.max(1.0)).collect() };
        let mut folds = mean(&sum);
        for _ in 0..2 {
            let mut sum = vec![0.0f32; count];
            for &[a, b] in &self.edges {
                sum[a as usize] += folds[b as usize];
                sum[b as usize] += folds[a as usize];
            }
            let around = mean(&sum);
            for (own, around) in folds.iter_mut().zip(around) {
                *own = 0.5 * (*own + around);
            }
        }
        out.folds = folds.into_iter().map(|c| (c * FOLD_RADIUS_M).clamp(-1.0, 1.0)).collect();
    }

    /// Metres to the nearest open edge, by way of the mesh's edges.
    pub fn edge_distances_m(&mut self, positions: &[Vec3]) -> &[f32] {
        if self.to_edge_m.len() != positions.len() {
            let mut far = vec![FARTHEST_EDGE_M; positions.len()];
            for &v in &self.open {
                far[v as usize] = 0.0;
            }
            // Distances end after a few edges: passes over all edges settle sooner than a queue would be built.
            for _ in 0..16 {
                let mut changed = false;
                for &[a, b] in &self.edges {
                    let (a, b) = (a as usize, b as usize);
                    let length = positions[a].distance(positions[b]);
                    for (from, to) in [(a, b), (b, a)] {
                        if far[from] + length < far[to] {
                            far[to] = far[from] + length;
                            changed = true;
                        }
                    }
                }
                if !changed {
                    break;
                }
            }
            self.to_edge_m = far;
        }
        &self.to_edge_m
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tube of the given radius about the vertical, open at both ends.
    fn tube(radius: f32, sides: u32, rings: u32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let mut positions = Vec::new();
        for r in 0..=rings {
            for s in 0..sides {
                let (sin, cos) = (std::f32::consts::TAU * s as f32 / sides as f32).sin_cos();
                positions.push(Vec3::new(radius * sin, 0.05 * r as f32, radius * cos));
            }
        }
        let mut triangles = Vec::new();
        for r in 0..rings {
            for s in 0..sides {
                let (a, b) = (r * sides + s, r * sides + (s + 1) % sides);
                triangles.extend([[a, b, a + sides], [b, b + sides, a + sides]]);
            }
        }
        (positions, triangles)
    }

    #[test]
    fn a_rounded_tube_is_rounder_and_its_own_vertices_stay() {
        let (positions, triangles) = tube(0.2, 16, 4);
        let shape = Shape::new(&triangles, positions.len(), true);
        let mut drawn = Drawn::default();
        shape.draw(&positions, None, &triangles, &mut drawn);
        assert_eq!(shape.triangles.len(), 4 * triangles.len());
        assert_eq!(drawn.positions[..positions.len()], positions[..]);
        let off = |p: &Vec3| (p.with_y(0.0).length() - 0.2).abs();
        let chord = 0.2 * (1.0 - (std::f32::consts::PI / 16.0).cos());
        let worst = drawn.positions.iter().map(off).fold(0.0, f32::max);
        assert!(worst < 0.15 * chord, "{worst} of {chord}");
    }

    #[test]
    fn the_outside_of_a_tube_is_a_crest_and_hems_lie_at_its_ends() {
        let (positions, triangles) = tube(0.06, 24, 6);
        let mut shape = Shape::new(&triangles, positions.len(), false);
        let mut drawn = Drawn::default();
        shape.draw(&positions, None, &triangles, &mut drawn);
        shape.fold(&mut drawn);
        let middle = drawn.folds[3 * 24];
        assert!(middle < -0.15 && middle > -0.9, "{middle}");
        let inside_out: Vec<[u32; 3]> = triangles.iter().map(|&[a, b, c]| [a, c, b]).collect();
        let turned = Shape::new(&inside_out, positions.len(), false);
        turned.draw(&positions, None, &inside_out, &mut drawn);
        turned.fold(&mut drawn);
        assert!((drawn.folds[3 * 24] + middle).abs() < 1e-4, "the other side is as deep");
        let far = shape.edge_distances_m(&positions);
        assert_eq!((far[0], far[6 * 24]), (0.0, 0.0));
        assert!((far[24] - 0.05).abs() < 1e-5 && far[3 * 24] == FARTHEST_EDGE_M);
    }
}
