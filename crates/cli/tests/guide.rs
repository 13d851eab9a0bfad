//! Every command of `docs/guide.md` runs, in its order, on a character, a garment and motions as files.

use std::path::Path;
use std::process::Command;
use toile_assets::write::{bvh, glb, obj};
use toile_assets::{Body, builtin};

fn put_clip(body: &Body, name: &str, path: &Path) {
    let clip = builtin::motion(name, &body.skeleton).unwrap().trimmed(0.0, 1.1).unwrap();
    bvh::write_motion(path, &clip, 100.0).unwrap();
}

#[test]
fn the_commands_of_the_guide_work_in_their_order() {
    let guide = include_str!("../../../docs/guide.md");
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guide");
    let _ = std::fs::remove_dir_all(&dir);
    for folder in ["clips", "unseen"] {
        std::fs::create_dir_all(dir.join(folder)).unwrap();
    }
    let body = builtin::body("mannequin:female").unwrap();
    glb::write_body(dir.join("hero.glb"), &body, &[]).unwrap();
    obj::write_garment(dir.join("dress.obj"), &builtin::garment("skirt:300", &body).unwrap()).unwrap();
    put_clip(&body, "walk:1.0", &dir.join("clips/walk.bvh"));
    put_clip(&body, "walk:1.3", &dir.join("clips/faster.bvh"));
    put_clip(&body, "walk:1.15", &dir.join("unseen/turn.bvh"));

    let mut commands = Vec::new();
    for block in guide.split("```sh\n").skip(1) {
        commands.extend(block.split("```").next().unwrap_or_default().lines());
    }
    assert!(commands.len() >= 10, "{commands:?}");
    let toile = env!("CARGO_BIN_EXE_toile");
    for command in commands {
        let arguments = command.strip_prefix("toile ").unwrap_or_else(|| panic!("not ours: {command}"));
        let ran = Command::new("sh")
            .args(["-c", &format!("'{toile}' {arguments}")])
            .current_dir(&dir)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{command}: {said}");
    }
    for made in
        ["dressed.png", "first/walk.take", "dress.toile", "report.html", "dress-morphs.glb", "turn.abc"]
    {
        assert!(dir.join(made).exists(), "{made} is not there");
    }
    std::fs::remove_dir_all(&dir).unwrap();
}
