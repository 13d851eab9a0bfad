//! Whether the surfaces of body and garment are their own mirror images, where the garment hangs.

use super::flip;
use super::joints::Pairs;
use glam::Vec3;
use toile_assets::{AttachmentSettings, Body, Mesh, Take, TriangleTree, attach};

/// How far mirrored points of the body may be from its surface, m: on average, and 95 of 100. Cloth on the mirrored body
/// is then as far inside this one.
const BODY_TOLERANCE_M: [f32; 2] = [0.004, 0.012];
/// How much of the weights may differ from side to side, on average.
const WEIGHT_TOLERANCE: f32 = 0.10;
/// How far mirrored points of the draped garment may be from it, as shares of its size: on average, and 99 of 100. No
/// drape is quite even.
const GARMENT_TOLERANCE: [f32; 2] = [0.010, 0.05];
/// A joint with less than this share of a garment's weights does not carry it.
const LEAST_SHARE: f32 = 0.003;
/// Vertices of the body that are looked at, evenly thinned.
const LOOKS: usize = 1500;

/// Which joints the draped garment hangs on.
pub(super) fn hung_on(body: &Body, take: &Take) -> Result<Vec<bool>, String> {
    let garment = Mesh { positions: take.draped.clone(), triangles: take.triangles.clone(), uvs: Vec::new() };
    let attachment = attach(body, &garment, &AttachmentSettings::default())
        .map_err(|e| format!("the garment cannot be skinned: {e}"))?;
    let mut carried = vec![0.0f32; body.skeleton.len()];
    for v in 0..take.vertices {
        attachment.skin.row(v).for_each(|(j, w)| carried[j as usize] += w);
    }
    let least = LEAST_SHARE * take.vertices as f32;
    Ok(carried.into_iter().map(|w| w > least).collect())
}

/// Whether the body's surface and weights are the same on both sides, on the joints that are `worn`.
pub(super) fn check_body(body: &Body, worn: &[bool], pairs: &Pairs) -> Result<(), String> {
    let tree = TriangleTree::new(&body.mesh.positions, &body.mesh.triangles);
    let carries = |v: usize| body.skin.row(v).any(|(j, w)| worn[j as usize] && w > 0.25);
    let near: Vec<usize> = (0..body.mesh.positions.len()).filter(|&v| carries(v)).collect();
    let mut away: Vec<(f32, usize)> = Vec::new();
    let mut unlike = 0.0f32;
    for &v in near.iter().step_by(near.len().div_ceil(LOOKS).max(1)) {
        let found = tree
            .closest(flip(body.mesh.positions[v], pairs.plane_x))
            .ok_or("the body has no surface to compare")?;
        away.push((found.distance_m, v));
        let mut weights = vec![0.0f32; worn.len()];
        for (corner, share) in body.mesh.triangles[found.triangle as usize].iter().zip(found.barycentric) {
            // Joints that only follow their parents count as them.
            let other = |j: usize| pairs.partner[pairs.partner[j]];
            body.skin.row(*corner as usize).for_each(|(j, w)| weights[other(j as usize)] += share * w);
        }
        body.skin.row(v).for_each(|(j, w)| weights[pairs.partner[j as usize]] -= w);
        unlike += 0.5 * weights.iter().map(|w| w.abs()).sum::<f32>();
    }
    let (mean, most, vertex) = spread(&mut away, 0.95);
    if !(mean <= BODY_TOLERANCE_M[0] && most <= BODY_TOLERANCE_M[1]) {
        return Err(format!(
            "the body is not its own mirror image ({:.1} mm apart on average, {:.1} mm at vertex {vertex})",
            1e3 * mean,
            1e3 * most
        ));
    }
    let unlike = unlike / away.len().max(1) as f32;
    if unlike > WEIGHT_TOLERANCE {
        return Err(format!("{:.0} % of the body's weights differ from side to side", 100.0 * unlike));
    }
    Ok(())
}

/// For each garment vertex the point of the draped surface that lies across from it: three vertices and their weights.
pub(super) fn garment_across(take: &Take, plane_x: f32) -> Result<Vec<([u32; 3], [f32; 3])>, String> {
    let tree = TriangleTree::new(&take.draped, &take.triangles);
    let mut away: Vec<(f32, usize)> = Vec::with_capacity(take.vertices);
    let mut across = Vec::with_capacity(take.vertices);
    for (v, p) in take.draped.iter().enumerate() {
        let found = tree.closest(flip(*p, plane_x)).ok_or("the garment has no triangles")?;
        away.push((found.distance_m, v));
        across.push((take.triangles[found.triangle as usize], found.barycentric));
    }
    let bounds =
        take.draped.iter().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(lo, hi), p| (lo.min(*p), hi.max(*p)));
    let size = (bounds.1 - bounds.0).length();
    let (mean, most, vertex) = spread(&mut away, 0.99);
    if !(mean <= GARMENT_TOLERANCE[0] * size && most <= GARMENT_TOLERANCE[1] * size) {
        return Err(format!(
            "the garment is not its own mirror image ({:.2} cm apart on average, {:.1} cm at vertex {vertex})",
            100.0 * mean,
            100.0 * most
        ));
    }
    Ok(across)
}

/// The mean of distances, and the one that a share of them is under, with its vertex.
fn spread(away: &mut [(f32, usize)], share: f32) -> (f32, f32, usize) {
    away.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mean = away.iter().map(|a| a.0).sum::<f32>() / away.len().max(1) as f32;
    let at = (share * away.len() as f32).ceil() as usize;
    away.get(at.max(1) - 1).map_or((0.0, 0.0, 0), |&(most, vertex)| (mean, most, vertex))
}

#[cfg(test)]
mod tests {
    use super::super::Mirror;
    use super::*;
    use std::path::PathBuf;
    use toile_assets::read::garment::{RestChoice, read_garment_for};
    use toile_assets::read::gltf::read_body;

    /// A take that has only the draped garment.
    fn worn(draped: Vec<Vec3>, triangles: Vec<[u32; 3]>, joints: usize) -> Take {
        Take {
            clip: "none".into(),
            fps: 30.0,
            vertices: draped.len(),
            draped,
            triangles,
            positions: vec![],
            bones: vec![],
            joints,
            roots: vec![],
            reports: vec![],
            stop_frame: None,
            verdict: None,
            provenance: None,
            notes: vec![],
        }
    }

    /// Characters and garments as they are found in the world. Runs where `TOILE_DATA` names the folder with the data.
    #[test]
    fn characters_of_the_world_are_mirrored() {
        let Some(data) = std::env::var_os("TOILE_DATA").map(PathBuf::from) else {
            eprintln!("skipped: TOILE_DATA names no folder");
            return;
        };
        let female = read_body(data.join("character/mh_female.glb"), None).unwrap().value;
        for garment in
            ["dress_2k", "dress_8k", "tshirt_4k", "longdress_8k", "circle_skirt_6k", "pants_4k", "cape_4k"]
        {
            let file = data.join(format!("garments/garmentcode/{garment}.obj"));
            let garment = read_garment_for(&file, RestChoice::Auto, None, Some(&female)).unwrap().value;
            let take = worn(garment.sim.positions, garment.sim.triangles, female.skeleton.len());
            let mirror = Mirror::find(&female, &take).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
            assert!(mirror.plane_x.abs() < 0.01);
        }
        for character in ["character/mh_male.glb", "extras/mesh2motion_human_male.glb"] {
            let body = read_body(data.join(character), None).unwrap().value;
            let shirt = toile_assets::builtin::garment("shirt", &body).unwrap();
            let take = worn(shirt.sim.positions, shirt.sim.triangles, body.skeleton.len());
            Mirror::find(&body, &take).unwrap_or_else(|e| panic!("{character}: {e}"));
        }
        // A coat that is buttoned on one side is not.
        let male = read_body(data.join("character/mh_male.glb"), None).unwrap().value;
        let file = data.join("garments/makehuman/male_worksuit01__mh_male.obj");
        let suit = read_garment_for(&file, RestChoice::Auto, None, Some(&male)).unwrap().value;
        let mut lopsided = worn(suit.sim.positions, suit.sim.triangles, male.skeleton.len());
        lopsided.draped.iter_mut().filter(|p| p.x > 0.0).for_each(|p| p.x *= 1.5);
        assert!(Mirror::find(&male, &lopsided).is_err_and(|e| e.contains("mirror image")));
    }
}
