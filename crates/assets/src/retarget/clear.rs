//! Arms kept out of the body, frame by frame.
//!
//! Proportions differ: an arm that hung beside the captured chest may lie inside the wearer's. Where it does, the arm is
//! turned out at the shoulder by the least rotation that brings it out. What a frame needs is not what it gets: the
//! corrections are widened in time and then averaged over the same width, so that they are everywhere at least what is
//! needed there and have a continuous speed. Frames farther from a cut than that are not touched.

use super::World;
use super::rest::ARMS;
use crate::{Body, Humanoid, Pose, Role, Skin, TriangleTree, vertex_normals};
use glam::{Quat, Vec3};

/// An arm may be this far inside the body, metres: skin gives way, and hands rest on hips.
const ALLOWED: f32 = 0.012;
/// The same where the upper arm begins to count: an armpit folds, and arms that hang cut as deep on every walk. Between
/// there and the elbow it changes evenly.
const ALLOWED_AT_ARMPIT: f32 = 0.035;
/// What is left inside beyond that, metres.
const ENOUGH: f32 = 5e-4;
/// Farther inside than this no nearest point says where out is, metres.
const REACH: f32 = 0.12;
/// No arm is turned further, radians.
const MOST: f32 = 0.6;
/// Corrections rise and fall over twice this, seconds.
const EASE: f64 = 0.2;
/// Points of an arm that are looked at.
const POINTS: usize = 160;
/// The upper arm begins to count at this share of its length: above it is the armpit.
const BELOW_ARMPIT: f32 = 0.4;
/// Fewer triangles are no surface.
const SURFACE: usize = 32;
/// Points that are brought out one after the other in a frame, and the shortest lever by which, metres.
const STEPS: usize = 16;
const LEVER: f32 = 0.08;
/// What turned an arm out may bring another part of it in: after so many passes it stays as it is.
const PASSES: usize = 4;

/// What was turned.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cleared {
    pub(super) frames: usize,
    pub(super) most_deg: f32,
    pub(super) fastest_deg_per_s: f32,
}

/// The surface of trunk and thighs, and points on both arms.
pub(super) struct Clearing<'a> {
    body: &'a Body,
    chest: usize,
    upper: [usize; 2],
    /// Vertices of the body that are looked at, and their weights.
    places: Vec<Vec3>,
    skin: Skin,
    surface: Vec<[u32; 3]>,
    /// Triangles at the surface's own edge, where nothing is inside or outside.
    rim: Vec<bool>,
    tree: TriangleTree,
    /// By arm: place and how deep it may be inside, metres; deeper where it is so at rest.
    arms: [Vec<(u32, f32)>; 2],
}

impl<'a> Clearing<'a> {
    /// `None` for a body without a surface to keep out of.
    pub(super) fn new(body: &'a Body, roles: &Humanoid, chest: usize) -> Option<Self> {
        let rest_pose = body.skeleton.rest_pose();
        let rest = body.skinned_positions(&body.bones(&rest_pose));
        let world = World::of(&body.skeleton, &rest_pose.locals);
        let parts = parts(body, roles)?;
        let of = |v: u32| body.skin.row(v as usize).max_by(|a, b| a.1.total_cmp(&b.1));
        let part: Vec<Part> =
            (0..rest.len() as u32).map(|v| of(v).map_or(Part::Other, |(j, _)| parts[j as usize])).collect();

        let mut used: Vec<u32> = Vec::new();
        let mut place_of = vec![u32::MAX; rest.len()];
        let mut take = |v: u32| -> u32 {
            if place_of[v as usize] == u32::MAX {
                place_of[v as usize] = used.len() as u32;
                used.push(v);
            }
            place_of[v as usize]
        };
        let trunk = |t: &&[u32; 3]| t.iter().all(|v| part[*v as usize] == Part::Trunk);
        let triangles: Vec<[u32; 3]> = body.mesh.triangles.iter().filter(trunk).copied().collect();
        if triangles.len() < SURFACE {
            return None;
        }
        let surface: Vec<[u32; 3]> = triangles.iter().map(|t| t.map(&mut take)).collect();
        let mut on_rim = vec![false; rest.len()];
        for t in &body.mesh.triangles {
            let here = t.map(|v| part[v as usize] == Part::Trunk);
            if here.contains(&true) && here.contains(&false) {
                t.iter().for_each(|v| on_rim[*v as usize] = true);
            }
        }
        let rim = triangles.iter().map(|t| t.iter().any(|v| on_rim[*v as usize])).collect();
        let joints = ARMS.map(|[_, upper, lower, _]| (roles.joint(upper), roles.joint(lower)));
        let mut arms: [Vec<(u32, f32)>; 2] = Default::default();
        let mut upper = [chest; 2];
        for (side, joints) in joints.into_iter().enumerate() {
            let (Some(shoulder), Some(elbow)) = joints else { continue };
            upper[side] = shoulder;
            let (from, to) = (world.positions[shoulder], world.positions[elbow]);
            let along = |p: Vec3| (p - from).dot(to - from) / (to - from).length_squared().max(1e-6);
            let counts = |v: &u32| match part[*v as usize] {
                Part::UpperArm(s) => s == side && along(rest[*v as usize]) > BELOW_ARMPIT,
                Part::Forearm(s) => s == side,
                _ => false,
            };
            let points: Vec<u32> = (0..rest.len() as u32).filter(counts).collect();
            let step = points.len().div_ceil(POINTS).max(1);
            let allowed = |v: u32| match part[v as usize] {
                Part::UpperArm(_) => {
                    let down = (along(rest[v as usize]) - BELOW_ARMPIT) / (1.0 - BELOW_ARMPIT);
                    ALLOWED_AT_ARMPIT + down.clamp(0.0, 1.0) * (ALLOWED - ALLOWED_AT_ARMPIT)
                }
                _ => ALLOWED,
            };
            arms[side] = points.into_iter().step_by(step).map(|v| (take(v), allowed(v))).collect();
        }
        let places: Vec<Vec3> = used.iter().map(|v| body.mesh.positions[*v as usize]).collect();
        let skin =
            Skin::from_rows(used.iter().map(|v| body.skin.row(*v as usize).collect::<Vec<_>>())).ok()?;
        let tree = TriangleTree::new(&places, &surface);
        let mut clearing = Self { body, chest, upper, places, skin, surface, rim, tree, arms };
        let standing = clearing.seen(&rest_pose);
        for side in 0..2 {
            let at_rest =
                |v: u32| clearing.depth(&standing, standing.at[v as usize]).map_or(0.0, |(depth, _)| depth);
            let points =
                clearing.arms[side].iter().map(|&(v, allowed)| (v, allowed.max(at_rest(v)))).collect();
            clearing.arms[side] = points;
        }
        Some(clearing)
    }

    /// Turns arms out of the body where they are in it.
    pub(super) fn clear(&mut self, poses: &mut [Pose], fps: f64) -> Cleared {
        let mut cleared = Cleared::default();
        let width = (EASE * fps).round().max(1.0) as usize;
        let mut turns = [vec![Vec3::ZERO; poses.len()], vec![Vec3::ZERO; poses.len()]];
        for pass in 0..PASSES {
            let mut needs = [vec![Vec3::ZERO; poses.len()], vec![Vec3::ZERO; poses.len()]];
            let mut any = false;
            for (f, pose) in poses.iter().enumerate() {
                let now = [turns[0][f], turns[1][f]];
                if pass > 0 && now == [Vec3::ZERO; 2] {
                    continue;
                }
                let mut turned = pose.clone();
                self.turn(&mut turned, now);
                let seen = self.seen(&turned);
                for side in 0..2 {
                    if pass == 0 || now[side] != Vec3::ZERO {
                        needs[side][f] = self.least_turn(&seen, side, now[side]);
                        any |= needs[side][f] != Vec3::ZERO;
                    }
                }
            }
            if !any {
                break;
            }
            for (turns, needs) in turns.iter_mut().zip(&needs) {
                for (turn, more) in turns.iter_mut().zip(envelope(needs, width)) {
                    *turn += more;
                }
            }
        }
        for (f, pose) in poses.iter_mut().enumerate() {
            let now = [turns[0][f], turns[1][f]];
            if now != [Vec3::ZERO; 2] {
                cleared.frames += 1;
                self.turn(pose, now);
            }
            for turns in &turns {
                cleared.most_deg = cleared.most_deg.max(turns[f].length().to_degrees());
                let before = turns[f.saturating_sub(1)];
                let speed = (turns[f].distance(before) * fps as f32).to_degrees();
                cleared.fastest_deg_per_s = cleared.fastest_deg_per_s.max(speed);
            }
        }
        cleared
    }

    /// Turns both upper arms by rotation vectors in the chest's frame.
    fn turn(&self, pose: &mut Pose, turns: [Vec3; 2]) {
        if turns == [Vec3::ZERO; 2] {
            return;
        }
        let skeleton = &self.body.skeleton;
        let world = World::of(skeleton, &pose.locals);
        for (&upper, turn) in self.upper.iter().zip(turns).filter(|(_, turn)| *turn != Vec3::ZERO) {
            let out = Quat::from_scaled_axis(world.rotations[self.chest] * turn);
            let above = skeleton.joints[upper].parent.map_or(Quat::IDENTITY, |p| world.rotations[p]);
            pose.locals[upper].rotation = (above.inverse() * out * world.rotations[upper]).normalize();
        }
    }

    /// Skins what is looked at.
    fn seen(&mut self, pose: &Pose) -> Seen {
        let mut at = vec![Vec3::ZERO; self.places.len()];
        self.skin.skin_positions(&self.places, &self.body.bones(pose), &mut at);
        self.tree.refit(&at);
        let normals = vertex_normals(&at, &self.surface);
        let world = World::of(&self.body.skeleton, &pose.locals);
        let shoulders = self.upper.map(|j| world.positions[j]);
        Seen { at, normals, shoulders, chest: world.rotations[self.chest] }
    }

    /// How deep inside the surface a point is, negative outside, and the way out.
    fn depth(&self, seen: &Seen, p: Vec3) -> Option<(f32, Vec3)> {
        let near = self.tree.closest_within(p, REACH)?;
        if self.rim[near.triangle as usize] {
            return None;
        }
        let corners = self.surface[near.triangle as usize];
        let normal: Vec3 =
            corners.iter().zip(near.barycentric).map(|(v, b)| b * seen.normals[*v as usize]).sum();
        let to = near.point - p;
        let sign = if to.dot(normal) < 0.0 { -1.0 } else { 1.0 };
        let out = (sign * to).try_normalize().filter(|_| near.distance_m > 1e-3);
        Some((sign * near.distance_m, out.unwrap_or(normal.normalize_or_zero())))
    }

    /// The point of an arm, turned about its shoulder, that is farthest inside beyond what is allowed: by how much, where
    /// it is from the shoulder, and the way out.
    fn deepest(&self, seen: &Seen, side: usize, turn: Quat) -> Option<(f32, Vec3, Vec3)> {
        let shoulder = seen.shoulders[side];
        let points = self.arms[side].iter().filter_map(|&(v, allowed)| {
            let arm = turn * (seen.at[v as usize] - shoulder);
            let (depth, out) = self.depth(seen, shoulder + arm)?;
            Some((depth - allowed, arm, out))
        });
        points.max_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// The least rotation about the shoulder, as a vector in the chest's frame, that brings the arm out: the point that
    /// is deepest is brought out by the least turn, then the one that is deepest now, and so on.
    fn least_turn(&self, seen: &Seen, side: usize, so_far: Vec3) -> Vec3 {
        let so_far = seen.chest * so_far;
        let mut turn = Vec3::ZERO;
        for _ in 0..STEPS {
            let deepest = self.deepest(seen, side, Quat::from_scaled_axis(turn));
            let Some((over, arm, out)) = deepest.filter(|d| d.0 > ENOUGH) else { break };
            // A turn moves the point along `out` by its product with this.
            let axis = arm.cross(out);
            turn += axis * (over / axis.length_squared().max(LEVER * LEVER));
            if (turn + so_far).length() > MOST {
                turn = (turn + so_far).clamp_length_max(MOST) - so_far;
                break;
            }
        }
        seen.chest.inverse() * turn
    }
}

/// One pose: where the places are, which way the surface looks, the shoulders and the chest's turn.
struct Seen {
    at: Vec<Vec3>,
    normals: Vec<Vec3>,
    shoulders: [Vec3; 2],
    chest: Quat,
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Trunk,
    UpperArm(usize),
    /// With the hand.
    Forearm(usize),
    Other,
}

/// What each joint belongs to: trunk are neck, chest, belly, hips and thighs.
fn parts(body: &Body, roles: &Humanoid) -> Option<Vec<Part>> {
    let hips = roles.joint(Role::Hips)?;
    let mut parts = Vec::with_capacity(body.skeleton.len());
    for (j, joint) in body.skeleton.joints.iter().enumerate() {
        let is = |role: Role| roles.joint(role) == Some(j);
        let arm = |k: usize| (0..2).find(|&side| is(ARMS[side][k]));
        let above = joint.parent.map_or(Part::Other, |p| parts[p]);
        parts.push(if let Some(side) = arm(1) {
            Part::UpperArm(side)
        } else if let Some(side) = arm(2) {
            Part::Forearm(side)
        } else if arm(0).is_some()
            || [Role::Head, Role::LeftLowerLeg, Role::RightLowerLeg].into_iter().any(is)
        {
            Part::Other
        } else if j == hips {
            Part::Trunk
        } else {
            above
        });
    }
    Some(parts)
}

/// The largest within `width` frames of each, averaged over the same width by a raised cosine: nowhere less than what is
/// needed where needs point one way, and without jumps of speed. A lone need `w` rises at `w / width` a frame at most.
fn envelope(needs: &[Vec3], width: usize) -> Vec<Vec3> {
    let last = needs.len().saturating_sub(1);
    let about = |f: usize| f.saturating_sub(width)..=(f + width).min(last);
    let largest = |f: usize| {
        about(f)
            .map(|g| needs[g])
            .fold(Vec3::ZERO, |a, b| if b.length_squared() > a.length_squared() { b } else { a })
    };
    let widened: Vec<Vec3> = (0..needs.len()).map(largest).collect();
    let weight = |k: usize| 1.0 + (std::f32::consts::PI * k as f32 / (width + 1) as f32).cos();
    let whole: f32 = weight(0) + 2.0 * (1..=width).map(weight).sum::<f32>();
    let smooth = |f: usize| -> Vec3 {
        // Beyond its ends a clip stays as it is there.
        let beyond = |k: isize| widened[(f as isize + k).clamp(0, last as isize) as usize];
        let w = width as isize;
        (-w..=w).map(|k| beyond(k) * (weight(k.unsigned_abs()) / whole)).sum()
    };
    (0..needs.len()).map(smooth).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Body, Motion, builtin};

    /// Two seconds in which the left arm goes into the trunk and comes out again, by so many radians, and two of rest.
    fn arm_into_the_chest(body: &Body, radians: f32) -> Motion {
        let shoulder = body.humanoid().joint(Role::LeftUpperArm).unwrap();
        let poses = (0..240).map(|f| {
            let mut pose = body.skeleton.rest_pose();
            let way = (0.5 - 0.5 * (std::f32::consts::TAU * (f as f32 / 120.0).min(1.0)).cos()) * radians;
            let world = World::of(&body.skeleton, &pose.locals);
            let above = body.skeleton.joints[shoulder].parent.map_or(Quat::IDENTITY, |p| world.rotations[p]);
            let inwards = Quat::from_rotation_z(-way);
            pose.locals[shoulder].rotation = above.inverse() * inwards * world.rotations[shoulder];
            pose
        });
        Motion::new("arm", 60.0, body.skeleton.clone(), poses.collect()).unwrap()
    }

    fn clearing(body: &Body) -> Clearing<'_> {
        let roles = body.humanoid();
        Clearing::new(body, &roles, roles.joint(Role::UpperChest).unwrap()).unwrap()
    }

    fn deepest(clearing: &mut Clearing<'_>, pose: &Pose) -> f32 {
        let seen = clearing.seen(pose);
        clearing.deepest(&seen, 0, Quat::IDENTITY).map_or(f32::NEG_INFINITY, |d| d.0)
    }

    #[test]
    fn an_arm_in_the_trunk_comes_out_smoothly() {
        let body = builtin::body("mannequin:female").unwrap();
        let mut clearing = clearing(&body);
        let before = arm_into_the_chest(&body, 0.8);
        let mut after = before.clone();
        let cleared = clearing.clear(&mut after.poses, 60.0);
        let worst = |clearing: &mut Clearing<'_>, motion: &Motion| {
            motion.poses.iter().map(|p| deepest(clearing, p)).fold(f32::NEG_INFINITY, f32::max)
        };
        let (was, is) = (worst(&mut clearing, &before), worst(&mut clearing, &after));
        assert!(was > 0.02, "the test must be able to fail: {was} m");
        assert!(is < 0.003, "{is} m, {cleared:?}");
        // Standing still at the end, and what is farther from the cut than twice the easing.
        let cut: Vec<usize> = (0..240).filter(|&f| deepest(&mut clearing, &before.poses[f]) > 0.0).collect();
        let (first, last) = (cut[0], cut[cut.len() - 1]);
        for f in (0..240).filter(|f| f + 30 < first || *f > last + 30) {
            assert_eq!(before.poses[f], after.poses[f], "frame {f}");
        }
        let shoulder = body.humanoid().joint(Role::LeftUpperArm).unwrap();
        let added: Vec<f32> = (0..240)
            .map(|f| {
                let [a, b] = [&before, &after].map(|m| m.poses[f].locals[shoulder].rotation);
                a.angle_between(b)
            })
            .collect();
        let most = added.iter().copied().fold(0.0, f32::max);
        let speed = added.windows(2).map(|w| (w[1] - w[0]).abs() * 60.0).fold(0.0, f32::max);
        let jerk = added.windows(3).map(|w| (w[2] - 2.0 * w[1] + w[0]).abs() * 3600.0).fold(0.0, f32::max);
        assert!(most > 0.05 && most <= 1.3 * MOST, "{most}");
        assert!(speed < 1.2 * most / EASE as f32, "{speed} rad/s for {most} rad");
        assert!(jerk < 4.0 * most / (EASE * EASE) as f32, "{jerk} rad/s² for {most} rad");
    }

    #[test]
    fn motion_that_does_not_cut_keeps_every_bit() {
        let body = builtin::body("mannequin:female").unwrap();
        let mut clearing = clearing(&body);
        for name in ["walk:1.2", "run:2.5", "arms-up"] {
            let motion = builtin::motion(name, &body.skeleton).unwrap();
            let mut poses = motion.poses.clone();
            let cleared = clearing.clear(&mut poses, motion.fps);
            assert_eq!((cleared.frames, cleared.most_deg), (0, 0.0), "{name}");
            assert!(poses == motion.poses, "{name}");
        }
    }

    #[test]
    fn an_envelope_is_at_least_what_is_needed_and_smooth() {
        let mut random = toile_geometry::Random::new(7);
        let mut needs = vec![Vec3::ZERO; 200];
        for f in [40, 41, 42, 55, 120, 199] {
            needs[f] = Vec3::new(0.1 + 0.3 * random.unit() as f32, 0.0, 0.0);
        }
        let width = 12;
        let got = envelope(&needs, width);
        let most = needs.iter().map(|n| n.x).fold(0.0, f32::max);
        for (f, (need, got)) in needs.iter().zip(&got).enumerate() {
            assert!(got.x >= need.x - 1e-6, "frame {f}: {got} of {need}");
            let near = needs.iter().enumerate().any(|(g, n)| n.x > 0.0 && f.abs_diff(g) <= 2 * width);
            assert!(near || *got == Vec3::ZERO, "frame {f} is far from all and was touched");
        }
        for w in got.windows(3) {
            assert!((w[1].x - w[0].x).abs() <= 1.01 * most / width as f32);
            // A raised cosine's speed changes by pi/2 of that over its width.
            assert!((w[2].x - 2.0 * w[1].x + w[0].x).abs() <= 3.3 * most / (width * width) as f32);
        }
    }
}
