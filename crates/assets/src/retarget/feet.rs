//! Feet on the ground: where the source's feet stand, the result's stand, neither floating, sinking nor
//! sliding.

use super::leg::{Leg, STRETCH};
use super::rest::{LEGS, Plan};
use super::{RetargetReport, SourceTrack, World};
use crate::{Body, Humanoid, Pose, Role};
use glam::Vec3;

/// Slower than this, a foot stands, metres per second.
const STANDING_SPEED: f32 = 0.3;
/// Higher than this above its lowest place, a foot is in the air, metres.
const STANDING_HEIGHT: f32 = 0.05;
/// Shorter contacts are noise, seconds.
const SHORTEST_STANCE: f64 = 0.06;
/// How long a correction takes to fade in and out around a stance, seconds.
const FADE: f64 = 0.2;
/// Corrections are smoothed over this to either side, seconds.
const SMOOTH: f64 = 0.02;
/// No ankle is moved further than this, metres.
const FURTHEST: f32 = 0.12;

/// A standing foot may wander this far from its place, metres: invisible, and it spares the legs.
const PLAY: f32 = 0.001;
/// The hips are lowered no further than this to let straight legs reach the ground, metres.
const LOWEST_HIPS: f32 = 0.035;

/// What of the body is needed to put its feet down.
pub(super) struct Feet<'a> {
    body: &'a Body,
    legs: [Foot; 2],
    hips: usize,
    across: (usize, usize),
}

/// One foot of the target.
struct Foot {
    leg: Leg,
    toes: Option<usize>,
    /// Points of the sole: joint they ride on and place in its frame.
    sole: Vec<(usize, Vec3)>,
    /// The heel's and the ball's place in the foot's frame.
    heel: Vec3,
    ball: Vec3,
}

/// Where one foot is during a clip.
#[derive(Default)]
struct Trail {
    heel: Vec<Vec3>,
    ball: Vec<Vec3>,
    lowest: Vec<f32>,
}

/// Which points of a foot stand in a frame.
#[derive(Clone, Copy, Default, PartialEq)]
struct Contact {
    heel: bool,
    ball: bool,
}

impl Contact {
    fn any(self) -> bool {
        self.heel || self.ball
    }
}

impl<'a> Feet<'a> {
    pub(super) fn new(body: &'a Body, roles: &Humanoid, plan: &Plan) -> Self {
        let rest = World::of(&body.skeleton, &body.skeleton.rest_pose().locals);
        let bones = body.bones(&body.skeleton.rest_pose());
        let skinned = body.skinned_positions(&bones);
        let joint = |role: Role| roles.joint(role).unwrap_or(plan.target_hips);
        let legs = LEGS.map(|[upper, lower, foot, toes]| {
            let leg = Leg { upper: joint(upper), lower: joint(lower), foot: joint(foot) };
            let toes = roles.joint(toes);
            let ankle = rest.positions[leg.foot];
            let into_foot = |p: Vec3| rest.rotations[leg.foot].inverse() * (p - ankle);
            let mut sole = sole_points(body, &skinned, &rest, leg.foot, toes);
            let ground = sole
                .iter()
                .map(|&(j, p)| (rest.positions[j] + rest.rotations[j] * p).y)
                .fold(f32::INFINITY, f32::min);
            let ground = if ground.is_finite() { ground } else { ankle.y.min(0.0) };
            let ball = toes.map_or(ankle + plan.target_forward * 0.12, |t| rest.positions[t]);
            if sole.is_empty() {
                // No surface to go by: the ground under ankle and ball.
                for p in [ankle, ball] {
                    sole.push((leg.foot, into_foot(Vec3::new(p.x, ground, p.z))));
                }
            }
            let heel = into_foot(Vec3::new(ankle.x, ground, ankle.z));
            Foot { leg, toes, sole, heel, ball: into_foot(ball) }
        });
        Self {
            body,
            legs,
            hips: plan.target_hips,
            across: (joint(Role::LeftUpperLeg), joint(Role::RightUpperLeg)),
        }
    }

    /// Shifts the clip to the ground and, when asked, holds standing feet in place. Returns the part of the
    /// report that is about feet.
    pub(super) fn plant(
        &self,
        poses: &mut [Pose],
        source: &SourceTrack,
        fps: f64,
        hold: bool,
    ) -> RetargetReport {
        let contacts = [0, 1].map(|side| contacts(&source.heels[side], &source.balls[side], fps));
        let trails = self.trails(poses);
        let floor_shift = -ground_level(&trails, &contacts, hold);
        self.lift(poses, |_| floor_shift);
        let mut trails = self.trails(poses);
        let foot_slide_before_cm = 100.0 * slide(&trails, &contacts);
        if hold {
            let goals = [0, 1].map(|side| corrections(&trails[side], &contacts[side], fps));
            self.lower_hips_where_legs_are_short(poses, &goals, fps);
            self.move_ankles(poses, &trails, &goals);
            trails = self.trails(poses);
        }
        let lowest = trails.iter().flat_map(|t| &t.lowest).fold(0.0f32, |a, &y| a.min(y));
        let mut gaps: Vec<f32> = (0..2)
            .flat_map(|s| {
                let (trail, contact) = (&trails[s], &contacts[s]);
                (0..contact.len()).filter(|&f| contact[f].any()).map(|f| trail.lowest[f].abs())
            })
            .collect();
        RetargetReport {
            floor_shift,
            foot_slide_cm: 100.0 * slide(&trails, &contacts),
            foot_slide_before_cm,
            sole_depth_cm: -100.0 * lowest,
            stance_gap_cm: 100.0 * percentile(&mut gaps, 0.95).unwrap_or(0.0),
            ..RetargetReport::default()
        }
    }

    fn trails(&self, poses: &[Pose]) -> [Trail; 2] {
        let mut trails: [Trail; 2] = Default::default();
        for pose in poses {
            let world = World::of(&self.body.skeleton, &pose.locals);
            for (foot, trail) in self.legs.iter().zip(&mut trails) {
                let place = |j: usize, p: Vec3| world.positions[j] + world.rotations[j] * p;
                trail.heel.push(place(foot.leg.foot, foot.heel));
                trail.ball.push(foot.toes.map_or(place(foot.leg.foot, foot.ball), |t| world.positions[t]));
                let lowest = foot.sole.iter().map(|&(j, p)| place(j, p).y).fold(f32::INFINITY, f32::min);
                trail.lowest.push(lowest);
            }
        }
        trails
    }

    /// Raises the hips by a height per frame.
    fn lift(&self, poses: &mut [Pose], height: impl Fn(usize) -> f32) {
        let parent = self.body.skeleton.joints[self.hips].parent;
        // Joints above the hips are at rest in every frame.
        let above = World::of(&self.body.skeleton, &self.body.skeleton.rest_pose().locals);
        let up = parent.map_or(Vec3::Y, |p| above.rotations[p].inverse() * Vec3::Y);
        for (f, pose) in poses.iter_mut().enumerate() {
            pose.locals[self.hips].translation += up * height(f);
        }
    }

    /// A leg that cannot reach the ground is helped by the hips, smoothly.
    fn lower_hips_where_legs_are_short(&self, poses: &mut [Pose], goals: &[Vec<Vec3>; 2], fps: f64) {
        let mut needed = vec![0.0f32; poses.len()];
        for (f, pose) in poses.iter().enumerate() {
            let world = World::of(&self.body.skeleton, &pose.locals);
            for (foot, goal) in self.legs.iter().zip(goals) {
                let [hip, knee, ankle] =
                    [foot.leg.upper, foot.leg.lower, foot.leg.foot].map(|j| world.positions[j]);
                let longest = (STRETCH - 0.003) * (hip.distance(knee) + knee.distance(ankle));
                let way = ankle + goal[f] - hip;
                let sideways = way.x * way.x + way.z * way.z;
                if way.length() > longest && sideways < longest * longest {
                    needed[f] = needed[f].max(-way.y - (longest * longest - sideways).sqrt());
                }
            }
            needed[f] = needed[f].clamp(0.0, LOWEST_HIPS);
        }
        let width = ((0.1 * fps) as usize).max(1);
        let widest: Vec<f32> = (0..needed.len())
            .map(|f| {
                needed[f.saturating_sub(width)..(f + width + 1).min(needed.len())]
                    .iter()
                    .copied()
                    .fold(0.0, f32::max)
            })
            .collect();
        let smooth: Vec<f32> = (0..needed.len())
            .map(|f| {
                let window = &widest[f.saturating_sub(width)..(f + width + 1).min(widest.len())];
                window.iter().sum::<f32>() / window.len() as f32
            })
            .collect();
        self.lift(poses, |f| -smooth[f]);
    }

    /// Moves the ankles by the corrections, measured from where they were before the hips were lowered.
    fn move_ankles(&self, poses: &mut [Pose], trails: &[Trail; 2], goals: &[Vec<Vec3>; 2]) {
        for (f, pose) in poses.iter_mut().enumerate() {
            for (side, foot) in self.legs.iter().enumerate() {
                let world = World::of(&self.body.skeleton, &pose.locals);
                let left =
                    (world.positions[self.across.0] - world.positions[self.across.1]).normalize_or(Vec3::X);
                let heel = world.positions[foot.leg.foot] + world.rotations[foot.leg.foot] * foot.heel;
                let lowered = trails[side].heel[f] - heel;
                // Also where there is nothing to correct, or knees would pop where corrections begin.
                let goal = world.positions[foot.leg.foot] + goals[side][f] + lowered;
                foot.leg.reach(&self.body.skeleton, pose, &world, left, goal);
            }
        }
    }
}

/// Points of the surface that can touch the ground: the lowest tenth of what hangs on foot and toes, thinned.
fn sole_points(
    body: &Body,
    skinned: &[Vec3],
    rest: &World,
    foot: usize,
    toes: Option<usize>,
) -> Vec<(usize, Vec3)> {
    let below = |j: usize, top: usize| !Humanoid::path(&body.skeleton, top, j).is_empty();
    let rides: Vec<Option<usize>> = (0..body.skeleton.len())
        .map(|j| match toes {
            Some(t) if below(j, t) => Some(t),
            _ if below(j, foot) => Some(foot),
            _ => None,
        })
        .collect();
    let mut points: Vec<(usize, Vec3)> = Vec::new();
    for (v, p) in skinned.iter().enumerate() {
        let strongest = body.skin.row(v).max_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((j, w)) = strongest
            && w > 0.5
            && let Some(on) = rides[j as usize]
        {
            points.push((on, *p));
        }
    }
    let ground = points.iter().fold(f32::INFINITY, |y, p| y.min(p.1.y));
    let top = points.iter().fold(f32::NEG_INFINITY, |y, p| y.max(p.1.y));
    points.retain(|p| p.1.y < ground + 0.25 * (top - ground) + 0.005);
    // The lowest point of each cell of 2 cm is enough for a sole.
    let mut cells: std::collections::BTreeMap<(i32, i32, usize), (usize, Vec3)> = Default::default();
    for (j, p) in points {
        let cell = ((p.x / 0.02).floor() as i32, (p.z / 0.02).floor() as i32, j);
        let kept = cells.entry(cell).or_insert((j, p));
        if p.y < kept.1.y {
            *kept = (j, p);
        }
    }
    cells.into_values().map(|(j, p)| (j, rest.rotations[j].inverse() * (p - rest.positions[j]))).collect()
}

/// Frames in which heel or ball of a source foot stand: slow and low.
fn contacts(heel: &[Vec3], ball: &[Vec3], fps: f64) -> Vec<Contact> {
    let stands = |trail: &[Vec3]| -> Vec<bool> {
        let mut heights: Vec<f32> = trail.iter().map(|p| p.y).collect();
        let floor = percentile(&mut heights, 0.02).unwrap_or(0.0);
        let reach = ((fps / 60.0).round() as usize).max(1);
        (0..trail.len())
            .map(|f| {
                let (a, b) = (f.saturating_sub(reach), (f + reach).min(trail.len() - 1));
                let speed = trail[a].distance(trail[b]) * fps as f32 / (b - a).max(1) as f32;
                speed < STANDING_SPEED && trail[f].y < floor + STANDING_HEIGHT
            })
            .collect()
    };
    let (heel, ball) = (stands(heel), stands(ball));
    let mut contacts: Vec<Contact> =
        heel.into_iter().zip(ball).map(|(heel, ball)| Contact { heel, ball }).collect();
    let shortest = (SHORTEST_STANCE * fps).ceil() as usize;
    for (start, end) in runs(&contacts) {
        if end - start < shortest {
            contacts[start..end].fill(Contact::default());
        }
    }
    contacts
}

/// Runs of frames with any contact, as half-open ranges.
fn runs(contacts: &[Contact]) -> Vec<(usize, usize)> {
    let mut runs = Vec::new();
    let mut start = None;
    for f in 0..=contacts.len() {
        match (contacts.get(f).is_some_and(|c| c.any()), start) {
            (true, None) => start = Some(f),
            (false, Some(s)) => {
                runs.push((s, f));
                start = None;
            }
            _ => {}
        }
    }
    runs
}

/// The height that becomes the ground. When feet are held it is low among the standing soles, which leaves the
/// trunk about as high as the source has it: most soles are then lowered, by bent legs alone, and the hips come
/// down only while a straight leg needs it. When they are not held, nearly all soles must be above the ground
/// at all times.
fn ground_level(trails: &[Trail; 2], contacts: &[Vec<Contact>; 2], hold: bool) -> f32 {
    let mut standing: Vec<f32> = Vec::new();
    for (trail, contact) in trails.iter().zip(contacts) {
        standing.extend(trail.lowest.iter().zip(contact).filter(|(_, c)| c.any()).map(|(y, _)| *y));
    }
    if let Some(level) = percentile(&mut standing, 0.1).filter(|_| hold) {
        return level;
    }
    let [left, right] = trails;
    let mut lowest: Vec<f32> = left.lowest.iter().zip(&right.lowest).map(|(a, b)| a.min(*b)).collect();
    percentile(&mut lowest, 0.05).unwrap_or(0.0)
}

/// How far a standing point moves between two frames: the mean of the points that stand in both.
fn drift(trail: &Trail, contacts: &[Contact], f: usize) -> Vec3 {
    let (a, b) = (contacts[f], contacts[f + 1]);
    let (heel, ball) = (trail.heel[f + 1] - trail.heel[f], trail.ball[f + 1] - trail.ball[f]);
    let flat = |v: Vec3| Vec3::new(v.x, 0.0, v.z);
    match (a.heel && b.heel, a.ball && b.ball) {
        (true, false) => flat(heel),
        (false, true) => flat(ball),
        _ => flat(0.5 * (heel + ball)),
    }
}

/// What must be added to an ankle's place, frame by frame.
fn corrections(trail: &Trail, contacts: &[Contact], fps: f64) -> Vec<Vec3> {
    let frames = contacts.len();
    let mut goals = vec![Vec3::ZERO; frames];
    let runs = runs(contacts);
    for &(start, end) in &runs {
        let mut at = Vec3::ZERO;
        for f in start..end {
            if f > start {
                at -= drift(trail, contacts, f - 1);
            }
            goals[f] = at;
        }
        // Standing where the feet are on average moves the legs least.
        let mean = goals[start..end].iter().sum::<Vec3>() / (end - start) as f32;
        for f in start..end {
            let goal = (goals[f] - mean).clamp_length_max(FURTHEST);
            goals[f] = goal * (1.0 - PLAY / goal.length().max(PLAY));
            goals[f].y = (-trail.lowest[f]).clamp(-FURTHEST, FURTHEST);
        }
    }
    let fade = (FADE * fps).ceil().max(1.0);
    let smooth = |x: f32| x * x * (3.0 - 2.0 * x);
    let mut before: Option<(usize, Vec3)> = None;
    let mut gaps = runs.clone();
    gaps.push((frames, frames));
    for (start, end) in gaps {
        let after = (start < frames).then(|| goals[start]);
        let first = before.map_or(0, |(f, _)| f + 1);
        let span = (start - first + 1) as f32;
        let length = (fade as f32).min(span);
        for f in first..start {
            let out =
                before.map_or(Vec3::ZERO, |(e, c)| c * (1.0 - smooth(((f - e) as f32 / length).min(1.0))));
            let into =
                after.map_or(Vec3::ZERO, |c| c * (1.0 - smooth(((start - f) as f32 / length).min(1.0))));
            goals[f] = out + into;
        }
        if end > start {
            before = Some((end - 1, goals[end - 1]));
        }
    }
    let mut goals = smoothed(&goals, (SMOOTH * fps).round() as usize);
    for (goal, lowest) in goals.iter_mut().zip(&trail.lowest) {
        // Never under the ground, standing or not.
        goal.y = goal.y.max(-lowest);
    }
    goals
}

/// A moving mean over `reach` frames to either side, twice, which leaves no corners.
fn smoothed(values: &[Vec3], reach: usize) -> Vec<Vec3> {
    let mean = |values: &[Vec3]| -> Vec<Vec3> {
        let window = |f: usize| &values[f.saturating_sub(reach)..(f + reach + 1).min(values.len())];
        (0..values.len()).map(|f| window(f).iter().sum::<Vec3>() / window(f).len() as f32).collect()
    };
    mean(&mean(values))
}

/// How far standing points move over a stance: 95th percentile over stances, metres.
fn slide(trails: &[Trail; 2], contacts: &[Vec<Contact>; 2]) -> f32 {
    let mut ways: Vec<f32> = Vec::new();
    for (trail, contacts) in trails.iter().zip(contacts) {
        for (start, end) in runs(contacts) {
            let (mut at, mut low, mut high) = (Vec3::ZERO, Vec3::ZERO, Vec3::ZERO);
            for f in start..end - 1 {
                at += drift(trail, contacts, f);
                low = low.min(at);
                high = high.max(at);
            }
            ways.push((high - low).length());
        }
    }
    percentile(&mut ways, 0.95).unwrap_or(0.0)
}

/// The value below which a share of the numbers lies.
fn percentile(values: &mut [f32], share: f32) -> Option<f32> {
    if values.is_empty() {
        return None;
    }
    let at = ((values.len() - 1) as f32 * share).round() as usize;
    let (_, value, _) = values.select_nth_unstable_by(at, f32::total_cmp);
    Some(*value)
}
