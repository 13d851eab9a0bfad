//! PCA of the skinned body, done on bone matrices (eq. 2).
//!
//! A skinned vertex is linear in the bones' 12·J entries `b`: the whole surface is `S b` with a constant `S`. So
//! the PCA of surfaces needs only the covariance of `b` and the Gram matrix `G = SᵀS = H ⊗ I₃`, where `H` sums
//! `φφᵀ` over vertices with `φ_{(j,c)} = w_j (v̄, 1)_c`. With `G = L Lᵀ` the coefficients are `x = Uᵀ Lᵀ (b − b̄)`,
//! `U` the eigenvectors of `Lᵀ cov(b) L`: no body mesh is ever skinned.

use crate::Error;
use crate::takes::sequence::canonical_bones;
use crate::takes::source::TakeSource;
use faer::{Mat, Side};
use toile_assets::{Body, Take};

/// Mean bones and the map from bones to body coefficients.
pub(crate) struct BodySpace {
    /// 12·joints.
    pub mean: Vec<f64>,
    /// `dims × 12·joints`.
    pub from_bones: Mat<f64>,
}

impl BodySpace {
    /// At most `dims` directions, fewer where the frames do not span them.
    pub fn new<S: TakeSource + ?Sized>(
        body: &Body,
        source: &S,
        plain: &[usize],
        dims: usize,
    ) -> Result<Self, Error> {
        let n = 12 * body.skeleton.len();
        let mut mean = vec![0.0; n];
        let mut count = 0usize;
        for &i in plain {
            let take = source.take(i)?;
            for f in 0..take.len() {
                mean.iter_mut().zip(canonical_bones(&take, f)).for_each(|(m, v)| *m += v);
            }
            count += take.len();
        }
        mean.iter_mut().for_each(|m| *m /= count.max(1) as f64);
        let root = root_of_skinning(body)?;
        let mut covariance = Mat::<f64>::zeros(n, n);
        for &i in plain {
            let take = source.take(i)?;
            let weighted = root.transpose() * centred(&take, &mean);
            covariance += &weighted * weighted.transpose();
        }
        let eigen = covariance
            .self_adjoint_eigen(Side::Lower)
            .map_err(|e| Error::Numerical(format!("PCA of the body: {e:?}")))?;
        let (values, vectors) = (eigen.S().column_vector(), eigen.U());
        let largest = values[n - 1].max(0.0);
        // Less than ten micrometres of root mean square is rounding of f32 bones.
        let least = (1e-10 * largest).max(1e-10 * (count * body.mesh.positions.len()) as f64);
        let usable = (0..n).filter(|&i| values[i] > least).count();
        let dims = dims.min(usable);
        let axes = Mat::from_fn(n, dims, |r, k| vectors[(r, n - 1 - k)]);
        Ok(Self { mean, from_bones: axes.transpose() * root.transpose() })
    }

    /// Coefficients of every frame of a take.
    pub fn project(&self, take: &Take) -> Mat<f64> {
        &self.from_bones * centred(take, &self.mean)
    }
}

/// Canonical bones of every frame less the mean, column per frame.
fn centred(take: &Take, mean: &[f64]) -> Mat<f64> {
    let mut data = Mat::<f64>::zeros(mean.len(), take.len());
    for frame in 0..take.len() {
        for ((row, value), mean) in canonical_bones(take, frame).enumerate().zip(mean) {
            data[(row, frame)] = value - mean;
        }
    }
    data
}

/// `L` with `L Lᵀ = G`, the Gram matrix of linear blend skinning over the body's vertices.
fn root_of_skinning(body: &Body) -> Result<Mat<f64>, Error> {
    let joints = body.skeleton.len();
    let mut h = Mat::<f64>::zeros(4 * joints, 4 * joints);
    for (v, p) in body.mesh.positions.iter().enumerate() {
        let point = [p.x, p.y, p.z, 1.0].map(f64::from);
        let row: Vec<(usize, f64)> = body.skin.row(v).map(|(j, w)| (j as usize, f64::from(w))).collect();
        for &(i, wi) in &row {
            for &(j, wj) in &row {
                for a in 0..4 {
                    for b in 0..4 {
                        h[(4 * i + a, 4 * j + b)] += wi * wj * point[a] * point[b];
                    }
                }
            }
        }
    }
    // Joints without weights leave `H` singular, so its square root comes from eigenvectors, not Cholesky.
    let eigen = h
        .self_adjoint_eigen(Side::Lower)
        .map_err(|e| Error::Numerical(format!("Gram matrix of the skinning: {e:?}")))?;
    let (values, vectors) = (eigen.S().column_vector(), eigen.U());
    let mut root = Mat::<f64>::zeros(12 * joints, 12 * joints);
    for r in 0..4 * joints {
        for c in 0..4 * joints {
            let value = vectors[(r, c)] * values[c].max(0.0).sqrt();
            for axis in 0..3 {
                // Entry order within a bone: three columns of the linear part, then the translation; x, y, z in each.
                root[(3 * r + axis, 3 * c + axis)] = value;
            }
        }
    }
    Ok(root)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::train::tests::{swaying_takes, tube_body};

    #[test]
    fn coefficients_from_bones_equal_projecting_the_skinned_body() {
        let body = tube_body();
        let takes = swaying_takes(&body, 2, 60);
        let space = BodySpace::new(&body, &takes, &[0, 1], 8).unwrap();
        let from_bones = space.project(&takes[0]);
        // The long way round: skin every vertex, then measure distances between frames. An orthonormal
        // projection of surfaces keeps them up to the truncated part.
        let surface = |f: usize| -> Vec<f64> {
            let bones = takes[0].frame_bones(f);
            let root = takes[0].roots[f];
            body.skinned_positions(bones)
                .iter()
                .flat_map(|p| root.canonical_from_world(p.as_dvec3()).to_array())
                .collect()
        };
        let (a, b) = (surface(3), surface(47));
        let full: f64 = a.iter().zip(&b).map(|(p, q)| (p - q).powi(2)).sum::<f64>().sqrt();
        let latent: f64 = (0..from_bones.nrows())
            .map(|k| (from_bones[(k, 3)] - from_bones[(k, 47)]).powi(2))
            .sum::<f64>()
            .sqrt();
        assert!((full - latent).abs() < 1e-5 * full.max(1.0), "{full} against {latent}");
    }
}
