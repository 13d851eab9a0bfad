use super::*;
use crate::evaluate;
use crate::models::train::tests::{quick, swaying_takes, tube_body};
use glam::{Affine3A, Quat, Vec3};
use std::sync::Arc;
use toile_assets::{RootFrame, Take};
use toile_run::Stable;

fn draped_takes(body: &Body, clips: usize) -> Vec<Take> {
    let mut takes = swaying_takes(body, clips, 150);
    for take in &mut takes {
        take.draped = (0..4).map(|v| Vec3::new((v % 2) as f32, (v / 2) as f32, 0.0)).collect();
    }
    takes
}

fn settings() -> Settings {
    Settings { kind: ModelKind::D, cloth_dims: 8, mirror: false, shield_frames: 0, ..quick() }
}

#[test]
fn a_correction_is_learned_from_clips_and_foretells_another() {
    let body = tube_body();
    let mut takes = draped_takes(&body, 7);
    let training = crate::train(&body, &takes[..6], &settings()).unwrap();
    let report = training.correction.unwrap();
    assert!(report.left_out < 0.6, "{report:?}");
    assert!(report.gate.is_some_and(|g| g.worst <= 1.05), "{report:?}");
    let model = Arc::new(training.model);
    // What is fitted in double precision over whole motions is what runs frame by frame.
    let attachment = model.attachment.clone().unwrap();
    let score = evaluate(&model, &takes[6..], &attachment, None);
    assert!(score.mean_cm < 0.6 * score.skin_cm, "{} of {}", score.mean_cm, score.skin_cm);
    assert!(score.worst_second < 1.05, "{}", score.worst_second);
    // Cloth that was never draped cannot hang.
    takes[0].draped.clear();
    let refused = crate::train(&body, &takes[..6], &settings()).err().unwrap().to_string();
    assert!(refused.contains("draped"), "{refused}");
}

#[test]
fn poses_far_from_training_leave_the_garment_skinned() {
    let body = tube_body();
    let takes = draped_takes(&body, 6);
    let model = Arc::new(crate::train(&body, &takes, &settings()).unwrap().model);
    let mut learned = Stable::new(model.clone());
    let root = RootFrame { position: glam::DVec3::ZERO, heading: 0.0 };
    // How far the farthest coefficient is from none, that of skinned cloth.
    let mut corrected = |bend: f32, frames: usize| {
        // The cloth hangs on the hips, which are upright all through training.
        let hips = Affine3A::from_quat(Quat::from_rotation_x(bend));
        let bones = [hips, hips * Affine3A::from_translation(Vec3::Y) * body.joint_from_bind[1]];
        for _ in 0..frames {
            learned.step_with_root(&bones, &root, 1.0 / model.fps).unwrap();
        }
        learned.coefficients().iter().map(|y| y.abs()).fold(0.0, f32::max)
    };
    assert!(corrected(0.0, 1) > 1e-3, "a pose that training saw is corrected");
    assert!(corrected(1.0, 2) > 1e-3, "the gate does not slam");
    assert_eq!(corrected(1.0, 20), 0.0, "and then it is shut");
    assert!(corrected(0.0, 20) > 1e-3, "it opens again");
}
