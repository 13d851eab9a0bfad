//! Springs as long as they must be for cloth to hang as it was draped.

use super::LayeredSettings;
use super::floating::Cloth;
use glam::{Affine3A, Vec3};
use toile_model::layers::{Layers, Spring};

/// Rounds of letting it hang and mending lengths; each leaves about a third of what the one before left.
const ROUNDS: usize = 4;
/// Frames of 1/30 s in each.
const FRAMES: usize = 45;
/// Most that a length may be changed by in a round.
const MOST: f32 = 0.06;

/// Floating cloth that was draped by other means than these springs would sag or spread when it is first let go. Lets it
/// hang on the bind pose and shortens what has become longer, so that the drape is where it rests. Once for each garment,
/// some tens of milliseconds.
pub fn balance(layers: &mut Layers, settings: &LayeredSettings) {
    let rest = layers.attachment.rest.clone();
    let joints = layers.attachment.skin.joint_count();
    let limbs = layers.floating.iter().flat_map(|f| &f.limbs).map(|l| usize::from(l.joint) + 1).max();
    let bones = vec![Affine3A::IDENTITY; joints.max(limbs.unwrap_or(0))];
    let Some(floating) = &mut layers.floating else { return };
    for _ in 0..ROUNDS {
        let mut cloth = Cloth::new(floating);
        let mut now = rest.clone();
        cloth.start(floating, &now);
        for _ in 0..FRAMES {
            cloth.step(floating, &bones, 1.0 / 30.0, settings.step_secs, &mut now);
            cloth.slow_down();
        }
        if !cloth.is_finite() {
            return;
        }
        let vertices: Vec<u32> = floating.free.iter().chain(&floating.held).copied().collect();
        let length = |p: &[Vec3], s: &Spring| {
            let [a, b] = s.ends.map(|e| vertices[e as usize] as usize);
            p[a].distance(p[b])
        };
        for s in floating.edges.iter_mut().chain(&mut floating.bends) {
            let ratio = length(&rest, s) / length(&now, s).max(1e-6);
            s.length_m *= ratio.clamp(1.0 - MOST, 1.0 + MOST);
        }
    }
}
