//! Efficient simulation of inextensible cloth, Goldenthal, Harmon, Fattal, Bercovier and Grinspun 2007: threads are constraints,
//! `C = |e|²/l − l = 0`, not springs. A step with the potential forces alone is followed by fast projection onto the constraints
//! (step and project), or by Newton's method on the constrained step itself (implicit constraint direction). See
//! docs/math/constraints.md.

use super::blocks::outer;
use super::conditions::{Conditions, Scaling, Which};
use super::implicit::{Implicit, Scheme};
use super::stage::{Obstacles, Stage, State, Touch, collide};
use super::{Method, Work};
use glam::{DMat3, DVec3};

/// Strain up to which threads are drawn, as a share.
pub const STRAIN: f64 = 1e-4;
/// Projections a step at most.
const MOST: u32 = 100;

/// How far a projection moves a vertex at most, m.
const MOST_M: f64 = 0.02;

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Step and project.
    FastProjection,
    /// Implicit constraint direction.
    Icd,
}

/// A thread that keeps its length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constraint {
    /// Its ends.
    pub ends: [usize; 2],
    /// m.
    pub length: f64,
}

impl Constraint {
    /// `|e|²/l − l`, m.
    pub fn value(&self, x: &[DVec3]) -> f64 {
        x[self.ends[0]].distance_squared(x[self.ends[1]]) / self.length - self.length
    }

    /// Its derivative by the second end; the first has the opposite.
    pub fn gradient(&self, x: &[DVec3]) -> DVec3 {
        (x[self.ends[1]] - x[self.ends[0]]) * (2.0 / self.length)
    }
}

/// Threads of a cloth: edges without those that triangles are paired over, the longest first. Of a grid that leaves warp and
/// weft; three constrained sides a triangle would leave nothing to move.
pub fn threads(stage: &Stage) -> Vec<Constraint> {
    let cloth = stage.cloth();
    let mut beside = vec![Vec::new(); cloth.edges.len()];
    for (t, edges) in cloth.triangle_edges.iter().enumerate() {
        edges.iter().for_each(|e| beside[e.0 as usize].push(t));
    }
    let mut order: Vec<usize> = (0..cloth.edges.len()).filter(|&e| beside[e].len() == 2).collect();
    order.sort_by(|&a, &b| cloth.edge_lengths[b].total_cmp(&cloth.edge_lengths[a]));
    let mut paired = vec![false; cloth.triangles.len()];
    let mut crossed = vec![false; cloth.edges.len()];
    for e in order {
        if beside[e].iter().all(|&t| !paired[t]) {
            crossed[e] = true;
            beside[e].iter().for_each(|&t| paired[t] = true);
        }
    }
    let kept = (0..cloth.edges.len()).filter(|&e| !crossed[e]);
    kept.map(|e| Constraint { ends: cloth.edges[e].map(|v| v as usize), length: cloth.edge_lengths[e] })
        .collect()
}

/// The constraints and what can move: solves for multipliers by conjugate gradients.
pub struct Projection {
    constraints: Vec<Constraint>,
    /// Constraints about each vertex.
    about: Vec<Vec<u32>>,
}

impl Projection {
    /// Of constraints among `n` vertices.
    pub fn new(constraints: Vec<Constraint>, n: usize) -> Self {
        let mut about = vec![Vec::new(); n];
        for (k, c) in constraints.iter().enumerate() {
            c.ends.iter().for_each(|&v| about[v].push(k as u32));
        }
        Self { constraints, about }
    }

    /// Largest strain.
    pub fn strain(&self, x: &[DVec3]) -> f64 {
        let strain = |c: &Constraint| (x[c.ends[0]].distance(x[c.ends[1]]) / c.length - 1.0).abs();
        self.constraints.iter().map(strain).fold(0.0, f64::max)
    }

    /// `Σ gradients × multipliers` of each vertex.
    fn forces(&self, gradients: &[DVec3], multipliers: &[f64], out: &mut [DVec3]) {
        for (v, o) in out.iter_mut().enumerate() {
            *o = DVec3::ZERO;
            for &k in &self.about[v] {
                let sign = if self.constraints[k as usize].ends[1] == v { 1.0 } else { -1.0 };
                *o += gradients[k as usize] * (sign * multipliers[k as usize]);
            }
        }
    }

    /// Draws `x` onto the constraints; `free` is the inverse mass of each vertex, zero in directions that it may not move in.
    /// Returns iterations of the linear solver.
    pub fn project(&self, free: &[DMat3], way: Way, x: &mut [DVec3]) -> u32 {
        let (n, m) = (x.len(), self.constraints.len());
        let start = x.to_vec();
        let mut total = vec![0.0; m];
        let mut count = 0;
        let mut moved = vec![DVec3::ZERO; n];
        for _ in 0..MOST {
            let gradients: Vec<DVec3> = self.constraints.iter().map(|c| c.gradient(x)).collect();
            let mut right: Vec<f64> = self.constraints.iter().map(|c| c.value(x)).collect();
            // ICD: the way there must be along the gradients at its end; what is not is the residual of the step.
            let mut residual = vec![DVec3::ZERO; n];
            let mut free = free.to_vec();
            if way == Way::Icd {
                self.forces(&gradients, &total, &mut moved);
                for v in 0..n {
                    residual[v] = x[v] - start[v] + free[v] * moved[v];
                    // Tension stiffens across: 2λ/l of each thread, bounded by its rows. Without it Newton diverges where
                    // h² λ/(m l) is more than one.
                    let taut = |&k: &u32| total[k as usize].max(0.0) / self.constraints[k as usize].length;
                    let tension: f64 = self.about[v].iter().map(taut).sum();
                    let heavy = free[v].x_axis.x.max(free[v].y_axis.y).max(free[v].z_axis.z);
                    let share = 1.0 / (1.0 + 4.0 * heavy * tension);
                    residual[v] *= share;
                    free[v] *= share;
                }
                for (k, c) in self.constraints.iter().enumerate() {
                    right[k] -= gradients[k].dot(residual[c.ends[1]] - residual[c.ends[0]]);
                }
            }
            let aside = residual.iter().map(|r| r.length()).fold(0.0, f64::max);
            if self.strain(x) <= 0.5 * STRAIN && aside < 1e-7 {
                break;
            }
            let (multipliers, iterations) = self.solve(&free, &gradients, &right);
            count += iterations;
            self.forces(&gradients, &multipliers, &mut moved);
            let way: Vec<DVec3> = (0..n).map(|v| residual[v] + free[v] * moved[v]).collect();
            // Where gradients nearly depend on each other the way is long and leads nowhere.
            let longest = way.iter().map(|w| w.length()).fold(0.0, f64::max);
            let share = (MOST_M / longest).min(1.0);
            for v in 0..n {
                x[v] -= way[v] * share;
            }
            total.iter_mut().zip(&multipliers).for_each(|(t, l)| *t += l * share);
        }
        count
    }

    /// `(∇C W ∇Cᵀ) λ = right`, by conjugate gradients with its diagonal.
    fn solve(&self, free: &[DMat3], gradients: &[DVec3], right: &[f64]) -> (Vec<f64>, u32) {
        let m = right.len();
        let mut at = vec![DVec3::ZERO; free.len()];
        let mut times = |l: &[f64], out: &mut [f64]| {
            self.forces(gradients, l, &mut at);
            at.iter_mut().zip(free).for_each(|(a, w)| *a = *w * *a);
            for (k, c) in self.constraints.iter().enumerate() {
                out[k] = gradients[k].dot(at[c.ends[1]] - at[c.ends[0]]);
            }
        };
        let inverse: Vec<f64> = (self.constraints.iter().zip(gradients))
            .map(|(c, g)| g.dot((free[c.ends[0]] + free[c.ends[1]]) * *g))
            .map(|d| if d > 1e-9 { 1.0 / d } else { 0.0 })
            .collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let mut l = vec![0.0; m];
        let mut r = right.to_vec();
        let mut s: Vec<f64> = r.iter().zip(&inverse).map(|(r, p)| r * p).collect();
        let mut p = s.clone();
        let mut q = vec![0.0; m];
        let mut delta = dot(&r, &s);
        let stop = 1e-8 * delta;
        for k in 0..4 * m as u32 {
            if !(delta > stop) {
                return (l, k);
            }
            times(&p, &mut q);
            let curvature = dot(&p, &q);
            if !(curvature > 0.0) {
                return (l, k);
            }
            let alpha = delta / curvature;
            for i in 0..m {
                l[i] += alpha * p[i];
                r[i] -= alpha * q[i];
                s[i] = r[i] * inverse[i];
            }
            let before = delta;
            delta = dot(&r, &s);
            p.iter_mut().zip(&s).for_each(|(p, s)| *p = s + *p * delta / before);
        }
        (l, 4 * m as u32)
    }
}

/// The method.
pub struct Goldenthal {
    potential: Implicit<Conditions>,
    projection: Projection,
    way: Way,
    held: Vec<bool>,
}

impl Goldenthal {
    /// For a stage.
    pub fn new(stage: &Stage, way: Way) -> Self {
        let which = Which { stretch: false, shear: true, bend: true };
        let model = Conditions::new(stage, which, Scaling::Root);
        let held = stage.held();
        let mut free = threads(stage);
        // Between two held vertices there is nothing to be found.
        free.retain(|c| !c.ends.iter().all(|&v| held[v]));
        let projection = Projection::new(free, stage.cloth().len());
        Self { potential: Implicit::new(stage, model, Scheme::Euler), projection, way, held }
    }

    /// Largest strain of a thread, as a share.
    pub fn strain(&self, x: &[DVec3]) -> f64 {
        self.projection.strain(x)
    }
}

impl Method for Goldenthal {
    fn step(&mut self, stage: &Stage, obstacles: &mut Obstacles, state: &mut State, h: f64) -> Work {
        let touches = obstacles.near(stage, state, h);
        let before = state.x.clone();
        let mut iterations = self.potential.advance(stage, &[], state, h);
        collide(&touches, &self.held, stage.friction, h, state);
        // What touches may only slide; a second round for those that the projection has drawn in.
        for _ in 0..4 {
            let free = inverse_masses(stage, &self.held, &touches, &state.x);
            iterations += self.projection.project(&free, self.way, &mut state.x);
            if !deep(&touches, &self.held, &state.x) {
                break;
            }
            state.push_out(&touches, &self.held);
        }
        state.came_from(&before, h);
        Work::iterations(iterations)
    }
}

fn deep(touches: &[Touch], held: &[bool], x: &[DVec3]) -> bool {
    touches.iter().any(|t| !held[t.vertex] && t.gap(x[t.vertex]) < -1e-4)
}

fn inverse_masses(stage: &Stage, held: &[bool], touches: &[Touch], x: &[DVec3]) -> Vec<DMat3> {
    let mass = &stage.cloth().mass;
    let mean = mass.iter().sum::<f64>() / mass.len() as f64;
    // In units of the mean, so that multipliers are lengths.
    let mut free: Vec<DMat3> = (0..x.len())
        .map(|i| if held[i] { DMat3::ZERO } else { DMat3::IDENTITY * (mean / mass[i]) })
        .collect();
    for t in touches {
        if t.gap(x[t.vertex]) < 1e-5 && !held[t.vertex] {
            let slide = DMat3::IDENTITY - outer(t.normal, t.normal);
            free[t.vertex] = slide * free[t.vertex] * slide;
        }
    }
    free
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_geometry::Random;

    #[test]
    fn gradients_are_slopes() {
        let mut r = Random::new(4);
        let c = Constraint { ends: [0, 1], length: 0.3 };
        for _ in 0..20 {
            let x = [r.vector(), r.vector()];
            for axis in 0..3 {
                let at = |by: f64| {
                    let mut y = x;
                    y[1][axis] += by;
                    c.value(&y)
                };
                let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert!((slope - c.gradient(&x)[axis]).abs() < 1e-7 * (1.0 + slope.abs()));
            }
        }
    }

    #[test]
    fn both_ways_keep_lengths_and_linear_momentum() {
        let stage = super::super::scenes::hanging(6).unwrap();
        let n = stage.cloth().len();
        let mut r = Random::new(7);
        let start: Vec<DVec3> = stage.world.state.x.iter().map(|p| *p + 0.01 * r.vector()).collect();
        let projection = Projection::new(threads(&stage), n);
        let mean = stage.cloth().mass.iter().sum::<f64>() / n as f64;
        let free: Vec<DMat3> = stage.cloth().mass.iter().map(|m| DMat3::IDENTITY * (mean / m)).collect();
        let mut ends = Vec::new();
        for way in [Way::FastProjection, Way::Icd] {
            let mut x = start.clone();
            projection.project(&free, way, &mut x);
            assert!(projection.strain(&x) <= STRAIN, "{way:?} {}", projection.strain(&x));
            let mass = &stage.cloth().mass;
            let moved: DVec3 = (0..n).map(|i| (x[i] - start[i]) * mass[i]).sum();
            assert!(moved.length() < 1e-9, "{moved}");
            ends.push(x);
        }
        // They are not the same: ICD goes along the gradients at the end.
        let apart = ends[0].iter().zip(&ends[1]).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(apart > 1e-7 && apart < 0.01, "{apart}");
    }
}
