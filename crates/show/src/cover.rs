//! Which parts of a body its clothes may never be drawn over.

use crate::smooth_normals;
use glam::{Quat, Vec3};
use toile_assets::TriangleTree;

/// Cloth farther from the skin than this does not cover it: the reach of a wide skirt.
const REACH_M: f32 = 0.6;
/// Looking begins so far below the skin, because cloth that has sunk in covers as well.
const SUNK_M: f32 = 0.02;

/// How far each vertex of a body is to lead in the depth test (see [`Item::leading`]) so that garments with a depth slack
/// of `slack_m` are drawn over what they cover and over nothing else: 0 under a garment, `slack_m` on hands, head
/// and whatever else may be in front of it, in between along necklines and hems.
///
/// A vertex is covered if most rays that leave it outwards meet the inner side of a garment. A hand beside a skirt meets
/// the outer side, and is not.
///
/// [`Item::leading`]: crate::Item::leading
pub fn uncovered_m(
    body: &[Vec3],
    body_triangles: &[[u32; 3]],
    garments: &[(&[Vec3], &[[u32; 3]])],
    slack_m: f32,
) -> Vec<f32> {
    let normals = smooth_normals(body, body_triangles);
    let skin = TriangleTree::new(body, body_triangles);
    let trees: Vec<TriangleTree> = garments.iter().map(|(p, t)| TriangleTree::new(p, t)).collect();
    let mut uncovered: Vec<f32> = body
        .iter()
        .zip(&normals)
        .map(|(&p, &n)| {
            if n == Vec3::ZERO {
                return 1.0;
            }
            // Through a hand one must not come out on the other side and find oneself under the skirt.
            let thick_m = skin.first_hit(p - 1e-3 * n, -n).map_or(0.0, |hit| hit.distance_m);
            let from = p - SUNK_M.min(0.3 * thick_m) * n;
            let meets = |direction: Vec3| {
                let inner = |t: &TriangleTree| {
                    t.first_hit(from, direction)
                        .is_some_and(|hit| !hit.from_front && hit.distance_m < REACH_M)
                };
                trees.iter().any(inner)
            };
            let side = n.any_orthonormal_vector();
            let tilted = |quarters: f32| {
                Quat::from_axis_angle(n, quarters * std::f32::consts::FRAC_PI_2)
                    * (n + 0.7 * side).normalize()
            };
            let rays = [n, tilted(0.0), tilted(1.0), tilted(2.0), tilted(3.0)];
            let met = rays.iter().filter(|d| meets(**d)).count();
            if met >= 3 { 0.0 } else { 1.0 }
        })
        .collect();
    for _ in 0..2 {
        uncovered = averaged(&uncovered, body_triangles);
    }
    uncovered.iter().map(|u| u * slack_m).collect()
}

/// Each vertex with its neighbours.
fn averaged(values: &[f32], triangles: &[[u32; 3]]) -> Vec<f32> {
    let mut sums: Vec<(f32, f32)> = values.iter().map(|v| (*v, 1.0)).collect();
    for t in triangles {
        for k in 0..3 {
            let (own, next) = (t[k] as usize, t[(k + 1) % 3] as usize);
            sums[own] = (sums[own].0 + values[next], sums[own].1 + 1.0);
        }
    }
    sums.into_iter().map(|(sum, count)| sum / count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_assets::builtin;

    #[test]
    fn a_dress_covers_the_trunk_and_not_hands_head_or_feet() {
        let body = builtin::body("mannequin:female").unwrap();
        let dress = builtin::garment("dress", &body).unwrap();
        let leads = uncovered_m(
            &body.mesh.positions,
            &body.mesh.triangles,
            &[(&dress.sim.positions, &dress.sim.triangles)],
            0.04,
        );
        let (_, hi) = body.mesh.bounds();
        let mut trunk = 0;
        for (p, lead) in body.mesh.positions.iter().zip(&leads) {
            let trunk_here = p.x.abs() < 0.10 && (0.55..0.78).contains(&(p.y / hi.y));
            trunk += usize::from(trunk_here);
            if trunk_here {
                assert!(*lead < 0.005, "trunk at {p} leads by {lead}");
            }
            // Head, feet, and arms from the elbow on.
            if p.y > 0.9 * hi.y || p.y < 0.2 * hi.y || p.x.abs() > 0.40 {
                assert!(*lead > 0.039, "{p} leads by {lead}");
            }
        }
        assert!(trunk > 100, "{trunk}");
    }
}
