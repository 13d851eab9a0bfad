//! Animated meshes as USD text (`.usda`): opens in usdview, Blender, Houdini, Maya, Omniverse.

use super::Partial;
use super::pc2::check_frame;
use crate::{Error, Mesh, Result};
use glam::Vec3;
use std::fmt::Write;
use std::path::Path;

/// How a stage is written.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct UsdSettings {
    /// Name of the mesh; anything USD does not allow in names becomes `_`.
    pub name: String,
    /// Frames per second of the samples.
    pub fps: f64,
    /// Time code of the first sample.
    pub start: f64,
    /// Whether normals are written with every frame; twice the size, and smooth in every viewer.
    pub normals: bool,
}

impl UsdSettings {
    /// These with some of them changed.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

impl Default for UsdSettings {
    fn default() -> Self {
        Self { name: "garment".to_string(), fps: 30.0, start: 1.0, normals: false }
    }
}

/// Writes a stage frame by frame; without [`UsdWriter::finish`] no file appears. Points go straight to the
/// file; only times, extents and normals, which follow them, are kept.
pub struct UsdWriter<'a> {
    file: Partial,
    mesh: &'a Mesh,
    settings: UsdSettings,
    samples: usize,
    extents: String,
    /// Normals come after the points, so they wait in a file of their own.
    normals: Option<(Partial, std::path::PathBuf)>,
    text: String,
    end_code: f64,
}

impl<'a> UsdWriter<'a> {
    /// Begins a stage with one mesh. `frames` must be known ahead: USD says the end of time in its head.
    pub fn new(path: impl AsRef<Path>, mesh: &'a Mesh, frames: usize, settings: UsdSettings) -> Result<Self> {
        let path = path.as_ref();
        if !(settings.fps.is_finite() && settings.fps > 0.0 && settings.start.is_finite()) {
            return Err(Error::Invalid(format!(
                "a stage cannot have {} frames per second from {}",
                settings.fps, settings.start
            )));
        }
        let mut file = Partial::create(path)?;
        let normals = if settings.normals {
            let mut name = path.file_name().unwrap_or_default().to_os_string();
            name.push(".normals");
            let beside = path.with_file_name(name);
            Some((Partial::create(&beside)?, beside))
        } else {
            None
        };
        let end_code = settings.start + frames.saturating_sub(1) as f64;
        file.write_all(head(mesh, &settings, end_code).as_bytes())?;
        Ok(Self {
            file,
            mesh,
            settings,
            samples: 0,
            extents: String::new(),
            normals,
            text: String::new(),
            end_code,
        })
    }

    /// Appends a frame.
    pub fn push(&mut self, positions: &[Vec3]) -> Result<()> {
        check_frame(self.file.path(), self.samples, positions, self.mesh.positions.len())?;
        let code = self.settings.start + self.samples as f64;
        self.text.clear();
        let _ = write!(self.text, "            {code}: ");
        vectors(&mut self.text, positions);
        self.text.push_str(",\n");
        self.file.write_all(self.text.as_bytes())?;

        let (lo, hi) = positions
            .iter()
            .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(lo, hi), p| (lo.min(*p), hi.max(*p)));
        if !positions.is_empty() {
            let _ = write!(self.extents, "            {code}: ");
            vectors(&mut self.extents, &[lo, hi]);
            self.extents.push_str(",\n");
        }
        if let Some((file, _)) = &mut self.normals {
            self.text.clear();
            let _ = write!(self.text, "            {code}: ");
            vectors(&mut self.text, &toile_geometry::vertex_normals(positions, &self.mesh.triangles));
            self.text.push_str(",\n");
            file.write_all(self.text.as_bytes())?;
        }
        self.samples += 1;
        Ok(())
    }

    /// Completes the file and puts it in place.
    pub fn finish(mut self) -> Result<()> {
        let said = self.settings.start + self.samples.saturating_sub(1) as f64;
        if said != self.end_code {
            return Err(Error::Invalid(format!(
                "{}: {} frames were written, the stage was begun for {}",
                self.file.path().display(),
                self.samples,
                self.end_code - self.settings.start + 1.0
            )));
        }
        self.file.write_all(b"        }\n")?;
        if let Some((file, path)) = self.normals.take() {
            file.commit()?;
            self.file.write_all(
                b"        normal3f[] normals (\n            interpolation = \"vertex\"\n        )\n",
            )?;
            self.file.write_all(b"        normal3f[] normals.timeSamples = {\n")?;
            let copied = copy_into(&path, &mut self.file);
            let _ = std::fs::remove_file(&path);
            copied?;
            self.file.write_all(b"        }\n")?;
        }
        let tail =
            format!("        float3[] extent.timeSamples = {{\n{}        }}\n    }}\n}}\n", self.extents);
        self.file.write_all(tail.as_bytes())?;
        self.file.commit()
    }
}

/// Writes a whole stage.
pub fn write_usd(
    path: impl AsRef<Path>,
    mesh: &Mesh,
    frames: &[&[Vec3]],
    settings: UsdSettings,
) -> Result<()> {
    let path = path.as_ref();
    let mut writer = UsdWriter::new(path, mesh, frames.len(), settings)?;
    for frame in frames {
        writer.push(frame)?;
    }
    writer.finish()
}

fn copy_into(from: &Path, to: &mut Partial) -> Result<()> {
    use std::io::Read;
    let mut file = std::fs::File::open(from).map_err(|e| Error::io(from, e))?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        let n = file.read(&mut buffer).map_err(|e| Error::io(from, e))?;
        if n == 0 {
            return Ok(());
        }
        to.write_all(&buffer[..n])?;
    }
}

/// Everything up to the first sample.
fn head(mesh: &Mesh, settings: &UsdSettings, end_code: f64) -> String {
    let UsdSettings { fps, start, .. } = settings;
    let (name, mark) = (identifier(&settings.name), super::MARK);
    let mut out = format!(
        "#usda 1.0\n(\n    defaultPrim = \"{name}\"\n    doc = \"{mark}\"\n    metersPerUnit = 1\n    upAxis = \"Y\"\n    \
         startTimeCode = {start}\n    endTimeCode = {end_code}\n    timeCodesPerSecond = {fps}\n    \
         framesPerSecond = {fps}\n)\n\n\
         def Xform \"{name}\" (\n    kind = \"component\"\n)\n{{\n    def Mesh \"mesh\"\n    {{\n        \
         uniform token subdivisionScheme = \"none\"\n        uniform bool doubleSided = 1\n"
    );
    let list = |out: &mut String, items: &mut dyn Iterator<Item = u32>| {
        out.push('[');
        for (k, i) in items.enumerate() {
            let _ = write!(out, "{}{i}", if k > 0 { ", " } else { "" });
        }
        out.push_str("]\n");
    };
    out.push_str("        int[] faceVertexCounts = ");
    list(&mut out, &mut mesh.triangles.iter().map(|_| 3));
    out.push_str("        int[] faceVertexIndices = ");
    list(&mut out, &mut mesh.triangles.iter().flatten().copied());
    if !mesh.uvs.is_empty() {
        out.push_str("        texCoord2f[] primvars:st = [");
        for (k, uv) in mesh.uvs.iter().enumerate() {
            let _ = write!(out, "{}({}, {})", if k > 0 { ", " } else { "" }, uv.x, uv.y);
        }
        out.push_str("] (\n            interpolation = \"vertex\"\n        )\n");
    }
    out.push_str("        point3f[] points.timeSamples = {\n");
    out
}

fn vectors(out: &mut String, points: &[Vec3]) {
    out.push('[');
    for (k, p) in points.iter().enumerate() {
        let _ = write!(out, "{}({}, {}, {})", if k > 0 { ", " } else { "" }, p.x, p.y, p.z);
    }
    out.push(']');
}

/// A name as USD allows it: letters, digits and `_`, no digit first.
fn identifier(name: &str) -> String {
    let mut out: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if out.chars().next().is_none_or(|c| c.is_ascii_digit()) {
        out.insert(0, '_');
    }
    out
}
