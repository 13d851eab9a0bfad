//! Point caches (`.pc2`): what Blender, 3ds Max, Maya and Houdini play back on a mesh of the same vertices.
//!
//! Layout, little-endian: `POINTCACHE2\0`, version 1 (i32), points (i32), first frame (f32), sampling rate
//! in frames (f32), number of samples (i32), then x, y, z (f32) of every point, sample after sample. The
//! order of the points is that of the partner OBJ, which [`Pc2Writer`] writes beside the cache.

use super::{Partial, obj};
use crate::{Error, Mesh, Result};
use glam::Vec3;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Where the number of samples stands in the header.
const COUNT_AT: u64 = 28;

/// Writes a cache frame by frame; nothing but the current frame is held in memory. Without
/// [`Pc2Writer::finish`] no file appears.
pub struct Pc2Writer {
    file: Partial,
    points: usize,
    samples: usize,
    buffer: Vec<u8>,
}

impl Pc2Writer {
    /// Begins a cache of `mesh` (its render form) and writes the partner OBJ, `path` with the extension
    /// `.obj`. `start` is the frame of the scene at which the first sample plays.
    pub fn new(path: impl AsRef<Path>, mesh: &Mesh, start: f32) -> Result<Self> {
        let path = path.as_ref();
        obj::write_mesh(partner(path), mesh)?;
        Self::without_partner(path, mesh.positions.len(), start, 1.0)
    }

    /// Begins a cache for a mesh that already has its file; `sampling` is frames of the scene per sample.
    pub fn without_partner(path: impl AsRef<Path>, points: usize, start: f32, sampling: f32) -> Result<Self> {
        let path = path.as_ref();
        let count =
            i32::try_from(points).map_err(|_| Error::Invalid(format!("{points} points are too many")))?;
        if !(start.is_finite() && sampling.is_finite() && sampling > 0.0) {
            return Err(Error::Invalid(format!(
                "a cache cannot start at {start} and step by {sampling} frames"
            )));
        }
        let mut file = Partial::create(path)?;
        let mut header = Vec::with_capacity(32);
        header.extend_from_slice(b"POINTCACHE2\0");
        header.extend_from_slice(&1i32.to_le_bytes());
        header.extend_from_slice(&count.to_le_bytes());
        header.extend_from_slice(&start.to_le_bytes());
        header.extend_from_slice(&sampling.to_le_bytes());
        // The number of samples is only known at the end.
        header.extend_from_slice(&0i32.to_le_bytes());
        file.write_all(&header)?;
        Ok(Self { file, points, samples: 0, buffer: Vec::with_capacity(12 * points) })
    }

    /// Appends a frame, in the order of the partner's vertices.
    pub fn push(&mut self, positions: &[Vec3]) -> Result<()> {
        check_frame(self.file.path(), self.samples, positions, self.points)?;
        self.buffer.clear();
        for x in positions.iter().flat_map(|p| p.to_array()) {
            self.buffer.extend_from_slice(&x.to_le_bytes());
        }
        self.file.write_all(&self.buffer)?;
        self.samples += 1;
        Ok(())
    }

    /// Completes the file and puts it in place.
    pub fn finish(mut self) -> Result<()> {
        let path = self.file.path().to_path_buf();
        let samples = i32::try_from(self.samples)
            .map_err(|_| Error::Invalid(format!("{} samples are too many for a cache", self.samples)))?;
        let patch = |file: &mut std::fs::File| {
            file.seek(SeekFrom::Start(COUNT_AT))?;
            file.write_all(&samples.to_le_bytes())
        };
        self.file.with_file(patch).map_err(|e| Error::io(path, e))?;
        self.file.commit()
    }
}

/// Writes a whole cache and its partner OBJ. A cache has no frames per second of its own: it steps with the
/// scene, so `fps` of the frames and `scene_fps` decide how many frames of the scene a sample lasts.
pub fn write_pc2<'a>(
    path: impl AsRef<Path>,
    mesh: &Mesh,
    frames: impl IntoIterator<Item = &'a [Vec3]>,
    fps: f64,
    scene_fps: f64,
    start: f32,
) -> Result<()> {
    let path = path.as_ref();
    obj::write_mesh(partner(path), mesh)?;
    let mut writer = Pc2Writer::without_partner(path, mesh.positions.len(), start, (scene_fps / fps) as f32)?;
    for frame in frames {
        writer.push(frame)?;
    }
    writer.finish()
}

/// The OBJ file that a cache belongs to.
pub fn partner(path: &Path) -> PathBuf {
    path.with_extension("obj")
}

/// As many points as there should be, all of them finite.
pub(super) fn check_frame(path: &Path, frame: usize, positions: &[Vec3], points: usize) -> Result<()> {
    if positions.len() != points {
        return Err(Error::Invalid(format!(
            "{}: frame {frame} has {} points, the mesh has {points}",
            path.display(),
            positions.len()
        )));
    }
    match positions.iter().position(|p| !p.is_finite()) {
        Some(v) => {
            Err(Error::Invalid(format!("{}: frame {frame}, vertex {v} is not finite", path.display())))
        }
        None => Ok(()),
    }
}
