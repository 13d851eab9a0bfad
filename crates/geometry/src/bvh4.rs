//! A tree over moving triangles with four children to a node, asked for what is nearest to a point at some share of the way.
//!
//! Boxes hold the whole way, so that one refit serves all moments of it; triangles are looked up where their corners are
//! when one is asked for, since few of them ever are.
//!
//! Four boxes or four triangles are measured at once in f32 lanes; what comes out nearest is measured again by the caller
//! in f64, so rounding can only cost a look too many or lose a tie of a micrometre.

use crate::bvh2::Aabb;
use glam::{DVec3, Mat4, Vec3A, Vec4};

/// Boxes of four children side by side, and what they are: a leaf, a node, or nothing.
#[derive(Clone, Copy, Debug)]
struct Node {
    lo: [Vec4; 3],
    hi: [Vec4; 3],
    child: [u32; 4],
}

/// Four triangles: their corners by number, the first ones, the second and the third.
#[derive(Clone, Copy, Debug)]
struct Leaf {
    corners: [[u32; 4]; 3],
    item: [u32; 4],
}

/// Boxes that wait while a tree is asked.
const DEEP: usize = 32;
const NOTHING: u32 = u32::MAX;
const LEAF: u32 = 1 << 31;

/// Four vectors.
#[derive(Clone, Copy, Debug)]
struct Lanes([Vec4; 3]);

impl Node {
    /// Squared distances of the four boxes from a point; infinite where there is none.
    #[inline(always)]
    fn distances(&self, at: &Lanes) -> Vec4 {
        let off = |k: usize| (self.lo[k] - at.0[k]).max(at.0[k] - self.hi[k]).max(Vec4::ZERO);
        let (x, y, z) = (off(0), off(1), off(2));
        x * x + y * y + z * z
    }
}

impl Lanes {
    /// One point four times.
    #[inline]
    fn splat(p: DVec3) -> Self {
        Self(p.as_vec3().to_array().map(Vec4::splat))
    }

    /// Four of the points.
    #[inline]
    fn of(points: &[Vec3A], which: &[u32; 4]) -> Self {
        let [a, b, c, d] = which.map(|i| Vec4::from((points[i as usize], 0.0)));
        let lanes = Mat4::from_cols(a, b, c, d).transpose();
        Self([lanes.x_axis, lanes.y_axis, lanes.z_axis])
    }

    #[inline]
    fn dot(&self, o: &Self) -> Vec4 {
        self.0[0] * o.0[0] + self.0[1] * o.0[1] + self.0[2] * o.0[2]
    }

    #[inline]
    fn minus(&self, o: &Self) -> Self {
        Self([self.0[0] - o.0[0], self.0[1] - o.0[1], self.0[2] - o.0[2]])
    }

    /// `self − o t`.
    #[inline]
    fn less(&self, o: &Self, t: Vec4) -> Self {
        Self([self.0[0] - o.0[0] * t, self.0[1] - o.0[1] * t, self.0[2] - o.0[2] * t])
    }
}

/// Squared distance from a point at `p − a` to the segment from `a` along `side`.
#[inline]
fn to_segment(from: &Lanes, side: &Lanes) -> Vec4 {
    let t = (from.dot(side) / side.dot(side).max(TINY)).clamp(Vec4::ZERO, Vec4::ONE);
    let off = from.less(side, t);
    off.dot(&off)
}

/// Keeps degenerate triangles from dividing by zero.
const TINY: Vec4 = Vec4::splat(1e-30);

impl Leaf {
    /// Squared distances of the four triangles from a point: to the plane where it lies over the inside, else to the
    /// nearest side.
    #[inline]
    fn distances(&self, p: &Lanes, points: &[Vec3A]) -> Vec4 {
        let [a, b, c] = [0, 1, 2].map(|k| Lanes::of(points, &self.corners[k]));
        let ap = p.minus(&a);
        let (ab, ac) = (&b.minus(&a), &c.minus(&a));
        let (aa, bb, cross) = (ab.dot(ab), ac.dot(ac), ab.dot(ac));
        let (d1, d2) = (ap.dot(ab), ap.dot(ac));
        let area = aa * bb - cross * cross;
        let v = bb * d1 - cross * d2;
        let w = aa * d2 - cross * d1;
        let inside = v.cmpge(Vec4::ZERO) & w.cmpge(Vec4::ZERO) & (v + w).cmple(area);
        let scale = Vec4::ONE / area.max(TINY);
        let off = ap.less(ab, v * scale).less(ac, w * scale);
        let sides = to_segment(&ap, ab).min(to_segment(&ap, ac)).min(to_segment(&p.minus(&b), &c.minus(&b)));
        Vec4::select(inside, off.dot(&off).min(sides), sides)
    }

    /// The box that holds all on their way.
    fn bounds(&self, from: &[Vec3A], to: &[Vec3A], way: Vec3A) -> (Vec3A, Vec3A) {
        let (mut lo, mut hi) = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
        for &i in self.corners.as_flattened() {
            let (a, b) = (from[i as usize], to[i as usize] - way);
            lo = lo.min(a.min(b));
            hi = hi.max(a.max(b));
        }
        (lo, hi)
    }
}

/// The tree. Children come after their parents.
#[derive(Clone, Debug, Default)]
pub struct Bvh4 {
    nodes: Vec<Node>,
    leaves: Vec<Leaf>,
}

impl Bvh4 {
    /// Builds over triangles with these centres, whose corners are points by number.
    pub fn new(centres: &[DVec3], corners: &[[u32; 3]]) -> Self {
        let mut tree = Self::default();
        let mut items: Vec<u32> = (0..centres.len() as u32).collect();
        if !items.is_empty() {
            tree.build(centres, corners, &mut items);
        }
        tree
    }

    fn build(&mut self, centres: &[DVec3], corners: &[[u32; 3]], items: &mut [u32]) -> u32 {
        let me = self.nodes.len();
        self.nodes.push(Node { lo: [Vec4::INFINITY; 3], hi: [Vec4::NEG_INFINITY; 3], child: [NOTHING; 4] });
        let (left, right) = halve(centres, items);
        let (a, b) = halve(centres, left);
        let (c, d) = halve(centres, right);
        for (k, part) in [a, b, c, d].into_iter().enumerate() {
            self.nodes[me].child[k] = match part.len() {
                0 => NOTHING,
                1..=4 => {
                    let mut leaf = Leaf { corners: [[0; 4]; 3], item: [NOTHING; 4] };
                    for k in 0..4 {
                        // Where there are fewer the first stands for them.
                        let item = part.get(k).copied();
                        leaf.item[k] = item.unwrap_or(NOTHING);
                        let triangle = corners[item.unwrap_or(part[0]) as usize];
                        (0..3).for_each(|c| leaf.corners[c][k] = triangle[c]);
                    }
                    self.leaves.push(leaf);
                    (self.leaves.len() - 1) as u32 | LEAF
                }
                _ => self.build(centres, corners, part),
            };
        }
        me as u32
    }

    /// Lets the boxes hold points that go from `from` to `to`, less the `way` that all of them go.
    pub fn refit(&mut self, from: &[Vec3A], to: &[Vec3A], way: Vec3A) {
        for i in (0..self.nodes.len()).rev() {
            for k in 0..4 {
                let child = self.nodes[i].child[k];
                if child == NOTHING {
                    continue;
                }
                let (lo, hi) = if child & LEAF != 0 {
                    let (lo, hi) = self.leaves[(child & !LEAF) as usize].bounds(from, to, way);
                    (lo.to_array(), hi.to_array())
                } else {
                    let n = &self.nodes[child as usize];
                    (n.lo.map(Vec4::min_element), n.hi.map(Vec4::max_element))
                };
                let node = &mut self.nodes[i];
                for axis in 0..3 {
                    node.lo[axis][k] = lo[axis];
                    node.hi[axis][k] = hi[axis];
                }
            }
        }
    }

    /// Whether nothing can be nearer than `√limit` to `p`, as far as the topmost boxes tell.
    #[inline]
    pub fn beyond(&self, p: DVec3, limit: f64) -> bool {
        let Some(root) = self.nodes.first() else { return true };
        f64::from(root.distances(&Lanes::splat(p)).min_element()) > limit
    }

    /// The square of a distance that nothing can be nearer than to `p`, as far as the boxes of two levels tell.
    #[inline]
    pub fn at_least(&self, p: DVec3) -> f64 {
        let Some(root) = self.nodes.first() else { return f64::INFINITY };
        let at = Lanes::splat(p);
        let mut least = f32::INFINITY;
        for (d, child) in root.distances(&at).to_array().into_iter().zip(root.child) {
            if child != NOTHING && d < least {
                least = match child & LEAF {
                    0 => self.nodes[child as usize].distances(&at).min_element().min(least),
                    _ => d,
                };
            }
        }
        f64::from(least)
    }

    /// Calls `visit(triangle, limit)` for those that may be nearer than `√limit` to `p`, where the points are now at `points`
    /// and what all of them have gone is `gone`; it returns the new limit.
    #[inline]
    pub fn nearest(
        &self,
        p: DVec3,
        gone: DVec3,
        points: &[Vec3A],
        mut limit: f64,
        mut visit: impl FnMut(u32, f64) -> f64,
    ) {
        if self.nodes.is_empty() {
            return;
        }
        let (there, at) = (Lanes::splat(p), Lanes::splat(p - gone));
        // A level leaves at most three behind, and ten levels hold more than a million triangles.
        let mut stack = [(0u32, 0.0f32); DEEP];
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let (index, distance) = stack[top];
            if f64::from(distance) > limit {
                continue;
            }
            if index & LEAF != 0 {
                let leaf = &self.leaves[(index & !LEAF) as usize];
                let mut d = leaf.distances(&there, points).to_array();
                for k in 1..4 {
                    d[k] = if leaf.item[k] == NOTHING { f32::INFINITY } else { d[k] };
                }
                // The nearest first: mostly the others are then out of reach.
                loop {
                    let k = if d[0] <= d[1] { 0 } else { 1 };
                    let l = if d[2] <= d[3] { 2 } else { 3 };
                    let k = if d[k] <= d[l] { k } else { l };
                    if f64::from(d[k]) > limit * (1.0 + 1e-4) || d[k] == f32::INFINITY {
                        break;
                    }
                    limit = visit(leaf.item[k], limit);
                    d[k] = f32::INFINITY;
                }
                continue;
            }
            let n = &self.nodes[index as usize];
            let d = n.distances(&at).to_array();
            let first = top;
            for k in 0..4 {
                let child = n.child[k];
                if child == NOTHING || f64::from(d[k]) > limit || top == DEEP {
                    continue;
                }
                // The nearest on top, so that it is taken first.
                let mut slot = top;
                while slot > first && stack[slot - 1].1 < d[k] {
                    stack[slot] = stack[slot - 1];
                    slot -= 1;
                }
                stack[slot] = (child, d[k]);
                top += 1;
            }
        }
    }
}

/// Two halves along the longest side; one item stays whole.
fn halve<'a>(centres: &[DVec3], items: &'a mut [u32]) -> (&'a mut [u32], &'a mut [u32]) {
    let half = items.len().div_ceil(2);
    if items.len() > 1 {
        let spread = items.iter().fold(Aabb::EMPTY, |b, &i| b.with(centres[i as usize]));
        let size = spread.hi - spread.lo;
        let axis = size.max_position();
        items.select_nth_unstable_by(half, |&a, &b| {
            let (p, q) = (centres[a as usize][axis], centres[b as usize][axis]);
            p.total_cmp(&q).then(a.cmp(&b))
        });
    }
    items.split_at_mut(half)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    #[test]
    fn what_is_far_away_is_known_to_be() {
        let corners: Vec<[u32; 3]> = (0..64).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
        let mut r = Random::new(6);
        let points: Vec<Vec3A> = (0..192).map(|_| (0.1 * r.vector().as_vec3()).into()).collect();
        let centres: Vec<DVec3> = points.chunks(3).map(|c| c[0].as_dvec3()).collect();
        let mut tree = Bvh4::new(&centres, &corners);
        tree.refit(&points, &points, Vec3A::ZERO);
        let bound = tree.at_least(DVec3::X).sqrt();
        assert!(bound > 0.8, "{bound}");
        assert_eq!(Bvh4::default().at_least(DVec3::X), f64::INFINITY);
    }

    #[test]
    fn the_nearest_agrees_with_looking_at_all() {
        use crate::distance::point_triangle;
        let mut r = Random::new(5);
        for count in [1, 2, 3, 5, 17, 400] {
            // Every seventh triangle is a needle or a point.
            let sizes =
                |i: usize| if i % 7 == 6 { [0.0, 0.0] } else { [0.3, if i % 7 == 5 { 0.0 } else { 0.3 }] };
            let shapes: Vec<[DVec3; 3]> = (0..count)
                .map(|i| {
                    let (a, [s, t]) = (r.vector(), sizes(i));
                    [a, a + r.vector() * s, a + r.vector() * t]
                })
                .collect();
            let corners: Vec<[u32; 3]> = (0..count as u32).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
            let centres: Vec<DVec3> = shapes.iter().map(|s| (s[0] + s[1] + s[2]) / 3.0).collect();
            let mut tree = Bvh4::new(&centres, &corners);
            let ways: Vec<DVec3> = (0..3 * count).map(|_| r.vector() * 0.2).collect();
            let at = |share: f64| -> Vec<[DVec3; 3]> {
                let corners =
                    |(i, s): (usize, &[DVec3; 3])| [0, 1, 2].map(|k| s[k] + ways[3 * i + k] * share);
                shapes.iter().enumerate().map(corners).collect()
            };
            let (start, end) = (at(1.0), at(3.0));
            let points = |x: &[[DVec3; 3]]| -> Vec<Vec3A> {
                x.as_flattened().iter().map(|p| p.as_vec3().into()).collect()
            };
            let way = DVec3::new(0.1, -0.3, 0.2);
            tree.refit(&points(&start), &points(&end), way.as_vec3().into());
            for look in 0..200 {
                let share = f64::from(look % 5) / 4.0;
                let moved = at(1.0 + 2.0 * share);
                let p = r.vector();
                let radius = 0.5;
                let distance = |i: usize| {
                    let [a, b, c] = moved[i];
                    let w = point_triangle(p, a, b, c);
                    (a * w[0] + b * w[1] + c * w[2]).distance(p)
                };
                let mut best = None;
                tree.nearest(p, way * share, &points(&moved), radius * radius, |i, limit| {
                    let d = distance(i as usize).powi(2);
                    if d < limit {
                        best = Some(i as usize);
                        return d;
                    }
                    limit
                });
                let nearest = (0..count).map(distance).fold(f64::INFINITY, f64::min);
                let bound = tree.at_least(p - way * share).sqrt();
                assert!(bound <= nearest + 1e-6, "{count}: {bound} m, but one is {nearest} m away");
                let truth = (0..count)
                    .filter(|&i| distance(i) < radius)
                    .min_by(|&a, &b| distance(a).total_cmp(&distance(b)));
                match (best, truth) {
                    // What is as near to a micrometre is as good: two triangles share a corner.
                    (Some(a), Some(b)) => assert!(distance(a) - distance(b) < 1e-6, "{count}: {a} {b}"),
                    (a, b) => assert_eq!(a, b, "{count}"),
                }
            }
        }
    }
}
