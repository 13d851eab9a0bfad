//! Files and built-in names, put on the stage.

use super::cast::Cast;
use crate::Figure;
use std::path::Path;
use toile_assets::adaptive::Database;
use toile_assets::disk;
use toile_assets::read::garment::{RestChoice, read_garment_for};
use toile_assets::read::{self, Loaded};
use toile_assets::{Body, Model, Motion, Take, builtin};

/// In which order several are opened: whoever wears before what is worn.
fn rank(name: &str) -> usize {
    match ending(name).as_str() {
        "glb" | "gltf" | "vrm" => 0,
        "bvh" => 1,
        "toile" => 3,
        "take" => 4,
        _ => 2,
    }
}

fn ending(name: &str) -> String {
    Path::new(name).extension().and_then(|e| e.to_str()).unwrap_or_default().to_lowercase()
}

/// What a file or name turned out to be: for the message that says so.
pub(super) struct Opened {
    pub what: String,
    pub said: Vec<String>,
}

/// Sorts names so that each finds what it needs already there.
pub(super) fn in_order(names: &[String]) -> Vec<&str> {
    let mut sorted: Vec<&str> = names.iter().map(String::as_str).collect();
    sorted.sort_by_key(|name| if disk::exists(name) { rank(name) } else { built_in_rank(name) });
    sorted
}

fn built_in_rank(name: &str) -> usize {
    match built_in_kind(name) {
        Some("body") => 0,
        Some("motion") => 1,
        _ => 2,
    }
}

fn built_in_kind(name: &str) -> Option<&'static str> {
    let family = |n: &str| n.split([':', '/']).next().unwrap_or_default().to_string();
    let all = builtin::list();
    let exact = all.iter().find(|e| e.name == name);
    let related = || all.iter().find(|e| family(e.name) == family(name) && e.kind != "fabric");
    exact.or_else(related).map(|e| if e.kind == "motion set" { "motion" } else { e.kind })
}

/// Opens one file or built-in asset. An error leaves the stage as it was.
pub(super) fn open(name: &str, cast: &mut Cast) -> Result<Opened, String> {
    let path = Path::new(name);
    let short = path.file_name().map_or(name.into(), |n| n.to_string_lossy().into_owned());
    let mut said = Vec::new();
    let what = if disk::exists(path) {
        match ending(name).as_str() {
            "toile" if disk::read(path).is_ok_and(|bytes| Database::is_one(&bytes)) => {
                cast.set_database(Database::read(path).map_err(|e| e.to_string())?, &mut said)
                    .map_err(|why| format!("{short}: {why}"))?;
                "a database of the tier adaptive"
            }
            "toile" => {
                cast.set_model(Model::read(path).map_err(|e| e.to_string())?, &mut said)
                    .map_err(|why| format!("{short}: {why}"))?;
                "a learned garment"
            }
            "take" => {
                cast.set_take(Take::read(path).map_err(|e| e.to_string())?, &mut said)
                    .map_err(|why| format!("{short}: {why}"))?;
                "a take"
            }
            "bvh" => {
                let motion = heard(read::bvh::read_motion(path, None), &mut said)?;
                moved(cast, vec![motion]).map_err(|why| format!("{short}: {why}"))?;
                "a motion"
            }
            "obj" => {
                garment(cast, path, &mut said)?;
                "a garment"
            }
            "glb" | "gltf" | "vrm" => gltf(cast, path, &mut said)?,
            other => {
                return Err(format!(
                    "{short}: not opened. A body is .glb, .gltf or .vrm, a garment .obj or .glb, a motion .bvh or .glb, \
                     a model .toile, a recorded simulation .take, not .{other}"
                ));
            }
        }
    } else {
        built_in(cast, name, &mut said)?
    };
    Ok(Opened { what: format!("{short}: {what}"), said })
}

fn built_in(cast: &mut Cast, name: &str, said: &mut Vec<String>) -> Result<&'static str, String> {
    let text = |e: toile_assets::Error| e.to_string();
    match built_in_kind(name) {
        Some("body") => {
            let body = builtin::body(name).map_err(text)?;
            let figure = Figure::plain(&body);
            cast.set_body(body, figure, said)?;
            Ok("a body")
        }
        Some("garment") => {
            let garment = builtin::garment(name, &cast.body).map_err(text)?;
            cast.set_garment(garment, Some(name.into()));
            Ok("a garment")
        }
        Some("motion") => {
            let mannequin = builtin::body("mannequin:female").map_err(text)?;
            let names = builtin::motions::set(name).unwrap_or_else(|| vec![name.into()]);
            let clips =
                names.iter().map(|n| builtin::motion(n, &mannequin.skeleton)).collect::<Result<_, _>>();
            moved(cast, clips.map_err(text)?)?;
            Ok("a motion")
        }
        _ => Err(format!("{name}: there is no such file, and nothing built in has that name")),
    }
}

/// What was guessed and repaired goes into `said`.
fn heard<T>(loaded: toile_assets::Result<Loaded<T>>, said: &mut Vec<String>) -> Result<T, String> {
    let Loaded { value, problems, notes } = loaded.map_err(|e| e.to_string())?;
    said.extend(notes);
    said.extend(problems.iter().map(|p| format!("{}: {} ({})", p.what, p.count, p.action)));
    Ok(value)
}

fn garment(cast: &mut Cast, path: &Path, said: &mut Vec<String>) -> Result<(), String> {
    let read = read_garment_for(path, RestChoice::Auto, None, Some(&cast.body));
    cast.set_garment(heard(read, said)?, None);
    Ok(())
}

/// New clips to choose from; the first is played.
fn moved(cast: &mut Cast, clips: Vec<Motion>) -> Result<(), String> {
    let before = std::mem::replace(&mut cast.clips, clips);
    if let Err(why) = cast.choose_clip(0) {
        cast.clips = before;
        return Err(why);
    }
    Ok(())
}

/// A glTF file is a character where something is skinned, a garment where there are only meshes, and a motion where nodes
/// move and nothing else is.
fn gltf(cast: &mut Cast, path: &Path, said: &mut Vec<String>) -> Result<&'static str, String> {
    let text = |e: toile_assets::Error| e.to_string();
    let contents = read::gltf::contents(path).map_err(text)?;
    let skinned = contents.nodes.iter().any(|n| n.mesh.is_some() && n.skin.is_some());
    let moves = |said: &mut Vec<String>| heard(read::gltf::read_motions(path, None, 30.0), said);
    if !skinned && contents.triangles() > 0 {
        garment(cast, path, said)?;
        return Ok("a garment");
    }
    if !skinned {
        let clips = moves(said)?;
        if clips.is_empty() {
            return Err(format!("{}: nothing to show: no mesh, no animation", path.display()));
        }
        moved(cast, clips)?;
        return Ok("a motion");
    }
    let body: Body = heard(read::gltf::read_body(path, None), said)?;
    let looks = read::gltf::read_looks(path, None).map_err(text)?;
    said.extend(looks.problems.iter().map(|p| p.what.clone()));
    let (figure, faults) = Figure::painted(&body, &looks.value);
    said.extend(faults);
    cast.set_body(body, figure, said)?;
    if contents.animations.is_empty() {
        return Ok("a body");
    }
    match moves(said).and_then(|clips| if clips.is_empty() { Ok(()) } else { moved(cast, clips) }) {
        Ok(()) => Ok("a body with its motions"),
        Err(why) => {
            said.push(format!("its animations are left out: {why}"));
            Ok("a body")
        }
    }
}
