//! The project's chores. `cargo xtask test` is what the README and CI run; `cargo xtask soak` is for long lists.

mod arrows;
mod browser;
mod data;
mod driver;
mod fitted;
mod numbers;
mod packages;
mod paths;
mod soak;
mod web;

use anyhow::{Context, Result, bail};
use std::process::{Command, ExitCode};
use std::time::Instant;

fn main() -> ExitCode {
    match chore() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn chore() -> Result<()> {
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))?;
    match std::env::args().nth(1).as_deref() {
        Some("test") => test(),
        Some("soak") => soak::run(),
        Some("web") => web::run(std::env::args().nth(2).as_deref() == Some("--check")),
        Some("fitted") => fitted::make(std::env::args().nth(2).as_deref()),
        Some("numbers") => numbers::update(std::env::args().nth(2).as_deref()),
        _ => {
            eprintln!(
                "cargo xtask test   everything a change must pass, 20 minutes at most from a fresh clone\n\
                 cargo xtask soak   the long lists\n\
                 cargo xtask web [--check]   the viewer as a static page in target/web; --check opens it in a browser\n\
                 cargo xtask fitted [FOLDER]   the picture of garments on every character\n\
                 cargo xtask numbers [DEMO-FOLDER]   README's figures and film from a finished demo"
            );
            bail!("no such chore")
        }
    }
}

/// Formatting, lints, the house rules, all tests, examples and docs, in that order: cheap faults first.
fn test() -> Result<()> {
    let mut steps = Steps::default();
    steps.run("format", || cargo(&["fmt", "--all", "--check"]))?;
    steps.run("arrows between crates", arrows::check)?;
    steps.run("paths in ARCHITECTURE.md", paths::check)?;
    steps.run("figures in README.md", numbers::check)?;
    steps.run("packages", packages::check)?;
    steps.run("software Vulkan driver", driver::ensure)?;
    steps.run("a screen for the window", driver::screen)?;
    steps.run("clippy", || {
        cargo(&[
            "clippy",
            "--workspace",
            "--all-targets",
            "--features",
            EVERY_TIER,
            "--quiet",
            "--",
            "-D",
            "warnings",
        ])
    })?;
    steps.run("clippy of what a game links", || {
        cargo(&["clippy", "-p", "toile-run", "--quiet", "--", "-D", "warnings"])
    })?;
    steps.run("tests, those in the docs too", || {
        data::say();
        cargo(&["test", "--workspace", "--features", EVERY_TIER, "--quiet"])
    })?;
    steps.run("the report in a browser", browser::check)?;
    steps.run("examples", examples)?;
    steps.run("docs", || cargo(&["doc", "--workspace", "--no-deps", "--quiet"]))?;
    steps.print();
    Ok(())
}

/// The C door with everything behind it.
const EVERY_TIER: &str = "toile-c/simulate";

/// Runs every numbered example as the tests' build left it; each ends in a check of its own. Asking cargo to run
/// them would build all dependencies again with one package's features.
fn examples() -> Result<()> {
    let mut names: Vec<String> = std::fs::read_dir("examples")?
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.extension().is_some_and(|x| x == "rs"))
        .filter_map(|p| Some(p.file_stem()?.to_str()?.to_string()))
        .collect();
    names.sort();
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".into());
    for name in names {
        let program = format!("{target}/debug/examples/{name}");
        let status = Command::new(&program).status().with_context(|| program.clone())?;
        if !status.success() {
            bail!("example {name} failed");
        }
    }
    Ok(())
}

/// Runs cargo with warnings in docs and code as errors.
fn cargo(args: &[&str]) -> Result<()> {
    let program = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let mut command = Command::new(program);
    command.args(args).env("RUSTDOCFLAGS", "-D warnings");
    if let Some((variable, folder)) = data::found() {
        command.env(variable, folder);
    }
    let status = command.status()?;
    if !status.success() {
        bail!("`cargo {}` failed", args.join(" "));
    }
    Ok(())
}

/// Names and times the steps so that a slow one is seen.
#[derive(Default)]
struct Steps {
    done: Vec<(String, f64)>,
}

impl Steps {
    #[allow(clippy::disallowed_methods)] // the chores report how long they took
    fn run(&mut self, name: &str, step: impl FnOnce() -> Result<()>) -> Result<()> {
        eprintln!("── {name}");
        let start = Instant::now();
        step().with_context(|| format!("step `{name}`"))?;
        self.done.push((name.to_string(), start.elapsed().as_secs_f64()));
        Ok(())
    }

    fn print(&self) {
        let total: f64 = self.done.iter().map(|(_, s)| s).sum();
        for (name, secs) in &self.done {
            eprintln!("{secs:7.1} s  {name}");
        }
        eprintln!("{total:7.1} s  in all: everything passed");
    }
}
