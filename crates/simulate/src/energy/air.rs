//! Drag and lift of air on triangles.
//!
//! A thin plate in a stream is pushed along its normal: `−½ ρ c A |v·n| (v·n) n` with `v` the velocity relative
//! to the air. Seen from the stream this is drag and lift together. The factor `|v·n|` is taken from the start
//! of the step, which leaves a quadratic dissipation per vertex: implicit, positive semi-definite and diagonal.
//!
//! Air that a garment encloses goes with its wearer, the rest with the wind: between wind `w` and wearer `u` a vertex
//! whose air is carried by the share `c` feels `(1 − c) w + c u`. Running into still air and standing in a wind are
//! the same to it.

use glam::{DMat3, DVec3};

/// How the air about the vertices of a garment moves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Air<'a> {
    /// Velocity far from the wearer, m/s.
    pub wind: DVec3,
    /// Velocity of the wearer, m/s.
    pub wearer: DVec3,
    /// Share of it that the air at each vertex has; none where it is empty.
    pub carried: &'a [f64],
}

impl Air<'_> {
    /// Velocity at a vertex, m/s.
    pub fn at(&self, vertex: usize) -> DVec3 {
        let carried = self.carried.get(vertex).copied().unwrap_or(0.0);
        self.wind.lerp(self.wearer, carried)
    }
}

/// The resistance that the air about one vertex puts up in a step.
#[derive(Clone, Copy, Debug)]
pub struct Drag {
    /// `½ρcA|v·n| n nᵀ` of the triangles about it, N·s/m.
    pub damping: DMat3,
    /// Velocity of the air, m/s.
    pub air: DVec3,
    /// From which place, and in how long, the integrator measures velocity: `v = (x − base)/β`.
    pub base: DVec3,
    /// s.
    pub beta: f64,
}

impl Drag {
    /// Velocity relative to the air.
    #[inline]
    fn wind(&self, x: DVec3) -> DVec3 {
        (x - self.base) / self.beta - self.air
    }

    /// Incremental potential in joules at `x`.
    #[inline]
    pub fn energy(&self, x: DVec3) -> f64 {
        let wind = self.wind(x);
        0.5 * self.beta * wind.dot(self.damping * wind)
    }

    /// Its gradient.
    #[inline]
    pub fn gradient(&self, x: DVec3) -> DVec3 {
        self.damping * self.wind(x)
    }

    /// Its second derivative.
    #[inline]
    pub fn hessian(&self) -> DMat3 {
        self.damping * (1.0 / self.beta)
    }
}

/// Adds to each corner's `damping` (N·s/m) its third of the plate's `½ρcA|v·n| n nᵀ`; `v` is relative to the air.
pub fn add_damping(
    corners: [u32; 3],
    x: &[DVec3],
    v: &[DVec3],
    half_density_drag: f64,
    damping: &mut [DMat3],
) {
    let [a, b, c] = corners.map(|i| x[i as usize]);
    let n = (b - a).cross(c - a);
    let doubled = n.length();
    if doubled < 1e-14 {
        return;
    }
    let n = n / doubled;
    let mean = corners.iter().map(|&i| v[i as usize]).sum::<DVec3>() / 3.0;
    let k = half_density_drag * (0.5 * doubled / 3.0) * mean.dot(n).abs();
    let block = DMat3::from_cols(n * (k * n.x), n * (k * n.y), n * (k * n.z));
    for i in corners {
        damping[i as usize] += block;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::slopes;

    #[test]
    fn drag_has_the_derivatives_of_its_energy() {
        let x = [DVec3::ZERO, DVec3::new(0.1, 0.0, 0.02), DVec3::new(0.01, 0.0, 0.12)];
        let v = [DVec3::new(0.3, -2.0, 0.1); 3];
        let mut damping = [DMat3::ZERO; 3];
        add_damping([0, 1, 2], &x, &v, 0.6, &mut damping);
        let (air, base) = (DVec3::new(0.5, 0.2, 0.0), DVec3::splat(0.01));
        let drag = Drag { damping: damping[0], air, base, beta: 1.0 / 240.0 };
        let at = DVec3::new(0.0, -0.01, 0.0);
        let found = slopes(|x| drag.energy(x), at);
        assert!(found.length() > 1e-4, "it resists");
        assert!(found.distance(drag.gradient(at)) < 1e-6 * found.length(), "{found}");
        let slope = slopes(|x| drag.gradient(x).y, at);
        assert!(slope.distance(drag.hessian().y_axis) < 1e-6 * slope.length(), "{slope}");
    }
}
