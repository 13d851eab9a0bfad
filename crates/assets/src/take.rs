//! A recorded simulation of one clip.

use crate::{Provenance, RootFrame, Surroundings, Verdict};
use glam::{Affine3A, Vec3};

/// What a recorded frame cost and how far it was from ideal.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct FrameReport {
    /// Wall clock, ms.
    pub ms: f32,
    /// Smaller steps the frame was cut into.
    pub substeps: u32,
    /// Steps that were retried smaller.
    pub retries: u32,
    /// Largest edge stretch, percent.
    pub max_stretch_percent: f32,
    /// Deepest vertex inside the body, mm (0 when none).
    pub deepest_mm: f32,
}

/// Frames of a simulated garment with the motion that drove it.
#[derive(Clone, Debug, PartialEq)]
pub struct Take {
    /// The motion's name.
    pub clip: String,
    /// Frames per second of everything below.
    pub fps: f64,
    /// Simulation mesh, fixed.
    pub triangles: Vec<[u32; 3]>,
    /// World-space vertices, frame after frame: `frames × vertices`.
    pub positions: Vec<Vec3>,
    /// Vertices per frame.
    pub vertices: usize,
    /// Bone matrices `world_from_bind`, frame after frame: `frames × joints`.
    pub bones: Vec<Affine3A>,
    /// Joints per frame.
    pub joints: usize,
    /// Root frame per frame.
    pub roots: Vec<RootFrame>,
    /// Report per frame.
    pub reports: Vec<FrameReport>,
    /// The garment at rest on the body's rest pose, before the motion: what skinned cloth starts from. Empty
    /// where it was not kept.
    pub draped: Vec<Vec3>,
    /// Frame at which the motion was frozen, for stop takes.
    pub stop_frame: Option<usize>,
    /// Whether it is true, and how nearly; `None` where nobody looked.
    pub verdict: Option<Verdict>,
    /// What it was made from; `None` where that was not kept.
    pub provenance: Option<Provenance>,
    /// Names of body, garment and fabric, settings, seed and versions, for reports.
    pub notes: Vec<(String, String)>,
}

impl Take {
    /// The same as if there had been no wind.
    #[must_use]
    pub fn without_wind(&self) -> Self {
        let mut calm = self.clone();
        calm.provenance.iter_mut().for_each(|p| p.conditions.wind = [0.0; 3]);
        calm
    }

    /// Wind, gravity and cloth at a frame; the usual ones where the take does not say. A stop goes on in the wind of its clip.
    pub fn surroundings(&self, frame: usize) -> Surroundings {
        let secs = (self.stop_frame.unwrap_or(0) + frame) as f64 / self.fps;
        self.provenance.map_or(Surroundings::default(), |p| p.conditions.surroundings(secs))
    }

    /// Number of frames.
    pub fn len(&self) -> usize {
        self.roots.len()
    }

    /// Whether it has no frame.
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// The vertices of one frame.
    pub fn frame(&self, f: usize) -> &[Vec3] {
        &self.positions[f * self.vertices..(f + 1) * self.vertices]
    }

    /// The bone matrices of one frame.
    pub fn frame_bones(&self, f: usize) -> &[Affine3A] {
        &self.bones[f * self.joints..(f + 1) * self.joints]
    }
}
