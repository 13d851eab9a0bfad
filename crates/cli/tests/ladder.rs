//! Tiers that hand over, outfits, dense meshes and budgets, as a user asks for them.

mod program_under_test;

#[path = "../../run/tests/synthetic/mod.rs"]
mod synthetic;

use program_under_test::{ok, text, toile};
use std::path::PathBuf;
use synthetic::{Size, corrected};
use toile_assets::{Take, builtin};

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("toile-ladder-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn refused(args: &[&str], said: &str) {
    let out = toile(args);
    assert_eq!(out.status.code(), Some(2), "{args:?}: {}", text(&out.stderr));
    assert!(text(&out.stderr).contains(said), "{args:?}: {}", text(&out.stderr));
}

#[test]
fn a_garment_climbs_and_carries_a_dense_mesh() {
    let folder = folder("climb");
    let out = folder.join("climb.pc2");
    let out = out.to_str().unwrap();
    let shirt = ["animate", "--garment", "shirt:600", "--motion", "walk", "--seconds", "0.5"];
    let with = |more: &[&'static str]| [&shirt[..], &["--out", out][..], more].concat();
    refused(&with(&["--tier", "skin,flat@1"]), "there is no tier `flat`");
    refused(&with(&["--tier", "skin@0,stable@0.2"]), "needs --model");
    refused(
        &with(&["--tier", "skin@0,adaptive@0.2"]),
        "needs a database, which `toile train --kind adaptive` makes",
    );
    refused(&with(&["--no-drape", "--drive", "skirt"]), "does not lie on the garment");
    let said = ok(&with(&["--no-drape", "--drive", "shirt:1500", "--json"]));
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said["frames"].as_u64(), Some(16));
    let dense = builtin::garment("shirt:1500", &builtin::body("mannequin:female").unwrap()).unwrap();
    let size = std::fs::metadata(out).unwrap().len() as usize;
    assert_eq!(size, 32 + 16 * 12 * dense.render.positions.len(), "the dense mesh is written");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn an_outfit_has_a_take_for_each_garment() {
    let folder = folder("outfit");
    let out = folder.to_str().unwrap();
    let both =
        ["simulate", "--garment", "pants:300", "--garment", "skirt:300", "--motion", "walk", "--out", out];
    refused(
        &[&both[..], &["--fabric", "silk", "--fabric", "denim", "--fabric", "silk"]].concat(),
        "3 fabrics for 2 garments",
    );
    refused(&[&both[..], &["--pin", "collar"]].concat(), "no garment of the outfit");
    refused(
        &["simulate", "--garment", "shirt:600", "--garment", "pants:300", "--motion", "walk", "--out", out],
        "--garment pants --garment shirt",
    );
    ok(&[&both[..], &["--trim", ":0.2", "--fabric", "denim", "--fabric", "cotton"]].concat());
    for (garment, fabric) in [("pants", "denim"), ("skirt", "cotton")] {
        let take = Take::read(folder.join(garment).join("walk.take")).unwrap();
        let note = |key: &str| take.notes.iter().find(|(k, _)| k == key).map(|(_, v)| v.clone());
        assert_eq!(note("garment").as_deref(), Some(garment));
        assert_eq!(note("fabric").as_deref(), Some(fabric));
        assert_eq!(note("outfit").as_deref(), Some("pants + skirt"));
        assert!(take.verdict.unwrap().is_true(), "{garment}: {:?}", take.verdict.unwrap().faults());
    }
    // Finished takes are kept.
    let before = std::fs::metadata(folder.join("skirt/walk.take")).unwrap().modified().unwrap();
    ok(&[&both[..], &["--trim", ":0.2", "--fabric", "denim", "--fabric", "cotton"]].concat());
    assert_eq!(std::fs::metadata(folder.join("skirt/walk.take")).unwrap().modified().unwrap(), before);
    // Another outfit would replace some of them, and a garment worn alone, too.
    refused(
        &["simulate", "--garment", "pants:300", "--garment", "dress:400", "--motion", "walk", "--out", out],
        "is a take of the outfit `pants + skirt`, these are of the outfit `pants + dress`; name another folder",
    );
    let skirts = folder.join("skirt");
    refused(
        &["simulate", "--garment", "skirt:300", "--motion", "stand", "--out", skirts.to_str().unwrap()],
        "these are of a garment worn alone",
    );
    // Where takes are is said, and what they cost is known.
    let model = folder.join("x.toile");
    refused(&["train", out, "--out", model.to_str().unwrap()], skirts.to_str().unwrap());
    refused(&["compare", "--take", out], skirts.to_str().unwrap());
    let take = skirts.join("walk.take");
    let said = ok(&["compare", "--garment", "skirt:300", "--take", take.to_str().unwrap(), "--json"]);
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    let full = said["tiers"].as_array().unwrap().iter().find(|t| t["tier"] == "full").unwrap();
    assert!(full["us_per_frame"].as_f64().unwrap() > 0.0, "{full}");
    // Takes of two outfits are not drawn as one.
    let mut other = Take::read(folder.join("pants/walk.take")).unwrap();
    other.notes.iter_mut().filter(|(k, _)| k == "outfit").for_each(|(_, v)| *v = "pants + dress".into());
    let of_another = folder.join("other.take");
    other.write(&of_another).unwrap();
    let picture = folder.join("x.png");
    let [take, of_another, picture] = [&take, &of_another, &picture].map(|p| p.to_str().unwrap());
    refused(&["render", "--take", of_another, "--take", take, "--out", picture], "never worn together");
    // Nor takes of one in another order than they are worn in, or twice.
    let inner = folder.join("pants/walk.take");
    let inner = inner.to_str().unwrap();
    let wrong = "named twice or in a wrong order: takes of the outfit `pants + skirt`";
    refused(&["render", "--take", take, "--take", inner, "--out", picture], wrong);
    refused(&["render", "--take", inner, "--take", inner, "--out", picture], wrong);
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A crowd that is filmed for long.
#[cfg(unix)]
fn filming(folder: &std::path::Path, film: &str) -> std::process::Command {
    let path = folder.join("noise.toile");
    let joints = builtin::body("mannequin:female").unwrap().skeleton.len();
    let size = Size { vertices: 120, joints, cloth_dims: 16, body_dims: 16, order: 2 };
    corrected(size, 1).write(&path).unwrap();
    let mut crowd = std::process::Command::new(env!("CARGO_BIN_EXE_toile"));
    crowd.args(["crowd", "--count", "20", "--seconds", "60", "--size", "320x180", "--budget-us", "90000"]);
    crowd.arg("--model").arg(path).arg("--film").arg(folder.join(film));
    crowd
}

#[cfg(unix)]
#[test]
fn a_film_that_is_stopped_leaves_nothing_behind() {
    let folder = folder("stopped");
    let mut crowd = filming(&folder, "crowd.gif");
    let stderr = std::fs::File::create(folder.join("said.txt")).unwrap();
    let mut child = crowd.stdout(std::process::Stdio::null()).stderr(stderr).spawn().unwrap();
    let partial = || {
        let names = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name());
        names.filter(|n| n.to_string_lossy().ends_with(".partial")).count()
    };
    let mut ended = None;
    while partial() == 0 && ended.is_none() {
        std::thread::sleep(std::time::Duration::from_millis(20));
        ended = child.try_wait().unwrap();
    }
    let said = || std::fs::read_to_string(folder.join("said.txt")).unwrap();
    assert!(ended.is_none(), "ended before it filmed: {}", said());
    let interrupt = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(interrupt.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130), "{}", said());
    assert_eq!(partial(), 0);
    assert!(!folder.join("crowd.gif").exists());
    std::fs::remove_dir_all(&folder).unwrap();
}

#[cfg(unix)]
#[test]
fn a_film_that_cannot_be_encoded_is_refused_with_what_can_be() {
    let folder = folder("encoder");
    let out = filming(&folder, "crowd.mp4").env("PATH", "").output().unwrap();
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(said.contains(".gif or .apng") && !said.contains("numbered"), "{said}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_budget_is_kept_or_refused_with_what_would_do() {
    let folder = folder("budget");
    let path = folder.join("noise.toile");
    let joints = builtin::body("mannequin:female").unwrap().skeleton.len();
    let size = Size { vertices: 120, joints, cloth_dims: 16, body_dims: 16, order: 2 };
    corrected(size, 1).write(&path).unwrap();
    let model = path.to_str().unwrap();
    let crowd = ["crowd", "--model", model, "--count", "60", "--seconds", "0.3"];
    refused(&[&crowd[..], &["--budget-us", "1"]].concat(), "merely skinned");
    refused(&[&crowd[..], &["--budget-us", "0"]].concat(), "microseconds above 0");
    refused(
        &[&crowd[..], &["--budget-us", "9000", "--garment", "skirt", "--garment", "dress"]].concat(),
        "2 garments for 1 models",
    );
    refused(&[&crowd[..], &["--budget-us", "9000", "--film", "x.txt"]].concat(), "films are written as");
    refused(&[&crowd[..], &["--model", model]].concat(), "with --budget-us");
    let said = ok(&[&crowd[..], &["--budget-us", "50000", "--json"]].concat());
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    let tiers = said["tiers"].as_object().unwrap();
    let all: f64 = tiers.values().filter_map(serde_json::Value::as_f64).sum();
    assert!((all - 60.0).abs() < 1e-6, "{tiers:?}");
    assert!(said["p99_ms"].as_f64().is_some_and(|ms| ms > 0.0));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_page_wants_cases_and_unseen_clips() {
    refused(&["compare", "--page", "x.md"], "--case GARMENT=MODEL=FOLDER");
    refused(&["compare", "--page", "x.md", "--case", "skirt"], "GARMENT=MODEL=FOLDER");
}
