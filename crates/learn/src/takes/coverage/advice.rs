//! What motions lack in training, worst first, and which clips would add it.

use super::movement::LOOKED_EVERY;
use super::movement::{
    Aspect, BodyPart, MEASURES, Movement, POSE_TOLERANCE, SPEED_TOLERANCE, TRAVEL_TOLERANCE,
};
use super::training_frames::TrainingFrames;

/// Farther than this many tolerances counts no more: one wild frame must not decide.
const FARTHEST: f32 = 3.0;
/// A clip that adds less than this share of what is lacking is not named.
const LEAST_ADDED: f64 = 0.02;
/// Clips and gaps that are named at most.
const NAMED: usize = 8;

/// What training lacks for the motions that were asked about.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// Frames asked about, a tenth of a second apart.
    pub frames: usize,
    /// Share of them in which every part is within tolerance of what was seen, all parts taken for themselves.
    pub known: f64,
    /// Part by part, the worst first.
    pub parts: Vec<PartLack>,
    /// Seconds that are farthest from everything seen, the worst first.
    pub gaps: Vec<Gap>,
    /// Clips to add, the best first, each given those before it.
    pub add: Vec<Added>,
}

/// How much of one part's poses or speeds is lacking.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartLack {
    /// Which part.
    pub part: BodyPart,
    /// Poses or speeds.
    pub aspect: Aspect,
    /// Share of the frames beyond tolerance.
    pub lacking: f64,
    /// How far the farthest frame is from everything seen: degrees, degrees a second, or metres a second.
    pub farthest: f32,
}

/// A second that is far from everything seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Gap {
    /// The clip.
    pub clip: String,
    /// Where the second begins.
    pub from_secs: f64,
    /// The worst part in it.
    pub part: BodyPart,
    /// Poses or speeds.
    pub aspect: Aspect,
    /// As in [`PartLack::farthest`].
    pub farthest: f32,
}

/// A clip that would add what is lacking.
#[derive(Clone, Debug, PartialEq)]
pub struct Added {
    /// Its name.
    pub clip: String,
    /// The share of all that is lacking which it adds.
    pub share: f64,
}

/// A frame's measure beyond tolerance.
struct Lack<'a> {
    measure: usize,
    point: &'a [f32],
    /// Beyond tolerance, as far as it counts.
    beyond: f32,
}

/// Compares the motions `wanted` with what was `seen`, and finds among `offered` the clips that would help.
pub fn advise(seen: &TrainingFrames, wanted: &[Movement], offered: &[Movement]) -> Advice {
    let frames: usize = wanted.iter().map(|m| m.len().div_ceil(LOOKED_EVERY)).sum();
    let mut parts: Vec<PartLack> = MEASURES
        .iter()
        .map(|&(part, aspect)| PartLack { part, aspect, lacking: 0.0, farthest: 0.0 })
        .collect();
    let (mut known, mut gaps, mut lacks) = (0usize, Vec::new(), Vec::new());
    for movement in wanted {
        let second = (movement.fps.round() as usize).max(1);
        let mut seconds: Vec<(f32, usize, usize)> = vec![(0.0, 0, 0); movement.len().div_ceil(second)];
        for f in (0..movement.len()).step_by(LOOKED_EVERY) {
            let mut all = true;
            for (m, part) in parts.iter_mut().enumerate() {
                let point = movement.point(m, f);
                let distance = seen.distance(m, point);
                part.farthest = part.farthest.max(distance);
                let worst = &mut seconds[f / second];
                if distance > worst.0 {
                    *worst = (distance, f, m);
                }
                if distance > 1.0 {
                    all = false;
                    part.lacking += 1.0;
                    lacks.push(Lack { measure: m, point, beyond: distance.min(FARTHEST) - 1.0 });
                }
            }
            known += usize::from(all);
        }
        for (s, (distance, _, m)) in seconds.into_iter().enumerate().filter(|(_, worst)| worst.0 > 1.0) {
            let (part, aspect) = MEASURES[m];
            let gap = Gap {
                clip: movement.clip.clone(),
                from_secs: s as f64,
                part,
                aspect,
                farthest: amount(m, distance),
            };
            gaps.push((distance, gap));
        }
    }
    for (m, part) in parts.iter_mut().enumerate() {
        part.lacking /= frames.max(1) as f64;
        part.farthest = amount(m, part.farthest);
    }
    parts.sort_by(|a, b| b.lacking.total_cmp(&a.lacking));
    gaps.sort_by(|a, b| b.0.total_cmp(&a.0));
    let gaps = gaps.into_iter().take(NAMED).map(|(_, gap)| gap).collect();
    Advice { frames, known: known as f64 / frames.max(1) as f64, parts, gaps, add: cover(lacks, offered) }
}

/// The clip that takes away most of what is lacking, then the one that takes away most of the rest, and so on.
fn cover(mut lacks: Vec<Lack>, offered: &[Movement]) -> Vec<Added> {
    let total: f64 = lacks.iter().map(|l| f64::from(l.beyond)).sum();
    // What would be left of each lack after each clip.
    let left: Vec<Vec<f32>> = offered
        .iter()
        .map(|movement| {
            let mut one = TrainingFrames::default();
            one.add(movement);
            let left = |l: &Lack| (one.distance(l.measure, l.point).min(FARTHEST) - 1.0).max(0.0);
            lacks.iter().map(left).collect()
        })
        .collect();
    let mut chosen: Vec<Added> = Vec::new();
    while chosen.len() < NAMED {
        let gain = |left: &Vec<f32>| -> f64 {
            lacks.iter().zip(left).map(|(l, after)| f64::from((l.beyond - after).max(0.0))).sum()
        };
        let gains: Vec<f64> = left.iter().map(gain).collect();
        let Some(best) = (0..gains.len()).max_by(|a, b| gains[*a].total_cmp(&gains[*b])) else { break };
        if gains[best] < LEAST_ADDED * total || gains[best] == 0.0 {
            break;
        }
        chosen.push(Added { clip: offered[best].clip.clone(), share: gains[best] / total });
        lacks.iter_mut().zip(&left[best]).for_each(|(l, after)| l.beyond = l.beyond.min(*after));
    }
    chosen
}

/// A distance in tolerances as what it is: degrees, degrees a second, metres a second.
fn amount(measure: usize, distance: f32) -> f32 {
    match MEASURES[measure] {
        (BodyPart::Travel, _) => distance * TRAVEL_TOLERANCE,
        (_, Aspect::Pose) => (distance * POSE_TOLERANCE).to_degrees(),
        (_, Aspect::Speed) => (distance * SPEED_TOLERANCE).to_degrees(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_assets::{Body, builtin};

    fn movements(body: &Body, names: &[&str]) -> Vec<Movement> {
        let of = |name: &&str| Movement::of_motion(body, &builtin::motion(name, &body.skeleton).unwrap());
        names.iter().map(of).collect()
    }

    #[test]
    fn what_was_seen_is_known_and_what_was_not_is_named() {
        let body = builtin::body("mannequin:female").unwrap();
        let mut seen = TrainingFrames::default();
        movements(&body, &["walk"]).iter().for_each(|m| seen.add(m));
        assert_eq!(advise(&seen, &movements(&body, &["walk"]), &[]).known, 1.0);
        let stand = advise(&seen, &movements(&body, &["stand"]), &[]);
        assert!(stand.known < 1.0 && stand.parts[0].part == BodyPart::Travel, "{stand:?}");

        let offered = movements(&body, &["arms-up", "stand", "training/bow-deep", "run"]);
        let advice = advise(&seen, &movements(&body, &["lean-forward"]), &offered);
        assert!(advice.known < 0.9, "{advice:?}");
        let trunk =
            advice.parts.iter().find(|p| (p.part, p.aspect) == (BodyPart::Trunk, Aspect::Pose)).unwrap();
        assert!(trunk.lacking > 0.4 && trunk.farthest > 40.0, "{trunk:?}");
        assert_eq!(advice.add[0].clip, "training/bow-deep", "{advice:?}");
        assert!(advice.add.iter().map(|a| a.share).sum::<f64>() <= 1.0 + 1e-6);
        // Bowing lasts from 0.5 to 5 s; the worst second is among those in which it is deep.
        assert!((1.0..5.0).contains(&advice.gaps[0].from_secs), "{:?}", advice.gaps);
    }

    #[test]
    fn nothing_seen_is_everything_lacking() {
        let body = builtin::body("mannequin:female").unwrap();
        let advice =
            advise(&TrainingFrames::default(), &movements(&body, &["walk"]), &movements(&body, &["walk"]));
        assert_eq!(advice.known, 0.0);
        assert!((advice.add[0].share - 1.0).abs() < 1e-9);
    }
}
