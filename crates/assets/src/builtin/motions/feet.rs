//! Footfalls: where and when each foot is planted, and how it travels between.

use super::gait::{self, Swing, shape};
use super::legs::{Foot, Leg};
use super::path::{Travel, hermite, ramp};
use glam::{DQuat, DVec3};

/// Later than any motion lasts: a foot that stays.
pub(super) const NEVER: f64 = 1e6;

/// A foot on the ground from heel strike to toe-off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stance {
    /// Seconds.
    pub strike: f64,
    pub off: f64,
    /// When the sole first lies flat, and when the heel begins to rise.
    pub flat: f64,
    pub rise: f64,
    /// How late it rises: the power of time that it follows, 2 or more.
    pub late: f64,
    /// The sole under the ankle.
    pub at: DVec3,
    pub heading: f64,
    /// Toes up at strike; heel up at toe-off (negative).
    pub strike_pitch: f64,
    pub off_pitch: f64,
    /// The way of the foot in the swing before this stance.
    pub swing: Swing,
    /// Whether the foot turns on its ball as the root turns; `at` is then the ball's place.
    pub pivots: bool,
}

impl Stance {
    /// A foot that has always been flat there.
    pub fn standing(at: DVec3, heading: f64) -> Self {
        Self {
            strike: -NEVER,
            off: NEVER,
            flat: -NEVER,
            rise: NEVER,
            late: 2.0,
            at,
            heading,
            strike_pitch: 0.0,
            off_pitch: 0.0,
            swing: Swing::default(),
            pivots: false,
        }
    }

    /// Toes up (positive) or heel up (negative) at a time.
    fn pitch(&self, t: f64) -> f64 {
        if t < self.flat {
            let x = (self.flat - t) / (self.flat - self.strike);
            self.strike_pitch * x * x
        } else if t > self.rise {
            let x = (t - self.rise) / (self.off - self.rise);
            self.off_pitch * x.powf(self.late)
        } else {
            0.0
        }
    }

    fn foot(&self, leg: &Leg, on: &Ground, t: f64) -> Foot {
        let pitch = self.pitch(t) + on.travel.sample(on.heels, t);
        if !self.pivots {
            return leg.planted(self.at, self.heading, pitch);
        }
        let heading = self.heading + on.travel.sample(&on.travel.heading, t);
        let ball = DVec3::new(leg.ball.x, 0.0, leg.ball.z);
        leg.planted(self.at - DQuat::from_rotation_y(heading) * ball, heading, pitch)
    }
}

/// The footfalls that a steady phase gives along a travel, for the foot on `leg`'s side.
pub(super) fn footfalls(travel: &Travel, leg: &Leg) -> Vec<Stance> {
    let offset = if leg.side > 0.0 { 0.0 } else { 0.5 };
    let first = (travel.phase[0] - offset).ceil() as i64;
    let last = (travel.phase[travel.len() - 1] - offset).floor() as i64;
    let mut stances = Vec::new();
    for k in first..=last {
        let phase = k as f64 + offset;
        let Some(strike) = travel.when(phase) else { continue };
        let (v, r) = (travel.sample(&travel.speed, strike), travel.sample(&travel.running, strike));
        let Some(off) = travel.when(phase + gait::duty(v, r)) else { continue };
        stances.push(step(travel, leg, strike, off));
    }
    stances
}

/// A stance from `strike` to `off` in step with the travel.
pub(super) fn step(travel: &Travel, leg: &Leg, strike: f64, off: f64) -> Stance {
    let style = travel.style(strike);
    let over = strike + style.over * (off - strike);
    let heading = travel.sample(&travel.heading, over);
    let place = travel.sample(&travel.place, over);
    let aside = DVec3::X * (leg.side * style.half_width * leg.length());
    Stance {
        strike,
        off,
        flat: strike + style.flat * (off - strike),
        rise: strike + style.rise * (off - strike),
        late: style.late,
        at: place + DQuat::from_rotation_y(heading) * aside,
        heading: heading + leg.side * 6f64.to_radians(),
        strike_pitch: style.strike_pitch,
        off_pitch: style.off_pitch,
        swing: style.swing,
        pivots: false,
    }
}

/// What stances are laid over: the travel, and how far the toes of the foot are held up (negative: the heel).
pub(super) struct Ground<'a> {
    pub travel: &'a Travel,
    pub heels: &'a [f64],
}

/// The foot at a time: planted, or swinging between the stances around it; and how free it is to be moved:
/// 0 on the ground, 1 amid the swing.
pub(super) fn foot_at(leg: &Leg, stances: &[Stance], on: &Ground, t: f64) -> (Foot, f64) {
    let next = stances.partition_point(|s| s.strike <= t);
    let Some(before) = next.checked_sub(1).map(|i| &stances[i]) else {
        return (stances[0].foot(leg, on, stances[0].strike), 0.0);
    };
    if t <= before.off {
        return (before.foot(leg, on, t), 0.0);
    }
    let Some(after) = stances.get(next) else { return (before.foot(leg, on, before.off), 0.0) };
    let u = (t - before.off) / (after.strike - before.off);
    (swing(leg, on, before, after, u), ramp(u / 0.15) * ramp((1.0 - u) / 0.15))
}

/// Travel through the air with the place and speed that the stances at both ends ask for.
fn swing(leg: &Leg, on: &Ground, before: &Stance, after: &Stance, u: f64) -> Foot {
    const H: f64 = 1e-4;
    let span = after.strike - before.off;
    let (a0, a1) = (before.foot(leg, on, before.off - H), before.foot(leg, on, before.off));
    let (b0, b1) = (after.foot(leg, on, after.strike), after.foot(leg, on, after.strike + H));
    let per = span / H;
    let way = after.at - before.at;
    let forward = DVec3::new(way.x, 0.0, way.z).normalize_or_zero();
    let ankle = hermite(u, a1.ankle, (a1.ankle - a0.ankle) * per, b0.ankle, (b1.ankle - b0.ankle) * per)
        + forward * (leg.length() * shape(after.swing.forward, u))
        + DVec3::Y * (leg.length() * shape(after.swing.up, u));
    let pitch = hermite(u, a1.pitch, (a1.pitch - a0.pitch) * per, b0.pitch, (b1.pitch - b0.pitch) * per)
        + shape(after.swing.pitch, u);
    // Toes bent at one end have straightened well before the other.
    const BENT: f64 = 0.6;
    let left = hermite((u / BENT).min(1.0), a1.toes, (a1.toes - a0.toes) * per * BENT, 0.0, 0.0);
    let landing = hermite(((1.0 - u) / BENT).min(1.0), b0.toes, (b0.toes - b1.toes) * per * BENT, 0.0, 0.0);
    let toes = left + landing;
    let heading = a1.heading + (b0.heading - a1.heading) * ramp(u);
    Foot { ankle, heading, pitch, toes }
}
