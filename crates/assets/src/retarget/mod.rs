//! Motion of one skeleton carried to another: different names, rest poses, proportions and joint counts.
//!
//! Rotations are carried over in the world and relative to the rest poses, which are first brought to agree
//! limb by limb (`rest`); the hips' travel is scaled by the length of the legs; arms are spread until the
//! hands clear the hips (`arms`); feet that stand in the source stand in the result (`feet`); arms that would still be
//! inside the body are turned out of it for as long as they are (`clear`).

mod arms;
mod clear;
mod feet;
mod leg;
mod rest;

use crate::{Body, Error, Humanoid, Motion, Pose, Result, Role, Transform};
use glam::{Quat, Vec3};

/// How to carry a motion over.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RetargetSettings {
    /// Constant outward rotation of the upper arms in degrees; found from the body when not given.
    pub arm_abduction_deg: Option<f32>,
    /// Whether feet that stand still in the source are held to their place and to the ground. Without it the
    /// clip is only shifted as a whole until the soles touch y = 0.
    pub plant_feet: bool,
    /// Whether arms that would lie inside the body are turned out of it, frame by frame.
    pub clear_arms: bool,
}

impl RetargetSettings {
    /// These with some of them changed.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

impl Default for RetargetSettings {
    fn default() -> Self {
        Self { arm_abduction_deg: None, plant_feet: true, clear_arms: true }
    }
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct RetargetReport {
    /// Role, source joint, target joint.
    pub map: Vec<(Role, String, String)>,
    /// Source joints that drive nothing.
    pub left_out: Vec<String>,
    /// Outward rotation of the upper arms that was used, degrees.
    pub arm_abduction_deg: f32,
    /// Frames in which an arm was turned out of the body.
    pub cleared_frames: usize,
    /// How far at most, degrees.
    pub cleared_deg: f32,
    /// How fast that came or went at most, degrees a second.
    pub cleared_deg_per_s: f32,
    /// Scale of the hips' travel.
    pub travel_scale: f32,
    /// Constant shift along +Y that puts the soles on the ground, metres.
    pub floor_shift: f32,
    /// How far feet slide while they stand, 95th percentile over all stances, centimetres.
    pub foot_slide_cm: f32,
    /// The same before feet were held.
    pub foot_slide_before_cm: f32,
    /// How far the soles come under y = 0 at most, centimetres.
    pub sole_depth_cm: f32,
    /// How far standing soles are above or below y = 0, 95th percentile, centimetres.
    pub stance_gap_cm: f32,
}

impl RetargetReport {
    /// What was done to keep arms out of the body, in a sentence; nothing where nothing was.
    pub fn cleared(&self) -> Option<String> {
        (self.cleared_frames > 0).then(|| {
            format!(
                "arms turned out of the body in {} frames, by {:.1}° at most and by {:.0}°/s",
                self.cleared_frames, self.cleared_deg, self.cleared_deg_per_s
            )
        })
    }
}

/// Carries `motion` over to `body`. Both must be human enough: [`Humanoid::missing`] must be empty.
///
/// The result has the source's rate and number of frames. The motion's skeleton is `body`'s.
pub fn retarget(
    motion: &Motion,
    body: &Body,
    settings: &RetargetSettings,
) -> Result<(Motion, RetargetReport)> {
    let (source, target) = (Humanoid::of(&motion.skeleton), Humanoid::of(&body.skeleton));
    for (what, name, humanoid) in [("motion", &motion.name, &source), ("body", &body.name, &target)] {
        let missing = humanoid.missing();
        if !missing.is_empty() {
            let names: Vec<String> = missing.iter().map(|r| format!("{r:?}")).collect();
            return Err(Error::Invalid(format!(
                "{what} `{name}` is not human enough to be retargeted: no joint was found for {}",
                names.join(", ")
            )));
        }
    }
    let plan = rest::Plan::new(&motion.skeleton, &source, &body.skeleton, &target)?;
    let mut track = SourceTrack::default();
    let mut poses: Vec<Pose> = motion.poses.iter().map(|pose| plan.carry(pose, &mut track)).collect();

    let chest = target.joint(Role::UpperChest).or(target.joint(Role::Chest)).or(target.joint(Role::Spine));
    let chest = chest.unwrap_or(plan.target_hips);
    let arms = arms::Arms::new(body, &target, chest, plan.target_forward);
    let abduction = settings.arm_abduction_deg.unwrap_or_else(|| arms.least_abduction(&poses));
    arms.spread(&mut poses, abduction);

    let feet = feet::Feet::new(body, &target, &plan);
    let planted = feet.plant(&mut poses, &track, motion.fps, settings.plant_feet);
    let clearing = settings.clear_arms.then(|| clear::Clearing::new(body, &target, chest)).flatten();
    let cleared = clearing.map(|mut c| c.clear(&mut poses, motion.fps)).unwrap_or_default();

    let map = Role::ALL
        .into_iter()
        .filter_map(|role| {
            let (s, t) = (source.joint(role)?, target.joint(role)?);
            Some((role, motion.skeleton.joints[s].name.clone(), body.skeleton.joints[t].name.clone()))
        })
        .collect();
    let report = RetargetReport {
        map,
        left_out: plan.unused().map(|j| motion.skeleton.joints[j].name.clone()).collect(),
        arm_abduction_deg: abduction,
        cleared_frames: cleared.frames,
        cleared_deg: cleared.most_deg,
        cleared_deg_per_s: cleared.fastest_deg_per_s,
        travel_scale: plan.scale,
        ..planted
    };
    let motion = Motion::new(motion.name.clone(), motion.fps, body.skeleton.clone(), poses)?;
    Ok((motion, report))
}

/// What the feet of the source do, in metres of the target: frame by frame, left then right.
#[derive(Default)]
struct SourceTrack {
    heels: [Vec<Vec3>; 2],
    balls: [Vec<Vec3>; 2],
}

/// World rotations and positions of one pose.
struct World {
    rotations: Vec<Quat>,
    positions: Vec<Vec3>,
}

impl World {
    /// Forward kinematics with the rotations kept as quaternions.
    fn of(skeleton: &crate::Skeleton, locals: &[Transform]) -> Self {
        let mut world =
            Self { rotations: Vec::with_capacity(locals.len()), positions: Vec::with_capacity(locals.len()) };
        for (joint, local) in skeleton.joints.iter().zip(locals) {
            let (rotation, position) = match joint.parent {
                None => (local.rotation, local.translation),
                Some(p) => (
                    world.rotations[p] * local.rotation,
                    world.positions[p] + world.rotations[p] * local.translation,
                ),
            };
            world.rotations.push(rotation);
            world.positions.push(position);
        }
        world
    }
}
