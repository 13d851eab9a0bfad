//! Files out: written beside, synced, renamed, so that a crash leaves the old file or the new one.

pub mod bvh;
pub mod glb;
pub mod model;
pub mod obj;
mod partial;
pub mod pc2;
pub mod take;
pub mod usd;

pub use partial::Partial;

use crate::{Error, Result};
use std::io::Write;
use std::path::Path;

/// Writes `bytes` to `path` all or nothing.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.partial", std::process::id()));
    let partial = path.with_file_name(name);
    let write = || {
        let mut file = std::fs::File::create(&partial)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&partial, path)
    };
    write().map_err(|e| {
        let _ = std::fs::remove_file(&partial);
        Error::io(path, e)
    })
}
