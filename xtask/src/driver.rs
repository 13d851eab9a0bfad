//! The software Vulkan driver that the pictures in the tests need.

use anyhow::{Result, bail};
use std::path::Path;
use std::process::Command;

const INSTALL: &str = "sudo apt-get install -y mesa-vulkan-drivers";

/// Installs the driver where that is allowed; says what to run where it is not.
pub fn ensure() -> Result<()> {
    if present() {
        return Ok(());
    }
    if install(&["mesa-vulkan-drivers"]).is_ok() && present() {
        return Ok(());
    }
    bail!("no Vulkan driver is installed; the picture tests need one. Run: {INSTALL}")
}

/// Installs a screen that nobody looks at, and what windows need of it; where that is not allowed the test of the window
/// says that it is left out.
pub fn screen() -> Result<()> {
    let there = |path: &str| Path::new(path).exists();
    let library = |name: &str| there(&format!("/usr/lib/{}-linux-gnu/{name}", std::env::consts::ARCH));
    let windows = ["libX11-xcb.so.1", "libXcursor.so.1", "libXi.so.6", "libxkbcommon-x11.so.0"];
    if there("/usr/bin/Xvfb") && windows.into_iter().all(library) {
        return Ok(());
    }
    let packages = ["xvfb", "libx11-xcb1", "libxcursor1", "libxi6", "libxkbcommon-x11-0"];
    if let Err(why) = install(&packages) {
        eprintln!("!! No window will be opened in the tests: {why:#}");
        eprintln!("!! To have it tested: sudo apt-get install -y {}", packages.join(" "));
    }
    Ok(())
}

/// Installs Debian packages, as root on a Debian; says why not elsewhere.
pub fn install(packages: &[&str]) -> Result<()> {
    let root = Command::new("id").arg("-u").output().is_ok_and(|o| o.stdout.trim_ascii() == b"0");
    let missing = packages.join(", ");
    if !root || !Path::new("/usr/bin/apt-get").exists() {
        bail!("{missing} missing, and only root on a Debian may install them");
    }
    eprintln!("   installing {missing}");
    let apt = |args: &[&str]| {
        Command::new("apt-get").args(args).args(packages).env("DEBIAN_FRONTEND", "noninteractive").output()
    };
    Command::new("apt-get").arg("update").output()?;
    if !apt(&["install", "-y", "--no-install-recommends"])?.status.success() {
        bail!("apt-get could not install {missing}");
    }
    Ok(())
}

/// Any installed driver will do; the software one is what Debian's package brings.
fn present() -> bool {
    ["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d"]
        .iter()
        .any(|dir| std::fs::read_dir(dir).is_ok_and(|mut files| files.next().is_some()))
        || std::env::var_os("VK_ICD_FILENAMES").is_some()
}
