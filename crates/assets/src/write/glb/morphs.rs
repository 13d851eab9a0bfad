//! Shapes that blend: cloth frame by frame, and the basis of a learned garment.

use super::container::{Container, Target};
use super::skinned::{add_channel, add_times};
use crate::{Error, Result};
use glam::Vec3;
use serde_json::{Value, json};
use toile_geometry::vertex_normals;

/// Adds one target per shape to a primitive, as displacements of positions and of normals from `base`.
pub(super) fn add_targets<'s>(
    file: &mut Container,
    base: &[Vec3],
    base_normals: &[Vec3],
    triangles: &[[u32; 3]],
    shapes: impl Iterator<Item = &'s [Vec3]>,
) -> Result<Vec<Value>> {
    let mut targets = Vec::new();
    for (s, shape) in shapes.enumerate() {
        if shape.len() != base.len() {
            let what = format!("shape {s} has {} vertices, the mesh has {}", shape.len(), base.len());
            return Err(Error::Invalid(what));
        }
        if let Some(v) = shape.iter().position(|p| !p.is_finite()) {
            return Err(Error::Invalid(format!("shape {s}, vertex {v} is not finite")));
        }
        let moved: Vec<[f32; 3]> = shape.iter().zip(base).map(|(p, b)| (*p - *b).to_array()).collect();
        let normals = vertex_normals(shape, triangles);
        let turned: Vec<[f32; 3]> = normals
            .iter()
            .zip(base_normals)
            // A normal that vanishes stays what it was.
            .map(|(n, b)| if *n == Vec3::ZERO { [0.0; 3] } else { (*n - *b).to_array() })
            .collect();
        targets.push(json!({
            "POSITION": file.floats(&moved, Target::Vertices, true),
            "NORMAL": file.floats(&turned, Target::Vertices, false),
        }));
    }
    Ok(targets)
}

/// Adds a channel of weights to an animation: one row of `targets` weights per frame.
pub(super) fn add_weights_channel(
    file: &mut Container,
    animation: &mut Value,
    node: usize,
    frames: usize,
    weights: &[[f32; 1]],
    fps: f64,
) -> Result<()> {
    if !(fps.is_finite() && fps > 0.0) {
        return Err(Error::Invalid(format!("cannot write shapes at {fps} frames per second")));
    }
    let times = add_times(file, frames, fps);
    let values = file.floats(weights, Target::Other, false);
    add_channel(animation, node, "weights", times, values);
    Ok(())
}

/// Weights that show frame `f` of a sequence at key `f`: nothing for the first, which is the mesh itself.
pub(super) fn one_after_another(frames: usize) -> Vec<[f32; 1]> {
    let targets = frames.saturating_sub(1);
    let mut weights = vec![[0.0]; frames * targets];
    for f in 1..frames {
        weights[f * targets + f - 1] = [1.0];
    }
    weights
}
