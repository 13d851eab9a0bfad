//! Exercises on planted feet, after the set that Hahn et al. (2014, Subspace Clothing Simulation Using Adaptive
//! Bases) trained and tested on.

use super::figure::{Extra, Figure, Plan};
use super::path::ramp;
use super::stop::stand;

/// The exercises and what they are.
pub(super) const EXERCISES: [(&str, &str); 10] = [
    ("twist", "stands and twists the upper body left and right"),
    ("arms-up", "stands, raises the arms sideways over the head and lowers them"),
    ("arms-down", "stands with level arms, lowers them to the sides and raises them again"),
    ("arms-bend", "stands, holds the arms out forward and bends the elbows"),
    ("lean-forward", "stands, bends forward at the hips and comes up"),
    ("lean-back", "stands, leans back and comes up"),
    ("plane", "stands, spreads the arms and leans from the hips like a plane"),
    ("legs-bend", "stands and bends the knees deeply twice, arms held forward"),
    ("yo", "stands, twists the upper body and bends the elbows at once"),
    ("gym", "stands, raises the arms, bends forward, and twists"),
];

/// An exercise by name.
pub(super) fn exercise(figure: &Figure, name: &str) -> Option<Plan> {
    const SECONDS: f64 = 6.0;
    let mut plan = stand(figure, SECONDS);
    let travel = &plan.travel;
    let mut extra = Extra::none(travel);
    let d = f64::to_radians;
    // Up from 0 over `rise` seconds at `from`, held, and down again before `to`.
    let hold = |from: f64, to: f64, rise: f64, most: f64| -> Vec<f64> {
        (0..travel.len())
            .map(|i| {
                let t = travel.time(i);
                most * ramp((t - from) / rise) * ramp((to - t) / rise)
            })
            .collect()
    };
    let add = |a: Vec<f64>, b: Vec<f64>| -> Vec<f64> { a.iter().zip(&b).map(|(a, b)| a + b).collect() };
    // Left, right, and back.
    let sway = |most: f64| {
        add(hold(0.5, 2.5, 1.0, most), hold(1.5, 4.3, 1.2, -most))
            .into_iter()
            .zip(hold(2.6, 5.4, 1.2, 0.6 * most))
            .map(|(a, b)| a + b)
            .collect::<Vec<f64>>()
    };
    match name {
        "twist" => {
            extra.twist = sway(d(48.0));
            extra.pelvis_twist = sway(d(14.0));
            extra.arms_out = hold(0.3, 5.6, 1.0, d(22.0));
        }
        "arms-up" => extra.arms_out = hold(0.5, 5.2, 1.8, d(150.0)),
        "arms-down" => extra.arms_out = add(hold(-1.0, 7.0, 0.5, d(82.0)), hold(0.5, 5.2, 1.5, d(-80.0))),
        "yo" => {
            extra.twist = sway(d(40.0));
            extra.pelvis_twist = sway(d(10.0));
            extra.arms_forward = hold(0.3, 5.6, 1.0, d(40.0));
            extra.elbows = add(hold(0.8, 2.6, 0.8, d(55.0)), hold(2.6, 4.6, 0.8, d(55.0)));
        }
        "arms-bend" => {
            extra.arms_forward = hold(0.4, 5.6, 1.2, d(85.0));
            extra.elbows = add(hold(1.6, 3.0, 0.65, d(95.0)), hold(3.0, 4.4, 0.65, d(95.0)));
        }
        "lean-forward" => {
            extra.bend = hold(0.5, 5.0, 1.4, d(75.0));
            extra.pelvis_tilt = hold(0.5, 5.0, 1.4, d(38.0));
            extra.forward = hold(0.5, 5.0, 1.4, -0.10);
            extra.arms_forward = hold(0.5, 5.0, 1.4, d(60.0));
        }
        "lean-back" => {
            extra.bend = hold(0.5, 5.0, 1.4, d(-24.0));
            extra.pelvis_tilt = hold(0.5, 5.0, 1.4, d(-10.0));
            extra.forward = hold(0.5, 5.0, 1.4, 0.05);
            extra.rise = hold(0.5, 5.0, 1.4, -0.02);
            extra.arms_forward = hold(0.5, 5.0, 1.4, d(-8.0));
        }
        "plane" => {
            extra.arms_out = hold(0.4, 5.6, 1.2, d(76.0));
            extra.bend = hold(1.2, 5.2, 1.2, d(50.0));
            extra.pelvis_tilt = hold(1.2, 5.2, 1.2, d(28.0));
            extra.forward = hold(1.2, 5.2, 1.2, -0.08);
            extra.twist = add(hold(1.9, 3.5, 0.8, d(35.0)), hold(3.1, 4.7, 0.8, d(-35.0)));
        }
        "legs-bend" => {
            let twice = |most: f64| add(hold(0.6, 2.8, 1.0, most), hold(3.0, 5.2, 1.0, most));
            extra.rise = twice(-0.26);
            extra.forward = twice(-0.06);
            extra.pelvis_tilt = twice(d(18.0));
            extra.bend = twice(d(24.0));
            extra.arms_forward = twice(d(80.0));
        }
        "gym" => {
            extra.arms_out = hold(0.3, 2.6, 1.1, d(140.0));
            extra.bend = hold(2.0, 4.4, 1.1, d(55.0));
            extra.pelvis_tilt = hold(2.0, 4.4, 1.1, d(26.0));
            extra.forward = hold(2.0, 4.4, 1.1, -0.08);
            extra.twist = hold(3.8, 5.8, 0.9, d(40.0));
        }
        _ => return None,
    }
    plan.extra = extra;
    Some(plan)
}
