//! `toile simulate`: from motions to takes.

mod clips;
mod job;
mod physics;
mod shard;

pub use job::{Job, Outcome};
pub use shard::Shard;

use crate::convert::Rest;
use crate::output::Overwrite;
use crate::pacing::{self, Pacing};
use crate::resolve::{self, BadRequest};
use anyhow::Result;
use clap::Parser;
use clips::Clips;
use physics::Physics;
pub use physics::Vector;
use serde_json::json;
use std::path::{Path, PathBuf};
use toile_assets::{Body, Fabric, Garment, Take};
use toile_simulate::Outfit;

/// Simulate a garment on a body through motions, one take file a clip
#[derive(Parser)]
#[command(
    after_help = "Finished takes are kept and skipped when run again, also after a crash or a full disk; a take \
    whose body, garment, fabric, motion or settings changed is made anew.\n\nEvery take carries a verdict: cloth \
    stretched by more than 15 %, deeper than 5 mm in the body or through itself makes it untrue, and `toile train` \
    leaves it out.\n\nA clip that cannot be used is named and left out; the others are simulated and the exit code \
    is 1.\n\nExamples:\n  \
    toile simulate --garment dress --motion walk --motion turn:90 --out out/takes\n  \
    toile simulate --body hero.glb --garment cape.obj --motion mocap/ --fabric silk --stops 5 --out out/takes\n  \
    toile simulate --garment cape --motion run:2.5 --wind 0,0,-3 --rate 240 --out out/takes\n  \
    toile simulate --garment pants --garment shirt --fabric denim --fabric cotton --motion walk --out out/takes\n  \
    toile simulate --garment skirt --motion training --fabric silk,cotton,denim --wind 0,0,0 --wind 0,0,-3 \
    --gust 0.5 --out out/takes\n  \
    toile simulate --garment dress --motion mocap/ --shard 2/8 --out shared/takes\n  \
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
    /// A garment file or a built-in garment; several are worn together, the innermost named first, and the takes of each
    /// go into a folder of its name
    #[arg(long, default_value = "dress")]
    garment: Vec<String>,
    /// Motion files, folders of BVH files, or built-in motions
    #[arg(long, required = true, num_args = 1..)]
    motion: Vec<String>,
    /// Frames per second of the motion file, where it states a wrong rate
    #[arg(long, value_parser = pacing::rate)]
    fps: Option<f64>,
    /// Only these seconds of every motion: FROM:TO, FROM: or :TO
    #[arg(long, value_parser = pacing::span)]
    trim: Option<(f64, f64)>,
    /// A fabric file or a built-in fabric; the garment's own when not given. Of one garment several, with commas: every clip
    /// in each, for `toile train --surroundings`; of several garments one for all or one for each
    #[arg(long, value_delimiter = ',')]
    fabric: Vec<String>,
    /// Hold the garment by these sets of its vertices only: `--pin waist`, or `--pin none`; by all but collars and
    /// armholes, which it hangs by, unless told
    #[arg(long)]
    pin: Vec<String>,
    /// Where the flat rest shape comes from
    #[arg(long, value_enum, default_value = "auto")]
    rest: Rest,
    /// Cut clips in two where they jump (`walk.part1`, `walk.part2`) instead of leaving them out
    #[arg(long)]
    cut: bool,
    /// Freeze each motion at so many places and record the settling, too
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=100))]
    stops: u16,
    #[command(flatten)]
    physics: Physics,
    /// Push every vertex aside by so many millimetres at the first frame: a twin of the take, for
    /// `toile evaluate --twins`
    #[arg(long, default_value_t = 0.0, value_name = "MM")]
    nudge: f64,
    /// Only the i-th of n shares of the clips, by the order of their names: many machines fill one folder
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Clips simulated at once; as many as there are cores when not given
    #[arg(long)]
    jobs: Option<usize>,
    /// Folder for the takes
    #[arg(long)]
    out: PathBuf,
    #[command(flatten)]
    overwrite: Overwrite,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<()> {
    let body = resolve::turned_body(&args.body, args.turn)?;
    let mut pieces = pieces(args, &body)?;
    let outfit = if pieces.len() > 1 { Some(Outfit::new(&body, pieces.clone())?) } else { None };
    let (garment, fabric) = pieces.swap_remove(0);
    let garment = outfit.as_ref().map_or(&garment, Outfit::joined);
    let fabrics = match outfit {
        None if args.fabric.len() > 1 => {
            args.fabric.iter().map(|name| resolve::fabric(name)).collect::<Result<Vec<_>>>()?
        }
        _ => vec![fabric],
    };
    check_fabrics(&fabrics)?;
    if !(0.0..=10.0).contains(&args.nudge) {
        return Err(BadRequest(format!("--nudge {}: 0 to 10 mm", args.nudge)).into());
    }
    let mut variants = args.physics.settings()?;
    variants.iter_mut().for_each(|(_, s)| s.nudge_m = 1e-3 * args.nudge);
    let settings = variants[0].1.clone();
    let pacing = Pacing::new(args.fps, args.trim);
    let clips = Clips::gather(&args.motion, &pacing, &body, &settings, args.cut, args.shard)?;
    for (clip, why) in &clips.skipped {
        eprintln!("{clip}: left out: {why}");
    }
    let mut outcome = Outcome::default();
    for fabric in &fabrics {
        for (wind, settings) in &variants {
            let cloth = if fabrics.len() > 1 {
                format!("+{}", crate::fabric::file_name(&fabric.name))
            } else {
                String::new()
            };
            let job = Job {
                body: &body,
                garment,
                fabric,
                outfit: outfit.as_ref(),
                settings: settings.clone(),
                stops: usize::from(args.stops),
                out: &args.out,
                jobs: args.jobs.unwrap_or_else(cores),
                shard: args.shard,
                overwrite: args.overwrite,
                label: format!("{cloth}{wind}"),
            };
            outcome.add(job.simulate(&clips.usable)?);
        }
    }
    let failed: Vec<&(String, String)> = clips.skipped.iter().chain(&outcome.failed).collect();
    let untrue = outcome.takes.iter().filter(|(_, t)| t.verdict.is_some_and(|v| !v.is_true())).count();
    if args.json {
        let rows: Vec<_> = outcome.takes.iter().map(|(path, t)| summary(path, t)).collect();
        let why: Vec<_> = failed.iter().map(|(clip, why)| json!({"clip": clip, "why": why})).collect();
        println!("{}", json!({"takes": rows, "untrue": untrue, "failed": failed.len(), "failures": why}));
    } else {
        outcome.takes.iter().for_each(|(path, take)| print!("{}", line(path, take)));
    }
    for (clip, why) in &outcome.failed {
        eprintln!("{clip}: {why}");
    }
    if untrue > 0 {
        eprintln!("{untrue} of {} takes are not true; `toile train` leaves them out", outcome.takes.len());
    }
    if !failed.is_empty() {
        anyhow::bail!("{} of {} clips failed", failed.len(), clips.usable.len() + clips.skipped.len());
    }
    Ok(())
}

/// The garments that were named, innermost first, and what they are made of.
fn pieces(args: &Args, body: &Body) -> Result<Vec<(Garment, Fabric)>> {
    let (garments, fabrics) = (args.garment.len(), args.fabric.len());
    if garments > 1 && fabrics > 1 && fabrics != garments {
        let what =
            format!("{fabrics} fabrics for {garments} garments; name one for all of them or one for each");
        return Err(BadRequest(what).into());
    }
    let mut pieces = Vec::new();
    for (k, name) in args.garment.iter().enumerate() {
        let mut garment = resolve::worn(name, body, args.rest.into())?;
        let pins = own_pins(&garment, &args.pin, garments > 1);
        resolve::held_by(&mut garment, &pins)?;
        let fabric = args.fabric.get(if fabrics > 1 { k } else { 0 });
        let fabric = resolve::fabric(fabric.unwrap_or(&garment.fabric))?;
        pieces.push((garment, fabric));
    }
    if garments > 1 {
        let known = |name: &String| pieces.iter().any(|(g, _)| has_set(g, name));
        if let Some(name) = args.pin.iter().find(|n| *n != "none" && !known(n)) {
            return Err(BadRequest(format!("no garment of the outfit has a set of vertices `{name}`")).into());
        }
    }
    Ok(pieces)
}

/// Whether a garment has a set of vertices of this name.
fn has_set(garment: &Garment, name: &str) -> bool {
    garment.pins.iter().chain(&garment.openings).any(|p| p.name == name)
}

/// Of the sets that are to hold an outfit, those that a garment has.
fn own_pins(garment: &Garment, pins: &[String], of_many: bool) -> Vec<String> {
    if !of_many || pins.is_empty() {
        return pins.to_vec();
    }
    let own: Vec<String> = pins.iter().filter(|n| has_set(garment, n)).cloned().collect();
    if own.is_empty() { vec!["none".into()] } else { own }
}

/// Of a fabric, in bytes: clip, fabric and wind together name a take's file.
const LONGEST_NAME: usize = 80;

/// Two fabrics of one name would overwrite each other's takes.
fn check_fabrics(fabrics: &[Fabric]) -> Result<()> {
    if let Some(fabric) = fabrics.iter().find(|f| f.name.is_empty() || f.name.len() > LONGEST_NAME) {
        let what = format!(
            "a fabric is named `{}`: 1 to {LONGEST_NAME} characters, as part of a file's name",
            fabric.name
        );
        return Err(BadRequest(what).into());
    }
    let mut names: Vec<String> = fabrics.iter().map(|f| crate::fabric::file_name(&f.name)).collect();
    names.sort_unstable();
    match names.windows(2).find(|w| w[0] == w[1]) {
        Some(pair) => {
            Err(BadRequest(format!("two fabrics are named `{}`; rename one of them", pair[0])).into())
        }
        None => Ok(()),
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Median cost of a frame, ms.
fn median_ms(take: &Take) -> f32 {
    let mut ms: Vec<f32> = take.reports.iter().skip(1).map(|r| r.ms).collect();
    ms.sort_by(f32::total_cmp);
    ms.get(ms.len() / 2).copied().unwrap_or(0.0)
}

fn summary(path: &Path, take: &Take) -> serde_json::Value {
    let verdict = take.verdict.unwrap_or_default();
    json!({
        "clip": take.clip, "file": path, "frames": take.len(), "stop_frame": take.stop_frame,
        "ms_per_frame_median": median_ms(take),
        "max_stretch_percent": 100.0 * verdict.strain.value,
        "p99_stretch_percent": 100.0 * verdict.strain_p99.value,
        "deepest_mm": verdict.depth_mm.value,
        "crossings": verdict.crossings.value as u32,
        "held_back_frames": verdict.held_back_frames,
        "retries": take.reports.iter().map(|r| r.retries).sum::<u32>(),
        "true": verdict.is_true(), "faults": verdict.faults(),
    })
}

/// The same for people; what is wrong comes below.
fn line(path: &Path, take: &Take) -> String {
    let verdict = take.verdict.unwrap_or_default();
    let mut line = format!(
        "{:40} {:4} frames  {:6.1} ms a frame  stretch {:4.1} % (p99 {:4.1})  deepest {:.2} mm  {} crossings  \
         held back in {}  {} retries  {}\n",
        path.display().to_string(),
        take.len(),
        median_ms(take),
        100.0 * verdict.strain.value,
        100.0 * verdict.strain_p99.value,
        verdict.depth_mm.value,
        verdict.crossings.value,
        verdict.held_back_frames,
        take.reports.iter().map(|r| r.retries).sum::<u32>(),
        if verdict.is_true() { "true" } else { "UNTRUE" }
    );
    for fault in verdict.faults() {
        line.push_str(&format!("    {fault}\n"));
    }
    line
}
