//! Touching: bodies, rigid things, and the cloth itself.

pub mod body;
pub mod bvh;
pub mod cloth;
pub mod collider;
pub mod constraint;
pub mod continuous;
pub mod distance;
pub mod memory;
pub mod parts;
pub mod quads;
pub mod surfaces;
