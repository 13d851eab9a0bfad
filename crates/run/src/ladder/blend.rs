//! What is left of one tier in the next: an offset that begins with the place and the speed of what was shown and goes to
//! nothing.
//!
//! With `o` and `u` the offset and its speed at the hand-over, in the wearer's frame, and `w = u τ/3`:
//! `(o + w) f(t/T) − w (1 − t/τ)³`, `f` going from 1 to 0 with no speed or acceleration at either end. At `t = 0` this is
//! `o`, moving with `u`. The second part only ever slows down, so nothing is thrown back; the first is as long as it must be
//! for no vertex to be faster than a limit.

use glam::{Mat3A, Vec3, Vec3A};

/// How one tier takes over from another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HandOverSettings {
    /// How long the one goes over into the other, s.
    pub secs: f32,
    /// How fast a vertex may go for the hand-over alone, m/s: where tiers are far apart it takes longer. 0.27 m/s is 9 mm at
    /// 30 frames a second.
    pub most_m_per_s: f32,
    /// How many poses are remembered, so that the next tier comes in moving.
    pub poses: usize,
    /// The joint whose frame offsets go with: the wearer's hips.
    pub hips: usize,
}

impl Default for HandOverSettings {
    fn default() -> Self {
        Self { secs: 0.5, most_m_per_s: 0.27, poses: 12, hips: 0 }
    }
}

/// Steepest slope of [`fading`].
const STEEPEST: f32 = 1.875;
/// Share of the hand-over in which differences of speed are lost.
const SLOWS_IN: f32 = 0.5;

/// From 1 to 0 with no speed and no acceleration at its ends.
fn fading(s: f32) -> f32 {
    let s = s.clamp(0.0, 1.0);
    1.0 - s * s * s * (10.0 + s * (6.0 * s - 15.0))
}

/// One vertex of a blend, in the wearer's frame.
#[derive(Clone, Copy)]
struct Offset {
    /// `o + w`.
    far: Vec3A,
    /// `w`.
    swing: Vec3A,
    /// `1/T`.
    per_second: f32,
}

/// A hand-over that goes on, or none.
#[derive(Default)]
pub(super) struct Blend {
    offsets: Vec<Offset>,
    age_secs: f32,
    slows_secs: f32,
    longest_secs: f32,
}

/// Places now and in the step before, of what was shown or of what shall be.
pub(super) struct Moving<'a> {
    pub now: &'a [Vec3],
    pub before: &'a [Vec3],
}

impl Blend {
    pub fn is_over(&self) -> bool {
        self.offsets.is_empty()
    }

    /// Seconds until it is over.
    pub fn left_secs(&self) -> f32 {
        if self.is_over() { 0.0 } else { (self.longest_secs - self.age_secs).max(0.0) }
    }

    pub fn end(&mut self) {
        self.offsets.clear();
    }

    /// From what was shown to what the next tier has; `turns` are the wearer's now and in the step before.
    pub fn begin(
        &mut self,
        from: &Moving<'_>,
        to: &Moving<'_>,
        turns: [&Mat3A; 2],
        dt_secs: f32,
        settings: &HandOverSettings,
    ) {
        let [now, before] = turns.map(Mat3A::transpose);
        let secs = settings.secs.max(1e-3);
        self.slows_secs = (SLOWS_IN * secs).max(dt_secs);
        (self.age_secs, self.longest_secs) = (0.0, self.slows_secs);
        self.offsets.clear();
        for v in 0..from.now.len() {
            let apart = now * Vec3A::from(from.now[v] - to.now[v]);
            let was = before * Vec3A::from(from.before[v] - to.before[v]);
            let swing = (apart - was) / dt_secs * (self.slows_secs / 3.0);
            let far = apart + swing;
            let lasts = secs.max(STEEPEST * far.length() / settings.most_m_per_s.max(1e-3));
            self.longest_secs = self.longest_secs.max(lasts);
            self.offsets.push(Offset { far, swing, per_second: 1.0 / lasts });
        }
    }

    /// Time passes.
    pub fn advance(&mut self, dt_secs: f32) {
        self.age_secs += dt_secs;
        if self.age_secs >= self.longest_secs {
            self.end();
        }
    }

    /// Adds what is left to the vertices of the tier that took over.
    pub fn add(&self, turn: &Mat3A, positions: &mut [Vec3]) {
        let slowing = (1.0 - self.age_secs / self.slows_secs.max(1e-6)).max(0.0);
        let slowing = slowing * slowing * slowing;
        for (p, offset) in positions.iter_mut().zip(&self.offsets) {
            let left = offset.far * fading(self.age_secs * offset.per_second) - offset.swing * slowing;
            *p += Vec3::from(*turn * left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_begins_with_its_place_and_speed_and_ends_with_neither() {
        let settings = HandOverSettings::default();
        let dt = 1e-3;
        for (apart, speed) in
            [(Vec3::X * 0.02, Vec3::ZERO), (Vec3::Y * 0.2, Vec3::Z), (Vec3::ZERO, Vec3::X * 2.0)]
        {
            let (from, to) = ([apart], [Vec3::ZERO]);
            let mut blend = Blend::default();
            let moving = Moving { now: &from, before: &[apart - speed * dt] };
            let still = Moving { now: &to, before: &to };
            blend.begin(&moving, &still, [&Mat3A::IDENTITY; 2], dt, &settings);
            let mut at = |secs: f32| {
                blend.age_secs = secs;
                let mut p = [Vec3::ZERO];
                blend.add(&Mat3A::IDENTITY, &mut p);
                p[0]
            };
            assert!(at(0.0).distance(apart) < 1e-6);
            assert!(((at(1e-3) - at(0.0)) / 1e-3).distance(speed) < 0.02, "{}", at(1e-3));
            let mut fastest = 0.0f32;
            for k in 0..4000 {
                let (a, b) = (k as f32 * 1e-3, (k + 1) as f32 * 1e-3);
                fastest = fastest.max((at(b) - at(a)).length() / 1e-3);
            }
            assert!(fastest < speed.length() + 1.02 * settings.most_m_per_s, "{apart}: {fastest} m/s");
            let end = blend.longest_secs;
            blend.age_secs = end;
            let mut p = [Vec3::ZERO];
            blend.add(&Mat3A::IDENTITY, &mut p);
            assert!(p[0].length() < 1e-5);
            blend.advance(0.0);
            assert!(blend.is_over());
        }
    }
}
