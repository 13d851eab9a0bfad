//! The second derivative of eq. 1 without contacts, in the world or carried back to the bind pose.
//!
//! `Bᵀ H B` of one moment turns with the limbs when it is used for another pose, where `H` itself would not; that is what
//! lets it be kept over many steps (§5.1, Solver Optimizations).

use super::forces::Forces;
use crate::energy::membrane;
use crate::energy::membrane_lanes::{self, Four};
use crate::scene::Scene;
use glam::{DMat3, DVec3, Mat3A, Vec3A};

/// Blocks of vertices and edges, and bending as its factors `∇θ K ∇θᵀ`.
#[derive(Clone, Debug, Default)]
pub(super) struct Stiffness {
    diagonal: Vec<Mat3A>,
    /// Block (a, b) of each edge a→b.
    edges: Vec<Mat3A>,
    /// ∇θ by the four vertices of each hinge.
    turns: Vec<[Vec3A; 4]>,
    bending_scale: f32,
}

/// Directions that are multiplied at once.
pub(super) const LANES: usize = 16;
/// x, y and z of a vertex along sixteen directions.
pub(super) type Lanes3 = [[f32; LANES]; 3];

/// `out += M a`, `M` by columns.
#[inline(always)]
pub(super) fn add_product(m: &[[f32; 3]; 3], a: &Lanes3, out: &mut Lanes3) {
    for r in 0..3 {
        for l in 0..LANES {
            out[r][l] += m[0][r] * a[0][l] + m[1][r] * a[1][l] + m[2][r] * a[2][l];
        }
    }
}

/// Changes of the angles and what bending makes of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Angles {
    change: Vec<[f32; LANES]>,
    moment: Vec<[f32; LANES]>,
    change_exactly: Vec<f64>,
    moment_exactly: Vec<f64>,
}

impl Stiffness {
    /// At `x`, where `forces` were found; `diagonal` is what mass and air have there, vertex by vertex.
    pub fn set(
        &mut self,
        scene: &Scene,
        forces: &Forces,
        x: &[DVec3],
        diagonal: impl Iterator<Item = DMat3>,
    ) {
        self.diagonal.clear();
        self.diagonal.extend(diagonal.map(|d| Mat3A::from(d.as_mat3())));
        self.edges.clear();
        self.edges.resize(scene.edges.len(), Mat3A::ZERO);
        let mut four = Four::default();
        let chunks = scene.membrane.chunks(4).zip(forces.strain_before.chunks(4));
        for (first, (els, before)) in chunks.enumerate() {
            if let (Some(els), Some(before)) = (els.as_array::<4>(), before.as_array())
                && membrane_lanes::linearise(els.each_ref(), x, *before, forces.rate, &mut four)
            {
                (0..4).for_each(|k| self.add(scene, 4 * first + k, &four.blocks[k]));
                continue;
            }
            for (k, (el, before)) in els.iter().zip(before).enumerate() {
                let (_, _, blocks) = membrane::linearise(el, x, *before, forces.rate);
                self.add(scene, 4 * first + k, &blocks);
            }
        }
        // Sums of rounded blocks are symmetric to rounding only, which a step along all directions would show.
        self.diagonal.iter_mut().for_each(|d| *d = (*d + d.transpose()) * 0.5);
        self.bending_scale = (1.0 + forces.rate) as f32;
        self.turns.clear();
        self.turns.extend(forces.turns.iter().map(|t| t.forces(1.0)));
    }

    fn add(&mut self, scene: &Scene, t: usize, blocks: &[Mat3A; 6]) {
        for k in 0..3 {
            self.diagonal[scene.triangles[t][k] as usize] += blocks[k];
            let (e, reversed) = scene.triangle_edges[t][k];
            self.edges[e as usize] += if reversed { blocks[3 + k].transpose() } else { blocks[3 + k] };
        }
    }

    /// Carries it back to the bind pose: `Bᵀ H B`.
    pub fn carry_back(&mut self, scene: &Scene, linear: &[DMat3]) {
        let b: Vec<Mat3A> = linear.iter().map(|m| Mat3A::from(m.as_mat3())).collect();
        let bt: Vec<Mat3A> = b.iter().map(Mat3A::transpose).collect();
        for (i, d) in self.diagonal.iter_mut().enumerate() {
            *d = bt[i] * *d * b[i];
        }
        for (m, [i, j]) in self.edges.iter_mut().zip(&scene.edges) {
            *m = bt[*i as usize] * *m * b[*j as usize];
        }
        for (turn, hinge) in self.turns.iter_mut().zip(&scene.hinges) {
            for (g, &v) in turn.iter_mut().zip(&hinge.v) {
                *g = bt[v as usize] * *g;
            }
        }
    }

    /// `out = H a` for sixteen directions at once: the matrix is read once for all of them.
    pub fn apply(&self, scene: &Scene, a: &[Lanes3], out: &mut Vec<Lanes3>, angles: &mut Angles) {
        out.clear();
        out.extend(self.diagonal.iter().zip(a).map(|(m, a)| {
            let mut sum = [[0.0; LANES]; 3];
            add_product(&m.to_cols_array_2d(), a, &mut sum);
            sum
        }));
        for (m, &[i, j]) in self.edges.iter().zip(&scene.edges) {
            let (i, j) = (i as usize, j as usize);
            add_product(&m.to_cols_array_2d(), &a[j], &mut out[i]);
            add_product(&m.transpose().to_cols_array_2d(), &a[i], &mut out[j]);
        }
        let Angles { change, moment, .. } = angles;
        change.clear();
        change.extend(self.turns.iter().zip(&scene.hinges).map(|(turn, h)| {
            let mut sum = [0.0; LANES];
            for (g, &v) in turn.iter().zip(&h.v) {
                for (g, a) in g.to_array().iter().zip(&a[v as usize]) {
                    (0..LANES).for_each(|l| sum[l] += g * a[l]);
                }
            }
            sum
        }));
        scene.bending.apply_lanes(change, moment);
        for ((turn, h), m) in self.turns.iter().zip(&scene.hinges).zip(&*moment) {
            for (g, &v) in turn.iter().zip(&h.v) {
                let to = &mut out[v as usize];
                for (g, to) in g.to_array().iter().zip(to) {
                    let g = g * self.bending_scale;
                    (0..LANES).for_each(|l| to[l] += g * m[l]);
                }
            }
        }
    }

    /// Block of a vertex on the diagonal, without bending.
    pub fn block(&self, i: usize) -> Mat3A {
        self.diagonal[i]
    }

    /// `out = H v`, with every product in double precision.
    pub fn apply_exactly(&self, scene: &Scene, v: &[DVec3], out: &mut [DVec3], angles: &mut Angles) {
        let wide = |m: &Mat3A| glam::Mat3::from(*m).as_dmat3();
        for (i, out) in out.iter_mut().enumerate() {
            *out = wide(&self.diagonal[i]) * v[i];
        }
        for (m, &[a, b]) in self.edges.iter().zip(&scene.edges) {
            let (a, b, m) = (a as usize, b as usize, wide(m));
            out[a] += m * v[b];
            out[b] += m.transpose() * v[a];
        }
        let Angles { change_exactly, moment_exactly, .. } = angles;
        change_exactly.clear();
        change_exactly.extend(
            self.turns
                .iter()
                .zip(&scene.hinges)
                .map(|(g, h)| (0..4).map(|k| g[k].as_dvec3().dot(v[h.v[k] as usize])).sum::<f64>()),
        );
        moment_exactly.resize(change_exactly.len(), 0.0);
        scene.bending.apply(change_exactly, moment_exactly);
        for ((g, h), m) in self.turns.iter().zip(&scene.hinges).zip(&*moment_exactly) {
            for k in 0..4 {
                out[h.v[k] as usize] += g[k].as_dvec3() * (m * f64::from(self.bending_scale));
            }
        }
    }
}
