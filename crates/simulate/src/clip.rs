//! Whether a clip can be simulated: the right skeleton, finite, and no jumps in it.

use crate::record::RecordSettings;
use crate::{Error, Result};
use glam::{Affine3A, Quat, Vec3};
use toile_assets::{Body, Motion};

/// A place where a clip is not one motion: cloth that follows it would be torn through the air.
#[derive(Clone, Debug, PartialEq)]
pub struct Jump {
    /// The first frame after the jump.
    pub frame: usize,
    /// The joint that moved farthest.
    pub joint: String,
    /// How far it moved from the frame before, m.
    pub distance_m: f32,
    /// How far the root turned from the frame before, degrees.
    pub turn_deg: f32,
}

/// No dancer's hips turn faster, degrees per 1/30 s: five revolutions a second.
const TURN_DEG: f32 = 60.0;
/// Nor does anyone's root change its step by more, m/s²: landings from a jump stay under 100.
const ROOT_ACCELERATION: f32 = 200.0;
/// Captured roots shake by centimetres; smaller steps are never called jumps, m.
const ROOT_STEP_M: f32 = 0.2;

/// Every jump of a clip. `motion` must move the joints of `body`.
pub fn find_jumps(body: &Body, motion: &Motion, settings: &RecordSettings) -> Vec<Jump> {
    let fps = motion.fps as f32;
    // Below 30 Hz more time passes between frames; far above it one frame must still not be a stride.
    let slower = (30.0 / fps).max(0.25);
    let most_change = (ROOT_ACCELERATION / (fps * fps)).max(ROOT_STEP_M);
    let worlds: Vec<Vec<Affine3A>> =
        motion.poses.iter().map(|pose| body.skeleton.world_from_joints(pose)).collect();
    let root = |f: usize| Vec3::from(worlds[f][0].translation);
    let turned = |f: usize| {
        let at = |f: usize| Quat::from_mat3a(&worlds[f][0].matrix3);
        at(f - 1).angle_between(at(f)).to_degrees()
    };
    let mut jumps = Vec::new();
    for f in 1..worlds.len() {
        let moved = |j: &usize| worlds[f - 1][*j].translation.distance(worlds[f][*j].translation);
        let farthest = (0..worlds[f].len()).max_by(|a, b| moved(a).total_cmp(&moved(b))).unwrap_or_default();
        let step = root(f) - root(f - 1);
        // Against the calmer of its neighbours: a run that starts is no jump, a place that changes is.
        let before = (f >= 2).then(|| root(f - 1) - root(f - 2));
        let after = (f + 1 < worlds.len()).then(|| root(f + 1) - root(f));
        let change =
            [before, after].into_iter().flatten().map(|s| s.distance(step)).fold(f32::INFINITY, f32::min);
        let root_jumps = change.is_finite() && change > most_change && step.length() > ROOT_STEP_M;
        let turn_deg = turned(f);
        if moved(&farthest) > settings.teleport_m * slower
            || root_jumps
            || turn_deg > TURN_DEG * slower.max(1.0)
        {
            jumps.push(Jump {
                frame: f,
                joint: body.skeleton.joints[farthest].name.clone(),
                distance_m: moved(&farthest),
                turn_deg,
            });
        }
    }
    jumps
}

/// The first frame is no part of a motion where it is this many times farther from the second than any of the next
/// thirty frames is from the one after it,
const LONE_TIMES: f32 = 4.0;
/// and its joints are this far away on average, m.
const LONE_M: f32 = 0.05;

/// The clip without its first frame, and how far that is from the second, m, where it was put before the motion: a
/// T-pose, as many libraries of captured motion have it.
pub fn without_lone_frame(body: &Body, motion: &Motion) -> Option<(Motion, f32)> {
    if motion.len() < 4 || motion.skeleton.len() != body.skeleton.len() {
        return None;
    }
    let seen: Vec<Vec<Affine3A>> =
        motion.poses.iter().take(32).map(|pose| body.skeleton.world_from_joints(pose)).collect();
    let step = |f: usize| {
        let apart = seen[f].iter().zip(&seen[f + 1]).map(|(a, b)| a.translation.distance(b.translation));
        apart.sum::<f32>() / seen[f].len().max(1) as f32
    };
    let usual = (1..seen.len() - 1).map(step).fold(0.0, f32::max);
    let lone = step(0) > LONE_M && step(0) > LONE_TIMES * usual;
    let rest = if lone { motion.trimmed_frames(1, motion.len()).ok() } else { None };
    rest.map(|rest| (Motion { name: motion.name.clone(), ..rest }, step(0)))
}

/// Refuses clips for another skeleton, with numbers that are not finite, and clips that jump.
pub fn check_clip(body: &Body, motion: &Motion, settings: &RecordSettings) -> Result<()> {
    check_joints(body, motion)?;
    match find_jumps(body, motion, settings).first() {
        None => Ok(()),
        Some(Jump { frame, joint, distance_m, turn_deg }) => Err(Error::Scene(format!(
            "motion `{}`, frame {frame} ({:.2} s): `{joint}` jumps {distance_m:.2} m and the root turns {turn_deg:.0}° \
             within one frame; cut the clip there",
            motion.name,
            *frame as f64 / motion.fps
        ))),
    }
}

fn check_joints(body: &Body, motion: &Motion) -> Result<()> {
    if motion.skeleton.len() != body.skeleton.len() {
        return Err(Error::Scene(format!(
            "motion `{}` moves {} joints, body `{}` has {}: retarget it first",
            motion.name,
            motion.skeleton.len(),
            body.name,
            body.skeleton.len()
        )));
    }
    for (f, pose) in motion.poses.iter().enumerate() {
        let world = body.skeleton.world_from_joints(pose);
        if let Some(j) = world.iter().position(|m| !m.is_finite()) {
            return Err(Error::Scene(format!(
                "motion `{}`, frame {f}: joint `{}` is not finite",
                motion.name, body.skeleton.joints[j].name
            )));
        }
    }
    Ok(())
}

/// The clip in pieces, one between each two jumps, named `walk.part1`, `walk.part2` and so on; as it was where
/// there is no jump. Pieces of a single frame hold no motion and are left out.
pub fn cut_at_jumps(motion: &Motion, jumps: &[Jump]) -> Result<Vec<Motion>> {
    if jumps.is_empty() {
        return Ok(vec![motion.clone()]);
    }
    let mut edges = vec![0];
    edges.extend(jumps.iter().map(|j| j.frame));
    edges.push(motion.len());
    let mut parts = Vec::new();
    for (k, edge) in edges.windows(2).enumerate() {
        if edge[1] - edge[0] >= 2 {
            let mut part = motion.trimmed_frames(edge[0], edge[1])?;
            part.name = format!("{}.part{}", motion.name, k + 1);
            parts.push(part);
        }
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_assets::builtin;

    #[test]
    fn a_pose_put_before_the_motion_is_left_out() {
        let body = builtin::body("mannequin:female").unwrap();
        for name in ["walk", "run:2.5", "jump", "walk-stop"] {
            let motion = builtin::motion(name, &body.skeleton).unwrap();
            for fps in [30.0, 120.0] {
                let motion = motion.resampled(fps);
                assert_eq!(without_lone_frame(&body, &motion), None, "{name}");
                let mut led = motion.clone();
                let mut rest = body.skeleton.rest_pose();
                rest.locals[0].translation.x += 0.3;
                led.poses.insert(0, rest);
                let (left, far_m) = without_lone_frame(&body, &led).expect(name);
                assert_eq!((left, far_m > 0.05), (motion, true), "{name}");
            }
        }
    }

    #[test]
    fn jumps_are_found_at_any_rate_and_cut_out() {
        let body = builtin::body("mannequin:female").unwrap();
        let settings = RecordSettings::default();
        for fps in [24.0, 30.0, 120.0] {
            let walk = builtin::motion("walk", &body.skeleton).unwrap().resampled(fps);
            let run = builtin::motion("run", &body.skeleton).unwrap().resampled(fps);
            assert_eq!(find_jumps(&body, &walk, &settings), []);
            assert_eq!(find_jumps(&body, &run, &settings), []);
            for (far, turn) in [(0.5, 0.0), (3.0, 0.0), (0.0, 180.0f32)] {
                let mut broken = walk.clone();
                for pose in &mut broken.poses[20..] {
                    pose.locals[0].translation.x += far;
                    pose.locals[0].rotation =
                        Quat::from_rotation_y(turn.to_radians()) * pose.locals[0].rotation;
                }
                let jumps = find_jumps(&body, &broken, &settings);
                assert_eq!(
                    jumps.iter().map(|j| j.frame).collect::<Vec<_>>(),
                    [20],
                    "{fps} Hz, {far} m, {turn}°"
                );
                let fault = check_clip(&body, &broken, &settings).unwrap_err().to_string();
                assert!(fault.contains("frame 20"), "{fault}");
                let parts = cut_at_jumps(&broken, &jumps).unwrap();
                assert_eq!(parts.iter().map(Motion::len).collect::<Vec<_>>(), [20, walk.len() - 20]);
                assert_eq!(parts[1].name, format!("{}.part2", walk.name));
                assert!(parts.iter().all(|p| check_clip(&body, p, &settings).is_ok()));
            }
        }
    }
}
