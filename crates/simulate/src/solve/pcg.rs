//! Conjugate gradients with block-diagonal preconditioning.

use super::system::System;
use crate::scene::Scene;
use glam::DVec3;

/// Vectors of the iteration.
#[derive(Clone, Debug, Default)]
pub struct Vectors {
    r: Vec<DVec3>,
    z: Vec<DVec3>,
    p: Vec<DVec3>,
    ap: Vec<DVec3>,
}

impl Vectors {
    /// Room for n vertices.
    pub fn new(n: usize) -> Self {
        let zero = || vec![DVec3::ZERO; n];
        Self { r: zero(), z: zero(), p: zero(), ap: zero() }
    }
}

fn dot(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum()
}

/// Solves `A x = −g` from zero, to a relative residual in the preconditioner's norm. Returns the iterations.
pub fn solve(
    system: &mut System,
    scene: &Scene,
    g: &[DVec3],
    x: &mut [DVec3],
    tolerance: f64,
    max: usize,
    w: &mut Vectors,
) -> usize {
    x.fill(DVec3::ZERO);
    for i in 0..g.len() {
        w.r[i] = if scene.pinned[i] { DVec3::ZERO } else { -g[i] };
        w.z[i] = system.preconditioner[i] * w.r[i];
    }
    w.p.copy_from_slice(&w.z);
    let mut rz = dot(&w.r, &w.z);
    let stop = rz * tolerance * tolerance;
    if rz.is_nan() || rz <= 0.0 {
        return 0;
    }
    for k in 1..=max {
        system.multiply(scene, &w.p, &mut w.ap);
        let pap = dot(&w.p, &w.ap);
        if pap.is_nan() || pap <= 0.0 {
            return k;
        }
        let alpha = rz / pap;
        let mut next = 0.0;
        for i in 0..x.len() {
            x[i] += w.p[i] * alpha;
            w.r[i] -= w.ap[i] * alpha;
            w.z[i] = system.preconditioner[i] * w.r[i];
            next += w.r[i].dot(w.z[i]);
        }
        if next <= stop {
            return k;
        }
        let beta = next / rz;
        rz = next;
        for i in 0..x.len() {
            w.p[i] = w.z[i] + w.p[i] * beta;
        }
    }
    max
}
