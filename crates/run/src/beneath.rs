//! How deep cloth is in the skin below it, for some nanoseconds a vertex: a reason to climb to a better tier.

use crate::{Error, Result};
use glam::{Affine3A, Vec3};
use toile_model::Attachment;

/// Cloth that has slid farther along the skin than this, m, is above other skin than it was.
const SLIDES_M: f32 = 0.05;
/// Cloth deeper than this, m, is behind a limb, not in the skin below it.
const DEEPEST_M: f32 = 0.05;

/// The skin below some vertices of a garment: each has a point of it, and is inside where it is behind that point.
#[derive(Clone, Debug)]
pub struct Beneath {
    skin: Attachment,
    normals: Vec<Vec3>,
    vertices: Vec<u32>,
}

impl Beneath {
    /// From points of the body's skin in the bind pose with the weights they move with, normals there, and the vertices above
    /// them.
    pub fn new(skin: Attachment, normals: Vec<Vec3>, vertices: Vec<u32>) -> Result<Self> {
        if skin.rest.len() != vertices.len() || normals.len() != vertices.len() {
            let (points, normals, vertices) = (skin.rest.len(), normals.len(), vertices.len());
            let what = format!("{points} points of skin and {normals} normals for {vertices} vertices");
            return Err(Error::Topology { what });
        }
        Ok(Self { skin, normals, vertices })
    }

    /// How deep the deepest of its vertices is, m; 0 where none is inside.
    pub fn deepest_m(&self, bones: &[Affine3A], positions: &[Vec3]) -> f32 {
        let mut deepest = 0.0f32;
        for (k, v) in self.vertices.iter().enumerate() {
            let Some(p) = positions.get(*v as usize) else { continue };
            let placed = self.skin.skin.blend(k, bones);
            let offset = *p - placed.transform_point3(self.skin.rest[k]);
            let normal = placed.transform_vector3(self.normals[k]).normalize_or_zero();
            let above = offset.dot(normal);
            let aside = offset - normal * above;
            if above < 0.0 && above > -DEEPEST_M && aside.length_squared() < SLIDES_M * SLIDES_M {
                deepest = deepest.max(-above);
            }
        }
        deepest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_model::Skin;

    #[test]
    fn cloth_behind_its_skin_is_inside_and_what_has_left_it_is_not() {
        let skin =
            Attachment { skin: Skin::from_rows(vec![vec![(0, 1.0)]; 2]).unwrap(), rest: vec![Vec3::ZERO; 2] };
        let beneath = Beneath::new(skin.clone(), vec![Vec3::Z; 2], vec![0, 2]).unwrap();
        let bone = [Affine3A::from_translation(Vec3::Y)];
        let deep = |a: Vec3, b: Vec3| beneath.deepest_m(&bone, &[a, Vec3::ZERO, b]);
        let above = Vec3::new(0.0, 1.0, 0.01);
        assert_eq!(deep(above, above), 0.0);
        assert!((deep(above, Vec3::new(0.01, 1.0, -0.007)) - 0.007).abs() < 1e-6);
        assert_eq!(deep(above, Vec3::new(0.2, 1.0, -0.007)), 0.0, "slid away");
        assert_eq!(deep(above, Vec3::new(0.0, 1.0, -0.3)), 0.0, "behind the limb");
        assert!(Beneath::new(skin, vec![Vec3::Z], vec![0, 2]).is_err());
    }
}
