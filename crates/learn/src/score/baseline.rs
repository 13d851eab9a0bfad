//! What the paper compares with (§4, §5.1): the cloth of the nearest training pose, and of its neighbours on average.

use super::project::{mean_distance_cm, project_body, project_cloth};
use crate::Error;
use crate::takes::source::TakeSource;
use toile_assets::{Model, Take};

/// Mean vertex distances of regressions that keep the whole training set, cm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Baselines {
    /// Nearest neighbour.
    pub nearest_cm: f64,
    /// Kernel regression over neighbours.
    pub kernel_cm: f64,
    /// Training frames they have to keep.
    pub kept_frames: usize,
}

/// Neighbours that are averaged; more wash folds out.
const NEIGHBOURS: usize = 16;

/// Scores both on the test takes, in the model's own spaces.
pub fn baselines<S: TakeSource + ?Sized>(
    model: &Model,
    training: &S,
    test: &[Take],
) -> Result<Baselines, Error> {
    let (m, d) = (model.body_dims, model.cloth_dims);
    let (mut bodies, mut cloths) = (Vec::new(), Vec::new());
    for i in 0..training.count() {
        let take = training.take(i)?;
        if take.stop_frame.is_some() {
            continue;
        }
        for f in 0..take.len() {
            bodies.extend(project_body(model, &take, f));
            cloths.extend(project_cloth(model, &take, f));
        }
    }
    let kept_frames = bodies.len() / m.max(1);
    let (mut nearest, mut kernel, mut frames) = (0.0, 0.0, 0usize);
    for take in test.iter().filter(|t| t.stop_frame.is_none()) {
        for f in 0..take.len() {
            let x = project_body(model, take, f);
            let mut by_distance: Vec<(f32, usize)> = bodies
                .chunks_exact(m)
                .enumerate()
                .map(|(i, b)| (b.iter().zip(&x).map(|(a, b)| (a - b).powi(2)).sum::<f32>(), i))
                .collect();
            let count = NEIGHBOURS.min(by_distance.len());
            if count == 0 {
                continue;
            }
            by_distance.select_nth_unstable_by(count - 1, |a, b| a.0.total_cmp(&b.0));
            by_distance.truncate(count);
            by_distance.sort_by(|a, b| a.0.total_cmp(&b.0));
            let y = |i: usize| &cloths[i * d..(i + 1) * d];
            nearest += mean_distance_cm(model, y(by_distance[0].1), take, f);
            // The farthest neighbour's distance is the width of the kernel.
            let width = by_distance[count - 1].0.max(1e-12);
            let mut sum = vec![0.0f32; d];
            let mut whole = 0.0f32;
            for (sq, i) in &by_distance {
                let weight = (-2.0 * sq / width).exp();
                whole += weight;
                sum.iter_mut().zip(y(*i)).for_each(|(s, v)| *s += weight * v);
            }
            sum.iter_mut().for_each(|s| *s /= whole);
            kernel += mean_distance_cm(model, &sum, take, f);
            frames += 1;
        }
    }
    let frames = frames.max(1) as f64;
    Ok(Baselines { nearest_cm: nearest / frames, kernel_cm: kernel / frames, kept_frames })
}
