//! Masses and springs by implicit Euler, in short parts of a step.
//!
//! Each part solves `x = y − h² M⁻¹ ∇E(x)` (with `y` free flight) by one sweep over the springs, each taken implicitly
//! with the two particles at its ends (Macklin et al. 2016; that many short parts with one sweep come nearer to the
//! solution than one long part with many is Macklin et al. 2019). Frames of any length are cut into such parts, and
//! contact put between sweeps holds at once. (A factored matrix for the whole cloth was tried first: it pulled cloth
//! through the legs between two corrections.)

use glam::Vec3A;
use toile_model::layers::Spring;

/// A spring as the sweep wants it.
#[derive(Clone, Copy)]
struct Link {
    ends: [u32; 2],
    length_m: f32,
    stiffness: f32,
    /// What each end moves by for a unit of lengthening, for the present step.
    moves: [f32; 2],
}

/// Particles `0..n` are free, those after them are held.
pub(super) struct Springs {
    mass: Vec<f32>,
    links: Vec<Link>,
    before: Vec<Vec3A>,
    prepared_secs: f32,
    backwards: bool,
}

impl Springs {
    pub fn new<'a>(mass: &[f32], springs: impl Iterator<Item = &'a Spring>) -> Self {
        let link =
            |s: &Spring| Link { ends: s.ends, length_m: s.length_m, stiffness: s.stiffness, moves: [0.0; 2] };
        Self {
            mass: mass.to_vec(),
            links: springs.map(link).collect(),
            before: vec![Vec3A::ZERO; mass.len()],
            prepared_secs: 0.0,
            backwards: false,
        }
    }

    fn prepare(&mut self, h: f32) {
        let mass = &self.mass;
        let inverse = |v: u32| mass.get(v as usize).map_or(0.0, |m| 1.0 / m);
        for link in &mut self.links {
            let weights = link.ends.map(inverse);
            let whole = weights[0] + weights[1] + 1.0 / (link.stiffness * h * h);
            link.moves = weights.map(|w| w / whole);
        }
        self.prepared_secs = h;
    }

    /// Moves the free particles of `x` on by `h` seconds; the held ones are where they will be. `correct` may move free
    /// particles after the sweep; `v` becomes what all this comes to.
    pub fn step(
        &mut self,
        x: &mut [Vec3A],
        v: &mut [Vec3A],
        acceleration: impl Fn(usize) -> Vec3A,
        h: f32,
        correct: impl FnOnce(&mut [Vec3A]),
    ) {
        if h != self.prepared_secs {
            self.prepare(h);
        }
        let n = self.mass.len();
        self.before.copy_from_slice(&x[..n]);
        for i in 0..n {
            x[i] += (v[i] + acceleration(i) * h) * h;
        }
        // There and back in turn: a pull passes along the cloth in the order of the springs.
        match self.backwards {
            false => self.links.iter().for_each(|link| sweep(link, x)),
            true => self.links.iter().rev().for_each(|link| sweep(link, x)),
        }
        self.backwards = !self.backwards;
        correct(x);
        for i in 0..n {
            v[i] = (x[i] - self.before[i]) / h;
        }
    }
}

#[inline(always)]
fn sweep(link: &Link, x: &mut [Vec3A]) {
    let [i, j] = link.ends.map(|e| e as usize);
    let along = x[j] - x[i];
    let length = along.length();
    let pull = along * ((length - link.length_m) / length.max(1e-6));
    x[i] += pull * link.moves[0];
    x[j] -= pull * link.moves[1];
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of ten links that hangs from its last particle.
    fn chain() -> (Springs, Vec<Vec3A>) {
        let springs: Vec<Spring> =
            (0..10).rev().map(|i| Spring { ends: [i, i + 1], length_m: 0.1, stiffness: 200.0 }).collect();
        let x: Vec<Vec3A> = (0..=10).map(|i| Vec3A::new(0.1 * (10 - i) as f32, 0.0, 0.0)).collect();
        (Springs::new(&[0.01; 10], springs.iter()), x)
    }

    #[test]
    fn a_chain_comes_to_hang_straight_down_in_short_parts_and_does_not_run_away_in_the_papers() {
        // One sweep in a part of 0.04 s leaves a chain stretched and swinging: it is bounded, no more.
        for (h, hangs) in [(1.0f32 / 480.0, true), (1.0 / 240.0, true), (1.0 / 60.0, true), (0.04, false)] {
            let (mut springs, mut x) = chain();
            let mut v = vec![Vec3A::ZERO; 10];
            for k in 0..(20.0 / h) as usize {
                let gravity = Vec3A::new(0.0, -9.81, 0.0);
                v.iter_mut().for_each(|v| *v *= 1.0 - 0.5 * h);
                springs.step(&mut x, &mut v, |_| gravity, h, |_| {});
                let longest = if k as f32 * h < 2.0 || !hangs { 3.0 } else { 1.6 };
                assert!(x.iter().all(|p| p.length() < longest), "step {h}: {:?}", x[0]);
            }
            assert!(!hangs || x[0].x.abs() < 0.05 && x[0].y < -0.98, "step {h}: ends at {}", x[0]);
        }
    }

    #[test]
    fn a_spring_swings_at_its_own_frequency() {
        // 1 kg on 400 N/m: 20 rad/s, a period of 0.314 s.
        let spring = Spring { ends: [0, 1], length_m: 0.5, stiffness: 400.0 };
        let mut springs = Springs::new(&[1.0], [&spring].into_iter());
        let (mut x, mut v) = (vec![Vec3A::new(0.0, -0.6, 0.0), Vec3A::ZERO], vec![Vec3A::ZERO]);
        let h = 1e-4;
        let mut turned = None;
        for k in 0..4000 {
            let before = v[0].y;
            springs.step(&mut x, &mut v, |_| Vec3A::ZERO, h, |_| {});
            if before > 0.0 && v[0].y <= 0.0 {
                turned = Some(k as f32 * h);
                break;
            }
        }
        let half = turned.unwrap();
        assert!((half - 0.157).abs() < 0.003, "{half} s for half a period");
    }
}
