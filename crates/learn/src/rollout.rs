//! Free runs in coefficients: what the shipped code does, in f64 and without vertices, for choosing and refining.

use crate::fit::{Fit, Layout};
use crate::liveliness::Liveliness;
use crate::sequence::Sequence;
use faer::Mat;

/// The model's own course over a sequence, from its order-0 start; column per frame.
pub(crate) fn free_run(layout: &Layout, fit: &Fit, start: &Fit, s: &Sequence) -> Mat<f64> {
    let kinematic = order_zero(start, s);
    if layout.order == 0 && layout.metas == 0 {
        return kinematic;
    }
    let (d, n) = (layout.cloth, s.len());
    // A window reads its history from the sequence it is given: hand it one with our own frames.
    let mut own = Sequence { y: kinematic, x: s.x.clone(), roots: s.roots.clone(), lead: 0 };
    let mut window = vec![0.0; layout.features()];
    for t in layout.order..n {
        layout.window(&own, t, &mut window);
        let mut next = fit.bias.clone();
        for (k, w) in window.iter().enumerate() {
            for (r, value) in next.iter_mut().enumerate() {
                *value += fit.weights[(r, k)] * w;
            }
        }
        for r in 0..d {
            own.y[(r, t)] = next[r];
        }
    }
    own.y
}

/// The order-0 prediction of every frame.
pub(crate) fn order_zero(start: &Fit, s: &Sequence) -> Mat<f64> {
    let mut y = start.weights.as_ref() * s.x.as_ref();
    for t in 0..s.len() {
        for (r, b) in start.bias.iter().enumerate() {
            y[(r, t)] += b;
        }
    }
    y
}

/// Error and liveliness of free runs over several sequences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FreeScore {
    /// Root mean square vertex distance within the space, averaged over frames, cm.
    pub rms_cm: f64,
    /// The same over that of the order-0 prediction, averaged over sequences: one wild clip does not decide.
    pub over_order_zero: f64,
    pub liveliness: f64,
}

pub(crate) fn score<'a>(
    layout: &Layout,
    fit: &Fit,
    start: &Fit,
    sequences: impl Iterator<Item = &'a Sequence>,
    vertices: usize,
    fps: f64,
) -> FreeScore {
    let (mut sum, mut frames) = (0.0, 0usize);
    let mut ratios = Vec::new();
    let mut lively = Liveliness::default();
    let per_vertex = 1.0 / (vertices.max(1) as f64).sqrt();
    for s in sequences {
        let own = free_run(layout, fit, start, s);
        let kinematic = order_zero(start, s);
        // The lead-in of a stop is scored with the clip it belongs to.
        let error = |y: &Mat<f64>| -> f64 {
            (s.lead..s.len())
                .map(|t| (0..layout.cloth).map(|k| (y[(k, t)] - s.y[(k, t)]).powi(2)).sum::<f64>().sqrt())
                .sum::<f64>()
                * per_vertex
        };
        let count = s.len() - s.lead;
        let ours = error(&own);
        // Where the order-0 prediction is within a millimetre there is nothing to win.
        ratios.push(ours / error(&kinematic).max(1e-3 * count as f64));
        sum += ours;
        frames += count;
        for k in 0..layout.cloth {
            let rest = |y: &Mat<f64>| -> Vec<f64> {
                (s.lead..s.len()).map(|t| y[(k, t)] - kinematic[(k, t)]).collect()
            };
            lively.add(&rest(&s.y), &rest(&own), fps);
        }
    }
    let over_order_zero = ratios.iter().sum::<f64>() / ratios.len().max(1) as f64;
    FreeScore { rms_cm: 100.0 * sum / frames.max(1) as f64, over_order_zero, liveliness: lively.ratio() }
}
