//! One garment goes from skinned to learned while it is worn: both tiers run for a third of a second and are mixed.

#[path = "tailor/mod.rs"]
mod tailor;

use glam::Vec3;
use toile::assets::{AttachmentSettings, attach};
use toile::run::{Skinned, Stable, Tier};

/// Frames over which the one goes over into the other.
const MIXED: usize = 10;
/// The first of them.
const FROM: usize = 12;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tailor::Tailored { body, garment, takes, model } = tailor::skirt()?;
    let attachment = match &model.attachment {
        Some(own) => own.clone(),
        None => attach(&body, &garment.sim, &AttachmentSettings::default())?,
    };
    let take = &takes[1];
    // Far away a skinned mesh will do; when its wearer comes near, the learned garment takes over.
    let mut far = Skinned::new(attachment);
    let mut near = Stable::new(model.clone());
    let (mut a, mut b) = (vec![Vec3::ZERO; model.vertices], vec![Vec3::ZERO; model.vertices]);
    let mut shown: Vec<Vec<Vec3>> = Vec::new();
    for f in 0..take.len() {
        let bones = take.frame_bones(f);
        far.step(bones, 1.0 / take.fps)?;
        far.positions(&mut a);
        if f >= FROM {
            // It starts from the pose of its first step, so it needs no running up.
            near.step(bones, 1.0 / take.fps)?;
            near.positions(&mut b);
        }
        let share = (f as f32 - FROM as f32 + 1.0).clamp(0.0, MIXED as f32) / MIXED as f32;
        shown.push(a.iter().zip(&b).map(|(a, b)| if f < FROM { *a } else { a.lerp(*b, share) }).collect());
    }
    let moved = |f: usize| {
        let apart = shown[f].iter().zip(&shown[f - 1]).map(|(p, q)| p.distance(*q));
        100.0 * apart.fold(0.0, f32::max)
    };
    let before = (1..FROM).map(moved).fold(0.0, f32::max);
    let during = (FROM..FROM + MIXED).map(moved).fold(0.0, f32::max);
    println!("a vertex moves {before:.1} cm a frame at most before the hand-over, {during:.1} cm during it");
    assert!(during < before + 6.0, "nothing jumps");
    assert!(shown[take.len() - 1] == b, "and in the end it is the learned garment alone");
    Ok(())
}
