//! Motion to BVH files that the common importers read.

use super::write_atomically;
use crate::{Motion, Result};
use glam::{EulerRot, Vec3};
use std::fmt::Write;
use std::path::Path;

/// Writes `motion` in metres times `units_per_metre` (100 for the usual centimetres).
///
/// All rotations zero is the skeleton's rest pose *without its rest rotations*, as the format wants it. Where
/// the rest pose has rotations, it is written as an added first frame, and [`crate::read::bvh::read_motion`]
/// finds it there when it is a T-pose.
pub fn write_motion(path: impl AsRef<Path>, motion: &Motion, units_per_metre: f64) -> Result<()> {
    let path = path.as_ref();
    write_atomically(path, motion_text(motion, units_per_metre).as_bytes())
}

/// The text that [`write_motion`] writes.
pub fn motion_text(motion: &Motion, units_per_metre: f64) -> String {
    let scale = units_per_metre as f32;
    let skeleton = &motion.skeleton;
    let mut children = vec![Vec::new(); skeleton.len()];
    for (j, joint) in skeleton.joints.iter().enumerate() {
        if let Some(p) = joint.parent {
            children[p].push(j);
        }
    }
    // Joints whose translation changes need position channels; roots always have them.
    let moves: Vec<bool> = (0..skeleton.len())
        .map(|j| {
            let rest = skeleton.joints[j].rest.translation;
            skeleton.joints[j].parent.is_none()
                || motion.poses.iter().any(|p| p.locals[j].translation.distance(rest) > 1e-5)
        })
        .collect();

    let mut text = String::from("HIERARCHY\n");
    let mut order = Vec::with_capacity(skeleton.len());
    for root in (0..skeleton.len()).filter(|&j| skeleton.joints[j].parent.is_none()) {
        hierarchy(&mut text, motion, root, scale, &children, &moves, &mut order);
    }
    let rest_turned = skeleton.joints.iter().any(|j| j.rest.rotation.to_axis_angle().1.abs() > 1e-4);
    let rest_frame = rest_turned.then(|| skeleton.rest_pose());
    let frames = motion.poses.len() + usize::from(rest_frame.is_some());
    let _ = writeln!(text, "MOTION\nFrames: {frames}\nFrame Time: {:.9}", 1.0 / motion.fps);
    for pose in rest_frame.iter().chain(&motion.poses) {
        for (i, &j) in order.iter().enumerate() {
            let local = &pose.locals[j];
            if i > 0 {
                text.push(' ');
            }
            if moves[j] {
                let p = local.translation * scale;
                let _ = write!(text, "{:.6} {:.6} {:.6} ", p.x, p.y, p.z);
            }
            let (z, y, x) = local.rotation.as_dquat().to_euler(EulerRot::ZYX);
            let [z, y, x] = [z, y, x].map(f64::to_degrees);
            let _ = write!(text, "{z:.6} {y:.6} {x:.6}");
        }
        text.push('\n');
    }
    text
}

/// Writes a joint and everything below it; a stack instead of recursion, since skeletons come from files.
fn hierarchy(
    text: &mut String,
    motion: &Motion,
    root: usize,
    scale: f32,
    children: &[Vec<usize>],
    moves: &[bool],
    order: &mut Vec<usize>,
) {
    /// What is left to write.
    enum Step {
        Open(usize, usize),
        Close(usize),
    }
    let mut steps = vec![Step::Open(root, 0)];
    while let Some(step) = steps.pop() {
        match step {
            Step::Close(depth) => {
                let _ = writeln!(text, "{:\t<depth$}}}", "");
            }
            Step::Open(j, depth) => {
                order.push(j);
                let joint = &motion.skeleton.joints[j];
                let kind = if joint.parent.is_none() { "ROOT" } else { "JOINT" };
                let name = joint.name.replace(['\n', '\r', '{', '}'], "_");
                let at = joint.rest.translation * scale;
                let channels = if moves[j] { "6 Xposition Yposition Zposition" } else { "3" };
                let tab = format!("{:\t<depth$}", "");
                let _ = writeln!(
                    text,
                    "{tab}{kind} {name}\n{tab}{{\n{tab}\tOFFSET {}\n{tab}\tCHANNELS {channels} Zrotation Yrotation Xrotation",
                    numbers(at)
                );
                steps.push(Step::Close(depth));
                if children[j].is_empty() {
                    // Importers that draw bones need an end; a third of the bone before looks right.
                    let end = if joint.parent.is_some() { at / 3.0 } else { Vec3::Y * 0.1 * scale };
                    let end = numbers(end);
                    let _ = writeln!(text, "{tab}\tEnd Site\n{tab}\t{{\n{tab}\t\tOFFSET {end}\n{tab}\t}}");
                }
                steps.extend(children[j].iter().rev().map(|&c| Step::Open(c, depth + 1)));
            }
        }
    }
}

/// Three numbers with six digits after the point.
fn numbers(v: Vec3) -> String {
    format!("{:.6} {:.6} {:.6}", v.x, v.y, v.z)
}
