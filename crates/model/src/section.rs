//! What a limb is kept outside of at run time: every section an ellipse.

use crate::LimbTube;
use glam::Vec3;

/// An axis is no more than this longer than the mean of both, as a share of it.
const LONGEST: f32 = 0.4;

/// Every section of a limb as an ellipse, with the margin. All have the same axes; where they are and how large is a
/// polynomial along the line.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Unit axes in the bind pose, each over its length: products with them are the ellipse's measure, in which it is round.
    pub ways: [Vec3; 2],
    /// Lengths of the axes, about 1.
    pub long: [f32; 2],
    /// Where its middle is, in that measure.
    pub middle: [[f32; 3]; 2],
    /// Its radius.
    pub reach: [f32; 4],
}

/// Places along a limb and directions around it that an ellipse is fitted to.
const PLACES: usize = 33;
const DIRECTIONS: usize = 32;

impl Section {
    /// The ellipses that are nearest to a limb's sections in the mean.
    pub fn new(limb: &LimbTube, margin_m: f32) -> Self {
        let places: Vec<f32> = (0..PLACES).map(|i| 2.0 * i as f32 / (PLACES - 1) as f32 - 1.0).collect();
        let radius = |place: f32, k: usize| {
            let (sin, cos) = (k as f32 / DIRECTIONS as f32 * std::f32::consts::TAU).sin_cos();
            (limb.radius(place, [cos, sin]), [cos, sin])
        };
        // Means around the line of the radius times 1, cos, sin, cos 2, sin 2.
        let harmonics = |place: f32| {
            let mut sums = [0.0f32; 5];
            for k in 0..DIRECTIONS {
                let (rho, [c, s]) = radius(place, k);
                let terms = [1.0, 2.0 * c, 2.0 * s, 2.0 * (c * c - s * s), 4.0 * c * s];
                sums.iter_mut().zip(terms).for_each(|(sum, t)| *sum += rho * t / DIRECTIONS as f32);
            }
            sums
        };
        let all: Vec<[f32; 5]> = places.iter().map(|p| harmonics(*p)).collect();
        let mean = |k: usize| all.iter().map(|h| h[k]).sum::<f32>() / PLACES as f32;
        // The second harmonic is how much longer it is than wide, and which way; the first is where its middle is.
        let (cos2, sin2) = (mean(3), mean(4));
        let longer = (cos2.hypot(sin2) / mean(0).abs().max(1e-3)).min(LONGEST);
        let (sin, cos) = (0.5 * sin2.atan2(cos2)).sin_cos();
        let axes = [[cos, sin], [-sin, cos]];
        let long = [1.0 + longer, 1.0 - longer];
        let ways = [0, 1].map(|i| (limb.across * axes[i][0] + limb.side() * axes[i][1]) / long[i]);
        let middle = [0, 1].map(|i| {
            let at: Vec<f32> =
                all.iter().map(|h| (axes[i][0] * h[1] + axes[i][1] * h[2]) / long[i]).collect();
            fitted::<3>(&places, &at)
        });
        let mut section = Self { ways, long, middle, reach: [0.0; 4] };
        let reach = |place: &f32| {
            let [u, v] = section.middle.map(|m| at_place(&m, *place));
            let one = |k: usize| {
                let (rho, [c, s]) = radius(*place, k);
                let rho = rho + margin_m;
                let [x, y] = [0, 1].map(|i| rho * (axes[i][0] * c + axes[i][1] * s) / long[i]);
                (x - u).hypot(y - v)
            };
            (0..DIRECTIONS).map(one).sum::<f32>() / DIRECTIONS as f32
        };
        section.reach = fitted::<4>(&places, &places.iter().map(reach).collect::<Vec<f32>>());
        section
    }

    /// The farthest that it reaches from the line, in its own measure.
    pub fn largest(&self) -> f32 {
        let at = |k: usize| {
            let place = 2.0 * k as f32 / 64.0 - 1.0;
            let [u, v] = self.middle.map(|m| at_place(&m, place));
            u.hypot(v) + at_place(&self.reach, place)
        };
        // Between the places looked at it is hardly farther.
        1.02 * (0..=64).map(at).fold(0.0, f32::max)
    }

    /// How far a point of the bind pose is within the limb, in the direction of the section's middle, m: about, and less than
    /// nothing outside.
    pub fn depth_m(&self, limb: &LimbTube, p: Vec3) -> f32 {
        let along = (p - limb.middle).dot(limb.half) / limb.half.length_squared();
        let [x, y] = [0, 1].map(|i| (p - limb.middle).dot(self.ways[i]) - at_place(&self.middle[i], along));
        let rho = x.hypot(y);
        let metres = (x * self.long[0]).hypot(y * self.long[1]) / rho.max(1e-6);
        (at_place(&self.reach, along) - rho) * metres
    }
}

/// A polynomial at a place.
fn at_place<const N: usize>(coefficients: &[f32; N], place: f32) -> f32 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * place + c)
}

/// The polynomial that is nearest to values at evenly spaced places from −1 to 1, in the least squares.
fn fitted<const N: usize>(places: &[f32], values: &[f32]) -> [f32; N] {
    // Powers made orthogonal to those before, one by one.
    let mut basis: Vec<([f32; N], Vec<f32>)> = Vec::new();
    let mut out = [0.0f32; N];
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    for i in 0..N {
        let mut own = [0.0f32; N];
        own[i] = 1.0;
        let mut at: Vec<f32> = places.iter().map(|p| p.powi(i as i32)).collect();
        for (before, before_at) in &basis {
            let share = dot(&at, before_at) / dot(before_at, before_at);
            own.iter_mut().zip(before).for_each(|(o, b)| *o -= share * b);
            at.iter_mut().zip(before_at).for_each(|(o, b)| *o -= share * b);
        }
        let share = dot(values, &at) / dot(&at, &at);
        out.iter_mut().zip(own).for_each(|(sum, c)| *sum += share * c);
        basis.push((own, at));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ALONG, AROUND};

    #[test]
    fn a_bent_cone_with_elliptic_sections_is_its_own_section() {
        // Half axes of 1.2 and 0.8 of a mean that goes from 9 to 7 cm, along a line that bends by 1 cm.
        let mut radius = [[0.0f32; AROUND]; ALONG];
        radius[0] = [0.08, 0.0, 0.002, 0.016, 0.0, 0.0, 0.0];
        radius[1] = [-0.01, 0.0, 0.004, -0.002, 0.0, 0.0, 0.0];
        let limb = LimbTube {
            joint: 0,
            other: None,
            middle: Vec3::new(0.1, 0.9, 0.0),
            half: Vec3::new(0.0, -0.2, 0.02),
            across: Vec3::X,
            radius,
        };
        let section = Section::new(&limb, 0.0);
        let mut worst = 0.0f32;
        for i in 0..=20 {
            for k in 0..36 {
                let (place, turn) = (i as f32 / 10.0 - 1.0, k as f32 / 36.0 * std::f32::consts::TAU);
                let (s, c) = turn.sin_cos();
                let rho = limb.radius(place, [c, s]);
                let p = limb.middle + place * limb.half + rho * (c * limb.across + s * limb.side());
                worst = worst.max(section.depth_m(&limb, p).abs());
                assert!(section.depth_m(&limb, p.lerp(limb.middle + place * limb.half, 0.5)) > 0.02);
            }
        }
        // Two harmonics are not quite an ellipse themselves.
        assert!(worst > 0.0 && worst < 0.005, "off by {worst} m");
    }
}
