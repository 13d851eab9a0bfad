//! The truth as a tier: full simulation behind the same trait.

use super::narrow;
use crate::{Error, Result, Tier, TierReport, clock, pose};
use glam::{Affine3A, Vec3};
use toile_simulate::{State, World};

/// A garment that is simulated.
pub struct Full {
    world: World,
    /// How the garment hung when it was handed over, on which bones.
    start: State,
    bones: Vec<Affine3A>,
}

impl Full {
    /// From a world with a garment on a body, draped or not: a reset comes back to this state.
    pub fn new(world: World) -> Self {
        let (start, bones) = (world.state.clone(), world.bones().to_vec());
        Self { world, start, bones }
    }

    /// The simulation itself.
    pub fn world(&self) -> &World {
        &self.world
    }
}

impl Tier for Full {
    /// Back to how the garment hung at the start, on the bones of then.
    fn reset(&mut self) {
        self.world.restore(&self.start, &self.bones);
    }

    fn step(&mut self, bones: &[Affine3A], dt_secs: f64) -> Result<TierReport> {
        clock::check(dt_secs)?;
        pose::check_finite(bones, self.bones.len())?;
        match self.world.step(bones, dt_secs) {
            Ok(_) => Ok(TierReport::default()),
            Err(e) => Err(Error::Simulation(e.to_string())),
        }
    }

    fn positions(&self, out: &mut [Vec3]) {
        narrow(&self.world.state.x, out);
    }

    fn velocities(&self, out: &mut [Vec3]) -> bool {
        narrow(&self.world.state.v, out);
        true
    }

    fn vertices(&self) -> usize {
        self.world.state.x.len()
    }
}
