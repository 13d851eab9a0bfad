//! A learned garment as morph targets, so that any engine animates it with a few coefficients.
//!
//! The mesh is the model's mean, target `k` is `scale[k]` times basis vector `k`, and the weight of target `k` is
//! `y[k] / scale[k]` for the coefficients `y` that the run time gives. The node's place is the root's. Scales bring
//! weights to about −1…1, which sliders and compressed animation expect; they are stored with the mesh. A model of kind d
//! is skinned: its targets move the mesh in the bind pose, and it plays as is on the character beside it.

use crate::pacing::Pacing;
use crate::resolve::{self, BadRequest};
use crate::tiers::{self, PosedMotion};
use anyhow::{Context, Result};
use glam::Vec3;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use toile_assets::write::glb::{BasisMotion, MorphBasis, Wearer, write_morph_basis};
use toile_assets::{Body, Garment, Mesh, Model, ModelKind, Motion, RootFrame};
use toile_run::Stable;

/// What `--morphs` is asked for.
pub struct Request<'a> {
    pub model: &'a Path,
    pub out: &'a Path,
    /// Draws it with the vertices of its own file.
    pub garment: Option<Garment>,
    /// Animates it.
    pub motion: Option<&'a str>,
    pub clip: Option<&'a str>,
}

/// Writes the file and says what is in it.
pub fn write(request: &Request, body: &Body) -> Result<Value> {
    let model = tiers::model_for(request.model, body, request.garment.as_ref())?;
    let scales = scales(&model);
    let own =
        Mesh { positions: model.cloth_mean.clone(), triangles: model.triangles.clone(), uvs: Vec::new() };
    let order: Vec<u32> = match &request.garment {
        Some(garment) => garment.sim_from_render.clone(),
        None => (0..model.vertices as u32).collect(),
    };
    let mesh = request.garment.as_ref().map_or(&own, |g| &g.render);
    let mean: Vec<Vec3> = order.iter().map(|&v| model.cloth_mean[v as usize]).collect();
    let d = model.cloth_dims;
    let basis: Vec<Vec<Vec3>> = (0..d)
        .map(|k| {
            let entry = |v: u32, axis: usize| model.cloth_basis[(3 * v as usize + axis) * d + k] * scales[k];
            order.iter().map(|&v| Vec3::new(entry(v, 0), entry(v, 1), entry(v, 2))).collect()
        })
        .collect();
    let played = match request.motion {
        Some(name) => Some(play(&model, body, name, request.clip, &scales)?),
        None => None,
    };
    let attachment = match (model.kind, &model.attachment) {
        (ModelKind::D, Some(own)) => Some(own.spread(&order, &mean)?),
        _ => None,
    };
    let about = match attachment {
        Some(_) => "weight[k] = y[k] / scale[k], added in the bind pose before the mesh is skinned",
        None => {
            "weight[k] = y[k] / scale[k]; the node stands at the root and is turned by its heading about +Y"
        }
    };
    let extras = json!({"toile": {
        "about": about,
        "scale": scales, "fps": model.fps, "order": model.order,
        "travel_bound_m": model.certificate.travel_bound_m.iter().copied().fold(0.0, f32::max),
    }});
    // What is skinned goes where its bones go.
    let roots = |p: &'_ Weights| if attachment.is_some() { Vec::new() } else { p.roots.clone() };
    let roots = played.as_ref().map_or(Vec::new(), roots);
    let motion = played.as_ref().map(|p| BasisMotion { weights: &p.weights, roots: &roots, fps: model.fps });
    let wearer = attachment.as_ref().map(|a| Wearer {
        body,
        skin: &a.skin,
        motion: played.as_ref().map(|p| &p.motion),
    });
    let name = request.model.file_stem().unwrap_or_default().to_string_lossy();
    let space = MorphBasis { name: &name, mesh, mean: &mean, basis: &basis, wearer, motion, extras };
    write_morph_basis(request.out, &space)?;
    let largest = played.iter().flat_map(|p| p.weights.iter().flatten()).fold(0.0f32, |m, w| m.max(w.abs()));
    Ok(json!({
        "files": [request.out], "targets": d, "vertices": mean.len(), "scale": scales,
        "frames": played.as_ref().map_or(0, |p| p.weights.len()), "fps": model.fps, "largest_weight": largest,
    }))
}

struct Weights {
    weights: Vec<Vec<f32>>,
    roots: Vec<RootFrame>,
    motion: Motion,
}

fn play(model: &Arc<Model>, body: &Body, name: &str, clip: Option<&str>, scales: &[f32]) -> Result<Weights> {
    let shot = PosedMotion::new(name, clip, body, &Pacing::AS_IS, model.fps, None)?;
    let mut garment = Stable::new(model.clone());
    let mut weights = Vec::with_capacity(shot.len());
    for (f, (bones, root)) in shot.bones.iter().zip(&shot.roots).enumerate() {
        let stepped = garment.step_with_root(bones, root, 1.0 / shot.fps);
        stepped.with_context(|| format!("{name}, frame {f}"))?;
        weights.push(garment.coefficients().iter().zip(scales).map(|(y, s)| y / s).collect());
    }
    Ok(Weights { weights, roots: shot.roots, motion: shot.motion })
}

/// About how large each coefficient gets: its middle and three standard deviations, were body coefficients spread
/// evenly over the box the model is certified for and cloth without memory. What moves by memory alone looks too
/// small that way; but the basis is sorted, so no coefficient is given less than a later one or a twentieth of the
/// largest.
fn scales(model: &Model) -> Vec<f32> {
    if let Some(c) = &model.correction {
        // A quarter of what is ever allowed is about what is common.
        let largest = c.half_axes.iter().copied().fold(1e-6, f32::max);
        return c.half_axes.iter().map(|axis| 0.25 * axis.max(0.05 * largest)).collect();
    }
    let m = model.body_dims;
    let mut sizes: Vec<f32> = (0..model.cloth_dims)
        .map(|k| {
            let (mut middle, mut variance) = (f64::from(model.bias0[k]), 0.0);
            for j in 0..m {
                let a = f64::from(model.a0[k * m + j]);
                let (lo, hi) = (f64::from(model.inputs.body_min[j]), f64::from(model.inputs.body_max[j]));
                middle += a * 0.5 * (lo + hi);
                variance += (a * (hi - lo)).powi(2) / 12.0;
            }
            (middle.abs() + 3.0 * variance.sqrt()) as f32
        })
        .collect();
    let largest = sizes.iter().copied().fold(0.0, f32::max);
    let mut least = if largest.is_finite() && largest > 1e-6 { 0.05 * largest } else { 1.0 };
    for size in sizes.iter_mut().rev() {
        least = if size.is_finite() { least.max(*size) } else { least };
        *size = least;
    }
    sizes
}

/// The garment that draws a model, where one was named.
pub fn garment(
    names: &[String],
    body: &Body,
    rest: toile_assets::read::garment::RestChoice,
) -> Result<Option<Garment>> {
    match names {
        [] => Ok(None),
        [name] => Ok(Some(resolve::garment(name, body, rest, None)?)),
        _ => Err(BadRequest("a model is one garment; give --garment once".into()).into()),
    }
}
