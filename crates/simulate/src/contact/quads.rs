//! A tree of boxes with four children to a node, asked for what is nearest to a point.
//!
//! Four boxes are measured at once in f32 lanes; what is in them is measured by the caller in f64, so rounding can
//! only cost a look too many or lose a tie of a micrometre.

use super::bvh::Aabb;
use glam::{DVec3, Vec4};

/// Boxes of four children side by side, and what they are: an item, a node, or nothing.
#[derive(Clone, Copy, Debug)]
struct Node {
    lo: [Vec4; 3],
    hi: [Vec4; 3],
    child: [u32; 4],
}

const NOTHING: u32 = u32::MAX;
const ITEM: u32 = 1 << 31;

/// The tree. Children come after their parents.
#[derive(Clone, Debug, Default)]
pub struct Quads {
    nodes: Vec<Node>,
}

impl Quads {
    /// Builds over items at `centres`.
    pub fn new(centres: &[DVec3]) -> Self {
        let mut quads = Self::default();
        let mut items: Vec<u32> = (0..centres.len() as u32).collect();
        if !items.is_empty() {
            quads.build(centres, &mut items);
        }
        quads
    }

    fn build(&mut self, centres: &[DVec3], items: &mut [u32]) -> u32 {
        let me = self.nodes.len();
        self.nodes.push(Node { lo: [Vec4::INFINITY; 3], hi: [Vec4::NEG_INFINITY; 3], child: [NOTHING; 4] });
        let (left, right) = halve(centres, items);
        let (a, b) = halve(centres, left);
        let (c, d) = halve(centres, right);
        for (k, part) in [a, b, c, d].into_iter().enumerate() {
            self.nodes[me].child[k] = match part.len() {
                0 => NOTHING,
                1 => part[0] | ITEM,
                _ => self.build(centres, part),
            };
        }
        me as u32
    }

    /// Takes new boxes for all items.
    pub fn refit(&mut self, box_of: impl Fn(u32) -> Aabb) {
        for i in (0..self.nodes.len()).rev() {
            for k in 0..4 {
                let child = self.nodes[i].child[k];
                if child == NOTHING {
                    continue;
                }
                let (lo, hi) = if child & ITEM != 0 {
                    let b = box_of(child & !ITEM);
                    (b.lo.as_vec3().to_array(), b.hi.as_vec3().to_array())
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

    /// Calls `visit(item, limit)` for items that may be nearer than `√limit` to `p`; it returns the new limit.
    #[inline]
    pub fn nearest(&self, p: DVec3, mut limit: f64, mut visit: impl FnMut(u32, f64) -> f64) {
        if self.nodes.is_empty() {
            return;
        }
        let q = p.as_vec3();
        let at = [Vec4::splat(q.x), Vec4::splat(q.y), Vec4::splat(q.z)];
        // Four levels hold 256 items, sixteen more than fit in memory; a level leaves at most three behind.
        let mut stack = [(0u32, 0.0f32); 64];
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let (index, distance) = stack[top];
            if f64::from(distance) > limit {
                continue;
            }
            let n = &self.nodes[index as usize];
            let off = |k: usize| (n.lo[k] - at[k]).max(at[k] - n.hi[k]).max(Vec4::ZERO);
            let (x, y, z) = (off(0), off(1), off(2));
            let d = (x * x + y * y + z * z).to_array();
            let first = top;
            for k in 0..4 {
                let child = n.child[k];
                if child == NOTHING || f64::from(d[k]) > limit {
                    continue;
                }
                if child & ITEM != 0 {
                    limit = visit(child & !ITEM, limit);
                } else if top < 64 {
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
    use crate::lab::random::Random;

    #[test]
    fn the_nearest_agrees_with_looking_at_all() {
        let mut r = Random::new(5);
        for count in [1, 2, 3, 5, 17, 400] {
            let points: Vec<DVec3> = (0..count).map(|_| r.vector()).collect();
            let mut quads = Quads::new(&points);
            let moved: Vec<DVec3> = points.iter().map(|p| *p + r.vector() * 0.2).collect();
            quads.refit(|i| Aabb::EMPTY.with(moved[i as usize]));
            for _ in 0..50 {
                let p = r.vector();
                let radius = 0.5;
                let mut best = None;
                quads.nearest(p, radius * radius, |i, limit| {
                    let d = moved[i as usize].distance_squared(p);
                    if d < limit {
                        best = Some(i as usize);
                        return d;
                    }
                    limit
                });
                let truth = (0..count)
                    .filter(|&i| moved[i].distance(p) < radius)
                    .min_by(|&a, &b| moved[a].distance(p).total_cmp(&moved[b].distance(p)));
                assert_eq!(best, truth);
            }
        }
    }
}
