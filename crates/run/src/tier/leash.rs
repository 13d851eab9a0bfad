//! How far painted vertices may leave their skinned place, and how deep they may go, in any tier.

use crate::{Handed, Result, Tier, TierReport};
use glam::{Affine3A, Vec3};
use toile_model::Attachment;

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

impl Limits {
    /// Whether nothing is limited.
    pub fn is_empty(&self) -> bool {
        self.max_distance_m.is_empty() && self.backstop_m.is_empty()
    }

    /// Brings positions back to what is allowed on these bones.
    pub fn keep(&self, attachment: &Attachment, bones: &[Affine3A], positions: &mut [Vec3]) {
        for (v, p) in positions.iter_mut().enumerate() {
            let most = self.max_distance_m.get(v).copied().unwrap_or(f32::INFINITY);
            let deep = self.backstop_m.get(v).copied().unwrap_or(f32::INFINITY);
            if most == f32::INFINITY && deep == f32::INFINITY {
                continue;
            }
            let placed = attachment.skin.blend(v, bones);
            let home = placed.transform_point3(attachment.rest[v]);
            let mut offset = *p - home;
            if let Some(normal) = self.normals.get(v) {
                let normal = placed.transform_vector3(*normal).normalize_or_zero();
                offset -= normal * (offset.dot(normal) + deep).min(0.0);
            }
            *p = home + offset.clamp_length_max(most);
        }
    }
}

/// Any tier within painted limits.
pub struct Leashed<T> {
    tier: T,
    limits: Limits,
    attachment: Attachment,
    bones: Vec<Affine3A>,
}

impl<T: Tier> Leashed<T> {
    /// The garment as `attachment` skins it is what limits are measured from.
    pub fn new(tier: T, limits: Limits, attachment: Attachment) -> Self {
        Self { tier, limits, attachment, bones: Vec::new() }
    }
}

impl<T: Tier> Tier for Leashed<T> {
    fn reset(&mut self) {
        self.tier.reset();
    }

    fn step(&mut self, bones: &[Affine3A], dt_secs: f64) -> Result<TierReport> {
        let report = self.tier.step(bones, dt_secs)?;
        self.bones.clear();
        self.bones.extend_from_slice(bones);
        Ok(report)
    }

    fn start(&mut self, from: &Handed<'_>) -> Result<()> {
        self.tier.start(from)?;
        self.bones.clear();
        self.bones.extend_from_slice(from.poses.latest().unwrap_or_default());
        Ok(())
    }

    fn positions(&self, out: &mut [Vec3]) {
        self.tier.positions(out);
        if !self.bones.is_empty() {
            self.limits.keep(&self.attachment, &self.bones, out);
        }
    }

    fn velocities(&self, out: &mut [Vec3]) -> bool {
        self.tier.velocities(out)
    }

    fn vertices(&self) -> usize {
        self.tier.vertices()
    }

    fn triangles(&self) -> Option<&[[u32; 3]]> {
        self.tier.triangles()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_model::Skin;

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
    }
}
