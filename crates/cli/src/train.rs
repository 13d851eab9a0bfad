//! `toile train`: from takes to a model.

use crate::ask::{self, BadRequest};
use anyhow::Result;
use clap::{Parser, ValueEnum};
use std::path::{Path, PathBuf};
use toile_assets::{Error, ModelKind, Take};
use toile_learn::Settings;

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
    let takes = read_takes(&args.takes)?;
    let settings = Settings {
        kind: match args.model {
            Kind::A => ModelKind::A,
            Kind::B => ModelKind::B,
            Kind::C => ModelKind::C,
        },
        order: usize::from(args.order),
        cloth_dims: args.cloth_dims,
        body_dims: args.body_dims,
        ..Settings::default()
    };
    let training = toile_learn::train(&body, &takes, &settings).map_err(|e| match e {
        toile_learn::Error::Numerical(_) => anyhow::Error::new(e),
        _ => BadRequest(e.to_string()).into(),
    })?;
    training.model.write(&args.out)?;
    let model = &training.model;
    let travel = model.certificate.travel_bound_m.iter().copied().fold(0.0, f32::max) * 100.0;
    if args.json {
        let value = serde_json::json!({
            "out": args.out, "windows": training.windows, "ridge": training.ridge,
            "rho_before": training.rho_before, "rho": model.certificate.rho,
            "travel_bound_cm": travel, "bytes": model.bytes(),
            "cloth_dims": model.cloth_dims, "body_dims": model.body_dims, "order": model.order,
            "remarks": training.remarks,
        });
        println!("{value}");
        return Ok(());
    }
    for remark in &training.remarks {
        eprintln!("{remark}");
    }
    println!(
        "{}: {} windows, {} + {} dims, order {}, ρ {:.4} (before {:.4}), no vertex ever farther than {:.0} cm, {} kB",
        args.out.display(),
        training.windows,
        model.cloth_dims,
        model.body_dims,
        model.order,
        model.certificate.rho,
        training.rho_before,
        travel,
        model.bytes() / 1024
    );
    Ok(())
}

/// Reads takes from files and folders, in the order of their names.
pub fn read_takes(paths: &[PathBuf]) -> Result<Vec<Take>> {
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
    Ok(files.iter().map(|f: &PathBuf| Take::read(Path::new(f))).collect::<Result<_, Error>>()?)
}
