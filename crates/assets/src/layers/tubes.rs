//! Sleeves and trouser legs, and what tells how far they slide: strings of vertices whose lengths are kept, and arms that
//! carry a shirt.

use super::segmentation::smooth;
use super::segments::{Anatomy, Over, Region, region};
use crate::{Attachment, Garment, Mesh, Role, Topology};
use glam::Vec3;
use std::collections::BinaryHeap;
use toile_model::layers::{Layer, Ride, Tube};

/// Between rings, as a share of the wearer's height: short against a thigh, long against a triangle.
const SPACING: f32 = 0.035;
/// Strings around a tube.
const STRINGS: usize = 8;
/// Fewer vertices on a limb are a cuff, not a sleeve.
const FEWEST: usize = 24;
/// Of the wearer's height: cloth that faces up this near to the skin rests on it.
const RESTS: f32 = 0.007;
/// Distance that cloth keeps from the skin wherever it lies, m.
const TOUCH_M: f32 = 0.003;
/// How far a shirt falls at the hips for what it falls by at the shoulders.
const AT_HIPS: f32 = 0.3;

/// Distance along the cloth from where it is held, and the way there.
struct Ways {
    distance_m: Vec<f32>,
    towards: Vec<u32>,
}

/// The tubes of a garment and how its vertices go with them.
pub(super) fn tubes(
    anatomy: &Anatomy<'_>,
    garment: &Garment,
    mesh: &Mesh,
    topology: &Topology,
    (attachment, over): (&Attachment, &[Over]),
    layer: &[Layer],
) -> (Vec<Tube>, Vec<Ride>) {
    let ways = Ways::from_held(&held(anatomy, garment, mesh, over), mesh, topology, layer);
    let spacing_m = SPACING * anatomy.height_m;
    let limbs = [
        ("left leg", Region::Leg(0), [Role::LeftUpperLeg, Role::LeftLowerLeg]),
        ("right leg", Region::Leg(1), [Role::RightUpperLeg, Role::RightLowerLeg]),
        ("left arm", Region::Arm(0), [Role::LeftUpperArm, Role::LeftLowerArm]),
        ("right arm", Region::Arm(1), [Role::RightUpperArm, Role::RightLowerArm]),
    ];
    let (mut tubes, mut shares) = (Vec::new(), Vec::new());
    let middle = anatomy.place(Role::Hips).unwrap_or_default();
    for (name, limb, ends) in limbs {
        let on_limb: Vec<usize> = (0..over.len())
            .filter(|v| region(over[*v].role) == limb && layer[*v] != Layer::Floating)
            .filter(|v| ways.distance_m[*v].is_finite())
            .collect();
        let (Some(from), Some(to)) = (anatomy.place(ends[0]), anatomy.place(ends[1])) else { continue };
        if on_limb.len() < FEWEST {
            continue;
        }
        let of_legs = matches!(limb, Region::Leg(_));
        let tube = Tube {
            name: name.into(),
            strings: Vec::new(),
            supports: Vec::new(),
            trunk_joint: 0,
            slack_m: 0.0,
        };
        tubes.push(match of_legs {
            true => {
                let axis = (to - from).normalize_or_zero();
                Tube { strings: strings(&ways, mesh, &on_limb, from, axis, spacing_m), ..tube }
            }
            false => {
                let Some(carried) = carried(anatomy, mesh, over, &on_limb, ends[0]) else { continue };
                Tube { supports: carried.0, trunk_joint: carried.1, slack_m: carried.2, ..tube }
            }
        });
        // Cloth on the trunk goes with the limb of its side.
        let side = (from - middle).with_y(0.0);
        let own = |v: usize| match region(over[v].role) {
            Region::Trunk => side.dot(mesh.positions[v] - middle) > 0.0,
            other => other == limb,
        };
        let mut share: Vec<f32> = (0..over.len()).map(|v| if own(v) { 1.0 } else { 0.0 }).collect();
        smooth(&mut share, topology, 6);
        shares.push(share);
    }
    if tubes.is_empty() {
        return (tubes, Vec::new());
    }
    let along = ups(&ways, mesh, topology, spacing_m);
    let sleeves: Vec<bool> = tubes.iter().map(|t| t.strings.is_empty()).collect();
    let slack_m = tubes.iter().map(|t| t.slack_m).fold(0.0, f32::max);
    let of_sleeves: Vec<Vec3> = carried_ups(anatomy, attachment, topology, over, slack_m);
    let ride = |v: usize| {
        let mut two = [(0u16, 0.0f32); 2];
        for (t, share) in shares.iter().enumerate().map(|(t, s)| (t as u16, s[v])) {
            if share > two[0].1 {
                two = [(t, share), two[0]];
            } else if share > two[1].1 {
                two[1] = (t, share);
            }
        }
        if layer[v] == Layer::Floating || !ways.distance_m[v].is_finite() {
            return Ride::default();
        }
        let up = if sleeves[usize::from(two[0].0)] { of_sleeves[v] } else { along[v] };
        Ride { shares: two, ring: ways.distance_m[v] / spacing_m, up }
    };
    (tubes, (0..over.len()).map(ride).collect())
}

/// What carries a sleeve at rest on top of its upper arm, the joint of the trunk that is measured from, and how far the
/// cloth is above the shoulder.
fn carried(
    anatomy: &Anatomy<'_>,
    mesh: &Mesh,
    over: &[Over],
    on_limb: &[usize],
    upper_arm: Role,
) -> Option<(Vec<u32>, u16, f32)> {
    let (joint, height_m) = (anatomy.place(upper_arm)?, anatomy.height_m);
    let near = |v: &&usize| {
        over[**v].gap_m < 0.012 * height_m && mesh.positions[**v].distance(joint) < 0.1 * height_m
    };
    let supports: Vec<u32> =
        on_limb.iter().filter(|v| over[**v].normal.y > 0.5).filter(near).map(|v| *v as u32).collect();
    let trunk = [Role::UpperChest, Role::Chest, Role::Spine].into_iter().find_map(|r| anatomy.joint(r))?;
    let on_shoulder = |v: &usize| {
        let o = &over[*v];
        region(o.role) == Region::Trunk
            && o.normal.y > 0.5
            && mesh.positions[*v].y > joint.y - 0.02 * height_m
    };
    let gaps: Vec<f32> = (0..over.len()).filter(on_shoulder).map(|v| over[v].gap_m.max(0.0)).collect();
    if supports.len() < 3 || gaps.is_empty() {
        return None;
    }
    Some((supports, trunk as u16, gaps.iter().sum::<f32>() / gaps.len() as f32))
}

/// Where a garment is held: its pins, or else where it rests on the body, or else its upper edge.
fn held(anatomy: &Anatomy<'_>, garment: &Garment, mesh: &Mesh, over: &[Over]) -> Vec<u32> {
    let painted = garment.paint.max_distance_m.iter().enumerate().filter(|(_, m)| **m <= 0.0);
    let mut held: Vec<u32> = garment.pins.iter().flat_map(|p| &p.vertices).copied().collect();
    held.extend(painted.map(|(v, _)| v as u32));
    if held.is_empty() {
        let rests = |o: &Over| {
            region(o.role) == Region::Trunk && o.normal.y > 0.35 && o.gap_m < RESTS * anatomy.height_m
        };
        held = (0..over.len() as u32).filter(|v| rests(&over[*v as usize])).collect();
    }
    if held.is_empty() {
        let top = mesh.positions.iter().map(|p| p.y).fold(f32::MIN, f32::max) - 0.02 * anatomy.height_m;
        held = (0..over.len() as u32).filter(|v| mesh.positions[*v as usize].y > top).collect();
    }
    held
}

impl Ways {
    fn from_held(held: &[u32], mesh: &Mesh, topology: &Topology, layer: &[Layer]) -> Self {
        let n = mesh.positions.len();
        let mut ways = Self { distance_m: vec![f32::INFINITY; n], towards: (0..n as u32).collect() };
        // Distances are not negative, so their bits are ordered as they are.
        let mut front = BinaryHeap::new();
        for &v in held {
            ways.distance_m[v as usize] = 0.0;
            front.push((std::cmp::Reverse(0u32), v));
        }
        while let Some((std::cmp::Reverse(bits), v)) = front.pop() {
            let at = f32::from_bits(bits);
            if at > ways.distance_m[v as usize] {
                continue;
            }
            for &w in
                topology.neighbours[v as usize].iter().filter(|w| layer[**w as usize] != Layer::Floating)
            {
                let to = at + mesh.positions[v as usize].distance(mesh.positions[w as usize]);
                if to < ways.distance_m[w as usize] {
                    ways.distance_m[w as usize] = to;
                    ways.towards[w as usize] = v;
                    front.push((std::cmp::Reverse(to.to_bits()), w));
                }
            }
        }
        ways
    }

    /// The first vertex on the way from `v` that is no farther from where the cloth is held than `distance_m`.
    fn up_to(&self, mut v: u32, distance_m: f32) -> u32 {
        while self.distance_m[v as usize] > distance_m && self.towards[v as usize] != v {
            v = self.towards[v as usize];
        }
        v
    }
}

/// Strings that end at the hem, one in each direction around the limb.
fn strings(
    ways: &Ways,
    mesh: &Mesh,
    on_limb: &[usize],
    joint: Vec3,
    axis: Vec3,
    spacing_m: f32,
) -> Vec<Vec<u32>> {
    let side = axis.any_orthonormal_vector();
    let other = axis.cross(side);
    let mut ends = [None::<usize>; STRINGS];
    for &v in on_limb {
        let p = mesh.positions[v] - joint;
        let turn = (other.dot(p).atan2(side.dot(p)) / std::f32::consts::TAU + 1.0).fract();
        let end = &mut ends[((turn * STRINGS as f32) as usize).min(STRINGS - 1)];
        if end.is_none_or(|e| ways.distance_m[v] > ways.distance_m[e]) {
            *end = Some(v);
        }
    }
    ends.into_iter()
        .flatten()
        .map(|end| {
            let rings = (ways.distance_m[end] / spacing_m) as usize;
            let mut string: Vec<u32> =
                (0..=rings).map(|r| ways.up_to(end as u32, (r as f32 + 0.5) * spacing_m)).collect();
            string[0] = ways.up_to(end as u32, 0.0);
            string
        })
        .collect()
}

/// Directions in which a shirt goes with the arms that carry it: up on the trunk, less towards the hips, which hold it too,
/// and along the arms on sleeves.
fn carried_ups(
    anatomy: &Anatomy<'_>,
    attachment: &Attachment,
    topology: &Topology,
    over: &[Over],
    slack_m: f32,
) -> Vec<Vec3> {
    let height = |role| anatomy.place(role).map_or(0.0, |p| p.y);
    let (hips, shoulders) = (height(Role::Hips), height(Role::LeftUpperArm));
    let up = |v: usize| {
        let p = attachment.rest[v];
        let level = ((p.y - hips) / (shoulders - hips).max(1e-3)).clamp(0.0, 1.0);
        let on_trunk = Vec3::Y * (AT_HIPS + (1.0 - AT_HIPS) * level);
        let limb = anatomy.limb_share(attachment, v);
        on_trunk.lerp(-anatomy.limb_axis(attachment, v).unwrap_or(Vec3::NEG_Y), limb)
    };
    let mut ups: Vec<Vec3> = (0..attachment.rest.len()).map(up).collect();
    smooth_vectors(&mut ups, topology, 4);
    for (up, o) in ups.iter_mut().zip(over) {
        // It falls onto the skin below it and then slides along, not into it.
        let most = (o.gap_m - TOUCH_M).max(0.0) / slack_m.max(1e-4);
        *up -= o.normal * (up.dot(o.normal) - most).max(0.0);
    }
    ups
}

fn smooth_vectors(vectors: &mut [Vec3], topology: &Topology, passes: usize) {
    for k in 0..3 {
        let mut axis: Vec<f32> = vectors.iter().map(|p| p[k]).collect();
        smooth(&mut axis, topology, passes);
        vectors.iter_mut().zip(axis).for_each(|(p, a)| p[k] = a);
    }
}

/// Directions along the cloth towards where it is held.
fn ups(ways: &Ways, mesh: &Mesh, topology: &Topology, spacing_m: f32) -> Vec<Vec3> {
    let own = |v: usize| {
        let above = ways.up_to(v as u32, ways.distance_m[v] - spacing_m);
        (mesh.positions[above as usize] - mesh.positions[v]).normalize_or_zero()
    };
    let mut ups: Vec<Vec3> = (0..mesh.positions.len()).map(own).collect();
    smooth_vectors(&mut ups, topology, 4);
    ups.into_iter().map(Vec3::normalize_or_zero).collect()
}
