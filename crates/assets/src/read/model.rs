//! Models from `.toile` files. A file without a certificate that holds is refused.

use crate::tensors::TensorReader;
use crate::write::model::{FORMAT, VERSION};
use crate::{Certificate, Error, HipLine, InputSet, Model, ModelKind, Result};
use glam::Vec3;
use std::path::Path;

/// More history than anyone trains; a file that claims more is damaged.
const MAX_ORDER: usize = 5;

impl Model {
    /// Reads a model, checks shapes, indices, finite numbers, and that its certificate holds.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
        Self::from_bytes(path, &bytes)
    }

    /// As [`Model::read`], from memory; `path` is only for messages.
    pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Self> {
        let mut file = TensorReader::open(path, bytes, FORMAT, VERSION)?;
        let [vertices, _] = file.shape("cloth_mean");
        let [_, d] = file.shape("cloth_basis");
        let [m, entries] = file.shape("body_from_bones");
        let [triangles, _] = file.shape("triangles");
        let kind = match file.text("kind") {
            Some("a") => ModelKind::A,
            Some("b") => ModelKind::B,
            Some("c") => ModelKind::C,
            other => {
                let what = format!("metadata `kind` is {other:?}, not a, b or c");
                file.fault(what);
                ModelKind::A
            }
        };
        let order: usize = file.parsed("order");
        if order > MAX_ORDER || d == 0 || m == 0 || entries % 12 != 0 || vertices == 0 {
            file.fault(format!("order {order}, {d} cloth and {m} body dims, {entries} bone entries"));
            return Err(file.into_error());
        }
        let memory = order * d;
        let metas = if kind == ModelKind::C { order } else { 0 };
        let split = |stack: Vec<f32>, each: usize| stack.chunks_exact(each).map(<[f32]>::to_vec).collect();
        let model = Self {
            name: file.text("name").unwrap_or_default().to_string(),
            kind,
            order,
            fps: file.parsed("fps"),
            vertices,
            triangles: file.indices("triangles", &[triangles, 3], vertices).as_chunks::<3>().0.to_vec(),
            cloth_dims: d,
            body_dims: m,
            joints: entries / 12,
            cloth_mean: file
                .f32s("cloth_mean", &[vertices, 3])
                .as_chunks::<3>()
                .0
                .iter()
                .map(|p| Vec3::from_array(*p))
                .collect(),
            cloth_basis: file.f32s("cloth_basis", &[3 * vertices, d]),
            bones_mean: file.f32s("bones_mean", &[entries]),
            body_from_bones: file.f32s("body_from_bones", &[m, entries]),
            a: file.f32s("a", &[d, m]),
            b: split(file.f32s("b", &[order, d, d]), d * d),
            c: split(file.f32s("c", &[metas, d, 5]), d * 5),
            bias: file.f32s("bias", &[d]),
            a0: file.f32s("a0", &[d, m]),
            bias0: file.f32s("bias0", &[d]),
            hips: hips(&mut file, entries / 12),
            inputs: InputSet {
                body_min: file.f32s("body_min", &[m]),
                body_max: file.f32s("body_max", &[m]),
                max_horizontal_m: file.parsed("max_horizontal_m"),
                max_vertical_m: file.parsed("max_vertical_m"),
                max_turn: file.parsed("max_turn"),
            },
            certificate: Certificate {
                rho: file.parsed("rho"),
                gamma: file.parsed("gamma"),
                p: file.f64s("certificate_p", &[memory, memory]),
                travel_bound_m: file.f32s("travel_bound_m", &[vertices]),
            },
            notes: file.text("notes").and_then(|s| serde_json::from_str(s).ok()).unwrap_or_default(),
        };
        if !(model.fps.is_finite() && model.fps > 0.0) {
            file.fault(format!("{} frames per second", model.fps));
        }
        let i = &model.inputs;
        let limits = [i.max_horizontal_m, i.max_vertical_m, i.max_turn];
        if limits.iter().any(|l| !l.is_finite() || *l < 0.0)
            || i.body_min.iter().zip(&i.body_max).any(|(lo, hi)| lo > hi)
        {
            file.fault("the input set is empty or not finite".into());
        }
        if file.sound()
            && let Err(what) = model.verify_certificate()
        {
            file.fault(what);
        }
        file.finish(model)
    }
}

/// The hip line, which older files do not have.
fn hips(file: &mut TensorReader, joints: usize) -> Option<HipLine> {
    let text = file.text("hips")?;
    let found = serde_json::from_str::<([u32; 3], [[f32; 3]; 3])>(text).ok();
    let sound = |(j, bind): &([u32; 3], [[f32; 3]; 3])| {
        j.iter().all(|j| (*j as usize) < joints) && bind.iter().flatten().all(|v| v.is_finite())
    };
    match found.filter(sound) {
        Some((joints, bind)) => Some(HipLine { joints, bind: bind.map(Vec3::from_array) }),
        None => {
            let what = format!("metadata `hips`: `{text}` does not name three of the {joints} joints");
            file.fault(what);
            None
        }
    }
}
