//! What a demo says at its end.

use crate::report::tables::figure;
use serde_json::Value;
use std::path::Path;

/// What to do with an own character: commands that work as they stand, on the files in `example`.
pub fn next(out: &Path) -> String {
    let example = out.join("example").display().to_string();
    // Paths with spaces must survive being pasted.
    let e = if example.contains(|c: char| c.is_whitespace()) { format!("'{example}'") } else { example };
    format!(
        "toile simulate --body {e}/hero.glb --garment {e}/garment.obj --motion {e}/walk.bvh --stops 2 --out {e}/takes\n\
         toile train {e}/takes --body {e}/hero.glb --out {e}/garment.toile\n\
         toile animate --body {e}/hero.glb --garment {e}/garment.obj --model {e}/garment.toile --motion {e}/walk.bvh --out {e}/walk.pc2"
    )
}

/// How it swings after stops.
fn swing(value: &Value) -> String {
    if value["settling"]["swinging"].as_u64().unwrap_or(0) == 0 {
        return "no stop swings regularly enough to have a frequency".into();
    }
    let n = |key: &str| figure(value, key, 2);
    format!(
        "{} Hz where the simulation has {} Hz, decrement {} ({})",
        n("settling.hz"),
        n("settling.truth_hz"),
        n("settling.log_decrement"),
        n("settling.truth_log_decrement")
    )
}

/// Which limits it broke.
fn gate(value: &Value) -> String {
    let failed: Vec<&str> = value["gate"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|r| r["pass"] == false)
        .filter_map(|r| r["key"].as_str())
        .collect();
    let few = if value["quick"] == true { " (--quick learns from too few clips for it)" } else { "" };
    if failed.is_empty() { "passed".into() } else { format!("FAILED: {}{few}", failed.join(", ")) }
}

/// Ten lines, the path, and how to go on.
pub fn print(value: &Value, page: &Path, next: &str) {
    let n = |key: &str, decimals: usize| figure(value, key, decimals);
    let lines = [
        ("simulated", format!("{} ms a frame, self-collision on", n("simulated_ms_per_frame", 1))),
        (
            "learned",
            format!(
                "{} frames of {} clips, {} dimensions, {:.0} kB",
                value["train_frames"],
                value["train_clips"],
                value["cloth_dims"],
                value["bytes"].as_f64().unwrap_or(0.0) / 1024.0
            ),
        ),
        (
            "error",
            format!(
                "{} cm on unseen clips ({}), free run (skinned {} cm, best of its space {} cm)",
                n("mean_cm", 2),
                value["test_clips"],
                n("skin_cm", 2),
                n("projection_cm", 2)
            ),
        ),
        (
            "lively",
            format!(
                "{} of the simulation's own motion, correlation {}",
                n("liveliness", 2),
                n("correlation", 2)
            ),
        ),
        ("swing", swing(value)),
        (
            "inside",
            format!(
                "{} % of vertices inside the body (simulated {} %)",
                n("penetration_percent", 2),
                n("truth_penetration_percent", 2)
            ),
        ),
        (
            "cost",
            format!(
                "{} µs a garment and frame; {} of them {} ms on one core, {} % of a frame at 60 Hz",
                n("us_per_frame", 1),
                value["crowd"]["count"],
                n("crowd.mean_ms", 1),
                n("crowd.share_of_60hz_percent", 0)
            ),
        ),
        (
            "certified",
            format!(
                "ρ {}, no vertex ever farther than {} cm from its mean ({} times what training saw)",
                n("rho", 3),
                n("travel_bound_cm", 0),
                n("tightness", 0)
            ),
        ),
        ("gate", gate(value)),
        ("time", format!("{} s{}", n("seconds", 0), if value["resumed"] == true { ", resumed" } else { "" })),
        ("report", page.display().to_string()),
    ];
    for (name, line) in lines {
        println!("{name:10} {line}");
    }
    println!("\nWith your own character (these run as they are; put your files in their places):\n{next}");
}
