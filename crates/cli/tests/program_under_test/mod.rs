//! Runs the program as a user does.

#![allow(dead_code)] // not every test needs all of it

use std::process::{Command, Output};

/// Runs `toile` and waits for its end.
pub fn toile(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_toile")).args(args).output().expect("the program starts")
}

/// What it said.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs it, sees that it succeeds, and returns what it printed.
pub fn ok(args: &[&str]) -> String {
    let out = toile(args);
    assert!(out.status.success(), "{args:?}: {}", text(&out.stderr));
    text(&out.stdout)
}
