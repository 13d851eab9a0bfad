//! What a Newton iteration works on: all of the cloth at first, then only what still moves.
//!
//! After two iterations most of a garment is where the step ends. What is not are a few dozen vertices that limbs squeeze
//! or whose fold snaps over, and they take five more. Those iterate on alone, with two rings of vertices about them, while the
//! rest holds still; what begins to move at the rim is taken in. Energies are compared over what is worked on: all else stays
//! as it is.

use crate::scene::Scene;
use glam::DVec3;
use toile_geometry::Incidence;

/// Vertices, and the elements that feel them.
#[derive(Clone, Debug, Default)]
pub struct WorkingSet {
    /// Whether it is all of the cloth.
    pub whole: bool,
    /// Rows of the linear system, ascending.
    pub rows: Vec<u32>,
    /// The vertices of these rows.
    pub vertices: Vec<u32>,
    /// Vertices of its elements that are not in it: they hold still.
    pub rim: Vec<u32>,
    /// Triangles with a vertex in it.
    pub triangles: Vec<u32>,
    /// Hinges with a vertex in it.
    pub hinges: Vec<u32>,
    /// Per vertex of the cloth, whether it is in it.
    pub has: Vec<bool>,
    has_hinge: Vec<bool>,
    /// The elements about each vertex.
    triangles_about: Incidence,
    hinges_about: Incidence,
    has_triangle: Vec<bool>,
    on_rim: Vec<bool>,
}

/// Rings of vertices about those that move.
const RINGS: usize = 2;
/// More than this share of the cloth is no part of it: all is worked on.
const MOST: f64 = 0.5;

impl WorkingSet {
    /// All of a scene, whose vertices `order` puts in rows.
    pub fn new(scene: &Scene, order: &[u32]) -> Self {
        let n = scene.len();
        let mut set = Self {
            triangles_about: Incidence::new(n, scene.triangles.iter().copied()),
            hinges_about: Incidence::new(n, scene.hinges.iter().map(|h| h.v)),
            has: vec![false; n],
            on_rim: vec![false; n],
            has_triangle: vec![false; scene.triangles.len()],
            has_hinge: vec![false; scene.hinges.len()],
            ..Self::default()
        };
        set.take_all(order);
        set
    }

    /// Takes in everything.
    pub fn take_all(&mut self, order: &[u32]) {
        if self.whole {
            return;
        }
        self.whole = true;
        for has in [&mut self.has, &mut self.has_triangle, &mut self.has_hinge] {
            has.fill(true);
        }
        let all = |list: &mut Vec<u32>, n: usize| {
            list.clear();
            list.extend(0..n as u32);
        };
        all(&mut self.rows, order.len());
        all(&mut self.triangles, self.has_triangle.len());
        all(&mut self.hinges, self.has_hinge.len());
        self.vertices.clear();
        self.vertices.extend_from_slice(order);
        self.clear_rim();
    }

    /// Which vertices of a scene `moves` by more than `still`, and those about them; nothing where that is most of the cloth.
    pub fn moving(&self, scene: &Scene, moves: &[DVec3], still: f64) -> Option<Vec<bool>> {
        let most = MOST * moves.len() as f64;
        let mut found: Vec<u32> = Vec::new();
        found.extend((0..moves.len() as u32).filter(|&v| moves[v as usize].length_squared() > still * still));
        if found.len() as f64 > most {
            return None;
        }
        let mut has = vec![false; moves.len()];
        found.iter().for_each(|&v| has[v as usize] = true);
        let mut done = 0;
        for _ in 0..RINGS {
            let ring = done..found.len();
            done = ring.end;
            for k in ring {
                for &t in self.triangles_about.of(found[k]) {
                    for v in scene.triangles[t as usize] {
                        if !std::mem::replace(&mut has[v as usize], true) {
                            found.push(v);
                        }
                    }
                }
            }
        }
        (found.len() as f64 <= most).then_some(has)
    }

    /// Takes in the vertices that `has` marks, all of them where there is none, and lets go of the others.
    pub fn take(&mut self, scene: &Scene, order: &[u32], has: Option<Vec<bool>>) {
        match has {
            Some(has) => self.gather(scene, order, has),
            None => self.take_all(order),
        }
    }

    /// Makes the lists of a set of vertices.
    fn gather(&mut self, scene: &Scene, order: &[u32], has: Vec<bool>) {
        self.whole = false;
        self.has = has;
        self.clear_rim();
        for list in [&mut self.rows, &mut self.vertices, &mut self.triangles, &mut self.hinges] {
            list.clear();
        }
        self.has_triangle.fill(false);
        self.has_hinge.fill(false);
        for (row, &v) in order.iter().enumerate().filter(|(_, v)| self.has[**v as usize]) {
            self.rows.push(row as u32);
            self.vertices.push(v);
        }
        let mut corner = |v: u32| {
            if !self.has[v as usize] && !std::mem::replace(&mut self.on_rim[v as usize], true) {
                self.rim.push(v);
            }
        };
        for &v in &self.vertices {
            for &t in self.triangles_about.of(v) {
                if !std::mem::replace(&mut self.has_triangle[t as usize], true) {
                    self.triangles.push(t);
                    scene.triangles[t as usize].into_iter().for_each(&mut corner);
                }
            }
            for &h in self.hinges_about.of(v) {
                if !std::mem::replace(&mut self.has_hinge[h as usize], true) {
                    self.hinges.push(h);
                    scene.hinges[h as usize].v.into_iter().for_each(&mut corner);
                }
            }
        }
    }

    fn clear_rim(&mut self) {
        for v in self.rim.drain(..) {
            self.on_rim[v as usize] = false;
        }
    }

    /// Whether any of these vertices is in it.
    #[inline]
    pub fn feels(&self, v: &[u32; 4]) -> bool {
        self.whole || v.iter().any(|&v| self.has[v as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::bending::{Datum, angles};
    use crate::settings::Settings;
    use crate::solve::system::System;
    use toile_geometry::Random;
    use toile_lab::cloths::{Pattern, lay, plain, rectangle};

    fn part() -> (Scene, Vec<DVec3>, WorkingSet) {
        let (mesh, rest) = rectangle(0.4, 0.4, 12, 12, Pattern::Alternating);
        let scene = Scene::new(&mesh, &rest, &plain(), &Settings::default()).unwrap();
        let order = System::new(&scene).order().to_vec();
        let mut set = WorkingSet::new(&scene, &order);
        let mut moves = vec![DVec3::ZERO; scene.len()];
        moves[40] = DVec3::X;
        let has = set.moving(&scene, &moves, 0.5);
        set.take(&scene, &order, has);
        (scene, lay(&mesh, 0.0), set)
    }

    #[test]
    fn what_moves_is_followed_with_two_rings_and_all_that_feels_it() {
        let (scene, x, set) = part();
        assert!(!set.whole && set.rows.is_sorted());
        for &v in &set.vertices {
            assert!(x[v as usize].distance(x[40]) < 0.11, "{v} is in it");
        }
        for (t, corners) in scene.triangles.iter().enumerate() {
            let felt = corners.iter().any(|v| set.vertices.contains(v));
            assert_eq!(felt, set.triangles.contains(&(t as u32)));
            for v in corners.iter().filter(|_| felt) {
                assert!(set.has[*v as usize] != set.rim.contains(v), "{v}");
            }
        }
        let everywhere = vec![DVec3::X; scene.len()];
        assert!(set.moving(&scene, &everywhere, 0.5).is_none(), "all of it is no part");
    }

    #[test]
    fn bending_of_a_part_changes_as_that_of_all() {
        let (scene, mut x, set) = part();
        let (mut r, hinges) = (Random::new(3), scene.hinges.len());
        x.iter_mut().for_each(|p| *p += r.vector() * 3e-3);
        let (mut datum, mut scratch) = (Datum::default(), vec![0.0; hinges]);
        let before: Vec<f64> = (0..hinges).map(|_| 0.1 * r.signed()).collect();
        datum.set(&scene.bending, &scene.rest_angles, &before, 0.4, &mut scratch);
        let look = |x: &[DVec3]| {
            let (mut theta, mut moments) = (vec![0.0; hinges], vec![0.0; hinges]);
            angles(0..hinges as u32, &scene.hinges, x, &before, &mut theta);
            let all = datum.energy_and_moments(&scene.bending, &theta, &mut moments);
            let mut others = theta.clone();
            set.hinges.iter().for_each(|&h| others[h as usize] = 0.0);
            let mut own = vec![0.0; hinges];
            let part = datum.energy_and_moments_of(&set.hinges, &scene.bending, (&theta, &others), &mut own);
            for h in set.hinges.iter().map(|&h| h as usize) {
                assert!((own[h] - moments[h]).abs() < 1e-15, "{} {}", own[h], moments[h]);
            }
            (all, part)
        };
        let first = look(&x);
        set.vertices.iter().for_each(|&v| x[v as usize] += r.vector() * 2e-3);
        let second = look(&x);
        let (all, part) = (second.0 - first.0, second.1 - first.1);
        assert!((all - part).abs() < 1e-9 * all.abs(), "{all} {part}");
    }
}
