//! `toile fabric fit`: parameters from what a fabric shop can measure.

use super::Destination;
use crate::progress;
use crate::resolve::{self, BadRequest};
use anyhow::Result;
use clap::Parser;
use serde_json::json;
use toile_assets::Fabric;
use toile_assets::read::kes::Sheet;
use toile_lab::cusick_drape;

/// Fit a fabric to its weight, bending length (ASTM D1388) and drape coefficient (Cusick, 30 cm on 18 cm)
#[derive(Parser)]
#[command(
    after_help = "The bending length gives the rigidity at once; with it, the drape coefficient gives the shear stiffness; \
    alone, it gives the rigidity. The drape test is simulated for that, about a dozen times.\n\nExamples:\n  \
    toile fabric fit --mass 150 --bending-length 1.9,1.7 --drape 66 --like poplin --out fitted.toml\n  \
    toile fabric fit --mass 85 --drape 30 --like silk --out soft.toml"
)]
pub struct Args {
    /// Mass per area, g/m²
    #[arg(long, value_name = "G/M2")]
    mass: f64,
    /// Bending length in cm: of both directions, or WARP,WEFT
    #[arg(long, value_name = "CM", value_delimiter = ',', num_args = 1..=2)]
    bending_length: Vec<f64>,
    /// Drape coefficient, %
    #[arg(long, value_name = "PERCENT")]
    drape: Option<f64>,
    /// The fabric that everything else is taken from
    #[arg(long, default_value = "cotton", value_name = "FABRIC")]
    like: String,
    /// Name of the new fabric
    #[arg(long, default_value = "fitted")]
    name: String,
    #[command(flatten)]
    to: Destination,
}

/// Rings of the simulated specimen: 331 vertices.
const RINGS: usize = 10;
/// How near a drape coefficient is to be met, %.
const NEAR: f64 = 1.0;
/// Trials of the search.
const TRIALS: usize = 9;
/// By how much the sought value may differ from the start, either way.
const REACH: f64 = 30.0;

pub fn run(args: &Args) -> Result<()> {
    args.to.check([args.like.as_str()])?;
    let like = resolve::fabric(&args.like)?;
    let mut sheet = Sheet::new(args.name.clone());
    sheet.set("GSM", [args.mass; 2]);
    match args.bending_length.as_slice() {
        [] => {}
        [both] => sheet.set("C", [*both; 2]),
        [warp, weft, ..] => sheet.set("C", [*warp, *weft]),
    }
    let mut faults = sheet.faults(true);
    if let Some(drape) = args.drape.filter(|d| !(5.0..=98.0).contains(d)) {
        faults.push(format!("--drape {drape}: a drape coefficient is within 5 to 98 %"));
    }
    if args.bending_length.is_empty() && args.drape.is_none() {
        faults.push("a fit wants --bending-length, --drape or both".into());
    }
    if !faults.is_empty() {
        return Err(BadRequest(faults.join("\n")).into());
    }
    let mut fabric = sheet.fabric(&like);
    let mut more = json!({});
    if let Some(drape) = args.drape {
        let by_shear = !args.bending_length.is_empty();
        let found = search(&fabric, drape, by_shear)?;
        let group = if by_shear { "shear" } else { "bend" };
        let said =
            format!("{group}: fitted to a drape coefficient of {drape} % (simulated: {:.1} %)", found.1);
        fabric = found.0;
        fabric.sources.retain(|s| !s.starts_with(&format!("{group}: ")));
        fabric.sources.push(said);
        eprintln!("drape coefficient {:.1} % (asked: {drape} %)", found.1);
        more = json!({"drape_percent": found.1});
        if (found.1 - drape).abs() > NEAR {
            eprintln!(
                "no {group} stiffness within {REACH} times that of `{}` meets it better: {}",
                args.like,
                if by_shear {
                    "weight, bending length and drape do not fit together"
                } else {
                    "check weight and drape"
                }
            );
        }
    }
    args.to.hand_over(&fabric, more)
}

/// Shear or rigidity multiplied.
fn scaled(fabric: &Fabric, by_shear: bool, factor: f64) -> Fabric {
    let mut f = fabric.clone();
    if by_shear {
        f.shear *= factor;
    } else {
        f.bend_warp *= factor;
        f.bend_weft *= factor;
    }
    f
}

/// The fabric whose simulated drape is nearest, and that drape: halving in the logarithm of the stiffness, which the drape
/// coefficient rises with.
fn search(fabric: &Fabric, drape: f64, by_shear: bool) -> Result<(Fabric, f64)> {
    let bar = progress::bar(TRIALS as u64 + 2, "draping");
    let of = |exponent: f64| -> Result<(Fabric, f64)> {
        let f = scaled(fabric, by_shear, exponent.exp());
        let found = cusick_drape(&f, RINGS, 1)?.coefficient;
        bar.inc(1);
        Ok((f, found))
    };
    let (mut low, mut high) = (-REACH.ln(), REACH.ln());
    let mut best: Option<(Fabric, f64)> = None;
    for _ in 0..TRIALS {
        let middle = 0.5 * (low + high);
        let (f, found) = of(middle)?;
        if found < drape {
            low = middle;
        } else {
            high = middle;
        }
        if best.as_ref().is_none_or(|(_, b)| (found - drape).abs() < (b - drape).abs()) {
            best = Some((f, found));
        }
        if best.as_ref().is_some_and(|(_, b)| (b - drape).abs() < 0.3 * NEAR) {
            break;
        }
    }
    bar.finish_and_clear();
    best.ok_or_else(|| anyhow::anyhow!("nothing was tried"))
}
