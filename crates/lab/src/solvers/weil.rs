//! The synthesis of cloth objects, Weil 1986: cloth hung from points is a surface of catenaries, put right by relaxing
//! distances. Geometry only: no forces, no time. See docs/math/catenary.md.

use super::stage::{Obstacles, Stage, State};
use super::{Method, Work};
use glam::DVec3;

/// A hanging thread between two points in the plane of the vertical: `y = y₀ + a cosh((s − s₀)/a)`.
#[derive(Clone, Copy, Debug)]
pub struct Catenary {
    a: f64,
    s0: f64,
    y0: f64,
    span: f64,
    from: DVec3,
    along: DVec3,
}

impl Catenary {
    /// A thread of `length` between `p` and `q`; a straight one where it is too short.
    pub fn new(p: DVec3, q: DVec3, length: f64) -> Option<Self> {
        let flat = DVec3::new(q.x - p.x, 0.0, q.z - p.z);
        let (span, rise) = (flat.length(), q.y - p.y);
        if span < 1e-9 || length * length <= (span * span + rise * rise) * (1.0 + 1e-9) {
            return None;
        }
        // √(L² − v²) = 2a sinh(d/2a); with r = d/2a, sinh r / r = k.
        let k = (length * length - rise * rise).sqrt() / span;
        let (mut low, mut high) = (1e-9, 50.0f64);
        for _ in 0..200 {
            let r = 0.5 * (low + high);
            if r.sinh() / r < k { low = r } else { high = r }
        }
        let a = span / (low + high);
        // Where its lowest point is: v = 2a sinh(d/2a) sinh((d − 2s₀)/2a).
        let tilt = (rise / (2.0 * a * (0.5 * span / a).sinh())).asinh();
        let s0 = 0.5 * span - a * tilt;
        let y0 = p.y - a * (s0 / a).cosh();
        Some(Self { a, s0, y0, span, from: p, along: flat / span })
    }

    /// The point at a share of its length.
    pub fn at(&self, share: f64) -> DVec3 {
        // Length from the lowest point is a sinh; equal lengths, not equal spans.
        let (from, to) = ((-self.s0 / self.a).sinh(), ((self.span - self.s0) / self.a).sinh());
        let s = self.s0 + self.a * (from + (to - from) * share).asinh();
        let p = self.from + self.along * s;
        DVec3::new(p.x, self.y0 + self.a * ((s - self.s0) / self.a).cosh(), p.z)
    }

    /// How far its lowest point is under its first end.
    pub fn sag(&self) -> f64 {
        self.from.y - (self.y0 + self.a)
    }
}

fn thread(p: DVec3, q: DVec3, length: f64, share: f64) -> DVec3 {
    Catenary::new(p, q, length).map_or_else(|| p.lerp(q, share), |c| c.at(share))
}

/// A square of `n` × `n` cells and side `size` hung from its four corners: catenaries along the rims, then over rows and columns;
/// where two cross the upper one stays. Then neighbours are drawn to their distance, as often as `passes`.
pub fn hung_from_corners(corners: [DVec3; 4], size: f64, n: usize, passes: usize) -> Vec<DVec3> {
    let share = |k: usize| k as f64 / n as f64;
    let rim = |a: usize, b: usize, k: usize| thread(corners[a], corners[b], size, share(k));
    let at = |i: usize, j: usize| j * (n + 1) + i;
    let mut x = vec![DVec3::ZERO; (n + 1) * (n + 1)];
    for j in 0..=n {
        for i in 0..=n {
            let row = thread(rim(0, 3, j), rim(1, 2, j), size, share(i));
            let column = thread(rim(0, 1, i), rim(3, 2, i), size, share(j));
            x[at(i, j)] = if row.y > column.y { row } else { column };
        }
    }
    let l = size / n as f64;
    let held = |v: usize| [at(0, 0), at(n, 0), at(n, n), at(0, n)].contains(&v);
    for _ in 0..passes {
        for j in 0..=n {
            for i in 0..=n {
                for (di, dj) in [(1, 0), (0, 1)] {
                    if i + di > n || j + dj > n {
                        continue;
                    }
                    let (v, w) = (at(i, j), at(i + di, j + dj));
                    let d = x[w] - x[v];
                    let over = d * (0.5 * (1.0 - l / d.length().max(1e-9)));
                    if !held(v) {
                        x[v] += over;
                    }
                    if !held(w) {
                        x[w] -= over;
                    }
                }
            }
        }
    }
    x
}

/// The method on a stage that is a grid held along its first row: beyond the points that hold it cloth hangs plumb, each
/// thread as long as it is.
pub struct Weil;

impl Method for Weil {
    fn step(&mut self, stage: &Stage, _: &mut Obstacles, state: &mut State, _: f64) -> Work {
        let Some(grid) = &stage.lattice else { return Work::FAILED };
        for (i, j, v) in grid.each() {
            let Some(top) = grid.at(i, 0) else { continue };
            state.x[v] = state.x[top] - DVec3::Y * (j as f64 * grid.spacing[1]);
        }
        Work::iterations(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sags_are_those_of_catenaries() {
        for (span, sag) in [(0.5, 0.39819), (0.8, 0.26544), (0.9, 0.19071), (0.95, 0.13590)] {
            let c = Catenary::new(DVec3::ZERO, DVec3::X * span, 1.0).unwrap();
            assert!((c.sag() / sag - 1.0).abs() < 1e-4, "{span}: {}", c.sag());
            let points: Vec<DVec3> = (0..=400).map(|k| c.at(f64::from(k) / 400.0)).collect();
            let long: f64 = points.windows(2).map(|w| w[0].distance(w[1])).sum();
            assert!((long - 1.0).abs() < 1e-4);
            // Equal shares are equally long.
            let part = |k: usize| points[k].distance(points[k + 1]);
            assert!((part(0) / part(200) - 1.0).abs() < 1e-3);
        }
        let tilted = Catenary::new(DVec3::ZERO, DVec3::new(0.5, 0.3, 0.2), 1.0).unwrap();
        assert!(tilted.at(1.0).distance(DVec3::new(0.5, 0.3, 0.2)) < 1e-6);
    }
}
