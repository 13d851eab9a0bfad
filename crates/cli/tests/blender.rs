//! What Blender makes of our files and we of its: runs where Python has the module `bpy` (`TOILE_PYTHON` names another
//! interpreter than `python3`), and says so where it has not.

use std::path::Path;
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn python() -> Option<String> {
    let program = std::env::var("TOILE_PYTHON").unwrap_or_else(|_| "python3".into());
    let said =
        Command::new(&program).args(["-c", "import bpy, numpy; print('here', flush=True)"]).output().ok()?;
    // The module is known to crash when its interpreter ends; what it printed before counts.
    String::from_utf8_lossy(&said.stdout).contains("here").then_some(program)
}

fn toile(args: &[&str], folder: &Path) -> String {
    let out = Command::new(env!("CARGO_BIN_EXE_toile")).args(args).current_dir(folder).output().unwrap();
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).into_owned()
}

#[test]
fn blender_reads_alembic_and_the_guides_line_brings_fbx_in() {
    let Some(python) = python() else {
        eprintln!(
            "SKIPPED: no Python with bpy; `pip install bpy` and TOILE_PYTHON to have Blender look at our files"
        );
        return;
    };
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("blender");
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    let said = |arguments: &[&str]| {
        let out = Command::new(&python).args(arguments).current_dir(&dir).output().unwrap();
        format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr))
    };
    let animate = ["animate", "--no-drape", "--garment", "skirt:300", "--motion", "walk", "--seconds", "0.5"];
    for out in ["walk.abc", "walk.pc2"] {
        toile(&[&animate[..], &["--out", out]].concat(), &dir);
    }
    let check = format!("{ROOT}/examples/blender/check_abc.py");
    let seen = said(&[&check, "walk.abc", "walk.pc2"]);
    let worst = seen.rsplit("walk.pc2 ").next().and_then(|t| t.split(' ').next()?.parse::<f64>().ok());
    assert!(seen.contains(" 0 turned over") && worst.is_some_and(|w| w < 1e-5), "{seen}");

    toile(&["convert", "mannequin:female", "given.glb"], &dir);
    said(&[
        "-c",
        "import bpy; bpy.ops.wm.read_factory_settings(use_empty=True); bpy.ops.import_scene.gltf(filepath='given.glb'); \
         bpy.ops.export_scene.fbx(filepath='hero.fbx')",
    ]);
    let guide = include_str!("../../../docs/guide.md");
    let line = guide.lines().find(|l| l.contains("import_scene.fbx")).expect("the guide has the line");
    let expression = line.split('"').nth(1).expect("between quotes");
    let log = said(&["-c", expression]);
    assert!(dir.join("hero.glb").exists(), "{log}");
    let count = |name: &str, key: &str| -> u64 {
        let value: serde_json::Value =
            serde_json::from_str(&toile(&["inspect", name, "--json"], &dir)).unwrap();
        value[key].as_u64().unwrap()
    };
    assert_eq!(count("hero.glb", "triangles"), count("given.glb", "triangles"));
    assert!(count("hero.glb", "joints") >= count("given.glb", "joints"), "none is lost");
    std::fs::remove_dir_all(&dir).unwrap();
}
