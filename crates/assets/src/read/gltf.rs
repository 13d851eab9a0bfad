//! Bodies, motions and meshes from glTF 2.0 (`.gltf`, `.glb`, `.vrm`).

use super::Loaded;
use crate::{Body, Error, Mesh, Motion, Result};
use std::path::Path;

/// Reads a skinned character. `select` names a node or material when the file holds several.
pub fn read_body(path: &Path, select: Option<&str>) -> Result<Loaded<Body>> {
    let _ = select;
    Err(Error::bad(path, "start", "glTF is not read yet"))
}

/// Reads every animation of the skeleton that [`read_body`] would choose, sampled at `fps`.
pub fn read_motions(path: &Path, select: Option<&str>, fps: f64) -> Result<Loaded<Vec<Motion>>> {
    let _ = (select, fps);
    Err(Error::bad(path, "start", "glTF is not read yet"))
}

/// Reads a mesh in its bind pose, in world space, without its skin.
pub fn read_mesh(path: &Path, select: Option<&str>) -> Result<Loaded<Mesh>> {
    let _ = select;
    Err(Error::bad(path, "start", "glTF is not read yet"))
}
