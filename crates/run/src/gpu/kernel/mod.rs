//! Which way vertices are made; the passes before it are always 32-bit.

pub(in crate::gpu) mod passes;
pub(in crate::gpu) mod product;
pub(in crate::gpu) mod skin;

use crate::gpu::device::{Gpu, MatrixUnit};
use crate::gpu::packed::Sizes;

/// A workgroup's share of the product, where threads multiply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Instances of a workgroup: a multiple of 32, at most 256.
    pub instances: u32,
    /// Coefficients that go through workgroup memory at a time: 8 or 16.
    pub depth: u32,
}

/// A workgroup's share of the product, where matrix units multiply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Units {
    /// Subgroups of a workgroup.
    pub subgroups: u32,
    /// Blocks of instances that a subgroup keeps in registers.
    pub blocks: u32,
    /// Vertices that it makes at a time: 16 or 32, whose rows are whole matrices.
    pub vertices: u32,
    /// Coefficients, in matrices, that are multiplied once more with what rounding took; 0 for none.
    pub leading: u32,
}

/// How the vertices are made of latent vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// 32-bit throughout.
    Tiled(Tile),
    /// The basis in 16 bits, arithmetic in 32.
    Half(Tile),
    /// 16-bit products with 32-bit sums on matrix units; needs [`Gpu::units`].
    Cooperative(Units),
}

impl Kernel {
    /// 32-bit, in tiles that fit every device.
    pub const PORTABLE: Self = Self::Tiled(Tile { instances: 64, depth: 16 });

    /// The fastest that stays within half a millimetre.
    pub fn fastest(gpu: &Gpu) -> Self {
        match gpu.units {
            Some(_) => Self::Cooperative(Units { subgroups: 1, blocks: 1, vertices: 16, leading: 0 }),
            None => Self::PORTABLE,
        }
    }

    /// For reports.
    pub fn name(&self) -> String {
        match self {
            Self::Tiled(t) => format!("f32 {}x{}", t.instances, t.depth),
            Self::Half(t) => format!("f16-storage {}x{}", t.instances, t.depth),
            Self::Cooperative(u) => {
                format!("cooperative {}x{}x{}+{}", u.subgroups, u.blocks, u.vertices, u.leading)
            }
        }
    }

    /// Workgroups down the garment, and instances of one.
    pub(in crate::gpu) fn groups(&self, sizes: &Sizes, unit: Option<MatrixUnit>, instances: u32) -> [u32; 2] {
        match (self, unit) {
            (Self::Cooperative(units), Some(unit)) => {
                let (_, tiles) = sizes.unit_shape(*units, unit);
                [tiles.div_ceil(units.tiles_each(unit, tiles, instances)), units.instances(unit)]
            }
            (Self::Tiled(tile) | Self::Half(tile), _) => {
                [sizes.vertices.div_ceil(4 * tile.columns(sizes.vertices)), tile.instances]
            }
            (Self::Cooperative(_), None) => [0, 1],
        }
    }

    /// All that are worth measuring on a device.
    pub fn all(gpu: &Gpu) -> Vec<Self> {
        let room = gpu.device.limits().max_compute_workgroup_storage_size;
        let mut all = Vec::new();
        for (instances, depth) in [(64, 8), (64, 16), (128, 8), (128, 16)] {
            let tile = Tile { instances, depth };
            if tile.bytes(16) <= room {
                all.push(Self::Tiled(tile));
            }
        }
        all.push(Self::Half(Tile { instances: 64, depth: 16 }));
        if let Some(unit) = gpu.units {
            for (subgroups, blocks, vertices) in [(1, 1, 16), (1, 1, 32), (1, 2, 16), (2, 1, 16), (2, 1, 32)]
            {
                for leading in [0, 1] {
                    let units = Units { subgroups, blocks, vertices, leading };
                    if units.bytes(unit) <= room {
                        all.push(Self::Cooperative(units));
                    }
                }
            }
        }
        all
    }
}

impl Tile {
    /// Workgroup memory, with so many columns of threads.
    pub(in crate::gpu) fn bytes(&self, columns: u32) -> u32 {
        16 * self.depth * (3 * columns + self.instances / 4 + self.pad(columns))
    }

    /// Rows one longer than they must be meet fewer banks, where there is room for that.
    pub(in crate::gpu) fn pad(&self, columns: u32) -> u32 {
        u32::from(
            16 * self.depth * (3 * columns + self.instances / 4 + 1) <= 16_384
                || self.depth * self.instances > 1024,
        )
    }

    /// Columns of threads, each with four vertices, that waste the least of a garment.
    pub(in crate::gpu) fn columns(&self, vertices: u32) -> u32 {
        let waste = |c: &u32| (vertices.div_ceil(4 * c) * 4 * c, 16 - c);
        [16u32, 14, 12, 10].into_iter().min_by_key(waste).unwrap_or(16)
    }
}

impl Units {
    /// Workgroup memory.
    pub(in crate::gpu) fn bytes(&self, unit: MatrixUnit) -> u32 {
        4 * self.subgroups * self.blocks * unit.edge * (3 * self.vertices + 4)
    }

    /// Instances of a workgroup.
    pub(in crate::gpu) fn instances(&self, unit: MatrixUnit) -> u32 {
        self.subgroups * self.blocks * unit.edge
    }

    /// Tiles that a workgroup goes through: all, unless that leaves parts of a large device without work.
    pub(in crate::gpu) fn tiles_each(&self, unit: MatrixUnit, tiles: u32, instances: u32) -> u32 {
        const ENOUGH: u32 = 1024;
        let groups = instances.div_ceil(self.instances(unit)).max(1);
        tiles.div_ceil(ENOUGH.div_ceil(groups)).max(1)
    }
}
