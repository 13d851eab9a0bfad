//! `toile render` and `toile crowd --picture`: every kind of file, and what is said and left behind when one cannot be made.

#[path = "../../run/tests/synthetic/mod.rs"]
mod synthetic;

mod program_under_test;

use program_under_test::{ok, text, toile};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use toile_assets::builtin;

fn fails(out: &Output, code: i32, must_say: &[&str]) {
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(code), "{said}");
    assert!(!said.contains("panicked"), "{said}");
    for word in must_say {
        assert!(said.contains(word), "should say `{word}`: {said}");
    }
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("toile-pictures-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

const WALK: [&str; 7] = ["render", "--garment", "skirt:300", "--motion", "walk", "--frames", "3"];

fn has_ffmpeg() -> bool {
    Command::new("ffmpeg").arg("-version").output().is_ok_and(|o| o.status.success())
}

#[test]
fn a_walk_becomes_a_sheet_a_film_and_numbered_pictures() {
    let dir = folder("good");
    let at = |name: &str| dir.join(name).to_string_lossy().into_owned();
    let make = |name: &str, more: &[&str]| {
        let out = at(name);
        let size: &[&str] = if more.contains(&"--size") { &[] } else { &["--size", "48x64"] };
        ok(&[&WALK[..], size, more, &["--out", &out]].concat());
        std::fs::read(&out).unwrap_or_default()
    };
    assert!(make("sheet.png", &["--wireframe"]).starts_with(b"\x89PNG"));
    assert!(make("walk.gif", &["--orbit", "-180"]).starts_with(b"GIF89a"));
    let apng = make("walk.apng", &["--still", "--view", "-20"]);
    assert!(apng.windows(4).any(|w| w == b"acTL"), "an animated PNG says so");
    make("f%03d.png", &[]);
    assert_eq!(files(&dir), ["f000.png", "f001.png", "f002.png", "sheet.png", "walk.apng", "walk.gif"]);
    if has_ffmpeg() {
        // Odd sides too, which these codecs do not have.
        assert_eq!(&make("walk.mp4", &["--size", "33x65"])[4..8], b"ftyp");
        assert!(make("walk.webm", &[]).starts_with(&[0x1a, 0x45, 0xdf, 0xa3]));
        assert_eq!(files(&dir).len(), 8);
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn a_learned_garment_is_set_beside_the_simulated_one() {
    let dir = folder("panes");
    let at = |name: &str| dir.join(name).to_string_lossy().into_owned();
    let (takes, model, out) = (at("takes"), at("skirt.toile"), at("panes.png"));
    ok(&[
        "simulate",
        "--garment",
        "skirt:300",
        "--motion",
        "stand",
        "--motion",
        "lean-forward",
        "--out",
        &takes,
    ]);
    ok(&["train", &takes, "--cloth-dims", "6", "--body-dims", "5", "--out", &model]);
    let take = at("takes/stand.take");
    let panes = "simulated,learned,skinned,heat,ghost";
    ok(&["render", "--model", &model, "--take", &take, "--panes", panes, "--size", "80x100", "--out", &out]);
    let decoder = png::Decoder::new(std::io::BufReader::new(std::fs::File::open(&out).unwrap()));
    let info = decoder.read_info().unwrap().info().size();
    assert_eq!(info, (5 * 80 + 4 * 2, 100), "five panes and the gaps between them");

    let refused = |args: &[&str], say: &[&str]| {
        fails(&toile(&[&["render", "--out", &at("no.png")][..], args].concat()), 2, say);
    };
    refused(&["--panes", "heat", "--model", &model, "--motion", "stand"], &["--take"]);
    refused(&["--panes", "simulated"], &["simulated", "--take"]);
    refused(&["--panes", "learned", "--take", &take], &["--model"]);
    refused(&["--model", &model], &["--motion"]);
    let among = ["--model", &model, "--model", &model, "--garment", "dress", "--motion", "stand"];
    refused(&among, &["--garment dress would be drawn skinned among learned garments", "--panes"]);
    refused(&["--model", &model, "--take", &take, "--heat-cm", "0"], &["heat"]);
    refused(&["--take", &take, "--body", "mannequin:male", "--slack-mm", "-1"], &["slack"]);
    assert!(!dir.join("no.png").exists());
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn sizes_places_and_formats_that_cannot_be_are_refused() {
    let dir = folder("refused");
    let at = |name: &str| dir.join(name).to_string_lossy().into_owned();
    let out = at("a.png");
    for size in ["0x10", "10x0", "10", "8193x1", "8192x8192", "99999999999x1", "-5x5", "1e3x5"] {
        fails(&toile(&["render", "--out", &out, &format!("--size={size}")]), 2, &["WIDTHxHEIGHT"]);
    }
    let many = ["--motion", "walk", "--frames", "400", "--size", "4000x4000"];
    fails(&toile(&[&["render", "--out", &out][..], &many].concat()), 2, &["400 pictures", "a film"]);
    for (place, say) in
        [("a.jpg", ".png"), ("", "folder"), ("none/a.png", "does not exist"), ("a%sd.png", "a%sd.png")]
    {
        let ran = toile(&["render", "--size", "2x2", "--out", &at(place)]);
        if place == "a%sd.png" {
            // Not a number's place: a name like any other.
            assert!(ran.status.success(), "{}", text(&ran.stderr));
            std::fs::remove_file(at(place)).unwrap();
        } else {
            fails(&ran, 2, &[say]);
        }
    }
    let in_the_way = at("folder.png");
    std::fs::create_dir(&in_the_way).unwrap();
    fails(&toile(&["render", "--out", &in_the_way]), 2, &["folder.png", "is a folder"]);
    ok(&["render", "--size", "1x1", "--out", &out]);
    assert_eq!(files(&dir), ["a.png", "folder.png"]);
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn without_a_driver_or_an_encoder_the_message_names_the_fix() {
    let dir = folder("missing");
    let at = |name: &str| dir.join(name).to_string_lossy().into_owned();
    let program = || Command::new(env!("CARGO_BIN_EXE_toile"));
    let out = program()
        .args(["render", "--out", &at("a.png")])
        .env("VK_ICD_FILENAMES", "/nonexistent")
        .env("VK_DRIVER_FILES", "/nonexistent")
        .output()
        .unwrap();
    fails(&out, 1, &["no graphics adapter", "mesa-vulkan-drivers"]);
    assert!(
        !String::from_utf8_lossy(&out.stderr).contains("compiled in"),
        "what no user can make use of is left away"
    );
    for name in ["a.mp4", "a.webm"] {
        let out =
            program().args(WALK).args(["--out", &at(name)]).env("PATH", "/nonexistent").output().unwrap();
        fails(&out, 1, &["ffmpeg", "apt-get install -y ffmpeg", ".gif"]);
    }
    assert!(files(&dir).is_empty(), "{:?}", files(&dir));
    std::fs::remove_dir_all(&dir).unwrap();
}

/// A limit on the size of files stands in for a disk that is full.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_nothing_half_written() {
    let dir = folder("full");
    let names: &[&str] =
        if has_ffmpeg() { &["a.png", "a.gif", "a.apng", "a.mp4"] } else { &["a.png", "a.gif", "a.apng"] };
    for name in names {
        let out = Command::new("sh")
            .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_toile")])
            .args(WALK)
            .args(["--size", "200x200"])
            .arg("--out")
            .arg(dir.join(name))
            .output()
            .unwrap();
        fails(&out, 1, &[]);
        assert!(text(&out.stderr).starts_with("error: "), "{name}: {}", text(&out.stderr));
        assert!(files(&dir).is_empty(), "{name}: {:?}", files(&dir));
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn a_crowd_is_drawn() {
    let dir = folder("crowd");
    let at = |name: &str| dir.join(name).to_string_lossy().into_owned();
    let joints = builtin::body("mannequin:female").unwrap().skeleton.len();
    let size = synthetic::Size { vertices: 60, joints, cloth_dims: 8, body_dims: 8, order: 2 };
    let model = at("noise.toile");
    synthetic::model(size, 1).write(Path::new(&model)).unwrap();
    let crowd = |picture: &str, more: &[&str]| {
        toile(&[&["crowd", "--model", &model, "--picture", picture, "--json"][..], more].concat())
    };
    let out = crowd(&at("crowd.png"), &["--count", "70", "--size", "160x90"]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let value: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(value["count"], 70);
    assert!(value["draw_ms"].as_f64().is_some_and(|ms| ms > 0.0) && value["step_ms"].is_number());
    assert!(std::fs::read(at("crowd.png")).unwrap().starts_with(b"\x89PNG"));
    // All of it near, nobody far.
    assert!(crowd(&at("crowd.png"), &["--count", "1", "--size", "16x9"]).status.success());
    fails(&crowd(&at("crowd.gif"), &[]), 2, &["crowd.gif", ".png"]);
    fails(&crowd(&at("x.png"), &["--count", "90000"]), 2, &["90000"]);
    fails(&crowd(&at("x.png"), &["--size", "0x9"]), 2, &["WIDTHxHEIGHT"]);
    assert_eq!(files(&dir), ["crowd.png", "noise.toile"]);
    std::fs::remove_dir_all(&dir).unwrap();
}
