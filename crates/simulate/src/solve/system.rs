//! The Newton matrix, kept as its factors.
//!
//! Mass, air and stretch live in 3×3 blocks: one per vertex, one per edge and direction. Bending is `∇θ K ∇θᵀ` and
//! contacts are `wᵢ wⱼ M`: both are multiplied, never assembled, so contacts that come and go cost nothing symbolic.
//! All of it is f32: the matrix only chooses the direction of a step whose gradient is f64, and four lanes of f32
//! are twice as fast. An error of 1e-7 in the direction is corrected by the next Newton iteration.

use super::cholesky::Cholesky;
use crate::contact::constraint::Contact;
use crate::energy::bending::{Hinge, Turn};
use crate::scene::Scene;
use glam::{DVec3, Mat3A, Vec3A};

/// A contact that pushes: vertices, weights and the second derivative by its point.
#[derive(Clone, Copy, Debug)]
pub struct Push {
    v: [u32; 4],
    w: [f32; 4],
    m: Mat3A,
}

/// Blocks and factors.
#[derive(Clone, Debug, Default)]
pub struct System {
    /// Diagonal blocks without bending and contact.
    pub diagonal: Vec<Mat3A>,
    /// Block (a, b) for each edge a→b.
    pub edges: Vec<Mat3A>,
    /// ∇θ per hinge.
    pub turns: Vec<Turn>,
    /// `1 + τ/h`: strain-rate damping scales the bending Hessian.
    pub bending_scale: f32,
    /// Sum of `m/β²` over vertices and axes.
    pub inertia: f32,
    /// Whether bending is strong enough to be multiplied as it is; else it is put into the blocks of the edges.
    bends: bool,
    /// Per hinge the edges from the vertices across to its ends.
    legs: Vec<[u32; 4]>,
    pushes: Vec<Push>,
    /// Inverse diagonal blocks with everything; zero for pinned vertices.
    preconditioner: Vec<Mat3A>,
    /// Off-diagonal blocks row by row, which edge each comes from, and whether transposed.
    starts: Vec<u32>,
    columns: Vec<u32>,
    blocks: Vec<Mat3A>,
    sources: Vec<(u32, bool)>,
    /// A factor over the mesh instead of the inverse blocks, where that is faster.
    factor: Option<Cholesky>,
    factored_edges: Vec<Mat3A>,
    hinge_diagonal: Vec<f32>,
    hinge_in: Vec<f32>,
    hinge_out: Vec<f32>,
}

impl System {
    /// Room for a scene.
    pub fn new(scene: &Scene, factored_below: usize) -> Self {
        let n = scene.len();
        let mut rows: Vec<Vec<(u32, u32, bool)>> = vec![Vec::new(); n];
        for (e, &[a, b]) in scene.edges.iter().enumerate() {
            rows[a as usize].push((b, e as u32, false));
            rows[b as usize].push((a, e as u32, true));
        }
        let mut system = Self {
            diagonal: vec![Mat3A::ZERO; n],
            edges: vec![Mat3A::ZERO; scene.edges.len()],
            turns: vec![Turn::default(); scene.hinges.len()],
            bending_scale: 1.0,
            preconditioner: vec![Mat3A::ZERO; n],
            starts: vec![0],
            hinge_in: vec![0.0; scene.hinges.len()],
            hinge_out: vec![0.0; scene.hinges.len()],
            hinge_diagonal: scene.bending.diagonal(),
            ..Self::default()
        };
        let edge_of = |a: u32, b: u32| rows[a as usize].iter().find(|r| r.0 == b).map_or(u32::MAX, |r| r.1);
        let legs = |h: &Hinge| {
            let [a, b, c, d] = h.v;
            [edge_of(c, a), edge_of(c, b), edge_of(d, a), edge_of(d, b)]
        };
        system.legs = scene.hinges.iter().map(legs).collect();
        for mut row in rows {
            row.sort_unstable();
            system.columns.extend(row.iter().map(|r| r.0));
            system.sources.extend(row.iter().map(|r| (r.1, r.2)));
            system.starts.push(system.columns.len() as u32);
        }
        system.blocks = vec![Mat3A::ZERO; system.columns.len()];
        if n < factored_below {
            system.factor = Some(Cholesky::new(n, &scene.edges));
            system.factored_edges = vec![Mat3A::ZERO; scene.edges.len()];
        }
        system
    }

    /// Forgets the contacts.
    pub fn clear_contacts(&mut self) {
        self.pushes.clear();
    }

    /// Adds a contact that pushes.
    pub fn add_contact(&mut self, c: &Contact) {
        self.pushes.push(Push { v: c.v, w: c.w.map(|w| w as f32), m: c.m.as_mat3().into() });
    }

    /// `out = A p`, with pinned rows zero (and `p` zero there).
    pub fn multiply(&mut self, scene: &Scene, p: &[Vec3A], out: &mut [Vec3A]) {
        for (i, out) in out.iter_mut().enumerate() {
            let row = self.starts[i] as usize..self.starts[i + 1] as usize;
            let mut sum = self.diagonal[i] * p[i];
            for (m, &j) in self.blocks[row.clone()].iter().zip(&self.columns[row]) {
                sum += *m * p[j as usize];
            }
            *out = sum;
        }
        if self.bends {
            self.multiply_bending(scene, p, out);
        }
        for c in &self.pushes {
            let y = p[c.v[0] as usize] * c.w[0]
                + p[c.v[1] as usize] * c.w[1]
                + p[c.v[2] as usize] * c.w[2]
                + p[c.v[3] as usize] * c.w[3];
            let z = c.m * y;
            for k in 0..4 {
                out[c.v[k] as usize] += z * c.w[k];
            }
        }
        for (o, held) in out.iter_mut().zip(&scene.pinned) {
            if *held {
                *o = Vec3A::ZERO;
            }
        }
    }

    fn multiply_bending(&mut self, scene: &Scene, p: &[Vec3A], out: &mut [Vec3A]) {
        for ((h, g), t) in scene.hinges.iter().zip(&self.turns).zip(&mut self.hinge_in) {
            let turn =
                g.along([p[h.v[0] as usize], p[h.v[1] as usize], p[h.v[2] as usize], p[h.v[3] as usize]]);
            *t = if turn.abs() > NOTHING { turn } else { 0.0 };
        }
        scene.bending.apply_single(&self.hinge_in, &mut self.hinge_out);
        for ((h, g), m) in scene.hinges.iter().zip(&self.turns).zip(&self.hinge_out) {
            let push = g.forces(m * self.bending_scale);
            out[h.v[0] as usize] += push[0];
            out[h.v[1] as usize] += push[1];
            out[h.v[2] as usize] += push[2];
            out[h.v[3] as usize] += push[3];
        }
    }

    /// Adds what a contact couples, where the mesh couples it too.
    fn couple(&mut self, c: Push) {
        for i in 0..3 {
            for j in i + 1..4 {
                let (w, a, b) = (c.w[i] * c.w[j], c.v[i], c.v[j]);
                if w == 0.0 || a == b {
                    continue;
                }
                let row = self.starts[a as usize] as usize..self.starts[a as usize + 1] as usize;
                if let Ok(at) = self.columns[row.clone()].binary_search(&b) {
                    let (e, _) = self.sources[row.start + at];
                    // The block is symmetric: the direction of the edge does not matter.
                    self.factored_edges[e as usize] += c.m * w;
                }
            }
        }
    }

    /// `z = M⁻¹ r` with the preconditioner `M`.
    pub fn precondition(&mut self, r: &[Vec3A], z: &mut [Vec3A]) {
        match &mut self.factor {
            Some(factor) => factor.solve(r, z),
            None => z.iter_mut().zip(r).zip(&self.preconditioner).for_each(|((z, r), m)| *z = *m * *r),
        }
    }

    /// Puts weak bending into the blocks that are there: the vertex across moves against the foot of its height, and the square
    /// of a mean is less than the mean of squares, so `(c − (1−s)a − sb)²` becomes `(1−s)(c−a)² + s(c−b)²`. It leaves
    /// garments as free to fly as they are.
    fn spread_bending(&mut self, scene: &Scene) {
        for (k, hinge) in scene.hinges.iter().enumerate() {
            let stiffness = self.hinge_diagonal[k] * self.bending_scale;
            for (side, (g, along)) in self.turns[k].across().into_iter().enumerate() {
                let block = outer(g * stiffness, g);
                let along = along.clamp(0.0, 1.0);
                let c = hinge.v[2 + side] as usize;
                for (end, share) in [1.0 - along, along].into_iter().enumerate() {
                    let part = block * share;
                    self.diagonal[c] += part;
                    self.diagonal[hinge.v[end] as usize] += part;
                    if let Some(edge) = self.edges.get_mut(self.legs[k][2 * side + end] as usize) {
                        *edge -= part;
                    }
                }
            }
        }
    }

    /// Lays the blocks out by rows and makes the preconditioner.
    pub fn prepare(&mut self, scene: &Scene) {
        let stiffness = |k: f32| k * self.bending_scale;
        let bent: f32 = (self.turns.iter().zip(&self.hinge_diagonal))
            .map(|(g, k)| stiffness(*k) * g.across().iter().map(|(g, _)| g.length_squared()).sum::<f32>())
            .sum();
        self.bends = bent > WEAK * self.inertia;
        if !self.bends {
            self.spread_bending(scene);
        }
        for (block, &(e, transposed)) in self.blocks.iter_mut().zip(&self.sources) {
            let m = self.edges[e as usize];
            *block = if transposed { m.transpose() } else { m };
        }
        self.preconditioner.copy_from_slice(&self.diagonal);
        if self.bends {
            for ((h, g), k) in scene.hinges.iter().zip(&self.turns).zip(&self.hinge_diagonal) {
                let g = g.forces(1.0);
                let k = k * self.bending_scale;
                for i in 0..4 {
                    self.preconditioner[h.v[i] as usize] += outer(g[i] * k, g[i]);
                }
            }
        }
        for c in &self.pushes {
            for k in 0..4 {
                if c.w[k] != 0.0 {
                    self.preconditioner[c.v[k] as usize] += c.m * (c.w[k] * c.w[k]);
                }
            }
        }
        if let Some(mut factor) = self.factor.take() {
            self.factored_edges.copy_from_slice(&self.edges);
            for k in 0..self.pushes.len() {
                self.couple(self.pushes[k]);
            }
            factor.factor(&self.preconditioner, &scene.edges, &self.factored_edges, &scene.pinned);
            self.factor = Some(factor);
            return;
        }
        for (m, held) in self.preconditioner.iter_mut().zip(&scene.pinned) {
            *m = if *held { Mat3A::ZERO } else { inverse(m) };
        }
    }
}

/// Bending below this share of inertia is put into the blocks of the edges: multiplied as it is, it was half the time of a
/// solve. Its forces are in the gradient as ever, so what is found is the same.
const WEAK: f32 = 1.0;

/// Less than this of a solution of order one is nothing; kept, it would decay into numbers that are slow to compute
/// with (denormal ones).
pub const NOTHING: f32 = 1e-20;

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

/// Inverse of a symmetric positive definite block.
#[inline]
fn inverse(m: &Mat3A) -> Mat3A {
    let x = m.y_axis.cross(m.z_axis);
    let y = m.z_axis.cross(m.x_axis);
    let z = m.x_axis.cross(m.y_axis);
    let inv = 1.0 / m.x_axis.dot(x);
    Mat3A::from_cols(x * inv, y * inv, z * inv)
}
