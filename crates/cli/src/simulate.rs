//! `toile simulate`: from motions to takes.

use crate::ask::{self, BadRequest};
use crate::convert::Rest;
use crate::interrupt;
use crate::pacing::{self, Pacing};
use crate::progress;
use crate::resume::{self, Digest, Timings};
use anyhow::{Context, Result};
use clap::Parser;
use glam::Vec3;
use indicatif::ProgressBar;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use toile_assets::{Body, Fabric, Garment, Motion, Take};
use toile_simulate::{
    RecordSettings, World, check_clip, check_fit, cut_at_jumps, drape, find_jumps, ramp, record_from,
    record_stop,
};

/// Simulate a garment on a body through motions, one take file a clip
#[derive(Parser)]
#[command(
    after_help = "Finished takes are kept and skipped when run again, also after a crash or a full disk; a take \
    whose body, garment, fabric, motion or settings changed is made anew.\n\nExamples:\n  \
    toile simulate --garment dress --motion walk --motion turn:90 --out out/takes\n  \
    toile simulate --body hero.glb --garment cape.obj --motion mocap/ --fabric silk --stops 5 --out out/takes\n  \
    toile simulate --garment skirt --motion long.bvh --cut --jobs 2 --json --out out/takes"
)]
pub struct Args {
    /// A character file (`hero.glb#Node` for a part of one) or a built-in body
    #[arg(long, default_value = "mannequin:female")]
    body: String,
    /// Degrees by which the character is turned about the vertical first, counter-clockwise seen from above: 180
    /// where it faces the other way and neither toes nor names tell
    #[arg(long, default_value_t = 0.0, value_name = "DEGREES", allow_negative_numbers = true)]
    turn: f32,
    /// A garment file or a built-in garment
    #[arg(long, default_value = "dress")]
    garment: String,
    /// Motion files, folders of BVH files, or built-in motions
    #[arg(long, required = true, num_args = 1..)]
    motion: Vec<String>,
    /// Frames per second of the motion file, where it states a wrong rate
    #[arg(long, value_parser = pacing::rate)]
    fps: Option<f64>,
    /// Only these seconds of every motion: FROM:TO, FROM: or :TO
    #[arg(long, value_parser = pacing::span)]
    trim: Option<(f64, f64)>,
    /// A fabric file or a built-in fabric; the garment's own when not given
    #[arg(long)]
    fabric: Option<String>,
    /// Where the flat rest shape comes from
    #[arg(long, value_enum, default_value = "auto")]
    rest: Rest,
    /// Cut clips in two where they jump (`walk.part1`, `walk.part2`) instead of refusing them
    #[arg(long)]
    cut: bool,
    /// Freeze each motion at so many places and record the settling, too
    #[arg(long, default_value_t = 0)]
    stops: usize,
    /// Push every vertex of the draped garment aside by so many millimetres first: a twin of the take, for
    /// `toile evaluate --twins`
    #[arg(long, default_value_t = 0.0, value_name = "MM")]
    nudge: f64,
    /// Clips simulated at once; as many as there are cores when not given
    #[arg(long)]
    jobs: Option<usize>,
    /// Folder for the takes
    #[arg(long)]
    out: PathBuf,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<()> {
    let body = ask::turned_body(&args.body, args.turn)?;
    let garment = ask::worn(&args.garment, &body, args.rest.into())?;
    let fabric = ask::fabric(args.fabric.as_deref().unwrap_or(&garment.fabric))?;
    if !(0.0..=10.0).contains(&args.nudge) {
        return Err(BadRequest(format!("--nudge {}: 0 to 10 mm", args.nudge)).into());
    }
    let settings = RecordSettings { nudge_m: 1e-3 * args.nudge, ..RecordSettings::default() };
    let motions = whole(
        &body,
        ask::motions(&args.motion, &body, &Pacing::new(args.fps, args.trim))?,
        &settings,
        args.cut,
    )?;
    let job = Job {
        body: &body,
        garment: &garment,
        fabric: &fabric,
        settings,
        stops: args.stops,
        out: &args.out,
        jobs: args.jobs.unwrap_or_else(cores),
    };
    let outcome = job.simulate(&motions)?;
    if args.json {
        let rows: Vec<_> = outcome.takes.iter().map(|(path, t)| summary(path, t)).collect();
        let why: Vec<_> =
            outcome.failed.iter().map(|(clip, why)| json!({"clip": clip, "why": why})).collect();
        println!("{}", json!({"takes": rows, "failed": outcome.failed.len(), "failures": why}));
    } else {
        for (path, take) in &outcome.takes {
            let s = summary(path, take);
            println!(
                "{:40} {:4} frames  {:6.1} ms a frame  stretch {:4.1} %  deepest {:.2} mm  {} retries",
                path.display(),
                take.len(),
                s["ms_per_frame_median"].as_f64().unwrap_or(0.0),
                s["max_stretch_percent"].as_f64().unwrap_or(0.0),
                s["deepest_mm"].as_f64().unwrap_or(0.0),
                s["retries"]
            );
        }
    }
    for (clip, why) in &outcome.failed {
        eprintln!("{clip}: {why}");
    }
    if !outcome.failed.is_empty() {
        anyhow::bail!("{} of {} clips failed", outcome.failed.len(), motions.len());
    }
    Ok(())
}

/// Clips without jumps: all that jump are refused together, or cut where they do.
fn whole(body: &Body, motions: Vec<Motion>, settings: &RecordSettings, cut: bool) -> Result<Vec<Motion>> {
    let mut all = Vec::new();
    let mut faults = Vec::new();
    for motion in motions {
        let jumps = find_jumps(body, &motion, settings);
        if cut && !jumps.is_empty() {
            let parts = cut_at_jumps(&motion, &jumps)?;
            let frames: Vec<String> = jumps.iter().map(|j| j.frame.to_string()).collect();
            let names: Vec<&str> = parts.iter().map(|p| p.name.as_str()).collect();
            eprintln!("{}: cut at frame {} into {}", motion.name, frames.join(", "), names.join(", "));
            all.extend(parts);
        } else {
            if let Err(fault) = check_clip(body, &motion, settings) {
                faults.push(fault.to_string());
            }
            all.push(motion);
        }
    }
    if faults.is_empty() {
        return Ok(all);
    }
    Err(BadRequest(format!("{}\n--cut cuts such clips and simulates every part", faults.join("\n"))).into())
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn summary(path: &Path, take: &Take) -> serde_json::Value {
    let mut ms: Vec<f32> = take.reports.iter().skip(1).map(|r| r.ms).collect();
    ms.sort_by(f32::total_cmp);
    json!({
        "clip": take.clip, "file": path, "frames": take.len(), "stop_frame": take.stop_frame,
        "ms_per_frame_median": ms.get(ms.len() / 2).copied().unwrap_or(0.0),
        "max_stretch_percent": take.reports.iter().map(|r| r.max_stretch_percent).fold(0.0, f32::max),
        "deepest_mm": take.reports.iter().map(|r| r.deepest_mm).fold(0.0, f32::max),
        "retries": take.reports.iter().map(|r| r.retries).sum::<u32>(),
    })
}

/// Everything that a batch of clips shares.
pub struct Job<'a> {
    pub body: &'a Body,
    pub garment: &'a Garment,
    pub fabric: &'a Fabric,
    pub settings: RecordSettings,
    pub stops: usize,
    pub out: &'a Path,
    pub jobs: usize,
}

/// What came of a batch.
pub struct Outcome {
    /// Take files in the order of the motions, stops after their clip.
    pub takes: Vec<(PathBuf, Take)>,
    /// Clips that failed and why.
    pub failed: Vec<(String, String)>,
}

/// Files of one clip: the take itself, then its stops with the frames they freeze at.
type Files = Vec<(PathBuf, Option<usize>)>;

/// What the threads of a batch share.
struct Shared<'a> {
    draped: Option<&'a World>,
    /// Digest of everything but the motion.
    inputs: String,
    timings: &'a Timings,
    bar: &'a ProgressBar,
    /// Set when a file could not be written: the next one could not either.
    unwritable: AtomicBool,
}

impl Job<'_> {
    /// Simulates every motion that has no finished take yet. Clips run side by side; each is computed by one
    /// thread, so the result does not depend on how many there are.
    pub fn simulate(&self, motions: &[Motion]) -> Result<Outcome> {
        std::fs::create_dir_all(self.out).map_err(|e| toile_assets::Error::io(self.out, e))?;
        self.check_names(motions)?;
        check_fit(self.body, self.garment)?;
        resume::sweep(self.out);
        let _frames = interrupt::Frames::begin();
        let frames: usize = motions.iter().map(|m| self.frames(m)).sum();
        let bar = progress::bar(frames as u64, "simulating");
        let inputs = Digest::default()
            .with(self.body)
            .with(self.garment)
            .with(self.fabric)
            .with(&self.settings)
            .with(&env!("CARGO_PKG_VERSION"))
            .hex();
        let timings = Timings::open(self.out);
        let open = motions.iter().any(|m| self.kept(m, &inputs, &timings).is_none());
        let draped = if open { Some(self.dressed(&bar)?) } else { None };
        let shared = Shared {
            draped: draped.as_ref(),
            inputs,
            timings: &timings,
            bar: &bar,
            unwritable: AtomicBool::new(false),
        };
        let next = AtomicUsize::new(0);
        let results: Mutex<Vec<(usize, Result<Vec<(PathBuf, Take)>>)>> = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.clamp(1, motions.len().max(1)) {
                scope.spawn(|| {
                    loop {
                        let i = next.fetch_add(1, Ordering::SeqCst);
                        let Some(motion) = motions.get(i) else { break };
                        let done = self.clip(motion, &shared);
                        results.lock().expect("no thread panics while it holds this").push((i, done));
                    }
                });
            }
        });
        bar.finish_and_clear();
        if interrupt::wanted() {
            return Err(interrupt::Stopped.into());
        }
        let mut results = results.into_inner().expect("all threads ended");
        results.sort_by_key(|(i, _)| *i);
        let mut outcome = Outcome { takes: Vec::new(), failed: Vec::new() };
        for (i, result) in results {
            match result {
                Ok(takes) => outcome.takes.extend(takes),
                Err(e) if e.downcast_ref::<Halted>().is_some() => {}
                Err(e) if shared.unwritable.load(Ordering::SeqCst) => {
                    return Err(e.context(WRITE_FAILED));
                }
                Err(e) => outcome.failed.push((motions[i].name.clone(), format!("{e:#}"))),
            }
        }
        Ok(outcome)
    }

    /// Two clips of one name would overwrite each other.
    fn check_names(&self, motions: &[Motion]) -> Result<()> {
        let mut names: Vec<PathBuf> = motions.iter().map(|m| self.path(m, None)).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|w| w[0] == w[1]) {
            let name = pair[0].file_stem().unwrap_or_default().to_string_lossy();
            return Err(BadRequest(format!("two motions are named `{name}`; give one of them")).into());
        }
        Ok(())
    }

    fn frames(&self, motion: &Motion) -> usize {
        (motion.duration_secs() * self.settings.fps + 1e-6).floor() as usize + 1
    }

    fn path(&self, motion: &Motion, stop: Option<usize>) -> PathBuf {
        let plain: String = motion
            .name
            .chars()
            .map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' })
            .collect();
        match stop {
            None => self.out.join(format!("{plain}.take")),
            Some(k) => self.out.join(format!("{plain}.stop{k}.take")),
        }
    }

    fn files(&self, motion: &Motion) -> Files {
        let frames = self.frames(motion);
        let stop = |k| (self.path(motion, Some(k)), Some(k * frames / (self.stops + 1)));
        std::iter::once((self.path(motion, None), None)).chain((1..=self.stops).map(stop)).collect()
    }

    fn digest(&self, motion: &Motion, inputs: &str) -> String {
        Digest::default().with(&inputs).with(motion).hex()
    }

    /// All takes of a clip, where all are finished.
    fn kept(&self, motion: &Motion, inputs: &str, timings: &Timings) -> Option<Vec<(PathBuf, Take)>> {
        let digest = self.digest(motion, inputs);
        let read = |(path, stop): &(PathBuf, Option<usize>)| {
            // With another number of stops, a stop of this name is at another frame.
            let mut take = resume::finished(path, &digest).filter(|t| t.stop_frame == *stop)?;
            timings.restore(path, &mut take);
            Some((path.clone(), take))
        };
        self.files(motion).iter().map(read).collect()
    }

    fn clip(&self, motion: &Motion, shared: &Shared) -> Result<Vec<(PathBuf, Take)>> {
        if let Some(kept) = self.kept(motion, &shared.inputs, shared.timings) {
            shared.bar.inc(self.frames(motion) as u64);
            return Ok(kept);
        }
        let draped = shared.draped.context("a take vanished while the others were made; run again")?;
        let mut world = draped.clone();
        let rest: Vec<Vec3> = world.state.x.iter().map(|p| p.as_vec3()).collect();
        let halted = || interrupt::wanted() || shared.unwritable.load(Ordering::SeqCst);
        if halted() {
            return Err(Halted.into());
        }
        world.nudge(self.settings.nudge_m);
        ramp(&mut world, self.body, motion, &self.settings.drape)
            .with_context(|| format!("clip {}, on the way to its first frame", motion.name))?;
        let mut go = |_: usize, _: usize| {
            shared.bar.inc(1);
            !halted()
        };
        let files = self.files(motion);
        let stops: Vec<usize> = files.iter().filter_map(|(_, stop)| *stop).collect();
        let (take, branches) =
            record_from(&mut world, self.body, self.garment, motion, &self.settings, &stops, &mut go)
                .with_context(|| format!("clip {}", motion.name))?;
        let digest = self.digest(motion, &shared.inputs);
        let write = |path: &Path, take: &mut Take| -> Result<()> {
            take.draped.clone_from(&rest);
            take.notes.push((resume::INPUTS.to_string(), digest.clone()));
            shared.timings.write(path, take).inspect_err(|_| shared.unwritable.store(true, Ordering::SeqCst))
        };
        let mut takes = Vec::new();
        for (path, stop) in files {
            if halted() {
                return Err(Halted.into());
            }
            let mut made = match stop {
                None => take.clone(),
                Some(frame) => {
                    let branch = branches.iter().find(|b| b.frame == frame).context("no such frame")?;
                    // A world of its own, so that nothing depends on which takes were made before.
                    let mut world = draped.clone();
                    record_stop(&mut world, self.body, self.garment, motion, branch, &self.settings)?
                }
            };
            write(&path, &mut made)?;
            takes.push((path, made));
        }
        Ok(takes)
    }

    /// The garment at rest on the body; draped once and shared by all clips.
    fn dressed(&self, bar: &ProgressBar) -> Result<World> {
        bar.set_message("draping");
        let world = drape(self.body, self.garment, self.fabric, &self.settings.solver, &self.settings.drape)
            .with_context(|| format!("draping `{}`", self.garment.name))?;
        bar.set_message("simulating");
        bar.reset_eta();
        Ok(world)
    }
}

const WRITE_FAILED: &str =
    "a take could not be written (finished ones are kept; make room and run the same command again)";

/// A clip that was not finished because the whole run ends.
#[derive(Debug)]
struct Halted;

impl std::fmt::Display for Halted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("stopped")
    }
}

impl std::error::Error for Halted {}
