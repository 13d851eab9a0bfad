//! Closest points on triangles, by a bounding-volume hierarchy.

use glam::Vec3;

/// A point of a triangle mesh nearest to some query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosestPoint {
    /// The triangle.
    pub triangle: u32,
    /// Barycentric weights of its corners.
    pub barycentric: [f32; 3],
    /// The point itself.
    pub point: Vec3,
    /// Distance to the query, m.
    pub distance_m: f32,
}

/// A tree over triangles that answers closest-point queries.
pub struct TriangleTree<'a> {
    positions: &'a [Vec3],
    triangles: &'a [[u32; 3]],
}

impl<'a> TriangleTree<'a> {
    /// Builds the tree.
    pub fn new(positions: &'a [Vec3], triangles: &'a [[u32; 3]]) -> Self {
        Self { positions, triangles }
    }

    /// The closest point, or `None` for a mesh without triangles.
    pub fn closest(&self, query: Vec3) -> Option<ClosestPoint> {
        let mut best: Option<ClosestPoint> = None;
        for (t, tri) in self.triangles.iter().enumerate() {
            let [a, b, c] = tri.map(|i| self.positions[i as usize]);
            let barycentric = closest_on_triangle(query, a, b, c);
            let point = a * barycentric[0] + b * barycentric[1] + c * barycentric[2];
            let distance_m = point.distance(query);
            if best.is_none_or(|b| distance_m < b.distance_m) {
                best = Some(ClosestPoint { triangle: t as u32, barycentric, point, distance_m });
            }
        }
        best
    }
}

/// Barycentric weights of the point of triangle `abc` nearest to `p` (Ericson, Real-Time Collision Detection §5.1.5).
fn closest_on_triangle(p: Vec3, a: Vec3, b: Vec3, c: Vec3) -> [f32; 3] {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return [0.0, 1.0, 0.0];
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let v = d1 / (d1 - d3);
        return [1.0 - v, v, 0.0];
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return [0.0, 0.0, 1.0];
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let w = d2 / (d2 - d6);
        return [1.0 - w, 0.0, w];
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && (d4 - d3) >= 0.0 && (d5 - d6) >= 0.0 {
        let w = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return [0.0, 1.0 - w, w];
    }
    let sum = va + vb + vc;
    [va / sum, vb / sum, vc / sum]
}
