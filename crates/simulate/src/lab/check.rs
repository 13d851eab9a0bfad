//! Independent checks by brute force, sharing nothing with the contact code.

use glam::DVec3;

/// Pairs of an edge and a triangle without a common vertex that cross, every pair tried.
pub fn crossings(triangles: &[[u32; 3]], edges: &[[u32; 2]], x: &[DVec3]) -> usize {
    let mut count = 0;
    for t in triangles {
        let [a, b, c] = t.map(|i| x[i as usize]);
        let (lo, hi) = (a.min(b).min(c), a.max(b).max(c));
        for e in edges {
            if t.contains(&e[0]) || t.contains(&e[1]) {
                continue;
            }
            let (p, q) = (x[e[0] as usize], x[e[1] as usize]);
            if p.max(q).cmplt(lo).any() || p.min(q).cmpgt(hi).any() {
                continue;
            }
            count += usize::from(crosses(p, q, a, b, c));
        }
    }
    count
}

/// Whether `pq` meets `abc`, by the signs of the five tetrahedra.
fn crosses(p: DVec3, q: DVec3, a: DVec3, b: DVec3, c: DVec3) -> bool {
    let volume = |a: DVec3, b: DVec3, c: DVec3, d: DVec3| (b - a).cross(c - a).dot(d - a);
    let (s, t) = (volume(a, b, c, p), volume(a, b, c, q));
    if s * t >= 0.0 {
        return false;
    }
    let (u, v, w) = (volume(p, q, a, b), volume(p, q, b, c), volume(p, q, c, a));
    (u > 0.0 && v > 0.0 && w > 0.0) || (u < 0.0 && v < 0.0 && w < 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_needle_through_a_triangle_is_seen() {
        let x = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::new(0.2, 0.2, -1.0), DVec3::new(0.2, 0.2, 1.0)];
        assert_eq!(crossings(&[[0, 1, 2]], &[[3, 4]], &x), 1);
        let beside = x.map(|p| if p.z == 0.0 { p } else { p + DVec3::X });
        assert_eq!(crossings(&[[0, 1, 2]], &[[3, 4]], &beside), 0);
    }
}
