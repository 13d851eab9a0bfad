//! One form for every contact: a weighted sum of up to four vertices kept on one side of a plane, with friction.
//!
//! With `y = Σ wᵢ xᵢ` the energy is `½ k (offset − n·y)₊²` plus, for the tangential displacement `q` of `y` from
//! its anchor, the convex `½ k_t |q|²` while `k_t |q| ≤ μN` (sticking) and `μN (|q| − μN/2k_t)` beyond (sliding).
//! `N` is the normal force at the end of the step before. Because the anchor is kept from step to step, cloth at rest on
//! an incline does not creep: this is Coulomb's law with an elastic presliding of micrometres.

use glam::{DMat3, DVec3};

/// No contact sample belongs to it: cloth against cloth.
pub const NO_SAMPLE: u32 = u32::MAX;

/// A contact, linear in the vertices for one Newton iteration.
#[derive(Clone, Copy, Debug)]
pub struct Contact {
    /// Vertices; repeated with weight zero where fewer.
    pub v: [u32; 4],
    /// Weights: they sum to one against the world and to zero within the cloth.
    pub w: [f64; 4],
    /// Unit normal.
    pub n: DVec3,
    /// Pushes while `n·y` is less, m.
    pub offset: f64,
    /// Distance at which it begins to push, m; the gap is `n·y − offset + reach`.
    pub reach: f64,
    /// N/m.
    pub k: f64,
    /// Where `y` would be without tangential displacement.
    pub anchor: DVec3,
    /// Tangential stiffness, N/m.
    pub k_t: f64,
    /// Coulomb coefficient.
    pub friction: f64,
    /// Largest friction force μN in this step, N.
    pub limit: f64,
    /// Contact sample it belongs to.
    pub sample: u32,
}

impl Contact {
    /// The constrained point.
    #[inline]
    pub fn point(&self, x: &[DVec3]) -> DVec3 {
        let [a, b, c, d] = self.v.map(|i| x[i as usize]);
        a * self.w[0] + b * self.w[1] + c * self.w[2] + d * self.w[3]
    }

    /// How far it is pressed in, m.
    #[inline]
    pub fn depth(&self, y: DVec3) -> f64 {
        self.offset - self.n.dot(y)
    }

    /// Tangential displacement from the anchor.
    #[inline]
    pub fn slide(&self, y: DVec3) -> DVec3 {
        let q = y - self.anchor;
        q - self.n * self.n.dot(q)
    }
}

/// Energy in joules. Friction holds as hard as its limit says even where the iterate has let go: the limit comes from
/// before, and an energy that jumped when a contact opens could not be minimised.
#[inline]
pub fn energy(c: &Contact, x: &[DVec3]) -> f64 {
    let y = c.point(x);
    let depth = c.depth(y).max(0.0);
    let normal = 0.5 * c.k * depth * depth;
    if c.limit <= 0.0 {
        return normal;
    }
    let q = c.slide(y).length();
    let tangential =
        if c.k_t * q <= c.limit { 0.5 * c.k_t * q * q } else { c.limit * (q - 0.5 * c.limit / c.k_t) };
    normal + tangential
}

/// First and second derivative by `y`; `None` where it neither pushes nor holds.
#[inline]
pub fn linearise(c: &Contact, x: &[DVec3]) -> Option<(DVec3, DMat3)> {
    let y = c.point(x);
    let depth = c.depth(y);
    let pushes = depth > 0.0;
    if !pushes && c.limit <= 0.0 {
        return None;
    }
    let outer = |a: DVec3, b: DVec3| DMat3::from_cols(a * b.x, a * b.y, a * b.z);
    let nn = outer(c.n, c.n);
    let mut gradient = DVec3::ZERO;
    let mut m = DMat3::ZERO;
    if pushes {
        gradient = c.n * (-c.k * depth);
        m = nn * c.k;
    }
    if c.limit > 0.0 {
        let q = c.slide(y);
        let length = q.length();
        // Sliding: the force is μN whatever the distance, so along the way there is no stiffness, across it μN/|q|. With as
        // much along it as across (a secant), a contact that lets go does not overshoot into sliding the other way.
        let k = if c.k_t * length <= c.limit { c.k_t } else { c.limit / length };
        gradient += q * k;
        m += (DMat3::IDENTITY - nn) * k;
    }
    Some((gradient, m))
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_geometry::Random;

    #[test]
    fn gradient_agrees_with_finite_differences() {
        let mut r = Random::new(4);
        for round in 0..200 {
            let n = r.vector().normalize();
            let x: Vec<DVec3> = (0..4).map(|_| r.vector() * 0.01).collect();
            let w = [1.0, -0.2, -0.5, -0.3];
            let mut c = Contact {
                v: [0, 1, 2, 3],
                w,
                n,
                offset: 0.0,
                reach: 0.0,
                k: 300.0,
                anchor: r.vector() * 0.01,
                k_t: 200.0,
                friction: 0.5,
                limit: if round % 2 == 0 { 0.2 } else { 10.0 },
                sample: NO_SAMPLE,
            };
            c.offset = n.dot(c.point(&x)) + 0.002;
            let (g, _) = linearise(&c, &x).unwrap();
            for i in 0..4 {
                for k in 0..3 {
                    let eps = 1e-8;
                    let mut y = x.clone();
                    y[i][k] += eps;
                    let up = energy(&c, &y);
                    y[i][k] -= 2.0 * eps;
                    let d = (up - energy(&c, &y)) / (2.0 * eps);
                    assert!((d - w[i] * g[k]).abs() < 1e-5, "round {round}: {d} {}", w[i] * g[k]);
                }
            }
        }
    }
}
