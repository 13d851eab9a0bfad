//! Bones and weights of the vertices that a step moves, eight of them side by side.
//!
//! Neighbours hang on the same few bones: eight of them share a list, with no weight where one of them has no part in a
//! bone. A bone is then one number for all lanes and nothing is gathered.

use super::wide::Vectors;
use crate::cpu::kernel::{Lanes, WIDE, Wide};
use glam::Affine3A;
use toile_model::Skin;

/// Some vertices of a [`Skin`], in an order of their own.
pub(super) struct Hung {
    starts: Vec<u32>,
    bones: Vec<(u32, Wide)>,
}

/// The vertices in an order in which those that hang on the same bones are neighbours.
pub(super) fn by_bones(skin: &Skin, vertices: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut keyed: Vec<(Vec<u16>, u32)> = vertices
        .map(|v| {
            let mut joints: Vec<u16> = skin.row(v as usize).map(|(joint, _)| joint).collect();
            joints.sort_unstable();
            (joints, v)
        })
        .collect();
    keyed.sort();
    keyed.into_iter().map(|(_, v)| v).collect()
}

impl Hung {
    pub fn new(skin: &Skin, vertices: &[u32]) -> Self {
        let mut hung = Self { starts: vec![0], bones: Vec::new() };
        for eight in vertices.chunks(WIDE) {
            let first = hung.bones.len();
            for (k, v) in eight.iter().enumerate() {
                for (joint, weight) in skin.row(*v as usize) {
                    let joint = u32::from(joint);
                    let at = match hung.bones[first..].iter().position(|(j, _)| *j == joint) {
                        Some(at) => first + at,
                        None => {
                            hung.bones.push((joint, Wide::default()));
                            hung.bones.len() - 1
                        }
                    };
                    hung.bones[at].1.0[k] = weight;
                }
            }
            hung.starts.push(hung.bones.len() as u32);
        }
        hung
    }

    /// Joints that move any of them, each once.
    pub fn joints(&self) -> Vec<u32> {
        let mut joints: Vec<u32> = self.bones.iter().map(|(j, _)| *j).collect();
        joints.sort_unstable();
        joints.dedup();
        joints
    }

    /// Where the vertices of the `i`-th eight are when their places in the bind pose are `p`: `Σ wⱼ Bⱼ p`.
    #[inline(always)]
    pub fn carry<L: Lanes>(&self, i: usize, bones: &[Affine3A], p: Vectors<L>) -> Vectors<L> {
        let mut sum = Vectors::zero();
        for (joint, weight) in self.of(i) {
            let (bone, weight) = (&bones[*joint as usize], L::load(weight));
            let there = turned(bone, p) + Vectors::splat(bone.translation);
            sum = sum + there * weight;
        }
        sum
    }

    /// The same of directions: bones turn them and do not move them.
    #[inline(always)]
    pub fn turn<L: Lanes>(&self, i: usize, bones: &[Affine3A], p: Vectors<L>) -> Vectors<L> {
        let mut sum = Vectors::zero();
        for (joint, weight) in self.of(i) {
            sum = sum + turned(&bones[*joint as usize], p) * L::load(weight);
        }
        sum
    }

    #[inline(always)]
    fn of(&self, i: usize) -> &[(u32, Wide)] {
        &self.bones[self.starts[i] as usize..self.starts[i + 1] as usize]
    }
}

#[inline(always)]
fn turned<L: Lanes>(bone: &Affine3A, p: Vectors<L>) -> Vectors<L> {
    let m = &bone.matrix3;
    Vectors::splat(m.x_axis) * p.x + Vectors::splat(m.y_axis) * p.y + Vectors::splat(m.z_axis) * p.z
}

#[cfg(test)]
mod tests {
    use super::super::wide::Stored;
    use super::*;
    use crate::cpu::kernel::Halves;
    use glam::{Quat, Vec3, Vec3A};

    #[test]
    fn eight_side_by_side_go_where_each_alone_would() {
        let rows: Vec<Vec<(u16, f32)>> =
            (0..19u16).map(|v| vec![(v % 3, 0.5), ((v + 1) % 3, 0.3), (3 + v % 2, 0.2)]).collect();
        let skin = Skin::from_rows(rows).unwrap();
        let bones: Vec<Affine3A> = (0..5)
            .map(|j| {
                let turn = Quat::from_rotation_z(0.3 * j as f32);
                Affine3A::from_rotation_translation(turn, Vec3::new(0.1 * j as f32, 1.0, -0.2))
            })
            .collect();
        let order = by_bones(&skin, 0..19);
        let place = |v: u32| Vec3A::new(0.1 * v as f32, 0.4, 0.05 * v as f32);
        let hung = Hung::new(&skin, &order);
        for (i, eight) in order.chunks(WIDE).enumerate() {
            let p = Stored::of(eight.iter().map(|v| place(*v))).load::<Halves>();
            let carried = hung.carry(i, &bones, p).store();
            let turned = hung.turn(i, &bones, p).store();
            for (k, v) in eight.iter().enumerate() {
                let blend = skin.blend(*v as usize, &bones);
                let alone = Vec3A::from(blend.transform_point3(place(*v).into()));
                assert!(carried.lane(k).distance(alone) < 1e-5);
                let alone = Vec3A::from(blend.transform_vector3(place(*v).into()));
                assert!(turned.lane(k).distance(alone) < 1e-5);
            }
        }
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..19).collect::<Vec<u32>>());
    }
}
