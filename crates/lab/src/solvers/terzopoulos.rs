//! Elastically deformable models, Terzopoulos, Platt, Barr and Fleischer 1987: the energy of a surface is how far its metric
//! and its curvature are from those at rest; forces `K(x) x` are taken half implicitly, `K` at the old place and `x` at
//! the new. See docs/math/energies.md.

use super::blocks::Blocks;
use super::grid::{Energy, SecondDifferences};
use super::implicit::{Linear, Model};
use super::stage::{Lattice, Stage};
use glam::{DMat3, DVec3};

/// A length of the metric, `½ k/4 (|d|²/l² − 1)² a`.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    ends: [usize; 2],
    length: f64,
    stiffness: f64,
}

/// A corner of a cell: `½ G (d₁·d₂/(l₁l₂))² a/4`.
#[derive(Clone, Copy, Debug)]
struct Corner {
    at: [usize; 3],
    stiffness: f64,
}

/// Metric and curvature of a grid.
#[derive(Clone, Debug)]
pub struct Surface {
    stretches: Vec<Stretch>,
    corners: Vec<Corner>,
    bend: SecondDifferences,
    /// Drag on every particle, 1/s.
    drag: f64,
    mass: Vec<f64>,
}

/// Angular frequency at which drag damps as much as the fabric would, 1/s: 2 Hz.
const DRAG_AT: f64 = 12.6;

impl Surface {
    /// Of a stage that is a grid.
    pub fn new(stage: &Stage, grid: &Lattice) -> Self {
        let f = &stage.cloth().fabric;
        let [du, dv] = grid.spacing;
        let mut stretches = Vec::new();
        let mut corners = Vec::new();
        for (i, j, v) in grid.each() {
            if let Some(w) = grid.at(i + 1, j) {
                let edge = if grid.at(i, j - 1).is_some() && grid.at(i, j + 1).is_some() { 1.0 } else { 0.5 };
                stretches.push(Stretch {
                    ends: [v, w],
                    length: du,
                    stiffness: f.stretch_weft * du * dv * edge,
                });
            }
            if let Some(w) = grid.at(i, j + 1) {
                let edge = if grid.at(i - 1, j).is_some() && grid.at(i + 1, j).is_some() { 1.0 } else { 0.5 };
                stretches.push(Stretch {
                    ends: [v, w],
                    length: dv,
                    stiffness: f.stretch_warp * du * dv * edge,
                });
            }
            for (di, dj) in [(1, 1), (1, -1), (-1, 1), (-1, -1)] {
                if let (Some(a), Some(b)) = (grid.at(i + di, j), grid.at(i, j + dj)) {
                    // d₁·d₂/(l₁l₂), squared, over a quarter of the cell.
                    let stiffness = 0.25 * f.shear / (du * dv);
                    corners.push(Corner { at: [v, a, b], stiffness });
                }
            }
        }
        let drag = f.damping_secs * DRAG_AT * DRAG_AT;
        let mass = stage.cloth().mass.clone();
        Self { stretches, corners, bend: SecondDifferences::new(stage, grid), drag, mass }
    }
}

impl Energy for Surface {
    fn value(&self, x: &[DVec3]) -> f64 {
        let stretched = self.stretches.iter().map(|s| {
            let metric = x[s.ends[0]].distance_squared(x[s.ends[1]]) / (s.length * s.length);
            0.125 * s.stiffness * (metric - 1.0).powi(2)
        });
        let sheared = self.corners.iter().map(|c| {
            let [o, a, b] = c.at.map(|i| x[i]);
            0.5 * c.stiffness * (a - o).dot(b - o).powi(2)
        });
        stretched.sum::<f64>() + sheared.sum::<f64>() + self.bend.value(x)
    }

    fn slope(&self, x: &[DVec3], gradient: &mut [DVec3], stiffness: &mut [f64]) {
        for s in &self.stretches {
            let d = x[s.ends[1]] - x[s.ends[0]];
            let metric = d.length_squared() / (s.length * s.length);
            let pull = d * (0.5 * s.stiffness * (metric - 1.0) / (s.length * s.length));
            gradient[s.ends[1]] += pull;
            gradient[s.ends[0]] -= pull;
            s.ends.iter().for_each(|&i| stiffness[i] += s.stiffness / (s.length * s.length));
        }
        for c in &self.corners {
            let [o, a, b] = c.at.map(|i| x[i]);
            let (p, q) = (a - o, b - o);
            let k = c.stiffness * p.dot(q);
            gradient[c.at[1]] += q * k;
            gradient[c.at[2]] += p * k;
            gradient[c.at[0]] -= (p + q) * k;
        }
        self.bend.slope(x, gradient, stiffness);
    }
}

impl Model for Surface {
    fn pattern(&self, n: usize) -> Blocks {
        let at = |v: &[usize]| v.iter().map(|&i| i as u32).collect::<Vec<u32>>();
        let mut groups: Vec<Vec<u32>> = self.stretches.iter().map(|s| at(&s.ends)).collect();
        groups.extend(self.corners.iter().map(|c| at(&c.at)));
        groups.extend(self.bend.triples.iter().map(|t| at(&t.0)));
        Blocks::new(n, groups.iter().map(|g| &g[..]))
    }

    /// `K(x)` as it is now, not its derivative: it vanishes where cloth is not stretched, so that stretch itself is explicit.
    fn linearise(&self, x: &[DVec3], v: &[DVec3], out: &mut Linear) {
        let n = x.len();
        let (mut gradient, mut unused) = (vec![DVec3::ZERO; n], vec![0.0; n]);
        self.slope(x, &mut gradient, &mut unused);
        for i in 0..n {
            let c = self.drag * self.mass[i];
            out.force[i] -= gradient[i] + v[i] * c;
            out.damping.add(i, i, DMat3::IDENTITY * -c);
        }
        for s in &self.stretches {
            let metric = x[s.ends[0]].distance_squared(x[s.ends[1]]) / (s.length * s.length);
            let k = (0.5 * s.stiffness * (metric - 1.0) / (s.length * s.length)).max(0.0);
            out.add_pair(s.ends[0], s.ends[1], DMat3::IDENTITY * k, DMat3::ZERO);
        }
        for ([a, b, c], k) in &self.bend.triples {
            let weights = [(*a, 1.0), (*b, -2.0), (*c, 1.0)];
            for (i, wi) in weights {
                for (j, wj) in weights {
                    out.stiffness.add(i, j, DMat3::IDENTITY * (-k * wi * wj));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::grid::{crumpled, worst_slope};
    use super::*;

    #[test]
    fn the_metric_energy_has_its_slope() {
        let (stage, x) = crumpled(9);
        let surface = Surface::new(&stage, &stage.lattice.unwrap());
        assert!(worst_slope(&surface, &x) < 1e-6);
    }
}
