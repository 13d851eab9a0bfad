//! Takes as safetensors.

use crate::{Result, Take};
use std::path::Path;
use toile_model::tensors::TensorWriter;

/// What a take's file calls itself.
pub(crate) const FORMAT: &str = "toile-take";
/// The newest layout.
pub(crate) const VERSION: u32 = 1;

impl Take {
    /// Writes the take, all or nothing.
    ///
    /// Arrays: `positions` f32 \[frames, vertices, 3], `triangles` u32 \[triangles, 3], `bones` f32
    /// \[frames, joints, 12] (three columns of the linear part, then the translation), `roots` f64
    /// \[frames, 4] (x, y, z, heading), `draped` f32 \[vertices or 0, 3], `reports` f32 \[frames, 5] (ms, substeps, retries, stretch %, deepest mm). Texts: `verdict` and `provenance` as JSON.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let frames = self.len();
        let mut file = TensorWriter::default();
        file.text("format", FORMAT);
        file.text("version", VERSION);
        file.text("clip", &self.clip);
        file.text("fps", self.fps);
        if let Some(stop) = self.stop_frame {
            file.text("stop_frame", stop);
        }
        if let Some(verdict) = &self.verdict {
            file.text("verdict", serde_json::to_string(verdict).unwrap_or_default());
        }
        if let Some(provenance) = &self.provenance {
            file.text("provenance", serde_json::to_string(provenance).unwrap_or_default());
        }
        file.text("notes", serde_json::to_string(&self.notes).unwrap_or_default());
        file.f32s("positions", &[frames, self.vertices, 3], self.positions.iter().flat_map(|p| p.to_array()));
        file.u32s("triangles", &[self.triangles.len(), 3], self.triangles.iter().flatten().copied());
        file.f32s("bones", &[frames, self.joints, 12], self.bones.iter().flat_map(|b| b.to_cols_array()));
        file.f32s("draped", &[self.draped.len(), 3], self.draped.iter().flat_map(|p| p.to_array()));
        file.f64s(
            "roots",
            &[frames, 4],
            self.roots.iter().flat_map(|r| [r.position.x, r.position.y, r.position.z, r.heading]),
        );
        file.f32s(
            "reports",
            &[frames, 5],
            self.reports.iter().flat_map(|r| {
                [r.ms, r.substeps as f32, r.retries as f32, r.max_stretch_percent, r.deepest_mm]
            }),
        );
        Ok(file.write(path)?)
    }
}
