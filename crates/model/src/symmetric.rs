//! Eigenvalues of small symmetric matrices.

/// Sweeps of Jacobi rotations: each squares what is left beside the diagonal, and eight leave nothing.
const SWEEPS: usize = 12;

/// Eigenvalues of a symmetric 3 × 3 matrix and its axes, one a row, in no particular order.
pub fn symmetric_eigen(mut g: [[f64; 3]; 3]) -> ([f64; 3], [[f64; 3]; 3]) {
    let mut axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for _ in 0..SWEEPS {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if g[p][q] == 0.0 {
                continue;
            }
            let theta = (g[q][q] - g[p][p]) / (2.0 * g[p][q]);
            let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
            let c = 1.0 / (t * t + 1.0).sqrt();
            let turn = |x: f64, y: f64| (c * x - t * c * y, t * c * x + c * y);
            for row in &mut g {
                (row[p], row[q]) = turn(row[p], row[q]);
            }
            for k in 0..3 {
                (g[p][k], g[q][k]) = turn(g[p][k], g[q][k]);
                (axes[p][k], axes[q][k]) = turn(axes[p][k], axes[q][k]);
            }
        }
    }
    ([g[0][0], g[1][1], g[2][2]], axes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_axes_make_up_the_matrix_again() {
        let g = [[4.0, -1.5, 0.25], [-1.5, 2.0, 3.0], [0.25, 3.0, -1.0]];
        let (values, axes) = symmetric_eigen(g);
        for r in 0..3 {
            for c in 0..3 {
                let made: f64 = (0..3).map(|k| values[k] * axes[k][r] * axes[k][c]).sum();
                assert!((made - g[r][c]).abs() < 1e-12, "({r}, {c}): {made}");
                let unit: f64 = (0..3).map(|k| axes[r][k] * axes[c][k]).sum();
                assert!((unit - f64::from(u8::from(r == c))).abs() < 1e-12);
            }
        }
    }
}
