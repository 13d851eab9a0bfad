//! Cloth against itself: which features may meet in a step, which touch, and that none pass through.

mod patches;
mod search;

pub use search::{Broad, Candidate};

use super::constraint::{Contact, NO_SAMPLE};
use crate::scene::Scene;
use crate::step::near;
use glam::DVec3;
use patches::Patches;
use search::{Around, aside, neighbours, overlap, side, touch};
use toile_geometry::Incidence;
use toile_geometry::bvh2::{Aabb, Bvh2};
use toile_geometry::continuous::{Pair, segment_crosses_triangle, time_of_impact};
use toile_geometry::distance::{point_triangle, segment_segment};

/// Where cloth crosses itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tangles {
    /// Vertices of triangles that crossed at the last check; they are allowed to come free.
    vertices: Vec<bool>,
    any: bool,
    /// Whether crossings may exist: nothing was checked yet. No step lets one in.
    suspect: bool,
}

impl Tangles {
    /// Nothing is known yet of `n` vertices.
    pub fn new(n: usize) -> Self {
        Self { vertices: vec![false; n], any: false, suspect: true }
    }
}

/// Pairs by their vertices, in order, and how many times as stiff as usual their contact is.
pub type Hard = Vec<([u32; 4], f32)>;

/// Everything needed to find self-contacts, reused from step to step.
#[derive(Clone, Debug, Default)]
pub struct ClothContact {
    bvh: Bvh2,
    /// Per triangle the vertices and edges it speaks for, so that each pair is met once.
    own_vertices: Vec<[bool; 3]>,
    own_edges: Vec<[bool; 3]>,
    /// The triangles about each vertex.
    stars: Incidence,
    stack: Vec<(u32, u32)>,
    /// Found by [`ClothContact::find`].
    pub candidates: Vec<Candidate>,
    /// Where cloth crossed itself at the last check.
    pub tangles: Tangles,
    /// Per vertex the box it sweeps in this step, less the motion of all; per triangle too.
    swept: Vec<Aabb>,
    swept_triangles: Vec<Around>,
    /// Which triangles may meet, lent by the state.
    pub broad: Broad,
    /// Pairs whose contacts were made harder, lent by the state.
    pub hard: Hard,
    /// Per triangle the unit normal at the start and the end.
    normals: [Vec<DVec3>; 2],
    /// Per vertex the mean normal, and whether its triangles turn far from it.
    facing: Vec<DVec3>,
    folded: Vec<bool>,
    /// Neighbours about them.
    shut: Vec<(u32, u32)>,
    /// Triangles that are near along the cloth, and the pairs of them about uneven patches.
    patches: Patches,
    folds: Vec<(u32, u32)>,
    /// How far each vertex is from where candidates were found for, m.
    aside: Vec<f32>,
}

/// How many times as stiff a contact is whose features are at `share` of the distance where they begin to touch. Layers that
/// rest on each other are soft; what is pinched between limbs, or between a limb and tight cloth, is pressed as hard as by
/// a body, and would otherwise be pushed together until only the continuous check holds it, which then holds it fast.
fn pinched(share: f64) -> f64 {
    let deep = (1.0 - 2.0 * share).max(0.0);
    1.0 + PINCHED * deep * deep
}

/// Stiffness added when nothing is left of the distance: about that of a body.
const PINCHED: f64 = 15.0;

impl ClothContact {
    /// Prepares for a scene; the tree is built on the flat-ish shape `x`.
    pub fn new(scene: &Scene, x: &[DVec3]) -> Self {
        let centres: Vec<DVec3> =
            scene.triangles.iter().map(|t| t.iter().map(|&i| x[i as usize]).sum::<DVec3>() / 3.0).collect();
        let mut vertex_taken = vec![false; scene.len()];
        let mut edge_taken = vec![false; scene.edges.len()];
        let take = |taken: &mut Vec<bool>, i: usize| !std::mem::replace(&mut taken[i], true);
        let own_vertices =
            scene.triangles.iter().map(|t| t.map(|i| take(&mut vertex_taken, i as usize))).collect();
        let own_edges =
            scene.triangle_edges.iter().map(|t| t.map(|(e, _)| take(&mut edge_taken, e as usize))).collect();
        let mut bvh = Bvh2::new(&centres);
        bvh.join(&neighbours(scene));
        let stars = Incidence::new(scene.len(), scene.triangles.iter().copied());
        let patches = Patches::new(scene, &stars, near(scene));
        if !patches.is_empty() {
            let beside = |t: u32| scene.triangles[t as usize].into_iter().flat_map(|v| stars.of(v));
            bvh.leave_out(
                |t, near| near.extend(patches.of(t).iter().chain(beside(t))),
                |s, t| touch(scene, s, t) || patches.share(s, t),
            );
        }
        Self {
            bvh,
            own_vertices,
            own_edges,
            patches,
            stars,
            tangles: Tangles::new(scene.len()),
            facing: vec![DVec3::ZERO; scene.len()],
            folded: vec![false; scene.len()],
            ..Self::default()
        }
    }

    /// Counts crossings of `x` and marks the vertices of crossing triangles. Edges that share a vertex with the
    /// triangle do not count.
    pub fn mark_crossings(&mut self, scene: &Scene, x: &[DVec3]) -> u32 {
        if !self.tangles.suspect && !self.tangles.any {
            // The continuous check let nothing through since the last look.
            return 0;
        }
        self.tangles.suspect = false;
        self.find_folds(scene, x, x);
        self.sweep(scene, x, x, DVec3::ZERO, 0.0);
        if self.tangles.any {
            self.tangles.vertices.fill(false);
            self.tangles.any = false;
        }
        let mut crossings = 0;
        for &(a, b) in self.broad.pairs.iter().chain(&self.folds).chain(&self.shut) {
            if !overlap(&self.swept_triangles[a as usize], &self.swept_triangles[b as usize]) {
                continue;
            }
            for (s, t) in [(a, b), (b, a)] {
                let (ts, tt) = (scene.triangles[s as usize], scene.triangles[t as usize]);
                for k in 0..3 {
                    let (p, q) = (ts[k], ts[(k + 1) % 3]);
                    if !self.own_edges[s as usize][k] || tt.contains(&p) || tt.contains(&q) {
                        continue;
                    }
                    let [pp, qq, aa, bb, cc] = [p, q, tt[0], tt[1], tt[2]].map(|i| x[i as usize]);
                    if segment_crosses_triangle(pp, qq, aa, bb, cc) {
                        crossings += 1;
                        self.tangles.any = true;
                        for v in [p, q, tt[0], tt[1], tt[2]] {
                            self.tangles.vertices[v as usize] = true;
                        }
                    }
                }
            }
        }
        crossings
    }

    /// Adds a contact for each candidate nearer than `reach` at `x`; they were found on the way to `guess`. A pair that has changed sides since the
    /// start of the step is pushed back to where it came from.
    pub fn contacts(
        &mut self,
        scene: &Scene,
        x_start: &[DVec3],
        guess: &[DVec3],
        x: &[DVec3],
        reach: f64,
        stiffness: f64,
        out: &mut Vec<Contact>,
    ) {
        aside(guess, x, &mut self.aside);
        for c in &self.candidates {
            let clear = c.clear(&self.aside);
            if clear > reach as f32 && c.never_meets(clear) {
                continue;
            }
            let p = c.v.map(|i| x[i as usize]);
            let (w, inner) = match c.pair {
                Pair::PointTriangle => {
                    let b = point_triangle(p[0], p[1], p[2], p[3]);
                    ([1.0, -b[0], -b[1], -b[2]], b.iter().all(|b| *b > 1e-6))
                }
                Pair::EdgeEdge => {
                    let (s, t) = segment_segment(p[0], p[1], p[2], p[3]);
                    let inner = |s: f64| s > 1e-6 && s < 1.0 - 1e-6;
                    ([1.0 - s, s, t - 1.0, -t], inner(s) && inner(t))
                }
            };
            // A vertex of an edge near another edge's end is met by the point–triangle pairs.
            if c.pair == Pair::EdgeEdge && !inner {
                continue;
            }
            let delta = p[0] * w[0] + p[1] * w[1] + p[2] * w[2] + p[3] * w[3];
            let d = delta.length();
            // A change of sides is a crossing only if they met on the way; flat neighbours change sides by noise.
            let crossed = inner && side(c.pair, &p) * c.side < 0 && {
                let start = c.v.map(|i| x_start[i as usize]);
                time_of_impact(c.pair, &start, &[0, 1, 2, 3].map(|k| p[k] - start[k])) < 1.0
            };
            if !crossed && d >= reach {
                continue;
            }
            if d < 1e-9 {
                continue;
            }
            let n = if crossed { -delta / d } else { delta / d };
            let area = c.v.iter().map(|&v| scene.area[v as usize]).fold(f64::INFINITY, f64::min);
            let usual = stiffness * area * pinched(if crossed { 0.0 } else { d / reach });
            let k = usual * f64::from(c.harder);
            // The features of a pair are the first and the last of its vertices.
            let [one, other] = [c.v[0], c.v[3]].map(|v| scene.fabric_of(v).friction);
            let friction = 0.5 * (one + other);
            let mut contact = Contact {
                v: c.v,
                w,
                n,
                offset: reach,
                reach,
                k,
                anchor: DVec3::ZERO,
                k_t: 0.5 * usual,
                friction,
                limit: 0.0,
                sample: NO_SAMPLE,
            };
            contact.anchor = contact.point(x_start);
            let depth = contact.depth(contact.point(x)).min(reach);
            contact.limit = friction * usual * depth.max(0.0);
            out.push(contact);
        }
    }

    /// Forgets how far candidates were apart, so that they serve later steps too.
    pub fn forget_distances(&mut self) {
        self.candidates.iter_mut().for_each(Candidate::forget_distance);
    }

    /// Makes the contacts of all pairs `by` times as hard that meet on their way from `x0` to `x1`, and says how many do; they were
    /// found on the way to `guess`.
    pub fn harden(&mut self, x0: &[DVec3], guess: &[DVec3], x1: &[DVec3], by: f32) -> u32 {
        let mut met = 0;
        aside(guess, x1, &mut self.aside);
        for c in &mut self.candidates {
            if c.never_meets(c.clear(&self.aside)) {
                continue;
            }
            let at = c.v.map(|i| x0[i as usize]);
            let way = c.v.map(|i| x1[i as usize] - x0[i as usize]);
            if time_of_impact(c.pair, &at, &way) < 1.0 {
                c.harder *= by;
                met += 1;
            }
        }
        self.remember_hard(1.0);
        met
    }

    /// Makes all contacts as soft as they usually are, and says how many were not.
    pub fn soften(&mut self) -> usize {
        let hard = self.candidates.iter_mut().filter(|c| c.harder != 1.0);
        let softened = hard.map(|c| c.harder = 1.0).count();
        self.hard.clear();
        softened
    }

    /// Notes which contacts are hard and how hard they shall be, of what they were, when their pairs are found again.
    pub fn remember_hard(&mut self, share: f32) {
        self.hard.clear();
        let hard =
            self.candidates.iter().map(|c| (c.v, c.harder * share)).filter(|(_, harder)| *harder > 1.0);
        self.hard.extend(hard);
        self.hard.sort_unstable_by_key(|(v, _)| *v);
    }

    /// Shortens the way of each vertex from `x0` to `x1`, besides what all go together, until no candidates meet. Where that
    /// leaves nothing of it the cloth goes on as it is: it is held, but its wearer does not walk out of it.
    pub fn give_way(&self, x0: &[DVec3], x1: &mut [DVec3]) {
        let common = x0.iter().zip(&*x1).map(|(a, b)| *b - *a).sum::<DVec3>() / x0.len().max(1) as f64;
        let mut share = vec![1.0; x0.len()];
        let way = |share: &[f64], x1: &[DVec3], i: usize| common + (x1[i] - x0[i] - common) * share[i];
        for round in 0..40 {
            let mut met = false;
            for c in &self.candidates {
                let v = c.v.map(|i| i as usize);
                if v.iter().all(|&i| share[i] == 0.0) {
                    continue;
                }
                let t = time_of_impact(c.pair, &v.map(|i| x0[i]), &v.map(|i| way(&share, x1, i)));
                if t < 1.0 {
                    met = true;
                    // What is shortened may be met by its neighbours: after a few rounds there is no more asking.
                    v.iter().for_each(|&i| share[i] *= if round < 8 { 0.9 * t } else { 0.0 });
                }
            }
            if !met {
                break;
            }
        }
        for i in 0..x0.len() {
            x1[i] = x0[i] + way(&share, x1, i);
        }
    }
}
