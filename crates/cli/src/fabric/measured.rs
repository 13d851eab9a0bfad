//! `toile fabric measure`: the scales of the sliders, from simulated scenes.

use crate::driver;
use crate::lab;
use crate::output::Overwrite;
use crate::progress;
use crate::resolve::{self, BadRequest};
use anyhow::Result;
use clap::Parser;
use std::path::{Path, PathBuf};
use toile_assets::{Fabric, Quality, Sliders, sliders};
use toile_lab::feel;
use toile_show::contact_sheet;

/// Measure the scales of the sliders on simulated scenes, or the five measures of one fabric
#[derive(Parser)]
#[command(
    after_help = "Each slider has a scene: Cusick's drape test, a strip in a wind, a strip under a load, a square that is \
    sheared, a strip that bounces. The table that ships was made by the first example.\n\nExamples:\n  \
    toile fabric measure --out crates/assets/fabrics/sliders.csv\n  toile fabric measure denim\n  toile fabric measure --sheet sliders.png"
)]
pub struct Args {
    /// A fabric to measure; without it the scales are measured
    fabric: Option<String>,
    /// The table to write; printed when not given
    #[arg(long, value_name = "FILE", conflicts_with = "fabric")]
    out: Option<PathBuf>,
    /// Places on each scale that are measured
    #[arg(long, default_value_t = 9)]
    steps: usize,
    /// A PNG file for pictures of the scenes at five places of every slider
    #[arg(long, value_name = "FILE", conflicts_with_all = ["fabric", "out"])]
    sheet: Option<PathBuf>,
    #[command(flatten)]
    overwrite: Overwrite,
}

pub fn run(args: &Args) -> Result<()> {
    if let Some(name) = &args.fabric {
        let fabric = resolve::fabric(name)?;
        println!("{}", fabric.name);
        for (quality, place) in Quality::ALL.into_iter().zip(Sliders::of(&fabric).0) {
            let found = feel::measure(quality, &fabric)?;
            println!("  {:9} {place:5.2}   {}: {found:.2}", quality.name(), quality.measure());
        }
        return Ok(());
    }
    if !(2..=100).contains(&args.steps) {
        return Err(BadRequest(format!("--steps {}: 2 to 100", args.steps)).into());
    }
    if let Some(out) = &args.out {
        args.overwrite.check(out, [])?;
    }
    let base = resolve::fabric(Sliders::BASE)?;
    if let Some(path) = &args.sheet {
        args.overwrite.check(path, [])?;
        return sheet(path, &base);
    }
    let bar = progress::bar((Quality::ALL.len() * args.steps) as u64, "measuring");
    let mut measured = Vec::new();
    for quality in Quality::ALL {
        let [a, b] = quality.ends();
        let mut rows = Vec::new();
        for k in 0..args.steps {
            let share = k as f64 / (args.steps - 1) as f64;
            let value = a * (b / a).powf(share);
            rows.push((value, feel::measure(quality, &quality.with(&base, value))?));
            bar.inc(1);
        }
        measured.push((quality, rows));
    }
    bar.finish_and_clear();
    let text = sliders::to_csv(&measured);
    match &args.out {
        Some(out) => {
            toile_assets::write::write_atomically(out, text.as_bytes())?;
            eprintln!("wrote {}", out.display());
        }
        None => print!("{text}"),
    }
    Ok(())
}

/// Pictures of every scene at five places of its slider, a row each.
fn sheet(path: &Path, base: &Fabric) -> Result<()> {
    let mut renderer = driver::renderer()?;
    let bar = progress::bar(25, "drawing");
    let (mut images, mut captions) = (Vec::new(), Vec::new());
    for quality in Quality::ALL {
        let mut shots = Vec::new();
        for place in [0.0, 0.25, 0.5, 0.75, 1.0] {
            let felt = feel::feel(quality, &Sliders::tune(base, &[(quality, place)]))?;
            captions.push(format!("{} {place}: {:.1}", quality.name(), felt.measure));
            shots.push(felt.shot);
            bar.inc(1);
        }
        images.extend(lab::panes(&mut renderer, &shots.iter().collect::<Vec<_>>(), 400)?);
    }
    bar.finish_and_clear();
    let captions: Vec<&str> = captions.iter().map(String::as_str).collect();
    contact_sheet(&images, &captions, 5)?.write_png(path)?;
    eprintln!("wrote {}", path.display());
    Ok(())
}
