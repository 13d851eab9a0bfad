//! Standing, and coming to a stand from a walk or a run.

use super::feet::{Stance, footfalls, step};
use super::figure::{Extra, Figure, Plan};
use super::gait::{self, Style, Swing};
use super::path::{Travel, ramp, through};
use super::walk::{bell, turn_span};
use glam::{DQuat, DVec3};

/// Seconds of standing after a stop.
const STANDING: f64 = 2.0;

/// Standing still.
pub(super) fn stand(figure: &Figure, duration: f64) -> Plan {
    let travel = Travel::new(duration, 0.0, |_| 0.0, |_| 0.0, |_| 0.0);
    let stances = [0, 1].map(|k| vec![standing_foot(figure, k, DVec3::ZERO, 0.0)]);
    Plan { extra: Extra::none(&travel), travel, stances }
}

/// How a stop goes, in seconds relative to the strike of the braking foot.
struct Braking {
    /// When the speed begins to fall and how long until it is gone.
    begin: f64,
    span: f64,
    /// When the other foot leaves the ground, and when it lands beside the braking one.
    leaves: f64,
    closes: f64,
    /// How far the trunk pitches forward as the legs stop, radians, and how far the root gives, metres.
    pitch: f64,
    give: f64,
}

/// Moving at `speed` (with a turn of `angle` before), stopping short as the left foot strikes after `moving`
/// seconds, standing for two seconds and, if asked, for `more`.
pub(super) fn stopping(
    figure: &Figure,
    speed: f64,
    running: f64,
    angle: f64,
    moving: f64,
    more: f64,
) -> Plan {
    planned(figure, speed, running, angle, None, moving, more)
}

/// Stands, moves off about half a second after the beginning, and stops as [`stopping`] does: begun when the first step
/// then takes as long as a step should.
pub(super) fn going_and_stopping(figure: &Figure, speed: f64, running: f64, angle: f64, moving: f64) -> Plan {
    const FIRST_STEP: f64 = 0.45;
    let begun = |start: f64| planned(figure, speed, running, angle, Some(start), moving, 0.0);
    let late = |start: f64| {
        let plan = begun(start);
        let strikes = plan.stances.iter().filter_map(|s| s.get(1)).map(|s| s.strike);
        (strikes.fold(f64::MAX, f64::min) - start - FIRST_STEP).abs()
    };
    let starts = (0..16).map(|i| 0.3 + 0.05 * f64::from(i));
    begun(starts.min_by(|a, b| late(*a).total_cmp(&late(*b))).unwrap_or(0.5))
}

fn planned(
    figure: &Figure,
    speed: f64,
    running: f64,
    angle: f64,
    start: Option<f64>,
    moving: f64,
    more: f64,
) -> Plan {
    let braking = if running > 0.5 {
        Braking { begin: -0.20, span: 0.55, leaves: -0.09, closes: 0.34, pitch: 0.16, give: -0.05 }
    } else {
        Braking { begin: -0.08, span: 0.46, leaves: 0.12, closes: 0.46, pitch: 0.07, give: -0.008 }
    };
    let cadence = gait::cadence(speed, running);
    let begin = moving + braking.begin;
    let end = begin + braking.span;
    let turn = turn_span(angle);
    let started = |t: f64| start.map_or(1.0, |from| ramp((t - from) / (0.5 + 0.35 * speed)));
    let mut travel = Travel::new(
        end + STANDING + more,
        (-cadence * moving).rem_euclid(1.0),
        |t| speed * started(t) * (1.0 - ramp((t - begin) / braking.span)),
        |t| angle * bell((t - (begin - turn - 0.1)) / turn) / turn,
        |_| running,
    );
    if start.is_some() {
        // Cadence was not constant: the left foot strikes at `moving` all the same.
        let phase = travel.sample(&travel.phase, moving);
        travel.phase.iter_mut().for_each(|p| *p += phase.round() - phase);
    }
    let last = travel.len() - 1;
    let (place, heading) = (travel.place[last], travel.heading[last]);
    let mut stances = [0, 1].map(|k| footfalls(&travel, &figure.legs[k]));

    // The braking foot is planted where it will stand; the other one closes beside it.
    let style = Style::at(speed, running);
    let half = 0.5 / cadence;
    stances[0].retain(|s| s.strike < moving - half);
    stances[0].push(Stance {
        strike: moving,
        flat: moving + 0.10,
        strike_pitch: style.strike_pitch,
        swing: style.swing,
        ..standing_foot(figure, 0, place, heading)
    });
    stances[1].retain(|s| s.strike < moving - 1.5 * half);
    stances[1].push(step(&travel, &figure.legs[1], moving - half, moving + braking.leaves));
    let closes = moving + braking.closes;
    stances[1].push(Stance {
        strike: closes,
        flat: closes + 0.10,
        strike_pitch: 4f64.to_radians(),
        swing: Swing { up: [0.0, 0.04, 0.0, 0.0], ..Swing::default() },
        ..standing_foot(figure, 1, place, heading)
    });

    // Legs stop first; the trunk follows through and comes back.
    let mut extra = Extra::none(&travel);
    let follow = |most: f64| {
        [
            (begin, 0.0, 0.0),
            (moving + 0.22, most, 0.0),
            (moving + 0.60, -0.2 * most, 0.0),
            (moving + 0.95, 0.0, 0.0),
        ]
    };
    extra.bend = through(&travel, &follow(braking.pitch));
    extra.rise = through(&travel, &follow(braking.give));
    extra.forward = through(&travel, &follow(if running > 0.5 { -0.05 } else { -0.01 }));
    extra.arms_forward = through(&travel, &follow(2.5 * braking.pitch));
    let mut plan = Plan { extra, travel, stances };
    if let Some(from) = start {
        plan.standing_until(figure, from);
    }
    plan
}

/// Walks, stops, and twists the upper body by `angle` radians to the left, to the right and back on planted feet.
pub(super) fn stopping_and_twisting(figure: &Figure, speed: f64, angle: f64) -> Plan {
    let moving = 1.8;
    let mut plan = stopping(figure, speed, 0.0, 0.0, moving, 2.4);
    let from = moving + 1.0;
    let twist = |most: f64| {
        through(
            &plan.travel,
            &[(from, 0.0, 0.0), (from + 0.6, most, 0.0), (from + 1.5, -most, 0.0), (from + 2.2, 0.0, 0.0)],
        )
    };
    plan.extra.twist = twist(angle);
    plan.extra.pelvis_twist = twist(0.3 * angle);
    let arms = |most: f64| [(from - 0.2, 0.0, 0.0), (from + 0.5, most, 0.0), (from + 2.3, 0.0, 0.0)];
    plan.extra.arms_out = through(&plan.travel, &arms(20f64.to_radians()));
    plan
}

/// A foot that stands beside `place` facing `heading`.
pub(super) fn standing_foot(figure: &Figure, k: usize, place: DVec3, heading: f64) -> Stance {
    let leg = &figure.legs[k];
    let width = Style::standing().half_width * leg.length();
    let at = place + DQuat::from_rotation_y(heading) * DVec3::new(leg.side * width, 0.0, -0.02);
    Stance::standing(at, heading + leg.side * 7f64.to_radians())
}
