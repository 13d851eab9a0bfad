use super::*;
use crate::evaluate;
use crate::models::train::tests::{quick, swaying_takes, tube_body};
use glam::{Affine3A, Quat, Vec3};
use std::sync::Arc;
use toile_assets::{Conditions, Fingerprint, Provenance, RootFrame, Take};
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
    // Two clips a fold.
    let mut takes = draped_takes(&body, 11);
    let training = crate::train(&body, &takes[..10], &settings()).unwrap();
    let report = training.correction.unwrap();
    assert!(report.left_out < 0.6, "{report:?}");
    assert!(report.gate.is_some_and(|g| g.worst <= 1.05), "{report:?}");
    let model = Arc::new(training.model);
    // What is fitted in double precision over whole motions is what runs frame by frame.
    let attachment = model.attachment.clone().unwrap();
    let score = evaluate(&model, &takes[10..], &attachment, None);
    assert!(score.mean_cm < 0.6 * score.skin_cm, "{} of {}", score.mean_cm, score.skin_cm);
    assert!(score.worst_second < 1.05, "{}", score.worst_second);
    // Cloth that was never draped cannot hang.
    takes[0].draped.clear();
    let refused = crate::train(&body, &takes[..6], &settings()).err().unwrap().to_string();
    assert!(refused.contains("draped"), "{refused}");
}

#[test]
fn what_is_not_linear_in_what_shapes_follow_is_foretold() {
    let body = tube_body();
    let mut takes = draped_takes(&body, 11);
    // The farther it is to either side the higher it is, and farther out it falls again.
    for take in &mut takes {
        for f in 0..take.len() {
            let root = take.roots[f];
            for v in 0..4 {
                let own = &mut take.positions[4 * f + v];
                let aside = root.canonical_from_world(own.as_dvec3()).x - (v % 2) as f64;
                own.y += 0.06 * (1.0 - (12.0 * aside).cos()) as f32;
            }
        }
    }
    let training = crate::train(&body, &takes[..10], &settings()).unwrap();
    let model = Arc::new(training.model);
    assert!(
        model.correction.as_ref().is_some_and(|c| c.anchor_count() > 50),
        "nearness to anchors is worth it"
    );
    let attachment = model.attachment.clone().unwrap();
    let score = evaluate(&model, &takes[10..], &attachment, None);
    assert!(score.mean_cm < 0.35 * score.skin_cm, "{} of {}", score.mean_cm, score.skin_cm);
}

/// Upright, forward at one metre a second.
fn going(body: &Body, frame: usize) -> (RootFrame, [Affine3A; 2]) {
    let position = glam::DVec3::Z * (frame as f64 / 30.0);
    let world = Affine3A::from_translation(position.as_vec3());
    let joint = world * Affine3A::from_translation(Vec3::Y) * body.joint_from_bind[1];
    (RootFrame { position, heading: 0.0 }, [world, joint])
}

#[test]
fn poses_far_from_training_leave_the_garment_skinned() {
    let body = tube_body();
    let takes = draped_takes(&body, 6);
    let model = Arc::new(crate::train(&body, &takes, &settings()).unwrap().model);
    let mut learned = Stable::new(model.clone());
    let mut frame = 0;
    // How far the farthest coefficient is from none, that of skinned cloth, going forward as training does.
    let mut corrected = |bend: f32, frames: usize| {
        for _ in 0..frames {
            frame += 1;
            let (root, mut bones) = going(&body, frame);
            // The cloth hangs on the hips, which are upright all through training.
            bones.iter_mut().for_each(|b| *b *= Affine3A::from_quat(Quat::from_rotation_x(bend)));
            learned.step_with_root(&bones, &root, 1.0 / model.fps).unwrap();
        }
        learned.coefficients().iter().map(|y| y.abs()).fold(0.0, f32::max)
    };
    assert!(corrected(0.0, 20) > 1e-3, "a pose that training saw is corrected");
    assert!(corrected(1.0, 2) > 1e-3, "the gate does not slam");
    assert_eq!(corrected(1.0, 20), 0.0, "and then it is shut");
    assert!(corrected(0.0, 20) > 1e-3, "it opens again");
}

#[test]
fn standing_in_the_bind_pose_it_is_as_it_was_draped() {
    let body = tube_body();
    let mut takes = draped_takes(&body, 6);
    // Whatever else it does, in every clip it is 3 cm too high.
    takes.iter_mut().for_each(|take| take.positions.iter_mut().for_each(|p| p.y += 0.03));
    let model = Arc::new(crate::train(&body, &takes, &settings()).unwrap().model);
    let size = |moves: usize| {
        let mut learned = Stable::new(model.clone());
        for frame in 0..60 {
            let (root, bones) = going(&body, moves * frame);
            learned.step_with_root(&bones, &root, 1.0 / model.fps).unwrap();
        }
        learned.coefficients().iter().map(|y| y * y).sum::<f32>().sqrt()
    };
    let (rest, walk) = (size(0), size(1));
    assert!(rest < 0.9 * walk, "{rest} at rest, {walk} in a clip");
}

/// Takes of a cloth that sways less the heavier it is (`cloth`, −1 to 1) and is lifted by a wind from below.
fn in_surroundings(body: &Body, cloth: f64, wind: f64) -> Vec<Take> {
    let mut takes = draped_takes(body, 5);
    for take in &mut takes {
        let (sway, lift) = ((1.0 - 0.4 * cloth) as f32, Vec3::Y * (0.04 * wind * (1.0 - 0.3 * cloth)) as f32);
        for f in 0..take.len() {
            let root = take.roots[f];
            for v in 0..4 {
                let own = &mut take.positions[4 * f + v];
                let corner = glam::DVec3::new((v % 2) as f64, (v / 2) as f64, 0.0);
                let rest = root.world_from_canonical(corner).as_vec3();
                *own = rest + (*own - rest) * sway + lift;
            }
        }
        let conditions = Conditions {
            wind: [0.0, wind, 0.0],
            cloth: Some([-4.0 + cloth, -1.5 + 0.5 * cloth, 7.0, 4.0, -4.0]),
            ..Conditions::default()
        };
        let print = Fingerprint(1);
        let (solver, clip) = (Fingerprint(cloth.to_bits() ^ wind.to_bits()), print);
        let (garment, fabric) = (print, Fingerprint(cloth.to_bits()));
        take.provenance =
            Some(Provenance { body: body.fingerprint(), garment, fabric, solver, clip, conditions });
    }
    takes
}

#[test]
fn a_cloth_and_a_wind_between_those_of_training_are_heard() {
    let body = tube_body();
    let mut takes = Vec::new();
    for (cloth, wind) in
        [(-1.0, 0.0), (-0.3, 0.0), (0.4, 0.0), (1.0, 0.0), (-1.0, 3.0), (1.0, 3.0), (0.0, 1.5)]
    {
        takes.extend(in_surroundings(&body, cloth, wind).into_iter().take(4));
    }
    let refused = crate::train(&body, &takes, &settings()).err().unwrap().to_string();
    assert!(refused.contains("another fabric") && refused.contains("other settings"), "{refused}");
    let hears = Settings { surroundings: true, ..settings() };
    let model = Arc::new(crate::train(&body, &takes, &hears).unwrap().model);
    assert_eq!(model.hears().unwrap().axes(), 1);
    let attachment = model.attachment.clone().unwrap();
    let off = |takes: &[Take]| evaluate(&model, takes, &attachment, None);
    let unseen: Vec<Take> = in_surroundings(&body, 0.1, 2.0).split_off(4);
    let score = off(&unseen);
    assert!(score.mean_cm < 0.5 * score.skin_cm, "{} of {}", score.mean_cm, score.skin_cm);
    // Told the wrong cloth, or no wind, it is farther off.
    let mut lied = unseen.clone();
    lied[0].provenance.as_mut().unwrap().conditions.cloth = takes[0].provenance.unwrap().conditions.cloth;
    assert!(off(&lied).mean_cm > 1.2 * score.mean_cm, "{} for {}", off(&lied).mean_cm, score.mean_cm);
    lied[0] = unseen[0].without_wind();
    assert!(off(&lied).mean_cm > 1.5 * score.mean_cm, "{} for {}", off(&lied).mean_cm, score.mean_cm);
    // Takes that do not say what they are of cannot be told apart.
    takes[3].provenance = None;
    let refused = crate::train(&body, &takes, &hears).err().unwrap().to_string();
    assert!(refused.contains("what cloth"), "{refused}");
}
