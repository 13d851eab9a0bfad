//! Curved PN triangles (Vlachos, Peters, Boyd and Mitchell 2001): a flat mesh drawn as smooth patches that take their
//! shape from its corners and their normals alone.

use crate::vertex_normals;
use glam::Vec3;

/// Into how many triangles one is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// At its middle: edges stay as they are, so nothing opens between split and plain triangles.
    Three,
    /// At the middles of its edges. Edges to plain triangles stay straight.
    Four,
}

/// A mesh some of whose triangles are split into curved patches. What is fixed is made once; [`Curved::place`] then puts
/// the new vertices for each frame.
#[derive(Clone, Debug)]
pub struct Curved {
    plain: Vec<[u32; 3]>,
    /// Split triangles, into which the vertices after the first ones belong.
    triangles: Vec<[u32; 3]>,
    /// Triangles whose middle is a vertex.
    middles: Vec<[u32; 3]>,
    /// Edges whose middle is a vertex, and whether it is curved.
    edges: Vec<([u32; 2], bool)>,
}

impl Curved {
    /// Splits the triangles for which `asked` holds.
    pub fn new(triangles: &[[u32; 3]], vertices: usize, asked: impl Fn(usize) -> bool, split: Split) -> Self {
        let mut curved = Self {
            plain: triangles.to_vec(),
            triangles: Vec::with_capacity(4 * triangles.len()),
            middles: Vec::new(),
            edges: Vec::new(),
        };
        let mut number = std::collections::HashMap::<[u32; 2], u32>::new();
        let edges = |t: &[u32; 3]| [0, 1, 2].map(|k| sorted(t[k], t[(k + 1) % 3]));
        let mut sides = std::collections::HashMap::<[u32; 2], (u32, u32)>::new();
        for (t, corners) in triangles.iter().enumerate() {
            for edge in edges(corners) {
                let (all, own) = sides.entry(edge).or_default();
                (*all, *own) = (*all + 1, *own + u32::from(asked(t)));
            }
        }
        for (t, corners) in triangles.iter().enumerate() {
            let [a, b, c] = *corners;
            if !asked(t) {
                curved.triangles.push(*corners);
            } else if split == Split::Three {
                let m = (vertices + curved.middles.len()) as u32;
                curved.middles.push(*corners);
                curved.triangles.extend([[a, b, m], [b, c, m], [c, a, m]]);
            } else {
                let [ab, bc, ca] = edges(corners).map(|edge| {
                    *number.entry(edge).or_insert_with(|| {
                        let (all, own) = sides[&edge];
                        curved.edges.push((edge, all == own));
                        (vertices + curved.edges.len() - 1) as u32
                    })
                });
                curved.triangles.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
            }
        }
        curved
    }

    /// The triangles that are drawn.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Positions of all vertices, those of the mesh first.
    pub fn place(&self, positions: &[Vec3]) -> Vec<Vec3> {
        let normals = vertex_normals(positions, &self.plain);
        let corner = |v: u32| (positions[v as usize], normals[v as usize]);
        let mut all = positions.to_vec();
        all.extend(self.middles.iter().map(|t| middle(t.map(corner))));
        all.extend(self.edges.iter().map(|(edge, is_curved)| {
            let [a, b] = edge.map(corner);
            if *is_curved { half_way(a, b) } else { 0.5 * (a.0 + b.0) }
        }));
        all
    }

    /// Anything that vertices have, blended evenly for the new ones: colours.
    pub fn spread(&self, values: &[Vec3]) -> Vec<Vec3> {
        let at = |v: u32| values[v as usize];
        let mut all = values.to_vec();
        all.extend(self.middles.iter().map(|t| t.map(at).iter().sum::<Vec3>() / 3.0));
        all.extend(self.edges.iter().map(|(edge, _)| 0.5 * (at(edge[0]) + at(edge[1]))));
        all
    }
}

fn sorted(a: u32, b: u32) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

/// The control point of an edge next to its corner `a`: a third of the way to `b`, put onto the tangent plane of `a`
/// (their b₂₁₀ and the like).
fn beside((a, normal): (Vec3, Vec3), (b, _): (Vec3, Vec3)) -> Vec3 {
    let third = (2.0 * a + b) / 3.0;
    third - normal * ((b - a).dot(normal) / 3.0)
}

/// The cubic patch at (1/3, 1/3, 1/3).
fn middle([a, b, c]: [(Vec3, Vec3); 3]) -> Vec3 {
    let edges = beside(a, b) + beside(b, a) + beside(b, c) + beside(c, b) + beside(c, a) + beside(a, c);
    let (edge, corner) = (edges / 6.0, (a.0 + b.0 + c.0) / 3.0);
    // Their centre b₁₁₁ = E + (E − V)/2, then Bernstein weights: 3/27 corners, 18/27 edges, 6/27 centre.
    let centre = edge + 0.5 * (edge - corner);
    (3.0 * corner + 18.0 * edge + 6.0 * centre) / 27.0
}

/// The cubic edge at its middle.
fn half_way(a: (Vec3, Vec3), b: (Vec3, Vec3)) -> Vec3 {
    (a.0 + b.0 + 3.0 * (beside(a, b) + beside(b, a))) / 8.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An octahedron on the unit sphere: coarse, and what is right is known.
    fn octahedron() -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let p = vec![Vec3::X, Vec3::Y, Vec3::Z, -Vec3::X, -Vec3::Y, -Vec3::Z];
        let t = vec![[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2], [1, 0, 5], [3, 1, 5], [4, 3, 5], [0, 4, 5]];
        (p, t)
    }

    #[test]
    fn new_vertices_of_a_coarse_sphere_are_near_the_sphere() {
        let (p, t) = octahedron();
        // Worked out by hand: (12/27)√3 and (5/8)√2 from the centre, where flat triangles have 0.577 and 0.707.
        for (split, vertices, triangles, far) in
            [(Split::Three, 14, 24, 0.7698), (Split::Four, 18, 32, 0.8839)]
        {
            let curved = Curved::new(&t, p.len(), |_| true, split);
            let placed = curved.place(&p);
            assert_eq!((placed.len(), curved.triangles().len()), (vertices, triangles));
            for q in &placed[6..] {
                assert!((q.length() - far).abs() < 1e-4, "{split:?}: {}", q.length());
            }
            let volume: f32 = curved
                .triangles()
                .iter()
                .map(|t| t.map(|v| placed[v as usize]))
                .map(|[a, b, c]| a.dot(b.cross(c)) / 6.0)
                .sum();
            assert!(volume > 1.333 * 1.3, "all face outwards and bulge: {volume}");
        }
    }

    #[test]
    fn a_flat_sheet_stays_flat_and_what_is_not_asked_for_stays_whole() {
        let p = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(1.0, 1.0, 0.0)];
        let t = [[0, 1, 2], [1, 3, 2]];
        for split in [Split::Three, Split::Four] {
            let curved = Curved::new(&t, 4, |t| t == 0, split);
            assert!(curved.triangles().contains(&[1, 3, 2]));
            let placed = curved.place(&p);
            assert!(placed.iter().all(|p| p.z.abs() < 1e-7));
            assert_eq!(&placed[..4], &p[..]);
            assert_eq!(curved.spread(&p).len(), placed.len());
        }
        // A bent pair: the edge to the plain one stays straight.
        let bent = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(0.7, 0.7, 0.7)];
        let curved = Curved::new(&t, 4, |t| t == 0, Split::Four);
        let placed = curved.place(&bent);
        assert!(placed[4..].contains(&Vec3::new(0.5, 0.5, 0.0)));
    }
}
