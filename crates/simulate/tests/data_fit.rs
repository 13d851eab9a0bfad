//! Real clips and clothes (`TOILE_DATA`): none that is sound may be refused, none that is not may pass.

use std::path::{Path, PathBuf};
use toile_assets::read::garment::{RestChoice, read_garment_for};
use toile_assets::read::{bvh, gltf};
use toile_assets::retarget::{RetargetSettings, retarget};
use toile_assets::{Body, builtin};
use toile_simulate::{GarmentFit, RecordSettings, find_jumps};

fn data() -> Option<PathBuf> {
    let found = std::env::var_os("TOILE_DATA").map(PathBuf::from);
    if found.is_none() {
        eprintln!("skipped: TOILE_DATA names no folder of real files");
    }
    found
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == ending))
        .collect();
    files.sort();
    files
}

fn person(data: &Path, name: &str) -> Body {
    gltf::read_body(data.join(format!("character/{name}.glb")), None).unwrap().value
}

#[test]
fn no_captured_clip_is_taken_for_one_that_jumps() {
    let Some(data) = data() else { return };
    let bodies = [builtin::body("mannequin:female").unwrap(), person(&data, "mh_female")];
    let mut clips = 0;
    for file in ["train", "test"].iter().flat_map(|s| files(&data.join("motion").join(s), "bvh")) {
        let motion = bvh::read_motion(&file, None).unwrap().value;
        for body in &bodies {
            let (carried, _) = retarget(&motion, body, &RetargetSettings::default()).unwrap();
            for fps in [30.0, motion.fps] {
                let jumps = find_jumps(body, &carried.resampled(fps), &RecordSettings::default());
                assert!(jumps.is_empty(), "{} at {fps} Hz: {jumps:?}", file.display());
            }
        }
        clips += 1;
    }
    assert_eq!(clips, 48);
}

#[test]
fn clothes_fit_their_own_body_and_no_other() {
    let Some(data) = data() else { return };
    let [woman, man] = ["mh_female", "mh_male"].map(|name| person(&data, name));
    let dummy = builtin::body("mannequin:female").unwrap();
    for folder in ["garmentcode", "makehuman"] {
        for file in files(&data.join("garments").join(folder), "obj") {
            let own = if file.to_string_lossy().contains("__mh_male") { &man } else { &woman };
            for body in [&woman, &man, &dummy] {
                let garment = read_garment_for(&file, RestChoice::Auto, None, Some(body)).unwrap().value;
                let fit = GarmentFit::measure(body, &garment);
                let fits = body.name == own.name;
                assert_eq!(fit.is_usable(), fits, "{} on {}: {fit:?}", file.display(), body.name);
            }
        }
    }
    for file in files(&data.join("garments/thirdparty"), "obj") {
        let shirt = file.to_string_lossy().contains("newton");
        let garment = read_garment_for(&file, RestChoice::Auto, None, Some(&woman)).unwrap().value;
        assert!(!shirt || !GarmentFit::measure(&woman, &garment).is_usable(), "{}", file.display());
    }
}
