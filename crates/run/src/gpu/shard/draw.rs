//! From latent vectors to vertices in the world.

use super::Chunk;
use super::correct::Correct;
use crate::gpu::kernel::passes::{HALVED_ROWS, Passes};
use crate::gpu::packed::Sizes;

impl Chunk {
    /// The vertices of a model D from the bind pose into the world.
    pub fn hang(&self, pass: &mut wgpu::ComputePass, correct: &Correct) {
        if let Some(corrected) = &self.corrected {
            correct.hang.dispatch(pass, &corrected.hang, self.count);
        }
    }

    pub fn place(&self, pass: &mut wgpu::ComputePass, passes: &Passes, sizes: &Sizes) {
        passes.place.dispatch(pass, &self.groups.place, 0, [self.count.div_ceil(64), 1]);
        if let (Some(kind), Some(group)) = (&passes.halve, &self.groups.halve) {
            let size = [HALVED_ROWS * sizes.depth / 64, self.room.div_ceil(HALVED_ROWS)];
            kind.dispatch(pass, group, 0, size);
        }
    }

    pub fn reconstruct(&self, pass: &mut wgpu::ComputePass, passes: &Passes, size: [u32; 2]) {
        let [x, instances] = size;
        passes.reconstruct.dispatch(pass, &self.groups.reconstruct, 0, [x, self.count.div_ceil(instances)]);
    }

    pub fn normals(&self, pass: &mut wgpu::ComputePass, passes: &Passes, sizes: &Sizes) {
        if let (Some(kind), Some(group)) = (&passes.normals, &self.groups.normals) {
            kind.dispatch(pass, group, 0, [sizes.garment.div_ceil(64), self.count.div_ceil(4)]);
        }
    }
}
