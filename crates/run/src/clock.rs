//! The latent clock: it ticks at the trained rate, whatever rate the game runs at.
//!
//! A game frame from t to t + dt may hold no tick, one or several. Bones are interpolated to each tick, states are
//! shown interpolated between the last two ticks, which lags one trained frame. A game that only ever steps by
//! exactly the trained period is in lockstep: each frame is a tick, and is shown without lag.

use crate::{Error, Result};

/// How far a step may differ from the trained period, as a share of it, and still be in lockstep: enough for
/// 1/30 given as `f32`.
const LOCKSTEP: f64 = 1e-6;
/// Longest step in seconds. A longer one is a loading screen or a mistake: reset or teleport instead.
pub(crate) const MAX_DT_SECS: f64 = 1.0;

/// Refuses time steps that are not positive, not finite or too long.
pub(crate) fn check(dt_secs: f64) -> Result<()> {
    if dt_secs > 0.0 && dt_secs <= MAX_DT_SECS { Ok(()) } else { Err(Error::TimeStep(dt_secs)) }
}

/// What one step means in ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Plan {
    /// Ticks within the step.
    pub ticks: u32,
    /// Share of the step at which the first tick falls, above 0, and from tick to tick.
    first: f64,
    every: f64,
    /// What is shown: 1 is the latest tick, 0 the one before.
    pub show: f32,
}

impl Plan {
    /// No time passes.
    pub const NONE: Self = Self { ticks: 0, first: 1.0, every: 1.0, show: 1.0 };

    /// The share of the step at which tick `i` falls: above 0, at most 1.
    pub fn share(&self, i: u32) -> f64 {
        (self.first + f64::from(i) * self.every).min(1.0)
    }
}

/// Where between two ticks the game is, in trained frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Clock {
    fps: f64,
    /// Since the latest tick.
    phase: f64,
    /// Time of what is shown relative to the latest tick, −1 to 0.
    shown: f64,
    lockstep: bool,
}

impl Clock {
    pub fn new(fps: f64) -> Self {
        Self { fps, phase: 0.0, shown: 0.0, lockstep: true }
    }

    /// Advances; a time step that is refused changes nothing.
    pub fn advance(&mut self, dt_secs: f64) -> Result<Plan> {
        check(dt_secs)?;
        let frames = dt_secs * self.fps;
        if self.lockstep && (frames - 1.0).abs() < LOCKSTEP {
            return Ok(Plan { ticks: 1, first: 1.0, every: 1.0, show: 1.0 });
        }
        self.lockstep = false;
        let total = self.phase + frames;
        // A hair early rather than a whole frame late where rounding leaves a sum just short of a tick.
        let ticks = (total + 1e-9).floor();
        let first = ((1.0 - self.phase) / frames).max(f64::MIN_POSITIVE);
        self.phase = (total - ticks).max(0.0);
        // Lag grows to one frame at half speed after lockstep ends: time shown never runs backwards.
        self.shown = (self.shown - ticks + 0.5 * frames).min(0.0).max(self.phase - 1.0);
        Ok(Plan { ticks: ticks as u32, first, every: 1.0 / frames, show: (1.0 + self.shown) as f32 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trained_rate_ticks_once_a_step_without_lag() {
        let mut clock = Clock::new(30.0);
        for _ in 0..1000 {
            let plan = clock.advance(f64::from(1.0f32 / 30.0)).unwrap();
            assert_eq!((plan.ticks, plan.share(0), plan.show), (1, 1.0, 1.0));
        }
    }

    #[test]
    fn any_rate_gives_as_many_ticks_as_time_and_lags_one_frame_at_most() {
        for rate in [7.0, 24.0, 29.9, 60.0, 90.0, 144.0, 1000.0] {
            let mut clock = Clock::new(30.0);
            let (mut ticks, mut time, mut shown_before) = (0, 0.0, f64::NEG_INFINITY);
            for i in 0..5000 {
                let plan = clock.advance(1.0 / rate).unwrap();
                for t in 0..plan.ticks {
                    let at = time + plan.share(t) / rate;
                    ticks += 1;
                    assert!(
                        (at * 30.0 - f64::from(ticks)).abs() < 1e-6,
                        "rate {rate}: tick {ticks} at {at} s"
                    );
                }
                time += 1.0 / rate;
                let shown = f64::from(ticks) - 1.0 + f64::from(plan.show);
                assert!(shown >= shown_before - 1e-6, "rate {rate}: time shown runs backwards");
                assert!((0.0..=1.0).contains(&plan.show));
                let lag = time * 30.0 - shown;
                assert!((-1e-6..=1.0 + 1e-6).contains(&lag), "rate {rate}, step {i}: {lag} frames of lag");
                shown_before = shown;
            }
        }
    }

    #[test]
    fn steps_that_make_no_sense_change_nothing() {
        let mut clock = Clock::new(30.0);
        let before = clock;
        for dt in [0.0, -0.1, 1.1, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(clock.advance(dt).is_err(), "{dt}");
            assert_eq!(clock, before);
        }
    }
}
