//! The program as a user meets it: what it prints, what it refuses, and how it exits.

use std::path::PathBuf;
use std::process::{Command, Output};

fn toile(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_toile")).args(args).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A folder of its own for each test.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("toile-program-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn refused(args: &[&str], must_say: &[&str]) {
    let out = toile(args);
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{args:?}: {said}");
    for word in must_say {
        assert!(said.contains(word), "{args:?} should say `{word}`: {said}");
    }
}

#[test]
fn every_command_explains_itself_with_examples() {
    for command in ["demo", "inspect", "simulate", "train", "evaluate", "render", "convert", "lab"] {
        let out = toile(&[command, "--help"]);
        assert!(out.status.success());
        assert!(text(&out.stdout).contains("Example"), "{command}");
    }
}

#[test]
fn built_in_assets_are_listed_and_inspected() {
    let out = toile(&["inspect", "--list"]);
    let listed = text(&out.stdout);
    for name in ["mannequin:female", "dress", "walk", "cotton"] {
        assert!(listed.contains(name), "{listed}");
    }
    let out = toile(&["inspect", "dress", "--json"]);
    let value: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(value["kind"], "garment");
    let vertices = value["vertices"].as_f64().unwrap();
    assert!((vertices - 766.0).abs() <= 0.03 * 766.0, "{vertices}");
}

#[test]
fn bad_input_is_refused_with_file_place_and_exit_code_2() {
    let dir = folder("bad");
    let at = |name: &str| dir.join(name).to_string_lossy().into_owned();
    let put = |name: &str, bytes: &[u8]| {
        std::fs::write(dir.join(name), bytes).unwrap();
        at(name)
    };
    refused(&["inspect", &at("missing.glb")], &["missing.glb"]);
    let said = text(&toile(&["inspect", &at("missing.glb")]).stderr);
    assert_eq!(said.matches("os error").count(), 1, "{said}");
    refused(&["inspect", "dres"], &["dres", "--list"]);
    refused(&["inspect", &put("empty.bvh", b"")], &["empty.bvh"]);
    refused(&["inspect", &put("empty.glb", b"")], &["empty.glb"]);
    refused(&["inspect", &put("empty.obj", b"")], &["empty.obj"]);
    refused(&["inspect", &put("a.xyz", b"1")], &["a.xyz"]);
    refused(&["inspect", &put("nan.obj", b"v 0 0 0\nv nan 0 0\nv 0 1 0\nf 1 2 3\n")], &["nan.obj", "line 2"]);
    refused(&["inspect", &put("wrong.toile", b"not a model")], &["wrong.toile", "header"]);
    refused(&["train", &put("t.take", b"{}"), "--out", &at("m.toile")], &["t.take"]);
    refused(&["train", &dir.to_string_lossy(), "--out", "/no/such/folder/m.toile"], &["does not exist"]);
    refused(&["simulate", "--motion", "wallk", "--out", &at("takes")], &["wallk", "walk"]);
    refused(&["simulate", "--motion", "walk:99", "--out", &at("takes")], &["walk:99"]);
    refused(&["render", "--out", &at("a.jpg")], &["a.jpg", ".png"]);
    refused(&["convert", "dress", &at("dress.bvh")], &["dress"]);
    assert!(!dir.join("m.toile").exists() && !dir.join("takes").join("walk.take").exists());
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn a_dressed_walk_is_converted_and_drawn() {
    let dir = folder("good");
    let at = |name: &str| dir.join(name).to_string_lossy().into_owned();
    let ok = |args: &[&str]| {
        let out = toile(args);
        assert!(out.status.success(), "{args:?}: {}", text(&out.stderr));
        text(&out.stdout)
    };
    ok(&["convert", "mannequin:female", &at("hero.glb"), "--motion", "walk", "--garment", "dress"]);
    let value: serde_json::Value =
        serde_json::from_str(&ok(&["inspect", &at("hero.glb"), "--json"])).unwrap();
    assert_eq!(value["joints"], 25);
    ok(&["convert", &at("hero.glb"), &at("walk.bvh")]);
    ok(&["inspect", &at("walk.bvh")]);
    ok(&["convert", "dress", &at("dress.obj")]);
    let value: serde_json::Value =
        serde_json::from_str(&ok(&["inspect", &at("dress.obj"), "--json"])).unwrap();
    assert_eq!(value["rest"], "uv", "the panels' coordinates are the rest shape");
    ok(&[
        "render",
        "--garment",
        "dress",
        "--motion",
        "walk",
        "--frames",
        "2",
        "--size",
        "64x96",
        "--out",
        &at("a.png"),
    ]);
    assert!(std::fs::metadata(at("a.png")).unwrap().len() > 1000);
    ok(&["render", "--size", "1x1", "--out", &at("dot.png")]);
    std::fs::remove_dir_all(&dir).unwrap();
}
