//! Layer 2 on the trunk: 42 nodes that carry the cloth by free-form deformation (their §6.2).

use super::hung::Hung;
use super::springs::Springs;
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
    springs: Springs,
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
        let all_homes = 0..(LATTICE_NODES + SHOULDER_NODES) as u32;
        Self {
            hanging: Hung::new(&trunk.homes.skin, all_homes),
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

    /// One step to the present bones.
    pub fn step(&mut self, trunk: &Trunk, bones: &[Affine3A], dt: f32) {
        std::mem::swap(&mut self.homes, &mut self.homes_before);
        for i in 0..self.homes.len() {
            let rest = Vec3A::from(trunk.homes.rest[i]);
            self.homes[i] = self.hanging.carry(i, bones, rest);
            if i < LATTICE_NODES {
                let out = self.hanging.carry(i, bones, rest + Vec3A::from(trunk.outward[i])) - self.homes[i];
                self.outward[i] = out.normalize_or_zero();
                self.balanced[i] = self.hanging.carry(i, bones, rest + GRAVITY) - self.homes[i];
            }
        }
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

    /// What the lattice adds to a vertex.
    pub fn deform(&self, weights: &[f32; LATTICE_NODES]) -> Vec3 {
        let mut sums = [Vec3A::ZERO; 4];
        for (w, d) in weights.as_chunks::<4>().0.iter().zip(self.moved.as_chunks::<4>().0) {
            for k in 0..4 {
                sums[k] += d[k] * w[k];
            }
        }
        ((sums[0] + sums[1]) + (sums[2] + sums[3])).into()
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
