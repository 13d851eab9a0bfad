//! Model D: a correction on top of skinning, in the bind pose, that is stable by construction.
//!
//! `x_v = LBS_v(v̄ + g·Φ_v y)`. Chosen entries of the canonical bone matrices, their change since the frame before and
//! what the root does are softly held between −1 and 1; a few combinations of them go through stable filters; nearness
//! to poses of the training set is measured; `y` is linear in all of these and held within an ellipsoid. Whatever is
//! fed in, no vertex goes farther from its skinned place than `‖B_v‖·‖Φ_v E^½‖`. Beyond what training saw the
//! gate `g` fades the correction out: there the garment is skinned.

use crate::symmetric::symmetric_eigen;
use crate::{CertificateError, Hearing, Model, SURROUNDING_TERMS};

/// What the root does in a frame, as the model is told: velocity (3, m/s) and acceleration (3) in the heading's frame,
/// turn (rad/s) and its change, turn², turn × sideways and forward velocity, velocity × speed (3), speed.
pub const ROOT_TERMS: usize = 15;
/// The largest modulus a filter may have: it forgets to 1 % in 7.6 s at 30 frames a second.
pub const MAX_POLE: f32 = 0.98;
/// The most that the gate opens or closes in a frame.
pub const GATE_RATE: f32 = 0.1;
/// Axes along which cloths may differ: each makes the readout twice as wide again.
pub const MAX_FABRIC_AXES: usize = 3;
/// No number of a model is larger: sums of all its products stay far within `f32`.
pub const LARGEST: f32 = 1e6;

/// The parts of a model D beside its basis and its body inputs. All matrices are row-major; `m` are the body inputs,
/// `u = 2m + 15` the held inputs, 12 more where the model hears its surroundings, `d` the dims.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Correction {
    /// What the change of each body input is multiplied with before it is held, `m`.
    pub rate_scale: Vec<f32>,
    /// Mean of the root's terms.
    pub root_mean: Vec<f32>,
    /// What they are multiplied with.
    pub root_scale: Vec<f32>,
    /// `drives × u`: the combinations that are filtered.
    pub drive: Vec<f32>,
    /// A filter each, `z ← λ z + (1 − λ) drive`, as real and imaginary part; all filters take all drives.
    pub poles: Vec<[f32; 2]>,
    /// `centres × m`: held poses of the training set.
    pub centres: Vec<f32>,
    /// Square of the distance at which nearness, `1 / (1 + distance² / width²)`, is one half.
    pub width_sq: f32,
    /// `directions × (u + filtered)`: combinations of held inputs and filters that shapes follow most.
    pub directions: Vec<f32>,
    /// `anchors × directions`: places among them in training, to which nearness is measured as well.
    pub anchors: Vec<f32>,
    /// As `width_sq`, of the anchors.
    pub anchor_width_sq: f32,
    /// `d × features`: held inputs, filters, nearness to poses and to anchors; of a model that hears fabrics, for each number of its basis that number
    /// and all of those multiplied with it.
    pub readout: Vec<f32>,
    /// What `y` is added to, `d`.
    pub bias: Vec<f32>,
    /// Half axes of the ellipsoid, `d`: `E^½`.
    pub half_axes: Vec<f32>,
    /// Squared distances from the nearest centre up to which the gate is open, and from which on it is shut.
    pub gate_sq: [f32; 2],
    /// How it hears wind, gravity and cloth; `None` where it was not trained for them.
    pub hearing: Option<Hearing>,
}

impl Correction {
    /// Held inputs.
    pub fn held(&self) -> usize {
        2 * self.rate_scale.len() + ROOT_TERMS + self.hearing.as_ref().map_or(0, |_| SURROUNDING_TERMS)
    }

    /// Combinations that are filtered.
    pub fn drives(&self) -> usize {
        self.drive.len() / self.held()
    }

    /// Numbers of a filter: a complex one gives two for each drive.
    pub fn filtered(&self) -> usize {
        self.poles.iter().map(|p| self.drives() * if p[1] == 0.0 { 1 } else { 2 }).sum()
    }

    /// Poses that nearness is measured to.
    pub fn centre_count(&self) -> usize {
        self.centres.len() / self.rate_scale.len().max(1)
    }

    /// Combinations in which nearness to anchors is measured.
    pub fn direction_count(&self) -> usize {
        self.directions.len() / (self.held() + self.filtered()).max(1)
    }

    /// Places in them that nearness is measured to.
    pub fn anchor_count(&self) -> usize {
        self.anchors.len() / self.direction_count().max(1)
    }

    /// What `y` is read from of one cloth.
    pub fn plain_features(&self) -> usize {
        self.held() + self.filtered() + self.centre_count() + self.anchor_count()
    }

    /// All that `y` is read from.
    pub fn features(&self) -> usize {
        let plain = self.plain_features();
        plain + self.hearing.as_ref().map_or(0, |h| h.basis() * (plain + 1))
    }

    /// The largest modulus of the filters.
    pub fn rho(&self) -> f64 {
        self.poles.iter().map(|p| f64::from(p[0]).hypot(f64::from(p[1]))).fold(0.0, f64::max)
    }

    /// Frames after which one hundredth is left of whatever was.
    pub fn forgets_in_frames(&self) -> f64 {
        let rho = self.rho();
        if rho > 0.0 { (0.01f64.ln() / rho.ln()).ceil() } else { 1.0 }
    }

    /// What the gate is to be at a squared distance from the nearest centre.
    pub fn gate(&self, distance_sq: f32) -> f32 {
        let [near, far] = self.gate_sq;
        let t = ((far - distance_sq) / (far - near)).clamp(0.0, 1.0);
        t * t * (3.0 - 2.0 * t)
    }

    /// Every part has its size, every number its range.
    pub(crate) fn check(&self, m: usize, d: usize) -> Result<(), String> {
        if let Some(hearing) = &self.hearing {
            hearing.check()?;
        }
        let u = 2 * m + ROOT_TERMS + self.hearing.as_ref().map_or(0, |_| SURROUNDING_TERMS);
        let of = |what: &str, got: usize, want: usize| {
            if got == want { Ok(()) } else { Err(format!("`{what}` has {got} numbers, not {want}")) }
        };
        of("rate_scale", self.rate_scale.len(), m)?;
        of("root_mean", self.root_mean.len(), ROOT_TERMS)?;
        of("root_scale", self.root_scale.len(), ROOT_TERMS)?;
        of("drive", self.drive.len() % u, 0)?;
        of("centres", self.centres.len() % m.max(1), 0)?;
        of("directions", self.directions.len() % (u + self.filtered()), 0)?;
        of("anchors", self.anchors.len() % self.direction_count().max(1), 0)?;
        of("readout", self.readout.len(), d * self.features())?;
        of("bias", self.bias.len(), d)?;
        of("half_axes", self.half_axes.len(), d)?;
        for (name, values) in [
            ("rate_scale", &self.rate_scale),
            ("root_mean", &self.root_mean),
            ("root_scale", &self.root_scale),
            ("drive", &self.drive),
            ("centres", &self.centres),
            ("directions", &self.directions),
            ("anchors", &self.anchors),
            ("readout", &self.readout),
            ("bias", &self.bias),
            ("half_axes", &self.half_axes),
        ] {
            if let Some(at) = values.iter().position(|v| !(v.abs() <= LARGEST)) {
                return Err(format!("`{name}`, entry {at}: {} is beyond {LARGEST:e}", values[at]));
            }
        }
        if let Some(k) = self.half_axes.iter().position(|a| *a <= 0.0) {
            return Err(format!("half axis {k} of the ellipsoid is {}", self.half_axes[k]));
        }
        for (k, [re, im]) in self.poles.iter().enumerate() {
            let modulus = f64::from(*re).hypot(f64::from(*im));
            if !(modulus <= f64::from(MAX_POLE) + 1e-6) {
                return Err(format!("filter {k} has modulus {modulus:.4}, above {MAX_POLE}"));
            }
        }
        let [near, far] = self.gate_sq;
        if self.centres.is_empty() || !(near >= 0.0 && far > near && far <= LARGEST && self.width_sq > 1e-6) {
            return Err(format!("the gate opens at {near} and shuts at {far}, width {}", self.width_sq));
        }
        let anchor_width = 1e-6..=LARGEST;
        if !self.anchors.is_empty() && !anchor_width.contains(&self.anchor_width_sq) {
            return Err(format!("nearness to anchors has width {}", self.anchor_width_sq));
        }
        Ok(())
    }
}

impl Model {
    /// How far each vertex of a model D can be from its skinned place in the bind pose, m: the largest singular value
    /// of `Φ_v E^½`. Bones that turn without stretching keep it.
    pub fn correction_bound(&self) -> Option<Vec<f32>> {
        let axes = &self.correction.as_ref()?.half_axes;
        let d = self.cloth_dims;
        let rows = self.cloth_basis.chunks_exact(3 * d);
        Some(rows.map(|rows| largest_stretch(rows, axes, d) as f32).collect())
    }

    /// Checks all that the bound of a model D rests on.
    pub(crate) fn verify_correction(&self) -> Result<(), CertificateError> {
        let malformed = |what: &str| Err(CertificateError::Malformed(what.into()));
        let Some(correction) = &self.correction else {
            return malformed("a model of kind d without its correction");
        };
        let (d, m) = (self.cloth_dims, self.body_dims);
        correction.check(m, d).map_err(CertificateError::Malformed)?;
        if self.attachment.as_ref().is_none_or(|a| a.rest != self.cloth_mean) {
            return malformed(
                "a model of kind d corrects skinned cloth, and this one has no fitting weights",
            );
        }
        let values = self.cloth_basis.iter().chain(&self.body_from_bones).chain(&self.bones_mean);
        if let Some(v) = values.into_iter().find(|v| !(v.abs() <= LARGEST)) {
            return malformed(&format!("a number of {v} is beyond {LARGEST:e}"));
        }
        let bound = self.correction_bound().unwrap_or_default();
        let stated = &self.certificate.travel_bound_m;
        if stated.len() != bound.len() {
            return Err(CertificateError::NoBound);
        }
        for (v, (stated, found)) in stated.iter().zip(&bound).enumerate() {
            if !(*stated >= found * (1.0 - 1e-4)) {
                return Err(CertificateError::Exceeded {
                    input: "the correction can bring",
                    vertex: v,
                    reach_cm: 100.0 * f64::from(*found),
                    from: "skinned place",
                    stated_cm: 100.0 * f64::from(*stated),
                });
            }
        }
        Ok(())
    }
}

/// The largest singular value of three rows times a diagonal: the root of the largest eigenvalue of a 3 × 3 matrix.
fn largest_stretch(rows: &[f32], axes: &[f32], d: usize) -> f64 {
    let mut g = [[0.0f64; 3]; 3];
    for i in 0..3 {
        for j in 0..=i {
            let sum = (0..d)
                .map(|k| {
                    let axis = f64::from(axes[k]);
                    f64::from(rows[i * d + k]) * f64::from(rows[j * d + k]) * axis * axis
                })
                .sum();
            (g[i][j], g[j][i]) = (sum, sum);
        }
    }
    symmetric_eigen(g).0.into_iter().fold(0.0, f64::max).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_geometry::Random;

    #[test]
    fn the_largest_stretch_is_attained_and_never_passed() {
        let d = 5;
        let rows: Vec<f32> = (0..3 * d).map(|i| ((i * 7 + 3) % 11) as f32 / 11.0 - 0.4).collect();
        let axes = [0.5, 2.0, 0.1, 1.0, 0.7];
        let bound = largest_stretch(&rows, &axes, d);
        let reach = |y: &[f64]| -> f64 {
            let of = |i: usize| (0..d).map(|k| f64::from(rows[i * d + k]) * y[k]).sum::<f64>();
            (0..3).map(|i| of(i).powi(2)).sum::<f64>().sqrt()
        };
        let mut best = 0.0f64;
        let mut random = Random::new(1);
        for _ in 0..20_000 {
            let y: Vec<f64> = (0..d).map(|_| random.signed()).collect();
            let norm = y.iter().map(|v| v * v).sum::<f64>().sqrt();
            let y: Vec<f64> = y.iter().zip(axes).map(|(v, a)| v / norm * f64::from(a)).collect();
            best = best.max(reach(&y));
        }
        assert!(best <= bound * 1.000_001 && best > 0.98 * bound, "{best} of {bound}");
    }
}
