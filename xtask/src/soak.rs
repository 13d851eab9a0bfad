//! Long lists that no change has to wait for. The last log is kept in `soak.log`.

use anyhow::{Result, bail};
use std::process::Command;

/// Runs every test marked `#[ignore]` in release and keeps what it printed.
pub fn run() -> Result<()> {
    let output = Command::new("cargo")
        .args(["test", "--workspace", "--release", "--", "--ignored", "--nocapture", "--test-threads=1"])
        .output()?;
    let log =
        format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let lines: Vec<&str> = log
        .lines()
        .filter(|l| !l.trim_start().starts_with("Compiling") && !l.trim_start().starts_with("Finished"))
        .collect();
    #[allow(clippy::disallowed_methods)] // a log; nothing is lost with half of it
    std::fs::write("soak.log", lines.join("\n"))?;
    print!("{}", lines.join("\n"));
    if !output.status.success() {
        bail!("the soak failed; soak.log has the list");
    }
    Ok(())
}
