//! Shaders, layouts and pipelines. Pipelines of the main pass are made when first needed: a software driver
//! compiles each to machine code, and most pictures need three of them.

use super::ground::GroundLight;
use super::targets::{COLOUR, DEPTH, SAMPLES};
use super::upload::VERTEX_LAYOUT;
use std::collections::HashMap;

pub(super) const FRAME: &str = include_str!("frame.wgsl");
pub(super) const SHADOW: &str = include_str!("shadow.wgsl");
pub(super) const SURFACE: &str = include_str!("surface.wgsl");
pub(super) const STUDIO: &str = include_str!("studio.wgsl");
pub(super) const LEVELS: &str = include_str!("levels.wgsl");

/// How one draw of the main pass is made.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Draw {
    pub cull: Option<wgpu::Face>,
    pub wire: bool,
    pub flock: bool,
    pub cutout: bool,
    pub layer: Layer,
}

/// Opaque things write colour and depth; a ghost first writes its depth and then blends what lies exactly there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Layer {
    Opaque,
    GhostDepth,
    GhostColour,
}

pub(super) struct Pipelines {
    pub frame_layout: wgpu::BindGroupLayout,
    pub item_layout: wgpu::BindGroupLayout,
    pub light_layout: wgpu::BindGroupLayout,
    pub corners_layout: wgpu::BindGroupLayout,
    pub flock_layout: wgpu::BindGroupLayout,
    pub shadow: wgpu::RenderPipeline,
    pub shadow_flock: wgpu::RenderPipeline,
    pub backdrop: wgpu::RenderPipeline,
    pub ground: wgpu::RenderPipeline,
    pub ground_wide: wgpu::RenderPipeline,
    pub ground_light: GroundLight,
    /// Who of a flock is drawn, and how finely.
    pub levels: wgpu::ComputePipeline,
    surface_module: wgpu::ShaderModule,
    surface_layout: wgpu::PipelineLayout,
    wire_layout: wgpu::PipelineLayout,
    flock_surface_layout: wgpu::PipelineLayout,
    surfaces: HashMap<Draw, wgpu::RenderPipeline>,
}

/// What the shaders are given, group by group.
pub(super) struct Layouts {
    pub frame: wgpu::BindGroupLayout,
    item: wgpu::BindGroupLayout,
    light: wgpu::BindGroupLayout,
    corners: wgpu::BindGroupLayout,
    flock: wgpu::BindGroupLayout,
}

impl Layouts {
    fn new(device: &wgpu::Device) -> Self {
        use wgpu::ShaderStages as S;
        let uniform = |dynamic| wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Uniform,
            has_dynamic_offset: dynamic,
            min_binding_size: None,
        };
        let storage = wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only: true },
            has_dynamic_offset: false,
            min_binding_size: None,
        };
        let map = wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Depth,
            view_dimension: wgpu::TextureViewDimension::D2,
            multisampled: false,
        };
        let compare = wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Comparison);
        let nearest = wgpu::BindingType::Sampler(wgpu::SamplerBindingType::NonFiltering);
        let group = |label, entries: &[(wgpu::ShaderStages, wgpu::BindingType)]| {
            let entries: Vec<_> = entries
                .iter()
                .zip(0..)
                .map(|(&(visibility, ty), binding)| wgpu::BindGroupLayoutEntry {
                    binding,
                    visibility,
                    ty,
                    count: None,
                })
                .collect();
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some(label),
                entries: &entries,
            })
        };
        let both = S::VERTEX | S::FRAGMENT;
        let all = both | S::COMPUTE;
        let frame =
            group("frame", &[(all, uniform(false)), (all, map), (all, map), (all, compare), (all, nearest)]);
        let picture = wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Float { filterable: true },
            view_dimension: wgpu::TextureViewDimension::D2,
            multisampled: false,
        };
        let smooth = wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering);
        let item = group("item", &[(both, uniform(true)), (S::FRAGMENT, picture), (S::FRAGMENT, smooth)]);
        let light = group("light", &[(S::VERTEX, uniform(false))]);
        let corners = group("corners", &[(S::VERTEX, storage), (S::VERTEX, storage)]);
        let flock = group("flock", &[(S::VERTEX, storage); 5]);
        Self { frame, item, light, corners, flock }
    }
}

impl Pipelines {
    pub fn new(device: &wgpu::Device) -> Self {
        let module = |label: &str, source: String| {
            device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(label),
                source: wgpu::ShaderSource::Wgsl(source.into()),
            })
        };
        let shadow_module = module("shadow.wgsl", SHADOW.into());
        let surface_module = module("surface.wgsl", format!("{FRAME}{SURFACE}"));
        let studio_module = module("studio.wgsl", format!("{FRAME}{STUDIO}"));

        let layouts = Layouts::new(device);
        let ground_light = GroundLight::new(device, &layouts);
        let Layouts { frame: frame_layout, item: item_layout, light: light_layout, corners, flock } = layouts;
        let (corners_layout, flock_layout) = (corners, flock);
        let layout = |label, groups: &[&wgpu::BindGroupLayout]| {
            let groups: Vec<_> = groups.iter().map(|g| Some(*g)).collect();
            device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some(label),
                bind_group_layouts: &groups,
                immediate_size: 0,
            })
        };
        let shadow_layout = layout("shadow", &[&light_layout, &item_layout]);
        let shadow_flock_layout = layout("shadow flock", &[&light_layout, &item_layout, &flock_layout]);
        let flock_surface_layout = layout("flock", &[&frame_layout, &item_layout, &flock_layout]);
        let studio_layout = layout("studio", &[&frame_layout]);
        let wide_layout = layout("ground", &[&frame_layout, &ground_light.layout]);
        let surface_layout = layout("surface", &[&frame_layout, &item_layout]);
        let wire_layout = layout("wire", &[&frame_layout, &item_layout, &corners_layout]);

        let shadow = shadow_pipeline(device, &shadow_layout, &shadow_module, false);
        let shadow_flock = shadow_pipeline(device, &shadow_flock_layout, &shadow_module, true);
        let backdrop = studio(device, &studio_layout, &studio_module, "backdrop");
        let ground = studio(device, &studio_layout, &studio_module, "ground");
        let ground_wide = studio(device, &wide_layout, &studio_module, "ground_wide");
        let levels = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("levels"),
            layout: None,
            module: &module("levels.wgsl", LEVELS.into()),
            entry_point: Some("main"),
            compilation_options: Default::default(),
            cache: None,
        });
        Self {
            frame_layout,
            item_layout,
            light_layout,
            corners_layout,
            flock_layout,
            shadow,
            shadow_flock,
            backdrop,
            ground,
            ground_wide,
            ground_light,
            levels,
            surface_module,
            surface_layout,
            wire_layout,
            flock_surface_layout,
            surfaces: HashMap::new(),
        }
    }

    /// The pipeline for a kind of draw.
    pub fn surface(&mut self, device: &wgpu::Device, draw: Draw) -> wgpu::RenderPipeline {
        let module = &self.surface_module;
        let layout = match draw {
            Draw { flock: true, .. } => &self.flock_surface_layout,
            Draw { wire: true, .. } => &self.wire_layout,
            _ => &self.surface_layout,
        };
        let make = || surface(device, module, layout, draw);
        self.surfaces.entry(draw).or_insert_with(make).clone()
    }
}

fn shadow_pipeline(
    device: &wgpu::Device,
    layout: &wgpu::PipelineLayout,
    module: &wgpu::ShaderModule,
    flock: bool,
) -> wgpu::RenderPipeline {
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some("shadow"),
        layout: Some(layout),
        vertex: wgpu::VertexState {
            module,
            entry_point: Some(if flock { "vs_shadow_flock" } else { "vs_shadow" }),
            compilation_options: Default::default(),
            buffers: if flock { &[] } else { &[Some(VERTEX_LAYOUT)] },
        },
        // Cloth has no inside to hide behind, so both sides cast shadows.
        primitive: wgpu::PrimitiveState::default(),
        depth_stencil: Some(wgpu::DepthStencilState {
            format: DEPTH,
            depth_write_enabled: Some(true),
            depth_compare: Some(wgpu::CompareFunction::Less),
            stencil: Default::default(),
            bias: wgpu::DepthBiasState { constant: 0, slope_scale: 1.0, clamp: 0.0 },
        }),
        multisample: Default::default(),
        fragment: None,
        multiview_mask: None,
        cache: None,
    })
}

fn surface(
    device: &wgpu::Device,
    module: &wgpu::ShaderModule,
    layout: &wgpu::PipelineLayout,
    draw: Draw,
) -> wgpu::RenderPipeline {
    let wire = draw.wire && !draw.flock;
    let vertex = match (draw.flock, wire) {
        (true, _) => "vs_flock",
        (_, true) => "vs_wire",
        _ => "vs_surface",
    };
    let fragment = match (draw.layer, wire) {
        (Layer::GhostDepth, _) => "fs_nothing",
        (_, true) => "fs_wire",
        (_, false) if draw.cutout => "fs_cutout",
        (_, false) => "fs_surface",
    };
    let target = wgpu::ColorTargetState {
        format: COLOUR,
        blend: (draw.layer == Layer::GhostColour).then_some(wgpu::BlendState::ALPHA_BLENDING),
        write_mask: if draw.layer == Layer::GhostDepth {
            wgpu::ColorWrites::empty()
        } else {
            wgpu::ColorWrites::COLOR
        },
    };
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some("surface"),
        layout: Some(layout),
        vertex: wgpu::VertexState {
            module,
            entry_point: Some(vertex),
            compilation_options: Default::default(),
            buffers: if wire || draw.flock { &[] } else { &[Some(VERTEX_LAYOUT)] },
        },
        primitive: wgpu::PrimitiveState { cull_mode: draw.cull, ..Default::default() },
        depth_stencil: Some(wgpu::DepthStencilState {
            format: DEPTH,
            depth_write_enabled: Some(draw.layer != Layer::GhostColour),
            depth_compare: Some(match draw.layer {
                Layer::GhostColour => wgpu::CompareFunction::Equal,
                _ => wgpu::CompareFunction::Greater,
            }),
            stencil: Default::default(),
            bias: Default::default(),
        }),
        multisample: wgpu::MultisampleState { count: SAMPLES, ..Default::default() },
        fragment: Some(wgpu::FragmentState {
            module,
            entry_point: Some(fragment),
            compilation_options: Default::default(),
            targets: &[Some(target)],
        }),
        multiview_mask: None,
        cache: None,
    })
}

fn studio(
    device: &wgpu::Device,
    layout: &wgpu::PipelineLayout,
    module: &wgpu::ShaderModule,
    what: &str,
) -> wgpu::RenderPipeline {
    let ground = what != "backdrop";
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(what),
        layout: Some(layout),
        vertex: wgpu::VertexState {
            module,
            entry_point: Some(&format!("vs_{what}")),
            compilation_options: Default::default(),
            buffers: &[],
        },
        primitive: wgpu::PrimitiveState {
            // Seen from below the ground is not there: a look at the soles must stay possible.
            cull_mode: ground.then_some(wgpu::Face::Back),
            ..Default::default()
        },
        depth_stencil: Some(wgpu::DepthStencilState {
            format: DEPTH,
            depth_write_enabled: Some(ground),
            depth_compare: Some(if ground {
                wgpu::CompareFunction::Greater
            } else {
                wgpu::CompareFunction::Equal
            }),
            stencil: Default::default(),
            bias: Default::default(),
        }),
        multisample: wgpu::MultisampleState { count: SAMPLES, ..Default::default() },
        fragment: Some(wgpu::FragmentState {
            module,
            entry_point: Some(&format!("fs_{what}")),
            compilation_options: Default::default(),
            targets: &[Some(wgpu::ColorTargetState {
                format: COLOUR,
                blend: None,
                write_mask: wgpu::ColorWrites::ALL,
            })],
        }),
        multiview_mask: None,
        cache: None,
    })
}
