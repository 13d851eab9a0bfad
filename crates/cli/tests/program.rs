//! The program as a user meets it: what it prints, what it refuses, and how it exits.

mod program_under_test;

use program_under_test::{text, toile};
use std::path::PathBuf;

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
    for command in [
        "demo", "inspect", "simulate", "train", "evaluate", "animate", "compare", "render", "convert",
        "fabric", "lab",
    ] {
        let out = toile(&[command, "--help"]);
        assert!(out.status.success());
        assert!(text(&out.stdout).contains("Example"), "{command}");
    }
}

#[test]
fn solvers_are_listed_and_what_they_cannot_do_is_said_before_they_run() {
    let out = toile(&["lab", "solvers", "--help"]);
    assert!(text(&out.stdout).contains("Examples"));
    let listed = text(&toile(&["lab", "solvers", "--list"]).stdout);
    for name in ["weil", "baraff-witkin", "choi-ko", "goldenthal", "xpbd", "ours"] {
        assert!(listed.contains(name), "{listed}");
    }
    refused(
        &["lab", "solvers", "--only", "barafwitkin"],
        &["did you mean `baraff-witkin`", "goldenthal", "vbd"],
    );
    refused(
        &["lab", "solvers", "--only", "xpbd", "--self-contact"],
        &["xpbd", "self-contact", "bridson", "ours"],
    );
    refused(&["lab", "solvers", "--only", "breen", "--friction", "0.3"], &["breen", "friction"]);
    refused(&["lab", "solvers", "--only", "weil", "--scene", "skirt"], &["weil", "motion"]);
    refused(&["lab", "solvers", "--scene", "trampoline"], &["trampoline", "cylinder twist"]);
    refused(&["lab", "solvers", "--only", ""], &["--only", "goldenthal"]);
    refused(&["lab", "solvers", "--scene", ""], &["scene", "cylinder twist"]);
    refused(&["lab", "solvers", "--jobs", "0"], &["--jobs", "1 and 256"]);
    // What is asked of the solver itself is refused without scenes, too.
    refused(
        &["lab", "solvers", "--only", "xpbd", "--scene", "none", "--self-contact"],
        &["xpbd", "self-contact"],
    );
    assert!(listed.contains("with friction, no self-contact"), "{listed}");
}

#[test]
fn pictures_of_others_are_not_overwritten_by_the_solvers_page() {
    let dir = folder("solvers");
    let out = dir.to_string_lossy().into_owned();
    for file in ["hanging-square.png", "weil-hung-from-four-corners.png"] {
        std::fs::write(dir.join(file), b"somebody else's").unwrap();
        refused(
            &["lab", "solvers", "--only", "weil", "--scene", "hanging", "--out", &out],
            &[file, "--force"],
        );
        assert_eq!(std::fs::read(dir.join(file)).unwrap(), b"somebody else's");
        assert!(!dir.join("solvers.md").exists());
        std::fs::remove_file(dir.join(file)).unwrap();
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn one_solver_on_one_scene_is_measured() {
    let out = toile(&["lab", "solvers", "--only", "weil", "--scene", "hanging", "--json"]);
    let value: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(value["failed"], 0);
    let row = &value["scenes"][0]["solvers"][0];
    assert_eq!(row["solver"], "weil");
    assert!(row["error"].as_f64().unwrap() < 0.1, "{row}");
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
fn a_folder_of_takes_does_not_hide_the_garment_of_its_name() {
    let within = folder("named-dress");
    std::fs::create_dir_all(within.join("dress")).unwrap();
    std::fs::create_dir_all(within.join("mocap")).unwrap();
    let inspect = |name: &str| {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_toile"));
        program.args(["inspect", name]).current_dir(&within).output().unwrap()
    };
    assert!(inspect("dress").status.success());
    for name in ["mocap", "mocap/"] {
        let out = inspect(name);
        assert_eq!(out.status.code(), Some(2));
        assert!(text(&out.stderr).contains("is a folder"), "{}", text(&out.stderr));
    }
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
fn garments_and_fabrics_that_cannot_be_simulated_are_refused() {
    let dir = folder("unfit");
    let at = |name: &str| dir.join(name).to_string_lossy().into_owned();
    let put = |name: &str, text: &str| {
        std::fs::write(dir.join(name), text).unwrap();
        at(name)
    };
    let out = toile(&["convert", "skirt:300", &at("skirt.obj")]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let skirt = std::fs::read_to_string(at("skirt.obj")).unwrap();
    let changed = |change: &dyn Fn(f64, f64, f64) -> [f64; 3], extra: &str| {
        let mut file = String::new();
        for line in skirt.lines() {
            let numbers: Vec<f64> = line.split(' ').skip(1).filter_map(|x| x.parse().ok()).collect();
            match (line.starts_with("v "), &numbers[..]) {
                (true, &[x, y, z]) => {
                    let [x, y, z] = change(x, y, z);
                    file.push_str(&format!("v {x} {y} {z}\n"));
                }
                _ => file.push_str(&format!("{line}\n")),
            }
        }
        file + extra
    };
    let simulate = |garment: &str, more: &[&str], must_say: &[&str]| {
        let takes = at("takes");
        let mut args = vec!["simulate", "--garment", garment, "--motion", "stand", "--out", &takes];
        args.extend(more);
        refused(&args, must_say);
    };
    let far = put("far.obj", &changed(&|x, y, z| [x + 3.0, y, z], ""));
    simulate(&far, &[], &["far", "m away from the body", "move it by (-3.00"]);
    let inside = put("inside.obj", &changed(&|x, y, z| [0.7 * x, y, 0.5 * z], ""));
    simulate(&inside, &[], &["inside the body", "deepest", "rest pose"]);
    let tiny = put("tiny.obj", &changed(&|x, y, z| [0.01 * x, 0.01 * y, 0.01 * z], ""));
    simulate(&tiny, &[], &["tiny.obj", "fit no usual unit", "scale it"]);
    let nan = put("nan.obj", &changed(&|x, y, z| [x, y, z], "v 0 inf 0\n"));
    simulate(&nan, &[], &["nan.obj", "line"]);
    let cut_short = put("short.obj", &skirt[..skirt.len() / 3]);
    simulate(&cut_short, &[], &["short.obj"]);

    let cotton = include_str!("../../assets/fabrics/cotton.toml");
    let stiff = put("stiff.toml", &cotton.replace("stretch_warp = 1500.0", "stretch_warp = 1e12"));
    simulate("skirt:300", &["--fabric", &stiff], &["stiff.toml", "stretch_warp", "1.0 to 500000.0 N/m"]);
    let light = put("light.toml", &cotton.replace("density = 0.15", "density = 0.0"));
    simulate("skirt:300", &["--fabric", &light], &["density", "0.005 to 10.0 kg/m²"]);
    simulate("skirt:300", &["--fabric", &at("none.toml")], &["none.toml"]);

    // A motion whose joints match nothing on the body.
    let snake = "HIERARCHY\nROOT A\n{\nOFFSET 0 0 0\nCHANNELS 3 Xposition Yposition Zposition\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\n\
                 MOTION\nFrames: 2\nFrame Time: 0.0333\n0 0 0\n0 0 0\n";
    let snake = put("snake.bvh", snake);
    let takes = at("takes");
    refused(
        &["simulate", "--garment", "skirt:300", "--motion", &snake, "--out", &takes],
        &["snake", "not human enough", "no joint was found"],
    );
    // A file where the folder for the takes should be.
    let blocked = put("blocked", "");
    refused(&["simulate", "--garment", "skirt:300", "--motion", "stand", "--out", &blocked], &["blocked"]);
    assert!(!dir.join("takes").join("stand.take").exists());

    // What can be repaired is repaired and counted.
    let last = skirt.lines().rev().find(|l| l.starts_with("f ")).unwrap();
    let worse = put("worse.obj", &format!("{skirt}{last}\n{last}\nf 1/1 1/1 2/2\n"));
    let out = toile(&["inspect", &worse]);
    let said = text(&out.stdout);
    assert!(
        said.contains("duplicate faces: 2 (removed)") && said.contains("fewer than three corners: 1"),
        "{said}"
    );
    let bare: String = skirt
        .lines()
        .filter(|l| !l.starts_with("vt"))
        .map(|l| {
            let corners = l.split(' ').map(|c| c.split('/').next().unwrap_or(c));
            corners.collect::<Vec<_>>().join(" ") + "\n"
        })
        .collect();
    let out = toile(&["inspect", &put("bare.obj", &bare)]);
    assert!(text(&out.stdout).contains("rest shape from the mesh"), "{}", text(&out.stdout));
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

#[test]
fn nothing_of_the_users_is_overwritten_without_force() {
    let dir = folder("overwrite");
    let at = |name: &str| dir.join(name).to_string_lossy().into_owned();
    let hero = at("hero.glb");
    assert!(toile(&["convert", "mannequin:female", &hero]).status.success());
    let before = std::fs::read(&hero).unwrap();
    let animate = ["animate", "--no-drape", "--garment", "skirt:300", "--motion", "walk", "--seconds", "0.1"];
    fn with<'a>(animate: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
        [animate, more].concat()
    }
    refused(&with(&animate, &["--body", &hero, "--out", &hero]), &["is the input", "--force"]);
    assert!(std::fs::read(&hero).unwrap() == before);
    // An OBJ that is not ours would become the partner of a cache.
    std::fs::write(at("walk.obj"), "v 0 0 0\n").unwrap();
    refused(&with(&animate, &["--out", &at("walk.pc2")]), &["walk.obj", "not written by Toile", "--force"]);
    assert!(!dir.join("walk.pc2").exists());
    assert!(toile(&with(&animate, &["--out", &at("walk.pc2"), "--force"])).status.success());
    // What Toile wrote may be written again, in every format.
    for name in ["walk.pc2", "walk.abc", "walk.usda", "walk.glb", "frames.obj"] {
        for _ in 0..2 {
            let out = toile(&with(&animate, &["--out", &at(name)]));
            assert!(out.status.success(), "{name}: {}", text(&out.stderr));
        }
    }
    for name in ["a.png", "a.gif", "a.apng"] {
        for _ in 0..2 {
            let out = toile(&["render", "--size", "16x16", "--out", &at(name)]);
            assert!(out.status.success(), "{name}: {}", text(&out.stderr));
        }
    }
    std::fs::write(at("holiday.png"), b"\x89PNG of a beach").unwrap();
    refused(&["render", "--size", "16x16", "--out", &at("holiday.png")], &["not written by Toile"]);
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn a_wrong_frame_rate_is_noticed_and_put_right() {
    let dir = folder("pace");
    let clip = dir.join("walk.bvh").to_string_lossy().into_owned();
    assert!(toile(&["convert", "run", &clip]).status.success());
    let right = std::fs::read_to_string(&clip).unwrap();
    let (head, tail) = right.split_once("Frame Time:").unwrap();
    let (_, frames) = tail.split_once('\n').unwrap();
    std::fs::write(&clip, format!("{head}Frame Time: 0.002\n{frames}")).unwrap();
    let seen = text(&toile(&["inspect", &clip]).stdout);
    assert!(seen.contains("faster than anyone") && seen.contains("--fps"), "{seen}");
    let out = dir.join("a.glb").to_string_lossy().into_owned();
    let animate = ["animate", "--no-drape", "--garment", "skirt:300", "--motion", &clip, "--out", &out];
    let said = text(&toile(&animate).stderr);
    assert!(said.contains("faster than anyone") && said.contains("--motion-fps"), "{said}");
    let paced = toile(&[&animate[..], &["--motion-fps", "30", "--trim", "0.1:0.4", "--json"]].concat());
    assert!(!text(&paced.stderr).contains("faster"), "{}", text(&paced.stderr));
    let value: serde_json::Value = serde_json::from_slice(&paced.stdout).unwrap();
    assert_eq!(value["frames"], 10, "three tenths of a second at 30 Hz");
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn parts_of_files_are_inspected_and_sizes_have_a_range() {
    let dir = folder("parts");
    let dressed = dir.join("dressed.glb").to_string_lossy().into_owned();
    assert!(toile(&["convert", "mannequin:female", &dressed, "--garment", "skirt:300"]).status.success());
    let out = toile(&["inspect", &format!("{dressed}#skirt"), "--json"]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let value: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert!(value["kind"] == "garment" && value["vertices"].as_u64().is_some_and(|v| v < 600), "{value}");
    refused(&["inspect", &format!("{dressed}#hat")], &["hat"]);
    refused(&["train", "takes", "--cloth-dims", "0", "--out", "x.toile"], &["--cloth-dims", "1..=1024"]);
    // What belongs to the other kind would be passed over.
    refused(
        &["train", "takes", "--sites", "9", "--out", "x.toile"],
        &["--sites", "--kind stable is trained"],
    );
    refused(
        &["train", "takes", "--kind", "adaptive", "--cheap", "--out", "x.toile"],
        &["--cheap is an option of --kind stable"],
    );
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn a_reader_that_leaves_early_is_no_fault() {
    let piped = || std::process::Stdio::piped();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_toile"))
        .args(["inspect", "--list"])
        .stdout(piped())
        .stderr(piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success() && out.stderr.is_empty(), "{}", text(&out.stderr));
}
