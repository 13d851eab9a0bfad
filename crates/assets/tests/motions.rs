//! The built-in motions: feet that hold the ground, joints without jerks, and the speeds and angles asked for.

mod motion_measures;

use glam::Vec3;
use motion_measures::{contacts, jerks, skeleton, sole, worlds};
use toile_assets::builtin::motions;
use toile_assets::{Motion, RootTrack, Skeleton};

/// Every name in the list, and variants by parameter.
fn names() -> Vec<String> {
    let more = [
        "walk:0.5",
        "walk:0.8",
        "walk:1.7",
        "walk:2.1",
        "run:2.2",
        "run:2.5",
        "run:4.0",
        "run:4.5",
        "turn:-70",
        "turn:-180",
        "walk-stop:0.8",
        "walk-stop:1.7",
        "run-stop:2.5",
        "walk-turn-stop:-60",
        "walk-stop-twist:-30",
        "walk-run:3.6",
        "jump:0.12",
        "jump:0.35",
    ];
    let listed = motions::list().into_iter().map(|e| e.name.to_string());
    listed.chain(more.map(String::from)).collect()
}

fn make(name: &str) -> Motion {
    motions::motion(name, &skeleton()).unwrap_or_else(|e| panic!("{name}: {e}"))
}

#[test]
fn poses_are_finite_and_rotations_are_units() {
    for name in names() {
        let motion = make(&name);
        for (f, pose) in motion.poses.iter().enumerate() {
            for t in &pose.locals {
                assert!(t.translation.is_finite(), "{name}, frame {f}");
                assert!((t.rotation.length() - 1.0).abs() < 1e-4, "{name}, frame {f}");
            }
        }
    }
}

#[test]
fn lasts_three_to_nine_seconds_at_120_frames_per_second() {
    for name in names() {
        let motion = make(&name);
        assert_eq!(motion.fps, 120.0, "{name}");
        assert!((2.9..9.0).contains(&motion.duration_secs()), "{name}: {} s", motion.duration_secs());
    }
}

#[test]
fn soles_never_sink_into_the_ground() {
    for name in names() {
        let motion = make(&name);
        for (f, world) in worlds(&motion).iter().enumerate() {
            for prefix in ["l", "r"] {
                for (k, (joint, p)) in sole(&motion.skeleton, prefix).into_iter().enumerate() {
                    let y = world[joint].transform_point3(p).y;
                    assert!(y > -0.005, "{name}, frame {f}: point {k} of the {prefix} sole at {y} m");
                }
            }
        }
    }
}

#[test]
fn contact_points_do_not_slide() {
    for name in names() {
        let motion = make(&name);
        let contacts = contacts(&motion);
        for &(since, slid) in &contacts {
            assert!(slid < 0.01, "{name}, from frame {since}: {slid} m");
        }
        assert!(contacts.len() >= 4, "{name}: only {} contacts", contacts.len());
    }
}

#[test]
fn velocities_do_not_jump() {
    for name in names() {
        let motion = make(&name);
        let [speed, change, root] = jerks(&motion);
        let joint = |x: (f32, usize, usize)| &motion.skeleton.joints[x.2].name;
        // A jump of velocity shows in full between two frames. Captured gaits at this rate change by 70 to 160 °/s
        // from frame to frame in walking knees and by 130 to 370 in running ones; at toe-off the toes of a
        // runner snap back.
        let (fastest, sharpest) = match &name {
            n if n.contains("jump") => (1300.0, 900.0),
            n if n.contains("run") => (1250.0, 480.0),
            _ => (850.0, 280.0),
        };
        assert!(speed.0 < fastest, "{name}, frame {}: {} turns at {}°/s", speed.1, joint(speed), speed.0);
        assert!(
            change.0 < sharpest,
            "{name}, frame {}: {} changes by {}°/s",
            change.1,
            joint(change),
            change.0
        );
        assert!(root.0 < 0.4, "{name}, frame {}: the root changes by {} m/s", root.1, root.0);
    }
}

#[test]
fn legs_are_never_overstretched() {
    for name in names() {
        let motion = make(&name);
        let s = &motion.skeleton;
        for (f, world) in worlds(&motion).iter().enumerate() {
            for prefix in ["l", "r"] {
                let [h, k, a] = ["hip", "knee", "ankle"]
                    .map(|n| world[s.find(&format!("{prefix}_{n}")).unwrap()].translation);
                let bend = (k - h).angle_between(a - k).to_degrees();
                assert!(
                    (3.0..135.0).contains(&bend),
                    "{name}, frame {f}: the {prefix} knee is bent by {bend}°"
                );
                // Forward: the knee lies ahead of the line from hip to ankle.
                let root = world[0].transform_vector3a(glam::Vec3A::Z);
                assert!(
                    (k - 0.5 * (h + a)).dot(root) > -0.01,
                    "{name}, frame {f}: {prefix} knee bends backwards"
                );
            }
        }
    }
}

#[test]
fn hands_stay_clear_of_the_hips() {
    for name in names() {
        let motion = make(&name);
        let s = &motion.skeleton;
        let hip = world_x(s, "l_hip");
        for (f, world) in worlds(&motion).iter().enumerate() {
            for prefix in ["l", "r"] {
                for joint in ["wrist", "metacarpal"] {
                    let j = s.find(&format!("{prefix}_{joint}")).unwrap();
                    let p = world[0].inverse().transform_point3a(world[j].translation);
                    if p.y.abs() < 0.16 && p.z.abs() < 0.13 {
                        // Half the hips (0.175 m), 3 cm of air and half a hand.
                        assert!(
                            p.x.abs() > 0.22,
                            "{name}, frame {f}: {prefix}_{joint} at {p} (hip joint at {hip})"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn shins_do_not_pass_through_each_other() {
    // A shin is 10 cm thick at the calf, 7 at the ankle: with the axes this far apart it touches the other at most.
    const APART_M: f32 = 0.07;
    let s = skeleton();
    let more = ["training/walk-slalom", "training/run-slalom", "training/jog-turn-left"].map(String::from);
    for name in names().into_iter().chain(more) {
        for (f, pose) in make(&name).poses.iter().enumerate().step_by(2) {
            let world = s.world_from_joints(pose);
            let at = |joint: &str| Vec3::from(world[s.find(joint).unwrap()].translation);
            let [left, right] = ["l", "r"].map(|side| {
                let (knee, ankle) = (at(&format!("{side}_knee")), at(&format!("{side}_ankle")));
                (0..=20).map(move |k| knee.lerp(ankle, k as f32 / 20.0))
            });
            let apart = left.flat_map(|p| right.clone().map(move |q| p.distance(q)));
            let least = apart.fold(f32::INFINITY, f32::min);
            assert!(least > APART_M, "{name}, frame {f}: {least} m");
        }
    }
}

fn world_x(s: &Skeleton, joint: &str) -> f32 {
    s.world_from_joints(&s.rest_pose())[s.find(joint).unwrap()].translation.x
}

#[test]
fn moves_at_the_speed_asked_for() {
    for (name, speed) in [
        ("walk", 1.3),
        ("walk:0.5", 0.5),
        ("walk:0.8", 0.8),
        ("walk:1.7", 1.7),
        ("run", 3.0),
        ("run:2.5", 2.5),
        ("run:4.0", 4.0),
    ] {
        let motion = make(name);
        let (a, b) =
            (motion.poses[0].locals[0].translation, motion.poses.last().unwrap().locals[0].translation);
        let got = f64::from((b - a).z) / motion.duration_secs();
        assert!((got / speed - 1.0).abs() < 0.03, "{name}: {got} m/s");
        assert!((b - a).x.abs() < 0.08, "{name} drifts by {} m", (b - a).x);
    }
}

#[test]
fn turns_by_the_angle_asked_for() {
    for (name, angle) in [
        ("turn:45", 45.0),
        ("turn:90", 90.0),
        ("turn:-70", -70.0),
        ("turn:180", 180.0),
        ("turn:360", 360.0),
        ("walk-turn-stop:-60", -60.0),
        ("walk", 0.0),
    ] {
        let motion = make(name);
        let track = RootTrack::new(&motion.skeleton, &motion.poses);
        assert_eq!(track.held, 0, "{name}");
        // Over a stride the pelvis turns to and fro; its mean is the heading.
        let mean = |frames: &[toile_assets::RootFrame]| {
            frames.iter().map(|f| f.heading).sum::<f64>() / frames.len() as f64
        };
        let stride = 138;
        let n = track.frames.len();
        let turned = (mean(&track.frames[n - stride..]) - mean(&track.frames[..stride])).to_degrees();
        assert!((turned - angle).abs() < 4.0, "{name}: turned by {turned}°");
    }
}

#[test]
fn stops_are_abrupt_and_leave_two_seconds_of_standing() {
    for (name, speed) in [("walk-stop", 1.3), ("run-stop", 3.0), ("walk-stop:1.7", 1.7)] {
        let motion = make(name);
        let fps = motion.fps as f32;
        let at = |f: usize| motion.poses[f].locals[0].translation;
        let v = |f: usize| ((at(f + 6) - at(f)) * Vec3::new(1.0, 0.0, 1.0)).length() * fps / 6.0;
        let last_fast = (0..motion.len() - 6).rfind(|&f| v(f) > 0.85 * speed).unwrap();
        let first_slow = (last_fast..motion.len() - 6).find(|&f| v(f) < 0.12 * speed).unwrap();
        let took = (first_slow - last_fast) as f32 / fps;
        assert!(took < 0.42, "{name} takes {took} s to stop");
        let standing = (motion.len() - first_slow) as f32 / fps;
        assert!(standing > 1.9, "{name} stands for {standing} s");
        let end = motion.len() - 60;
        let still = (end..motion.len() - 6).map(v).fold(0.0, f32::max);
        assert!(still < 0.01, "{name} still moves at {still} m/s at its end");
    }
}

#[test]
fn runs_leave_the_ground_and_walks_do_not() {
    let airborne = |name: &str| {
        let motion = make(name);
        let worlds = worlds(&motion);
        let up = worlds.iter().filter(|world| {
            ["l", "r"].iter().all(|p| {
                sole(&motion.skeleton, p).iter().all(|&(j, q)| world[j].transform_point3(q).y > 0.004)
            })
        });
        up.count() as f64 / worlds.len() as f64
    };
    for name in ["walk", "walk:0.8", "walk:1.7", "turn:90"] {
        assert_eq!(airborne(name), 0.0, "{name}");
    }
    for name in ["run:2.5", "run", "run:4.0"] {
        let share = airborne(name);
        assert!((0.12..0.5).contains(&share), "{name} is in the air for {share} of the time");
    }
}

#[test]
fn the_same_name_gives_the_same_motion() {
    assert_eq!(make("turn:90"), make("turn:90"));
    assert_ne!(make("walk:1.1").poses, make("walk:1.2").poses);
}

#[test]
fn names_that_mean_nothing_are_refused() {
    for name in
        ["", "walk:", "walk:nan", "walk:9", "run:-3", "turn:9999", "stand:2", "twist:4", "fly", "jump:2"]
    {
        let error = motions::motion(name, &skeleton()).unwrap_err().to_string();
        assert!(!error.is_empty(), "{name}");
    }
    let bare = Skeleton::default();
    assert!(motions::motion("walk", &bare).unwrap_err().to_string().contains("joint"));
}
