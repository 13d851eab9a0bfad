//! Every tier takes the same inputs and gives the same outputs: one loop moves them all.

#[path = "../crates/run/tests/synthetic/mod.rs"]
mod synthetic;

use glam::{Affine3A, Vec3};
use std::sync::Arc;
use toile::assets::{AttachmentSettings, attach, builtin};
use toile::run::{Full, Skinned, Stable, Tier};
use toile::simulate::{Settings, World};

#[test]
fn skin_stable_and_full_step_through_one_trait() {
    let body = builtin::body("mannequin:female").unwrap();
    let skirt = builtin::garment("skirt", &body).unwrap();
    let fabric = builtin::fabric(&skirt.fabric).unwrap();
    let vertices = skirt.sim.positions.len();
    let size = synthetic::Size { vertices, joints: body.skeleton.len(), ..synthetic::SMALL };
    let settings = Settings::default().with(|s| s.self_contact = false);
    let world = World::with_body(&body, &skirt, &fabric, settings).unwrap();
    let mut tiers: Vec<(&str, Box<dyn Tier>)> = vec![
        ("skin", Box::new(Skinned::new(attach(&body, &skirt.sim, &AttachmentSettings::default()).unwrap()))),
        ("stable", Box::new(Stable::new(Arc::new(synthetic::model(size, 1))))),
        ("full", Box::new(Full::new(world))),
    ];
    let bones = body.bones(&body.skeleton.rest_pose());
    for (name, tier) in &mut tiers {
        assert_eq!(tier.vertices(), vertices, "{name}");
        let mut out = vec![Vec3::ZERO; vertices];
        let mut speeds = vec![Vec3::ZERO; vertices];
        for _ in 0..2 {
            assert!(tier.step(&bones, 1.0 / 60.0).is_ok(), "{name}");
        }
        tier.positions(&mut out);
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
    }
}
