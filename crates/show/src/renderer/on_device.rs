//! Flocks whose vertices another program of the same device makes: nothing of them passes through the processor.

use super::Renderer;
use super::uniforms::{ItemUniform, block, group};
use super::upload::{Uploaded, Vertices, buffer};
use crate::{Error, Material, MeshHandle, Result};
use glam::{Vec3, Vec4};

/// Many meshes of the same triangles in buffers of the renderer's own device, as [`Renderer::flock`] binds them.
#[derive(Debug)]
pub struct DeviceFlock {
    pub(super) uploaded: Uploaded,
    pub(super) material: Material,
    /// Vertices from one member to the next.
    stride: u32,
    /// Least and greatest corner of all that is drawn.
    pub(crate) bounds: (Vec3, Vec3),
}

impl DeviceFlock {
    pub(super) fn uniform(&self, slack_m: f32) -> ItemUniform {
        let mut block = block(&self.material, slack_m, None, true);
        block.cloth.w = self.stride as f32;
        block
    }
}

impl Renderer {
    /// A renderer on a device that others use as well.
    pub async fn on(device: wgpu::Device, queue: wgpu::Queue, adapter: wgpu::Adapter) -> Result<Self> {
        let scope = device.push_error_scope(wgpu::ErrorFilter::Validation);
        let renderer = Self::build(device, queue, adapter);
        match scope.pop().await {
            Some(e) => Err(Error::Device(e.to_string())),
            None => Ok(renderer),
        }
    }

    /// Binds positions and normals, three numbers each and `stride` of them a member, with a colour for every member. Whoever
    /// writes them does so before a scene with the flock is drawn, and keeps within `bounds`.
    pub fn flock(
        &self,
        mesh: &MeshHandle,
        material: Material,
        [positions, normals]: [&wgpu::Buffer; 2],
        stride: u32,
        colours: &[Vec3],
        bounds: (Vec3, Vec3),
    ) -> Result<DeviceFlock> {
        let needed = 12 * u64::from(stride) * colours.len() as u64;
        if mesh.inner.vertices > stride as usize || positions.size().min(normals.size()) < needed {
            return Err(Error::Invalid(format!(
                "a flock of {} with {stride} vertices each does not lie in buffers of {} bytes",
                colours.len(),
                positions.size().min(normals.size())
            )));
        }
        let stored = |label, bytes: &[u8], usage| {
            let made = buffer(&self.device, label, bytes.len(), usage);
            self.queue.write_buffer(&made, 0, bytes);
            made
        };
        let triangles = bytemuck::cast_slice(mesh.triangles());
        let indices = stored("flock's triangles", triangles, wgpu::BufferUsages::INDEX);
        let padded: Vec<Vec4> = colours.iter().map(|c| c.extend(1.0)).collect();
        let colour = stored("colours", bytemuck::cast_slice(&padded), wgpu::BufferUsages::STORAGE);
        let none = vec![0.0f32; stride as usize];
        let leads = stored("leads", bytemuck::cast_slice(&none), wgpu::BufferUsages::STORAGE);
        let buffers = [positions, normals, &colour, &leads].map(|b| b.as_entire_binding());
        let bound = group(&self.device, &self.pipelines.flock_layout, &buffers);
        let index_count = 3 * mesh.triangles().len() as u32;
        let vertices = Vertices::Many(bound, colours.len() as u32);
        Ok(DeviceFlock { uploaded: Uploaded { indices, index_count, vertices }, material, stride, bounds })
    }
}
