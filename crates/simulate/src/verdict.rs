//! Looks at every recorded frame with eyes of its own: no part of the solver is asked whether it did well.

use crate::opening::Opening;
use crate::report::StepReport;
use crate::scene::Scene;
use glam::{Affine3A, Vec3};
use std::cmp::Reverse;
use toile_assets::{Body, PosedBody, Verdict};
use toile_geometry::SelfCrossings;

/// Gathers the verdict on a take while it is recorded.
pub(crate) struct Judge<'a> {
    body: &'a Body,
    skin: PosedBody,
    cloth: SelfCrossings,
    triangles: Vec<[u32; 3]>,
    /// What the garment hung by in the first frame.
    opening: Option<Opening>,
    edges: Vec<([u32; 2], f32)>,
    stretches: Vec<f32>,
    frames: usize,
    verdict: Verdict,
}

impl<'a> Judge<'a> {
    pub fn new(body: &'a Body, scene: &Scene, x: &[Vec3]) -> Self {
        Self {
            body,
            skin: PosedBody::new(body, &body.bones(&body.skeleton.rest_pose())),
            cloth: SelfCrossings::new(x, &scene.triangles),
            triangles: scene.triangles.clone(),
            opening: None,
            edges: scene.edges.iter().copied().zip(scene.edge_lengths.iter().map(|l| *l as f32)).collect(),
            stretches: Vec::new(),
            frames: 0,
            verdict: Verdict::default(),
        }
    }

    /// Takes in the next frame: cloth, bones, and whether the solver had to hold it back.
    pub fn look(&mut self, x: &[Vec3], bones: &[Affine3A], report: &StepReport) {
        let frame = self.frames;
        self.frames += 1;
        self.verdict.held_back_frames += u32::from(report.held_back > 0);
        let crossings = self.cloth.count(x);
        self.verdict.crossings.see(crossings as f32, frame);

        let stretch = |([a, b], flat): &([u32; 2], f32)| x[*a as usize].distance(x[*b as usize]) / flat - 1.0;
        self.stretches.clear();
        self.stretches.extend(self.edges.iter().map(stretch));
        let at = (0.99 * (self.stretches.len().max(1) - 1) as f64).round() as usize;
        if let Some(largest) = self.stretches.iter().copied().max_by(f32::total_cmp) {
            let (_, p99, _) = self.stretches.select_nth_unstable_by(at, f32::total_cmp);
            self.verdict.strain_p99.see(*p99, frame);
            self.verdict.strain.see(largest, frame);
        }
        let (body, triangles) = (self.body, &self.triangles);
        let opening = self.opening.get_or_insert_with(|| Opening::new(body, bones, x, triangles));
        self.verdict.off.see(f32::from(u8::from(opening.is_off(x, bones))), frame);
        let depth_m = self.deeper(x, bones);
        self.verdict.depth_mm.see(1e3 * depth_m, frame);
    }

    /// The verdict on all that was seen.
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// The deepest vertex that counts, if it is deeper than any before, m. Where the body crosses itself is looked up only
    /// for vertices that would set a record.
    fn deeper(&mut self, x: &[Vec3], bones: &[Affine3A]) -> f32 {
        self.skin.repose(self.body, bones);
        let record = 1e-3 * self.verdict.depth_mm.value;
        let deep = x.iter().filter_map(|p| Some((self.skin.depth_m(*p).filter(|d| *d > record)?, *p)));
        let mut deep: Vec<(f32, Vec3)> = deep.collect();
        deep.sort_by_key(|(depth, _)| Reverse(depth.to_bits()));
        deep.iter().find(|(_, p)| !self.skin.crosses_itself_near(*p)).map_or(0.0, |(depth, _)| *depth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;
    use toile_assets::builtin;

    fn looked(body: &Body, bones: &[Affine3A], change: impl Fn(Vec3) -> Vec3) -> Verdict {
        let dress = builtin::garment("dress", body).unwrap();
        let fabric = builtin::fabric("cotton").unwrap();
        let scene = Scene::from_garment(&dress, &fabric, &Settings::worn()).unwrap();
        let mut judge = Judge::new(body, &scene, &dress.sim.positions);
        let x: Vec<Vec3> = dress.sim.positions.iter().map(|p| change(*p)).collect();
        judge.look(&dress.sim.positions, &body.bones(&body.skeleton.rest_pose()), &StepReport::default());
        judge.look(&x, bones, &StepReport { held_back: 4, ..StepReport::default() });
        judge.verdict()
    }

    #[test]
    fn what_is_wrong_with_a_frame_is_seen() {
        let body = builtin::body("mannequin:female").unwrap();
        let rest = body.bones(&body.skeleton.rest_pose());
        let good = looked(&body, &rest, |p| p);
        assert_eq!((good.depth_mm.value, good.crossings.value, good.held_back_frames), (0.0, 0.0, 1));
        // Stretched upwards by half; an edge that runs up is stretched by all of it.
        let long = looked(&body, &rest, |p| Vec3::new(p.x, 1.5 * p.y, p.z));
        assert!((0.45..0.7).contains(&(long.strain.value - good.strain.value)), "{long:?} {good:?}");
        assert_eq!(long.strain.frame, 1);
        assert!(long.strain_p99.value <= long.strain.value && !long.is_true());
        // The front pushed 3 cm into the belly, which is where it counts.
        let pushed = looked(&body, &rest, |p| if p.z > 0.0 { p - 0.03 * Vec3::Z } else { p });
        assert!((5.0..31.0).contains(&pushed.depth_mm.value), "{pushed:?}");
        // Folded through itself: the front pulled through the back.
        let through = looked(&body, &rest, |p| if p.z > 0.0 { p - 2.5 * p.z * Vec3::Z } else { p });
        assert!(through.crossings.value > 0.0, "{through:?}");
        // Thrown off over the head; on the way there its waist has slipped, which is no fault.
        let slipped = looked(&body, &rest, |p| p + 0.1 * Vec3::Y);
        let thrown = looked(&body, &rest, |p| p + 2.0 * Vec3::Y);
        assert_eq!(
            (good.off.value, slipped.off.value, thrown.off.value, thrown.off.frame),
            (0.0, 0.0, 1.0, 1)
        );
        assert!(thrown.faults().join("; ").contains("come off"), "{thrown:?}");
    }

    #[test]
    fn depth_where_the_body_crosses_itself_does_not_count() {
        let body = builtin::body("mannequin:female").unwrap();
        let scene = {
            let dress = builtin::garment("dress", &body).unwrap();
            let fabric = builtin::fabric("cotton").unwrap();
            Scene::from_garment(&dress, &fabric, &Settings::worn()).unwrap()
        };
        // One leg brought into the other.
        let mut pose = body.skeleton.rest_pose();
        let thigh = body.humanoid().joint(toile_assets::Role::LeftUpperLeg).unwrap();
        pose.locals[thigh].rotation = glam::Quat::from_rotation_z(-0.35) * pose.locals[thigh].rotation;
        let bones = body.bones(&pose);
        let mut judge = Judge::new(&body, &scene, &vec![Vec3::ZERO; scene.len()]);
        let skin = body.skinned_positions(&bones);
        judge.skin.repose(&body, &bones);
        let caught = |p: &&Vec3| judge.skin.depth_m(**p).is_some() && judge.skin.crosses_itself_near(**p);
        // A centimetre under the skin, since a point of it is nowhere inside.
        let normals = toile_geometry::vertex_normals(&skin, &body.mesh.triangles);
        let under: Vec<Vec3> = skin.iter().zip(&normals).map(|(p, n)| *p - 0.01 * *n).collect();
        let near = *under.iter().find(caught).expect("the legs cross");
        assert_eq!(judge.deeper(&[near], &bones), 0.0);
        // The middle of the chest is far from them.
        let chest = Vec3::new(0.0, 1.25, 0.0);
        assert!(judge.deeper(&[near, chest], &bones) > 0.02);
    }
}
