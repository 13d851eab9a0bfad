//! Animations sampled at a constant rate as motions of rigid joints.

use super::document::{Animation, Document, Sampler};
use super::nodes::{Local, Nodes};
use super::rig::{Folding, Posed};
use crate::{Error, Motion, Pose, Problem, Result, Skeleton};
use glam::{DQuat, DVec4};

/// How values between keys are found (specification, appendix C).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Interpolation {
    Step,
    Linear,
    CubicSpline,
}

/// Keys of one property of one node.
struct Track {
    node: usize,
    property: Property,
    times: Vec<f32>,
    /// One per key; for cubic splines in-tangent, value, out-tangent of each key.
    values: Vec<DVec4>,
    interpolation: Interpolation,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Property {
    Translation,
    Rotation,
    Scale,
}

/// What reading animations gave besides motions.
#[derive(Default)]
pub(super) struct Remarks {
    pub problems: Vec<Problem>,
    pub notes: Vec<String>,
}

/// Transforms that may be sampled from a file in any case, and for each of its bytes: a file of two keys a
/// year apart must not fill the memory.
const SAMPLES_AT_LEAST: u64 = 8 << 20;
const SAMPLES_PER_BYTE: u64 = 4;

/// All animations that move the skeleton.
pub(super) fn motions(
    doc: &Document,
    nodes: &Nodes,
    folding: &Folding,
    skeleton: &Skeleton,
    fps: f64,
) -> Result<(Vec<Motion>, Remarks)> {
    if !(fps.is_finite() && fps > 0.0) {
        return Err(Error::Invalid(format!("cannot sample animations at {fps} frames per second")));
    }
    let mut player = Player::new(doc, nodes, folding, skeleton, fps);
    let mut motions = Vec::new();
    let mut remarks = Remarks::default();
    let mut idle = Vec::new();
    for (a, animation) in doc.json.animations.iter().enumerate() {
        let name = animation.name.clone().unwrap_or_else(|| format!("animation {a}"));
        let place = format!("animation {a} `{name}`");
        let tracks = player.tracks(animation, &place)?;
        let Some([start, end]) = span(&tracks) else {
            idle.push(name);
            continue;
        };
        if start > 1.5 / fps as f32 {
            remarks.notes.push(format!("{name}: starts at {start:.3} s; the time before is left out"));
        }
        let poses = player.poses(&tracks, [start, end], &place)?;
        motions.push(Motion::new(name, fps, skeleton.clone(), poses)?);
    }
    remarks.problems = player.problems();
    if !idle.is_empty() {
        remarks.notes.push(format!("animations that do not move this skeleton: {}", idle.join(", ")));
    }
    Ok((motions, remarks))
}

/// The first and the last key of all tracks; nothing where there is none.
fn span(tracks: &[Track]) -> Option<[f32; 2]> {
    let start = tracks.iter().filter_map(|t| t.times.first()).copied().fold(f32::INFINITY, f32::min);
    let end = tracks.iter().filter_map(|t| t.times.last()).copied().fold(f32::NEG_INFINITY, f32::max);
    (start <= end).then_some([start, end])
}

/// Plays the animations of a file on one skeleton, and notes what of them it cannot do.
struct Player<'a> {
    doc: &'a Document<'a>,
    nodes: &'a Nodes,
    folding: &'a Folding<'a>,
    fps: f64,
    /// Nodes that move a joint.
    needed: Vec<bool>,
    /// Transforms that may still be sampled.
    samples_left: u64,
    locals: Vec<Local>,
    posed: Posed,
    /// Channels of morph targets.
    morphing: usize,
    /// Joints whose scale is animated, and by how much at most.
    scaled: Vec<bool>,
    worst_scale: f64,
}

impl<'a> Player<'a> {
    fn new(
        doc: &'a Document<'a>,
        nodes: &'a Nodes,
        folding: &'a Folding<'a>,
        skeleton: &Skeleton,
        fps: f64,
    ) -> Self {
        let mut needed = vec![false; nodes.parent.len()];
        folding.needed().iter().for_each(|&n| needed[n] = true);
        let locals = nodes.locals.clone();
        let posed = folding.posed(&locals);
        let samples_left = SAMPLES_AT_LEAST + SAMPLES_PER_BYTE * doc.total_bytes();
        let (scaled, worst_scale) = (vec![false; skeleton.len()], 0.0);
        Self {
            doc,
            nodes,
            folding,
            fps,
            needed,
            samples_left,
            locals,
            posed,
            morphing: 0,
            scaled,
            worst_scale,
        }
    }

    /// The tracks of an animation that move a joint.
    fn tracks(&mut self, animation: &Animation, place: &str) -> Result<Vec<Track>> {
        let mut tracks = Vec::new();
        for (c, channel) in animation.channels.iter().enumerate() {
            let place = format!("{place}, channel {c}");
            let Some(node) = channel.target.node else { continue };
            let Some(&needed) = self.needed.get(node) else {
                let what = format!("names node {node}, there are {}", self.needed.len());
                return Err(self.doc.bad(place, what));
            };
            let Some(sampler) = animation.samplers.get(channel.sampler) else {
                let what =
                    format!("names sampler {}, there are {}", channel.sampler, animation.samplers.len());
                return Err(self.doc.bad(place, what));
            };
            let property = match channel.target.path.as_str() {
                "translation" => Property::Translation,
                "rotation" => Property::Rotation,
                "scale" => Property::Scale,
                "weights" => {
                    self.morphing += 1;
                    continue;
                }
                // Extensions animate other things, none of them bones.
                _ => continue,
            };
            if needed {
                tracks.push(track(self.doc, sampler, node, property, &place)?);
            }
        }
        Ok(tracks)
    }

    /// Samples tracks from their first key to their last.
    fn poses(&mut self, tracks: &[Track], [start, end]: [f32; 2], place: &str) -> Result<Vec<Pose>> {
        let fps = self.fps;
        // Times are stored in single precision: a clip of exactly ten frames may fall short by a hair.
        let span = (f64::from(end) - f64::from(start)) * fps + 1e-3;
        let frames = span.floor() + 1.0;
        let cost = (frames + 1.0) * self.folding.needed().len().max(self.scaled.len()) as f64;
        if cost > self.samples_left as f64 {
            let what = format!(
                "lasts {:.0} s, which is {frames:.0} frames at {fps} per second: too many for a file of this size",
                end - start
            );
            return Err(self.doc.bad(place, what));
        }
        self.samples_left -= cost as u64;
        let mut poses: Vec<Pose> = Vec::new();
        for f in 0..frames as usize {
            let secs = f64::from(start) + f as f64 / fps;
            for t in tracks {
                t.apply(secs, &mut self.locals[t.node]);
            }
            self.folding.pose(&self.locals, &mut self.posed);
            self.worst_scale = self.worst_scale.max(self.folding.residual(&self.posed, &mut self.scaled));
            poses.push(self.folding.locals(&self.posed));
        }
        tracks.iter().for_each(|t| self.locals[t.node] = self.nodes.locals[t.node]);
        let broken =
            |p: &Pose| p.locals.iter().any(|l| !l.rotation.is_finite() || !l.translation.is_finite());
        match poses.iter().position(broken) {
            Some(frame) => Err(self.doc.bad(place, format!("frame {frame} is not finite"))),
            None => Ok(poses),
        }
    }

    /// What of all animations was left out.
    fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let scaled = self.scaled.iter().filter(|s| **s).count();
        if scaled > 0 {
            let what = format!(
                "joints whose scale changes with the animation (by up to {:.1} %): joints here are rigid",
                100.0 * self.worst_scale
            );
            problems.push(Problem::new(what, scaled, "scale held as at rest; positions are kept"));
        }
        if self.morphing > 0 {
            let what = "animations of morph targets: not pure linear blend skinning";
            problems.push(Problem::new(what, self.morphing, "ignored"));
        }
        problems
    }
}

/// Reads and checks the keys of a sampler.
fn track(doc: &Document, sampler: &Sampler, node: usize, property: Property, place: &str) -> Result<Track> {
    let interpolation = match sampler.interpolation.as_deref() {
        None | Some("LINEAR") => Interpolation::Linear,
        Some("STEP") => Interpolation::Step,
        Some("CUBICSPLINE") => Interpolation::CubicSpline,
        Some(other) => return Err(doc.bad(place, format!("interpolation {other} does not exist"))),
    };
    let times_place = format!("{place}, times");
    let times: Vec<f32> = doc.floats::<1>(sampler.input, &times_place)?.into_iter().map(|[t]| t).collect();
    if times.is_empty() {
        return Err(doc.bad(times_place, "there are no keys"));
    }
    if let Some(k) = times.windows(2).position(|w| w[1] < w[0]) {
        let what = format!("key {} is at {} s, before the key ahead of it", k + 1, times[k + 1]);
        return Err(doc.bad(times_place, what));
    }
    let place = format!("{place}, values");
    let wide = |v: [f32; 3]| DVec4::new(v[0].into(), v[1].into(), v[2].into(), 0.0);
    let mut values: Vec<DVec4> = match property {
        Property::Rotation => doc
            .floats::<4>(sampler.output, &place)?
            .iter()
            .map(|v| DVec4::from_array(v.map(f64::from)))
            .collect(),
        _ => doc.floats::<3>(sampler.output, &place)?.into_iter().map(wide).collect(),
    };
    let per_key = if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
    if values.len() != times.len() * per_key {
        let what = format!("has {} values for {} keys, {per_key} each", values.len(), times.len());
        return Err(doc.bad(place, what));
    }
    if property == Property::Rotation {
        for k in 0..times.len() {
            let v = &mut values[k * per_key + per_key / 2];
            let length = v.length();
            if length < 1e-6 {
                return Err(doc.bad(place, format!("key {k} is a quaternion of no length")));
            }
            // A spline's tangents belong to the value as stored; it is normalised after the blend.
            if interpolation != Interpolation::CubicSpline {
                *v /= length;
            }
        }
    }
    Ok(Track { node, property, times, values, interpolation })
}

impl Track {
    /// Sets the animated property of a node to its value at a time.
    fn apply(&self, secs: f64, local: &mut Local) {
        let v = self.at(secs);
        // An animated node must not have a matrix (section 3.5); where it does, its shear gives way.
        local.sheared = None;
        match self.property {
            Property::Translation => local.translation = v.truncate(),
            Property::Scale => local.scale = v.truncate(),
            Property::Rotation => {
                let q = DQuat::from_vec4(v);
                if q.length_squared() > 1e-12 {
                    local.rotation = q.normalize();
                }
            }
        }
    }

    /// The value at a time, held before the first key and after the last.
    fn at(&self, secs: f64) -> DVec4 {
        let last = self.times.len() - 1;
        let after = self.times.partition_point(|&t| f64::from(t) <= secs);
        let (k, to) = match after {
            0 => return self.value(0),
            n if n > last => return self.value(last),
            n => (n - 1, n),
        };
        let (t0, t1) = (f64::from(self.times[k]), f64::from(self.times[to]));
        let dt = t1 - t0;
        let u = if dt > 0.0 { (secs - t0) / dt } else { 0.0 };
        let (a, b) = (self.value(k), self.value(to));
        match self.interpolation {
            Interpolation::Step => a,
            Interpolation::Linear if self.property == Property::Rotation => {
                // The shorter way round.
                let (qa, qb) = (DQuat::from_vec4(a), DQuat::from_vec4(b));
                DVec4::from_array(qa.slerp(qb, u).to_array())
            }
            Interpolation::Linear => a.lerp(b, u),
            Interpolation::CubicSpline => {
                let (out, into) = (self.values[3 * k + 2] * dt, self.values[3 * to] * dt);
                let (u2, u3) = (u * u, u * u * u);
                a * (2.0 * u3 - 3.0 * u2 + 1.0)
                    + out * (u3 - 2.0 * u2 + u)
                    + b * (3.0 * u2 - 2.0 * u3)
                    + into * (u3 - u2)
            }
        }
    }

    fn value(&self, k: usize) -> DVec4 {
        match self.interpolation {
            Interpolation::CubicSpline => self.values[3 * k + 1],
            _ => self.values[k],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(interpolation: Interpolation, values: Vec<DVec4>) -> Track {
        Track { node: 0, property: Property::Translation, times: vec![1.0, 3.0], values, interpolation }
    }

    #[test]
    fn keys_are_held_stepped_blended_and_splined() {
        let (a, b) = (DVec4::splat(2.0), DVec4::splat(6.0));
        let linear = track(Interpolation::Linear, vec![a, b]);
        assert_eq!([0.0, 1.5, 9.0].map(|t| linear.at(t).x), [2.0, 3.0, 6.0]);
        let step = track(Interpolation::Step, vec![a, b]);
        assert_eq!([0.0, 2.999, 3.0].map(|t| step.at(t).x), [2.0, 2.0, 6.0]);
        // A cubic through values and slopes of t² is t² itself.
        let slope = |t: f64| DVec4::splat(2.0 * t);
        let spline = track(
            Interpolation::CubicSpline,
            vec![slope(1.0), DVec4::ONE, slope(1.0), slope(3.0), DVec4::splat(9.0), slope(3.0)],
        );
        for t in [1.0f64, 1.3, 2.0, 2.9, 3.0] {
            assert!((spline.at(t).x - t * t).abs() < 1e-12, "{t}");
        }
    }
}
