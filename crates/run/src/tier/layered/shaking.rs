//! The acceleration that cloth feels on each bone.
//!
//! A skin point is a blend of bones, and so is its acceleration: it is measured and filtered for each bone, not for each
//! vertex. What cloth feels at a place `p` of the bind pose is `Σ wⱼ Rⱼᵀ (g − B̈ⱼ p)`, turned back into the bind pose bone
//! by bone.

use glam::{Affine3A, Mat3A, Vec3A};

const GRAVITY: Vec3A = Vec3A::new(0.0, -9.81, 0.0);
/// How late the measured acceleration of the skin is believed, s, whatever the step: differences of long steps are late
/// by themselves and are filtered the less. Shorter passes on the jerks of 30 Hz motion, longer makes sleeves late.
const DELAY_SECS: f32 = 0.12;
const LEAST_FILTER_SECS: f32 = 0.03;
/// No wearer shakes cloth harder than this, m/s²; beyond it are cuts and errors of capture.
const MOST_ACCELERATION: f32 = 60.0;

#[derive(Clone, Copy)]
struct Bone {
    before: Affine3A,
    velocity: Affine3A,
    /// Filtered.
    acceleration: Affine3A,
}

/// Bones in motion.
pub(super) struct Shaking {
    /// Joints that are looked at.
    joints: Vec<u32>,
    bones: Vec<Bone>,
    /// Acceleration felt by cloth, bone by bone.
    pub felt: Vec<Affine3A>,
    /// 0 at the start, then one step of history, then two.
    known: u8,
    before_secs: f32,
}

impl Shaking {
    /// Of these joints only.
    pub fn new(joints: Vec<u32>) -> Self {
        let rest = Bone { before: Affine3A::ZERO, velocity: Affine3A::ZERO, acceleration: Affine3A::ZERO };
        Self {
            bones: vec![rest; joints.len()],
            felt: vec![Affine3A::ZERO; joints.iter().max().map_or(0, |j| *j as usize + 1)],
            joints,
            known: 0,
            before_secs: 0.0,
        }
    }

    /// Velocities of before mean nothing any more.
    pub fn forget(&mut self) {
        self.known = 0;
    }

    /// `reach_m` is the height of the wearer: how far from the origin of the bind pose a bone moves cloth.
    #[inline(always)]
    pub fn step(&mut self, bones: &[Affine3A], dt: f32, reach_m: f32) {
        let believed = 1.0 - (-dt / (DELAY_SECS - dt).max(LEAST_FILTER_SECS)).exp();
        let between = 2.0 / (dt + self.before_secs);
        for (bone, joint) in self.bones.iter_mut().zip(&self.joints) {
            let (now, felt) = (&bones[*joint as usize], &mut self.felt[*joint as usize]);
            if self.known >= 1 {
                let velocity = scaled(less(*now, bone.before), 1.0 / dt);
                if self.known >= 2 {
                    let measured = limited(scaled(less(velocity, bone.velocity), between), reach_m);
                    let change = less(measured, bone.acceleration);
                    bone.acceleration = less(bone.acceleration, scaled(change, -believed));
                }
                bone.velocity = velocity;
            } else {
                (bone.velocity, bone.acceleration) = (Affine3A::ZERO, Affine3A::ZERO);
            }
            bone.before = *now;
            let back = now.matrix3.transpose();
            felt.matrix3 = back * (bone.acceleration.matrix3 * -1.0);
            felt.translation = back * (GRAVITY - bone.acceleration.translation);
        }
        self.known = (self.known + 1).min(2);
        self.before_secs = dt;
    }
}

fn less(a: Affine3A, b: Affine3A) -> Affine3A {
    Affine3A { matrix3: a.matrix3 - b.matrix3, translation: a.translation - b.translation }
}

fn scaled(a: Affine3A, by: f32) -> Affine3A {
    Affine3A { matrix3: a.matrix3 * by, translation: a.translation * by }
}

/// An acceleration of a bone that does not shake the middle of its wearer harder than cloth is ever shaken.
fn limited(a: Affine3A, reach_m: f32) -> Affine3A {
    let middle = Vec3A::new(0.0, 0.5 * reach_m, 0.0);
    let size = (a.matrix3 * middle + a.translation).length().max(0.25 * reach_m * norm(&a.matrix3));
    if size > MOST_ACCELERATION { scaled(a, MOST_ACCELERATION / size) } else { a }
}

fn norm(m: &Mat3A) -> f32 {
    (m.x_axis.length_squared() + m.y_axis.length_squared() + m.z_axis.length_squared()).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Quat;

    #[test]
    fn a_turned_bone_that_speeds_up_shakes_cloth_backwards_in_its_own_axes() {
        let mut shaking = Shaking::new(vec![0]);
        let turned = Quat::from_rotation_y(std::f32::consts::FRAC_PI_2);
        for k in 0..60 {
            let t = k as f32 / 60.0;
            let bone = Affine3A::from_rotation_translation(turned, (Vec3A::X * (1.5 * t * t)).into());
            shaking.step(&[bone], 1.0 / 60.0, 1.7);
        }
        // 3 m/s² along world +X, which is the bone's +Z.
        let felt = shaking.felt[0].transform_point3a(Vec3A::new(0.1, 1.0, 0.2));
        assert!(felt.distance(Vec3A::new(0.0, -9.81, -3.0)) < 0.05, "{felt}");
        shaking.forget();
        shaking.step(&[Affine3A::from_translation(glam::Vec3::X * 100.0)], 1.0 / 60.0, 1.7);
        assert!(shaking.felt[0].translation.distance(GRAVITY) < 1e-5, "a jump shakes nothing");
    }
}
