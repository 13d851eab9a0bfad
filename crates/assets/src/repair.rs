//! Meshes as people have them, made fit for simulation. Everything found is said.

use crate::{Error, Mesh, Problem, Result};
use glam::Vec3;
use std::collections::{HashMap, HashSet};

/// What to repair and how far.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RepairSettings {
    /// Vertices closer than this become one for simulation. Never more than a tenth of the mesh's short
    /// edges is used, so that fine meshes do not collapse.
    pub weld_m: f32,
    /// Whether triangles are turned so that neighbours agree and a garment's outside is outside.
    pub orient: bool,
}

impl RepairSettings {
    /// These with some of them changed.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

impl Default for RepairSettings {
    fn default() -> Self {
        // A tenth of a millimetre: above the rounding of six decimals, below the thickness of cloth.
        Self { weld_m: 1e-4, orient: true }
    }
}

/// A mesh in two forms that share their triangles.
#[derive(Clone, Debug, PartialEq)]
pub struct Repaired {
    /// As it is drawn: its own vertices and texture coordinates, without what was removed.
    pub render: Mesh,
    /// As it is simulated: welded.
    pub sim: Mesh,
    /// For each render vertex the simulation vertex it follows.
    pub sim_from_render: Vec<u32>,
    /// For each render vertex its index in the mesh that was given.
    pub given_from_render: Vec<u32>,
    /// For each triangle (of both meshes, they correspond) its index in the mesh that was given.
    pub given_triangle: Vec<u32>,
    /// What was found.
    pub problems: Vec<Problem>,
}

/// Welds, cleans and orients a mesh. Values that are not finite and indices without a vertex are errors.
pub fn repair(given: &Mesh, settings: &RepairSettings) -> Result<Repaired> {
    check(given)?;
    let mut problems = Vec::new();
    let mut say = |what: &str, count: usize, action: &str| {
        if count > 0 {
            problems.push(Problem::new(what, count, action));
        }
    };

    let place = weld(given, settings.weld_m);
    let mut kept: Vec<u32> = Vec::with_capacity(given.triangles.len());
    let mut corners: Vec<[u32; 3]> = Vec::with_capacity(given.triangles.len());
    let mut in_line = Vec::new();
    let (mut flat, mut twice) = (0, 0);
    let mut seen = HashSet::new();
    for (t, tri) in given.triangles.iter().enumerate() {
        let mut ends = tri.map(|i| place[i as usize]);
        if ends[0] == ends[1] || ends[1] == ends[2] || ends[2] == ends[0] {
            flat += 1;
        } else if is_flat(ends.map(|v| given.positions[v as usize])) {
            in_line.push(*tri);
        } else {
            ends.sort_unstable();
            if seen.insert(ends) {
                kept.push(t as u32);
                corners.push(*tri);
            } else {
                twice += 1;
            }
        }
    }
    say("duplicate faces", twice, "removed");
    let merged = merge_slivers(&in_line, &mut corners, &mut kept, &place, &given.positions);
    say("triangles whose corners lie in a line", merged, "merged into their neighbour");
    say("zero-area triangles", flat + in_line.len() - merged, "removed");
    if kept.is_empty() {
        return Err(Error::Invalid(format!(
            "no usable triangle is left of {}; is the mesh flat, empty or far too small?",
            given.triangles.len()
        )));
    }

    if settings.orient {
        let (flipped, inside_out) = orient(&mut corners, &place, &given.positions);
        say("triangles that face the other way than their neighbours", flipped, "turned");
        say("parts that were inside out", inside_out, "turned");
    }

    let (render, given_from_render) = compact(given, &corners);
    let unused = given.positions.len() - given_from_render.len();
    say("vertices that no face uses", unused, "removed");
    let (sim, sim_from_render) = welded(given, &render, &given_from_render, &place);
    let seam = render.positions.len() - sim.positions.len();
    say("vertices doubled along seams", seam, "welded for simulation, kept for drawing");
    let edges = many_sided_edges(&sim);
    say("edges with more than two faces", edges, "kept; cloth bends there between the first two");
    let (_, parts) = sim.components();
    say("separate parts", if parts > 1 { parts } else { 0 }, "kept; each hangs on its own");
    say("meshes without texture coordinates", usize::from(render.uvs.is_empty()), "rest shape from the mesh");
    Ok(Repaired { render, sim, sim_from_render, given_from_render, given_triangle: kept, problems })
}

/// Finite numbers, indices within range, as many texture coordinates as vertices or none.
fn check(mesh: &Mesh) -> Result<()> {
    let n = mesh.positions.len();
    if let Some(v) = mesh.positions.iter().position(|p| !p.is_finite()) {
        return Err(Error::Invalid(format!("vertex {v} is at {}: not finite", mesh.positions[v])));
    }
    // Farther than the moon no coordinate of a garment means anything, and f32 has no millimetres left.
    if let Some(v) = mesh.positions.iter().position(|p| p.abs().max_element() > 4e8) {
        return Err(Error::Invalid(format!("vertex {v} is at {}: too far away", mesh.positions[v])));
    }
    if let Some(v) = mesh.uvs.iter().position(|p| !p.is_finite()) {
        return Err(Error::Invalid(format!("texture coordinate {v} is {}: not finite", mesh.uvs[v])));
    }
    if !mesh.uvs.is_empty() && mesh.uvs.len() != n {
        return Err(Error::Invalid(format!("{} texture coordinates for {n} vertices", mesh.uvs.len())));
    }
    match mesh.triangles.iter().position(|t| t.iter().any(|&i| i as usize >= n)) {
        Some(t) => Err(Error::Invalid(format!("triangle {t} names a vertex beyond the {n} there are"))),
        None => Ok(()),
    }
}

/// For each vertex the first vertex within the tolerance, found through a grid of cells of that size.
fn weld(mesh: &Mesh, tolerance_m: f32) -> Vec<u32> {
    let mut edges: Vec<f32> = mesh
        .triangles
        .iter()
        .flat_map(|t| (0..3).map(move |k| (t[k], t[(k + 1) % 3])))
        .map(|(a, b)| mesh.positions[a as usize].distance(mesh.positions[b as usize]))
        .filter(|d| *d > 0.0)
        .collect();
    // The short edges of the mesh, but not its slivers.
    let tenth = edges.len() / 10;
    let short = if edges.is_empty() { 0.0 } else { *edges.select_nth_unstable_by(tenth, f32::total_cmp).1 };
    let tolerance = tolerance_m.min(0.1 * short).max(1e-9);
    let cell = |p: Vec3| (p / tolerance).floor().to_array().map(|x| x as i64);
    let mut grid: HashMap<[i64; 3], Vec<u32>> = HashMap::new();
    let mut place = Vec::with_capacity(mesh.positions.len());
    for (v, &p) in mesh.positions.iter().enumerate() {
        let c = cell(p);
        let mut found: Option<u32> = None;
        for near in 0..27 {
            let near = [c[0] + near % 3 - 1, c[1] + near / 3 % 3 - 1, c[2] + near / 9 - 1];
            for &q in grid.get(&near).into_iter().flatten() {
                if mesh.positions[q as usize].distance(p) <= tolerance && found.is_none_or(|f| q < f) {
                    found = Some(q);
                }
            }
        }
        place.push(found.unwrap_or(v as u32));
        if found.is_none() {
            grid.entry(c).or_default().push(v as u32);
        }
    }
    place
}

/// Three corners in a line: the height is under a millionth of the longest edge.
fn is_flat(corners: [Vec3; 3]) -> bool {
    let [a, b, c] = corners.map(|p| p.as_dvec3());
    let longest = (b - a).length_squared().max((c - b).length_squared()).max((a - c).length_squared());
    (b - a).cross(c - a).length() <= 1e-6 * longest
}

/// Removing a triangle whose corner `c` lies on its edge `ab` would leave a slit: the neighbour across `ab`
/// would pass `c` by. So the neighbour is split at `c` instead. Where the two do not draw with the same
/// vertices (a texture seam) or there is no neighbour, nothing is done. Returns how many were merged.
fn merge_slivers(
    slivers: &[[u32; 3]],
    corners: &mut Vec<[u32; 3]>,
    kept: &mut Vec<u32>,
    place: &[u32],
    positions: &[Vec3],
) -> usize {
    if slivers.is_empty() {
        return 0;
    }
    let mut beside: HashMap<[u32; 2], Vec<usize>> = HashMap::new();
    let key = |a: u32, b: u32| [a.min(b), a.max(b)];
    for (t, tri) in corners.iter().enumerate() {
        (0..3).for_each(|k| beside.entry(key(tri[k], tri[(k + 1) % 3])).or_default().push(t));
    }
    let mut merged = 0;
    for sliver in slivers {
        let at = |k: usize| positions[place[sliver[k % 3] as usize] as usize];
        let long = |k: &usize| at(*k).distance_squared(at(*k + 1));
        let k = (0..3).max_by(|a, b| long(a).total_cmp(&long(b))).unwrap_or(0);
        let [a, b, c] = [0, 1, 2].map(|i| sliver[(k + i) % 3]);
        let holds = |t: &&usize| corners[**t].contains(&a) && corners[**t].contains(&b);
        let Some(&t) = beside.get(&key(a, b)).into_iter().flatten().find(holds) else { continue };
        let across = corners[t].into_iter().find(|v| *v != a && *v != b);
        if across.is_none_or(|d| place[d as usize] == place[c as usize]) {
            continue;
        }
        let with = |from: u32| corners[t].map(|v| if v == from { c } else { v });
        let halves = [with(a), with(b)];
        if halves.iter().any(|h| is_flat(h.map(|v| positions[place[v as usize] as usize]))) {
            continue;
        }
        corners[t] = halves[0];
        corners.push(halves[1]);
        kept.push(kept[t]);
        for (t, tri) in [(t, halves[0]), (corners.len() - 1, halves[1])] {
            (0..3).for_each(|k| beside.entry(key(tri[k], tri[(k + 1) % 3])).or_default().push(t));
        }
        merged += 1;
    }
    merged
}

/// Turns triangles so that neighbours run along their common edge in opposite directions, keeping the
/// majority of each part as it was, then turns whole parts whose normals point at their own middle.
/// Returns how many triangles and how many parts were turned.
fn orient(corners: &mut [[u32; 3]], place: &[u32], positions: &[Vec3]) -> (usize, usize) {
    let at = |t: &[u32; 3], k: usize| place[t[k % 3] as usize];
    let mut beside: HashMap<[u32; 2], Vec<(u32, bool)>> = HashMap::new();
    for (t, tri) in corners.iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (at(tri, k), at(tri, k + 1));
            beside.entry([a.min(b), a.max(b)]).or_default().push((t as u32, a < b));
        }
    }
    let mut turned: Vec<Option<bool>> = vec![None; corners.len()];
    let (mut flipped, mut inside_out) = (0, 0);
    for start in 0..corners.len() {
        if turned[start].is_some() {
            continue;
        }
        turned[start] = Some(false);
        let mut part = vec![start];
        let mut next = 0;
        while next < part.len() {
            let t = part[next];
            next += 1;
            let turn = turned[t] == Some(true);
            for k in 0..3 {
                let (a, b) = (at(&corners[t], k), at(&corners[t], k + 1));
                let sides = &beside[&[a.min(b), a.max(b)]];
                // Where three sheets meet no choice is right.
                if sides.len() != 2 {
                    continue;
                }
                for &(other, forward) in sides.iter().filter(|s| s.0 as usize != t) {
                    let other = other as usize;
                    if turned[other].is_none() {
                        turned[other] = Some(turn ^ (forward == (a < b)));
                        part.push(other);
                    }
                }
            }
        }
        let turns = part.iter().filter(|&&t| turned[t] == Some(true)).count();
        let mostly = turns * 2 > part.len();
        flipped += if mostly { part.len() - turns } else { turns };
        for &t in &part {
            if turned[t] == Some(!mostly) {
                corners[t].swap(1, 2);
            }
        }
        if points_inwards(&part, corners, positions) {
            inside_out += 1;
            part.iter().for_each(|&t| corners[t].swap(1, 2));
        }
    }
    (flipped, inside_out)
}

/// Whether normals point to the part's middle axis. Flat pieces point nowhere and are left alone.
fn points_inwards(part: &[usize], corners: &[[u32; 3]], positions: &[Vec3]) -> bool {
    let of = |t: usize| corners[t].map(|i| positions[i as usize].as_dvec3());
    let middle = part
        .iter()
        .map(|&t| of(t))
        .fold((glam::DVec3::ZERO, 0.0), |(sum, n), [a, b, c]| (sum + a + b + c, n + 3.0));
    let middle = middle.0 / middle.1;
    let (mut outwards, mut all) = (0.0, 0.0);
    for &t in part {
        let [a, b, c] = of(t);
        let normal = (b - a).cross(c - a);
        let from = (a + b + c) / 3.0 - middle;
        // Tubes are open above and below, so only the horizontal part tells inside from outside.
        let from = glam::DVec3::new(from.x, 0.0, from.z);
        outwards += normal.dot(from);
        all += normal.length() * from.length();
    }
    outwards < -0.2 * all
}

/// The triangles over only those vertices that they use, in their order.
fn compact(given: &Mesh, corners: &[[u32; 3]]) -> (Mesh, Vec<u32>) {
    let mut used = vec![false; given.positions.len()];
    corners.iter().flatten().for_each(|&i| used[i as usize] = true);
    let kept: Vec<u32> = (0..used.len() as u32).filter(|&v| used[v as usize]).collect();
    let mut new = vec![0; used.len()];
    kept.iter().enumerate().for_each(|(n, &v)| new[v as usize] = n as u32);
    let uvs =
        if given.uvs.is_empty() { Vec::new() } else { kept.iter().map(|&v| given.uvs[v as usize]).collect() };
    let mesh = Mesh {
        positions: kept.iter().map(|&v| given.positions[v as usize]).collect(),
        triangles: corners.iter().map(|t| t.map(|i| new[i as usize])).collect(),
        uvs,
    };
    (mesh, kept)
}

/// One vertex per place, in the order in which the render vertices first name them.
fn welded(given: &Mesh, render: &Mesh, given_from_render: &[u32], place: &[u32]) -> (Mesh, Vec<u32>) {
    let mut number: HashMap<u32, u32> = HashMap::new();
    let mut positions = Vec::new();
    let sim_from_render: Vec<u32> = given_from_render
        .iter()
        .map(|&v| {
            let p = place[v as usize];
            *number.entry(p).or_insert_with(|| {
                positions.push(given.positions[p as usize]);
                positions.len() as u32 - 1
            })
        })
        .collect();
    let triangles = render.triangles.iter().map(|t| t.map(|i| sim_from_render[i as usize])).collect();
    (Mesh { positions, triangles, uvs: Vec::new() }, sim_from_render)
}

fn many_sided_edges(mesh: &Mesh) -> usize {
    let mut sides: HashMap<[u32; 2], u32> = HashMap::new();
    for tri in &mesh.triangles {
        for k in 0..3 {
            let (a, b) = (tri[k], tri[(k + 1) % 3]);
            *sides.entry([a.min(b), a.max(b)]).or_default() += 1;
        }
    }
    sides.values().filter(|&&n| n > 2).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec2;

    /// An open tube of `n` quads around and two high, unwelded along one line, as a UV-mapped sleeve is.
    fn sleeve(n: u32) -> Mesh {
        let mut mesh = Mesh::default();
        for y in 0..3 {
            for k in 0..=n {
                let a = k as f32 / n as f32 * std::f32::consts::TAU;
                mesh.positions.push(Vec3::new(0.1 * a.cos(), 0.1 * y as f32, -0.1 * a.sin()));
                mesh.uvs.push(Vec2::new(k as f32 / n as f32, y as f32));
            }
        }
        for y in 0..2 {
            for k in 0..n {
                let i = y * (n + 1) + k;
                mesh.triangles.push([i, i + 1, i + n + 2]);
                mesh.triangles.push([i, i + n + 2, i + n + 1]);
            }
        }
        mesh
    }

    fn count(found: &Repaired, what: &str) -> usize {
        found.problems.iter().find(|p| p.what.contains(what)).map_or(0, |p| p.count)
    }

    #[test]
    fn a_seam_is_welded_for_simulation_and_kept_for_drawing() {
        let mesh = sleeve(8);
        let found = repair(&mesh, &RepairSettings::default()).unwrap();
        assert_eq!(found.render, mesh);
        assert_eq!(found.sim.positions.len(), 24);
        assert_eq!(count(&found, "seams"), 3);
        assert_eq!(found.sim.topology().boundary_loops().len(), 2);
        assert_eq!(found.problems.len(), 1, "{:?}", found.problems);
        for (r, s) in found.sim_from_render.iter().enumerate() {
            assert!(found.render.positions[r].distance(found.sim.positions[*s as usize]) < 1e-6);
        }
    }

    #[test]
    fn every_kind_of_damage_is_found_and_counted() {
        let mut mesh = sleeve(8);
        let n = mesh.positions.len() as u32;
        // A vertex that nothing uses.
        mesh.positions.push(Vec3::ONE);
        mesh.uvs.push(Vec2::ZERO);
        // A face twice, once turned; a face on two vertices; three corners in a line that lie on an edge.
        mesh.triangles.push([1, 0, 10]);
        mesh.triangles.push([2, 2, 3]);
        mesh.positions.push(mesh.positions[0].lerp(mesh.positions[1], 0.5));
        mesh.uvs.push(Vec2::ZERO);
        mesh.triangles.push([0, n + 1, 1]);
        // A fin on an inner edge, which also makes an edge of three faces.
        mesh.positions.push(Vec3::new(0.5, 0.1, 0.0));
        mesh.uvs.push(Vec2::ZERO);
        mesh.triangles.push([9, 10, n + 2]);
        // Two faces turned and a loose part.
        mesh.triangles[4].swap(0, 1);
        mesh.triangles[9].swap(0, 1);
        for p in [Vec3::new(2.0, 0.0, 0.0), Vec3::new(3.0, 0.0, 0.0), Vec3::new(2.0, 1.0, 0.0)] {
            mesh.positions.push(p);
            mesh.uvs.push(Vec2::ZERO);
        }
        mesh.triangles.push([n + 3, n + 4, n + 5]);
        let found = repair(&mesh, &RepairSettings::default()).unwrap();
        assert_eq!(count(&found, "no face uses"), 1, "{:?}", found.problems);
        assert_eq!(count(&found, "duplicate"), 1);
        assert_eq!(count(&found, "zero-area"), 1);
        assert_eq!(count(&found, "in a line"), 1);
        assert_eq!(count(&found, "more than two faces"), 1);
        assert_eq!(count(&found, "other way"), 2);
        assert_eq!(count(&found, "separate parts"), 2);
        let clean = repair(&sleeve(8), &RepairSettings::default()).unwrap();
        // The first triangle was split by the sliver; all others are as they would be without the damage.
        for (now, then) in found.sim.triangles.iter().zip(&clean.sim.triangles).skip(1) {
            let turned = |t: &[u32; 3]| (0..3).map(|k| (t[k], t[(k + 1) % 3])).min().unwrap();
            assert_eq!(turned(now), turned(then));
        }
    }

    #[test]
    fn a_sliver_on_an_inner_edge_leaves_no_slit() {
        let mut mesh = sleeve(8);
        // The quad's diagonal 0–10 gets a vertex that only one side and a sliver know of.
        let n = mesh.positions.len() as u32;
        mesh.positions.push(mesh.positions[0].lerp(mesh.positions[10], 0.4));
        mesh.uvs.push(mesh.uvs[0].lerp(mesh.uvs[10], 0.4));
        mesh.triangles[0] = [0, 1, n];
        mesh.triangles.push([1, 10, n]);
        mesh.triangles.push([n, 10, 0]);
        let area = sleeve(8).area();
        let found = repair(&mesh, &RepairSettings::default()).unwrap();
        assert_eq!(count(&found, "in a line"), 1);
        assert!((found.sim.area() - area).abs() < 1e-6);
        assert_eq!(found.sim.topology().boundary_loops().len(), 2);
        assert_eq!(found.given_triangle.len(), found.sim.triangles.len());
        assert_eq!(found.problems.len(), 2, "{:?}", found.problems);
    }

    #[test]
    fn a_tube_inside_out_is_turned() {
        let mut mesh = sleeve(8);
        mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        let found = repair(&mesh, &RepairSettings::default()).unwrap();
        assert_eq!(count(&found, "inside out"), 1);
        let normals = found.sim.normals();
        assert!(found.sim.positions.iter().zip(normals).all(|(p, n)| p.dot(n) > 0.0));
    }

    #[test]
    fn what_is_not_finite_or_not_there_is_an_error_that_names_it() {
        let mut mesh = sleeve(8);
        mesh.positions[5].y = f32::NAN;
        let fault = repair(&mesh, &RepairSettings::default()).unwrap_err().to_string();
        assert!(fault.contains("vertex 5"), "{fault}");
        for far in [3e38, -1e10] {
            let mut mesh = sleeve(8);
            mesh.positions[6].z = far;
            let fault = repair(&mesh, &RepairSettings::default()).unwrap_err().to_string();
            assert!(fault.contains("vertex 6"), "{fault}");
        }
        let mut mesh = sleeve(8);
        mesh.triangles[3][1] = 4_000_000_000;
        let fault = repair(&mesh, &RepairSettings::default()).unwrap_err().to_string();
        assert!(fault.contains("triangle 3"), "{fault}");
        assert!(repair(&Mesh::default(), &RepairSettings::default()).is_err());
    }

    #[test]
    fn a_fine_mesh_does_not_collapse_under_a_coarse_tolerance() {
        let found = repair(&sleeve(2000), &RepairSettings { weld_m: 0.01, orient: true }).unwrap();
        assert_eq!(found.sim.positions.len(), 6000);
    }
}
