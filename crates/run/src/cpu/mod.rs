//! The crowd on the processor: bones in, world-space vertices out, the same bits on any number of threads.
//!
//! `crowd` is what is called, `packed` a model laid out for the kernels, `shard` the state of some instances, `kernel` the
//! arithmetic; what does the same on a device has the same name in `gpu`.

pub(crate) mod crowd;
pub(crate) mod kernel;
pub(crate) mod packed;
pub(crate) mod pool;
pub(crate) mod shard;
