//! Stable but responsive cloth, Choi and Ko 2002: neighbours resist being pulled apart and nothing else; particles two apart
//! resist being brought together as a column does that has buckled already. See docs/math/buckling.md.

use super::blocks::{Blocks, outer};
use super::implicit::{Linear, Model};
use super::springs::{Spring, cut, second_neighbours};
use super::stage::Stage;
use glam::{DMat3, DVec3};

/// `sin x / x`.
fn sinc(x: f64) -> f64 {
    if x.abs() < 1e-4 { 1.0 - x * x / 6.0 } else { x.sin() / x }
}

/// The angle between 0 and π with that `sinc`: half of what a buckled column turns through.
pub fn half_turn(chord: f64) -> f64 {
    let chord = chord.clamp(0.0, 1.0);
    let (mut low, mut high) = (0.0, std::f64::consts::PI);
    for _ in 0..50 {
        let mid = 0.5 * (low + high);
        if sinc(mid) > chord { low = mid } else { high = mid }
    }
    0.5 * (low + high)
}

/// A column of length `length` that bends as an arc between its ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    /// Its ends.
    pub ends: [u32; 2],
    /// m.
    pub length: f64,
    /// Bending rigidity times width, N·m².
    pub bend: f64,
    /// Slope at which compression begins, N/m: near its full length the arc would be infinitely stiff.
    pub onset: f64,
}

impl Column {
    /// Energy `½ k_b κ² L` of the arc whose chord is `d`, J.
    pub fn arc_energy(&self, d: f64) -> f64 {
        let curvature = 2.0 * half_turn(d / self.length) / self.length;
        0.5 * self.bend * curvature * curvature * self.length
    }

    /// Force along the column at distance `d`, N, and its slope: negative pushes the ends apart.
    pub fn response(&self, d: f64) -> (f64, f64) {
        if d >= self.length {
            return (0.0, 0.0);
        }
        let soft = self.onset * (d - self.length);
        let arc = self.arc_force(d);
        // Whichever is the weaker.
        if soft > arc {
            return (soft, self.onset);
        }
        let e = 1e-5 * self.length;
        let slope = (self.arc_force((d + e).min(self.length)) - self.arc_force(d - e)) / (2.0 * e);
        (arc, slope.max(0.0))
    }

    /// `k_b κ² / (cos(κL/2) − sinc(κL/2))`, their equation 8.
    fn arc_force(&self, d: f64) -> f64 {
        let a = half_turn(d / self.length);
        let curvature = 2.0 * a / self.length;
        let denominator = a.cos() - sinc(a);
        if denominator.abs() < 1e-12 {
            // The limit at full length, a² → 0 of 4a²/(L²·(−a²/3)): an arc's, a fifth above Euler's load π² k_b/L², because a column
            // that begins to buckle is a sine and not an arc.
            return -12.0 * self.bend / (self.length * self.length);
        }
        self.bend * curvature * curvature / denominator
    }
}

/// The model.
#[derive(Clone, Debug)]
pub struct Buckling {
    stretch: Vec<Spring>,
    columns: Vec<Column>,
    damping_secs: f64,
}

impl Buckling {
    /// For a stage.
    pub fn new(stage: &Stage) -> Self {
        let fabric = &stage.cloth().fabric;
        let mut stretch = cut(stage, 1.0);
        stretch.retain(|s| s.kind != super::springs::Kind::Bend);
        let bend = 0.5 * (fabric.bend_warp + fabric.bend_weft);
        let column = |(ends, length): ([u32; 2], f64)| Column {
            ends,
            length,
            // As wide as neighbours are apart.
            bend: bend * 0.5 * length,
            onset: 0.01 * fabric.stretch_warp.min(fabric.stretch_weft),
        };
        let columns = second_neighbours(stage).into_iter().map(column).collect();
        Self { stretch, columns, damping_secs: fabric.damping_secs }
    }
}

impl Model for Buckling {
    fn pattern(&self, n: usize) -> Blocks {
        let pairs = self.stretch.iter().map(|s| &s.ends[..]);
        Blocks::new(n, pairs.chain(self.columns.iter().map(|c| &c.ends[..])))
    }

    fn linearise(&self, x: &[DVec3], v: &[DVec3], out: &mut Linear) {
        for s in &self.stretch {
            let [i, j] = s.ends.map(|e| e as usize);
            let d = s.span(x);
            let n = d.normalize_or_zero();
            let rate = n.dot(v[j] - v[i]);
            // Fibres damp whether they are pulled or not.
            let damper = s.stiffness * self.damping_secs;
            let taut = d.length() > s.length;
            let force = if taut { s.force(x) } else { DVec3::ZERO } + n * (damper * rate);
            out.force[i] += force;
            out.force[j] -= force;
            let k = if taut { s.jacobian(x, true) } else { DMat3::ZERO };
            out.add_pair(i, j, k, outer(n, n) * damper);
        }
        for c in &self.columns {
            let [i, j] = c.ends.map(|e| e as usize);
            let d = x[j] - x[i];
            let l = d.length().max(1e-12);
            let (force, slope) = c.response(l);
            if force == 0.0 {
                continue;
            }
            let n = d / l;
            out.force[i] += n * force;
            out.force[j] -= n * force;
            // The part across the column is −|f|/l: it is what makes columns buckle, which they have done already.
            out.add_pair(i, j, outer(n, n) * slope, DMat3::ZERO);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_force_of_an_arc_is_the_slope_of_its_energy() {
        let c = Column { ends: [0, 1], length: 0.1, bend: 1e-6, onset: 1e9 };
        for d in [0.02, 0.05, 0.08, 0.095] {
            let e = 1e-7;
            let slope = (c.arc_energy(d + e) - c.arc_energy(d - e)) / (2.0 * e);
            assert!((c.response(d).0 / slope - 1.0).abs() < 1e-5, "{d}: {:?} {slope}", c.response(d));
            let change = (c.response(d + e).0 - c.response(d - e).0) / (2.0 * e);
            assert!((c.response(d).1 - change.max(0.0)).abs() < 1e-2 * change.abs() + 1e-9);
        }
    }

    #[test]
    fn a_column_begins_softly() {
        let c = Column { ends: [0, 1], length: 0.1, bend: 1e-6, onset: 0.5 };
        assert_eq!(c.response(0.1), (0.0, 0.0));
        assert!((c.response(0.09999).0 + 0.5e-5).abs() < 1e-9);
    }
}
