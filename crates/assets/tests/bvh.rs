//! BVH files as exporters really write them, and files that are not BVH at all.
#![cfg(feature = "io")]

use glam::{Mat3, Quat, Vec3};
use std::path::Path;
use toile_assets::builtin::proportions::Proportions;
use toile_assets::read::{Loaded, bvh};
use toile_assets::{Error, FileError, Motion, Pose, Result, write};
use toile_geometry::Random;

fn read(text: &str) -> Result<Loaded<Motion>> {
    bvh::motion_from_bytes(text.as_bytes(), Path::new("test.bvh"), "test", Some(1.0))
}

const HEAD: &str = "HIERARCHY\nROOT Hips\n{\n OFFSET 0 0 0\n CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation\n JOINT Upper Leg\n {\n  OFFSET 1 2 3\n  CHANNELS 3 Xrotation Zrotation Yrotation\n  End Site\n  {\n   OFFSET 0 1 0\n  }\n }\n}\nMOTION\n";

#[test]
fn rotations_multiply_in_the_order_of_the_channels() {
    let text = format!("{HEAD}Frames: 1\nFrame Time: 0.5\n4 5 6 10 20 30 40 50 60\n");
    let motion = read(&text).unwrap().value;
    assert_eq!(motion.fps, 2.0);
    assert_eq!(motion.skeleton.joints[1].name, "Upper Leg");
    let turn = |axis: char, deg: f32| match axis {
        'x' => Mat3::from_rotation_x(deg.to_radians()),
        'y' => Mat3::from_rotation_y(deg.to_radians()),
        _ => Mat3::from_rotation_z(deg.to_radians()),
    };
    let root = turn('z', 10.0) * turn('y', 20.0) * turn('x', 30.0);
    let leg = turn('x', 40.0) * turn('z', 50.0) * turn('y', 60.0);
    for (local, expected) in motion.poses[0].locals.iter().zip([root, leg]) {
        assert!(Mat3::from_quat(local.rotation).abs_diff_eq(expected, 1e-5));
    }
    assert_eq!(motion.poses[0].locals[0].translation, Vec3::new(4.0, 5.0, 6.0));
    assert_eq!(motion.poses[0].locals[1].translation, Vec3::new(1.0, 2.0, 3.0));
}

#[test]
fn the_ways_of_exporters_are_read_alike() {
    let plain = format!("{HEAD}Frames: 2\nFrame Time: 0.0333333\n1 2 3 4 5 6 7 8 9\n9 8 7 6 5 4 3 2 1\n");
    let expected = read(&plain).unwrap().value;
    assert_eq!(expected.fps, 30.0);
    let variants = [
        plain.replace('\n', "\r\n"),
        plain.replace(' ', "\t \t").replace("Upper\t \tLeg", "Upper Leg"),
        plain.trim_end().to_string(),
        plain.replace("Frame Time:", "Frame Time :").replace("Frames:", "Frames :"),
        plain.replace("Frame Time: ", "FrameTime:").replace("Frames: ", "FRAMES\t"),
        plain.replace("1 2 3 4", "1e0 +2.0E+0 3. 0.4e1").replace("7 8 9\n", "7   8 9   \n\n"),
        plain.replace("1 2 3 4 5 6 7", "1 2 3\n4 5 6\n7").replace("9 8 7 6 5 4 3", "9 8 7\n6 5 4\n3"),
        plain.replace("\n{", " {").replace("\n {", "{"),
        plain.to_lowercase().replace("upper leg", "Upper Leg").replace("hips", "Hips"),
        format!("\u{feff}{plain}\0\0"),
        plain.replace("End Site", "End site LeftToe_End"),
    ];
    for (i, text) in variants.iter().enumerate() {
        let loaded = read(text).unwrap_or_else(|e| panic!("variant {i}: {e}"));
        assert_eq!(loaded.value, expected, "variant {i}");
        assert!(loaded.problems.is_empty(), "variant {i}: {:?}", loaded.problems);
    }
}

#[test]
fn position_channels_anywhere_replace_the_offset() {
    let text = "HIERARCHY\nROOT a\n{\nOFFSET 0 9 0\nCHANNELS 4 Zrotation Zposition Xrotation Xposition\nJOINT b\n{\nOFFSET 1 2 3\nCHANNELS 1 Yposition\n}\n}\nMOTION\nFrames: 1\nFrame Time: 1\n0 5 0 7 8\n";
    let pose = &read(text).unwrap().value.poses[0];
    assert_eq!(pose.locals[0].translation, Vec3::new(7.0, 9.0, 5.0));
    assert_eq!(pose.locals[1].translation, Vec3::new(1.0, 8.0, 3.0));
}

#[test]
fn frames_fewer_than_claimed_are_a_problem_not_an_error() {
    let text = format!("{HEAD}Frames: 5\nFrame Time: 0.5\n1 2 3 4 5 6 7 8 9\n1 2 3 4 5 6 7 8 9\n1 2 3");
    let loaded = read(&text).unwrap();
    assert_eq!(loaded.value.len(), 2);
    let counts: Vec<usize> = loaded.problems.iter().map(|p| p.count).collect();
    assert_eq!(counts, [3, 3], "three loose values, three frames missing: {:?}", loaded.problems);
}

#[test]
fn faults_name_their_line() {
    let motion = |rows: &str| format!("{HEAD}Frames: 2\nFrame Time: 0.5\n{rows}\n");
    let cases = [
        ("not a BVH".to_string(), "line 1"),
        (String::new(), "line 1"),
        (HEAD.replace("OFFSET 1 2 3", "OFFSET 1 two 3"), "line 8"),
        (HEAD.replace("Zrotation Yrotation\n", "Zrotation Wrotation\n"), "line 9"),
        (HEAD.replace("CHANNELS 3 X", "CHANNELS 99999999999 X"), "line 10"),
        (HEAD.replace(" }\n}\nMOTION", " }\nMOTION"), "line 15"),
        (format!("{HEAD}Frames: many\nFrame Time: 1\n"), "line 17"),
        (format!("{HEAD}Frames: 1\nFrame Time: 0\n"), "line 18"),
        (format!("{HEAD}Frames: 1\nFrame Time: nan\n"), "line 18"),
        (motion("1 2 3 4 5 6 7 8 9\n1 2 3 4 5 6 7 8\n1 2 3 4 5 6 7 8 9"), "line 20"),
        (motion("1 2 3 4 5 6 7 8 9\n1 2 3 4 5 6 7 8 9 10"), "line 20"),
        (motion("1 2 3 4 5 6 7 8 9\n1 2 x 4 5 6 7 8 9"), "line 20"),
        (motion("1 2 3 4 nan 6 7 8 9"), "line 19"),
        (motion("1 2 3 4 1e30 6 7 8 9"), "line 19"),
        (format!("{HEAD}Frames: 18446744073709551615\nFrame Time: 1\n"), "line 19"),
    ];
    for (text, line) in cases {
        match read(&text) {
            Err(Error::File(FileError::Bad { place, what, .. })) => assert_eq!(place, line, "{what}\n{text}"),
            other => panic!("{line}: {:?}\n{text}", other.map(|l| l.value.len())),
        }
    }
}

#[test]
fn no_bytes_make_it_panic() {
    let good = format!("{HEAD}Frames: 2\nFrame Time: 0.5\n1 2 3 4 5 6 7 8 9\n1 2 3 4 5 6 7 8 9\n");
    let path = Path::new("x");
    for cut in 0..good.len() {
        let _ = bvh::motion_from_bytes(&good.as_bytes()[..cut], path, "x", None);
    }
    // Deterministic noise over a good file, so that it gets past the first word.
    let mut random = Random::new(1);
    for _ in 0..3000 {
        let mut bytes = good.clone().into_bytes();
        for _ in 0..1 + random.below(6) {
            let at = random.below(bytes.len());
            match random.below(3) {
                0 => bytes[at] = random.bits() as u8,
                1 => drop(bytes.remove(at)),
                _ => bytes.insert(at, b" {}\n-9e.N"[random.below(9)]),
            }
        }
        let _ = bvh::motion_from_bytes(&bytes, path, "x", None);
    }
    let deep = format!("HIERARCHY\nROOT a\n{{\n{}", "JOINT b\n{\nOFFSET 0 0 0\n".repeat(70_000));
    assert!(bvh::motion_from_bytes(deep.as_bytes(), path, "x", None).is_err());
}

/// The mannequin's skeleton walking on the spot, more or less.
fn wiggle() -> Motion {
    let skeleton = Proportions::female().skeleton();
    let poses = (0..20)
        .map(|f| {
            let mut pose: Pose = skeleton.rest_pose();
            for (j, local) in pose.locals.iter_mut().enumerate() {
                let phase = 0.3 * f as f32 + j as f32;
                local.rotation =
                    Quat::from_rotation_x(0.4 * phase.sin()) * Quat::from_rotation_y(0.2 * phase.cos());
            }
            pose.locals[0].translation.z += 0.02 * f as f32;
            pose
        })
        .collect();
    Motion::new("wiggle", 30.0, skeleton, poses).unwrap()
}

#[test]
fn what_is_written_is_read_back() {
    let motion = wiggle();
    let text = write::bvh::motion_text(&motion, 100.0);
    let loaded = bvh::motion_from_bytes(text.as_bytes(), Path::new("w.bvh"), "wiggle", None).unwrap();
    assert!(loaded.notes.iter().any(|n| n.contains("centimetres")), "{:?}", loaded.notes);
    let back = loaded.value;
    assert_eq!((back.fps, back.len()), (motion.fps, motion.len()));
    for (a, b) in motion.poses.iter().zip(&back.poses) {
        for (j, joint) in motion.skeleton.joints.iter().enumerate() {
            // The file lists children depth first, so the order may differ.
            let k = back.skeleton.find(&joint.name).unwrap();
            let (p, q) = (a.locals[j].rotation, b.locals[k].rotation);
            assert!(p.abs_diff_eq(q, 1e-6) || p.abs_diff_eq(-q, 1e-6), "{}", joint.name);
            assert!(a.locals[j].translation.distance(b.locals[k].translation) < 1e-6, "{}", joint.name);
        }
    }
}

/// A T-pose put before the motion, as the conversions of the CMU library have it.
fn with_added_t_pose(motion: &Motion) -> (Motion, Pose) {
    let mut t_pose = motion.skeleton.rest_pose();
    for (name, deg) in [("l_shoulder", 45.0f32), ("r_shoulder", -45.0)] {
        let j = motion.skeleton.find(name).unwrap();
        t_pose.locals[j].rotation = Quat::from_rotation_z(deg.to_radians());
    }
    let mut with = motion.clone();
    with.poses.insert(0, t_pose.clone());
    (with, t_pose)
}

#[test]
fn an_added_t_pose_becomes_the_rest_pose_and_leaves_the_motion() {
    let motion = wiggle();
    let mut still = motion.clone();
    for (f, pose) in still.poses.iter_mut().enumerate() {
        *pose = motion.poses[0].lerp(&motion.poses[1], 0.02 * f as f32);
    }
    let (with, t_pose) = with_added_t_pose(&still);
    let text = write::bvh::motion_text(&with, 1.0);
    let loaded = bvh::motion_from_bytes(text.as_bytes(), Path::new("w.bvh"), "w", None).unwrap();
    assert!(loaded.notes.iter().any(|n| n.contains("T-pose")), "{:?}", loaded.notes);
    assert_eq!(loaded.value.len(), still.len());
    let shoulder = loaded.value.skeleton.find("l_shoulder").unwrap();
    let expected = t_pose.locals[motion.skeleton.find("l_shoulder").unwrap()].rotation;
    assert!(loaded.value.skeleton.joints[shoulder].rest.rotation.angle_between(expected) < 1e-3);
}

#[test]
fn a_clip_that_merely_starts_in_a_t_pose_keeps_its_first_frame() {
    let (with, t_pose) = with_added_t_pose(&wiggle());
    let mut slow = with.clone();
    slow.poses = (0..20).map(|f| t_pose.lerp(&with.poses[5], f as f32 / 20.0)).collect();
    let text = write::bvh::motion_text(&slow, 1.0);
    let loaded = bvh::motion_from_bytes(text.as_bytes(), Path::new("w.bvh"), "w", None).unwrap();
    assert_eq!(loaded.value.len(), slow.len(), "{:?}", loaded.notes);
}

#[test]
fn files_with_z_up_are_turned() {
    let motion = wiggle();
    let mut z_up = motion.clone();
    let turn = Quat::from_rotation_x(std::f32::consts::FRAC_PI_2);
    // The hierarchy of such files is itself drawn with +Z up: offsets turn, rotations are conjugated.
    for joint in &mut z_up.skeleton.joints {
        joint.rest.translation = turn * joint.rest.translation;
    }
    for pose in &mut z_up.poses {
        for local in &mut pose.locals {
            local.translation = turn * local.translation;
            local.rotation = turn * local.rotation * turn.inverse();
        }
    }
    let text = write::bvh::motion_text(&z_up, 100.0);
    let loaded = bvh::motion_from_bytes(text.as_bytes(), Path::new("w.bvh"), "w", None).unwrap();
    assert!(loaded.notes.iter().any(|n| n.contains("+Z is up")), "{:?}", loaded.notes);
    let head = |m: &Motion| {
        let j = m.skeleton.find("skullbase").unwrap();
        Vec3::from(m.skeleton.world_from_joints(&m.poses[7])[j].translation)
    };
    assert!(head(&motion).distance(head(&loaded.value)) < 1e-4);
}
