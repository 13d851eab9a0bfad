//! Walking and running: speeds, ways, turns, starts and stops.

use super::Clip;
use crate::builtin::motions::choreography::{d, held, passing_speed, rocking, wander};
use crate::builtin::motions::figure::{Figure, Plan};
use crate::builtin::motions::path::{Route, ramp};
use crate::builtin::motions::stop::{going_and_stopping, stopping, stopping_and_twisting};

pub(super) const CLIPS: &[Clip] = &[
    ("walk", |f| straight(f, 6.0, 1.3, 0.0)),
    ("run", |f| straight(f, 5.0, 3.1, 1.0)),
    ("run-fast", |f| straight(f, 5.0, 4.0, 1.0)),
    ("sprint", |f| straight(f, 4.5, 5.0, 1.0)),
    ("walk-all-speeds", |f| {
        go(f, 10.0, |t| [0.6 + 1.4 * ramp(t / 4.0) - 1.2 * ramp((t - 5.0) / 4.0), 0.0], |_| 0.0, |_| 0.0)
    }),
    ("walk-into-run", |f| {
        go(f, 7.0, |t| [1.2 + 2.2 * ramp((t - 1.5) / 3.0), 0.0], |_| 0.0, |t| ramp((t - 2.2) / 1.2))
    }),
    ("run-into-walk", |f| {
        go(f, 7.0, |t| [3.2 - 2.1 * ramp((t - 1.5) / 3.0), 0.0], |_| 0.0, |t| 1.0 - ramp((t - 2.6) / 1.2))
    }),
    // Backwards and sideways.
    ("backwards", |f| go(f, 6.0, |_| [-0.8, 0.0], |_| 0.0, |_| 0.0)),
    ("sideways-left", |f| sidle(f, 6.0, |_| [0.0, 0.55])),
    ("sideways-right", |f| sidle(f, 6.0, |_| [0.0, -0.55])),
    ("diagonal", |f| go(f, 8.0, |t| [0.8, 0.5 - ramp((t - 3.0) / 2.0)], |_| 0.0, |_| 0.0)),
    ("navigate", |f| sidle(f, 12.0, |t| around(t / 6.0, 0.9))),
    ("navigate-back", |f| sidle(f, 12.0, |t| around(-t / 6.0, 0.7))),
    // Turns.
    ("walk-fast-turn-left", |f| turns(f, 6.0, 1.7, 0.0, 70.0)),
    ("walk-fast-turn-right", |f| turns(f, 6.0, 1.7, 0.0, -70.0)),
    ("walk-sharp-turns", |f| {
        go(
            f,
            8.0,
            |t| [1.0 - 0.5 * sharp(t), 0.0],
            |t| [1.0, -1.0, -1.0][((t + 0.5) / 3.0).clamp(0.0, 2.0) as usize] * 2.2 * sharp(t),
            |_| 0.0,
        )
    }),
    ("walk-slalom", |f| go(f, 8.0, |_| [1.3, 0.0], |t| d(70.0) * (1.9 * t).sin(), |_| 0.0)),
    ("walk-turn-around-left", |f| {
        go(
            f,
            7.0,
            |t| [1.1 - 0.75 * held(2.0, 4.6, 0.8, 1.0)(t), 0.0],
            passing_speed(2.4, 4.2, d(180.0)),
            |_| 0.0,
        )
    }),
    ("walk-turn-around-right", |f| {
        go(
            f,
            7.0,
            |t| [1.1 - 0.75 * held(2.0, 4.6, 0.8, 1.0)(t), 0.0],
            passing_speed(2.4, 4.2, d(-180.0)),
            |_| 0.0,
        )
    }),
    ("jog-turn-left", |f| turns(f, 6.0, 2.4, 1.0, 100.0)),
    ("jog-turn-right", |f| turns(f, 6.0, 2.4, 1.0, -100.0)),
    ("run-slalom", |f| go(f, 7.0, |_| [3.0, 0.0], |t| d(75.0) * (2.2 * t).sin(), |_| 1.0)),
    ("turn-in-place-fast", |f| {
        route(
            f,
            6.0,
            &|_| [0.0; 2],
            &|t| d(150.0) * (held(0.5, 2.6, 0.6, 1.0)(t) - held(3.2, 5.5, 0.6, 1.0)(t)),
            &|_| 0.0,
            &|_| 4.2,
        )
    }),
    ("walk-spinning-left", |f| spinning(f, 1.0)),
    ("walk-spinning-right", |f| spinning(f, -1.0)),
    // Starts and stops.
    ("walk-start-stop", |f| going_and_stopping(f, 1.3, 0.0, 0.0, 3.6)),
    ("walk-start-turn-stop", |f| going_and_stopping(f, 1.2, 0.0, d(90.0), 5.0)),
    ("walk-start-turn-right-stop", |f| going_and_stopping(f, 1.2, 0.0, d(-90.0), 5.0)),
    ("jog-start-stop", |f| going_and_stopping(f, 2.4, 1.0, 0.0, 3.4)),
    ("run-stop", |f| stopping(f, 3.4, 1.0, 0.0, 2.4, 0.0)),
    ("walk-stop-twist", |f| stopping_and_twisting(f, 1.2, d(45.0))),
    // Manners.
    ("walk-crouched", |f| manner(f, 7.0, 0.8, &[0.0, 0.0, 0.0], -0.13, 28.0)),
    ("run-ducking", |f| {
        let mut plan = straight(f, 7.0, 2.6, 1.0);
        for (from, to) in [(1.0, 2.6), (3.6, 5.8)] {
            plan.add(|e| &mut e.rise, held(from, to, 0.55, -0.22));
            plan.add(|e| &mut e.bend, held(from, to, 0.55, d(50.0)));
            plan.add(|e| &mut e.pelvis_tilt, held(from, to, 0.55, d(22.0)));
            plan.add(|e| &mut e.arms_out, held(from, to, 0.55, d(14.0)));
        }
        plan
    }),
    ("walk-swaying", |f| manner(f, 8.0, 0.7, &[14.0, 9.0, 0.0], -0.02, 2.0)),
    ("walk-stooped", |f| manner(f, 7.0, 0.7, &[0.0, 4.0, 8.0], -0.05, 35.0)),
    ("walk-twisting", |f| {
        let mut plan = straight(f, 8.0, 0.9, 0.0);
        plan.add(|e| &mut e.twist, rocking(0.0, 8.0, 2.7, 0.0, d(40.0)));
        plan.add(|e| &mut e.pelvis_twist, rocking(0.0, 8.0, 2.7, 0.0, d(16.0)));
        plan.add(|e| &mut e.arms_out, held(0.0, 8.0, 1.0, d(25.0)));
        plan
    }),
    ("walk-arms-raised", |f| {
        let mut plan = straight(f, 8.0, 1.0, 0.0);
        plan.add(|e| &mut e.arms_out, held(0.5, 4.0, 1.3, d(125.0)));
        plan.add(|e| &mut e.arms_forward, held(4.0, 7.5, 1.2, d(85.0)));
        plan
    }),
];

/// A plan from curves over time.
fn go(
    figure: &Figure,
    duration: f64,
    velocity: impl Fn(f64) -> [f64; 2],
    turning: impl Fn(f64) -> f64,
    running: impl Fn(f64) -> f64,
) -> Plan {
    route(figure, duration, &velocity, &turning, &running, &|_| 1.0)
}

pub(super) fn route(
    figure: &Figure,
    duration: f64,
    velocity: &dyn Fn(f64) -> [f64; 2],
    turning: &dyn Fn(f64) -> f64,
    running: &dyn Fn(f64) -> f64,
    tempo: &dyn Fn(f64) -> f64,
) -> Plan {
    Plan::along(figure, &Route { duration, phase: 0.1, velocity, turning, running, tempo })
}

/// Sideways, or any way but mostly ahead, in more and smaller steps.
fn sidle(figure: &Figure, duration: f64, velocity: impl Fn(f64) -> [f64; 2]) -> Plan {
    route(figure, duration, &velocity, &|_| 0.0, &|_| 0.0, &|_| 1.7)
}

/// Straight on, at a speed that wavers a little.
pub(super) fn straight(figure: &Figure, duration: f64, speed: f64, running: f64) -> Plan {
    let waver = wander((10.0 * speed) as u32, 0.25);
    go(figure, duration, |t| [speed * (1.0 + 0.05 * waver(t)), 0.0], |_| 0.0, |_| running)
}

/// Two turns of so many degrees, straight before and between.
fn turns(figure: &Figure, duration: f64, speed: f64, running: f64, degrees: f64) -> Plan {
    let turn = |from: f64, to: f64| passing_speed(from * duration, to * duration, d(degrees));
    let (first, second) = (turn(0.1, 0.42), turn(0.55, 0.9));
    go(figure, duration, |_| [speed, 0.0], |t| first(t) + second(t), |_| running)
}

/// Walks straight on while the body turns round and round.
fn spinning(figure: &Figure, side: f64) -> Plan {
    let (from, to, turns) = (1.0, 6.0, 2.0);
    let turned = move |t: f64| side * turns * 360f64.to_radians() * ramp((t - from) / (to - from));
    let velocity = |t: f64| [0.7 * turned(t).cos(), -0.7 * turned(t).sin()];
    let turning = passing_speed(from, to, side * turns * d(360.0));
    route(figure, 7.0, &velocity, &turning, &|_| 0.0, &|_| 1.6)
}

/// A velocity that goes all the way round: ahead, left, back, right.
fn around(share: f64, speed: f64) -> [f64; 2] {
    let angle = std::f64::consts::TAU * share;
    [speed * angle.cos(), 0.75 * speed * angle.sin()]
}

/// Bumps at 1, 4 and 7 seconds, one second wide.
fn sharp(t: f64) -> f64 {
    [1.0, 4.0, 6.6].into_iter().map(|at| held(at - 0.7, at + 0.7, 0.5, 1.0)(t)).sum()
}

/// A walk with the pelvis swung to the side and twisted, and the trunk swung to the side (degrees), the root lowered
/// (metres) and the trunk bent (degrees).
fn manner(
    figure: &Figure,
    duration: f64,
    speed: f64,
    [list, twist, side]: &[f64; 3],
    rise: f64,
    bend: f64,
) -> Plan {
    let mut plan = straight(figure, duration, speed, 0.0);
    let phase = plan.travel.phase.clone();
    let stride = |shift: f64| -> Vec<f64> {
        phase.iter().map(|p| crate::builtin::motions::gait::wave(p - shift)).collect()
    };
    let wave = |track: &mut Vec<f64>, shift: f64, most: f64| {
        track.iter_mut().zip(stride(shift)).for_each(|(x, w)| *x += most * w);
    };
    wave(&mut plan.extra.pelvis_list, 0.25, d(*list));
    wave(&mut plan.extra.pelvis_twist, 0.0, d(-twist));
    wave(&mut plan.extra.side_bend, 0.25, d(*side));
    wave(&mut plan.extra.aside, 0.3, 0.002 * list);
    plan.add(|e| &mut e.rise, |_| rise);
    plan.add(|e| &mut e.bend, |_| d(bend));
    plan.add(|e| &mut e.pelvis_tilt, |_| d(0.4 * bend));
    plan.add(|e| &mut e.forward, |_| -0.0015 * bend.max(0.0));
    plan.add(|e| &mut e.arms_out, |_| d(10.0));
    plan
}
