//! The vertices of a model D on the device: skinned, and kept outside the body.

use crate::cpu::kernel::{FADE, Guard, Hanging, NEAR_SQ, SKIN, TRUNK};
use crate::gpu::device::Gpu;
use crate::gpu::kernel::passes::Bind::{Read, Write};
use crate::gpu::kernel::passes::{Pass, STEP};
use crate::gpu::packed::{Sizes, upload};
use crate::gpu::shard::Tables;
use crate::{Error, Result};
use glam::Vec3;
use toile_model::Model;

/// Vertices of a panel: limbs that are far from all of one are not looked at.
const PANEL: usize = 32;
/// Vertices that are sorted among themselves: what is written lies close together still.
const SORTED: usize = 256;
/// Threads of a workgroup.
const THREADS: u32 = 160;

/// What says that a leader was behind skin.
const SKIN_BIT: u32 = 1 << 31;

/// Most workgroups along the first axis.
const ALONG: u32 = 32_768;

/// The pass and its tables.
pub(in crate::gpu) struct Hang {
    pass: Pass,
    hung: wgpu::Buffer,
    guards: wgpu::Buffer,
    shapes: wgpu::Buffer,
}

impl Hang {
    pub fn new(gpu: &Gpu, model: &Model, sizes: &Sizes) -> Result<Self> {
        let Some(worn) = &model.attachment else { return Err(Error::NeedsBones) };
        let guard = model.shield.as_ref().map(|shield| Guard::new(shield, worn, &model.triangles));
        let hanging = Hanging::new(&worn.skin);
        let (points, limbs) = guard.as_ref().map_or((0, 0), |g| (g.points.len(), g.limbs.shapes.len()));
        let may = |g: &Guard| g.limbs.meets.iter().any(|[_, may]| *may & !g.limbs.trunk != 0);
        // Parts of the trunk are looked at by few: that is cheaper than to find out whether they are near.
        let has_rare = guard.as_ref().is_some_and(may);
        let room = gpu.device.limits().max_compute_workgroup_storage_size as usize;
        let needed = |leaders: usize, told: usize| {
            let panels = leaders.div_ceil(PANEL);
            let boxes = if has_rare { 6 * panels } else { 1 };
            48 * model.joints + 80 * limbs + 16 * points + 4 * (boxes + panels + told) + 128
        };
        let leaders = guard.as_ref().map_or(0, |g| g.guides.heard.iter().filter(|h| h.is_empty()).count());
        // Where there is no room for what leaders find, all lead: a garment is as well outside then, and it takes longer.
        let has_followers = leaders < model.vertices && guard.is_some() && needed(leaders, leaders) <= room;
        let leaders = if has_followers { leaders } else { model.vertices };
        let told = if has_followers { leaders } else { 1 };
        let boxes = if has_rare { 6 * leaders.div_ceil(PANEL) } else { 1 };
        let needed = needed(leaders, told);
        if needed > room {
            return Err(Error::Device(format!(
                "the skin that the garment is kept outside of takes {needed} bytes of workgroup memory, and {} has {room}",
                gpu.info.name
            )));
        }
        let order = by_limbs(guard.as_ref(), model.vertices as u32, has_followers);
        let points_order: Vec<u32> = (0..points as u32).collect();
        let all =
            || [(&hanging, &order)].into_iter().chain(guard.as_ref().map(|g| (&g.hanging, &points_order)));
        let most = all().map(|(h, _)| most_bones(h)).max().unwrap_or(1).max(1);
        // Parts of the trunk are the last limbs.
        let trunk = guard.as_ref().map_or(0..0, |g| limbs - g.limbs.trunk.count_ones() as usize..limbs);
        let trunk_reach =
            guard.iter().flat_map(|g| &g.limbs.shapes[trunk.clone()]).map(|s| s.ends_m).fold(0.0, f32::max);
        let mut constants = sizes.constants();
        constants.0.extend([
            ("THREADS", THREADS),
            ("PANEL", PANEL as u32),
            ("BOXES", boxes as u32),
            ("LEADERS", leaders as u32),
            ("TOLD", told as u32),
            ("BONES", most as u32),
            ("POINTS", points as u32),
            ("LIMBS", limbs as u32),
            ("FIRST_OF_TRUNK", trunk.start as u32),
            ("TRUNK", guard.as_ref().map_or(0, |g| g.limbs.trunk)),
            ("ABOVE", guard.as_ref().map_or(0, |g| g.limbs.above)),
        ]);
        let (margin, limit) = guard.as_ref().map_or((0.0, 0.0), |g| (g.margin_m, g.limit_m));
        let own = format!(
            "const HAS_RARE = {};\nconst IS_GUARDED = {};\nconst HAS_FOLLOWERS = {has_followers};\nconst MARGIN = {margin:?}f;\nconst LIMIT = {limit:?}f;\n\
             const TRUNK_REACH = {trunk_reach:?}f;\nconst NEAR_SQ = {NEAR_SQ:?}f;\nconst FADE = {FADE:?}f;\n",
            has_rare,
            guard.is_some(),
        );
        let source = constants.source(&[STEP, &own, include_str!("skin.wgsl")]);
        let limb_bones =
            guard.iter().flat_map(|g| &g.limbs.shapes).flat_map(|s| s.bones.map(|b| (b / 12) as u32));
        let mut hung: Vec<[u32; 2]> = all().flat_map(|(h, order)| entries(h, order, most)).collect();
        if let Some(joint) = hung.iter().map(|h| h[0]).chain(limb_bones).find(|j| *j >= sizes.joints) {
            return Err(Error::Range { what: "a joint of the model's skin", value: joint.into() });
        }
        // A buffer cannot be empty.
        hung.push([0, 0]);
        Ok(Self {
            pass: Pass::new(gpu, "hang", &source, &[Read, Read, Read, Read, Read, Read, Write]),
            hung: upload(gpu, "hung", &hung),
            guards: upload(gpu, "guards", &guards(guard.as_ref(), &order, leaders)),
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

/// Bones and weights in an order, the first of all before the second of all.
fn entries(hanging: &Hanging, order: &[u32], bones: usize) -> Vec<[u32; 2]> {
    let row = |v: u32| {
        let v = v as usize;
        &hanging.bones[hanging.starts[v] as usize..hanging.starts[v + 1] as usize]
    };
    let one = |k: usize, v: u32| row(v).get(k).map_or([0, 0], |(at, weight)| [at / 12, weight.to_bits()]);
    (0..bones).flat_map(|k| order.iter().map(move |v| one(k, *v))).collect()
}

/// Those that lead before those that follow; vertices that meet the same limbs next to each other: threads that go together do the
/// same then.
fn by_limbs(guard: Option<&Guard>, vertices: u32, has_followers: bool) -> Vec<u32> {
    let mut order: Vec<u32> = (0..vertices).collect();
    let Some(guard) = guard else { return order };
    let follows = |v: &u32| has_followers && !guard.guides.heard[*v as usize].is_empty();
    order.sort_by_key(follows);
    let leaders = order.partition_point(|v| !follows(v));
    let (lead, follow) = order.split_at_mut(leaders);
    for part in lead.chunks_mut(SORTED).chain(follow.chunks_mut(SORTED)) {
        part.sort_by_key(|v| {
            let often = guard.limbs.meets_of(*v as usize)[0];
            (often.count_ones(), often, guard.near[*v as usize].1, *v)
        });
    }
    order
}

/// What each vertex is held against, as `skin.wgsl` has it.
fn guards(guard: Option<&Guard>, order: &[u32], leaders: usize) -> Vec<[u32; 4]> {
    let Some(guard) = guard else { return order.iter().map(|v| [0, 0, v << 3, 0]).collect() };
    let limbs = &guard.limbs;
    let meets = |v: u32| limbs.meets_of(v as usize);
    let pair = |v: u32, first: usize| {
        let (points, count) = &guard.near[v as usize];
        let at = |k: usize| points[..*count as usize].get(k).copied().unwrap_or(0);
        at(first) | at(first + 1) << 16
    };
    let first = |v: &u32| {
        let [often, may] = meets(*v);
        [often, may, v << 3 | guard.near[*v as usize].1, pair(*v, 0)]
    };
    let out = |v: &u32| {
        let (bone, out) = limbs.outward.get(*v as usize).copied().unwrap_or((0, Vec3::ZERO));
        let [x, y, z] = out.to_array().map(f32::to_bits);
        [x, y, z, bone / 12]
    };
    let mut slots = vec![0u32; order.len()];
    order.iter().enumerate().for_each(|(slot, v)| slots[*v as usize] = slot as u32);
    let first_of_trunk = limbs.trunk & limbs.trunk.wrapping_neg();
    let listens = |(slot, v): (usize, &u32)| {
        if slot < leaders {
            return [0; 4];
        }
        let leader = |k: usize| guard.guides.heard[*v as usize].get(k).map_or(0, |g| slots[*g as usize] + 1);
        let own = guard.guides.own[*v as usize];
        let [at_skin, in_trunk] = [SKIN, TRUNK].map(|kind| (own >> kind & 1) as u32);
        let looks = own as u32 | (at_skin * SKIN_BIT) | (in_trunk * first_of_trunk);
        [leader(0) | leader(1) << 16, leader(2) | leader(3) << 16, looks, 0]
    };
    let mut all: Vec<[u32; 4]> = order.iter().map(first).collect();
    all.extend(order.iter().map(|v| [pair(*v, 2), pair(*v, 4), 0, 0]));
    all.extend(order.iter().map(out));
    all.extend(order.iter().enumerate().map(listens));
    let panel = |members: &[u32]| members.iter().fold(0, |bits, v| bits | meets(*v)[1]);
    all.extend(order[..leaders].chunks(PANEL).map(|members| [panel(members), 0, 0, 0]));
    all
}

/// Limbs and points of the skin in the bind pose.
fn shapes(guard: Option<&Guard>) -> Vec<[f32; 4]> {
    let Some(guard) = guard else { return vec![[0.0; 4]] };
    let mut all = Vec::new();
    for s in &guard.limbs.shapes {
        let ([bone, other], section) = (s.bones.map(|b| (b / 12) as f32), &s.section);
        all.push(s.middle.extend(bone).to_array());
        all.push(s.along.extend(other).to_array());
        all.extend(section.ways.map(|way| way.extend(0.0).to_array()));
        let middle = section.middle.into_iter().zip(section.long);
        all.extend(middle.map(|([a, b, c], long)| [a, b, c, long * long]));
        all.push(section.reach);
        all.push([s.beside, s.end, s.outward, 0.0]);
    }
    for (p, n) in guard.points.iter().zip(&guard.normals) {
        all.extend([p.extend(0.0).to_array(), n.extend(0.0).to_array()]);
    }
    all.push([0.0; 4]);
    all
}
