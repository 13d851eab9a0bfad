//! Cloth against bodies and rigid things: which samples touch, where, and how friction holds them.

use super::body::{BodySurface, Nearest};
use super::collider::Collider;
use super::constraint::Contact;
use super::limb_cache::{LimbCache, Meeting};
use crate::lists::append;
use crate::scene::Scene;
use crate::settings::Settings;
use crate::state::State;
use crate::step::Obstacles;
use glam::{DAffine3, DVec3};

/// What a sample touches.
#[derive(Clone, Copy, Debug, PartialEq)]
enum On {
    Limb(u32),
    Collider(u32),
}

/// Where a contact came from and where its sample was when it was measured.
#[derive(Clone, Copy, Debug)]
struct Source {
    on: On,
    measured_at: DVec3,
    /// It is measured again when its sample has moved this far, m; infinite for one that is not. Twice as far each time: planes
    /// that turn with every iterate, where a sample lies in a crease of the body, would let Newton's iteration go round in
    /// circles. So they come to stand still, and what stands still is minimised.
    remeasure_m: f64,
}

/// Which way cloth goes out of a limb.
enum WayOut {
    Nearest,
    Inwards(Nearest),
    None,
}

/// What a step is solved for: everything that is fixed while Newton iterates.
pub struct StepContext<'a> {
    /// The cloth.
    pub scene: &'a Scene,
    /// What is in the way.
    pub obstacles: &'a Obstacles<'a>,
    /// Stiffness and distances.
    pub settings: &'a Settings,
    /// At the start of the step.
    pub state: &'a State,
    /// Length of the step, s.
    pub h: f64,
}

/// Contacts of samples, and the cache that makes finding them cheap.
#[derive(Clone, Debug, Default)]
pub struct SurfaceContacts {
    /// Found by [`SurfaceContacts::find`], brought up to date by [`SurfaceContacts::refresh`].
    pub contacts: Vec<Contact>,
    sources: Vec<Source>,
    /// The body's limbs as the samples last saw them, lent by the state.
    pub limb_cache: LimbCache,
    /// Samples that are to be looked at again.
    again: Vec<bool>,
}

/// Farther than this from a surface nothing is looked for, m: more than cloth moves towards a body in a step,
/// and not so much that a point inside a wrist sees its far side first.
const SEARCH_M: f64 = 0.03;
/// Samples that touched last time are looked for deeper.
pub(super) const SEARCH_TOUCHING_M: f64 = 0.06;
/// Cloth this near to its own limb is on it, m, and an arm that pushes it away from there, by this cosine, comes out of the
/// body.
const OWN_WITHIN_M: f64 = 0.1;
const OUTWARDS: f64 = 0.5;
/// How many times as fast cloth is pushed out of a limb that it is not worn on.
const OTHER_LIMB: f64 = 3.0;
/// No arm is thicker, from the middle of the upper arm on, m.
const ARM_M: f64 = 0.08;
/// Samples within this of touching are kept for the later iterations of a step, m. Newton seldom moves a vertex by a
/// millimetre; what goes farther is looked for again.
const SPARE_M: f64 = 0.003;
/// Vertices that went farther since contacts were looked for are looked at again, m.
const STRAYED_M: f64 = 0.75 * SPARE_M;
/// A sample that moved farther since it was measured is measured again, m. Sliding 2 mm along a shin is 0.05 mm of
/// depth.
const REMEASURE_M: f64 = 2e-3;

impl StepContext<'_> {
    /// Distance that is kept from surfaces.
    fn keep(&self) -> f64 {
        self.settings.skin_m + 0.5 * self.scene.fabric.thickness
    }

    /// Of the cloth at sample `s`.
    fn friction(&self, s: usize) -> f64 {
        self.scene.fabric_of(self.scene.samples[s].v[0]).friction
    }

    /// The contact of sample `s` at `y` with surface point `p`, which moved by `motion` in this step.
    fn contact(&self, s: usize, y: DVec3, p: DVec3, n: DVec3, motion: DVec3, friction: f64) -> Contact {
        let sample = &self.scene.samples[s];
        let grip = &self.state.grips[s];
        let y0 = sample.point(&self.state.x);
        // Cloth that begins inside is pushed out bit by bit, so that a bad start is not an explosion. What is outside, in the
        // skin or not, is pressed as its depth says, whatever the step.
        let gap_start = n.dot(y0 + motion - p);
        let reach = self.keep() + (gap_start + self.settings.recovery_m).min(0.0);
        let k = self.settings.contact_stiffness * sample.area;
        let offset = n.dot(p) + reach;
        let depth = (offset - n.dot(y)).max(0.0);
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
            limit: friction * k * depth,
            sample: s as u32,
        }
    }

    /// Lets cloth that begins at `gap_start` out of a limb faster than usual: arms come fast and it is not worn on them, so it
    /// is not to stay in them for long.
    fn hasten(&self, contact: &mut Contact, gap_start: f64) {
        let reach = self.keep() + (gap_start + OTHER_LIMB * self.settings.recovery_m).min(0.0);
        contact.offset += reach - contact.reach;
        contact.reach = reach;
    }

    /// All rigid things.
    fn rigid(&self) -> Vec<Rigid<'_>> {
        let place = |collider| {
            let (start, end) = self.places(collider);
            Rigid { collider, start, end, local_from_end: end.inverse() }
        };
        self.state.colliders.iter().map(place).collect()
    }

    /// A rigid collider at the start and the end of the substep.
    fn places(&self, c: &Collider) -> (DAffine3, DAffine3) {
        let (from, to) = (c.world_from_local_before, c.world_from_local);
        let at = |share: f64| if from == to { to } else { blend(&from, &to, share) };
        (at(self.obstacles.shares.0), at(self.obstacles.shares.1))
    }
}

/// A rigid thing in a substep.
struct Rigid<'a> {
    collider: &'a Collider,
    start: DAffine3,
    end: DAffine3,
    local_from_end: DAffine3,
}

/// Between two nearby rigid transforms.
fn blend(a: &DAffine3, b: &DAffine3, share: f64) -> DAffine3 {
    let (_, qa, ta) = a.to_scale_rotation_translation();
    let (_, qb, tb) = b.to_scale_rotation_translation();
    DAffine3::from_rotation_translation(qa.slerp(qb, share), ta.lerp(tb, share))
}

impl SurfaceContacts {
    /// Room for a scene.
    pub fn new() -> Self {
        Self::default()
    }

    /// Finds all contacts at the first iterate.
    pub fn find(&mut self, now: &StepContext<'_>, x: &[DVec3]) {
        self.contacts.clear();
        self.sources.clear();
        self.limb_cache.drift(now.scene, now.obstacles.body, x, now.h);
        let rigid = now.rigid();
        for s in 0..now.scene.samples.len() {
            if !rigid.is_empty() || (now.obstacles.body.is_some() && self.limb_cache.near(s) != 0) {
                self.find_of(now, &rigid, s, now.scene.samples[s].point(x));
            }
        }
    }

    /// Finds the contacts of what has strayed so far from the first iterate that it may meet what was out of reach there:
    /// a hem that is thrown against a knee. Returns how many it found; they come last.
    pub fn find_strayed(&mut self, now: &StepContext<'_>, x: &[DVec3]) -> usize {
        let mut any = false;
        for (i, x) in x.iter().enumerate() {
            if self.limb_cache.stray(i, *x, STRAYED_M) {
                if !std::mem::replace(&mut any, true) {
                    self.again.clear();
                    self.again.resize(now.scene.samples.len(), false);
                }
                self.again[i] = true;
            }
        }
        if !any {
            return 0;
        }
        // What lies between vertices goes no farther than they.
        for s in now.scene.len()..now.scene.samples.len() {
            let sample = &now.scene.samples[s];
            self.again[s] = sample.v.iter().any(|&v| self.again[v as usize])
                && self.limb_cache.stray(s, sample.point(x), STRAYED_M);
        }
        let known = self.contacts.len();
        let rigid = now.rigid();
        for s in 0..now.scene.samples.len() {
            if !self.again[s] {
                continue;
            }
            let before = self.contacts.len();
            self.find_of(now, &rigid, s, now.scene.samples[s].point(x));
            // It may touch one limb already and meet another now.
            for k in (before..self.contacts.len()).rev() {
                let same = |j: usize| {
                    self.contacts[j].sample as usize == s && self.sources[j].on == self.sources[k].on
                };
                if (0..known).any(same) {
                    self.contacts.remove(k);
                    self.sources.remove(k);
                }
            }
        }
        self.contacts.len() - known
    }

    /// Finds the contacts of one sample.
    fn find_of(&mut self, now: &StepContext<'_>, rigid: &[Rigid<'_>], s: usize, y: DVec3) {
        if let Some(body) = now.obstacles.body {
            self.find_on_body(now, body, s, y);
        }
        for (c, Rigid { collider, start, end, local_from_end }) in rigid.iter().enumerate() {
            let local = local_from_end.transform_point3(y);
            let (d, n) = collider.shape.distance(local);
            if d > now.keep() + SPARE_M {
                continue;
            }
            let n = end.transform_vector3(n);
            let p = y - n * d;
            let motion = p - start.transform_point3(local_from_end.transform_point3(p));
            let friction = collider.friction.unwrap_or(now.friction(s));
            let mut contact = now.contact(s, y, p, n, motion, friction);
            self.remember_pressure(now, &mut contact);
            self.push(contact, On::Collider(c as u32), y, false);
        }
    }

    /// Friction holds no harder than the cloth was pressed when the last step had been solved; what touches anew slides for
    /// one step. The pressure of an iterate is mostly what is left to solve (0.1 mm of it is 300 Pa, where tens are
    /// real), and only its positive part would count: friction limited by it is many times too strong, slows Newton's
    /// iteration down and feeds on what that leaves.
    fn remember_pressure(&self, now: &StepContext<'_>, contact: &mut Contact) {
        let grip = &now.state.grips[contact.sample as usize];
        contact.limit = if grip.touching { contact.friction * grip.normal_force } else { 0.0 };
    }

    fn push(&mut self, contact: Contact, on: On, measured_at: DVec3, held: bool) {
        append(&mut self.contacts, contact);
        let remeasure_m = if held { f64::INFINITY } else { REMEASURE_M };
        append(&mut self.sources, Source { on, measured_at, remeasure_m });
    }

    fn find_on_body(&mut self, now: &StepContext<'_>, body: &BodySurface, s: usize, y: DVec3) {
        let sample = &now.scene.samples[s];
        let near = self.limb_cache.near(s);
        if near == 0 {
            return;
        }
        let (keep, within) = (now.keep(), now.keep() + SPARE_M);
        let touching = now.state.grips[s].touching;
        let radius = if touching { SEARCH_TOUCHING_M } else { SEARCH_M };
        let home = self.limb_cache.home(s);
        let mut own: Option<(f64, DVec3)> = None;
        // Where limbs are joined the nearest point of each lies on the seam. It counts only if no limb is met elsewhere:
        // beside a thigh the nearest point of the trunk is always on the seam.
        let mut joint: Option<(f64, Contact, usize)> = None;
        let mut met = false;
        for k in 0..self.limb_cache.limb_count {
            // The sample's own limb first.
            let limb = if k == 0 { home } else { k - usize::from(k <= home) };
            if near & 1 << limb == 0 {
                continue;
            }
            let seen = self.limb_cache.look(now.scene, body, s, limb, y, touching, within);
            let [first, second] = seen;
            if let Some(Meeting { near, .. }) = second {
                self.push_back(now, body, s, y, (limb, &near));
            }
            let Some(Meeting { near: mut found, inside, mut kept }) = first else { continue };
            kept |= second.is_some();
            let gap = (y - found.point).dot(found.normal);
            let motion = body.motion(&found);
            // What has come that far in this step alone may be that much deeper: a thigh in a run.
            let come = (y - sample.point(&now.state.x) - motion).length();
            let distance = found.point.distance(y);
            // Beside the open rim of a limb cloth is hardly above its plane, and yet far from it.
            if gap > within || (gap > 0.0 && distance > within) || (!kept && distance > radius + come) {
                continue;
            }
            let way_out = self.way_out(body, s, y, (limb, &found));
            let (motion, held) = match way_out {
                WayOut::Nearest => (motion, kept),
                WayOut::None => continue,
                WayOut::Inwards(inner) => {
                    found = inner;
                    (body.motion(&found), true)
                }
            };
            let mut contact = now.contact(s, y, found.point, found.normal, motion, now.friction(s));
            if limb != home {
                now.hasten(&mut contact, found.normal.dot(sample.point(&now.state.x) + motion - found.point));
            }
            self.remember_pressure(now, &mut contact);
            if !inside {
                if joint.is_none_or(|(d, _, _)| distance < d) {
                    joint = Some((distance, contact, limb));
                }
                continue;
            }
            met = true;
            if limb == home {
                let y0 = sample.point(&now.state.x);
                own = Some((found.normal.dot(y0 + motion - found.point), found.normal));
            } else {
                // Another limb pushes cloth aside but does not take it along: an arm that brushes a dress.
                contact.friction = 0.0;
                contact.limit = 0.0;
                if !soften(&mut contact, own, keep) {
                    continue;
                }
            }
            self.push(contact, On::Limb(limb as u32), y, held);
        }
        if let (false, Some((_, mut contact, limb))) = (met, joint) {
            if limb != home {
                contact.friction = 0.0;
                contact.limit = 0.0;
            }
            self.push(contact, On::Limb(limb as u32), y, false);
        }
    }

    /// The other of two pieces of a limb that have passed into each other, as in the crook of an elbow or the hollow of a knee:
    /// both push, alike, and cloth stays in the middle. Left to the nearest it would be pushed through one into the depth of
    /// the other.
    fn push_back(
        &mut self,
        now: &StepContext<'_>,
        body: &BodySurface,
        s: usize,
        y: DVec3,
        on: (usize, &Nearest),
    ) {
        let (limb, near) = on;
        let mut contact = now.contact(s, y, near.point, near.normal, body.motion(near), 0.0);
        contact.limit = 0.0;
        self.push(contact, On::Limb(limb as u32), y, true);
    }

    /// Which way cloth goes out of an arm that is not in its sleeve. Arms are outside of what is worn on trunk and legs, but
    /// skinned ones go into the body and come out of it again: cloth that they then meet from the body's side is on the wrong
    /// side of them, and goes out towards the body or not at all.
    fn way_out(&self, body: &BodySurface, s: usize, y: DVec3, arm: (usize, &Nearest)) -> WayOut {
        let (limb, near) = arm;
        let home = self.limb_cache.home(s);
        if limb == home || !body.is_free_arm(near.triangle) {
            return WayOut::Nearest;
        }
        let Some((own, _)) = body.nearest_on(home, y, OWN_WITHIN_M) else {
            return WayOut::Nearest;
        };
        if own.normal.dot(near.normal) <= OUTWARDS {
            return WayOut::Nearest;
        }
        let inner = body.nearest_on(limb, y - own.normal * ARM_M, f64::INFINITY);
        match inner {
            Some((inner, true)) if inner.normal.dot(own.normal) < 0.0 => WayOut::Inwards(inner),
            _ => WayOut::None,
        }
    }

    /// Brings the contacts up to date with a later iterate: those that moved are measured again.
    pub fn refresh(&mut self, now: &StepContext<'_>, x: &[DVec3]) {
        for (contact, source) in self.contacts.iter_mut().zip(&mut self.sources) {
            let s = contact.sample as usize;
            let y = contact.point(x);
            if y.distance_squared(source.measured_at) > source.remeasure_m * source.remeasure_m {
                let fresh = match source.on {
                    On::Limb(limb) => now.obstacles.body.and_then(|body| {
                        let (found, inside) = body.nearest_on(limb as usize, y, SEARCH_TOUCHING_M)?;
                        let motion = body.motion(&found);
                        let Nearest { point, normal, .. } = found;
                        inside.then(|| now.contact(s, y, point, normal, motion, contact.friction))
                    }),
                    On::Collider(c) => {
                        let collider = &now.state.colliders[c as usize];
                        let (start, end) = now.places(collider);
                        let (d, n) = collider.distance(&end, y);
                        let p = y - n * d;
                        let motion = p - start.transform_point3(end.inverse().transform_point3(p));
                        Some(now.contact(s, y, p, n, motion, contact.friction))
                    }
                };
                if let Some(fresh) = fresh {
                    // Softening was decided when the step began.
                    *contact = Contact { k: contact.k, k_t: contact.k_t, limit: contact.limit, ..fresh };
                }
                source.measured_at = y;
                source.remeasure_m *= 2.0;
            }
        }
    }
}

/// Share of its stiffness that another limb has left where cloth touches its own. Squeezed between two that just touch, cloth
/// is then 1 mm inside the other. The law is flat: it lags by a step, and a steep one keeps cloth under an arm trembling.
const YIELDS: f64 = 0.4;

/// Weakens the contact of another limb than the sample's own where the two squeeze it. Flesh would give way
/// where these bodies cannot, so the other limb presses softly, not at all where its own has let the cloth in, and
/// does not drag. Returns whether anything is left of it.
fn soften(contact: &mut Contact, own: Option<(f64, DVec3)>, keep: f64) -> bool {
    let Some((gap, normal)) = own else { return true };
    if contact.n.dot(normal) >= 0.0 || gap >= 3.0 * keep {
        return true;
    }
    let u = gap / keep;
    contact.k *= if u > 0.0 { (YIELDS + 0.4 * u).min(1.0) } else { YIELDS * (1.0 + 1.5 * u).max(0.0) };
    contact.k_t = 0.5 * contact.k;
    contact.friction = 0.0;
    contact.limit = 0.0;
    contact.k > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::limbs::{border_corners, triangle_limbs};
    use toile_lab::cloths::{Pattern, lay, plain, rectangle};
    use toile_lab::scenes::box_body;

    /// What `N` looks find for a patch that starts `height` above a box, or under its surface, and goes `way` between
    /// them: with what is remembered from the look before, and without.
    fn looks<const N: usize>(height: f64, way: DVec3) -> [[Vec<Contact>; 2]; N] {
        let body = box_body(0.3, 8).unwrap();
        let surface = BodySurface::new(&body, &body.bones(&body.skeleton.rest_pose()));
        let settings = Settings::default();
        let (mesh, rest) = rectangle(0.06, 0.06, 2, 2, Pattern::Alternating);
        let scene = Scene::new(&mesh, &rest, &plain(), &settings).unwrap();
        let mut x = lay(&mesh, 0.15 + height);
        let mut contacts = SurfaceContacts::new();
        contacts.limb_cache = LimbCache::new(&scene, &x, &surface);
        let obstacles = Obstacles {
            body: Some(&surface),
            pins: &[],
            leashes: &[],
            shares: (0.0, 1.0),
            air: Default::default(),
        };
        std::array::from_fn(|_| {
            let state = State::at_rest(x.clone(), scene.samples.len(), scene.hinges.len());
            let h = 1.0 / 60.0;
            let now =
                StepContext { scene: &scene, obstacles: &obstacles, settings: &settings, state: &state, h };
            let mut anew = SurfaceContacts::new();
            anew.limb_cache = LimbCache::new(&scene, &x, &surface);
            let found = [&mut contacts, &mut anew].map(|contacts| {
                contacts.find(&now, &x);
                contacts.contacts.clone()
            });
            x.iter_mut().for_each(|x| *x += way);
            found
        })
    }

    #[test]
    fn what_starts_inside_is_never_left_alone() {
        let counts = |height| looks::<4>(height, DVec3::ZERO).map(|found| found[0].len());
        let found = counts(-0.02);
        // Every vertex and every sample between them, at every look, although nothing moves.
        assert!(found[0] > 9 && found.iter().all(|n| *n == found[0]), "{found:?}");
        assert_eq!(counts(0.02), [0; 4]);
    }

    #[test]
    fn cloth_leaves_a_limb_on_the_side_it_came_in() {
        // Through the top of a box of 8 cm and on until its bottom and sides are nearer.
        let body = box_body(0.08, 8).unwrap();
        let surface = BodySurface::new(&body, &body.bones(&body.skeleton.rest_pose()));
        let settings = Settings::default();
        let (mesh, rest) = rectangle(0.04, 0.04, 2, 2, Pattern::Alternating);
        let scene = Scene::new(&mesh, &rest, &plain(), &settings).unwrap();
        let obstacles = Obstacles {
            body: Some(&surface),
            pins: &[],
            leashes: &[],
            shares: (0.0, 1.0),
            air: Default::default(),
        };
        let mut contacts = SurfaceContacts::new();
        contacts.limb_cache = LimbCache::new(&scene, &lay(&mesh, 0.044), &surface);
        for depth in 0..31 {
            let x = lay(&mesh, 0.044 - 2e-3 * f64::from(depth));
            let state = State::at_rest(x.clone(), scene.samples.len(), scene.hinges.len());
            let h = 1.0 / 240.0;
            let now =
                StepContext { scene: &scene, obstacles: &obstacles, settings: &settings, state: &state, h };
            contacts.find(&now, &x);
        }
        assert!(contacts.contacts.len() >= scene.len());
        assert!(contacts.contacts.iter().all(|c| c.n.y > 0.7), "{:?}", contacts.contacts);
    }

    #[test]
    fn what_strays_to_a_body_in_a_step_is_found() {
        let body = box_body(0.3, 8).unwrap();
        let surface = BodySurface::new(&body, &body.bones(&body.skeleton.rest_pose()));
        let settings = Settings::default();
        let (mesh, rest) = rectangle(0.06, 0.06, 2, 2, Pattern::Alternating);
        let scene = Scene::new(&mesh, &rest, &plain(), &settings).unwrap();
        let mut x = lay(&mesh, 0.165);
        let state = State::at_rest(x.clone(), scene.samples.len(), scene.hinges.len());
        let mut contacts = SurfaceContacts::new();
        contacts.limb_cache = LimbCache::new(&scene, &x, &surface);
        let obstacles = Obstacles {
            body: Some(&surface),
            pins: &[],
            leashes: &[],
            shares: (0.0, 1.0),
            air: Default::default(),
        };
        let now = StepContext {
            scene: &scene,
            obstacles: &obstacles,
            settings: &settings,
            state: &state,
            h: 1.0 / 60.0,
        };
        contacts.find(&now, &x);
        assert!(contacts.contacts.is_empty());
        // One corner is thrown down into the box.
        x[0].y -= 0.02;
        contacts.refresh(&now, &x);
        assert!(contacts.find_strayed(&now, &x) > 0);
        let corner = contacts.contacts.iter().find(|c| c.sample == 0).unwrap();
        assert!(corner.depth(corner.point(&x)) > 5e-3);
        // What is known is not found twice.
        let known = contacts.contacts.len();
        x[0].y -= 0.01;
        assert_eq!((contacts.find_strayed(&now, &x), contacts.contacts.len()), (0, known));
    }

    #[test]
    fn cloth_touches_the_seam_between_limbs() {
        let body = toile_assets::builtin::body("mannequin:female").unwrap();
        let surface = BodySurface::new(&body, &body.bones(&body.skeleton.rest_pose()));
        let settings = Settings::default();
        let (mesh, rest) = rectangle(0.01, 0.01, 1, 1, Pattern::Alternating);
        let scene = Scene::new(&mesh, &rest, &plain(), &settings).unwrap();
        let obstacles = Obstacles {
            body: Some(&surface),
            pins: &[],
            leashes: &[],
            shares: (0.0, 1.0),
            air: Default::default(),
        };
        let (limbs, _) = triangle_limbs(&body);
        let weld: Vec<u32> = (0..body.mesh.positions.len() as u32).collect();
        let border = border_corners(&body.mesh.triangles, &weld, &limbs);
        let mut seen = 0;
        for (t, border) in body.mesh.triangles.iter().zip(&border) {
            let Some(k) = (0..3).find(|&k| border[k]) else { continue };
            let near = surface.nearest(surface.end[t[k] as usize], 1.0).unwrap();
            let way = near.point + near.normal * 2e-3;
            let lie = lay(&mesh, 0.0);
            let x: Vec<DVec3> = lie.iter().map(|p| *p - lie[0] + way).collect();
            let state = State::at_rest(x.clone(), scene.samples.len(), scene.hinges.len());
            let h = 1.0 / 60.0;
            let now =
                StepContext { scene: &scene, obstacles: &obstacles, settings: &settings, state: &state, h };
            let mut contacts = SurfaceContacts::new();
            contacts.limb_cache = LimbCache::new(&scene, &x, &surface);
            contacts.find(&now, &x);
            let depth = |c: &&Contact| c.sample == 0 && c.depth(c.point(&x)) > 0.0;
            assert!(contacts.contacts.iter().any(|c| depth(&c)), "{way}");
            seen += 1;
        }
        assert!(seen > 20);
    }

    #[test]
    fn what_is_remembered_finds_what_a_fresh_look_finds() {
        // Along the top of a box and out over its edge, in steps short and long, always within reach.
        for step in [2e-4, 1e-3, 4e-3] {
            for (look, [ours, fresh]) in
                looks::<200>(5e-3, DVec3::new(step, -step / 200.0, 0.3 * step)).iter().enumerate()
            {
                // Beside the box ours may be a few more, which do not touch.
                for b in fresh {
                    let a = ours.iter().find(|a| a.sample == b.sample);
                    let a = a.unwrap_or_else(|| panic!("look {look} of {step}: sample {} is lost", b.sample));
                    let apart = (a.offset - b.offset).abs().max(1e-2 * a.n.distance(b.n));
                    assert!(apart < 1e-3, "look {look} of {step}: {apart}");
                }
            }
        }
    }

    #[test]
    fn what_is_left_alone_does_not_touch() {
        // Legs run through cloth that stands still about them: every touch that a fresh search sees is seen.
        let body = toile_assets::builtin::body("mannequin:female").unwrap();
        let motion = toile_assets::builtin::motion("run:3", &body.skeleton).unwrap();
        let garment = toile_assets::builtin::garment("skirt:400", &body).unwrap();
        let settings = Settings::worn();
        let fabric = toile_assets::builtin::fabric(&garment.fabric).unwrap();
        let scene = Scene::from_garment(&garment, &fabric, &settings).unwrap();
        let rest: Vec<DVec3> = garment.sim.positions.iter().map(|p| p.as_dvec3()).collect();
        let bones = |secs: f64| body.bones(&motion.at(secs));
        let root = |secs: f64| bones(secs)[0].translation.as_dvec3();
        let home = body.bones(&body.skeleton.rest_pose())[0].translation.as_dvec3();
        let mut surface = BodySurface::new(&body, &bones(0.0));
        let at = |secs: f64| rest.iter().map(|p| *p + root(secs) - home).collect::<Vec<DVec3>>();
        let mut ours = SurfaceContacts::new();
        let blank = LimbCache::new(&scene, &at(0.0), &surface);
        ours.limb_cache = blank.clone();
        let mut touches = 0;
        for frame in 0..40 {
            let pose_at = |k: f64| (f64::from(frame) + k) / 60.0;
            surface.begin(&bones(pose_at(1.0)));
            for k in 0..4 {
                let share = f64::from(k + 1) / 4.0;
                surface.advance(f64::from(k) / 4.0, share);
                let x = at(pose_at(share));
                let state = State::at_rest(x.clone(), scene.samples.len(), scene.hinges.len());
                let obstacles = Obstacles {
                    body: Some(&surface),
                    pins: &[],
                    leashes: &[],
                    shares: (0.0, 1.0),
                    air: Default::default(),
                };
                let now = StepContext {
                    scene: &scene,
                    obstacles: &obstacles,
                    settings: &settings,
                    state: &state,
                    h: 1.0 / 240.0,
                };
                ours.find(&now, &x);
                let mut fresh = SurfaceContacts::new();
                fresh.limb_cache = blank.clone();
                fresh.find(&now, &x);
                // In the middle of an arm no side is the nearest; what has just come in must be seen.
                let touch = |c: &&Contact| (-3e-3..c.reach).contains(&(c.reach - c.depth(c.point(&x))));
                for c in fresh.contacts.iter().filter(touch) {
                    touches += 1;
                    assert!(
                        ours.contacts.iter().any(|o| o.sample == c.sample),
                        "frame {frame}: {}",
                        c.sample
                    );
                }
            }
        }
        assert!(touches > 100, "{touches}");
    }
}
