//! Extended position-based dynamics, Macklin, Müller and Chentanez 2016: constraints with compliance, one after the other, each
//! with its own multiplier, so that stiffness does not depend on the count of iterations once it is enough. See docs/math/today.md.

use super::springs::{Spring, cut};
use super::stage::{Obstacles, Stage, State, collide};
use super::{Method, Work};
use glam::DVec3;

/// Passes over all constraints a step.
pub const PASSES: u32 = 20;

/// The method.
pub struct Xpbd {
    springs: Vec<Spring>,
    held: Vec<bool>,
    inverse: Vec<f64>,
    damping_secs: f64,
}

impl Xpbd {
    /// For a stage.
    pub fn new(stage: &Stage) -> Self {
        let held = stage.held();
        let mass = &stage.cloth().mass;
        let inverse = (0..mass.len()).map(|i| if held[i] { 0.0 } else { 1.0 / mass[i] }).collect();
        Self { springs: cut(stage, 1.0), held, inverse, damping_secs: stage.cloth().fabric.damping_secs }
    }
}

/// `C = l − L` and its gradient by the second end; by the first it is the opposite.
fn constraint(s: &Spring, a: DVec3, b: DVec3) -> (f64, DVec3) {
    let d = b - a;
    let l = d.length().max(1e-12);
    (l - s.length, d / l)
}

/// The change of a multiplier, their equations 18 and 26: `C` is the constraint, `along` its change since the start of the step.
pub fn multiplier(c: f64, lambda: f64, compliance: f64, rate: f64, along: f64, inverse_masses: f64) -> f64 {
    (-c - compliance * lambda - rate * along) / ((1.0 + rate) * inverse_masses + compliance)
}

impl Method for Xpbd {
    fn step(&mut self, stage: &Stage, obstacles: &mut Obstacles, state: &mut State, h: f64) -> Work {
        let touches = obstacles.near(stage, state, h);
        let before = state.x.clone();
        for i in 0..before.len() {
            state.v[i] += stage.gravity() * h;
            state.x[i] += state.v[i] * h;
        }
        state.secs += h;
        let to = state.secs;
        state.hold(&stage.pins, to, h);
        let mut lambda = vec![0.0; self.springs.len()];
        // γ = α̃ β̃ / h with β = k τ.
        let rate = self.damping_secs / h;
        for _ in 0..PASSES {
            for (s, lambda) in self.springs.iter().zip(&mut lambda) {
                let [i, j] = s.ends.map(|e| e as usize);
                let (c, n) = constraint(s, state.x[i], state.x[j]);
                let w = self.inverse[i] + self.inverse[j];
                if w == 0.0 {
                    continue;
                }
                let along = n.dot((state.x[j] - before[j]) - (state.x[i] - before[i]));
                let compliance = 1.0 / (s.stiffness * h * h);
                let change = multiplier(c, *lambda, compliance, rate, along, w);
                *lambda += change;
                state.x[i] -= n * (change * self.inverse[i]);
                state.x[j] += n * (change * self.inverse[j]);
            }
            state.push_out(&touches, &self.held);
        }
        state.came_from(&before, h);
        rub(stage, &touches, &self.held, h, state);
        Work::iterations(PASSES)
    }
}

/// Friction of vertices that lie on a plane: gravity's pressure is what they are known to have.
pub fn rub(stage: &Stage, touches: &[super::stage::Touch], held: &[bool], h: f64, state: &mut State) {
    let pressed = DVec3::Y * (stage.gravity().y * h);
    for t in touches {
        if t.gap(state.x[t.vertex]) < 1e-6 {
            state.x[t.vertex] -= t.normal * 1e-9;
            state.v[t.vertex] += t.normal * t.normal.dot(pressed).min(0.0);
        }
    }
    collide(touches, held, stage.friction, h, state);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_of_a_constraint_is_its_difference() {
        let (stage, x) = super::super::grid::crumpled(9);
        for s in cut(&stage, 1.0) {
            let [a, b] = s.ends.map(|e| x[e as usize]);
            let (_, gradient) = constraint(&s, a, b);
            for axis in DVec3::AXES {
                let e = 1e-6 * axis;
                let second = (constraint(&s, a, b + e).0 - constraint(&s, a, b - e).0) / 2e-6;
                let first = (constraint(&s, a + e, b).0 - constraint(&s, a - e, b).0) / 2e-6;
                assert!(
                    (second - gradient.dot(axis)).abs() < 1e-7 && (first + gradient.dot(axis)).abs() < 1e-7
                );
            }
        }
    }

    #[test]
    fn a_converged_constraint_is_a_spring_of_implicit_euler() {
        // One mass on a spring to a fixed point: (m + h²k) x₊ = m (x + h v) about rest.
        let (m, k, h, reach) = (0.3, 50.0, 0.02, 0.07);
        let (mut x, mut lambda) = (reach, 0.0);
        let mut after_one = 0.0;
        for pass in 0..5 {
            let change = multiplier(x, lambda, 1.0 / (k * h * h), 0.0, 0.0, 1.0 / m);
            lambda += change;
            x += change / m;
            if pass == 0 {
                after_one = x;
            }
        }
        assert!((x - m * reach / (m + h * h * k)).abs() < 1e-12);
        // And more passes change nothing, which plain position-based dynamics cannot say.
        assert!((x - after_one).abs() < 1e-12);
    }
}
