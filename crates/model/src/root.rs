//! The canonical frame: where the character is and which way its hips face.

use glam::{Affine3A, DVec3, Vec3};

/// Position of the root and heading of the hip line: `canonical = R_y(−heading)(world − position)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RootFrame {
    /// The hips' joint, metres.
    pub position: DVec3,
    /// Angle about +Y in radians, unwrapped over a clip; 0 when the left hip is towards +X (facing +Z).
    pub heading: f64,
}

impl RootFrame {
    /// From the world into the canonical frame.
    pub fn canonical_from_world(&self, p: DVec3) -> DVec3 {
        rotate_y(p - self.position, -self.heading)
    }

    /// From the canonical frame into the world.
    pub fn world_from_canonical(&self, p: DVec3) -> DVec3 {
        rotate_y(p, self.heading) + self.position
    }
}

/// Rotation about +Y.
fn rotate_y(p: DVec3, angle: f64) -> DVec3 {
    let (s, c) = angle.sin_cos();
    DVec3::new(c * p.x + s * p.z, p.y, c * p.z - s * p.x)
}

/// Follows the heading of a hip line frame by frame: unwrapped, held where it is undefined, without jumps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RootTracker {
    heading: Option<f64>,
    /// What the heading still is away from the hip line's after it was held.
    behind: f64,
}

impl RootTracker {
    /// Below this share of its length the horizontal part of the hip line is noise.
    const LEAST_HORIZONTAL: f32 = 0.3;
    /// After a hold the hip line may come back anywhere, even reversed (a cartwheel): the heading goes over to
    /// it by no more than this many radians a frame.
    pub const CATCH_UP: f64 = 0.2;

    /// Before the first frame.
    pub const NEW: Self = Self { heading: None, behind: 0.0 };

    /// The heading for a hip line (left hip minus right hip), and whether it had to be held.
    pub fn follow(&mut self, line: Vec3) -> (f64, bool) {
        use std::f64::consts::TAU;
        let horizontal = Vec3::new(line.x, 0.0, line.z);
        let defined =
            horizontal.length() >= Self::LEAST_HORIZONTAL * line.length() && horizontal != Vec3::ZERO;
        if !(defined && line.is_finite()) {
            // Whatever the line does meanwhile is caught up with later.
            self.behind = f64::NAN;
            return (self.heading.unwrap_or(0.0), true);
        }
        // The left hip at +X is heading 0; turning left by r carries it to (cos r, −sin r).
        let raw = f64::from(-horizontal.z).atan2(f64::from(horizontal.x));
        let before = self.heading.unwrap_or(raw);
        if self.behind.is_nan() {
            self.behind = self.heading.map_or(0.0, |before| {
                let away = before - raw;
                away - (away / TAU).round() * TAU
            });
        }
        self.behind -= self.behind.clamp(-Self::CATCH_UP, Self::CATCH_UP);
        let heading = raw + self.behind;
        let heading = heading + ((before - heading) / TAU).round() * TAU;
        self.heading = Some(heading);
        (heading, false)
    }
}

/// Which joints carry the canonical frame and where they are in the bind pose: enough to find root and hip line
/// from bone matrices alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HipLine {
    /// The hips, the left upper leg and the right upper leg.
    pub joints: [u32; 3],
    /// The same joints' places in the bind pose, metres.
    pub bind: [Vec3; 3],
}

impl HipLine {
    /// Where the three joints are, for bone matrices that cover them.
    pub fn points(&self, bones: &[Affine3A]) -> [Vec3; 3] {
        [0, 1, 2].map(|i| bones[self.joints[i] as usize].transform_point3(self.bind[i]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back_is_where_it_was() {
        let frame = RootFrame { position: DVec3::new(3.0, 1.0, -2.0), heading: 0.7 };
        let p = DVec3::new(0.3, 0.2, 0.1);
        assert!((frame.canonical_from_world(frame.world_from_canonical(p)) - p).length() < 1e-12);
        // One metre to the left of a character that faces +X after turning left by 90° is −Z.
        let turned = RootFrame { position: DVec3::ZERO, heading: std::f64::consts::FRAC_PI_2 };
        assert!((turned.world_from_canonical(DVec3::X) - DVec3::NEG_Z).length() < 1e-12);
    }
}
