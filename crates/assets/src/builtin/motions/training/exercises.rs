//! On planted feet and with single steps: bows, squats, lunges, bends, twists, arms, sitting.

use super::Clip;
use crate::builtin::motions::choreography::{d, held, passing, rocking};
use crate::builtin::motions::figure::{Extra, Figure, Plan};
use glam::DVec3;

pub(super) const CLIPS: &[Clip] = &[
    ("bow-deep", |f| bows(f, 8.0, &[(0.5, 5.0, 105.0, 55.0), (5.2, 7.6, 50.0, 25.0)])),
    ("bow-quick", |f| {
        bows(f, 7.0, &[(0.4, 2.2, 55.0, 25.0), (2.5, 4.3, 75.0, 35.0), (4.6, 6.6, 40.0, 10.0)])
    }),
    ("bow-aside", |f| {
        let mut plan = bows(f, 8.0, &[(0.5, 3.8, 60.0, 25.0), (4.0, 7.4, 60.0, 25.0)]);
        plan.add(|e| &mut e.twist, held(0.6, 3.8, 1.1, d(40.0)));
        plan.add(|e| &mut e.twist, held(4.1, 7.4, 1.1, d(-40.0)));
        plan
    }),
    ("trunk-circles", |f| {
        let mut plan = Plan::standing(f, 9.0);
        plan.add(|e| &mut e.bend, rocking(0.3, 8.7, 2.8, 0.25, d(32.0)));
        plan.add(|e| &mut e.bend, held(0.3, 8.7, 1.2, d(14.0)));
        plan.add(|e| &mut e.side_bend, rocking(0.3, 8.7, 2.8, 0.0, d(30.0)));
        plan.add(|e| &mut e.pelvis_tilt, rocking(0.3, 8.7, 2.8, 0.25, d(14.0)));
        plan.add(|e| &mut e.arms_out, held(0.2, 8.8, 1.0, d(25.0)));
        plan
    }),
    ("hips-shaking", |f| {
        let mut plan = Plan::standing(f, 6.0);
        plan.add(|e| &mut e.pelvis_twist, rocking(0.3, 3.2, 0.7, 0.0, d(17.0)));
        plan.add(|e| &mut e.pelvis_list, rocking(3.0, 5.8, 0.6, 0.0, d(10.0)));
        plan.add(|e| &mut e.aside, rocking(3.0, 5.8, 0.6, 0.0, 0.05));
        plan.add(|e| &mut e.rise, held(0.1, 5.9, 0.8, -0.05));
        plan.add(|e| &mut e.arms_out, held(0.0, 6.0, 0.8, d(30.0)));
        plan
    }),
    ("twists", |f| twists(f, 8.0, 3.0, 50.0)),
    ("squat-deep", |f| squats(f, 8.0, &[(0.5, 4.2, 0.48), (4.5, 7.6, 0.54)], 0.0)),
    ("lunge-right", |f| lunges(f, 1)),
    ("lunge-sideways", |f| {
        let mut plan = Plan::standing(f, 9.0);
        for (k, from) in [(0, 0.5), (1, 4.7)] {
            let side = [1.0, -1.0][k];
            plan.step(f, k, [from, from + 0.6], DVec3::X * (side * 0.55), 0.06);
            plan.step(f, k, [from + 3.0, from + 3.6], DVec3::ZERO, 0.06);
            plan.add(|e| &mut e.aside, held(from, from + 3.6, 1.1, side * 0.36));
            plan.add(|e| &mut e.rise, held(from + 0.3, from + 3.4, 1.0, -0.30));
            plan.add(|e| &mut e.bend, held(from + 0.3, from + 3.4, 1.0, d(25.0)));
            plan.add(|e| &mut e.pelvis_tilt, held(from + 0.3, from + 3.4, 1.0, d(18.0)));
            plan.add(|e| &mut e.forward, held(from + 0.3, from + 3.4, 1.0, -0.10));
            plan.add(|e| &mut e.arms_forward, held(from + 0.3, from + 3.4, 1.0, d(70.0)));
        }
        plan
    }),
    ("stand-wide", |f| {
        let mut plan = squats(f, 9.0, &[], 0.30);
        plan.add(|e| &mut e.arms_out, held(0.5, 8.5, 1.0, d(30.0)));
        plan.add(|e| &mut e.aside, rocking(1.4, 7.0, 2.6, 0.0, 0.16));
        plan.add(|e| &mut e.twist, rocking(1.6, 7.0, 3.5, 0.0, d(35.0)));
        plan.add(|e| &mut e.bend, held(4.0, 7.2, 1.2, d(45.0)));
        plan.add(|e| &mut e.pelvis_tilt, held(4.0, 7.2, 1.2, d(25.0)));
        plan.add(|e| &mut e.forward, held(4.0, 7.2, 1.2, -0.06));
        plan
    }),
    ("sit-down", |f| sits(f, false)),
    ("arm-circles", |f| {
        let mut plan = Plan::standing(f, 7.0);
        plan.add(|e| &mut e.arms_forward, passing(0.3, 3.6, d(360.0)));
        plan.add(|e| &mut e.arms_forward, passing(3.6, 6.7, d(-360.0)));
        plan.add(|e| &mut e.arms_out, held(0.0, 7.0, 0.6, d(14.0)));
        plan.add(|e| &mut e.bend, rocking(0.3, 6.7, 1.7, 0.0, d(5.0)));
        plan
    }),
    ("arms-raised-sideways", |f| {
        let mut plan = Plan::standing(f, 8.0);
        plan.add(|e| &mut e.arms_out, held(0.3, 3.6, 1.3, d(155.0)));
        plan.add(|e| &mut e.arms_out, held(3.4, 7.9, 0.5, d(12.0)));
        plan.add(|e| &mut e.arm_out[0], held(3.8, 5.8, 0.9, d(130.0)));
        plan.add(|e| &mut e.side_bend, held(4.0, 5.8, 0.8, d(-28.0)));
        plan.add(|e| &mut e.arm_out[1], held(5.6, 7.8, 0.9, d(130.0)));
        plan.add(|e| &mut e.side_bend, held(5.8, 7.7, 0.8, d(28.0)));
        plan
    }),
];

/// Bows from … to, with trunk and pelvis tilted by so many degrees.
fn bows(figure: &Figure, duration: f64, list: &[(f64, f64, f64, f64)]) -> Plan {
    let mut plan = Plan::standing(figure, duration);
    for &(from, to, bend, tilt) in list {
        let rise = 0.42 * (to - from);
        plan.add(|e| &mut e.bend, held(from, to, rise, d(bend)));
        plan.add(|e| &mut e.pelvis_tilt, held(from, to, rise, d(tilt)));
        plan.add(|e| &mut e.forward, held(from, to, rise, -0.0026 * tilt));
        plan.add(|e| &mut e.rise, held(from, to, rise, -0.0006 * tilt));
        plan.add(|e| &mut e.arms_forward, held(from, to, rise, d(0.85 * bend)));
        plan.add(|e| &mut e.arms_out, held(from, to, rise, d(8.0)));
    }
    plan
}

fn twists(figure: &Figure, duration: f64, period: f64, degrees: f64) -> Plan {
    let mut plan = Plan::standing(figure, duration);
    let (from, to) = (0.3, duration - 0.2);
    plan.add(|e| &mut e.twist, rocking(from, to, period, 0.0, d(degrees)));
    plan.add(|e| &mut e.pelvis_twist, rocking(from, to, period, 0.0, d(0.35 * degrees)));
    plan.add(|e| &mut e.arms_out, held(0.0, duration, 0.8, d(40.0)));
    plan.add(|e| &mut e.rise, held(0.0, duration, 0.8, -0.03));
    plan
}

/// Squats from … to by so many metres; with `apart` metres more between the feet and the middle on each side.
fn squats(figure: &Figure, duration: f64, list: &[(f64, f64, f64)], apart: f64) -> Plan {
    let mut plan = Plan::standing(figure, duration);
    if apart > 0.0 {
        for (k, side) in [1.0, -1.0].into_iter().enumerate() {
            let (out, back) = (0.2 + 0.6 * k as f64, duration - 1.5 + 0.7 * k as f64);
            plan.step(figure, k, [out, out + 0.5], DVec3::X * (side * apart), 0.05);
            plan.step(figure, k, [back, back + 0.5], DVec3::ZERO, 0.05);
            // Over the foot that stands while the other one steps.
            plan.add(|e| &mut e.aside, held(out - 0.2, out + 0.7, 0.4, side * -0.04));
            plan.add(|e| &mut e.aside, held(back - 0.2, back + 0.7, 0.4, side * -0.04));
        }
    }
    for &(from, to, depth) in list {
        let rise = 0.42 * (to - from);
        let mut add = |track: fn(&mut Extra) -> &mut Vec<f64>, most: f64| {
            plan.add(track, held(from, to, rise, most));
        };
        let narrow = if apart > 0.0 { 0.3 } else { 1.0 };
        add(|e| &mut e.rise, -depth);
        add(|e| &mut e.forward, -0.38 * depth * narrow);
        add(|e| &mut e.bend, d(85.0) * depth * narrow);
        add(|e| &mut e.pelvis_tilt, d(55.0) * depth * narrow);
        add(|e| &mut e.arms_forward, d(80.0));
    }
    plan
}

/// Steps forward with one foot, kneels nearly, and comes back; then backwards with the same.
fn lunges(figure: &Figure, k: usize) -> Plan {
    let mut plan = Plan::standing(figure, 9.0);
    for (from, ahead, heel) in [(0.5, 0.62, 1 - k), (4.7, -0.55, k)] {
        plan.step(figure, k, [from, from + 0.6], DVec3::Z * ahead, 0.08);
        plan.step(figure, k, [from + 3.0, from + 3.6], DVec3::ZERO, 0.08);
        plan.add(|e| &mut e.forward, held(from, from + 3.6, 0.95, 0.52 * ahead));
        plan.add(|e| &mut e.rise, held(from + 0.4, from + 3.3, 1.0, -0.33));
        plan.add(|e| &mut e.heels[heel], held(from + 0.75, from + 2.9, 0.8, d(-50.0)));
        plan.add(|e| &mut e.bend, held(from + 0.4, from + 3.3, 1.0, d(10.0)));
        plan.add(|e| &mut e.twist, held(from + 0.8, from + 3.0, 0.8, d([-25.0, 25.0][k])));
        plan.add(|e| &mut e.arms_out, held(from + 0.4, from + 3.3, 1.0, d(25.0)));
    }
    plan
}

/// Sits down on a chair that is not there, stays, and stands up.
fn sits(figure: &Figure, fidgets: bool) -> Plan {
    let duration = 9.0;
    let mut plan = Plan::standing(figure, duration);
    let (from, to) = (0.5, 8.4);
    plan.add(|e| &mut e.rise, held(from, to, 1.7, -0.40));
    plan.add(|e| &mut e.forward, held(from, to, 1.7, -0.37));
    // Leaning forward carries the weight over the feet on the way down and up.
    for (a, b) in [(from, from + 2.0), (to - 2.0, to)] {
        plan.add(|e| &mut e.bend, held(a, b, 1.0, d(42.0)));
        plan.add(|e| &mut e.pelvis_tilt, held(a, b, 1.0, d(28.0)));
        plan.add(|e| &mut e.arms_forward, held(a, b, 1.0, d(25.0)));
    }
    plan.add(|e| &mut e.pelvis_tilt, held(from + 1.0, to - 1.0, 1.2, d(-8.0)));
    plan.add(|e| &mut e.arms_forward, held(from + 0.6, to - 0.6, 1.2, d(40.0)));
    plan.add(|e| &mut e.elbows, held(from + 0.6, to - 0.6, 1.2, d(35.0)));
    plan.add(|e| &mut e.arms_out, held(from, to, 1.0, d(16.0)));
    if fidgets {
        plan.add(|e| &mut e.twist, rocking(2.4, 6.6, 2.6, 0.0, d(32.0)));
        plan.add(|e| &mut e.side_bend, rocking(2.4, 6.6, 2.0, 0.3, d(16.0)));
        plan.add(|e| &mut e.bend, rocking(2.4, 6.6, 3.0, 0.2, d(22.0)));
        plan.add(|e| &mut e.pelvis_list, rocking(2.4, 6.6, 2.0, 0.3, d(6.0)));
    }
    plan
}
