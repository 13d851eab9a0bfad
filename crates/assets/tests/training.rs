//! The built-in sets of motion: feet that hold the ground, joints that keep to what joints do, on any humanoid.

mod motion_measures;

use glam::Quat;
use motion_measures::{contacts, jerks, skeleton, sole, worlds};
use toile_assets::Motion;
use toile_assets::builtin::motions;

fn clips() -> impl Iterator<Item = Motion> {
    let make = |name: String| motions::motion(&name, &skeleton()).unwrap_or_else(|e| panic!("{name}: {e}"));
    motions::set("training").unwrap().into_iter().map(make)
}

#[test]
fn is_ten_minutes_of_named_clips() {
    let names = motions::set("training").unwrap();
    assert!((60..=100).contains(&names.len()), "{} clips", names.len());
    let mut once = names.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), names.len(), "two clips have one name");
    let mut total = 0.0;
    for clip in clips() {
        assert!((4.0..=12.0).contains(&clip.duration_secs()), "{}: {} s", clip.name, clip.duration_secs());
        total += clip.duration_secs();
    }
    assert!((560.0..=640.0).contains(&total), "{total} s");
    for wrong in ["training/", "training/fly", "drill/walk", "training/walk:2"] {
        assert!(motions::motion(wrong, &skeleton()).is_err(), "{wrong}");
    }
    assert!(motions::set("walk").is_none());
}

#[test]
fn feet_stand_on_the_ground_and_do_not_skate() {
    let mut faults = Vec::new();
    for clip in clips() {
        let mut lowest = (0f32, 0);
        for (f, world) in worlds(&clip).iter().enumerate() {
            for (joint, p) in ["l", "r"].iter().flat_map(|side| sole(&clip.skeleton, side)) {
                let y = world[joint].transform_point3(p).y;
                if y < lowest.0 {
                    lowest = (y, f);
                }
            }
        }
        if lowest.0 < -0.006 {
            faults.push(format!("{}, frame {}: sole at {:.1} mm", clip.name, lowest.1, 1e3 * lowest.0));
        }
        let contacts = contacts(&clip);
        if contacts.len() < 4 {
            faults.push(format!("{}: only {} contacts", clip.name, contacts.len()));
        }
        for (since, slid) in contacts {
            if slid > 0.02 {
                faults.push(format!("{}, from frame {since}: slides by {:.0} mm", clip.name, 1e3 * slid));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn joints_neither_jump_nor_go_beyond_their_limits() {
    let mut faults = Vec::new();
    for clip in clips() {
        let s = &clip.skeleton;
        let [speed, change, root] = jerks(&clip);
        // Captured sprints and jumps have ankles of 1,400 °/s.
        for (what, (most, frame, joint), limit) in
            [("turns at", speed, 1400.0), ("changes by", change, 700.0), ("root changes by", root, 0.45)]
        {
            if most > limit {
                faults.push(format!("{}, frame {frame}: {} {what} {most}", clip.name, s.joints[joint].name));
            }
        }
        for (f, (world, pose)) in worlds(&clip).iter().zip(&clip.poses).enumerate() {
            let mut fault = |what: String| faults.push(format!("{}, frame {f}: {what}", clip.name));
            for side in ["l", "r"] {
                let at = |n: &str| world[s.find(&format!("{side}_{n}")).unwrap()].translation;
                let [h, k, a] = ["hip", "knee", "ankle"].map(at);
                let bend = (k - h).angle_between(a - k).to_degrees();
                if !(3.0..142.0).contains(&bend) {
                    fault(format!("{side} knee bent by {bend}°"));
                }
                let hip = pose.locals[s.find(&format!("{side}_hip")).unwrap()].rotation;
                let thigh = Quat::IDENTITY.angle_between(hip).to_degrees();
                if thigh > 135.0 {
                    fault(format!("{side} thigh turned by {thigh}°"));
                }
            }
            for joint in ["vl5", "vl1", "vt6"] {
                let angle = Quat::IDENTITY.angle_between(pose.locals[s.find(joint).unwrap()].rotation);
                if angle.to_degrees() > 42.0 {
                    fault(format!("{joint} bent by {}°", angle.to_degrees()));
                }
            }
        }
    }
    faults.truncate(40);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn fifteen_extremes_stay_on_the_ground() {
    let names = motions::set("extremes").unwrap();
    assert_eq!(names.len(), 15);
    let mut faults = Vec::new();
    for name in &names {
        let clip = motions::motion(name, &skeleton()).unwrap();
        assert_eq!(clip.name, *name);
        assert!((2.0..=12.0).contains(&clip.duration_secs()), "{name}: {} s", clip.duration_secs());
        let (mut lowest, mut standing) = (0f32, 0);
        for world in &worlds(&clip) {
            let soles = ["l", "r"].iter().flat_map(|side| sole(&clip.skeleton, side));
            let y = soles.map(|(j, p)| world[j].transform_point3(p).y).fold(f32::MAX, f32::min);
            lowest = lowest.min(y);
            standing += usize::from(y < 0.02);
        }
        if lowest < -0.015 {
            faults.push(format!("{name}: sole at {:.0} mm", 1e3 * lowest));
        }
        if standing * 3 < clip.len() {
            faults.push(format!("{name}: on the ground in {standing} of {} frames", clip.len()));
        }
        let [speed, change, _] = jerks(&clip);
        if speed.0 > 2600.0 || change.0 > 1500.0 {
            faults.push(format!("{name}: joints at {}°/s, changing by {}°/s", speed.0, change.0));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(motions::motion("extremes/walk", &skeleton()).is_err());
}
