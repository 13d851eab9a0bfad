//! From a signed field to triangles: marching tetrahedra over the half `x ≥ 0`, walking from cell to
//! neighbouring cell along the surface so that empty space costs nothing.

use glam::Vec3;
use std::collections::{HashMap, HashSet, VecDeque};

/// A grid point or, by its least corner, a cell.
type Cell = [i32; 3];

/// The six tetrahedra around a cube's diagonal, as corner numbers (bit 0: x, bit 1: y, bit 2: z).
const TETRAHEDRA: [[usize; 4]; 6] =
    [[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]];

/// Triangles of the zero set of `field` in `x ≥ 0`, counter-clockwise seen from outside. Where the
/// surface meets the plane `x = 0` it ends in vertices with `x` exactly zero. `seed` is a point inside.
pub fn half_surface(field: impl Fn(Vec3) -> f32, seed: Vec3, cell: f32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let at = |c: Cell| Vec3::from(c.map(|k| k as f32)) * cell;
    let plus = |a: Cell, b: Cell| [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
    let mut values: HashMap<Cell, f32> = HashMap::new();
    let mut value = |c: Cell| *values.entry(c).or_insert_with(|| field(at(c)));
    let corner = |k: usize| [k as i32 & 1, (k as i32 >> 1) & 1, k as i32 >> 2];

    let mut start = (seed / cell).to_array().map(|c| c.floor() as i32);
    start[0] = start[0].max(0);
    // Outwards along +z until the field changes sign; bodies end well before a thousand cells.
    for _ in 0..1000 {
        if value(plus(start, [0, 0, 1])) > 0.0 {
            break;
        }
        start[2] += 1;
    }
    let mut seen = HashSet::from([start]);
    let mut queue = VecDeque::from([start]);
    let mut points: Vec<Vec3> = Vec::new();
    let mut on_edge: HashMap<(Cell, Cell), u32> = HashMap::new();
    let mut triangles = Vec::new();
    while let Some(cube) = queue.pop_front() {
        let f: [f32; 8] = std::array::from_fn(|k| value(plus(cube, corner(k))));
        if f.iter().all(|&v| v > 0.0) || f.iter().all(|&v| v <= 0.0) {
            continue;
        }
        let mut vertex = |a: usize, b: usize| {
            let (ca, cb) = (plus(cube, corner(a)), plus(cube, corner(b)));
            let key = if ca < cb { (ca, cb) } else { (cb, ca) };
            *on_edge.entry(key).or_insert_with(|| {
                let (fa, fb) = if key.0 == ca { (f[a], f[b]) } else { (f[b], f[a]) };
                // Keeping off the grid points keeps triangles from collapsing.
                let s = (fa / (fa - fb)).clamp(0.05, 0.95);
                points.push(at(key.0).lerp(at(key.1), s));
                points.len() as u32 - 1
            })
        };
        for tet in TETRAHEDRA {
            let faces = faces(&tet, &f, &mut vertex);
            if faces.is_empty() {
                continue;
            }
            // Outwards is from the mean of the inner corners to the mean of the outer ones.
            let mean = |want: bool| {
                let set: Vec<Vec3> =
                    tet.iter().filter(|&&k| (f[k] > 0.0) == want).map(|&k| at(corner(k))).collect();
                set.iter().sum::<Vec3>() / set.len() as f32
            };
            let out = mean(true) - mean(false);
            triangles.extend(faces.into_iter().map(|t| (t, out)));
        }
        for step in [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]] {
            let next = plus(cube, step);
            if next[0] >= 0 && seen.insert(next) {
                queue.push_back(next);
            }
        }
    }
    let triangles = triangles
        .into_iter()
        .map(|(t, out): ([u32; 3], Vec3)| {
            let [a, b, c] = t.map(|i| points[i as usize]);
            if (b - a).cross(c - a).dot(out) < 0.0 { [t[0], t[2], t[1]] } else { t }
        })
        .collect();
    (points, triangles)
}

/// The faces, either way round, in which the zero set cuts a tetrahedron; `vertex` is the one on the edge between two corners.
fn faces(tet: &[usize; 4], f: &[f32; 8], mut vertex: impl FnMut(usize, usize) -> u32) -> Vec<[u32; 3]> {
    let (inside, outside): (Vec<usize>, Vec<usize>) = tet.iter().partition(|&&k| f[k] <= 0.0);
    match (&inside[..], &outside[..]) {
        (&[one], three) | (three, &[one]) => {
            vec![[vertex(one, three[0]), vertex(one, three[1]), vertex(one, three[2])]]
        }
        (&[a, b], &[c, d]) => {
            let q = [vertex(a, c), vertex(a, d), vertex(b, d), vertex(b, c)];
            vec![[q[0], q[1], q[2]], [q[0], q[2], q[3]]]
        }
        _ => Vec::new(),
    }
}
