//! Vertex block descent, Chen, Liu, Yang and Yuksel 2024: the step's own energy (implicit Euler's) is lowered vertex by vertex, each by
//! one Newton step of its 3×3 block; no two of a colour are neighbours. See docs/math/today.md.

use super::springs::{Spring, cut};
use super::stage::{Obstacles, Stage, State, Touch};
use super::{Method, Work};
use glam::{DMat3, DVec3};

/// Sweeps over all vertices a step.
pub const SWEEPS: u32 = 20;

/// The method.
pub struct Vbd {
    springs: Vec<Spring>,
    about: Vec<Vec<u32>>,
    /// Vertices, colour by colour.
    order: Vec<usize>,
    held: Vec<bool>,
    damping_secs: f64,
}

impl Vbd {
    /// For a stage.
    pub fn new(stage: &Stage) -> Self {
        let n = stage.cloth().len();
        let springs = cut(stage, 1.0);
        let mut about = vec![Vec::new(); n];
        for (k, s) in springs.iter().enumerate() {
            s.ends.iter().for_each(|&v| about[v as usize].push(k as u32));
        }
        let mut colour = vec![usize::MAX; n];
        for v in 0..n {
            let taken: Vec<usize> =
                about[v].iter().map(|&k| colour[other(&springs[k as usize], v)]).collect();
            colour[v] = (0..).find(|c| !taken.contains(c)).unwrap_or(0);
        }
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&v| colour[v]);
        Self { springs, about, order, held: stage.held(), damping_secs: stage.cloth().fabric.damping_secs }
    }

    /// Slope and curvature of the step's energy at one vertex.
    fn block(
        &self,
        v: usize,
        x: &[DVec3],
        before: &[DVec3],
        goal: DVec3,
        inertia: f64,
        h: f64,
    ) -> (DVec3, DMat3) {
        let mut f = (goal - x[v]) * inertia;
        let mut m = DMat3::IDENTITY * inertia;
        let rate = self.damping_secs / h;
        for &k in &self.about[v] {
            let s = &self.springs[k as usize];
            let o = other(s, v);
            let d = x[o] - x[v];
            let l = d.length().max(1e-12);
            let n = d / l;
            let moved = n.dot((x[o] - before[o]) - (x[v] - before[v]));
            f += n * (s.stiffness * (l - s.length + rate * moved));
            let across = (1.0 - s.length / l).max(0.0);
            let along = super::blocks::outer(n, n);
            m += (along * (1.0 + rate) + (DMat3::IDENTITY - along) * across) * s.stiffness;
        }
        (f, m)
    }
}

fn other(s: &Spring, v: usize) -> usize {
    s.ends[usize::from(s.ends[0] as usize == v)] as usize
}

impl Method for Vbd {
    fn step(&mut self, stage: &Stage, obstacles: &mut Obstacles, state: &mut State, h: f64) -> Work {
        let touches = obstacles.near(stage, state, h);
        let n = state.x.len();
        let mut planes: Vec<Vec<Touch>> = vec![Vec::new(); n];
        touches.iter().for_each(|t| planes[t.vertex].push(*t));
        let before = state.x.clone();
        let goal: Vec<DVec3> =
            (0..n).map(|i| before[i] + state.v[i] * h + stage.gravity() * (h * h)).collect();
        state.x.copy_from_slice(&goal);
        for (v, p) in stage.pins.all(state.secs + h) {
            state.x[v] = p;
        }
        for _ in 0..SWEEPS {
            for &v in self.order.iter().filter(|&&v| !self.held[v]) {
                let inertia = stage.cloth().mass[v] / (h * h);
                let (f, m) = self.block(v, &state.x, &before, goal[v], inertia, h);
                state.x[v] += m.inverse() * f;
                for t in &planes[v] {
                    let gap = t.gap(state.x[v]);
                    if gap < 0.0 {
                        state.x[v] -= t.normal * gap;
                    }
                }
            }
        }
        state.secs += h;
        state.came_from(&before, h);
        super::xpbd::rub(stage, &touches, &self.held, h, state);
        Work::iterations(SWEEPS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_geometry::Random;

    #[test]
    fn a_block_is_the_slope_of_the_steps_energy() {
        let stage = super::super::scenes::hanging(3).unwrap();
        let vbd = Vbd::new(&stage);
        let mut r = Random::new(1);
        let before = stage.world.state.x.clone();
        // Stretched, so that nothing is left out of the curvature.
        let x: Vec<DVec3> = before.iter().map(|p| *p * 1.3 + 0.01 * r.vector()).collect();
        let (v, h, inertia) = (5, 0.01, 30.0);
        let goal = x[v] + 0.02 * r.vector();
        let energy = |p: DVec3| {
            let mut y = x.clone();
            y[v] = p;
            let springs: f64 = vbd.springs.iter().map(|s| s.energy(&y)).sum();
            springs + 0.5 * inertia * p.distance_squared(goal)
        };
        let slope = |p: DVec3| {
            let mut y = x.clone();
            y[v] = p;
            vbd.block(v, &y, &before, goal, inertia, h)
        };
        let (f, m) = slope(x[v]);
        for (k, axis) in [DVec3::X, DVec3::Y, DVec3::Z].into_iter().enumerate() {
            let e = 1e-6;
            let by = (energy(x[v] + axis * e) - energy(x[v] - axis * e)) / (2.0 * e);
            assert!((by + f[k]).abs() < 1e-5 * f.length(), "{by} {}", f[k]);
            let change = (slope(x[v] + axis * e).0 - slope(x[v] - axis * e).0) / (2.0 * e);
            assert!((change + m.col(k)).length() < 1e-4 * m.col(k).length());
        }
    }
}
