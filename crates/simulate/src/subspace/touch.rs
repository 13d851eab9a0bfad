//! Contacts of a subspace step: the model of the full simulation, looked for less often.
//!
//! Bodies are asked once a step. Which pieces of cloth may meet each other is looked for every few steps, for as much room
//! as they may need until the next time; how near they are is measured in every step.

use crate::contact::cloth::ClothContact;
use crate::contact::constraint::{Contact, NO_SAMPLE};
use crate::contact::surfaces::{StepContext, SurfaceContacts};
use crate::scene::Scene;
use crate::state::State;
use crate::step::{near, remember};
use glam::DVec3;

/// Searches and what they found.
#[derive(Clone, Debug)]
pub(super) struct Touch {
    surfaces: SurfaceContacts,
    cloth: ClothContact,
    /// Steps for which the pairs of the last search still serve.
    serves: usize,
    /// With bodies and of cloth with itself.
    pub contacts: Vec<Contact>,
}

/// How much nearer two pieces of cloth may come between searches than the motion at the time of the search says, m.
const ROOM_M: f64 = 2e-3;

impl Touch {
    pub fn new(scene: &Scene, x: &[DVec3]) -> Self {
        Self {
            surfaces: SurfaceContacts::new(),
            cloth: ClothContact::new(scene, x),
            serves: 0,
            contacts: Vec::new(),
        }
    }

    /// Forgets which pairs may meet: the cloth was put somewhere else.
    pub fn forget(&mut self) {
        self.serves = 0;
    }

    /// Changes the caches with the state, whose they are; once more gives them back.
    pub fn lend(&mut self, state: &mut State) {
        std::mem::swap(&mut self.surfaces.limb_cache, &mut state.limb_cache);
        std::mem::swap(&mut self.cloth.tangles, &mut state.tangles);
        std::mem::swap(&mut self.cloth.broad, &mut state.broad);
        std::mem::swap(&mut self.cloth.hard, &mut state.hard);
    }

    /// Finds the contacts at `x`. Pairs of cloth are looked for every `every` steps, never where that is 0.
    pub fn find(&mut self, now: &StepContext<'_>, x: &[DVec3], every: usize) {
        self.surfaces.find(now, x);
        self.contacts.clear();
        self.contacts.extend_from_slice(&self.surfaces.contacts);
        if every == 0 || !now.settings.self_contact {
            return;
        }
        let scene = now.scene;
        if self.serves == 0 {
            self.cloth.find(scene, &now.state.x, x, near(scene) + ROOM_M);
            self.serves = every;
        }
        self.serves -= 1;
        let (thickness, stiffness) = (scene.fabric.thickness, now.settings.self_contact_stiffness);
        self.cloth.contacts(scene, &now.state.x, x, thickness, stiffness, &mut self.contacts);
    }

    /// Moves vertices that a step left inside a body out of it, and says which: `push(vertex, by)`.
    pub fn keep_out(&self, scene: &Scene, x: &[DVec3], mut push: impl FnMut(usize, DVec3)) -> usize {
        let mut count = 0;
        for c in self.contacts.iter().filter(|c| (c.sample as usize) < scene.len()) {
            let v = c.v[0] as usize;
            let inside = c.depth(x[v]) - c.reach;
            if inside > 0.0 && !scene.pinned[v] {
                push(v, c.n * inside);
                count += 1;
            }
        }
        count
    }

    /// Notes in the state what touches, as the full simulation does.
    pub fn commit(&self, x: &[DVec3], state: &mut State) {
        state.touching.fill(false);
        state.grips.iter_mut().for_each(|g| g.touching = false);
        for c in &self.contacts {
            let y = c.point(x);
            if c.depth(y) <= 0.0 {
                continue;
            }
            for k in (0..4).filter(|&k| c.w[k] != 0.0) {
                state.touching[c.v[k] as usize] = true;
            }
            if c.sample != NO_SAMPLE {
                remember(c, y, &mut state.grips[c.sample as usize]);
            }
        }
    }
}
