//! Fifteen clips beyond what people do all day, to judge learned garments by: angles and speeds well over those of training,
//! deep bows and squats, high kicks, spins of two turns.

use super::choreography::{d, held};
use super::figure::{Figure, Plan};
use super::path::smoothed;
use super::training::{FRONT, Jump, SIDE, jumps, one_kick, pirouette};
use super::{named, path::RATE};
use crate::{Motion, Result};
use glam::{DVec3, Quat};

/// The clips and what they are.
pub(super) const NAMES: [&str; 15] = [
    "walk-large",
    "run-large",
    "turn-large",
    "dance-large",
    "walk-double",
    "run-quick",
    "turn-double",
    "run-stop-quick",
    "gym-large-quick",
    "bow",
    "squat",
    "kick-front",
    "kick-side",
    "spin",
    "jump-turn",
];

/// A clip by name.
pub(super) fn motion(figure: &Figure, clip: &str) -> Option<Result<Motion>> {
    let name = format!("extremes/{clip}");
    let built_in = |of: &str| named(figure, of).and_then(|plan| figure.motion(&name, &plan));
    let planned = |plan: Plan| figure.motion(&name, &plan);
    let quick = |motion: Result<Motion>, factor: f64| motion.and_then(|m| m.with_speed(factor));
    let large = |motion: Result<Motion>, factor: f32| motion.map(|m| exaggerated(figure, m, factor));
    Some(match clip {
        "walk-large" => large(built_in("walk:1.3"), 1.6),
        "run-large" => large(built_in("run:2.8"), 1.4),
        "turn-large" => large(built_in("turn:180"), 1.6),
        "dance-large" => large(dancing(figure).and_then(|plan| figure.motion(&name, &plan)), 1.5),
        "walk-double" => quick(built_in("walk:1.7"), 2.0),
        "run-quick" => quick(built_in("run:4.0"), 1.6),
        "turn-double" => quick(built_in("turn:360"), 2.0),
        "run-stop-quick" => quick(built_in("run-stop:3.4"), 1.6),
        "gym-large-quick" => quick(large(built_in("gym"), 1.4), 1.7),
        "bow" => planned(bow(figure)),
        "squat" => planned(squat(figure)),
        "kick-front" => planned(kick(figure, |plan| one_kick(plan, figure, 0, &FRONT, 0.7, 0.9, 1.35))),
        "kick-side" => planned(kick(figure, |plan| one_kick(plan, figure, 1, &SIDE, 0.7, 0.9, 1.3))),
        "spin" => planned(pirouette(figure, 1, 720.0, 1.7)),
        "jump-turn" => {
            planned(jumps(figure, &[Jump::to(0.38, 0.3, 0.0, 180.0), Jump::to(0.42, 0.0, 0.4, -270.0)]))
        }
        _ => return None,
    })
}

fn dancing(figure: &Figure) -> Result<Plan> {
    named(figure, "training/free-dancing-wide")
}

/// Down until the trunk hangs, in less than a second, and up again.
fn bow(figure: &Figure) -> Plan {
    let mut plan = Plan::standing(figure, 5.0);
    for (from, to) in [(0.5, 2.4), (2.5, 4.6)] {
        plan.add(|e| &mut e.bend, held(from, to, 0.8, d(125.0)));
        plan.add(|e| &mut e.pelvis_tilt, held(from, to, 0.8, d(72.0)));
        plan.add(|e| &mut e.forward, held(from, to, 0.8, -0.17));
        plan.add(|e| &mut e.arms_forward, held(from, to, 0.8, d(110.0)));
        plan.add(|e| &mut e.arms_out, held(from, to, 0.8, d(10.0)));
    }
    plan
}

/// All the way down and up, twice, in two seconds each.
fn squat(figure: &Figure) -> Plan {
    let mut plan = Plan::standing(figure, 5.0);
    for (from, to) in [(0.4, 2.4), (2.5, 4.5)] {
        plan.add(|e| &mut e.rise, held(from, to, 0.85, -0.56));
        plan.add(|e| &mut e.forward, held(from, to, 0.85, -0.20));
        plan.add(|e| &mut e.bend, held(from, to, 0.85, d(58.0)));
        plan.add(|e| &mut e.pelvis_tilt, held(from, to, 0.85, d(36.0)));
        plan.add(|e| &mut e.arms_forward, held(from, to, 0.85, d(95.0)));
    }
    plan
}

fn kick(figure: &Figure, with: impl FnOnce(&mut Plan)) -> Plan {
    let mut plan = Plan::standing(figure, 4.0);
    with(&mut plan);
    plan
}

/// Every joint but the root turned `factor` times as far from its rest, the way over the ground as much longer, and the
/// root as high as the lower foot then asks for.
fn exaggerated(figure: &Figure, mut motion: Motion, factor: f32) -> Motion {
    // Elbows and knees end somewhere.
    const FARTHEST: f32 = 2.35;
    for pose in &mut motion.poses {
        for local in &mut pose.locals[1..] {
            let q = if local.rotation.w < 0.0 { -local.rotation } else { local.rotation };
            let turn =
                (q.to_scaled_axis() * factor).clamp_length_max(FARTHEST.max(q.to_scaled_axis().length()));
            local.rotation = Quat::from_scaled_axis(turn).normalize();
        }
        pose.locals[0].translation.x *= factor;
        pose.locals[0].translation.z *= factor;
    }
    let low: Vec<f64> = motion
        .poses
        .iter()
        .map(|pose| {
            let world = motion.skeleton.world_from_joints(pose);
            let height = |joint: usize, p: DVec3| f64::from(world[joint].transform_point3(p.as_vec3()).y);
            let soles = figure.legs.iter().flat_map(|leg| {
                let [_, _, ankle, ball] = leg.joints;
                let under = DVec3::NEG_Y * leg.ball.y;
                let tip = under + DVec3::Z * (0.55 * leg.ball.z);
                [height(ankle, leg.heel - leg.ankle), height(ball, under), height(ball, tip)]
            });
            soles.fold(f64::MAX, f64::min)
        })
        .collect();
    debug_assert_eq!(motion.fps, RATE);
    let soft = smoothed(&low, 0.03);
    for ((pose, low), soft) in motion.poses.iter_mut().zip(&low).zip(&soft) {
        // Not under the ground for the sake of smoothness.
        pose.locals[0].translation.y -= low.min(*soft) as f32;
    }
    motion
}
