//! One learned garment (de Aguiar et al. 2010, eq. 1, 5 and 6).
//!
//! The body is never skinned: its coefficients are linear in the bone matrices. Inputs are clamped to the set
//! that the model's certificate covers, so the travel bound in the file holds whatever is fed in.

use crate::{StepReport, Tier};
use glam::{Affine3A, DVec3, Mat3A, Vec3};
use std::sync::Arc;
use toile_assets::{Model, RootFrame};

/// A learned garment on one character.
pub struct Stable {
    model: Arc<Model>,
    /// `cloth_dims × 3·vertices`: the basis with lanes over vertices.
    basis: Vec<f32>,
    /// Latest first: `order + 1` latent vectors, of which the first is the current one.
    latent: Vec<Vec<f32>>,
    /// Root displacement and turn of the latest steps, latest first, each in the frame before it.
    moves: Vec<(Vec3, f32)>,
    root: Option<RootFrame>,
    frames: usize,
    bones: Vec<f32>,
    body: Vec<f32>,
}

impl Stable {
    /// A garment at rest until its first step.
    pub fn new(model: Arc<Model>) -> Self {
        let (d, rows) = (model.cloth_dims, 3 * model.vertices);
        let mut basis = vec![0.0; rows * d];
        for r in 0..rows {
            for k in 0..d {
                basis[k * rows + r] = model.cloth_basis[r * d + k];
            }
        }
        Self {
            latent: vec![vec![0.0; d]; model.order + 1],
            moves: vec![(Vec3::ZERO, 0.0); model.order],
            root: None,
            frames: 0,
            bones: vec![0.0; 12 * model.joints],
            body: vec![0.0; model.body_dims],
            basis,
            model,
        }
    }

    /// The cloth coefficients `y` of the current frame.
    pub fn coefficients(&self) -> &[f32] {
        &self.latent[0]
    }

    /// The body coefficients `x` of the current frame, after clamping.
    pub fn body_coefficients(&self) -> &[f32] {
        &self.body
    }

    /// `x = P(b − b̄)`, clamped to the certified box.
    fn read_body(&mut self, bones: &[Affine3A], root: &RootFrame) -> u32 {
        let turn = Mat3A::from_rotation_y(-root.heading as f32);
        let position = root.position.as_vec3a();
        for (bone, out) in bones.iter().zip(self.bones.as_chunks_mut::<12>().0) {
            let m =
                Affine3A { matrix3: turn * bone.matrix3, translation: turn * (bone.translation - position) };
            *out = m.to_cols_array();
        }
        let model = &*self.model;
        for (b, mean) in self.bones.iter_mut().zip(&model.bones_mean) {
            *b -= mean;
        }
        let mut clamped = 0;
        for (k, row) in model.body_from_bones.chunks_exact(self.bones.len()).enumerate() {
            let x = dot(row, &self.bones);
            let held = x.clamp(model.inputs.body_min[k], model.inputs.body_max[k]);
            clamped += u32::from(held != x);
            self.body[k] = held;
        }
        clamped
    }

    /// The root's displacement and turn since the last frame, within the certified limits.
    fn read_root(&mut self, root: &RootFrame) -> u32 {
        let inputs = &self.model.inputs;
        let before = self.root.replace(*root).unwrap_or(*root);
        let delta = RootFrame { position: DVec3::ZERO, ..before }
            .canonical_from_world(root.position - before.position)
            .as_vec3();
        let flat = Vec3::new(delta.x, 0.0, delta.z);
        let kept = flat.clamp_length_max(inputs.max_horizontal_m)
            + Vec3::Y * delta.y.clamp(-inputs.max_vertical_m, inputs.max_vertical_m);
        let turn = (root.heading - before.heading) as f32;
        let kept_turn = turn.clamp(-inputs.max_turn, inputs.max_turn);
        if !self.moves.is_empty() {
            self.moves.rotate_right(1);
            self.moves[0] = (kept, kept_turn);
        }
        u32::from(kept != delta) + u32::from(kept_turn != turn)
    }

    /// Adds `Cᵢ z_{t−i+1, t−N}` for i = 1…N: every displacement is relative to the oldest frame.
    fn add_root_terms(&self, y: &mut [f32]) {
        let order = self.model.order;
        let (mut travel, mut heading) = (Vec3::ZERO, 0.0f32);
        // From the oldest move to the latest: after `k` moves we stand at frame t − (order − k).
        for k in 1..=order {
            let (delta, turn) = self.moves[order - k];
            travel += Mat3A::from_rotation_y(heading) * delta;
            heading += turn;
            let z = [travel.x, travel.y, travel.z, heading.sin(), heading.cos() - 1.0];
            let c = &self.model.c[order - k];
            for (y, row) in y.iter_mut().zip(c.as_chunks::<5>().0) {
                *y += dot(row, &z);
            }
        }
    }
}

impl Tier for Stable {
    fn reset(&mut self) {
        self.frames = 0;
        self.root = None;
        self.moves.fill((Vec3::ZERO, 0.0));
    }

    fn step(&mut self, bones: &[Affine3A], root: &RootFrame) -> StepReport {
        let usable = bones.len() == self.model.joints
            && bones.iter().all(Affine3A::is_finite)
            && root.position.is_finite()
            && root.heading.is_finite();
        if !usable {
            return StepReport { refused: true, ..StepReport::default() };
        }
        let clamped = self.read_body(bones, root) + self.read_root(root);
        self.latent.rotate_right(1);
        let mut y = std::mem::take(&mut self.latent[0]);
        let model = &*self.model;
        let d = model.body_dims;
        if self.frames < model.order {
            // The first frames have no history: the order-0 model starts the recursion (§6).
            for (k, y) in y.iter_mut().enumerate() {
                *y = model.bias0[k] + dot(&model.a0[k * d..(k + 1) * d], &self.body);
            }
        } else {
            for (k, y) in y.iter_mut().enumerate() {
                *y = model.bias[k] + dot(&model.a[k * d..(k + 1) * d], &self.body);
            }
            for (b, before) in model.b.iter().zip(&self.latent[1..]) {
                for (y, row) in y.iter_mut().zip(b.chunks_exact(model.cloth_dims)) {
                    *y += dot(row, before);
                }
            }
            if !model.c.is_empty() {
                self.add_root_terms(&mut y);
            }
        }
        self.latent[0] = y;
        self.frames += 1;
        StepReport { clamped, refused: false }
    }

    fn positions(&self, out: &mut [Vec3]) {
        let rows = 3 * self.model.vertices;
        out.copy_from_slice(&self.model.cloth_mean);
        let flat = coordinates(out);
        for (column, y) in self.basis.chunks_exact(rows).zip(&self.latent[0]) {
            flat.iter_mut().zip(column).for_each(|(o, b)| *o += b * y);
        }
        let Some(root) = self.root else { return };
        let turn = Mat3A::from_rotation_y(root.heading as f32);
        let at = root.position.as_vec3();
        for p in out {
            *p = turn * *p + at;
        }
    }

    fn vertices(&self) -> usize {
        self.model.vertices
    }
}

/// Vertices as one run of coordinates.
fn coordinates(positions: &mut [Vec3]) -> &mut [f32] {
    bytemuck::cast_slice_mut(positions)
}

/// Eight independent partial sums, always in the same order.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a4, a_rest) = a.as_chunks::<8>();
    let (b4, b_rest) = b.as_chunks::<8>();
    let mut sums = [0.0f32; 8];
    for (x, y) in a4.iter().zip(b4) {
        for k in 0..8 {
            sums[k] += x[k] * y[k];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f32>() + rest
}
