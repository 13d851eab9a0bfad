//! What a device needs at the least for a frame, whatever the program.

use super::device::Gpu;
use super::shader::Constants;
use super::timing::{Stage, Timing};
use crate::Result;

/// Milliseconds that no way of making the vertices can be under.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Floors {
    /// Writing the vertices.
    pub write_ms: f64,
    /// The product's multiply-adds in 32 bits, with every number in a register.
    pub product_ms: f64,
}

/// Multiply-adds of one workgroup of `product`.
const EACH: f64 = 256.0 * 256.0 * 4.0 * 64.0;
const GROUPS: u32 = 16_384;

/// Of several runs the median.
pub(super) fn measure(gpu: &Gpu, vertices: &[&wgpu::Buffer], products: f64) -> Result<Floors> {
    let Some(mut timing) = Timing::new(gpu) else { return Ok(Floors::default()) };
    let source = Constants(Vec::new()).source(&[include_str!("floor.wgsl")]);
    let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("floor"),
        source: wgpu::ShaderSource::Wgsl(source.into()),
    });
    let pipeline = |entry: &str| {
        gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(entry),
            layout: None,
            module: &module,
            entry_point: Some(entry),
            compilation_options: Default::default(),
            cache: None,
        })
    };
    let (write, product) = (pipeline("write"), pipeline("product"));
    let group = |of: &wgpu::ComputePipeline, buffer: &wgpu::Buffer| {
        gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("floor"),
            layout: &of.get_bind_group_layout(0),
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() }],
        })
    };
    let is_software = gpu.info.device_type == wgpu::DeviceType::Cpu;
    let groups = if is_software { 4 } else { GROUPS };
    let (mut writes, mut sums) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        {
            let timestamp_writes = timing.next(Stage::Floor);
            let mut pass =
                encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: None, timestamp_writes });
            pass.set_pipeline(&write);
            for buffer in vertices {
                pass.set_bind_group(0, &group(&write, buffer), &[]);
                pass.dispatch_workgroups(GROUPS.min((buffer.size() / 4096) as u32).max(1), 1, 1);
            }
        }
        if let Some(buffer) = vertices.first() {
            let timestamp_writes = timing.next(Stage::Floor);
            let mut pass =
                encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: None, timestamp_writes });
            pass.set_pipeline(&product);
            pass.set_bind_group(0, &group(&product, buffer), &[]);
            pass.dispatch_workgroups(groups, 1, 1);
        }
        gpu.queue.submit([encoder.finish()]);
        let times = timing.read(gpu)?;
        writes.extend(times.first().map(|t| t.1));
        sums.extend(times.get(1).map(|t| t.1));
    }
    let median = |mut v: Vec<f64>| {
        v.sort_by(f64::total_cmp);
        v.get(v.len() / 2).copied().unwrap_or(0.0)
    };
    let product_ms = median(sums) * products / (EACH * f64::from(groups));
    Ok(Floors { write_ms: median(writes), product_ms })
}
