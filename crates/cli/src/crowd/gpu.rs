//! The crowd on a graphics card: what a frame costs from bones on the device to vertices on the device.

use super::{Args, Clip, Times};
use crate::driver::quiet;
use crate::resolve::BadRequest;
use anyhow::Result;
use glam::{DVec3, Quat};
use std::sync::Arc;
use std::time::Instant;
use toile_assets::{Model, RootFrame};
use toile_run::gpu::wgpu::util::{BufferInitDescriptor, DeviceExt};
use toile_run::gpu::{Ask, Floors, Gpu, GpuCrowd, GpuSettings, Kernel, PosedRow, Stage, wgpu};
use toile_run::{Actor, Crowd, CrowdSettings, Instance, ModelId};

/// Rounding brings vertices no farther apart than this.
const BEYOND_MM: f32 = 0.1;
/// Instances that are compared with the processor's.
const COMPARED: usize = 48;

/// One kernel's figures.
struct Measured {
    kernel: Kernel,
    frame: Times,
    stages: Vec<(Stage, Times)>,
    floors: Floors,
    upload_ms: f64,
    worst_mm: f32,
    /// Vertices that were compared, and those beyond what rounding does.
    compared: usize,
    beyond: usize,
    clamped_per_frame: f64,
    back_to_back_ms: f64,
}

pub fn run(args: &Args, model: &Arc<Model>, clips: &[Clip], rate: f64) -> Result<()> {
    let gpu = {
        let _quiet = quiet::Stderr::silence();
        Arc::new(pollster::block_on(Gpu::open(Ask::Best))?)
    };
    let kernels = match args.kernel.as_str() {
        "fastest" => vec![Kernel::fastest(&gpu)],
        "f32" => vec![Kernel::PORTABLE],
        "all" => Kernel::all(&gpu),
        other => {
            let all = Kernel::all(&gpu);
            let names: Vec<String> = all.iter().map(Kernel::name).collect();
            match all.iter().find(|k| k.name() == other) {
                Some(kernel) => vec![*kernel],
                None => {
                    let names = names.join("`, `");
                    let what =
                        format!("no kernel `{other}` here; there are `fastest`, `f32`, `all`, `{names}`");
                    return Err(BadRequest(what).into());
                }
            }
        }
    };
    let mut all = Vec::new();
    for kernel in kernels {
        all.push(measure(args, &gpu, kernel, model, clips, rate)?);
    }
    print(args, &gpu, model, rate, &all);
    Ok(())
}

/// The clips on the device, and what writes them into a crowd's poses.
pub(super) struct Feeder {
    pipeline: wgpu::ComputePipeline,
    groups: Vec<(wgpu::BindGroup, wgpu::Buffer, [u32; 8])>,
}

impl Feeder {
    pub fn new(gpu: &Gpu, crowd: &GpuCrowd, id: ModelId, clips: &[Clip], side: u32) -> Result<Self> {
        let device = &gpu.device;
        let (mut table, mut poses, mut bones) = (Vec::new(), Vec::new(), Vec::new());
        let mut first = 0;
        for clip in clips {
            table.push([first, clip.bones.len() as u32]);
            first += clip.bones.len() as u32;
            for (f, root) in clip.roots.iter().enumerate() {
                // Who comes to the end of a clip begins it again where it began.
                let row = PosedRow::new(&Actor::IDENTITY, root, f == 0);
                poses.extend(row.turn.iter().chain([&row.high, &row.low]).flatten());
                poses.extend([row.sin_cos[0], row.sin_cos[1], row.jumps, row.unused]);
                bones.extend(clip.bones[f].iter().flat_map(|b| b.to_cols_array()));
            }
        }
        let buffer = |words: Vec<u8>, usage| {
            let contents = &words;
            device.create_buffer_init(&BufferInitDescriptor { label: Some("clips"), contents, usage })
        };
        let bytes = |floats: &[f32]| floats.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
        let table = table.iter().flatten().flat_map(|v: &u32| v.to_le_bytes()).collect();
        let storage = wgpu::BufferUsages::STORAGE;
        let clip_buffers =
            [buffer(table, storage), buffer(bytes(&poses), storage), buffer(bytes(&bones), storage)];
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("feed"),
            source: wgpu::ShaderSource::Wgsl(include_str!("feed.wgsl").into()),
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("feed"),
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: Default::default(),
            cache: None,
        });
        let quads = 3 * clips[0].bones[0].len() as u32;
        let groups = crowd.posed_rows(id)?.map(|rows| {
            let words = [0, rows.first, rows.count, side, clips.len() as u32, quads, 0, 0];
            let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
            let feed = buffer(vec![0; 32], usage);
            let [table, poses, bones] = &clip_buffers;
            let all = [&feed, table, poses, bones, rows.poses, rows.bones];
            let entries: Vec<_> = (0..)
                .zip(all)
                .map(|(binding, b)| wgpu::BindGroupEntry { binding, resource: b.as_entire_binding() })
                .collect();
            let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("feed"),
                layout: &pipeline.get_bind_group_layout(0),
                entries: &entries,
            });
            (group, feed, words)
        });
        let groups = groups.collect();
        Ok(Self { pipeline, groups })
    }

    /// Everyone's pose in a frame.
    pub fn feed(&self, gpu: &Gpu, frame: u32) {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&self.pipeline);
            for (group, buffer, words) in &self.groups {
                let [_, first, count, side, clips, quads, ..] = *words;
                let words = [frame, first, count, side, clips, quads, 0, 0];
                let bytes: Vec<u8> = words.iter().flat_map(|v| v.to_le_bytes()).collect();
                gpu.queue.write_buffer(buffer, 0, &bytes);
                pass.set_bind_group(0, group, &[]);
                pass.dispatch_workgroups((quads + 6).div_ceil(32), count.div_ceil(8), 1);
            }
        }
        gpu.queue.submit([encoder.finish()]);
    }
}

/// The first garments of the crowd once more, on the processor.
struct Beside {
    crowd: Crowd,
    instances: Vec<Instance>,
    /// Garments in a row of the square.
    side: usize,
}

impl Beside {
    fn new(model: &Arc<Model>, count: usize, side: usize) -> Result<Self> {
        let mut crowd = Crowd::new(CrowdSettings::default());
        let id = crowd.add_model(model.clone(), count)?;
        let instances = (0..count).map(|_| crowd.add(id)).collect::<Result<_, _>>()?;
        Ok(Self { crowd, instances, side })
    }

    /// Goes on to a frame as [`Feeder::feed`] has it.
    fn step(&mut self, clips: &[Clip], frame: usize, rate: f64) -> Result<()> {
        let side = self.side;
        for (who, &instance) in self.instances.iter().enumerate() {
            let clip = &clips[who % clips.len()];
            let f = (frame + 7 * who) % clip.bones.len();
            if f == 0 {
                self.crowd.teleport(instance)?;
            }
            let at = DVec3::new((who % side) as f64 * 2.0, 0.0, (who / side) as f64 * 2.0);
            let actor = Actor { position: at, rotation: Quat::IDENTITY };
            let root = RootFrame { position: clip.roots[f].position + at, ..clip.roots[f] };
            self.crowd.set_pose_with_root(instance, &actor, &clip.bones[f], &root)?;
        }
        self.crowd.step(1.0 / rate)?;
        Ok(())
    }

    /// How far the device's vertices are from these.
    fn compare(&mut self, theirs: &mut GpuCrowd, seen: &[Instance], out: &mut Measured) -> Result<()> {
        self.crowd.draw();
        for (&own, &their) in self.instances.iter().zip(seen) {
            let theirs = theirs.read_vertices(their)?;
            for (a, b) in self.crowd.vertices(own)?.iter().zip(&theirs) {
                // A number that is none is infinitely far.
                let apart = 1000.0 * a.distance(*b);
                out.worst_mm = out.worst_mm.max(if apart.is_finite() { apart } else { f32::INFINITY });
                out.compared += 1;
                out.beyond += usize::from(!(apart <= BEYOND_MM));
            }
        }
        Ok(())
    }
}

#[allow(clippy::disallowed_methods)] // what it costs is what the command reports
fn measure(
    args: &Args,
    gpu: &Arc<Gpu>,
    kernel: Kernel,
    model: &Arc<Model>,
    clips: &[Clip],
    rate: f64,
) -> Result<Measured> {
    let mut crowd = GpuCrowd::new(
        gpu.clone(),
        GpuSettings::default().with(|s| {
            s.kernel = kernel;
            s.normals = args.normals;
        }),
    )?;
    let id = crowd.add_model(model.clone(), args.count)?;
    let mut instances = Vec::with_capacity(args.count);
    for _ in 0..args.count {
        let instance = crowd.add(id)?;
        crowd.set_posed_on_device(instance)?;
        instances.push(instance);
    }
    let side = (args.count as f64).sqrt().ceil() as usize;
    let seen = (args.seen * args.count as f64).round() as usize;
    for &instance in &instances[seen..] {
        crowd.set_drawn(instance, false)?;
    }
    if args.mm_per_metre != 0.0 {
        crowd.set_viewer(Some((DVec3::new(0.0, 1.6, 0.0), args.mm_per_metre)))?;
    }
    let feeder = Feeder::new(gpu, &crowd, id, clips, side as u32)?;
    let mut beside = Beside::new(model, COMPARED.min(args.count), side)?;
    let mut out = Measured {
        kernel,
        frame: Times::default(),
        stages: Stage::ALL.map(|s| (s, Times::default())).into(),
        floors: Floors::default(),
        upload_ms: 0.0,
        worst_mm: 0.0,
        compared: 0,
        beyond: 0,
        clamped_per_frame: 0.0,
        back_to_back_ms: 0.0,
    };
    let begin = Instant::now();
    let mut frame = 0;
    while begin.elapsed().as_secs_f64() < args.seconds || frame < 10 {
        feeder.feed(gpu, frame as u32);
        gpu.wait()?;
        let start = Instant::now();
        crowd.step(1.0 / rate)?;
        crowd.draw();
        gpu.wait()?;
        let ms = start.elapsed().as_secs_f64() * 1e3;
        let times = crowd.read_times()?;
        // The first frames warm up.
        if frame >= 4 {
            out.frame.0.push(ms);
            for (stage, all) in &mut out.stages {
                all.0.push(times.iter().filter(|t| t.0 == *stage).map(|t| t.1).sum());
            }
        }
        beside.step(clips, frame, rate)?;
        frame += 1;
    }
    beside.compare(&mut crowd, &instances[..seen], &mut out)?;
    out.clamped_per_frame = crowd.read_clamped()? as f64 / (frame * args.count) as f64;
    out.back_to_back_ms = back_to_back_ms(gpu, &mut crowd, rate)?;
    out.floors = crowd.measure_floors()?;
    out.upload_ms = upload_ms(gpu, &crowd, id)?;
    out.frame.0.sort_by(f64::total_cmp);
    out.stages.iter_mut().for_each(|(_, t)| t.0.sort_by(f64::total_cmp));
    Ok(out)
}

/// A frame of many that are handed to the device without waiting for the one before, as a game does.
#[allow(clippy::disallowed_methods)] // as above
fn back_to_back_ms(gpu: &Gpu, crowd: &mut GpuCrowd, rate: f64) -> Result<f64> {
    const FRAMES: u32 = 16;
    gpu.wait()?;
    let start = Instant::now();
    for _ in 0..FRAMES {
        crowd.step(1.0 / rate)?;
        crowd.draw();
    }
    gpu.wait()?;
    let ms = start.elapsed().as_secs_f64() * 1e3 / f64::from(FRAMES);
    crowd.read_times()?;
    Ok(ms)
}

/// Sending everyone's bones from the processor instead, as a crowd does that is not animated on the device.
#[allow(clippy::disallowed_methods)] // as above
fn upload_ms(gpu: &Gpu, crowd: &GpuCrowd, id: ModelId) -> Result<f64> {
    const PIECE: u64 = 64 << 20;
    let piece = vec![0u8; PIECE as usize];
    let start = Instant::now();
    for rows in crowd.posed_rows(id)? {
        for buffer in [rows.poses, rows.bones] {
            for at in (0..buffer.size()).step_by(PIECE as usize) {
                let bytes = &piece[..PIECE.min(buffer.size() - at) as usize];
                gpu.queue.write_buffer(buffer, at, bytes);
                gpu.queue.submit([]);
            }
        }
    }
    gpu.wait()?;
    Ok(start.elapsed().as_secs_f64() * 1e3)
}

impl Measured {
    fn stage(&self, stage: Stage) -> f64 {
        self.stages.iter().find(|s| s.0 == stage).map_or(0.0, |s| s.1.at(0.5))
    }

    fn device_ms(&self) -> f64 {
        self.stages.iter().map(|s| s.1.at(0.5)).sum()
    }

    /// What the vertices cost at the least: writing them, and where threads multiply, multiplying.
    fn floor_ms(&self) -> f64 {
        match self.kernel {
            Kernel::Cooperative(_) => self.floors.write_ms,
            _ => self.floors.write_ms.max(self.floors.product_ms),
        }
    }

    fn json(&self, args: &Args, gpu: &Gpu, model: &Model, rate: f64) -> serde_json::Value {
        let [median, p95, p99] = [0.5, 0.95, 0.99].map(|s| self.frame.at(s));
        serde_json::json!({
            "count": args.count, "threads": 0, "adapter": adapter(gpu), "kernel": self.kernel.name(),
            "garment_frames_per_s": 1e3 * args.count as f64 / median,
            "median_ms": median, "p95_ms": p95, "p99_ms": p99, "device_ms": self.device_ms(),
            "back_to_back_ms": self.back_to_back_ms,
            "floor_ratio": self.floor_ms() / self.stage(Stage::Reconstruct).max(1e-9),
            "stages": {
                "features_ms": self.stage(Stage::Features), "roots_ms": self.stage(Stage::Roots),
                "latent_ms": self.stage(Stage::Latent), "place_ms": self.stage(Stage::Place),
                "reconstruct_ms": self.stage(Stage::Reconstruct), "hang_ms": self.stage(Stage::Hang),
                "normals_ms": self.stage(Stage::Normals),
            },
            "floors": { "write_ms": self.floors.write_ms, "product_ms": self.floors.product_ms },
            "upload_ms": self.upload_ms, "worst_mm": self.worst_mm,
            "beyond_share": self.beyond as f64 / self.compared.max(1) as f64, "seen": args.seen,
            "vertices": model.vertices, "dims": model.cloth_dims, "rate": rate,
            "clamped_per_frame": self.clamped_per_frame,
        })
    }
}

fn adapter(gpu: &Gpu) -> String {
    format!("{} ({})", gpu.info.name, gpu.info.backend)
}

fn print(args: &Args, gpu: &Gpu, model: &Model, rate: f64, all: &[Measured]) {
    let best = |m: &&Measured| m.frame.at(0.5);
    let Some(fastest) = all.iter().min_by(|a, b| best(a).total_cmp(&best(b))) else { return };
    if args.json {
        let mut value = fastest.json(args, gpu, model, rate);
        if all.len() > 1 {
            value["kernels"] = all.iter().map(|m| m.json(args, gpu, model, rate)).collect();
        }
        println!("{value}");
        return;
    }
    println!(
        "{} garments of {} vertices, {} dims, on {}",
        args.count,
        model.vertices,
        model.cloth_dims,
        adapter(gpu)
    );
    for m in all {
        let [median, p95, p99] = [0.5, 0.95, 0.99].map(|s| m.frame.at(s));
        println!(
            "{:<22} {median:.3} ms median, {p95:.3} p95, {p99:.3} p99: {:.0} garments a second; at most {:.3} mm from the processor's, {} of {} vertices beyond {BEYOND_MM} mm",
            m.kernel.name(),
            1e3 * args.count as f64 / median,
            m.worst_mm,
            m.beyond,
            m.compared
        );
        let stages: Vec<String> = m
            .stages
            .iter()
            .filter(|s| s.1.at(0.5) > 0.0)
            .map(|s| {
                format!("{} {:.3} ms ({:.0} %)", s.0.name(), s.1.at(0.5), 100.0 * s.1.at(0.5) / m.device_ms())
            })
            .collect();
        println!("  passes {:.3} ms: {}", m.device_ms(), stages.join(", "));
        println!("  {:.3} ms a frame where none is waited for", m.back_to_back_ms);
        println!(
            "  floors: writing {:.3} ms, multiplying {:.3} ms; sending bones from the processor {:.1} ms more",
            m.floors.write_ms, m.floors.product_ms, m.upload_ms
        );
    }
}
