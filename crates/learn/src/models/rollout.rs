//! Free runs in coefficients: what the shipped code does, in f64 and without vertices, for choosing and refining.

use crate::models::regression::{Layout, Regression};
use crate::score::liveliness::Liveliness;
use crate::takes::sequence::Sequence;
use faer::Mat;

/// The model's own course over a sequence, from its order-0 start; column per frame.
pub(crate) fn free_run(layout: &Layout, fit: &Regression, start: &Regression, s: &Sequence) -> Mat<f64> {
    let kinematic = order_zero(start, s);
    if layout.order == 0 && layout.metas == 0 {
        return kinematic;
    }
    let (d, n) = (layout.cloth, s.len());
    let mut y = kinematic;
    let mut window = vec![0.0; layout.features()];
    let mut next = vec![0.0; d];
    for t in layout.order..n {
        // The window reads the truth's history; ours takes its place.
        layout.window(s, t, &mut window);
        for i in 1..=layout.order {
            window[layout.body + (i - 1) * d..layout.body + i * d].copy_from_slice(y.col_as_slice(t - i));
        }
        next.copy_from_slice(&fit.bias);
        for (k, w) in window.iter().enumerate() {
            // Whole columns at a time: the weights lie in memory by columns.
            next.iter_mut().zip(fit.weights.col_as_slice(k)).for_each(|(v, f)| *v += f * w);
        }
        y.col_as_slice_mut(t).copy_from_slice(&next);
    }
    y
}

/// The order-0 prediction of every frame.
pub(crate) fn order_zero(start: &Regression, s: &Sequence) -> Mat<f64> {
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
    fit: &Regression,
    start: &Regression,
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
