//! `toile render`: pictures of a body, dressed and in motion.

mod artist;
mod finish;
mod worn;

use crate::convert::Rest;
use crate::output::{self, Overwrite};
use crate::pacing;
use crate::picture::{DEPTH_SLACK_M, sheet};
use crate::progress;
use crate::report::film::red_cm;
use crate::resolve::{self, BadRequest, ending};
use crate::resume;
use crate::surroundings::Asked;
use anyhow::Result;
use artist::{Artist, film, studio};
use clap::{Parser, ValueEnum};
use std::path::PathBuf;
use toile_assets::Take;
use toile_show::{FilmFormat, View};
use worn::{clothes, mean_error_cm, shot};

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
    // Beside a learned garment others are drawn skinned, in panes that say so.
    let skinned = |p: &Pane| matches!(p, Pane::Skinned | Pane::Layered | Pane::Layers);
    if let Some(garment) =
        args.garment.first().filter(|_| !args.model.is_empty() && !panes.iter().any(skinned))
    {
        faults.push(format!(
            "--garment {garment} would be drawn skinned among learned garments, which it is not kept out of: leave it out, name a \
             model of it with --model, or ask for a pane that shows it, as --panes learned,skinned"
        ));
    }
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

/// Refuses takes that are not of one clip.
fn check_outfit(args: &Args, takes: &[Take]) -> Result<()> {
    if !args.model.is_empty() && takes.len() > args.model.len() {
        let what = format!("{} takes for {} models; give the take of each", takes.len(), args.model.len());
        return Err(BadRequest(what).into());
    }
    let Some((first, others)) = takes.split_first() else { return Ok(()) };
    let outfit = |take| resume::outfit_of(take);
    if let Some(k) = others
        .iter()
        .position(|t| outfit(t).is_some() && outfit(first).is_some() && outfit(t) != outfit(first))
    {
        let of = |k: usize| outfit(&takes[k]).unwrap_or_default();
        return Err(BadRequest(format!(
            "{} is a take of the outfit `{}`, {} of `{}`: their garments were never worn together; give takes of one outfit",
            args.take[0].display(),
            of(0),
            args.take[k + 1].display(),
            of(k + 1)
        ))
        .into());
    }
    if let Some(k) = others.iter().position(|t| t.bones != first.bones || t.fps != first.fps) {
        return Err(BadRequest(format!(
            "{}: its wearer moves otherwise than that of {}; an outfit is takes of one clip",
            args.take[k + 1].display(),
            args.take[0].display()
        ))
        .into());
    }
    match outfit(first) {
        Some(outfit) => check_layers(args, takes, outfit),
        None => Ok(()),
    }
}

/// Refuses takes of an outfit that are not named from the innermost out, each once: they are drawn in the order they are named in.
fn check_layers(args: &Args, takes: &[Take], outfit: &str) -> Result<()> {
    let mut layers = outfit.split(" + ");
    for (take, path) in takes.iter().zip(&args.take) {
        let garment = take.notes.iter().find(|(key, _)| key == "garment").map_or("", |(_, name)| name);
        if !layers.any(|name| name == garment) {
            return Err(BadRequest(format!(
                "{}: `{garment}` is named twice or in a wrong order: takes of the outfit `{outfit}` are named in that order",
                path.display()
            ))
            .into());
        }
    }
    Ok(())
}
