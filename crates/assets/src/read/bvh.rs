//! Motion from BVH files, of any exporter: any channels in any order, wrapped or not.
//!
//! A joint's rotation is the product of its channels in the order they are listed: `Zrotation Yrotation
//! Xrotation` is `R_z R_y R_x`. Position channels replace the joint's `OFFSET`, as the common importers do.

mod parse;

use super::Loaded;
use crate::axes::{Conversion, UpAxis};
use crate::{Error, Humanoid, Joint, Motion, Pose, Problem, Result, Role, Skeleton, Transform};
use glam::{DQuat, DVec3, Quat, Vec3};
use std::path::Path;

pub use parse::{Bvh, BvhJoint, Channel};

/// Units that exporters use, and what to call them. 0.056444 m is the unit of the CMU motion library
/// (0.45 inches to the file's unit), which the conversions of it to BVH kept.
const UNITS: [(f64, &str); 6] = [
    (1.0, "metres"),
    (0.1, "decimetres"),
    (0.056444, "the CMU library's unit of 1/0.45 inch"),
    (0.0254, "inches"),
    (0.01, "centimetres"),
    (0.001, "millimetres"),
];

/// From the lowest joint to the highest of a standing adult; end sites are not joints.
const JOINT_STATURE: f64 = 1.55;

/// Reads a clip. `metres_per_unit` is guessed from the skeleton's height when not given, and said.
///
/// The skeleton's rest pose is a standing pose where the file has one: an added T-pose in frame 0 is taken
/// out of the motion and becomes the rest pose, else it is the file's own (all rotations zero). Files with
/// +Z up are turned to +Y up. All of this is said in [`Loaded::notes`].
pub fn read_motion(path: impl AsRef<Path>, metres_per_unit: Option<f64>) -> Result<Loaded<Motion>> {
    let path = path.as_ref();
    let bytes = toile_model::disk::read(path).map_err(|e| Error::io(path, e))?;
    let name = path.file_stem().map_or_else(|| "motion".into(), |s| s.to_string_lossy().into_owned());
    motion_from_bytes(&bytes, path, &name, metres_per_unit)
}

/// Like [`read_motion`], from memory. `path` is only for messages.
pub fn motion_from_bytes(
    bytes: &[u8],
    path: impl AsRef<Path>,
    name: &str,
    metres_per_unit: Option<f64>,
) -> Result<Loaded<Motion>> {
    let path = path.as_ref();
    if let Some(unit) = metres_per_unit
        && !(unit.is_finite() && unit > 0.0)
    {
        return Err(Error::Invalid(format!("{unit} metres per unit makes no sense; give a positive number")));
    }
    let (bvh, problems) = parse::parse(bytes, path)?;
    to_motion(bvh, path, name, metres_per_unit, problems)
}

/// Turns channels into poses, chooses the rest pose, the unit and the up axis.
fn to_motion(
    bvh: Bvh,
    path: &Path,
    name: &str,
    metres_per_unit: Option<f64>,
    problems: Vec<Problem>,
) -> Result<Loaded<Motion>> {
    let mut notes = Vec::new();
    let mut poses: Vec<Pose> = (0..bvh.frames()).map(|f| bvh.pose(f)).collect();
    let joints = bvh
        .joints
        .iter()
        .map(|j| Joint {
            name: j.name.clone(),
            parent: j.parent,
            rest: Transform::from_translation(j.offset.as_vec3()),
        })
        .collect();
    let mut skeleton = Skeleton::new(joints)?;
    let humanoid = Humanoid::of(&skeleton);

    match reference(&skeleton, &humanoid, &poses) {
        Reference::AddedFrame => {
            set_rest(&mut skeleton, &poses.remove(0));
            notes.push("frame 0 is an added T-pose: taken as the rest pose and out of the motion".into());
        }
        Reference::FirstFrame => {
            set_rest(&mut skeleton, &poses[0]);
            notes
                .push("with all rotations zero the skeleton does not stand: frame 0 is the rest pose".into());
        }
        Reference::Zero => {}
        Reference::None => {
            notes.push("the rest pose is no standing pose: retargeting goes by directions of limbs".into());
        }
    }

    let up = up_axis(&skeleton, &humanoid);
    if up == UpAxis::Z {
        notes.push("+Z is up in the file: turned to +Y up".into());
    }
    let unit = metres_per_unit.unwrap_or_else(|| {
        let (unit, said) = guess_unit(&skeleton);
        notes.push(said);
        unit
    });
    let conversion = Conversion { metres_per_unit: unit, up };
    for (j, joint) in skeleton.joints.iter_mut().enumerate() {
        convert(&mut joint.rest, bvh.joints[j].parent.is_none(), &conversion);
    }
    for pose in &mut poses {
        for (j, local) in pose.locals.iter_mut().enumerate() {
            convert(local, bvh.joints[j].parent.is_none(), &conversion);
        }
    }
    let motion = Motion::new(name, bvh.fps(), skeleton, poses)
        .map_err(|e| Error::bad(path, "MOTION", e.to_string()))?;
    Ok(Loaded { value: motion, problems, notes })
}

impl Bvh {
    /// Number of frames.
    pub fn frames(&self) -> usize {
        let channels = self.channel_count();
        self.values.len().checked_div(channels).unwrap_or(0)
    }

    /// Values per frame.
    pub fn channel_count(&self) -> usize {
        self.joints.iter().map(|j| j.channels.len()).sum()
    }

    /// Frames per second; frame times are printed with few digits, so whole rates are restored.
    pub fn fps(&self) -> f64 {
        let fps = 1.0 / self.frame_secs;
        if (fps - fps.round()).abs() < 2e-4 * fps { fps.round() } else { fps }
    }

    /// One frame in the file's own units and axes.
    pub fn pose(&self, frame: usize) -> Pose {
        let width = self.channel_count();
        let mut row = self.values[frame * width..][..width].iter();
        let locals = self
            .joints
            .iter()
            .map(|joint| {
                let mut at = joint.offset;
                let mut turn = DQuat::IDENTITY;
                for (channel, &value) in joint.channels.iter().zip(&mut row) {
                    let value = f64::from(value);
                    match *channel {
                        Channel::Position(axis) => at[axis] = value,
                        Channel::Rotation(axis) => {
                            turn *= DQuat::from_axis_angle(DVec3::AXES[axis], value.to_radians());
                        }
                    }
                }
                Transform { rotation: turn.normalize().as_quat(), translation: at.as_vec3() }
            })
            .collect();
        Pose { locals }
    }
}

/// Where a standing pose is to be had.
enum Reference {
    /// Frame 0 was put in front of the captured motion.
    AddedFrame,
    /// Frame 0 belongs to the motion but is the only pose known to stand.
    FirstFrame,
    /// All rotations zero.
    Zero,
    /// Nowhere.
    None,
}

/// Decides where the rest pose comes from.
fn reference(skeleton: &Skeleton, humanoid: &Humanoid, poses: &[Pose]) -> Reference {
    if poses.len() > 2 && is_t_pose(skeleton, humanoid, &poses[0]) {
        let jump = mean_turn(humanoid, &poses[0], &poses[1]);
        // A real clip that starts from a T-pose leaves it no faster than it goes on moving.
        let usual =
            poses[1..].windows(2).take(30).map(|w| mean_turn(humanoid, &w[0], &w[1])).fold(0.0f32, f32::max);
        if jump > 0.05 && jump > 4.0 * usual {
            return Reference::AddedFrame;
        }
    }
    if stands(skeleton, humanoid, &skeleton.rest_pose()) {
        Reference::Zero
    } else if poses.first().is_some_and(|p| stands(skeleton, humanoid, p)) {
        Reference::FirstFrame
    } else {
        Reference::None
    }
}

/// Uses `pose` as the rest pose.
fn set_rest(skeleton: &mut Skeleton, pose: &Pose) {
    for (joint, local) in skeleton.joints.iter_mut().zip(&pose.locals) {
        joint.rest = *local;
    }
}

/// The mean rotation between two poses of the joints that a human needs, in radians. Fingers and toes are left
/// out: they carry no captured data in many files and flip.
fn mean_turn(humanoid: &Humanoid, a: &Pose, b: &Pose) -> f32 {
    let joints = Role::NEEDED.into_iter().filter_map(|role| humanoid.joint(role));
    let turns: Vec<f32> = joints.map(|j| a.locals[j].rotation.angle_between(b.locals[j].rotation)).collect();
    turns.iter().sum::<f32>() / turns.len().max(1) as f32
}

/// Direction from the joint of one role to that of another.
fn direction(world: &[glam::Affine3A], humanoid: &Humanoid, from: Role, to: Role) -> Option<Vec3> {
    let line = world[humanoid.joint(to)?].translation - world[humanoid.joint(from)?].translation;
    Vec3::from(line).try_normalize()
}

/// Legs parallel to the trunk and the trunk straight, within about 45°: true whichever axis is up.
fn stands(skeleton: &Skeleton, humanoid: &Humanoid, pose: &Pose) -> bool {
    let world = skeleton.world_from_joints(pose);
    let Some(up) = direction(&world, humanoid, Role::Hips, Role::Head) else { return false };
    [
        (Role::LeftUpperLeg, Role::LeftLowerLeg),
        (Role::LeftLowerLeg, Role::LeftFoot),
        (Role::RightUpperLeg, Role::RightLowerLeg),
        (Role::RightLowerLeg, Role::RightFoot),
    ]
    .into_iter()
    .all(|(from, to)| direction(&world, humanoid, from, to).is_some_and(|d| d.dot(up) < -0.7))
}

/// Stands with both arms stretched sideways.
fn is_t_pose(skeleton: &Skeleton, humanoid: &Humanoid, pose: &Pose) -> bool {
    let world = skeleton.world_from_joints(pose);
    let Some(left) = direction(&world, humanoid, Role::RightUpperLeg, Role::LeftUpperLeg) else {
        return false;
    };
    let arms = [
        (Role::LeftUpperArm, Role::LeftLowerArm, 1.0),
        (Role::LeftLowerArm, Role::LeftHand, 1.0),
        (Role::RightUpperArm, Role::RightLowerArm, -1.0),
        (Role::RightLowerArm, Role::RightHand, -1.0),
    ];
    stands(skeleton, humanoid, pose)
        && arms.into_iter().all(|(from, to, sign)| {
            direction(&world, humanoid, from, to).is_some_and(|d| sign * d.dot(left) > 0.9)
        })
}

/// The axis along which the resting character's head is above its hips.
fn up_axis(skeleton: &Skeleton, humanoid: &Humanoid) -> UpAxis {
    let world = skeleton.world_from_joints(&skeleton.rest_pose());
    match direction(&world, humanoid, Role::Hips, Role::Head) {
        Some(up) if up.z > 0.8 => UpAxis::Z,
        _ => UpAxis::Y,
    }
}

/// Chooses among [`UNITS`] the one in which the skeleton is nearest to an adult's height.
fn guess_unit(skeleton: &Skeleton) -> (f64, String) {
    let world = skeleton.world_from_joints(&skeleton.rest_pose());
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for m in &world {
        low = low.min(m.translation.into());
        high = high.max(m.translation.into());
    }
    // The vertical extent, whichever axis is up; a T-pose is about as wide as it is high.
    let height = f64::from((high - low).max_element());
    if !(height.is_finite() && height > 0.0) {
        return (1.0, "the skeleton has no extent: 1 unit taken as 1 m".into());
    }
    let off = |unit: f64| (height * unit / JOINT_STATURE).ln().abs();
    let best = UNITS.into_iter().min_by(|a, b| off(a.0).total_cmp(&off(b.0)));
    match best {
        Some((unit, called)) if off(unit) < 0.4 => (
            unit,
            format!("unit guessed: {called} ({unit} m), so that the skeleton is {:.2} m high", height * unit),
        ),
        _ => {
            let unit = JOINT_STATURE / height;
            (
                unit,
                format!(
                    "no known unit fits: the skeleton was scaled to {JOINT_STATURE} m (1 unit = {unit:.6} m)"
                ),
            )
        }
    }
}

/// Into metres; roots also turn with the axes.
fn convert(local: &mut Transform, is_root: bool, conversion: &Conversion) {
    if is_root {
        local.translation = conversion.point(local.translation);
        local.rotation = if conversion.up == UpAxis::Y {
            local.rotation
        } else {
            Quat::normalize(conversion.rotation() * local.rotation)
        };
    } else {
        local.translation *= conversion.metres_per_unit as f32;
    }
}
