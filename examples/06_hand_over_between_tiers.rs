//! One garment goes from skinned to learned while it is worn, from where it is and as fast as it is.

#[path = "tailor/mod.rs"]
mod tailor;

use glam::Vec3;
use toile::assets::{AttachmentSettings, attach};
use toile::run::{HandOverSettings, Ladder, Skinned, Stable, Tier};

/// The frame after which the learned garment takes over.
const AT: usize = 6;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tailor::Tailored { body, garment, takes, model } = tailor::skirt()?;
    let attachment = match &model.attachment {
        Some(own) => own.clone(),
        None => attach(&body, &garment.sim, &AttachmentSettings::default())?,
    };
    let take = &takes[1];
    // Far away a skinned mesh will do; when its wearer comes near, the learned garment takes over.
    let mut ladder = Ladder::new(HandOverSettings::default());
    ladder.add("skin", Box::new(Skinned::new(attachment)))?;
    let near = ladder.add("stable", Box::new(Stable::new(model.clone())))?;
    // The same learned garment from the first frame on, to compare with.
    let mut alone = Stable::new(model.clone());
    let mut shown: Vec<Vec<Vec3>> = Vec::new();
    let mut learned = vec![Vec3::ZERO; model.vertices];
    for f in 0..take.len() {
        ladder.step(take.frame_bones(f), 1.0 / take.fps)?;
        alone.step(take.frame_bones(f), 1.0 / take.fps)?;
        shown.push(vec![Vec3::ZERO; model.vertices]);
        ladder.positions(&mut shown[f]);
        if f + 1 == AT {
            ladder.hand_over(near)?;
        }
    }
    alone.positions(&mut learned);
    let farthest =
        |a: &[Vec3], b: &[Vec3]| 100.0 * a.iter().zip(b).map(|(p, q)| p.distance(*q)).fold(0.0, f32::max);
    let moved = |f: usize| farthest(&shown[f], &shown[f - 1]);
    let before = (1..AT).map(moved).fold(0.0, f32::max);
    let during = (AT..take.len()).map(moved).fold(0.0, f32::max);
    let left = farthest(&shown[take.len() - 1], &learned);
    println!("a vertex moves {before:.1} cm a frame at most before the hand-over, {during:.1} cm during it");
    println!("at the end it is within {left:.2} cm of the learned garment");
    assert!(during < before + 2.0, "nothing jumps");
    assert!(left < farthest(&shown[AT], &shown[AT - 1]) + 5.0);
    Ok(())
}
