//! Cloth that passes through itself in small places, drawn smooth there.

use crate::{Mesh, self_crossings};
use glam::Vec3;

/// The vertices beside each vertex, along edges.
pub fn neighbours(mesh: &Mesh) -> Vec<Vec<u32>> {
    let mut lists = vec![Vec::new(); mesh.positions.len()];
    for e in mesh.topology().edges {
        let [a, b] = e.ends;
        lists[a as usize].push(b);
        lists[b as usize].push(a);
    }
    lists
}

/// What is marked, and everything beside it.
pub fn grown(marked: &[bool], neighbours: &[Vec<u32>]) -> Vec<bool> {
    (0..marked.len()).map(|v| marked[v] || neighbours[v].iter().any(|&n| marked[n as usize])).collect()
}

/// Brings what is marked half the way to the middle of what is beside it: again and again, that is a discrete harmonic
/// patch between its surroundings, which does not fold.
pub fn smooth(positions: &mut Vec<Vec3>, neighbours: &[Vec<u32>], marked: &[bool]) {
    let mean = |v: usize| {
        neighbours[v].iter().map(|&n| positions[n as usize]).sum::<Vec3>() / neighbours[v].len().max(1) as f32
    };
    *positions = (0..positions.len())
        .map(|v| if marked[v] { positions[v].lerp(mean(v), 0.5) } else { positions[v] })
        .collect();
}

/// Rounds after which what still crosses is left as it is.
const ROUNDS: usize = 60;
/// The more rounds it takes, the wider the patch: by a ring of neighbours every so many.
const ROUNDS_A_RING: usize = 8;
/// Smoothing steps a round.
const STEPS: usize = 3;

/// Smooths a mesh where it passes through itself until it does so nowhere, moving nothing else. Vertices that are `held` stay.
/// Returns how many pairs of edge and triangle crossed before and cross now; with none before, nothing has moved.
pub fn untangle_itself(mesh: &mut Mesh, held: &[bool]) -> [usize; 2] {
    let mut crossings = self_crossings(mesh);
    let before = crossings.len();
    if before == 0 {
        return [0, 0];
    }
    let neighbours = neighbours(mesh);
    let (mut best, mut fewest) = (mesh.positions.clone(), before);
    for round in 0..ROUNDS {
        let mut marked = vec![false; mesh.positions.len()];
        for c in &crossings {
            let corners = mesh.triangles[c.triangle as usize];
            c.edge.iter().chain(&corners).for_each(|v| marked[*v as usize] = true);
        }
        for _ in 0..1 + round / ROUNDS_A_RING {
            marked = grown(&marked, &neighbours);
        }
        marked.iter_mut().zip(held).for_each(|(m, held)| *m &= !held);
        for _ in 0..STEPS {
            smooth(&mut mesh.positions, &neighbours, &marked);
        }
        crossings = self_crossings(mesh);
        if crossings.len() < fewest {
            (best, fewest) = (mesh.positions.clone(), crossings.len());
        }
        if fewest == 0 {
            break;
        }
    }
    mesh.positions = best;
    [before, fewest]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sheet of 12 × 12 cells of 1 cm.
    fn sheet() -> Mesh {
        let n = 13u32;
        let positions = (0..n * n).map(|i| Vec3::new((i % n) as f32, 0.0, (i / n) as f32) * 0.01).collect();
        let cell = |i: u32| [[i, i + n, i + 1], [i + 1, i + n, i + n + 1]];
        let cells = (0..n * (n - 1)).filter(|i| i % n < n - 1);
        Mesh { positions, triangles: cells.flat_map(cell).collect(), uvs: Vec::new() }
    }

    #[test]
    fn a_sheet_that_crosses_nowhere_keeps_every_bit() {
        let mut flat = sheet();
        let held = vec![false; flat.positions.len()];
        assert_eq!(untangle_itself(&mut flat, &held), [0, 0]);
        assert_eq!(flat.positions, sheet().positions);
    }

    #[test]
    fn a_pinch_pulled_through_its_neighbourhood_is_drawn_out_and_the_rest_stays() {
        let mut pulled = sheet();
        // A vertex lifted, brought over its neighbours and down through the sheet beside them.
        let at = 6 * 13 + 6;
        pulled.positions[at] += Vec3::new(0.034, -0.006, 0.003);
        pulled.positions[at + 1] += Vec3::new(0.0, 0.01, 0.0);
        let before = pulled.clone();
        let [crossed, left] = untangle_itself(&mut pulled, &[false; 169]);
        assert!(crossed > 0 && left == 0, "{crossed} and {left}");
        let moved = pulled.positions.iter().zip(&before.positions).filter(|(a, b)| a != b).count();
        assert!(moved < 100 && pulled.positions[0] == before.positions[0], "{moved}");
    }

    #[test]
    fn what_is_held_stays_even_where_it_crosses() {
        let mut pulled = sheet();
        let at = 6 * 13 + 6;
        pulled.positions[at] += Vec3::new(0.034, -0.006, 0.003);
        pulled.positions[at + 1] += Vec3::new(0.0, 0.01, 0.0);
        let before = pulled.positions.clone();
        untangle_itself(&mut pulled, &[true; 169]);
        assert_eq!(pulled.positions, before);
    }
}
