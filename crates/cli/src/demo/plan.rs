//! What a demo does: which garment, which clips, how much of everything.

use anyhow::Result;
use toile_assets::{Motion, Skeleton, builtin};

/// The choices of one run.
pub struct Plan {
    pub garment: &'static str,
    /// Clips to learn from; speeds and angles differ from those it is judged on.
    pub train: &'static [&'static str],
    /// Clips it has never seen; the first is the one on film.
    pub test: &'static [&'static str],
    /// Stops branched off every clip to learn from, and off every unseen one.
    pub stops: [usize; 2],
    /// No more of every clip, s: to learn from, and unseen.
    pub seconds: Option<[f64; 2]>,
    /// Frames of a take for one of the film.
    pub every: usize,
    /// Of a pane, in pixels.
    pub pane: [u32; 2],
    /// Garments that are shown beside the one that is learned.
    pub wardrobe: &'static [(&'static str, [u8; 3])],
    /// Garments of the crowd, and how long it is timed, s.
    pub crowd: usize,
    pub crowd_secs: f64,
}

const TRAIN: [&str; 14] = [
    "walk:0.9",
    "turn:45",
    "walk-stop:1.0",
    "turn:-90",
    "walk:1.2",
    "walk-turn-stop:70",
    "walk:1.5",
    "turn:135",
    "walk-stop:1.4",
    "walk-turn-stop:-110",
    "stand",
    "turn:-45",
    "training/bow-deep",
    "training/squat-deep",
];
const TEST: [&str; 3] = ["walk-turn-stop:90", "walk-stop:1.2", "turn:-70"];
const WARDROBE: [(&str, [u8; 3]); 4] = [
    ("dress", [0x3f, 0x7c, 0x93]),
    ("skirt", [0x9c, 0x2f, 0x4a]),
    ("shirt", [0x5f, 0x7f, 0x57]),
    ("cape", [0x6b, 0x55, 0x86]),
];

impl Plan {
    /// The whole demo.
    pub fn full() -> Self {
        Self {
            garment: "dress",
            train: &TRAIN,
            test: &TEST,
            // A stop tells most of how cloth swings by itself; four of them halve what is wrong after unseen ones.
            stops: [4, 1],
            seconds: None,
            every: 2,
            // Four of them fit the width of a page.
            pane: [220, 400],
            wardrobe: &WARDROBE,
            crowd: 1000,
            crowd_secs: 3.0,
        }
    }

    /// A minute's worth.
    pub fn quick() -> Self {
        Self {
            train: &TRAIN[..5],
            test: &TEST[..1],
            stops: [1, 1],
            every: 4,
            wardrobe: &WARDROBE[..1],
            crowd_secs: 1.0,
            ..Self::full()
        }
    }

    /// Seconds' worth, for tests: everything there is, but small.
    pub fn tiny() -> Self {
        Self {
            garment: "skirt:300",
            train: &TRAIN[..2],
            test: &["walk:1.1"],
            stops: [0, 1],
            seconds: Some([1.2, 2.2]),
            every: 6,
            pane: [120, 160],
            wardrobe: &[],
            crowd: 64,
            crowd_secs: 0.1,
        }
    }

    /// The clips to learn from, or the unseen ones.
    pub fn motions(&self, unseen: bool, skeleton: &Skeleton) -> Result<Vec<Motion>> {
        let names = if unseen { self.test } else { self.train };
        let motion = |name: &&str| -> Result<Motion> {
            let motion = builtin::motion(name, skeleton)?;
            Ok(match self.seconds {
                Some(most) => motion.trimmed(0.0, most[usize::from(unseen)])?,
                None => motion,
            })
        };
        names.iter().map(motion).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_judged_on_what_was_learned() {
        for plan in [Plan::full(), Plan::quick(), Plan::tiny()] {
            assert!(plan.test.iter().all(|t| !plan.train.contains(t)) && !plan.test.is_empty());
        }
        assert_eq!(Plan::full().train.len(), 14);
    }
}
