//! Depth consistency (de Aguiar et al. 2010, §6.2) on a walk: how much body shows through a garment that has sunk into it,
//! and how much of a hand in front of the garment is lost for it. Judged by the pixels of the very renderer that ships.
//!
//! What a pixel should show comes from the same garment, cut four times as fine and pushed out of trunk and legs: then
//! plain depth is right. Body, hands and cloth are painted in three colours, so that a picture is a map of what is seen.

use glam::Vec3;
use std::collections::HashMap;
use std::sync::Arc;
use toile_assets::{AttachmentSettings, Body, Model, RootTrack, TriangleTree, attach, builtin};
use toile_run::{Stable, Tier};
use toile_show::{Camera, Item, Material, MeshHandle, Renderer, Scene, View, uncovered_m};

/// What `toile render` uses.
const SLACK_M: f32 = 0.05;
const SIZE: u32 = 320;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Surface {
    Trunk,
    Arm,
    Cloth,
    Nothing,
}

/// Pixels over all frames and views.
#[derive(Debug, Default)]
struct Counts {
    pixels: usize,
    cloth: usize,
    arm: usize,
    /// Trunk or leg where cloth should be and the garment lies somewhere along the ray, with plain depth and with slack.
    through_plain: usize,
    through_slack: usize,
    /// Trunk or leg beside the garment's own outline, where the pushed-out garment is wider by a few millimetres and more:
    /// no order of depth mends that.
    beside: usize,
    /// Cloth where an arm should be, which plain depth does not have.
    over_arm: usize,
    /// Cloth where trunk or leg should be: along necklines and hems.
    over_trunk: usize,
}

struct Stage<'a> {
    body: &'a Body,
    renderer: Renderer,
    /// Triangles of the body that are neither arm nor hand.
    trunk: Vec<[u32; 3]>,
    colours: Vec<Vec3>,
    drawn: MeshHandle,
    whole: MeshHandle,
    fine: Fine,
    leads_m: Vec<f32>,
}

impl<'a> Stage<'a> {
    /// `first` is the first frame's skin and cloth, from which it is found what the garment covers.
    fn new(body: &'a Body, triangles: &[[u32; 3]], first: (&[Vec3], &[Vec3]), hidden: &[u32]) -> Self {
        let is_arm = |v: usize| {
            let heaviest = body.skin.row(v).max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(joint, _)| joint);
            let name = body.skeleton.joints[heaviest as usize].name.to_lowercase();
            ["arm", "hand", "finger", "thumb", "elbow", "wrist"].iter().any(|part| name.contains(part))
        };
        let arm: Vec<bool> = (0..body.mesh.positions.len()).map(is_arm).collect();
        assert!(arm.iter().filter(|a| **a).count() > 100, "the arms are found by their joints' names");
        let trunk = body.mesh.triangles.iter().filter(|t| !t.iter().any(|v| arm[*v as usize])).copied();
        let whole = MeshHandle::new(&body.mesh.triangles);
        let mut gone = vec![false; body.mesh.triangles.len()];
        hidden.iter().for_each(|t| gone[*t as usize] = true);
        Self {
            body,
            renderer: Renderer::new().unwrap_or_else(|e| panic!("{e}")),
            trunk: trunk.collect(),
            colours: arm.iter().map(|arm| if *arm { Vec3::Z } else { Vec3::X }).collect(),
            drawn: whole.without(&gone),
            whole,
            fine: Fine::new(triangles, first.1.len()),
            leads_m: uncovered_m(first.0, &body.mesh.triangles, &[(first.1, triangles)], SLACK_M),
        }
    }

    fn count(&mut self, skin: &[Vec3], cloth: &[Vec3], mesh: &MeshHandle, view: View, counts: &mut Counts) {
        let fine = self.fine.positions(cloth);
        let tree = TriangleTree::new(skin, &self.trunk);
        let truth: Vec<Vec3> = fine.iter().map(|p| pushed(&tree, skin, &self.trunk, *p)).collect();
        let camera = Camera::framing_scene(
            &Scene::new().with(Item::new(&self.whole, skin, Material::body())),
            view,
            1.0,
        );
        let fine_mesh = self.fine.mesh.clone();
        let truth = self.seen(skin, (&fine_mesh, &truth), 0.0, &camera);
        let plain = self.seen(skin, (mesh, cloth), 0.0, &camera);
        let slack = self.seen(skin, (mesh, cloth), SLACK_M, &camera);
        let alone = self.seen(&[], (mesh, cloth), 0.0, &camera);
        let inner = inner(&truth);
        for (k, (((truth, plain), slack), alone)) in
            truth.iter().zip(&plain).zip(&slack).zip(&alone).enumerate()
        {
            counts.pixels += 1;
            counts.cloth += usize::from(*truth == Surface::Cloth);
            counts.arm += usize::from(*truth == Surface::Arm);
            let along = *alone == Surface::Cloth && inner[k];
            counts.through_plain +=
                usize::from((*truth, *plain, along) == (Surface::Cloth, Surface::Trunk, true));
            counts.through_slack +=
                usize::from((*truth, *slack, along) == (Surface::Cloth, Surface::Trunk, true));
            counts.beside += usize::from((*truth, *slack, along) == (Surface::Cloth, Surface::Trunk, false));
            let new_cloth = *slack == Surface::Cloth && *plain != Surface::Cloth;
            counts.over_arm += usize::from(new_cloth && *truth == Surface::Arm);
            counts.over_trunk += usize::from(new_cloth && *truth == Surface::Trunk);
        }
    }

    fn seen(
        &mut self,
        skin: &[Vec3],
        (mesh, cloth): (&MeshHandle, &[Vec3]),
        slack_m: f32,
        camera: &Camera,
    ) -> Vec<Surface> {
        let flat = Material { flatness: 1.0, ..Material::default() };
        let paint = Material { base: Vec3::Y, two_sided: true, depth_slack_m: slack_m, ..flat };
        let leads = (slack_m > 0.0).then_some(self.leads_m.as_slice());
        let drawn = if slack_m > 0.0 { &self.drawn } else { &self.whole };
        let mut scene = Scene { ground: None, ..Scene::new() };
        if !skin.is_empty() {
            let mut body = Item::new(drawn, skin, flat).coloured(&self.colours);
            body.leads_m = leads;
            scene = scene.with(body);
        }
        // Alone, only the outer side counts as cloth.
        let paint = Material { two_sided: !skin.is_empty(), ..paint };
        scene = scene.with(Item::new(mesh, cloth, paint));
        let image = self.renderer.draw(&scene, camera, SIZE, SIZE).unwrap();
        let class = |p: &[u8]| {
            let [r, g, b] = [p[0], p[1], p[2]].map(i32::from);
            match () {
                _ if r > g + 40 && r > b + 40 => Surface::Trunk,
                _ if b > r + 40 && b > g + 40 => Surface::Arm,
                _ if g > r + 40 && g > b + 40 => Surface::Cloth,
                _ => Surface::Nothing,
            }
        };
        image.pixels().chunks_exact(4).map(class).collect()
    }
}

/// Where all neighbours of a pixel show cloth as well: along an outline the pushed-out garment is wider than it was.
fn inner(seen: &[Surface]) -> Vec<bool> {
    let side = SIZE as usize;
    let cloth = |x: usize, y: usize| seen[y * side + x] == Surface::Cloth;
    let all = |x: usize, y: usize| (y - 1..=y + 1).all(|v| (x - 1..=x + 1).all(|u| cloth(u, v)));
    (0..side * side)
        .map(|k| (k % side, k / side))
        .map(|(x, y)| x > 0 && y > 0 && x + 1 < side && y + 1 < side && all(x, y))
        .collect()
}

/// A point of the cloth at least 6 mm outside of trunk and legs.
fn pushed(tree: &TriangleTree, skin: &[Vec3], trunk: &[[u32; 3]], mut p: Vec3) -> Vec3 {
    for _ in 0..3 {
        let Some(closest) = tree.closest_within(p, 0.12) else { return p };
        let [a, b, c] = trunk[closest.triangle as usize].map(|v| skin[v as usize]);
        let n = (b - a).cross(c - a).normalize_or_zero();
        let off = (p - closest.point).dot(n);
        if off >= 0.006 {
            break;
        }
        p = closest.point + 0.006 * n;
    }
    p
}

/// A mesh with every triangle cut into sixteen.
struct Fine {
    middles: Vec<[u32; 2]>,
    mesh: MeshHandle,
}

impl Fine {
    fn new(triangles: &[[u32; 3]], vertices: usize) -> Self {
        let (mut triangles, mut middles) = (triangles.to_vec(), Vec::new());
        for _ in 0..2 {
            let mut numbers: HashMap<[u32; 2], u32> = HashMap::new();
            let mut middle = |a: u32, b: u32| {
                *numbers.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                    middles.push([a, b]);
                    (vertices + middles.len() - 1) as u32
                })
            };
            triangles = triangles
                .iter()
                .flat_map(|&[a, b, c]| {
                    let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
                    [[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]
                })
                .collect();
        }
        Self { middles, mesh: MeshHandle::new(&triangles) }
    }

    fn positions(&self, coarse: &[Vec3]) -> Vec<Vec3> {
        let mut all = coarse.to_vec();
        for [a, b] in &self.middles {
            all.push(0.5 * (all[*a as usize] + all[*b as usize]));
        }
        all
    }
}

fn judge(counts: &Counts) {
    let percent = |a: usize, b: usize| 100.0 * a as f64 / b.max(1) as f64;
    println!(
        "{} pixels, {} of cloth, {} of arms: body through cloth {} → {} ({:.1} % fewer), cloth over arms {} \
         ({:.3} % of the picture, {:.2} % of the arms), over neck and legs {}, body beside the outline {}",
        counts.pixels,
        counts.cloth,
        counts.arm,
        counts.through_plain,
        counts.through_slack,
        percent(counts.through_plain - counts.through_slack.min(counts.through_plain), counts.through_plain),
        counts.over_arm,
        percent(counts.over_arm, counts.pixels),
        percent(counts.over_arm, counts.arm),
        counts.over_trunk,
        counts.beside
    );
    assert!(counts.arm > 500 && counts.cloth > 5000, "{counts:?}");
    assert!(counts.through_plain > 20, "nothing to mend: {counts:?}");
    assert!(counts.through_slack * 10 <= counts.through_plain, "{counts:?}");
    assert!(counts.over_arm * 1000 <= counts.pixels, "{counts:?}");
    // Arms are a small part of the picture: of them alone at most a two-hundredth.
    assert!(counts.over_arm * 200 <= counts.arm, "{counts:?}");
}

const VIEWS: [View; 3] = [View::Front, View::Side, View::Angle { azimuth: 215.0, elevation: 20.0 }];

#[test]
fn a_sunk_garment_hides_the_body_and_spares_the_hands() {
    let body = builtin::body("mannequin:female").unwrap();
    let dress = builtin::garment("dress", &body).unwrap();
    let walk = builtin::motion("walk", &body.skeleton).unwrap().resampled(30.0);
    let attachment = attach(&body, &dress.sim, &AttachmentSettings::default()).unwrap();
    let mesh = MeshHandle::new(&dress.sim.triangles);
    let frames: Vec<(Vec<Vec3>, Vec<Vec3>)> = [8, 15, 22, 29]
        .iter()
        .map(|&f| {
            let bones = body.bones(&walk.poses[f]);
            let skin = body.skinned_positions(&bones);
            let cloth = sunk(&skin, &body.mesh.triangles, &attachment.posed(&bones), f as f32);
            (skin, cloth)
        })
        .collect();
    let mut stage = Stage::new(&body, &dress.sim.triangles, (&frames[0].0, &frames[0].1), &[]);
    let mut counts = Counts::default();
    for (skin, cloth) in &frames {
        for view in VIEWS {
            stage.count(skin, cloth, &mesh, view, &mut counts);
        }
    }
    assert_eq!(stage.body.name, body.name);
    judge(&counts);
}

/// The garment in waves about the skin, up to 3 cm deep: what a model does far from its training.
fn sunk(skin: &[Vec3], triangles: &[[u32; 3]], cloth: &[Vec3], phase: f32) -> Vec<Vec3> {
    let tree = TriangleTree::new(skin, triangles);
    let wave = |p: Vec3| (17.0 * p.x + 11.0 * p.y + phase).sin() + (13.0 * p.z - 19.0 * p.y).cos();
    cloth
        .iter()
        .map(|&p| {
            let Some(closest) = tree.closest_within(p, 0.08) else { return p };
            let [a, b, c] = triangles[closest.triangle as usize].map(|v| skin[v as usize]);
            let n = (b - a).cross(c - a).normalize_or_zero();
            p - n * (0.015 * wave(p) + 0.005).max(0.0)
        })
        .collect()
}

/// `TOILE_MODEL=dress.toile cargo test --release --test depth -- --ignored --nocapture`
#[test]
#[ignore = "needs a trained model of the built-in dress, named by TOILE_MODEL"]
fn a_learned_garment_hides_the_body_and_spares_the_hands() {
    let path = std::env::var("TOILE_MODEL").unwrap();
    let clip = std::env::var("TOILE_MOTION").unwrap_or("walk".into());
    let model = Arc::new(Model::read(std::path::Path::new(&path)).unwrap());
    let body = builtin::body("mannequin:female").unwrap();
    let walk = builtin::motion(&clip, &body.skeleton).unwrap().resampled(30.0);
    let roots = RootTrack::new(&body.skeleton, &walk.poses);
    let mut garment = Stable::new(model.clone());
    let mesh = MeshHandle::new(&model.triangles);
    let mut stage: Option<Stage<'_>> = None;
    let mut counts = Counts::default();
    let mut cloth = vec![Vec3::ZERO; model.vertices];
    for (f, (pose, root)) in walk.poses.iter().zip(&roots.frames).enumerate() {
        let bones = body.bones(pose);
        garment.step_with_root(&bones, root, 1.0 / 30.0).unwrap();
        garment.positions(&mut cloth);
        let skin = body.skinned_positions(&bones);
        let stage = stage.get_or_insert_with(|| {
            Stage::new(&body, &model.triangles, (&skin, &cloth), &model.hidden_triangles)
        });
        if f % 6 == 0 {
            for view in VIEWS {
                stage.count(&skin, &cloth, &mesh, view, &mut counts);
            }
        }
    }
    judge(&counts);
}
