//! Friction on an incline.

use super::cloths::{Pattern, lay, plain, rectangle};
use super::quiet;
use super::row::Row;
use glam::{DAffine3, DQuat, DVec3};
use toile_assets::Fabric;
use toile_simulate::Settings;
use toile_simulate::contact::collider::{Collider, Shape};
use toile_simulate::{Result, Scene, World};

/// A sheet on an incline: below the friction angle it stays, above it slides with g(sin α − μ cos α).
pub fn incline(secs: f64) -> Result<Vec<Row>> {
    let mu: f64 = 0.4;
    let run = |alpha: f64, secs: f64| -> Result<(f64, f64)> {
        let settings = Settings { tolerance_m: 1e-9, linear_tolerance: 1e-6, max_newton: 20, ..quiet() };
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
