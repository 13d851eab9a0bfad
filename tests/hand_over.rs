//! From any tier to any other while the garment is worn: nothing jumps.

#[path = "../examples/tailor/mod.rs"]
mod tailor;

use glam::{Affine3A, Vec3};
use std::sync::Arc;
use toile::assets::layers::{LayerSettings, layers};
use toile::assets::{Attachment, AttachmentSettings, Role, Skin, attach, builtin};
use toile::learn::{AdaptiveSettings, train_adaptive};
use toile::run::{
    Adaptive, Error, FirstGuess, Full, HandOverSettings, Ladder, Layered, LayeredSettings, Layers, Skinned,
    Stable, Tier, balance,
};
use toile::simulate::{DrapeSettings, Recorder, Settings, Subspace, SubspaceSettings, World, ramp};
use toile_model::adaptive::Database;

const TIERS: [&str; 5] = ["skin", "layered", "stable", "adaptive", "full"];
const FPS: f64 = 30.0;
/// The frame after which one tier takes over from the other.
const AT: usize = 24;
const FRAMES: usize = 75;
/// How often a tier alone is begun otherwise. Where a knee strikes it, cloth with vertices of its own goes ways that differ by
/// centimetres: what it does on a walk is the most of several.
const BEGINNINGS: usize = 6;

/// One skirt in all tiers, and a walk.
struct Dressed {
    layers: Arc<Layers>,
    model: Arc<toile::assets::Model>,
    database: Arc<Database>,
    /// As the garment was put on, for the subspace.
    placed: World,
    world: World,
    hips: usize,
    bones: Vec<Vec<Affine3A>>,
}

impl Dressed {
    fn new() -> Self {
        let tailor::Tailored { body, garment, takes, model } = tailor::skirt().unwrap();
        let fabric = builtin::fabric(&garment.fabric).unwrap();
        let mut world = Recorder::new(&body, &garment).drape(&fabric).unwrap();
        let rest: Vec<Vec3> = world.state.x.iter().map(|p| p.as_vec3()).collect();
        let mut made = layers(&body, &garment, &rest, &fabric, &LayerSettings::default()).unwrap();
        balance(&mut made, &LayeredSettings::default());
        let walk = builtin::motion("walk:1.1", &body.skeleton).unwrap().resampled(FPS);
        ramp(&mut world, &body, &walk, &DrapeSettings::default()).unwrap();
        let bones = (0..FRAMES).map(|f| body.bones(&walk.at(f as f64 / FPS))).collect();
        let hips = body.humanoid().joint(Role::Hips).unwrap();
        let settings = AdaptiveSettings::default().with(|s| s.sites = 2);
        let database = train_adaptive(&body, takes.as_slice(), &settings, &|_| ()).unwrap().database;
        let placed = World::with_body(&body, &garment, &fabric, Settings::worn()).unwrap();
        Self { layers: Arc::new(made), model, database: Arc::new(database), placed, world, hips, bones }
    }

    fn tier(&self, name: &str) -> Box<dyn Tier + Send> {
        match name {
            "skin" => Box::new(Skinned::new(self.layers.attachment.clone())),
            "layered" => Box::new(Layered::new(self.layers.clone(), LayeredSettings::default())),
            "stable" => Box::new(Stable::new(self.model.clone())),
            "adaptive" => Box::new(self.adaptive()),
            _ => Box::new(Full::new(self.world.clone())),
        }
    }

    fn adaptive(&self) -> Adaptive {
        let mut world = self.placed.clone();
        // Where training draped it.
        for (x, rest) in world.state.x.iter_mut().zip(&self.database.attachment.rest) {
            *x = rest.as_dvec3();
        }
        world.state.halt();
        Adaptive::new(Subspace::new(world, self.database.clone(), SubspaceSettings::default()).unwrap())
    }

    fn ladder(&self, names: &[&str]) -> Ladder {
        let mut ladder = Ladder::new(HandOverSettings { hips: self.hips, ..HandOverSettings::default() });
        for name in names {
            ladder.add(*name, self.tier(name)).unwrap();
        }
        ladder
    }

    /// A tier alone, and begun otherwise: put on in later frames, a simulation nudged by millimetres.
    fn alone(&self, name: &str) -> Vec<Vec<Vec<Vec3>>> {
        let others = (1..=BEGINNINGS).map(|k| {
            let mut tier = self.tier(name);
            let mut first = 3 * k;
            if name == "full" {
                let mut world = self.world.clone();
                world.nudge(1e-3 * k as f64);
                (tier, first) = (Box::new(Full::new(world)), 0);
            }
            let mut frames = vec![Vec::new(); first];
            for bones in &self.bones[first..] {
                tier.step(bones, 1.0 / FPS).unwrap();
                let mut shown = vec![Vec3::ZERO; tier.vertices()];
                tier.positions(&mut shown);
                frames.push(shown);
            }
            frames
        });
        std::iter::once(self.play(&[name]).0).chain(others).collect()
    }

    /// Every frame as shown, and the seconds a hand-over still takes at the end; hands over to the second tier where there is one.
    fn play(&self, names: &[&str]) -> (Vec<Vec<Vec3>>, f32) {
        let mut ladder = self.ladder(names);
        let mut frames = Vec::new();
        for (f, bones) in self.bones.iter().enumerate() {
            ladder.step(bones, 1.0 / FPS).unwrap();
            let mut shown = vec![Vec3::ZERO; ladder.vertices()];
            ladder.positions(&mut shown);
            frames.push(shown);
            if f + 1 == AT && names.len() > 1 {
                let before = frames[f].clone();
                ladder.hand_over(1).unwrap();
                ladder.positions(&mut frames[f]);
                assert_eq!(frames[f], before, "a hand-over itself moves nothing");
            }
        }
        (frames, ladder.handing_over_secs())
    }
}

/// Farthest any vertex goes from frame to frame, and farthest from where its speed would have brought it, cm.
fn moved(frames: &[Vec<Vec3>], f: usize) -> [f32; 2] {
    let (a, b, c) = (&frames[f - 2], &frames[f - 1], &frames[f]);
    let mut most = [0.0f32; 2];
    for v in 0..a.len() {
        most[0] = most[0].max(100.0 * c[v].distance(b[v]));
        most[1] = most[1].max(100.0 * (c[v] - 2.0 * b[v] + a[v]).length());
    }
    most
}

/// The most of any frame after the hand-over.
fn most(frames: &[Vec<Vec3>]) -> [f32; 2] {
    (AT..FRAMES).map(|f| moved(frames, f)).fold([0.0; 2], larger)
}

fn larger(a: [f32; 2], b: [f32; 2]) -> [f32; 2] {
    [a[0].max(b[0]), a[1].max(b[1])]
}

#[test]
fn every_pair_of_tiers_hands_over_without_a_jump() {
    let dressed = Dressed::new();
    let alone: Vec<_> = TIERS.iter().map(|t| dressed.alone(t)).collect();
    let own: Vec<[f32; 2]> =
        alone.iter().map(|runs| runs.iter().map(|r| most(r)).fold([0.0; 2], larger)).collect();
    for (a, from) in TIERS.iter().enumerate() {
        for (b, to) in TIERS.iter().enumerate().filter(|(b, _)| *b != a) {
            let (shown, left_secs) = dressed.play(&[from, to]);
            let (now, usual) = (most(&shown), larger(own[a], own[b]));
            let said = format!("{from} to {to}: {now:?} cm, alone {:?} and {:?}", own[a], own[b]);
            println!("{said}");
            assert!((0..2).all(|k| now[k] <= usual[k] + 1.0), "{said}");
            // The frame of the hand-over goes on as the frames before it went.
            let first = moved(&shown, AT)[1];
            assert!(first <= usual[1] + 1.0, "{said}: {first} cm off its way in the first frame");
            // Followers have arrived, or are as near as 0.27 m/s brings them; simulations go ways of their own.
            if ["skin", "stable"].contains(to) {
                let ends = shown[FRAMES - 1].iter().zip(&alone[b][0][FRAMES - 1]);
                let apart = ends.map(|(p, q)| 100.0 * p.distance(*q)).fold(0.0, f32::max);
                assert!(apart < 2.0 + 27.0 * left_secs, "{said}: {apart} cm from the tier that took over");
            }
        }
    }
}

/// The learned garment as the first guess: the same motion, and what it saves or costs is said (docs/ladder.md).
#[test]
fn a_guided_simulation_goes_the_same_way() {
    let dressed = Dressed::new();
    for substeps in [240.0, 30.0] {
        let mut world = dressed.world.clone();
        world.settings.max_step_secs = 1.0 / substeps;
        let mut nudged = world.clone();
        nudged.nudge(1e-4);
        let guide = || Box::new(Stable::new(dressed.model.clone()));
        let mut ways = [
            ("free flight", Full::new(world.clone())),
            ("place", Full::guided(world.clone(), guide(), FirstGuess::Place).unwrap()),
            ("way", Full::guided(world.clone(), guide(), FirstGuess::Way).unwrap()),
            ("a twin", Full::new(nudged)),
        ];
        let frames = 12;
        let mut ends = Vec::new();
        for (name, full) in &mut ways {
            for bones in &dressed.bones[..frames] {
                full.step(bones, 1.0 / FPS).unwrap();
            }
            let mut end = vec![Vec3::ZERO; full.vertices()];
            full.positions(&mut end);
            let (newton, substeps) = full.effort();
            println!(
                "{name}: {newton} iterations in {substeps} substeps, {:.2} each",
                newton as f64 / substeps as f64
            );
            ends.push(end);
        }
        if substeps == 240.0 {
            let mean_mm = |end: &[Vec3]| {
                let apart: f32 = end.iter().zip(&ends[0]).map(|(a, b)| a.distance(*b)).sum();
                1000.0 * apart / end.len() as f32
            };
            // Hardly farther apart than runs that start 0.1 mm apart come to be.
            let twin = mean_mm(&ends[3]);
            for end in &ends[1..3] {
                let apart = mean_mm(end);
                assert!(
                    apart < 1.5 * twin.max(3.0),
                    "{apart} mm from the simulation alone, a twin {twin} mm"
                );
            }
        }
    }
    let other =
        Skinned::new(Attachment { rest: vec![Vec3::ZERO], skin: Skin::from_rows([[(0, 1.0)]]).unwrap() });
    let refused = Full::guided(dressed.world.clone(), Box::new(other), FirstGuess::Way).err().unwrap();
    assert!(matches!(refused, Error::Topology { .. }), "{refused}");
}

#[test]
fn hand_overs_that_cannot_be_are_refused_and_those_in_between_go_on() {
    let body = builtin::body("mannequin:female").unwrap();
    let attached = |name: &str| {
        let garment = builtin::garment(name, &body).unwrap();
        let skinned = attach(&body, &garment.sim, &AttachmentSettings::default()).unwrap();
        Box::new(Skinned::new(skinned))
    };
    let mut ladder = Ladder::new(HandOverSettings::default());
    let skirt = ladder.add("skirt", attached("skirt:300")).unwrap();
    let refused = ladder.add("dress", attached("dress:400")).unwrap_err();
    assert!(matches!(refused, Error::Topology { .. }), "{refused}");
    let said = refused.to_string();
    assert!(said.contains("`dress` has") && said.contains("as `skirt`"), "{said}");
    assert_eq!(ladder.hand_over(3).unwrap_err(), Error::NoTier { tier: 3, tiers: 1 });
    // A second skirt, 10 cm to the side; back and forth in the middle of a hand-over.
    let mut other =
        attach(&body, &builtin::garment("skirt:300", &body).unwrap().sim, &AttachmentSettings::default())
            .unwrap();
    other.rest.iter_mut().for_each(|p| p.x += 0.1);
    let aside = ladder.add("aside", Box::new(Skinned::new(other))).unwrap();
    let bones = body.bones(&body.skeleton.rest_pose());
    let mut places = Vec::new();
    for f in 0..240 {
        ladder.step(&bones, 1.0 / 60.0).unwrap();
        let mut shown = vec![Vec3::ZERO; ladder.vertices()];
        ladder.positions(&mut shown);
        places.push(shown[0].x);
        match f {
            10 => ladder.hand_over(aside).unwrap(),
            30 => ladder.hand_over(skirt).unwrap(),
            40 => ladder.hand_over(aside).unwrap(),
            _ => {}
        }
    }
    let steps: Vec<f32> = places.windows(2).map(|w| w[1] - w[0]).collect();
    let jerk = steps.windows(2).map(|w| (w[1] - w[0]).abs()).fold(0.0, f32::max);
    assert!(jerk < 1e-3, "{jerk} m off its way in 1/60 s");
    assert!(steps.iter().all(|s| s.abs() < 0.01), "no faster than a hand-over may be");
    assert!((places[239] - places[0] - 0.1).abs() < 1e-4 && ladder.handing_over_secs() == 0.0);
}
