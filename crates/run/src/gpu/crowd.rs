//! Many learned garments at once, on the device.

use super::device::Gpu;
use super::floor::{self, Floors};
use super::kernel::Kernel;
use super::kernel::passes::Passes;
use super::packed::{Layouts, Packed, Sizes};
use super::shard::correct::Correct;
use super::shard::{self as chunk, PosedRow, PosedRows, Step};
use super::timing::{Stage, Timing};
use crate::clock::{self, Clock, MAX_DT_SECS, Plan};
use crate::cpu::crowd::in_range;
use crate::{Actor, Error, Instance, ModelId, Result, pose};
use glam::{Affine3A, DVec3, Vec3};
use std::sync::Arc;
use toile_model::{Model, RootFrame, RootTracker};

/// How a crowd on the device works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GpuSettings {
    /// How vertices are made. Default [`Kernel::PORTABLE`].
    pub kernel: Kernel,
    /// Whether drawing gives vertex normals too. Default no.
    pub normals: bool,
}

impl GpuSettings {
    /// These with some of them changed.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

impl Default for GpuSettings {
    fn default() -> Self {
        Self { kernel: Kernel::PORTABLE, normals: false }
    }
}

/// What is particular to one place.
#[derive(Clone, Copy)]
struct Slot {
    alive: bool,
    generation: u32,
    /// Counts whenever a history begins; the device compares it with the one that its state belongs to.
    life: u32,
    drawn: bool,
    posed: bool,
    /// The next pose is not reached by moving there, or the one of that step was not.
    jumps: bool,
    jumped_in: u64,
    tracker: RootTracker,
}

impl Slot {
    const EMPTY: Self = Self {
        alive: false,
        generation: 0,
        life: 0,
        drawn: true,
        posed: false,
        jumps: true,
        jumped_in: u64::MAX,
        tracker: RootTracker::NEW,
    };

    /// What the device is to know: active, drawn, and which life it is.
    fn word(&self) -> u32 {
        let active = self.alive && self.posed;
        (self.life << 8) | u32::from(active) | (u32::from(self.drawn) << 1)
    }
}

/// One model and its places.
struct Herd {
    model: Arc<Model>,
    sizes: Sizes,
    passes: Passes,
    correct: Option<Correct>,
    clock: Clock,
    plan: Plan,
    chunks: Vec<chunk::Chunk>,
    /// Instances of each chunk but the last.
    each: u32,
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Row of the ring that the latest latent vectors are in, and half of the body coefficients that is the latest.
    ring: u32,
    body: u32,
    /// Somebody begins in this step, and for how many ticks somebody still uses the order-0 model.
    begins: bool,
    starting: usize,
    /// Places whose vertices are not wanted.
    hidden: usize,
}

/// A chunk's buffers, to draw from or to share.
pub struct Chunk<'a> {
    /// Instances in order of their places, from `first` on.
    pub first: u32,
    /// How many.
    pub count: u32,
    /// Positions, 12 bytes each; every instance has `stride` of them, the last few unused.
    pub vertices: &'a wgpu::Buffer,
    /// Unit normals, laid out likewise, where the settings ask for them.
    pub normals: Option<&'a wgpu::Buffer>,
    /// Vertices from one instance to the next.
    pub stride: u32,
}

/// Many garments of one or several models, whose state and vertices stay on the device.
///
/// The calls and the latent clock are those of [`crate::Crowd`]; results agree with it to rounding. Instances come
/// and go without rebuilding anything. `set_body` and tolerances of single instances are the processor's alone.
pub struct GpuCrowd {
    gpu: Arc<Gpu>,
    settings: GpuSettings,
    herds: Vec<Herd>,
    origin: DVec3,
    /// Who looks, and how far off a vertex may be for each metre of distance, m.
    viewer: Option<(DVec3, f32)>,
    steps: u64,
    timing: Option<Timing>,
}

impl GpuCrowd {
    /// An empty crowd.
    pub fn new(gpu: Arc<Gpu>, settings: GpuSettings) -> Result<Self> {
        if matches!(settings.kernel, Kernel::Cooperative(_)) && gpu.units.is_none() {
            return Err(Error::Device(format!("{} has no matrix units that can be used", gpu.info.name)));
        }
        let timing = Timing::new(&gpu);
        Ok(Self { gpu, settings, herds: Vec::new(), origin: DVec3::ZERO, viewer: None, steps: 0, timing })
    }

    /// What the crowd runs with.
    pub fn settings(&self) -> GpuSettings {
        self.settings
    }

    /// The device it runs on.
    pub fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    /// Adds a model and room for `reserve` instances of it. Its certificate is checked here.
    pub fn add_model(&mut self, model: Arc<Model>, reserve: usize) -> Result<ModelId> {
        self.gpu.check()?;
        model.verify_certificate()?;
        if model.triangles.iter().flatten().any(|i| *i as usize >= model.vertices) {
            let what = "an index of the model's triangles";
            return Err(Error::Range { what, value: model.vertices as f64 });
        }
        if !(model.fps > 0.0 && model.fps <= 1000.0) {
            return Err(Error::Range { what: "the model's rate", value: model.fps });
        }
        let gpu = &*self.gpu;
        let memory = gpu.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let sound = gpu.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let kernel = self.settings.kernel;
        let sizes = Sizes::new(&model);
        let layouts = Layouts::new(&sizes);
        let packed = Packed::new(gpu, &model, &sizes, &layouts, kernel);
        let passes = Passes::new(gpu, &model, &sizes, layouts, &self.settings, reserve as u32);
        let correct = Correct::new(gpu, &model, &sizes)?;
        let each = chunk::most(gpu, &sizes);
        // As many ticks as the longest step may have, and the step's own slot.
        let slots = (MAX_DT_SECS * model.fps).ceil() as u32 + 2;
        let chunks = (0..reserve as u32).step_by(each as usize).map(|first| {
            let count = each.min(reserve as u32 - first);
            chunk::Chunk::new(
                gpu,
                &sizes,
                &packed,
                &passes,
                correct.as_ref(),
                &self.settings,
                (first, count),
                slots,
            )
        });
        let chunks = chunks.collect();
        let (unsound, no_room) = (now(sound.pop()), now(memory.pop()));
        // What could not be had is not sound either: the want of room is the cause.
        if no_room.is_some() {
            let megabytes = chunk::bytes(&sizes) * reserve as u64 / 1_000_000;
            return Err(Error::Room { garments: reserve, megabytes });
        }
        if let Some(error) = unsound {
            return Err(Error::Device(error.to_string()));
        }
        self.herds.push(Herd {
            clock: Clock::new(model.fps),
            plan: Plan::NONE,
            sizes,
            passes,
            correct,
            chunks,
            each,
            slots: vec![Slot::EMPTY; reserve],
            free: (0..reserve as u32).rev().collect(),
            ring: 0,
            body: 0,
            begins: false,
            starting: 0,
            hidden: 0,
            model,
        });
        Ok(ModelId::from_bits(self.herds.len() as u32 - 1))
    }

    /// A garment that waits for its first pose.
    pub fn add(&mut self, model: ModelId) -> Result<Instance> {
        let herd = self.herds.get_mut(model.to_bits() as usize).ok_or(Error::Gone)?;
        let place = herd.free.pop().ok_or(Error::Full { reserved: herd.slots.len() })?;
        let slot = &mut herd.slots[place as usize];
        *slot = Slot { alive: true, generation: slot.generation, life: slot.life + 1, ..Slot::EMPTY };
        let generation = slot.generation;
        herd.tell(place as usize);
        Ok(Instance::from_bits([model.to_bits(), place, generation]))
    }

    /// Takes a garment out; others are not affected.
    pub fn remove(&mut self, instance: Instance) -> Result<()> {
        let (herd, i) = self.find(instance)?;
        let slot = &mut herd.slots[i];
        (slot.alive, slot.generation) = (false, slot.generation.wrapping_add(1));
        herd.hidden -= usize::from(!slot.drawn);
        slot.drawn = true;
        herd.tell(i);
        herd.free.push(i as u32);
        Ok(())
    }

    fn find(&mut self, instance: Instance) -> Result<(&mut Herd, usize)> {
        let [model, place, generation] = instance.to_bits();
        let herd = self.herds.get_mut(model as usize).ok_or(Error::Gone)?;
        let slot = herd.slots.get(place as usize).ok_or(Error::Gone)?;
        if slot.alive && slot.generation == generation {
            Ok((herd, place as usize))
        } else {
            Err(Error::Gone)
        }
    }

    /// The pose to step to. `bones` are `actor_from_bind`, one per joint; root and heading come from the model's
    /// hips. An instance that gets none stands still.
    pub fn set_pose(&mut self, instance: Instance, actor: &Actor, bones: &[Affine3A]) -> Result<()> {
        let steps = self.steps;
        let (herd, i) = self.find(instance)?;
        pose::check(bones, herd.model.joints, actor)?;
        let hips = herd.model.hips.as_ref().ok_or(Error::NoHips)?;
        let [root, left, right] = hips.points(bones).map(|p| actor.rotation * p);
        let (heading, _) = herd.slots[i].tracker.follow(left - right);
        let root = RootFrame { position: actor.position + root.as_dvec3(), heading };
        herd.take_pose(i, steps, actor, bones, &root);
        Ok(())
    }

    /// As [`GpuCrowd::set_pose`], with a root frame in the world that the caller follows.
    pub fn set_pose_with_root(
        &mut self,
        instance: Instance,
        actor: &Actor,
        bones: &[Affine3A],
        root: &RootFrame,
    ) -> Result<()> {
        let steps = self.steps;
        let (herd, i) = self.find(instance)?;
        pose::check(bones, herd.model.joints, actor)?;
        pose::check_root(root)?;
        herd.take_pose(i, steps, actor, bones, root);
        Ok(())
    }

    /// The caller writes this instance's poses on the device, into [`GpuCrowd::posed_rows`]; they are not checked.
    pub fn set_posed_on_device(&mut self, instance: Instance) -> Result<()> {
        let (herd, i) = self.find(instance)?;
        herd.activate(i);
        Ok(())
    }

    /// Where a model's poses lie on the device.
    pub fn posed_rows(&self, model: ModelId) -> Result<impl Iterator<Item = PosedRows<'_>>> {
        let herd = self.herds.get(model.to_bits() as usize).ok_or(Error::Gone)?;
        Ok(herd.chunks.iter().map(chunk::Chunk::posed_rows))
    }

    /// Forgets an instance's history: the next step starts afresh from its pose.
    pub fn reset(&mut self, instance: Instance) -> Result<()> {
        let (herd, i) = self.find(instance)?;
        let slot = &mut herd.slots[i];
        (slot.life, slot.jumps, slot.tracker) = (slot.life + 1, true, RootTracker::NEW);
        if slot.posed {
            herd.begin();
        }
        herd.tell(i);
        Ok(())
    }

    /// The next pose is somewhere else: the garment keeps its shape and does not feel the way there.
    pub fn teleport(&mut self, instance: Instance) -> Result<()> {
        let (herd, i) = self.find(instance)?;
        (herd.slots[i].jumps, herd.slots[i].tracker) = (true, RootTracker::NEW);
        Ok(())
    }

    /// Whether vertices are wanted; the state goes on either way. On at first.
    pub fn set_drawn(&mut self, instance: Instance, drawn: bool) -> Result<()> {
        let (herd, i) = self.find(instance)?;
        herd.hidden += usize::from(herd.slots[i].drawn);
        herd.hidden -= usize::from(drawn);
        herd.slots[i].drawn = drawn;
        herd.tell(i);
        Ok(())
    }

    /// What vertices are relative to, in the world.
    pub fn set_origin(&mut self, origin: DVec3) -> Result<()> {
        if !origin.is_finite() {
            return Err(Error::NotFinite { what: "the origin".into() });
        }
        self.origin = origin;
        Ok(())
    }

    /// Lets vertices be off by so many millimetres for each metre from a viewer, as [`crate::Crowd::set_viewer`] does:
    /// fewer coefficients are drawn, in steps of four and alike for instances that are made together. Matrix units draw all.
    pub fn set_viewer(&mut self, viewer: Option<(DVec3, f32)>) -> Result<()> {
        if let Some((at, mm_per_metre)) = viewer {
            in_range("mm per metre", mm_per_metre)?;
            pose::check_place("the viewer", at)?;
        }
        self.viewer = viewer.map(|(at, mm)| (at, mm / 1000.0));
        Ok(())
    }

    /// Sends poses set by the processor to the device. [`GpuCrowd::step`] does it too.
    pub fn upload(&mut self) {
        for chunk in self.herds.iter_mut().flat_map(|h| &mut h.chunks) {
            chunk.upload(&self.gpu.queue);
        }
    }

    /// Advances all garments by `dt_secs` to the poses that were set. Vertices change with [`GpuCrowd::draw`].
    /// Nothing waits for the device.
    pub fn step(&mut self, dt_secs: f64) -> Result<()> {
        clock::check(dt_secs)?;
        self.gpu.check()?;
        self.upload();
        for herd in &mut self.herds {
            herd.plan_step(&self.gpu.queue, dt_secs)?;
        }
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        let herds = &self.herds;
        stage(&mut encoder, &mut self.timing, Stage::Features, |pass| {
            for herd in herds {
                herd.chunks.iter().for_each(|c| c.features(pass, &herd.passes));
                // Nothing of one is needed for the other: they run side by side.
                let is_tick = herd.plan.ticks > 0;
                herd.chunks.iter().for_each(|c| c.roots(pass, &herd.passes, 1, is_tick));
            }
        });
        // A step without a tick still has one slot: poses move on in it, and newcomers begin.
        let slots = herds.iter().map(|h| h.plan.ticks.max(1)).max().unwrap_or(0);
        for t in 0..slots {
            let taking_part = || herds.iter().filter(move |h| t < h.plan.ticks.max(1));
            if t > 0 {
                stage(&mut encoder, &mut self.timing, Stage::Roots, |pass| {
                    for herd in taking_part() {
                        herd.chunks.iter().for_each(|c| c.roots(pass, &herd.passes, t + 1, true));
                    }
                });
            }
            stage(&mut encoder, &mut self.timing, Stage::Latent, |pass| {
                for herd in taking_part() {
                    let (all, starts) = herd.latent_passes(t);
                    if let Some(correct) = &herd.correct {
                        if all || starts {
                            herd.chunks.iter().for_each(|c| c.correct(pass, correct, t + 1));
                        }
                        continue;
                    }
                    for chunk in &herd.chunks {
                        if all {
                            chunk.latent(pass, &herd.passes, t + 1, false);
                        }
                        if starts {
                            chunk.latent(pass, &herd.passes, t + 1, true);
                        }
                    }
                }
            });
        }
        self.gpu.queue.submit([encoder.finish()]);
        for herd in &mut self.herds {
            herd.starting = herd.starting.saturating_sub(herd.plan.ticks as usize);
            herd.begins = false;
        }
        self.steps += 1;
        Ok(())
    }

    /// Makes the vertices of all drawn instances. Nothing waits for the device.
    pub fn draw(&mut self) {
        let queue = &self.gpu.queue;
        let [high, low] = chunk::split(self.origin).map(|[x, y, z]| [x, y, z, 0.0]);
        let viewer =
            self.viewer.map_or([0.0; 4], |(at, m)| (at - self.origin).as_vec3().extend(m).to_array());
        for herd in &mut self.herds {
            let spares = u32::from(herd.hidden > 0 || self.viewer.is_some());
            let step = Step { origin_high: high, origin_low: low, viewer, spares, ..herd.shown() };
            for chunk in &mut herd.chunks {
                chunk.upload_words(queue);
                chunk.write_step(queue, 0, &step);
            }
        }
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        let herds = &self.herds;
        let mut each = |kind: Stage, work: &dyn Fn(&mut wgpu::ComputePass, &Herd, &chunk::Chunk)| {
            stage(&mut encoder, &mut self.timing, kind, |pass| {
                for herd in herds {
                    herd.chunks.iter().for_each(|chunk| work(pass, herd, chunk));
                }
            });
        };
        let (settings, units) = (&self.settings, self.gpu.units);
        each(Stage::Place, &|pass, herd, chunk| chunk.place(pass, &herd.passes, &herd.sizes));
        each(Stage::Reconstruct, &|pass, herd, chunk| {
            let count = herd.slots.len() as u32;
            let size = settings.kernel.groups(&herd.sizes, units, count);
            chunk.reconstruct(pass, &herd.passes, size);
        });
        if herds.iter().any(|h| h.correct.is_some()) {
            each(Stage::Hang, &|pass, herd, chunk| {
                if let Some(correct) = &herd.correct {
                    chunk.hang(pass, correct);
                }
            });
        }
        if settings.normals {
            each(Stage::Normals, &|pass, herd, chunk| chunk.normals(pass, &herd.passes, &herd.sizes));
        }
        self.gpu.queue.submit([encoder.finish()]);
    }

    /// Buffers of a model's vertices, in order of places.
    pub fn chunks(&self, model: ModelId) -> Result<impl Iterator<Item = Chunk<'_>>> {
        let herd = self.herds.get(model.to_bits() as usize).ok_or(Error::Gone)?;
        Ok(herd.chunks.iter().map(|c| Chunk {
            first: c.first,
            count: c.count,
            vertices: &c.vertices,
            normals: c.normals.as_ref(),
            stride: herd.sizes.vertices,
        }))
    }

    /// The place of an instance: which of the rows of [`GpuCrowd::chunks`] is its own.
    pub fn place(&mut self, instance: Instance) -> Result<u32> {
        self.find(instance).map(|(_, i)| i as u32)
    }

    /// Reads an instance's vertices back. It blocks, and is for looking and checking.
    pub fn read_vertices(&mut self, instance: Instance) -> Result<Vec<Vec3>> {
        self.read_rows(instance, |chunk| Some(&chunk.vertices))
    }

    /// Reads an instance's normals back; empty unless the settings ask for them.
    pub fn read_normals(&mut self, instance: Instance) -> Result<Vec<Vec3>> {
        self.read_rows(instance, |chunk| chunk.normals.as_ref())
    }

    fn read_rows(
        &mut self,
        instance: Instance,
        of: impl Fn(&chunk::Chunk) -> Option<&wgpu::Buffer>,
    ) -> Result<Vec<Vec3>> {
        let gpu = self.gpu.clone();
        let (herd, i) = self.find(instance)?;
        let chunk = &herd.chunks[i / herd.each as usize];
        let Some(buffer) = of(chunk) else { return Ok(Vec::new()) };
        let at = (i % herd.each as usize) as u64 * 12 * u64::from(herd.sizes.vertices);
        let bytes = gpu.read(buffer, at, 12 * herd.model.vertices as u64)?;
        let floats: Vec<f32> = bytemuck::pod_collect_to_vec(&bytes);
        Ok(floats.as_chunks::<3>().0.iter().map(|v| Vec3::from_array(*v)).collect())
    }

    /// Reads how many inputs had to be held to the certified set since the last reading. It blocks.
    pub fn read_clamped(&mut self) -> Result<u64> {
        let mut sum = 0;
        for chunk in self.herds.iter().flat_map(|h| &h.chunks) {
            let bytes = self.gpu.read(&chunk.counts, 0, 4)?;
            sum += u64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
            self.gpu.queue.write_buffer(&chunk.counts, 0, &[0; 4]);
        }
        Ok(sum)
    }

    /// Milliseconds of every pass since the last reading, by the device's clock; empty where it has none. It blocks.
    pub fn read_times(&mut self) -> Result<Vec<(Stage, f64)>> {
        match &mut self.timing {
            Some(timing) => timing.read(&self.gpu),
            None => Ok(Vec::new()),
        }
    }

    /// What the device needs at the least for a frame of this crowd. Vertices are overwritten until the next draw.
    pub fn measure_floors(&mut self) -> Result<Floors> {
        let vertices: Vec<&wgpu::Buffer> =
            self.herds.iter().flat_map(|h| &h.chunks).map(|c| &c.vertices).collect();
        let product: f64 = self
            .herds
            .iter()
            .map(|h| h.slots.len() as f64 * 3.0 * h.model.vertices as f64 * h.model.cloth_dims as f64)
            .sum();
        floor::measure(&self.gpu, &vertices, product)
    }
}

impl Herd {
    /// Lets the device know of a place.
    fn tell(&mut self, i: usize) {
        let word = self.slots[i].word();
        self.chunks[i / self.each as usize].set_word(i % self.each as usize, word);
    }

    /// Somebody has no history yet.
    fn begin(&mut self) {
        self.begins = true;
        self.starting = self.model.order;
    }

    fn activate(&mut self, i: usize) {
        if !self.slots[i].posed {
            self.slots[i].posed = true;
            self.begin();
            self.tell(i);
        }
    }

    fn take_pose(&mut self, i: usize, steps: u64, actor: &Actor, bones: &[Affine3A], root: &RootFrame) {
        self.activate(i);
        let slot = &mut self.slots[i];
        if slot.jumps {
            (slot.jumps, slot.jumped_in) = (false, steps);
        }
        let row = PosedRow::new(actor, root, slot.jumped_in == steps);
        self.chunks[i / self.each as usize].set_pose(i % self.each as usize, row, bones);
    }

    /// What is shown now.
    fn shown(&self) -> Step {
        Step {
            share: 1.0,
            show: self.plan.show,
            ring: self.ring,
            body: self.body,
            ..bytemuck::Zeroable::zeroed()
        }
    }

    /// Advances the clock and tells the device what it means.
    fn plan_step(&mut self, queue: &wgpu::Queue, dt_secs: f64) -> Result<()> {
        self.plan = self.clock.advance(dt_secs)?;
        self.body = 1 - self.body;
        let ticks = self.plan.ticks;
        for t in 0..ticks.max(1) {
            self.ring = (self.ring + u32::from(ticks > 0)) % self.sizes.ring;
            let step = Step {
                share: if ticks > 0 { self.plan.share(t) as f32 } else { 1.0 },
                is_first: u32::from(t == 0),
                is_last: u32::from(t + 1 == ticks),
                waits: u32::from(ticks == 0),
                ..self.shown()
            };
            self.chunks.iter().for_each(|c| c.write_step(queue, t + 1, &step));
        }
        let shown = self.shown();
        self.chunks.iter().for_each(|c| c.write_step(queue, 0, &shown));
        Ok(())
    }

    /// Whether tick `t` has the latent step, and whether anybody begins in it.
    fn latent_passes(&self, t: u32) -> (bool, bool) {
        let is_tick = self.plan.ticks > 0;
        (is_tick, if is_tick { (t as usize) < self.starting } else { self.begins })
    }
}

/// One timed compute pass.
fn stage(
    encoder: &mut wgpu::CommandEncoder,
    timing: &mut Option<Timing>,
    kind: Stage,
    work: impl FnOnce(&mut wgpu::ComputePass),
) {
    let timestamp_writes = timing.as_mut().and_then(|t| t.next(kind));
    let label = Some(kind.name());
    work(&mut encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label, timestamp_writes }));
}

/// The result of a future that is ready at once, as error scopes are on native devices; in a browser it comes later
/// and is left to the device's own handler.
fn now<T>(future: impl Future<Output = Option<T>>) -> Option<T> {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => None,
    }
}
