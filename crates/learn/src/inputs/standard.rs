//! Entries of bone matrices, their changes and the root's terms on a scale that training sets.

use super::features::root_terms;
use super::joints::Told;
use crate::models::correction::motions::{Motions, TakeMotion};
use faer::Mat;
use toile_assets::Correction;
use toile_run::ROOT_TERMS;

/// Where inputs begin to be held, in standard deviations.
const HELD_AT: f64 = 3.0;
/// Standard deviations are at least so much: an entry that is constant in training says nothing when it is not. Entries
/// of rotation matrices, and their change in a frame.
const LEAST_STD: [f64; 2] = [0.05, 0.01];
/// The same of the root's terms: m/s, m/s², rad/s, rad/s² and their products.
const LEAST_ROOT_STD: [f64; ROOT_TERMS] =
    [0.1, 0.1, 0.1, 0.5, 0.5, 0.5, 0.1, 0.5, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.1];
/// What a model is told of bones.
pub(crate) struct Inputs {
    pub joints: Vec<usize>,
    /// Joint and entry of its matrix.
    pub entries: Told,
    /// Rows of the motions' bones.
    rows: Vec<usize>,
    pub mean: Vec<f64>,
    pub scale: Vec<f64>,
    /// Of the scaled inputs.
    pub std: Vec<f64>,
    /// Their farthest frame, root mean square in standard deviations.
    pub reach: f64,
}

impl Inputs {
    /// Those entries of joints' matrices; `joints` are those of the motions' bones.
    pub fn new(motions: &Motions, joints: &[usize], entries: &Told) -> Self {
        let at = |joint: usize| joints.iter().position(|j| *j == joint).unwrap_or(0);
        let mut told: Vec<usize> = entries.iter().map(|(j, _)| *j).collect();
        told.dedup();
        let rows: Vec<usize> = entries.iter().map(|&(j, entry)| 9 * at(j) + entry).collect();
        let (mut sum, mut squares, mut n) = (vec![0.0; rows.len()], vec![0.0; rows.len()], 0.0);
        for motion in &motions.all {
            for f in motion.lead..motion.bones.ncols() {
                for (k, &row) in rows.iter().enumerate() {
                    let v = motion.bones[(row, f)];
                    (sum[k], squares[k]) = (sum[k] + v, squares[k] + v * v);
                }
                n += 1.0;
            }
        }
        let mean: Vec<f64> = sum.iter().map(|s| s / n).collect();
        let raw: Vec<f64> = squares.iter().zip(&mean).map(|(s, m)| (s / n - m * m).max(0.0).sqrt()).collect();
        let scale: Vec<f64> = raw.iter().map(|s| 1.0 / (HELD_AT * s.max(LEAST_STD[0]))).collect();
        let std: Vec<f64> = raw.iter().zip(&scale).map(|(s, scale)| s.max(LEAST_STD[0]) * scale).collect();
        let entries = entries.clone();
        let mut inputs = Self { joints: told, entries, rows, mean, scale, std, reach: 1e-6 };
        for motion in &motions.all {
            let x = inputs.of(motion);
            for f in motion.lead..x.ncols() {
                let sum: f64 = (0..x.nrows()).map(|k| (x[(k, f)] / inputs.std[k]).powi(2)).sum();
                inputs.reach = inputs.reach.max((sum / x.nrows().max(1) as f64).sqrt());
            }
        }
        inputs
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Scaled, not held: a column a frame.
    pub fn of(&self, motion: &TakeMotion) -> Mat<f64> {
        Mat::from_fn(self.rows.len(), motion.bones.ncols(), |k, f| {
            (motion.bones[(self.rows[k], f)] - self.mean[k]) * self.scale[k]
        })
    }

    /// A correction without filters, centres and readout, with the scales of changes and root terms.
    pub fn scaled(&self, motions: &Motions, fps: f64) -> Correction {
        let m = self.rows.len();
        let (mut rates, mut sum, mut squares) = (vec![0.0; m], [0.0; ROOT_TERMS], [0.0; ROOT_TERMS]);
        let mut n = 0.0;
        for motion in &motions.all {
            let x = self.of(motion);
            let terms = root_terms(&motion.roots, fps);
            for f in motion.lead.max(1)..x.ncols() {
                (0..m).for_each(|k| rates[k] += (x[(k, f)] - x[(k, f - 1)]).powi(2));
                for k in 0..ROOT_TERMS {
                    (sum[k], squares[k]) = (sum[k] + terms[f][k], squares[k] + terms[f][k].powi(2));
                }
                n += 1.0;
            }
        }
        let n = f64::max(n, 1.0);
        let rate = |k: usize| (rates[k] / n).sqrt().max(LEAST_STD[1] * self.scale[k]);
        let root = |k: usize| (squares[k] / n - (sum[k] / n).powi(2)).max(0.0).sqrt().max(LEAST_ROOT_STD[k]);
        Correction {
            rate_scale: (0..m).map(|k| (1.0 / (HELD_AT * rate(k))) as f32).collect(),
            root_mean: (0..ROOT_TERMS).map(|k| (sum[k] / n) as f32).collect(),
            root_scale: (0..ROOT_TERMS).map(|k| (1.0 / (HELD_AT * root(k))) as f32).collect(),
            width_sq: 1.0,
            hearing: motions.hearing.clone(),
            ..Correction::default()
        }
    }
}
