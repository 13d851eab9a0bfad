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
    let root = Command::new("id").arg("-u").output().is_ok_and(|o| o.stdout.trim_ascii() == b"0");
    let debian = Path::new("/usr/bin/apt-get").exists();
    if root && debian {
        eprintln!("   installing mesa-vulkan-drivers");
        for args in [&["update"][..], &["install", "-y", "--no-install-recommends", "mesa-vulkan-drivers"]] {
            Command::new("apt-get").args(args).env("DEBIAN_FRONTEND", "noninteractive").output()?;
        }
        if present() {
            return Ok(());
        }
    }
    bail!("no Vulkan driver is installed; the picture tests need one. Run: {INSTALL}")
}

/// Any installed driver will do; the software one is what Debian's package brings.
fn present() -> bool {
    ["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d"]
        .iter()
        .any(|dir| std::fs::read_dir(dir).is_ok_and(|mut files| files.next().is_some()))
        || std::env::var_os("VK_ICD_FILENAMES").is_some()
}
