//! `toile`: clothing animation from the command line.

mod ask;
mod convert;
mod demo;
mod evaluate;
mod inspect;
mod lab;
mod picture;
mod progress;
mod render;
mod report;
mod reproduce;
mod simulate;
mod train;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Simulate a garment once, learn a stand-in that runs in microseconds.
#[derive(Parser)]
#[command(name = "toile", version, about, max_term_width = 100)]
#[command(after_help = "Start with:  toile demo\n\nBuilt-in assets need no files:  toile inspect --list")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Demo(demo::Args),
    Inspect(inspect::Args),
    Simulate(simulate::Args),
    Train(train::Args),
    Evaluate(evaluate::Args),
    Render(render::Args),
    Convert(convert::Args),
    Lab(lab::Args),
    Reproduce(reproduce::Args),
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", said_once(&error));
            ExitCode::from(exit_code(&error))
        }
    }
}

fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Demo(args) => demo::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Train(args) => train::run(&args),
        Command::Evaluate(args) => evaluate::run(&args),
        Command::Render(args) => render::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Lab(args) => lab::run(&args),
        Command::Reproduce(args) => reproduce::run(&args),
    }
}

/// The error and its causes, each said once: some errors already quote theirs.
fn said_once(error: &anyhow::Error) -> String {
    let mut said = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !said.contains(&cause) {
            said = format!("{said}: {cause}");
        }
    }
    said
}

/// 2 for input that cannot be used, 1 for work that failed.
fn exit_code(error: &anyhow::Error) -> u8 {
    use std::io::ErrorKind;
    use toile_assets::Error;
    for cause in error.chain() {
        if cause.downcast_ref::<ask::BadRequest>().is_some() {
            return 2;
        }
        if let Some(error) = cause.downcast_ref::<Error>() {
            return match error {
                Error::Io { source, .. } => match source.kind() {
                    ErrorKind::NotFound | ErrorKind::PermissionDenied | ErrorKind::IsADirectory => 2,
                    _ => 1,
                },
                _ => 2,
            };
        }
    }
    1
}
