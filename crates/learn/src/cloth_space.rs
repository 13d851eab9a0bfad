//! PCA of the garment in the canonical frame (eq. 1).

use crate::Error;
use crate::sequence::{canonical_cloth, thinned};
use faer::{Mat, Side};
use toile_assets::Take;

/// Mean and orthonormal basis of the garment.
pub(crate) struct ClothSpace {
    /// 3·vertices.
    pub mean: Vec<f64>,
    /// `3·vertices × dims`.
    pub basis: Mat<f64>,
}

impl ClothSpace {
    /// At most `dims` directions, fewer where the frames do not span them.
    pub fn new(takes: &[&Take], dims: usize, frames: usize) -> Result<Self, Error> {
        let picked = thinned(takes, frames);
        let rows = 3 * takes[0].vertices;
        let mut data = Mat::<f64>::zeros(rows, picked.len());
        let mut mean = vec![0.0; rows];
        for (col, &(take, frame)) in picked.iter().enumerate() {
            for (row, value) in canonical_cloth(takes[take], frame).enumerate() {
                data[(row, col)] = value;
                mean[row] += value / picked.len() as f64;
            }
        }
        for col in 0..picked.len() {
            for row in 0..rows {
                data[(row, col)] -= mean[row];
            }
        }
        // The smaller Gram matrix has the same spectrum; eigenvectors of the frame side are carried over.
        let by_frame = picked.len() < rows;
        let gram = if by_frame { data.transpose() * &data } else { &data * data.transpose() };
        let eigen = gram
            .self_adjoint_eigen(Side::Lower)
            .map_err(|e| Error::Numerical(format!("PCA of the garment: {e:?}")))?;
        let (values, vectors) = (eigen.S().column_vector(), eigen.U());
        let n = vectors.ncols();
        let largest = values[n - 1].max(0.0);
        let usable = (0..n).filter(|&i| values[i] > 1e-12 * largest).count();
        let dims = dims.min(usable);
        let mut basis = Mat::<f64>::zeros(rows, dims);
        for k in 0..dims {
            let column = vectors.col(n - 1 - k);
            let direction = if by_frame { &data * column } else { column.to_owned() };
            let norm = direction.norm_l2();
            for row in 0..rows {
                basis[(row, k)] = direction[row] / norm;
            }
        }
        Ok(Self { mean, basis })
    }

    /// Coefficients of every frame of a take.
    pub fn project(&self, take: &Take) -> Mat<f64> {
        let mut data = Mat::<f64>::zeros(self.mean.len(), take.len());
        for frame in 0..take.len() {
            for (row, value) in canonical_cloth(take, frame).enumerate() {
                data[(row, frame)] = value - self.mean[row];
            }
        }
        self.basis.transpose() * data
    }
}
