//! Model D: the same bits whatever happens around it, and never outside its bound.

mod synthetic;

use glam::{Affine3A, DVec3, Vec3};
use std::sync::Arc;
use synthetic::{SMALL, Size, actor, bones, corrected, digest, hearing};
use toile_model::{Model, RootFrame, RootTracker, Surroundings};
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

/// Bits of one instance after some steps in its surroundings, beside `others` that have none, and its gate.
fn blown(model: &Arc<Model>, told: &Surroundings, others: usize, settings: CrowdSettings) -> (u64, f32) {
    let mut crowd = Crowd::new(settings);
    let id = crowd.add_model(model.clone(), others + 1).unwrap();
    let instances: Vec<_> = (0..=others).map(|_| crowd.add(id).unwrap()).collect();
    let own = instances[others];
    crowd.set_surroundings(own, told).unwrap();
    for f in 0..12 {
        for i in &instances {
            let secs = f as f64 * DT;
            crowd.set_pose(*i, &actor(3, secs), &bones(SMALL, 3, secs as f32)).unwrap();
        }
        crowd.step(DT).unwrap();
    }
    crowd.draw();
    (digest(crowd.vertices(own).unwrap()), crowd.gate(own).unwrap())
}

#[test]
fn surroundings_are_heard_each_by_its_own_instance() {
    let model = Arc::new(hearing(SMALL, 1));
    let calm = Surroundings::default();
    let windy = Surroundings { wind: Vec3::new(0.0, 0.0, 3.0), ..calm };
    let heavy = Surroundings { fabric: Some([-3.5, -1.0, 7.4, 4.3, -4.0]), ..calm };
    let tilted = Surroundings { gravity: Vec3::new(3.0, -9.0, 0.0), ..calm };
    let all = [calm, windy, heavy, tilted];
    let alone = all.map(|s| blown(&model, &s, 0, CrowdSettings::default()));
    for (i, a) in alone.iter().enumerate() {
        assert!(a.1 > 0.0, "{i} is within training");
        assert!(alone[..i].iter().all(|b| a.0 != b.0), "{i} is heard");
    }
    for &isa in Isa::available() {
        let settings = CrowdSettings::default().with(|s| (s.isa, s.threads) = (isa, 2));
        let beside = all.map(|s| blown(&model, &s, 70, settings));
        assert_eq!(beside, alone, "{isa:?}: neighbours and threads change no bit");
    }
    // A model that was not trained for it does not hear.
    let deaf = Arc::new(corrected(SMALL, 1));
    let settings = CrowdSettings::default();
    assert_eq!(blown(&deaf, &windy, 0, settings), blown(&deaf, &calm, 0, settings));
}

#[test]
fn surroundings_beyond_training_fade_to_skin_and_what_is_no_number_is_refused() {
    let model = Arc::new(hearing(SMALL, 1));
    let calm = Surroundings::default();
    let gale = Surroundings { wind: Vec3::new(30.0, 0.0, 0.0), ..calm };
    let lead = Surroundings { fabric: Some([5.0, 5.0, 12.0, 9.0, 0.0]), ..calm };
    for told in [gale, lead] {
        assert_eq!(blown(&model, &told, 0, CrowdSettings::default()).1, 0.0, "{told:?}");
        assert_eq!(model.hears().unwrap().beyond(&told).len(), 1);
    }
    let mut crowd = Crowd::new(CrowdSettings::default());
    let id = crowd.add_model(model, 1).unwrap();
    let own = crowd.add(id).unwrap();
    let none = Surroundings { wind: Vec3::NAN, ..calm };
    assert!(matches!(crowd.set_surroundings(own, &none), Err(Error::Range { .. })));
}

#[test]
fn body_coefficients_alone_are_not_enough() {
    let mut crowd = Crowd::new(CrowdSettings::default());
    let id = crowd.add_model(Arc::new(corrected(SMALL, 1)), 1).unwrap();
    let a = crowd.add(id).unwrap();
    let root = RootFrame { position: DVec3::ZERO, heading: 0.0 };
    assert!(matches!(crowd.set_body(a, &[0.0; 11], &root), Err(Error::NeedsBones)));
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

/// `cargo test --release -p toile-run --test corrected costs -- --ignored --nocapture`: medians, the models taking turns.
#[test]
#[ignore = "measures"]
fn what_a_dress_costs_beside_the_published_model() {
    let size = synthetic::DRESS;
    let bare = |mut model: Model| {
        model.shield = None;
        model
    };
    let told = Size { body_dims: 72, ..size };
    let poses: Vec<_> = (0..32).map(|who| bones(size, who, 0.1 * who as f32)).collect();
    let names = ["c", "d", "d, not kept outside", "cheap", "cheap, not kept outside"];
    let models = [
        synthetic::model(size, 1),
        corrected(told, 1),
        bare(corrected(told, 1)),
        synthetic::cheap(told, 1),
        bare(synthetic::cheap(told, 1)),
    ];
    for isa in Isa::available().iter().copied().filter(|isa| *isa != Isa::Portable).chain([Isa::Unfused]) {
        let mut crowds = models.clone().map(|model| {
            let mut crowd = Crowd::new(CrowdSettings::default().with(|s| s.isa = isa));
            let id = crowd.add_model(Arc::new(model), 512).unwrap();
            let instances: Vec<_> = (0..512).map(|_| crowd.add(id).unwrap()).collect();
            (crowd, instances, [Vec::new(), Vec::new()])
        });
        for f in 0..25 {
            for (crowd, instances, times) in &mut crowds {
                for (who, i) in instances.iter().enumerate() {
                    crowd.set_pose(*i, &actor(who, f as f64 * DT), &poses[(who + f) % 32]).unwrap();
                }
                let begun = on_processor_ns();
                crowd.step(DT).unwrap();
                let stepped = on_processor_ns();
                crowd.draw();
                times[0].push(stepped - begun);
                times[1].push(on_processor_ns() - stepped);
            }
        }
        let medians = crowds.map(|(_, _, times)| {
            times.map(|mut t| {
                t.sort_unstable();
                t[t.len() / 2] as f64 / 512e3
            })
        });
        let whole = medians.map(|[step, draw]| step + draw);
        for (name, ([step, draw], both)) in names.iter().zip(medians.iter().zip(whole)) {
            let times = both / whole[0];
            println!("{} {name}: {step:.2} µs to step, {draw:.2} µs to draw, {times:.2} times c", isa.name());
        }
        let more = |with: f64, without: f64| 100.0 * (with / without - 1.0);
        let (d, cheap) = (more(whole[1], whole[2]), more(whole[3], whole[4]));
        println!("{} kept outside: {d:.0} % more, cheap {cheap:.0} %", isa.name());
    }
}

#[test]
fn fewer_dims_are_nearer_to_skinning_and_all_of_them_are_the_garment() {
    for model in [corrected(SMALL, 1), synthetic::model(SMALL, 2)] {
        let dims = model.cloth_dims;
        let mut garment = Stable::new(Arc::new(model));
        garment.step(&bones(SMALL, 0, 0.0), DT).unwrap();
        garment.step(&bones(SMALL, 0, 0.1), DT).unwrap();
        let of = |dims: usize| {
            let mut out = vec![Vec3::ZERO; garment.vertices()];
            garment.positions_of(dims, &mut out);
            out
        };
        let mut whole = vec![Vec3::ZERO; garment.vertices()];
        garment.positions(&mut whole);
        assert!(of(dims) == whole && of(dims + 9) == whole);
        assert!(of(0) != whole && of(dims - 1) != of(0));
    }
}
