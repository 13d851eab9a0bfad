//! What the published forms certainly reach: a bound below it cannot be true.
//!
//! A body held at a corner of the certified box while the root goes straight on at its greatest speed is an input like any
//! other, and the matrices settle at `(I − ΣB)⁻¹(A x + C z + bias)`. No file states a bound that this exceeds, so a
//! number that was changed in any of its matrices does not load.

use crate::{CertificateError, Model, ModelKind};

impl Model {
    /// Compares the stated travel of every vertex with what held inputs reach; the error names vertex and numbers.
    pub(crate) fn verify_attained(&self) -> Result<(), CertificateError> {
        let malformed = |what: String| Err(CertificateError::Malformed(what));
        let (d, m, n) = (self.cloth_dims, self.body_dims, self.vertices);
        let sized = self.a.len() == d * m
            && self.bias.len() == d
            && self.a0.len() == d * m
            && self.bias0.len() == d
            && self.cloth_basis.len() == 3 * n * d
            && self.inputs.body_min.len() == m
            && self.inputs.body_max.len() == m;
        if !sized {
            return malformed("the matrices do not have the sizes that the model states".into());
        }
        if let Some(v) = self.cloth_mean.iter().position(|p| !(p.abs().max_element() <= 100.0)) {
            return malformed(format!("vertex {v} of the mean garment is at {}", self.cloth_mean[v]));
        }
        let Some(settled) = self.settled() else {
            return malformed("the history matrices have no steady state".into());
        };
        let started = self.responses(&self.a0, &self.bias0, &[]);
        for (input, responses) in [("held inputs bring", &settled), ("the first frame brings", &started)] {
            self.compare(input, responses)?;
        }
        Ok(())
    }

    /// Columns of the response of `d` coefficients: the box's centre with the bias, then each half width, then moves.
    fn responses(&self, a: &[f32], bias: &[f32], moves: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let (d, m) = (self.cloth_dims, self.body_dims);
        let ends = |j: usize| (f64::from(self.inputs.body_min[j]), f64::from(self.inputs.body_max[j]));
        let centre = |r: usize| {
            let held = (0..m).map(|j| f64::from(a[r * m + j]) * 0.5 * (ends(j).0 + ends(j).1));
            f64::from(bias[r]) + held.sum::<f64>()
        };
        let mut columns = vec![(0..d).map(centre).collect::<Vec<f64>>()];
        for j in 0..m {
            let half = 0.5 * (ends(j).1 - ends(j).0);
            columns.push((0..d).map(|r| f64::from(a[r * m + j]) * half).collect());
        }
        columns.extend(moves.iter().cloned());
        columns
    }

    /// The same after the memory has settled.
    fn settled(&self) -> Option<Vec<Vec<f64>>> {
        let (d, order) = (self.cloth_dims, self.order);
        let mut moves = Vec::new();
        if self.kind == ModelKind::C {
            // Straight on along each axis: every displacement is relative to the oldest frame.
            let limits =
                [self.inputs.max_horizontal_m, self.inputs.max_vertical_m, self.inputs.max_horizontal_m];
            for (axis, limit) in limits.into_iter().enumerate() {
                let of = |r: usize| {
                    let each = self
                        .c
                        .iter()
                        .enumerate()
                        .map(|(i, c)| f64::from(c[r * 5 + axis]) * (order - i) as f64);
                    each.sum::<f64>() * f64::from(limit)
                };
                moves.push((0..d).map(of).collect());
            }
            // Only one horizontal direction at a time.
            moves.truncate(2);
        }
        let mut columns = self.responses(&self.a, &self.bias, &moves);
        let mut matrix = vec![0.0f64; d * d];
        for r in 0..d {
            for c in 0..d {
                let history: f64 = self.b.iter().map(|b| f64::from(b[r * d + c])).sum();
                matrix[r * d + c] = f64::from(u8::from(r == c)) - history;
            }
        }
        solve(&mut matrix, &mut columns, d).then_some(columns)
    }

    fn compare(&self, input: &'static str, responses: &[Vec<f64>]) -> Result<(), CertificateError> {
        let d = self.cloth_dims;
        for (v, stated) in self.certificate.travel_bound_m.iter().enumerate() {
            for axis in 0..3 {
                let row = &self.cloth_basis[(3 * v + axis) * d..(3 * v + axis + 1) * d];
                let reach: f64 = responses
                    .iter()
                    .map(|y| row.iter().zip(y).map(|(b, y)| f64::from(*b) * y).sum::<f64>().abs())
                    .sum();
                if !(reach <= f64::from(*stated) * 1.001 + 1e-6) {
                    return Err(CertificateError::Exceeded {
                        input,
                        vertex: v,
                        reach_cm: 100.0 * reach,
                        from: "mean",
                        stated_cm: 100.0 * f64::from(*stated),
                    });
                }
            }
        }
        Ok(())
    }
}

/// Gaussian elimination with pivots; the columns become solutions. `false` where the matrix is singular.
fn solve(a: &mut [f64], columns: &mut [Vec<f64>], n: usize) -> bool {
    for k in 0..n {
        let pivot = (k..n).max_by(|i, j| a[i * n + k].abs().total_cmp(&a[j * n + k].abs())).unwrap_or(k);
        if !(a[pivot * n + k].abs() > 1e-12) {
            return false;
        }
        if pivot != k {
            (0..n).for_each(|c| a.swap(k * n + c, pivot * n + c));
            columns.iter_mut().for_each(|b| b.swap(k, pivot));
        }
        for i in k + 1..n {
            let factor = a[i * n + k] / a[k * n + k];
            if factor != 0.0 {
                (k..n).for_each(|c| a[i * n + c] -= factor * a[k * n + c]);
                columns.iter_mut().for_each(|b| b[i] -= factor * b[k]);
            }
        }
    }
    for b in columns {
        for k in (0..n).rev() {
            let known: f64 = (k + 1..n).map(|c| a[k * n + c] * b[c]).sum();
            b[k] = (b[k] - known) / a[k * n + k];
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elimination_solves() {
        let mut a = vec![0.0, 2.0, 1.0, 1.0, 0.0, 3.0, 4.0, -1.0, 2.0];
        let b = vec![vec![2.0 * 2.0 + 3.0, 1.0 + 9.0, 4.0 - 2.0 + 6.0]];
        let mut x = b.clone();
        assert!(solve(&mut a, &mut x, 3));
        assert!(x[0].iter().zip([1.0, 2.0, 3.0]).all(|(x, want)| (x - want).abs() < 1e-12), "{x:?}");
    }
}
