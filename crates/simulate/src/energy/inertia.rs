//! What mass resists: leaving the way on which no force acts.
//!
//! The integrator says where that way leads, `x̂`, and how long it counts for, `β` (see `step`): the incremental
//! potential is `½ m/β² |x − x̂|²`, and its gradient is mass times acceleration.

use glam::DVec3;

/// Stiffness `m/β²` of a mass in a step, N/m.
#[inline]
pub fn stiffness(mass: f64, beta: f64) -> f64 {
    mass / (beta * beta)
}

/// Energy in joules at `x`.
#[inline]
pub fn energy(stiffness: f64, x: DVec3, predicted: DVec3) -> f64 {
    0.5 * stiffness * (x - predicted).length_squared()
}

/// Its gradient; the second derivative is `stiffness` on the diagonal.
#[inline]
pub fn gradient(stiffness: f64, x: DVec3, predicted: DVec3) -> DVec3 {
    (x - predicted) * stiffness
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::slopes;

    #[test]
    fn the_gradient_is_that_of_the_energy_and_its_slope_the_stiffness() {
        let predicted = DVec3::new(0.1, -0.2, 0.3);
        let k = stiffness(0.002, 1.0 / 240.0);
        let at = DVec3::new(0.12, -0.21, 0.29);
        let found = slopes(|x| energy(k, x, predicted), at);
        assert!(found.distance(gradient(k, at, predicted)) < 1e-6 * found.length(), "{found}");
        let slope = slopes(|x| gradient(k, x, predicted).x, at);
        assert!(slope.distance(DVec3::X * k) < 1e-6 * k, "{slope}");
    }
}
