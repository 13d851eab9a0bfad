//! The truth as a tier: full simulation behind the same trait.

use crate::clock::MAX_DT_SECS;
use crate::{Tier, TierReport};
use glam::{Affine3A, DVec3, Vec3};
use toile_model::RootFrame;
use toile_simulate::{State, World};

/// A garment that is simulated.
pub struct Full {
    world: World,
    /// How the garment hung when it was handed over, on which bones.
    start: State,
    bones: Vec<Affine3A>,
    /// What the last step said where it failed.
    trouble: Option<String>,
}

impl Full {
    /// From a world with a garment on a body, draped or not: a reset comes back to this state.
    pub fn new(world: World) -> Self {
        let (start, bones) = (world.state.clone(), world.bones().to_vec());
        Self { world, start, bones, trouble: None }
    }

    /// The simulation itself.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Why the last step was refused, where the simulation failed.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }
}

impl Tier for Full {
    /// Back to how the garment hung at the start, on the bones of then.
    fn reset(&mut self) {
        self.world.restore(&self.start, &self.bones);
        self.trouble = None;
    }

    fn step(&mut self, bones: &[Affine3A], _root: &RootFrame, dt_secs: f64) -> TierReport {
        let refused = TierReport { refused: true, ..TierReport::default() };
        let usable = bones.len() == self.bones.len()
            && bones.iter().all(Affine3A::is_finite)
            && dt_secs > 0.0
            && dt_secs <= MAX_DT_SECS;
        if !usable {
            return refused;
        }
        self.trouble = self.world.step(bones, dt_secs).err().map(|e| e.to_string());
        if self.trouble.is_some() { refused } else { TierReport::default() }
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

fn narrow(values: &[DVec3], out: &mut [Vec3]) {
    out.iter_mut().zip(values).for_each(|(out, v)| *out = v.as_vec3());
}
