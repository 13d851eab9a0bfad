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
use crate::energy::membrane::Curvature;
use crate::energy::{air, bending, membrane};
use crate::report::StepReport;
use crate::scene::Scene;
use crate::settings::{Integrator, Settings};
use crate::solve::{pcg, system::System};
use crate::state::{Grip, State};
use glam::{DMat3, DVec3};

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
    gradient: Vec<DVec3>,
    move_: Vec<DVec3>,
    base: Vec<DVec3>,
    predicted: Vec<DVec3>,
    beta: Vec<f64>,
    damping: Vec<DMat3>,
    strain_before: Vec<membrane::Strain>,
    angles: Vec<f64>,
    angles_before: Vec<f64>,
    moments: Vec<f64>,
    pub(crate) surfaces: SurfaceContacts,
    contacts: Vec<Contact>,
    system: System,
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
            damping: vec![DMat3::ZERO; n],
            strain_before: vec![[0.0; 3]; scene.triangles.len()],
            angles: vec![0.0; scene.hinges.len()],
            angles_before: vec![0.0; scene.hinges.len()],
            moments: vec![0.0; scene.hinges.len()],
            surfaces: SurfaceContacts::new(scene),
            contacts: Vec::new(),
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
}

/// Advances `state` by `h` seconds, or leaves it as it was.
pub fn substep(
    scene: &Scene,
    obstacles: &Obstacles<'_>,
    settings: &Settings,
    h: f64,
    state: &mut State,
    ws: &mut Workspace,
) -> Result<StepReport, Failure> {
    let mut report = StepReport { substeps: 1, ..StepReport::default() };
    predict(scene, settings, h, state, ws);
    start_dissipation(scene, settings, h, state, ws);

    // The guess is free flight with the pins where they will be.
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
    let mut moved = f64::INFINITY;
    let mut worst = 0;
    for iteration in 0..settings.max_newton {
        find_contacts(scene, obstacles, settings, h, state, ws, iteration == 0);
        let energy = linearise(scene, settings, rate, ws);
        if let Some(vertex) = ws.gradient.iter().position(|g| !g.is_finite()) {
            return Err(Failure { cause: "not finite", vertex });
        }
        ws.system.prepare(scene);
        let steps = pcg::solve(
            &mut ws.system,
            scene,
            &ws.gradient,
            &mut ws.move_,
            settings.linear_tolerance,
            settings.max_linear,
            &mut ws.vectors,
        );
        report.linear += steps as u32;
        report.newton += 1;

        let slope: f64 = ws.gradient.iter().zip(&ws.move_).map(|(g, p)| g.dot(*p)).sum();
        let share = line_search(scene, settings, rate, energy, slope, ws);
        (worst, moved) = farthest(&ws.move_);
        moved *= share;
        let mean = share * mean_move(scene, &ws.move_);
        if !moved.is_finite() {
            return Err(Failure { cause: "not finite", vertex: worst });
        }
        std::mem::swap(&mut ws.x, &mut ws.x_try);
        // A vertex or two that chatter between two contacts do not hold up the rest.
        if mean < settings.tolerance_m && moved < 25.0 * settings.tolerance_m {
            break;
        }
    }
    report.residual_m = moved;
    if moved > settings.retry_m {
        return Err(Failure { cause: "no convergence", vertex: worst });
    }

    if settings.self_contact {
        report.held_back = keep_apart(scene, state, ws, reach + margin)?;
    }
    take(scene, h, state, ws, &mut report);
    Ok(report)
}

/// `[(1+ω)²/(1+2ω), ω²/(1+2ω), β]` for a step of `h` that is ω times the one before.
pub(crate) fn coefficients(h: f64, w: f64) -> [f64; 3] {
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
    ws.angles_before.copy_from_slice(&state.angles);
    ws.damping.fill(DMat3::ZERO);
    let half_density_drag = 0.5 * settings.air_density * scene.fabric.drag;
    if half_density_drag > 0.0 {
        // Velocities and places as they will be at the end of the step: taken from its start, the lag alone would
        // damp a swing by a few per cent.
        let ahead = if state.step_before_secs > 0.0 { h / state.step_before_secs } else { 0.0 };
        for i in 0..scene.len() {
            ws.move_[i] = state.v[i] + (state.v[i] - state.v_before[i]) * ahead;
            ws.x_try[i] = state.x[i] + state.v[i] * h;
        }
        for t in &scene.triangles {
            air::add_damping(*t, &ws.x_try, &ws.move_, settings.wind, half_density_drag, &mut ws.damping);
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
    first: bool,
) {
    let moment = surfaces::Moment { scene, obstacles, settings, state, h };
    if first {
        ws.surfaces.find(&moment, &ws.x);
    } else {
        ws.surfaces.refresh(&moment, &ws.x);
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

/// Energy, gradient and Newton matrix at the iterate.
fn linearise(scene: &Scene, settings: &Settings, rate: f64, ws: &mut Workspace) -> f64 {
    let mut energy = 0.0;
    let system = &mut ws.system;
    system.bending_scale = 1.0 + rate;
    for i in 0..scene.len() {
        let k = scene.mass[i] / (ws.beta[i] * ws.beta[i]);
        let d = ws.x[i] - ws.predicted[i];
        let wind = (ws.x[i] - ws.base[i]) / ws.beta[i] - settings.wind;
        let drag = ws.damping[i] * wind;
        energy += 0.5 * k * d.length_squared() - scene.mass[i] * settings.gravity.dot(ws.x[i])
            + 0.5 * ws.beta[i] * wind.dot(drag);
        ws.gradient[i] = d * k - settings.gravity * scene.mass[i] + drag;
        system.diagonal[i] = DMat3::from_diagonal(DVec3::splat(k)) + ws.damping[i] * (1.0 / ws.beta[i]);
    }
    system.edges.fill(DMat3::ZERO);
    for (t, el) in scene.membrane.iter().enumerate() {
        let before = ws.strain_before[t];
        energy += membrane::energy(el, &ws.x, before, rate);
        let (g, b) = membrane::gradient_and_hessian(el, &ws.x, before, rate, Curvature::Projected);
        for k in 0..3 {
            let v = el.v[k] as usize;
            ws.gradient[v] += g[k];
            system.diagonal[v] += b[k];
            let (e, reversed) = scene.triangle_edges[t][k];
            system.edges[e as usize] += if reversed { b[3 + k].transpose() } else { b[3 + k] };
        }
    }
    for (k, hinge) in scene.hinges.iter().enumerate() {
        let (theta, g) = bending::angle_and_gradient(hinge, &ws.x, ws.angles_before[k]);
        ws.angles[k] = theta;
        system.angle_gradients[k] = g;
    }
    let (now, rest, before) = (&ws.angles, &scene.rest_angles, &ws.angles_before);
    energy += bending::energy(&scene.bending, now, rest, before, rate);
    bending::moments(&scene.bending, now, rest, before, rate, &mut ws.moments);
    for (k, hinge) in scene.hinges.iter().enumerate() {
        for c in 0..4 {
            ws.gradient[hinge.v[c] as usize] += system.angle_gradients[k][c] * ws.moments[k];
        }
    }
    ws.system.contacts.clear();
    for c in &mut ws.contacts {
        energy += constraint::energy(c, &ws.x);
        if let Some(g) = constraint::linearise(c, &ws.x) {
            for k in 0..4 {
                ws.gradient[c.v[k] as usize] += g * c.w[k];
            }
            ws.system.contacts.push(*c);
        }
    }
    energy
}

/// The potential at the trial point.
fn potential(scene: &Scene, settings: &Settings, rate: f64, ws: &mut Workspace) -> f64 {
    let x = &ws.x_try;
    let mut energy = 0.0;
    for i in 0..scene.len() {
        let k = scene.mass[i] / (ws.beta[i] * ws.beta[i]);
        let wind = (x[i] - ws.base[i]) / ws.beta[i] - settings.wind;
        energy += 0.5 * k * (x[i] - ws.predicted[i]).length_squared()
            - scene.mass[i] * settings.gravity.dot(x[i])
            + 0.5 * ws.beta[i] * wind.dot(ws.damping[i] * wind);
    }
    for (el, before) in scene.membrane.iter().zip(&ws.strain_before) {
        energy += membrane::energy(el, x, *before, rate);
    }
    for (k, hinge) in scene.hinges.iter().enumerate() {
        ws.angles[k] = bending::angle(hinge, x, ws.angles_before[k]);
    }
    energy += bending::energy(&scene.bending, &ws.angles, &scene.rest_angles, &ws.angles_before, rate);
    for c in &ws.contacts {
        energy += constraint::energy(c, x);
    }
    energy
}

/// Backtracks along the Newton move until the potential falls (Armijo). Leaves the point in `x_try` and returns
/// the share of the move that was taken.
fn line_search(
    scene: &Scene,
    settings: &Settings,
    rate: f64,
    energy: f64,
    slope: f64,
    ws: &mut Workspace,
) -> f64 {
    let mut share = 1.0;
    for _ in 0..12 {
        for i in 0..scene.len() {
            ws.x_try[i] = ws.x[i] + ws.move_[i] * share;
        }
        let after = potential(scene, settings, rate, ws);
        // Sums of many terms carry rounding; a move that small is not refused for it.
        if after <= energy + 1e-4 * share * slope + 1e-12 * energy.abs() {
            break;
        }
        share *= 0.5;
    }
    share
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
fn keep_apart(scene: &Scene, state: &State, ws: &mut Workspace, found_within: f64) -> Result<u32, Failure> {
    // Candidates were found for the guess; where the step ended farther from it than they allow for, anew.
    let strayed = (0..scene.len()).map(|i| ws.x[i].distance_squared(ws.guess[i])).fold(0.0, f64::max).sqrt();
    if strayed > 0.5 * found_within {
        ws.cloth.find(scene, &state.x, &ws.x, 2e-3);
    }
    let mut held = 0;
    // Holding a pair back moves it, which may bring it to pairs that were not looked at: look again until quiet.
    for _ in 0..5 {
        let (more, clean) = ws.cloth.hold_back(scene, &state.x, &mut ws.x);
        held += more;
        if !clean {
            return Err(Failure { cause: "cloth passes through cloth", vertex: 0 });
        }
        if more == 0 {
            return Ok(held);
        }
        ws.cloth.find(scene, &state.x, &ws.x, 2e-3);
    }
    ws.cloth.suspect = true;
    Ok(held)
}

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
        // One memory per sample: the contact that presses hardest keeps it.
        if grip.touching && grip.normal_force > force {
            continue;
        }
        let mut stretch = c.slide(y);
        let most = c.friction * force / c.k_t;
        if stretch.length() > most {
            stretch *= most / stretch.length();
        }
        *grip = Grip { touching: true, stretch, normal_force: force, gap: c.reach - depth };
    }
    std::mem::swap(&mut state.x_before, &mut state.x);
    std::mem::swap(&mut state.v_before, &mut state.v);
    for i in 0..scene.len() {
        let x = ws.x[i];
        state.x[i] = x;
        // A multi-step velocity would read an impact as a bounce.
        state.v[i] = if touching[i] { (x - state.x_before[i]) / h } else { (x - ws.base[i]) / ws.beta[i] };
    }
    for (k, hinge) in scene.hinges.iter().enumerate() {
        state.angles[k] = bending::angle(hinge, &state.x, ws.angles_before[k]);
    }
    state.touching = touching;
    state.step_before_secs = h;
    state.secs += h;
}
