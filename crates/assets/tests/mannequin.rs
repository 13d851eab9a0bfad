//! The built-in mannequin: measures, mesh and weights.

use glam::{Quat, Vec3};
use std::sync::LazyLock;
use toile_assets::builtin::{self, mannequin::measure, proportions::Proportions};
use toile_assets::{Body, Mesh};

static BODY: LazyLock<Body> = LazyLock::new(|| builtin::body("mannequin:female").unwrap());

/// The joints' places at rest.
fn joint(body: &Body, name: &str) -> Vec3 {
    let world = body.skeleton.world_from_joints(&body.skeleton.rest_pose());
    world[body.skeleton.find(name).unwrap()].translation.into()
}

/// The body with one joint turned about a world axis.
fn bent(body: &Body, turns: &[(&str, Vec3, f32)]) -> Mesh {
    let mut pose = body.skeleton.rest_pose();
    for &(name, axis, degrees) in turns {
        let j = body.skeleton.find(name).unwrap();
        pose.locals[j].rotation = Quat::from_axis_angle(axis.normalize(), degrees.to_radians());
    }
    Mesh { positions: body.skinned_positions(&body.bones(&pose)), ..body.mesh.clone() }
}

fn volume(mesh: &Mesh) -> f64 {
    let at = |i: u32| mesh.positions[i as usize].as_dvec3();
    mesh.triangles.iter().map(|&[a, b, c]| at(a).dot(at(b).cross(at(c))) / 6.0).sum()
}

#[test]
fn the_tape_reads_the_survey() {
    let (body, p) = (&*BODY, Proportions::female());
    let mesh = &body.mesh;
    let level = |y: f32| measure::girth(mesh, Vec3::new(0.0, y, 0.0), Vec3::Y).unwrap();
    let around = |at: Vec3, normal: Vec3| measure::girth(mesh, at, normal).unwrap();
    let (low, high) = mesh.bounds();
    let [hip, knee, ankle] = ["l_hip", "l_knee", "l_ankle"].map(|n| joint(body, n));
    let [shoulder, elbow, wrist] = ["l_shoulder", "l_elbow", "l_wrist"].map(|n| joint(body, n));
    let [neck, skull] = ["vc7", "skullbase"].map(|n| joint(body, n));
    let thigh = hip.lerp(knee, 0.263);
    let calf =
        (0..40).map(|k| around(knee.lerp(ankle, k as f32 / 50.0), Vec3::Y)).skip(10).fold(0.0, f32::max);
    let ankle_girth =
        (0..20).map(|k| around(ankle + Vec3::Y * (0.02 + 0.004 * k as f32), Vec3::Y)).fold(1.0, f32::min);
    let neck_girth = (0..20)
        .map(|k| around(neck.lerp(skull, k as f32 / 20.0), Vec3::new(0.0, 0.96, 0.27)))
        .fold(1.0, f32::min);
    let head = (0..20).map(|k| level(p.stature - 0.05 - 0.004 * k as f32)).fold(0.0, f32::max);
    let crotch = (0..400)
        .map(|k| 0.70 + 0.0005 * k as f32)
        .find(|&y| measure::section_around(mesh, Vec3::new(0.0, y, 0.0), Vec3::Y).is_some())
        .unwrap();
    let foot = mesh.positions.iter().filter(|v| v.y < 0.06);
    let (heel, toe) = foot.fold((1.0f32, -1.0f32), |(a, b), v| (a.min(v.z), b.max(v.z)));
    let hips = mesh.positions.iter().filter(|v| v.y > 0.72 && v.y < 0.95 && v.x < 0.30);
    let hip_breadth = 2.0 * hips.fold(0.0f32, |m, v| m.max(v.x));
    let tip = mesh
        .positions
        .iter()
        .filter(|v| v.x > wrist.x)
        .map(|v| (*v - wrist).dot((wrist - elbow).normalize()))
        .fold(0.0, f32::max);
    // name, ours, survey mean (ANSUR II women; Gordon et al. 2014), allowed difference
    let table = [
        ("stature", high.y - low.y, 1.6285, 0.03),
        ("crotch height", crotch, p.crotch_height, 0.03),
        ("hip breadth", hip_breadth, 0.3538, 0.03),
        ("hand length", tip, p.hand_length, 0.03),
        ("foot length", toe - heel, p.foot_length, 0.03),
        ("head circumference", head, 0.5611, 0.03),
        ("neck circumference", neck_girth, 0.3298, 0.03),
        ("chest circumference", level(p.bust_height), 0.9469, 0.03),
        ("natural waist (not surveyed)", level(p.natural_waist_height), p.natural_waist_circumference, 0.03),
        ("waist circumference (navel)", level(p.waist_height), 0.8609, 0.03),
        ("buttock circumference", level(p.hip_height), 1.0212, 0.03),
        ("thigh circumference", around(thigh, Vec3::Y), 0.6161, 0.03),
        ("calf circumference", calf, 0.3733, 0.03),
        ("ankle circumference", ankle_girth, p.ankle_circumference, 0.03),
        ("biceps circumference", around(shoulder.lerp(elbow, 0.46), elbow - shoulder), 0.3056, 0.03),
        ("wrist circumference", around(elbow.lerp(wrist, 0.97), wrist - elbow), p.wrist_circumference, 0.03),
    ];
    let mut report = String::new();
    let mut worst: f32 = 0.0;
    for (name, ours, survey, allowed) in table {
        let off = ours / survey - 1.0;
        report += &format!("{name:30} {ours:.4} {survey:.4} {:+.1} %\n", 100.0 * off);
        worst = worst.max(off.abs() / allowed);
    }
    println!("{report}");
    assert!(worst <= 1.0, "{report}");
}

#[test]
fn the_surface_is_one_closed_ball() {
    let mesh = &BODY.mesh;
    let n = mesh.positions.len();
    assert!((5000..=8000).contains(&n), "{n} vertices");
    let topology = mesh.topology();
    assert_eq!(topology.non_manifold_edges, 0);
    assert!(topology.edges.iter().all(|e| e.triangles[1].is_some()), "open edges");
    assert_eq!(mesh.components().1, 1);
    let euler = n as i64 - topology.edges.len() as i64 + mesh.triangles.len() as i64;
    assert_eq!(euler, 2, "genus is not 0");
    // Oriented: every directed edge occurs once.
    let mut directed: Vec<[u32; 2]> =
        mesh.triangles.iter().flat_map(|t| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]]).collect();
    directed.sort_unstable();
    assert!(directed.windows(2).all(|w| w[0] != w[1]));
    let v = volume(mesh);
    // A woman of 67.8 kg (the survey's mean) at the density of water and a bit less.
    assert!((0.060..0.075).contains(&v), "volume {v} m³");
    assert!(mesh.positions.iter().all(|p| p.y > -1e-3));
}

#[test]
fn triangles_are_well_shaped() {
    let mesh = &BODY.mesh;
    let mut angles: Vec<f32> = mesh
        .triangles
        .iter()
        .map(|t| {
            let p = t.map(|i| mesh.positions[i as usize]);
            (0..3)
                .map(|k| (p[(k + 1) % 3] - p[k]).angle_between(p[(k + 2) % 3] - p[k]).to_degrees())
                .fold(180.0, f32::min)
        })
        .collect();
    angles.sort_by(f32::total_cmp);
    let at = |share: f32| angles[(share * angles.len() as f32) as usize];
    println!(
        "least angle {:.1}°, 1 % {:.1}°, 10 % {:.1}°, median {:.1}°",
        angles[0],
        at(0.01),
        at(0.1),
        at(0.5)
    );
    assert!(at(0.01) >= 15.0, "1 % of the triangles are sharper than {}°", at(0.01));
    assert!(angles[0] > 5.0, "a sliver of {}°", angles[0]);
}

#[test]
fn left_and_right_mirror_each_other_exactly() {
    let body = &*BODY;
    let key = |p: Vec3| p.to_array().map(f32::to_bits);
    let by_place: std::collections::HashMap<_, _> =
        body.mesh.positions.iter().enumerate().map(|(v, p)| (key(*p + Vec3::ZERO), v)).collect();
    let swap = |j: u16| {
        let name = &body.skeleton.joints[j as usize].name;
        let other = match name.split_once('_') {
            Some(("l", rest)) => format!("r_{rest}"),
            Some(("r", rest)) => format!("l_{rest}"),
            _ => name.clone(),
        };
        body.skeleton.find(&other).unwrap() as u16
    };
    for (v, p) in body.mesh.positions.iter().enumerate() {
        let other = by_place[&key(*p * Vec3::new(-1.0, 1.0, 1.0) + Vec3::ZERO)];
        let mut own: Vec<_> = body.skin.row(v).collect();
        let mut mirrored: Vec<_> = body.skin.row(other).map(|(j, w)| (swap(j), w)).collect();
        own.sort_by_key(|r| r.0);
        mirrored.sort_by_key(|r| r.0);
        assert_eq!(own.len(), mirrored.len(), "vertex {v} at {p}");
        for (a, b) in own.iter().zip(&mirrored) {
            assert!(a.0 == b.0 && (a.1 - b.1).abs() < 1e-6, "vertex {v} at {p}: {own:?} {mirrored:?}");
        }
    }
}

#[test]
fn weights_stay_on_their_side() {
    let body = &*BODY;
    assert!(body.skin.max_influences() <= 4);
    let name = |j: u16| body.skeleton.joints[j as usize].name.as_str();
    let p = Proportions::female();
    for (v, at) in body.mesh.positions.iter().enumerate() {
        for (j, w) in body.skin.row(v) {
            let n = name(j);
            let leg = n.ends_with("hip") || n.ends_with("knee") || n.ends_with("ankle");
            let other = if at.x > 0.0 { "r_" } else { "l_" };
            if leg && at.y < p.crotch_height - 0.02 && at.x.abs() > 1e-3 {
                assert!(!n.starts_with(other), "{n} pulls {at} by {w}");
            }
            // The flank below the armpit must not follow the arm.
            let arm = n.ends_with("shoulder") || n.ends_with("elbow");
            if arm && at.x.abs() < 0.155 && at.y < 1.13 {
                assert!(w < 0.02, "{n} pulls the flank at {at} by {w}");
            }
        }
    }
}

#[test]
fn bends_of_90_degrees_keep_the_volume() {
    let body = &*BODY;
    let rest = volume(&body.mesh);
    let (x, y, z) = (Vec3::X, Vec3::Y, Vec3::Z);
    let elbow_axis = (joint(body, "l_wrist") - joint(body, "l_elbow")).cross(z);
    let poses: [(&str, Vec<(&str, Vec3, f32)>); 7] = [
        (
            "elbows",
            vec![("l_elbow", elbow_axis, 90.0), ("r_elbow", elbow_axis * Vec3::new(1.0, -1.0, 1.0), 90.0)],
        ),
        ("knees", vec![("l_knee", x, 90.0), ("r_knee", x, 90.0)]),
        ("hips", vec![("l_hip", x, -90.0), ("r_hip", x, -90.0)]),
        ("arms out and up", vec![("l_shoulder", z, 90.0), ("r_shoulder", z, -90.0)]),
        ("arms forward", vec![("l_shoulder", y, -90.0), ("r_shoulder", y, 90.0)]),
        ("stride", vec![("l_hip", x, -35.0), ("r_hip", x, 25.0), ("r_knee", x, 40.0)]),
        ("spine", vec![("vl5", x, 25.0), ("vl1", x, 30.0), ("vt6", x, 20.0)]),
    ];
    for (name, turns) in poses {
        let share = volume(&bent(body, &turns)) / rest;
        println!("{name:16} {:+.2} %", 100.0 * (share - 1.0));
        assert!((share - 1.0).abs() < 0.04, "{name}: volume changes by {:.2} %", 100.0 * (share - 1.0));
    }
}

#[test]
fn sections_near_bent_joints_do_not_collapse() {
    let body = &*BODY;
    // joint, its neighbours along the limb, axis and angle, from where to where along the limb in metres
    for (name, before, after, axis, range) in [
        ("l_elbow", "l_shoulder", "l_wrist", Vec3::new(-1.0, -1.0, 0.0), -0.08..0.08f32),
        ("l_knee", "l_hip", "l_ankle", Vec3::X, -0.12..0.12),
        ("l_hip", "l_hip", "l_knee", -Vec3::X, 0.10..0.20),
        ("l_shoulder", "l_shoulder", "l_elbow", Vec3::Z, 0.11..0.18),
    ] {
        let posed = bent(body, &[(name, axis, 90.0)]);
        let at = joint(body, name);
        let turn = Quat::from_axis_angle(axis.normalize(), 90f32.to_radians());
        let incoming = (at - joint(body, before)).normalize_or_zero();
        let outgoing = (joint(body, after) - at).normalize();
        let bent_out = turn * outgoing;
        let mut least = f32::INFINITY;
        for k in 0..=16 {
            let s = range.start + (range.end - range.start) * k as f32 / 16.0;
            let (p, dir) =
                if s < 0.0 { (at + incoming * s, incoming) } else { (at + outgoing * s, outgoing) };
            let Some(before) = measure::section_around(&body.mesh, p, dir) else { continue };
            let q = if s < 0.0 { p } else { at + turn * (p - at) };
            // Planes turn gradually through the bend, as sections of a bent tube do.
            let share = ((s / 0.05) * 0.5 + 0.5).clamp(0.0, 1.0);
            let normal = if range.start < 0.0 { incoming.lerp(bent_out, share) } else { bent_out };
            let Some(after) = measure::section_around(&posed, q, normal) else { continue };
            least = least.min(measure::area(&after) / measure::area(&before));
        }
        println!("{name:12} least section {:.0} %", 100.0 * least);
        assert!(least >= 0.70, "{name}: a section shrinks to {:.0} %", 100.0 * least);
    }
}

/// Whether the segment from `a` to `b` passes through the triangle (Möller and Trumbore 1997).
fn pierces(a: Vec3, b: Vec3, [p, q, r]: [Vec3; 3]) -> bool {
    let (e1, e2, dir) = (q - p, r - p, b - a);
    let h = dir.cross(e2);
    let det = e1.dot(h);
    if det.abs() < 1e-14 {
        return false;
    }
    let s = a - p;
    let u = s.dot(h) / det;
    let g = s.cross(e1);
    let (v, t) = (dir.dot(g) / det, e2.dot(g) / det);
    u >= 0.0 && v >= 0.0 && u + v <= 1.0 && (0.0..=1.0).contains(&t)
}

/// Pairs of triangles that share no vertex and cut each other, found through a grid.
fn crossings(mesh: &Mesh) -> usize {
    const CELL: f32 = 0.03;
    let corners = |t: usize| mesh.triangles[t].map(|i| mesh.positions[i as usize]);
    let mut cells: std::collections::HashMap<[i32; 3], Vec<usize>> = Default::default();
    for t in 0..mesh.triangles.len() {
        let [a, b, c] = corners(t);
        let low = (a.min(b).min(c) / CELL).floor().to_array().map(|x| x as i32);
        let high = (a.max(b).max(c) / CELL).floor().to_array().map(|x| x as i32);
        for x in low[0]..=high[0] {
            for y in low[1]..=high[1] {
                for z in low[2]..=high[2] {
                    cells.entry([x, y, z]).or_default().push(t);
                }
            }
        }
    }
    let mut found = std::collections::HashSet::new();
    for list in cells.values() {
        for (k, &s) in list.iter().enumerate() {
            for &t in &list[k + 1..] {
                if mesh.triangles[s].iter().any(|v| mesh.triangles[t].contains(v)) {
                    continue;
                }
                let (a, b) = (corners(s), corners(t));
                let cut =
                    (0..3).any(|k| pierces(a[k], a[(k + 1) % 3], b) || pierces(b[k], b[(k + 1) % 3], a));
                if cut {
                    found.insert([s.min(t), s.max(t)]);
                }
            }
        }
    }
    found.len()
}

#[test]
fn nothing_cuts_itself_at_rest() {
    assert_eq!(crossings(&BODY.mesh), 0);
    // The check itself must be able to find something: a knee bent far through the other leg.
    let through = bent(&BODY, &[("l_hip", Vec3::Z, -40.0)]);
    assert!(crossings(&through) > 50);
}

#[test]
fn legs_and_arms_stand_apart() {
    let mesh = &BODY.mesh;
    // Below the crotch nothing is near the middle, and below the armpit the arm is clear of the trunk.
    let p = Proportions::female();
    let gap =
        mesh.positions.iter().filter(|v| v.y < p.crotch_height - 0.04).map(|v| v.x.abs()).fold(1.0, f32::min);
    assert!(gap > 0.003, "the thighs are {} mm apart", 2000.0 * gap);
    let loops = measure::sections(mesh, Vec3::new(0.0, 1.15, 0.0), Vec3::Y);
    assert_eq!(loops.len(), 3, "trunk and two arms");
}

#[test]
fn building_it_again_gives_the_same() {
    assert!(builtin::body("mannequin:female").unwrap() == *BODY);
}

#[test]
fn the_male_mannequin_is_closed_and_fits_the_tape_too() {
    let (body, p) = (builtin::body("mannequin:male").unwrap(), Proportions::male());
    let topology = body.mesh.topology();
    let n = body.mesh.positions.len();
    assert!((5000..=8000).contains(&n), "{n} vertices");
    assert!(topology.non_manifold_edges == 0 && topology.edges.iter().all(|e| e.triangles[1].is_some()));
    assert_eq!(n as i64 - topology.edges.len() as i64 + body.mesh.triangles.len() as i64, 2);
    assert_eq!(crossings(&body.mesh), 0);
    for (y, wanted) in [(p.bust_height, 1.0587), (p.waist_height, 0.9406), (p.hip_height, 1.0195)] {
        let girth = measure::girth(&body.mesh, Vec3::new(0.0, y, 0.0), Vec3::Y).unwrap();
        assert!((girth / wanted - 1.0).abs() < 0.03, "{girth} instead of {wanted} at {y}");
    }
    assert!((body.mesh.bounds().1.y / p.stature - 1.0).abs() < 0.01);
}

#[test]
fn every_joint_lies_inside() {
    let body = &*BODY;
    let world = body.skeleton.world_from_joints(&body.skeleton.rest_pose());
    for (joint, world) in body.skeleton.joints.iter().zip(&world) {
        let at = Vec3::from(world.translation);
        // An odd number of walls on the way out; the direction avoids the mesh's symmetries.
        let out = at + Vec3::new(0.31, 2.0, 3.7);
        let walls = body
            .mesh
            .triangles
            .iter()
            .filter(|t| pierces(at, out, t.map(|i| body.mesh.positions[i as usize])));
        assert_eq!(walls.count() % 2, 1, "{} at {at} is outside", joint.name);
    }
}

#[test]
fn impossible_proportions_are_an_error_that_says_what() {
    let build = |p: Proportions| builtin::mannequin::mannequin("odd", &p).unwrap_err().to_string();
    let fault = build(Proportions { waist_height: 5.0, ..Proportions::female() });
    assert!(fault.contains("bust height"), "{fault}");
    let fault = build(Proportions { stature: f32::NAN, ..Proportions::female() });
    assert!(fault.contains("stature"), "{fault}");
    let fault = build(Proportions { wrist_circumference: 1.5, ..Proportions::female() });
    assert!(fault.contains("wrist"), "{fault}");
}
