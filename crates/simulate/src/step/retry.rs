//! When a step is taken again in halves: every limit that decides it, in one place.
//!
//! **What is guaranteed.** No step is taken that holds a number which is not finite, whose last Newton move was longer than
//! `Settings::retry_m`, or in which cloth passes through cloth: it is halved until it does not. Below [`LAST_CHANCE_SECS`]
//! cloth goes only as far towards the solved step as it can without passing through itself, and no farther than all of it
//! goes together, so that it stays on its wearer; what is left of the way comes with the next steps. A step that is
//! safe but ugly (overstretched, or pressed into a body) is halved too, as long as its [`Budget`] lasts: cloth that
//! cannot look better, a sleeve in an armpit, then costs a few steps a second and not many times as much.

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
/// Cloth that is held back from cloth may be pushed this deep into a body, m, or by this much deeper than the solve left it:
/// less is what tolerances leave.
pub(super) const PRESSED_IN_M: f64 = 5e-4;
pub(super) const DEEPER_M: f64 = 2e-4;
/// Pairs this near are looked for while cloth is held back from cloth, m: holding one pair back moves it towards others.
pub(super) const HELD_WITHIN_M: f64 = 2e-3;

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
