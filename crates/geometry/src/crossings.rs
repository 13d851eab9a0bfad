//! Where meshes cross each other or themselves: edges against triangles, all of them.

use crate::{Mesh, TriangleTree};
use glam::{DVec3, Vec3};

/// An edge that passes through a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// Ends of the edge, smaller index first, in the mesh whose edge it is.
    pub edge: [u32; 2],
    /// The triangle, in the other mesh (or the same one).
    pub triangle: u32,
}

/// Edges of `a` that pass through triangles of `b`, and edges of `b` that pass through triangles of `a`. Two
/// surfaces cross exactly when either list is not empty; touching is not crossing.
pub fn crossings(a: &Mesh, b: &Mesh) -> [Vec<Crossing>; 2] {
    [edges_through(a, b), edges_through(b, a)]
}

/// Edges of `mesh` that pass through triangles of `other`.
pub fn edges_through(mesh: &Mesh, other: &Mesh) -> Vec<Crossing> {
    find(mesh, other, |_, _| true)
}

/// Edges of a mesh that pass through its own triangles, other than those they share a vertex with.
pub fn self_crossings(mesh: &Mesh) -> Vec<Crossing> {
    find(mesh, mesh, |edge, triangle| !triangle.iter().any(|v| edge.contains(v)))
}

/// Counts how often a moving mesh passes through itself; nothing is built anew from frame to frame.
pub struct SelfCrossings {
    edges: Vec<[u32; 2]>,
    triangles: Vec<[u32; 3]>,
    tree: TriangleTree,
}

impl SelfCrossings {
    /// For a mesh that begins at `positions`.
    pub fn new(positions: &[Vec3], triangles: &[[u32; 3]]) -> Self {
        let mesh = Mesh { positions: positions.to_vec(), triangles: triangles.to_vec(), uvs: Vec::new() };
        let edges = mesh.topology().edges.iter().map(|e| e.ends).collect();
        Self { edges, triangles: mesh.triangles, tree: TriangleTree::new(positions, triangles) }
    }

    /// Pairs of an edge and a triangle that cross now, as [`self_crossings`] would list them.
    pub fn count(&mut self, positions: &[Vec3]) -> usize {
        self.tree.refit(positions);
        let mut count = 0;
        for edge in &self.edges {
            let [p, q] = edge.map(|v| positions[v as usize]);
            self.tree.for_each_in_box(p.min(q), p.max(q), |t| {
                let triangle = self.triangles[t as usize];
                let apart = !triangle.iter().any(|v| edge.contains(v));
                count += usize::from(apart && passes_through(p, q, triangle.map(|v| positions[v as usize])));
            });
        }
        count
    }
}

fn find(mesh: &Mesh, other: &Mesh, counts: impl Fn([u32; 2], [u32; 3]) -> bool) -> Vec<Crossing> {
    let tree = TriangleTree::new(&other.positions, &other.triangles);
    let mut found = Vec::new();
    for edge in mesh.topology().edges.iter().map(|e| e.ends) {
        let [p, q] = edge.map(|v| mesh.positions[v as usize]);
        tree.for_each_in_box(p.min(q), p.max(q), |t| {
            let triangle = other.triangles[t as usize];
            if counts(edge, triangle) && passes_through(p, q, triangle.map(|v| other.positions[v as usize])) {
                found.push(Crossing { edge, triangle: t });
            }
        });
    }
    found.sort_unstable_by_key(|c| (c.edge, c.triangle));
    found
}

/// Whether the segment has its ends strictly on both sides of the triangle and passes within it. The signed
/// volumes of f32 coordinates in f64 are all but exact.
pub fn passes_through(p: Vec3, q: Vec3, [a, b, c]: [Vec3; 3]) -> bool {
    let d = |v: Vec3| v.as_dvec3();
    let volume = |a: DVec3, b: DVec3, c: DVec3, d: DVec3| (b - a).cross(c - a).dot(d - a);
    let (p, q, a, b, c) = (d(p), d(q), d(a), d(b), d(c));
    let (above, below) = (volume(a, b, c, p), volume(a, b, c, q));
    if above * below >= 0.0 {
        return false;
    }
    let sides = [volume(p, q, a, b), volume(p, q, b, c), volume(p, q, c, a)];
    sides.iter().all(|s| *s >= 0.0) || sides.iter().all(|s| *s <= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A square of `n × n` quads in the plane spanned by `x` and `y`, around `centre`.
    fn sheet(n: u32, centre: Vec3, x: Vec3, y: Vec3) -> Mesh {
        let mut mesh = Mesh::default();
        for j in 0..=n {
            for i in 0..=n {
                let [u, v] = [i, j].map(|k| k as f32 / n as f32 - 0.5);
                mesh.positions.push(centre + x * u + y * v);
            }
        }
        for j in 0..n {
            for i in 0..n {
                let k = j * (n + 1) + i;
                mesh.triangles.extend([[k, k + 1, k + n + 2], [k, k + n + 2, k + n + 1]]);
            }
        }
        mesh
    }

    #[test]
    fn sheets_that_cross_touch_and_miss() {
        let flat = sheet(8, Vec3::ZERO, Vec3::X, Vec3::Y);
        let through = sheet(5, Vec3::new(0.01, 0.02, 0.03), Vec3::new(0.3, 0.1, 0.5), Vec3::Y * 0.4);
        let [a, b] = crossings(&flat, &through);
        assert!(!a.is_empty() && !b.is_empty());
        // Every pair, without the tree.
        let all = |m: &Mesh, o: &Mesh| {
            let edges = m.topology().edges;
            let through = |e: [u32; 2], t: &[u32; 3]| {
                let [p, q] = e.map(|v| m.positions[v as usize]);
                passes_through(p, q, t.map(|v| o.positions[v as usize]))
            };
            edges.iter().map(|e| o.triangles.iter().filter(|t| through(e.ends, t)).count()).sum::<usize>()
        };
        assert_eq!([a.len(), b.len()], [all(&flat, &through), all(&through, &flat)]);
        let beside = sheet(8, Vec3::Z * 1e-4, Vec3::X, Vec3::Y);
        assert_eq!(crossings(&flat, &beside), [vec![], vec![]]);
        assert_eq!(crossings(&flat, &flat), [vec![], vec![]]);
        let upright = sheet(8, Vec3::Z * 0.5, Vec3::X, Vec3::Z);
        assert_eq!(crossings(&flat, &upright), [vec![], vec![]], "standing on it is touching");
    }

    #[test]
    fn a_sheet_folded_through_itself_is_found() {
        let mut mesh = sheet(16, Vec3::ZERO, Vec3::X, Vec3::Y);
        assert!(self_crossings(&mesh).is_empty());
        // Roll it up by more than a turn at a constant radius that shrinks too little, then too much.
        for p in &mut mesh.positions {
            let a = 7.5 * (p.x + 0.5);
            let r = 0.2 - 0.01 * a;
            *p = Vec3::new(r * a.cos(), p.y, r * a.sin());
        }
        assert!(self_crossings(&mesh).is_empty());
        for p in &mut mesh.positions {
            p.x += 0.3 * (p.z + 0.1);
            if p.x > 0.1 {
                p.z = -p.z * 0.7 + 0.02;
            }
        }
        let found = self_crossings(&mesh);
        assert!(!found.is_empty());
        let flat = sheet(16, Vec3::ZERO, Vec3::X, Vec3::Y);
        let mut moving = SelfCrossings::new(&flat.positions, &flat.triangles);
        assert_eq!(moving.count(&flat.positions), 0);
        assert_eq!(moving.count(&mesh.positions), found.len());
        assert!(
            found.iter().all(|c| !mesh.triangles[c.triangle as usize].iter().any(|v| c.edge.contains(v)))
        );
    }
}
