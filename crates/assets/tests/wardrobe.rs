//! The built-in garments are what a tailor would pass: cut to size, sewn edge to edge, and on the body without touching it.

use glam::{Vec2, Vec3};
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;
use toile_assets::{Body, Garment, Mesh, PinTarget, RestSource, TriangleTree, builtin};

/// What to ask for, vertices, boundary loops, panels, pinned edge.
const WANTED: [(&str, usize, usize, usize, Option<&str>); 12] = [
    ("dress", 766, 4, 4, None),
    ("dress:3410", 3410, 4, 4, None),
    ("oscar", 820, 4, 4, None),
    ("skirt", 820, 2, 4, Some("waist")),
    ("long-skirt", 766, 2, 4, Some("waist")),
    ("shirt", 3329, 4, 4, None),
    ("sweater:3000", 3000, 4, 4, None),
    ("poncho", 2450, 2, 2, None),
    ("cape", 2242, 1, 2, Some("neckline")),
    ("pants", 560, 3, 4, Some("waist")),
    ("jacket", 3600, 3, 5, Some("collar")),
    ("jumper", 900, 4, 4, None),
];

fn body() -> &'static Body {
    static BODY: OnceLock<Body> = OnceLock::new();
    BODY.get_or_init(|| builtin::body("mannequin:female").unwrap())
}

fn wardrobe() -> &'static [Garment] {
    static WARDROBE: OnceLock<Vec<Garment>> = OnceLock::new();
    WARDROBE.get_or_init(|| WANTED.iter().map(|w| builtin::garment(w.0, body()).unwrap()).collect())
}

/// The value below which a share of them lies.
fn percentile(values: &mut [f32], share: f32) -> f32 {
    values.sort_by(f32::total_cmp);
    values[((values.len() - 1) as f32 * share).round() as usize]
}

/// Length over flat length minus one of every edge of every triangle.
fn strains(g: &Garment) -> Vec<f32> {
    let mut out = Vec::new();
    for (tri, flat) in g.sim.triangles.iter().zip(&g.rest) {
        for k in 0..3 {
            let [a, b] = [tri[k], tri[(k + 1) % 3]].map(|i| g.sim.positions[i as usize]);
            out.push(a.distance(b) / flat[k].distance(flat[(k + 1) % 3]) - 1.0);
        }
    }
    out
}

fn angles(g: &Garment) -> Vec<f32> {
    let corner =
        |t: &[Vec2; 3], k: usize| (t[(k + 1) % 3] - t[k]).angle_to(t[(k + 2) % 3] - t[k]).to_degrees();
    g.rest.iter().map(|t| (0..3).map(|k| corner(t, k)).fold(180.0, f32::min)).collect()
}

/// Edges of `a` that pass through triangles of `b` and share no vertex with them, found with a grid.
fn crossings(a: &Mesh, b: &Mesh, same: bool) -> Vec<([u32; 2], u32)> {
    const CELL: f32 = 0.04;
    let cell = |p: Vec3| (p / CELL).floor().to_array().map(|x| x as i32);
    let mut grid: HashMap<[i32; 3], Vec<u32>> = HashMap::new();
    let span = |ps: &[Vec3]| {
        let lo = cell(ps.iter().fold(Vec3::INFINITY, |a, b| a.min(*b)));
        let hi = cell(ps.iter().fold(Vec3::NEG_INFINITY, |a, b| a.max(*b)));
        (lo[0]..=hi[0])
            .flat_map(move |x| (lo[1]..=hi[1]).flat_map(move |y| (lo[2]..=hi[2]).map(move |z| [x, y, z])))
    };
    for (t, tri) in b.triangles.iter().enumerate() {
        for c in span(&tri.map(|i| b.positions[i as usize])) {
            grid.entry(c).or_default().push(t as u32);
        }
    }
    let mut found = HashSet::new();
    for e in a.topology().edges {
        let [p, q] = e.ends.map(|i| a.positions[i as usize]);
        for c in span(&[p, q]) {
            for &t in grid.get(&c).into_iter().flatten() {
                let tri = b.triangles[t as usize];
                if same && tri.iter().any(|v| e.ends.contains(v)) {
                    continue;
                }
                if passes(p, q, tri.map(|i| b.positions[i as usize])) {
                    found.insert((e.ends, t));
                }
            }
        }
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_unstable();
    found
}

/// Whether the segment passes through the triangle (Möller and Trumbore 1997).
fn passes(p: Vec3, q: Vec3, [a, b, c]: [Vec3; 3]) -> bool {
    let (d, e1, e2) = (q - p, b - a, c - a);
    let n = d.cross(e2);
    let det = e1.dot(n);
    if det.abs() < 1e-12 {
        return false;
    }
    let s = p - a;
    let u = s.dot(n) / det;
    let w = s.cross(e1);
    let v = d.dot(w) / det;
    let t = e2.dot(w) / det;
    u >= 0.0 && v >= 0.0 && u + v <= 1.0 && (0.0..=1.0).contains(&t)
}

/// Least distance of the garment to the body at vertices, edge middles and triangle middles.
fn clearance(g: &Garment, body: &Mesh) -> (f32, Vec3) {
    let tree = TriangleTree::new(&body.positions, &body.triangles);
    let mut points = g.sim.positions.clone();
    points.extend(
        g.sim
            .topology()
            .edges
            .iter()
            .map(|e| 0.5 * (g.sim.positions[e.ends[0] as usize] + g.sim.positions[e.ends[1] as usize])),
    );
    points.extend(
        g.sim.triangles.iter().map(|t| t.iter().map(|&i| g.sim.positions[i as usize]).sum::<Vec3>() / 3.0),
    );
    points
        .into_iter()
        .map(|p| (tree.closest(p).unwrap().distance_m, p))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .unwrap()
}

/// Both at once, for messages.
fn each() -> impl Iterator<Item = (&'static str, usize, usize, usize, Option<&'static str>, &'static Garment)>
{
    WANTED.iter().zip(wardrobe()).map(|(w, g)| (w.0, w.1, w.2, w.3, w.4, g))
}

#[test]
fn vertex_counts_are_within_three_percent() {
    for (name, count, .., g) in each() {
        let got = g.sim.positions.len();
        assert!(got.abs_diff(count) * 100 <= 3 * count, "{name}: {got} instead of {count}");
    }
}

#[test]
fn finer_dresses_come_at_the_asked_size() {
    for count in [400, 20_530] {
        let g = builtin::garment(&format!("dress:{count}"), body()).unwrap();
        let got = g.sim.positions.len();
        assert!(got.abs_diff(count) * 100 <= 3 * count, "{got} instead of {count}");
        assert_eq!(g.sim.topology().boundary_loops().len(), 4, "dress:{count}");
    }
}

#[test]
fn triangles_are_even_and_none_is_turned_over() {
    for (name, .., g) in each() {
        let mut angles = angles(g);
        let (least, first) = (percentile(&mut angles, 0.0), percentile(&mut angles, 0.01));
        assert!(least > 10.0 && first >= 20.0, "{name}: least {least}, 1 % {first}");
        assert!((0..g.rest.len()).all(|t| g.rest_area(t) > 0.0), "{name} has a triangle turned over");
        let mut areas: Vec<f32> = (0..g.rest.len()).map(|t| g.rest_area(t)).collect();
        let spread = percentile(&mut areas, 0.99) / percentile(&mut areas, 0.01);
        assert!(spread < 5.0, "{name}: large triangles are {spread} times the small ones");
    }
}

#[test]
fn seams_match_in_length_or_declare_their_gather() {
    for (name, .., g) in each() {
        assert!(!g.seams.is_empty(), "{name}");
        for s in &g.seams {
            let ratio = s.lengths[0] / s.lengths[1];
            assert!((ratio / s.gather - 1.0).abs() < 0.01, "{name} {}: {ratio} for {}", s.name, s.gather);
            assert!(s.vertices.len() >= 3, "{name} {}", s.name);
            // The welded chain is a chain of edges.
            let edges: HashSet<[u32; 2]> = g.sim.topology().edges.iter().map(|e| e.ends).collect();
            for w in s.vertices.windows(2) {
                assert!(edges.contains(&[w[0].min(w[1]), w[0].max(w[1])]), "{name} {}", s.name);
            }
        }
    }
}

#[test]
fn the_welded_mesh_is_one_oriented_surface_with_the_expected_openings() {
    for (name, _, loops, panels, _, g) in each() {
        let topology = g.sim.topology();
        assert_eq!(topology.non_manifold_edges, 0, "{name}");
        assert_eq!(topology.boundary_loops().len(), loops, "{name}");
        assert_eq!(g.sim.components().1, 1, "{name}");
        let mut seen = HashSet::new();
        for t in &g.sim.triangles {
            for k in 0..3 {
                assert!(seen.insert((t[k], t[(k + 1) % 3])), "{name}: neighbours disagree on the outside");
            }
        }
        assert_eq!(g.panels.len(), panels, "{name}");
        let mut next = 0;
        for p in &g.panels {
            assert_eq!(p.first, next, "{name} {}", p.name);
            next += p.count;
        }
        assert_eq!(next as usize, g.sim.triangles.len(), "{name}");
    }
}

#[test]
fn render_mesh_and_simulation_mesh_tell_the_same_story() {
    for (name, .., g) in each() {
        assert_eq!(g.rest_source, RestSource::Panels);
        assert_eq!(g.render.triangles.len(), g.sim.triangles.len(), "{name}");
        for (t, (r, s)) in g.render.triangles.iter().zip(&g.sim.triangles).enumerate() {
            for k in 0..3 {
                assert_eq!(g.sim_from_render[r[k] as usize], s[k], "{name}");
                assert_eq!(g.render.uvs[r[k] as usize], g.rest[t][k], "{name}");
                assert_eq!(g.render.positions[r[k] as usize], g.sim.positions[s[k] as usize], "{name}");
            }
        }
        assert!(g.sim.positions.iter().all(|p| p.is_finite()), "{name}");
    }
}

#[test]
fn placing_strains_the_cloth_only_moderately() {
    for (name, .., g) in each() {
        let mut all = strains(g);
        let median = percentile(&mut all, 0.5);
        let (least, most) = (percentile(&mut all, 0.0), percentile(&mut all, 1.0));
        // A handful of edges where a sleeve's cap meets the back of the armhole go beyond 60 %.
        let high = percentile(&mut all, 0.999);
        assert!(median.abs() < 0.15 && least > -0.6 && high < 0.6, "{name}: {least} {median} {high}");
        assert!(most < 0.8, "{name}: {most}");
        let flat: f32 = (0..g.rest.len()).map(|t| g.rest_area(t)).sum();
        let ratio = g.sim.area() / flat;
        assert!((0.85..1.15).contains(&ratio), "{name}: placed area is {ratio} of the flat area");
    }
}

#[test]
fn nothing_touches_the_body_or_itself() {
    for (name, .., g) in each() {
        let through = crossings(&g.sim, &body().mesh, false);
        assert!(through.is_empty(), "{name}: {} edges pass through the body", through.len());
        let through = crossings(&body().mesh, &g.sim, false);
        assert!(through.is_empty(), "{name}: {} edges of the body pass through it", through.len());
        let through = crossings(&g.sim, &g.sim, true);
        assert!(through.is_empty(), "{name}: {} edges pass through itself", through.len());
        let (gap, at) = clearance(g, &body().mesh);
        assert!(gap >= 0.004, "{name}: only {gap} m from the body at {at}");
    }
}

/// The winding number of the garment cannot tell outside, as it has holes; the body can: seen from
/// the nearest point of the body, the cloth's outer face looks away.
#[test]
fn the_outer_face_looks_away_from_the_body() {
    let tree = TriangleTree::new(&body().mesh.positions, &body().mesh.triangles);
    for (name, .., g) in each() {
        let mut wrong = 0;
        let mut near = 0;
        for t in &g.sim.triangles {
            let [a, b, c] = t.map(|i| g.sim.positions[i as usize]);
            let middle = (a + b + c) / 3.0;
            let from_body = tree.closest(middle).unwrap();
            if from_body.distance_m < 0.03 {
                near += 1;
                wrong += u32::from((b - a).cross(c - a).dot(middle - from_body.point) <= 0.0);
            }
        }
        assert!(
            near > 0 && wrong * 50 <= near,
            "{name}: {wrong} of {near} triangles near the body look inwards"
        );
    }
}

#[test]
fn pins_are_where_a_garment_needs_them() {
    for (name, .., pin, g) in each() {
        assert_eq!(g.pins.first().map(|p| p.name.as_str()), pin, "{name}");
        for p in &g.pins {
            assert_eq!(p.target, PinTarget::Body);
            assert!(p.vertices.len() > 10 && p.vertices.windows(2).all(|w| w[0] < w[1]), "{name}");
        }
        assert_eq!(g.fabric, "cotton");
    }
}

#[test]
fn a_collar_is_held_at_its_own_length() {
    let jacket = wardrobe().iter().find(|g| g.name == "jacket").unwrap();
    let held = |v: u32| jacket.pins[0].vertices.binary_search(&v).is_ok();
    let mut edges = 0;
    for (tri, flat) in jacket.sim.triangles.iter().zip(&jacket.rest) {
        for k in 0..3 {
            let [a, b] = [tri[k], tri[(k + 1) % 3]];
            if held(a) && held(b) {
                let [p, q] = [a, b].map(|i| jacket.sim.positions[i as usize]);
                let strain = p.distance(q) / flat[k].distance(flat[(k + 1) % 3]) - 1.0;
                assert!(strain.abs() < 0.03, "{a}-{b}: {strain}");
                edges += 1;
            }
        }
    }
    assert!(edges > 9, "{edges}");
}

#[test]
fn cutting_twice_gives_the_same_bits() {
    for name in ["dress", "shirt:1500"] {
        assert_eq!(builtin::garment(name, body()).unwrap(), builtin::garment(name, body()).unwrap());
    }
}

#[test]
fn the_dress_is_wide_enough_to_swing() {
    let g = &wardrobe()[0];
    let loops = g.sim.topology().boundary_loops();
    let hem = loops.iter().max_by_key(|l| l.len()).unwrap();
    let at = |i: usize| g.sim.positions[hem[i % hem.len()] as usize];
    let around: f32 = (0..hem.len()).map(|i| at(i).distance(at(i + 1))).sum();
    // Hips are 1.021 m around.
    assert!(around > 1.7 * 1.021, "hem {around} m");
}

#[test]
fn wrong_names_and_sizes_are_refused_with_a_hint() {
    let fault = |name: &str| builtin::garment(name, body()).unwrap_err().to_string();
    assert!(fault("frock").contains("dress"));
    for bad in ["dress:", "dress:x", "dress:-3", "dress:0", "dress:99999999999999999999"] {
        assert!(fault(bad).contains("number of vertices"), "{bad}");
    }
}

#[test]
fn a_body_without_arms_is_refused() {
    let mut body = body().clone();
    for joint in &mut body.skeleton.joints {
        joint.name = format!("bone {}", joint.name.len());
        joint.parent = None;
    }
    assert!(builtin::garment("dress", &body).is_err());
}
