//! Kinematic correction of floating cloth against legs and trunk (their §7).

use glam::{Affine3A, Vec3, Vec3A};
use toile_model::layers::LimbCylinder;

/// A limb in its present pose.
pub(super) struct Posed<'a> {
    limb: &'a LimbCylinder,
    world_from_bind: Affine3A,
    bind_from_world: Affine3A,
    axis: Vec3A,
    length: f32,
    sides: [Vec3A; 2],
    widest: f32,
}

impl<'a> Posed<'a> {
    pub fn new(limb: &'a LimbCylinder, bone: &Affine3A) -> Self {
        let along = Vec3A::from(limb.to - limb.from);
        let length = along.length().max(1e-6);
        let axis = along / length;
        let side = Vec3A::from(limb.side);
        let widest = limb.radii.iter().flatten().copied().fold(0.0, f32::max);
        Self {
            limb,
            world_from_bind: *bone,
            bind_from_world: bone.inverse(),
            axis,
            length,
            sides: [side, axis.cross(side)],
            widest,
        }
    }

    /// Of all that can ever reach the limb, what is within `reach` of its skin or inside it now.
    pub fn near(&self, x: &[Vec3A], reach: f32, near: &mut Vec<u32>) {
        let ends = [self.limb.from, self.limb.to].map(|p| self.world_from_bind.transform_point3a(p.into()));
        let along = ends[1] - ends[0];
        let per_length = 1.0 / along.length_squared().max(1e-12);
        let widest = (self.widest + reach) * (self.widest + reach);
        near.clear();
        near.extend(self.limb.candidates.iter().copied().filter(|c| {
            let p = x[*c as usize] - ends[0];
            let t = (p.dot(along) * per_length).clamp(0.0, 1.0);
            (p - along * t).length_squared() < widest
        }));
    }

    /// Moves those of `x` named by `near` out of the limb, cloth of thickness `gap` above its skin; calls `met` with
    /// each vertex and the direction it was moved in.
    pub fn push(
        &self,
        x: &mut [Vec3A],
        near: &[u32],
        outward: &[Vec3],
        gap: f32,
        mut met: impl FnMut(usize, Vec3A),
    ) {
        let from = Vec3A::from(self.limb.from);
        let widest = (self.widest + gap) * (self.widest + gap);
        for &c in near {
            let c = c as usize;
            let p = self.bind_from_world.transform_point3a(x[c]) - from;
            let along = self.axis.dot(p);
            if !self.limb.round && !(0.0..=self.length).contains(&along) {
                continue;
            }
            let q = p - self.axis * along.clamp(0.0, self.length);
            let square = q.length_squared();
            if square >= widest {
                continue;
            }
            let (a, b) = (self.sides[0].dot(q), self.sides[1].dot(q));
            let radius = self.limb.radius(along / self.length, a, b) + gap;
            if square >= radius * radius {
                continue;
            }
            // Cloth that has passed the axis comes out on its own side of the limb, not on the nearest.
            let out = Vec3A::from(outward[c]);
            let across = out - self.axis * self.axis.dot(out);
            let depth = square.sqrt();
            let mut direction = if depth > 1e-5 { q / depth } else { across.normalize_or_zero() };
            let mut move_by = direction * (radius - depth);
            if direction.dot(across) < -0.2 {
                direction = across.normalize_or_zero();
                let (a, b) = (self.sides[0].dot(direction), self.sides[1].dot(direction));
                let radius = self.limb.radius(along / self.length, a, b) + gap;
                move_by = direction * (radius - q.dot(direction));
            }
            x[c] += self.world_from_bind.transform_vector3a(move_by);
            met(c, self.world_from_bind.transform_vector3a(direction));
        }
    }

    /// Where a point fixed to the limb was when the bone was `before`, from where it is now.
    pub fn came_from(&self, p: Vec3A, before: &Affine3A) -> Vec3A {
        before.transform_point3a(self.bind_from_world.transform_point3a(p))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Quat;
    use toile_model::layers::{LIMB_RINGS, LIMB_SIDES};

    #[test]
    fn cloth_leaves_a_turned_leg_on_its_own_side() {
        let limb = LimbCylinder {
            name: "thigh".into(),
            joint: 0,
            from: Vec3::ZERO,
            to: Vec3::NEG_Y * 0.4,
            side: Vec3::X,
            radii: vec![[0.08; LIMB_SIDES]; LIMB_RINGS],
            round: true,
            candidates: vec![0, 1, 2],
        };
        let bone = Affine3A::from_rotation_translation(Quat::from_rotation_x(-1.2), Vec3::new(0.3, 1.0, 0.0));
        let place = |p: Vec3A| bone.transform_point3a(p);
        let inside = [
            Vec3A::new(0.02, -0.2, 0.05),
            Vec3A::new(0.0, -0.2, -0.03), // beyond the axis: its outer side is +Z
            Vec3A::new(0.0, -0.2, 0.2),
        ];
        let mut x = inside.map(place);
        let mut met = Vec::new();
        let (posed, mut near) = (Posed::new(&limb, &bone), Vec::new());
        posed.near(&x, 0.03, &mut near);
        assert_eq!(near, [0, 1], "the third is too far to be looked at");
        posed.push(&mut x, &near, &[Vec3::Z; 3], 0.002, |c, _| met.push(c));
        assert_eq!(met, [0, 1]);
        let back = x.map(|p| bone.inverse().transform_point3a(p));
        for p in &back[..2] {
            assert!(p.with_y(0.0).length() > 0.0819 && p.z > 0.0, "{p}");
        }
        assert!(back[2].distance(inside[2]) < 1e-6);
    }
}
