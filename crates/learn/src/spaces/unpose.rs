//! Takes back in the bind pose: what is left of a frame when the bones' part is taken off.

use glam::{DMat3, DVec3, Vec3};
use toile_assets::{Attachment, Take};
use toile_model::symmetric_eigen;

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
    let (values, axes) = symmetric_eigen((a.transpose() * a).to_cols_array_2d());
    let mut out = DMat3::ZERO;
    for (value, axis) in values.into_iter().zip(axes.map(DVec3::from_array)) {
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
