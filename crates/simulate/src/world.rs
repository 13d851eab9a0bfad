//! The owner of everything: scene, state, settings and workspace.

use crate::band::Band;
use crate::contact::body::BodySurface;
use crate::contact::limb_cache::LimbCache;
use crate::enclosure::enclosure;
use crate::energy::air::Air;
use crate::energy::leash::Leash;
use crate::garment_fit::{check_fit, untangled};
use crate::leash::Tether;
use crate::outfit::Outfit;
use crate::report::StepReport;
use crate::scene::Scene;
use crate::settings::Settings;
use crate::solve::system::System;
use crate::state::State;
use crate::step::{Failure, Obstacles, Workspace, substep};
use crate::{Error, Result};
use glam::{Affine3A, DAffine3, DMat3, DVec3, Vec3};
use toile_assets::{Body, Fabric, Garment, PinTarget};

/// What a pinned vertex follows, resolved.
#[derive(Clone, Copy, Debug)]
enum PinAnchor {
    Space(DVec3),
    Joint {
        joint: usize,
        bind: DVec3,
    },
    /// A point of the surface and the offset in the frame of its triangle.
    Body {
        triangle: u32,
        weights: [f64; 3],
        offset: DVec3,
    },
}

/// Cloth, what it is made of, and what is in its way.
#[derive(Clone, Debug)]
pub struct World {
    /// What does not change.
    pub scene: Scene,
    /// What does.
    pub state: State,
    /// How steps are taken.
    pub settings: Settings,
    pub(crate) body: Option<BodySurface>,
    pub(crate) bones: Vec<Affine3A>,
    anchors: Vec<(u32, PinAnchor)>,
    pub(crate) pins: Vec<(u32, DVec3)>,
    /// Edges between vertices that are pinned to the skin.
    band: Band,
    /// Which way is out of the skin at each pin; nowhere for one that is held to something else.
    outward: Vec<DVec3>,
    pub(crate) tethers: Vec<Tether>,
    leashes: Vec<Leash>,
    /// Share of the wearer's velocity that the air at each vertex has.
    pub(crate) carried: Vec<f64>,
    workspace: Workspace,
}

impl World {
    /// Cloth without a body, at rest at `x`.
    pub fn new(scene: Scene, x: Vec<DVec3>, settings: Settings) -> Result<Self> {
        if x.len() != scene.len() {
            return Err(Error::Scene(format!("{} positions for {} vertices", x.len(), scene.len())));
        }
        if let Some(v) = x.iter().position(|p| !p.is_finite()) {
            return Err(Error::Scene(format!("vertex {v} is not finite")));
        }
        let anchors: Vec<(u32, PinAnchor)> = (0..scene.len())
            .filter(|&v| scene.pinned[v])
            .map(|v| (v as u32, PinAnchor::Space(x[v])))
            .collect();
        let workspace = Workspace::new(&scene, &x);
        let mut state = State::at_rest(x, scene.samples.len(), scene.hinges.len());
        for (angle, hinge) in state.angles.iter_mut().zip(&scene.hinges) {
            *angle = crate::energy::bending::angle(hinge, &state.x, 0.0);
        }
        Ok(Self {
            scene,
            state,
            settings,
            body: None,
            bones: Vec::new(),
            pins: Vec::new(),
            band: Band::default(),
            outward: Vec::new(),
            tethers: Vec::new(),
            leashes: Vec::new(),
            carried: Vec::new(),
            anchors,
            workspace,
        })
    }

    /// A garment on a body in its rest pose, both where their files put them.
    pub fn with_body(body: &Body, garment: &Garment, fabric: &Fabric, settings: Settings) -> Result<Self> {
        let scene = Scene::from_garment(garment, fabric, &settings)?;
        check_fit(body, garment)?;
        Self::dressed(body, garment, untangled(garment), scene, settings)
    }

    /// Garments worn together on a body in its rest pose.
    pub fn with_outfit(body: &Body, outfit: &Outfit, settings: Settings) -> Result<Self> {
        let garment = outfit.joined();
        Self::dressed(body, garment, garment.sim.positions.clone(), outfit.scene(&settings)?, settings)
    }

    /// Cloth that begins at `places`, and the body it is held to.
    fn dressed(
        body: &Body,
        garment: &Garment,
        places: Vec<Vec3>,
        scene: Scene,
        settings: Settings,
    ) -> Result<Self> {
        let x: Vec<DVec3> = places.iter().map(|p| p.as_dvec3()).collect();
        let bones = body.bones(&body.skeleton.rest_pose());
        let surface = BodySurface::new(body, &bones);
        let mut world = Self::new(scene, x, settings)?;
        world.anchors.clear();
        for pin in &garment.pins {
            for &v in &pin.vertices {
                let p = world.state.x[v as usize];
                let anchor = match &pin.target {
                    PinTarget::Space => PinAnchor::Space(p),
                    PinTarget::Joint(name) => {
                        let joint = body.skeleton.find(name).ok_or_else(|| {
                            Error::Scene(format!(
                                "pin `{}` follows joint `{name}`, which the body has not",
                                pin.name
                            ))
                        })?;
                        let bind = bones[joint].inverse().transform_point3(p.as_vec3());
                        PinAnchor::Joint { joint, bind: bind.as_dvec3() }
                    }
                    PinTarget::Body => pin_to_body(&surface, p).ok_or_else(|| {
                        Error::Scene(format!("pin `{}`: the body has no surface to follow", pin.name))
                    })?,
                };
                world.anchors.push((v, anchor));
            }
        }
        world.gather_band();
        world.state.limb_cache = LimbCache::new(&world.scene, &world.state.x, &surface);
        world.body = Some(surface);
        world.bones = bones;
        world.enclose_air();
        Ok(world)
    }

    /// The body's surface, where there is one.
    pub fn body(&self) -> Option<&BodySurface> {
        self.body.as_ref()
    }

    /// The linear system of the last Newton iteration and the gradient it was solved for, to measure solvers with.
    pub fn last_system(&self) -> (&System, &[DVec3]) {
        (&self.workspace.system, &self.workspace.gradient)
    }

    /// Bones at the end of the last step.
    pub fn bones(&self) -> &[Affine3A] {
        &self.bones
    }

    /// Puts the body at `bones` at once; the cloth stays where it is.
    pub fn place_body(&mut self, bones: &[Affine3A]) {
        if let Some(body) = &mut self.body {
            body.place(bones);
            self.bones = bones.to_vec();
        }
    }

    /// Moves the body to `bones` (`world_from_bind`, one per joint) within `dt` seconds and the cloth with it.
    /// Pass no bones where there is no body. Substeps are as short as the settings ask, shorter where a step
    /// fails; when that does not help either, the world is left at the last good substep.
    pub fn step(&mut self, bones: &[Affine3A], dt: f64) -> Result<StepReport> {
        if let Some(body) = &mut self.body {
            if bones.len() != self.bones.len() {
                return Err(Error::Scene(format!(
                    "{} bones for a body of {} joints",
                    bones.len(),
                    self.bones.len()
                )));
            }
            body.begin(bones);
        }
        let mut total = StepReport::default();
        let shortest = self.settings.shortest_secs();
        let mut pieces = (dt / self.settings.max_step_secs - 1e-6).ceil().max(1.0);
        let mut done = 0.0;
        while done < dt * (1.0 - 1e-9) {
            let left = dt - done;
            let h = (dt / pieces).min(left);
            match self.attempt(bones, done / dt, (done + h) / dt, h) {
                Ok(report) => {
                    total.add(&report);
                    done += h;
                }
                Err(failure) => {
                    total.retries += 1;
                    pieces *= 2.0;
                    if dt / pieces < 0.999 * shortest {
                        return Err(Error::Stuck {
                            frame: 0,
                            vertex: failure.vertex,
                            cause: failure.cause,
                            retries: total.retries,
                            step_secs: h,
                        });
                    }
                }
            }
        }
        self.bones.copy_from_slice(bones);
        for c in &mut self.state.colliders {
            c.world_from_local_before = c.world_from_local;
        }
        if self.settings.self_contact {
            total.crossings = self.workspace.mark_crossings(&self.scene, &mut self.state);
        }
        Ok(total)
    }

    /// One substep between two shares of the motion; the state is unchanged if it fails.
    fn attempt(
        &mut self,
        bones: &[Affine3A],
        from: f64,
        to: f64,
        h: f64,
    ) -> std::result::Result<StepReport, Failure> {
        self.advance_wearer(bones, from, to);
        let wearer = self.body.as_ref().map_or(DVec3::ZERO, |b| b.mean_motion() / h);
        let air = Air { wind: self.settings.wind, wearer, carried: &self.carried };
        let (pins, leashes) = (&self.pins, &self.leashes);
        let obstacles = Obstacles { body: self.body.as_ref(), pins, leashes, shares: (from, to), air };
        substep(&self.scene, &obstacles, &self.settings, h, &mut self.state, &mut self.workspace)
    }

    /// Moves the body, and the places of what is pinned, from one share of the motion to `bones` to another.
    pub(crate) fn advance_wearer(&mut self, bones: &[Affine3A], from: f64, to: f64) {
        if let Some(body) = &mut self.body {
            body.advance(from, to);
        }
        self.find_pins(bones, to);
        self.leashes.clear();
        for tether in &self.tethers {
            tether.pose(&self.bones, bones, to, &mut self.leashes);
        }
    }

    /// Where pins are at a share of the motion to `bones`.
    fn find_pins(&mut self, bones: &[Affine3A], share: f64) {
        self.pins.clear();
        self.outward.clear();
        for &(v, anchor) in &self.anchors {
            let mut outward = DVec3::ZERO;
            let p = match anchor {
                PinAnchor::Space(p) => p,
                PinAnchor::Joint { joint, bind } => {
                    let at = |b: &Affine3A| b.transform_point3(bind.as_vec3()).as_dvec3();
                    at(&self.bones[joint]).lerp(at(&bones[joint]), share)
                }
                PinAnchor::Body { triangle, weights, offset } => {
                    let Some(body) = &self.body else { continue };
                    let corners = body.body().mesh.triangles[triangle as usize].map(|i| body.end[i as usize]);
                    let p: DVec3 = (0..3).map(|k| corners[k] * weights[k]).sum();
                    let frame = frame(corners);
                    outward = frame.z_axis;
                    p + frame * offset
                }
            };
            self.pins.push((v, p));
            self.outward.push(outward);
        }
        self.band.keep(&mut self.pins, &self.outward);
    }

    /// Finds which edges lie between vertices that are pinned to the skin.
    fn gather_band(&mut self) {
        let mut pin_of = vec![None; self.scene.len()];
        for (k, (v, anchor)) in self.anchors.iter().enumerate() {
            if matches!(anchor, PinAnchor::Body { .. }) {
                pin_of[*v as usize] = Some(k);
            }
        }
        let scene = &self.scene;
        self.band = Band::new(&scene.edges, &scene.edge_lengths, &pin_of, &self.state.x);
    }

    /// Puts the body at `bones` and the cloth at `x` with velocities `v`, wherever something else has brought it; pinned
    /// vertices go where they are held. All that steps remember is forgotten.
    pub fn start_from(&mut self, bones: &[Affine3A], x: Vec<DVec3>, v: Vec<DVec3>) -> Result<()> {
        if x.len() != self.scene.len() || v.len() != x.len() {
            return Err(Error::Scene(format!("{} positions for {} vertices", x.len(), self.scene.len())));
        }
        if let Some(v) = (0..x.len()).find(|&i| !(x[i].is_finite() && v[i].is_finite())) {
            return Err(Error::Scene(format!("vertex {v} is not finite")));
        }
        let mut state = State::at_rest(x, self.scene.samples.len(), self.scene.hinges.len());
        (state.v, state.colliders) = (v, std::mem::take(&mut self.state.colliders));
        // Which limb cloth belongs to was seen when it was put on; here a sleeve may lie on a skirt.
        state.limb_cache = std::mem::take(&mut self.state.limb_cache);
        self.state = state;
        self.place_body(bones);
        self.find_pins(bones, 1.0);
        for &(v, p) in &self.pins {
            self.state.x[v as usize] = p;
        }
        self.state.v_before.copy_from_slice(&self.state.v);
        self.state.x_before.copy_from_slice(&self.state.x);
        for (angle, hinge) in self.state.angles.iter_mut().zip(&self.scene.hinges) {
            *angle = crate::energy::bending::angle(hinge, &self.state.x, 0.0);
        }
        Ok(())
    }

    /// Begins the search of the next steps with each vertex going so far in all of a step, m, as something else foresees it
    /// (de Aguiar 2010 §8); with nothing, as from the start, it begins with free flight. What is found is the same.
    pub fn foresee(&mut self, ways: &[DVec3]) {
        self.workspace.foreseen.clear();
        if ways.len() == self.scene.len() {
            self.workspace.foreseen.extend_from_slice(ways);
        }
    }

    /// Finds which air goes with the wearer: what cloth and body shut in between them as they are now.
    pub(crate) fn enclose_air(&mut self) {
        let Some(body) = &self.body else { return };
        let shares = enclosure(&self.state.x, &self.scene.triangles, &body.end, &body.body().mesh.triangles);
        self.carried = shares.iter().map(|s| s * self.settings.carried_air).collect();
    }

    /// Share of the wearer's velocity that the air at each vertex has; empty where there is no wearer.
    pub fn carried_air(&self) -> &[f64] {
        &self.carried
    }

    /// Moves everything rigidly, cloth and its memory: for starting a clip somewhere else.
    pub fn transform(&mut self, m: &DAffine3) {
        let (rotation, state) = (m.matrix3, &mut self.state);
        for p in state.x.iter_mut().chain(&mut state.x_before) {
            *p = m.transform_point3(*p);
        }
        for v in state.v.iter_mut().chain(&mut state.v_before) {
            *v = rotation * *v;
        }
        for g in &mut state.grips {
            g.stretch = rotation * g.stretch;
        }
    }

    /// Pushes every vertex by `by_m` in a direction of its own, the same in every run.
    pub fn nudge(&mut self, by_m: f64) {
        if by_m == 0.0 {
            return;
        }
        let mut random = toile_geometry::Random::new(1);
        for (x, before) in self.state.x.iter_mut().zip(&mut self.state.x_before) {
            let aside = by_m * random.vector().normalize_or(DVec3::X);
            *x += aside;
            *before += aside;
        }
    }

    /// Changes the state for a stored one of the same scene.
    pub fn restore(&mut self, state: &State, bones: &[Affine3A]) {
        self.state.clone_from(state);
        if let Some(body) = &mut self.body {
            body.put_back(bones);
            self.bones = bones.to_vec();
        }
    }
}

/// Orthonormal frame of a triangle: first edge, in-plane normal of it, normal.
fn frame(c: [DVec3; 3]) -> DMat3 {
    let e = (c[1] - c[0]).normalize_or(DVec3::X);
    let n = e.cross(c[2] - c[0]).normalize_or(DVec3::Y);
    DMat3::from_cols(e, n.cross(e), n)
}

fn pin_to_body(surface: &BodySurface, p: DVec3) -> Option<PinAnchor> {
    let near = surface.nearest(p, 1e6)?;
    let corners = surface.body().mesh.triangles[near.triangle as usize].map(|i| surface.end[i as usize]);
    let offset = frame(corners).transpose() * (p - near.point);
    Some(PinAnchor::Body { triangle: near.triangle, weights: near.weights, offset })
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_assets::builtin;

    #[test]
    fn a_state_that_is_put_back_goes_on_bit_for_bit() {
        let body = builtin::body("mannequin:female").unwrap();
        let garment = builtin::garment("dress:400", &body).unwrap();
        let fabric = builtin::fabric(&garment.fabric).unwrap();
        let motion = builtin::motion("walk", &body.skeleton).unwrap();
        let mut world = World::with_body(&body, &garment, &fabric, Settings::worn()).unwrap();
        world.place_body(&body.bones(&motion.at(0.0)));
        let play = |world: &mut World, from: usize, to: usize| {
            for n in from..to {
                world.step(&body.bones(&motion.at((n + 1) as f64 / 60.0)), 1.0 / 60.0).unwrap();
            }
        };
        play(&mut world, 0, 6);
        let (state, bones) = (world.state.clone(), world.bones().to_vec());
        play(&mut world, 6, 12);
        let once = world.state.clone();
        // Something else in between must leave no trace.
        play(&mut world, 20, 23);
        world.restore(&state, &bones);
        play(&mut world, 6, 12);
        assert!(world.state == once, "it goes another way");
        assert!(once.grips.iter().any(|g| g.touching), "nothing touches");
    }
    #[test]
    fn squeezed_cloth_does_not_keep_the_iteration_going_round() {
        // An arm presses the bodice on the trunk: planes that turn with every iterate took it to the last one allowed in
        // half of all steps.
        let body = builtin::body("mannequin:female").unwrap();
        let garment = builtin::garment("dress:400", &body).unwrap();
        let fabric = builtin::fabric(&garment.fabric).unwrap();
        let motion = builtin::motion("walk:1.2", &body.skeleton).unwrap();
        let settings = Settings::worn().with(|s| s.max_newton = 40);
        let mut world = World::with_body(&body, &garment, &fabric, settings).unwrap();
        world.place_body(&body.bones(&motion.at(0.0)));
        let mut total = StepReport::default();
        for n in 0..60 {
            total.add(&world.step(&body.bones(&motion.at((n + 1) as f64 / 60.0)), 1.0 / 60.0).unwrap());
        }
        let each = f64::from(total.newton) / f64::from(total.substeps);
        assert!(each < 5.5, "{each} iterations a step");
    }
}
