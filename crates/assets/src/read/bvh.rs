//! Motion from BVH files.

use super::Loaded;
use crate::{Error, Motion, Result};
use std::path::Path;

/// Reads a clip. `metres_per_unit` is guessed from the skeleton's height when not given, and said.
pub fn read_motion(path: &Path, metres_per_unit: Option<f64>) -> Result<Loaded<Motion>> {
    let _ = metres_per_unit;
    Err(Error::bad(path, "start", "BVH is not read yet"))
}
