//! Large steps in cloth simulation, Baraff and Witkin 1998: conditions, one linear solve a step, constraints by filtering, and
//! a step that is halved where it goes wrong (§6).

use super::conditions::{Conditions, Scaling, Which};
use super::implicit::{Implicit, Scheme};
use super::stage::{Obstacles, Stage, State};
use super::{Method, Work};

/// A step in which a triangle is strained by more than this beyond what it was is taken again, shorter.
const MOST_CHANGE: f64 = 0.1;
/// How often a step may be halved.
const MOST_HALVINGS: u32 = 6;

/// The method with its adaptive step.
pub struct BaraffWitkin {
    inner: Implicit<Conditions>,
    /// How often the step is halved at present.
    depth: u32,
    /// Successes since the last failure; the step is doubled again after two.
    good: u32,
}

impl BaraffWitkin {
    /// For a stage.
    pub fn new(stage: &Stage, scaling: Scaling) -> Self {
        let model = Conditions::new(stage, Which::ALL, scaling);
        Self { inner: Implicit::new(stage, model, Scheme::Euler), depth: 0, good: 0 }
    }
}

impl Method for BaraffWitkin {
    fn step(&mut self, stage: &Stage, obstacles: &mut Obstacles, state: &mut State, h: f64) -> Work {
        let mut work = Work::default();
        let end = state.secs + h;
        while state.secs < end - 1e-9 * h {
            let part = (h / f64::from(1u32 << self.depth)).min(end - state.secs);
            let mut tried = state.clone();
            let touches = obstacles.near(stage, &tried, part);
            work.iterations += self.inner.advance(stage, &touches, &mut tried, part);
            let (was, is) = (self.inner.model.strain(&state.x), self.inner.model.strain(&tried.x));
            if !(is <= was + MOST_CHANGE) && self.depth < MOST_HALVINGS {
                self.depth += 1;
                self.good = 0;
                work.halvings += 1;
                continue;
            }
            *state = tried;
            work.parts += 1;
            self.good += 1;
            // Two in a row, as printed: then a longer one is tried.
            if self.good > 1 && self.depth > 0 {
                self.depth -= 1;
                self.good = 0;
            }
        }
        work
    }
}
