//! Masses and springs by implicit Euler, in short parts of a step.
//!
//! Each part solves `x = y − h² M⁻¹ ∇E(x)` (with `y` free flight) by one sweep over the springs, each taken implicitly
//! with the two particles at its ends (Macklin et al. 2016; that many short parts with one sweep come nearer to the
//! solution than one long part with many is Macklin et al. 2019). Frames of any length are cut into such parts, and
//! contact put between sweeps holds at once. (A factored matrix for the whole cloth was tried first: it pulled cloth
//! through the legs between two corrections.)
//!
//! Springs are taken four at a time that share no particle: neighbours in the order of the cloth wait for each other,
//! and waiting was three quarters of the time.

use glam::{Vec3A, Vec4};
use std::collections::VecDeque;
use toile_model::layers::Spring;

/// Springs side by side.
const WIDTH: usize = 4;
/// How far ahead in the order a spring is looked for that shares no particle with those beside it.
const AHEAD: usize = 96;

/// Four springs that share no particle, as the sweep wants them.
#[derive(Clone, Copy)]
struct Links {
    ends: [[u32; 2]; WIDTH],
    /// Squares of the lengths at rest.
    square: Vec4,
    stiffness: Vec4,
    /// What each end moves by for a unit of lengthening, for the present step.
    moves: [Vec4; 2],
}

/// Particles `0..n` are free, those after them are held.
pub(super) struct Springs {
    mass: Vec<f32>,
    links: Vec<Links>,
    before: Vec<Vec3A>,
    prepared_secs: f32,
    backwards: bool,
}

impl Springs {
    pub fn new<'a>(mass: &[f32], springs: impl Iterator<Item = &'a Spring>) -> Self {
        let springs: Vec<Spring> = springs.copied().collect();
        Self {
            mass: mass.to_vec(),
            links: side_by_side(&springs),
            before: vec![Vec3A::ZERO; mass.len()],
            prepared_secs: 0.0,
            backwards: false,
        }
    }

    fn prepare(&mut self, h: f32) {
        let mass = &self.mass;
        let inverse = |v: u32| mass.get(v as usize).map_or(0.0, |m| 1.0 / m);
        for link in &mut self.links {
            let weights = [0, 1].map(|e| Vec4::from_array(link.ends.map(|ends| inverse(ends[e]))));
            // No stiffness is no spring: what fills up four of them.
            let soft = (link.stiffness * (h * h)).max(Vec4::splat(1e-20)).recip();
            let whole = weights[0] + weights[1] + soft;
            link.moves = weights.map(|w| w / whole);
        }
        self.prepared_secs = h;
    }

    /// Moves the free particles of `x` on by `h` seconds; the held ones are where they will be. `correct` may move free
    /// particles after the sweep; `v` becomes what all this comes to.
    #[inline(always)]
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
        for (i, (x, v)) in x[..n].iter_mut().zip(&*v).enumerate() {
            *x += (*v + acceleration(i) * h) * h;
        }
        // There and back in turn: a pull passes along the cloth in the order of the springs.
        match self.backwards {
            false => self.links.iter().for_each(|links| sweep(links, x)),
            true => self.links.iter().rev().for_each(|links| sweep(links, x)),
        }
        self.backwards = !self.backwards;
        correct(x);
        let per_second = 1.0 / h;
        for ((v, x), before) in v.iter_mut().zip(&*x).zip(&self.before) {
            *v = (*x - *before) * per_second;
        }
    }
}

/// Springs in fours, as near to their order as sharing no particle lets them; those of neighbouring fours share none
/// either where there are such.
fn side_by_side(springs: &[Spring]) -> Vec<Links> {
    let mut left: VecDeque<Spring> = springs.iter().copied().collect();
    let mut all = Vec::with_capacity(springs.len().div_ceil(WIDTH));
    let mut before: Vec<Spring> = Vec::new();
    while !left.is_empty() {
        let mut four = Vec::with_capacity(WIDTH);
        take_apart(&mut left, &mut four, &before);
        take_apart(&mut left, &mut four, &[]);
        let mut links =
            Links { ends: [[0; 2]; WIDTH], square: Vec4::ONE, stiffness: Vec4::ZERO, moves: [Vec4::ZERO; 2] };
        for (k, s) in four.iter().enumerate() {
            links.ends[k] = s.ends;
            links.square[k] = s.length_m * s.length_m;
            links.stiffness[k] = s.stiffness;
        }
        all.push(links);
        before = four;
    }
    all
}

/// Fills up `four` with the next springs that share no particle with it nor with `before`.
fn take_apart(left: &mut VecDeque<Spring>, four: &mut Vec<Spring>, before: &[Spring]) {
    let mut at = 0;
    while four.len() < WIDTH && at < left.len().min(AHEAD) {
        let apart = |s: &Spring| s.ends.iter().all(|e| !left[at].ends.contains(e));
        if four.iter().chain(before).all(apart) {
            four.extend(left.remove(at));
        } else {
            at += 1;
        }
    }
}

/// Brings four springs towards their lengths. `(d² − l²)/(d² + l²)` stands for `1 − l/d`: the same slope where a spring
/// is as long as it should be, and no root (Jakobsen 2001).
#[inline(always)]
fn sweep(links: &Links, x: &mut [Vec3A]) {
    let along = links.ends.map(|[i, j]| x[j as usize] - x[i as usize]);
    let square = Vec4::from_array(along.map(Vec3A::length_squared));
    let pull = (square - links.square) / (square + links.square + Vec4::splat(1e-12));
    let (near, far) = ((pull * links.moves[0]).to_array(), (pull * links.moves[1]).to_array());
    for k in 0..WIDTH {
        let [i, j] = links.ends[k].map(|e| e as usize);
        x[i] += along[k] * near[k];
        x[j] -= along[k] * far[k];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chains of ten links side by side, as cloth has them, each held at its last particle: springs that share no
    /// particle are found at the same level.
    fn chains() -> (Springs, Vec<Vec3A>) {
        const WIDE: u32 = 8;
        let spring = |level: u32, k: u32| Spring {
            ends: [level * WIDE + k, (level + 1) * WIDE + k],
            length_m: 0.1,
            stiffness: 200.0,
        };
        let springs: Vec<Spring> =
            (0..10).rev().flat_map(|level| (0..WIDE).map(move |k| spring(level, k))).collect();
        let x = (0..11 * WIDE).map(|i| Vec3A::new(0.1 * (10 - i / WIDE) as f32, 0.0, 0.0)).collect();
        (Springs::new(&[0.01; 10 * WIDE as usize], springs.iter()), x)
    }

    #[test]
    fn a_chain_comes_to_hang_straight_down_in_short_parts_and_does_not_run_away_in_the_papers() {
        // One sweep in a part of 0.04 s leaves a chain stretched and swinging: it is bounded, no more.
        for (h, hangs) in [(1.0f32 / 480.0, true), (1.0 / 240.0, true), (1.0 / 60.0, true), (0.04, false)] {
            let (mut springs, mut x) = chains();
            let mut v = vec![Vec3A::ZERO; x.len() - 8];
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
    fn springs_side_by_side_share_no_particle_and_none_is_lost() {
        let springs: Vec<Spring> = (0..50)
            .flat_map(|i| [1, 2, 7].map(|d| Spring { ends: [i, i + d], length_m: 1.0, stiffness: 1.0 }))
            .collect();
        let fours = side_by_side(&springs);
        let mut seen: Vec<[u32; 2]> = Vec::new();
        for four in &fours {
            let real: Vec<[u32; 2]> =
                (0..WIDTH).filter(|k| four.stiffness[*k] > 0.0).map(|k| four.ends[k]).collect();
            let mut ends: Vec<u32> = real.iter().flatten().copied().collect();
            ends.sort_unstable();
            assert!(ends.windows(2).all(|w| w[0] != w[1]), "{real:?}");
            seen.extend(real);
        }
        seen.sort_unstable();
        let mut all: Vec<[u32; 2]> = springs.iter().map(|s| s.ends).collect();
        all.sort_unstable();
        assert_eq!(seen, all);
        assert!(fours.len() < 45, "{} fours for 150 springs", fours.len());
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
