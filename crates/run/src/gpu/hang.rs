//! The vertices of a model D on the device: skinned, and kept outside the body.

use super::chunk::Tables;
use super::device::Gpu;
use super::packed::{Sizes, upload};
use super::passes::Bind::{Read, Write};
use super::passes::{Pass, STEP};
use crate::kernel::{FADE, Guard, Hanging, NEAR_SQ};
use crate::{Error, Result};
use glam::Vec3;
use toile_model::Model;

/// Vertices of a panel, as on the processor: limbs that are far from all of one are not looked at.
const PANEL: usize = 16;
/// Threads of a workgroup: as few as possible without a vertex.
fn threads(vertices: u32) -> u32 {
    [256u32, 224, 192, 160, 128].into_iter().min_by_key(|t| vertices.next_multiple_of(*t)).unwrap_or(256)
}

/// Most workgroups along the first axis.
const ALONG: u32 = 32_768;

/// The pass and its tables.
pub(super) struct Hang {
    pass: Pass,
    hung: wgpu::Buffer,
    guards: wgpu::Buffer,
    shapes: wgpu::Buffer,
}

impl Hang {
    pub fn new(gpu: &Gpu, model: &Model, sizes: &Sizes) -> Result<Self> {
        let Some(worn) = &model.attachment else { return Err(Error::NeedsBones) };
        let guard = model.shield.as_ref().map(|shield| Guard::new(shield, worn));
        let hanging = Hanging::new(&worn.skin);
        let all = || [&hanging].into_iter().chain(guard.as_ref().map(|g| &g.hanging));
        let bones = all().map(most_bones).max().unwrap_or(1).max(1);
        let (points, limbs) = guard.as_ref().map_or((0, 0), |g| (g.points.len(), g.limbs.shapes.len()));
        let needed = 48 * model.joints
            + 64 * limbs
            + 24 * points
            + 28 * sizes.garment.div_ceil(PANEL as u32) as usize
            + 64;
        let room = gpu.device.limits().max_compute_workgroup_storage_size as usize;
        if needed > room {
            return Err(Error::Device(format!(
                "the skin that the garment is kept outside of takes {needed} bytes of workgroup memory, and {} has {room}",
                gpu.info.name
            )));
        }
        let mut constants = sizes.constants();
        constants.0.extend([
            ("THREADS", threads(sizes.garment)),
            ("BONES", bones as u32),
            ("POINTS", points as u32),
            ("LIMBS", limbs as u32),
            ("TRUNK", guard.as_ref().map_or(0, |g| g.limbs.trunk)),
        ]);
        let may = |g: &Guard| g.limbs.meets.iter().any(|[_, may]| *may != 0);
        let (margin, limit) = guard.as_ref().map_or((0.0, 0.0), |g| (g.margin_m, g.limit_m));
        let own = format!(
            "const HAS_RARE = {};\nconst IS_GUARDED = {};\nconst MARGIN = {margin:?}f;\nconst LIMIT = {limit:?}f;\n\
             const NEAR_SQ = {NEAR_SQ:?}f;\nconst FADE = {FADE:?}f;\n",
            guard.as_ref().is_some_and(may),
            guard.is_some(),
        );
        let source = constants.source(&[STEP, &own, include_str!("hang.wgsl")]);
        let mut hung: Vec<[u32; 2]> = all().flat_map(|h| entries(h, bones)).collect();
        let limb_bones = guard.iter().flat_map(|g| &g.limbs.shapes).map(|s| (s.bone / 12) as u32);
        if let Some(joint) = hung.iter().map(|h| h[0]).chain(limb_bones).find(|j| *j >= sizes.joints) {
            return Err(Error::Range { what: "a joint of the model's skin", value: joint.into() });
        }
        // A buffer cannot be empty.
        hung.push([0, 0]);
        Ok(Self {
            pass: Pass::new(gpu, "hang", &source, &[Read, Read, Read, Read, Read, Read, Write]),
            hung: upload(gpu, "hung", &hung),
            guards: upload(gpu, "guards", &guards(guard.as_ref(), model.vertices)),
            shapes: upload(gpu, "shapes", &shapes(guard.as_ref())),
        })
    }

    pub fn group(&self, gpu: &Gpu, t: &Tables) -> wgpu::BindGroup {
        let buffers = [t.places, t.poses, t.bones, &self.hung, &self.guards, &self.shapes, t.vertices];
        self.pass.group(gpu, t.steps, &buffers)
    }

    pub fn dispatch(&self, pass: &mut wgpu::ComputePass, group: &wgpu::BindGroup, count: u32) {
        let x = count.clamp(1, ALONG);
        self.pass.dispatch(pass, group, 0, [x, count.div_ceil(x)]);
    }
}

fn most_bones(hanging: &Hanging) -> usize {
    hanging.starts.windows(2).map(|w| (w[1] - w[0]) as usize).max().unwrap_or(0)
}

/// Bones and weights, the first of all before the second of all.
fn entries(hanging: &Hanging, bones: usize) -> Vec<[u32; 2]> {
    let row = |v: usize| &hanging.bones[hanging.starts[v] as usize..hanging.starts[v + 1] as usize];
    let one = |k: usize, v: usize| row(v).get(k).map_or([0, 0], |(at, weight)| [at / 12, weight.to_bits()]);
    (0..bones).flat_map(|k| (0..hanging.len()).map(move |v| one(k, v))).collect()
}

/// What each vertex is held against, as `hang.wgsl` has it.
fn guards(guard: Option<&Guard>, vertices: usize) -> Vec<[u32; 4]> {
    let Some(guard) = guard else { return vec![[0; 4]; 5 * vertices] };
    let limbs = &guard.limbs;
    let meets = |v: usize| limbs.meets.get(v).copied().unwrap_or([0; 2]);
    let outward = |v: usize| limbs.outward.get(v).copied().unwrap_or((0, Vec3::ZERO));
    let first = |v: usize| [meets(v)[0], meets(v)[1], guard.near[v].1, outward(v).0 / 12];
    let near =
        |v: usize, from: usize| [0, 1, 2, 3].map(|k| guard.near[v].0.get(from + k).copied().unwrap_or(0));
    let out = |v: usize| outward(v).1.extend(0.0).to_array().map(f32::to_bits);
    let mut all: Vec<[u32; 4]> = (0..vertices).map(first).collect();
    all.extend((0..vertices).map(|v| near(v, 0)));
    all.extend((0..vertices).map(|v| near(v, 4)));
    all.extend((0..vertices).map(out));
    let panel = |first: usize| (first..(first + PANEL).min(vertices)).fold(0, |bits, v| bits | meets(v)[1]);
    all.extend((0..vertices).step_by(PANEL).map(|first| [panel(first), 0, 0, 0]));
    all
}

/// Limbs and points of the skin in the bind pose.
fn shapes(guard: Option<&Guard>) -> Vec<[f32; 4]> {
    let Some(guard) = guard else { return vec![[0.0; 4]] };
    let mut all = Vec::new();
    for s in &guard.limbs.shapes {
        all.push(s.middle.extend((s.bone / 12) as f32).to_array());
        all.push(s.along.extend(s.half_sq).to_array());
        all.push(s.across.extend(s.reach_m[0]).to_array());
        all.push(s.side.extend(s.reach_m[1]).to_array());
        all.extend(s.radius);
        all.push([s.beside_m(), s.end, s.margin_m, 0.0]);
    }
    for (p, n) in guard.points.iter().zip(&guard.normals) {
        all.extend([p.extend(0.0).to_array(), n.extend(0.0).to_array()]);
    }
    all.push([0.0; 4]);
    all
}
