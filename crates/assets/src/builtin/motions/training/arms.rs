//! Arms that hang, swing, bend, rise and cross as they like while the rest of the body does what a clip is for. Captured
//! people rarely hold them the way an exercise asks for.

use crate::builtin::motions::choreography::{d, wander};
use crate::builtin::motions::figure::{Extra, Plan};

/// Lets both arms wander, each on its own, by a share of their range: mostly about hanging, now and then far out.
pub(super) fn freely(mut plan: Plan, seed: u32, share: f64) -> Plan {
    for k in 0..2 {
        let way = |i: u32, hz: f64| wander(seed + 1000 * (k as u32 + 1) + 37 * i, hz);
        let (forward, out, elbow, turn, roll) =
            (way(0, 0.4), way(1, 0.3), way(2, 0.35), way(3, 0.3), way(4, 0.3));
        // An arm that leaves its hanging for a while: raised, or brought before the body with the elbow bent.
        let (raised, crossed) = (way(5, 0.12), way(6, 0.12));
        let now_and_then = |x: f64| ((x - 0.45) / 0.55).clamp(0.0, 1.0).powi(2);
        let mut add = |track: fn(&mut Extra) -> &mut [Vec<f64>; 2], of: &dyn Fn(f64) -> f64| {
            plan.add(|e| &mut track(e)[k], |t| share * of(t));
        };
        add(|e| &mut e.arm_forward, &|t| {
            d(22.0) * forward(t)
                + d(8.0)
                + d(40.0) * now_and_then(raised(t))
                + d(30.0) * now_and_then(crossed(t))
        });
        // Only away from the body: what hangs between arm and trunk is not to be pinched.
        add(|e| &mut e.arm_out, &|t| d(9.0) * (1.0 + out(t)) + d(70.0) * now_and_then(raised(t)));
        add(|e| &mut e.elbow, &|t| d(18.0) * (1.0 + elbow(t)) + d(65.0) * now_and_then(crossed(t)));
        add(|e| &mut e.arm_turn, &|t| d(36.0) * turn(t) - d(42.0));
        add(|e| &mut e.forearm_turn, &|t| d(20.0) * roll(t));
    }
    plan
}
