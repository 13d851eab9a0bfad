//! Poses over time.

use crate::{Error, Pose, Result, RootTrack, Skeleton, Transform};
use glam::{Quat, Vec3};

/// A clip: poses of one skeleton at a constant rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Motion {
    /// For reports and file names.
    pub name: String,
    /// Frames per second.
    pub fps: f64,
    /// The joints the poses speak of.
    pub skeleton: Skeleton,
    /// At least one.
    pub poses: Vec<Pose>,
}

impl Motion {
    /// Puts the parts together and checks that they fit.
    pub fn new(name: impl Into<String>, fps: f64, skeleton: Skeleton, poses: Vec<Pose>) -> Result<Self> {
        let name = name.into();
        if !(fps.is_finite() && fps > 0.0) {
            return Err(Error::Invalid(format!("motion `{name}` has {fps} frames per second")));
        }
        if poses.is_empty() {
            return Err(Error::Invalid(format!("motion `{name}` has no frames")));
        }
        if let Some(frame) = poses.iter().position(|p| p.locals.len() != skeleton.len()) {
            return Err(Error::Invalid(format!(
                "motion `{name}`, frame {frame}: {} joints, the skeleton has {}",
                poses[frame].locals.len(),
                skeleton.len()
            )));
        }
        Ok(Self { name, fps, skeleton, poses })
    }

    /// Number of frames.
    pub fn len(&self) -> usize {
        self.poses.len()
    }

    /// Never true for a motion made by [`Motion::new`].
    pub fn is_empty(&self) -> bool {
        self.poses.is_empty()
    }

    /// From the first frame to the last.
    pub fn duration_secs(&self) -> f64 {
        (self.poses.len() - 1) as f64 / self.fps
    }

    /// The pose at a time, interpolated between frames and held at both ends.
    pub fn at(&self, secs: f64) -> Pose {
        let last = self.poses.len() - 1;
        let frame = (secs * self.fps).clamp(0.0, last as f64);
        let i = (frame.floor() as usize).min(last);
        let t = (frame - i as f64) as f32;
        if t < 1e-6 || i == last { self.poses[i].clone() } else { self.poses[i].lerp(&self.poses[i + 1], t) }
    }

    /// The same motion at another rate.
    #[must_use]
    pub fn resampled(&self, fps: f64) -> Self {
        let frames = (self.duration_secs() * fps + 1e-9).floor() as usize + 1;
        let poses = (0..frames).map(|f| self.at(f as f64 / fps)).collect();
        Self { fps, poses, name: self.name.clone(), skeleton: self.skeleton.clone() }
    }
}

/// Editing. Every operation gives a new clip at the same rate.
impl Motion {
    fn with_poses(&self, poses: Vec<Pose>) -> Self {
        Self { name: self.name.clone(), fps: self.fps, skeleton: self.skeleton.clone(), poses }
    }

    /// Frames `first` up to but not including `end`.
    pub fn trimmed_frames(&self, first: usize, end: usize) -> Result<Self> {
        if first >= end || end > self.poses.len() {
            return Err(Error::Invalid(format!(
                "motion `{}` has {} frames; {first}..{end} is not a part of it",
                self.name,
                self.poses.len()
            )));
        }
        Ok(self.with_poses(self.poses[first..end].to_vec()))
    }

    /// From one time to another, in seconds; the end may lie beyond the clip's.
    pub fn trimmed(&self, from_secs: f64, to_secs: f64) -> Result<Self> {
        let to_secs = to_secs.min(self.duration_secs());
        if !(from_secs >= 0.0 && from_secs <= to_secs) {
            return Err(Error::Invalid(format!(
                "motion `{}` lasts {:.3} s; {from_secs:.3} s to {to_secs:.3} s is not a part of it",
                self.name,
                self.duration_secs()
            )));
        }
        let frames = ((to_secs - from_secs) * self.fps + 1e-6).floor() as usize + 1;
        Ok(self.with_poses((0..frames).map(|f| self.at(from_secs + f as f64 / self.fps)).collect()))
    }

    /// `factor` times as fast: 2 halves the duration.
    pub fn with_speed(&self, factor: f64) -> Result<Self> {
        if !(factor.is_finite() && factor > 0.0 && self.poses.len() as f64 / factor < 1e8) {
            return Err(Error::Invalid(format!(
                "motion `{}` cannot be played {factor} times as fast",
                self.name
            )));
        }
        let frames = ((self.poses.len() - 1) as f64 / factor + 1e-6).floor() as usize + 1;
        Ok(self.with_poses((0..frames).map(|f| self.at(f as f64 * factor / self.fps)).collect()))
    }

    /// Plays up to a frame and then holds its pose for a while: an abrupt stop.
    pub fn frozen_at(&self, frame: usize, hold_secs: f64) -> Result<Self> {
        let mut stopped = self.trimmed_frames(0, frame.saturating_add(1))?;
        if !(hold_secs >= 0.0 && hold_secs * self.fps < 1e8) {
            return Err(Error::Invalid(format!("a pose cannot be held for {hold_secs} s")));
        }
        let hold = (hold_secs * self.fps).round() as usize;
        let last = self.poses[frame].clone();
        stopped.poses.extend(std::iter::repeat_n(last, hold));
        Ok(stopped)
    }

    /// `times` in a row, walking on: each repetition starts where, and facing as, the one before ended. Its
    /// first frame stands for the last one of the one before.
    pub fn looped(&self, times: usize) -> Result<Self> {
        let mut out = self.clone();
        for _ in 1..times.max(1) {
            out.append(self, 0.0)?;
        }
        Ok(out)
    }

    /// This clip and then another, moved on the floor and turned about the vertical so that it goes on where
    /// this one ends. Over the last `blend_secs` the two are mixed; with 0 the other's first frame stands for
    /// this one's last.
    pub fn then(&self, other: &Self, blend_secs: f64) -> Result<Self> {
        let mut out = self.clone();
        out.append(other, blend_secs)?;
        Ok(out)
    }

    /// [`Motion::then`] in place.
    pub fn append(&mut self, other: &Self, blend_secs: f64) -> Result<()> {
        if other.skeleton.len() != self.skeleton.len() {
            return Err(Error::Invalid(format!(
                "motion `{}` has {} joints, `{}` has {}; retarget one of them first",
                self.name,
                self.skeleton.len(),
                other.name,
                other.skeleton.len()
            )));
        }
        if blend_secs.is_nan() || blend_secs < 0.0 {
            return Err(Error::Invalid(format!("two motions cannot be mixed over {blend_secs} s")));
        }
        let rate = if other.fps == self.fps { None } else { Some(other.resampled(self.fps)) };
        let other = rate.as_ref().unwrap_or(other);
        let shared = (self.poses.len() - 1).min(other.poses.len() - 1);
        let blend = ((blend_secs * self.fps).round() as usize).min(shared);
        let meet = self.poses.len() - 1 - blend;
        let here = RootTrack::new(&self.skeleton, [&self.poses[meet]]).frames[0];
        let there = RootTrack::new(&self.skeleton, [&other.poses[0]]).frames[0];
        // Heading and floor position are carried over; height stays the other clip's own.
        let turn = Quat::from_rotation_y((here.heading - there.heading) as f32);
        let mut shift = here.position.as_vec3() - turn * there.position.as_vec3();
        shift.y = 0.0;
        let moved = |pose: &Pose| {
            let mut pose = pose.clone();
            for (local, joint) in pose.locals.iter_mut().zip(&self.skeleton.joints) {
                if joint.parent.is_none() {
                    local.rotation = (turn * local.rotation).normalize();
                    local.translation = turn * local.translation + shift;
                }
            }
            pose
        };
        let mut added: Vec<Pose> = other.poses[1..].iter().map(moved).collect();
        for (f, next) in added.iter_mut().enumerate().take(blend) {
            let t = (f + 1) as f32 / (blend + 1) as f32;
            *next = self.poses[meet + 1 + f].lerp(next, t * t * (3.0 - 2.0 * t));
        }
        self.poses.truncate(meet + 1);
        self.poses.extend(added);
        Ok(())
    }

    /// Left and right exchanged, reflected across the plane x = 0. Works on each joint's turn away from its
    /// rest, so joints may have any axes, as long as the rest pose itself is symmetric.
    pub fn mirrored(&self) -> Result<Self> {
        let partner = mirror_partners(&self.skeleton)?;
        let joints = &self.skeleton.joints;
        let rest = world_rotations(&self.skeleton, &self.skeleton.rest_pose());
        let parent_rest = |j: usize| joints[j].parent.map_or(Quat::IDENTITY, |p| rest[p]);
        let mirror = |pose: &Pose| {
            let world = world_rotations(&self.skeleton, pose);
            let mut turned: Vec<Quat> = Vec::with_capacity(joints.len());
            let mut locals = Vec::with_capacity(joints.len());
            for (j, joint) in joints.iter().enumerate() {
                let m = partner[j];
                let rotation = reflect_rotation(world[m] * rest[m].inverse()) * rest[j];
                let above = joint.parent.map_or(Quat::IDENTITY, |p| turned[p]);
                turned.push(rotation);
                let translation = if joint.parent.is_none() {
                    reflect(pose.locals[m].translation)
                } else {
                    let moved = pose.locals[m].translation - joints[m].rest.translation;
                    joint.rest.translation + parent_rest(j).inverse() * reflect(parent_rest(m) * moved)
                };
                locals.push(Transform { rotation: (above.inverse() * rotation).normalize(), translation });
            }
            Pose { locals }
        };
        Ok(self.with_poses(self.poses.iter().map(mirror).collect()))
    }
}

fn reflect(p: Vec3) -> Vec3 {
    Vec3::new(-p.x, p.y, p.z)
}

/// `S R S` for the reflection `S` across x = 0.
fn reflect_rotation(q: Quat) -> Quat {
    Quat::from_xyzw(q.x, -q.y, -q.z, q.w)
}

fn world_rotations(skeleton: &Skeleton, pose: &Pose) -> Vec<Quat> {
    let mut world: Vec<Quat> = Vec::with_capacity(skeleton.len());
    for (joint, local) in skeleton.joints.iter().zip(&pose.locals) {
        world.push(joint.parent.map_or(local.rotation, |p| world[p] * local.rotation));
    }
    world
}

/// For each joint its counterpart on the other side: by name, else by where it is at rest; itself in the
/// middle.
fn mirror_partners(skeleton: &Skeleton) -> Result<Vec<usize>> {
    let world = skeleton.world_from_joints(&skeleton.rest_pose());
    let at: Vec<Vec3> = world.iter().map(|w| w.translation.into()).collect();
    let size = at.iter().map(|p| p.distance(at[0])).fold(0.0, f32::max).max(1e-6);
    let mut partner = Vec::with_capacity(skeleton.len());
    let mut alone = Vec::new();
    for (j, joint) in skeleton.joints.iter().enumerate() {
        let named = other_side(&joint.name).into_iter().find_map(|name| skeleton.find(&name));
        let found = named.or_else(|| {
            let off = |k: usize| at[k].distance(reflect(at[j]));
            // Joints at one place (a chain's start and its twist joint) are told apart by their order.
            let best = (0..at.len()).min_by(|&a, &b| off(a).total_cmp(&off(b)))?;
            let itself = off(j) <= off(best) + 1e-4 * size;
            (off(best) < 0.05 * size).then_some(if itself { j } else { best })
        });
        match found {
            Some(m) => partner.push(m),
            None => {
                alone.push(joint.name.as_str());
                partner.push(j);
            }
        }
    }
    let uneven = (0..partner.len()).filter(|&j| partner[partner[j]] != j);
    alone.extend(uneven.map(|j| skeleton.joints[j].name.as_str()));
    if alone.is_empty() {
        return Ok(partner);
    }
    alone.truncate(8);
    Err(Error::Invalid(format!(
        "cannot tell left from right: no counterpart for {}; name them `Left…`/`Right…` or make the rest pose symmetric",
        alone.join(", ")
    )))
}

/// The names that the counterpart of a joint on the other side of the body may have; none where the name tells of no side.
pub fn other_side(name: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (left, right) in [("Left", "Right"), ("left", "right"), ("LEFT", "RIGHT")] {
        for (from, to) in [(left, right), (right, left)] {
            if name.contains(from) {
                names.push(name.replacen(from, to, 1));
            }
        }
    }
    // A letter of its own at either end, or before a capital: `l_hip`, `thigh.L`, `hand_r`, `LThumb`.
    let swap = |c: char| match c {
        'l' => Some('r'),
        'r' => Some('l'),
        'L' => Some('R'),
        'R' => Some('L'),
        _ => None,
    };
    let letters: Vec<char> = name.chars().collect();
    let apart = |c: Option<&char>| c.is_none_or(|c| !c.is_alphanumeric());
    for (k, &c) in letters.iter().enumerate() {
        let Some(other) = swap(c) else { continue };
        let before = k.checked_sub(1).map(|k| &letters[k]);
        let after = letters.get(k + 1);
        let capital = c.is_uppercase() && after.is_some_and(|a| a.is_uppercase());
        if apart(before) && (apart(after) || capital) {
            let mut changed = letters.clone();
            changed[k] = other;
            names.push(changed.into_iter().collect());
        }
    }
    names
}
