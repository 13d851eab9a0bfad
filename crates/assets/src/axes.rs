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

impl Conversion {
    /// What the numbers of a character mean, from its largest extent and, where known, the way from its feet
    /// to its head; with a sentence for each thing that was not taken as it stands.
    ///
    /// Nobody is 50 m tall and a toddler is 50 cm, so sizes from 50 on are centimetres and from 1000 on
    /// millimetres.
    pub fn guessed(extent: f32, head_from_feet: Option<Vec3>) -> (Self, Vec<String>) {
        let mut notes = Vec::new();
        let (metres_per_unit, unit) = match extent {
            e if e >= 1000.0 => (1e-3, "millimetres"),
            e if e >= 50.0 => (1e-2, "centimetres"),
            _ => (1.0, "metres"),
        };
        if metres_per_unit != 1.0 {
            notes.push(format!("{extent:.1} units across: taken as {unit}"));
        } else if extent > 4.0 || (extent > 0.0 && extent < 0.2) {
            notes
                .push(format!("{extent:.3} units across: taken as metres, which is unusual for a character"));
        }
        let lies = head_from_feet.is_some_and(|d| d.z > 2.0 * d.y.abs() && d.z > 2.0 * d.x.abs());
        if lies {
            notes.push("the head is towards +Z from the feet: taken as Z up and turned to Y up".into());
        }
        (Self { metres_per_unit, up: if lies { UpAxis::Z } else { UpAxis::Y } }, notes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_neither_giants_nor_lying_down() {
        let guess = |size, way| Conversion::guessed(size, way).0;
        assert_eq!(guess(1.7, Some(Vec3::Y)), Conversion::NONE);
        assert_eq!(guess(95.0, None).metres_per_unit, 0.01);
        assert_eq!(guess(1700.0, None).metres_per_unit, 0.001);
        assert_eq!(guess(1.7, Some(Vec3::new(0.1, -0.2, 1.4))).up, UpAxis::Z);
        // A quadruped's head is before its feet as much as above them.
        assert_eq!(guess(1.7, Some(Vec3::new(0.0, 0.5, 0.7))).up, UpAxis::Y);
        assert!(Conversion::guessed(12.0, None).1[0].contains("unusual"));
    }
}
