//! Interactive animation of structured deformable objects, Desbrun, Schröder and Barr 1999: an implicit step with a constant
//! matrix (every spring as if it had no length), momentum put right, then over-long springs drawn together. See
//! docs/math/springs.md.

use super::blocks::{Blocks, Filter, modified_pcg};
use super::provot::correct;
use super::springs::{Spring, Springs};
use super::stage::{Obstacles, Stage, State, collide};
use super::{Method, Work};
use glam::{DMat3, DVec3};

/// Stretch that is left to springs, and passes of the correction.
const CRITICAL: f64 = 0.01;
const PASSES: u32 = 10;

/// The method.
pub struct Desbrun {
    springs: Springs,
    held: Vec<bool>,
    /// `M + h² L` and the step it is for.
    matrix: Blocks,
    matrix_secs: f64,
    force: Vec<DVec3>,
}

impl Desbrun {
    /// For a stage.
    pub fn new(stage: &Stage) -> Self {
        let n = stage.cloth().len();
        let springs = Springs::explicit(stage, 1.0);
        let matrix = Blocks::new(n, springs.springs.iter().map(|s| &s.ends[..]));
        Self { springs, held: stage.held(), matrix, matrix_secs: 0.0, force: vec![DVec3::ZERO; n] }
    }

    fn prepare(&mut self, stage: &Stage, h: f64) {
        if (self.matrix_secs - h).abs() < 1e-12 {
            return;
        }
        self.matrix_secs = h;
        self.matrix.clear();
        for (i, m) in stage.cloth().mass.iter().enumerate() {
            self.matrix.add(i, i, DMat3::IDENTITY * *m);
        }
        for s in &self.springs.springs {
            let [i, j] = s.ends.map(|e| e as usize);
            let k = DMat3::IDENTITY * (h * h * s.stiffness);
            self.matrix.add(i, i, k);
            self.matrix.add(j, j, k);
            self.matrix.add(i, j, -k);
            self.matrix.add(j, i, -k);
        }
    }
}

impl Method for Desbrun {
    fn step(&mut self, stage: &Stage, obstacles: &mut Obstacles, state: &mut State, h: f64) -> Work {
        let touches = obstacles.near(stage, state, h);
        self.prepare(stage, h);
        let (n, mass) = (state.x.len(), &stage.cloth().mass);
        self.force.fill(DVec3::ZERO);
        self.springs.add_forces(&state.x, &state.v, &mut self.force);
        add_viscosity(&self.springs.springs, &state.v, h, &mut self.force);
        let right: Vec<DVec3> = (0..n).map(|i| (self.force[i] + stage.gravity() * mass[i]) * h).collect();
        let mut filter = Filter::free(n);
        stage.pins.vertices.iter().for_each(|&v| filter.hold(v as usize, DVec3::ZERO));
        let mut dv = vec![DVec3::ZERO; n];
        let iterations = modified_pcg(&self.matrix, &right, &filter, 1e-3, 500, &mut dv);
        if stage.pins.vertices.is_empty() {
            without_torque(mass, &state.x, &mut dv);
        }
        let before = state.x.clone();
        for i in 0..n {
            state.v[i] += dv[i];
            state.x[i] += state.v[i] * h;
        }
        state.secs += h;
        let to = state.secs;
        state.hold(&stage.pins, to, h);
        correct(&self.springs.springs, &self.held, CRITICAL, PASSES, &mut state.x);
        state.came_from(&before, h);
        collide(&touches, &self.held, stage.friction, h, state);
        Work::iterations(iterations + PASSES)
    }
}

/// Their artificial viscosity `−h L v`: how the forces of springs without length change while the velocities last a step.
fn add_viscosity(springs: &[Spring], v: &[DVec3], h: f64, force: &mut [DVec3]) {
    for s in springs {
        let [i, j] = s.ends.map(|e| e as usize);
        let pull = (v[j] - v[i]) * (h * s.stiffness);
        force[i] += pull;
        force[j] -= pull;
    }
}

/// Inner forces turn nothing: takes the rotation out that the constant matrix has put in.
pub fn without_torque(mass: &[f64], x: &[DVec3], dv: &mut [DVec3]) {
    let total: f64 = mass.iter().sum();
    let centre: DVec3 = x.iter().zip(mass).map(|(p, m)| *p * *m).sum::<DVec3>() / total;
    let mut spin = DVec3::ZERO;
    let mut inertia = DMat3::ZERO;
    for i in 0..x.len() {
        let r = x[i] - centre;
        spin += r.cross(dv[i]) * mass[i];
        inertia += (DMat3::IDENTITY * r.length_squared() - super::blocks::outer(r, r)) * mass[i];
    }
    if inertia.determinant().abs() < 1e-30 {
        return;
    }
    let turn = inertia.inverse() * spin;
    for i in 0..x.len() {
        dv[i] -= turn.cross(x[i] - centre);
    }
}

#[cfg(test)]
mod tests {
    use super::super::grid::crumpled;
    use super::*;

    /// Viscosity and matrix are the differences of the forces of springs that have no length.
    #[test]
    fn matrix_and_viscosity_are_those_of_springs_without_length() {
        let (stage, x) = crumpled(3);
        let h = 0.02;
        let mut method = Desbrun::new(&stage);
        method.prepare(&stage, h);
        let short: Vec<Spring> =
            method.springs.springs.iter().map(|s| Spring { length: 0.0, ..*s }).collect();
        let force = |x: &[DVec3]| {
            let mut f = vec![DVec3::ZERO; x.len()];
            for s in &short {
                let [i, j] = s.ends.map(|e| e as usize);
                f[i] += s.force(x);
                f[j] -= s.force(x);
            }
            f
        };
        let mut random = toile_geometry::Random::new(8);
        let v: Vec<DVec3> = x.iter().map(|_| random.vector()).collect();
        let moved: Vec<DVec3> = x.iter().zip(&v).map(|(p, v)| *p + *v * h).collect();
        let (mut viscosity, mut product) = (vec![DVec3::ZERO; x.len()], vec![DVec3::ZERO; x.len()]);
        add_viscosity(&short, &v, h, &mut viscosity);
        method.matrix.times(&v, &mut product);
        let (before, after) = (force(&x), force(&moved));
        for i in 0..x.len() {
            let change = after[i] - before[i];
            assert!(viscosity[i].distance(change) < 1e-9 * (1.0 + change.length()), "{i}");
            let expected = v[i] * stage.cloth().mass[i] - change * h;
            assert!(product[i].distance(expected) < 1e-9 * (1.0 + expected.length()), "{i}");
        }
    }
}
