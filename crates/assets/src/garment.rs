//! A garment: what is drawn, what is simulated, and the flat cloth it was cut from.

use crate::Mesh;
use glam::Vec2;

/// Where the flat rest shape came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestSource {
    /// Drawn as panels.
    Panels,
    /// Texture coordinates in metres.
    Uv,
    /// The mesh itself, each triangle laid flat.
    Mesh,
}

/// What a pinned vertex follows.
#[derive(Clone, Debug, PartialEq)]
pub enum PinTarget {
    /// The place where it is at the start.
    Space,
    /// A joint, by name.
    Joint(String),
    /// The nearest point of the body's surface, at the distance it has at the start.
    Body,
}

/// A named set of vertices that do not move freely: a waistband, a collar.
#[derive(Clone, Debug, PartialEq)]
pub struct Pin {
    /// `waist`, `neckline`.
    pub name: String,
    /// Indices into the simulation mesh.
    pub vertices: Vec<u32>,
    /// What they follow.
    pub target: PinTarget,
}

/// A piece of flat cloth. Its 2D coordinates are in [`Garment::rest`].
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// `front`, `back skirt left`.
    pub name: String,
    /// Triangles `first..first + count` of the simulation mesh.
    pub first: u32,
    /// How many triangles.
    pub count: u32,
}

/// Where two panel edges were sewn together. The simulation mesh is welded there.
#[derive(Clone, Debug, PartialEq)]
pub struct Seam {
    /// `side left`.
    pub name: String,
    /// The welded vertices in order along the seam.
    pub vertices: Vec<u32>,
    /// Lengths of the two flat edges in metres; equal within 1 % unless `gather` says otherwise.
    pub lengths: [f32; 2],
    /// Declared ratio `lengths[0] / lengths[1]`: 1 for a plain seam.
    pub gather: f32,
}

/// A piece of clothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Garment {
    /// For reports.
    pub name: String,
    /// As it is drawn: the file's own vertices, texture coordinates and triangles.
    pub render: Mesh,
    /// For each render vertex the simulation vertex it follows.
    pub sim_from_render: Vec<u32>,
    /// As it is simulated: welded, clean, placed around the body in its rest pose.
    pub sim: Mesh,
    /// Flat rest shape of each simulation triangle in metres; +X is weft (across), +Y is warp (along the grain).
    pub rest: Vec<[Vec2; 3]>,
    /// Where `rest` came from.
    pub rest_source: RestSource,
    /// Pieces of cloth; may be empty for meshes from files.
    pub panels: Vec<Panel>,
    /// Where they were sewn.
    pub seams: Vec<Seam>,
    /// What is held.
    pub pins: Vec<Pin>,
    /// Name of the fabric it is made of unless told otherwise.
    pub fabric: String,
}

impl Garment {
    /// Area of one triangle's flat rest shape in square metres, positive for counter-clockwise corners.
    pub fn rest_area(&self, t: usize) -> f32 {
        let [a, b, c] = self.rest[t];
        0.5 * (b - a).perp_dot(c - a)
    }
}
