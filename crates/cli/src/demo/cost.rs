//! What a thousand learned garments cost in a game.

use crate::crowd::Clip;
use anyhow::Result;
use glam::{DVec3, Quat};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Instant;
use toile_assets::{Body, Model, Motion, RootFrame};
use toile_run::{Actor, Crowd, CrowdSettings, Instance};

/// What games run at, Hz.
const RATE: f64 = 60.0;
/// Steps before the clock counts.
const WARM: usize = 8;

/// Steps `count` garments on one core for some seconds; each is somewhere else in its clip.
#[allow(clippy::disallowed_methods)] // what it costs is what is reported
pub fn crowd(
    model: &Arc<Model>,
    body: &Body,
    motions: &[Motion],
    count: usize,
    seconds: f64,
) -> Result<Value> {
    let clips: Vec<Clip> = motions.iter().map(|m| Clip::new(body, &m.resampled(RATE))).collect();
    let mut crowd = Crowd::new(CrowdSettings::default().with(|s| s.threads = 1));
    let id = crowd.add_model(model.clone(), count)?;
    let instances: Vec<Instance> = (0..count).map(|_| crowd.add(id)).collect::<Result<_, _>>()?;
    let side = (count as f64).sqrt().ceil() as usize;
    let mut times = Vec::new();
    let begun = Instant::now();
    let mut frame = 0;
    while frame < 2 * WARM || begun.elapsed().as_secs_f64() < seconds {
        let start = Instant::now();
        for (who, &instance) in instances.iter().enumerate() {
            let clip = &clips[who % clips.len()];
            let f = (frame + 7 * who) % clip.bones.len();
            if f == 0 {
                crowd.teleport(instance)?;
            }
            let at = 2.0 * DVec3::new((who % side) as f64, 0.0, (who / side) as f64);
            let root = RootFrame { position: clip.roots[f].position + at, ..clip.roots[f] };
            let actor = Actor { position: at, rotation: Quat::IDENTITY };
            crowd.set_pose_with_root(instance, &actor, &clip.bones[f], &root)?;
        }
        crowd.step(1.0 / RATE)?;
        crowd.draw();
        if frame >= WARM {
            times.push(1e3 * start.elapsed().as_secs_f64());
        }
        frame += 1;
    }
    // Its clock ticks in every other frame, so a frame costs the mean of two; of those the median, which the rest of the
    // machine disturbs least.
    let period = ((RATE / model.fps).round() as usize).max(1);
    let means: Vec<f64> = times.chunks_exact(period).map(|c| c.iter().sum::<f64>() / period as f64).collect();
    let at = |mut list: Vec<f64>, share: f64| {
        list.sort_by(f64::total_cmp);
        list.get((list.len().saturating_sub(1) as f64 * share) as usize).copied().unwrap_or(0.0)
    };
    let (mean_ms, frames) = (at(means, 0.5), times.len());
    let p95_ms = at(times, 0.95);
    Ok(json!({
        "count": count, "threads": 1, "rate": RATE, "instructions": crowd.settings().isa.name(),
        "mean_ms": mean_ms, "p95_ms": p95_ms, "share_of_60hz_percent": 100.0 * mean_ms * RATE / 1e3,
        "garments_per_s": 1e3 * count as f64 / mean_ms, "frames": frames,
    }))
}
