//! The range of motion that any humanoid garment can be trained on without capture: some ten minutes in which every part
//! that cloth hangs on goes about as far and as fast as it does in walking, running, turning, gymnastics and dance.

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

/// All clips.
pub(super) fn clips() -> impl Iterator<Item = &'static Clip> {
    [gaits::CLIPS, exercises::CLIPS, kicks::CLIPS, jumps::CLIPS, free::CLIPS].into_iter().flatten()
}
