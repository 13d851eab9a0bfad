//! Simulation of clothing with folds and wrinkles, Bridson, Marino and Fedkiw 2003 §3: second order, elastic forces explicit,
//! damping forces implicit. See docs/math/implicit.md.
//!
//! `v½ = v + h/2 a(x, v½)`, `x₊ = x + h v½`, `v₊ = v½ + h/2 a(x₊, v₊)`: in each half the elastic part is known and the damping part
//! is a symmetric linear system, so only elastic waves limit the step.

use super::blocks::{Blocks, Filter, modified_pcg};
use super::conditions::{Conditions, Scaling, Which};
use super::implicit::{Linear, Model};
use super::stage::{Obstacles, Stage, State, collide};
use super::{Method, Work};
use glam::{DMat3, DVec3};

/// The method.
pub struct Mixed {
    model: Conditions,
    linear: Linear,
    system: Blocks,
    held: Vec<bool>,
    damped: bool,
}

impl Mixed {
    /// For a stage.
    pub fn new(stage: &Stage) -> Self {
        let n = stage.cloth().len();
        let model = Conditions::new(stage, Which::ALL, Scaling::Root);
        let pattern = model.pattern(n);
        let linear =
            Linear { force: vec![DVec3::ZERO; n], stiffness: pattern.clone(), damping: pattern.clone() };
        let damped = stage.cloth().fabric.damping_secs > 0.0;
        Self { model, linear, system: pattern, held: stage.held(), damped }
    }

    /// `v + h/2 M⁻¹ (f(x) + D v₊)`, solved for `v₊`.
    fn half(&mut self, stage: &Stage, x: &[DVec3], v: &mut [DVec3], h: f64) -> u32 {
        let (n, mass) = (x.len(), &stage.cloth().mass);
        let half = 0.5 * h;
        if !self.damped {
            let (mut f, mut none) = (vec![DVec3::ZERO; n], vec![DVec3::ZERO; n]);
            self.model.add_forces(x, v, &mut f, &mut none);
            (0..n).filter(|&i| !self.held[i]).for_each(|i| v[i] += (f[i] / mass[i] + stage.gravity()) * half);
            return 1;
        }
        self.linear.force.iter_mut().zip(mass).for_each(|(f, m)| *f = stage.gravity() * *m);
        self.linear.damping.clear();
        // Forces include damping at the old velocity; the change of it is what is solved for.
        self.model.linearise(x, v, &mut self.linear);
        self.system.clear();
        self.system.add_scaled(&self.linear.damping, -half);
        (0..n).for_each(|i| self.system.add(i, i, DMat3::IDENTITY * mass[i]));
        let right: Vec<DVec3> = self.linear.force.iter().map(|f| *f * half).collect();
        let mut filter = Filter::free(n);
        (0..n).filter(|&i| self.held[i]).for_each(|i| filter.hold(i, DVec3::ZERO));
        let mut dv = vec![DVec3::ZERO; n];
        let iterations = modified_pcg(&self.system, &right, &filter, 1e-4, 500, &mut dv);
        v.iter_mut().zip(&dv).for_each(|(v, d)| *v += *d);
        iterations
    }
}

impl Method for Mixed {
    fn step(&mut self, stage: &Stage, obstacles: &mut Obstacles, state: &mut State, h: f64) -> Work {
        let touches = obstacles.near(stage, state, h);
        let mut v = state.v.clone();
        let mut iterations = self.half(stage, &state.x, &mut v, h);
        state.v = v;
        for i in 0..state.x.len() {
            state.x[i] += state.v[i] * h;
        }
        state.secs += h;
        let to = state.secs;
        let before: Vec<DVec3> = stage.pins.all(to - h).map(|p| p.1).collect();
        for ((v, p), q) in stage.pins.all(to).zip(before) {
            state.x[v] = p;
            state.v[v] = (p - q) / h;
        }
        collide(&touches, &self.held, stage.friction, h, state);
        let mut v = state.v.clone();
        iterations += self.half(stage, &state.x, &mut v, h);
        state.v = v;
        Work::iterations(iterations)
    }
}
