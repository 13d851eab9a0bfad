//! From panels around a body to a garment that rests on it, and on to the first frame of a motion.

use crate::garment_fit::check_still_worn;
use crate::leash::Tether;
use crate::outfit::Outfit;
use crate::settings::{Integrator, Settings};
use crate::world::World;
use crate::{Error, Result};
use glam::{DAffine3, DQuat, DVec3, Quat, Vec3};
use toile_assets::{Body, Fabric, Garment, Motion, Pose, Role, RootTrack, Transform};

/// How long and how calmly a garment is draped.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct DrapeSettings {
    /// Draping ends when no vertex is faster, m/s.
    pub rest_speed: f64,
    /// Or after this long, s.
    pub most_secs: f64,
    /// The ramp from the rest pose to a motion's first frame, s; then as long again at most to settle there.
    pub ramp_secs: f64,
}

impl DrapeSettings {
    /// These with some of them changed.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

impl Default for DrapeSettings {
    fn default() -> Self {
        Self { rest_speed: 0.02, most_secs: 3.0, ramp_secs: 1.0 }
    }
}

/// Lets a garment fall from its panels onto the body in its rest pose until it is at rest. From there on painted limits are
/// kept: they are measured from the garment as it hangs.
pub fn drape(
    body: &Body,
    garment: &Garment,
    fabric: &Fabric,
    settings: &Settings,
    how: &DrapeSettings,
) -> Result<World> {
    let mut world = fall(World::with_body(body, garment, fabric, *settings)?, how)?;
    let draped = places(&world);
    check_still_worn(body, garment, &draped)?;
    world.tethers.extend(Tether::new(body, garment, &draped, 0)?);
    world.enclose_air();
    Ok(world)
}

/// The same for garments worn together.
pub fn drape_outfit(body: &Body, outfit: &Outfit, settings: &Settings, how: &DrapeSettings) -> Result<World> {
    let fallen = fall(World::with_outfit(body, outfit, *settings)?, how);
    let mut world = fallen.map_err(|e| outfit.name_garment(e))?;
    let draped = places(&world);
    for (k, garment) in outfit.garments().iter().enumerate() {
        let range = outfit.range(k);
        check_still_worn(body, garment, &draped[range.clone()])?;
        world.tethers.extend(Tether::new(body, garment, &draped[range.clone()], range.start)?);
    }
    world.enclose_air();
    Ok(world)
}

/// Lets cloth fall onto the body where it is until it is at rest, in still air: what it encloses is found as it hangs, and
/// must be the same for one who stands in the wind and one who runs.
fn fall(mut world: World, how: &DrapeSettings) -> Result<World> {
    let bones = world.bones().to_vec();
    let wind = std::mem::replace(&mut world.settings.wind, DVec3::ZERO);
    settle(&mut world, how, |w, dt| w.step(&bones, dt).map(|_| ()))?;
    world.settings.wind = wind;
    world.state.halt();
    Ok(world)
}

fn places(world: &World) -> Vec<Vec3> {
    world.state.x.iter().map(|p| p.as_vec3()).collect()
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
    let dt = wanted.pose_secs();
    world.settings.max_step_secs = dt;
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

/// Carries a draped garment from the body's rest pose to the first frame of `motion`, which it reaches with the
/// motion's own speed, so that a clip that begins in the middle of a run does not begin with a jolt. A motion that
/// begins at rest is settled at its first frame.
pub fn ramp(world: &mut World, body: &Body, motion: &Motion, how: &DrapeSettings) -> Result<()> {
    ramp_by(&WAYS[0], world, body, motion, how)
}

/// The same by one of several ways.
pub(crate) fn ramp_by(
    way: &Way,
    world: &mut World,
    body: &Body,
    motion: &Motion,
    how: &DrapeSettings,
) -> Result<()> {
    let lead = Lead::new(motion);
    let first = &motion.poses[0];
    // The faster a joint has to travel, the longer the ramp: 1 m/s is a calm walk.
    let reach = |a: &Pose, b: &Pose| {
        let (a, b) = (body.bones(a), body.bones(b));
        a.iter().zip(&b).map(|(a, b)| f64::from(a.translation.distance(b.translation))).fold(0.0, f64::max)
    };
    let rest = put(world, body, &lead.at(-how.ramp_secs, how.ramp_secs));
    let secs = how.ramp_secs.max(reach(&rest, first)) * way.longer;
    let rest = put(world, body, &lead.at(-secs, secs));

    let wanted = world.settings;
    world.settings.integrator = Integrator::ImplicitEuler;
    let dt = wanted.pose_secs();
    let steps = (secs / dt).ceil() as usize;
    let arms = arm_joints(body);
    for n in 1..=steps {
        let t = n as f64 / steps as f64;
        // Starts at rest and ends as part of the motion.
        let eased = |t: f64| (t * t * (3.0 - 2.0 * t)) as f32;
        let shares =
            [way.trunk, way.arms].map(|[from, until]| eased(((t - from) / (until - from)).clamp(0.0, 1.0)));
        let to = lead.at((t - 1.0) * secs, secs);
        let joints = rest.locals.iter().zip(&to.locals).zip(&arms);
        let pose =
            Pose { locals: joints.map(|((a, b), arm)| a.lerp(b, shares[usize::from(*arm)])).collect() };
        world.step(&body.bones(&pose), secs / steps as f64).map_err(|e| name_frame(e, n))?;
    }
    world.settings = wanted;
    if lead.at_rest {
        let bones = body.bones(first);
        let calm = DrapeSettings { most_secs: how.ramp_secs, ..*how };
        settle(world, &calm, |w, dt| w.step(&bones, dt).map(|_| ()))?;
        world.state.halt();
    }
    Ok(())
}

/// When trunk, legs and head on the one hand and arms on the other leave the rest pose and when they get to the first frame, as
/// shares of a ramp that is so many times longer than usual.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    trunk: [f64; 2],
    arms: [f64; 2],
    longer: f64,
}

/// Ways to a first frame, the usual one first. There arms come last, from the side where they are at rest: a hand that goes down
/// beside a leg while the skirt swings about it would get under the hem, and the garment would begin hanging on an elbow.
pub(crate) const WAYS: [Way; 4] = [
    Way { trunk: [0.0, 0.75], arms: [0.35, 1.0], longer: 1.0 },
    Way { trunk: [0.0, 1.0], arms: [0.0, 1.0], longer: 2.0 },
    Way { trunk: [0.0, 0.6], arms: [0.6, 1.0], longer: 2.0 },
    Way { trunk: [0.3, 1.0], arms: [0.0, 0.6], longer: 2.0 },
];

/// Which joints belong to the arms.
fn arm_joints(body: &Body) -> Vec<bool> {
    let humanoid = body.humanoid();
    let mut arms = vec![false; body.skeleton.len()];
    for role in [Role::LeftUpperArm, Role::RightUpperArm] {
        if let Some(j) = humanoid.joint(role) {
            arms[j] = true;
        }
    }
    for (j, joint) in body.skeleton.joints.iter().enumerate() {
        arms[j] |= joint.parent.is_some_and(|p| arms[p]);
    }
    arms
}

/// What could have come before the first frame of a motion.
struct Lead<'a> {
    first: &'a Pose,
    /// Speeds of each joint's transform in the first frame: m/s, and axis times rad/s.
    speeds: Vec<(Vec3, Vec3)>,
    at_rest: bool,
}

impl<'a> Lead<'a> {
    fn new(motion: &'a Motion) -> Self {
        let first = &motion.poses[0];
        let second = motion.poses.get(1).unwrap_or(first);
        let fps = motion.fps as f32;
        let speeds: Vec<(Vec3, Vec3)> = first
            .locals
            .iter()
            .zip(&second.locals)
            .map(|(a, b)| {
                let turn = b.rotation * a.rotation.inverse();
                let turn = if turn.w < 0.0 { -turn } else { turn };
                ((b.translation - a.translation) * fps, turn.to_scaled_axis() * fps)
            })
            .collect();
        let at_rest = speeds.iter().all(|(v, w)| v.length() < 0.05 && w.length() < 0.3);
        Self { first, speeds, at_rest }
    }

    /// The pose `t` ≤ 0 seconds from the first frame, when the whole lead takes `secs`. Whole bodies come from rest
    /// at an even acceleration; joints only swing out, as they cannot turn on for long.
    fn at(&self, t: f64, secs: f64) -> Pose {
        let along = (t + 0.5 * t * t / secs) as f32;
        let swing = (SWING_SECS * ((t / SWING_SECS).exp() - 1.0)) as f32;
        let locals = self.first.locals.iter().zip(&self.speeds).map(|(l, (v, w))| {
            let turn = Quat::from_scaled_axis(*w * swing);
            Transform { translation: l.translation + *v * along, rotation: turn * l.rotation }
        });
        Pose { locals: locals.collect() }
    }
}

/// How long joints are followed back, s.
const SWING_SECS: f64 = 0.1;

/// Puts the resting body and its cloth where and as `start` stands, at once, and returns the rest pose there.
fn put(world: &mut World, body: &Body, start: &Pose) -> Pose {
    let rest = body.skeleton.rest_pose();
    let frame = |p: &Pose| RootTrack::new(&body.skeleton, std::iter::once(p)).frames[0];
    let (a, b) = (frame(&rest), frame(start));
    let turn = DQuat::from_rotation_y(b.heading - a.heading);
    let way = b.position - turn * a.position;
    let m = DAffine3::from_rotation_translation(turn, DVec3::new(way.x, 0.0, way.z));
    // From wherever an earlier call put it.
    let now = world.bones()[0];
    let was = DAffine3 { matrix3: now.matrix3.as_dmat3(), translation: now.translation.as_dvec3() };
    let home = body.bones(&rest)[0];
    let home = DAffine3 { matrix3: home.matrix3.as_dmat3(), translation: home.translation.as_dvec3() };
    let mut moved = rest;
    for (joint, local) in body.skeleton.joints.iter().zip(&mut moved.locals) {
        if joint.parent.is_none() {
            local.rotation = turn.as_quat() * local.rotation;
            local.translation = m.transform_point3(local.translation.as_dvec3()).as_vec3();
        }
    }
    world.transform(&(m * home * was.inverse()));
    world.place_body(&body.bones(&moved));
    moved
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
