//! `toile render`: pictures of a body, dressed and in motion.

mod finish;

use crate::convert::Rest;
use crate::driver;
use crate::output::{self, Overwrite};
use crate::pacing::{self, Pacing};
use crate::picture::{Cloth, DEPTH_SLACK_M, Studio, sheet};
use crate::progress;
use crate::report::film::red_cm;
use crate::resolve::{self, BadRequest, ending};
use crate::surroundings::Asked;
use crate::tiers::{self, one_motion};
use anyhow::{Context, Result};
use clap::{Parser, ValueEnum};
use glam::{Affine3A, Vec3};
use indicatif::ProgressBar;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toile_assets::{
    Attachment, AttachmentSettings, Body, Garment, Mesh, Model, Motion, RootTrack, Surroundings, Take, attach,
};
use toile_run::{Layer, Layered, LayeredSettings, Stable, Tier};
use toile_show::{
    Film, FilmFormat, Image, Material, MeshHandle, View, beside, heat_colours, srgb, write_legend,
};

/// Draw a body, its clothes and its motion into a picture, contact sheet or film
#[derive(Parser)]
#[command(
    after_help = "Without --take or --model a garment follows the bones (skinned). Panes stand side by side and move in \
    lock-step.\n\nExamples:\n  \
    toile render --garment dress --out dressed.png\n  \
    toile render --body hero.glb --motion walk.bvh --frames 12 --out sheet.png\n  \
    toile render --take out/takes/walk.take --frames 0 --size 640x640 --out walk.mp4\n  \
    toile render --model dress.toile --motion walk-stop --frames 0 --orbit 360 --out learned.webm\n  \
    toile render --model dress.toile --take walk.take --panes simulated,learned,heat --frames 0 --out beside.gif\n  \
    toile render --model dress.toile --take walk.take --panes ghost --wireframe --frames 6 --out ghost.png\n  \
    toile render --garment shirt --motion walk --panes layered,layers --frames 8 --out layers.png\n  \
    toile render --take takes/trousers/walk.take --take takes/shirt/walk.take --frames 6 --out outfit.png\n  \
    toile render --garment shirt --drive shirt:20000 --motion walk --frames 6 --out dense.png\n  \
    toile render --take walk.take --frames 0 --out frames/%04d.png"
)]
pub struct Args {
    /// A character file (`hero.glb#Node` for a part of one) or a built-in body
    #[arg(long, default_value = "mannequin:female")]
    body: String,
    /// Degrees by which the character is turned about the vertical first, counter-clockwise seen from above: 180
    /// where it faces the other way and neither toes nor names tell
    #[arg(long, default_value_t = 0.0, value_name = "DEGREES", allow_negative_numbers = true)]
    turn: f32,
    /// Garments to put on
    #[arg(long)]
    garment: Vec<String>,
    /// Hold the garment by these sets of its vertices only: `--pin waist`, or `--pin none`; by all but collars and
    /// armholes, which it hangs by, unless told
    #[arg(long)]
    pin: Vec<String>,
    /// Where a garment's flat rest shape comes from
    #[arg(long, value_enum, default_value = "auto")]
    rest: Rest,
    /// A motion file or a built-in motion
    #[arg(long, conflicts_with = "take")]
    motion: Option<String>,
    /// Which animation of a file with several
    #[arg(long, requires = "motion")]
    clip: Option<String>,
    /// Frames per second of the motion file, where it states a wrong rate
    #[arg(long, requires = "motion", value_parser = pacing::rate)]
    fps: Option<f64>,
    /// Only these seconds of the motion: FROM:TO, FROM: or :TO
    #[arg(long, requires = "motion", value_parser = pacing::span)]
    trim: Option<(f64, f64)>,
    /// A recorded simulation; with --model, the truth that the model is shown against. Several of one clip are an outfit, the
    /// innermost first
    #[arg(long, conflicts_with_all = ["motion", "garment"])]
    take: Vec<PathBuf>,
    /// A learned garment, on --motion or on the motion of --take; several are an outfit, the innermost first
    #[arg(long)]
    model: Vec<PathBuf>,
    /// A dense mesh that the first --garment carries, cut as that is, and which is drawn instead
    #[arg(long, requires = "garment", value_name = "MESH")]
    drive: Option<String>,
    /// What to show, side by side; the learned garment, or else the simulated one, unless told
    #[arg(long, value_enum, value_delimiter = ',')]
    panes: Vec<Pane>,
    /// Look of the cloth: silk, denim, wool, leather, linen, cotton; the garment's own unless told. Of a model that hears
    /// fabrics, on a --motion, also what it is made of
    #[arg(long)]
    fabric: Option<String>,
    /// With a model that hears fabrics: slide from --fabric to this one over the frames
    #[arg(long, requires_all = ["fabric", "model"])]
    to_fabric: Option<String>,
    #[command(flatten)]
    around: Asked,
    /// Pictures, evenly over the motion; 0 is every frame at 30 Hz (for films)
    #[arg(long, default_value_t = 1)]
    frames: usize,
    /// Width and height of each pane
    #[arg(long, default_value = "480x640", value_parser = size)]
    size: (u32, u32),
    /// Of the character as the motion begins: front, side, back, three-quarter, or degrees around the vertical
    #[arg(long, default_value = "three-quarter", value_parser = view, allow_hyphen_values = true)]
    view: View,
    /// Degrees the camera goes around over the whole motion
    #[arg(long, default_value_t = 0.0, allow_hyphen_values = true)]
    orbit: f32,
    /// The camera stays where it sees the whole way instead of following
    #[arg(long)]
    still: bool,
    /// Draw the body as a tailor's dummy, without the materials and pictures of its file
    #[arg(long)]
    plain: bool,
    /// Draw the edges of the cloth's triangles
    #[arg(long)]
    wireframe: bool,
    /// Error that is red in the heat map, cm; about twice the mean error unless told
    #[arg(long, allow_negative_numbers = true)]
    heat_cm: Option<f32>,
    /// Leave out what clothes cover in every frame: of the body, and of garments named before others, which are worn under
    /// them
    #[arg(long)]
    hide: bool,
    /// Draw the panes layered and layers with curved triangles on this part of the cloth (PN triangles)
    #[arg(long, value_enum)]
    curved: Option<finish::Region>,
    /// How curved triangles are split
    #[arg(long, value_enum, default_value = "three")]
    split: finish::SplitName,
    /// Cloth is drawn over the body it covers unless it lies more than this behind it, mm; 0 is plain depth
    #[arg(long, default_value_t = 1000.0 * DEPTH_SLACK_M, allow_negative_numbers = true)]
    slack_mm: f32,
    /// Where to: .png (a sheet when there are several pictures), .gif, .apng, .mp4, .webm (these two through ffmpeg) or
    /// numbered pictures (frames/%04d.png)
    #[arg(long)]
    out: PathBuf,
    #[command(flatten)]
    overwrite: Overwrite,
}

/// One of several pictures side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Pane {
    /// The recorded simulation
    Simulated,
    /// The learned garment
    Learned,
    /// The garment as it follows the bones
    Skinned,
    /// The garment in layers: dressed at once, moving by itself
    Layered,
    /// The same, coloured by layer: stretch red, loose green, floating blue
    Layers,
    /// The learned garment, coloured by its distance from the simulated one
    Heat,
    /// The learned garment with the simulated one as a ghost
    Ghost,
}

impl Pane {
    fn label(self) -> &'static str {
        match self {
            Self::Simulated => "simulated",
            Self::Learned => "learned",
            Self::Skinned => "skinned",
            Self::Layered => "in layers",
            Self::Layers => "stretch red, loose green, floating blue",
            Self::Heat => "learned, distance to simulated",
            Self::Ghost => "learned, simulated as a ghost",
        }
    }
}

/// Colours of the second garment and those after it.
const OTHERS: [[u8; 3]; 4] = [[0x5f, 0x7f, 0x57], [0x3b, 0x45, 0x5c], [0x9c, 0x2f, 0x4a], [0x6b, 0x55, 0x86]];

/// The most pixels of one picture (7680×4320) and of one contact sheet.
const MOST_PIXELS: u64 = 7680 * 4320;

/// `640x480`.
pub fn size(text: &str) -> Result<(u32, u32), String> {
    let parts: Option<(u32, u32)> =
        text.split_once(['x', '×']).and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    match parts {
        Some((w, h))
            if (1..=8192).contains(&w)
                && (1..=8192).contains(&h)
                && u64::from(w) * u64::from(h) <= MOST_PIXELS =>
        {
            Ok((w, h))
        }
        _ => Err("wants WIDTHxHEIGHT, each from 1 to 8192, and at most 7680x4320 pixels in all".into()),
    }
}

fn view(text: &str) -> Result<View, String> {
    Ok(match text {
        "front" => View::Front,
        "side" => View::Side,
        "back" => View::Back,
        "three-quarter" => View::ThreeQuarter,
        other => match other.parse::<f32>() {
            Ok(azimuth) if azimuth.is_finite() => View::Angle { azimuth, elevation: 8.0 },
            _ => return Err("wants front, side, back, three-quarter or degrees".into()),
        },
    })
}

/// Where pictures go.
enum Out {
    Sheet,
    Numbered,
    Film(FilmFormat),
}

fn out(args: &Args) -> Result<Out> {
    if args.out.is_dir() {
        return Err(BadRequest(format!("{}: is a folder", args.out.display())).into());
    }
    let name = args.out.to_string_lossy();
    let kind = match ending(&name).as_str() {
        "png" if numbered(&name, 0).is_some() => Out::Numbered,
        "png" => Out::Sheet,
        other => match FilmFormat::of(other) {
            Some(format) => Out::Film(format),
            None => {
                let what = "pictures are written as .png, films as .gif, .apng, .mp4 or .webm";
                return Err(BadRequest(format!("{}: {what}", args.out.display())).into());
            }
        },
    };
    let first = numbered(&name, 0).map_or_else(|| args.out.clone(), PathBuf::from);
    let names =
        args.garment.iter().chain([&args.body]).chain(&args.motion).chain(&args.fabric).chain(&args.drive);
    let inputs = output::named(names.map(String::as_str), args.take.iter().chain(&args.model));
    args.overwrite.check(&first, inputs)?;
    Ok(kind)
}

/// `frames/%04d.png` with the number put in; `None` where there is no such place.
fn numbered(name: &str, number: usize) -> Option<String> {
    let (before, rest) = name.split_once('%')?;
    let digits = rest.find('d').filter(|&d| d <= 2 && rest[..d].bytes().all(|b| b.is_ascii_digit()))?;
    let width: usize = rest[..digits].parse().unwrap_or(0);
    Some(format!("{before}{number:0width$}{}", &rest[digits + 1..]))
}

/// What moves, frame by frame.
struct PosedFrames {
    bones: Vec<Vec<Affine3A>>,
    roots: RootTrack,
    fps: f64,
}

/// One garment in every frame, in each of the ways it is known.
struct Worn {
    cloth: Cloth,
    simulated: Option<Vec<Vec<Vec3>>>,
    learned: Option<Vec<Vec<Vec3>>>,
    skinned: Option<Vec<Vec<Vec3>>>,
    layered: Option<InLayers>,
}

/// A garment in layers: its vertices in every frame, and the colour of each one's layer.
struct InLayers {
    frames: Vec<Vec<Vec3>>,
    colours: Vec<Vec3>,
    /// Where it is drawn with other triangles than it moves with.
    mesh: Option<MeshHandle>,
}

pub fn run(args: &Args) -> Result<()> {
    let out = out(args)?;
    let panes = usable_panes(args)?;
    let body = resolve::turned_body(&args.body, args.turn)?;
    let takes = args.take.iter().map(|path| Ok(Take::read(path)?)).collect::<Result<Vec<Take>>>()?;
    check_outfit(args, &takes)?;
    let take = takes.first();
    if let Some(take) = take
        && take.joints != body.skeleton.len()
    {
        return Err(BadRequest(format!(
            "the take's body has {} joints, `{}` has {}; name its body with --body",
            take.joints,
            body.name,
            body.skeleton.len()
        ))
        .into());
    }
    let shot = shot(args, &body, take)?;
    let wanted = wanted(args, shot.bones.len(), take.is_some() || args.motion.is_some());
    check_size(args, &out, panes.len(), wanted.len())?;
    let (mut clothes, mut hidden) = clothes(args, &body, &shot, &takes, &panes)?;
    if args.hide {
        hidden = finish::hide_covered(&mut clothes, &body, &shot);
    }
    let mut studio = studio(args, &body, &shot)?;
    studio.hide(&hidden);
    let heat_cm = args.heat_cm.unwrap_or_else(|| red_cm(mean_error_cm(&clothes)));
    let mut artist =
        Artist { args, body: &body, shot: &shot, clothes: &clothes, panes: &panes, heat_cm, studio };
    let adapter = artist.studio.adapter();
    let bar = progress::bar(wanted.len() as u64, "drawing");
    let labelled = wanted.len() > 1;
    match out {
        Out::Sheet => {
            let mut pictures = Vec::new();
            for &f in &wanted {
                pictures.push(artist.draw(f, labelled)?);
                bar.inc(1);
            }
            sheet(&pictures, columns(pictures.len())).write_png(&args.out)?;
        }
        Out::Numbered => {
            for (k, &f) in wanted.iter().enumerate() {
                let path = numbered(&args.out.to_string_lossy(), k).unwrap_or_default();
                artist.draw(f, labelled)?.write_png(path)?;
                bar.inc(1);
            }
        }
        Out::Film(format) => film(&mut artist, format, &wanted, &bar)?,
    }
    bar.finish_and_clear();
    let pictures = if wanted.len() == 1 { "picture" } else { "pictures" };
    println!("{} ({} {pictures}, {adapter})", args.out.display(), wanted.len());
    Ok(())
}

/// All that is wrong with the arguments alone, or the panes to draw.
fn usable_panes(args: &Args) -> Result<Vec<Pane>> {
    let mut faults = Vec::new();
    if !args.model.is_empty() && args.motion.is_none() && args.take.is_empty() {
        faults.push("a model needs a motion: name one with --motion or --take".to_string());
    }
    if !(0.0..=1000.0).contains(&args.slack_mm) || !args.orbit.is_finite() {
        faults.push(format!("{} mm of slack, {}° of orbit cannot be", args.slack_mm, args.orbit));
    }
    if let Some(cm) = args.heat_cm.filter(|cm| !(*cm > 0.0 && cm.is_finite())) {
        faults.push(format!("{cm} cm cannot be red in a heat map; it wants a distance above 0"));
    }
    let panes = panes(args, &mut faults);
    if faults.is_empty() { Ok(panes) } else { Err(BadRequest(faults.join("\n")).into()) }
}

/// Refuses pictures that are larger than files or memory hold.
fn check_size(args: &Args, out: &Out, panes: usize, pictures: usize) -> Result<()> {
    let (w, h) = args.size;
    let wide = panes as u64 * u64::from(w);
    let pixels = wide * u64::from(h) * if matches!(out, Out::Sheet) { pictures as u64 } else { 1 };
    if wide > 16384 || pixels > 6 * MOST_PIXELS {
        return Err(BadRequest(format!(
            "{pictures} pictures of {wide}×{h} are more than one file holds; ask for fewer or smaller ones, or for a film"
        ))
        .into());
    }
    Ok(())
}

/// Draws and encodes side by side: encoding has a thread of its own, and two frames may wait for it.
fn film(artist: &mut Artist<'_>, format: FilmFormat, wanted: &[usize], bar: &ProgressBar) -> Result<()> {
    let labelled = wanted.len() > 1;
    // Colours of a GIF are chosen before it begins; other films need one picture to know their size.
    let samples = if format == FilmFormat::Gif { wanted.len().min(8) } else { 1 };
    let samples = (0..samples)
        .map(|k| artist.draw(wanted[k * (wanted.len() - 1) / (samples - 1).max(1)], labelled))
        .collect::<Result<Vec<_>>>()?;
    let (path, fps, count) = (&artist.args.out, artist.shot.fps as f32, wanted.len());
    std::thread::scope(|scope| -> Result<()> {
        let (send, receive) = std::sync::mpsc::sync_channel::<Image>(2);
        let encoding = scope.spawn(move || -> toile_show::Result<()> {
            let mut film = Film::create(path, format, fps, count, &samples)?;
            for frame in receive {
                film.push(&frame)?;
            }
            film.finish()
        });
        let mut failed = None;
        for &f in wanted {
            let frame = match artist.draw(f, labelled) {
                Ok(frame) => frame,
                Err(e) => {
                    failed = Some(e);
                    break;
                }
            };
            if send.send(frame).is_err() {
                // Nobody takes it any more: the encoder's own error says why.
                break;
            }
            bar.inc(1);
        }
        drop(send);
        let encoded = encoding.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        failed.map_or(Ok(encoded?), Err)
    })
}

/// The panes that were asked for, or the one that what was given allows.
fn panes(args: &Args, faults: &mut Vec<String>) -> Vec<Pane> {
    for pane in &args.panes {
        let missing = match pane {
            Pane::Simulated if args.take.is_empty() => "--take",
            Pane::Layered | Pane::Layers if args.garment.is_empty() => "--garment",
            Pane::Learned if args.model.is_empty() => "--model",
            Pane::Heat | Pane::Ghost if args.model.is_empty() => "--model",
            Pane::Heat | Pane::Ghost if args.take.is_empty() => "--take",
            _ => continue,
        };
        faults.push(format!("the pane `{}` needs {missing}", pane.label()));
    }
    match (args.panes.is_empty(), args.model.first(), args.take.first()) {
        (false, ..) => args.panes.clone(),
        (true, Some(_), _) => vec![Pane::Learned],
        (true, None, Some(_)) => vec![Pane::Simulated],
        _ => vec![Pane::Skinned],
    }
}

/// The frames to draw, of so many.
fn wanted(args: &Args, count: usize, moves: bool) -> Vec<usize> {
    match args.frames {
        0 => (0..count).collect(),
        1 => vec![if moves { count / 2 } else { 0 }],
        n => (0..n).map(|k| k * (count - 1) / (n - 1)).collect(),
    }
}

fn columns(pictures: usize) -> usize {
    match pictures {
        0..=6 => pictures.max(1),
        7..=16 => pictures.div_ceil(2),
        _ => 10,
    }
}

fn studio(args: &Args, body: &Body, shot: &PosedFrames) -> Result<Studio> {
    let start = shot.roots.frames[0].position.y;
    let highest = shot.roots.frames.iter().map(|r| r.position.y - start).fold(0.0, f64::max);
    // A gait's bob needs no room; a leap does.
    let headroom = if highest > 0.15 { highest as f32 } else { 0.0 };
    let mut studio = Studio::new(driver::renderer()?, body, args.view, args.size, headroom);
    let front = shot.roots.frames[0].heading;
    studio.face(front);
    if !args.plain
        && let Some(figure) = resolve::figure(&args.body, body)?
    {
        studio.paint(figure);
    }
    studio.slack_m = 0.001 * args.slack_mm;
    studio.wireframe = args.wireframe;
    if args.still {
        let (lo, hi) = body.mesh.bounds();
        let around = Vec3::new(0.25, 0.0, 0.25) * (hi.y - lo.y);
        let places = || shot.roots.frames.iter().map(|r| r.position.as_vec3());
        let least = places().fold(Vec3::INFINITY, Vec3::min).with_y(lo.y) - around;
        let most = places().fold(Vec3::NEG_INFINITY, Vec3::max).with_y(hi.y + headroom) + around;
        studio.frame(least, most, args.view.turned(front.to_degrees() as f32));
    }
    Ok(studio)
}

/// Mean distance of learned to simulated vertices over all frames.
fn mean_error_cm(clothes: &[Worn]) -> f64 {
    let pairs = clothes.iter().filter_map(|w| Some((w.learned.as_ref()?, w.simulated.as_ref()?)));
    let frames = pairs.flat_map(|(learned, truth)| learned.iter().zip(truth));
    let (sum, count) = frames
        .flat_map(|(a, b)| a.iter().zip(b))
        .fold((0.0, 0usize), |(sum, count), (a, b)| (sum + f64::from(a.distance(*b)), count + 1));
    100.0 * sum / count.max(1) as f64
}

/// Draws all panes of a frame.
struct Artist<'a> {
    args: &'a Args,
    body: &'a Body,
    shot: &'a PosedFrames,
    clothes: &'a [Worn],
    panes: &'a [Pane],
    heat_cm: f32,
    studio: Studio,
}

impl Artist<'_> {
    fn draw(&mut self, f: usize, timed: bool) -> Result<Image> {
        let skin = self.body.skinned_positions(&self.shot.bones[f]);
        let turned = self.args.orbit * f as f32 / (self.shot.bones.len() - 1).max(1) as f32;
        let root = (!self.args.still).then(|| &self.shot.roots.frames[f]);
        let mut panes = Vec::new();
        for (k, &pane) in self.panes.iter().enumerate() {
            let mut label = if self.panes.len() > 1 || self.args.panes.len() == 1 {
                pane.label().to_string()
            } else {
                String::new()
            };
            if timed && k == 0 {
                let secs = format!("{:.2} s", f as f64 / self.shot.fps);
                label = if label.is_empty() { secs } else { format!("{label}\n{secs}") };
            }
            panes.push(self.draw_pane(pane, f, &skin, root, turned, &label)?);
        }
        if panes.len() == 1 {
            return Ok(panes.remove(0));
        }
        Ok(beside(&panes)?)
    }

    fn draw_pane(
        &mut self,
        pane: Pane,
        f: usize,
        skin: &[Vec3],
        root: Option<&toile_assets::RootFrame>,
        turned: f32,
        label: &str,
    ) -> Result<Image> {
        let mut looks: Vec<(Cloth, &[Vec3], Option<Vec<Vec3>>)> = Vec::new();
        for worn in self.clothes {
            let plain = || Cloth { mesh: worn.cloth.mesh.clone(), material: worn.cloth.material };
            let learned = worn.learned.as_ref().or(worn.skinned.as_ref()).map(|p| p[f].as_slice());
            let simulated = worn.simulated.as_ref().or(worn.skinned.as_ref()).map(|p| p[f].as_slice());
            let skinned = worn.skinned.as_ref().map(|p| p[f].as_slice());
            match (pane, learned, simulated, skinned) {
                (Pane::Simulated, _, Some(p), _) => looks.push((plain(), p, None)),
                (Pane::Learned, Some(p), ..) => looks.push((plain(), p, None)),
                (Pane::Skinned, .., Some(p)) => looks.push((plain(), p, None)),
                (Pane::Layered | Pane::Layers, ..) => {
                    let Some(layered) = &worn.layered else { continue };
                    let colours = (pane == Pane::Layers).then(|| layered.colours.clone());
                    let mut cloth = plain();
                    if let Some(mesh) = &layered.mesh {
                        cloth.mesh = mesh.clone();
                    }
                    if colours.is_some() {
                        cloth.material =
                            Material { flatness: 0.65, hem_m: 0.0, ..Material::cloth(Vec3::ONE) };
                    }
                    looks.push((cloth, &layered.frames[f], colours));
                }
                (Pane::Heat, Some(p), Some(truth), _) => {
                    let errors_cm: Vec<f32> =
                        p.iter().zip(truth).map(|(a, b)| 100.0 * a.distance(*b)).collect();
                    let material = Material { flatness: 0.65, hem_m: 0.0, ..Material::cloth(Vec3::ONE) };
                    let colours = heat_colours(&errors_cm, self.heat_cm);
                    looks.push((Cloth { material, ..plain() }, p, Some(colours)));
                }
                (Pane::Ghost, Some(p), Some(truth), _) => {
                    looks.push((plain(), p, None));
                    let material =
                        Material { opacity: 0.35, hem_m: 0.0, ..Material::cloth(srgb(0xe0, 0x9a, 0x2b)) };
                    looks.push((Cloth { material, ..plain() }, truth, None));
                }
                _ => {}
            }
        }
        let items: Vec<(&Cloth, &[Vec3], Option<&[Vec3]>)> =
            looks.iter().map(|(cloth, p, colours)| (cloth, *p, colours.as_deref())).collect();
        let mut picture = self.studio.draw_turned(Some(skin), &items, root, turned, label)?;
        if pane == Pane::Heat {
            write_legend(&mut picture, self.heat_cm, "cm");
        }
        Ok(picture)
    }
}

fn shot(args: &Args, body: &Body, take: Option<&Take>) -> Result<PosedFrames> {
    if let Some(take) = take {
        let bones = (0..take.len()).map(|f| take.frame_bones(f).to_vec()).collect();
        return Ok(PosedFrames {
            bones,
            roots: RootTrack { frames: take.roots.clone(), held: 0 },
            fps: take.fps,
        });
    }
    let motion = match &args.motion {
        None => Motion::new("rest", 30.0, body.skeleton.clone(), vec![body.skeleton.rest_pose()])?,
        Some(name) => one_motion(name, args.clip.as_deref(), body, &Pacing::new(args.fps, args.trim))?,
    };
    let motion = motion.resampled(30.0);
    Ok(PosedFrames {
        bones: motion.poses.iter().map(|p| body.bones(p)).collect(),
        roots: RootTrack::new(&body.skeleton, &motion.poses),
        fps: motion.fps,
    })
}

/// Every garment with its vertices in every frame, and the triangles of the body that nobody sees under it.
fn clothes(
    args: &Args,
    body: &Body,
    shot: &PosedFrames,
    takes: &[Take],
    panes: &[Pane],
) -> Result<(Vec<Worn>, Vec<u32>)> {
    let mut all: Vec<Worn> = Vec::new();
    let mut hidden = Vec::new();
    let skinned = panes.contains(&Pane::Skinned);
    let mut worn_over: Vec<(Vec<Vec3>, Vec<[u32; 3]>)> = Vec::new();
    for (k, path) in args.model.iter().enumerate() {
        let model = tiers::model_for(path, body, None)?;
        all.push(learned(args, body, shot, (path, &model), takes.get(k), skinned)?);
        hidden.extend_from_slice(&model.hidden_triangles);
        worn_over.push((model.cloth_mean.clone(), model.triangles.clone()));
    }
    if args.model.is_empty() {
        for take in takes {
            let attachment = if skinned { Some(draped(body, take)?) } else { None };
            all.push(Worn {
                cloth: cloth(args, &take.triangles, noted_fabric(&take.notes)),
                simulated: Some(simulated(take)),
                learned: None,
                skinned: attachment.as_ref().map(|a| shot.skinned(a)),
                layered: None,
            });
        }
    }
    for (k, worn) in all.iter_mut().enumerate().skip(1) {
        worn.cloth.material = dyed(worn.cloth.material, k);
    }
    let through = finish::keep_order(&mut all, &worn_over);
    if through.covered > 0 {
        let percent = |n: usize| 100.0 * n as f64 / through.covered as f64;
        eprintln!(
            "outfit: {:.2} % of what is worn under another garment showed through, {:.2} % once that is pushed out",
            percent(through.before),
            percent(through.after)
        );
    }
    for (k, name) in args.garment.iter().enumerate() {
        let mut garment = resolve::garment(name, body, args.rest.into(), None)?;
        resolve::held_by(&mut garment, &args.pin)?;
        let attachment = attach(body, &garment.sim, &AttachmentSettings::default())?;
        let mut cloth = cloth(args, &garment.sim.triangles, &garment.fabric);
        if k > 0 || !all.is_empty() {
            cloth.material = dyed(cloth.material, all.len());
        }
        let layered = match panes.iter().any(|p| matches!(p, Pane::Layered | Pane::Layers)) {
            true => Some(in_layers(args, body, &garment, shot)?),
            false => None,
        };
        let skinned = Some(shot.skinned(&attachment));
        let mut worn = Worn { cloth, simulated: None, learned: None, skinned, layered };
        if let Some(dense) = args.drive.as_ref().filter(|_| k == 0) {
            finish::drive(
                &mut worn,
                &garment,
                dense,
                &resolve::garment(dense, body, args.rest.into(), None)?,
            )?;
        }
        all.push(worn);
    }
    Ok((all, hidden))
}

/// Of the same stuff or not, garments are told apart by their colour.
fn dyed(material: Material, garment: usize) -> Material {
    let [r, g, b] = OTHERS[garment % OTHERS.len()];
    Material { base: srgb(r, g, b), ..material }
}

/// Refuses takes that are not of one clip.
fn check_outfit(args: &Args, takes: &[Take]) -> Result<()> {
    if !args.model.is_empty() && takes.len() > args.model.len() {
        let what = format!("{} takes for {} models; give the take of each", takes.len(), args.model.len());
        return Err(BadRequest(what).into());
    }
    let Some((first, others)) = takes.split_first() else { return Ok(()) };
    match others.iter().position(|t| t.bones != first.bones || t.fps != first.fps) {
        None => Ok(()),
        Some(k) => Err(BadRequest(format!(
            "{}: its wearer moves otherwise than that of {}; an outfit is takes of one clip",
            args.take[k + 1].display(),
            args.take[0].display()
        ))
        .into()),
    }
}

/// A learned garment in every frame, beside the truth where there is a take, and skinned where that is asked for.
fn learned(
    args: &Args,
    body: &Body,
    shot: &PosedFrames,
    (path, model): (&Path, &Arc<Model>),
    take: Option<&Take>,
    skinned: bool,
) -> Result<Worn> {
    if let Some(take) = take.filter(|t| t.triangles != model.triangles) {
        return Err(BadRequest(format!(
            "{}: the model's garment has {} vertices and {} triangles, the take's has {} and {}, or they differ",
            path.display(),
            model.vertices,
            model.triangles.len(),
            take.vertices,
            take.triangles.len()
        ))
        .into());
    }
    let attachment = match (&model.attachment, take) {
        _ if !skinned => None,
        (Some(attachment), _) => Some(attachment.clone()),
        (None, Some(take)) => Some(draped(body, take)?),
        (None, None) => {
            let what = "the model has no attachment to bones; give a take beside it";
            return Err(BadRequest(format!("{}: {what}", path.display())).into());
        }
    };
    let mut garment = Stable::new(model.clone());
    let mut frames = Vec::with_capacity(shot.bones.len());
    let told = told(args, model, take)?;
    for (f, (bones, root)) in shot.bones.iter().zip(&shot.roots.frames).enumerate() {
        let share = f as f32 / (shot.bones.len().max(2) - 1) as f32;
        garment.set_surroundings(&told(f, share));
        let stepped = garment.step_with_root(bones, root, 1.0 / shot.fps);
        stepped.with_context(|| format!("frame {f}"))?;
        let mut out = vec![Vec3::ZERO; model.vertices];
        garment.positions(&mut out);
        frames.push(out);
    }
    Ok(Worn {
        cloth: cloth(args, &model.triangles, noted_fabric(&model.notes)),
        simulated: take.map(simulated),
        learned: Some(frames),
        skinned: attachment.as_ref().map(|a| shot.skinned(a)),
        layered: None,
    })
}

/// Wind, gravity and cloth of every frame and share of the frames: those of the take, unless others are asked for.
fn told<'a>(
    args: &Args,
    model: &Model,
    take: Option<&'a Take>,
) -> Result<impl Fn(usize, f32) -> Surroundings + 'a> {
    let hears = model.hears().is_some();
    let own = take.filter(|_| args.around.is_nothing() && args.to_fabric.is_none());
    let fabrics = args.fabric.iter().chain(&args.to_fabric).filter(|_| hears && own.is_none());
    let asked = args.around.told(model, &fabrics.cloned().collect::<Vec<_>>())?;
    let (first, last) = (asked[0], asked[asked.len() - 1]);
    Ok(move |frame: usize, share: f32| match own {
        Some(take) => take.surroundings(frame),
        None => {
            let slid = first
                .fabric
                .zip(last.fabric)
                .map(|(a, b)| std::array::from_fn(|k| a[k] + share * (b[k] - a[k])));
            Surroundings { fabric: slid, ..first }
        }
    })
}

impl PosedFrames {
    /// A garment that follows the bones, in every frame.
    fn skinned(&self, attachment: &Attachment) -> Vec<Vec<Vec3>> {
        self.bones.iter().map(|bones| attachment.posed(bones)).collect()
    }
}

fn simulated(take: &Take) -> Vec<Vec<Vec3>> {
    (0..take.len()).map(|f| take.frame(f).to_vec()).collect()
}

/// A take's garment as it hangs on the rest pose, attached to the bones.
fn draped(body: &Body, take: &Take) -> Result<Attachment> {
    let mesh = Mesh { positions: take.draped.clone(), triangles: take.triangles.clone(), ..Mesh::default() };
    Ok(attach(body, &mesh, &AttachmentSettings::default())?)
}

/// A garment to draw, of its own fabric unless another is asked for.
fn cloth(args: &Args, triangles: &[[u32; 3]], fabric: &str) -> Cloth {
    let material = Material::fabric(args.fabric.as_deref().unwrap_or(fabric));
    Cloth { mesh: MeshHandle::new(triangles), material }
}

/// The fabric that a take or model says it is of.
fn noted_fabric(notes: &[(String, String)]) -> &str {
    notes.iter().find(|(k, _)| k == "fabric").map_or("cotton", |(_, v)| v)
}

/// A garment taken apart as it hangs, and played.
fn in_layers(args: &Args, body: &Body, garment: &Garment, shot: &PosedFrames) -> Result<InLayers> {
    let fabric = resolve::fabric(args.fabric.as_deref().unwrap_or(&garment.fabric))?;
    let rest = tiers::draped_or_placed(body, garment, &fabric);
    let layers = tiers::layers(body, garment, &rest, &fabric)?;
    let leash = tiers::Leash::new(body, garment, &rest)?;
    let layer = layers.layer.clone();
    let colours = layer.iter().map(|layer| layer_colour(*layer)).collect();
    let mut tier = Layered::new(layers, LayeredSettings::default());
    let mut frames = Vec::with_capacity(shot.bones.len());
    for (f, bones) in shot.bones.iter().enumerate() {
        tier.step(bones, 1.0 / shot.fps).with_context(|| format!("frame {f}"))?;
        let mut out = vec![Vec3::ZERO; tier.vertices()];
        tier.positions(&mut out);
        frames.push(leash.kept(bones, &out));
    }
    let mut made = InLayers { frames, colours, mesh: None };
    if let Some(region) = args.curved {
        made.curve(&garment.sim.triangles, &layer, region, args.split);
    }
    Ok(made)
}

fn layer_colour(layer: Layer) -> Vec3 {
    match layer {
        Layer::Stretch => srgb(0xc8, 0x3c, 0x32),
        Layer::Loose => srgb(0x46, 0xa0, 0x4b),
        Layer::Floating => srgb(0x32, 0x6e, 0xc8),
    }
}
