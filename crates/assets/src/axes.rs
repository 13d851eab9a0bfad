//! Conversion of units and axes into ours: metres, +Y up, right-handed. Nowhere else.

use glam::{Quat, Vec3};

/// Which axis of a file points up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpAxis {
    /// glTF, Maya, Unity: ours.
    Y,
    /// Blender, Unreal, 3ds Max.
    Z,
}

/// How a file's numbers become ours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conversion {
    /// Metres per unit of the file.
    pub metres_per_unit: f64,
    /// The file's up axis.
    pub up: UpAxis,
}

impl Conversion {
    /// Already metres and +Y up.
    pub const NONE: Self = Self { metres_per_unit: 1.0, up: UpAxis::Y };

    /// Converts a point or displacement.
    pub fn point(&self, p: Vec3) -> Vec3 {
        self.rotation() * (p * self.metres_per_unit as f32)
    }

    /// The rotation that carries the file's axes into ours.
    pub fn rotation(&self) -> Quat {
        match self.up {
            UpAxis::Y => Quat::IDENTITY,
            UpAxis::Z => Quat::from_rotation_x(-std::f32::consts::FRAC_PI_2),
        }
    }
}
