//! Takes as a user makes and uses them: options and their ranges, clips that cannot be used, shards, verdicts, and takes
//! that do not belong together.

mod program_under_test;

use program_under_test::{text, toile};
use std::path::{Path, PathBuf};
use toile_assets::write::bvh::write_motion;
use toile_assets::{Take, builtin};

fn refused(args: &[&str], must_say: &[&str]) {
    let out = toile(args);
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{args:?}: {said}");
    must_say.iter().for_each(|part| assert!(said.contains(part), "{args:?}: no `{part}` in: {said}"));
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("toile-takes-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A few frames of the built-in walk from some moment on, as a BVH file.
fn clip(folder: &Path, name: &str, from: usize, frames: usize) -> toile_assets::Motion {
    let body = builtin::body("mannequin:female").unwrap();
    let walk = builtin::motion("walk", &body.skeleton).unwrap().resampled(30.0);
    let motion = walk.trimmed_frames(from, from + frames).unwrap();
    std::fs::create_dir_all(folder).unwrap();
    write_motion(folder.join(format!("{name}.bvh")), &motion, 100.0).unwrap();
    motion
}

fn takes(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let files = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let mut all: Vec<(String, Vec<u8>)> = files
        .filter(|p| p.extension().is_some_and(|e| e == "take"))
        .map(|p| (p.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&p).unwrap()))
        .collect();
    all.sort();
    all
}

#[test]
fn values_out_of_range_are_refused_with_the_range() {
    let dir = folder("ranges");
    let out = dir.to_string_lossy();
    let with = |option: &str, value: &str, must_say: &str| {
        let option = format!("{option}={value}");
        refused(
            &["simulate", "--garment", "skirt:300", "--motion", "stand", "--out", &out, &option],
            &[must_say],
        );
    };
    with("--wind", "0,0,90", "at most 40 m/s");
    with("--wind", "1,2", "three numbers");
    with("--air", "1.5", "0 to 1, or `off`");
    with("--rate", "5", "30 to 3840");
    with("--softness", "0", "0.03 to 10");
    with("--nudge", "99", "0 to 10 mm");
    with("--stops", "100000", "0..=100");
    with("--shard", "3/2", "i from 1 to n");
    assert!(takes(&dir).is_empty());
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn shards_fill_one_folder_and_a_bad_clip_holds_up_no_other() {
    let dir = folder("shards");
    let (clips, whole, shared) = (dir.join("clips"), dir.join("whole"), dir.join("shared"));
    for k in 0..3 {
        clip(&clips, &format!("clip{k}"), 4 * k, 4);
    }
    std::fs::write(clips.join("broken.bvh"), "HIERARCHY\nROOT x\n").unwrap();
    let mut jumping = clip(&clips, "jumping", 0, 8);
    jumping.poses[4..].iter_mut().for_each(|p| p.locals[0].translation.x += 3.0);
    write_motion(clips.join("jumping.bvh"), &jumping, 100.0).unwrap();

    let run = |out: &Path, more: &[&str]| {
        let (clips, out) = (clips.to_string_lossy(), out.to_string_lossy());
        let mut args = vec!["simulate", "--garment", "skirt:300", "--motion", &clips, "--out", &out];
        args.extend(more);
        toile(&args)
    };
    let out = run(&whole, &["--json"]);
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(1), "{said}");
    for part in ["broken: left out", "jumping: left out", "frame 4", "--cut", "2 of 5", "3/3"] {
        assert!(said.contains(part), "no `{part}` in: {said}");
    }
    let value: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!((value["takes"].as_array().unwrap().len(), value["failed"].as_u64()), (3, Some(2)));
    let first = &value["takes"][0];
    assert_eq!((first["true"].as_bool(), first["faults"].as_array().unwrap().len()), (Some(true), 0));
    assert!(first["p99_stretch_percent"].as_f64() <= first["max_stretch_percent"].as_f64());

    // In the order of names: broken, clip0, clip1, clip2, jumping.
    assert_eq!(run(&shared, &["--shard", "2/2", "--json"]).status.code(), Some(0));
    assert_eq!(takes(&shared).len(), 2);
    std::fs::write(shared.join("clip1.take.4294967295.partial"), b"another machine's").unwrap();
    assert_eq!(run(&shared, &["--shard", "2/2"]).status.code(), Some(0));
    assert!(shared.join("clip1.take.4294967295.partial").exists());
    assert_eq!(run(&shared, &["--shard", "1/2"]).status.code(), Some(1));
    assert!(!shared.join("clip1.take.4294967295.partial").exists());
    let (a, b) = (takes(&whole), takes(&shared));
    assert!(a == b, "takes made in shards are not those made at once");
    let again: serde_json::Value = serde_json::from_slice(&run(&shared, &["--json"]).stdout).unwrap();
    let known = |take: &serde_json::Value| take["ms_per_frame_median"].as_f64() > Some(0.0);
    assert!(again["takes"].as_array().unwrap().iter().all(known), "{again}");
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn inspect_says_beforehand_what_simulate_leaves_out_or_refuses() {
    let dir = folder("beforehand");
    let body = builtin::body("mannequin:female").unwrap();
    let mut led = clip(&dir, "led", 40, 20);
    let mut pose = body.skeleton.rest_pose();
    let arm = body.skeleton.find("LeftUpperArm").or_else(|| body.skeleton.find("left_upper_arm"));
    if let Some(arm) = arm {
        pose.locals[arm].rotation = glam::Quat::from_rotation_z(0.5) * pose.locals[arm].rotation;
    }
    led.poses.insert(0, pose);
    write_motion(dir.join("led.bvh"), &led, 100.0).unwrap();
    let mut jumping = clip(&dir, "jumping", 0, 30);
    jumping.poses[20..].iter_mut().for_each(|p| p.locals[0].translation.x += 3.0);
    write_motion(dir.join("jumping.bvh"), &jumping, 100.0).unwrap();

    let look = |name: &str| {
        let out = toile(&["inspect", &dir.join(name).to_string_lossy()]);
        text(&out.stdout)
    };
    let led = look("led.bvh");
    assert!(led.contains("put before the motion") || led.contains("added T-pose"), "{led}");
    let jumping = look("jumping.bvh");
    assert!(jumping.contains("frame 20") && jumping.contains("--cut"), "{jumping}");
    let fits = |name: &str| {
        let out = toile(&["inspect", name, "--body", "mannequin:male", "--json"]);
        let value: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
        value["problems"].as_array().unwrap().is_empty()
    };
    assert!(fits("dress"), "cut for whoever wears it");
    let woman = dir.join("dress.obj");
    assert!(toile(&["convert", "dress", &woman.to_string_lossy()]).status.success());
    assert!(!fits(&woman.to_string_lossy()), "the woman's dress does not fit the man");
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn untrue_takes_wrong_bodies_and_known_clips_are_not_used() {
    let dir = folder("untrue");
    let at = |name: &str| dir.join(name).to_string_lossy().into_owned();
    for (folder, from) in [("train", [0, 10, 20]), ("test", [33, 40, 47])] {
        from.iter().for_each(|k| _ = clip(&dir.join(folder), &format!("{folder}{k}"), *k, 10));
        let (clips, out) = (at(folder), at(&format!("{folder}-takes")));
        let made = toile(&[
            "simulate",
            "--garment",
            "skirt:300",
            "--motion",
            &clips,
            "--out",
            &out,
            "--wind",
            "0,0,-1",
            "--rate",
            "120",
        ]);
        assert!(made.status.success(), "{}", text(&made.stderr));
    }
    let take = Take::read(dir.join("train-takes/train0.take")).unwrap();
    let made = take.provenance.unwrap();
    assert_eq!((made.conditions.wind, made.conditions.rate.round()), ([0.0, 0.0, -1.0], 120.0));
    assert_eq!(made.body, builtin::body("mannequin:female").unwrap().fingerprint());
    assert!(take.verdict.unwrap().is_true());

    let model = at("skirt.toile");
    refused(
        &["train", &at("train-takes"), "--body", "mannequin:male", "--out", &model],
        &["train0", "another body", "mannequin:male"],
    );
    // One of three torn.
    let path = dir.join("train-takes/train10.take");
    let mut torn = Take::read(&path).unwrap();
    torn.verdict.as_mut().unwrap().strain.see(1.94, 5);
    torn.write(&path).unwrap();
    let trained = toile(&["train", &at("train-takes"), "--no-refine", "--out", &model, "--json"]);
    let said = text(&trained.stderr);
    assert!(trained.status.success(), "{said}");
    for part in ["train10.take", "194 % at frame 5", "1 of 3 takes"] {
        assert!(said.contains(part), "no `{part}` in: {said}");
    }
    assert!(said.contains("not mirrored: there is wind"), "{said}");
    let value: serde_json::Value = serde_json::from_slice(&trained.stdout).unwrap();
    assert_eq!(value["left_out"][0]["clip"], "train10");

    let known = at("train-takes/train0.take");
    refused(&["evaluate", &model, &known], &["train0", "learned from this clip", "--seen"]);
    assert!(toile(&["evaluate", &model, &known, "--seen"]).status.success());
    assert!(toile(&["evaluate", &model, &at("test-takes")]).status.success());
    refused(&["evaluate", &model, &at("test-takes"), "--body", "mannequin:male"], &["another body"]);
    // All takes torn: nothing to learn from, unless it is asked for.
    refused(&["train", &path.to_string_lossy(), "--out", &model], &["no take is true", "--untrue"]);
    let all = toile(&["train", &at("train-takes"), "--no-refine", "--untrue", "--out", &model]);
    assert!(all.status.success() && !text(&all.stderr).contains("left out"), "{}", text(&all.stderr));
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn advice_says_what_a_walk_lacks_for_a_bow_and_what_would_add_it() {
    let out = toile(&["train", "walk", "--advise", "lean-forward", "--json"]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let value: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert!(value["known"].as_f64().unwrap() < 0.9, "{value}");
    assert!(value["training"]["seconds"].as_f64().unwrap() > 3.0, "{value}");
    let parts = value["parts"].as_array().unwrap();
    let trunk = parts.iter().find(|p| p["part"] == "trunk" && p["aspect"] == "poses").unwrap();
    assert!(
        trunk["lacking"].as_f64().unwrap() > 0.4 && trunk["farthest"].as_f64().unwrap() > 40.0,
        "{trunk}"
    );
    assert!(value["add"][0]["clip"].as_str().unwrap().contains("bow"), "{}", value["add"]);
    // What was seen lacks nothing.
    let same = toile(&["train", "walk", "--advise", "walk", "--json"]);
    let value: serde_json::Value = serde_json::from_slice(&same.stdout).unwrap();
    assert_eq!(value["known"], 1.0, "{value}");
    refused(&["train", "walk", "--advise", "no-such-motion"], &["no-such-motion"]);
}

#[test]
fn a_space_and_a_model_that_do_not_go_together_are_refused() {
    let out = ["--out", "nowhere.toile"];
    let ask = |more: &[&str], say: &str| refused(&[&["train", "takes"], more, &out].concat(), &[say]);
    ask(&["--space", "canonical", "--model", "d"], "bind pose");
    ask(&["--paper", "--model", "d"], "bind pose");
    ask(&["--space", "bind", "--model", "c"], "canonical");
}

#[test]
fn a_take_or_page_of_somebody_else_is_not_overwritten() {
    let dir = folder("foreign");
    let at = |name: &str| dir.join(name).to_string_lossy().into_owned();
    clip(&dir, "stroll", 0, 2);
    let theirs: [(&str, &[u8]); 3] =
        [("stroll.take", b"somebody's film"), ("timings.json", b"{}"), ("stable-spaces.md", b"# My notes")];
    let simulate = |out: &str| {
        let (clip, out) = (at("stroll.bvh"), at(out));
        toile(&["simulate", "--garment", "skirt:300", "--motion", &clip, "--out", &out])
    };
    for (name, bytes) in theirs {
        let out = folder(&format!("foreign-{}", name.replace('.', "-")));
        std::fs::write(out.join(name), bytes).unwrap();
        let path = out.to_string_lossy().into_owned();
        let run = if name.ends_with(".md") {
            toile(&["reproduce", "stable-spaces", "--quick", "--out", &path])
        } else {
            toile(&["simulate", "--garment", "skirt:300", "--motion", &at("stroll.bvh"), "--out", &path])
        };
        let said = text(&run.stderr);
        assert_eq!(run.status.code(), Some(2), "{name}: {said}");
        assert!(said.contains(name) && said.contains("--force"), "{said}");
        assert_eq!(std::fs::read(out.join(name)).unwrap(), bytes, "{name} is as it was");
        std::fs::remove_dir_all(&out).unwrap();
    }
    std::fs::write(dir.join("file"), "x").unwrap();
    let run = simulate("file");
    assert_eq!(run.status.code(), Some(2));
    assert!(text(&run.stderr).contains("is a file; name a folder"), "{}", text(&run.stderr));
    // Our own are gone on with.
    assert!(simulate("own").status.success());
    assert!(simulate("own").status.success());
    std::fs::remove_dir_all(&dir).unwrap();
}
