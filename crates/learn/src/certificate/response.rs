//! What every input does to the garment over time: the impulse responses behind the travel bound.
//!
//! At a lag of `l` steps an input reaches the cloth through `F_l = [I 0] Mˡ [I; 0]`. Inputs are the body's
//! coefficients (a box), the root's displacement per step (a disc and a height) and its turn per step. Meta-parameters
//! are sums of such moves, so a move at one step acts in as many windows as the order: `E_m = Σ_{i≤m} C_{i+1}`
//! collects them. What is not linear in the moves (earlier turns rotating later displacements, `sin x − x`, `cos x − 1`)
//! enters as small independent inputs of its own, so that the bound stays a bound.

use crate::Error;
use faer::linalg::solvers::Solve;
use faer::{Mat, MatRef};
use toile_assets::Model;

/// One kind of input and how far it may be from its centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Channel {
    /// One column, `|u| ≤ half`; for coefficients of the body more is known.
    Box { half: f64, body: Option<BodyRange> },
    /// Two columns, `‖u‖ ≤ radius`.
    Disc { radius: f64 },
}

/// What training saw of a coefficient of the body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BodyRange {
    /// The most it changed per step.
    pub rate: f64,
    /// Its standard deviation.
    pub std: f64,
}

/// Impulse responses of a model, lag by lag.
pub(crate) struct Responses<'a> {
    pub model: &'a Model,
    /// Companion matrix.
    pub m: Mat<f64>,
    /// Inputs of every window, with their first column.
    pub channels: Vec<(usize, Channel)>,
    /// Columns of all channels.
    pub columns: usize,
    /// Half widths of what acts once, at the start: bodies of the order-0 frames, and moves before the first window.
    pub start_half: Vec<f64>,
    /// Centre of the order-0 frames.
    pub start_centre: Vec<f64>,
    /// Fixed point under the centre of all inputs.
    pub steady: Vec<f64>,
    /// Order-0 frame and fixed point for the mean body instead of the centre of its box.
    pub start_mean: Vec<f64>,
    pub steady_mean: Vec<f64>,
    pub body_centre: Vec<f64>,
    pub body_half: Vec<f64>,
    a: Mat<f64>,
    pub a0: Mat<f64>,
    /// `E_m`, columns x, z, y, turn.
    moves: Vec<Mat<f64>>,
    /// Per meta-parameter: columns x, z, sine, cosine.
    slack: Vec<Mat<f64>>,
}

/// `[I 0] Mˡ` for the latest lags, newest first.
pub(crate) struct Course {
    rows: Vec<Mat<f64>>,
}

pub(crate) fn from_rows(rows: usize, cols: usize, values: &[f32]) -> Mat<f64> {
    Mat::from_fn(rows, cols, |r, c| f64::from(values[r * cols + c]))
}

pub(crate) fn times(m: MatRef<'_, f64>, v: &[f64]) -> Vec<f64> {
    (0..m.nrows()).map(|r| (0..m.ncols()).map(|c| m[(r, c)] * v[c]).sum()).collect()
}

/// Within what the inputs of a model move, column by column.
struct Ranges {
    channels: Vec<(usize, Channel)>,
    columns: usize,
    /// Around what the cosine of each sum of turns lies.
    cosine_centre: Vec<f64>,
    /// Of the frames that a model starts from.
    start_half: Vec<f64>,
}

impl Ranges {
    fn of(model: &Model, body_half: &[f64]) -> Self {
        let (order, metas, inputs) = (model.order, model.c.len(), &model.inputs);
        let mut channels: Vec<(usize, Channel)> = body_half
            .iter()
            .zip(inputs.body_rate.iter().zip(&inputs.body_std))
            .enumerate()
            .map(|(k, (&half, (&rate, &std)))| {
                let body = BodyRange { rate: f64::from(rate), std: f64::from(std) };
                (k, Channel::Box { half, body: Some(body) })
            })
            .collect();
        let mut columns = model.body_dims;
        let horizontal = f64::from(inputs.max_horizontal_m);
        let vertical = f64::from(inputs.max_vertical_m);
        let turn = f64::from(inputs.max_turn);
        let mut cosine_centre = vec![0.0; metas];
        let mut start_half: Vec<f64> = (0..order).flat_map(|_| body_half.iter().copied()).collect();
        if metas > 0 {
            channels.push((columns, Channel::Disc { radius: horizontal }));
            channels.push((columns + 2, Channel::Box { half: vertical, body: None }));
            channels.push((columns + 3, Channel::Box { half: turn, body: None }));
            columns += 4;
            for i in 0..metas {
                let steps = order - i;
                let whole = steps as f64 * turn;
                let tilt = |k: usize| 2.0 * (0.5 * k as f64 * turn).min(std::f64::consts::FRAC_PI_2).sin();
                let radius = (1..steps).map(|k| tilt(k) * horizontal).sum();
                cosine_centre[i] = 0.5 * (whole.min(std::f64::consts::PI).cos() - 1.0);
                channels.push((columns, Channel::Disc { radius }));
                channels
                    .push((columns + 2, Channel::Box { half: whole - whole.sin().min(whole), body: None }));
                channels.push((columns + 3, Channel::Box { half: -cosine_centre[i], body: None }));
                columns += 4;
            }
            for _ in 1..order {
                start_half.extend([horizontal, horizontal, vertical, turn]);
            }
        }
        Self { channels, columns, cosine_centre, start_half }
    }
}

impl<'a> Responses<'a> {
    pub fn new(model: &'a Model) -> Self {
        let d = model.cloth_dims;
        let n = model.order * d;
        let companion = model.companion();
        let inputs = &model.inputs;
        let pairs = inputs.body_min.iter().zip(&inputs.body_max);
        let (body_centre, body_half): (Vec<f64>, Vec<f64>) =
            pairs.map(|(lo, hi)| (0.5 * f64::from(lo + hi), 0.5 * f64::from(hi - lo))).unzip();
        let c: Vec<Mat<f64>> = model.c.iter().map(|c| from_rows(d, 5, c)).collect();
        let Ranges { channels, columns, cosine_centre, start_half } = Ranges::of(model, &body_half);
        let pick = |m: &Mat<f64>, which: [usize; 4]| Mat::from_fn(d, 4, |r, k| m[(r, which[k])]);
        let mut moves: Vec<Mat<f64>> = Vec::new();
        for m in &c {
            let own = pick(m, [0, 2, 1, 3]);
            let sum = moves.last().map_or_else(|| own.clone(), |before| before + &own);
            moves.push(sum);
        }
        let slack = c.iter().map(|m| pick(m, [0, 2, 3, 4])).collect();
        let a0 = from_rows(d, model.body_dims, &model.a0);
        let a = from_rows(d, model.body_dims, &model.a);
        let affine = |m: &Mat<f64>, bias: &[f32], x: &[f64]| -> Vec<f64> {
            times(m.as_ref(), x).iter().zip(bias).map(|(v, b)| v + f64::from(*b)).collect()
        };
        let mean_body = vec![0.0; model.body_dims];
        let start_centre = affine(&a0, &model.bias0, &body_centre);
        let start_mean = affine(&a0, &model.bias0, &mean_body);
        let mut constants = [affine(&a, &model.bias, &body_centre), affine(&a, &model.bias, &mean_body)];
        for (m, centre) in c.iter().zip(&cosine_centre) {
            for constant in &mut constants {
                (0..d).for_each(|r| constant[r] += m[(r, 4)] * centre);
            }
        }
        let mut lhs = Mat::<f64>::identity(d, d);
        for b in &model.b {
            lhs -= from_rows(d, d, b);
        }
        let solved = lhs.partial_piv_lu().solve(Mat::from_fn(d, 2, |r, c| constants[c][r]));
        Self {
            m: Mat::from_fn(n, n, |r, c| companion[r * n + c]),
            channels,
            columns,
            start_half,
            start_centre,
            steady: (0..d).map(|r| solved[(r, 0)]).collect(),
            start_mean,
            steady_mean: (0..d).map(|r| solved[(r, 1)]).collect(),
            body_centre,
            body_half,
            a,
            a0,
            moves,
            slack,
            model,
        }
    }

    /// `[I 0] M⁰`.
    pub fn begin(&self) -> Course {
        let (d, n) = (self.model.cloth_dims, self.m.nrows());
        Course { rows: vec![Mat::from_fn(d, n, |r, c| f64::from(u8::from(r == c)))] }
    }

    /// Moves on by one lag.
    pub fn advance(&self, course: &mut Course) {
        let next = &course.rows[0] * &self.m;
        course.rows.insert(0, next);
        course.rows.truncate(2 * self.model.order + 1);
    }

    /// What every channel does at the current lag: `cloth × columns`.
    pub fn driven(&self, course: &Course) -> Mat<f64> {
        let d = self.model.cloth_dims;
        let f = |back: usize| course.rows.get(back).map(|u| u.subcols(0, d));
        let now = course.rows[0].subcols(0, d);
        let mut out = Mat::<f64>::zeros(d, self.columns);
        let m = self.model.body_dims;
        out.subcols_mut(0, m).copy_from(now * &self.a);
        if !self.moves.is_empty() {
            let mut sum = Mat::<f64>::zeros(d, 4);
            for (k, e) in self.moves.iter().enumerate() {
                if let Some(f) = f(k) {
                    sum += f * e;
                }
            }
            out.subcols_mut(m, 4).copy_from(sum);
            for (i, s) in self.slack.iter().enumerate() {
                out.subcols_mut(m + 4 * (i + 1), 4).copy_from(now * s);
            }
        }
        out
    }

    /// What the start does after as many windows as the current lag: `cloth × start_half.len()`.
    pub fn started(&self, course: &Course) -> Mat<f64> {
        let (d, m, order) = (self.model.cloth_dims, self.model.body_dims, self.model.order);
        let mut out = Mat::<f64>::zeros(d, self.start_half.len());
        let now = &course.rows[0];
        for i in 0..order {
            out.subcols_mut(i * m, m).copy_from(now.subcols(i * d, d) * &self.a0);
        }
        // A move at frame s < order acts in windows from frame `order` on only.
        if !self.moves.is_empty() {
            for s in 1..order {
                let mut sum = Mat::<f64>::zeros(d, 4);
                for k in order - s..order {
                    // After T windows the latest frame is order + T − 1, so the lag of E_k is T − 1 + order − s − k.
                    let back = 1 + s + k;
                    if back >= order
                        && let Some(u) = course.rows.get(back - order)
                    {
                        sum += u.subcols(0, d) * &self.moves[k];
                    }
                }
                out.subcols_mut(order * m + 4 * (s - 1), 4).copy_from(sum);
            }
        }
        out
    }

    /// Where the cloth is after as many windows as the current lag if every input sits at its centre.
    pub fn centre(&self, course: &Course) -> Vec<f64> {
        self.settling(course, &self.start_centre, &self.steady)
    }

    /// The same with the mean body.
    pub fn centre_of_mean(&self, course: &Course) -> Vec<f64> {
        self.settling(course, &self.start_mean, &self.steady_mean)
    }

    fn settling(&self, course: &Course, start: &[f64], steady: &[f64]) -> Vec<f64> {
        let d = self.model.cloth_dims;
        let offset: Vec<f64> = start.iter().zip(steady).map(|(s, y)| s - y).collect();
        let stacked: Vec<f64> = (0..self.m.nrows()).map(|r| offset[r % d]).collect();
        times(course.rows[0].as_ref(), &stacked).iter().zip(steady).map(|(v, y)| v + y).collect()
    }

    /// `Mˡ` itself, once the course is as long as the order: rows of a companion matrix's powers repeat.
    pub fn power(&self, course: &Course) -> Result<Mat<f64>, Error> {
        let (d, n) = (self.model.cloth_dims, self.m.nrows());
        if course.rows.len() < self.model.order {
            return Err(Error::Numerical("the course is shorter than the order".into()));
        }
        Ok(Mat::from_fn(n, n, |r, c| course.rows[r / d][(r % d, c)]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{SMALL, model};

    /// The recursion itself, from a start: `drive` is what comes in at each step besides the history.
    fn run(
        model: &Model,
        start: &[Vec<f64>],
        steps: usize,
        drive: impl Fn(usize) -> Vec<f64>,
    ) -> Vec<Vec<f64>> {
        let d = model.cloth_dims;
        let b: Vec<Mat<f64>> = model.b.iter().map(|b| from_rows(d, d, b)).collect();
        let mut states: Vec<Vec<f64>> = start.to_vec();
        for t in 0..steps {
            let mut y = drive(t);
            for (i, b) in b.iter().enumerate() {
                let before = times(b.as_ref(), &states[states.len() - 1 - i]);
                y.iter_mut().zip(before).for_each(|(y, v)| *y += v);
            }
            states.push(y);
        }
        states.split_off(start.len())
    }

    fn close(a: &[f64], b: &[f64], what: &str) {
        let off = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(a.len() == b.len() && off < 1e-9, "{what}: {off} off");
    }

    fn column(m: &Mat<f64>, c: usize) -> Vec<f64> {
        (0..m.nrows()).map(|r| m[(r, c)]).collect()
    }

    #[test]
    fn a_push_on_a_coefficient_of_the_body_goes_on_as_its_response_says() {
        let model = model(SMALL, 5);
        let (responses, d) = (Responses::new(&model), model.cloth_dims);
        let rest = vec![vec![0.0; d]; model.order];
        for j in [0, 7] {
            let pushed = |t: usize| if t == 0 { column(&responses.a, j) } else { vec![0.0; d] };
            let states = run(&model, &rest, 12, pushed);
            let mut course = responses.begin();
            for (lag, state) in states.iter().enumerate() {
                close(&column(&responses.driven(&course), j), state, &format!("input {j}, lag {lag}"));
                responses.advance(&mut course);
            }
        }
    }

    #[test]
    fn a_move_of_the_root_acts_in_as_many_windows_as_the_order() {
        let model = model(SMALL, 6);
        let (responses, d, order) = (Responses::new(&model), model.cloth_dims, model.order);
        // One metre to the side at step `order`; z_{t−i, t−N} sums the moves after frame t − N up to t − i.
        let moved = order;
        let drive = |t: usize| {
            let now = t + 1;
            let mut sum = vec![0.0; d];
            for (i, c) in model.c.iter().enumerate() {
                if now < moved + order && moved + i <= now {
                    (0..d).for_each(|r| sum[r] += f64::from(c[r * 5]));
                }
            }
            sum
        };
        let states = run(&model, &vec![vec![0.0; d]; order], 12, drive);
        let mut course = responses.begin();
        for (lag, state) in states[moved - 1..].iter().enumerate() {
            let side = column(&responses.driven(&course), model.body_dims);
            close(&side, state, &format!("lag {lag}"));
            responses.advance(&mut course);
        }
    }

    #[test]
    fn inputs_held_at_their_centre_settle_as_stated() {
        let mut model = model(SMALL, 7);
        // Without root terms the centre of all inputs is a body that stands still.
        model.c.iter_mut().for_each(|c| c.fill(0.0));
        model.inputs.body_min.iter_mut().for_each(|v| *v = -1.0);
        let (responses, d) = (Responses::new(&model), model.cloth_dims);
        let body: Vec<f64> = model
            .inputs
            .body_min
            .iter()
            .zip(&model.inputs.body_max)
            .map(|(lo, hi)| 0.5 * f64::from(lo + hi))
            .collect();
        assert!(body.iter().all(|v| *v == 1.0), "the box is not centred on the mean body");
        let affine = |a: &[f32], bias: &[f32]| -> Vec<f64> {
            let ax = times(from_rows(d, model.body_dims, a).as_ref(), &body);
            ax.iter().zip(bias).map(|(v, b)| v + f64::from(*b)).collect()
        };
        let start = vec![affine(&model.a0, &model.bias0); model.order];
        let states = run(&model, &start, 400, |_| affine(&model.a, &model.bias));
        let mut course = responses.begin();
        for (windows, state) in states.iter().take(20).enumerate() {
            responses.advance(&mut course);
            close(&responses.centre(&course), state, &format!("after {} windows", windows + 1));
        }
        close(&responses.steady, &states[399], "in the end");
    }

    #[test]
    fn powers_of_the_companion_matrix_are_put_together_from_its_rows() {
        let model = model(SMALL, 8);
        let responses = Responses::new(&model);
        let mut course = responses.begin();
        assert!(responses.power(&course).is_err(), "one row is not enough for order 2");
        let mut power = Mat::<f64>::identity(responses.m.nrows(), responses.m.nrows());
        for _ in 0..6 {
            responses.advance(&mut course);
            power = &power * &responses.m;
        }
        let found = responses.power(&course).unwrap();
        for c in 0..power.ncols() {
            close(&column(&found, c), &column(&power, c), &format!("column {c}"));
        }
    }
}
