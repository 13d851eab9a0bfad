//! One trait for every way of moving a garment.

#[cfg(feature = "simulate")]
mod adaptive;
#[cfg(feature = "simulate")]
mod full;
mod layered;
mod leash;
mod skin;
mod stable;

#[cfg(feature = "simulate")]
pub use adaptive::Adaptive;
#[cfg(feature = "simulate")]
pub use full::{FirstGuess, Full};
pub use layered::{Layered, LayeredSettings, balance};
pub use leash::Leashed;
pub use skin::Skinned;
pub use stable::Stable;

use crate::{Handed, Result};
use glam::{Affine3A, Vec3};

/// What a step noticed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TierReport {
    /// Body coefficients that had to be clamped into the certified input set.
    pub clamped: u32,
}

/// A garment on a body: posed bones and time in, world-space vertices out.
pub trait Tier {
    /// Forgets all history; the next step starts afresh.
    fn reset(&mut self);

    /// Advances by `dt_secs` to the next pose; `bones` are `world_from_bind`, one per joint. An error leaves the garment
    /// as it was: the pose or the time step is not usable, or the step failed.
    fn step(&mut self, bones: &[Affine3A], dt_secs: f64) -> Result<TierReport>;

    /// Goes on from where another tier has brought the garment: as near to its places and velocities as this tier can be.
    /// All go through the poses that led here, so that they come in moving; cloth of its own begins them with the shape that
    /// was shown and calms down on the way, or what another tier has stretched or pushed into the body would be thrown.
    /// Afterwards [`Tier::positions`] and [`Tier::velocities`] are those of the present pose. An error leaves the tier
    /// unfit to be stepped until it is started or reset.
    fn start(&mut self, from: &Handed<'_>) -> Result<()> {
        self.reset();
        from.poses.iter().try_for_each(|(bones, dt_secs)| self.step(bones, dt_secs).map(|_| ()))
    }

    /// Writes the garment's world-space vertices.
    fn positions(&self, out: &mut [Vec3]);

    /// Writes the vertices' velocities in the world, m/s; `false` where the tier has none.
    fn velocities(&self, _out: &mut [Vec3]) -> bool {
        false
    }

    /// Number of vertices.
    fn vertices(&self) -> usize;

    /// The garment's triangles, where the tier knows them.
    fn triangles(&self) -> Option<&[[u32; 3]]> {
        None
    }
}

/// Share of its velocity against the wearer that cloth keeps in a step of a start.
const CALMS: f32 = 0.7;

/// A tier that is chosen while running.
impl Tier for Box<dyn Tier + Send> {
    fn reset(&mut self) {
        (**self).reset();
    }

    fn step(&mut self, bones: &[Affine3A], dt_secs: f64) -> Result<TierReport> {
        (**self).step(bones, dt_secs)
    }

    fn start(&mut self, from: &Handed<'_>) -> Result<()> {
        (**self).start(from)
    }

    fn positions(&self, out: &mut [Vec3]) {
        (**self).positions(out);
    }

    fn velocities(&self, out: &mut [Vec3]) -> bool {
        (**self).velocities(out)
    }

    fn vertices(&self) -> usize {
        (**self).vertices()
    }

    fn triangles(&self) -> Option<&[[u32; 3]]> {
        (**self).triangles()
    }
}

/// Numbers of a simulation as tiers give them.
#[cfg(feature = "simulate")]
fn narrow(values: &[glam::DVec3], out: &mut [Vec3]) {
    out.iter_mut().zip(values).for_each(|(out, v)| *out = v.as_vec3());
}

/// Velocities of vertices from one step to the next.
pub(crate) fn differences(now: &[Vec3], before: &[Vec3], per_second: f32, out: &mut [Vec3]) {
    for ((out, now), before) in out.iter_mut().zip(now).zip(before) {
        *out = (*now - *before) * per_second;
    }
}
