//! Footfalls: where and when each foot is planted, and how it travels between.

use super::gait::{self, Style, Swing, shape};
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

    fn foot(&self, leg: &Leg, t: f64) -> Foot {
        leg.planted(self.at, self.heading, self.pitch(t))
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
    let (v, r) = (travel.sample(&travel.speed, strike), travel.sample(&travel.running, strike));
    let style = Style::at(v, r);
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
    }
}

/// The foot at a time: planted, or swinging between the stances around it; and how free it is to be moved:
/// 0 on the ground, 1 amid the swing.
pub(super) fn foot_at(leg: &Leg, stances: &[Stance], t: f64) -> (Foot, f64) {
    let next = stances.partition_point(|s| s.strike <= t);
    let Some(before) = next.checked_sub(1).map(|i| &stances[i]) else {
        return (stances[0].foot(leg, stances[0].strike), 0.0);
    };
    if t <= before.off {
        return (before.foot(leg, t), 0.0);
    }
    let Some(after) = stances.get(next) else { return (before.foot(leg, before.off), 0.0) };
    let u = (t - before.off) / (after.strike - before.off);
    (swing(leg, before, after, u), ramp(u / 0.15) * ramp((1.0 - u) / 0.15))
}

/// Travel through the air with the place and speed that the stances at both ends ask for.
fn swing(leg: &Leg, before: &Stance, after: &Stance, u: f64) -> Foot {
    const H: f64 = 1e-4;
    let span = after.strike - before.off;
    let (a0, a1) = (before.foot(leg, before.off - H), before.foot(leg, before.off));
    let (b0, b1) = (after.foot(leg, after.strike), after.foot(leg, after.strike + H));
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
    let heading = before.heading + (after.heading - before.heading) * ramp(u);
    Foot { ankle, heading, pitch, toes }
}
