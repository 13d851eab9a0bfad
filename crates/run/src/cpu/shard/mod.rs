//! A few dozen instances of one model: the unit that a thread works on.
//!
//! Numbers of a kind lie together, a row per instance, so that the kernels take any of them in any order. A shard
//! owns all it writes to; threads hand shards over whole.

mod correct;
mod draw;
mod tick;

use crate::clock::Plan;
use crate::cpu::kernel::{Buffer, Isa, Placement, cast};
use crate::cpu::packed::Packed;
use crate::pose::{self, Pose};
use crate::{Actor, Error, Result};
use correct::{RootMotion, State};
use glam::{Affine3A, Vec3};
use std::sync::Arc;
use toile_model::{Attachment, Limits, RootFrame, RootTracker, Surroundings};

pub(crate) use draw::{BLOCK, Outside, View, placement, world_bones};

/// Longest history a model may have.
pub(crate) const MAX_ORDER: usize = 5;

/// What the root did within a tick: displacement in the frame before it, and turn.
#[derive(Clone, Copy)]
struct RootMove {
    delta: Vec3,
    sin: f32,
    cos_less_1: f32,
}

impl RootMove {
    const NONE: Self = Self { delta: Vec3::ZERO, sin: 0.0, cos_less_1: 0.0 };
}

/// From so many dims to so many, over a time.
#[derive(Clone, Copy)]
struct Fade {
    from: u16,
    to: u16,
    /// What is left of the time, as a share of it, and what passes of it in a second.
    left: f32,
    per_second: f32,
    /// What comes after it.
    then: u16,
}

impl Fade {
    const ALL: Self = Self { from: u16::MAX, to: u16::MAX, left: 0.0, per_second: 0.0, then: u16::MAX };

    fn age(&mut self, dt_secs: f32) {
        self.left = (self.left - self.per_second * dt_secs).max(0.0);
        if self.left == 0.0 && self.then != self.to {
            (self.from, self.to, self.left) = (self.to, self.then, 1.0);
        }
    }

    /// Dims that are drawn whole, those that are drawn at all, and how much of what is between.
    fn now(&self) -> (usize, usize, f32) {
        let (low, high) = (self.from.min(self.to).into(), self.from.max(self.to).into());
        if self.left <= 0.0 {
            return (self.to.into(), self.to.into(), 1.0);
        }
        // No speed and no acceleration at either end.
        let s = 1.0 - self.left;
        let gone = s * s * s * (10.0 + s * (6.0 * s - 15.0));
        (low, high, if self.to > self.from { gone } else { 1.0 - gone })
    }
}

/// No wind, the usual gravity, the middle of training's cloths.
const CALM: Surroundings =
    Surroundings { wind: Vec3::ZERO, gravity: Vec3::new(0.0, -toile_model::GRAVITY, 0.0), fabric: None };

/// What is particular to one instance.
#[derive(Clone, Copy)]
pub(crate) struct Slot {
    pub alive: bool,
    pub generation: u32,
    /// Whether vertices are wanted.
    pub drawn: bool,
    /// How far a vertex may be off for the sake of speed, m.
    pub tolerance_m: f32,
    /// How far any vertex may be off as drawn last, m.
    pub bound_m: f32,
    /// Dims that are drawn at most.
    fade: Fade,
    pub tracker: RootTracker,
    /// The pose at the end of the last step and the one to step to; `current` says which is the newer.
    poses: [Pose; 2],
    current: usize,
    /// A pose has been given since the last step.
    moved: bool,
    /// A pose has ever been given.
    posed: bool,
    /// The next pose is not reached by moving there.
    jumps: bool,
    /// There is no latent state yet.
    fresh: bool,
    /// Ticks since the start, as far as they matter.
    frames: usize,
    /// The root at the latest tick, and sine and cosine of its heading.
    root: Option<RootFrame>,
    turned: (f64, f64),
    /// Of the latest ticks, latest first.
    moves: [RootMove; MAX_ORDER],
    /// What a model D is told of the root: in the latest tick and the one before.
    motion: [RootMotion; 2],
    /// Wind, gravity and cloth, in the world.
    pub surroundings: Surroundings,
}

impl Slot {
    const EMPTY: Self = Self {
        alive: false,
        generation: 0,
        drawn: true,
        tolerance_m: 0.0,
        bound_m: 0.0,
        fade: Fade::ALL,
        tracker: RootTracker::NEW,
        poses: [Pose::NONE; 2],
        current: 0,
        moved: false,
        posed: false,
        jumps: true,
        fresh: true,
        frames: 0,
        root: None,
        turned: (0.0, 1.0),
        moves: [RootMove::NONE; MAX_ORDER],
        motion: [RootMotion::NONE; 2],
        surroundings: CALM,
    };
}

/// What a shard has room for beside latent states.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    Nothing,
    Vertices,
    Normals,
}

/// Instances of one model and all their numbers.
pub(crate) struct Shard {
    pub packed: Arc<Packed>,
    pub isa: Isa,
    /// Vertices are more than the caches hold: they are written past them.
    pub streams: bool,
    pub slots: Vec<Slot>,
    /// What the next step does.
    pub plan: Plan,
    /// What vertices are kept within once they are made.
    pub limits: Option<Arc<(Limits, Attachment)>>,
    /// Bones of the instance that is being kept.
    limited: Vec<Affine3A>,
    /// Inputs clamped in the last step, and instances that have a state after it.
    pub clamped: u32,
    pub stepped: u32,
    /// Centred canonical bones, or body coefficients: for each instance the two poses and one row for what is
    /// between them at a tick.
    bones: Buffer,
    /// Length of such a row.
    stride: usize,
    /// Body coefficients as they come.
    body: Buffer,
    /// Inputs of the latent product: `[x y_{t−1} … y_{t−N} z₁ … z_N]`.
    inputs: Buffer,
    /// What else a model D remembers.
    correction: Option<State>,
    /// Bones of the instances that are being drawn, lanes over instances: only of a model D.
    bone_lanes: Buffer,
    /// Latent vectors of the tick in progress, the latest and the one before.
    next: Buffer,
    now: Buffer,
    before: Buffer,
    /// What is shown where that is not the latest: between `before` and `now`.
    between: Buffer,
    /// What is drawn: what is shown, cut off where the tolerance allows.
    cut: Buffer,
    depths: Vec<u16>,
    places: Vec<Placement>,
    vertices: Buffer,
    /// Empty unless wanted.
    normals: Buffer,
    /// Instances that take part in what is going on.
    which: Vec<u32>,
    /// For each instance the row of `bones` that this tick reads.
    rows: Vec<u32>,
    /// Rows to multiply and rows to write.
    pairs: Vec<(u32, u32)>,
}

impl Shard {
    /// A shard of `count` places.
    pub fn new(packed: Arc<Packed>, isa: Isa, count: usize, room: Room) -> Self {
        let (d, b) = (packed.latent.padded(), packed.body.padded());
        let drawn = if room == Room::Nothing { 0 } else { count };
        let stride = packed.body.depth().max(packed.body.rows());
        let with_normals = if room == Room::Normals { count } else { 0 };
        Self {
            isa,
            streams: false,
            slots: vec![Slot::EMPTY; count],
            plan: Plan::NONE,
            limits: None,
            limited: Vec::new(),
            clamped: 0,
            stepped: 0,
            bones: Buffer::new(count * 3 * stride),
            stride,
            body: Buffer::new(count * b),
            inputs: Buffer::new(if packed.correcting.is_some() { 0 } else { count * packed.latent.depth() }),
            correction: packed
                .correcting
                .as_ref()
                .zip(packed.model.correction.as_ref())
                .map(|(packed, c)| State::new(packed, c, count)),
            bone_lanes: Buffer::new(if packed.correcting.is_some() {
                BLOCK * packed.body.depth()
            } else {
                0
            }),
            next: Buffer::new(count * d),
            now: Buffer::new(count * d),
            before: Buffer::new(count * d),
            between: Buffer::new(count * d),
            cut: Buffer::new(drawn * d),
            depths: vec![0; drawn],
            places: vec![Placement::NONE; drawn],
            vertices: Buffer::new(drawn * packed.vertices.padded()),
            normals: Buffer::new(with_normals * packed.vertices.padded()),
            which: Vec::with_capacity(count),
            rows: vec![0; count],
            pairs: Vec::with_capacity(count),
            packed,
        }
    }

    /// Keeps what is drawn from now on within limits.
    pub fn limit(&mut self, limits: Arc<(Limits, Attachment)>) {
        self.limited = vec![Affine3A::IDENTITY; self.packed.model.joints];
        self.limits = Some(limits);
    }

    /// Takes a place: everything about who had it before is forgotten, and nothing of it shown.
    pub fn enter(&mut self, i: usize) {
        let (d, rows) = (self.packed.latent.padded(), self.packed.vertices.padded());
        for states in [&mut self.now, &mut self.before, &mut self.between] {
            states[i * d..(i + 1) * d].fill(0.0);
        }
        for drawn in [&mut self.vertices, &mut self.normals] {
            if !drawn.is_empty() {
                drawn[i * rows..(i + 1) * rows].fill(0.0);
            }
        }
        if let Some(state) = &mut self.correction {
            state.forget(i);
        }
        self.slots[i] = Slot { alive: true, generation: self.slots[i].generation, ..Slot::EMPTY };
    }

    /// Gives a place back.
    pub fn leave(&mut self, i: usize) {
        self.slots[i].alive = false;
        self.slots[i].generation = self.slots[i].generation.wrapping_add(1);
    }

    /// Forgets all history; the next step starts afresh.
    pub fn reset(&mut self, i: usize) {
        let slot = &mut self.slots[i];
        (slot.frames, slot.root, slot.moved, slot.jumps, slot.fresh) = (0, None, false, true, true);
        slot.moves = [RootMove::NONE; MAX_ORDER];
        slot.motion = [RootMotion::NONE; 2];
        slot.tracker = RootTracker::NEW;
    }

    /// The next pose is somewhere else: the garment keeps its shape and does not feel the way there.
    pub fn teleport(&mut self, i: usize) {
        let slot = &mut self.slots[i];
        (slot.root, slot.moved, slot.jumps) = (None, false, true);
        slot.tracker = RootTracker::NEW;
    }

    /// Draws at most so many dims, in `secs` from now.
    pub fn fade(&mut self, i: usize, dims: usize, secs: f32) {
        let all = self.packed.latent.rows();
        let fade = &mut self.slots[i].fade;
        let (to, now) = (dims.min(all) as u16, fade.to.min(all as u16));
        let per_second = 1.0 / secs.max(1e-6);
        *fade = if secs <= 0.0 || to == now && fade.left == 0.0 {
            Fade { from: to, to, left: 0.0, per_second, then: to }
        } else if fade.left > 0.0 {
            // One that goes on ends first: nothing is ever at two fades.
            Fade { then: to, ..*fade }
        } else {
            Fade { from: now, to, left: 1.0, per_second, then: to }
        };
    }

    /// Time passes for all that fade.
    pub fn age_fades(&mut self, dt_secs: f32) {
        self.slots.iter_mut().for_each(|slot| slot.fade.age(dt_secs));
    }

    /// Takes a checked pose for the next step.
    pub fn set_pose(&mut self, i: usize, actor: &Actor, bones: &[Affine3A], root: RootFrame) {
        let packed = self.packed.clone();
        let row = self.take_pose(i, Pose { root, is_coefficients: false });
        pose::canonical(actor, &root, bones, &packed.model.bones_mean, row);
    }

    /// Takes checked body coefficients for the next step.
    pub fn set_body(&mut self, i: usize, x: &[f32], root: RootFrame) {
        self.take_pose(i, Pose { root, is_coefficients: true })[..x.len()].copy_from_slice(x);
    }

    /// Where the numbers of a new pose go.
    fn take_pose(&mut self, i: usize, pose: Pose) -> &mut [f32] {
        let slot = &mut self.slots[i];
        // The first pose since the last step goes where the older one is; a second one corrects it.
        if !slot.moved {
            slot.current ^= 1;
        }
        slot.poses[slot.current] = pose;
        // Between bones and coefficients there is nothing to interpolate.
        let alike = slot.poses[slot.current ^ 1].is_coefficients == pose.is_coefficients;
        slot.moved = !slot.jumps && alike;
        (slot.posed, slot.jumps) = (true, false);
        let at = (3 * i + slot.current) * self.stride;
        &mut self.bones[at..at + self.stride]
    }

    /// The root frame that hips give, in the world.
    pub fn root_from_hips(&mut self, i: usize, actor: &Actor, bones: &[Affine3A]) -> Result<RootFrame> {
        let hips = self.packed.model.hips.as_ref().ok_or(Error::NoHips)?;
        let [root, left, right] = hips.points(bones).map(|p| actor.rotation * p);
        let mut tracker = self.slots[i].tracker;
        let (heading, _) = tracker.follow(left - right);
        let root = RootFrame { position: actor.position + root.as_dvec3(), heading };
        // What is refused leaves nothing behind.
        pose::check_root(&root)?;
        self.slots[i].tracker = tracker;
        Ok(root)
    }

    /// The coefficients shown.
    pub fn coefficients(&self, i: usize) -> &[f32] {
        let d = self.packed.latent.padded();
        &self.shown()[i * d..i * d + self.packed.latent.rows()]
    }

    /// The rows that are shown: the latest, or between two ticks.
    fn shown(&self) -> &[f32] {
        if self.plan.show >= 1.0 { &self.now } else { &self.between }
    }

    /// The body coefficients of the latest tick, after clamping.
    pub fn body_coefficients(&self, i: usize) -> &[f32] {
        if self.correction.is_some() {
            return &self.body[i * self.packed.body.padded()..][..self.packed.body.rows()];
        }
        let at = i * self.packed.latent.depth();
        &self.inputs[at..at + self.packed.body.rows()]
    }

    /// How far a model D trusts what it learned for the pose of the latest tick, 0 to 1; 1 for the others.
    pub fn gate(&self, i: usize) -> f32 {
        self.correction.as_ref().map_or(1.0, |state| state.gate(i))
    }

    /// Vertices as drawn last.
    pub fn vertices(&self, i: usize) -> &[Vec3] {
        let at = i * self.packed.vertices.padded();
        cast::points(&self.vertices[at..at + self.packed.vertices.rows()])
    }

    /// Coefficients that were drawn last.
    pub fn drawn_dims(&self, i: usize) -> usize {
        self.depths[i].into()
    }

    /// Normals as drawn last; empty where they are not wanted.
    pub fn normals(&self, i: usize) -> &[Vec3] {
        if self.normals.is_empty() {
            return &[];
        }
        let at = i * self.packed.vertices.padded();
        cast::points(&self.normals[at..at + self.packed.vertices.rows()])
    }

    /// The bones of the present pose in the world.
    pub fn write_bones(&self, i: usize, out: &mut [f32]) {
        let pose = &self.slots[i].poses[self.slots[i].current];
        let row = &self.bones[(3 * i + self.slots[i].current) * self.stride..][..self.packed.body.depth()];
        world_bones(&self.packed, row, &pose.root, glam::DVec3::ZERO, |at, value| out[at] = value);
    }

    /// Where the instance's canonical frame is now; `None` before its first step.
    pub fn root(&self, i: usize) -> Option<RootFrame> {
        let slot = &self.slots[i];
        (!slot.fresh).then(|| slot.poses[slot.current].root)
    }
}
