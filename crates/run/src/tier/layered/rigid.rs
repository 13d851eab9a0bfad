//! Parts that go with one joint alone: buttons, buckles, cuffs that stick. They are posed when their joint has moved, and
//! never where an engine draws them under the joint's own transform.

use glam::{Affine3A, Vec3};
use toile_model::layers::Layers;

/// What the parts were last posed with, in the positions of this step and of the one before.
#[derive(Default)]
pub(super) struct Rigid {
    posed: [Vec<Option<Affine3A>>; 2],
}

impl Rigid {
    pub fn new(layers: &Layers) -> Self {
        Self { posed: [vec![None; layers.rigid.len()], vec![None; layers.rigid.len()]] }
    }

    /// Positions of this step and of the one before were exchanged.
    pub fn swap(&mut self) {
        self.posed.swap(0, 1);
    }

    /// Positions were changed by others.
    pub fn forget(&mut self) {
        self.posed.iter_mut().for_each(|posed| posed.fill(None));
    }

    /// Poses what has moved since these positions were made; returns how many vertices that were.
    pub fn pose(&mut self, layers: &Layers, bones: &[Affine3A], positions: &mut [Vec3]) -> usize {
        let mut count = 0;
        for ((joint, vertices), posed) in layers.rigid.iter().zip(&mut self.posed[0]) {
            let bone = bones[*joint as usize];
            if *posed == Some(bone) {
                continue;
            }
            for &v in vertices {
                positions[v as usize] = bone.transform_point3(layers.attachment.rest[v as usize]);
            }
            count += vertices.len();
            *posed = Some(bone);
        }
        count
    }
}
