//! Which points of the body each vertex of a garment has to be kept outside of.

use super::limbs::limbs;
use crate::Error;
use crate::takes::source::TakeSource;
use glam::{Affine3A, Vec3};
use toile_assets::{
    Attachment, Body, CARRIED, LimbTube, NEIGHBOURS, Shield, Skin, TriangleTree, vertex_normals,
};

/// Distance between points on the body, m: on a thigh the planes of neighbours meet 3 mm outside of it.
const SPACING_M: f32 = 0.035;
/// Skin farther than this from a vertex is not near it, m.
const NEAR_M: f32 = 0.15;
/// How fast nearness fades, m.
const FADE_M: f32 = 0.02;
/// Thickness of the cloth and a bit, m.
const MARGIN_M: f32 = 0.003;
/// The farthest that a vertex is moved, m: out of the middle of a thigh.
const LIMIT_M: f32 = 0.15;
/// Limbs nearer than this can be met, m: beside the garment, and within it.
const MEET_M: [f32; 2] = [0.03, 0.12];
/// In this share of the frames that were looked at: with hundreds of clips everything has met everything once, and looking at all
/// limbs doubles the cost of a garment.
const OFTEN: f32 = 0.005;
/// Skin that follows a limb by more than this and is no nearer to its ends than this share of half its length is kept off
/// by the limb's tube.
const LIMB_ALONE: f32 = 0.5;
const LIMB_END: f32 = 0.15;
/// Points that a vertex looks at: the nearest of a few is near enough on skin that it lies on.
const LOOKED_AT: usize = 3;
/// Points of the skin that a vertex was near less often are left out: the sum over frames of how near it was.
const LEAST_SCORE: f32 = 0.05;
/// One in so many of the frames that are looked at is used for the shape of limbs.
const POSES_EVERY: usize = 4;

/// Looks at `frames` of the takes, evenly thinned; `None` where the garment is never near the body.
pub(crate) fn shield<S: TakeSource + ?Sized>(
    body: &Body,
    attachment: &Attachment,
    triangles: &[[u32; 3]],
    source: &S,
    frames: usize,
) -> Result<Option<Shield>, Error> {
    let mesh = &body.mesh;
    let coarse = spread(&mesh.positions);
    let seen = thinned(body, attachment, source, frames)?;
    let poses: Vec<Vec<Affine3A>> =
        seen.iter().step_by(POSES_EVERY).map(|(bones, _)| bones.clone()).collect();
    let (mut limbs, trunk) = limbs(body, &poses);
    let tubes = limbs.len() - trunk;
    let mut scores = vec![Vec::<(u32, f32)>::new(); attachment.rest.len()];
    let mut met = vec![vec![0u32; limbs.len()]; attachment.rest.len()];
    let mut outside = vec![0.0f32; attachment.rest.len()];
    let normals = vertex_normals(&attachment.rest, triangles);
    let mut tree = TriangleTree::new(&mesh.positions, &mesh.triangles);
    // Below a thigh that is within a skirt, a foot may come up into it.
    let joints = &body.skeleton.joints;
    let within: Vec<u32> = limbs[..tubes]
        .iter()
        .filter(|limb| limb.is_within(&attachment.rest))
        .map(|limb| limb.joint)
        .collect();
    let is_below = |limb: &LimbTube| {
        let mut up = std::iter::successors(Some(limb.joint as usize), |j| joints[*j].parent);
        up.any(|j| within.contains(&(j as u32)))
    };
    // They are looked at in this order: cloth between a hand and a thigh lies on the thigh.
    limbs[..tubes].sort_by_key(is_below);
    let meet_m: Vec<f32> = limbs.iter().map(|limb| MEET_M[usize::from(is_below(limb))]).collect();
    for (i, (bones, cloth)) in seen.iter().enumerate() {
        tree.refit(&body.skinned_positions(bones));
        for (v, (p, scores)) in cloth.iter().zip(&mut scores).enumerate() {
            let Some(near) = tree.closest_within(*p, NEAR_M) else { continue };
            if i == 0 {
                outside[v] = (*p - near.point).dot(normals[v]);
            }
            let corners = mesh.triangles[near.triangle as usize];
            let corner = (0..3).max_by(|a, b| near.barycentric[*a].total_cmp(&near.barycentric[*b]));
            let point = coarse[corners[corner.unwrap_or(0)] as usize];
            let score = (-near.distance_m / FADE_M).exp() + 1e-6;
            match scores.iter_mut().find(|(k, _)| *k == point) {
                Some(found) => found.1 += score,
                None => scores.push((point, score)),
            }
        }
        for (k, limb) in limbs[..tubes].iter().enumerate() {
            let bind_from_world = bones[limb.joint as usize].inverse();
            for (p, met) in cloth.iter().zip(&mut met) {
                let [along, x, y] = limb.place(bind_from_world.transform_point3(*p));
                let rho = x.hypot(y);
                let per = 1.0 / rho.max(1e-6);
                let held = along.clamp(-1.0, 1.0);
                let beside = rho - limb.radius(held, [x * per, y * per]);
                let beyond = (along - held).abs() * limb.half.length();
                met[k] += u32::from(beside < meet_m[k] && beyond < meet_m[k]);
            }
        }
    }
    let often = (OFTEN * seen.len() as f32).ceil() as u32;
    let bits = |met: &Vec<u32>| (0..limbs.len()).fold(0, |bits, k| bits | u32::from(met[k] >= often) << k);
    let mut meets: Vec<u32> = met.iter().map(bits).collect();
    // A limb that carries a vertex is the skin it lies on.
    for (v, meets) in meets.iter_mut().enumerate() {
        for (k, limb) in limbs.iter().enumerate() {
            if attachment.skin.weight(v, limb.joint) >= CARRIED {
                *meets &= !(1 << k);
            }
        }
    }
    let mut used: Vec<u32> = Vec::new();
    let mut near = Vec::with_capacity(scores.len());
    for (v, scores) in scores.iter_mut().enumerate() {
        // What a limb keeps off needs no points.
        scores.retain(|(point, score)| {
            let at = mesh.positions[*point as usize];
            let on_a_limb = body.skin.row(*point as usize).filter(|(_, w)| *w > LIMB_ALONE).any(|(j, _)| {
                let met = limbs.iter().enumerate().filter(|(k, _)| meets[v] >> k & 1 == 1);
                let mut own = met.filter(|(_, limb)| limb.joint == u32::from(j));
                own.any(|(_, limb)| limb.place(at)[0].abs() < 1.0 - LIMB_END)
            });
            *score > LEAST_SCORE && !on_a_limb
        });
        scores.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        scores.truncate(LOOKED_AT);
        let mut own = [u32::MAX; NEIGHBOURS];
        own.iter_mut().zip(scores.iter()).for_each(|(to, (point, _))| *to = *point);
        used.extend(scores.iter().map(|(point, _)| *point));
        near.push(own);
    }
    used.sort_unstable();
    used.dedup();
    if used.is_empty() {
        return Ok(None);
    }
    let skin_normals = mesh.normals();
    let at = |v: u32| used.binary_search(&v).unwrap_or(used.len()) as u32;
    let rows = used.iter().map(|&v| body.skin.row(v as usize).collect::<Vec<_>>());
    // Triangles may be wound either way: where most of the garment is outside the skin is out.
    let turn = if outside.iter().sum::<f32>() < 0.0 { -1.0 } else { 1.0 };
    let outward = normals.iter().map(|n| turn * n.normalize_or(turn * Vec3::Z)).collect();
    let shield = Shield {
        points: used.iter().map(|&v| mesh.positions[v as usize]).collect(),
        normals: used.iter().map(|&v| skin_normals[v as usize].normalize_or(Vec3::Y)).collect(),
        skin: Skin::from_rows(rows).map_err(toile_assets::Error::from)?,
        near: near.into_iter().map(|own| own.map(at)).collect(),
        trunk,
        margin_m: MARGIN_M,
        limit_m: LIMIT_M,
        meets: if limbs.is_empty() { Vec::new() } else { meets },
        outward: if limbs.is_empty() { Vec::new() } else { outward },
        limbs,
    };
    Ok(Some(shield))
}

/// Bones and cloth of the bind pose and of `frames` of all takes, evenly thinned.
fn thinned<S: TakeSource + ?Sized>(
    body: &Body,
    attachment: &Attachment,
    source: &S,
    frames: usize,
) -> Result<Vec<(Vec<Affine3A>, Vec<Vec3>)>, Error> {
    let mut seen = vec![(vec![Affine3A::IDENTITY; body.skeleton.len()], attachment.rest.clone())];
    let mut lengths = Vec::new();
    for i in 0..source.count() {
        lengths.push(source.take(i)?.len());
    }
    let stride = lengths.iter().sum::<usize>().div_ceil(frames.max(1)).max(1);
    let mut next = 0;
    for (i, length) in lengths.into_iter().enumerate() {
        if next >= length {
            next -= length;
            continue;
        }
        let take = source.take(i)?;
        while next < length {
            seen.push((take.frame_bones(next).to_vec(), take.frame(next).to_vec()));
            next += stride;
        }
        next -= length;
    }
    Ok(seen)
}

/// For every point the nearest of those that are kept, none of which is nearer to another than the spacing.
fn spread(positions: &[Vec3]) -> Vec<u32> {
    let mut kept: Vec<u32> = Vec::new();
    for (v, p) in positions.iter().enumerate() {
        if kept.iter().all(|&k| positions[k as usize].distance_squared(*p) >= SPACING_M * SPACING_M) {
            kept.push(v as u32);
        }
    }
    let nearest = |p: &Vec3| {
        let apart = |k: &u32| positions[*k as usize].distance_squared(*p);
        kept.iter().copied().min_by(|a, b| apart(a).total_cmp(&apart(b))).unwrap_or(0)
    };
    positions.iter().map(nearest).collect()
}
