//! Many learned garments at once.

use crate::clock::{self, Clock};
use crate::cpu::kernel::Buffer;
use crate::cpu::packed::Packed;
use crate::cpu::pool::Pool;
use crate::cpu::shard::{BLOCK, Outside, Room, Shard, View};
use crate::{Actor, Error, Isa, Result, pose};
use glam::{Affine3A, DVec3, Vec3};
use std::sync::Arc;
use toile_model::{Attachment, Limits, Model, RootFrame, Surroundings};

/// Instances a thread takes at a time: enough to fill the tiles of the kernels, few enough to share out evenly.
const SHARD: usize = 64;

/// Bytes of vertices that may stay in a cache until they are read. A crowd with more writes them past it: a line that is
/// only written need not be fetched first.
const CACHED: usize = 2 << 20;

/// How the directions that a garment moves in are stored for drawing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Basis {
    /// As in the model.
    #[default]
    Full,
    /// Rounded to `bf16`: half the memory, and so faster where a model is in no cache. What it costs is in
    /// [`Crowd::error_bound_mm`]; the same bits on all instructions, but others than [`Basis::Full`] gives.
    Half,
}

/// How a crowd works; only `basis` changes any bit of a vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CrowdSettings {
    /// Threads that work on a step, the caller's own included. Default 1: a game has its own use for the others.
    pub threads: usize,
    /// Instructions to use. Default: the fastest the processor has.
    pub isa: Isa,
    /// Whether drawing gives vertex normals too. Default no: engines make their own in the shader.
    pub normals: bool,
    /// Default [`Basis::Full`].
    pub basis: Basis,
}

impl CrowdSettings {
    /// These with some of them changed.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

impl Default for CrowdSettings {
    fn default() -> Self {
        Self { threads: 1, isa: Isa::best(), normals: false, basis: Basis::Full }
    }
}

/// A model that was added to a crowd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModelId(u32);

/// One garment in a crowd. It stays good while others come and go; once removed it is never valid again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Instance {
    model: u32,
    place: u32,
    generation: u32,
}

impl ModelId {
    /// As a number, for borders that know no types.
    pub fn to_bits(self) -> u32 {
        self.0
    }

    /// Back from [`ModelId::to_bits`]; any other number names no model.
    pub fn from_bits(bits: u32) -> Self {
        Self(bits)
    }
}

impl Instance {
    /// As numbers, for borders that know no types.
    pub fn to_bits(self) -> [u32; 3] {
        [self.model, self.place, self.generation]
    }

    /// Back from [`Instance::to_bits`]; other numbers name no instance.
    pub fn from_bits([model, place, generation]: [u32; 3]) -> Self {
        Self { model, place, generation }
    }
}

/// What a step did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CrowdReport {
    /// Instances that have a state after it.
    pub stepped: u32,
    /// Latent ticks, of all models together.
    pub ticks: u32,
    /// Inputs that had to be held to the certified set.
    pub clamped: u32,
    /// Poses refused since the step before; their instances kept the pose they had.
    pub refused: u32,
}

/// What is done to every shard.
#[derive(Clone, Copy)]
enum Job {
    Step,
    Draw(View),
}

/// Memory that a thread works in; nothing in it outlives a call.
#[derive(Default)]
struct Scratch {
    normals: Buffer,
    /// What keeping garments outside of their wearers takes.
    outside: Outside,
}

fn work(shard: &mut Shard, job: &Job, scratch: &mut Scratch) {
    match job {
        Job::Step => shard.step(),
        Job::Draw(view) => shard.draw(view, &mut scratch.normals, &mut scratch.outside),
    }
}

/// One model and its places.
struct Herd {
    clock: Clock,
    first_shard: usize,
    reserved: usize,
    /// Places that nobody has.
    free: Vec<u32>,
}

/// Many garments of one or several models: bone matrices in, coefficients or world-space vertices out.
///
/// All memory is taken by [`Crowd::add_model`]; after that, coming and going, stepping and drawing allocate
/// nothing. Every result depends on its own instance's inputs only: not on threads, instructions, neighbours or the
/// order of calls.
pub struct Crowd {
    herds: Vec<Herd>,
    shards: Vec<Shard>,
    pool: Pool<Shard, Job, Scratch>,
    settings: CrowdSettings,
    view: View,
    refused: u32,
}

impl Crowd {
    /// An empty crowd.
    pub fn new(settings: CrowdSettings) -> Self {
        let has = settings.isa == Isa::Unfused || Isa::available().contains(&settings.isa);
        let isa = if has { settings.isa } else { Isa::best() };
        let pool = Pool::new(settings.threads, work);
        let settings = CrowdSettings { threads: pool.threads(), isa, ..settings };
        let view = View { origin: DVec3::ZERO, viewer: None };
        Self { herds: Vec::new(), shards: Vec::new(), pool, settings, view, refused: 0 }
    }

    /// What the crowd runs with, after what the machine has.
    pub fn settings(&self) -> CrowdSettings {
        self.settings
    }

    /// Adds a model and room for `reserve` instances of it. Its certificate is checked here.
    pub fn add_model(&mut self, model: Arc<Model>, reserve: usize) -> Result<ModelId> {
        model.verify_certificate()?;
        if model.triangles.iter().flatten().any(|i| *i as usize >= model.vertices) {
            return Err(Error::Range {
                what: "an index of the model's triangles",
                value: model.vertices as f64,
            });
        }
        if !(model.fps > 0.0 && model.fps <= 1000.0) {
            return Err(Error::Range { what: "the model's rate", value: model.fps });
        }
        let packed = Arc::new(Packed::new(model, self.settings.basis, self.settings.normals));
        let room = if self.settings.normals { Room::Normals } else { Room::Vertices };
        if self.settings.normals {
            let needed = SHARD.div_ceil(BLOCK) * packed.normals.scratch();
            self.pool.provide(|s| {
                if s.normals.len() < needed {
                    s.normals = Buffer::new(needed);
                }
            });
        }
        if let Some(guard) = packed.correcting.as_ref().and_then(|c| c.guard.as_ref()) {
            self.pool.provide(|s| s.outside.provide(guard));
        }
        let clock = Clock::new(packed.model.fps);
        let first_shard = self.shards.len();
        let streams = 4 * packed.vertices.padded() * reserve > CACHED;
        let mut left = reserve;
        while left > 0 {
            let count = left.min(SHARD);
            let mut shard = Shard::new(packed.clone(), self.settings.isa, count, room);
            shard.streams = streams;
            self.shards.push(shard);
            left -= count;
        }
        let free = (0..reserve as u32).rev().collect();
        self.herds.push(Herd { clock, first_shard, reserved: reserve, free });
        Ok(ModelId(self.herds.len() as u32 - 1))
    }

    /// Keeps the vertices of a model's garments within limits that an artist painted, from the next [`Crowd::draw`] on. They are
    /// measured from the garment as `attachment` skins it. Normals are those of the garment before it is kept, and
    /// instances that are given coefficients of the body and no bones are not kept.
    pub fn set_limits(&mut self, model: ModelId, limits: Limits, attachment: Attachment) -> Result<()> {
        let herd = self.herds.get(model.0 as usize).ok_or(Error::Gone)?;
        let shards = herd.first_shard..herd.first_shard + herd.reserved.div_ceil(SHARD);
        let Some(first) = self.shards.get(shards.start) else { return Ok(()) };
        let own = &first.packed.model;
        limits.check(own.vertices).map_err(|what| Error::Limits { what })?;
        if attachment.rest.len() != own.vertices || attachment.skin.len() != own.vertices {
            let what = format!("{} vertices attached, the model has {}", attachment.rest.len(), own.vertices);
            return Err(Error::Limits { what });
        }
        let joints = attachment.skin.joint_count();
        if joints > own.joints {
            return Err(Error::Joints { given: own.joints, expected: joints });
        }
        let limits = Arc::new((limits, attachment));
        self.shards[shards].iter_mut().for_each(|shard| shard.limit(limits.clone()));
        Ok(())
    }

    /// A garment that waits for its first pose.
    pub fn add(&mut self, model: ModelId) -> Result<Instance> {
        let herd = self.herds.get_mut(model.0 as usize).ok_or(Error::Gone)?;
        let place = herd.free.pop().ok_or(Error::Full { reserved: herd.reserved })?;
        let (shard, slot) = (herd.first_shard + place as usize / SHARD, place as usize % SHARD);
        self.shards[shard].enter(slot);
        Ok(Instance { model: model.0, place, generation: self.shards[shard].slots[slot].generation })
    }

    /// Takes a garment out; others are not affected.
    pub fn remove(&mut self, instance: Instance) -> Result<()> {
        let (shard, slot) = self.find(instance)?;
        self.shards[shard].leave(slot);
        self.herds[instance.model as usize].free.push(instance.place);
        Ok(())
    }

    fn find(&self, instance: Instance) -> Result<(usize, usize)> {
        let herd = self.herds.get(instance.model as usize).ok_or(Error::Gone)?;
        if instance.place as usize >= herd.reserved {
            return Err(Error::Gone);
        }
        let (shard, slot) =
            (herd.first_shard + instance.place as usize / SHARD, instance.place as usize % SHARD);
        let found = &self.shards[shard].slots[slot];
        if found.alive && found.generation == instance.generation {
            Ok((shard, slot))
        } else {
            Err(Error::Gone)
        }
    }

    /// The model an instance is of.
    pub fn model(&self, instance: Instance) -> Result<&Model> {
        let (shard, _) = self.find(instance)?;
        Ok(&self.shards[shard].packed.model)
    }

    /// The pose to step to. `bones` are `actor_from_bind`, one per joint; root and heading come from the model's
    /// hips. An instance that gets none stands still.
    pub fn set_pose(&mut self, instance: Instance, actor: &Actor, bones: &[Affine3A]) -> Result<()> {
        let (shard, slot) = self.find(instance)?;
        let shard = &mut self.shards[shard];
        let result = pose::check(bones, shard.packed.model.joints, actor)
            .and_then(|()| shard.root_from_hips(slot, actor, bones))
            .map(|root| shard.set_pose(slot, actor, bones, root));
        self.refused += u32::from(result.is_err());
        result
    }

    /// As [`Crowd::set_pose`], with a root frame in the world that the caller follows, for instance with
    /// [`toile_model::RootTracker`].
    pub fn set_pose_with_root(
        &mut self,
        instance: Instance,
        actor: &Actor,
        bones: &[Affine3A],
        root: &RootFrame,
    ) -> Result<()> {
        let (shard, slot) = self.find(instance)?;
        let shard = &mut self.shards[shard];
        let result = pose::check(bones, shard.packed.model.joints, actor)
            .and_then(|()| pose::check_root(root))
            .map(|()| shard.set_pose(slot, actor, bones, *root));
        self.refused += u32::from(result.is_err());
        result
    }

    /// As [`Crowd::set_pose_with_root`], from body coefficients instead of bones: garments of one wearer whose models
    /// share a body space need the product with the bones only once.
    pub fn set_body(&mut self, instance: Instance, x: &[f32], root: &RootFrame) -> Result<()> {
        let (shard, slot) = self.find(instance)?;
        let shard = &mut self.shards[shard];
        if shard.packed.correcting.is_some() {
            self.refused += 1;
            return Err(Error::NeedsBones);
        }
        let result = pose::check_coefficients(x, shard.packed.model.body_dims)
            .and_then(|()| pose::check_root(root))
            .map(|()| shard.set_body(slot, x, *root));
        self.refused += u32::from(result.is_err());
        result
    }

    /// The body coefficients of the latest tick, held to the certified set.
    pub fn body(&self, instance: Instance) -> Result<&[f32]> {
        let (shard, slot) = self.find(instance)?;
        Ok(self.shards[shard].body_coefficients(slot))
    }

    /// Wind, gravity and cloth of an instance from the next step on, in the world; a reset keeps them. A model that was not
    /// trained for them does not hear: see [`Model::hears`].
    pub fn set_surroundings(&mut self, instance: Instance, surroundings: &Surroundings) -> Result<()> {
        let (shard, slot) = self.find(instance)?;
        if !surroundings.is_finite() {
            return Err(Error::Range { what: "wind, gravity or fabric", value: f64::NAN });
        }
        self.shards[shard].slots[slot].surroundings = *surroundings;
        Ok(())
    }

    /// Forgets an instance's history: the next step starts afresh from its pose.
    pub fn reset(&mut self, instance: Instance) -> Result<()> {
        let (shard, slot) = self.find(instance)?;
        self.shards[shard].reset(slot);
        Ok(())
    }

    /// The next pose is somewhere else: the garment keeps its shape and does not feel the way there.
    pub fn teleport(&mut self, instance: Instance) -> Result<()> {
        let (shard, slot) = self.find(instance)?;
        self.shards[shard].teleport(slot);
        Ok(())
    }

    /// Whether vertices are wanted; the state goes on either way. On at first.
    pub fn set_drawn(&mut self, instance: Instance, drawn: bool) -> Result<()> {
        let (shard, slot) = self.find(instance)?;
        self.shards[shard].slots[slot].drawn = drawn;
        Ok(())
    }

    /// How far any vertex of an instance may be off for the sake of speed, mm: trailing dims are left out as long
    /// as this is kept. 0 at first.
    pub fn set_tolerance_mm(&mut self, instance: Instance, tolerance_mm: f32) -> Result<()> {
        let (shard, slot) = self.find(instance)?;
        in_range("the tolerance", tolerance_mm)?;
        self.shards[shard].slots[slot].tolerance_m = tolerance_mm / 1000.0;
        Ok(())
    }

    /// Draws an instance with at most so many dims from now on, those that come or go fading within `secs`. With none a
    /// model D is skinned. What is left out counts in [`Crowd::error_bound_mm`].
    pub fn fade_dims(&mut self, instance: Instance, dims: usize, secs: f32) -> Result<()> {
        let (shard, slot) = self.find(instance)?;
        in_range("the time to fade", secs)?;
        self.shards[shard].fade(slot, dims, secs);
        Ok(())
    }

    /// Lets the tolerance grow with the distance from a viewer: `mm_per_metre` is the size of a pixel seen from one
    /// metre (1.0 for 60° over 1,080 rows). The larger of this and the instance's own holds.
    pub fn set_viewer(&mut self, viewer: Option<(DVec3, f32)>) -> Result<()> {
        if let Some((at, mm_per_metre)) = viewer {
            in_range("mm per metre", mm_per_metre)?;
            pose::check_place("the viewer", at)?;
        }
        self.view.viewer = viewer.map(|(at, mm)| (at, mm / 1000.0));
        Ok(())
    }

    /// What vertices are relative to, in the world: in large worlds the camera, so that `f32` has millimetres to
    /// spare. The world's origin at first.
    pub fn set_origin(&mut self, origin: DVec3) -> Result<()> {
        pose::check_place("the origin", origin)?;
        self.view.origin = origin;
        Ok(())
    }

    /// Advances all garments by `dt_secs` to the poses that were set. Vertices change with [`Crowd::draw`].
    pub fn step(&mut self, dt_secs: f64) -> Result<CrowdReport> {
        clock::check(dt_secs)?;
        let mut report = CrowdReport { refused: std::mem::take(&mut self.refused), ..CrowdReport::default() };
        for herd in &mut self.herds {
            let plan = herd.clock.advance(dt_secs)?;
            report.ticks += plan.ticks;
            let shards = herd.reserved.div_ceil(SHARD);
            for shard in &mut self.shards[herd.first_shard..herd.first_shard + shards] {
                shard.plan = plan;
                shard.age_fades(dt_secs as f32);
            }
        }
        self.pool.run(&mut self.shards, Job::Step);
        for shard in &self.shards {
            report.clamped += shard.clamped;
            report.stepped += shard.stepped;
        }
        Ok(report)
    }

    /// Makes the vertices of all drawn instances.
    pub fn draw(&mut self) {
        self.pool.run(&mut self.shards, Job::Draw(self.view));
    }

    /// The cloth coefficients shown: all an engine with the garment's basis as morph targets needs.
    pub fn coefficients(&self, instance: Instance) -> Result<&[f32]> {
        let (shard, slot) = self.find(instance)?;
        Ok(self.shards[shard].coefficients(slot))
    }

    /// How far a model D trusts what it learned for the present pose: 1 within what training saw, 0 where the garment is
    /// merely skinned. Always 1 for the published kinds.
    pub fn gate(&self, instance: Instance) -> Result<f32> {
        let (shard, slot) = self.find(instance)?;
        Ok(self.shards[shard].gate(slot))
    }

    /// The vertices as drawn last, relative to the origin.
    pub fn vertices(&self, instance: Instance) -> Result<&[Vec3]> {
        let (shard, slot) = self.find(instance)?;
        Ok(self.shards[shard].vertices(slot))
    }

    /// Unit vertex normals as drawn last; empty unless the settings ask for them.
    pub fn normals(&self, instance: Instance) -> Result<&[Vec3]> {
        let (shard, slot) = self.find(instance)?;
        Ok(self.shards[shard].normals(slot))
    }

    /// The canonical frame that goes with the coefficients; `None` before the first step.
    pub fn root(&self, instance: Instance) -> Result<Option<RootFrame>> {
        let (shard, slot) = self.find(instance)?;
        Ok(self.shards[shard].root(slot))
    }

    /// How many dims the instance was drawn with last.
    pub fn drawn_dims(&self, instance: Instance) -> Result<usize> {
        let (shard, slot) = self.find(instance)?;
        Ok(self.shards[shard].drawn_dims(slot))
    }

    /// How far any vertex may be off as it was drawn last, for dims left out and for a rounded basis, mm.
    pub fn error_bound_mm(&self, instance: Instance) -> Result<f32> {
        let (shard, slot) = self.find(instance)?;
        Ok(1000.0 * self.shards[shard].slots[slot].bound_m)
    }
}

pub(crate) fn in_range(what: &'static str, value: f32) -> Result<()> {
    if value.is_finite() && value >= 0.0 { Ok(()) } else { Err(Error::Range { what, value: value.into() }) }
}
