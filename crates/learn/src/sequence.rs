//! Takes in the canonical frame, as coefficients over time.

use faer::Mat;
use toile_assets::{RootFrame, Take};

/// A take after projection: column per frame.
pub(crate) struct Sequence {
    /// `cloth_dims × frames`.
    pub y: Mat<f64>,
    /// `body_dims × frames`.
    pub x: Mat<f64>,
    /// Root frame per frame.
    pub roots: Vec<RootFrame>,
}

impl Sequence {
    pub fn len(&self) -> usize {
        self.roots.len()
    }
}

/// The garment of one frame in the canonical frame, as 3·vertices numbers.
pub(crate) fn canonical_cloth(take: &Take, frame: usize) -> impl Iterator<Item = f64> + '_ {
    let root = take.roots[frame];
    take.frame(frame).iter().flat_map(move |p| root.canonical_from_world(p.as_dvec3()).to_array())
}

/// The bone matrices of one frame in the canonical frame, as 12·joints numbers.
pub(crate) fn canonical_bones(take: &Take, frame: usize) -> impl Iterator<Item = f64> + '_ {
    let root = take.roots[frame];
    let turn = glam::DMat3::from_rotation_y(-root.heading);
    take.frame_bones(frame).iter().flat_map(move |bone| {
        let linear = turn * glam::Mat3::from(bone.matrix3).as_dmat3();
        let translation = turn * (glam::Vec3::from(bone.translation).as_dvec3() - root.position);
        let mut entries = [0.0; 12];
        entries[..9].copy_from_slice(&linear.to_cols_array());
        entries[9..].copy_from_slice(&translation.to_array());
        entries
    })
}

/// The meta-parameters `z_{i,j}` (eq. 6), with `cos Δr − 1` so that standing still is zero.
pub(crate) fn root_change(i: &RootFrame, j: &RootFrame) -> [f64; 5] {
    let delta = RootFrame { position: glam::DVec3::ZERO, heading: j.heading }
        .canonical_from_world(i.position - j.position);
    let turn = i.heading - j.heading;
    [delta.x, delta.y, delta.z, turn.sin(), turn.cos() - 1.0]
}

/// Evenly thinned `(take, frame)` pairs, at most `limit`.
pub(crate) fn thinned(takes: &[&Take], limit: usize) -> Vec<(usize, usize)> {
    let total: usize = takes.iter().map(|t| t.len()).sum();
    let stride = total.div_ceil(limit.max(1)).max(1);
    let all = takes.iter().enumerate().flat_map(|(i, t)| (0..t.len()).map(move |f| (i, f)));
    all.step_by(stride).collect()
}
