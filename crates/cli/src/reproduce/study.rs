//! The experiment itself: trainings and free runs behind every table.

use super::cast::Cast;
use super::variants::{Resolution, Speed};
use anyhow::{Context, Result};
use glam::Vec3;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use toile_assets::{Attachment, Body, Model, ModelKind, Take};
use toile_learn::{
    Baselines, Evaluation, Prepared, Settings, Training, Twins, baselines, evaluate, twins, worst_case,
};
use toile_run::{Stable, Tier};

/// One model of a table.
pub struct Row {
    pub kind: ModelKind,
    pub order: usize,
    pub dims: usize,
    /// Dimensions that were left after reduction, cloth and body.
    pub got: [usize; 2],
    pub train_cm: f64,
    pub test_cm: f64,
    pub liveliness: f64,
    pub correlation: f64,
    pub projection_cm: f64,
    pub after_stops_cm: f64,
    pub rho: f64,
    pub rho_before: f64,
    pub tightness: [f64; 2],
    pub horizon: usize,
}

/// One garment of table 1.
pub struct GarmentRow {
    pub name: String,
    pub vertices: usize,
    pub triangles: usize,
    pub rho: f64,
    pub rho_before: f64,
    pub model_us: f64,
    pub total_us: f64,
    pub full_ms: f64,
    pub mean_cm: f64,
}

/// One garment in two fabrics (Figure 4): do the models differ by more than they are wrong?
pub struct Pair {
    pub names: [String; 2],
    /// Mean vertex distance between the two models on the same unseen motion.
    pub apart_cm: f64,
    /// The same between the two simulations.
    pub truths_apart_cm: f64,
    /// Each model's own error there.
    pub errors_cm: [f64; 2],
}

/// A garment of table 1 after its training.
struct Fitted {
    name: String,
    model: Arc<Model>,
    test: Vec<Take>,
    error_cm: f64,
}

/// What the worst input did to the main model.
pub struct Worst {
    pub bound_cm: f64,
    pub attained_percent: f64,
    pub largest_percent: f64,
}

pub struct Study {
    pub frames: [usize; 3],
    pub windows: usize,
    /// Whether mirror images are among the windows.
    pub mirrored: bool,
    pub dims: Vec<usize>,
    pub orders: Vec<usize>,
    /// Table 2.
    pub by_dims: Vec<Row>,
    /// Table 3.
    pub by_order: Vec<Row>,
    /// Table 1.
    pub garments: Vec<GarmentRow>,
    /// Figure 4.
    pub pairs: Vec<Pair>,
    fitted: Vec<Fitted>,
    /// Model C at the main dimensions, and A and B beside it.
    pub main: Option<Row>,
    pub printed: Option<Row>,
    pub one_step: Option<Row>,
    pub evaluation: Option<Evaluation>,
    pub worst: Option<Worst>,
    pub baselines: Option<Baselines>,
    /// How well the simulation repeats itself.
    pub twins: Option<Twins>,
    /// Name, mean cm, order-0 cm, skin cm, out of range %.
    pub apart: Vec<(String, [f64; 4])>,
    /// Model C on a walk, and on one that stops and twists, by dims, cm.
    pub rotations: Vec<(usize, [f64; 2])>,
    /// Table 4.
    pub resolutions: Vec<Resolution>,
    pub speeds: Vec<Speed>,
    model: Option<Arc<Model>>,
    /// Seconds of the main training.
    pub train_secs: f64,
    pub simulated_ms: f64,
    train: Arc<[Take]>,
    test: Vec<Take>,
    twin_takes: Vec<Take>,
    apart_takes: Vec<Take>,
    body: Body,
    cast: CastNames,
}

struct CastNames {
    stretched: Vec<String>,
    other: Vec<(String, Vec<String>)>,
    transitions: Vec<String>,
    walk_and_twist: [String; 2],
}

/// The dimensions of the paper's best model.
const MAIN: usize = 64;

impl Study {
    pub fn new(
        body: &Body,
        cast: &Cast,
        train: Vec<Take>,
        [test, twin_takes]: [Vec<Take>; 2],
        apart_takes: Vec<Take>,
        quick: bool,
    ) -> Result<Self> {
        let count = |t: &[Take]| t.iter().filter(|t| t.stop_frame.is_none()).map(Take::len).sum::<usize>();
        let dims = if quick { vec![16, MAIN] } else { vec![10, 16, 32, 50, MAIN, 80, 128] };
        let orders = if quick { vec![0, 1, 2] } else { (0..=5).collect() };
        Ok(Self {
            frames: [count(&train), count(&test), count(&apart_takes)],
            windows: 0,
            dims,
            orders,
            by_dims: Vec::new(),
            by_order: Vec::new(),
            garments: Vec::new(),
            pairs: Vec::new(),
            fitted: Vec::new(),
            mirrored: false,
            main: None,
            printed: None,
            one_step: None,
            evaluation: None,
            worst: None,
            baselines: None,
            twins: None,
            apart: Vec::new(),
            rotations: Vec::new(),
            resolutions: Vec::new(),
            speeds: Vec::new(),
            model: None,
            train_secs: 0.0,
            simulated_ms: median_ms(&train),
            train: train.into(),
            test,
            twin_takes,
            apart_takes,
            body: body.clone(),
            cast: CastNames {
                stretched: cast.stretched.clone(),
                other: cast.other.clone(),
                transitions: cast.transitions.clone(),
                walk_and_twist: cast.walk_and_twist.clone(),
            },
        })
    }

    /// Tables 2 and 3 and everything about the main model.
    #[allow(clippy::disallowed_methods)] // the time of a training is reported
    pub fn tables(&mut self, out: &Path) -> Result<()> {
        let most = self.dims.iter().copied().max().unwrap_or(MAIN);
        let body = self.body.clone();
        let base = Settings::default().with(|s| {
            s.cloth_dims = most;
            s.body_dims = most;
            s.hidden_frames = 0;
        });
        let begun = Instant::now();
        let train = self.train.clone();
        let prepared = Prepared::new(&body, &*train, &base)?;
        let attachment =
            prepared.attachment().cloned().context("the takes do not hold the draped garment")?;
        let prepare_secs = begun.elapsed().as_secs_f64();
        for dims in self.dims.clone() {
            for kind in [ModelKind::A, ModelKind::B, ModelKind::C] {
                let settings = base.clone().with(|s| {
                    s.kind = kind;
                    s.cloth_dims = dims;
                    s.body_dims = dims;
                });
                let begun = Instant::now();
                let training = prepared.train(&settings)?;
                let secs = begun.elapsed().as_secs_f64();
                let (row, evaluation, model) = self.row(&training, dims, &attachment);
                if kind == ModelKind::C {
                    self.rotations.extend(self.rotation(dims, &model, &attachment));
                }
                if dims == MAIN && kind == ModelKind::C {
                    self.train_secs = prepare_secs + secs;
                    self.windows = training.windows;
                    self.mirrored = training.mirrored;
                    self.main_model(&training, evaluation, &model, out)?;
                    self.main = Some(self.row(&training, dims, &attachment).0);
                    let printed = settings.clone().with(|s| s.paper = true);
                    self.printed = Some(self.row(&prepared.train(&printed)?, dims, &attachment).0);
                    let one_step = settings.with(|s| s.refine = false);
                    self.one_step = Some(self.row(&prepared.train(&one_step)?, dims, &attachment).0);
                }
                eprintln!("{kind:?} {dims}: train {:.2} cm, test {:.2} cm", row.train_cm, row.test_cm);
                self.by_dims.push(row);
            }
        }
        for order in self.orders.clone() {
            let kind = if order == 0 { ModelKind::A } else { ModelKind::C };
            let settings = base.clone().with(|s| {
                s.kind = kind;
                s.order = order;
                s.cloth_dims = MAIN;
                s.body_dims = MAIN;
            });
            let row = self.row(&prepared.train(&settings)?, MAIN, &attachment).0;
            eprintln!("order {order}: train {:.2} cm, test {:.2} cm", row.train_cm, row.test_cm);
            self.by_order.push(row);
        }
        Ok(())
    }

    /// A walk against one that stops and twists.
    fn rotation(&self, dims: usize, model: &Arc<Model>, worn: &Attachment) -> Option<(usize, [f64; 2])> {
        let e = evaluate(model, &self.apart_takes, worn, None);
        let [walk, twist] = &self.cast.walk_and_twist;
        let cm = |request: &str| over(&e, "", |c| names_clip(request, c)).map(|(_, v)| v[0]);
        Some((dims, [cm(walk)?, cm(twist)?]))
    }

    /// One more mesh for table 4.
    pub fn add_resolution(&mut self, body: &Body, train: &[Take], test: &[Take]) -> Result<()> {
        self.resolutions.push(Resolution::measure(body, train, test, MAIN)?);
        Ok(())
    }

    /// The main model on a clip at another speed.
    pub fn add_speed(&mut self, times: f64, takes: &[Take]) -> Result<()> {
        let model = self.model.as_ref().context("tables come first")?;
        let attachment = model.attachment.as_ref().context("the model has no weights")?;
        let e = evaluate(model, takes, attachment, None);
        let clip = takes.first().map(|t| t.clip.clone()).unwrap_or_default();
        self.speeds.extend(over(&e, "", |_| true).map(|(_, scores)| Speed { times, clip, scores }));
        Ok(())
    }

    fn row(
        &self,
        training: &Training,
        dims: usize,
        attachment: &Attachment,
    ) -> (Row, Evaluation, Arc<Model>) {
        let model = Arc::new(training.model.clone());
        let plain: Vec<Take> = self.train.iter().filter(|t| t.stop_frame.is_none()).cloned().collect();
        let train = evaluate(&model, &plain, attachment, None);
        let test = evaluate(&model, &self.test, attachment, None);
        let (boxed, rated) = model.tightness();
        let row = Row {
            kind: model.kind,
            order: model.order,
            dims,
            got: [model.cloth_dims, model.body_dims],
            train_cm: train.mean_cm,
            test_cm: mean_of_plain(&test),
            liveliness: test.liveliness,
            correlation: test.correlation,
            projection_cm: test.projection_cm,
            after_stops_cm: test.after_stops_cm,
            rho: model.certificate.rho,
            rho_before: training.rho_before,
            tightness: [boxed, rated],
            horizon: training.horizon,
        };
        (row, test, model)
    }

    fn main_model(
        &mut self,
        training: &Training,
        _: Evaluation,
        model: &Arc<Model>,
        out: &Path,
    ) -> Result<()> {
        training.model.write(out.join("model.toile"))?;
        self.model = Some(model.clone());
        let attachment = model.attachment.clone().context("the model has no weights")?;
        let evaluation = evaluate(model, &self.test, &attachment, Some(&self.body));
        self.baselines = Some(baselines(model, &self.train[..], &self.test)?);
        self.twins = Some(twins(model, &self.test, &self.twin_takes)?);
        let worst = worst_case(model)?;
        self.worst = Some(Worst {
            bound_cm: 100.0 * worst.bound_m,
            attained_percent: 100.0 * worst.attained_m / worst.bound_m,
            largest_percent: 100.0 * worst.largest_share,
        });
        let apart = evaluate(model, &self.apart_takes, &attachment, None);
        let mut groups: Vec<(String, Vec<String>)> = vec![
            ("walk".into(), vec![self.cast.walk_and_twist[0].clone()]),
            ("walk, stop, twist".into(), vec![self.cast.walk_and_twist[1].clone()]),
            ("transitions (walk to run)".into(), self.cast.transitions.clone()),
        ];
        groups.extend(self.cast.other.clone());
        for (name, clips) in groups {
            self.apart.extend(over(&apart, &name, |c| clips.iter().any(|n| names_clip(n, c))));
        }
        if !self.cast.stretched.is_empty() {
            let stretched = &self.cast.stretched;
            let is = |c: &str| stretched.iter().any(|s| names_clip(s, c));
            let within = over(&evaluation, "test clips whose motion training has", |c| !is(c));
            let beyond = over(&evaluation, "test clips with motion of their own", is);
            self.apart.extend(within.into_iter().chain(beyond));
        }
        self.evaluation = Some(evaluation);
        // The main garment is a row of table 1, too.
        let e = self.evaluation.as_ref().context("set above")?;
        self.garments.push(GarmentRow {
            name: note(&self.train[0], "garment") + ", " + &note(&self.train[0], "fabric"),
            vertices: model.vertices,
            triangles: model.triangles.len(),
            rho: model.certificate.rho,
            rho_before: training.rho_before,
            model_us: e.us_latent,
            total_us: e.us_per_frame,
            full_ms: self.simulated_ms,
            mean_cm: e.mean_cm,
        });
        Ok(())
    }

    /// Trains one more garment on all but its last clip and scores it there.
    pub fn add_garment(&mut self, name: &str, body: &Body, takes: &[Take], out: &Path) -> Result<()> {
        let last = takes.last().map(|t| t.clip.clone()).unwrap_or_default();
        let (train, test): (Vec<Take>, Vec<Take>) = takes.iter().cloned().partition(|t| t.clip != last);
        let (train, test) = if train.is_empty() { (test.clone(), test) } else { (train, test) };
        let settings = Settings::default().with(|s| {
            s.cloth_dims = MAIN;
            s.body_dims = MAIN;
            s.hidden_frames = 0;
        });
        let training = toile_learn::train(body, &train, &settings)?;
        let file: String = name.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
        training.model.write(out.join(format!("{file}.toile")))?;
        let model = Arc::new(training.model);
        let attachment = model.attachment.clone().context("the takes do not hold the draped garment")?;
        let e = evaluate(&model, &test, &attachment, None);
        eprintln!("{name}: {:.2} cm, ρ {:.4}", e.mean_cm, e.rho);
        self.garments.push(GarmentRow {
            name: note(&takes[0], "garment") + ", " + &note(&takes[0], "fabric"),
            vertices: model.vertices,
            triangles: model.triangles.len(),
            rho: model.certificate.rho,
            rho_before: training.rho_before,
            model_us: e.us_latent,
            total_us: e.us_per_frame,
            full_ms: median_ms(takes),
            mean_cm: e.mean_cm,
        });
        let ours = Fitted {
            name: self.garments[self.garments.len() - 1].name.clone(),
            model,
            test,
            error_cm: e.mean_cm,
        };
        let garment = |f: &Fitted| f.name.split(',').next().unwrap_or_default().to_string();
        self.pairs.extend(
            self.fitted.iter().filter(|f| garment(f) == garment(&ours)).filter_map(|f| pair(f, &ours)),
        );
        self.fitted.push(ours);
        Ok(())
    }
}

/// Both models, running freely, and both simulations on the motions that they share.
fn pair(a: &Fitted, b: &Fitted) -> Option<Pair> {
    if a.model.vertices != b.model.vertices {
        return None;
    }
    let (mut models, mut truths, mut count) = (0.0, 0.0, 0usize);
    let mut out = [vec![Vec3::ZERO; a.model.vertices], vec![Vec3::ZERO; a.model.vertices]];
    let apart = |p: &[Vec3], q: &[Vec3]| p.iter().zip(q).map(|(p, q)| f64::from(p.distance(*q))).sum::<f64>();
    for ours in a.test.iter().filter(|t| t.stop_frame.is_none()) {
        let same = |t: &&Take| t.clip == ours.clip && t.stop_frame.is_none() && t.len() == ours.len();
        let Some(theirs) = b.test.iter().find(same) else { continue };
        let mut garments = [Stable::new(a.model.clone()), Stable::new(b.model.clone())];
        for f in 0..ours.len() {
            for (garment, out) in garments.iter_mut().zip(&mut out) {
                garment.step_with_root(ours.frame_bones(f), &ours.roots[f], 1.0 / ours.fps).ok()?;
                garment.positions(out);
            }
            models += apart(&out[0], &out[1]);
            truths += apart(ours.frame(f), theirs.frame(f));
            count += a.model.vertices;
        }
    }
    let mean = |sum: f64| 100.0 * sum / count as f64;
    (count > 0).then(|| Pair {
        names: [a.name.clone(), b.name.clone()],
        apart_cm: mean(models),
        truths_apart_cm: mean(truths),
        errors_cm: [a.error_cm, b.error_cm],
    })
}

/// Whether a clip's name is the one that a request (`walk:1.2`, `…/16_47.bvh`) stands for.
fn names_clip(request: &str, clip: &str) -> bool {
    let stem = Path::new(request).file_stem().and_then(|s| s.to_str()).unwrap_or(request);
    clip == request || clip == stem || (request.ends_with(".bvh") && clip.contains(stem))
}

/// Frame-weighted scores of the plain clips of a kind.
fn over(e: &Evaluation, name: &str, which: impl Fn(&str) -> bool) -> Option<(String, [f64; 4])> {
    let mut sums = [0.0; 4];
    let mut frames = 0.0;
    for c in e.clips.iter().filter(|c| c.stop_frame.is_none() && which(&c.clip)) {
        let n = c.frames as f64;
        frames += n;
        let values = [c.mean_cm, c.kinematic_cm, c.skin_cm, c.out_of_range_percent];
        sums.iter_mut().zip(values).for_each(|(s, v)| *s += n * v);
    }
    (frames > 0.0).then(|| (name.to_string(), sums.map(|s| s / frames)))
}

/// Tables are over clips; stops have their own figures.
fn mean_of_plain(e: &Evaluation) -> f64 {
    over(e, "", |_| true).map_or(f64::NAN, |(_, v)| v[0])
}

fn note(take: &Take, key: &str) -> String {
    take.notes.iter().find(|(k, _)| k == key).map_or_else(|| "?".into(), |(_, v)| v.clone())
}

pub(super) fn median_ms(takes: &[Take]) -> f64 {
    let mut ms: Vec<f32> = takes.iter().flat_map(|t| t.reports.iter().skip(1).map(|r| r.ms)).collect();
    ms.sort_by(f32::total_cmp);
    f64::from(ms.get(ms.len() / 2).copied().unwrap_or(0.0))
}
