//! The promise that a model cannot blow up, and what it takes to keep it.
//!
//! With `M` the companion matrix of the shipped history matrices, `P = Σₖ (M/γ)ᵏᵀ(M/γ)ᵏ` satisfies
//! `γ²P − MᵀPM = γ²I`, so every step shrinks the state's `P`-norm by γ before the inputs are added: a proof that
//! two Cholesky factorisations can check. The travel bound (`bound.rs`) follows from the impulse responses.

use crate::Error;
use crate::certificate::bound::travel_bound;
use crate::models::regression::{Layout, Regression};
use faer::{Mat, Side};
use toile_assets::{Certificate, Model};

/// Scales `(B₁, B₂, …)` by `(g, g², …)` so that every eigenvalue of the companion matrix moves by `g` and the
/// largest is at most `limit`. Returns the spectral radius before.
pub(crate) fn enforce(fit: &mut Regression, layout: &Layout, limit: f64) -> Result<f64, Error> {
    let before = spectral_radius(&companion(fit, layout))?;
    if before > limit {
        let g = limit / before;
        for i in 0..layout.order {
            let factor = g.powi(i as i32 + 1);
            for k in 0..layout.cloth {
                for r in 0..layout.cloth {
                    fit.weights[(r, layout.body + i * layout.cloth + k)] *= factor;
                }
            }
        }
    }
    Ok(before)
}

pub(crate) fn companion(fit: &Regression, layout: &Layout) -> Mat<f64> {
    let (d, n) = (layout.cloth, layout.order * layout.cloth);
    Mat::from_fn(n, n, |r, c| {
        if r < d { fit.weights[(r, layout.body + c)] } else { f64::from(u8::from(c + d == r)) }
    })
}

/// Largest modulus of the eigenvalues.
pub(crate) fn spectral_radius(m: &Mat<f64>) -> Result<f64, Error> {
    if m.nrows() == 0 {
        return Ok(0.0);
    }
    let values = m.eigenvalues().map_err(|e| Error::Numerical(format!("eigenvalues: {e:?}")))?;
    Ok(values.iter().map(|v| v.re.hypot(v.im)).fold(0.0, f64::max))
}

/// Computes the certificate of a model whose matrices and input set are final.
pub(crate) fn certify(model: &Model, training_travel_m: Vec<f32>) -> Result<Certificate, Error> {
    let n = model.order * model.cloth_dims;
    let shipped = model.companion();
    let m = Mat::from_fn(n, n, |r, c| shipped[r * n + c]);
    let rho = spectral_radius(&m)?;
    if rho >= 1.0 {
        return Err(Error::Numerical(format!("the shipped matrices have spectral radius {rho}")));
    }
    let gamma = 0.5 * (1.0 + rho);
    let p = lyapunov(&m, gamma);
    let p = Mat::from_fn(n, n, |r, c| 0.5 * (p[(r, c)] + p[(c, r)]));
    let factor = match n {
        0 => None,
        _ => Some(p.llt(Side::Lower).map_err(|e| Error::Numerical(format!("certificate: {e:?}")))?),
    };
    let travel = travel_bound(model, factor.as_ref())?;
    Ok(Certificate {
        rho,
        gamma,
        p: (0..n * n).map(|i| p[(i / n, i % n)]).collect(),
        transient_gain: transient_gain(&m, rho),
        travel_bound_m: travel.boxed,
        travel_bound_rate_m: travel.rated,
        training_travel_m,
    })
}

/// `P = Σₖ (M/γ)ᵏᵀ (M/γ)ᵏ` by doubling (Smith 1968): each round squares the number of terms.
fn lyapunov(m: &Mat<f64>, gamma: f64) -> Mat<f64> {
    let n = m.nrows();
    let mut a = m * faer::Scale(1.0 / gamma);
    let mut p = Mat::<f64>::identity(n, n);
    for _ in 0..64 {
        let step = a.transpose() * &p * &a;
        p += &step;
        if step.norm_max() <= 1e-14 * p.norm_max() {
            break;
        }
        a = &a * &a;
    }
    p
}

/// `max_k ‖Mᵏ‖₂` over a few time constants: how much the memory can amplify before it decays.
fn transient_gain(m: &Mat<f64>, rho: f64) -> f64 {
    let n = m.nrows();
    let mut power = Mat::<f64>::identity(n, n);
    let mut gain = f64::from(u8::from(n > 0));
    let steps = (3.0 / (1.0 - rho).max(0.003)).ceil() as usize;
    for _ in 0..if n > 0 { steps } else { 0 } {
        power = &power * m;
        // Power iteration from the row of largest norm; a few rounds give three digits.
        let mut v = Mat::from_fn(n, 1, |r, _| 1.0 + (r % 7) as f64 * 0.1);
        let mut norm = 0.0;
        for _ in 0..12 {
            let w = power.transpose() * (&power * &v);
            let length = w.norm_l2();
            norm = length.sqrt();
            if length == 0.0 {
                break;
            }
            v = w * faer::Scale(1.0 / length);
        }
        gain = gain.max(norm);
    }
    gain
}
