//! A crowd of many ways: garments come and go between learned, skinned and tiers of their own, and nothing jumps.

mod synthetic;

use glam::Vec3;
use std::sync::Arc;
use synthetic::{SMALL, actor, bones, corrected};
use toile_model::{Attachment, Model};
use toile_run::{Crowd, CrowdSettings, Error, HandOverSettings, MakeTier, Skinned, Tier, Troupe, Way};

const DT: f64 = 1.0 / 60.0;

/// A tier that follows the bones, 6 cm beside where the model's own skin is.
fn aside(model: &Model) -> MakeTier {
    let own = model.attachment.clone().unwrap();
    let rest = own.rest.iter().map(|p| *p + Vec3::X * 0.06).collect();
    let attachment = Attachment { rest, ..own };
    Arc::new(move || Ok(Box::new(Skinned::new(attachment.clone())) as Box<dyn Tier + Send>))
}

fn troupe(model: &Arc<Model>, count: usize, threads: usize) -> Troupe {
    let crowd = CrowdSettings::default().with(|s| s.threads = threads);
    let mut troupe = Troupe::new(crowd, HandOverSettings::default());
    let refuses: MakeTier = Arc::new(|| Err(Error::NoHips));
    let kind = troupe.add_kind(model.clone(), count, vec![aside(model), refuses]).unwrap();
    (0..count).for_each(|_| assert!(troupe.add(kind).is_ok()));
    troupe
}

fn step(troupe: &mut Troupe, frame: usize) {
    for who in 0..troupe.len() {
        let secs = frame as f64 * DT;
        troupe.set_pose(who, &actor(who, secs), &bones(SMALL, who, secs as f32)).unwrap();
    }
    troupe.step(DT).unwrap();
}

#[test]
fn up_down_and_fewer_dims_go_over_without_a_jump() {
    let model = Arc::new(corrected(SMALL, 3));
    let mut troupe = troupe(&model, 70, 2);
    // The first changes its way again and again, its neighbour's twin never does.
    let ways = [
        (40, Way::Solo(0)),
        (140, Way::Crowd { dims: 4 }),
        (260, Way::Crowd { dims: 0 }),
        (360, Way::Crowd { dims: model.cloth_dims }),
    ];
    let mut frames: Vec<Vec<Vec3>> = Vec::new();
    let mut solo = 0;
    for f in 0..460 {
        if let Some((_, way)) = ways.iter().find(|(at, _)| *at == f) {
            troupe.set_way(0, *way).unwrap();
        }
        step(&mut troupe, f);
        solo += usize::from(troupe.is_solo(0));
        frames.push(troupe.vertices(0).unwrap().to_vec());
        assert!(troupe.failures().is_empty());
    }
    assert!(solo > 50, "{solo} frames by a tier of its own");
    let jerk = |f: usize| {
        let off =
            (0..model.vertices).map(|v| (frames[f][v] - 2.0 * frames[f - 1][v] + frames[f - 2][v]).length());
        100.0 * off.fold(0.0, f32::max)
    };
    let usual = (10..40).map(jerk).fold(0.0, f32::max);
    for f in 40..460 {
        assert!(jerk(f) < usual + 1.0, "frame {f}: {} cm off its way, {usual} as usual", jerk(f));
    }
    // In the end it is the crowd's again, bit for bit.
    let mut crowd = Crowd::new(CrowdSettings::default());
    let id = crowd.add_model(model.clone(), 1).unwrap();
    let alone = crowd.add(id).unwrap();
    for f in 0..460 {
        let secs = f as f64 * DT;
        crowd.set_pose(alone, &actor(0, secs), &bones(SMALL, 0, secs as f32)).unwrap();
        crowd.step(DT).unwrap();
    }
    crowd.draw();
    assert!(crowd.vertices(alone).unwrap() == frames[459].as_slice(), "the way back leaves something");
}

#[test]
fn a_tier_that_cannot_be_made_leaves_the_garment_to_the_crowd_and_says_why() {
    let model = Arc::new(corrected(SMALL, 4));
    let mut troupe = troupe(&model, 2, 1);
    step(&mut troupe, 0);
    assert_eq!(troupe.set_way(0, Way::Solo(2)).unwrap_err(), Error::NoTier { tier: 2, tiers: 2 });
    troupe.set_way(0, Way::Solo(1)).unwrap();
    let mut said = Vec::new();
    for f in 1..10 {
        step(&mut troupe, f);
        said.extend(troupe.failures().to_vec());
    }
    assert_eq!(said.len(), 1);
    assert!(said[0].0 == 0 && said[0].1.contains("hip"), "{said:?}");
    assert_eq!(troupe.way(0).unwrap(), Way::Crowd { dims: model.cloth_dims });
    assert_eq!(troupe.set_way(5, Way::Solo(0)).unwrap_err(), Error::Gone);
}
