//! Real characters, clips and garments, which are no part of the project: tests that measure on them run where they are.

use std::path::PathBuf;

/// The variable that names the folder to the tests.
const VARIABLE: &str = "TOILE_DATA";

/// The folder that the variable names, or else the one that stands beside the project.
pub fn found() -> Option<(&'static str, PathBuf)> {
    let named = std::env::var_os(VARIABLE).map(PathBuf::from);
    let beside = || PathBuf::from("../shared/data").canonicalize().ok();
    named.or_else(beside).filter(|folder| folder.is_dir()).map(|folder| (VARIABLE, folder))
}

/// Says whether the tests on real files will run.
pub fn say() {
    match found() {
        Some((_, folder)) => eprintln!("   with real files from {}", folder.display()),
        None => eprintln!(
            "!! SKIPPED: tests on real files; {VARIABLE} names no folder and ../shared/data is not there"
        ),
    }
}
