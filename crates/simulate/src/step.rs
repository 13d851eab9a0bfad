//! One substep, top to bottom: predict, find contacts, minimise the incremental potential by Newton's method,
//! make sure nothing passed through anything, take the new state.
//!
//! The potential is `Σ m/2β² |x − x̂|² + V(x)` (Hahn 2014 eq. 1). For implicit Euler `β = h`, `x̂ = x_t + h v_t`.
//! For BDF2 with step ratio ω: `β = h(1+ω)/(1+2ω)`, `x̃ = ((1+ω)² x_t − ω² x_{t−1})/(1+2ω)`, likewise `ṽ`, and
//! `x̂ = x̃ + β ṽ`, `v = (x − x̃)/β`. ω = 0 is implicit Euler, so the two differ vertex by vertex where needed.

use crate::contact::body::BodySurface;
use crate::contact::cloth::ClothContact;
use crate::contact::constraint::{self, Contact};
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
    /// Samples near the body in this step and the triangle last found nearest.
    near: Vec<u32>,
    seeds: Vec<u32>,
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
            near: Vec::new(),
            seeds: vec![u32::MAX; scene.samples.len()],
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
    start_dissipation(scene, settings, state, ws);

    // The guess is free flight with the pins where they will be.
    for i in 0..scene.len() {
        ws.x[i] = state.x[i] + state.v[i] * h;
    }
    for &(v, p) in obstacles.pins {
        ws.x[v as usize] = p;
    }

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
        if std::env::var("DBG").is_ok() {
            eprintln!(
                "h {h:.5} it {iteration} lin {steps} moved {moved:.2e} at {worst} share {share} slope {slope:.2e} E {energy:.4e} contacts {} active {}",
                ws.contacts.len(),
                ws.system.contacts.len()
            );
        }
        if !moved.is_finite() {
            return Err(Failure { cause: "not finite", vertex: worst });
        }
        std::mem::swap(&mut ws.x, &mut ws.x_try);
        if moved < settings.tolerance_m {
            break;
        }
    }
    report.residual_m = moved;
    // Ten tolerances off is cloth that still settles by a hair; beyond that a smaller step is cheaper than a lie.
    if moved > 25.0 * settings.tolerance_m {
        return Err(Failure { cause: "no convergence", vertex: worst });
    }

    if settings.self_contact {
        report.held_back = keep_apart(scene, state, ws)?;
    }
    take(scene, h, state, ws, &mut report);
    Ok(report)
}

/// Coefficients and targets of the integrator for every vertex.
fn predict(scene: &Scene, settings: &Settings, h: f64, state: &State, ws: &mut Workspace) {
    let bdf2 = settings.integrator == Integrator::Bdf2 && state.step_before_secs > 0.0;
    let ratio = if bdf2 { h / state.step_before_secs } else { 0.0 };
    for i in 0..scene.len() {
        let w = if state.touching[i] { 0.0 } else { ratio };
        let d = 1.0 / (1.0 + 2.0 * w);
        let (now, before) = ((1.0 + w) * (1.0 + w) * d, w * w * d);
        let beta = h * (1.0 + w) * d;
        ws.beta[i] = beta;
        ws.base[i] = state.x[i] * now - state.x_before[i] * before;
        let v = state.v[i] * now - state.v_before[i] * before;
        ws.predicted[i] = ws.base[i] + v * beta;
    }
}

/// Strains and angles that the strain-rate damping measures from, and the air's resistance.
fn start_dissipation(scene: &Scene, settings: &Settings, state: &State, ws: &mut Workspace) {
    for (el, s) in scene.membrane.iter().zip(&mut ws.strain_before) {
        *s = el.strain(&state.x);
    }
    ws.angles_before.copy_from_slice(&state.angles);
    ws.damping.fill(DMat3::ZERO);
    let half_density_drag = 0.5 * settings.air_density * scene.fabric.drag;
    if half_density_drag > 0.0 {
        for t in &scene.triangles {
            air::add_damping(*t, &state.x, &state.v, settings.wind, half_density_drag, &mut ws.damping);
        }
    }
}

/// Contacts at the current iterate. The first iteration looks everywhere, later ones where something was near.
fn find_contacts(
    scene: &Scene,
    obstacles: &Obstacles<'_>,
    settings: &Settings,
    h: f64,
    state: &State,
    ws: &mut Workspace,
    first: bool,
) {
    ws.contacts.clear();
    let keep = settings.skin_m + 0.5 * scene.fabric.thickness;
    if let Some(body) = obstacles.body {
        if first {
            ws.near.clear();
            ws.near.extend(0..scene.samples.len() as u32);
        }
        let mut kept = 0;
        for n in 0..ws.near.len() {
            let s = ws.near[n] as usize;
            let (y, y0) = (scene.samples[s].point(&ws.x), scene.samples[s].point(&state.x));
            // Deep enough for fast limbs, shallow enough not to see through a wrist to its other side.
            let radius = if state.grips[s].touching { 0.06 } else { 0.03 };
            let seed = (ws.seeds[s] != u32::MAX).then_some(ws.seeds[s]);
            let Some(near) = body.nearest(y, radius, seed) else {
                ws.seeds[s] = u32::MAX;
                continue;
            };
            ws.seeds[s] = near.triangle;
            if (y - near.point).dot(near.normal) > keep + 0.01 {
                continue;
            }
            ws.near[kept] = s as u32;
            kept += 1;
            let motion = body.motion(&near);
            let contact = sample_contact(
                scene,
                settings,
                h,
                state,
                s,
                y,
                y0,
                near.point,
                near.normal,
                motion,
                scene.fabric.friction,
                first,
            );
            ws.contacts.push(contact);
        }
        ws.near.truncate(kept);
    }
    for collider in &scene.colliders {
        let (from, to) = (collider.world_from_local_before, collider.world_from_local);
        let moving = from != to;
        let at = |share: f64| if moving { blend(&from, &to, share) } else { to };
        let (start, end) = (at(obstacles.shares.0), at(obstacles.shares.1));
        let local_from_end = end.inverse();
        for s in 0..scene.samples.len() {
            let y = scene.samples[s].point(&ws.x);
            let local = local_from_end.transform_point3(y);
            let (d, n) = collider.shape.distance(local);
            if d > keep + 0.01 {
                continue;
            }
            let n = end.transform_vector3(n);
            let p = y - n * d;
            let motion = if moving {
                p - start.transform_point3(local_from_end.transform_point3(p))
            } else {
                DVec3::ZERO
            };
            let y0 = scene.samples[s].point(&state.x);
            let friction = collider.friction.unwrap_or(scene.fabric.friction);
            ws.contacts
                .push(sample_contact(scene, settings, h, state, s, y, y0, p, n, motion, friction, first));
        }
    }
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

/// Entry-wise blend of two nearby rigid transforms.
fn blend(a: &glam::DAffine3, b: &glam::DAffine3, share: f64) -> glam::DAffine3 {
    let (_, qa, ta) = a.to_scale_rotation_translation();
    let (_, qb, tb) = b.to_scale_rotation_translation();
    glam::DAffine3::from_rotation_translation(qa.slerp(qb, share), ta.lerp(tb, share))
}

/// The contact of a sample at `y` (at `y0` when the step began) with the surface point `p`, which moved by `motion`.
fn sample_contact(
    scene: &Scene,
    settings: &Settings,
    h: f64,
    state: &State,
    s: usize,
    y: DVec3,
    y0: DVec3,
    p: DVec3,
    n: DVec3,
    motion: DVec3,
    friction: f64,
    first: bool,
) -> Contact {
    let sample = &scene.samples[s];
    let grip = &state.grips[s];
    let keep = settings.skin_m + 0.5 * scene.fabric.thickness;
    // Cloth that begins inside comes out at a limited speed, so that a bad start is not an explosion.
    let gap_start = n.dot(y0 + motion - p);
    let reach = keep.min(gap_start + settings.recovery_speed * h);
    let k = settings.contact_stiffness * sample.area;
    let offset = n.dot(p) + reach;
    let depth = offset - n.dot(y);
    let normal_force = if first && grip.touching { grip.normal_force } else { k * depth.max(0.0) };
    let held = if grip.touching { grip.stretch } else { DVec3::ZERO };
    Contact {
        v: [sample.v[0], sample.v[1], sample.v[2], sample.v[0]],
        w: [sample.w[0], sample.w[1], sample.w[2], 0.0],
        n,
        offset,
        reach,
        k,
        anchor: y0 + motion - held,
        k_t: 0.5 * k,
        friction,
        limit: friction * normal_force,
        sample: s as u32,
        m: DMat3::ZERO,
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
fn keep_apart(scene: &Scene, state: &State, ws: &mut Workspace) -> Result<u32, Failure> {
    // Candidates were found for the guess; the step went elsewhere, so they are found anew.
    ws.cloth.find(scene, &state.x, &ws.x, 1e-4);
    let (held, clean) = ws.cloth.hold_back(scene, &state.x, &mut ws.x);
    if !clean {
        return Err(Failure { cause: "cloth passes through cloth", vertex: 0 });
    }
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
