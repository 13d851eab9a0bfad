//! `toile train`: from takes to a model.

use crate::ask::{self, BadRequest};
use anyhow::Result;
use clap::{Parser, ValueEnum};
use std::path::{Path, PathBuf};
use toile_assets::{Error, ModelKind};
use toile_learn::{Settings, TakeFiles, Training};

/// Learn a garment from its takes
#[derive(Parser)]
#[command(after_help = "Examples:\n  \
    toile train out/takes --out dress.toile\n  \
    toile train out/takes --body hero.glb --model b --cloth-dims 32 --out cape.toile")]
pub struct Args {
    /// Folder of takes, or take files
    #[arg(required = true)]
    takes: Vec<PathBuf>,
    /// The body that wore the garment: a file or a built-in name
    #[arg(long, default_value = "mannequin:female")]
    body: String,
    /// Which published form: pose only, with history, with history and root motion
    #[arg(long, value_enum, default_value = "c")]
    model: Kind,
    /// Frames of history
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(0..=5))]
    order: u8,
    /// Dimensions of the garment's space
    #[arg(long, default_value_t = 64)]
    cloth_dims: usize,
    /// Dimensions of the body's space
    #[arg(long, default_value_t = 64)]
    body_dims: usize,
    /// The printed form: no bias, plain cosine, one-step least squares
    #[arg(long)]
    paper: bool,
    /// Leave out the refinement over many frames that follows where cloth comes out too stiff
    #[arg(long)]
    no_refine: bool,
    /// Frames held in full at once: what memory is bounded by
    #[arg(long, default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..))]
    chunk_frames: u32,
    /// Training frames in which hidden triangles of the body are looked for; 0 leaves them out
    #[arg(long, default_value_t = 24)]
    hidden_frames: usize,
    /// Where to write the model
    #[arg(long)]
    out: PathBuf,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    A,
    B,
    C,
}

pub fn run(args: &Args) -> Result<()> {
    ask::writable(&args.out)?;
    let body = ask::body(&args.body, None)?;
    let takes = TakeFiles(take_files(&args.takes)?);
    let settings = Settings {
        kind: match args.model {
            Kind::A => ModelKind::A,
            Kind::B => ModelKind::B,
            Kind::C => ModelKind::C,
        },
        order: usize::from(args.order),
        cloth_dims: args.cloth_dims,
        body_dims: args.body_dims,
        paper: args.paper,
        refine: !args.no_refine,
        chunk_frames: args.chunk_frames as usize,
        hidden_frames: args.hidden_frames,
        ..Settings::default()
    };
    let training = toile_learn::train(&body, &takes, &settings).map_err(|e| match e {
        toile_learn::Error::Numerical(_) => anyhow::Error::new(e),
        toile_learn::Error::Read(e) => e.into(),
        _ => BadRequest(e.to_string()).into(),
    })?;
    training.model.write(&args.out)?;
    for remark in &training.remarks {
        eprintln!("{remark}");
    }
    let value = json(&args.out, &training);
    if args.json {
        println!("{value}")
    } else {
        print!("{}", text(&args.out, &training))
    }
    Ok(())
}

fn json(out: &Path, t: &Training) -> serde_json::Value {
    let m = &t.model;
    let (tightness, tightness_rate) = m.tightness();
    let tried: Vec<_> = t
        .tried
        .iter()
        .map(|t| {
            serde_json::json!({
                "ridge": t.ridge, "horizon": t.horizon, "rms_cm": t.rms_cm,
                "over_order_zero": t.over_order_zero, "liveliness": t.liveliness,
            })
        })
        .collect();
    let lowered = t.lowered.map(|l| {
        serde_json::json!({
            "cloth_dims": l.cloth_dims, "rho": l.rho, "rms_cm": l.rms_cm, "enforced_rms_cm": l.enforced_rms_cm,
        })
    });
    serde_json::json!({
        "out": out, "windows": t.windows, "ridge": t.ridge, "refined_over_frames": t.horizon, "tried": tried,
        "rho_before": t.rho_before, "rho": m.certificate.rho, "gamma": m.certificate.gamma,
        "transient_gain": m.certificate.transient_gain,
        "travel_bound_cm": 100.0 * largest(&m.certificate.travel_bound_m),
        "travel_bound_rate_cm": 100.0 * largest(&m.certificate.travel_bound_rate_m),
        "tightness": tightness, "tightness_rate": tightness_rate, "lowered": lowered,
        "hidden_triangles": m.hidden_triangles.len(), "bytes": m.bytes(),
        "cloth_dims": m.cloth_dims, "body_dims": m.body_dims, "order": m.order, "remarks": t.remarks,
    })
}

fn largest(values: &[f32]) -> f32 {
    values.iter().copied().fold(0.0, f32::max)
}

fn text(out: &Path, t: &Training) -> String {
    let m = &t.model;
    let (tightness, tightness_rate) = m.tightness();
    let mut text = format!(
        "{}: {} windows, {} + {} dims, order {}, {} kB\n",
        out.display(),
        t.windows,
        m.cloth_dims,
        m.body_dims,
        m.order,
        m.bytes() / 1024
    );
    for tried in &t.tried {
        let chosen = if (tried.ridge, tried.horizon) == (t.ridge, t.horizon) { "  <- chosen" } else { "" };
        text.push_str(&format!(
            "  ridge {:<8} {:>3} frames: {:.2} cm on held-out clips, {:.2} of order 0, liveliness {:.2}{chosen}\n",
            tried.ridge,
            tried.horizon.max(1),
            tried.rms_cm,
            tried.over_order_zero,
            tried.liveliness
        ));
    }
    text.push_str(&format!(
        "  certificate: ρ {:.4} (least squares alone {:.4}), no vertex ever farther than {:.0} cm from its mean \
         ({:.0} cm at trained speeds), {tightness:.1} ({tightness_rate:.1}) times what training saw\n",
        m.certificate.rho,
        t.rho_before,
        100.0 * largest(&m.certificate.travel_bound_m),
        100.0 * largest(&m.certificate.travel_bound_rate_m),
    ));
    if let Some(l) = t.lowered {
        text.push_str(&format!(
            "  lowering dims instead would be stable at {} (ρ {:.4}): {:.2} cm on the training takes, enforced {:.2} cm\n",
            l.cloth_dims, l.rho, l.rms_cm, l.enforced_rms_cm
        ));
    }
    text
}

/// Take files named one by one or by folder, in the order of their names.
pub fn take_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let mut found: Vec<PathBuf> = std::fs::read_dir(path)
                .map_err(|e| Error::io(path.as_path(), e))?
                .filter_map(|e| Some(e.ok()?.path()))
                .filter(|p| p.extension().is_some_and(|x| x == "take"))
                .collect();
            if found.is_empty() {
                return Err(BadRequest(format!("{}: the folder holds no .take files", path.display())).into());
            }
            found.sort();
            files.extend(found);
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}
