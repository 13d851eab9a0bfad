//! What one pane shows in the present frame.

use super::{Viewer, Way};
use crate::{Camera, Item, Material, Scene, heat_colours, srgb, uncovered_m};
use glam::Vec3;
use std::sync::Arc;

/// As the program's pictures have it.
const DEPTH_SLACK_M: f32 = 0.05;

/// A body in a frame.
#[derive(Clone, Default)]
pub(super) struct Posed {
    frame: f64,
    positions: Arc<[Vec3]>,
    normals: Option<Arc<[Vec3]>>,
}

/// Vertices and colours of a pane's present frame.
#[derive(Default)]
pub struct PaneFrame {
    body: Posed,
    cloth: Vec<Vec3>,
    colours: Option<Vec<Vec3>>,
    ghost: Option<Vec<Vec3>>,
    /// Distance that is red, where error is shown as colour, cm.
    pub red_cm: Option<f32>,
}

fn mixed(a: &[Vec3], b: &[Vec3], t: f32) -> Vec<Vec3> {
    if t <= 0.0 { a.to_vec() } else { a.iter().zip(b).map(|(a, b)| a.lerp(*b, t)).collect() }
}

impl Viewer {
    /// What a pane shows now.
    pub fn pane(&mut self, pane: usize) -> PaneFrame {
        let (f, next, t) = self.playback.between();
        let mut out = PaneFrame { body: self.posed(), ..PaneFrame::default() };
        let Some(track) = self.tracks.get_mut(pane) else { return out };
        let Some(now) = track.frame(f) else { return out };
        out.cloth = mixed(now, track.frame(next).unwrap_or(now), t);
        if track.leads_m.is_none() {
            let garments = [(out.cloth.as_slice(), track.mesh.triangles())];
            let triangles = self.cast.figure.mesh().triangles();
            track.leads_m = Some(uncovered_m(&out.body.positions, triangles, &garments, DEPTH_SLACK_M));
        }
        let truth = self.cast.take.as_ref().filter(|t| t.vertices == out.cloth.len() && f < t.len());
        let Some(take) = truth.filter(|_| track.way != Way::Full) else { return out };
        let truth = mixed(take.frame(f), take.frame(next.min(take.len() - 1)), t);
        if self.showing.heat {
            let cm: Vec<f32> = out.cloth.iter().zip(&truth).map(|(a, b)| 100.0 * a.distance(*b)).collect();
            let errors: Vec<f32> = track.notes.iter().filter_map(|n| n.error_cm).collect();
            let mean = errors.iter().sum::<f32>() / errors.len().max(1) as f32;
            let red = (2.0 * mean).clamp(0.2, 50.0);
            out.colours = Some(heat_colours(&cm, red));
            out.red_cm = Some(red);
        }
        out.ghost = self.showing.ghost.then_some(truth);
        out
    }

    /// The body now: skinned once, however many panes show it.
    fn posed(&mut self) -> Posed {
        let frame = self.playback.frame;
        if let Some(posed) = self.posed.as_ref().filter(|p| p.frame == frame) {
            return posed.clone();
        }
        let (f, next, t) = self.playback.between();
        let bones = &self.cast.shot.bones;
        let at = |f: usize| self.cast.body.skinned_positions(&bones[f.min(bones.len() - 1)]);
        let positions = if t > 0.0 { mixed(&at(f), &at(next), t) } else { at(f) };
        let normals = self.cast.figure.normals(&positions).map(Arc::from);
        let posed = Posed { frame, positions: positions.into(), normals };
        self.posed = Some(posed.clone());
        posed
    }

    /// The scene and camera of a pane, for a picture of `aspect`.
    pub fn scene<'a>(&'a self, pane: usize, frame: &'a PaneFrame, aspect: f32) -> (Scene<'a>, Camera) {
        let mut scene = Scene::new();
        scene.ground = Some(crate::Ground { height_m: 0.0, grid_m: 0.5 });
        let track = self.tracks.get(pane).filter(|_| !frame.cloth.is_empty());
        let leads = track.and_then(|t| t.leads_m.as_deref()).filter(|_| self.showing.cloth);
        if self.showing.body || track.is_none() {
            let Posed { positions, normals, .. } = &frame.body;
            let items = self.cast.figure.items(positions, normals.as_deref(), leads);
            scene.items.extend(items);
        }
        if let Some(track) = track.filter(|_| self.showing.cloth) {
            let mut material = track.material;
            material.wireframe = self.showing.wireframe;
            if self.showing.body {
                material.depth_slack_m = DEPTH_SLACK_M;
            }
            if frame.colours.is_some() {
                material = Material {
                    flatness: 0.65,
                    hem_m: 0.0,
                    wireframe: material.wireframe,
                    depth_slack_m: material.depth_slack_m,
                    ..Material::cloth(Vec3::ONE)
                };
            }
            let mut item = Item::new(&track.mesh, &frame.cloth, material);
            item.colours = frame.colours.as_deref();
            scene.items.push(item);
            if let Some(ghost) = &frame.ghost {
                let amber = Material::cloth(srgb(0xe0, 0x9a, 0x2b));
                let material = Material { opacity: 0.35, hem_m: 0.0, ..amber };
                scene.items.push(Item::new(&track.mesh, ghost, material));
            }
        }
        (scene, self.camera(aspect))
    }

    fn camera(&self, aspect: f32) -> Camera {
        let (lo, hi) = self.cast.body.mesh.bounds();
        // Arms swing and skirts fly: room around the rest pose, but not for its spread arms.
        let half = 0.25 * (hi.y - lo.y);
        let around = (Vec3::new(-half, lo.y, -half), Vec3::new(half, hi.y, half));
        let (f, next, t) = self.playback.between();
        let roots = &self.cast.shot.roots;
        let at = |f: usize| roots.get(f).map_or(Vec3::ZERO, |r| r.position.as_vec3());
        let heading = roots.first().map_or(0.0, |r| r.heading.to_degrees() as f32);
        self.orbit.camera(around, heading, at(f).lerp(at(next), t), aspect)
    }
}
