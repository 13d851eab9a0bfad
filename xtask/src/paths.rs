//! Every path that ARCHITECTURE.md names exists.

use anyhow::{Result, bail};
use std::path::Path;

/// Looks at everything in backticks that has a slash or a known file ending.
pub fn check() -> Result<()> {
    let text = std::fs::read_to_string("ARCHITECTURE.md")?;
    if text.lines().count() > 120 {
        bail!("ARCHITECTURE.md has {} lines, 120 at most", text.lines().count());
    }
    let named: Vec<&str> = text
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|s| !s.contains([' ', '*', '<', ':', '(']))
        .filter(|s| s.contains('/') || [".rs", ".md", ".toml"].iter().any(|end| s.ends_with(end)))
        .collect();
    let missing: Vec<&str> = named.iter().copied().filter(|p| !Path::new(p).exists()).collect();
    if named.is_empty() || !missing.is_empty() {
        bail!("ARCHITECTURE.md names what does not exist: {}", missing.join(", "));
    }
    Ok(())
}
