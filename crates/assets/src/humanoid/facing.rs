//! Which way a character faces: by its toes, its names for left and right, or both.

use super::{Humanoid, Role};
use crate::Body;
use glam::Vec3;

/// Below this share of the height, the way from heel to toe says nothing.
const LEAST_FOOT: f32 = 0.015;

/// Where the front of a resting character is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facing {
    /// Angle about +Y in radians by which a character that faces +Z is turned.
    pub heading: f32,
    /// Whether the joints named left are on the character's right, going by its toes.
    pub sides_swapped: bool,
}

impl Facing {
    /// From the rest pose. The line through the hips and shoulders gives the angle, the feet which of its two
    /// sides is the front: exporters mix up left and right, nobody draws feet backwards. `None` where a body
    /// has no left and right at all.
    pub fn of(body: &Body) -> Option<Self> {
        let roles = body.humanoid();
        let world = body.skeleton.world_from_joints(&body.skeleton.rest_pose());
        let at = |role: Role| roles.joint(role).map(|j| Vec3::from(world[j].translation));
        let line = |left: Role, right: Role| Some(flat(at(left)? - at(right)?));
        let lines =
            [line(Role::LeftUpperLeg, Role::RightUpperLeg), line(Role::LeftUpperArm, Role::RightUpperArm)];
        let across = lines.into_iter().flatten().sum::<Vec3>().try_normalize()?;
        // Up × forward is left for a right-handed character that looks along +Z with its left at +X.
        let named = across.cross(Vec3::Y);
        let swapped = feet(body, &roles).is_some_and(|feet| feet.dot(named) < 0.0);
        let across = if swapped { -across } else { across };
        Some(Self { heading: (-across.z).atan2(across.x), sides_swapped: swapped })
    }
}

fn flat(v: Vec3) -> Vec3 {
    Vec3::new(v.x, 0.0, v.z)
}

/// The way the feet point, from the skin that follows them: it reaches farther from the ankle to the toes than
/// to the heel. `None` where feet are as long behind as in front.
fn feet(body: &Body, roles: &Humanoid) -> Option<Vec3> {
    let bones = body.bones(&body.skeleton.rest_pose());
    let world = body.skeleton.world_from_joints(&body.skeleton.rest_pose());
    let skin = body.skinned_positions(&bones);
    let (low, high) =
        skin.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(a, b), p| (a.min(p.y), b.max(p.y)));
    let mut sum = Vec3::ZERO;
    for [foot, toes] in [[Role::LeftFoot, Role::LeftToes], [Role::RightFoot, Role::RightToes]] {
        let ankle = roles.joint(foot)?;
        if let Some(toes) = roles.joint(toes) {
            sum += flat(Vec3::from(world[toes].translation - world[ankle].translation));
            continue;
        }
        let mut of_foot = vec![false; body.skeleton.len()];
        for (j, joint) in body.skeleton.joints.iter().enumerate() {
            of_foot[j] = j == ankle || joint.parent.is_some_and(|p| of_foot[p]);
        }
        let owned = (0..skin.len())
            .filter(|&v| body.skin.row(v).any(|(j, w)| w > 0.5 && of_foot[j as usize]))
            .map(|v| flat(skin[v] - Vec3::from(world[ankle].translation)));
        let (total, count) = owned.fold((Vec3::ZERO, 0.0f32), |(s, n), p| (s + p, n + 1.0));
        if count > 0.0 {
            sum += total / count;
        }
    }
    let mean = 0.5 * sum;
    (mean.length() > LEAST_FOOT * (high - low)).then(|| mean.normalize())
}
