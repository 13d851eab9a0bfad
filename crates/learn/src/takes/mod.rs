//! Takes as learning reads them: one at a time, mirrored, cut into sequences; and what they have shown of a body's movement.

pub mod coverage;
pub(crate) mod mirror;
pub(crate) mod sequence;
pub(crate) mod sequences;
pub(crate) mod source;
