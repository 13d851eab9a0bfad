//! Which points of the body each vertex of a garment has to be kept outside of.

use crate::Error;
use crate::takes::source::TakeSource;
use glam::Vec3;
use toile_assets::{Attachment, Body, NEIGHBOURS, Shield, Skin, TriangleTree};

/// Distance between points on the body, m: on a thigh the planes of neighbours meet 3 mm outside of it.
const SPACING_M: f32 = 0.035;
/// Skin farther than this from a vertex is not near it, m.
const NEAR_M: f32 = 0.15;
/// How fast nearness fades, m.
const FADE_M: f32 = 0.02;
/// Thickness of the cloth and a bit, m.
const MARGIN_M: f32 = 0.003;
/// Farther in, a vertex is better left alone, m.
const LIMIT_M: f32 = 0.08;

/// Looks at `frames` of the takes, evenly thinned; `None` where the garment is never near the body.
pub(crate) fn shield<S: TakeSource + ?Sized>(
    body: &Body,
    attachment: &Attachment,
    source: &S,
    frames: usize,
) -> Result<Option<Shield>, Error> {
    let mesh = &body.mesh;
    let coarse = spread(&mesh.positions);
    let mut scores = vec![Vec::<(u32, f32)>::new(); attachment.rest.len()];
    let mut tree = TriangleTree::new(&mesh.positions, &mesh.triangles);
    let mut look = |skin: &[Vec3], cloth: &[Vec3], weight: f32| {
        tree.refit(skin);
        for (p, scores) in cloth.iter().zip(&mut scores) {
            let Some(near) = tree.closest_within(*p, NEAR_M) else { continue };
            let corners = mesh.triangles[near.triangle as usize];
            let corner = (0..3).max_by(|a, b| near.barycentric[*a].total_cmp(&near.barycentric[*b]));
            let point = coarse[corners[corner.unwrap_or(0)] as usize];
            let score = weight * (-near.distance_m / FADE_M).exp() + 1e-6;
            match scores.iter_mut().find(|(k, _)| *k == point) {
                Some(found) => found.1 += score,
                None => scores.push((point, score)),
            }
        }
    };
    look(&mesh.positions, &attachment.rest, 1.0);
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
            let skin = body.skinned_positions(take.frame_bones(next));
            look(&skin, take.frame(next), 1.0);
            next += stride;
        }
        next -= length;
    }
    // A vertex that was never near any skin looks where its neighbour in number does: far away, where nothing happens.
    let mut used: Vec<u32> = Vec::new();
    let mut near = Vec::with_capacity(scores.len());
    for scores in &mut scores {
        scores.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        scores.truncate(NEIGHBOURS);
        let first = scores.first().map_or(0, |s| s.0);
        let mut own = [first; NEIGHBOURS];
        own.iter_mut().zip(scores.iter()).for_each(|(to, (point, _))| *to = *point);
        used.extend(own);
        near.push(own);
    }
    used.sort_unstable();
    used.dedup();
    if used.is_empty() {
        return Ok(None);
    }
    let normals = mesh.normals();
    let at = |v: u32| used.binary_search(&v).unwrap_or(0) as u32;
    let rows = used.iter().map(|&v| body.skin.row(v as usize).collect::<Vec<_>>());
    let shield = Shield {
        points: used.iter().map(|&v| mesh.positions[v as usize]).collect(),
        normals: used.iter().map(|&v| normals[v as usize].normalize_or(Vec3::Y)).collect(),
        skin: Skin::from_rows(rows).map_err(toile_assets::Error::from)?,
        near: near.into_iter().map(|own| own.map(at)).collect(),
        margin_m: MARGIN_M,
        limit_m: LIMIT_M,
    };
    Ok(Some(shield))
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
