//! Inverses of blended bone matrices, which may flatten where limbs fold.

use crate::symmetric_eigen;
use glam::{DMat3, DVec3};

/// The inverse with singular values held above `least`, and whether any had to be.
pub fn clamped_inverse(a: DMat3, least: f64) -> (DMat3, bool) {
    let length_sq = a.x_axis.length_squared() + a.y_axis.length_squared() + a.z_axis.length_squared();
    let det = a.determinant();
    // σ₁σ₂ ≤ (σ₁² + σ₂² + σ₃²) / 2, so this is a lower bound of σ₃.
    if 2.0 * det.abs() > least * length_sq {
        return (a.inverse(), false);
    }
    let (values, axes) = symmetric_eigen((a.transpose() * a).to_cols_array_2d());
    let (mut out, mut clamped) = (DMat3::ZERO, false);
    for (value, axis) in values.into_iter().zip(axes.map(DVec3::from_array)) {
        let stretch = value.max(0.0).sqrt();
        clamped |= stretch < least;
        if stretch > 1e-6 {
            // v uᵀ / max(σ, least), with u = A v / σ.
            let u = a * axis / stretch;
            let scaled = axis / stretch.max(least);
            out += DMat3::from_cols(scaled * u.x, scaled * u.y, scaled * u.z);
        }
    }
    (out, clamped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_is_exact_where_nothing_flattens_and_bounded_where_it_does() {
        let turned = DMat3::from_rotation_y(0.7) * DMat3::from_rotation_x(-1.1);
        let inverse = |a: DMat3| clamped_inverse(a, 0.5);
        let near = inverse(turned * 0.9).0 * (turned * 0.9);
        assert!((near - DMat3::IDENTITY).to_cols_array().iter().all(|v| v.abs() < 1e-12));
        // Two thirds in, one axis flattened to a tenth: that one is undone to a fifth only.
        let flat = turned * DMat3::from_diagonal(DVec3::new(0.7, 1.0, 0.1));
        let (back, clamped) = inverse(flat);
        let back = back * flat;
        assert!(clamped && !inverse(turned).1);
        let want = DMat3::from_diagonal(DVec3::new(1.0, 1.0, 0.2));
        assert!((back - want).to_cols_array().iter().all(|v| v.abs() < 1e-9), "{back:?}");
        assert!(inverse(DMat3::ZERO).0.is_finite());
    }
}
