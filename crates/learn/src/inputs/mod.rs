//! What a model D is told of its wearer: which joints, on which scale, and the bounded features made of them.

pub(crate) mod features;
pub(crate) mod joints;
pub(crate) mod standard;
pub(crate) mod surroundings;
