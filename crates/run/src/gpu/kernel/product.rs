//! Products of one matrix with a row of every instance.

use crate::gpu::device::Gpu;
use crate::gpu::kernel::passes::{Bind, Pass};
use crate::gpu::packed::{TILE, upload};
use crate::gpu::shader::Constants;

/// Outputs of a tile.
const COLUMNS: usize = 64;

/// How rows of inputs become rows of outputs; both count four numbers as one.
#[derive(Clone, Copy)]
pub(in crate::gpu) struct Layout {
    inputs: u32,
    outputs: u32,
}

impl Layout {
    pub fn new(inputs: u32, outputs: u32) -> Self {
        Self { inputs: inputs.next_multiple_of(4), outputs }
    }

    fn tiles(&self) -> u32 {
        (4 * self.outputs).div_ceil(COLUMNS as u32)
    }

    /// Workgroups for a table of `room` rows.
    pub fn groups(&self, room: u32) -> [u32; 2] {
        [self.tiles(), room / TILE]
    }

    /// The matrix, `weight(output, input)`, in tiles of outputs and within a tile the inputs one after the other; both are
    /// counted with the gaps between their parts.
    pub fn weights(&self, gpu: &Gpu, label: &str, weight: impl Fn(usize, usize) -> f32) -> wgpu::Buffer {
        let (inputs, outputs) = (4 * self.inputs as usize, 4 * self.outputs as usize);
        let entry = |r: usize, k: usize| if r < outputs { weight(r, k) } else { 0.0 };
        let mut out = Vec::with_capacity(self.tiles() as usize * COLUMNS * inputs);
        for first in (0..self.tiles() as usize).map(|t| t * COLUMNS) {
            for k in 0..inputs {
                out.extend((first..first + COLUMNS).map(|r| entry(r, k)));
            }
        }
        upload(gpu, label, &out)
    }

    /// The pass. Its weights are the first binding after the step; `parts` say what inputs and outputs are.
    pub fn pass(&self, gpu: &Gpu, mut constants: Constants, parts: &[&str], binds: &[Bind]) -> Pass {
        constants.0.extend([("INPUTS", self.inputs), ("OUTPUTS", self.outputs)]);
        let binds: Vec<Bind> = [Bind::Read].iter().chain(binds).copied().collect();
        let parts: Vec<&str> = parts.iter().copied().chain([include_str!("product.wgsl")]).collect();
        Pass::new(gpu, "product", &constants.source(&parts), &binds)
    }
}
