//! How far a correction is to be trusted: fitted on clips that the fit had not seen.

use toile_run::GATE_RATE;

/// One clip that was left out of the fit, frame by frame.
pub(crate) struct LeftOut {
    /// Squared distance of the pose from the nearest centre that is not of the clip itself.
    pub distance_sq: Vec<f64>,
    /// Squared displacement that no shape of the space explains, `‖y‖²`, `y·ŷ` and `‖ŷ‖²`.
    pub parts: Vec<[f64; 4]>,
}

impl LeftOut {
    /// Error over skinning's, with the gate as it would open and shut.
    fn over_skin(&self, gate_sq: [f64; 2]) -> (f64, f64) {
        let (mut ours, mut skin) = (0.0, 0.0);
        let mut g = None;
        for (distance_sq, [rest, own, cross, guess]) in self.distance_sq.iter().zip(&self.parts) {
            let aim = open(gate_sq, *distance_sq);
            let rate = f64::from(GATE_RATE);
            let now = g.map_or(aim, |g: f64| g + (aim - g).clamp(-rate, rate));
            g = Some(now);
            ours += (rest + own - 2.0 * now * cross + now * now * guess).max(0.0).sqrt();
            skin += (rest + own).sqrt();
        }
        (ours, skin)
    }
}

fn open([near, far]: [f64; 2], distance_sq: f64) -> f64 {
    let t = ((far - distance_sq) / (far - near)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// A gate and what it gives on clips that were left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GateFit {
    /// Squared distances at which the gate begins to shut and is shut.
    pub gate_sq: [f64; 2],
    /// Error over skinning's, all left-out clips together.
    pub over_skin: f64,
    /// The same of the worst clip.
    pub worst: f64,
}

/// No clip may be worse than skinned cloth by more than this.
const MOST: f64 = 1.05;
/// What a clip is over [`MOST`] weighs this many times more than error elsewhere.
const EXCESS_WEIGHS: f64 = 10.0;
/// The gate is shut from so many times the farthest squared distance on: twice as far as anything that was left out.
const BEYOND: f64 = 4.0;
/// Gates this near to the best, in shares of skinning's error, are as good: then the one that shuts last. Inputs are held, so
/// what a readout says a little farther out is bounded, and on motion of other people better than nothing.
const AS_GOOD: f64 = 0.003;

/// The gate that shuts last of those with the least error, where what a clip is over [`MOST`] counts many times. A clip that is guessed wrong right
/// beside what training saw stays wrong behind any gate, so it must not shut the gate on all others.
pub(crate) fn fit(clips: &[LeftOut]) -> Option<GateFit> {
    let mut all: Vec<f64> = clips.iter().flat_map(|c| &c.distance_sq).copied().collect();
    if all.is_empty() {
        return None;
    }
    all.sort_by(f64::total_cmp);
    let at = |share: f64| all[((all.len() - 1) as f64 * share) as usize].max(1e-6);
    let mut tried: Vec<(f64, GateFit)> = Vec::new();
    for share in [0.5, 0.75, 0.9, 0.95, 0.99, 1.0] {
        for wider in [1.3f64, 1.7, 2.5] {
            // Far beyond the farthest that was left out nothing was tried, so there the gate is shut; inputs are held, and a
            // gate too wide would never shut at all.
            let far = (at(share) * wider * wider).min(BEYOND * at(1.0));
            let gate_sq = [at(share), far];
            let (mut ours, mut skin, mut worst, mut excess) = (0.0, 0.0, 0.0f64, 0.0);
            for clip in clips {
                let (a, b) = clip.over_skin(gate_sq);
                (ours, skin) = (ours + a, skin + b);
                worst = worst.max(a / b.max(1e-12));
                excess += (a - MOST * b).max(0.0);
            }
            let skin = skin.max(1e-12);
            let cost = (ours + EXCESS_WEIGHS * excess) / skin;
            tried.push((cost, GateFit { gate_sq, over_skin: ours / skin, worst }));
        }
    }
    let least = tried.iter().map(|(cost, _)| *cost).fold(f64::INFINITY, f64::min);
    let as_good = tried.into_iter().filter(|(cost, _)| *cost <= least + AS_GOOD).map(|(_, found)| found);
    as_good.max_by(|a, b| {
        let by = |k: usize| a.gate_sq[k].total_cmp(&b.gate_sq[k]);
        by(1).then(by(0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clip_that_is_guessed_wrong_far_out_is_faded() {
        // Near poses are guessed perfectly, far ones the wrong way round.
        let near = LeftOut { distance_sq: vec![0.1; 60], parts: vec![[0.01, 1.0, 1.0, 1.0]; 60] };
        let far = LeftOut { distance_sq: vec![4.0; 40], parts: vec![[0.01, 1.0, -1.0, 1.0]; 40] };
        let found = fit(&[near, far]).unwrap();
        assert!(found.worst <= MOST && found.over_skin < 0.6, "{found:?}");
        assert!(open(found.gate_sq, 0.1) == 1.0 && open(found.gate_sq, 4.0) == 0.0);
    }

    #[test]
    fn a_clip_that_no_gate_helps_does_not_shut_it_for_all() {
        // Right beside a centre, and wrong; others are farther out, and right.
        let beside = LeftOut { distance_sq: vec![0.0; 10], parts: vec![[0.01, 0.1, -0.1, 0.1]; 10] };
        let others = || LeftOut { distance_sq: vec![0.5, 1.0], parts: vec![[0.01, 1.0, 1.0, 1.0]; 2] };
        let found = fit(&[beside, others(), others()]).unwrap();
        assert!(found.worst > MOST && open(found.gate_sq, 1.0) == 1.0, "{found:?}");
    }
}
