//! Meshes to OBJ files, single or one per frame.

use super::write_atomically;
use crate::{Error, Garment, Mesh, Result};
use glam::Vec3;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Writes a mesh in its own vertex order, with texture coordinates where it has them.
pub fn write_mesh(path: impl AsRef<Path>, mesh: &Mesh) -> Result<()> {
    let path = path.as_ref();
    write_frame(path, mesh, &mesh.positions)
}

/// Writes a mesh with other positions.
pub fn write_frame(path: impl AsRef<Path>, mesh: &Mesh, positions: &[Vec3]) -> Result<()> {
    let path = path.as_ref();
    check(path, mesh, positions)?;
    write_atomically(path, text(mesh, positions).as_bytes())
}

/// Writes a mesh with one group per part; triangles of one part must not be torn apart in the mesh's order
/// for the groups to come out once each.
pub fn write_groups(
    path: impl AsRef<Path>,
    mesh: &Mesh,
    parts: &[(String, std::ops::Range<usize>)],
) -> Result<()> {
    let path = path.as_ref();
    check(path, mesh, &mesh.positions)?;
    let mut out = vertices(mesh, &mesh.positions);
    for (name, range) in parts {
        let triangles = mesh.triangles.get(range.clone()).ok_or_else(|| {
            Error::Invalid(format!("part `{name}` is triangles {range:?} of {}", mesh.triangles.len()))
        })?;
        let _ = writeln!(out, "g {}", name.replace(['\n', '\r'], " "));
        faces(&mut out, triangles, !mesh.uvs.is_empty());
    }
    write_atomically(path, out.as_bytes())
}

/// Writes a garment as it is drawn, with the materials its own file named.
pub fn write_garment(path: impl AsRef<Path>, garment: &Garment) -> Result<()> {
    let path = path.as_ref();
    let mesh = &garment.render;
    check(path, mesh, &mesh.positions)?;
    let mut material = vec![None; mesh.triangles.len()];
    for part in &garment.materials {
        part.triangles.iter().for_each(|&t| material[t as usize] = Some(part.name.as_str()));
    }
    let mut out = vertices(mesh, &mesh.positions);
    let mut now = None;
    for (tri, name) in mesh.triangles.iter().zip(material) {
        if name != now {
            let _ = writeln!(out, "usemtl {}", name.unwrap_or("none").replace(['\n', '\r'], " "));
            now = name;
        }
        faces(&mut out, std::slice::from_ref(tri), !mesh.uvs.is_empty());
    }
    write_atomically(path, out.as_bytes())
}

/// Frames as `name_0001.obj`, `name_0002.obj` and so on.
pub struct ObjSequence<'a> {
    mesh: &'a Mesh,
    path: PathBuf,
    next: u32,
}

impl<'a> ObjSequence<'a> {
    /// A sequence beside `path`: `cache/dress.obj` gives `cache/dress_0001.obj` first.
    pub fn new(path: impl AsRef<Path>, mesh: &'a Mesh) -> Self {
        let path = path.as_ref();
        Self { mesh, path: path.to_path_buf(), next: 1 }
    }

    /// Writes the next frame and says where.
    pub fn push(&mut self, positions: &[Vec3]) -> Result<PathBuf> {
        let path = numbered(&self.path, self.next);
        write_frame(&path, self.mesh, positions)?;
        self.next += 1;
        Ok(path)
    }
}

/// Where frame `number` of a sequence beside `path` stands; the first is 1.
pub fn numbered(path: &Path, number: u32) -> PathBuf {
    let stem = path.file_stem().map_or("frame".into(), |s| s.to_string_lossy());
    path.with_file_name(format!("{stem}_{number:04}.obj"))
}

fn check(path: &Path, mesh: &Mesh, positions: &[Vec3]) -> Result<()> {
    if positions.len() != mesh.positions.len() {
        return Err(Error::Invalid(format!(
            "{}: {} positions for a mesh of {} vertices",
            path.display(),
            positions.len(),
            mesh.positions.len()
        )));
    }
    match positions.iter().position(|p| !p.is_finite()) {
        Some(v) => Err(Error::Invalid(format!("{}: vertex {v} is not finite; not written", path.display()))),
        None => Ok(()),
    }
}

fn text(mesh: &Mesh, positions: &[Vec3]) -> String {
    let mut out = vertices(mesh, positions);
    faces(&mut out, &mesh.triangles, !mesh.uvs.is_empty());
    out
}

fn vertices(mesh: &Mesh, positions: &[Vec3]) -> String {
    let mut out = String::with_capacity(positions.len() * 40 + mesh.triangles.len() * 30);
    let _ = writeln!(out, "# {}; metres, +Y up", super::MARK);
    // The shortest text that reads back as the very same f32.
    for p in positions {
        let _ = writeln!(out, "v {} {} {}", p.x, p.y, p.z);
    }
    for uv in &mesh.uvs {
        let _ = writeln!(out, "vt {} {}", uv.x, uv.y);
    }
    out
}

fn faces(out: &mut String, triangles: &[[u32; 3]], with_uv: bool) {
    for tri in triangles {
        let [a, b, c] = tri.map(|i| i as u64 + 1);
        let _ =
            if with_uv { writeln!(out, "f {a}/{a} {b}/{b} {c}/{c}") } else { writeln!(out, "f {a} {b} {c}") };
    }
}
