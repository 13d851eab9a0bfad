//! A day of stepping: 24 h at 30 Hz is 2.6 million steps. `cargo test --release -p toile-run --test soak -- --ignored`.

mod synthetic;

use std::sync::Arc;
use synthetic::{SMALL, actor, bones, model};
use toile_run::{Crowd, CrowdSettings};

/// Resident memory of this process, kB; 0 where the system does not tell.
fn resident_kb() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmRSS"));
    line.and_then(|l| l.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}

fn soak(steps: usize) {
    let mut crowd = Crowd::new(CrowdSettings::default());
    let id = crowd.add_model(Arc::new(model(SMALL, 1)), 100).unwrap();
    let mut garments: Vec<_> = (0..100).map(|_| crowd.add(id).unwrap()).collect();
    let poses: Vec<_> = (0..97).map(|f| bones(SMALL, f, 0.13 * f as f32)).collect();
    let bound = 10.0;
    let mut before = 0;
    for step in 0..steps {
        // The actors walk on and on: by the end they are hundreds of kilometres away.
        for (who, i) in garments.iter().enumerate() {
            let mut at = actor(who, step as f64 * 0.033);
            at.position.x += step as f64 * 0.04;
            crowd.set_pose(*i, &at, &poses[(step + who) % poses.len()]).unwrap();
        }
        let report = crowd.step(1.0 / 30.0).unwrap();
        assert_eq!((report.stepped, report.refused), (100, 0));
        if step % 1000 == 0 {
            let gone = (step / 1000) % 100;
            crowd.remove(garments[gone]).unwrap();
            garments[gone] = crowd.add(id).unwrap();
            crowd.reset(garments[(gone + 31) % 100]).unwrap();
        }
        if step % 500 == 499 {
            let at = garments[step % 100];
            crowd.set_origin(crowd.root(at).unwrap().unwrap().position).unwrap();
            crowd.draw();
            let vertices = crowd.vertices(at).unwrap();
            assert!(vertices.iter().all(|v| v.is_finite() && v.length() < bound), "step {step}");
            for i in &garments {
                let y = crowd.coefficients(*i).unwrap();
                assert!(y.iter().all(|v| v.is_finite() && v.abs() < 1e3), "step {step}");
            }
        }
        if step == steps / 20 {
            before = resident_kb();
        }
    }
    let after = resident_kb();
    println!("{steps} steps of 100 garments, resident {before} kB early, {after} kB at the end");
    assert!(after <= before + 256, "memory grew from {before} to {after} kB");
}

#[test]
fn a_minute_of_stepping() {
    soak(1800);
}

#[test]
#[ignore = "minutes: a day's worth of steps"]
fn a_day_of_stepping() {
    soak(2_600_000);
}
