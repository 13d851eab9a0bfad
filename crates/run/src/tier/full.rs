//! The truth as a tier: full simulation behind the same trait.

use super::narrow;
use crate::{Error, Handed, Result, Tier, TierReport, clock, pose};
use glam::{Affine3A, DVec3, Vec3};
use toile_simulate::{Integrator, State, World};

/// What the solver's search begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstGuess {
    /// Where the guide has the garment at the end of the step.
    Place,
    /// Where the cloth is, going the way that the guide goes.
    Way,
}

/// A cheaper tier that foresees what the simulation finds.
struct Guide {
    tier: Box<dyn Tier + Send>,
    guess: FirstGuess,
    now: Vec<Vec3>,
    before: Vec<Vec3>,
    ways: Vec<DVec3>,
    started: bool,
}

/// A garment that is simulated.
pub struct Full {
    world: World,
    guide: Option<Guide>,
    /// Newton iterations and substeps since it was made.
    iterations: u64,
    substeps: u64,
    /// How the garment hung when it was handed over, on which bones.
    start: State,
    bones: Vec<Affine3A>,
}

impl Full {
    /// From a world with a garment on a body, draped or not: a reset comes back to this state.
    pub fn new(world: World) -> Self {
        let (start, bones) = (world.state.clone(), world.bones().to_vec());
        Self { world, guide: None, iterations: 0, substeps: 0, start, bones }
    }

    /// The same with its search begun by another tier of the garment, usually a learned one (de Aguiar 2010 §8). It finds
    /// the same motion within the solver's tolerance.
    pub fn guided(world: World, tier: Box<dyn Tier + Send>, guess: FirstGuess) -> Result<Self> {
        let n = tier.vertices();
        if n != world.state.x.len() {
            let what = format!("the guide has {n} vertices, the simulation {}", world.state.x.len());
            return Err(Error::Topology { what });
        }
        let (now, before, ways) = (vec![Vec3::ZERO; n], vec![Vec3::ZERO; n], vec![DVec3::ZERO; n]);
        Ok(Self { guide: Some(Guide { tier, guess, now, before, ways, started: false }), ..Self::new(world) })
    }

    /// Newton iterations and substeps since it was made.
    pub fn effort(&self) -> (u64, u64) {
        (self.iterations, self.substeps)
    }

    /// Lets the guide go ahead.
    fn foresee(&mut self, bones: &[Affine3A], dt_secs: f64) -> Result<()> {
        let Some(guide) = &mut self.guide else { return Ok(()) };
        guide.tier.step(bones, dt_secs)?;
        std::mem::swap(&mut guide.now, &mut guide.before);
        guide.tier.positions(&mut guide.now);
        if !std::mem::replace(&mut guide.started, true) {
            self.world.foresee(&[]);
            return Ok(());
        }
        for (i, way) in guide.ways.iter_mut().enumerate() {
            *way = match guide.guess {
                FirstGuess::Place => guide.now[i].as_dvec3() - self.world.state.x[i],
                FirstGuess::Way => (guide.now[i] - guide.before[i]).as_dvec3(),
            };
        }
        self.world.foresee(&guide.ways);
        Ok(())
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
        if let Some(guide) = &mut self.guide {
            guide.tier.reset();
            guide.started = false;
        }
    }

    fn step(&mut self, bones: &[Affine3A], dt_secs: f64) -> Result<TierReport> {
        clock::check(dt_secs)?;
        pose::check_finite(bones, self.bones.len())?;
        self.foresee(bones, dt_secs)?;
        match self.world.step(bones, dt_secs) {
            Ok(report) => {
                self.iterations += u64::from(report.newton);
                self.substeps += u64::from(report.substeps);
                Ok(TierReport::default())
            }
            Err(e) => Err(Error::Simulation(e.to_string())),
        }
    }

    /// The cloth begins as it was shown, with the integrator that damps, and calms down over the poses.
    fn start(&mut self, from: &Handed<'_>) -> Result<()> {
        self.world.foresee(&[]);
        if let Some(guide) = &mut self.guide {
            guide.tier.start(from)?;
            guide.tier.positions(&mut guide.now);
            guide.started = true;
        }
        let (back, wearer) = from.poses.way_back(from.hips);
        let failed = |e: toile_simulate::Error| Error::Simulation(e.to_string());
        let wearer = wearer.as_dvec3();
        let wanted = self.world.settings;
        self.world.settings.integrator = Integrator::ImplicitEuler;
        self.world.settings.max_step_secs = wanted.pose_secs();
        let mut outcome = Ok(());
        for (k, (bones, dt_secs)) in from.poses.iter().enumerate() {
            clock::check(dt_secs)?;
            pose::check_finite(bones, self.bones.len())?;
            outcome = if k == 0 {
                let x = from.positions.iter().map(|p| back.transform_point3(*p).as_dvec3()).collect();
                self.world.start_from(bones, x, vec![wearer; from.positions.len()])
            } else {
                self.world.step(bones, dt_secs).map(|_| ())
            };
            if outcome.is_err() {
                break;
            }
            let keeps = f64::from(super::CALMS);
            self.world.state.v.iter_mut().for_each(|v| *v = wearer + (*v - wearer) * keeps);
        }
        // What came before was another integrator's.
        self.world.state.step_before_secs = 0.0;
        self.world.settings = wanted;
        outcome.map_err(failed)
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

    fn triangles(&self) -> Option<&[[u32; 3]]> {
        Some(&self.world.scene.triangles)
    }
}
