//! Model D: from takes to a correction on top of skinning.
//!
//! Takes are unposed and their displacements projected ([`motions`]); inputs, filters and ridge are chosen by
//! cross-validation over clips, all from the same sums ([`fit`]). Its features depend on the body alone, so every fit
//! and every score is one of a free run. What clips left out of the fit show then decides how far each direction is shrunk
//! and where the gate shuts ([`gate`]).

mod anchors;
mod choose;
mod gate;
mod hang;
pub(crate) mod motions;
mod readout;
#[cfg(test)]
mod tests;

pub use gate::GateFit;

use crate::inputs::joints::{Offer, candidates, drawn_to_hips};
use crate::inputs::standard::Inputs;
use crate::inputs::surroundings;
use crate::models::shield::{shield, thinned};
use crate::models::train::{Training, attachment};
use crate::takes::mirror::{Mirror, WithMirrored};
use crate::takes::source::{Head, TakeSource, heads};
use crate::{Error, Settings};
use choose::{Choosing, Chosen};
use faer::Mat;
use motions::Motions;
use toile_assets::{
    Attachment, Body, Certificate, Correction, InputSet, Lineage, Model, ModelKind, RootTracker, Take,
};

/// How a model D came about.
#[derive(Clone, Debug, PartialEq)]
pub struct CorrectionReport {
    /// Names of the joints whose rotations it is told.
    pub joints: Vec<String>,
    /// Error on clips left out of the fit over that of skinned cloth, root mean square within the space, before the gate.
    pub left_out: f64,
    /// Least and most of the same over three choices of centres, before nearness to anchors.
    pub spread: [f64; 2],
    /// With the gate; `None` where there were too few clips to leave any out.
    pub gate: Option<GateFit>,
    /// Frames until one hundredth is left of whatever was.
    pub forgets_in_frames: f64,
}

/// By how much the ellipsoid is larger than what training saw.
const MARGIN: f64 = 1.25;

/// Bones that carry a vertex, at most: as many as engines take, so that an exported garment is skinned as the model is.
const BONES: usize = 4;

/// Shares of what hangs on legs that are tried on the hips.
const DRAWN_TO_HIPS: [f32; 1] = [0.75];

/// Frames that weights of skirts are fitted to.
const HUNG_FRAMES: usize = 400;

/// What has to be left of the squared error on clips left out for that.
const PAYS: f64 = 0.95;

/// Share of the work that reading takes is, about.
const READING: f64 = 0.4;

/// Learns a model D.
pub(crate) fn train<S: TakeSource + ?Sized>(
    body: &Body,
    source: &S,
    settings: &Settings,
    watch: &dyn Fn(f64),
) -> Result<Training, Error> {
    let (heads, mut first) = heads(body, source, settings.surroundings)?;
    if settings.surroundings {
        first = source.take(surroundings::calmest(&heads))?.into_owned();
    }
    let mut remarks = Vec::new();
    let Some(attachment) = attachment(body, &first, &mut remarks) else {
        return Err(Error::Empty(
            "the takes do not hold the draped garment, which a model of kind d hangs on the bones; simulate them anew or \
             train --model c"
                .into(),
        ));
    };
    // Wind that is heard is mirrored, too.
    let calm = settings.surroundings.then(|| first.without_wind());
    let mirror = Mirror::asked_for(settings.mirror, body, calm.as_ref().unwrap_or(&first), &mut remarks);
    let mirrored = mirror.is_some();
    let source = WithMirrored { source, mirror };
    let heads = source.heads(heads);
    let sets = candidates(body, &attachment);
    let mut joints: Vec<usize> = sets.iter().flat_map(|set| &set.told).map(|(j, _)| *j).collect();
    joints.sort_unstable();
    joints.dedup();
    let skinned = attachment.clone();
    let ways = hangings(body, &attachment, &first.triangles, &source)?;
    let known = Known { body, first: &first, heads: &heads, joints: &joints, sets: &sets, settings };
    let Hung { motions, inputs, attachment, how } = known.hang(&source, ways, watch)?;
    let d = motions.space.basis.ncols();
    if d < settings.cloth_dims {
        let asked = settings.cloth_dims;
        remarks.push(format!("cloth dims reduced from {asked} to {d}: the frames span no more"));
    }
    let choosing = Choosing {
        motions: &motions,
        fps: first.fps,
        joints: &joints,
        cheap: settings.cheap,
        watch: &|done| watch(READING + (1.0 - READING) * done),
    };
    let chosen = choosing.run(inputs)?;
    let mut correction = chosen.correction.clone();
    correction.half_axes = half_axes(&motions);
    let rho = correction.rho();
    let report = CorrectionReport {
        joints: chosen.inputs.joints.iter().map(|&j| body.skeleton.joints[j].name.clone()).collect(),
        left_out: chosen.left_out,
        spread: chosen.spread,
        gate: chosen.gate,
        forgets_in_frames: correction.forgets_in_frames(),
    };
    let learned = heads.iter().map(|h| (h.clip.as_str(), h.provenance.as_ref()));
    let lineage = Lineage::of(learned).map(|l| l.to_note());
    let mut notes = vec![
        ("takes", heads.len().to_string()),
        ("frames", chosen.frames.to_string()),
        ("ridge", chosen.ridge.to_string()),
        ("mirrored", mirrored.to_string()),
        ("inputs", report.joints.join(" ")),
        ("hung", how),
        ("left_out_over_skin", format!("{:.3}", report.left_out)),
        ("features", correction.features().to_string()),
    ];
    for key in ["garment", "fabric"] {
        notes.extend(first.notes.iter().filter(|(k, _)| k == key).map(|(_, v)| (key, v.clone())));
    }
    let notes = notes.into_iter().map(|(k, v)| (k.to_string(), v)).chain(lineage).collect();
    let mut model = assemble(body, &first, &motions, &chosen, correction, attachment, notes);
    if settings.shield_frames > 0 {
        // What a limb carries lies on it where it is skinned to it. As takes hang it, a skirt's hem is carried by thighs it is far from.
        model.shield = shield(body, &skinned, &model.triangles, &source, settings.shield_frames)?;
    }
    model.certificate.travel_bound_m = model.correction_bound().unwrap_or_default();
    model.verify_certificate().map_err(|e| Error::Numerical(e.to_string()))?;
    Ok(Training {
        model,
        ridge: chosen.ridge,
        horizon: 0,
        tried: Vec::new(),
        rho_before: rho,
        windows: chosen.frames,
        mirrored,
        remarks,
        lowered: None,
        correction: Some(report),
    })
}

/// What choosing is told of the takes.
struct Known<'a> {
    body: &'a Body,
    first: &'a Take,
    heads: &'a [Head],
    joints: &'a [usize],
    sets: &'a [Offer],
    settings: &'a Settings,
}

/// A way to hang the garment on its wearer, and what takes are like on it.
struct Hung {
    motions: Motions,
    inputs: Inputs,
    attachment: Attachment,
    how: String,
}

/// Hung as it is skinned, as takes show it, or with a share of what legs carry hung on the hips.
fn hangings<S: TakeSource + ?Sized>(
    body: &Body,
    attachment: &Attachment,
    triangles: &[[u32; 3]],
    source: &S,
) -> Result<Vec<(String, Attachment)>, Error> {
    let mut ways = vec![("as skinned".to_string(), attachment.clone())];
    let seen = thinned(body, attachment, source, HUNG_FRAMES)?;
    let fitted = hang::fitted(body, attachment, triangles, &seen);
    ways.extend(fitted.map(|fitted| ("as in takes".into(), fitted)));
    let drawn = |&s: &f32| Some((format!("{s} of legs on the hips"), drawn_to_hips(body, attachment, s)?));
    ways.extend(DRAWN_TO_HIPS.iter().filter_map(drawn));
    Ok(ways)
}

impl Known<'_> {
    /// The way that leaves least on clips left out.
    fn hang<S: TakeSource + ?Sized>(
        &self,
        source: &S,
        ways: Vec<(String, Attachment)>,
        watch: &dyn Fn(f64),
    ) -> Result<Hung, Error> {
        let count = ways.len() as f64;
        let mut best: Option<(f64, Hung)> = None;
        for (k, (how, mut attachment)) in ways.into_iter().enumerate() {
            attachment.skin = attachment.skin.strongest(BONES);
            let watch = |done: f64| watch(READING * (k as f64 + done) / count);
            let motions = self.motions(source, &attachment, &watch)?;
            if motions.space.basis.ncols() == 0 {
                continue;
            }
            let choosing = Choosing {
                motions: &motions,
                fps: self.first.fps,
                joints: self.joints,
                cheap: self.settings.cheap,
                watch: &|_| {},
            };
            let (inputs, left) = choosing.inputs(self.sets)?;
            // Far from training, where the gate shuts, plain skinning is the better ground: a skirt that follows a bow with its
            // hips alone stands off behind. So hips have to pay.
            if best.as_ref().is_none_or(|(least, _)| left < PAYS * least) {
                best = Some((left, Hung { motions, inputs, attachment, how }));
            }
        }
        let hung = best.map(|(_, hung)| hung);
        hung.ok_or_else(|| Error::Empty("the garment never leaves its skinned place in any take".into()))
    }

    /// Takes on a garment that hangs so, and how it is at rest.
    fn motions<S: TakeSource + ?Sized>(
        &self,
        source: &S,
        attachment: &Attachment,
        watch: &dyn Fn(f64),
    ) -> Result<Motions, Error> {
        let dims = self.settings.cloth_dims.max(1);
        let mut motions = Motions::new(source, self.heads, attachment, self.joints, dims, watch)?;
        if self.settings.surroundings {
            let all = motions.all.iter().map(|m| (&m.heard[..], &m.roots[..]));
            motions.hearing = Some(surroundings::hearing(all, self.first.fps));
        } else if motions.space.basis.ncols() > 0 {
            // Cloths and winds at rest differ, and were not recorded: only without them is rest known.
            let [_, left, right] = self.body.hip_line().bind;
            let (heading, _) = RootTracker::default().follow(left - right);
            motions.add_rest(heading, self.joints.len());
        }
        Ok(motions)
    }
}

/// The model, not kept outside of the body yet and with no bound.
fn assemble(
    body: &Body,
    first: &Take,
    motions: &Motions,
    chosen: &Chosen,
    correction: Correction,
    attachment: Attachment,
    notes: Vec<(String, String)>,
) -> Model {
    let (basis, d, m) = (&motions.space.basis, motions.space.basis.ncols(), chosen.inputs.scale.len());
    // The mean of all other entries stays zero: skinning adds it back, and nothing else looks at them.
    let mut bones_mean = vec![0.0f32; 12 * first.joints];
    let mut body_from_bones = vec![0.0f32; m * 12 * first.joints];
    for (k, &(joint, entry)) in chosen.inputs.entries.iter().enumerate() {
        let at = 12 * joint + entry;
        bones_mean[at] = chosen.inputs.mean[k] as f32;
        body_from_bones[k * 12 * first.joints + at] = chosen.inputs.scale[k] as f32;
    }
    let rho = correction.rho();
    Model {
        name: body.name.clone(),
        kind: ModelKind::D,
        order: 0,
        fps: first.fps,
        vertices: first.vertices,
        triangles: first.triangles.clone(),
        cloth_dims: d,
        body_dims: m,
        joints: first.joints,
        cloth_mean: attachment.rest.clone(),
        cloth_basis: (0..basis.nrows()).flat_map(|r| (0..d).map(move |c| basis[(r, c)] as f32)).collect(),
        bones_mean,
        body_from_bones,
        a: Vec::new(),
        b: Vec::new(),
        c: Vec::new(),
        bias: Vec::new(),
        a0: flat(&chosen.order_zero.weights),
        bias0: chosen.order_zero.bias.iter().map(|v| *v as f32).collect(),
        hips: Some(body.hip_line()),
        inputs: InputSet {
            body_min: Vec::new(),
            body_max: Vec::new(),
            body_rate: Vec::new(),
            body_std: chosen.inputs.std.iter().map(|v| *v as f32).collect(),
            body_reach: chosen.inputs.reach as f32,
            max_horizontal_m: 0.0,
            max_vertical_m: 0.0,
            max_turn: 0.0,
        },
        certificate: Certificate {
            rho,
            gamma: rho,
            p: Vec::new(),
            transient_gain: 1.0,
            travel_bound_m: Vec::new(),
            travel_bound_rate_m: Vec::new(),
            training_travel_m: motions.travel_m.clone(),
        },
        correction: Some(correction),
        attachment: Some(attachment),
        shield: None,
        hidden_triangles: Vec::new(),
        notes,
    }
}

fn flat(m: &Mat<f64>) -> Vec<f32> {
    (0..m.nrows()).flat_map(|r| (0..m.ncols()).map(move |c| m[(r, c)] as f32)).collect()
}

/// An ellipsoid with axes along the directions that holds every training frame with the margin.
fn half_axes(motions: &Motions) -> Vec<f32> {
    let d = motions.space.basis.ncols();
    let (mut squares, mut frames) = (vec![0.0f64; d], 0usize);
    for motion in &motions.all {
        for f in 0..motion.y.ncols() {
            squares.iter_mut().zip(motion.y.col_as_slice(f)).for_each(|(sum, y)| *sum += y * y);
        }
        frames += motion.y.ncols();
    }
    let rms: Vec<f64> = squares.iter().map(|s| (s / frames.max(1) as f64).sqrt().max(1e-6)).collect();
    let shape = |power: f64| -> Vec<f64> { rms.iter().map(|s| rms[0] * (s / rms[0]).powf(power)).collect() };
    let scaled = |power: f64| -> (f64, Vec<f64>) {
        let axes = shape(power);
        let reach = |y: &[f64]| y.iter().zip(&axes).map(|(y, s)| (y / s).powi(2)).sum::<f64>().sqrt();
        let frames = motions.all.iter().flat_map(|m| (0..m.y.ncols()).map(|f| m.y.col_as_slice(f)));
        let farthest = frames.map(reach).fold(1e-9, f64::max);
        let axes: Vec<f64> = axes.iter().map(|s| MARGIN * farthest * s).collect();
        let basis = &motions.space.basis;
        let row = |r: usize| (0..d).map(|k| (basis[(r, k)] * axes[k]).powi(2)).sum::<f64>();
        let worst =
            (0..basis.nrows() / 3).map(|v| row(3 * v) + row(3 * v + 1) + row(3 * v + 2)).fold(0.0, f64::max);
        (worst, axes)
    };
    // Cloth is rarely far out in all directions at once, and farthest in small ones relative to their size: axes that fall
    // more slowly than the root mean square hold the same frames in less room.
    let tightest =
        [1.0, 0.85, 0.7, 0.55, 0.4, 0.25].map(scaled).into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
    tightest.map_or(Vec::new(), |(_, axes)| axes.iter().map(|a| *a as f32).collect())
}
