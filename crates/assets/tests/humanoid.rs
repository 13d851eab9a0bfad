//! Roles are found whatever the rig's conventions.

use glam::Vec3;
use toile_assets::{Humanoid, Joint, Role, Skeleton, Transform};

/// A skeleton from `(name, parent, place)`; places are of the world, so a row reads like a point cloud.
fn skeleton(rows: &[(&str, &str, [f32; 3])]) -> Skeleton {
    let place = |name: &str| rows.iter().find(|r| r.0 == name).map(|r| Vec3::from(r.2));
    let joints = rows
        .iter()
        .map(|(name, parent, at)| Joint {
            name: name.to_string(),
            parent: rows.iter().position(|r| r.0 == *parent),
            rest: Transform::from_translation(Vec3::from(*at) - place(parent).unwrap_or(Vec3::ZERO)),
        })
        .collect();
    Skeleton::new(joints).unwrap()
}

/// Names of a rig in a fixed order: hips, spine joints, neck joints, head, then per side collar, upper arm,
/// lower arm, hand, upper leg, lower leg, foot, toes.
/// The joints of a side, from the shoulder to the hand and from the hip to the toes.
fn eight(names: &'static str) -> [&'static str; 8] {
    let mut all = names.split(", ");
    std::array::from_fn(|_| all.next().expect("eight names"))
}

fn rig(hips: &str, spine: &[&str], neck: &[&str], head: &str, sides: [[&str; 8]; 2]) -> Skeleton {
    let mut rows: Vec<(&str, &str, [f32; 3])> = vec![(hips, "", [0.0, 0.95, 0.0])];
    let mut below = hips;
    for (i, name) in spine.iter().enumerate() {
        rows.push((name, below, [0.0, 1.02 + 0.4 * i as f32 / spine.len() as f32, 0.0]));
        below = name;
    }
    let chest = below;
    for (i, name) in neck.iter().enumerate() {
        rows.push((name, below, [0.0, 1.45 + 0.05 * i as f32, 0.0]));
        below = name;
    }
    rows.push((head, below, [0.0, 1.58, 0.0]));
    for (side, names) in [1.0, -1.0].into_iter().zip(sides) {
        let [collar, upper, lower, hand, thigh, shin, foot, toes] = names;
        let mut above = chest;
        for (name, x) in [(collar, 0.03), (upper, 0.17), (lower, 0.45), (hand, 0.7)] {
            if !name.is_empty() {
                rows.push((name, above, [side * x, 1.4, 0.0]));
                above = name;
            }
        }
        let mut above = hips;
        for (name, y, z) in [(thigh, 0.9, 0.0), (shin, 0.5, 0.0), (foot, 0.08, 0.0), (toes, 0.02, 0.13)] {
            if !name.is_empty() {
                rows.push((name, above, [side * 0.09, y, z]));
                above = name;
            }
        }
    }
    skeleton(&rows)
}

const SIDED: [[Role; 8]; 2] = {
    use Role::*;
    [
        [LeftShoulder, LeftUpperArm, LeftLowerArm, LeftHand, LeftUpperLeg, LeftLowerLeg, LeftFoot, LeftToes],
        [
            RightShoulder,
            RightUpperArm,
            RightLowerArm,
            RightHand,
            RightUpperLeg,
            RightLowerLeg,
            RightFoot,
            RightToes,
        ],
    ]
};

#[test]
fn the_conventions_of_common_rigs_are_known() {
    let rigs: Vec<(&str, &str, Vec<&str>, Vec<&str>, &str, [[&str; 8]; 2])> = vec![
        (
            "CMU",
            "Hips",
            vec!["LowerBack", "Spine", "Spine1"],
            vec!["Neck", "Neck1"],
            "Head",
            [
                eight(
                    "LeftShoulder, LeftArm, LeftForeArm, LeftHand, LeftUpLeg, LeftLeg, LeftFoot, LeftToeBase",
                ),
                eight(
                    "RightShoulder, RightArm, RightForeArm, RightHand, RightUpLeg, RightLeg, RightFoot, RightToeBase",
                ),
            ],
        ),
        (
            "Mixamo",
            "mixamorig:Hips",
            vec!["mixamorig:Spine", "mixamorig:Spine1", "mixamorig:Spine2"],
            vec!["mixamorig:Neck"],
            "mixamorig:Head",
            [
                eight(
                    "mixamorig:LeftShoulder, mixamorig:LeftArm, mixamorig:LeftForeArm, mixamorig:LeftHand, mixamorig:LeftUpLeg, mixamorig:LeftLeg, mixamorig:LeftFoot, mixamorig:LeftToeBase",
                ),
                eight(
                    "mixamorig:RightShoulder, mixamorig:RightArm, mixamorig:RightForeArm, mixamorig:RightHand, mixamorig:RightUpLeg, mixamorig:RightLeg, mixamorig:RightFoot, mixamorig:RightToeBase",
                ),
            ],
        ),
        (
            "VRM",
            "J_Bip_C_Hips",
            vec!["J_Bip_C_Spine", "J_Bip_C_Chest", "J_Bip_C_UpperChest"],
            vec!["J_Bip_C_Neck"],
            "J_Bip_C_Head",
            [
                eight(
                    "J_Bip_L_Shoulder, J_Bip_L_UpperArm, J_Bip_L_LowerArm, J_Bip_L_Hand, J_Bip_L_UpperLeg, J_Bip_L_LowerLeg, J_Bip_L_Foot, J_Bip_L_ToeBase",
                ),
                eight(
                    "J_Bip_R_Shoulder, J_Bip_R_UpperArm, J_Bip_R_LowerArm, J_Bip_R_Hand, J_Bip_R_UpperLeg, J_Bip_R_LowerLeg, J_Bip_R_Foot, J_Bip_R_ToeBase",
                ),
            ],
        ),
        (
            "Unity",
            "Hips",
            vec!["Spine", "Chest"],
            vec!["Neck"],
            "Head",
            [
                eight(
                    "LeftShoulder, LeftUpperArm, LeftLowerArm, LeftHand, LeftUpperLeg, LeftLowerLeg, LeftFoot, LeftToes",
                ),
                eight(
                    "RightShoulder, RightUpperArm, RightLowerArm, RightHand, RightUpperLeg, RightLowerLeg, RightFoot, RightToes",
                ),
            ],
        ),
        (
            "MakeHuman",
            "root",
            vec!["spine05", "spine04", "spine03", "spine02", "spine01"],
            vec!["neck01", "neck02", "neck03"],
            "head",
            [
                eight(
                    "clavicle.L, upperarm01.L, lowerarm01.L, wrist.L, upperleg01.L, lowerleg01.L, foot.L, toe1-1.L",
                ),
                eight(
                    "clavicle.R, upperarm01.R, lowerarm01.R, wrist.R, upperleg01.R, lowerleg01.R, foot.R, toe1-1.R",
                ),
            ],
        ),
        (
            "Unreal",
            "pelvis",
            vec!["spine_01", "spine_02", "spine_03"],
            vec!["neck_01"],
            "head",
            [
                eight("clavicle_l, upperarm_l, lowerarm_l, hand_l, thigh_l, calf_l, foot_l, ball_l"),
                eight("clavicle_r, upperarm_r, lowerarm_r, hand_r, thigh_r, calf_r, foot_r, ball_r"),
            ],
        ),
        (
            "Rigify",
            "DEF-spine",
            vec!["DEF-spine.001", "DEF-spine.002", "DEF-spine.003"],
            vec!["DEF-spine.004", "DEF-spine.005"],
            "DEF-spine.006",
            [
                eight(
                    "DEF-shoulder.L, DEF-upper_arm.L, DEF-forearm.L, DEF-hand.L, DEF-thigh.L, DEF-shin.L, DEF-foot.L, DEF-toe.L",
                ),
                eight(
                    "DEF-shoulder.R, DEF-upper_arm.R, DEF-forearm.R, DEF-hand.R, DEF-thigh.R, DEF-shin.R, DEF-foot.R, DEF-toe.R",
                ),
            ],
        ),
        (
            "H-Anim",
            "humanoid_root",
            vec!["vl5", "vl1", "vt6"],
            vec!["vc7", "vc4"],
            "skullbase",
            [
                eight(
                    "l_sternoclavicular, l_shoulder, l_elbow, l_wrist, l_hip, l_knee, l_ankle, l_midtarsal",
                ),
                eight(
                    "r_sternoclavicular, r_shoulder, r_elbow, r_wrist, r_hip, r_knee, r_ankle, r_midtarsal",
                ),
            ],
        ),
        (
            "Biped",
            "Bip01 Pelvis",
            vec!["Bip01 Spine", "Bip01 Spine1"],
            vec!["Bip01 Neck"],
            "Bip01 Head",
            [
                eight(
                    "Bip01 L Clavicle, Bip01 L UpperArm, Bip01 L Forearm, Bip01 L Hand, Bip01 L Thigh, Bip01 L Calf, Bip01 L Foot, Bip01 L Toe0",
                ),
                eight(
                    "Bip01 R Clavicle, Bip01 R UpperArm, Bip01 R Forearm, Bip01 R Hand, Bip01 R Thigh, Bip01 R Calf, Bip01 R Foot, Bip01 R Toe0",
                ),
            ],
        ),
        (
            "Poser",
            "hip",
            vec!["abdomen", "chest"],
            vec!["neck"],
            "head",
            [
                eight("lCollar, lShldr, lForeArm, lHand, lThigh, lShin, lFoot, lToe"),
                eight("rCollar, rShldr, rForeArm, rHand, rThigh, rShin, rFoot, rToe"),
            ],
        ),
        (
            "old Biovision",
            "Hips",
            vec!["Chest", "Chest2"],
            vec!["Neck"],
            "Head",
            [
                eight(
                    "LeftCollar, LeftShoulder, LeftElbow, LeftWrist, LeftHip, LeftKnee, LeftAnkle, LeftToe",
                ),
                eight(
                    "RightCollar, RightShoulder, RightElbow, RightWrist, RightHip, RightKnee, RightAnkle, RightToe",
                ),
            ],
        ),
        (
            "numbers only",
            "torso_1",
            vec!["torso_2", "torso_3"],
            vec!["neck_1"],
            "neck_2",
            [
                eight(", arm_L_4, arm_L_3, arm_L_2, leg_L_1, leg_L_2, leg_L_3, leg_L_5"),
                eight(", arm_R, arm_R_2, arm_R_3, leg_R_1, leg_R_2, leg_R_3, leg_R_5"),
            ],
        ),
        (
            "no words at all",
            "n0",
            vec!["n1", "n2", "n3"],
            vec!["n4"],
            "n5",
            [eight("a0, a1, a2, a3, b0, b1, b2, b3"), eight("c0, c1, c2, c3, d0, d1, d2, d3")],
        ),
    ];
    for (what, hips, spine, neck, head, sides) in rigs {
        let skeleton = rig(hips, &spine, &neck, head, sides);
        let humanoid = Humanoid::of(&skeleton);
        let name = |role: Role| humanoid.joint(role).map_or("", |j| skeleton.joints[j].name.as_str());
        let table = humanoid.table(&skeleton);
        assert_eq!(name(Role::Hips), hips, "{what}\n{table}");
        assert_eq!(name(Role::Head), head, "{what}\n{table}");
        assert_eq!(name(Role::Neck), neck[0], "{what}\n{table}");
        assert_eq!(name(Role::Spine), spine[0], "{what}\n{table}");
        if spine.len() > 2 {
            assert_eq!(name(Role::UpperChest), spine[spine.len() - 1], "{what}\n{table}");
        }
        for (roles, names) in SIDED.into_iter().zip(sides) {
            for (role, expected) in roles.into_iter().zip(names) {
                assert_eq!(name(role), expected, "{what}: {role:?}\n{table}");
            }
        }
        assert!(humanoid.missing().is_empty(), "{what}");
        let with_role = humanoid.joints.len() + humanoid.left_out.len();
        assert_eq!(with_role, skeleton.len(), "{what}: every joint is in exactly one list");
    }
}

#[test]
fn a_joint_inside_the_pelvis_is_not_the_leg() {
    let skeleton = skeleton(&[
        ("Hips", "", [0.0, 1.0, 0.0]),
        ("LHipJoint", "Hips", [0.0, 1.0, 0.0]),
        ("LeftUpLeg", "LHipJoint", [0.1, 0.95, 0.0]),
        ("LeftLeg", "LeftUpLeg", [0.1, 0.5, 0.0]),
        ("LeftFoot", "LeftLeg", [0.1, 0.1, 0.0]),
    ]);
    let humanoid = Humanoid::of(&skeleton);
    assert_eq!(humanoid.joint(Role::LeftUpperLeg), Some(2));
    assert_eq!(humanoid.joint(Role::LeftLowerLeg), Some(3));
    assert!(humanoid.missing().contains(&Role::RightFoot));
}

#[test]
fn controls_are_never_taken_for_joints() {
    let mut with_controls = rig(
        "hips",
        &["spine", "chest"],
        &["neck"],
        "head",
        [
            eight(", upperarm.l, lowerarm.l, wrist.l, upperleg.l, lowerleg.l, foot.l, toes.l"),
            eight(", upperarm.r, lowerarm.r, wrist.r, upperleg.r, lowerleg.r, foot.r, toes.r"),
        ],
    );
    let control = |name: &str| Joint {
        name: name.into(),
        parent: Some(0),
        rest: Transform::from_translation(Vec3::new(0.1, -0.95, 0.3)),
    };
    for joint in ["IK-foot.l", "control-toe-roll.l", "kneeIK.r", "handIK.r"] {
        with_controls.joints.insert(1, control(joint));
        for joint in &mut with_controls.joints[2..] {
            joint.parent = joint.parent.map(|p| if p >= 1 { p + 1 } else { p });
        }
    }
    let humanoid = Humanoid::of(&with_controls);
    for (_, j) in &humanoid.joints {
        let name = &with_controls.joints[*j].name;
        assert!(!name.contains("IK") && !name.contains("control"), "{name}");
    }
    assert!(humanoid.missing().is_empty());
}

#[test]
fn a_character_that_faces_backwards_has_its_left_where_its_toes_say() {
    let names = |n: [&'static str; 8]| n;
    let skeleton = rig(
        "n0",
        &["n1", "n2", "n3"],
        &["n4"],
        "n5",
        [names(eight("a0, a1, a2, a3, b0, b1, b2, b3")), names(eight("c0, c1, c2, c3, d0, d1, d2, d3"))],
    );
    let mut turned = skeleton.clone();
    for joint in &mut turned.joints {
        // Turned by 180° about the vertical: x and z change their signs.
        joint.rest.translation *= Vec3::new(-1.0, 1.0, -1.0);
    }
    let (forwards, backwards) = (Humanoid::of(&skeleton), Humanoid::of(&turned));
    assert_eq!(forwards.joint(Role::LeftFoot), backwards.joint(Role::LeftFoot));
    assert!(forwards.joint(Role::LeftFoot).is_some());
}

#[test]
fn skeletons_that_are_no_humans_find_nothing_and_do_not_panic() {
    assert_eq!(Humanoid::of(&Skeleton::default()), Humanoid::default());
    let chain: Vec<Joint> = (0..40)
        .map(|j| Joint {
            name: format!("link {j}"),
            parent: (j as usize).checked_sub(1),
            rest: Transform::from_translation(Vec3::new(0.0, f32::NAN, 0.0)),
        })
        .collect();
    let humanoid = Humanoid::of(&Skeleton::new(chain).unwrap());
    assert!(humanoid.missing().len() > 10);
}
