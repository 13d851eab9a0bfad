//! The viewer as a static folder: WebAssembly, its page, and a gallery.

use crate::{browser, driver};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "wasm32-unknown-unknown";
/// Every browser that has WebGPU has 128-bit vectors too.
const FLAGS: (&str, &str) = ("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", "-C target-feature=+simd128");

/// Builds the page; with `--check` also opens it in a browser.
pub fn run(check: bool) -> Result<()> {
    let folder = build()?;
    eprintln!("{}: a static folder; `toile view --web` serves it", folder.display());
    if check { browser::check_page(&folder) } else { Ok(()) }
}

fn target() -> PathBuf {
    PathBuf::from(std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".into()))
}

/// Everything into `target/web`.
pub fn build() -> Result<PathBuf> {
    let (target, folder) = (target(), target().join("web"));
    let building = target.join("web-build");
    let mut cargo = compiler()?;
    cargo.args(["build", "--target", TARGET, "-p", "toile-web", "--profile", "web", "--target-dir"]);
    if !cargo.arg(&building).status()?.success() {
        bail!("the viewer did not compile for {TARGET}");
    }
    let wasm = building.join(TARGET).join("web/toile_web.wasm");
    std::fs::create_dir_all(folder.join("pkg"))?;
    let mut bind = Command::new("cargo");
    bind.args([
        "run",
        "--release",
        "--quiet",
        "--manifest-path",
        "bindings/web/bind/Cargo.toml",
        "--target-dir",
    ]);
    bind.arg(target.join("web-bind")).arg("--").arg(&wasm).arg(folder.join("pkg"));
    if !bind.status()?.success() {
        bail!("{}: no bindings could be made", wasm.display());
    }
    let module = folder.join("pkg/toile_web_bg.wasm");
    // For reports, which carry the viewer in themselves.
    let packed = Command::new("gzip").args(["-9", "-k", "-f"]).arg(&module).status();
    packed.ok().filter(std::process::ExitStatus::success).context("gzip is missing")?;
    for name in ["index.html", "page.js"] {
        std::fs::copy(format!("bindings/web/page/{name}"), folder.join(name))?;
    }
    gallery(&folder, &target)?;
    Ok(folder)
}

/// A cargo that compiles for the web: rustup's where its target is installed, else Debian's packages, which bring the
/// standard library as source.
fn compiler() -> Result<Command> {
    let installed = Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).output()?;
    let library = String::from_utf8_lossy(&installed.stdout).trim().to_string();
    if installed.status.success() && Path::new(&library).is_dir() {
        let mut cargo = Command::new("cargo");
        cargo.env(FLAGS.0, FLAGS.1);
        return Ok(cargo);
    }
    let there = |path: &str| Path::new(path).exists();
    if !(there("/usr/lib/rustlib/src/rust/library/std")
        && there("/usr/bin/wasm-ld")
        && there("/usr/bin/cargo"))
    {
        driver::install(&["rustc-web", "cargo-web", "rust-web-src", "lld"]).context(
            "no compiler for the web. Either `rustup target add wasm32-unknown-unknown`, or on a Debian as root: \
             apt-get install -y rustc-web cargo-web rust-web-src lld",
        )?;
    }
    let mut cargo = Command::new("/usr/bin/cargo");
    cargo.args(["-Z", "build-std=std,panic_abort"]);
    // What rustup set for its own cargo must not reach Debian's.
    for name in ["RUSTUP_TOOLCHAIN", "RUSTC", "CARGO", "RUSTUP_HOME"] {
        cargo.env_remove(name);
    }
    cargo
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("RUSTC", "/usr/bin/rustc")
        .env("RUSTC_BOOTSTRAP", "1");
    cargo.env(FLAGS.0, FLAGS.1).env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", "wasm-ld");
    Ok(cargo)
}

/// What the page offers to look at: built-in clothes, and the learned dress with its truth where a demo has left one.
fn gallery(folder: &Path, target: &Path) -> Result<()> {
    let mut list = vec![
        serde_json::json!({ "title": "dress", "files": [], "names": ["mannequin:female", "dress", "walk"] }),
        serde_json::json!({ "title": "skirt, spinning", "files": [], "names": ["mannequin:female", "skirt", "spin"] }),
    ];
    let demo = [Path::new("toile-demo"), &target.join("tmp/demo")].into_iter().find_map(|demo| {
        let model = ending(demo, "toile")?;
        Some((model, ending(&demo.join("takes"), "take").or_else(|| ending(&demo.join("test"), "take"))))
    });
    if let Some((model, take)) = demo {
        let into = folder.join("gallery");
        std::fs::create_dir_all(&into)?;
        std::fs::copy(&model, into.join("dress.toile"))?;
        let mut files = vec!["gallery/dress.toile"];
        if let Some(take) = take {
            std::fs::copy(&take, into.join("dress.take"))?;
            files.push("gallery/dress.take");
        }
        list.insert(
            0,
            serde_json::json!({ "title": "learned dress", "files": files, "names": ["mannequin:female"] }),
        );
    } else {
        eprintln!("   no learned garment in the gallery: `toile demo` makes one");
    }
    std::fs::write(folder.join("gallery.json"), serde_json::to_string_pretty(&list)?)?;
    Ok(())
}

/// The first file with this ending.
fn ending(folder: &Path, ending: &str) -> Option<PathBuf> {
    let files = std::fs::read_dir(folder).ok()?.filter_map(|e| Some(e.ok()?.path()));
    let mut found: Vec<PathBuf> = files.filter(|p| p.extension().is_some_and(|x| x == ending)).collect();
    found.sort();
    found.into_iter().next()
}
