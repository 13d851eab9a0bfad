//! Robust treatment of collisions, contact and friction, Bridson, Fedkiw and Anderson 2002: repulsions between what is near, impulses
//! between what meets within the step, and rigid zones for what is left. See docs/math/impacts.md.

use super::stage::Stage;
use glam::{DMat3, DVec3};
use toile_geometry::bvh2::{Aabb, Bvh2};
use toile_geometry::continuous::{Pair, time_of_impact};
use toile_geometry::distance::{point_triangle, segment_segment};

/// Rounds of impulses before zones are made rigid.
const ROUNDS: u32 = 8;
/// Zones grow at most so often.
const GROWTHS: u32 = 60;

/// Four vertices and how they count: positive on one side, negative on the other.
#[derive(Clone, Copy, Debug)]
struct Meeting {
    v: [usize; 4],
    w: [f64; 4],
    normal: DVec3,
    distance: f64,
}

/// What a step's treatment took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Treated {
    /// Repulsions.
    pub repulsions: u32,
    /// Impulses, all rounds together.
    pub impulses: u32,
    /// Vertices in rigid zones.
    pub rigid: u32,
    /// Pairs that still meet.
    pub left: u32,
}

/// Finds and treats what meets.
pub struct Impacts {
    triangles: Vec<[u32; 3]>,
    /// Edges of each triangle that it owns, so that each edge is looked at once.
    edges: Vec<[u32; 2]>,
    owned: Vec<Vec<u32>>,
    tree: Bvh2,
    inverse: Vec<f64>,
    thickness: f64,
    friction: f64,
    stiffness: f64,
    /// Rounds of impulses before zones are made rigid.
    pub rounds: u32,
}

impl Impacts {
    /// For a stage.
    pub fn new(stage: &Stage, held: &[bool]) -> Self {
        let cloth = stage.cloth();
        let x = &stage.world.state.x;
        let centre = |t: &[u32; 3]| t.iter().map(|&i| x[i as usize]).sum::<DVec3>() / 3.0;
        let mut owner = vec![usize::MAX; cloth.edges.len()];
        let mut owned = vec![Vec::new(); cloth.triangles.len()];
        for (t, edges) in cloth.triangle_edges.iter().enumerate() {
            for (e, _) in edges {
                if owner[*e as usize] == usize::MAX {
                    owner[*e as usize] = t;
                    owned[t].push(*e);
                }
            }
        }
        Self {
            tree: Bvh2::new(&cloth.triangles.iter().map(centre).collect::<Vec<_>>()),
            triangles: cloth.triangles.clone(),
            edges: cloth.edges.clone(),
            owned,
            inverse: (0..cloth.len()).map(|i| if held[i] { 0.0 } else { 1.0 / cloth.mass[i] }).collect(),
            thickness: cloth.fabric.thickness,
            friction: stage.friction,
            // Their spring between layers: about as stiff as the cloth.
            stiffness: 0.05 * cloth.fabric.stretch_warp,
            rounds: ROUNDS,
        }
    }

    /// Vertex–triangle and edge–edge pairs that may come within `reach` on the way from `x` along `u`.
    fn pairs(&mut self, x: &[DVec3], u: &[DVec3], reach: f64) -> Vec<(Pair, [usize; 4])> {
        let triangles = &self.triangles;
        self.tree.refit(|t| {
            let corners = triangles[t as usize].map(|i| i as usize);
            corners.iter().fold(Aabb::EMPTY, |b, &i| b.with(x[i]).with(x[i] + u[i])).inflated(0.5 * reach)
        });
        let mut near = Vec::new();
        self.tree.pairs(&mut Vec::new(), &mut Vec::new(), |a, b| near.push((a as usize, b as usize)));
        let mut found = Vec::new();
        for (a, b) in near {
            for (t, s) in [(a, b), (b, a)] {
                let corners = self.triangles[s].map(|i| i as usize);
                for &p in &self.triangles[t] {
                    if !corners.contains(&(p as usize)) {
                        found.push((Pair::PointTriangle, [p as usize, corners[0], corners[1], corners[2]]));
                    }
                }
            }
            for &e in &self.owned[a] {
                for &f in &self.owned[b] {
                    let (e, f) = (self.edges[e as usize], self.edges[f as usize]);
                    if !f.contains(&e[0]) && !f.contains(&e[1]) {
                        found.push((Pair::EdgeEdge, [e[0], e[1], f[0], f[1]].map(|i| i as usize)));
                    }
                }
            }
        }
        found.sort_unstable_by_key(|(k, v)| (*k == Pair::EdgeEdge, *v));
        found.dedup();
        found
    }

    /// Nearest points of a pair and the normal from the second side to the first.
    fn meeting(pair: Pair, v: [usize; 4], x: &[DVec3]) -> Meeting {
        let p = v.map(|i| x[i]);
        let w = match pair {
            Pair::PointTriangle => {
                let w = point_triangle(p[0], p[1], p[2], p[3]);
                [1.0, -w[0], -w[1], -w[2]]
            }
            Pair::EdgeEdge => {
                let (s, t) = segment_segment(p[0], p[1], p[2], p[3]);
                [1.0 - s, s, t - 1.0, -t]
            }
        };
        let d: DVec3 = (0..4).map(|k| p[k] * w[k]).sum();
        let distance = d.length();
        let normal = if distance > 1e-12 { d / distance } else { DVec3::Y };
        Meeting { v, w, normal, distance }
    }

    /// Changes velocities so that the pair parts along its normal by `change` more, m/s, and rubs.
    fn apply(&self, m: &Meeting, change: f64, v: &mut [DVec3]) {
        let share: f64 = (0..4).map(|k| m.w[k] * m.w[k] * self.inverse[m.v[k]]).sum();
        if share <= 0.0 || change <= 0.0 {
            return;
        }
        let relative: DVec3 = (0..4).map(|k| v[m.v[k]] * m.w[k]).sum();
        let slip = relative - m.normal * relative.dot(m.normal);
        let rubbed = slip.clamp_length_max(self.friction * change);
        let impulse = (m.normal * change - rubbed) / share;
        for k in 0..4 {
            v[m.v[k]] += impulse * (m.w[k] * self.inverse[m.v[k]]);
        }
    }

    /// Repulsions at `x`, impulses and zones on the way: `v` becomes a velocity at which nothing meets within `h`.
    pub fn treat(&mut self, x: &[DVec3], v: &mut [DVec3], h: f64) -> Treated {
        let mut done = Treated::default();
        let still = vec![DVec3::ZERO; x.len()];
        for (pair, at) in self.pairs(x, &still, self.thickness) {
            let m = Self::meeting(pair, at, x);
            let overlap = self.thickness - m.distance;
            if overlap <= 0.0 {
                continue;
            }
            done.repulsions += 1;
            let speed: f64 = (0..4).map(|k| v[m.v[k]].dot(m.normal) * m.w[k]).sum();
            self.apply(&m, -speed, v);
            // A spring pushes what is still too near apart, but by no more than a tenth of the overlap a step.
            let limit = 0.1 * overlap / h;
            let speed = speed.max(0.0);
            if speed < limit {
                let mass = 1.0 / self.inverse[at[0]].max(1e-12);
                self.apply(&m, (h * self.stiffness * overlap / mass).min(limit - speed), v);
            }
        }
        for _ in 0..self.rounds {
            let hits = self.hits(x, v, h);
            if hits.is_empty() {
                return done;
            }
            for (m, _) in &hits {
                done.impulses += 1;
                let speed: f64 = (0..4).map(|k| v[m.v[k]].dot(m.normal) * m.w[k]).sum();
                // Inelastic; a little more, for what is met counts as met before it is reached.
                self.apply(m, -speed + 0.1 * m.distance.min(self.thickness) / h, v);
            }
        }
        let mut zones = Zones::new(x.len());
        for _ in 0..GROWTHS {
            let hits = self.hits(x, v, h);
            done.left = hits.len() as u32;
            if hits.is_empty() {
                break;
            }
            hits.iter().for_each(|(m, _)| zones.join(&m.v));
            zones.freeze(x, v, &self.inverse, h);
        }
        done.rigid = zones.size();
        done
    }

    /// Pairs that meet when everything goes on at `v` for `h`.
    fn hits(&mut self, x: &[DVec3], v: &[DVec3], h: f64) -> Vec<(Meeting, f64)> {
        let u: Vec<DVec3> = v.iter().map(|v| *v * h).collect();
        let mut hits = Vec::new();
        for (pair, at) in self.pairs(x, &u, 1e-4) {
            let share = time_of_impact(pair, &at.map(|i| x[i]), &at.map(|i| u[i]));
            if share < 1.0 {
                let m = Self::meeting(pair, at, x);
                hits.push((m, share));
            }
        }
        // First come, first served.
        hits.sort_by(|a, b| a.1.total_cmp(&b.1));
        hits
    }
}

/// Vertices that move as rigid bodies.
struct Zones {
    parent: Vec<u32>,
    member: Vec<bool>,
}

impl Zones {
    fn new(n: usize) -> Self {
        Self { parent: (0..n as u32).collect(), member: vec![false; n] }
    }

    fn root(&mut self, v: usize) -> usize {
        let mut v = v;
        while self.parent[v] as usize != v {
            self.parent[v] = self.parent[self.parent[v] as usize];
            v = self.parent[v] as usize;
        }
        v
    }

    fn join(&mut self, v: &[usize; 4]) {
        let first = self.root(v[0]);
        for &other in v {
            let root = self.root(other);
            self.parent[root] = first as u32;
            self.member[other] = true;
        }
    }

    fn size(&self) -> u32 {
        self.member.iter().filter(|m| **m).count() as u32
    }

    /// Gives every zone the rigid motion that keeps its momentum and its spin.
    fn freeze(&mut self, x: &[DVec3], v: &mut [DVec3], inverse: &[f64], h: f64) {
        let members: Vec<usize> = (0..x.len()).filter(|&i| self.member[i]).collect();
        let mut by_root: std::collections::BTreeMap<usize, Vec<usize>> = std::collections::BTreeMap::new();
        for i in members {
            let root = self.root(i);
            by_root.entry(root).or_default().push(i);
        }
        for zone in by_root.values() {
            // What is held is heavy.
            let mass = |i: usize| if inverse[i] > 0.0 { 1.0 / inverse[i] } else { 1e3 };
            let total: f64 = zone.iter().map(|&i| mass(i)).sum();
            let centre: DVec3 = zone.iter().map(|&i| x[i] * mass(i)).sum::<DVec3>() / total;
            let speed: DVec3 = zone.iter().map(|&i| v[i] * mass(i)).sum::<DVec3>() / total;
            let (mut spin, mut inertia) = (DVec3::ZERO, DMat3::ZERO);
            for &i in zone {
                let r = x[i] - centre;
                spin += r.cross(v[i] - speed) * mass(i);
                inertia += (DMat3::IDENTITY * r.length_squared() - super::blocks::outer(r, r)) * mass(i);
            }
            let size = inertia.col(0).x + inertia.col(1).y + inertia.col(2).z;
            let turn = (inertia + DMat3::IDENTITY * (1e-9 * size + 1e-18)).inverse() * spin;
            // A turn in a straight step would blow the zone up: it is rotated in full.
            let angle = turn * h;
            let rotation = glam::DQuat::from_scaled_axis(angle);
            for &i in zone {
                let r = x[i] - centre;
                v[i] = speed + (rotation * r - r) / h;
            }
        }
    }
}
