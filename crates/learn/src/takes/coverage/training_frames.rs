//! Frames that training has, thinned to what tells them apart.

use super::movement::{LOOKED_EVERY, MEASURES, Movement};

/// Frames nearer to one another than this share of a tolerance are kept once.
const THIN: f32 = 0.3;

/// The frames of all clips added, measure by measure.
#[derive(Clone, Debug, Default)]
pub struct TrainingFrames {
    kept: Vec<Points>,
    /// Frames in all.
    pub frames: usize,
    /// Seconds in all.
    pub seconds: f64,
}

#[derive(Clone, Debug, Default)]
struct Points {
    dims: usize,
    flat: Vec<f32>,
}

impl TrainingFrames {
    /// Adds a clip.
    pub fn add(&mut self, movement: &Movement) {
        if movement.is_empty() {
            return;
        }
        self.kept.resize(MEASURES.len(), Points::default());
        self.frames += movement.frames;
        self.seconds += movement.frames as f64 / movement.fps;
        for (measure, points) in self.kept.iter_mut().enumerate() {
            points.dims = movement.tracks[measure].0;
            for f in (0..movement.frames).step_by(LOOKED_EVERY) {
                points.keep(movement.point(measure, f));
            }
        }
    }

    /// How far a frame's measure is from the nearest that was seen, in tolerances; infinite where nothing was, zero where
    /// the body has no such part.
    pub(super) fn distance(&self, measure: usize, point: &[f32]) -> f32 {
        if point.is_empty() {
            return 0.0;
        }
        self.kept.get(measure).map_or(f32::INFINITY, |points| points.nearest(point, 0.0))
    }
}

impl Points {
    fn keep(&mut self, point: &[f32]) {
        if self.dims > 0 && self.nearest(point, THIN) > THIN {
            self.flat.extend_from_slice(point);
        }
    }

    /// Distance of the nearest point, or of the first found within `enough`. The latest are looked at first: frames are
    /// like the frames before them.
    fn nearest(&self, point: &[f32], enough: f32) -> f32 {
        let mut best = f32::INFINITY;
        for kept in self.flat.chunks_exact(self.dims.max(1)).rev() {
            // Most points are far already in their first bone.
            let mut square = 0.0;
            for (kept, point) in kept.chunks(9).zip(point.chunks(9)) {
                square += kept.iter().zip(point).map(|(a, b)| (a - b) * (a - b)).sum::<f32>();
                if square >= best {
                    break;
                }
            }
            if square < best {
                best = square;
                if best <= enough * enough {
                    break;
                }
            }
        }
        best.sqrt()
    }
}
