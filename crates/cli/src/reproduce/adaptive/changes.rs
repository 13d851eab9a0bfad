//! Changes of the method and what becomes of a clip with each.

use super::play::{Run, Stage, Start};
use anyhow::Result;
use std::sync::Arc;
use toile_assets::Take;
use toile_learn::AdaptiveSettings;
use toile_model::adaptive::Database;
use toile_simulate::{Assembly, GradientVector, SubspaceSettings};

/// A change of the method and what became of it.
pub struct Ablation {
    pub name: String,
    pub run: Run,
    /// Whether there is a picture of it.
    pub drawn: bool,
}

type Change = fn(&mut SubspaceSettings);

/// Those of the paper's figures, then ours. The exact assembly stands behind all but the first: forces of sampled triangles
/// were learned for the method as it ships.
const CHANGES: [(&str, bool, Change); 18] = [
    ("as shipped, with cubature", true, |_| ()),
    ("all triangles", true, |s| s.assembly = Assembly::Kept),
    ("with gradient vector Bᵀg", true, |s| s.gradient = GradientVector::Transposed),
    ("with gradient vector B⁻¹g", false, |s| s.gradient = GradientVector::Inverse),
    ("with gradient vector D⁻¹Bᵀg", false, |s| s.gradient = GradientVector::Relaxed),
    ("gradient vector only", true, |s| {
        (s.vectors, s.undo, s.gradient) = (0, false, GradientVector::Transposed);
    }),
    ("without undo vector", true, |s| (s.assembly, s.undo) = (Assembly::Kept, false)),
    ("a new matrix in every step", false, |s| (s.assembly, s.refresh_every) = (Assembly::Kept, 1)),
    ("a new matrix every 16 steps", false, |s| (s.assembly, s.refresh_every) = (Assembly::Kept, 16)),
    ("one Newton step", false, |s| (s.assembly, s.newton) = (Assembly::Kept, 1)),
    ("four Newton steps at most", false, |s| (s.assembly, s.newton) = (Assembly::Kept, 4)),
    ("four Newton steps, directions chosen anew for each", false, |s| {
        (s.assembly, s.newton, s.choose_once) = (Assembly::Kept, 4, false);
    }),
    ("without line search", false, |s| (s.assembly, s.line_search) = (Assembly::Kept, false)),
    ("steps of 1/60 s", false, |s| (s.assembly, s.step_secs) = (Assembly::Kept, 1.0 / 60.0)),
    ("steps of 1/240 s, one Newton step", false, |s| {
        (s.assembly, s.step_secs, s.newton) = (Assembly::Kept, 1.0 / 240.0, 1);
    }),
    ("vertices left in the body", false, |s| (s.assembly, s.keep_out) = (Assembly::Kept, false)),
    ("cloth against cloth, every 4 steps", false, |s| {
        (s.assembly, s.self_contact_every) = (Assembly::Kept, 4)
    }),
    ("contacts of the body looked for every 2 steps", false, |s| {
        (s.assembly, s.body_contact_every) = (Assembly::Kept, 2);
    }),
];

/// Plays a clip with every change; `learn` gives databases made otherwise.
pub fn measure(
    stage: &Stage,
    database: &Arc<Database>,
    take: &Take,
    quick: bool,
    learn: impl Fn(fn(&mut AdaptiveSettings)) -> Result<Database>,
) -> Result<Vec<Ablation>> {
    let play = |name: &str, drawn: bool, database: &Arc<Database>, settings| {
        let run = stage.play_or_break(database, take, settings, Start::Own);
        eprintln!("{name}: {:.1} mm, {:.1} ms", run.mean_mm, run.ms);
        Ablation { name: name.into(), run, drawn }
    };
    let mut all = Vec::new();
    for (name, drawn, change) in CHANGES.iter().take(if quick { 3 } else { CHANGES.len() }) {
        all.push(play(name, *drawn, database, SubspaceSettings::default().with(*change)));
    }
    if quick {
        return Ok(all);
    }
    let global = Arc::new(learn(|s| (s.sites, s.vectors, s.least_significance) = (1, 100, 0.0))?);
    let hundred = SubspaceSettings::default().with(|s| s.vectors = 100);
    all.push(play("one global basis of 100", true, &global, hundred));
    let rich = Arc::new(learn(|s| (s.vectors, s.least_significance) = (40, 0.001))?);
    let exact = Arc::new(Database { cubature: None, ..(**database).clone() });
    for size in [4, 8, 12, 20, 40] {
        for (epsilon, database) in [("0.01", &exact), ("0.001", &rich)] {
            let settings = SubspaceSettings::default().with(|s| s.vectors = size);
            all.push(play(&format!("ε_PCA {epsilon}, {size} vectors"), false, database, settings));
        }
    }
    Ok(all)
}
