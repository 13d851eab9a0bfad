//! The continuous collision check against exact queries.

use super::exact::{meets, touch_at_start};
use super::row::Row;
use glam::DVec3;
use toile_geometry::Random;
use toile_geometry::continuous::{Pair, time_of_impact};
use toile_simulate::Result;

/// Four points and how they move.
type Case = ([DVec3; 4], [DVec3; 4]);

/// How the cases of a family come about.
#[derive(Clone, Copy, Debug)]
enum Family {
    /// Anywhere, moving anyhow.
    Random,
    /// Built so that they meet at some time.
    Hit,
    /// Built so that they meet exactly at a corner or on an edge.
    Corner,
    /// On a lattice of five: flat, parallel, coincident, without length or area.
    Lattice,
    /// All within one plane.
    Flat,
    /// All on one line.
    Line,
    /// A micrometre apart and fast.
    Close,
    /// Slivers: a triangle or segment a millionth wide.
    Sliver,
}

const FAMILIES: [Family; 8] = [
    Family::Random,
    Family::Hit,
    Family::Corner,
    Family::Lattice,
    Family::Flat,
    Family::Line,
    Family::Close,
    Family::Sliver,
];

fn generate(family: Family, pair: Pair, r: &mut Random) -> Case {
    let mut x = [0; 4].map(|_| r.vector());
    let mut u = [0; 4].map(|_| r.vector() * 1.5);
    let mut lattice = || DVec3::from([0; 3].map(|_| (r.bits() % 5) as f64 - 2.0));
    match family {
        Family::Random => {}
        Family::Lattice => {
            x = [0; 4].map(|_| lattice());
            u = [0; 4].map(|_| lattice());
        }
        Family::Flat => {
            for p in x.iter_mut().chain(&mut u) {
                p.z = 0.0;
            }
        }
        Family::Line => {
            for p in x.iter_mut().chain(&mut u) {
                *p = DVec3::new(p.x, 0.0, 0.0);
            }
        }
        Family::Sliver => {
            x[3] = x[2] + (x[3] - x[2]) * 1e-6;
            u[3] = u[2] + (u[3] - u[2]) * 1e-6;
            meet(&mut u, &x, pair, r, false);
        }
        Family::Hit => meet(&mut u, &x, pair, r, false),
        Family::Corner => meet(&mut u, &x, pair, r, true),
        Family::Close => {
            let w = weights(pair, r, false);
            let gap: DVec3 = (0..4).map(|i| x[i] * w[i]).sum();
            x[0] -= gap / w[0] + r.vector() * 1e-6;
            u = u.map(|v| v * 4.0);
        }
    }
    (x, u)
}

/// Weights whose combination of the four points vanishes where the pair meets.
fn weights(pair: Pair, r: &mut Random, corner: bool) -> [f64; 4] {
    let mut place = || if corner { (r.bits() % 2) as f64 } else { r.unit() };
    let (s, t) = (place(), place());
    match pair {
        Pair::PointTriangle => [1.0, -(1.0 - s) * (1.0 - t), -s * (1.0 - t), -t],
        Pair::EdgeEdge => [1.0 - s, s, t - 1.0, -t],
    }
}

/// Changes the motion of one point so that the pair meets (up to rounding) at a random time.
fn meet(u: &mut [DVec3; 4], x: &[DVec3; 4], pair: Pair, r: &mut Random, corner: bool) {
    let w = weights(pair, r, corner);
    let when = 0.1 + 0.8 * r.unit();
    let gap: DVec3 = (0..4).map(|i| (x[i] + u[i] * when) * w[i]).sum();
    let mover = if w[0] != 0.0 { 0 } else { 1 };
    u[mover] -= gap / (w[mover] * when);
}

/// What came of the comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Pairs tried.
    pub tried: usize,
    /// Pairs that meet on their way, by exact arithmetic.
    pub meeting: usize,
    /// Pairs that meet within the time that the check called safe.
    pub missed: usize,
    /// Pairs that do not meet but were held back.
    pub cautious: usize,
}

/// Tries `rounds` pairs of every family.
pub fn compare(rounds: usize, seed: u64) -> Comparison {
    compare_with(rounds, seed, time_of_impact)
}

fn compare_with(
    rounds: usize,
    seed: u64,
    check: impl Fn(Pair, &[DVec3; 4], &[DVec3; 4]) -> f64,
) -> Comparison {
    let mut r = Random::new(seed);
    let mut found = Comparison::default();
    for round in 0..rounds {
        for family in FAMILIES {
            for pair in [Pair::PointTriangle, Pair::EdgeEdge] {
                let (mut x, mut u) = generate(family, pair, &mut r);
                // Most as coarse as f32, which keeps the exact numbers short; every eighth to the last bit.
                if round % 8 != 0 {
                    for p in x.iter_mut().chain(&mut u) {
                        *p = p.as_vec3().as_dvec3();
                    }
                }
                if touch_at_start(pair, &x) {
                    continue;
                }
                found.tried += 1;
                let safe = check(pair, &x, &u);
                let met = meets(pair, &x, &u, 1.0);
                found.meeting += usize::from(met);
                found.cautious += usize::from(!met && safe < 1.0);
                let missed = if safe >= 1.0 { met } else { met && meets(pair, &x, &u, safe) };
                if missed {
                    found.missed += 1;
                }
            }
        }
    }
    found
}

/// No miss on generated and degenerate cases.
pub fn continuous(rounds: usize) -> Result<Vec<Row>> {
    let found = compare(rounds, 1);
    Ok(vec![
        Row::absolute("continuous collision against exact queries, misses", found.missed as f64, 0.0, 0.0),
        // So that the row above cannot pass by having nothing to miss.
        Row::band(
            "continuous collision against exact queries, share of pairs that meet",
            found.meeting as f64 / found.tried.max(1) as f64,
            0.2,
            0.8,
        ),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_geometry::continuous::distance_squared;

    #[test]
    fn careless_checks_are_caught() {
        // One that looks at eight moments only, and one that stops a hair late.
        let sampled = |pair: Pair, x: &[DVec3; 4], u: &[DVec3; 4]| {
            let at = |t: f64| [0, 1, 2, 3].map(|i| x[i] + u[i] * t);
            let near = |k: &i32| distance_squared(pair, &at(f64::from(*k) / 8.0)) < 1e-4;
            (1..=8).find(near).map_or(1.0, |k| f64::from(k - 1) / 8.0)
        };
        assert!(compare_with(10, 1, sampled).missed > 10);
        let late = |pair: Pair, x: &[DVec3; 4], u: &[DVec3; 4]| {
            let t = time_of_impact(pair, x, u);
            if t < 1.0 { (1.2 * t + 1e-3).min(1.0) } else { t }
        };
        assert!(compare_with(10, 1, late).missed > 10);
    }
}
