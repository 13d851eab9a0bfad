//! What cloth does about each site: PCA of displacements taken back to the bind pose (§4, Basis Creation).
//!
//! The PCA is about the kinematic cloth and not about the mean of a site: displacements of the size of the mean have to be
//! in its span, or cloth that comes to a site could never take on what is common to all its frames.

use super::poses::Poses;
use super::sites::Place;
use super::{AdaptiveSettings, LEAST_STRETCH};
use crate::Error;
use crate::spaces::unpose::unposed_above;
use crate::takes::source::TakeSource;
use faer::{Mat, Side};
use toile_assets::Attachment;

/// The basis of one site.
pub(super) struct SiteBasis {
    /// Vector after vector, 3·vertices numbers, the largest of each one.
    pub vectors: Vec<f32>,
    pub significance: Vec<f32>,
    pub frames: usize,
    /// Some of its frames: which of those that were looked at, and its displacements along the vectors.
    pub hangs: Vec<(usize, Vec<f32>)>,
}

/// Frames of a site that a database keeps, for cloth that is put on to begin with.
const HANGS: usize = 32;

/// The bases of all sites.
pub(super) struct Bases {
    pub bases: Vec<SiteBasis>,
    pub clamped: usize,
    pub displacement_m: f64,
    pub left_m: f64,
    /// Per vertex its largest displacement, m.
    pub reach: Vec<f32>,
}

pub(super) fn find<S: TakeSource + ?Sized>(
    source: &S,
    attachment: &Attachment,
    poses: &Poses,
    places: &[Place],
    settings: &AdaptiveSettings,
    watch: &dyn Fn(f64),
) -> Result<Bases, Error> {
    let reach = vec![0.0; attachment.rest.len()];
    let mut found = Bases { bases: Vec::new(), clamped: 0, displacement_m: 0.0, left_m: 0.0, reach };
    let (mut squares, mut left, mut count) = (0.0, 0.0, 0usize);
    for (k, place) in places.iter().enumerate() {
        let frames = thinned(&place.frames, settings.most_frames);
        let (data, clamped) = displacements(source, attachment, poses, &frames)?;
        found.clamped += clamped;
        for column in 0..data.ncols() {
            let displacements = data.col_as_slice(column).as_chunks::<3>().0;
            for (reach, d) in found.reach.iter_mut().zip(displacements) {
                *reach = reach.max(d.iter().map(|v| v * v).sum::<f64>().sqrt() as f32);
            }
        }
        let (mut basis, kept) = basis(&data, place.frames.len(), settings)?;
        basis.hangs.iter_mut().for_each(|(frame, _)| *frame = frames[*frame]);
        let sum = data.squared_norm_l2();
        squares += sum;
        left += (sum - kept).max(0.0);
        count += frames.len() * attachment.rest.len();
        found.bases.push(basis);
        watch((k + 1) as f64 / places.len() as f64);
    }
    let rms = |sum: f64| (sum / count.max(1) as f64).sqrt();
    (found.displacement_m, found.left_m) = (rms(squares), rms(left));
    Ok(found)
}

/// At most `most` of them, evenly.
fn thinned(frames: &[usize], most: usize) -> Vec<usize> {
    let count = frames.len().min(most.max(1));
    (0..count).map(|k| frames[k * frames.len() / count]).collect()
}

/// The displacements of some frames in the bind pose, a column each, and how many vertices were too flat to be undone.
fn displacements<S: TakeSource + ?Sized>(
    source: &S,
    attachment: &Attachment,
    poses: &Poses,
    frames: &[usize],
) -> Result<(Mat<f64>, usize), Error> {
    let mut data = Mat::<f64>::zeros(3 * attachment.rest.len(), frames.len());
    let mut clamped = 0;
    let mut open = None;
    for (column, &frame) in frames.iter().enumerate() {
        let (t, f) = poses.of[frame];
        let take = match open.take() {
            Some((number, take)) if number == t => take,
            _ => source.take(t)?,
        };
        let (u, held) = unposed_above(LEAST_STRETCH, attachment, take.frame_bones(f), take.frame(f));
        clamped += held;
        let numbers = u.iter().flat_map(|u| u.to_array());
        data.col_as_slice_mut(column).iter_mut().zip(numbers).for_each(|(to, value)| *to = value);
        open = Some((t, take));
    }
    Ok((data, clamped))
}

/// The leading directions of some displacements, and the sum of squares along them. There are fewer frames than numbers
/// in a frame, so they come from the frames' Gram matrix.
fn basis(data: &Mat<f64>, frames: usize, settings: &AdaptiveSettings) -> Result<(SiteBasis, f64), Error> {
    let gram = data.transpose() * data;
    let eigen = gram
        .self_adjoint_eigen(Side::Lower)
        .map_err(|e| Error::Numerical(format!("PCA of a site: {e:?}")))?;
    let (values, axes, n) = (eigen.S().column_vector(), eigen.U(), data.ncols());
    let value = |k: usize| values[n - 1 - k].max(0.0);
    // Less than a micrometre of root mean square is rounding of f32 positions.
    let noise = 1e-12 * (data.nrows() / 3 * n) as f64;
    let least = (settings.least_significance.powi(2) * value(0)).max(noise);
    let count = (0..n.min(settings.vectors)).take_while(|&k| value(k) > least).count();
    let shown = thinned(&(0..n).collect::<Vec<_>>(), HANGS);
    let hangs = shown.into_iter().map(|c| (c, Vec::new())).collect();
    let mut out = SiteBasis { vectors: Vec::new(), significance: Vec::new(), frames, hangs };
    let mut kept = 0.0;
    for k in 0..count {
        let mut vector = vec![0.0f64; data.nrows()];
        for c in 0..n {
            let share = axes[(c, n - 1 - k)];
            vector.iter_mut().zip(data.col_as_slice(c)).for_each(|(v, d)| *v += share * d);
        }
        let largest = vector.iter().fold(0.0f64, |most, v| most.max(v.abs()));
        out.vectors.extend(vector.iter().map(|v| (v / largest) as f32));
        out.significance.push((value(k) / value(0)).sqrt() as f32);
        out.hangs.iter_mut().for_each(|(c, along)| along.push((axes[(*c, n - 1 - k)] * largest) as f32));
        kept += value(k);
    }
    Ok((out, kept))
}
