//! `toile reproduce`: published tables, theirs and ours side by side.

mod adaptive;
mod cast;
mod layered;
mod page;
mod study;
mod variants;

use crate::output::Overwrite;
use crate::pacing::Pacing;
use crate::resolve::{self, BadRequest};
use crate::simulate::{Job, Outcome};
use anyhow::{Context, Result};
use cast::Cast;
use clap::{Parser, ValueEnum};
use std::path::PathBuf;
use std::time::Instant;
use study::Study;
use toile_assets::read::garment::RestChoice;
use toile_assets::{Fabric, Garment, Motion, Take};
use toile_simulate::RecordSettings;

/// Repeat a published experiment and print its tables beside ours
#[derive(Parser)]
#[command(
    after_help = "Finished simulations are kept: run again to go on where it stopped.\n\nExamples:\n  \
    toile reproduce stable-spaces --quick\n  \
    toile reproduce layered --report docs/reproduce\n  \
    toile reproduce adaptive-bases --garment sweater:4000 --out out/adaptive --report docs/reproduce\n  \
    toile reproduce stable-spaces --motions mocap --out out/stable-spaces --report docs/reproduce\n  \
    toile reproduce stable-spaces --motions mocap --body hero.glb --garment dress.obj --out out/hero"
)]
pub struct Args {
    /// Which one
    #[arg(value_enum)]
    which: Which,
    /// Folder with `train` and `test` folders of BVH files and, if there is one, a `clips.json` that names roles and
    /// categories; built-in motions in the same roles when not given
    #[arg(long)]
    motions: Option<PathBuf>,
    /// Few clips, few dimensions, one stop: minutes instead of hours
    #[arg(long)]
    quick: bool,
    /// The body
    #[arg(long, default_value = "mannequin:female")]
    body: String,
    /// The garment of tables 2 and 3, or of all tables; dress, or sweater for adaptive-bases, when not given
    #[arg(long)]
    garment: Option<String>,
    /// Its fabric; the garment's own when not given
    #[arg(long)]
    fabric: Option<String>,
    /// More garments for table 1, as `garment` or `garment/fabric`, separated by commas; `none` leaves it at one
    #[arg(long)]
    garments: Option<String>,
    /// Meshes of the garment for table 4, separated by commas; `none` leaves it out
    #[arg(long)]
    resolutions: Option<String>,
    /// Only these of the clips of adaptive-bases, separated by commas
    #[arg(long, value_delimiter = ',')]
    clips: Vec<String>,
    /// A finer cut of the garment of adaptive-bases, such as `sweater`: its times are measured from takes carried over to it
    #[arg(long)]
    fine: Option<String>,
    /// Stops per training clip
    #[arg(long)]
    stops: Option<usize>,
    /// Clips simulated at once; as many as there are cores when not given
    #[arg(long)]
    jobs: Option<usize>,
    /// Folder for simulations and models
    #[arg(long, default_value = "toile-reproduce")]
    out: PathBuf,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Folder for the report and its plots; the same folder when not given
    #[arg(long)]
    report: Option<PathBuf>,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Which {
    /// de Aguiar, Sigal, Treuille and Hodgins 2010
    StableSpaces,
    /// Cordier and Magnenat-Thalmann 2002
    Layered,
    /// Hahn and others 2014
    AdaptiveBases,
}

/// How far twins of the test clips are pushed aside at their start, m.
const NUDGE_M: f64 = 1e-4;

/// What table 1 shows besides the main garment, as far as it is built in.
const GARMENTS: &str = "dress:3410,skirt/silk,skirt/denim,long-skirt,oscar,cape,shirt,poncho";
/// The meshes of table 4.
const RESOLUTIONS: &str = "dress,dress:3410,dress:5178,dress:20530";
/// How fast a slower and a faster execution of a clip are.
const SPEEDS: [(f64, &str); 3] = [(0.75, "slower"), (1.0, "as-it-is"), (1.33, "faster")];

#[allow(clippy::disallowed_methods)] // how long it took is part of the report
pub fn run(args: &Args) -> Result<()> {
    let begun = Instant::now();
    let report = args.report.clone().unwrap_or_else(|| args.out.clone());
    if let Which::Layered = args.which {
        return run_layered(args, &report);
    }
    let body = resolve::body(&args.body, None)?;
    if let Which::AdaptiveBases = args.which {
        return run_adaptive(args, &body, &report);
    }
    let garment = args.garment.as_deref().unwrap_or("dress");
    let cast = Cast::new(args.motions.as_deref(), args.quick)?;
    for (folder, file) in [(&args.out, "model.toile"), (&report, page::FILE)] {
        Overwrite::folder(folder)?;
        args.overwrite.check(&folder.join(file), [])?;
    }
    let stops = args.stops.unwrap_or(if args.quick { 1 } else { 5 });
    let jobs = args.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let dressed = Wardrobe { body: &body, args, jobs, trim: None, speed: 1.0 };

    let train = dressed.takes(garment, args.fabric.as_deref(), &cast.train, stops, "train", 0.0)?;
    // Stops in test clips are where a model with memory shows what it is worth.
    let test = dressed.takes(garment, args.fabric.as_deref(), &cast.test, 2.min(stops), "test", 0.0)?;
    let apart = dressed.takes(garment, args.fabric.as_deref(), &cast.apart(), 0, "apart", 0.0)?;
    // The test clips once more from a start that differs by a hair: what these differ by, no model can foretell.
    let twins = dressed.takes(garment, args.fabric.as_deref(), &cast.test, 2.min(stops), "twins", NUDGE_M)?;

    let mut study = Study::new(&body, &cast, train, [test, twins], apart, args.quick)?;
    study.tables(&args.out)?;
    let others = match args.garments.as_deref() {
        Some("none") => "",
        Some(list) => list,
        None if args.quick => "skirt",
        None => GARMENTS,
    };
    for name in others.split(',').filter(|n| !n.is_empty()) {
        let (garment, fabric) = name.split_once('/').map_or((name, None), |(g, f)| (g, Some(f)));
        let few = cast.few();
        let takes = dressed.takes(garment, fabric, &few, 1, "few", 0.0)?;
        study.add_garment(name, &body, &takes, &args.out)?;
    }
    let meshes = match args.resolutions.as_deref() {
        Some("none") => "",
        Some(list) => list,
        // Of a garment of one's own there are no other meshes.
        None if args.quick || garment != "dress" => "",
        None => RESOLUTIONS,
    };
    let shortly = Wardrobe { trim: Some(variants::SPAN), ..dressed };
    for name in meshes.split(',').filter(|n| !n.is_empty()) {
        let fabric = args.fabric.as_deref();
        let train = shortly.takes(name, fabric, &cast.few(), 0, "table-4-train", 0.0)?;
        let test = shortly.takes(name, fabric, &cast.few_tests(), 0, "table-4-test", 0.0)?;
        study.add_resolution(&body, &train, &test)?;
    }
    for (speed, folder) in SPEEDS {
        let paced = Wardrobe { speed, ..dressed };
        let takes = paced.takes(garment, args.fabric.as_deref(), &cast.repeated, 0, folder, 0.0)?;
        study.add_speed(speed, &takes)?;
    }
    let seconds = begun.elapsed().as_secs_f64();
    let command = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
    let page = page::write(&report, &study, &cast, &format!("toile {command}"), seconds)?;
    if args.json {
        println!("{}", page::json(&study, &page));
    } else {
        print!("{}", page::text(&study));
        println!("report: {}", page.display());
    }
    Ok(())
}

/// Times of the layers; nothing is simulated.
fn run_layered(args: &Args, report: &std::path::Path) -> Result<()> {
    std::fs::create_dir_all(report).map_err(|e| toile_assets::Error::io(report, e))?;
    let measured = layered::measure(&resolve::body(&args.body, None)?, args.quick)?;
    let command = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
    let page = layered::write(report, &measured, &format!("toile {command}"))?;
    if args.json {
        println!("{}", measured.json(&page));
    } else {
        print!("{}", measured.text());
        println!("report: {}", page.display());
    }
    Ok(())
}

/// A database from the training clips, played on them and on clips that it has not seen.
fn run_adaptive(args: &Args, body: &toile_assets::Body, report: &std::path::Path) -> Result<()> {
    for folder in [&args.out, report] {
        Overwrite::folder(folder)?;
        std::fs::create_dir_all(folder).map_err(|e| toile_assets::Error::io(folder, e))?;
    }
    let span = if args.quick { (0.3, 1.8) } else { adaptive::SPAN };
    let dressed = Wardrobe { body, args, jobs: args.jobs.unwrap_or(1), trim: Some(span), speed: 1.0 };
    let measured = adaptive::measure(&dressed)?;
    let command = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
    let page = adaptive::write(report, &measured, &format!("toile {command}"))?;
    if args.json {
        println!("{}", measured.json(&page));
    } else {
        print!("{}", measured.text());
        println!("report: {}", page.display());
    }
    Ok(())
}

/// One body and everything it wears.
#[derive(Clone, Copy)]
struct Wardrobe<'a> {
    body: &'a toile_assets::Body,
    args: &'a Args,
    jobs: usize,
    /// Seconds of every clip that are simulated.
    trim: Option<(f64, f64)>,
    /// How many times as fast clips are played.
    speed: f64,
}

impl Wardrobe<'_> {
    /// Simulates what is not there yet; a clip that fails is said and left out.
    fn takes(
        &self,
        garment: &str,
        fabric: Option<&str>,
        clips: &[String],
        stops: usize,
        folder: &str,
        nudge_m: f64,
    ) -> Result<Vec<Take>> {
        if clips.is_empty() {
            return Ok(Vec::new());
        }
        let worn = resolve::garment(garment, self.body, RestChoice::Auto, None)?;
        let fabric = resolve::fabric(fabric.unwrap_or(&worn.fabric))?;
        let place = [&format!("{garment}-{}", fabric.name), folder];
        let motions = self.motions(clips)?;
        Ok(self.simulated(self.body, &worn, &fabric, &motions, stops, place, nudge_m)?.true_takes())
    }

    /// Built-in clips, or files, cut to what is simulated of them and at the speed they are played at.
    fn motions(&self, clips: &[String]) -> Result<Vec<Motion>> {
        let pacing = Pacing { trim: self.trim, ..Pacing::AS_IS };
        let mut motions = resolve::motions(clips, self.body, &pacing)?;
        motions.iter_mut().for_each(|m| m.fps *= self.speed);
        Ok(motions)
    }

    /// Takes of any body and garment, those that are not true among them: what they are is said with their numbers.
    fn recorded(
        &self,
        body: &toile_assets::Body,
        garment: &Garment,
        fabric: &Fabric,
        motions: &[Motion],
        folder: &str,
        nudge_m: f64,
    ) -> Result<Vec<Take>> {
        if motions.is_empty() {
            return Ok(Vec::new());
        }
        let name = format!("{}-{}-{}", garment.name, garment.sim.positions.len(), fabric.name);
        let outcome = self.simulated(body, garment, fabric, motions, 0, [&name, folder], nudge_m)?;
        Ok(outcome.takes.into_iter().map(|(_, take)| take).collect())
    }

    fn simulated(
        &self,
        body: &toile_assets::Body,
        garment: &Garment,
        fabric: &Fabric,
        motions: &[Motion],
        stops: usize,
        [name, folder]: [&str; 2],
        nudge_m: f64,
    ) -> Result<Outcome> {
        let plain: String = name.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
        let out = self.args.out.join("takes").join(plain).join(folder);
        eprintln!("{} in {}: {} clips for {folder}", garment.name, fabric.name, motions.len());
        let job = Job {
            body,
            garment,
            fabric,
            outfit: None,
            settings: RecordSettings::default().with(|s| s.nudge_m = nudge_m),
            stops,
            out: &out,
            jobs: self.jobs,
            shard: None,
            overwrite: self.args.overwrite,
            label: String::new(),
        };
        let outcome = job.simulate(motions).with_context(|| format!("simulating {}", garment.name))?;
        for (clip, why) in &outcome.failed {
            eprintln!("left out: {clip}: {why}");
        }
        if outcome.takes.is_empty() {
            return Err(BadRequest(format!("none of the clips for {folder} could be simulated")).into());
        }
        Ok(outcome)
    }
}
