//! Layer 2 on limbs: the disc of each vertex, from how loose the sleeve is around it.

use super::segmentation::smooth;
use super::segments::{Anatomy, Over};
use crate::{Attachment, Topology};
use glam::Vec3;
use toile_model::layers::{Disc, Layer, catenary_drop};

/// Distance that cloth keeps from the skin wherever it lies, m.
const TOUCH_M: f32 = 0.002;
const GRAVITY: Vec3 = Vec3::new(0.0, -9.81, 0.0);

/// How far a tube of cloth hangs below a limb of radius `r` that fills it but for a mean gap: its upper half lies on the
/// limb, its lower half is a catenary, and together they are as long as the tube is around.
pub(super) fn drop_of(r: f32, gap: f32) -> f32 {
    if !(r > 0.0 && gap > 0.0) {
        return 0.0;
    }
    let around = 2.0 * std::f32::consts::PI * (r + gap);
    let length = |a: f32| std::f32::consts::PI * r + 2.0 * a * (r / a).sinh();
    let (mut low, mut high) = (r / 8.0, r / 1.5);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if length(middle) > around { low = middle } else { high = middle }
    }
    catenary_drop(r, 0.5 * (low + high)).unwrap_or(0.0)
}

/// Discs of the vertices that are loose and on limbs. `share` is how loose each vertex is.
pub(super) fn discs(
    anatomy: &Anatomy<'_>,
    attachment: &Attachment,
    topology: &Topology,
    over: &[Over],
    ring_gaps: &[f32],
    layers: &[Layer],
    share: &[f32],
    hang: f32,
) -> Vec<Disc> {
    let candidates: Vec<Option<Disc>> = (0..over.len())
        .map(|v| {
            if layers[v] == Layer::Floating {
                return None;
            }
            let share = share[v] * anatomy.limb_share(attachment, v);
            let axis = anatomy.limb_axis(attachment, v).filter(|_| share > 0.02)?;
            let normal = (over[v].normal - axis * axis.dot(over[v].normal)).try_normalize()?;
            Some(Disc { vertex: v as u32, normal, axis, drop_m: 1.0, share, settled: Vec3::ZERO })
        })
        .collect();
    // What a vertex can drop: as its sleeve is wide, and at rest not from below the skin.
    let most = |v: usize, disc: &Disc| {
        let down = disc.hang(GRAVITY).1.dot(disc.normal);
        if down > 0.02 { (over[v].gap_m - TOUCH_M).max(0.0) / down } else { f32::INFINITY }
    };
    let mut drops: Vec<f32> = candidates
        .iter()
        .enumerate()
        .map(|(v, disc)| match disc {
            Some(disc) => {
                let radius = limb_radius(anatomy, attachment, v, over);
                (hang * drop_of(radius, ring_gaps[v])).min(most(v, disc))
            }
            None => 0.0,
        })
        .collect();
    smooth(&mut drops, topology, 2);
    candidates
        .into_iter()
        .enumerate()
        .filter_map(|(v, disc)| {
            let disc = disc?;
            let disc = Disc { drop_m: drops[v].min(most(v, &disc)), ..disc };
            (disc.drop_m > 5e-4).then(|| Disc { settled: disc.hang(GRAVITY).1, ..disc })
        })
        .collect()
}

/// Distance of the skin below a vertex from the axis of its limb.
fn limb_radius(anatomy: &Anatomy<'_>, attachment: &Attachment, v: usize, over: &[Over]) -> f32 {
    let (Some(joint), Some(axis)) = (anatomy.place(over[v].role), anatomy.limb_axis(attachment, v)) else {
        return 0.0;
    };
    let p = attachment.rest[v] - over[v].normal * over[v].gap_m - joint;
    (p - axis * axis.dot(p)).length().clamp(0.01 * anatomy.height_m, 0.08 * anatomy.height_m)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wider_sleeve_hangs_deeper_and_a_tight_one_not_at_all() {
        let drops = [0.0, 0.002, 0.01, 0.03].map(|gap| drop_of(0.045, gap));
        assert_eq!(drops[0], 0.0);
        assert!(drops.windows(2).all(|w| w[1] > w[0]), "{drops:?}");
        // A tube 3 cm from a limb all around hangs less than twice the 6 cm that it has to spare across.
        assert!((0.06..0.12).contains(&drops[3]), "{drops:?}");
    }
}
