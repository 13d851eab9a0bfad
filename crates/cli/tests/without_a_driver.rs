//! A machine without a Vulkan driver: everything is done but the pictures, and the user is told how to get them.

use std::path::Path;
use std::process::{Command, Output};

const INSTALL: &str = "sudo apt-get install -y mesa-vulkan-drivers";

fn toile(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_toile"))
        .args(args)
        .env("VK_ICD_FILENAMES", "/nonexistent.json")
        .env("VK_DRIVER_FILES", "/nonexistent.json")
        .output()
        .expect("the program starts")
}

/// Runs it, and wants to be told the line once, whatever else is said.
fn told(args: &[&str]) -> String {
    let out = toile(args);
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{args:?}: {said}");
    assert_eq!(said.matches(INSTALL).count(), 1, "{args:?}: {said}");
    String::from_utf8_lossy(&out.stdout).into_owned()
}

#[test]
fn demo_evaluate_compare_and_lab_do_their_work_without_pictures() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("without-a-driver");
    let _ = std::fs::remove_dir_all(&dir);
    let at = |name: &str| dir.join(name).to_string_lossy().into_owned();
    let page = |name: &str| std::fs::read_to_string(dir.join(name)).unwrap();

    let value: serde_json::Value =
        serde_json::from_str(&told(&["demo", "--tiny", "--json", "--out", &at("")])).unwrap();
    assert!(value["mean_cm"].as_f64().is_some_and(|e| e > 0.0) && value["crowd"]["count"] == 64);
    assert!(value["machine"]["drawn_by"].is_null());
    assert!(dir.join("skirt.toile").exists() && dir.join("demo.json").exists());
    assert!(!dir.join("film.gif").exists() && !dir.join("crowd.png").exists());
    let story = page("report.html");
    assert!(story.contains(INSTALL) && story.contains("<h2>Error over time") && story.contains("<h2>Gate"));

    let (model, takes) = (at("skirt.toile"), at("takes/test"));
    told(&["evaluate", &model, &takes, "--report", &at("evaluated.html")]);
    assert!(page("evaluated.html").contains(INSTALL));

    let take = std::fs::read_dir(&takes).unwrap().map(|e| e.unwrap().path());
    let take = take.filter(|p| p.extension().is_some_and(|x| x == "take")).min().unwrap();
    let take = take.to_string_lossy();
    let compared = told(&[
        "compare",
        "--garment",
        "skirt:300",
        "--take",
        &take,
        "--model",
        &model,
        "--out",
        &at("strip.png"),
    ]);
    assert!(compared.contains("stable") && !dir.join("strip.png").exists(), "{compared}");

    told(&["lab", "--only", "cloth on sphere", "--out", &at("lab")]);
    assert!(page("lab/lab.html").contains(INSTALL));
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn what_the_driver_says_itself_does_not_reach_the_user() {
    let out = std::env::temp_dir().join(format!("toile-quiet-{}.png", std::process::id()));
    let drawn = Command::new(env!("CARGO_BIN_EXE_toile"))
        .args(["render", "--size", "32x32", "--out"])
        .arg(&out)
        .env_remove("XDG_RUNTIME_DIR")
        .env("WAYLAND_DISPLAY", "wayland-0")
        .output()
        .unwrap();
    assert!(drawn.status.success());
    assert_eq!(String::from_utf8_lossy(&drawn.stderr), "");
    std::fs::remove_file(&out).unwrap();
}
