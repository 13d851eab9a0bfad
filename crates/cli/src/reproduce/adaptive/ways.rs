//! Ways to come nearer on the clips that are hardest, those that are not taken among them.

use super::play::{Run, Stage, Start};
use crate::adaptive::learn_cubature_with;
use anyhow::Result;
use glam::Affine3A;
use std::sync::Arc;
use toile_assets::Take;
use toile_learn::AdaptiveSettings;
use toile_model::adaptive::Database;
use toile_simulate::{Assembly, CubatureSettings, SubspaceSettings};

/// The clips.
pub const CLIPS: [&str; 4] = ["arms-down", "lean-back", "gym", "yo"];

/// A way and what became of each clip.
pub struct Way {
    pub name: &'static str,
    /// What is left of elastic forces in frames held out, where triangles were chosen anew.
    pub held_out: Option<f64>,
    pub runs: Vec<Run>,
}

type Play = fn(&mut SubspaceSettings);

/// Ways to play the database that ships.
const PLAYED: [(&str, Play); 10] = [
    ("as shipped", |_| ()),
    ("all triangles", |s| s.assembly = Assembly::Kept),
    ("directions chosen anew for the second Newton step", |s| s.choose_once = false),
    ("four Newton steps at most", |s| s.newton = 4),
    ("four, directions chosen anew for each", |s| (s.newton, s.choose_once) = (4, false)),
    ("six at most, until a fiftieth of the slope is left", |s| (s.newton, s.sigma) = (6, 0.02)),
    ("steps of 1/60 s", |s| s.step_secs = 1.0 / 60.0),
    ("31 vectors at once", |s| s.vectors = 31),
    ("48 vectors at once", |s| s.vectors = 48),
    ("bases from twice as far", |s| s.search_radius = Some(FAR)),
];

/// About twice the mean distance of the sites.
const FAR: f32 = 8.0;

type Learn = fn(&mut AdaptiveSettings);

/// Ways to learn another database, played with all triangles.
const LEARNED: [(&str, Learn, Play); 2] = [
    ("36 sites, all triangles", |s| s.sites = 36, |_| ()),
    (
        "40 vectors a site, ε_PCA 0.001, 60 at once, all triangles",
        |s| (s.vectors, s.least_significance) = (40, 0.001),
        |s| s.vectors = 60,
    ),
];

type Choose = fn(&mut CubatureSettings);

/// Ways to choose triangles.
const CHOSEN: [(&str, Choose); 2] = [
    ("triangles from 160 frames, one step aside of each", |s| (s.frames, s.asides) = (160, 1)),
    ("up to 1,200 triangles", |s| s.triangles = 1200),
];

/// Plays the hardest clips in every way.
pub fn measure(
    stage: &Stage,
    database: &Arc<Database>,
    takes: &[&Take],
    clips: &[Vec<Vec<Affine3A>>],
    learn: impl Fn(fn(&mut AdaptiveSettings)) -> Result<Database>,
) -> Result<Vec<Way>> {
    let hardest: Vec<&Take> =
        CLIPS.iter().filter_map(|clip| takes.iter().find(|t| t.clip == *clip).copied()).collect();
    let played = |name: &'static str, database: &Arc<Database>, play: Play, held_out: Option<f64>| {
        let settings = SubspaceSettings::default().with(play);
        let runs: Vec<Run> =
            hardest.iter().map(|t| stage.play_or_break(database, t, settings, Start::Own)).collect();
        let means: Vec<String> = runs.iter().map(|r| format!("{:.1}", r.mean_mm)).collect();
        eprintln!("{name}: {} mm", means.join(", "));
        Way { name, held_out, runs }
    };
    let mut ways: Vec<Way> = PLAYED.iter().map(|(name, play)| played(name, database, *play, None)).collect();
    let skinned = Arc::new(Database { hangs: Vec::new(), ..(**database).clone() });
    ways.push(played("begun skinned", &skinned, |_| (), None));
    for (name, choose) in CHOSEN {
        let mut other = (**database).clone();
        let settings = CubatureSettings::default().with(choose);
        let fit = learn_cubature_with(stage.body, stage.garment, stage.fabric, &mut other, clips, &settings)?;
        ways.push(played(name, &Arc::new(other), |_| (), Some(fit.held_out)));
    }
    for (name, change, play) in LEARNED {
        ways.push(played(name, &Arc::new(learn(change)?), play, None));
    }
    Ok(ways)
}
