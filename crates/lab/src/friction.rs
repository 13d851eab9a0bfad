//! Friction on an incline and round a cylinder.

use super::cloths::{Pattern, lay, plain, rectangle};
use super::quiet;
use super::row::Row;
use glam::{DAffine3, DQuat, DVec3};
use toile_assets::Fabric;
use toile_simulate::contact::collider::{Collider, Shape};
use toile_simulate::{Result, Scene, World};

/// A sheet on an incline: below the friction angle it stays, above it slides with g(sin α − μ cos α).
pub fn incline(secs: f64) -> Result<Vec<Row>> {
    let mu: f64 = 0.4;
    let run = |alpha: f64, secs: f64| -> Result<(f64, f64)> {
        let settings = quiet().with(|s| {
            s.tolerance_m = 1e-9;
            s.linear_tolerance = 1e-6;
            s.max_newton = 20;
        });
        let (mesh, flat) = rectangle(0.1, 0.1, 3, 3, Pattern::Alternating);
        let fabric = Fabric { friction: mu, ..plain() };
        let scene = Scene::new(&mesh, &flat, &fabric, &settings)?;
        let turn = DAffine3::from_quat(DQuat::from_rotation_z(-alpha));
        let gap = settings.skin_m + 0.5 * fabric.thickness;
        // Where the weight is carried from the first instant.
        let sink = 0.2 * 9.81 * alpha.cos() / (settings.contact_stiffness * SAMPLES_PER_AREA);
        let x: Vec<DVec3> = lay(&mesh, gap - sink).iter().map(|p| turn.transform_point3(*p)).collect();
        let mut world = World::new(scene, x, settings)?;
        world.state.colliders.push(Collider::fixed(Shape::Plane, turn));
        let centre = |w: &World| w.state.x.iter().sum::<DVec3>() / w.state.x.len() as f64;
        for _ in 0..30 {
            world.step(&[], 1.0 / 60.0)?;
        }
        let down = turn.transform_vector3(DVec3::X);
        let (start, speed) =
            (centre(&world), world.state.v.iter().sum::<DVec3>() / world.state.v.len() as f64);
        let steps = (secs * 60.0) as usize;
        for _ in 0..steps {
            world.step(&[], 1.0 / 60.0)?;
        }
        let after = world.state.v.iter().sum::<DVec3>() / world.state.v.len() as f64;
        Ok(((centre(&world) - start).dot(down), (after - speed).dot(down) / secs))
    };
    let below = mu.atan() * 0.98;
    let above = mu.atan() * 1.3;
    let creep = run(below, secs)?.0;
    let acceleration = run(above, 0.5)?.1;
    Ok(vec![
        Row::absolute(format!("incline below the friction angle, creep in {secs} s"), creep, 0.0, 1e-6),
        Row::relative(
            "incline above the friction angle, acceleration",
            acceleration,
            9.81 * (above.sin() - mu * above.cos()),
            0.01,
        ),
    ])
}

/// Samples overlap: vertices carry the whole area and edge middles a third of their ends' again.
const SAMPLES_PER_AREA: f64 = 1.0;

/// A strip laid over a cylinder that turns, both ends held: once all of it slips, the tensions of its free ends are as
/// `e^{μθ}` (Euler and Eytelwein).
pub fn capstan(degrees: &[f64]) -> Result<Vec<Row>> {
    let mu = 0.3;
    let mut rows = Vec::new();
    for &angle in degrees {
        let ours = tension_ratio(mu, angle.to_radians())?;
        let right = (mu * angle.to_radians()).exp();
        rows.push(Row::relative(format!("capstan, tensions over {angle}°"), ours, right, 0.02));
    }
    Ok(rows)
}

fn tension_ratio(mu: f64, theta: f64) -> Result<f64> {
    // Stretched by 0.6 % to begin with, the strip presses by some 100 Pa and sinks in by less than 0.1 mm.
    let (radius, free, cell, strained) = (0.05, 0.08, 0.004, 0.006);
    let fabric = Fabric { friction: mu, stretch_warp: 2000.0, stretch_weft: 2000.0, poisson: 0.0, ..plain() };
    let settings = quiet().with(|s| {
        s.gravity = DVec3::ZERO;
        s.tolerance_m = 1e-8;
        s.linear_tolerance = 1e-6;
        s.max_newton = 40;
        s.max_linear = 5000;
    });
    let wound = radius + settings.skin_m + 0.5 * fabric.thickness;
    let long = 2.0 * free + wound * theta;
    let cells = (long / cell).round() as usize;
    let (mesh, flat) = rectangle(0.008, long / (1.0 + strained), 2, cells, Pattern::Alternating);
    let mut scene = Scene::new(&mesh, &flat, &fabric, &settings)?;
    // Along the strip: straight to the cylinder, round it, straight on.
    let x: Vec<DVec3> = mesh
        .positions
        .iter()
        .map(|p| {
            let s = f64::from(p.z) * (1.0 + strained) + 0.5 * long - free;
            let turned = (s / wound).clamp(0.0, theta);
            let (sin, cos) = turned.sin_cos();
            let on = s - turned * wound;
            DVec3::new(wound * sin + on * cos, wound * cos - on * sin, f64::from(p.x))
        })
        .collect();
    let n = x.len();
    scene.pinned[..3].fill(true);
    scene.pinned[n - 3..].fill(true);
    let mut world = World::new(scene, x, settings)?;
    world.state.colliders.push(Collider::fixed(Shape::Cylinder { half_length: 0.1, radius }, lying(0.0)));
    let (h, speed) = (1.0 / 120.0, 0.02);
    let (mut ratio, mut seen) = (0.0, 0.0);
    for step in 1..=240 {
        world.state.colliders[0].world_from_local = lying(f64::from(step) * h * speed / radius);
        world.step(&[], h)?;
        if step > 180 {
            // Threads along the strip of the elements well within each free end.
            let stretch = |from: f64, to: f64| {
                let within = |t: &&toile_simulate::energy::membrane::Element| {
                    let z = t.v.iter().map(|i| f64::from(mesh.positions[*i as usize].z)).sum::<f64>() / 3.0;
                    (from..to).contains(&(z * (1.0 + strained) + 0.5 * long))
                };
                let all: Vec<f64> =
                    world.scene.membrane.iter().filter(within).map(|e| e.strain(&world.state.x)[1]).collect();
                all.iter().sum::<f64>() / all.len() as f64
            };
            ratio += stretch(0.25 * free, 0.75 * free) / stretch(long - 0.75 * free, long - 0.25 * free);
            seen += 1.0;
        }
    }
    Ok(ratio / seen)
}

/// A cylinder lying along Z, turned about its axis.
fn lying(turned: f64) -> DAffine3 {
    let down = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2);
    DAffine3::from_quat(DQuat::from_rotation_z(-turned) * down)
}
