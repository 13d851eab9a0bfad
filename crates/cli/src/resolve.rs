//! What the user named, as a file or as a built-in asset, turned into the thing itself.

use crate::pacing::Pacing;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use toile_assets::read::garment::RestChoice;
use toile_assets::read::{self, Loaded};
use toile_assets::retarget::{RetargetReport, RetargetSettings, retarget};
use toile_assets::{Body, Error, Fabric, Garment, Motion, Problem, Skeleton, axes, builtin};
use toile_show::Figure;
use toile_simulate::{describe_mends, mend_glitches};

/// A request that cannot be met as it was put.
#[derive(Debug)]
pub struct BadRequest(pub String);

impl std::fmt::Display for BadRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadRequest {}

/// Lower-case ending of a file name.
pub fn ending(name: &str) -> String {
    Path::new(name).extension().and_then(|e| e.to_str()).unwrap_or_default().to_lowercase()
}

/// Whether the user meant a file rather than a built-in name. A folder `dress` of takes does not hide the garment `dress`.
pub fn is_file(name: &str) -> bool {
    let of_a_set = name.split_once('/').is_some_and(|(set, _)| builtin::motions::set(set).is_some());
    if of_a_set && !Path::new(name).exists() {
        return false;
    }
    name.contains(['/', '\\'])
        || !ending(name).is_empty() && ending(name).parse::<u32>().is_err()
        || Path::new(name).is_file()
}

/// `hero.glb#Shirt` means the node, mesh or material `Shirt` of that file.
pub fn part<'a>(name: &'a str, select: Option<&'a str>) -> (&'a str, Option<&'a str>) {
    match name.rsplit_once('#') {
        Some((file, part)) if select.is_none() && is_file(file) && !Path::new(name).exists() => {
            (file, Some(part))
        }
        _ => (name, select),
    }
}

/// Says on standard error what loading guessed, found and repaired.
pub fn say<T>(name: &str, loaded: Loaded<T>) -> T {
    for note in &loaded.notes {
        eprintln!("{name}: {note}");
    }
    for Problem { what, count, action } in &loaded.problems {
        eprintln!("{name}: {what}: {count} ({action})");
    }
    loaded.value
}

/// A body by file or built-in name; `hero.glb#Node` chooses within a file.
pub fn body(name: &str, select: Option<&str>) -> Result<Body> {
    let (name, select) = part(name, select);
    if is_file(name) {
        return Ok(say(name, read::gltf::read_body(Path::new(name), select)?));
    }
    Ok(builtin::body(name)?)
}

/// The same, turned about the vertical by so many degrees first.
pub fn turned_body(name: &str, degrees: f32) -> Result<Body> {
    if !degrees.is_finite() {
        return Err(BadRequest(format!(
            "--turn {degrees}: wants degrees, 180 for a character seen from behind"
        ))
        .into());
    }
    let body = body(name, None)?;
    Ok(if degrees == 0.0 { body } else { body.turned(degrees) })
}

/// How a body of a file looks; `None` for built-in ones and where nothing is painted. What cannot be drawn is said.
pub fn figure(name: &str, body: &Body) -> Result<Option<Figure>> {
    let (file, select) = part(name, None);
    if !is_file(file) {
        return Ok(None);
    }
    let looks = say(file, read::gltf::read_looks(Path::new(file), select)?);
    let (figure, faults) = Figure::painted(body, &looks);
    faults.iter().for_each(|fault| eprintln!("{file}: {fault}"));
    Ok(figure.is_painted().then_some(figure))
}

/// A garment by file or built-in name, placed around the body's rest pose.
pub fn garment(name: &str, body: &Body, rest: RestChoice, select: Option<&str>) -> Result<Garment> {
    let (name, select) = part(name, select);
    if is_file(name) {
        return Ok(say(name, read::garment::read_garment_for(Path::new(name), rest, select, Some(body))?));
    }
    Ok(builtin::garment(name, body)?)
}

/// A garment that is to be simulated: as [`garment`], but a size that had to be guessed is refused.
pub fn worn(name: &str, body: &Body, rest: RestChoice) -> Result<Garment> {
    let (file, select) = part(name, None);
    if is_file(file) {
        let loaded = read::garment::read_garment_for(Path::new(file), rest, select, Some(body))?;
        if loaded.problems.iter().any(|p| p.what == axes::UNKNOWN_UNITS) {
            let (lo, hi) = body.mesh.bounds();
            return Err(BadRequest(format!(
                "{name}: {}; scale it in its own program so that it surrounds body `{}`, {:.2} m tall in metres",
                loaded.notes.join("; "),
                body.name,
                hi.y - lo.y
            ))
            .into());
        }
        return Ok(say(name, loaded));
    }
    Ok(builtin::garment(name, body)?)
}

/// Holds a garment by the named pins and openings only; none named leaves its pins, `none` lets go of everything.
pub fn held_by(garment: &mut Garment, names: &[String]) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    let wanted: Vec<String> = names.iter().filter(|n| *n != "none").cloned().collect();
    garment.hold(&wanted).map_err(|known| {
        let unknown = wanted.iter().find(|n| !known.contains(n)).map_or("", String::as_str);
        let has = if known.is_empty() { "it has none".into() } else { format!("it has {}", known.join(", ")) };
        BadRequest(format!(
            "--pin {unknown}: garment `{}` has no set of vertices of that name; {has}. Sets come from the garment's own \
             cut or from \"labels\" of a .json beside its file",
            garment.name
        ))
        .into()
    })
}

/// A fabric by file or built-in name.
pub fn fabric(name: &str) -> Result<Fabric> {
    if is_file(name) {
        return Ok(Fabric::read(name)?);
    }
    Ok(builtin::fabric(name)?)
}

/// Motions by file, folder or built-in name, paced and carried over to `body`.
pub fn motions(names: &[String], body: &Body, pacing: &Pacing) -> Result<Vec<Motion>> {
    let mut motions = Vec::new();
    for name in names {
        let carry = if is_file(name) { file_onto } else { onto };
        for motion in paced(name, pacing)? {
            motions.push(carry(motion, body).with_context(|| format!("motion {name}"))?);
        }
    }
    Ok(motions)
}

/// Carries a motion over to `body` where its skeleton is another.
pub fn onto(motion: Motion, body: &Body) -> Result<Motion> {
    Ok(carried(motion, body)?.0)
}

/// The same with what was done to it; nothing where nothing had to be.
pub fn carried(motion: Motion, body: &Body) -> Result<(Motion, Option<RetargetReport>)> {
    if motion.skeleton == body.skeleton {
        return Ok((motion, None));
    }
    let (carried, report) = retarget(&motion, body, &RetargetSettings::default())?;
    Ok((carried, Some(report)))
}

/// The same for a motion of a file, saying which of its joints drive nothing.
pub fn file_onto(motion: Motion, body: &Body) -> Result<Motion> {
    let motion = mended(motion);
    if motion.skeleton == body.skeleton {
        return Ok(motion);
    }
    let (carried, report) = retarget(&motion, body, &RetargetSettings::default())?;
    if !report.left_out.is_empty() {
        let (few, count) = (report.left_out.iter().take(6), report.left_out.len());
        let few: Vec<&str> = few.map(String::as_str).collect();
        let more = if count > few.len() { ", …" } else { "" };
        eprintln!(
            "{}: {count} joints drive nothing on `{}`: {}{more}",
            motion.name,
            body.name,
            few.join(", ")
        );
    }
    if let Some(what) = report.cleared() {
        eprintln!("{}: {what}", motion.name);
    }
    Ok(carried)
}

/// A clip as it was meant, where joints were captured as turning faster than anyone's; before feet are put on the ground, or
/// those would be led by a leg that was never there.
fn mended(motion: Motion) -> Motion {
    let (mended, mends) = mend_glitches(&motion);
    match describe_mends(&mends, motion.fps) {
        Some(what) => {
            eprintln!("{}: {what}", motion.name);
            mended
        }
        None => motion,
    }
}

/// Motions on the skeleton they come with, at the rate and of the length that was asked for.
pub fn paced(name: &str, pacing: &Pacing) -> Result<Vec<Motion>> {
    raw_motions(name)?.into_iter().map(|motion| pacing.apply(motion, is_file(name))).collect()
}

/// What a name stands for: the BVH files of a folder in the order of their names, else itself.
pub fn motion_items(name: &str) -> Result<Vec<String>> {
    let path = Path::new(name);
    if !path.is_dir() {
        return Ok(vec![name.to_string()]);
    }
    let mut files: Vec<PathBuf> = std::fs::read_dir(path)
        .map_err(|e| Error::io(path, e))?
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.extension().is_some_and(|x| x.eq_ignore_ascii_case("bvh")))
        .collect();
    files.sort();
    if files.is_empty() {
        let or = match builtin::motions::set(name) {
            Some(_) => "; the built-in set of that name can be had where no such folder is",
            None => "",
        };
        return Err(BadRequest(format!("{name}: the folder holds no .bvh files{or}")).into());
    }
    Ok(files.iter().map(|f| f.display().to_string()).collect())
}

/// The skeleton that built-in motions are made for; its body takes a third of a second to shape, so that is done once.
fn mannequin_skeleton() -> Result<&'static Skeleton> {
    static MADE: OnceLock<Skeleton> = OnceLock::new();
    if let Some(made) = MADE.get() {
        return Ok(made);
    }
    let made = builtin::body("mannequin:female")?.skeleton;
    Ok(MADE.get_or_init(|| made))
}

/// Motions on the skeleton they come with.
pub fn raw_motions(name: &str) -> Result<Vec<Motion>> {
    let path = Path::new(name);
    if let Some(clips) = builtin::motions::set(name).filter(|_| !path.exists()) {
        let skeleton = mannequin_skeleton()?;
        let made = clips.iter().map(|clip| builtin::motion(clip, skeleton));
        return Ok(made.collect::<Result<_, _>>()?);
    }
    if path.is_dir() {
        let files = motion_items(name)?;
        return files
            .iter()
            .map(|file| Ok(say(file, read::bvh::read_motion(Path::new(file), None)?)))
            .collect();
    }
    if !is_file(name) {
        return Ok(vec![builtin::motion(name, mannequin_skeleton()?)?]);
    }
    match ending(name).as_str() {
        "bvh" => Ok(vec![say(name, read::bvh::read_motion(path, None)?)]),
        "gltf" | "glb" | "vrm" => Ok(say(name, read::gltf::read_motions(path, None, 30.0)?)),
        other => {
            Err(BadRequest(format!("{name}: motion comes from .bvh, .gltf or .glb, not .{other}")).into())
        }
    }
}
