//! Directions of held inputs and filters that shapes follow most, and the places among them that nearness is measured to.
//!
//! Poses are points in seventy dimensions and more, most of which say little of the garment; there a hundred of them are far from
//! everything. In the few directions that a linear readout goes by they are dense, and nearness to them tells what is not linear.

use super::motions::TakeMotion;
use super::readout::{Readout, Sums};
use crate::Error;
use faer::linalg::triangular_solve::solve_upper_triangular_in_place;
use faer::{Mat, Par, Side};
use toile_assets::Correction;
use toile_geometry::Random;

/// Directions that are looked along. Eight leave 0.484 of skinning on clips left out, sixteen 0.480, thirty-two 0.484 (113 captured clips, 128 to
/// 400 anchors; 0.498 with none).
const DIRECTIONS: usize = 12;
/// Places that nearness is measured to, at most: 128 leave 0.485, 400 leave 0.479, 800 leave 0.477 along sixteen directions, and each
/// costs a number of the readout for every dim.
const ANCHORS: usize = 256;
/// One for so many frames.
const FRAMES_EACH: usize = 16;
/// Share of the anchors that are taken at random, as training is; the others are each as far as possible from all before.
const AT_RANDOM: f64 = 0.75;
/// Square of the distance at which nearness is one half, over the median between places and anchors.
const WIDTH: f64 = 0.6;
/// Places that anchors are chosen from.
const POOL: usize = 12_000;

/// How many anchors so many frames are worth.
pub(super) fn count(frames: usize) -> usize {
    (frames / FRAMES_EACH).min(ANCHORS)
}

/// Features of a motion, from its first frame on that is learned from.
pub(super) type Features<'a> = dyn Fn(&TakeMotion) -> Mat<f64> + 'a;

/// The same correction with directions and anchors, from a readout of it, the sums that was fitted to and the motions of those.
/// `None` where there are none to be had.
pub(super) fn anchored(
    c: &Correction,
    count: usize,
    readout: &Readout,
    sums: &Sums,
    features: &Features,
    motions: &[&TakeMotion],
) -> Result<Option<Correction>, Error> {
    let n = c.held() + c.filtered();
    let along = directions(readout, sums, n)?;
    let q = along.nrows();
    let total: usize = motions.iter().map(|m| m.y.ncols()).sum();
    if count == 0 || q == 0 || total == 0 {
        return Ok(None);
    }
    let stride = total.div_ceil(POOL).max(1);
    let (mut pool, mut next) = (Vec::new(), 0);
    for motion in motions {
        let places = &along * features(motion).subrows(0, n);
        let mut f = next;
        while f < places.ncols() {
            pool.push(places.col_as_slice(f).to_vec());
            f += stride;
        }
        next = f - places.ncols();
    }
    let (anchors, width_sq) = spread(&pool, count, 7);
    Ok(Some(Correction {
        directions: (0..q)
            .flat_map(|r| (0..n).map(move |k| (r, k)))
            .map(|(r, k)| along[(r, k)] as f32)
            .collect(),
        anchors: anchors.iter().flat_map(|&i| pool[i].iter().map(|v| *v as f32)).collect(),
        anchor_width_sq: width_sq.max(1e-3) as f32,
        ..c.clone()
    }))
}

/// The directions along which the readout of the first `n` features moves shapes most in training, each as long as the root of
/// how much it does, the first of length one in its own deviation.
fn directions(readout: &Readout, sums: &Sums, n: usize) -> Result<Mat<f64>, Error> {
    let covariance = sums.covariance();
    let least = 1e-9 + 1e-9 * (0..n).map(|k| covariance[(k, k)]).sum::<f64>() / n as f64;
    let covariance = Mat::from_fn(n, n, |i, j| covariance[(i, j)] + if i == j { least } else { 0.0 });
    let numerical =
        |e: &dyn std::fmt::Debug| Error::Numerical(format!("directions that shapes follow: {e:?}"));
    let factor = covariance.llt(Side::Lower).map_err(|e| numerical(&e))?;
    let root = factor.L();
    let moved = readout.weights.subcols(0, n) * root;
    let eigen = (moved.transpose() * &moved).self_adjoint_eigen(Side::Lower).map_err(|e| numerical(&e))?;
    let size = |r: usize| eigen.S()[n - 1 - r].max(0.0).sqrt();
    let q = (0..DIRECTIONS.min(n)).take_while(|&r| size(r) > 1e-6 * size(0)).count();
    // In whitened features they are orthonormal; `Zᵀ L⁻¹` says them in features.
    let mut along = Mat::from_fn(n, q, |i, r| eigen.U()[(i, n - 1 - r)] * (size(r) / size(0)).sqrt());
    solve_upper_triangular_in_place(root.transpose(), along.as_mut(), Par::Seq);
    Ok(along.transpose().to_owned())
}

/// Which of the places are anchors, and the square of the width of nearness to them.
fn spread(pool: &[Vec<f64>], count: usize, seed: u64) -> (Vec<usize>, f64) {
    let apart =
        |a: usize, b: usize| -> f64 { pool[a].iter().zip(&pool[b]).map(|(a, b)| (a - b).powi(2)).sum() };
    let mut random = Random::new(seed);
    let at_random = (AT_RANDOM * count as f64).ceil() as usize;
    let mut chosen: Vec<usize> = (0..at_random).map(|_| random.below(pool.len())).collect();
    let nearest_of = |i: usize| chosen.iter().map(|&k| apart(i, k)).fold(f64::INFINITY, f64::min);
    let mut nearest: Vec<f64> = (0..pool.len()).map(nearest_of).collect();
    while chosen.len() < count {
        let far = (0..pool.len()).max_by(|a, b| nearest[*a].total_cmp(&nearest[*b])).unwrap_or(0);
        chosen.push(far);
        (0..pool.len()).for_each(|i| nearest[i] = nearest[i].min(apart(i, far)));
    }
    let mut between: Vec<f64> =
        (0..400).map(|_| apart(random.below(pool.len()), chosen[random.below(count)])).collect();
    between.sort_by(f64::total_cmp);
    (chosen, WIDTH * between[between.len() / 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_are_those_that_shapes_follow_whatever_else_moves_more() {
        // The third input moves least and alone decides; the first two are large and say nothing.
        let x = Mat::from_fn(3, 400, |k, f| [5.0, 3.0, 0.1][k] * ((k + 2) as f64 * 0.37 * f as f64).sin());
        let y = Mat::from_fn(2, 400, |r, f| [2.0, -1.0][r] * x[(2, f)]);
        let mut sums = Sums::new(3, 2);
        sums.add(&x, &y);
        let readout =
            sums.fit(1e-6, &[super::super::readout::Block { range: 0..3, held_back: 1.0 }]).unwrap();
        let along = directions(&readout, &sums, 3).unwrap();
        let place = &along * &x;
        let deviation = |r: usize| (place.row(r).squared_norm_l2() / 400.0).sqrt();
        assert!((deviation(0) - 1.0).abs() < 0.05, "{}", deviation(0));
        assert!((0..2).all(|k| along[(0, k)].abs() * 5.0 < 0.05 * along[(0, 2)].abs() * 0.1), "{along:?}");
        assert!((1..along.nrows()).all(|r| deviation(r) < 0.1), "{along:?}");
    }

    #[test]
    fn anchors_are_places_of_training_and_reach_its_ends() {
        let pool: Vec<Vec<f64>> = (0..1000).map(|i| vec![(i as f64 / 999.0).powi(6), 0.0]).collect();
        let (chosen, width_sq) = spread(&pool, 24, 1);
        assert_eq!(chosen.len(), 24);
        let farthest = chosen.iter().map(|&i| pool[i][0]).fold(0.0, f64::max);
        assert!(farthest > 0.999 && width_sq > 0.0 && width_sq < 0.5, "{farthest} {width_sq}");
    }
}
