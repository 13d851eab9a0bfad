//! Primitives of the body's signed field: sweeps through keyed sections, ellipsoids, round cones, and
//! the smooth union that blends them.
//!
//! Every primitive returns a length in metres that is negative inside, zero on the surface and close to
//! the true distance near it (first order: value over length of gradient). That is all the surface
//! extraction and the projection need.

use glam::{Mat3, Vec3};

/// One section of a sweep: where its centre lies and how far it reaches in four directions.
#[derive(Clone, Copy, Debug)]
pub struct Station {
    /// Place along the sweep's axis.
    pub t: f32,
    /// Centre across the axis: along `u` and along `v`.
    pub centre: [f32; 2],
    /// Reach towards `+u`, `-u`, `+v` and `-v`.
    pub reach: [f32; 4],
    /// How much the section leans from an ellipse towards a box: 0 to 0.05.
    pub boxy: f32,
}

/// Channels of a station: two of the centre, four of the reach, one of the shape.
const CHANNELS: usize = 7;

/// A tube through stations, C² along its axis (natural cubic splines), an ellipse with four
/// different half axes across it whose radius swells at the diagonals by `1 + boxy (1 - cos 4θ)`. Unlike
/// a super-ellipse that has no flat spots on its axes, which would shade as stripes along the limb; it is
/// convex up to `boxy = 1/16`.
#[derive(Clone, Debug)]
pub struct Sweep {
    origin: Vec3,
    /// Rows are the directions `u`, `v` and `t`.
    axes: Mat3,
    t: Vec<f32>,
    values: Vec<[f32; CHANNELS]>,
    /// Second derivatives of the splines at the stations.
    bends: Vec<[f32; CHANNELS]>,
    /// Radius of the rounding at both ends: the tube ends this far beyond its first and last station.
    caps: [f32; 2],
}

impl Sweep {
    /// A sweep with its axis `t` through `origin`; `u`, `v`, `t` are orthonormal.
    pub fn new(origin: Vec3, [u, v, t]: [Vec3; 3], caps: [f32; 2], stations: &[Station]) -> Self {
        let values: Vec<[f32; CHANNELS]> = stations
            .iter()
            .map(|s| {
                let [cu, cv] = s.centre;
                let [a, b, c, d] = s.reach;
                [cu, cv, a, b, c, d, s.boxy]
            })
            .collect();
        let knots: Vec<f32> = stations.iter().map(|s| s.t).collect();
        let bends = natural_spline(&knots, &values);
        Self { origin, axes: Mat3::from_cols(u, v, t).transpose(), t: knots, values, bends, caps }
    }

    /// Coordinates of `p` along `u`, `v` and the axis.
    pub fn local(&self, p: Vec3) -> Vec3 {
        self.axes * (p - self.origin)
    }

    /// Section at `t` (clamped to the ends) and its derivative along `t`.
    fn section(&self, t: f32) -> ([f32; CHANNELS], [f32; CHANNELS]) {
        let last = self.t.len() - 1;
        if t <= self.t[0] {
            return (self.values[0], [0.0; CHANNELS]);
        }
        if t >= self.t[last] {
            return (self.values[last], [0.0; CHANNELS]);
        }
        let k = self.t.partition_point(|&knot| knot <= t).clamp(1, last) - 1;
        let h = self.t[k + 1] - self.t[k];
        let b = (t - self.t[k]) / h;
        let a = 1.0 - b;
        let (y0, y1, m0, m1) = (&self.values[k], &self.values[k + 1], &self.bends[k], &self.bends[k + 1]);
        let mut value = [0.0; CHANNELS];
        let mut slope = [0.0; CHANNELS];
        for c in 0..CHANNELS {
            value[c] =
                a * y0[c] + b * y1[c] + ((a * a * a - a) * m0[c] + (b * b * b - b) * m1[c]) * (h * h / 6.0);
            slope[c] =
                (y1[c] - y0[c]) / h + ((3.0 * b * b - 1.0) * m1[c] - (3.0 * a * a - 1.0) * m0[c]) * (h / 6.0);
        }
        (value, slope)
    }

    /// The signed field at `p`.
    pub fn distance(&self, p: Vec3) -> f32 {
        let q = self.local(p);
        let (s, ds) = self.section(q.z);
        let (du, dv) = (q.x - s[0], q.y - s[1]);
        let (ru, dru) = if du >= 0.0 { (s[2], ds[2]) } else { (s[3], ds[3]) };
        let (rv, drv) = if dv >= 0.0 { (s[4], ds[4]) } else { (s[5], ds[5]) };
        let (uu, vv) = (du / ru, dv / rv);
        let (u2, v2) = (uu * uu, vv * vv);
        let rho2 = (u2 + v2).max(1e-12);
        let rho = rho2.sqrt();
        // 1 - cos 4θ = 8 u² v² / ρ⁴
        let bulge = 8.0 * u2 * v2 / (rho2 * rho2);
        let radius = 1.0 + s[6] * bulge;
        let g = rho / radius;
        let pull = s[6] * rho / (radius * radius);
        let gu = uu / (rho * radius) - pull * 16.0 * uu * v2 * (v2 - u2) / (rho2 * rho2 * rho2);
        let gv = vv / (rho * radius) - pull * 16.0 * vv * u2 * (u2 - v2) / (rho2 * rho2 * rho2);
        let gt = -gu * (ds[0] + uu * dru) / ru - gv * (ds[1] + vv * drv) / rv;
        let slope = ((gu / ru).powi(2) + (gv / rv).powi(2) + gt * gt).sqrt();
        let across = (g - 1.0) / slope.max(1e-6);
        let (low, high) = (self.t[0], self.t[self.t.len() - 1]);
        let (beyond, cap) = if q.z < low {
            (low - q.z, self.caps[0])
        } else if q.z > high {
            (q.z - high, self.caps[1])
        } else {
            return across;
        };
        (across + cap).max(0.0).hypot(beyond) - cap
    }
}

/// Second derivatives of the natural cubic splines through `values` (tridiagonal, no pivoting needed).
fn natural_spline(t: &[f32], values: &[[f32; CHANNELS]]) -> Vec<[f32; CHANNELS]> {
    let n = t.len();
    let mut bends = vec![[0.0; CHANNELS]; n];
    let mut upper = vec![0.0; n];
    for i in 1..n.saturating_sub(1) {
        let (h0, h1) = (t[i] - t[i - 1], t[i + 1] - t[i]);
        let pivot = 2.0 * (h0 + h1) - h0 * upper[i - 1];
        upper[i] = h1 / pivot;
        for c in 0..CHANNELS {
            let rhs = 6.0 * ((values[i + 1][c] - values[i][c]) / h1 - (values[i][c] - values[i - 1][c]) / h0);
            bends[i][c] = (rhs - h0 * bends[i - 1][c]) / pivot;
        }
    }
    for i in (1..n.saturating_sub(1)).rev() {
        for c in 0..CHANNELS {
            bends[i][c] -= upper[i] * bends[i + 1][c];
        }
    }
    bends
}

/// An ellipsoid, turned about the x axis.
#[derive(Clone, Copy, Debug)]
pub struct Ellipsoid {
    centre: Vec3,
    radii: Vec3,
    /// Cosine and sine of the turn.
    turn: [f32; 2],
}

impl Ellipsoid {
    /// `pitch` in radians turns its +z end downwards.
    pub fn new(centre: Vec3, radii: Vec3, pitch: f32) -> Self {
        Self { centre, radii, turn: [pitch.cos(), pitch.sin()] }
    }

    /// The signed field at `p`.
    pub fn distance(&self, p: Vec3) -> f32 {
        let q = p - self.centre;
        let [c, s] = self.turn;
        let q = Vec3::new(q.x, c * q.y + s * q.z, c * q.z - s * q.y) / self.radii;
        let g = q.length();
        let slope = (q / self.radii).length();
        if slope < 1e-6 { -self.radii.min_element() } else { g * (g - 1.0) / slope }
    }
}

/// A round cone: the union of the balls between two ends (Quilez' `sdRoundCone`).
#[derive(Clone, Copy, Debug)]
pub struct RoundCone {
    /// Ends.
    pub ends: [Vec3; 2],
    /// Radius at each end.
    pub radii: [f32; 2],
}

impl RoundCone {
    /// The signed distance at `p`.
    pub fn distance(&self, p: Vec3) -> f32 {
        let [a, b] = self.ends;
        let [ra, rb] = self.radii;
        let axis = b - a;
        let length = axis.length();
        let lean = (ra - rb) / length;
        let q = p - a;
        let along = q.dot(axis) / length;
        let across = (q.length_squared() - along * along).max(0.0).sqrt();
        // The nearest ball's centre lies where the cone's normal through `p` meets the axis.
        let foot = (along + across * lean / (1.0 - lean * lean).max(1e-6).sqrt()).clamp(0.0, length);
        (along - foot).hypot(across) - (ra + (rb - ra) * foot / length)
    }
}

/// A soft dent (positive depth) or bump (negative): a Gaussian added to the field around a point.
#[derive(Clone, Copy, Debug)]
pub struct Dent {
    /// Where it is deepest.
    pub centre: Vec3,
    /// How far it reaches along each axis.
    pub reach: Vec3,
    /// How far the surface moves inwards there, in metres.
    pub depth: f32,
}

impl Dent {
    /// What it adds to the field at `p`.
    pub fn offset(&self, p: Vec3) -> f32 {
        let q = ((p - self.centre) / self.reach).length_squared();
        if q > 9.0 { 0.0 } else { self.depth * (-q).exp() }
    }
}

/// Smooth minimum that deviates from the plain one only where both values are within `k` of each other
/// (the cubic polynomial form: the blend is C²).
pub fn smooth_union(a: f32, b: f32, k: f32) -> f32 {
    let h = (k - (a - b).abs()).max(0.0) / k;
    a.min(b) - h * h * h * k / 6.0
}
