//! Newton's method on the incremental potential.

use super::WorkingSet;
use super::Workspace;
use super::failure::{Cause, Failure};
use super::line_search::{Descent, bent, potential, pressed};
use crate::contact::constraint;
use crate::contact::surfaces::StepContext;
use crate::energy::air::Drag;
use crate::energy::leash::Leash;
use crate::energy::membrane_lanes::{self, Four};
use crate::energy::{bending, gravity, inertia, membrane};
use crate::report::StepReport;
use crate::scene::Scene;
use crate::settings::Settings;
use crate::solve::{pcg, system::System};
use crate::state::State;
use glam::{DVec3, Mat3A, Vec3A};

/// Goes from the guess in `ws.x` to the minimum, with the contacts of the last iterate in `ws.contacts`.
pub(super) fn minimise(
    now: &StepContext<'_>,
    ws: &mut Workspace,
    report: &mut StepReport,
) -> Result<(), Failure> {
    let StepContext { scene, settings, state, h, .. } = *now;
    let rate = scene.fabric.damping_secs / h;
    ws.bent_from.set(&scene.bending, &scene.rest_angles, &state.angles, rate, &mut ws.moments);
    // What is left undone comes back as speed: cloth that moves little is solved the more tightly, or it never rests.
    let pace = pace(scene, state);
    let tolerance = (pace * h * RESTLESS).max(FINEST_M).min(settings.tolerance_m);
    let mut moved = f64::INFINITY;
    let mut mean = f64::INFINITY;
    let mut worst = 0;
    let mut descent: Option<Descent> = None;
    ws.working.take_all(ws.system.order());
    for iteration in 0..settings.max_newton {
        let energy = loop {
            let before = pressed(&ws.judged, &ws.working, &ws.x);
            find_contacts(now, ws, iteration);
            let (inner, outer) = linearise(scene, settings, rate, &state.angles, ws);
            // The matrix at the new point gives its energy for nothing: the move is judged here, against the contacts
            // it was made for, and shortened if the energy rose.
            match &mut descent {
                Some(d) if !d.falls(inner + before) => d.shorten(ws),
                _ => break inner + outer,
            }
        };
        if let Some(vertex) = ws.gradient.iter().position(|g| !g.is_finite()) {
            return Err(Failure { cause: Cause::NotFinite, vertex });
        }
        ws.system.prepare(&scene.hinges, &scene.pinned, &ws.working);
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
            return Err(Failure { cause: Cause::NoConvergence, vertex: worst });
        };
        report.linear += steps as u32;
        report.newton += 1;
        let slope: f64 = ws.gradient.iter().zip(&ws.move_).map(|(g, p)| g.dot(*p)).sum();
        // The next iterate finds its own.
        std::mem::swap(&mut ws.judged, &mut ws.contacts);
        descent = Some(Descent::new(energy, slope));
        for (try_, (x, m)) in ws.x_try.iter_mut().zip(ws.x.iter().zip(&ws.move_)) {
            *try_ = *x + *m;
        }
        // From here on `x_try` is where the move began.
        std::mem::swap(&mut ws.x, &mut ws.x_try);

        (worst, moved) = farthest(&ws.move_);
        if !moved.is_finite() {
            return Err(Failure { cause: Cause::NotFinite, vertex: worst });
        }
        let before = std::mem::replace(&mut mean, mean_move(scene, &ws.move_, most(iteration) * tolerance));
        // The moves shrink by about the ratio of the last two: what is still to come is judged, not what was.
        let ahead = if before.is_finite() { (mean / before).min(1.0) } else { 1.0 };
        if mean * ahead < tolerance {
            descent = None;
            break;
        }
        let moving = match ws.system.bends() {
            true => None,
            false => ws.working.moving(scene, &ws.move_, STILL * tolerance),
        };
        if moving.is_some() || !ws.working.whole {
            // Another set has another energy: the move is judged here, over what it was made for.
            descent.take().iter_mut().for_each(|d| fall(now, ws, d));
            ws.working.take(scene, ws.system.order(), moving);
        }
    }
    if let Some(mut d) = descent {
        // Not converged: the last move has to fall too.
        fall(now, ws, &mut d);
        moved *= d.share;
    }
    std::mem::swap(&mut ws.judged, &mut ws.contacts);
    report.residual_m = moved;
    if moved > settings.retry_m {
        return Err(Failure { cause: Cause::NoConvergence, vertex: worst });
    }
    Ok(())
}

/// Shortens the last move until the energy falls, with the contacts it was made for.
fn fall(now: &StepContext<'_>, ws: &mut Workspace, descent: &mut Descent) {
    let StepContext { scene, settings, state, .. } = *now;
    std::mem::swap(&mut ws.judged, &mut ws.contacts);
    while !descent.falls(potential(scene, settings, &state.angles, ws)) {
        descent.shorten(ws);
    }
    std::mem::swap(&mut ws.judged, &mut ws.contacts);
}

/// Contacts at the current iterate: with bodies and rigid things, and of the cloth with itself.
fn find_contacts(now: &StepContext<'_>, ws: &mut Workspace, iteration: usize) {
    let StepContext { scene, settings, state, .. } = *now;
    if iteration == 0 {
        ws.surfaces.find(now, &ws.x);
    } else {
        ws.surfaces.refresh(now, &ws.x);
        ws.surfaces.find_strayed(now, &ws.x);
    }
    ws.contacts.clear();
    ws.contacts.extend_from_slice(&ws.surfaces.contacts);
    if settings.self_contact {
        ws.cloth.contacts(
            scene,
            &state.x,
            &ws.guess,
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
    let (system, set) = (&mut ws.system, &ws.working);
    system.bending_scale = (1.0 + rate) as f32;
    system.inertia = 0.0;
    let airy = settings.air_density > 0.0;
    for i in set.vertices.iter().map(|&v| v as usize) {
        let (mass, x) = (scene.mass[i], ws.x[i]);
        let k = inertia::stiffness(mass, ws.beta[i]);
        let mut own = inertia::energy(k, x, ws.predicted[i]) + gravity::energy(mass, settings.gravity, x);
        let mut slope = inertia::gradient(k, x, ws.predicted[i]) + gravity::gradient(mass, settings.gravity);
        system.inertia += 3.0 * k as f32;
        let mut block = Mat3A::from_diagonal(Vec3A::splat(k as f32).into());
        if airy {
            let drag = Drag { damping: ws.damping[i], air: ws.air[i], base: ws.base[i], beta: ws.beta[i] };
            own += drag.energy(x);
            slope += drag.gradient(x);
            block += Mat3A::from(drag.hessian().as_mat3());
        }
        energy += own;
        ws.gradient[i] = slope;
        system.diagonal[i] = block;
    }
    system.clear(set);
    energy += hold(&ws.leashes, set, &ws.x, &mut ws.gradient, system);
    energy += stretch(scene, set, rate, &ws.x, &ws.strain_before, &mut ws.gradient, system);
    let (hinges, turns) = (set.hinges.iter().copied(), &mut system.turns);
    bending::angles_and_turns(hinges, &scene.hinges, &ws.x, angles_before, &mut ws.angles, turns);
    energy += bent(scene, set, &ws.bent_from, &ws.angles, &mut ws.moments);
    for h in set.hinges.iter().map(|&h| h as usize) {
        let forces = system.turns[h].forces_exactly(ws.moments[h]);
        for c in 0..4 {
            ws.gradient[scene.hinges[h].v[c] as usize] += forces[c];
        }
    }
    let mut pressed = 0.0;
    for c in ws.contacts.iter().filter(|c| set.feels(&c.v)) {
        pressed += constraint::energy(c, &ws.x);
        if let Some((g, m)) = constraint::linearise(c, &ws.x) {
            for k in 0..4 {
                ws.gradient[c.v[k] as usize] += g * c.w[k];
            }
            system.add_contact(c, &m, set);
        }
    }
    (energy, pressed)
}

/// Adds painted limits to gradient and matrix; returns the energy.
fn hold(
    leashes: &[Leash],
    set: &WorkingSet,
    x: &[DVec3],
    gradient: &mut [DVec3],
    system: &mut System,
) -> f64 {
    let mut energy = 0.0;
    for leash in leashes.iter().filter(|l| set.has[l.vertex as usize]) {
        let v = leash.vertex as usize;
        if let Some((g, m)) = leash.linearise(x[v]) {
            energy += leash.energy(x[v]);
            gradient[v] += g;
            system.diagonal[v] += Mat3A::from(m.as_mat3());
        }
    }
    energy
}

/// Adds stretch and shear to gradient and matrix, four triangles at once where it can; returns the energy.
fn stretch(
    scene: &Scene,
    set: &WorkingSet,
    rate: f64,
    x: &[DVec3],
    before: &[membrane::Strain],
    gradient: &mut [DVec3],
    system: &mut System,
) -> f64 {
    let mut energy = 0.0;
    let mut add = |t: u32, g: &[DVec3; 3], b: &[Mat3A; 6]| {
        let t = t as usize;
        for k in 0..3 {
            let v = scene.triangles[t][k] as usize;
            gradient[v] += g[k];
            system.diagonal[v] += b[k];
            let (e, reversed) = scene.triangle_edges[t][k];
            system.add_edge(e, reversed, &b[3 + k]);
        }
    };
    let mut four = Four::default();
    for triangles in set.triangles.chunks(4) {
        let (el, before) = (|t: u32| &scene.membrane[t as usize], |t: u32| before[t as usize]);
        if let Some(four_of) = triangles.as_array::<4>()
            && membrane_lanes::linearise(four_of.map(el), x, four_of.map(before), rate, &mut four)
        {
            energy += four.energy;
            for (k, &t) in triangles.iter().enumerate() {
                add(t, &four.gradients[k], &four.blocks[k]);
            }
            continue;
        }
        for &t in triangles {
            let (e, g, b) = membrane::linearise(el(t), x, before(t), rate);
            energy += e;
            add(t, &g, &b);
        }
    }
    energy
}

/// What moves by less than this many times the tolerance, which is of all on average, is where it will be.
const STILL: f64 = 2.0;

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

/// Root of the mass-weighted mean square of the moves, of which none counts for more than `most`.
fn mean_move(scene: &Scene, moves: &[DVec3], most: f64) -> f64 {
    let (mut sum, mut mass) = (0.0, 0.0);
    for (m, p) in scene.mass.iter().zip(moves) {
        sum += m * p.length_squared().min(most * most);
        mass += m;
    }
    (sum / mass).sqrt()
}

/// How many times the tolerance a vertex counts for at most. The few that chatter between two contacts (one in six hundred)
/// do not hold up the rest; where more do, squeezed between limbs that leave no place for them, it is ever less.
fn most(iteration: usize) -> f64 {
    let share = (PATIENT / iteration.max(1) as f64).min(1.0);
    25.0 * share * share
}

/// Iterations before chattering vertices count for less.
const PATIENT: f64 = 8.0;

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
