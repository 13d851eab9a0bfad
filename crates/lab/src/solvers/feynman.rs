//! Modeling the appearance of cloth, Feynman 1986: the energy of a grid, elastic and bending and weight, is minimised. He
//! relaxed particle by particle and sped it up by coarser grids; here all move at once. See docs/math/energies.md.

use super::grid::{Energy, Relaxation, SecondDifferences};
use super::springs::{Kind, Spring, cut};
use super::stage::{Obstacles, Stage, State};
use super::{Method, Work};
use glam::DVec3;

/// Elastic energy between neighbours on the grid and its diagonals.
#[derive(Clone, Debug)]
pub struct Elastic(Vec<Spring>);

impl Energy for Elastic {
    fn value(&self, x: &[DVec3]) -> f64 {
        self.0.iter().map(|s| s.energy(x)).sum()
    }

    fn slope(&self, x: &[DVec3], gradient: &mut [DVec3], stiffness: &mut [f64]) {
        for s in &self.0 {
            let [i, j] = s.ends.map(|e| e as usize);
            let f = s.force(x);
            gradient[i] -= f;
            gradient[j] += f;
            stiffness[i] += 2.0 * s.stiffness;
            stiffness[j] += 2.0 * s.stiffness;
        }
    }
}

/// Sweeps a step.
const SWEEPS: u32 = 20;

/// The method.
pub struct Feynman {
    elastic: Elastic,
    bend: SecondDifferences,
    held: Vec<bool>,
    relaxation: Relaxation,
}

impl Feynman {
    /// For a stage that is a grid.
    pub fn new(stage: &Stage) -> Self {
        let mut springs = cut(stage, 1.0);
        springs.retain(|s| s.kind != Kind::Bend);
        let bend = stage
            .lattice
            .map_or(SecondDifferences { triples: vec![] }, |g| SecondDifferences::new(stage, &g));
        Self {
            elastic: Elastic(springs),
            bend,
            held: stage.held(),
            relaxation: Relaxation::new(stage.cloth().len()),
        }
    }
}

impl Method for Feynman {
    fn step(&mut self, stage: &Stage, obstacles: &mut Obstacles, state: &mut State, h: f64) -> Work {
        let mass = &stage.cloth().mass;
        for _ in 0..SWEEPS {
            let still = State { v: vec![DVec3::ZERO; state.x.len()], ..state.clone() };
            let touches = obstacles.near(stage, &still, h);
            let mut planes = vec![None; state.x.len()];
            touches.iter().for_each(|t| planes[t.vertex] = Some(*t));
            self.relaxation.sweep(
                &[&self.elastic, &self.bend],
                |i| stage.gravity() * mass[i],
                &self.held,
                &mut state.x,
                |i, p| planes[i].map_or(p, |t| p - t.normal * t.gap(p).min(0.0)),
            );
            // Planes are looked for again as if time went on.
            state.secs += h;
        }
        Work::iterations(SWEEPS)
    }
}

#[cfg(test)]
mod tests {
    use super::super::grid::{crumpled, worst_slope};
    use super::*;

    #[test]
    fn both_energies_have_their_slopes() {
        let (stage, x) = crumpled(4);
        let f = Feynman::new(&stage);
        assert!(worst_slope(&f.elastic, &x) < 1e-6);
        assert!(worst_slope(&f.bend, &x) < 1e-6);
    }
}
