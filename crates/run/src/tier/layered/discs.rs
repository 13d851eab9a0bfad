//! Layer 2 on limbs: every vertex on its own disc (their §6.1).
//!
//! A vertex falls on its disc to where the acceleration points and swings about it. The swing is a damped oscillator whose
//! solution is known, so a step of any length is exact for an acceleration that changes evenly within it. Discs are worked
//! in the bind pose: there normals and axes are constants, and the cloth turns with its limb.

use super::hung::Hung;
use glam::{Affine3A, Vec3A};
use toile_model::layers::Disc;

/// Share of critical damping: cloth that rubs on skin swings once or twice.
const DAMPING: f32 = 0.35;

/// What is fixed of a disc, as the step wants it.
struct Fixed {
    normal: Vec3A,
    axis: Vec3A,
    /// Where the vertex is added to: the centre of its disc in the bind pose.
    centre: Vec3A,
    rest: Vec3A,
    settled: Vec3A,
    drop_m: f32,
    share: f32,
    vertex: u32,
}

#[derive(Clone, Copy)]
struct State {
    /// Where it hung in the step before.
    hung: Vec3A,
    /// Where on its disc it is, and its velocity there.
    offset: Vec3A,
    velocity: Vec3A,
}

/// Discs in motion.
pub(super) struct Discs {
    fixed: Vec<Fixed>,
    /// Bones of each, in their order.
    hanging: Hung,
    states: Vec<State>,
    /// Circular frequency of the swing, 1/s.
    frequency: f32,
    started: bool,
}

/// `(swing, velocity)` after a time is this matrix times what they were.
struct Propagator([f32; 4]);

impl Propagator {
    fn new(frequency: f32, dt: f32) -> Self {
        let decay = DAMPING * frequency;
        let damped = frequency * (1.0 - DAMPING * DAMPING).sqrt();
        let (sin, cos) = (damped * dt).sin_cos();
        let fade = (-decay * dt).exp();
        let s = sin / damped;
        Self([
            fade * (cos + decay * s),
            fade * s,
            -fade * frequency * frequency * s,
            fade * (cos - decay * s),
        ])
    }
}

impl Discs {
    pub fn new(discs: &[Disc], attachment: &toile_model::Attachment) -> Self {
        let mut drops: Vec<f32> = discs.iter().map(|d| d.drop_m).collect();
        drops.sort_by(f32::total_cmp);
        let typical = drops.get(drops.len() / 2).copied().unwrap_or(0.02).clamp(0.008, 0.1);
        let fixed = |d: &Disc| {
            let rest = attachment.rest[d.vertex as usize];
            Fixed {
                normal: d.normal.into(),
                axis: d.axis.into(),
                centre: (rest - d.settled).into(),
                rest: rest.into(),
                settled: d.settled.into(),
                drop_m: d.drop_m,
                share: d.share,
                vertex: d.vertex,
            }
        };
        Self {
            fixed: discs.iter().map(fixed).collect(),
            hanging: Hung::new(&attachment.skin, discs.iter().map(|d| d.vertex)),
            states: vec![
                State { hung: Vec3A::ZERO, offset: Vec3A::ZERO, velocity: Vec3A::ZERO };
                discs.len()
            ],
            // A pendulum as long as the cloth hangs deep.
            frequency: (9.81 / typical).sqrt(),
            started: false,
        }
    }

    /// Velocities of before mean nothing any more; the shape stays.
    pub fn forget(&mut self) {
        self.started = false;
    }

    /// One step. `applied` gives, bone by bone, the acceleration that cloth feels at a place of the bind pose; `riding`
    /// how far a vertex has slid along its limb; `put` takes a vertex and where it is.
    pub fn step(
        &mut self,
        bones: &[Affine3A],
        applied: &[Affine3A],
        dt: f32,
        riding: impl Fn(u32) -> Vec3A,
        mut put: impl FnMut(u32, Vec3A),
    ) {
        let [a, b, c, d] = Propagator::new(self.frequency, dt).0;
        let (per_second, started) = (1.0 / dt, self.started);
        for (i, (disc, state)) in self.fixed.iter().zip(&mut self.states).enumerate() {
            let (radius, hung) = disc.hang(self.hanging.carry(i, applied, disc.centre));
            if !started {
                *state = State { hung, offset: hung, velocity: Vec3A::ZERO };
            }
            let hung_velocity = (hung - state.hung) * per_second;
            let (swing, speed) = (state.offset - state.hung, state.velocity - hung_velocity);
            let mut offset = hung + a * swing + b * speed;
            let mut speed = c * swing + d * speed;
            // Back onto the disc, and never below the skin.
            let inward = offset.dot(disc.normal).min(0.0);
            if inward < 0.0 {
                offset -= inward * disc.normal;
                speed -= speed.dot(disc.normal).min(0.0) * disc.normal;
            }
            let square = offset.length_squared();
            if square > radius * radius {
                let out = offset / square.sqrt();
                offset = out * radius;
                speed -= speed.dot(out).max(0.0) * out;
            }
            *state = State { hung, offset, velocity: speed + hung_velocity };
            let added = disc.share * (offset - disc.settled) + riding(disc.vertex);
            put(disc.vertex, self.hanging.carry(i, bones, disc.rest + added));
        }
        self.started = true;
    }
}

impl Fixed {
    /// [`Disc::hang`].
    #[inline(always)]
    fn hang(&self, acceleration: Vec3A) -> (f32, Vec3A) {
        toile_model::layers::hang(acceleration, self.normal, self.axis, self.drop_m)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_half_steps_swing_as_far_as_a_whole_one() {
        let (whole, half) = (Propagator::new(18.0, 1.0 / 30.0).0, Propagator::new(18.0, 1.0 / 60.0).0);
        let step = |m: [f32; 4], (x, v): (f32, f32)| (m[0] * x + m[1] * v, m[2] * x + m[3] * v);
        let one = step(whole, (0.01, 0.3));
        let two = step(half, step(half, (0.01, 0.3)));
        assert!((one.0 - two.0).abs() < 1e-6 && (one.1 - two.1).abs() < 1e-5);
    }
}
