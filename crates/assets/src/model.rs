//! A learned garment: a few matrices, and the promise that they cannot blow up.

use glam::{Affine3A, Vec3};

/// Which of the published forms a model has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelKind {
    /// Pose only (eq. 3).
    A,
    /// Pose and cloth history (eq. 4).
    B,
    /// Pose, cloth history and root motion (eq. 5).
    C,
}

/// The inputs a model promises to stay bounded for; run time clamps to it.
#[derive(Clone, Debug, PartialEq)]
pub struct InputSet {
    /// Least body coefficients.
    pub body_min: Vec<f32>,
    /// Greatest body coefficients.
    pub body_max: Vec<f32>,
    /// Greatest root displacement per step along each canonical axis, m.
    pub max_step_m: [f32; 3],
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
    /// `P`, row-major, `(order·dims)²`, f64.
    pub p: Vec<f64>,
    /// The farthest any vertex can be from its mean, m, over all inputs of the set.
    pub travel_bound_m: f64,
}

/// A learned garment. All matrices are row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// For reports.
    pub name: String,
    /// A, B or C.
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
    /// Mean garment in the canonical frame.
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
    /// What it may be fed.
    pub inputs: InputSet,
    /// What it promises.
    pub certificate: Certificate,
    /// Body triangles that the garment always covers.
    pub hidden_body_triangles: Vec<u32>,
    /// Training report and settings, as text pairs.
    pub notes: Vec<(String, String)>,
}

impl Model {
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
            + self.bias0.len();
        floats * 4
    }
}

/// The 12 entries of a bone matrix in the order models use: three columns of the linear part, then the
/// translation, each as x, y, z.
pub fn bone_entries(bone: &Affine3A) -> [f32; 12] {
    bone.to_cols_array()
}
