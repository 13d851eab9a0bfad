//! What a model D may be told beside the motion of its wearer: wind, gravity and what the cloth is made of.
//!
//! Wind and gravity become a few terms in the heading's frame, which are held between −1 and 1 like all inputs. A cloth
//! becomes a place on the axes along which training's cloths differ, and every feature of the model counts once more,
//! multiplied with that place and with its square: so a heavy cloth swings less, and not only hangs elsewhere. All of
//! these are bounded, so the bound of the model is the same closed form. Beyond what training saw they fade the correction.

use crate::{LARGEST, MAX_FABRIC_AXES};
use glam::Vec3;

/// What a model is told of air and weight: wind (3, m/s) in the heading's frame, wind × its speed (3), the same of the air
/// as the wearer feels it (3), gravity less the usual one over the usual one (3).
pub const SURROUNDING_TERMS: usize = 12;
/// Numbers that tell cloths apart: logarithms of bending length (m), mass (kg/m²), stretch and shear stiffness (N/m) and
/// damping (s).
pub const FABRIC_VALUES: usize = 5;
/// The usual gravity, m/s².
pub const GRAVITY: f32 = 9.81;

/// Wind, gravity and cloth of one wearer, in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surroundings {
    /// Velocity of the air, m/s.
    pub wind: Vec3,
    /// m/s².
    pub gravity: Vec3,
    /// See [`FABRIC_VALUES`]; `None` for the middle of what the model was trained with.
    pub fabric: Option<[f32; FABRIC_VALUES]>,
}

impl Default for Surroundings {
    fn default() -> Self {
        Self { wind: Vec3::ZERO, gravity: Vec3::new(0.0, -GRAVITY, 0.0), fabric: None }
    }
}

impl Surroundings {
    /// The same for someone whose heading has this sine and cosine: the frame that learning works in.
    #[must_use]
    pub fn canonical(&self, (sin, cos): (f32, f32)) -> Self {
        let turn = |v: Vec3| Vec3::new(cos * v.x - sin * v.z, v.y, sin * v.x + cos * v.z);
        Self { wind: turn(self.wind), gravity: turn(self.gravity), ..*self }
    }

    /// The terms of a wearer who moves at `velocity`; all in the heading's frame.
    pub fn terms(&self, velocity: Vec3) -> [f32; SURROUNDING_TERMS] {
        let (w, felt) = (self.wind, self.wind - velocity);
        let (gust, draught) = (w * w.length(), felt * felt.length());
        let g = self.gravity / GRAVITY + Vec3::Y;
        [w.x, w.y, w.z, gust.x, gust.y, gust.z, draught.x, draught.y, draught.z, g.x, g.y, g.z]
    }

    /// Whether every number is one.
    pub fn is_finite(&self) -> bool {
        let fabric = self.fabric.is_none_or(|f| f.iter().all(|v| v.is_finite()));
        self.wind.is_finite() && self.gravity.is_finite() && fabric
    }
}

/// How a model D hears its surroundings.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Hearing {
    /// Mean of the terms.
    pub mean: Vec<f32>,
    /// What they are multiplied with before they are held.
    pub scale: Vec<f32>,
    /// The middle of training's cloths.
    pub fabric_mean: Vec<f32>,
    /// `axes × 5`: places of training's cloths on them are within −1 and 1.
    pub fabric_axes: Vec<f32>,
    /// The strongest wind of training, m/s; the farthest gravity from the usual, in units of it; the farthest cloth off the
    /// axes, in units of their length.
    pub reach: [f32; 3],
}

/// Shares of what training reached between which a model fades what it learned.
const FADES: [f32; 2] = [1.15, 1.6];
/// What counts as no wind, as the usual gravity and as a cloth on the axes, where training had no other.
const LEAST_REACH: [f32; 3] = [0.5, 0.05, 0.35];

impl Hearing {
    /// Axes along which cloths differ.
    pub fn axes(&self) -> usize {
        self.fabric_axes.len() / FABRIC_VALUES
    }

    /// What every feature counts once more with: places on the axes and their squares.
    pub fn basis(&self) -> usize {
        2 * self.axes()
    }

    /// Those numbers of a cloth, each within −1 and 1, and how far it is beyond the axes' ends and off them.
    pub fn fabric(&self, fabric: Option<&[f32; FABRIC_VALUES]>, out: &mut [f32]) -> f32 {
        out.fill(0.0);
        let Some(fabric) = fabric else { return 0.0 };
        let apart: [f32; FABRIC_VALUES] = std::array::from_fn(|k| fabric[k] - self.fabric_mean[k]);
        let (mut left, mut over) = (apart, 0.0f32);
        for (axis, row) in self.fabric_axes.chunks_exact(FABRIC_VALUES).enumerate() {
            let place: f32 = row.iter().zip(&apart).map(|(a, b)| a * b).sum();
            let length_sq: f32 = row.iter().map(|a| a * a).sum::<f32>().max(1e-12);
            left.iter_mut().zip(row).for_each(|(l, a)| *l -= place * a / length_sq);
            over = over.max(place.abs() - 1.0);
            let held = place.clamp(-1.0, 1.0);
            (out[2 * axis], out[2 * axis + 1]) = (held, held * held);
        }
        let size = self.fabric_axes.iter().take(FABRIC_VALUES).map(|a| a * a).sum::<f32>().sqrt();
        let off = left.iter().map(|l| l * l).sum::<f32>().sqrt() * if size > 0.0 { size } else { 1.0 };
        over.max(0.0) + off
    }

    /// What each of wind, gravity and cloth is of the farthest of training.
    fn shares(&self, s: &Surroundings, off_axes: f32) -> [f32; 3] {
        let gravity = (s.gravity / GRAVITY + Vec3::Y).length();
        let found = [s.wind.length(), gravity, off_axes];
        std::array::from_fn(|k| found[k] / self.reach[k].max(LEAST_REACH[k]))
    }

    /// How far what was learned is trusted there, 0 to 1.
    pub fn trust(&self, s: &Surroundings, off_axes: f32) -> f32 {
        let farthest = self.shares(s, off_axes).into_iter().fold(0.0, f32::max);
        let t = ((FADES[1] - farthest) / (FADES[1] - FADES[0])).clamp(0.0, 1.0);
        t * t * (3.0 - 2.0 * t)
    }

    /// What is beyond training, in words.
    pub fn beyond(&self, s: &Surroundings) -> Vec<String> {
        let mut basis = [0.0; 2 * MAX_FABRIC_AXES];
        let off = self.fabric(s.fabric.as_ref(), &mut basis[..self.basis()]);
        let trust = 100.0 * self.trust(s, off);
        let words = [
            format!("a wind of {:.1} m/s (trained up to {:.1})", s.wind.length(), self.reach[0]),
            format!("gravity {} m/s²", s.gravity),
            "a fabric outside of those it was trained with".to_string(),
        ];
        let shares = self.shares(s, off);
        let over = words.into_iter().zip(shares).filter(|(_, share)| *share > FADES[0]);
        over.map(|(what, _)| format!("{what} is beyond training: what was learned is faded to {trust:.0} %"))
            .collect()
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        let sizes = [
            ("surroundings_mean", self.mean.len(), SURROUNDING_TERMS),
            ("surroundings_scale", self.scale.len(), SURROUNDING_TERMS),
            ("fabric_mean", self.fabric_mean.len(), FABRIC_VALUES),
            ("fabric_axes", self.fabric_axes.len() % FABRIC_VALUES, 0),
        ];
        if let Some((what, got, want)) = sizes.into_iter().find(|(_, got, want)| got != want) {
            return Err(format!("`{what}` has {got} numbers, not {want}"));
        }
        if self.axes() > MAX_FABRIC_AXES {
            return Err(format!("{} axes of fabrics; {MAX_FABRIC_AXES} at most", self.axes()));
        }
        let all = [&self.mean, &self.scale, &self.fabric_mean, &self.fabric_axes];
        let mut all = all.into_iter().flatten().chain(&self.reach);
        match all.find(|v| !(v.abs() <= LARGEST)) {
            Some(v) => Err(format!("a number of the surroundings is {v}, beyond {LARGEST:e}")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hearing() -> Hearing {
        Hearing {
            mean: vec![0.0; SURROUNDING_TERMS],
            scale: vec![1.0; SURROUNDING_TERMS],
            fabric_mean: vec![-4.0, -1.0, 7.0, 3.5, -4.0],
            fabric_axes: vec![1.0, 0.5, 0.25, 0.0, 0.0],
            reach: [4.0, 0.0, 0.0],
        }
    }

    #[test]
    fn wind_turns_with_the_wearer() {
        // Facing +X (a heading of 90°), a wind from the front blows along −Z of the wearer's frame.
        let blown = Surroundings { wind: Vec3::NEG_X, ..Surroundings::default() };
        let seen = blown.canonical((1.0, 0.0));
        assert!(seen.wind.distance(Vec3::NEG_Z) < 1e-6, "{}", seen.wind);
        assert_eq!(seen.gravity, Vec3::new(0.0, -GRAVITY, 0.0));
        // At rest relative to the air nothing is felt.
        assert_eq!(seen.terms(Vec3::NEG_Z)[6..9], [0.0; 3]);
        assert_eq!(Surroundings::default().terms(Vec3::ZERO), [0.0; SURROUNDING_TERMS]);
    }

    #[test]
    fn within_training_all_is_trusted_and_far_beyond_nothing() {
        let h = hearing();
        let at = |wind: f32| h.trust(&Surroundings { wind: Vec3::X * wind, ..Surroundings::default() }, 0.0);
        assert_eq!((at(0.0), at(4.5), at(8.0)), (1.0, 1.0, 0.0));
        assert!(at(5.5) > 0.0 && at(5.5) < 1.0);
        let weak = Surroundings { gravity: Vec3::NEG_Y * 1.6, ..Surroundings::default() };
        assert_eq!(h.trust(&weak, 0.0), 0.0, "the moon was not trained");
        assert!(h.beyond(&weak)[0].contains("gravity"));
        assert!(h.beyond(&Surroundings::default()).is_empty());
    }

    #[test]
    fn a_cloth_on_the_axis_is_heard_and_one_off_it_is_told_apart() {
        let h = hearing();
        let mut basis = [0.0; 2];
        let length_sq = 1.0 + 0.25 + 0.0625;
        let on: [f32; 5] = std::array::from_fn(|k| h.fabric_mean[k] + 0.5 * h.fabric_axes[k] / length_sq);
        let off = h.fabric(Some(&on), &mut basis);
        assert!((basis[0] - 0.5).abs() < 1e-5 && (basis[1] - 0.25).abs() < 1e-5 && off < 1e-5, "{basis:?}");
        let mut other = on;
        other[3] += 2.0;
        assert!(h.fabric(Some(&other), &mut basis) > 1.0);
        assert_eq!((h.fabric(None, &mut basis), basis), (0.0, [0.0; 2]));
    }
}
