//! Databases as `.toile` files of their own kind.

use super::{Cubature, Database, Hang, Site};
use crate::read::{hips, points, skin};
use crate::tensors::{TensorReader, TensorWriter};
use crate::write::{garment_weights, hips as write_hips};
use crate::{Attachment, Error, Result};
use std::path::Path;

/// What a database's file calls itself.
const FORMAT: &str = "toile-adaptive";
/// The newest layout.
const VERSION: u32 = 1;

impl Database {
    /// Writes the database, all or nothing. Array names are the field names of [`Database`] and [`Site`].
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        let (n, k, entries) = (self.vertices(), self.pose_dims(), self.bones_mean.len());
        let mut file = TensorWriter::default();
        file.text("format", FORMAT);
        file.text("version", VERSION);
        file.text("name", &self.name);
        file.text("fps", self.fps);
        write_hips(&mut file, &self.hips);
        file.text("notes", serde_json::to_string(&self.notes).unwrap_or_default());
        file.u32s("triangles", &[self.triangles.len(), 3], self.triangles.iter().flatten().copied());
        garment_weights(&mut file, &self.attachment);
        file.f32s("bones_mean", &[entries], self.bones_mean.iter().copied());
        file.f32s("pose_from_bones", &[k, entries], self.pose_from_bones.iter().copied());
        let sites = self.sites.len();
        file.f32s("site_place", &[sites, k], self.sites.iter().flat_map(|s| s.place.iter().copied()));
        file.u32s("site_vectors", &[sites], self.sites.iter().map(|s| s.significance.len() as u32));
        file.u32s("site_frames", &[sites], self.sites.iter().map(|s| s.frames as u32));
        let count = self.vector_count();
        let significance = self.sites.iter().flat_map(|s| s.significance.iter().copied());
        file.f32s("significance", &[count], significance);
        match self.half {
            true => file.f16s("vectors", &[count, 3 * n], self.vectors.iter().copied()),
            false => file.f32s("vectors", &[count, 3 * n], self.vectors.iter().copied()),
        }
        if let Some(c) = &self.cubature {
            file.u32s("cubature_triangles", &[c.triangles.len()], c.triangles.iter().copied());
            file.f32s("cubature_weights", &[c.weights.len()], c.weights.iter().copied());
        }
        if !self.reach.is_empty() {
            file.f32s("reach", &[self.reach.len()], self.reach.iter().copied());
        }
        if !self.hangs.is_empty() {
            let (hangs, most) =
                (self.hangs.len(), self.hangs.iter().map(|h| h.along.len()).max().unwrap_or(0));
            file.u32s("hang_site", &[hangs], self.hangs.iter().map(|h| h.site as u32));
            file.f32s("hang_place", &[hangs, k], self.hangs.iter().flat_map(|h| h.place.iter().copied()));
            let row =
                |h: &Hang| (0..most).map(|i| h.along.get(i).copied().unwrap_or(0.0)).collect::<Vec<_>>();
            file.f32s("hang_along", &[hangs, most], self.hangs.iter().flat_map(row));
        }
        file.sum_up();
        file.write(path.as_ref())
    }

    /// Reads a database and checks shapes, indices and that all numbers are finite.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = crate::disk::read(path).map_err(|e| Error::io(path, e))?;
        Self::parse(path, &bytes)
    }

    /// As [`Database::read`], from memory; faults name the file `memory`.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::parse(Path::new("memory"), bytes)
    }

    /// Whether a file says that it is a database: its model would be read by [`crate::Model::read`].
    pub fn is_one(bytes: &[u8]) -> bool {
        TensorReader::open(Path::new("memory"), bytes, FORMAT, u32::MAX).is_ok()
    }

    fn parse(path: &Path, bytes: &[u8]) -> Result<Self> {
        let mut file = TensorReader::open(path, bytes, FORMAT, VERSION)?;
        file.check_sum();
        let [n, _] = file.shape("attachment_rest");
        let [k, entries] = file.shape("pose_from_bones");
        let [triangles, _] = file.shape("triangles");
        let [count, numbers] = file.shape("vectors");
        if n == 0 || k == 0 || entries == 0 || entries % 12 != 0 || numbers != 3 * n {
            file.fault(format!(
                "{n} vertices, {k} dimensions of {entries} bone entries, basis vectors of {numbers} numbers"
            ));
            return Err(file.into_error());
        }
        let joints = entries / 12;
        let sites = sites(&mut file, k, count);
        let rest = points(file.f32s("attachment_rest", &[n, 3]));
        let weights = skin(&mut file, "attachment", n, joints);
        let hips = hips(&mut file, joints);
        if hips.is_none() {
            file.fault("metadata `hips` is missing".into());
        }
        let triangles = file.indices("triangles", &[triangles, 3], n).as_chunks::<3>().0.to_vec();
        let cubature = cubature(&mut file, triangles.len());
        let reach = if file.has("reach") { file.f32s("reach", &[n]) } else { Vec::new() };
        if reach.iter().any(|r| *r < 0.0) {
            file.fault("a reach is negative".into());
        }
        let hangs = hangs(&mut file, k, &sites);
        let half = !file.is_f32("vectors");
        let fps = file.parsed("fps");
        let database = Self {
            name: file.text("name").unwrap_or_default().to_string(),
            fps,
            joints,
            triangles,
            attachment: Attachment { skin: weights.unwrap_or_default(), rest },
            hips: hips.unwrap_or(crate::HipLine { joints: [0; 3], bind: [glam::Vec3::ZERO; 3] }),
            bones_mean: file.f32s("bones_mean", &[entries]),
            pose_from_bones: file.f32s("pose_from_bones", &[k, entries]),
            sites,
            vectors: file.f32s_or_f16s("vectors", &[count, numbers]),
            cubature,
            reach,
            hangs,
            half,
            notes: file.text("notes").and_then(|s| serde_json::from_str(s).ok()).unwrap_or_default(),
        };
        if !(fps.is_finite() && fps > 0.0) {
            file.fault(format!("{fps} frames per second"));
        }
        file.finish(database)
    }
}

/// The sites, whose vectors lie one after the other.
fn sites(file: &mut TensorReader<'_>, k: usize, count: usize) -> Vec<Site> {
    let [sites, _] = file.shape("site_place");
    let places = file.f32s("site_place", &[sites, k]);
    let vectors = file.u32s("site_vectors", &[sites]);
    let frames = file.u32s("site_frames", &[sites]);
    let significance = file.f32s("significance", &[count]);
    let sum: usize = vectors.iter().map(|v| *v as usize).sum();
    if sites == 0 || sum != count || count == 0 {
        file.fault(format!("{sites} sites with {sum} vectors, the file holds {count}"));
    }
    if !file.sound() {
        return Vec::new();
    }
    let mut first = 0;
    let site = |(i, place): (usize, &[f32])| {
        let own = first..first + vectors[i] as usize;
        first = own.end;
        let frames = frames[i] as usize;
        Site { place: place.to_vec(), first: own.start, significance: significance[own].to_vec(), frames }
    };
    places.chunks_exact(k).enumerate().map(site).collect()
}

/// Training frames, where the file has them.
fn hangs(file: &mut TensorReader<'_>, k: usize, sites: &[Site]) -> Vec<Hang> {
    if !file.has("hang_site") || sites.is_empty() {
        return Vec::new();
    }
    let [count, most] = file.shape("hang_along");
    let site = file.indices("hang_site", &[count], sites.len());
    let (place, along) = (file.f32s("hang_place", &[count, k]), file.f32s("hang_along", &[count, most]));
    if !file.sound() || most == 0 {
        return Vec::new();
    }
    let rows = place.chunks_exact(k).zip(along.chunks_exact(most)).zip(site);
    rows.map(|((place, along), site)| {
        let site = site as usize;
        let own = along[..sites[site].vectors().len().min(most)].to_vec();
        Hang { place: place.to_vec(), site, along: own }
    })
    .collect()
}

/// Sampled triangles, where the file has them.
fn cubature(file: &mut TensorReader<'_>, triangles: usize) -> Option<Cubature> {
    if !file.has("cubature_triangles") {
        return None;
    }
    let [count] = file.shape("cubature_triangles");
    let c = Cubature {
        triangles: file.indices("cubature_triangles", &[count], triangles),
        weights: file.f32s("cubature_weights", &[count]),
    };
    if c.triangles.windows(2).any(|w| w[0] >= w[1]) || c.weights.iter().any(|w| *w < 0.0) {
        file.fault("sampled triangles must ascend and their weights must not be negative".into());
    }
    Some(c)
}
