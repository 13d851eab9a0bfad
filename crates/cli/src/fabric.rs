//! `toile fabric`: what fabrics there are and what they are made of.

use crate::resolve;
use anyhow::Result;
use clap::Parser;
use serde_json::{Value, json};
use toile_assets::Fabric;

/// List the named fabrics, or show one with its values, their ranges and sources
#[derive(Parser)]
#[command(
    after_help = "A fabric of your own is a TOML file with the same keys; name it wherever a fabric is \
    wanted.\n\nExamples:\n  toile fabric\n  toile fabric cotton\n  toile fabric my-wool.toml --json\n  \
    toile fabric denim --toml > my-denim.toml"
)]
pub struct Args {
    /// A named fabric or a fabric file; all names when not given
    fabric: Option<String>,
    /// As a fabric file, to start one of your own from
    #[arg(long, requires = "fabric")]
    toml: bool,
    /// One JSON object on standard output
    #[arg(long, conflicts_with = "toml")]
    json: bool,
}

pub fn run(args: &Args) -> Result<()> {
    let Some(name) = &args.fabric else {
        list(args.json);
        return Ok(());
    };
    let fabric = resolve::fabric(name)?;
    if args.toml {
        print!("{}", toml(&fabric));
    } else if args.json {
        println!("{}", value(&fabric));
    } else {
        println!("{}", fabric.name);
        for (key, number, unit, range) in fabric.values() {
            let (lo, hi) = range.into_inner();
            println!("  {key:14} {number:>12?} {unit:6} ({lo:?} to {hi:?})");
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
        println!("{name:8} {about}");
    }
    println!("`toile fabric cotton` shows one; simulate --fabric takes a name or a file");
}

fn value(fabric: &Fabric) -> Value {
    let mut values = json!({});
    for (key, number, unit, range) in fabric.values() {
        let (lo, hi) = range.into_inner();
        values[key] = json!({"value": number, "unit": unit, "least": lo, "most": hi});
    }
    json!({"name": fabric.name, "values": values, "sources": fabric.sources})
}

/// The text of a fabric file.
fn toml(fabric: &Fabric) -> String {
    let mut text = format!("name = {:?}\n", fabric.name);
    for (key, number, unit, _) in fabric.values() {
        let unit = if unit.is_empty() { String::new() } else { format!("  # {unit}") };
        text.push_str(&format!("{key} = {number:?}{unit}\n"));
    }
    text.push_str("sources = [\n");
    for source in &fabric.sources {
        text.push_str(&format!("  {source:?},\n"));
    }
    text + "]\n"
}
