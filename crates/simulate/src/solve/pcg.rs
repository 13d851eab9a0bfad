//! Conjugate gradients, preconditioned by a sweep down and up the vertices (symmetric Gauss–Seidel).
//!
//! With `A = L + I + Lᵀ + R` the preconditioner is `(I + L)(I + Lᵀ)`. Both factors are moved into the matrix, and what is
//! iterated on is `(I + L)⁻¹ A (I + Lᵀ)⁻¹ p = t + (I + L)⁻¹ (p − t + R t)` with `t = (I + Lᵀ)⁻¹ p`: two triangular solves
//! touch each block as often as one product with `A` does, so the preconditioner is free (Eisenstat 1981). It takes about
//! half as many iterations as the diagonal blocks alone.

use super::system::{System, single, something, turned_times};
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
    w.r.fill(Vec3A::ZERO);
    for i in system.rows.iter().map(|&i| i as usize) {
        let v = system.order[i] as usize;
        w.r[i] = system.diagonal[v] * single(g[v] * (-1.0 / largest));
    }
    system.forward(&mut w.r);
    w.x.fill(Vec3A::ZERO);
    w.p.copy_from_slice(&w.r);
    w.t.copy_from_slice(&w.r);
    let mut rr = square(&w.r, &system.rows);
    let tolerance = tolerance.max(FINEST);
    let stop = rr * tolerance * tolerance;
    if rr.is_nan() || rr <= 0.0 {
        return None;
    }
    let mut steps = max;
    for k in 1..=max {
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
        let next = advance(w, &system.rows, (rr / pap) as f32, system.bends());
        if next <= stop {
            steps = k;
            break;
        }
        let beta = (next / rr) as f32;
        rr = next;
        let n = w.p.len();
        let (p, t, r) = (&mut w.p[..n], &mut w.t[..n], &w.r[..n]);
        for i in system.rows.iter().map(|&i| i as usize) {
            let next = something(r[i] + p[i] * beta);
            p[i] = next;
            t[i] = next;
        }
    }
    for i in system.rows.iter().map(|&i| i as usize) {
        let v = system.order[i] as usize;
        let y = turned_times(&system.diagonal[v], w.x[i]);
        x[v] = DVec3::new(f64::from(y.x), f64::from(y.y), f64::from(y.z)) * largest;
    }
    Some(steps)
}

/// Goes on by `alpha`; the square of the residual after it. `whole`: all of the product is in `y`.
fn advance(w: &mut Vectors, rows: &[u32], alpha: f32, whole: bool) -> f64 {
    let part = if whole { 0.0 } else { 1.0 };
    let n = w.x.len();
    let (x, r, t, y) = (&mut w.x[..n], &mut w.r[..n], &w.t[..n], &w.y[..n]);
    let mut sum = 0.0;
    for rows in rows.chunks(RUN) {
        let mut run = Vec3A::ZERO;
        for i in rows.iter().map(|&i| i as usize) {
            x[i] += t[i] * alpha;
            r[i] -= (t[i] * part + y[i]) * alpha;
            run += r[i] * r[i];
        }
        sum += f64::from(run.x + run.y + run.z);
    }
    sum
}

fn square(a: &[Vec3A], rows: &[u32]) -> f64 {
    let run = |rows: &[u32]| {
        let sum: Vec3A = rows.iter().map(|&i| a[i as usize] * a[i as usize]).sum();
        f64::from(sum.x + sum.y + sum.z)
    };
    rows.chunks(RUN).map(run).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::constraint::{Contact, NO_SAMPLE};
    use crate::energy::bending;
    use crate::scene::Scene;
    use crate::settings::Settings;
    use crate::step::WorkingSet;
    use glam::{DMat3, Mat3A};
    use toile_geometry::Random;
    use toile_lab::cloths::{Pattern, lay, plain, rectangle};

    const HELD: usize = 3;

    fn block(r: &mut Random) -> DMat3 {
        DMat3::from_cols(r.vector(), r.vector(), r.vector())
    }

    fn contact(r: &mut Random, v: [u32; 4], w: [f64; 4], sample: u32) -> (Contact, DMat3) {
        let a = block(r);
        let c = Contact {
            v,
            w,
            n: DVec3::Y,
            offset: 0.0,
            reach: 0.0,
            k: 1.0,
            anchor: DVec3::ZERO,
            k_t: 1.0,
            friction: 0.0,
            limit: 0.0,
            sample,
        };
        (c, a * a.transpose())
    }

    /// A system with everything in it, and the same as one dense matrix in f64.
    fn system(r: &mut Random, scene: &Scene, bends: bool) -> (System, Vec<Vec<DMat3>>) {
        let n = scene.len();
        let mut dense = vec![vec![DMat3::ZERO; n]; n];
        let mut system = System::new(scene);
        let all = WorkingSet::new(scene, system.order());
        system.clear(&all);
        let mut diagonal = vec![DMat3::IDENTITY; n];
        for (e, edge) in scene.edges.iter().enumerate() {
            let [a, b] = edge.map(|v| v as usize);
            let m = block(r);
            dense[a][b] = m;
            dense[b][a] = m.transpose();
            diagonal[a] += DMat3::IDENTITY * 2.0;
            diagonal[b] += DMat3::IDENTITY * 2.0;
            let reversed = r.signed() > 0.0;
            let given = if reversed { m.transpose() } else { m };
            system.add_edge(e as u32, reversed, &Mat3A::from(given.as_mat3()));
        }
        for v in 0..n {
            dense[v][v] += diagonal[v];
            system.diagonal[v] = diagonal[v].as_mat3().into();
        }
        let [a, b] = scene.edges[7];
        for (c, m) in [
            contact(r, [a, b, b, a], [0.5, 0.5, 0.0, 0.0], 0),
            contact(r, [0, 12, 20, 24], [1.0, -0.3, -0.3, -0.4], NO_SAMPLE),
        ] {
            system.add_contact(&c, &m, &all);
            for i in 0..4 {
                for j in 0..4 {
                    dense[c.v[i] as usize][c.v[j] as usize] += m * (c.w[i] * c.w[j]);
                }
            }
        }
        system.inertia = 1e30;
        if bends {
            system.inertia = 0.0;
            system.bending_scale = 1e4;
            let x: Vec<DVec3> =
                (0..n).map(|i| DVec3::new((i % 5) as f64, 0.0, (i / 5) as f64) + r.vector() * 0.3).collect();
            let h = scene.hinges.len();
            let (mut angles, near) = (vec![0.0; h], vec![0.0; h]);
            bending::angles_and_turns(
                0..scene.hinges.len() as u32,
                &scene.hinges,
                &x,
                &near,
                &mut angles,
                &mut system.turns,
            );
            let slopes: Vec<[DVec3; 4]> =
                scene.hinges.iter().map(|h| bending::angle_and_gradient(h, &x, 0.0).1).collect();
            for k in 0..h {
                let (mut unit, mut column) = (vec![0.0; h], vec![0.0; h]);
                unit[k] = 1e4;
                scene.bending.apply(&unit, &mut column);
                for (l, stiffness) in column.into_iter().enumerate().filter(|c| c.1 != 0.0) {
                    for i in 0..4 {
                        for j in 0..4 {
                            let (a, b) = (slopes[l][i] * stiffness, slopes[k][j]);
                            let (p, q) = (scene.hinges[l].v[i] as usize, scene.hinges[k].v[j] as usize);
                            dense[p][q] += DMat3::from_cols(a * b.x, a * b.y, a * b.z);
                        }
                    }
                }
            }
        }
        system.prepare(&scene.hinges, &scene.pinned, &all);
        (system, dense)
    }

    #[test]
    fn it_solves_blocks_contacts_and_bending() {
        let mut r = Random::new(31);
        let settings = Settings::default();
        let (mesh, rest) = rectangle(0.1, 0.1, 4, 4, Pattern::Jittered);
        let mut scene = Scene::new(&mesh, &rest, &plain(), &settings).unwrap();
        scene.pinned[HELD] = true;
        assert_eq!(lay(&mesh, 0.0).len(), 25);
        for round in 0..20 {
            let bends = round % 2 == 1;
            let (mut system, dense) = system(&mut r, &scene, bends);
            let g: Vec<DVec3> = (0..25).map(|_| r.vector()).collect();
            let mut x = vec![DVec3::ZERO; 25];
            let mut vectors = Vectors::new(25);
            let steps =
                solve(&mut system, &scene.hinges, &scene.bending, &g, &mut x, 1e-5, 500, &mut vectors);
            assert!(steps.is_some_and(|s| s < 500), "round {round}: {steps:?}");
            for i in (0..25).filter(|i| *i != HELD) {
                let off = g[i] + (0..25).map(|j| dense[i][j] * x[j]).sum::<DVec3>();
                assert!(off.length() < 2e-3, "round {round}, vertex {i}: {off}");
            }
            assert_eq!(x[HELD], DVec3::ZERO);
        }
    }
}
