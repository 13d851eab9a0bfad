//! Arms and legs of a body as tubes that follow one bone each.

use faer::Mat;
use faer::linalg::solvers::{Llt, Solve};
use glam::{Affine3A, Vec3};
use toile_assets::{ALONG, AROUND, Body, LimbTube, MAX_LIMBS, around};

/// Skin that follows a bone by at least this weight belongs to its limb.
const LEAST_WEIGHT: f32 = 0.3;
/// Vertices that a limb's skin has at least.
const LEAST_VERTICES: usize = 24;
/// A limb is longer than it is thick, by this factor: segments of a spine are not limbs.
const SLENDER: f32 = 2.5;
/// A tube whose radius is off by more than this share of it is none.
const ROUGH: f64 = 0.15;
/// How far a limb goes on beyond its joints, as a share of half its length: the skin of a bent knee.
const BEYOND: f32 = 0.1;
/// Keeps coefficients that no skin tells apart small.
const RIDGE: f64 = 1e-4;

/// A limb, and which of the body's vertices its radius is fitted to.
struct Draft {
    limb: LimbTube,
    skin: Vec<(usize, f32)>,
}

/// All limbs of a body, fitted to its skin in the given poses.
pub(crate) fn limbs(body: &Body, poses: &[Vec<Affine3A>]) -> Vec<LimbTube> {
    let mut drafts = drafts(body);
    let mut fits: Vec<RadiusFit> = drafts.iter().map(|_| RadiusFit::new()).collect();
    for bones in poses {
        let skin = body.skinned_positions(bones);
        for (draft, fit) in drafts.iter().zip(&mut fits) {
            let bind_from_world = bones[draft.limb.joint as usize].inverse();
            for &(v, weight) in &draft.skin {
                let [along, x, y] = draft.limb.place(bind_from_world.transform_point3(skin[v]));
                if along.abs() <= 1.0 {
                    fit.add(along, x, y, weight);
                }
            }
        }
    }
    let fitted = drafts.drain(..).zip(fits).filter_map(|(draft, fit)| {
        let mut limb = draft.limb;
        limb.radius = fit.radius()?;
        Some(limb)
    });
    fitted.take(MAX_LIMBS).collect()
}

/// Every joint that one other follows, with skin all around the line between them.
fn drafts(body: &Body) -> Vec<Draft> {
    let joints = &body.skeleton.joints;
    let mut skin: Vec<Vec<(usize, f32)>> = vec![Vec::new(); joints.len()];
    for v in 0..body.mesh.positions.len() {
        for (j, w) in body.skin.row(v).filter(|(_, w)| *w >= LEAST_WEIGHT) {
            skin[j as usize].push((v, w));
        }
    }
    let place = |j: usize| body.joint_from_bind[j].inverse().transform_point3(Vec3::ZERO);
    let mut out = Vec::new();
    for j in 0..joints.len() {
        // Where several joints follow, those without skin of their own are no continuation.
        let next: Vec<usize> =
            (j + 1..joints.len()).filter(|&c| joints[c].parent == Some(j) && !skin[c].is_empty()).collect();
        let ([next], true) = (&next[..], skin[j].len() >= LEAST_VERTICES) else { continue };
        let (from, to) = (place(j), place(*next));
        let half = (0.5 + 0.5 * BEYOND) * (to - from);
        if half.length() < 1e-2 {
            continue;
        }
        let across = half.any_orthogonal_vector().normalize();
        let limb = LimbTube {
            joint: j as u32,
            middle: 0.5 * (from + to),
            half,
            across,
            radius: [[0.0; AROUND]; ALONG],
        };
        let thick = skin[j].iter().map(|(v, _)| {
            let [_, x, y] = limb.place(body.mesh.positions[*v]);
            x.hypot(y)
        });
        let thick = thick.sum::<f32>() / skin[j].len() as f32;
        if (to - from).length() >= SLENDER * thick {
            out.push(Draft { limb, skin: std::mem::take(&mut skin[j]) });
        }
    }
    out
}

/// Sums of a least-squares fit of radii.
struct RadiusFit {
    squares: Mat<f64>,
    products: Mat<f64>,
    radii: [f64; 3],
}

impl RadiusFit {
    fn new() -> Self {
        let n = ALONG * AROUND;
        Self { squares: Mat::zeros(n, n), products: Mat::zeros(n, 1), radii: [0.0; 3] }
    }

    fn add(&mut self, along: f32, x: f32, y: f32, weight: f32) {
        let (rho, w) = (f64::from(x.hypot(y)), f64::from(weight));
        let terms = around(x / x.hypot(y).max(1e-6), y / x.hypot(y).max(1e-6));
        let row: Vec<f64> = (0..ALONG * AROUND)
            .map(|k| f64::from(along).powi((k / AROUND) as i32) * f64::from(terms[k % AROUND]))
            .collect();
        for (i, a) in row.iter().enumerate() {
            self.products[(i, 0)] += w * a * rho;
            for (j, b) in row.iter().enumerate().take(i + 1) {
                self.squares[(i, j)] += w * a * b;
            }
        }
        self.radii[0] += w;
        self.radii[1] += w * rho;
        self.radii[2] += w * rho * rho;
    }

    /// `None` where the skin is no tube.
    fn radius(mut self) -> Option<[[f32; AROUND]; ALONG]> {
        let n = ALONG * AROUND;
        let [weight, sum, square_sum] = self.radii;
        if !(weight > 0.0) {
            return None;
        }
        for i in 0..n {
            self.squares[(i, i)] += RIDGE * weight;
            for j in 0..i {
                self.squares[(j, i)] = self.squares[(i, j)];
            }
        }
        let solved = Llt::new(self.squares.as_ref(), faer::Side::Lower).ok()?.solve(&self.products);
        let explained: f64 = (0..n).map(|i| solved[(i, 0)] * self.products[(i, 0)]).sum();
        let rough = ((square_sum - explained).max(0.0) / weight).sqrt();
        let is_tube = rough <= ROUGH * sum / weight;
        is_tube.then(|| std::array::from_fn(|i| std::array::from_fn(|k| solved[(i * AROUND + k, 0)] as f32)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_assets::builtin;

    #[test]
    fn thighs_and_arms_are_tubes_and_a_trunk_is_none() {
        let body = builtin::body("mannequin:female").unwrap();
        let bind = vec![Affine3A::IDENTITY; body.skeleton.len()];
        let limbs = limbs(&body, &[bind]);
        let name = |l: &LimbTube| body.skeleton.joints[l.joint as usize].name.as_str();
        for wanted in ["l_hip", "r_hip", "l_knee", "r_knee", "l_shoulder", "r_elbow"] {
            assert!(limbs.iter().any(|l| name(l) == wanted), "no {wanted}");
        }
        assert!(!limbs.iter().any(|l| ["humanoid_root", "vl5", "vt6"].contains(&name(l))));
        // Skin that follows the thigh alone lies where the tube says.
        let thigh = limbs.iter().find(|l| name(l) == "l_hip").unwrap();
        let mut worst = 0.0f32;
        for (v, p) in body.mesh.positions.iter().enumerate() {
            let alone = body.skin.row(v).any(|(j, w)| u32::from(j) == thigh.joint && w > 0.95);
            let [along, x, y] = thigh.place(*p);
            if alone && along.abs() < 0.8 {
                let rho = x.hypot(y);
                worst = worst.max((rho - thigh.radius(along, [x / rho, y / rho])).abs());
            }
        }
        assert!(worst > 0.0 && worst < 0.008, "off by {worst} m");
    }
}
