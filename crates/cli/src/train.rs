//! `toile train`: from takes to a model.

use crate::output::{self, Overwrite};
use crate::progress;
use crate::resolve::{self, BadRequest};
use crate::{adaptive, advise, resume};
use anyhow::Result;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Parser, ValueEnum};
use std::path::{Path, PathBuf};
use toile_assets::{Error, ModelKind};
use toile_learn::{LeftOut, Settings, TakeFiles, Training};

/// Learn a garment from its takes
#[derive(Parser)]
#[command(after_help = "Examples:\n  \
    toile train out/takes --out dress.toile\n  \
    toile train out/takes --body hero.glb --model b --cloth-dims 32 --out cape.toile\n  \
    toile train out/takes --kind adaptive --out sweater.toile\n  \
    toile train out/takes --surroundings --out skirt.toile\n  \
    toile train out/takes --advise dance.bvh")]
pub struct Args {
    /// Folder of takes, or take files
    #[arg(required = true)]
    takes: Vec<PathBuf>,
    /// The body that wore the garment: a file or a built-in name
    #[arg(long, default_value = "mannequin:female")]
    body: String,
    /// A model for the tier stable, or a database for the tier adaptive, whose garment is simulated in a subspace
    #[arg(long, value_enum, default_value = "stable")]
    kind: For,
    /// Learn from takes that are not true, too
    #[arg(long)]
    untrue: bool,
    /// Use every take so many times: what training costs at a larger size
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    repeat: u16,
    /// Train nothing: say which poses and speeds of these motions (files, folders, built-in names) the takes lack, and
    /// which clips would add them; motions may stand for takes that are yet to be made
    #[arg(long, num_args = 1..)]
    advise: Vec<String>,
    /// Where to write the model
    #[arg(long, required_unless_present = "advise")]
    out: Option<PathBuf>,
    #[command(flatten)]
    overwrite: Overwrite,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    stable: StableArgs,
    #[command(flatten)]
    adaptive: adaptive::TrainArgs,
}

/// What a model of the tier stable may be told.
#[derive(clap::Args)]
#[command(next_help_heading = "With --kind stable")]
struct StableArgs {
    /// Ours, a correction on top of skinning (d), or a published form: pose only (a), with history (b), with history and
    /// root motion (c); d when not given, c in the canonical space
    #[arg(long, value_enum)]
    model: Option<Kind>,
    /// Where the garment is learned: in the bind pose, before skinning (d), or in the frame of the root, as published (a, b, c)
    #[arg(long, value_enum)]
    space: Option<Space>,
    /// Frames of history
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(0..=5))]
    order: u8,
    /// Dimensions of the garment's space; 32 of a model d and 64 of the published ones when not given
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    cloth_dims: Option<u16>,
    /// Dimensions of the body's space
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=1024))]
    body_dims: u16,
    /// A model d that costs less: linear but for the nearness to a few poses
    #[arg(long)]
    cheap: bool,
    /// The printed form: no bias, plain cosine, one-step least squares
    #[arg(long)]
    paper: bool,
    /// Leave out the refinement over many frames that follows where cloth comes out too stiff
    #[arg(long)]
    no_refine: bool,
    /// Frames held in full at once: what memory is bounded by
    #[arg(long, default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..))]
    chunk_frames: u32,
    /// Training frames in which hidden triangles of the body are looked for; 0 leaves them out
    #[arg(long, default_value_t = 24)]
    hidden_frames: usize,
    /// Training frames in which a model d looks for the skin that it keeps outside of; 0 leaves that out
    #[arg(long, default_value_t = 200)]
    shield_frames: usize,
    /// Learn from the takes as they are, without their mirror images
    #[arg(long)]
    no_mirror: bool,
    /// Learn to hear fabric, wind and gravity, in which the takes may then differ (model d)
    #[arg(long)]
    surroundings: bool,
}

/// Refuses options of the kind that is not trained: passed over in silence they would look heard. Which kind an option
/// belongs to is said once, by its heading in the help.
pub fn refuse_options_of_the_other_kind(
    mut command: clap::Command,
    given: &ArgMatches,
) -> Result<(), clap::Error> {
    let (kind, other) = match given.get_one::<For>("kind") {
        Some(For::Adaptive) => ("adaptive", "With --kind stable"),
        _ => ("stable", "With --kind adaptive"),
    };
    let foreign = command.get_arguments().find(|option| {
        option.get_help_heading() == Some(other)
            && given.value_source(option.get_id().as_str()) == Some(ValueSource::CommandLine)
    });
    let Some(name) = foreign.and_then(|option| option.get_long()).map(str::to_string) else { return Ok(()) };
    let told =
        format!("--{name} is an option {}, and --kind {kind} is trained", other.replacen("With", "of", 1));
    Err(command.error(ErrorKind::ArgumentConflict, told))
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Space {
    Bind,
    Canonical,
}

impl StableArgs {
    /// The kind of model that is asked for, by itself, by its space or as the printed form.
    fn model_kind(&self) -> Result<ModelKind> {
        let published = self.paper || self.space == Some(Space::Canonical);
        let kind = match self.model {
            Some(Kind::A) => ModelKind::A,
            Some(Kind::B) => ModelKind::B,
            Some(Kind::C) => ModelKind::C,
            Some(Kind::D) => ModelKind::D,
            None if published => ModelKind::C,
            None => ModelKind::D,
        };
        let refused = match (kind, self.space) {
            (ModelKind::D, _) if published => {
                "a model d corrects skinned cloth in the bind pose: leave out --space canonical and --paper, or name --model a, b or c"
            }
            (ModelKind::A | ModelKind::B | ModelKind::C, Some(Space::Bind)) => {
                "models a, b and c are learned in the canonical space"
            }
            _ => return Ok(kind),
        };
        Err(BadRequest(refused.into()).into())
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum For {
    Stable,
    Adaptive,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    A,
    B,
    C,
    D,
}

pub fn run(args: &Args) -> Result<()> {
    let out = match &args.out {
        Some(out) if args.advise.is_empty() => out,
        _ => return advise::run(&args.takes, &args.advise, &args.body, args.json),
    };
    let kind = args.stable.model_kind()?;
    if args.stable.surroundings && kind != ModelKind::D {
        return Err(BadRequest(
            "--surroundings wants a model d: only that hears fabric, wind and gravity".into(),
        )
        .into());
    }
    args.overwrite.check(out, output::named([args.body.as_str()], &args.takes))?;
    let body = resolve::body(&args.body, None)?;
    let files = take_files(&args.takes)?;
    let (TakeFiles(files), left_out) =
        if args.untrue { (TakeFiles(files), Vec::new()) } else { only_true(files)? };
    let takes = TakeFiles(vec![files; usize::from(args.repeat)].concat());
    if args.kind == For::Adaptive {
        return adaptive::train(&body, &takes, &args.adaptive, out, &left_out, args.json);
    }
    let settings = Settings::default().with(|s| {
        s.kind = kind;
        s.order = usize::from(args.stable.order);
        s.cloth_dims = args.stable.cloth_dims.map_or(Settings::dims_of(kind), usize::from);
        s.body_dims = usize::from(args.stable.body_dims);
        s.paper = args.stable.paper;
        s.cheap = args.stable.cheap;
        s.refine = !args.stable.no_refine;
        s.chunk_frames = args.stable.chunk_frames as usize;
        s.hidden_frames = args.stable.hidden_frames;
        s.shield_frames = args.stable.shield_frames;
        s.mirror = !args.stable.no_mirror;
        s.surroundings = args.stable.surroundings;
    });
    let bar = progress::bar(100, "learning");
    let watch = |done: f64| bar.set_position((100.0 * done) as u64);
    let training = toile_learn::train_watched(&body, &takes, &settings, &watch).map_err(bad_takes)?;
    bar.finish_and_clear();
    training.model.write(out)?;
    for remark in &training.remarks {
        eprintln!("{remark}");
    }
    let mut value = json(out, &training);
    let told: Vec<_> = left_out
        .iter()
        .map(|l| serde_json::json!({"file": l.path, "clip": l.clip, "faults": l.faults}))
        .collect();
    value["left_out"] = serde_json::json!(told);
    let cost = Cost::so_far();
    value["cpu_secs"] = serde_json::json!(cost.cpu_secs);
    value["peak_mb"] = serde_json::json!(cost.peak_mb);
    if args.json {
        println!("{value}")
    } else {
        let mut text = text(out, &training);
        if let Cost { cpu_secs: Some(secs), peak_mb: Some(mb) } = cost {
            text.push_str(&format!("  {secs:.1} s of processor time, at most {mb:.0} MB of memory\n"));
        }
        print!("{text}");
    }
    Ok(())
}

/// What is wrong with the takes is the user's to mend; what numbers do is not.
pub fn bad_takes(e: toile_learn::Error) -> anyhow::Error {
    match e {
        toile_learn::Error::Numerical(_) => anyhow::Error::new(e),
        toile_learn::Error::Read(e) => e.into(),
        _ => BadRequest(e.to_string()).into(),
    }
}

/// The takes to learn from; says which are not true and left out.
fn only_true(files: Vec<PathBuf>) -> Result<(TakeFiles, Vec<LeftOut>)> {
    let (count, (kept, left_out)) = (files.len(), TakeFiles::only_true(files).map_err(bad_takes)?);
    for take in &left_out {
        eprintln!("{}: not true, left out: {}", take.path.display(), take.faults.join("; "));
    }
    if !left_out.is_empty() {
        eprintln!("{} of {count} takes are not true and left out; --untrue keeps them", left_out.len());
    }
    if kept.0.is_empty() && count > 0 {
        return Err(
            BadRequest("no take is true: simulate at a higher --rate, or give --untrue".into()).into()
        );
    }
    Ok((kept, left_out))
}

fn json(out: &Path, t: &Training) -> serde_json::Value {
    let m = &t.model;
    let (tightness, tightness_rate) = m.tightness();
    let tried: Vec<_> = t
        .tried
        .iter()
        .map(|t| {
            serde_json::json!({
                "ridge": t.ridge, "horizon": t.horizon, "rms_cm": t.rms_cm,
                "over_order_zero": t.over_order_zero, "liveliness": t.liveliness,
            })
        })
        .collect();
    let lowered = t.lowered.map(|l| {
        serde_json::json!({
            "cloth_dims": l.cloth_dims, "rho": l.rho, "rms_cm": l.rms_cm, "enforced_rms_cm": l.enforced_rms_cm,
        })
    });
    serde_json::json!({
        "out": out, "windows": t.windows, "mirrored": t.mirrored, "ridge": t.ridge, "refined_over_frames": t.horizon, "tried": tried,
        "kind": kind_name(m.kind),
        "correction": t.correction.as_ref().map(|c| serde_json::json!({
            "joints": c.joints, "left_out_over_skin": c.left_out, "spread": c.spread,
            "gate_over_skin": c.gate.map(|g| g.over_skin), "gate_worst": c.gate.map(|g| g.worst),
            "forgets_in_frames": c.forgets_in_frames,
        })),
        "rho_before": t.rho_before, "rho": m.certificate.rho, "gamma": m.certificate.gamma,
        "transient_gain": m.certificate.transient_gain,
        "travel_bound_cm": 100.0 * largest(&m.certificate.travel_bound_m),
        "travel_bound_rate_cm": 100.0 * largest(&m.certificate.travel_bound_rate_m),
        "tightness": tightness, "tightness_rate": tightness_rate, "lowered": lowered,
        "hidden_triangles": m.hidden_triangles.len(), "bytes": m.bytes(),
        "cloth_dims": m.cloth_dims, "body_dims": m.body_dims, "order": m.order, "remarks": t.remarks,
    })
}

/// The name of a kind on the command line.
pub fn kind_name(kind: ModelKind) -> &'static str {
    match kind {
        ModelKind::A => "a",
        ModelKind::B => "b",
        ModelKind::C => "c",
        ModelKind::D => "d",
    }
}

fn largest(values: &[f32]) -> f32 {
    values.iter().copied().fold(0.0, f32::max)
}

fn text(out: &Path, t: &Training) -> String {
    let m = &t.model;
    let (tightness, tightness_rate) = m.tightness();
    let mut text = format!(
        "{}: {} windows{}, {} + {} dims, order {}, {} kB\n",
        out.display(),
        t.windows,
        if t.mirrored { " with every take's mirror image" } else { "" },
        m.cloth_dims,
        m.body_dims,
        m.order,
        m.bytes() / 1024
    );
    for tried in &t.tried {
        let chosen = if (tried.ridge, tried.horizon) == (t.ridge, t.horizon) { "  <- chosen" } else { "" };
        text.push_str(&format!(
            "  ridge {:<8} {:>3} frames: {:.2} cm on held-out clips, {:.2} of order 0, liveliness {:.2}{chosen}\n",
            tried.ridge,
            tried.horizon.max(1),
            tried.rms_cm,
            tried.over_order_zero,
            tried.liveliness
        ));
    }
    if let Some(c) = &t.correction {
        text.push_str(&format!("  told of {}\n  clips left out of the fit: ", c.joints.join(", ")));
        match c.left_out.is_nan() {
            true => text.push_str("none; give more than one clip to know how good it is on others"),
            false => text.push_str(&format!(
                "{:.2} of skinning ({:.2} to {:.2} over seeds{})",
                c.left_out,
                c.spread[0],
                c.spread[1],
                if c.left_out < c.spread[0] { ", before anchors" } else { "" }
            )),
        }
        if let Some(g) = c.gate {
            text.push_str(&format!(", with the gate {:.2}, worst clip {:.2}", g.over_skin, g.worst));
        }
        text.push_str(&format!(
            "\n  certificate: no vertex ever farther than {:.0} cm from its skinned place, {tightness:.1} times what training \
             saw; forgets to a hundredth in {:.1} s\n",
            100.0 * largest(&m.certificate.travel_bound_m),
            c.forgets_in_frames / m.fps,
        ));
        return text;
    }
    text.push_str(&format!(
        "  certificate: ρ {:.4} (least squares alone {:.4}), no vertex ever farther than {:.0} cm from its mean \
         ({:.0} cm at trained speeds), {tightness:.1} ({tightness_rate:.1}) times what training saw\n",
        m.certificate.rho,
        t.rho_before,
        100.0 * largest(&m.certificate.travel_bound_m),
        100.0 * largest(&m.certificate.travel_bound_rate_m),
    ));
    if let Some(l) = t.lowered {
        text.push_str(&format!(
            "  lowering dims instead would be stable at {} (ρ {:.4}): {:.2} cm on the training takes, enforced {:.2} cm\n",
            l.cloth_dims, l.rho, l.rms_cm, l.enforced_rms_cm
        ));
    }
    text
}

/// What this process has cost, where the system tells (Linux).
pub struct Cost {
    pub cpu_secs: Option<f64>,
    peak_mb: Option<f64>,
}

impl Cost {
    pub fn so_far() -> Self {
        let stat = std::fs::read_to_string("/proc/self/stat").ok();
        let status = std::fs::read_to_string("/proc/self/status").ok();
        Self { cpu_secs: stat.as_deref().and_then(cpu_secs), peak_mb: status.as_deref().and_then(peak_mb) }
    }
}

/// User and system time of `/proc/self/stat`, in ticks of a hundredth of a second. The name before it may hold anything, so
/// fields are counted from its closing bracket.
fn cpu_secs(stat: &str) -> Option<f64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let ticks: [f64; 2] = [fields.next()?.parse().ok()?, fields.next()?.parse().ok()?];
    Some((ticks[0] + ticks[1]) / 100.0)
}

/// The largest resident size, from `/proc/self/status`.
fn peak_mb(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()? / 1024.0)
}

/// Take files named one by one or by folder, in the order of their names.
pub fn take_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            std::fs::read_dir(path).map_err(|e| Error::io(path.as_path(), e))?;
            let found = resume::takes_in(path);
            if found.is_empty() {
                return Err(resume::no_takes(path).into());
            }
            files.extend(found);
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_of_a_process_is_read_from_what_linux_says() {
        let stat = "7 (a (odd) name) R 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20 0 2 0 99";
        assert_eq!(cpu_secs(stat), Some(3.0));
        assert_eq!(peak_mb("VmPeak:\t 9 kB\nVmHWM:\t  2048 kB\nVmRSS:\t 1 kB\n"), Some(2.0));
        assert!(cpu_secs("7 (x) R 1").is_none() && peak_mb("VmRSS: 1 kB").is_none());
    }
}
