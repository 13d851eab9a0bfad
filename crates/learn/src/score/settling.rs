//! What happens after an abrupt stop: does learned cloth swing on as the simulation does (§5.2, Figure 3)?
//!
//! The truth's swing is seen along its own first principal direction; a damped cosine is fitted to the truth and to the
//! model along the same direction. Frequency, logarithmic decrement and the distance over the first second are compared.

use faer::{Mat, Side};

/// A swing back of at least a sixth of the first: `e^(−3.5/2)`. Beyond it the fit trades frequency against decay freely
/// (most test stops of the mocap dress had decrements of 5 to 20, at the edges of the search).
const MOST_DECREMENT: f64 = 3.5;

/// What one stop showed.
#[derive(Clone, Debug, PartialEq)]
pub struct Settling {
    /// The clip.
    pub clip: String,
    /// Frame of the stop.
    pub frame: usize,
    /// Swing frequency of the truth, Hz.
    pub truth_hz: f64,
    /// Swing frequency of the model, Hz.
    pub model_hz: f64,
    /// Logarithmic decrement of the truth: log of the ratio of swings a period apart.
    pub truth_decrement: f64,
    /// Logarithmic decrement of the model.
    pub model_decrement: f64,
    /// First swing of the truth: how far its places over the first period lie apart, cm of root mean square over vertices.
    pub truth_swing_cm: f64,
    /// How far the model's lie apart over the same frames.
    pub model_swing_cm: f64,
    /// Distance of the model over the first second, divided by the truth's own distance to rest (root mean squares).
    pub error_ratio: f64,
    /// Whether the truth swung enough, and regularly enough, for its frequency to mean something.
    pub swings: bool,
    /// The truth along its main direction, cm of root mean square over vertices, from the stop on.
    pub truth_cm: Vec<f32>,
    /// The model along the same direction.
    pub model_cm: Vec<f32>,
}

/// `A e^{−δt} cos(2πft + φ) + c`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Swing {
    pub hz: f64,
    /// 1/s.
    pub decay: f64,
    /// m, at the start.
    pub amplitude: f64,
    /// Share of the variance that the fit explains.
    pub explained: f64,
}

/// Fits a damped cosine by going through frequencies and decays; the rest is linear.
pub(crate) fn fit_swing(signal: &[f64], fps: f64) -> Option<Swing> {
    let n = signal.len();
    let mean = signal.iter().sum::<f64>() / n.max(1) as f64;
    let variance: f64 = signal.iter().map(|s| (s - mean).powi(2)).sum();
    if n < 15 || !(variance > 1e-18) {
        return None;
    }
    let try_at = |hz: f64, decay: f64| -> Option<(f64, f64)> {
        // Three unknowns: cosine, sine, constant.
        let mut gram = [[0.0f64; 3]; 3];
        let mut right = [0.0f64; 3];
        for (t, s) in signal.iter().enumerate() {
            let t = t as f64 / fps;
            let e = (-decay * t).exp();
            let (sin, cos) = (std::f64::consts::TAU * hz * t).sin_cos();
            let row = [e * cos, e * sin, 1.0];
            for i in 0..3 {
                right[i] += row[i] * s;
                for j in 0..3 {
                    gram[i][j] += row[i] * row[j];
                }
            }
        }
        let [a, b, c] = solve3(gram, right)?;
        let explained = a * right[0] + b * right[1] + c * right[2];
        let left = signal.iter().map(|s| s * s).sum::<f64>() - explained;
        Some((left, a.hypot(b)))
    };
    let mut best: Option<(f64, f64, f64, f64)> = None;
    let mut look = |hz: f64, decay: f64| {
        if let Some((left, amplitude)) = try_at(hz, decay)
            && best.is_none_or(|b| left < b.0)
        {
            best = Some((left, hz, decay, amplitude));
        }
    };
    for f in 0..=45 {
        for d in 0..=24 {
            look(0.3 * (4.0f64 / 0.3).powf(f as f64 / 45.0), 0.25 * d as f64);
        }
    }
    for (df, dd) in [(0.02, 0.08), (0.006, 0.03)] {
        let (_, hz, decay, _) = best?;
        let mut look = |hz: f64, decay: f64| {
            if let Some((left, amplitude)) = try_at(hz, decay)
                && best.is_none_or(|b| left < b.0)
            {
                best = Some((left, hz, decay, amplitude));
            }
        };
        for i in -3..=3 {
            for j in -3..=3 {
                look(hz * (1.0 + df * f64::from(i)), (decay + dd * f64::from(j)).max(0.0));
            }
        }
    }
    let (left, hz, decay, amplitude) = best?;
    Some(Swing { hz, decay, amplitude, explained: 1.0 - left / variance })
}

fn solve3(m: [[f64; 3]; 3], b: [f64; 3]) -> Option<[f64; 3]> {
    let m = glam::DMat3::from_cols_array_2d(&m);
    if m.determinant().abs() < 1e-12 {
        return None;
    }
    Some((m.inverse() * glam::DVec3::from_array(b)).to_array())
}

/// Compares one stop. Columns are frames from the stop on, rows coefficients of an orthonormal space; distances become
/// root mean squares over `vertices`.
pub(crate) fn settle(
    clip: &str,
    frame: usize,
    truth: &Mat<f64>,
    model: &Mat<f64>,
    fps: f64,
    vertices: usize,
) -> Option<Settling> {
    let n = truth.ncols();
    let second = (fps.round() as usize).min(n);
    if n < 20 {
        return None;
    }
    let per_vertex = 1.0 / (vertices.max(1) as f64).sqrt();
    let rest = |m: &Mat<f64>| -> Vec<f64> {
        let last = (n / 6).max(1);
        (0..m.nrows()).map(|r| (n - last..n).map(|c| m[(r, c)]).sum::<f64>() / last as f64).collect()
    };
    let (truth_rest, model_rest) = (rest(truth), rest(model));
    let centred = Mat::from_fn(truth.nrows(), n, |r, c| truth[(r, c)] - truth_rest[r]);
    let eigen = (&centred * centred.transpose()).self_adjoint_eigen(Side::Lower).ok()?;
    let axis = eigen.U().col(truth.nrows() - 1).to_owned();
    let along = |m: &Mat<f64>, rest: &[f64]| -> Vec<f64> {
        (0..n)
            .map(|c| (0..m.nrows()).map(|r| axis[r] * (m[(r, c)] - rest[r])).sum::<f64>() * per_vertex)
            .collect()
    };
    let (ours, theirs) = (along(model, &model_rest), along(truth, &truth_rest));
    let apart: f64 = (0..second)
        .map(|c| (0..truth.nrows()).map(|r| (model[(r, c)] - truth[(r, c)]).powi(2)).sum::<f64>())
        .sum();
    let own: f64 = centred.subcols(0, second).squared_norm_l2();
    let truth_swing = fit_swing(&theirs, fps)?;
    let model_swing =
        fit_swing(&ours, fps).unwrap_or(Swing { hz: 0.0, decay: 0.0, amplitude: 0.0, explained: 0.0 });
    // Of the same frames for both: a fit to a model that hardly swings has no amplitude that means anything.
    let period = ((fps / truth_swing.hz.max(1e-6)).ceil() as usize + 1).min(n);
    let swing = |y: &[f64]| {
        let (low, high) =
            y[..period].iter().fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(*v), high.max(*v)));
        100.0 * (high - low)
    };
    let decrement = |s: &Swing| if s.hz > 0.0 { s.decay / s.hz } else { 0.0 };
    let narrow = |v: Vec<f64>| v.into_iter().map(|x| (100.0 * x) as f32).collect();
    Some(Settling {
        clip: clip.to_string(),
        frame,
        truth_hz: truth_swing.hz,
        model_hz: model_swing.hz,
        truth_decrement: decrement(&truth_swing),
        model_decrement: decrement(&model_swing),
        truth_swing_cm: swing(&theirs),
        model_swing_cm: swing(&ours),
        error_ratio: (apart / own.max(1e-300)).sqrt(),
        // Half a centimetre at the start, a cosine that is most of what there is and goes round once, and a swing back that
        // can be seen: cloth that only falls to rest has no frequency, whatever the fit says.
        swings: truth_swing.amplitude > 0.005
            && truth_swing.explained > 0.7
            && (fps / n as f64..3.5).contains(&truth_swing.hz)
            && decrement(&truth_swing) < MOST_DECREMENT,
        truth_cm: narrow(theirs),
        model_cm: narrow(ours),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn swinging(hz: f64, decay: f64, size: f64) -> Vec<f64> {
        let at = |t: f64| size * (-decay * t).exp() * (std::f64::consts::TAU * hz * t + 0.4).cos() + 0.01;
        (0..61).map(|f| at(f64::from(f) / 30.0)).collect()
    }

    #[test]
    fn a_damped_cosine_is_found_again() {
        for (hz, decay) in [(0.9, 1.0), (1.6, 2.5), (2.4, 0.4)] {
            let swing = fit_swing(&swinging(hz, decay, 0.03), 30.0).unwrap();
            assert!((swing.hz / hz - 1.0).abs() < 0.02, "{swing:?}");
            assert!((swing.decay / decay - 1.0).abs() < 0.1, "{swing:?}");
            assert!(swing.explained > 0.99);
        }
        assert!(fit_swing(&[0.5; 61], 30.0).is_none());
    }

    #[test]
    fn a_slower_and_stiffer_model_is_told_apart() {
        let row = |hz, decay| {
            let s = swinging(hz, decay, 0.5);
            Mat::from_fn(2, 61, |r, c| if r == 0 { s[c] } else { 0.3 * s[c] })
        };
        let s = settle("clip", 7, &row(1.2, 1.0), &row(1.0, 2.0), 30.0, 100).unwrap();
        assert!(s.swings);
        assert!((s.truth_hz - 1.2).abs() < 0.03 && (s.model_hz - 1.0).abs() < 0.03, "{s:?}");
        assert!((s.model_decrement / s.truth_decrement - 2.4).abs() < 0.3, "{s:?}");
        assert!(s.error_ratio > 0.3);
        let half = settle("clip", 7, &row(1.2, 1.0), &(0.5 * row(1.2, 1.0)), 30.0, 100).unwrap();
        assert!((half.model_swing_cm / half.truth_swing_cm - 0.5).abs() < 1e-6 && half.truth_swing_cm > 0.1);
        let falls = settle("clip", 7, &row(0.5, 4.0), &row(0.5, 4.0), 30.0, 100).unwrap();
        assert!(!falls.swings, "{falls:?}");
        // Two seconds of a wave that takes three are no swing either.
        let creeps = settle("clip", 7, &row(0.33, 0.0), &row(0.33, 0.0), 30.0, 100).unwrap();
        assert!(!creeps.swings, "{creeps:?}");
        let same = settle("clip", 7, &row(1.2, 1.0), &row(1.2, 1.0), 30.0, 100).unwrap();
        assert!(same.error_ratio < 1e-9);
    }
}
