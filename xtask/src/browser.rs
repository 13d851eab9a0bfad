//! The demo's report in a real browser. Needs Chromium and playwright-core; without them it is skipped, loudly.

use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

const CHROMIUM: &str = "/usr/bin/chromium";

/// Opens the report of the demo that the tests made, in two widths, light and dark.
pub fn check() -> Result<()> {
    let target = PathBuf::from(std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".into()));
    let folder = target.join("browser");
    std::fs::create_dir_all(&folder)?;
    if let Err(why) = tools(&folder) {
        eprintln!("!! SKIPPED: the report was NOT opened in a browser: {why:#}");
        eprintln!("!! To have it checked: sudo apt-get install -y chromium nodejs npm");
        return Ok(());
    }
    let page = target.join("tmp/demo/report.html");
    if !page.exists() {
        bail!("{} is not there: the test `demo` leaves it", page.display());
    }
    let seen = Command::new("node")
        .arg("xtask/src/browser.mjs")
        .arg(&page)
        .arg(&folder)
        .arg(folder.join("node_modules"))
        .output()?;
    if !seen.status.success() {
        bail!("the report in Chromium:\n{}", String::from_utf8_lossy(&seen.stderr));
    }
    eprintln!("   pictures of it: {}/report-*.png", folder.display());
    Ok(())
}

/// Opens the viewer's page as a user would: it plays, takes files, says what is wrong, on a desk and on a phone.
pub fn check_page(page: &Path) -> Result<()> {
    let target = PathBuf::from(std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".into()));
    let folder = target.join("browser");
    std::fs::create_dir_all(&folder)?;
    tools(&folder)?;
    let built = ["debug", "quick", "release"].map(|profile| target.join(profile).join("toile"));
    let Some(program) = built.iter().find(|p| p.exists()) else {
        bail!("the page is served by the program: cargo build first");
    };
    let mut node = Command::new("node");
    node.arg("xtask/src/page.mjs").arg(program).arg(page).arg(&folder).arg(folder.join("node_modules"));
    let report = target.join("tmp/demo/report.html");
    // Reports carry the viewer where it was built before them.
    let live = std::fs::read_to_string(&report).is_ok_and(|text| text.contains("live-module"));
    if live {
        node.arg(&report);
    } else {
        eprintln!("   no report with a live view: `toile demo --out {}/tmp/demo`", target.display());
    }
    let seen = node.output()?;
    if !seen.status.success() {
        bail!("the page in Chromium:\n{}", String::from_utf8_lossy(&seen.stderr));
    }
    eprintln!("   pictures of it: {}/page-*.png", folder.display());
    Ok(())
}

/// Installs what is missing where that is allowed.
fn tools(folder: &Path) -> Result<()> {
    let found =
        |program: &str| Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success());
    let wanted: Vec<&str> = [("chromium", CHROMIUM), ("nodejs", "node"), ("npm", "npm")]
        .into_iter()
        .filter(|(_, program)| !found(program))
        .map(|(package, _)| package)
        .collect();
    if !wanted.is_empty() {
        crate::driver::install(&wanted)?;
    }
    if !folder.join("node_modules/playwright-core/package.json").exists() {
        eprintln!("   installing playwright-core");
        let npm =
            ["install", "--no-save", "--no-audit", "--no-fund", "--silent", "playwright-core@1", "--prefix"];
        let out = Command::new("npm").args(npm).arg(folder).output()?;
        if !out.status.success() {
            bail!("npm could not install playwright-core: {}", String::from_utf8_lossy(&out.stderr));
        }
    }
    Ok(())
}
