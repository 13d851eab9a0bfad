//! Contacts of a subspace step: the model of the full simulation, looked for less often.
//!
//! Bodies are asked every few steps. In between, what was found goes with the cloth's own attachment: the skin that a vertex
//! lies on moves as the vertex is skinned, since its weights are those of that skin. Which pieces of cloth may meet each other is looked for every few steps, for as much room
//! as they may need until the next time; how near they are is measured in every step.

use super::kinematic::Kinematic;
use crate::contact::cloth::ClothContact;
use crate::contact::constraint::{Contact, NO_SAMPLE};
use crate::contact::surfaces::{StepContext, SurfaceContacts};
use crate::scene::Scene;
use crate::state::State;
use crate::step::{near, remember};
use glam::{DMat3, DVec3};

/// Searches and what they found.
#[derive(Clone, Debug)]
pub(super) struct Touch {
    surfaces: SurfaceContacts,
    cloth: ClothContact,
    /// Steps for which the pairs of the last search still serve.
    serves: usize,
    /// Steps for which what was found of bodies still serves, and that in the bind pose.
    body_serves: usize,
    carried: Vec<Carried>,
    /// With bodies and of cloth with itself.
    pub contacts: Vec<Contact>,
}

/// A contact with a body that goes with the cloth's attachment.
#[derive(Clone, Copy, Debug)]
struct Carried {
    contact: Contact,
    /// The point of the skin in the bind pose of the sample's first vertex, and its normal as a covector there.
    point: DVec3,
    normal: DVec3,
}

impl Carried {
    /// Of a contact whose sample is at `y`.
    fn new(contact: &Contact, y: DVec3, kinematic: &Kinematic) -> Self {
        let v = contact.v[0] as usize;
        let skin = y - contact.n * (contact.n.dot(y) - (contact.offset - contact.reach));
        let normal = kinematic.linear[v].transpose() * contact.n;
        Self { contact: *contact, point: kinematic.unpose(v, skin), normal }
    }

    /// Where the bones have carried it, for a sample that is held by what it remembers.
    fn at(&self, now: &StepContext<'_>, x: &[DVec3], kinematic: &Kinematic) -> Contact {
        let (c, v) = (&self.contact, self.contact.v[0] as usize);
        let point = kinematic.pose_one(v, self.point);
        let n = (cofactor(&kinematic.linear[v]) * self.normal).normalize_or(c.n);
        let grip = &now.state.grips[c.sample as usize];
        let held = if grip.touching { grip.stretch } else { DVec3::ZERO };
        let limit = if grip.touching { c.friction * grip.normal_force } else { 0.0 };
        // Cloth that nobody has moved yet is where its attachment has carried it: that is how the skin has moved.
        Contact { n, offset: n.dot(point) + c.reach, anchor: c.point(x) - held, limit, ..*c }
    }
}

/// `det(m) m⁻ᵀ`, which carries normals.
fn cofactor(m: &DMat3) -> DMat3 {
    DMat3::from_cols(m.y_axis.cross(m.z_axis), m.z_axis.cross(m.x_axis), m.x_axis.cross(m.y_axis))
}

/// How much nearer two pieces of cloth may come between searches than the motion at the time of the search says, m.
const ROOM_M: f64 = 2e-3;

impl Touch {
    pub fn new(scene: &Scene, x: &[DVec3]) -> Self {
        Self {
            surfaces: SurfaceContacts::new(),
            cloth: ClothContact::new(scene, x),
            serves: 0,
            body_serves: 0,
            carried: Vec::new(),
            contacts: Vec::new(),
        }
    }

    /// Forgets which pairs may meet: the cloth was put somewhere else.
    pub fn forget(&mut self) {
        self.serves = 0;
        self.body_serves = 0;
    }

    /// Changes the caches with the state, whose they are; once more gives them back.
    pub fn lend(&mut self, state: &mut State) {
        std::mem::swap(&mut self.surfaces.limb_cache, &mut state.limb_cache);
        std::mem::swap(&mut self.cloth.tangles, &mut state.tangles);
        std::mem::swap(&mut self.cloth.broad, &mut state.broad);
        std::mem::swap(&mut self.cloth.hard, &mut state.hard);
    }

    /// Finds the contacts at `x`, where `kinematic` has carried the cloth. Bodies are asked every `body_every` steps; pairs of
    /// cloth are looked for every `every` steps, never where that is 0.
    pub fn find(
        &mut self,
        now: &StepContext<'_>,
        x: &[DVec3],
        kinematic: &Kinematic,
        body_every: usize,
        every: usize,
    ) {
        self.contacts.clear();
        // Things that are not skinned are not where cloth would carry them.
        if self.body_serves == 0 || !now.state.colliders.is_empty() {
            self.surfaces.find(now, x);
            self.contacts.extend_from_slice(&self.surfaces.contacts);
            self.body_serves = body_every.max(1) - 1;
            self.carried.clear();
            if self.body_serves > 0 {
                let contacts = &self.surfaces.contacts;
                self.carried.extend(contacts.iter().map(|c| Carried::new(c, c.point(x), kinematic)));
            }
        } else {
            self.body_serves -= 1;
            self.contacts.extend(self.carried.iter().map(|c| c.at(now, x, kinematic)));
        }
        if every == 0 || !now.settings.self_contact {
            return;
        }
        let scene = now.scene;
        if self.serves == 0 {
            self.cloth.find(scene, &now.state.x, x, near(scene) + ROOM_M);
            self.cloth.forget_distances();
            self.serves = every;
        }
        self.serves -= 1;
        let (thickness, stiffness) = (scene.fabric.thickness, now.settings.self_contact_stiffness);
        self.cloth.contacts(scene, &now.state.x, x, x, thickness, stiffness, &mut self.contacts);
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
