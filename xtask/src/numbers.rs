//! README's figures of the demo come from `docs/demo.json`, which a demo wrote; none is typed by hand.

use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::Path;

const JSON: &str = "docs/demo.json";
const FILM: &str = "docs/pictures/film.gif";
const README: &str = "README.md";
const FROM: &str = "<!-- figures: cargo xtask numbers -->";
const TO: &str = "<!-- end of figures -->";

/// README says what `docs/demo.json` says.
pub fn check() -> Result<()> {
    let text = std::fs::read_to_string(README)?;
    if replaced(&text, &table(&read(Path::new(JSON))?)?)? != text {
        bail!("{README} does not say what {JSON} says; run `cargo xtask numbers`");
    }
    Ok(())
}

/// Takes over a demo's figures and film where its folder is given, and writes README's table.
pub fn update(demo: Option<&str>) -> Result<()> {
    if let Some(folder) = demo.map(Path::new) {
        let mut value = read(&folder.join("demo.json"))?;
        for (key, wrong) in [("quick", "a quick one"), ("resumed", "resumed, so that its times mean nothing")]
        {
            if value[key] != false {
                bail!("{}: the demo was {wrong}; run it again in a new folder", folder.display());
            }
        }
        if value["machine"]["build"] != "release" {
            bail!("{}: made by a debug build; use `cargo run --release -- demo`", folder.display());
        }
        // Where it was made is nobody's concern.
        value.as_object_mut().map(|o| o.remove("report"));
        std::fs::copy(folder.join("film.gif"), FILM)?;
        put(JSON, &format!("{value:#}\n"))?;
    }
    let text = std::fs::read_to_string(README)?;
    put(README, &replaced(&text, &table(&read(Path::new(JSON))?)?)?)
}

fn put(path: &str, text: &str) -> Result<()> {
    Ok(std::fs::write(path, text)?)
}

fn read(path: &Path) -> Result<Value> {
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    serde_json::from_slice(&bytes).with_context(|| path.display().to_string())
}

/// The text with everything between the marks exchanged.
fn replaced(text: &str, table: &str) -> Result<String> {
    let (head, rest) = text.split_once(FROM).with_context(|| format!("{README} has no `{FROM}`"))?;
    let (_, tail) = rest.split_once(TO).with_context(|| format!("{README} has no `{TO}`"))?;
    Ok(format!("{head}{FROM}\n{table}{TO}{tail}"))
}

/// A number of the run, thousands apart as the rest of the page has them.
fn figure(v: &Value, key: &str, decimals: usize) -> Option<String> {
    let found = key.split('.').try_fold(v, |v, part| v.get(part)).and_then(Value::as_f64)?;
    let text = format!("{found:.decimals$}");
    Some(match text.len() {
        4.. if decimals == 0 => format!("{},{}", &text[..text.len() - 3], &text[text.len() - 3..]),
        _ => text,
    })
}

/// The limits of the gate that the run broke.
fn broken_limits(v: &Value) -> Vec<String> {
    let limits = v["gate"].as_array().into_iter().flatten();
    limits.filter(|r| r["pass"] == false).filter_map(|r| Some(format!("`{}`", r["key"].as_str()?))).collect()
}

fn table(v: &Value) -> Result<String> {
    let mut missing = Vec::new();
    let mut n = |key: &str, decimals: usize| {
        figure(v, key, decimals).unwrap_or_else(|| {
            missing.push(key.to_string());
            String::new()
        })
    };
    let kib = v["bytes"].as_f64().unwrap_or(0.0) / 1024.0;
    let failed = broken_limits(v);
    let rows = [
        (
            "simulated, with self-collision".to_string(),
            format!("{} ms a frame (as many clips at once as cores)", n("simulated_ms_per_frame", 0)),
        ),
        (
            "learned, bones to world-space vertices, one at a time".to_string(),
            format!("{} µs a frame, {kib:.0} kB", n("us_per_frame", 0)),
        ),
        (
            format!("{} learned garments on one core", n("crowd.count", 0)),
            format!(
                "{} ms a frame, {} % of a frame at 60 Hz",
                n("crowd.mean_ms", 1),
                n("crowd.share_of_60hz_percent", 0)
            ),
        ),
        (
            "mean vertex error on unseen clips, free run".to_string(),
            format!(
                "{} cm (skinning {} cm, best of its {}-dimensional space {} cm)",
                n("mean_cm", 1),
                n("skin_cm", 1),
                n("cloth_dims", 0),
                n("projection_cm", 1)
            ),
        ),
        (
            "liveliness, velocity correlation (1 is right)".to_string(),
            format!("{}, {}", n("liveliness", 2), n("correlation", 2)),
        ),
        (
            "error in the second after a stop, over the cloth's own way to rest".to_string(),
            n("settling.error_ratio", 2),
        ),
        (
            "vertices inside the body, learned (simulated)".to_string(),
            format!("{} % ({} %)", n("penetration_percent", 2), n("truth_penetration_percent", 2)),
        ),
        (
            "spectral radius; farthest any vertex can ever get from its skinned place".to_string(),
            format!(
                "{}; {} m, {} times what training saw",
                n("rho", 3),
                format_args!("{:.1}", v["travel_bound_cm"].as_f64().unwrap_or(0.0) / 100.0),
                n("tightness", 0)
            ),
        ),
        (
            "gate (`crates/cli/src/demo/gate.toml`)".to_string(),
            if failed.is_empty() { "passed".into() } else { format!("not passed: {}", failed.join(", ")) },
        ),
        ("whole run after the build".to_string(), format!("{} s", n("seconds", 0))),
    ];
    let mut out = format!(
        "{}, {} cores, {}, {} build.\n\n| `{}` (dress of {} vertices, {} clips to learn from, {} unseen ones to be judged on) | |\n|---|---|\n",
        v["machine"]["processor"].as_str().unwrap_or("?"),
        v["machine"]["cores"],
        v["machine"]["drawn_by"].as_str().unwrap_or("?"),
        v["machine"]["build"].as_str().unwrap_or("?"),
        v["command"].as_str().unwrap_or("?"),
        n("vertices", 0),
        n("train_clips", 0),
        n("test_clips", 0)
    );
    for (what, figure) in rows {
        out.push_str(&format!("| {what} | {figure} |\n"));
    }
    if missing.is_empty() { Ok(out) } else { bail!("{JSON} has no number `{}`", missing.join("`, `")) }
}
