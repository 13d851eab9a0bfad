//! The crowd drawn where it is: bones, bodies, garments and picture stay on the graphics card.

use super::gpu::Feeder;
use super::picture::{CELL_M, dress, skin};
use super::{Args, Clip, Times};
use crate::driver::quiet;
use anyhow::{Context, Result};
use glam::Vec3;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use toile_assets::{Body, Model};
use toile_geometry::Random;
use toile_run::gpu::wgpu::util::{BufferInitDescriptor, DeviceExt};
use toile_run::gpu::{Ask, Gpu, GpuCrowd, GpuSettings, Kernel, wgpu};
use toile_show::{
    Camera, DeviceFlock, Material, MeshHandle, Renderer, Scene, decimate, smooth_normals, srgb,
};

/// Steps everyone for as long as asked, draws every frame, and keeps the last one.
#[allow(clippy::disallowed_methods)] // what a frame costs is what is reported
pub fn run(
    path: &Path,
    args: &Args,
    model: &Arc<Model>,
    body: &Body,
    clips: &[Clip],
    rate: f64,
) -> Result<()> {
    let (gpu, mut renderer) = open()?;
    let side = (args.count as f64).sqrt().ceil() as u32;
    let normals = GpuSettings::default().with(|s| {
        (s.kernel, s.normals) = (Kernel::fastest(&gpu), true);
    });
    let mut crowd = GpuCrowd::new(gpu.clone(), normals)?;
    let id = crowd.add_model(model.clone(), args.count)?;
    for _ in 0..args.count {
        let instance = crowd.add(id)?;
        crowd.set_posed_on_device(instance)?;
    }
    let feeder = Feeder::new(&gpu, &crowd, id, clips, side)?;
    let bodies = Bodies::new(&gpu, &crowd, id, model, body)?;
    let flocks = flocks(&renderer, &crowd, id, model, &bodies, 2.0 * side as f32)?;
    let mut scene = Scene::new();
    scene.on_device = flocks.iter().collect();
    let (width, height) = args.size;
    let canvas = renderer.canvas(width, height)?;
    let camera = camera(2.0 * side as f32);
    let (mut frames, mut pictures) = (Times::default(), Times::default());
    let begin = Instant::now();
    let mut frame = 0;
    while begin.elapsed().as_secs_f64() < args.seconds || frame < 10 {
        gpu.wait()?;
        let start = Instant::now();
        feeder.feed(&gpu, frame);
        crowd.step(1.0 / rate)?;
        crowd.draw();
        bodies.pose(&gpu);
        renderer.draw_on(&canvas, &scene, &camera)?;
        gpu.wait()?;
        let whole = start.elapsed().as_secs_f64() * 1e3;
        let start = Instant::now();
        renderer.draw_on(&canvas, &scene, &camera)?;
        gpu.wait()?;
        if frame >= 4 {
            frames.0.push(whole);
            pictures.0.push(start.elapsed().as_secs_f64() * 1e3);
        }
        frame += 1;
    }
    renderer.read(&canvas)?.write_png(path)?;
    frames.0.sort_by(f64::total_cmp);
    pictures.0.sort_by(f64::total_cmp);
    let [median, p99, picture] = [frames.at(0.5), frames.at(0.99), pictures.at(0.5)];
    let triangles = model.triangles.len() + bodies.mesh.triangles().len();
    if args.json {
        let value = serde_json::json!({
            "picture": path, "count": args.count, "adapter": renderer.adapter(), "kernel": normals.kernel.name(),
            "median_ms": median, "p99_ms": p99, "picture_ms": picture, "triangles_each": triangles,
        });
        println!("{value}");
    } else {
        println!(
            "{}: {} dressed bodies of {triangles} triangles each, {width}x{height}: {median:.2} ms a frame, {p99:.2} p99, from \
             bones to picture, of which the picture {picture:.2} ms ({})",
            path.display(),
            args.count,
            renderer.adapter()
        );
    }
    Ok(())
}

/// One device for the crowd and the renderer.
fn open() -> Result<(Arc<Gpu>, Renderer)> {
    let _quiet = quiet::Stderr::silence();
    pollster::block_on(async {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
        let best = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            ..Default::default()
        };
        let adapter = instance.request_adapter(&best).await;
        let adapter = adapter.map_err(|e| toile_run::Error::NoAdapter(e.to_string()))?;
        let gpu = Arc::new(Gpu::of_adapter(&adapter, Ask::Best).await?);
        let renderer = Renderer::on(gpu.device.clone(), gpu.queue.clone(), adapter).await?;
        Ok((gpu, renderer))
    })
}

/// From before the square, over the heads of the first rows.
fn camera(side_m: f32) -> Camera {
    Camera {
        eye: Vec3::new(0.5 * side_m, 3.0 + 0.1 * side_m, -8.0),
        target: Vec3::new(0.5 * side_m, 0.0, 0.22 * side_m),
        fov_y_degrees: 40.0,
        ..Camera::default()
    }
}

/// Clothes and bodies, in colours of their own.
fn flocks(
    renderer: &Renderer,
    crowd: &GpuCrowd,
    id: toile_run::ModelId,
    model: &Model,
    bodies: &Bodies,
    side_m: f32,
) -> Result<Vec<DeviceFlock>> {
    // Clips carry their wearers a few metres away from the square.
    let bounds = (Vec3::new(-4.0, 0.0, -4.0), Vec3::new(side_m + 4.0, 2.0, side_m + 4.0));
    let cloth = MeshHandle::new(&model.triangles);
    let mut all = Vec::new();
    for (chunk, (positions, normals)) in crowd.chunks(id)?.zip(&bodies.made) {
        let mut dice = Random::new(u64::from(chunk.first) + 1);
        let colours: Vec<[Vec3; 2]> = (0..chunk.count).map(|_| [skin(&mut dice), dress(&mut dice)]).collect();
        let of = |which: usize| colours.iter().map(|c| c[which]).collect::<Vec<_>>();
        let worn = chunk.normals.context("the crowd has no normals")?;
        let skins = [positions, normals];
        all.push(renderer.flock(&bodies.mesh, Material::body(), skins, bodies.vertices, &of(0), bounds)?);
        let look = Material::cloth(srgb(0x80, 0x80, 0x80));
        all.push(renderer.flock(&cloth, look, [chunk.vertices, worn], chunk.stride, &of(1), bounds)?);
    }
    Ok(all)
}

/// Bodies that are skinned on the device.
struct Bodies {
    mesh: MeshHandle,
    vertices: u32,
    pipeline: wgpu::ComputePipeline,
    groups: Vec<(wgpu::BindGroup, u32)>,
    /// Positions and normals of each chunk.
    made: Vec<(wgpu::Buffer, wgpu::Buffer)>,
}

impl Bodies {
    fn new(gpu: &Gpu, crowd: &GpuCrowd, id: toile_run::ModelId, model: &Model, body: &Body) -> Result<Self> {
        let mut hidden = vec![false; body.mesh.triangles.len()];
        for &t in &model.hidden_triangles {
            hidden.iter_mut().skip(t as usize).take(1).for_each(|h| *h = true);
        }
        let seen = MeshHandle::new(&body.mesh.triangles).without(&hidden);
        let (kept, triangles) = decimate(&body.mesh.positions, seen.triangles(), CELL_M);
        let normals = smooth_normals(&body.mesh.positions, &body.mesh.triangles);
        let rows = |v: &u32| body.skin.row(*v as usize).collect::<Vec<_>>();
        let most = kept.iter().map(|v| rows(v).len()).max().unwrap_or(1).max(1);
        let mut rest: Vec<f32> = Vec::new();
        let mut hung: Vec<u32> = Vec::new();
        for v in &kept {
            let (p, n) = (body.mesh.positions[*v as usize], normals[*v as usize]);
            rest.extend([p.x, p.y, p.z, 0.0, n.x, n.y, n.z, 0.0]);
            let own = rows(v);
            for k in 0..most {
                let (joint, weight) = own.get(k).map_or((0, 0.0), |(j, w)| (u32::from(*j), *w));
                hung.extend([joint, weight.to_bits()]);
            }
        }
        let device = &gpu.device;
        let stored = |words: Vec<u32>, usage| {
            let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
            device.create_buffer_init(&BufferInitDescriptor { label: Some("body"), contents: &bytes, usage })
        };
        let storage = wgpu::BufferUsages::STORAGE;
        let rest = stored(rest.into_iter().map(f32::to_bits).collect(), storage);
        let hung = stored(hung, storage);
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("skin"),
            source: wgpu::ShaderSource::Wgsl(include_str!("skin.wgsl").into()),
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("skin"),
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: Default::default(),
            cache: None,
        });
        let vertices = kept.len() as u32;
        let (mut groups, mut made) = (Vec::new(), Vec::new());
        for chunk in crowd.posed_rows(id)? {
            let sizes = [chunk.count, model.joints as u32, vertices, most as u32];
            let sizes = stored(sizes.to_vec(), wgpu::BufferUsages::UNIFORM);
            let out = || {
                device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some("bodies"),
                    size: 12 * u64::from(vertices) * u64::from(chunk.count),
                    usage: storage,
                    mapped_at_creation: false,
                })
            };
            let (positions, normals) = (out(), out());
            let all = [&sizes, chunk.poses, chunk.bones, &rest, &hung, &positions, &normals];
            let entries: Vec<_> = (0..)
                .zip(all)
                .map(|(binding, b)| wgpu::BindGroupEntry { binding, resource: b.as_entire_binding() })
                .collect();
            let layout = &pipeline.get_bind_group_layout(0);
            let group = wgpu::BindGroupDescriptor { label: Some("skin"), layout, entries: &entries };
            groups.push((device.create_bind_group(&group), chunk.count));
            made.push((positions, normals));
        }
        Ok(Self { mesh: MeshHandle::new(&triangles), vertices, pipeline, groups, made })
    }

    /// Everyone as the poses on the device have them.
    fn pose(&self, gpu: &Gpu) {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&self.pipeline);
            for (group, count) in &self.groups {
                pass.set_bind_group(0, group, &[]);
                pass.dispatch_workgroups(self.vertices.div_ceil(64), *count, 1);
            }
        }
        gpu.queue.submit([encoder.finish()]);
    }
}
