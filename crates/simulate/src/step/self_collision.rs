//! Nothing passes through itself: the way from the start of a step to its end is checked, and shortened where it must be.

use super::Workspace;
use super::failure::{Cause, Failure};
use super::retry::{DEEPER_M, HELD_WITHIN_M, PRESSED_IN_M};
use crate::contact::constraint;
use crate::scene::Scene;
use crate::state::State;

/// Pairs that come nearer than this in a step are its candidates, m: twice the thickness beyond where they touch, and a
/// millimetre for what Newton moves.
pub(super) fn near(scene: &Scene) -> f64 {
    3.0 * scene.fabric.thickness + 1e-3
}

/// Continuous check of cloth against cloth from the start of the step to its end.
///
/// At its `last` chance a step goes only as far as its vertices can, pinned or not: what is left of the way comes with the
/// next step. It may be nothing but the motion of all, but it never leaves a crossing.
pub(super) fn keep_apart(
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
            if held > 0 && !last && state.retry_budget.allows() && pressed_in(ws) {
                return Err(Failure { cause: Cause::PressedIn, vertex: 0 });
            }
            return Ok(held);
        }
        ws.cloth.find(scene, &state.x, &ws.x, HELD_WITHIN_M);
    }
    if !last {
        return Err(Failure { cause: Cause::PassesThrough, vertex: 0 });
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;
    use glam::DVec3;
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
        assert_eq!(outcome.unwrap_err().cause, Cause::PassesThrough);
        let (scene, state, ws, outcome) = pressed(true);
        assert!(outcome.is_ok());
        assert!(check::crossings(&scene.triangles, &scene.edges, &ws.x_try) > 0, "nothing to prevent");
        assert_eq!(check::crossings(&scene.triangles, &scene.edges, &ws.x), 0);
        let moved = ws.x.iter().zip(&state.x).map(|(p, q)| p.distance(*q)).fold(0.0, f64::max);
        assert!(moved > 1e-5, "it may go {moved} m");
    }
}
