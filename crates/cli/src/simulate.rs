//! `toile simulate`: from motions to takes.

use crate::ask::{self, BadRequest};
use crate::convert::Rest;
use crate::progress;
use anyhow::{Context, Result};
use clap::Parser;
use glam::Vec3;
use indicatif::ProgressBar;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use toile_assets::{Body, Fabric, Garment, Motion, Take};
use toile_simulate::{RecordSettings, World, drape, ramp, record_from, record_stop};

/// Simulate a garment on a body through motions, one take file a clip
#[derive(Parser)]
#[command(after_help = "Finished takes are kept and skipped when run again.\n\nExamples:\n  \
    toile simulate --garment dress --motion walk --motion turn:90 --out out/takes\n  \
    toile simulate --body hero.glb --garment cape.obj --motion mocap/ --fabric silk --stops 5 --out out/takes")]
pub struct Args {
    /// A character file (`hero.glb#Node` for a part of one) or a built-in body
    #[arg(long, default_value = "mannequin:female")]
    body: String,
    /// A garment file or a built-in garment
    #[arg(long, default_value = "dress")]
    garment: String,
    /// Motion files, folders of BVH files, or built-in motions
    #[arg(long, required = true, num_args = 1..)]
    motion: Vec<String>,
    /// A fabric file or a built-in fabric; the garment's own when not given
    #[arg(long)]
    fabric: Option<String>,
    /// Where the flat rest shape comes from
    #[arg(long, value_enum, default_value = "auto")]
    rest: Rest,
    /// Freeze each motion at so many places and record the settling, too
    #[arg(long, default_value_t = 0)]
    stops: usize,
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
    let body = ask::body(&args.body, None)?;
    let garment = ask::garment(&args.garment, &body, args.rest.into(), None)?;
    let fabric = ask::fabric(args.fabric.as_deref().unwrap_or(&garment.fabric))?;
    let motions = ask::motions(&args.motion, &body)?;
    let job = Job {
        body: &body,
        garment: &garment,
        fabric: &fabric,
        settings: RecordSettings::default(),
        stops: args.stops,
        out: &args.out,
        jobs: args.jobs.unwrap_or_else(cores),
    };
    let outcome = job.simulate(&motions)?;
    if args.json {
        let rows: Vec<_> = outcome.takes.iter().map(|(path, t)| summary(path, t)).collect();
        println!("{}", json!({"takes": rows, "failed": outcome.failed.len()}));
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

/// Set by Ctrl-C: clips in flight end, finished takes stay.
static STOP: AtomicBool = AtomicBool::new(false);

/// Lets Ctrl-C end work between frames instead of in the middle of a file.
pub fn stop_on_ctrl_c() {
    // A second handler is refused; the first one is as good.
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
        eprintln!("\nstopping after this frame; finished takes are kept (Ctrl-C again to quit at once)");
    });
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

impl Job<'_> {
    /// Simulates every motion that has no finished take yet. Clips run side by side; each is computed by one
    /// thread, so the result does not depend on how many there are.
    pub fn simulate(&self, motions: &[Motion]) -> Result<Outcome> {
        std::fs::create_dir_all(self.out).map_err(|e| toile_assets::Error::io(self.out, e))?;
        self.check_names(motions)?;
        stop_on_ctrl_c();
        let frames: usize =
            motions.iter().map(|m| (m.duration_secs() * self.settings.fps) as usize + 1).sum();
        let bar = progress::bar(frames as u64, "simulating");
        let draped: Mutex<Option<World>> = Mutex::new(None);
        let next = AtomicUsize::new(0);
        let results: Mutex<Vec<(usize, Result<Vec<(PathBuf, Take)>>)>> = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.clamp(1, motions.len().max(1)) {
                scope.spawn(|| {
                    loop {
                        let i = next.fetch_add(1, Ordering::SeqCst);
                        let Some(motion) = motions.get(i) else { break };
                        let done = self.clip(motion, &draped, &bar);
                        results.lock().expect("no thread panics while it holds this").push((i, done));
                    }
                });
            }
        });
        bar.finish_and_clear();
        let mut results = results.into_inner().expect("all threads ended");
        results.sort_by_key(|(i, _)| *i);
        let mut outcome = Outcome { takes: Vec::new(), failed: Vec::new() };
        for (i, result) in results {
            match result {
                Ok(takes) => outcome.takes.extend(takes),
                Err(e) => outcome.failed.push((motions[i].name.clone(), format!("{e:#}"))),
            }
        }
        if STOP.load(Ordering::SeqCst) {
            anyhow::bail!("stopped; run the same command again to go on");
        }
        Ok(outcome)
    }

    /// Two clips of one name would overwrite each other.
    fn check_names(&self, motions: &[Motion]) -> Result<()> {
        let mut names: Vec<&str> = motions.iter().map(|m| m.name.as_str()).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|w| w[0] == w[1]) {
            return Err(BadRequest(format!("two motions are named `{}`; give one of them", pair[0])).into());
        }
        Ok(())
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

    /// A finished take of the same garment, body, fabric and solver; anything else is simulated anew.
    fn finished(&self, path: &Path) -> Option<Take> {
        let take = Take::read(path).ok()?;
        let wanted = [
            ("body", self.body.name.clone()),
            ("garment", self.garment.name.clone()),
            ("fabric", self.fabric.name.clone()),
            ("solver", format!("{:?}", self.settings.solver)),
        ];
        let same = wanted.iter().all(|(k, v)| take.notes.iter().any(|(key, value)| key == k && value == v));
        (same && take.vertices == self.garment.sim.positions.len()).then_some(take)
    }

    fn clip(
        &self,
        motion: &Motion,
        draped: &Mutex<Option<World>>,
        bar: &ProgressBar,
    ) -> Result<Vec<(PathBuf, Take)>> {
        let frames = (motion.duration_secs() * self.settings.fps) as usize + 1;
        let stops: Vec<usize> = (1..=self.stops).map(|k| k * frames / (self.stops + 1)).collect();
        let mut files: Vec<(PathBuf, Option<usize>)> = vec![(self.path(motion, None), None)];
        files.extend(stops.iter().enumerate().map(|(k, f)| (self.path(motion, Some(k + 1)), Some(*f))));
        let finished: Option<Vec<(PathBuf, Take)>> =
            files.iter().map(|(p, _)| Some((p.clone(), self.finished(p)?))).collect();
        if let Some(finished) = finished {
            bar.inc(frames as u64);
            return Ok(finished);
        }
        let mut world = self.dressed(draped)?;
        let rest: Vec<Vec3> = world.state.x.iter().map(|p| p.as_vec3()).collect();
        ramp(&mut world, self.body, motion, &self.settings.drape)?;
        let mut go = |_: usize, _: usize| {
            bar.inc(1);
            !STOP.load(Ordering::SeqCst)
        };
        let (take, branches) =
            record_from(&mut world, self.body, self.garment, motion, &self.settings, &stops, &mut go)
                .with_context(|| format!("clip {}", motion.name))?;
        if STOP.load(Ordering::SeqCst) {
            anyhow::bail!("stopped");
        }
        let mut takes = vec![(files[0].0.clone(), take)];
        for (branch, (path, _)) in branches.iter().zip(&files[1..]) {
            let stop = record_stop(&mut world, self.body, self.garment, motion, branch, &self.settings)?;
            takes.push((path.clone(), stop));
        }
        for (path, take) in &mut takes {
            take.draped = rest.clone();
            take.write(path)?;
        }
        Ok(takes)
    }

    /// The garment at rest on the body; draped once and shared by all clips.
    fn dressed(&self, draped: &Mutex<Option<World>>) -> Result<World> {
        let mut slot = draped.lock().expect("no thread panics while it holds this");
        if slot.is_none() {
            *slot = Some(drape(
                self.body,
                self.garment,
                self.fabric,
                &self.settings.solver,
                &self.settings.drape,
            )?);
        }
        let first = slot.as_ref().expect("draped above");
        let mut world = World::with_body(self.body, self.garment, self.fabric, self.settings.solver)?;
        world.restore(&first.state, first.bones());
        Ok(world)
    }
}
