//! What a skirt hangs on, as takes show it.
//!
//! Weights that come from the distance to a body say the same of a skirt's front and of its back. But a thigh that is
//! raised lifts the cloth before it and leaves what hangs behind: the front follows the legs, the back the hips. Weights of
//! cloth that hangs on legs are fitted to takes, so that also where the correction fades out, skinned cloth lies over
//! a bent thigh instead of in it. (The fit of weights to shapes: James and Twigg 2005, *Skinning mesh animations*.)

use glam::{Affine3A, Vec3};
use toile_assets::{Attachment, Body, Role, Skin};

/// A vertex that follows legs by less than this hangs on none.
const ON_LEGS: f32 = 0.05;
/// How much a change of weights counts beside what they leave, as a share of what is left of the weights as they are.
const HELD_BACK: f64 = 0.1;
/// Steps of the descent: with so few bones it has long come to rest.
const STEPS: usize = 300;
/// How often what was changed is evened out between neighbours.
const SMOOTHED: usize = 3;

/// The garment hung anew on hips and thighs so that it is nearest to frames of takes; `None` where it hangs on no legs.
pub(super) fn fitted(
    body: &Body,
    worn: &Attachment,
    triangles: &[[u32; 3]],
    seen: &[(Vec<Affine3A>, Vec<Vec3>)],
) -> Option<Attachment> {
    let humanoid = body.humanoid();
    let [hips, left, right] =
        [Role::Hips, Role::LeftUpperLeg, Role::RightUpperLeg].map(|r| humanoid.joint(r));
    let (hips, thighs) = (hips?, [left?, right?]);
    let joints = body.skeleton.len();
    let mut on_leg = vec![false; joints];
    thighs.iter().for_each(|&j| on_leg[j] = true);
    for (j, joint) in body.skeleton.joints.iter().enumerate() {
        on_leg[j] |= joint.parent.is_some_and(|p| on_leg[p]);
    }
    let rows: Vec<Vec<(u16, f32)>> = (0..worn.skin.len()).map(|v| worn.skin.row(v).collect()).collect();
    let hangs: Vec<bool> = rows
        .iter()
        .map(|row| row.iter().filter(|(j, _)| on_leg[usize::from(*j)]).map(|(_, w)| w).sum::<f32>() > ON_LEGS)
        .collect();
    if !hangs.contains(&true) {
        return None;
    }
    let mut weights: Vec<Vec<f64>> = rows
        .iter()
        .map(|row| {
            let mut all = vec![0.0; joints];
            row.iter().for_each(|(j, w)| all[usize::from(*j)] += f64::from(*w));
            all
        })
        .collect();
    let before = weights.clone();
    for v in (0..rows.len()).filter(|v| hangs[*v]) {
        let mut bones: Vec<usize> = rows[v].iter().map(|(j, _)| usize::from(*j)).collect();
        bones.extend([hips, thighs[0], thighs[1]]);
        bones.sort_unstable();
        bones.dedup();
        let start: Vec<f64> = bones.iter().map(|&j| before[v][j]).collect();
        let found = of_vertex(worn.rest[v], v, &bones, &start, seen);
        bones.iter().zip(found).for_each(|(&j, w)| weights[v][j] = w);
    }
    smooth(&mut weights, &before, &hangs, triangles);
    let rows = weights.iter().map(|all| {
        let own = all.iter().enumerate().filter(|(_, w)| **w > 1e-3);
        own.map(|(j, w)| (j as u16, *w as f32)).collect::<Vec<_>>()
    });
    Some(Attachment { skin: Skin::from_rows(rows).ok()?, ..worn.clone() })
}

/// Weights of the given bones, none below zero and one together, that bring a vertex nearest to where it was.
fn of_vertex(
    rest: Vec3,
    v: usize,
    bones: &[usize],
    start: &[f64],
    seen: &[(Vec<Affine3A>, Vec<Vec3>)],
) -> Vec<f64> {
    let n = bones.len();
    // |Σ w_j (B_j r − x)|² = wᵀ S w, as weights sum to one.
    let mut squares = vec![vec![0.0f64; n]; n];
    for (all, cloth) in seen {
        let apart: Vec<Vec3> = bones.iter().map(|&j| all[j].transform_point3(rest) - cloth[v]).collect();
        for i in 0..n {
            for j in 0..n {
                squares[i][j] += f64::from(apart[i].dot(apart[j])) / seen.len() as f64;
            }
        }
    }
    let product = |w: &[f64], i: usize| squares[i].iter().zip(w).map(|(s, w)| s * w).sum::<f64>();
    let left: f64 = (0..n).map(|i| start[i] * product(start, i)).sum();
    let held = HELD_BACK * left;
    let step = 1.0 / ((0..n).map(|i| squares[i][i]).sum::<f64>() + held).max(1e-12);
    let mut w = start.to_vec();
    for _ in 0..STEPS {
        let slope: Vec<f64> = (0..n).map(|i| product(&w, i) + held * (w[i] - start[i])).collect();
        w.iter_mut().zip(&slope).for_each(|(w, s)| *w -= step * s);
        onto_simplex(&mut w);
    }
    w
}

/// The nearest numbers that are not below zero and one together (Duchi et al. 2008, figure 1).
fn onto_simplex(w: &mut [f64]) {
    let mut sorted = w.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut shift) = (0.0, 0.0);
    for (k, value) in sorted.iter().enumerate() {
        sum += value;
        let candidate = (sum - 1.0) / (k + 1) as f64;
        if value - candidate > 0.0 {
            shift = candidate;
        }
    }
    w.iter_mut().for_each(|w| *w = (*w - shift).max(0.0));
}

/// Evens out between neighbours what was changed.
fn smooth(weights: &mut [Vec<f64>], before: &[Vec<f64>], hangs: &[bool], triangles: &[[u32; 3]]) {
    let mut beside: Vec<Vec<usize>> = vec![Vec::new(); weights.len()];
    for t in triangles {
        for (a, b) in [(0, 1), (1, 2), (2, 0)] {
            beside[t[a] as usize].push(t[b] as usize);
            beside[t[b] as usize].push(t[a] as usize);
        }
    }
    for _ in 0..SMOOTHED {
        let was = weights.to_vec();
        for v in (0..was.len()).filter(|v| hangs[*v] && !beside[*v].is_empty()) {
            for j in 0..was[v].len() {
                let change = |v: &usize| was[*v][j] - before[*v][j];
                let mean = beside[v].iter().map(change).sum::<f64>() / beside[v].len() as f64;
                // A mean of weights is one together; where neighbours hang on other bones it may fall below zero.
                weights[v][j] = (before[v][j] + 0.5 * (change(&v) + mean)).max(0.0);
            }
            let sum: f64 = weights[v].iter().sum();
            weights[v].iter_mut().for_each(|w| *w /= sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_that_made_the_frames_are_found_again() {
        let bones: Vec<Vec<Affine3A>> = (0..40)
            .map(|f| {
                let turn = |a: f32| Affine3A::from_rotation_x(a * (0.3 * f as f32).sin());
                vec![turn(0.2), turn(1.0), turn(-0.7)]
            })
            .collect();
        let (rest, wanted) = (Vec3::new(0.1, -0.4, 0.2), [0.3, 0.6, 0.1]);
        let place = |b: &[Affine3A]| {
            b.iter().zip(wanted).map(|(b, w)| w as f32 * b.transform_point3(rest)).sum::<Vec3>()
        };
        let seen: Vec<_> = bones.into_iter().map(|b| (b.clone(), vec![place(&b)])).collect();
        let found = of_vertex(rest, 0, &[0, 1, 2], &[0.6, 0.2, 0.2], &seen);
        let left = |w: &[f64]| -> f32 {
            let sum = |(bones, cloth): &(Vec<Affine3A>, Vec<Vec3>)| {
                let at = bones.iter().zip(w).map(|(b, w)| *w as f32 * b.transform_point3(rest)).sum::<Vec3>();
                at.distance(cloth[0])
            };
            seen.iter().map(sum).sum::<f32>() / 40.0
        };
        let [before, after] = [left(&[0.6, 0.2, 0.2]), left(&found)];
        assert!(before > 0.02 && after < 0.3 * before, "{before} {after} {found:?}");
        assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-9 && found.iter().all(|w| *w >= 0.0));
    }
}
