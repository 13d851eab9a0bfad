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

/// Changes of the angles and what bending makes of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Angles {
    change: Vec<f32>,
    moment: Vec<f32>,
    change_exactly: Vec<f64>,
    moment_exactly: Vec<f64>,
}

impl Stiffness {
    /// At `x`, where `forces` were found.
    pub fn set(&mut self, scene: &Scene, forces: &Forces, x: &[DVec3]) {
        self.diagonal.clear();
        self.diagonal.extend((0..scene.len()).map(|i| Mat3A::from(forces.diagonal(scene, i).as_mat3())));
        self.edges.clear();
        self.edges.resize(scene.edges.len(), Mat3A::ZERO);
        let mut four = Four::default();
        let chunks = scene.membrane.chunks(4).zip(forces.strain_before.chunks(4));
        for (first, (els, before)) in chunks.enumerate() {
            if let (Some(els), Some(before)) = (els.as_array(), before.as_array())
                && membrane_lanes::linearise(els, x, before, forces.rate, &mut four)
            {
                (0..4).for_each(|k| self.add(scene, 4 * first + k, &four.blocks[k]));
                continue;
            }
            for (k, (el, before)) in els.iter().zip(before).enumerate() {
                let (_, _, blocks) = membrane::linearise(el, x, *before, forces.rate);
                self.add(scene, 4 * first + k, &blocks);
            }
        }
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

    /// `out = H v`, in single precision.
    pub fn apply(&self, scene: &Scene, v: &[Vec3A], out: &mut [Vec3A], angles: &mut Angles) {
        for (i, out) in out.iter_mut().enumerate() {
            *out = self.diagonal[i] * v[i];
        }
        for (m, &[a, b]) in self.edges.iter().zip(&scene.edges) {
            let (a, b) = (a as usize, b as usize);
            out[a] += *m * v[b];
            let u = v[a];
            out[b] += Vec3A::new(m.x_axis.dot(u), m.y_axis.dot(u), m.z_axis.dot(u));
        }
        let Angles { change, moment, .. } = angles;
        change.clear();
        change.extend(self.turns.iter().zip(&scene.hinges).map(|(g, h)| {
            let sum = (g[0] * v[h.v[0] as usize] + g[1] * v[h.v[1] as usize])
                + (g[2] * v[h.v[2] as usize] + g[3] * v[h.v[3] as usize]);
            sum.x + sum.y + sum.z
        }));
        moment.resize(change.len(), 0.0);
        scene.bending.apply_single(change, moment);
        for ((g, h), m) in self.turns.iter().zip(&scene.hinges).zip(&*moment) {
            let m = m * self.bending_scale;
            for k in 0..4 {
                out[h.v[k] as usize] += g[k] * m;
            }
        }
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
