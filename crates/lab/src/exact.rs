//! Whether moving features meet, decided without rounding: whole numbers of any size, polynomials in time and
//! their roots. Slow and independent; what the continuous collision check is held against.

use super::exact_numbers::{Big, Poly, Root};
use glam::DVec3;
use toile_geometry::continuous::Pair;

/// A vector whose coordinates are polynomials in time.
type Vector = [Poly; 3];

fn sub(a: &Vector, b: &Vector) -> Vector {
    [0, 1, 2].map(|k| a[k].sub(&b[k]))
}

fn dot(a: &Vector, b: &Vector) -> Poly {
    a[0].mul(&b[0]).add(&a[1].mul(&b[1])).add(&a[2].mul(&b[2]))
}

fn cross(a: &Vector, b: &Vector) -> Vector {
    [(1, 2), (2, 0), (0, 1)].map(|(i, j)| a[i].mul(&b[j]).sub(&a[j].mul(&b[i])))
}

/// Whether the four points `x`, moving by `u`, meet as `pair` at any time from 0 to `until` (a share of `u`), both
/// ends included.
pub fn meets(pair: Pair, x: &[DVec3; 4], u: &[DVec3; 4], until: f64) -> bool {
    let p = paths(x, u, until);
    let meeting = Meeting::new(pair, &p);
    let start = SampleTime::Start;
    if meeting.holds(&start) {
        return true;
    }
    for candidate in meeting.candidates() {
        let squarefree = candidate.squarefree();
        for root in squarefree.roots_in_unit() {
            let at = SampleTime::Root { of: &squarefree, root };
            if meeting.holds(&at) {
                return true;
            }
        }
    }
    false
}

/// Whether they meet at the start.
pub fn touch_at_start(pair: Pair, x: &[DVec3; 4]) -> bool {
    let p = paths(x, &[DVec3::ZERO; 4], 1.0);
    Meeting::new(pair, &p).holds(&SampleTime::Start)
}

/// The points as polynomials of degree 1 over one power of two; time is measured in `until`.
fn paths(x: &[DVec3; 4], u: &[DVec3; 4], until: f64) -> [Vector; 4] {
    let (time, time_exponent) = split(until);
    let (mut low, mut parts) = (0, Vec::new());
    for i in 0..4 {
        for k in 0..3 {
            let ((a, ea), (b, eb)) = (split(x[i][k]), split(u[i][k]));
            let moved = Big::from(b).mul(&Big::from(time));
            low = low.min(ea).min(eb + time_exponent);
            parts.push((Big::from(a), ea, moved, eb + time_exponent));
        }
    }
    [0, 1, 2, 3].map(|i| {
        [0, 1, 2].map(|k| {
            let (a, ea, b, eb) = &parts[3 * i + k];
            Poly::new(vec![a.shifted((ea - low) as usize), b.shifted((eb - low) as usize)])
        })
    })
}

/// A number as a whole number times a power of two.
fn split(v: f64) -> (i64, i32) {
    if v == 0.0 {
        return (0, 0);
    }
    let bits = v.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32;
    let fraction = (bits & ((1 << 52) - 1)) as i64;
    let (mantissa, exponent) =
        if exponent == 0 { (fraction, -1074) } else { (fraction | (1 << 52), exponent - 1075) };
    let zeros = mantissa.trailing_zeros() as i32;
    let mantissa = mantissa >> zeros;
    (if v < 0.0 { -mantissa } else { mantissa }, exponent + zeros)
}

/// A time at which signs are asked.
enum SampleTime<'a> {
    Start,
    Root { of: &'a Poly, root: Root },
}

impl SampleTime<'_> {
    fn sign(&self, p: &Poly) -> i32 {
        match self {
            Self::Start => p.sign_at(&Big::from(0), 0),
            Self::Root { of, root } => p.sign_at_root(of, root),
        }
    }
}

/// The polynomials whose signs tell whether a pair meets.
struct Meeting {
    pair: Pair,
    p: [Vector; 4],
    /// Vanishes where the four points lie in one plane.
    coplanar: Poly,
    /// |n|² of the triangle's normal or of the product of both directions.
    normal: Poly,
    /// Must not be negative where the normal does not vanish.
    sides: Vec<Poly>,
}

impl Meeting {
    fn new(pair: Pair, p: &[Vector; 4]) -> Self {
        let d = |i: usize, j: usize| sub(&p[j], &p[i]);
        match pair {
            Pair::PointTriangle => {
                let n = cross(&d(1, 2), &d(1, 3));
                let side = |i: usize, j: usize| dot(&n, &cross(&d(i, j), &d(i, 0)));
                Self {
                    pair,
                    coplanar: dot(&n, &d(1, 0)),
                    normal: dot(&n, &n),
                    sides: vec![side(1, 2), side(2, 3), side(3, 1)],
                    p: p.clone(),
                }
            }
            Pair::EdgeEdge => {
                let n = cross(&d(0, 1), &d(2, 3));
                let normal = dot(&n, &n);
                // Places along both, times |n|².
                let s = dot(&cross(&d(0, 2), &d(2, 3)), &n);
                let t = dot(&cross(&d(0, 2), &d(0, 1)), &n);
                let (s1, t1) = (normal.sub(&s), normal.sub(&t));
                Self { pair, coplanar: dot(&n, &d(0, 2)), normal, sides: vec![s, t, s1, t1], p: p.clone() }
            }
        }
    }

    /// Polynomials among whose roots is the time of the first meeting, if there is any after the start.
    fn candidates(&self) -> Vec<Poly> {
        if !self.coplanar.is_zero() {
            return vec![self.coplanar.clone()];
        }
        // In one plane all the time: a meeting begins where a side changes or everything lies on a line.
        let mut some = self.sides.clone();
        some.push(self.normal.clone());
        let d = |i: usize, j: usize| sub(&self.p[j], &self.p[i]);
        for i in 0..4 {
            for j in 0..i {
                some.push(dot(&d(i, j), &d(i, j)));
                for k in 0..j {
                    some.extend(cross(&d(i, j), &d(i, k)));
                }
            }
        }
        some.retain(|p| !p.is_zero());
        some
    }

    /// Whether they meet at a moment.
    fn holds(&self, at: &SampleTime<'_>) -> bool {
        if at.sign(&self.coplanar) != 0 {
            return false;
        }
        if at.sign(&self.normal) != 0 {
            return self.sides.iter().all(|s| at.sign(s) >= 0);
        }
        // Without a plane of their own: whether an end of one lies on the other.
        match self.pair {
            Pair::PointTriangle => {
                self.on_segment(at, 0, 1, 2) || self.on_segment(at, 0, 2, 3) || self.on_segment(at, 0, 3, 1)
            }
            Pair::EdgeEdge => [(0, 2, 3), (1, 2, 3), (2, 0, 1), (3, 0, 1)]
                .into_iter()
                .any(|(point, a, b)| self.on_segment(at, point, a, b)),
        }
    }

    fn on_segment(&self, at: &SampleTime<'_>, point: usize, a: usize, b: usize) -> bool {
        let (to_a, to_b) = (sub(&self.p[a], &self.p[point]), sub(&self.p[b], &self.p[point]));
        cross(&to_a, &to_b).iter().all(|c| at.sign(c) == 0) && at.sign(&dot(&to_a, &to_b)) <= 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRIANGLE: [DVec3; 3] = [DVec3::ZERO, DVec3::X, DVec3::Y];

    fn point(p: DVec3, u: DVec3, until: f64) -> bool {
        let [a, b, c] = TRIANGLE;
        meets(Pair::PointTriangle, &[p, a, b, c], &[u, DVec3::ZERO, DVec3::ZERO, DVec3::ZERO], until)
    }

    #[test]
    fn knows_touching_from_missing_by_the_last_bit() {
        let down = DVec3::new(0.0, 0.0, -2.0);
        assert!(point(DVec3::new(0.25, 0.25, 1.0), down, 0.5));
        assert!(!point(DVec3::new(0.25, 0.25, 1.0), down, 0.5f64.next_down()));
        // Through a corner, past it by one unit in the last place.
        assert!(point(DVec3::new(0.0, 0.0, 1.0), down, 1.0));
        assert!(!point(DVec3::new(-f64::MIN_POSITIVE, 0.0, 1.0), down, 1.0));
        // The slanted side x + y = 1.
        assert!(point(DVec3::new(0.5, 0.5, 1.0), down, 1.0));
        assert!(!point(DVec3::new(0.5f64.next_up(), 0.5, 1.0), down, 1.0));
    }

    #[test]
    fn sees_motion_within_a_plane_and_along_a_line() {
        assert!(point(DVec3::new(2.0, 0.2, 0.0), DVec3::new(-2.0, 0.0, 0.0), 1.0));
        assert!(!point(DVec3::new(2.0, 1.2, 0.0), DVec3::new(-4.0, 0.0, 0.0), 1.0));
        assert!(point(DVec3::new(3.0, 0.0, 0.0), DVec3::new(-2.0, 0.0, 0.0), 1.0));
        assert!(!point(DVec3::new(3.0, 0.0, 0.0), DVec3::new(-2.0, 0.0, 0.0), 0.9));
        // Parallel segments that slide onto each other.
        let x = [DVec3::ZERO, DVec3::X, DVec3::new(3.0, 0.0, 0.0), DVec3::new(4.0, 0.0, 0.0)];
        let left = DVec3::new(-2.0, 0.0, 0.0);
        let u = [DVec3::ZERO, DVec3::ZERO, left, left];
        assert!(meets(Pair::EdgeEdge, &x, &u, 1.0));
        assert!(!meets(Pair::EdgeEdge, &x, &u, 0.99));
    }

    #[test]
    fn sees_segments_that_turn_through_each_other() {
        let x = [
            DVec3::new(-1.0, 0.0, 0.0),
            DVec3::new(1.0, 0.0, 0.0),
            DVec3::new(0.0, -1.0, 1.0),
            DVec3::new(0.0, 1.0, 1.0),
        ];
        let down = DVec3::new(0.0, 0.0, -3.0);
        let u = [DVec3::ZERO, DVec3::ZERO, down, down];
        assert!(meets(Pair::EdgeEdge, &x, &u, 1.0 / 3.0 + 1e-15));
        assert!(!meets(Pair::EdgeEdge, &x, &u, 0.333));
    }

    #[test]
    fn sees_segments_that_touch_and_go_back() {
        // Over the first one the second is (t − ½)²/(3/2 + t) high: a double root.
        let at = |up: f64| {
            [
                DVec3::new(-1.0, 0.0, 0.0),
                DVec3::new(1.0, 0.0, 0.0),
                DVec3::new(0.0, -1.0, -0.5 + up),
                DVec3::new(0.0, 0.5, 0.5 + up),
            ]
        };
        let u = [DVec3::ZERO, DVec3::ZERO, DVec3::Z, DVec3::new(0.0, 1.0, -1.0)];
        assert!(meets(Pair::EdgeEdge, &at(0.0), &u, 1.0));
        assert!(!meets(Pair::EdgeEdge, &at(0.0), &u, 0.499));
        assert!(!meets(Pair::EdgeEdge, &at(f64::EPSILON), &u, 1.0));
        // A hair lower it goes through and comes back.
        assert!(meets(Pair::EdgeEdge, &at(-f64::EPSILON), &u, 1.0));
    }
}
