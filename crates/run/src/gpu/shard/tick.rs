//! The latent step: body coefficients, roots, and what follows from them.

use super::Chunk;
use super::correct::Correct;
use crate::gpu::kernel::passes::Passes;

impl Chunk {
    pub fn features(&self, pass: &mut wgpu::ComputePass, passes: &Passes) {
        passes.features.dispatch(pass, &self.groups.features, 0, passes.layouts.features.groups(self.room));
    }

    pub fn roots(&self, pass: &mut wgpu::ComputePass, passes: &Passes, slot: u32, is_tick: bool) {
        let [tick, wait] = &self.groups.roots;
        let (kind, group) = if is_tick { (&passes.tick, tick) } else { (&passes.wait, wait) };
        kind.dispatch(pass, group, slot, [self.count.div_ceil(64), 1]);
    }

    /// The latent step, or the order-0 one for those who begin.
    pub fn latent(&self, pass: &mut wgpu::ComputePass, passes: &Passes, slot: u32, starts: bool) {
        let (kind, group, layout) = if starts {
            (&passes.start, &self.groups.start, &passes.layouts.start)
        } else {
            (&passes.latent, &self.groups.latent, &passes.layouts.latent)
        };
        kind.dispatch(pass, group, slot, layout.groups(self.room));
    }

    /// The state of a model D.
    pub fn correct(&self, pass: &mut wgpu::ComputePass, correct: &Correct, slot: u32) {
        if let Some(corrected) = &self.corrected {
            corrected.tick(pass, correct, slot, self.room);
        }
    }
}
