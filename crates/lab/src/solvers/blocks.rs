//! Sparse matrices of 3×3 blocks and the conjugate gradients of Baraff and Witkin 1998 §5.3, which keep constraints by
//! filtering: what is constrained of a direction is taken out of every residual.

use glam::{DMat3, DVec3};

/// A square matrix of 3×3 blocks, row by row.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    first: Vec<usize>,
    column: Vec<u32>,
    value: Vec<DMat3>,
}

/// `a bᵀ`.
pub fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

impl Blocks {
    /// An empty matrix for `n` vertices in which all within a group may have a block with each other.
    pub fn new<'a>(n: usize, groups: impl IntoIterator<Item = &'a [u32]>) -> Self {
        let mut rows: Vec<Vec<u32>> = (0..n as u32).map(|i| vec![i]).collect();
        for group in groups {
            for &i in group {
                rows[i as usize].extend_from_slice(group);
            }
        }
        let mut first = vec![0];
        let mut column = Vec::new();
        for row in &mut rows {
            row.sort_unstable();
            row.dedup();
            column.extend_from_slice(row);
            first.push(column.len());
        }
        let value = vec![DMat3::ZERO; column.len()];
        Self { first, column, value }
    }

    /// Forgets the values.
    pub fn clear(&mut self) {
        self.value.fill(DMat3::ZERO);
    }

    /// How many rows of blocks there are.
    pub fn rows(&self) -> usize {
        self.first.len() - 1
    }

    /// Adds to the block at `i`, `j`, which must be one of the pattern.
    #[inline]
    pub fn add(&mut self, i: usize, j: usize, m: DMat3) {
        let row = self.first[i]..self.first[i + 1];
        if let Ok(k) = self.column[row.clone()].binary_search(&(j as u32)) {
            self.value[row.start + k] += m;
        }
    }

    /// The block at `i`, `j`.
    pub fn get(&self, i: usize, j: usize) -> DMat3 {
        let row = self.first[i]..self.first[i + 1];
        let found = self.column[row.clone()].binary_search(&(j as u32));
        found.map_or(DMat3::ZERO, |k| self.value[row.start + k])
    }

    /// Adds a multiple of a matrix of the same pattern.
    pub fn add_scaled(&mut self, other: &Self, scale: f64) {
        self.value.iter_mut().zip(&other.value).for_each(|(a, b)| *a += *b * scale);
    }

    /// `out = A v`.
    pub fn times(&self, v: &[DVec3], out: &mut [DVec3]) {
        for (i, o) in out.iter_mut().enumerate() {
            let row = self.first[i]..self.first[i + 1];
            let blocks = self.value[row.clone()].iter().zip(&self.column[row]);
            *o = blocks.map(|(m, j)| *m * v[*j as usize]).sum();
        }
    }
}

/// What is prescribed of each vertex: directions that are free, and the change along the others (their S and z).
#[derive(Clone, Debug)]
pub struct Filter {
    /// `I`, `I − ppᵀ`, `I − ppᵀ − qqᵀ` or 0.
    pub free: Vec<DMat3>,
    /// Prescribed change; lies outside of what is free.
    pub change: Vec<DVec3>,
}

impl Filter {
    /// Nothing is constrained.
    pub fn free(n: usize) -> Self {
        Self { free: vec![DMat3::IDENTITY; n], change: vec![DVec3::ZERO; n] }
    }

    /// Vertex `i` changes by `change` and by nothing else.
    pub fn hold(&mut self, i: usize, change: DVec3) {
        self.free[i] = DMat3::ZERO;
        self.change[i] = change;
    }

    /// The change of vertex `i` along `normal` is `along`, besides what is prescribed already.
    pub fn slide(&mut self, i: usize, normal: DVec3, along: f64) {
        let open = self.free[i] * normal;
        let size = open.length_squared();
        // Nearly contained in what is prescribed already.
        if size < 1e-4 {
            return;
        }
        let p = open / size.sqrt();
        let left = along - normal.dot(self.change[i]);
        self.change[i] += open * (left / size);
        self.free[i] -= outer(p, p);
    }

    fn apply(&self, v: &mut [DVec3]) {
        v.iter_mut().zip(&self.free).for_each(|(v, s)| *v = *s * *v);
    }
}

/// Sum of products.
pub fn dot(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum()
}

/// Solves `A x = b` among the `x` that the filter allows, from what it prescribes; returns the iterations. The residual
/// is measured against the filtered right side with the diagonal as the norm, as printed.
pub fn modified_pcg(
    a: &Blocks,
    b: &[DVec3],
    filter: &Filter,
    tolerance: f64,
    most: u32,
    x: &mut [DVec3],
) -> u32 {
    let n = a.rows();
    let inverse: Vec<DVec3> = (0..n).map(|i| diagonal(a.get(i, i)).recip()).collect();
    x.copy_from_slice(&filter.change);
    let mut r = vec![DVec3::ZERO; n];
    a.times(x, &mut r);
    r.iter_mut().zip(b).for_each(|(r, b)| *r = *b - *r);
    filter.apply(&mut r);
    let mut fb = b.to_vec();
    filter.apply(&mut fb);
    let scaled = |v: &[DVec3]| v.iter().zip(&inverse).map(|(v, p)| v.dot(*v * *p)).sum::<f64>();
    let stop = tolerance * tolerance * scaled(&fb).max(scaled(&r));
    let mut c: Vec<DVec3> = r.iter().zip(&inverse).map(|(r, p)| *r * *p).collect();
    filter.apply(&mut c);
    let mut s = c.clone();
    let mut q = vec![DVec3::ZERO; n];
    let mut delta = dot(&r, &c);
    for k in 0..most {
        if !(delta > stop) || delta <= 0.0 {
            return k;
        }
        a.times(&c, &mut q);
        filter.apply(&mut q);
        let curvature = dot(&c, &q);
        if !(curvature > 0.0) {
            return k;
        }
        let alpha = delta / curvature;
        for i in 0..n {
            x[i] += c[i] * alpha;
            r[i] -= q[i] * alpha;
            s[i] = r[i] * inverse[i];
        }
        let before = delta;
        delta = dot(&r, &s);
        let beta = delta / before;
        c.iter_mut().zip(&s).for_each(|(c, s)| *c = *s + *c * beta);
        filter.apply(&mut c);
    }
    most
}

fn diagonal(m: DMat3) -> DVec3 {
    let d = DVec3::new(m.x_axis.x, m.y_axis.y, m.z_axis.z);
    d.max(DVec3::splat(1e-300))
}

/// Solves a small dense system by elimination with row pivots; `a` is row by row and is used up.
pub fn dense(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let p = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap_or(k);
        a.swap(k, p);
        b.swap(k, p);
        for i in k + 1..n {
            let f = a[i][k] / a[k][k];
            if f == 0.0 {
                continue;
            }
            let (top, rest) = a.split_at_mut(i);
            rest[0][k..].iter_mut().zip(&top[k][k..]).for_each(|(x, y)| *x -= f * y);
            b[i] -= f * b[k];
        }
    }
    for k in (0..n).rev() {
        let sum: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - sum) / a[k][k];
    }
    b
}

/// All of a block matrix, row by row.
pub fn to_dense(a: &Blocks) -> Vec<Vec<f64>> {
    let n = a.rows();
    let entry = |i: usize, j: usize| a.get(i / 3, j / 3).row(i % 3)[j % 3];
    (0..3 * n).map(|i| (0..3 * n).map(|j| entry(i, j)).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_geometry::Random;

    /// A random matrix that is symmetric and positive.
    fn random(n: usize, random: &mut Random) -> Blocks {
        let groups: Vec<[u32; 3]> = (0..n as u32 - 2).map(|i| [i, i + 1, i + 2]).collect();
        let mut a = Blocks::new(n, groups.iter().map(|g| &g[..]));
        for g in &groups {
            let w = g.map(|_| random.vector());
            for i in 0..3 {
                for j in 0..3 {
                    a.add(g[i] as usize, g[j] as usize, outer(w[i], w[j]));
                }
            }
        }
        (0..n).for_each(|i| a.add(i, i, DMat3::IDENTITY * 0.3));
        a
    }

    #[test]
    fn filtered_gradients_solve_the_reduced_system_and_keep_what_is_prescribed() {
        let mut r = Random::new(5);
        let n = 12;
        let a = random(n, &mut r);
        let b: Vec<DVec3> = (0..n).map(|_| r.vector()).collect();
        let mut filter = Filter::free(n);
        filter.hold(0, r.vector());
        let normal = r.vector().normalize();
        filter.slide(4, normal, 0.7);
        let (p, q) = (r.vector().normalize(), r.vector().normalize());
        filter.slide(7, p, 0.2);
        filter.slide(7, q, -0.3);
        let mut x = vec![DVec3::ZERO; n];
        modified_pcg(&a, &b, &filter, 1e-14, 500, &mut x);
        assert!((x[0] - filter.change[0]).length() < 1e-12);
        assert!((x[4].dot(normal) - 0.7).abs() < 1e-12);
        assert!((x[7].dot(p) - 0.2).abs() < 1e-12 && (x[7].dot(q) + 0.3).abs() < 1e-12);
        // The same by multipliers, in full.
        let rows = [(0, DVec3::X, x[0].x), (0, DVec3::Y, x[0].y), (0, DVec3::Z, x[0].z)];
        let rows: Vec<_> = rows.into_iter().chain([(4, normal, 0.7), (7, p, 0.2), (7, q, -0.3)]).collect();
        let size = 3 * n + rows.len();
        let mut full = to_dense(&a);
        full.iter_mut().for_each(|row| row.resize(size, 0.0));
        let mut right: Vec<f64> = b.iter().flat_map(|b| b.to_array()).collect();
        for (k, (v, d, value)) in rows.iter().enumerate() {
            let mut row = vec![0.0; size];
            for c in 0..3 {
                row[3 * v + c] = d[c];
                full[3 * v + c][3 * n + k] = d[c];
            }
            full.push(row);
            right.push(*value);
        }
        let exact = dense(full, right);
        for i in 0..n {
            for c in 0..3 {
                assert!(
                    (exact[3 * i + c] - x[i][c]).abs() < 1e-8,
                    "{i} {c}: {} {}",
                    exact[3 * i + c],
                    x[i][c]
                );
            }
        }
    }
}
