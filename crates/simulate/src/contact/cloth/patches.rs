//! Which triangles of fine cloth are so near each other along it that they meet only where it folds.
//!
//! A patch is all that lies within two edges of a vertex. It is one piece, and while all of it faces one way it cannot meet
//! itself (Volino and Magnenat-Thalmann 1994). Where edges are shorter than the distance that pairs are looked for, most of
//! what is near is such: of 790,000 pairs of a sweater of 29,514 vertices at 1,200 anything pushed. So pairs of one patch are
//! left out, whatever the cloth does, and put back where it is uneven.

use crate::scene::Scene;
use glam::{DVec3, Vec3A};
use toile_geometry::Incidence;

/// Triangles that share a patch, and which patches fold.
#[derive(Clone, Debug, Default)]
pub(super) struct Patches {
    /// Per triangle the later ones that it shares a patch but no vertex with, ascending.
    first: Vec<u32>,
    linked: Vec<u32>,
    /// The edges about each vertex.
    edges_about: Incidence,
    /// Whether a vertex has a patch: where cloth is fine.
    fine: Vec<bool>,
    /// Boxes about the normals of the triangles of each vertex.
    normals: Vec<[Vec3A; 2]>,
    /// Triangles of uneven patches.
    uneven: Vec<bool>,
}

/// Cloth is fine where the root of a vertex's area is less than this many times the distance that pairs are looked for.
const FINE: f64 = 2.0;
/// All within 60° of one direction face one way.
const FACES_ONE_WAY: f32 = 0.5;

impl Patches {
    /// Of a scene where pairs are looked for that come as near as `reach`.
    pub fn new(scene: &Scene, stars: &Incidence, reach: f64) -> Self {
        let n = scene.len();
        let fine: Vec<bool> = scene.area.iter().map(|a| *a < (FINE * reach) * (FINE * reach)).collect();
        let edges_about = Incidence::new(n, scene.edges.iter().copied());
        let mut patches = Self {
            first: vec![0],
            edges_about,
            normals: if fine.contains(&true) { vec![NONE; n] } else { Vec::new() },
            uneven: vec![false; scene.triangles.len()],
            fine,
            ..Self::default()
        };
        if patches.is_empty() {
            return patches;
        }
        let mut seen = vec![u32::MAX; n];
        let (mut near, mut far): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        for (t, corners) in scene.triangles.iter().enumerate() {
            let t = t as u32;
            // The vertices whose patches it is in, then all vertices whose triangles are in those.
            near.clear();
            corners.iter().for_each(|&v| patches.about(scene, v, |u| near.push(u)));
            near.sort_unstable();
            near.dedup();
            near.retain(|&m| patches.fine[m as usize]);
            far.clear();
            for &m in &near {
                patches.about(scene, m, |u| {
                    if std::mem::replace(&mut seen[u as usize], t) != t {
                        far.extend(stars.of(u).iter().filter(|&&other| other > t));
                    }
                });
            }
            far.sort_unstable();
            far.dedup();
            far.retain(|&other| !scene.triangles[other as usize].iter().any(|v| corners.contains(v)));
            patches.linked.extend_from_slice(&far);
            patches.first.push(patches.linked.len() as u32);
        }
        patches.linked.shrink_to_fit();
        patches
    }

    /// A vertex and those an edge away.
    fn about(&self, scene: &Scene, v: u32, mut see: impl FnMut(u32)) {
        see(v);
        for &e in self.edges_about.of(v) {
            let [a, b] = scene.edges[e as usize];
            see(if a == v { b } else { a });
        }
    }

    /// Whether there are none: the cloth is coarse.
    pub fn is_empty(&self) -> bool {
        self.normals.is_empty()
    }

    /// The later triangles that share a patch but no vertex with `t`.
    pub fn of(&self, t: u32) -> &[u32] {
        match self.first.get(t as usize..t as usize + 2) {
            Some(&[from, to]) => &self.linked[from as usize..to as usize],
            _ => &[],
        }
    }

    /// Whether two triangles share a patch but no vertex.
    pub fn share(&self, a: u32, b: u32) -> bool {
        self.of(a.min(b)).binary_search(&a.max(b)).is_ok()
    }

    /// Finds the pairs that share uneven patches only, and some about them, where triangles have these normals at the start
    /// and the end.
    pub fn find_uneven(
        &mut self,
        scene: &Scene,
        stars: &Incidence,
        normals: &[Vec<DVec3>; 2],
        pairs: &mut Vec<(u32, u32)>,
    ) {
        pairs.clear();
        if self.is_empty() {
            return;
        }
        self.normals.fill(NONE);
        for (t, corners) in scene.triangles.iter().enumerate() {
            let [a, b] = [&normals[0], &normals[1]].map(|n| n[t].as_vec3a());
            let (lo, hi) = (a.min(b), a.max(b));
            for &v in corners {
                let [l, h] = &mut self.normals[v as usize];
                (*l, *h) = (l.min(lo), h.max(hi));
            }
        }
        self.uneven.fill(false);
        let mut any = false;
        for m in (0..scene.len() as u32).filter(|&m| self.fine[m as usize]) {
            let [mut lo, mut hi] = self.normals[m as usize];
            self.about(scene, m, |u| {
                let [l, h] = self.normals[u as usize];
                (lo, hi) = (lo.min(l), hi.max(h));
            });
            let middle = (lo + hi).normalize_or_zero();
            let least = (middle * lo).min(middle * hi);
            if least.x + least.y + least.z > FACES_ONE_WAY || self.is_even(scene, stars, normals, m) {
                continue;
            }
            any = true;
            for &e in self.edges_about.of(m) {
                for v in scene.edges[e as usize] {
                    stars.of(v).iter().for_each(|&t| self.uneven[t as usize] = true);
                }
            }
        }
        if !any {
            return;
        }
        for a in (0..scene.triangles.len() as u32).filter(|&a| self.uneven[a as usize]) {
            pairs.extend(self.of(a).iter().filter(|&&b| self.uneven[b as usize]).map(|&b| (a, b)));
        }
    }

    /// Whether all triangles of a patch face one way: exactly, where their box does not tell.
    fn is_even(&self, scene: &Scene, stars: &Incidence, normals: &[Vec<DVec3>; 2], m: u32) -> bool {
        let mut mean = DVec3::ZERO;
        let each = |see: &mut dyn FnMut(DVec3)| {
            self.about(scene, m, |u| {
                stars.of(u).iter().for_each(|&t| normals.iter().for_each(|n| see(n[t as usize])));
            });
        };
        each(&mut |n| mean += n);
        let least = f64::from(FACES_ONE_WAY) * mean.length();
        let mut even = true;
        each(&mut |n| even &= mean.dot(n) > least);
        even
    }
}

/// Around nothing.
const NONE: [Vec3A; 2] = [Vec3A::INFINITY, Vec3A::NEG_INFINITY];
