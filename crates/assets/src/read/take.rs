//! Takes from safetensors files.

use crate::write::take::{FORMAT, VERSION};
use crate::{Error, FrameReport, Provenance, Result, RootFrame, Take, Verdict};
use glam::{Affine3A, DVec3, Vec3};
use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use toile_model::tensors::TensorReader;

impl Take {
    /// Reads a take and checks shapes, indices and that every number is finite.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = toile_model::disk::read(path).map_err(|e| Error::io(path, e))?;
        let mut file = TensorReader::open(path, &bytes, FORMAT, VERSION)?;
        let [frames, vertices, three] = file.shape("positions");
        let [triangles, _] = file.shape("triangles");
        let [_, joints, _] = file.shape("bones");
        let [draped, _] = file.shape("draped");
        if draped != 0 && draped != vertices {
            file.fault(format!("array `draped` has {draped} vertices, `positions` {vertices}"));
        }
        if three != 3 || frames == 0 || vertices == 0 {
            file.fault(format!("array `positions` is {frames} × {vertices} × {three}: nothing to use"));
        }
        let fps: f64 = file.parsed("fps");
        if !(fps.is_finite() && fps > 0.0) {
            file.fault(format!("{fps} frames per second"));
        }
        let stop_frame = file.text("stop_frame").and_then(|s| s.parse().ok());
        let verdict = json(&mut file, "verdict");
        let provenance = json(&mut file, "provenance");
        let notes = file.text("notes").and_then(|s| serde_json::from_str(s).ok()).unwrap_or_default();
        let take = Self {
            clip: file.text("clip").unwrap_or_default().to_string(),
            fps,
            triangles: file.indices("triangles", &[triangles, 3], vertices).as_chunks::<3>().0.to_vec(),
            positions: points(file.f32s("positions", &[frames, vertices, 3])),
            vertices,
            bones: file
                .f32s("bones", &[frames, joints, 12])
                .as_chunks::<12>()
                .0
                .iter()
                .map(Affine3A::from_cols_array)
                .collect(),
            joints,
            draped: points(file.f32s("draped", &[draped, 3])),
            roots: file
                .f64s("roots", &[frames, 4])
                .as_chunks::<4>()
                .0
                .iter()
                .map(|r| RootFrame { position: DVec3::new(r[0], r[1], r[2]), heading: r[3] })
                .collect(),
            reports: file
                .f32s("reports", &[frames, 5])
                .as_chunks::<5>()
                .0
                .iter()
                .map(|r| FrameReport {
                    ms: r[0],
                    substeps: r[1] as u32,
                    retries: r[2] as u32,
                    max_stretch_percent: r[3],
                    deepest_mm: r[4],
                })
                .collect(),
            stop_frame,
            verdict,
            provenance,
            notes,
        };
        Ok(file.finish(take)?)
    }
}

/// A text entry of JSON that may be missing; a fault where it is there and not understood.
fn json<T: serde::de::DeserializeOwned>(file: &mut TensorReader<'_>, key: &str) -> Option<T> {
    let parsed = serde_json::from_str(file.text(key)?);
    parsed.map_err(|e| file.fault(format!("metadata `{key}` is not understood: {e}"))).ok()
}

/// What a take's file says of itself before its arrays.
#[derive(Clone, Debug, PartialEq)]
pub struct TakeHead {
    /// The motion's name.
    pub clip: String,
    /// Frame at which the motion was frozen, for stop takes.
    pub stop_frame: Option<usize>,
    /// Whether it is true; `None` where nobody looked.
    pub verdict: Option<Verdict>,
    /// What it was made from.
    pub provenance: Option<Provenance>,
}

impl TakeHead {
    /// Reads the head of a file and nothing else of it: takes are megabytes, and there are hundreds.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        #[derive(serde::Deserialize)]
        struct Header {
            #[serde(rename = "__metadata__")]
            texts: HashMap<String, String>,
        }
        let not_ours = || Error::bad(path, "header", format!("this is not a {FORMAT} file"));
        let mut file = std::fs::File::open(path).map_err(|e| Error::io(path, e))?;
        let mut length = [0; 8];
        file.read_exact(&mut length).map_err(|_| not_ours())?;
        let length = u64::from_le_bytes(length).min(MOST_HEADER);
        let mut header = Vec::new();
        file.take(length).read_to_end(&mut header).map_err(|e| Error::io(path, e))?;
        let Header { texts } = serde_json::from_slice(&header).map_err(|_| not_ours())?;
        if texts.get("format").map(String::as_str) != Some(FORMAT) {
            return Err(not_ours());
        }
        let json = |key: &str| texts.get(key).map(String::as_str);
        Ok(Self {
            clip: texts.get("clip").cloned().unwrap_or_default(),
            stop_frame: json("stop_frame").and_then(|s| s.parse().ok()),
            verdict: json("verdict").and_then(|s| serde_json::from_str(s).ok()),
            provenance: json("provenance").and_then(|s| serde_json::from_str(s).ok()),
        })
    }
}

/// Safetensors allows no longer headers, bytes.
const MOST_HEADER: u64 = 100_000_000;

fn points(numbers: Vec<f32>) -> Vec<Vec3> {
    numbers.as_chunks::<3>().0.iter().map(|p| Vec3::from_array(*p)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Conditions, Fingerprint};

    fn small() -> Take {
        Take {
            clip: "walk".into(),
            fps: 30.0,
            triangles: vec![[0, 1, 2]],
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::X, Vec3::Y],
            vertices: 3,
            bones: vec![Affine3A::IDENTITY, Affine3A::from_translation(Vec3::X)],
            joints: 1,
            roots: vec![RootFrame { position: DVec3::ZERO, heading: 0.1 }; 2],
            reports: vec![FrameReport { ms: 1.0, substeps: 4, ..FrameReport::default() }; 2],
            stop_frame: Some(1),
            verdict: Some(Verdict { held_back_frames: 3, ..Verdict::default() }),
            provenance: Some(Provenance {
                body: Fingerprint(1),
                garment: Fingerprint(2),
                fabric: Fingerprint(3),
                solver: Fingerprint(4),
                clip: Fingerprint(u64::MAX),
                conditions: Conditions { wind: [0.0, 0.1, -2.5], rate: 60.0, ..Conditions::default() },
            }),
            draped: vec![Vec3::ONE; 3],
            notes: vec![("fabric".into(), "cotton".into())],
        }
    }

    #[test]
    fn a_take_survives_its_file() {
        let dir = std::env::temp_dir().join(format!("toile-take-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let path = dir.join("a.take");
        small().write(&path).unwrap();
        assert_eq!(Take::read(&path).unwrap(), small());
        let head = TakeHead::read(&path).unwrap();
        assert_eq!((head.clip.as_str(), head.stop_frame), ("walk", Some(1)));
        assert_eq!((head.verdict, head.provenance), (small().verdict, small().provenance));
        std::fs::write(&path, [255; 40]).unwrap();
        assert!(TakeHead::read(&path).is_err());
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn every_fault_of_a_take_is_named_at_once() {
        let dir = std::env::temp_dir().join(format!("toile-take-bad-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let path = dir.join("a.take");
        let mut take = small();
        take.positions[4].y = f32::NAN;
        take.triangles[0][2] = 7;
        take.write(&path).unwrap();
        let fault = Take::read(&path).unwrap_err().to_string();
        assert!(fault.contains("positions") && fault.contains("entry 13"), "{fault}");
        assert!(fault.contains("triangles") && fault.contains('7'), "{fault}");
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
