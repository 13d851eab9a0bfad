//! Legs off the ground: kicks, high knees, balances, spins on one foot.

use super::Clip;
use super::gaits::route;
use crate::builtin::motions::choreography::{LegAngles, d, held, passing_speed};
use crate::builtin::motions::feet::Stance;
use crate::builtin::motions::figure::{Extra, Figure, Plan};
use crate::builtin::motions::gait::wave;
use crate::builtin::motions::path::{Route, Travel};
use crate::builtin::motions::stop::standing_foot;
use glam::DVec3;

pub(super) const CLIPS: &[Clip] = &[
    ("kick-front-left", |f| kicks(f, 0, &FRONT)),
    ("kick-front-right", |f| kicks(f, 1, &FRONT)),
    ("kick-side-left", |f| kicks(f, 0, &SIDE)),
    ("kick-side-right", |f| kicks(f, 1, &SIDE)),
    ("kick-back-right", |f| kicks(f, 1, &BACK)),
    ("leg-swings-left", |f| leg_swings(f, 0)),
    ("balance-arabesque", |f| {
        let mut plan = Plan::standing(f, 8.0);
        for (k, from) in [(0, 0.6), (1, 4.3)] {
            let to = from + 3.0;
            plan.hold_leg(
                f,
                k,
                [from, to],
                1.1,
                LegAngles { flex: d(-38.0), out: d(6.0), turn: d(15.0), knee: d(10.0), point: d(40.0) },
            );
            plan.add(|e| &mut e.pelvis_tilt, held(from, to, 1.2, d(40.0)));
            plan.add(|e| &mut e.bend, held(from, to, 1.2, d(38.0)));
            plan.add(|e| &mut e.forward, held(from, to, 1.2, 0.03));
            plan.add(|e| &mut e.arms_out, held(from - 0.3, to + 0.3, 1.0, d(70.0)));
        }
        plan
    }),
    ("high-knees", |f| {
        march(f, 7.0, 2.6, LegAngles { flex: d(85.0), out: d(4.0), turn: 0.0, knee: d(95.0), point: d(20.0) })
    }),
    ("march-knees-out", |f| {
        march(
            f,
            7.0,
            2.2,
            LegAngles { flex: d(60.0), out: d(35.0), turn: d(30.0), knee: d(95.0), point: d(30.0) },
        )
    }),
    ("march-legs-back", |f| {
        march(
            f,
            7.0,
            2.0,
            LegAngles { flex: d(-30.0), out: d(6.0), turn: d(8.0), knee: d(25.0), point: d(35.0) },
        )
    }),
    ("pirouette-right", |f| pirouette(f, 0, -360.0, 1.5)),
    ("roundhouse-left", |f| roundhouse(f, 0)),
    ("roundhouse-right", |f| roundhouse(f, 1)),
];

/// A kick: where the thigh goes, the knee drawn up and stretched, and what pelvis and trunk give.
pub(in crate::builtin::motions) struct Kick {
    hold: LegAngles,
    /// The knee before and after the foot flies, radians.
    drawn: f64,
    tilt: f64,
    list: f64,
    bend: f64,
    side: f64,
}

const fn deg(x: f64) -> f64 {
    x * std::f64::consts::PI / 180.0
}

pub(in crate::builtin::motions) const FRONT: Kick = Kick {
    hold: LegAngles { flex: deg(82.0), out: deg(4.0), turn: 0.0, knee: deg(12.0), point: deg(25.0) },
    drawn: deg(85.0),
    tilt: deg(-16.0),
    list: deg(3.0),
    bend: deg(-6.0),
    side: 0.0,
};
pub(in crate::builtin::motions) const SIDE: Kick = Kick {
    hold: LegAngles { flex: deg(12.0), out: deg(62.0), turn: deg(-12.0), knee: deg(10.0), point: deg(5.0) },
    drawn: deg(90.0),
    tilt: deg(4.0),
    list: deg(18.0),
    bend: deg(4.0),
    side: deg(24.0),
};
const BACK: Kick = Kick {
    hold: LegAngles { flex: deg(-34.0), out: deg(8.0), turn: deg(8.0), knee: deg(14.0), point: deg(20.0) },
    drawn: deg(70.0),
    tilt: deg(30.0),
    list: 0.0,
    bend: deg(38.0),
    side: 0.0,
};

/// Three kicks with one leg: low and slow, middle, high and fast.
fn kicks(figure: &Figure, k: usize, kick: &Kick) -> Plan {
    let mut plan = Plan::standing(figure, 7.5);
    for (from, lasts, share) in [(0.6, 1.7, 0.55), (2.9, 1.4, 0.8), (5.0, 1.2, 1.0)] {
        one_kick(&mut plan, figure, k, kick, from, lasts, share);
    }
    plan
}

/// A kick of so many seconds, by a share of its angles.
pub(in crate::builtin::motions) fn one_kick(
    plan: &mut Plan,
    figure: &Figure,
    k: usize,
    kick: &Kick,
    from: f64,
    lasts: f64,
    share: f64,
) {
    let (to, side) = (from + lasts, figure.legs[k].side);
    let hold = LegAngles { flex: share * kick.hold.flex, out: share * kick.hold.out, ..kick.hold };
    plan.hold_leg(figure, k, [from, to], 0.45 * lasts, hold);
    // The knee is drawn in before the foot flies and after it.
    plan.add(
        |e| &mut e.legs[k].knee,
        held(from - 0.25 * lasts, from + 0.52 * lasts, 0.3 * lasts, kick.drawn - hold.knee),
    );
    plan.add(
        |e| &mut e.legs[k].knee,
        held(from + 0.52 * lasts, to + 0.25 * lasts, 0.3 * lasts, 0.7 * kick.drawn),
    );
    let mut add = |track: fn(&mut Extra) -> &mut Vec<f64>, most: f64| {
        plan.add(track, held(from - 0.1, to + 0.1, 0.45 * lasts, share * most));
    };
    add(|e| &mut e.pelvis_tilt, kick.tilt);
    add(|e| &mut e.pelvis_list, side * kick.list);
    add(|e| &mut e.bend, kick.bend);
    add(|e| &mut e.side_bend, -side * kick.side);
    add(|e| &mut e.arms_out, d(35.0));
}

/// A straight leg swung to and fro, then from side to side.
fn leg_swings(figure: &Figure, k: usize) -> Plan {
    let mut plan = Plan::standing(figure, 8.0);
    let hold = LegAngles { knee: d(12.0), point: d(20.0), flex: d(12.0), out: d(4.0), turn: 0.0 };
    plan.hold_leg(figure, k, [0.5, 7.5], 0.8, hold);
    let rock = crate::builtin::motions::choreography::rocking;
    plan.add(|e| &mut e.legs[k].flex, rock(0.7, 4.4, 1.4, 0.0, d(42.0)));
    plan.add(|e| &mut e.legs[k].out, rock(4.2, 7.4, 1.4, 0.0, d(28.0)));
    plan.add(|e| &mut e.legs[k].out, held(4.0, 7.4, 0.8, d(12.0)));
    plan.add(|e| &mut e.pelvis_tilt, rock(0.7, 4.4, 1.4, 0.5, d(9.0)));
    plan.add(|e| &mut e.pelvis_list, rock(4.2, 7.4, 1.4, 0.0, figure.legs[k].side * d(8.0)));
    plan.add(|e| &mut e.arms_out, held(0.3, 7.7, 0.8, d(45.0)));
    plan
}

/// Steps on the spot with every swinging leg held.
fn march(figure: &Figure, duration: f64, tempo: f64, hold: LegAngles) -> Plan {
    let mut plan = route(figure, duration, &|_| [0.0; 2], &|_| 0.0, &|_| 0.0, &|_| tempo);
    plan.hold_swings(hold, 1.0);
    let phase = plan.travel.phase.clone();
    for (k, side) in [1.0, -1.0].into_iter().enumerate() {
        for (x, p) in plan.extra.arm_forward[k].iter_mut().zip(&phase) {
            *x += -side * d(28.0) * wave(*p - 0.8);
        }
    }
    for (x, p) in plan.extra.aside.iter_mut().zip(&phase) {
        *x += 0.035 * wave(*p - 0.3);
    }
    plan.add(|e| &mut e.arms_out, |_| d(10.0));
    plan
}

/// Turns on the ball of the foot that is not `k`, the other foot at its knee.
pub(in crate::builtin::motions) fn pirouette(figure: &Figure, k: usize, degrees: f64, lasts: f64) -> Plan {
    let from = 1.0;
    let mut plan =
        spin_on_one_foot(figure, k, from + lasts + 2.4, &passing_speed(from, from + lasts, d(degrees)));
    let (up, down) = (from - 0.5, from + lasts + 0.6);
    let hold = LegAngles { flex: d(55.0), out: d(30.0), turn: d(30.0), knee: d(110.0), point: d(45.0) };
    plan.hold_leg(figure, k, [up, down], 0.55, hold);
    plan.add(|e| &mut e.heels[1 - k], held(up + 0.1, down - 0.1, 0.4, d(-32.0)));
    plan.add(|e| &mut e.rise, held(up + 0.1, down - 0.1, 0.4, 0.03));
    plan.add(|e| &mut e.arms_out, held(up - 0.4, down + 0.4, 0.8, d(55.0)));
    plan.add(|e| &mut e.arms_forward, held(up, down, 0.6, d(40.0)));
    plan.add(|e| &mut e.elbows, held(up, down, 0.6, d(50.0)));
    plan
}

/// A kick that comes round from the side while the standing foot turns.
fn roundhouse(figure: &Figure, k: usize) -> Plan {
    let side = figure.legs[k].side;
    let (there, back) = (passing_speed(1.0, 1.7, side * d(-75.0)), passing_speed(1.9, 2.9, side * d(75.0)));
    let (again, home) = (passing_speed(4.2, 4.8, side * d(-95.0)), passing_speed(5.0, 6.0, side * d(95.0)));
    let mut plan = spin_on_one_foot(figure, k, 7.0, &|t| there(t) + back(t) + again(t) + home(t));
    let kick = Kick {
        hold: LegAngles { flex: d(52.0), out: d(55.0), turn: d(-25.0), knee: d(14.0), point: d(35.0) },
        drawn: d(100.0),
        tilt: d(-4.0),
        list: d(16.0),
        bend: d(0.0),
        side: d(20.0),
    };
    one_kick(&mut plan, figure, k, &kick, 0.8, 1.9, 0.8);
    one_kick(&mut plan, figure, k, &kick, 4.0, 1.7, 1.0);
    // Off the heel while the foot turns.
    plan.add(|e| &mut e.heels[1 - k], held(0.6, 3.1, 0.35, d(-14.0)));
    plan.add(|e| &mut e.heels[1 - k], held(3.8, 6.2, 0.35, d(-14.0)));
    plan
}

/// Stands, turning on the ball of the foot that is not `k`.
fn spin_on_one_foot(figure: &Figure, k: usize, duration: f64, turning: &dyn Fn(f64) -> f64) -> Plan {
    let travel = Travel::along(&Route { duration, turning, ..Route::STILL });
    let stances = [0, 1].map(|foot| {
        let standing = standing_foot(figure, foot, DVec3::ZERO, 0.0);
        if foot == k {
            return vec![standing];
        }
        let leg = &figure.legs[foot];
        let ball = DVec3::new(leg.ball.x, 0.0, leg.ball.z);
        let at = standing.at + glam::DQuat::from_rotation_y(standing.heading) * ball;
        vec![Stance { at, pivots: true, ..standing }]
    });
    Plan { extra: Extra::none(&travel), travel, stances }
}
