//! Which triangles of the body nobody can see under the garment (§6.2).

use crate::Error;
use crate::takes::source::TakeSource;
use glam::Vec3;
use toile_assets::{Body, TriangleTree};

/// Directions that are looked along.
const DIRECTIONS: usize = 64;
/// Cameras look down on people, or up by no more than this: the sine of −30°.
const LOWEST: f32 = -0.5;

/// Triangles of `body` that the garment covers in every frame looked at (`frames` of them, evenly thinned over plain
/// takes): from their centre every direction on their outer side, of 64 with an elevation above −30°, meets the garment.
pub fn hidden_triangles<S: TakeSource + ?Sized>(
    body: &Body,
    source: &S,
    frames: usize,
) -> Result<Vec<u32>, Error> {
    let directions = directions();
    let mut hidden: Vec<u32> = (0..body.mesh.triangles.len() as u32).collect();
    let mut plain = Vec::new();
    let mut total = 0;
    for i in 0..source.count() {
        let take = source.take(i)?;
        if take.stop_frame.is_none() {
            plain.push(i);
            total += take.len();
        }
    }
    let stride = total.div_ceil(frames.max(1)).max(1);
    let mut tree: Option<TriangleTree> = None;
    let mut seen = 0;
    for i in plain {
        let take = source.take(i)?;
        for f in 0..take.len() {
            seen += 1;
            if (seen - 1) % stride != 0 || hidden.is_empty() {
                continue;
            }
            match &mut tree {
                Some(tree) => tree.refit(take.frame(f)),
                None => tree = Some(TriangleTree::new(take.frame(f), &take.triangles)),
            }
            let Some(tree) = &tree else { continue };
            let skin = body.skinned_positions(take.frame_bones(f));
            hidden = covered(&hidden, &skin, &body.mesh.triangles, tree, &directions);
        }
    }
    Ok(hidden)
}

/// Triangles of a surface that another covers in every one of some frames, each given as the vertices of both; seen as
/// [`hidden_triangles`] does.
pub fn hidden_under(
    triangles: &[[u32; 3]],
    cover: &[[u32; 3]],
    frames: impl IntoIterator<Item = (Vec<Vec3>, Vec<Vec3>)>,
) -> Vec<u32> {
    let directions = directions();
    let mut hidden: Vec<u32> = (0..triangles.len() as u32).collect();
    let mut looked = false;
    for (own, over) in frames {
        looked = true;
        let tree = TriangleTree::new(&over, cover);
        hidden = covered(&hidden, &own, triangles, &tree, &directions);
    }
    if looked { hidden } else { Vec::new() }
}

/// Those of `candidates` that the garment covers in this frame.
fn covered(
    candidates: &[u32],
    skin: &[Vec3],
    triangles: &[[u32; 3]],
    garment: &TriangleTree,
    directions: &[Vec3],
) -> Vec<u32> {
    let is_covered = |t: u32| {
        let [a, b, c] = triangles[t as usize].map(|v| skin[v as usize]);
        let normal = (b - a).cross(c - a).normalize_or_zero();
        let from = (a + b + c) / 3.0 + normal * 1e-4;
        directions.iter().filter(|d| d.dot(normal) > 0.0).all(|d| garment.first_hit(from, *d).is_some())
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = candidates.len().div_ceil(threads).max(1);
    let mut parts: Vec<Vec<u32>> = Vec::new();
    std::thread::scope(|scope| {
        let work: Vec<_> = candidates
            .chunks(share)
            .map(|part| scope.spawn(|| part.iter().copied().filter(|t| is_covered(*t)).collect::<Vec<u32>>()))
            .collect();
        parts = work.into_iter().map(|w| w.join().unwrap_or_default()).collect();
    });
    parts.concat()
}

/// Evenly spread over the sphere above −30° of elevation (a golden-angle spiral).
fn directions() -> Vec<Vec3> {
    let golden = std::f32::consts::PI * (3.0 - 5.0f32.sqrt());
    (0..DIRECTIONS)
        .map(|k| {
            let y = LOWEST + (1.0 - LOWEST) * (k as f32 + 0.5) / DIRECTIONS as f32;
            let r = (1.0 - y * y).max(0.0).sqrt();
            let (s, c) = (golden * k as f32).sin_cos();
            Vec3::new(r * c, y, r * s)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn under_a_bell_is_hidden_and_beside_it_is_not() {
        // A bell: a dome of radius 1 around the origin that ends 0.9 below it.
        let (rings, sides) = (12u32, 24u32);
        let mut positions = vec![Vec3::Y];
        let mut triangles = Vec::new();
        for ring in 1..=rings {
            for side in 0..sides {
                let angle = side as f32 / sides as f32 * std::f32::consts::TAU;
                let down = ring as f32 / rings as f32 * 2.7;
                positions.push(Vec3::new(
                    down.sin().max(0.4) * angle.cos(),
                    down.cos(),
                    down.sin().max(0.4) * angle.sin(),
                ));
            }
        }
        let at = |ring: u32, side: u32| if ring == 0 { 0 } else { 1 + (ring - 1) * sides + side % sides };
        for ring in 0..rings {
            for side in 0..sides {
                triangles.push([at(ring, side), at(ring + 1, side), at(ring + 1, side + 1)]);
                triangles.push([at(ring, side), at(ring + 1, side + 1), at(ring, side + 1)]);
            }
        }
        let tree = TriangleTree::new(&positions, &triangles);
        // One triangle inside facing up, one outside.
        let corner = |c: Vec3| [c, c + Vec3::Z * 0.01, c + Vec3::X * 0.01];
        let skin: Vec<Vec3> =
            corner(Vec3::new(0.0, 0.2, 0.0)).into_iter().chain(corner(Vec3::new(0.0, 1.5, 0.0))).collect();
        let found = covered(&[0, 1], &skin, &[[0, 1, 2], [3, 4, 5]], &tree, &directions());
        assert_eq!(found, [0]);
    }
}
