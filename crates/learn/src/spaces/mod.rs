//! Spaces of few dimensions: of the garment, in the canonical frame or in the bind pose, and of the body.

pub(crate) mod body;
pub(crate) mod cloth;
pub(crate) mod unpose;

pub(crate) use unpose::{unposed, unposed_points};
