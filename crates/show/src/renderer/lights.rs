//! The studio's lights and the boxes their shadow maps cover.

use crate::camera::view_from_world;
use glam::{Mat4, Vec3, Vec4};

/// The three directions towards the lights. They stand around the camera, as in a portrait studio, unless the
/// scene fixes where they are: every view of a subject is then lit as well as the first.
pub(super) struct Rig {
    /// High, in front, to the left of the camera.
    pub key: Vec3,
    /// Low, from the other side.
    pub fill: Vec3,
    /// Behind and above.
    pub rim: Vec3,
}

impl Rig {
    /// The rig turned about the vertical to the side on which a camera at this azimuth stands.
    pub fn at(azimuth_degrees: f32) -> Self {
        let turn = glam::Quat::from_rotation_y(azimuth_degrees.to_radians());
        Self {
            key: turn * Vec3::new(-0.62, 0.92, 0.60).normalize(),
            fill: turn * Vec3::new(0.85, 0.22, 0.60).normalize(),
            rim: turn * Vec3::new(0.50, 0.50, -0.80).normalize(),
        }
    }
}

/// Tangent of the key light's half angle: a soft box of about 40 cm at 3 m.
pub(super) const KEY_TANGENT: f32 = 0.07;

/// One shadow map's view.
pub(super) struct MapView {
    /// For rendering the map.
    pub clip_from_world: Mat4,
    /// For looking into it: uv in 0–1 from the top left, depth in 0–1.
    pub map_from_world: Mat4,
    /// Metres per unit of uv.
    pub span_m: f32,
    /// Metres per unit of depth.
    pub depth_m: f32,
    /// Metres per texel.
    pub texel_m: f32,
}

/// The orthographic view along `-towards` of the ball around `centre`, for a map of `size` texels.
///
/// The radius goes in steps and the centre in whole texels: a film's shadows would crawl otherwise.
pub(super) fn map_view(towards: Vec3, centre: Vec3, radius_m: f32, size: u32) -> MapView {
    let back = towards.normalize_or(Vec3::Y);
    let right = Vec3::Y.cross(back).try_normalize().unwrap_or(Vec3::X);
    let up = back.cross(right);
    let radius = (radius_m.max(0.05) * 8.0).ceil() / 8.0;
    let texel = 2.0 * radius / size as f32;
    let snap = |axis: Vec3| (centre.dot(axis) / texel).round() * texel;
    // Depth reaches further than the ball, so that the ground on which its shadow falls lies inside as well.
    let depth_m = 6.0 * radius;
    let origin = snap(right) * right + snap(up) * up + (centre.dot(back) + 2.0 * radius) * back;
    let view = view_from_world(origin, right, up, back);
    let clip_from_view = Mat4::from_diagonal(Vec4::new(1.0 / radius, 1.0 / radius, -1.0 / depth_m, 1.0));
    let clip_from_world = clip_from_view * view;
    let map_from_clip = Mat4::from_translation(Vec3::new(0.5, 0.5, 0.0))
        * Mat4::from_diagonal(Vec4::new(0.5, -0.5, 1.0, 1.0));
    MapView {
        clip_from_world,
        map_from_world: map_from_clip * clip_from_world,
        span_m: 2.0 * radius,
        depth_m,
        texel_m: texel,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ball_lies_inside_the_map() {
        for towards in [Rig::at(30.0).key, Vec3::Y, -Vec3::Z] {
            let centre = Vec3::new(3.0, 0.9, -2.0);
            let view = map_view(towards, centre, 1.0, 1024);
            for d in [Vec3::X, Vec3::Y, Vec3::Z, -Vec3::X, -Vec3::Y, -Vec3::Z] {
                let at = view.map_from_world.transform_point3(centre + 0.99 * d);
                assert!(at.min_element() >= 0.0 && at.max_element() <= 1.0, "{towards} {d}: {at}");
            }
            // Nearer to the light is less deep, in metres as promised.
            let back = towards.normalize();
            let a = view.map_from_world.transform_point3(centre).z;
            let b = view.map_from_world.transform_point3(centre + 0.5 * back).z;
            assert!(((a - b) * view.depth_m - 0.5).abs() < 1e-4);
        }
    }
}
