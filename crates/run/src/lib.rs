//! The product: learned garments stepped in microseconds, one or thousands.
//!
//! This crate is what a game links: no files, no clock, no window. Give a [`Stable`] garment the bone matrices
//! and the root of its wearer once per frame of the trained rate, and read world-space vertices.

mod skin;
mod stable;
mod tier;

pub use skin::Skinned;
pub use stable::Stable;
pub use tier::{StepReport, Tier};
