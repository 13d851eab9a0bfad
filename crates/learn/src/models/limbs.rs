//! Arms and legs of a body as tubes that follow one bone each, and what is within the skin of its trunk.

use faer::Mat;
use faer::linalg::solvers::{Llt, Solve};
use glam::{Affine3A, Vec3};
use toile_assets::{ALONG, AROUND, Body, LimbTube, MAX_LIMBS, Role, around};

/// Skin that follows a bone by at least this weight belongs to its limb.
const LEAST_WEIGHT: f32 = 0.3;
/// Vertices that a limb's skin has at least.
const LEAST_VERTICES: usize = 24;
/// A limb is longer than it is thick, by this factor: segments of a spine are not limbs.
const SLENDER: f32 = 2.5;
/// A tube whose radius is off by more than this share of it is none.
const ROUGH: f64 = 0.15;
/// How far a limb goes on beyond its joint and beyond the next one, as shares of half its length: the cap of a bent knee is
/// past the thigh's end.
const BEYOND: [f32; 2] = [0.1, 0.5];
/// Keeps coefficients that no skin tells apart small.
const RIDGE: f64 = 1e-4;
/// A trunk is no tube, and cloth on it is kept off by points: its tubes only bring out what got deep into it, so they are
/// within the skin but for this share of it.
const OUTSIDE: f64 = 0.02;
/// How far a tube of the trunk goes on beyond its own skin, as a share of half its length: it fades towards its ends.
const BEYOND_TRUNK: f32 = 0.2;

/// A limb, and which of the body's vertices its radius is fitted to.
struct Draft {
    limb: LimbTube,
    skin: Vec<(usize, f32)>,
    /// Whether it may be rough, and is kept within the skin.
    trunk: bool,
}

/// All limbs of a body, fitted to its skin in the given poses, and how many of them are none: parts of the trunk are last.
pub(crate) fn limbs(body: &Body, poses: &[Vec<Affine3A>]) -> (Vec<LimbTube>, usize) {
    let mut drafts = drafts(body);
    drafts.extend(trunk(body, &drafts));
    let mut fits: Vec<RadiusFit> = drafts.iter().map(|_| RadiusFit::new()).collect();
    // Everywhere along a limb where its skin is, in every pose.
    let each = |visit: &mut dyn FnMut(usize, [f32; 3], f32)| {
        for bones in poses {
            let skin = body.skinned_positions(bones);
            for (k, draft) in drafts.iter().enumerate() {
                let bind_from_world = bones[draft.limb.joint as usize].inverse();
                for &(v, weight) in &draft.skin {
                    let place = draft.limb.place(bind_from_world.transform_point3(skin[v]));
                    if place[0].abs() <= 1.0 {
                        visit(k, place, weight);
                    }
                }
            }
        }
    };
    each(&mut |k, [along, x, y], weight| fits[k].add(along, x, y, weight));
    let rough = |draft: &Draft| if draft.trunk { f64::INFINITY } else { ROUGH };
    let mut fitted: Vec<Option<LimbTube>> = drafts
        .iter()
        .zip(fits)
        .map(|(draft, fit)| Some(LimbTube { radius: fit.radius(rough(draft))?, ..draft.limb.clone() }))
        .collect();
    let mut over: Vec<Vec<f32>> = vec![Vec::new(); drafts.len()];
    each(&mut |k, [along, x, y], _| {
        if let (true, Some(limb)) = (drafts[k].trunk, &fitted[k]) {
            let rho = x.hypot(y).max(1e-6);
            over[k].push(limb.radius(along, [x / rho, y / rho]) - rho);
        }
    });
    for (limb, over) in fitted.iter_mut().zip(&mut over) {
        over.sort_by(f32::total_cmp);
        if let (Some(limb), false) = (limb.as_mut(), over.is_empty()) {
            limb.radius[0][0] -= over[((over.len() - 1) as f64 * (1.0 - OUTSIDE)) as usize].max(0.0);
        }
    }
    let trunk = drafts.iter().zip(&fitted).filter(|(draft, limb)| draft.trunk && limb.is_some()).count();
    let mut limbs: Vec<LimbTube> = fitted.into_iter().flatten().collect();
    let trunk = trunk.min(MAX_LIMBS);
    // Those of the trunk stay where there are too many.
    limbs.drain((limbs.len() - trunk).min(MAX_LIMBS - trunk)..limbs.len() - trunk);
    (limbs, trunk)
}

/// Bones between limbs that part, with the line towards the next one up.
fn trunk(body: &Body, limbs: &[Draft]) -> Vec<Draft> {
    let joints = &body.skeleton.joints;
    let place = |j: usize| body.joint_from_bind[j].inverse().transform_point3(Vec3::ZERO);
    let is_limb = |j: usize| limbs.iter().any(|draft| draft.limb.joint as usize == j);
    // How many chains of limbs begin below each joint.
    let mut below = vec![0; joints.len()];
    for j in (0..joints.len()).filter(|&j| is_limb(j) && joints[j].parent.is_none_or(|p| !is_limb(p))) {
        let mut up = joints[j].parent;
        while let Some(p) = up {
            below[p] += 1;
            up = joints[p].parent;
        }
    }
    let mut out = Vec::new();
    for j in (0..joints.len()).filter(|&j| below[j] >= 2 && !is_limb(j)) {
        let skin: Vec<(usize, f32)> = (0..body.mesh.positions.len())
            .map(|v| (v, body.skin.weight(v, j as u32)))
            .filter(|(_, w)| *w >= LEAST_WEIGHT)
            .collect();
        let next = (j + 1..joints.len()).filter(|&c| joints[c].parent == Some(j));
        let next = next.map(place).max_by(|a, b| a.y.total_cmp(&b.y));
        let (Some(next), true) = (next, skin.len() >= LEAST_VERTICES) else { continue };
        let (from, Some(line)) = (place(j), (next - place(j)).try_normalize()) else { continue };
        let mut along: Vec<f32> =
            skin.iter().map(|(v, _)| (body.mesh.positions[*v] - from).dot(line)).collect();
        along.sort_by(f32::total_cmp);
        let (low, high) = (along[along.len() / 20], along[along.len() - 1 - along.len() / 20]);
        let half = (0.5 + 0.5 * BEYOND_TRUNK) * (high - low) * line;
        if half.length() >= 1e-2 {
            let across = half.any_orthogonal_vector().normalize();
            let middle = from + 0.5 * (low + high) * line;
            let radius = [[0.0; AROUND]; ALONG];
            let limb = LimbTube { joint: j as u32, other: None, middle, half, across, radius };
            out.push(Draft { limb, skin, trunk: true });
        }
    }
    out
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
    let humanoid = body.humanoid();
    // A collarbone is within the chest: what is fitted about it lies in cloth that is worn on the breast.
    let within_trunk = [Role::LeftShoulder, Role::RightShoulder].map(|role| humanoid.joint(role));
    for j in (0..joints.len()).filter(|j| !within_trunk.contains(&Some(*j))) {
        // Where several joints follow, those without skin of their own are no continuation.
        let next: Vec<usize> =
            (j + 1..joints.len()).filter(|&c| joints[c].parent == Some(j) && !skin[c].is_empty()).collect();
        let ([next], true) = (&next[..], skin[j].len() >= LEAST_VERTICES) else { continue };
        let (from, to) = (place(j), place(*next));
        let line = 0.5 * (to - from);
        let (low, high) = (from - BEYOND[0] * line, to + BEYOND[1] * line);
        let half = 0.5 * (high - low);
        if half.length() < 1e-2 {
            continue;
        }
        let across = half.any_orthogonal_vector().normalize();
        let limb = LimbTube {
            joint: j as u32,
            other: None,
            middle: 0.5 * (low + high),
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
            out.push(Draft { limb, skin: std::mem::take(&mut skin[j]), trunk: false });
        }
    }
    out
}

/// Sums of a least-squares fit of radii.
pub(super) struct RadiusFit {
    squares: Mat<f64>,
    products: Mat<f64>,
    radii: [f64; 3],
}

impl RadiusFit {
    pub fn new() -> Self {
        let n = ALONG * AROUND;
        Self { squares: Mat::zeros(n, n), products: Mat::zeros(n, 1), radii: [0.0; 3] }
    }

    pub fn add(&mut self, along: f32, x: f32, y: f32, weight: f32) {
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

    /// `None` where the skin is rougher than a tube may be.
    pub fn radius(mut self, most: f64) -> Option<[[f32; AROUND]; ALONG]> {
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
        let is_tube = rough <= most * sum / weight;
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
        let (mut limbs, trunk) = limbs(&body, &[bind]);
        let trunk = limbs.split_off(limbs.len() - trunk);
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
        // What is within the trunk reaches from hip to chest and hardly out of the skin.
        assert!(trunk.iter().any(|l| name(l) == "humanoid_root") && trunk.iter().any(|l| name(l) == "vl5"));
        let mut out = 0;
        for limb in &trunk {
            for (v, p) in body.mesh.positions.iter().enumerate() {
                let [along, x, y] = limb.place(*p);
                let rho = x.hypot(y);
                let beyond = limb.radius(along, [x / rho, y / rho]) - rho;
                let own = body.skin.weight(v, limb.joint) >= LEAST_WEIGHT && along.abs() <= 1.0;
                out += usize::from(own && beyond > 0.001);
            }
        }
        assert!(out < body.mesh.positions.len() / 50, "{out} vertices are within the tubes");
    }
}
