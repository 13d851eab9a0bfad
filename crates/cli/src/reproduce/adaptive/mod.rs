//! Hahn, Thomaszewski, Coros, Sumner, Cole, Meyer, DeRose and Gross 2014, theirs and ours.

mod fine;
mod page;
mod paths;
mod play;

use anyhow::{Context, Result};
use play::{Run, Stage, Start, acceleration};
use std::path::Path;
use std::sync::Arc;
use toile_assets::{Body, Fabric, Garment, Take};
use toile_learn::{AdaptiveSettings, train_adaptive};
use toile_model::adaptive::Database;
use toile_simulate::{Assembly, GradientVector, SubspaceSettings};

pub use page::write;

/// Clips that are learned from and clips that are not.
pub const TRAINING: [&str; 7] =
    ["twist", "arms-bend", "arms-up", "arms-down", "lean-back", "lean-forward", "plane"];
pub const UNSEEN: [&str; 2] = ["yo", "gym"];

/// Seconds of each clip that are simulated: from before it begins to move until it has gone there and partly back.
pub const SPAN: (f64, f64) = (0.3, 3.3);

/// One clip.
pub struct ClipRow {
    pub clip: String,
    pub frames: usize,
    pub trained: bool,
    /// Processor time of the full simulation, ms a frame, at its own step and at ours.
    pub full_ms: [f64; 2],
    pub plain: Run,
    pub kept: Run,
    /// Mean distance of skinned cloth, mm.
    pub skin_mm: f64,
    /// Largest acceleration of the simulation, m/s².
    pub acceleration: f64,
    /// Two frames of nearly one pose, and how far apart cloth is in them: in the simulation and here, mm.
    pub paths: Option<paths::TwoPaths>,
}

/// A change of the method and what became of it.
pub struct Ablation {
    pub name: String,
    pub run: Run,
}

/// Everything that was measured.
pub struct Measured {
    pub garment: String,
    pub vertices: usize,
    pub frames: usize,
    pub database: Arc<Database>,
    pub bytes: u64,
    pub load_ms: f64,
    pub left_mm: [f64; 2],
    pub clips: Vec<ClipRow>,
    pub ablations: Vec<Ablation>,
    /// The clip that ablations were played on.
    pub ablated: String,
    /// Times of a finer cut.
    pub fine: Option<fine::Fine>,
}

/// Trains a database from takes and plays all of them.
pub fn measure(
    body: &Body,
    garment: &Garment,
    fabric: &Fabric,
    train: &[Take],
    unseen: &[Take],
    fine: Option<&Garment>,
    out: &Path,
    quick: bool,
) -> Result<Measured> {
    let learn = |change: fn(&mut AdaptiveSettings)| -> Result<_> {
        let settings = AdaptiveSettings::default().with(change);
        train_adaptive(body, train, &settings, &|_| ()).map_err(crate::train::bad_takes)
    };
    let training = learn(|_| ())?;
    let file = out.join("adaptive.toile");
    training.database.write(&file)?;
    let begun = toile_lab::cpu_ms();
    let database = Arc::new(Database::read(&file)?);
    let load_ms = toile_lab::cpu_ms() - begun;
    let stage = Stage { body, garment, fabric };
    let mut clips = Vec::new();
    let ablated = train.first().context("no takes to learn from")?;
    let mut ablations = ablations(&stage, &database, ablated);
    for (take, trained) in train.iter().map(|t| (t, true)).chain(unseen.iter().map(|t| (t, false))) {
        eprintln!("playing {}", take.clip);
        clips.push(clip(&stage, &database, take, trained, quick)?);
    }
    let global = Arc::new(learn(|s| (s.sites, s.vectors, s.least_significance) = (1, 100, 0.0))?.database);
    let all = SubspaceSettings::default().with(|s| s.vectors = 100);
    ablations.push(Ablation {
        name: "one global basis of 100".into(),
        run: stage.play_or_break(&global, ablated, all, Start::Own),
    });
    let rich = Arc::new(learn(|s| (s.vectors, s.least_significance) = (40, 0.001))?.database);
    for size in [4, 8, 12, 20, 40] {
        for (epsilon, database) in [("0.01", &database), ("0.001", &rich)] {
            let settings = SubspaceSettings::default().with(|s| s.vectors = size);
            let name = format!("ε_PCA {epsilon}, {size} vectors");
            ablations
                .push(Ablation { name, run: stage.play_or_break(database, ablated, settings, Start::Own) });
        }
    }
    Ok(Measured {
        garment: garment.name.clone(),
        vertices: garment.sim.positions.len(),
        frames: training.frames,
        bytes: std::fs::metadata(&file).map_or(0, |m| m.len()),
        load_ms,
        left_mm: [1e3 * training.displacement_m, 1e3 * training.left_m],
        clips,
        ablated: ablated.clip.clone(),
        fine: fine.map(|fine| fine::measure(body, garment, fine, fabric, train, out)).transpose()?,
        ablations,
        database,
    })
}

fn clip(stage: &Stage, database: &Arc<Database>, take: &Take, trained: bool, quick: bool) -> Result<ClipRow> {
    let kept = stage.play_or_break(database, take, SubspaceSettings::default(), Start::Own);
    let plain = SubspaceSettings::default().with(|s| s.assembly = Assembly::Plain);
    let plain = stage.play_or_break(database, take, plain, Start::Own);
    let places = if quick { 1 } else { 3 };
    let full_ms = [stage.full_ms(take, 1.0 / 240.0, places)?, stage.full_ms(take, 1.0 / 30.0, places)?];
    let skinned: Vec<_> = (0..take.len()).map(|f| database.attachment.posed(take.frame_bones(f))).collect();
    let mut skin = Run::default();
    play::compare(&mut skin, &skinned, take, &database.attachment.rest);
    let truth: Vec<_> = (0..take.len()).map(|f| take.frame(f)).collect();
    Ok(ClipRow {
        clip: take.clip.clone(),
        frames: take.len(),
        trained,
        full_ms,
        paths: if kept.frames.is_empty() { None } else { paths::two_paths(database, take, &kept.frames) },
        plain,
        kept,
        skin_mm: skin.mean_mm,
        acceleration: acceleration(&truth, take.fps),
    })
}

fn ablations(stage: &Stage, database: &Arc<Database>, take: &Take) -> Vec<Ablation> {
    let changes: [(&str, fn(&mut SubspaceSettings)); 18] = [
        ("as shipped", |_| ()),
        ("from the simulation's first frame", |_| ()),
        ("gradient vector Bᵀg", |s| s.gradient = GradientVector::Transposed),
        ("gradient vector B⁻¹g", |s| s.gradient = GradientVector::Inverse),
        ("gradient vector D⁻¹Bᵀg", |s| s.gradient = GradientVector::Relaxed),
        ("gradient vector Bᵀg only", |s| {
            (s.vectors, s.undo, s.gradient) = (0, false, GradientVector::Transposed);
        }),
        ("without undo vector", |s| s.undo = false),
        ("a new matrix in every step", |s| s.refresh_every = 1),
        ("a new matrix every 16 steps", |s| s.refresh_every = 16),
        ("one Newton step", |s| s.newton = 1),
        ("one Newton step, a new matrix in every step", |s| (s.newton, s.refresh_every) = (1, 1)),
        ("four Newton steps at most", |s| s.newton = 4),
        ("eight Newton steps, always", |s| (s.newton, s.sigma) = (8, 0.0)),
        ("without line search", |s| s.line_search = false),
        ("steps of 1/60 s", |s| s.step_secs = 1.0 / 60.0),
        ("steps of 1/240 s, one Newton step", |s| (s.step_secs, s.newton) = (1.0 / 240.0, 1)),
        ("without moving vertices out of the body", |s| s.keep_out = false),
        ("cloth against cloth, looked for every 4 steps", |s| s.self_contact_every = 4),
    ];
    let one = |(name, change): (&str, fn(&mut SubspaceSettings))| {
        let settings = SubspaceSettings::default().with(change);
        let start = if name.starts_with("from") { Start::Simulated } else { Start::Own };
        let run = stage.play_or_break(database, take, settings, start);
        eprintln!("{name}: {:.1} mm, {:.1} ms, residual {:.2}", run.mean_mm, run.ms, run.residual);
        Ablation { name: name.into(), run }
    };
    changes.into_iter().map(one).collect()
}
