//! From takes to a model: spaces, fit, refinement, stability, certificate.

use crate::certificate::certify::{certify, companion, enforce, spectral_radius};
use crate::models::assemble::Parts;
use crate::models::hidden_skin::hidden_triangles;
use crate::models::refine::{Free, Segments, refine};
use crate::models::regression::{Layout, NormalEquations, Regression};
use crate::models::rollout::{FreeScore, score};
use crate::spaces::body::BodySpace;
use crate::spaces::cloth::ClothSpace;
use crate::takes::mirror::{Mirror, WithMirrored};
use crate::takes::sequences::{Cut, InputStatistics, Sequences};
use crate::takes::source::{Head, TakeSource, heads};
use crate::{CorrectionReport, Error, Settings};
use faer::Mat;
use std::rc::Rc;
use toile_assets::{Attachment, AttachmentSettings, Body, Lineage, Mesh, Model, ModelKind, Take, attach};

/// One way of fitting and how it free-ran on clips held out of the fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tried {
    /// Ridge strength.
    pub ridge: f64,
    /// Frames of the free runs that refined it; 0 is the one-step fit.
    pub horizon: usize,
    /// Root mean square vertex distance within the space, averaged over frames, cm.
    pub rms_cm: f64,
    /// The same over that of the order-0 prediction, averaged over takes.
    pub over_order_zero: f64,
    /// Liveliness; 1 is right.
    pub liveliness: f64,
}

/// A trained model and how it came about.
pub struct Training {
    /// The model, certified.
    pub model: Model,
    /// The ridge strength that was chosen.
    pub ridge: f64,
    /// Frames of the free runs that refined it; 0 where it was not refined.
    pub horizon: usize,
    /// Everything that was tried on clips held out of the fit; empty where there were too few.
    pub tried: Vec<Tried>,
    /// Spectral radius of the one-step fit, before refinement and before stability was enforced.
    pub rho_before: f64,
    /// Windows the motion was fitted to.
    pub windows: usize,
    /// Whether every take was used a second time, mirrored; the windows count both.
    pub mirrored: bool,
    /// What was reduced or noticed.
    pub remarks: Vec<String>,
    /// Where stability had to be enforced: what lowering dimensions until it comes by itself would have given.
    pub lowered: Option<Lowered>,
    /// How a model D came about; `None` for the others.
    pub correction: Option<CorrectionReport>,
}

/// The simplest way to a stable model (§6.1): fewer dimensions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lowered {
    /// Cloth dimensions at which least squares is stable unaided.
    pub cloth_dims: usize,
    /// Its spectral radius.
    pub rho: f64,
    /// Its free-run error on the training takes, root mean square within the full space, cm.
    pub rms_cm: f64,
    /// The same error of the enforced model.
    pub enforced_rms_cm: f64,
}

/// Learns a garment from its takes on `body`.
pub fn train<S: TakeSource + ?Sized>(
    body: &Body,
    source: &S,
    settings: &Settings,
) -> Result<Training, Error> {
    train_watched(body, source, settings, &|_| {})
}

/// The same, telling now and then what share of the work is done. Only a model D tells: the others are quick.
pub fn train_watched<S: TakeSource + ?Sized>(
    body: &Body,
    source: &S,
    settings: &Settings,
    watch: &dyn Fn(f64),
) -> Result<Training, Error> {
    let mut training = match settings.kind {
        ModelKind::D => crate::models::correction::train(body, source, settings, watch)?,
        _ => Prepared::new(body, source, settings)?.train(settings)?,
    };
    if settings.hidden_frames > 0 {
        training.model.hidden_triangles = hidden_triangles(body, source, settings.hidden_frames)?;
        training.model.notes.push(("hidden_frames".into(), settings.hidden_frames.to_string()));
    }
    Ok(training)
}

/// Takes brought into their spaces: what every model of them shares, whatever its kind, order and dimensions.
pub struct Prepared<'a> {
    body: &'a Body,
    first: Take,
    heads: Vec<Head>,
    cloth: Rc<ClothSpace>,
    pose: Rc<BodySpace>,
    sequences: Sequences<'a>,
    attachment: Option<Attachment>,
    mirrored: bool,
    remarks: Vec<String>,
}

impl<'a> Prepared<'a> {
    /// Finds the spaces, with as many dimensions as the settings ask for, and projects every take.
    pub fn new<S: TakeSource + ?Sized>(
        body: &'a Body,
        source: &'a S,
        settings: &Settings,
    ) -> Result<Self, Error> {
        let (heads, first) = heads(body, source, false)?;
        let mut remarks = Vec::new();
        let mirror = Mirror::asked_for(settings.mirror, body, &first, &mut remarks);
        let mirrored = mirror.is_some();
        let source = WithMirrored { source, mirror };
        let heads = source.heads(heads);
        // Spaces come from the plain takes, motion from all of them (§7, two-step training).
        let mut plain: Vec<usize> = (0..heads.len()).filter(|&i| heads[i].stop_frame.is_none()).collect();
        if plain.is_empty() {
            plain = (0..heads.len()).collect();
        }
        let (cloth_dims, body_dims) = (settings.cloth_dims.max(1), settings.body_dims.max(1));
        let cloth = ClothSpace::new(&source, &plain, first.vertices, cloth_dims, settings.chunk_frames)?;
        let pose = BodySpace::new(body, &source, &plain, body_dims)?;
        let (cloth, pose) = (Rc::new(cloth), Rc::new(pose));
        let sequences = Sequences::new(source, &heads, cloth.clone(), pose.clone(), settings.kept_frames)?;
        let kept = (0..heads.len()).filter(|&i| sequences.is_kept(i)).count();
        if kept < heads.len() {
            remarks.push(format!(
                "free runs on held-out clips and refinement look at {kept} of {} takes, evenly thinned to {} frames; \
                 the fit uses every frame",
                heads.len(),
                settings.kept_frames
            ));
        }
        let attachment = attachment(body, &first, &mut remarks);
        Ok(Self { body, first, heads, cloth, pose, sequences, attachment, mirrored, remarks })
    }

    /// The garment's weights, as it hangs on the body.
    pub fn attachment(&self) -> Option<&Attachment> {
        self.attachment.as_ref()
    }

    /// Learns one model; its dimensions are at most those that were prepared.
    pub fn train(&self, settings: &Settings) -> Result<Training, Error> {
        let (heads, first) = (&self.heads, &self.first);
        let mut remarks = self.remarks.clone();
        let mut settings = settings.clone();
        let order = if settings.kind == ModelKind::A { 0 } else { settings.order };
        reduce_dims(heads, order, &mut settings, &mut remarks);
        let (spanned_d, spanned_m) = (self.cloth.basis.ncols(), self.pose.from_bones.nrows());
        for (name, got, asked) in
            [("cloth", spanned_d, settings.cloth_dims), ("body", spanned_m, settings.body_dims)]
        {
            if got < asked && got > 0 {
                remarks.push(format!("{name} dims reduced from {asked} to {got}: the frames span no more"));
            }
        }
        let (d, m) = (settings.cloth_dims.min(spanned_d).max(1), settings.body_dims.min(spanned_m).max(1));
        // Where nothing moves there is one direction that never does anything.
        let mut pose = BodySpace {
            mean: self.pose.mean.clone(),
            from_bones: Mat::from_fn(m, 12 * self.body.skeleton.len(), |r, c| {
                if r < spanned_m { self.pose.from_bones[(r, c)] } else { 0.0 }
            }),
        };
        let cloth = ClothSpace {
            mean: self.cloth.mean.clone(),
            basis: Mat::from_fn(3 * first.vertices, d, |r, c| {
                if c < spanned_d { self.cloth.basis[(r, c)] } else { f64::from(u8::from(r == 0)) }
            }),
        };
        if spanned_m == 0 {
            remarks.push(
                "the body stands still in every take: the model is of order 0 and holds one shape".into(),
            );
            settings.kind = ModelKind::A;
            pose.from_bones.fill(0.0);
        }
        if spanned_d == 0 {
            remarks.push("the garment stands still in every take".into());
        }
        let trainer = Trainer {
            layout: Layout::new(&settings, m, d),
            settings: &settings,
            heads,
            sequences: Cut { all: &self.sequences, body: m, cloth: d },
            vertices: first.vertices,
            fps: first.fps,
        };
        let sums = trainer.sums()?;
        let (choice, tried) = trainer.choose(&sums)?;
        let all: Vec<usize> = (0..heads.len()).collect();
        let fitted = trainer.fit(&sums.all()?, &all, choice)?;
        let parts = Parts { body: self.body, first, settings: &settings, cloth: &cloth, pose: &pose };
        let mut model =
            parts.model(&trainer.layout, &fitted.fit, &fitted.start, &self.sequences.seen, sums.reach);
        model.certificate = certify(&model, self.sequences.travel_m.clone())?;
        model.verify_certificate().map_err(|e| Error::Numerical(e.to_string()))?;
        model.attachment = self.attachment.clone();
        let lowered = if fitted.rho_before >= 1.0 { trainer.lower_dims(&sums, &fitted)? } else { None };
        let mut notes = vec![
            ("takes", heads.len().to_string()),
            ("windows", fitted.windows.to_string()),
            ("ridge", choice.ridge.to_string()),
            ("refined_over_frames", choice.horizon.to_string()),
            ("rho_before", fitted.rho_before.to_string()),
            ("mirrored", self.mirrored.to_string()),
            ("form", if settings.paper { "printed" } else { "with bias" }.to_string()),
        ];
        for key in ["garment", "fabric"] {
            notes.extend(first.notes.iter().filter(|(k, _)| k == key).map(|(_, v)| (key, v.clone())));
        }
        if let Some(held) = tried.iter().find(|t| (t.ridge, t.horizon) == (choice.ridge, choice.horizon)) {
            notes.push(("held_out_rms_cm", format!("{:.3}", held.rms_cm)));
            notes.push(("held_out_liveliness", format!("{:.3}", held.liveliness)));
        }
        model.notes = notes.into_iter().map(|(k, v)| (k.to_string(), v)).collect();
        let learned = heads.iter().map(|h| (h.clip.as_str(), h.provenance.as_ref()));
        model.notes.extend(Lineage::of(learned).map(|l| l.to_note()));
        Ok(Training {
            model,
            ridge: choice.ridge,
            horizon: choice.horizon,
            tried,
            rho_before: fitted.rho_before,
            windows: fitted.windows,
            mirrored: self.mirrored,
            remarks,
            lowered,
            correction: None,
        })
    }
}

/// A regression needs more windows than features; dims are lowered until there are two windows to each.
fn reduce_dims(heads: &[Head], order: usize, settings: &mut Settings, remarks: &mut Vec<String>) {
    let windows: usize = heads.iter().map(|h| h.frames.saturating_sub(order)).sum();
    let metas = if settings.kind == ModelKind::C { order } else { 0 };
    let features = |cloth: usize, body: usize| body + order * cloth + 5 * metas;
    let (cloth, body) = (settings.cloth_dims.max(1), settings.body_dims.max(1));
    (settings.cloth_dims, settings.body_dims) = (cloth, body);
    while 2 * features(settings.cloth_dims, settings.body_dims) > windows
        && settings.cloth_dims.max(settings.body_dims) > 1
    {
        settings.cloth_dims = (settings.cloth_dims * 7 / 8).max(1);
        settings.body_dims = (settings.body_dims * 7 / 8).max(1);
    }
    if settings.cloth_dims < cloth {
        remarks.push(format!(
            "dims reduced from {cloth} cloth and {body} body to {} and {}: {windows} windows allow no more",
            settings.cloth_dims, settings.body_dims
        ));
    }
}

/// The garment's weights, as it hangs on the body.
pub(crate) fn attachment(body: &Body, take: &Take, remarks: &mut Vec<String>) -> Option<Attachment> {
    if take.draped.len() != take.vertices {
        return None;
    }
    let mesh = Mesh { positions: take.draped.clone(), triangles: take.triangles.clone(), uvs: vec![] };
    match attach(body, &mesh, &AttachmentSettings::default()) {
        Ok(attachment) => Some(attachment),
        Err(e) => {
            remarks.push(format!("the model has no skinned tier: {e}"));
            None
        }
    }
}

/// How strongly a fit is held back and over how many frames it is refined.
#[derive(Clone, Copy)]
struct Choice {
    ridge: f64,
    horizon: usize,
}

struct Fitted {
    fit: Regression,
    start: Regression,
    rho_before: f64,
    windows: usize,
}

/// Everything a fit needs except which takes and how.
struct Trainer<'a> {
    settings: &'a Settings,
    layout: Layout,
    heads: &'a [Head],
    sequences: Cut<'a>,
    vertices: usize,
    fps: f64,
}

/// SplitSums over windows of the motion and of its order-0 start: all that a fit of any ridge needs.
struct SplitSums {
    /// Over takes that choosing fits to.
    fitted: [NormalEquations; 2],
    /// Over those it holds out.
    held: [NormalEquations; 2],
    /// The farthest any body was from the mean, in standard deviations.
    reach: f64,
}

impl SplitSums {
    /// The sums over all takes.
    fn all(&self) -> Result<[NormalEquations; 2], Error> {
        let mut all = self.fitted.clone();
        all.iter_mut().zip(&self.held).for_each(|(all, held)| all.merge(held));
        if all[0].windows() == 0 {
            return Err(Error::Empty("no take is longer than the order".into()));
        }
        Ok(all)
    }
}

impl Trainer<'_> {
    /// Takes of clips that are held out when fits are compared. Stop takes go with the clip they branch from.
    fn held_out(&self) -> Vec<bool> {
        let mut clips: Vec<&str> = self.heads.iter().map(|h| h.clip.as_str()).collect();
        clips.sort_unstable();
        clips.dedup();
        let few = clips.len() < 3;
        let held: Vec<&str> = clips.into_iter().skip(1).step_by(4).collect();
        self.heads.iter().map(|h| !few && held.contains(&h.clip.as_str())).collect()
    }

    /// One pass over every frame of every take.
    fn sums(&self) -> Result<SplitSums, Error> {
        let layout = &self.layout;
        let empty = || [NormalEquations::new(*layout), NormalEquations::new(layout.bootstrap())];
        let mut sums = SplitSums { fitted: empty(), held: empty(), reach: 0.0 };
        let mut std = self.sequences.all.seen.body_std();
        std.resize(layout.body, 0.0);
        for (i, held) in self.held_out().into_iter().enumerate() {
            let s = self.sequences.at(i)?;
            let into = if held { &mut sums.held } else { &mut sums.fitted };
            into.iter_mut().for_each(|n| n.add(&s));
            sums.reach = sums.reach.max(InputStatistics::reach(&std, &s));
        }
        Ok(sums)
    }

    /// Free runs on clips held out of the fit decide.
    fn choose(&self, sums: &SplitSums) -> Result<(Choice, Vec<Tried>), Error> {
        let ridges = &self.settings.ridges;
        let middle = Choice { ridge: ridges[ridges.len() / 2], horizon: 0 };
        let refining = self.settings.refine && !self.settings.paper && self.layout.order > 0;
        let is_held = self.held_out();
        // A mirrored clip would only say the same again.
        let held: Vec<usize> = (0..self.heads.len())
            .filter(|&i| is_held[i] && !self.heads[i].mirrored && self.sequences.all.is_kept(i))
            .collect();
        if held.is_empty() || (ridges.len() == 1 && !refining) {
            return Ok((middle, Vec::new()));
        }
        if sums.fitted[0].windows() == 0 {
            return Err(Error::Empty(format!("no take is longer than {} frames", self.layout.order)));
        }
        let fitted: Vec<usize> = (0..self.heads.len()).filter(|&i| !is_held[i]).collect();
        let mut tried = Vec::new();
        let attempt = |choice: Choice| -> Result<Tried, Error> {
            let FreeScore { rms_cm, over_order_zero, liveliness } =
                self.score(&self.fit(&sums.fitted, &fitted, choice)?, &held)?;
            Ok(Tried { ridge: choice.ridge, horizon: choice.horizon, rms_cm, over_order_zero, liveliness })
        };
        for &ridge in ridges {
            tried.push(attempt(Choice { ridge, horizon: 0 })?);
        }
        let one_step = best(&tried);
        if refining && one_step.liveliness < self.settings.refine_below {
            for &horizon in &self.settings.horizons {
                // What is fitted over many frames can follow their noise, too: it is held back more.
                for factor in [10.0, 100.0, 1000.0] {
                    tried.push(attempt(Choice { ridge: factor * one_step.ridge, horizon })?);
                }
            }
        }
        let chosen = best(&tried);
        Ok((Choice { ridge: chosen.ridge, horizon: chosen.horizon }, tried))
    }

    fn score(&self, fitted: &Fitted, takes: &[usize]) -> Result<FreeScore, Error> {
        let sequences = self.sequences.some(takes)?;
        let sequences = sequences.iter().map(|s| &**s);
        Ok(score(&self.layout, &fitted.fit, &fitted.start, sequences, self.vertices, self.fps))
    }

    /// Fits the given takes, whose sums are given, too; the result is stable.
    fn fit(
        &self,
        [normal, start]: &[NormalEquations; 2],
        takes: &[usize],
        choice: Choice,
    ) -> Result<Fitted, Error> {
        let (layout, limit) = (&self.layout, self.settings.max_rho);
        let mut fit = normal.fit(choice.ridge)?;
        let rho_before = enforce(&mut fit, layout, limit)?;
        if rho_before > limit {
            fit = normal.refit(choice.ridge, &fit)?;
        }
        let windows = normal.windows();
        let start = start.fit(choice.ridge)?;
        if choice.horizon > 0 && layout.order > 0 {
            let limit_segments = self.settings.refine_frames / choice.horizon.max(1);
            let kept: Vec<usize> = takes.iter().copied().filter(|&i| self.sequences.all.is_kept(i)).collect();
            let sequences = self.sequences.some(&kept)?;
            let sequences = sequences.iter().map(|s| &**s);
            let segments = Segments::new(layout, sequences, choice.horizon, limit_segments);
            if !segments.is_empty() {
                fit = refine(&segments, normal, choice.ridge, &fit, 25, Free::All)?;
                if enforce(&mut fit, layout, limit)? > limit {
                    fit = refine(&segments, normal, choice.ridge, &fit, 10, Free::Inputs)?;
                }
            }
        }
        Ok(Fitted { fit, start, rho_before, windows })
    }

    /// Lowers cloth dimensions by an eighth at a time until least squares is stable unaided.
    fn lower_dims(&self, sums: &SplitSums, enforced: &Fitted) -> Result<Option<Lowered>, Error> {
        let kept: Vec<usize> = (0..self.heads.len()).filter(|&i| self.sequences.all.is_kept(i)).collect();
        let enforced_rms_cm = self.score(enforced, &kept)?.rms_cm;
        let all = sums.all()?;
        let mut d = self.layout.cloth;
        while d > 1 {
            d = (d * 7 / 8).max(1);
            let layout = Layout { cloth: d, ..self.layout };
            let ridge = self.settings.ridges[0];
            let [normal, start] = [&all[0], &all[1]].map(|n| n.truncated(d).fit(ridge));
            let (fit, start) = (normal?, start?);
            let rho = spectral_radius(&companion(&fit, &layout))?;
            if rho < 1.0 {
                let lower = Cut { all: self.sequences.all, body: layout.body, cloth: d };
                let cut = lower.some(&kept)?;
                let sequences = cut.iter().map(|s| &**s);
                let inside = score(&layout, &fit, &start, sequences, self.vertices, self.fps).rms_cm;
                // What the missing directions cost.
                let (mut left, mut frames) = (0.0, 0usize);
                for s in self.sequences.some(&kept)? {
                    for t in s.lead..s.len() {
                        left += (d..self.layout.cloth).map(|k| s.y[(k, t)].powi(2)).sum::<f64>();
                        frames += 1;
                    }
                }
                let outside = left / (frames.max(1) * self.vertices) as f64 * 1e4;
                let rms_cm = (inside * inside + outside).sqrt();
                return Ok(Some(Lowered { cloth_dims: d, rho, rms_cm, enforced_rms_cm }));
            }
        }
        Ok(None)
    }
}

/// Least error, where stiffness counts as error: mean distance alone would choose cloth that barely moves. Half as
/// lively (or twice) weighs like a sixth more of error.
fn best(tried: &[Tried]) -> Tried {
    let weighed = |t: &Tried| t.over_order_zero * (1.0 + 0.25 * t.liveliness.max(1e-6).ln().abs());
    *tried.iter().min_by(|a, b| weighed(a).total_cmp(&weighed(b))).unwrap_or(&tried[0])
}

#[cfg(test)]
pub(crate) mod tests;
