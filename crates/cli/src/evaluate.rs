//! `toile evaluate`: how wrong a model is, by free runs.

use crate::ask::{self, BadRequest};
use crate::train::read_takes;
use anyhow::Result;
use clap::Parser;
use std::path::PathBuf;
use std::sync::Arc;
use toile_assets::read::garment::RestChoice;
use toile_assets::{Attachment, AttachmentSettings, Model};
use toile_learn::Evaluation;

/// Score a model against takes it has not seen
#[derive(Parser)]
#[command(after_help = "Every error comes from a free run: the model sees only body motion.\n\nExample:\n  \
    toile evaluate dress.toile out/test --garment dress")]
pub struct Args {
    /// The model
    model: PathBuf,
    /// Takes to score against
    #[arg(required = true)]
    takes: Vec<PathBuf>,
    /// The body that wore the garment
    #[arg(long, default_value = "mannequin:female")]
    body: String,
    /// The garment, for the comparison with skinning
    #[arg(long, default_value = "dress")]
    garment: String,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<()> {
    let model = Arc::new(Model::read(&args.model)?);
    let body = ask::body(&args.body, None)?;
    let garment = ask::garment(&args.garment, &body, RestChoice::Auto, None)?;
    let takes = read_takes(&args.takes)?;
    let mut faults = Vec::new();
    for take in &takes {
        if take.vertices != model.vertices || take.joints != model.joints {
            faults.push(format!(
                "take `{}` has {} vertices and {} joints, the model {} and {}",
                take.clip, take.vertices, take.joints, model.vertices, model.joints
            ));
        }
    }
    if garment.sim.positions.len() != model.vertices {
        faults.push(format!(
            "garment `{}` has {} vertices, the model {}",
            garment.name,
            garment.sim.positions.len(),
            model.vertices
        ));
    }
    if !faults.is_empty() {
        return Err(BadRequest(faults.join("\n")).into());
    }
    let attachment = Attachment::new(&body, &garment.sim, &AttachmentSettings::default())?;
    let evaluation = toile_learn::evaluate(&model, &takes, &attachment);
    if args.json {
        println!("{}", json(&evaluation));
        return Ok(());
    }
    println!(
        "{:24} {:>6} {:>8} {:>8} {:>8} {:>8} {:>10}",
        "clip", "frames", "mean cm", "p95", "max", "skin", "projection"
    );
    for c in &evaluation.clips {
        println!(
            "{:24} {:6} {:8.2} {:8.2} {:8.2} {:8.2} {:10.2}",
            c.clip, c.frames, c.mean_cm, c.p95_cm, c.max_cm, c.skin_cm, c.projection_cm
        );
    }
    let e = &evaluation;
    println!(
        "all: mean {:.2} cm (skin {:.2}, projection {:.2}), p95 {:.2}, liveliness {:.2}, correlation {:.2}, {:.1} µs a frame",
        e.mean_cm, e.skin_cm, e.projection_cm, e.p95_cm, e.liveliness, e.correlation, e.us_per_frame
    );
    Ok(())
}

/// The evaluation as `--json` prints it.
pub fn json(e: &Evaluation) -> serde_json::Value {
    let clips: Vec<_> = e
        .clips
        .iter()
        .map(|c| {
            serde_json::json!({
                "clip": c.clip, "frames": c.frames, "mean_cm": c.mean_cm, "p95_cm": c.p95_cm,
                "max_cm": c.max_cm, "skin_cm": c.skin_cm, "projection_cm": c.projection_cm,
            })
        })
        .collect();
    serde_json::json!({
        "mean_cm": e.mean_cm, "p95_cm": e.p95_cm, "max_cm": e.max_cm, "skin_cm": e.skin_cm,
        "projection_cm": e.projection_cm, "liveliness": e.liveliness, "correlation": e.correlation,
        "us_per_frame": e.us_per_frame, "rho": e.rho, "clamped_per_frame": e.clamped_per_frame, "clips": clips,
    })
}
