//! How fast a motion is: what tells that a file states a wrong frame rate.

use crate::{Humanoid, Motion, Role, RootTrack};
use glam::Vec3;

/// The speed of a motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// The root's speed over the ground that it stays under for nineteen twentieths of the time, m/s.
    pub speed_m_per_s: f64,
    /// How often one foot passes the other, a second.
    pub steps_per_s: f64,
    /// How many such steps there are.
    pub steps: usize,
}

/// The fastest sprinter's top speed is 12.4 m/s.
const FASTEST_M_PER_S: f64 = 12.5;
/// Sprinters take up to 4.8 steps a second; everybody else who goes on for a while stays under 4.
const MOST_STEPS_PER_S: f64 = 4.6;

impl Pace {
    /// Measures a motion on its own skeleton.
    pub fn of(motion: &Motion) -> Self {
        let track = RootTrack::new(&motion.skeleton, &motion.poses);
        let mut speeds: Vec<f64> = track
            .frames
            .windows(2)
            .map(|w| (w[1].position - w[0].position).with_y(0.0).length() * motion.fps)
            .collect();
        speeds.sort_by(f64::total_cmp);
        let speed_m_per_s = speeds.get(speeds.len() * 19 / 20).copied().unwrap_or(0.0);
        let steps = steps(motion, &track);
        let secs = motion.duration_secs().max(1.0 / motion.fps);
        Self { speed_m_per_s, steps_per_s: steps as f64 / secs, steps }
    }

    /// What is wrong with a motion that nobody is that fast in, and what to do about it.
    pub fn complaint(&self, fps: f64) -> Option<String> {
        let too_fast = self.speed_m_per_s > FASTEST_M_PER_S;
        let too_busy = (self.steps >= 8 && self.steps_per_s > MOST_STEPS_PER_S)
            || (self.steps >= 4 && self.steps_per_s > 1.1 * MOST_STEPS_PER_S);
        if !too_fast && !too_busy {
            return None;
        }
        let what = if too_fast {
            format!("{:.0} m/s over the ground", self.speed_m_per_s)
        } else {
            format!("{:.1} steps a second", self.steps_per_s)
        };
        // A walk has two steps a second and goes at 1.3 m/s.
        let slower = [2.0, 4.0].into_iter().find(|k| {
            self.speed_m_per_s / k < 0.8 * FASTEST_M_PER_S && self.steps_per_s / k < 0.8 * MOST_STEPS_PER_S
        });
        let perhaps = slower.map_or(String::new(), |k| format!("; {:.0} would do", fps / k));
        Some(format!(
            "{what} is faster than anyone: {fps:.0} frames per second are perhaps the wrong rate{perhaps}"
        ))
    }
}

/// One foot comes past the other along the heading, and by more than a few centimetres.
fn steps(motion: &Motion, track: &RootTrack) -> usize {
    /// Feet that shuffle on the spot make no steps, m.
    const CLEAR_M: f32 = 0.08;
    let humanoid = Humanoid::of(&motion.skeleton);
    let joint = |wanted: Role| humanoid.joints.iter().find(|(role, _)| *role == wanted).map(|(_, j)| *j);
    let (Some(left), Some(right)) = (joint(Role::LeftFoot), joint(Role::RightFoot)) else { return 0 };
    let (mut ahead, mut count) = (0.0f32, 0);
    for (pose, root) in motion.poses.iter().zip(&track.frames) {
        let world = motion.skeleton.world_from_joints(pose);
        let apart = Vec3::from(world[left].translation - world[right].translation);
        let forward = Vec3::new(root.heading.sin() as f32, 0.0, root.heading.cos() as f32);
        let now = apart.dot(forward);
        if now.abs() > CLEAR_M && now * ahead <= 0.0 {
            count += usize::from(ahead != 0.0);
            ahead = now.signum();
        }
    }
    count
}

#[cfg(all(test, feature = "io"))]
mod tests {
    use super::*;
    use crate::builtin;

    #[test]
    fn walks_and_runs_are_believed_and_what_is_played_too_fast_is_not() {
        let body = builtin::body("mannequin:female").unwrap();
        for name in ["walk", "walk:1.8", "run", "turn:90", "jump", "walk-stop", "gym"] {
            let motion = builtin::motion(name, &body.skeleton).unwrap();
            assert_eq!(Pace::of(&motion).complaint(motion.fps), None, "{name}: {:?}", Pace::of(&motion));
        }
        let walk = builtin::motion("walk:1.3", &body.skeleton).unwrap();
        let pace = Pace::of(&walk);
        assert!((pace.steps_per_s - 1.9).abs() < 0.4 && (pace.speed_m_per_s - 1.3).abs() < 0.3, "{pace:?}");
        let run = builtin::motion("run", &body.skeleton).unwrap();
        let short = walk.trimmed_frames(walk.len() / 4, walk.len()).unwrap();
        for (motion, said) in
            [(walk.looped(3).unwrap(), "steps a second"), (short, "steps a second"), (run, "m/s")]
        {
            let fast = Motion { fps: 5.0 * motion.fps, ..motion };
            let complaint = Pace::of(&fast)
                .complaint(fast.fps)
                .unwrap_or_else(|| panic!("nobody is that fast: {:?}", Pace::of(&fast)));
            assert!(complaint.contains(said) && complaint.contains("wrong rate"), "{complaint}");
        }
    }
}
