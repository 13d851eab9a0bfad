//! Scenario S: a square metre of cloth falls on a ball. What peers are timed on, with checks that the run is worth
//! timing.

use super::check;
use super::clock::cpu_ms;
use super::cloths::{Pattern, lay, plain, rectangle};
use glam::{DAffine3, DVec3};
use std::time::Instant;
use toile_simulate::Settings;
use toile_simulate::contact::collider::{Collider, Shape};
use toile_simulate::{Result, Scene, World};

const RADIUS: f64 = 0.3;
const FRAMES: usize = 90;

/// How a run went and whether it counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Measures {
    /// Vertices a side.
    pub n: usize,
    /// Wall time of each frame, ms.
    pub frame_ms: Vec<f64>,
    /// Processor time of the calling thread for each frame, ms.
    pub frame_cpu_ms: Vec<f64>,
    /// All frames over their number, ms of wall time.
    pub total_ms_per_frame: f64,
    /// Median of frames 10 to 69, ms of wall time.
    pub median_ms: f64,
    /// 95th percentile of the same.
    pub p95_ms: f64,
    /// Median of the same frames, processor time.
    pub median_cpu_ms: f64,
    /// 99th percentile of the edges' strain at the end, %.
    pub p99_strain_percent: f64,
    /// Deepest vertex at the end, mm.
    pub deepest_mm: f64,
    /// Pairs of an edge and a triangle that cross at the end.
    pub crossings: usize,
    /// Lowest point at the end, m above the sphere's centre.
    pub lowest_m: f64,
    /// Height of the centre of mass at the end, m.
    pub centre_m: f64,
    /// Steps that were retried smaller.
    pub retries: u32,
}

impl Measures {
    /// Why the run does not count; empty if it does. `centre_m` is that of our own run at an eighth of the step, if known.
    pub fn faults(&self, centre_m: Option<f64>) -> Vec<String> {
        let mut faults = Vec::new();
        if !(self.p99_strain_percent <= 5.0) {
            faults.push(format!("p99 edge strain {:.2} %", self.p99_strain_percent));
        }
        if !(self.deepest_mm <= 1.0) {
            faults.push(format!("a vertex {:.2} mm inside", self.deepest_mm));
        }
        if self.crossings > 0 {
            faults.push(format!("{} crossings", self.crossings));
        }
        if !(0.23..=0.26).contains(&-self.lowest_m) {
            faults.push(format!("lowest point {:.3} m below the centre, not 0.23 to 0.26", -self.lowest_m));
        }
        if let Some(right) = centre_m
            && !((self.centre_m - right).abs() <= 0.02 * right.abs())
        {
            faults.push(format!("centre of mass at {:.4} m, {right:.4} m with finer steps", self.centre_m));
        }
        faults
    }
}

/// Scenario S with `n` × `n` vertices and the usual settings.
pub fn scenario_s(n: usize) -> Result<Measures> {
    scenario_s_with(n, Settings::default())
}

/// The same with the step cut into `parts`: what the centre of mass is compared with. Newton stops when a step moves little,
/// so a shorter step is solved the more tightly; else what it stops short of adds up to a brake.
pub fn scenario_s_finer(n: usize, parts: f64) -> Result<Measures> {
    let usual = Settings::default();
    scenario_s_with(
        n,
        usual.with(|s| {
            s.max_step_secs = usual.max_step_secs / parts;
            s.tolerance_m = usual.tolerance_m / (parts * parts);
            s.linear_tolerance = usual.linear_tolerance / parts;
            s.max_newton = 3 * usual.max_newton;
        }),
    )
}

/// The same with settings of one's own (air is off in any case).
#[allow(clippy::disallowed_methods)] // times are what is reported
pub fn scenario_s_with(n: usize, settings: Settings) -> Result<Measures> {
    let mut world = scenario_s_world(n, settings)?;
    let (mut frame_ms, mut frame_cpu_ms, mut retries) = (Vec::new(), Vec::new(), 0);
    for _ in 0..FRAMES {
        let (begun, used) = (Instant::now(), cpu_ms());
        let report = world.step(&[], 1.0 / 30.0)?;
        frame_ms.push(begun.elapsed().as_secs_f64() * 1e3);
        frame_cpu_ms.push(cpu_ms() - used);
        retries += report.retries;
    }
    let x = &world.state.x;
    let mut strains: Vec<f64> = (world.scene.edges.iter().zip(&world.scene.edge_lengths))
        .map(|(e, l)| (x[e[0] as usize].distance(x[e[1] as usize]) / l - 1.0).abs())
        .collect();
    strains.sort_by(f64::total_cmp);
    let mass: f64 = world.scene.mass.iter().sum();
    let centre = x.iter().zip(&world.scene.mass).map(|(p, m)| *p * *m).sum::<DVec3>() / mass;
    Ok(Measures {
        n,
        total_ms_per_frame: frame_ms.iter().sum::<f64>() / FRAMES as f64,
        median_ms: percentile(&frame_ms[10..70], 0.5),
        p95_ms: percentile(&frame_ms[10..70], 0.95),
        median_cpu_ms: percentile(&frame_cpu_ms[10..70], 0.5),
        frame_ms,
        frame_cpu_ms,
        p99_strain_percent: 100.0 * strains[strains.len() * 99 / 100],
        deepest_mm: 1e3 * x.iter().map(|p| RADIUS - p.length()).fold(0.0, f64::max),
        crossings: check::crossings(&world.scene.triangles, &world.scene.edges, x),
        lowest_m: x.iter().map(|p| p.y).fold(f64::INFINITY, f64::min),
        centre_m: centre.y,
        retries,
    })
}

/// The cloth of scenario S above its ball, before the first step.
pub fn scenario_s_world(n: usize, settings: Settings) -> Result<World> {
    let settings = settings.with(|s| s.air_density = 0.0);
    let (mesh, rest) = rectangle(1.0, 1.0, n - 1, n - 1, Pattern::Alternating);
    let scene = Scene::new(&mesh, &rest, &plain(), &settings)?;
    let mut world = World::new(scene, lay(&mesh, RADIUS + 0.05), settings)?;
    world.state.colliders.push(Collider::fixed(Shape::Sphere { radius: RADIUS }, DAffine3::IDENTITY));
    Ok(world)
}

/// The value below which a share of the values lies.
pub fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = ((sorted.len() as f64 * share) as usize).min(sorted.len().saturating_sub(1));
    sorted.get(at).copied().unwrap_or(f64::NAN)
}
