//! What all methods are given: one cloth, how it is held and moved, and what is in its way.
//!
//! A [`Stage`] wraps the simulator's own [`World`] before its first step, so mesh, masses, flat shapes, fabric and colliders
//! are the very ones that the default solver has. Methods keep only what is theirs.

use glam::{Affine3A, DAffine3, DVec3, Mat3A, Vec3A};
use toile_simulate::contact::body::BodySurface;
use toile_simulate::contact::collider::Collider;
use toile_simulate::{Scene, World};

/// As fast as limbs of a walker go, m/s.
const LIMB_SPEED: f64 = 2.5;

/// Keys of moving things a second.
pub const KEY_RATE: f64 = 240.0;

/// A regular grid of particles, which the oldest methods are written for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lattice {
    /// Particles along the weft.
    pub across: usize,
    /// Particles along the warp.
    pub along: usize,
    /// Whether the weft closes on itself.
    pub wraps: bool,
    /// Distance of neighbours along weft and warp, m.
    pub spacing: [f64; 2],
}

impl Lattice {
    /// The particle at column `i` and row `j`, if there is one.
    pub fn at(&self, i: isize, j: isize) -> Option<usize> {
        let (w, h) = (self.across as isize, self.along as isize);
        let i = if self.wraps { i.rem_euclid(w) } else { i };
        ((0..w).contains(&i) && (0..h).contains(&j)).then_some((j * w + i) as usize)
    }

    /// All particles with column and row.
    pub fn each(&self) -> impl Iterator<Item = (isize, isize, usize)> + use<> {
        let (w, h) = (self.across, self.along);
        (0..h).flat_map(move |j| (0..w).map(move |i| (i as isize, j as isize, j * w + i)))
    }
}

/// Places of held vertices over time.
#[derive(Clone, Debug, Default)]
pub struct Track {
    /// Who is held.
    pub vertices: Vec<u32>,
    /// Where, [`KEY_RATE`] times a second; one key stands for ever.
    pub keys: Vec<Vec<DVec3>>,
}

impl Track {
    /// Where vertex `k` of the track is at `secs`.
    pub fn at(&self, k: usize, secs: f64) -> DVec3 {
        let (a, b, t) = between(self.keys.len(), secs);
        self.keys[a][k].lerp(self.keys[b][k], t)
    }

    /// All held vertices with their places at `secs`.
    pub fn all(&self, secs: f64) -> impl Iterator<Item = (usize, DVec3)> + '_ {
        self.vertices.iter().enumerate().map(move |(k, v)| (*v as usize, self.at(k, secs)))
    }
}

/// The keys about a moment and how far it is from the first to the second.
fn between(keys: usize, secs: f64) -> (usize, usize, f64) {
    let at = (secs * KEY_RATE).clamp(0.0, (keys - 1) as f64);
    let a = (at as usize).min(keys - 1);
    (a, (a + 1).min(keys - 1), at - a as f64)
}

/// A scene of the laboratory's comparison.
#[derive(Clone, Debug)]
pub struct Stage {
    /// What it is called.
    pub name: &'static str,
    /// The cloth before the first step, as the default solver has it.
    pub world: World,
    /// Its particles as a grid, where they are one.
    pub lattice: Option<Lattice>,
    /// Held vertices.
    pub pins: Track,
    /// Bones of the wearer, [`KEY_RATE`] times a second; empty where nothing moves.
    pub bones: Vec<Vec<Affine3A>>,
    /// Whether cloth touches the wearer; else bones only move pins.
    pub worn: bool,
    /// How long it is played.
    pub secs: f64,
    /// Coulomb's coefficient.
    pub friction: f64,
}

impl Stage {
    /// The cloth.
    pub fn cloth(&self) -> &Scene {
        &self.world.scene
    }

    /// m/s².
    pub fn gravity(&self) -> DVec3 {
        self.world.settings.gravity
    }

    /// Where particles begin.
    pub fn start(&self) -> State {
        State { x: self.world.state.x.clone(), v: self.world.state.v.clone(), secs: 0.0 }
    }

    /// Which vertices are held.
    pub fn held(&self) -> Vec<bool> {
        let mut held = vec![false; self.cloth().len()];
        self.pins.vertices.iter().for_each(|&v| held[v as usize] = true);
        held
    }

    /// The wearer's bones at `secs`.
    pub fn bones_at(&self, secs: f64) -> Vec<Affine3A> {
        if self.bones.is_empty() {
            return Vec::new();
        }
        let (a, b, t) = between(self.bones.len(), secs);
        let mix = |p: Vec3A, q: Vec3A| p.lerp(q, t as f32);
        let pairs = self.bones[a].iter().zip(&self.bones[b]);
        pairs
            .map(|(p, q)| {
                let (m, n) = (p.matrix3, q.matrix3);
                let axes = [0, 1, 2].map(|k| mix(m.col(k), n.col(k)));
                Affine3A {
                    matrix3: Mat3A::from_cols(axes[0], axes[1], axes[2]),
                    translation: mix(p.translation, q.translation),
                }
            })
            .collect()
    }
}

/// What changes: places and velocities.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// m.
    pub x: Vec<DVec3>,
    /// m/s.
    pub v: Vec<DVec3>,
    /// Time since the start.
    pub secs: f64,
}

impl State {
    /// Puts held vertices where they are at `to`, with the speed of getting there in `h`.
    pub fn hold(&mut self, pins: &Track, to: f64, h: f64) {
        for (v, p) in pins.all(to) {
            self.v[v] = (p - self.x[v]) / h;
            self.x[v] = p;
        }
    }

    /// Takes as velocities what got vertices from `before` to where they are in `h`.
    pub fn came_from(&mut self, before: &[DVec3], h: f64) {
        for (v, (x, before)) in self.v.iter_mut().zip(self.x.iter().zip(before)) {
            *v = (*x - *before) / h;
        }
    }

    /// Puts vertices that passed a plane back onto it.
    pub fn push_out(&mut self, touches: &[Touch], held: &[bool]) {
        for t in touches {
            let gap = t.gap(self.x[t.vertex]);
            if gap < 0.0 && !held[t.vertex] {
                self.x[t.vertex] -= t.normal * gap;
            }
        }
    }
}

/// A plane that a vertex may not pass, moving with what it lies on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// Who.
    pub vertex: usize,
    /// Outward.
    pub normal: DVec3,
    /// A point of the plane at the end of the step, the distance to be kept already added.
    pub point: DVec3,
    /// Of the surface there, m/s.
    pub velocity: DVec3,
}

impl Touch {
    /// Distance of a place from the plane, negative beyond it.
    pub fn gap(&self, p: DVec3) -> f64 {
        self.normal.dot(p - self.point)
    }
}

/// Finds what vertices are near: rigid shapes and the wearer.
#[derive(Clone, Debug)]
pub struct Obstacles {
    colliders: Vec<Collider>,
    surface: Option<BodySurface>,
    gap_m: f64,
    key: Option<usize>,
    found: Vec<Touch>,
    found_at: f64,
    now: Vec<Touch>,
}

impl Obstacles {
    /// Those of a stage.
    pub fn new(stage: &Stage) -> Self {
        let settings = &stage.world.settings;
        Self {
            colliders: stage.world.state.colliders.clone(),
            surface: stage.world.body().filter(|_| stage.worn).cloned(),
            // As far as the default solver keeps.
            gap_m: 0.5 * stage.cloth().fabric.thickness + settings.skin_m,
            key: None,
            found: Vec::new(),
            found_at: f64::NEG_INFINITY,
            now: Vec::new(),
        }
    }

    /// Planes near `state` for a step of `h`, as they are at its end. They are looked for again after 1/240 s at most.
    pub fn near(&mut self, stage: &Stage, state: &State, h: f64) -> Vec<Touch> {
        let to = state.secs + h;
        if to > self.found_at + 1e-9 {
            let span = h.max(1.0 / KEY_RATE);
            self.look(stage, state, span);
            self.found_at = state.secs + span;
        }
        let shift = to - self.found_at;
        self.now.clear();
        self.now.extend(self.found.iter().map(|t| Touch { point: t.point + t.velocity * shift, ..*t }));
        self.now.clone()
    }

    fn look(&mut self, stage: &Stage, state: &State, span: f64) {
        self.found.clear();
        if let Some(surface) = &mut self.surface {
            // The surface moves from key to key; a longer step is one motion.
            let key = (state.secs * KEY_RATE + 1e-6) as usize;
            let end = ((state.secs + span) * KEY_RATE - 1e-6).ceil() as usize;
            if self.key != Some(key) {
                surface.place(&stage.bones_at(key as f64 / KEY_RATE));
            }
            surface.begin(&stage.bones_at(end as f64 / KEY_RATE));
            self.key = Some(end);
            // Nearest points are looked for where the body was, when cloth was still outside, and go with it from there.
            surface.advance(0.0, 0.0);
            let mut near = Vec::new();
            for (i, p) in state.x.iter().enumerate() {
                let reach = 0.02 + span * (state.v[i].length() + LIMB_SPEED);
                near.extend(surface.nearest(*p, reach.min(0.2)).map(|at| (i, at)));
            }
            let share = ((state.secs + span) * KEY_RATE - key as f64) / (end - key).max(1) as f64;
            surface.advance(0.0, share.min(1.0));
            for (vertex, at) in near.into_iter().filter(|n| !surface.is_free_arm(n.1.triangle)) {
                let (moved, _) = surface.material(at.triangle, at.weights);
                let (point, velocity) = (moved.point + moved.normal * self.gap_m, surface.motion(&at) / span);
                self.found.push(Touch { vertex, normal: moved.normal, point, velocity });
            }
        }
        for (i, p) in state.x.iter().enumerate() {
            let reach = 0.02 + 1.5 * span * state.v[i].length();
            for c in &self.colliders {
                let (d, normal) = c.distance(&c.world_from_local, *p);
                if d - self.gap_m < reach {
                    let point = *p - normal * (d - self.gap_m);
                    self.found.push(Touch { vertex: i, normal, point, velocity: rigid(c, point, span) });
                }
            }
        }
    }
}

fn rigid(c: &Collider, p: DVec3, span: f64) -> DVec3 {
    let before: DAffine3 = c.world_from_local_before;
    let local = c.world_from_local.inverse().transform_point3(p);
    (p - before.transform_point3(local)) / span
}

/// Puts vertices that passed a plane back on it: the impact is inelastic and rubs by Coulomb's law.
pub fn collide(touches: &[Touch], held: &[bool], friction: f64, h: f64, state: &mut State) {
    for t in touches {
        let i = t.vertex;
        let gap = t.gap(state.x[i]);
        if gap >= 0.0 || held[i] {
            continue;
        }
        state.x[i] -= t.normal * gap;
        let relative = state.v[i] - t.velocity;
        let speed = relative.dot(t.normal);
        let slip = relative - t.normal * speed;
        let stopped = friction * (-speed).max(0.0);
        let kept = (1.0 - stopped / slip.length().max(1e-12)).max(0.0);
        // What friction stopped has already moved in this step.
        state.x[i] -= slip * (1.0 - kept) * h;
        state.v[i] = t.velocity + slip * kept + t.normal * speed.max(0.0);
    }
}
