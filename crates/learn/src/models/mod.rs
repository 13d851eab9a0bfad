//! From takes to a model: the published forms A, B and C by one regression, and D, a correction on top of skinning.

mod assemble;
pub(crate) mod correction;
pub(crate) mod fit;
pub(crate) mod hidden;
mod limbs;
mod refine;
mod rollout;
mod shield;
pub(crate) mod train;
