//! A shape space as morph targets: what engines animate with a few coefficients.

use super::container::{Container, Target};
use super::skinned::{add_channel, add_times};
use super::{Piece, Surface, add_body, add_morphs, finish, skinned};
use crate::{Body, Error, Mesh, Motion, Result, RootFrame, Skin};
use glam::Vec3;
use serde_json::{Value, json};
use std::path::Path;

/// A mean and displacements from it.
#[derive(Clone, Debug)]
pub struct MorphBasis<'a> {
    /// Name of node, mesh and material.
    pub name: &'a str,
    /// Triangles and texture coordinates.
    pub mesh: &'a Mesh,
    /// The mesh where all weights are zero.
    pub mean: &'a [Vec3],
    /// One list of displacements per target, added in full at weight 1.
    pub basis: &'a [Vec<Vec3>],
    /// Who wears it: the mesh is then skinned, and targets move it in the bind pose, before its bones do.
    pub wearer: Option<Wearer<'a>>,
    /// An animation, if any.
    pub motion: Option<BasisMotion<'a>>,
    /// Whatever else readers should know, stored with the mesh as `extras`.
    pub extras: Value,
}

/// The character that a skinned shape space hangs on.
#[derive(Clone, Copy, Debug)]
pub struct Wearer<'a> {
    /// Written beside it.
    pub body: &'a Body,
    /// Weights of the mesh's vertices.
    pub skin: &'a Skin,
    /// How the bones move, in the rate of the weights.
    pub motion: Option<&'a Motion>,
}

/// Weights of a basis over time, and where the whole is.
#[derive(Clone, Copy, Debug)]
pub struct BasisMotion<'a> {
    /// One list per frame with one weight per target.
    pub weights: &'a [Vec<f32>],
    /// Position and heading per frame, as the node's translation and rotation; none where it stays at the origin.
    pub roots: &'a [RootFrame],
    /// Frames per second.
    pub fps: f64,
}

/// Writes a shape space: the mean as the mesh, each displacement as a morph target named `y0`, `y1`, …, and
/// optionally an animation. Normals of targets are those of mean + target, right for small weights.
pub fn write_morph_basis(path: impl AsRef<Path>, space: &MorphBasis) -> Result<()> {
    let path = path.as_ref();
    let mut file = Container::default();
    let mut shapes = Vec::with_capacity(space.basis.len());
    for (k, target) in space.basis.iter().enumerate() {
        if target.len() != space.mean.len() {
            let what = format!("target {k} has {} vertices, the mean has {}", target.len(), space.mean.len());
            return Err(Error::Invalid(what));
        }
        shapes.push(space.mean.iter().zip(target).map(|(m, d)| *m + *d).collect::<Vec<Vec3>>());
    }
    let mut rows: Vec<[f32; 1]> = Vec::new();
    if let Some(motion) = &space.motion {
        for (f, row) in motion.weights.iter().enumerate() {
            if row.len() != space.basis.len() || row.iter().any(|w| !w.is_finite()) {
                let (wanted, has) = (space.basis.len(), row.len());
                return Err(Error::Invalid(format!("frame {f} needs {wanted} finite weights, it has {has}")));
            }
            rows.extend(row.iter().map(|w| [*w]));
        }
    }
    let mut animation = json!({"name": space.name, "channels": [], "samplers": []});
    let mut skin = None;
    if let Some(wearer) = &space.wearer {
        let rig = add_body(&mut file, wearer.body)?;
        if let Some(motion) = wearer.motion {
            animation = skinned::animation(&mut file, &rig, wearer.body, motion)?;
        }
        skin = Some((wearer.skin, rig.skin));
    }
    let surface = Surface::new(space.name, space.mesh, space.mean, Piece::CLOTH);
    let weights = space.motion.as_ref().map(|m| (&rows[..], m.fps));
    let (mesh, node) =
        add_morphs(&mut file, &surface, skin, shapes.iter().map(Vec::as_slice), weights, &mut animation)?;
    let mut extras = if space.extras.is_object() { space.extras.clone() } else { json!({}) };
    // Where most readers look for the names of targets.
    extras["targetNames"] = json!((0..space.basis.len()).map(|k| format!("y{k}")).collect::<Vec<_>>());
    file.meshes[mesh]["extras"] = extras;
    file.meshes[mesh]["weights"] = json!(vec![0.0; space.basis.len()]);
    if let Some(motion) = space.motion.as_ref().filter(|m| !m.roots.is_empty() && skin.is_none()) {
        add_places(&mut file, &mut animation, node, motion)?;
    }
    finish(path, file, vec![animation])
}

/// Moves the node as the root moves.
fn add_places(file: &mut Container, animation: &mut Value, node: usize, motion: &BasisMotion) -> Result<()> {
    if motion.roots.len() != motion.weights.len() {
        let (roots, frames) = (motion.roots.len(), motion.weights.len());
        return Err(Error::Invalid(format!("{roots} places for {frames} frames of weights")));
    }
    let times = add_times(file, motion.roots.len(), motion.fps);
    let places: Vec<[f32; 3]> = motion.roots.iter().map(|r| r.position.as_vec3().to_array()).collect();
    // About +Y; headings are unwrapped, so neighbouring keys lie on the same side.
    let turns: Vec<[f32; 4]> = motion
        .roots
        .iter()
        .map(|r| [0.0, (0.5 * r.heading).sin() as f32, 0.0, (0.5 * r.heading).cos() as f32])
        .collect();
    let places = file.floats(&places, Target::Other, false);
    add_channel(animation, node, "translation", times, places);
    let turns = file.floats(&turns, Target::Other, false);
    add_channel(animation, node, "rotation", times, turns);
    Ok(())
}
