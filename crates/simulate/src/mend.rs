//! Faults of captured motion that are mended: joints that turn round for a few frames, joints that jump, a pose that is held
//! before the motion begins.
//!
//! Markers that are mistaken for each other turn a thigh by 180° from one frame to the next, and back a few frames later; the
//! cloth on it is left inside. No joint of a person turns that fast, so it is known to be wrong, and what was there instead
//! is known well enough from both sides.

use glam::Quat;
use toile_assets::Motion;

/// What was wrong with a clip and is put right.
#[derive(Clone, Debug, PartialEq)]
pub struct Mend {
    /// The joint; none where a pose held before the motion is left out.
    pub joint: Option<String>,
    /// The first frame that is not as it was.
    pub frame: usize,
    /// How many frames are made anew, or left out.
    pub frames: usize,
    /// How far the joint turned from one frame to the next, degrees.
    pub turn_deg: f32,
}

/// No joint turns faster, rad/s: a pitcher's upper arm comes near it for some hundredths of a second.
const FASTEST: f64 = 50.0;
/// Nor farther from one frame to the next at any rate, rad.
const FARTHEST: f64 = 2.5;
/// What comes back within this time, s, was never there; what stays is spread over as long.
const GLITCH_SECS: f64 = 0.15;
/// A pose that is held before the motion takes no longer than this, s, and its joints turn by less than this, rad a frame;
/// where it ends so many joints jump at once.
const HELD_SECS: f64 = 1.0;
const HELD: f32 = 2e-3;
const JUMPING: usize = 3;

/// The clip with its glitches mended, and what they were. The root is left as it is: where it jumps the clip is refused.
pub fn mend(motion: &Motion) -> (Motion, Vec<Mend>) {
    let mut mends = Vec::new();
    let mut mended = motion.clone();
    let limit = (FASTEST / motion.fps).min(FARTHEST) as f32;
    if let Some(held) = held_pose(motion, limit)
        && let Ok(rest) = motion.trimmed_frames(held, motion.len())
    {
        mended = Motion { name: motion.name.clone(), ..rest };
        mends.push(Mend { joint: None, frame: 0, frames: held, turn_deg: 0.0 });
    }
    let longest = (GLITCH_SECS * motion.fps).round().max(2.0) as usize;
    for (j, joint) in motion.skeleton.joints.iter().enumerate().filter(|(_, j)| j.parent.is_some()) {
        let mut turns: Vec<Quat> = mended.poses.iter().map(|p| p.locals[j].rotation).collect();
        for mut found in smooth(&mut turns, limit, longest) {
            found.joint = Some(joint.name.clone());
            mends.push(found);
        }
        for (pose, turn) in mended.poses.iter_mut().zip(&turns) {
            pose.locals[j].rotation = *turn;
        }
    }
    (mended, mends)
}

/// How many frames a pose is held at the beginning, if the motion jumps away from it.
fn held_pose(motion: &Motion, limit: f32) -> Option<usize> {
    let turned = |f: usize| {
        let joints = motion.poses[f - 1].locals.iter().zip(&motion.poses[f].locals);
        joints.map(|(a, b)| a.rotation.angle_between(b.rotation))
    };
    let most = ((HELD_SECS * motion.fps) as usize).min(motion.len().saturating_sub(2));
    let end = (2..=most).find(|&f| turned(f).filter(|turn| *turn > limit).count() >= JUMPING)?;
    // Some write their own rest pose before the one that is held: the first step may be anything.
    (2..end).all(|f| turned(f).all(|turn| turn <= HELD)).then_some(end)
}

/// Mends one joint: where it turns by more than `limit` within a frame, what was in between is made from what is beside it.
fn smooth(turns: &mut [Quat], limit: f32, longest: usize) -> Vec<Mend> {
    let mut mends = Vec::new();
    let last = turns.len().saturating_sub(1);
    let mut f = 1;
    while f <= last {
        let turn = turns[f - 1].angle_between(turns[f]);
        if turn <= limit {
            f += 1;
            continue;
        }
        let comes_back = |g: &usize| {
            let whole = turns[f - 1].angle_between(turns[*g]);
            turns[g - 1].angle_between(turns[*g]) > limit
                && whole < 0.5 * turn
                && whole < 0.5 * limit * (g + 1 - f) as f32
        };
        let (from, to) = match (f + 1..=(f + longest).min(last)).find(comes_back) {
            Some(g) => (f - 1, g),
            None => ((f - 1).saturating_sub(longest / 2), (f + longest / 2).min(last)),
        };
        let (a, b) = (turns[from], turns[to]);
        for k in from + 1..to {
            turns[k] = a.slerp(b, (k - from) as f32 / (to - from) as f32);
        }
        if to - from > 1 {
            let (frame, frames) = (from + 1, to - from - 1);
            mends.push(Mend { joint: None, frame, frames, turn_deg: turn.to_degrees() });
        }
        f = to.max(f + 1);
    }
    mends
}

/// What was mended, in a sentence; nothing where nothing was.
pub fn describe(mends: &[Mend], fps: f64) -> Option<String> {
    let mut said = Vec::new();
    if let Some(held) = mends.iter().find(|m| m.joint.is_none()) {
        said.push(format!("its first {} frames hold a pose put before the motion: left out", held.frames));
    }
    let turns: Vec<&Mend> = mends.iter().filter(|m| m.joint.is_some()).collect();
    let worst = turns.iter().max_by(|a, b| a.turn_deg.total_cmp(&b.turn_deg));
    if let Some(Mend { joint: Some(joint), frame, turn_deg, .. }) = worst.copied() {
        let more = match turns.len() - 1 {
            0 => String::new(),
            1 => " and one more such glitch".into(),
            n => format!(" and {n} more such glitches"),
        };
        said.push(format!(
            "`{joint}` turns {turn_deg:.0}° within a frame at {:.2} s{more}, faster than anyone: mended from the frames beside",
            *frame as f64 / fps
        ));
    }
    (!said.is_empty()).then(|| said.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_assets::builtin;

    fn walk(fps: f64) -> (Motion, usize) {
        let body = builtin::body("mannequin:female").unwrap();
        let motion = builtin::motion("walk", &body.skeleton).unwrap().resampled(fps);
        let thigh = body.skeleton.find("r_hip").unwrap();
        (motion, thigh)
    }

    fn farthest(a: &Motion, b: &Motion, joint: usize) -> f32 {
        let pairs = a.poses.iter().zip(&b.poses);
        pairs
            .map(|(a, b)| a.locals[joint].rotation.angle_between(b.locals[joint].rotation))
            .fold(0.0, f32::max)
    }

    #[test]
    fn what_people_do_is_left_as_it_is() {
        let body = builtin::body("mannequin:female").unwrap();
        for name in ["walk", "run:3", "jump", "turn", "gym"] {
            for fps in [24.0, 30.0, 60.0, 120.0] {
                let motion = builtin::motion(name, &body.skeleton).unwrap().resampled(fps);
                assert_eq!(mend(&motion), (motion.clone(), vec![]), "{name} at {fps} Hz");
                assert_eq!(describe(&[], fps), None);
            }
        }
    }

    #[test]
    fn a_thigh_that_turns_round_for_some_frames_is_put_back() {
        for fps in [30.0, 60.0, 120.0] {
            let (motion, thigh) = walk(fps);
            let mut broken = motion.clone();
            let wrong = 20..20 + (0.08 * fps) as usize;
            for pose in &mut broken.poses[wrong.clone()] {
                pose.locals[thigh].rotation *= Quat::from_rotation_y(3.1);
            }
            let (mended, mends) = mend(&broken);
            assert_eq!(mends.len(), 1, "{fps} Hz: {mends:?}");
            assert_eq!((mends[0].frame, mends[0].frames), (wrong.start, wrong.len()));
            assert!(mends[0].turn_deg > 150.0 && mends[0].joint.is_some());
            assert!(farthest(&motion, &broken, thigh) > 2.5);
            assert!(farthest(&motion, &mended, thigh) < 0.15, "{}", farthest(&motion, &mended, thigh));
            let said = describe(&mends, fps).unwrap();
            assert!(said.contains("r_hip") && said.contains("mended"), "{said}");
        }
    }

    #[test]
    fn an_arm_that_jumps_and_stays_is_led_there() {
        let (motion, thigh) = walk(60.0);
        let mut broken = motion.clone();
        broken.poses[40..].iter_mut().for_each(|p| p.locals[thigh].rotation *= Quat::from_rotation_x(1.5));
        let (mended, mends) = mend(&broken);
        assert_eq!(mends.len(), 1);
        let fastest = mended.poses.windows(2).map(|p| {
            let [a, b] = [0, 1].map(|k| p[k].locals[thigh].rotation);
            a.angle_between(b)
        });
        assert!(fastest.fold(0.0, f32::max) < 0.3);
        assert_eq!(mended.poses[60], broken.poses[60]);
    }

    #[test]
    fn a_pose_held_before_the_motion_is_left_out() {
        let (motion, _) = walk(60.0);
        let mut held = motion.clone();
        let mut pose = motion.poses[0].clone();
        pose.locals.iter_mut().for_each(|l| l.rotation *= Quat::from_rotation_z(1.2));
        let mut other = pose.clone();
        other.locals[3].rotation *= Quat::from_rotation_z(0.3);
        held.poses.splice(0..0, std::iter::once(other).chain(std::iter::repeat_n(pose, 6)));
        let (mended, mends) = mend(&held);
        assert_eq!(mended, motion);
        assert_eq!((mends[0].frame, mends[0].frames, &mends[0].joint), (0, 7, &None));
        assert!(describe(&mends, 60.0).unwrap().contains("first 7 frames"));
    }
}
