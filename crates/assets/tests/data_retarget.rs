//! Retargeting measured against another program's retargeting of the same clips to the same body. Runs where
//! `TOILE_DATA` names the folder with the data.
#![cfg(feature = "io")]

use std::path::PathBuf;
use toile_assets::read::{bvh, gltf};
use toile_assets::retarget::{RetargetSettings, retarget};
use toile_assets::{Body, Humanoid, Motion, Role};

fn data() -> Option<PathBuf> {
    let folder = std::env::var_os("TOILE_DATA").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: TOILE_DATA names no folder");
    }
    folder
}

/// The clips of the data: file, animation in the reference, outward rotation of the arms in it.
fn clips(data: &std::path::Path) -> Vec<(PathBuf, String, f32)> {
    let text = std::fs::read_to_string(data.join("motion/clips.json")).unwrap();
    let list: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    let clip = |c: &serde_json::Value| {
        let text = |key: &str| c[key].as_str().unwrap().to_string();
        let arms = c["retarget_arm_abduction_deg"].as_f64().unwrap() as f32;
        (data.join(text("file")), text("glb_animation"), arms)
    };
    list.iter().map(clip).collect()
}

fn percentile(mut values: Vec<f32>, share: f32) -> f32 {
    values.sort_by(f32::total_cmp);
    values.get(((values.len() as f32 - 1.0) * share) as usize).copied().unwrap_or(f32::NAN)
}

/// Distances in centimetres between joints of two motions, every fourth frame of the first (120 Hz) against
/// every frame of the second (30 Hz): trunk and legs, then arms. The joints of the fingers' tips are left out:
/// the reference moves them by channels that hold no captured data.
fn distances(body: &Body, ours: &Motion, theirs: &Motion) -> (Vec<f32>, Vec<f32>) {
    let humanoid = Humanoid::of(&body.skeleton);
    let uppers = [Role::LeftUpperArm, Role::RightUpperArm].map(|r| humanoid.joint(r).unwrap());
    let is_arm =
        |j: usize| uppers.iter().any(|&u| j != u && !Humanoid::path(&body.skeleton, u, j).is_empty());
    let (mut trunk, mut arms) = (Vec::new(), Vec::new());
    for (f, pose) in theirs.poses.iter().enumerate() {
        let a = body.skeleton.world_from_joints(&ours.poses[4 * f]);
        let b = theirs.skeleton.world_from_joints(pose);
        for (j, joint) in body.skeleton.joints.iter().enumerate() {
            let k = theirs.skeleton.find(&joint.name).unwrap();
            let apart = 100.0 * a[j].translation.distance(b[k].translation);
            if joint.name.ends_with("Finger1") {
                continue;
            }
            if is_arm(j) { arms.push(apart) } else { trunk.push(apart) }
        }
    }
    (trunk, arms)
}

#[test]
fn clips_agree_with_the_reference_and_feet_stand() {
    let Some(data) = data() else { return };
    let reference = data.join("character/mh_female_cmu48_30hz.glb");
    let body = gltf::read_body(data.join("character/mh_female.glb"), None).unwrap().value;
    let animations = gltf::read_motions(&reference, None, 30.0).unwrap().value;
    // A quarter of them: the tests should take seconds.
    let clips: Vec<_> = clips(&data).into_iter().step_by(4).collect();
    let (mut trunk, mut arms, mut held) = (Vec::new(), Vec::new(), Vec::new());
    for (file, animation, abduction) in &clips {
        let loaded = bvh::read_motion(file, None).unwrap();
        assert!(loaded.problems.is_empty(), "{}: {:?}", file.display(), loaded.problems);
        assert!(loaded.notes.iter().any(|n| n.contains("T-pose")), "{:?}", loaded.notes);
        assert!(loaded.notes.iter().any(|n| n.contains("0.056444")), "{:?}", loaded.notes);
        let motion = loaded.value;
        let theirs = animations.iter().find(|m| m.name == *animation).unwrap();

        let plain = RetargetSettings::default().with(|s| {
            s.arm_abduction_deg = Some(*abduction);
            s.plant_feet = false;
        });
        let (ours, _) = retarget(&motion, &body, &plain).unwrap();
        let (t, a) = distances(&body, &ours, theirs);
        trunk.extend(t);
        arms.extend(a);

        let (ours, report) = retarget(&motion, &body, &RetargetSettings::default()).unwrap();
        held.extend(distances(&body, &ours, theirs).0);
        let what = format!("{animation}: {report:?}");
        assert!(report.foot_slide_cm < 2.5, "{what}");
        assert!(report.sole_depth_cm < 0.3 && report.stance_gap_cm < 1.5, "{what}");
    }
    let (trunk, arms, held) = (percentile(trunk, 0.95), percentile(arms, 0.95), percentile(held, 0.95));
    println!(
        "95 %: trunk and legs {trunk:.2} cm, arms {arms:.2} cm, trunk and legs with feet held {held:.2} cm"
    );
    assert!(trunk < 2.0, "{trunk} cm");
    assert!(arms < 3.0, "{arms} cm");
    // Feet of the reference float and slide by centimetres while they stand, so holding them departs from it.
    assert!(held < 5.0, "{held} cm");
}

#[test]
fn arms_are_spread_as_far_as_in_the_reference() {
    let Some(data) = data() else { return };
    let body = gltf::read_body(data.join("character/mh_female.glb"), None).unwrap().value;
    let settings = RetargetSettings::default().with(|s| {
        s.arm_abduction_deg = None;
        s.plant_feet = false;
    });
    let clips = clips(&data);
    let mut apart = Vec::new();
    let mut far = Vec::new();
    for (file, animation, abduction) in &clips {
        let motion = bvh::read_motion(file, None).unwrap().value;
        let (_, report) = retarget(&motion, &body, &settings).unwrap();
        apart.push((report.arm_abduction_deg - abduction).abs());
        if apart.last().is_some_and(|a| *a > 5.0) {
            far.push((animation, report.arm_abduction_deg, abduction));
        }
    }
    let mean = apart.iter().sum::<f32>() / apart.len() as f32;
    let most = apart.iter().copied().fold(0.0, f32::max);
    println!("spread of the arms in {} clips: {mean:.1}° apart on average, {most}° at most", clips.len());
    assert!(far.is_empty(), "clip, ours, the reference's: {far:?}");
}

#[test]
fn rigs_of_all_conventions_take_a_walk() {
    let Some(data) = data() else { return };
    let walk = bvh::read_motion(data.join("motion/train/16_47.bvh"), None).unwrap().value;
    for file in [
        "character/mh_male.glb",
        "extras/mesh2motion_human_male.glb",
        "extras/CesiumMan.glb",
        "extras/RiggedFigure.glb",
        "extras/KayKit_Mage.glb",
    ] {
        let body = gltf::read_body(data.join(file), None).unwrap().value;
        let table = body.humanoid().table(&body.skeleton);
        let (out, report) = retarget(&walk, &body, &RetargetSettings::default())
            .unwrap_or_else(|e| panic!("{file}: {e}\n{table}"));
        assert!(report.foot_slide_cm < 3.0 && report.sole_depth_cm < 0.5, "{file}: {report:?}");
        let head = body.humanoid().joint(Role::Head).unwrap();
        let hips = body.humanoid().joint(Role::Hips).unwrap();
        for pose in &out.poses {
            let world = body.skeleton.world_from_joints(pose);
            let up = (world[head].translation - world[hips].translation).normalize();
            assert!(up.y > 0.9, "{file}: a walker is upright\n{table}");
        }
    }
}
