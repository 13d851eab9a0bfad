//! `toile demo`: the whole line on built-in assets, from panels to a learned dress.

mod cost;
mod folder;
mod plan;
mod summary;

use crate::convert::write_dressed;
use crate::crowd::{self, Clip};
use crate::driver;
use crate::evaluate::{self, Gate};
use crate::interrupt;
use crate::output::Overwrite;
use crate::picture::{Cloth, Studio, sheet};
use crate::report::{self, Story, facts, film};
use crate::resume::{self, Digest};
use crate::simulate::Job;
use anyhow::{Context, Result};
use clap::Parser;
use plan::Plan;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use toile_assets::write::{bvh, obj, write_atomically};
use toile_assets::{Body, Error, Fabric, Garment, Model, ModelKind, Motion, Take, builtin};
use toile_learn::Settings;
use toile_show::{Image, Material, MeshHandle, View, srgb};
use toile_simulate::RecordSettings;

/// Do the main job on built-in assets: simulate, learn, evaluate, film
#[derive(Parser)]
#[command(after_help = "Run again to go on where it stopped: what is finished is kept.\n\nExamples:\n  \
    toile demo\n  toile demo --quick --out /tmp/toile --json")]
pub struct Args {
    /// Folder for everything it makes: a new or empty one, or that of an earlier demo
    #[arg(long, default_value = "toile-demo")]
    out: PathBuf,
    /// Fewer clips and a shorter film
    #[arg(long)]
    quick: bool,
    /// Seconds' worth, for tests
    #[arg(long, hide = true, conflicts_with = "quick")]
    tiny: bool,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

const BODY: &str = "mannequin:female";
const GATE: &str = include_str!("demo/gate.toml");

pub fn run(args: &Args) -> Result<()> {
    interrupt::listen();
    let resumed = folder::claim(&args.out)?;
    let plan = match (args.quick, args.tiny) {
        (_, true) => Plan::tiny(),
        (true, _) => Plan::quick(),
        _ => Plan::full(),
    };
    let page = args.out.join("report.html");
    let next = summary::next(&args.out);
    let mut value = make(args, &plan, resumed, &page, &next).map_err(|e| {
        // Simulating says it itself, with the name of the take.
        let unwritable = e.chain().any(|c| c.is::<std::io::Error>());
        if unwritable && !format!("{e:#}").contains(AGAIN) { e.context(format!("{GO_ON}{AGAIN}")) } else { e }
    })?;
    value["report"] = json!(page);
    if args.json {
        println!("{value}");
    } else {
        summary::print(&value, &page, &next);
    }
    Ok(())
}

const GO_ON: &str = "the demo could not be finished; what is finished is kept, make room and ";
const AGAIN: &str = "run the same command again";

/// Times the stages and says which one runs.
struct Stages {
    begun: Instant,
    lap: Instant,
    done: Vec<Value>,
}

impl Stages {
    #[allow(clippy::disallowed_methods)] // the demo says how long each stage took
    fn begin() -> Self {
        Self { begun: Instant::now(), lap: Instant::now(), done: Vec::new() }
    }

    #[allow(clippy::disallowed_methods)]
    fn run<T>(&mut self, name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        eprintln!("── {name}");
        let result = work()?;
        self.done.push(json!({"stage": name, "seconds": self.lap.elapsed().as_secs_f64()}));
        self.lap = Instant::now();
        Ok(result)
    }
}

/// Everything, in the order of the line; returns what `--json` prints.
fn make(args: &Args, plan: &Plan, resumed: bool, page: &Path, next: &str) -> Result<Value> {
    let mut stages = Stages::begin();
    let out = args.out.as_path();
    let body = builtin::body(BODY)?;
    let garment = builtin::garment(plan.garment, &body)?;
    let fabric = builtin::fabric(&garment.fabric)?;
    let size = (plan.pane[0], plan.pane[1]);
    let mut studio = driver::renderer_installed()?
        .map(|renderer| Studio::new(renderer, &body, View::ThreeQuarter, size, 0.0));

    let mut pictures = stages.run("assets", || {
        write_example(&out.join("example"), &body, &garment, plan)?;
        write_wardrobe(out, &body, studio.as_mut(), plan)
    })?;
    let [seen, unseen] = stages.run("simulate", || simulate(out, &body, &garment, &fabric, plan))?;
    let model_path = out.join(format!("{}.toile", garment.name.split(':').next().unwrap_or("garment")));
    let model = stages.run("train", || train(&model_path, &body, &seen))?;

    let attachment = evaluate::draped_attachment(&body, &garment, &unseen[0])?;
    let (evaluation, spectrum) = stages.run("evaluate", || {
        let evaluation = toile_learn::evaluate(&model, &unseen, &attachment, Some(&body));
        Ok((evaluation, toile_learn::spectrum(&model, &unseen, &attachment)))
    })?;
    let crowd = stages.run("crowd", || {
        let motions = plan.motions(true, &body.skeleton)?;
        if studio.is_some() {
            let image = crowd_picture(&model, &body, &motions, plan)?;
            image.write_png(out.join("crowd.png"))?;
            let caption = format!("{} of them, each learned garment on its own.", plan.crowd);
            pictures.insert(0, (vec![image], caption));
        }
        cost::crowd(&model, &body, &motions, plan.crowd, plan.crowd_secs)
    })?;
    let film = match &mut studio {
        Some(studio) => Some(stages.run("film", || {
            let red = film::red_cm(evaluation.mean_cm);
            let film = film::film(studio, &body, &unseen[0], &model, &attachment, plan.every, red)?;
            toile_show::write_gif(out.join("film.gif"), &film.frames, film.fps)?;
            Ok(film)
        })?),
        None => None,
    };

    let mut value = evaluate::json(&evaluation);
    facts::merge(&mut value, facts::of_model(&model));
    let frames = |takes: &[Take]| takes.iter().map(Take::len).sum::<usize>();
    facts::merge(
        &mut value,
        json!({
            "command": format!("toile demo{}", if args.quick { " --quick" } else if args.tiny { " --tiny" } else { "" }),
            "quick": args.quick, "resumed": resumed,
            "body": BODY, "garment": plan.garment, "fabric": garment.fabric,
            "training": plan.train.join(", "), "unseen": plan.test.join(", "),
            "train_clips": plan.train.len(), "test_clips": plan.test.len(),
            "train_frames": frames(&seen), "test_frames": frames(&unseen),
            "simulated_ms_per_frame": facts::simulated_ms(seen.iter().chain(&unseen)), "skin_us_per_frame": facts::skinned_us(&attachment, &unseen[0])?,
            "crowd": crowd, "machine": facts::of_machine(studio.as_ref().map(Studio::adapter)),
            "solver": format!("{:?}", RecordSettings::default().solver),
        }),
    );
    write_atomically(out.join("gate.toml"), GATE.as_bytes())?;
    let (gate, pass) = facts::of_gate(&Gate::parse(GATE, Path::new("gate.toml"))?, &value)?;
    facts::merge(&mut value, json!({"gate": gate, "pass": pass}));
    value["seconds"] = json!(stages.begun.elapsed().as_secs_f64());
    value["stages"] = Value::Array(stages.done);
    let story = Story {
        title: &format!("A learned {}", garment.name),
        value: &value,
        model: &model,
        evaluation: &evaluation,
        spectrum: spectrum.as_ref(),
        film: film.as_ref(),
        pictures: &pictures,
        next,
    };
    report::write(page, &story)?;
    write_atomically(out.join("demo.json"), format!("{value:#}\n").as_bytes())?;
    Ok(value)
}

/// Takes of the clips to learn from and of the unseen ones; finished ones are read.
fn simulate(
    out: &Path,
    body: &Body,
    garment: &Garment,
    fabric: &Fabric,
    plan: &Plan,
) -> Result<[Vec<Take>; 2]> {
    let batch = |unseen: bool, name: &str| -> Result<Vec<Take>> {
        let job = Job {
            body,
            garment,
            fabric,
            outfit: None,
            settings: RecordSettings::default(),
            overwrite: Overwrite { force: false },
            stops: plan.stops[usize::from(unseen)],
            out: &out.join("takes").join(name),
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            shard: None,
            label: String::new(),
        };
        let outcome = job.simulate(&plan.motions(unseen, &body.skeleton)?)?;
        if let Some((clip, why)) = outcome.failed.first() {
            anyhow::bail!("simulating {clip}: {why}");
        }
        Ok(outcome.true_takes())
    };
    Ok([batch(false, "train")?, batch(true, "test")?])
}

/// The model of these takes: read where it was learned from exactly them, else learned.
fn train(path: &Path, body: &Body, takes: &[Take]) -> Result<Arc<Model>> {
    let settings = Settings::default().with(|s| {
        s.kind = ModelKind::D;
        s.cloth_dims = Settings::dims_of(ModelKind::D);
    });
    let inputs = takes.iter().map(|t| t.notes.iter().find(|(k, _)| k == resume::INPUTS));
    let digest = inputs
        .fold(Digest::default().with(&settings).with(&env!("CARGO_PKG_VERSION")), |d, note| d.with(&note))
        .hex();
    let kept = |m: &Model| m.notes.iter().any(|(k, v)| k == resume::INPUTS && *v == digest);
    if let Some(model) = Model::read(path).ok().filter(kept) {
        return Ok(Arc::new(model));
    }
    let mut training = toile_learn::train(body, takes, &settings)?;
    training.model.notes.push((resume::INPUTS.into(), digest));
    training.model.write(path)?;
    // What is judged is what is shipped.
    Ok(Arc::new(Model::read(path).context("reading back what was just written")?))
}

/// A character, a garment and a motion as a user would bring them.
fn write_example(folder: &Path, body: &Body, garment: &Garment, plan: &Plan) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
    write_dressed(&folder.join("hero.glb"), body, &[], &[])?;
    obj::write_garment(folder.join("garment.obj"), garment)?;
    let walk = plan.motions(true, &body.skeleton)?.swap_remove(0);
    // Centimetres: what other programs expect of a BVH file.
    Ok(bvh::write_motion(folder.join("walk.bvh"), &walk, 100.0)?)
}

fn crowd_picture(model: &Arc<Model>, body: &Body, motions: &[Motion], plan: &Plan) -> Result<Image> {
    let clips: Vec<Clip> = motions.iter().map(|m| Clip::new(body, &m.resampled(model.fps))).collect();
    let size = (3 * plan.pane[1], 27 * plan.pane[1] / 16);
    Ok(crowd::picture::draw(plan.crowd, size, 1, model.fps, model, body, &clips)?.image)
}

/// The mannequin and the garments around it as GLB files with a walk, and one sheet of pictures.
fn write_wardrobe(
    out: &Path,
    body: &Body,
    mut studio: Option<&mut Studio>,
    plan: &Plan,
) -> Result<Vec<(Vec<Image>, String)>> {
    if plan.wardrobe.is_empty() {
        return Ok(Vec::new());
    }
    let walk = builtin::motion("walk", &body.skeleton)?.resampled(30.0);
    write_dressed(&out.join("mannequin.glb"), body, std::slice::from_ref(&walk), &[])?;
    let mut pictures = Vec::new();
    if let Some(studio) = &mut studio {
        pictures.push(studio.draw(Some(&body.mesh.positions), &[], None, "mannequin")?);
    }
    for (name, [r, g, b]) in plan.wardrobe {
        let garment = builtin::garment(name, body)?;
        let path = out.join(format!("{name}.glb"));
        write_dressed(&path, body, std::slice::from_ref(&walk), std::slice::from_ref(&garment))?;
        let Some(studio) = &mut studio else { continue };
        let cloth = Cloth {
            mesh: MeshHandle::new(&garment.sim.triangles),
            material: Material::cloth(srgb(*r, *g, *b)),
        };
        let label = format!("{name}, {} vertices", garment.sim.positions.len());
        let worn = [(&cloth, garment.sim.positions.as_slice(), None)];
        pictures.push(studio.draw(Some(&body.mesh.positions), &worn, None, &label)?);
    }
    if pictures.is_empty() {
        return Ok(Vec::new());
    }
    sheet(&pictures, pictures.len()).write_png(out.join("wardrobe.png"))?;
    Ok(vec![(pictures, "Built-in garments as cut and placed, before draping.".into())])
}
