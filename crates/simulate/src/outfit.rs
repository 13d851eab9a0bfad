//! Several garments in one world: they touch each other as cloth touches itself.

use crate::garment_fit::{check_fit, untangled};
use crate::scene::{Part, Sample, Scene};
use crate::settings::Settings;
use crate::verdict::Judge;
use crate::{Error, Result, StepReport};
use glam::Vec3;
use std::ops::Range;
use toile_assets::{
    Body, Fabric, Garment, Ink, Mesh, Paint, Panel, Pin, Seam, Take, TriangleTree, vertex_normals,
};
use toile_geometry::{Crossing, crossings};

/// Cloth of an outer garment that starts this far behind an inner one is brought out, m; what is deeper is on another side
/// of the body.
const BEHIND_M: f32 = 0.05;
/// Room that is left between garments at the start besides the thickness of their cloth, m.
const ROOM_M: f32 = 1e-3;
/// How often outer cloth is brought out before it is given up.
const ROUNDS: usize = 12;

/// Garments worn together, the innermost first, each of its own fabric.
#[derive(Clone, Debug)]
pub struct Outfit {
    garments: Vec<Garment>,
    fabrics: Vec<Fabric>,
    joined: Garment,
    /// First vertex of each in the joined garment, and the end of the last.
    starts: Vec<usize>,
}

impl Outfit {
    /// Puts garments on one after the other. Where an outer one starts within or behind an inner one it is brought out by up
    /// to 5 cm; where that does not part them the outfit is refused, with the place.
    pub fn new(body: &Body, pieces: Vec<(Garment, Fabric)>) -> Result<Self> {
        if pieces.is_empty() {
            return Err(Error::Scene("an outfit of no garments".into()));
        }
        let (mut garments, fabrics): (Vec<Garment>, Vec<Fabric>) = pieces.into_iter().unzip();
        for garment in &mut garments {
            check_fit(body, garment)?;
            garment.sim.positions = untangled(garment);
        }
        name_apart(&mut garments);
        for outer in 1..garments.len() {
            let (inner, rest) = garments.split_at_mut(outer);
            let gaps = fabrics[..outer].iter().map(|f| 0.5 * (f.thickness + fabrics[outer].thickness));
            let gaps: Vec<f32> = gaps.map(|gap| gap as f32 + ROOM_M).collect();
            bring_out(inner, &mut rest[0], &gaps)?;
        }
        let mut starts = vec![0];
        starts.extend(garments.iter().scan(0, |at, g| {
            *at += g.sim.positions.len();
            Some(*at)
        }));
        let joined = join(&garments);
        Ok(Self { garments, fabrics, joined, starts })
    }

    /// The garments, the innermost first, as they are put on.
    pub fn garments(&self) -> &[Garment] {
        &self.garments
    }

    /// What they are made of.
    pub fn fabrics(&self) -> &[Fabric] {
        &self.fabrics
    }

    /// All of them as one garment.
    pub fn joined(&self) -> &Garment {
        &self.joined
    }

    /// The vertices of one in the joined garment.
    pub fn range(&self, garment: usize) -> Range<usize> {
        self.starts[garment]..self.starts[garment + 1]
    }

    /// The cloth of all garments.
    pub fn scene(&self, settings: &Settings) -> Result<Scene> {
        let scenes = self.garments.iter().zip(&self.fabrics);
        let scenes: Result<Vec<Scene>> = scenes.map(|(g, f)| Scene::from_garment(g, f, settings)).collect();
        Ok(join_scenes(scenes?))
    }

    /// One take for each garment of what was recorded of all. A verdict on how a garment was stretched and how deep it was is
    /// its own; crossings and frames held back are everyone's.
    pub fn split(&self, body: &Body, take: &Take, settings: &Settings) -> Result<Vec<Take>> {
        let names: Vec<&str> = self.garments.iter().map(|g| g.name.as_str()).collect();
        let worn_with = names.join(" + ");
        let mut takes = Vec::new();
        for (k, (garment, fabric)) in self.garments.iter().zip(&self.fabrics).enumerate() {
            let range = self.range(k);
            let part = |all: &[Vec3]| all.get(range.clone()).unwrap_or_default().to_vec();
            let frames = (0..take.len()).map(|f| part(take.frame(f)));
            let mut own = Take {
                vertices: range.len(),
                triangles: garment.sim.triangles.clone(),
                positions: frames.flatten().collect(),
                draped: part(&take.draped),
                ..take.clone()
            };
            let scene = Scene::from_garment(garment, fabric, settings)?;
            let mut judge = Judge::new(body, &scene, own.frame(0));
            for f in 0..own.len() {
                judge.look(own.frame(f), own.frame_bones(f), &StepReport::default());
            }
            if let Some(all) = &take.verdict {
                let (crossings, held_back_frames) = (all.crossings, all.held_back_frames);
                let verdict = toile_assets::Verdict { crossings, held_back_frames, ..judge.verdict() };
                own.verdict = Some(verdict);
            }
            if let Some(from) = &mut own.provenance {
                (from.garment, from.fabric) = (garment.fingerprint(), fabric.fingerprint());
                // Cloth under cloth moves otherwise than alone: takes of the two are not learned from together.
                let mut ink = Ink::default();
                ink.text(&format!("{:?} in an outfit, garment {k} of", from.solver));
                for (garment, fabric) in self.garments.iter().zip(&self.fabrics) {
                    ink.text(&format!("{:?} {:?}", garment.fingerprint(), fabric.fingerprint()));
                }
                from.solver = ink.print();
            }
            for (key, value) in &mut own.notes {
                match key.as_str() {
                    "garment" => value.clone_from(&garment.name),
                    "fabric" => value.clone_from(&fabric.name),
                    _ => {}
                }
            }
            own.notes.push(("outfit".into(), worn_with.clone()));
            takes.push(own);
        }
        Ok(takes)
    }
}

/// Two garments of one name get numbers.
fn name_apart(garments: &mut [Garment]) {
    for k in 1..garments.len() {
        let (before, after) = garments.split_at_mut(k);
        let taken = |name: &str| before.iter().any(|g| g.name == name);
        let plain = after[0].name.clone();
        let mut number = 2;
        while taken(&after[0].name) {
            after[0].name = format!("{plain}.{number}");
            number += 1;
        }
    }
}

/// Moves vertices of `outer` that start within or behind `inner` garments to their outsides, until nothing crosses.
fn bring_out(inner: &[Garment], outer: &mut Garment, gaps: &[f32]) -> Result<()> {
    struct Under {
        tree: TriangleTree,
        normals: Vec<Vec3>,
    }
    let under: Vec<Under> = inner
        .iter()
        .map(|g| Under {
            tree: TriangleTree::new(&g.sim.positions, &g.sim.triangles),
            normals: vertex_normals(&g.sim.positions, &g.sim.triangles),
        })
        .collect();
    let mut links = vec![Vec::new(); outer.sim.positions.len()];
    for edge in outer.sim.topology().edges {
        let [a, b] = edge.ends;
        links[a as usize].push(b);
        links[b as usize].push(a);
    }
    for round in 0..ROUNDS {
        let mut out = vec![Vec3::ZERO; outer.sim.positions.len()];
        for (moved, p) in out.iter_mut().zip(&outer.sim.positions) {
            for ((g, under), gap) in inner.iter().zip(&under).zip(gaps) {
                let Some(near) = under.tree.closest_within(*p + *moved, BEHIND_M) else { continue };
                let corners = g.sim.triangles[near.triangle as usize];
                let normal: Vec3 =
                    (0..3).map(|k| under.normals[corners[k] as usize] * near.barycentric[k]).sum();
                let normal = normal.normalize_or_zero();
                // A little more each round: edges between vertices that are out may still cut through.
                let wanted = gap * (1.0 + 0.25 * round as f32);
                let lacks = wanted - (*p + *moved - near.point).dot(normal);
                if lacks > 0.0 {
                    *moved += normal * lacks;
                }
            }
        }
        // Neighbours go along in part, so that the border of what was moved is no step.
        let spread: Vec<Vec3> = (0..out.len())
            .map(|v| {
                let near = links[v]
                    .iter()
                    .map(|u| out[*u as usize])
                    .max_by(|a, b| a.length().total_cmp(&b.length()));
                let near = near.unwrap_or(Vec3::ZERO) * 0.5;
                if near.length() > out[v].length() { near } else { out[v] }
            })
            .collect();
        outer.sim.positions.iter_mut().zip(&spread).for_each(|(p, moved)| *p += *moved);
        if inner.iter().all(|g| crossed(g, outer).is_none()) {
            return Ok(());
        }
    }
    let Some((within, at)) = inner.iter().find_map(|g| Some((g, crossed(g, outer)?))) else { return Ok(()) };
    Err(Error::Scene(format!(
        "garments `{}` and `{}` start crossed at ({:.2}, {:.2}, {:.2}) and cannot be parted by moving the outer one; name \
         the inner one first, or place them apart",
        within.name, outer.name, at.x, at.y, at.z
    )))
}

/// Where two garments cross.
fn crossed(a: &Garment, b: &Garment) -> Option<Vec3> {
    let [of_a, of_b] = crossings(&a.sim, &b.sim);
    let at = |mesh: &Mesh, c: &Crossing| {
        0.5 * (mesh.positions[c.edge[0] as usize] + mesh.positions[c.edge[1] as usize])
    };
    of_a.first().map(|c| at(&a.sim, c)).or_else(|| of_b.first().map(|c| at(&b.sim, c)))
}

/// All garments as one.
fn join(garments: &[Garment]) -> Garment {
    let mut all = garments[0].clone();
    (all.paint, all.openings) = (Paint::default(), Vec::new());
    for g in &garments[1..] {
        let (vertices, drawn) = (all.sim.positions.len() as u32, all.render.positions.len() as u32);
        let (triangles, faces) = (all.sim.triangles.len() as u32, all.render.triangles.len() as u32);
        let moved = |list: &[u32]| list.iter().map(|v| v + vertices).collect::<Vec<u32>>();
        all.name = format!("{} + {}", all.name, g.name);
        all.fabric = format!("{} + {}", all.fabric, g.fabric);
        append(&mut all.sim, &g.sim);
        append(&mut all.render, &g.render);
        all.sim_from_render.extend(moved(&g.sim_from_render));
        all.rest.extend_from_slice(&g.rest);
        all.materials.extend(g.materials.iter().cloned().map(|mut m| {
            m.triangles.iter_mut().for_each(|t| *t += faces);
            m
        }));
        all.panels.extend(g.panels.iter().map(|p| Panel { first: p.first + triangles, ..p.clone() }));
        all.seams.extend(g.seams.iter().map(|s| Seam { vertices: moved(&s.vertices), ..s.clone() }));
        all.pins.extend(g.pins.iter().map(|p| Pin { vertices: moved(&p.vertices), ..p.clone() }));
        debug_assert_eq!(drawn as usize + g.render.positions.len(), all.render.positions.len());
    }
    all
}

fn append(all: &mut Mesh, more: &Mesh) {
    let first = all.positions.len() as u32;
    if !all.uvs.is_empty() || !more.uvs.is_empty() {
        all.uvs.resize(all.positions.len(), glam::Vec2::ZERO);
        all.uvs.extend_from_slice(&more.uvs);
        all.uvs.resize(all.positions.len() + more.positions.len(), glam::Vec2::ZERO);
    }
    all.positions.extend_from_slice(&more.positions);
    all.triangles.extend(more.triangles.iter().map(|t| t.map(|v| v + first)));
}

/// The cloth of all scenes in one. What the solver has once for all cloth is the largest thickness and the mean damping by
/// mass; stiffness, mass, friction and drag are each garment's own.
fn join_scenes(scenes: Vec<Scene>) -> Scene {
    let mut scenes = scenes.into_iter();
    let Some(mut all) = scenes.next() else { unreachable!("an outfit has a garment") };
    all.parts = vec![Part { first_vertex: 0, fabric: all.fabric.clone() }];
    let mut between: Vec<Sample> = all.samples.split_off(all.len());
    for s in scenes {
        let first = all.len() as u32;
        let (edges, hinges) = (all.edges.len() as u32, all.hinges.len());
        let (own, more) = (all.mass.iter().sum::<f64>(), s.mass.iter().sum::<f64>());
        let sample = |s: &Sample| Sample { v: s.v.map(|v| v + first), ..*s };
        all.samples.extend(s.samples[..s.len()].iter().map(sample));
        between.extend(s.samples[s.len()..].iter().map(sample));
        all.triangles.extend(s.triangles.iter().map(|t| t.map(|v| v + first)));
        all.edges.extend(s.edges.iter().map(|e| e.map(|v| v + first)));
        all.edge_lengths.extend_from_slice(&s.edge_lengths);
        all.triangle_edges.extend(s.triangle_edges.iter().map(|t| t.map(|(e, back)| (e + edges, back))));
        all.mass.extend_from_slice(&s.mass);
        all.area.extend_from_slice(&s.area);
        all.membrane.extend(s.membrane.iter().cloned().map(|mut el| {
            el.v = el.v.map(|v| v + first);
            el
        }));
        all.hinges.extend(s.hinges.iter().cloned().map(|mut hinge| {
            hinge.v = hinge.v.map(|v| v + first);
            hinge
        }));
        all.bending.append(&s.bending, hinges as u32);
        all.rest_angles.extend_from_slice(&s.rest_angles);
        all.pinned.extend_from_slice(&s.pinned);
        all.fabric.name = format!("{} + {}", all.fabric.name, s.fabric.name);
        all.fabric.thickness = all.fabric.thickness.max(s.fabric.thickness);
        all.fabric.damping_secs =
            (own * all.fabric.damping_secs + more * s.fabric.damping_secs) / (own + more);
        all.parts.push(Part { first_vertex: first, fabric: s.fabric });
    }
    all.samples.extend(between);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RecordSettings, Recorder};
    use toile_assets::builtin;
    use toile_lab::check;

    fn piece(body: &Body, garment: &str, fabric: &str) -> (Garment, Fabric) {
        (builtin::garment(garment, body).unwrap(), builtin::fabric(fabric).unwrap())
    }

    #[test]
    fn scenes_that_are_joined_keep_what_each_garment_is() {
        let body = builtin::body("mannequin:female").unwrap();
        let pieces = vec![piece(&body, "pants:300", "denim"), piece(&body, "skirt:300", "silk")];
        let settings = Settings::worn();
        let alone: Vec<Scene> =
            pieces.iter().map(|(g, f)| Scene::from_garment(g, f, &settings).unwrap()).collect();
        let outfit = Outfit::new(&body, pieces).unwrap();
        let all = outfit.scene(&settings).unwrap();
        let [a, b] = [&alone[0], &alone[1]];
        assert_eq!(all.len(), a.len() + b.len());
        assert_eq!(all.samples.len(), a.samples.len() + b.samples.len());
        // One point a vertex first, in order.
        assert!((0..all.len()).all(|v| all.samples[v].v[0] as usize == v && all.samples[v].w[0] == 1.0));
        let mass = |s: &Scene| s.mass.iter().sum::<f64>();
        assert!((mass(&all) - mass(a) - mass(b)).abs() < 1e-12);
        assert_eq!(all.fabric_of(0).name, "denim");
        assert_eq!(all.fabric_of(a.len() as u32 - 1).name, "denim");
        assert_eq!(all.fabric_of(a.len() as u32).name, "silk");
        // Forces on angles are each garment's own.
        let theta: Vec<f64> = (0..all.hinges.len()).map(|h| (h as f64 * 0.7).sin()).collect();
        let mut moments = vec![0.0; theta.len()];
        all.bending.apply(&theta, &mut moments);
        let mut own = vec![0.0; b.hinges.len()];
        b.bending.apply(&theta[a.hinges.len()..], &mut own);
        assert_eq!(&moments[a.hinges.len()..], own);
        outfit.joined().check().unwrap();
    }

    #[test]
    fn an_outer_garment_that_starts_inside_is_brought_out_or_refused_with_the_place() {
        let body = builtin::body("mannequin:female").unwrap();
        // The same skirt twice starts in the same place.
        let twice = vec![piece(&body, "skirt:300", "cotton"), piece(&body, "skirt:300", "cotton")];
        let outfit = Outfit::new(&body, twice).unwrap();
        let [inner, outer] = [0, 1].map(|k| &outfit.garments()[k]);
        assert_eq!(crossings(&inner.sim, &outer.sim).map(|c| c.len()), [0, 0]);
        assert_ne!(inner.name, outer.name);
        let moved = outer.sim.positions.iter().zip(&inner.sim.positions).map(|(a, b)| a.distance(*b));
        assert!(moved.clone().fold(f32::INFINITY, f32::min) > 2e-3);
        assert!(moved.fold(0.0, f32::max) < 0.03);
        // One that passes through the other from front to back cannot be parted.
        let (mut across, cotton) = piece(&body, "skirt:300", "cotton");
        across.sim.positions.iter_mut().for_each(|p| p.x *= 1.0 + 0.6 * (p.y - 0.6));
        across.sim.positions.iter_mut().for_each(|p| {
            if p.y < 0.7 {
                p.z = -p.z - 0.3
            }
        });
        across.name = "turned".into();
        let refused = Outfit::new(&body, vec![piece(&body, "skirt:300", "cotton"), (across, cotton)]);
        let said = refused.expect_err("it starts crossed").to_string();
        assert!(said.contains("start crossed at (") || said.contains("inside the body"), "{said}");
    }

    #[test]
    fn trousers_under_a_skirt_are_recorded_together_and_never_cross() {
        let body = builtin::body("mannequin:female").unwrap();
        let outfit =
            Outfit::new(&body, vec![piece(&body, "pants:300", "denim"), piece(&body, "skirt:300", "cotton")]);
        let outfit = outfit.unwrap();
        let walk = builtin::motion("walk:1.2", &body.skeleton).unwrap().trimmed(0.0, 0.5).unwrap();
        let settings = RecordSettings::default();
        let mut recorder = Recorder::outfit(&body, &outfit).settings(settings.clone());
        let draped = recorder.drape_outfit(&outfit).unwrap();
        let take = recorder.record_draped(&draped, &walk).unwrap().take;
        let takes = outfit.split(&body, &take, &settings.solver).unwrap();
        assert_eq!(takes.len(), 2);
        let all = outfit.scene(&settings.solver).unwrap();
        for f in 0..take.len() {
            let x: Vec<_> = take.frame(f).iter().map(|p| p.as_dvec3()).collect();
            assert_eq!(check::crossings(&all.triangles, &all.edges, &x), 0, "frame {f}");
        }
        for (own, garment) in takes.iter().zip(outfit.garments()) {
            assert_eq!(own.vertices, garment.sim.positions.len());
            assert_eq!(own.draped.len(), own.vertices);
            let verdict = own.verdict.unwrap();
            assert!(verdict.is_true(), "{}: {:?}", garment.name, verdict.faults());
        }
        let prints: Vec<_> = takes.iter().map(|t| t.provenance.as_ref().unwrap().solver).collect();
        assert_ne!(prints[0], take.provenance.as_ref().unwrap().solver);
    }
}
