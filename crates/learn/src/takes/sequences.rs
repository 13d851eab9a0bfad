//! All takes as coefficients, in bounded memory.
//!
//! A fit of one step needs every frame, but only once: the takes go by, one at a time, and leave sums. Free runs need
//! whole courses again and again: they look at takes that are kept, evenly thinned where there are more frames than a
//! setting allows.

use crate::Error;
use crate::spaces::body::BodySpace;
use crate::spaces::cloth::ClothSpace;
use crate::takes::sequence::{Sequence, joined_roots, root_change};
use crate::takes::source::{Head, TakeSource};
use faer::Mat;
use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;
use toile_assets::Take;

/// Frames of the clip that lead into a stop: history for windows, and a swing for refinement to start from.
pub(crate) const LEAD: usize = 15;

/// Reads and projects one take by itself, after it was looked at.
type Read<'a> = Box<dyn Fn(usize, &mut dyn FnMut(&Take)) -> Result<Sequence, Error> + 'a>;

/// Takes after projection, stops led in by their clip.
pub(crate) struct Sequences<'a> {
    read: Read<'a>,
    /// Per take, where it is a stop: its clip's take and the frame at which it branches off.
    branches: Vec<Option<(usize, usize)>>,
    /// Those that are kept.
    kept: Vec<Option<Sequence>>,
    /// The latest clip that a stop was led in by; its other stops mostly come next.
    latest: RefCell<Option<(usize, Rc<Sequence>)>>,
    /// What the inputs did.
    pub seen: InputStatistics,
    /// The farthest every vertex was from its mean, m.
    pub travel_m: Vec<f32>,
}

impl<'a> Sequences<'a> {
    /// Goes through all takes once; `frames` of them are kept.
    pub fn new<S: TakeSource + 'a>(
        source: S,
        heads: &[Head],
        cloth: Rc<ClothSpace>,
        pose: Rc<BodySpace>,
        frames: usize,
    ) -> Result<Self, Error> {
        let branch = |h: &Head| {
            let at = h.stop_frame?;
            let same = |p: &Head| {
                p.stop_frame.is_none() && p.clip == h.clip && p.mirrored == h.mirrored && p.frames > at
            };
            Some((heads.iter().position(same)?, at))
        };
        let mean = cloth.clone();
        let body_dims = pose.from_bones.nrows();
        let read = move |i: usize, look: &mut dyn FnMut(&Take)| {
            let take = source.take(i)?;
            look(&take);
            Ok(Sequence {
                y: cloth.project(&take),
                x: pose.project(&take),
                roots: take.roots.clone(),
                lead: 0,
            })
        };
        let mut all = Self {
            read: Box::new(read),
            branches: heads.iter().map(branch).collect(),
            kept: Vec::with_capacity(heads.len()),
            latest: RefCell::new(None),
            seen: InputStatistics::new(body_dims),
            travel_m: vec![0.0f32; mean.mean.len() / 3],
        };
        let lengths: Vec<usize> = heads
            .iter()
            .zip(&all.branches)
            .map(|(h, b)| h.frames + b.map_or(0, |(_, at)| at.min(LEAD)))
            .collect();
        let mut travel_m = std::mem::take(&mut all.travel_m);
        for (i, keep) in thinned(&lengths, frames).into_iter().enumerate() {
            let sequence = all.load(i, &mut |take| farther(&mut travel_m, &mean.mean, take))?;
            all.seen.add(&sequence);
            all.kept.push(keep.then_some(sequence));
        }
        all.travel_m = travel_m;
        Ok(all)
    }

    /// Whether a take is kept.
    pub fn is_kept(&self, index: usize) -> bool {
        self.kept[index].is_some()
    }

    /// One of them, read again where it is not kept.
    fn at(&self, index: usize) -> Result<Cow<'_, Sequence>, Error> {
        match &self.kept[index] {
            Some(kept) => Ok(Cow::Borrowed(kept)),
            None => self.load(index, &mut |_| ()).map(Cow::Owned),
        }
    }

    fn load(&self, index: usize, look: &mut dyn FnMut(&Take)) -> Result<Sequence, Error> {
        let own = (self.read)(index, look)?;
        let Some((plain, at)) = self.branches[index] else { return Ok(own) };
        let latest = self.latest.borrow().clone().filter(|(i, _)| *i == plain).map(|(_, s)| s);
        let clip = match latest {
            Some(clip) => clip,
            None => {
                let clip = Rc::new((self.read)(plain, &mut |_| ())?);
                *self.latest.borrow_mut() = Some((plain, clip.clone()));
                clip
            }
        };
        let from = at.saturating_sub(LEAD);
        let join = |p: &Mat<f64>, s: &Mat<f64>| {
            Mat::from_fn(s.nrows(), at - from + s.ncols(), |r, c| {
                if c < at - from { p[(r, from + c)] } else { s[(r, c - (at - from))] }
            })
        };
        Ok(Sequence {
            y: join(&clip.y, &own.y),
            x: join(&clip.x, &own.x),
            roots: joined_roots(&clip.roots, from, at, &own.roots),
            lead: at - from,
        })
    }
}

/// Which takes to keep so that they have at most `most` frames: evenly over the list, all where they fit.
fn thinned(lengths: &[usize], most: usize) -> Vec<bool> {
    let total: usize = lengths.iter().sum();
    let share = (most as f64 / total.max(1) as f64).min(1.0);
    let (mut due, mut kept) = (0.0, 0usize);
    let keep = |&length: &usize| {
        due += share * length as f64;
        let keep = kept + length <= due.round() as usize;
        kept += if keep { length } else { 0 };
        keep
    };
    lengths.iter().map(keep).collect()
}

fn farther(travel: &mut [f32], mean: &[f64], take: &Take) {
    for f in 0..take.len() {
        let root = take.roots[f];
        for (v, p) in take.frame(f).iter().enumerate() {
            let apart = root.canonical_from_world(p.as_dvec3())
                - glam::DVec3::new(mean[3 * v], mean[3 * v + 1], mean[3 * v + 2]);
            travel[v] = travel[v].max(apart.length() as f32);
        }
    }
}

/// Sequences in the dimensions of one model.
pub(crate) struct Cut<'a> {
    pub all: &'a Sequences<'a>,
    pub body: usize,
    pub cloth: usize,
}

impl Cut<'_> {
    /// One of them.
    pub fn at(&self, index: usize) -> Result<Cow<'_, Sequence>, Error> {
        let s = self.all.at(index)?;
        let whole = s.x.nrows() == self.body && s.y.nrows() == self.cloth;
        Ok(if whole { s } else { Cow::Owned(s.truncated(self.body, self.cloth)) })
    }

    /// Several of them; meant for those that are kept.
    pub fn some(&self, takes: &[usize]) -> Result<Vec<Cow<'_, Sequence>>, Error> {
        takes.iter().map(|&i| self.at(i)).collect()
    }
}

/// What the inputs did over all takes, the leads of stops included.
pub(crate) struct InputStatistics {
    pub frames: usize,
    pub body_min: Vec<f64>,
    pub body_max: Vec<f64>,
    /// The most that each coefficient of the body changed per step.
    pub body_rate: Vec<f64>,
    pub body_squares: Vec<f64>,
    /// The most that the root moved per step along the ground and upwards, m, and turned.
    pub moves: [f64; 3],
}

impl InputStatistics {
    fn new(dims: usize) -> Self {
        Self {
            frames: 0,
            body_min: vec![f64::INFINITY; dims],
            body_max: vec![f64::NEG_INFINITY; dims],
            body_rate: vec![0.0; dims],
            body_squares: vec![0.0; dims],
            moves: [0.0; 3],
        }
    }

    fn add(&mut self, s: &Sequence) {
        self.frames += s.len();
        for f in 0..s.len() {
            for k in 0..self.body_min.len() {
                let x = s.x[(k, f)];
                self.body_min[k] = self.body_min[k].min(x);
                self.body_max[k] = self.body_max[k].max(x);
                self.body_squares[k] += x * x;
                if f > 0 {
                    self.body_rate[k] = self.body_rate[k].max((x - s.x[(k, f - 1)]).abs());
                }
            }
            if f > 0 {
                let z = root_change(&s.roots[f], &s.roots[f - 1], false);
                let turn = (s.roots[f].heading - s.roots[f - 1].heading).abs();
                for (l, v) in self.moves.iter_mut().zip([z[0].hypot(z[2]), z[1].abs(), turn]) {
                    *l = l.max(v);
                }
            }
        }
    }

    /// Standard deviation of each coefficient of the body.
    pub fn body_std(&self) -> Vec<f64> {
        self.body_squares.iter().map(|s| (s / self.frames.max(1) as f64).sqrt()).collect()
    }

    /// The farthest that a body of the sequence is from the mean, in standard deviations.
    pub fn reach(std: &[f64], s: &Sequence) -> f64 {
        let m = std.len();
        (0..s.len())
            .map(|f| {
                let sum: f64 = (0..m).map(|k| (s.x[(k, f)] / std[k].max(1e-9)).powi(2)).sum();
                (sum / m.max(1) as f64).sqrt()
            })
            .fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_are_thinned_evenly_and_never_beyond_the_limit() {
        assert!(thinned(&[10, 20, 30], 60).iter().all(|k| *k));
        let lengths: Vec<usize> = (0..200).map(|i| 40 + 17 * (i % 5)).collect();
        let total: usize = lengths.iter().sum();
        for share in [2, 3, 7] {
            let kept = thinned(&lengths, total / share);
            let frames = |from: usize, to: usize| -> usize {
                (from..to).filter(|&i| kept[i]).map(|i| lengths[i]).sum()
            };
            assert!(frames(0, 200) <= total / share);
            let (a, b) = (frames(0, 100) as f64, frames(100, 200) as f64);
            assert!((a / b - 1.0).abs() < 0.1, "{a} in the first half, {b} in the second");
        }
    }
}
