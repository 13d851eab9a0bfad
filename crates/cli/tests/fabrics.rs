//! Fabrics as a user gets them: sheets of tests, sliders, and takes in several of them that become one model.

mod program_under_test;

use program_under_test::{text, toile};
use std::path::{Path, PathBuf};
use toile_assets::{Fabric, Model};

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("toile-fabrics-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn ok(args: &[&str]) -> (String, String) {
    let out = toile(args);
    assert!(out.status.success(), "{args:?}: {}", text(&out.stderr));
    (text(&out.stdout), text(&out.stderr))
}

fn refused(args: &[&str], must_say: &[&str]) {
    let out = toile(args);
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{args:?}: {said}");
    must_say.iter().for_each(|part| assert!(said.contains(part), "{args:?}: no `{part}` in: {said}"));
}

fn at(folder: &Path, name: &str) -> String {
    folder.join(name).to_string_lossy().into_owned()
}

const SHEET: &str = "name,LT,WT-1,WT-2,RT,B-1,B-2,2HB-1,2HB-2,G,2HG,2HG5,MIU,T,W\n\
                     mill-7,0.62,7.5,12,55,0.12,0.09,0.05,0.04,0.8,1.5,3.1,0.2,0.4,15\n";

#[test]
fn a_mills_sheet_becomes_a_fabric_and_a_bad_one_is_refused_with_every_fault() {
    let dir = folder("sheet");
    let (sheet, out) = (at(&dir, "mill.csv"), at(&dir, "mill.toml"));
    std::fs::write(&sheet, SHEET).unwrap();
    ok(&["fabric", "import", &sheet, "--out", &out]);
    let fabric = Fabric::read(&out).unwrap();
    assert_eq!((fabric.name.as_str(), fabric.density), ("mill-7", 0.15));
    assert!((fabric.bend_warp / 1.1768e-5 - 1.0).abs() < 1e-3 && fabric.hysteresis.is_some());

    std::fs::write(&sheet, "name,LT,WT,B,G\nx,0.6,8,110,0.8\n").unwrap();
    refused(
        &["fabric", "import", &sheet],
        &["9 problems", "B warp is 110", "0.0005 to 20 gf·cm²/cm", "2HG5 is missing", "W is missing"],
    );
    std::fs::write(&sheet, format!("{SHEET}{}", SHEET.lines().nth(1).unwrap().replace("mill-7", "mill-8")))
        .unwrap();
    refused(&["fabric", "import", &sheet], &["2 cloths", "--out"]);
    ok(&["fabric", "import", &sheet, "--out", &at(&dir, "mills")]);
    assert!(dir.join("mills/mill-8.toml").exists());
    let mine = at(&dir, "mine.toml");
    std::fs::write(&mine, "# somebody's own\n").unwrap();
    std::fs::write(&sheet, SHEET).unwrap();
    refused(&["fabric", "import", &sheet, "--out", &mine], &["not written by Toile"]);
    refused(&["fabric", "import", &at(&dir, "mills"), "--out", &out], &["mills"]);
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn a_bending_length_and_a_drape_are_fitted() {
    let dir = folder("fit");
    let out = at(&dir, "x.toml");
    ok(&["fabric", "fit", "--mass", "150", "--bending-length", "1.9,1.7", "--out", &out]);
    let fabric = Fabric::read(&out).unwrap();
    assert!((fabric.bend_warp / 1.009e-5 - 1.0).abs() < 0.01, "{}", fabric.bend_warp);
    refused(&["fabric", "fit", "--mass", "150"], &["--bending-length, --drape"]);
    refused(
        &["fabric", "fit", "--mass", "1", "--bending-length", "90", "--drape", "120"],
        &["5 to 5000 g/m²", "0.2 to 20 cm", "5 to 98 %"],
    );
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn sliders_are_put_and_shown() {
    let dir = folder("tune");
    let out = at(&dir, "x.toml");
    ok(&["fabric", "tune", "--stiff", "0.7", "--heavy", "0.3", "--out", &out]);
    let shown: serde_json::Value =
        serde_json::from_str(&ok(&["fabric", "tune", "--like", &out, "--json"]).0).unwrap();
    let place = |name: &str| shown["sliders"][name].as_f64().unwrap();
    assert!((place("stiff") - 0.7).abs() < 1e-6 && (place("heavy") - 0.3).abs() < 1e-6, "{shown}");
    refused(
        &["fabric", "tune", "--stiff", "2", "--bouncy=-1"],
        &["--stiff 2: 0 to 1", "--bouncy -1: 0 to 1"],
    );
    refused(
        &["fabric", "tune", "--like", "flanel", "--stiff", "0.5"],
        &["wool-flannel", "there are: chiffon"],
    );
    ok(&[
        "fabric",
        "blend",
        "silk",
        "denim",
        "--at",
        "0.5",
        "--name",
        "middle",
        "--out",
        &at(&dir, "m.toml"),
    ]);
    assert_eq!(Fabric::read(dir.join("m.toml")).unwrap().name, "middle");
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn takes_in_several_fabrics_and_winds_become_one_model_that_hears_them() {
    let dir = folder("heard");
    let (takes, model, cache) = (at(&dir, "takes"), at(&dir, "skirt.toile"), at(&dir, "walk.abc"));
    ok(&[
        "simulate",
        "--garment",
        "skirt:300",
        "--motion",
        "walk",
        "--motion",
        "twist",
        "--trim",
        "0:0.5",
        "--rate",
        "60",
        "--fabric",
        "silk,denim",
        "--wind",
        "0,0,0",
        "--wind",
        "0,0,-3",
        "--gust",
        "0.5",
        "--out",
        &takes,
    ]);
    assert!(dir.join("takes/walk+silk+wind0_0_-3.take").exists());
    refused(&["train", &takes, "--untrue", "--out", &model], &["another fabric", "other settings"]);
    refused(&["train", &takes, "--model", "c", "--surroundings", "--out", &model], &["model d"]);
    ok(&["train", &takes, "--untrue", "--surroundings", "--cheap", "--shield-frames", "0", "--out", &model]);
    let read = Model::read(&model).unwrap();
    assert_eq!(read.hears().unwrap().axes(), 1);
    let strongest = read.hears().unwrap().reach[0];
    assert!((3.0..=4.5).contains(&strongest), "{strongest}");
    let play =
        ["animate", "--model", &model, "--motion", "walk", "--seconds", "0.3", "--out", &cache, "--force"];
    let (_, calm) = ok(&[&play[..], &["--fabric", "denim", "--wind", "0,0,-2"]].concat());
    assert!(!calm.contains("beyond"), "{calm}");
    let (_, gale) = ok(&[&play[..], &["--wind", "0,0,-20"]].concat());
    assert!(gale.contains("20.0 m/s") && gale.contains("faded to 0 %"), "{gale}");
    ok(&[
        "crowd",
        "--model",
        &model,
        "--count",
        "8",
        "--seconds",
        "0.1",
        "--fabric",
        "silk,denim",
        "--wind",
        "1,0,0",
    ]);

    // One that was trained in a single fabric and no wind says that it does not hear.
    let calm = ["walk", "twist"].map(|clip| at(&dir, &format!("takes/{clip}+silk+wind0_0_0.take")));
    let quick = ["--untrue", "--cheap", "--shield-frames", "0", "--hidden-frames", "0", "--force"];
    ok(&[&["train", &calm[0], &calm[1], "--out", &model][..], &quick].concat());
    refused(&[&play[..], &["--wind", "1,0,0"]].concat(), &["does not hear", "--surroundings"]);
    std::fs::remove_dir_all(&dir).unwrap();
}
