//! `toile`: clothing animation from the command line.

// First: the others print with its macros.
#[macro_use]
mod say;

mod adaptive;
mod advise;
mod animate;
mod compare;
mod convert;
mod crowd;
mod demo;
mod driver;
mod evaluate;
mod fabric;
mod inspect;
mod interrupt;
mod lab;
mod morphs;
mod output;
mod pacing;
mod picture;
mod progress;
mod render;
mod report;
mod reproduce;
mod resolve;
mod resume;
mod schedule;
mod simulate;
mod surroundings;
mod tiers;
mod train;
mod view;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::process::ExitCode;
use toile_assets::{Error, FileError};

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
    Animate(animate::Args),
    Compare(compare::Args),
    Render(render::Args),
    View(view::Args),
    Convert(convert::Args),
    Fabric(fabric::Args),
    Crowd(crowd::Args),
    Lab(lab::Args),
    Reproduce(reproduce::Args),
}

fn main() -> ExitCode {
    let command = match understood(Cli::command().get_matches()) {
        Ok(command) => command,
        Err(error) => error.exit(),
    };
    match run(command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", said_once(&error));
            ExitCode::from(exit_code(&error))
        }
    }
}

/// What is asked for; options that go with each other only in some commands are looked at here.
fn understood(given: clap::ArgMatches) -> Result<Command, clap::Error> {
    if let Some(("train", given)) = given.subcommand() {
        let mut all = Cli::command();
        all.build();
        let train = all.find_subcommand("train").expect("a command that was given is there").clone();
        train::refuse_options_of_the_other_kind(train, given)?;
    }
    Ok(Cli::from_arg_matches(&given)?.command)
}

fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Demo(args) => demo::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Train(args) => train::run(&args),
        Command::Evaluate(args) => evaluate::run(&args),
        Command::Animate(args) => animate::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Render(args) => render::run(&args),
        Command::View(args) => view::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Fabric(args) => fabric::run(&args),
        Command::Crowd(args) => crowd::run(&args),
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

/// 2 for input that cannot be used, 1 for work that failed, 130 for Ctrl-C.
fn exit_code(error: &anyhow::Error) -> u8 {
    for cause in error.chain() {
        if cause.downcast_ref::<resolve::BadRequest>().is_some() {
            return 2;
        }
        if cause.downcast_ref::<interrupt::Stopped>().is_some() {
            return 130;
        }
        if let Some(error) = cause.downcast_ref::<Error>() {
            return asset_code(error);
        }
        // A model is read by a crate of its own.
        if let Some(error) = cause.downcast_ref::<FileError>() {
            return file_code(error);
        }
        match cause.downcast_ref::<toile_simulate::Error>() {
            Some(toile_simulate::Error::Asset(error)) => return asset_code(error),
            Some(toile_simulate::Error::Scene(_)) => return 2,
            _ => {}
        }
    }
    1
}

fn asset_code(error: &Error) -> u8 {
    match error {
        Error::File(error) => file_code(error),
        _ => 2,
    }
}

fn file_code(error: &FileError) -> u8 {
    use std::io::ErrorKind;
    match error {
        FileError::Io { source, .. } => match source.kind() {
            ErrorKind::NotFound
            | ErrorKind::PermissionDenied
            | ErrorKind::IsADirectory
            | ErrorKind::NotADirectory
            | ErrorKind::AlreadyExists
            | ErrorKind::InvalidData => 2,
            _ => 1,
        },
        _ => 2,
    }
}
