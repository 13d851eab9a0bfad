//! The compute pipelines of a model.

use crate::gpu::crowd::GpuSettings;
use crate::gpu::device::Gpu;
use crate::gpu::kernel::Kernel;
use crate::gpu::kernel::product::Layout;
use crate::gpu::packed::{Layouts, Sizes};
use toile_model::Model;

/// What a binding is for; the first of every pass is the step, at an offset for each tick.
#[derive(Clone, Copy)]
pub(in crate::gpu) enum Bind {
    Read,
    Write,
}
use Bind::{Read, Write};

/// Bytes of a `Step` in the shaders.
pub(in crate::gpu) const STEP_BYTES: u64 = 96;
/// From one tick's step to the next: what every device can bind at.
pub(in crate::gpu) const STEP_STRIDE: u32 = 256;

/// A pipeline and what it is given.
pub(in crate::gpu) struct Pass {
    layout: wgpu::BindGroupLayout,
    pipeline: wgpu::ComputePipeline,
}

impl Pass {
    pub fn new(gpu: &Gpu, entry: &str, source: &str, binds: &[Bind]) -> Self {
        let device = &gpu.device;
        let module = gpu.module(entry, source);
        let mut entries = vec![binding(0, wgpu::BufferBindingType::Uniform)];
        for (i, bind) in binds.iter().enumerate() {
            let read_only = matches!(bind, Read);
            entries.push(binding(i as u32 + 1, wgpu::BufferBindingType::Storage { read_only }));
        }
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some(entry),
            entries: &entries,
        });
        let of = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(entry),
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(entry),
            layout: Some(&of),
            module: &module,
            entry_point: Some(entry),
            // Every tile is written before it is read.
            compilation_options: wgpu::PipelineCompilationOptions {
                zero_initialize_workgroup_memory: false,
                ..Default::default()
            },
            cache: None,
        });
        Self { layout, pipeline }
    }

    /// What the pass works on: the steps and the storage buffers.
    pub fn group(&self, gpu: &Gpu, step: &wgpu::Buffer, buffers: &[&wgpu::Buffer]) -> wgpu::BindGroup {
        let step = wgpu::BufferBinding { buffer: step, offset: 0, size: wgpu::BufferSize::new(STEP_BYTES) };
        let mut entries =
            vec![wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::Buffer(step) }];
        for (i, buffer) in buffers.iter().enumerate() {
            let resource = buffer.as_entire_binding();
            entries.push(wgpu::BindGroupEntry { binding: i as u32 + 1, resource });
        }
        let layout = &self.layout;
        gpu.device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries })
    }

    /// Gives the work to a compute pass, with the step of a slot.
    pub fn dispatch(
        &self,
        pass: &mut wgpu::ComputePass,
        group: &wgpu::BindGroup,
        slot: u32,
        [x, y]: [u32; 2],
    ) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, group, &[slot * STEP_STRIDE]);
        pass.dispatch_workgroups(x, y, 1);
    }
}

fn binding(at: u32, ty: wgpu::BufferBindingType) -> wgpu::BindGroupLayoutEntry {
    let is_step = matches!(ty, wgpu::BufferBindingType::Uniform);
    wgpu::BindGroupLayoutEntry {
        binding: at,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty,
            has_dynamic_offset: is_step,
            min_binding_size: if is_step { wgpu::BufferSize::new(STEP_BYTES) } else { None },
        },
        count: None,
    }
}

/// All pipelines of one model.
pub(in crate::gpu) struct Passes {
    pub layouts: Layouts,
    pub features: Pass,
    pub tick: Pass,
    pub wait: Pass,
    pub latent: Pass,
    pub start: Pass,
    pub place: Pass,
    /// Where vertices are made of 16-bit coefficients.
    pub halve: Option<Pass>,
    pub reconstruct: Pass,
    pub normals: Option<Pass>,
}

pub(in crate::gpu) const STEP: &str = include_str!("step.wgsl");
const LATENT: &str = include_str!("latent.wgsl");
const SHOWN: &str = include_str!("shown.wgsl");

impl Passes {
    /// For about `instances` of them.
    pub fn new(
        gpu: &Gpu,
        model: &Model,
        sizes: &Sizes,
        layouts: Layouts,
        settings: &GpuSettings,
        instances: u32,
    ) -> Self {
        let plain = |parts: &[&str]| sizes.constants().source(parts);
        let felt =
            if sizes.correcting.is_some() { include_str!("motion.wgsl") } else { include_str!("moves.wgsl") };
        let roots = plain(&[&limits(model), STEP, include_str!("roots.wgsl"), felt]);
        let roots_binds = [Read, Read, Write, Write, Write, Write];
        let latent = |layout: &Layout, starts: bool| {
            let starts = format!("const STARTS = {starts};\n");
            let binds = [Read, Read, Read, Read, Read, Write, Write];
            layout.pass(gpu, sizes.constants(), &[STEP, &starts, LATENT], &binds)
        };
        let features = plain(&[STEP, include_str!("features.wgsl")]);
        let hung = format!("const IS_HUNG = {};\n", sizes.correcting.is_some());
        let place = plain(&[STEP, &hung, include_str!("place.wgsl"), SHOWN]);
        let normal = plain(&[STEP, include_str!("normals.wgsl")]);
        let (halve, reconstruct) = vertices(gpu, sizes, settings.kernel, instances);
        Self {
            features: Pass::new(gpu, "features", &features, &[Read, Read, Read, Read, Write]),
            tick: Pass::new(gpu, "tick", &roots, &roots_binds),
            wait: Pass::new(gpu, "wait", &roots, &roots_binds),
            latent: latent(&layouts.latent, false),
            start: latent(&layouts.start, true),
            place: Pass::new(gpu, "place", &place, &[Read, Read, Read, Write, Read, Read]),
            halve,
            reconstruct,
            layouts,
            normals: settings
                .normals
                .then(|| Pass::new(gpu, "normal", &normal, &[Read, Read, Read, Read, Write])),
        }
    }
}

/// The pass that makes vertices, and the one before it where there is one.
fn vertices(gpu: &Gpu, sizes: &Sizes, kernel: Kernel, instances: u32) -> (Option<Pass>, Pass) {
    let mut constants = sizes.constants();
    match (kernel, gpu.units) {
        (Kernel::Cooperative(units), Some(unit)) => {
            let (depths, tiles) = sizes.unit_shape(units, unit);
            constants.0.extend([
                ("EDGE", unit.edge),
                ("DEPTHS", depths),
                ("LEADING", units.leading * unit.edge / 4),
                ("ROWS_EACH", HALVED_ROWS),
                ("SUBGROUP", unit.subgroup),
                ("SUBGROUPS", units.subgroups),
                ("BLOCKS", units.blocks),
                ("HEIGHT", 3 * units.vertices / unit.edge),
                ("SHARES", (units.vertices / 4 * units.blocks * unit.edge).div_ceil(unit.subgroup)),
                ("OUT", (units.vertices / 4 * 3 * units.blocks * unit.edge).div_ceil(unit.subgroup)),
                ("TILES", tiles),
                ("TILES_EACH", units.tiles_each(unit, tiles, instances)),
            ]);
            let halve = constants.source(&[STEP, include_str!("halve.wgsl"), SHOWN]);
            let edge = format!("{0}x{0}", unit.edge);
            let text = include_str!("cooperative.wgsl").replace("$e", &edge);
            let source = constants.source(&["enable f16;\nenable wgpu_cooperative_matrix;\n", STEP, &text]);
            (
                Some(Pass::new(gpu, "halve", &halve, &[Read, Read, Write])),
                Pass::new(gpu, "reconstruct", &source, &[Read, Read, Read, Read, Write]),
            )
        }
        (Kernel::Tiled(tile) | Kernel::Half(tile), _) => {
            let columns = tile.columns(sizes.vertices);
            constants.0.extend([
                ("COLUMNS", columns),
                ("INSTANCES", tile.instances),
                ("K_STEP", tile.depth),
                ("PAD", tile.pad(columns)),
            ]);
            let stored = if matches!(kernel, Kernel::Tiled(_)) { WHOLE } else { PACKED };
            let source = constants.source(&[STEP, stored, include_str!("reconstruct.wgsl"), SHOWN]);
            let binds = [Read, Read, Read, Read, Read, Write];
            (None, Pass::new(gpu, "reconstruct", &source, &binds))
        }
        (Kernel::Cooperative(_), None) => unreachable!("a crowd refuses units that the device lacks"),
    }
}

/// Instances that one row of workgroups halves.
pub(in crate::gpu) const HALVED_ROWS: u32 = 1024;

const WHOLE: &str = "alias Stored = vec4<f32>;
fn unpack(stored: Stored) -> vec4<f32> { return stored; }
";
const PACKED: &str = "alias Stored = vec2<u32>;
fn unpack(stored: Stored) -> vec4<f32> {
    return vec4<f32>(unpack2x16float(stored.x), unpack2x16float(stored.y));
}
";

/// What the root may do within a tick.
fn limits(model: &Model) -> String {
    let inputs = &model.inputs;
    // WGSL has no word for infinity.
    let [horizontal, vertical, turn] =
        [inputs.max_horizontal_m, inputs.max_vertical_m, inputs.max_turn].map(|v| v.min(1e6));
    format!(
        "const MAX_HORIZONTAL = {horizontal:?}f;\nconst MAX_VERTICAL = {vertical:?}f;\nconst MAX_TURN = {turn:?}f;\n\
         const FPS = {:?}f;\nconst BEGINNING = {:?}f;\n",
        model.fps as f32,
        if model.correction.is_some() { 1.0 } else { model.order as f32 },
    )
}
