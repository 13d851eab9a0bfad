//! Files out: written beside, synced, renamed, so that a crash leaves the old file or the new one.

pub mod bvh;
pub mod glb;
pub mod obj;
mod partial;
pub mod pc2;
pub mod take;
pub mod usd;

pub use partial::Partial;

use crate::Result;
use std::path::Path;

/// Writes `bytes` to `path` all or nothing.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    Ok(toile_model::write_atomically(path, bytes)?)
}
