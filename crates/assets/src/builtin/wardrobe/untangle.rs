//! The last look before a garment leaves the stand: cloth that passes through itself or the wearer is smoothed out.
//!
//! Placing follows shells, which are smoother than bodies: at the armhole of a muscular arm, or where pieces of a
//! character stick out, panels can still cross. There, and only there, the cloth is drawn smooth between its
//! surroundings (a discrete harmonic patch, which does not fold) and pushed out along its own outer side.

use super::stand::Stand;
use crate::{Garment, Mesh, TriangleTree, crossings, self_crossings};
use glam::Vec3;
use toile_geometry::untangle::{grown, neighbours, smooth};

/// Cloth ends up no nearer to the skin, m.
const GAP: f32 = 0.006;
/// Cloth nearer than this is pushed out as if it crossed, m.
const TOUCHING: f32 = 0.003;
/// The deepest that cloth can be fetched from, m, and by which steps.
const DEEPEST: f32 = 0.15;
const MARCH: f32 = 0.004;
/// How far corners of pierced triangles are moved a round, m.
const NUDGE: f32 = 0.002;
const ROUNDS: usize = 60;
/// Rounds without fewer faults after which it is left at that.
const MOST_ROUNDS_WITHOUT_GAIN: usize = 12;

/// Smooths out what crosses, and says how many vertices still do. A garment that crosses nothing is left as it is, bit by
/// bit.
pub fn untangle(stand: &Stand, garment: &mut Garment) -> usize {
    let body = Mesh {
        positions: stand.positions.iter().map(|p| p.as_vec3()).collect(),
        triangles: stand.body.mesh.triangles.clone(),
        uvs: Vec::new(),
    };
    let tree = TriangleTree::new(&body.positions, &body.triangles);
    let neighbours = neighbours(&garment.sim);
    let (mut fewest, mut since, mut left) = (usize::MAX, 0, 0);
    for round in 0..ROUNDS {
        let Faults { mut any, through } = Faults::of(&garment.sim, &body, &tree);
        let count = any.iter().filter(|b| **b).count();
        left = count;
        since = if count < fewest { 0 } else { since + 1 };
        fewest = fewest.min(count);
        if count == 0 || since > MOST_ROUNDS_WITHOUT_GAIN {
            break;
        }
        // The longer it takes, the wider the patch that is smoothed.
        for _ in 0..1 + round / 12 {
            any = grown(&any, &neighbours);
        }
        for _ in 0..3 {
            smooth(&mut garment.sim.positions, &neighbours, &any);
        }
        push_out(&mut garment.sim, &tree, &any, &through);
    }
    for (p, v) in garment.render.positions.iter_mut().zip(&garment.sim_from_render) {
        *p = garment.sim.positions[*v as usize];
    }
    left
}

struct Faults {
    /// Vertices of what crosses, and vertices inside the wearer or touching.
    any: Vec<bool>,
    /// Of these, the ones whose triangles or edges the wearer passes through.
    through: Vec<bool>,
}

impl Faults {
    fn of(cloth: &Mesh, body: &Mesh, tree: &TriangleTree) -> Self {
        let mut through = vec![false; cloth.positions.len()];
        let corners = |t: u32| cloth.triangles[t as usize];
        let [of_cloth, of_body] = crossings(cloth, body);
        of_cloth.iter().flat_map(|c| c.edge).for_each(|v| through[v as usize] = true);
        of_body.iter().flat_map(|c| corners(c.triangle)).for_each(|v| through[v as usize] = true);
        let near = |p: Vec3| tree.closest(p).is_some_and(|c| c.distance_m < TOUCHING) || tree.is_inside(p);
        let mut any: Vec<bool> =
            cloth.positions.iter().zip(&through).map(|(p, through)| *through || near(*p)).collect();
        for c in self_crossings(cloth) {
            c.edge.iter().chain(&corners(c.triangle)).for_each(|v| any[*v as usize] = true);
        }
        Self { any, through }
    }
}

/// Moves what is inside out along the cloth's outer side, what is too near away from the skin, and corners of
/// triangles that the skin passes through a little outwards.
fn push_out(cloth: &mut Mesh, tree: &TriangleTree, marked: &[bool], through: &[bool]) {
    let normals = cloth.normals();
    for v in (0..marked.len()).filter(|&v| marked[v]) {
        let p = cloth.positions[v];
        if tree.is_inside(p) {
            let steps = (DEEPEST / MARCH) as usize;
            let out = (1..=steps).map(|k| p + normals[v] * (MARCH * k as f32)).find(|q| !tree.is_inside(*q));
            cloth.positions[v] = out.map_or(p, |q| q + normals[v] * GAP);
        } else if let Some(near) = tree.closest(p).filter(|c| c.distance_m < GAP) {
            let away = (p - near.point).try_normalize().unwrap_or(normals[v]);
            cloth.positions[v] = near.point + away * GAP;
        } else if through[v] {
            cloth.positions[v] = p + normals[v] * NUDGE;
        }
    }
}
