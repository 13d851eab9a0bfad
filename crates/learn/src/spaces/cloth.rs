//! PCA of the garment in the canonical frame (eq. 1).
//!
//! The leading directions come from subspace iteration (Halko, Martinsson & Tropp 2011): a block of vectors is
//! sent through all frames a few times, chunk by chunk. Memory is that block and one chunk, whatever the number
//! of frames.

use crate::Error;
use crate::takes::sequence::canonical_cloth;
use crate::takes::source::TakeSource;
use faer::{Mat, Side};
use toile_assets::Take;

/// Mean and orthonormal basis of the garment.
pub(crate) struct ClothSpace {
    /// 3·vertices.
    pub mean: Vec<f64>,
    /// `3·vertices × dims`.
    pub basis: Mat<f64>,
}

/// Directions carried along beyond those asked for; they make the last ones converge.
const SPARE: usize = 24;
/// Times the block is sent through the frames. The spectrum of cloth falls by an order of magnitude over the spare
/// directions, so the third pass changes projections by less than a thousandth (test).
const PASSES: usize = 4;

/// Frames of some takes, in chunks of at most `chunk` columns of 3·vertices numbers less the mean.
struct Frames<'a, S: TakeSource + ?Sized> {
    source: &'a S,
    plain: &'a [usize],
    rows: usize,
    chunk: usize,
}

impl<S: TakeSource + ?Sized> Frames<'_, S> {
    fn each(&self, mean: &[f64], mut work: impl FnMut(&Mat<f64>, usize)) -> Result<(), Error> {
        let mut data = Mat::<f64>::zeros(self.rows, self.chunk);
        let mut filled = 0;
        for &i in self.plain {
            let take = self.source.take(i)?;
            for f in 0..take.len() {
                let column = data.col_as_slice_mut(filled);
                let frame: &Take = &take;
                for ((to, value), mean) in column.iter_mut().zip(canonical_cloth(frame, f)).zip(mean) {
                    *to = value - mean;
                }
                filled += 1;
                if filled == self.chunk {
                    work(&data, filled);
                    filled = 0;
                }
            }
        }
        if filled > 0 {
            work(&data, filled);
        }
        Ok(())
    }
}

impl ClothSpace {
    /// At most `dims` directions, fewer where the frames do not span them. `chunk` frames are held at once.
    pub fn new<S: TakeSource + ?Sized>(
        source: &S,
        plain: &[usize],
        vertices: usize,
        dims: usize,
        chunk: usize,
    ) -> Result<Self, Error> {
        let rows = 3 * vertices;
        let frames = Frames { source, plain, rows, chunk: chunk.max(1) };
        let mut mean = vec![0.0; rows];
        let mut count = 0usize;
        frames.each(&vec![0.0; rows], |data, filled| {
            for c in 0..filled {
                mean.iter_mut().zip(data.col_as_slice(c)).for_each(|(m, v)| *m += v);
            }
            count += filled;
        })?;
        mean.iter_mut().for_each(|m| *m /= count.max(1) as f64);
        Self::about(source, plain, mean, dims, chunk)
    }

    /// Directions of displacement from a given shape.
    pub fn about<S: TakeSource + ?Sized>(
        source: &S,
        plain: &[usize],
        mean: Vec<f64>,
        dims: usize,
        chunk: usize,
    ) -> Result<Self, Error> {
        let rows = mean.len();
        let vertices = rows / 3;
        let frames = Frames { source, plain, rows, chunk: chunk.max(1) };
        let mut count = 0usize;
        frames.each(&mean, |_, filled| count += filled)?;
        let width = (dims + SPARE).min(rows).min(count);
        let mut block = scattered(rows, width);
        for _ in 0..PASSES {
            let mut next = Mat::<f64>::zeros(rows, width);
            frames.each(&mean, |data, filled| {
                let x = data.subcols(0, filled);
                next += x * (x.transpose() * &block);
            })?;
            block = next.qr().compute_thin_Q();
        }
        let mut small = Mat::<f64>::zeros(width, width);
        frames.each(&mean, |data, filled| {
            let y = block.transpose() * data.subcols(0, filled);
            small += &y * y.transpose();
        })?;
        let eigen = small
            .self_adjoint_eigen(Side::Lower)
            .map_err(|e| Error::Numerical(format!("PCA of the garment: {e:?}")))?;
        let (values, vectors) = (eigen.S().column_vector(), eigen.U());
        let largest = values[width - 1].max(0.0);
        // Less than a micrometre of root mean square is rounding of f32 positions.
        let least = (1e-12 * largest).max(1e-12 * (count * vertices) as f64);
        let usable = (0..width).filter(|&i| values[i] > least).count();
        let dims = dims.min(usable);
        let axes = Mat::from_fn(width, dims, |r, k| vectors[(r, width - 1 - k)]);
        Ok(Self { mean, basis: block * axes })
    }

    /// Coefficients of every frame of a take.
    pub fn project(&self, take: &Take) -> Mat<f64> {
        let mut data = Mat::<f64>::zeros(self.mean.len(), take.len());
        for frame in 0..take.len() {
            let column = data.col_as_slice_mut(frame);
            for ((to, value), mean) in column.iter_mut().zip(canonical_cloth(take, frame)).zip(&self.mean) {
                *to = value - mean;
            }
        }
        self.basis.transpose() * data
    }
}

/// A block of pseudo-random numbers, always the same.
fn scattered(rows: usize, cols: usize) -> Mat<f64> {
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    Mat::from_fn(rows, cols, |_, _| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::train::tests::{swaying_takes, tube_body};

    #[test]
    fn subspace_iteration_finds_what_a_full_decomposition_finds() {
        let mut takes = swaying_takes(&tube_body(), 3, 90);
        // A spectrum without gaps: every coordinate gets its own wobble.
        for (i, p) in takes.iter_mut().flat_map(|t| &mut t.positions).enumerate() {
            let at = i as f32;
            *p += 0.02 * glam::Vec3::new((0.7 * at).sin(), (1.3 * at).cos(), (0.31 * at).sin());
        }
        let space = ClothSpace::new(&takes, &[0, 1, 2], 4, 5, 64).unwrap();
        let mut data = Mat::<f64>::zeros(12, 270);
        for f in 0..270 {
            for (r, v) in canonical_cloth(&takes[f / 90], f % 90).enumerate() {
                data[(r, f)] = v - space.mean[r];
            }
        }
        let values = (&data * data.transpose()).self_adjoint_eigenvalues(Side::Lower).unwrap();
        let left = |basis: &Mat<f64>| (&data - basis * (basis.transpose() * &data)).squared_norm_l2();
        let best: f64 = values[..7].iter().sum();
        assert!(left(&space.basis) <= best * 1.001, "{} left, {best} possible", left(&space.basis));
        let unit = space.basis.transpose() * &space.basis;
        assert!((unit - Mat::<f64>::identity(5, 5)).norm_max() < 1e-12);
    }
}
