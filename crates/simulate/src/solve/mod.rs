//! Linear algebra of a Newton step.

pub mod pcg;
pub mod system;
