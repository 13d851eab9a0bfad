//! The light on the ground under a crowd.
//!
//! A pixel looks into the shadow maps dozens of times. A compute pass does that before the main pass: it costs the
//! same where all units of a device draw, and far less on cards of data centres, of whose units only a few can.

use super::pipelines::{FRAME, Layouts};
use super::uniforms::group;

pub(super) const GROUND: &str = include_str!("ground.wgsl");

pub(super) struct GroundLight {
    pipeline: wgpu::ComputePipeline,
    write_layout: wgpu::BindGroupLayout,
    /// What the ground's pixels are given.
    pub layout: wgpu::BindGroupLayout,
    made: Option<Made>,
}

/// For one size of picture.
struct Made {
    size: (u32, u32),
    write: wgpu::BindGroup,
    read: wgpu::BindGroup,
}

impl GroundLight {
    pub fn new(device: &wgpu::Device, layouts: &Layouts) -> Self {
        let entry = |visibility, ty| {
            let entry = wgpu::BindGroupLayoutEntry { binding: 0, visibility, ty, count: None };
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some("ground light"),
                entries: &[entry],
            })
        };
        let view_dimension = wgpu::TextureViewDimension::D2;
        let write_layout = entry(
            wgpu::ShaderStages::COMPUTE,
            wgpu::BindingType::StorageTexture {
                access: wgpu::StorageTextureAccess::WriteOnly,
                format: wgpu::TextureFormat::Rgba8Unorm,
                view_dimension,
            },
        );
        let sample_type = wgpu::TextureSampleType::Float { filterable: false };
        let read = wgpu::BindingType::Texture { sample_type, view_dimension, multisampled: false };
        let layout = entry(wgpu::ShaderStages::FRAGMENT, read);
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("ground.wgsl"),
            source: wgpu::ShaderSource::Wgsl(format!("{FRAME}{GROUND}").into()),
        });
        let bound = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("ground light"),
            bind_group_layouts: &[Some(&layouts.frame), Some(&write_layout)],
            immediate_size: 0,
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("ground light"),
            layout: Some(&bound),
            module: &module,
            entry_point: Some("main"),
            compilation_options: Default::default(),
            cache: None,
        });
        Self { pipeline, write_layout, layout, made: None }
    }

    /// Finds the light for a picture of a size.
    pub fn find(
        &mut self,
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        frame: &wgpu::BindGroup,
        size: (u32, u32),
        timestamp_writes: Option<wgpu::ComputePassTimestampWrites<'_>>,
    ) {
        if self.made.as_ref().is_none_or(|made| made.size != size) {
            self.made = Some(self.make(device, size));
        }
        let Some(made) = &self.made else { return };
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("ground light"),
            timestamp_writes,
        });
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, frame, &[]);
        pass.set_bind_group(1, &made.write, &[]);
        pass.dispatch_workgroups(size.0.div_ceil(8), size.1.div_ceil(8), 1);
    }

    /// What the ground's pixels read, once it was found.
    pub fn group(&self) -> Option<&wgpu::BindGroup> {
        self.made.as_ref().map(|made| &made.read)
    }

    fn make(&self, device: &wgpu::Device, size: (u32, u32)) -> Made {
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: Some("ground light"),
            size: wgpu::Extent3d { width: size.0, height: size.1, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba8Unorm,
            usage: wgpu::TextureUsages::STORAGE_BINDING | wgpu::TextureUsages::TEXTURE_BINDING,
            view_formats: &[],
        });
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        let [write, read] = [&self.write_layout, &self.layout]
            .map(|layout| group(device, layout, &[wgpu::BindingResource::TextureView(&view)]));
        Made { size, write, read }
    }
}
