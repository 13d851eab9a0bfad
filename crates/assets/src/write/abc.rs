//! Animated meshes as Alembic (`.abc`): opens in Unreal, Houdini, Maya, Blender, Cinema 4D.
//!
//! One transform without operations, and under it one mesh of fixed triangles whose points and box are sampled at a
//! constant rate from time 0. Faces run clockwise, as Alembic's do. Units and axes are ours: metres, +Y up.

use super::ogawa::{Ogawa, Place};
use super::pc2::check_frame;
use crate::{Error, Mesh, Result};
use glam::Vec3;
use std::path::Path;

/// The version of the library whose files these are like: 1.8.3. Readers refuse what is below 1.0.
const LIBRARY: i32 = 10803;

/// Types of numbers, as property headers number them.
#[derive(Clone, Copy)]
enum Pod {
    Bool = 0,
    I32 = 6,
    F32 = 10,
    F64 = 11,
}

/// Writes an Alembic file frame by frame; nothing but the current frame is held in memory. Without
/// [`AbcWriter::finish`] no file appears.
pub struct AbcWriter<'a> {
    file: Ogawa,
    mesh: &'a Mesh,
    name: String,
    fps: f64,
    points: Vec<Place>,
    boxes: Vec<Place>,
    buffer: Vec<u8>,
}

impl<'a> AbcWriter<'a> {
    /// Begins a file with one mesh at `fps` frames per second. `name` is that of the object; a `/` in it becomes `_`.
    pub fn new(path: impl AsRef<Path>, mesh: &'a Mesh, name: &str, fps: f64) -> Result<Self> {
        if !(fps.is_finite() && fps > 0.0) {
            return Err(Error::Invalid(format!("an Alembic file cannot have {fps} frames per second")));
        }
        let name = if name.is_empty() { "garment".into() } else { name.replace('/', "_") };
        let file = Ogawa::create(path.as_ref())?;
        Ok(Self { file, mesh, name, fps, points: Vec::new(), boxes: Vec::new(), buffer: Vec::new() })
    }

    /// Appends a frame.
    pub fn push(&mut self, positions: &[Vec3]) -> Result<()> {
        check_frame(self.file.path(), self.points.len(), positions, self.mesh.positions.len())?;
        self.buffer.clear();
        let (mut lo, mut hi) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for p in positions {
            (lo, hi) = (lo.min(*p), hi.max(*p));
            self.buffer.extend(p.to_array().into_iter().flat_map(f32::to_le_bytes));
        }
        self.points.push(sample(&mut self.file, &self.buffer)?);
        if positions.is_empty() {
            (lo, hi) = (Vec3::ZERO, Vec3::ZERO);
        }
        let corners: Vec<u8> =
            [lo, hi].into_iter().flat_map(|p| p.as_dvec3().to_array()).flat_map(f64::to_le_bytes).collect();
        self.boxes.push(sample(&mut self.file, &corners)?);
        Ok(())
    }

    /// Completes the file and puts it in place.
    pub fn finish(mut self) -> Result<()> {
        if self.points.is_empty() {
            let what = format!("{}: an Alembic file wants a frame", self.file.path().display());
            return Err(Error::Invalid(what));
        }
        let frames = self.points.len();
        let mut names = MetaNames::default();
        let mesh = self.geometry(&mut names)?;
        let properties = compound(&mut self.file, &mut names, &[mesh])?;
        let about = "schema=AbcGeom_PolyMesh_v1;schemaBaseType=AbcGeom_GeomBase_v1;schemaObjTitle=AbcGeom_PolyMesh_v1:.geom";
        let shape = object(&mut self.file, properties, &[])?;
        let shape = Child { place: shape, name: format!("{}Shape", self.name), meta: names.number(about) };

        let inherits = sample(&mut self.file, &[1])?;
        let inherits = Property::scalar(".inherits", (Pod::Bool, 1), "", vec![inherits], 0);
        let inner = compound(&mut self.file, &mut names, &[inherits])?;
        let transform = Property::compound(".xform", "schema=AbcGeom_Xform_v3", inner);
        let properties = compound(&mut self.file, &mut names, &[transform])?;
        let about = "schema=AbcGeom_Xform_v3;schemaObjTitle=AbcGeom_Xform_v3:.xform";
        let node = object(&mut self.file, properties, &[shape])?;
        let node = Child { place: node, name: self.name.clone(), meta: names.number(about) };

        let properties = compound(&mut self.file, &mut names, &[])?;
        let top = object(&mut self.file, properties, &[node])?;
        let root = [
            self.file.block(&[&0i32.to_le_bytes()])?,
            self.file.block(&[&LIBRARY.to_le_bytes()])?,
            top,
            self.file.block(&[self.about().as_bytes()])?,
            self.file.block(&[&times(1.0, 1), &times(1.0 / self.fps, frames)])?,
            self.file.block(&[&names.bytes()])?,
        ];
        let root = self.file.group(&root)?;
        self.file.finish(root)
    }

    /// Whose file it is, and the frames of its time.
    fn about(&self) -> String {
        let version = env!("CARGO_PKG_VERSION");
        format!(
            "_ai_AlembicVersion=Alembic 1.8.3;_ai_Application={} {version};FramesPerTimeUnit={}",
            super::MARK,
            self.fps
        )
    }

    /// The mesh's schema: its points and boxes as they were pushed, and what does not change.
    fn geometry(&mut self, names: &mut MetaNames) -> Result<Property> {
        let reversed = self.mesh.triangles.iter().flat_map(|[a, b, c]| [*c, *b, *a]);
        let faces: Vec<u8> = reversed.flat_map(|i| (i as i32).to_le_bytes()).collect();
        let counts: Vec<u8> = self.mesh.triangles.iter().flat_map(|_| 3i32.to_le_bytes()).collect();
        let (points, boxes) = (std::mem::take(&mut self.points), std::mem::take(&mut self.boxes));
        let mut all = vec![
            Property::scalar(".selfBnds", (Pod::F64, 6), "interpretation=box", boxes, 1),
            Property::array("P", (Pod::F32, 3), "geoScope=vtx;interpretation=point", points, 1),
            Property::array(".faceIndices", (Pod::I32, 1), "", vec![sample(&mut self.file, &faces)?], 0),
            Property::array(".faceCounts", (Pod::I32, 1), "", vec![sample(&mut self.file, &counts)?], 0),
        ];
        if self.mesh.uvs.len() == self.mesh.positions.len() && !self.mesh.uvs.is_empty() {
            let uvs: Vec<u8> =
                self.mesh.uvs.iter().flat_map(|uv| uv.to_array()).flat_map(f32::to_le_bytes).collect();
            let about = "geoScope=vtx;interpretation=vector;isGeomParam=true;podExtent=2;podName=float32_t";
            all.push(Property::array("uv", (Pod::F32, 2), about, vec![sample(&mut self.file, &uvs)?], 0));
        }
        let inner = compound(&mut self.file, names, &all)?;
        let about = "schema=AbcGeom_PolyMesh_v1;schemaBaseType=AbcGeom_GeomBase_v1";
        Ok(Property::compound(".geom", about, inner))
    }
}

/// Texts that tell what things are, each kept once and called by its number.
#[derive(Default)]
struct MetaNames(Vec<&'static str>);

impl MetaNames {
    /// 0 is no text.
    fn number(&mut self, text: &'static str) -> u8 {
        if text.is_empty() {
            return 0;
        }
        let known = self.0.iter().position(|t| *t == text).unwrap_or_else(|| {
            self.0.push(text);
            self.0.len() - 1
        });
        known as u8 + 1
    }

    fn bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|t| std::iter::once(t.len() as u8).chain(t.bytes())).collect()
    }
}

enum Kind {
    Compound(Place),
    Scalar(Vec<Place>),
    Array(Vec<Place>),
}

/// A property and where its samples stand.
struct Property {
    name: &'static str,
    kind: Kind,
    pod: (Pod, u32),
    meta: &'static str,
    /// Which sampling of time it has.
    time: u32,
}

impl Property {
    fn compound(name: &'static str, meta: &'static str, inner: Place) -> Self {
        Self { name, kind: Kind::Compound(inner), pod: (Pod::Bool, 0), meta, time: 0 }
    }

    fn scalar(
        name: &'static str,
        pod: (Pod, u32),
        meta: &'static str,
        samples: Vec<Place>,
        time: u32,
    ) -> Self {
        Self { name, kind: Kind::Scalar(samples), pod, meta, time }
    }

    fn array(
        name: &'static str,
        pod: (Pod, u32),
        meta: &'static str,
        samples: Vec<Place>,
        time: u32,
    ) -> Self {
        Self { name, kind: Kind::Array(samples), pod, meta, time }
    }

    fn write(&self, file: &mut Ogawa) -> Result<Place> {
        match &self.kind {
            Kind::Compound(inner) => Ok(*inner),
            Kind::Scalar(samples) => file.group(samples),
            // A row's length follows from its bytes, so its dimensions stay empty.
            Kind::Array(samples) => {
                let pairs: Vec<Place> = samples.iter().flat_map(|s| [*s, Place::NOTHING]).collect();
                file.group(&pairs)
            }
        }
    }

    /// Bits of the word: 0–1 kind, 2–3 width of the numbers that follow (2: four bytes), 4–7 type, 8 whether a sampling
    /// of time is named, 10 whether all samples have one length, 11 whether it is constant, 12–19 numbers an element,
    /// 20–27 number of its text.
    fn header(&self, names: &mut MetaNames) -> Vec<u8> {
        let mut info = 2 << 2 | u32::from(names.number(self.meta)) << 20;
        let mut numbers = Vec::new();
        let (kind, samples) = match &self.kind {
            Kind::Compound(_) => (0, None),
            Kind::Scalar(samples) => (1, Some(samples)),
            Kind::Array(samples) => (2, Some(samples)),
        };
        info |= kind;
        if let Some(samples) = samples {
            info |= (self.pod.0 as u32) << 4 | self.pod.1 << 12 | 1 << 10;
            info |= u32::from(samples.len() == 1) << 11 | u32::from(self.time != 0) << 8;
            numbers.push(samples.len() as u32);
            if self.time != 0 {
                numbers.push(self.time);
            }
        }
        numbers.insert(0, info);
        numbers.push(self.name.len() as u32);
        let mut bytes: Vec<u8> = numbers.into_iter().flat_map(u32::to_le_bytes).collect();
        bytes.extend(self.name.bytes());
        bytes
    }
}

/// A sample: sixteen bytes that tell it from others, then what it holds.
fn sample(file: &mut Ogawa, bytes: &[u8]) -> Result<Place> {
    // Readers share samples of the same key, so it is one of the contents; two chains of FNV-1a.
    let chain = |start: u64| {
        bytes.iter().fold(start, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3)).to_le_bytes()
    };
    let key = [chain(0xcbf2_9ce4_8422_2325), chain(bytes.len() as u64 ^ 0x9e37_79b9_7f4a_7c15)].concat();
    file.block(&[&key, bytes])
}

/// A compound property: its properties, then their headers.
fn compound(file: &mut Ogawa, names: &mut MetaNames, properties: &[Property]) -> Result<Place> {
    let mut children = Vec::new();
    let mut headers = Vec::new();
    for property in properties {
        children.push(property.write(file)?);
        headers.extend(property.header(names));
    }
    if !headers.is_empty() {
        children.push(file.block(&[&headers])?);
    }
    file.group(&children)
}

/// An object below another.
struct Child {
    place: Place,
    name: String,
    meta: u8,
}

/// An object: its properties, the objects below it, and their headers with two hashes that nobody has to have.
fn object(file: &mut Ogawa, properties: Place, below: &[Child]) -> Result<Place> {
    let mut headers = Vec::new();
    for child in below {
        headers.extend((child.name.len() as u32).to_le_bytes());
        headers.extend(child.name.bytes());
        headers.push(child.meta);
    }
    headers.extend([0; 32]);
    let mut children = vec![properties];
    children.extend(below.iter().map(|c| c.place));
    children.push(file.block(&[&headers])?);
    file.group(&children)
}

/// A sampling of time: the most samples it has, seconds between them, and that the first is at 0.
fn times(step: f64, samples: usize) -> Vec<u8> {
    let mut bytes = (samples as u32).to_le_bytes().to_vec();
    bytes.extend(step.to_le_bytes());
    bytes.extend(1u32.to_le_bytes());
    bytes.extend(0f64.to_le_bytes());
    bytes
}
