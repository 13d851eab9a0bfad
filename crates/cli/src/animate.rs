//! `toile animate`: a garment on a motion by any tier, as a cache that other programs play.

use crate::adaptive;
use crate::convert::Rest;
use crate::output::{self, Overwrite};
use crate::pacing::{self, Pacing};
use crate::progress;
use crate::resolve::{self, BadRequest, ending};
use crate::schedule::{self, Rungs, Schedule};
use crate::surroundings::Asked;
use crate::tiers::{self, Leash, Played, PosedMotion, TierName};
use anyhow::{Context, Result};
use clap::Parser;
use glam::Vec3;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toile_assets::write::abc::AbcWriter;
use toile_assets::write::glb;
use toile_assets::write::obj::{self, ObjSequence};
use toile_assets::write::pc2::{self, Pc2Writer};
use toile_assets::write::usd::{UsdSettings, UsdWriter};
use toile_assets::{Body, Garment, Mesh, embed};
use toile_run::{Driven, Embedding};
use toile_simulate::RecordSettings;

/// Play a garment on a motion into a cache for Blender, Houdini, Maya or an engine
#[derive(Parser)]
#[command(after_help = "The ending of --out says the format:\n  \
    .pc2   point cache, with its partner OBJ beside it (vertices in the order of the garment's own file)\n  \
    .abc   Alembic, for Unreal, Houdini, Maya and Blender\n  \
    .usda  USD stage with time samples\n  \
    .obj   one file a frame: name_0001.obj, name_0002.obj, …\n  \
    .glb   morph targets with their animation; --with-body adds the character\n\n\
    A garment file cape.obj may have a cape.json beside it that says, by vertex of the file, how it is held and painted, in \
    every tier:\n  \
    {\"labels\": {\"neckline\": [0, 1, 2]},        sets of vertices that --pin holds to the body\n   \
    \"layers\": [\"stretch\", null, \"floating\"],   layer of each vertex, null by distance (tier layered)\n   \
    \"max_distance_m\": [0, 0.1, 0.5],           how far each may leave its skinned place; 0 holds it\n   \
    \"backstop_m\": [0.01, 0.01, 0.05]}          how deep each may go below it\n  \
    A cape.glb is painted by its vertex colours where its cape.json says how far full colour is:\n  \
    {\"vertex_colours\": {\"max_distance_m\": 0.5,  red: how far, 0 holds\n                      \
    \"backstop_m\": 0.1,      green: how deep\n                      \
    \"layers\": true}}        blue: 0 by distance, 1/3 stretch, 2/3 loose, 1 floating\n\nExamples:\n  \
    toile animate --garment dress --motion walk --out walk.pc2\n  \
    toile animate --tier layered --body hero.glb --garment shirt --motion walk --out walk.glb --with-body\n  \
    toile animate --tier stable --model dress.toile --garment dress --motion turn:90 --out turn.usda\n  \
    toile animate --tier adaptive --model sweater.toile --garment sweater --motion gym --out gym.pc2\n  \
    toile animate --tier full --body hero.glb --garment cape.obj --motion run.bvh --fabric silk --out run.glb --with-body\n  \
    toile animate --tier skin@0,stable@1,full@2.5 --model dress.toile --garment dress --motion walk --out climb.glb\n  \
    toile animate --tier layered --garment shirt --drive shirt:20000 --motion walk --out dense.abc\n  \
    toile animate --model skirt.toile --garment skirt --fabric denim --wind 0,0,-3 --gust 0.5 --motion walk --out walk.abc\n  \
    toile animate --tier layered --garment cape.obj --pin neckline --motion walk --out cape.pc2\n  \
    toile animate --garment skirt --motion walk --seconds 2 --fps 24 --out frames/skirt.obj --json")]
pub struct Args {
    /// How the garment moves: skin, layered, stable, adaptive or full, or several with the seconds at which each takes over, as
    /// stable@0,full@2.5; stable where a model is given, else skin
    #[arg(long)]
    tier: Option<Schedule>,
    /// How long one tier goes over into the next, s; longer where they are far apart
    #[arg(long, default_value_t = 0.5, value_parser = duration)]
    hand_over: f64,
    /// A character file (`hero.glb#Node` for a part of one) or a built-in body
    #[arg(long, default_value = "mannequin:female")]
    body: String,
    /// A garment file or a built-in garment; with --model it only says how the garment is drawn
    #[arg(long)]
    garment: Option<String>,
    /// A motion file or a built-in motion
    #[arg(long)]
    motion: String,
    /// Which animation of a file with several
    #[arg(long)]
    clip: Option<String>,
    /// Frames per second of the motion file, where it states a wrong rate
    #[arg(long, value_parser = pacing::rate)]
    motion_fps: Option<f64>,
    /// Only these seconds of the motion: FROM:TO, FROM: or :TO
    #[arg(long, value_parser = pacing::span)]
    trim: Option<(f64, f64)>,
    /// A learned garment: a model for the tier stable, a database for the tier adaptive
    #[arg(long)]
    model: Option<PathBuf>,
    /// A database for the tier adaptive beside the --model of the tier stable, where both take their turns
    #[arg(long)]
    database: Option<PathBuf>,
    /// A fabric file or a built-in fabric; the garment's own when not given, and the middle of training of a model that hears
    /// fabrics
    #[arg(long)]
    fabric: Option<String>,
    #[command(flatten)]
    around: Asked,
    /// Where the flat rest shape comes from
    #[arg(long, value_enum, default_value = "auto")]
    rest: Rest,
    /// Frames per second of the cache
    #[arg(long, default_value_t = 30.0, value_parser = pacing::rate)]
    fps: f64,
    /// No more than the first seconds of the motion
    #[arg(long, value_parser = duration)]
    seconds: Option<f64>,
    /// Hold the garment by these sets of its vertices only: `--pin waist`, or `--pin none`; by all but collars and
    /// armholes, which it hangs by, unless told
    #[arg(long)]
    pin: Vec<String>,
    /// A dense mesh that the garment carries, as a garment file or a built-in garment, cut as the garment is: it is written
    /// instead
    #[arg(long, value_name = "MESH")]
    drive: Option<String>,
    /// For the tiers skin and layered: start from the garment as it was cut, not as it hangs
    #[arg(long)]
    no_drape: bool,
    /// Put the character and its motion into the GLB, too
    #[arg(long)]
    with_body: bool,
    /// With --with-body: leave out what of the character the garment covers in every frame
    #[arg(long, requires = "with_body")]
    hide: bool,
    /// Where to: .pc2, .abc, .usda, .obj or .glb
    #[arg(long)]
    out: PathBuf,
    #[command(flatten)]
    overwrite: Overwrite,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// For `--seconds`.
pub fn duration(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(secs) if secs > 0.0 && secs.is_finite() => Ok(secs),
        _ => Err("wants a number of seconds above 0".into()),
    }
}

pub fn run(args: &Args) -> Result<()> {
    check_out(args)?;
    let format = ending(&args.out.to_string_lossy());
    if !["pc2", "abc", "usda", "obj", "glb"].contains(&format.as_str()) {
        return Err(BadRequest(format!(
            "{}: caches are written as .pc2, .abc, .usda, .obj or .glb",
            args.out.display()
        ))
        .into());
    }
    if args.with_body && format != "glb" {
        return Err(
            BadRequest("--with-body goes with a .glb; other caches hold the garment alone".into()).into()
        );
    }
    let usual = Schedule::of(match &args.model {
        Some(path) if adaptive::is_database(path) => TierName::Adaptive,
        Some(_) => TierName::Stable,
        None => TierName::Skin,
    });
    let schedule = args.tier.as_ref().unwrap_or(&usual);
    let body = resolve::body(&args.body, None)?;
    let pacing = Pacing { fps: args.motion_fps, trim: args.trim, rate_flag: "--motion-fps" };
    let shot = PosedMotion::new(&args.motion, args.clip.as_deref(), &body, &pacing, args.fps, args.seconds)?;
    let (played, files) = match schedule.only() {
        None => ladder(args, schedule, &body, &shot)?,
        Some(TierName::Stable) => stable(args, &body, &shot)?,
        Some(TierName::Adaptive) => subspace(args, &body, &shot)?,
        Some(tier) => cloth(args, tier, &body, &shot)?,
    };
    if played.clamped_frames > 0 {
        eprintln!(
            "{}: in {} of {} frames at the model's rate an input left the certified set and was clamped",
            shot.motion.name, played.clamped_frames, played.frames
        );
    }
    if args.json {
        let value = json!({
            "tier": schedule.said(), "frames": shot.len(), "fps": shot.fps, "files": files,
            "us_per_frame": played.us_per_frame, "clamped_frames": played.clamped_frames,
            "deepest_mm": played.deepest_mm,
        });
        println!("{value}");
        return Ok(());
    }
    let more =
        if files.len() > 2 { format!(" … {}", files[files.len() - 1].display()) } else { String::new() };
    println!(
        "{}{more} ({}, {} frames at {} fps, {:.1} µs a frame)",
        files[0].display(),
        schedule.said(),
        shot.len(),
        shot.fps,
        played.us_per_frame
    );
    if format == "pc2" {
        println!("{} (load this mesh and put the cache on it)", files[1].display());
    }
    Ok(())
}

/// Every file that will be written, before anything is done.
fn check_out(args: &Args) -> Result<()> {
    let names = [
        Some(&args.body),
        args.garment.as_ref(),
        Some(&args.motion),
        args.fabric.as_ref(),
        args.drive.as_ref(),
    ];
    let inputs = output::named(names.into_iter().flatten().map(String::as_str), &args.model);
    let check = |path: &Path| args.overwrite.check(path, inputs.iter().copied());
    match ending(&args.out.to_string_lossy()).as_str() {
        "pc2" => check(&args.out).and(check(&pc2::partner(&args.out))),
        "obj" => check(&obj::numbered(&args.out, 1)),
        _ => check(&args.out),
    }
}

/// A learned garment, drawn with its own vertices or with those of the garment it was learned from.
fn stable(args: &Args, body: &Body, shot: &PosedMotion) -> Result<(Played, Vec<PathBuf>)> {
    let Some(path) = &args.model else {
        return Err(schedule::no_model().into());
    };
    let garment = match &args.garment {
        Some(name) => Some(resolve::garment(name, body, args.rest.into(), None)?),
        None => None,
    };
    let model = tiers::model_for(path, body, garment.as_ref())?;
    let mesh =
        Mesh { positions: model.cloth_mean.clone(), triangles: model.triangles.clone(), uvs: Vec::new() };
    let dense = Dense::of(args, body, garment.as_ref())?;
    let plain = Drawn { mesh: &mesh, sim_from_render: None, on: None };
    let drawn = garment.as_ref().map_or(plain, |g| Drawn::garment(g, &dense));
    let mut cache = Cache::new(args, drawn, shot)?;
    let leash = match &garment {
        // Around where it hung when it was learned, as the other tiers have it.
        Some(garment) => {
            let hung = model.attachment.as_ref().map_or(&garment.sim.positions, |a| &a.rest);
            Leash::new(body, garment, hung)?
        }
        None => Leash::default(),
    };
    let mut bones = shot.bones.iter();
    let fabrics: Vec<String> = args.fabric.iter().filter(|_| model.hears().is_some()).cloned().collect();
    if fabrics.len() < args.fabric.iter().len() {
        eprintln!("the model does not hear fabrics: --fabric changes nothing");
    }
    let told = args.around.told(&model, &fabrics)?[0];
    let played =
        tiers::play_stable(&model, body, shot, (told, args.around.gust), &mut |p| match bones.next() {
            Some(bones) => cache.push(&leash.kept(bones, p)),
            None => cache.push(p),
        })?;
    Ok((played, cache.finish(body)?))
}

/// A garment that goes from tier to tier.
fn ladder(
    args: &Args,
    schedule: &Schedule,
    body: &Body,
    shot: &PosedMotion,
) -> Result<(Played, Vec<PathBuf>)> {
    let name = args.garment.as_deref().unwrap_or("dress");
    let mut garment = resolve::worn(name, body, args.rest.into())?;
    resolve::held_by(&mut garment, &args.pin)?;
    let fabric = resolve::fabric(args.fabric.as_deref().unwrap_or(&garment.fabric))?;
    let (databases, models): (Vec<_>, Vec<_>) =
        args.model.iter().chain(&args.database).partition(|path| adaptive::is_database(path));
    let model = match models.first() {
        Some(path) => Some(tiers::model_for(path, body, Some(&garment))?),
        None => None,
    };
    // Before any time is spent on draping.
    if schedule.has(TierName::Stable) && model.is_none() {
        return Err(schedule::no_model().into());
    }
    if schedule.has(TierName::Adaptive) && databases.is_empty() {
        return Err(adaptive::no_database().into());
    }
    let dense = Dense::of(args, body, Some(&garment))?;
    let mut rungs = Rungs::new(body, &garment, &fabric, model.as_ref())?;
    if let Some(path) = databases.first() {
        rungs.database = Some(adaptive::database_for(path, body, &garment)?);
    }
    let mut cache = Cache::new(args, Drawn::garment(&garment, &dense), shot)?;
    let played = schedule::play(&rungs, schedule, args.hand_over as f32, shot, &mut |p| cache.push(p))?;
    Ok((played, cache.finish(body)?))
}

/// A garment simulated in a subspace.
fn subspace(args: &Args, body: &Body, shot: &PosedMotion) -> Result<(Played, Vec<PathBuf>)> {
    let Some(path) = args.model.as_ref().or(args.database.as_ref()) else {
        return Err(adaptive::no_database().into());
    };
    let Some(name) = &args.garment else {
        return Err(
            BadRequest("the tier adaptive needs --garment, the one that it was trained on".into()).into()
        );
    };
    let mut garment = resolve::worn(name, body, args.rest.into())?;
    resolve::held_by(&mut garment, &args.pin)?;
    let database = adaptive::database_for(path, body, &garment)?;
    let fabric = resolve::fabric(args.fabric.as_deref().unwrap_or(&garment.fabric))?;
    let dense = Dense::of(args, body, Some(&garment))?;
    let mut tier = adaptive::tier(body, &garment, &fabric, &database, Default::default())?;
    let mut cache = Cache::new(args, Drawn::garment(&garment, &dense), shot)?;
    let played = tiers::play(&mut tier, shot, &mut |p| cache.push(p))?;
    Ok((played, cache.finish(body)?))
}

/// A garment that is skinned, in layers or simulated.
fn cloth(args: &Args, tier: TierName, body: &Body, shot: &PosedMotion) -> Result<(Played, Vec<PathBuf>)> {
    if tier != TierName::Full && !args.around.is_nothing() {
        return Err(BadRequest(format!(
            "--wind, --gust and --gravity go with the tiers stable and full, not {}",
            tier.as_str()
        ))
        .into());
    }
    let name = args.garment.as_deref().unwrap_or("dress");
    let mut garment = if tier == TierName::Full || !args.no_drape {
        resolve::worn(name, body, args.rest.into())?
    } else {
        resolve::garment(name, body, args.rest.into(), None)?
    };
    resolve::held_by(&mut garment, &args.pin)?;
    let fabric = resolve::fabric(args.fabric.as_deref().unwrap_or(&garment.fabric))?;
    let dense = Dense::of(args, body, Some(&garment))?;
    let mut cache = Cache::new(args, Drawn::garment(&garment, &dense), shot)?;
    let played = if tier == TierName::Full {
        let take =
            tiers::simulate(body, &garment, &fabric, shot, args.around.settings(RecordSettings::default()))?;
        (0..take.len()).try_for_each(|f| cache.push(take.frame(f)))?;
        tiers::played_take(&take)
    } else {
        let rest = match args.no_drape {
            true => garment.sim.positions.clone(),
            false if tier == TierName::Layered => tiers::draped_or_placed(body, &garment, &fabric),
            false => tiers::draped(body, &garment, &fabric)?,
        };
        if tier == TierName::Layered {
            let layers = tiers::layers(body, &garment, &rest, &fabric)?;
            let leash = Leash::new(body, &garment, &rest)?;
            let mut bones = shot.bones.iter();
            tiers::play_layered(&layers, shot, &mut |p| match bones.next() {
                Some(bones) => cache.push(&leash.kept(bones, p)),
                None => cache.push(p),
            })?
        } else {
            let attachment = tiers::attached(body, &garment, &rest)?;
            tiers::play_skin(&attachment, shot, &mut |p| cache.push(p))?
        }
    };
    Ok((played, cache.finish(body)?))
}

/// The mesh of a cache and how its vertices follow the simulated ones.
#[derive(Clone, Copy)]
struct Drawn<'a> {
    mesh: &'a Mesh,
    sim_from_render: Option<&'a [u32]>,
    /// Where simulated vertices carry dense ones.
    on: Option<&'a Arc<Embedding>>,
}

impl<'a> Drawn<'a> {
    fn garment(garment: &'a Garment, dense: &'a Option<Dense>) -> Self {
        let shown = dense.as_ref().map_or(garment, |d| &d.garment);
        let on = dense.as_ref().map(|d| &d.on);
        Self { mesh: &shown.render, sim_from_render: Some(&shown.sim_from_render), on }
    }
}

/// A dense mesh on the garment.
struct Dense {
    garment: Garment,
    on: Arc<Embedding>,
}

impl Dense {
    /// The one that was asked for, put onto the garment as both were cut.
    fn of(args: &Args, body: &Body, garment: Option<&Garment>) -> Result<Option<Self>> {
        let Some(name) = &args.drive else { return Ok(None) };
        let Some(coarse) = garment else {
            let what = "--drive needs --garment: the dense mesh is put onto the garment as it was cut";
            return Err(BadRequest(what.into()).into());
        };
        let garment = resolve::garment(name, body, args.rest.into(), None)?;
        let on = embed(&coarse.sim, &garment.sim).with_context(|| format!("{name} on `{}`", coarse.name))?;
        Ok(Some(Self { garment, on: Arc::new(on) }))
    }
}

/// A cache being written.
struct Cache<'a> {
    drawn: Drawn<'a>,
    shot: &'a PosedMotion,
    out: &'a Path,
    with_body: bool,
    hide: bool,
    sink: Sink<'a>,
    render: Vec<Vec3>,
    driven: Option<(Driven, Vec<Vec3>)>,
    /// What carrying the dense mesh cost in each frame, µs.
    driven_us: Vec<f64>,
    files: Vec<PathBuf>,
    bar: indicatif::ProgressBar,
}

enum Sink<'a> {
    Pc2(Pc2Writer),
    Abc(AbcWriter<'a>),
    Usd(UsdWriter<'a>),
    Obj(ObjSequence<'a>),
    Glb(Vec<Vec<Vec3>>),
}

impl<'a> Cache<'a> {
    fn new(args: &'a Args, drawn: Drawn<'a>, shot: &'a PosedMotion) -> Result<Self> {
        let out = args.out.as_path();
        let mut files = vec![out.to_path_buf()];
        let name = out.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let sink = match ending(&out.to_string_lossy()).as_str() {
            "pc2" => {
                files.push(pc2::partner(out));
                Sink::Pc2(Pc2Writer::without_partner(out, drawn.mesh.positions.len(), 0.0, 1.0)?)
            }
            "abc" => Sink::Abc(AbcWriter::new(out, drawn.mesh, &name, shot.fps)?),
            "usda" => {
                let settings = UsdSettings::default().with(|s| {
                    s.name = name;
                    s.fps = shot.fps;
                    s.normals = true;
                });
                Sink::Usd(UsdWriter::new(out, drawn.mesh, shot.len(), settings)?)
            }
            "obj" => {
                files.clear();
                Sink::Obj(ObjSequence::new(out, drawn.mesh))
            }
            _ => Sink::Glb(Vec::with_capacity(shot.len())),
        };
        let bar = progress::bar(shot.len() as u64, "writing");
        let (with_body, hide) = (args.with_body, args.hide);
        let driven = drawn.on.map(|on| (Driven::new(on.clone()), vec![Vec3::ZERO; on.links.len()]));
        Ok(Self {
            drawn,
            shot,
            out,
            with_body,
            hide,
            sink,
            render: Vec::new(),
            driven,
            driven_us: Vec::new(),
            files,
            bar,
        })
    }

    /// Appends a frame given in simulation vertices.
    fn push(&mut self, positions: &[Vec3]) -> Result<()> {
        self.render.clear();
        let mut positions = positions;
        if let Some((driven, placed)) = &mut self.driven {
            let mut done = Ok(());
            self.driven_us.push(tiers::timed(|| done = driven.place(positions, placed)));
            done?;
            positions = placed;
        }
        match self.drawn.sim_from_render {
            Some(map) => self.render.extend(map.iter().map(|&s| positions[s as usize])),
            None => self.render.extend_from_slice(positions),
        }
        match &mut self.sink {
            Sink::Pc2(writer) => writer.push(&self.render)?,
            Sink::Abc(writer) => writer.push(&self.render)?,
            Sink::Usd(writer) => writer.push(&self.render)?,
            Sink::Obj(writer) => self.files.push(writer.push(&self.render)?),
            Sink::Glb(frames) => frames.push(self.render.clone()),
        }
        self.bar.inc(1);
        Ok(())
    }

    /// Completes the files and says which they are.
    fn finish(mut self, body: &Body) -> Result<Vec<PathBuf>> {
        self.bar.finish_and_clear();
        if let Some((driven, _)) = &self.driven {
            self.driven_us.sort_by(f64::total_cmp);
            let median = self.driven_us.get(self.driven_us.len() / 2).copied().unwrap_or(0.0);
            eprintln!(
                "{} vertices carried by {} in {median:.0} µs a frame",
                driven.vertices(),
                driven.embedding().vertices
            );
        }
        match self.sink {
            Sink::Pc2(writer) => {
                // Only now: a run that fails leaves no mesh without its cache.
                obj::write_mesh(pc2::partner(self.out), self.drawn.mesh)?;
                writer.finish()?;
            }
            Sink::Abc(writer) => writer.finish()?,
            Sink::Usd(writer) => writer.finish()?,
            Sink::Obj(_) => {}
            Sink::Glb(frames) => {
                let piece = glb::Piece::frames("garment", self.drawn.mesh, &frames, self.shot.fps);
                let motions = std::slice::from_ref(&self.shot.motion);
                let seen =
                    if self.hide { Some(uncovered(body, self.shot, self.drawn, &frames)) } else { None };
                let body = seen.as_ref().unwrap_or(body);
                let scene = glb::Scene {
                    body: self.with_body.then_some(body),
                    motions: if self.with_body { motions } else { &[] },
                    pieces: &[piece],
                };
                glb::write_scene(self.out, &scene)?;
            }
        }
        Ok(self.files)
    }
}

/// The body without the triangles that the garment covers in every frame, looked at in up to 24.
fn uncovered(body: &Body, shot: &PosedMotion, drawn: Drawn, frames: &[Vec<Vec3>]) -> Body {
    let stride = frames.len().div_ceil(24).max(1);
    let looked = (0..frames.len()).step_by(stride);
    let both = looked.map(|f| (body.skinned_positions(&shot.bones[f]), frames[f].clone()));
    let hidden = toile_learn::hidden_under(&body.mesh.triangles, &drawn.mesh.triangles, both);
    let mut left = body.clone();
    let mut t = 0u32;
    left.mesh.triangles.retain(|_| {
        t += 1;
        hidden.binary_search(&(t - 1)).is_err()
    });
    left
}
