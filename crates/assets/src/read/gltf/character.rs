//! A body and its motions from the nodes, skins and meshes of a file.

use super::animation;
use super::document::Document;
use super::looks::{self, Looks};
use super::nodes::Nodes;
use super::parts::{self, Binding, Part, Surface};
use super::rig::{Folding, Rig, Rigs};
use super::{Loaded, Options};
use crate::axes::Conversion;
use crate::{Body, Mesh, Motion, Problem, Result, Role, Skin};
use glam::{DAffine3, DVec3, Vec3};
use std::collections::HashSet;

/// The chosen skeleton and the parts on it.
pub(super) struct Character {
    rig: Rig,
    parts: Vec<Part>,
    /// Joint that each part hangs from, for parts without weights.
    hung: Vec<Option<u16>>,
    conversion: Conversion,
    problems: Vec<Problem>,
    /// What was guessed, first of all that is said.
    pub notes: Vec<String>,
    selected: bool,
}

impl Character {
    /// Finds what `options` mean.
    pub fn new(doc: &Document, nodes: &Nodes, options: &Options) -> Result<Self> {
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
                let positions = positions(doc, &rigs, &all, chosen, &rig)?;
                guess(doc, nodes, Some(&rig), &positions, &mut notes)
            }
        };
        let selected = options.select.is_some();
        Ok(Self { rig, parts, hung, conversion, problems, notes, selected })
    }

    /// For files that only move nodes.
    pub fn without_skin(doc: &Document, nodes: &Nodes, options: &Options) -> Result<Self> {
        let rig = Rig::of_moving_nodes(doc, nodes)?;
        let mut notes = Vec::new();
        let conversion = options.conversion.unwrap_or_else(|| guess(doc, nodes, Some(&rig), &[], &mut notes));
        notes.push("nothing is skinned: the nodes that move are taken as joints".into());
        let (parts, hung, problems) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { rig, parts, hung, conversion, problems, notes, selected: false })
    }

    /// The body itself.
    pub fn body(&self, doc: &Document, nodes: &Nodes) -> Result<Loaded<Body>> {
        let (mut problems, mut notes) = (self.problems.clone(), self.notes.clone());
        let surface = self.surface(doc, nodes)?;
        let folding = Folding::new(nodes, &self.rig, self.conversion);
        let uneven = folding.uneven();
        if uneven > 0 {
            problems.push(Problem::new(
                "joints with a scale that is not the same in all directions: joints here are rigid",
                uneven,
                "folded into the bind matrices, exact at rest",
            ));
        }
        let skeleton = folding.skeleton(doc)?;
        let binds = folding.joint_from_bind();
        if let Some(j) = binds.iter().position(|m| !m.is_finite()) {
            return Err(doc.bad("skins", format!("the bind matrix of joint {j} is not finite")));
        }
        let skin = Skin::from_rows(&surface.rows)?;
        let Surface { positions, triangles, uvs, problems: of_surface, .. } = surface;
        let mesh = Mesh { positions, triangles, uvs };
        let body = Body::new(self.name(doc), skeleton, binds, mesh, skin)?;
        notes.extend(facing_away(&body));
        notes.extend(same_names(&body));
        problems.extend(of_surface);
        Ok(Loaded { value: body, problems, notes })
    }

    /// All animations that move the skeleton.
    pub fn motions(&self, doc: &Document, nodes: &Nodes, fps: f64) -> Result<Loaded<Vec<Motion>>> {
        let folding = Folding::new(nodes, &self.rig, self.conversion);
        let skeleton = folding.skeleton(doc)?;
        let (motions, remarks) = animation::motions(doc, nodes, &folding, &skeleton, fps)?;
        let notes = [self.notes.clone(), remarks.notes].concat();
        Ok(Loaded { value: motions, problems: remarks.problems, notes })
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
        surface.finish(self.selected);
        if surface.triangles.is_empty() {
            return Err(doc.bad("meshes", "the selected meshes have no triangles"));
        }
        Ok(surface)
    }

    /// How the body looks, triangle by triangle.
    pub fn looks(&self, doc: &Document, nodes: &Nodes) -> Result<Loaded<Looks>> {
        let surface = self.surface(doc, nodes)?;
        Ok(looks::looks(doc, &surface.materials))
    }

    /// The name of the only mesh, else of the file.
    fn name(&self, doc: &Document) -> String {
        match &self.parts[..] {
            [first, rest @ ..] if rest.iter().all(|p| p.node == first.node) => doc.node_name(first.node),
            _ => doc.path.file_stem().map_or("body".into(), |s| s.to_string_lossy().into_owned()),
        }
    }
}

/// Positions, in the world at rest, of everything skinned to a rig: what its size is guessed from.
pub(super) fn positions(
    doc: &Document,
    rigs: &Rigs,
    all: &[Part],
    index: usize,
    rig: &Rig,
) -> Result<Vec<Vec3>> {
    let mut surface = Surface::default();
    for part in all.iter().filter(|p| rigs.of_part(p) == Some(index)) {
        if let Some(s) = part.skin {
            surface.add(doc, part, &rig.world_from_mesh[&s], &Binding::None)?;
        }
    }
    Ok(surface.positions)
}

/// A sentence for joints that cannot be told apart by name, as pins and retargeting do.
fn same_names(body: &Body) -> Option<String> {
    let mut seen = HashSet::new();
    let twice: HashSet<&str> =
        body.skeleton.joints.iter().map(|j| j.name.as_str()).filter(|n| !seen.insert(*n)).collect();
    let mut twice: Vec<&str> = twice.into_iter().collect();
    twice.sort_unstable();
    (!twice.is_empty())
        .then(|| format!("several joints share a name; the first is meant: {}", twice.join(", ")))
}

/// A sentence for characters that do not look along +Z as ours do: those of VRM 0 look the other way.
fn facing_away(body: &Body) -> Option<String> {
    let humanoid = body.humanoid();
    let (left, right) = (humanoid.joint(Role::LeftUpperLeg)?, humanoid.joint(Role::RightUpperLeg)?);
    let world = body.skeleton.world_from_joints(&body.skeleton.rest_pose());
    let line = (world[left].translation - world[right].translation).try_normalize()?;
    (line.x < 0.7).then(|| {
        "at rest the character does not look along +Z; garments of other files may need turning".into()
    })
}

/// Units and up axis from the size of what is there and from where head and feet are.
pub(super) fn guess(
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
