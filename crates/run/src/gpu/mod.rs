//! The crowd on a graphics card: bones in, world-space vertices out, and nothing in between leaves the device.
//!
//! A step is four passes: body coefficients from bones, what the root did, the latent step, and the vertices with
//! their place in the world; normals where wanted. WGSL lies beside the Rust that calls it, and files that
//! do what one of `cpu` does have its name: `crowd` what is called, `packed` a model for the kernels, `shard` the state
//! of some instances, `kernel` the arithmetic. [`Gpu::open`] finds an
//! adapter, [`GpuCrowd`] has the same calls and the same latent clock as [`crate::Crowd`], [`GpuCrowd::chunks`] are
//! the buffers to draw from.

mod crowd;
mod device;
mod floor;
mod kernel;
mod packed;
mod shader;
mod shard;
mod timing;

pub use crowd::{Chunk as GpuChunk, GpuCrowd, GpuSettings};
pub use device::{Ask, Gpu, MatrixUnit};
pub use floor::Floors;
pub use kernel::{Kernel, Tile, Units};
pub use shard::{PosedRow, PosedRows};
pub use timing::Stage;
/// The graphics interface that devices and buffers are of.
pub use wgpu;
