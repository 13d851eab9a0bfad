//! One tick of a model D: bounded inputs, stable filters, nearness to training poses and to anchors in the directions that
//! shapes follow, a readout held within an ellipsoid, and the gate.

use super::Shard;
use crate::angle::sin_cos;
use crate::cpu::kernel::{self, Buffer, Rows, RowsMut};
use crate::cpu::packed::Correcting;
use glam::Vec3;
use toile_model::{Correction, GATE_RATE, Hearing, ROOT_TERMS, SURROUNDING_TERMS, Surroundings};

/// What the root did in the latest tick.
#[derive(Clone, Copy)]
pub(super) struct RootMotion {
    /// m/s in the frame before the tick; `None` before the first.
    pub velocity: Option<Vec3>,
    /// rad/s.
    pub turn: f32,
}

impl RootMotion {
    pub const NONE: Self = Self { velocity: None, turn: 0.0 };
}

/// The numbers of a model D's instances, a row each.
pub(super) struct State {
    /// All that the readout is multiplied with: held inputs, filters, nearness to poses, to anchors.
    features: Buffer,
    /// Body inputs of the tick before.
    body_before: Buffer,
    drives: Buffer,
    near: Buffer,
    directions: Buffer,
    anchors: Buffer,
    /// How far the gate is open.
    gates: Vec<f32>,
    /// What the instances' surroundings allow it to be, and in which cloth they are.
    trusts: Vec<f32>,
    basis: Vec<f32>,
}

impl State {
    pub fn new(correcting: &Correcting, correction: &Correction, count: usize) -> Self {
        Self {
            features: Buffer::new(count * correction.features()),
            body_before: Buffer::new(count * correction.rate_scale.len()),
            drives: Buffer::new(count * correcting.drive.padded()),
            near: Buffer::new(count * correcting.near.padded()),
            directions: Buffer::new(count * correcting.directions.padded()),
            anchors: Buffer::new(count * correcting.anchors.padded()),
            gates: vec![0.0; count],
            trusts: vec![1.0; count],
            basis: vec![0.0; count * correction.hearing.as_ref().map_or(0, Hearing::basis)],
        }
    }

    /// Shuts the gate of a place that is taken anew.
    pub fn forget(&mut self, i: usize) {
        self.gates[i] = 0.0;
    }

    /// How far an instance's gate is open.
    pub fn gate(&self, i: usize) -> f32 {
        self.gates[i]
    }
}

/// What a model D is told of the root.
fn root_terms(before: &RootMotion, now: &RootMotion, fps: f32) -> [f32; ROOT_TERMS] {
    let v = now.velocity.unwrap_or(Vec3::ZERO);
    let w = now.turn;
    // Speeds from a standing start are no accelerations.
    let (a, alpha) = match before.velocity {
        Some(was) => ((v - was) * fps, (w - before.turn) * fps),
        None => (Vec3::ZERO, 0.0),
    };
    let speed = (v.x * v.x + v.y * v.y + v.z * v.z).sqrt();
    let drag = v * speed;
    [v.x, v.y, v.z, a.x, a.y, a.z, w, alpha, w * w, w * v.x, w * v.z, drag.x, drag.y, drag.z, speed]
}

impl Shard {
    /// The next state of all that take part, from body inputs and root motion as they were just read.
    pub(super) fn correct(&mut self) {
        let packed = self.packed.clone();
        let (Some(correcting), Some(c), Some(state)) =
            (&packed.correcting, &packed.model.correction, &mut self.correction)
        else {
            return;
        };
        let (m, u, width) = (c.rate_scale.len(), c.held(), c.features());
        let (plain_width, filtered_to) = (c.plain_features(), u + c.filtered());
        let (padded, fps) = (packed.body.padded(), packed.model.fps as f32);
        for &i in &self.which {
            let i = i as usize;
            let slot = &mut self.slots[i];
            let starting = slot.frames == 0;
            let x = &self.body[i * padded..][..m];
            let before = &mut state.body_before[i * m..][..m];
            if starting {
                before.copy_from_slice(x);
            }
            let held = &mut state.features[i * width..][..u];
            kernel::hold_inputs(self.isa, x, before, &c.rate_scale, &mut held[..2 * m]);
            let terms = root_terms(&slot.motion[1], &slot.motion[0], fps);
            for k in 0..ROOT_TERMS {
                held[2 * m + k] = kernel::hold_one((terms[k] - c.root_mean[k]) * c.root_scale[k]);
            }
            if let Some(hearing) = &c.hearing {
                // Before its first tick an instance has no heading but that of its pose.
                let heading = slot.poses[slot.current].root.heading;
                let turned = if slot.root.is_some() { slot.turned } else { sin_cos(heading) };
                let heard = Heard { surroundings: &slot.surroundings, turned, motion: &slot.motion[0] };
                let basis = hearing.basis();
                let basis = &mut state.basis[i * basis..][..basis];
                state.trusts[i] = heard.hold(hearing, &mut held[2 * m + ROOT_TERMS..], basis);
            }
        }
        self.pairs.clear();
        self.pairs.extend(self.which.iter().map(|i| (*i, *i)));
        let features = Rows::new(&state.features, width);
        let mut drives = RowsMut::new(&mut state.drives, correcting.drive.padded());
        kernel::product(self.isa, &correcting.drive, features, &self.pairs, &mut drives);
        let mut near = RowsMut::new(&mut state.near, correcting.near.padded());
        kernel::product(self.isa, &correcting.near, features, &self.pairs, &mut near);

        let (drives, centres) = (correcting.drive.rows(), correcting.near.rows());
        let (directions, anchors) = (correcting.directions.rows(), correcting.anchors.rows());
        for &i in &self.which {
            let i = i as usize;
            let starting = self.slots[i].frames == 0;
            let drive = &state.drives[i * correcting.drive.padded()..][..drives];
            let (held, rest) = state.features[i * width..][..width].split_at_mut(u);
            let (filtered, rest) = rest.split_at_mut(filtered_to - u);
            let nearness = &mut rest[..centres];
            filter(&c.poles, drive, filtered, starting);
            // ‖x − c‖² = ‖x‖² − 2 c·x + ‖c‖²: the latter two are what the product gave.
            let length_sq = kernel::squares(&held[..m], &correcting.ones);
            let products = &state.near[i * correcting.near.padded()..][..centres];
            let nearest = kernel::nearness(self.isa, products, length_sq, c.width_sq, nearness);
            let aim = c.gate(nearest) * state.trusts[i];
            let gate = &mut state.gates[i];
            *gate = if starting { aim } else { *gate + (aim - *gate).clamp(-GATE_RATE, GATE_RATE) };
            self.clamped += u32::from(*gate < 1.0);
        }

        if anchors > 0 {
            let features = Rows::new(&state.features, width);
            let padded = correcting.directions.padded();
            let mut places = RowsMut::new(&mut state.directions, padded);
            kernel::product(self.isa, &correcting.directions, features, &self.pairs, &mut places);
            let mut apart = RowsMut::new(&mut state.anchors, correcting.anchors.padded());
            let places = Rows::new(&state.directions, padded);
            kernel::product(self.isa, &correcting.anchors, places, &self.pairs, &mut apart);
        }
        for &i in &self.which {
            let i = i as usize;
            let (plain, by_fabric) = state.features[i * width..][..width].split_at_mut(plain_width);
            if anchors > 0 {
                let place = &state.directions[i * correcting.directions.padded()..][..directions];
                let length_sq = kernel::squares(place, &correcting.ones);
                let products = &state.anchors[i * correcting.anchors.padded()..][..anchors];
                let nearness = &mut plain[plain_width - anchors..];
                kernel::nearness(self.isa, products, length_sq, c.anchor_width_sq, nearness);
            }
            let count = by_fabric.len() / (plain_width + 1);
            spread(plain, &state.basis[i * count..][..count], by_fabric);
        }

        let features = Rows::new(&state.features, width);
        let d = packed.latent.padded();
        let mut next = RowsMut::new(&mut self.next, d);
        kernel::product(self.isa, &packed.latent, features, &self.pairs, &mut next);
        for &i in &self.which {
            let i = i as usize;
            let y = &mut self.next[i * d..][..packed.latent.rows()];
            hold_within(y, &correcting.per_axis, state.gates[i]);
        }
    }
}

/// What a model hears of one instance in a tick.
struct Heard<'a> {
    /// In the world.
    surroundings: &'a Surroundings,
    /// Sine and cosine of the heading.
    turned: (f64, f64),
    motion: &'a RootMotion,
}

impl Heard<'_> {
    /// Writes the held terms and the cloth's numbers; gives how far what was learned is to be trusted.
    fn hold(&self, hearing: &Hearing, held: &mut [f32], basis: &mut [f32]) -> f32 {
        let here = self.surroundings.canonical((self.turned.0 as f32, self.turned.1 as f32));
        let terms = here.terms(self.motion.velocity.unwrap_or(Vec3::ZERO));
        for k in 0..SURROUNDING_TERMS {
            held[k] = kernel::hold_one((terms[k] - hearing.mean[k]) * hearing.scale[k]);
        }
        let off = hearing.fabric(here.fabric.as_ref(), basis);
        hearing.trust(&here, off)
    }
}

/// For each of `basis` itself and all features multiplied with it.
fn spread(features: &[f32], basis: &[f32], out: &mut [f32]) {
    for (b, out) in basis.iter().zip(out.chunks_exact_mut(features.len() + 1)) {
        out[0] = *b;
        out[1..].iter_mut().zip(features).for_each(|(o, f)| *o = b * f);
    }
}

/// `z ← λ z + (1 − λ) drive` of every filter; a start is as if the drive had always been so.
fn filter(poles: &[[f32; 2]], drive: &[f32], mut z: &mut [f32], starting: bool) {
    let n = drive.len();
    for &[re, im] in poles {
        let (real, rest) = std::mem::take(&mut z).split_at_mut(n);
        if im == 0.0 {
            for k in 0..n {
                real[k] = if starting { drive[k] } else { re * real[k] + (1.0 - re) * drive[k] };
            }
            z = rest;
        } else {
            let (imaginary, rest) = rest.split_at_mut(n);
            for k in 0..n {
                let (a, b) = if starting { (drive[k], 0.0) } else { (real[k], imaginary[k]) };
                real[k] = re * a - im * b + (1.0 - re) * drive[k];
                imaginary[k] = re * b + im * a - im * drive[k];
            }
            z = rest;
        }
    }
}

/// Onto the ellipsoid where it is outside (in the metric in which that is a ball, which moves no two states apart),
/// and by the gate.
fn hold_within(y: &mut [f32], per_axis: &[f32], gate: f32) {
    let length_sq = kernel::squares(y, per_axis);
    let keep = if length_sq > 1.0 { 1.0 / length_sq.sqrt() } else { 1.0 };
    y.iter_mut().for_each(|y| *y *= keep * gate);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_start_where_they_would_settle() {
        let poles = [[0.8, 0.0], [0.7, 0.4]];
        let drive = [0.3, -1.0];
        let (mut z, mut settled) = (vec![0.0; 6], vec![5.0; 6]);
        filter(&poles, &drive, &mut z, true);
        (0..400).for_each(|_| filter(&poles, &drive, &mut settled, false));
        z.iter().zip(&settled).for_each(|(a, b)| assert!((a - b).abs() < 1e-5, "{z:?} {settled:?}"));
    }

    #[test]
    fn nothing_leaves_the_ellipsoid() {
        let mut y = [3.0, -4.0, 1e30];
        hold_within(&mut y, &[1.0, 0.5, 2.0], 1.0);
        assert!((y[0] * y[0] + 0.25 * y[1] * y[1] + 4.0 * y[2] * y[2]) <= 1.0 + 1e-6, "{y:?}");
        assert!((kernel::hold_one(f32::MAX) - 1.0).abs() < 1e-6);
    }
}
