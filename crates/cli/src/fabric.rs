//! `toile fabric`: what fabrics there are, what they are made of, and how to get one of your own.

mod blend;
mod fit;
mod import;
mod measured;
mod tune;

use crate::output::Overwrite;
use crate::resolve;
use anyhow::Result;
use clap::{Parser, Subcommand};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use toile_assets::{Fabric, Hysteresis};

/// Named fabrics, measured ones and sliders: list, show, import, fit, blend, tune, measure
#[derive(Parser)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "A fabric of your own is a TOML file with the same keys; name it wherever a fabric is \
    wanted.\n\nExamples:\n  toile fabric\n  toile fabric cotton\n  toile fabric my-wool.toml --json\n  \
    toile fabric denim --toml > my-denim.toml\n  toile fabric import mill.csv --out mill.toml\n  \
    toile fabric fit --mass 150 --bending-length 1.9 --drape 66 --out fitted.toml\n  \
    toile fabric tune --stiff 0.7 --heavy 0.3 --out x.toml"
)]
pub struct Args {
    #[command(subcommand)]
    part: Option<Part>,
    #[command(flatten)]
    show: Show,
}

/// Show a fabric with its values, their ranges and sources
#[derive(Parser)]
#[command(after_help = "Example:\n  toile fabric show wool-flannel")]
struct Show {
    /// A named fabric or a fabric file; all names when not given
    fabric: Option<String>,
    /// As a fabric file, to start one of your own from
    #[arg(long, requires = "fabric")]
    toml: bool,
    /// One JSON object on standard output
    #[arg(long, conflicts_with = "toml")]
    json: bool,
}

/// List the named fabrics
#[derive(Parser)]
#[command(after_help = "Example:\n  toile fabric list --json")]
struct List {
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum Part {
    List(List),
    Show(Show),
    Import(import::Args),
    Fit(fit::Args),
    Blend(blend::Args),
    Tune(tune::Args),
    Measure(measured::Args),
}

/// Where a new fabric goes.
#[derive(clap::Args)]
struct Destination {
    /// The fabric file to write; printed when not given
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    overwrite: Overwrite,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

impl Destination {
    /// Refuses, before any work, what may not be written.
    fn check<'a>(&self, inputs: impl IntoIterator<Item = &'a str>) -> Result<()> {
        self.out.as_ref().map_or(Ok(()), |out| self.overwrite.check(out, inputs))
    }

    /// Writes or prints; `more` is added to the JSON.
    fn hand_over(&self, fabric: &Fabric, more: Value) -> Result<()> {
        if let Some(out) = &self.out {
            toile_assets::write::write_atomically(out, fabric.to_toml().as_bytes())?;
            eprintln!("wrote {}", out.display());
        }
        if self.json {
            let mut all = value(fabric);
            if let (Value::Object(all), Value::Object(more)) = (&mut all, more) {
                all.extend(more);
            }
            println!("{all}");
        } else if self.out.is_none() {
            print!("{}", printed(fabric));
        }
        Ok(())
    }
}

pub fn run(args: &Args) -> Result<()> {
    match &args.part {
        None => show(&args.show),
        Some(Part::List(args)) => {
            list(args.json);
            Ok(())
        }
        Some(Part::Show(args)) => show(args),
        Some(Part::Import(args)) => import::run(args),
        Some(Part::Fit(args)) => fit::run(args),
        Some(Part::Blend(args)) => blend::run(args),
        Some(Part::Tune(args)) => tune::run(args),
        Some(Part::Measure(args)) => measured::run(args),
    }
}

fn show(args: &Show) -> Result<()> {
    let Some(name) = &args.fabric else {
        list(args.json);
        return Ok(());
    };
    let fabric = resolve::fabric(name)?;
    if args.toml {
        print!("{}", printed(&fabric));
    } else if args.json {
        println!("{}", value(&fabric));
    } else {
        println!("{}", fabric.name);
        let lost = fabric.hysteresis.iter().flat_map(Hysteresis::values);
        for (key, number, unit, range) in fabric.values().into_iter().chain(lost) {
            let (lo, hi) = range.into_inner();
            println!("  {key:20} {number:>12?} {unit:6} ({lo:?} to {hi:?})");
        }
        for source in &fabric.sources {
            println!("  source: {source}");
        }
    }
    Ok(())
}

fn list(as_json: bool) {
    if as_json {
        let rows: Vec<Value> =
            Fabric::BUILT_IN.iter().map(|(name, about)| json!({"name": name, "about": about})).collect();
        println!("{}", json!({ "fabrics": rows }));
        return;
    }
    for (name, about) in Fabric::BUILT_IN {
        println!("{name:16} {about}");
    }
    println!("`toile fabric cotton` shows one; simulate --fabric takes a name or a file");
}

fn value(fabric: &Fabric) -> Value {
    let mut values = json!({});
    let lost = fabric.hysteresis.iter().flat_map(Hysteresis::values);
    for (key, number, unit, range) in fabric.values().into_iter().chain(lost) {
        let (lo, hi) = range.into_inner();
        values[key] = json!({"value": number, "unit": unit, "least": lo, "most": hi});
    }
    let [bending_length_m, density, stretch, shear, damping_secs] = fabric.heard().map(f64::exp);
    let heard = json!({"bending_length_m": bending_length_m, "density": density, "stretch": stretch,
                       "shear": shear, "damping_secs": damping_secs});
    json!({"name": fabric.name, "values": values, "heard": heard, "sources": fabric.sources})
}

/// As a file to start one's own from: without the mark that lets Toile overwrite what it has written.
fn printed(fabric: &Fabric) -> String {
    let toml = fabric.to_toml();
    toml.split_inclusive('\n').filter(|line| !line.contains(toile_assets::write::MARK)).collect()
}

/// A name that can be a file's.
pub fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect()
}

/// A folder for several fabrics.
fn write_all(folder: &Path, overwrite: Overwrite, fabrics: &[Fabric]) -> Result<()> {
    Overwrite::folder(folder)?;
    let paths: Vec<PathBuf> =
        fabrics.iter().map(|f| folder.join(format!("{}.toml", file_name(&f.name)))).collect();
    for (k, path) in paths.iter().enumerate() {
        if paths[..k].contains(path) {
            let what = format!("two cloths would be written to {}; rename one of them", path.display());
            return Err(resolve::BadRequest(what).into());
        }
        overwrite.check(path, [])?;
    }
    for (path, fabric) in paths.iter().zip(fabrics) {
        toile_assets::write::write_atomically(path, fabric.to_toml().as_bytes())?;
        eprintln!("wrote {}", path.display());
    }
    Ok(())
}
