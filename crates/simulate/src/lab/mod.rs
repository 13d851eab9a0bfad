//! The physical laboratory: cases with known answers.

pub mod check;
pub mod cloths;
pub mod random;
mod rows;

pub use rows::*;
