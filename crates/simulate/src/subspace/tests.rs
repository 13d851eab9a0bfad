use super::*;
use crate::contact::body::BodySurface;
use crate::contact::limb_cache::LimbCache;
use crate::{Scene, Settings};
use glam::{DMat3, Quat, Vec3};
use toile_assets::Attachment;
use toile_assets::adaptive::{Hang, Site};
use toile_assets::{HipLine, Skin};
use toile_geometry::Random;
use toile_lab::cloths::{Pattern, lay, plain, rectangle};
use toile_lab::scenes::box_body;

/// A piece of cloth on a box that has turned, with a database of these vectors about one site.
fn on_a_box(vectors: Vec<f32>, settings: SubspaceSettings) -> Subspace {
    let body = box_body(0.3, 8).unwrap();
    let solver = Settings::worn();
    let (mesh, rest) = rectangle(0.12, 0.12, 3, 3, Pattern::Jittered);
    let mut fabric = plain();
    (fabric.damping_secs, fabric.drag) = (0.02, 1.0);
    let scene = Scene::new(&mesh, &rest, &fabric, &solver).unwrap();
    let mut random = Random::new(3);
    let x: Vec<DVec3> = lay(&mesh, 0.1515).iter().map(|p| *p + random.vector() * 8e-4).collect();
    let n = x.len();
    let bones = body.bones(&body.skeleton.rest_pose());
    let surface = BodySurface::new(&body, &bones);
    let mut world = World::new(scene, x.clone(), solver).unwrap();
    world.state.limb_cache = LimbCache::new(&world.scene, &x, &surface);
    (world.body, world.bones) = (Some(surface), bones.clone());
    let attachment = Attachment {
        skin: Skin::from_rows(vec![vec![(0u16, 1.0f32)]; n]).unwrap(),
        rest: lay(&mesh, 0.1515).iter().map(|p| p.as_vec3()).collect(),
    };
    let hips = HipLine { joints: [0; 3], bind: [Vec3::ZERO, Vec3::X, Vec3::NEG_X] };
    let database = one_site(bones.len(), mesh.triangles.clone(), attachment, hips, vectors);
    Subspace::new(world, Arc::new(database), settings).unwrap()
}

/// A database of these vectors about one site, which every pose is at.
fn one_site(
    joints: usize,
    triangles: Vec<[u32; 3]>,
    attachment: Attachment,
    hips: HipLine,
    vectors: Vec<f32>,
) -> Database {
    let count = vectors.len() / (3 * attachment.rest.len());
    Database {
        name: "box".into(),
        fps: 30.0,
        joints,
        triangles,
        attachment,
        hips,
        bones_mean: vec![0.0; 12 * joints],
        pose_from_bones: vec![0.0; 12 * joints],
        sites: vec![Site { place: vec![0.0], first: 0, significance: vec![1.0; count], frames: 1 }],
        vectors,
        cubature: None,
        reach: Vec::new(),
        hangs: Vec::new(),
        half: false,
        notes: vec![],
    }
}

/// Bones of a box that has turned and risen a little.
fn turned(by: f32) -> Vec<Affine3A> {
    let axis = Vec3::new(0.3, 1.0, 0.2).normalize();
    vec![Affine3A::from_rotation_translation(Quat::from_axis_angle(axis, by), Vec3::Y * 0.05 * by)]
}

const N: usize = 16;

/// As many directions as cloth has, none along another.
fn everything() -> Vec<f32> {
    let mut random = Random::new(7);
    let one = |at: usize| f32::from(u8::from(at / (3 * N) == at % (3 * N)));
    (0..9 * N * N).map(|at| one(at) + 0.05 * random.signed() as f32).collect()
}

fn plainly() -> SubspaceSettings {
    SubspaceSettings::default().with(|s| {
        s.vectors = 3 * N;
        s.gradient = GradientVector::None;
        s.undo = false;
        s.newton = 1;
        s.assembly = Assembly::Plain;
        (s.keep_out, s.line_search) = (false, false);
    })
}

/// `m x = b` by elimination with row pivots.
fn eliminate(mut m: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let p = (k..n).max_by(|i, j| m[*i][k].abs().total_cmp(&m[*j][k].abs())).unwrap();
        m.swap(k, p);
        b.swap(k, p);
        for i in k + 1..n {
            let f = m[i][k] / m[k][k];
            for j in k..n {
                m[i][j] -= f * m[k][j];
            }
            b[i] -= f * b[k];
        }
    }
    for k in (0..n).rev() {
        b[k] = (b[k] - (k + 1..n).map(|j| m[k][j] * b[j]).sum::<f64>()) / m[k][k];
    }
    b
}

#[test]
fn with_all_directions_a_step_is_the_newton_step_of_the_full_space() {
    let mut cloth = on_a_box(everything(), plainly());
    cloth.step(&turned(0.01), 1.0 / 30.0).unwrap();
    // Gradient, contacts and matrix are still those of the step; where it began was the skinned place.
    let (scene, pushes) = (&cloth.world.scene, &cloth.forces.pushes);
    assert!(pushes.iter().any(|(c, _)| c.depth(c.point(&cloth.x)) > 0.0), "nothing touches");
    let mut matrix = vec![vec![0.0; 3 * N]; 3 * N];
    let mut column = vec![DVec3::ZERO; N];
    for k in 0..3 * N {
        let mut unit = vec![DVec3::ZERO; N];
        unit[k / 3][k % 3] = 1.0;
        cloth.plain.apply_exactly(scene, &unit, &mut column, &mut Angles::default());
        for (c, m) in pushes {
            let force = *m * c.point(&unit);
            (0..4).for_each(|i| column[c.v[i] as usize] += force * c.w[i]);
        }
        (0..3 * N).for_each(|i| matrix[i][k] = column[i / 3][i % 3]);
    }
    let down: Vec<f64> = cloth.forces.gradient.iter().flat_map(|g| (-*g).to_array()).collect();
    let newton = eliminate(matrix, down);
    let mut start = vec![DVec3::ZERO; N];
    let still = on_a_box(everything(), plainly());
    cloth.kinematic.pose(&still.bind, &mut start);
    let mut farthest = 0.0f64;
    for i in 0..N {
        let full = DVec3::from_slice(&newton[3 * i..3 * i + 3]);
        farthest = farthest.max(full.length());
        let ours = cloth.x[i] - start[i];
        assert!((ours - full).length() < 1e-8 * newton[0].abs().max(1e-3), "vertex {i}: {ours} {full}");
    }
    assert!(farthest > 1e-4, "nothing moves: {farthest}");
}

#[test]
fn the_gradient_is_that_of_the_energy_and_the_matrix_that_of_the_gradient() {
    let mut cloth = on_a_box(everything(), plainly());
    cloth.step(&turned(0.01), 1.0 / 30.0).unwrap();
    // Taut cloth, whose matrix leaves nothing out.
    let x: Vec<DVec3> = cloth.x.iter().map(|p| *p * DVec3::new(1.02, 1.0, 1.015)).collect();
    let contacts = cloth.touch.contacts.clone();
    let World { scene, settings, state, .. } = &cloth.world;
    let mut at = |x: &[DVec3]| cloth.forces.evaluate(scene, settings, &state.angles, x, &contacts);
    let mut slopes = Vec::new();
    let way: Vec<DVec3> = {
        let mut random = Random::new(5);
        (0..N).map(|_| random.vector()).collect()
    };
    let along = |by: f64| -> Vec<DVec3> { x.iter().zip(&way).map(|(x, w)| *x + *w * by).collect() };
    let eps = 1e-7;
    slopes.push((at(&along(eps)) - at(&along(-eps))) / (2.0 * eps));
    at(&x);
    let gradient = cloth.forces.gradient.clone();
    let expected: f64 = gradient.iter().zip(&way).map(|(g, w)| g.dot(*w)).sum();
    assert!((slopes[0] - expected).abs() < 1e-5 * expected.abs().max(0.01), "{} {expected}", slopes[0]);
    let mut matrix = Stiffness::default();
    let diagonal = (0..N).map(|i| cloth.forces.diagonal(scene, i));
    matrix.set(scene, &cloth.forces, &x, diagonal);
    let mut product = vec![DVec3::ZERO; N];
    matrix.apply_exactly(scene, &way, &mut product, &mut Angles::default());
    let curve: f64 = product.iter().zip(&way).map(|(p, w)| p.dot(*w)).sum();
    let mut slope = |by: f64| {
        let x = along(by);
        cloth.forces.evaluate(scene, settings, &state.angles, &x, &[]);
        cloth.forces.gradient.iter().zip(&way).map(|(g, w)| g.dot(*w)).sum::<f64>()
    };
    let found = (slope(1e-6) - slope(-1e-6)) / 2e-6;
    assert!((found / curve - 1.0).abs() < 0.02, "{found} {curve}");
}

#[test]
fn kept_products_make_the_system_that_plain_ones_make() {
    let few: Vec<f32> = everything()[..3 * N * 24].to_vec();
    let with = |assembly| {
        let settings = SubspaceSettings::default().with(|s| {
            (s.assembly, s.newton, s.vectors, s.line_search) = (assembly, 1, 18, false);
            s.gradient = GradientVector::Relaxed;
        });
        let mut cloth = on_a_box(few.clone(), settings);
        cloth.step(&turned(0.01), 1.0 / 30.0).unwrap();
        cloth
    };
    let (plain, kept) = (with(Assembly::Plain), with(Assembly::Kept));
    assert_eq!(plain.basis.columns, kept.basis.columns);
    let largest = plain.reduced.k.iter().fold(0.0f64, |most, k| most.max(k.abs()));
    for (a, b) in plain.reduced.k.iter().zip(&kept.reduced.k) {
        assert!((a - b).abs() < 1e-4 * largest, "{a} {b}");
    }
    for (a, b) in plain.x.iter().zip(&kept.x) {
        assert!(a.distance(*b) < 1e-5, "{a} {b}");
    }
}

#[test]
fn directions_that_are_kept_have_the_derivatives_of_the_new_place() {
    let mut cloth = on_a_box(everything(), plainly());
    cloth.step(&turned(0.01), 1.0 / 30.0).unwrap();
    cloth.x.iter_mut().for_each(|x| x.y -= 2e-3);
    cloth.evaluate();
    cloth.basis.look_again(&cloth.kinematic, &cloth.forces.gradient, &cloth.database);
    let kept: Vec<_> = cloth.basis.columns.iter().copied().zip(cloth.basis.derivative.clone()).collect();
    cloth.choose();
    assert_eq!(kept.len(), cloth.basis.columns.len());
    for (column, derivative) in cloth.basis.columns.iter().zip(&cloth.basis.derivative) {
        let (_, before) = kept.iter().find(|(c, _)| c == column).unwrap();
        assert!((before - derivative).abs() < 1e-6 * derivative.abs().max(1e-9), "{before} and {derivative}");
    }
}

#[test]
fn cloth_that_is_put_on_begins_as_the_database_knows_it() {
    let cloth = on_a_box(everything(), plainly());
    let hang = Hang { place: vec![0.0], site: 0, along: vec![0.0, 3e-3] };
    let database = Database { hangs: vec![hang], ..(*cloth.database).clone() };
    let mut cloth = Subspace::new(cloth.into_world(), Arc::new(database), plainly()).unwrap();
    cloth.start_hanging(&turned(0.2)).unwrap();
    let rest = &cloth.database.attachment.rest;
    for (v, place) in cloth.bind.iter().enumerate() {
        let vector = &cloth.database.vector(1)[3 * v..];
        let by = DVec3::new(vector[0].into(), vector[1].into(), vector[2].into()) * f64::from(3e-3f32);
        assert!(place.distance(rest[v].as_dvec3() + by) < 1e-6, "vertex {v}");
    }
}

#[test]
fn directions_that_others_make_up_are_left_out() {
    let k = vec![2.0, 1.0, 3.0, 1.0, 2.0, 3.0, 3.0, 3.0, 6.0];
    let q = Reduced { size: 3, k: k.clone() }.solve(&[1.0, -2.0, -1.0], 1e-9);
    for i in 0..3 {
        let product: f64 = (0..3).map(|j| k[3 * i + j] * q[j]).sum();
        assert!((product + [1.0, -2.0, -1.0][i]).abs() < 1e-9, "{q:?}");
    }
}

#[test]
fn what_does_not_fit_is_refused_with_all_its_reasons() {
    let fits = on_a_box(everything(), plainly());
    let mut other = (*fits.database).clone();
    other.joints = 7;
    other.attachment.rest.pop();
    let Err(why) = Subspace::new(fits.world.clone(), Arc::new(other), plainly()) else { panic!("taken") };
    let why = why.to_string();
    assert!(why.contains("15 vertices") && why.contains("7 joints"), "{why}");
    let mut cloth = fits;
    let (x, v) = (cloth.world.state.x.clone(), vec![DVec3::ZERO; N]);
    assert!(cloth.start_from(&turned(0.0), &x[1..], &v).is_err());
    assert!(cloth.start_from(&turned(0.0), &x, &[DVec3::NAN; N]).is_err());
    assert!(cloth.step(&[], 1.0 / 30.0).is_err());
    assert_eq!(cloth.world.state.x, x, "refused input changes nothing");
}

#[test]
fn cloth_handed_over_goes_on_from_its_place_and_velocity() {
    let mut cloth = on_a_box(everything(), plainly());
    let x: Vec<DVec3> = cloth.world.state.x.iter().map(|p| *p + DVec3::Y * 0.5).collect();
    cloth.start_from(&turned(0.0), &x, &[DVec3::X; N]).unwrap();
    let h = 1.0 / 60.0;
    cloth.step(&turned(0.0), h).unwrap();
    // Far above the box, with all directions: free flight.
    let mean = |x: &[DVec3]| x.iter().sum::<DVec3>() / N as f64;
    let moved = mean(&cloth.world.state.x) - mean(&x);
    let free = DVec3::X * h - DVec3::Y * 9.81 * h * h;
    assert!((moved - free).length() < 0.2 * free.length(), "{moved} {free}");
    let m = DMat3::IDENTITY;
    assert!(cloth.kinematic.linear.iter().all(|l| (*l - m).to_cols_array().iter().all(|v| v.abs() < 1e-6)));
}

/// The same cloth with some triangles standing for all.
fn sampled(
    cloth: &Subspace,
    cubature: toile_assets::adaptive::Cubature,
    settings: SubspaceSettings,
) -> Subspace {
    let database = Database { cubature: Some(cubature), ..(*cloth.database).clone() };
    Subspace::new(cloth.world.clone(), Arc::new(database), settings).unwrap()
}

fn one_step(assembly: Assembly) -> SubspaceSettings {
    SubspaceSettings::default().with(|s| (s.assembly, s.newton, s.vectors) = (assembly, 1, 18))
}

#[test]
fn all_triangles_with_weight_one_are_the_cloth_itself() {
    let few: Vec<f32> = everything()[..3 * N * 24].to_vec();
    // The matrix weighs only some vertices; what many steps lead to does not depend on it.
    let many = |assembly| one_step(assembly).with(|s| (s.newton, s.sigma) = (40, 1e-9));
    let mut exact = on_a_box(few, many(Assembly::Kept));
    let count = exact.world.scene.triangles.len();
    let all = toile_assets::adaptive::Cubature {
        triangles: (0..count as u32).collect(),
        weights: vec![1.0; count],
    };
    let mut sampled = sampled(&exact, all, many(Assembly::Sampled));
    assert_eq!(sampled.elastic_triangles(), count);
    for k in 1..4 {
        exact.step(&turned(0.01 * k as f32), 1.0 / 30.0).unwrap();
        sampled.step(&turned(0.01 * k as f32), 1.0 / 30.0).unwrap();
        for (a, b) in exact.x.iter().zip(&sampled.x) {
            assert!(a.distance(*b) < 1e-5, "step {k}: {a} {b}");
        }
    }
    // The angles that such steps leave alone are there for the full simulation.
    let (exact, sampled) = (exact.into_world().state.angles, sampled.into_world().state.angles);
    for (a, b) in exact.iter().zip(&sampled) {
        assert!((a - b).abs() < 1e-3, "{a} {b}");
    }
}

#[test]
fn weights_are_found_again_and_none_is_negative() {
    let mut random = Random::new(11);
    let columns: Vec<Vec<f32>> =
        (0..60).map(|_| (0..80).map(|_| random.signed() as f32 + 0.3).collect()).collect();
    let truth: Vec<f32> = (0..60).map(|k| if k % 7 == 0 { 1.0 + k as f32 } else { 0.0 }).collect();
    let target: Vec<f32> =
        (0..80).map(|row| columns.iter().zip(&truth).map(|(c, w)| c[row] * w).sum()).collect();
    let found = cubature::fit_weights(&columns, &target, 60, 1e-5);
    assert!(found.iter().all(|(_, w)| *w >= 0.0));
    for (k, truth) in truth.iter().enumerate() {
        let weight = found.iter().find(|(c, _)| *c == k).map_or(0.0, |f| f.1);
        assert!((weight - f64::from(*truth)).abs() < 0.02, "column {k}: {weight} instead of {truth}");
    }
    // What only negative weights could make is left, not made.
    let opposite: Vec<f32> = columns[3].iter().map(|v| -v.abs() - 1.0).collect();
    let positive: Vec<Vec<f32>> = columns.iter().map(|c| c.iter().map(|v| v.abs()).collect()).collect();
    assert!(cubature::fit_weights(&positive, &opposite, 10, 0.0).is_empty());
}

#[test]
fn a_third_of_the_triangles_learned_makes_nearly_the_same_steps() {
    // Smooth directions, as PCA gives them.
    let smooth = |i: usize, axis: usize| -> Vec<f32> {
        (0..3 * N)
            .map(|at| {
                let (v, a) = (at / 3, at % 3);
                let (x, z) = ((v % 4) as f32 / 3.0, (v / 4) as f32 / 3.0);
                let wave = [1.0, x, z, x * z, (3.0 * x).sin(), (3.0 * z).cos()][i];
                if a == axis { wave } else { 0.0 }
            })
            .collect()
    };
    let vectors: Vec<f32> = (0..6).flat_map(|i| (0..3).flat_map(move |axis| smooth(i, axis))).collect();
    let mut exact = on_a_box(vectors, one_step(Assembly::Kept));
    let frames: Vec<Vec<Affine3A>> = (0..60).map(|k| turned(0.03 * (0.2 * k as f32).sin())).collect();
    let third = exact.world.scene.triangles.len() / 3;
    let settings = CubatureSettings::default().with(|s| s.triangles = third);
    let fit = on_a_box(exact.database.vectors.clone(), one_step(Assembly::Kept))
        .learn_cubature(std::slice::from_ref(&frames), &settings)
        .unwrap();
    assert!(fit.cubature.triangles.len() <= third && fit.frames == 60);
    assert!(fit.held_out < 0.5, "{} left, {} held out", fit.fitted, fit.held_out);
    let mut fast = sampled(&exact, fit.cubature, one_step(Assembly::Sampled));
    let mut worst = 0.0f64;
    for bones in &frames {
        exact.step(bones, 1.0 / 30.0).unwrap();
        fast.step(bones, 1.0 / 30.0).unwrap();
        worst = exact.x.iter().zip(&fast.x).fold(worst, |worst, (a, b)| worst.max(a.distance(*b)));
    }
    assert!(worst < 5e-3, "{worst} m apart");
    assert!(exact.learn_cubature(&[], &settings).is_err());
}

#[test]
fn cloth_never_goes_farther_from_the_skinned_garment_than_the_database_knows() {
    // A database whose only direction is down, and nothing below.
    let down: Vec<f32> = (0..3 * N).map(|at| if at % 3 == 1 { 1.0 } else { 0.0 }).collect();
    let fall = |reach: Vec<f32>| {
        let mut cloth = on_a_box(down.clone(), SubspaceSettings::default().with(|s| s.undo = false));
        let database = Database { reach, ..(*cloth.database).clone() };
        cloth = Subspace::new(cloth.world.clone(), Arc::new(database), cloth.settings).unwrap();
        cloth.world.body = None;
        let held: u32 = (0..60).map(|_| cloth.step(&turned(0.0), 1.0 / 30.0).unwrap().held).sum();
        let rest = &cloth.database.attachment.rest;
        let away = cloth.bind.iter().zip(rest).map(|(x, r)| x.distance(r.as_dvec3()));
        (away.fold(0.0, f64::max), held)
    };
    let (free, none) = fall(Vec::new());
    assert!(free > 1.0 && none == 0, "without a reach it falls: {free} m");
    let (held, count) = fall(vec![0.02; N]);
    assert!(held < 0.08 + 1e-9 && count > 0, "{held} m with a reach of 2 cm");
}

/// How far a point is under a skin, by asking every triangle, of which none is as large as 10 cm; negative outside.
fn depth_by_brute_force(skin: &[Vec3], triangles: &[[u32; 3]], y: DVec3) -> f64 {
    let mut nearest = (f64::INFINITY, DVec3::ZERO, DVec3::Y);
    for t in triangles {
        let [a, b, c] = t.map(|v| skin[v as usize].as_dvec3());
        if a.distance_squared(y) > 0.01 {
            continue;
        }
        let (e, f, d) = (b - a, c - a, y - a);
        let normal = e.cross(f);
        // In the plane by its weights, beside it by the nearest place of an edge.
        let square = normal.length_squared().max(1e-30);
        let (s, u) = (d.cross(f).dot(normal) / square, e.cross(d).dot(normal) / square);
        let inside = s >= 0.0 && u >= 0.0 && s + u <= 1.0;
        let on = |p: DVec3, q: DVec3| {
            p + (q - p) * ((y - p).dot(q - p) / (q - p).length_squared()).clamp(0.0, 1.0)
        };
        let places = if inside { vec![a + e * s + f * u] } else { vec![on(a, b), on(b, c), on(c, a)] };
        for p in places {
            if p.distance_squared(y) < nearest.0 {
                nearest = (p.distance_squared(y), p, normal);
            }
        }
    }
    -(y - nearest.1).dot(nearest.2.normalize())
}

#[test]
fn contacts_that_go_with_the_attachment_miss_nothing_that_brute_force_finds() {
    let body = toile_assets::builtin::body("mannequin:female").unwrap();
    let motion = toile_assets::builtin::motion("twist", &body.skeleton).unwrap().resampled(30.0);
    let (mut touches, mut missed, mut worst) = (0, 0, 0.0f64);
    // Of one size too few are touched to tell one in a hundred from two.
    for size in ["shirt:400", "shirt:500", "shirt:600", "shirt:800"] {
        let garment = toile_assets::builtin::garment(size, &body).unwrap();
        let fabric = toile_assets::builtin::fabric(&garment.fabric).unwrap();
        let attachment = toile_assets::attach(&body, &garment.sim, &Default::default()).unwrap();
        let bones = |f: usize| body.bones(&motion.poses[f]);
        let world = World::with_body(&body, &garment, &fabric, Settings::worn()).unwrap();
        let n = attachment.rest.len();
        let shifts = (0..9 * n).map(|at| f32::from(u8::from(at / (3 * n) == at % 3))).collect();
        let triangles = garment.sim.triangles.clone();
        let database = one_site(body.skeleton.len(), triangles, attachment, body.hip_line(), shifts);
        let database = Database { reach: vec![0.03; n], ..database };
        let keep = world.settings.skin_m + 0.5 * fabric.thickness;
        let settings = SubspaceSettings::default().with(|s| s.body_contact_every = 2);
        let mut cloth = Subspace::new(world, Arc::new(database), settings).unwrap();
        cloth.start_hanging(&bones(15)).unwrap();
        for f in 16..110 {
            cloth.step(&bones(f), 1.0 / 30.0).unwrap();
            // Steps in between are those whose contacts were carried.
            if f % 2 == 0 {
                continue;
            }
            let skin = body.skinned_positions(&bones(f));
            let mut start = vec![DVec3::ZERO; n];
            let before: Vec<DVec3> = cloth.world.state.x_before.clone();
            let earlier = Kinematic::new(&cloth.database.attachment, &bones(f - 1));
            let bind: Vec<DVec3> = before.iter().enumerate().map(|(i, x)| earlier.unpose(i, *x)).collect();
            cloth.kinematic.pose(&bind, &mut start);
            for (v, y) in start.iter().enumerate() {
                let depth = depth_by_brute_force(&skin, &body.mesh.triangles, *y);
                // What is pushed, with what is kept from the skin; deeper than that, the other side of an arm may be nearer.
                if !(-keep..0.03).contains(&depth) {
                    continue;
                }
                touches += 1;
                let found = cloth.touch.contacts.iter().filter(|c| c.sample as usize == v);
                let off = found
                    .map(|c| (c.offset - c.reach - c.n.dot(*y) - depth).abs())
                    .fold(f64::INFINITY, f64::min);
                missed += usize::from(off > 5e-3);
                worst = if off.is_finite() { worst.max(off) } else { worst };
            }
        }
    }
    assert!(touches > 600, "{touches}");
    assert!(100 * missed <= touches, "{missed} of {touches} missed or off by more than 5 mm; worst {worst}");
}
