//! Level rings around a limb or trunk: the taut surface that a tape would follow.
//!
//! The body is cut into level slices and each slice replaced by its convex hull, as a tape measure does.

use glam::{DVec2, DVec3};
use std::f64::consts::TAU;
use std::sync::LazyLock;

/// Directions around the trunk: 0 is the front, a quarter the wearer's left, half the back.
pub const AROUND: usize = 96;
/// Distance of the slices in metres.
pub const STEP: f64 = 0.005;

/// Level rings around a vertical axis, each a radius for every direction; left and right agree.
#[derive(Clone, Debug)]
pub struct Shell {
    /// Depth of the axis, which stands at x = 0.
    pub axis_z: f64,
    /// Height of the lowest ring.
    low: f64,
    rings: Vec<[f64; AROUND]>,
}

impl Shell {
    /// Hulls of the slices of some triangles, seen from the axis.
    pub fn around(triangles: &[[DVec3; 3]], axis_z: f64) -> Self {
        let all = || triangles.iter().flatten();
        let low = all().map(|p| p.y).fold(f64::INFINITY, f64::min);
        let high = all().map(|p| p.y).fold(f64::NEG_INFINITY, f64::max);
        let low = if low.is_finite() { low } else { 0.0 };
        let count = ((high - low) / STEP).max(0.0) as usize + 1;
        let mut slices: Vec<Vec<DVec2>> = vec![Vec::new(); count];
        for tri in triangles {
            for k in 0..3 {
                let (a, b) = (tri[k], tri[(k + 1) % 3]);
                let (a, b) = if a.y < b.y { (a, b) } else { (b, a) };
                let first = ((a.y - low) / STEP).ceil().max(0.0) as usize;
                for (s, slice) in slices.iter_mut().enumerate().skip(first) {
                    let y = low + STEP * s as f64;
                    if y > b.y {
                        break;
                    }
                    let p = a.lerp(b, if b.y > a.y { (y - a.y) / (b.y - a.y) } else { 0.0 });
                    slice.push(DVec2::new(p.x, p.z - axis_z));
                    slice.push(DVec2::new(-p.x, p.z - axis_z));
                }
            }
        }
        let rings = slices.iter().map(|s| radii(&hull(s))).collect();
        Self { axis_z, low, rings }
    }

    /// The ring at a height moved outwards by `gap`, as a shell of its own that has it at every height.
    pub fn hoop(&self, y: f64, gap: f64) -> Self {
        let ring = self.ring(y);
        let depths = || ring.iter().map(|p| p.y);
        let (back, front) =
            (depths().fold(f64::INFINITY, f64::min), depths().fold(f64::NEG_INFINITY, f64::max));
        // Around its own middle, so that front and back get fair shares of it however wide it is made.
        let axis_z = 0.5 * (back + front);
        let centred: Vec<DVec2> = ring.iter().map(|p| *p - DVec2::new(0.0, axis_z)).collect();
        Self { axis_z, low: y, rings: vec![widen(&radii(&hull(&centred)), gap)] }
    }

    /// Everything within `gap` of this shell.
    pub fn grown(&self, gap: f64) -> Self {
        let reach = (gap / STEP).floor() as i64;
        let rings = (0..self.rings.len() as i64 + reach)
            .map(|s| {
                let mut out = [0.0f64; AROUND];
                for d in -reach..=reach {
                    let Some(ring) = usize::try_from(s + d).ok().and_then(|k| self.rings.get(k)) else {
                        continue;
                    };
                    // The slice of a ball at height d: what remains of the gap to grow sideways.
                    let side = (gap * gap - (d as f64 * STEP).powi(2)).max(0.0).sqrt();
                    for (o, r) in out.iter_mut().zip(widen(ring, side)) {
                        *o = o.max(r);
                    }
                }
                out
            })
            .collect();
        Self { axis_z: self.axis_z, low: self.low, rings }
    }

    /// The same shell as loose cloth spans it between two heights: hollows along every line up the
    /// body are bridged.
    pub fn bridged(&self, from: f64, to: f64) -> Self {
        let row = |y: f64| ((y - self.low) / STEP).clamp(0.0, (self.rings.len() - 1) as f64) as usize;
        let (from, to) = (row(from), row(to));
        let mut out = self.clone();
        for i in 0..AROUND {
            let profile: Vec<DVec2> = (from..=to).map(|s| DVec2::new(s as f64, self.rings[s][i])).collect();
            let mut chain: Vec<DVec2> = Vec::new();
            for &p in &profile {
                while let [.., a, b] = chain[..] {
                    if (b - a).perp_dot(p - b) < 0.0 {
                        break;
                    }
                    chain.pop();
                }
                chain.push(p);
            }
            for w in chain.windows(2) {
                for s in w[0].x as usize..=w[1].x as usize {
                    out.rings[s][i] = w[0].y + (w[1].y - w[0].y) * (s as f64 - w[0].x) / (w[1].x - w[0].x);
                }
            }
        }
        out
    }

    /// The same shell with the hollows under the shoulders filled: from height `from` up to `to`, the
    /// sides do not draw in. A sleeveless bodice hangs straight there, it does not follow the armpit.
    pub fn filled_under_arms(&self, from: f64, to: f64) -> Self {
        let breadth =
            |ring: &[f64; AROUND]| (0..AROUND).map(|i| direction(i).x * ring[i]).fold(0.0, f64::max);
        let wanted = breadth(&self.radii(from));
        let mut out = self.clone();
        for (s, ring) in out.rings.iter_mut().enumerate() {
            let y = self.low + STEP * s as f64;
            let own = breadth(ring);
            if y < from || y > to || own <= 0.0 {
                continue;
            }
            // Only sideways: pushed out all around, the chest would get a ledge.
            let wider = 1.0 + (wanted / own - 1.0).max(0.0) * smoothstep(to, to - 0.04, y);
            let points: Vec<DVec2> =
                (0..AROUND).map(|i| direction(i) * ring[i] * DVec2::new(wider, 1.0)).collect();
            *ring = radii(&hull(&points));
        }
        out
    }

    /// Radii at a height, between the two nearest rings.
    pub fn radii(&self, y: f64) -> [f64; AROUND] {
        let at = ((y - self.low) / STEP).clamp(0.0, (self.rings.len() - 1) as f64);
        let k = at.floor() as usize;
        let (a, b) = (&self.rings[k], &self.rings[(k + 1).min(self.rings.len() - 1)]);
        std::array::from_fn(|i| a[i] + (b[i] - a[i]) * (at - k as f64))
    }

    /// Points `(x, z)` of the ring at a height, in world coordinates.
    pub fn ring(&self, y: f64) -> [DVec2; AROUND] {
        let radii = self.radii(y);
        std::array::from_fn(|i| direction(i) * radii[i] + DVec2::new(0.0, self.axis_z))
    }

    /// Points of the ring at a height from the front over the wearer's left to the back.
    pub fn half_ring(&self, y: f64) -> Vec<DVec2> {
        self.ring(y)[..=AROUND / 2].to_vec()
    }

    /// How far a point is outside the shell, measured level from the axis.
    pub fn level(&self, p: DVec3) -> f64 {
        let flat = DVec2::new(p.x, p.z - self.axis_z);
        let turn = (flat.x.atan2(flat.y) / TAU).rem_euclid(1.0) * AROUND as f64;
        let i = turn.floor() as usize % AROUND;
        let up = ((p.y - self.low) / STEP).clamp(0.0, (self.rings.len() - 1) as f64);
        let k = up.floor() as usize;
        let at = |k: usize| {
            let ring = &self.rings[k.min(self.rings.len() - 1)];
            ring[i] + (ring[(i + 1) % AROUND] - ring[i]) * (turn - turn.floor())
        };
        flat.length() - (at(k) + (at(k + 1) - at(k)) * (up - k as f64))
    }

    /// The point itself, or the one level with it on the shell where it is inside.
    pub fn outside(&self, p: DVec3) -> DVec3 {
        let out = DVec3::new(p.x, 0.0, p.z - self.axis_z).normalize_or_zero();
        p - out * self.level(p).min(0.0)
    }

    /// Moves a point the shortest way (to first order) to where its level is `to`.
    pub fn bring(&self, p: DVec3, to: f64) -> DVec3 {
        const D: f64 = 0.004;
        let slope = DVec3::from_array(
            [DVec3::X, DVec3::Y, DVec3::Z]
                .map(|e| (self.level(p + e * D) - self.level(p - e * D)) / (2.0 * D)),
        );
        let step = slope * ((self.level(p) - to) / slope.length_squared().max(0.25));
        // Rings can jump, as from shoulder to neck; a limit keeps that from throwing the point away.
        p - step.clamp_length_max(0.02)
    }

    /// Length of the ring at a height.
    pub fn girth(&self, y: f64) -> f64 {
        let ring = self.ring(y);
        (0..AROUND).map(|i| ring[i].distance(ring[(i + 1) % AROUND])).sum()
    }
}

/// 0 at `a`, 1 at `b`, level at both.
pub fn smoothstep(a: f64, b: f64, x: f64) -> f64 {
    let t = ((x - a) / (b - a)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Direction `i` as `(x, z)`. Looked up: cutting a sweater asks for hundreds of millions of them.
fn direction(i: usize) -> DVec2 {
    static DIRECTIONS: LazyLock<[DVec2; AROUND]> = LazyLock::new(|| {
        std::array::from_fn(|i| {
            let (sin, cos) = (TAU * i as f64 / AROUND as f64).sin_cos();
            DVec2::new(sin, cos)
        })
    });
    DIRECTIONS[i]
}

/// A ring moved outwards along its normals.
fn widen(ring: &[f64; AROUND], gap: f64) -> [f64; AROUND] {
    if ring.iter().all(|r| *r <= 0.0) {
        return *ring;
    }
    let points: Vec<DVec2> = (0..AROUND)
        .flat_map(|i| {
            let (before, after) = ((i + AROUND - 1) % AROUND, (i + 1) % AROUND);
            let p = direction(i) * ring[i];
            let along = direction(after) * ring[after] - direction(before) * ring[before];
            // Directions turn clockwise seen from above in (x, z), so outside is on the left.
            [p, p + DVec2::new(-along.y, along.x).normalize_or_zero() * gap]
        })
        .collect();
    radii(&hull(&points))
}

/// Convex hull, counter-clockwise (Andrew's monotone chain).
fn hull(points: &[DVec2]) -> Vec<DVec2> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    sorted.dedup();
    if sorted.len() < 3 {
        return Vec::new();
    }
    let mut hull: Vec<DVec2> = Vec::new();
    for pass in 0..2 {
        let base = hull.len();
        let mut add = |p: DVec2| {
            while hull.len() >= base + 2 {
                let (a, b) = (hull[hull.len() - 2], hull[hull.len() - 1]);
                if (b - a).perp_dot(p - b) > 0.0 {
                    break;
                }
                hull.pop();
            }
            hull.push(p);
        };
        if pass == 0 {
            sorted.iter().for_each(|p| add(*p));
        } else {
            sorted.iter().rev().for_each(|p| add(*p));
        }
        hull.pop();
    }
    hull
}

/// Distance from the origin to a convex polygon in every direction; zero where it does not reach.
fn radii(polygon: &[DVec2]) -> [f64; AROUND] {
    std::array::from_fn(|i| {
        let d = direction(i);
        let mut far = 0.0f64;
        for k in 0..polygon.len() {
            let (a, b) = (polygon[k], polygon[(k + 1) % polygon.len()]);
            let (sa, sb) = (d.perp_dot(a), d.perp_dot(b));
            if (sa <= 0.0) != (sb <= 0.0) {
                far = far.max(d.dot(a.lerp(b, sa / (sa - sb))));
            }
        }
        far
    })
}
