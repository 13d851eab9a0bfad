//! Friction where something strikes cloth: a hanging sheet and a capsule, and garments about walking legs.
//!
//! What friction does in a moment is limited by how hard the cloth is pressed in that moment. Whether a solver knows that
//! shows when the same scene is solved in longer and shorter steps: the impulse must not depend on them.

use super::clock::cpu_ms;
use super::cloths::{Pattern, plain, rectangle};
use super::row::Row;
use glam::{DAffine3, DQuat, DVec3};
use toile_assets::{Body, Fabric, Motion};
use toile_simulate::Settings;
use toile_simulate::contact::collider::{Collider, Shape};
use toile_simulate::{Result, Scene, StepReport, World};

/// What a run came to.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Root-mean-square speed of the cloth about its mean, mean over the frames, m/s.
    pub internal_speed: f64,
    /// How far the lowest hem is above where it began, relative to the wearer, mean over the frames, m.
    pub hem_rise_m: f64,
    /// Impulse of bodies on cloth along their normals, N s per second.
    pub pressed: f64,
    /// Impulse of friction with bodies, N s per second.
    pub friction: f64,
    /// Processor time a frame, ms.
    pub ms: f64,
    /// Largest edge strain of any frame.
    pub stretch: f64,
    /// Sum over the frames.
    pub report: StepReport,
    /// Where the cloth was at the end of each frame.
    pub x: Vec<Vec<DVec3>>,
}

impl Outcome {
    /// Mean distance of the vertices at a frame, m.
    pub fn apart(&self, other: &Self, frame: usize) -> f64 {
        let (a, b) = (&self.x[frame], &other.x[frame]);
        a.iter().zip(b).map(|(p, q)| p.distance(*q)).sum::<f64>() / a.len() as f64
    }

    /// Mean distance over all frames and vertices, m.
    pub fn mean_apart(&self, other: &Self) -> f64 {
        (0..self.x.len()).map(|f| self.apart(other, f)).sum::<f64>() / self.x.len() as f64
    }
}

/// A sheet hanging from its upper edge, struck in the middle by a horizontal capsule at 3 m/s: the impulse of friction
/// in a third of a second, N s.
pub fn struck_sheet(settings: Settings) -> Result<(f64, StepReport)> {
    let (mesh, flat) = rectangle(0.6, 0.6, 20, 20, Pattern::Alternating);
    let fabric = Fabric { friction: 0.3, ..plain() };
    let mut scene = Scene::new(&mesh, &flat, &fabric, &settings)?;
    let x: Vec<DVec3> =
        mesh.positions.iter().map(|p| DVec3::new(f64::from(p.x), -f64::from(p.z), 0.0)).collect();
    let top = x.iter().map(|p| p.y).fold(f64::MIN, f64::max);
    for (held, p) in scene.pinned.iter_mut().zip(&x) {
        *held = p.y > top - 1e-6;
    }
    let (radius, speed) = (0.06, 3.0);
    let across = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2);
    let at = |secs: f64| {
        let z = -(radius + 0.02) + speed * secs;
        DAffine3::from_rotation_translation(across, DVec3::new(0.0, top - 0.35, z))
    };
    let mut world = World::new(scene, x, settings)?;
    world.state.colliders.push(Collider::fixed(Shape::Capsule { half_length: 0.5, radius }, at(0.0)));
    let mut sum = StepReport::default();
    for n in 1..=20 {
        let dt = 1.0 / 60.0;
        world.state.colliders[0].world_from_local = at(f64::from(n) * dt);
        sum.add(&world.step(&[], dt)?);
    }
    Ok((sum.friction_impulse, sum))
}

/// Plays `frames` frames of a motion, at 30 a second, to a world that is at its beginning.
pub fn worn(world: &mut World, body: &Body, motion: &Motion, frames: usize) -> Result<Outcome> {
    const FPS: f64 = 30.0;
    // Poses are asked for as often as takes ask for them; between them the body goes straight on.
    let pieces = (1.0 / (FPS * world.settings.pose_secs()) - 1e-6).ceil() as usize;
    let lowest = world.state.x.iter().map(|p| p.y).fold(f64::MAX, f64::min);
    let hem: Vec<usize> = (0..world.state.x.len()).filter(|&i| world.state.x[i].y < lowest + 0.03).collect();
    let root = |w: &World| f64::from(w.bones()[0].translation.y);
    let height = |w: &World| hem.iter().map(|&i| w.state.x[i].y).sum::<f64>() / hem.len() as f64 - root(w);
    let begun = height(world);
    let mass: f64 = world.scene.mass.iter().sum();
    let mut out = Outcome::default();
    let (mut samples, mut ms) = (0.0, 0.0);
    for frame in 0..frames {
        let start = cpu_ms();
        for k in 1..=pieces {
            let at = (frame as f64 + k as f64 / pieces as f64) / FPS;
            out.report.add(&world.step(&body.bones(&motion.at(at)), 1.0 / FPS / pieces as f64)?);
        }
        ms += cpu_ms() - start;
        let mean = world.scene.mass.iter().zip(&world.state.v).map(|(m, v)| *v * *m).sum::<DVec3>() / mass;
        let about = world.scene.mass.iter().zip(&world.state.v);
        let square = about.map(|(m, v)| m * (*v - mean).length_squared()).sum::<f64>() / mass;
        out.internal_speed += square.sqrt();
        out.hem_rise_m += height(world) - begun;
        out.stretch = out.stretch.max(world.scene.max_stretch(&world.state.x));
        out.x.push(world.state.x.clone());
        samples += 1.0;
    }
    out.internal_speed /= samples;
    out.hem_rise_m /= samples;
    out.ms = ms / samples;
    out.pressed = out.report.normal_impulse * FPS / samples;
    out.friction = out.report.friction_impulse * FPS / samples;
    Ok(out)
}

/// The impulse of friction on the struck sheet at steps of the usual length and shorter ones.
pub fn rows() -> Result<Vec<Row>> {
    let at = |rate: f64| -> Result<f64> {
        Ok(struck_sheet(Settings::default().with(|s| s.max_step_secs = 1.0 / rate))?.0)
    };
    let finest = at(960.0)?;
    [60.0, 240.0]
        .into_iter()
        .map(|rate| {
            let name = format!("sheet struck at 3 m/s, friction impulse at 1/{rate} s against 1/960 s");
            Ok(Row::relative(name, at(rate)?, finest, 0.3))
        })
        .collect()
}
