//! Nothing passes through itself: the way from the start of a step to its end is checked, and shortened where it must be.

use super::Workspace;
use super::failure::{Cause, Failure};
use super::newton;
use super::retry::{HARD_FOR, HARDENINGS, HARDER, LAST_CHANCE_SECS};
use crate::contact::surfaces::StepContext;
use crate::report::StepReport;
use crate::scene::Scene;
use crate::settings::Settings;
use crate::state::State;

/// Pairs that come nearer than this in a step are its candidates, m: twice the thickness beyond where they touch, and a
/// millimetre for what Newton moves.
pub(crate) fn near(scene: &Scene) -> f64 {
    3.0 * scene.fabric.thickness + 1e-3
}

/// Minimises, checks cloth against cloth continuously from the start of the step to its end, and where it would pass through
/// itself minimises on with harder contacts there. So what keeps cloth apart is part of the solve, and what it does to
/// strain is too.
///
/// At its last chance a step goes only as far as its vertices can, pinned or not: what is left of the way comes with the
/// next step. It may be nothing but the motion of all, but it never leaves a crossing. Where the harder contacts of a step that
/// cannot be halved any more are too hard to be solved for, it goes as far as it can towards where it would go without them.
pub(super) fn minimise_apart(
    now: &StepContext<'_>,
    ws: &mut Workspace,
    report: &mut StepReport,
) -> Result<(), Failure> {
    let StepContext { scene, settings, state, h, .. } = *now;
    if !settings.self_contact {
        return newton::minimise(now, ws, report);
    }
    let near = near(scene);
    ws.cloth.find(scene, &state.x, &ws.x, near);
    for _ in 0..HARDENINGS {
        if let Err(failure) = newton::minimise(now, ws, report) {
            // What is pinched in many folds may have become too hard to be solved for, and no shorter step helps.
            if !is_shortest(settings, h) || failure.cause != Cause::NoConvergence || ws.cloth.soften() == 0 {
                return Err(failure);
            }
            ws.x.copy_from_slice(&ws.guess);
            newton::minimise(now, ws, report)?;
            break;
        }
        if stay_apart(scene, state, ws, near) {
            ws.cloth.remember_hard(HARD_FOR);
            return Ok(());
        }
        report.hardened += 1;
    }
    if h >= LAST_CHANCE_SECS {
        return Err(Failure { cause: Cause::PassesThrough, vertex: 0 });
    }
    ws.cloth.find(scene, &state.x, &ws.x, 0.0);
    ws.cloth.give_way(&state.x, &mut ws.x);
    report.held_back = scene.len() as u32;
    Ok(())
}

/// Whether a step cannot be halved any more.
fn is_shortest(settings: &Settings, h: f64) -> bool {
    h < 1.5 * settings.shortest_secs()
}

/// Whether cloth does not pass through itself from the start of the step to where it is now. Where it does, contacts are made
/// harder.
fn stay_apart(scene: &Scene, state: &State, ws: &mut Workspace, near: f64) -> bool {
    // Candidates were found for the guess; where the step ended farther from it than they allow for, anew.
    let strayed = (0..scene.len()).map(|i| ws.x[i].distance_squared(ws.guess[i])).fold(0.0, f64::max).sqrt();
    if strayed > 0.5 * near {
        ws.cloth.find(scene, &state.x, &ws.x, near);
        ws.guess.copy_from_slice(&ws.x);
    }
    ws.cloth.harden(&state.x, &ws.guess, &ws.x, HARDER) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::air::Air;
    use crate::step::{Obstacles, substep};
    use glam::{DVec3, Vec3};
    use toile_lab::check;
    use toile_lab::cloths::{Pattern, lay, plain, rectangle};

    /// Two layers a millimetre apart, the upper one tilted and shifted so that they do not lie in each other.
    fn layers(settings: &Settings) -> (Scene, State, usize) {
        let (mesh, rest) = rectangle(0.1, 0.1, 3, 3, Pattern::Alternating);
        let n = mesh.positions.len();
        let mut both = mesh.clone();
        let above = |p: &Vec3| *p + Vec3::new(4e-3, 1e-3, 3e-3);
        both.positions.extend(mesh.positions.iter().map(above));
        both.triangles.extend(mesh.triangles.iter().map(|t| t.map(|i| i + n as u32)));
        let rest: Vec<_> = rest.iter().chain(&rest).copied().collect();
        let scene = Scene::new(&both, &rest, &plain(), settings).unwrap();
        let mut x = lay(&both, 0.0);
        x[n..].iter_mut().for_each(|p| p.y += 0.01 * p.x.abs());
        let state = State::at_rest(x, scene.samples.len(), scene.hinges.len());
        (scene, state, n)
    }

    fn take(
        scene: &Scene,
        settings: &Settings,
        pins: &[(u32, DVec3)],
        h: f64,
        state: &mut State,
    ) -> Result<StepReport, Failure> {
        let mut ws = Workspace::new(scene, &state.x);
        let air = Air { wind: DVec3::ZERO, wearer: DVec3::ZERO, carried: &[] };
        let obstacles = Obstacles { body: None, pins, leashes: &[], shares: (0.0, 1.0), air };
        substep(scene, &obstacles, settings, h, state, &mut ws)
    }

    #[test]
    fn layers_thrown_at_each_other_are_kept_apart_by_the_solve() {
        // So soft that the usual contact stops nothing.
        let settings =
            Settings::default().with(|s| (s.gravity, s.self_contact_stiffness) = (DVec3::ZERO, 500.0));
        let (scene, mut state, n) = layers(&settings);
        let across = DVec3::Y;
        state.v[..n].fill(across * 4.0);
        let mut solved_again = 0;
        for _ in 0..4 {
            let report = take(&scene, &settings, &[], 1.0 / 240.0, &mut state).unwrap();
            assert_eq!(report.held_back, 0);
            solved_again += report.hardened;
        }
        assert!(solved_again > 0, "nothing to prevent");
        assert_eq!(check::crossings(&scene.triangles, &scene.edges, &state.x), 0);
        assert!(across.dot(state.x[n] - state.x[0]) > 0.0, "they changed sides");
        assert!(scene.max_stretch(&state.x) < 0.02, "{}", scene.max_stretch(&state.x));
    }

    #[test]
    fn a_step_that_cannot_hold_layers_apart_is_cut_and_at_its_last_chance_goes_as_far_as_it_can() {
        let settings = Settings::default();
        let (mut scene, mut state, n) = layers(&settings);
        scene.pinned.fill(true);
        let across = DVec3::Y;
        let wanted = |i: usize| state.x[i] + across * if i < n { 4e-3 } else { -4e-3 };
        let pins: Vec<_> = (0..scene.len()).map(|i| (i as u32, wanted(i))).collect();
        let to: Vec<_> = pins.iter().map(|(_, p)| *p).collect();
        assert!(across.dot(to[n] - to[0]) < 0.0, "nothing to prevent");
        let before = state.x.clone();
        let failure = take(&scene, &settings, &pins, 1.0 / 240.0, &mut state).unwrap_err();
        assert_eq!((failure.cause, &state.x), (Cause::PassesThrough, &before));
        let report = take(&scene, &settings, &pins, 0.9 * LAST_CHANCE_SECS, &mut state).unwrap();
        assert!(report.held_back > 0);
        assert!((0..n).all(|i| across.dot(state.x[n + i] - state.x[i]) > 0.0));
        let moved = state.x.iter().zip(&before).map(|(p, q)| p.distance(*q)).fold(0.0, f64::max);
        assert!(moved > 1e-5, "it may go {moved} m");
    }

    #[test]
    fn contacts_too_hard_to_be_solved_for_do_not_stop_the_shortest_step() {
        let settings = Settings::worn().with(|s| s.gravity = DVec3::ZERO);
        let (scene, mut state, n) = layers(&settings);
        let across = DVec3::Y;
        state.v[..n].fill(across * 8.0);
        // Every pair of vertex and triangle as hard as a dozen steps of pinching make it.
        let mut ws = Workspace::new(&scene, &state.x);
        ws.cloth.find(&scene, &state.x, &state.x, 0.02);
        state.hard = ws.cloth.candidates.iter().map(|c| (c.v, 1e15)).collect();
        state.hard.sort_unstable_by_key(|(v, _)| *v);
        let before = state.clone();
        let longer = take(&scene, &settings, &[], 2.0 * settings.shortest_secs(), &mut state);
        assert_eq!(longer.unwrap_err().cause, Cause::NoConvergence, "nothing to prevent");
        state = before;
        take(&scene, &settings, &[], settings.shortest_secs(), &mut state).unwrap();
        assert_eq!(check::crossings(&scene.triangles, &scene.edges, &state.x), 0);
    }
}
