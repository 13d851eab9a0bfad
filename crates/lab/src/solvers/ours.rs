//! The default solver, unchanged, in the place of one method among others: an incremental potential a step, minimised by
//! Newton's method, BDF2, contact against triangles.

use super::stage::{Obstacles, Stage, State};
use super::{Method, Work};
use glam::DVec3;
use toile_simulate::{Result, World};

/// The simulator's own world.
pub struct Ours {
    world: World,
}

impl Ours {
    /// As it is shipped, but for the length of the step.
    pub fn new(stage: &Stage) -> Self {
        let mut world = stage.world.clone();
        world.state.colliders.iter_mut().for_each(|c| c.friction = Some(stage.friction));
        Self { world }
    }

    /// Steps of 1/960 s, solved tightly: what others are compared with.
    pub fn fine(stage: &Stage) -> Self {
        let mut fine = Self::new(stage);
        fine.world.settings.max_step_secs = 1.0 / 960.0;
        fine.world.settings.tolerance_m /= 16.0;
        fine.world.settings.linear_tolerance /= 4.0;
        fine
    }

    /// Goes on by `h`.
    pub fn advance(&mut self, stage: &Stage, secs: f64, h: f64) -> Result<&[DVec3]> {
        self.world.step(&stage.bones_at(secs + h), h)?;
        Ok(&self.world.state.x)
    }
}

impl Method for Ours {
    fn step(&mut self, stage: &Stage, _: &mut Obstacles, state: &mut State, h: f64) -> Work {
        self.world.settings.max_step_secs = h;
        self.world.settings.max_halvings = 0;
        let bones = stage.bones_at(state.secs + h);
        let Ok(report) = self.world.step(&bones, h) else { return Work::FAILED };
        state.x.copy_from_slice(&self.world.state.x);
        state.v.copy_from_slice(&self.world.state.v);
        state.secs += h;
        Work::iterations(report.linear)
    }
}
