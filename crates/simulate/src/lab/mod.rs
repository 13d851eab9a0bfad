//! The physical laboratory: cases with known answers.

pub mod cloths;
pub mod random;
