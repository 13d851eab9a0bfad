//! Long lists that no change has to wait for. The last log is kept in `soak.log`.

use anyhow::{Result, bail};
use std::process::Command;

/// Runs every test marked `#[ignore]` with the build of the tests (a release build would optimise every test binary
/// across crates) and keeps what it printed.
pub fn run() -> Result<()> {
    let output = Command::new("cargo")
        .args(["test", "--workspace", "--", "--ignored", "--nocapture", "--test-threads=1"])
        .output()?;
    let log =
        format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let lines: Vec<&str> = log
        .lines()
        .filter(|l| l.starts_with("test ") || l.starts_with("seed ") || l.contains("panicked"))
        .filter(|l| !l.contains("result: ok. 0 passed"))
        .collect();
    #[allow(clippy::disallowed_methods)] // a log; nothing is lost with half of it
    std::fs::write("soak.log", lines.join("\n"))?;
    print!("{}", lines.join("\n"));
    if !output.status.success() {
        bail!("the soak failed; soak.log has the list");
    }
    Ok(())
}
