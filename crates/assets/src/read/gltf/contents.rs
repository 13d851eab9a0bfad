//! What is in a file, without making anything of it.

use super::document::Document;
use super::nodes::Nodes;
use crate::Result;
use serde::Serialize;
use std::path::Path;

/// Everything in a file that has a name, with counts as the file claims them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Contents {
    /// The program that wrote it.
    pub generator: Option<String>,
    /// All nodes.
    pub nodes: Vec<NodeInfo>,
    /// All meshes.
    pub meshes: Vec<MeshInfo>,
    /// All skins.
    pub skins: Vec<SkinInfo>,
    /// Names of materials.
    pub materials: Vec<String>,
    /// All animations.
    pub animations: Vec<AnimationInfo>,
    /// Names of extensions.
    pub extensions: Vec<String>,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeInfo {
    /// Its name, or `node 3`.
    pub name: String,
    /// The node it hangs from.
    pub parent: Option<usize>,
    /// The mesh it shows.
    pub mesh: Option<usize>,
    /// The skin that deforms the mesh.
    pub skin: Option<usize>,
    /// Whether a skin uses it as a joint.
    pub is_joint: bool,
}

/// A mesh.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeshInfo {
    /// Its name, or `mesh 3`.
    pub name: String,
    /// Its parts.
    pub primitives: Vec<PrimitiveInfo>,
}

/// A part of a mesh with one material.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PrimitiveInfo {
    /// Name of its material.
    pub material: Option<String>,
    /// How many vertices.
    pub vertices: u64,
    /// How many triangles.
    pub triangles: u64,
    /// Joints a vertex may follow: four for each set of weights.
    pub influences: usize,
    /// How many morph targets.
    pub morph_targets: usize,
}

/// A skin.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SkinInfo {
    /// Its name, or `skin 3`.
    pub name: String,
    /// How many joints.
    pub joints: usize,
    /// Nodes that show a mesh with it.
    pub used_by: Vec<usize>,
}

/// An animation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AnimationInfo {
    /// Its name, or `animation 3`.
    pub name: String,
    /// From the first key to the last.
    pub duration_secs: f64,
    /// The most keys of any channel.
    pub keys: usize,
    /// Keys per second of the channel with the most keys, where their spacing is even.
    pub fps: Option<f64>,
    /// How many channels.
    pub channels: usize,
}

impl Contents {
    /// Vertices of all primitives, each counted once.
    pub fn vertices(&self) -> u64 {
        self.primitives().map(|p| p.vertices).sum()
    }

    /// Triangles of all primitives, each counted once.
    pub fn triangles(&self) -> u64 {
        self.primitives().map(|p| p.triangles).sum()
    }

    /// Nodes that are joints of a skin.
    pub fn joints(&self) -> usize {
        self.nodes.iter().filter(|n| n.is_joint).count()
    }

    fn primitives(&self) -> impl Iterator<Item = &PrimitiveInfo> {
        self.meshes.iter().flat_map(|m| &m.primitives)
    }
}

/// A list for people, one line per mesh at a node, skin and animation.
impl std::fmt::Display for Contents {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let from = self.generator.as_deref().unwrap_or("an unnamed program");
        writeln!(f, "glTF 2.0 from {from}: {} nodes, {} joints", self.nodes.len(), self.joints())?;
        for node in &self.nodes {
            let Some(mesh) = node.mesh.and_then(|m| self.meshes.get(m)) else { continue };
            let skin = node.skin.and_then(|s| self.skins.get(s));
            let bound = match (skin, node.parent.and_then(|p| self.nodes.get(p))) {
                (Some(skin), _) => format!("skinned to `{}`", skin.name),
                (None, Some(parent)) => format!("hangs from `{}`", parent.name),
                (None, None) => "stands alone".into(),
            };
            writeln!(f, "  mesh `{}` ({}), {bound}:", node.name, mesh.name)?;
            for p in &mesh.primitives {
                let material = p.material.as_deref().unwrap_or("no material");
                write!(f, "    {material}: {} vertices, {} triangles", p.vertices, p.triangles)?;
                if p.influences > 0 {
                    write!(f, ", up to {} influences", p.influences)?;
                }
                if p.morph_targets > 0 {
                    write!(f, ", {} morph targets", p.morph_targets)?;
                }
                writeln!(f)?;
            }
        }
        for s in &self.skins {
            writeln!(f, "  skin `{}`: {} joints, on {} meshes", s.name, s.joints, s.used_by.len())?;
        }
        for a in &self.animations {
            write!(f, "  animation `{}`: {:.2} s, {} keys", a.name, a.duration_secs, a.keys)?;
            match a.fps {
                Some(fps) => writeln!(f, " at {fps:.1} per second")?,
                None => writeln!(f)?,
            }
        }
        Ok(())
    }
}

/// Lists a file.
pub fn contents(path: impl AsRef<Path>) -> Result<Contents> {
    let path = path.as_ref();
    let doc = Document::read(path)?;
    let nodes = Nodes::new(&doc)?;
    let json = &doc.json;
    let named =
        |name: &Option<String>, kind: &str, i: usize| name.clone().unwrap_or_else(|| format!("{kind} {i}"));
    let mut is_joint = vec![false; json.nodes.len()];
    for &n in json.skins.iter().flat_map(|s| &s.joints) {
        if let Some(slot) = is_joint.get_mut(n) {
            *slot = true;
        }
    }
    let mut users = vec![Vec::new(); json.skins.len()];
    for (n, node) in json.nodes.iter().enumerate() {
        if let Some(list) = node.skin.and_then(|s| users.get_mut(s)) {
            list.push(n);
        }
    }
    let node = |n: usize| NodeInfo {
        name: doc.node_name(n),
        parent: nodes.parent[n],
        mesh: json.nodes[n].mesh,
        skin: json.nodes[n].skin,
        is_joint: is_joint[n],
    };
    let skin = |s: usize| SkinInfo {
        name: named(&json.skins[s].name, "skin", s),
        joints: json.skins[s].joints.len(),
        used_by: users[s].clone(),
    };
    let mesh = |m: usize| MeshInfo {
        name: doc.mesh_name(m),
        primitives: json.meshes[m].primitives.iter().map(|p| primitive(&doc, p)).collect(),
    };
    Ok(Contents {
        generator: json.asset.generator.clone(),
        nodes: (0..json.nodes.len()).map(node).collect(),
        meshes: (0..json.meshes.len()).map(mesh).collect(),
        skins: (0..json.skins.len()).map(skin).collect(),
        materials: json.materials.iter().enumerate().map(|(i, m)| named(&m.name, "material", i)).collect(),
        animations: (0..json.animations.len()).map(|a| animation(&doc, a)).collect::<Result<_>>()?,
        extensions: json.extensions_used.clone(),
    })
}

fn primitive(doc: &Document, p: &super::document::Primitive) -> PrimitiveInfo {
    let count = |index: Option<usize>| index.and_then(|i| doc.claimed_count(i));
    let vertices = count(p.attributes.get("POSITION").copied()).unwrap_or(0);
    let corners = count(p.indices).unwrap_or(vertices);
    PrimitiveInfo {
        material: p.material.and_then(|m| doc.json.materials.get(m)?.name.clone()),
        vertices,
        triangles: match p.mode {
            4 => corners / 3,
            5 | 6 => corners.saturating_sub(2),
            _ => 0,
        },
        influences: 4 * p.attributes.keys().filter(|k| k.starts_with("JOINTS_")).count(),
        morph_targets: p.targets.len(),
    }
}

fn animation(doc: &Document, a: usize) -> Result<AnimationInfo> {
    let animation = &doc.json.animations[a];
    let (mut start, mut end) = (f32::INFINITY, f32::NEG_INFINITY);
    let (mut keys, mut fps) = (0, None);
    // Channels of one clip mostly share their times.
    let mut inputs: Vec<usize> = animation.samplers.iter().map(|s| s.input).collect();
    inputs.sort_unstable();
    inputs.dedup();
    for input in inputs {
        let times = doc.floats::<1>(input, &format!("animation {a}, times"))?;
        let (Some([first]), Some([last])) = (times.first(), times.last()) else { continue };
        start = start.min(*first);
        end = end.max(*last);
        if times.len() > keys {
            keys = times.len();
            let step = (last - first) / (keys.max(2) - 1) as f32;
            let even = times.windows(2).all(|w| (w[1][0] - w[0][0] - step).abs() < 0.01 * step);
            fps = (even && step > 0.0).then(|| 1.0 / f64::from(step));
        }
    }
    Ok(AnimationInfo {
        name: animation.name.clone().unwrap_or_else(|| format!("animation {a}")),
        duration_secs: f64::from((end - start).max(0.0)),
        keys,
        fps,
        channels: animation.channels.len(),
    })
}
