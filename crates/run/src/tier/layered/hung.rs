//! Bones and weights of the vertices that a step moves, one after the other as they are moved.

use glam::{Affine3A, Vec3A};
use toile_model::Skin;

/// Some vertices of a [`Skin`], in an order of their own.
pub(super) struct Hung {
    starts: Vec<u32>,
    bones: Vec<(u32, f32)>,
}

impl Hung {
    pub fn new(skin: &Skin, vertices: impl Iterator<Item = u32>) -> Self {
        let mut hung = Self { starts: vec![0], bones: Vec::new() };
        for v in vertices {
            hung.bones.extend(skin.row(v as usize).map(|(j, w)| (u32::from(j), w)));
            hung.starts.push(hung.bones.len() as u32);
        }
        hung
    }

    /// Where the `i`-th vertex is when its place in the bind pose is `p`: `Σ wⱼ Bⱼ p`, without blending matrices.
    #[inline(always)]
    pub fn carry(&self, i: usize, bones: &[Affine3A], p: Vec3A) -> Vec3A {
        let mut sum = Vec3A::ZERO;
        for &(joint, weight) in &self.bones[self.starts[i] as usize..self.starts[i + 1] as usize] {
            sum += bones[joint as usize].transform_point3a(p) * weight;
        }
        sum
    }
}
