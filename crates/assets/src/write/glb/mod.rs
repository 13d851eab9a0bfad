//! Characters with animations, and cloth as morph targets, as binary glTF.
//!
//! ```no_run
//! # use toile_assets::{write::glb, Body, Motion, Mesh, Attachment, Result};
//! # fn f(body: &Body, walk: &Motion, dress: &Mesh, attached: &Attachment) -> Result<()> {
//! let piece = glb::Piece::with_bones("dress", dress, attached).coloured([0.7, 0.1, 0.2]);
//! let scene = glb::Scene { body: Some(body), motions: std::slice::from_ref(walk), pieces: &[piece] };
//! glb::write_scene("dressed.glb", &scene)
//! # }
//! ```

mod basis;
mod container;
mod morphs;
mod skinned;

pub use basis::{BasisMotion, MorphBasis, Wearer, write_morph_basis};

use super::write_atomically;
use crate::{Attachment, Body, Error, Mesh, Motion, Result, Skin};
use container::{Container, Target};
use glam::Vec3;
use serde_json::{Value, json};
use std::path::Path;

/// What goes into one file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scene<'a> {
    /// The character, if any.
    pub body: Option<&'a Body>,
    /// Its animations.
    pub motions: &'a [Motion],
    /// Clothes and other meshes.
    pub pieces: &'a [Piece<'a>],
}

/// A mesh beside the body.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// Name of its node, mesh and material.
    pub name: &'a str,
    /// Vertices as drawn; their positions count only where `moves` has none of its own.
    pub mesh: &'a Mesh,
    /// How it moves.
    pub moves: Moves<'a>,
    /// Linear red, green and blue from 0 to 1.
    pub colour: [f32; 3],
}

/// How a piece moves.
#[derive(Clone, Copy, Debug)]
pub enum Moves<'a> {
    /// Not at all.
    Still,
    /// With the bones of the body.
    WithBones(&'a Attachment),
    /// Frame by frame as morph targets, together with the first motion.
    Frames {
        /// Positions of all vertices, one list per frame.
        frames: &'a [Vec<Vec3>],
        /// Frames per second.
        fps: f64,
    },
}

impl<'a> Piece<'a> {
    /// A light cloth colour.
    const CLOTH: [f32; 3] = [0.8, 0.75, 0.65];

    /// A mesh that stays where it is.
    pub fn still(name: &'a str, mesh: &'a Mesh) -> Self {
        Self { name, mesh, moves: Moves::Still, colour: Self::CLOTH }
    }

    /// A mesh that the bones of the body carry.
    pub fn with_bones(name: &'a str, mesh: &'a Mesh, attachment: &'a Attachment) -> Self {
        Self { name, mesh, moves: Moves::WithBones(attachment), colour: Self::CLOTH }
    }

    /// A mesh that moves frame by frame.
    pub fn frames(name: &'a str, mesh: &'a Mesh, frames: &'a [Vec<Vec3>], fps: f64) -> Self {
        Self { name, mesh, moves: Moves::Frames { frames, fps }, colour: Self::CLOTH }
    }

    /// The same in another colour: linear red, green and blue from 0 to 1.
    pub fn coloured(mut self, colour: [f32; 3]) -> Self {
        self.colour = colour;
        self
    }
}

/// Writes a character with its animations: all influences, rotations of all joints that turn, translations of
/// those that move. Influences are sorted, so that viewers that know only four take the heaviest.
pub fn write_body(path: impl AsRef<Path>, body: &Body, motions: &[Motion]) -> Result<()> {
    let path = path.as_ref();
    write_scene(path, &Scene { body: Some(body), motions, pieces: &[] })
}

/// Writes a character and what it wears.
pub fn write_scene(path: impl AsRef<Path>, scene: &Scene) -> Result<()> {
    let path = path.as_ref();
    let mut file = Container::default();
    let mut animations = Vec::new();
    let mut rigged = None;
    if let Some(body) = scene.body {
        let rig = add_body(&mut file, body)?;
        for motion in scene.motions {
            animations.push(skinned::animation(&mut file, &rig, body, motion)?);
        }
        rigged = Some((rig, body));
    } else if !scene.motions.is_empty() {
        return Err(Error::Invalid("there are motions but no body that they move".into()));
    }
    for piece in scene.pieces {
        match piece.moves {
            Moves::Still => {
                let surface = Surface::new(piece.name, piece.mesh, &piece.mesh.positions, piece.colour);
                let mesh = surface.add(&mut file, None, std::iter::empty())?;
                add_mesh_node(&mut file, piece.name, mesh, None);
            }
            Moves::WithBones(attachment) => {
                let Some((rig, body)) = &rigged else {
                    let what = format!("`{}` follows bones, but there is no body", piece.name);
                    return Err(Error::Invalid(what));
                };
                if attachment.skin.joint_count() > body.skeleton.len() {
                    let what = format!("`{}` follows joints that `{}` does not have", piece.name, body.name);
                    return Err(Error::Invalid(what));
                }
                let surface = Surface::new(piece.name, piece.mesh, &attachment.rest, piece.colour);
                let mesh = surface.add(&mut file, Some(&attachment.skin), std::iter::empty())?;
                add_mesh_node(&mut file, piece.name, mesh, Some(rig.skin));
            }
            Moves::Frames { frames, fps } => {
                let weights = morphs::one_after_another(frames.len());
                if animations.is_empty() {
                    animations.push(json!({"name": piece.name, "channels": [], "samplers": []}));
                }
                let surface = frames_surface(piece.name, piece.mesh, frames, piece.colour)?;
                let shapes = frames.iter().skip(1).map(Vec::as_slice);
                add_morphs(&mut file, &surface, None, shapes, Some((&weights, fps)), &mut animations[0])?;
            }
        }
    }
    finish(path, file, animations)
}

/// Adds a character, skeleton and mesh.
fn add_body(file: &mut Container, body: &Body) -> Result<skinned::Rigged> {
    let rig = skinned::add_skeleton(file, body);
    // The grey of a tailor's dummy.
    let surface = Surface::new(&body.name, &body.mesh, &body.mesh.positions, [0.6, 0.6, 0.62]);
    let mesh = surface.add(file, Some(&body.skin), std::iter::empty())?;
    add_mesh_node(file, &body.name, mesh, Some(rig.skin));
    Ok(rig)
}

/// Writes cloth frame by frame: the first frame is the mesh, every other one a morph target that is fully
/// shown at its own time and blends with its neighbours between.
///
/// A file takes 24 bytes per vertex and frame (positions and normals) and 4 bytes per frame squared
/// (weights): 300 frames of 3,000 vertices are 22 MB. The format ends at 4 GiB; engines end earlier, many
/// at a few hundred targets. For longer takes use USD or PC2.
pub fn write_cloth_morphs(path: impl AsRef<Path>, mesh: &Mesh, frames: &[Vec<Vec3>], fps: f64) -> Result<()> {
    let path = path.as_ref();
    let piece = Piece::frames("cloth", mesh, frames, fps);
    write_scene(path, &Scene { pieces: &[piece], ..Scene::default() })
}

/// The first frame as the surface that the others are displacements of.
fn frames_surface<'a>(
    name: &'a str,
    mesh: &'a Mesh,
    frames: &'a [Vec<Vec3>],
    colour: [f32; 3],
) -> Result<Surface<'a>> {
    let first = frames.first().ok_or_else(|| Error::Invalid(format!("`{name}` has no frames")))?;
    // Said before gigabytes are made in memory.
    let bytes = 24 * first.len() as u64 * frames.len() as u64 + 4 * (frames.len() as u64).pow(2);
    if bytes > u64::from(u32::MAX) {
        return Err(Error::Invalid(format!(
            "`{name}` would take {} MB as morph targets, beyond the 4 GiB of a .glb; write fewer frames, USD or PC2",
            bytes >> 20
        )));
    }
    Ok(Surface::new(name, mesh, first, colour))
}

/// Adds a mesh with morph targets, its node, and the channel of its weights; returns the two indices.
fn add_morphs<'s>(
    file: &mut Container,
    surface: &Surface,
    skin: Option<(&Skin, usize)>,
    shapes: impl Iterator<Item = &'s [Vec3]>,
    weights: Option<(&[[f32; 1]], f64)>,
    animation: &mut Value,
) -> Result<(usize, usize)> {
    let mesh = surface.add(file, skin.map(|(weights, _)| weights), shapes)?;
    let node = add_mesh_node(file, surface.name, mesh, skin.map(|(_, rig)| rig));
    let targets = file.meshes[mesh]["primitives"][0]["targets"].as_array().map_or(0, Vec::len);
    if let Some((weights, fps)) = weights.filter(|(w, _)| !w.is_empty() && targets > 0) {
        let frames = weights.len() / targets;
        morphs::add_weights_channel(file, animation, node, frames, weights, fps)?;
    }
    Ok((mesh, node))
}

/// A mesh to be added, with the positions that count.
struct Surface<'a> {
    name: &'a str,
    mesh: &'a Mesh,
    positions: &'a [Vec3],
    colour: [f32; 3],
}

impl<'a> Surface<'a> {
    fn new(name: &'a str, mesh: &'a Mesh, positions: &'a [Vec3], colour: [f32; 3]) -> Self {
        Self { name, mesh, positions, colour }
    }

    /// Checks and adds it; returns the index of the mesh.
    fn add<'s>(
        &self,
        file: &mut Container,
        skin: Option<&Skin>,
        shapes: impl Iterator<Item = &'s [Vec3]>,
    ) -> Result<usize> {
        let Self { name, mesh, positions, colour } = self;
        let count = positions.len();
        let fault = |what: String| Err(Error::Invalid(format!("`{name}` cannot be written: {what}")));
        if count == 0 || mesh.triangles.is_empty() {
            return fault("it has no triangles".into());
        }
        if let Some(v) = positions.iter().position(|p| !p.is_finite()) {
            return fault(format!("vertex {v} is not finite"));
        }
        if let Some(t) = mesh.triangles.iter().position(|t| t.iter().any(|&i| i as usize >= count)) {
            return fault(format!("triangle {t} names a vertex beyond the {count} there are"));
        }
        if skin.is_some_and(|s| s.len() != count) {
            return fault("it has another number of vertices than of weights".into());
        }
        let vectors = |list: &[Vec3]| list.iter().map(|p| p.to_array()).collect::<Vec<_>>();
        // Vertices that no triangle uses have no normal, but the format wants one.
        let normals: Vec<Vec3> = toile_geometry::vertex_normals(positions, &mesh.triangles)
            .into_iter()
            .map(|n| if n == Vec3::ZERO { Vec3::Y } else { n })
            .collect();
        let mut attributes = json!({
            "POSITION": file.floats(&vectors(positions), Target::Vertices, true),
            "NORMAL": file.floats(&vectors(&normals), Target::Vertices, false),
        });
        if mesh.uvs.len() == count && mesh.uvs.iter().all(|uv| uv.is_finite()) {
            let uvs: Vec<[f32; 2]> = mesh.uvs.iter().map(|uv| uv.to_array()).collect();
            attributes["TEXCOORD_0"] = json!(file.floats(&uvs, Target::Vertices, false));
        }
        if let Some(skin) = skin {
            skinned::add_weights(file, skin, &mut attributes);
        }
        let targets = morphs::add_targets(file, positions, &normals, &mesh.triangles, shapes)?;
        let [r, g, b] = *colour;
        let material = json!({
            "name": name,
            "doubleSided": true,
            "pbrMetallicRoughness": {
                "baseColorFactor": [r, g, b, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.8,
            },
        });
        let material = Container::push(&mut file.materials, material);
        let indices = file.indices(&mesh.triangles);
        let mut primitive = json!({"attributes": attributes, "indices": indices, "material": material});
        if !targets.is_empty() {
            primitive["targets"] = json!(targets);
        }
        let mesh = json!({"name": name, "primitives": [primitive]});
        Ok(Container::push(&mut file.meshes, mesh))
    }
}

/// Adds a node that shows a mesh; skinned meshes sit at the top, where no transform can disturb them.
fn add_mesh_node(file: &mut Container, name: &str, mesh: usize, skin: Option<usize>) -> usize {
    let mut node = json!({"name": name, "mesh": mesh});
    if let Some(skin) = skin {
        node["skin"] = json!(skin);
    }
    let node = Container::push(&mut file.nodes, node);
    file.scene.push(node);
    node
}

/// Adds the animations that have channels and writes the file.
fn finish(path: &Path, mut file: Container, animations: Vec<Value>) -> Result<()> {
    let moving = |a: &Value| a["channels"].as_array().is_some_and(|c| !c.is_empty());
    file.animations = animations.into_iter().filter(moving).collect();
    write_atomically(path, &file.finish()?)
}
