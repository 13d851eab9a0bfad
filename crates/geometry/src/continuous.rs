//! Whether two moving features meet within a step.
//!
//! Additive continuous collision detection (Li, Kaufman, Jiang 2021, Codimensional Incremental Potential Contact,
//! §6): walk forward by lower bounds on the time to contact until the distance has shrunk to a tenth. It never
//! misses, needs no root finding, and degenerate triangles are only small ones.

use crate::distance::{point_triangle, segment_segment};
use glam::DVec3;

/// Share of the starting distance that is left when the walk stops.
const LEFT: f64 = 0.1;
/// Pairs nearer than this may not come nearer at all, m. Were a tenth of the distance always left, a pair pressed
/// together for twenty steps would end up nearer than rounding, where nothing can tell one side from the other.
const FLOOR_M: f64 = 1e-5;
/// What counts as not nearer, as a share of the distance: rounding moves rigid pairs by less.
const SAME: f64 = 0.999;

/// What the four points are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pair {
    /// A point, then a triangle.
    PointTriangle,
    /// A segment, then a segment.
    EdgeEdge,
}

/// Squared distance of the pair.
#[inline]
pub fn distance_squared(pair: Pair, p: &[DVec3; 4]) -> f64 {
    match pair {
        Pair::PointTriangle => {
            let w = point_triangle(p[0], p[1], p[2], p[3]);
            p[0].distance_squared(p[1] * w[0] + p[2] * w[1] + p[3] * w[2])
        }
        Pair::EdgeEdge => {
            let (s, t) = segment_segment(p[0], p[1], p[2], p[3]);
            p[0].lerp(p[1], s).distance_squared(p[2].lerp(p[3], t))
        }
    }
}

/// The share of the displacements `u` that the pair at `x` may go before it comes closer than a tenth of its
/// starting distance or half the floor, at most 1; 0 for a pair below the floor that would meet or end nearer.
pub fn time_of_impact(pair: Pair, x: &[DVec3; 4], u: &[DVec3; 4]) -> f64 {
    let mean = (u[0] + u[1] + u[2] + u[3]) * 0.25;
    let u = [u[0] - mean, u[1] - mean, u[2] - mean, u[3] - mean];
    let l = u.map(|v| v.length());
    let speed = match pair {
        Pair::PointTriangle => l[0] + l[1].max(l[2]).max(l[3]),
        Pair::EdgeEdge => l[0].max(l[1]) + l[2].max(l[3]),
    };
    if speed <= 0.0 {
        return 1.0;
    }
    let start = distance_squared(pair, x).sqrt();
    if start > speed {
        return 1.0;
    }
    let floored = start <= FLOOR_M;
    let near = !floored && LEFT * start < 0.5 * FLOOR_M;
    let gap = if near { 0.5 * FLOOR_M } else { LEFT * start };
    if floored {
        let end = [0, 1, 2, 3].map(|i| x[i] + u[i]);
        if distance_squared(pair, &end).sqrt() < SAME * start {
            return 0.0;
        }
    }
    let mut t = 0.0;
    let mut d = start;
    for _ in 0..200 {
        // No farther than to the gap, where that is more than a tenth; nor so little that it takes for ever.
        let ahead = (1.0 - LEFT) * if near { (d - gap).max(LEFT * d) } else { d } / speed;
        let next = t + ahead;
        if next >= 1.0 {
            return 1.0;
        }
        let at = [0, 1, 2, 3].map(|i| x[i] + u[i] * next);
        d = distance_squared(pair, &at).sqrt();
        if d <= gap {
            if floored {
                return 0.0;
            }
            // The bound makes `next` safe, only closer; it is taken if nothing was gained before.
            return if t > 0.0 { t } else { next };
        }
        t = next;
    }
    t
}

/// Whether segment `pq` passes through triangle `abc`.
#[inline]
pub fn segment_crosses_triangle(p: DVec3, q: DVec3, a: DVec3, b: DVec3, c: DVec3) -> bool {
    let n = (b - a).cross(c - a);
    let (dp, dq) = (n.dot(p - a), n.dot(q - a));
    if dp * dq > 0.0 || dp == dq {
        return false;
    }
    let h = p + (q - p) * (dp / (dp - dq));
    let (u, v, w) = (n.dot((b - a).cross(h - a)), n.dot((c - b).cross(h - b)), n.dot((a - c).cross(h - c)));
    u >= 0.0 && v >= 0.0 && w >= 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    #[test]
    fn stops_before_known_impacts_and_passes_misses() {
        let tri = [DVec3::ZERO, DVec3::X, DVec3::Y];
        let x = [DVec3::new(0.2, 0.2, 1.0), tri[0], tri[1], tri[2]];
        let down = |d: f64| [DVec3::new(0.0, 0.0, -d), DVec3::ZERO, DVec3::ZERO, DVec3::ZERO];
        let t = time_of_impact(Pair::PointTriangle, &x, &down(2.0));
        assert!(t < 0.5 && t > 0.3, "{t}");
        assert_eq!(time_of_impact(Pair::PointTriangle, &x, &down(0.5)), 1.0);
        let beside = [DVec3::new(2.0, 2.0, 1.0), tri[0], tri[1], tri[2]];
        assert_eq!(time_of_impact(Pair::PointTriangle, &beside, &down(2.0)), 1.0);
    }

    #[test]
    fn a_pair_pressed_together_step_after_step_keeps_its_distance_and_its_side() {
        let mut x = [
            DVec3::new(-1.0, 0.3, 1e-3),
            DVec3::new(1.0, 0.3, 1e-3),
            DVec3::NEG_Y,
            DVec3::new(0.1, 1.0, 0.0),
        ]
        .map(|p| p * 0.02);
        let down = DVec3::new(0.0, 0.0, -1e-3);
        for step in 0..100 {
            let u = [down, down, DVec3::ZERO, DVec3::ZERO];
            let t = time_of_impact(Pair::EdgeEdge, &x, &u);
            assert!(t < 1.0, "step {step} goes through");
            (0..4).for_each(|i| x[i] += u[i] * (0.9 * t));
            let d = distance_squared(Pair::EdgeEdge, &x).sqrt();
            assert!(d > 0.4 * FLOOR_M && x[0].z > x[2].z, "step {step}: {d}");
        }
        // It may leave at once.
        assert_eq!(time_of_impact(Pair::EdgeEdge, &x, &[-down, -down, DVec3::ZERO, DVec3::ZERO]), 1.0);
    }

    #[test]
    fn never_lets_a_pair_cross() {
        let mut r = Random::new(12);
        let mut stopped = 0;
        for _ in 0..3000 {
            let x = [0; 4].map(|_| r.vector());
            let u = [0; 4].map(|_| r.vector() * 1.5);
            for pair in [Pair::PointTriangle, Pair::EdgeEdge] {
                let t = time_of_impact(pair, &x, &u);
                stopped += usize::from(t < 1.0);
                // Volume of the tetrahedron changes sign only where the pair becomes coplanar; sample densely
                // up to t and ask that the distance never vanishes.
                for k in 0..=40 {
                    let s = t * f64::from(k) / 40.0;
                    let at = [0, 1, 2, 3].map(|i| x[i] + u[i] * s);
                    assert!(distance_squared(pair, &at) > 0.0);
                }
            }
        }
        assert!(stopped > 100, "{stopped}");
    }
}
