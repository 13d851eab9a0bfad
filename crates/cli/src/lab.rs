//! `toile lab`: the solver against analytic values.

use anyhow::Result;
use clap::Parser;
use serde_json::json;
use toile_simulate::lab;

/// Hold the solver to values that physics gives
#[derive(Parser)]
#[command(after_help = "Example:\n  toile lab --json")]
pub struct Args {
    /// The rows that take minutes, too
    #[arg(long)]
    long: bool,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<()> {
    let rows = lab::all(args.long)?;
    let failed = rows.iter().filter(|r| !r.pass).count();
    if args.json {
        let list: Vec<_> = rows
            .iter()
            .map(|r| {
                json!({"name": r.name, "ours": r.ours, "reference": r.reference,
                       "tolerance": r.tolerance, "pass": r.pass})
            })
            .collect();
        println!("{}", json!({"rows": list, "failed": failed}));
    } else {
        println!("{:52} {:>12} {:>12} {:>10}", "test", "ours", "reference", "tolerance");
        for r in &rows {
            let verdict = if r.pass { "" } else { "  FAILED" };
            println!("{:52} {:12.6} {:12.6} {:10.1e}{verdict}", r.name, r.ours, r.reference, r.tolerance);
        }
    }
    if failed > 0 {
        anyhow::bail!("{failed} of {} rows failed", rows.len());
    }
    Ok(())
}
