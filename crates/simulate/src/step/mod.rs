//! One substep, top to bottom: predict, find contacts, minimise the incremental potential by Newton's method,
//! make sure nothing passed through anything, take the new state.
//!
//! The potential is `Σ m/2β² |x − x̂|² + V(x)` (Hahn 2014 eq. 1). For implicit Euler `β = h`, `x̂ = x_t + h v_t`.
//! For BDF2 with step ratio ω: `β = h(1+ω)/(1+2ω)`, `x̃ = ((1+ω)² x_t − ω² x_{t−1})/(1+2ω)`, likewise `ṽ`, and
//! `x̂ = x̃ + β ṽ`, `v = (x − x̃)/β`. ω = 0 is implicit Euler, so the two differ vertex by vertex where needed.

mod accept;
mod commit;
mod failure;
mod line_search;
mod newton;
mod predict;
mod retry;
mod self_collision;
mod working_set;

pub(crate) use commit::remember;
pub use failure::{Cause, Failure};
pub use predict::coefficients;
pub use retry::Budget;
pub(crate) use self_collision::near;
pub use working_set::WorkingSet;

use crate::contact::body::BodySurface;
use crate::contact::cloth::ClothContact;
use crate::contact::constraint::Contact;
use crate::contact::surfaces::{StepContext, SurfaceContacts};
use crate::energy::air::{Air, Drag};
use crate::energy::leash::Leash;
use crate::energy::{bending, membrane};
use crate::report::StepReport;
use crate::scene::Scene;
use crate::settings::Settings;
use crate::solve::{pcg, system::System};
use crate::state::State;
use glam::{DMat3, DVec3};

/// Scratch memory of a step; nothing in it is part of the state.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    x: Vec<DVec3>,
    x_try: Vec<DVec3>,
    guess: Vec<DVec3>,
    /// How far someone else thinks that each vertex goes in all of the step, m; empty where nobody does.
    pub(crate) foreseen: Vec<DVec3>,
    pub(crate) gradient: Vec<DVec3>,
    move_: Vec<DVec3>,
    base: Vec<DVec3>,
    predicted: Vec<DVec3>,
    beta: Vec<f64>,
    /// Velocity of the air at each vertex, m/s.
    air: Vec<DVec3>,
    damping: Vec<DMat3>,
    /// Vertices that are limited, where they are held at the end of the step.
    leashes: Vec<Leash>,
    strain_before: Vec<membrane::Strain>,
    angles: Vec<f64>,
    moments: Vec<f64>,
    bent_from: bending::Datum,
    pub(crate) surfaces: SurfaceContacts,
    contacts: Vec<Contact>,
    /// The contacts that the last move was made for.
    judged: Vec<Contact>,
    pub(crate) system: System,
    vectors: pcg::Vectors,
    /// What the iteration works on.
    working: WorkingSet,
    pub(crate) cloth: ClothContact,
}

impl Workspace {
    /// Room for a scene whose cloth is at `x`.
    pub fn new(scene: &Scene, x: &[DVec3]) -> Self {
        let n = scene.len();
        let zero = || vec![DVec3::ZERO; n];
        let system = System::new(scene);
        Self {
            x: zero(),
            x_try: zero(),
            guess: zero(),
            foreseen: Vec::new(),
            gradient: zero(),
            move_: zero(),
            base: zero(),
            predicted: zero(),
            beta: vec![0.0; n],
            air: zero(),
            damping: vec![DMat3::ZERO; n],
            leashes: Vec::new(),
            strain_before: vec![[0.0; 3]; scene.triangles.len()],
            angles: vec![0.0; scene.hinges.len()],
            moments: vec![0.0; scene.hinges.len()],
            bent_from: bending::Datum::default(),
            surfaces: SurfaceContacts::new(),
            contacts: Vec::new(),
            judged: Vec::new(),
            working: WorkingSet::new(scene, system.order()),
            system,
            vectors: pcg::Vectors::new(n),
            cloth: ClothContact::new(scene, x),
        }
    }

    /// What the air does to a vertex in this step.
    #[inline]
    fn drag(&self, i: usize) -> Drag {
        Drag { damping: self.damping[i], air: self.air[i], base: self.base[i], beta: self.beta[i] }
    }

    /// Changes what contacts remember between the state, whose it is, and the searches, which need it; once more gives it
    /// back.
    fn lend(&mut self, state: &mut State) {
        std::mem::swap(&mut self.surfaces.limb_cache, &mut state.limb_cache);
        std::mem::swap(&mut self.cloth.tangles, &mut state.tangles);
        std::mem::swap(&mut self.cloth.broad, &mut state.broad);
        std::mem::swap(&mut self.cloth.hard, &mut state.hard);
    }

    /// Counts crossings of the cloth with itself and notes them in the state.
    pub fn mark_crossings(&mut self, scene: &Scene, state: &mut State) -> u32 {
        self.lend(state);
        let count = self.cloth.mark_crossings(scene, &state.x);
        self.lend(state);
        count
    }
}

/// What is in the way during the substep.
pub struct Obstacles<'a> {
    /// The body, already advanced to the end of the substep.
    pub body: Option<&'a BodySurface>,
    /// Places of the pinned vertices at the end of the substep.
    pub pins: &'a [(u32, DVec3)],
    /// Vertices that are limited, where they are held at the end of the substep.
    pub leashes: &'a [Leash],
    /// Shares of the colliders' motion at the start and end of the substep.
    pub shares: (f64, f64),
    /// The air about the cloth.
    pub air: Air<'a>,
}

/// Advances `state` by `h` seconds, or leaves it as it was but for its cache of contacts and its retry budget.
pub fn substep(
    scene: &Scene,
    obstacles: &Obstacles<'_>,
    settings: &Settings,
    h: f64,
    state: &mut State,
    ws: &mut Workspace,
) -> Result<StepReport, Failure> {
    ws.lend(state);
    let outcome = attempt(scene, obstacles, settings, h, state, ws);
    ws.lend(state);
    outcome
}

/// A substep while the workspace holds the state's cache of contacts.
fn attempt(
    scene: &Scene,
    obstacles: &Obstacles<'_>,
    settings: &Settings,
    h: f64,
    state: &mut State,
    ws: &mut Workspace,
) -> Result<StepReport, Failure> {
    let mut report = StepReport { substeps: 1, ..StepReport::default() };
    ws.air.iter_mut().enumerate().for_each(|(i, air)| *air = obstacles.air.at(i));
    predict::predict(scene, settings, h, state, ws);
    predict::start_dissipation(scene, settings, h, state, ws);
    ws.leashes.clear();
    let grip = crate::leash::grip(h, settings);
    ws.leashes.extend(obstacles.leashes.iter().map(|leash| leash.weakened(grip)));
    guess(scene, obstacles, h, state, ws);

    let now = StepContext { scene, obstacles, settings, state, h };
    self_collision::minimise_apart(&now, ws, &mut report)?;

    // What came to a body with the last move only.
    let found = ws.surfaces.find_strayed(&now, &ws.x);
    ws.contacts.extend_from_slice(&ws.surfaces.contacts[ws.surfaces.contacts.len() - found..]);

    if state.retry_budget.allows() && h > retry::FOR_LOOKS_SECS {
        accept::spoiled(scene, settings, ws).inspect_err(|_| state.retry_budget.spend())?;
    }
    state.retry_budget.recover(h);
    commit::take(scene, h, state, ws, &mut report);
    Ok(report)
}

/// The guess is free flight with the pins where they will be. (Going on with the last change of speed as well was tried:
/// Newton then needs more iterations.)
fn guess(scene: &Scene, obstacles: &Obstacles<'_>, h: f64, state: &State, ws: &mut Workspace) {
    let share = obstacles.shares.1 - obstacles.shares.0;
    for i in 0..scene.len() {
        ws.x[i] = match ws.foreseen.get(i) {
            Some(way) => state.x[i] + *way * share,
            None => state.x[i] + state.v[i] * h,
        };
    }
    for &(v, p) in obstacles.pins {
        ws.x[v as usize] = p;
    }
    ws.guess.copy_from_slice(&ws.x);
}
