//! Closest points of a point and a triangle and of two segments (Ericson, Real-Time Collision Detection §5.1).

use glam::DVec3;

/// Barycentric weights of the point of triangle `abc` nearest to `p`.
#[inline]
pub fn point_triangle(p: DVec3, a: DVec3, b: DVec3, c: DVec3) -> [f64; 3] {
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
    if sum <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    [va / sum, vb / sum, vc / sum]
}

/// Places `(s, t)` along `a0a1` and `b0b1` where the two segments are nearest.
#[inline]
pub fn segment_segment(a0: DVec3, a1: DVec3, b0: DVec3, b1: DVec3) -> (f64, f64) {
    let (d1, d2, r) = (a1 - a0, b1 - b0, a0 - b0);
    let (a, e, f) = (d1.length_squared(), d2.length_squared(), d2.dot(r));
    if a <= 1e-24 && e <= 1e-24 {
        return (0.0, 0.0);
    }
    if a <= 1e-24 {
        return (0.0, (f / e).clamp(0.0, 1.0));
    }
    let c = d1.dot(r);
    if e <= 1e-24 {
        return ((-c / a).clamp(0.0, 1.0), 0.0);
    }
    let b = d1.dot(d2);
    let denom = a * e - b * b;
    // Parallel segments: any place will do, the next clamp repairs it.
    let mut s = if denom > 1e-12 * a * e { ((b * f - c * e) / denom).clamp(0.0, 1.0) } else { 0.5 };
    let mut t = (b * s + f) / e;
    if t < 0.0 {
        t = 0.0;
        s = (-c / a).clamp(0.0, 1.0);
    } else if t > 1.0 {
        t = 1.0;
        s = ((b - c) / a).clamp(0.0, 1.0);
    }
    (s, t)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    #[test]
    fn nothing_sampled_is_nearer() {
        let mut r = Random::new(5);
        for _ in 0..300 {
            let [p, a, b, c, d] = [0; 5].map(|_| r.vector());
            let w = point_triangle(p, a, b, c);
            let best = (a * w[0] + b * w[1] + c * w[2]).distance(p);
            let (s, t) = segment_segment(a, b, c, d);
            let edge = (a.lerp(b, s)).distance(c.lerp(d, t));
            for _ in 0..200 {
                let (mut u, mut v) = (r.unit(), r.unit());
                assert!(a.lerp(b, u).distance(c.lerp(d, v)) >= edge - 1e-12);
                if u + v > 1.0 {
                    (u, v) = (1.0 - u, 1.0 - v);
                }
                assert!((a + (b - a) * u + (c - a) * v).distance(p) >= best - 1e-12);
            }
        }
    }
}
