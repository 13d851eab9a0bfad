//! Weights of the mannequin's vertices to its joints.
//!
//! The hierarchy is descended from the root: at every joint a vertex gives a share of what it still has
//! to the child's subtree. A share is a smooth ramp along the bone times the membership of the part
//! (trunk, arm, leg), which the signed field tells, so that the flank beside a hanging arm does not
//! follow the arm. Diffusion over the mesh then rounds off the corners of that construction, and the
//! four largest weights stay.

use super::super::proportions::Joints;
use super::body_field::BodyField;
use crate::{Mesh, Skeleton};
use glam::Vec3;

/// Rounds of diffusion; each mixes a vertex with the mean of its neighbours, half and half. Eight rounds
/// reach about two edges, which rounds off the ramps' corners and leaves their widths alone.
const DIFFUSION_ROUNDS: usize = 8;
/// Weights below this are dropped: a tenth of a millimetre at a metre's lever and a bend of 90°.
const LEAST: f32 = 2e-3;

/// Smoothly from 0 at `x = 0` to 1 at `x = 1`.
fn ramp(x: f32) -> f32 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

/// Indices of the joints by part and side (left, right).
struct Chains {
    spine: [usize; 7],
    arms: [[usize; 5]; 2],
    legs: [[usize; 4]; 2],
}

impl Chains {
    fn of(skeleton: &Skeleton) -> Self {
        let find = |name: &str| skeleton.find(name).unwrap_or(0);
        let sided = |side: &str, name: &str| find(&format!("{side}_{name}"));
        Self {
            spine: ["humanoid_root", "vl5", "vl1", "vt6", "vc7", "vc4", "skullbase"].map(find),
            arms: ["l", "r"].map(|s| {
                ["sternoclavicular", "shoulder", "elbow", "wrist", "metacarpal"].map(|n| sided(s, n))
            }),
            legs: ["l", "r"].map(|s| ["hip", "knee", "ankle", "midtarsal"].map(|n| sided(s, n))),
        }
    }

    /// The joint on the other side; itself for the spine.
    fn mirror(&self, joints: usize) -> Vec<usize> {
        let mut mirror: Vec<usize> = (0..joints).collect();
        let pairs = self.arms[0].iter().zip(&self.arms[1]).chain(self.legs[0].iter().zip(&self.legs[1]));
        for (&l, &r) in pairs {
            (mirror[l], mirror[r]) = (r, l);
        }
        mirror
    }
}

/// Rows of `(joint, weight)` for every vertex. `mirror[v]` is the vertex that mirrors `v`.
pub fn rows(
    mesh: &Mesh,
    mirror: &[u32],
    figure: &BodyField,
    joints: &Joints,
    skeleton: &Skeleton,
) -> Vec<Vec<(u16, f32)>> {
    let chains = Chains::of(skeleton);
    let count = skeleton.len();
    let mut dense: Vec<Vec<f32>> =
        mesh.positions.iter().map(|&p| shares(p, figure, joints, &chains, count)).collect();
    let neighbours = mesh.topology().neighbours;
    for _ in 0..DIFFUSION_ROUNDS {
        dense = (0..dense.len())
            .map(|v| {
                let mut sum = vec![0.0; count];
                for &n in &neighbours[v] {
                    for (s, w) in sum.iter_mut().zip(&dense[n as usize]) {
                        *s += w;
                    }
                }
                let scale = 0.5 / neighbours[v].len().max(1) as f32;
                sum.iter().zip(&dense[v]).map(|(s, w)| s * scale + 0.5 * w).collect()
            })
            .collect();
    }
    let across = chains.mirror(count);
    // Diffusion crosses the middle; what it brought to the wrong side goes to the right one.
    for (row, p) in dense.iter_mut().zip(&mesh.positions).filter(|(_, p)| p.x > 0.0) {
        let own = ramp(p.x / 0.03).max(ramp((joints.hip.y - 0.083 - p.y) / 0.012));
        for &l in chains.arms[0].iter().chain(&chains.legs[0]) {
            let moved = own * row[across[l]];
            row[l] += moved;
            row[across[l]] -= moved;
        }
    }
    // Exact symmetry: the left half decides for both, and the middle takes the mean of both sides.
    (0..dense.len())
        .map(|v| {
            let m = mirror[v] as usize;
            let row: Vec<f32> = if m == v {
                (0..count).map(|j| 0.5 * (dense[v][j] + dense[v][across[j]])).collect()
            } else if mesh.positions[v].x > 0.0 {
                dense[v].clone()
            } else {
                (0..count).map(|j| dense[m][across[j]]).collect()
            };
            strongest(&row, &across)
        })
        .collect()
}

/// The four largest weights, renormalised; of two equal ones both stay or neither, so that the middle
/// stays symmetric.
fn strongest(row: &[f32], across: &[usize]) -> Vec<(u16, f32)> {
    let mut row: Vec<(u16, f32)> =
        row.iter().enumerate().filter(|(_, w)| **w > LEAST).map(|(j, &w)| (j as u16, w)).collect();
    row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    if row.len() > 4 {
        let (last, next) = (row[3], row[4]);
        row.truncate(4);
        if across[last.0 as usize] == next.0 as usize && last.1 == next.1 {
            row.pop();
        }
    }
    let sum: f32 = row.iter().map(|r| r.1).sum();
    row.iter_mut().for_each(|r| r.1 /= sum);
    row
}

/// Shares of all joints in the place `p`; they sum to one.
fn shares(p: Vec3, figure: &BodyField, joints: &Joints, chains: &Chains, count: usize) -> Vec<f32> {
    let side = usize::from(p.x < 0.0);
    let q = Vec3::new(p.x.abs(), p.y, p.z);
    let parts = figure.parts(q);
    let tall = joints.skull_base.y / 1.485;
    let mut row = vec![0.0; count];

    let upper = joints.elbow - joints.shoulder;
    let fore = (joints.wrist - joints.elbow).normalize();
    let member = ramp(0.5 + (parts.trunk.min(parts.leg) - parts.arm) / (0.07 * tall));
    let along = (q - joints.shoulder).dot(upper.normalize()) / tall;
    let arm = member * ramp((along + 0.055) / 0.13);
    let across_elbow = (q - joints.elbow).dot((upper.normalize() + fore).normalize()) / tall;
    let forearm = ramp(0.5 + across_elbow / 0.085);
    let hand = ramp(0.5 + (q - joints.wrist).dot(fore) / (0.05 * tall));
    let fingers = ramp(0.5 + (q - joints.knuckle).dot(fore) / (0.035 * tall));
    let chain = &chains.arms[side];
    row[chain[1]] = arm * (1.0 - forearm);
    row[chain[2]] = arm * forearm * (1.0 - hand);
    row[chain[3]] = arm * forearm * hand * (1.0 - fingers);
    row[chain[4]] = arm * forearm * hand * fingers;
    let mut rest = 1.0 - arm;

    // The thigh begins along the groin: low between the legs, high at the outside of the hip.
    let groin = joints.hip.y + tall * (0.45 * (q.x / tall - 0.085) - 0.02);
    let thigh = ramp(0.5 + (groin - q.y) / (0.17 * tall));
    let member = ramp(0.5 + (parts.trunk.min(parts.arm) - parts.leg) / (0.07 * tall))
        .max(ramp((joints.hip.y - 0.07 * tall - q.y) / (0.05 * tall)))
        .max(0.75 * ramp(q.x / (0.09 * tall)));
    let leg = rest * thigh * member;
    let shank = ramp(0.5 + (joints.knee.y - q.y) / (0.11 * tall));
    let sole = ramp(0.5 + (joints.ankle.y - q.y + 0.35 * (q.z - joints.ankle.z)) / (0.05 * tall));
    let forward = (joints.ball - joints.ankle).with_y(0.0).normalize();
    let toes = ramp(0.5 + (q - joints.ball).dot(forward) / (0.04 * tall));
    let chain = &chains.legs[side];
    row[chain[0]] = leg * (1.0 - shank);
    row[chain[1]] = leg * shank * (1.0 - sole);
    row[chain[2]] = leg * shank * sole * (1.0 - toes);
    row[chain[3]] = leg * shank * sole * toes;
    rest -= leg;

    let collar = 0.8
        * rest
        * ramp((q.x / tall - 0.03) / 0.11)
        * ramp((q.y - joints.shoulder.y + 0.10 * tall) / (0.11 * tall))
        * (1.0 - ramp((q.y - joints.skull_base.y + 0.10 * tall) / (0.04 * tall)));
    row[chains.arms[side][0]] = collar;
    rest -= collar;

    for k in (1..chains.spine.len()).rev() {
        let above = ramp(0.5 + (q.y - joints.spine[k].y) / joints.spine_ramp[k]);
        row[chains.spine[k]] = rest * above;
        rest *= 1.0 - above;
    }
    row[chains.spine[0]] = rest;
    row
}
