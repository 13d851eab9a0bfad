//! Models from `.toile` files. A file without a certificate that holds is refused.

use crate::tensors::TensorReader;
use crate::write::{FORMAT, VERSION};
use crate::{
    ALONG, AROUND, Attachment, Certificate, Correction, Error, FABRIC_VALUES, Hearing, HipLine, InputSet,
    LimbTube, Model, ModelKind, NEIGHBOURS, ROOT_TERMS, Result, SURROUNDING_TERMS, Shield, Skin,
};
use glam::Vec3;
use std::path::Path;

/// More history than anyone trains; a file that claims more is damaged.
const MAX_ORDER: usize = 5;

impl Model {
    /// Reads a model, checks shapes, indices, finite numbers, and that its certificate holds.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = crate::disk::read(path).map_err(|e| Error::io(path, e))?;
        Self::parse(path, &bytes)
    }

    /// As [`Model::read`], from memory; faults name the file `memory`.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::parse(Path::new("memory"), bytes)
    }

    fn parse(path: &Path, bytes: &[u8]) -> Result<Self> {
        let mut file = TensorReader::open(path, bytes, FORMAT, VERSION)?;
        if file.text("version") == Some("1") {
            return Err(Error::bad(path, "header", "written by an early version; train the model again"));
        }
        let [vertices, _] = file.shape("cloth_mean");
        let [_, d] = file.shape("cloth_basis");
        let [m, entries] = file.shape("body_from_bones");
        let [triangles, _] = file.shape("triangles");
        let kind = kind(&mut file);
        let order: usize = file.parsed("order");
        if order > MAX_ORDER || d == 0 || m == 0 || entries % 12 != 0 || vertices == 0 {
            file.fault(format!("order {order}, {d} cloth and {m} body dims, {entries} bone entries"));
            return Err(file.into_error());
        }
        if file.text("version") != Some("2") {
            file.check_sum();
        }
        let memory = order * d;
        // What a model D has in place of the published matrices is its correction.
        let of_d = kind == ModelKind::D;
        let (rows, boxed, rated) = if of_d { (0, 0, 0) } else { (d, m, vertices) };
        let correction = of_d.then(|| correction(&mut file, d, m));
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
            cloth_mean: points(file.f32s("cloth_mean", &[vertices, 3])),
            cloth_basis: file.f32s("cloth_basis", &[3 * vertices, d]),
            bones_mean: file.f32s("bones_mean", &[entries]),
            body_from_bones: file.f32s("body_from_bones", &[m, entries]),
            a: file.f32s("a", &[rows, m]),
            b: split(file.f32s("b", &[order, d, d]), d * d),
            c: split(file.f32s("c", &[metas, d, 5]), d * 5),
            bias: file.f32s("bias", &[rows]),
            a0: file.f32s("a0", &[d, m]),
            bias0: file.f32s("bias0", &[d]),
            hips: hips(&mut file, entries / 12),
            inputs: inputs(&mut file, boxed, m),
            certificate: Certificate {
                rho: file.parsed("rho"),
                gamma: file.parsed("gamma"),
                p: file.f64s("certificate_p", &[memory, memory]),
                transient_gain: file.parsed("transient_gain"),
                travel_bound_m: file.f32s("travel_bound_m", &[vertices]),
                travel_bound_rate_m: file.f32s("travel_bound_rate_m", &[rated]),
                training_travel_m: file.f32s("training_travel_m", &[vertices]),
            },
            correction,
            attachment: attachment(&mut file, vertices, entries / 12),
            shield: shield(&mut file, vertices, entries / 12),
            hidden_triangles: hidden_triangles(&mut file),
            notes: file.text("notes").and_then(|s| serde_json::from_str(s).ok()).unwrap_or_default(),
        };
        if !(model.fps.is_finite() && model.fps > 0.0) {
            file.fault(format!("{} frames per second", model.fps));
        }
        if file.sound()
            && let Err(what) = model.verify_certificate().and_then(|()| model.verify_travel())
        {
            file.fault(what.to_string());
        }
        file.finish(model)
    }
}

fn kind(file: &mut TensorReader<'_>) -> ModelKind {
    match file.text("kind") {
        Some("a") => ModelKind::A,
        Some("b") => ModelKind::B,
        Some("c") => ModelKind::C,
        Some("d") => ModelKind::D,
        other => {
            let what = format!("metadata `kind` is {other:?}, not a, b, c or d");
            file.fault(what);
            ModelKind::A
        }
    }
}

/// What a model may be fed: boxes of `boxed` inputs, deviations of `m`.
fn inputs(file: &mut TensorReader<'_>, boxed: usize, m: usize) -> InputSet {
    let inputs = InputSet {
        body_min: file.f32s("body_min", &[boxed]),
        body_max: file.f32s("body_max", &[boxed]),
        body_rate: file.f32s("body_rate", &[boxed]),
        body_std: file.f32s("body_std", &[m]),
        body_reach: file.parsed("body_reach"),
        max_horizontal_m: file.parsed("max_horizontal_m"),
        max_vertical_m: file.parsed("max_vertical_m"),
        max_turn: file.parsed("max_turn"),
    };
    let limits = [inputs.max_horizontal_m, inputs.max_vertical_m, inputs.max_turn];
    if limits.iter().any(|l| !l.is_finite() || *l < 0.0)
        || inputs.body_min.iter().zip(&inputs.body_max).any(|(lo, hi)| lo > hi)
    {
        file.fault("the input set is empty or not finite".into());
    }
    let per_input = inputs.body_rate.iter().chain(&inputs.body_std).chain([&inputs.body_reach]);
    if per_input.into_iter().any(|v| !v.is_finite() || *v < 0.0) {
        file.fault("rates and deviations of the inputs must be finite and not negative".into());
    }
    inputs
}

/// The hip line, which older files do not have.
pub(crate) fn hips(file: &mut TensorReader, joints: usize) -> Option<HipLine> {
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

/// The parts of a model D.
fn correction(file: &mut TensorReader<'_>, d: usize, m: usize) -> Correction {
    let hearing = file.has("surroundings_scale").then(|| hearing(file));
    let u = 2 * m + ROOT_TERMS + hearing.as_ref().map_or(0, |_| SURROUNDING_TERMS);
    let [drives, _] = file.shape("drive");
    let [poles, _] = file.shape("poles");
    let [centres, _] = file.shape("centres");
    let [_, features] = file.shape("readout");
    // Older files measure nearness to poses alone.
    let anchored = file.has("anchors");
    let [directions, width] = if anchored { file.shape("directions") } else { [0; 2] };
    let [anchors, _] = if anchored { file.shape("anchors") } else { [0; 2] };
    Correction {
        rate_scale: file.f32s("rate_scale", &[m]),
        root_mean: file.f32s("root_mean", &[ROOT_TERMS]),
        root_scale: file.f32s("root_scale", &[ROOT_TERMS]),
        drive: file.f32s("drive", &[drives, u]),
        poles: file.f32s("poles", &[poles, 2]).as_chunks::<2>().0.to_vec(),
        centres: file.f32s("centres", &[centres, m]),
        width_sq: file.parsed("width_sq"),
        directions: if anchored { file.f32s("directions", &[directions, width]) } else { Vec::new() },
        anchors: if anchored { file.f32s("anchors", &[anchors, directions]) } else { Vec::new() },
        anchor_width_sq: if anchored { file.parsed("anchor_width_sq") } else { 1.0 },
        readout: file.f32s("readout", &[d, features]),
        bias: file.f32s("readout_bias", &[d]),
        half_axes: file.f32s("half_axes", &[d]),
        gate_sq: [file.parsed("gate_near_sq"), file.parsed("gate_far_sq")],
        hearing,
    }
}

/// How a model D hears its surroundings.
fn hearing(file: &mut TensorReader<'_>) -> Hearing {
    let [axes, _] = file.shape("fabric_axes");
    let reach = file.f32s("surroundings_reach", &[3]);
    Hearing {
        mean: file.f32s("surroundings_mean", &[SURROUNDING_TERMS]),
        scale: file.f32s("surroundings_scale", &[SURROUNDING_TERMS]),
        fabric_mean: file.f32s("fabric_mean", &[FABRIC_VALUES]),
        fabric_axes: file.f32s("fabric_axes", &[axes, FABRIC_VALUES]),
        reach: reach.try_into().unwrap_or_default(),
    }
}

/// The garment's weights, where the file has them.
fn attachment(file: &mut TensorReader<'_>, vertices: usize, joints: usize) -> Option<Attachment> {
    if !file.has("attachment_joints") {
        return None;
    }
    let rest = points(file.f32s("attachment_rest", &[vertices, 3]));
    let skin = skin(file, "attachment", vertices, joints)?;
    Some(Attachment { skin, rest })
}

/// What keeps a garment outside the body, where the file has it.
fn shield(file: &mut TensorReader<'_>, vertices: usize, joints: usize) -> Option<Shield> {
    if !file.has("shield_points") {
        return None;
    }
    let [count, _] = file.shape("shield_points");
    let near = file.indices("shield_near", &[vertices, NEIGHBOURS], count + 1);
    let (limbs, meets, outward) = limbs(file, vertices);
    let trunk = if file.has("limb_trunk") { file.u32s("limb_trunk", &[1]).first().copied() } else { None };
    let shield = Shield {
        trunk: trunk.unwrap_or(0) as usize,
        points: points(file.f32s("shield_points", &[count, 3])),
        normals: points(file.f32s("shield_normals", &[count, 3])),
        near: near.as_chunks::<NEIGHBOURS>().0.to_vec(),
        margin_m: file.parsed("shield_margin_m"),
        limit_m: file.parsed("shield_limit_m"),
        skin: skin(file, "shield", count, joints)?,
        limbs,
        meets,
        outward,
    };
    if let Err(e) = shield.check(vertices, joints) {
        file.fault(e.to_string());
    }
    Some(shield)
}

/// Limbs, which limbs each vertex can meet, and which way is out; files without them have none.
fn limbs(file: &mut TensorReader<'_>, vertices: usize) -> (Vec<LimbTube>, Vec<u32>, Vec<Vec3>) {
    if !file.has("limb_joint") {
        return Default::default();
    }
    let [count] = file.shape("limb_joint");
    let joints = file.u32s("limb_joint", &[count]);
    let has_others = file.has("limb_other");
    let others = if has_others { file.u32s("limb_other", &[count]) } else { joints.clone() };
    let lines = file.f32s("limb_lines", &[count, 9]);
    let radii = file.f32s("limb_radius", &[count, ALONG * AROUND]);
    let vertices = if count == 0 { 0 } else { vertices };
    let meets = file.u32s("limb_meets", &[vertices]);
    let outward = points(file.f32s("limb_outward", &[vertices, 3]));
    let (lines, radii) = (lines.as_chunks::<9>().0, radii.as_chunks::<{ ALONG * AROUND }>().0);
    let bones = joints.into_iter().zip(others);
    let limbs = bones.zip(lines.iter().zip(radii)).map(|((joint, other), (line, radii))| {
        let [middle, half, across] = [0, 3, 6].map(|at| Vec3::from_slice(&line[at..at + 3]));
        let radius = std::array::from_fn(|i| std::array::from_fn(|k| radii[i * AROUND + k]));
        LimbTube { joint, other: (other != joint).then_some(other), middle, half, across, radius }
    });
    (limbs.collect(), meets, outward)
}

pub(crate) fn points(values: Vec<f32>) -> Vec<Vec3> {
    values.as_chunks::<3>().0.iter().map(|p| Vec3::from_array(*p)).collect()
}

/// Weights in rows of one length, as [`Model::write`] pads them.
pub(crate) fn skin(file: &mut TensorReader<'_>, name: &str, count: usize, joints: usize) -> Option<Skin> {
    let (joints_name, weights_name) = (format!("{name}_joints"), format!("{name}_weights"));
    let [_, width] = file.shape(&joints_name);
    let indices = file.indices(&joints_name, &[count, width], joints);
    let weights = file.f32s(&weights_name, &[count, width]);
    if width == 0 || indices.len() != weights.len() || !file.sound() {
        return None;
    }
    let rows = indices.chunks_exact(width).zip(weights.chunks_exact(width));
    let rows = rows.map(|(j, w)| j.iter().map(|j| *j as u16).zip(w.iter().copied()).collect::<Vec<_>>());
    match Skin::from_rows(rows) {
        Ok(skin) => Some(skin),
        Err(e) => {
            file.fault(format!("{name}: {e}"));
            None
        }
    }
}

/// Indices into the body's triangles, which this file does not know: only their order can be checked.
fn hidden_triangles(file: &mut TensorReader<'_>) -> Vec<u32> {
    let [count] = file.shape("hidden_triangles");
    let hidden = file.u32s("hidden_triangles", &[count]);
    if hidden.windows(2).any(|w| w[0] >= w[1]) {
        file.fault("hidden triangles are not in ascending order".into());
    }
    hidden
}
