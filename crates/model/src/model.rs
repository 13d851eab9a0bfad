//! A learned garment: a few matrices, and the promise that they cannot blow up.

use crate::{Attachment, CertificateError, Correction, HipLine, Shield};
use glam::Vec3;

/// Which form a model has: A, B and C as published, D ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelKind {
    /// Pose only (eq. 3).
    A,
    /// Pose and cloth history (eq. 4).
    B,
    /// Pose, cloth history and root motion (eq. 5).
    C,
    /// A correction on top of skinning, in the bind pose.
    D,
}

/// The inputs a model promises to stay bounded for; run time clamps to it.
#[derive(Clone, Debug, PartialEq)]
pub struct InputSet {
    /// Least body coefficients.
    pub body_min: Vec<f32>,
    /// Greatest body coefficients.
    pub body_max: Vec<f32>,
    /// Greatest change of each body coefficient per step that training saw, with the same margin. Not clamped:
    /// the tighter of the two travel bounds holds for motion that respects it.
    pub body_rate: Vec<f32>,
    /// Standard deviation of each body coefficient over training.
    pub body_std: Vec<f32>,
    /// Greatest distance from the mean body over training, in standard deviations (root mean square over
    /// coefficients): poses beyond it are out of the model's range.
    pub body_reach: f32,
    /// Greatest horizontal root displacement per step, m.
    pub max_horizontal_m: f32,
    /// Greatest vertical root displacement per step, m.
    pub max_vertical_m: f32,
    /// Greatest turn per step, radians.
    pub max_turn: f32,
}

/// Why a model's output stays bounded.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// Spectral radius of the shipped matrices.
    pub rho: f64,
    /// Contraction factor: `γ² P − Mᵀ P M ⪰ 0`.
    pub gamma: f64,
    /// `P`, row-major, `(order·dims)²`. Empty for order 0, which has no memory to blow up.
    pub p: Vec<f64>,
    /// The largest factor by which the memory alone can grow before it decays: `max ‖Mᵏ‖`.
    pub transient_gain: f64,
    /// The farthest each vertex can be from its mean in the canonical frame, m, over all inputs of the set.
    pub travel_bound_m: Vec<f32>,
    /// The same for inputs that also keep the rate limits and stay within training's reach: motion like training's.
    /// Nothing is clamped to these; [`Model::pose_distance`] tells whether a pose is within reach.
    pub travel_bound_rate_m: Vec<f32>,
    /// The farthest each vertex was from its mean in training, m.
    pub training_travel_m: Vec<f32>,
}

/// A learned garment. All matrices are row-major. A model D has no matrices of its own under `a`, `b`, `c` and `bias`, and
/// its `inputs` only say what training saw.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// For reports.
    pub name: String,
    /// A, B, C or D.
    pub kind: ModelKind,
    /// Cloth frames of history, 0 to 5.
    pub order: usize,
    /// Frames per second of the latent clock.
    pub fps: f64,
    /// Vertices of the garment.
    pub vertices: usize,
    /// Its triangles.
    pub triangles: Vec<[u32; 3]>,
    /// Cloth dimensions `M_c`.
    pub cloth_dims: usize,
    /// Body dimensions `M_b`.
    pub body_dims: usize,
    /// Joints of the body.
    pub joints: usize,
    /// Mean garment in the canonical frame; for a model D the garment in the bind pose, before any correction.
    pub cloth_mean: Vec<Vec3>,
    /// `3·vertices × cloth_dims`.
    pub cloth_basis: Vec<f32>,
    /// Mean of the canonical bone matrices' 12·joints entries.
    pub bones_mean: Vec<f32>,
    /// `body_dims × 12·joints`: body coefficients straight from bone matrices.
    pub body_from_bones: Vec<f32>,
    /// `cloth_dims × body_dims`.
    pub a: Vec<f32>,
    /// `B₁ … B_order`, each `cloth_dims × cloth_dims`.
    pub b: Vec<Vec<f32>>,
    /// `C₁ … C_order`, each `cloth_dims × 5`; empty unless the kind is C.
    pub c: Vec<Vec<f32>>,
    /// `cloth_dims`.
    pub bias: Vec<f32>,
    /// Order-0 model for the first frames: `cloth_dims × body_dims` and its bias.
    pub a0: Vec<f32>,
    /// Bias of the order-0 model.
    pub bias0: Vec<f32>,
    /// Where root and heading come from, for engines that give bone matrices only.
    pub hips: Option<HipLine>,
    /// What it may be fed.
    pub inputs: InputSet,
    /// What it promises.
    pub certificate: Certificate,
    /// How a model D moves; `None` for the others.
    pub correction: Option<Correction>,
    /// The garment's bones: the cheapest tier, and what the model is compared with.
    pub attachment: Option<Attachment>,
    /// What keeps a model D outside the body, where it is kept.
    pub shield: Option<Shield>,
    /// Triangles of the body that no one can see under the garment in any training frame (§6.2), ascending.
    pub hidden_triangles: Vec<u32>,
    /// Training report and settings, as text pairs.
    pub notes: Vec<(String, String)>,
}

impl Model {
    /// How it hears wind, gravity and cloth, if it was trained to.
    pub fn hears(&self) -> Option<&crate::Hearing> {
        self.correction.as_ref()?.hearing.as_ref()
    }

    /// Size of the numbers a game keeps in memory.
    pub fn bytes(&self) -> usize {
        let floats = self.cloth_mean.len() * 3
            + self.cloth_basis.len()
            + self.bones_mean.len()
            + self.body_from_bones.len()
            + self.a.len()
            + self.b.iter().map(Vec::len).sum::<usize>()
            + self.c.iter().map(Vec::len).sum::<usize>()
            + self.bias.len()
            + self.a0.len()
            + self.bias0.len()
            + self.correction.as_ref().map_or(0, |c| {
                let [places, rest] = [[&c.drive, &c.directions], [&c.centres, &c.anchors]];
                let rest = rest.into_iter().chain([&c.readout, &c.bias, &c.half_axes]);
                places.into_iter().chain(rest).map(Vec::len).sum::<usize>()
            });
        floats * 4
    }

    /// The travel bound over the largest travel in training, worst vertex against worst vertex: for the box of
    /// inputs, and for box and rate limits. 1 would be a bound that training reached.
    pub fn tightness(&self) -> (f64, f64) {
        let worst = |v: &[f32]| f64::from(v.iter().copied().fold(0.0, f32::max));
        let c = &self.certificate;
        let seen = worst(&c.training_travel_m).max(1e-9);
        (worst(&c.travel_bound_m) / seen, worst(&c.travel_bound_rate_m) / seen)
    }

    /// How far a body is from what training saw: 1 is the farthest training pose, more is out of range.
    /// `x` are body coefficients before clamping.
    pub fn pose_distance(&self, x: &[f32]) -> f32 {
        let sum: f32 = x.iter().zip(&self.inputs.body_std).map(|(x, s)| (x / s.max(1e-9)).powi(2)).sum();
        (sum / x.len().max(1) as f32).sqrt() / self.inputs.body_reach.max(1e-9)
    }

    /// The companion matrix `M` of the shipped `B₁ … B_order`, row-major, `(order·dims)²`.
    pub fn companion(&self) -> Vec<f64> {
        let (d, n) = (self.cloth_dims, self.order * self.cloth_dims);
        let mut m = vec![0.0; n * n];
        for (i, b) in self.b.iter().enumerate() {
            for r in 0..d {
                for c in 0..d {
                    m[r * n + i * d + c] = f64::from(b[r * d + c]);
                }
            }
        }
        for r in d..n {
            m[r * n + r - d] = 1.0;
        }
        m
    }

    /// Checks the certificate against the shipped matrices by two Cholesky factorisations; no eigenvalues
    /// are needed. The error says which part does not hold.
    pub fn verify_certificate(&self) -> Result<(), CertificateError> {
        if self.kind == ModelKind::D {
            return self.verify_correction();
        }
        let n = self.order * self.cloth_dims;
        let Certificate { gamma, p, travel_bound_m, travel_bound_rate_m, .. } = &self.certificate;
        for bound in [travel_bound_m, travel_bound_rate_m] {
            if bound.len() != self.vertices || bound.iter().any(|t| !t.is_finite() || *t < 0.0) {
                return Err(CertificateError::NoBound);
            }
        }
        self.verify_attained()?;
        if n == 0 {
            return Ok(());
        }
        if !(*gamma > 0.0 && *gamma < 1.0) {
            return Err(CertificateError::Factor(*gamma));
        }
        if p.len() != n * n {
            return Err(CertificateError::Norm(format!("has {} entries, not {}", p.len(), n * n)));
        }
        if (0..n).any(|r| (0..r).any(|c| p[r * n + c] != p[c * n + r])) {
            return Err(CertificateError::Norm("is not symmetric".into()));
        }
        if !cholesky_succeeds(p.clone(), n) {
            return Err(CertificateError::Norm("is not positive definite".into()));
        }
        let m = self.companion();
        let pm = product(p, &m, n, false);
        let mpm = product(&m, &pm, n, true);
        // Symmetrise: rounding leaves the two halves of MᵀPM apart by an ulp.
        let slack = (0..n * n)
            .map(|i| {
                let (r, c) = (i / n, i % n);
                gamma * gamma * p[i] - 0.5 * (mpm[r * n + c] + mpm[c * n + r])
            })
            .collect();
        if !cholesky_succeeds(slack, n) {
            return Err(CertificateError::NotContracting);
        }
        Ok(())
    }
}

/// `a·b`, or `aᵀ·b`, of square row-major matrices.
fn product(a: &[f64], b: &[f64], n: usize, transpose_a: bool) -> Vec<f64> {
    let mut out = vec![0.0; n * n];
    for r in 0..n {
        for k in 0..n {
            let v = if transpose_a { a[k * n + r] } else { a[r * n + k] };
            if v != 0.0 {
                let (row, from) = (&mut out[r * n..(r + 1) * n], &b[k * n..(k + 1) * n]);
                row.iter_mut().zip(from).for_each(|(o, x)| *o += v * x);
            }
        }
    }
    out
}

/// Whether a symmetric matrix is positive definite.
fn cholesky_succeeds(mut a: Vec<f64>, n: usize) -> bool {
    for j in 0..n {
        let mut d = a[j * n + j];
        for k in 0..j {
            d -= a[j * n + k] * a[j * n + k];
        }
        if !(d > 0.0 && d.is_finite()) {
            return false;
        }
        let d = d.sqrt();
        a[j * n + j] = d;
        for i in j + 1..n {
            let (low, high) = a.split_at_mut(i * n);
            let dot: f64 = low[j * n..j * n + j].iter().zip(&high[..j]).map(|(x, y)| x * y).sum();
            high[j] = (high[j] - dot) / d;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cholesky_tells_definite_from_indefinite() {
        assert!(cholesky_succeeds(vec![2.0, 1.0, 1.0, 2.0], 2));
        assert!(!cholesky_succeeds(vec![1.0, 2.0, 2.0, 1.0], 2));
        assert!(!cholesky_succeeds(vec![f64::NAN], 1));
    }
}
