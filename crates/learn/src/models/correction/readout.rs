//! Ridge regression from features to shapes, from sums that merge: any ridge, any clips left out.

use crate::Error;
use faer::linalg::solvers::Solve;
use faer::{Mat, Side};

/// Sums over frames; their size does not depend on how many there were.
#[derive(Clone)]
pub(crate) struct Sums {
    pub frames: f64,
    gram: Mat<f64>,
    cross: Mat<f64>,
    feature_sum: Vec<f64>,
    target_sum: Vec<f64>,
    target_sq: f64,
    /// Of the features' squares, what velocities add.
    rate_sq: Vec<f64>,
}

/// `y = weights·features + bias`.
#[derive(Clone)]
pub(crate) struct Readout {
    pub weights: Mat<f64>,
    pub bias: Vec<f64>,
}

impl Sums {
    pub fn new(features: usize, targets: usize) -> Self {
        Self {
            frames: 0.0,
            gram: Mat::zeros(features, features),
            cross: Mat::zeros(targets, features),
            feature_sum: vec![0.0; features],
            target_sum: vec![0.0; targets],
            target_sq: 0.0,
            rate_sq: vec![0.0; features],
        }
    }

    /// Adds frames: columns of features and of targets.
    pub fn add(&mut self, features: &Mat<f64>, targets: &Mat<f64>) {
        self.frames += features.ncols() as f64;
        self.gram += features * features.transpose();
        self.cross += targets * features.transpose();
        for f in 0..features.ncols() {
            let (x, y) = (features.col_as_slice(f), targets.col_as_slice(f));
            self.feature_sum.iter_mut().zip(x).for_each(|(sum, v)| *sum += v);
            self.target_sum.iter_mut().zip(y).for_each(|(sum, v)| *sum += v);
            self.target_sq += y.iter().map(|v| v * v).sum::<f64>();
        }
    }

    pub fn features(&self) -> usize {
        self.feature_sum.len()
    }

    /// Adds how frames follow each other: errors of velocities count besides those of places, `weight` times as much. Without
    /// it a readout is free to be right on average and still swing at the wrong time.
    pub fn add_rates(&mut self, features: &Mat<f64>, targets: &Mat<f64>, weight: f64) {
        let rates = |of: &Mat<f64>| {
            let scale = weight.sqrt();
            Mat::from_fn(of.nrows(), of.ncols().saturating_sub(1), |r, f| {
                scale * (of[(r, f + 1)] - of[(r, f)])
            })
        };
        let (features, targets) = (rates(features), rates(targets));
        self.gram += &features * features.transpose();
        self.cross += &targets * features.transpose();
        for f in 0..features.ncols() {
            self.rate_sq.iter_mut().zip(features.col_as_slice(f)).for_each(|(sum, v)| *sum += v * v);
        }
    }

    /// Of the features, about their mean.
    pub fn covariance(&self) -> Mat<f64> {
        let n = self.frames.max(1.0);
        Mat::from_fn(self.features(), self.features(), |i, j| {
            (self.gram[(i, j)] - self.feature_sum[i] * self.feature_sum[j] / n) / n
        })
    }

    /// Adds the frames of others.
    pub fn merge(&mut self, other: &Self) {
        self.frames += other.frames;
        self.gram += &other.gram;
        self.cross += &other.cross;
        self.feature_sum.iter_mut().zip(&other.feature_sum).for_each(|(a, b)| *a += b);
        self.target_sum.iter_mut().zip(&other.target_sum).for_each(|(a, b)| *a += b);
        self.target_sq += other.target_sq;
        self.rate_sq.iter_mut().zip(&other.rate_sq).for_each(|(a, b)| *a += b);
    }

    /// Ridge with an unpenalised bias. Every feature is weighed by its own variance, with a floor at a share of its
    /// block's average so that what never moves in training takes no weight; `held_back` from the given feature on are
    /// penalised that many times more.
    pub fn fit(&self, ridge: f64, blocks: &[Block]) -> Result<Readout, Error> {
        let (n, f, d) = (self.frames, self.feature_sum.len(), self.target_sum.len());
        let centred = |i: usize, j: usize| self.gram[(i, j)] - self.feature_sum[i] * self.feature_sum[j] / n;
        let variance = |k: usize| centred(k, k) - self.rate_sq[k];
        let mut penalty = vec![0.0; f];
        for block in blocks {
            let average = block.range.clone().map(variance).sum::<f64>() / block.range.len().max(1) as f64;
            for k in block.range.clone() {
                penalty[k] = ridge * block.held_back * variance(k).max(0.05 * average).max(1e-9 * n);
            }
        }
        let lhs = Mat::from_fn(f, f, |i, j| centred(i, j) + if i == j { penalty[i] } else { 0.0 });
        let rhs =
            Mat::from_fn(f, d, |i, r| self.cross[(r, i)] - self.target_sum[r] * self.feature_sum[i] / n);
        let factor = lhs.llt(Side::Lower).map_err(|e| Error::Numerical(format!("the readout: {e:?}")))?;
        let solution = factor.solve(&rhs);
        let weights = Mat::from_fn(d, f, |r, k| solution[(k, r)]);
        let bias = (0..d)
            .map(|r| {
                let predicted: f64 = (0..f).map(|k| weights[(r, k)] * self.feature_sum[k]).sum();
                (self.target_sum[r] - predicted) / n
            })
            .collect();
        Ok(Readout { weights, bias })
    }

    /// Mean squared error of a readout on these frames, and mean square of the targets.
    pub fn error(&self, readout: &Readout) -> (f64, f64) {
        let (w, b) = (&readout.weights, &readout.bias);
        let quadratic = w * &self.gram;
        let mut sum = self.target_sq;
        for r in 0..w.nrows() {
            for k in 0..w.ncols() {
                sum += quadratic[(r, k)] * w[(r, k)] - 2.0 * w[(r, k)] * self.cross[(r, k)];
                sum += 2.0 * b[r] * w[(r, k)] * self.feature_sum[k];
            }
            sum += self.frames * b[r] * b[r] - 2.0 * b[r] * self.target_sum[r];
        }
        let n = self.frames.max(1.0);
        (sum.max(0.0) / n, self.target_sq / n)
    }
}

/// Features that are penalised alike.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub range: std::ops::Range<usize>,
    pub held_back: f64,
}

impl Readout {
    /// Shapes of a motion, a column a frame.
    pub fn apply(&self, features: &Mat<f64>) -> Mat<f64> {
        let mut y = &self.weights * features;
        for f in 0..y.ncols() {
            (0..y.nrows()).for_each(|r| y[(r, f)] += self.bias[r]);
        }
        y
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn velocities_decide_between_what_is_as_right_in_places() {
        // One feature follows the slow part, the other the fast one; a strong ridge lets neither have all of it.
        let x = Mat::from_fn(2, 300, |k, f| ([0.02, 0.7][k] * f as f64).sin());
        let y = Mat::from_fn(1, 300, |_, f| x[(0, f)] + x[(1, f)]);
        let blocks = [Block { range: 0..2, held_back: 1.0 }];
        let weights = |rates: f64| {
            let mut sums = Sums::new(2, 1);
            sums.add(&x, &y);
            sums.add_rates(&x, &y, rates);
            // The same penalty for both: what velocities add to the sums is not to be held back for it.
            let fit = sums.fit(1.0, &blocks).unwrap();
            fit.weights[(0, 1)] / fit.weights[(0, 0)]
        };
        assert!(
            (weights(0.0) - 1.0).abs() < 0.1 && weights(30.0) > 1.3,
            "{} {}",
            weights(0.0),
            weights(30.0)
        );
    }

    #[test]
    fn a_linear_law_is_found_and_its_error_counted() {
        let x = Mat::from_fn(3, 200, |k, f| ((k + 2) as f64 * 0.37 * f as f64).sin());
        let law = |f: usize| [2.0 * x[(0, f)] - x[(2, f)] + 0.5, 0.3 * x[(1, f)]];
        let y = Mat::from_fn(2, 200, |r, f| law(f)[r]);
        let mut sums = Sums::new(3, 2);
        sums.add(&x, &y);
        let blocks = [Block { range: 0..3, held_back: 1.0 }];
        let exact = sums.fit(1e-9, &blocks).unwrap();
        assert!((exact.weights[(0, 0)] - 2.0).abs() < 1e-5 && (exact.bias[0] - 0.5).abs() < 1e-5);
        let strong = sums.fit(1.0, &blocks).unwrap();
        let direct = (&y - strong.apply(&x)).squared_norm_l2() / 200.0;
        assert!((sums.error(&strong).0 - direct).abs() < 1e-9 && direct > 0.1);
    }
}
