//! Words on pictures.

use crate::{Camera, Image};
use glam::Vec3;

/// Where a label stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Anchor {
    /// In the top left corner.
    TopLeft,
    /// Beside a point of the scene.
    World(Vec3),
}

/// A word on a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// What it says.
    pub text: String,
    /// Where.
    pub anchor: Anchor,
}

impl Label {
    pub(crate) fn write(&self, _image: &mut Image, _camera: &Camera) {}
}
