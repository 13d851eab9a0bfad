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
