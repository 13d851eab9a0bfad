//! Springs as long as they must be, and cloth as light as it must be, to hang as it was draped.

use super::LayeredSettings;
use super::floating::Cloth;
use glam::{Affine3A, Vec3};
use toile_model::layers::{Floating, Layers, Spring};

/// Rounds of letting it hang and mending lengths.
const ROUNDS: usize = 4;
/// Rounds of letting it hang and easing what is left.
const EASING_ROUNDS: usize = 6;
/// Frames of 1/30 s in each.
const FRAMES: usize = 45;
/// Most that a length may be changed by in a round.
const MOST: f32 = 0.06;
/// Acceleration for a metre out of place in a round, 1/s², and the most there may be in all, m/s²: a drape is also held
/// by folds that springs do not have, but it must stay cloth that hangs.
const EASES: f32 = 60.0;
const MOST_EASED: f32 = 3.0;

/// Floating cloth that was draped by other means than these springs would sag or spread when it is first let go. Lets it
/// hang on the bind pose, shortens what has become longer, then eases the weight of what is still out of place, so that
/// the drape is where it rests. Once for each garment, some tens of milliseconds.
pub fn balance(layers: &mut Layers, settings: &LayeredSettings) {
    let rest = layers.attachment.rest.clone();
    let bones = vec![Affine3A::IDENTITY; layers.joints];
    let hips = usize::from(layers.hips.0);
    let Some(floating) = &mut layers.floating else { return };
    let vertices: Vec<u32> = floating.free.iter().chain(&floating.held).copied().collect();
    for _ in 0..ROUNDS {
        let Some(now) = hung(floating, &rest, &bones, hips, settings) else { return };
        let length = |p: &[Vec3], s: &Spring| {
            let [a, b] = s.ends.map(|e| vertices[e as usize] as usize);
            p[a].distance(p[b])
        };
        for s in floating.edges.iter_mut().chain(&mut floating.bends) {
            let ratio = length(&rest, s) / length(&now, s).max(1e-6);
            s.length_m *= ratio.clamp(1.0 - MOST, 1.0 + MOST);
        }
    }
    for _ in 0..EASING_ROUNDS {
        let Some(now) = hung(floating, &rest, &bones, hips, settings) else { return };
        for (eased, v) in floating.eased.iter_mut().zip(&floating.free) {
            let out_of_place = rest[*v as usize] - now[*v as usize];
            *eased = (*eased + EASES * out_of_place).clamp_length_max(MOST_EASED);
        }
    }
}

/// Where the cloth comes to hang; `None` where it does not.
fn hung(
    floating: &Floating,
    rest: &[Vec3],
    bones: &[Affine3A],
    hips: usize,
    settings: &LayeredSettings,
) -> Option<Vec<Vec3>> {
    let mut cloth = Cloth::new(floating);
    let mut now = rest.to_vec();
    cloth.start(floating, &now);
    for _ in 0..FRAMES {
        cloth.step(floating, bones, hips, 1.0 / 30.0, settings.step_secs, &mut now);
        cloth.slow_down();
    }
    cloth.is_finite().then_some(now)
}
