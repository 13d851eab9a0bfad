//! Deformation constraints, Provot 1995: soft springs, steps that use the new velocity, and then springs longer than
//! 1.1 times their length are drawn together, one after the other.

use super::springs::{Kind, Spring, Springs};
use super::stage::{Obstacles, Stage, State, collide};
use super::{Method, Work};
use glam::DVec3;

/// Elongation that is allowed, as a share of the length.
pub const CRITICAL: f64 = 0.1;
/// How soft springs are against the fabric: what holds cloth together is the correction.
pub const SOFT: f64 = 1.0 / 30.0;
/// Passes over all springs a step.
const PASSES: u32 = 3;

/// Draws over-long springs together; held ends stay.
pub fn correct(springs: &[Spring], held: &[bool], critical: f64, passes: u32, x: &mut [DVec3]) {
    for _ in 0..passes {
        for s in springs.iter().filter(|s| s.kind != Kind::Bend) {
            let [i, j] = s.ends.map(|e| e as usize);
            let d = x[j] - x[i];
            let l = d.length();
            let most = s.length * (1.0 + critical);
            if l <= most || (held[i] && held[j]) {
                continue;
            }
            let over = d * ((l - most) / l);
            match (held[i], held[j]) {
                (true, _) => x[j] -= over,
                (_, true) => x[i] += over,
                _ => {
                    x[i] += over * 0.5;
                    x[j] -= over * 0.5;
                }
            }
        }
    }
}

/// The method.
pub struct Provot {
    springs: Springs,
    held: Vec<bool>,
    force: Vec<DVec3>,
}

impl Provot {
    /// For a stage.
    pub fn new(stage: &Stage) -> Self {
        let n = stage.cloth().len();
        Self { springs: Springs::explicit(stage, SOFT), held: stage.held(), force: vec![DVec3::ZERO; n] }
    }
}

impl Method for Provot {
    fn step(&mut self, stage: &Stage, obstacles: &mut Obstacles, state: &mut State, h: f64) -> Work {
        let touches = obstacles.near(stage, state, h);
        self.force.fill(DVec3::ZERO);
        self.springs.add_forces(&state.x, &state.v, &mut self.force);
        let before = state.x.clone();
        for i in 0..state.x.len() {
            state.v[i] += (self.force[i] / stage.cloth().mass[i] + stage.gravity()) * h;
            state.x[i] += state.v[i] * h;
        }
        state.secs += h;
        let to = state.secs;
        state.hold(&stage.pins, to, h);
        correct(&self.springs.springs, &self.held, CRITICAL, PASSES, &mut state.x);
        // Velocities follow, or the next step stretches the same springs again.
        state.came_from(&before, h);
        collide(&touches, &self.held, stage.friction, h, state);
        Work::iterations(PASSES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_has_no_long_spring_after_one_pass_from_its_root() {
        // A chain with two branches, each spring twice as long as it should be.
        let ends = [[0, 1], [1, 2], [2, 3], [1, 4], [4, 5]];
        let springs: Vec<Spring> =
            ends.map(|ends| Spring { ends, length: 0.1, stiffness: 1.0, kind: Kind::Structure }).to_vec();
        let mut x: Vec<DVec3> = [(0, 0), (0, 2), (0, 4), (0, 6), (2, 2), (4, 2)]
            .map(|(a, b)| DVec3::new(f64::from(a), -f64::from(b), 0.0) * 0.1)
            .to_vec();
        // Down a tree each spring moves the end that is farther from the root, as if the other were held.
        for s in &springs {
            let mut held = [true; 6];
            held[s.ends[1] as usize] = false;
            correct(&[*s], &held, CRITICAL, 1, &mut x);
        }
        let worst = springs.iter().map(|s| s.span(&x).length() / s.length - 1.0).fold(0.0, f64::max);
        assert!(worst <= CRITICAL + 1e-12, "{worst}");
    }
}
