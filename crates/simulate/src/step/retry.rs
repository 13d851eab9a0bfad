//! When a step is taken again in halves: every limit that decides it, in one place.
//!
//! **What is guaranteed.** No step is taken that holds a number which is not finite, whose last Newton move was longer than
//! `Settings::retry_m`, or in which cloth passes through cloth. Where it would, contacts are made harder and the solve goes
//! on; when [`HARDENINGS`] rounds of that do not do, the step is halved. Below [`LAST_CHANCE_SECS`] cloth goes only as far
//! towards the solved step as it can without passing through itself, and no farther than all of it goes together, so that it
//! stays on its wearer; what is left of the way comes with the next steps. A step that is safe but ugly (overstretched, or
//! pressed into a body) is halved too, as long as its [`Budget`] lasts: cloth that cannot look better, a sleeve in an
//! armpit, then costs a few steps a second and not many times as much.

/// How often steps may still be halved for how they look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget(f64);

impl Default for Budget {
    fn default() -> Self {
        Self(BUDGET)
    }
}

impl Budget {
    /// Whether a step may be halved for how it looks.
    pub fn allows(self) -> bool {
        self.0 >= 1.0
    }

    /// One halving less.
    pub fn spend(&mut self) {
        self.0 -= 1.0;
    }

    /// What `secs` of cloth that moves bring back.
    pub fn recover(&mut self, secs: f64) {
        self.0 = (self.0 + BUDGET_A_SECOND * secs).min(BUDGET);
    }
}

/// The most halvings for looks that can be saved up: blows come in a row.
const BUDGET: f64 = 8.0;
/// Halvings for looks a second. Forty, and three times the savings, made one of three acrobatic clips true at the same cost and
/// another worse (docs/decisions/027).
const BUDGET_A_SECOND: f64 = 9.0;
/// Shorter steps, s, are not halved for how they look: half of a usual one is as short as helps.
pub(super) const FOR_LOOKS_SECS: f64 = 1.0 / 300.0;
/// Shorter steps, s, are not halved because cloth would pass through cloth. Without it a pinched fold stops the clip.
pub(super) const LAST_CHANCE_SECS: f64 = 1.0 / 1200.0;
/// Principal strain that a step may leave, in strain limits: 8 % of worn cloth, half of what makes a take untrue.
pub(super) const BEARS: f64 = 2.8;
/// Depth in a body that a solved step may leave at a vertex, m: under the millimetre from which on it counts as inside.
pub(super) const INSIDE_M: f64 = 8e-4;
/// How often a step is solved with ever harder contacts between cloth and cloth before it is halved.
pub(super) const HARDENINGS: usize = 5;
/// By how much a contact that let cloth through is made harder each time: as much as Newton's iteration takes at once.
pub(super) const HARDER: f32 = 8.0;
/// Share of its hardness that a contact keeps from step to step: what is pinched stays pinched for a while, and solving
/// twice in each step is dear.
pub(super) const HARD_FOR: f32 = 0.5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_spent_and_comes_back_but_not_without_end() {
        let mut budget = Budget::default();
        let mut spent = 0;
        while budget.allows() {
            budget.spend();
            spent += 1;
        }
        assert_eq!(spent, 8);
        budget.recover(0.1);
        assert!(!budget.allows());
        budget.recover(0.1);
        assert!(budget.allows());
        budget.recover(1e6);
        assert_eq!(budget, Budget::default());
    }
}
