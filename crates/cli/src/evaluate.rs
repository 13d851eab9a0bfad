//! `toile evaluate`: how wrong a model is, by free runs, and whether that is good enough.

use crate::output::{self, Overwrite};
use crate::report;
use crate::resolve::{self, BadRequest};
use crate::resume::read_take;
use crate::train::take_files;
use anyhow::Result;
use clap::Parser;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toile_assets::read::garment::RestChoice;
use toile_assets::{Attachment, AttachmentSettings, Body, Garment, Lineage, Mesh, Model, Take, attach};
use toile_learn::{ClipScore, Evaluation, SettlingSummary, Twins};

/// Score a model against takes it has not seen
#[derive(Parser)]
#[command(after_help = "Every error comes from a free run: the model sees only body motion.\n\nExample:\n  \
    toile evaluate dress.toile out/test\n  toile evaluate dress.toile out/test --gate gate.toml --report report.html --json\n\n\
    A gate file:\n  [max]\n  mean_cm = 1.5\n  \"settling.error_ratio\" = 0.6\n  [min]\n  liveliness = 0.85")]
pub struct Args {
    /// The model
    model: PathBuf,
    /// Takes to score against
    #[arg(required = true)]
    takes: Vec<PathBuf>,
    /// The body that wore the garment
    #[arg(long, default_value = "mannequin:female")]
    body: String,
    /// The garment, for the comparison with skinning; the model's own weights when not given
    #[arg(long)]
    garment: Option<String>,
    /// Takes of the same clips made with `toile simulate --nudge 0.1`: how far the simulation itself can be foretold
    #[arg(long)]
    twins: Vec<PathBuf>,
    /// A model whose order-0 prediction liveliness and correlation are beyond, so that models can be compared; each one's own
    /// when not given
    #[arg(long, value_name = "MODEL")]
    reference: Option<PathBuf>,
    /// Limits that decide between pass and fail: a TOML file with tables `max` and `min` of the keys that --json prints
    #[arg(long)]
    gate: Option<PathBuf>,
    /// Score clips that the model was learned from, too: how well it fits, not how well it foretells
    #[arg(long)]
    seen: bool,
    /// A page with film, plots and all figures
    #[arg(long)]
    report: Option<PathBuf>,
    #[command(flatten)]
    overwrite: Overwrite,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<()> {
    if let Some(path) = &args.report {
        let paths = args
            .takes
            .iter()
            .chain(&args.twins)
            .chain(&args.reference)
            .chain(&args.gate)
            .chain([&args.model]);
        let names = args.garment.iter().chain([&args.body]).map(String::as_str);
        args.overwrite.check(path, output::named(names, paths))?;
    }
    let gate = args.gate.as_deref().map(Gate::read).transpose()?;
    let model = Arc::new(Model::read(&args.model)?);
    let body = resolve::body(&args.body, None)?;
    let takes = take_files(&args.takes)?.iter().map(|f| read_take(f)).collect::<Result<Vec<Take>>>()?;
    let others = match args.twins.is_empty() {
        true => Vec::new(),
        false => take_files(&args.twins)?.iter().map(|f| read_take(f)).collect::<Result<Vec<Take>>>()?,
    };
    let garment = match &args.garment {
        Some(name) => Some(resolve::garment(name, &body, RestChoice::Auto, None)?),
        None => None,
    };
    check_fit(&model, &body, garment.as_ref(), &takes, args.seen)?;
    let attachment = match (&garment, &model.attachment) {
        (Some(garment), _) => draped_attachment(&body, garment, &takes[0])?,
        // A model may hang its garment otherwise than plain skinning does, which is what it is to be compared with.
        (None, Some(own)) => skinned_as_draped(&body, &takes[0]).unwrap_or_else(|| own.clone()),
        (None, None) => {
            return Err(BadRequest(
                "the model has no skinning weights of its own: name its --garment".into(),
            )
            .into());
        }
    };
    let reference = args.reference.as_deref().map(Model::read).transpose()?;
    if let Some(reference) = reference.as_ref().filter(|r| !is_comparable(r, &model)) {
        return Err(BadRequest(format!(
            "--reference: `{}` has {} vertices, {} joints and {} frames per second, the model {}, {} and {}",
            reference.name,
            reference.vertices,
            reference.joints,
            reference.fps,
            model.vertices,
            model.joints,
            model.fps
        ))
        .into());
    }
    let evaluation =
        toile_learn::evaluate_beyond(reference.as_ref(), &model, &takes, &attachment, Some(&body));
    let mut value = json(&evaluation);
    let mut said = text(&evaluation);
    if !others.is_empty() {
        let t = toile_learn::twins(reference.as_ref().unwrap_or(&model), &takes, &others)
            .map_err(|e| BadRequest(format!("--twins: {e}")))?;
        said.push_str(&add_twins(&t, &evaluation, &mut value));
    }
    value["bytes"] = json!(model.bytes());
    let checks = gate.map_or(Ok(Vec::new()), |g| g.checks(&value))?;
    let failed: Vec<String> = checks.iter().filter(|c| !c.pass).map(Check::words).collect();
    // Without a gate the least to ask for: better than following the bones.
    let pass = failed.is_empty() && (args.gate.is_some() || evaluation.mean_cm < evaluation.skin_cm);
    value["pass"] = json!(pass);
    value["failed"] = json!(failed);
    if let Some(path) = &args.report {
        let mut shown = value.clone();
        if args.gate.is_some() {
            shown["gate"] = report::facts::of_checks(&checks);
        }
        report::write_evaluated(path, &model, &body, &takes, &attachment, &evaluation, &shown)?;
    }
    if args.json {
        println!("{value}");
    } else {
        print!("{said}");
        println!("{}", verdict(&evaluation));
    }
    if !failed.is_empty() {
        anyhow::bail!("the gate is not passed:\n{}", failed.join("\n"));
    }
    Ok(())
}

/// Whether two models are of one garment on one body, as far as their sizes tell.
fn is_comparable(a: &Model, b: &Model) -> bool {
    (a.vertices, a.joints, a.fps) == (b.vertices, b.joints, b.fps)
}

/// Refuses takes, body and garment that are not the model's, saying all that differs.
fn check_fit(
    model: &Model,
    body: &Body,
    garment: Option<&Garment>,
    takes: &[Take],
    seen: bool,
) -> Result<()> {
    let mut faults = Vec::new();
    for take in takes {
        if take.vertices != model.vertices || take.joints != model.joints {
            faults.push(format!(
                "take `{}` has {} vertices and {} joints, the model {} and {}",
                take.clip, take.vertices, take.joints, model.vertices, model.joints
            ));
        }
        if take.fps != model.fps {
            faults.push(format!(
                "take `{}` runs at {} frames per second, the model at {}",
                take.clip, take.fps, model.fps
            ));
        }
    }
    faults.extend(not_its_takes(model, body, takes, seen));
    if body.skeleton.len() != model.joints {
        faults.push(format!(
            "body `{}` has {} joints, the model {}",
            body.name,
            body.skeleton.len(),
            model.joints
        ));
    }
    if let Some(garment) = garment.filter(|g| g.sim.positions.len() != model.vertices) {
        faults.push(format!(
            "garment `{}` has {} vertices, the model {}",
            garment.name,
            garment.sim.positions.len(),
            model.vertices
        ));
    }
    if faults.is_empty() { Ok(()) } else { Err(BadRequest(faults.join("\n")).into()) }
}

/// Puts what twins tell into the figures, and says it.
fn add_twins(t: &Twins, evaluation: &Evaluation, value: &mut Value) -> String {
    // No predictor can be nearer on average than halfway between the two; root of a half, since both stray.
    let floor = t.mean_cm / 2.0f64.sqrt();
    value["floor_cm"] = json!(floor);
    let above = (evaluation.mean_cm.powi(2) - floor.powi(2)).max(0.0).sqrt();
    value["twins_correlation"] = json!(t.correlation);
    // The mean of all twins, which is the best foretelling, correlates with each by the root of what two of them do.
    let of_best = evaluation.correlation / t.correlation.max(0.0).sqrt();
    value["correlation_of_best"] = number(of_best);
    value["above_floor_cm"] = json!(above);
    value["twins"] = json!({
        "mean_cm": t.mean_cm, "after_stops_cm": number(t.after_stops_cm), "liveliness": t.liveliness,
        "correlation": t.correlation, "pairs": t.pairs,
    });
    format!(
        "the simulation and its twin: {:.2} cm apart ({:.2} after stops), correlation {:.2}, over {} pairs\n\
         floor {floor:.2} cm, {above:.2} cm above it; correlation {of_best:.2} of the best that can be foretold\n",
        t.mean_cm, t.after_stops_cm, t.correlation, t.pairs
    )
}

/// Another body or garment than the model's, and clips it was learned from.
fn not_its_takes(model: &Model, body: &Body, takes: &[Take], seen: bool) -> Vec<String> {
    let lineage = Lineage::from_notes(&model.notes);
    let mut faults = Vec::new();
    if lineage.as_ref().is_some_and(|l| l.body != body.fingerprint()) {
        faults.push(format!("the model was not learned on body `{}`: name its own with --body", body.name));
    }
    for (take, made) in takes.iter().filter_map(|t| Some((t, t.provenance?))) {
        faults.extend(made.wrong_body(body).map(|why| format!("take `{}`: {why}", take.clip)));
        let Some(lineage) = &lineage else { continue };
        let known = if seen { None } else { lineage.knows(made.clip) };
        if let Some(name) = known {
            faults.push(format!(
                "take `{}`: the model was learned from this clip (there `{name}`); give takes it has not seen, or --seen",
                take.clip
            ));
        }
        // A model that hears fabrics is told which one.
        let other_fabric = model.hears().is_none() && lineage.fabric != made.fabric;
        for (what, differs) in [("garment", lineage.garment != made.garment), ("fabric", other_fabric)] {
            if differs {
                faults.push(format!("take `{}` was made with another {what} than the model's", take.clip));
            }
        }
    }
    faults
}

/// Limits on what an evaluation may say.
pub struct Gate {
    /// Key (dots lead into objects), limit, and whether it is an upper one.
    limits: Vec<(String, f64, bool)>,
}

/// One limit, held against an evaluation.
pub struct Check {
    pub key: String,
    pub limit: f64,
    /// At most, not at least.
    pub upper: bool,
    /// `None` where nothing was measured (no stops, say): a gate that asks for it is not passed.
    pub found: Option<f64>,
    pub pass: bool,
}

impl Check {
    /// What was wanted: `at most 1.5`.
    pub fn wanted(&self) -> String {
        format!("{} {}", if self.upper { "at most" } else { "at least" }, self.limit)
    }

    fn words(&self) -> String {
        match self.found {
            Some(v) => format!("{} is {v:.4}, wanted {}", self.key, self.wanted()),
            None => format!("{} could not be measured, wanted {}", self.key, self.wanted()),
        }
    }
}

impl Gate {
    fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|e| toile_assets::Error::io(path, e))?;
        Self::parse(&text, path)
    }

    /// From the text of a gate file.
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        let bad = |what: String| BadRequest(format!("{}: {what}", path.display()));
        let table: toml::Table = text.parse().map_err(|e| bad(format!("{e}")))?;
        let mut limits = Vec::new();
        for (side, value) in &table {
            let upper = match side.as_str() {
                "max" => true,
                "min" => false,
                other => {
                    return Err(bad(format!("unknown table `{other}`; there are `max` and `min`")).into());
                }
            };
            let entries = value.as_table().ok_or_else(|| bad(format!("`{side}` is not a table")))?;
            for (key, limit) in entries {
                let limit = limit.as_float().or_else(|| limit.as_integer().map(|i| i as f64));
                let limit = limit.filter(|l| !l.is_nan());
                let limit = limit.ok_or_else(|| bad(format!("`{side}.{key}` is not a number")))?;
                limits.push((key.clone(), limit, upper));
            }
        }
        if limits.is_empty() {
            return Err(bad("asks for nothing: give limits in tables `max` and `min`".into()).into());
        }
        Ok(Self { limits })
    }

    /// Every limit held against what an evaluation prints. A key that it does not have is a fault of the gate.
    pub fn checks(&self, value: &Value) -> Result<Vec<Check>> {
        let check = |(key, limit, upper): &(String, f64, bool)| {
            let found = key.split('.').try_fold(value, |v, part| match v {
                // A group of numbers that were not measured.
                Value::Null => Some(v),
                _ => v.get(part),
            });
            let Some(found) = found.map(Value::as_f64) else {
                return Err(
                    BadRequest(format!("the gate names `{key}`, which evaluate does not print")).into()
                );
            };
            let pass = found.is_some_and(|v| if *upper { v <= *limit } else { v >= *limit });
            Ok(Check { key: key.clone(), limit: *limit, upper: *upper, found, pass })
        };
        self.limits.iter().map(check).collect()
    }
}

fn text(e: &Evaluation) -> String {
    let name = |c: &ClipScore| {
        c.stop_frame.map_or_else(|| c.clip.clone(), |at| format!("{} stopped at {at}", c.clip))
    };
    let wide = e.clips.iter().map(|c| name(c).chars().count()).max().unwrap_or(0).max(20);
    let mut text = format!(
        "{:wide$} {:>6} {:>8} {:>8} {:>8} {:>8} {:>10} {:>8}\n",
        "clip", "frames", "mean cm", "p95", "max", "skin", "projection", "order 0"
    );
    for c in &e.clips {
        text.push_str(&format!(
            "{:wide$} {:6} {:8.2} {:8.2} {:8.2} {:8.2} {:10.2} {:8.2}\n",
            name(c),
            c.frames,
            c.mean_cm,
            c.p95_cm,
            c.max_cm,
            c.skin_cm,
            c.projection_cm,
            c.kinematic_cm
        ));
    }
    text.push_str(&format!(
        "all: mean {:.2} cm ({:.2} of skin, worst clip {:.2}, worst second {:.2}; skin {:.2}, projection {:.2}, order 0 {:.2}), p95 {:.2}, max {:.1}\n\
         liveliness {:.2}, correlation {:.2}; inside the body {:.2} % (simulated {:.2} %), deeper than 2 mm {:.2} %, deepest {:.1} mm ({:.1} mm)\n\
         {:.2} % of vertices not counted, within 5 cm of where the body crosses itself; deepest {}\n\
         out of range {:.1} % of frames (farthest {:.2}), {:.2} inputs clamped a frame, {:.1} µs a frame\n",
        e.mean_cm,
        e.mean_cm / e.skin_cm,
        worst_over_skin(e),
        e.worst_second,
        e.skin_cm,
        e.projection_cm,
        e.kinematic_cm,
        e.p95_cm,
        e.max_cm,
        e.liveliness,
        e.correlation,
        e.penetration_percent,
        e.truth_penetration_percent,
        e.deep_percent,
        e.deepest_mm,
        e.truth_deepest_mm,
        e.excluded_percent,
        e.deepest_at.as_ref().map_or("nowhere".into(), |at| format!(
            "in `{}`, frame {}, vertex {}",
            at.clip, at.frame, at.vertex
        )),
        e.out_of_range_percent,
        e.farthest_pose,
        e.clamped_per_frame,
        e.us_per_frame
    ));
    if let Some(s) = e.settling() {
        text.push_str(&format!(
            "after stops ({}, {} of them swing): {:.2} cm over 1 s (order 0 {:.2}), {:.2} of the truth's way to rest",
            s.stops, s.swinging, e.after_stops_cm, e.kinematic_after_stops_cm, s.error_ratio
        ));
        if s.swinging > 0 {
            text.push_str(&format!(
                "; {:.2} Hz (simulated {:.2}), decrement {:.2} ({:.2}), first swing {:.2} cm ({:.2}; off by {:.0} %)",
                s.hz[1],
                s.hz[0],
                s.decrement[1],
                s.decrement[0],
                s.swing_cm[1],
                s.swing_cm[0],
                s.amplitude_error_percent
            ));
        }
        text.push('\n');
    }
    text
}

/// Whether it is worth having, in one sentence.
fn verdict(e: &Evaluation) -> String {
    let worse: Vec<&str> =
        e.clips.iter().filter(|c| c.mean_cm > c.skin_cm).map(|c| c.clip.as_str()).collect();
    let share = 100.0 * e.mean_cm / e.skin_cm;
    if e.mean_cm >= e.skin_cm {
        format!(
            "verdict: WORSE THAN SKINNING ({share:.0} % of its error): do not ship it; train on more clips like these, \
             or look at the takes it was trained on"
        )
    } else if worse.is_empty() {
        format!("verdict: better than skinning on every take ({share:.0} % of its error)")
    } else {
        format!(
            "verdict: better than skinning in all ({share:.0} % of its error), but worse on {} of {} takes: {}",
            worse.len(),
            e.clips.len(),
            worse.join(", ")
        )
    }
}

/// Skinned cloth starts from the garment as it hangs, not as it was cut.
pub fn draped_attachment(body: &Body, garment: &Garment, take: &Take) -> Result<Attachment> {
    let mut mesh = garment.sim.clone();
    if take.draped.len() == mesh.positions.len() {
        mesh.positions.clone_from(&take.draped);
    }
    Ok(attach(body, &mesh, &AttachmentSettings::default())?)
}

/// The garment of a take as it hangs, attached to the bones by nothing but the nearest skin.
fn skinned_as_draped(body: &Body, take: &Take) -> Option<Attachment> {
    let mesh = Mesh { positions: take.draped.clone(), triangles: take.triangles.clone(), ..Mesh::default() };
    (take.draped.len() == take.vertices).then(|| attach(body, &mesh, &AttachmentSettings::default()).ok())?
}

/// A number, or null where nothing was measured.
fn number(v: f64) -> Value {
    if v.is_finite() { json!(v) } else { Value::Null }
}

fn settling_json(s: &SettlingSummary) -> Value {
    json!({
        "stops": s.stops, "swinging": s.swinging, "hz": number(s.hz[1]), "truth_hz": number(s.hz[0]),
        "frequency_error_percent": number(s.frequency_error_percent),
        "log_decrement": number(s.decrement[1]), "truth_log_decrement": number(s.decrement[0]),
        "decrement_error_percent": number(s.decrement_error_percent), "error_ratio": number(s.error_ratio),
        "swing_cm": number(s.swing_cm[1]), "truth_swing_cm": number(s.swing_cm[0]),
        "amplitude_error_percent": number(s.amplitude_error_percent),
    })
}

/// The largest ratio of a clip's error to that of skinned cloth.
fn worst_over_skin(e: &Evaluation) -> f64 {
    e.clips.iter().map(|c| c.mean_cm / c.skin_cm).fold(f64::NAN, f64::max)
}

/// The evaluation as `--json` prints it.
pub fn json(e: &Evaluation) -> Value {
    let clips: Vec<_> = e
        .clips
        .iter()
        .map(|c| {
            json!({
                "clip": c.clip, "stop_frame": c.stop_frame, "frames": c.frames, "mean_cm": c.mean_cm,
                "p95_cm": c.p95_cm, "max_cm": c.max_cm, "skin_cm": c.skin_cm, "projection_cm": c.projection_cm,
                "kinematic_cm": c.kinematic_cm, "over_skin": number(c.mean_cm / c.skin_cm), "worst_second_over_skin": number(c.worst_second), "out_of_range_percent": c.out_of_range_percent,
            })
        })
        .collect();
    json!({
        "mean_cm": e.mean_cm, "p95_cm": e.p95_cm, "max_cm": e.max_cm, "skin_cm": e.skin_cm,
        "projection_cm": e.projection_cm, "kinematic_cm": e.kinematic_cm,
        "over_skin": number(e.mean_cm / e.skin_cm), "worst_over_skin": number(worst_over_skin(e)), "worst_second_over_skin": number(e.worst_second), "over_projection": number(e.mean_cm / e.projection_cm),
        "after_stops_cm": number(e.after_stops_cm), "kinematic_after_stops_cm": number(e.kinematic_after_stops_cm),
        "liveliness": e.liveliness, "correlation": e.correlation,
        "settling": e.settling().map_or(Value::Null, |s| settling_json(&s)),
        "penetration_percent": number(e.penetration_percent), "deep_percent": number(e.deep_percent), "deepest_mm": number(e.deepest_mm),
        "truth_penetration_percent": number(e.truth_penetration_percent),
        "truth_deepest_mm": number(e.truth_deepest_mm), "excluded_percent": number(e.excluded_percent),
        "deepest_at": e.deepest_at.as_ref().map(|at| json!({"clip": at.clip, "frame": at.frame, "vertex": at.vertex})),
        "out_of_range_percent": e.out_of_range_percent, "farthest_pose": e.farthest_pose,
        // Its name before 0.1.1; keys are only ever added.
        "strangest": e.farthest_pose,
        "us_per_frame": e.us_per_frame, "us_latent": e.us_latent, "rho": e.rho,
        "clamped_per_frame": e.clamped_per_frame, "clips": clips, "pass": e.mean_cm < e.skin_cm,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_that_cannot_decide_is_refused() {
        let folder = std::env::temp_dir().join(format!("toile-gate-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let read = |text: &str| {
            let path = folder.join("gate.toml");
            std::fs::write(&path, text).unwrap();
            Gate::read(&path).map_err(|e| e.to_string())
        };
        assert!(read("").is_err_and(|e| e.contains("asks for nothing")));
        assert!(read("[max]\nmean_cm = nan").is_err_and(|e| e.contains("not a number")));
        let gate = read("[max]\nmean_cm = 1.5\n[min]\n\"settling.hz\" = 1").unwrap();
        let good = json!({"mean_cm": 1.0, "settling": {"hz": 2.0}});
        let poor = json!({"mean_cm": 2.0, "settling": {"hz": null}});
        let failed = |value: &Value| gate.checks(value).map(|c| c.iter().filter(|c| !c.pass).count());
        assert_eq!(failed(&good).unwrap(), 0);
        assert_eq!(failed(&poor).unwrap(), 2);
        assert_eq!(failed(&json!({"mean_cm": 1.0, "settling": null})).unwrap(), 1, "no stops, no settling");
        assert!(failed(&json!({"mean_cm": 1.0})).is_err());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
