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
    let positions: Vec<Vec3> =
        (0..25).map(|v| at(v, 0.0)).chain((0..25).map(|v| at(v, 0.03) + 0.011)).collect();
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
fn cloth_that_lies_flat_meets_nothing() {
    let mut random = Random::new(1);
    let (scene, [start, _]) = two_sheets(&mut random);
    let mut contact = ClothContact::new(&scene, &start);
    contact.find(&scene, &start, &start, REACH);
    assert!(contact.candidates.is_empty(), "{} candidates", contact.candidates.len());
}
