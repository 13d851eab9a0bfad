//! What is left alone, and on which side cloth is held, on bodies made for it.

use super::*;
use crate::contact::constraint::Contact;
use crate::contact::surfaces::{StepContext, SurfaceContacts};
use crate::settings::Settings;
use crate::state::State;
use crate::step::Obstacles;
use glam::Affine3A;
use toile_assets::{Body, Joint, Mesh, Skeleton, Skin, Transform};
use toile_lab::cloths::{Pattern, lay, plain, rectangle};
use toile_lab::scenes::box_body;

/// A patch of cloth a centimetre wide in front of a body.
struct Patch {
    scene: Scene,
    flat: Vec<DVec3>,
    settings: Settings,
    contacts: SurfaceContacts,
}

impl Patch {
    fn new(body: &BodySurface, at: DVec3) -> Self {
        let settings = Settings::default();
        let (mesh, rest) = rectangle(0.01, 0.01, 1, 1, Pattern::Alternating);
        let scene = Scene::new(&mesh, &rest, &plain(), &settings).unwrap();
        let flat = lay(&mesh, 0.0);
        let mut contacts = SurfaceContacts::new();
        let x: Vec<DVec3> = flat.iter().map(|p| *p + at).collect();
        contacts.limb_cache = LimbCache::new(&scene, &x, body);
        Self { scene, flat, settings, contacts }
    }

    /// Looks for contacts with the patch at a place, a 240th of a second after the look before.
    fn look(&mut self, body: &BodySurface, at: DVec3) -> &[Contact] {
        let x: Vec<DVec3> = self.flat.iter().map(|p| *p + at).collect();
        let state = State::at_rest(x.clone(), self.scene.samples.len(), self.scene.hinges.len());
        let obstacles = Obstacles {
            body: Some(body),
            pins: &[],
            leashes: &[],
            shares: (0.0, 1.0),
            air: Default::default(),
        };
        let (scene, settings, h) = (&self.scene, &self.settings, 1.0 / 240.0);
        let now = StepContext { scene, obstacles: &obstacles, settings, state: &state, h };
        self.contacts.find(&now, &x);
        &self.contacts.contacts
    }
}

/// A body of one limb, some of whose triangles go with a second joint.
fn body_of(mesh: Mesh, moving: impl Fn(usize) -> bool) -> Body {
    let joint = |name: &str, parent| Joint { name: name.into(), parent, rest: Transform::IDENTITY };
    let rows: Vec<_> = (0..mesh.positions.len()).map(|v| vec![(u16::from(moving(v)), 1.0f32)]).collect();
    let skeleton = Skeleton::new(vec![joint("root", None), joint("piece", Some(0))]).unwrap();
    Body::bound_at_rest("piece", skeleton, mesh, Skin::from_rows(rows).unwrap()).unwrap()
}

#[test]
fn a_side_holds_only_what_is_behind_it() {
    // A head on a trunk, as one limb. Cloth beside the head comes down into the trunk faster than it is looked at: it was
    // last outside beside the head, and is so still.
    let mut mesh = box_body(0.3, 8).unwrap().mesh;
    let trunk = mesh.positions.len() as u32;
    let head: Vec<Vec3> = mesh.positions.iter().map(|p| *p / 3.0 + Vec3::new(-0.05, 0.18, 0.0)).collect();
    let triangles: Vec<[u32; 3]> = mesh.triangles.iter().map(|t| t.map(|v| v + trunk)).collect();
    mesh.positions.extend(head);
    mesh.triangles.extend(triangles);
    let body = body_of(mesh, |_| false);
    let surface = BodySurface::new(&body, &body.bones(&body.skeleton.rest_pose()));
    let beside = |height: f64| DVec3::new(0.02, height, 0.0);
    let mut patch = Patch::new(&surface, beside(0.18));
    assert!(patch.look(&surface, beside(0.18)).is_empty());
    let vertices = patch.scene.len();
    let held = patch.look(&surface, beside(0.144));
    for v in 0..vertices as u32 {
        let up = held.iter().any(|c| c.sample == v && c.n.y > 0.7);
        assert!(up, "vertex {v} is 6 mm inside the trunk and nothing holds it: {held:?}");
    }
}

#[test]
fn what_is_followed_on_a_rim_is_not_left_alone_for_a_guess() {
    // The nearest of a limb is the rim of a slanted plate 6 cm away, which slides by; another part of it comes down four times as fast.
    let rim = [[-0.038, -0.046, 0.9], [-0.038, -0.046, -0.9], [-0.6, 0.25, 0.0]];
    let above = [[-0.3, 0.1, -0.3], [0.3, 0.1, -0.3], [0.0, 0.1, 0.5]];
    let positions = [rim, above].into_iter().flatten().map(Vec3::from).collect();
    let mesh = Mesh { positions, triangles: vec![[0, 1, 2], [3, 4, 5]], uvs: vec![] };
    let body = body_of(mesh, |v| v >= 3);
    let mut surface = BodySurface::new(&body, &body.bones(&body.skeleton.rest_pose()));
    let (up, down) = (surface.facing(0), surface.facing(1));
    assert!(up.y > 0.8 && down.y < -0.9, "the plates face the cloth: {up}, {down}");
    let mut patch = Patch::new(&surface, DVec3::ZERO);
    assert!(patch.look(&surface, DVec3::ZERO).is_empty());
    const LOOKS: u16 = 20;
    for look in 1..=LOOKS {
        let gone = 0.098 * f32::from(look) / f32::from(LOOKS);
        let slid = Affine3A::from_translation(Vec3::Z * (0.25 * gone));
        surface.begin(&[slid, Affine3A::from_translation(Vec3::NEG_Y * gone)]);
        surface.advance(0.0, 1.0);
        patch.look(&surface, DVec3::ZERO);
    }
    let held = &patch.contacts.contacts;
    let vertices = patch.scene.len() as u32;
    let met = |v: u32| held.iter().any(|c| c.sample == v && c.n.y < -0.7);
    assert!((0..vertices).all(met), "a plate 2 mm above it is not seen: {held:?}");
}
