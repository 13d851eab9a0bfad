//! `toile fabric tune`: sliders on top of a fabric.

use super::Destination;
use crate::resolve::{self, BadRequest};
use anyhow::Result;
use clap::Parser;
use serde_json::{Map, Value, json};
use toile_assets::{Fabric, Quality, Sliders};

/// Put sliders from 0 to 1 on a fabric: stiff, heavy, stretchy, wrinkly, bouncy
#[derive(Parser)]
#[command(
    after_help = "The scales were measured on simulated scenes (`toile fabric measure`), not rated by people. Sliders that \
    are not given stay where the fabric has them; without any, they are shown.\n\nExamples:\n  \
    toile fabric tune --like denim\n  toile fabric tune --stiff 0.7 --heavy 0.3 --out x.toml\n  \
    toile fabric tune --like silk --bouncy 0.2 --name sleepy-silk --out sleepy.toml"
)]
pub struct Args {
    /// Stands off rather than falls
    #[arg(long)]
    stiff: Option<f64>,
    /// Hangs rather than flies
    #[arg(long)]
    heavy: Option<f64>,
    /// Gives when it is pulled
    #[arg(long)]
    stretchy: Option<f64>,
    /// Buckles rather than shears
    #[arg(long)]
    wrinkly: Option<f64>,
    /// Swings on rather than comes to rest
    #[arg(long)]
    bouncy: Option<f64>,
    /// The fabric that the sliders are put on
    #[arg(long, default_value = "cotton", value_name = "FABRIC")]
    like: String,
    /// Name of the new fabric
    #[arg(long, default_value = "tuned")]
    name: String,
    #[command(flatten)]
    to: Destination,
}

pub fn run(args: &Args) -> Result<()> {
    let like = resolve::fabric(&args.like)?;
    let asked = [args.stiff, args.heavy, args.stretchy, args.wrinkly, args.bouncy];
    let wanted: Vec<(Quality, f64)> =
        Quality::ALL.into_iter().zip(asked).filter_map(|(q, v)| Some((q, v?))).collect();
    let faults: Vec<String> = wanted
        .iter()
        .filter(|(_, v)| !(0.0..=1.0).contains(v))
        .map(|(q, v)| format!("--{} {v}: 0 to 1", q.name()))
        .collect();
    if !faults.is_empty() {
        return Err(BadRequest(faults.join("\n")).into());
    }
    if wanted.is_empty() {
        show(&like, args.to.json);
        return Ok(());
    }
    args.to.check([args.like.as_str()])?;
    let mut fabric = Sliders::tune(&like, &wanted);
    fabric.name = args.name.clone();
    let faults = fabric.absurdities();
    if !faults.is_empty() {
        return Err(BadRequest(faults.join("\n")).into());
    }
    for (quality, slider) in &wanted {
        let group = match quality {
            Quality::Stiff => "bend",
            Quality::Heavy => "density",
            Quality::Stretchy => "stretch",
            Quality::Wrinkly => "shear",
            Quality::Bouncy => "damping_secs",
        };
        fabric.sources.retain(|s| !s.starts_with(&format!("{group}: ")));
        fabric.sources.push(format!("{group}: tuned: {} {slider} on `{}`", quality.name(), like.name));
    }
    args.to.hand_over(&fabric, json!({"sliders": sliders(&fabric)}))
}

fn sliders(fabric: &Fabric) -> Value {
    let places = Quality::ALL.into_iter().zip(Sliders::of(fabric).0);
    Value::Object(places.map(|(q, v)| (q.name().to_string(), json!(v))).collect::<Map<_, _>>())
}

fn show(fabric: &Fabric, as_json: bool) {
    if as_json {
        println!("{}", json!({"name": fabric.name, "sliders": sliders(fabric)}));
        return;
    }
    let beyond = Sliders::beyond(fabric);
    println!("{}", fabric.name);
    for (quality, place) in Quality::ALL.into_iter().zip(Sliders::of(fabric).0) {
        let end = if beyond.contains(&quality) { "  (beyond the end of the scale)" } else { "" };
        let value = quality.of(fabric);
        println!("  {:9} {place:5.2}   {}: {value:.3e}{end}", quality.name(), quality.parameter());
    }
}
