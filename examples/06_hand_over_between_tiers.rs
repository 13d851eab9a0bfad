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
    let mut learned: Vec<Vec<Vec3>> = Vec::new();
    for f in 0..take.len() {
        ladder.step(take.frame_bones(f), 1.0 / take.fps)?;
        alone.step(take.frame_bones(f), 1.0 / take.fps)?;
        shown.push(vec![Vec3::ZERO; model.vertices]);
        ladder.positions(&mut shown[f]);
        learned.push(vec![Vec3::ZERO; model.vertices]);
        alone.positions(&mut learned[f]);
        if f + 1 == AT {
            ladder.hand_over(near)?;
        }
    }
    let farthest =
        |a: &[Vec3], b: &[Vec3]| 100.0 * a.iter().zip(b).map(|(p, q)| p.distance(*q)).fold(0.0, f32::max);
    let moved = |frames: &[Vec<Vec3>], f: usize| farthest(&frames[f], &frames[f - 1]);
    let most = |frames: &[Vec<Vec3>], from: usize, to: usize| {
        (from..to).map(|f| moved(frames, f)).fold(0.0, f32::max)
    };
    let (during, own) = (most(&shown, AT, take.len()), most(&learned, AT, take.len()));
    let before = most(&shown, 1, AT);
    let left = farthest(&shown[take.len() - 1], &learned[take.len() - 1]);
    println!(
        "a vertex moves {before:.1} cm a frame at most before the hand-over, {during:.1} cm from then on"
    );
    println!("alone, the learned garment moves {own:.1} cm; at the end it is {left:.2} cm away");
    assert!(during < own.max(before) + 1.0, "nothing jumps");
    // The two come together at 0.27 m/s at most: what is left of the way takes the seconds that the ladder says.
    assert!(left < 2.0 + 27.0 * ladder.handing_over_secs());
    Ok(())
}
