//! What cloth resists: one physical idea per file.

pub mod air;
pub mod arctangent;
pub mod bending;
pub mod membrane;
pub mod membrane_lanes;
