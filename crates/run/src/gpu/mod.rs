//! The crowd on a graphics card: bones in, world-space vertices out, and nothing in between leaves the device.
//!
//! A step is four passes: body coefficients from bones, what the root did, the latent step, and the vertices with
//! their place in the world; normals where wanted. WGSL lies beside the Rust that calls it. [`Gpu::open`] finds an
//! adapter, [`GpuCrowd`] has the same calls and the same latent clock as [`crate::Crowd`], [`GpuCrowd::chunks`] are
//! the buffers to draw from.

mod chunk;
mod correct;
mod crowd;
mod device;
mod floor;
mod hang;
mod kernel;
mod packed;
mod passes;
mod product;
mod shader;
mod timing;

pub use chunk::{PosedRow, PosedRows};
pub use crowd::{Chunk as GpuChunk, GpuCrowd, GpuSettings};
pub use device::{Ask, Gpu, MatrixUnit};
pub use floor::Floors;
pub use kernel::{Kernel, Tile, Units};
pub use timing::Stage;
/// The graphics interface that devices and buffers are of.
pub use wgpu;
