//! Bodies, motions and meshes from glTF 2.0 (`.gltf`, `.glb`, `.vrm`).
//!
//! `document` takes the file apart, `accessors` reads its arrays, `nodes` its hierarchy; `parts` finds the
//! primitives that are meant, `rig` makes rigid joints of nodes with scale, `animation` samples, `character`
//! puts it together, `looks` finds its colours and pictures and `contents` lists what is there.

mod accessors;
mod animation;
mod character;
mod contents;
mod document;
mod looks;
mod nodes;
mod parts;
mod rig;

pub use contents::{AnimationInfo, Contents, MeshInfo, NodeInfo, PrimitiveInfo, SkinInfo, contents};
pub use looks::{Look, Looks};

use super::Loaded;
use crate::axes::Conversion;
use crate::{Body, Mesh, Motion, Result};
use character::Character;
use document::Document;
use glam::DAffine3;
use nodes::Nodes;
use parts::{Binding, Surface};
use rig::{Rig, Rigs};
use std::path::Path;

/// What to take from a file, and how.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// Names of nodes, meshes, materials or skins, separated by commas; `*` for everything that hangs on
    /// the skeleton. Without it: everything skinned.
    pub select: Option<String>,
    /// Units and axes; guessed and said when not given.
    pub conversion: Option<Conversion>,
}

impl Options {
    /// These with some of them changed.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Only a selection.
    pub fn select(select: Option<&str>) -> Self {
        Self { select: select.map(str::to_owned), conversion: None }
    }
}

/// Reads a skinned character. `select` names a node, mesh or material when the file holds several.
pub fn read_body(path: impl AsRef<Path>, select: Option<&str>) -> Result<Loaded<Body>> {
    let path = path.as_ref();
    read_body_with(path, &Options::select(select))
}

/// Reads every animation of the skeleton that [`read_body`] would choose, sampled at `fps`.
pub fn read_motions(path: impl AsRef<Path>, select: Option<&str>, fps: f64) -> Result<Loaded<Vec<Motion>>> {
    let path = path.as_ref();
    read_motions_with(path, &Options::select(select), fps)
}

/// Reads a mesh in its bind pose, in world space, without its skin.
pub fn read_mesh(path: impl AsRef<Path>, select: Option<&str>) -> Result<Loaded<Mesh>> {
    let path = path.as_ref();
    read_mesh_with(path, &Options::select(select))
}

/// [`read_body`] with all options.
pub fn read_body_with(path: impl AsRef<Path>, options: &Options) -> Result<Loaded<Body>> {
    let path = path.as_ref();
    let doc = Document::read(path)?;
    let nodes = Nodes::new(&doc)?;
    Character::new(&doc, &nodes, options)?.body(&doc, &nodes)
}

/// Colours and pictures of the body that [`read_body`] gives. A picture that cannot be had is a problem, not an error.
pub fn read_looks(path: impl AsRef<Path>, select: Option<&str>) -> Result<Loaded<Looks>> {
    let doc = Document::read(path.as_ref())?;
    let nodes = Nodes::new(&doc)?;
    Character::new(&doc, &nodes, &Options::select(select))?.looks(&doc, &nodes)
}

/// [`read_motions`] with all options. A file without skins may still move nodes: these are the joints then.
pub fn read_motions_with(path: impl AsRef<Path>, options: &Options, fps: f64) -> Result<Loaded<Vec<Motion>>> {
    let path = path.as_ref();
    let doc = Document::read(path)?;
    let nodes = Nodes::new(&doc)?;
    let character = match doc.json.skins.is_empty() {
        true => Character::without_skin(&doc, &nodes, options)?,
        false => Character::new(&doc, &nodes, options)?,
    };
    character.motions(&doc, &nodes, fps)
}

/// Reads a character and its animations at once.
pub fn read_character(
    path: impl AsRef<Path>,
    options: &Options,
    fps: f64,
) -> Result<Loaded<(Body, Vec<Motion>)>> {
    let path = path.as_ref();
    let doc = Document::read(path)?;
    let nodes = Nodes::new(&doc)?;
    let character = Character::new(&doc, &nodes, options)?;
    let motions = character.motions(&doc, &nodes, fps)?;
    let body = character.body(&doc, &nodes)?;
    // What is said of the character is said of both.
    let mut notes = body.notes;
    notes.extend(motions.notes.into_iter().skip(character.notes.len()));
    let problems = [body.problems, motions.problems].concat();
    Ok(Loaded { value: (body.value, motions.value), problems, notes })
}

/// [`read_mesh`] with all options.
pub fn read_mesh_with(path: impl AsRef<Path>, options: &Options) -> Result<Loaded<Mesh>> {
    let path = path.as_ref();
    let Loaded { value: (mesh, ..), problems, notes } = read_mesh_and_materials(path, options)?;
    Ok(Loaded { value: mesh, problems, notes })
}

/// Vertex colours (COLOR_0) of the vertices that [`read_mesh`] gives, linear as they are stored.
pub fn read_colours(path: impl AsRef<Path>, select: Option<&str>) -> Result<Vec<[f32; 3]>> {
    let doc = Document::read(path.as_ref())?;
    let nodes = Nodes::new(&doc)?;
    let all = parts::all(&doc)?;
    let wanted = match select {
        None | Some("*") => all,
        Some(names) => parts::selected(&doc, &nodes, &all, names)?,
    };
    let mut surface = Surface::default();
    surface.colours = Some(Vec::new());
    for part in &wanted {
        surface.add(&doc, part, &DAffine3::IDENTITY, &Binding::None)?;
    }
    surface.finish(select.is_some());
    Ok(surface.colours.unwrap_or_default())
}

/// [`read_mesh`] with the names of the file's materials (the last, empty name stands for none) and the
/// material of each triangle.
pub fn read_mesh_and_materials(
    path: impl AsRef<Path>,
    options: &Options,
) -> Result<Loaded<(Mesh, Vec<String>, Vec<u32>)>> {
    let path = path.as_ref();
    let doc = Document::read(path)?;
    let nodes = Nodes::new(&doc)?;
    let all = parts::all(&doc)?;
    let wanted = match options.select.as_deref() {
        None | Some("*") => all.clone(),
        Some(names) => parts::selected(&doc, &nodes, &all, names)?,
    };
    if wanted.is_empty() {
        return Err(doc.bad("meshes", "there are no triangles in this file"));
    }
    let rigs = Rigs::new(&doc, &nodes)?;
    let mut surface = Surface::default();
    let mut names: Vec<String> =
        doc.json.materials.iter().map(|m| m.name.clone().unwrap_or_default()).collect();
    let mut material_of_triangle = Vec::new();
    let mut made: Vec<Option<Rig>> = (0..rigs.count).map(|_| None).collect();
    for part in &wanted {
        let space = match part.skin {
            None => nodes.world[part.node],
            Some(s) => {
                let slot = &mut made[rigs.of_skin[s]];
                if slot.is_none() {
                    *slot = Some(Rig::new(&doc, &nodes, &rigs, rigs.of_skin[s])?);
                }
                slot.as_ref().map_or(DAffine3::IDENTITY, |rig| rig.world_from_mesh[&s])
            }
        };
        surface.add(&doc, part, &space, &Binding::None)?;
        let material = part.primitive(&doc).material.filter(|m| *m < names.len()).unwrap_or(names.len());
        material_of_triangle.resize(surface.triangles.len(), material as u32);
    }
    surface.finish(options.select.is_some());
    let mut notes = Vec::new();
    let conversion = match (options.conversion, made.iter().position(Option::is_some)) {
        (Some(given), _) => given,
        // A skeleton tells size and stance better than a piece of clothing does, and the body that is read
        // from this file must come out at the same size.
        (None, Some(r)) => {
            let rig = made[r].as_ref();
            let positions =
                rig.map_or(Ok(Vec::new()), |rig| character::positions(&doc, &rigs, &all, r, rig))?;
            character::guess(&doc, &nodes, rig, &positions, &mut notes)
        }
        (None, None) => character::guess(&doc, &nodes, None, &surface.positions, &mut notes),
    };
    if conversion != Conversion::NONE {
        surface.positions.iter_mut().for_each(|p| *p = conversion.point(*p));
    }
    let Surface { positions, triangles, uvs, problems, .. } = surface;
    names.push(String::new());
    Ok(Loaded { value: (Mesh { positions, triangles, uvs }, names, material_of_triangle), problems, notes })
}
