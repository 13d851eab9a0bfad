//! The least that a mixed crowd costs: everyone skinned. A budget below it cannot be kept by any choice of tiers.

/// Frames of a round. Interruptions by other programs come in bursts: the quietest round is what skinning costs here.
const ROUND: usize = 16;
/// Share of a round's frames that must keep the budget: what skinning costs varies with poses and memory. Where two other programs
/// hold both cores a tenth to a third of all frames are interrupted for milliseconds; those are not its cost.
const MOST: f64 = 0.75;

/// What the quietest round of frames of everyone skinned took, µs, in order.
pub struct Least(Vec<f64>);

impl Least {
    pub fn of(frames_us: &[f64]) -> Self {
        let rounds = frames_us.chunks(ROUND).map(|round| {
            let mut round = round.to_vec();
            round.sort_by(f64::total_cmp);
            Self(round)
        });
        rounds.min_by(|a, b| a.at(MOST).total_cmp(&b.at(MOST))).unwrap_or(Self(Vec::new()))
    }

    fn at(&self, share: f64) -> f64 {
        let last = self.0.len().saturating_sub(1);
        self.0.get((last as f64 * share).ceil() as usize).copied().unwrap_or(0.0)
    }

    /// Why a budget cannot be kept, and what could be.
    pub fn refusal(&self, count: usize, threads: usize, budget_us: f64) -> Option<String> {
        let (usual, most) = (self.at(0.5), self.at(MOST));
        if most <= budget_us {
            return None;
        }
        let would_do = (count as f64 * budget_us / most) as usize;
        let fewer = match would_do {
            0 => String::new(),
            n => format!(", ask for at most {n} garments"),
        };
        Some(format!(
            "--budget-us {budget_us:.0}: {count} garments take {usual:.0} \u{b5}s a frame with everyone merely skinned on {threads} \
             thread{}, and up to {most:.0} in {:.0} % of them when nothing else runs; allow {most:.0} or more{fewer}, or give more \
             --threads",
            if threads == 1 { "" } else { "s" },
            100.0 * MOST,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds of frames of 1,000 µs, but for some of each that took longer.
    fn frames(longer: usize) -> Vec<f64> {
        (0..3 * ROUND).map(|f| if f % ROUND < longer { 1300.0 } else { 1000.0 }).collect()
    }

    #[test]
    fn a_budget_a_little_under_what_skinning_costs_is_refused() {
        let least = Least::of(&frames(0));
        let why = least.refusal(600, 2, 990.0).expect("it lacks 10 µs");
        assert!(
            why.contains("600 garments take 1000 \u{b5}s") && why.contains("at most 594 garments"),
            "{why}"
        );
        assert_eq!(least.refusal(600, 2, 1000.0), None);
    }

    #[test]
    fn what_skinning_costs_now_and_then_counts_and_what_other_programs_take_does_not() {
        assert_eq!(Least::of(&frames(1)).refusal(600, 2, 1100.0), None);
        let why =
            Least::of(&frames(4)).refusal(600, 1, 1100.0).expect("a quarter of the frames take 1,300 µs");
        assert!(why.contains("up to 1300") && why.contains("allow 1300"), "{why}");
        // Two of three rounds were interrupted.
        let mut interrupted = frames(0);
        interrupted[..2 * ROUND].iter_mut().step_by(3).for_each(|us| *us += 8000.0);
        assert_eq!(Least::of(&interrupted).refusal(600, 1, 1100.0), None);
        assert!(Least::of(&frames(0)).refusal(1, 1, 0.5).is_some_and(|why| !why.contains("ask for")));
    }
}
