//! Steady walking and running, turns, and the change from one gait to the other.

use super::feet::footfalls;
use super::figure::{Extra, Figure, Plan};
use super::path::{Travel, ramp};

/// Where in its cycle a gait begins: just after the left foot's strike.
const START: f64 = 0.1;

/// Steady walking or running.
pub(super) fn steady(figure: &Figure, speed: f64, running: f64, duration: f64) -> Plan {
    turning(figure, speed, running, 0.0, duration)
}

/// Walking straight on, through a turn of `angle` radians, and straight on again.
pub(super) fn turning(figure: &Figure, speed: f64, running: f64, angle: f64, duration: f64) -> Plan {
    let span = turn_span(angle);
    let begin = 0.5 * (duration - span);
    let travel =
        Travel::new(duration, START, |_| speed, |t| angle * bell((t - begin) / span) / span, |_| running);
    planned(figure, travel)
}

/// Walking that speeds up into a run at `speed`.
pub(super) fn into_run(figure: &Figure, speed: f64) -> Plan {
    let travel = Travel::new(
        5.0,
        START,
        |t| 1.3 + (speed - 1.3) * ramp((t - 1.5) / 1.8),
        |_| 0.0,
        |t| ramp((t - 1.9) / 0.9),
    );
    planned(figure, travel)
}

/// The footfalls of a travel, with nothing on top.
fn planned(figure: &Figure, travel: Travel) -> Plan {
    let stances = [0, 1].map(|k| footfalls(&travel, &figure.legs[k]));
    Plan { extra: Extra::none(&travel), travel, stances }
}

/// Seconds that a turn takes.
pub(super) fn turn_span(angle: f64) -> f64 {
    0.5 + angle.abs().to_degrees() / 85.0
}

/// A bump of area 1 over 0…1 with a flat middle.
pub(super) fn bell(x: f64) -> f64 {
    const EDGE: f64 = 0.3;
    let x = x.clamp(0.0, 1.0);
    ramp(x / EDGE) * ramp((1.0 - x) / EDGE) / (1.0 - EDGE)
}
