//! Clothes cut from flat panels.

use super::{Entry, unknown};
use crate::{Body, Garment, Result};

/// The garments there are.
pub fn list() -> Vec<Entry> {
    Vec::new()
}

/// A garment by name, cut for and placed around `body`.
pub fn garment(name: &str, body: &Body) -> Result<Garment> {
    let _ = body;
    Err(unknown("garment", name))
}
