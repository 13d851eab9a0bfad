//! Skinning weights with any number of influences, and linear blend skinning.

use crate::{Error, Result};
use glam::{Affine3A, Vec3, Vec3A};

/// Weights of vertices to joints, row by row: vertex `v` owns entries `starts[v]..starts[v+1]`.
/// Every row sums to one.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Skin {
    starts: Vec<u32>,
    joints: Vec<u16>,
    weights: Vec<f32>,
}

impl Skin {
    /// Builds from one list of `(joint, weight)` per vertex. Weights are renormalised; entries that
    /// are zero are dropped; a vertex without positive weight is an error that names it.
    pub fn from_rows<I, R>(rows: I) -> Result<Self>
    where
        I: IntoIterator<Item = R>,
        R: AsRef<[(u16, f32)]>,
    {
        let mut skin = Self { starts: vec![0], ..Self::default() };
        for (v, row) in rows.into_iter().enumerate() {
            let row = row.as_ref();
            if row.iter().any(|&(_, w)| !w.is_finite() || w < 0.0) {
                return Err(Error::Invalid(format!("vertex {v} has a negative or non-finite weight")));
            }
            let sum: f32 = row.iter().map(|&(_, w)| w).sum();
            if sum <= 0.0 {
                return Err(Error::Invalid(format!("vertex {v} is bound to no joint")));
            }
            for &(j, w) in row.iter().filter(|&&(_, w)| w > 0.0) {
                skin.joints.push(j);
                skin.weights.push(w / sum);
            }
            skin.starts.push(skin.joints.len() as u32);
        }
        Ok(skin)
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether it binds no vertex.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The `(joint, weight)` pairs of one vertex.
    pub fn row(&self, vertex: usize) -> impl Iterator<Item = (u16, f32)> + '_ {
        let range = self.starts[vertex] as usize..self.starts[vertex + 1] as usize;
        self.joints[range.clone()].iter().copied().zip(self.weights[range].iter().copied())
    }

    /// The same with at most so many joints a vertex, those that carry most of it.
    pub fn strongest(&self, count: usize) -> Self {
        let rows = (0..self.len()).map(|v| {
            let mut row: Vec<_> = self.row(v).collect();
            row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            row.truncate(count.max(1));
            row
        });
        Self::from_rows(rows).unwrap_or_else(|_| self.clone())
    }

    /// How much of a vertex a joint carries.
    pub fn weight(&self, vertex: usize, joint: u32) -> f32 {
        self.row(vertex).filter(|(j, _)| u32::from(*j) == joint).map(|(_, w)| w).sum()
    }

    /// The largest joint index plus one.
    pub fn joint_count(&self) -> usize {
        self.joints.iter().max().map_or(0, |&j| j as usize + 1)
    }

    /// The most influences any vertex has.
    pub fn max_influences(&self) -> usize {
        self.starts.windows(2).map(|w| (w[1] - w[0]) as usize).max().unwrap_or(0)
    }

    /// The blended matrix `Σ wⱼ Bⱼ` of one vertex. `bones[j]` is `world_from_bind` of joint `j`.
    pub fn blend(&self, vertex: usize, bones: &[Affine3A]) -> Affine3A {
        let mut sum = Affine3A::ZERO;
        for (j, w) in self.row(vertex) {
            let b = &bones[j as usize];
            sum.matrix3 += b.matrix3 * w;
            sum.translation += b.translation * w;
        }
        sum
    }

    /// Linear blend skinning of positions: `out[v] = Σ wⱼ Bⱼ rest[v]`.
    pub fn skin_positions(&self, rest: &[Vec3], bones: &[Affine3A], out: &mut [Vec3]) {
        for (v, (p, out)) in rest.iter().zip(out).enumerate() {
            *out = self.blend(v, bones).transform_point3(*p);
        }
    }

    /// Linear blend skinning of directions, normalised. Good for rigid bones, which ours are.
    pub fn skin_normals(&self, rest: &[Vec3], bones: &[Affine3A], out: &mut [Vec3]) {
        for (v, (n, out)) in rest.iter().zip(out).enumerate() {
            *out = (self.blend(v, bones).matrix3 * Vec3A::from(*n)).normalize_or_zero().into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_renormalised_and_faults_name_the_vertex() {
        let skin = Skin::from_rows([vec![(0, 2.0), (1, 2.0), (2, 0.0)]]).unwrap();
        assert_eq!(skin.row(0).collect::<Vec<_>>(), [(0, 0.5), (1, 0.5)]);
        let fault = Skin::from_rows([vec![(0, 1.0)], vec![(0, 0.0)]]).unwrap_err().to_string();
        assert!(fault.contains("vertex 1"), "{fault}");
        let skin = Skin::from_rows([vec![(0, 0.1), (1, 0.3), (2, 0.6)]]).unwrap().strongest(2);
        assert_eq!(skin.row(0).map(|(j, _)| j).collect::<Vec<_>>(), [2, 1]);
        assert!((skin.weight(0, 2) - 2.0 / 3.0).abs() < 1e-6 && skin.weight(0, 0) == 0.0);
    }
}
