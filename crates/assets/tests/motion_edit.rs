//! Cutting, joining, mirroring and stopping motions.

use glam::{Quat, Vec3};
use toile_assets::{Joint, Motion, Pose, RootTrack, Skeleton, Transform};

/// Hips with two legs and feet; the right side's joint axes are turned, as some rigs have them.
fn skeleton() -> Skeleton {
    let joint = |name: &str, parent, rotation, at: [f32; 3]| Joint {
        name: name.to_string(),
        parent,
        rest: Transform { rotation, translation: at.into() },
    };
    let turned = Quat::from_rotation_y(1.0);
    Skeleton::new(vec![
        joint("Hips", None, Quat::IDENTITY, [0.0, 1.0, 0.0]),
        joint("LeftUpLeg", Some(0), Quat::IDENTITY, [0.1, -0.05, 0.0]),
        joint("LeftFoot", Some(1), Quat::IDENTITY, [0.0, -0.8, 0.02]),
        joint("RightUpLeg", Some(0), turned, [-0.1, -0.05, 0.0]),
        joint("RightFoot", Some(3), turned.inverse(), (turned.inverse() * Vec3::new(0.0, -0.8, 0.02)).into()),
        joint("Spine", Some(0), Quat::IDENTITY, [0.0, 0.2, 0.0]),
    ])
    .unwrap()
}

/// Walks forward while turning left, swings its legs, leans to its left.
fn walk(frames: usize) -> Motion {
    let skeleton = skeleton();
    let mut position = Vec3::new(0.3, 1.0, -0.2);
    let poses = (0..frames)
        .map(|f| {
            let t = f as f32 / (frames - 1) as f32;
            let mut pose = skeleton.rest_pose();
            let turn = Quat::from_rotation_y(0.4 + 0.9 * t);
            position += turn * Vec3::new(0.0, 0.0, 0.03);
            pose.locals[0] = Transform { rotation: turn, translation: position };
            let swing = (std::f32::consts::TAU * t).sin() * 0.5;
            pose.locals[1].rotation *= Quat::from_rotation_x(swing);
            pose.locals[3].rotation *= Quat::from_rotation_x(-0.7 * swing);
            pose.locals[5].rotation = Quat::from_rotation_z(-0.2 * swing) * Quat::from_rotation_y(0.1);
            pose
        })
        .collect();
    Motion::new("walk", 30.0, skeleton, poses).unwrap()
}

fn joints_at(motion: &Motion, f: usize) -> Vec<Vec3> {
    let world = motion.skeleton.world_from_joints(&motion.poses[f]);
    world.iter().map(|w| w.translation.into()).collect()
}

fn apart(a: &[Vec3], b: &[Vec3]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

#[test]
fn trimming_keeps_what_is_between() {
    let motion = walk(31);
    let part = motion.trimmed(0.2, 0.5).unwrap();
    assert_eq!(part.len(), 10);
    assert!(apart(&joints_at(&part, 0), &joints_at(&motion, 6)) < 1e-5);
    assert!(apart(&joints_at(&part, 9), &joints_at(&motion, 15)) < 1e-5);
    assert_eq!(motion.trimmed(0.5, 99.0).unwrap().len(), 16);
    assert_eq!(motion.trimmed_frames(3, 5).unwrap().poses, motion.poses[3..5]);
    for bad in [motion.trimmed(0.5, 0.4), motion.trimmed(-1.0, 0.5), motion.trimmed(f64::NAN, 0.5)] {
        assert!(bad.is_err());
    }
    assert!(motion.trimmed_frames(4, 4).is_err() && motion.trimmed_frames(0, 32).is_err());
}

#[test]
fn speed_changes_duration_and_not_the_path() {
    let motion = walk(31);
    let fast = motion.with_speed(2.0).unwrap();
    assert_eq!(fast.len(), 16);
    assert!(apart(&joints_at(&fast, 7), &joints_at(&motion, 14)) < 1e-5);
    let slow = motion.with_speed(0.5).unwrap();
    assert_eq!(slow.len(), 61);
    assert!(apart(&joints_at(&slow, 60), &joints_at(&motion, 30)) < 1e-5);
    assert!(motion.with_speed(0.0).is_err() && motion.with_speed(f64::NAN).is_err());
    assert!(motion.with_speed(1e-30).is_err());
}

#[test]
fn resampling_takes_the_short_way_when_a_quaternion_changes_sign() {
    let mut motion = walk(2);
    motion.poses[0].locals[1].rotation = Quat::from_rotation_x(0.1);
    motion.poses[1].locals[1].rotation = -Quat::from_rotation_x(0.3);
    let middle = motion.resampled(60.0).poses[1].locals[1].rotation;
    assert!(middle.angle_between(Quat::from_rotation_x(0.2)) < 1e-3, "{middle}");
}

#[test]
fn a_frozen_motion_stands_still() {
    let motion = walk(31);
    let stop = motion.frozen_at(12, 1.5).unwrap();
    assert_eq!(stop.len(), 13 + 45);
    assert_eq!(stop.poses[..13], motion.poses[..13]);
    assert!(stop.poses[13..].iter().all(|p| *p == motion.poses[12]));
    assert!(motion.frozen_at(31, 1.0).is_err() && motion.frozen_at(3, -1.0).is_err());
    assert!(motion.frozen_at(usize::MAX, 1.0).is_err());
}

#[test]
fn a_loop_walks_on_and_turns_on() {
    let motion = walk(31);
    let thrice = motion.looped(3).unwrap();
    assert_eq!(thrice.len(), 91);
    let track = RootTrack::new(&thrice.skeleton, &thrice.poses).frames;
    assert!((track[90].heading - track[0].heading - 2.7).abs() < 1e-4, "{}", track[90].heading);
    // Seen from where it starts, each repetition is the same.
    for f in 0..=30 {
        for lap in 1..3 {
            let a = track[0].canonical_from_world(track[f].position);
            let b = track[30 * lap].canonical_from_world(track[30 * lap + f].position);
            assert!(a.distance(b) < 1e-4, "frame {f}, lap {lap}: {a} {b}");
        }
    }
    // No frame of the joint goes farther than the fastest of the clip (the legs close their cycle).
    let step = |f: usize| apart(&joints_at(&thrice, f), &joints_at(&thrice, f + 1));
    let fastest = (0..30).map(step).fold(0.0, f32::max);
    assert!(step(30) <= 1.05 * fastest && step(60) <= 1.05 * fastest, "{} {fastest}", step(30));
    assert_eq!(motion.looped(1).unwrap(), motion);
}

#[test]
fn a_crossfade_has_no_jump() {
    let a = walk(31);
    let mut b = walk(41).trimmed_frames(10, 41).unwrap();
    b.poses.iter_mut().for_each(|p| p.locals[0].translation += Vec3::new(7.0, 0.0, 3.0));
    let biggest = |m: &Motion| {
        (0..m.len() - 1).map(|f| apart(&joints_at(m, f), &joints_at(m, f + 1))).fold(0.0, f32::max)
    };
    let cut = a.then(&b, 0.0).unwrap();
    let mixed = a.then(&b, 0.3).unwrap();
    assert_eq!(cut.len(), 61);
    assert_eq!(mixed.len(), 61 - 9);
    assert_eq!(mixed.poses[..22], a.poses[..22]);
    assert!(biggest(&cut) > 0.2, "{}", biggest(&cut));
    assert!(biggest(&mixed) < 0.13, "{}", biggest(&mixed));
    let other = Motion { skeleton: Skeleton::default(), poses: vec![Pose::default()], ..a.clone() };
    assert!(a.then(&other, 0.1).is_err() && a.then(&b, f64::NAN).is_err());
    // Another rate is brought to the first one's.
    assert_eq!(a.then(&b.resampled(60.0), 0.3).unwrap().len(), 52);
}

#[test]
fn mirroring_exchanges_the_sides_and_twice_is_once() {
    let motion = walk(31);
    let mirror = motion.mirrored().unwrap();
    let side = [0, 3, 4, 1, 2, 5];
    for f in 0..motion.len() {
        let (a, b) = (joints_at(&motion, f), joints_at(&mirror, f));
        for (j, &m) in side.iter().enumerate() {
            let expected = Vec3::new(-a[m].x, a[m].y, a[m].z);
            assert!(b[j].distance(expected) < 1e-5, "frame {f}, joint {j}: {} {expected}", b[j]);
        }
    }
    let heading = |m: &Motion| RootTrack::new(&m.skeleton, &m.poses).frames[30].heading;
    assert!((heading(&motion) + heading(&mirror)).abs() < 1e-5);
    let back = mirror.mirrored().unwrap();
    assert!((0..31).all(|f| apart(&joints_at(&back, f), &joints_at(&motion, f)) < 1e-5));
}

#[test]
fn sides_are_found_by_many_names_or_by_place() {
    for [hip, left, lf, right, rf, spine] in [
        ["humanoid_root", "l_hip", "l_ankle", "r_hip", "r_ankle", "vl5"],
        ["root", "thigh.L", "foot.L", "thigh.R", "foot.R", "chest"],
        [
            "mixamorig:Hips",
            "mixamorig:LeftUpLeg",
            "mixamorig:LeftFoot",
            "mixamorig:RightUpLeg",
            "mixamorig:RightFoot",
            "x",
        ],
        ["pelvis", "thigh_l", "foot_l", "thigh_r", "foot_r", "spine_01"],
        ["Hip", "LThigh", "LFoot", "RThigh", "RFoot", "Ribs"],
        ["0", "1", "2", "3", "4", "5"],
    ] {
        let mut motion = walk(5);
        let names = [hip, left, lf, right, rf, spine];
        motion.skeleton.joints.iter_mut().zip(names).for_each(|(j, n)| j.name = n.to_string());
        let mirror = motion.mirrored().unwrap_or_else(|e| panic!("{e}"));
        let (a, b) = (joints_at(&motion, 2), joints_at(&mirror, 2));
        assert!(b[2].distance(Vec3::new(-a[4].x, a[4].y, a[4].z)) < 1e-5, "{hip}");
    }
    // A tail on one side only has no counterpart.
    let mut motion = walk(5);
    motion.skeleton.joints[4].rest.translation.x += 1.0;
    motion.skeleton.joints[4].name = "tail".into();
    let fault = motion.mirrored().unwrap_err().to_string();
    assert!(fault.contains("tail"), "{fault}");
}
