//! A dense mesh carried by a coarse garment, whatever moves that.

use crate::{Error, Result};
use glam::Vec3;
use std::sync::Arc;
use toile_model::embedding::{Embedding, Patch};

/// A dense mesh on one garment. Nothing is allocated after it is made.
pub struct Driven {
    embedding: Arc<Embedding>,
    /// Of the coarse garment.
    normals: Vec<Vec3>,
    patches: Vec<Patch>,
    /// Coarse triangles that carry something.
    used: Vec<u32>,
    /// For each coarse triangle its number among those.
    place: Vec<u32>,
}

impl Driven {
    /// Room for one garment.
    pub fn new(embedding: Arc<Embedding>) -> Self {
        let mut used: Vec<u32> = embedding.links.iter().map(|l| l.triangle).collect();
        used.sort_unstable();
        used.dedup();
        let mut place = vec![0; embedding.coarse.len()];
        used.iter().enumerate().for_each(|(k, t)| place[*t as usize] = k as u32);
        let flat = Patch::new([Vec3::ZERO; 3], [Vec3::ZERO; 3]);
        Self {
            normals: vec![Vec3::ZERO; embedding.vertices],
            patches: vec![flat; used.len()],
            used,
            place,
            embedding,
        }
    }

    /// What is carried.
    pub fn embedding(&self) -> &Embedding {
        &self.embedding
    }

    /// Number of dense vertices.
    pub fn vertices(&self) -> usize {
        self.embedding.links.len()
    }

    /// Writes the dense vertices on a garment whose vertices are at `coarse`.
    pub fn place(&mut self, coarse: &[Vec3], out: &mut [Vec3]) -> Result<()> {
        let wanted = (self.embedding.vertices, self.embedding.links.len());
        if (coarse.len(), out.len()) != wanted {
            let (given, room) = (coarse.len(), out.len());
            let what = format!(
                "a dense mesh of {} vertices for a garment of {}, not room for {room} and a garment of {given}",
                wanted.1, wanted.0
            );
            return Err(Error::Topology { what });
        }
        vertex_normals(coarse, &self.embedding.coarse, &mut self.normals);
        for (patch, t) in self.patches.iter_mut().zip(&self.used) {
            let corners = self.embedding.coarse[*t as usize];
            *patch =
                Patch::new(corners.map(|v| coarse[v as usize]), corners.map(|v| self.normals[v as usize]));
        }
        for (out, link) in out.iter_mut().zip(&self.embedding.links) {
            *out = self.patches[self.place[link.triangle as usize] as usize].off(link.at, link.off);
        }
        Ok(())
    }

    /// Writes the unit normals of dense vertices that [`Driven::place`] has placed.
    pub fn normals(&self, placed: &[Vec3], out: &mut [Vec3]) {
        vertex_normals(placed, &self.embedding.triangles, out);
    }
}

/// Unit normals of vertices, triangles counting by their area.
pub(crate) fn vertex_normals(positions: &[Vec3], triangles: &[[u32; 3]], out: &mut [Vec3]) {
    out.fill(Vec3::ZERO);
    for t in triangles {
        let [a, b, c] = t.map(|v| positions[v as usize]);
        let normal = (b - a).cross(c - a);
        t.iter().for_each(|v| out[*v as usize] += normal);
    }
    out.iter_mut().for_each(|n| *n = n.normalize_or_zero());
}
