//! Models as `.toile` files.

use crate::tensors::TensorWriter;
use crate::{
    ALONG, AROUND, Attachment, Correction, Error, FABRIC_VALUES, HipLine, Model, ModelKind, NEIGHBOURS,
    Result, Shield, Skin,
};
use std::io::Write;
use std::path::Path;

/// What a model's file calls itself.
pub(crate) const FORMAT: &str = "toile-model";
/// The newest layout.
pub(crate) const VERSION: u32 = 5;

/// The oldest layout that has all of a model, so that older programs read what they know.
fn version(model: &Model) -> u32 {
    match &model.correction {
        Some(c) if !c.anchors.is_empty() => VERSION,
        Some(c) if c.hearing.is_some() => 4,
        _ => 3,
    }
}

impl Model {
    /// Writes the model, all or nothing. Array names are the field names of [`Model`]; `b` and `c` are stacked,
    /// rows of `attachment_*` are padded with weights of zero.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        self.tensors().write(path.as_ref())
    }

    /// The bytes of its file.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.tensors().into_bytes()
    }

    fn tensors(&self) -> TensorWriter {
        let (d, m, n, j) = (self.cloth_dims, self.body_dims, self.vertices, self.joints);
        let mut file = TensorWriter::default();
        file.text("format", FORMAT);
        file.text("version", version(self));
        file.text("name", &self.name);
        file.text("kind", kind_name(self.kind));
        file.text("order", self.order);
        file.text("fps", self.fps);
        file.text("rho", self.certificate.rho);
        file.text("gamma", self.certificate.gamma);
        file.text("transient_gain", self.certificate.transient_gain);
        file.text("body_reach", self.inputs.body_reach);
        file.text("max_horizontal_m", self.inputs.max_horizontal_m);
        file.text("max_vertical_m", self.inputs.max_vertical_m);
        file.text("max_turn", self.inputs.max_turn);
        if let Some(line) = &self.hips {
            hips(&mut file, line);
        }
        file.text("notes", serde_json::to_string(&self.notes).unwrap_or_default());
        file.u32s("triangles", &[self.triangles.len(), 3], self.triangles.iter().flatten().copied());
        file.f32s("cloth_mean", &[n, 3], self.cloth_mean.iter().flat_map(|p| p.to_array()));
        file.f32s("cloth_basis", &[3 * n, d], self.cloth_basis.iter().copied());
        file.f32s("bones_mean", &[12 * j], self.bones_mean.iter().copied());
        file.f32s("body_from_bones", &[m, 12 * j], self.body_from_bones.iter().copied());
        file.f32s("a", &[self.a.len() / m.max(1), m], self.a.iter().copied());
        file.f32s("b", &[self.b.len(), d, d], self.b.iter().flatten().copied());
        file.f32s("c", &[self.c.len(), d, 5], self.c.iter().flatten().copied());
        file.f32s("bias", &[self.bias.len()], self.bias.iter().copied());
        file.f32s("a0", &[d, m], self.a0.iter().copied());
        file.f32s("bias0", &[d], self.bias0.iter().copied());
        file.f32s("body_min", &[self.inputs.body_min.len()], self.inputs.body_min.iter().copied());
        file.f32s("body_max", &[self.inputs.body_max.len()], self.inputs.body_max.iter().copied());
        file.f32s("body_rate", &[self.inputs.body_rate.len()], self.inputs.body_rate.iter().copied());
        file.f32s("body_std", &[m], self.inputs.body_std.iter().copied());
        let memory = self.order * d;
        file.f64s("certificate_p", &[memory, memory], self.certificate.p.iter().copied());
        file.f32s("travel_bound_m", &[n], self.certificate.travel_bound_m.iter().copied());
        file.f32s(
            "travel_bound_rate_m",
            &[self.certificate.travel_bound_rate_m.len()],
            self.certificate.travel_bound_rate_m.iter().copied(),
        );
        file.f32s("training_travel_m", &[n], self.certificate.training_travel_m.iter().copied());
        file.u32s("hidden_triangles", &[self.hidden_triangles.len()], self.hidden_triangles.iter().copied());
        if let Some(attachment) = &self.attachment {
            garment_weights(&mut file, attachment);
        }
        if let Some(c) = &self.correction {
            correction(&mut file, c, d);
        }
        if let Some(s) = &self.shield {
            shield(&mut file, s);
        }
        file.sum_up();
        file
    }
}

/// The joints that carry the canonical frame.
pub(crate) fn hips(file: &mut TensorWriter, line: &HipLine) {
    let parts = (line.joints, line.bind.map(|p| p.to_array()));
    file.text("hips", serde_json::to_string(&parts).unwrap_or_default());
}

/// The garment's own weights.
pub(crate) fn garment_weights(file: &mut TensorWriter, attachment: &Attachment) {
    let (n, width) = (attachment.rest.len(), attachment.skin.max_influences());
    let (joints, weights) = padded(&attachment.skin);
    file.u32s("attachment_joints", &[n, width], joints);
    file.f32s("attachment_weights", &[n, width], weights);
    file.f32s("attachment_rest", &[n, 3], attachment.rest.iter().flat_map(|p| p.to_array()));
}

/// What a model D has in place of the published matrices, for `d` cloth dims.
fn correction(file: &mut TensorWriter, c: &Correction, d: usize) {
    let (m, u) = (c.rate_scale.len(), c.held());
    file.text("width_sq", c.width_sq);
    file.text("gate_near_sq", c.gate_sq[0]);
    file.text("gate_far_sq", c.gate_sq[1]);
    file.f32s("rate_scale", &[m], c.rate_scale.iter().copied());
    file.f32s("root_mean", &[c.root_mean.len()], c.root_mean.iter().copied());
    file.f32s("root_scale", &[c.root_scale.len()], c.root_scale.iter().copied());
    file.f32s("drive", &[c.drives(), u], c.drive.iter().copied());
    file.f32s("poles", &[c.poles.len(), 2], c.poles.iter().flatten().copied());
    file.f32s("centres", &[c.centre_count(), m], c.centres.iter().copied());
    if !c.anchors.is_empty() {
        let directions = c.direction_count();
        file.text("anchor_width_sq", c.anchor_width_sq);
        file.f32s("directions", &[directions, u + c.filtered()], c.directions.iter().copied());
        file.f32s("anchors", &[c.anchor_count(), directions], c.anchors.iter().copied());
    }
    file.f32s("readout", &[d, c.features()], c.readout.iter().copied());
    file.f32s("readout_bias", &[d], c.bias.iter().copied());
    file.f32s("half_axes", &[d], c.half_axes.iter().copied());
    if let Some(h) = &c.hearing {
        file.f32s("surroundings_mean", &[h.mean.len()], h.mean.iter().copied());
        file.f32s("surroundings_scale", &[h.scale.len()], h.scale.iter().copied());
        file.f32s("surroundings_reach", &[3], h.reach);
        file.f32s("fabric_mean", &[h.fabric_mean.len()], h.fabric_mean.iter().copied());
        file.f32s("fabric_axes", &[h.axes(), FABRIC_VALUES], h.fabric_axes.iter().copied());
    }
}

/// What keeps the garment outside of the body.
fn shield(file: &mut TensorWriter, shield: &Shield) {
    let (n, width) = (shield.points.len(), shield.skin.max_influences());
    file.text("shield_margin_m", shield.margin_m);
    file.text("shield_limit_m", shield.limit_m);
    file.f32s("shield_points", &[n, 3], shield.points.iter().flat_map(|p| p.to_array()));
    file.f32s("shield_normals", &[n, 3], shield.normals.iter().flat_map(|p| p.to_array()));
    let (joints, weights) = padded(&shield.skin);
    file.u32s("shield_joints", &[n, width], joints);
    file.f32s("shield_weights", &[n, width], weights);
    file.u32s("shield_near", &[shield.near.len(), NEIGHBOURS], shield.near.iter().flatten().copied());
    limbs(file, shield);
}

/// Limbs, and what a garment has to do with them.
fn limbs(file: &mut TensorWriter, shield: &Shield) {
    let (limbs, vertices) = (&shield.limbs, shield.meets.len());
    file.u32s("limb_joint", &[limbs.len()], limbs.iter().map(|l| l.joint));
    file.u32s("limb_other", &[limbs.len()], limbs.iter().map(|l| l.other.unwrap_or(l.joint)));
    file.u32s("limb_trunk", &[1], [shield.trunk as u32]);
    let lines = limbs.iter().flat_map(|l| [l.middle, l.half, l.across].map(|v| v.to_array()));
    file.f32s("limb_lines", &[limbs.len(), 9], lines.flatten());
    let radii = limbs.iter().flat_map(|l| l.radius.into_iter().flatten());
    file.f32s("limb_radius", &[limbs.len(), ALONG * AROUND], radii);
    file.u32s("limb_meets", &[vertices], shield.meets.iter().copied());
    file.f32s("limb_outward", &[vertices, 3], shield.outward.iter().flat_map(|n| n.to_array()));
}

/// Joints and weights in rows of one length.
fn padded(skin: &Skin) -> (Vec<u32>, Vec<f32>) {
    let width = skin.max_influences();
    let (mut joints, mut weights) = (Vec::new(), Vec::new());
    for v in 0..skin.len() {
        let row: Vec<(u16, f32)> = skin.row(v).collect();
        joints.extend((0..width).map(|k| row.get(k).map_or(0, |r| u32::from(r.0))));
        weights.extend((0..width).map(|k| row.get(k).map_or(0.0, |r| r.1)));
    }
    (joints, weights)
}

/// How a kind is written in files and on the command line.
pub(crate) fn kind_name(kind: ModelKind) -> &'static str {
    match kind {
        ModelKind::A => "a",
        ModelKind::B => "b",
        ModelKind::C => "c",
        ModelKind::D => "d",
    }
}

/// Writes `bytes` to `path` all or nothing.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.partial", std::process::id()));
    let partial = path.with_file_name(name);
    let write = || {
        let mut file = std::fs::File::create(&partial)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&partial, path)
    };
    write().map_err(|e| {
        let _ = std::fs::remove_file(&partial);
        Error::io(path, e)
    })
}
