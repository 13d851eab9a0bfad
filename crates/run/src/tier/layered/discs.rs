//! Layer 2 on limbs: every vertex on its own disc (their §6.1).
//!
//! A vertex falls on its disc to where the acceleration points and swings about it. The swing is a damped oscillator whose
//! solution is known, so a step of any length is exact for an acceleration that changes evenly within it. Discs are worked
//! in the bind pose: there normals and axes are constants, and the cloth turns with its limb.

use glam::{Affine3A, Vec3, Vec3A};
use toile_model::layers::Disc;

const GRAVITY: Vec3A = Vec3A::new(0.0, -9.81, 0.0);
/// How late the measured acceleration of the skin is believed, s, whatever the step: differences of long steps are late
/// by themselves and are filtered the less. Shorter passes on the jerks of 30 Hz motion, longer makes sleeves late.
const DELAY_SECS: f32 = 0.12;
const LEAST_FILTER_SECS: f32 = 0.03;
/// No wearer shakes cloth harder than this, m/s²; beyond it are cuts and errors of capture.
const MOST_ACCELERATION: f32 = 60.0;
/// Share of critical damping: cloth that rubs on skin swings once or twice.
const DAMPING: f32 = 0.35;

#[derive(Clone, Copy)]
struct State {
    /// The disc's centre in the world and its velocity, in the step before.
    centre: Vec3A,
    velocity: Vec3A,
    /// Of the centre, filtered.
    acceleration: Vec3A,
    /// Where it hung in the step before, and how fast that place went.
    hung: Vec3,
    hung_velocity: Vec3,
    /// From where it hangs to where it is, and its velocity.
    swing: Vec3,
    swing_velocity: Vec3,
}

/// Discs in motion.
pub(super) struct Discs {
    states: Vec<State>,
    /// Circular frequency of the swing, 1/s.
    frequency: f32,
    /// 0 at the start, then one step of history, then two.
    known: u8,
    before_secs: f32,
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
    pub fn new(discs: &[Disc]) -> Self {
        let mut drops: Vec<f32> = discs.iter().map(|d| d.drop_m).collect();
        drops.sort_by(f32::total_cmp);
        let typical = drops.get(drops.len() / 2).copied().unwrap_or(0.02).clamp(0.008, 0.1);
        let rest = State {
            centre: Vec3A::ZERO,
            velocity: Vec3A::ZERO,
            acceleration: Vec3A::ZERO,
            hung: Vec3::ZERO,
            hung_velocity: Vec3::ZERO,
            swing: Vec3::ZERO,
            swing_velocity: Vec3::ZERO,
        };
        // A pendulum as long as the cloth hangs deep.
        let frequency = (9.81 / typical).sqrt();
        Self { states: vec![rest; discs.len()], frequency, known: 0, before_secs: 0.0 }
    }

    /// Velocities of before mean nothing any more; the shape stays.
    pub fn forget(&mut self) {
        self.known = 0;
    }

    /// One step: `place` gives a vertex's blended bones, `put` takes what is added to its rest position in the bind
    /// pose.
    pub fn step(
        &mut self,
        discs: &[Disc],
        rest: &[Vec3],
        dt: f32,
        place: impl Fn(u32) -> Affine3A,
        mut put: impl FnMut(u32, &Affine3A, Vec3),
    ) {
        let propagator = Propagator::new(self.frequency, dt).0;
        let believed = 1.0 - (-dt / (DELAY_SECS - dt).max(LEAST_FILTER_SECS)).exp();
        let between = 2.0 / (dt + self.before_secs);
        for (disc, state) in discs.iter().zip(&mut self.states) {
            let bones = place(disc.vertex);
            let centre = bones.transform_point3a(Vec3A::from(rest[disc.vertex as usize] - disc.settled));
            if self.known >= 1 {
                let velocity = (centre - state.centre) / dt;
                if self.known >= 2 {
                    let measured = (velocity - state.velocity) * between;
                    let measured = measured.clamp_length_max(MOST_ACCELERATION);
                    state.acceleration += (measured - state.acceleration) * believed;
                }
                state.velocity = velocity;
            } else {
                (state.velocity, state.acceleration) = (Vec3A::ZERO, Vec3A::ZERO);
            }
            state.centre = centre;
            let applied = bones.matrix3.transpose() * (GRAVITY - state.acceleration);
            let (radius, hung) = disc.hang(applied.into());
            let hung_velocity = if self.known >= 1 { (hung - state.hung) / dt } else { Vec3::ZERO };
            if self.known == 0 {
                (state.swing, state.swing_velocity) = (Vec3::ZERO, Vec3::ZERO);
            }
            let swing_velocity = state.swing_velocity + state.hung_velocity - hung_velocity;
            let [a, b, c, d] = propagator;
            let mut offset = hung + a * state.swing + b * swing_velocity;
            let mut speed = c * state.swing + d * swing_velocity;
            // Back onto the disc, and never below the skin.
            let inward = offset.dot(disc.normal);
            if inward < 0.0 {
                offset -= inward * disc.normal;
                speed -= speed.dot(disc.normal).min(0.0) * disc.normal;
            }
            let length = offset.length();
            if length > radius {
                let out = offset / length;
                offset = out * radius;
                speed -= speed.dot(out).max(0.0) * out;
            }
            state.swing = offset - hung;
            (state.swing_velocity, state.hung, state.hung_velocity) = (speed, hung, hung_velocity);
            put(disc.vertex, &bones, disc.share * (offset - disc.settled));
        }
        self.known = (self.known + 1).min(2);
        self.before_secs = dt;
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
