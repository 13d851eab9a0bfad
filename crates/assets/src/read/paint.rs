//! Painted attributes beside a garment's mesh.

use crate::{Error, Layer, Paint, Result};
use serde_json::Value;
use std::path::Path;

/// `"layers": ["loose", null, …]`, `"max_distance_m": [0.1, …]` and `"backstop_m": [0.02, …]` of `name.json` beside the
/// mesh, one entry a vertex of the file. `sim_of` gives the simulation vertex of each of the file's; where several are
/// welded into one, the stricter value holds.
pub(super) fn read_paint(
    beside: &Path,
    json: &Value,
    (vertices, sim_vertices): (usize, usize),
    sim_of: impl Fn(u32) -> Option<u32>,
) -> Result<Paint> {
    let mut paint = Paint::default();
    if let Some(list) = entries(beside, json, "layers", vertices)? {
        paint.layer = vec![None; sim_vertices];
        for (v, value) in list.iter().enumerate() {
            let layer = match value {
                Value::Null => None,
                value => Some(layer(value).ok_or_else(|| {
                    let what = format!("{value} is none of \"stretch\", \"loose\", \"floating\" or null");
                    Error::bad(beside, format!("layers[{v}]"), what)
                })?),
            };
            if let Some(sim) = sim_of(v as u32) {
                paint.layer[sim as usize] = layer.or(paint.layer[sim as usize]);
            }
        }
    }
    for (name, out) in [("max_distance_m", &mut paint.max_distance_m), ("backstop_m", &mut paint.backstop_m)]
    {
        let Some(list) = entries(beside, json, name, vertices)? else { continue };
        *out = vec![f32::INFINITY; sim_vertices];
        for (v, value) in list.iter().enumerate() {
            let metres = value.as_f64().filter(|m| (0.0..=1e3).contains(m)).ok_or_else(|| {
                let what = format!("{value} is not a distance in metres, 0 (held) or more");
                Error::bad(beside, format!("{name}[{v}]"), what)
            })?;
            if let Some(sim) = sim_of(v as u32) {
                out[sim as usize] = out[sim as usize].min(metres as f32);
            }
        }
    }
    Ok(paint)
}

/// The list of that name, of the right length; `None` where there is none.
fn entries<'a>(beside: &Path, json: &'a Value, name: &str, vertices: usize) -> Result<Option<&'a [Value]>> {
    let Some(value) = json.get(name) else { return Ok(None) };
    let list = value.as_array().ok_or_else(|| Error::bad(beside, name, "is not a list"))?;
    if list.len() != vertices {
        let what = format!("{} entries for {vertices} vertices; paint one for each", list.len());
        return Err(Error::bad(beside, name, what));
    }
    Ok(Some(list))
}

fn layer(value: &Value) -> Option<Layer> {
    [Layer::Stretch, Layer::Loose, Layer::Floating].into_iter().find(|l| value.as_str() == Some(l.name()))
}
