//! Where a picture is taken from.

use crate::{Error, Result, Scene};
use glam::{Mat4, Vec2, Vec3, Vec4};

/// A perspective camera. `up` is +Y.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Where it stands, in metres.
    pub eye: Vec3,
    /// What it looks at.
    pub target: Vec3,
    /// Vertical field of view in degrees. 32° is a portrait lens: it flatters and hardly distorts.
    pub fov_y_degrees: f32,
    /// Nothing nearer than this is drawn, in metres.
    pub near_m: f32,
}

impl Default for Camera {
    fn default() -> Self {
        Self {
            eye: Vec3::new(0.0, 1.2, 4.0),
            target: Vec3::new(0.0, 0.9, 0.0),
            fov_y_degrees: 32.0,
            near_m: 0.05,
        }
    }
}

/// From which side a subject is seen. Characters face +Z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum View {
    /// Into the face.
    Front,
    /// The character's left side.
    Side,
    /// From behind.
    Back,
    /// Between front and side.
    ThreeQuarter,
    /// Degrees around the vertical (0 is front, 90 the character's left) and degrees above the horizon.
    Angle {
        /// Degrees around the vertical.
        azimuth: f32,
        /// Degrees above the horizon.
        elevation: f32,
    },
}

impl View {
    /// The same side of a subject that is turned about the vertical by so many degrees.
    #[must_use]
    pub fn turned(self, degrees: f32) -> Self {
        let (azimuth, elevation) = self.angles();
        Self::Angle { azimuth: azimuth + degrees, elevation }
    }

    /// Degrees around the vertical and degrees above the horizon.
    pub fn angles(self) -> (f32, f32) {
        match self {
            Self::Front => (0.0, 7.0),
            Self::Side => (90.0, 7.0),
            Self::Back => (180.0, 7.0),
            Self::ThreeQuarter => (35.0, 8.0),
            Self::Angle { azimuth, elevation } => (azimuth, elevation),
        }
    }
}

impl Camera {
    /// A camera that sees the whole box `lo..hi` from `view` in a picture of `aspect` = width / height.
    ///
    /// For a film, give it the box around all frames, or frame one and [follow](Self::following).
    pub fn framing(lo: Vec3, hi: Vec3, view: View, aspect: f32) -> Self {
        let (lo, hi) =
            if lo.is_finite() && hi.is_finite() { (lo.min(hi), hi.max(lo)) } else { (-Vec3::ONE, Vec3::ONE) };
        let corner = |k: usize| {
            let pick = |bit: usize, l: f32, h: f32| if k >> bit & 1 == 0 { l } else { h };
            Vec3::new(pick(0, lo.x, hi.x), pick(1, lo.y, hi.y), pick(2, lo.z, hi.z))
        };
        Self::framing_points((0..8).map(corner), view, aspect)
    }

    /// A camera that sees every item of a scene and wastes as little of the picture as possible.
    pub fn framing_scene(scene: &Scene<'_>, view: View, aspect: f32) -> Self {
        Self::framing_points(scene.points(), view, aspect)
    }

    fn framing_points(points: impl Iterator<Item = Vec3>, view: View, aspect: f32) -> Self {
        let (azimuth, elevation) = view.angles();
        let (sin_a, cos_a) = azimuth.to_radians().sin_cos();
        let (sin_e, cos_e) = elevation.to_radians().sin_cos();
        let back = Vec3::new(sin_a * cos_e, sin_e, cos_a * cos_e);
        let (right, up) = axes(back);
        // Labels and shadows get a tenth of the picture.
        let tan_y = 0.9 * (0.5 * Self::default().fov_y_degrees.to_radians()).tan();
        let tan_x = tan_y * if aspect.is_finite() && aspect > 0.0 { aspect } else { 1.0 };
        // A point is inside the right plane of the pyramid iff its `x + tan·towards` does not exceed the eye's, and so
        // for the other planes: each needs only the greatest such sum, and opposite planes then give the eye.
        let mut reach = [f32::NEG_INFINITY; 4];
        let (mut nearest, mut farthest) = (f32::NEG_INFINITY, f32::INFINITY);
        for p in points {
            let (x, y, towards) = (p.dot(right), p.dot(up), p.dot(back));
            let sums = [tan_x * towards + x, tan_x * towards - x, tan_y * towards + y, tan_y * towards - y];
            for (most, sum) in reach.iter_mut().zip(sums) {
                *most = most.max(sum);
            }
            (nearest, farthest) = (nearest.max(towards), farthest.min(towards));
        }
        if !reach.iter().all(|r| r.is_finite()) {
            return Self { eye: 4.0 * back, target: Vec3::ZERO, ..Self::default() };
        }
        let across = 0.5 * (reach[0] - reach[1]) * right + 0.5 * (reach[2] - reach[3]) * up;
        let depth = (0.5 * (reach[0] + reach[1]) / tan_x)
            .max(0.5 * (reach[2] + reach[3]) / tan_y)
            .max(nearest + 0.25);
        let target = across + 0.5 * (nearest + farthest) * back;
        Self { eye: across + depth * back, target, ..Self::default() }
    }

    /// The same camera, moved with its target by `by` metres.
    #[must_use]
    pub fn following(self, by: Vec3) -> Self {
        Self { eye: self.eye + by, target: self.target + by, ..self }
    }

    /// The same camera, turned about the vertical through its target.
    #[must_use]
    pub fn orbiting(self, degrees: f32) -> Self {
        let turn = glam::Quat::from_rotation_y(degrees.to_radians());
        Self { eye: self.target + turn * (self.eye - self.target), ..self }
    }

    /// Where a point lies in a picture of the given size, in pixels from the top left; `None` behind the camera.
    pub fn pixel(&self, point: Vec3, width: u32, height: u32) -> Option<Vec2> {
        let clip = self.clip_from_world(width as f32 / height.max(1) as f32) * point.extend(1.0);
        (clip.w > self.near_m).then(|| {
            Vec2::new(
                (0.5 + 0.5 * clip.x / clip.w) * width as f32,
                (0.5 - 0.5 * clip.y / clip.w) * height as f32,
            )
        })
    }

    pub(crate) fn check(&self) -> Result<()> {
        let finite = self.eye.is_finite() && self.target.is_finite();
        if finite && self.near_m > 0.0 && (0.1..179.0).contains(&self.fov_y_degrees) {
            return Ok(());
        }
        Err(Error::Invalid(format!("a camera cannot look like this: {self:?}")))
    }

    /// Degrees around the vertical at which the camera stands: 0 looks into a face, 90 at its left cheek.
    pub fn azimuth_degrees(&self) -> f32 {
        let back = self.back();
        back.x.atan2(back.z).to_degrees()
    }

    fn back(&self) -> Vec3 {
        (self.eye - self.target).try_normalize().unwrap_or(Vec3::Z)
    }

    /// Depth runs from 1 at `near_m` to 0 at infinity (reversed), so that f32 keeps millimetres at any
    /// distance; `w` is the linear view depth in metres.
    pub(crate) fn clip_from_world(&self, aspect: f32) -> Mat4 {
        let focal = 1.0 / (0.5 * self.fov_y_degrees.to_radians()).tan();
        let clip_from_view = Mat4::from_cols(
            Vec4::new(focal / aspect, 0.0, 0.0, 0.0),
            Vec4::new(0.0, focal, 0.0, 0.0),
            Vec4::new(0.0, 0.0, 0.0, -1.0),
            Vec4::new(0.0, 0.0, self.near_m, 0.0),
        );
        let (right, up) = axes(self.back());
        clip_from_view * view_from_world(self.eye, right, up, self.back())
    }
}

/// Right and up of a camera that looks against `back`.
fn axes(back: Vec3) -> (Vec3, Vec3) {
    // Straight down or up: any horizontal direction will do as long as it is always the same.
    let right = Vec3::Y.cross(back).try_normalize().unwrap_or(Vec3::X);
    (right, back.cross(right))
}

/// The rigid transform into the frame with the given origin and orthonormal axes.
pub(crate) fn view_from_world(origin: Vec3, right: Vec3, up: Vec3, back: Vec3) -> Mat4 {
    Mat4::from_cols(
        Vec4::new(right.x, up.x, back.x, 0.0),
        Vec4::new(right.y, up.y, back.y, 0.0),
        Vec4::new(right.z, up.z, back.z, 0.0),
        Vec4::new(-right.dot(origin), -up.dot(origin), -back.dot(origin), 1.0),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_of_someone_turned_round_is_their_back() {
        assert_eq!(View::Front.turned(180.0).angles(), View::Back.angles());
        assert_eq!(View::Angle { azimuth: 10.0, elevation: 3.0 }.turned(-10.0).angles(), (0.0, 3.0));
    }

    #[test]
    fn framing_keeps_every_corner_inside_and_one_near_the_border() {
        let (lo, hi) = (Vec3::new(-0.5, 0.0, -0.2), Vec3::new(0.6, 1.7, 0.3));
        for view in [View::Front, View::Side, View::Back, View::ThreeQuarter] {
            for (w, h) in [(640, 640), (300, 900), (1280, 400)] {
                let camera = Camera::framing(lo, hi, view, w as f32 / h as f32);
                let mut farthest = 0.0f32;
                for i in 0..8 {
                    let pick = |b: usize, l, h| if i >> b & 1 == 0 { l } else { h };
                    let p = Vec3::new(pick(0, lo.x, hi.x), pick(1, lo.y, hi.y), pick(2, lo.z, hi.z));
                    let at = camera.pixel(p, w, h).unwrap() / Vec2::new(w as f32, h as f32) * 2.0 - 1.0;
                    farthest = farthest.max(at.abs().max_element());
                }
                assert!(farthest < 0.92 && farthest > 0.88, "{view:?} {w}×{h}: {farthest}");
            }
        }
    }

    #[test]
    fn front_view_has_the_characters_left_on_the_right_of_the_picture() {
        let camera = Camera::framing(-Vec3::ONE, Vec3::ONE, View::Front, 1.0);
        let left_hand = camera.pixel(Vec3::new(0.8, 0.0, 0.0), 100, 100).unwrap();
        assert!(left_hand.x > 50.0);
        let head = camera.pixel(Vec3::new(0.0, 0.8, 0.0), 100, 100).unwrap();
        assert!(head.y < 50.0);
    }
}
