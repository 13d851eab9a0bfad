//! A camera that goes around what it looks at.

use crate::{Camera, View};
use glam::{Vec2, Vec3};

/// Degrees around and above, metres away.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orbit {
    /// Degrees around the vertical: 0 is front.
    pub azimuth: f32,
    /// Degrees above the horizon.
    pub elevation: f32,
    /// Times the distance at which the whole figure is seen.
    pub distance: f32,
    /// Where the middle of the picture is moved to, m.
    pub pan_m: Vec3,
    /// Whether the camera goes along with the wearer.
    pub follows: bool,
}

impl Default for Orbit {
    fn default() -> Self {
        let (azimuth, elevation) = View::ThreeQuarter.angles();
        Self { azimuth, elevation, distance: 1.0, pan_m: Vec3::ZERO, follows: true }
    }
}

/// Degrees that the camera turns for a drag over the whole height of a pane.
const DEGREES_PER_PANE: f32 = 220.0;
const NEAREST: f32 = 0.12;
const FARTHEST: f32 = 8.0;

impl Orbit {
    /// Turns by a drag, in parts of the pane's height.
    pub fn turn(&mut self, drag: Vec2) {
        if drag.is_finite() {
            self.azimuth = (self.azimuth - DEGREES_PER_PANE * drag.x).rem_euclid(360.0);
            self.elevation = (self.elevation + DEGREES_PER_PANE * drag.y).clamp(-35.0, 89.0);
        }
    }

    /// Moves what is looked at by a drag, in parts of the pane's height, of which `height_m` metres are seen.
    pub fn pan(&mut self, drag: Vec2, height_m: f32) {
        if drag.is_finite() {
            let (sin, cos) = self.azimuth.to_radians().sin_cos();
            let right = Vec3::new(cos, 0.0, -sin);
            let by = height_m * self.distance * (drag.y * Vec3::Y - drag.x * right);
            self.pan_m = (self.pan_m + by).clamp(Vec3::splat(-20.0), Vec3::splat(20.0));
        }
    }

    /// Comes nearer for factors above 1.
    pub fn zoom(&mut self, factor: f32) {
        if factor.is_finite() && factor > 0.0 {
            self.distance = (self.distance / factor).clamp(NEAREST, FARTHEST);
        }
    }

    /// Looks from a side, everything else as it was.
    pub fn look_from(&mut self, view: View) {
        (self.azimuth, self.elevation) = view.angles();
    }

    /// The camera for a figure that stands in the box `around` and has gone `gone` from there.
    pub fn camera(&self, around: (Vec3, Vec3), heading_degrees: f32, gone: Vec3, aspect: f32) -> Camera {
        let view = View::Angle { azimuth: self.azimuth + heading_degrees, elevation: self.elevation };
        let framed = Camera::framing(around.0, around.1, view, aspect);
        let back = self.distance * (framed.eye - framed.target);
        let moved = self.pan_m + if self.follows { gone.with_y(0.0) } else { Vec3::ZERO };
        let target = framed.target + moved;
        Camera { eye: target + back, target, near_m: (0.05 * self.distance).clamp(0.01, 0.1), ..framed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stays_where_one_can_look_from() {
        let mut orbit = Orbit::default();
        orbit.turn(Vec2::new(0.0, 100.0));
        orbit.zoom(1e9);
        orbit.zoom(0.0);
        orbit.turn(Vec2::NAN);
        orbit.pan(Vec2::new(1e30, 0.0), 2.0);
        assert!(orbit.elevation <= 89.0 && orbit.distance >= NEAREST && orbit.pan_m.is_finite());
        let around = (Vec3::new(-0.4, 0.0, -0.4), Vec3::new(0.4, 1.7, 0.4));
        assert!(orbit.camera(around, 0.0, Vec3::ZERO, 1.0).check().is_ok());
        assert!(orbit.camera(around, 0.0, Vec3::ZERO, 1e-3).check().is_ok(), "a pane one pixel wide");
    }

    #[test]
    fn it_goes_along_with_the_wearer_unless_told() {
        let around = (Vec3::new(-0.4, 0.0, -0.4), Vec3::new(0.4, 1.7, 0.4));
        let mut orbit = Orbit::default();
        let here = orbit.camera(around, 0.0, Vec3::ZERO, 1.0);
        let there = orbit.camera(around, 0.0, Vec3::new(3.0, 0.5, 0.0), 1.0);
        assert!((there.target - here.target - Vec3::new(3.0, 0.0, 0.0)).length() < 1e-5);
        orbit.follows = false;
        assert_eq!(orbit.camera(around, 0.0, Vec3::X, 1.0), orbit.camera(around, 0.0, Vec3::ZERO, 1.0));
    }
}
