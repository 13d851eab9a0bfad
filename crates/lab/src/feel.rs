//! What a person would say of a cloth, measured: five small scenes, a number each, and how it goes with one of the cloth's
//! values. The scales are measured, not rated by people.

use super::cloths::{Pattern, lay, rectangle};
use super::fabrics::{Along, bending_length, pulled, tensile};
use super::row::{Piece, Snapshot};
use super::{cusick, quiet, rest};
use glam::DVec3;
use toile_assets::{Fabric, Quality};
use toile_geometry::Random;
use toile_simulate::energy::bending;
use toile_simulate::{Integrator, Result, Scene, World};

/// A scene at its end.
#[derive(Clone, Debug)]
pub struct Felt {
    /// What was measured: [`Quality::measure`] says what it is.
    pub measure: f64,
    /// The cloth of the scene.
    pub shot: Snapshot,
}

/// Plays the scene of a quality.
pub fn feel(quality: Quality, fabric: &Fabric) -> Result<Felt> {
    let (measure, triangles, x, view) = match quality {
        Quality::Stiff => {
            let d = cusick::drape(fabric, 10, 1)?;
            (d.coefficient, d.triangles, d.x, (20.0, 35.0))
        }
        Quality::Heavy => of(lift(fabric)?, (60.0, 10.0)),
        Quality::Stretchy => {
            let (warp, world) = pulled(fabric, Along::Warp, 20.0, 8)?;
            let weft = tensile(fabric, Along::Weft, 20.0, 8)?;
            of((0.5 * (warp + weft), world), (20.0, 10.0))
        }
        Quality::Wrinkly => of(wrinkles(fabric)?, (30.0, 40.0)),
        Quality::Bouncy => {
            let (share, triangles, x) = kept(fabric)?;
            // A strip of three centimetres is shown eight times as large.
            (share, triangles, x.iter().map(|p| *p * 8.0).collect(), (10.0, 15.0))
        }
    };
    let name = format!("{:.1}", measure);
    let pieces = vec![Piece::cloth(&triangles, &x)];
    Ok(Felt { measure, shot: Snapshot { name, scene: quality.name().into(), view, pieces } })
}

type Shape = (f64, Vec<[u32; 3]>, Vec<DVec3>, (f32, f32));

fn of((measure, world): (f64, World), view: (f32, f32)) -> Shape {
    (measure, world.scene.triangles.clone(), world.state.x, view)
}

/// The measure alone.
pub fn measure(quality: Quality, fabric: &Fabric) -> Result<f64> {
    Ok(feel(quality, fabric)?.measure)
}

/// Angle from the vertical, degrees, of a strip of 30 cm that hangs in a wind of 2.5 m/s.
fn lift(fabric: &Fabric) -> Result<(f64, World)> {
    let (width, length, cells) = (0.06, 0.3, 12);
    let (mesh, flat) = rectangle(width, length, 2, cells, Pattern::Alternating);
    let settings = quiet().with(|s| {
        s.integrator = Integrator::ImplicitEuler;
        s.air_density = 1.2;
        s.wind = DVec3::new(0.0, 0.0, 2.5);
        s.max_step_secs = 1.0 / 60.0;
    });
    let mut scene = Scene::new(&mesh, &flat, fabric, &settings)?;
    let x: Vec<DVec3> = lay(&mesh, 0.0).iter().map(|p| DVec3::new(p.x, -p.z, 0.0)).collect();
    for (i, p) in x.iter().enumerate() {
        scene.pinned[i] = p.y > 0.5 * length - 1e-9;
    }
    let mut world = World::new(scene, x, settings)?;
    let (mut angle, mut count) = (0.0, 0);
    for n in 0..240 {
        world.step(&[], 1.0 / 60.0)?;
        if n >= 120 {
            let hem = world.state.x[world.state.x.len() - 2] - DVec3::new(0.0, 0.5 * length, 0.0);
            angle += hem.z.atan2(-hem.y).to_degrees();
            count += 1;
        }
    }
    Ok((angle / f64::from(count), world))
}

/// Root mean square curvature, 1/m, of a square of 30 cm whose right edge is pushed along itself by 4 cm.
fn wrinkles(fabric: &Fabric) -> Result<(f64, World)> {
    let (side, cells, push) = (0.3, 16, 0.04);
    let (mesh, flat) = rectangle(side, side, cells, cells, Pattern::Alternating);
    let settings = quiet().with(|s| {
        s.integrator = Integrator::ImplicitEuler;
        s.gravity = DVec3::ZERO;
        s.max_step_secs = 1.0 / 60.0;
    });
    let mut scene = Scene::new(&mesh, &flat, fabric, &settings)?;
    let mut random = Random::new(7);
    let mut x = lay(&mesh, 0.0);
    for (i, p) in x.iter_mut().enumerate() {
        scene.pinned[i] = p.x.abs() > 0.5 * side - 1e-9;
        p.z += push * (p.x / side + 0.5);
        if !scene.pinned[i] {
            p.y += 1e-3 * random.signed();
        }
    }
    let mut world = World::new(scene, x, settings)?;
    for _ in 0..120 {
        world.step(&[], 1.0 / 60.0)?;
    }
    let (scene, x) = (&world.scene, &world.state.x);
    let angles: Vec<f64> = scene.hinges.iter().map(|h| bending::angle(h, x, 0.0)).collect();
    let energy = bending::energy(&scene.bending, &angles, &scene.rest_angles, &angles, 0.0);
    let rigidity = (fabric.bend_warp * fabric.bend_weft).sqrt();
    Ok(((2.0 * energy / (rigidity * side * side)).sqrt(), world))
}

/// Share of its swing, %, that a clamped strip 1.6 times as long as its bending length has left after going down and up once.
fn kept(fabric: &Fabric) -> Result<(f64, Vec<[u32; 3]>, Vec<DVec3>)> {
    let cells = 10;
    let length = 1.6 * bending_length(fabric, Along::Weft);
    let width = 2.0 * length / cells as f64;
    let (mesh, flat) = rectangle(length, width, cells, 2, Pattern::Alternating);
    let settings = quiet().with(|s| {
        s.max_step_secs = 1.0 / 960.0;
        s.tolerance_m = 1e-7;
    });
    let mut scene = Scene::new(&mesh, &flat, fabric, &settings)?;
    let x = lay(&mesh, 0.0);
    for (i, p) in x.iter().enumerate() {
        scene.pinned[i] = p.x < -0.5 * length + 1.5 * length / cells as f64;
    }
    let mut world = World::new(scene, x, settings)?;
    let tip = |w: &World| w.state.x[2 * cells + 1].y;
    let (start, mut still) = (tip(&world), world.clone());
    rest(&mut still, 1e3)?;
    let (mut trace, mut shapes) = (Vec::new(), Vec::new());
    for _ in 0..240 {
        world.step(&[], 1.0 / 480.0)?;
        trace.push(tip(&world) - tip(&still));
        shapes.push(world.state.x.clone());
    }
    // The first time it turns at the bottom, and the first at the top after that.
    let turn = |from: usize, up: f64| (from + 1..trace.len()).find(|&n| up * (trace[n] - trace[n - 1]) < 0.0);
    let high = turn(0, -1.0).and_then(|low| turn(low, 1.0)).map(|high| high - 1);
    let back = high.map_or(0.0, |high| trace[high]);
    let share = (100.0 * back / (start - tip(&still))).max(0.0);
    let shape = high.map_or(still.state.x, |high| shapes.swap_remove(high));
    Ok((share, world.scene.triangles.clone(), shape))
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_assets::{Sliders, builtin};

    /// Two entries of the shipped table, measured again with today's solver.
    #[test]
    fn the_shipped_scales_are_those_of_this_solver() {
        let base = builtin::fabric(Sliders::BASE).unwrap();
        for quality in [Quality::Heavy, Quality::Stretchy, Quality::Bouncy] {
            let rows = quality.scale();
            let (parameter, measured, _) = rows[rows.len() / 2];
            let now = measure(quality, &quality.with(&base, parameter)).unwrap();
            let span = (rows[0].1 - rows[rows.len() - 1].1).abs();
            assert!((now - measured).abs() < 0.03 * span, "{quality:?}: {now}, shipped {measured}");
        }
    }
}
