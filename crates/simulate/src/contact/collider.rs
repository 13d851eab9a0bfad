//! Rigid shapes with exact distances.

use glam::{DAffine3, DVec3};

/// A shape about its own origin; cylinders and capsules stand along Y.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// Solid ball.
    Sphere {
        /// m.
        radius: f64,
    },
    /// A segment of `2·half_length` with a radius.
    Capsule {
        /// m.
        half_length: f64,
        /// m.
        radius: f64,
    },
    /// A solid cylinder with flat ends.
    Cylinder {
        /// m.
        half_length: f64,
        /// m.
        radius: f64,
    },
    /// Everything under local y = 0.
    Plane,
}

/// A shape in the world that may move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collider {
    /// What it is.
    pub shape: Shape,
    /// Where it will be at the end of the next step.
    pub world_from_local: DAffine3,
    /// Where it was at the end of the last step.
    pub world_from_local_before: DAffine3,
    /// Coulomb coefficient; the fabric's where `None`.
    pub friction: Option<f64>,
}

impl Collider {
    /// A shape that stands still.
    pub fn fixed(shape: Shape, world_from_local: DAffine3) -> Self {
        Self { shape, world_from_local, world_from_local_before: world_from_local, friction: None }
    }

    /// Signed distance and outward normal at a world point, with the shape at `world_from_local`.
    pub fn distance(&self, world_from_local: &DAffine3, p: DVec3) -> (f64, DVec3) {
        let local = world_from_local.inverse().transform_point3(p);
        let (d, n) = self.shape.distance(local);
        (d, world_from_local.transform_vector3(n))
    }
}

impl Shape {
    /// Signed distance and outward normal.
    pub fn distance(&self, p: DVec3) -> (f64, DVec3) {
        match *self {
            Self::Sphere { radius } => {
                let l = p.length();
                (l - radius, if l > 1e-12 { p / l } else { DVec3::Y })
            }
            Self::Capsule { half_length, radius } => {
                let axis = DVec3::new(0.0, p.y.clamp(-half_length, half_length), 0.0);
                let q = p - axis;
                let l = q.length();
                (l - radius, if l > 1e-12 { q / l } else { DVec3::X })
            }
            Self::Cylinder { half_length, radius } => {
                let flat = DVec3::new(p.x, 0.0, p.z);
                let l = flat.length();
                let side = if l > 1e-12 { flat / l } else { DVec3::X };
                let cap = DVec3::new(0.0, p.y.signum(), 0.0);
                let (dr, dy) = (l - radius, p.y.abs() - half_length);
                if dr > 0.0 && dy > 0.0 {
                    let d = (dr * dr + dy * dy).sqrt();
                    (d, (side * dr + cap * dy) / d)
                } else if dr > dy {
                    (dr, side)
                } else {
                    (dy, cap)
                }
            }
            Self::Plane => (p.y, DVec3::Y),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_geometry::Random;

    #[test]
    fn normals_are_gradients_of_distances() {
        let mut r = Random::new(9);
        let shapes = [
            Shape::Sphere { radius: 0.3 },
            Shape::Capsule { half_length: 0.4, radius: 0.2 },
            Shape::Cylinder { half_length: 0.4, radius: 0.3 },
            Shape::Plane,
        ];
        for shape in shapes {
            for _ in 0..100 {
                let p = r.vector();
                let (_, n) = shape.distance(p);
                let eps = 1e-6;
                let d =
                    |v: DVec3| (shape.distance(p + v * eps).0 - shape.distance(p - v * eps).0) / (2.0 * eps);
                let g = DVec3::new(d(DVec3::X), d(DVec3::Y), d(DVec3::Z));
                assert!((g - n).length() < 1e-5, "{shape:?} {p} {g} {n}");
            }
        }
    }
}
