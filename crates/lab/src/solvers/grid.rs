//! Energies of a grid of particles: what the continuum and particle models of the first decade share.

use super::stage::{Lattice, Stage};
use glam::DVec3;

/// An energy that is minimised or integrated: its value, its slope, and how stiff it is about each particle.
pub trait Energy {
    /// J.
    fn value(&self, x: &[DVec3]) -> f64;
    /// Adds the slope to `gradient`, N, and an upper bound of the curvature about each particle to `stiffness`, N/m.
    fn slope(&self, x: &[DVec3], gradient: &mut [DVec3], stiffness: &mut [f64]);
}

/// Bending as second differences along both threads: `½ B κ² a` with `κ = |x₋ − 2x + x₊|/l²`.
#[derive(Clone, Debug)]
pub struct SecondDifferences {
    /// Before, at, after; stiffness, N/m.
    pub triples: Vec<([usize; 3], f64)>,
}

impl SecondDifferences {
    /// Of a stage that is a grid.
    pub fn new(stage: &Stage, grid: &Lattice) -> Self {
        let f = &stage.cloth().fabric;
        let mut triples = Vec::new();
        for (i, j, v) in grid.each() {
            for (di, dj, k, rigidity) in [(1, 0, 0, f.bend_weft), (0, 1, 1, f.bend_warp)] {
                if let (Some(a), Some(b)) = (grid.at(i - di, j - dj), grid.at(i + di, j + dj)) {
                    let (l, w) = (grid.spacing[k], grid.spacing[1 - k]);
                    triples.push(([a, v, b], rigidity * w / (l * l * l)));
                }
            }
        }
        Self { triples }
    }
}

impl Energy for SecondDifferences {
    fn value(&self, x: &[DVec3]) -> f64 {
        let bent =
            |&([a, b, c], k): &([usize; 3], f64)| 0.5 * k * (x[a] - 2.0 * x[b] + x[c]).length_squared();
        self.triples.iter().map(bent).sum()
    }

    fn slope(&self, x: &[DVec3], gradient: &mut [DVec3], stiffness: &mut [f64]) {
        for &([a, b, c], k) in &self.triples {
            let d = (x[a] - 2.0 * x[b] + x[c]) * k;
            gradient[a] += d;
            gradient[b] -= 2.0 * d;
            gradient[c] += d;
            stiffness[a] += 4.0 * k;
            stiffness[b] += 8.0 * k;
            stiffness[c] += 4.0 * k;
        }
    }
}

/// Cosine between the ways from `x[0]` to two others, and its slope by the three.
pub fn cosine(x: [DVec3; 3]) -> (f64, [DVec3; 3]) {
    let (a, b) = (x[1] - x[0], x[2] - x[0]);
    let (la, lb) = (a.length().max(1e-12), b.length().max(1e-12));
    let (p, q) = (a / la, b / lb);
    let c = p.dot(q);
    let (ga, gb) = ((q - p * c) / la, (p - q * c) / lb);
    (c, [-ga - gb, ga, gb])
}

/// Finds the least energy as a structure comes to rest whose motion is stopped whenever its kinetic energy peaks (dynamic
/// relaxation, Day 1965). Masses are made up so that a step of 1 is always stable.
#[derive(Clone, Debug)]
pub struct Relaxation {
    v: Vec<DVec3>,
    kinetic: f64,
    gradient: Vec<DVec3>,
    stiffness: Vec<f64>,
}

impl Relaxation {
    /// For `n` particles.
    pub fn new(n: usize) -> Self {
        Self {
            v: vec![DVec3::ZERO; n],
            kinetic: 0.0,
            gradient: vec![DVec3::ZERO; n],
            stiffness: vec![0.0; n],
        }
    }

    /// One step; `put_back` moves a particle to where it may be.
    pub fn sweep(
        &mut self,
        energies: &[&dyn Energy],
        weight: impl Fn(usize) -> DVec3,
        held: &[bool],
        x: &mut [DVec3],
        mut put_back: impl FnMut(usize, DVec3) -> DVec3,
    ) {
        for i in 0..x.len() {
            self.gradient[i] = -weight(i);
            self.stiffness[i] = 1e-9;
        }
        for e in energies {
            e.slope(x, &mut self.gradient, &mut self.stiffness);
        }
        let mut kinetic = 0.0;
        for i in 0..x.len() {
            if held[i] {
                continue;
            }
            let mass = self.stiffness[i];
            self.v[i] -= self.gradient[i] / mass;
            let to = put_back(i, x[i] + self.v[i]);
            self.v[i] = to - x[i];
            kinetic += mass * self.v[i].length_squared();
            x[i] = to;
        }
        if kinetic < self.kinetic {
            self.v.fill(DVec3::ZERO);
            self.kinetic = 0.0;
        } else {
            self.kinetic = kinetic;
        }
    }
}

/// How far the slope of an energy is from its differences, as a share of the largest slope.
#[cfg(test)]
pub fn worst_slope(energy: &dyn Energy, x: &[DVec3]) -> f64 {
    let n = x.len();
    let (mut g, mut k) = (vec![DVec3::ZERO; n], vec![0.0; n]);
    energy.slope(x, &mut g, &mut k);
    let largest = g.iter().map(|g| g.length()).fold(1e-30, f64::max);
    let mut worst = 0.0f64;
    for i in 0..n {
        for axis in 0..3 {
            let at = |by: f64| {
                let mut y = x.to_vec();
                y[i][axis] += by;
                energy.value(&y)
            };
            let e = 1e-6;
            worst = worst.max(((at(e) - at(-e)) / (2.0 * e) - g[i][axis]).abs() / largest);
        }
    }
    worst
}

/// A crumpled little grid.
#[cfg(test)]
pub fn crumpled(seed: u64) -> (Stage, Vec<DVec3>) {
    let stage = super::scenes::hanging(4).unwrap();
    let mut r = toile_geometry::Random::new(seed);
    let x = stage.world.state.x.iter().map(|p| *p + 0.04 * r.vector()).collect();
    (stage, x)
}
