//! Touching: bodies, rigid things, and the cloth itself.

pub mod body;
pub mod cloth;
pub mod collider;
pub mod constraint;
pub mod memory;
pub mod parts;
pub mod surfaces;
