//! A rigged character: mesh, skeleton and the weights between them.

use crate::{Error, Humanoid, Mesh, Pose, Result, Skeleton, Skin};
use glam::{Affine3A, Quat, Vec3};

/// A character that linear blend skinning deforms.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// For reports.
    pub name: String,
    /// The joints.
    pub skeleton: Skeleton,
    /// `joint_from_bind`: where each joint was when the weights were painted (the inverse bind matrices).
    pub joint_from_bind: Vec<Affine3A>,
    /// The surface in its bind pose.
    pub mesh: Mesh,
    /// Weights of `mesh`'s vertices to `skeleton`'s joints.
    pub skin: Skin,
}

impl Body {
    /// Puts the parts together and checks that they fit.
    pub fn new(
        name: impl Into<String>,
        skeleton: Skeleton,
        joint_from_bind: Vec<Affine3A>,
        mesh: Mesh,
        skin: Skin,
    ) -> Result<Self> {
        let name = name.into();
        if joint_from_bind.len() != skeleton.len() {
            return Err(Error::Invalid(format!(
                "body `{name}` has {} joints but {} bind matrices",
                skeleton.len(),
                joint_from_bind.len()
            )));
        }
        if skin.len() != mesh.positions.len() || skin.joint_count() > skeleton.len() {
            return Err(Error::Invalid(format!(
                "body `{name}`: weights are for {} vertices and {} joints, the body has {} and {}",
                skin.len(),
                skin.joint_count(),
                mesh.positions.len(),
                skeleton.len()
            )));
        }
        Ok(Self { name, skeleton, joint_from_bind, mesh, skin })
    }

    /// A body whose skeleton's rest pose is the pose it was bound in.
    pub fn bound_at_rest(
        name: impl Into<String>,
        skeleton: Skeleton,
        mesh: Mesh,
        skin: Skin,
    ) -> Result<Self> {
        let world = skeleton.world_from_joints(&skeleton.rest_pose());
        let joint_from_bind = world.iter().map(Affine3A::inverse).collect();
        Self::new(name, skeleton, joint_from_bind, mesh, skin)
    }

    /// The bone matrices `world_from_bind` of a pose, one per joint: what skinning multiplies with.
    pub fn bones(&self, pose: &Pose) -> Vec<Affine3A> {
        let world = self.skeleton.world_from_joints(pose);
        world.iter().zip(&self.joint_from_bind).map(|(w, b)| *w * *b).collect()
    }

    /// The skinned surface for given bone matrices.
    pub fn skinned_positions(&self, bones: &[Affine3A]) -> Vec<Vec3> {
        let mut out = vec![Vec3::ZERO; self.mesh.positions.len()];
        self.skin.skin_positions(&self.mesh.positions, bones, &mut out);
        out
    }

    /// The same character turned about the vertical through the origin, counter-clockwise seen from above.
    #[must_use]
    pub fn turned(&self, degrees: f32) -> Self {
        let turn = Quat::from_rotation_y(degrees.to_radians());
        let mut body = self.clone();
        for joint in body.skeleton.joints.iter_mut().filter(|j| j.parent.is_none()) {
            joint.rest.rotation = turn * joint.rest.rotation;
            joint.rest.translation = turn * joint.rest.translation;
        }
        let bind_from_turned = Affine3A::from_quat(turn.inverse());
        body.joint_from_bind.iter_mut().for_each(|m| *m *= bind_from_turned);
        body.mesh.positions.iter_mut().for_each(|p| *p = turn * *p);
        body
    }

    /// Which joints play which part of a human, as far as names and hierarchy tell.
    pub fn humanoid(&self) -> Humanoid {
        Humanoid::of(&self.skeleton)
    }
}
