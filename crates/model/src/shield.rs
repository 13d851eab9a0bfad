//! The skin near a garment: where its vertices are kept outside the body at run time.
//!
//! Cloth that is worn close is kept outside the skin it lies on: a few hundred points of the body with their normals, carried
//! by the bones, and for every vertex of the garment those that it was ever near in training. A vertex behind the plane
//! of the nearest of them is moved out to it. What swings free may meet any side of a limb, however rarely it did in
//! training: there arms and legs are tubes ([`LimbTube`]).

use crate::{Error, LimbTube, Result, Skin};
use glam::Vec3;

/// Points that a vertex may be near, at most.
pub const NEIGHBOURS: usize = 6;
/// Limbs of a body, at most: a vertex names those that it can meet by the bits of a number.
pub const MAX_LIMBS: usize = 32;
/// A vertex that follows a limb by this weight lies on it, and is not kept outside of it.
pub const CARRIED: f32 = 0.7;

/// Points of the body, and which of them each vertex of the garment looks at.
#[derive(Clone, Debug, PartialEq)]
pub struct Shield {
    /// In the bind pose.
    pub points: Vec<Vec3>,
    /// Unit, in the bind pose.
    pub normals: Vec<Vec3>,
    /// Bones of the points.
    pub skin: Skin,
    /// For each vertex of the garment; the number of all points stands for none.
    pub near: Vec<[u32; NEIGHBOURS]>,
    /// How far outside the points' planes vertices are kept, m.
    pub margin_m: f32,
    /// The farthest that a vertex is ever moved, m.
    pub limit_m: f32,
    /// Arms, then legs that the garment is around and what is below them, and behind them parts of the trunk.
    pub limbs: Vec<LimbTube>,
    /// How many of the last limbs are of the trunk: tubes within its skin, which hold what a limb pushed into it.
    pub trunk: usize,
    /// For each vertex of the garment which limbs it meets often, bit by bit; empty where there are no limbs. Limbs that
    /// hardly any vertex meets often are looked at where they come near, but for those that carry it ([`CARRIED`]).
    pub meets: Vec<u32>,
    /// For each vertex of the garment, which way is out of the body in the bind pose: unit; empty where there are no limbs.
    pub outward: Vec<Vec3>,
}

impl Shield {
    /// Every part fits a garment of so many vertices on a body of so many joints.
    pub fn check(&self, vertices: usize, joints: usize) -> Result<()> {
        let count = self.points.len();
        let limbs = self.limbs.len();
        let is_unit = |n: &Vec3| (n.length() - 1.0).abs() < 1e-3;
        let per_vertex = if limbs == 0 { 0 } else { vertices };
        let sound = count > 0
            && self.normals.len() == count
            && self.skin.len() == count
            && self.skin.joint_count() <= joints
            && self.near.len() == vertices
            && self.near.iter().flatten().all(|&i| (i as usize) <= count)
            && self.points.iter().all(|p| p.abs().max_element() <= 1e3)
            && self.normals.iter().all(is_unit)
            && (0.0..=0.1).contains(&self.margin_m)
            && (0.0..=0.5).contains(&self.limit_m)
            && limbs <= MAX_LIMBS
            && self.trunk <= limbs
            && self.limbs.iter().all(|limb| limb.is_sound(joints))
            && self.meets.len() == per_vertex
            && self.outward.len() == per_vertex
            && self.meets.iter().all(|bits| u64::from(*bits) >> limbs == 0)
            && self.outward.iter().all(is_unit);
        if sound {
            Ok(())
        } else {
            Err(Error::Invalid("the points that keep the garment outside the body do not fit it".into()))
        }
    }
}
