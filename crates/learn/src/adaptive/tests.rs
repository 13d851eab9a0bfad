use super::*;
use crate::models::train::tests::{swaying_takes, tube_body};
use toile_assets::Take;
use toile_model::RootTracker;

/// Takes that know how their garment was draped.
fn takes(clips: usize, frames: usize) -> (Body, Vec<Take>) {
    let body = tube_body();
    let mut takes = swaying_takes(&body, clips, frames);
    for take in &mut takes {
        take.draped =
            [[0.2, 0.5, 0.0], [0.2, 1.0, 0.0], [0.0, 0.5, 0.2], [0.0, 1.0, 0.2]].map(Into::into).to_vec();
    }
    (body, takes)
}

fn few() -> AdaptiveSettings {
    AdaptiveSettings::default().with(|s| (s.sites, s.least_significance, s.half) = (5, 0.0, false))
}

#[test]
fn sites_partition_the_frames_and_their_bases_hold_what_cloth_does_there() {
    let (body, takes) = takes(3, 80);
    let training = train_adaptive(&body, &takes, &few(), &|_| ()).unwrap();
    let d = &training.database;
    assert_eq!(d.sites.iter().map(|s| s.frames).sum::<usize>(), 240);
    assert!(d.sites.len() == 5 && d.sites.iter().all(|s| s.frames >= 8));
    // Four vertices have twelve directions, and twelve vectors a site are kept: nothing is left.
    assert!(
        training.left_m < 1e-3 * training.displacement_m,
        "{} of {}",
        training.left_m,
        training.displacement_m
    );
    let one = train_adaptive(&body, &takes, &few().with(|s| s.vectors = 1), &|_| ()).unwrap();
    assert!(one.left_m > 2.0 * training.left_m && one.left_m < one.displacement_m);
    for k in 0..d.vector_count() {
        let largest = d.vector(k).iter().fold(0.0f32, |most, v| most.max(v.abs()));
        assert!((largest - 1.0).abs() < 1e-6);
    }
}

#[test]
fn cloth_that_is_put_on_hangs_as_in_the_nearest_training_frame() {
    let (body, takes) = takes(3, 80);
    let d = train_adaptive(&body, &takes, &few(), &|_| ()).unwrap().database;
    assert!(d.hangs.len() >= d.sites.len() && d.hangs.len() <= 32 * d.sites.len());
    // The first frame of all is the first of its site, which is always kept.
    let take = &takes[0];
    let pose = d.pose(&take.roots[0], take.frame_bones(0));
    let (truth, _) = crate::spaces::unpose::unposed_above(
        LEAST_STRETCH,
        &d.attachment,
        take.frame_bones(0),
        take.frame(0),
    );
    let hanging = d.hanging(&pose).unwrap();
    for (v, (a, b)) in hanging.iter().zip(&truth).enumerate() {
        assert!(a.distance(*b) < 1e-3 * b.length() + 1e-5, "vertex {v}: {a} instead of {b}");
    }
    // Of several frames in one pose the first counts, however poses are rounded.
    let mut again = d.clone();
    let first = again.hangs[0].clone();
    let late =
        Hang { place: first.place.iter().map(|v| v + 1e-6).collect(), along: vec![9.0], ..first.clone() };
    again.hangs.push(late.clone());
    assert_eq!(again.hanging(&late.place), again.hanging(&first.place));
    // Far from every frame nothing is known.
    assert_eq!(d.hanging(&vec![1e3; d.pose_dims()]), None);
}

#[test]
fn pose_coordinates_are_white_and_found_again_from_bones_alone() {
    let (body, takes) = takes(2, 120);
    let mut database = train_adaptive(&body, &takes, &few(), &|_| ()).unwrap().database;
    // The tube has no legs that would say where it faces; its only root does.
    database.hips =
        toile_model::HipLine { joints: [0; 3], bind: [glam::Vec3::ZERO, glam::Vec3::X, glam::Vec3::NEG_X] };
    let dims = database.pose_dims();
    let mut squares = vec![0.0f64; dims];
    for take in &takes {
        for f in 0..take.len() {
            let pose = database.pose(&take.roots[f], take.frame_bones(f));
            squares.iter_mut().zip(&pose).for_each(|(sum, v)| *sum += f64::from(v * v));
        }
    }
    for s in &squares {
        assert!((s / 240.0 - 1.0).abs() < 1e-3, "variance {}", s / 240.0);
    }
    // Another place and heading of the same pose is the same point.
    let bones = takes[0].frame_bones(30);
    let carried =
        glam::Affine3A::from_rotation_y(0.8) * glam::Affine3A::from_translation([3.0, 0.0, -2.0].into());
    let moved: Vec<_> = bones.iter().map(|b| carried * *b).collect();
    let at = |bones: &[glam::Affine3A]| {
        let mut tracker = RootTracker::NEW;
        database.pose(&database.root(bones, &mut tracker), bones)
    };
    for (a, b) in at(bones).iter().zip(at(&moved)) {
        assert!((a - b).abs() < 1e-3, "{a} {b}");
    }
}

#[test]
fn the_same_seed_gives_the_same_database_and_a_file_gives_it_back() {
    let (body, takes) = takes(2, 60);
    let train =
        |seed| train_adaptive(&body, &takes, &few().with(|s| s.seed = seed), &|_| ()).unwrap().database;
    let database = train(4);
    assert_eq!(database, train(4));
    let path = std::env::temp_dir().join(format!("adaptive-{}.toile", std::process::id()));
    database.write(&path).unwrap();
    assert_eq!(Database::read(&path).unwrap(), database);
    let half = Database { half: true, ..database.clone() };
    half.write(&path).unwrap();
    let read = Database::read(&path).unwrap();
    assert!(read.half && read.vectors.iter().zip(&half.vectors).all(|(a, b)| (a - b).abs() < 5e-4));
    // Any byte that changes is noticed, and nothing panics.
    let bytes = std::fs::read(&path).unwrap();
    for at in (0..bytes.len()).step_by(97) {
        let mut broken = bytes.clone();
        broken[at] ^= 0x10;
        let _ = Database::from_bytes(&broken);
        assert!(Database::from_bytes(&bytes[..at]).is_err());
    }
    let mut broken = bytes.clone();
    let last = broken.len() - 9;
    broken[last] ^= 0x10;
    assert!(Database::from_bytes(&broken).unwrap_err().to_string().contains("sum"));
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn takes_that_do_not_belong_together_or_are_too_short_are_refused_with_all_reasons() {
    let (body, mut takes) = takes(3, 40);
    takes[1].fps = 60.0;
    takes[2].triangles.pop();
    let why = train_adaptive(&body, &takes, &few(), &|_| ()).unwrap_err().to_string();
    assert!(why.contains("clip1") && why.contains("clip2"), "{why}");
    let (body, takes) = self::takes(2, 6);
    let why = train_adaptive(&body, &takes, &few(), &|_| ()).unwrap_err().to_string();
    assert!(why.contains("12 frames for 5 sites") && why.contains("clip0") && why.contains("clip1"), "{why}");
}
