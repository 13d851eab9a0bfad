//! Weight.

use glam::DVec3;

/// Energy in joules of a mass at `x`, from the origin.
#[inline]
pub fn energy(mass: f64, gravity: DVec3, x: DVec3) -> f64 {
    -mass * gravity.dot(x)
}

/// Its gradient, the same everywhere.
#[inline]
pub fn gradient(mass: f64, gravity: DVec3) -> DVec3 {
    -gravity * mass
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::slopes;

    #[test]
    fn the_gradient_is_that_of_the_energy() {
        let gravity = DVec3::new(0.5, -9.81, 0.2);
        let found = slopes(|x| energy(0.3, gravity, x), DVec3::new(1.0, 2.0, 3.0));
        assert!(found.distance(gradient(0.3, gravity)) < 1e-6, "{found}");
    }
}
