//! Self-contact from outside: no pair of features that come near each other within a step is overlooked.

use glam::{DVec3, Vec3};
use std::collections::HashSet;
use toile_assets::{Mesh, builtin};
use toile_geometry::Random;
use toile_geometry::continuous::Pair;
use toile_geometry::distance::{point_triangle, segment_segment};
use toile_simulate::contact::cloth::ClothContact;
use toile_simulate::{Scene, Settings};

const REACH: f64 = 0.004;

/// Two sheets of 5 × 5 vertices, one 3 cm above the other, and where a step takes them: the upper one falls by
/// 2 to 4 cm, so that it touches the lower one or goes through.
fn two_sheets(random: &mut Random) -> (Scene, [Vec<DVec3>; 2]) {
    let side = 5u32;
    let at = |v: u32, y: f32| Vec3::new(0.03 * (v % side) as f32, y, 0.03 * (v / side) as f32);
    let positions: Vec<Vec3> = (0..25)
        .map(|v| at(v, 0.0))
        .chain((0..25).map(|v| at(v, 0.03) + Vec3::new(0.011, 0.0, 0.011)))
        .collect();
    let squares = (0..25u32).filter(|v| v % side < side - 1 && v / side < side - 1);
    let triangles = squares
        .flat_map(|v| [[v, v + side, v + 1], [v + 1, v + side, v + side + 1]])
        .flat_map(|t| [t, t.map(|v| v + 25)])
        .collect();
    let mesh = Mesh { positions, triangles, uvs: vec![] };
    let scene = Scene::from_mesh(&mesh, &builtin::fabric("cotton").unwrap(), &Settings::default()).unwrap();
    let start: Vec<DVec3> = mesh.positions.iter().map(|p| p.as_dvec3() + 0.002 * random.vector()).collect();
    let end = start.iter().enumerate().map(|(v, p)| {
        let fall = if v >= 25 { 0.03 + 0.01 * random.signed() } else { 0.0 };
        *p - DVec3::new(0.0, fall, 0.0) + 0.002 * random.vector()
    });
    let end = end.collect();
    (scene, [start, end])
}

/// Every pair of a vertex of one sheet with a triangle of the other, and of edges, that is nearer than the reach at some
/// of 21 moments of the step.
fn near_pairs(scene: &Scene, [start, end]: &[Vec<DVec3>; 2]) -> Vec<(bool, [u32; 4])> {
    let mut near = HashSet::new();
    let other = |a: u32, b: u32| (a < 25) != (b < 25);
    for moment in 0..=20 {
        let t = f64::from(moment) / 20.0;
        let x: Vec<DVec3> = start.iter().zip(end).map(|(a, b)| a.lerp(*b, t)).collect();
        let p = |v: u32| x[v as usize];
        for v in 0..50 {
            for tri in scene.triangles.iter().filter(|tri| other(v, tri[0])) {
                let w = point_triangle(p(v), p(tri[0]), p(tri[1]), p(tri[2]));
                let foot = p(tri[0]) * w[0] + p(tri[1]) * w[1] + p(tri[2]) * w[2];
                if p(v).distance(foot) < REACH {
                    near.insert((true, [v, tri[0], tri[1], tri[2]]));
                }
            }
        }
        for (k, e) in scene.edges.iter().enumerate() {
            for f in scene.edges[k + 1..].iter().filter(|f| other(e[0], f[0])) {
                let (s, t) = segment_segment(p(e[0]), p(e[1]), p(f[0]), p(f[1]));
                if p(e[0]).lerp(p(e[1]), s).distance(p(f[0]).lerp(p(f[1]), t)) < REACH {
                    near.insert((false, [e[0], e[1], f[0], f[1]]));
                }
            }
        }
    }
    near.into_iter().collect()
}

/// The same whichever feature comes first and whichever way round it is.
fn sorted(points: bool, mut v: [u32; 4]) -> (bool, [u32; 4]) {
    if points {
        v[1..].sort_unstable();
    } else {
        v[..2].sort_unstable();
        v[2..].sort_unstable();
        if v[0] > v[2] {
            v.rotate_left(2);
        }
    }
    (points, v)
}

#[test]
fn every_pair_that_comes_near_within_a_step_is_a_candidate() {
    for seed in 0..6 {
        let mut random = Random::new(seed);
        let (scene, places) = two_sheets(&mut random);
        let mut contact = ClothContact::new(&scene, &places[0]);
        contact.find(&scene, &places[0], &places[1], REACH);
        let found: HashSet<(bool, [u32; 4])> =
            contact.candidates.iter().map(|c| sorted(c.pair == Pair::PointTriangle, c.v)).collect();
        let near = near_pairs(&scene, &places);
        assert!(near.len() > 20, "seed {seed}: only {} pairs are near", near.len());
        for (points, v) in near {
            assert!(found.contains(&sorted(points, v)), "seed {seed}: {v:?} is overlooked");
        }
    }
}

#[test]
fn sheets_that_stay_apart_are_not_paired() {
    let mut random = Random::new(1);
    let (scene, [start, _]) = two_sheets(&mut random);
    let mut contact = ClothContact::new(&scene, &start);
    contact.find(&scene, &start, &start, REACH);
    let across = contact.candidates.iter().filter(|c| c.v.iter().any(|v| (*v < 25) != (c.v[0] < 25)));
    assert_eq!(across.count(), 0);
}

/// A fine strip of 4 mm edges, flat for half of its length, then around a bend of `radius` and back over itself.
fn folded(radius: f64) -> (Scene, Vec<DVec3>) {
    const LONG: u32 = 24;
    let at = |v: u32| (4e-3 * f64::from(v % LONG), 4e-3 * f64::from(v / LONG));
    let flat = |v: u32| DVec3::new(at(v).0, 0.0, at(v).1);
    let squares = (0..5 * LONG).filter(|v| v % LONG < LONG - 1);
    let triangles = squares.flat_map(|v| [[v, v + LONG, v + 1], [v + 1, v + LONG, v + LONG + 1]]).collect();
    let mesh = Mesh { positions: (0..6 * LONG).map(|v| flat(v).as_vec3()).collect(), triangles, uvs: vec![] };
    let scene = Scene::from_mesh(&mesh, &builtin::fabric("cotton").unwrap(), &Settings::default()).unwrap();
    let half = 4e-3 * 11.5;
    let bent = |v: u32| {
        let ((s, z), turn) = (at(v), (at(v).0 - half) / radius);
        let (x, y) = match turn {
            t if t <= 0.0 => (s, 0.0),
            t if t >= std::f64::consts::PI => (2.0 * half + std::f64::consts::PI * radius - s, 2.0 * radius),
            t => (half + radius * t.sin(), radius * (1.0 - t.cos())),
        };
        DVec3::new(x, y, z)
    };
    (scene, (0..6 * LONG).map(bent).collect())
}

#[test]
fn fine_cloth_meets_itself_where_it_folds_and_only_there() {
    let near = |scene: &Scene, x: &[DVec3]| -> HashSet<[u32; 4]> {
        let mut cloth = ClothContact::new(scene, x);
        cloth.find(scene, x, x, 6e-3);
        cloth.candidates.iter().filter(|c| c.pair == Pair::PointTriangle).map(|c| c.v).collect()
    };
    // Hardly bent: one piece that faces one way, although its vertices are 4 mm apart.
    let (scene, x) = folded(0.2);
    assert!(near(&scene, &x).is_empty());
    for radius in [1.5e-3, 2.5e-3] {
        let (scene, x) = folded(radius);
        let found = near(&scene, &x);
        let normal = |t: [u32; 3]| {
            let [a, b, c] = t.map(|v| x[v as usize]);
            (b - a).cross(c - a).normalize()
        };
        let mut across = 0;
        for v in 0..scene.len() as u32 {
            let own = scene.triangles.iter().find(|t| t.contains(&v)).unwrap();
            for t in scene.triangles.iter().filter(|t| !t.contains(&v) && normal(**t).dot(normal(*own)) < 0.0)
            {
                let [p, a, b, c] = [v, t[0], t[1], t[2]].map(|v| x[v as usize]);
                let w = point_triangle(p, a, b, c);
                if p.distance(a * w[0] + b * w[1] + c * w[2]) < 5.5e-3 {
                    across += 1;
                    assert!(found.contains(&[v, t[0], t[1], t[2]]), "radius {radius}: {v} and {t:?}");
                }
            }
        }
        assert!(across > 100, "{across}");
    }
}
