//! Hahn, Thomaszewski, Coros, Sumner, Cole, Meyer, DeRose and Gross 2014, theirs and ours.

mod changes;
mod fine;
mod others;
mod page;
mod paths;
mod pictures;
mod play;
mod tube;
mod ways;

use super::Wardrobe;
use crate::adaptive::{CUBATURE, bones_of, learn_cubature};
use crate::resolve;
use anyhow::{Context, Result};
use changes::Ablation;
use glam::Vec3;
use play::{Run, Stage, Start, acceleration};
use std::sync::Arc;
use toile_assets::read::garment::RestChoice;
use toile_assets::{Body, Garment, Take};
use toile_learn::{AdaptiveSettings, train_adaptive};
use toile_model::adaptive::Database;
use toile_simulate::{Assembly, CubatureFit, SubspaceSettings};

pub use page::write;

/// Clips that are learned from and clips that are not.
const TRAINING: [&str; 7] =
    ["twist", "arms-bend", "arms-up", "arms-down", "lean-back", "lean-forward", "plane"];
const UNSEEN: [&str; 2] = ["yo", "gym"];

/// Seconds of each clip that are simulated: from before it begins to move until it has gone there and partly back.
pub const SPAN: (f64, f64) = (0.3, 3.3);

/// Another fabric that the garment is played in.
const OTHER_FABRIC: &str = "denim";

/// One clip.
pub struct ClipRow {
    pub clip: String,
    pub frames: usize,
    pub trained: bool,
    /// What is wrong with its simulation.
    pub faults: Vec<String>,
    /// Processor time of the full simulation, ms a frame, at its own step and at ours.
    pub full_ms: [f64; 2],
    pub plain: Run,
    pub kept: Run,
    pub sampled: Run,
    /// Mean distance of skinned cloth, and of a twin of the simulation, mm.
    pub skin_mm: f64,
    pub twin_mm: Option<f64>,
    /// Largest acceleration of the simulation, m/s².
    pub acceleration: f64,
    /// Two frames of nearly one pose, and how far apart cloth is in them: in the simulation and here, mm.
    pub paths: Option<paths::TwoPaths>,
}

/// A clip that pictures are made of.
pub struct Shown {
    pub take: Take,
    pub ours: Vec<Vec<Vec3>>,
    pub skinned: Vec<Vec<Vec3>>,
}

/// Everything that was measured.
pub struct Measured {
    pub body: Body,
    pub worn: Garment,
    pub frames: usize,
    pub database: Arc<Database>,
    pub cubature: CubatureFit,
    pub bytes: u64,
    pub load_ms: f64,
    pub left_mm: [f64; 2],
    pub clips: Vec<ClipRow>,
    pub ablations: Vec<Ablation>,
    /// Ways to come nearer on the hardest clips.
    pub ways: Vec<ways::Way>,
    pub shown: Vec<Shown>,
    /// Times of a finer cut.
    pub fine: Option<fine::Fine>,
    pub tube: Option<tube::Tube>,
    pub trousers: Option<others::Trousers>,
    pub fabric: Option<others::OtherFabric>,
    /// Processor time of all of it, minutes.
    pub minutes: f64,
}

/// Trains a database from takes and plays all of them.
pub fn measure(dressed: &Wardrobe<'_>) -> Result<Measured> {
    let (args, body) = (dressed.args, dressed.body);
    let name = args.garment.as_deref().unwrap_or(if args.quick { "sweater:1500" } else { "sweater:3000" });
    let worn = resolve::garment(name, body, RestChoice::Auto, None)?;
    let fabric = resolve::fabric(args.fabric.as_deref().unwrap_or(&worn.fabric))?;
    let few = if args.quick { 2 } else { usize::MAX };
    let asked = |n: &&&str| args.clips.is_empty() || args.clips.iter().any(|c| c == **n);
    let record = |names: &[&str], folder: &str, nudge_m: f64| {
        let names: Vec<String> = names.iter().filter(asked).take(few).map(|n| n.to_string()).collect();
        dressed.recorded(body, &worn, &fabric, &dressed.motions(&names)?, folder, nudge_m)
    };
    let train = record(&TRAINING, "train", 0.0)?;
    let unseen = record(&UNSEEN, "unseen", 0.0)?;
    let twins = record(&["twist", "yo", "gym"], "twins", super::NUDGE_M)?;
    let learn = |change: fn(&mut AdaptiveSettings)| -> Result<_> {
        let settings = AdaptiveSettings::default().with(change);
        train_adaptive(body, &train, &settings, &|_| ()).map_err(crate::train::bad_takes)
    };
    let mut training = learn(|_| ())?;
    let clips: Vec<_> = train.iter().map(bones_of).collect();
    eprintln!("learning cubature");
    let cubature = learn_cubature(body, &worn, &fabric, &mut training.database, &clips, CUBATURE)?;
    let file = args.out.join("adaptive.toile");
    training.database.write(&file)?;
    let begun = toile_lab::cpu_ms();
    let database = Arc::new(Database::read(&file)?);
    let load_ms = toile_lab::cpu_ms() - begun;
    let stage = Stage { body, garment: &worn, fabric: &fabric };
    let mut rows = Vec::new();
    let mut shown = Vec::new();
    for (take, trained) in train.iter().map(|t| (t, true)).chain(unseen.iter().map(|t| (t, false))) {
        eprintln!("playing {}", take.clip);
        let (row, skinned) = clip(&stage, &database, take, trained, args.quick)?;
        let twin = twins.iter().find(|t| t.clip == take.clip && t.len() == take.len());
        let twin_mm = twin.map(|twin| mean_mm(take, twin));
        if ["twist", "gym"].contains(&take.clip.as_str()) && !row.sampled.frames.is_empty() {
            let (ours, take) = (row.sampled.frames.clone(), take.clone());
            shown.push(Shown { take, ours, skinned });
        }
        rows.push(ClipRow { twin_mm, ..row });
    }
    let ablated = train.first().context("no takes to learn from")?;
    let ablations =
        changes::measure(&stage, &database, ablated, args.quick, |change| Ok(learn(change)?.database))?;
    let all: Vec<&Take> = train.iter().chain(&unseen).collect();
    let ways = match args.quick {
        true => Vec::new(),
        false => ways::measure(&stage, &database, &all, &clips, |change| Ok(learn(change)?.database))?,
    };
    let fine = args.fine.as_ref().map(|f| resolve::garment(f, body, RestChoice::Auto, None)).transpose()?;
    let fine = fine.map(|fine| fine::measure(body, &worn, &fine, &fabric, &train, &args.out)).transpose()?;
    let fabric = match args.quick {
        true => None,
        false => Some(others::fabric(dressed, &worn, &fabric, OTHER_FABRIC, &ablated.clip, &database)?),
    };
    let trousers = if args.quick { "pants:800" } else { "pants:3000" };
    Ok(Measured {
        body: body.clone(),
        frames: training.frames,
        cubature,
        bytes: std::fs::metadata(&file).map_or(0, |m| m.len()),
        load_ms,
        left_mm: [1e3 * training.displacement_m, 1e3 * training.left_m],
        clips: rows,
        shown,
        fine,
        ablations,
        ways,
        database,
        fabric,
        tube: Some(tube::measure(dressed)?),
        trousers: Some(others::trousers(dressed, trousers)?),
        worn: worn.clone(),
        minutes: crate::train::Cost::so_far().cpu_secs.unwrap_or(f64::NAN) / 60.0,
    })
}

/// Mean distance of all vertices of two takes of one clip, mm.
fn mean_mm(a: &Take, b: &Take) -> f64 {
    let sum: f64 = a.positions.iter().zip(&b.positions).map(|(a, b)| f64::from(a.distance(*b))).sum();
    1e3 * sum / a.positions.len().max(1) as f64
}

fn clip(
    stage: &Stage,
    database: &Arc<Database>,
    take: &Take,
    trained: bool,
    quick: bool,
) -> Result<(ClipRow, Vec<Vec<Vec3>>)> {
    let with = |assembly| {
        let settings = SubspaceSettings::default().with(|s| s.assembly = assembly);
        stage.play_or_break(database, take, settings, Start::Own)
    };
    let [plain, kept, sampled] = [Assembly::Plain, Assembly::Kept, Assembly::Sampled].map(with);
    let places = if quick { 1 } else { 3 };
    let full_ms = [stage.full_ms(take, 1.0 / 240.0, places)?, stage.full_ms(take, 1.0 / 30.0, places)?];
    let (skin, skinned) = others::skinned(database, take);
    let truth: Vec<_> = (0..take.len()).map(|f| take.frame(f)).collect();
    let row = ClipRow {
        clip: take.clip.clone(),
        frames: take.len(),
        trained,
        faults: take.verdict.map(|v| v.faults()).unwrap_or_default(),
        full_ms,
        paths: (!sampled.frames.is_empty())
            .then(|| paths::two_paths(database, take, &sampled.frames))
            .flatten(),
        plain,
        kept,
        sampled,
        skin_mm: skin.mean_mm,
        twin_mm: None,
        acceleration: acceleration(&truth, take.fps),
    };
    Ok((row, skinned))
}
