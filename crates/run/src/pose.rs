//! A wearer's pose as a game gives it, and the same in the model's canonical frame.

use crate::Error;
use crate::angle::sin_cos;
use glam::{Affine3A, DVec3, Quat, Vec3};
use toile_assets::RootFrame;

/// Where a character stands: what its bone matrices are relative to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Actor {
    /// In the world, metres.
    pub position: DVec3,
    /// `world_from_actor`.
    pub rotation: Quat,
}

impl Actor {
    /// At the origin, unturned: bones are relative to the world.
    pub const IDENTITY: Self = Self { position: DVec3::ZERO, rotation: Quat::IDENTITY };
}

/// One accepted pose; its numbers lie in the owner's array.
#[derive(Clone, Copy)]
pub(crate) struct Pose {
    actor: Actor,
    /// In the world.
    pub root: RootFrame,
    /// The numbers are body coefficients, not bones.
    pub is_coefficients: bool,
}

impl Pose {
    pub const NONE: Self = Self::of_bones(Actor::IDENTITY, RootFrame { position: DVec3::ZERO, heading: 0.0 });

    pub const fn of_bones(actor: Actor, root: RootFrame) -> Self {
        Self { actor, root, is_coefficients: false }
    }

    pub const fn of_coefficients(root: RootFrame) -> Self {
        Self { actor: Actor::IDENTITY, root, is_coefficients: true }
    }

    /// Writes `R_y(−r)(world − p)` of all bones, less `mean`. Plain products and sums, the same on all machines.
    pub fn canonical(&self, bones: &[f32], mean: &[f32], out: &mut [f32]) {
        let (sin, cos) = sin_cos(self.root.heading);
        let (s, c) = (sin as f32, cos as f32);
        let turn = |v: Vec3| [c * v.x - s * v.z, v.y, c * v.z + s * v.x];
        let axes = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| turn(self.actor.rotation * axis));
        let root = turn((self.root.position - self.actor.position).as_vec3());
        let groups = bones.as_chunks::<3>().0.iter().zip(mean.as_chunks::<3>().0);
        for (i, ((v, mean), out)) in groups.zip(out.as_chunks_mut::<3>().0).enumerate() {
            // Every fourth column is a translation.
            let shift = if i % 4 == 3 { root } else { [0.0; 3] };
            for r in 0..3 {
                out[r] = axes[0][r] * v[0] + axes[1][r] * v[1] + axes[2][r] * v[2] - shift[r] - mean[r];
            }
        }
    }
}

/// Refuses poses that are not finite or not rigid, or for another number of joints.
pub(crate) fn check(bones: &[Affine3A], joints: usize, actor: &Actor) -> Result<(), Error> {
    if bones.len() != joints {
        return Err(Error::Joints { given: bones.len(), expected: joints });
    }
    let turned = actor.rotation.length_squared();
    if !(actor.position.is_finite() && (0.98..1.02).contains(&turned)) {
        return Err(Error::NotFinite { what: "the actor's position or the length of its rotation".into() });
    }
    for (joint, bone) in bones.iter().enumerate() {
        let m = &bone.matrix3;
        let (x, y, z) = (m.x_axis, m.y_axis, m.z_axis);
        let lengths = [x.length_squared(), y.length_squared(), z.length_squared()];
        let angles = [x.dot(y), y.dot(z), z.dot(x)];
        // Negated so that a NaN fails.
        let rigid =
            lengths.iter().all(|l| (0.9..1.1).contains(l)) && angles.iter().all(|a| (-0.1..0.1).contains(a));
        if !rigid {
            return Err(if bone.is_finite() {
                Error::NotRigid { joint }
            } else {
                Error::NotFinite { what: format!("bone {joint}") }
            });
        }
        if !bone.translation.is_finite() {
            return Err(Error::NotFinite { what: format!("bone {joint}") });
        }
    }
    Ok(())
}

/// Refuses a root frame that is not finite.
pub(crate) fn check_root(root: &RootFrame) -> Result<(), Error> {
    if root.position.is_finite() && root.heading.is_finite() {
        Ok(())
    } else {
        Err(Error::NotFinite { what: "the root".into() })
    }
}

/// Refuses body coefficients that are not finite or for another model.
pub(crate) fn check_coefficients(x: &[f32], expected: usize) -> Result<(), Error> {
    if x.len() != expected {
        return Err(Error::Coefficients { given: x.len(), expected });
    }
    if x.iter().all(|v| v.is_finite()) {
        Ok(())
    } else {
        Err(Error::NotFinite { what: "a body coefficient".into() })
    }
}
