//! Meshes on the device: triangles once, vertices every frame.

use super::shape::{Drawn, Shape};
use super::uniforms::group;
use crate::scene::MeshInner;
use crate::{Flock, Item, Member};
use glam::{Vec2, Vec3, Vec4};
use std::collections::HashMap;
use std::sync::{Arc, Weak};

/// One vertex as the shaders read it. `surface.wgsl` also reads it as fourteen floats.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct Vertex {
    position: Vec3,
    normal: Vec3,
    colour: Vec3,
    /// Metres by which the depth test sees it nearer, depth of the fold it lies in, metres to the nearest open edge.
    detail: Vec3,
    uv: Vec2,
}

pub(super) const VERTEX_LAYOUT: wgpu::VertexBufferLayout<'static> = wgpu::VertexBufferLayout {
    array_stride: size_of::<Vertex>() as u64,
    step_mode: wgpu::VertexStepMode::Vertex,
    attributes: &wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3, 2 => Float32x3, 3 => Float32x3, 4 => Float32x2],
};

/// An item's buffers for one frame.
#[derive(Clone, Debug)]
pub(super) struct Uploaded {
    pub indices: wgpu::Buffer,
    pub index_count: u32,
    pub vertices: Vertices,
}

/// Where an item's vertices are.
#[derive(Clone, Debug)]
pub(super) enum Vertices {
    One(wgpu::Buffer),
    /// A flock's, as the shaders' third group, and how many of its members are drawn.
    Many(wgpu::BindGroup, Members),
}

/// How many members of a flock are drawn.
#[derive(Clone, Debug)]
pub(super) enum Members {
    Of(u32),
    /// As the device counts them: a draw's arguments in a buffer.
    Counted(wgpu::Buffer, u64),
}

impl Uploaded {
    /// Draws the members of a flock, whose group and pipeline are set.
    pub fn draw(&self, pass: &mut wgpu::RenderPass<'_>, members: &Members) {
        match members {
            Members::Of(count) => pass.draw_indexed(0..self.index_count, 0, 0..*count),
            Members::Counted(draws, at) => pass.draw_indexed_indirect(draws, *at),
        }
    }
}

struct Kept {
    of: Weak<MeshInner>,
    shape: Shape,
    indices: wgpu::Buffer,
    /// A pool: one for each time the mesh occurs in a frame.
    vertices: Vec<wgpu::Buffer>,
    used: usize,
}

/// The meshes a renderer has seen and whose handles still live.
#[derive(Default)]
pub(super) struct Meshes {
    /// By the mesh's number and whether it is drawn rounded.
    kept: HashMap<(u64, bool), Kept>,
    scratch: Vec<Vertex>,
    drawn: Drawn,
}

impl Meshes {
    /// Forgets dropped meshes; all vertex buffers are free again.
    pub fn begin_frame(&mut self) {
        self.kept.retain(|_, kept| kept.of.strong_count() > 0);
        for kept in self.kept.values_mut() {
            kept.used = 0;
        }
    }

    /// The item's buffers, with this frame's vertices in them. `None` when there is nothing to draw.
    pub fn upload(
        &mut self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        item: &Item<'_>,
    ) -> Option<Uploaded> {
        let mesh = &item.mesh.inner;
        if mesh.triangles.is_empty() {
            return None;
        }
        let m = &item.material;
        // Lines between vertices are where the vertices are.
        let rounded = m.rounded && !m.wireframe;
        let kept = self.kept.entry((mesh.id, rounded)).or_insert_with(|| {
            let shape = Shape::new(&mesh.triangles, item.positions.len(), rounded);
            let bytes: &[u8] = bytemuck::cast_slice(&shape.triangles);
            let usage = wgpu::BufferUsages::INDEX | wgpu::BufferUsages::STORAGE;
            let indices = buffer(device, "triangles", bytes.len(), usage);
            queue.write_buffer(&indices, 0, bytes);
            Kept { of: Arc::downgrade(mesh), shape, indices, vertices: Vec::new(), used: 0 }
        });

        let drawn = &mut self.drawn;
        kept.shape.draw(item.positions, item.normals, &mesh.triangles, drawn);
        if m.folds > 0.0 {
            kept.shape.fold(drawn);
        } else {
            drawn.folds.clear();
        }
        let mean = |a: Vec3, b: Vec3| 0.5 * (a + b);
        let colours = item.colours.map(|c| kept.shape.spread(c, mean));
        let uvs = item.uvs.map(|uvs| kept.shape.spread(uvs, |a: Vec2, b: Vec2| 0.5 * (a + b)));
        let leads = item.leads_m.map(|l| kept.shape.spread(l, |a, b| 0.5 * (a + b)));
        let to_edge_m = if m.hem_m > 0.0 { kept.shape.edge_distances_m(&drawn.positions) } else { &[] };
        self.scratch.clear();
        self.scratch.extend(drawn.positions.iter().zip(&drawn.normals).enumerate().map(
            |(v, (&position, &normal))| Vertex {
                position,
                normal,
                colour: colours.as_ref().map_or(Vec3::ONE, |c| c[v]),
                detail: Vec3::new(
                    leads.as_ref().map_or(0.0, |l| l[v]),
                    drawn.folds.get(v).copied().unwrap_or(0.0),
                    to_edge_m.get(v).copied().unwrap_or(1.0),
                ),
                uv: uvs.as_ref().map_or(Vec2::ZERO, |uvs| uvs[v]),
            },
        ));
        let bytes: &[u8] = bytemuck::cast_slice(&self.scratch);

        let slot = kept.used;
        kept.used += 1;
        let usage = wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::STORAGE;
        if slot == kept.vertices.len() {
            kept.vertices.push(buffer(device, "vertices", bytes.len(), usage));
        } else if kept.vertices[slot].size() < bytes.len() as u64 {
            kept.vertices[slot] = buffer(device, "vertices", bytes.len(), usage);
        }
        queue.write_buffer(&kept.vertices[slot], 0, bytes);
        Some(Uploaded {
            indices: kept.indices.clone(),
            index_count: 3 * kept.shape.triangles.len() as u32,
            vertices: Vertices::One(kept.vertices[slot].clone()),
        })
    }

    /// A flock's buffers, as many parts as the device's bindings need.
    pub fn upload_flock(
        &mut self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        layout: &wgpu::BindGroupLayout,
        flock: &Flock<'_>,
    ) -> Vec<Uploaded> {
        let count = flock.vertices();
        if flock.mesh.triangles().is_empty() || count == 0 {
            return Vec::new();
        }
        let bytes: &[u8] = bytemuck::cast_slice(flock.mesh.triangles());
        let indices = buffer(device, "flock's triangles", bytes.len(), wgpu::BufferUsages::INDEX);
        queue.write_buffer(&indices, 0, bytes);
        let none = vec![0.0; count];
        let leads: &[u8] = bytemuck::cast_slice(flock.leads_m.unwrap_or(&none));
        let limits = device.limits();
        let most_bytes = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
        let most = (most_bytes / (12 * count as u64)).max(1) as usize;
        let stored = |label, bytes: &[u8]| {
            let made = buffer(device, label, bytes.len(), wgpu::BufferUsages::STORAGE);
            queue.write_buffer(&made, 0, bytes);
            made
        };
        let mut parts = Vec::new();
        for members in flock.members.chunks(most) {
            let all = |of: for<'m> fn(&Member<'m>) -> &'m [Vec3]| -> Vec<Vec3> {
                members.iter().flat_map(|m| of(m).iter().copied()).collect()
            };
            let positions = stored("positions", bytemuck::cast_slice(&all(|m| m.positions)));
            let normals = stored("normals", bytemuck::cast_slice(&all(|m| m.normals)));
            let colours: Vec<Vec4> = members.iter().map(|m| m.colour.extend(1.0)).collect();
            let colours = stored("colours", bytemuck::cast_slice(&colours));
            let leads = stored("leads", leads);
            let all: Vec<u32> = (0..members.len() as u32).collect();
            let all = stored("everyone", bytemuck::cast_slice(&all));
            let buffers = [&positions, &normals, &colours, &leads, &all].map(|b| b.as_entire_binding());
            parts.push(Uploaded {
                indices: indices.clone(),
                index_count: 3 * flock.mesh.triangles().len() as u32,
                vertices: Vertices::Many(group(device, layout, &buffers), Members::Of(members.len() as u32)),
            });
        }
        parts
    }
}

pub(super) fn buffer(
    device: &wgpu::Device,
    label: &str,
    bytes: usize,
    usage: wgpu::BufferUsages,
) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size: bytes as u64,
        usage: usage | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    })
}
