//! Wind, gravity and cloth of takes on the scales that a model D hears them on.

use super::features::root_terms;
use crate::takes::source::Head;
use faer::{Mat, Side};
use glam::Vec3;
use toile_assets::{FABRIC_VALUES, Hearing, RootFrame, SURROUNDING_TERMS, Surroundings};

/// Where terms begin to be held, in standard deviations.
const HELD_AT: f64 = 3.0;
/// Standard deviations are at least so much: m/s, (m/s)² twice, shares of the usual gravity.
const LEAST_STD: [f64; SURROUNDING_TERMS] = [0.3, 0.3, 0.3, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.05, 0.05, 0.05];
/// Axes along which cloths differ by less than this share of the first are not heard.
const LEAST_AXIS: f64 = 0.2;
/// As many axes are heard: each makes the readout twice as wide again.
const MOST_AXES: usize = 2;

/// The surroundings of every frame of a motion.
pub(crate) type Heard = Vec<Surroundings>;

/// Their terms in the frame of the root, a frame each.
pub(crate) fn terms(heard: &[Surroundings], roots: &[RootFrame], fps: f64) -> Vec<[f64; SURROUNDING_TERMS]> {
    let moving = root_terms(roots, fps);
    heard
        .iter()
        .zip(roots)
        .zip(moving)
        .map(|((s, root), m)| {
            let (sin, cos) = root.heading.sin_cos();
            let velocity = Vec3::new(m[0] as f32, m[1] as f32, m[2] as f32);
            s.canonical((sin as f32, cos as f32)).terms(velocity).map(f64::from)
        })
        .collect()
}

/// The take that a garment's skinned place is best taken from: the least wind, the most usual gravity, the most average
/// cloth. What hangs in a gale makes a bad rest shape for everything else.
pub(crate) fn calmest(heads: &[Head]) -> usize {
    let heard: Vec<Surroundings> = heads
        .iter()
        .map(|h| h.provenance.map_or(Surroundings::default(), |p| p.conditions.surroundings(0.0)))
        .collect();
    let cloths: Vec<[f32; FABRIC_VALUES]> = heard.iter().filter_map(|s| s.fabric).collect();
    let mean = |k: usize| cloths.iter().map(|c| c[k]).sum::<f32>() / cloths.len().max(1) as f32;
    let away = |s: &Surroundings| {
        let cloth =
            s.fabric.map_or(0.0, |c| (0..FABRIC_VALUES).map(|k| (c[k] - mean(k)).powi(2)).sum::<f32>());
        10.0 * s.wind.length() + 10.0 * (s.gravity / 9.81 + Vec3::Y).length() + cloth.sqrt()
    };
    (0..heads.len()).min_by(|a, b| away(&heard[*a]).total_cmp(&away(&heard[*b]))).unwrap_or(0)
}

/// How a model that learns from these motions hears: scales of terms, axes of cloths and how far both go.
pub(crate) fn hearing<'a>(
    motions: impl Iterator<Item = (&'a [Surroundings], &'a [RootFrame])>,
    fps: f64,
) -> Hearing {
    let (mut sum, mut squares, mut n) = ([0.0; SURROUNDING_TERMS], [0.0; SURROUNDING_TERMS], 0.0);
    let mut reach = [0.0f32; 3];
    let mut cloths: Vec<[f64; FABRIC_VALUES]> = Vec::new();
    for (heard, roots) in motions {
        for terms in terms(heard, roots, fps) {
            for k in 0..SURROUNDING_TERMS {
                (sum[k], squares[k]) = (sum[k] + terms[k], squares[k] + terms[k] * terms[k]);
            }
            n += 1.0;
        }
        for s in heard {
            let gravity = (s.gravity / 9.81 + Vec3::Y).length();
            (reach[0], reach[1]) = (reach[0].max(s.wind.length()), reach[1].max(gravity));
        }
        if let Some(cloth) = heard.first().and_then(|s| s.fabric).map(|f| f.map(f64::from))
            && !cloths.contains(&cloth)
        {
            cloths.push(cloth);
        }
    }
    let n = f64::max(n, 1.0);
    let std = |k: usize| (squares[k] / n - (sum[k] / n).powi(2)).max(0.0).sqrt().max(LEAST_STD[k]);
    let (fabric_mean, fabric_axes) = axes(&cloths);
    let mut hearing = Hearing {
        mean: (0..SURROUNDING_TERMS).map(|k| (sum[k] / n) as f32).collect(),
        scale: (0..SURROUNDING_TERMS).map(|k| (1.0 / (HELD_AT * std(k))) as f32).collect(),
        fabric_mean,
        fabric_axes,
        reach,
    };
    let mut basis = vec![0.0; hearing.basis()];
    let off = |c: &[f64; FABRIC_VALUES]| hearing.fabric(Some(&c.map(|v| v as f32)), &mut basis);
    let farthest = cloths.iter().map(off).fold(0.0, f32::max);
    hearing.reach[2] = farthest;
    hearing
}

/// The middle of cloths and the directions in which they differ most, so long that the farthest cloth is at 1.
fn axes(cloths: &[[f64; FABRIC_VALUES]]) -> (Vec<f32>, Vec<f32>) {
    let middle: [f64; FABRIC_VALUES] = std::array::from_fn(|k| {
        let of = cloths.iter().map(|c| c[k]);
        let (low, high) = of.fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
        if cloths.is_empty() { 0.0 } else { 0.5 * (low + high) }
    });
    let apart: Vec<[f64; FABRIC_VALUES]> =
        cloths.iter().map(|c| std::array::from_fn(|k| c[k] - middle[k])).collect();
    let gram =
        Mat::from_fn(FABRIC_VALUES, FABRIC_VALUES, |i, j| apart.iter().map(|a| a[i] * a[j]).sum::<f64>());
    let mean = middle.iter().map(|v| *v as f32).collect();
    let Ok(eigen) = gram.self_adjoint_eigen(Side::Lower) else { return (mean, Vec::new()) };
    let (u, values) = (eigen.U(), eigen.S().column_vector());
    let most = cloths.len().saturating_sub(1).min(MOST_AXES);
    let mut rows = Vec::new();
    for axis in 0..most {
        let k = FABRIC_VALUES - 1 - axis;
        if values[k].max(0.0).sqrt() < LEAST_AXIS * values[FABRIC_VALUES - 1].max(1e-12).sqrt() {
            break;
        }
        let place = |a: &[f64; FABRIC_VALUES]| (0..FABRIC_VALUES).map(|i| u[(i, k)] * a[i]).sum::<f64>();
        let farthest = apart.iter().map(|a| place(a).abs()).fold(1e-9, f64::max);
        rows.extend((0..FABRIC_VALUES).map(|i| (u[(i, k)] / farthest) as f32));
    }
    (mean, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_assets::builtin;

    #[test]
    fn cloths_on_one_line_are_heard_on_one_axis() {
        let [silk, denim] = ["silk", "denim"].map(|n| builtin::fabric(n).unwrap().heard());
        let at =
            |t: f64| -> [f64; FABRIC_VALUES] { std::array::from_fn(|k| silk[k] + t * (denim[k] - silk[k])) };
        let (mean, rows) = axes(&[at(0.0), at(0.3), at(0.7), at(1.0)]);
        assert_eq!(rows.len(), FABRIC_VALUES);
        let h = Hearing { fabric_mean: mean, fabric_axes: rows, ..Hearing::default() };
        let mut basis = [0.0; 2];
        let mut place = |t: f64| {
            let off = h.fabric(Some(&at(t).map(|v| v as f32)), &mut basis);
            (basis[0].abs(), off)
        };
        assert!((place(0.0).0 - 1.0).abs() < 1e-4 && place(0.5).0 < 1e-4 && place(0.5).1 < 1e-4);
        let cotton = builtin::fabric("cotton").unwrap().heard();
        assert!(h.fabric(Some(&cotton.map(|v| v as f32)), &mut basis) > 0.01, "cotton is not on the line");
        assert!(axes(&[silk]).1.is_empty() && axes(&[]).1.is_empty());
    }
}
