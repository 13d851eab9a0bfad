//! Which crate may know which: `geometry + model ← assets ← simulate ← lab`, `model ← run` (and `simulate`, if asked for),
//! `assets + run ← learn`, `assets + run ← show`.

use anyhow::{Result, bail};
use std::process::Command;

/// Crate, and the crates of ours it may depend on.
const ALLOWED: &[(&str, &[&str])] = &[
    ("geometry", &[]),
    ("model", &[]),
    ("assets", &["geometry", "model"]),
    ("simulate", &["assets", "geometry"]),
    // Nothing depends on the laboratory but the program.
    ("lab", &["assets", "geometry", "simulate"]),
    // `simulate` is optional: what a game links has none of it, as the cap below shows.
    ("run", &["model", "simulate"]),
    ("learn", &["assets", "geometry", "model", "run"]),
    ("show", &["assets", "geometry", "run"]),
    ("cli", &["assets", "geometry", "model", "simulate", "lab", "learn", "run", "show"]),
];

/// A game links `run`: its dependency tree stays small.
const RUN_TREE_CAP: usize = 15;

/// Reads the manifests and counts `run`'s tree.
pub fn check() -> Result<()> {
    let mut faults = Vec::new();
    for (name, allowed) in ALLOWED {
        let manifest = std::fs::read_to_string(format!("crates/{name}/Cargo.toml"))?;
        let dependencies = manifest.split("[dev-dependencies]").next().unwrap_or_default();
        for (other, _) in ALLOWED {
            let named = dependencies.lines().any(|l| l.starts_with(&format!("toile-{other}")));
            if named && !allowed.contains(other) {
                faults.push(format!("`{name}` depends on `{other}`, against the arrows"));
            }
        }
    }
    faults.extend(circle()?);
    let tree = Command::new("cargo")
        .args(["tree", "-p", "toile-run", "-e", "normal", "--prefix", "none", "--no-dedupe"])
        .output()?;
    let mut crates: Vec<String> = String::from_utf8_lossy(&tree.stdout)
        .lines()
        .filter_map(|l| l.split_whitespace().next().map(str::to_string))
        .collect();
    crates.sort();
    crates.dedup();
    if !tree.status.success() || crates.is_empty() || crates.len() > RUN_TREE_CAP {
        faults.push(format!(
            "`run` brings {} crates, {RUN_TREE_CAP} at most: {}",
            crates.len(),
            crates.join(", ")
        ));
    }
    if faults.is_empty() { Ok(()) } else { bail!(faults.join("\n")) }
}

/// Crates that would have to be published before each other: tests count where they ask for a version.
fn circle() -> Result<Option<String>> {
    let mut left: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, _) in ALLOWED {
        let manifest = std::fs::read_to_string(format!("crates/{name}/Cargo.toml"))?;
        let asks = |other: &&str| {
            let of_version = |l: &str| l.starts_with(&format!("toile-{other}")) && l.contains("workspace");
            manifest.lines().any(of_version)
        };
        left.push((name, ALLOWED.iter().map(|(other, _)| *other).filter(asks).collect()));
    }
    while let Some(next) = left.iter().position(|(_, needs)| needs.is_empty()) {
        let (published, _) = left.swap_remove(next);
        left.iter_mut().for_each(|(_, needs)| needs.retain(|other| *other != published));
    }
    let names: Vec<&str> = left.iter().map(|(name, _)| *name).collect();
    Ok((!left.is_empty()).then(|| format!("no order to publish these in: {}", names.join(", "))))
}
