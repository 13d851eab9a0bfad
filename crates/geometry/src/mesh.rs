//! Triangle meshes and what one may ask about their connections.

use glam::{Vec2, Vec3};
use std::collections::HashMap;

/// A triangle mesh. `uvs` is empty or has one entry per vertex.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Mesh {
    /// In metres.
    pub positions: Vec<Vec3>,
    /// Counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Texture coordinates as the file has them.
    pub uvs: Vec<Vec2>,
}

/// An edge and the one or two triangles beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Ends, smaller index first.
    pub ends: [u32; 2],
    /// Triangles beside it; the second is `None` at a boundary.
    pub triangles: [Option<u32>; 2],
    /// The vertices across from the edge in those triangles.
    pub opposite: [Option<u32>; 2],
}

/// Edges and neighbourhoods, computed once from the triangles.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    /// In the order in which the triangles first name them.
    pub edges: Vec<Edge>,
    /// Vertices joined to each vertex by an edge, ascending.
    pub neighbours: Vec<Vec<u32>>,
    /// Number of edges with more than two triangles; only their first two are recorded.
    pub non_manifold_edges: usize,
}

impl Mesh {
    /// Area-weighted vertex normals.
    pub fn normals(&self) -> Vec<Vec3> {
        vertex_normals(&self.positions, &self.triangles)
    }

    /// Area of one triangle in square metres.
    pub fn triangle_area(&self, t: usize) -> f32 {
        let [a, b, c] = self.triangles[t].map(|i| self.positions[i as usize]);
        0.5 * (b - a).cross(c - a).length()
    }

    /// Total area in square metres.
    pub fn area(&self) -> f32 {
        (0..self.triangles.len()).map(|t| self.triangle_area(t)).sum()
    }

    /// Least and greatest corner of the box around all vertices; zeros for an empty mesh.
    pub fn bounds(&self) -> (Vec3, Vec3) {
        let Some(&first) = self.positions.first() else { return (Vec3::ZERO, Vec3::ZERO) };
        self.positions.iter().fold((first, first), |(lo, hi), p| (lo.min(*p), hi.max(*p)))
    }

    /// Edges and neighbourhoods.
    pub fn topology(&self) -> Topology {
        let mut topology =
            Topology { neighbours: vec![Vec::new(); self.positions.len()], ..Topology::default() };
        let mut by_ends: HashMap<[u32; 2], usize> = HashMap::new();
        for (t, tri) in self.triangles.iter().enumerate() {
            for k in 0..3 {
                let (a, b, c) = (tri[k], tri[(k + 1) % 3], tri[(k + 2) % 3]);
                let ends = [a.min(b), a.max(b)];
                let t = t as u32;
                match by_ends.get(&ends) {
                    None => {
                        by_ends.insert(ends, topology.edges.len());
                        topology.edges.push(Edge {
                            ends,
                            triangles: [Some(t), None],
                            opposite: [Some(c), None],
                        });
                        topology.neighbours[a as usize].push(b);
                        topology.neighbours[b as usize].push(a);
                    }
                    Some(&e) => {
                        let edge = &mut topology.edges[e];
                        if edge.triangles[1].is_none() {
                            edge.triangles[1] = Some(t);
                            edge.opposite[1] = Some(c);
                        } else {
                            topology.non_manifold_edges += 1;
                        }
                    }
                }
            }
        }
        for list in &mut topology.neighbours {
            list.sort_unstable();
            list.dedup();
        }
        topology
    }

    /// Connected components: a component number per vertex, and how many there are. Vertices that no
    /// triangle uses are components of their own.
    pub fn components(&self) -> (Vec<u32>, usize) {
        let mut parent: Vec<u32> = (0..self.positions.len() as u32).collect();
        fn find(parent: &mut [u32], mut v: u32) -> u32 {
            while parent[v as usize] != v {
                parent[v as usize] = parent[parent[v as usize] as usize];
                v = parent[v as usize];
            }
            v
        }
        for tri in &self.triangles {
            let a = find(&mut parent, tri[0]);
            for &other in &tri[1..] {
                let b = find(&mut parent, other);
                parent[b as usize] = a;
            }
        }
        let mut number: HashMap<u32, u32> = HashMap::new();
        let labels = (0..parent.len() as u32)
            .map(|v| {
                let root = find(&mut parent, v);
                let next = number.len() as u32;
                *number.entry(root).or_insert(next)
            })
            .collect();
        (labels, number.len())
    }
}

impl Topology {
    /// Closed chains of boundary vertices, each in walking order from its smallest vertex; open ones only where
    /// edges with more than two triangles interrupt the boundary. Where two holes touch at a vertex, each has it.
    pub fn boundary_loops(&self) -> Vec<Vec<u32>> {
        let boundary: Vec<[u32; 2]> =
            self.edges.iter().filter(|e| e.triangles[1].is_none()).map(|e| e.ends).collect();
        let mut at: HashMap<u32, Vec<usize>> = HashMap::new();
        for (e, ends) in boundary.iter().enumerate() {
            ends.iter().for_each(|v| at.entry(*v).or_default().push(e));
        }
        let mut starts: Vec<u32> = at.keys().copied().collect();
        starts.sort_unstable();
        let mut walked = vec![false; boundary.len()];
        let mut loops = Vec::new();
        for start in starts {
            while let Some(&first) = at[&start].iter().find(|e| !walked[**e]) {
                let (mut chain, mut v, mut e) = (vec![start], start, first);
                loop {
                    walked[e] = true;
                    v = boundary[e][usize::from(boundary[e][0] == v)];
                    if v == start {
                        break;
                    }
                    // Only where holes touch can a vertex come up again: a loop of its own ends there.
                    let before = if at[&v].len() > 2 { chain.iter().position(|c| *c == v) } else { None };
                    if let Some(begin) = before {
                        loops.push(chain.split_off(begin));
                    }
                    chain.push(v);
                    match at[&v].iter().find(|e| !walked[**e]) {
                        Some(&next) => e = next,
                        None => break,
                    }
                }
                loops.push(chain);
            }
        }
        loops
    }
}

/// Area-weighted vertex normals of positions that share `triangles`.
pub fn vertex_normals(positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<Vec3> {
    let mut normals = vec![Vec3::ZERO; positions.len()];
    for tri in triangles {
        let [a, b, c] = tri.map(|i| positions[i as usize]);
        let n = (b - a).cross(c - a);
        for &i in tri {
            normals[i as usize] += n;
        }
    }
    for n in &mut normals {
        *n = n.normalize_or_zero();
    }
    normals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_triangles_share_one_edge() {
        let mesh = Mesh {
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(1.0, 1.0, 0.0)],
            triangles: vec![[0, 1, 2], [1, 3, 2]],
            uvs: vec![],
        };
        let topology = mesh.topology();
        assert_eq!(topology.edges.len(), 5);
        let inner: Vec<_> = topology.edges.iter().filter(|e| e.triangles[1].is_some()).collect();
        assert_eq!(inner.len(), 1);
        assert_eq!(inner[0].ends, [1, 2]);
        assert_eq!(topology.boundary_loops(), vec![vec![0, 1, 3, 2]]);
        assert_eq!(mesh.components().1, 1);
        assert!((mesh.area() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn holes_that_touch_are_two_loops() {
        // Two triangles that meet in vertex 2 only.
        let mesh =
            Mesh { positions: vec![Vec3::ZERO; 5], triangles: vec![[0, 1, 2], [2, 3, 4]], uvs: vec![] };
        let mut loops = mesh.topology().boundary_loops();
        loops.iter_mut().for_each(|l| l.sort_unstable());
        assert_eq!(loops, [[0, 1, 2], [2, 3, 4]]);
    }
}
