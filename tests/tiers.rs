//! Every tier takes the same inputs and gives the same outputs: one loop moves them all.

#[path = "../crates/run/tests/synthetic/mod.rs"]
mod synthetic;

use glam::{Affine3A, Vec3};
use std::sync::Arc;
use toile::assets::layers::{LayerSettings, layers};
use toile::assets::{AttachmentSettings, attach, builtin};
use toile::run::{Full, Layered, LayeredSettings, Skinned, Stable, Tier, balance};
use toile::simulate::{Recorder, Settings, World};

#[test]
fn skin_layered_stable_and_full_step_through_one_trait() {
    let body = builtin::body("mannequin:female").unwrap();
    let skirt = builtin::garment("skirt", &body).unwrap();
    let fabric = builtin::fabric(&skirt.fabric).unwrap();
    let vertices = skirt.sim.positions.len();
    let size = synthetic::Size { vertices, joints: body.skeleton.len(), ..synthetic::SMALL };
    let settings = Settings::default().with(|s| s.self_contact = false);
    let world = World::with_body(&body, &skirt, &fabric, settings).unwrap();
    let rest = &skirt.sim.positions;
    let apart = layers(&body, &skirt, rest, &fabric, &LayerSettings::default()).unwrap();
    let layered = Layered::new(Arc::new(apart), LayeredSettings::default());
    let mut tiers: Vec<(&str, Box<dyn Tier>)> = vec![
        ("skin", Box::new(Skinned::new(attach(&body, &skirt.sim, &AttachmentSettings::default()).unwrap()))),
        ("layered", Box::new(layered)),
        ("stable", Box::new(Stable::new(Arc::new(synthetic::model(size, 1))))),
        ("full", Box::new(Full::new(world))),
    ];
    let bones = body.bones(&body.skeleton.rest_pose());
    let walk = builtin::motion("walk", &body.skeleton).unwrap();
    let bent = body.bones(&walk.poses[0]);
    for (name, tier) in &mut tiers {
        assert_eq!(tier.vertices(), vertices, "{name}");
        let mut out = vec![Vec3::ZERO; vertices];
        let mut speeds = vec![Vec3::ZERO; vertices];
        assert!(tier.step(&bones, 1.0 / 60.0).is_ok(), "{name}");
        let mut first = out.clone();
        tier.positions(&mut first);
        assert!(tier.step(&bent, 1.0 / 60.0).is_ok(), "{name}");
        tier.positions(&mut out);
        assert_ne!(out, first, "{name} moves");
        assert!(tier.velocities(&mut speeds), "{name} has velocities");
        assert!(out.iter().chain(&speeds).all(|v| v.is_finite()), "{name}");
        let kept = out.clone();
        // What is refused changes nothing.
        assert!(tier.step(&bones[1..], 0.01).is_err(), "{name}: a joint is missing");
        assert!(tier.step(&vec![Affine3A::NAN; bones.len()], 0.01).is_err(), "{name}: not a number");
        for dt in [0.0, -1.0, 1e9, f64::NAN] {
            assert!(tier.step(&bones, dt).is_err(), "{name}: {dt} s");
        }
        tier.positions(&mut out);
        assert_eq!(out, kept, "{name}");
        tier.reset();
        assert!(tier.step(&bones, 1.0 / 60.0).is_ok(), "{name} after a reset");
        tier.positions(&mut out);
        assert_eq!(out, first, "{name}: a reset forgets all that was");
    }
}

/// What the tier is for: nearer to the simulation than skinned cloth is, from the same drape. (On five clips of three
/// garments: `toile compare`.)
#[test]
fn layers_are_nearer_to_the_simulation_than_skinned_cloth() {
    let body = builtin::body("mannequin:female").unwrap();
    for (name, clip, at_most) in [
        ("skirt:300", "walk:1.2", 0.98),
        ("pants:300", "walk:1.2", 0.95),
        ("pants:300", "legs-bend", 0.98),
        ("shirt:600", "gym", 0.80),
    ] {
        let garment = builtin::garment(name, &body).unwrap();
        let fabric = builtin::fabric(&garment.fabric).unwrap();
        let motion = builtin::motion(clip, &body.skeleton).unwrap().trimmed(0.0, 1.2).unwrap();
        let mut recorder = Recorder::new(&body, &garment);
        let draped = recorder.drape(&fabric).unwrap();
        let take = recorder.record_draped(&draped, &motion).unwrap().take;
        let mut apart = layers(&body, &garment, &take.draped, &fabric, &LayerSettings::default()).unwrap();
        balance(&mut apart, &LayeredSettings::default());
        let mut skin = Skinned::new(apart.attachment.clone());
        let mut layered = Layered::new(Arc::new(apart), LayeredSettings::default());
        let mut distances = [0.0f64; 2];
        for f in 0..take.len() {
            let tiers: [&mut dyn Tier; 2] = [&mut skin, &mut layered];
            for (tier, sum) in tiers.into_iter().zip(&mut distances) {
                tier.step(take.frame_bones(f), 1.0 / take.fps).unwrap();
                let mut out = vec![Vec3::ZERO; take.vertices];
                tier.positions(&mut out);
                *sum += out.iter().zip(take.frame(f)).map(|(a, b)| f64::from(a.distance(*b))).sum::<f64>();
            }
        }
        let ratio = distances[1] / distances[0];
        assert!(ratio < at_most, "{name} on {clip}: {ratio:.3} of skinning's distance");
    }
}
