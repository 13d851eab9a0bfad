//! How far painted vertices may leave their skinned place, and how deep they may go.

use crate::Attachment;
use glam::{Affine3A, Vec3};

/// Limits an artist painted (max distance and backstop, as cloth painted for Unreal or NvCloth has them).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// How far a vertex may be from its skinned place, m; empty where nothing is painted.
    pub max_distance_m: Vec<f32>,
    /// How far a vertex may be below its skinned place, against its normal, m; empty where nothing is painted.
    pub backstop_m: Vec<f32>,
    /// Normals of the garment in the bind pose.
    pub normals: Vec<Vec3>,
}

/// Where a limited vertex is held in one pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Home {
    /// Its skinned place.
    pub at: Vec3,
    /// Unit normal there; zero where there is none.
    pub normal: Vec3,
    /// How far it may be from there, m.
    pub most_m: f32,
    /// How far it may be below there, m.
    pub deep_m: f32,
}

impl Home {
    /// A place brought back to what is allowed.
    pub fn keep(&self, p: Vec3) -> Vec3 {
        let mut offset = p - self.at;
        if self.normal != Vec3::ZERO {
            offset -= self.normal * (offset.dot(self.normal) + self.deep_m).min(0.0);
        }
        self.at + offset.clamp_length_max(self.most_m)
    }
}

impl Limits {
    /// Whether nothing is limited.
    pub fn is_empty(&self) -> bool {
        self.max_distance_m.is_empty() && self.backstop_m.is_empty()
    }

    /// Refuses limits for another number of vertices, and numbers that are no distances.
    pub fn check(&self, vertices: usize) -> Result<(), String> {
        let lists = [("max distances", &self.max_distance_m), ("backstops", &self.backstop_m)];
        for (what, list) in lists {
            if !list.is_empty() && list.len() != vertices {
                let many = list.len();
                return Err(format!("{many} painted {what} for {vertices} vertices"));
            }
            if let Some(v) = list.iter().position(|d| d.is_nan() || *d < 0.0) {
                return Err(format!("painted {what}: vertex {v} has {}", list[v]));
            }
        }
        if !self.backstop_m.is_empty() && self.normals.len() != vertices {
            let many = self.normals.len();
            return Err(format!("{many} normals for {vertices} vertices with backstops"));
        }
        Ok(())
    }

    /// Which vertices are limited at all.
    pub fn vertices(&self) -> impl Iterator<Item = usize> + '_ {
        let finite = |list: &[f32], v: usize| list.get(v).is_some_and(|d| d.is_finite());
        let count = self.max_distance_m.len().max(self.backstop_m.len());
        (0..count).filter(move |v| finite(&self.max_distance_m, *v) || finite(&self.backstop_m, *v))
    }

    /// Where a vertex is held on these bones.
    pub fn home(&self, attachment: &Attachment, bones: &[Affine3A], v: usize) -> Home {
        let placed = attachment.skin.blend(v, bones);
        let deep_m = self.backstop_m.get(v).copied().unwrap_or(f32::INFINITY);
        let normal = match self.normals.get(v) {
            Some(normal) if deep_m.is_finite() => placed.transform_vector3(*normal).normalize_or_zero(),
            _ => Vec3::ZERO,
        };
        Home {
            at: placed.transform_point3(attachment.rest[v]),
            normal,
            most_m: self.max_distance_m.get(v).copied().unwrap_or(f32::INFINITY),
            deep_m,
        }
    }

    /// Brings positions back to what is allowed on these bones.
    pub fn keep(&self, attachment: &Attachment, bones: &[Affine3A], positions: &mut [Vec3]) {
        for v in self.vertices() {
            positions[v] = self.home(attachment, bones, v).keep(positions[v]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Skin;

    #[test]
    fn cloth_comes_back_within_its_distance_and_out_of_its_backstop() {
        let attachment =
            Attachment { skin: Skin::from_rows(vec![vec![(0, 1.0)]; 3]).unwrap(), rest: vec![Vec3::ZERO; 3] };
        let limits = Limits {
            max_distance_m: vec![0.1, 0.0, f32::INFINITY],
            backstop_m: vec![0.02; 3],
            normals: vec![Vec3::Z; 3],
        };
        let bone = Affine3A::from_translation(Vec3::X);
        let mut p = [Vec3::new(1.5, 0.0, 0.0), Vec3::new(1.0, 0.3, 0.0), Vec3::new(1.0, 0.0, -0.5)];
        limits.keep(&attachment, &[bone], &mut p);
        assert!(p[0].distance(Vec3::new(1.1, 0.0, 0.0)) < 1e-6, "{}", p[0]);
        assert_eq!(p[1], Vec3::X);
        assert!(p[2].distance(Vec3::new(1.0, 0.0, -0.02)) < 1e-6, "{}", p[2]);
        assert_eq!(limits.vertices().count(), 3);
    }

    #[test]
    fn limits_of_another_garment_are_refused() {
        let limits = Limits { max_distance_m: vec![0.1; 3], ..Limits::default() };
        limits.check(3).unwrap();
        assert!(limits.check(4).unwrap_err().contains("3 painted max distances for 4"));
        let limits = Limits { backstop_m: vec![0.1, f32::NAN], ..Limits::default() };
        assert!(limits.check(2).unwrap_err().contains("vertex 1 has NaN"));
        let limits = Limits { backstop_m: vec![0.1; 2], ..Limits::default() };
        assert!(limits.check(2).unwrap_err().contains("0 normals"));
    }
}
