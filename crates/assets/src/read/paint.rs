//! Painted attributes beside a garment's mesh.

use crate::{Error, Layer, Paint, Result};
use serde_json::Value;
use std::path::Path;

/// What a file beside a garment may say of its vertices.
const NAMES: [&str; 5] = ["labels", "layers", "max_distance_m", "backstop_m", "vertex_colours"];

/// Whether anything is said of single vertices.
pub(super) fn is_said(json: &Value) -> bool {
    NAMES.iter().any(|name| json.get(name).is_some())
}

/// Refuses names that are nearly ours: what is painted under `max_distance` would be lost without a word. Files beside a
/// garment may hold anything else.
pub(super) fn check_names(beside: &Path, json: &Value) -> Result<()> {
    let bare = |name: &str| -> String {
        let letters = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase);
        let word = letters.collect::<String>().replace("color", "colour");
        word.trim_end_matches(['s', 'm']).into()
    };
    for key in json.as_object().into_iter().flat_map(|o| o.keys()) {
        let meant = NAMES.iter().find(|name| **name != key && bare(name) == bare(key));
        if let Some(meant) = meant {
            let what = format!("is not a name that is read; is `{meant}` meant?");
            return Err(Error::bad(beside, format!("`{key}`"), what));
        }
    }
    Ok(())
}

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

/// Vertex colours as paint, where `name.json` beside the mesh says so: `"vertex_colours": {"max_distance_m": 0.3,
/// "backstop_m": 0.05, "layers": true}`. Red is the max distance (0 holds, 1 is so many metres), green the backstop in the
/// same way, blue the layer (0 by distance, 1/3 stretch, 2/3 loose, 1 floating); what is not named is not read.
pub(super) fn paint_of_colours(
    beside: &Path,
    scales: &Value,
    colours: &[[f32; 3]],
    sim_vertices: usize,
    sim_of: impl Fn(u32) -> Option<u32>,
) -> Result<Paint> {
    let mut paint = Paint::default();
    let scale = |name: &str| -> Result<Option<f32>> {
        let Some(value) = scales.get(name) else { return Ok(None) };
        let metres = value.as_f64().filter(|m| *m > 0.0 && *m <= 1e3).ok_or_else(|| {
            let what = format!("{value} is not the distance in metres, above 0, that full colour stands for");
            Error::bad(beside, format!("vertex_colours.{name}"), what)
        })?;
        Ok(Some(metres as f32))
    };
    let named = ["max_distance_m", "backstop_m", "layers"];
    let other = scales.as_object().map(|o| o.keys().find(|k| !named.contains(&k.as_str())));
    if !matches!(other, Some(None)) {
        let what =
            "wants {\"max_distance_m\": METRES, \"backstop_m\": METRES, \"layers\": true}, any of them";
        return Err(Error::bad(beside, "vertex_colours", what));
    }
    for (v, colour) in colours.iter().enumerate() {
        if let Some(c) = colour.iter().find(|c| !(0.0..=1.0).contains(*c)) {
            let what = format!("vertex {v} has {c}, and paint is between 0 and 1");
            return Err(Error::bad(beside, "vertex_colours", what));
        }
    }
    for (channel, name, out) in
        [(0, "max_distance_m", &mut paint.max_distance_m), (1, "backstop_m", &mut paint.backstop_m)]
    {
        let Some(metres) = scale(name)? else { continue };
        *out = vec![f32::INFINITY; sim_vertices];
        for (v, colour) in colours.iter().enumerate() {
            if let Some(sim) = sim_of(v as u32) {
                out[sim as usize] = out[sim as usize].min(metres * colour[channel]);
            }
        }
    }
    if scales.get("layers").and_then(Value::as_bool) == Some(true) {
        paint.layer = vec![None; sim_vertices];
        for (v, colour) in colours.iter().enumerate() {
            let layer = [None, Some(Layer::Stretch), Some(Layer::Loose), Some(Layer::Floating)]
                [(3.0 * colour[2]).round() as usize];
            if let Some(sim) = sim_of(v as u32) {
                paint.layer[sim as usize] = layer.or(paint.layer[sim as usize]);
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
