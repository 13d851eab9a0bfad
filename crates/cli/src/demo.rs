//! `toile demo`: the whole line on built-in assets, from panels to a learned dress.

use crate::convert::write_dressed;
use crate::evaluate;
use crate::picture::{Cloth, Studio, sheet};
use crate::report::{self, Story};
use crate::simulate::Job;
use anyhow::{Context, Result};
use clap::Parser;
use glam::Vec3;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use toile_assets::{Attachment, Body, Error, Garment, Motion, Take, builtin};
use toile_learn::Settings;
use toile_run::{Skinned, Stable, Tier};
use toile_show::{Image, Material, MeshHandle, View, srgb};
use toile_simulate::RecordSettings;

/// Do the main job on built-in assets: simulate, learn, evaluate, film
#[derive(Parser)]
#[command(
    after_help = "Run again to go on where it stopped: finished simulations are kept.\n\nExamples:\n  \
    toile demo\n  toile demo --quick --out /tmp/toile"
)]
pub struct Args {
    /// Folder for everything it makes
    #[arg(long, default_value = "toile-demo")]
    out: PathBuf,
    /// Fewer clips and a shorter film
    #[arg(long)]
    quick: bool,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// Clips to learn from; speeds and angles differ from those it is judged on.
const TRAIN: [&str; 12] = [
    "walk:0.9",
    "walk:1.2",
    "walk:1.5",
    "turn:45",
    "turn:-90",
    "turn:135",
    "walk-stop:1.0",
    "walk-stop:1.4",
    "walk-turn-stop:70",
    "walk-turn-stop:-110",
    "stand",
    "turn:-45",
];
/// Clips it has never seen; the first is the one on film.
const TEST: [&str; 3] = ["walk-turn-stop:90", "walk-stop:1.2", "turn:-70"];

/// The garments that are shown beside the one that is learned.
const WARDROBE: [(&str, [u8; 3]); 4] = [
    ("dress", [0x3f, 0x7c, 0x93]),
    ("skirt", [0x9c, 0x2f, 0x4a]),
    ("shirt", [0x5f, 0x7f, 0x57]),
    ("cape", [0x6b, 0x55, 0x86]),
];

#[allow(clippy::disallowed_methods)] // the demo says how long each stage took
pub fn run(args: &Args) -> Result<()> {
    let begun = Instant::now();
    let mut stages: Vec<(&'static str, f64)> = Vec::new();
    let mut lap = Instant::now();
    let mut stage = |name: &'static str, stages: &mut Vec<(&'static str, f64)>| {
        stages.push((name, lap.elapsed().as_secs_f64()));
        lap = Instant::now();
    };
    std::fs::create_dir_all(&args.out).map_err(|e| Error::io(&args.out, e))?;
    let body = builtin::body("mannequin:female")?;
    let dress = builtin::garment("dress", &body)?;
    let fabric = builtin::fabric(&dress.fabric)?;
    let mut studio = Studio::new(&body, View::ThreeQuarter, 300, 400, 0.0)?;

    let assets = write_assets(&args.out, &body, &mut studio)?;
    stage("assets", &mut stages);

    let motions = |names: &[&str]| -> Result<Vec<Motion>> {
        names.iter().map(|n| Ok(builtin::motion(n, &body.skeleton)?)).collect()
    };
    let (train, test) = if args.quick { (&TRAIN[..6], &TEST[..1]) } else { (&TRAIN[..], &TEST[..]) };
    let takes = args.out.join("takes");
    let job = |out: &Path, stops: usize, names: &[&str]| -> Result<Vec<Take>> {
        let job = Job {
            body: &body,
            garment: &dress,
            fabric: &fabric,
            settings: RecordSettings::default(),
            stops,
            out,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
        };
        let outcome = job.simulate(&motions(names)?)?;
        if let Some((clip, why)) = outcome.failed.first() {
            anyhow::bail!("simulating {clip}: {why}");
        }
        Ok(outcome.takes.into_iter().map(|(_, take)| take).collect())
    };
    let training_takes = job(&takes.join("train"), if args.quick { 1 } else { 2 }, train)?;
    let test_takes = job(&takes.join("test"), 0, test)?;
    stage("simulate", &mut stages);

    let training = toile_learn::train(&body, &training_takes, &Settings::default())?;
    let model_path = args.out.join("dress.toile");
    training.model.write(&model_path)?;
    let model =
        Arc::new(toile_assets::Model::read(&model_path).context("reading back what was just written")?);
    stage("train", &mut stages);

    let attachment = evaluate::draped_attachment(&body, &dress, &test_takes[0])?;
    let evaluation = toile_learn::evaluate(&model, &test_takes, &attachment, Some(&body));
    stage("evaluate", &mut stages);

    let every = if args.quick { 4 } else { 2 };
    let film_fps = 30.0 / every as f32;
    let film = film(&mut studio, &body, &dress, &test_takes[0], &model, &attachment, every)?;
    let halved: Vec<Image> = film.iter().map(Image::halved).collect();
    let film_path = args.out.join("film.gif");
    toile_show::write_gif(&film_path, &halved, film_fps)?;
    stage("film", &mut stages);

    let mut value = evaluate::json(&evaluation);
    let simulated: Vec<f32> = training_takes
        .iter()
        .chain(&test_takes)
        .flat_map(|t| t.reports.iter().skip(1).map(|r| r.ms))
        .collect();
    let simulated_ms = median(simulated);
    value["simulated_ms_per_frame"] = json!(simulated_ms);
    value["rho_before"] = json!(training.rho_before);
    value["travel_bound_cm"] =
        json!(100.0 * model.certificate.travel_bound_m.iter().copied().fold(0.0, f32::max));
    value["bytes"] = json!(model.bytes());
    value["train_frames"] = json!(training_takes.iter().map(Take::len).sum::<usize>());
    let story = Story {
        title: "A learned dress",
        value: &value,
        evaluation: &evaluation,
        wardrobe: &assets.sheet,
        film: &film,
        film_fps,
        stages: &stages,
        adapter: studio.adapter(),
    };
    let page = args.out.join("report.html");
    report::write(&page, &story)?;
    stage("report", &mut stages);
    value["seconds"] = json!(begun.elapsed().as_secs_f64());
    value["report"] = json!(page);
    if args.json {
        println!("{value}");
    } else {
        print_summary(&value, &assets.files, &page, &stages);
    }
    Ok(())
}

fn median(mut values: Vec<f32>) -> f32 {
    values.sort_by(f32::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

struct Assets {
    files: Vec<PathBuf>,
    sheet: Image,
}

/// The mannequin with a walk and every garment as GLB files, and one sheet of pictures.
fn write_assets(out: &Path, body: &Body, studio: &mut Studio) -> Result<Assets> {
    let walk = builtin::motion("walk", &body.skeleton)?.resampled(30.0);
    let mut files = Vec::new();
    let path = out.join("mannequin.glb");
    write_dressed(&path, body, std::slice::from_ref(&walk), &[])?;
    files.push(path);
    let mut pictures = vec![studio.draw(Some(&body.mesh.positions), &[], None, "mannequin")?];
    for (name, [r, g, b]) in WARDROBE {
        let garment: Garment = builtin::garment(name, body)?;
        let path = out.join(format!("{name}.glb"));
        write_dressed(&path, body, std::slice::from_ref(&walk), std::slice::from_ref(&garment))?;
        files.push(path);
        let cloth =
            Cloth { mesh: MeshHandle::new(&garment.sim.triangles), material: Material::cloth(srgb(r, g, b)) };
        let label = format!("{name}, {} vertices", garment.sim.positions.len());
        pictures.push(studio.draw(
            Some(&body.mesh.positions),
            &[(&cloth, &garment.sim.positions, None)],
            None,
            &label,
        )?);
    }
    let sheet = sheet(&pictures, pictures.len());
    let path = out.join("wardrobe.png");
    sheet.write_png(&path)?;
    files.push(path);
    Ok(Assets { files, sheet })
}

/// Simulated, learned and skinned side by side in lock-step; the learned one coloured by its error.
fn film(
    studio: &mut Studio,
    body: &Body,
    garment: &Garment,
    take: &Take,
    model: &Arc<toile_assets::Model>,
    attachment: &Attachment,
    every: usize,
) -> Result<Vec<Image>> {
    let cloth =
        Cloth { mesh: MeshHandle::new(&garment.sim.triangles), material: Material::fabric(&garment.fabric) };
    let mut learned = Stable::new(model.clone());
    let mut skinned = Skinned::new(attachment.clone());
    let mut out = vec![Vec3::ZERO; model.vertices];
    let mut frames = Vec::new();
    let bar = crate::progress::bar(take.len() as u64, "filming");
    for f in 0..take.len() {
        learned.step(take.frame_bones(f), &take.roots[f], 1.0 / take.fps);
        skinned.step(take.frame_bones(f), &take.roots[f], 1.0 / take.fps);
        bar.inc(1);
        if f % every != 0 {
            continue;
        }
        let skin = body.skinned_positions(take.frame_bones(f));
        let root = Some(&take.roots[f]);
        let mut panes =
            vec![studio.draw(Some(&skin), &[(&cloth, take.frame(f), None)], root, "simulated")?];
        learned.positions(&mut out);
        panes.push(studio.draw(Some(&skin), &[(&cloth, &out, None)], root, "learned")?);
        skinned.positions(&mut out);
        panes.push(studio.draw(Some(&skin), &[(&cloth, &out, None)], root, "skinned")?);
        frames.push(sheet(&panes, 3));
    }
    bar.finish_and_clear();
    Ok(frames)
}

fn print_summary(value: &Value, files: &[PathBuf], page: &Path, stages: &[(&str, f64)]) {
    let number = |key: &str| value[key].as_f64().unwrap_or(0.0);
    let times: Vec<String> = stages.iter().map(|(n, s)| format!("{n} {s:.1} s")).collect();
    println!("wrote      {}", files.iter().map(|f| f.display().to_string()).collect::<Vec<_>>().join(", "));
    println!("simulated  {:.1} ms a frame, one core, self-collision on", number("simulated_ms_per_frame"));
    println!(
        "learned    {} frames, ρ {:.4} (before enforcement {:.4})",
        value["train_frames"],
        number("rho"),
        number("rho_before")
    );
    println!(
        "error      {:.2} cm on unseen clips, free run (skinning {:.2} cm, best of this space {:.2} cm)",
        number("mean_cm"),
        number("skin_cm"),
        number("projection_cm")
    );
    println!(
        "lively     {:.2} of the simulation's residual motion, correlation {:.2}",
        number("liveliness"),
        number("correlation")
    );
    println!(
        "cost       {:.1} µs a garment and frame, {:.0} kB",
        number("us_per_frame"),
        number("bytes") / 1024.0
    );
    println!(
        "bound      no vertex ever farther than {:.0} cm from its mean, whatever it is fed",
        number("travel_bound_cm")
    );
    println!("time       {}", times.join(", "));
    println!("report     {} and film.gif beside it", page.display());
    println!("next       toile simulate --body YOU.glb --garment YOURS.obj --motion YOUR.bvh --out takes");
    println!("           toile train takes --body YOU.glb --out yours.toile");
}
