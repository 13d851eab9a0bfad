//! Several garments in one world: they touch each other as cloth touches itself.

use crate::garment_fit::{check_fit, untangled};
use crate::put_on;
use crate::scene::{Part, Sample, Scene};
use crate::settings::Settings;
use crate::verdict::Judge;
use crate::{Error, Result, StepReport};
use glam::Vec3;
use std::ops::Range;
use toile_assets::{Body, Fabric, Garment, Ink, Mesh, Paint, Panel, Pin, Seam, Take};

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
    /// Puts garments on one after the other, see `put_on.rs`: an outer one is brought out of those under it, and an outfit
    /// whose garments cannot be parted is refused with the place and what would do.
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
            put_on::over(body, &mut garments[..=outer], &fabrics[..=outer])?;
        }
        Ok(Self::of(garments, fabrics))
    }

    /// Garments that are already put on over each other.
    pub(crate) fn of(garments: Vec<Garment>, fabrics: Vec<Fabric>) -> Self {
        let mut starts = vec![0];
        starts.extend(garments.iter().scan(0, |at, g| {
            *at += g.sim.positions.len();
            Some(*at)
        }));
        let joined = join(&garments);
        Self { garments, fabrics, joined, starts }
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

    /// The names of all garments, as takes of an outfit note them: `pants + skirt`.
    pub fn worn_with(&self) -> String {
        let names: Vec<&str> = self.garments.iter().map(|g| g.name.as_str()).collect();
        names.join(" + ")
    }

    /// An error that names a vertex of the joined garment, with the garment that this vertex is of.
    pub fn name_garment(&self, e: Error) -> Error {
        let vertex = match &e {
            Error::Stuck { vertex, .. } | Error::Ramp { vertex, .. } => *vertex,
            _ => return e,
        };
        let k = self.starts.partition_point(|start| *start <= vertex).clamp(1, self.garments.len()) - 1;
        let others = self.garments.iter().enumerate().filter(|(other, _)| *other != k);
        let others: Vec<String> = others.map(|(_, g)| format!("`{}`", g.name)).collect();
        let garment = self.garments[k].name.clone();
        Error::InOutfit {
            garment,
            vertex: vertex - self.starts[k],
            others: others.join(" and "),
            cause: Box::new(e),
        }
    }

    /// One take for each garment of what was recorded of all. A verdict on how a garment was stretched and how deep it was is
    /// its own; crossings and frames held back are everyone's.
    pub fn split(&self, body: &Body, take: &Take, settings: &Settings) -> Result<Vec<Take>> {
        let worn_with = self.worn_with();
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
    fn what_is_stuck_is_named_with_its_garment() {
        let body = builtin::body("mannequin:female").unwrap();
        let pieces = vec![piece(&body, "pants:300", "denim"), piece(&body, "skirt:300", "silk")];
        let outfit = Outfit::new(&body, pieces).unwrap();
        let stuck = |vertex: usize| Error::Stuck {
            frame: 3,
            vertex,
            cause: crate::Cause::NotFinite,
            retries: 2,
            step_secs: 1e-3,
        };
        let first = outfit.range(1).start;
        let said = |vertex: usize| outfit.name_garment(stuck(vertex)).to_string();
        assert!(said(0).contains("vertex 0 of `pants`, worn with `skirt`"), "{}", said(0));
        assert!(said(first - 1).contains(&format!("vertex {} of `pants`", first - 1)));
        assert!(said(first).contains("vertex 0 of `skirt`, worn with `pants`"), "{}", said(first));
        assert!(outfit.name_garment(Error::Scene("else".into())).to_string() == "else");
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
