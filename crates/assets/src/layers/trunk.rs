//! Layer 2 on the trunk: a lattice of 36 nodes around it and 6 at the shoulders.

use super::segments::{Anatomy, Region, region};
use crate::{Attachment, Mesh, Result, Role, Skin, TriangleTree};
use glam::Vec3;
use toile_model::layers::{LATTICE, LATTICE_NODES, SHOULDER_NODES, Spring, Trunk};

/// Frequency of a node on one of its springs, Hz: cloth passes a pull on at once.
const SPRING_HZ: f32 = 20.0;
/// Half-spheres at the hem and at the shoulders, as shares of the wearer's height.
const REACH: [f32; 2] = [0.035, 0.012];
/// Less of this layer than that is none.
const LEAST_SHARE: f32 = 0.02;

/// The lattice around the vertices that have a share of it. `None` where too few have.
pub(super) fn trunk(
    anatomy: &Anatomy<'_>,
    garment: &Mesh,
    share: &[f32],
    mass_kg: f32,
) -> Result<Option<Trunk>> {
    let followers: Vec<u32> = (0..share.len() as u32).filter(|v| share[*v as usize] > LEAST_SHARE).collect();
    if followers.len() < 8 {
        return Ok(None);
    }
    let (mut lo, mut hi) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for v in &followers {
        (lo, hi) = (lo.min(garment.positions[*v as usize]), hi.max(garment.positions[*v as usize]));
    }
    let size = (hi - lo).max(Vec3::splat(0.02 * anatomy.height_m));
    let [nx, ny, nz] = LATTICE;
    let mut places = Vec::with_capacity(LATTICE_NODES + SHOULDER_NODES);
    for z in 0..nz {
        for y in 0..ny {
            for x in 0..nx {
                let share = Vec3::new(
                    x as f32 / (nx - 1) as f32,
                    y as f32 / (ny - 1) as f32,
                    z as f32 / (nz - 1) as f32,
                );
                places.push(lo + size * share);
            }
        }
    }
    let centre = 0.5 * (lo + hi);
    let outward: Vec<Vec3> = places.iter().map(|p| (*p - centre).with_y(0.0).normalize_or_zero()).collect();
    let row = |i: usize| ((i / nx) % ny) as f32 / (ny - 1) as f32;
    let reach_m =
        (0..LATTICE_NODES).map(|i| anatomy.height_m * (REACH[0] + (REACH[1] - REACH[0]) * row(i))).collect();
    places.extend(shoulders(anatomy));
    let mass = vec![mass_kg / LATTICE_NODES as f32; LATTICE_NODES];
    let springs = springs(&places, mass[0], 0.15 * anatomy.height_m);
    let rows = weights(anatomy, &places);
    let bernstein: Vec<[f32; LATTICE_NODES]> = followers
        .iter()
        .map(|v| {
            let at = ((garment.positions[*v as usize] - lo) / size).clamp(Vec3::ZERO, Vec3::ONE);
            lattice_weights(at).map(|w| w * share[*v as usize])
        })
        .collect();
    let homes = Attachment { skin: Skin::from_rows(rows)?, rest: places };
    Ok(Some(Trunk { homes, outward, reach_m, mass, springs, followers, weights: bernstein }))
}

/// Bernstein polynomials of degree 2, 3 and 2 at a point of the unit cube, node by node.
fn lattice_weights(at: Vec3) -> [f32; LATTICE_NODES] {
    let two = |t: f32| [(1.0 - t) * (1.0 - t), 2.0 * t * (1.0 - t), t * t];
    let three = |t: f32| {
        let s = 1.0 - t;
        [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t]
    };
    let (bx, by, bz) = (two(at.x), three(at.y), two(at.z));
    std::array::from_fn(|i| {
        let (x, y, z) = (i % LATTICE[0], (i / LATTICE[0]) % LATTICE[1], i / (LATTICE[0] * LATTICE[1]));
        bx[x] * by[y] * bz[z]
    })
}

/// Above, before and behind each shoulder joint, on the skin.
fn shoulders(anatomy: &Anatomy<'_>) -> [Vec3; SHOULDER_NODES] {
    let mesh = &anatomy.body.mesh;
    let tree = TriangleTree::new(&mesh.positions, &mesh.triangles);
    let away = 0.06 * anatomy.height_m;
    let joint = |role| anatomy.place(role).unwrap_or_default();
    let (left, right) = (joint(Role::LeftUpperArm), joint(Role::RightUpperArm));
    let front = (left - right).with_y(0.0).cross(Vec3::Y).normalize_or(Vec3::Z);
    let on_skin = |p: Vec3| tree.closest(p).map_or(p, |near| near.point);
    let around = |at: Vec3| [Vec3::Y, front, -front].map(|d| on_skin(at + d * away));
    let ([a, b, c], [d, e, f]) = (around(left), around(right));
    [a, b, c, d, e, f]
}

/// Along the lattice, across its faces, and from each shoulder to the nodes nearest to it.
fn springs(places: &[Vec3], mass_kg: f32, near_m: f32) -> Vec<Spring> {
    let stiffness = mass_kg * (std::f32::consts::TAU * SPRING_HZ).powi(2);
    let spring = |i: usize, j: usize, scale: f32| Spring {
        ends: [i as u32, j as u32],
        length_m: places[i].distance(places[j]),
        stiffness: scale * stiffness,
    };
    let at = |i: usize| {
        [i % LATTICE[0], (i / LATTICE[0]) % LATTICE[1], i / (LATTICE[0] * LATTICE[1])].map(|v| v as isize)
    };
    let mut springs = Vec::new();
    for i in 0..LATTICE_NODES {
        for j in i + 1..LATTICE_NODES {
            let (a, b) = (at(i), at(j));
            let steps = (0..3).map(|k| (a[k] - b[k]).abs()).collect::<Vec<_>>();
            match (steps.iter().sum::<isize>(), steps.iter().max()) {
                (1, _) => springs.push(spring(i, j, 1.0)),
                (2, Some(1)) => springs.push(spring(i, j, 0.4)),
                _ => {}
            }
        }
    }
    for s in 0..SHOULDER_NODES {
        let s = LATTICE_NODES + s;
        let mut near: Vec<usize> = (0..LATTICE_NODES).collect();
        near.sort_by(|a, b| places[*a].distance(places[s]).total_cmp(&places[*b].distance(places[s])));
        // Trousers do not hang from the shoulders.
        let reaches = places[near[0]].distance(places[s]) < near_m;
        near.iter().take(3).filter(|_| reaches).for_each(|n| springs.push(spring(*n, s, 2.0)));
    }
    springs
}

/// Weights of the nodes: of the skin of the trunk for the lattice, of all skin for the shoulders.
fn weights(anatomy: &Anatomy<'_>, places: &[Vec3]) -> Vec<Vec<(u16, f32)>> {
    let mesh = &anatomy.body.mesh;
    let of_trunk = |t: usize| region(anatomy.role_of_triangle(t)) == Region::Trunk;
    let skin: Vec<[u32; 3]> =
        (0..mesh.triangles.len()).filter(|t| of_trunk(*t)).map(|t| mesh.triangles[t]).collect();
    let (trunk, whole) =
        (TriangleTree::new(&mesh.positions, &skin), TriangleTree::new(&mesh.positions, &mesh.triangles));
    let hips = anatomy.joint(Role::Hips).unwrap_or(0) as u16;
    places
        .iter()
        .enumerate()
        .map(|(i, p)| {
            let lattice = i < LATTICE_NODES;
            let near = if lattice {
                trunk.closest(*p).map(|n| (skin[n.triangle as usize], n.barycentric))
            } else {
                whole.closest(*p).map(|n| (mesh.triangles[n.triangle as usize], n.barycentric))
            };
            let Some((corners, barycentric)) = near else { return vec![(hips, 1.0)] };
            let mut row: Vec<(u16, f32)> = Vec::new();
            for (c, b) in corners.iter().zip(barycentric) {
                for (j, w) in anatomy.body.skin.row(*c as usize) {
                    let trunk_joint = region(anatomy.role_of_joint[j as usize]) == Region::Trunk;
                    if w * b > 1e-5 && (trunk_joint || !lattice) {
                        match row.iter_mut().find(|(other, _)| *other == j) {
                            Some(entry) => entry.1 += w * b,
                            None => row.push((j, w * b)),
                        }
                    }
                }
            }
            if row.is_empty() { vec![(hips, 1.0)] } else { row }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lattice_weights_sum_to_one_and_reach_the_corners() {
        for at in [Vec3::ZERO, Vec3::ONE, Vec3::new(0.2, 0.7, 0.4)] {
            assert!((lattice_weights(at).iter().sum::<f32>() - 1.0).abs() < 1e-5);
        }
        assert_eq!(lattice_weights(Vec3::ZERO)[0], 1.0);
        assert_eq!(lattice_weights(Vec3::ONE)[LATTICE_NODES - 1], 1.0);
        // Linear precision: the nodes' own places come back.
        let at = Vec3::new(0.3, 0.55, 0.8);
        let back: Vec3 = lattice_weights(at)
            .iter()
            .enumerate()
            .map(|(i, w)| {
                Vec3::new((i % 3) as f32 / 2.0, ((i / 3) % 4) as f32 / 3.0, (i / 12) as f32 / 2.0) * *w
            })
            .sum();
        assert!(back.distance(at) < 1e-5, "{back}");
    }
}
