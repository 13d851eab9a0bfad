//! The graphics driver, which a fresh machine does not have: pictures are extra, the work goes on without them.

use std::path::Path;
use std::process::Command;
use toile_show::{Error, Page, Renderer};

/// The line that gives pictures.
pub const INSTALL: &str = "sudo apt-get install -y mesa-vulkan-drivers";

/// A renderer, with what loader and driver print themselves kept from the user: he can do nothing about it, and it
/// would be the first thing he reads.
pub fn renderer() -> toile_show::Result<Renderer> {
    let _quiet = quiet::Stderr::silence();
    Renderer::new()
}

/// A renderer for pictures that go with a result; none where there is no driver, and then the user is told how to get
/// them.
pub fn renderer_if_any() -> toile_show::Result<Option<Renderer>> {
    match renderer() {
        Ok(renderer) => Ok(Some(renderer)),
        Err(Error::NoAdapter(_)) => {
            eprintln!("no pictures: there is no Vulkan driver. To have them:\n    {INSTALL}");
            Ok(None)
        }
        Err(e) => Err(e),
    }
}

/// The same after installing the software driver, where the system lets us: as root on a Debian, and where nobody
/// has chosen a driver by hand.
pub fn renderer_installed() -> toile_show::Result<Option<Renderer>> {
    match renderer() {
        Err(Error::NoAdapter(_)) if may_install() => {
            eprintln!("   no Vulkan driver: installing mesa-vulkan-drivers for the pictures");
            install();
            renderer_if_any()
        }
        Err(Error::NoAdapter(_)) => renderer_if_any(),
        other => other.map(Some),
    }
}

/// On a page, where pictures would stand.
pub fn say_on(page: &mut Page) {
    page.paragraph("No pictures: the machine that made this page has no Vulkan driver. To have them, run this and make it again:");
    page.preformatted(INSTALL);
}

fn may_install() -> bool {
    let chosen = ["VK_ICD_FILENAMES", "VK_DRIVER_FILES"].iter().any(|v| std::env::var_os(v).is_some());
    let root = || Command::new("id").arg("-u").output().is_ok_and(|o| o.stdout.trim_ascii() == b"0");
    !chosen && Path::new("/usr/bin/apt-get").exists() && root()
}

/// Where it fails the renderer is not found again, which says enough.
fn install() {
    // A machine without a network is not waited for.
    let give_up_early = ["-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=10"];
    let apt = |args: &[&str]| {
        let mut command = Command::new("apt-get");
        command.args(give_up_early).args(args).env("DEBIAN_FRONTEND", "noninteractive").output()
    };
    let _ = apt(&["update"]);
    let _ = apt(&["install", "-y", "--no-install-recommends", "mesa-vulkan-drivers"]);
}

/// Standard error kept from what drivers say.
#[cfg(unix)]
pub mod quiet {
    use std::os::fd::OwnedFd;

    /// Standard error leads nowhere until this is dropped.
    pub struct Stderr(Option<OwnedFd>);

    impl Stderr {
        pub fn silence() -> Self {
            let kept = rustix::io::dup(std::io::stderr()).ok();
            if kept.is_some()
                && let Ok(nowhere) = std::fs::OpenOptions::new().write(true).open("/dev/null")
            {
                let _ = rustix::stdio::dup2_stderr(nowhere);
            }
            Self(kept)
        }
    }

    impl Drop for Stderr {
        fn drop(&mut self) {
            if let Some(kept) = &self.0 {
                let _ = rustix::stdio::dup2_stderr(kept);
            }
        }
    }
}

#[cfg(not(unix))]
pub mod quiet {
    /// Drivers elsewhere say nothing.
    pub struct Stderr;

    impl Stderr {
        pub fn silence() -> Self {
            Self
        }
    }
}
