//! The Newton matrix, kept as its factors.
//!
//! Mass, air, stretch and contacts with bodies live in 3×3 blocks: one per vertex, one per edge. Strong bending is
//! `∇θ K ∇θᵀ` and contacts of cloth with cloth are `wᵢ wⱼ M`: both are multiplied, never assembled, so contacts that come
//! and go cost nothing symbolic. All of it is f32: the matrix only chooses the direction of a step whose gradient is f64,
//! and four lanes of f32 are twice as fast. An error of 1e-7 in the direction is corrected by the next Newton iteration.
//!
//! [`System::prepare`] scales it, `D = G Gᵀ` being the diagonal blocks, to `G⁻¹ A G⁻ᵀ = L + I + Lᵀ + R`: `L` are the blocks
//! of the edges, below the diagonal in the order of the rows, and `R` is what is multiplied, less its own diagonal. Where
//! bending is strong, nothing is taken apart and only the diagonal blocks precondition: smooth shapes cost a millionth of what
//! the diagonal says, which f32 can tell from angles but not from a difference (a heavy cantilever took twice as long).

use super::pcg::RUN;
use crate::contact::constraint::{Contact, NO_SAMPLE};
use crate::energy::bending::{Hinge, Operator, Turn};
use crate::scene::Scene;
use crate::step::WorkingSet;
use glam::{DMat3, DVec3, Mat3A, Vec3A};

#[cfg(test)]
mod tests;

/// A contact that pushes: vertices, weights and the second derivative by its point.
#[derive(Clone, Copy, Debug)]
struct Push {
    v: [u32; 4],
    w: [f32; 4],
    m: Mat3A,
}

/// Blocks and factors.
#[derive(Clone, Debug, Default)]
pub struct System {
    /// Diagonal blocks by vertex while they are summed up; from [`System::prepare`] on `G⁻¹`, zero for pinned vertices.
    pub diagonal: Vec<Mat3A>,
    /// ∇θ per hinge.
    pub turns: Vec<Turn>,
    /// `1 + τ/h`: strain-rate damping scales the bending Hessian.
    pub bending_scale: f32,
    /// Sum of `m/β²` over vertices and axes.
    pub inertia: f32,
    /// Whether bending is strong enough to be multiplied as it is; else it is put into the blocks of the edges.
    bends: bool,
    /// Per hinge the blocks from the vertices across to its ends.
    legs: Vec<[u32; 4]>,
    /// Cloth against cloth.
    pushes: Vec<Push>,
    /// The vertex of each row, and the row of each vertex.
    pub(super) order: Vec<u32>,
    row: Vec<u32>,
    /// The rows that are worked on, ascending; in all others every vector is zero.
    pub(super) rows: Vec<u32>,
    /// Blocks below the diagonal row by row, and their columns.
    starts: Vec<u32>,
    columns: Vec<u32>,
    blocks: Vec<Mat3A>,
    /// The block of each edge, twice; one more where the block is that of the edge turned round.
    slots: Vec<u32>,
    hinge_diagonal: Vec<f32>,
    scratch: Scratch,
}

/// What only strong bending needs.
#[derive(Clone, Debug, Default)]
struct Scratch {
    /// Diagonal blocks without bending.
    plain: Vec<Mat3A>,
    moved: Vec<Vec3A>,
    forces: Vec<Vec3A>,
    hinge_in: Vec<f32>,
    hinge_out: Vec<f32>,
}

impl System {
    /// Room for a scene.
    pub fn new(scene: &Scene) -> Self {
        let n = scene.len();
        let order = sweep_order(n, &scene.edges);
        let mut row = vec![0u32; n];
        for (i, &v) in order.iter().enumerate() {
            row[v as usize] = i as u32;
        }
        let mut below: Vec<Vec<(u32, u32)>> = vec![Vec::new(); n];
        for (e, edge) in scene.edges.iter().enumerate() {
            let [a, b] = edge.map(|v| row[v as usize]);
            below[a.max(b) as usize].push((a.min(b), e as u32));
        }
        let mut system = Self {
            diagonal: vec![Mat3A::ZERO; n],
            turns: vec![Turn::default(); scene.hinges.len()],
            bending_scale: 1.0,
            starts: vec![0],
            blocks: vec![Mat3A::ZERO; scene.edges.len()],
            slots: vec![0; scene.edges.len()],
            hinge_diagonal: scene.bending.diagonal(),
            rows: (0..n as u32).collect(),
            order,
            row,
            ..Self::default()
        };
        for mut list in below {
            list.sort_unstable();
            for (column, e) in list {
                // An edge a→b stands for row a.
                let turned = system.row[scene.edges[e as usize][0] as usize] == column;
                system.slots[e as usize] = 2 * system.columns.len() as u32 + u32::from(turned);
                system.columns.push(column);
            }
            system.starts.push(system.columns.len() as u32);
        }
        let legs = |h: &Hinge| {
            let [a, b, c, d] = h.v;
            [(c, a), (c, b), (d, a), (d, b)].map(|(p, q)| system.find(p, q).map_or(u32::MAX, |s| s as u32))
        };
        system.legs = scene.hinges.iter().map(legs).collect();
        system
    }

    /// The block between two vertices.
    fn find(&self, a: u32, b: u32) -> Option<usize> {
        let (a, b) = (self.row[a as usize], self.row[b as usize]);
        let range = self.starts[a.max(b) as usize] as usize..self.starts[a.max(b) as usize + 1] as usize;
        let at = self.columns[range.clone()].binary_search(&a.min(b)).ok()?;
        Some(range.start + at)
    }

    /// The vertex of each row.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Forgets contacts, and the edges of a set, which is to be worked on.
    pub fn clear(&mut self, set: &WorkingSet) {
        self.rows.clone_from(&set.rows);
        self.pushes.clear();
        if set.whole {
            self.blocks.fill(Mat3A::ZERO);
            return;
        }
        for &i in &self.rows {
            let range = self.starts[i as usize] as usize..self.starts[i as usize + 1] as usize;
            self.blocks[range].fill(Mat3A::ZERO);
        }
    }

    /// Adds block (a, b) of an edge a→b, or (b, a) if reversed.
    #[inline]
    pub fn add_edge(&mut self, edge: u32, reversed: bool, block: &Mat3A) {
        let slot = self.slots[edge as usize];
        let turned = (slot & 1 == 1) != reversed;
        self.blocks[slot as usize / 2] += if turned { block.transpose() } else { *block };
    }

    /// Adds a contact that pushes, with its second derivative. One with a body couples only vertices that the mesh couples
    /// too.
    pub fn add_contact(&mut self, c: &Contact, m: &DMat3, set: &WorkingSet) {
        let weight = |k: usize| if set.has[c.v[k] as usize] { c.w[k] as f32 } else { 0.0 };
        let push = Push { v: c.v, w: [0, 1, 2, 3].map(weight), m: m.as_mat3().into() };
        for (&v, w) in push.v.iter().zip(push.w) {
            if w != 0.0 {
                self.diagonal[v as usize] += push.m * (w * w);
            }
        }
        if c.sample == NO_SAMPLE {
            self.pushes.push(push);
            return;
        }
        for i in 0..3 {
            for j in i + 1..4 {
                let w = push.w[i] * push.w[j];
                if w != 0.0
                    && let Some(slot) = self.find(push.v[i], push.v[j])
                {
                    // The block is symmetric: the direction of the edge does not matter.
                    self.blocks[slot] += push.m * w;
                }
            }
        }
    }

    /// Puts weak bending into the blocks that are there: the vertex across moves against the foot of its height, and the square
    /// of a mean is less than the mean of squares, so `(c − (1−s)a − sb)²` becomes `(1−s)(c−a)² + s(c−b)²`. It leaves
    /// garments as free to fly as they are.
    fn spread_bending(&mut self, hinges: &[Hinge], which: &[u32]) {
        for k in which.iter().map(|&k| k as usize) {
            let hinge = &hinges[k];
            let stiffness = self.hinge_diagonal[k] * self.bending_scale;
            for (side, (g, along)) in self.turns[k].across().into_iter().enumerate() {
                let block = outer(g * stiffness, g);
                let along = along.clamp(0.0, 1.0);
                let c = hinge.v[2 + side] as usize;
                self.diagonal[c] += block;
                for (end, share) in [1.0 - along, along].into_iter().enumerate() {
                    let part = block * share;
                    self.diagonal[hinge.v[end] as usize] += part;
                    if let Some(edge) = self.blocks.get_mut(self.legs[k][2 * side + end] as usize) {
                        *edge -= part;
                    }
                }
            }
        }
    }

    /// Scales what was summed up for a set.
    pub fn prepare(&mut self, hinges: &[Hinge], pinned: &[bool], set: &WorkingSet) {
        if set.whole {
            let bent: f32 = (self.turns.iter().zip(&self.hinge_diagonal))
                .map(|(g, k)| k * g.across().iter().map(|(g, _)| g.length_squared()).sum::<f32>())
                .sum();
            self.bends = bent * self.bending_scale > WEAK * self.inertia;
        }
        if self.bends {
            self.scratch.plain.clone_from(&self.diagonal);
            for ((h, g), k) in hinges.iter().zip(&self.turns).zip(&self.hinge_diagonal) {
                for (g, &v) in g.forces(1.0).into_iter().zip(&h.v) {
                    self.diagonal[v as usize] += outer(g * (k * self.bending_scale), g);
                }
            }
        } else {
            self.spread_bending(hinges, &set.hinges);
        }
        for v in set.vertices.iter().map(|&v| v as usize) {
            let d = &mut self.diagonal[v];
            *d = if pinned[v] { Mat3A::ZERO } else { inverse_lower(d) };
        }
        for &v in &set.rim {
            self.diagonal[v as usize] = Mat3A::ZERO;
        }
        if self.bends {
            return;
        }
        for i in self.rows.iter().map(|&i| i as usize) {
            let left = self.diagonal[self.order[i] as usize];
            let range = self.starts[i] as usize..self.starts[i + 1] as usize;
            for (block, &j) in self.blocks[range.clone()].iter_mut().zip(&self.columns[range]) {
                let right = self.diagonal[self.order[j as usize] as usize].transpose();
                *block = times(&left, &times(block, &right));
            }
        }
    }

    /// Whether bending is multiplied as it is: then all of the cloth is worked on.
    pub fn bends(&self) -> bool {
        self.bends
    }

    /// What is solved, entry by entry on and below the diagonal, for other solvers to be measured against: `(row, column,
    /// value)`, where contacts repeat entries. None where bending is multiplied.
    pub fn entries(&self) -> Option<Vec<(usize, usize, f32)>> {
        if self.bends {
            return None;
        }
        let mut entries: Vec<(usize, usize, f32)> = (0..3 * self.order.len()).map(|i| (i, i, 1.0)).collect();
        let mut add = |row: usize, column: usize, m: Mat3A| {
            for (c, values) in m.to_cols_array_2d().into_iter().enumerate() {
                entries.extend((0..3).map(|r| (3 * row + r, 3 * column + c, values[r])));
            }
        };
        for i in self.rows.iter().map(|&i| i as usize) {
            let range = self.starts[i] as usize..self.starts[i + 1] as usize;
            for (m, &j) in self.blocks[range.clone()].iter().zip(&self.columns[range]) {
                add(i, j as usize, *m);
            }
        }
        for c in &self.pushes {
            for (&a, wa) in c.v.iter().zip(c.w) {
                for (&b, wb) in c.v.iter().zip(c.w) {
                    let (i, j) = (self.row[a as usize], self.row[b as usize]);
                    if i > j {
                        let right = self.diagonal[b as usize].transpose();
                        let m = times(&self.diagonal[a as usize], &times(&(c.m * (wa * wb)), &right));
                        add(i as usize, j as usize, m);
                    }
                }
            }
        }
        Some(entries)
    }

    /// The right side that belongs to [`System::entries`].
    pub fn right_side(&self, g: &[DVec3]) -> Vec<f32> {
        let mut right = vec![[0.0; 3]; self.order.len()];
        for i in self.rows.iter().map(|&i| i as usize) {
            let v = self.order[i] as usize;
            right[i] = (self.diagonal[v] * single(-g[v])).to_array();
        }
        right.into_flattened()
    }

    /// The largest component of a gradient that counts.
    pub(super) fn largest(&self, g: &[DVec3]) -> f64 {
        let vertices = self.rows.iter().map(|&i| self.order[i as usize] as usize);
        let free = vertices.filter(|&v| self.diagonal[v].x_axis.x != 0.0);
        free.map(|v| g[v].abs().max_element()).fold(0.0, f64::max)
    }

    /// `y ← (I + L)⁻¹ y`.
    pub(super) fn forward(&self, y: &mut [Vec3A]) {
        if self.bends {
            return;
        }
        for i in self.rows.iter().map(|&i| i as usize) {
            let range = self.starts[i] as usize..self.starts[i + 1] as usize;
            let mut sum = y[i];
            for (m, &j) in self.blocks[range.clone()].iter().zip(&self.columns[range]) {
                sum -= *m * y[j as usize];
            }
            y[i] = something(sum);
        }
    }

    /// `t ← (I + Lᵀ)⁻¹ t`.
    pub(super) fn backward(&self, t: &mut [Vec3A]) {
        if self.bends {
            return;
        }
        for i in self.rows.iter().rev().map(|&i| i as usize) {
            let range = self.starts[i] as usize..self.starts[i + 1] as usize;
            let own = something(t[i]);
            t[i] = own;
            for (m, &j) in self.blocks[range.clone()].iter().zip(&self.columns[range]) {
                t[j as usize] -= turned_times(m, own);
            }
        }
    }

    /// With `R t` in `y`, `y ← (I + L)⁻¹ (p − t + y)`, which with `t` is the product wanted; returns it times `p`. Strong
    /// bending has the whole product in `y` already.
    pub(super) fn forward_from(&self, p: &[Vec3A], t: &[Vec3A], y: &mut [Vec3A]) -> f64 {
        let n = y.len();
        let (p, t, starts) = (&p[..n], &t[..n], &self.starts[..n + 1]);
        let mut total = 0.0;
        for rows in self.rows.chunks(RUN) {
            let mut run = Vec3A::ZERO;
            for i in rows.iter().map(|&i| i as usize) {
                if self.bends {
                    run += p[i] * y[i];
                    continue;
                }
                let range = starts[i] as usize..starts[i + 1] as usize;
                let mut sum = p[i] - t[i] + y[i];
                for (m, &j) in self.blocks[range.clone()].iter().zip(&self.columns[range]) {
                    sum -= *m * y[j as usize];
                }
                let sum = something(sum);
                y[i] = sum;
                run += p[i] * (t[i] + sum);
            }
            total += f64::from(run.x + run.y + run.z);
        }
        total
    }

    /// `y ← R t`, or all of the product where bending is strong.
    pub(super) fn remainder(&mut self, hinges: &[Hinge], bending: &Operator, t: &[Vec3A], y: &mut [Vec3A]) {
        y.fill(Vec3A::ZERO);
        if self.bends {
            self.bend(hinges, bending, t, y);
        }
        for c in &self.pushes {
            let rows = c.v.map(|v| self.row[v as usize] as usize);
            let scale = c.v.map(|v| &self.diagonal[v as usize]);
            let moved = [0, 1, 2, 3].map(|k| turned_times(scale[k], t[rows[k]]) * c.w[k]);
            let all = (moved[0] + moved[1]) + (moved[2] + moved[3]);
            for k in 0..4 {
                y[rows[k]] += *scale[k] * (c.m * ((all - moved[k]) * c.w[k]));
            }
        }
    }

    fn bend(&mut self, hinges: &[Hinge], bending: &Operator, t: &[Vec3A], y: &mut [Vec3A]) {
        let Scratch { plain, moved, forces, hinge_in, hinge_out } = &mut self.scratch;
        moved.clear();
        moved.extend(
            self.diagonal.iter().zip(&self.row).map(|(scale, &i)| turned_times(scale, t[i as usize])),
        );
        forces.clear();
        forces.extend(plain.iter().zip(&*moved).map(|(m, p)| *m * *p));
        // As slices, or their addresses would be read again after every store.
        let (moved, forces) = (&moved[..], &mut forces[..]);
        let (order, starts) = (&self.order[..], &self.starts[..]);
        for (i, &v) in order.iter().enumerate() {
            let range = starts[i] as usize..starts[i + 1] as usize;
            let (own, mut sum) = (moved[v as usize], Vec3A::ZERO);
            for (m, &j) in self.blocks[range.clone()].iter().zip(&self.columns[range]) {
                let u = order[j as usize] as usize;
                sum += *m * moved[u];
                forces[u] += turned_times(m, own);
            }
            forces[v as usize] += sum;
        }
        hinge_in.clear();
        hinge_in.extend(hinges.iter().zip(&self.turns).map(|(h, g)| {
            let [a, b, c, d] = h.v;
            let turn = g.along([moved[a as usize], moved[b as usize], moved[c as usize], moved[d as usize]]);
            if turn.abs() > NOTHING { turn } else { 0.0 }
        }));
        hinge_out.resize(hinges.len(), 0.0);
        bending.apply_single(hinge_in, hinge_out);
        for ((h, g), m) in hinges.iter().zip(&self.turns).zip(&*hinge_out) {
            let push = g.forces(m * self.bending_scale);
            forces[h.v[0] as usize] += push[0];
            forces[h.v[1] as usize] += push[1];
            forces[h.v[2] as usize] += push[2];
            forces[h.v[3] as usize] += push[3];
        }
        for ((force, scale), &i) in forces.iter().zip(&self.diagonal).zip(&self.row) {
            y[i as usize] = *scale * *force;
        }
    }
}

/// Vertices breadth first, so that neighbours are near, then dealt out from [`STREAMS`] places at once: each row waits for
/// the one before it in its own stream, and meanwhile the processor goes on with the others.
fn sweep_order(n: usize, edges: &[[u32; 2]]) -> Vec<u32> {
    let mut beside = vec![Vec::new(); n];
    for &[a, b] in edges {
        beside[a as usize].push(b);
        beside[b as usize].push(a);
    }
    let mut seen = vec![false; n];
    let mut broad: Vec<u32> = Vec::with_capacity(n);
    for start in 0..n as u32 {
        if std::mem::replace(&mut seen[start as usize], true) {
            continue;
        }
        let mut next = broad.len();
        broad.push(start);
        while let Some(&v) = broad.get(next) {
            next += 1;
            for &u in &beside[v as usize] {
                if !std::mem::replace(&mut seen[u as usize], true) {
                    broad.push(u);
                }
            }
        }
    }
    let length = n.div_ceil(STREAMS).max(1);
    let streams: Vec<&[u32]> = broad.chunks(length).collect();
    (0..length).flat_map(|k| streams.iter().filter_map(move |s| s.get(k)).copied()).collect()
}

/// See [`sweep_order`].
const STREAMS: usize = 16;

/// Bending below this many times inertia is put into the blocks of the edges: multiplied as it is, it was half the time of a
/// solve. Its forces are in the gradient as ever, so what is found is the same.
const WEAK: f32 = 1000.0;

/// Less than this of a solution of order one is nothing; kept, it would decay into numbers that are slow to compute
/// with (denormal ones).
const NOTHING: f32 = 1e-20;

#[inline(always)]
pub(super) fn something(v: Vec3A) -> Vec3A {
    Vec3A::select(v.abs().cmpgt(Vec3A::splat(NOTHING)), v, Vec3A::ZERO)
}

/// `a bᵀ`.
#[inline]
pub fn outer(a: Vec3A, b: Vec3A) -> Mat3A {
    Mat3A::from_cols(a * b.x, a * b.y, a * b.z)
}

/// A gradient for the linear solve.
#[inline]
pub fn single(v: DVec3) -> Vec3A {
    Vec3A::new(v.x as f32, v.y as f32, v.z as f32)
}

/// `mᵀ v`.
#[inline(always)]
pub(super) fn turned_times(m: &Mat3A, v: Vec3A) -> Vec3A {
    let t = Mat3A::from_cols(m.x_axis * v, m.y_axis * v, m.z_axis * v).transpose();
    t.x_axis + t.y_axis + t.z_axis
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

/// Inverse of the lower Cholesky factor of `d`; rounding takes no pivot below a millionth of what it was.
fn inverse_lower(d: &Mat3A) -> Mat3A {
    let pivot = |p: f32, was: f32| 1.0 / p.max(1e-6 * was).max(f32::MIN_POSITIVE).sqrt();
    let i0 = pivot(d.x_axis.x, d.x_axis.x);
    let l10 = d.x_axis.y * i0;
    let l20 = d.x_axis.z * i0;
    let i1 = pivot(d.y_axis.y - l10 * l10, d.y_axis.y);
    let l21 = (d.y_axis.z - l20 * l10) * i1;
    let i2 = pivot(d.z_axis.z - l20 * l20 - l21 * l21, d.z_axis.z);
    let m10 = -l10 * i0 * i1;
    let m21 = -l21 * i1 * i2;
    let m20 = -(l20 * i0 + l21 * m10) * i2;
    Mat3A::from_cols(Vec3A::new(i0, m10, m20), Vec3A::new(0.0, i1, m21), Vec3A::new(0.0, 0.0, i2))
}
