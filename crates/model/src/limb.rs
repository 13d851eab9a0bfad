//! Arms and legs as tubes: what keeps a skirt outside of legs that it did not touch in training.
//!
//! A limb follows one bone. About the line from its joint to the next one the skin is at a radius that is a polynomial along
//! the line and has a few harmonics around it, so a vertex anywhere near is on one side of it or the other, however far
//! it has got.

use glam::Vec3;

/// Coefficients of a radius along a limb: a polynomial of degree five.
pub const ALONG: usize = 6;
/// Terms of a radius around a limb: 1, cos, sin, cos 2, sin 2, cos 3, sin 3.
pub const AROUND: usize = 7;

/// The cosine of what still hangs down.
const HANGS: f32 = 0.7;
/// A limb is within a garment that has vertices in this many of eight directions around it.
const WITHIN: u32 = 7;

/// A stretch of skin that follows one bone, all in the bind pose.
#[derive(Clone, Debug, PartialEq)]
pub struct LimbTube {
    /// The bone.
    pub joint: u32,
    /// Of what lies between two limbs the bone of the other: it follows both by halves.
    pub other: Option<u32>,
    /// The middle of its line.
    pub middle: Vec3,
    /// From the middle to the far end, m.
    pub half: Vec3,
    /// Unit, across the line: where angles are counted from.
    pub across: Vec3,
    /// `radius[i][k]` is multiplied with the i-th power of the place along the line, −1 to 1, and the k-th term around it.
    pub radius: [[f32; AROUND]; ALONG],
}

impl LimbTube {
    /// The third direction: angles grow towards it.
    pub fn side(&self) -> Vec3 {
        self.half.normalize_or_zero().cross(self.across)
    }

    /// Where a point of the bind pose is: along the line (−1 to 1 within it), across and to the side, m.
    pub fn place(&self, p: Vec3) -> [f32; 3] {
        let w = p - self.middle;
        [w.dot(self.half) / self.half.length_squared(), w.dot(self.across), w.dot(self.side())]
    }

    /// The radius at a place along the line in a unit direction around it, m.
    pub fn radius(&self, along: f32, [cos, sin]: [f32; 2]) -> f32 {
        let terms = around(cos, sin);
        let mut out = 0.0;
        for row in self.radius.iter().rev() {
            out = out * along + row.iter().zip(terms).map(|(r, t)| r * t).sum::<f32>();
        }
        out
    }

    /// Whether a garment is all around a limb that hangs down: a collarbone is no leg.
    pub fn is_within(&self, garment: &[Vec3]) -> bool {
        if self.half.y > -HANGS * self.half.length() {
            return false;
        }
        let mut seen = 0u32;
        for p in garment {
            let [along, x, y] = self.place(*p);
            if along.abs() <= 1.0 {
                let eighth = 4 * u32::from(x < 0.0) + 2 * u32::from(y < 0.0) + u32::from(x.abs() < y.abs());
                seen |= 1 << eighth;
            }
        }
        seen.count_ones() >= WITHIN
    }

    /// No radius is larger, m.
    pub fn largest_radius(&self) -> f32 {
        self.radius.iter().flatten().map(|r| r.abs()).sum()
    }

    pub(crate) fn is_sound(&self, joints: usize) -> bool {
        let near = |v: Vec3| v.abs().max_element() <= 1e3;
        (self.joint as usize) < joints
            && self.other.is_none_or(|j| (j as usize) < joints)
            && near(self.middle)
            && near(self.half)
            && self.half.length() > 1e-3
            && (self.across.length() - 1.0).abs() < 1e-3
            && self.half.dot(self.across).abs() < 1e-3 * self.half.length()
            && self.largest_radius() <= 10.0
    }
}

/// The terms around a limb for a unit direction.
pub fn around(cos: f32, sin: f32) -> [f32; AROUND] {
    let (cos2, sin2) = (cos * cos - sin * sin, 2.0 * cos * sin);
    [1.0, cos, sin, cos2, sin2, cos * cos2 - sin * sin2, sin * cos2 + cos * sin2]
}
