//! Files out: written beside, synced, renamed, so that a crash leaves the old file or the new one.

pub mod abc;
pub mod bvh;
pub mod glb;
pub mod obj;
mod ogawa;
mod partial;
pub mod pc2;
pub mod take;
pub mod usd;

pub use partial::Partial;

use crate::Result;
use std::path::Path;

/// What files say that have room for it, so that what wrote them is known before they are overwritten.
pub const MARK: &str = "made by toile";

/// Writes `bytes` to `path` all or nothing.
pub fn write_atomically(path: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
    let path = path.as_ref();
    Ok(toile_model::write_atomically(path, bytes)?)
}
