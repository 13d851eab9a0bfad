//! A square of cloth falls on a sphere: time per frame, strain, drape and crossings.
//!
//! `cargo run --release -p toile-simulate --example sphere -- 28 [substeps per frame]`

#![allow(clippy::disallowed_methods)] // it reports how long things take

use glam::{DAffine3, DVec3};
use toile_lab::{check, cloths};
use toile_simulate::contact::collider::{Collider, Shape};
use toile_simulate::{Scene, Settings, World};

/// Processor time of this thread in ms, so that a busy machine does not spoil the figure.
fn cpu_ms() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|t| t.parse::<f64>().ok()).unwrap_or(0.0) * 1e-6
}

fn main() -> toile_simulate::Result<()> {
    let args: Vec<f64> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let n = args.first().copied().unwrap_or(28.0) as usize;
    let substeps = args.get(1).copied().unwrap_or(2.0);
    let mut settings = Settings::default().with(|s| {
        s.air_density = 0.0;
        s.max_step_secs = 1.0 / 30.0 / substeps;
    });
    let number = |name: &str| std::env::var(name).ok().and_then(|v| v.parse::<f64>().ok());
    settings.linear_tolerance = number("TOL").unwrap_or(settings.linear_tolerance);
    settings.max_newton = number("NEWTON").map_or(settings.max_newton, |n| n as usize);
    let (mesh, rest) = cloths::rectangle(1.0, 1.0, n - 1, n - 1, cloths::Pattern::Alternating);
    let scene = Scene::new(&mesh, &rest, &cloths::plain(), &settings)?;
    let sphere = Shape::Sphere { radius: 0.3 };
    let mut world = World::new(scene, cloths::lay(&mesh, 0.35), settings)?;
    world.state.colliders.push(Collider::fixed(sphere, DAffine3::IDENTITY));
    let mut times = Vec::new();
    for frame in 0..90 {
        let begun = cpu_ms();
        let report = world.step(&[], 1.0 / 30.0)?;
        times.push(cpu_ms() - begun);
        if frame % 10 == 9 {
            println!(
                "frame {frame}: {:.2} ms newton {} linear {} body {} self {} held {} retries {} crossings {} stretch {:.2} %",
                times[frame],
                report.newton,
                report.linear,
                report.body_contacts,
                report.self_contacts,
                report.held_back,
                report.retries,
                report.crossings,
                100.0 * world.scene.max_stretch(&world.state.x)
            );
        }
    }
    let total: f64 = times.iter().sum();
    let mut middle = times[10..70].to_vec();
    middle.sort_by(f64::total_cmp);
    let x = &world.state.x;
    let lowest = x.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
    let centre = x.iter().zip(&world.scene.mass).map(|(p, m)| *p * *m).sum::<DVec3>()
        / world.scene.mass.iter().sum::<f64>();
    let deepest = x.iter().map(|p| 0.3 - p.length()).fold(0.0, f64::max);
    let mut strains: Vec<f64> = (world.scene.edges.iter().zip(&world.scene.edge_lengths))
        .map(|(e, l)| (x[e[0] as usize].distance(x[e[1] as usize]) / l - 1.0).abs())
        .collect();
    strains.sort_by(f64::total_cmp);
    println!(
        "n {n}: total/90 {:.2} ms, median {:.2}, p95 {:.2}, 1 thread; lowest {lowest:.3} m, centre {:.4} m, deepest {:.2} mm, p99 strain {:.2} %, crossings {}",
        total / 90.0,
        middle[30],
        middle[56],
        centre.y,
        deepest * 1e3,
        100.0 * strains[strains.len() * 99 / 100],
        check::crossings(&world.scene.triangles, &world.scene.edges, x)
    );
    Ok(())
}
