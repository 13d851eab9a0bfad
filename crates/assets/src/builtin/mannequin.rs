//! A tailor's dummy made from measures.

use super::proportions::Proportions;
use crate::{Body, Mesh, Result, Skin};
use glam::Vec3;

/// Builds the mannequin.
pub fn mannequin(p: &Proportions) -> Result<Body> {
    let skeleton = p.skeleton();
    let mesh =
        Mesh { positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y], triangles: vec![[0, 1, 2]], uvs: vec![] };
    let skin = Skin::from_rows(vec![vec![(0u16, 1.0f32)]; 3])?;
    Body::bound_at_rest("mannequin:female", skeleton, mesh, skin)
}
