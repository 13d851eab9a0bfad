//! How wrong a model is, by free runs through the code that ships.

use crate::correction::unposed;
use crate::histogram::Histogram;
use crate::liveliness::Liveliness;
use crate::sequence::{canonical_bones, joined_roots};
use crate::settling::{Settling, settle};
use faer::Mat;
use glam::Vec3;
use std::sync::Arc;
use std::time::Instant;
use toile_assets::{Attachment, Body, Model, ModelKind, Penetration, PosedBody, RootFrame, Take};
use toile_run::{Skinned, Stable, Tier};

/// Scores of one take, in centimetres.
#[derive(Clone, Debug, PartialEq)]
pub struct ClipScore {
    /// The clip.
    pub clip: String,
    /// Frame at which the motion was frozen, for stop takes.
    pub stop_frame: Option<usize>,
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
    /// Mean vertex distance of the model's own order-0 start (model A) on the same frames.
    pub kinematic_cm: f64,
    /// Share of frames whose body is farther from the mean than any training pose, percent.
    pub out_of_range_percent: f64,
    /// Mean vertex distance per frame, for plots.
    pub by_frame_cm: Vec<f32>,
    /// The same for skinned cloth.
    pub skin_by_frame_cm: Vec<f32>,
}

/// Scores over all takes.
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
    /// Order-0 prediction (model A) on the same frames.
    pub kinematic_cm: f64,
    /// Mean over the second after every stop.
    pub after_stops_cm: f64,
    /// Order-0 prediction over the second after every stop.
    pub kinematic_after_stops_cm: f64,
    /// RMS speed of the dynamic residual over the truth's; 1 is right.
    pub liveliness: f64,
    /// Correlation of those velocities; 1 is right.
    pub correlation: f64,
    /// Every stop.
    pub stops: Vec<Settling>,
    /// Vertices inside the body, percent of vertices and frames; NaN where no body was given.
    pub penetration_percent: f64,
    /// The same of the simulation.
    pub truth_penetration_percent: f64,
    /// Deepest vertex inside the body, mm.
    pub deepest_mm: f64,
    /// The same of the simulation.
    pub truth_deepest_mm: f64,
    /// Share of frames whose body is farther from the mean than any training pose, percent.
    pub out_of_range_percent: f64,
    /// The farthest body, in units of the farthest training pose.
    pub farthest_pose: f64,
    /// Median time of one garment and frame, bones to world-space vertices, one at a time, µs.
    pub us_per_frame: f64,
    /// Median time of the latent step alone, µs.
    pub us_latent: f64,
    /// Spectral radius of the shipped matrices.
    pub rho: f64,
    /// Inputs that had to be clamped, per frame.
    pub clamped_per_frame: f64,
    /// Take by take.
    pub clips: Vec<ClipScore>,
}

/// Medians over stops that swing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SettlingSummary {
    /// Stops in all.
    pub stops: usize,
    /// Those whose swing is regular enough to have a frequency.
    pub swinging: usize,
    /// Swing frequency of truth and model, Hz.
    pub hz: [f64; 2],
    /// Median of `|model/truth − 1|` of the frequency, percent.
    pub frequency_error_percent: f64,
    /// Logarithmic decrement of truth and model.
    pub decrement: [f64; 2],
    /// Median of `|model/truth − 1|` of the decrement, percent.
    pub decrement_error_percent: f64,
    /// Median over all stops of the distance over 1 s divided by the truth's own distance to rest.
    pub error_ratio: f64,
}

impl Evaluation {
    /// The stops in a few numbers; `None` where there were none.
    pub fn settling(&self) -> Option<SettlingSummary> {
        if self.stops.is_empty() {
            return None;
        }
        let swinging: Vec<&Settling> = self.stops.iter().filter(|s| s.swings).collect();
        let over = |f: &dyn Fn(&Settling) -> f64| median(swinging.iter().map(|s| f(s)).collect());
        let off = |model: f64, truth: f64| 100.0 * (model / truth.max(1e-9) - 1.0).abs();
        Some(SettlingSummary {
            stops: self.stops.len(),
            swinging: swinging.len(),
            hz: [over(&|s| s.truth_hz), over(&|s| s.model_hz)],
            frequency_error_percent: over(&|s| off(s.model_hz, s.truth_hz)),
            decrement: [over(&|s| s.truth_decrement), over(&|s| s.model_decrement)],
            decrement_error_percent: over(&|s| off(s.model_decrement, s.truth_decrement)),
            error_ratio: median(self.stops.iter().map(|s| s.error_ratio).collect()),
        })
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Frames between looks for penetration: a walk's stride is ten of them.
const PENETRATION_EVERY: usize = 4;

/// Every sum that runs over all takes.
#[derive(Default)]
struct Totals {
    lively: Liveliness,
    times: Vec<f64>,
    latent_times: Vec<f64>,
    clamped: u64,
    frames: u64,
    out_of_range: u64,
    farthest_pose: f64,
    after: (f64, f64, u64),
    model_inside: Penetration,
    truth_inside: Penetration,
}

/// One step of a free run, and how many inputs were clamped in it. A pose that is refused leaves the garment where it
/// was, and it is scored there.
fn step(learned: &mut Stable, take: &Take, f: usize, root: &RootFrame) -> u32 {
    learned.step_with_root(take.frame_bones(f), root, 1.0 / take.fps).map_or(0, |report| report.clamped)
}

/// Runs the model freely over every take: it sees only body motion, from its own order-0 start. A stop is run from the
/// beginning of its clip where that clip is among the takes. `body` is for penetration.
pub fn evaluate(
    model: &Arc<Model>,
    takes: &[Take],
    attachment: &Attachment,
    body: Option<&Body>,
) -> Evaluation {
    let mut learned = Stable::new(model.clone());
    let mut skinned = Skinned::new(attachment.clone());
    let mut totals = Totals::default();
    let (mut all, mut skin_all, mut best_all, mut start_all) =
        (Histogram::new(), Histogram::new(), Histogram::new(), Histogram::new());
    let mut posed = body.map(|b| PosedBody::new(b, &b.bones(&b.skeleton.rest_pose())));
    let (mut clips, mut stops) = (Vec::new(), Vec::new());
    let mut out = vec![Vec3::ZERO; model.vertices];
    let d = model.cloth_dims;
    for take in takes {
        let branch = take.stop_frame.and_then(|at| {
            let same = |t: &&Take| t.stop_frame.is_none() && t.clip == take.clip && t.len() > at;
            Some((takes.iter().find(same)?, at))
        });
        learned.reset();
        let roots: Vec<RootFrame> = match branch {
            Some((plain, at)) => {
                let roots = joined_roots(&plain.roots, 0, at, &take.roots);
                for f in 0..at {
                    step(&mut learned, plain, f, &roots[f]);
                }
                roots[at..].to_vec()
            }
            None => take.roots.clone(),
        };
        let second = if branch.is_some() { take.fps.round() as usize } else { 0 };
        let (mut own, mut skin, mut best, mut start) =
            (Histogram::new(), Histogram::new(), Histogram::new(), Histogram::new());
        let (mut by_frame_cm, mut skin_by_frame_cm) = (Vec::new(), Vec::new());
        let mut truth_y = Mat::<f64>::zeros(d, take.len());
        let mut model_y = Mat::<f64>::zeros(d, take.len());
        let mut start_y = Mat::<f64>::zeros(d, take.len());
        let mut out_of_range = 0u64;
        for f in 0..take.len() {
            let truth = take.frame(f);
            let latent = timed(|| {
                totals.clamped += u64::from(step(&mut learned, take, f, &roots[f]));
            });
            totals.latent_times.push(latent);
            totals.times.push(latent + timed(|| learned.positions(&mut out)));
            by_frame_cm.push(score(&out, truth, &mut own));
            let own_cm = f64::from(by_frame_cm[f]);
            let look = f % PENETRATION_EVERY == 0;
            if let (Some(body), Some(posed), true) = (body, &mut posed, look) {
                posed.repose(body, take.frame_bones(f));
                totals.model_inside.add(posed, &out);
                totals.truth_inside.add(posed, truth);
            }

            let y = project_cloth(model, take, f);
            let kinematic = order_zero(model, learned.body_coefficients());
            for k in 0..d {
                truth_y[(k, f)] = f64::from(y[k]);
                model_y[(k, f)] = f64::from(learned.coefficients()[k]);
                start_y[(k, f)] = f64::from(kinematic[k]);
            }
            reconstruct(model, &y, take, f, &mut out);
            score(&out, truth, &mut best);
            reconstruct(model, &kinematic, take, f, &mut out);
            let kinematic_cm = f64::from(score(&out, truth, &mut start));
            // The frame of the stop itself still belongs to the motion.
            if (1..=second).contains(&f) {
                totals.after = (totals.after.0 + own_cm, totals.after.1 + kinematic_cm, totals.after.2 + 1);
            }
            let distance = f64::from(model.pose_distance(&project_body(model, take, f)));
            totals.farthest_pose = totals.farthest_pose.max(distance);
            out_of_range += u64::from(distance > 1.0);

            let _ = skinned.step(take.frame_bones(f), 1.0 / take.fps);
            skinned.positions(&mut out);
            skin_by_frame_cm.push(score(&out, truth, &mut skin));
            totals.frames += 1;
        }
        for k in 0..d {
            let rest =
                |y: &Mat<f64>| -> Vec<f64> { (0..take.len()).map(|f| y[(k, f)] - start_y[(k, f)]).collect() };
            totals.lively.add(&rest(&truth_y), &rest(&model_y), take.fps);
        }
        if let Some((_, at)) = branch {
            stops.extend(settle(&take.clip, at, &truth_y, &model_y, take.fps, model.vertices));
        }
        totals.out_of_range += out_of_range;
        clips.push(ClipScore {
            clip: take.clip.clone(),
            stop_frame: take.stop_frame,
            frames: take.len(),
            mean_cm: own.mean_cm(),
            p95_cm: own.percentile_cm(0.95),
            max_cm: 100.0 * own.max,
            skin_cm: skin.mean_cm(),
            projection_cm: best.mean_cm(),
            kinematic_cm: start.mean_cm(),
            out_of_range_percent: 100.0 * out_of_range as f64 / take.len().max(1) as f64,
            by_frame_cm,
            skin_by_frame_cm,
        });
        all.merge(&own);
        skin_all.merge(&skin);
        best_all.merge(&best);
        start_all.merge(&start);
    }
    let frames = totals.frames.max(1) as f64;
    let with_body = |value: f64| if body.is_some() { value } else { f64::NAN };
    let after = |sum: f64| if totals.after.2 > 0 { sum / totals.after.2 as f64 } else { f64::NAN };
    Evaluation {
        mean_cm: all.mean_cm(),
        p95_cm: all.percentile_cm(0.95),
        max_cm: 100.0 * all.max,
        skin_cm: skin_all.mean_cm(),
        projection_cm: best_all.mean_cm(),
        kinematic_cm: start_all.mean_cm(),
        after_stops_cm: after(totals.after.0),
        kinematic_after_stops_cm: after(totals.after.1),
        liveliness: totals.lively.ratio(),
        correlation: totals.lively.correlation(),
        stops,
        penetration_percent: with_body(totals.model_inside.percent()),
        truth_penetration_percent: with_body(totals.truth_inside.percent()),
        deepest_mm: with_body(totals.model_inside.deepest_mm()),
        truth_deepest_mm: with_body(totals.truth_inside.deepest_mm()),
        out_of_range_percent: 100.0 * totals.out_of_range as f64 / frames,
        farthest_pose: totals.farthest_pose,
        us_per_frame: median(totals.times),
        us_latent: median(totals.latent_times),
        rho: model.certificate.rho,
        clamped_per_frame: totals.clamped as f64 / frames,
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

/// Mean vertex distance of coefficients `y` to a frame of a take, cm.
pub(crate) fn mean_distance_cm(model: &Model, y: &[f32], take: &Take, f: usize) -> f64 {
    let mut out = vec![Vec3::ZERO; model.vertices];
    reconstruct(model, y, take, f, &mut out);
    let sum: f64 = out.iter().zip(take.frame(f)).map(|(a, b)| f64::from(a.distance(*b))).sum();
    100.0 * sum / model.vertices.max(1) as f64
}

/// The simulation's own coefficients in the model's space.
pub(crate) fn project_cloth(model: &Model, take: &Take, f: usize) -> Vec<f32> {
    let root = take.roots[f];
    let d = model.cloth_dims;
    let mut y = vec![0.0f64; d];
    let apart: Vec<glam::DVec3> = match (model.kind, &model.attachment) {
        (ModelKind::D, Some(attachment)) => unposed(attachment, take, f),
        _ => {
            let points = take.frame(f).iter().zip(&model.cloth_mean);
            points.map(|(p, mean)| root.canonical_from_world(p.as_dvec3()) - mean.as_dvec3()).collect()
        }
    };
    for (v, apart) in apart.into_iter().enumerate() {
        for (axis, value) in apart.to_array().into_iter().enumerate() {
            let row = &model.cloth_basis[(3 * v + axis) * d..(3 * v + axis + 1) * d];
            y.iter_mut().zip(row).for_each(|(y, b)| *y += f64::from(*b) * value);
        }
    }
    y.into_iter().map(|v| v as f32).collect()
}

/// The body's coefficients before any clamping.
pub(crate) fn project_body(model: &Model, take: &Take, f: usize) -> Vec<f32> {
    let centred: Vec<f64> =
        canonical_bones(take, f).zip(&model.bones_mean).map(|(b, m)| b - f64::from(*m)).collect();
    let rows = model.body_from_bones.chunks_exact(centred.len());
    rows.map(|row| row.iter().zip(&centred).map(|(p, b)| f64::from(*p) * b).sum::<f64>() as f32).collect()
}

pub(crate) fn order_zero(model: &Model, x: &[f32]) -> Vec<f32> {
    let rows = model.a0.chunks_exact(model.body_dims).zip(&model.bias0);
    rows.map(|(row, bias)| bias + row.iter().zip(x).map(|(a, x)| a * x).sum::<f32>()).collect()
}

/// The garment of coefficients in the pose of a frame.
fn reconstruct(model: &Model, y: &[f32], take: &Take, f: usize, out: &mut [Vec3]) {
    let d = model.cloth_dims;
    for (v, out) in out.iter_mut().enumerate() {
        let mut p = model.cloth_mean[v];
        for axis in 0..3 {
            let row = &model.cloth_basis[(3 * v + axis) * d..(3 * v + axis + 1) * d];
            p[axis] += row.iter().zip(y).map(|(b, y)| b * y).sum::<f32>();
        }
        *out = match (model.kind, &model.attachment) {
            (ModelKind::D, Some(attachment)) => {
                attachment.skin.blend(v, take.frame_bones(f)).transform_point3(p)
            }
            _ => take.roots[f].world_from_canonical(p.as_dvec3()).as_vec3(),
        };
    }
}
