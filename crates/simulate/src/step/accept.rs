//! Whether a step that was solved is good enough to be taken.

use super::Workspace;
use super::failure::{Cause, Failure};
use super::retry::{BEARS, INSIDE_M};
use crate::contact::constraint::Contact;
use crate::energy::membrane;
use crate::scene::Scene;
use crate::settings::Settings;

/// Whether a step that stands on its own feet stretched cloth beyond what it can bear or pushed it into a body: few
/// iterations leave that when a knee strikes a hem. Smaller steps do better.
pub(super) fn spoiled(scene: &Scene, settings: &Settings, ws: &Workspace) -> Result<(), Failure> {
    if let Some(limit) = settings.strain_limit {
        let most = BEARS * limit;
        for (el, before) in scene.membrane.iter().zip(&ws.strain_before) {
            let now = membrane::principal(el.strain(&ws.x));
            if now > most && now > membrane::principal(*before) + 0.2 * limit {
                return Err(Failure { cause: Cause::Overstretched, vertex: el.v[0] as usize });
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
            return Err(Failure { cause: Cause::PressedIn, vertex: c.v[0] as usize });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::State;
    use glam::DVec3;
    use toile_lab::cloths::{Pattern, lay, plain, rectangle};

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
        assert_eq!(spoiled(&scene, &settings, &ws).unwrap_err().cause, Cause::Overstretched);
        for (el, before) in scene.membrane.iter().zip(&mut ws.strain_before) {
            *before = el.strain(&ws.x);
        }
        assert_eq!(spoiled(&scene, &settings, &ws), Ok(()));
        assert_eq!(spoiled(&scene, &Settings::default(), &ws), Ok(()));
    }
}
