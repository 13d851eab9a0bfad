//! Long lists that no change has to wait for.

use anyhow::{Result, bail};
use std::process::Command;

/// Runs every test marked `#[ignore]` with the build of the tests (a release build would optimise every test binary
/// across crates) and shows all that they print.
pub fn run() -> Result<()> {
    let mut soak = Command::new("cargo");
    soak.args([
        "test",
        "--workspace",
        "--no-fail-fast",
        "--",
        "--ignored",
        "--nocapture",
        "--test-threads=1",
    ]);
    if let Some((variable, folder)) = crate::data::found() {
        soak.env(variable, folder);
    }
    if !soak.status()?.success() {
        bail!("the soak failed; the tests above say where");
    }
    Ok(())
}
