//! The crowd drawn where it is: bones, bodies, garments and picture stay on the graphics card.

use super::gpu::Feeder;
use super::levels::{self, Levels};
use super::picture::{dress, skin};
use super::{Args, Clip, Times};
use crate::driver::quiet;
use crate::picture::DEPTH_SLACK_M;
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
    Camera, DeviceFlock, FlockSource, Material, MeshHandle, Renderer, Scene, smooth_normals, srgb,
    uncovered_m,
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
    let worn = levels::garment_poses(model, clips, rate)?;
    let bodies = Bodies::new(&gpu, &crowd, id, model, body, clips, &worn[0])?;
    let cloth = Levels::new(&worn, &model.triangles);
    let flocks = flocks(&renderer, &crowd, id, &cloth, &bodies, 2.0 * side as f32)?;
    let mut scene = Scene::new();
    scene.on_device = flocks.iter().collect();
    scene.off_px = args.detail;
    renderer.time_passes();
    let (width, height) = args.size;
    let canvas = renderer.canvas(width, height)?;
    let camera = camera(2.0 * side as f32);
    let mut taken = Taken::default();
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
            taken.add(whole, start.elapsed().as_secs_f64() * 1e3, renderer.pass_times()?);
        }
        frame += 1;
    }
    renderer.read(&canvas)?.write_png(path)?;
    let triangles = model.triangles.len() + bodies.levels.meshes[0].0.triangles().len();
    let figures = taken.figures();
    let levels = [("bodies", &bodies.levels), ("clothes", &cloth)];
    print(path, args, &figures, (&renderer.adapter(), normals.kernel), triangles, levels);
    Ok(())
}

/// Times of the frames so far, ms.
#[derive(Default)]
struct Taken {
    frames: Times,
    pictures: Times,
    passes: Vec<(&'static str, Times)>,
}

/// Medians, and of whole frames the 99th percentile, ms.
struct Figures {
    median: f64,
    p99: f64,
    picture: f64,
    passes: Vec<(&'static str, f64)>,
}

impl Taken {
    fn add(&mut self, frame: f64, picture: f64, passes: Vec<(&'static str, f64)>) {
        self.frames.0.push(frame);
        self.pictures.0.push(picture);
        for (name, ms) in passes {
            match self.passes.iter_mut().find(|p| p.0 == name) {
                Some((_, times)) => times.0.push(ms),
                None => self.passes.push((name, Times(vec![ms]))),
            }
        }
    }

    fn figures(mut self) -> Figures {
        let passes = self.passes.iter_mut().map(|p| &mut p.1);
        for times in [&mut self.frames, &mut self.pictures].into_iter().chain(passes) {
            times.0.sort_by(f64::total_cmp);
        }
        Figures {
            median: self.frames.at(0.5),
            p99: self.frames.at(0.99),
            picture: self.pictures.at(0.5),
            passes: self.passes.iter().map(|(name, times)| (*name, times.at(0.5))).collect(),
        }
    }
}

fn print(
    path: &Path,
    args: &Args,
    figures: &Figures,
    (adapter, kernel): (&str, Kernel),
    triangles: usize,
    levels: [(&str, &Levels); 2],
) {
    let Figures { median, p99, picture, passes } = figures;
    let (width, height) = args.size;
    let [(_, body), (_, garment)] = levels;
    if args.json {
        let value = serde_json::json!({
            "picture": path, "count": args.count, "adapter": adapter, "kernel": kernel.name(),
            "median_ms": median, "p99_ms": p99, "picture_ms": picture, "triangles_each": triangles,
            "passes_ms": passes.iter().map(|(n, ms)| (n.to_string(), (*ms).into())).collect::<serde_json::Map<_, _>>(),
            "detail_px": args.detail, "levels": {"body": body.json(), "garment": garment.json()},
        });
        println!("{value}");
    } else {
        println!(
            "{}: {} dressed bodies of {triangles} triangles each, {width}x{height}: {median:.2} ms a frame, {p99:.2} p99, from \
             bones to picture, of which the picture {picture:.2} ms ({})",
            path.display(),
            args.count,
            adapter
        );
        let passes: Vec<String> = passes.iter().map(|(name, ms)| format!("{name} {ms:.2} ms")).collect();
        println!("  {}", passes.join(", "));
        for (what, levels) in levels {
            let level = |(mesh, off): &(MeshHandle, [f32; 2])| {
                let [usual, most] = off.map(|m| 1000.0 * m);
                format!("{} ({usual:.1}, {most:.1})", mesh.triangles().len())
            };
            let all: Vec<String> = levels.meshes.iter().map(level).collect();
            println!("  triangles of {what} (mm off: 95 of 100 vertices, the farthest): {}", all.join(", "));
        }
    }
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
    cloth: &Levels,
    bodies: &Bodies,
    side_m: f32,
) -> Result<Vec<DeviceFlock>> {
    // Clips carry their wearers a few metres away from the square.
    let bounds = (Vec3::new(-4.0, 0.0, -4.0), Vec3::new(side_m + 4.0, 2.0, side_m + 4.0));
    let (body_levels, cloth_levels) = (bodies.levels.by_distance(), cloth.by_distance());
    let mut all = Vec::new();
    for (chunk, (positions, normals)) in crowd.chunks(id)?.zip(&bodies.made) {
        let mut dice = Random::new(u64::from(chunk.first) + 1);
        let colours: Vec<[Vec3; 2]> = (0..chunk.count).map(|_| [skin(&mut dice), dress(&mut dice)]).collect();
        let of = |which: usize| colours.iter().map(|c| c[which]).collect::<Vec<_>>();
        let worn = chunk.normals.context("the crowd has no normals")?;
        let skins = FlockSource {
            positions,
            normals,
            stride: bodies.vertices,
            levels: &body_levels,
            colours: &of(0),
            leads_m: Some(&bodies.leads_m),
            anchor: bodies.levels.anchor,
            bounds,
        };
        all.push(renderer.flock(Material::body(), &skins)?);
        let clothes = FlockSource {
            positions: chunk.vertices,
            normals: worn,
            stride: chunk.stride,
            levels: &cloth_levels,
            colours: &of(1),
            leads_m: None,
            anchor: cloth.anchor,
            bounds,
        };
        let look = Material { depth_slack_m: DEPTH_SLACK_M, ..Material::cloth(srgb(0x80, 0x80, 0x80)) };
        all.push(renderer.flock(look, &clothes)?);
    }
    Ok(all)
}

/// Bodies that are skinned on the device.
struct Bodies {
    levels: Levels,
    leads_m: Vec<f32>,
    vertices: u32,
    pipeline: wgpu::ComputePipeline,
    groups: Vec<(wgpu::BindGroup, u32)>,
    /// Positions and normals of each chunk.
    made: Vec<(wgpu::Buffer, wgpu::Buffer)>,
}

impl Bodies {
    fn new(
        gpu: &Gpu,
        crowd: &GpuCrowd,
        id: toile_run::ModelId,
        model: &Model,
        body: &Body,
        clips: &[Clip],
        worn: &[Vec3],
    ) -> Result<Self> {
        let mut hidden = vec![false; body.mesh.triangles.len()];
        for &t in &model.hidden_triangles {
            hidden.iter_mut().skip(t as usize).take(1).for_each(|h| *h = true);
        }
        let seen = MeshHandle::new(&body.mesh.triangles).without(&hidden);
        let poses = levels::body_poses(body, clips);
        let mut levels = Levels::new(&poses, seen.triangles());
        let kept = levels.compact();
        let garment = [(worn, model.triangles.as_slice())];
        let leads = uncovered_m(&poses[0], &body.mesh.triangles, &garment, DEPTH_SLACK_M);
        let leads_m = kept.iter().map(|v| leads[*v as usize]).collect();
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
        Ok(Self { levels, leads_m, vertices, pipeline, groups, made })
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
