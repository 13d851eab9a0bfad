//! Movement without rule, so that parts meet that no exercise puts together: every part wanders on its own while the feet
//! stand, step, walk or run.

use super::Clip;
use super::gaits::route;
use crate::builtin::motions::choreography::{LegAngles, d, wander};
use crate::builtin::motions::figure::{Extra, Figure, Plan};

pub(super) const CLIPS: &[Clip] = &[
    ("free-standing", |f| loose(Plan::standing(f, 10.0), 11, 1.0, 0.10)),
    ("free-standing-low", |f| loose(Plan::standing(f, 10.0), 12, 1.0, 0.22)),
    ("free-stepping", |f| loose(stepping(f, 10.0, 21, 0.3, 60.0), 22, 1.0, 0.08)),
    ("free-stepping-turns", |f| loose(stepping(f, 10.0, 23, 0.35, 130.0), 24, 0.9, 0.10)),
    ("free-dancing", |f| dancing(f, 31, 40.0)),
    ("free-dancing-wide", |f| dancing(f, 32, 55.0)),
    ("free-dancing-low", |f| {
        let mut plan = dancing(f, 33, 35.0);
        plan.add(|e| &mut e.rise, |_| -0.12);
        plan
    }),
    ("free-walking", |f| loose(walking(f, 10.0, 41, 1.1, 0.0), 42, 0.7, 0.05)),
    ("free-walking-low", |f| loose(walking(f, 10.0, 43, 0.8, 0.0), 44, 0.9, 0.16)),
    ("free-walking-fast", |f| loose(walking(f, 8.0, 45, 1.7, 0.0), 46, 0.6, 0.04)),
    ("free-running", |f| loose(walking(f, 8.0, 47, 2.8, 1.0), 48, 0.5, 0.05)),
];

/// Trunk, pelvis, root and arms wander, by a share of their range; the root down to `low` metres.
fn loose(mut plan: Plan, seed: u32, share: f64, low: f64) -> Plan {
    let tracks: [(fn(&mut Extra) -> &mut Vec<f64>, f64, f64); 13] = [
        (|e| &mut e.twist, d(34.0), 0.35),
        (|e| &mut e.bend, d(26.0), 0.3),
        (|e| &mut e.side_bend, d(20.0), 0.35),
        (|e| &mut e.pelvis_twist, d(13.0), 0.4),
        (|e| &mut e.pelvis_tilt, d(13.0), 0.35),
        (|e| &mut e.pelvis_list, d(8.0), 0.4),
        (|e| &mut e.forward, 0.05, 0.3),
        (|e| &mut e.aside, 0.05, 0.3),
        (|e| &mut e.arm_forward[0], d(55.0), 0.35),
        (|e| &mut e.arm_forward[1], d(55.0), 0.35),
        (|e| &mut e.arm_out[0], d(32.0), 0.3),
        (|e| &mut e.arm_out[1], d(32.0), 0.3),
        (|e| &mut e.elbows, d(25.0), 0.3),
    ];
    for (i, (track, most, hz)) in tracks.into_iter().enumerate() {
        let way = wander(seed + 100 * i as u32, hz);
        plan.add(track, |t| share * most * way(t));
    }
    let depth = wander(seed + 7, 0.3);
    plan.add(|e| &mut e.rise, |t| -0.5 * low * (1.0 + depth(t)));
    plan.add(|e| &mut e.bend, |t| d(60.0) * 0.5 * low * (1.0 + depth(t)));
    plan.add(|e| &mut e.arms_out, |_| d(38.0));
    plan.add(|e| &mut e.elbows, |_| d(25.0));
    plan
}

/// Small steps any way, turning to and fro at up to so many degrees a second.
fn stepping(figure: &Figure, duration: f64, seed: u32, speed: f64, degrees: f64) -> Plan {
    let (ahead, aside, turn) = (wander(seed, 0.3), wander(seed + 1, 0.3), wander(seed + 2, 0.25));
    let velocity = |t: f64| [speed * ahead(t), speed * aside(t)];
    route(figure, duration, &velocity, &|t| d(degrees) * turn(t), &|_| 0.0, &|_| 2.2)
}

/// Steps with the swinging legs thrown anywhere.
fn dancing(figure: &Figure, seed: u32, degrees: f64) -> Plan {
    let mut plan = stepping(figure, 10.0, seed, 0.3, 90.0);
    plan.hold_swings(
        LegAngles { knee: d(48.0), point: d(25.0), flex: d(30.0), out: d(12.0), turn: d(10.0) },
        0.9,
    );
    for k in 0..2 {
        let of = |i: u32| wander(seed + 40 + 10 * i + k as u32, 0.45);
        let (flex, out, knee) = (of(0), of(1), of(2));
        plan.add(|e| &mut e.legs[k].flex, |t| d(degrees) * flex(t));
        plan.add(|e| &mut e.legs[k].out, |t| d(0.45 * degrees) * out(t));
        plan.add(|e| &mut e.legs[k].knee, |t| d(36.0) * knee(t));
    }
    loose(plan, seed + 60, 0.9, 0.10)
}

/// Walks or runs, speeding up, slowing down and turning.
fn walking(figure: &Figure, duration: f64, seed: u32, speed: f64, running: f64) -> Plan {
    let (faster, turn) = (wander(seed, 0.2), wander(seed + 1, 0.2));
    let velocity = |t: f64| [speed * (1.0 + 0.25 * faster(t)), 0.0];
    route(figure, duration, &velocity, &|t| d(60.0) * turn(t), &|_| running, &|_| 1.0)
}
