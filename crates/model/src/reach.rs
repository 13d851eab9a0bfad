//! What inputs of the certified set bring a vertex to: the travel of the published forms, computed anew from the numbers.
//!
//! Along a direction `n` a vertex is pushed by the sum of what every input can do at every lag, `Σ_l Σ_u h_u |nᵀ Λ_v F_l g_u|`:
//! a body that jumps between the ends of its box and a root that goes straight, each at the right moment. Inputs that
//! long ago are held for a few frames at a time, which is still an input like any other. So every number found here is
//! reached by a sequence of inputs, and a file that states less is refused with its vertex. What it states may be larger:
//! there are directions between those looked at (at most 13 % more), and turns.

use crate::{CertificateError, Model, ModelKind};

/// Lags that are looked at one by one.
const SINGLE: usize = 16;
/// Frames that inputs are held for before that.
const HELD: usize = 8;
/// Lags that are looked at in all; later ones are left out.
const LAGS: usize = SINGLE + 30 * HELD;
/// Vertices that a thread takes at a time.
const SHARE: usize = 64;

/// Half a sphere of directions: the axes and all diagonals between them.
const DIRECTIONS: [[f32; 3]; 13] = {
    const TWO: f32 = std::f32::consts::FRAC_1_SQRT_2;
    const THREE: f32 = 0.577_350_26;
    [
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
        [TWO, TWO, 0.0],
        [TWO, -TWO, 0.0],
        [TWO, 0.0, TWO],
        [TWO, 0.0, -TWO],
        [0.0, TWO, TWO],
        [0.0, TWO, -TWO],
        [THREE, THREE, THREE],
        [THREE, THREE, -THREE],
        [THREE, -THREE, THREE],
        [THREE, -THREE, -THREE],
    ]
};

/// What every input does to the coefficients over some lags, `dims × columns`, as far as it may go.
struct Responses {
    columns: usize,
    /// The first of two columns of one horizontal move; none of a model without root motion.
    horizontal: Option<usize>,
    /// One matrix for each stretch of lags that inputs are held for.
    stretches: Vec<Vec<f32>>,
}

impl Model {
    /// How far inputs of the certified set bring each vertex from where held ones leave it, and beyond what is stated
    /// nothing may: `settled` is where the centre of all inputs leaves the coefficients.
    pub(crate) fn verify_reach(&self, settled: &[f64]) -> Result<(), CertificateError> {
        let responses = self.responses_by_lag();
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let next = std::sync::atomic::AtomicUsize::new(0);
        let worker = || {
            let mut fault = None;
            loop {
                let first = next.fetch_add(SHARE, std::sync::atomic::Ordering::Relaxed);
                if first >= self.vertices || fault.is_some() {
                    return fault;
                }
                let some = first..(first + SHARE).min(self.vertices);
                fault = some.into_iter().find_map(|v| self.reached(v, &responses, settled));
            }
        };
        let faults: Vec<Option<(usize, f64)>> = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(worker)).collect();
            let own = worker();
            others.into_iter().map(|t| t.join().unwrap_or(None)).chain([own]).collect()
        });
        match faults.into_iter().flatten().min_by_key(|(v, _)| *v) {
            None => Ok(()),
            Some((vertex, reach)) => Err(CertificateError::Exceeded {
                input: "changing inputs bring",
                vertex,
                reach_cm: 100.0 * reach,
                from: "mean",
                stated_cm: 100.0 * f64::from(self.certificate.travel_bound_m[vertex]),
            }),
        }
    }

    /// The farthest found for a vertex, where that is more than is stated.
    fn reached(&self, v: usize, responses: &Responses, settled: &[f64]) -> Option<(usize, f64)> {
        let (d, columns) = (self.cloth_dims, responses.columns);
        let basis = &self.cloth_basis[3 * v * d..3 * (v + 1) * d];
        let mut sums = [0.0f64; DIRECTIONS.len()];
        let mut pushed = vec![0.0f32; 3 * columns];
        for stretch in &responses.stretches {
            pushed.fill(0.0);
            for (axis, row) in pushed.chunks_exact_mut(columns).enumerate() {
                for (b, from) in basis[axis * d..].iter().zip(stretch.chunks_exact(columns)) {
                    row.iter_mut().zip(from).for_each(|(to, from)| *to += b * from);
                }
            }
            let (x, rest) = pushed.split_at(columns);
            let (y, z) = rest.split_at(columns);
            for (sum, n) in sums.iter_mut().zip(DIRECTIONS) {
                let along = |u: usize| n[0] * x[u] + n[1] * y[u] + n[2] * z[u];
                let single = responses.horizontal.unwrap_or(columns);
                let mut all: f32 = (0..single).map(|u| along(u).abs()).sum();
                if let Some(u) = responses.horizontal {
                    all += along(u).hypot(along(u + 1)) + along(u + 2).abs();
                }
                *sum += f64::from(all);
            }
        }
        let held = |axis: usize| -> f64 {
            basis[axis * d..].iter().zip(settled).map(|(b, y)| f64::from(*b) * y).sum()
        };
        let held = [held(0), held(1), held(2)];
        let reach = sums
            .iter()
            .zip(DIRECTIONS)
            .map(|(sum, n)| sum + (0..3).map(|a| f64::from(n[a]) * held[a]).sum::<f64>().abs());
        let most = reach.fold(0.0, f64::max);
        let stated = f64::from(self.certificate.travel_bound_m[v]);
        (!(most <= stated * 1.001 + 1e-5)).then_some((v, most))
    }

    /// The response of the memory, `F_l g`, lag after lag: `R_l = Σ Bᵢ R_{l−i} + g_l`.
    fn responses_by_lag(&self) -> Responses {
        let (d, m, order) = (self.cloth_dims, self.body_dims, self.order);
        let with_root = self.kind == ModelKind::C && order > 0;
        let columns = m + if with_root { 3 } else { 0 };
        let InputEnds { half, horizontal, vertical } = self.ends();
        // A move acts through all windows that it is in: with an age of j frames through C₁ … C_{j+1}.
        let given = |lag: usize| {
            let mut g = vec![0.0f64; d * columns];
            for r in 0..d {
                if lag == 0 {
                    (0..m).for_each(|k| g[r * columns + k] = f64::from(self.a[r * m + k]) * half[k]);
                }
                if with_root && lag < order {
                    let of =
                        |axis: usize| self.c[..=lag].iter().map(|c| f64::from(c[r * 5 + axis])).sum::<f64>();
                    let row = &mut g[r * columns + m..];
                    (row[0], row[1], row[2]) = (of(0) * horizontal, of(2) * horizontal, of(1) * vertical);
                }
            }
            g
        };
        let mut recent: Vec<Vec<f64>> = Vec::new();
        let mut stretches: Vec<Vec<f32>> = Vec::new();
        let mut stretch = vec![0.0f64; d * columns];
        let lags = if order == 0 { 1 } else { LAGS };
        for lag in 0..lags {
            let mut now = given(lag);
            for (b, before) in self.b.iter().zip(&recent) {
                for (r, to) in now.chunks_exact_mut(columns).enumerate() {
                    for (b, from) in b[r * d..(r + 1) * d].iter().zip(before.chunks_exact(columns)) {
                        to.iter_mut().zip(from).for_each(|(to, from)| *to += f64::from(*b) * from);
                    }
                }
            }
            stretch.iter_mut().zip(&now).for_each(|(sum, now)| *sum += now);
            recent.insert(0, now);
            recent.truncate(order.max(1));
            if lag < SINGLE || (lag + 1 - SINGLE).is_multiple_of(HELD) {
                stretches.push(stretch.iter().map(|v| *v as f32).collect());
                stretch.fill(0.0);
            }
        }
        Responses { columns, horizontal: with_root.then_some(m), stretches }
    }

    fn ends(&self) -> InputEnds {
        let inputs = &self.inputs;
        let ends = inputs.body_min.iter().zip(&inputs.body_max);
        InputEnds {
            half: ends.map(|(lo, hi)| 0.5 * (f64::from(*hi) - f64::from(*lo))).collect(),
            horizontal: inputs.max_horizontal_m.into(),
            vertical: inputs.max_vertical_m.into(),
        }
    }
}

/// How far inputs may be from their centre.
struct InputEnds {
    half: Vec<f64>,
    horizontal: f64,
    vertical: f64,
}
