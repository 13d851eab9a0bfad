//! Every command that takes a file, with every kind of damage: refused with exit code 2 and the file's name.

mod program_under_test;

use program_under_test::{ok, text, toile};
use std::path::{Path, PathBuf};

/// The ways a file of some kind is damaged.
fn damaged(dir: &Path, good: &Path) -> Vec<PathBuf> {
    let bytes = std::fs::read(good).unwrap();
    let ending = good.extension().unwrap().to_string_lossy().into_owned();
    let mut files = vec![dir.join(format!("missing.{ending}"))];
    let mut put = |name: &str, bytes: &[u8]| {
        let path = dir.join(format!("{name}.{ending}"));
        std::fs::write(&path, bytes).unwrap();
        files.push(path);
    };
    put("empty", b"");
    // A BVH file that is cut among its frames is used as far as it goes; among its joints it is not.
    let cut = if ending == "bvh" { 1500 } else { bytes.len() * 2 / 5 };
    put("cut", &bytes[..cut]);
    // Multiplied by an odd number and taken mod 256: bytes of every value, no structure left.
    let noise: Vec<u8> = (0..4096u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    put("noise", &noise);
    let folder = dir.join(format!("folder.{ending}"));
    std::fs::create_dir_all(&folder).unwrap();
    if ending != "bvh" {
        files.push(folder);
    }
    files
}

#[test]
fn damaged_files_are_refused_by_every_command_that_takes_them() {
    let dir = std::env::temp_dir().join(format!("toile-bad-files-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    let at = |name: &str| dir.join(name).to_string_lossy().into_owned();
    ok(&["convert", "mannequin:female", &at("good.glb")]);
    ok(&["convert", "stand", &at("good.bvh")]);
    ok(&["convert", "skirt:300", &at("good.obj")]);
    std::fs::write(at("good.toml"), ok(&["fabric", "silk", "--toml"])).unwrap();
    // A take and a model are safetensors; their headers are what damage meets first.
    let header = |format: &str| {
        let json = format!(r#"{{"__metadata__":{{"format":"{format}","version":"1"}}}}"#);
        [&(json.len() as u64).to_le_bytes()[..], json.as_bytes()].concat()
    };
    std::fs::write(at("good.take"), header("toile-take")).unwrap();
    std::fs::write(at("good.toile"), header("toile-model")).unwrap();

    let out = at("out");
    let (png, pc2, glb) = (at("out.png"), at("out.pc2"), at("out.glb"));
    let mut wrong = Vec::new();
    let mut runs = 0;
    for kind in ["glb", "bvh", "obj", "toml", "take", "toile"] {
        for (d, file) in damaged(&dir, &dir.join(format!("good.{kind}"))).into_iter().enumerate() {
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            let file = file.to_string_lossy().into_owned();
            let f = file.as_str();
            let commands: Vec<Vec<&str>> = match kind {
                "glb" => vec![
                    vec!["inspect", f],
                    vec!["simulate", "--body", f, "--motion", "stand", "--out", &out],
                    vec!["animate", "--body", f, "--motion", "stand", "--out", &pc2],
                    vec!["compare", "--body", f, "--motion", "stand"],
                    vec!["render", "--body", f, "--out", &png],
                ],
                "bvh" => vec![
                    vec!["inspect", f],
                    vec!["simulate", "--garment", "skirt:300", "--motion", f, "--out", &out],
                    vec!["animate", "--motion", f, "--out", &pc2],
                    vec!["compare", "--garment", "skirt:300", "--motion", f],
                ],
                "obj" => vec![
                    vec!["inspect", f],
                    vec!["simulate", "--garment", f, "--motion", "stand", "--out", &out],
                    vec!["animate", "--garment", f, "--motion", "stand", "--out", &pc2],
                    vec!["compare", "--garment", f, "--motion", "stand"],
                    vec!["convert", f, &png],
                ],
                "toml" => vec![
                    vec!["fabric", f],
                    vec![
                        "simulate",
                        "--garment",
                        "skirt:300",
                        "--fabric",
                        f,
                        "--motion",
                        "stand",
                        "--out",
                        &out,
                    ],
                ],
                "take" => vec![
                    vec!["inspect", f],
                    vec!["compare", "--garment", "skirt:300", "--take", f],
                    vec!["convert", f, &pc2],
                    vec!["render", "--take", f, "--out", &png],
                ],
                _ => vec![
                    vec!["inspect", f],
                    vec!["animate", "--model", f, "--motion", "stand", "--out", &pc2],
                    vec!["convert", f, "--morphs", &glb],
                    vec!["compare", "--garment", "skirt:300", "--motion", "stand", "--model", f],
                ],
            };
            // Every damage meets the first command, every other one half of them.
            for (_, command) in commands.into_iter().enumerate().filter(|(c, _)| *c == 0 || (c + d) % 2 == 0)
            {
                let ran = toile(&command);
                runs += 1;
                let said = text(&ran.stderr);
                if ran.status.code() != Some(2) || !said.contains(&name) || said.contains("panicked") {
                    wrong.push(format!("{command:?}: {:?}\n{said}", ran.status.code()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {runs} runs:\n{}", wrong.len(), wrong.join("\n"));
    assert!(runs > 60, "{runs}");
    for left in ["out.png", "out.pc2", "out.glb", "out.obj"] {
        assert!(!dir.join(left).exists(), "{left} was left by a run that failed");
    }
    std::fs::remove_dir_all(&dir).unwrap();
}
