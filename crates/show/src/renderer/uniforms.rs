//! What the shaders are told: one block for the frame, one for each item.

use super::GROUND_CELLS;
use super::lights::{self, MapView, Rig};
use super::pictures::Pictures;
use crate::{Camera, Flock, Item, Material, Scene};
use glam::{Mat4, Vec3, Vec4};
use std::collections::HashMap;

/// `Frame` of `frame.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct FrameUniform {
    clip_from_world: Mat4,
    key_from_world: Mat4,
    sky_from_world: Mat4,
    eye: Vec4,
    key_direction: Vec4,
    fill_direction: Vec4,
    rim_direction: Vec4,
    map_span_m: Vec4,
    backdrop_top: Vec4,
    backdrop_bottom: Vec4,
    ground: Vec4,
    lit_cells: Vec4,
    centre: Vec4,
    picture: Vec4,
    texel_m: Vec4,
}

/// `Item` of `surface.wgsl`; `shadow.wgsl` reads its first fields.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct ItemUniform {
    world_from_item: Mat4,
    base: Vec4,
    sheen: Vec4,
    finish: Vec4,
    depth: Vec4,
    pub cloth: Vec4,
}

/// One uniform buffer for the items of a frame, at dynamic offsets, bound with each of the pictures on them.
pub(super) struct ItemSlots {
    buffer: wgpu::Buffer,
    layout: wgpu::BindGroupLayout,
    stride: u32,
    count: usize,
    pictures: Pictures,
    groups: HashMap<u64, wgpu::BindGroup>,
}

impl ItemSlots {
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue, layout: &wgpu::BindGroupLayout) -> Self {
        let size = size_of::<ItemUniform>() as u32;
        let stride = size.next_multiple_of(device.limits().min_uniform_buffer_offset_alignment);
        let count = 16;
        Self {
            buffer: uniform(device, "items", u64::from(stride) * count as u64),
            layout: layout.clone(),
            stride,
            count,
            pictures: Pictures::new(device, queue),
            groups: HashMap::new(),
        }
    }

    /// Makes room for the pictures of these items and forgets those that nobody has any more.
    pub fn bring(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, items: &[Item<'_>]) {
        let textures = items.iter().filter_map(|item| item.texture.as_ref());
        if self.pictures.bring(device, queue, textures) {
            self.groups.clear();
        }
    }

    /// The group with an item's picture, or with none.
    pub fn group(&mut self, device: &wgpu::Device, picture: u64) -> &wgpu::BindGroup {
        self.groups.entry(picture).or_insert_with(|| {
            let size = wgpu::BufferSize::new(size_of::<ItemUniform>() as u64);
            let binding = wgpu::BufferBinding { buffer: &self.buffer, offset: 0, size };
            let entries = [
                wgpu::BindingResource::Buffer(binding),
                wgpu::BindingResource::TextureView(self.pictures.view(picture)),
                wgpu::BindingResource::Sampler(&self.pictures.sampler),
            ];
            group(device, &self.layout, &entries)
        })
    }

    pub fn offset(&self, slot: usize) -> u32 {
        slot as u32 * self.stride
    }

    pub fn write(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, uniforms: &[ItemUniform]) {
        if uniforms.len() > self.count {
            self.count = uniforms.len().next_power_of_two();
            self.buffer = uniform(device, "items", u64::from(self.stride) * self.count as u64);
            self.groups.clear();
        }
        let mut bytes = vec![0u8; self.stride as usize * uniforms.len()];
        for (slot, u) in bytes.chunks_exact_mut(self.stride as usize).zip(uniforms) {
            slot[..size_of::<ItemUniform>()].copy_from_slice(bytemuck::bytes_of(u));
        }
        queue.write_buffer(&self.buffer, 0, &bytes);
    }
}

/// The frame's block.
pub(super) fn frame_uniform(
    scene: &Scene<'_>,
    camera: &Camera,
    (width, height): (u32, u32),
    rig: &Rig,
    (key, sky): (&MapView, &MapView),
    (lo, hi): (Vec3, Vec3),
) -> FrameUniform {
    let (w, h) = (width as f32, height as f32);
    let centre = 0.5 * (lo + hi);
    let radius_m = (0.5 * (hi - lo).length()).max(0.05);
    let (mut ground, mut lit_cells) = (Vec4::ZERO, Vec4::ZERO);
    if let Some(g) = scene.ground {
        // The plan of what is drawn and of where its shadow can fall.
        let tall_m = (hi.y - g.height_m).clamp(0.0, 4.0 * radius_m);
        let cast = -rig.key * (tall_m / rig.key.y);
        let (from, to) = (lo.min(lo + cast), hi.max(hi + cast));
        let span = (to.x - from.x).max(to.z - from.z) + 0.6;
        // Cells stay where they are in the world while the subject moves, or the shadow would swim.
        let cell = ((span / (GROUND_CELLS - 2) as f32) * 400.0).ceil() / 400.0;
        let middle = 0.5 * (from + to) / cell;
        let first = |m: f32| (m.round() - 0.5 * GROUND_CELLS as f32) * cell;
        let lit_m = 2.6 * radius_m + 0.5;
        ground = Vec4::new(g.height_m, g.grid_m.max(0.0), lit_m, GROUND_CELLS as f32);
        lit_cells = Vec4::new(first(middle.x), first(middle.z), cell, (4.0 * lit_m).max(span));
    }
    FrameUniform {
        clip_from_world: camera.clip_from_world(w / h),
        key_from_world: key.map_from_world,
        sky_from_world: sky.map_from_world,
        eye: camera.eye.extend(1.0),
        key_direction: rig.key.extend(lights::KEY_TANGENT),
        fill_direction: rig.fill.extend(0.0),
        rim_direction: rig.rim.extend(0.0),
        map_span_m: Vec4::new(key.span_m, key.depth_m, sky.span_m, sky.depth_m),
        backdrop_top: scene.backdrop.top.extend(1.0),
        backdrop_bottom: scene.backdrop.bottom.extend(1.0),
        ground,
        lit_cells,
        centre: centre.extend(radius_m),
        picture: Vec4::new(w, h, 1.0 / w, 1.0 / h),
        texel_m: Vec4::new(key.texel_m, sky.texel_m, 0.0, 0.0),
    }
}

/// An item's block, moved towards the eye by `slack_m` for the depth test.
pub(super) fn item_uniform(item: &Item<'_>, slack_m: f32) -> ItemUniform {
    ItemUniform {
        world_from_item: Mat4::from(item.world_from_item),
        ..block(&item.material, slack_m, item.leads_m, item.colours.is_some())
    }
    .pictured(item.texture.is_some() && item.uvs.is_some())
}

impl ItemUniform {
    fn pictured(mut self, has_picture: bool) -> Self {
        self.cloth.z = if has_picture { 1.0 } else { 0.0 };
        self
    }
}

/// A flock's block; `w` of `cloth` tells its members apart in the buffers.
pub(super) fn flock_uniform(flock: &Flock<'_>, slack_m: f32) -> ItemUniform {
    let mut block = block(&flock.material, slack_m, flock.leads_m, true);
    block.cloth.w = flock.vertices() as f32;
    block
}

pub(super) fn block(m: &Material, slack_m: f32, leads_m: Option<&[f32]>, coloured: bool) -> ItemUniform {
    let flag = |on: bool| if on { 1.0 } else { 0.0 };
    let worn_slack_m = leads_m.map_or(0.0, |leads| leads.iter().copied().fold(0.0, f32::max));
    ItemUniform {
        world_from_item: Mat4::IDENTITY,
        base: m.base.extend(m.opacity),
        sheen: m.sheen.extend(flag(m.two_sided)),
        finish: Vec4::new(m.roughness, m.specular, m.flatness, flag(coloured)),
        depth: Vec4::new(slack_m, flag(m.opacity < 1.0), worn_slack_m, m.cutout),
        cloth: Vec4::new(m.folds, m.hem_m, 0.0, 0.0),
    }
}

pub(super) fn uniform(device: &wgpu::Device, label: &str, size: u64) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size,
        usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    })
}

pub(super) fn group(
    device: &wgpu::Device,
    layout: &wgpu::BindGroupLayout,
    resources: &[wgpu::BindingResource<'_>],
) -> wgpu::BindGroup {
    let entries: Vec<_> = resources
        .iter()
        .zip(0..)
        .map(|(resource, binding)| wgpu::BindGroupEntry { binding, resource: resource.clone() })
        .collect();
    device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries })
}
