//! A wearer's pose as a game gives it, and the same in the model's canonical frame.

use crate::angle::sin_cos;
use crate::{Error, Result};
use glam::{Affine3A, DVec3, Quat, Vec3A};
use toile_model::RootFrame;

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
    /// In the world.
    pub root: RootFrame,
    /// The numbers are body coefficients, not bones.
    pub is_coefficients: bool,
}

impl Pose {
    pub const NONE: Self =
        Self { root: RootFrame { position: DVec3::ZERO, heading: 0.0 }, is_coefficients: false };
}

/// Writes `R_y(−r)(world − p)` of all bones, less `mean`. Products and sums in a fixed order, never fused: the
/// same on all machines.
pub(crate) fn canonical(actor: &Actor, root: &RootFrame, bones: &[Affine3A], mean: &[f32], out: &mut [f32]) {
    let (sin, cos) = sin_cos(root.heading);
    let (s, c) = (sin as f32, cos as f32);
    let turn = |v: Vec3A| Vec3A::new(c * v.x - s * v.z, v.y, c * v.z + s * v.x);
    let (x, y, z) =
        (turn(actor.rotation * Vec3A::X), turn(actor.rotation * Vec3A::Y), turn(actor.rotation * Vec3A::Z));
    let root = turn((root.position - actor.position).as_vec3a());
    let apply = |v: Vec3A| x * Vec3A::splat(v.x) + y * Vec3A::splat(v.y) + z * Vec3A::splat(v.z);
    for (bone, out) in bones.iter().zip(out.as_chunks_mut::<12>().0) {
        let m = &bone.matrix3;
        out[..3].copy_from_slice(&apply(m.x_axis).to_array());
        out[3..6].copy_from_slice(&apply(m.y_axis).to_array());
        out[6..9].copy_from_slice(&apply(m.z_axis).to_array());
        out[9..].copy_from_slice(&(apply(bone.translation) - root).to_array());
    }
    out.iter_mut().zip(mean).for_each(|(v, mean)| *v -= mean);
}

/// Nothing is farther away, m: single precision has metres there.
const FARTHEST_M: f32 = 1e6;

/// Refuses poses that are not finite, too far away or not rigid, or for another number of joints.
pub(crate) fn check(bones: &[Affine3A], joints: usize, actor: &Actor) -> Result<()> {
    if bones.len() != joints {
        return Err(Error::Joints { given: bones.len(), expected: joints });
    }
    let turned = actor.rotation.length_squared();
    if !(actor.position.is_finite() && (0.98..1.02).contains(&turned)) {
        return Err(Error::NotFinite { what: "the actor's position or the length of its rotation".into() });
    }
    if actor.position.abs().max_element() > f64::from(FARTHEST_M) {
        return Err(Error::TooFar { what: "the actor".into() });
    }
    for (joint, bone) in bones.iter().enumerate() {
        // det² ≤ (|x|²|y|²|z|²) ≤ ((|x|² + |y|² + |z|²) / 3)³, both equal for rotations with a uniform scale only.
        let m = &bone.matrix3;
        let squares = m.x_axis * m.x_axis + m.y_axis * m.y_axis + m.z_axis * m.z_axis;
        let size = (squares.x + squares.y + squares.z) / 3.0;
        let volume = m.x_axis.cross(m.y_axis).dot(m.z_axis);
        let rigid = (0.9..1.1).contains(&size) && volume > 0.0 && size * size * size - volume * volume < 0.03;
        let near = bone.translation.is_finite() && bone.translation.abs().max_element() <= FARTHEST_M;
        if !(rigid && near) {
            return Err(if bone.is_finite() && !near {
                Error::TooFar { what: format!("bone {joint}") }
            } else if bone.is_finite() {
                Error::NotRigid { joint }
            } else {
                Error::NotFinite { what: format!("bone {joint}") }
            });
        }
    }
    Ok(())
}

/// Refuses bones that are not finite or for another number of joints: all that tiers ask for that take any matrix.
pub(crate) fn check_finite(bones: &[Affine3A], joints: usize) -> Result<()> {
    if bones.len() != joints {
        return Err(Error::Joints { given: bones.len(), expected: joints });
    }
    match bones.iter().position(|bone| !bone.is_finite()) {
        Some(joint) => Err(Error::NotFinite { what: format!("bone {joint}") }),
        None => Ok(()),
    }
}

/// Refuses a root frame that is not finite or too far away.
pub(crate) fn check_root(root: &RootFrame) -> Result<()> {
    if root.position.is_finite() && root.heading.is_finite() {
        match root.position.abs().max_element() <= f64::from(FARTHEST_M) {
            true => Ok(()),
            false => Err(Error::TooFar { what: "the root".into() }),
        }
    } else {
        Err(Error::NotFinite { what: "the root".into() })
    }
}

/// Refuses body coefficients that are not finite or for another model.
pub(crate) fn check_coefficients(x: &[f32], expected: usize) -> Result<()> {
    if x.len() != expected {
        return Err(Error::Coefficients { given: x.len(), expected });
    }
    if x.iter().all(|v| v.is_finite()) {
        Ok(())
    } else {
        Err(Error::NotFinite { what: "a body coefficient".into() })
    }
}
