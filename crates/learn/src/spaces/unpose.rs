//! Takes back in the bind pose: what is left of a frame when the bones' part is taken off.

use glam::{Affine3A, DVec3, Vec3};
use toile_assets::{Attachment, Take};
use toile_model::clamped_inverse;

/// Blended bone matrices may flatten where limbs fold; stretches below this are not undone further.
const LEAST_STRETCH: f64 = 0.5;

/// For every vertex of a frame the displacement in the bind pose that skinning would carry to where the simulation has it.
pub(crate) fn unposed(attachment: &Attachment, take: &Take, frame: usize) -> Vec<DVec3> {
    unposed_points(attachment, take, frame, take.frame(frame))
}

/// The same of a garment that someone else foretold for that frame.
pub(crate) fn unposed_points(
    attachment: &Attachment,
    take: &Take,
    frame: usize,
    points: &[Vec3],
) -> Vec<DVec3> {
    unposed_above(LEAST_STRETCH, attachment, take.frame_bones(frame), points).0
}

/// The same with singular values held above `least`, and how many vertices that changed.
pub(crate) fn unposed_above(
    least: f64,
    attachment: &Attachment,
    bones: &[Affine3A],
    points: &[Vec3],
) -> (Vec<DVec3>, usize) {
    let vertices = points.iter().zip(&attachment.rest).enumerate();
    let mut held = 0;
    let displacements = vertices
        .map(|(v, (p, rest))| {
            let blend = attachment.skin.blend(v, bones);
            let apart = p.as_dvec3() - Vec3::from(blend.transform_point3a((*rest).into())).as_dvec3();
            let (inverse, clamped) = clamped_inverse(glam::Mat3::from(blend.matrix3).as_dmat3(), least);
            held += usize::from(clamped);
            inverse * apart
        })
        .collect();
    (displacements, held)
}
