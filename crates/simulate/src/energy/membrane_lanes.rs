//! Stretch and shear of four triangles at once: forces in f64 one by one, the Newton matrix in f32 lanes.
//!
//! With `u`, `v` the directions of the threads, `n` their normal and `w_u = l_u u`, all blocks are sums of five matrices:
//! `U = uuᵀ`, `V = vvᵀ`, `N = nnᵀ`, `1` and `W = uvᵀ`. What turns a thread in the plane, `(n×u)(n×u)ᵀ`, is `1 − U − N`.

use super::membrane::{Element, Strain};
use glam::{BVec4A, DVec3, Mat3A, Mat4, Vec3A, Vec4};

/// What [`linearise`] finds: the sum of the energies, and for each triangle gradients and blocks as
/// [`super::membrane::linearise`] orders them.
#[derive(Clone, Debug, Default)]
pub struct Four {
    /// J.
    pub energy: f64,
    /// By corner, N.
    pub gradients: [[DVec3; 3]; 4],
    /// 00, 11, 22, 01, 12, 20.
    pub blocks: [[Mat3A; 6]; 4],
}

/// Numbers of the four triangles, as they are put in one by one.
#[derive(Default)]
struct Gathered {
    u: [[f32; 4]; 3],
    v: [[f32; 4]; 3],
    /// Stiffness of weft, warp, both, and shear; then tension of weft and warp over their lengths, and shear stress.
    c: [[f32; 4]; 7],
    lengths: [[f32; 4]; 2],
    /// Gradients of the second and third shape function.
    q: [[f32; 4]; 4],
}

/// A symmetric block of each: xx, yy, zz, xy, yz, zx.
type Symmetric = [Vec4; 6];
const PLACES: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0)];

#[inline(always)]
fn square(a: &[Vec4; 3]) -> Symmetric {
    PLACES.map(|(i, j)| a[i] * a[j])
}

/// Energy, gradients and the positive part of the Hessians. False, and nothing of use, where the threads of a triangle lie
/// along each other.
#[inline]
pub fn linearise(els: [&Element; 4], x: &[DVec3], before: [Strain; 4], rate: f64, out: &mut Four) -> bool {
    let mut all = Gathered::default();
    out.energy = 0.0;
    for k in 0..4 {
        let el = els[k];
        let (wu, wv) = el.deformation(x);
        let (lu, lv) = (wu.length().max(1e-9), wv.length().max(1e-9));
        let (iu, iv) = (1.0 / lu, 1.0 / lv);
        let (u, v) = (wu * iu, wv * iv);
        let (energy, s, c) = el.response([lu - 1.0, lv - 1.0, wu.dot(wv)], before[k], rate);
        let (pu, pv) = (u * s[0] + wv * s[2], v * s[1] + wu * s[2]);
        let g1 = pu * el.g[1].x + pv * el.g[1].y;
        let g2 = pu * el.g[2].x + pv * el.g[2].y;
        out.energy += energy;
        out.gradients[k] = [-g1 - g2, g1, g2];
        for axis in 0..3 {
            all.u[axis][k] = u[axis] as f32;
            all.v[axis][k] = v[axis] as f32;
        }
        for (all, c) in all.c.iter_mut().zip([c[0], c[1], c[2], c[3], s[0] * iu, s[1] * iv, s[2]]) {
            all[k] = c as f32;
        }
        for (all, q) in all.q.iter_mut().zip([el.g[1].x, el.g[1].y, el.g[2].x, el.g[2].y]) {
            all[k] = q as f32;
        }
        all.lengths[0][k] = lu as f32;
        all.lengths[1][k] = lv as f32;
    }
    blocks(&all, &mut out.blocks)
}

#[inline(always)]
fn blocks(all: &Gathered, out: &mut [[Mat3A; 6]; 4]) -> bool {
    let (u, v) = (all.u.map(Vec4::from), all.v.map(Vec4::from));
    let [c0, c1, c2, cs, tu, tv, ts] = all.c.map(Vec4::from);
    let [lu, lv] = all.lengths.map(Vec4::from);
    let [q1x, q1y, q2x, q2y] = all.q.map(Vec4::from);
    let n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    let nn = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
    if nn.min_element() < 1e-6 {
        return false;
    }
    let inverse = 1.0 / nn;
    let (uu, vv, nn) = (square(&u), square(&v), square(&n).map(|n| n * inverse));
    let uv: [[Vec4; 3]; 3] = [0, 1, 2].map(|i| [0, 1, 2].map(|j| u[i] * v[j]));

    // The second derivative by w_u twice, by w_v twice, and by one and the other; shear is `w_v w_vᵀ`, `w_u w_uᵀ` and
    // `w_v w_uᵀ`.
    let (a, b, c) = positive_part(tu, ts, tv);
    let (pull_u, pull_v) = (tu.max(Vec4::ZERO), tv.max(Vec4::ZERO));
    let by_u = [c0 - pull_u, cs * lv * lv, a - pull_u, pull_u];
    let by_v = [cs * lu * lu, c1 - pull_v, c - pull_v, pull_v];
    let sheared = cs * lu * lv;

    // Coefficients of U, V, N and 1 for a block between corners with gradients p and q.
    let even = |pq_u: Vec4, pq_v: Vec4, mixed: Vec4| {
        let mut k = [0, 1, 2, 3].map(|k| by_u[k] * pq_u + by_v[k] * pq_v);
        k[2] += b * mixed;
        k
    };
    let sum = |k: &[Vec4; 4]| {
        let mut m = [0, 1, 2, 3, 4, 5].map(|i| uu[i] * k[0] + vv[i] * k[1] + nn[i] * k[2]);
        m[..3].iter_mut().for_each(|m| *m += k[3]);
        m
    };
    // U, V, N and 1 as they are, and `(c2 + shear)(W + Wᵀ)`.
    let own = |x: Vec4, y: Vec4| {
        let both = x * y;
        let mut m = sum(&even(x * x, y * y, both + both));
        let k = (c2 + sheared) * both;
        for (m, (i, j)) in m.iter_mut().zip(PLACES) {
            *m += k * (uv[i][j] + uv[j][i]);
        }
        m
    };
    let (h11, h22) = (own(q1x, q1y), own(q2x, q2y));
    let (xy, yx) = (q1x * q2y, q1y * q2x);
    let h12 = sum(&even(q1x * q2x, q1y * q2y, xy + yx));
    let (straight, turned) = (c2 * xy + sheared * yx, sheared * xy + c2 * yx);
    let at = |i: usize, j: usize| match (i.min(j), i.max(j)) {
        (0, 0) => 0,
        (1, 1) => 1,
        (2, 2) => 2,
        (0, 1) => 3,
        (1, 2) => 4,
        _ => 5,
    };
    let h12 = [0, 1, 2].map(|i| [0, 1, 2].map(|j| h12[at(i, j)] + straight * uv[i][j] + turned * uv[j][i]));

    // Rows sum to zero: a translation costs nothing.
    let h01 = |i: usize, j: usize| -(h11[at(i, j)] + h12[j][i]);
    let h20 = |i: usize, j: usize| -(h22[at(i, j)] + h12[j][i]);
    let h00 = |i: usize, j: usize| h11[at(i, j)] + h22[at(i, j)] + h12[i][j] + h12[j][i];
    put(out, 0, h00);
    put(out, 1, |i, j| h11[at(i, j)]);
    put(out, 2, |i, j| h22[at(i, j)]);
    put(out, 3, h01);
    put(out, 4, |i, j| h12[i][j]);
    put(out, 5, h20);
    true
}

/// Writes a block of all four, given entry by entry.
#[inline(always)]
fn put(out: &mut [[Mat3A; 6]; 4], block: usize, entry: impl Fn(usize, usize) -> Vec4) {
    let columns = [0, 1, 2].map(|j| {
        let lanes = Mat4::from_cols(entry(0, j), entry(1, j), entry(2, j), Vec4::ZERO).transpose();
        [lanes.x_axis, lanes.y_axis, lanes.z_axis, lanes.w_axis].map(Vec3A::from_vec4)
    });
    for k in 0..4 {
        out[k][block] = Mat3A::from_cols(columns[0][k], columns[1][k], columns[2][k]);
    }
}

/// The positive semi-definite part of the symmetric matrices `[[a, b], [b, c]]`.
#[inline(always)]
fn positive_part(a: Vec4, b: Vec4, c: Vec4) -> (Vec4, Vec4, Vec4) {
    let (mean, half) = (0.5 * (a + c), 0.5 * (a - c));
    let square = (half * half + b * b).to_array();
    let r = Vec4::from(square.map(f32::sqrt));
    let (high, low) = (mean + r, mean - r);
    let (whole, nothing): (BVec4A, BVec4A) = (low.cmpge(Vec4::ZERO), high.cmple(Vec4::ZERO));
    // high · q qᵀ with q the eigenvector of `high`; M − low·I is (high − low) q qᵀ.
    let k = high / (high - low);
    let pick = |all: Vec4, part: Vec4| Vec4::select(whole, all, Vec4::select(nothing, Vec4::ZERO, part * k));
    (pick(a, a - low), pick(b, b), pick(c, c - low))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::membrane;
    use glam::DVec2;
    use toile_geometry::Random;

    #[test]
    fn lanes_agree_with_one_triangle() {
        let mut r = Random::new(17);
        let mut found = Four::default();
        for round in 0..300 {
            let rest = [DVec2::new(0.0, 0.0), DVec2::new(0.03, 0.002), DVec2::new(0.01, 0.04)];
            let spread = [0.0003, 0.003, 0.02][round % 3];
            let mut x = Vec::new();
            let els = [0, 1, 2, 3].map(|k: u32| {
                x.extend(rest.map(|p| DVec3::new(p.x, 0.0, p.y) + r.vector() * spread));
                let corners = [3 * k, 3 * k + 1, 3 * k + 2];
                let el = Element::new(corners, rest, 700.0, 400.0, 60.0, 0.25).unwrap();
                Element { compression: 0.1, limit: 0.03, ..el }
            });
            let before = [0; 4].map(|_| [r.signed() * 0.05, r.signed() * 0.05, r.signed() * 0.05]);
            assert!(linearise(els.each_ref(), &x, before, 0.3, &mut found));
            let mut energy = 0.0;
            for k in 0..4 {
                let (e, g, b) = membrane::linearise(&els[k], &x, before[k], 0.3);
                energy += e;
                assert_eq!(g, found.gradients[k]);
                let size = b.iter().map(|b| b.x_axis.length()).fold(0.0, f32::max);
                for (ours, theirs) in found.blocks[k].iter().zip(&b) {
                    let off = *ours - *theirs;
                    let off = off.x_axis.length() + off.y_axis.length() + off.z_axis.length();
                    assert!(off < 1e-4 * size, "round {round}: {ours} {theirs}");
                }
            }
            assert!((found.energy - energy).abs() < 1e-12 * energy);
        }
        // A triangle whose threads lie along each other is not for lanes.
        let el = Element::new([0, 1, 2], [DVec2::ZERO, DVec2::X, DVec2::Y], 1.0, 1.0, 1.0, 0.0).unwrap();
        let x = [DVec3::ZERO, DVec3::X, DVec3::X];
        assert!(!linearise([&el; 4], &x, [[0.0; 3]; 4], 0.0, &mut found));
    }
}
