//! Which triangles stand for all of them, learned from runs of the exact method (An, Kim and James 2008).
//!
//! Training clips are played with every triangle. In some frames the elastic force of each candidate is taken along the
//! directions of the moment, and weights are looked for, none of them negative, with which few candidates make the force of all.
//! Forces are measured by what they move: a block of rows is multiplied with `L⁻¹`, `K = L Lᵀ` the reduced matrix, so that what
//! is left over is the root of the energy of the wrong step.

use super::sampled::Pieces;
use super::{Assembly, Subspace};
use crate::energy::bending;
use crate::{Error, Result};
use glam::{Affine3A, DVec3};
use toile_assets::adaptive::Cubature;
use toile_geometry::Random;

/// How triangles are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CubatureSettings {
    /// Triangles, at most.
    pub triangles: usize,
    /// What may be left of the forces, as a share, before fewer triangles do.
    pub tolerance: f64,
    /// Frames that are looked at, evenly over all clips; every fifth of them is held out.
    pub frames: usize,
    /// Places a step aside of each frame at which forces are looked at, too. With one, and half the frames, weights fit those frames and
    /// no others: more than all forces were left in frames held out, where three leave an eighth.
    pub asides: usize,
    /// Triangles that are thought of, drawn from all of them.
    pub candidates: usize,
    /// Of what is drawn.
    pub seed: u64,
}

impl Default for CubatureSettings {
    fn default() -> Self {
        Self { triangles: 600, tolerance: 0.01, frames: 320, asides: 3, candidates: 6000, seed: 1 }
    }
}

impl CubatureSettings {
    /// These with some of them changed.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

/// Triangles with weights and how well they stand for all.
#[derive(Clone, Debug, PartialEq)]
pub struct CubatureFit {
    /// What was chosen.
    pub cubature: Cubature,
    /// What is left of the forces, as a share of them (root mean square), in the frames that were fitted.
    pub fitted: f64,
    /// The same in the frames that were held out.
    pub held_out: f64,
    /// Frames of both kinds.
    pub frames: usize,
}

/// Every so many frames one is held out.
const HELD_OUT_EVERY: usize = 5;
/// Steps in which cloth that is put on comes to hang.
const SETTLING: usize = 20;

/// Rows of one kind of frames: what all triangles do, and what each candidate does.
#[derive(Default)]
struct Rows {
    target: Vec<f32>,
    /// Candidate after candidate.
    of: Vec<Vec<f32>>,
}

impl Subspace {
    /// Learns which triangles stand for all of them while clips, bones frame by frame, are played. The cloth is left where the
    /// last clip ends.
    pub fn learn_cubature(
        &mut self,
        clips: &[Vec<Vec<Affine3A>>],
        settings: &CubatureSettings,
    ) -> Result<CubatureFit> {
        let frames: usize = clips.iter().map(Vec::len).sum();
        if frames == 0 || settings.triangles == 0 {
            return Err(Error::Scene(format!(
                "{frames} frames to learn {} triangles of cubature from",
                settings.triangles
            )));
        }
        let assembly = std::mem::replace(&mut self.settings.assembly, Assembly::Kept);
        let pieces = Pieces::new(&self.world.scene, self.world.settings.bending);
        let candidates = self.candidates(settings);
        let mut rows = [Rows::default(), Rows::default()];
        rows.iter_mut().for_each(|r| r.of.resize(candidates.len(), Vec::new()));
        let every = (frames / settings.frames.max(1)).max(1);
        let (mut seen, mut looked) = (0, 0);
        let mut random = Random::new(settings.seed);
        for clip in clips {
            let Some(first) = clip.first() else { continue };
            self.start_hanging(first)?;
            for _ in 0..SETTLING {
                self.step(first, self.settings.step_secs)?;
            }
            for bones in clip {
                self.step(bones, 1.0 / self.database.fps)?;
                if seen % every == every / 2 {
                    let to = &mut rows[usize::from(looked % HELD_OUT_EVERY == HELD_OUT_EVERY - 1)];
                    self.look_closely(&pieces, &candidates, to, settings.asides, &mut random);
                    looked += 1;
                }
                seen += 1;
            }
        }
        self.settings.assembly = assembly;
        let [fit, held] = &rows;
        let weights = fit_weights(&fit.of, &fit.target, settings.triangles, settings.tolerance);
        let left = |rows: &Rows| {
            let mut left = rows.target.clone();
            for (c, w) in &weights {
                left.iter_mut().zip(&rows.of[*c]).for_each(|(l, v)| *l -= v * *w as f32);
            }
            (square(&left) / square(&rows.target).max(1e-300)).sqrt()
        };
        let mut chosen: Vec<(u32, f32)> =
            weights.iter().map(|(c, w)| (candidates[*c] as u32, *w as f32)).collect();
        chosen.sort_unstable_by_key(|c| c.0);
        let (triangles, weights_kept) = chosen.into_iter().unzip();
        Ok(CubatureFit {
            fitted: left(fit),
            held_out: left(held),
            cubature: Cubature { triangles, weights: weights_kept },
            frames: looked,
        })
    }

    /// Triangles that are thought of.
    fn candidates(&self, settings: &CubatureSettings) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.world.scene.triangles.len()).collect();
        let mut random = Random::new(settings.seed);
        let count = settings.candidates.max(settings.triangles).min(all.len());
        for k in 0..count {
            let other = k + random.below(all.len() - k);
            all.swap(k, other);
        }
        all.truncate(count);
        all.sort_unstable();
        all
    }

    /// Notes the forces of the candidates along the directions of the moment, where the cloth is and a step aside of it.
    fn look_closely(
        &mut self,
        pieces: &Pieces,
        candidates: &[usize],
        rows: &mut Rows,
        asides: usize,
        random: &mut Random,
    ) {
        self.evaluate();
        self.refresh(true);
        self.choose();
        self.assemble();
        let factor = self.reduced.factor();
        let directions = self.directions();
        self.note(pieces, candidates, rows, &directions, &factor);
        let here = self.x.clone();
        for _ in 0..asides {
            self.step_aside(&directions, &factor, random);
            self.note(pieces, candidates, rows, &directions, &factor);
            self.x.clone_from(&here);
        }
    }

    /// Moves the cloth along all directions alike in energy, by a share of how much it last moved of itself.
    fn step_aside(&mut self, directions: &[Vec<DVec3>], factor: &[Vec<f64>], random: &mut Random) {
        let n = factor.len();
        let mut q: Vec<f64> = (0..n).map(|_| random.signed()).collect();
        for i in (0..n).rev() {
            let known: f64 = (i + 1..n).map(|j| factor[j][i] * q[j]).sum();
            q[i] = (q[i] - known) / factor[i][i];
        }
        let mut aside = vec![DVec3::ZERO; self.x.len()];
        for (direction, q) in directions.iter().zip(&q) {
            aside.iter_mut().zip(direction).for_each(|(a, d)| *a += *d * *q);
        }
        let size = |v: &[DVec3]| v.iter().map(|v| v.length_squared()).sum::<f64>().sqrt();
        let moved: Vec<DVec3> = self.world.state.v.iter().map(|v| *v * self.forces.h).collect();
        let scale = ASIDE * size(&moved).max(1e-4 * (aside.len() as f64).sqrt()) / size(&aside).max(1e-12);
        self.x.iter_mut().zip(&aside).for_each(|(x, a)| *x += *a * scale);
    }

    /// The directions of the moment in the world.
    fn directions(&self) -> Vec<Vec<DVec3>> {
        let scene = &self.world.scene;
        let one = |c: &super::basis::Column| {
            let vector = self.basis.vector(&self.database, *c).as_chunks::<3>().0;
            let place = |i: usize| match scene.pinned[i] {
                true => DVec3::ZERO,
                false => self.kinematic.linear[i] * DVec3::from_array(vector[i].map(f64::from)),
            };
            (0..scene.len()).map(place).collect()
        };
        self.basis.columns.iter().map(one).collect()
    }

    /// Adds the rows of the forces at `self.x`.
    fn note(
        &self,
        pieces: &Pieces,
        candidates: &[usize],
        rows: &mut Rows,
        directions: &[Vec<DVec3>],
        factor: &[Vec<f64>],
    ) {
        let scene = &self.world.scene;
        let count = scene.hinges.len();
        let (mut angles, mut turns) = (vec![0.0; count], vec![bending::Turn::default(); count]);
        bending::angles_and_turns(
            0..count as u32,
            &scene.hinges,
            &self.x,
            &self.world.state.angles,
            &mut angles,
            &mut turns,
        );
        let n = factor.len();
        let measured = |mut sums: Vec<f64>| {
            for i in 0..n {
                let known: f64 = (0..i).map(|j| factor[i][j] * sums[j]).sum();
                sums[i] = (sums[i] - known) / factor[i][i];
            }
            sums.into_iter().map(|v| v as f32)
        };
        let mut all = vec![DVec3::ZERO; scene.len()];
        for t in 0..scene.triangles.len() {
            pieces.gradient(scene, t, &self.x, &angles, &turns, |v, force| all[v] += force);
        }
        let sum = |d: &Vec<DVec3>| d.iter().zip(&all).map(|(d, force)| d.dot(*force)).sum();
        rows.target.extend(measured(directions.iter().map(sum).collect()));
        for (c, of) in candidates.iter().zip(&mut rows.of) {
            let mut sums = vec![0.0f64; n];
            pieces.gradient(scene, *c, &self.x, &angles, &turns, |v, force| {
                sums.iter_mut().zip(directions).for_each(|(sum, d)| *sum += d[v].dot(force));
            });
            of.extend(measured(sums));
        }
    }
}

/// How far aside forces are looked at, as a share of the last step.
const ASIDE: f64 = 0.3;

fn square(v: &[f32]) -> f64 {
    v.iter().map(|v| f64::from(*v) * f64::from(*v)).sum()
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    super::basis::dot_and_square(a, b).0
}

/// Weights, none negative, with which some of the columns make the target: greedily the column that says most of what is left,
/// some at a time, and all weights anew each time (Lawson and Hanson 1974).
pub(super) fn fit_weights(
    columns: &[Vec<f32>],
    target: &[f32],
    most: usize,
    tolerance: f64,
) -> Vec<(usize, f64)> {
    let lengths: Vec<f64> = columns.iter().map(|c| square(c).sqrt().max(1e-30)).collect();
    let goal = tolerance * tolerance * square(target);
    let mut chosen: Vec<usize> = Vec::new();
    let mut weights: Vec<f64> = Vec::new();
    // Rows of the Gram matrix of what is chosen, and its products with the target.
    let mut gram: Vec<Vec<f64>> = Vec::new();
    let mut right: Vec<f64> = Vec::new();
    let mut left: Vec<f32> = target.to_vec();
    let batch = (most / 40).max(1);
    // What was thrown out again comes back at most so often: rounding must not let it go on for ever.
    for _ in 0..3 * most.div_ceil(batch) {
        if square(&left) <= goal || chosen.len() >= most {
            break;
        }
        let mut scores: Vec<(f64, usize)> = (0..columns.len())
            .filter(|c| !chosen.contains(c))
            .map(|c| (dot(&columns[c], &left) / lengths[c], c))
            .filter(|s| s.0 > 1e-9)
            .collect();
        if scores.is_empty() {
            break;
        }
        scores.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for (_, c) in scores.into_iter().take(batch.min(most - chosen.len())) {
            let mut row: Vec<f64> = chosen.iter().map(|o| dot(&columns[*o], &columns[c])).collect();
            gram.iter_mut().zip(&row).for_each(|(g, v)| g.push(*v));
            row.push(lengths[c] * lengths[c]);
            gram.push(row);
            right.push(dot(&columns[c], target));
            chosen.push(c);
            weights.push(0.0);
        }
        solve(&gram, &right, &mut weights);
        let kept: Vec<usize> = (0..chosen.len()).filter(|&i| weights[i] > 0.0).collect();
        gram = kept.iter().map(|&i| kept.iter().map(|&j| gram[i][j]).collect()).collect();
        right = kept.iter().map(|&i| right[i]).collect();
        weights = kept.iter().map(|&i| weights[i]).collect();
        chosen = kept.iter().map(|&i| chosen[i]).collect();
        left.copy_from_slice(target);
        for (c, w) in chosen.iter().zip(&weights) {
            left.iter_mut().zip(&columns[*c]).for_each(|(l, v)| *l -= v * *w as f32);
        }
    }
    chosen.into_iter().zip(weights).collect()
}

/// The least squares weights from weights that are none negative: towards the free solution until one becomes zero, which is
/// then left out.
fn solve(gram: &[Vec<f64>], right: &[f64], weights: &mut [f64]) {
    let mut free: Vec<usize> = (0..right.len()).collect();
    while !free.is_empty() {
        let solution = cholesky_solve(gram, right, &free);
        let mut share = 1.0f64;
        for (&i, s) in free.iter().zip(&solution) {
            if *s <= 0.0 {
                share = share.min(weights[i] / (weights[i] - s).max(1e-300));
            }
        }
        for (&i, s) in free.iter().zip(&solution) {
            weights[i] += share * (s - weights[i]);
        }
        if share >= 1.0 {
            return;
        }
        let before = free.len();
        let ends: Vec<bool> =
            free.iter().zip(&solution).map(|(&i, s)| *s <= 0.0 && weights[i] <= 1e-12).collect();
        free.iter().zip(&ends).filter(|e| *e.1).for_each(|(&i, _)| weights[i] = 0.0);
        let mut end = ends.iter();
        free.retain(|_| !end.next().copied().unwrap_or(false));
        if free.len() == before {
            return;
        }
    }
}

/// `G x = b` over some rows, with a ridge against columns that say the same.
fn cholesky_solve(gram: &[Vec<f64>], right: &[f64], which: &[usize]) -> Vec<f64> {
    let n = which.len();
    let mut l = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let (row, above) = l.split_at_mut(i);
            let other = if j < i { &row[j] } else { &above[0] };
            let known: f64 = above[0][..j].iter().zip(&other[..j]).map(|(a, b)| a * b).sum();
            let value = gram[which[i]][which[j]] - known;
            above[0][j] = match i == j {
                true => (value + 1e-9 * gram[which[i]][which[i]]).max(1e-30).sqrt(),
                false => value / row[j][j],
            };
        }
    }
    let mut x: Vec<f64> = which.iter().map(|&i| right[i]).collect();
    for i in 0..n {
        let known: f64 = (0..i).map(|j| l[i][j] * x[j]).sum();
        x[i] = (x[i] - known) / l[i][i];
    }
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|j| l[j][i] * x[j]).sum();
        x[i] = (x[i] - known) / l[i][i];
    }
    x
}
