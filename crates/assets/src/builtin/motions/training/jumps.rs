//! Both feet off the ground: hops, jumps, leaps.

use super::Clip;
use super::gaits::route;
use crate::builtin::motions::choreography::{LegAngles, d, held, passing_speed};
use crate::builtin::motions::feet::Stance;
use crate::builtin::motions::figure::{Extra, Figure, Plan};
use crate::builtin::motions::gait::Swing;
use crate::builtin::motions::path::{Route, Travel, smoothed, through};
use crate::builtin::motions::stop::standing_foot;

pub(super) const CLIPS: &[Clip] = &[
    ("hops", |f| {
        jumps(
            f,
            &[Jump::up(0.05), Jump::up(0.07), Jump::up(0.09), Jump::up(0.11), Jump::up(0.08), Jump::up(0.06)],
        )
    }),
    ("jumps-high", |f| jumps(f, &[Jump::up(0.15), Jump::up(0.22), Jump::up(0.30)])),
    ("jumps-forward", |f| {
        jumps(
            f,
            &[Jump::to(0.10, 0.4, 0.0, 0.0), Jump::to(0.15, 0.7, 0.0, 0.0), Jump::to(0.18, 1.1, 0.0, 0.0)],
        )
    }),
    ("jumps-around", |f| {
        jumps(
            f,
            &[
                Jump::to(0.10, 0.0, 0.5, 0.0),
                Jump::to(0.10, 0.0, -0.5, 0.0),
                Jump::to(0.12, -0.4, 0.0, 0.0),
                Jump::to(0.12, 0.4, 0.2, 0.0),
            ],
        )
    }),
    ("jumps-turning-left", |f| {
        jumps(
            f,
            &[
                Jump::to(0.12, 0.0, 0.0, 90.0),
                Jump::to(0.18, 0.0, 0.0, 90.0),
                Jump::to(0.22, 0.1, 0.0, 180.0),
            ],
        )
    }),
    ("jumps-turning-right", |f| {
        jumps(
            f,
            &[
                Jump::to(0.12, 0.0, 0.0, -90.0),
                Jump::to(0.18, 0.0, 0.0, -90.0),
                Jump::to(0.22, 0.1, 0.0, -180.0),
            ],
        )
    }),
    ("run-leaping", |f| leaping(f, 3.0, 55.0, 42.0)),
    ("run-leaping-wide", |f| leaping(f, 3.6, 78.0, 30.0)),
    ("skipping", |f| {
        let mut plan = route(f, 6.0, &|_| [1.7, 0.0], &|_| 0.0, &|_| 0.8, &|_| 1.0);
        plan.hold_swings(
            LegAngles { flex: d(65.0), out: d(4.0), turn: 0.0, knee: d(80.0), point: d(20.0) },
            0.7,
        );
        plan
    }),
];

/// One jump: metres up, ahead and to the left, degrees turned to the left.
#[derive(Clone, Copy)]
pub(in crate::builtin::motions) struct Jump {
    height: f64,
    way: [f64; 2],
    turn: f64,
}

impl Jump {
    pub(in crate::builtin::motions) const fn up(height: f64) -> Self {
        Self::to(height, 0.0, 0.0, 0.0)
    }

    pub(in crate::builtin::motions) const fn to(height: f64, ahead: f64, aside: f64, turn: f64) -> Self {
        Self { height, way: [ahead, aside], turn }
    }
}

/// Root over standing at toe-off, when ankles and knees are stretched, and at landing, when they give.
const OFF_RISE: f64 = 0.05;
const LAND_RISE: f64 = -0.02;
const GRAVITY: f64 = 9.81;

/// When each jump leaves the ground and lands, s, and how fast it lands, m/s; then the deepest point of the last landing.
fn timed(list: &[Jump]) -> (Vec<[f64; 3]>, f64) {
    let mut begins = 0.9;
    let times = list
        .iter()
        .map(|jump| {
            let speed = (2.0 * GRAVITY * jump.height).sqrt();
            let landing = (speed * speed + 2.0 * GRAVITY * (OFF_RISE - LAND_RISE)).sqrt();
            let off = begins + 0.27;
            let land = off + (speed + landing) / GRAVITY;
            // The landing is taken up slowly enough for the next push.
            begins = land + 0.34;
            [off, land, landing]
        })
        .collect();
    (times, begins)
}

/// The way over the ground.
fn travelled(list: &[Jump], times: &[[f64; 3]], duration: f64) -> Travel {
    let velocity = |t: f64| {
        let mut sum = [0.0; 2];
        for (jump, [off, land, _]) in list.iter().zip(times) {
            let x = passing_speed(off - 0.18, land + 0.18, 1.0)(t);
            sum = [sum[0] + x * jump.way[0], sum[1] + x * jump.way[1]];
        }
        sum
    };
    let turning = |t: f64| {
        let turn = |(jump, [off, land, _]): (&Jump, &[f64; 3])| {
            passing_speed(off - 0.12, land + 0.12, d(jump.turn))(t)
        };
        list.iter().zip(times).map(turn).sum()
    };
    let travel = Travel::along(&Route { duration, velocity: &velocity, turning: &turning, ..Route::STILL });
    // Jumping sideways is no gait.
    Travel {
        speed: vec![0.0; travel.len()],
        aside: vec![0.0; travel.len()],
        ahead: vec![1.0; travel.len()],
        ..travel
    }
}

/// Jumps one after the other, each landing the crouch for the next.
pub(in crate::builtin::motions) fn jumps(figure: &Figure, list: &[Jump]) -> Plan {
    let (times, begins) = timed(list);
    let up = begins + 0.6;
    let travel = travelled(list, &times, up + 0.9);
    let (mut rise, mut crouch, mut arms) =
        (vec![(0.3, 0.0, 0.0)], vec![(0.3, 0.0, 0.0)], vec![(0.3, 0.0, 0.0)]);
    let mut stances = [0, 1].map(|k| {
        vec![standing_foot(figure, k, travel.sample(&travel.place, 0.0), travel.sample(&travel.heading, 0.0))]
    });
    for (i, (jump, &[off, land, landing])) in list.iter().zip(&times).enumerate() {
        let deep = -0.12 - 0.35 * jump.height;
        let bent = 0.55 + 1.5 * jump.height;
        let bottom = if i == 0 { 0.9 } else { times[i - 1][1] + 0.30 };
        let speed = (2.0 * GRAVITY * jump.height).sqrt();
        rise.extend([(bottom, deep, 0.0), (off, OFF_RISE, speed), (land, LAND_RISE, -landing)]);
        crouch.extend([(bottom, bent, 0.0), (off + 0.04, -0.05, 0.0), (land - 0.04, 0.3 * bent, 0.0)]);
        arms.extend([(bottom - 0.03, -0.4, 0.0), (off + 0.06, 0.6 + 3.0 * jump.height, 0.0)]);
        for (k, stances) in stances.iter_mut().enumerate() {
            let after = land + 0.2;
            let lands = standing_foot(
                figure,
                k,
                travel.sample(&travel.place, after),
                travel.sample(&travel.heading, after),
            );
            if let Some(last) = stances.last_mut() {
                *last = Stance { off, rise: off - 0.2, late: 2.5, off_pitch: d(-46.0), ..*last };
            }
            let lift = 0.95 * jump.height / figure.legs[k].length();
            stances.push(Stance {
                strike: land,
                flat: land + 0.12,
                strike_pitch: d(-32.0),
                swing: Swing { up: [lift, 0.0, 0.0, 0.0], ..Swing::default() },
                ..lands
            });
        }
    }
    let last = list.last().map_or(0.1, |jump| jump.height);
    rise.extend([(begins, -0.12 - 0.35 * last, 0.0), (up, 0.0, 0.0)]);
    crouch.extend([(begins, 0.55 + last, 0.0), (up, 0.0, 0.0)]);
    arms.extend([(begins, 0.1, 0.0), (up, 0.0, 0.0)]);

    let mut extra = Extra::none(&travel);
    let soft = |knots: &[(f64, f64, f64)], sigma: f64| smoothed(&through(&travel, knots), sigma);
    let scaled = |track: &[f64], by: f64| track.iter().map(|x| x * by).collect::<Vec<f64>>();
    extra.rise = soft(&rise, 0.012);
    let crouch = soft(&crouch, 0.03);
    extra.bend = scaled(&crouch, d(36.0));
    extra.pelvis_tilt = scaled(&crouch, d(22.0));
    extra.forward = scaled(&crouch, -0.065);
    extra.arms_forward = scaled(&soft(&arms, 0.05), d(75.0));
    extra.arms_out = scaled(&crouch, d(8.0));
    Plan { travel, stances, extra }
}

/// Runs, and leaps with the legs apart, one `ahead` and one `behind` by so many degrees.
fn leaping(figure: &Figure, speed: f64, ahead: f64, behind: f64) -> Plan {
    // A leap is a flight in which the steps wait: how much, and how much longer the flight is for it.
    const WAIT: f64 = 0.85;
    let longer = 1.0 / (1.0 - 0.7 * WAIT);
    let mut flights: Vec<Flight> = Vec::new();
    let run = |flights: &[Flight]| {
        let waiting = |t: f64| -> f64 {
            flights.iter().map(|f| held(f.off, f.off + f.span, 0.3 * f.span, WAIT)(t)).sum()
        };
        route(figure, 6.0, &|_| [speed, 0.0], &|_| 0.0, &|_| 1.0, &|t| 1.0 - waiting(t))
    };
    for at in [0.8, 2.6, 4.4] {
        let plan = run(&flights);
        if let Some(flight) = flight_after(&plan, at) {
            flights.push(Flight { span: longer * flight.span, ..flight });
        }
    }
    let mut plan = run(&flights);
    for &Flight { off, span, behind: k } in &flights {
        // As high as free fall over the flight makes it.
        let height = 0.125 * GRAVITY * span * span;
        plan.add(
            |e| &mut e.rise,
            |t| {
                let u = ((t - off) / span).clamp(0.0, 1.0);
                height * 16.0 * (u * (1.0 - u)).powi(2)
            },
        );
        for (k, flex) in [(k, -behind), (1 - k, ahead)] {
            plan.add(|e| &mut e.legs[k].share, held(off + 0.02, off + span - 0.02, 0.48 * span, 0.9));
            let window = |t: f64| if (off..=off + span).contains(&t) { 1.0 } else { 0.0 };
            plan.add(|e| &mut e.legs[k].flex, |t| d(flex) * window(t));
            plan.add(|e| &mut e.legs[k].knee, |t| d(22.0) * window(t));
            plan.add(|e| &mut e.legs[k].point, |t| d(30.0) * window(t));
        }
        plan.add(|e| &mut e.arms_out, held(off - 0.3, off + span + 0.3, 0.35, d(35.0)));
    }
    plan
}

/// Between one foot's leaving and the other's strike.
#[derive(Clone, Copy)]
struct Flight {
    off: f64,
    span: f64,
    /// The foot that left.
    behind: usize,
}

/// The first flight of a run that begins after a time.
fn flight_after(plan: &Plan, at: f64) -> Option<Flight> {
    let of = |k: usize| {
        let off = plan.stances[k].iter().map(|s| s.off).find(|off| *off > at)?;
        let strike = plan.stances[1 - k].iter().map(|s| s.strike).find(|strike| *strike > off)?;
        Some(Flight { off, span: strike - off, behind: k })
    };
    [of(0), of(1)].into_iter().flatten().min_by(|a, b| a.off.total_cmp(&b.off))
}
