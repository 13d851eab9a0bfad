//! Meshes on the device: triangles once, vertices every frame.

use crate::scene::MeshInner;
use crate::{Item, smooth_normals};
use glam::Vec3;
use std::collections::HashMap;
use std::sync::{Arc, Weak};

/// One vertex as the shaders read it. `surface.wgsl` also reads it as nine floats.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct Vertex {
    position: Vec3,
    normal: Vec3,
    colour: Vec3,
}

pub(super) const VERTEX_LAYOUT: wgpu::VertexBufferLayout<'static> = wgpu::VertexBufferLayout {
    array_stride: size_of::<Vertex>() as u64,
    step_mode: wgpu::VertexStepMode::Vertex,
    attributes: &wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3, 2 => Float32x3],
};

/// An item's buffers for one frame.
#[derive(Clone)]
pub(super) struct Uploaded {
    pub indices: wgpu::Buffer,
    pub index_count: u32,
    pub vertices: wgpu::Buffer,
}

struct Kept {
    of: Weak<MeshInner>,
    indices: wgpu::Buffer,
    /// A pool: one for each time the mesh occurs in a frame.
    vertices: Vec<wgpu::Buffer>,
    used: usize,
}

/// The meshes a renderer has seen and whose handles still live.
#[derive(Default)]
pub(super) struct Meshes {
    kept: HashMap<u64, Kept>,
    scratch: Vec<Vertex>,
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
        let kept = self.kept.entry(mesh.id).or_insert_with(|| {
            let bytes: &[u8] = bytemuck::cast_slice(&mesh.triangles);
            let usage = wgpu::BufferUsages::INDEX | wgpu::BufferUsages::STORAGE;
            let indices = buffer(device, "triangles", bytes.len(), usage);
            queue.write_buffer(&indices, 0, bytes);
            Kept { of: Arc::downgrade(mesh), indices, vertices: Vec::new(), used: 0 }
        });

        let computed;
        let normals = match item.normals {
            Some(given) => given,
            None => {
                computed = smooth_normals(item.positions, &mesh.triangles);
                &computed
            }
        };
        self.scratch.clear();
        self.scratch.extend(item.positions.iter().enumerate().map(|(v, &position)| Vertex {
            position,
            normal: normals[v],
            colour: item.colours.map_or(Vec3::ONE, |c| c[v]),
        }));
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
            index_count: 3 * mesh.triangles.len() as u32,
            vertices: kept.vertices[slot].clone(),
        })
    }
}

fn buffer(device: &wgpu::Device, label: &str, bytes: usize, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size: bytes as u64,
        usage: usage | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    })
}
