//! A file in which any number was changed does not load.

#[path = "../../run/tests/synthetic/mod.rs"]
mod synthetic;

use synthetic::{SMALL, corrected, hearing, model};
use toile_model::Model;

fn folder(name: &str) -> std::path::PathBuf {
    let dir = std::env::temp_dir().join(format!("toile-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

fn written(model: &Model, dir: &std::path::Path) -> Result<Model, String> {
    let path = dir.join("a.toile");
    model.write(&path).unwrap();
    Model::read(&path).map_err(|e| e.to_string())
}

#[test]
fn models_come_back_as_they_were_and_from_memory_too() {
    let dir = folder("round");
    for model in [model(SMALL, 1), corrected(SMALL, 1), hearing(SMALL, 1)] {
        assert_eq!(written(&model, &dir).unwrap(), model);
        let bytes = std::fs::read(dir.join("a.toile")).unwrap();
        assert_eq!(Model::from_bytes(&bytes).unwrap(), model);
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

/// Programs of before read what does not need more than they know.
#[test]
fn models_are_of_the_oldest_version_that_has_all_of_them() {
    let dir = folder("version");
    let mut poses_alone = corrected(SMALL, 1);
    let c = poses_alone.correction.as_mut().unwrap();
    let kept = c.plain_features() - c.anchor_count();
    c.readout = c.readout.chunks(c.plain_features()).flat_map(|row| &row[..kept]).copied().collect();
    (c.directions, c.anchors, c.anchor_width_sq) = (Vec::new(), Vec::new(), 1.0);
    assert_eq!(written(&poses_alone, &dir).unwrap(), poses_alone);
    for (model, version) in [
        (model(SMALL, 1), "\"version\":\"3\""),
        (poses_alone, "\"version\":\"3\""),
        (corrected(SMALL, 1), "\"version\":\"5\""),
        (hearing(SMALL, 1), "\"version\":\"5\""),
    ] {
        written(&model, &dir).unwrap();
        let bytes = std::fs::read(dir.join("a.toile")).unwrap();
        let head = String::from_utf8_lossy(&bytes[..bytes.len().min(200_000)]).into_owned();
        assert!(head.contains(version), "{version}");
    }
    type Change = fn(&mut toile_model::Hearing);
    let changes: [(&str, Change); 4] = [
        ("an axis too many", |h| h.fabric_axes = vec![0.1; 20]),
        ("a term too few", |h| h.scale.truncate(11)),
        ("a large number", |h| h.mean[2] = 1e7),
        ("another basis than the readout's", |h| h.fabric_axes = vec![0.1; 10]),
    ];
    for (what, change) in changes {
        let mut model = hearing(SMALL, 1);
        change(model.correction.as_mut().unwrap().hearing.as_mut().unwrap());
        assert!(model.verify_certificate().is_err(), "{what}");
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

/// With the sum made anew, as a forger would: what the bound rests on is computed from the numbers themselves.
#[test]
fn a_large_number_anywhere_is_not_covered() {
    let dir = folder("forged");
    let c: [(&str, fn(&mut Model)); 6] = [
        ("a", |m| m.a[5] = 1e6),
        ("bias", |m| m.bias[3] = 1e6),
        ("c", |m| m.c[0][0] = 1e6),
        ("cloth_basis", |m| m.cloth_basis[17] = 1e6),
        ("cloth_mean", |m| m.cloth_mean[2].y = 1e6),
        ("a0", |m| m.a0[2] = 1e6),
    ];
    for (what, change) in c {
        let mut changed = model(SMALL, 1);
        change(&mut changed);
        let refused = written(&changed, &dir).expect_err(what);
        assert!(refused.contains("vertex"), "{what}: {refused}");
    }
    let mut cut = corrected(SMALL, 1);
    cut.correction.as_mut().unwrap().anchors.truncate(7);
    assert!(cut.verify_certificate().is_err(), "an anchor's number too few");
    let d: [(&str, fn(&mut Model)); 10] = [
        ("directions", |m| m.correction.as_mut().unwrap().directions[3] = 1e9),
        ("a width of nothing", |m| m.correction.as_mut().unwrap().anchor_width_sq = 0.0),
        ("cloth_basis", |m| m.cloth_basis[17] = 1e6),
        ("half_axes", |m| m.correction.as_mut().unwrap().half_axes[0] *= 10.0),
        ("poles", |m| m.correction.as_mut().unwrap().poles[0][0] = 0.999),
        ("readout", |m| m.correction.as_mut().unwrap().readout[3] = 1e9),
        ("gate", |m| m.correction.as_mut().unwrap().gate_sq = [2.0, 1.0]),
        ("rest", |m| m.cloth_mean[2].y = 1e6),
        ("bound", |m| m.certificate.travel_bound_m[4] *= 0.5),
        ("shield", |m| m.shield.as_mut().unwrap().limit_m = 1e6),
    ];
    for (what, change) in d {
        let mut changed = corrected(SMALL, 1);
        change(&mut changed);
        assert!(written(&changed, &dir).is_err(), "{what}");
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

/// The bound is computed anew, so what is stated cannot be less than what inputs reach, by little or by much.
#[test]
fn a_bound_that_inputs_pass_is_not_believed() {
    let dir = folder("reach");
    let stated = |scale: f32| {
        let mut made = model(SMALL, 1);
        made.certificate.travel_bound_m.iter_mut().for_each(|b| *b *= scale);
        made
    };
    let loads = |model: &Model| written(model, &dir).is_ok();
    assert!(loads(&stated(1.0)));
    let (mut least, mut most) = (0.0, 1.0);
    for _ in 0..20 {
        let middle = 0.5 * (least + most);
        if loads(&stated(middle)) { most = middle } else { least = middle }
    }
    assert!(most > 0.005, "the test's own premise: {most}");
    // With the least bound that loads, any part that grows is too much.
    let grown: [(&str, fn(&mut Model)); 5] = [
        ("a", |m| m.a.iter_mut().for_each(|v| *v *= 1.05)),
        ("b", |m| m.b[0].iter_mut().for_each(|v| *v *= 1.2)),
        ("c", |m| m.c[1].iter_mut().for_each(|v| *v *= 1.5)),
        ("cloth_basis", |m| m.cloth_basis.iter_mut().for_each(|v| *v *= 1.02)),
        ("body_max", |m| m.inputs.body_max.iter_mut().for_each(|v| *v *= 1.05)),
    ];
    for (what, change) in grown {
        let mut changed = stated(most);
        assert!(loads(&changed), "as it was");
        change(&mut changed);
        let refused = written(&changed, &dir).expect_err(what);
        assert!(refused.contains("vertex") && refused.contains("cm"), "{what}: {refused}");
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn a_single_changed_bit_of_any_array_is_noticed() {
    let dir = folder("bits");
    let path = dir.join("a.toile");
    for model in [model(SMALL, 1), corrected(SMALL, 1), hearing(SMALL, 1)] {
        model.write(&path).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let header = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        for k in 0..200 {
            let mut changed = bytes.clone();
            let at = header + (bytes.len() - header) * k / 200;
            changed[at] ^= 1 << (k % 8);
            let refused = Model::from_bytes(&changed).expect_err("a changed bit").to_string();
            assert!(refused.contains("sum") || refused.contains("finite"), "{refused}");
        }
    }
    std::fs::remove_dir_all(&dir).unwrap();
}
