//! `toile crowd`: many garments at once, and what they cost.

mod adaptive;
mod budget;
mod drawn;
mod film;
mod gpu;
mod kinds;
mod least;
mod levels;
pub mod picture;

use crate::output::Overwrite;
use crate::pacing::Pacing;
use crate::resolve::{self, BadRequest};
use crate::surroundings::Asked;
use anyhow::Result;
use clap::Parser;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use glam::{Affine3A, DVec3, Quat};
use std::hint::black_box;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use toile_assets::{Body, Model, Motion, RootFrame, RootTrack, gusts};
use toile_run::{Actor, Crowd, CrowdSettings, Instance};

/// Run many learned garments at once and measure what they cost
#[derive(Parser)]
#[command(
    after_help = "The floor is one bare matrix product of the reconstruction's shape on one thread, measured \
    in the same run. With --picture the crowd is drawn instead of measured.\n\nExamples:\n  \
    toile crowd --count 1000 --model dress.toile --motion walk --seconds 5\n  \
    toile crowd --count 1000 --threads 2 --budget-us 16600 --model dress.toile --garment dress --film crowd.mp4\n  \
    toile crowd --count 200 --budget-us 16600 --model shirt.toile --garment shirt --drive shirt:20000\n  \
    toile crowd --model skirt.toile --fabric silk,denim --wind 0,0,-3 --wind 3,0,0 --motion walk\n  \
    toile crowd --gpu --count 100000 --model dress.toile --motion walk\n  \
    toile crowd --gpu --count 2000 --model dress.toile --size 1920x1080 --picture crowd.png\n  \
    toile crowd --gpu --kernel f32 --seen 0.5 --mm-per-metre 1 --model dress.toile\n  \
    toile crowd --count 1000 --model dress.toile --motion walk --motion walk:0.9 --picture crowd.png\n  \
    toile crowd --count 4 --threads 2 --model sweater.toile --garment sweater:3000 --motion gym"
)]
pub struct Args {
    /// The model, or a database of the tier adaptive; several models with --budget-us
    #[arg(long, required = true)]
    model: Vec<PathBuf>,
    /// What all garments may cost in a frame, µs: tiers and dims are chosen to keep it while a viewer walks in
    #[arg(long, value_name = "µs", allow_negative_numbers = true, conflicts_with_all = ["picture", "gpu"])]
    budget_us: Option<f64>,
    /// The garment of a database; with --budget-us the garment of each model, in order, which adds the tiers layered and full
    #[arg(long)]
    garment: Vec<String>,
    /// With --garment: a dense mesh that each garment carries where it is near, in order, as `shirt:20000`
    #[arg(long, requires = "garment", value_name = "MESH")]
    drive: Vec<String>,
    /// Garments nearer to the viewer than this carry their dense mesh, m
    #[arg(long, default_value_t = 6.0, requires = "drive")]
    drive_within: f32,
    /// With --budget-us: a film of the crowd, coloured by tier (.mp4, .webm, .gif or .apng)
    #[arg(long, requires = "budget_us")]
    film: Option<PathBuf>,
    /// How many garments
    #[arg(long, default_value_t = 1000)]
    count: usize,
    /// The body that wears them
    #[arg(long, default_value = "mannequin:female")]
    body: String,
    /// Motions they go through, each garment from another moment on
    #[arg(long, default_value = "walk")]
    motion: Vec<String>,
    /// Fabrics of the garments, with commas: they take turns (models that hear fabrics)
    #[arg(long, value_delimiter = ',')]
    fabric: Vec<String>,
    #[command(flatten)]
    around: Asked,
    /// How long to measure
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Threads to work on
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Frames per second of the game; the model's own rate unless told
    #[arg(long)]
    rate: Option<f64>,
    /// Count vertex normals into the frame
    #[arg(long)]
    normals: bool,
    /// Let vertices be off by so many millimetres for each metre from a viewer at the crowd's corner
    #[arg(long, default_value_t = 0.0)]
    mm_per_metre: f32,
    /// On the graphics card: bones, state and vertices stay there
    #[arg(long, conflicts_with_all = ["threads", "film"])]
    gpu: bool,
    /// With --gpu, the share of the crowd that is seen, row by row: the others are stepped but not drawn
    #[arg(long, default_value_t = 1.0, requires = "gpu")]
    seen: f64,
    /// How the graphics card makes vertices: `fastest`, `f32`, `all` or the name of one
    #[arg(long, default_value = "fastest", requires = "gpu")]
    kernel: String,
    /// Draw the crowd into this PNG file instead; with --gpu straight from the card's buffers, every frame of --seconds
    #[arg(long)]
    picture: Option<PathBuf>,
    /// With --gpu and --picture, how many pixels far bodies and clothes may be off to have fewer triangles; 0 for all of them
    #[arg(long, default_value_t = 0.5, requires = "gpu", requires = "picture", value_name = "PIXELS")]
    detail: f32,
    /// Width and height of the picture or film
    #[arg(long, default_value = "1600x900", value_parser = crate::render::size)]
    size: (u32, u32),
    #[command(flatten)]
    overwrite: Overwrite,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<()> {
    if let Some(file) = args.model.iter().find(|path| crate::adaptive::is_database(path)) {
        return run_adaptive(args, file);
    }
    if !args.garment.is_empty() && args.budget_us.is_none() {
        return Err(BadRequest(
            "--garment goes with --budget-us, or with a database of the tier adaptive".into(),
        )
        .into());
    }
    let models =
        args.model.iter().map(|path| Ok(Arc::new(Model::read(path)?))).collect::<Result<Vec<_>>>()?;
    let model = models[0].clone();
    let usual = if args.budget_us.is_some() { 60.0 } else { model.fps };
    let rate = args.rate.unwrap_or(usual);
    let mut faults = Vec::new();
    if models.len() > 1 && args.budget_us.is_none() {
        faults.push("several models run together with --budget-us".into());
    }
    if let Some(us) = args.budget_us.filter(|us| !(*us > 0.0 && us.is_finite())) {
        faults.push(format!("--budget-us {us}: wants microseconds above 0, as 16600"));
    }
    budget::check(args)?;
    if !(1..=1_000_000).contains(&args.count) {
        faults.push(format!("--count {}: wants 1 to 1,000,000 garments", args.count));
    }
    if !(1..=256).contains(&args.threads) {
        faults.push(format!("--threads {}: wants 1 to 256", args.threads));
    }
    if !((1.0..=1000.0).contains(&rate) && args.seconds > 0.0 && args.seconds <= 3600.0) {
        faults.push(format!("{} s at {rate} frames per second cannot be measured", args.seconds));
    }
    if !(args.drive_within > 0.0 && args.drive_within.is_finite()) {
        faults.push(format!("--drive-within {}: wants metres above 0", args.drive_within));
    }
    if !(args.mm_per_metre >= 0.0 && args.mm_per_metre.is_finite()) {
        faults.push(format!("--mm-per-metre {}: wants millimetres, 0 or more", args.mm_per_metre));
    }
    if let Some(us) = args.budget_us.filter(|us| *us > 1e9) {
        faults.push(format!("--budget-us {us}: wants 1,000 seconds at the most"));
    }
    if !(0.0..=100.0).contains(&args.detail) {
        faults.push(format!("--detail {}: wants pixels, 0 to 100", args.detail));
    }
    if !(0.0..=1.0).contains(&args.seen) {
        faults.push(format!("{} of a crowd cannot be seen: 0 to 1", args.seen));
    }
    if let Some(path) = &args.picture {
        picture::check(path, args)?;
        if args.count > picture::MOST {
            faults.push(format!(
                "{} are more than one picture shows; {} are the most",
                args.count,
                picture::MOST
            ));
        }
    }
    let deaf = args.gpu.then_some("--gpu").or(args.picture.as_ref().map(|_| "--picture"));
    if let Some(deaf) = deaf.filter(|_| !args.around.is_nothing() || !args.fabric.is_empty()) {
        faults.push(format!(
            "--fabric, --wind, --gust and --gravity are not told to a crowd with {deaf}: leave one or the other away"
        ));
    }
    if !faults.is_empty() {
        return Err(BadRequest(faults.join("\n")).into());
    }
    let body = resolve::body(&args.body, None)?;
    for path in &args.model {
        crate::tiers::model_for(path, &body, None)?;
    }
    let motions = resolve::motions(&args.motion, &body, &Pacing::AS_IS)?;
    let clips: Vec<Clip> = motions.iter().map(|m| Clip::new(&body, &m.resampled(rate))).collect();
    if let Some(us) = args.budget_us {
        if !args.around.is_nothing() || !args.fabric.is_empty() {
            let what = "--fabric, --wind, --gust and --gravity are for crowds without --budget-us: its layered and \
                        simulated garments would not hear them";
            return Err(BadRequest(what.into()).into());
        }
        return budget::run(args, us, &models, &body, &clips, rate);
    }
    if let Some(path) = args.picture.as_ref().filter(|_| args.gpu) {
        return drawn::run(path, args, &model, &body, &clips, rate);
    }
    if let Some(path) = &args.picture {
        return picture::write(path, args, &model, &body, &clips);
    }
    if args.gpu {
        return gpu::run(args, &model, &clips, rate);
    }
    let measured = measure(args, &model, &clips, rate)?;
    print(args, &model, rate, &measured);
    Ok(())
}

/// Garments that are simulated in a subspace.
fn run_adaptive(args: &Args, file: &std::path::Path) -> Result<()> {
    adaptive::check(args)?;
    let rate = args.rate.unwrap_or(30.0);
    let countable = (1..=10_000).contains(&args.count) && (1..=256).contains(&args.threads);
    let lasts = args.seconds > 0.0 && args.seconds <= 3600.0;
    if !(countable && (1.0..=1000.0).contains(&rate) && lasts) {
        return Err(BadRequest(format!(
            "{} garments on {} threads for {} s at {rate} frames per second cannot be",
            args.count, args.threads, args.seconds
        ))
        .into());
    }
    let body = resolve::body(&args.body, None)?;
    let motions = resolve::motions(&args.motion, &body, &Pacing::AS_IS)?;
    let clips: Vec<Clip> = motions.iter().map(|m| Clip::new(&body, &m.resampled(rate))).collect();
    adaptive::run(args, file, &body, &clips, rate)
}

/// A motion as a crowd is fed it.
pub struct Clip {
    pub bones: Vec<Vec<Affine3A>>,
    pub roots: Vec<RootFrame>,
}

impl Clip {
    pub fn new(body: &Body, motion: &Motion) -> Self {
        let bones = motion.poses.iter().map(|p| body.bones(p)).collect();
        Self { bones, roots: RootTrack::new(&motion.skeleton, &motion.poses).frames }
    }
}

/// Milliseconds a frame, sorted.
#[derive(Default)]
struct Times(Vec<f64>);

impl Times {
    fn at(&self, share: f64) -> f64 {
        self.0.get(((self.0.len().max(1) - 1) as f64 * share).round() as usize).copied().unwrap_or(0.0)
    }
}

#[derive(Default)]
struct Measured {
    adapter: String,
    threads: usize,
    frame: Times,
    pose: Times,
    latent: Times,
    reconstruct: Times,
    with_normals: Times,
    floor: Times,
    clamped_per_frame: f64,
    worst_bound_mm: f32,
}

/// A crowd on a square, two metres apart, and the clips it goes through.
struct Scene<'a> {
    crowd: Crowd,
    instances: Vec<Instance>,
    clips: &'a [Clip],
    side: usize,
}

impl<'a> Scene<'a> {
    fn new(args: &Args, model: &Arc<Model>, clips: &'a [Clip], normals: bool) -> Result<Self> {
        let settings = CrowdSettings::default().with(|s| {
            s.threads = args.threads;
            s.normals = normals;
        });
        let mut crowd = Crowd::new(settings);
        let id = crowd.add_model(model.clone(), args.count)?;
        let instances: Vec<Instance> = (0..args.count).map(|_| crowd.add(id)).collect::<Result<_, _>>()?;
        if args.mm_per_metre != 0.0 {
            crowd.set_viewer(Some((DVec3::new(0.0, 1.6, 0.0), args.mm_per_metre)))?;
        }
        let told = args.around.told(model, &args.fabric)?;
        for (i, instance) in instances.iter().enumerate() {
            let strength = 1.0 + args.around.gust as f32 * gusts(0.1 * i as f64) as f32;
            let mut own = told[i % told.len()];
            own.wind *= strength;
            crowd.set_surroundings(*instance, &own)?;
        }
        let side = (args.count as f64).sqrt().ceil() as usize;
        Ok(Self { crowd, instances, clips, side })
    }

    /// Everyone's pose in a frame; who comes to the end of a clip begins it again where it began.
    fn pose(&mut self, frame: usize) -> Result<()> {
        for (who, &instance) in self.instances.iter().enumerate() {
            let clip = &self.clips[who % self.clips.len()];
            let f = (frame + 7 * who) % clip.bones.len();
            if f == 0 {
                self.crowd.teleport(instance)?;
            }
            let at = DVec3::new((who % self.side) as f64 * 2.0, 0.0, (who / self.side) as f64 * 2.0);
            let actor = Actor { position: at, rotation: Quat::IDENTITY };
            let root = clip.roots[f];
            let root = RootFrame { position: root.position + at, ..root };
            self.crowd.set_pose_with_root(instance, &actor, &clip.bones[f], &root)?;
        }
        Ok(())
    }
}

#[allow(clippy::disallowed_methods)] // what it costs is what the command reports
fn measure(args: &Args, model: &Arc<Model>, clips: &[Clip], rate: f64) -> Result<Measured> {
    let mut plain = Scene::new(args, model, clips, false)?;
    let mut normals = Scene::new(args, model, clips, true)?;
    let (rows, d) = (3 * model.vertices, model.cloth_dims);
    let basis = Mat::<f32>::from_fn(rows, d, |r, k| model.cloth_basis[r * d + k]);
    let y = Mat::<f32>::from_fn(d, args.count, |r, c| ((r + c) % 7) as f32 - 3.0);
    let mut product = Mat::<f32>::zeros(rows, args.count);
    let mut out = Measured {
        adapter: format!("cpu {}", plain.crowd.settings().isa.name()),
        threads: plain.crowd.settings().threads,
        ..Measured::default()
    };
    let bar = crate::progress::bar((1000.0 * args.seconds) as u64, "measuring");
    let begin = Instant::now();
    let mut frame = 0;
    let mut clamped = 0u64;
    while begin.elapsed().as_secs_f64() < args.seconds || frame < 10 {
        let timed = |times: &mut Times, work: &mut dyn FnMut() -> Result<()>| -> Result<f64> {
            let start = Instant::now();
            work()?;
            let ms = start.elapsed().as_secs_f64() * 1e3;
            // The first frames warm up.
            if frame >= 4 {
                times.0.push(ms);
            }
            Ok(ms)
        };
        let mut ms = timed(&mut out.pose, &mut || plain.pose(frame))?;
        ms += timed(&mut out.latent, &mut || {
            clamped += u64::from(plain.crowd.step(1.0 / rate)?.clamped);
            Ok(())
        })?;
        let reconstruct = timed(&mut out.reconstruct, &mut || {
            plain.crowd.draw();
            Ok(())
        })?;
        normals.pose(frame)?;
        normals.crowd.step(1.0 / rate)?;
        let with_normals = timed(&mut out.with_normals, &mut || {
            normals.crowd.draw();
            Ok(())
        })?;
        timed(&mut out.floor, &mut || {
            matmul(product.as_mut(), Accum::Replace, basis.as_ref(), y.as_ref(), 1.0f32, Par::Seq);
            black_box(&product);
            Ok(())
        })?;
        ms += if args.normals { with_normals } else { reconstruct };
        if frame >= 4 {
            out.frame.0.push(ms);
        }
        frame += 1;
        bar.set_position((1000.0 * begin.elapsed().as_secs_f64()) as u64);
    }
    bar.finish_and_clear();
    for &i in &plain.instances {
        out.worst_bound_mm = out.worst_bound_mm.max(plain.crowd.error_bound_mm(i)?);
    }
    out.clamped_per_frame = clamped as f64 / (frame * args.count) as f64;
    for t in [
        &mut out.frame,
        &mut out.pose,
        &mut out.latent,
        &mut out.reconstruct,
        &mut out.with_normals,
        &mut out.floor,
    ] {
        t.0.sort_by(f64::total_cmp);
    }
    Ok(out)
}

fn print(args: &Args, model: &Model, rate: f64, m: &Measured) {
    let [median, p95, p99] = [0.5, 0.95, 0.99].map(|s| m.frame.at(s));
    let per_second = 1e3 * args.count as f64 / median;
    // Of what one core can do with a bare product of this shape.
    let floor_ratio = m.floor.at(0.5) / m.reconstruct.at(0.5);
    let normals_ms = (m.with_normals.at(0.5) - m.reconstruct.at(0.5)).max(0.0);
    if args.json {
        let value = serde_json::json!({
            "count": args.count, "threads": m.threads, "adapter": m.adapter,
            "garment_frames_per_s": per_second, "median_ms": median, "p95_ms": p95, "p99_ms": p99,
            "floor_ratio": floor_ratio,
            "stages": {
                "pose_ms": m.pose.at(0.5), "latent_ms": m.latent.at(0.5),
                "reconstruct_ms": m.reconstruct.at(0.5), "normals_ms": normals_ms,
            },
            "vertices": model.vertices, "dims": model.cloth_dims, "rate": rate,
            "clamped_per_frame": m.clamped_per_frame, "error_bound_mm": m.worst_bound_mm,
        });
        println!("{value}");
        return;
    }
    println!(
        "{} garments of {} vertices, {} dims, on {} thread{} ({})",
        args.count,
        model.vertices,
        model.cloth_dims,
        m.threads,
        if m.threads == 1 { "" } else { "s" },
        m.adapter
    );
    println!(
        "frame        {median:.3} ms median, {p95:.3} p95, {p99:.3} p99: {:.1} % of a frame at {rate} Hz",
        median * rate / 10.0
    );
    println!("             {per_second:.0} garments a second, bones to world-space vertices");
    println!(
        "stages       poses {:.3} ms, latent {:.3} ms, reconstruction {:.3} ms ({:.0} % of a bare product on one core), normals {:.3} ms more",
        m.pose.at(0.5),
        m.latent.at(0.5),
        m.reconstruct.at(0.5),
        100.0 * floor_ratio,
        normals_ms
    );
    if args.mm_per_metre > 0.0 {
        println!("left out     no vertex is off by more than {:.2} mm", m.worst_bound_mm);
    }
}
