//! A sparse Cholesky factor in 3×3 blocks, used as a preconditioner.
//!
//! Its pattern is the mesh: mass, air, stretch and contacts with bodies couple only neighbours, so the pattern never
//! changes and is analysed once. What it leaves out (bending beyond the diagonal, cloth against cloth) conjugate
//! gradients put right in a few iterations. Information crosses the whole garment in one solve, where a diagonal
//! preconditioner passes it on from neighbour to neighbour.

use glam::{Mat3A, Vec3A};

/// The factor `L` with `A ≈ L Lᵀ`, vertices in elimination order.
#[derive(Clone, Debug, Default)]
pub struct Cholesky {
    /// Vertex at each place, and the place of each vertex.
    order: Vec<u32>,
    place: Vec<u32>,
    /// Blocks below the diagonal, column by column: where each column starts, and the rows.
    starts: Vec<u32>,
    rows: Vec<u32>,
    blocks: Vec<Mat3A>,
    /// Inverse of each diagonal block.
    inverse: Vec<Mat3A>,
    /// For each row the blocks left of its diagonal, as `(column, index)`.
    left_starts: Vec<u32>,
    left: Vec<(u32, u32)>,
    /// Where each off-diagonal block of the matrix goes.
    slots: Vec<u32>,
    work: Vec<Mat3A>,
    solved: Vec<Vec3A>,
}

impl Cholesky {
    /// Analyses the graph of `n` vertices and its edges.
    pub fn new(n: usize, edges: &[[u32; 2]]) -> Self {
        let (order, columns) = eliminate(n, edges);
        let mut place = vec![0u32; n];
        for (p, &v) in order.iter().enumerate() {
            place[v as usize] = p as u32;
        }
        let mut c = Self { starts: vec![0], order, place, ..Self::default() };
        let mut left: Vec<Vec<(u32, u32)>> = vec![Vec::new(); n];
        for (j, column) in columns.iter().enumerate() {
            let mut rows: Vec<u32> = column.iter().map(|&v| c.place[v as usize]).collect();
            rows.sort_unstable();
            for row in rows {
                left[row as usize].push((j as u32, c.rows.len() as u32));
                c.rows.push(row);
            }
            c.starts.push(c.rows.len() as u32);
        }
        c.left_starts.push(0);
        for row in left {
            c.left.extend(row);
            c.left_starts.push(c.left.len() as u32);
        }
        c.slots = edges
            .iter()
            .map(|e| {
                let [a, b] = e.map(|v| c.place[v as usize]);
                let (column, row) = (a.min(b) as usize, a.max(b));
                let range = c.starts[column] as usize..c.starts[column + 1] as usize;
                let at = c.rows[range.clone()].binary_search(&row).unwrap_or(0);
                (range.start + at) as u32
            })
            .collect();
        c.blocks = vec![Mat3A::ZERO; c.rows.len()];
        c.inverse = vec![Mat3A::ZERO; n];
        c.work = vec![Mat3A::ZERO; n];
        c.solved = vec![Vec3A::ZERO; n];
        c
    }

    /// Factors the matrix with these diagonal blocks and, for each edge a→b, block (a, b). Vertices that are `held`
    /// drop out. A block that is not positive is made so.
    pub fn factor(&mut self, diagonal: &[Mat3A], edges: &[[u32; 2]], off: &[Mat3A], held: &[bool]) {
        self.blocks.fill(Mat3A::ZERO);
        for ((e, m), slot) in edges.iter().zip(off).zip(&self.slots) {
            let [a, b] = e.map(|v| v as usize);
            if !held[a] && !held[b] {
                // Column a below row b holds (b, a) = (a, b)ᵀ.
                let below = self.place[a] < self.place[b];
                self.blocks[*slot as usize] = if below { m.transpose() } else { *m };
            }
        }
        for j in 0..self.order.len() {
            let v = self.order[j] as usize;
            let mut d = if held[v] { Mat3A::IDENTITY } else { diagonal[v] };
            let own = self.starts[j] as usize..self.starts[j + 1] as usize;
            for k in own.clone() {
                self.work[self.rows[k] as usize] = self.blocks[k];
            }
            for l in self.left_starts[j] as usize..self.left_starts[j + 1] as usize {
                let (column, at) = self.left[l];
                let turned = self.blocks[at as usize].transpose();
                d -= times(&self.blocks[at as usize], &turned);
                let rest = at as usize + 1..self.starts[column as usize + 1] as usize;
                for (row, block) in self.rows[rest.clone()].iter().zip(&self.blocks[rest]) {
                    self.work[*row as usize] -= times(block, &turned);
                }
            }
            let inverse = inverse_lower(d, diagonal[v]);
            self.inverse[j] = inverse;
            let turned = inverse.transpose();
            for k in own {
                self.blocks[k] = times(&self.work[self.rows[k] as usize], &turned);
            }
        }
    }

    /// `z = (L Lᵀ)⁻¹ r`.
    pub fn solve(&mut self, r: &[Vec3A], z: &mut [Vec3A]) {
        let y = &mut self.solved;
        for (y, &v) in y.iter_mut().zip(&self.order) {
            *y = r[v as usize];
        }
        for j in 0..y.len() {
            let own = self.starts[j] as usize..self.starts[j + 1] as usize;
            let x = self.inverse[j] * y[j];
            y[j] = x;
            for (row, block) in self.rows[own.clone()].iter().zip(&self.blocks[own]) {
                y[*row as usize] -= *block * x;
            }
        }
        for j in (0..y.len()).rev() {
            let own = self.starts[j] as usize..self.starts[j + 1] as usize;
            let mut x = Mat3A::from_cols(Vec3A::ZERO, Vec3A::ZERO, Vec3A::ZERO);
            for (row, block) in self.rows[own.clone()].iter().zip(&self.blocks[own]) {
                let p = y[*row as usize];
                x.x_axis += block.x_axis * p;
                x.y_axis += block.y_axis * p;
                x.z_axis += block.z_axis * p;
            }
            let t = x.transpose();
            y[j] = self.inverse[j].transpose() * (y[j] - (t.x_axis + t.y_axis + t.z_axis));
        }
        for (y, &v) in y.iter().zip(&self.order) {
            z[v as usize] = *y;
        }
    }
}

/// Product of two blocks.
#[inline(always)]
fn times(a: &Mat3A, b: &Mat3A) -> Mat3A {
    let column = |c: Vec3A| {
        let (x, y, z) = (Vec3A::splat(c.x), Vec3A::splat(c.y), Vec3A::splat(c.z));
        a.x_axis * x + a.y_axis * y + a.z_axis * z
    };
    Mat3A::from_cols(column(b.x_axis), column(b.y_axis), column(b.z_axis))
}

/// Inverse of the lower Cholesky factor of `d`; pivots are kept above a thousandth of what they were in `before`.
fn inverse_lower(d: Mat3A, before: Mat3A) -> Mat3A {
    let pivot = |p: f32, was: f32| p.max(1e-3 * was).max(f32::MIN_POSITIVE).sqrt();
    let l00 = pivot(d.x_axis.x, before.x_axis.x);
    let l10 = d.x_axis.y / l00;
    let l20 = d.x_axis.z / l00;
    let l11 = pivot(d.y_axis.y - l10 * l10, before.y_axis.y);
    let l21 = (d.y_axis.z - l20 * l10) / l11;
    let l22 = pivot(d.z_axis.z - l20 * l20 - l21 * l21, before.z_axis.z);
    let (i0, i1, i2) = (1.0 / l00, 1.0 / l11, 1.0 / l22);
    let m10 = -l10 * i0 * i1;
    let m21 = -l21 * i1 * i2;
    let m20 = -(l20 * i0 + l21 * m10) * i2;
    Mat3A::from_cols(Vec3A::new(i0, m10, m20), Vec3A::new(0.0, i1, m21), Vec3A::new(0.0, 0.0, i2))
}

/// Minimum-degree order: always the vertex with the fewest neighbours, which then become neighbours of each other.
/// Returns the order and the neighbours each vertex had when it went.
fn eliminate(n: usize, edges: &[[u32; 2]]) -> (Vec<u32>, Vec<Vec<u32>>) {
    let mut beside: Vec<Vec<u32>> = vec![Vec::new(); n];
    for &[a, b] in edges {
        beside[a as usize].push(b);
        beside[b as usize].push(a);
    }
    for list in &mut beside {
        list.sort_unstable();
        list.dedup();
    }
    let mut queue: std::collections::BTreeSet<(usize, u32)> =
        beside.iter().enumerate().map(|(v, list)| (list.len(), v as u32)).collect();
    let mut order = Vec::with_capacity(n);
    let mut columns = Vec::with_capacity(n);
    while let Some((_, v)) = queue.pop_first() {
        let own = std::mem::take(&mut beside[v as usize]);
        for &u in &own {
            let list = &mut beside[u as usize];
            queue.remove(&(list.len(), u));
            let mut merged = Vec::with_capacity(list.len() + own.len());
            merged.extend(list.iter().chain(&own).filter(|&&w| w != u && w != v));
            merged.sort_unstable();
            merged.dedup();
            queue.insert((merged.len(), u));
            *list = merged;
        }
        order.push(v);
        columns.push(own);
    }
    (order, columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::random::Random;
    use crate::solve::system::outer;

    #[test]
    fn it_solves_what_it_factored() {
        let mut r = Random::new(21);
        let side = 9usize;
        let n = side * side;
        let mut edges = Vec::new();
        for i in 0..side {
            for j in 0..side {
                let v = (i * side + j) as u32;
                if j + 1 < side {
                    edges.push([v, v + 1]);
                }
                if i + 1 < side {
                    edges.push([v + side as u32, v]);
                }
            }
        }
        let block = |r: &mut Random| {
            let a = r.vector().as_vec3a();
            outer(a, a)
        };
        // Each edge is a spring with a random stiff direction, each vertex has a mass.
        let mut diagonal = vec![Mat3A::from_diagonal(glam::Vec3::splat(0.3)); n];
        let off: Vec<Mat3A> = edges
            .iter()
            .map(|e| {
                let m = block(&mut r) * 10.0;
                diagonal[e[0] as usize] += m;
                diagonal[e[1] as usize] += m;
                m * -1.0
            })
            .collect();
        let mut held = vec![false; n];
        held[4] = true;
        let mut c = Cholesky::new(n, &edges);
        c.factor(&diagonal, &edges, &off, &held);
        let mut rhs: Vec<Vec3A> = (0..n).map(|_| r.vector().as_vec3a()).collect();
        rhs[4] = Vec3A::ZERO;
        let mut x = vec![Vec3A::ZERO; n];
        c.solve(&rhs, &mut x);
        let mut back: Vec<Vec3A> = (0..n).map(|v| diagonal[v] * x[v]).collect();
        for (e, m) in edges.iter().zip(&off) {
            let [a, b] = e.map(|v| v as usize);
            back[a] += *m * x[b];
            back[b] += m.transpose() * x[a];
        }
        for v in (0..n).filter(|v| !held[*v]) {
            assert!((back[v] - rhs[v]).length() < 1e-3, "{v}: {} {}", back[v], rhs[v]);
        }
        assert_eq!(x[4], Vec3A::ZERO);
    }
}
