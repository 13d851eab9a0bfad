//! In-plane stretch and shear of constant-strain triangles.
//!
//! Strain is measured along the threads, as in Baraff and Witkin 1998 §4.2: with `F = [w_u w_v]` the map from
//! the flat cloth to space, `ε = (|w_u| − 1, |w_v| − 1, w_u·w_v)`. Energy per area is `½ ε:C:ε` plus the
//! strain-rate part `½ (τ/h) Δε:C:Δε` with `Δε` the change of strain in this step, which knows nothing of
//! rigid motion and so cannot slow a fall or a spin. Unlike Green's strain, `|w| − 1` keeps its stiffness when
//! compressed. Units: C in N/m.

use glam::{DMat3, DVec2, DVec3};

/// One triangle: gradients of its three shape functions on the flat cloth, its flat area (m²) and its stiffness.
#[derive(Clone, Copy, Debug)]
pub struct Element {
    /// Corners.
    pub v: [u32; 3],
    /// `w_u = Σ g[i].x · x_i`, `w_v = Σ g[i].y · x_i`, 1/m.
    pub g: [DVec2; 3],
    /// Flat area, m².
    pub area: f64,
    /// Weft, warp and coupling stiffness times area, N·m.
    pub c: [f64; 3],
    /// Shear stiffness times area, N·m.
    pub shear: f64,
}

/// Strains along weft and warp and the shear between them.
pub type Strain = [f64; 3];

impl Element {
    /// A triangle from its flat corners; `weft`, `warp` and `shear` in N/m are what uniaxial and shear tests give.
    pub fn new(
        v: [u32; 3],
        rest: [DVec2; 3],
        weft: f64,
        warp: f64,
        shear: f64,
        poisson: f64,
    ) -> Option<Self> {
        let (a, b) = (rest[1] - rest[0], rest[2] - rest[0]);
        let det = a.perp_dot(b);
        let area = 0.5 * det.abs();
        if area.is_nan() || area <= 1e-14 {
            return None;
        }
        // Rows of the inverse of [a b]: gradients of the second and third shape function.
        let g1 = DVec2::new(b.y, -b.x) / det;
        let g2 = DVec2::new(-a.y, a.x) / det;
        let plane = area / (1.0 - poisson * poisson);
        let c = [weft * plane, warp * plane, poisson * (weft * warp).sqrt() * plane];
        Some(Self { v, g: [-g1 - g2, g1, g2], area, c, shear: shear * area })
    }

    /// `w_u` and `w_v`.
    #[inline]
    pub fn deformation(&self, x: &[DVec3]) -> (DVec3, DVec3) {
        let [a, b, c] = self.v.map(|i| x[i as usize]);
        let (e1, e2) = (b - a, c - a);
        (e1 * self.g[1].x + e2 * self.g[2].x, e1 * self.g[1].y + e2 * self.g[2].y)
    }

    /// The strain of `x`.
    #[inline]
    pub fn strain(&self, x: &[DVec3]) -> Strain {
        let (wu, wv) = self.deformation(x);
        [wu.length() - 1.0, wv.length() - 1.0, wu.dot(wv)]
    }

    /// Stress times area for a strain, with the strain-rate part: `rate` is τ/h and `before` the strain at the
    /// start of the step.
    #[inline]
    fn stress(&self, e: Strain, before: Strain, rate: f64) -> Strain {
        let r = |k: usize| e[k] + rate * (e[k] - before[k]);
        let (u, v, s) = (r(0), r(1), r(2));
        [self.c[0] * u + self.c[2] * v, self.c[1] * v + self.c[2] * u, self.shear * s]
    }
}

/// Energy in joules.
#[inline]
pub fn energy(el: &Element, x: &[DVec3], before: Strain, rate: f64) -> f64 {
    let e = el.strain(x);
    let half = |e: Strain| {
        0.5 * (el.c[0] * e[0] * e[0] + el.c[1] * e[1] * e[1] + el.shear * e[2] * e[2]) + el.c[2] * e[0] * e[1]
    };
    half(e) + rate * half([e[0] - before[0], e[1] - before[1], e[2] - before[2]])
}

/// Gradient by corner, N.
#[inline]
pub fn gradient(el: &Element, x: &[DVec3], before: Strain, rate: f64) -> [DVec3; 3] {
    let (wu, wv) = el.deformation(x);
    let (lu, lv) = (wu.length().max(1e-9), wv.length().max(1e-9));
    let s = el.stress([lu - 1.0, lv - 1.0, wu.dot(wv)], before, rate);
    let pu = wu * (s[0] / lu) + wv * s[2];
    let pv = wv * (s[1] / lv) + wu * s[2];
    let g1 = pu * el.g[1].x + pv * el.g[1].y;
    let g2 = pu * el.g[2].x + pv * el.g[2].y;
    [-g1 - g2, g1, g2]
}

/// Which second derivative is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curvature {
    /// The true one, for tests.
    Exact,
    /// Positive semi-definite, for Newton.
    Projected,
}

/// Gradient by corner and the six blocks of the Hessian, in the order 00, 11, 22, 01, 12, 20.
#[inline]
pub fn gradient_and_hessian(
    el: &Element,
    x: &[DVec3],
    before: Strain,
    rate: f64,
    which: Curvature,
) -> ([DVec3; 3], [DMat3; 6]) {
    let (wu, wv) = el.deformation(x);
    let (lu, lv) = (wu.length().max(1e-9), wv.length().max(1e-9));
    let (u, v) = (wu / lu, wv / lv);
    let s = el.stress([lu - 1.0, lv - 1.0, wu.dot(wv)], before, rate);
    let pu = u * s[0] + wv * s[2];
    let pv = v * s[1] + wu * s[2];
    let g1 = pu * el.g[1].x + pv * el.g[1].y;
    let g2 = pu * el.g[2].x + pv * el.g[2].y;

    // Material part: C with the strain-rate part, outer products of the strain gradients.
    let k = 1.0 + rate;
    let (c0, c1, c2, cs) = (k * el.c[0], k * el.c[1], k * el.c[2], k * el.shear);
    let mut uu = outer(u * c0, u) + outer(wv * cs, wv);
    let mut vv = outer(v * c1, v) + outer(wu * cs, wu);
    let mut uv = outer(u * c2, v) + outer(wv * cs, wu);

    // Geometric part: stress times the second derivatives of the strains. Out of plane it is the 2×2 stress
    // itself; in plane each thread's own tension turns it.
    let n = u.cross(v);
    let (tu, tv, ts) = (s[0] / lu, s[1] / lv, s[2]);
    let nn = n.length_squared();
    if which == Curvature::Exact || nn < 1e-12 {
        let keep = |t: f64| if which == Curvature::Exact { t } else { t.max(0.0) };
        uu += (DMat3::IDENTITY - outer(u, u)) * keep(tu);
        vv += (DMat3::IDENTITY - outer(v, v)) * keep(tv);
        if which == Curvature::Exact {
            uv += DMat3::IDENTITY * ts;
        }
    } else {
        let n = n / nn.sqrt();
        let (a, b, c) = positive_part(tu, ts, tv);
        let (pu, pv) = (n.cross(u), n.cross(v));
        let nn = outer(n, n);
        uu += nn * a + outer(pu * tu.max(0.0), pu);
        vv += nn * c + outer(pv * tv.max(0.0), pv);
        uv += nn * b;
    }
    let vu = uv.transpose();
    let block = |i: usize, j: usize| {
        let (a, b) = (el.g[i], el.g[j]);
        uu * (a.x * b.x) + vv * (a.y * b.y) + uv * (a.x * b.y) + vu * (a.y * b.x)
    };
    let (h11, h22, h12) = (block(1, 1), block(2, 2), block(1, 2));
    // Rows sum to zero: a translation costs nothing.
    let h01 = -(h11 + h12.transpose());
    let h20 = -(h22 + h12.transpose());
    let h00 = -(h01 + h20.transpose());
    ([-g1 - g2, g1, g2], [h00, h11, h22, h01, h12, h20])
}

/// `a bᵀ`.
#[inline]
pub fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// The positive semi-definite part of the symmetric matrix `[[a, b], [b, c]]`.
#[inline]
fn positive_part(a: f64, b: f64, c: f64) -> (f64, f64, f64) {
    let (mean, half) = (0.5 * (a + c), 0.5 * (a - c));
    let r = (half * half + b * b).sqrt();
    let (high, low) = (mean + r, mean - r);
    if low >= 0.0 {
        (a, b, c)
    } else if high <= 0.0 {
        (0.0, 0.0, 0.0)
    } else {
        // high · q qᵀ with q the eigenvector of `high`; M − low·I is (high − low) q qᵀ.
        let k = high / (high - low);
        ((a - low) * k, b * k, (c - low) * k)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::random::Random;

    fn element(r: &mut Random) -> Element {
        let rest = [DVec2::new(0.0, 0.0), DVec2::new(0.03, 0.002), DVec2::new(0.01, 0.04)]
            .map(|p| p + DVec2::new(r.signed(), r.signed()) * 0.004);
        Element::new([0, 1, 2], rest, 700.0, 400.0, 60.0, 0.25).unwrap()
    }

    fn corners(r: &mut Random, spread: f64) -> Vec<DVec3> {
        [DVec3::ZERO, DVec3::new(0.03, 0.0, 0.0), DVec3::new(0.01, 0.0, 0.04)]
            .map(|p| p + r.vector() * spread)
            .to_vec()
    }

    #[test]
    fn derivatives_agree_with_finite_differences() {
        let mut r = Random::new(7);
        for round in 0..200 {
            let el = element(&mut r);
            let x = corners(&mut r, if round % 2 == 0 { 0.002 } else { 0.02 });
            let before = [r.signed() * 0.1, r.signed() * 0.1, r.signed() * 0.1];
            let rate = r.signed().abs();
            let (g, h) = gradient_and_hessian(&el, &x, before, rate, Curvature::Exact);
            let alone = gradient(&el, &x, before, rate);
            assert!((0..3).all(|k| (g[k] - alone[k]).length() < 1e-12));
            let block = |i: usize, j: usize| match (i, j) {
                (0, 0) | (1, 1) | (2, 2) => h[i],
                (0, 1) => h[3],
                (1, 2) => h[4],
                (2, 0) => h[5],
                (1, 0) => h[3].transpose(),
                (2, 1) => h[4].transpose(),
                _ => h[5].transpose(),
            };
            let scale = 700.0 * el.area / 0.03;
            for i in 0..3 {
                for k in 0..3 {
                    let eps = 1e-7;
                    let at = |d: f64| {
                        let mut y = x.clone();
                        y[i][k] += d;
                        (energy(&el, &y, before, rate), gradient(&el, &y, before, rate))
                    };
                    let ((e1, g1), (e0, g0)) = (at(eps), at(-eps));
                    let de = (e1 - e0) / (2.0 * eps);
                    assert!((de - g[i][k]).abs() < 1e-6 * scale, "round {round}: {de} {}", g[i][k]);
                    for j in 0..3 {
                        let dg = (g1[j] - g0[j]) / (2.0 * eps);
                        let ours = block(j, i).col(k);
                        assert!((dg - ours).length() < 1e-4 * scale / 0.03, "round {round}: {dg} {ours}");
                    }
                }
            }
        }
    }

    #[test]
    fn projected_hessian_is_positive_and_exact_in_tension() {
        let mut r = Random::new(3);
        for _ in 0..200 {
            let el = element(&mut r);
            let x = corners(&mut r, 0.03);
            let (_, h) = gradient_and_hessian(&el, &x, [0.0; 3], 0.0, Curvature::Projected);
            for _ in 0..20 {
                let p: Vec<DVec3> = (0..3).map(|_| r.vector()).collect();
                let mut q = 0.0;
                for i in 0..3 {
                    q += p[i].dot(h[i] * p[i]);
                }
                q += 2.0 * (p[0].dot(h[3] * p[1]) + p[1].dot(h[4] * p[2]) + p[2].dot(h[5] * p[0]));
                assert!(q > -1e-9, "{q}");
            }
        }
    }

    #[test]
    fn uniaxial_tension_gives_back_stiffness_and_poisson() {
        let rest = [DVec2::ZERO, DVec2::X, DVec2::Y];
        let el = Element::new([0, 1, 2], rest, 500.0, 300.0, 40.0, 0.3).unwrap();
        // Along the warp (v): the free side contracts until its stress is zero.
        let strain_v = 0.01;
        let strain_u = -el.c[2] / el.c[0] * strain_v;
        let s = el.stress([strain_u, strain_v, 0.0], [0.0; 3], 0.0);
        assert!(s[0].abs() < 1e-12);
        assert!((s[1] / el.area / strain_v - 300.0).abs() < 1e-9);
    }
}
