//! One substep, top to bottom: predict, find contacts, minimise the incremental potential by Newton's method,
//! make sure nothing passed through anything, take the new state.
//!
//! The potential is `Σ m/2β² |x − x̂|² + V(x)` (Hahn 2014 eq. 1). For implicit Euler `β = h`, `x̂ = x_t + h v_t`.
//! For BDF2 with step ratio ω: `β = h(1+ω)/(1+2ω)`, `x̃ = ((1+ω)² x_t − ω² x_{t−1})/(1+2ω)`, likewise `ṽ`, and
//! `x̂ = x̃ + β ṽ`, `v = (x − x̃)/β`. ω = 0 is implicit Euler, so the two differ vertex by vertex where needed.

use crate::contact::body::BodySurface;
use crate::contact::cloth::ClothContact;
use crate::contact::constraint::{self, Contact};
use crate::contact::surfaces::{self, SurfaceContacts};
use crate::energy::membrane_lanes::{self, Four};
use crate::energy::{air, bending, membrane};
use crate::report::StepReport;
use crate::scene::Scene;
use crate::settings::{Integrator, Settings};
use crate::solve::{pcg, system::System};
use crate::state::{Grip, State};
use glam::{DMat3, DVec3, Mat3A, Vec3A};

/// Why a substep has to be retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// `not finite`, `no convergence`.
    pub cause: &'static str,
    /// The worst vertex.
    pub vertex: usize,
}

/// Scratch memory of a step; nothing in it is part of the state.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    x: Vec<DVec3>,
    x_try: Vec<DVec3>,
    guess: Vec<DVec3>,
    pub(crate) gradient: Vec<DVec3>,
    move_: Vec<DVec3>,
    base: Vec<DVec3>,
    predicted: Vec<DVec3>,
    beta: Vec<f64>,
    /// Velocity of the air at each vertex, m/s.
    air: Vec<DVec3>,
    damping: Vec<DMat3>,
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
    pub(crate) cloth: ClothContact,
}

impl Workspace {
    /// Room for a scene whose cloth is at `x`.
    pub fn new(scene: &Scene, x: &[DVec3]) -> Self {
        let n = scene.len();
        let zero = || vec![DVec3::ZERO; n];
        Self {
            x: zero(),
            x_try: zero(),
            guess: zero(),
            gradient: zero(),
            move_: zero(),
            base: zero(),
            predicted: zero(),
            beta: vec![0.0; n],
            air: zero(),
            damping: vec![DMat3::ZERO; n],
            strain_before: vec![[0.0; 3]; scene.triangles.len()],
            angles: vec![0.0; scene.hinges.len()],
            moments: vec![0.0; scene.hinges.len()],
            bent_from: bending::Datum::default(),
            surfaces: SurfaceContacts::new(),
            contacts: Vec::new(),
            judged: Vec::new(),
            system: System::new(scene),
            vectors: pcg::Vectors::new(n),
            cloth: ClothContact::new(scene, x),
        }
    }
}

/// What is in the way during the substep.
pub struct Obstacles<'a> {
    /// The body, already advanced to the end of the substep.
    pub body: Option<&'a BodySurface>,
    /// Places of the pinned vertices at the end of the substep.
    pub pins: &'a [(u32, DVec3)],
    /// Shares of the colliders' motion at the start and end of the substep.
    pub shares: (f64, f64),
    /// The air about the cloth.
    pub air: air::Air<'a>,
}

/// Advances `state` by `h` seconds, or leaves it as it was (but for its patience).
pub fn substep(
    scene: &Scene,
    obstacles: &Obstacles<'_>,
    settings: &Settings,
    h: f64,
    state: &mut State,
    ws: &mut Workspace,
) -> Result<StepReport, Failure> {
    let mut report = StepReport { substeps: 1, ..StepReport::default() };
    ws.air.iter_mut().enumerate().for_each(|(i, air)| *air = obstacles.air.at(i));
    predict(scene, settings, h, state, ws);
    start_dissipation(scene, settings, h, state, ws);

    // The guess is free flight with the pins where they will be. (Going on with the last change of speed as well was
    // tried: those are mostly flutter, and Newton needed half as many iterations again.)
    for i in 0..scene.len() {
        ws.x[i] = state.x[i] + state.v[i] * h;
    }
    for &(v, p) in obstacles.pins {
        ws.x[v as usize] = p;
    }

    ws.guess.copy_from_slice(&ws.x);

    let reach = scene.fabric.thickness;
    let margin = 2.0 * reach + 1e-3;
    if settings.self_contact {
        ws.cloth.find(scene, &state.x, &ws.x, reach + margin);
    }

    let rate = scene.fabric.damping_secs / h;
    ws.bent_from.set(&scene.bending, &scene.rest_angles, &state.angles, rate, &mut ws.moments);
    // What is left undone comes back as speed: cloth that moves little is solved the more tightly, or it never rests.
    let pace = pace(scene, state);
    let tolerance = (pace * h * RESTLESS).max(FINEST_M).min(settings.tolerance_m);
    let mut moved = f64::INFINITY;
    let mut mean = f64::INFINITY;
    let mut worst = 0;
    let mut descent: Option<Descent> = None;
    for iteration in 0..settings.max_newton {
        let energy = loop {
            let pressed: f64 = ws.judged.iter().map(|c| constraint::energy(c, &ws.x)).sum();
            find_contacts(scene, obstacles, settings, h, state, ws, iteration);
            let (inner, outer) = linearise(scene, settings, rate, &state.angles, ws);
            // The matrix at the new point gives its energy for nothing: the move is judged here, against the contacts
            // it was made for, and shortened if the energy rose.
            match &mut descent {
                Some(d) if !d.falls(inner + pressed) => d.shorten(ws),
                _ => break inner + outer,
            }
        };
        if let Some(vertex) = ws.gradient.iter().position(|g| !g.is_finite()) {
            return Err(Failure { cause: "not finite", vertex });
        }
        ws.system.prepare(&scene.hinges, &scene.pinned);
        let solved = pcg::solve(
            &mut ws.system,
            &scene.hinges,
            &scene.bending,
            &ws.gradient,
            &mut ws.move_,
            settings.linear_tolerance,
            settings.max_linear,
            &mut ws.vectors,
        );
        let Some(steps) = solved else {
            return Err(Failure { cause: "no convergence", vertex: worst });
        };
        report.linear += steps as u32;
        report.newton += 1;
        let slope: f64 = ws.gradient.iter().zip(&ws.move_).map(|(g, p)| g.dot(*p)).sum();
        // The next iterate finds its own.
        std::mem::swap(&mut ws.judged, &mut ws.contacts);
        descent = Some(Descent { energy, slope, share: 1.0, left: 12 });
        for (try_, (x, m)) in ws.x_try.iter_mut().zip(ws.x.iter().zip(&ws.move_)) {
            *try_ = *x + *m;
        }
        // From here on `x_try` is where the move began.
        std::mem::swap(&mut ws.x, &mut ws.x_try);

        (worst, moved) = farthest(&ws.move_);
        let before = std::mem::replace(&mut mean, mean_move(scene, &ws.move_));
        if !moved.is_finite() {
            return Err(Failure { cause: "not finite", vertex: worst });
        }
        // The moves shrink by about the ratio of the last two: what is still to come is judged, not what was.
        let ahead = if before.is_finite() { (mean / before).min(1.0) } else { 1.0 };
        // A vertex or two that chatter between two contacts do not hold up the rest.
        if mean * ahead < tolerance && moved * ahead < 25.0 * tolerance {
            descent = None;
            break;
        }
    }
    std::mem::swap(&mut ws.judged, &mut ws.contacts);
    if let Some(mut d) = descent {
        // Not converged: the last move has to fall too.
        while !d.falls(potential(scene, settings, &state.angles, ws)) {
            d.shorten(ws);
        }
        moved *= d.share;
    }
    report.residual_m = moved;
    if moved > settings.retry_m {
        return Err(Failure { cause: "no convergence", vertex: worst });
    }

    // What came to a body with the last move only.
    let moment = surfaces::Moment { scene, obstacles, settings, state, h };
    let found = ws.surfaces.find_strayed(&moment, &ws.x);
    ws.contacts.extend_from_slice(&ws.surfaces.contacts[ws.surfaces.contacts.len() - found..]);

    if settings.self_contact {
        let last = h < LAST_CHANCE_SECS;
        let kept = keep_apart(scene, state, ws, reach + margin, last);
        state.patience -= if kept.as_ref().is_err_and(|f| f.cause == PRESSED) { 1.0 } else { 0.0 };
        report.held_back = kept?;
    }
    if state.patience >= 1.0 && h > FOR_LOOKS_SECS {
        spoiled(scene, settings, ws).inspect_err(|_| state.patience -= 1.0)?;
    }
    state.rest(h);
    take(scene, h, state, ws, &mut report);
    Ok(report)
}

/// `[(1+ω)²/(1+2ω), ω²/(1+2ω), β]` for a step of `h` that is ω times the one before.
pub fn coefficients(h: f64, w: f64) -> [f64; 3] {
    let d = 1.0 / (1.0 + 2.0 * w);
    [(1.0 + w) * (1.0 + w) * d, w * w * d, h * (1.0 + w) * d]
}

/// Targets of the integrator for every vertex.
fn predict(scene: &Scene, settings: &Settings, h: f64, state: &State, ws: &mut Workspace) {
    let bdf2 = settings.integrator == Integrator::Bdf2 && state.step_before_secs > 0.0;
    let ratio = if bdf2 { h / state.step_before_secs } else { 0.0 };
    for i in 0..scene.len() {
        let [now, before, beta] = coefficients(h, if state.touching[i] { 0.0 } else { ratio });
        ws.beta[i] = beta;
        ws.base[i] = state.x[i] * now - state.x_before[i] * before;
        let v = state.v[i] * now - state.v_before[i] * before;
        ws.predicted[i] = ws.base[i] + v * beta;
    }
}

/// Strains and angles that the strain-rate damping measures from, and the air's resistance.
fn start_dissipation(scene: &Scene, settings: &Settings, h: f64, state: &State, ws: &mut Workspace) {
    for (el, s) in scene.membrane.iter().zip(&mut ws.strain_before) {
        *s = el.strain(&state.x);
    }
    ws.damping.fill(DMat3::ZERO);
    let half_density_drag = 0.5 * settings.air_density * scene.fabric.drag;
    if half_density_drag > 0.0 {
        // Velocities and places as they will be at the end of the step: taken from its start, the lag alone would
        // damp a swing by a few per cent.
        let ahead = if state.step_before_secs > 0.0 { h / state.step_before_secs } else { 0.0 };
        for i in 0..scene.len() {
            ws.move_[i] = state.v[i] + (state.v[i] - state.v_before[i]) * ahead - ws.air[i];
            ws.x_try[i] = state.x[i] + state.v[i] * h;
        }
        for t in &scene.triangles {
            air::add_damping(*t, &ws.x_try, &ws.move_, half_density_drag, &mut ws.damping);
        }
    }
}

/// Contacts at the current iterate: with bodies and rigid things, and of the cloth with itself.
fn find_contacts(
    scene: &Scene,
    obstacles: &Obstacles<'_>,
    settings: &Settings,
    h: f64,
    state: &State,
    ws: &mut Workspace,
    iteration: usize,
) {
    let moment = surfaces::Moment { scene, obstacles, settings, state, h };
    if iteration == 0 {
        ws.surfaces.find(&moment, &ws.x);
    } else {
        ws.surfaces.refresh(&moment, &ws.x);
        ws.surfaces.find_strayed(&moment, &ws.x);
    }
    ws.contacts.clear();
    ws.contacts.extend_from_slice(&ws.surfaces.contacts);
    if settings.self_contact {
        ws.cloth.contacts(
            scene,
            &state.x,
            &ws.x,
            scene.fabric.thickness,
            settings.self_contact_stiffness,
            &mut ws.contacts,
        );
    }
}

/// Energy (without contacts and of contacts), gradient and Newton matrix at the iterate.
fn linearise(
    scene: &Scene,
    settings: &Settings,
    rate: f64,
    angles_before: &[f64],
    ws: &mut Workspace,
) -> (f64, f64) {
    let mut energy = 0.0;
    let system = &mut ws.system;
    system.bending_scale = (1.0 + rate) as f32;
    system.inertia = 0.0;
    for i in 0..scene.len() {
        let k = scene.mass[i] / (ws.beta[i] * ws.beta[i]);
        let d = ws.x[i] - ws.predicted[i];
        let wind = (ws.x[i] - ws.base[i]) / ws.beta[i] - ws.air[i];
        let drag = ws.damping[i] * wind;
        energy += 0.5 * k * d.length_squared() - scene.mass[i] * settings.gravity.dot(ws.x[i])
            + 0.5 * ws.beta[i] * wind.dot(drag);
        ws.gradient[i] = d * k - settings.gravity * scene.mass[i] + drag;
        system.inertia += 3.0 * k as f32;
        let air: Mat3A = (ws.damping[i] * (1.0 / ws.beta[i])).as_mat3().into();
        system.diagonal[i] = Mat3A::from_diagonal(Vec3A::splat(k as f32).into()) + air;
    }
    system.clear();
    energy += stretch(scene, rate, &ws.x, &ws.strain_before, &mut ws.gradient, system);
    let turns = &mut system.turns;
    bending::angles_and_turns(&scene.hinges, &ws.x, angles_before, &mut ws.angles, turns);
    energy += ws.bent_from.energy_and_moments(&scene.bending, &ws.angles, &mut ws.moments);
    for ((hinge, turn), moment) in scene.hinges.iter().zip(&system.turns).zip(&ws.moments) {
        let forces = turn.forces_exactly(*moment);
        for c in 0..4 {
            ws.gradient[hinge.v[c] as usize] += forces[c];
        }
    }
    let mut pressed = 0.0;
    for c in &ws.contacts {
        pressed += constraint::energy(c, &ws.x);
        if let Some((g, m)) = constraint::linearise(c, &ws.x) {
            for k in 0..4 {
                ws.gradient[c.v[k] as usize] += g * c.w[k];
            }
            system.add_contact(c, &m);
        }
    }
    (energy, pressed)
}

/// Adds stretch and shear to gradient and matrix, four triangles at once where it can; returns the energy.
fn stretch(
    scene: &Scene,
    rate: f64,
    x: &[DVec3],
    before: &[membrane::Strain],
    gradient: &mut [DVec3],
    system: &mut System,
) -> f64 {
    let mut energy = 0.0;
    let mut add = |t: usize, g: &[DVec3; 3], b: &[Mat3A; 6]| {
        for k in 0..3 {
            let v = scene.triangles[t][k] as usize;
            gradient[v] += g[k];
            system.diagonal[v] += b[k];
            let (e, reversed) = scene.triangle_edges[t][k];
            system.add_edge(e, reversed, &b[3 + k]);
        }
    };
    let mut four = Four::default();
    for (first, (els, before)) in scene.membrane.chunks(4).zip(before.chunks(4)).enumerate() {
        if let (Some(els), Some(before)) = (els.as_array(), before.as_array())
            && membrane_lanes::linearise(els, x, before, rate, &mut four)
        {
            energy += four.energy;
            for k in 0..4 {
                add(4 * first + k, &four.gradients[k], &four.blocks[k]);
            }
            continue;
        }
        for (k, (el, before)) in els.iter().zip(before).enumerate() {
            let (e, g, b) = membrane::linearise(el, x, *before, rate);
            energy += e;
            add(4 * first + k, &g, &b);
        }
    }
    energy
}

/// The potential at the iterate.
fn potential(scene: &Scene, settings: &Settings, angles_before: &[f64], ws: &mut Workspace) -> f64 {
    let rate = ws.bent_from.rate();
    let x = &ws.x;
    let mut energy = 0.0;
    for i in 0..scene.len() {
        let k = scene.mass[i] / (ws.beta[i] * ws.beta[i]);
        let wind = (x[i] - ws.base[i]) / ws.beta[i] - ws.air[i];
        energy += 0.5 * k * (x[i] - ws.predicted[i]).length_squared()
            - scene.mass[i] * settings.gravity.dot(x[i])
            + 0.5 * ws.beta[i] * wind.dot(ws.damping[i] * wind);
    }
    for (el, before) in scene.membrane.iter().zip(&ws.strain_before) {
        energy += membrane::energy(el, x, *before, rate);
    }
    bending::angles(&scene.hinges, x, angles_before, &mut ws.angles);
    energy += ws.bent_from.energy_and_moments(&scene.bending, &ws.angles, &mut ws.moments);
    for c in &ws.contacts {
        energy += constraint::energy(c, x);
    }
    energy
}

/// A move that has to lower the energy (Armijo), or be shortened.
struct Descent {
    energy: f64,
    slope: f64,
    share: f64,
    left: u32,
}

impl Descent {
    /// Whether the energy after the move is low enough, or shortening is at its end.
    fn falls(&self, after: f64) -> bool {
        // Sums of many terms carry rounding; a move that small is not refused for it.
        self.left == 0 || after <= self.energy + 1e-4 * self.share * self.slope + 1e-12 * self.energy.abs()
    }

    /// Halves the move from `x_try` to `x`.
    fn shorten(&mut self, ws: &mut Workspace) {
        self.left -= 1;
        self.share *= 0.5;
        for i in 0..ws.x.len() {
            ws.x[i] = ws.x_try[i] + ws.move_[i] * self.share;
        }
    }
}

/// Shorter steps, s, are not cut again because cloth would pass through cloth.
const LAST_CHANCE_SECS: f64 = 1.0 / 1200.0;
/// Share of its own motion in a step that Newton's iteration may leave undone.
const RESTLESS: f64 = 0.04;
/// Nothing is solved to less than this, m.
const FINEST_M: f64 = 1e-6;

/// How fast the cloth moves in itself: root-mean-square speed about its mean, m/s.
fn pace(scene: &Scene, state: &State) -> f64 {
    let mass: f64 = scene.mass.iter().sum();
    let mean = scene.mass.iter().zip(&state.v).map(|(m, v)| *v * *m).sum::<DVec3>() / mass;
    let sum: f64 = scene.mass.iter().zip(&state.v).map(|(m, v)| m * (*v - mean).length_squared()).sum();
    (sum / mass).sqrt()
}

/// Root of the mass-weighted mean square of the moves.
fn mean_move(scene: &Scene, moves: &[DVec3]) -> f64 {
    let (mut sum, mut mass) = (0.0, 0.0);
    for (m, p) in scene.mass.iter().zip(moves) {
        sum += m * p.length_squared();
        mass += m;
    }
    (sum / mass).sqrt()
}

/// The vertex that moves farthest and how far; not finite if any is not.
fn farthest(moves: &[DVec3]) -> (usize, f64) {
    let mut best = (0, 0.0);
    for (i, m) in moves.iter().enumerate() {
        let l = m.length_squared();
        if !l.is_finite() {
            return (i, f64::NAN);
        }
        if l > best.1 {
            best = (i, l);
        }
    }
    (best.0, best.1.sqrt())
}

/// Continuous check of cloth against cloth from the start of the step to its end.
///
/// At its `last` chance a step goes only as far as its vertices can, pinned or not: what is left of the way comes with the
/// next step. It may be nothing but the motion of all, but it never leaves a crossing.
fn keep_apart(
    scene: &Scene,
    state: &State,
    ws: &mut Workspace,
    found_within: f64,
    last: bool,
) -> Result<u32, Failure> {
    // Candidates were found for the guess; where the step ended farther from it than they allow for, anew.
    let strayed = (0..scene.len()).map(|i| ws.x[i].distance_squared(ws.guess[i])).fold(0.0, f64::max).sqrt();
    if strayed > 0.5 * found_within {
        ws.cloth.find(scene, &state.x, &ws.x, HELD_WITHIN_M);
    }
    ws.x_try.copy_from_slice(&ws.x);
    let mut held = 0;
    // Holding a pair back moves it, which may bring it to pairs that were not looked at: look again until quiet.
    for _ in 0..8 {
        let (more, clean) = ws.cloth.hold_back(scene, &state.x, &mut ws.x);
        held += more;
        if !clean {
            break;
        }
        if more == 0 {
            if held > 0 && !last && state.patience >= 1.0 && pressed_in(ws) {
                return Err(Failure { cause: PRESSED, vertex: 0 });
            }
            return Ok(held);
        }
        ws.cloth.find(scene, &state.x, &ws.x, HELD_WITHIN_M);
    }
    if !last {
        return Err(Failure { cause: "cloth passes through cloth", vertex: 0 });
    }
    // Towards where the solve wanted to be, before anything was held back.
    ws.cloth.find(scene, &state.x, &ws.x_try, 0.0);
    ws.x.copy_from_slice(&ws.x_try);
    ws.cloth.give_way(&state.x, &mut ws.x);
    Ok(scene.len() as u32)
}

/// Whether holding cloth back from cloth, from `x_try` to `x`, pushed any of it deeper into a body than it may be.
fn pressed_in(ws: &Workspace) -> bool {
    ws.contacts.iter().filter(|c| c.sample != constraint::NO_SAMPLE).any(|c| {
        let depth = c.depth(c.point(&ws.x)) - c.reach;
        depth > PRESSED_IN_M && depth > DEEPER_M + c.depth(c.point(&ws.x_try)) - c.reach
    })
}

/// Whether a step that stands on its own feet stretched cloth beyond what it can bear or pushed it into a body: few
/// iterations leave that when a knee strikes a hem. Smaller steps do better.
fn spoiled(scene: &Scene, settings: &Settings, ws: &Workspace) -> Result<(), Failure> {
    if let Some(limit) = settings.strain_limit {
        let most = BEARS * limit;
        for (el, before) in scene.membrane.iter().zip(&ws.strain_before) {
            let now = membrane::principal(el.strain(&ws.x));
            if now > most && now > membrane::principal(*before) + 0.2 * limit {
                return Err(Failure { cause: "overstretched", vertex: el.v[0] as usize });
            }
        }
    }
    // Vertices only: what lies between them yields at a shoulder's edge whatever the step. So does what is squeezed
    // between two limbs, the second of which presses softly.
    let keep = settings.skin_m + 0.5 * scene.fabric.thickness;
    let full = |c: &Contact| c.k >= settings.contact_stiffness * scene.samples[c.sample as usize].area;
    let vertex = |c: &&Contact| (c.sample as usize) < scene.len();
    for c in ws.contacts.iter().filter(vertex).filter(|c| full(c) && c.reach > 0.5 * keep) {
        let inside = c.depth(c.point(&ws.x)) - c.reach > INSIDE_M;
        if inside && !ws.contacts.iter().any(|other| other.sample == c.sample && other.n.dot(c.n) < 0.0) {
            return Err(Failure { cause: PRESSED, vertex: c.v[0] as usize });
        }
    }
    Ok(())
}

/// A cause that is a matter of looks.
const PRESSED: &str = "cloth is pressed into a body";
/// Shorter steps, s, are not cut again for how they look.
const FOR_LOOKS_SECS: f64 = 1.0 / 300.0;
/// Principal strain that a step may leave, in limits.
const BEARS: f64 = 2.8;
/// Depth in a body that a step may leave, m.
const INSIDE_M: f64 = 8e-4;

/// Pairs this near are looked for while cloth is held back from cloth, m.
const HELD_WITHIN_M: f64 = 2e-3;
/// Deeper than this in a body, m, and deeper by this than the solve left it, is a reason to take smaller steps.
const PRESSED_IN_M: f64 = 5e-4;
const DEEPER_M: f64 = 2e-4;

/// Takes the iterate as the new state.
fn take(scene: &Scene, h: f64, state: &mut State, ws: &mut Workspace, report: &mut StepReport) {
    let mut touching = std::mem::take(&mut state.touching);
    touching.fill(false);
    for g in &mut state.grips {
        g.touching = false;
    }
    for c in &ws.contacts {
        let y = c.point(&ws.x);
        let depth = c.depth(y);
        if c.sample != constraint::NO_SAMPLE {
            report.deepest_m = report.deepest_m.max(depth - c.reach);
            report.normal_impulse += h * c.k * depth.max(0.0);
            report.friction_impulse += h * c.limit.min(c.k_t * c.slide(y).length());
        }
        if depth <= 0.0 {
            continue;
        }
        for k in 0..4 {
            if c.w[k] != 0.0 {
                touching[c.v[k] as usize] = true;
            }
        }
        if c.sample == constraint::NO_SAMPLE {
            report.self_contacts += 1;
            continue;
        }
        report.body_contacts += 1;
        let grip = &mut state.grips[c.sample as usize];
        let force = c.k * depth;
        // One memory per sample: the contact that presses hardest keeps it, of those with friction if there are any.
        if grip.touching && (grip.rubs, grip.normal_force) > (c.friction > 0.0, force) {
            continue;
        }
        let mut stretch = c.slide(y);
        let most = c.friction * force / c.k_t;
        if stretch.length() > most {
            stretch *= most / stretch.length();
        }
        *grip = Grip {
            touching: true,
            rubs: c.friction > 0.0,
            stretch,
            normal_force: force,
            gap: c.reach - depth,
        };
    }
    std::mem::swap(&mut state.x_before, &mut state.x);
    std::mem::swap(&mut state.v_before, &mut state.v);
    for i in 0..scene.len() {
        let x = ws.x[i];
        state.x[i] = x;
        // A multi-step velocity would read an impact as a bounce.
        state.v[i] = if touching[i] { (x - state.x_before[i]) / h } else { (x - ws.base[i]) / ws.beta[i] };
    }
    bending::angles(&scene.hinges, &state.x, &state.angles, &mut ws.angles);
    std::mem::swap(&mut state.angles, &mut ws.angles);
    state.touching = touching;
    state.step_before_secs = h;
    state.secs += h;
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_lab::check;
    use toile_lab::cloths::{Pattern, lay, plain, rectangle};

    /// Two layers a millimetre apart whose pins press them through each other, so that nothing can hold them apart.
    fn pressed(last: bool) -> (Scene, State, Workspace, Result<u32, Failure>) {
        let settings = Settings::default();
        let (mesh, rest) = rectangle(0.1, 0.1, 3, 3, Pattern::Alternating);
        let n = mesh.positions.len();
        let mut both = mesh.clone();
        both.positions.extend(mesh.positions.iter().map(|p| *p + glam::Vec3::new(4e-3, 1e-3, 3e-3)));
        both.triangles.extend(mesh.triangles.iter().map(|t| t.map(|i| i + n as u32)));
        let rest: Vec<_> = rest.iter().chain(&rest).copied().collect();
        let mut scene = Scene::new(&both, &rest, &plain(), &settings).unwrap();
        scene.pinned.fill(true);
        let state = State::at_rest(lay(&both, 0.0), scene.samples.len(), scene.hinges.len());
        let mut ws = Workspace::new(&scene, &state.x);
        let way = |i: usize| DVec3::new(0.0, if i < n { 2e-3 } else { -2e-3 }, 0.0);
        ws.x = state.x.iter().enumerate().map(|(i, p)| *p + way(i)).collect();
        // Tilted, so that triangles cross instead of lying in each other.
        (0..n).for_each(|i| ws.x[i].y += 0.1 * ws.x[i].x);
        ws.guess.copy_from_slice(&ws.x);
        ws.cloth.find(&scene, &state.x, &ws.x, 8e-3);
        let outcome = keep_apart(&scene, &state, &mut ws, 8e-3, last);
        (scene, state, ws, outcome)
    }

    #[test]
    fn a_step_that_cannot_hold_layers_apart_is_cut_and_at_its_last_chance_goes_as_far_as_it_can() {
        let (_, _, _, outcome) = pressed(false);
        assert_eq!(outcome.unwrap_err().cause, "cloth passes through cloth");
        let (scene, state, ws, outcome) = pressed(true);
        assert!(outcome.is_ok());
        assert!(check::crossings(&scene.triangles, &scene.edges, &ws.x_try) > 0, "nothing to prevent");
        assert_eq!(check::crossings(&scene.triangles, &scene.edges, &ws.x), 0);
        let moved = ws.x.iter().zip(&state.x).map(|(p, q)| p.distance(*q)).fold(0.0, f64::max);
        assert!(moved > 1e-5, "it may go {moved} m");
    }

    #[test]
    fn a_step_that_overstretches_cloth_is_cut_unless_it_came_so() {
        let settings = Settings::worn();
        let (mesh, rest) = rectangle(0.1, 0.1, 3, 3, Pattern::Alternating);
        let scene = Scene::new(&mesh, &rest, &plain(), &settings).unwrap();
        let state = State::at_rest(lay(&mesh, 0.0), scene.samples.len(), scene.hinges.len());
        let mut ws = Workspace::new(&scene, &state.x);
        let stretched = |by: f64| state.x.iter().map(|p| *p * DVec3::new(1.0 + by, 1.0, 1.0)).collect();
        ws.x = stretched(0.08);
        assert_eq!(spoiled(&scene, &settings, &ws), Ok(()));
        ws.x = stretched(0.12);
        assert_eq!(spoiled(&scene, &settings, &ws).unwrap_err().cause, "overstretched");
        for (el, before) in scene.membrane.iter().zip(&mut ws.strain_before) {
            *before = el.strain(&ws.x);
        }
        assert_eq!(spoiled(&scene, &settings, &ws), Ok(()));
        assert_eq!(spoiled(&scene, &Settings::default(), &ws), Ok(()));
    }
}
