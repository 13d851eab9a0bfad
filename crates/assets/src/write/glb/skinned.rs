//! Skeletons, weights and motions.

use super::container::{Container, Target};
use crate::{Body, Error, Motion, Result, Skin, Transform};
use glam::{Mat4, Quat};
use serde_json::{Value, json};

/// The skeleton of a body in a document.
pub(super) struct Rigged {
    /// Node of each joint.
    pub nodes: Vec<usize>,
    /// The skin.
    pub skin: usize,
}

/// Adds the joints and the bind matrices of a body.
pub(super) fn add_skeleton(file: &mut Container, body: &Body) -> Rigged {
    let joints = &body.skeleton.joints;
    let first = file.nodes.len();
    for (j, joint) in joints.iter().enumerate() {
        let mut node = json!({"name": joint.name});
        if joint.rest.rotation != Quat::IDENTITY {
            node["rotation"] = json!(unit(joint.rest.rotation).to_array());
        }
        if joint.rest.translation != glam::Vec3::ZERO {
            node["translation"] = json!(joint.rest.translation.to_array());
        }
        let children: Vec<usize> = body.skeleton.children(j).map(|c| first + c).collect();
        if !children.is_empty() {
            node["children"] = json!(children);
        }
        file.nodes.push(node);
    }
    let roots: Vec<usize> =
        (0..joints.len()).filter(|&j| joints[j].parent.is_none()).map(|j| first + j).collect();
    match roots[..] {
        [one] => file.scene.push(one),
        // Joints of a skin must hang from one node.
        _ => {
            let top = json!({"name": format!("{} skeleton", body.name), "children": roots});
            let top = Container::push(&mut file.nodes, top);
            file.scene.push(top);
        }
    }
    let binds: Vec<[f32; 16]> = body.joint_from_bind.iter().map(|m| Mat4::from(*m).to_cols_array()).collect();
    let binds = file.floats(&binds, Target::Other, false);
    let nodes: Vec<usize> = (first..first + joints.len()).collect();
    let skin = json!({"name": body.name, "joints": nodes, "inverseBindMatrices": binds});
    let skin = Container::push(&mut file.skins, skin);
    Rigged { nodes, skin }
}

/// Adds weights to the attributes of a primitive, four to a set.
pub(super) fn add_weights(file: &mut Container, skin: &Skin, attributes: &mut Value) {
    let rows: Vec<Vec<(u16, f32)>> = (0..skin.len()).map(|v| row(skin, v)).collect();
    let sets = rows.iter().map(Vec::len).max().unwrap_or(0).div_ceil(4).max(1);
    for set in 0..sets {
        // An unused place is joint 0 with weight 0.
        let entry = |row: &Vec<(u16, f32)>, k: usize| row.get(4 * set + k).copied().unwrap_or((0, 0.0));
        let joints: Vec<[u16; 4]> = rows.iter().map(|r| std::array::from_fn(|k| entry(r, k).0)).collect();
        let weights: Vec<[f32; 4]> = rows.iter().map(|r| std::array::from_fn(|k| entry(r, k).1)).collect();
        attributes[format!("JOINTS_{set}")] = json!(file.joints(&joints));
        attributes[format!("WEIGHTS_{set}")] = json!(file.floats(&weights, Target::Vertices, false));
    }
}

/// The weights of a vertex, each joint once, the heaviest first.
fn row(skin: &Skin, vertex: usize) -> Vec<(u16, f32)> {
    let mut row: Vec<(u16, f32)> = Vec::new();
    for (j, w) in skin.row(vertex) {
        match row.iter_mut().find(|(k, _)| *k == j) {
            Some((_, sum)) => *sum += w,
            None => row.push((j, w)),
        }
    }
    row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    row
}

/// Adds a motion as an animation; returns its JSON so that other channels may join.
pub(super) fn animation(
    file: &mut Container,
    rigged: &Rigged,
    body: &Body,
    motion: &Motion,
) -> Result<Value> {
    let same = motion.skeleton.len() == body.skeleton.len()
        && motion.skeleton.joints.iter().zip(&body.skeleton.joints).all(|(a, b)| a.parent == b.parent);
    if !same {
        return Err(Error::Invalid(format!(
            "motion `{}` is of another skeleton than body `{}`; retarget it first",
            motion.name, body.name
        )));
    }
    let broken = |t: &Transform| !(t.rotation.is_finite() && t.translation.is_finite());
    if let Some(f) = motion.poses.iter().position(|p| p.locals.iter().any(broken)) {
        return Err(Error::Invalid(format!("motion `{}`, frame {f} is not finite", motion.name)));
    }
    let times = add_times(file, motion.poses.len(), motion.fps);
    // One key for all that does not move but is not at rest either.
    let mut start = None;
    let mut animation = json!({"name": motion.name, "channels": [], "samplers": []});
    for (j, joint) in body.skeleton.joints.iter().enumerate() {
        let node = rigged.nodes[j];
        let mut turns: Vec<[f32; 4]> = Vec::with_capacity(motion.len());
        let mut before = joint.rest.rotation;
        for pose in &motion.poses {
            // Neighbouring keys on the same side, for readers that blend without looking.
            let q = unit(pose.locals[j].rotation);
            before = if before.dot(q) < 0.0 { -q } else { q };
            turns.push(before.to_array());
        }
        let moves: Vec<[f32; 3]> = motion.poses.iter().map(|p| p.locals[j].translation.to_array()).collect();
        let rest = unit(joint.rest.rotation).to_array();
        // The first joint keeps all its keys, so that the clip keeps its length when nothing moves.
        if j == 0 || turns.iter().any(|q| *q != turns[0]) {
            let values = file.floats(&turns, Target::Other, false);
            add_channel(&mut animation, node, "rotation", times, values);
        } else if turns[0] != rest {
            let values = file.floats(&turns[..1], Target::Other, false);
            let start = *start.get_or_insert_with(|| add_times(file, 1, 1.0));
            add_channel(&mut animation, node, "rotation", start, values);
        }
        if moves.iter().any(|t| *t != moves[0]) {
            let values = file.floats(&moves, Target::Other, false);
            add_channel(&mut animation, node, "translation", times, values);
        } else if moves[0] != joint.rest.translation.to_array() {
            let values = file.floats(&moves[..1], Target::Other, false);
            let start = *start.get_or_insert_with(|| add_times(file, 1, 1.0));
            add_channel(&mut animation, node, "translation", start, values);
        }
    }
    Ok(animation)
}

/// Times of evenly spaced keys.
pub(super) fn add_times(file: &mut Container, frames: usize, fps: f64) -> usize {
    let times: Vec<[f32; 1]> = (0..frames).map(|f| [(f as f64 / fps) as f32]).collect();
    file.floats(&times, Target::Other, true)
}

/// Adds a linear channel to an animation.
pub(super) fn add_channel(animation: &mut Value, node: usize, path: &str, times: usize, values: usize) {
    let sampler = animation["samplers"].as_array().map_or(0, Vec::len);
    let push = |list: &mut Value, value: Value| {
        if let Some(list) = list.as_array_mut() {
            list.push(value);
        }
    };
    push(&mut animation["samplers"], json!({"input": times, "output": values, "interpolation": "LINEAR"}));
    push(&mut animation["channels"], json!({"sampler": sampler, "target": {"node": node, "path": path}}));
}

/// A unit quaternion, in double precision so that the rounded one is as near to unit as can be.
fn unit(q: Quat) -> Quat {
    let q = q.as_dquat();
    if q.length_squared() > 1e-12 { q.normalize().as_quat() } else { Quat::IDENTITY }
}
