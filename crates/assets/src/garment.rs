//! A garment: what is drawn, what is simulated, and the flat cloth it was cut from.

use crate::{Error, Limits, Mesh, Paint, Result};
use glam::{Vec2, Vec3};

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

/// A material of the drawn mesh, by the name its file gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaterialPart {
    /// `Denim`, as in the file.
    pub name: String,
    /// Triangles of the render mesh that have it, ascending.
    pub triangles: Vec<u32>,
}

/// A piece of clothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Garment {
    /// For reports.
    pub name: String,
    /// As it is drawn: the file's own vertices, texture coordinates and triangles.
    pub render: Mesh,
    /// Materials of the drawn mesh; empty where its file names none.
    pub materials: Vec<MaterialPart>,
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
    /// Collars and armholes that a file names: a garment hangs by them, so they are held only when asked for
    /// ([`Garment::hold`]). Pinned to skin that stretches under a swinging arm, cloth is torn between its own pins.
    pub openings: Vec<Pin>,
    /// What is painted.
    pub paint: Paint,
    /// Name of the fabric it is made of unless told otherwise.
    pub fabric: String,
}

impl Garment {
    /// What is painted, for the garment as it hangs at `rest`: one position a simulation vertex.
    pub fn limits(&self, rest: &[Vec3]) -> Limits {
        Limits {
            max_distance_m: self.paint.max_distance_m.clone(),
            backstop_m: self.paint.backstop_m.clone(),
            normals: toile_geometry::vertex_normals(rest, &self.sim.triangles),
        }
    }

    /// Area of one triangle's flat rest shape in square metres, positive for counter-clockwise corners.
    pub fn rest_area(&self, t: usize) -> f32 {
        let [a, b, c] = self.rest[t];
        0.5 * (b - a).perp_dot(c - a)
    }

    /// Holds the garment by these pins and openings only, in the order they were read. Fails with the names it has.
    pub fn hold(&mut self, names: &[String]) -> std::result::Result<(), Vec<String>> {
        let known = || self.pins.iter().chain(&self.openings).map(|p| &p.name);
        if names.iter().any(|n| !known().any(|k| k == n)) {
            return Err(known().cloned().collect());
        }
        let all = std::mem::take(&mut self.pins).into_iter().chain(std::mem::take(&mut self.openings));
        (self.pins, self.openings) = all.partition(|p| names.contains(&p.name));
        Ok(())
    }

    /// Simulated positions in the order of the render vertices, as caches and viewers want them.
    pub fn render_positions(&self, sim: &[Vec3], out: &mut Vec<Vec3>) {
        out.clear();
        out.extend(self.sim_from_render.iter().map(|&s| sim[s as usize]));
    }

    /// Checks that the parts fit together: counts, indices, finite numbers, positive flat areas.
    pub fn check(&self) -> Result<()> {
        let bad = |what: String| Err(Error::Invalid(format!("garment `{}`: {what}", self.name)));
        let (vertices, triangles) = (self.sim.positions.len(), self.sim.triangles.len());
        if self.sim_from_render.len() != self.render.positions.len() {
            let given = self.sim_from_render.len();
            return bad(format!("{given} links for {} render vertices", self.render.positions.len()));
        }
        if let Some(r) = self.sim_from_render.iter().position(|&s| s as usize >= vertices) {
            return bad(format!("render vertex {r} follows no simulation vertex"));
        }
        for (kind, mesh) in [("render", &self.render), ("simulation", &self.sim)] {
            if let Some(v) = mesh.positions.iter().position(|p| !p.is_finite()) {
                return bad(format!("{kind} vertex {v} is not finite"));
            }
            let n = mesh.positions.len();
            if let Some(t) = mesh.triangles.iter().position(|t| t.iter().any(|&i| i as usize >= n)) {
                return bad(format!("{kind} triangle {t} names a vertex beyond the {n} there are"));
            }
        }
        if self.rest.len() != triangles {
            return bad(format!("{} flat shapes for {triangles} triangles", self.rest.len()));
        }
        if let Some(t) = (0..triangles).find(|&t| self.rest_area(t).is_nan() || self.rest_area(t) <= 0.0) {
            return bad(format!("triangle {t} has a flat area of {} m²", self.rest_area(t)));
        }
        let ends = |p: &Panel| u64::from(p.first) + u64::from(p.count);
        if let Some(p) = self.panels.iter().find(|p| ends(p) > triangles as u64) {
            return bad(format!("panel `{}` ends after the last triangle", p.name));
        }
        let drawn = self.render.triangles.len();
        for part in &self.materials {
            if let Some(t) = part.triangles.iter().find(|t| **t as usize >= drawn) {
                return bad(format!("material `{}` names triangle {t} of {drawn}", part.name));
            }
        }
        if let Err(e) = self.paint.check(vertices) {
            return bad(e.to_string());
        }
        let pins = self.pins.iter().map(|p| (&p.name, &p.vertices));
        for (name, list) in pins.chain(self.seams.iter().map(|s| (&s.name, &s.vertices))) {
            if let Some(v) = list.iter().find(|v| **v as usize >= vertices) {
                return bad(format!("`{name}` names vertex {v} of {vertices}"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patch() -> Garment {
        let mesh = Mesh {
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
            triangles: vec![[0, 1, 2]],
            uvs: vec![Vec2::ZERO, Vec2::X, Vec2::Y],
        };
        Garment {
            name: "patch".into(),
            sim: mesh.clone(),
            render: mesh,
            materials: vec![MaterialPart { name: "wool".into(), triangles: vec![0] }],
            sim_from_render: vec![2, 0, 1],
            rest: vec![[Vec2::ZERO, Vec2::X, Vec2::Y]],
            rest_source: RestSource::Mesh,
            panels: vec![Panel { name: "all".into(), first: 0, count: 1 }],
            seams: vec![],
            pins: vec![Pin { name: "top".into(), vertices: vec![2], target: PinTarget::Space }],
            openings: Vec::new(),
            paint: Paint::default(),
            fabric: "cotton".into(),
        }
    }

    #[test]
    fn every_part_that_does_not_fit_is_named() {
        let good = patch();
        good.check().unwrap();
        let mut out = Vec::new();
        good.render_positions(&good.sim.positions, &mut out);
        assert_eq!(out, [Vec3::Y, Vec3::ZERO, Vec3::X]);
        let damages: [(fn(&mut Garment), &str); 7] = [
            (|g| g.sim_from_render[1] = 3, "render vertex 1"),
            (|g| g.sim_from_render.truncate(1), "1 links"),
            (|g| g.sim.positions[0].x = f32::NAN, "simulation vertex 0"),
            (|g| g.render.triangles[0][2] = 9, "render triangle 0"),
            (|g| g.rest[0].swap(1, 2), "flat area"),
            (|g| g.panels[0].count = 2, "panel `all`"),
            (|g| g.pins[0].vertices[0] = 7, "`top` names vertex 7"),
        ];
        for (damage, said) in damages {
            let mut g = good.clone();
            damage(&mut g);
            let fault = g.check().unwrap_err().to_string();
            assert!(fault.contains(said), "{fault}");
        }
    }
}
