//! What plans of many movements are put together from: curves over time, steps from place to place, held legs.

use super::feet::{Stance, footfalls};
use super::figure::{Extra, Figure, Plan};
use super::gait::{self, Swing};
use super::path::{Route, Travel, ramp};
use super::stop::{stand, standing_foot};
use glam::{DQuat, DVec3};
use std::f64::consts::TAU;

/// Degrees.
pub(super) fn d(degrees: f64) -> f64 {
    degrees.to_radians()
}

/// Up from 0 over `rise` seconds at `from`, held at `most`, and down again before `to`.
pub(super) fn held(from: f64, to: f64, rise: f64, most: f64) -> impl Fn(f64) -> f64 {
    move |t| most * ramp((t - from) / rise) * ramp((to - t) / rise)
}

/// Swings to `most` and to its opposite, beginning and ending softly; `at` shifts it by so many periods.
pub(super) fn rocking(from: f64, to: f64, period: f64, at: f64, most: f64) -> impl Fn(f64) -> f64 {
    let window = held(from, to, (0.5 * period).min(0.5 * (to - from)), most);
    move |t| window(t) * (TAU * ((t - from) / period + at)).sin()
}

/// From 0 to `most` between two times, and staying there.
pub(super) fn passing(from: f64, to: f64, most: f64) -> impl Fn(f64) -> f64 {
    move |t| most * ramp((t - from) / (to - from))
}

/// The speed with which [`passing`] goes.
pub(super) fn passing_speed(from: f64, to: f64, most: f64) -> impl Fn(f64) -> f64 {
    move |t| {
        let x = ((t - from) / (to - from)).clamp(0.0, 1.0);
        most / (to - from) * 30.0 * (x * (1.0 - x)).powi(2)
    }
}

/// Goes about without rule between −1 and 1, mostly at `hz`; another `seed`, another way. Three sines whose
/// frequencies have no common period, bent so that the ends are visited as often as the middle.
pub(super) fn wander(seed: u32, hz: f64) -> impl Fn(f64) -> f64 {
    let share = |k: u32| {
        let mut x = seed.wrapping_mul(0x9E37_79B9) ^ k.wrapping_mul(0x85EB_CA6B);
        x = (x ^ (x >> 15)).wrapping_mul(0x2C1B_3C6D);
        x = (x ^ (x >> 12)).wrapping_mul(0x297A_2D39);
        f64::from(x ^ (x >> 15)) / f64::from(u32::MAX)
    };
    let waves = [0.53, 1.0, 1.47].map(|f| f * hz);
    let phases = [0, 1, 2].map(share);
    let detune = [3, 4, 5].map(|k| 0.9 + 0.2 * share(k));
    move |t| {
        let sum: f64 = (0..3).map(|k| (TAU * (waves[k] * detune[k] * t + phases[k])).sin()).sum();
        (0.8 * sum).tanh()
    }
}

/// A leg that is held in the air: its angles, in radians.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LegAngles {
    pub flex: f64,
    pub out: f64,
    pub turn: f64,
    pub knee: f64,
    pub point: f64,
}

impl Plan {
    /// Standing for so long.
    pub fn standing(figure: &Figure, seconds: f64) -> Self {
        stand(figure, seconds)
    }

    /// The footfalls of a route, with nothing on top.
    pub fn along(figure: &Figure, route: &Route) -> Self {
        let travel = Travel::along(route);
        let stances = [0, 1].map(|k| footfalls(&travel, &figure.legs[k]));
        Self { extra: Extra::none(&travel), travel, stances }
    }

    /// Adds a curve to a track.
    pub fn add(
        &mut self,
        track: impl FnOnce(&mut Extra) -> &mut Vec<f64>,
        curve: impl Fn(f64) -> f64,
    ) -> &mut Self {
        let travel = &self.travel;
        let times: Vec<f64> = (0..travel.len()).map(|i| travel.time(i)).collect();
        for (x, t) in track(&mut self.extra).iter_mut().zip(times) {
            *x += curve(t);
        }
        self
    }

    /// A foot that stands leaves at `off` and lands at `strike` with its sole at `at` (right and ahead of the origin),
    /// lifted by `lift` shares of the leg.
    pub fn step(&mut self, figure: &Figure, k: usize, [off, strike]: [f64; 2], at: DVec3, lift: f64) {
        let travel = &self.travel;
        let heading = travel.sample(&travel.heading, strike);
        let place = travel.sample(&travel.place, strike);
        let lands = Stance {
            strike,
            flat: strike + 0.12,
            strike_pitch: d(3.0),
            swing: Swing { up: [lift, 0.0, 0.0, 0.0], ..Swing::default() },
            ..standing_foot(figure, k, place + DQuat::from_rotation_y(heading) * at, heading)
        };
        if let Some(last) = self.stances[k].last_mut() {
            *last = Stance { off, rise: off - 0.16, late: 2.5, off_pitch: d(-18.0), ..*last };
        }
        self.stances[k].push(lands);
    }

    /// Holds a leg from the hip between two times, taking `rise` seconds there and back; it leaves its place and comes
    /// back to where the root then is.
    pub fn hold_leg(&mut self, figure: &Figure, k: usize, [from, to]: [f64; 2], rise: f64, hold: LegAngles) {
        self.step(figure, k, [from, to], DVec3::ZERO, 0.05);
        // The foot is clear of the ground before it is turned.
        let share = held(from + 0.02, to - 0.02, rise, 1.0);
        self.add(|e| &mut e.legs[k].share, share);
        let window = |t: f64| if (from..=to).contains(&t) { 1.0 } else { 0.0 };
        self.add(|e| &mut e.legs[k].flex, |t| hold.flex * window(t));
        self.add(|e| &mut e.legs[k].out, |t| hold.out * window(t));
        self.add(|e| &mut e.legs[k].turn, |t| hold.turn * window(t));
        self.add(|e| &mut e.legs[k].knee, |t| hold.knee * window(t));
        self.add(|e| &mut e.legs[k].point, |t| hold.point * window(t));
        // The root comes over the foot that stands.
        let (from, to) = (from - 0.3, to + 0.3);
        self.add(|e| &mut e.aside, held(from, to, 0.35f64.min(0.5 * (to - from)), [-0.075, 0.075][k]));
    }

    /// Holds the legs in every swing, the more the nearer to its middle.
    pub fn hold_swings(&mut self, hold: LegAngles, share: f64) {
        for k in 0..2 {
            let swings: Vec<[f64; 2]> = self.stances[k].windows(2).map(|w| [w[0].off, w[1].strike]).collect();
            let amid = |t: f64| {
                let next = swings.partition_point(|s| s[1] <= t);
                let Some([from, to]) = swings.get(next) else { return 0.0 };
                let u = (t - from) / (to - from);
                share * ramp(u / 0.5) * ramp((1.0 - u) / 0.5)
            };
            self.add(|e| &mut e.legs[k].share, amid);
            self.add(|e| &mut e.legs[k].flex, |_| hold.flex);
            self.add(|e| &mut e.legs[k].out, |_| hold.out);
            self.add(|e| &mut e.legs[k].turn, |_| hold.turn);
            self.add(|e| &mut e.legs[k].knee, |_| hold.knee);
            self.add(|e| &mut e.legs[k].point, |_| hold.point);
        }
    }

    /// The feet stand until the root moves off at `from`: footfalls before that are taken away.
    pub fn standing_until(&mut self, figure: &Figure, from: f64) {
        let travel = &self.travel;
        let (place, heading) = (travel.sample(&travel.place, from), travel.sample(&travel.heading, from));
        for k in 0..2 {
            self.stances[k].retain(|s| s.strike > from + 0.2);
            let Some(first) = self.stances[k].first() else { continue };
            let phase = travel.sample(&travel.phase, first.strike);
            let speed = travel.sample(&travel.speed, first.strike);
            let swing = 1.0 - gait::duty(speed, travel.sample(&travel.running, first.strike));
            let off = travel.when(phase - swing).unwrap_or(from).max(from - 0.1);
            let standing = standing_foot(figure, k, place, heading);
            let leaves = Stance { off, rise: off - 0.2, late: 2.5, off_pitch: d(-30.0), ..standing };
            self.stances[k].insert(0, leaves);
        }
    }
}
