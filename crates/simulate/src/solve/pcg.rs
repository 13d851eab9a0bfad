//! Conjugate gradients, preconditioned by a sweep down and up the vertices (symmetric Gauss–Seidel).
//!
//! With `A = L + I + Lᵀ + R` the preconditioner is `(I + L)(I + Lᵀ)`. Both factors are moved into the matrix, and what is
//! iterated on is `(I + L)⁻¹ A (I + Lᵀ)⁻¹ p = t + (I + L)⁻¹ (p − t + R t)` with `t = (I + Lᵀ)⁻¹ p`: two triangular solves
//! touch each block as often as one product with `A` does, so the preconditioner is free (Eisenstat 1981). It takes about
//! half as many iterations as the diagonal blocks alone.

use super::system::{System, single, turned_times};
use crate::energy::bending::{Hinge, Operator};
use glam::{DVec3, Vec3A};

/// Vectors of the iteration, in the order of the system's rows.
#[derive(Clone, Debug, Default)]
pub struct Vectors {
    x: Vec<Vec3A>,
    r: Vec<Vec3A>,
    p: Vec<Vec3A>,
    t: Vec<Vec3A>,
    y: Vec<Vec3A>,
}

impl Vectors {
    /// Room for n vertices.
    pub fn new(n: usize) -> Self {
        let zero = || vec![Vec3A::ZERO; n];
        Self { x: zero(), r: zero(), p: zero(), t: zero(), y: zero() }
    }
}

/// Vertices whose products are summed in f32 before they are added in f64.
pub(super) const RUN: usize = 32;

/// What f32 can resolve: asking for a smaller residual would only count iterations.
const FINEST: f64 = 1e-5;

/// Solves `A x = −g` from zero, to a relative residual in the preconditioner's norm. Returns the iterations, or
/// nothing where the matrix is not positive: then `x` is no direction to go in.
pub fn solve(
    system: &mut System,
    hinges: &[Hinge],
    bending: &Operator,
    g: &[DVec3],
    x: &mut [DVec3],
    tolerance: f64,
    max: usize,
    w: &mut Vectors,
) -> Option<usize> {
    x.fill(DVec3::ZERO);
    // Scaled so that the smallest gradients are far from f32's own smallest numbers.
    let largest = system.largest(g);
    if largest <= 0.0 {
        return Some(0);
    }
    for (r, &v) in w.r.iter_mut().zip(&system.order) {
        *r = system.diagonal[v as usize] * single(g[v as usize] * (-1.0 / largest));
    }
    system.forward(&mut w.r);
    w.x.fill(Vec3A::ZERO);
    w.p.copy_from_slice(&w.r);
    let mut rr = square(&w.r);
    let tolerance = tolerance.max(FINEST);
    let stop = rr * tolerance * tolerance;
    if rr.is_nan() || rr <= 0.0 {
        return None;
    }
    let mut steps = max;
    for k in 1..=max {
        w.t.copy_from_slice(&w.p);
        system.backward(&mut w.t);
        system.remainder(hinges, bending, &w.t, &mut w.y);
        let pap = system.forward_from(&w.p, &w.t, &mut w.y);
        if pap.is_nan() || pap <= 0.0 {
            // What was found before is still a descent.
            if k == 1 {
                return None;
            }
            steps = k;
            break;
        }
        let next = advance(w, (rr / pap) as f32);
        if next <= stop {
            steps = k;
            break;
        }
        let beta = (next / rr) as f32;
        rr = next;
        for (p, r) in w.p.iter_mut().zip(&w.r) {
            *p = *r + *p * beta;
        }
    }
    for (y, &v) in w.x.iter().zip(&system.order) {
        let y = turned_times(&system.diagonal[v as usize], *y);
        x[v as usize] = DVec3::new(f64::from(y.x), f64::from(y.y), f64::from(y.z)) * largest;
    }
    Some(steps)
}

/// Goes on by `alpha`; the square of the residual after it.
fn advance(w: &mut Vectors, alpha: f32) -> f64 {
    let mut sum = 0.0;
    let runs = w.x.chunks_mut(RUN).zip(w.r.chunks_mut(RUN)).zip(w.t.chunks(RUN)).zip(w.y.chunks(RUN));
    for (((x, r), t), y) in runs {
        let mut run = Vec3A::ZERO;
        for (((x, r), t), y) in x.iter_mut().zip(r).zip(t).zip(y) {
            *x += *t * alpha;
            *r -= (*t + *y) * alpha;
            run += *r * *r;
        }
        sum += f64::from(run.x + run.y + run.z);
    }
    sum
}

fn square(a: &[Vec3A]) -> f64 {
    let run = |a: &[Vec3A]| {
        let sum: Vec3A = a.iter().map(|a| *a * *a).sum();
        f64::from(sum.x + sum.y + sum.z)
    };
    a.chunks(RUN).map(run).sum()
}
