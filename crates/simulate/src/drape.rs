//! From panels around a body to a garment that rests on it, and on to the first frame of a motion.

use crate::fit::check_still_worn;
use crate::settings::{Integrator, Settings};
use crate::world::World;
use crate::{Error, Result};
use toile_assets::{Body, Fabric, Garment, Motion, Pose};

/// How long and how calmly a garment is draped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrapeSettings {
    /// Draping ends when no vertex is faster, m/s.
    pub rest_speed: f64,
    /// Or after this long, s.
    pub most_secs: f64,
    /// The ramp from the rest pose to a motion's first frame, s; then as long again at most to settle there.
    pub ramp_secs: f64,
}

impl Default for DrapeSettings {
    fn default() -> Self {
        Self { rest_speed: 0.02, most_secs: 3.0, ramp_secs: 1.0 }
    }
}

/// Lets a garment fall from its panels onto the body in its rest pose until it is at rest.
pub fn drape(
    body: &Body,
    garment: &Garment,
    fabric: &Fabric,
    settings: &Settings,
    how: &DrapeSettings,
) -> Result<World> {
    let mut world = World::with_body(body, garment, fabric, *settings)?;
    let bones = world.bones().to_vec();
    settle(&mut world, how, |w, dt| w.step(&bones, dt).map(|_| ()))?;
    world.state.halt();
    let draped: Vec<_> = world.state.x.iter().map(|p| p.as_vec3()).collect();
    check_still_worn(body, garment, &draped)?;
    Ok(world)
}

/// Steps with first-order damping, slowing the cloth further, until it rests.
fn settle(
    world: &mut World,
    how: &DrapeSettings,
    mut step: impl FnMut(&mut World, f64) -> Result<()>,
) -> Result<()> {
    let wanted = world.settings;
    // Draping wants the rest shape, not the way there: the integrator that damps.
    world.settings.integrator = Integrator::ImplicitEuler;
    let dt = wanted.max_step_secs;
    let steps = (how.most_secs / dt).ceil() as usize;
    let mut outcome = Ok(());
    for n in 0..steps {
        outcome = step(world, dt).map_err(|e| name_frame(e, n));
        if outcome.is_err() {
            break;
        }
        // A tenth of the speed a step is lost on top: half a second of swing is enough to find the folds.
        for v in &mut world.state.v {
            *v *= 0.97;
        }
        let fastest = world.state.v.iter().map(|v| v.length_squared()).fold(0.0, f64::max).sqrt();
        if n > 20 && fastest < how.rest_speed {
            break;
        }
    }
    world.settings = wanted;
    outcome
}

/// Carries a draped garment from the body's rest pose to the first frame of `motion` (roots included) and lets
/// it settle there.
pub fn ramp(world: &mut World, body: &Body, motion: &Motion, how: &DrapeSettings) -> Result<()> {
    let rest = body.skeleton.rest_pose();
    let first = &motion.poses[0];
    let wanted = world.settings;
    world.settings.integrator = Integrator::ImplicitEuler;
    let dt = wanted.max_step_secs;
    // The faster a joint has to travel, the longer the ramp: 1 m/s is a calm walk.
    let (from, to) = (body.bones(&rest), body.bones(first));
    let far = from.iter().zip(&to).map(|(a, b)| a.translation.distance(b.translation)).fold(0.0, f32::max);
    let secs = how.ramp_secs.max(f64::from(far));
    let steps = (secs / dt).ceil() as usize;
    for n in 1..=steps {
        let t = n as f64 / steps as f64;
        // Starts and ends at rest.
        let eased = t * t * (3.0 - 2.0 * t);
        let pose: Pose = rest.lerp(first, eased as f32);
        world.step(&body.bones(&pose), dt).map_err(|e| name_frame(e, n))?;
    }
    world.settings = wanted;
    let bones = body.bones(first);
    let calm = DrapeSettings { most_secs: how.ramp_secs, ..*how };
    settle(world, &calm, |w, dt| w.step(&bones, dt).map(|_| ()))?;
    world.state.halt();
    Ok(())
}

/// Puts the frame into an error that could not know it.
pub(crate) fn name_frame(e: Error, at: usize) -> Error {
    match e {
        Error::Stuck { vertex, cause, retries, step_secs, .. } => {
            Error::Stuck { frame: at, vertex, cause, retries, step_secs }
        }
        other => other,
    }
}
