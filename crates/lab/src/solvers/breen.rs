//! Predicting the drape of woven cloth, Breen, House and Wozny 1994: particles at thread crossings with four energies, repel,
//! stretch, bend and trellis, the last two from Kawabata's plots; the shape at rest is the least of their sum. See
//! docs/math/breen.md.

use super::grid::{Energy, Relaxation, cosine};
use super::stage::{Lattice, Obstacles, Stage, State};
use super::{Method, Work};
use glam::DVec3;
use toile_assets::Fabric;

/// What Kawabata's bending and shear testers say of a cloth, in his units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kawabata {
    /// What it is.
    pub name: &'static str,
    /// kg/m².
    pub density: f64,
    /// Bending rigidity B, gf·cm²/cm.
    pub bend: f64,
    /// Bending hysteresis 2HB, gf·cm/cm.
    pub bend_hysteresis: f64,
    /// Shear stiffness G, gf/(cm·degree).
    pub shear: f64,
    /// Shear hysteresis 2HG, gf/cm.
    pub shear_hysteresis: f64,
}

/// Three weaves as in the paper's figures. The figures are representative of such cloths within Kawabata's published ranges
/// of wovens; the paper gives its own only as plots.
pub const WEAVES: [Kawabata; 3] = [
    Kawabata {
        name: "cotton",
        density: 0.15,
        bend: 0.16,
        bend_hysteresis: 0.12,
        shear: 1.6,
        shear_hysteresis: 4.0,
    },
    Kawabata {
        name: "wool",
        density: 0.20,
        bend: 0.10,
        bend_hysteresis: 0.03,
        shear: 0.6,
        shear_hysteresis: 0.9,
    },
    Kawabata {
        name: "cotton/polyester",
        density: 0.11,
        bend: 0.05,
        bend_hysteresis: 0.03,
        shear: 0.9,
        shear_hysteresis: 2.0,
    },
];

/// N·m for a gf·cm²/cm.
const BEND_UNIT: f64 = 9.80665e-5;
/// N per gf·cm/cm.
const MOMENT_UNIT: f64 = 9.80665e-3;
/// N/m per radian for a gf/(cm·degree).
const SHEAR_UNIT: f64 = 56.188;
/// N/m for a gf/cm.
const TENSION_UNIT: f64 = 0.980665;

/// Where the testers read B, 1/m, and G, degrees.
const READ_CURVATURE: [f64; 2] = [50.0, 150.0];
const READ_DEGREES: [f64; 2] = [0.5, 2.5];

impl Kawabata {
    /// A fabric of the simulator with the same figures.
    pub fn fabric(&self) -> Fabric {
        Fabric {
            name: self.name.into(),
            density: self.density,
            bend_warp: self.bend * BEND_UNIT,
            bend_weft: self.bend * BEND_UNIT,
            shear: self.shear * SHEAR_UNIT,
            stretch_warp: 2000.0,
            stretch_weft: 2000.0,
            poisson: 0.0,
            damping_secs: 0.01,
            ..crate::cloths::plain()
        }
    }
}

/// A measured curve: a steep beginning, where threads stick, to an offset, and from there on a straight line.
#[derive(Clone, Copy, Debug)]
pub struct Plot {
    /// Slope of the straight line.
    pub slope: f64,
    /// Offset.
    pub offset: f64,
    /// Where the beginning is over.
    pub knee: f64,
}

impl Plot {
    /// The curve whose chord between `from` and `to` has a measured slope.
    fn fitted(chord: f64, offset: f64, knee: f64, [from, to]: [f64; 2]) -> Self {
        let stuck = |a: f64| offset * a / a.hypot(knee);
        Self { slope: chord - (stuck(to) - stuck(from)) / (to - from), offset, knee }
    }

    /// Energy at `a` and its slope.
    pub fn energy(&self, a: f64) -> (f64, f64) {
        let root = (a * a + self.knee * self.knee).sqrt();
        (0.5 * self.slope * a * a + self.offset * (root - self.knee), self.slope * a + self.offset * a / root)
    }
}

/// The four energies on a grid.
#[derive(Clone, Debug)]
pub struct Weave {
    pairs: Vec<([usize; 2], f64)>,
    bends: Vec<([usize; 3], f64, f64)>,
    corners: Vec<([usize; 3], f64)>,
    /// Strength of repel and stretch, J.
    strength: f64,
    bend: Plot,
    shear: Plot,
}

/// Stretch that the tension of a metre of its own weight gives, as a share.
const GIVE: f64 = 0.01;

impl Weave {
    /// Of a grid of cloth with measured plots.
    pub fn new(stage: &Stage, grid: &Lattice, cloth: &Kawabata) -> Self {
        let mut pairs = Vec::new();
        let mut bends = Vec::new();
        let mut corners = Vec::new();
        for (i, j, v) in grid.each() {
            for (di, dj, k) in [(1, 0, 0), (0, 1, 1)] {
                let (l, w) = (grid.spacing[k], grid.spacing[1 - k]);
                if let Some(a) = grid.at(i + di, j + dj) {
                    pairs.push(([v, a], l));
                }
                if let (Some(a), Some(b)) = (grid.at(i - di, j - dj), grid.at(i + di, j + dj)) {
                    bends.push(([v, a, b], l, l * w));
                }
            }
            for (di, dj) in [(1, 1), (1, -1), (-1, 1), (-1, -1)] {
                if let (Some(a), Some(b)) = (grid.at(i + di, j), grid.at(i, j + dj)) {
                    corners.push(([v, a, b], 0.25 * grid.spacing[0] * grid.spacing[1]));
                }
            }
        }
        let tension = cloth.density * -stage.gravity().y * grid.spacing[0];
        Self {
            pairs,
            bends,
            corners,
            strength: tension * grid.spacing[1] / (5.0 * GIVE.powi(4)),
            // Per metre: a tenth of what the tester turns through.
            bend: Plot::fitted(
                cloth.bend * BEND_UNIT,
                0.5 * cloth.bend_hysteresis * MOMENT_UNIT,
                10.0,
                READ_CURVATURE,
            ),
            shear: Plot::fitted(
                cloth.shear * SHEAR_UNIT,
                0.5 * cloth.shear_hysteresis * TENSION_UNIT,
                0.3f64.to_radians(),
                READ_DEGREES.map(f64::to_radians),
            ),
        }
    }

    /// Energy of a pair at distance `r` that wants to be `l`, its slope and its curvature.
    fn pair(&self, r: f64, l: f64) -> (f64, f64, f64) {
        let c = self.strength;
        if r >= l {
            let e = (r - l) / l;
            return (c * e.powi(5), 5.0 * c * e.powi(4) / l, 20.0 * c * e.powi(3) / (l * l));
        }
        // (l − r)⁵/r, in units of the distance so that both sides have the same strength.
        let (u, s) = (r / l, (l - r) / l);
        let slope = (-5.0 * s.powi(4) / u - s.powi(5) / (u * u)) / l;
        let bent =
            (20.0 * s.powi(3) / u + 10.0 * s.powi(4) / (u * u) + 2.0 * s.powi(5) / u.powi(3)) / (l * l);
        (c * s.powi(5) / u, c * slope, c * bent)
    }
}

impl Energy for Weave {
    fn value(&self, x: &[DVec3]) -> f64 {
        let pairs = self.pairs.iter().map(|&([a, b], l)| self.pair(x[a].distance(x[b]), l).0);
        let bends = self.bends.iter().map(|&(v, l, area)| {
            let (c, _) = cosine(v.map(|i| x[i]));
            self.bend.energy(curvature(c, l)).0 * area
        });
        let corners = self.corners.iter().map(|&(v, area)| {
            let (c, _) = cosine(v.map(|i| x[i]));
            self.shear.energy(c.clamp(-0.999, 0.999).asin()).0 * area
        });
        pairs.sum::<f64>() + bends.sum::<f64>() + corners.sum::<f64>()
    }

    fn slope(&self, x: &[DVec3], gradient: &mut [DVec3], stiffness: &mut [f64]) {
        for &([a, b], l) in &self.pairs {
            let d = x[b] - x[a];
            let r = d.length().max(1e-3 * l);
            let (_, slope, bent) = self.pair(r, l);
            gradient[b] += d * (slope / r);
            gradient[a] -= d * (slope / r);
            // A pair at rest has no stiffness; what it soon will have keeps the relaxation stable.
            let soon = self.pair(r.max(l) + 0.5 * GIVE * l, l).2;
            let k = 2.0 * bent.max(soon);
            stiffness[a] += k;
            stiffness[b] += k;
        }
        for &(v, l, area) in &self.bends {
            let (c, by) = cosine(v.map(|i| x[i]));
            let k = curvature(c, l);
            let (_, moment) = self.bend.energy(k);
            // κ² = 2 (1 + c)/l², so dκ/dc = 1/(κ l²); the moment over κ is finite where cloth is flat.
            let per = if k > 1e-9 { moment / k } else { self.bend.slope + self.bend.offset / self.bend.knee };
            let pull = area * per / (l * l);
            let most = area * (self.bend.slope + self.bend.offset / self.bend.knee) / l.powi(4);
            for (i, g) in v.into_iter().zip(by) {
                gradient[i] += g * pull;
                stiffness[i] += 8.0 * most;
            }
        }
        for &(v, area) in &self.corners {
            let (c, by) = cosine(v.map(|i| x[i]));
            let c = c.clamp(-0.999, 0.999);
            let pull = area * self.shear.energy(c.asin()).1 / (1.0 - c * c).sqrt();
            let l = x[v[0]].distance(x[v[1]]).max(1e-9);
            let most = area * (self.shear.slope + self.shear.offset / self.shear.knee) / (l * l);
            for (i, g) in v.into_iter().zip(by) {
                gradient[i] += g * pull;
                stiffness[i] += 4.0 * most;
            }
        }
    }
}

/// Curvature of the circle through three crossings, 1/m, from the cosine at the middle one.
fn curvature(c: f64, l: f64) -> f64 {
    (2.0 * (1.0 + c).max(0.0)).sqrt() / l
}

/// Sweeps a step.
const SWEEPS: u32 = 20;

/// The method.
pub struct Breen {
    weave: Option<Weave>,
    held: Vec<bool>,
    relaxation: Relaxation,
    density: f64,
}

impl Breen {
    /// With plots that are the stage's fabric in Kawabata's units, without hysteresis.
    pub fn of_fabric(stage: &Stage) -> Self {
        let f = &stage.cloth().fabric;
        let same = Kawabata {
            name: "as the fabric",
            density: f.density,
            bend: 0.5 * (f.bend_warp + f.bend_weft) / BEND_UNIT,
            bend_hysteresis: 0.0,
            shear: f.shear / SHEAR_UNIT,
            shear_hysteresis: 0.0,
        };
        Self::new(stage, &same)
    }

    /// With measured plots.
    pub fn new(stage: &Stage, cloth: &Kawabata) -> Self {
        let weave = stage.lattice.map(|g| Weave::new(stage, &g, cloth));
        let density = cloth.density / stage.cloth().fabric.density;
        Self { weave, held: stage.held(), relaxation: Relaxation::new(stage.cloth().len()), density }
    }
}

impl Method for Breen {
    fn step(&mut self, stage: &Stage, obstacles: &mut Obstacles, state: &mut State, h: f64) -> Work {
        let Some(weave) = &self.weave else { return Work::FAILED };
        let mass = &stage.cloth().mass;
        for _ in 0..SWEEPS {
            let still = State { v: vec![DVec3::ZERO; state.x.len()], ..state.clone() };
            let mut planes = vec![None; state.x.len()];
            obstacles.near(stage, &still, h).iter().for_each(|t| planes[t.vertex] = Some(*t));
            self.relaxation.sweep(
                &[weave],
                |i| stage.gravity() * (mass[i] * self.density),
                &self.held,
                &mut state.x,
                |i, p| planes[i].map_or(p, |t| p - t.normal * t.gap(p).min(0.0)),
            );
            state.secs += h;
        }
        Work::iterations(SWEEPS)
    }
}

/// Slopes of the fitted plots where the testers read them, in Kawabata's units: B between 0.5 and 1.5 per cm, G between 0.5
/// and 2.5 degrees.
pub fn read_back(cloth: &Kawabata, stage: &Stage) -> Option<(f64, f64)> {
    let weave = Weave::new(stage, &stage.lattice?, cloth);
    let moment = |k: f64| weave.bend.energy(k).1;
    let force = |degrees: f64| weave.shear.energy(degrees.to_radians()).1;
    let ([k0, k1], [d0, d1]) = (READ_CURVATURE, READ_DEGREES);
    let bend = (moment(k1) - moment(k0)) / (k1 - k0) / BEND_UNIT;
    let shear = (force(d1) - force(d0)) / (d1 - d0).to_radians() / SHEAR_UNIT;
    Some((bend, shear))
}

#[cfg(test)]
mod tests {
    use super::super::grid::{crumpled, worst_slope};
    use super::*;

    #[test]
    fn all_four_energies_have_their_slopes() {
        let (stage, x) = crumpled(6);
        for cloth in &WEAVES {
            let weave = Weave::new(&stage, &stage.lattice.unwrap(), cloth);
            let only = |pairs: bool, bends: bool, corners: bool| Weave {
                pairs: if pairs { weave.pairs.clone() } else { vec![] },
                bends: if bends { weave.bends.clone() } else { vec![] },
                corners: if corners { weave.corners.clone() } else { vec![] },
                ..weave.clone()
            };
            for part in [only(true, false, false), only(false, true, false), only(false, false, true)] {
                let worst = worst_slope(&part, &x);
                assert!(worst < 1e-5, "{} {worst}", cloth.name);
            }
        }
    }
}
