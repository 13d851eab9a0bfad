//! Takes in the canonical frame, as coefficients over time.

use faer::{Mat, MatRef};
use std::f64::consts::TAU;
use toile_assets::{RootFrame, Take};

/// A take after projection: column per frame. A stop take is led in by the frames of the clip it branches from,
/// so that the first windows after the stop see the motion before it.
#[derive(Clone)]
pub(crate) struct Sequence {
    /// `cloth_dims × frames`.
    pub y: Mat<f64>,
    /// `body_dims × frames`.
    pub x: Mat<f64>,
    /// Root frame per frame.
    pub roots: Vec<RootFrame>,
    /// Leading frames that belong to another take: history for windows, never their end.
    pub lead: usize,
}

impl Sequence {
    pub fn len(&self) -> usize {
        self.roots.len()
    }

    /// The same sequence in fewer dimensions (both spaces are nested), or with rows of zeros where there are not
    /// enough.
    pub fn truncated(&self, body: usize, cloth: usize) -> Self {
        let top = |m: MatRef<'_, f64>, rows: usize| {
            Mat::from_fn(rows, m.ncols(), |r, c| if r < m.nrows() { m[(r, c)] } else { 0.0 })
        };
        Self {
            y: top(self.y.as_ref(), cloth),
            x: top(self.x.as_ref(), body),
            roots: self.roots.clone(),
            lead: self.lead,
        }
    }
}

/// Root frames of a clip's frames `from..at` followed by its stop's. The stop's heading was unwrapped on its own,
/// so it may be whole turns away from the clip's.
pub(crate) fn joined_roots(
    plain: &[RootFrame],
    from: usize,
    at: usize,
    stop: &[RootFrame],
) -> Vec<RootFrame> {
    let mut roots = plain[from..at].to_vec();
    let turns = ((plain[at].heading - stop[0].heading) / TAU).round() * TAU;
    roots.extend(stop.iter().map(|r| RootFrame { heading: r.heading + turns, ..*r }));
    roots
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

/// The meta-parameters `z_{i,j}` (eq. 6), with `cos Δr − 1` so that standing still is zero; `paper` keeps the
/// printed `cos Δr`, which is nearly a constant.
pub(crate) fn root_change(i: &RootFrame, j: &RootFrame, paper: bool) -> [f64; 5] {
    let delta = RootFrame { position: glam::DVec3::ZERO, heading: j.heading }
        .canonical_from_world(i.position - j.position);
    let turn = i.heading - j.heading;
    [delta.x, delta.y, delta.z, turn.sin(), turn.cos() - if paper { 0.0 } else { 1.0 }]
}
