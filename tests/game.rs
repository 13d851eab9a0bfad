//! A game outside of this workspace builds with `toile-run` alone and plays a model.

#[path = "../crates/run/tests/synthetic/mod.rs"]
mod synthetic;

use std::path::Path;
use std::process::Command;

#[test]
fn a_game_that_links_only_run_loads_a_model_and_steps_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let game = root.join("examples/game");
    // The versions that this workspace has been fetched with, so that nothing is downloaded for a test.
    std::fs::copy(root.join("Cargo.lock"), game.join("Cargo.lock")).unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("game");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("noise.toile");
    synthetic::model(synthetic::SMALL, 1).write(&path).unwrap();

    let run = |model: &Path| {
        let out = Command::new(env!("CARGO"))
            .args(["run", "--quiet", "--offline", "--target-dir"])
            .arg(folder.join("target"))
            .arg("--manifest-path")
            .arg(game.join("Cargo.toml"))
            .arg("--")
            .arg(model)
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (out.status.success(), text(&out.stdout), text(&out.stderr))
    };
    let (good, said, trouble) = run(&path);
    assert!(good && said.contains("10 garments of 53 vertices"), "{said}{trouble}");

    // A changed byte is refused with the file's name, not played.
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.len() - 100;
    bytes[at] ^= 0x40;
    let damaged = folder.join("damaged.toile");
    std::fs::write(&damaged, bytes).unwrap();
    let (good, _, trouble) = run(&damaged);
    assert!(!good && trouble.contains("damaged.toile"), "{trouble}");
}
