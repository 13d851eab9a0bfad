//! Cloth in a subspace that changes from step to step (Hahn et al. 2014, §5).
//!
//! [`Subspace`] steps the cloth of a [`World`] with the energies and contacts of the full simulation, but lets it move only
//! along a dozen directions: those of a pose-space database that fit the moment, the gradient, and back to the
//! kinematic cloth. One Newton step a time step costs a small dense solve where the full simulation needs many sparse ones.

mod basis;
mod cubature;
mod forces;
mod kinematic;
mod reduced;
mod sampled;
mod stiffness;
#[cfg(test)]
mod tests;
mod touch;

pub use basis::GradientVector;
pub use cubature::{CubatureFit, CubatureSettings};

use crate::contact::surfaces::StepContext;
use crate::energy::air::Air;
use crate::energy::bending;
use crate::scene::Scene;
use crate::step::Obstacles;
use crate::world::World;
use crate::{Error, Result};
use basis::Basis;
use forces::Forces;
use glam::{Affine3A, DVec3, Mat3};
use kinematic::Kinematic;
use reduced::{DEPENDENT, Kept, Reduced};
use sampled::Sampled;
use std::sync::Arc;
use stiffness::{Angles, Stiffness};
use toile_assets::RootTracker;
use toile_assets::adaptive::Database;
use touch::Touch;

/// How the reduced system is put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assembly {
    /// The full-space matrix anew in every step, and its product with one direction after the other, in double precision.
    Plain,
    /// The matrix serves several steps, carried back to the bind pose, and is multiplied with sixteen directions at once.
    Kept,
    /// The same, with elastic forces and matrix from the triangles of the database's cubature alone. Without one, and with a
    /// gradient vector, which needs the forces of all triangles, it is [`Assembly::Kept`].
    Sampled,
}

/// How a subspace step is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SubspaceSettings {
    /// Vectors of the database at once; with the undo vector as many as are multiplied together. With the gradient and the undo vector
    /// the paper has 12 to 14.
    pub vectors: usize,
    /// What stands for the gradient. None by default, unlike in the paper: against stiff contacts it costs more than it gives
    /// (docs/decisions/041).
    pub gradient: GradientVector,
    /// Whether all Newton steps of a time step go along the directions that were chosen for the first. Others that are chosen for the second
    /// fall steeply in turn, so that it seems as far from the end as the first.
    pub choose_once: bool,
    /// Whether cloth may go back towards the kinematic cloth.
    pub undo: bool,
    /// How far sites are looked for in the space of poses; the mean distance between sites when not given.
    pub search_radius: Option<f32>,
    /// Longest time step, s.
    pub step_secs: f64,
    /// Newton steps a time step, at most; more than one only where the first leaves a lot.
    pub newton: usize,
    /// A Newton step is followed by another, with a new matrix, if the energy still falls along the directions, each of length
    /// one, by more than this share of what it fell by along those of the first (root of the sum of squares).
    pub sigma: f64,
    /// Steps for which a matrix serves, at most, with [`Assembly::Kept`].
    pub refresh_every: usize,
    /// How the reduced system is put together.
    pub assembly: Assembly,
    /// Steps from one search for contacts with bodies to the next; in between they go with the attachment.
    pub body_contact_every: usize,
    /// Steps from one search for cloth that may meet cloth to the next; 0, the default, for none. A dozen directions cannot part
    /// what meets here and there: such contacts stiffen all of the cloth (docs/decisions/041).
    pub self_contact_every: usize,
    /// Whether vertices that a step leaves inside a body are moved out of it.
    pub keep_out: bool,
    /// Whether a step that raises the energy is shortened.
    pub line_search: bool,
}

impl Default for SubspaceSettings {
    fn default() -> Self {
        Self {
            vectors: 15,
            gradient: GradientVector::None,
            choose_once: true,
            undo: true,
            search_radius: None,
            step_secs: 1.0 / 30.0,
            newton: 2,
            sigma: 0.1,
            refresh_every: 4,
            assembly: Assembly::Sampled,
            body_contact_every: 1,
            self_contact_every: 0,
            keep_out: true,
            line_search: true,
        }
    }
}

impl SubspaceSettings {
    /// These with some of them changed.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

/// Seconds that the phases of a step took, where a clock was given.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PhaseTimes {
    /// Skinning of body and kinematic cloth, finding contacts.
    pub contact: f64,
    /// Energies and gradient.
    pub gradient: f64,
    /// Choosing directions.
    pub choose: f64,
    /// The reduced system and its solution.
    pub assemble: f64,
    /// All of the step.
    pub total: f64,
}

/// What a step did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SubspaceReport {
    /// Time steps.
    pub substeps: u32,
    /// Newton steps.
    pub newton: u32,
    /// How often the matrix was found anew.
    pub refreshes: u32,
    /// Newton steps that were shortened because they raised the energy.
    pub shortened: u32,
    /// Vectors of the database that were asked in the last Newton step, and directions it had in all.
    pub pool: u32,
    /// Directions of the last Newton step.
    pub directions: u32,
    /// Vertices that were moved out of the body.
    pub pushed_out: u32,
    /// Vertices, of all time steps, that were farther from the skinned garment than the database knows.
    pub held: u32,
    /// By how much the energy still fell along the directions when it was last looked at, over what it fell by at first.
    pub residual: f64,
    /// Where the time went.
    pub times: PhaseTimes,
}

/// How far from the skinned garment a vertex is trusted to be that was `reach` from it in some training frame, m.
fn trusted_m(reach: f32) -> f64 {
    1.5 * f64::from(reach) + 0.01
}

/// Share of what is beyond that is taken back in a step.
const BACK: f64 = 0.2;

/// A step is not made shorter than this share of itself.
const LEAST_SHARE: f64 = 0.01;

/// A garment in a subspace.
pub struct Subspace {
    world: World,
    database: Arc<Database>,
    /// How steps are taken.
    pub settings: SubspaceSettings,
    clock: Option<fn() -> f64>,
    tracker: RootTracker,
    radius: f32,
    /// The cloth in the bind pose.
    bind: Vec<DVec3>,
    /// The cloth in the world, while a step looks for it.
    x: Vec<DVec3>,
    kinematic: Kinematic,
    forces: Forces,
    touch: Touch,
    basis: Basis,
    reduced: Reduced,
    plain: Stiffness,
    kept: Kept,
    angles: Angles,
    /// Steps for which the matrix still serves.
    serves: usize,
    /// Per vertex what contacts add to its block on the diagonal.
    pressed: Vec<Mat3>,
    /// Triangles that stand for all, where the database has them and they are wanted.
    sampled: Option<Sampled>,
    /// How far the sites are from the pose.
    distances: Vec<f32>,
    /// How far each vertex is from the skinned garment, in the bind pose, m.
    away: Vec<f32>,
}

impl Subspace {
    /// The cloth of a world that holds the database's garment on its body, as it is there. All reasons why it cannot be are
    /// named at once.
    pub fn new(world: World, database: Arc<Database>, settings: SubspaceSettings) -> Result<Self> {
        let mut faults = Vec::new();
        if world.scene.len() != database.vertices() {
            faults.push(format!(
                "the database is of a garment of {} vertices, this one has {}",
                database.vertices(),
                world.scene.len()
            ));
        } else if world.scene.triangles != database.triangles {
            faults.push("the database is of another mesh with as many vertices".into());
        }
        if world.bones().len() != database.joints {
            faults.push(format!(
                "the database is of a body of {} joints, this one has {}",
                database.joints,
                world.bones().len()
            ));
        }
        if !(settings.step_secs > 0.0 && settings.newton > 0) {
            faults.push(format!(
                "steps of {} s with {} Newton steps each",
                settings.step_secs, settings.newton
            ));
        }
        if !faults.is_empty() {
            return Err(Error::Scene(faults.join("; ")));
        }
        let kinematic = Kinematic::new(&database.attachment, world.bones());
        let mut subspace = Self {
            radius: settings.search_radius.unwrap_or_else(|| database.search_radius()),
            bind: vec![DVec3::ZERO; world.scene.len()],
            x: world.state.x.clone(),
            kinematic,
            forces: Forces::default(),
            touch: Touch::new(&world.scene, &world.state.x),
            basis: Basis::default(),
            reduced: Reduced::default(),
            plain: Stiffness::default(),
            kept: Kept::default(),
            angles: Angles::default(),
            serves: 0,
            pressed: Vec::new(),
            sampled: None,
            distances: Vec::new(),
            away: Vec::new(),
            tracker: RootTracker::NEW,
            clock: None,
            world,
            database,
            settings,
        };
        if let Some(cubature) = &subspace.database.cubature {
            let World { scene, settings, .. } = &subspace.world;
            let exactly = subspace.settings.assembly != Assembly::Sampled
                || subspace.settings.gradient != GradientVector::None
                || !scene.parts.is_empty();
            subspace.sampled = (!exactly).then(|| Sampled::new(scene, settings.bending, cubature));
        }
        subspace.take_up();
        Ok(subspace)
    }

    /// Lets steps say where their time goes.
    pub fn watch(&mut self, clock: fn() -> f64) {
        self.clock = Some(clock);
    }

    /// The cloth, its body and what they are made of.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The world, for the full simulation to go on with.
    pub fn into_world(mut self) -> World {
        self.measure_angles();
        self.world
    }

    /// Brings the angles of all hinges up to date, which sampled steps leave alone.
    fn measure_angles(&mut self) {
        let World { scene, state, .. } = &mut self.world;
        let before = state.angles.clone();
        bending::angles(0..scene.hinges.len() as u32, &scene.hinges, &state.x, &before, &mut state.angles);
    }

    /// How many triangles elastic forces come from.
    pub fn elastic_triangles(&self) -> usize {
        elastic(self.settings.assembly, &self.sampled, &self.world).0.triangles.len()
    }

    /// The database.
    pub fn database(&self) -> &Arc<Database> {
        &self.database
    }

    /// The cloth in the bind pose.
    pub fn bind(&self) -> &[DVec3] {
        &self.bind
    }

    /// Puts cloth and body where another tier has them: places and velocities in the world.
    pub fn start_from(&mut self, bones: &[Affine3A], x: &[DVec3], v: &[DVec3]) -> Result<()> {
        let n = self.world.scene.len();
        if x.len() != n || v.len() != n || bones.len() != self.database.joints {
            return Err(Error::Scene(format!(
                "{} places, {} velocities and {} bones for {n} vertices and {} joints",
                x.len(),
                v.len(),
                bones.len(),
                self.database.joints
            )));
        }
        if let Some(i) = (0..n).find(|&i| !(x[i].is_finite() && v[i].is_finite())) {
            return Err(Error::Scene(format!("vertex {i} is not finite")));
        }
        self.world.place_body(bones);
        let state = &mut self.world.state;
        state.x.copy_from_slice(x);
        state.halt();
        state.v.copy_from_slice(v);
        state.v_before.copy_from_slice(v);
        state.touching.fill(false);
        state.grips.fill(crate::state::Grip::default());
        self.measure_angles();
        self.kinematic = Kinematic::new(&self.database.attachment, bones);
        self.take_up();
        Ok(())
    }

    /// Puts cloth on the body at once, at rest: as it was in the training frame nearest to the pose, skinned where there is none. From
    /// the skinned place cloth comes to rest elsewhere, where friction lets it hang as well.
    pub fn start_hanging(&mut self, bones: &[Affine3A]) -> Result<()> {
        self.kinematic = Kinematic::new(&self.database.attachment, bones);
        let mut tracker = RootTracker::NEW;
        let root = self.database.root(bones, &mut tracker);
        let mut hanging: Vec<DVec3> = self.database.attachment.rest.iter().map(|p| p.as_dvec3()).collect();
        if let Some(displacements) = self.database.hanging(&self.database.pose(&root, bones)) {
            let held = &self.world.scene.pinned;
            for ((p, by), _) in hanging.iter_mut().zip(displacements).zip(held).filter(|(_, held)| !**held) {
                *p += by;
            }
        }
        let mut x = vec![DVec3::ZERO; hanging.len()];
        self.kinematic.pose(&hanging, &mut x);
        let v = vec![DVec3::ZERO; hanging.len()];
        self.start_from(bones, &x, &v)
    }

    /// Takes the cloth back to the bind pose from where it is in the world.
    fn take_up(&mut self) {
        for (i, x) in self.world.state.x.iter().enumerate() {
            self.bind[i] = self.kinematic.unpose(i, *x);
        }
        let rest = &self.database.attachment.rest;
        self.away.clear();
        self.away.extend(self.bind.iter().zip(rest).map(|(x, rest)| (*x - rest.as_dvec3()).length() as f32));
        if let Some(sampled) = &mut self.sampled {
            sampled.measure(&self.world.state.x);
        }
        self.touch.forget();
        self.serves = 0;
        self.tracker = RootTracker::NEW;
    }

    /// Moves the body to `bones` (`world_from_bind`, one per joint) within `dt` seconds and the cloth with it. A step that
    /// fails leaves the cloth as it was before.
    pub fn step(&mut self, bones: &[Affine3A], dt: f64) -> Result<SubspaceReport> {
        if bones.len() != self.database.joints {
            return Err(Error::Scene(format!(
                "{} bones for a body of {} joints",
                bones.len(),
                self.database.joints
            )));
        }
        let begun = self.now();
        let bones_before = self.world.bones.clone();
        if let Some(body) = &mut self.world.body {
            body.begin(bones);
        }
        self.kinematic.begin(&self.database.attachment, bones);
        let mut report = SubspaceReport::default();
        report.times.contact += self.now() - begun;
        let before = (self.world.state.x.clone(), self.world.state.v.clone());
        let pieces = (dt / self.settings.step_secs - 1e-6).ceil().max(1.0) as usize;
        for k in 0..pieces {
            let (from, to) = (k as f64 / pieces as f64, (k + 1) as f64 / pieces as f64);
            self.substep(bones, from, to, dt / pieces as f64, &mut report);
        }
        self.world.bones.copy_from_slice(bones);
        if let Some(vertex) = self.world.state.x.iter().position(|p| !p.is_finite()) {
            self.start_from(&bones_before, &before.0, &before.1)?;
            return Err(Error::Stuck {
                frame: 0,
                vertex,
                cause: crate::Cause::NotFinite,
                retries: 0,
                step_secs: self.settings.step_secs,
            });
        }
        report.times.total = self.now() - begun;
        Ok(report)
    }

    fn now(&self) -> f64 {
        self.clock.map_or(0.0, |clock| clock())
    }

    /// Algorithm 1 for one time step.
    fn substep(&mut self, bones: &[Affine3A], from: f64, to: f64, h: f64, report: &mut SubspaceReport) {
        let begun = self.now();
        self.world.advance_wearer(bones, from, to);
        self.kinematic.advance(to);
        for &(v, p) in &self.world.pins {
            self.bind[v as usize] = self.kinematic.unpose(v as usize, p);
        }
        let root = self.database.root(bones, &mut self.tracker);
        self.distances = self.database.distances(&self.database.pose(&root, bones));
        self.touch.lend(&mut self.world.state);
        // Line 2: the full-space state.
        self.kinematic.pose(&self.bind, &mut self.x);
        self.find_contacts((from, to), h);
        report.times.contact += self.now() - begun;
        let begun = self.now();
        let World { scene, settings, state, body, carried, .. } = &self.world;
        let wearer = body.as_ref().map_or(DVec3::ZERO, |b| b.mean_motion() / h);
        let air = Air { wind: settings.wind, wearer, carried };
        let (elastic, angles) = elastic(self.settings.assembly, &self.sampled, &self.world);
        self.forces.begin(elastic, angles, &scene.triangles, settings, state, &air, h);
        // Line 3: the full-space gradient.
        let mut energy = self.evaluate();
        report.times.gradient += self.now() - begun;
        let mut steepest = 0.0f64;
        for iteration in 0..self.settings.newton {
            // Line 4: the directions.
            let begun = self.now();
            report.refreshes += u32::from(self.refresh(iteration > 0));
            report.times.assemble += self.now() - begun;
            let begun = self.now();
            match iteration > 0 && self.settings.choose_once {
                true => self.basis.look_again(&self.kinematic, &self.forces.gradient, &self.database),
                false => self.choose(),
            }
            report.times.choose += self.now() - begun;
            let slope = self.basis.residual();
            steepest = if iteration == 0 { slope.max(1e-30) } else { steepest };
            report.residual = slope / steepest;
            report.pool = self.basis.pool as u32;
            report.directions = self.basis.columns.len() as u32;
            if iteration > 0 && report.residual < self.settings.sigma {
                break;
            }
            // Lines 5 to 7: the reduced system, its solution and the new state.
            let begun = self.now();
            self.assemble();
            let least = DEPENDENT[usize::from(self.settings.assembly != Assembly::Plain)];
            let q = self.reduced.solve(&self.basis.derivative, least);
            let bind_before = self.settings.line_search.then(|| self.bind.clone());
            self.basis.step(&self.database, &q, &self.world.scene.pinned, &mut self.bind);
            self.kinematic.pose(&self.bind, &mut self.x);
            report.newton += 1;
            report.times.assemble += self.now() - begun;
            if self.settings.line_search || iteration + 1 < self.settings.newton {
                let begun = self.now();
                let (after, shortened) = self.land(bind_before.as_deref(), energy, &q);
                energy = after;
                report.shortened += u32::from(shortened);
                report.times.gradient += self.now() - begun;
            }
        }
        let begun = self.now();
        report.held += self.hold();
        report.pushed_out = self.commit(h);
        self.touch.lend(&mut self.world.state);
        report.times.contact += self.now() - begun;
        report.substeps += 1;
        self.serves = self.serves.saturating_sub(1);
    }

    fn find_contacts(&mut self, shares: (f64, f64), h: f64) {
        let World { scene, settings, state, body, pins, .. } = &self.world;
        let obstacles = Obstacles { body: body.as_ref(), pins, leashes: &[], shares, air: Air::default() };
        let now = StepContext { scene, obstacles: &obstacles, settings, state, h };
        let SubspaceSettings { body_contact_every, self_contact_every, .. } = self.settings;
        self.touch.find(&now, &self.x, &self.kinematic, body_contact_every, self_contact_every);
    }

    fn evaluate(&mut self) -> f64 {
        let (elastic, angles) = elastic(self.settings.assembly, &self.sampled, &self.world);
        self.forces.evaluate(elastic, &self.world.settings, angles, &self.x, &self.touch.contacts)
    }

    fn choose(&mut self) {
        let (database, gradient) = (&*self.database, &self.forces.gradient);
        self.basis.look(&self.kinematic, gradient, &self.bind, database, &self.world.scene.pinned);
        let SubspaceSettings { vectors, gradient: how, undo, .. } = self.settings;
        let (kinematic, radius) = (&self.kinematic, self.radius);
        let (kept, pressed) = (&self.kept.stiffness, &self.pressed);
        let relax = |i: usize, slope: DVec3| {
            let b = kinematic.linear[i];
            let block = Mat3::from(kept.block(i)).as_dmat3() + b.transpose() * pressed[i].as_dmat3() * b;
            block.inverse() * slope
        };
        self.basis.choose(database, &self.distances, vectors, radius, kinematic, gradient, how, undo, relax);
    }

    /// Finds the matrix anew where it has served its time, or where it must; says whether it did.
    fn refresh(&mut self, must: bool) -> bool {
        let scene = elastic(self.settings.assembly, &self.sampled, &self.world).0;
        if self.settings.gradient == GradientVector::Relaxed {
            self.pressed.clear();
            self.pressed.resize(scene.len(), Mat3::ZERO);
            for (c, m) in &self.forces.pushes {
                let m = m.as_mat3();
                (0..4).for_each(|k| self.pressed[c.v[k] as usize] += m * (c.w[k] * c.w[k]) as f32);
            }
        }
        let plain = self.settings.assembly == Assembly::Plain;
        if plain {
            let diagonal = (0..scene.len()).map(|i| self.forces.diagonal(scene, i));
            self.plain.set(scene, &self.forces, &self.x, diagonal);
        }
        if !(must || plain || self.serves == 0) {
            return false;
        }
        self.serves = self.settings.refresh_every.max(1);
        match (&self.sampled, self.settings.assembly) {
            (Some(sampled), Assembly::Sampled) => {
                self.kept.refresh_sampled(sampled, &self.kinematic, &self.forces, &self.x);
            }
            _ => self.kept.refresh(scene, &self.kinematic, &self.forces, &self.x),
        }
        true
    }

    /// Puts the reduced system together.
    fn assemble(&mut self) {
        let scene = elastic(self.settings.assembly, &self.sampled, &self.world).0;
        let database = &*self.database;
        if self.settings.assembly == Assembly::Plain {
            self.reduced.assemble_plainly(
                scene,
                database,
                &self.kinematic,
                &mut self.basis,
                &self.plain,
                &self.forces,
                &mut self.angles,
            );
        } else {
            let (kept, pushes) = (&mut self.kept, &self.forces.pushes);
            let of = match (&self.sampled, self.settings.assembly) {
                (Some(sampled), Assembly::Sampled) => (&sampled.matrix, Some(&*sampled.stations)),
                _ => (scene, None),
            };
            let pinned = &self.world.scene.pinned;
            self.reduced.assemble_kept(of, pinned, database, &self.kinematic, &self.basis, kept, pushes);
        }
    }

    /// Energy and gradient where a Newton step led, for the contacts that it was made for. With a `start`, the way from there is
    /// halved until the energy falls as it should (Armijo); says whether that was needed.
    fn land(&mut self, start: Option<&[DVec3]>, energy: f64, q: &[f64]) -> (f64, bool) {
        let slope: f64 = self.basis.derivative.iter().zip(q).map(|(d, q)| d * q).sum();
        let (mut share, mut after) = (1.0, self.evaluate());
        let Some(start) = start else { return (after, false) };
        while share > LEAST_SHARE && !(after <= energy + 1e-4 * share * slope + 1e-12 * energy.abs()) {
            share *= 0.25;
            for (x, start) in self.bind.iter_mut().zip(start) {
                *x = start.lerp(*x, 0.25);
            }
            self.kinematic.pose(&self.bind, &mut self.x);
            after = self.evaluate();
        }
        (after, share < 1.0)
    }

    /// Takes vertices back that are farther from the skinned garment than the database has ever seen them: outside of what its
    /// bases were made from a combination of them means nothing, and nothing else keeps cloth that has slipped off its wearer
    /// from falling. Returns how many.
    fn hold(&mut self) -> u32 {
        let mut held = 0;
        let rest = &self.database.attachment.rest;
        for (i, reach) in self.database.reach.iter().enumerate() {
            let rest = rest[i].as_dvec3();
            let (trusted, offset) = (trusted_m(*reach), self.bind[i] - rest);
            let far = offset.length();
            if far > trusted && !self.world.scene.pinned[i] {
                held += 1;
                // Cloth that another tier handed over from farther out comes back bit by bit.
                let most = f64::from(self.away[i]).max(2.0 * trusted);
                let to = (trusted + (1.0 - BACK) * (far - trusted)).min(most);
                self.bind[i] = rest + offset * (to / far);
                self.x[i] = self.kinematic.pose_one(i, self.bind[i]);
            }
            self.away[i] = (self.bind[i] - rest).length() as f32;
        }
        held
    }

    /// Takes the place that was found as the new state; returns how many vertices were moved out of the body.
    fn commit(&mut self, h: f64) -> u32 {
        let mut pushed = 0;
        if self.settings.keep_out {
            let mut pushes = Vec::new();
            pushed = self.touch.keep_out(&self.world.scene, &self.x, |v, by| pushes.push((v, by))) as u32;
            for (v, by) in pushes {
                self.x[v] += by;
                self.bind[v] = self.kinematic.unpose(v, self.x[v]);
            }
        }
        let World { scene, state, .. } = &mut self.world;
        self.touch.commit(&self.x, state);
        std::mem::swap(&mut state.x_before, &mut state.x);
        std::mem::swap(&mut state.v_before, &mut state.v);
        for i in 0..scene.len() {
            state.x[i] = self.x[i];
            state.v[i] = (self.x[i] - state.x_before[i]) / h;
        }
        state.step_before_secs = h;
        state.secs += h;
        match (&mut self.sampled, self.settings.assembly) {
            (Some(sampled), Assembly::Sampled) => sampled.measure(&self.world.state.x),
            _ => self.measure_angles(),
        }
        pushed
    }
}

/// The scene that elastic forces come from, and the angles of its hinges at the start of the step.
fn elastic<'a>(assembly: Assembly, sampled: &'a Option<Sampled>, world: &'a World) -> (&'a Scene, &'a [f64]) {
    match sampled {
        Some(sampled) if assembly == Assembly::Sampled => (&sampled.scene, &sampled.angles),
        _ => (&world.scene, &world.state.angles),
    }
}
