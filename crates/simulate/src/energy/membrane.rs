//! In-plane stretch and shear of constant-strain triangles.
//!
//! Strain is measured along the threads, as in Baraff and Witkin 1998 §4.2: with `F = [w_u w_v]` the map from
//! the flat cloth to space, `ε = (|w_u| − 1, |w_v| − 1, w_u·w_v)`. Energy per area is `½ ε:C:ε` plus the
//! strain-rate part `½ (τ/h) Δε:C:Δε` with `Δε` the change of strain in this step, which knows nothing of
//! rigid motion and so cannot slow a fall or a spin. Unlike Green's strain, `|w| − 1` keeps its stiffness when
//! compressed. Units: C in N/m.

use crate::solve::system::outer;
use glam::{DVec2, DVec3, Mat3A};

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
    /// Share of the stiffness that is left where threads are pushed together and buckle.
    pub compression: f64,
    /// Strain of a thread beyond which it is [`TAUT`] times as stiff; infinite for none.
    pub limit: f64,
}

/// How many times as stiff a thread is beyond its strain limit: cloth is soft while the crimp is pulled out of its threads and
/// then as stiff as they are.
pub const TAUT: f64 = 30.0;
/// Taut shear over the stiffness of both threads together: that of their diagonal would be a quarter.
const LOCKED: f64 = 0.125;

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
        Some(Self {
            v,
            g: [-g1 - g2, g1, g2],
            area,
            c,
            shear: shear * area,
            compression: 1.0,
            limit: f64::INFINITY,
        })
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

    /// Stiffness along weft and warp, and between them, at a strain.
    ///
    /// Cloth that is pushed together buckles long before it is squeezed: a strip between vertices 4 cm apart gives way
    /// at `4π²B/L²`, a quarter of a newton per metre, in waves that the mesh cannot show. They are a slack `s ≥ 0` of
    /// each thread, which costs `½ κ s²`: the energy is the least over `s`, so it is convex, its stress is continuous,
    /// and a thread in compression keeps the share `r = κ/(c + κ)` of its stiffness. What counts is stress: a strip
    /// that is pulled contracts across, by its Poisson number, and is not slack.
    #[inline]
    fn tangent(&self, e: Strain) -> [f64; 3] {
        let [c0, c1, c2] = self.c;
        let (u, v) = (c0 * e[0] + c2 * e[1], c1 * e[1] + c2 * e[0]);
        if (u >= 0.0 && v >= 0.0) || self.compression >= 1.0 {
            return self.c;
        }
        let r = self.compression;
        let (rho, kept) = (r / (1.0 - r), 1.0 - r);
        if u < 0.0 && v - c2 / c0 * kept * u >= 0.0 {
            return [r * c0, c1 - c2 * c2 / c0 * kept, r * c2];
        }
        if v < 0.0 && u - c2 / c1 * kept * v >= 0.0 {
            return [c0 - c2 * c2 / c1 * kept, r * c1, r * c2];
        }
        let k = 1.0 + rho;
        let inv = 1.0 / (c0 * c1 * k * k - c2 * c2);
        let both = rho - rho * rho * c0 * c1 * k * inv;
        [both * c0, both * c1, rho * rho * c0 * c1 * c2 * inv]
    }

    /// Strain beyond the limit, and the stiffness added there. Shear stretches the diagonal by half of itself.
    #[inline]
    fn beyond(&self, e: Strain) -> (Strain, [f64; 3]) {
        let sheared = (e[2].abs() - 2.0 * self.limit).max(0.0).copysign(e[2]);
        let over = [(e[0] - self.limit).max(0.0), (e[1] - self.limit).max(0.0), sheared];
        // Threads that have turned as far as they go lock on each other: taut shear is of their stiffness, not its own.
        let usual = [self.c[0], self.c[1], self.shear.max(LOCKED * (self.c[0] + self.c[1]))];
        (over, [0, 1, 2].map(|k| if over[k] == 0.0 { 0.0 } else { (TAUT - 1.0) * usual[k] }))
    }

    /// Energy (J), stress times area, and the stiffness along weft and warp, between them and in shear. The strain-rate
    /// part has `rate`, which is τ/h, and `before`, the strain at the start of the step, whose stiffness it takes.
    #[inline(always)]
    pub(super) fn response(&self, e: Strain, before: Strain, rate: f64) -> (f64, Strain, [f64; 4]) {
        let (c, d) = (self.tangent(e), self.tangent(before));
        let change = [e[0] - before[0], e[1] - before[1], e[2] - before[2]];
        let part = |c: [f64; 3], e: Strain| {
            [c[0] * e[0] + c[2] * e[1], c[1] * e[1] + c[2] * e[0], self.shear * e[2]]
        };
        let (now, lag) = (part(c, e), part(d, change));
        let (over, added) = self.beyond(e);
        let half = |s: Strain, e: Strain| 0.5 * (s[0] * e[0] + s[1] * e[1] + s[2] * e[2]);
        let taut = [0, 1, 2].map(|k| added[k] * over[k]);
        let energy = half(now, e) + rate * half(lag, change) + half(taut, over);
        let stress = [0, 1, 2].map(|k| now[k] + taut[k] + rate * lag[k]);
        let [c0, c1, c2] = [0, 1, 2].map(|k| c[k] + rate * d[k]);
        (energy, stress, [c0 + added[0], c1 + added[1], c2, (1.0 + rate) * self.shear + added[2]])
    }
}

/// Stretch in the direction of the largest: the larger singular value of the deformation, less one.
#[inline]
pub fn principal(e: Strain) -> f64 {
    let (uu, vv) = ((1.0 + e[0]) * (1.0 + e[0]), (1.0 + e[1]) * (1.0 + e[1]));
    let half = 0.5 * (uu - vv);
    (0.5 * (uu + vv) + (half * half + e[2] * e[2]).sqrt()).sqrt() - 1.0
}

/// Energy in joules.
#[inline]
pub fn energy(el: &Element, x: &[DVec3], before: Strain, rate: f64) -> f64 {
    el.response(el.strain(x), before, rate).0
}

/// Gradient by corner, N.
#[inline]
pub fn gradient(el: &Element, x: &[DVec3], before: Strain, rate: f64) -> [DVec3; 3] {
    energy_and_gradient(el, x, before, rate).1
}

/// Both of them.
#[inline]
pub fn energy_and_gradient(el: &Element, x: &[DVec3], before: Strain, rate: f64) -> (f64, [DVec3; 3]) {
    let (wu, wv) = el.deformation(x);
    let (lu, lv) = (wu.length().max(1e-9), wv.length().max(1e-9));
    let (energy, s, _) = el.response([lu - 1.0, lv - 1.0, wu.dot(wv)], before, rate);
    let pu = wu * (s[0] / lu) + wv * s[2];
    let pv = wv * (s[1] / lv) + wu * s[2];
    let g1 = pu * el.g[1].x + pv * el.g[1].y;
    let g2 = pu * el.g[2].x + pv * el.g[2].y;
    (energy, [-g1 - g2, g1, g2])
}

/// Energy, gradient by corner, and the positive semi-definite part of the Hessian as six blocks in the order 00, 11,
/// 22, 01, 12, 20. The blocks are f32: they only choose a direction.
#[inline]
pub fn linearise(el: &Element, x: &[DVec3], before: Strain, rate: f64) -> (f64, [DVec3; 3], [Mat3A; 6]) {
    let (wu, wv) = el.deformation(x);
    let (lu, lv) = (wu.length().max(1e-9), wv.length().max(1e-9));
    let (iu, iv) = (1.0 / lu, 1.0 / lv);
    let (u, v) = (wu * iu, wv * iv);
    let (energy, s, c) = el.response([lu - 1.0, lv - 1.0, wu.dot(wv)], before, rate);
    let pu = u * s[0] + wv * s[2];
    let pv = v * s[1] + wu * s[2];
    let g1 = pu * el.g[1].x + pv * el.g[1].y;
    let g2 = pu * el.g[2].x + pv * el.g[2].y;

    // Material part: C with the strain-rate part, outer products of the strain gradients.
    let [c0, c1, c2, cs] = c.map(|c| c as f32);
    let (tu, tv, ts) = ((s[0] * iu) as f32, (s[1] * iv) as f32, s[2] as f32);
    let (u, v, wu, wv) = (u.as_vec3a(), v.as_vec3a(), wu.as_vec3a(), wv.as_vec3a());
    let mut uu = outer(u * c0, u) + outer(wv * cs, wv);
    let mut vv = outer(v * c1, v) + outer(wu * cs, wu);
    let mut uv = outer(u * c2, v) + outer(wv * cs, wu);

    // Geometric part: stress times the second derivatives of the strains. Out of plane it is the 2×2 stress
    // itself; in plane each thread's own tension turns it. Compression is left out, so that the sum is positive.
    let n = u.cross(v);
    let nn = n.length_squared();
    if nn < 1e-6 {
        uu += (Mat3A::IDENTITY - outer(u, u)) * tu.max(0.0);
        vv += (Mat3A::IDENTITY - outer(v, v)) * tv.max(0.0);
    } else {
        let n = n / nn.sqrt();
        let (a, b, c) = positive_part(tu, ts, tv);
        let (pu, pv) = (n.cross(u), n.cross(v));
        uu += outer(n * a, n) + outer(pu * tu.max(0.0), pu);
        vv += outer(n * c, n) + outer(pv * tv.max(0.0), pv);
        uv += outer(n * b, n);
    }
    let vu = uv.transpose();
    let [q1, q2] = [el.g[1].as_vec2(), el.g[2].as_vec2()];
    let h11 = uu * (q1.x * q1.x) + vv * (q1.y * q1.y) + (uv + vu) * (q1.x * q1.y);
    let h22 = uu * (q2.x * q2.x) + vv * (q2.y * q2.y) + (uv + vu) * (q2.x * q2.y);
    let h12 = uu * (q1.x * q2.x) + vv * (q1.y * q2.y) + uv * (q1.x * q2.y) + vu * (q1.y * q2.x);
    // Rows sum to zero: a translation costs nothing.
    let h21 = h12.transpose();
    let h01 = -(h11 + h21);
    let h20 = -(h22 + h21);
    let h00 = h11 + h22 + h12 + h21;
    (energy, [-g1 - g2, g1, g2], [h00, h11, h22, h01, h12, h20])
}

/// The positive semi-definite part of the symmetric matrix `[[a, b], [b, c]]`.
#[inline]
fn positive_part(a: f32, b: f32, c: f32) -> (f32, f32, f32) {
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
    use glam::{DMat3, Vec3A};
    use toile_geometry::Random;

    fn element(r: &mut Random) -> Element {
        let rest = [DVec2::new(0.0, 0.0), DVec2::new(0.03, 0.002), DVec2::new(0.01, 0.04)]
            .map(|p| p + DVec2::new(r.signed(), r.signed()) * 0.004);
        let compression = if r.signed() > 0.0 { 0.1 } else { 1.0 };
        Element { compression, ..Element::new([0, 1, 2], rest, 700.0, 400.0, 60.0, 0.25).unwrap() }
    }

    fn corners(r: &mut Random, spread: f64) -> Vec<DVec3> {
        [DVec3::ZERO, DVec3::new(0.03, 0.0, 0.0), DVec3::new(0.01, 0.0, 0.04)]
            .map(|p| p + r.vector() * spread)
            .to_vec()
    }

    fn stress(el: &Element, e: Strain, before: Strain, rate: f64) -> Strain {
        el.response(e, before, rate).1
    }

    /// `a bᵀ`.
    fn outer(a: DVec3, b: DVec3) -> DMat3 {
        DMat3::from_cols(a * b.x, a * b.y, a * b.z)
    }

    /// The true Hessian, compression included, in the same six blocks.
    fn hessian(el: &Element, x: &[DVec3], before: Strain, rate: f64) -> [DMat3; 6] {
        let (wu, wv) = el.deformation(x);
        let (lu, lv) = (wu.length(), wv.length());
        let (u, v) = (wu / lu, wv / lv);
        let s = stress(el, [lu - 1.0, lv - 1.0, wu.dot(wv)], before, rate);
        let (c, d) = (el.tangent([lu - 1.0, lv - 1.0, 0.0]), el.tangent(before));
        let [c0, c1, c2] = [0, 1, 2].map(|k| c[k] + rate * d[k]);
        let cs = (1.0 + rate) * el.shear;
        let turning = |u: DVec3| DMat3::IDENTITY - outer(u, u);
        let uu = outer(u * c0, u) + outer(wv * cs, wv) + turning(u) * (s[0] / lu);
        let vv = outer(v * c1, v) + outer(wu * cs, wu) + turning(v) * (s[1] / lv);
        let uv = outer(u * c2, v) + outer(wv * cs, wu) + DMat3::IDENTITY * s[2];
        [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0)].map(|(i, j)| {
            let (a, b) = (el.g[i], el.g[j]);
            uu * (a.x * b.x) + vv * (a.y * b.y) + uv * (a.x * b.y) + uv.transpose() * (a.y * b.x)
        })
    }

    #[test]
    fn derivatives_agree_with_finite_differences() {
        let mut r = Random::new(7);
        for round in 0..200 {
            let el = element(&mut r);
            let x = corners(&mut r, if round % 2 == 0 { 0.002 } else { 0.02 });
            let before = [r.signed() * 0.1, r.signed() * 0.1, r.signed() * 0.1];
            let rate = r.signed().abs();
            let (e, g, _) = linearise(&el, &x, before, rate);
            let h = hessian(&el, &x, before, rate);
            let alone = gradient(&el, &x, before, rate);
            assert!((0..3).all(|k| (g[k] - alone[k]).length() < 1e-12));
            assert!((e - energy(&el, &x, before, rate)).abs() < 1e-15);
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
            let (_, _, h) = linearise(&el, &x, [0.0; 3], 0.0);
            let size =
                h.iter().map(|h| h.x_axis.length() + h.y_axis.length() + h.z_axis.length()).sum::<f32>();
            for _ in 0..20 {
                let p: Vec<Vec3A> = (0..3).map(|_| r.vector().as_vec3a()).collect();
                let mut q = 0.0;
                for i in 0..3 {
                    q += p[i].dot(h[i] * p[i]);
                }
                q += 2.0 * (p[0].dot(h[3] * p[1]) + p[1].dot(h[4] * p[2]) + p[2].dot(h[5] * p[0]));
                assert!(q > -1e-5 * size, "{q}");
            }
            // Pulled evenly, nothing is left out.
            let pulled: Vec<DVec3> = corners(&mut r, 0.0).iter().map(|p| *p * 1.2).collect();
            let el = Element { shear: 0.0, ..el };
            let (_, _, ours) = linearise(&el, &pulled, [0.0; 3], 0.0);
            let exact = hessian(&el, &pulled, [0.0; 3], 0.0);
            let s = stress(&el, el.strain(&pulled), [0.0; 3], 0.0);
            if s[0] > 0.0 && s[1] > 0.0 {
                for (a, b) in ours.iter().zip(&exact) {
                    let off = (0..3).map(|k| (a.col(k).as_dvec3() - b.col(k)).length()).fold(0.0, f64::max);
                    assert!(off < 1e-4 * f64::from(size), "{off}");
                }
            }
        }
    }

    #[test]
    fn slack_threads_keep_a_share_and_stress_is_continuous() {
        let mut r = Random::new(8);
        let el = Element { compression: 0.1, ..element(&mut r) };
        // Pushed along one thread and pulled across.
        let c = el.tangent([-0.01, 0.01, 0.0]);
        assert!((c[0] / el.c[0] - 0.1).abs() < 1e-9, "{c:?}");
        for _ in 0..2000 {
            let a = [r.signed() * 0.02, r.signed() * 0.02, 0.0];
            let b = [a[0] + r.signed() * 1e-7, a[1] + r.signed() * 1e-7, 0.0];
            let (s, t) = (stress(&el, a, [0.0; 3], 0.0), stress(&el, b, [0.0; 3], 0.0));
            assert!((0..2).all(|k| (s[k] - t[k]).abs() < 4e-7 * el.c[0]), "{a:?} {s:?} {t:?}");
        }
    }

    #[test]
    fn uniaxial_tension_gives_back_stiffness_and_poisson() {
        let rest = [DVec2::ZERO, DVec2::X, DVec2::Y];
        let el = Element::new([0, 1, 2], rest, 500.0, 300.0, 40.0, 0.3).unwrap();
        // Along the warp (v): the free side contracts until its stress is zero.
        let strain_v = 0.01;
        let strain_u = -el.c[2] / el.c[0] * strain_v;
        let el = Element { compression: 0.1, ..el };
        let s = stress(&el, [strain_u, strain_v, 0.0], [0.0; 3], 0.0);
        assert!(s[0].abs() < 1e-12);
        assert!((s[1] / el.area / strain_v - 300.0).abs() < 1e-9);
    }

    #[test]
    fn threads_beyond_their_limit_are_taut() {
        let rest = [DVec2::ZERO, DVec2::X, DVec2::Y];
        let free = Element::new([0, 1, 2], rest, 100.0, 100.0, 10.0, 0.0).unwrap();
        let held = Element { limit: 0.05, ..free };
        let pull = |el: &Element, strain: f64| {
            let x = [DVec3::ZERO, DVec3::X * (1.0 + strain), DVec3::Y];
            gradient(el, &x, [strain, 0.0, 0.0], 0.0)[1].x
        };
        assert_eq!(pull(&held, 0.04), pull(&free, 0.04));
        let (more, usual) = (pull(&held, 0.07) - pull(&held, 0.06), pull(&free, 0.07) - pull(&free, 0.06));
        assert!((more / usual - TAUT).abs() < 1e-9, "{more} {usual}");
    }
}
