//! The promise that a model cannot blow up, and what it takes to keep it.
//!
//! With `M` the companion matrix of the shipped history matrices, `P = Σₖ (M/γ)ᵏᵀ(M/γ)ᵏ` satisfies
//! `γ²P − MᵀPM = γ²I`, so every step shrinks the state's `P`-norm by γ before the inputs are added: a proof that
//! two Cholesky factorisations can check. The travel bound adds up, per vertex and axis, the largest response to
//! every input of the certified box: an impulse response in absolute values, its tail bounded through `P`.

use crate::Error;
use crate::fit::{Fit, Layout};
use faer::{Mat, Side};
use toile_assets::{Certificate, Model};

/// Scales `(B₁, B₂, …)` by `(g, g², …)` so that every eigenvalue of the companion matrix moves by `g` and the
/// largest is at most `limit`. Returns the spectral radius before.
pub(crate) fn enforce(fit: &mut Fit, layout: &Layout, limit: f64) -> Result<f64, Error> {
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

fn companion(fit: &Fit, layout: &Layout) -> Mat<f64> {
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
pub(crate) fn certify(model: &Model) -> Result<Certificate, Error> {
    let (d, n) = (model.cloth_dims, model.order * model.cloth_dims);
    let shipped = model.companion();
    let m = Mat::from_fn(n, n, |r, c| shipped[r * n + c]);
    let rho = spectral_radius(&m)?;
    if rho >= 1.0 {
        return Err(Error::Numerical(format!("the shipped matrices have spectral radius {rho}")));
    }
    let gamma = 0.5 * (1.0 + rho);
    let p = lyapunov(&m, gamma);
    let travel_bound_m = travel_bound(model, &m, gamma, &p, d)?;
    let p_rows = (0..n * n).map(|i| 0.5 * (p[(i / n, i % n)] + p[(i % n, i / n)])).collect();
    Ok(Certificate { rho, gamma, p: p_rows, travel_bound_m })
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

/// An input vector as centre and half width per entry.
struct Box {
    centre: Vec<f64>,
    half: Vec<f64>,
}

fn from_rows(rows: usize, cols: usize, values: &[f32]) -> Mat<f64> {
    Mat::from_fn(rows, cols, |r, c| f64::from(values[r * cols + c]))
}

fn times(m: &Mat<f64>, v: &[f64]) -> Vec<f64> {
    (0..m.nrows()).map(|r| (0..m.ncols()).map(|c| m[(r, c)] * v[c]).sum()).collect()
}

/// Per vertex: how far it can be from its mean, whatever the inputs within their box do over time.
fn travel_bound(model: &Model, m: &Mat<f64>, gamma: f64, p: &Mat<f64>, d: usize) -> Result<Vec<f32>, Error> {
    let basis = from_rows(3 * model.vertices, d, &model.cloth_basis);
    let a0 = from_rows(d, model.body_dims, &model.a0);
    let body = body_box(model);
    let n = m.nrows();

    // Order-0 frames: one affine map of the box.
    let start_centre: Vec<f64> =
        times(&a0, &body.centre).iter().zip(&model.bias0).map(|(c, b)| c + f64::from(*b)).collect();
    let start_gain = &basis * &a0;
    let mut bound = absolute_response(&start_gain, &body.half);
    add_absolute(&mut bound, &times(&basis, &start_centre));
    if n == 0 {
        return Ok(per_vertex(&bound));
    }

    // Inputs of the recursion: body box and root terms, as one matrix and one box.
    let (input, driven) = input_map(model, &body);
    let steady = steady_state(model, &input, &driven, d)?;
    let mut sums = times(&basis, &steady).iter().map(|v| v.abs()).collect::<Vec<f64>>();
    let mut transient = vec![0.0f64; sums.len()];
    // State at the hand-over: `order` frames of the order-0 model, measured from the steady state.
    let offset: Vec<f64> = start_centre.iter().zip(&steady).map(|(s, y)| s - y).collect();

    let mut power = Mat::<f64>::identity(n, n);
    let l = p.llt(Side::Lower).map_err(|e| Error::Numerical(format!("certificate: {e:?}")))?;
    let input_norm = p_norm_of_inputs(&l, &input, &driven, d, n);
    for k in 0..4000 {
        // [I 0] Mᵏ [I; 0] for inputs, [I 0] Mᵏ for the state at hand-over.
        let top = power.get(0..d, 0..n).to_owned();
        let response = &basis * (top.get(0..d, 0..d) * &input);
        for (s, r) in sums.iter_mut().zip(absolute_response(&response, &driven.half)) {
            *s += r;
        }
        let mut free = vec![0.0; sums.len()];
        let mut centre = vec![0.0; d];
        for i in 0..model.order {
            let block = top.get(0..d, i * d..(i + 1) * d).to_owned();
            let gain = &basis * (&block * &a0);
            for (f, r) in free.iter_mut().zip(absolute_response(&gain, &body.half)) {
                *f += r;
            }
            for (c, v) in centre.iter_mut().zip(times(&block, &offset)) {
                *c += v;
            }
        }
        add_absolute(&mut free, &times(&basis, &centre));
        transient.iter_mut().zip(free).for_each(|(t, f)| *t = t.max(f));
        power = &power * m;
        // ‖Λ_v [I 0] Mᵏ [I;0] u‖ ≤ ‖Λ_v‖ γᵏ ‖u‖_P, since P ⪰ I; the sum of the rest is a geometric series.
        let tail = gamma.powi(k + 1) / (1.0 - gamma) * input_norm;
        let largest = sums.iter().copied().fold(0.0, f64::max);
        if tail < 0.002 * largest || k == 3999 {
            // Rows of an orthonormal basis have norm at most one.
            sums.iter_mut().for_each(|s| *s += tail);
            let state_norm = gamma.powi(k + 1) * start_norm(&l, &a0, &body, &offset, model.order, d);
            transient.iter_mut().for_each(|t| *t = t.max(state_norm));
            break;
        }
    }
    for ((b, s), t) in bound.iter_mut().zip(&sums).zip(&transient) {
        *b = b.max(s + t);
    }
    Ok(per_vertex(&bound))
}

fn body_box(model: &Model) -> Box {
    let pairs = model.inputs.body_min.iter().zip(&model.inputs.body_max);
    let (mut centre, mut half) = (Vec::new(), Vec::new());
    for (lo, hi) in pairs {
        centre.push(0.5 * f64::from(lo + hi));
        half.push(0.5 * f64::from(hi - lo));
    }
    Box { centre, half }
}

/// `[A C₁ … C_N]` and the box of `[x z_{t,t−N} … z_{t−N+1,t−N}]`.
fn input_map(model: &Model, body: &Box) -> (Mat<f64>, Box) {
    let d = model.cloth_dims;
    let metas = model.c.len();
    let a = from_rows(d, model.body_dims, &model.a);
    let input = Mat::from_fn(d, model.body_dims + 5 * metas, |r, c| {
        if c < model.body_dims {
            a[(r, c)]
        } else {
            let (i, k) = ((c - model.body_dims) / 5, (c - model.body_dims) % 5);
            f64::from(model.c[i][r * 5 + k])
        }
    });
    let (mut centre, mut half) = (body.centre.clone(), body.half.clone());
    for i in 0..metas {
        let steps = (model.order - i) as f64;
        let horizontal = steps * f64::from(model.inputs.max_horizontal_m);
        let vertical = steps * f64::from(model.inputs.max_vertical_m);
        let turn = (steps * f64::from(model.inputs.max_turn)).min(std::f64::consts::PI);
        let sine = if turn < std::f64::consts::FRAC_PI_2 { turn.sin() } else { 1.0 };
        let cosine = 0.5 * (turn.cos() - 1.0);
        centre.extend([0.0, 0.0, 0.0, 0.0, cosine]);
        half.extend([horizontal, vertical, horizontal, sine, -cosine]);
    }
    (input, Box { centre, half })
}

/// The fixed point of the recursion under the centre of the inputs.
fn steady_state(model: &Model, input: &Mat<f64>, driven: &Box, d: usize) -> Result<Vec<f64>, Error> {
    use faer::linalg::solvers::Solve;
    let mut lhs = Mat::<f64>::identity(d, d);
    for b in &model.b {
        lhs -= from_rows(d, d, b);
    }
    let constant = times(input, &driven.centre);
    let rhs = Mat::from_fn(d, 1, |r, _| constant[r] + f64::from(model.bias[r]));
    let solution = lhs.partial_piv_lu().solve(&rhs);
    Ok((0..d).map(|r| solution[(r, 0)]).collect())
}

/// `Σⱼ |gain_{rj}| half_j` for every row.
fn absolute_response(gain: &Mat<f64>, half: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; gain.nrows()];
    for (c, h) in half.iter().enumerate() {
        for (o, g) in out.iter_mut().zip(gain.col(c).iter()) {
            *o += g.abs() * h;
        }
    }
    out
}

fn add_absolute(to: &mut [f64], values: &[f64]) {
    to.iter_mut().zip(values).for_each(|(t, v)| *t += v.abs());
}

/// A bound on `‖[I;0] u‖_P` over the box, entry by entry.
fn p_norm_of_inputs(
    l: &faer::linalg::solvers::Llt<f64>,
    input: &Mat<f64>,
    driven: &Box,
    d: usize,
    n: usize,
) -> f64 {
    let lifted = Mat::from_fn(n, input.ncols(), |r, c| if r < d { input[(r, c)] } else { 0.0 });
    let weighted = l.L().transpose() * lifted;
    (0..weighted.ncols()).map(|c| weighted.col(c).norm_l2() * driven.half[c]).sum()
}

/// A bound on the `P`-norm of the state at hand-over, measured from the steady state.
fn start_norm(
    l: &faer::linalg::solvers::Llt<f64>,
    a0: &Mat<f64>,
    body: &Box,
    offset: &[f64],
    order: usize,
    d: usize,
) -> f64 {
    (0..order)
        .map(|i| {
            let lift = |v: &dyn Fn(usize) -> f64| {
                Mat::from_fn(order * d, 1, |r, _| if r / d == i { v(r % d) } else { 0.0 })
            };
            let gains: f64 = (0..a0.ncols())
                .map(|c| (l.L().transpose() * lift(&|r| a0[(r, c)])).norm_l2() * body.half[c])
                .sum();
            gains + (l.L().transpose() * lift(&|r| offset[r])).norm_l2()
        })
        .sum()
}

/// Length of each vertex's three axis bounds.
fn per_vertex(bound: &[f64]) -> Vec<f32> {
    bound.as_chunks::<3>().0.iter().map(|b| b.iter().map(|v| v * v).sum::<f64>().sqrt() as f32).collect()
}
