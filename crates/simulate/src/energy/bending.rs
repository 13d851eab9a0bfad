//! Bending through a curvature tensor per triangle.
//!
//! A dihedral angle θ is what two triangles turn towards each other at their edge. Each turns its own share α towards the
//! tangent plane at the middle of the edge, and the three shares of a triangle fix its curvature: row i of the 3×3
//! matrix `S` holds, for the three quadratics that span the curvatures, the slope at the middle of edge i less that of the
//! linear interpolant, along the edge's outward normal, so that `II = S⁻¹ α` (the element of Morley 1968). How θ falls
//! into its two shares is not a further unknown here: a first guess of the curvature from a triangle's three angles
//! gives each side's share, and the mean of what both sides guess is taken, which is right for every quadratic.
//!
//! The energy `½ II:D:II · area` does not depend on how the mesh is laid, which the sum of hinges does (3.7× on a
//! right-triangle grid). Over a garment it is `½ θᵀ K θ` with a constant sparse matrix `K`. The Hessian is the
//! Gauss–Newton form `∇θ K ∇θᵀ`, positive semi-definite and never assembled: the solver multiplies by its three factors.

use super::arctangent::angle_of;
use glam::{DMat3, DVec2, DVec3, Vec3A, Vec4};

/// Two triangles about an inner edge: ends of the edge (counter-clockwise in the first triangle), then the
/// vertices across from it in the first and the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hinge {
    /// `[end, end, across in the first, across in the second]`.
    pub v: [u32; 4],
}

/// No hinge at this edge: it is a boundary.
pub const NONE: u32 = u32::MAX;

/// One triangle's part of the energy: `½ Σ_c (r_c·θ)²` over the hinges that it feels.
#[derive(Clone, Debug)]
pub struct Element {
    /// Each once.
    pub hinges: Vec<u32>,
    /// For each hinge, its places in the three rows `r`, scaled by the root of a stiffness.
    pub rows: Vec<[f64; 3]>,
}

/// Bending rigidities per width, N·m: curvature along the weft, along the warp.
#[derive(Clone, Copy, Debug)]
pub struct Rigidity {
    /// `D` for `κ_xx`.
    pub weft: f64,
    /// `D` for `κ_yy`.
    pub warp: f64,
}

impl Rigidity {
    /// `D` for κ_xx, κ_xy, κ_yy; the twist counts twice in II:D:II, and its rigidity makes an even sheet bend
    /// alike in every direction.
    pub fn by_component(&self) -> [f64; 3] {
        [self.weft, 2.0 * (self.weft * self.warp).sqrt(), self.warp]
    }
}

/// The three quadratics ½x², xy, ½y² that span the curvatures.
const BASIS: [fn(DVec2) -> f64; 3] = [|p| 0.5 * p.x * p.x, |p| p.x * p.y, |p| 0.5 * p.y * p.y];
/// Their gradients.
const GRADIENTS: [fn(DVec2) -> DVec2; 3] =
    [|p| DVec2::new(p.x, 0.0), |p| DVec2::new(p.y, p.x), |p| DVec2::new(0.0, p.y)];

/// Row of `G` for a hinge with flat points `[end, end, this side, beyond]`. A quadratic and its shifts differ by
/// a linear function, which has no jump, so the origin does not matter; it is put near for rounding's sake.
fn row(s: &[DVec2; 4]) -> [f64; 3] {
    BASIS.map(|f| gradient_jump(s[0], s[1], s[2], s[3], |p| f(p - s[0])))
}

/// How well three hinges tell curvatures apart: the volume their rows span once each has length one.
pub fn resolution(stencils: [[DVec2; 4]; 3]) -> f64 {
    let rows = stencils.map(|s| DVec3::from_array(row(&s)).normalize_or_zero());
    rows[0].cross(rows[1]).dot(rows[2]).abs()
}

/// `G⁺`: rows give κ_xx, κ_xy and κ_yy from the angles of three hinges.
pub fn curvature_rows(stencils: [Option<[DVec2; 4]>; 3]) -> [[f64; 3]; 3] {
    pseudo_inverse(stencils.map(|s| s.map_or([0.0; 3], |s| row(&s))))
}

/// The share of the dihedral angle at the edge `ab` that is turned on the side of `c`, for each of the quadratics. The two
/// sides of an edge add up to [`row`].
fn share(a: DVec2, b: DVec2, c: DVec2) -> [f64; 3] {
    let middle = 0.5 * (b - a);
    let normal = (b - a).perp().normalize();
    let outward = if normal.dot(c - a) > 0.0 { -normal } else { normal };
    [0, 1, 2].map(|q| slope(a, b, c, |p| BASIS[q](p - a)) + GRADIENTS[q](middle).dot(outward))
}

/// `S`: what curvature makes of the shares of a triangle's edges, each opposite a corner.
pub fn shares(flat: &[DVec2; 3]) -> [[f64; 3]; 3] {
    [0, 1, 2].map(|i| share(flat[(i + 1) % 3], flat[(i + 2) % 3], flat[i]))
}

/// `S⁻¹` with its rows scaled so that the sum of their squares over the shares is twice the energy of `area`.
pub fn stiffness(area: f64, shares: [[f64; 3]; 3], d: Rigidity) -> [[f64; 3]; 3] {
    let mut rows = pseudo_inverse(shares);
    for (row, d) in rows.iter_mut().zip(d.by_component()) {
        row.iter_mut().for_each(|v| *v *= (area * d).sqrt());
    }
    rows
}

/// Jump across the edge `ab` of the gradient of the linear interpolant of `f`, along the normal that points from
/// `c` to `far`. To first order it is the dihedral angle of the deflection `f`.
fn gradient_jump(a: DVec2, b: DVec2, c: DVec2, far: DVec2, f: impl Fn(DVec2) -> f64) -> f64 {
    slope(a, b, far, &f) + slope(a, b, c, &f)
}

/// How steeply the linear interpolant of `f` rises from the edge `ab` towards `p`.
fn slope(a: DVec2, b: DVec2, p: DVec2, f: impl Fn(DVec2) -> f64) -> f64 {
    let edge = (b - a).normalize();
    let along = (p - a).dot(edge) / (b - a).length();
    let height = edge.perp_dot(p - a).abs();
    (f(p) - f(a) - along * (f(b) - f(a))) / height
}

/// Moore–Penrose inverse of a 3×3 matrix whose missing rows are zero.
fn pseudo_inverse(g: [[f64; 3]; 3]) -> [[f64; 3]; 3] {
    let rows: Vec<usize> = (0..3).filter(|&i| g[i].iter().any(|v| *v != 0.0)).collect();
    let mut inv = [[0.0; 3]; 3];
    if rows.is_empty() {
        return inv;
    }
    // Gᵀ (G Gᵀ)⁻¹ over the rows that exist; the others are made identity and masked out.
    let mut m = [[0.0; 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            m[i][j] = if rows.contains(&i) && rows.contains(&j) {
                (0..3).map(|k| g[i][k] * g[j][k]).sum()
            } else {
                f64::from(u8::from(i == j))
            };
        }
    }
    let m = DMat3::from_cols_array_2d(&m).inverse().to_cols_array_2d();
    for i in 0..3 {
        for &j in &rows {
            inv[i][j] = rows.iter().map(|&k| g[k][i] * m[k][j]).sum();
        }
    }
    inv
}

/// The hinge energy of Grinspun et al. 2003, `½ B · 3|e|²/A · θ²` with A the area of both triangles, as a
/// stiffness of each edge, shared half and half by the two triangles. Depends on the mesh; kept for comparison.
pub fn hinge_stiffness(area: f64, stencils: [Option<[DVec2; 4]>; 3], d: Rigidity) -> [f64; 3] {
    let mut k = [0.0; 3];
    for i in 0..3 {
        let Some([a, b, _, far]) = stencils[i] else { continue };
        let edge = b - a;
        let other = 0.5 * edge.perp_dot(far - a).abs();
        // The edge bends the cloth across itself: rigidity of the direction normal to it.
        let n = edge.perp().normalize();
        let rigidity = d.weft * n.x * n.x + d.warp * n.y * n.y;
        k[i] = 0.5 * rigidity * 3.0 * edge.length_squared() / (area + other);
    }
    k
}

/// Signed dihedral angle, positive where the surface bulges towards its back: 0 when flat. Angles are continued
/// from `near` so that a fold past 180° does not jump.
#[inline]
pub fn angle(h: &Hinge, x: &[DVec3], near: f64) -> f64 {
    let [cos, sin] = Shape::new(h, x).direction();
    continued(angle_of(sin, cos), near)
}

/// [`angle`] of many hinges, those that `which` lists.
pub fn angles(
    which: impl ExactSizeIterator<Item = u32> + Clone,
    hinges: &[Hinge],
    x: &[DVec3],
    near: &[f64],
    angles: &mut [f64],
) {
    in_batches(which, near, angles, |h| Shape::new(&hinges[h], x).direction());
}

/// Angles and their derivatives of many hinges, those that `which` lists.
pub fn angles_and_turns(
    which: impl ExactSizeIterator<Item = u32> + Clone,
    hinges: &[Hinge],
    x: &[DVec3],
    near: &[f64],
    angles: &mut [f64],
    turns: &mut [Turn],
) {
    in_batches(which, near, angles, |h| {
        let shape = Shape::new(&hinges[h], x);
        turns[h] = shape.turn();
        shape.direction()
    });
}

/// Angles from cosines and sines, which `direction` gives.
#[inline(always)]
fn in_batches(
    mut which: impl ExactSizeIterator<Item = u32> + Clone,
    near: &[f64],
    angles: &mut [f64],
    mut direction: impl FnMut(usize) -> [f64; 2],
) {
    while which.len() > 0 {
        let batch = which.clone().take(BATCH);
        let mut directions = [[0.0; 2]; BATCH];
        for (h, found) in batch.clone().zip(&mut directions) {
            *found = direction(h as usize);
        }
        for (h, [cos, sin]) in batch.zip(directions) {
            angles[h as usize] = continued(angle_of(sin, cos), near[h as usize]);
        }
        which.nth(BATCH - 1);
    }
}

/// Hinges whose angles are looked up together: one alone is a long chain of operations that wait for each other.
const BATCH: usize = 32;

/// What angle and gradient of a hinge are made of.
struct Shape {
    e: DVec3,
    ac: DVec3,
    ad: DVec3,
    n1: DVec3,
    n2: DVec3,
    len2: f64,
    len: f64,
}

impl Shape {
    #[inline(always)]
    fn new(h: &Hinge, x: &[DVec3]) -> Self {
        let [a, b, c, d] = [x[h.v[0] as usize], x[h.v[1] as usize], x[h.v[2] as usize], x[h.v[3] as usize]];
        let e = b - a;
        let (ac, ad) = (c - a, d - a);
        let len2 = e.length_squared().max(1e-20);
        Self { e, ac, ad, n1: e.cross(ac), n2: ad.cross(e), len2, len: len2.sqrt() }
    }

    /// Cosine and sine of the angle, times the sizes of both normals: `n₂ × n₁` is along the edge, and its length is
    /// `|e|` times the volume that the hinge spans.
    #[inline(always)]
    fn direction(&self) -> [f64; 2] {
        [self.n1.dot(self.n2), self.n1.dot(self.ad) * self.len]
    }

    #[inline(always)]
    fn pieces(&self) -> (DVec3, DVec3, f64, f64) {
        // n/|n|/height with height = |n|/|e|; the floor keeps slivers finite.
        let floor = 1e-4 * self.len2;
        let p = self.n1 * (self.len / self.n1.length_squared().max(floor * floor));
        let q = self.n2 * (self.len / self.n2.length_squared().max(floor * floor));
        let inv = 1.0 / self.len2;
        (p, q, self.ac.dot(self.e) * inv, self.ad.dot(self.e) * inv)
    }

    #[inline(always)]
    fn turn(&self) -> Turn {
        let (p, q, s, t) = self.pieces();
        Turn::new(p, q, s, t)
    }
}

/// The angle nearest to `near` among those that differ from `raw` by whole turns.
#[inline]
fn continued(raw: f64, near: f64) -> f64 {
    use std::f64::consts::{PI, TAU};
    if (near - raw).abs() <= PI { raw } else { raw + ((near - raw) * (1.0 / TAU)).round() * TAU }
}

/// `∇θ` of a hinge in few numbers: the gradients at the vertices across, and in the last place of each where along the edge
/// it stands.
#[derive(Clone, Copy, Debug, Default)]
pub struct Turn {
    p: Vec4,
    q: Vec4,
}

impl Turn {
    /// From the four gradients' own pieces.
    fn new(p: DVec3, q: DVec3, s: f64, t: f64) -> Self {
        Self { p: p.extend(s).as_vec4(), q: q.extend(t).as_vec4() }
    }

    /// Change of the angle when the vertices move by `m`.
    #[inline]
    pub fn along(&self, m: [Vec3A; 4]) -> f32 {
        let [(p, s), (q, t)] = self.across();
        let e = m[1] - m[0];
        let sum = p * (m[2] - m[0] - e * s) + q * (m[3] - m[0] - e * t);
        sum.x + sum.y + sum.z
    }

    /// The gradients at the two vertices across, each with how far along the edge it stands.
    #[inline]
    pub fn across(&self) -> [(Vec3A, f32); 2] {
        [(Vec3A::from_vec4(self.p), self.p.w), (Vec3A::from_vec4(self.q), self.q.w)]
    }

    /// Its four gradients times `moment`.
    #[inline]
    pub fn forces(&self, moment: f32) -> [Vec3A; 4] {
        let [(p, s), (q, t)] = self.across();
        let (p, q) = (p * moment, q * moment);
        let b = p * -s - q * t;
        [-(p + q) - b, b, p, q]
    }

    /// The same where it must add up to nothing.
    #[inline]
    pub fn forces_exactly(&self, moment: f64) -> [DVec3; 4] {
        let (p, q) = (self.p.as_dvec4() * moment, self.q.as_dvec4() * moment);
        let (s, t) = (f64::from(self.p.w), f64::from(self.q.w));
        let (p, q) = (p.truncate(), q.truncate());
        let b = p * -s - q * t;
        [-(p + q) - b, b, p, q]
    }
}

/// Angle and its derivative by the four vertices, the second time as a [`Turn`].
#[inline]
pub fn angle_and_gradient(h: &Hinge, x: &[DVec3], near: f64) -> (f64, [DVec3; 4], Turn) {
    let shape = Shape::new(h, x);
    let [cos, sin] = shape.direction();
    let (p, q, s, t) = shape.pieces();
    let ga = -(p * (1.0 - s) + q * (1.0 - t));
    let gb = -(p * s + q * t);
    (continued(angle_of(sin, cos), near), [ga, gb, p, q], shape.turn())
}

/// `K` of a whole garment: a constant sparse matrix over its hinges, row by row.
#[derive(Clone, Debug, Default)]
pub struct Operator {
    starts: Vec<u32>,
    columns: Vec<u32>,
    /// Rounded once, so that energy and moments agree to the last bit of f64.
    values: Vec<f32>,
}

impl Operator {
    /// Sums up triangles.
    pub fn new(hinges: usize, elements: &[Element]) -> Self {
        let mut entries: Vec<(u32, u32, f64)> = Vec::new();
        for el in elements {
            for (i, a) in el.hinges.iter().zip(&el.rows) {
                for (j, b) in el.hinges.iter().zip(&el.rows) {
                    entries.push((*i, *j, (0..3).map(|c| a[c] * b[c]).sum()));
                }
            }
        }
        entries.retain(|e| e.2 != 0.0);
        // A stable sort, so that sums are formed in one order.
        entries.sort_by_key(|e| (e.0, e.1));
        let mut op = Self { starts: vec![0; hinges + 1], ..Self::default() };
        let mut sums: Vec<(u32, u32, f64)> = Vec::new();
        for (i, j, value) in entries {
            match sums.last_mut() {
                Some(sum) if (sum.0, sum.1) == (i, j) => sum.2 += value,
                _ => sums.push((i, j, value)),
            }
        }
        // On even meshes many sums cancel to rounding.
        let largest = sums.iter().map(|s| s.2.abs()).fold(0.0, f64::max);
        sums.retain(|s| s.2.abs() > 1e-12 * largest);
        op.columns.reserve_exact(sums.len());
        op.values.reserve_exact(sums.len());
        for (i, j, value) in sums {
            op.columns.push(j);
            op.values.push(value as f32);
            op.starts[i as usize + 1] += 1;
        }
        for i in 0..hinges {
            op.starts[i + 1] += op.starts[i];
        }
        op
    }

    /// Adds the angles of other cloth, whose hinges begin at `first`.
    pub fn append(&mut self, other: &Self, first: u32) {
        let entries = self.columns.len() as u32;
        self.starts.extend(other.starts[1..].iter().map(|at| at + entries));
        self.columns.extend(other.columns.iter().map(|hinge| hinge + first));
        self.values.extend_from_slice(&other.values);
    }

    /// `out = K t`.
    pub fn apply(&self, t: &[f64], out: &mut [f64]) {
        multiply(&self.starts, &self.columns, &self.values, t, out);
    }

    /// `out = K t` in single precision.
    pub fn apply_single(&self, t: &[f32], out: &mut [f32]) {
        multiply(&self.starts, &self.columns, &self.values, t, out);
    }

    /// `out = K t` for several `t` at once.
    pub fn apply_lanes<const N: usize>(&self, t: &[[f32; N]], out: &mut Vec<[f32; N]>) {
        out.clear();
        out.extend(self.starts.windows(2).map(|range| {
            let range = range[0] as usize..range[1] as usize;
            let mut sum = [0.0; N];
            for (c, v) in self.columns[range.clone()].iter().zip(&self.values[range]) {
                let t = &t[*c as usize];
                (0..N).for_each(|l| sum[l] += v * t[l]);
            }
            sum
        }));
    }

    /// `out = K t` for some rows.
    fn apply_rows(&self, rows: &[u32], t: &[f64], mut out: impl FnMut(usize, f64)) {
        for h in rows.iter().map(|&h| h as usize) {
            let range = self.starts[h] as usize..self.starts[h + 1] as usize;
            out(h, product(&self.columns[range.clone()], &self.values[range], t));
        }
    }

    /// The diagonal of `K`.
    pub fn diagonal(&self) -> Vec<f32> {
        (0..self.starts.len() - 1)
            .map(|h| {
                let range = self.starts[h] as usize..self.starts[h + 1] as usize;
                range.filter(|&k| self.columns[k] as usize == h).map(|k| self.values[k]).sum()
            })
            .collect()
    }
}

/// A sparse matrix times a vector.
#[inline]
fn multiply<T>(starts: &[u32], columns: &[u32], values: &[f32], t: &[T], out: &mut [T])
where
    T: Copy + Default + From<f32> + std::ops::Mul<Output = T> + std::ops::Add<Output = T>,
{
    for (h, out) in out.iter_mut().enumerate() {
        let range = starts[h] as usize..starts[h + 1] as usize;
        *out = product(&columns[range.clone()], &values[range], t);
    }
}

/// A row of it times a vector.
#[inline(always)]
fn product<T>(columns: &[u32], values: &[f32], t: &[T]) -> T
where
    T: Copy + Default + From<f32> + std::ops::Mul<Output = T> + std::ops::Add<Output = T>,
{
    // Four sums side by side: one alone waits for each addition.
    let mut sums = [T::default(); 4];
    let (c4, c1) = columns.as_chunks::<4>();
    let (v4, v1) = values.as_chunks::<4>();
    for (c, v) in c4.iter().zip(v4) {
        sums[0] = sums[0] + T::from(v[0]) * t[c[0] as usize];
        sums[1] = sums[1] + T::from(v[1]) * t[c[1] as usize];
        sums[2] = sums[2] + T::from(v[2]) * t[c[2] as usize];
        sums[3] = sums[3] + T::from(v[3]) * t[c[3] as usize];
    }
    for (c, v) in c1.iter().zip(v1) {
        sums[0] = sums[0] + T::from(*v) * t[*c as usize];
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// Energy in joules of the angles `theta` against `rest`, with the strain-rate part against `before`.
pub fn energy(op: &Operator, theta: &[f64], rest: &[f64], before: &[f64], rate: f64) -> f64 {
    let half = |from: &[f64]| {
        let bent: Vec<f64> = theta.iter().zip(from).map(|(t, f)| t - f).collect();
        let mut moments = vec![0.0; bent.len()];
        op.apply(&bent, &mut moments);
        0.5 * bent.iter().zip(&moments).map(|(t, m)| t * m).sum::<f64>()
    };
    half(rest) + rate * half(before)
}

/// What a step's bending is measured from: with `r = τ/h` the energy `½ (θ−rest)ᵀK(θ−rest) + ½ r (θ−before)ᵀK(θ−before)`
/// is `½ (1+r) θᵀKθ − θ·pull` and a constant, which costs one product with `K` instead of two.
#[derive(Clone, Debug, Default)]
pub struct Datum {
    /// `K (rest + r·before)`.
    pull: Vec<f64>,
    /// `1 + r`.
    scale: f64,
}

impl Datum {
    /// Takes the rest angles and the angles at the start of the step; `scratch` is as long.
    pub fn set(&mut self, op: &Operator, rest: &[f64], before: &[f64], rate: f64, scratch: &mut [f64]) {
        self.scale = 1.0 + rate;
        for ((s, r), b) in scratch.iter_mut().zip(rest).zip(before) {
            *s = r + rate * b;
        }
        self.pull.resize(rest.len(), 0.0);
        op.apply(scratch, &mut self.pull);
    }

    /// `τ/h`.
    pub fn rate(&self) -> f64 {
        self.scale - 1.0
    }

    /// Energy in joules, up to a constant, and its derivative by the angles in `moments`, N·m.
    pub fn energy_and_moments(&self, op: &Operator, theta: &[f64], moments: &mut [f64]) -> f64 {
        op.apply(theta, moments);
        let mut sum = 0.0;
        for ((m, t), pull) in moments.iter_mut().zip(theta).zip(&self.pull) {
            let bent = self.scale * *m;
            sum += t * (0.5 * bent - pull);
            *m = bent - pull;
        }
        sum
    }

    /// The same of those hinges alone that `which` lists, while all others keep their angles: moments of these, and the energy
    /// up to another constant. `others` are the angles with those of `which` left out.
    pub fn energy_and_moments_of(
        &self,
        which: &[u32],
        op: &Operator,
        (theta, others): (&[f64], &[f64]),
        moments: &mut [f64],
    ) -> f64 {
        op.apply_rows(which, theta, |h, m| moments[h] = self.scale * m - self.pull[h]);
        let mut sum = 0.0;
        // ½ θᵀKθ without what the others have among themselves: each of these with the others counts in full.
        op.apply_rows(which, others, |h, o| {
            sum += 0.5 * theta[h] * (moments[h] + self.scale * o - self.pull[h]);
        });
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_geometry::Random;

    #[test]
    fn angle_gradient_agrees_with_finite_differences() {
        let mut r = Random::new(11);
        let hinge = Hinge { v: [0, 1, 2, 3] };
        for round in 0..300 {
            let spread = if round % 3 == 0 { 0.03 } else { 0.006 };
            let x: Vec<DVec3> = [
                DVec3::ZERO,
                DVec3::new(0.03, 0.0, 0.0),
                DVec3::new(0.01, 0.03, 0.0),
                DVec3::new(0.02, -0.03, 0.0),
            ]
            .map(|p| p + r.vector() * spread)
            .to_vec();
            let (t, g, turn) = angle_and_gradient(&hinge, &x, 0.0);
            let (alone, size) = (turn.forces(1.0), g[2].length().max(g[3].length()));
            assert!((0..4).all(|k| (alone[k].as_dvec3() - g[k]).length() < 1e-4 * size));
            let moves = [0; 4].map(|_| r.vector().as_vec3a());
            let change: f32 = (0..4).map(|k| alone[k].dot(moves[k])).sum();
            assert!((turn.along(moves) - change).abs() < 1e-4 * size as f32);
            assert!((t - angle(&hinge, &x, 0.0)).abs() < 1e-12);
            for i in 0..4 {
                for k in 0..3 {
                    let eps = 1e-7;
                    let mut y = x.clone();
                    y[i][k] += eps;
                    let up = angle(&hinge, &y, t);
                    y[i][k] -= 2.0 * eps;
                    let down = angle(&hinge, &y, t);
                    let d = (up - down) / (2.0 * eps);
                    let size = g.iter().map(|g| g.length()).fold(1.0, f64::max);
                    assert!((d - g[i][k]).abs() < 1e-5 * size, "round {round}: {d} {}", g[i][k]);
                }
            }
        }
    }

    #[test]
    fn flat_quadratic_is_recovered() {
        let rest = [DVec2::new(0.0, 0.0), DVec2::new(0.03, 0.004), DVec2::new(0.012, 0.028)];
        let across =
            [Some(DVec2::new(0.04, 0.03)), Some(DVec2::new(-0.01, 0.02)), Some(DVec2::new(0.02, -0.02))];
        let area = 0.5 * (rest[1] - rest[0]).perp_dot(rest[2] - rest[0]);
        let stencils = [0, 1, 2]
            .map(|i| across[i].map(|far: DVec2| [rest[(i + 1) % 3], rest[(i + 2) % 3], rest[i], far]));
        let k = stiffness(area, shares(&rest), Rigidity { weft: 2.0, warp: 3.0 });
        // z = ½(a x² + 2 b x y + c y²) has energy ½ area (2 a² + 2·√6·b² + 3 c²).
        let (a, b, c) = (0.7, -0.4, 1.1);
        let z = |p: DVec2| 0.5 * (a * p.x * p.x + 2.0 * b * p.x * p.y + c * p.y * p.y);
        let theta = [0, 1, 2]
            .map(|i| gradient_jump(rest[(i + 1) % 3], rest[(i + 2) % 3], rest[i], across[i].unwrap(), z));
        let found = curvature_rows(stencils).map(|row| (0..3).map(|i| row[i] * theta[i]).sum::<f64>());
        assert!((DVec3::from_array(found) - DVec3::new(a, b, c)).length() < 1e-9, "{found:?}");
        // The two sides of an edge share its angle, and a triangle's shares have its energy.
        let parts = shares(&rest).map(|s| s[0] * a + s[1] * b + s[2] * c);
        for i in 0..3 {
            let beyond = share(rest[(i + 1) % 3], rest[(i + 2) % 3], across[i].unwrap());
            let sum = parts[i] + beyond[0] * a + beyond[1] * b + beyond[2] * c;
            assert!((sum - theta[i]).abs() < 1e-9);
        }
        let rows = [0, 1, 2].map(|i| k.map(|row| row[i])).to_vec();
        let op = Operator::new(3, &[Element { hinges: vec![0, 1, 2], rows }]);
        let mut datum = Datum::default();
        datum.set(&op, &[0.0; 3], &[0.0; 3], 0.0, &mut [0.0; 3]);
        let e = datum.energy_and_moments(&op, &parts, &mut [0.0; 3]);
        assert!((e / energy(&op, &parts, &[0.0; 3], &[0.0; 3], 0.0) - 1.0).abs() < 1e-9);
        let expected = 0.5 * area * (2.0 * a * a + 2.0 * 6f64.sqrt() * b * b + 3.0 * c * c);
        assert!((e / expected - 1.0).abs() < 1e-6, "{e} {expected}");
    }
}
