//! A tree of boxes over triangles: built once from one shape, refitted as the shape moves.

use glam::DVec3;

/// An axis-aligned box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// Least corner.
    pub lo: DVec3,
    /// Greatest corner.
    pub hi: DVec3,
}

impl Aabb {
    /// Contains nothing.
    pub const EMPTY: Self = Self { lo: DVec3::INFINITY, hi: DVec3::NEG_INFINITY };

    /// Around both.
    #[inline]
    pub fn union(&self, o: &Self) -> Self {
        Self { lo: self.lo.min(o.lo), hi: self.hi.max(o.hi) }
    }

    /// With one more point.
    #[inline]
    pub fn with(&self, p: DVec3) -> Self {
        Self { lo: self.lo.min(p), hi: self.hi.max(p) }
    }

    /// Larger by `r` on every side.
    #[inline]
    pub fn inflated(&self, r: f64) -> Self {
        Self { lo: self.lo - DVec3::splat(r), hi: self.hi + DVec3::splat(r) }
    }

    /// Whether they share a point.
    #[inline]
    pub fn overlaps(&self, o: &Self) -> bool {
        self.lo.x <= o.hi.x
            && o.lo.x <= self.hi.x
            && self.lo.y <= o.hi.y
            && o.lo.y <= self.hi.y
            && self.lo.z <= o.hi.z
            && o.lo.z <= self.hi.z
    }
}

/// Children are at `index + 1` and `right`; a leaf has `right == 0`.
#[derive(Clone, Copy, Debug)]
struct Node {
    bounds: Aabb,
    right: u32,
    first: u32,
    count: u32,
}

/// The tree.
#[derive(Clone, Debug, Default)]
pub struct Bvh2 {
    nodes: Vec<Node>,
    order: Vec<u32>,
    boxes: Vec<Aabb>,
    /// Per node whether its items hang together, the box around their normals, and, where they hang together, the cosine
    /// of a cone about all of them.
    joined: Vec<bool>,
    facing: Vec<Aabb>,
    even: Vec<f64>,
    /// Per leaf, as its node, later leaves and itself where no item of the one is asked for with any of the other; where each
    /// node's begin.
    left_out: Vec<u32>,
    left_out_from: Vec<u32>,
}

/// What is one piece, all within 60° of one direction, cannot meet itself; within 50° it will not for a while.
const FACES_ONE_WAY: f64 = 0.5;
const PASSES_OVER: f64 = 0.64;
/// Items per leaf: one or two boxes more to test are cheaper than another level.
const LEAF: usize = 4;

impl Bvh2 {
    /// Builds over items at `centres`.
    pub fn new(centres: &[DVec3]) -> Self {
        let mut bvh = Self {
            nodes: Vec::new(),
            order: (0..centres.len() as u32).collect(),
            boxes: vec![Aabb::EMPTY; centres.len()],
            ..Self::default()
        };
        if !centres.is_empty() {
            let mut order = std::mem::take(&mut bvh.order);
            bvh.build(centres, &mut order, 0);
            bvh.order = order;
        }
        bvh
    }

    fn build(&mut self, centres: &[DVec3], items: &mut [u32], first: usize) -> u32 {
        let me = self.nodes.len();
        self.nodes.push(Node {
            bounds: Aabb::EMPTY,
            right: 0,
            first: first as u32,
            count: items.len() as u32,
        });
        if items.len() > LEAF {
            let spread = items.iter().fold(Aabb::EMPTY, |b, &i| b.with(centres[i as usize]));
            let size = spread.hi - spread.lo;
            let axis = if size.x >= size.y && size.x >= size.z {
                0
            } else if size.y >= size.z {
                1
            } else {
                2
            };
            let half = items.len() / 2;
            items.select_nth_unstable_by(half, |&a, &b| {
                let (p, q) = (centres[a as usize][axis], centres[b as usize][axis]);
                p.total_cmp(&q).then(a.cmp(&b))
            });
            let (left, right) = items.split_at_mut(half);
            self.build(centres, left, first);
            self.nodes[me].right = self.build(centres, right, first + half);
        }
        me as u32
    }

    /// Notes which nodes are one piece, `neighbours` being pairs of items that share an edge: what is one piece and
    /// faces one way cannot meet itself (Volino and Magnenat-Thalmann 1994), and [`Bvh2::pairs`] then passes it over.
    pub fn join(&mut self, neighbours: &[[u32; 2]]) {
        let mut beside = vec![Vec::new(); self.order.len()];
        for &[a, b] in neighbours {
            beside[a as usize].push(b);
            beside[b as usize].push(a);
        }
        let mut owner = vec![usize::MAX; self.order.len()];
        let mut stack = Vec::new();
        self.joined = (0..self.nodes.len())
            .map(|n| {
                let node = self.nodes[n];
                let own = &self.order[node.first as usize..(node.first + node.count) as usize];
                own.iter().for_each(|&i| owner[i as usize] = n);
                // Whoever is reached changes hands.
                let mut reached = 0;
                stack.push(own[0]);
                owner[own[0] as usize] = usize::MAX;
                while let Some(i) = stack.pop() {
                    reached += 1;
                    for &j in &beside[i as usize] {
                        if owner[j as usize] == n {
                            owner[j as usize] = usize::MAX;
                            stack.push(j);
                        }
                    }
                }
                reached == own.len()
            })
            .collect();
        self.facing = vec![Aabb::EMPTY; self.nodes.len()];
        self.even = vec![-1.0; self.nodes.len()];
    }

    /// Passes over leaves of which all pairs are `left_out`, whatever their boxes, in [`Bvh2::pairs`]; others may still come.
    /// `near` adds to a list what an item may be left out with, items after it at least.
    pub fn leave_out(&mut self, near: impl Fn(u32, &mut Vec<u32>), left_out: impl Fn(u32, u32) -> bool) {
        let items = |n: &Node| n.first as usize..(n.first + n.count) as usize;
        let mut leaf_of = vec![0u32; self.order.len()];
        for (k, n) in self.nodes.iter().enumerate().filter(|(_, n)| n.right == 0) {
            self.order[items(n)].iter().for_each(|&i| leaf_of[i as usize] = k as u32);
        }
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        let mut about = Vec::new();
        for (k, n) in self.nodes.iter().enumerate().filter(|(_, n)| n.right == 0) {
            about.clear();
            self.order[items(n)].iter().for_each(|&i| near(i, &mut about));
            about.iter_mut().for_each(|i| *i = leaf_of[*i as usize]);
            about.push(k as u32);
            about.sort_unstable();
            about.dedup();
            for &other in &about {
                let others = &self.order[items(&self.nodes[other as usize])];
                let all = |i: &u32| others.iter().all(|j| i == j || left_out(*i, *j));
                if self.order[items(n)].iter().all(all) {
                    pairs.push((other.min(k as u32), other.max(k as u32)));
                }
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        let begins = |node: u32| pairs.partition_point(|p| p.0 < node) as u32;
        self.left_out_from = (0..=self.nodes.len() as u32).map(begins).collect();
        self.left_out = pairs.iter().map(|p| p.1).collect();
    }

    fn is_left_out(&self, a: u32, b: u32) -> bool {
        let range = self.left_out_from.get(a as usize..a as usize + 2);
        range.is_some_and(|r| self.left_out[r[0] as usize..r[1] as usize].binary_search(&b).is_ok())
    }

    /// Takes new normals, as boxes around the unit normals each item has while it moves.
    pub fn face(&mut self, normals_of: impl Fn(u32) -> Aabb) {
        for i in (0..self.facing.len()).rev() {
            let n = self.nodes[i];
            let around = if n.right == 0 {
                let own = &self.order[n.first as usize..(n.first + n.count) as usize];
                own.iter().fold(Aabb::EMPTY, |b, &k| b.union(&normals_of(k)))
            } else {
                self.facing[i + 1].union(&self.facing[n.right as usize])
            };
            self.facing[i] = around;
            let middle = (around.lo + around.hi).normalize_or_zero();
            let least = (middle * around.lo).min(middle * around.hi);
            self.even[i] = if self.joined[i] { least.x + least.y + least.z } else { -1.0 };
        }
    }

    /// Whether these nodes, passed over by [`Bvh2::pairs`], still face one way.
    pub fn still_even(&self, passed: &[u32]) -> bool {
        passed.iter().all(|&n| self.even[n as usize] > FACES_ONE_WAY)
    }

    /// Takes new boxes for all items.
    pub fn refit(&mut self, box_of: impl Fn(u32) -> Aabb) {
        for (slot, &item) in self.boxes.iter_mut().zip(&self.order) {
            *slot = box_of(item);
        }
        for i in (0..self.nodes.len()).rev() {
            let n = self.nodes[i];
            self.nodes[i].bounds = if n.right == 0 {
                let range = n.first as usize..(n.first + n.count) as usize;
                self.boxes[range].iter().fold(Aabb::EMPTY, |b, x| b.union(x))
            } else {
                self.nodes[i + 1].bounds.union(&self.nodes[n.right as usize].bounds)
            };
        }
    }

    /// Calls `visit` once for every pair of different items whose boxes overlap. `stack` is scratch; `passed` holds the nodes
    /// that were passed over because they face one way.
    pub fn pairs(&self, stack: &mut Vec<(u32, u32)>, passed: &mut Vec<u32>, mut visit: impl FnMut(u32, u32)) {
        stack.clear();
        passed.clear();
        if self.nodes.is_empty() {
            return;
        }
        stack.push((0, 0));
        while let Some((a, b)) = stack.pop() {
            let (na, nb) = (&self.nodes[a as usize], &self.nodes[b as usize]);
            if a == b {
                if self.even.get(a as usize).is_some_and(|e| *e > PASSES_OVER) {
                    passed.push(a);
                    continue;
                }
                if na.right == 0 {
                    if self.is_left_out(a, a) {
                        continue;
                    }
                    for i in na.first as usize..(na.first + na.count) as usize {
                        for j in i + 1..(na.first + na.count) as usize {
                            if self.boxes[i].overlaps(&self.boxes[j]) {
                                visit(self.order[i], self.order[j]);
                            }
                        }
                    }
                } else {
                    stack.push((na.right, na.right));
                    stack.push((a + 1, na.right));
                    stack.push((a + 1, a + 1));
                }
                continue;
            }
            if !na.bounds.overlaps(&nb.bounds) {
                continue;
            }
            match (na.right == 0, nb.right == 0) {
                (true, true) => {
                    if self.is_left_out(a, b) {
                        continue;
                    }
                    for i in na.first as usize..(na.first + na.count) as usize {
                        if !self.boxes[i].overlaps(&nb.bounds) {
                            continue;
                        }
                        for j in nb.first as usize..(nb.first + nb.count) as usize {
                            if self.boxes[i].overlaps(&self.boxes[j]) {
                                visit(self.order[i], self.order[j]);
                            }
                        }
                    }
                }
                (false, true) => {
                    stack.push((na.right, b));
                    stack.push((a + 1, b));
                }
                (true, false) => {
                    stack.push((a, nb.right));
                    stack.push((a, b + 1));
                }
                (false, false) => {
                    stack.push((na.right, nb.right));
                    stack.push((na.right, b + 1));
                    stack.push((a + 1, nb.right));
                    stack.push((a + 1, b + 1));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    #[test]
    fn pairs_agree_with_brute_force() {
        let mut r = Random::new(2);
        let boxes: Vec<Aabb> = (0..200)
            .map(|_| {
                let p = r.vector();
                Aabb { lo: p, hi: p }.inflated(0.05 + 0.05 * r.unit())
            })
            .collect();
        let centres: Vec<DVec3> = boxes.iter().map(|b| 0.5 * (b.lo + b.hi)).collect();
        let mut bvh = Bvh2::new(&centres);
        bvh.refit(|i| boxes[i as usize]);
        let mut found = std::collections::BTreeSet::new();
        bvh.pairs(&mut Vec::new(), &mut Vec::new(), |a, b| assert!(found.insert((a.min(b), a.max(b)))));
        let mut expected = std::collections::BTreeSet::new();
        for a in 0..200u32 {
            for b in a + 1..200 {
                if boxes[a as usize].overlaps(&boxes[b as usize]) {
                    expected.insert((a, b));
                }
            }
        }
        assert_eq!(found, expected);
    }

    /// Pairs among five items in a row, each overlapping the next.
    fn pairs_of(joined: &[[u32; 2]], normals: [DVec3; 5]) -> usize {
        let centres: Vec<DVec3> = (0..5).map(|i| DVec3::X * f64::from(i)).collect();
        let mut bvh = Bvh2::new(&centres);
        bvh.join(joined);
        bvh.refit(|i| Aabb { lo: centres[i as usize], hi: centres[i as usize] }.inflated(0.6));
        bvh.face(|i| Aabb { lo: normals[i as usize], hi: normals[i as usize] });
        let mut count = 0;
        bvh.pairs(&mut Vec::new(), &mut Vec::new(), |_, _| count += 1);
        count
    }

    #[test]
    fn only_one_piece_that_faces_one_way_is_passed_over() {
        let row = [[0, 1], [1, 2], [2, 3], [3, 4]];
        assert_eq!(pairs_of(&row, [DVec3::Y; 5]), 0);
        // Two layers that face the same way are not one piece.
        assert!(pairs_of(&row[..3], [DVec3::Y; 5]) > 0);
        // Folded over.
        assert!(pairs_of(&row, [DVec3::Y, DVec3::Y, DVec3::Z, DVec3::NEG_Y, DVec3::NEG_Y]) > 0);
    }

    #[test]
    fn leaves_are_left_out_with_all_their_pairs_or_not_at_all() {
        let pairs = |left_out: fn(u32, u32) -> bool| {
            let mut bvh = Bvh2::new(&[DVec3::X; 7]);
            bvh.leave_out(|_, near| near.extend(0..7), left_out);
            bvh.refit(|_| Aabb { lo: DVec3::ZERO, hi: DVec3::ONE });
            let mut found = Vec::new();
            bvh.pairs(&mut Vec::new(), &mut Vec::new(), |a, b| found.push((a.min(b), a.max(b))));
            found
        };
        assert_eq!(pairs(|_, _| false).len(), 21);
        assert!(pairs(|_, _| true).is_empty());
        // One of them is asked for, so all of its leaves are.
        let some = pairs(|i, j| (i.min(j), i.max(j)) != (0, 1));
        assert!(some.contains(&(0, 1)) && some.len() < 21, "{some:?}");
    }
}
