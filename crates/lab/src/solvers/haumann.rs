//! Springs and the plainest of integrators, Haumann 1987: `x₊ = x + h v`, `v₊ = v + h f/m`, everything from the last state.
//! A swing gains energy in every step, and stiff springs explode.

use super::springs::Springs;
use super::stage::{Obstacles, Stage, State, collide};
use super::{Method, Work};
use glam::DVec3;

/// The method.
pub struct Haumann {
    springs: Springs,
    held: Vec<bool>,
    force: Vec<DVec3>,
}

impl Haumann {
    /// For a stage.
    pub fn new(stage: &Stage) -> Self {
        let n = stage.cloth().len();
        Self { springs: Springs::explicit(stage, 1.0), held: stage.held(), force: vec![DVec3::ZERO; n] }
    }
}

impl Method for Haumann {
    fn step(&mut self, stage: &Stage, obstacles: &mut Obstacles, state: &mut State, h: f64) -> Work {
        let touches = obstacles.near(stage, state, h);
        self.force.fill(DVec3::ZERO);
        self.springs.add_forces(&state.x, &state.v, &mut self.force);
        for i in 0..state.x.len() {
            let v = state.v[i];
            state.v[i] += (self.force[i] / stage.cloth().mass[i] + stage.gravity()) * h;
            state.x[i] += v * h;
        }
        state.secs += h;
        let to = state.secs;
        state.hold(&stage.pins, to, h);
        collide(&touches, &self.held, stage.friction, h, state);
        Work::iterations(1)
    }
}
