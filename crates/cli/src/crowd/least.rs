//! The least that a mixed crowd costs: everyone skinned. A budget below it cannot be kept by any choice of tiers.

/// Share of the frames that must keep the budget with everyone skinned. One frame in twenty may be what else the machine did.
const MOST: f64 = 0.95;

/// What frames of everyone skinned took, µs, in order.
pub struct Least(Vec<f64>);

impl Least {
    pub fn of(mut frames_us: Vec<f64>) -> Self {
        frames_us.sort_by(f64::total_cmp);
        Self(frames_us)
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
             thread{}, and up to {most:.0} in {:.0} % of {} frames measured now; allow {most:.0} or more{fewer}, or give more \
             --threads",
            if threads == 1 { "" } else { "s" },
            100.0 * MOST,
            self.0.len(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 48 frames of 1,000 µs, but for some that took longer.
    fn frames(longer: usize) -> Least {
        Least::of((0..48).map(|f| if f < longer { 1300.0 } else { 1000.0 }).collect())
    }

    #[test]
    fn a_budget_a_little_under_what_skinning_costs_is_refused() {
        let why = frames(0).refusal(600, 2, 990.0).expect("it lacks 10 µs");
        assert!(
            why.contains("600 garments take 1000 \u{b5}s") && why.contains("at most 594 garments"),
            "{why}"
        );
        assert_eq!(frames(0).refusal(600, 2, 1000.0), None);
    }

    #[test]
    fn what_skinning_costs_now_and_then_counts_but_for_one_frame_in_twenty() {
        assert_eq!(frames(2).refusal(600, 2, 1100.0), None);
        let why = frames(10).refusal(600, 1, 1100.0).expect("a fifth of the frames take 1,300 µs");
        assert!(why.contains("up to 1300") && why.contains("allow 1300"), "{why}");
        assert!(frames(0).refusal(1, 1, 0.5).is_some_and(|why| !why.contains("ask for")));
    }
}
