//! Motion carried between skeletons that differ in every way they can.
#![cfg(feature = "io")]

use glam::{Quat, Vec3};
use std::f32::consts::{FRAC_PI_2, PI};
use toile_assets::retarget::{RetargetSettings, retarget};
use toile_assets::{Body, Humanoid, Joint, Mesh, Motion, Pose, Role, Skeleton, Skin, Transform};

/// Measures of a stick figure; every joint is world-aligned at rest.
#[derive(Clone, Copy)]
struct Figure {
    thigh: f32,
    shin: f32,
    spine: usize,
    /// Of the arms under the horizontal at rest.
    arms_down: f32,
    /// About +Y at rest: 0 faces +Z.
    facing: f32,
}

const PLAIN: Figure = Figure { thigh: 0.42, shin: 0.42, spine: 3, arms_down: 0.0, facing: 0.0 };

impl Figure {
    fn skeleton(&self) -> Skeleton {
        let hip = 0.08 + self.thigh + self.shin;
        let mut rows: Vec<(String, Option<usize>, Vec3)> =
            vec![("Hips".into(), None, Vec3::new(0.0, hip + 0.05, 0.0))];
        for k in 0..self.spine {
            let y = hip + 0.05 + 0.4 * (k + 1) as f32 / (self.spine + 1) as f32;
            rows.push((format!("Spine{k}"), Some(rows.len() - 1), Vec3::new(0.0, y, 0.0)));
        }
        let chest = rows.len() - 1;
        rows.push(("Neck".into(), Some(chest), Vec3::new(0.0, hip + 0.5, 0.0)));
        rows.push(("Head".into(), Some(chest + 1), Vec3::new(0.0, hip + 0.6, 0.0)));
        for (side, sign) in [("Left", 1.0), ("Right", -1.0)] {
            let shoulder = Vec3::new(sign * 0.18, hip + 0.42, 0.0);
            let along = Vec3::new(sign * self.arms_down.cos(), -self.arms_down.sin(), 0.0);
            let first = rows.len();
            for (k, (name, at)) in [
                ("UpperArm", shoulder),
                ("LowerArm", shoulder + 0.28 * along),
                ("Hand", shoulder + 0.53 * along),
            ]
            .into_iter()
            .enumerate()
            {
                rows.push((format!("{side}{name}"), Some(if k == 0 { chest } else { first + k - 1 }), at));
            }
            let first = rows.len();
            for (k, (name, y, z)) in [
                ("UpperLeg", hip, 0.0),
                ("LowerLeg", hip - self.thigh, 0.0),
                ("Foot", 0.08, 0.0),
                ("Toes", 0.02, 0.14),
            ]
            .into_iter()
            .enumerate()
            {
                let parent = if k == 0 { 0 } else { first + k - 1 };
                rows.push((format!("{side}{name}"), Some(parent), Vec3::new(sign * 0.1, y, z)));
            }
        }
        let turn = Quat::from_rotation_y(self.facing);
        let places: Vec<Vec3> = rows.iter().map(|r| turn * r.2).collect();
        let joints = rows
            .into_iter()
            .enumerate()
            .map(|(j, (name, parent, _))| Joint {
                name,
                parent,
                rest: Transform::from_translation(parent.map_or(places[j], |p| places[j] - places[p])),
            })
            .collect();
        Skeleton::new(joints).unwrap()
    }

    /// A body without a surface to speak of.
    fn body(&self) -> Body {
        let mesh = Mesh {
            positions: vec![Vec3::Y, Vec3::Y + Vec3::X, Vec3::Y + Vec3::Z],
            triangles: vec![[0, 1, 2]],
            uvs: vec![],
        };
        let skin = Skin::from_rows(vec![vec![(0u16, 1.0f32)]; 3]).unwrap();
        Body::bound_at_rest("figure", self.skeleton(), mesh, skin).unwrap()
    }
}

/// Poses made by turning joints of the rest pose; the closure gets frame and pose.
fn motion(figure: &Figure, frames: usize, set: impl Fn(usize, &Skeleton, &mut Pose)) -> Motion {
    let skeleton = figure.skeleton();
    let poses = (0..frames)
        .map(|f| {
            let mut pose = skeleton.rest_pose();
            set(f, &skeleton, &mut pose);
            pose
        })
        .collect();
    Motion::new("test", 60.0, skeleton, poses).unwrap()
}

fn turn(skeleton: &Skeleton, pose: &mut Pose, name: &str, by: Quat) {
    let j = skeleton.find(name).unwrap();
    pose.locals[j].rotation = by * pose.locals[j].rotation;
}

fn place(motion: &Motion, frame: usize, role: Role) -> Vec3 {
    let j = Humanoid::of(&motion.skeleton).joint(role).unwrap();
    motion.skeleton.world_from_joints(&motion.poses[frame])[j].translation.into()
}

fn direction(motion: &Motion, frame: usize, from: Role, to: Role) -> Vec3 {
    (place(motion, frame, to) - place(motion, frame, from)).normalize()
}

fn plain() -> RetargetSettings {
    RetargetSettings::default().with(|s| {
        s.arm_abduction_deg = Some(0.0);
        s.plant_feet = false;
    })
}

const LIMBS: [(Role, Role); 8] = [
    (Role::LeftUpperArm, Role::LeftLowerArm),
    (Role::LeftLowerArm, Role::LeftHand),
    (Role::RightUpperArm, Role::RightLowerArm),
    (Role::RightLowerArm, Role::RightHand),
    (Role::LeftUpperLeg, Role::LeftLowerLeg),
    (Role::LeftLowerLeg, Role::LeftFoot),
    (Role::RightUpperLeg, Role::RightLowerLeg),
    (Role::RightLowerLeg, Role::RightFoot),
];

/// Something that moves every limb.
fn flail(f: usize, skeleton: &Skeleton, pose: &mut Pose) {
    let t = 0.1 * f as f32;
    turn(skeleton, pose, "Hips", Quat::from_rotation_y(0.5 * t) * Quat::from_rotation_x(0.2 * t.sin()));
    turn(skeleton, pose, "Spine1", Quat::from_rotation_z(0.3 * t.sin()));
    turn(skeleton, pose, "LeftUpperArm", Quat::from_rotation_z(-1.2 * t.cos()));
    turn(skeleton, pose, "LeftLowerArm", Quat::from_rotation_y(-0.8 * t.sin().abs()));
    turn(skeleton, pose, "RightUpperArm", Quat::from_rotation_x(0.9 * t.sin()));
    turn(skeleton, pose, "LeftUpperLeg", Quat::from_rotation_x(-0.7 * t.sin().abs()));
    turn(skeleton, pose, "LeftLowerLeg", Quat::from_rotation_x(0.9 * t.sin().abs()));
    pose.locals[0].translation += Vec3::new(0.02 * f as f32, 0.0, 0.03 * f as f32);
}

#[test]
fn the_same_skeleton_gets_the_same_motion() {
    let source = motion(&PLAIN, 20, flail);
    let (out, report) = retarget(&source, &PLAIN.body(), &plain()).unwrap();
    assert!((report.travel_scale - 1.0).abs() < 1e-5);
    assert!(report.left_out.is_empty(), "{:?}", report.left_out);
    let lift = Vec3::Y * report.floor_shift;
    for (f, (a, b)) in source.poses.iter().zip(&out.poses).enumerate() {
        let (a, b) = (source.skeleton.world_from_joints(a), out.skeleton.world_from_joints(b));
        for (j, (a, b)) in a.iter().zip(&b).enumerate() {
            let apart = Vec3::from(a.translation).distance(Vec3::from(b.translation) - lift);
            assert!(apart < 1e-3, "frame {f}, joint {j}: {apart} m");
        }
    }
}

#[test]
fn limbs_point_the_same_way_whatever_the_rest_pose() {
    let source = motion(&PLAIN, 30, flail);
    let target = Figure { arms_down: 0.8, thigh: 0.5, shin: 0.38, spine: 3, facing: 0.0 };
    let (out, _) = retarget(&source, &target.body(), &plain()).unwrap();
    for f in 0..30 {
        for (from, to) in LIMBS {
            let (a, b) = (direction(&source, f, from, to), direction(&out, f, from, to));
            assert!(a.distance(b) < 2e-3, "frame {f}, {from:?}: {a} and {b}");
        }
    }
}

#[test]
fn a_source_that_rests_facing_elsewhere_still_goes_where_it_goes() {
    for facing in [FRAC_PI_2, PI, -0.7] {
        let turned = Figure { facing, ..PLAIN };
        let source = motion(&turned, 10, |f, s, p| {
            turn(s, p, "LeftUpperArm", Quat::from_rotation_y(0.2 * f as f32));
            p.locals[0].translation.x += 0.1 * f as f32;
        });
        let (out, _) = retarget(&source, &Figure { arms_down: 0.7, ..PLAIN }.body(), &plain()).unwrap();
        for f in [0, 9] {
            for (from, to) in LIMBS.into_iter().chain([(Role::LeftFoot, Role::LeftToes)]) {
                let (a, b) = (direction(&source, f, from, to), direction(&out, f, from, to));
                assert!(a.distance(b) < 2e-3, "facing {facing}, frame {f}, {from:?}: {a} and {b}");
            }
            let (a, b) = (place(&source, f, Role::Hips), place(&out, f, Role::Hips));
            assert!((a.x - b.x).abs() < 1e-4 && (a.z - b.z).abs() < 1e-4);
        }
    }
}

#[test]
fn spines_of_any_number_of_joints_bend_as_a_whole() {
    let bend = |f: usize, s: &Skeleton, p: &mut Pose| {
        for k in 0..3 {
            turn(s, p, &format!("Spine{k}"), Quat::from_rotation_x(0.02 * f as f32));
        }
    };
    let source = motion(&PLAIN, 20, bend);
    for spine in [1, 2, 3, 6] {
        let target = Figure { spine, ..PLAIN };
        let (out, _) = retarget(&source, &target.body(), &plain()).unwrap();
        let chest = out.skeleton.find(&format!("Spine{}", spine - 1)).unwrap();
        let world = out.skeleton.world_from_joints(&out.poses[19]);
        let (_, turned, _) = world[chest].to_scale_rotation_translation();
        assert!(turned.angle_between(Quat::from_rotation_x(3.0 * 0.38)) < 2e-3, "{spine} joints");
        if spine == 6 {
            // Six joints share what three did: none bends more than two thirds of one of them.
            for k in 0..6 {
                let j = out.skeleton.find(&format!("Spine{k}")).unwrap();
                let (_, angle) = out.poses[19].locals[j].rotation.to_axis_angle();
                assert!((angle - 0.19).abs() < 2e-3, "Spine{k} bends {angle}");
            }
        }
    }
}

/// Knee bends with both feet flat and still: with equal bones the ankle stays under the hip.
fn squat(f: usize, skeleton: &Skeleton, pose: &mut Pose) {
    let bend = 0.9 * (0.5 - 0.5 * (0.05 * f as f32).cos());
    for side in ["Left", "Right"] {
        turn(skeleton, pose, &format!("{side}UpperLeg"), Quat::from_rotation_x(-bend));
        turn(skeleton, pose, &format!("{side}LowerLeg"), Quat::from_rotation_x(2.0 * bend));
        turn(skeleton, pose, &format!("{side}Foot"), Quat::from_rotation_x(-bend));
    }
    pose.locals[0].translation.y -= 2.0 * PLAIN.thigh * (1.0 - bend.cos());
}

#[test]
fn standing_feet_stay_where_they_are_on_legs_of_other_proportions() {
    let source = motion(&PLAIN, 120, squat);
    let target = Figure { thigh: 0.52, shin: 0.36, ..PLAIN };
    let still = |out: &Motion| {
        let foot = |f| place(out, f, Role::LeftFoot);
        (0..120).map(|f| foot(f).distance(foot(0))).fold(0.0f32, f32::max)
    };
    let (loose, before) = retarget(&source, &target.body(), &plain()).unwrap();
    assert!(still(&loose) > 0.05, "the test must be able to fail: {}", still(&loose));
    assert!(before.foot_slide_cm > 5.0, "{before:?}");
    let held = plain().with(|s| s.plant_feet = true);
    let (out, report) = retarget(&source, &target.body(), &held).unwrap();
    assert!(still(&out) < 0.02, "{} m, {report:?}", still(&out));
    assert!(
        report.foot_slide_cm < 2.0 && report.sole_depth_cm < 0.2 && report.stance_gap_cm < 1.0,
        "{report:?}"
    );
    // Hips still go down and up.
    let dip = place(&out, 0, Role::Hips).y - place(&out, 62, Role::Hips).y;
    assert!(dip > 0.25, "{dip}");
}

#[test]
fn a_child_travels_as_far_as_its_legs_allow() {
    let source = motion(&PLAIN, 30, |f, _, p| p.locals[0].translation.z += 0.05 * f as f32);
    let child = Figure { thigh: 0.21, shin: 0.21, ..PLAIN };
    let (out, report) = retarget(&source, &child.body(), &RetargetSettings::default()).unwrap();
    assert!((report.travel_scale - 0.5).abs() < 1e-4);
    let way = place(&out, 29, Role::Hips).z - place(&out, 0, Role::Hips).z;
    assert!((way - 0.5 * 29.0 * 0.05).abs() < 1e-3, "{way}");
    let low =
        out.skeleton.world_from_joints(&out.poses[3]).iter().map(|m| m.translation.y).fold(9.0, f32::min);
    assert!((0.0..0.03).contains(&low), "the lowest joint is at {low} m");
}

#[test]
fn arms_that_hang_into_the_hips_are_spread_and_others_are_not() {
    let hanging = motion(&PLAIN, 10, |_, s, p| {
        turn(s, p, "LeftUpperArm", Quat::from_rotation_z(-1.65));
        turn(s, p, "RightUpperArm", Quat::from_rotation_z(1.65));
    });
    let body = Figure { arms_down: 0.8, ..PLAIN }.body();
    let (out, report) = retarget(&hanging, &body, &RetargetSettings::default()).unwrap();
    assert!(report.arm_abduction_deg >= 3.0, "{report:?}");
    let (a, b) = (
        direction(&hanging, 0, Role::LeftUpperArm, Role::LeftHand),
        direction(&out, 0, Role::LeftUpperArm, Role::LeftHand),
    );
    assert!((a.angle_between(b).to_degrees() - report.arm_abduction_deg).abs() < 0.1 && b.x > a.x);
    let given = RetargetSettings::default().with(|s| s.arm_abduction_deg = Some(11.0));
    assert_eq!(retarget(&hanging, &body, &given).unwrap().1.arm_abduction_deg, 11.0);
    let spread = motion(&PLAIN, 10, |_, _, _| {});
    assert_eq!(retarget(&spread, &body, &RetargetSettings::default()).unwrap().1.arm_abduction_deg, 0.0);
}

#[test]
fn what_is_no_human_is_refused_with_what_is_missing() {
    let mut legless = motion(&PLAIN, 3, flail);
    for joint in &mut legless.skeleton.joints {
        joint.name = joint.name.replace("Leg", "Wheel").replace("Foot", "Tyre");
        // Also no shape from which legs could be guessed.
        joint.rest.translation = Vec3::Y * 0.1;
    }
    let error = retarget(&legless, &PLAIN.body(), &plain()).unwrap_err().to_string();
    assert!(error.contains("LeftUpperLeg"), "{error}");
}

#[test]
fn the_range_of_motion_is_carried_to_another_skeleton() {
    use toile_assets::builtin;
    let mannequin = builtin::body("mannequin:female").unwrap();
    // Shorter shins, five joints of spine, arms that hang, facing sideways at rest.
    let other = Figure { thigh: 0.46, shin: 0.36, spine: 5, arms_down: 0.8, facing: 0.7 };
    for clip in ["walk-fast-turn-left", "sit-down", "kick-side-right", "jumps-turning-left", "free-dancing"] {
        let source = builtin::motion(&format!("training/{clip}"), &mannequin.skeleton).unwrap();
        let (carried, report) = retarget(&source, &other.body(), &RetargetSettings::default()).unwrap();
        assert_eq!((carried.len(), carried.fps), (source.len(), source.fps), "{clip}");
        assert!(report.foot_slide_cm < 2.0, "{clip}: feet slide by {} cm", report.foot_slide_cm);
        for f in (0..source.len()).step_by(40) {
            for (from, to) in
                [(Role::LeftUpperLeg, Role::LeftLowerLeg), (Role::RightUpperLeg, Role::RightLowerLeg)]
            {
                let (a, b) = (direction(&source, f, from, to), direction(&carried, f, from, to));
                let apart = a.angle_between(b).to_degrees();
                assert!(apart < 25.0, "{clip}, frame {f}: {from:?} is {apart}° off");
            }
        }
    }
}
