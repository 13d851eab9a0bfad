//! What a report states besides scores: the model's own figures, the machine, the gate.

use crate::evaluate::{Check, Gate};
use anyhow::Result;
use serde_json::{Value, json};
use toile_assets::Model;

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

/// Machine and versions.
pub fn of_machine(adapter: &str) -> Value {
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
    let row = |c: &Check| json!({"key": c.key, "value": c.found, "wanted": c.wanted(), "pass": c.pass});
    Ok((checks.iter().map(row).collect(), checks.iter().all(|c| c.pass)))
}
