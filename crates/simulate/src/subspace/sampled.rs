//! Cubature (An, Kim and James 2008): some triangles, weighted, stand for all of them.
//!
//! What cloth is made of is summed up over a scene of few triangles and hinges with the vertices of the whole one, so that
//! energies and forces are found by the same code. In forces mass, gravity, air and contacts are never sampled; the matrix, which
//! only chooses how far a step goes, has the mass of some vertices for that of all.

use crate::energy::{bending, membrane};
use crate::scene::Scene;
use crate::settings::Bending;
use glam::DVec3;
use std::collections::BTreeMap;
use toile_assets::adaptive::Cubature;

/// A scene of weighted triangles, and the angles of its hinges at the start of a step.
#[derive(Clone, Debug)]
pub(super) struct Sampled {
    pub scene: Scene,
    pub angles: Vec<f64>,
    /// The same triangles over the vertices that the matrix is made of, numbered anew.
    pub matrix: Scene,
    /// Which vertices these are, in ascending order, and how many times each counts its mass.
    pub stations: Vec<u32>,
    pub shares: Vec<f64>,
}

/// Of so many vertices one has its mass in the matrix.
const MASS_EVERY: usize = 6;

/// The pieces of a garment's stiffness, triangle by triangle.
pub(super) struct Pieces {
    /// The bending of each triangle: elements and the share of each that is its own.
    bent: Vec<Vec<(bending::Element, f64)>>,
}

impl Pieces {
    pub fn new(scene: &Scene, kind: Bending) -> Self {
        let mut bent = vec![Vec::new(); scene.triangles.len()];
        for (element, owners) in scene.bent(kind) {
            match owners {
                [s, t] if s == t => bent[s as usize].push((element, 1.0)),
                [s, t] => {
                    bent[s as usize].push((element.clone(), 0.5));
                    bent[t as usize].push((element, 0.5));
                }
            }
        }
        Self { bent }
    }

    /// The gradient of the elastic energy of triangle `t` at `x`, where `angles` are those of all hinges: `add(vertex, force)`.
    pub fn gradient(
        &self,
        scene: &Scene,
        t: usize,
        x: &[DVec3],
        angles: &[f64],
        turns: &[bending::Turn],
        mut add: impl FnMut(usize, DVec3),
    ) {
        let element = &scene.membrane[t];
        let (_, g) = membrane::energy_and_gradient(element, x, [0.0; 3], 0.0);
        (0..3).for_each(|k| add(element.v[k] as usize, g[k]));
        for (element, share) in &self.bent[t] {
            let mut stress = [0.0; 3];
            for (h, row) in element.hinges.iter().zip(&element.rows) {
                let bent = angles[*h as usize] - scene.rest_angles[*h as usize];
                (0..3).for_each(|c| stress[c] += row[c] * bent);
            }
            for (h, row) in element.hinges.iter().zip(&element.rows) {
                let moment = share * (0..3).map(|c| row[c] * stress[c]).sum::<f64>();
                let forces = turns[*h as usize].forces_exactly(moment);
                for (force, &v) in forces.into_iter().zip(&scene.hinges[*h as usize].v) {
                    add(v as usize, force);
                }
            }
        }
    }
}

impl Sampled {
    /// The sampled part of a scene.
    pub fn new(scene: &Scene, kind: Bending, cubature: &Cubature) -> Self {
        let chosen: Vec<(usize, f64)> = cubature
            .triangles
            .iter()
            .zip(&cubature.weights)
            .filter(|(_, w)| **w > 0.0)
            .map(|(t, w)| (*t as usize, f64::from(*w)))
            .collect();
        let pieces = Pieces::new(scene, kind);
        let scaled = |&(t, w): &(usize, f64)| {
            let el = scene.membrane[t];
            membrane::Element { c: el.c.map(|c| c * w), shear: el.shear * w, ..el }
        };
        let mut hinge_numbers = BTreeMap::new();
        for (t, _) in &chosen {
            for (element, _) in &pieces.bent[*t] {
                element.hinges.iter().for_each(|h| _ = hinge_numbers.insert(*h, 0u32));
            }
        }
        hinge_numbers.values_mut().enumerate().for_each(|(k, number)| *number = k as u32);
        let mut bent = Vec::new();
        for (t, w) in &chosen {
            for (element, share) in &pieces.bent[*t] {
                let root = (w * share).sqrt();
                bent.push(bending::Element {
                    hinges: element.hinges.iter().map(|h| hinge_numbers[h]).collect(),
                    rows: element.rows.iter().map(|r| r.map(|v| v * root)).collect(),
                });
            }
        }
        let (edges, triangle_edges) = edges(scene, &chosen);
        let kept = |h: &u32| *h as usize;
        let sampled = Scene {
            triangles: chosen.iter().map(|(t, _)| scene.triangles[*t]).collect(),
            edge_lengths: Vec::new(),
            edges,
            triangle_edges,
            mass: scene.mass.clone(),
            area: scene.area.clone(),
            membrane: chosen.iter().map(scaled).collect(),
            hinges: hinge_numbers.keys().map(|h| scene.hinges[kept(h)]).collect(),
            bending: bending::Operator::new(hinge_numbers.len(), &bent),
            rest_angles: hinge_numbers.keys().map(|h| scene.rest_angles[kept(h)]).collect(),
            samples: Vec::new(),
            pinned: scene.pinned.clone(),
            fabric: scene.fabric.clone(),
            parts: Vec::new(),
        };
        let (matrix, stations, shares) = compact(&sampled);
        Self { angles: sampled.rest_angles.clone(), scene: sampled, matrix, stations, shares }
    }

    /// Measures the angles at `x`, each continued from what it was.
    pub fn measure(&mut self, x: &[DVec3]) {
        let before = self.angles.clone();
        let hinges = &self.scene.hinges;
        bending::angles(0..hinges.len() as u32, hinges, x, &before, &mut self.angles);
    }
}

/// A sampled scene over the vertices of its triangles and hinges, and over some more whose mass stands for that of all.
fn compact(scene: &Scene) -> (Scene, Vec<u32>, Vec<f64>) {
    let weighed: Vec<u32> = (0..scene.len() as u32).step_by(MASS_EVERY).collect();
    let mut stations = weighed.clone();
    stations.extend(scene.triangles.iter().flatten());
    stations.extend(scene.hinges.iter().flat_map(|h| h.v));
    stations.sort_unstable();
    stations.dedup();
    let mut slots = vec![0u32; scene.len()];
    stations.iter().enumerate().for_each(|(slot, &v)| slots[v as usize] = slot as u32);
    let whole: f64 = scene.mass.iter().sum();
    let share = whole / weighed.iter().map(|&v| scene.mass[v as usize]).sum::<f64>();
    let shares = stations.iter().map(|&v| if (v as usize).is_multiple_of(MASS_EVERY) { share } else { 0.0 });
    let to = |v: u32| slots[v as usize];
    let matrix = Scene {
        triangles: scene.triangles.iter().map(|t| t.map(to)).collect(),
        edges: scene.edges.iter().map(|e| e.map(to)).collect(),
        membrane: scene.membrane.iter().map(|el| membrane::Element { v: el.v.map(to), ..*el }).collect(),
        hinges: scene.hinges.iter().map(|h| bending::Hinge { v: h.v.map(to) }).collect(),
        mass: stations.iter().map(|&v| scene.mass[v as usize]).collect(),
        area: stations.iter().map(|&v| scene.area[v as usize]).collect(),
        pinned: stations.iter().map(|&v| scene.pinned[v as usize]).collect(),
        ..scene.clone()
    };
    let shares = shares.collect();
    (matrix, stations, shares)
}

/// The edges of some triangles, numbered anew, and which of them each has.
fn edges(scene: &Scene, chosen: &[(usize, f64)]) -> (Vec<[u32; 2]>, Vec<[(u32, bool); 3]>) {
    let mut numbers = BTreeMap::new();
    for (t, _) in chosen {
        scene.triangle_edges[*t].iter().for_each(|(e, _)| _ = numbers.insert(*e, 0u32));
    }
    numbers.values_mut().enumerate().for_each(|(k, number)| *number = k as u32);
    let edges = numbers.keys().map(|e| scene.edges[*e as usize]).collect();
    let of = |(t, _): &(usize, f64)| scene.triangle_edges[*t].map(|(e, reversed)| (numbers[&e], reversed));
    (edges, chosen.iter().map(of).collect())
}
