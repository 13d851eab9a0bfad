//! The Newton matrix, kept as its factors.
//!
//! Mass, air and stretch live in 3×3 blocks: one per vertex, one per edge. Bending is `∇θ K ∇θᵀ` and contacts
//! are `wᵢ wⱼ M`: both are multiplied, never assembled, so contacts that come and go cost nothing symbolic.

use crate::contact::constraint::Contact;
use crate::energy::membrane::outer;
use crate::scene::Scene;
use glam::{DMat3, DVec3};

/// Blocks and factors; the contacts that push are the first `active` ones.
#[derive(Clone, Debug, Default)]
pub struct System {
    /// Diagonal blocks without bending and contact.
    pub diagonal: Vec<DMat3>,
    /// Block (a, b) for each edge a→b.
    pub edges: Vec<DMat3>,
    /// ∇θ per hinge.
    pub angle_gradients: Vec<[DVec3; 4]>,
    /// `1 + τ/h`: strain-rate damping scales the bending Hessian.
    pub bending_scale: f64,
    /// Contacts that push.
    pub contacts: Vec<Contact>,
    /// Inverse diagonal blocks with everything; zero for pinned vertices.
    pub preconditioner: Vec<DMat3>,
    hinge_diagonal: Vec<f64>,
    hinge_in: Vec<f64>,
    hinge_out: Vec<f64>,
}

impl System {
    /// Room for a scene.
    pub fn new(scene: &Scene) -> Self {
        let n = scene.len();
        Self {
            diagonal: vec![DMat3::ZERO; n],
            edges: vec![DMat3::ZERO; scene.edges.len()],
            angle_gradients: vec![[DVec3::ZERO; 4]; scene.hinges.len()],
            bending_scale: 1.0,
            contacts: Vec::new(),
            preconditioner: vec![DMat3::ZERO; n],
            hinge_in: vec![0.0; scene.hinges.len()],
            hinge_out: vec![0.0; scene.hinges.len()],
            hinge_diagonal: scene.bending.diagonal(),
        }
    }

    /// `out = A p`, with pinned rows zero (and `p` zero there).
    pub fn multiply(&mut self, scene: &Scene, p: &[DVec3], out: &mut [DVec3]) {
        for i in 0..p.len() {
            out[i] = self.diagonal[i] * p[i];
        }
        for (e, m) in scene.edges.iter().zip(&self.edges) {
            let (a, b) = (e[0] as usize, e[1] as usize);
            out[a] += *m * p[b];
            // mᵀ p without the transpose: dot products with the columns.
            let q = p[a];
            out[b] += DVec3::new(m.x_axis.dot(q), m.y_axis.dot(q), m.z_axis.dot(q));
        }
        for ((h, g), t) in scene.hinges.iter().zip(&self.angle_gradients).zip(&mut self.hinge_in) {
            let [a, b, c, d] = h.v.map(|i| p[i as usize]);
            *t = g[0].dot(a) + g[1].dot(b) + g[2].dot(c) + g[3].dot(d);
        }
        let hinge_in = &self.hinge_in;
        scene.bending.apply(|h| hinge_in[h], &mut self.hinge_out);
        for ((h, g), m) in scene.hinges.iter().zip(&self.angle_gradients).zip(&self.hinge_out) {
            let m = m * self.bending_scale;
            for k in 0..4 {
                out[h.v[k] as usize] += g[k] * m;
            }
        }
        for c in &self.contacts {
            let z = c.m * c.point(p);
            for k in 0..4 {
                out[c.v[k] as usize] += z * c.w[k];
            }
        }
        for (o, held) in out.iter_mut().zip(&scene.pinned) {
            if *held {
                *o = DVec3::ZERO;
            }
        }
    }

    /// Inverts the diagonal blocks.
    pub fn prepare(&mut self, scene: &Scene) {
        self.preconditioner.copy_from_slice(&self.diagonal);
        for ((h, g), k) in scene.hinges.iter().zip(&self.angle_gradients).zip(&self.hinge_diagonal) {
            let k = k * self.bending_scale;
            for i in 0..4 {
                self.preconditioner[h.v[i] as usize] += outer(g[i] * k, g[i]);
            }
        }
        for c in &self.contacts {
            for k in 0..4 {
                if c.w[k] != 0.0 {
                    self.preconditioner[c.v[k] as usize] += c.m * (c.w[k] * c.w[k]);
                }
            }
        }
        for (m, held) in self.preconditioner.iter_mut().zip(&scene.pinned) {
            *m = if *held { DMat3::ZERO } else { inverse(m) };
        }
    }
}

/// Inverse of a symmetric positive definite block.
#[inline]
fn inverse(m: &DMat3) -> DMat3 {
    let x = m.y_axis.cross(m.z_axis);
    let y = m.z_axis.cross(m.x_axis);
    let z = m.x_axis.cross(m.y_axis);
    let inv = 1.0 / m.x_axis.dot(x);
    DMat3::from_cols(x * inv, y * inv, z * inv).transpose()
}
