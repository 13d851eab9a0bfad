//! Levels of detail: fewer and fewer triangles over the same vertices.

use glam::{DVec3, Vec3};
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};
use toile_assets::TriangleTree;

/// A triangle may turn by no more than this when one of its corners moves, as a cosine.
const LEAST_COSINE: f64 = 0.2;
/// What an open edge weighs against the surface beside it.
const EDGE_WEIGHT: f64 = 4.0;

/// Coarser triangles of a mesh.
#[derive(Clone, Debug)]
pub struct Coarser {
    /// In terms of the mesh's own vertices.
    pub triangles: Vec<[u32; 3]>,
    /// How far vertices of the mesh lie from this surface, m: 95 of a hundred at most, and the farthest, over all poses.
    pub off_m: [f32; 2],
}

/// Levels of about so many triangles each, from many to few.
///
/// An edge is collapsed into one of its ends, the cheapest first (quadric error, Garland and Heckbert 1997), so
/// that vertices keep their bones and coefficients and a level is an index buffer and nothing else. What a collapse costs
/// is summed over all `poses` (DeCoro and Rusinkiewicz 2005): an elbow that is straight in one of them is kept.
/// Levels that cannot be reached without tearing or turning the surface over are left out.
pub fn coarser(poses: &[Vec<Vec3>], triangles: &[[u32; 3]], counts: &[usize]) -> Vec<Coarser> {
    let mut mesh = Collapsing::new(poses, triangles);
    let mut levels = Vec::new();
    for &count in counts {
        if count < mesh.left && mesh.reach(count) {
            let triangles = mesh.triangles();
            let off_m = apart(poses, mesh.whole, &triangles);
            levels.push(Coarser { triangles, off_m });
        }
    }
    levels
}

/// How far the vertices of a mesh are from a coarser surface.
fn apart(poses: &[Vec<Vec3>], whole: &[[u32; 3]], triangles: &[[u32; 3]]) -> [f32; 2] {
    let mut used: Vec<u32> = whole.iter().flatten().copied().collect();
    used.sort_unstable();
    used.dedup();
    let mut all = Vec::with_capacity(used.len() * poses.len());
    for pose in poses {
        let tree = TriangleTree::new(pose, triangles);
        let off = |v: &u32| tree.closest(pose[*v as usize]).map_or(f32::INFINITY, |c| c.distance_m);
        all.extend(used.iter().map(off));
    }
    all.sort_by(f32::total_cmp);
    let at = |share: f64| all.get(((all.len() as f64 * share) as usize).min(all.len().saturating_sub(1)));
    [0.95, 1.0].map(|share| at(share).copied().unwrap_or(0.0))
}

/// A sum of squared distances from planes.
#[derive(Clone, Copy, Default)]
struct Quadric {
    /// Of `xᵀAx`: xx, xy, xz, yy, yz, zz.
    a: [f64; 6],
    b: DVec3,
    c: f64,
}

impl Quadric {
    fn plane(normal: DVec3, at: DVec3, weight: f64) -> Self {
        let (n, d) = (normal, -normal.dot(at));
        let a = [n.x * n.x, n.x * n.y, n.x * n.z, n.y * n.y, n.y * n.z, n.z * n.z].map(|v| v * weight);
        Self { a, b: weight * d * n, c: weight * d * d }
    }

    fn add(&mut self, other: &Self) {
        (0..6).for_each(|k| self.a[k] += other.a[k]);
        self.b += other.b;
        self.c += other.c;
    }

    fn at(&self, x: DVec3) -> f64 {
        let [xx, xy, xz, yy, yz, zz] = self.a;
        let squares = xx * x.x * x.x + yy * x.y * x.y + zz * x.z * x.z;
        squares + 2.0 * (xy * x.x * x.y + xz * x.x * x.z + yz * x.y * x.z) + 2.0 * self.b.dot(x) + self.c
    }
}

/// A collapse that may be made, the cheapest on top of a heap.
struct Candidate {
    cost: f64,
    from: u32,
    to: u32,
    /// How often the two had changed when the cost was found.
    ages: [u32; 2],
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        other.cost.total_cmp(&self.cost).then((other.from, other.to).cmp(&(self.from, self.to)))
    }
}

struct Collapsing<'a> {
    whole: &'a [[u32; 3]],
    poses: Vec<Vec<DVec3>>,
    faces: Vec<[u32; 3]>,
    alive: Vec<bool>,
    left: usize,
    /// Faces of each vertex, dead ones among them.
    around: Vec<Vec<u32>>,
    /// For each pose and vertex.
    quadrics: Vec<Vec<Quadric>>,
    ages: Vec<u32>,
    heap: BinaryHeap<Candidate>,
}

impl<'a> Collapsing<'a> {
    fn new(poses: &[Vec<Vec3>], whole: &'a [[u32; 3]]) -> Self {
        let vertices = whole.iter().flatten().max().map_or(0, |m| *m as usize + 1);
        let mut around = vec![Vec::new(); vertices];
        for (f, t) in whole.iter().enumerate() {
            t.iter().for_each(|v| around[*v as usize].push(f as u32));
        }
        let poses = poses.iter().map(|p| p.iter().map(|v| v.as_dvec3()).collect()).collect();
        let mut mesh = Self {
            whole,
            poses,
            faces: whole.to_vec(),
            alive: vec![true; whole.len()],
            left: whole.len(),
            around,
            quadrics: Vec::new(),
            ages: vec![0; vertices],
            heap: BinaryHeap::new(),
        };
        mesh.quadrics = mesh.poses.iter().map(|pose| quadrics(pose, whole, vertices)).collect();
        (0..vertices as u32).for_each(|v| mesh.offer(v));
        mesh
    }

    fn triangles(&self) -> Vec<[u32; 3]> {
        self.faces.iter().zip(&self.alive).filter(|(_, alive)| **alive).map(|(f, _)| *f).collect()
    }

    fn living(&self, v: u32) -> impl Iterator<Item = u32> + '_ {
        self.around[v as usize].iter().copied().filter(|f| self.alive[*f as usize])
    }

    /// Vertices that share a face with one, each once.
    fn neighbours(&self, v: u32) -> Vec<u32> {
        let mut all: Vec<u32> =
            self.living(v).flat_map(|f| self.faces[f as usize]).filter(|n| *n != v).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn shared(&self, a: u32, b: u32) -> usize {
        self.living(a).filter(|f| self.faces[*f as usize].contains(&b)).count()
    }

    fn cost(&self, from: u32, to: u32) -> f64 {
        let of = |(quadrics, pose): (&Vec<Quadric>, &Vec<DVec3>)| {
            let at = pose[to as usize];
            quadrics[from as usize].at(at) + quadrics[to as usize].at(at)
        };
        self.quadrics.iter().zip(&self.poses).map(of).sum()
    }

    /// Puts all collapses of a vertex's edges on the heap.
    fn offer(&mut self, v: u32) {
        for n in self.neighbours(v) {
            for (from, to) in [(v, n), (n, v)] {
                let ages = [self.ages[from as usize], self.ages[to as usize]];
                self.heap.push(Candidate { cost: self.cost(from, to), from, to, ages });
            }
        }
    }

    /// Collapses until no more than so many faces are left; whether it came to that.
    fn reach(&mut self, count: usize) -> bool {
        while self.left > count {
            let Some(Candidate { from, to, ages, .. }) = self.heap.pop() else { return false };
            if ages == [self.ages[from as usize], self.ages[to as usize]] && self.may(from, to) {
                self.collapse(from, to);
            }
        }
        true
    }

    /// Whether the surface neither tears nor turns over.
    fn may(&self, from: u32, to: u32) -> bool {
        let shared = self.shared(from, to);
        let (ours, theirs) = (self.neighbours(from), self.neighbours(to));
        let common = ours.iter().filter(|n| theirs.binary_search(n).is_ok()).count();
        if shared == 0 || shared > 2 || common != shared {
            return false;
        }
        let open = ours.iter().any(|n| self.shared(from, *n) == 1);
        if open && shared != 1 {
            return false;
        }
        // A last triangle is no surface any more when it goes.
        let beyond = |v: u32, other: u32| self.living(v).any(|f| !self.faces[f as usize].contains(&other));
        if !beyond(from, to) && !beyond(to, from) {
            return false;
        }
        let kept = |f: &u32| !self.faces[*f as usize].contains(&to);
        self.living(from).filter(kept).all(|f| {
            let face = self.faces[f as usize];
            let moved = face.map(|v| if v == from { to } else { v });
            self.poses.iter().all(|pose| {
                let (before, after) = (normal(pose, face), normal(pose, moved));
                before.dot(after) >= LEAST_COSINE * before.length() * after.length() && after.length() > 1e-12
            })
        })
    }

    fn collapse(&mut self, from: u32, to: u32) {
        let faces: Vec<u32> = self.living(from).collect();
        let touched = self.neighbours(from);
        for f in faces {
            let face = &mut self.faces[f as usize];
            if face.contains(&to) {
                self.alive[f as usize] = false;
                self.left -= 1;
            } else {
                face.iter_mut().filter(|v| **v == from).for_each(|v| *v = to);
                self.around[to as usize].push(f);
            }
        }
        for quadrics in &mut self.quadrics {
            let taken = quadrics[from as usize];
            quadrics[to as usize].add(&taken);
        }
        self.ages[from as usize] += 1;
        self.ages[to as usize] += 1;
        self.offer(to);
        // What was not allowed around here may be now.
        touched.into_iter().filter(|n| *n != to).for_each(|n| self.offer(n));
    }
}

fn normal(pose: &[DVec3], [a, b, c]: [u32; 3]) -> DVec3 {
    let at = |v: u32| pose[v as usize];
    (at(b) - at(a)).cross(at(c) - at(a))
}

/// Each vertex's planes: its faces, by their area, and across open edges.
fn quadrics(pose: &[DVec3], faces: &[[u32; 3]], vertices: usize) -> Vec<Quadric> {
    let mut sides: HashMap<[u32; 2], u32> = HashMap::new();
    let edge = |a: u32, b: u32| [a.min(b), a.max(b)];
    for [a, b, c] in faces {
        for side in [edge(*a, *b), edge(*b, *c), edge(*c, *a)] {
            *sides.entry(side).or_default() += 1;
        }
    }
    let mut all = vec![Quadric::default(); vertices];
    for face in faces {
        let across = normal(pose, *face);
        let Some(unit) = across.try_normalize() else { continue };
        let plane = Quadric::plane(unit, pose[face[0] as usize], 0.5 * across.length());
        face.iter().for_each(|v| all[*v as usize].add(&plane));
        for k in 0..3 {
            let (a, b) = (face[k], face[(k + 1) % 3]);
            let along = pose[b as usize] - pose[a as usize];
            if sides[&edge(a, b)] == 1
                && let Some(out) = along.cross(unit).try_normalize()
            {
                let wall = Quadric::plane(out, pose[a as usize], EDGE_WEIGHT * along.length_squared());
                [a, b].iter().for_each(|v| all[*v as usize].add(&wall));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_assets::builtin;

    /// A square of cloth, flat and bent to a quarter of a cylinder.
    fn sheet(side: u32) -> (Vec<Vec<Vec3>>, Vec<[u32; 3]>) {
        let at = |v: u32| Vec3::new((v % side) as f32, (v / side) as f32, 0.0) / (side - 1) as f32;
        let flat: Vec<Vec3> = (0..side * side).map(at).collect();
        let bend = |p: &Vec3| {
            let angle = p.x * std::f32::consts::FRAC_PI_2;
            Vec3::new(angle.sin(), p.y, angle.cos()) / std::f32::consts::FRAC_PI_2
        };
        let bent = flat.iter().map(bend).collect();
        let cell = |c: u32| {
            let v = c % (side - 1) + c / (side - 1) * side;
            [[v, v + 1, v + side], [v + 1, v + side + 1, v + side]]
        };
        let triangles = (0..(side - 1) * (side - 1)).flat_map(cell).collect();
        (vec![flat, bent], triangles)
    }

    fn area(pose: &[Vec3], triangles: &[[u32; 3]]) -> f32 {
        let at = |v: u32| pose[v as usize];
        triangles.iter().map(|t| 0.5 * (at(t[1]) - at(t[0])).cross(at(t[2]) - at(t[0])).length()).sum()
    }

    #[test]
    fn a_sheet_keeps_its_outline_and_the_curve_of_its_other_pose() {
        let (poses, triangles) = sheet(17);
        let levels = coarser(&poses, &triangles, &[128, 24]);
        assert_eq!(levels.len(), 2);
        for level in &levels {
            // Flat it covers what it covered: nothing is turned over and no corner is lost.
            assert!((area(&poses[0], &level.triangles) - 1.0).abs() < 1e-5);
            assert!(level.off_m[0] <= level.off_m[1] && level.off_m[1] < 0.03, "{:?}", level.off_m);
        }
        // The flat pose alone would leave two triangles, a chord a quarter of a metre off the curve.
        let flat = coarser(&poses[..1], &triangles, &[24]);
        assert!(apart(&poses, &triangles, &flat[0].triangles)[1] > 2.0 * levels[1].off_m[1]);
    }

    #[test]
    fn what_cannot_be_reached_is_left_out() {
        let (poses, triangles) = sheet(5);
        assert_eq!(coarser(&poses, &triangles, &[1000, 32, 0]).len(), 0);
        assert!(coarser(&poses, &[], &[4]).is_empty());
    }

    #[test]
    fn levels_of_a_body_are_nearer_to_it_than_cells_of_as_many_triangles() {
        let mesh = builtin::body("mannequin:female").unwrap().mesh;
        let pose = vec![mesh.positions.clone()];
        let (kept, cells) = crate::decimate(&mesh.positions, &mesh.triangles, 0.09);
        let cells: Vec<[u32; 3]> = cells.iter().map(|t| t.map(|v| kept[v as usize])).collect();
        let levels = coarser(&pose, &mesh.triangles, &[cells.len()]);
        let [theirs, ours] = [apart(&pose, &mesh.triangles, &cells), levels[0].off_m];
        assert!(2.0 * ours[0] < theirs[0], "95 of 100 within {} instead of {} m", ours[0], theirs[0]);
    }
}
