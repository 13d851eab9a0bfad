//! A model in the layout that the kernels read.

use crate::Basis;
use crate::cpu::kernel::{Guard, Hanging, Matrix, PLACED, PLAIN, Packer, Schedule, bf16, cast};
use std::sync::Arc;
use toile_model::Model;

/// What a model D has beside the others.
pub(crate) struct Correcting {
    /// Where each body input is among the bones' numbers and what it is multiplied with, where each is one of them.
    pub picks: Option<Vec<(u32, f32)>>,
    /// Combinations of held inputs that are filtered.
    pub drive: Matrix<PLAIN>,
    /// `‖c‖² − 2 c·x` of every centre.
    pub near: Matrix<PLAIN>,
    /// Directions of held inputs and filters, and `‖a‖² − 2 a·p` of every anchor in them.
    pub directions: Matrix<PLAIN>,
    pub anchors: Matrix<PLAIN>,
    /// Bones of the garment's vertices.
    pub hanging: Hanging,
    /// What keeps vertices outside the body.
    pub guard: Option<Guard>,
    /// What each coefficient is of its half axis.
    pub per_axis: Vec<f32>,
    /// As many as there are body inputs, and as directions.
    pub ones: Vec<f32>,
}

/// A model's matrices in panels, ready to be multiplied with many instances at once.
pub(crate) struct Packed {
    pub model: Arc<Model>,
    /// Body coefficients from centred canonical bones.
    pub body: Matrix<PLAIN>,
    /// `[A B₁ … B_N C₁ … C_N]` and the bias: the next latent vector from `[x y_{t−1} … y_{t−N} z₁ … z_N]`. Of a model D
    /// the readout of its features.
    pub latent: Matrix<PLAIN>,
    /// The order-0 model that starts the recursion.
    pub start: Matrix<PLAIN>,
    /// Vertices from latent vectors; of a model D in the bind pose.
    pub vertices: Matrix<PLACED>,
    /// `None` unless this is a model D.
    pub correcting: Option<Correcting>,
    /// In which order normals are made.
    pub normals: Schedule,
    /// The farthest that one unit of each coefficient moves any vertex, m.
    pub reach_m: Vec<f32>,
    /// The same for what rounding changed in the basis; empty where it was not rounded.
    pub rounding_m: Vec<f32>,
}

impl Packed {
    /// Where normals are not wanted, nothing is prepared for them.
    pub fn new(model: Arc<Model>, basis: Basis, with_normals: bool) -> Self {
        let m = &*model;
        let (d, b, entries) = (m.cloth_dims, m.body_dims, 12 * m.joints);
        let history = b + d * m.b.len();
        let mean: &[f32] = cast::floats(&m.cloth_mean);
        let correction = m.correction.as_ref().zip(m.attachment.as_ref());
        let weight = |r: usize, k: usize| {
            if let Some((c, _)) = correction {
                c.readout[r * c.features() + k]
            } else if k < b {
                m.a[r * b + k]
            } else if k < history {
                let (i, k) = ((k - b) / d, (k - b) % d);
                m.b[i][r * d + k]
            } else {
                let (i, k) = ((k - history) / 5, (k - history) % 5);
                m.c[i][r * 5 + k]
            }
        };
        let half = basis == Basis::Half;
        // The farthest that any vertex moves with one unit of a coefficient, by what `entry` makes of the basis.
        let reach = |k: usize, entry: &dyn Fn(f32) -> f32| {
            let moved = |v: usize| {
                (0..3).map(|axis| entry(m.cloth_basis[(3 * v + axis) * d + k]).powi(2)).sum::<f32>()
            };
            (0..m.vertices).map(moved).fold(0.0, f32::max).sqrt()
        };
        let rounding = |w: f32| w - f32::from_bits(u32::from(bf16(w)) << 16);
        let inputs = correction.map_or(history + 5 * m.c.len(), |(c, _)| c.features());
        let bias = correction.map_or(&m.bias, |(c, _)| &c.bias);
        let beside = correction.map_or(0, |(c, _)| {
            Matrix::<PLAIN>::room(c.drives(), c.held(), false)
                + Matrix::<PLAIN>::room(c.centre_count(), b, false)
                + Matrix::<PLAIN>::room(c.direction_count(), c.held() + c.filtered(), false)
                + Matrix::<PLAIN>::room(c.anchor_count(), c.direction_count(), false)
        });
        let room = Matrix::<PLAIN>::room(b, entries, false)
            + Matrix::<PLAIN>::room(d, inputs, false)
            + Matrix::<PLACED>::room(3 * m.vertices, d, half)
            + Matrix::<PLAIN>::room(d, b, false)
            + beside;
        // In the order in which a frame reads them.
        let mut packer = Packer::new(room);
        let body = packer.put(b, entries, false, |r, k| m.body_from_bones[r * entries + k], |_| 0.0);
        let correcting = correction.map(|(c, attachment)| {
            let u = c.held();
            let drive = packer.put(c.drives(), u, false, |r, k| c.drive[r * u + k], |_| 0.0);
            let mut apart_from = |places: &[f32], count: usize, width: usize| {
                let place = |r: usize| &places[r * width..(r + 1) * width];
                let length_sq = |r: usize| place(r).iter().map(|v| v * v).sum();
                packer.put(count, width, false, |r, k| -2.0 * place(r)[k], length_sq)
            };
            let near = apart_from(&c.centres, c.centre_count(), b);
            let anchors = apart_from(&c.anchors, c.anchor_count(), c.direction_count());
            let width = u + c.filtered();
            let directions =
                packer.put(c.direction_count(), width, false, |r, k| c.directions[r * width + k], |_| 0.0);
            let per_axis = c.half_axes.iter().map(|a| 1.0 / a).collect();
            ([drive, near, directions, anchors], Hanging::new(&attachment.skin), per_axis)
        });
        let latent = packer.put(d, inputs, false, weight, |r| bias[r]);
        let vertices = packer.put(3 * m.vertices, d, half, |r, k| m.cloth_basis[r * d + k], |r| mean[r]);
        let start = packer.put(d, b, false, |r, k| m.a0[r * b + k], |r| m.bias0[r]);
        let pages = packer.finish();
        Self {
            body: body.of(&pages),
            latent: latent.of(&pages),
            start: start.of(&pages),
            vertices: vertices.of(&pages),
            correcting: correcting.map(|([drive, near, directions, anchors], hanging, per_axis)| {
                Correcting {
                    picks: picks(&m.body_from_bones, entries),
                    drive: drive.of(&pages),
                    near: near.of(&pages),
                    directions: directions.of(&pages),
                    anchors: anchors.of(&pages),
                    hanging,
                    guard: m
                        .shield
                        .as_ref()
                        .zip(m.attachment.as_ref())
                        .map(|(shield, worn)| Guard::new(shield, worn, &m.triangles)),
                    per_axis,
                    ones: vec![1.0; b.max(correction.map_or(0, |(c, _)| c.direction_count()))],
                }
            }),
            normals: Schedule::new(if with_normals { &m.triangles } else { &[] }, m.vertices),
            reach_m: (0..d).map(|k| reach(k, &|w| w)).collect(),
            rounding_m: if half { (0..d).map(|k| reach(k, &rounding)).collect() } else { Vec::new() },
            model: model.clone(),
        }
    }
}

/// The one entry of every row that is not zero; `None` where a row has more.
fn picks(rows: &[f32], width: usize) -> Option<Vec<(u32, f32)>> {
    let one = |row: &[f32]| {
        let mut found = row.iter().enumerate().filter(|(_, w)| **w != 0.0);
        let first = found.next().map_or((0, 0.0), |(k, w)| (k as u32, *w));
        found.next().is_none().then_some(first)
    };
    rows.chunks_exact(width).map(one).collect()
}
