//! `toile compare`: every tier on the same garment and motion, against the simulation.

mod study;

use crate::adaptive;
use crate::animate::duration;
use crate::convert::Rest;
use crate::driver;
use crate::evaluate::draped_attachment;
use crate::output::{self, Overwrite};
use crate::pacing::{self, Pacing};
use crate::picture::{Cloth, Studio};
use crate::progress;
use crate::resolve::{self, BadRequest, ending};
use crate::resume;
use crate::tiers::{self, Played, PosedMotion, TierName};
use anyhow::Result;
use clap::Parser;
use glam::{Affine3A, Vec3};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use toile_assets::{Attachment, Body, Garment, Model, Motion, Penetration, PosedBody, Surroundings, Take};
use toile_model::adaptive::Database;
use toile_run::{Layered, LayeredSettings};
use toile_show::{Image, Material, MeshHandle, View, contact_sheet};
use toile_simulate::RecordSettings;

/// Compare the tiers on one garment and motion: error against the simulation, cost, memory, penetration
#[derive(Parser)]
#[command(
    after_help = "Errors are distances of vertices to the full simulation. Liveliness is measured on what is left \
    after the pose is taken away (1 is right); skinned cloth has nothing left, cloth in layers is measured by what it and the \
    simulation add to skinned cloth. Penetration looks at up to 60 frames and \
    leaves out 5 cm around places where the body crosses itself.\n\nExamples:\n  \
    toile compare --garment dress --motion walk --model dress.toile\n  \
    toile compare --garment dress --take out/takes/walk.take --model dress.toile --out strip.png\n  \
    toile compare --case skirt=skirt.toile=takes/skirt --case dress=dress.toile=takes/dress --page compare.md\n  \
    toile compare --body hero.glb --garment cape.obj --motion run.bvh --seconds 3 --json"
)]
pub struct Args {
    /// A character file (`hero.glb#Node` for a part of one) or a built-in body
    #[arg(long, default_value = "mannequin:female")]
    body: String,
    /// A garment file or a built-in garment
    #[arg(long, default_value = "dress")]
    garment: String,
    /// A motion file or a built-in motion
    #[arg(long, required_unless_present_any = ["take", "page"])]
    motion: Option<String>,
    /// Which animation of a file with several
    #[arg(long)]
    clip: Option<String>,
    /// Frames per second of the motion file, where it states a wrong rate
    #[arg(long, value_parser = pacing::rate)]
    fps: Option<f64>,
    /// Only these seconds of the motion: FROM:TO, FROM: or :TO
    #[arg(long, value_parser = pacing::span)]
    trim: Option<(f64, f64)>,
    /// A recorded simulation to compare with, instead of simulating the motion now
    #[arg(long, conflicts_with_all = ["motion", "clip", "seconds", "fps", "trim", "fabric"])]
    take: Option<PathBuf>,
    /// The learned garment, a model or a database of the tier adaptive; without it skin, layered and full are compared
    #[arg(long)]
    model: Option<PathBuf>,
    /// A fabric file or a built-in fabric; the garment's own when not given
    #[arg(long)]
    fabric: Option<String>,
    /// Hold the garment by these sets of its vertices only: `--pin waist`, or `--pin none`; by all but collars and
    /// armholes, which it hangs by, unless told
    #[arg(long)]
    pin: Vec<String>,
    /// Where the flat rest shape comes from
    #[arg(long, value_enum, default_value = "auto")]
    rest: Rest,
    /// No more than the first seconds of the motion
    #[arg(long, value_parser = duration)]
    seconds: Option<f64>,
    /// Compare several garments, each on all takes of a folder: GARMENT=MODEL=FOLDER, once for each; with --page
    #[arg(long, value_name = "GARMENT=MODEL=FOLDER", requires = "page")]
    case: Vec<study::Case>,
    /// Write what came of all cases as a page of Markdown, with a strip of pictures a garment beside it
    #[arg(long, value_name = "FILE.md", conflicts_with_all = ["motion", "take", "model", "out", "json"])]
    page: Option<PathBuf>,
    /// A strip of pictures, a row a tier: .png
    #[arg(long)]
    out: Option<PathBuf>,
    /// Pictures in a row of the strip
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u8).range(1..=30))]
    frames: u8,
    #[command(flatten)]
    overwrite: Overwrite,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// A tier that was played, with its scores.
struct Row {
    tier: TierName,
    frames: Vec<Vec<Vec3>>,
    played: Played,
    mean_cm: f64,
    p95_cm: f64,
    max_cm: f64,
    /// Mean distance of each frame.
    by_frame_cm: Vec<f32>,
    liveliness: f64,
    correlation: f64,
    bytes: usize,
    state_bytes: usize,
    penetration: Penetration,
}

pub fn run(args: &Args) -> Result<()> {
    if let Some(page) = &args.page {
        return study::run(args, page);
    }
    if let Some(out) = &args.out {
        args.overwrite.check(out, inputs(args))?;
        if ending(&out.to_string_lossy()) != "png" {
            return Err(BadRequest(format!("{}: the strip is written as .png", out.display())).into());
        }
    }
    let body = resolve::body(&args.body, None)?;
    let mut garment = resolve::worn(&args.garment, &body, args.rest.into())?;
    resolve::held_by(&mut garment, &args.pin)?;
    let (mut model, mut database) = (None, None);
    match &args.model {
        Some(path) if adaptive::is_database(path) => {
            database = Some(adaptive::database_for(path, &body, &garment)?);
        }
        Some(path) => model = Some(tiers::model_for(path, &body, Some(&garment))?),
        None => {}
    }
    let truth = truth(args, &body, &garment, model.as_deref())?;
    let attachment = draped_attachment(&body, &garment, &truth)?;
    let shot = shot_of(&truth, &body)?;
    let bodies = bodies(&body, &shot.bones);
    let learned = Learned { model: model.as_ref(), database: database.as_ref() };
    let rows = play(&body, &garment, learned, &truth, &attachment, &shot, &bodies)?;
    let mut drawn = false;
    if let Some(out) = &args.out
        && let Some(renderer) = driver::renderer_if_any()?
    {
        let studio = Studio::new(renderer, &body, View::ThreeQuarter, (300, 400), 0.0);
        strip(args, studio, &body, &garment, &shot, &rows)?.write_png(out)?;
        drawn = true;
    }
    if args.json {
        let mut value = report(&truth, &rows);
        value["picture"] = json!(args.out.as_ref().filter(|_| drawn));
        println!("{value}");
        return Ok(());
    }
    println!("{}, {} frames, {} vertices", truth.clip, truth.len(), truth.vertices);
    println!(
        "{:8} {:>8} {:>8} {:>8} {:>11} {:>12} {:>10} {:>9} {:>9} {:>11}",
        "tier",
        "mean cm",
        "p95 cm",
        "max cm",
        "liveliness",
        "µs a frame",
        "bytes",
        "state",
        "inside %",
        "deepest mm"
    );
    for r in &rows {
        println!(
            "{:8} {:8.2} {:8.2} {:8.2} {:>11} {:12.1} {:10} {:9} {:9.2} {:11.1}",
            r.tier.as_str(),
            r.mean_cm,
            r.p95_cm,
            r.max_cm,
            // It is not measured for every tier.
            if r.liveliness.is_nan() { "–".into() } else { format!("{:.2}", r.liveliness) },
            r.played.us_per_frame,
            r.bytes,
            r.state_bytes,
            r.penetration.percent(),
            r.penetration.deepest_mm()
        );
    }
    if let Some(out) = args.out.as_ref().filter(|_| drawn) {
        println!("{}", out.display());
    }
    Ok(())
}

fn inputs(args: &Args) -> Vec<&str> {
    let names = [Some(&args.body), Some(&args.garment), args.motion.as_ref(), args.fabric.as_ref()];
    let paths = args.take.iter().chain(&args.model);
    output::named(names.into_iter().flatten().map(String::as_str), paths)
}

/// The simulation: read, or made now at the model's rate.
fn truth(args: &Args, body: &Body, garment: &Garment, model: Option<&Model>) -> Result<Take> {
    if let Some(path) = &args.take {
        if path.is_dir() {
            let what = match resume::takes_in(path).first() {
                Some(take) => BadRequest(format!(
                    "{}: is a folder; name a take in it, as {}",
                    path.display(),
                    take.display()
                )),
                None => resume::no_takes(path),
            };
            return Err(what.into());
        }
        let take = resume::read_take(path)?;
        let mut faults = Vec::new();
        if take.vertices != garment.sim.positions.len() {
            let (own, other) = (take.vertices, garment.sim.positions.len());
            faults.push(format!("the take has {own} vertices, garment `{}` {other}", garment.name));
        }
        if take.joints != body.skeleton.len() {
            let (own, other) = (take.joints, body.skeleton.len());
            faults.push(format!("the take's body has {own} joints, `{}` {other}", body.name));
        }
        if let Some(model) = model.filter(|m| m.fps != take.fps) {
            faults.push(format!("the take has {} frames per second, the model {}", take.fps, model.fps));
        }
        if !faults.is_empty() {
            return Err(BadRequest(format!("{}: {}", path.display(), faults.join("; "))).into());
        }
        if let Some(outfit) = resume::outfit_of(&take) {
            eprintln!(
                "the take is of the outfit `{outfit}`: what full costs is for all of it, the other tiers have this garment alone"
            );
        }
        return Ok(take);
    }
    let name = args.motion.as_deref().unwrap_or_default();
    let fps = model.map_or(30.0, |m| m.fps);
    let pacing = Pacing::new(args.fps, args.trim);
    let shot = PosedMotion::new(name, args.clip.as_deref(), body, &pacing, fps, args.seconds)?;
    let fabric = resolve::fabric(args.fabric.as_deref().unwrap_or(&garment.fabric))?;
    tiers::simulate(body, garment, &fabric, &shot, RecordSettings::default())
}

/// The body at up to 60 frames, evenly spread.
fn bodies(body: &Body, bones: &[Vec<Affine3A>]) -> Vec<(usize, PosedBody)> {
    let stride = bones.len().div_ceil(60).max(1);
    (0..bones.len()).step_by(stride).map(|f| (f, PosedBody::new(body, &bones[f]))).collect()
}

/// The motion of a take, as the tiers are given it.
fn shot_of(take: &Take, body: &Body) -> Result<PosedMotion> {
    let bones: Vec<Vec<Affine3A>> = (0..take.len()).map(|f| take.frame_bones(f).to_vec()).collect();
    // Tiers are played from bones and roots alone; the motion only carries the name.
    let rest = vec![body.skeleton.rest_pose()];
    let motion = Motion::new(take.clip.clone(), take.fps, body.skeleton.clone(), rest)?;
    Ok(PosedMotion { motion, bones, roots: take.roots.clone(), fps: take.fps })
}

/// What was learned of the garment, by tier.
#[derive(Clone, Copy)]
struct Learned<'a> {
    model: Option<&'a Arc<Model>>,
    database: Option<&'a Arc<Database>>,
}

fn play(
    body: &Body,
    garment: &Garment,
    learned: Learned,
    truth: &Take,
    attachment: &Attachment,
    shot: &PosedMotion,
    bodies: &[(usize, PosedBody)],
) -> Result<Vec<Row>> {
    let bar = progress::bar(4, "comparing");
    let mut rows = Vec::new();
    let vertices = truth.vertices;
    let mut add = |tier, frames, played, lively, bytes, state_bytes| {
        rows.push(row(tier, frames, played, lively, (bytes, state_bytes), truth, bodies));
        bar.inc(1);
    };
    let draped = rest_of(garment, truth);
    let leash = tiers::Leash::new(body, garment, draped)?;
    let kept = |frames: Vec<Vec<Vec3>>| -> Vec<Vec<Vec3>> {
        frames.iter().zip(&shot.bones).map(|(p, bones)| leash.kept(bones, p)).collect()
    };
    let (skinned, played) = kept_frames(|keep| tiers::play_skin(attachment, shot, keep))?;
    let influences: usize = (0..vertices).map(|v| attachment.skin.row(v).count()).sum();
    // A rest position a vertex; joint number and weight an influence. No state: nothing is left of it when the
    // pose is taken away.
    add(TierName::Skin, skinned.clone(), played, (0.0, 0.0), 12 * vertices + 6 * influences, 0);
    let full: Vec<&[Vec3]> = (0..truth.len()).map(|f| truth.frame(f)).collect();
    let lively = |frames: &[Vec<Vec3>]| toile_learn::liveliness_beyond(&skinned, &full, frames, shot.fps);
    let layers = tiers::layers(body, garment, draped, &resolve::fabric(&garment.fabric)?)?;
    let (frames, played) = kept_frames(|keep| tiers::play_layered(&layers, shot, keep))?;
    let (frames, state) =
        (kept(frames), Layered::new(layers.clone(), LayeredSettings::default()).state_bytes());
    let beyond = lively(&frames);
    add(TierName::Layered, frames, played, beyond, layers.bytes(), state);
    if let Some(model) = learned.model {
        let still = (Surroundings::default(), 0.0);
        let (frames, played) = kept_frames(|keep| tiers::play_stable(model, body, shot, still, keep))?;
        let scores = toile_learn::evaluate(model, std::slice::from_ref(truth), attachment, None);
        let state = 4 * (model.order + 1) * model.cloth_dims;
        let lively = (scores.liveliness, scores.correlation);
        add(TierName::Stable, kept(frames), played, lively, model.bytes(), state);
    }
    if let Some(database) = learned.database {
        let fabric = resolve::fabric(&garment.fabric)?;
        let mut tier = adaptive::tier(body, garment, &fabric, database, Default::default())?;
        let (frames, played) = kept_frames(|keep| tiers::play(&mut tier, shot, keep))?;
        let frames = kept(frames);
        let beyond = lively(&frames);
        add(TierName::Adaptive, frames, played, beyond, database.bytes(), 120 * vertices);
    }
    let frames = (0..truth.len()).map(|f| truth.frame(f).to_vec()).collect();
    // Triangles with their flat shapes; positions and velocities of two steps in f64. What a solver keeps besides
    // (its matrix, its trees) comes on top.
    let bytes = garment.sim.triangles.len() * (12 + 24);
    add(TierName::Full, frames, tiers::played_take(truth), (1.0, 1.0), bytes, 96 * vertices);
    bar.finish_and_clear();
    Ok(rows)
}

/// All frames of a tier that is played into a function.
fn kept_frames(
    play: impl FnOnce(&mut dyn FnMut(&[Vec3]) -> Result<()>) -> Result<Played>,
) -> Result<(Vec<Vec<Vec3>>, Played)> {
    let mut frames = Vec::new();
    let played = play(&mut |p| {
        frames.push(p.to_vec());
        Ok(())
    })?;
    Ok((frames, played))
}

/// A tier's frames held to the truth.
fn row(
    tier: TierName,
    frames: Vec<Vec<Vec3>>,
    played: Played,
    (liveliness, correlation): (f64, f64),
    (bytes, state_bytes): (usize, usize),
    truth: &Take,
    bodies: &[(usize, PosedBody)],
) -> Row {
    let [mean_cm, p95_cm, max_cm] = distances(&frames, truth);
    let mean = |f: usize| -> f32 {
        let apart = frames[f].iter().zip(truth.frame(f)).map(|(a, b)| a.distance(*b));
        100.0 * apart.sum::<f32>() / truth.vertices.max(1) as f32
    };
    let by_frame_cm = (0..frames.len()).map(mean).collect();
    let mut penetration = Penetration::default();
    bodies.iter().for_each(|(f, body)| penetration.add(body, &frames[*f]));
    Row {
        tier,
        frames,
        played,
        mean_cm,
        p95_cm,
        max_cm,
        by_frame_cm,
        liveliness,
        correlation,
        bytes,
        state_bytes,
        penetration,
    }
}

/// The drape that the simulation began with; where its take does not have it, the garment as it was put on.
fn rest_of<'a>(garment: &'a Garment, truth: &'a Take) -> &'a [Vec3] {
    let own = truth.draped.len() == garment.sim.positions.len();
    if own { &truth.draped } else { &garment.sim.positions }
}

/// Mean, 95th percentile and largest distance to the truth, cm.
fn distances(frames: &[Vec<Vec3>], truth: &Take) -> [f64; 3] {
    let mut all: Vec<f32> = Vec::with_capacity(truth.positions.len());
    for (f, frame) in frames.iter().enumerate() {
        all.extend(frame.iter().zip(truth.frame(f)).map(|(a, b)| a.distance(*b)));
    }
    if all.is_empty() {
        return [0.0; 3];
    }
    let mean = all.iter().map(|d| f64::from(*d)).sum::<f64>() / all.len() as f64;
    let at = ((0.95 * all.len() as f64) as usize).min(all.len() - 1);
    let p95 = *all.select_nth_unstable_by(at, f32::total_cmp).1;
    let max = all.iter().copied().fold(0.0, f32::max);
    [100.0 * mean, 100.0 * f64::from(p95), 100.0 * f64::from(max)]
}

fn report(truth: &Take, rows: &[Row]) -> Value {
    let tiers: Vec<Value> = rows
        .iter()
        .map(|r| {
            json!({
                "tier": r.tier.as_str(), "mean_cm": r.mean_cm, "p95_cm": r.p95_cm, "max_cm": r.max_cm,
                "liveliness": r.liveliness, "correlation": r.correlation, "us_per_frame": r.played.us_per_frame,
                "bytes": r.bytes, "state_bytes": r.state_bytes, "penetration_percent": r.penetration.percent(), "deep_percent": r.penetration.deep_percent(),
                "deepest_mm": r.penetration.deepest_mm(), "excluded_percent": r.penetration.excluded_percent(),
                "clamped_frames": r.played.clamped_frames,
            })
        })
        .collect();
    json!({"clip": truth.clip, "frames": truth.len(), "vertices": truth.vertices, "tiers": tiers})
}

/// A row of pictures a tier, all at the same moments.
fn strip(
    args: &Args,
    mut studio: Studio,
    body: &Body,
    garment: &Garment,
    shot: &PosedMotion,
    rows: &[Row],
) -> Result<Image> {
    let cloth = Cloth {
        mesh: MeshHandle::new(&garment.sim.triangles),
        material: Material::fabric(args.fabric.as_deref().unwrap_or(&garment.fabric)),
    };
    let count = usize::from(args.frames).min(shot.len());
    let moments: Vec<usize> = (0..count).map(|k| k * (shot.len() - 1) / (count - 1).max(1)).collect();
    let bar = progress::bar((rows.len() * moments.len()) as u64, "drawing");
    let (mut pictures, mut captions) = (Vec::new(), Vec::new());
    for row in rows {
        for &f in &moments {
            let skinned = body.skinned_positions(&shot.bones[f]);
            let items = [(&cloth, row.frames[f].as_slice(), None)];
            pictures.push(studio.draw(Some(&skinned), &items, Some(&shot.roots[f]), "")?);
            let tier = row.tier.as_str();
            let secs = f as f64 / shot.fps;
            captions.push(match row.tier {
                TierName::Full => format!("{tier}, {secs:.2} s"),
                _ => format!("{tier}, {secs:.2} s, mean {:.1} cm", row.by_frame_cm[f]),
            });
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    let captions: Vec<&str> = captions.iter().map(String::as_str).collect();
    Ok(contact_sheet(&pictures, &captions, moments.len())?)
}
