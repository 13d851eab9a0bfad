//! `toile fabric blend`: a fabric between two others.

use super::Destination;
use crate::resolve::{self, BadRequest};
use anyhow::Result;
use clap::Parser;
use serde_json::json;

/// Make a fabric between two others, each value by its logarithm
#[derive(Parser)]
#[command(after_help = "Example:\n  toile fabric blend silk denim --at 0.5 --name middle --out middle.toml")]
pub struct Args {
    /// The fabric at 0
    from: String,
    /// The fabric at 1
    to: String,
    /// Where between them
    #[arg(long, default_value_t = 0.5)]
    at: f64,
    /// Name of the new fabric
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    out: Destination,
}

pub fn run(args: &Args) -> Result<()> {
    if !(0.0..=1.0).contains(&args.at) {
        return Err(BadRequest(format!("--at {}: 0 to 1", args.at)).into());
    }
    args.out.check([args.from.as_str(), args.to.as_str()])?;
    let mut fabric = resolve::fabric(&args.from)?.towards(&resolve::fabric(&args.to)?, args.at);
    if let Some(name) = &args.name {
        fabric.name.clone_from(name);
    }
    args.out.hand_over(&fabric, json!({}))
}
