//! Which points of the body each vertex of a garment has to be kept outside of.

use super::between::between;
use super::limbs::limbs;
use crate::Error;
use crate::takes::source::TakeSource;
use glam::{Affine3A, Mat3, Vec3};
use toile_assets::{
    Attachment, Body, CARRIED, LimbTube, MAX_LIMBS, NEIGHBOURS, Shield, Skin, TriangleTree, vertex_normals,
};
use toile_model::Section;

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
/// And of those that are nearest most often the ones that were so for less than this share of all of a vertex.
const LEAST_SHARE: f32 = 0.01;
/// Besides them it looks at points this far from all others, m, however seldom it was near: the seat of a skirt slides along the skin in a
/// crouch, and farther than 6 cm from every point that a vertex knows nothing but the trunk's tubes keeps it off.
const SLIDES_M: f32 = 0.05;
/// Bones that carry a point of the skin, at most: there are nearly half as many as vertices, and each has to be posed.
const POINT_BONES: usize = 2;
/// What would move the draped garment by more than this is not kept out of anything by it, m: a limb as a whole, and one vertex.
const NO_LIMB_M: f32 = 0.015;
const DRAPED_M: f32 = 0.003;
/// Nor is a vertex kept out of a limb that would move it by more than this in one in so many frames of takes in which it is near,
/// m: sections are no ellipses at a bent knee.
const TAKES_M: f32 = 0.02;
const TAKES_SHARE: f32 = 0.02;
/// The share of its neighbours that decides.
const MOST_BESIDE: f32 = 0.75;
/// A vertex lies on no point of the skin that is farther away, m.
const LIES_ON_M: f32 = 0.06;
/// What was draped farther than this from a limb that carries it does not lie on it, m.
const WORN_M: f32 = 0.02;
/// A limb moves less over this share of half of it from its ends.
const FADES: f32 = 0.12;
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
    let seen = thinned(body, attachment, source, frames)?;
    let poses: Vec<Vec<Affine3A>> =
        seen.iter().step_by(POSES_EVERY).map(|(bones, _)| bones.clone()).collect();
    let (mut limbs, trunk) = limbs(body, &poses);
    let mut tubes = limbs.len() - trunk;
    let normals = vertex_normals(&attachment.rest, triangles);
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
    let bridges = between(&body.skeleton, &limbs[..tubes], &attachment.rest);
    // What lies between legs comes before them: what it moves into one of them comes out again.
    let first_below = limbs[..tubes].iter().position(is_below).unwrap_or(tubes);
    for bridge in bridges.into_iter().take(MAX_LIMBS - limbs.len()) {
        limbs.insert(first_below, bridge);
        tubes += 1;
    }
    let mut trunk_tubes = limbs.split_off(tubes);
    limbs.retain(|limb| !holds_draped(limb, attachment));
    tubes = limbs.len();
    for part in &mut trunk_tubes {
        part.radius[0][0] -= cloth_within_m(part, &seen);
    }
    limbs.extend(trunk_tubes);
    let meet_m: Vec<f32> = limbs.iter().map(|limb| MEET_M[usize::from(is_below(limb))]).collect();
    let (scores, outside) = near_points(body, &seen, &normals);
    let often = (OFTEN * seen.len() as f32).ceil() as u32;
    let mut meets = vec![0u32; attachment.rest.len()];
    for (k, limb) in limbs[..tubes].iter().enumerate() {
        for (meets, met) in meets.iter_mut().zip(met(limb, meet_m[k], &seen)) {
            *meets |= u32::from(met >= often) << k;
        }
    }
    even_out(&mut meets, triangles);
    meet_both(&mut meets, &limbs[..tubes]);
    // A limb that carries a vertex which was draped on it is the skin it lies on, and none moves it out of where it was draped.
    for (k, limb) in limbs[..tubes].iter().enumerate() {
        let section = Section::new(limb, 0.0);
        for (v, meets) in meets.iter_mut().enumerate() {
            if lies_on(limb, &section, attachment, v)
                || moved_m(limb, &section, attachment.rest[v]) > DRAPED_M
            {
                *meets &= !(1 << k);
            }
        }
    }
    let mut near = looked_at(body, &limbs, &meets, scores);
    drop_contradicted(body, &attachment.rest, &mut near);
    let mut used: Vec<u32> = near.iter().flatten().copied().filter(|point| *point != u32::MAX).collect();
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
        skin: Skin::from_rows(rows).map_err(toile_assets::Error::from)?.strongest(POINT_BONES),
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

/// For every vertex of the garment the points of the skin that it was near, with how near in sum over the frames, and how far
/// outside of the skin it lies in the first of them.
fn near_points(
    body: &Body,
    seen: &[(Vec<Affine3A>, Vec<Vec3>)],
    normals: &[Vec3],
) -> (Vec<Vec<(u32, f32)>>, Vec<f32>) {
    let mesh = &body.mesh;
    let coarse = spread(&mesh.positions);
    let mut tree = TriangleTree::new(&mesh.positions, &mesh.triangles);
    let mut scores = vec![Vec::<(u32, f32)>::new(); normals.len()];
    let mut outside = vec![0.0f32; normals.len()];
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
    }
    (scores, outside)
}

/// A point of the world from where a limb is in the bind pose.
fn bind_from_world(limb: &LimbTube, bones: &[Affine3A]) -> Affine3A {
    let own = bones[limb.joint as usize];
    let Some(other) = limb.other else { return own.inverse() };
    // Between two limbs, by halves, and what that shortens made whole.
    let sum = |f: fn(&Affine3A) -> Vec3| f(&own) + f(&bones[other as usize]);
    let x = sum(|m| m.matrix3.x_axis.into()).normalize_or(Vec3::X);
    let y =
        sum(|m| m.matrix3.y_axis.into()).reject_from_normalized(x).normalize_or(x.any_orthonormal_vector());
    let at = 0.5 * sum(|m| m.translation.into());
    Affine3A::from_mat3_translation(Mat3::from_cols(x, y, x.cross(y)), at).inverse()
}

/// How far a limb would move a point of the bind pose, m.
fn moved_m(limb: &LimbTube, section: &Section, p: Vec3) -> f32 {
    let along = limb.place(p)[0].abs();
    section.depth_m(limb, p).max(0.0) * ((1.0 - along) / FADES).clamp(0.0, 1.0)
}

/// Whether a vertex lies on a limb as its sleeve does.
fn carries(limb: &LimbTube, attachment: &Attachment, v: usize) -> bool {
    limb.other.is_none() && attachment.skin.weight(v, limb.joint) >= CARRIED
}

/// Whether it is carried and was draped on the limb, too: a skirt's hem is carried by a thigh that it hangs beside, and may come to be in
/// that one as in the other.
fn lies_on(limb: &LimbTube, section: &Section, attachment: &Attachment, v: usize) -> bool {
    carries(limb, attachment, v) && section.depth_m(limb, attachment.rest[v]) > -WORN_M
}

/// Whether the draped garment lies in what is fitted as a limb: a collarbone within the chest is none.
fn holds_draped(limb: &LimbTube, attachment: &Attachment) -> bool {
    let section = Section::new(limb, 0.0);
    (0..attachment.rest.len())
        .any(|v| !carries(limb, attachment, v) && moved_m(limb, &section, attachment.rest[v]) > NO_LIMB_M)
}

/// In how many of the frames each vertex comes as near to a limb as cloth that it meets; none where the limb would move it
/// out of where it was draped, or was in takes.
fn met(limb: &LimbTube, meet_m: f32, seen: &[(Vec<Affine3A>, Vec<Vec3>)]) -> Vec<u32> {
    let section = Section::new(limb, 0.0);
    let mut met = vec![[0u32; 2]; seen[0].1.len()];
    for (i, (bones, cloth)) in seen.iter().enumerate() {
        let to_bind = bind_from_world(limb, bones);
        for (p, [met, within]) in cloth.iter().zip(&mut met) {
            let p = to_bind.transform_point3(*p);
            *met += u32::from(is_met(limb, p, meet_m));
            let most = if i == 0 { DRAPED_M } else { TAKES_M };
            if moved_m(limb, &section, p) > most {
                *within += if i == 0 { seen.len() as u32 } else { 1 };
            }
        }
    }
    met.into_iter()
        .map(|[met, within]| if within as f32 > TAKES_SHARE * met as f32 { 0 } else { met })
        .collect()
}

/// How deep in a part of the trunk cloth of takes is where it is so more often than now and then, m: what the part would move a
/// vertex by that is right.
fn cloth_within_m(part: &LimbTube, seen: &[(Vec<Affine3A>, Vec<Vec3>)]) -> f32 {
    let section = Section::new(part, 0.0);
    let mut depths: Vec<Vec<f32>> = vec![Vec::new(); seen[0].1.len()];
    for (bones, cloth) in seen {
        let to_bind = bind_from_world(part, bones);
        for (p, depths) in cloth.iter().zip(&mut depths) {
            depths.push(moved_m(part, &section, to_bind.transform_point3(*p)));
        }
    }
    let often = |depths: &mut Vec<f32>| {
        depths.sort_by(f32::total_cmp);
        depths[((depths.len() - 1) as f32 * (1.0 - TAKES_SHARE)) as usize]
    };
    depths.iter_mut().map(often).fold(0.0, f32::max)
}

/// What meets the room between two limbs meets both: legs cross more seldom than there are frames to look at.
fn meet_both(meets: &mut [u32], limbs: &[LimbTube]) {
    for (k, bridge) in limbs.iter().enumerate() {
        let Some(other) = bridge.other else { continue };
        let is_side = |limb: &LimbTube| limb.other.is_none() && [bridge.joint, other].contains(&limb.joint);
        let sides = (0..limbs.len()).filter(|i| is_side(&limbs[*i])).fold(0, |bits, i| bits | 1 << i);
        meets.iter_mut().filter(|meets| **meets >> k & 1 == 1).for_each(|meets| *meets |= sides);
    }
}

/// A vertex whose neighbours nearly all meet a limb meets it, too: left out alone it would be a dent in what they are held out of.
fn even_out(meets: &mut [u32], triangles: &[[u32; 3]]) {
    let mut beside: Vec<Vec<usize>> = vec![Vec::new(); meets.len()];
    for t in triangles {
        for (a, b) in [(0, 1), (1, 2), (2, 0)] {
            beside[t[a] as usize].push(t[b] as usize);
            beside[t[b] as usize].push(t[a] as usize);
        }
    }
    let before = meets.to_vec();
    for (v, meets) in meets.iter_mut().enumerate() {
        for k in 0..MAX_LIMBS {
            let count = beside[v].iter().filter(|n| before[**n] >> k & 1 == 1).count();
            if count > 0 && count as f32 >= MOST_BESIDE * beside[v].len() as f32 {
                *meets |= 1 << k;
            }
        }
    }
}

/// Forgets points of the skin behind whose planes a vertex was draped: where skin is hollow, the plane of one place is far out
/// of another.
fn drop_contradicted(body: &Body, draped: &[Vec3], near: &mut [[u32; NEIGHBOURS]]) {
    let (skin, normals) = (&body.mesh.positions, body.mesh.normals());
    for (near, p) in near.iter_mut().zip(draped) {
        // Without the nearest, the next may be as wrong.
        loop {
            let apart = |k: &usize| p.distance_squared(skin[near[*k] as usize]);
            let own = (0..NEIGHBOURS).take_while(|k| near[*k] != u32::MAX);
            let lies_on = own.filter(|k| apart(k) <= LIES_ON_M * LIES_ON_M);
            let Some(k) = lies_on.min_by(|a, b| apart(a).total_cmp(&apart(b))) else { break };
            let point = near[k] as usize;
            let height = (*p - skin[point]).dot(normals[point].normalize_or(Vec3::Y));
            if MARGIN_M - height <= DRAPED_M {
                break;
            }
            near[k..].rotate_left(1);
            near[NEIGHBOURS - 1] = u32::MAX;
        }
    }
}

/// Whether a point of the bind pose is as near to a limb as cloth that it meets.
fn is_met(limb: &LimbTube, p: Vec3, meet_m: f32) -> bool {
    let [along, x, y] = limb.place(p);
    let rho = x.hypot(y);
    let per = 1.0 / rho.max(1e-6);
    let held = along.clamp(-1.0, 1.0);
    let beside = rho - limb.radius(held, [x * per, y * per]);
    let beyond = (along - held).abs() * limb.half.length();
    beside < meet_m && beyond < meet_m
}

/// The points of the skin that each vertex of the garment looks at, nearest first. What a limb keeps off needs none.
fn looked_at(
    body: &Body,
    limbs: &[LimbTube],
    meets: &[u32],
    scores: Vec<Vec<(u32, f32)>>,
) -> Vec<[u32; NEIGHBOURS]> {
    let of = |(mut scores, meets): (Vec<(u32, f32)>, &u32)| {
        let all = scores.iter().map(|(_, score)| score).sum::<f32>();
        scores.retain(|(point, score)| {
            let at = body.mesh.positions[*point as usize];
            let on_a_limb = body.skin.row(*point as usize).filter(|(_, w)| *w > LIMB_ALONE).any(|(j, _)| {
                let met = limbs.iter().enumerate().filter(|(k, _)| meets >> k & 1 == 1);
                let mut own = met.filter(|(_, limb)| limb.joint == u32::from(j));
                own.any(|(_, limb)| limb.place(at)[0].abs() < 1.0 - LIMB_END)
            });
            *score > LEAST_SCORE && !on_a_limb
        });
        scores.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut own = [u32::MAX; NEIGHBOURS];
        let at = |point: u32| body.mesh.positions[point as usize];
        let mut chosen: Vec<u32> = Vec::new();
        for (point, score) in &scores {
            let often = chosen.len() < LOOKED_AT && *score > LEAST_SHARE * all;
            let far = |k: &u32| at(*k).distance(at(*point)) >= SLIDES_M;
            if chosen.len() < NEIGHBOURS && (often || chosen.iter().all(far)) {
                chosen.push(*point);
            }
        }
        own.iter_mut().zip(chosen).for_each(|(to, point)| *to = point);
        own
    };
    scores.into_iter().zip(meets).map(of).collect()
}

/// Bones and cloth of the bind pose and of `frames` of all takes, evenly thinned.
pub(super) fn thinned<S: TakeSource + ?Sized>(
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

#[cfg(test)]
mod tests {
    use super::*;
    use toile_assets::{AttachmentSettings, attach, builtin};

    #[test]
    fn one_vertex_is_no_hole_and_who_meets_between_the_legs_meets_both() {
        // A fan about vertex 0, which alone does not meet limb 1; vertex 3 meets limb 2, which is between 0 and 1.
        let fan: Vec<[u32; 3]> = (1..7).map(|k| [0, k, k % 6 + 1]).collect();
        let mut meets = [0, 2, 2, 2 | 4, 2, 2, 2];
        even_out(&mut meets, &fan);
        assert_eq!(meets[0], 2, "and one in six beside it that meets limb 2 is not enough");
        let limb = |joint, other| LimbTube {
            joint,
            other,
            middle: Vec3::ZERO,
            half: Vec3::Y,
            across: Vec3::X,
            radius: Default::default(),
        };
        meet_both(&mut meets, &[limb(7, None), limb(9, None), limb(7, Some(9)), limb(8, None)]);
        assert_eq!(meets, [2, 2, 2, 7, 2, 2, 2]);
    }

    #[test]
    fn a_limb_holds_the_hem_that_it_carries_and_not_the_sleeve_on_it() {
        let mut radius: [[f32; toile_assets::AROUND]; toile_assets::ALONG] = Default::default();
        radius[0][0] = 0.08;
        let half = Vec3::new(0.0, -0.2, 0.0);
        let limb = LimbTube { joint: 1, other: None, middle: Vec3::ZERO, half, across: Vec3::X, radius };
        // On the skin, a hand's breadth from it, and as far but carried by another bone.
        let rest = vec![Vec3::new(0.085, 0.0, 0.0), Vec3::new(0.16, 0.0, 0.0), Vec3::new(0.085, 0.0, 0.0)];
        let skin = Skin::from_rows([1u16, 1, 0].map(|j| vec![(j, 1.0)])).unwrap();
        let (worn, section) = (Attachment { rest, skin }, Section::new(&limb, 0.0));
        assert_eq!([0, 1, 2].map(|v| lies_on(&limb, &section, &worn, v)), [true, false, false]);
    }

    #[test]
    fn a_part_of_the_trunk_is_as_much_thinner_as_cloth_of_takes_is_in_it() {
        let mut radius: [[f32; toile_assets::AROUND]; toile_assets::ALONG] = Default::default();
        radius[0][0] = 0.1;
        let half = Vec3::new(0.0, 0.3, 0.0);
        let part = LimbTube { joint: 0, other: None, middle: Vec3::ZERO, half, across: Vec3::X, radius };
        let frame = |x: f32| (vec![Affine3A::IDENTITY], vec![Vec3::new(x, 0.0, 0.0), Vec3::X]);
        // Two centimetres deep in one frame of ten, and deeper in one of a hundred, which is no rule.
        let seen: Vec<_> = (0..100).map(|f| frame([0.12, 0.08][usize::from(f % 10 == 3)])).collect();
        let mut with_one = seen.clone();
        with_one[0] = frame(0.02);
        let [by, the_same] = [seen, with_one].map(|seen| cloth_within_m(&part, &seen));
        assert!((by - 0.02).abs() < 1e-3 && (the_same - by).abs() < 1e-6, "{by} {the_same}");
    }

    #[test]
    fn nothing_is_kept_out_from_between_the_legs_of_trousers() {
        let body = builtin::body("mannequin:female").unwrap();
        let (limbs, trunk) = limbs(&body, &[vec![Affine3A::IDENTITY; body.skeleton.len()]]);
        let tubes = &limbs[..limbs.len() - trunk];
        let wrong = |garment: &str| {
            let garment = builtin::garment(garment, &body).unwrap();
            let worn = attach(&body, &garment.sim, &AttachmentSettings::default()).unwrap();
            let found = between(&body.skeleton, tubes, &worn.rest);
            found.iter().map(|limb| holds_draped(limb, &worn)).collect::<Vec<bool>>()
        };
        assert_eq!(wrong("dress"), [false]);
        assert!(wrong("pants").into_iter().all(|wrong| wrong));
    }
}
