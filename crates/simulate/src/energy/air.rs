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
