//! From takes to a model: the published forms A, B and C by one regression, and D, a correction on top of skinning.

mod assemble;
mod between;
pub(crate) mod correction;
pub(crate) mod hidden_skin;
mod limbs;
mod refine;
pub(crate) mod regression;
mod rollout;
mod shield;
pub(crate) mod train;
