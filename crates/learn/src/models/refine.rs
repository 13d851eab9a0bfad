//! Multi-step refinement: least squares on what the model does over many frames, not one.
//!
//! A one-step fit sees noisy history as its regressors and answers with too much damping. Here segments of the
//! takes are run freely from their true first frames, and the squared distance to the truth is minimised over all
//! matrices. The recursion is linear, so the gradient is one backward pass of the same matrices (the adjoint
//! method). L-BFGS is preconditioned by the one-step problem's Gram matrix: at a horizon of one frame its first
//! step is the least-squares solution.

use crate::Error;
use crate::models::regression::{Layout, NormalEquations, Regression};
use crate::takes::sequence::Sequence;
use faer::linalg::solvers::{Llt, Solve};
use faer::{Mat, MatRef, Side};
use std::collections::VecDeque;

/// Segments of equal length, side by side: column per segment.
pub(crate) struct Segments {
    layout: Layout,
    /// True states before the first predicted frame, oldest last: `y_{−1}, y_{−2}, …`.
    history: Vec<Mat<f64>>,
    /// Per predicted frame: what does not depend on the cloth, with a constant 1 last.
    inputs: Vec<Mat<f64>>,
    truth: Vec<Mat<f64>>,
}

impl Segments {
    /// Cuts sequences into segments of `horizon` predicted frames, at most `limit` of them, evenly thinned.
    pub fn new<'a>(
        layout: &Layout,
        sequences: impl Iterator<Item = &'a Sequence>,
        horizon: usize,
        limit: usize,
    ) -> Self {
        let sequences: Vec<&Sequence> = sequences.collect();
        // Half overlapping, so that every frame is early in one segment and late in another.
        let stride = horizon.div_ceil(2);
        let mut places: Vec<(usize, usize)> = Vec::new();
        for (i, s) in sequences.iter().enumerate() {
            let last = s.len().saturating_sub(horizon);
            places.extend(
                (layout.order..=last)
                    .step_by(stride)
                    .filter(|_| s.len() >= horizon + layout.order)
                    .map(|t| (i, t)),
            );
        }
        let keep = places.len().div_ceil(limit.max(1)).max(1);
        let places: Vec<(usize, usize)> = places.into_iter().step_by(keep).collect();
        let count = places.len();
        let d = layout.cloth;
        let free = layout.body + 5 * layout.metas;
        let mut window = vec![0.0; layout.features()];
        let column = |back: isize| {
            Mat::from_fn(d, count, |r, c| {
                let (i, t) = places[c];
                sequences[i].y[(r, (t as isize + back) as usize)]
            })
        };
        let history = (1..=layout.order).map(|i| column(-(i as isize))).collect();
        let truth = (0..horizon).map(|k| column(k as isize)).collect();
        let inputs = (0..horizon)
            .map(|k| {
                let mut m = Mat::<f64>::zeros(free + 1, count);
                for (c, &(i, t)) in places.iter().enumerate() {
                    layout.window(sequences[i], t + k, &mut window);
                    let rest = &window[layout.body + layout.order * d..];
                    for (r, v) in window[..layout.body].iter().chain(rest).enumerate() {
                        m[(r, c)] = *v;
                    }
                    m[(free, c)] = if layout.paper { 0.0 } else { 1.0 };
                }
                m
            })
            .collect();
        Self { layout: *layout, history, inputs, truth }
    }

    pub fn is_empty(&self) -> bool {
        self.truth.first().is_none_or(|t| t.ncols() == 0)
    }

    /// Summed squared error over all segments and its gradient; `w` is `cloth × (features + 1)`.
    fn loss(&self, w: &Mat<f64>) -> (f64, Mat<f64>) {
        let l = &self.layout;
        let (d, order) = (l.cloth, l.order);
        let (body, memory) = (l.body, order * d);
        let steps = self.truth.len();
        // Columns of the inputs: body, then root terms and bias, which sit after the memory.
        let driven = |k: usize| -> Mat<f64> {
            let u = &self.inputs[k];
            let mut y = w.subcols(0, body) * u.subrows(0, body);
            y += w.subcols(body + memory, u.nrows() - body) * u.subrows(body, u.nrows() - body);
            y
        };
        let b = |i: usize| w.subcols(body + i * d, d);
        let mut states: Vec<Mat<f64>> = Vec::with_capacity(steps);
        let mut errors: Vec<Mat<f64>> = Vec::with_capacity(steps);
        let before = |states: &[Mat<f64>], k: usize, i: usize| -> Mat<f64> {
            // State i frames before frame k (i ≥ 1).
            if k >= i { states[k - i].clone() } else { self.history[i - k - 1].clone() }
        };
        let mut loss = 0.0;
        for k in 0..steps {
            let mut y = driven(k);
            for i in 1..=order {
                y += b(i - 1) * before(&states, k, i);
            }
            let e = &y - &self.truth[k];
            loss += e.squared_norm_l2();
            states.push(y);
            errors.push(e);
        }
        // λ_k = e_k + Σ_i B_iᵀ λ_{k+i}.
        let mut gradient = Mat::<f64>::zeros(d, w.ncols());
        let mut adjoint: Vec<Mat<f64>> = errors;
        for k in (0..steps).rev() {
            for i in 1..=order {
                if k + i < steps {
                    let carried = b(i - 1).transpose() * &adjoint[k + i];
                    adjoint[k] += carried;
                }
            }
            let lambda = &adjoint[k];
            let u = &self.inputs[k];
            let add = |g: &mut Mat<f64>, at: usize, with: MatRef<'_, f64>| {
                let mut part = g.subcols_mut(at, with.nrows());
                part += lambda * with.transpose();
            };
            add(&mut gradient, 0, u.subrows(0, body));
            for i in 1..=order {
                add(&mut gradient, body + (i - 1) * d, before(&states, k, i).as_ref());
            }
            add(&mut gradient, body + memory, u.subrows(body, u.nrows() - body));
        }
        gradient *= faer::Scale(2.0);
        (loss, gradient)
    }
}

/// What may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Free {
    /// Every matrix.
    All,
    /// Everything but the history matrices, whose stability has been enforced.
    Inputs,
}

/// Runs at most `iterations` of L-BFGS and returns the better matrices.
pub(crate) fn refine(
    segments: &Segments,
    normal: &NormalEquations,
    ridge: f64,
    from: &Regression,
    iterations: usize,
    free: Free,
) -> Result<Regression, Error> {
    let l = segments.layout;
    let f = l.features();
    let d = l.cloth;
    let mut w = Mat::from_fn(d, f + 1, |r, c| if c < f { from.weights[(r, c)] } else { from.bias[r] });
    let gram = normal.gram_with_bias(ridge);
    let factor = gram.llt(Side::Lower).map_err(|e| Error::Numerical(format!("refinement: {e:?}")))?;
    // The refinement has its own number of frames; the ridge weighs as it did in the fit.
    let frames = segments.truth.len() * segments.truth[0].ncols();
    let share = frames as f64 / normal.windows().max(1) as f64;
    let penalty: Vec<f64> = normal.penalty(ridge).iter().map(|p| p * share).chain([0.0]).collect();
    let objective = |w: &Mat<f64>| {
        let (mut value, mut g) = segments.loss(w);
        for c in 0..=f {
            for r in 0..d {
                value += penalty[c] * w[(r, c)].powi(2);
                g[(r, c)] += 2.0 * penalty[c] * w[(r, c)];
                let fixed = free == Free::Inputs && (l.body..l.body + l.order * d).contains(&c);
                if fixed || (l.paper && c == f) {
                    g[(r, c)] = 0.0;
                }
            }
        }
        (value, g)
    };
    let (mut value, mut gradient) = objective(&w);
    let mut memory: VecDeque<(Mat<f64>, Mat<f64>, f64)> = VecDeque::new();
    for _ in 0..iterations {
        let mut direction = two_loop(&memory, &gradient, &factor);
        if free == Free::Inputs {
            // The preconditioner mixes columns; what is fixed stays.
            direction.subcols_mut(l.body, l.order * d).fill(0.0);
        }
        let slope = inner(&direction, &gradient);
        if !(slope > 0.0) {
            break;
        }
        let mut step = if memory.is_empty() { 0.5 / share } else { 1.0 };
        let mut moved = None;
        for _ in 0..12 {
            let trial = &w - &direction * faer::Scale(step);
            let (v, g) = objective(&trial);
            if v.is_finite() && v <= value - 1e-4 * step * slope {
                moved = Some((trial, v, g));
                break;
            }
            step *= 0.4;
        }
        let Some((next, v, g)) = moved else { break };
        let (s, y) = (&next - &w, &g - &gradient);
        let curvature = inner(&s, &y);
        if curvature > 0.0 {
            memory.push_back((s, y, 1.0 / curvature));
            if memory.len() > 12 {
                memory.pop_front();
            }
        }
        let gained = (value - v) / value.max(1e-300);
        (w, value, gradient) = (next, v, g);
        if gained < 1e-5 {
            break;
        }
    }
    Ok(Regression { weights: w.subcols(0, f).to_owned(), bias: (0..d).map(|r| w[(r, f)]).collect() })
}

fn inner(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    (0..a.ncols()).map(|c| (0..a.nrows()).map(|r| a[(r, c)] * b[(r, c)]).sum::<f64>()).sum()
}

/// The L-BFGS direction (Nocedal 1980) with the one-step Gram matrix as first Hessian.
fn two_loop(memory: &VecDeque<(Mat<f64>, Mat<f64>, f64)>, gradient: &Mat<f64>, gram: &Llt<f64>) -> Mat<f64> {
    let mut q = gradient.clone();
    let mut alphas = Vec::with_capacity(memory.len());
    for (s, y, rho) in memory.iter().rev() {
        let alpha = rho * inner(s, &q);
        q -= y * faer::Scale(alpha);
        alphas.push(alpha);
    }
    // ∇ of the one-step problem is 2 W G, so its inverse Hessian is ½ G⁻¹ from the right.
    let precondition = |m: &Mat<f64>| -> Mat<f64> {
        let solved = gram.solve(m.transpose());
        solved.transpose() * faer::Scale(0.5)
    };
    let mut r = precondition(&q);
    if let Some((s, y, _)) = memory.back() {
        let scaled = inner(s, y) / inner(y, &precondition(y)).max(1e-300);
        r *= faer::Scale(scaled);
    }
    for ((s, y, rho), alpha) in memory.iter().zip(alphas.into_iter().rev()) {
        let beta = rho * inner(y, &r);
        r += s * faer::Scale(alpha - beta);
    }
    r
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;
    use toile_assets::RootFrame;
    use toile_geometry::Random;

    const LAYOUT: Layout = Layout { body: 2, cloth: 3, order: 2, metas: 2, paper: false };

    /// Matrices of a lively but stable recursion.
    fn weights(random: &mut Random) -> Mat<f64> {
        let swing = |r: usize, c: usize, at: usize, by: f64| if c == at + r { by } else { 0.0 };
        let history = |r: usize, c: usize| swing(r, c, 2, 1.5) + swing(r, c, 5, -0.8);
        Mat::from_fn(3, LAYOUT.features() + 1, |r, c| history(r, c) + 0.05 * random.signed())
    }

    /// A body that wanders, and cloth that follows it by these matrices; noise is added to what is seen.
    fn sequence(w: &Mat<f64>, random: &mut Random, noise: f64) -> Sequence {
        let frames = 160;
        let x = Mat::from_fn(2, frames, |_, _| random.signed());
        let roots = (0..frames).map(|f| RootFrame {
            position: DVec3::new(0.02 * f as f64, 0.01 * random.signed(), 0.01 * random.signed()),
            heading: 0.05 * random.signed(),
        });
        let mut s = Sequence { y: Mat::zeros(3, frames), x, roots: roots.collect(), lead: 0 };
        let mut window = vec![0.0; LAYOUT.features()];
        for t in 2..frames {
            LAYOUT.window(&s, t, &mut window);
            for r in 0..3 {
                let sum: f64 = window.iter().enumerate().map(|(c, v)| w[(r, c)] * v).sum();
                s.y[(r, t)] = sum + w[(r, window.len())];
            }
        }
        for c in 0..frames {
            (0..3).for_each(|r| s.y[(r, c)] += noise * random.signed());
        }
        s
    }

    #[test]
    fn the_gradient_is_that_of_finite_differences() {
        let mut random = Random::new(21);
        let truth = weights(&mut random);
        let s = sequence(&truth, &mut random, 0.02);
        let segments = Segments::new(&LAYOUT, [&s].into_iter(), 8, 5);
        assert!(!segments.is_empty());
        let w = weights(&mut random);
        let (_, gradient) = segments.loss(&w);
        for r in 0..w.nrows() {
            for c in 0..w.ncols() {
                let at = |by: f64| {
                    let mut moved = w.clone();
                    moved[(r, c)] += by;
                    segments.loss(&moved).0
                };
                let (h, found) = (1e-5, gradient[(r, c)]);
                let wanted = (at(h) - at(-h)) / (2.0 * h);
                assert!(
                    (found - wanted).abs() < 1e-5 * (1.0 + wanted.abs()),
                    "({r}, {c}): {found} for {wanted}"
                );
            }
        }
    }

    #[test]
    fn matrices_that_made_the_motion_are_found_again_and_cost_nothing() {
        let mut random = Random::new(22);
        let truth = weights(&mut random);
        let s = sequence(&truth, &mut random, 0.0);
        let segments = Segments::new(&LAYOUT, [&s].into_iter(), 10, 100);
        assert!(segments.loss(&truth).0 < 1e-18);
        let mut normal = NormalEquations::new(LAYOUT);
        normal.add(&s);
        let f = LAYOUT.features();
        let off = |r: usize, c: usize| truth[(r, c)] + 0.02 * ((r + 2 * c) % 3) as f64;
        let from = Regression { weights: Mat::from_fn(3, f, off), bias: (0..3).map(|r| off(r, f)).collect() };
        let whole = |fit: &Regression| {
            Mat::from_fn(3, f + 1, |r, c| if c < f { fit.weights[(r, c)] } else { fit.bias[r] })
        };
        let before = segments.loss(&whole(&from)).0;
        let all = refine(&segments, &normal, 1e-9, &from, 60, Free::All).unwrap();
        let after = segments.loss(&whole(&all)).0;
        assert!(after < 1e-3 * before, "{before} → {after}");
        // With the history held it gets better too, and the history is as it was.
        let inputs = refine(&segments, &normal, 1e-9, &from, 60, Free::Inputs).unwrap();
        assert!(segments.loss(&whole(&inputs)).0 < before);
        for c in LAYOUT.body..LAYOUT.body + LAYOUT.order * LAYOUT.cloth {
            (0..3).for_each(|r| assert_eq!(inputs.weights[(r, c)], from.weights[(r, c)]));
        }
    }
}
