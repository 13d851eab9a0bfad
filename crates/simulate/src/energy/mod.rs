//! What cloth resists: one physical idea per file, each with its energy and the derivatives of it. That of touching is with its
//! contacts, in `contact::constraint`.

pub mod air;
pub mod arctangent;
pub mod bending;
pub mod gravity;
pub mod inertia;
pub mod leash;
pub mod membrane;
pub mod membrane_lanes;

/// The gradient of an energy at a point by central differences, to hold derivatives against.
#[cfg(test)]
fn slopes(energy: impl Fn(glam::DVec3) -> f64, at: glam::DVec3) -> glam::DVec3 {
    let eps = 1e-6;
    let along = |axis: glam::DVec3| (energy(at + axis * eps) - energy(at - axis * eps)) / (2.0 * eps);
    glam::DVec3::new(along(glam::DVec3::X), along(glam::DVec3::Y), along(glam::DVec3::Z))
}
