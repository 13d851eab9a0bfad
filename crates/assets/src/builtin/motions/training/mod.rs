//! The range of motion that any humanoid garment can be trained on without capture: some ten minutes in which every part
//! that cloth hangs on goes about as far and as fast as it does in walking, running, turning, gymnastics and dance.

mod arms;
mod exercises;
mod free;
mod gaits;
mod jumps;
mod kicks;

use super::figure::{Figure, Plan};
pub(super) use jumps::{Jump, jumps};
pub(super) use kicks::{FRONT, SIDE, one_kick, pirouette};

/// A clip's name within the set, and how it is planned.
pub(super) type Clip = (&'static str, fn(&Figure) -> Plan);

/// The plan of a clip by name, its arms let loose: all of the way in gaits and free movement, half of it where they have a
/// part to play.
pub(super) fn plan(figure: &Figure, name: &str) -> Option<Plan> {
    let (seed, (_, plan)) = clips().enumerate().find(|(_, (clip, _))| *clip == name)?;
    let loose = [gaits::CLIPS, free::CLIPS].iter().any(|clips| clips.iter().any(|(clip, _)| *clip == name));
    Some(arms::freely(plan(figure), 7 * seed as u32, if loose { 1.0 } else { 0.5 }))
}

/// All clips.
pub(super) fn clips() -> impl Iterator<Item = &'static Clip> {
    [gaits::CLIPS, exercises::CLIPS, kicks::CLIPS, jumps::CLIPS, free::CLIPS].into_iter().flatten()
}
