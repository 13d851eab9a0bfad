//! Bodies, motions and meshes from glTF 2.0 (`.gltf`, `.glb`, `.vrm`).
//!
//! `document` takes the file apart, `accessors` reads its arrays, `nodes` its hierarchy; `parts` finds the
//! primitives that are meant, `rig` makes rigid joints of nodes with scale, `animation` samples.

mod accessors;
mod animation;
mod contents;
mod document;
mod nodes;
mod parts;
mod rig;

pub use contents::{AnimationInfo, Contents, MeshInfo, NodeInfo, PrimitiveInfo, SkinInfo, contents};

use super::Loaded;
use crate::axes::Conversion;
use crate::{Body, Mesh, Motion, Problem, Result, Skin};
use document::Document;
use glam::{DAffine3, DVec3, Vec3};
use nodes::Nodes;
use parts::{Binding, Part, Surface};
use rig::{Folding, Rig, Rigs};
use std::collections::HashSet;
use std::path::Path;

/// What to take from a file, and how.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Names of nodes, meshes, materials or skins, separated by commas; `*` for everything that hangs on
    /// the skeleton. Without it: everything skinned.
    pub select: Option<String>,
    /// Units and axes; guessed and said when not given.
    pub conversion: Option<Conversion>,
}

impl Options {
    /// Only a selection.
    pub fn select(select: Option<&str>) -> Self {
        Self { select: select.map(str::to_owned), conversion: None }
    }
}

/// Reads a skinned character. `select` names a node, mesh or material when the file holds several.
pub fn read_body(path: &Path, select: Option<&str>) -> Result<Loaded<Body>> {
    read_body_with(path, &Options::select(select))
}

/// Reads every animation of the skeleton that [`read_body`] would choose, sampled at `fps`.
pub fn read_motions(path: &Path, select: Option<&str>, fps: f64) -> Result<Loaded<Vec<Motion>>> {
    read_motions_with(path, &Options::select(select), fps)
}

/// Reads a mesh in its bind pose, in world space, without its skin.
pub fn read_mesh(path: &Path, select: Option<&str>) -> Result<Loaded<Mesh>> {
    read_mesh_with(path, &Options::select(select))
}

/// [`read_body`] with all options.
pub fn read_body_with(path: &Path, options: &Options) -> Result<Loaded<Body>> {
    let doc = Document::read(path)?;
    let nodes = Nodes::new(&doc)?;
    let mut character = Character::new(&doc, &nodes, options)?;
    let surface = character.surface(&doc, &nodes)?;
    let folding = Folding::new(&nodes, &character.rig, character.conversion);
    let uneven = folding.uneven();
    if uneven > 0 {
        character.problems.push(Problem::new(
            "joints with a scale that is not the same in all directions: joints here are rigid",
            uneven,
            "folded into the bind matrices, exact at rest",
        ));
    }
    let skeleton = folding.skeleton(&doc)?;
    let binds = folding.joint_from_bind();
    let skin = Skin::from_rows(&surface.rows)?;
    let Surface { positions, triangles, uvs, problems, .. } = surface;
    let mesh = Mesh { positions, triangles, uvs };
    let body = Body::new(character.name(&doc), skeleton, binds, mesh, skin)?;
    if !body.joint_from_bind.iter().all(|m| m.is_finite()) {
        return Err(doc.bad("skins", "a bind matrix is not finite"));
    }
    character.problems.extend(problems);
    Ok(Loaded { value: body, problems: character.problems, notes: character.notes })
}

/// [`read_motions`] with all options.
pub fn read_motions_with(path: &Path, options: &Options, fps: f64) -> Result<Loaded<Vec<Motion>>> {
    let doc = Document::read(path)?;
    let nodes = Nodes::new(&doc)?;
    let character = Character::new(&doc, &nodes, options)?;
    let folding = Folding::new(&nodes, &character.rig, character.conversion);
    let skeleton = folding.skeleton(&doc)?;
    let (motions, remarks) = animation::motions(&doc, &nodes, &folding, &skeleton, fps)?;
    let notes = [character.notes, remarks.notes].concat();
    Ok(Loaded { value: motions, problems: remarks.problems, notes })
}

/// [`read_mesh`] with all options.
pub fn read_mesh_with(path: &Path, options: &Options) -> Result<Loaded<Mesh>> {
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
    }
    surface.finish();
    let mut notes = Vec::new();
    let conversion = match options.conversion {
        Some(given) => given,
        None => {
            // A skeleton tells size and stance better than a piece of clothing does.
            let rig = made.iter().flatten().next();
            guess(&doc, &nodes, rig, &surface.positions, &mut notes)
        }
    };
    if conversion != Conversion::NONE {
        surface.positions.iter_mut().for_each(|p| *p = conversion.point(*p));
    }
    let Surface { positions, triangles, uvs, problems, .. } = surface;
    Ok(Loaded { value: Mesh { positions, triangles, uvs }, problems, notes })
}

/// The chosen skeleton and the parts on it.
struct Character {
    rig: Rig,
    parts: Vec<Part>,
    /// Joint that each part hangs from, for parts without weights.
    hung: Vec<Option<u16>>,
    conversion: Conversion,
    problems: Vec<Problem>,
    notes: Vec<String>,
}

impl Character {
    fn new(doc: &Document, nodes: &Nodes, options: &Options) -> Result<Self> {
        let all = parts::all(doc)?;
        let rigs = Rigs::new(doc, nodes)?;
        let skinned: Vec<Part> = all.iter().filter(|p| p.skin.is_some()).copied().collect();
        let wanted = match options.select.as_deref() {
            None => skinned.clone(),
            Some("*") => all.iter().filter(|p| rigs.of_part(p).is_some()).copied().collect(),
            Some(names) => parts::selected(doc, nodes, &all, names)?,
        };
        // A file of animations alone has a skin at best.
        let chosen = if wanted.is_empty() && rigs.count == 1 { 0 } else { rigs.chosen(doc, &all, &wanted)? };
        let rig = Rig::new(doc, nodes, &rigs, chosen)?;
        let (mut problems, mut notes) = (rig.problems.clone(), Vec::new());
        let (parts, loose): (Vec<Part>, Vec<Part>) =
            wanted.into_iter().partition(|p| rigs.of_part(p).is_some());
        if !loose.is_empty() {
            let what = format!("meshes that do not hang on the skeleton: {}", parts::listed(doc, &loose));
            problems.push(Problem::new(what, loose.len(), "left out"));
        }
        let taken: HashSet<&Part> = parts.iter().collect();
        let others: Vec<Part> =
            all.iter().filter(|p| rigs.of_part(p) == Some(chosen) && !taken.contains(p)).copied().collect();
        if !others.is_empty() {
            let names = parts::listed(doc, &others);
            notes.push(format!("also on this skeleton, but not selected: {names}"));
        }
        for name in doc.json.extensions_used.iter().filter(|n| n.to_lowercase().contains("dual_quat")) {
            let what = format!("{name}: not pure linear blend skinning");
            problems.push(Problem::new(what, 1, "ignored"));
        }
        let hung = parts
            .iter()
            .map(|p| match p.skin {
                Some(_) => None,
                None => {
                    let joint = rigs.nearest[p.node].and_then(|(n, _)| rig.index.get(&n));
                    joint.map(|&j| j as u16)
                }
            })
            .collect();
        let conversion = match options.conversion {
            Some(given) => given,
            None => {
                let on_rig: Vec<Part> =
                    skinned.into_iter().filter(|p| rigs.of_part(p) == Some(chosen)).collect();
                let mut surface = Surface::default();
                for p in &on_rig {
                    let space = p.skin.map_or(DAffine3::IDENTITY, |s| rig.world_from_mesh[&s]);
                    surface.add(doc, p, &space, &Binding::None)?;
                }
                guess(doc, nodes, Some(&rig), &surface.positions, &mut notes)
            }
        };
        Ok(Self { rig, parts, hung, conversion, problems, notes })
    }

    /// The vertices of all parts in the bind pose.
    fn surface(&self, doc: &Document, nodes: &Nodes) -> Result<Surface> {
        let mut surface = Surface::default();
        let ours = DAffine3::from_scale_rotation_translation(
            DVec3::splat(self.conversion.metres_per_unit),
            self.conversion.rotation().as_dquat(),
            DVec3::ZERO,
        );
        for (part, hung) in self.parts.iter().zip(&self.hung) {
            match (part.skin, *hung) {
                (Some(s), _) => {
                    let space = ours * self.rig.world_from_mesh[&s];
                    surface.add(doc, part, &space, &Binding::Skin(&self.rig.slots[&s]))?;
                }
                (None, Some(j)) => {
                    // Where the joint was bound, with the offset the part has from it at rest.
                    let joint = usize::from(j);
                    let offset = nodes.world[self.rig.joints[joint]].inverse() * nodes.world[part.node];
                    let space = ours * self.rig.binds[joint].inverse() * offset;
                    surface.add(doc, part, &space, &Binding::Rigid(j))?;
                }
                (None, None) => {}
            }
        }
        surface.finish();
        if surface.triangles.is_empty() {
            return Err(doc.bad("meshes", "the selected meshes have no triangles"));
        }
        Ok(surface)
    }

    /// The name of the only mesh, else of the file.
    fn name(&self, doc: &Document) -> String {
        match &self.parts[..] {
            [first, rest @ ..] if rest.iter().all(|p| p.node == first.node) => doc.node_name(first.node),
            _ => doc.path.file_stem().map_or("body".into(), |s| s.to_string_lossy().into_owned()),
        }
    }
}

/// Units and up axis from the size of what is there and from where head and feet are.
fn guess(
    doc: &Document,
    nodes: &Nodes,
    rig: Option<&Rig>,
    positions: &[Vec3],
    notes: &mut Vec<String>,
) -> Conversion {
    let joints = || rig.into_iter().flat_map(|r| r.joints.iter().copied());
    let heads = joints().map(|n| nodes.world[n].translation.as_vec3());
    let all = Mesh { positions: positions.iter().copied().chain(heads).collect(), ..Mesh::default() };
    let (lo, hi) = all.bounds();
    let mean = |words: &[&str]| {
        let named = |n: &usize| {
            let name = doc.json.nodes[*n].name.as_deref().unwrap_or_default().to_lowercase();
            words.iter().any(|w| name.contains(w))
        };
        let found: Vec<DVec3> = joints().filter(named).map(|n| nodes.world[n].translation).collect();
        (!found.is_empty()).then(|| (found.iter().sum::<DVec3>() / found.len() as f64).as_vec3())
    };
    let stance = mean(&["head"]).zip(mean(&["foot", "ankle", "toe"])).map(|(head, feet)| head - feet);
    let (conversion, said) = Conversion::guessed((hi - lo).max_element(), stance);
    notes.extend(said);
    conversion
}
