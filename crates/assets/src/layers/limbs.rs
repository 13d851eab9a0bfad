//! The parts of the body that floating cloth meets, measured as cylinders of varying radius.

use super::segments::Anatomy;
use crate::{Role, TriangleTree};
use glam::Vec3;
use toile_model::layers::{LIMB_RINGS, LIMB_SIDES, LimbCylinder};

/// A part, where its axis goes, whose skin counts, and how far cloth comes from to meet it.
struct Part {
    name: &'static str,
    joint: Role,
    from: Vec3,
    to: Vec3,
    skin: &'static [Role],
    /// As a share of the wearer's height.
    reach: f32,
}

/// Every part that cloth can meet.
pub(super) fn limbs(anatomy: &Anatomy<'_>, free: &[Vec3], outward: &[Vec3]) -> Vec<LimbCylinder> {
    let mesh = &anatomy.body.mesh;
    let roles: Vec<Role> = (0..mesh.triangles.len()).map(|t| anatomy.role_of_triangle(t)).collect();
    parts(anatomy)
        .into_iter()
        .filter_map(|part| {
            let joint = anatomy.joint(part.joint)? as u16;
            let axis = (part.to - part.from).try_normalize()?;
            let side = axis.any_orthonormal_vector();
            let skin: Vec<[u32; 3]> = mesh
                .triangles
                .iter()
                .zip(&roles)
                .filter(|(_, role)| part.skin.contains(role))
                .map(|(t, _)| *t)
                .collect();
            let mut limb = LimbCylinder {
                name: part.name.into(),
                joint,
                from: part.from,
                to: part.to,
                side,
                radii: measure(&mesh.positions, &skin, &part, side)?,
                round: !matches!(part.name, "hips" | "chest"),
                candidates: Vec::new(),
            };
            limb.candidates = candidates(&limb, free, outward, part.reach * anatomy.height_m);
            (!limb.candidates.is_empty()).then_some(limb)
        })
        .collect()
}

/// Name, joint, joint at its end, and whose skin counts.
type Bone = (&'static str, Role, Role, [Role; 3]);

static LEGS: [Bone; 4] = {
    use Role::*;
    [
        ("left thigh", LeftUpperLeg, LeftLowerLeg, [LeftUpperLeg, Hips, LeftLowerLeg]),
        ("left shin", LeftLowerLeg, LeftFoot, [LeftLowerLeg, LeftUpperLeg, LeftFoot]),
        ("right thigh", RightUpperLeg, RightLowerLeg, [RightUpperLeg, Hips, RightLowerLeg]),
        ("right shin", RightLowerLeg, RightFoot, [RightLowerLeg, RightUpperLeg, RightFoot]),
    ]
};
static ARMS: [Bone; 4] = {
    use Role::*;
    [
        ("left upper arm", LeftUpperArm, LeftLowerArm, [LeftUpperArm, LeftLowerArm, LeftShoulder]),
        ("left forearm", LeftLowerArm, LeftHand, [LeftLowerArm, LeftUpperArm, LeftHand]),
        ("right upper arm", RightUpperArm, RightLowerArm, [RightUpperArm, RightLowerArm, RightShoulder]),
        ("right forearm", RightLowerArm, RightHand, [RightLowerArm, RightUpperArm, RightHand]),
    ]
};

fn parts(anatomy: &Anatomy<'_>) -> Vec<Part> {
    use Role::*;
    let mut parts = Vec::new();
    let mut add = |name, joint, from: Option<Vec3>, to: Option<Vec3>, skin: &'static [Role], reach| {
        if let (Some(from), Some(to)) = (from, to) {
            parts.push(Part { name, joint, from, to, skin, reach });
        }
    };
    let at = |role| anatomy.place(role);
    let hips = at(LeftUpperLeg).zip(at(RightUpperLeg)).map(|(l, r)| 0.5 * (l + r));
    let low = hips.map(|p| p - Vec3::Y * 0.04 * anatomy.height_m);
    let waist = at(Chest).or(at(Spine)).or(at(UpperChest)).or(at(Neck));
    let neck = at(Neck).or(at(Head));
    let upper = [UpperChest, Chest, Spine].into_iter().find(|r| anatomy.joint(*r).is_some()).unwrap_or(Hips);
    // Legs first: they are what skirts meet, and the others only correct what is left.
    for (name, joint, end, skin) in &LEGS {
        add(name, *joint, at(*joint), at(*end), skin, 0.25);
    }
    add("hips", Hips, low, waist, &[Hips, Spine, Chest, LeftUpperLeg, RightUpperLeg], 0.12);
    let chest = &[Spine, Chest, UpperChest, Neck, LeftShoulder, RightShoulder, LeftUpperArm, RightUpperArm];
    add("chest", upper, waist, neck, chest, 0.12);
    for (name, joint, end, skin) in &ARMS {
        add(name, *joint, at(*joint), at(*end), skin, 0.08);
    }
    parts
}

/// Distances of the skin from the axis, ring by ring. Rays that leave through a neighbour's skin are held to what is
/// usual around that ring.
fn measure(positions: &[Vec3], skin: &[[u32; 3]], part: &Part, side: Vec3) -> Option<Vec<[f32; LIMB_SIDES]>> {
    let tree = TriangleTree::new(positions, skin);
    let axis = (part.to - part.from).normalize();
    let other = axis.cross(side);
    let mut rings: Vec<[Option<f32>; LIMB_SIDES]> = Vec::with_capacity(LIMB_RINGS);
    for r in 0..LIMB_RINGS {
        let origin = part.from.lerp(part.to, r as f32 / (LIMB_RINGS - 1) as f32);
        rings.push(std::array::from_fn(|s| {
            let (x, y) = LimbCylinder::direction(s);
            tree.first_hit(origin, side * x + other * y).map(|hit| hit.distance_m)
        }));
    }
    let median = |values: &mut Vec<f32>| -> Option<f32> {
        values.sort_by(f32::total_cmp);
        values.get(values.len() / 2).copied()
    };
    let whole = median(&mut rings.iter().flatten().flatten().copied().collect())?;
    let usual: Vec<f32> = rings
        .iter()
        .map(|ring| median(&mut ring.iter().flatten().copied().collect()).unwrap_or(whole))
        .collect();
    Some(
        rings
            .iter()
            .zip(&usual)
            .map(|(ring, usual)| {
                let usual = usual.min(1.5 * whole);
                ring.map(|hit| hit.unwrap_or(usual).clamp(0.3 * usual, 1.6 * usual))
            })
            .collect(),
    )
}

/// Cloth that is near enough at rest and not on the far side of the limb (their list of possible colliders).
fn candidates(limb: &LimbCylinder, free: &[Vec3], outward: &[Vec3], reach_m: f32) -> Vec<u32> {
    let along = limb.to - limb.from;
    let (axis, length) = (along.normalize(), along.length());
    let other = axis.cross(limb.side);
    (0..free.len() as u32)
        .filter(|&c| {
            let p = free[c as usize] - limb.from;
            let t = axis.dot(p).clamp(0.0, length);
            let q = p - axis * t;
            let radius = limb.radius(t / length, limb.side.dot(q), other.dot(q));
            let far_side = q.normalize_or_zero().dot(outward[c as usize]) < -0.6;
            q.length() < radius + reach_m && !far_side
        })
        .collect()
}
