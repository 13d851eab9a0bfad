//! The kinematic cloth and its Jacobian (eq. 2, 3; with column vectors the printed `T_jᵀ` is `T_j`).

use glam::{Affine3A, DMat3, DVec3, Mat3};
use toile_assets::Attachment;
use toile_assets::clamped_inverse;

/// Blended bones flatter than this are not undone further.
const LEAST_STRETCH: f64 = 0.2;

/// The blended bone of every vertex, on its way from one pose to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Kinematic {
    before: Vec<Affine3A>,
    after: Vec<Affine3A>,
    /// `B` of the moment.
    pub linear: Vec<DMat3>,
    shift: Vec<DVec3>,
}

impl Kinematic {
    /// Cloth on a body that stands as `bones` put it.
    pub fn new(attachment: &Attachment, bones: &[Affine3A]) -> Self {
        let n = attachment.rest.len();
        let mut kinematic = Self {
            before: vec![Affine3A::IDENTITY; n],
            after: vec![Affine3A::IDENTITY; n],
            linear: vec![DMat3::IDENTITY; n],
            shift: vec![DVec3::ZERO; n],
        };
        kinematic.begin(attachment, bones);
        kinematic.begin(attachment, bones);
        kinematic.advance(1.0);
        kinematic
    }

    /// Begins the way to `bones`.
    pub fn begin(&mut self, attachment: &Attachment, bones: &[Affine3A]) {
        std::mem::swap(&mut self.before, &mut self.after);
        for (v, after) in self.after.iter_mut().enumerate() {
            *after = attachment.skin.blend(v, bones);
        }
    }

    /// Goes to a share of the way, straight, as the body's surface does.
    pub fn advance(&mut self, share: f64) {
        for (v, (a, b)) in self.before.iter().zip(&self.after).enumerate() {
            let (m, n) = (Mat3::from(a.matrix3).as_dmat3(), Mat3::from(b.matrix3).as_dmat3());
            self.linear[v] = m + (n - m) * share;
            self.shift[v] = a.translation.as_dvec3().lerp(b.translation.as_dvec3(), share);
        }
    }

    /// Where the bones carry cloth that is at `bind` in the bind pose.
    pub fn pose(&self, bind: &[DVec3], x: &mut [DVec3]) {
        for (i, x) in x.iter_mut().enumerate() {
            *x = self.pose_one(i, bind[i]);
        }
    }

    /// Where they carry one vertex.
    pub fn pose_one(&self, i: usize, bind: DVec3) -> DVec3 {
        self.linear[i] * bind + self.shift[i]
    }

    /// Where in the bind pose a vertex at `x` comes from.
    pub fn unpose(&self, i: usize, x: DVec3) -> DVec3 {
        self.inverse(i) * (x - self.shift[i])
    }

    /// `B⁻¹` of a vertex, bounded.
    pub fn inverse(&self, i: usize) -> DMat3 {
        clamped_inverse(self.linear[i], LEAST_STRETCH).0
    }
}
