//! A crowd whose garments are simulated in a subspace: few, near, and each with cloth of its own.

use super::{Args, Clip, Times};
use crate::adaptive;
use crate::resolve::{self, BadRequest};
use anyhow::Result;
use glam::{Affine3A, Vec3};
use std::path::Path;
use std::time::Instant;
use toile_assets::Body;
use toile_assets::read::garment::RestChoice;
use toile_run::{Adaptive, Tier};
use toile_simulate::SubspaceSettings;

/// Frames that are not counted: cloth is put on in the first.
const WARMING: usize = 4;

/// Refuses what such a crowd cannot do.
pub fn check(args: &Args) -> Result<()> {
    let mut faults = Vec::new();
    let others = [
        ("--budget-us", args.budget_us.is_some()),
        ("--picture", args.picture.is_some()),
        ("--gpu", args.gpu),
        ("--fabric of several", args.fabric.len() > 1),
    ];
    for (what, _) in others.iter().filter(|o| o.1) {
        faults.push(format!("{what} does not go with a database of the tier adaptive"));
    }
    if args.model.len() > 1 {
        faults.push("one database at a time".into());
    }
    if args.garment.len() != 1 {
        faults.push("a database needs --garment, the one that it was trained on".into());
    }
    if faults.is_empty() { Ok(()) } else { Err(BadRequest(faults.join("\n")).into()) }
}

/// Steps all garments, each from another moment of the motions, and says what a frame costs.
#[allow(clippy::disallowed_methods)] // what a frame costs is what is reported
pub fn run(args: &Args, file: &Path, body: &Body, clips: &[Clip], rate: f64) -> Result<()> {
    let garment = resolve::garment(&args.garment[0], body, RestChoice::Auto, None)?;
    let fabric = resolve::fabric(args.fabric.first().unwrap_or(&garment.fabric))?;
    let database = adaptive::database_for(file, body, &garment)?;
    let one = |_| adaptive::tier(body, &garment, &fabric, &database, SubspaceSettings::default());
    let mut tiers = (0..args.count).map(one).collect::<Result<Vec<Adaptive>>>()?;
    let (mut times, mut held, mut frame) = (Times::default(), 0u64, 0usize);
    let begin = Instant::now();
    while begin.elapsed().as_secs_f64() < args.seconds || frame < WARMING + 6 {
        let start = Instant::now();
        step(&mut tiers, args.threads, |k| bones_of(clips, k, frame), 1.0 / rate)?;
        if frame >= WARMING {
            times.0.push(start.elapsed().as_secs_f64() * 1e3);
            held += tiers.iter().map(|t| u64::from(t.report().held)).sum::<u64>();
        }
        frame += 1;
    }
    times.0.sort_by(f64::total_cmp);
    let [median, p99] = [0.5, 0.99].map(|share| times.at(share));
    let mut vertices = vec![Vec3::ZERO; database.vertices()];
    let whole = tiers.iter().all(|t| {
        t.positions(&mut vertices);
        vertices.iter().all(|p| p.is_finite())
    });
    if args.json {
        let value = serde_json::json!({
            "tier": "adaptive", "count": args.count, "threads": args.threads, "vertices": database.vertices(),
            "triangles_summed": tiers.first().map_or(0, |t| t.subspace().elastic_triangles()), "rate": rate,
            "frames": times.0.len(), "median_ms": median, "p99_ms": p99, "held": held, "finite": whole,
        });
        println!("{value}");
        return Ok(());
    }
    println!(
        "{} garments of {} vertices in a subspace, on {} thread{}: {median:.1} ms a frame (p99 {p99:.1}), {:.2} ms a garment",
        args.count,
        database.vertices(),
        args.threads,
        if args.threads == 1 { "" } else { "s" },
        median / args.count as f64
    );
    Ok(())
}

/// The pose of a garment's wearer: neighbours are at other moments.
fn bones_of(clips: &[Clip], garment: usize, frame: usize) -> &[Affine3A] {
    let bones = &clips[garment % clips.len()].bones;
    &bones[(frame + 7 * garment) % bones.len()]
}

/// Steps garments side by side; each is computed by one thread, so the result does not depend on how many there are.
fn step<'a>(
    tiers: &mut [Adaptive],
    threads: usize,
    bones: impl Fn(usize) -> &'a [Affine3A] + Sync,
    dt_secs: f64,
) -> Result<()> {
    let share = tiers.len().div_ceil(threads.max(1)).max(1);
    std::thread::scope(|scope| {
        let bones = &bones;
        let work = |(part, tiers): (usize, &mut [Adaptive])| -> Result<()> {
            for (k, tier) in tiers.iter_mut().enumerate() {
                tier.step(bones(part * share + k), dt_secs)?;
            }
            Ok(())
        };
        let handles: Vec<_> =
            tiers.chunks_mut(share).enumerate().map(|part| scope.spawn(move || work(part))).collect();
        handles.into_iter().try_for_each(|h| h.join().expect("a step does not panic"))
    })
}
