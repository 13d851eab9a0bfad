//! Takes in a model's own spaces, and garments back out of them.

use crate::spaces::unposed_points;
use crate::takes::sequence::canonical_bones;
use glam::Vec3;
use toile_assets::{Model, ModelKind, Take};

/// Mean vertex distance of coefficients `y` to a frame of a take, cm.
pub(crate) fn mean_distance_cm(model: &Model, y: &[f32], take: &Take, f: usize) -> f64 {
    let mut out = vec![Vec3::ZERO; model.vertices];
    reconstruct(model, y, take, f, &mut out);
    let sum: f64 = out.iter().zip(take.frame(f)).map(|(a, b)| f64::from(a.distance(*b))).sum();
    100.0 * sum / model.vertices.max(1) as f64
}

/// The simulation's own coefficients in the model's space.
pub(crate) fn project_cloth(model: &Model, take: &Take, f: usize) -> Vec<f32> {
    project_points(model, take, f, take.frame(f))
}

/// Those of any garment in the pose of a frame.
pub(crate) fn project_points(model: &Model, take: &Take, f: usize, points: &[Vec3]) -> Vec<f32> {
    let root = take.roots[f];
    let d = model.cloth_dims;
    let mut y = vec![0.0f64; d];
    let apart: Vec<glam::DVec3> = match (model.kind, &model.attachment) {
        (ModelKind::D, Some(attachment)) => unposed_points(attachment, take, f, points),
        _ => {
            let points = points.iter().zip(&model.cloth_mean);
            points.map(|(p, mean)| root.canonical_from_world(p.as_dvec3()) - mean.as_dvec3()).collect()
        }
    };
    for (v, apart) in apart.into_iter().enumerate() {
        for (axis, value) in apart.to_array().into_iter().enumerate() {
            let row = &model.cloth_basis[(3 * v + axis) * d..(3 * v + axis + 1) * d];
            y.iter_mut().zip(row).for_each(|(y, b)| *y += f64::from(*b) * value);
        }
    }
    y.into_iter().map(|v| v as f32).collect()
}

/// The body's coefficients before any clamping.
pub(crate) fn project_body(model: &Model, take: &Take, f: usize) -> Vec<f32> {
    let centred: Vec<f64> =
        canonical_bones(take, f).zip(&model.bones_mean).map(|(b, m)| b - f64::from(*m)).collect();
    let rows = model.body_from_bones.chunks_exact(centred.len());
    rows.map(|row| row.iter().zip(&centred).map(|(p, b)| f64::from(*p) * b).sum::<f64>() as f32).collect()
}

pub(crate) fn order_zero(model: &Model, x: &[f32]) -> Vec<f32> {
    let rows = model.a0.chunks_exact(model.body_dims).zip(&model.bias0);
    rows.map(|(row, bias)| bias + row.iter().zip(x).map(|(a, x)| a * x).sum::<f32>()).collect()
}

/// The garment of coefficients in the pose of a frame.
pub(crate) fn reconstruct(model: &Model, y: &[f32], take: &Take, f: usize, out: &mut [Vec3]) {
    let d = model.cloth_dims;
    for (v, out) in out.iter_mut().enumerate() {
        let mut p = model.cloth_mean[v];
        for axis in 0..3 {
            let row = &model.cloth_basis[(3 * v + axis) * d..(3 * v + axis + 1) * d];
            p[axis] += row.iter().zip(y).map(|(b, y)| b * y).sum::<f32>();
        }
        *out = match (model.kind, &model.attachment) {
            (ModelKind::D, Some(attachment)) => {
                attachment.skin.blend(v, take.frame_bones(f)).transform_point3(p)
            }
            _ => take.roots[f].world_from_canonical(p.as_dvec3()).as_vec3(),
        };
    }
}
