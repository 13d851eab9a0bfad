//! As many instances of a model as buffers and bindings have room for: their tables, and the passes over them.

pub(in crate::gpu) mod correct;
mod draw;
mod tick;

use crate::Actor;
use crate::angle::sin_cos;
use crate::gpu::crowd::GpuSettings;
use crate::gpu::device::Gpu;
use crate::gpu::kernel::Kernel;
use crate::gpu::kernel::passes::{Passes, STEP_STRIDE};
use crate::gpu::packed::{Packed, Sizes};
use bytemuck::{Pod, Zeroable};
use correct::{Correct, Corrected};
use glam::{Affine3A, DVec3, Vec3A};
use std::ops::Range;
use toile_model::RootFrame;

/// Rows of all tables but the vertices are made up to a multiple of this: whole tiles of every pass.
const ROOM: u32 = 256;
/// Most workgroups along one axis that every device takes.
const MOST_GROUPS: u32 = 65_535;

/// A pose's first row on the device: where the wearer is. 24 numbers, in this order; the bones follow in a buffer of
/// their own, 12 numbers each (three columns and the translation, `actor_from_bind`).
///
/// Position and heading are sums of two `f32`, so that root displacements keep their digits in large worlds.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct PosedRow {
    /// `canonical_from_actor`: for each axis its turned direction, and a coordinate of the root in the canonical frame.
    pub turn: [[f32; 4]; 3],
    /// Root position and heading in the world.
    pub high: [f32; 4],
    /// What is left of them.
    pub low: [f32; 4],
    /// Sine and cosine of the heading.
    pub sin_cos: [f32; 2],
    /// 1 when the pose is not reached by moving there.
    pub jumps: f32,
    /// Nothing.
    pub unused: f32,
}

impl PosedRow {
    /// The row for a wearer.
    pub fn new(actor: &Actor, root: &RootFrame, jumps: bool) -> Self {
        let (sin, cos) = sin_cos(root.heading);
        let (s, c) = (sin as f32, cos as f32);
        let turn = |v: Vec3A| Vec3A::new(c * v.x - s * v.z, v.y, c * v.z + s * v.x);
        let axes = [Vec3A::X, Vec3A::Y, Vec3A::Z].map(|axis| turn(actor.rotation * axis));
        let offset = turn((root.position - actor.position).as_vec3a());
        let [high, low] = split(root.position);
        let heading = root.heading as f32;
        Self {
            turn: [0, 1, 2].map(|i| axes[i].extend(offset[i]).to_array()),
            high: [high[0], high[1], high[2], heading],
            low: [low[0], low[1], low[2], (root.heading - f64::from(heading)) as f32],
            sin_cos: [s, c],
            jumps: f32::from(u8::from(jumps)),
            unused: 0.0,
        }
    }
}

/// A position as the sum of two.
pub(in crate::gpu) fn split(p: DVec3) -> [[f32; 3]; 2] {
    let high = p.as_vec3();
    [high.to_array(), (p - high.as_dvec3()).as_vec3().to_array()]
}

/// Where the poses of a chunk's instances lie, for callers that animate on the device.
pub struct PosedRows<'a> {
    /// Instances in order of their places, from `first` on.
    pub first: u32,
    /// How many.
    pub count: u32,
    /// A [`PosedRow`] each.
    pub poses: &'a wgpu::Buffer,
    /// 12 numbers for each joint.
    pub bones: &'a wgpu::Buffer,
}

/// What the shaders know of a step.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(in crate::gpu) struct Step {
    pub share: f32,
    pub show: f32,
    pub count: u32,
    pub room: u32,
    pub ring: u32,
    pub body: u32,
    pub is_first: u32,
    pub is_last: u32,
    pub origin_high: [f32; 4],
    pub origin_low: [f32; 4],
    pub viewer: [f32; 4],
    pub waits: u32,
    pub spares: u32,
    pub unused: [u32; 2],
}

/// Poses given by the processor, until they are uploaded.
struct Staged {
    poses: Vec<PosedRow>,
    bones: Vec<f32>,
    changed: Range<usize>,
}

struct Groups {
    features: wgpu::BindGroup,
    roots: [wgpu::BindGroup; 2],
    latent: wgpu::BindGroup,
    start: wgpu::BindGroup,
    place: wgpu::BindGroup,
    halve: Option<wgpu::BindGroup>,
    reconstruct: wgpu::BindGroup,
    normals: Option<wgpu::BindGroup>,
}

impl Groups {
    /// Ties every pass to the tables that it reads and writes.
    fn new(
        gpu: &Gpu,
        packed: &Packed,
        passes: &Passes,
        t: &Tables<'_>,
        roots: &wgpu::Buffer,
        halves: Option<&wgpu::Buffer>,
        normals: Option<&wgpu::Buffer>,
    ) -> Self {
        let reconstruct = match halves {
            Some(halves) => [halves, t.places, &packed.basis, &packed.mean, t.vertices].to_vec(),
            None => [t.modes, t.latents, t.places, &packed.basis, &packed.mean, t.vertices].to_vec(),
        };
        let latent =
            |weights, limits| [weights, t.flags, t.modes, t.body, t.metas, limits, t.latents, t.counts];
        let root = [t.flags, t.poses, roots, t.modes, t.metas, t.counts];
        Self {
            features: passes.features.group(
                gpu,
                t.steps,
                &[&packed.body, t.poses, t.bones, &packed.bones_mean, t.body],
            ),
            roots: [&passes.tick, &passes.wait].map(|p| p.group(gpu, t.steps, &root)),
            latent: passes.latent.group(gpu, t.steps, &latent(&packed.latent, &packed.latent_limits)),
            start: passes.start.group(gpu, t.steps, &latent(&packed.start, &packed.start_limits)),
            place: passes.place.group(
                gpu,
                t.steps,
                &[t.flags, t.modes, t.poses, t.places, t.latents, &packed.reach],
            ),
            halve: passes
                .halve
                .as_ref()
                .zip(halves)
                .map(|(p, h)| p.group(gpu, t.steps, &[t.modes, t.latents, h])),
            reconstruct: passes.reconstruct.group(gpu, t.steps, &reconstruct),
            normals: passes.normals.as_ref().zip(normals).map(|(p, n)| {
                p.group(gpu, t.steps, &[t.places, t.vertices, &packed.begins, &packed.corners, n])
            }),
        }
    }
}

/// What passes share.
pub(in crate::gpu) struct Tables<'a> {
    pub steps: &'a wgpu::Buffer,
    pub flags: &'a wgpu::Buffer,
    pub modes: &'a wgpu::Buffer,
    pub body: &'a wgpu::Buffer,
    pub metas: &'a wgpu::Buffer,
    pub latents: &'a wgpu::Buffer,
    pub counts: &'a wgpu::Buffer,
    pub places: &'a wgpu::Buffer,
    pub poses: &'a wgpu::Buffer,
    pub bones: &'a wgpu::Buffer,
    pub vertices: &'a wgpu::Buffer,
}

/// Tables of some instances.
pub(in crate::gpu) struct Chunk {
    pub first: u32,
    pub count: u32,
    pub room: u32,
    pub vertices: wgpu::Buffer,
    pub normals: Option<wgpu::Buffer>,
    pub counts: wgpu::Buffer,
    poses: wgpu::Buffer,
    bones: wgpu::Buffer,
    flags: wgpu::Buffer,
    steps: wgpu::Buffer,
    groups: Groups,
    corrected: Option<Corrected>,
    words: Vec<u32>,
    words_changed: Range<usize>,
    staged: Option<Staged>,
    joints: usize,
}

/// Bytes of one instance in each of its buffers.
fn bytes_each(sizes: &Sizes) -> [u64; 7] {
    let quads = |n: u32| u64::from(n) * 16;
    [
        12 * u64::from(sizes.vertices),
        quads(3 * sizes.joints),
        quads(2 * sizes.body),
        quads(sizes.ring * sizes.depth),
        quads(sizes.root),
        96,
        quads(sizes.correcting.map_or(0, |c| c.width())),
    ]
}

/// Bytes of one instance.
pub(in crate::gpu) fn bytes(sizes: &Sizes) -> u64 {
    bytes_each(sizes).into_iter().sum()
}

/// The most instances that one chunk can have on a device.
pub(in crate::gpu) fn most(gpu: &Gpu, sizes: &Sizes) -> u32 {
    let limits = gpu.device.limits();
    let room = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
    let each = bytes_each(sizes).into_iter().max().unwrap_or(1);
    // Normals take four instances a workgroup, and indices of single coordinates are 32-bit.
    let most = (room / each).min(4 * u64::from(MOST_GROUPS)).min(u64::from(u32::MAX / (3 * sizes.vertices)));
    (most as u32 / ROOM * ROOM).max(1)
}

impl Chunk {
    pub fn new(
        gpu: &Gpu,
        sizes: &Sizes,
        packed: &Packed,
        passes: &Passes,
        correct: Option<&Correct>,
        settings: &GpuSettings,
        (first, count): (u32, u32),
        slots: u32,
    ) -> Self {
        use wgpu::BufferUsages as U;
        let room = count.next_multiple_of(ROOM);
        let buffer = |label: &str, size: u64, usage: U| {
            let size = size.max(16);
            gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size,
                usage,
                mapped_at_creation: false,
            })
        };
        let rows = |label: &str, each: u64| buffer(label, u64::from(room) * each, U::STORAGE | U::COPY_DST);
        let drawn = U::STORAGE | U::VERTEX | U::COPY_SRC;
        let garment = u64::from(count) * 12 * u64::from(sizes.vertices);
        let [_, bones, body, latents, roots, poses, _] = bytes_each(sizes);
        let vertices = buffer("vertices", garment, drawn);
        let normals = settings.normals.then(|| buffer("normals", garment, drawn));
        let (poses, bones) = (rows("poses", poses), rows("bones", bones));
        let (body, latents, roots) = (rows("body", body), rows("latents", latents), rows("roots", roots));
        let (flags, modes, places) = (rows("flags", 4), rows("modes", 4), rows("places", 32));
        let metas = rows("metas", 16 * u64::from(sizes.meta));
        let counts = buffer("counts", 16, U::STORAGE | U::COPY_SRC | U::COPY_DST);
        let steps = buffer("steps", u64::from(slots * STEP_STRIDE), U::UNIFORM | U::COPY_DST);
        let halves = match (settings.kernel, gpu.units) {
            (Kernel::Cooperative(units), Some(unit)) => {
                let (depths, _) = sizes.unit_shape(units, unit);
                Some(rows("halves", 2 * u64::from(depths * unit.edge)))
            }
            _ => None,
        };
        let tables = Tables {
            steps: &steps,
            flags: &flags,
            modes: &modes,
            body: &body,
            metas: &metas,
            latents: &latents,
            counts: &counts,
            places: &places,
            poses: &poses,
            bones: &bones,
            vertices: &vertices,
        };
        let groups = Groups::new(gpu, packed, passes, &tables, &roots, halves.as_ref(), normals.as_ref());
        let corrected = correct.map(|correct| Corrected::new(gpu, correct, &tables, rows));
        Self {
            corrected,
            first,
            count,
            room,
            vertices,
            normals,
            counts,
            poses,
            bones,
            flags,
            steps,
            groups,
            words: vec![0; count as usize],
            words_changed: 0..0,
            staged: None,
            joints: sizes.joints as usize,
        }
    }

    /// Where poses are read from.
    pub fn posed_rows(&self) -> PosedRows<'_> {
        PosedRows { first: self.first, count: self.count, poses: &self.poses, bones: &self.bones }
    }

    /// What the device is to know of an instance.
    pub fn set_word(&mut self, i: usize, word: u32) {
        if self.words[i] != word {
            self.words[i] = word;
            widen(&mut self.words_changed, i);
        }
    }

    /// Takes a pose for the next upload.
    pub fn set_pose(&mut self, i: usize, row: PosedRow, bones: &[Affine3A]) {
        let (rows, joints) = (self.count as usize, self.joints);
        let staged = self.staged.get_or_insert_with(|| Staged {
            poses: vec![PosedRow::zeroed(); rows],
            bones: vec![0.0; rows * joints * 12],
            changed: 0..0,
        });
        staged.poses[i] = row;
        let out = &mut staged.bones[i * joints * 12..(i + 1) * joints * 12];
        for (out, bone) in out.as_chunks_mut::<12>().0.iter_mut().zip(bones) {
            *out = bone.to_cols_array();
        }
        widen(&mut staged.changed, i);
    }

    /// Sends what changed on the processor.
    pub fn upload(&mut self, queue: &wgpu::Queue) {
        self.upload_words(queue);
        if let Some(staged) = &mut self.staged {
            let changed = std::mem::take(&mut staged.changed);
            if !changed.is_empty() {
                let bone_floats = 12 * self.joints;
                let poses: &[u8] = bytemuck::cast_slice(&staged.poses[changed.clone()]);
                queue.write_buffer(&self.poses, (changed.start * size_of::<PosedRow>()) as u64, poses);
                let floats = &staged.bones[changed.start * bone_floats..changed.end * bone_floats];
                let at = (changed.start * bone_floats * 4) as u64;
                queue.write_buffer(&self.bones, at, bytemuck::cast_slice(floats));
            }
        }
    }

    /// Sends who is there and who is drawn.
    pub fn upload_words(&mut self, queue: &wgpu::Queue) {
        let changed = std::mem::take(&mut self.words_changed);
        if !changed.is_empty() {
            let words = bytemuck::cast_slice(&self.words[changed.clone()]);
            queue.write_buffer(&self.flags, 4 * changed.start as u64, words);
        }
    }

    /// Sets the step of a slot.
    pub fn write_step(&self, queue: &wgpu::Queue, slot: u32, step: &Step) {
        let step = Step { count: self.count, room: self.room, ..*step };
        queue.write_buffer(&self.steps, u64::from(slot * STEP_STRIDE), bytemuck::bytes_of(&step));
    }
}

fn widen(range: &mut Range<usize>, i: usize) {
    *range = if range.start >= range.end { i..i + 1 } else { range.start.min(i)..range.end.max(i + 1) };
}
