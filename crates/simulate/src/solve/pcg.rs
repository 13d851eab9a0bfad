//! Preconditioned conjugate gradients.

use super::system::{NOTHING, System, single};
use crate::scene::Scene;
use glam::{DVec3, Vec3A};

/// Vectors of the iteration.
#[derive(Clone, Debug, Default)]
pub struct Vectors {
    x: Vec<Vec3A>,
    r: Vec<Vec3A>,
    z: Vec<Vec3A>,
    p: Vec<Vec3A>,
    ap: Vec<Vec3A>,
}

impl Vectors {
    /// Room for n vertices.
    pub fn new(n: usize) -> Self {
        let zero = || vec![Vec3A::ZERO; n];
        Self { x: zero(), r: zero(), z: zero(), p: zero(), ap: zero() }
    }
}

/// Vertices whose products are summed in f32 before they are added in f64.
const RUN: usize = 32;

fn dot(a: &[Vec3A], b: &[Vec3A]) -> f64 {
    let run = |(a, b): (&[Vec3A], &[Vec3A])| {
        let sum: Vec3A = a.iter().zip(b).map(|(a, b)| *a * *b).sum();
        f64::from(sum.x + sum.y + sum.z)
    };
    a.chunks(RUN).zip(b.chunks(RUN)).map(run).sum()
}

/// What f32 can resolve: asking for a smaller residual would only count iterations.
const FINEST: f64 = 1e-5;

/// Solves `A x = −g` from zero, to a relative residual in the preconditioner's norm. Returns the iterations, or
/// nothing where the matrix is not positive: then `x` is no direction to go in.
pub fn solve(
    system: &mut System,
    scene: &Scene,
    g: &[DVec3],
    x: &mut [DVec3],
    tolerance: f64,
    max: usize,
    w: &mut Vectors,
) -> Option<usize> {
    x.fill(DVec3::ZERO);
    // Scaled so that the smallest gradients are far from f32's own smallest numbers.
    let largest =
        g.iter().zip(&scene.pinned).filter(|g| !g.1).map(|g| g.0.abs().max_element()).fold(0.0, f64::max);
    if largest <= 0.0 {
        return Some(0);
    }
    let scale = 1.0 / largest;
    for i in 0..g.len() {
        w.r[i] = if scene.pinned[i] { Vec3A::ZERO } else { single(g[i] * -scale) };
    }
    system.precondition(&w.r, &mut w.z);
    w.x.fill(Vec3A::ZERO);
    w.p.copy_from_slice(&w.z);
    let mut rz = dot(&w.r, &w.z);
    let tolerance = tolerance.max(FINEST);
    let stop = rz * tolerance * tolerance;
    if rz.is_nan() || rz <= 0.0 {
        return None;
    }
    let mut steps = max;
    for k in 1..=max {
        system.multiply(scene, &w.p, &mut w.ap);
        let pap = dot(&w.p, &w.ap);
        if pap.is_nan() || pap <= 0.0 {
            // What was found before is still a descent.
            if k == 1 {
                return None;
            }
            steps = k;
            break;
        }
        let alpha = (rz / pap) as f32;
        for i in 0..x.len() {
            w.x[i] += w.p[i] * alpha;
            w.r[i] -= w.ap[i] * alpha;
        }
        system.precondition(&w.r, &mut w.z);
        let next = dot(&w.r, &w.z);
        if next <= stop {
            steps = k;
            break;
        }
        let beta = (next / rz) as f32;
        rz = next;
        for i in 0..x.len() {
            let p = w.z[i] + w.p[i] * beta;
            w.p[i] = Vec3A::select(p.abs().cmpgt(Vec3A::splat(NOTHING)), p, Vec3A::ZERO);
        }
    }
    for (x, y) in x.iter_mut().zip(&w.x) {
        *x = DVec3::new(f64::from(y.x), f64::from(y.y), f64::from(y.z)) * largest;
    }
    Some(steps)
}
