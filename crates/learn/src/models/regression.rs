//! The motion model as one ridge regression (eq. 3 to 6).

use crate::takes::sequence::{Sequence, root_change};
use crate::{Error, Settings};
use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use toile_assets::ModelKind;

/// Which numbers go in, block by block: `x_t`, then `y_{t−1} … y_{t−N}`, then `z_{t,t−N} … z_{t−N+1,t−N}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub body: usize,
    pub cloth: usize,
    pub order: usize,
    pub metas: usize,
    /// The printed form: plain cosine, no bias.
    pub paper: bool,
}

impl Layout {
    pub fn new(settings: &Settings, body: usize, cloth: usize) -> Self {
        let order = if settings.kind == ModelKind::A { 0 } else { settings.order };
        let metas = if settings.kind == ModelKind::C { order } else { 0 };
        Self { body, cloth, order, metas, paper: settings.paper }
    }

    /// The order-0 model that starts the recursion.
    pub fn bootstrap(&self) -> Self {
        Self { order: 0, metas: 0, ..*self }
    }

    pub fn features(&self) -> usize {
        self.body + self.order * self.cloth + 5 * self.metas
    }

    /// `(first, length)` of each block.
    fn blocks(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let histories = (0..self.order).map(|i| (self.body + i * self.cloth, self.cloth));
        let first = self.body + self.order * self.cloth;
        [(0, self.body)].into_iter().chain(histories).chain((0..self.metas).map(move |i| (first + 5 * i, 5)))
    }

    /// The first frame that a window of `s` may end at.
    pub fn first_end(&self, s: &Sequence) -> usize {
        if s.lead > 0 { self.order.max(s.lead + 1) } else { self.order }
    }

    /// Features of one window that ends at frame `t`.
    pub fn window(&self, s: &Sequence, t: usize, out: &mut [f64]) {
        for k in 0..self.body {
            out[k] = s.x[(k, t)];
        }
        for i in 1..=self.order {
            for k in 0..self.cloth {
                out[self.body + (i - 1) * self.cloth + k] = s.y[(k, t - i)];
            }
        }
        let first = self.body + self.order * self.cloth;
        for i in 0..self.metas {
            let z = root_change(&s.roots[t - i], &s.roots[t - self.order], self.paper);
            out[first + 5 * i..first + 5 * (i + 1)].copy_from_slice(&z);
        }
    }
}

/// Sums over windows that a fit of any ridge strength needs; its size does not depend on how many there were.
#[derive(Clone)]
pub(crate) struct NormalEquations {
    layout: Layout,
    windows: usize,
    gram: Mat<f64>,
    cross: Mat<f64>,
    feature_sum: Vec<f64>,
    target_sum: Vec<f64>,
}

/// A fitted map from features to the next cloth state.
#[derive(Clone)]
pub(crate) struct Regression {
    /// `cloth × features`.
    pub weights: Mat<f64>,
    pub bias: Vec<f64>,
}

impl NormalEquations {
    pub fn new(layout: Layout) -> Self {
        let f = layout.features();
        Self {
            layout,
            windows: 0,
            gram: Mat::zeros(f, f),
            cross: Mat::zeros(layout.cloth, f),
            feature_sum: vec![0.0; f],
            target_sum: vec![0.0; layout.cloth],
        }
    }

    pub fn windows(&self) -> usize {
        self.windows
    }

    /// Adds all windows of a sequence; they never cross into another one.
    pub fn add(&mut self, s: &Sequence) {
        let first = self.layout.first_end(s);
        if s.len() <= first {
            return;
        }
        let count = s.len() - first;
        let f = self.layout.features();
        let mut features = Mat::<f64>::zeros(f, count);
        let mut window = vec![0.0; f];
        for w in 0..count {
            self.layout.window(s, first + w, &mut window);
            for (k, value) in window.iter().enumerate() {
                features[(k, w)] = *value;
                self.feature_sum[k] += value;
            }
            for k in 0..self.layout.cloth {
                self.target_sum[k] += s.y[(k, first + w)];
            }
        }
        let targets = s.y.subcols(first, count);
        self.gram += &features * features.transpose();
        self.cross += targets * features.transpose();
        self.windows += count;
    }

    /// Adds the windows of other sums of the same layout.
    pub fn merge(&mut self, other: &Self) {
        self.windows += other.windows;
        self.gram += &other.gram;
        self.cross += &other.cross;
        self.feature_sum.iter_mut().zip(&other.feature_sum).for_each(|(a, b)| *a += b);
        self.target_sum.iter_mut().zip(&other.target_sum).for_each(|(a, b)| *a += b);
    }

    /// The sums over the same windows in the first `cloth` directions of the garment.
    pub fn truncated(&self, cloth: usize) -> Self {
        let (l, layout) = (self.layout, Layout { cloth, ..self.layout });
        let histories = (0..l.order).flat_map(|i| (0..cloth).map(move |k| l.body + i * l.cloth + k));
        let rest = l.body + l.order * l.cloth..l.features();
        let from: Vec<usize> = (0..l.body).chain(histories).chain(rest).collect();
        let f = layout.features();
        Self {
            layout,
            windows: self.windows,
            gram: Mat::from_fn(f, f, |r, c| self.gram[(from[r], from[c])]),
            cross: Mat::from_fn(cloth, f, |r, c| self.cross[(r, from[c])]),
            feature_sum: from.iter().map(|&k| self.feature_sum[k]).collect(),
            target_sum: self.target_sum[..cloth].to_vec(),
        }
    }

    /// Ridge with an unpenalised bias; every block is weighed by its own variance, or `C` would be killed.
    pub fn fit(&self, ridge: f64) -> Result<Regression, Error> {
        let all: Vec<usize> = (0..self.layout.features()).collect();
        self.fit_some(ridge, &all, None)
    }

    /// The same fit with the history matrices given: only pose, root terms and bias are free.
    pub fn refit(&self, ridge: f64, fixed: &Regression) -> Result<Regression, Error> {
        let history = self.layout.body..self.layout.body + self.layout.order * self.layout.cloth;
        let free: Vec<usize> = (0..self.layout.features()).filter(|k| !history.contains(k)).collect();
        self.fit_some(ridge, &free, Some(fixed))
    }

    /// The weight of each squared coefficient: spaces by the variance of their whole block (their directions share a
    /// unit), root terms each by their own (metres and sines do not).
    pub fn penalty(&self, ridge: f64) -> Vec<f64> {
        let n = self.windows as f64;
        let mean = if self.layout.paper { 0.0 } else { 1.0 };
        let mut penalty = vec![0.0; self.layout.features()];
        for (first, length) in self.layout.blocks() {
            let variance = |k: usize| self.gram[(k, k)] - mean * self.feature_sum[k].powi(2) / n;
            let average = (first..first + length).map(variance).sum::<f64>() / length.max(1) as f64;
            penalty[first..first + length].fill(ridge * average.max(1e-12 * n));
            if first >= self.layout.body + self.layout.order * self.layout.cloth {
                // But not freely: `cos − 1` is nearly constant and would take any weight.
                let least = (0.02 * average).max(1e-12 * n);
                (first..first + length).for_each(|k| penalty[k] = ridge * variance(k).max(least));
            }
        }
        penalty
    }

    /// The regularised Gram matrix of features and a constant 1, for preconditioning.
    pub fn gram_with_bias(&self, ridge: f64) -> Mat<f64> {
        let f = self.layout.features();
        let penalty = self.penalty(ridge.max(1e-8));
        Mat::from_fn(f + 1, f + 1, |i, j| match (i < f, j < f) {
            (true, true) => self.gram[(i, j)] + if i == j { penalty[i] } else { 0.0 },
            (true, false) => self.feature_sum[i],
            (false, true) => self.feature_sum[j],
            (false, false) => self.windows as f64 * (1.0 + 1e-9),
        })
    }

    fn fit_some(&self, ridge: f64, free: &[usize], fixed: Option<&Regression>) -> Result<Regression, Error> {
        let n = self.windows as f64;
        // Without a bias nothing is centred.
        let mean = if self.layout.paper { 0.0 } else { 1.0 };
        let centred =
            |i: usize, j: usize| self.gram[(i, j)] - mean * self.feature_sum[i] * self.feature_sum[j] / n;
        let penalty = self.penalty(ridge);
        let d = self.layout.cloth;
        let mut weights = fixed.map_or_else(|| Mat::zeros(d, self.layout.features()), |f| f.weights.clone());
        free.iter().for_each(|&k| (0..d).for_each(|r| weights[(r, k)] = 0.0));
        // What the fixed columns already explain is taken from the right-hand side.
        let explained = &weights * &self.gram;
        let mean_part: Vec<f64> = (0..d)
            .map(|r| (0..weights.ncols()).map(|k| weights[(r, k)] * self.feature_sum[k]).sum())
            .collect();
        let lhs = Mat::from_fn(free.len(), free.len(), |i, j| {
            centred(free[i], free[j]) + if i == j { penalty[free[i]] } else { 0.0 }
        });
        let rhs = Mat::from_fn(free.len(), d, |i, r| {
            let k = free[i];
            self.cross[(r, k)]
                - explained[(r, k)]
                - mean * (self.target_sum[r] - mean_part[r]) * self.feature_sum[k] / n
        });
        let factor = lhs.llt(Side::Lower).map_err(|e| Error::Numerical(format!("the regression: {e:?}")))?;
        let solution = factor.solve(&rhs);
        for (i, &k) in free.iter().enumerate() {
            for r in 0..d {
                weights[(r, k)] = solution[(i, r)];
            }
        }
        let bias = (0..d)
            .map(|r| {
                let predicted: f64 =
                    (0..weights.ncols()).map(|k| weights[(r, k)] * self.feature_sum[k]).sum();
                mean * (self.target_sum[r] - predicted) / n
            })
            .collect();
        Ok(Regression { weights, bias })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_assets::RootFrame;

    fn wobbling(layout: Layout, frames: usize) -> NormalEquations {
        let wave = |k: usize, t: usize| (0.3 * (k + 1) as f64 * t as f64 + k as f64).sin();
        let mut normal = NormalEquations::new(layout);
        normal.add(&Sequence {
            y: Mat::from_fn(layout.cloth, frames, |k, t| wave(k + 7, t)),
            x: Mat::from_fn(layout.body, frames, wave),
            roots: (0..frames)
                .map(|t| RootFrame {
                    position: glam::DVec3::new(wave(2, t), wave(3, t), wave(4, t)),
                    heading: wave(5, t),
                })
                .collect(),
            lead: 0,
        });
        normal
    }

    #[test]
    fn sums_of_fewer_directions_and_of_parts_are_those_of_the_whole() {
        let layout = Layout { body: 4, cloth: 3, order: 2, metas: 2, paper: false };
        let fewer = wobbling(layout, 200).truncated(2);
        let direct = wobbling(Layout { cloth: 2, ..layout }, 200);
        assert_eq!((&fewer.gram, &fewer.cross), (&direct.gram, &direct.cross));
        assert_eq!((&fewer.feature_sum, &fewer.target_sum), (&direct.feature_sum, &direct.target_sum));
        let mut both = wobbling(layout, 200);
        both.merge(&wobbling(layout, 90));
        assert_eq!(both.windows(), 198 + 88);
        let apart = &both.gram - &wobbling(layout, 200).gram - &wobbling(layout, 90).gram;
        assert!(apart.norm_max() < 1e-9);
    }
}
