//! Takes the worst strain out of a placed garment before it is simulated.
//!
//! Vertices slide on the shell they were laid on: pulled along their edges towards the flat
//! lengths (position-based, Müller et al. 2007), then brought back to the level where they were.
//! Nothing can buckle or leave its side of the body that way.

use super::sew::Cut;
use super::shell::Shell;
use glam::DVec3;
use std::collections::BTreeMap;

/// How much of an edge's error one round takes back: under one, because edges disagree.
const STIFFNESS: f64 = 0.3;

/// Slides the vertices for which `free` holds, each at its own level of the shell.
pub fn slide(cut: &Cut, positions: &mut [DVec3], shell: &Shell, free: &[bool], rounds: usize) {
    let levels: Vec<f64> = positions.iter().map(|p| shell.level(*p).max(0.0)).collect();
    pull(cut, positions, free, rounds, |v, p| shell.bring(p, levels[v]));
}

/// Draws a line of vertices to its flat lengths, from its middle to both ends.
pub fn draw_in(positions: &mut [DVec3], line: &[u32], flat: &[f64]) {
    let old: Vec<DVec3> = line.iter().map(|&v| positions[v as usize]).collect();
    let middle = line.len() / 2;
    for k in middle..flat.len() {
        let along = (old[k + 1] - old[k]).normalize_or_zero();
        positions[line[k + 1] as usize] = positions[line[k] as usize] + along * flat[k];
    }
    for k in (0..middle).rev() {
        let along = (old[k] - old[k + 1]).normalize_or_zero();
        positions[line[k] as usize] = positions[line[k + 1] as usize] + along * flat[k];
    }
}

/// Pulls free vertices along their edges; after each round `bring` puts every one where it may be.
pub fn pull(
    cut: &Cut,
    positions: &mut [DVec3],
    free: &[bool],
    rounds: usize,
    bring: impl Fn(usize, DVec3) -> DVec3,
) {
    let mut lengths: BTreeMap<(u32, u32), (f64, f64)> = BTreeMap::new();
    for (tri, flat) in cut.triangles().iter().zip(cut.rest()) {
        for k in 0..3 {
            let (a, b) = (tri[k], tri[(k + 1) % 3]);
            let entry = lengths.entry((a.min(b), a.max(b))).or_default();
            entry.0 += flat[k].distance(flat[(k + 1) % 3]);
            entry.1 += 1.0;
        }
    }
    let edges: Vec<(usize, usize, f64)> = lengths
        .into_iter()
        .map(|((a, b), (sum, n))| (a as usize, b as usize, sum / n))
        .filter(|&(a, b, _)| free[a] || free[b])
        .collect();
    for _ in 0..rounds {
        for &(a, b, rest) in &edges {
            let along = positions[b] - positions[a];
            let length = along.length().max(1e-9);
            let pull = along * (STIFFNESS * (length - rest) / length);
            match (free[a], free[b]) {
                (true, true) => {
                    positions[a] += pull * 0.5;
                    positions[b] -= pull * 0.5;
                }
                (true, false) => positions[a] += pull,
                (false, true) => positions[b] -= pull,
                (false, false) => {}
            }
        }
        for v in (0..positions.len()).filter(|&v| free[v]) {
            positions[v] = bring(v, positions[v]);
        }
    }
}
