//! Bridson, Fedkiw and Anderson 2002: soft springs and a limit on how far they stretch, then collisions as a filter on the average
//! velocity of the step. Cloth touches cloth.

use super::impacts::Impacts;
use super::provot::{CRITICAL, SOFT, correct};
use super::springs::Springs;
use super::stage::{Obstacles, Stage, State, collide};
use super::{Method, Work};
use glam::DVec3;

/// Passes of the strain limit.
const PASSES: u32 = 3;

/// The method.
pub struct Bridson {
    springs: Springs,
    held: Vec<bool>,
    /// Collisions of cloth with cloth, where they are treated.
    pub impacts: Option<Impacts>,
    force: Vec<DVec3>,
    /// What the last step's collisions took.
    pub treated: super::impacts::Treated,
}

impl Bridson {
    /// For a stage; without `self_contact` cloth passes through cloth.
    pub fn new(stage: &Stage, self_contact: bool) -> Self {
        let held = stage.held();
        let impacts = self_contact.then(|| Impacts::new(stage, &held));
        let n = stage.cloth().len();
        let springs = Springs::explicit(stage, SOFT);
        Self { springs, held, impacts, force: vec![DVec3::ZERO; n], treated: Default::default() }
    }
}

impl Method for Bridson {
    fn step(&mut self, stage: &Stage, obstacles: &mut Obstacles, state: &mut State, h: f64) -> Work {
        let touches = obstacles.near(stage, state, h);
        let (n, mass) = (state.x.len(), &stage.cloth().mass);
        self.force.fill(DVec3::ZERO);
        self.springs.add_forces(&state.x, &state.v, &mut self.force);
        let before = state.x.clone();
        for i in 0..n {
            state.v[i] += (self.force[i] / mass[i] + stage.gravity()) * h;
            state.x[i] += state.v[i] * h;
        }
        state.secs += h;
        let to = state.secs;
        state.hold(&stage.pins, to, h);
        correct(&self.springs.springs, &self.held, CRITICAL, PASSES, &mut state.x);
        state.came_from(&before, h);
        collide(&touches, &self.held, stage.friction, h, state);
        if let Some(impacts) = &mut self.impacts {
            // The average velocity of the step, rigid things already minded; what is made of it is safe.
            let mut average: Vec<DVec3> = (0..n).map(|i| (state.x[i] - before[i]) / h).collect();
            self.treated = impacts.treat(&before, &mut average, h);
            for i in 0..n {
                let changed = average[i] - (state.x[i] - before[i]) / h;
                state.x[i] = before[i] + average[i] * h;
                state.v[i] += changed;
            }
        }
        Work::iterations(PASSES + self.treated.impulses)
    }
}
