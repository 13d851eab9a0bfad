//! A fast, flexible particle-system model for cloth draping, Eberhardt, Weber and Strasser 1995/96: particles whose forces are
//! measured curves, different along courses and wales, and different when load is taken off again; integrated by an
//! explicit Runge–Kutta method that chooses its own steps. See docs/math/knits.md.

use super::stage::{Lattice, Obstacles, Stage, State, collide};
use super::{Method, Work};
use glam::DVec3;

/// A tensile test as Kawabata's tester gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tensile {
    /// Strain EMT at the greatest load, as a share.
    pub strain: f64,
    /// That load, N/m.
    pub load: f64,
    /// Linearity LT: work over that of a straight line.
    pub linearity: f64,
    /// Resilience RT: work given back over work done.
    pub resilience: f64,
}

impl Tensile {
    /// A straight line of stiffness `y`, N/m.
    pub fn straight(y: f64, resilience: f64) -> Self {
        Self { strain: 0.1, load: 0.1 * y, linearity: 1.0, resilience }
    }

    /// Load at strain `e` on the way up, and its slope: `F (e/EMT)^p`, whose work fixes `p = 2/LT − 1`.
    pub fn up(&self, e: f64) -> (f64, f64) {
        let p = 2.0 / self.linearity - 1.0;
        let u = e.max(0.0) / self.strain;
        (self.load * u.powf(p), self.load * p * u.max(1e-9).powf(p - 1.0) / self.strain)
    }

    /// Load at strain `e` on the way back from `top`, and its slope: a steeper power of which only RT of the work comes back.
    pub fn down(&self, e: f64, top: f64) -> (f64, f64) {
        let p = 2.0 / self.linearity - 1.0;
        let q = (p + 1.0) / self.resilience - 1.0;
        let (u, f) = ((e.max(0.0) / top).min(1.0), self.up(top).0);
        (f * u.powf(q), f * q * u.max(1e-9).powf(q - 1.0) / top)
    }
}

/// A knitted cloth by its tests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knit {
    /// What it is.
    pub name: &'static str,
    /// kg/m².
    pub density: f64,
    /// Along the rows of loops.
    pub course: Tensile,
    /// Along the columns of loops.
    pub wale: Tensile,
    /// N/m per radian.
    pub shear: f64,
    /// N·m.
    pub bend: [f64; 2],
}

/// Greatest load of a tensile test of knits, N/m: 50 gf/cm.
const LOAD: f64 = 49.0;

/// Plain jersey and 1×1 rib. Rib is drawn in across its columns, which it gives back at little load; it curls less, and bends
/// alike. The figures are representative of Kawabata tests of such knits.
pub const KNITS: [Knit; 2] = [
    Knit {
        name: "plain jersey",
        density: 0.16,
        course: Tensile { strain: 0.22, load: LOAD, linearity: 0.78, resilience: 0.42 },
        wale: Tensile { strain: 0.10, load: LOAD, linearity: 0.82, resilience: 0.50 },
        shear: 25.0,
        bend: [2.5e-6, 4.0e-6],
    },
    Knit {
        name: "rib jersey",
        density: 0.20,
        course: Tensile { strain: 0.60, load: LOAD, linearity: 0.70, resilience: 0.36 },
        wale: Tensile { strain: 0.12, load: LOAD, linearity: 0.80, resilience: 0.45 },
        shear: 20.0,
        bend: [3.0e-6, 7.0e-6],
    },
];

/// A thread between neighbours.
#[derive(Clone, Copy, Debug)]
struct Thread {
    ends: [usize; 2],
    length: f64,
    width: f64,
    tensile: Tensile,
    /// The greatest strain since it was last slack.
    top: f64,
}

/// Stiffness that is left when a thread is pushed together, as a share of its mean: loops buckle.
const SLACK: f64 = 0.05;

impl Thread {
    fn load(&self, e: f64) -> f64 {
        if e <= 0.0 {
            return SLACK * self.tensile.load / self.tensile.strain * e;
        }
        if e >= self.top { self.tensile.up(e).0 } else { self.tensile.down(e, self.top).0 }
    }
}

/// The method.
pub struct Eberhardt {
    threads: Vec<Thread>,
    /// Two neighbours at right angles about a particle, and stiffness, N·m.
    corners: Vec<([usize; 3], f64)>,
    bends: Vec<([usize; 3], f64)>,
    held: Vec<bool>,
    mass: Vec<f64>,
    drag: f64,
    /// The last accepted substep, s.
    substep: f64,
}

/// Error that a substep may have, m.
const TOLERANCE_M: f64 = 1e-5;

impl Eberhardt {
    /// Of a stage that is a grid, with the stage's own stiffness and a knit's hysteresis.
    pub fn of_fabric(stage: &Stage) -> Self {
        let f = &stage.cloth().fabric;
        let knit = Knit {
            name: "as the fabric",
            density: f.density,
            course: Tensile::straight(f.stretch_weft, KNITS[0].course.resilience),
            wale: Tensile::straight(f.stretch_warp, KNITS[0].wale.resilience),
            shear: f.shear,
            bend: [f.bend_weft, f.bend_warp],
        };
        Self::new(stage, &knit)
    }

    /// With a knit's own curves.
    pub fn new(stage: &Stage, knit: &Knit) -> Self {
        let cloth = stage.cloth();
        let scale = knit.density / cloth.fabric.density;
        let mut made = Self {
            threads: vec![],
            corners: vec![],
            bends: vec![],
            held: stage.held(),
            mass: cloth.mass.iter().map(|m| m * scale).collect(),
            drag: if cloth.fabric.damping_secs > 0.0 { 1.0 } else { 0.0 },
            substep: 1e-4,
        };
        if let Some(grid) = &stage.lattice {
            made.knit(grid, knit);
        }
        made
    }

    fn knit(&mut self, grid: &Lattice, knit: &Knit) {
        for (i, j, v) in grid.each() {
            for (di, dj, k, tensile) in [(1, 0, 0, knit.course), (0, 1, 1, knit.wale)] {
                let (length, width) = (grid.spacing[k], grid.spacing[1 - k]);
                let inner = grid.at(i - dj, j - di).is_some() && grid.at(i + dj, j + di).is_some();
                if let Some(w) = grid.at(i + di, j + dj) {
                    let width = if inner { width } else { 0.5 * width };
                    self.threads.push(Thread { ends: [v, w], length, width, tensile, top: 0.0 });
                }
                if let (Some(a), Some(b)) = (grid.at(i - di, j - dj), grid.at(i + di, j + dj)) {
                    self.bends.push(([a, v, b], knit.bend[k] * width / length.powi(3)));
                }
            }
            for (di, dj) in [(1, 1), (1, -1), (-1, 1), (-1, -1)] {
                if let (Some(a), Some(b)) = (grid.at(i + di, j), grid.at(i, j + dj)) {
                    self.corners.push(([v, a, b], 0.25 * knit.shear * grid.spacing[0] * grid.spacing[1]));
                }
            }
        }
    }

    fn accelerations(&self, stage: &Stage, x: &[DVec3], v: &[DVec3]) -> Vec<DVec3> {
        let mut f: Vec<DVec3> =
            (0..x.len()).map(|i| (stage.gravity() - v[i] * self.drag) * self.mass[i]).collect();
        for t in &self.threads {
            let d = x[t.ends[1]] - x[t.ends[0]];
            let l = d.length().max(1e-12);
            let pull = d * (t.load(l / t.length - 1.0) * t.width / l);
            f[t.ends[0]] += pull;
            f[t.ends[1]] -= pull;
        }
        for &(at, k) in &self.corners {
            let (c, by) = super::grid::cosine(at.map(|i| x[i]));
            at.iter().zip(by).for_each(|(&i, g)| f[i] -= g * (k * c));
        }
        for &([a, b, c], k) in &self.bends {
            let d = (x[a] - 2.0 * x[b] + x[c]) * k;
            f[a] -= d;
            f[b] += 2.0 * d;
            f[c] -= d;
        }
        (0..x.len()).map(|i| if self.held[i] { DVec3::ZERO } else { f[i] / self.mass[i] }).collect()
    }

    /// One substep of Bogacki and Shampine's third order with its second-order estimate; the new state and the error, m.
    fn substep(&self, stage: &Stage, s: &State, h: f64) -> (State, f64) {
        let n = s.x.len();
        let at = |v: &[(&[DVec3], f64)], base: &[DVec3]| -> Vec<DVec3> {
            (0..n).map(|i| base[i] + v.iter().map(|(k, w)| k[i] * (*w * h)).sum::<DVec3>()).collect()
        };
        let a1 = self.accelerations(stage, &s.x, &s.v);
        let (x2, v2) = (at(&[(&s.v, 0.5)], &s.x), at(&[(&a1, 0.5)], &s.v));
        let a2 = self.accelerations(stage, &x2, &v2);
        let (x3, v3) = (at(&[(&v2, 0.75)], &s.x), at(&[(&a2, 0.75)], &s.v));
        let a3 = self.accelerations(stage, &x3, &v3);
        let weights = [2.0 / 9.0, 1.0 / 3.0, 4.0 / 9.0];
        let x = at(&[(&s.v, weights[0]), (&v2, weights[1]), (&v3, weights[2])], &s.x);
        let v = at(&[(&a1, weights[0]), (&a2, weights[1]), (&a3, weights[2])], &s.v);
        let a4 = self.accelerations(stage, &x, &v);
        // Velocities tell where positions will go wrong: an error of speed over the whole step.
        let e = [-5.0 / 72.0, 1.0 / 12.0, 1.0 / 9.0, -1.0 / 8.0];
        let error = (0..n)
            .map(|i| h * h * (a1[i] * e[0] + a2[i] * e[1] + a3[i] * e[2] + a4[i] * e[3]).length())
            .fold(0.0, |a, b| if b.is_nan() { f64::INFINITY } else { f64::max(a, b) });
        (State { x, v, secs: s.secs + h }, error)
    }

    /// Threads remember how far they were stretched until they are slack.
    fn remember(&mut self, x: &[DVec3]) {
        for t in &mut self.threads {
            let e = x[t.ends[0]].distance(x[t.ends[1]]) / t.length - 1.0;
            t.top = if e <= 0.0 { 0.0 } else { t.top.max(e) };
        }
    }
}

impl Method for Eberhardt {
    fn step(&mut self, stage: &Stage, obstacles: &mut Obstacles, state: &mut State, h: f64) -> Work {
        let mut work = Work::default();
        let end = state.secs + h;
        while state.secs < end - 1e-12 {
            let part = self.substep.min(end - state.secs);
            let (mut next, error) = self.substep(stage, state, part);
            work.iterations += 3;
            if error > TOLERANCE_M && part > 1e-7 {
                self.substep = 0.5 * part;
                work.halvings += 1;
                continue;
            }
            let touches = obstacles.near(stage, state, part);
            let to = next.secs;
            next.hold(&stage.pins, to, part);
            collide(&touches, &self.held, stage.friction, part, &mut next);
            *state = next;
            work.parts += 1;
            self.remember(&state.x);
            let grow = (0.8 * (TOLERANCE_M / error.max(1e-300)).cbrt()).clamp(0.5, 2.0);
            if part >= 0.99 * self.substep || grow < 1.0 {
                self.substep = part * grow;
            }
        }
        work
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_have_their_slopes_their_work_and_their_resilience() {
        for knit in &KNITS {
            for t in [knit.course, knit.wale] {
                for e in [0.02, 0.05, 0.09] {
                    let d = 1e-7;
                    let slope = (t.up(e + d).0 - t.up(e - d).0) / (2.0 * d);
                    assert!((slope / t.up(e).1 - 1.0).abs() < 1e-5);
                    let slope = (t.down(e + d, 0.1).0 - t.down(e - d, 0.1).0) / (2.0 * d);
                    assert!((slope / t.down(e, 0.1).1 - 1.0).abs() < 1e-5);
                }
                let n = 4000;
                let work = |f: &dyn Fn(f64) -> f64| -> f64 {
                    (0..n).map(|k| f((f64::from(k) + 0.5) / f64::from(n) * t.strain)).sum::<f64>() * t.strain
                        / f64::from(n)
                };
                let (up, down) = (work(&|e| t.up(e).0), work(&|e| t.down(e, t.strain).0));
                assert!((up / (0.5 * t.load * t.strain) / t.linearity - 1.0).abs() < 1e-3);
                assert!((down / up / t.resilience - 1.0).abs() < 1e-3);
            }
        }
    }
}
