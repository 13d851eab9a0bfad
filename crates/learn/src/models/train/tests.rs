use super::*;
use crate::takes::sequences::LEAD;
use glam::{Affine3A, DVec3, Mat3A, Quat, Vec3};
use std::sync::Arc;
use toile_assets::{
    Conditions, Fingerprint, FrameReport, Joint, Mesh, Provenance, RootFrame, Skeleton, Skin, Transform,
};
use toile_geometry::Random;
use toile_run::{Stable, Tier};

/// Settings for small worlds: no refinement, no search for hidden triangles.
pub(crate) fn quick() -> Settings {
    Settings { refine: false, hidden_frames: 0, ..Settings::default() }
}

/// Two joints, and a column of vertices shared between them.
pub(crate) fn tube_body() -> Body {
    let joints = vec![
        Joint { name: "Hips".into(), parent: None, rest: Transform::IDENTITY },
        Joint { name: "Chest".into(), parent: Some(0), rest: Transform::from_translation(Vec3::Y) },
    ];
    let ring = |i: usize| {
        let (angle, height) = ((i % 6) as f32, (i / 6) as f32 * 0.2);
        Vec3::new(0.2 * angle.cos(), height, 0.2 * angle.sin())
    };
    let positions: Vec<Vec3> = (0..60).map(ring).collect();
    let rows: Vec<[(u16, f32); 2]> =
        positions.iter().map(|p| [(0, 2.0 - p.y.min(1.99)), (1, p.y + 0.01)]).collect();
    let mesh = Mesh { positions, triangles: vec![[0, 1, 2]], uvs: vec![] };
    let skin = Skin::from_rows(rows).unwrap();
    Body::bound_at_rest("tube", Skeleton::new(joints).unwrap(), mesh, skin).unwrap()
}

/// Clips in which four cloth vertices follow a damped oscillator driven by the pose and the root's motion,
/// so a second-order model can learn them exactly.
pub(crate) fn swaying_takes(body: &Body, clips: usize, frames: usize) -> Vec<Take> {
    (0..clips)
        .map(|clip| {
            let mut take = Take {
                clip: format!("clip{clip}"),
                fps: 30.0,
                triangles: vec![[0, 1, 2], [1, 3, 2]],
                positions: vec![],
                vertices: 4,
                bones: vec![],
                joints: body.skeleton.len(),
                roots: vec![],
                reports: vec![],
                draped: vec![],
                stop_frame: None,
                verdict: None,
                provenance: None,
                notes: vec![],
            };
            let (mut swing, mut before) = ([0.0f64; 2], [0.0f64; 2]);
            for f in 0..frames {
                let t = f as f64 / 30.0 + clip as f64;
                let lean = [0.4 * (1.3 * t).sin(), 0.3 * (2.1 * t + 1.0).cos()];
                let root = RootFrame {
                    position: DVec3::new(0.5 * (0.7 * t).sin(), 0.02 * (5.0 * t).sin(), t),
                    heading: 0.8 * (0.9 * t).sin(),
                };
                let bend = Quat::from_rotation_x(lean[0] as f32) * Quat::from_rotation_z(lean[1] as f32);
                let world = Affine3A::from_rotation_translation(
                    Quat::from_rotation_y(root.heading as f32),
                    root.position.as_vec3(),
                );
                let joint = world * Affine3A::from_rotation_translation(bend, Vec3::Y);
                take.bones.extend([world, joint * body.joint_from_bind[1]]);
                for k in 0..2 {
                    let next = 1.7 * swing[k] - 0.8 * before[k] + 0.1 * lean[k];
                    before[k] = swing[k];
                    swing[k] = next;
                }
                for v in 0..4 {
                    let corner = DVec3::new((v % 2) as f64, (v / 2) as f64, 0.0);
                    let moved = corner + DVec3::new(0.2 * swing[0], 0.0, 0.1 * swing[1]) * (1.0 + corner.x);
                    take.positions.push(root.world_from_canonical(moved).as_vec3());
                }
                take.roots.push(root);
                take.reports.push(FrameReport::default());
            }
            take
        })
        .collect()
}

#[test]
fn a_known_oscillator_is_learned_and_free_runs() {
    let body = tube_body();
    let takes = swaying_takes(&body, 6, 200);
    let settings = Settings { cloth_dims: 2, body_dims: 12, ridges: vec![1e-9], ..quick() };
    let training = train(&body, &takes[..5], &settings).unwrap();
    // The oscillator's own spectral radius is √0.8.
    assert!(
        (training.model.certificate.rho - 0.8f64.sqrt()).abs() < 0.01,
        "{}",
        training.model.certificate.rho
    );
    let mut garment = Stable::new(Arc::new(training.model));
    let mut out = vec![Vec3::ZERO; 4];
    let mut worst = 0.0f32;
    for f in 0..takes[5].len() {
        garment.step_with_root(takes[5].frame_bones(f), &takes[5].roots[f], 1.0 / takes[5].fps).unwrap();
        garment.positions(&mut out);
        if f > 60 {
            let apart = out.iter().zip(takes[5].frame(f)).map(|(a, b)| a.distance(*b));
            worst = apart.fold(worst, f32::max);
        }
    }
    assert!(worst < 0.02, "free run is {worst} m off");
}

/// Random bones and roots, far beyond anything a body can do.
fn hostile(model: &Arc<Model>, steps: usize) {
    let mut garment = Stable::new(model.clone());
    let mut out = vec![Vec3::ZERO; model.vertices];
    let mut seed = 7u64;
    let mut noise = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % 20_001) as f32 / 1000.0 - 10.0
    };
    for step in 0..steps {
        let mut root = RootFrame { position: DVec3::ZERO, heading: f64::from(noise()) };
        root.position.x = f64::from(noise());
        let bones: Vec<Affine3A> = (0..2)
            .map(|_| Affine3A {
                matrix3: Mat3A::from_quat(
                    Quat::from_xyzw(noise(), noise(), noise(), 1.0 + noise()).normalize(),
                ),
                translation: Vec3::new(noise(), noise(), noise()).into(),
            })
            .collect();
        garment.step_with_root(&bones, &root, 1.0 / model.fps).unwrap();
        garment.positions(&mut out);
        for (v, p) in out.iter().enumerate() {
            let canonical = root.canonical_from_world(p.as_dvec3()).as_vec3();
            let travel = canonical.distance(model.cloth_mean[v]);
            let bound = model.certificate.travel_bound_m[v];
            assert!(travel <= bound, "step {step}, vertex {v}: {travel} m, certified {bound} m");
        }
    }
}

fn certified() -> Arc<Model> {
    let body = tube_body();
    let takes = swaying_takes(&body, 4, 120);
    let settings = Settings { cloth_dims: 3, body_dims: 8, ..quick() };
    Arc::new(train(&body, &takes, &settings).unwrap().model)
}

#[test]
fn hostile_input_stays_within_the_certified_travel() {
    hostile(&certified(), 100_000);
}

#[test]
#[ignore = "soak: a million steps"]
fn hostile_input_stays_within_the_certified_travel_for_hours() {
    hostile(&certified(), 1_000_000);
}

#[test]
fn hostile_input_within_trained_speeds_stays_within_the_smaller_bound() {
    let model = certified();
    let inputs = &model.inputs;
    let mut seed = 5u64;
    let mut noise = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % 20_001) as f32 / 10_000.0 - 1.0
    };
    let pose_distance = |x: &[f32]| -> f32 {
        let sum: f32 = x.iter().zip(&inputs.body_std).map(|(x, s)| (x / s.max(1e-9)).powi(2)).sum();
        (sum / x.len() as f32).sqrt()
    };
    let allowed = |x: &[f32]| {
        pose_distance(x) <= inputs.body_reach
            && x.iter()
                .zip(inputs.body_min.iter().zip(&inputs.body_max))
                .all(|(x, (lo, hi))| x >= lo && x <= hi)
    };
    let mut largest = 0.0f32;
    for start in 0..150 {
        let mut crowd = toile_run::Crowd::new(toile_run::CrowdSettings::default().with(|s| s.threads = 1));
        let kind = crowd.add_model(model.clone(), 1).unwrap();
        let garment = crowd.add(kind).unwrap();
        let mut root = RootFrame { position: DVec3::ZERO, heading: 0.0 };
        let corner = |noise: &mut dyn FnMut() -> f32| -> Vec<f32> {
            inputs
                .body_min
                .iter()
                .zip(&inputs.body_max)
                .map(|(lo, hi)| if noise() < 0.0 { *lo } else { *hi })
                .collect()
        };
        // As far out as is allowed, to begin with.
        let mut wanted = corner(&mut noise);
        let mut x = vec![0.0f32; model.body_dims];
        let towards = |x: &[f32], step: &[f32]| -> Vec<f32> {
            let at = |share: f32| x.iter().zip(step).map(|(x, s)| x + share * s).collect::<Vec<f32>>();
            let (mut lo, mut hi) = (0.0, 1.0);
            for _ in 0..20 {
                let middle = 0.5 * (lo + hi);
                if allowed(&at(middle)) { lo = middle } else { hi = middle }
            }
            at(lo)
        };
        if allowed(&x) {
            x = towards(&x, &wanted);
        }
        let mut way = [noise(), noise(), noise(), noise()].map(f32::signum);
        for _ in 0..60 {
            crowd.set_origin(root.position).unwrap();
            crowd.set_body(garment, &x, &root).unwrap();
            crowd.step(1.0 / model.fps).unwrap();
            crowd.draw();
            let here = RootFrame { position: DVec3::ZERO, ..root };
            for (v, p) in crowd.vertices(garment).unwrap().iter().enumerate() {
                let travel = here.canonical_from_world(p.as_dvec3()).as_vec3().distance(model.cloth_mean[v]);
                let share = travel / model.certificate.travel_bound_rate_m[v];
                assert!(share <= 1.0, "start {start}, vertex {v}: {share} of the bound");
                largest = largest.max(share);
            }
            if noise() > 0.8 {
                wanted = corner(&mut noise);
                way = [noise(), noise(), noise(), noise()].map(f32::signum);
            }
            let step: Vec<f32> = (0..x.len())
                .map(|k| (wanted[k] - x[k]).clamp(-inputs.body_rate[k], inputs.body_rate[k]))
                .collect();
            x = towards(&x, &step);
            let flat = f64::from(inputs.max_horizontal_m) * 0.5f64.sqrt();
            let moved = DVec3::new(
                flat * f64::from(way[0]),
                f64::from(inputs.max_vertical_m * way[1]),
                flat * f64::from(way[2]),
            );
            root.position += RootFrame { position: DVec3::ZERO, ..root }.world_from_canonical(moved);
            root.heading += f64::from(inputs.max_turn * way[3]);
        }
    }
    assert!(largest > 0.35, "a test that pushes: {largest}");
}

#[test]
fn the_worst_input_reaches_the_bound_and_not_more() {
    let body = tube_body();
    let takes = swaying_takes(&body, 4, 120);
    for (kind, order) in [(ModelKind::A, 0), (ModelKind::B, 2), (ModelKind::C, 2), (ModelKind::C, 3)] {
        let settings = Settings { kind, order, cloth_dims: 3, body_dims: 8, ..quick() };
        let model = Arc::new(train(&body, &takes, &settings).unwrap().model);
        let worst = crate::worst_case(&model).unwrap();
        let share = worst.attained_m / worst.bound_m;
        assert!(
            (0.95..=1.0).contains(&share),
            "{kind:?} of order {order}: {share}, ρ {}",
            model.certificate.rho
        );
        assert!(worst.largest_share <= 1.0, "{kind:?} of order {order}: {}", worst.largest_share);
        let c = &model.certificate;
        assert!(c.travel_bound_rate_m.iter().zip(&c.travel_bound_m).all(|(r, b)| r <= b));
        assert!(model.tightness().0 >= 1.0, "training itself stays within the bound");
    }
}

#[test]
fn refinement_brings_life_back_that_noise_took() {
    let body = tube_body();
    let mut takes = swaying_takes(&body, 8, 200);
    // Noise on the cloth makes one-step least squares see history that is not there, and damp.
    let mut random = Random::new(11);
    for p in takes.iter_mut().flat_map(|t| &mut t.positions) {
        *p += 0.01 * random.vector().as_vec3();
    }
    let settings = Settings { cloth_dims: 2, body_dims: 12, ..quick() };
    let prepared = Prepared::new(&body, &takes, &settings).unwrap();
    let layout = Layout::new(&settings, prepared.pose.from_bones.nrows(), 2);
    let mut normal = NormalEquations::new(layout);
    let cut = Cut { all: &prepared.sequences, body: layout.body, cloth: 2 };
    let sequences = cut.some(&(0..takes.len()).collect::<Vec<_>>()).unwrap();
    sequences.iter().for_each(|s| normal.add(s));
    let fit = normal.fit(1e-6).unwrap();
    let segments = Segments::new(&layout, sequences.iter().map(|s| &**s), 30, 400);
    let refined = refine(&segments, &normal, 1e-6, &fit, 40, Free::All).unwrap();
    // The oscillator's own radius is √0.8 = 0.894.
    let off = |f: &Regression| (spectral_radius(&companion(f, &layout)).unwrap() - 0.8f64.sqrt()).abs();
    assert!(off(&fit) > 0.02, "the test's own premise: {}", off(&fit));
    assert!(off(&refined) < 0.3 * off(&fit), "{} against {}", off(&refined), off(&fit));
}

#[test]
fn a_stop_is_led_in_by_its_clip() {
    let body = tube_body();
    let mut takes = swaying_takes(&body, 3, 120);
    let whole = takes[2].clone();
    // The last clip again, as if it had been frozen at frame 50: its second half, whole turns away in heading.
    let mut stop = whole.clone();
    stop.stop_frame = Some(50);
    stop.roots = whole.roots[50..].to_vec();
    stop.roots.iter_mut().for_each(|r| r.heading += std::f64::consts::TAU);
    stop.positions = whole.positions[50 * 4..].to_vec();
    stop.bones = whole.bones[50 * 2..].to_vec();
    stop.reports.truncate(70);
    takes.push(stop);
    let settings = Settings { cloth_dims: 2, body_dims: 12, ..quick() };
    let prepared = Prepared::new(&body, &takes, &settings).unwrap();
    let body_dims = prepared.pose.from_bones.nrows();
    let cut = Cut { all: &prepared.sequences, body: body_dims, cloth: prepared.cloth.basis.ncols() };
    let s = cut.at(3).unwrap();
    assert_eq!((s.lead, s.len()), (LEAD, 70 + LEAD));
    let plain = cut.at(2).unwrap();
    for t in 0..s.len() {
        assert!((s.roots[t].heading - plain.roots[50 - LEAD + t].heading).abs() < 1e-9);
        assert!((s.y[(0, t)] - plain.y[(0, 50 - LEAD + t)]).abs() < 1e-6);
    }
}

#[test]
fn all_mismatches_are_named_at_once() {
    let body = tube_body();
    let mut takes = swaying_takes(&body, 3, 40);
    takes[1].fps = 25.0;
    takes[2].triangles.pop();
    takes[0].notes.push(("fabric".into(), "silk".into()));
    takes[2].notes.push(("fabric".into(), "denim".into()));
    let Err(Error::Mixed(faults)) = train(&body, &takes, &quick()) else {
        panic!("mixed takes were accepted")
    };
    assert_eq!(faults.len(), 3, "{faults:?}");
}

#[test]
fn another_body_or_solver_is_refused_and_models_know_their_clips() {
    let body = tube_body();
    let mut takes = swaying_takes(&body, 3, 40);
    for (k, take) in takes.iter_mut().enumerate() {
        take.provenance = Some(Provenance {
            body: body.fingerprint(),
            garment: Fingerprint(2),
            fabric: Fingerprint(3),
            solver: Fingerprint(4),
            clip: Fingerprint(10 + k as u64),
            conditions: Conditions::default(),
        });
    }
    let model = train(&body, &takes, &quick()).unwrap().model;
    let lineage = Lineage::from_notes(&model.notes).unwrap();
    assert_eq!((lineage.body, lineage.clips.len()), (body.fingerprint(), 3));
    assert_eq!(lineage.knows(Fingerprint(11)), Some(takes[1].clip.as_str()));

    takes[1].provenance.as_mut().unwrap().body = Fingerprint(99);
    takes[2].provenance.as_mut().unwrap().solver = Fingerprint(99);
    let Err(Error::Mixed(faults)) = train(&body, &takes, &quick()) else {
        panic!("takes of someone else were accepted")
    };
    assert_eq!(faults.len(), 2, "{faults:?}");
    assert!(faults[0].contains("another body") && faults[1].contains("solver"), "{faults:?}");
}

#[test]
fn too_few_frames_reduce_the_dims_and_say_so() {
    let body = tube_body();
    let takes = swaying_takes(&body, 3, 12);
    let training = train(&body, &takes, &quick()).unwrap();
    assert!(training.remarks.iter().any(|r| r.contains("reduced")), "{:?}", training.remarks);
    assert!(training.model.body_dims < 64);
}

#[test]
fn a_body_that_stands_still_gives_an_order_0_model_and_a_warning() {
    let body = tube_body();
    let mut takes = swaying_takes(&body, 3, 60);
    for take in &mut takes {
        let bones = take.frame_bones(0).to_vec();
        take.bones = (0..60).flat_map(|_| bones.clone()).collect();
        take.roots = vec![take.roots[0]; 60];
    }
    // All clips in one pose, where the first stood.
    let (bones, root) = (takes[0].bones.clone(), takes[0].roots.clone());
    takes.iter_mut().for_each(|t| (t.bones, t.roots) = (bones.clone(), root.clone()));
    let training = train(&body, &takes, &quick()).unwrap();
    assert_eq!(training.model.order, 0);
    assert!(training.remarks.iter().any(|r| r.contains("stands still")), "{:?}", training.remarks);
    training.model.verify_certificate().unwrap();
}

#[test]
fn the_printed_form_runs_as_it_was_fitted() {
    let body = tube_body();
    let takes = swaying_takes(&body, 6, 200);
    let settings = Settings { cloth_dims: 2, body_dims: 12, ridges: vec![1e-9], paper: true, ..quick() };
    let model = Arc::new(train(&body, &takes[..5], &settings).unwrap().model);
    let mut garment = Stable::new(model);
    let mut out = vec![Vec3::ZERO; 4];
    let mut worst = 0.0f32;
    for f in 0..takes[5].len() {
        garment.step_with_root(takes[5].frame_bones(f), &takes[5].roots[f], 1.0 / takes[5].fps).unwrap();
        garment.positions(&mut out);
        if f > 60 {
            worst = out.iter().zip(takes[5].frame(f)).map(|(a, b)| a.distance(*b)).fold(worst, f32::max);
        }
    }
    // The plain cosine stands in for the bias here.
    assert!(worst < 0.02, "free run is {worst} m off");
}

#[test]
fn an_unstable_fit_is_repaired() {
    let body = tube_body();
    let mut takes = swaying_takes(&body, 3, 120);
    // Growth by 3 % a frame: least squares finds a spectral radius above one.
    for take in &mut takes {
        for f in 0..take.len() {
            let root = take.roots[f];
            let grown = 1.03f64.powi(f as i32) * 0.01;
            for p in &mut take.positions[4 * f..4 * f + 4] {
                let c = root.canonical_from_world(p.as_dvec3()) + DVec3::X * grown;
                *p = root.world_from_canonical(c).as_vec3();
            }
        }
    }
    let settings = Settings { cloth_dims: 3, body_dims: 8, ridges: vec![1e-9], ..quick() };
    let training = train(&body, &takes, &settings).unwrap();
    assert!(training.rho_before > 1.0, "the test's own premise: {}", training.rho_before);
    assert!(training.model.certificate.rho < 1.0);
    let mut broken = training.model.clone();
    broken.b[0].iter_mut().for_each(|b| *b *= 1.2);
    assert!(broken.verify_certificate().is_err(), "a changed matrix must void the certificate");
}

#[test]
fn mirrored_takes_join_where_they_can_and_are_said() {
    let body = tube_body();
    let mut takes = swaying_takes(&body, 4, 120);
    let settings = Settings { cloth_dims: 3, body_dims: 8, ..quick() };
    let alone = train(&body, &takes, &settings).unwrap();
    assert!(
        !alone.mirrored && alone.remarks.iter().any(|r| r.contains("not mirrored")),
        "{:?}",
        alone.remarks
    );
    let asked = train(&body, &takes, &Settings { mirror: false, ..settings.clone() }).unwrap();
    assert!(!asked.remarks.iter().any(|r| r.contains("mirrored")), "{:?}", asked.remarks);
    // The same column, closed and even, and a cloth hung about its middle.
    let mut even = body.clone();
    even.mesh.positions =
        (0..60).map(|i| Vec3::new(if i % 2 == 0 { 0.2 } else { -0.2 }, (i / 2) as f32 * 0.06, 0.0)).collect();
    even.mesh.triangles = (0..58).map(|i| [i, i + 1, i + 2]).collect();
    let rows = even.mesh.positions.iter().map(|p| [(0u16, 2.0 - p.y.min(1.99)), (1, p.y + 0.01)]);
    even.skin = Skin::from_rows(rows.collect::<Vec<_>>()).unwrap();
    for t in &mut takes {
        t.draped =
            [(-0.5, 0.0), (0.5, 0.0), (-0.5, 1.0), (0.5, 1.0)].map(|(x, y)| Vec3::new(x, y, 0.0)).into();
    }
    let both = train(&even, &takes, &settings).unwrap();
    assert!(both.mirrored, "{:?}", both.remarks);
    assert_eq!(both.windows, 2 * alone.windows);
}

#[test]
fn takes_that_are_not_kept_are_fitted_all_the_same() {
    let body = tube_body();
    let mut takes = swaying_takes(&body, 9, 120);
    let mut stop = takes[3].clone();
    stop.stop_frame = Some(40);
    stop.roots = takes[3].roots[40..].to_vec();
    stop.positions = takes[3].positions[40 * 4..].to_vec();
    stop.bones = takes[3].bones[40 * 2..].to_vec();
    stop.reports.truncate(80);
    takes.insert(0, stop);
    let settings = Settings { cloth_dims: 3, body_dims: 8, ridges: vec![1e-6], refine: false, ..quick() };
    let whole = train(&body, &takes, &settings).unwrap();
    let lean = train(&body, &takes, &Settings { kept_frames: 300, ..settings.clone() }).unwrap();
    assert!(lean.remarks.iter().any(|r| r.contains("2 of 10 takes")), "{:?}", lean.remarks);
    assert!(whole.remarks.iter().all(|r| !r.contains("thinned")), "{:?}", whole.remarks);
    // Nothing is chosen, so every number of the model is a sum over all frames.
    assert_eq!(lean.model, whole.model);
}
