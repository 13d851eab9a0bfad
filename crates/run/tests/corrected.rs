//! Model D: the same bits whatever happens around it, and never outside its bound.

mod synthetic;

use glam::{Affine3A, DVec3, Quat, Vec3};
use std::sync::Arc;
use synthetic::{SMALL, Size, actor, bones, corrected, digest};
use toile_geometry::Random;
use toile_model::{Model, RootFrame, RootTracker};
use toile_run::{Actor, Basis, Crowd, CrowdSettings, Error, Isa, Stable, Tier};

const DT: f64 = 1.0 / 30.0;

fn run(model: &Arc<Model>, count: usize, settings: CrowdSettings) -> Vec<u64> {
    let mut crowd = Crowd::new(settings);
    let id = crowd.add_model(model.clone(), count).unwrap();
    let instances: Vec<_> = (0..count).map(|_| crowd.add(id).unwrap()).collect();
    let mut out = vec![0u64; count];
    for f in 0..6 {
        for (who, i) in instances.iter().enumerate() {
            let secs = f as f64 * DT;
            crowd.set_pose(*i, &actor(who, secs), &bones(SMALL, who, secs as f32)).unwrap();
        }
        crowd.step(DT).unwrap();
        crowd.draw();
        for (out, i) in out.iter_mut().zip(&instances) {
            *out = out.rotate_left(7) ^ digest(crowd.vertices(*i).unwrap());
            *out = out.rotate_left(7) ^ digest(crowd.normals(*i).unwrap());
        }
    }
    out
}

#[test]
fn threads_instructions_and_neighbours_change_no_bit() {
    let model = Arc::new(corrected(SMALL, 1));
    for basis in [Basis::Full, Basis::Half] {
        let alike = |threads, isa| {
            CrowdSettings::default().with(|s| {
                s.threads = threads;
                s.isa = isa;
                s.normals = true;
                s.basis = basis;
            })
        };
        let reference = run(&model, 150, alike(1, Isa::Portable));
        assert!(reference.windows(2).all(|w| w[0] != w[1]), "all move differently");
        for &isa in Isa::available() {
            for threads in [1, 2, 7] {
                assert!(run(&model, 150, alike(threads, isa)) == reference, "{isa:?}, {threads} threads");
            }
            // Few of them are worked on one by one.
            assert!(run(&model, 2, alike(1, isa)) == reference[..2], "{isa:?}, two of them");
        }
    }
}

#[test]
fn a_single_garment_has_the_bits_of_one_in_a_crowd() {
    let model = Arc::new(corrected(SMALL, 1));
    for dt in [DT, 1.0 / 75.0, 0.09] {
        let mut crowd = Crowd::new(CrowdSettings::default());
        let id = crowd.add_model(model.clone(), 20).unwrap();
        let instances: Vec<_> = (0..20).map(|_| crowd.add(id).unwrap()).collect();
        let mut alone = Stable::new(model.clone());
        let mut tracker = RootTracker::default();
        let mut out = vec![Vec3::ZERO; SMALL.vertices];
        for f in 0..40 {
            let secs = f as f64 * dt;
            let posed = bones(SMALL, 3, secs as f32);
            let [root, left, right] = model.hips.unwrap().points(&posed);
            let root = RootFrame { position: root.as_dvec3(), heading: tracker.follow(left - right).0 };
            for (who, i) in instances.iter().enumerate() {
                match who {
                    11 => crowd.set_pose(*i, &Actor::IDENTITY, &posed).unwrap(),
                    _ => crowd.set_pose(*i, &actor(who, secs), &bones(SMALL, who, secs as f32)).unwrap(),
                }
            }
            crowd.step(dt).unwrap();
            crowd.draw();
            alone.step_with_root(&posed, &root, dt).unwrap();
            alone.positions(&mut out);
            assert_eq!(
                crowd.coefficients(instances[11]).unwrap(),
                alone.coefficients(),
                "frame {f}, dt {dt}"
            );
            assert_eq!(crowd.vertices(instances[11]).unwrap(), out, "frame {f}, dt {dt}");
        }
    }
}

/// Whatever rigid bones and roots are fed in, every vertex stays within its bound of where skinning has it.
#[test]
fn hostile_input_never_leaves_the_bound() {
    let model = Arc::new(corrected(SMALL, 1));
    let attachment = model.attachment.clone().unwrap();
    let mut garment = Stable::new(model.clone());
    let mut random = Random::new(99);
    let mut out = vec![Vec3::ZERO; SMALL.vertices];
    let limit = model.shield.as_ref().unwrap().limit_m;
    let mut moved = 0.0f32;
    for step in 0..20_000 {
        let posed: Vec<Affine3A> = (0..SMALL.joints)
            .map(|_| {
                let axis =
                    Vec3::new(random.signed() as f32, random.signed() as f32, random.signed() as f32 + 0.01)
                        .normalize();
                let turn = Quat::from_axis_angle(axis, 3.0 * random.signed() as f32);
                Affine3A::from_rotation_translation(
                    turn,
                    2.0 * Vec3::new(random.signed() as f32, random.signed() as f32, 0.0),
                )
            })
            .collect();
        let far = if step % 7 == 0 { 9e5 } else { 1.0 };
        let position = far * random.vector();
        let root = RootFrame { position, heading: 50.0 * f64::from(random.signed() as f32) };
        garment.step_with_root(&posed, &root, DT).unwrap();
        // Bones are in the world here: far roots cost the skin its digits, not the correction.
        let y = garment.coefficients();
        assert!(y.iter().all(|v| v.is_finite()));
        if step % 50 == 1 && far == 1.0 {
            garment.positions(&mut out);
            let skinned = attachment.posed(&posed);
            for (v, (p, s)) in out.iter().zip(&skinned).enumerate() {
                let apart = p.distance(*s);
                moved = moved.max(apart);
                // Canonical bones are made relative to a root up to a metre away: single precision all the same.
                assert!(
                    apart <= model.certificate.travel_bound_m[v] + limit + 1e-4,
                    "step {step}, {v}: {apart}"
                );
            }
        }
    }
    assert!(moved > 0.02, "the test's own premise: it does move ({moved})");
}

#[test]
fn what_is_not_finite_or_too_far_is_refused_and_forgotten() {
    let model = Arc::new(corrected(SMALL, 1));
    let mut crowd = Crowd::new(CrowdSettings::default());
    let id = crowd.add_model(model.clone(), 2).unwrap();
    let (a, b) = (crowd.add(id).unwrap(), crowd.add(id).unwrap());
    let steady = bones(SMALL, 0, 0.0);
    for f in 0..10 {
        for i in [a, b] {
            crowd.set_pose(i, &Actor::IDENTITY, &steady).unwrap();
        }
        if f == 4 {
            for poison in [f32::NAN, f32::INFINITY, 2e6] {
                let mut bad = steady.clone();
                bad[1].translation.x = poison;
                assert!(crowd.set_pose(a, &Actor::IDENTITY, &bad).is_err(), "{poison}");
            }
            let far = RootFrame { position: DVec3::splat(1e7), heading: 0.0 };
            assert!(crowd.set_pose_with_root(a, &Actor::IDENTITY, &steady, &far).is_err());
        }
        crowd.step(DT).unwrap();
    }
    assert_eq!(crowd.coefficients(a).unwrap(), crowd.coefficients(b).unwrap());
    assert!(matches!(
        crowd.set_body(a, &[0.0; 11], &RootFrame { position: DVec3::ZERO, heading: 0.0 }),
        Err(Error::NeedsBones)
    ));
}

#[test]
fn the_gate_fades_slowly_and_a_newcomer_sees_nothing_of_who_was_there() {
    let mut model = corrected(SMALL, 1);
    // Everything is far away: the garment is skinned.
    model.correction.as_mut().unwrap().gate_sq = [1e-6, 1e-5];
    let shut = Arc::new(model.clone());
    let mut garment = Stable::new(shut);
    let at = RootFrame { position: DVec3::ZERO, heading: 0.0 };
    garment.step_with_root(&bones(SMALL, 0, 0.0), &at, DT).unwrap();
    assert!(garment.coefficients().iter().all(|y| *y == 0.0) && garment.gate() == 0.0);

    let model = Arc::new(corrected(SMALL, 1));
    let mut crowd = Crowd::new(CrowdSettings::default());
    let id = crowd.add_model(model.clone(), 1).unwrap();
    let first = crowd.add(id).unwrap();
    let mut gates = Vec::new();
    for f in 0..60 {
        crowd.set_pose(first, &actor(0, f as f64), &bones(SMALL, f, f as f32)).unwrap();
        crowd.step(DT).unwrap();
        crowd.draw();
        gates.push(crowd.gate(first).unwrap());
    }
    assert!(gates.windows(2).all(|w| (w[0] - w[1]).abs() <= 0.1 + 1e-6));
    assert!(crowd.vertices(first).unwrap().iter().any(|v| *v != Vec3::ZERO));
    crowd.remove(first).unwrap();
    let second = crowd.add(id).unwrap();
    assert!(crowd.vertices(second).unwrap().iter().all(|v| *v == Vec3::ZERO), "not drawn yet");
    assert!(crowd.coefficients(second).unwrap().iter().all(|v| *v == 0.0));
    crowd.set_pose(second, &Actor::IDENTITY, &bones(SMALL, 0, 0.0)).unwrap();
    crowd.step(DT).unwrap();
    crowd.draw();
    let mut alone = Stable::new(model);
    let [root, left, right] = alone_hips(&bones(SMALL, 0, 0.0));
    let heading = RootTracker::default().follow(left - right).0;
    alone
        .step_with_root(&bones(SMALL, 0, 0.0), &RootFrame { position: root.as_dvec3(), heading }, DT)
        .unwrap();
    assert_eq!(crowd.coefficients(second).unwrap(), alone.coefficients());
}

fn alone_hips(bones: &[Affine3A]) -> [Vec3; 3] {
    corrected(SMALL, 1).hips.unwrap().points(bones)
}

/// Nanoseconds that this thread was on a processor, which other programs do not add to.
fn on_processor_ns() -> u64 {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// `cargo test --release -p toile-run --test corrected -- --ignored --nocapture`
#[test]
#[ignore = "measures"]
fn what_a_dress_costs_beside_the_published_model() {
    let size = synthetic::DRESS;
    let bare = |mut model: Model| {
        model.shield = None;
        model
    };
    let told = Size { body_dims: 72, ..size };
    for (name, model) in [
        ("c", synthetic::model(size, 1)),
        ("d without the shield", bare(corrected(told, 1))),
        ("d", corrected(told, 1)),
    ] {
        let mut crowd = Crowd::new(CrowdSettings::default());
        let id = crowd.add_model(Arc::new(model), 512).unwrap();
        let instances: Vec<_> = (0..512).map(|_| crowd.add(id).unwrap()).collect();
        let poses: Vec<_> = (0..32).map(|who| bones(size, who, 0.1 * who as f32)).collect();
        let (mut step, mut draw) = (u64::MAX, u64::MAX);
        for f in 0..12 {
            for (who, i) in instances.iter().enumerate() {
                crowd.set_pose(*i, &actor(who, f as f64 * DT), &poses[(who + f) % 32]).unwrap();
            }
            let begun = on_processor_ns();
            crowd.step(DT).unwrap();
            let stepped = on_processor_ns();
            crowd.draw();
            step = step.min(stepped - begun);
            draw = draw.min(on_processor_ns() - stepped);
        }
        let us = |ns: u64| ns as f64 / 512e3;
        println!("{name}: {:.2} µs to step, {:.2} µs to draw", us(step), us(draw));
    }
}
