//! Linear algebra of a Newton step.

pub mod cholesky;
pub mod pcg;
pub mod system;
