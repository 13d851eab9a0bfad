//! Touching: bodies, rigid things, and the cloth itself.

pub mod body;
pub mod cloth;
pub mod collider;
pub mod constraint;
pub mod limb_cache;
pub mod limbs;
pub mod surfaces;
