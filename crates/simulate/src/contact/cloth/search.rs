//! Which features of cloth may meet in a step.

use super::ClothContact;
use crate::lists::{append, give_back};
use crate::scene::Scene;
use glam::{DVec3, Vec3A};
use toile_geometry::bvh2::Aabb;
use toile_geometry::continuous::{Pair, distance_squared};

/// Two features that come near each other in this step.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// What they are.
    pub pair: Pair,
    /// Their vertices.
    pub v: [u32; 4],
    /// Which side the first is on at the start: the sign of the volume they span, 0 when unclear.
    pub side: i8,
    /// How many times as stiff as usual their contact is: more for those that a first solve let through.
    pub harder: f32,
    /// How far apart they are at the start, and at least on the way they were found for, m, rounded down.
    apart: f32,
    least: f32,
}

impl Candidate {
    /// A pair that may come within `reach` while its vertices go from `x0` to `x1`.
    fn new(pair: Pair, v: [u32; 4], x0: &[DVec3], x1: &[DVec3], reach: f64) -> Option<Self> {
        let start = v.map(|i| x0[i as usize]);
        let way = [0, 1, 2, 3].map(|k| x1[v[k] as usize] - start[k]);
        // A distance changes no faster than any vertex of the one moves against any of the other.
        let against = |i: usize, j: usize| (way[i] - way[j]).length_squared();
        let nearer = match pair {
            Pair::PointTriangle => against(0, 1).max(against(0, 2)).max(against(0, 3)),
            Pair::EdgeEdge => against(0, 2).max(against(0, 3)).max(against(1, 2)).max(against(1, 3)),
        };
        let nearer = nearer.sqrt();
        let within = reach + nearer;
        let apart = distance_squared(pair, &start);
        (apart <= within * within).then(|| {
            let apart = apart.sqrt() as f32 * (1.0 - ROUNDING);
            let least = apart - nearer as f32 * (1.0 + ROUNDING);
            Self { pair, v, side: side(pair, &start), harder: 1.0, apart, least }
        })
    }

    /// How far apart they stay at least, m, on a way that ends aside of the one they were found for by no more than each vertex
    /// is `aside`.
    #[inline]
    pub(super) fn clear(&self, aside: &[f32]) -> f32 {
        let m = self.v.map(|v| aside[v as usize]);
        self.least
            - match self.pair {
                Pair::PointTriangle => m[0] + m[1].max(m[2]).max(m[3]),
                Pair::EdgeEdge => m[0].max(m[1]) + m[2].max(m[3]),
            }
    }

    /// Whether two that stay `clear` apart neither meet nor come as near as the continuous check allows: a tenth of where they
    /// began, and hundredths of a millimetre.
    #[inline]
    pub(super) fn never_meets(&self, clear: f32) -> bool {
        clear > 0.15 * self.apart + 2e-5
    }

    /// Forgets how far apart they were.
    pub(super) fn forget_distance(&mut self) {
        self.least = f32::NEG_INFINITY;
    }
}

/// What rounding to f32 may take from a length, as a share of it.
const ROUNDING: f32 = 1e-6;

/// A box in f32 around one in f64.
pub(super) type Around = [Vec3A; 2];

fn around(b: &Aabb) -> Around {
    let (lo, hi) = (b.lo.as_vec3a(), b.hi.as_vec3a());
    let slack = |v: Vec3A| v.abs() * 2e-7 + Vec3A::splat(1e-7);
    [lo - slack(lo), hi + slack(hi)]
}

#[inline]
pub(super) fn overlap(a: &Around, b: &Around) -> bool {
    (a[0].cmple(b[1]) & b[0].cmple(a[1])).all()
}

/// How far each vertex at `x` is from `guess`, m, rounded up.
pub(super) fn aside(guess: &[DVec3], x: &[DVec3], out: &mut Vec<f32>) {
    out.clear();
    out.extend(guess.iter().zip(x).map(|(a, b)| (*b - *a).length() as f32 * (1.0 + ROUNDING)));
}

/// Pairs of triangles that may meet as long as every vertex stays where it has room.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Broad {
    /// Per vertex the box it may be in, less the motion of all.
    room: Vec<Aabb>,
    /// Mean of all places when the pairs were found.
    centre: DVec3,
    /// How far apart pairs were looked for, m.
    reach: f64,
    pub(super) pairs: Vec<(u32, u32)>,
    /// Nodes of the tree that were passed over because they face one way.
    passed: Vec<u32>,
    /// Halvings of the steps ahead for which there is room.
    nearer: u32,
}

impl Broad {
    /// Whether everything is still where it has room while it goes from `x0` to `x1`, of which `common` is the motion of all.
    fn holds(&self, x0: &[DVec3], x1: &[DVec3], common: DVec3, reach: f64) -> bool {
        if self.room.is_empty() || reach > self.reach {
            return false;
        }
        let moved = mean(x0) - self.centre;
        let within = |room: &Aabb, p: DVec3| p.cmpge(room.lo).all() && p.cmple(room.hi).all();
        let mut places = self.room.iter().zip(x0.iter().zip(x1));
        places.all(|(room, (a, b))| within(room, *a - moved) && within(room, *b - common - moved))
    }
}

fn mean(x: &[DVec3]) -> DVec3 {
    x.iter().sum::<DVec3>() / x.len().max(1) as f64
}

/// Pairs are looked for as far ahead as cloth goes in this many steps at its speed, and farther by this much, m, and
/// this share of the way.
const STEPS_AHEAD: f64 = 4.0;
const ROOM_M: f64 = 1.5e-3;
const ASIDE: f64 = 0.3;
/// Where that finds more pairs than this a vertex, they are looked for half as far ahead, at least one step: of fine cloth that
/// falls onto a body there were a thousand, 8 kB of them, which are gone through in every step. Which pairs are kept
/// changes nothing that is found.
const MANY: usize = 64;
const MOST_HALVINGS: u32 = 2;

/// Whether two triangles share a vertex.
pub(super) fn touch(scene: &Scene, a: u32, b: u32) -> bool {
    let other = &scene.triangles[b as usize];
    scene.triangles[a as usize].iter().any(|v| other.contains(v))
}

/// Pairs of triangles that share an edge.
pub(super) fn neighbours(scene: &Scene) -> Vec<[u32; 2]> {
    let mut first = vec![u32::MAX; scene.edges.len()];
    let mut pairs = Vec::new();
    for (t, edges) in scene.triangle_edges.iter().enumerate() {
        for &(e, _) in edges {
            let before = std::mem::replace(&mut first[e as usize], t as u32);
            if before != u32::MAX {
                pairs.push([before, t as u32]);
            }
        }
    }
    pairs
}

/// How far apart two triangles stay at least on their way from `x0` to `x1`, of which `common` is the motion of all: along the
/// line between their centres places go linearly in time, so both ends settle it. Boxes of slanted neighbours overlap
/// though they are a triangle apart, and most pairs are such.
fn apart(a: &[u32; 3], b: &[u32; 3], x0: &[DVec3], x1: &[DVec3], common: DVec3) -> f64 {
    let corners = |t: &[u32; 3], x: &[DVec3]| t.map(|v| x[v as usize]);
    let (a0, b0) = (corners(a, x0), corners(b, x0));
    let (a1, b1) = (corners(a, x1), corners(b, x1));
    let axis = (b0[0] - a0[0]) + (b0[1] - a0[1]) + (b0[2] - a0[2]);
    let moved = axis.dot(common);
    let along = |p: DVec3| axis.dot(p);
    let farthest = |p: [DVec3; 3]| along(p[0]).max(along(p[1])).max(along(p[2]));
    let nearest = |p: [DVec3; 3]| along(p[0]).min(along(p[1])).min(along(p[2]));
    let gap = nearest(b0).min(nearest(b1) - moved) - farthest(a0).max(farthest(a1) - moved);
    gap / axis.length().max(1e-12)
}

fn triple(a: DVec3, b: DVec3, c: DVec3) -> f64 {
    a.dot(b.cross(c))
}

/// Sign of the volume spanned by a pair: which side of the triangle, or which way round the edges.
pub(super) fn side(pair: Pair, p: &[DVec3; 4]) -> i8 {
    let volume = match pair {
        Pair::PointTriangle => triple(p[0] - p[1], p[2] - p[1], p[3] - p[1]),
        Pair::EdgeEdge => triple(p[2] - p[0], p[1] - p[0], p[3] - p[2]),
    };
    i8::from(volume > 0.0) - i8::from(volume < 0.0)
}

impl ClothContact {
    /// Finds all pairs that may come within `reach` of each other while vertices go from `x0` to `x1`.
    pub fn find(&mut self, scene: &Scene, x0: &[DVec3], x1: &[DVec3], reach: f64) {
        self.find_folds(scene, x0, x1);
        let common = mean(x1) - mean(x0);
        self.sweep(scene, x0, x1, common, reach);
        self.candidates.clear();
        let pairs = self.broad.pairs.len();
        for k in 0..pairs + self.folds.len() {
            let (a, b) = if k < pairs { self.broad.pairs[k] } else { self.folds[k - pairs] };
            if !overlap(&self.swept_triangles[a as usize], &self.swept_triangles[b as usize]) {
                continue;
            }
            let (ta, tb) = (&scene.triangles[a as usize], &scene.triangles[b as usize]);
            if apart(ta, tb, x0, x1, common) <= reach {
                self.meet(scene, (a, b), x0, x1, reach);
            }
        }
        for k in 0..self.shut.len() {
            self.meet(scene, self.shut[k], x0, x1, reach);
        }
        if !self.hard.is_empty() {
            for c in &mut self.candidates {
                if let Ok(k) = self.hard.binary_search_by_key(&c.v, |(v, _)| *v) {
                    c.harder = self.hard[k].1;
                }
            }
        }
        give_back(&mut self.candidates);
        if self.tangles.any {
            let tangled = &self.tangles.vertices;
            self.candidates.retain(|c| c.v.iter().filter(|&&v| tangled[v as usize]).count() < 3);
        }
    }

    /// Finds the features of two triangles that may meet.
    fn meet(&mut self, scene: &Scene, (a, b): (u32, u32), x0: &[DVec3], x1: &[DVec3], reach: f64) {
        let swept = |v: u32| self.swept[v as usize];
        let (ta, tb) = (scene.triangles[a as usize], scene.triangles[b as usize]);
        for (s, t) in [(a, b), (b, a)] {
            let (ts, tt) = (scene.triangles[s as usize], scene.triangles[t as usize]);
            let bounds = swept(tt[0]).union(&swept(tt[1])).union(&swept(tt[2])).inflated(reach);
            for k in 0..3 {
                if !self.own_vertices[s as usize][k] || tt.contains(&ts[k]) {
                    continue;
                }
                if swept(ts[k]).overlaps(&bounds) {
                    let v = [ts[k], tt[0], tt[1], tt[2]];
                    let candidate = Candidate::new(Pair::PointTriangle, v, x0, x1, reach);
                    candidate.into_iter().for_each(|c| append(&mut self.candidates, c));
                }
            }
        }
        for i in 0..3 {
            if !self.own_edges[a as usize][i] {
                continue;
            }
            let (p, q) = (ta[i], ta[(i + 1) % 3]);
            let bounds = swept(p).union(&swept(q)).inflated(reach);
            for j in 0..3 {
                let (r, s) = (tb[j], tb[(j + 1) % 3]);
                if !self.own_edges[b as usize][j] || p == r || p == s || q == r || q == s {
                    continue;
                }
                if swept(r).union(&swept(s)).overlaps(&bounds) {
                    let candidate = Candidate::new(Pair::EdgeEdge, [p, q, r, s], x0, x1, reach);
                    candidate.into_iter().for_each(|c| append(&mut self.candidates, c));
                }
            }
        }
    }

    /// Marks the vertices about which the cloth does not all face one way, at the start or the end.
    pub(super) fn find_folds(&mut self, scene: &Scene, x0: &[DVec3], x1: &[DVec3]) {
        self.folded.fill(false);
        for (normals, x) in self.normals.iter_mut().zip([x0, x1]) {
            self.facing.fill(DVec3::ZERO);
            normals.clear();
            for t in &scene.triangles {
                let [a, b, c] = [x[t[0] as usize], x[t[1] as usize], x[t[2] as usize]];
                let n = (b - a).cross(c - a).normalize_or_zero();
                normals.push(n);
                for &v in t {
                    self.facing[v as usize] += n;
                }
            }
            for (t, n) in scene.triangles.iter().zip(&*normals) {
                for &v in t {
                    // 60° to the mean: beyond it two of them may stand face to face.
                    let mean = self.facing[v as usize];
                    let along = mean.dot(*n);
                    if along <= 0.0 || along * along < 0.25 * mean.length_squared() {
                        self.folded[v as usize] = true;
                    }
                }
            }
        }
        self.find_neighbours(scene);
        self.patches.find_uneven(scene, &self.stars, &self.normals, &mut self.folds);
        let [start, end] = &self.normals;
        self.bvh.face(|t| {
            let (a, b) = (start[t as usize], end[t as usize]);
            Aabb { lo: a.min(b), hi: a.max(b) }
        });
    }

    /// Collects the neighbours that may meet. They do only where cloth folds shut: about a vertex whose triangles all face one
    /// way they are a height field, before and after. (Skipping neighbours whatever they look like let crossings
    /// through.)
    fn find_neighbours(&mut self, scene: &Scene) {
        self.shut.clear();
        for v in (0..scene.len() as u32).filter(|&v| self.folded[v as usize]) {
            let about = self.stars.of(v);
            for (i, &a) in about.iter().enumerate() {
                for &b in &about[i + 1..] {
                    let tb = scene.triangles[b as usize];
                    // Two that share an edge are met from its first end, if both ends are folds.
                    let from_here =
                        |u: &u32| !tb.contains(u) || *u == v || (*u > v && self.folded[*u as usize]);
                    if scene.triangles[a as usize].iter().all(from_here) {
                        self.shut.push((a, b));
                    }
                }
            }
        }
    }

    /// Collects pairs of triangles whose swept boxes come within `reach`. Pairs are found for more room than this step
    /// needs, and serve the next ones as long as every vertex stays in its own.
    pub(super) fn sweep(&mut self, scene: &Scene, x0: &[DVec3], x1: &[DVec3], common: DVec3, reach: f64) {
        // What moves together does not meet: only motion against the common one sweeps.
        self.swept.clear();
        self.swept.extend(x0.iter().zip(x1).map(|(a, b)| {
            let b = *b - common;
            Aabb { lo: a.min(b), hi: a.max(b) }
        }));
        let over = |boxes: &[Aabb], t: &[u32; 3]| {
            boxes[t[0] as usize].union(&boxes[t[1] as usize]).union(&boxes[t[2] as usize])
        };
        self.swept_triangles.clear();
        self.swept_triangles
            .extend(scene.triangles.iter().map(|t| around(&over(&self.swept, t).inflated(0.5 * reach))));
        if self.broad.holds(x0, x1, common, reach) && self.bvh.still_even(&self.broad.passed) {
            return;
        }
        let Broad { room, centre, reach: room_reach, pairs, passed, nearer } = &mut self.broad;
        (*room_reach, *centre) = (reach, mean(x0));
        *nearer = nearer.saturating_sub(1);
        loop {
            let ahead = STEPS_AHEAD / f64::from(1u32 << *nearer);
            room.clear();
            room.extend(x0.iter().zip(x1).map(|(a, b)| {
                let way = (*b - *a - common) * ahead;
                Aabb { lo: a.min(*a + way), hi: a.max(*a + way) }.inflated(ROOM_M + ASIDE * way.length())
            }));
            self.bvh.refit(|t| over(room, &scene.triangles[t as usize]).inflated(0.5 * reach));
            pairs.clear();
            let most = if *nearer < MOST_HALVINGS { MANY * scene.len() } else { usize::MAX };
            let mut found = 0;
            self.bvh.pairs(&mut self.stack, passed, |a, b| {
                if found <= most && !touch(scene, a, b) && !self.patches.share(a, b) {
                    found += 1;
                    if found <= most {
                        append(pairs, (a, b));
                    }
                }
            });
            if found <= most {
                break;
            }
            *nearer += 1;
        }
        give_back(pairs);
        // The order decides the order of sums: it must not depend on anything but the shape, and it does not.
    }
}
