//! The skin near a garment: where its vertices are kept outside the body at run time.
//!
//! A few hundred points of the body with their normals, carried by the bones, and for every vertex of the garment those
//! that it was ever near in training. A vertex behind the plane of the nearest of them is moved out to it.

use crate::{Error, Result, Skin};
use glam::Vec3;

/// Points that a vertex may be near, each.
pub const NEIGHBOURS: usize = 6;

/// Points of the body, and which of them each vertex of the garment looks at.
#[derive(Clone, Debug, PartialEq)]
pub struct Shield {
    /// In the bind pose.
    pub points: Vec<Vec3>,
    /// Unit, in the bind pose.
    pub normals: Vec<Vec3>,
    /// Bones of the points.
    pub skin: Skin,
    /// For each vertex of the garment; one that is near fewer names one of them again.
    pub near: Vec<[u32; NEIGHBOURS]>,
    /// How far outside the points' planes vertices are kept, m.
    pub margin_m: f32,
    /// The farthest that a vertex is ever moved, m.
    pub limit_m: f32,
}

impl Shield {
    /// Every part fits a garment of so many vertices on a body of so many joints.
    pub fn check(&self, vertices: usize, joints: usize) -> Result<()> {
        let count = self.points.len();
        let sound = count > 0
            && self.normals.len() == count
            && self.skin.len() == count
            && self.skin.joint_count() <= joints
            && self.near.len() == vertices
            && self.near.iter().flatten().all(|&i| (i as usize) < count)
            && self.points.iter().all(|p| p.abs().max_element() <= 1e3)
            && self.normals.iter().all(|n| (n.length() - 1.0).abs() < 1e-3)
            && (0.0..=0.1).contains(&self.margin_m)
            && (0.0..=0.5).contains(&self.limit_m);
        if sound {
            Ok(())
        } else {
            Err(Error::Invalid("the points that keep the garment outside the body do not fit it".into()))
        }
    }
}
