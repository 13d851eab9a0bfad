//! One linearised implicit step for every model of forces: implicit Euler as in Baraff and Witkin 1998, or BDF2 as in Choi
//! and Ko 2002. See docs/math/implicit.md.
//!
//! Both schemes read `x₊ = x̂ + β v₊`, `v₊ = v̂ + β M⁻¹ f(x₊, v₊)` with `x̂, v̂` known from the past. With `f` linearised about
//! the last state, `Δv = v₊ − v` solves `(M − β D − β² K) Δv = M (v̂ − v) + β (f + K (x̂ + β v − x))`.

use super::blocks::{Blocks, Filter, modified_pcg};
use super::stage::{Obstacles, Stage, State, Touch};
use super::{Method, Work};
use glam::{DMat3, DVec3};

/// Forces and their derivatives at one state.
#[derive(Clone, Debug)]
pub struct Linear {
    /// N.
    pub force: Vec<DVec3>,
    /// `∂f/∂x`.
    pub stiffness: Blocks,
    /// `∂f/∂v`.
    pub damping: Blocks,
}

impl Linear {
    /// Adds a force between `i` and `j` with `∂f_i/∂x_j = k` and `∂f_i/∂v_j = d`, both symmetric.
    pub fn add_pair(&mut self, i: usize, j: usize, k: DMat3, d: DMat3) {
        for (m, a) in [(&mut self.stiffness, k), (&mut self.damping, d)] {
            m.add(i, j, a);
            m.add(j, i, a);
            m.add(i, i, -a);
            m.add(j, j, -a);
        }
    }
}

/// A model of inner forces.
pub trait Model {
    /// An empty matrix with the blocks that the model needs.
    fn pattern(&self, n: usize) -> Blocks;
    /// Adds forces and derivatives at a state; `∂f/∂x` must be no more than zero in any direction.
    fn linearise(&self, x: &[DVec3], v: &[DVec3], out: &mut Linear);
}

/// How time is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// First order; damps.
    Euler,
    /// Second order backward differences.
    Bdf2,
}

/// An implicit integrator over a model.
pub struct Implicit<M> {
    /// The forces.
    pub model: M,
    scheme: Scheme,
    linear: Linear,
    system: Blocks,
    held: Vec<bool>,
    before: Option<(State, f64)>,
    touched: Vec<bool>,
    tolerance: f64,
}

impl<M: Model> Implicit<M> {
    /// For a stage.
    pub fn new(stage: &Stage, model: M, scheme: Scheme) -> Self {
        let n = stage.cloth().len();
        let pattern = model.pattern(n);
        let linear =
            Linear { force: vec![DVec3::ZERO; n], stiffness: pattern.clone(), damping: pattern.clone() };
        Self {
            model,
            scheme,
            linear,
            system: pattern,
            held: stage.held(),
            before: None,
            touched: vec![false; n],
            tolerance: 1e-3,
        }
    }

    /// With linear systems solved to the last digits, so that only the scheme errs.
    pub fn tight(mut self) -> Self {
        self.tolerance = 1e-9;
        self
    }

    /// One step; returns the iterations of the linear solver.
    pub fn advance(&mut self, stage: &Stage, touches: &[Touch], state: &mut State, h: f64) -> u32 {
        let n = state.x.len();
        let meets = |t: &Touch, x: DVec3, beta: f64| {
            t.gap(x + beta * (state.v[t.vertex] + beta * stage.gravity())) < 0.0
        };
        // An impact has no past: extrapolated, it would be a bounce.
        if touches.iter().any(|t| !self.touched[t.vertex] && meets(t, state.x[t.vertex], h)) {
            self.before = None;
        }
        let (x_hat, v_hat, beta) = self.past(state, h);
        let Linear { force, stiffness, damping } = &mut self.linear;
        force.iter_mut().zip(&stage.cloth().mass).for_each(|(f, m)| *f = stage.gravity() * *m);
        stiffness.clear();
        damping.clear();
        self.model.linearise(&state.x, &state.v, &mut self.linear);
        let Linear { force, stiffness, damping } = &self.linear;
        self.system.clear();
        self.system.add_scaled(damping, -beta);
        self.system.add_scaled(stiffness, -beta * beta);
        let mass = &stage.cloth().mass;
        (0..n).for_each(|i| self.system.add(i, i, DMat3::from_diagonal(DVec3::splat(mass[i]))));
        let ahead: Vec<DVec3> = (0..n).map(|i| x_hat[i] + beta * state.v[i] - state.x[i]).collect();
        let mut pulled = vec![DVec3::ZERO; n];
        stiffness.times(&ahead, &mut pulled);
        let right: Vec<DVec3> =
            (0..n).map(|i| (v_hat[i] - state.v[i]) * mass[i] + (force[i] + pulled[i]) * beta).collect();
        let mut pinned = Filter::free(n);
        for (v, p) in stage.pins.all(state.secs + h) {
            pinned.hold(v, (p - x_hat[v]) / beta - state.v[v]);
        }
        // Vertices that gravity would carry through a plane by the end of the step are kept on it.
        let mut active: Vec<Touch> = touches
            .iter()
            .filter(|t| !self.held[t.vertex])
            .filter(|t| meets(t, x_hat[t.vertex], beta))
            .copied()
            .collect();
        self.touched.fill(false);
        active.iter().for_each(|t| self.touched[t.vertex] = true);
        let mut dv = vec![DVec3::ZERO; n];
        let mut iterations = 0;
        let mut pressing = Vec::new();
        for pass in 0..3 {
            let mut filter = pinned.clone();
            for t in &active {
                let along = -t.gap(x_hat[t.vertex]) / beta - t.normal.dot(state.v[t.vertex]);
                filter.slide(t.vertex, t.normal, along);
            }
            iterations += modified_pcg(&self.system, &right, &filter, self.tolerance, 10 * n as u32, &mut dv);
            // What is left of the equation is the constraints' impulse; one that pulls is let go.
            let mut left = vec![DVec3::ZERO; n];
            self.system.times(&dv, &mut left);
            pressing = active.iter().map(|t| (left[t.vertex] - right[t.vertex]).dot(t.normal)).collect();
            if pass == 2 || pressing.iter().all(|p| *p >= 0.0) {
                break;
            }
            let mut k = 0;
            active.retain(|_| {
                k += 1;
                pressing[k - 1] >= 0.0
            });
        }
        self.before = Some((state.clone(), h));
        for i in 0..n {
            state.v[i] += dv[i];
        }
        for i in 0..n {
            state.x[i] = x_hat[i] + beta * state.v[i];
        }
        // Friction changes velocities only: the next step's solve then tells the neighbours, which a place would not.
        for (t, impulse) in active.iter().zip(&pressing) {
            let relative = state.v[t.vertex] - t.velocity;
            let slip = relative - t.normal * relative.dot(t.normal);
            let most = stage.friction * impulse.max(0.0) / mass[t.vertex];
            state.v[t.vertex] -= slip.clamp_length_max(most);
        }
        state.secs += h;
        iterations
    }

    /// `x̂`, `v̂` and `β`.
    fn past(&self, now: &State, h: f64) -> (Vec<DVec3>, Vec<DVec3>, f64) {
        match (&self.before, self.scheme) {
            (Some((old, step)), Scheme::Bdf2) if (step / h - 1.0).abs() < 1e-6 => {
                let back = |a: &[DVec3], b: &[DVec3]| -> Vec<DVec3> {
                    a.iter().zip(b).map(|(a, b)| (4.0 * *a - *b) / 3.0).collect()
                };
                (back(&now.x, &old.x), back(&now.v, &old.v), 2.0 * h / 3.0)
            }
            // The first step has no past.
            _ => (now.x.clone(), now.v.clone(), h),
        }
    }
}

impl<M: Model> Method for Implicit<M> {
    fn step(&mut self, stage: &Stage, obstacles: &mut Obstacles, state: &mut State, h: f64) -> Work {
        let touches = obstacles.near(stage, state, h);
        Work::iterations(self.advance(stage, &touches, state, h))
    }
}
