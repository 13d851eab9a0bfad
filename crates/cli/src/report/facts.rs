//! What a report states besides scores: the model's own figures, the machine, the gate.

use crate::evaluate::{Check, Gate};
use anyhow::Result;
use glam::Vec3;
use serde_json::{Value, json};
use std::time::Instant;
use toile_assets::{Attachment, Model, Take};
use toile_run::{Skinned, Tier};

/// Certificate, size and training of a model, from the file alone.
pub fn of_model(model: &Model) -> Value {
    let largest = |v: &[f32]| 100.0 * f64::from(v.iter().copied().fold(0.0, f32::max));
    let note = |key: &str| model.notes.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str());
    let number = |key: &str| note(key).and_then(|v| v.parse::<f64>().ok());
    let c = &model.certificate;
    let (tightness, tightness_rate) = model.tightness();
    json!({
        "vertices": model.vertices, "triangles": model.triangles.len(), "bytes": model.bytes(),
        "kind": format!("{:?}", model.kind), "order": model.order, "fps": model.fps,
        "cloth_dims": model.cloth_dims, "body_dims": model.body_dims,
        "rho": c.rho, "rho_before": number("rho_before"), "gamma": c.gamma, "transient_gain": c.transient_gain,
        "travel_bound_cm": largest(&c.travel_bound_m), "travel_bound_rate_cm": largest(&c.travel_bound_rate_m),
        "training_travel_cm": largest(&c.training_travel_m),
        "tightness": tightness, "tightness_rate": tightness_rate,
        "windows": number("windows"), "ridge": number("ridge"), "refined_over_frames": number("refined_over_frames"),
    })
}

/// The processor's name, as far as the system tells.
pub fn processor() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name =
        info.lines().find_map(|l| l.strip_prefix("model name")?.split_once(':').map(|(_, n)| n.trim()));
    name.unwrap_or("an unnamed processor").to_string()
}

/// Machine and versions, and what draws if anything does.
pub fn of_machine(adapter: Option<String>) -> Value {
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "processor": processor(),
        "cores": std::thread::available_parallelism().map_or(1, usize::from),
        "system": format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        "build": if cfg!(debug_assertions) { "debug" } else { "release" },
        "drawn_by": adapter,
    })
}

/// Adds the keys of one object to another.
pub fn merge(into: &mut Value, from: Value) {
    if let (Some(into), Value::Object(from)) = (into.as_object_mut(), from) {
        into.extend(from);
    }
}

/// Holds figures against a gate: its rows, and whether all of them pass.
pub fn of_gate(gate: &Gate, value: &Value) -> Result<(Value, bool)> {
    let checks = gate.checks(value)?;
    Ok((of_checks(&checks), checks.iter().all(|c| c.pass)))
}

/// A gate's rows.
pub fn of_checks(checks: &[Check]) -> Value {
    let row = |c: &Check| json!({"key": c.key, "value": c.found, "wanted": c.wanted(), "pass": c.pass});
    checks.iter().map(row).collect()
}

/// Median time of a simulated frame, ms; nothing where the takes do not know.
pub fn simulated_ms<'a>(takes: impl Iterator<Item = &'a Take>) -> Option<f32> {
    let mut ms: Vec<f32> = takes.flat_map(|t| t.reports.iter().skip(1).map(|r| r.ms)).collect();
    ms.sort_by(f32::total_cmp);
    ms.get(ms.len() / 2).copied().filter(|ms| *ms > 0.0)
}

/// Median time of a skinned garment and frame, µs.
#[allow(clippy::disallowed_methods)] // what it costs is what is reported
pub fn skinned_us(attachment: &Attachment, take: &Take) -> Result<f64> {
    let mut tier = Skinned::new(attachment.clone());
    let mut out = vec![Vec3::ZERO; tier.vertices()];
    let frame = |f: usize| {
        let start = Instant::now();
        tier.step(take.frame_bones(f), 1.0 / take.fps)?;
        tier.positions(&mut out);
        Ok(1e6 * start.elapsed().as_secs_f64())
    };
    let mut times = (0..take.len()).map(frame).collect::<Result<Vec<f64>>>()?;
    times.sort_by(f64::total_cmp);
    Ok(times.get(times.len() / 2).copied().unwrap_or(0.0))
}
