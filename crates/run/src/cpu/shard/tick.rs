//! One tick of the latent clock (de Aguiar et al. 2010, eq. 1, 5 and 6), for all instances of a shard at once.

use super::correct::RootMotion;
use super::{RootMove, Shard};
use crate::angle::sin_cos;
use crate::cpu::kernel::{self, Rows, RowsMut};
use glam::{DVec3, Vec3};
use toile_model::{InputSet, RootFrame};

impl Shard {
    /// Does what the plan says: ticks, then what is shown between them.
    pub fn step(&mut self) {
        self.clamped = 0;
        for tick in 0..self.plan.ticks {
            self.tick(self.plan.share(tick));
        }
        self.start_newcomers();
        self.show();
        self.stepped = 0;
        for slot in &mut self.slots {
            slot.moved = false;
            self.stepped += u32::from(slot.alive && !slot.fresh);
        }
    }

    fn tick(&mut self, share: f64) {
        kernel::prepare(self.isa);
        self.which.clear();
        self.which.extend((0..self.slots.len() as u32).filter(|i| {
            let slot = &self.slots[*i as usize];
            slot.alive && slot.posed
        }));
        self.read_body(share);
        self.read_roots(share);
        if self.correction.is_some() {
            self.correct();
            std::mem::swap(&mut self.before, &mut self.now);
            std::mem::swap(&mut self.now, &mut self.next);
            self.which.iter().for_each(|&i| self.slots[i as usize].frames = 1);
            return;
        }
        let (order, isa) = (self.packed.model.order, self.isa);
        let (latent, start) = (&self.packed.latent, &self.packed.start);
        let inputs = Rows::new(&self.inputs, latent.depth());
        let mut next = RowsMut::new(&mut self.next, latent.padded());
        let slots = &self.slots;
        // The first frames have no history: the order-0 model starts the recursion (§6).
        let is_starting = |i: &&u32| slots[**i as usize].frames < order;
        self.pairs.clear();
        self.pairs.extend(self.which.iter().filter(|i| !is_starting(i)).map(|i| (*i, *i)));
        kernel::product(isa, latent, inputs, &self.pairs, &mut next);
        if self.pairs.len() < self.which.len() {
            self.pairs.clear();
            self.pairs.extend(self.which.iter().filter(is_starting).map(|i| (*i, *i)));
            kernel::product(isa, start, inputs, &self.pairs, &mut next);
        }

        // Rows of instances that do not take part hold nothing anyone reads.
        std::mem::swap(&mut self.before, &mut self.now);
        std::mem::swap(&mut self.now, &mut self.next);
        for &i in &self.which {
            self.slots[i as usize].frames += usize::from(self.slots[i as usize].frames < order);
        }
        self.remember();
    }

    /// `x = P(b − b̄)` at a share of the step, clamped to the certified box.
    fn read_body(&mut self, share: f64) {
        let packed = &*self.packed;
        let (stride, padded) = (self.stride, packed.body.padded());
        self.pairs.clear();
        for &i in &self.which {
            let slot = &self.slots[i as usize];
            let mut row = 3 * i as usize + slot.current;
            if share < 1.0 && slot.moved {
                let poses = &mut self.bones[3 * i as usize * stride..][..3 * stride];
                let (poses, between) = poses.split_at_mut(2 * stride);
                let (first, second) = poses.split_at(stride);
                let (old, new) = if slot.current == 1 { (first, second) } else { (second, first) };
                let t = share as f32;
                for k in 0..stride {
                    between[k] = old[k] + t * (new[k] - old[k]);
                }
                row = 3 * i as usize + 2;
            }
            self.rows[i as usize] = row as u32;
            if !slot.poses[slot.current].is_coefficients {
                self.pairs.push((row as u32, i));
            }
        }
        if let Some(picks) = packed.correcting.as_ref().and_then(|c| c.picks.as_ref()) {
            for &(row, i) in &self.pairs {
                let bones = &self.bones[row as usize * stride..][..stride];
                let body = &mut self.body[i as usize * padded..][..picks.len()];
                for (to, (at, scale)) in body.iter_mut().zip(picks) {
                    *to = bones[*at as usize] * scale;
                }
            }
            return;
        }
        let bones = Rows::new(&self.bones, stride);
        let mut body = RowsMut::new(&mut self.body, padded);
        kernel::product(self.isa, &packed.body, bones, &self.pairs, &mut body);
        if self.correction.is_some() {
            return;
        }
        let InputSet { body_min, body_max, .. } = &packed.model.inputs;
        let (b, depth) = (packed.body.rows(), packed.latent.depth());
        for &i in &self.which {
            let slot = &self.slots[i as usize];
            let x = if slot.poses[slot.current].is_coefficients {
                &self.bones[self.rows[i as usize] as usize * stride..][..b]
            } else {
                &self.body[i as usize * padded..][..b]
            };
            let held = &mut self.inputs[i as usize * depth..][..b];
            self.clamped += kernel::hold(self.isa, x, body_min, body_max, held);
        }
    }

    /// Root displacement and turn since the last tick, within the certified limits, and the features made of them.
    fn read_roots(&mut self, share: f64) {
        let model = &*self.packed.model;
        let order = model.order;
        let metas = self.packed.latent.depth() - 5 * model.c.len();
        for &i in &self.which {
            let slot = &mut self.slots[i as usize];
            let new = slot.poses[slot.current].root;
            let root = if share < 1.0 && slot.moved {
                let old = slot.poses[slot.current ^ 1].root;
                RootFrame {
                    position: old.position + (new.position - old.position) * share,
                    heading: old.heading + (new.heading - old.heading) * share,
                }
            } else {
                new
            };
            let turned = sin_cos(root.heading);
            let before = slot.root.replace(root).map_or((root, turned), |before| (before, slot.turned));
            slot.turned = turned;
            if self.correction.is_some() {
                slot.motion[1] = slot.motion[0];
                slot.motion[0] = root_motion((&before.0, before.1), &root, model.fps, slot.frames > 0);
                continue;
            }
            let (kept, clamped) = root_move((&before.0, before.1), (&root, turned), &model.inputs);
            self.clamped += clamped;
            slot.moves[..order].rotate_right(usize::from(order > 0));
            if order > 0 {
                slot.moves[0] = kept;
            }
            if !model.c.is_empty() {
                let end = (i as usize + 1) * self.packed.latent.depth();
                let begin = end - (self.packed.latent.depth() - metas);
                write_features(&slot.moves[..order], self.inputs[begin..end].as_chunks_mut::<5>().0);
            }
        }
    }

    /// Makes the latest latent vector the first of the history.
    fn remember(&mut self) {
        let (d, padded) = (self.packed.latent.rows(), self.packed.latent.padded());
        if self.packed.model.order == 0 {
            return;
        }
        for &i in &self.which {
            let begin = i as usize * self.packed.latent.depth() + self.packed.body.rows();
            let history = &mut self.inputs[begin..begin + d * self.packed.model.order];
            history.copy_within(..history.len() - d, d);
            history[..d].copy_from_slice(&self.now[i as usize * padded..][..d]);
        }
    }

    /// Instances that came between two ticks show the order-0 state of their pose until the next one.
    fn start_newcomers(&mut self) {
        self.which.clear();
        self.which.extend((0..self.slots.len() as u32).filter(|i| {
            let slot = &self.slots[*i as usize];
            slot.alive && slot.posed && slot.fresh
        }));
        if self.which.is_empty() {
            return;
        }
        let (d, padded) = (self.packed.latent.rows(), self.packed.latent.padded());
        if self.plan.ticks == 0 && self.correction.is_some() {
            let clamped = self.clamped;
            self.read_body(1.0);
            self.correct();
            self.clamped = clamped;
            for &i in &self.which {
                let at = i as usize * padded;
                self.now[at..at + d].copy_from_slice(&self.next[at..at + d]);
            }
        } else if self.plan.ticks == 0 {
            let clamped = self.clamped;
            self.read_body(1.0);
            self.clamped = clamped;
            let start = if self.packed.model.order == 0 { &self.packed.latent } else { &self.packed.start };
            let inputs = Rows::new(&self.inputs, self.packed.latent.depth());
            let mut now = RowsMut::new(&mut self.now, padded);
            self.pairs.clear();
            self.pairs.extend(self.which.iter().map(|i| (*i, *i)));
            kernel::product(self.isa, start, inputs, &self.pairs, &mut now);
        }
        for &i in &self.which {
            let at = i as usize * padded;
            // What came before the beginning is the beginning.
            self.before[at..at + d].copy_from_slice(&self.now[at..at + d]);
            self.slots[i as usize].fresh = false;
        }
    }

    /// What is shown between the latest tick and the one before, where it is not the latest.
    fn show(&mut self) {
        let t = self.plan.show;
        if t >= 1.0 {
            return;
        }
        let padded = self.packed.latent.padded();
        for (i, slot) in self.slots.iter().enumerate() {
            if slot.alive && !slot.fresh {
                let row = i * padded..(i + 1) * padded;
                let (before, now) = (&self.before[row.clone()], &self.now[row.clone()]);
                let between = &mut self.between[row];
                for k in 0..padded {
                    between[k] = before[k] + t * (now[k] - before[k]);
                }
            }
        }
    }
}

/// Velocity and turn over a tick, as a model D is told; none in the first.
fn root_motion((before, (s, c)): Turned, root: &RootFrame, fps: f64, going: bool) -> RootMotion {
    if !going {
        return RootMotion::NONE;
    }
    let d = root.position - before.position;
    let moved = DVec3::new(c * d.x - s * d.z, d.y, c * d.z + s * d.x) * fps;
    RootMotion { velocity: Some(moved.as_vec3()), turn: ((root.heading - before.heading) * fps) as f32 }
}

/// A root frame with sine and cosine of its heading.
type Turned<'a> = (&'a RootFrame, (f64, f64));

/// What the root did within a tick, held to the limits; and how many of its numbers had to be.
fn root_move((before, (s, c)): Turned, (root, (sin, cos)): Turned, inputs: &InputSet) -> (RootMove, u32) {
    let d = root.position - before.position;
    let delta = DVec3::new(c * d.x - s * d.z, d.y, c * d.z + s * d.x).as_vec3();
    let flat = Vec3::new(delta.x, 0.0, delta.z);
    let kept = flat.clamp_length_max(inputs.max_horizontal_m)
        + Vec3::Y * delta.y.clamp(-inputs.max_vertical_m, inputs.max_vertical_m);
    let turn = root.heading - before.heading;
    let kept_turn = turn.clamp(-f64::from(inputs.max_turn), f64::from(inputs.max_turn));
    // Of the difference of two angles whose sines are known.
    let (s, c) = if kept_turn == turn { (sin * c - cos * s, cos * c + sin * s) } else { sin_cos(kept_turn) };
    // cos − 1 without cancellation: (cos² − 1) / (cos + 1).
    let less = if c > 0.0 { -s * s / (1.0 + c) } else { c - 1.0 };
    let turned = RootMove { delta: kept, sin: s as f32, cos_less_1: less as f32 };
    (turned, u32::from(kept != delta) + u32::from(kept_turn != turn))
}

/// `z_{t−i, t−N}` for i = 0 … N−1: every displacement is relative to the oldest frame.
fn write_features(moves: &[RootMove], features: &mut [[f32; 5]]) {
    let order = moves.len();
    let (mut travel, mut s, mut less) = (Vec3::ZERO, 0.0f32, 0.0f32);
    // From the oldest move to the latest: after `k` moves we stand at frame t − (order − k).
    for k in 1..=order {
        let RootMove { delta, sin, cos_less_1 } = moves[order - k];
        let c = 1.0 + less;
        travel += Vec3::new(c * delta.x + s * delta.z, delta.y, c * delta.z - s * delta.x);
        // Turns are added by the sine and cosine of their sum, which keeps every digit of cos − 1.
        (s, less) = (s + sin + s * cos_less_1 + less * sin, less + cos_less_1 + less * cos_less_1 - s * sin);
        features[order - k] = [travel.x, travel.y, travel.z, s, less];
    }
}
