//! One accumulator a score: each is shown every frame and keeps its own sums.

use super::evaluate::{ClipScore, DeepestAt};
use super::histogram::Histogram;
use super::liveliness::Liveliness;
use super::settling::{Settling, settle};
use faer::Mat;
use glam::Vec3;
use std::time::Instant;
use toile_assets::{Body, Model, Penetration, PosedBody, RootFrame, Take};
use toile_run::{Stable, Tier};

/// One frame, as everything there is to compare has it.
pub(crate) struct Shown<'a> {
    pub take: &'a Take,
    pub frame: usize,
    /// The model's garment.
    pub ours: &'a [Vec3],
    /// Skinned.
    pub skin: &'a [Vec3],
    /// The nearest in the model's space.
    pub best: &'a [Vec3],
    /// From the pose alone.
    pub start: &'a [Vec3],
}

/// Vertex distances to the simulation.
#[derive(Default)]
pub(crate) struct Distances {
    pub ours: Histogram,
    pub skin: Histogram,
    pub best: Histogram,
    pub start: Histogram,
    by_frame_cm: Vec<f32>,
    skin_by_frame_cm: Vec<f32>,
    start_by_frame_cm: Vec<f32>,
}

impl Distances {
    pub fn frame(&mut self, shown: &Shown) {
        let truth = shown.take.frame(shown.frame);
        self.by_frame_cm.push(add(shown.ours, truth, &mut self.ours));
        self.skin_by_frame_cm.push(add(shown.skin, truth, &mut self.skin));
        self.start_by_frame_cm.push(add(shown.start, truth, &mut self.start));
        add(shown.best, truth, &mut self.best);
    }

    pub fn merge(&mut self, other: Self) {
        self.ours.merge(&other.ours);
        self.skin.merge(&other.skin);
        self.best.merge(&other.best);
        self.start.merge(&other.start);
    }

    /// The largest ratio of our distance to skinning's over any second.
    fn worst_second(&self, fps: f64) -> f64 {
        let second = (fps.round() as usize).clamp(1, self.by_frame_cm.len().max(1));
        let sum = |of: &[f32]| of.iter().map(|cm| f64::from(*cm)).sum::<f64>();
        let seconds = self.by_frame_cm.windows(second).zip(self.skin_by_frame_cm.windows(second));
        seconds.map(|(ours, skin)| sum(ours) / sum(skin).max(1e-9)).fold(f64::NAN, f64::max)
    }

    /// The scores of the one take that was shown.
    pub fn clip(&self, take: &Take, out_of_range_percent: f64) -> ClipScore {
        ClipScore {
            clip: take.clip.clone(),
            stop_frame: take.stop_frame,
            frames: take.len(),
            mean_cm: self.ours.mean_cm(),
            p95_cm: self.ours.percentile_cm(0.95),
            max_cm: 100.0 * self.ours.max,
            skin_cm: self.skin.mean_cm(),
            projection_cm: self.best.mean_cm(),
            kinematic_cm: self.start.mean_cm(),
            worst_second: self.worst_second(take.fps),
            out_of_range_percent,
            by_frame_cm: self.by_frame_cm.clone(),
            skin_by_frame_cm: self.skin_by_frame_cm.clone(),
        }
    }
}

/// Adds every vertex's distance; returns their mean in centimetres.
fn add(ours: &[Vec3], truth: &[Vec3], into: &mut Histogram) -> f32 {
    let before = into.sum;
    ours.iter().zip(truth).for_each(|(a, b)| into.add(a.distance(*b)));
    (100.0 * (into.sum - before) / ours.len().max(1) as f64) as f32
}

/// What a frame costs, one garment at a time, µs; and inputs that had to be clamped.
#[derive(Default)]
pub(crate) struct Cost {
    pub latent_us: Vec<f64>,
    pub whole_us: Vec<f64>,
    pub clamped: u64,
}

impl Cost {
    /// Steps the model to a frame and takes its vertices.
    pub fn frame(&mut self, model: &mut Stable, take: &Take, f: usize, root: &RootFrame, out: &mut [Vec3]) {
        let latent = timed(|| {
            self.clamped += u64::from(step(model, take, f, root));
        });
        self.latent_us.push(latent);
        self.whole_us.push(latent + timed(|| model.positions(out)));
    }
}

/// One step of a free run, and how many inputs were clamped in it. A pose that is refused leaves the garment where it
/// was, and it is scored there.
pub(crate) fn step(learned: &mut Stable, take: &Take, f: usize, root: &RootFrame) -> u32 {
    learned.set_surroundings(&take.surroundings(f));
    learned.step_with_root(take.frame_bones(f), root, 1.0 / take.fps).map_or(0, |report| report.clamped)
}

#[allow(clippy::disallowed_methods)] // the cost of a frame is part of the score
fn timed(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e6
}

/// How strange the body is to the model.
#[derive(Default)]
pub(crate) struct Range {
    pub frames: u64,
    beyond: u64,
    pub farthest_pose: f64,
}

impl Range {
    pub fn frame(&mut self, pose_distance: f64) {
        self.frames += 1;
        self.beyond += u64::from(pose_distance > 1.0);
        self.farthest_pose = self.farthest_pose.max(pose_distance);
    }

    pub fn merge(&mut self, other: &Self) {
        self.frames += other.frames;
        self.beyond += other.beyond;
        self.farthest_pose = self.farthest_pose.max(other.farthest_pose);
    }

    pub fn percent(&self) -> f64 {
        100.0 * self.beyond as f64 / self.frames.max(1) as f64
    }
}

/// Frames between looks for penetration: a walk's stride is ten of them.
const INSIDE_EVERY: usize = 4;

/// Cloth inside the body.
pub(crate) struct Inside<'a> {
    body: &'a Body,
    posed: PosedBody,
    pub ours: Penetration,
    pub truth: Penetration,
    /// The model's deepest vertex so far.
    pub deepest_at: Option<DeepestAt>,
}

impl<'a> Inside<'a> {
    pub fn new(body: &'a Body) -> Self {
        let posed = PosedBody::new(body, &body.bones(&body.skeleton.rest_pose()));
        Self { body, posed, ours: Penetration::default(), truth: Penetration::default(), deepest_at: None }
    }

    pub fn frame(&mut self, shown: &Shown) {
        if shown.frame.is_multiple_of(INSIDE_EVERY) {
            self.posed.repose(self.body, shown.take.frame_bones(shown.frame));
            for (vertex, p) in shown.ours.iter().enumerate() {
                let before = self.ours.deepest_mm();
                self.ours.add(&self.posed, std::slice::from_ref(p));
                if self.ours.deepest_mm() > before {
                    let clip = shown.take.clip.clone();
                    self.deepest_at = Some(DeepestAt { clip, frame: shown.frame, vertex });
                }
            }
            self.truth.add(&self.posed, shown.take.frame(shown.frame));
        }
    }
}

/// The second after every stop.
#[derive(Default)]
pub(crate) struct Stops {
    ours: f64,
    start: f64,
    frames: u64,
    pub settled: Vec<Settling>,
}

impl Stops {
    pub fn take(&mut self, own: &Distances, fps: f64) {
        // The frame of the stop itself still belongs to the motion.
        let second = 1..(1 + fps.round() as usize).min(own.by_frame_cm.len());
        for f in second {
            self.ours += f64::from(own.by_frame_cm[f]);
            self.start += f64::from(own.start_by_frame_cm[f]);
            self.frames += 1;
        }
    }

    pub fn mean_cm(&self) -> f64 {
        if self.frames > 0 { self.ours / self.frames as f64 } else { f64::NAN }
    }

    pub fn start_cm(&self) -> f64 {
        if self.frames > 0 { self.start / self.frames as f64 } else { f64::NAN }
    }
}

/// Coefficients over a take: how the garment swings when the pose's part is taken away.
pub(crate) struct Swings {
    vertices: usize,
    truth: Vec<Vec<f64>>,
    model: Vec<Vec<f64>>,
    start: Vec<Vec<f64>>,
    pub lively: Liveliness,
}

impl Swings {
    pub fn new(model: &Model) -> Self {
        let rows = || vec![Vec::new(); model.cloth_dims];
        Self {
            vertices: model.vertices,
            truth: rows(),
            model: rows(),
            start: rows(),
            lively: Liveliness::default(),
        }
    }

    pub fn frame(&mut self, truth: &[f32], model: &[f32], start: &[f32]) {
        for (rows, y) in [(&mut self.truth, truth), (&mut self.model, model), (&mut self.start, start)] {
            rows.iter_mut().zip(y).for_each(|(row, y)| row.push(f64::from(*y)));
        }
    }

    /// The stop that was shown since the last take ended.
    pub fn settled(&self, take: &Take, at: usize) -> Option<Settling> {
        let matrix = |rows: &[Vec<f64>]| Mat::from_fn(rows.len(), take.len(), |r, f| rows[r][f]);
        settle(&take.clip, at, &matrix(&self.truth), &matrix(&self.model), take.fps, self.vertices)
    }

    pub fn take_ends(&mut self, fps: f64) {
        for ((truth, model), start) in self.truth.iter_mut().zip(&mut self.model).zip(&mut self.start) {
            let rest =
                |y: &[f64]| -> Vec<f64> { y.iter().zip(start.iter()).map(|(y, start)| y - start).collect() };
            self.lively.add(&rest(truth), &rest(model), fps);
            [truth, model, start].into_iter().for_each(Vec::clear);
        }
    }
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
