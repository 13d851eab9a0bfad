//! Layer 2 on the trunk: 42 nodes that carry the cloth by free-form deformation (their §6.2).

use super::hung::Hung;
use super::springs::Springs;
use super::wide::{Stored, Vectors};
use crate::cpu::kernel::{Lanes, WIDE, Wide};
use glam::{Affine3A, Vec3, Vec3A};
use toile_model::layers::{LATTICE_NODES, SHOULDER_NODES, Spring, Trunk};

const GRAVITY: Vec3A = Vec3A::new(0.0, -9.81, 0.0);
/// Frequency at which a node comes back to where the skeleton holds it, Hz: cloth rubs on the trunk.
const HOLD_HZ: f32 = 1.6;
/// What of a node's velocity against the trunk is left after a second.
const LEFT_OF_SPEED: f32 = 0.004;
/// Longest part of a step, s. Parts of 1/60 s shake shirts twice as fast.
const LONGEST_SECS: f32 = 1.0 / 120.0;
/// Free, and behind them the shoulders and the places that hold each node.
const PARTICLES: usize = 2 * LATTICE_NODES + SHOULDER_NODES;

/// The lattice in motion.
pub(super) struct Lattice {
    hanging: Hung,
    /// Where the skeleton holds the nodes in the bind pose, and their outer sides.
    rest: Vec<[Stored; 2]>,
    springs: Springs,
    /// What the followers take of every node, eight of them side by side.
    weights: Vec<[Wide; LATTICE_NODES]>,
    x: Vec<Vec3A>,
    v: Vec<Vec3A>,
    homes: Vec<Vec3A>,
    homes_before: Vec<Vec3A>,
    outward: Vec<Vec3A>,
    /// Acceleration that the drape at rest already balances, turned with the trunk.
    balanced: Vec<Vec3A>,
    /// What is added to the vertices.
    pub moved: [Vec3A; LATTICE_NODES],
    started: bool,
}

impl Lattice {
    pub fn new(trunk: &Trunk) -> Self {
        let holds = (0..LATTICE_NODES).map(|i| Spring {
            ends: [i as u32, (LATTICE_NODES + SHOULDER_NODES + i) as u32],
            length_m: 0.0,
            stiffness: trunk.mass[i] * (std::f32::consts::TAU * HOLD_HZ).powi(2),
        });
        let all: Vec<Spring> = trunk.springs.iter().copied().chain(holds).collect();
        let homes: Vec<u32> = (0..(LATTICE_NODES + SHOULDER_NODES) as u32).collect();
        let rest = |eight: &[u32]| {
            let outward = |i: &u32| trunk.outward.get(*i as usize).copied().unwrap_or_default().into();
            [
                Stored::of(eight.iter().map(|i| trunk.homes.rest[*i as usize].into())),
                Stored::of(eight.iter().map(outward)),
            ]
        };
        let weights = |eight: &[[f32; LATTICE_NODES]]| {
            let mut wide = [Wide::default(); LATTICE_NODES];
            for (k, row) in eight.iter().enumerate() {
                wide.iter_mut().zip(row).for_each(|(to, w)| to.0[k] = *w);
            }
            wide
        };
        Self {
            hanging: Hung::new(&trunk.homes.skin, &homes),
            rest: homes.chunks(WIDE).map(rest).collect(),
            weights: trunk.weights.chunks(WIDE).map(weights).collect(),
            springs: Springs::new(&trunk.mass, all.iter()),
            x: vec![Vec3A::ZERO; PARTICLES],
            v: vec![Vec3A::ZERO; LATTICE_NODES],
            homes: vec![Vec3A::ZERO; LATTICE_NODES + SHOULDER_NODES],
            homes_before: vec![Vec3A::ZERO; LATTICE_NODES + SHOULDER_NODES],
            outward: vec![Vec3A::ZERO; LATTICE_NODES],
            balanced: vec![GRAVITY; LATTICE_NODES],
            moved: [Vec3A::ZERO; LATTICE_NODES],
            started: false,
        }
    }

    pub fn forget(&mut self) {
        self.started = false;
    }

    /// Where the skeleton holds the nodes now.
    #[inline(always)]
    fn pose<L: Lanes>(&mut self, bones: &[Affine3A]) {
        std::mem::swap(&mut self.homes, &mut self.homes_before);
        for (i, [rest, outward]) in self.rest.iter().enumerate() {
            let homes = self.hanging.carry(i, bones, rest.load::<L>()).store();
            let outward = self.hanging.turn(i, bones, outward.load::<L>()).store();
            let balanced = self.hanging.turn(i, bones, Vectors::<L>::splat(GRAVITY)).store();
            for k in 0..WIDE.min(self.homes.len() - WIDE * i) {
                let node = WIDE * i + k;
                self.homes[node] = homes.lane(k);
                if node < LATTICE_NODES {
                    self.outward[node] = outward.lane(k).normalize_or_zero();
                    self.balanced[node] = balanced.lane(k);
                }
            }
        }
    }

    /// One step to the present bones.
    #[inline(always)]
    pub fn step<L: Lanes>(&mut self, trunk: &Trunk, bones: &[Affine3A], dt: f32) {
        self.pose::<L>(bones);
        if !self.started {
            // As the skeleton holds it: the first steps let it hang.
            self.homes_before.copy_from_slice(&self.homes);
            for i in 0..LATTICE_NODES {
                self.x[i] = self.homes[i] + self.moved[i];
            }
            self.v.fill(Vec3A::ZERO);
            self.started = true;
        }
        let parts = (dt / LONGEST_SECS).ceil().max(1.0);
        let h = dt / parts;
        let left = LEFT_OF_SPEED.powf(h);
        for part in 1..=parts as usize {
            let (t0, t1) = ((part - 1) as f32 / parts, part as f32 / parts);
            let at = |i: usize, t: f32| self.homes_before[i].lerp(self.homes[i], t);
            for i in 0..LATTICE_NODES {
                let own = (self.homes[i] - self.homes_before[i]) / dt;
                self.v[i] = own + (self.v[i] - own) * left;
                self.x[LATTICE_NODES + SHOULDER_NODES + i] = at(i, t1);
            }
            for s in 0..SHOULDER_NODES {
                self.x[LATTICE_NODES + s] = at(LATTICE_NODES + s, t1);
            }
            let balanced = &self.balanced;
            self.springs.step(&mut self.x, &mut self.v, |i| GRAVITY - balanced[i], h, |_| {});
            for i in 0..LATTICE_NODES {
                let (home, before) = (at(i, t1), at(i, t0));
                let offset = kept_in(self.x[i] - home, self.outward[i], trunk.reach_m[i]);
                if offset != self.x[i] - home {
                    self.x[i] = home + offset;
                    self.v[i] = (home - before) / h;
                }
                self.moved[i] = offset;
            }
        }
    }

    /// Adds to the vertices what the lattice brings them.
    #[inline(always)]
    pub fn deform<L: Lanes>(&self, followers: &[u32], positions: &mut [Vec3]) {
        for (vertices, weights) in followers.chunks(WIDE).zip(&self.weights) {
            let mut sums = [Vectors::<L>::zero(); 2];
            for (w, d) in weights.as_chunks::<2>().0.iter().zip(self.moved.as_chunks::<2>().0) {
                sums[0] = sums[0] + Vectors::splat(d[0]) * L::load(&w[0]);
                sums[1] = sums[1] + Vectors::splat(d[1]) * L::load(&w[1]);
            }
            let added = (sums[0] + sums[1]).store();
            for (k, v) in vertices.iter().enumerate() {
                positions[*v as usize] += Vec3::from(added.lane(k));
            }
        }
    }
}

/// An offset brought back into the half-sphere of a radius on the outer side.
fn kept_in(offset: Vec3A, outward: Vec3A, reach_m: f32) -> Vec3A {
    (offset - outward * offset.dot(outward).min(0.0)).clamp_length_max(reach_m)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_stays_in_its_half_sphere() {
        let inside = Vec3A::new(0.01, 0.02, 0.005);
        assert_eq!(kept_in(inside, Vec3A::Z, 0.05), inside);
        assert_eq!(kept_in(Vec3A::new(0.01, 0.0, -0.03), Vec3A::Z, 0.05), Vec3A::new(0.01, 0.0, 0.0));
        assert!((kept_in(Vec3A::new(1.0, 0.0, 1.0), Vec3A::Z, 0.05).length() - 0.05).abs() < 1e-6);
    }
}
