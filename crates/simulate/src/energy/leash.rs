//! What paint resists: a vertex that leaves the ball about its skinned place, or sinks too deep below it.
//!
//! One-sided springs: `½ k (|x − h| − r)₊²` for a home `h` and max distance `r`, `½ k (−d − n·(x − h))₊²` for a backstop `d` below
//! it along the normal `n`. Both give way at a strength, and are convex, so their matrices need no mending.

use glam::{DMat3, DVec3};

/// A limited vertex in one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leash {
    /// Which.
    pub vertex: u32,
    /// Its skinned place at the end of the step.
    pub home: DVec3,
    /// Unit normal there; zero where there is no backstop.
    pub normal: DVec3,
    /// How far it may be from there, m.
    pub most_m: f64,
    /// How far it may be below there, m.
    pub deep_m: f64,
    /// N/m.
    pub stiffness: f64,
    /// It never pulls harder than this, N.
    pub strength: f64,
}

impl Leash {
    /// The same with a share of its strength.
    pub fn weakened(self, share: f64) -> Self {
        Self { stiffness: share * self.stiffness, strength: share * self.strength, ..self }
    }

    /// How far beyond the ball a place is, and the direction and distance from home; nothing within it.
    fn beyond(&self, x: DVec3) -> Option<(f64, DVec3, f64)> {
        let offset = x - self.home;
        let distance = offset.length();
        (distance > self.most_m && distance > 0.0)
            .then(|| (distance - self.most_m, offset / distance, distance))
    }

    /// How far below the backstop a place is; nothing above it.
    fn below(&self, x: DVec3) -> Option<f64> {
        let below = -self.deep_m - self.normal.dot(x - self.home);
        (self.normal != DVec3::ZERO && below > 0.0).then_some(below)
    }

    /// Energy in joules at `x`.
    pub fn energy(&self, x: DVec3) -> f64 {
        self.stretched(self.beyond(x).map_or(0.0, |(far, ..)| far))
            + self.stretched(self.below(x).unwrap_or(0.0))
    }

    /// Energy of a spring that gives way.
    fn stretched(&self, by: f64) -> f64 {
        let gives = self.strength / self.stiffness;
        match by <= gives {
            true => 0.5 * self.stiffness * by * by,
            false => self.strength * (by - 0.5 * gives),
        }
    }

    /// Its force over its stretch, N/m: the stiffness until it gives way.
    fn secant(&self, by: f64) -> f64 {
        self.stiffness.min(self.strength / by)
    }

    /// The first derivative and a matrix for Newton's method, the second derivative until a spring gives way and a secant
    /// beyond; nothing where it does not pull.
    pub fn linearise(&self, x: DVec3) -> Option<(DVec3, DMat3)> {
        let outer = |a: DVec3| DMat3::from_cols(a * a.x, a * a.y, a * a.z);
        let (mut gradient, mut matrix) = (DVec3::ZERO, DMat3::ZERO);
        let (beyond, below) = (self.beyond(x), self.below(x));
        if let Some((far, out, distance)) = beyond {
            let k = self.secant(far);
            gradient += out * (k * far);
            // Across the way out it pulls as a string does: by its tension over its length.
            matrix += (outer(out) + (DMat3::IDENTITY - outer(out)) * (far / distance)) * k;
        }
        if let Some(below) = below {
            let k = self.secant(below);
            gradient -= self.normal * (k * below);
            matrix += outer(self.normal) * k;
        }
        (beyond.is_some() || below.is_some()).then_some((gradient, matrix))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::slopes;
    use toile_geometry::Random;

    #[test]
    fn derivatives_are_those_of_the_energy_and_within_the_limits_there_is_none() {
        let mut random = Random::new(7);
        let (mut pulled, mut free) = (0, 0);
        for _ in 0..200 {
            let leash = Leash {
                vertex: 0,
                home: random.vector(),
                normal: random.vector().normalize(),
                most_m: 0.08,
                deep_m: 0.03,
                stiffness: 700.0,
                strength: 20.0,
            };
            let at = leash.home + random.vector() * 0.08;
            let inside = at.distance(leash.home) < 0.08 && leash.normal.dot(at - leash.home) > -0.03;
            match leash.linearise(at) {
                None => {
                    assert!(inside && leash.energy(at) == 0.0);
                    free += 1;
                }
                Some((gradient, matrix)) => {
                    assert!(!inside);
                    let found = slopes(|x| leash.energy(x), at);
                    assert!(
                        found.distance(gradient) < 1e-4 * gradient.length().max(1.0),
                        "{found} {gradient}"
                    );
                    let depth = -0.03 - leash.normal.dot(at - leash.home);
                    let gives = (at.distance(leash.home) - 0.08).max(depth) > 20.0 / 700.0;
                    for k in (0..3).filter(|_| !gives) {
                        let along = |x: DVec3| leash.linearise(x).map_or(0.0, |(g, _)| g[k]);
                        let found = slopes(along, at);
                        assert!(found.distance(matrix.row(k)) < 1e-2 * leash.stiffness, "{found}");
                    }
                    pulled += 1;
                }
            }
        }
        assert!(pulled > 30 && free > 30, "{pulled} pulled, {free} free");
    }
}
