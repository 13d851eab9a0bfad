//! Takes back in the bind pose: what is left of a frame when the bones' part is taken off.

use glam::{DMat3, DVec3, Vec3};
use toile_assets::{Attachment, Take};

/// Blended bone matrices may flatten where limbs fold; stretches below this are not undone further.
const LEAST_STRETCH: f64 = 0.5;

/// For every vertex of a frame the displacement in the bind pose that skinning would carry to where the simulation has it.
pub(crate) fn unposed(attachment: &Attachment, take: &Take, frame: usize) -> Vec<DVec3> {
    let bones = take.frame_bones(frame);
    let vertices = take.frame(frame).iter().zip(&attachment.rest).enumerate();
    vertices
        .map(|(v, (p, rest))| {
            let blend = attachment.skin.blend(v, bones);
            let apart = p.as_dvec3() - Vec3::from(blend.transform_point3a((*rest).into())).as_dvec3();
            inverse(glam::Mat3::from(blend.matrix3).as_dmat3()) * apart
        })
        .collect()
}

/// The inverse with singular values held above [`LEAST_STRETCH`].
fn inverse(a: DMat3) -> DMat3 {
    let length_sq = a.x_axis.length_squared() + a.y_axis.length_squared() + a.z_axis.length_squared();
    let det = a.determinant();
    // σ₁σ₂ ≤ (σ₁² + σ₂² + σ₃²) / 2, so this is a lower bound of σ₃.
    if 2.0 * det.abs() > LEAST_STRETCH * length_sq {
        return a.inverse();
    }
    let (values, axes) = eigen(a.transpose() * a);
    let mut out = DMat3::ZERO;
    for (value, axis) in values.into_iter().zip(axes) {
        let stretch = value.max(0.0).sqrt();
        if stretch > 1e-6 {
            // v uᵀ / max(σ, least), with u = A v / σ.
            let u = a * axis / stretch;
            let scaled = axis / stretch.max(LEAST_STRETCH);
            out += DMat3::from_cols(scaled * u.x, scaled * u.y, scaled * u.z);
        }
    }
    out
}

/// Eigenvalues and axes of a symmetric matrix, by Jacobi rotations.
fn eigen(a: DMat3) -> ([f64; 3], [DVec3; 3]) {
    let mut g = a.to_cols_array_2d();
    let mut axes = DMat3::IDENTITY.to_cols_array_2d();
    for _ in 0..12 {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if g[p][q] == 0.0 {
                continue;
            }
            let theta = (g[q][q] - g[p][p]) / (2.0 * g[p][q]);
            let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
            let c = 1.0 / (t * t + 1.0).sqrt();
            let s = t * c;
            for k in 0..3 {
                let (x, y) = (g[k][p], g[k][q]);
                (g[k][p], g[k][q]) = (c * x - s * y, s * x + c * y);
            }
            for k in 0..3 {
                let (x, y) = (g[p][k], g[q][k]);
                (g[p][k], g[q][k]) = (c * x - s * y, s * x + c * y);
            }
            for k in 0..3 {
                let (x, y) = (axes[p][k], axes[q][k]);
                (axes[p][k], axes[q][k]) = (c * x - s * y, s * x + c * y);
            }
        }
    }
    ([g[0][0], g[1][1], g[2][2]], axes.map(DVec3::from_array))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_is_exact_where_nothing_flattens_and_bounded_where_it_does() {
        let turned = DMat3::from_rotation_y(0.7) * DMat3::from_rotation_x(-1.1);
        let near = inverse(turned * 0.9) * (turned * 0.9);
        assert!((near - DMat3::IDENTITY).to_cols_array().iter().all(|v| v.abs() < 1e-12));
        // Two thirds in, one axis flattened to a tenth: that one is undone to a fifth only.
        let flat = turned * DMat3::from_diagonal(DVec3::new(0.7, 1.0, 0.1));
        let back = inverse(flat) * flat;
        let want = DMat3::from_diagonal(DVec3::new(1.0, 1.0, 0.2));
        assert!((back - want).to_cols_array().iter().all(|v| v.abs() < 1e-9), "{back:?}");
        assert!(inverse(DMat3::ZERO).is_finite());
    }
}
