//! Weights of the mannequin's vertices to its joints.
//!
//! The hierarchy is descended from the root: at every joint a vertex gives a share of what it still has
//! to the child's subtree. A share is a smooth ramp along the bone direction times the membership of the
//! part (trunk, arm, leg), which the signed field tells, so that the flank beside a hanging arm does not
//! follow the arm.

use super::super::proportions::Joints;
use super::figure::Figure;
use crate::{Mesh, Skeleton};
use glam::Vec3;

fn ramp(x: f32) -> f32 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

/// Rows of `(joint, weight)`.
pub fn rows(mesh: &Mesh, figure: &Figure, joints: &Joints, skeleton: &Skeleton) -> Vec<Vec<(u16, f32)>> {
    let find = |name: &str| skeleton.find(name).unwrap_or(0) as u16;
    let spine: Vec<u16> =
        ["humanoid_root", "vl5", "vl1", "vt6", "vc7", "vc4", "skullbase"].map(find).to_vec();
    let arms = ["l", "r"].map(|s| {
        ["sternoclavicular", "shoulder", "elbow", "wrist", "metacarpal"].map(|n| find(&format!("{s}_{n}")))
    });
    let legs = ["l", "r"].map(|s| ["hip", "knee", "ankle", "midtarsal"].map(|n| find(&format!("{s}_{n}"))));
    let down = (joints.elbow - joints.shoulder).normalize();
    let forearm = (joints.wrist - joints.elbow).normalize();
    let foot = (joints.ball - joints.ankle).with_y(0.0).normalize();
    mesh.positions
        .iter()
        .map(|&p| {
            let side = usize::from(p.x < 0.0);
            let q = Vec3::new(p.x.abs(), p.y, p.z);
            let d = figure.parts(q);
            let mut row: Vec<(u16, f32)> = Vec::new();
            // Arm: share along the bone times membership.
            let member = ramp(0.5 + (d.trunk.min(d.leg) - d.arm) / 0.06);
            let along = (q - joints.shoulder).dot(down);
            let arm = member * ramp((along + 0.045) / 0.11);
            let fore = ramp((along - joints.shoulder.distance(joints.elbow) + 0.04) / 0.08);
            let hand = ramp(((q - joints.wrist).dot(forearm) + 0.02) / 0.04);
            let fingers = ramp(((q - joints.knuckle).dot(forearm) + 0.015) / 0.03);
            let chain = arms[side];
            row.push((chain[1], arm * (1.0 - fore)));
            row.push((chain[2], arm * fore * (1.0 - hand)));
            row.push((chain[3], arm * fore * hand * (1.0 - fingers)));
            row.push((chain[4], arm * fore * hand * fingers));
            let mut rest = 1.0 - arm;
            // Leg: below the groin, away from the middle.
            let member = ramp(0.5 + (d.trunk.min(d.arm) - d.leg) / 0.07);
            let thigh = ramp(0.5 + (joints.hip.y - 0.02 - q.y) / 0.16);
            let leg = rest * (member.max(ramp((joints.hip.y - 0.08 - q.y) / 0.05))) * thigh;
            let shank = ramp(0.5 + (joints.knee.y - q.y) / 0.09);
            let sole = ramp(0.5 + (joints.ankle.y - q.y + 0.35 * (q.z - joints.ankle.z)) / 0.05);
            let toes = ramp(0.5 + (q - joints.ball).dot(foot) / 0.035);
            let chain = legs[side];
            row.push((chain[0], leg * (1.0 - shank)));
            row.push((chain[1], leg * shank * (1.0 - sole)));
            row.push((chain[2], leg * shank * sole * (1.0 - toes)));
            row.push((chain[3], leg * shank * sole * toes));
            rest -= leg;
            // Collar bone.
            let collar = rest
                * ramp((q.x - 0.03) / 0.11)
                * ramp((q.y - (joints.shoulder.y - 0.10)) / 0.10)
                * (1.0 - ramp((q.y - joints.skull_base.y + 0.10) / 0.04));
            row.push((arms[side][0], 0.8 * collar));
            rest -= 0.8 * collar;
            for k in (1..spine.len()).rev() {
                let above = ramp(0.5 + (q.y - joints.spine[k].y) / joints.spine_ramp[k]);
                row.push((spine[k], rest * above));
                rest *= 1.0 - above;
            }
            row.push((spine[0], rest));
            row.retain(|&(_, w)| w > 1e-3);
            row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            row.truncate(4);
            row
        })
        .collect()
}
