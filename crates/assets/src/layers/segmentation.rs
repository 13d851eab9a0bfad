//! Which vertex of a garment is in which layer (their §4.4).

use super::LayerSettings;
use super::segments::{Anatomy, Over, Region, region};
use crate::{Attachment, Error, Garment, Mesh, Result, Role, Topology};
use glam::Vec3;
use toile_model::layers::Layer;

/// Cloth deeper inside the skin than this, as a share of the wearer's height, was never put on.
const DEEP: f32 = 0.012;
/// Cloth farther from the skin than this share of the height does not belong to this wearer.
const FAR: f32 = 0.5;
/// Cloth of a skirt that is farther from the skin than this share of the height hangs free.
const HANGS: f32 = 0.005;
/// Floating pieces of fewer vertices are noise of the distances.
const FEWEST: usize = 8;

/// Refuses garments that are not on the body.
pub(super) fn check_worn(anatomy: &Anatomy<'_>, garment: &Garment, over: &[Over]) -> Result<()> {
    let count = over.len();
    let deep = over.iter().filter(|o| o.gap_m < -DEEP * anatomy.height_m).count();
    let far = over.iter().filter(|o| o.gap_m > FAR * anatomy.height_m).count();
    let refuse = |what: String| Err(Error::Invalid(format!("garment `{}` {what}", garment.name)));
    if count == 0 {
        return refuse("has no vertices to put into layers".into());
    }
    if deep * 4 > count {
        return refuse(format!(
            "lies inside body `{}`: {deep} of {count} vertices are more than {:.0} mm under the skin; fit it to this \
             body first, or name the body it was made for",
            anatomy.body.name,
            1000.0 * DEEP * anatomy.height_m
        ));
    }
    if far * 2 > count {
        return refuse(format!(
            "is not on body `{}`: {far} of {count} vertices are more than {:.2} m from its skin; move or scale it in \
             its own program so that it surrounds the body",
            anatomy.body.name,
            FAR * anatomy.height_m
        ));
    }
    Ok(())
}

/// Cloth over a limb hangs where it can: what counts is how loose the sleeve is around, not where it touches now. For
/// each vertex the gap of its stretch of limb, trunk vertices their own.
pub(super) fn ring_gaps(anatomy: &Anatomy<'_>, attachment: &Attachment, over: &[Over]) -> Vec<f32> {
    const BINS: usize = 24;
    let (lo, hi) = anatomy.body.mesh.bounds();
    let longest = (hi - lo).length();
    let bin = |v: usize| -> Option<(u8, usize)> {
        let o = &over[v];
        let limb = matches!(region(o.role), Region::Arm(_) | Region::Leg(_)).then_some(o.role as u8)?;
        let (joint, axis) = (anatomy.place(o.role)?, anatomy.limb_axis(attachment, v)?);
        let along = (attachment.rest[v] - joint).dot(axis) / longest * 2.0;
        Some((limb, ((along + 0.5) * BINS as f32).clamp(0.0, 2.0 * BINS as f32) as usize))
    };
    let bins: Vec<Option<(u8, usize)>> = (0..over.len()).map(bin).collect();
    let mut sums = std::collections::BTreeMap::<(u8, usize), (f32, f32)>::new();
    for (bin, o) in bins.iter().zip(over) {
        if let Some(bin) = bin {
            let sum = sums.entry(*bin).or_default();
            *sum = (sum.0 + o.gap_m.max(0.0), sum.1 + 1.0);
        }
    }
    bins.iter()
        .zip(over)
        .map(|(bin, o)| bin.map_or(o.gap_m, |bin| sums.get(&bin).map_or(o.gap_m, |s| s.0 / s.1)))
        .collect()
}

/// The layer of each vertex: by distance, then by what is painted, then by what is held.
pub(super) fn segment(
    anatomy: &Anatomy<'_>,
    garment: &Garment,
    topology: &Topology,
    (over, ring_gaps): (&[Over], &[f32]),
    skirt: &[f32],
    settings: &LayerSettings,
    rest: &[Vec3],
) -> Vec<Layer> {
    let waist = anatomy.place(Role::Spine).or(anatomy.place(Role::Hips)).map_or(0.0, |p| p.y);
    let scale = anatomy.height_m / 1.7;
    let mut layers: Vec<Layer> = over
        .iter()
        .zip(ring_gaps)
        .zip(skirt)
        .map(|((o, ring), skirt)| {
            let limits = settings.limits(region(o.role));
            let gap = o.gap_m.max(*ring);
            if *skirt >= 0.5 || o.gap_m > limits.loose_m * scale {
                Layer::Floating
            } else if gap > limits.stretch_m * scale {
                Layer::Loose
            } else {
                Layer::Stretch
            }
        })
        .collect();
    hang_higher(&mut layers, topology, skirt, |v| {
        rest[v].y < waist && over[v].gap_m > HANGS * anatomy.height_m
    });
    drop_islands(&mut layers, topology);
    for (layer, painted) in layers.iter_mut().zip(&garment.paint.layer) {
        if let Some(painted) = painted {
            *layer = *painted;
        }
    }
    for (layer, most) in layers.iter_mut().zip(&garment.paint.max_distance_m) {
        if *most <= 0.0 {
            *layer = Layer::Stretch;
        }
    }
    for pin in &garment.pins {
        pin.vertices.iter().for_each(|v| layers[*v as usize] = Layer::Stretch);
    }
    layers
}

/// A skirt hangs from where its cloth last touches the body, not from the crotch: floating cloth spreads up over what is
/// clear of the skin.
fn hang_higher(layers: &mut [Layer], topology: &Topology, skirt: &[f32], clear: impl Fn(usize) -> bool) {
    let mut front: Vec<usize> = (0..layers.len()).filter(|v| skirt[*v] >= 0.5).collect();
    while let Some(v) = front.pop() {
        for &n in &topology.neighbours[v] {
            let n = n as usize;
            if layers[n] != Layer::Floating && clear(n) {
                layers[n] = Layer::Floating;
                front.push(n);
            }
        }
    }
}

/// Floating pieces that are too small to hang become loose.
fn drop_islands(layers: &mut [Layer], topology: &Topology) {
    let mut seen = vec![false; layers.len()];
    for start in 0..layers.len() {
        if seen[start] || layers[start] != Layer::Floating {
            continue;
        }
        let mut piece = vec![start];
        seen[start] = true;
        let mut at = 0;
        while at < piece.len() {
            for &n in &topology.neighbours[piece[at]] {
                let n = n as usize;
                if !seen[n] && layers[n] == Layer::Floating {
                    seen[n] = true;
                    piece.push(n);
                }
            }
            at += 1;
        }
        if piece.len() < FEWEST {
            piece.into_iter().for_each(|v| layers[v] = Layer::Loose);
        }
    }
}

/// How much each vertex is loose, 0 to 1, smoothed along the garment so that layers pass into each other.
pub(super) fn loose_share(layers: &[Layer], topology: &Topology, held: &[bool]) -> Vec<f32> {
    let mut share: Vec<f32> = layers.iter().map(|l| if *l == Layer::Stretch { 0.0 } else { 1.0 }).collect();
    smooth(&mut share, topology, 4);
    share.iter_mut().zip(held).for_each(|(s, held)| *s = if *held { 0.0 } else { *s });
    share
}

/// Halfway to the mean of the neighbours, so many times.
pub(super) fn smooth(values: &mut Vec<f32>, topology: &Topology, passes: usize) {
    for _ in 0..passes {
        let next = values
            .iter()
            .zip(&topology.neighbours)
            .map(|(own, around)| {
                if around.is_empty() {
                    return *own;
                }
                let sum: f32 = around.iter().map(|n| values[*n as usize]).sum();
                0.5 * own + 0.5 * sum / around.len() as f32
            })
            .collect();
        *values = next;
    }
}

/// Away from the vertical through the hips: the outer side of cloth that hangs around them.
pub(super) fn outer_side(anatomy: &Anatomy<'_>, garment: &Mesh) -> Vec<Vec3> {
    let hips = anatomy.place(Role::Hips).unwrap_or(Vec3::ZERO);
    garment.positions.iter().map(|p| (*p - hips).with_y(0.0).normalize_or(Vec3::Z)).collect()
}
