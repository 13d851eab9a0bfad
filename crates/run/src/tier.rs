//! One trait for every way of moving a garment.

use glam::{Affine3A, Vec3};
use toile_assets::RootFrame;

/// What a step noticed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepReport {
    /// Body coefficients that had to be clamped into the certified input set.
    pub clamped: u32,
    /// The step's input was not usable (wrong joint count or non-finite): the garment kept its last state.
    pub refused: bool,
}

/// A garment on a body: posed bones in, world-space vertices out.
pub trait Tier {
    /// Forgets all history; the next step starts afresh.
    fn reset(&mut self);

    /// Advances to the next pose. `bones` are `world_from_bind`.
    fn step(&mut self, bones: &[Affine3A], root: &RootFrame) -> StepReport;

    /// Writes the garment's world-space vertices.
    fn positions(&self, out: &mut [Vec3]);

    /// Number of vertices.
    fn vertices(&self) -> usize;
}
