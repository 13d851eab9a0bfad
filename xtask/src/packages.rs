//! Every crate can be published: `cargo package` has no complaint about any of them.

use anyhow::{Result, bail};
use std::process::Command;

/// Packs all crates without building them; whatever cargo warns about is a fault.
pub fn check() -> Result<()> {
    let program = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let packed = Command::new(program)
        .args([
            "package",
            "--workspace",
            "--exclude",
            "xtask",
            "--no-verify",
            "--allow-dirty",
            "--exclude-lockfile",
        ])
        .output()?;
    let said = String::from_utf8_lossy(&packed.stderr);
    let complaints: Vec<&str> =
        said.lines().filter(|l| l.starts_with("warning") || l.starts_with("error")).collect();
    if !packed.status.success() || !complaints.is_empty() {
        bail!("cargo package:\n{said}");
    }
    Ok(())
}
