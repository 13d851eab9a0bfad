//! `toile convert`: from one file format to another.

use crate::morphs;
use crate::output::{self, Overwrite};
use crate::pacing::Pacing;
use crate::resolve::{self, BadRequest, ending, is_file};
use anyhow::Result;
use clap::Parser;
use glam::Vec3;
use std::path::{Path, PathBuf};
use toile_assets::read::garment::RestChoice;
use toile_assets::write::usd::UsdSettings;
use toile_assets::write::{bvh, glb, obj, pc2, usd};
use toile_assets::{AttachmentSettings, Body, Garment, Mesh, Take, attach, builtin};

/// Turn a body, motion, garment, take or model into another file format
#[derive(Parser)]
#[command(after_help = "Examples:\n  \
    toile convert mannequin:female hero.glb --motion walk --garment dress\n  \
    toile convert 16_47.bvh walk.glb --body hero.glb\n  \
    toile convert hero.glb walk.bvh\n  \
    toile convert dress dress.obj\n  \
    toile convert out/takes/walk.take cache/walk.pc2 --garment dress\n  \
    toile convert dress.toile --morphs dress.glb --garment dress\n  \
    toile convert dress.toile --morphs dress.glb --garment dress --motion walk --json")]
pub struct Args {
    /// A file or a built-in name
    input: String,
    /// Where to; its ending says the format: glb, bvh, obj, usda, pc2
    #[arg(required_unless_present = "morphs")]
    output: Option<PathBuf>,
    /// Write a model's garment as a GLB whose morph targets are its basis (see docs/engines.md)
    #[arg(long, value_name = "GLB", conflicts_with = "output")]
    morphs: Option<PathBuf>,
    /// The body a motion or garment is for
    #[arg(long)]
    body: Option<String>,
    /// Motions to put into a GLB with a body; the one that animates a model's morph targets
    #[arg(long)]
    motion: Vec<String>,
    /// Which animation of a motion file with several, for a model
    #[arg(long)]
    clip: Option<String>,
    /// Garments to put on a body in a GLB, or the garment of a take or model (gives its drawn vertices)
    #[arg(long)]
    garment: Vec<String>,
    /// Which node or material of a glTF file
    #[arg(long)]
    select: Option<String>,
    /// Where the flat rest shape of a garment comes from
    #[arg(long, value_enum, default_value = "auto")]
    rest: Rest,
    #[command(flatten)]
    overwrite: Overwrite,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Where to, by whichever name it was given.
    fn out(&self) -> &Path {
        self.morphs.as_deref().or(self.output.as_deref()).unwrap_or(Path::new(""))
    }
}

/// `--rest`.
#[derive(Clone, Copy, clap::ValueEnum)]
pub enum Rest {
    Auto,
    Uv,
    Mesh,
}

impl From<Rest> for RestChoice {
    fn from(rest: Rest) -> Self {
        match rest {
            Rest::Auto => Self::Auto,
            Rest::Uv => Self::Uv,
            Rest::Mesh => Self::Mesh,
        }
    }
}

/// What an input is.
enum Kind {
    Body,
    Motion,
    Garment,
    Take,
    Model,
}

pub fn run(args: &Args) -> Result<()> {
    let names = args.body.iter().chain(&args.motion).chain(&args.garment).chain([&args.input]);
    let inputs = output::named(names.map(String::as_str), []);
    args.overwrite.check(args.out(), inputs.iter().copied())?;
    if ending(&args.out().to_string_lossy()) == "pc2" {
        args.overwrite.check(&pc2::partner(args.out()), inputs.iter().copied())?;
    }
    let to = ending(&args.out().to_string_lossy());
    let kind = kind(args)?;
    if args.morphs.is_some() && !matches!(kind, Kind::Model) {
        return Err(BadRequest(format!("--morphs wants a model (.toile), not {}", args.input)).into());
    }
    let mut about = serde_json::json!({"files": [args.out()]});
    match (kind, to.as_str()) {
        (Kind::Model, "glb") => {
            about = model_to_morphs(args)?;
            Ok(())
        }
        (Kind::Motion, "bvh") => motion_to_bvh(args),
        (Kind::Motion | Kind::Body, "glb") => body_to_glb(args),
        (Kind::Body, "obj") => {
            Ok(obj::write_mesh(args.out(), &resolve::body(&args.input, args.select.as_deref())?.mesh)?)
        }
        (Kind::Garment, "obj") => {
            let (_, garment) = worn(args)?;
            Ok(obj::write_garment(args.out(), &garment)?)
        }
        (Kind::Garment, "glb") => {
            let (body, garment) = worn(args)?;
            write_dressed(args.out(), &body, &[], &[garment])
        }
        (Kind::Take, _) => take_to(args, &to),
        (_, other) => Err(BadRequest(format!(
            "{} cannot become a `.{other}` file; `toile convert --help` shows what can",
            args.input
        ))
        .into()),
    }?;
    if args.json {
        println!("{about}");
    } else {
        println!("{}", args.out().display());
    }
    Ok(())
}

fn model_to_morphs(args: &Args) -> Result<serde_json::Value> {
    let body = the_body(args)?;
    let motion = match args.motion.as_slice() {
        [] => None,
        [name] => Some(name.as_str()),
        _ => return Err(BadRequest("morph targets take one animation; give --motion once".into()).into()),
    };
    let request = morphs::Request {
        model: Path::new(&args.input),
        out: args.out(),
        garment: morphs::garment(&args.garment, &body, args.rest.into())?,
        motion,
        clip: args.clip.as_deref(),
    };
    morphs::write(&request, &body)
}

fn kind(args: &Args) -> Result<Kind> {
    let to_bvh = ending(&args.out().to_string_lossy()) == "bvh";
    if is_file(&args.input) {
        return match ending(&args.input).as_str() {
            "bvh" => Ok(Kind::Motion),
            "glb" | "gltf" | "vrm" if to_bvh => Ok(Kind::Motion),
            "glb" | "gltf" | "vrm" => Ok(Kind::Body),
            "obj" => Ok(Kind::Garment),
            "take" => Ok(Kind::Take),
            "toile" => Ok(Kind::Model),
            other => Err(BadRequest(format!("{}: `.{other}` is not read here", args.input)).into()),
        };
    }
    if args.input.contains('/') {
        return Ok(Kind::Motion);
    }
    let family = args.input.split(':').next();
    match builtin::list().iter().find(|e| e.name.split(':').next() == family).map(|e| e.kind) {
        Some("body") => Ok(Kind::Body),
        Some("motion") => Ok(Kind::Motion),
        Some("garment") => Ok(Kind::Garment),
        _ => Err(BadRequest(format!(
            "`{}` is neither a file nor built in (`toile inspect --list`)",
            args.input
        ))
        .into()),
    }
}

fn the_body(args: &Args) -> Result<Body> {
    resolve::body(args.body.as_deref().unwrap_or("mannequin:female"), None)
}

fn worn(args: &Args) -> Result<(Body, Garment)> {
    let body = the_body(args)?;
    let garment = resolve::garment(&args.input, &body, args.rest.into(), args.select.as_deref())?;
    Ok((body, garment))
}

fn motion_to_bvh(args: &Args) -> Result<()> {
    let motions = match &args.body {
        Some(body) => {
            resolve::motions(std::slice::from_ref(&args.input), &resolve::body(body, None)?, &Pacing::AS_IS)?
        }
        None => resolve::paced(&args.input, &Pacing::AS_IS)?,
    };
    match motions.as_slice() {
        // Centimetres: what other programs expect of a BVH file.
        [motion] => Ok(bvh::write_motion(args.out(), motion, 100.0)?),
        [] => Err(BadRequest(format!("{} holds no animation", args.input)).into()),
        several => {
            let wanted = several.iter().find(|m| Some(m.name.as_str()) == args.select.as_deref());
            let Some(motion) = wanted else {
                let names: Vec<&str> = several.iter().map(|m| m.name.as_str()).collect();
                return Err(BadRequest(format!(
                    "{} holds {} animations; choose one with --select: {}",
                    args.input,
                    several.len(),
                    names.join(", ")
                ))
                .into());
            };
            Ok(bvh::write_motion(args.out(), motion, 100.0)?)
        }
    }
}

fn body_to_glb(args: &Args) -> Result<()> {
    let (body, mut names) = match kind(args)? {
        Kind::Motion => (the_body(args)?, vec![args.input.clone()]),
        _ => (resolve::body(&args.input, args.select.as_deref())?, Vec::new()),
    };
    names.extend(args.motion.iter().cloned());
    let mut motions = resolve::motions(&names, &body, &Pacing::AS_IS)?;
    let animated = is_file(&args.input) && names.is_empty();
    if animated {
        motions =
            toile_assets::read::gltf::read_motions(Path::new(&args.input), args.select.as_deref(), 30.0)?
                .value;
    }
    let mut garments = Vec::new();
    for name in &args.garment {
        garments.push(resolve::garment(name, &body, args.rest.into(), None)?);
    }
    write_dressed(args.out(), &body, &motions, &garments)
}

/// A body with its animations, wearing garments that follow its bones.
pub fn write_dressed(
    path: &Path,
    body: &Body,
    motions: &[toile_assets::Motion],
    garments: &[Garment],
) -> Result<()> {
    let mut attachments = Vec::new();
    for garment in garments {
        let on_sim = attach(body, &garment.sim, &AttachmentSettings::default())?;
        attachments.push(on_sim.spread(&garment.sim_from_render, &garment.render.positions)?);
    }
    let pieces: Vec<glb::Piece> = garments
        .iter()
        .zip(&attachments)
        .map(|(g, a)| glb::Piece::with_bones(&g.name, &g.render, a))
        .collect();
    Ok(glb::write_scene(path, &glb::Scene { body: Some(body), motions, pieces: &pieces })?)
}

/// Recorded cloth as a cache that other programs play.
fn take_to(args: &Args, to: &str) -> Result<()> {
    let take = Take::read(Path::new(&args.input))?;
    let (mesh, frames) = match args.garment.first() {
        None => {
            let mesh = Mesh {
                positions: take.frame(0).to_vec(),
                triangles: take.triangles.clone(),
                uvs: Vec::new(),
            };
            (mesh, (0..take.len()).map(|f| take.frame(f).to_vec()).collect::<Vec<_>>())
        }
        Some(name) => {
            let body = the_body(args)?;
            let garment = resolve::garment(name, &body, args.rest.into(), None)?;
            if garment.sim.positions.len() != take.vertices {
                return Err(BadRequest(format!(
                    "garment `{name}` has {} vertices, the take {}",
                    garment.sim.positions.len(),
                    take.vertices
                ))
                .into());
            }
            let drawn = |f: usize| -> Vec<Vec3> {
                let frame = take.frame(f);
                garment.sim_from_render.iter().map(|&v| frame[v as usize]).collect()
            };
            (garment.render.clone(), (0..take.len()).map(drawn).collect())
        }
    };
    let slices: Vec<&[Vec3]> = frames.iter().map(Vec::as_slice).collect();
    match to {
        "pc2" => Ok(pc2::write_pc2(args.out(), &mesh, slices.iter().copied(), take.fps, take.fps, 0.0)?),
        "usda" => {
            Ok(usd::write_usd(args.out(), &mesh, &slices, UsdSettings::default().with(|s| s.fps = take.fps))?)
        }
        "glb" => Ok(glb::write_cloth_morphs(args.out(), &mesh, &frames, take.fps)?),
        "obj" => {
            let mut sequence = obj::ObjSequence::new(args.out(), &mesh);
            slices.iter().try_for_each(|frame| sequence.push(frame).map(|_| ()))?;
            Ok(())
        }
        other => Err(BadRequest(format!("a take becomes pc2, usda, glb or obj, not `.{other}`")).into()),
    }
}
