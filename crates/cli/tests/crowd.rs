//! `toile crowd` on a made-up model: the keys it promises, sensible numbers, and what bad requests get.

#[path = "../../run/tests/synthetic/mod.rs"]
mod synthetic;

use std::path::Path;
use std::process::{Command, Output};
use synthetic::{Size, model};
use toile_assets::builtin;

fn toile(args: &[&str], model: &Path) -> Output {
    let program =
        Command::new(env!("CARGO_BIN_EXE_toile")).arg("crowd").args(args).arg("--model").arg(model).output();
    program.expect("the program runs")
}

#[test]
fn a_crowd_is_measured_and_bad_requests_are_named() {
    let folder = std::env::temp_dir().join(format!("toile-crowd-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("noise.toile");
    let joints = builtin::body("mannequin:female").unwrap().skeleton.len();
    let size = Size { vertices: 120, joints, cloth_dims: 16, body_dims: 16, order: 2 };
    model(size, 1).write(&path).unwrap();

    let out = toile(&["--count", "70", "--seconds", "0.2", "--threads", "2", "--json"], &path);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let value: serde_json::Value = serde_json::from_slice(&out.stdout).expect("one JSON object");
    assert_eq!((value["count"].as_u64(), value["threads"].as_u64()), (Some(70), Some(2)));
    assert!(value["adapter"].as_str().is_some_and(|a| a.starts_with("cpu ")));
    for key in ["garment_frames_per_s", "median_ms", "p95_ms", "p99_ms", "floor_ratio"] {
        assert!(value[key].as_f64().is_some_and(|v| v > 0.0 && v.is_finite()), "{key}: {}", value[key]);
    }
    for key in ["latent_ms", "reconstruct_ms", "normals_ms"] {
        assert!(value["stages"][key].as_f64().is_some_and(|v| v >= 0.0), "{key}: {}", value["stages"]);
    }
    let said = toile(&["--count", "9", "--seconds", "0.05", "--normals", "--rate", "60"], &path);
    assert!(said.status.success() && String::from_utf8_lossy(&said.stdout).contains("garments a second"));

    for bad in [&["--count", "0"][..], &["--threads", "0"], &["--seconds", "-1"], &["--rate", "0"]] {
        assert_eq!(toile(bad, &path).status.code(), Some(2), "{bad:?}");
    }
    // What would be passed over is refused.
    for (passed_over, said) in [
        (&["--gpu", "--film", "x.mp4"][..], "--film"),
        (&["--gpu", "--wind", "0,0,3"], "--wind"),
        (&["--gpu", "--fabric", "denim"], "--fabric"),
        (&["--picture", "x.png", "--wind", "0,0,3"], "--picture"),
        (&["--gpu", "--detail", "1"], "--picture"),
    ] {
        let out = toile(passed_over, &path);
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.code() == Some(2) && text.contains(said), "{passed_over:?}: {text}");
    }
    let other = folder.join("other.toile");
    model(Size { joints: 3, ..size }, 1).write(&other).unwrap();
    let out = toile(&[], &other);
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("3 joints"));
    assert_eq!(toile(&[], Path::new("/no/such.toile")).status.code(), Some(2));
    std::fs::remove_dir_all(&folder).unwrap();
}
