//! Where sites are: k-means in the space of poses, started far apart (k-means++, Arthur and Vassilvitskii 2007).

use super::AdaptiveSettings;
use super::poses::Poses;
use toile_geometry::Random;

/// A site and the frames nearest to it.
pub(super) struct Place {
    pub place: Vec<f64>,
    /// Numbers of frames in [`Poses`], in their order.
    pub frames: Vec<usize>,
}

/// Starts tried; the tightest is kept.
const STARTS: usize = 8;
/// Rounds of moving sites to the middle of their frames; the last of them change nothing any more.
const ROUNDS: usize = 100;

/// Places up to `count` sites. Those that are nearest to too few frames are given up, and their frames go to others.
pub(super) fn place(poses: &Poses, count: usize, settings: &AdaptiveSettings) -> Vec<Place> {
    let mut random = Random::new(settings.seed);
    let mut best: Option<(f64, Vec<Vec<f64>>)> = None;
    for _ in 0..STARTS {
        let mut centres = spread(poses, count, &mut random);
        let mut loose = settle(poses, &mut centres);
        while let Some(thin) = thinnest(poses, &centres, settings.least_frames) {
            centres.remove(thin);
            loose = settle(poses, &mut centres);
        }
        if best.as_ref().is_none_or(|(least, _)| loose < *least) {
            best = Some((loose, centres));
        }
    }
    let centres = best.map(|b| b.1).unwrap_or_default();
    let mut places: Vec<Place> =
        centres.into_iter().map(|place| Place { place, frames: Vec::new() }).collect();
    for f in 0..poses.len() {
        let nearest = nearest(poses.place(f), places.iter().map(|p| p.place.as_slice())).0;
        places[nearest].frames.push(f);
    }
    places.sort_by_key(|p| p.frames.first().copied());
    places
}

/// First places: each new one is drawn with the square of its distance to those before.
fn spread(poses: &Poses, count: usize, random: &mut Random) -> Vec<Vec<f64>> {
    let mut centres = vec![poses.place(random.below(poses.len())).to_vec()];
    let mut away: Vec<f64> = (0..poses.len()).map(|f| apart(poses.place(f), &centres[0])).collect();
    while centres.len() < count.min(poses.len()) {
        let sum: f64 = away.iter().sum();
        if sum <= 0.0 {
            break;
        }
        let mut left = random.unit() * sum;
        let drawn = away.iter().position(|d| {
            left -= d;
            left <= 0.0
        });
        let new = poses.place(drawn.unwrap_or(poses.len() - 1)).to_vec();
        away.iter_mut().enumerate().for_each(|(f, d)| *d = d.min(apart(poses.place(f), &new)));
        centres.push(new);
    }
    centres
}

/// Moves centres to the middle of what is nearest to them until nothing changes; returns the sum of squared distances.
fn settle(poses: &Poses, centres: &mut [Vec<f64>]) -> f64 {
    let mut owners = vec![usize::MAX; poses.len()];
    let mut loose = 0.0;
    for _ in 0..ROUNDS {
        let mut changed = false;
        loose = 0.0;
        for f in 0..poses.len() {
            let (owner, d) = nearest(poses.place(f), centres.iter().map(Vec::as_slice));
            changed |= std::mem::replace(&mut owners[f], owner) != owner;
            loose += d;
        }
        if !changed {
            break;
        }
        for (c, centre) in centres.iter_mut().enumerate() {
            let own: Vec<usize> = (0..poses.len()).filter(|f| owners[*f] == c).collect();
            if own.is_empty() {
                continue;
            }
            for (k, value) in centre.iter_mut().enumerate() {
                *value = own.iter().map(|&f| poses.place(f)[k]).sum::<f64>() / own.len() as f64;
            }
        }
    }
    loose
}

/// The site with the fewest frames, if they are too few.
fn thinnest(poses: &Poses, centres: &[Vec<f64>], least: usize) -> Option<usize> {
    let mut counts = vec![0; centres.len()];
    (0..poses.len()).for_each(|f| counts[nearest(poses.place(f), centres.iter().map(Vec::as_slice)).0] += 1);
    let (thin, count) = counts.iter().enumerate().min_by_key(|c| c.1)?;
    (*count < least && centres.len() > 1).then_some(thin)
}

/// The nearest of some places and the square of its distance.
pub(super) fn nearest<'a>(p: &[f64], places: impl Iterator<Item = &'a [f64]>) -> (usize, f64) {
    let mut best = (0, f64::INFINITY);
    for (i, place) in places.enumerate() {
        let d = apart(p, place);
        if d < best.1 {
            best = (i, d);
        }
    }
    best
}

/// The square of a distance.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}
