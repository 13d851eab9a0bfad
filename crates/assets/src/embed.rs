//! Puts a dense mesh onto a coarse garment, as both were cut.

use crate::{Error, Mesh, Result, TriangleTree};
use glam::Vec3;
use std::collections::HashMap;
use toile_geometry::vertex_normals;
use toile_model::embedding::{Embedding, Link, Patch};

/// A dense vertex farther from the garment is not part of it, m.
const FAR_M: f32 = 0.12;
/// Share of dense vertices that may be farther than [`ASIDE_M`].
const MOST_ASIDE: f64 = 0.02;
const ASIDE_M: f32 = 0.05;
/// Dense vertices nearer to each other are one, m: seams of a file's render mesh stay closed.
const SAME_M: f32 = 1e-5;
/// Iterations of the search for the place whose normal leads to a vertex.
const ROUNDS: usize = 12;

/// Finds where each vertex of `fine` lies on `coarse`. A mesh that does not lie on it is refused with the place that is
/// farthest off.
pub fn embed(coarse: &Mesh, fine: &Mesh) -> Result<Embedding> {
    if coarse.triangles.is_empty() || fine.positions.is_empty() {
        return Err(Error::Invalid(
            "a mesh without triangles carries nothing, and one without vertices is none".into(),
        ));
    }
    let tree = TriangleTree::new(&coarse.positions, &coarse.triangles);
    let normals = vertex_normals(&coarse.positions, &coarse.triangles);
    let patches: Vec<Patch> = coarse
        .triangles
        .iter()
        .map(|t| Patch::new(t.map(|v| coarse.positions[v as usize]), t.map(|v| normals[v as usize])))
        .collect();
    let beside = neighbours(coarse);
    let mut known: HashMap<[i64; 3], Link> = HashMap::new();
    let mut links = Vec::with_capacity(fine.positions.len());
    let (mut aside, mut farthest) = (0usize, (0usize, 0.0f32));
    for (v, p) in fine.positions.iter().enumerate() {
        let near = tree.closest(*p).filter(|_| p.is_finite());
        let Some(near) = near else {
            return Err(Error::Invalid(format!("vertex {v} of the dense mesh is not finite")));
        };
        aside += usize::from(near.distance_m > ASIDE_M);
        if near.distance_m > farthest.1 {
            farthest = (v, near.distance_m);
        }
        let key = p.to_array().map(|x| (x / SAME_M).round() as i64);
        let link = *known.entry(key).or_insert_with(|| {
            let around = std::iter::once(near.triangle).chain(beside[near.triangle as usize].iter().copied());
            let found =
                around.map(|t| settle(&patches[t as usize], t, near.barycentric, t == near.triangle, *p));
            // The one on which the vertex is straight above.
            let best = found.min_by(|a, b| a.1.total_cmp(&b.1));
            best.map_or(
                Link { triangle: near.triangle, at: near.barycentric, off: Vec3::ZERO },
                |(link, _)| link,
            )
        });
        links.push(link);
    }
    let share = aside as f64 / fine.positions.len() as f64;
    if farthest.1 > FAR_M || share > MOST_ASIDE {
        let p = fine.positions[farthest.0];
        return Err(Error::Invalid(format!(
            "the dense mesh does not lie on the garment: {:.1} % of its vertices are more than 5 cm off, vertex {} at ({:.2}, \
             {:.2}, {:.2}) is {:.0} cm off; both must be as they were cut, in one place and scale",
            100.0 * share,
            farthest.0,
            p.x,
            p.y,
            p.z,
            100.0 * farthest.1
        )));
    }
    Ok(Embedding {
        vertices: coarse.positions.len(),
        coarse: coarse.triangles.clone(),
        links,
        triangles: fine.triangles.clone(),
    })
}

/// Looks within a triangle for the place whose normal leads to `p`; how far off to the side it stays, m.
fn settle(patch: &Patch, triangle: u32, start: [f32; 3], is_nearest: bool, p: Vec3) -> (Link, f32) {
    let mut at = if is_nearest { start } else { [1.0 / 3.0; 3] };
    for _ in 0..ROUNDS {
        let off = patch.measure(at, p);
        at = within([at[0] - off.x - off.y, at[1] + off.x, at[2] + off.y]);
    }
    let off = patch.measure(at, p);
    let aside = patch.off(at, Vec3::new(off.x, off.y, 0.0)).distance(patch.point(at));
    // Far above another triangle is no better than beside the nearest.
    (Link { triangle, at, off }, aside + 0.1 * off.z.abs())
}

/// Weights of a point of the triangle.
fn within(at: [f32; 3]) -> [f32; 3] {
    let held = at.map(|w| if w.is_finite() { w.clamp(0.0, 1.0) } else { 1.0 / 3.0 });
    let sum: f32 = held.iter().sum();
    if sum > 0.0 { held.map(|w| w / sum) } else { [1.0 / 3.0; 3] }
}

/// Triangles that share a corner with each.
fn neighbours(mesh: &Mesh) -> Vec<Vec<u32>> {
    let mut at = vec![Vec::new(); mesh.positions.len()];
    for (t, corners) in mesh.triangles.iter().enumerate() {
        corners.iter().for_each(|v| at[*v as usize].push(t as u32));
    }
    let around = |(t, corners): (usize, &[u32; 3])| {
        let mut all: Vec<u32> = corners.iter().flat_map(|v| at[*v as usize].iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all.retain(|other| *other as usize != t);
        all
    };
    mesh.triangles.iter().enumerate().map(around).collect()
}
