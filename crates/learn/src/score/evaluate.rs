//! How wrong a model is, by free runs through the code that ships.

use super::project::{order_zero, project_body, project_cloth, project_points, reconstruct};
use super::settling::Settling;
use super::tally::{Cost, Distances, Inside, Range, Shown, Stops, Swings, median, step};
use crate::takes::sequence::joined_roots;
use glam::Vec3;
use std::sync::Arc;
use toile_assets::{Attachment, Body, Model, RootFrame, Take};
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
    /// The worst second: its distance over that of skinned cloth.
    pub worst_second: f64,
    /// Share of frames whose body is farther from the mean than any training pose, percent.
    pub out_of_range_percent: f64,
    /// Mean vertex distance per frame, for plots.
    pub by_frame_cm: Vec<f32>,
    /// The same for skinned cloth.
    pub skin_by_frame_cm: Vec<f32>,
}

/// A vertex in a frame of a clip.
#[derive(Clone, Debug, PartialEq)]
pub struct DeepestAt {
    /// The clip.
    pub clip: String,
    /// Frame of it, from its first on.
    pub frame: usize,
    /// Vertex of the simulated mesh.
    pub vertex: usize,
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
    /// The worst second: its distance over that of skinned cloth.
    pub worst_second: f64,
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
    /// Vertices deeper than 2 mm inside the body, percent.
    pub deep_percent: f64,
    /// Deepest vertex inside the body, mm.
    pub deepest_mm: f64,
    /// Where that is; `None` where nothing is inside.
    pub deepest_at: Option<DeepestAt>,
    /// Vertices inside the body that were left out, percent: the body crosses itself within 5 cm of them.
    pub excluded_percent: f64,
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
    /// Median of `|model/truth − 1|` of the first swing's amplitude, percent.
    pub amplitude_error_percent: f64,
    /// First swing of truth and model, cm of root mean square over vertices.
    pub swing_cm: [f64; 2],
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
            amplitude_error_percent: over(&|s| off(s.model_swing_cm, s.truth_swing_cm)),
            swing_cm: [over(&|s| s.truth_swing_cm), over(&|s| s.model_swing_cm)],
            error_ratio: median(self.stops.iter().map(|s| s.error_ratio).collect()),
        })
    }
}

/// The plain take that a stop branches off, and the frame.
fn branch<'a>(takes: &'a [Take], stop: &Take) -> Option<(&'a Take, usize)> {
    let at = stop.stop_frame?;
    let same = |t: &&Take| t.stop_frame.is_none() && t.clip == stop.clip && t.len() > at;
    Some((takes.iter().find(same)?, at))
}

/// Runs the model freely over every take: it sees only body motion, from its own order-0 start. A stop is run from the
/// beginning of its clip where that clip is among the takes. `body` is for penetration.
pub fn evaluate(
    model: &Arc<Model>,
    takes: &[Take],
    attachment: &Attachment,
    body: Option<&Body>,
) -> Evaluation {
    evaluate_beyond(None, model, takes, attachment, body)
}

/// The same; how the garment swings is what it does beyond the order-0 prediction of `reference`, a model learned elsewhere.
/// Its own prediction is another for every model, and the better that is the less is left that can be foretold: models compare
/// only against one that is the same for all.
pub fn evaluate_beyond(
    reference: Option<&Model>,
    model: &Arc<Model>,
    takes: &[Take],
    attachment: &Attachment,
    body: Option<&Body>,
) -> Evaluation {
    let mut learned = Stable::new(model.clone());
    let mut skinned = Skinned::new(attachment.clone());
    let (mut distances, mut cost, mut range) = (Distances::default(), Cost::default(), Range::default());
    let (mut stops, mut swings) = (Stops::default(), Swings::new(reference.unwrap_or(model)));
    let mut inside = body.map(Inside::new);
    let mut clips = Vec::new();
    let [mut ours, mut skin, mut best, mut start] = [(); 4].map(|()| vec![Vec3::ZERO; model.vertices]);
    for take in takes {
        let branch = branch(takes, take);
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
        let (mut own, mut own_range) = (Distances::default(), Range::default());
        for f in 0..take.len() {
            cost.frame(&mut learned, take, f, &roots[f], &mut ours);
            let y = project_cloth(model, take, f);
            let kinematic = order_zero(model, learned.body_coefficients());
            reconstruct(model, &y, take, f, &mut best);
            reconstruct(model, &kinematic, take, f, &mut start);
            let _ = skinned.step(take.frame_bones(f), 1.0 / take.fps);
            skinned.positions(&mut skin);
            let shown = Shown { take, frame: f, ours: &ours, skin: &skin, best: &best, start: &start };
            own.frame(&shown);
            own_range.frame(f64::from(model.pose_distance(&project_body(model, take, f))));
            match reference {
                None => swings.frame(&y, learned.coefficients(), &kinematic),
                Some(beyond) => swings.frame(
                    &project_cloth(beyond, take, f),
                    &project_points(beyond, take, f, &ours),
                    &order_zero(beyond, &project_body(beyond, take, f)),
                ),
            }
            inside.iter_mut().for_each(|i| i.frame(&shown));
        }
        if let Some((_, at)) = branch {
            stops.take(&own, take.fps);
            stops.settled.extend(swings.settled(take, at));
        }
        swings.take_ends(take.fps);
        clips.push(own.clip(take, own_range.percent()));
        distances.merge(own);
        range.merge(&own_range);
    }
    let [truth_inside, model_inside] =
        inside.as_ref().map_or([None, None], |i| [Some(i.truth), Some(i.ours)]);
    let nan = f64::NAN;
    Evaluation {
        mean_cm: distances.ours.mean_cm(),
        p95_cm: distances.ours.percentile_cm(0.95),
        max_cm: 100.0 * distances.ours.max,
        worst_second: clips.iter().map(|c| c.worst_second).fold(nan, f64::max),
        skin_cm: distances.skin.mean_cm(),
        projection_cm: distances.best.mean_cm(),
        kinematic_cm: distances.start.mean_cm(),
        after_stops_cm: stops.mean_cm(),
        kinematic_after_stops_cm: stops.start_cm(),
        liveliness: swings.lively.ratio(),
        correlation: swings.lively.correlation(),
        stops: stops.settled,
        penetration_percent: model_inside.map_or(nan, |i| i.percent()),
        truth_penetration_percent: truth_inside.map_or(nan, |i| i.percent()),
        deep_percent: model_inside.map_or(nan, |i| i.deep_percent()),
        deepest_mm: model_inside.map_or(nan, |i| i.deepest_mm()),
        deepest_at: inside.as_mut().and_then(|i| i.deepest_at.take()),
        excluded_percent: model_inside.map_or(nan, |i| i.excluded_percent()),
        truth_deepest_mm: truth_inside.map_or(nan, |i| i.deepest_mm()),
        out_of_range_percent: range.percent(),
        farthest_pose: range.farthest_pose,
        us_per_frame: median(cost.whole_us),
        us_latent: median(cost.latent_us),
        rho: model.certificate.rho,
        clamped_per_frame: cost.clamped as f64 / range.frames.max(1) as f64,
        clips,
    }
}
