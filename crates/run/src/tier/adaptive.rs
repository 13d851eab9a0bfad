//! Subspace simulation with adaptive bases behind the same trait.

use super::narrow;
use crate::{Error, Handed, Result, Tier, TierReport, clock, pose};
use glam::{Affine3A, Vec3};
use toile_simulate::{Subspace, SubspaceReport};

/// A garment that is simulated in a subspace.
pub struct Adaptive {
    subspace: Subspace,
    /// Whether cloth and body are where a step may go on from.
    started: bool,
    report: SubspaceReport,
}

/// Steps in which cloth that is put on comes to hang before it is first shown.
const SETTLING_STEPS: usize = 20;

impl Adaptive {
    /// Cloth that is put on with its first step: as it hung in the training frame nearest to that pose, then left to hang in it.
    pub fn new(subspace: Subspace) -> Self {
        Self { subspace, started: false, report: SubspaceReport::default() }
    }

    /// The simulation itself.
    pub fn subspace(&self) -> &Subspace {
        &self.subspace
    }

    /// Lets steps say where their time goes.
    pub fn watch(&mut self, clock: fn() -> f64) {
        self.subspace.watch(clock);
    }

    /// What the last step did.
    pub fn report(&self) -> &SubspaceReport {
        &self.report
    }

    /// Goes on from where another tier has the cloth: bones, places and velocities in the world.
    pub fn start_from(&mut self, bones: &[Affine3A], positions: &[Vec3], velocities: &[Vec3]) -> Result<()> {
        pose::check_finite(bones, self.subspace.database().joints)?;
        let wide = |values: &[Vec3]| -> Vec<_> { values.iter().map(|v| v.as_dvec3()).collect() };
        self.subspace
            .start_from(bones, &wide(positions), &wide(velocities))
            .map_err(|e| Error::Simulation(e.to_string()))?;
        self.started = true;
        Ok(())
    }
}

impl Tier for Adaptive {
    fn reset(&mut self) {
        self.started = false;
    }

    fn step(&mut self, bones: &[Affine3A], dt_secs: f64) -> Result<TierReport> {
        clock::check(dt_secs)?;
        pose::check_finite(bones, self.subspace.database().joints)?;
        let failed = |e: toile_simulate::Error| Error::Simulation(e.to_string());
        if !self.started {
            self.subspace.start_hanging(bones).map_err(failed)?;
            for _ in 0..SETTLING_STEPS {
                self.subspace.step(bones, self.subspace.settings.step_secs).map_err(failed)?;
            }
            self.started = true;
            return Ok(TierReport::default());
        }
        self.report = self.subspace.step(bones, dt_secs).map_err(failed)?;
        Ok(TierReport::default())
    }

    /// The cloth begins as it was shown, where the poses that led here begin, and goes through them.
    fn start(&mut self, from: &Handed<'_>) -> Result<()> {
        let (back, wearer) = from.poses.way_back(from.hips);
        let shown: Vec<Vec3> = from.positions.iter().map(|p| back.transform_point3(*p)).collect();
        self.started = false;
        for (k, (bones, dt_secs)) in from.poses.iter().enumerate() {
            match k {
                0 => self.start_from(bones, &shown, &vec![wearer; shown.len()])?,
                _ => self.step(bones, dt_secs).map(|_| ())?,
            }
        }
        Ok(())
    }

    fn positions(&self, out: &mut [Vec3]) {
        narrow(&self.subspace.world().state.x, out);
    }

    fn velocities(&self, out: &mut [Vec3]) -> bool {
        narrow(&self.subspace.world().state.v, out);
        true
    }

    fn vertices(&self) -> usize {
        self.subspace.world().state.x.len()
    }

    fn triangles(&self) -> Option<&[[u32; 3]]> {
        Some(&self.subspace.world().scene.triangles)
    }
}
