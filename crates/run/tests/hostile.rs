//! Whatever is fed in, every kind of model stays within what its certificate states.

mod synthetic;

use glam::{Affine3A, DVec3, Quat, Vec3};
use std::sync::Arc;
use synthetic::{SMALL, bones, corrected, published};
use toile_geometry::Random;
use toile_model::{Model, ModelKind, RootFrame};
use toile_run::{Actor, Crowd, CrowdSettings, Error, Skinned, Stable, Tier};

const DT: f64 = 1.0 / 30.0;

fn kinds() -> [(&'static str, Model); 4] {
    [
        ("a", published(SMALL, 1, ModelKind::A)),
        ("b", published(SMALL, 1, ModelKind::B)),
        ("c", published(SMALL, 1, ModelKind::C)),
        ("d", corrected(SMALL, 1)),
    ]
}

/// Bones that turn and jump at random, roots that spin and leap, poison every now and then.
fn feed(model: &Arc<Model>, steps: usize) -> f32 {
    let mut garment = Stable::new(model.clone());
    let mut random = Random::new(99);
    let mut next = || random.signed() as f32;
    let mut out = vec![Vec3::ZERO; SMALL.vertices];
    let limit = model.shield.as_ref().map_or(0.0, |s| s.limit_m);
    let mut farthest = 0.0f32;
    for step in 0..steps {
        let mut posed: Vec<Affine3A> = (0..SMALL.joints)
            .map(|_| {
                let axis = Vec3::new(next(), next(), next() + 0.01).normalize();
                let turn = Quat::from_axis_angle(axis, 3.0 * next());
                Affine3A::from_rotation_translation(turn, 2.0 * Vec3::new(next(), next(), 0.0))
            })
            .collect();
        let far = if step % 7 == 0 { 9e5 } else { 1.0 };
        let position = far * DVec3::new(next().into(), next().into(), next().into());
        let mut root = RootFrame { position, heading: 50.0 * f64::from(next()) };
        if step % 11 == 5 {
            match step % 4 {
                0 => posed[1].translation.x = f32::NAN,
                1 => posed[2].matrix3.y_axis.x = f32::INFINITY,
                2 => posed[0].translation.z = 3e6,
                _ => root.position.x = f64::NEG_INFINITY,
            }
            assert!(garment.step_with_root(&posed, &root, DT).is_err(), "step {step}");
            continue;
        }
        garment.step_with_root(&posed, &root, DT).unwrap();
        assert!(garment.coefficients().iter().all(|y| y.is_finite()), "step {step}");
        // Far away single precision costs digits of places, not of the state.
        if step % 50 == 1 && far == 1.0 {
            garment.positions(&mut out);
            let from = match &model.attachment {
                Some(worn) if model.kind == ModelKind::D => worn.posed(&posed),
                _ => model
                    .cloth_mean
                    .iter()
                    .map(|p| root.world_from_canonical(p.as_dvec3()).as_vec3())
                    .collect(),
            };
            for (v, (p, s)) in out.iter().zip(&from).enumerate() {
                let apart = p.distance(*s);
                farthest = farthest.max(apart);
                let bound = model.certificate.travel_bound_m[v] + limit + 1e-4;
                assert!(apart <= bound, "step {step}, vertex {v}: {apart} m of {bound}");
            }
        }
    }
    farthest
}

#[test]
fn every_kind_stays_within_its_bound() {
    for (name, model) in kinds() {
        let farthest = feed(&Arc::new(model), 5_000);
        assert!(farthest > 0.02, "{name} does move: {farthest} m");
    }
}

/// `cargo test --release -p toile-run --test hostile -- --ignored --nocapture`
#[test]
#[ignore = "minutes: a million steps of every kind"]
fn a_million_steps_of_every_kind() {
    for (name, model) in kinds() {
        let farthest = feed(&Arc::new(model), 1_000_000);
        println!("{name}: {farthest:.3} m at most");
    }
}

/// Two instances, one of which is also given what has to be refused, stay alike to the last bit.
#[test]
fn what_is_refused_leaves_nothing_behind() {
    for (name, model) in kinds() {
        let mut crowd = Crowd::new(CrowdSettings::default());
        let model = Arc::new(model);
        let id = crowd.add_model(model.clone(), 2).unwrap();
        let (a, b) = (crowd.add(id).unwrap(), crowd.add(id).unwrap());
        for f in 0..12 {
            let posed = bones(SMALL, 0, 0.1 * f as f32);
            if f % 3 == 1 {
                poison(&mut crowd, a, &posed, &model);
            }
            for i in [a, b] {
                crowd.set_pose(i, &Actor::IDENTITY, &posed).unwrap();
            }
            if f % 3 == 2 {
                poison(&mut crowd, a, &posed, &model);
            }
            crowd.step(DT).unwrap();
            crowd.draw();
            assert_eq!(crowd.coefficients(a).unwrap(), crowd.coefficients(b).unwrap(), "{name}, frame {f}");
            assert_eq!(crowd.vertices(a).unwrap(), crowd.vertices(b).unwrap(), "{name}, frame {f}");
        }
    }
}

fn poison(crowd: &mut Crowd, to: toile_run::Instance, posed: &[Affine3A], model: &Model) {
    let fine = RootFrame { position: DVec3::ZERO, heading: 0.0 };
    for value in [f32::NAN, f32::INFINITY, -2e6] {
        let mut bad = posed.to_vec();
        bad[1].translation.x = value;
        assert!(crowd.set_pose(to, &Actor::IDENTITY, &bad).is_err(), "{value}");
        assert!(crowd.set_pose_with_root(to, &Actor::IDENTITY, &bad, &fine).is_err(), "{value}");
        let actor = Actor { position: DVec3::splat(value.into()), ..Actor::IDENTITY };
        assert!(crowd.set_pose(to, &actor, posed).is_err(), "{value}");
        let root = RootFrame { position: DVec3::new(0.0, value.into(), 0.0), heading: 0.0 };
        assert!(crowd.set_pose_with_root(to, &Actor::IDENTITY, posed, &root).is_err(), "{value}");
        let root = RootFrame { position: DVec3::ZERO, heading: value.into() };
        assert!(crowd.set_pose_with_root(to, &Actor::IDENTITY, posed, &root).is_err(), "{value}");
        let x = vec![value; model.body_dims];
        assert!(crowd.set_body(to, &x, &fine).is_err(), "{value}");
        assert!(crowd.set_origin(DVec3::splat(value.into())).is_err(), "{value}");
        assert!(crowd.set_viewer(Some((DVec3::splat(value.into()), 1.0))).is_err(), "{value}");
    }
    // Each within reach, their sum beyond it.
    let mut away = posed.to_vec();
    away.iter_mut().for_each(|b| b.translation.x = 9e5);
    let actor = Actor { position: DVec3::new(9e5, 0.0, 0.0), ..Actor::IDENTITY };
    assert!(matches!(crowd.set_pose(to, &actor, &away), Err(Error::TooFar { .. })));
}

#[test]
fn skinned_cloth_refuses_the_same() {
    let model = corrected(SMALL, 1);
    let mut garment = Skinned::new(model.attachment.unwrap());
    let mut posed = bones(SMALL, 0, 0.0);
    garment.step(&posed, DT).unwrap();
    posed[1].translation.y = 2e6;
    assert!(matches!(garment.step(&posed, DT), Err(Error::TooFar { .. })));
}
