//! Drag and lift of air on triangles.
//!
//! A thin plate in a stream is pushed along its normal: `−½ ρ c A |v·n| (v·n) n` with `v` the velocity relative
//! to the air. Seen from the stream this is drag and lift together. The factor `|v·n|` is taken from the start
//! of the step, which leaves a quadratic dissipation per vertex: implicit, positive semi-definite and diagonal.

use glam::{DMat3, DVec3};

/// Adds to each corner's `damping` (N·s/m) its third of the plate's `½ρcA|v·n| n nᵀ`.
pub fn add_damping(
    corners: [u32; 3],
    x: &[DVec3],
    v: &[DVec3],
    wind: DVec3,
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
    let mean = corners.iter().map(|&i| v[i as usize]).sum::<DVec3>() / 3.0 - wind;
    let k = half_density_drag * (0.5 * doubled / 3.0) * mean.dot(n).abs();
    let block = DMat3::from_cols(n * (k * n.x), n * (k * n.y), n * (k * n.z));
    for i in corners {
        damping[i as usize] += block;
    }
}
