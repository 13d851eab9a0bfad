//! Plans of the motions there are.

use super::feet::{Stance, footfalls, step};
use super::figure::{Extra, Figure, Plan};
use super::gait::{self, Style, Swing};
use super::path::{Travel, ramp};
use glam::{DQuat, DVec3};

/// Steady walking or running.
pub(super) fn steady(figure: &Figure, speed: f64, running: f64, duration: f64) -> Plan {
    turning(figure, speed, running, 0.0, duration)
}

/// Standing still.
pub(super) fn stand(figure: &Figure, duration: f64) -> Plan {
    let travel = Travel::new(duration, 0.0, |_| 0.0, |_| 0.0, |_| 0.0);
    let stances = [0, 1].map(|k| vec![standing_foot(figure, k, DVec3::ZERO, 0.0)]);
    Plan { extra: Extra::none(&travel), travel, stances }
}

/// Walking straight on, through a turn of `angle` radians, and straight on again.
pub(super) fn turning(figure: &Figure, speed: f64, running: f64, angle: f64, duration: f64) -> Plan {
    let span = turn_span(angle);
    let begin = 0.5 * (duration - span);
    let travel =
        Travel::new(duration, 0.1, |_| speed, |t| angle * bell((t - begin) / span) / span, |_| running);
    let stances = [0, 1].map(|k| footfalls(&travel, &figure.legs[k]));
    Plan { extra: Extra::none(&travel), travel, stances }
}

/// Seconds that a turn takes.
fn turn_span(angle: f64) -> f64 {
    0.5 + angle.abs().to_degrees() / 85.0
}

/// A bump of area 1 over 0…1: the slope of a softened ramp, flat in its middle.
fn bell(x: f64) -> f64 {
    const EDGE: f64 = 0.3;
    let x = x.clamp(0.0, 1.0);
    ramp(x / EDGE) * ramp((1.0 - x) / EDGE) / (1.0 - EDGE)
}

/// Moving at `speed`, stopping short after about `moving` seconds, and standing for two.
pub(super) fn stopping(figure: &Figure, speed: f64, running: f64, angle: f64, moving: f64) -> Plan {
    let brake = if running > 0.5 { 0.6 } else { 0.5 };
    let cadence = gait::cadence(speed, running);
    // The left foot strikes at the stop: a whole number of cycles, begun wherever that lands.
    let start = -cadence * moving;
    let lead = if running > 0.5 { 0.22 } else { 0.08 };
    let begin = moving - lead;
    let duration = begin + brake + 2.2;
    let span = turn_span(angle);
    let travel = Travel::new(
        duration,
        start - start.floor(),
        |t| speed * (1.0 - ramp((t - begin) / brake)),
        |t| angle * bell((t - (begin - span - 0.2)) / span) / span,
        |_| running,
    );
    let end = travel.place[travel.len() - 1];
    let heading = travel.heading[travel.len() - 1];
    let mut stances = [0, 1].map(|k| footfalls(&travel, &figure.legs[k]));

    // The braking foot is planted where it will stand; the other one closes beside it.
    let braking = &mut stances[0];
    braking.retain(|s| s.strike < moving - 0.2);
    let style = Style::at(speed, running);
    let foot = standing_foot(figure, 0, end, heading);
    braking.push(Stance {
        strike: moving,
        flat: moving + 0.12,
        strike_pitch: style.strike_pitch * 0.8,
        swing: style.swing,
        ..foot
    });
    let closing = &mut stances[1];
    let half = 0.5 / cadence;
    closing.retain(|s| s.strike < moving - half - 0.2 * half);
    let last =
        step(&travel, &figure.legs[1], moving - half, moving + if running > 0.5 { -0.12 } else { 0.14 });
    closing.push(last);
    let foot = standing_foot(figure, 1, end, heading);
    let strike = moving + if running > 0.5 { 0.30 } else { 0.50 };
    closing.push(Stance { strike, flat: strike + 0.08, strike_pitch: 0.06, swing: Swing::default(), ..foot });
    Plan { extra: Extra::none(&travel), travel, stances }
}

/// A foot that stands beside `place` facing `heading`.
fn standing_foot(figure: &Figure, k: usize, place: DVec3, heading: f64) -> Stance {
    let leg = &figure.legs[k];
    let width = Style::standing().half_width * leg.length();
    let at = place + DQuat::from_rotation_y(heading) * DVec3::new(leg.side * width, 0.0, -0.02);
    Stance::standing(at, heading + leg.side * 7f64.to_radians())
}
