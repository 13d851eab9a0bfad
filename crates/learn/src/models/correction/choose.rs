//! Inputs, filters, centres and ridge of a model D, chosen by cross-validation over clips.

use super::anchors::{self, anchored};
use super::gate::{self, GateFit, LeftOut};
use super::motions::{Motions, TakeMotion};
use super::readout::{Block, Readout, Sums};
use crate::Error;
use crate::inputs::features::{distances_sq, features, held, hold};
use crate::inputs::joints::Offer;
use crate::inputs::standard::Inputs;
use faer::{Mat, Side};
use toile_assets::Correction;
use toile_geometry::Random;
use toile_run::ROOT_TERMS;

/// Combinations of inputs that are filtered.
const DRIVES: usize = 40;
const CHEAP_DRIVES: usize = 24;
/// Poses that nearness is measured to, at most. Four times as many gave 1.5 % less error and twice the cost of a step.
const CENTRES: usize = 128;
/// How many times more than what is linear nearness to a pose may be held back: the fewer clips, the more.
const NEAR_HELD_BACK: [f64; 3] = [11.0, 3.0, 1.0];
/// How many times more nearness to anchors is held back than nearness to poses: 0.3 and 3 times are as good with a hundred clips,
/// and with ten it is guessed wrong where nothing moves (the worst second is 1.6 and 1.1 times skinning).
const ANCHORS_HELD_BACK: f64 = 6.0;
/// How many times more what a cloth changes is held back.
const CLOTH_HELD_BACK: f64 = 2.0;
/// How much velocities, in metres a frame, count beside places.
const RATES_WEIGH: f64 = 10.0;
const RIDGES: [f64; 7] = [0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0];
/// Ridges and inputs that are worse than the best by less than this share are as good, and the strongest and the fewest are
/// taken: motion of other people and makers is farther from the clips than they are from each other.
const AS_GOOD: f64 = 0.01;
/// What has to be left, of what the other limbs leave, for inputs of limbs that carry less of the garment.
const PAYS: f64 = 0.97;
const FOLDS: usize = 5;

/// All that was chosen.
pub(crate) struct Chosen {
    pub inputs: Inputs,
    pub correction: Correction,
    pub order_zero: Readout,
    pub ridge: f64,
    pub left_out: f64,
    pub spread: [f64; 2],
    pub gate: Option<GateFit>,
    pub frames: usize,
}

/// What there is to choose from.
pub(crate) struct Choosing<'a> {
    pub motions: &'a Motions,
    pub fps: f64,
    /// Joints of the motions' bones.
    pub joints: &'a [usize],
    pub cheap: bool,
    /// Told what share is done.
    pub watch: &'a dyn Fn(f64),
}

/// Sums of all clips and of those left when a fold is left out, the correction that each is of, and the best ridge for them.
struct Tried {
    /// One for all, or one a fold where what is looked at is chosen on clips, too.
    corrections: Vec<Correction>,
    all: Sums,
    rest: Vec<Sums>,
    ridge: f64,
    near: f64,
    left_out: f64,
}

impl Tried {
    /// The correction of what is left without a fold.
    fn without(&self, fold: usize) -> &Correction {
        &self.corrections[fold.min(self.corrections.len() - 1)]
    }
}

impl Choosing<'_> {
    /// The inputs whose linear functions are best on clips left out, and what is left of the displacement then, m² a frame and
    /// summed over vertices, with what no shape of the space explains.
    pub fn inputs(&self, sets: &[Offer]) -> Result<(Inputs, f64), Error> {
        let mut tried: Vec<(Inputs, f64)> = Vec::new();
        for Offer { told, has_to_pay } in sets {
            let inputs = Inputs::new(self.motions, self.joints, told);
            let c = inputs.scaled(self.motions, self.fps);
            let left_out = self.try_features(&inputs, &c, |_, held, _| held.clone())?.left_out;
            let least = tried.iter().map(|(_, left_out)| *left_out).fold(f64::INFINITY, f64::min);
            if !has_to_pay || !(left_out >= PAYS * least) {
                tried.push((inputs, left_out));
            }
        }
        let least = tried.iter().map(|(_, left_out)| *left_out).fold(f64::INFINITY, f64::min);
        // Of those that are as good the fewest. With too few clips to leave any out nothing is known: the first.
        let good = |left_out: f64| left_out <= (1.0 + AS_GOOD) * least;
        let fewest = (0..tried.len()).filter(|&k| good(tried[k].1)).min_by_key(|&k| tried[k].0.len());
        let Some((inputs, left_out)) = tried.into_iter().nth(fewest.unwrap_or(0)) else {
            return Err(Error::Empty("the body has no joints that the garment hangs on".into()));
        };
        let (mut inside, mut all, mut frames) = (0.0, 0.0, 0.0);
        for motion in self.motions.all.iter().filter(|motion| !motion.told_only) {
            inside += motion.y.squared_norm_l2();
            all += motion.apart_sq.iter().sum::<f64>();
            frames += motion.apart_sq.len() as f64;
        }
        Ok((inputs, ((all - inside).max(0.0) + left_out * left_out * inside) / f64::max(frames, 1.0)))
    }

    pub fn run(&self, inputs: Inputs) -> Result<Chosen, Error> {
        let seeds: &[u64] = if self.cheap { &[] } else { &[2, 3] };
        let mut c = inputs.scaled(self.motions, self.fps);
        c.drive = self.drives(&inputs, &c);
        // Filters.
        let swing = |hz: f64, keep: f64| {
            let angle = std::f64::consts::TAU * hz / self.fps;
            [(keep * angle.cos()) as f32, (keep * angle.sin()) as f32]
        };
        let mut banks: Vec<Vec<[f32; 2]>> =
            vec![vec![[0.8, 0.0]], vec![[0.85, 0.0], swing(0.9, 0.94), swing(1.5, 0.92)]];
        if !self.cheap {
            banks.push(vec![[0.7, 0.0], [0.92, 0.0], swing(0.8, 0.95), swing(1.2, 0.95), swing(1.8, 0.94)]);
        }
        let trials = (banks.len() + seeds.len()) as f64;
        let mut chosen: Option<(Correction, Tried)> = None;
        let centred = |poles: Vec<[f32; 2]>, seed: u64| {
            let mut c = Correction { poles, ..c.clone() };
            if c.poles.is_empty() {
                c.drive.clear();
            }
            self.centres(&inputs, &mut c, seed);
            c
        };
        for (k, poles) in banks.into_iter().enumerate() {
            (self.watch)((k as f64 + 0.3) / (trials + 0.3));
            let c = centred(poles, 1);
            let tried = self.try_features(&inputs, &c, features)?;
            if chosen.as_ref().is_none_or(|(_, b)| tried.left_out < b.left_out) {
                chosen = Some((c, tried));
            }
        }
        let Some((mut c, mut tried)) = chosen else { return Err(Error::Empty("no filters".into())) };
        let mut spread = [tried.left_out; 2];
        for (k, &seed) in seeds.iter().enumerate() {
            (self.watch)((trials - (seeds.len() - k) as f64) / trials);
            let other = centred(c.poles.clone(), seed);
            let again = self.try_features(&inputs, &other, features)?;
            spread = [spread[0].min(again.left_out), spread[1].max(again.left_out)];
            if again.left_out < tried.left_out {
                (c, tried) = (other, again);
            }
        }
        if !self.cheap
            && let Some((anchored, again)) = self.anchored(&inputs, &c, &tried)?
            && again.left_out < tried.left_out
        {
            (c, tried) = (anchored, again);
        }
        let mut readout = tried.all.fit(tried.ridge, &blocks(&c, tried.near))?;
        let gate = self.left_out(&inputs, &c, &tried, &mut readout)?;
        c.gate_sq = gate.map_or([1.0, 4.0], |g| g.gate_sq.map(|v| v as f32));
        let d = readout.bias.len();
        c.readout = (0..d)
            .flat_map(|r| (0..readout.weights.ncols()).map(move |k| (r, k)))
            .map(|(r, k)| readout.weights[(r, k)] as f32)
            .collect();
        c.bias = readout.bias.iter().map(|v| *v as f32).collect();
        let order_zero = self.order_zero(&inputs)?;
        Ok(Chosen {
            frames: tried.all.frames as usize,
            ridge: tried.ridge,
            left_out: tried.left_out,
            inputs,
            correction: c,
            order_zero,
            spread,
            gate,
        })
    }

    /// The directions in which held inputs vary most.
    fn drives(&self, inputs: &Inputs, c: &Correction) -> Vec<f32> {
        let u = c.held();
        let mut sums = Sums::new(u, 1);
        for motion in &self.motions.all {
            let held = held(c, &inputs.of(motion), motion, self.fps);
            sums.add(&held, &Mat::zeros(1, held.ncols()));
        }
        let covariance = sums.covariance();
        let Ok(eigen) = covariance.self_adjoint_eigen(Side::Lower) else { return Vec::new() };
        let axes = eigen.U();
        let count = if self.cheap { CHEAP_DRIVES } else { DRIVES }.min(u);
        (0..count)
            .flat_map(|r| (0..u).map(move |k| (r, k)))
            .map(|(r, k)| axes[(k, u - 1 - r)] as f32)
            .collect()
    }

    /// Poses that nearness is measured to: half of them at random, the others each as far as possible from all before.
    fn centres(&self, inputs: &Inputs, c: &mut Correction, seed: u64) {
        let m = inputs.len();
        let total: usize = self.motions.all.iter().map(|s| s.bones.ncols() - s.lead).sum();
        let count = if self.cheap { 48 } else { (total / 16).clamp(48, CENTRES) }.min(total);
        let stride = total.div_ceil(20_000).max(1);
        let mut poses: Vec<Vec<f64>> = Vec::new();
        let mut next = 0;
        for motion in &self.motions.all {
            let x = inputs.of(motion);
            let mut f = motion.lead + next;
            while f < x.ncols() {
                poses.push((0..m).map(|k| hold(x[(k, f)])).collect());
                f += stride;
            }
            next = f - x.ncols();
        }
        let mut random = Random::new(seed);
        let mut chosen: Vec<usize> = (0..count.div_ceil(2)).map(|_| random.below(poses.len())).collect();
        let apart = |a: usize, b: usize| -> f64 {
            poses[a].iter().zip(&poses[b]).map(|(a, b)| (a - b).powi(2)).sum()
        };
        let mut nearest: Vec<f64> = (0..poses.len())
            .map(|i| chosen.iter().map(|&k| apart(i, k)).fold(f64::INFINITY, f64::min))
            .collect();
        while chosen.len() < count {
            let far = (0..poses.len()).max_by(|a, b| nearest[*a].total_cmp(&nearest[*b])).unwrap_or(0);
            chosen.push(far);
            for i in 0..poses.len() {
                nearest[i] = nearest[i].min(apart(i, far));
            }
        }
        let mut between: Vec<f64> =
            (0..400).map(|_| apart(random.below(poses.len()), chosen[random.below(chosen.len())])).collect();
        between.sort_by(f64::total_cmp);
        c.width_sq = between[between.len() / 2].max(1e-3) as f32;
        c.centres = chosen.iter().flat_map(|&i| poses[i].iter().map(|v| *v as f32)).collect();
    }

    fn folds(&self) -> usize {
        if self.motions.clips < 3 { 1 } else { FOLDS.min(self.motions.clips) }
    }

    /// Which fold a clip is left out with.
    fn fold_of(&self, clip: usize) -> usize {
        fold_of(clip, self.motions.clips, self.folds())
    }

    /// Sums of every fold, and the ridge that is best on clips left out.
    fn try_features(
        &self,
        inputs: &Inputs,
        c: &Correction,
        of: impl Fn(&Correction, &Mat<f64>, &TakeMotion) -> Mat<f64>,
    ) -> Result<Tried, Error> {
        let d = self.motions.space.basis.ncols();
        let mut sums: Vec<Sums> = Vec::new();
        // A mirrored clip would only say the same again, so originals alone are scored.
        let mut scored: Vec<Sums> = Vec::new();
        for motion in &self.motions.all {
            let features = of(c, &held(c, &inputs.of(motion), motion, self.fps), motion);
            let features = features.subcols(motion.lead, features.ncols() - motion.lead).to_owned();
            while sums.len() < self.folds() {
                sums.push(Sums::new(features.nrows(), d));
                scored.push(Sums::new(features.nrows(), d));
            }
            let fold = self.fold_of(motion.clip);
            sums[fold].add(&features, &motion.y);
            sums[fold].add_rates(&features, &motion.y, RATES_WEIGH);
            if !motion.told_only {
                scored[fold].add(&features, &motion.y);
            }
        }
        let rest = (0..sums.len()).map(|fold| others(&sums, fold)).collect();
        let mut all = sums.swap_remove(0);
        sums.iter().for_each(|s| all.merge(s));
        let only_linear = all.features() == c.held();
        self.choose(vec![c.clone()], all, rest, &scored, only_linear)
    }

    /// The ridge that is best on clips left out.
    fn choose(
        &self,
        corrections: Vec<Correction>,
        all: Sums,
        rest: Vec<Sums>,
        scored: &[Sums],
        only_linear: bool,
    ) -> Result<Tried, Error> {
        let c = &corrections[0];
        if rest.len() == 1 {
            return Ok(Tried {
                corrections,
                all,
                rest,
                ridge: 0.03,
                near: NEAR_HELD_BACK[0],
                left_out: f64::NAN,
            });
        }
        let left_out = |ridge: f64, near: f64| -> Result<f64, Error> {
            let blocks = if only_linear { linear(c) } else { blocks(c, near) };
            let mut sum = 0.0;
            for (rest, scored) in rest.iter().zip(scored) {
                let (error, size) = scored.error(&rest.fit(ridge, &blocks)?);
                // Folds count alike, and no more than a guess of nothing: the only bow among walks is the gate's affair, and a ridge that
                // is best for it would be too strong for all others.
                sum += (error / size.max(1e-30)).min(1.0);
            }
            Ok((sum / rest.len() as f64).sqrt())
        };
        // A weaker hold on nearness is worth a try only at the ridge that is best, or beside it.
        let mut best = (f64::INFINITY, 0, NEAR_HELD_BACK[0]);
        for (k, ridge) in RIDGES.into_iter().enumerate() {
            let found = left_out(ridge, best.2)?;
            if found < best.0 {
                best = (found, k, best.2);
            }
        }
        for near in NEAR_HELD_BACK.into_iter().skip(if only_linear { NEAR_HELD_BACK.len() } else { 1 }) {
            for k in best.1..(best.1 + 2).min(RIDGES.len()) {
                let found = left_out(RIDGES[k], near)?;
                if found < best.0 {
                    best = (found, k, near);
                }
            }
        }
        for (k, ridge) in RIDGES.into_iter().enumerate().skip(best.1 + 1) {
            if left_out(ridge, best.2)? > (1.0 + AS_GOOD) * best.0 {
                break;
            }
            best.1 = k;
        }
        let left_out = left_out(RIDGES[best.1], best.2)?;
        Ok(Tried { corrections, all, rest, ridge: RIDGES[best.1], near: best.2, left_out })
    }

    /// The same with directions and anchors. For every fold they are found without it: chosen on the clips that they are judged on,
    /// they would promise more than they hold. `None` with too few clips to leave any out, and where the readout is a multiple
    /// of this for every cloth.
    fn anchored(
        &self,
        inputs: &Inputs,
        c: &Correction,
        tried: &Tried,
    ) -> Result<Option<(Correction, Tried)>, Error> {
        let d = self.motions.space.basis.ncols();
        let folds = tried.rest.len();
        if folds == 1 || c.hearing.is_some() {
            return Ok(None);
        }
        let of = |c: &Correction, motion: &TakeMotion| {
            let features = features(c, &held(c, &inputs.of(motion), motion, self.fps), motion);
            features.subcols(motion.lead, features.ncols() - motion.lead).to_owned()
        };
        let frames: usize = self.motions.all.iter().map(|m| m.y.ncols()).sum();
        let count = anchors::count(frames);
        let found = |sums: &Sums, fold: Option<usize>| {
            let readout = sums.fit(tried.ridge, &blocks(c, tried.near))?;
            let used = |m: &&TakeMotion| fold != Some(self.fold_of(m.clip));
            let motions: Vec<&TakeMotion> = self.motions.all.iter().filter(used).collect();
            anchored(c, count, &readout, sums, &|motion| of(c, motion), &motions)
        };
        let Some(all) = found(&tried.all, None)? else { return Ok(None) };
        let mut corrections = Vec::new();
        for fold in 0..folds {
            match found(&tried.rest[fold], Some(fold))? {
                // Along as many directions: fewer clips may follow fewer.
                Some(own) if own.direction_count() == all.direction_count() => corrections.push(own),
                _ => return Ok(None),
            }
        }
        let sums = |c: &Correction, fold: Option<usize>| {
            let (mut sums, mut scored) = (Sums::new(c.features(), d), Sums::new(c.features(), d));
            for motion in &self.motions.all {
                let features = of(c, motion);
                if fold != Some(self.fold_of(motion.clip)) {
                    sums.add(&features, &motion.y);
                    sums.add_rates(&features, &motion.y, RATES_WEIGH);
                } else if !motion.told_only {
                    scored.add(&features, &motion.y);
                }
            }
            (sums, scored)
        };
        let (rest, scored): (Vec<Sums>, Vec<Sums>) =
            corrections.iter().enumerate().map(|(fold, c)| sums(c, Some(fold))).unzip();
        let again = self.choose(corrections, sums(&all, None).0, rest, &scored, false)?;
        Ok(Some((all, again)))
    }

    /// Predicts every clip without having seen it: shrinks the readout's directions by what that shows and fits the gate.
    fn left_out(
        &self,
        inputs: &Inputs,
        c: &Correction,
        tried: &Tried,
        readout: &mut Readout,
    ) -> Result<Option<GateFit>, Error> {
        let (d, m) = (readout.bias.len(), inputs.len());
        if tried.rest.len() == 1 {
            return Ok(None);
        }
        let blocks = blocks(c, tried.near);
        let fits =
            tried.rest.iter().map(|rest| rest.fit(tried.ridge, &blocks)).collect::<Result<Vec<_>, _>>()?;
        let centres = Mat::from_fn(c.centre_count(), m, |r, k| f64::from(c.centres[r * m + k]));
        let (mut guessed, mut right) = (vec![0.0; d], vec![0.0; d]);
        let mut clips = Vec::new();
        for motion in self.motions.all.iter().filter(|motion| !motion.told_only) {
            let all = held(c, &inputs.of(motion), motion, self.fps);
            let fold = self.fold_of(motion.clip);
            let guess = fits[fold].apply(&features(tried.without(fold), &all, motion));
            let distances = distances_sq(&centres, &all);
            let (mut squares, mut products) = (vec![0.0; d], vec![0.0; d]);
            for f in 0..motion.y.ncols() {
                for k in 0..d {
                    let (g, y) = (guess[(k, f + motion.lead)], motion.y[(k, f)]);
                    (squares[k], products[k]) = (squares[k] + g * g, products[k] + g * y);
                }
            }
            // As above: clips that are guessed worse than not at all do not shrink what is right for the others.
            if products.iter().sum::<f64>() > 0.5 * squares.iter().sum::<f64>() {
                guessed.iter_mut().zip(&squares).for_each(|(sum, v)| *sum += v);
                right.iter_mut().zip(&products).for_each(|(sum, v)| *sum += v);
            }
            clips.push((motion, guess, distances));
        }
        let keep: Vec<f64> =
            right.iter().zip(&guessed).map(|(r, g)| (r / g.max(1e-30)).clamp(0.0, 1.0)).collect();
        for (k, keep) in keep.iter().enumerate() {
            readout.bias[k] *= keep;
            (0..readout.weights.ncols()).for_each(|j| readout.weights[(k, j)] *= keep);
        }
        let own: Vec<Option<usize>> = self.owners(inputs, &centres);
        let clips: Vec<LeftOut> = clips
            .into_iter()
            .map(|(motion, guess, distances)| {
                let frames = 0..motion.y.ncols();
                let nearest = |f: usize| {
                    let others = (0..own.len()).filter(|&r| own[r] != Some(motion.clip));
                    others.map(|r| distances[(r, f + motion.lead)]).fold(f64::INFINITY, f64::min)
                };
                let parts = |f: usize| {
                    let mut parts = [0.0; 4];
                    for k in 0..d {
                        let (g, y) = (keep[k] * guess[(k, f + motion.lead)], motion.y[(k, f)]);
                        parts[1] += y * y;
                        parts[2] += g * y;
                        parts[3] += g * g;
                    }
                    parts[0] = (motion.apart_sq[f] - parts[1]).max(0.0);
                    parts
                };
                LeftOut {
                    distance_sq: frames.clone().map(nearest).collect(),
                    parts: frames.map(parts).collect(),
                }
            })
            .collect();
        Ok(gate::fit(&clips))
    }

    /// The clip that each centre is a frame of.
    fn owners(&self, inputs: &Inputs, centres: &Mat<f64>) -> Vec<Option<usize>> {
        let mut own = vec![(f64::INFINITY, None); centres.nrows()];
        for motion in &self.motions.all {
            let x = inputs.of(motion);
            let held = Mat::from_fn(x.nrows(), x.ncols(), |r, f| hold(x[(r, f)]));
            let distances = distances_sq(centres, &held);
            for f in motion.lead..distances.ncols() {
                for r in 0..own.len() {
                    if distances[(r, f)] < own[r].0 {
                        own[r] = (distances[(r, f)], Some(motion.clip));
                    }
                }
            }
        }
        own.into_iter().map(|o| o.1).collect()
    }

    /// What the pose alone tells, for comparison.
    fn order_zero(&self, inputs: &Inputs) -> Result<Readout, Error> {
        let m = inputs.len();
        let mut sums = Sums::new(m, self.motions.space.basis.ncols());
        for motion in &self.motions.all {
            let x = inputs.of(motion);
            sums.add(&x.subcols(motion.lead, x.ncols() - motion.lead).to_owned(), &motion.y);
        }
        sums.fit(0.03, &[Block { range: 0..m, held_back: 1.0 }])
    }
}

/// Neighbours by name are left out together: they are often of one person, whose arms and skirt keep time with each other,
/// and learned from one clip that would be right in the next and in no other person's. Numbers past the clips are of the last
/// fold.
fn fold_of(clip: usize, clips: usize, folds: usize) -> usize {
    (clip * folds / clips.max(1)).min(folds.saturating_sub(1))
}

fn others(sums: &[Sums], fold: usize) -> Sums {
    let mut rest = (0..sums.len()).filter(|k| *k != fold);
    let mut all = sums[rest.next().unwrap_or(0)].clone();
    rest.for_each(|k| all.merge(&sums[k]));
    all
}

fn linear(c: &Correction) -> Vec<Block> {
    let m = c.rate_scale.len();
    let block = |range| Block { range, held_back: 1.0 };
    let mut blocks = vec![block(0..m), block(m..2 * m), block(2 * m..2 * m + ROOT_TERMS)];
    blocks.extend(c.hearing.iter().map(|_| block(2 * m + ROOT_TERMS..c.held())));
    blocks
}

fn blocks(c: &Correction, near: f64) -> Vec<Block> {
    let (filtered, plain) = (c.held() + c.filtered(), c.plain_features());
    let poses = filtered + c.centre_count();
    let mut blocks = linear(c);
    blocks.push(Block { range: c.held()..filtered, held_back: 1.0 });
    blocks.push(Block { range: filtered..poses, held_back: near });
    if poses < plain {
        blocks.push(Block { range: poses..plain, held_back: ANCHORS_HELD_BACK * near });
    }
    // What a cloth changes is held back more than what all have in common: there are few cloths and many frames.
    let of_one = blocks.len();
    for k in 0..c.hearing.as_ref().map_or(0, |h| h.basis()) {
        let first = plain + k * (plain + 1);
        blocks.push(Block { range: first..first + 1, held_back: 1.0 });
        for b in 0..of_one {
            let Block { range, held_back } = blocks[b].clone();
            let range = first + 1 + range.start..first + 1 + range.end;
            blocks.push(Block { range, held_back: CLOTH_HELD_BACK * held_back });
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_left_out_together_and_every_fold_has_clips() {
        let folds: Vec<usize> = (0..12).map(|clip| fold_of(clip, 12, 5)).collect();
        assert!(folds.is_sorted(), "{folds:?}");
        assert!((0..5).all(|k| folds.iter().filter(|f| **f == k).count() >= 2), "{folds:?}");
        assert_eq!((0..3).map(|clip| fold_of(clip, 3, 3)).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(fold_of(12, 12, 5), 4, "the garment at rest is a clip past the last");
    }
}
