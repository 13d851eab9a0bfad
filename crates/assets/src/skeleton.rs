//! Joints, their hierarchy, and poses of them.

use crate::{Error, Result};
use glam::{Affine3A, Quat, Vec3};

/// A rigid transform: rotate, then translate. Readers fold scale away, so none is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transform {
    /// Applied first.
    pub rotation: Quat,
    /// Applied second, in metres.
    pub translation: Vec3,
}

impl Transform {
    /// Does nothing.
    pub const IDENTITY: Self = Self { rotation: Quat::IDENTITY, translation: Vec3::ZERO };

    /// A pure translation.
    pub fn from_translation(translation: Vec3) -> Self {
        Self { translation, ..Self::IDENTITY }
    }

    /// The same transform as a matrix.
    pub fn affine(&self) -> Affine3A {
        Affine3A::from_rotation_translation(self.rotation, self.translation)
    }

    /// Spherical interpolation of the rotation, linear of the translation.
    pub fn lerp(&self, other: &Self, t: f32) -> Self {
        Self {
            rotation: self.rotation.slerp(other.rotation, t),
            translation: self.translation.lerp(other.translation, t),
        }
    }
}

/// One joint of a skeleton.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// As its file names it.
    pub name: String,
    /// Index of the parent; always smaller than the joint's own index.
    pub parent: Option<usize>,
    /// `parent_from_joint` in the rest pose (for roots: `world_from_joint`).
    pub rest: Transform,
}

/// Joints in an order where parents come before their children.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Skeleton {
    /// All joints.
    pub joints: Vec<Joint>,
}

/// A position of every joint: `parent_from_joint`, one per joint of the skeleton.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Pose {
    /// In the skeleton's order.
    pub locals: Vec<Transform>,
}

impl Pose {
    /// Joint-wise interpolation.
    pub fn lerp(&self, other: &Self, t: f32) -> Self {
        let locals = self.locals.iter().zip(&other.locals).map(|(a, b)| a.lerp(b, t)).collect();
        Self { locals }
    }
}

impl Skeleton {
    /// Checks the order of parents and that names are not empty.
    pub fn new(joints: Vec<Joint>) -> Result<Self> {
        for (j, joint) in joints.iter().enumerate() {
            if joint.parent.is_some_and(|p| p >= j) {
                return Err(Error::Invalid(format!(
                    "joint {j} `{}` comes before its parent: the hierarchy is cyclic or out of order",
                    joint.name
                )));
            }
        }
        Ok(Self { joints })
    }

    /// Number of joints.
    pub fn len(&self) -> usize {
        self.joints.len()
    }

    /// Whether there are no joints.
    pub fn is_empty(&self) -> bool {
        self.joints.is_empty()
    }

    /// Index of the joint with exactly this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.joints.iter().position(|j| j.name == name)
    }

    /// The pose in which every joint is at rest.
    pub fn rest_pose(&self) -> Pose {
        Pose { locals: self.joints.iter().map(|j| j.rest).collect() }
    }

    /// Forward kinematics: `world_from_joint` for every joint.
    pub fn world_from_joints(&self, pose: &Pose) -> Vec<Affine3A> {
        debug_assert_eq!(pose.locals.len(), self.joints.len());
        let mut world: Vec<Affine3A> = Vec::with_capacity(self.joints.len());
        for (joint, local) in self.joints.iter().zip(&pose.locals) {
            let m = local.affine();
            world.push(joint.parent.map_or(m, |p| world[p] * m));
        }
        world
    }

    /// Children of joint `j`.
    pub fn children(&self, j: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.joints.len()).filter(move |&c| self.joints[c].parent == Some(j))
    }
}
