//! What `toile simulate` would refuse, leave out or only half believe: said beforehand.

use crate::resolve;
use toile_assets::{Body, Garment, Motion, Problem, self_crossings};
use toile_simulate::{
    RecordSettings, check_clip, check_fit, describe_mends, find_jumps, mend_glitches, without_lone_frame,
};

/// What is wrong with a motion on `body`.
pub fn of_motion(motion: &Motion, body: &Body) -> Vec<Problem> {
    let mut problems = Vec::new();
    let (mended, mends) = mend_glitches(motion);
    if let Some(what) = describe_mends(&mends, motion.fps) {
        problems.push(Problem::new(what, mends.len(), "simulate takes the mended clip"));
    }
    let carried = match resolve::carried(mended, body) {
        Ok((carried, report)) => {
            if let Some((frames, what)) = report.and_then(|r| Some((r.cleared_frames, r.cleared()?))) {
                problems.push(Problem::new(what, frames, "simulate takes them so"));
            }
            carried
        }
        Err(e) => {
            let what = format!("cannot be carried over to `{}`: {e:#}", body.name);
            problems.push(Problem::new(what, 1, "simulate refuses it"));
            return problems;
        }
    };
    let mut clip = carried;
    if let Some((rest, far_m)) = without_lone_frame(body, &clip) {
        let what = format!("frame 0 is {:.0} cm from frame 1, a pose put before the motion", 100.0 * far_m);
        problems.push(Problem::new(what, 1, "simulate leaves it out"));
        clip = rest;
    }
    let settings = RecordSettings::default();
    let jumps = find_jumps(body, &clip, &settings);
    if let Err(fault) = check_clip(body, &clip, &settings) {
        let action = if jumps.is_empty() {
            "simulate refuses it"
        } else {
            "simulate refuses it; simulate --cut takes every part"
        };
        problems.push(Problem::new(fault.to_string(), jumps.len().max(1), action));
    }
    problems
}

/// What is wrong with a garment on `body`.
pub fn of_garment(garment: &Garment, body: &Body) -> Vec<Problem> {
    match check_fit(body, garment) {
        Ok(_) => Vec::new(),
        Err(fault) => vec![Problem::new(fault.to_string(), 1, "simulate refuses it")],
    }
}

/// What is wrong with a body as it stands.
pub fn of_body(body: &Body) -> Vec<Problem> {
    let mut standing = body.mesh.clone();
    standing.positions = body.skinned_positions(&body.bones(&body.skeleton.rest_pose()));
    match self_crossings(&standing).len() {
        0 => Vec::new(),
        count => vec![Problem::new(
            "edges that pass through the body in its rest pose",
            count,
            "cloth may be caught there; simulate does not count depth within 5 cm of them",
        )],
    }
}
