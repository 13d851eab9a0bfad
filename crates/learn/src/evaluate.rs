//! How wrong a model is, by free runs through the code that ships.

use crate::liveliness::Liveliness;
use glam::Vec3;
use std::sync::Arc;
use std::time::Instant;
use toile_assets::{Attachment, Model, Take};
use toile_run::{Skinned, Stable, Tier};

/// Scores of one clip, in centimetres.
#[derive(Clone, Debug, PartialEq)]
pub struct ClipScore {
    /// The clip.
    pub clip: String,
    /// Frames scored.
    pub frames: usize,
    /// Mean vertex distance to the simulation.
    pub mean_cm: f64,
    /// 95th percentile over vertices and frames.
    pub p95_cm: f64,
    /// Largest.
    pub max_cm: f64,
    /// Mean vertex distance of skinned cloth on the same frames.
    pub skin_cm: f64,
    /// Mean vertex distance of the best any model of this space could do.
    pub projection_cm: f64,
    /// Mean vertex distance per frame, for plots.
    pub by_frame_cm: Vec<f32>,
    /// The same for skinned cloth.
    pub skin_by_frame_cm: Vec<f32>,
}

/// Scores over all clips.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// Frame-weighted mean vertex distance.
    pub mean_cm: f64,
    /// 95th percentile over all vertices and frames.
    pub p95_cm: f64,
    /// Largest distance of all.
    pub max_cm: f64,
    /// Skinned cloth on the same frames.
    pub skin_cm: f64,
    /// Best of this space on the same frames.
    pub projection_cm: f64,
    /// RMS speed of the dynamic residual over the truth's; 1 is right.
    pub liveliness: f64,
    /// Correlation of those velocities; 1 is right.
    pub correlation: f64,
    /// Median time of one garment and frame, bones to world-space vertices, one at a time, µs.
    pub us_per_frame: f64,
    /// Spectral radius of the shipped matrices.
    pub rho: f64,
    /// Inputs that had to be clamped, per frame.
    pub clamped_per_frame: f64,
    /// Clip by clip.
    pub clips: Vec<ClipScore>,
}

/// Distances in bins of a tenth of a millimetre up to a metre: percentiles without keeping every number.
struct Histogram {
    bins: Vec<u64>,
    count: u64,
    sum: f64,
    max: f64,
}

impl Histogram {
    fn new() -> Self {
        Self { bins: vec![0; 10_001], count: 0, sum: 0.0, max: 0.0 }
    }

    fn add(&mut self, metres: f32) {
        let bin = ((metres * 10_000.0) as usize).min(self.bins.len() - 1);
        self.bins[bin] += 1;
        self.count += 1;
        self.sum += f64::from(metres);
        self.max = self.max.max(f64::from(metres));
    }

    fn merge(&mut self, other: &Self) {
        self.bins.iter_mut().zip(&other.bins).for_each(|(a, b)| *a += b);
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    fn mean_cm(&self) -> f64 {
        100.0 * self.sum / self.count.max(1) as f64
    }

    fn percentile_cm(&self, share: f64) -> f64 {
        let target = (share * self.count as f64) as u64;
        let mut seen = 0;
        for (bin, count) in self.bins.iter().enumerate() {
            seen += count;
            if seen > target {
                return (bin as f64 + 0.5) / 100.0;
            }
        }
        0.0
    }
}

/// Runs the model freely over every take: it sees only body motion, from its own order-0 start.
pub fn evaluate(model: &Arc<Model>, takes: &[Take], attachment: &Attachment) -> Evaluation {
    let mut learned = Stable::new(model.clone());
    let mut skinned = Skinned::new(attachment.clone());
    let mut lively = Liveliness::default();
    let (mut all, mut skin_all, mut best_all) = (Histogram::new(), Histogram::new(), Histogram::new());
    let mut clips = Vec::new();
    let mut times = Vec::new();
    let (mut clamped, mut frames) = (0u64, 0u64);
    let mut out = vec![Vec3::ZERO; model.vertices];
    for take in takes {
        learned.reset();
        let (mut own, mut skin, mut best) = (Histogram::new(), Histogram::new(), Histogram::new());
        let (mut by_frame_cm, mut skin_by_frame_cm) = (Vec::new(), Vec::new());
        let d = model.cloth_dims;
        let (mut truth_rest, mut model_rest) = (vec![Vec::new(); d], vec![Vec::new(); d]);
        for f in 0..take.len() {
            let truth = take.frame(f);
            let micros = timed(|| {
                clamped +=
                    u64::from(learned.step(take.frame_bones(f), &take.roots[f], 1.0 / take.fps).clamped);
                learned.positions(&mut out);
            });
            times.push(micros);
            by_frame_cm.push(score(&out, truth, &mut own));

            let y = project(model, take, f);
            let kinematic = order_zero(model, learned.body_coefficients());
            for k in 0..d {
                truth_rest[k].push(f64::from(y[k]) - f64::from(kinematic[k]));
                model_rest[k].push(f64::from(learned.coefficients()[k]) - f64::from(kinematic[k]));
            }
            reconstruct(model, &y, take, f, &mut out);
            score(&out, truth, &mut best);

            skinned.step(take.frame_bones(f), &take.roots[f], 1.0 / take.fps);
            skinned.positions(&mut out);
            skin_by_frame_cm.push(score(&out, truth, &mut skin));
            frames += 1;
        }
        for (t, m) in truth_rest.iter().zip(&model_rest) {
            lively.add(t, m, take.fps);
        }
        clips.push(ClipScore {
            clip: take.clip.clone(),
            frames: take.len(),
            mean_cm: own.mean_cm(),
            p95_cm: own.percentile_cm(0.95),
            max_cm: 100.0 * own.max,
            skin_cm: skin.mean_cm(),
            projection_cm: best.mean_cm(),
            by_frame_cm,
            skin_by_frame_cm,
        });
        all.merge(&own);
        skin_all.merge(&skin);
        best_all.merge(&best);
    }
    times.sort_by(f64::total_cmp);
    Evaluation {
        mean_cm: all.mean_cm(),
        p95_cm: all.percentile_cm(0.95),
        max_cm: 100.0 * all.max,
        skin_cm: skin_all.mean_cm(),
        projection_cm: best_all.mean_cm(),
        liveliness: lively.ratio(),
        correlation: lively.correlation(),
        us_per_frame: times.get(times.len() / 2).copied().unwrap_or(0.0),
        rho: model.certificate.rho,
        clamped_per_frame: clamped as f64 / frames.max(1) as f64,
        clips,
    }
}

#[allow(clippy::disallowed_methods)] // the cost of a frame is part of the score
fn timed(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e6
}

/// Adds every vertex's distance; returns their mean in centimetres.
fn score(ours: &[Vec3], truth: &[Vec3], into: &mut Histogram) -> f32 {
    let before = into.sum;
    ours.iter().zip(truth).for_each(|(a, b)| into.add(a.distance(*b)));
    (100.0 * (into.sum - before) / ours.len().max(1) as f64) as f32
}

/// The simulation's own coefficients in the model's space.
fn project(model: &Model, take: &Take, f: usize) -> Vec<f32> {
    let root = take.roots[f];
    let d = model.cloth_dims;
    let mut y = vec![0.0f64; d];
    for (v, p) in take.frame(f).iter().enumerate() {
        let apart = root.canonical_from_world(p.as_dvec3()) - model.cloth_mean[v].as_dvec3();
        for (axis, value) in apart.to_array().into_iter().enumerate() {
            let row = &model.cloth_basis[(3 * v + axis) * d..(3 * v + axis + 1) * d];
            y.iter_mut().zip(row).for_each(|(y, b)| *y += f64::from(*b) * value);
        }
    }
    y.into_iter().map(|v| v as f32).collect()
}

fn order_zero(model: &Model, x: &[f32]) -> Vec<f32> {
    let rows = model.a0.chunks_exact(model.body_dims).zip(&model.bias0);
    rows.map(|(row, bias)| bias + row.iter().zip(x).map(|(a, x)| a * x).sum::<f32>()).collect()
}

fn reconstruct(model: &Model, y: &[f32], take: &Take, f: usize, out: &mut [Vec3]) {
    let root = take.roots[f];
    let d = model.cloth_dims;
    for (v, out) in out.iter_mut().enumerate() {
        let mut p = model.cloth_mean[v];
        for axis in 0..3 {
            let row = &model.cloth_basis[(3 * v + axis) * d..(3 * v + axis + 1) * d];
            p[axis] += row.iter().zip(y).map(|(b, y)| b * y).sum::<f32>();
        }
        *out = root.world_from_canonical(p.as_dvec3()).as_vec3();
    }
}
