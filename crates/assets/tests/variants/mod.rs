//! The same character in another pose, turned, and with other proportions: what clothes meet in the wild.
#![allow(dead_code)]

use glam::{Affine3A, Quat, Vec3};
use toile_assets::{Body, Role};

/// With a pose as its rest and bind pose.
fn rebound(body: &Body, pose: &toile_assets::Pose) -> Body {
    let mut out = body.clone();
    out.mesh.positions = body.skinned_positions(&body.bones(pose));
    for (joint, local) in out.skeleton.joints.iter_mut().zip(&pose.locals) {
        joint.rest = *local;
    }
    let world = out.skeleton.world_from_joints(pose);
    out.joint_from_bind = world.iter().map(Affine3A::inverse).collect();
    out
}

/// Arms straight and so many degrees below the horizontal.
pub fn arms_at(body: &Body, degrees: f32) -> Body {
    use Role::*;
    let roles = body.humanoid();
    let mut pose = body.skeleton.rest_pose();
    for (side, limb) in
        [(1.0, [LeftUpperArm, LeftLowerArm, LeftHand]), (-1.0, [RightUpperArm, RightLowerArm, RightHand])]
    {
        let joints = limb.map(|r| roles.joint(r).expect("a humanoid"));
        let (sin, cos) = degrees.to_radians().sin_cos();
        for pair in joints.windows(2) {
            let world = body.skeleton.world_from_joints(&pose);
            let along = Vec3::from(world[pair[1]].translation - world[pair[0]].translation).normalize();
            let turn = Quat::from_rotation_arc(along, Vec3::new(side * cos, -sin, 0.0));
            let parent = body.skeleton.joints[pair[0]].parent.expect("arms hang on something");
            let parent = Quat::from_mat3a(&world[parent].matrix3);
            let local = &mut pose.locals[pair[0]].rotation;
            *local = (parent.inverse() * turn * parent * *local).normalize();
        }
    }
    rebound(body, &pose)
}

/// Arms straight out.
pub fn t_posed(body: &Body) -> Body {
    arms_at(body, 0.0)
}

/// A large head on a small body: head 1.7 times as large, the waist a third thinner, shoulders `narrow` times as wide.
pub fn stylised(body: &Body, narrow: f32) -> Body {
    let roles = body.humanoid();
    let joint = |role| roles.joint(role).expect("a humanoid");
    let below = |root: usize| {
        let mut of = vec![false; body.skeleton.len()];
        for (j, n) in body.skeleton.joints.iter().enumerate() {
            of[j] = j == root || n.parent.is_some_and(|p| of[p]);
        }
        of
    };
    let world = body.skeleton.world_from_joints(&body.skeleton.rest_pose());
    let place = |role: Role| Vec3::from(world[joint(role)].translation);
    let (head, left, right) =
        (below(joint(Role::Head)), below(joint(Role::LeftUpperArm)), below(joint(Role::RightUpperArm)));
    let (hips, shoulder) = (place(Role::LeftUpperLeg), place(Role::LeftUpperArm));
    let waist = hips.y + 0.36 * (shoulder.y - hips.y);
    let reach = 0.45 * (shoulder.y - hips.y);
    let inwards = (narrow - 1.0) * shoulder.x;
    let skull = place(Role::Head);
    let mut out = body.clone();
    let share = |v: usize, of: &[bool]| {
        body.skin.row(v).filter(|(j, _)| of[*j as usize]).map(|(_, w)| w).sum::<f32>()
    };
    for (v, p) in out.mesh.positions.iter_mut().enumerate() {
        let (of_head, of_left, of_right) = (share(v, &head), share(v, &left), share(v, &right));
        let trunk = 1.0 - of_left - of_right;
        let thin = 1.0 - 0.33 * (-((p.y - waist) / reach * 2.0).powi(2)).exp();
        let axis = Vec3::new(0.0, p.y, 0.5 * (hips.z + shoulder.z));
        let mut q = p.lerp(axis + (*p - axis) * Vec3::new(thin, 1.0, thin), trunk);
        let high = ((p.y - waist) / (shoulder.y - waist)).clamp(0.0, 1.0);
        q.x += (1.0 - of_head) * high * (q.x / shoulder.x).clamp(-1.0, 1.0) * inwards;
        *p = q.lerp(skull + (q - skull) * 1.7, of_head);
    }
    let mut pose = body.skeleton.rest_pose();
    for (role, side) in [(Role::LeftUpperArm, 1.0), (Role::RightUpperArm, -1.0)] {
        let parent = body.skeleton.joints[joint(role)].parent.expect("arms hang on something");
        let shift = world[parent].matrix3.inverse() * Vec3::new(side * inwards, 0.0, 0.0);
        pose.locals[joint(role)].translation += shift;
    }
    for (joint, local) in out.skeleton.joints.iter_mut().zip(&pose.locals) {
        joint.rest = *local;
    }
    out.joint_from_bind = out.skeleton.world_from_joints(&pose).iter().map(Affine3A::inverse).collect();
    out
}

/// By name: `t`, `arms:60`, `turned`, `turned:90`, `stylised`, `slight`, joined by `+`.
pub fn variant(body: &Body, names: &str) -> Body {
    names.split('+').fold(body.clone(), |body, name| {
        let (kind, number) = name.split_once(':').unwrap_or((name, ""));
        let number = number.parse::<f32>();
        match kind {
            "t" => t_posed(&body),
            "arms" => arms_at(&body, number.unwrap_or(45.0)),
            "turned" => body.turned(number.unwrap_or(180.0)),
            "stylised" => stylised(&body, 1.0),
            "slight" => stylised(&body, 0.75),
            _ => body,
        }
    })
}
