//! Closest points, rays and inside tests on triangles, by a bounding-volume hierarchy.

use crate::distance;
use glam::{DVec3, Vec3};

/// A point of a triangle mesh nearest to some query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosestPoint {
    /// The triangle.
    pub triangle: u32,
    /// Barycentric weights of its corners.
    pub barycentric: [f32; 3],
    /// The point itself.
    pub point: Vec3,
    /// Distance to the query, m.
    pub distance_m: f32,
}

/// Where a ray meets a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayHit {
    /// The triangle.
    pub triangle: u32,
    /// Barycentric weights of its corners.
    pub barycentric: [f32; 3],
    /// The point itself.
    pub point: Vec3,
    /// Distance from the ray's origin, m.
    pub distance_m: f32,
    /// Whether the ray comes from the side that the triangle's normal points to.
    pub from_front: bool,
}

/// Triangles per leaf: below four the boxes cost more than the triangles they save.
const LEAF: usize = 4;
/// Candidate splits per axis; more changes the tree's cost by less than a percent.
const BINS: usize = 16;

/// A box with either children or triangles.
#[derive(Clone, Copy)]
struct Node {
    lo: Vec3,
    hi: Vec3,
    /// Leaf: first slot in `order`. Inner: index of the right child; the left one is the next node.
    first: u32,
    /// Leaf: number of slots. Inner: 0.
    count: u32,
}

/// A tree over triangles that answers closest-point, ray and inside queries. It keeps its own copy
/// of the positions; [`TriangleTree::refit`] moves them without rebuilding.
pub struct TriangleTree {
    nodes: Vec<Node>,
    /// Triangle of each slot.
    order: Vec<u32>,
    /// Its vertex indices.
    indices: Vec<[u32; 3]>,
    /// Its corners.
    corners: Vec<[Vec3; 3]>,
}

impl TriangleTree {
    /// Builds the tree (binned surface-area heuristic).
    pub fn new(positions: &[Vec3], triangles: &[[u32; 3]]) -> Self {
        let mut items: Vec<Item> = triangles
            .iter()
            .enumerate()
            .map(|(t, tri)| {
                let [a, b, c] = tri.map(|i| positions[i as usize]);
                let (lo, hi) = (a.min(b).min(c), a.max(b).max(c));
                Item { lo, hi, centre: (lo + hi) * 0.5, triangle: t as u32 }
            })
            .collect();
        let mut nodes = Vec::with_capacity(triangles.len() / 2 + 1);
        if !items.is_empty() {
            build(&mut nodes, &mut items, 0, 0);
        }
        let order: Vec<u32> = items.iter().map(|i| i.triangle).collect();
        let indices: Vec<[u32; 3]> = order.iter().map(|&t| triangles[t as usize]).collect();
        let corners = indices.iter().map(|tri| tri.map(|i| positions[i as usize])).collect();
        Self { nodes, order, indices, corners }
    }

    /// Moves the vertices. Answers stay exact; queries slow down as the mesh moves far from the
    /// shape the tree was built for.
    pub fn refit(&mut self, positions: &[Vec3]) {
        for (corners, tri) in self.corners.iter_mut().zip(&self.indices) {
            *corners = tri.map(|i| positions[i as usize]);
        }
        // Children come after their parent, so one backward sweep sees them first.
        for n in (0..self.nodes.len()).rev() {
            let Node { first, count, .. } = self.nodes[n];
            let (lo, hi) = if count > 0 {
                let slots = first as usize..(first + count) as usize;
                bounds(self.corners[slots].iter().flatten().copied())
            } else {
                let (l, r) = (self.nodes[n + 1], self.nodes[first as usize]);
                (l.lo.min(r.lo), l.hi.max(r.hi))
            };
            (self.nodes[n].lo, self.nodes[n].hi) = (lo, hi);
        }
    }

    /// The closest point, or `None` for a mesh without triangles. Among equals the first triangle wins.
    pub fn closest(&self, query: Vec3) -> Option<ClosestPoint> {
        self.closest_within(query, f32::INFINITY)
    }

    /// The closest point no farther than `radius_m`.
    pub fn closest_within(&self, query: Vec3, radius_m: f32) -> Option<ClosestPoint> {
        let mut best: Option<ClosestPoint> = None;
        let mut best_sq = radius_m * radius_m;
        let mut stack = Stack::new();
        if let Some(root) = self.nodes.first() {
            stack.push(0, box_distance_sq(root, query));
        }
        while let Some((n, box_sq)) = stack.pop() {
            // Equal distances are looked at too: the lower triangle index decides between them.
            if box_sq > best_sq {
                continue;
            }
            let node = &self.nodes[n];
            if node.count == 0 {
                let (l, r) = (n + 1, node.first as usize);
                let (dl, dr) =
                    (box_distance_sq(&self.nodes[l], query), box_distance_sq(&self.nodes[r], query));
                if dl < dr {
                    stack.push(r, dr);
                    stack.push(l, dl);
                } else {
                    stack.push(l, dl);
                    stack.push(r, dr);
                }
                continue;
            }
            for slot in node.first as usize..(node.first + node.count) as usize {
                let [a, b, c] = self.corners[slot];
                let barycentric = closest_on_triangle(query, a, b, c);
                let point = a * barycentric[0] + b * barycentric[1] + c * barycentric[2];
                let sq = point.distance_squared(query);
                let triangle = self.order[slot];
                let better = match best {
                    None => sq <= best_sq,
                    Some(old) => sq < best_sq || (sq == best_sq && triangle < old.triangle),
                };
                if better {
                    best_sq = sq;
                    best = Some(ClosestPoint { triangle, barycentric, point, distance_m: sq.sqrt() });
                }
            }
        }
        best
    }

    /// The first triangle, seen from either side, that a ray meets. `direction` need not be normalised.
    pub fn first_hit(&self, origin: Vec3, direction: Vec3) -> Option<RayHit> {
        let direction = direction.normalize_or_zero().as_dvec3();
        let mut nearest = f64::INFINITY;
        let mut best: Option<RayHit> = None;
        self.walk_ray(origin, direction, |slot, hit| {
            if hit.t < nearest || (hit.t == nearest && best.is_some_and(|b| self.order[slot] < b.triangle)) {
                nearest = hit.t;
                best = Some(RayHit {
                    triangle: self.order[slot],
                    barycentric: hit.barycentric.map(|b| b as f32),
                    point: (origin.as_dvec3() + direction * hit.t).as_vec3(),
                    distance_m: hit.t as f32,
                    from_front: hit.facing < 0.0,
                });
            }
            nearest
        });
        best
    }

    /// Whether a point is inside a closed mesh whose normals point outwards. Where parts of the mesh
    /// overlap, as skinned limbs do, inside any of them counts.
    pub fn is_inside(&self, query: Vec3) -> bool {
        // Three directions that no modelled edge is aligned with. A ray through an edge counts twice or
        // not at all; then the three disagree and the exact sum decides.
        const DIRECTIONS: [DVec3; 3] = [
            DVec3::new(0.4829, 0.7381, 0.4711),
            DVec3::new(-0.7013, 0.3119, 0.6410),
            DVec3::new(0.2371, -0.5473, -0.8027),
        ];
        let Some(root) = self.nodes.first() else { return false };
        if box_distance_sq(root, query) > 0.0 {
            return false;
        }
        let counts = DIRECTIONS.map(|d| {
            let mut winding = 0;
            self.walk_ray(query, d.normalize(), |_, hit| {
                winding += if hit.facing > 0.0 { 1 } else { -1 };
                f64::INFINITY
            });
            winding
        });
        if counts[0] == counts[1] && counts[1] == counts[2] {
            return counts[0] > 0;
        }
        self.winding_number(query) > 0.5
    }

    /// The generalised winding number: 1 inside a closed mesh, 0 outside, in between near the holes of an
    /// open one (Jacobson et al. 2013). Exact and slow: it looks at every triangle.
    pub fn winding_number(&self, query: Vec3) -> f64 {
        let q = query.as_dvec3();
        let mut sum = 0.0;
        for tri in &self.corners {
            let [a, b, c] = tri.map(|p| p.as_dvec3() - q);
            let (la, lb, lc) = (a.length(), b.length(), c.length());
            // Solid angle of a triangle: van Oosterom & Strackee 1983, eq. 8.
            let above = a.dot(b.cross(c));
            let below = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
            sum += 2.0 * above.atan2(below);
        }
        sum / (4.0 * std::f64::consts::PI)
    }

    /// Calls `visit` with every triangle whose bounding box touches the box from `lo` to `hi`.
    pub fn for_each_in_box(&self, lo: Vec3, hi: Vec3, mut visit: impl FnMut(u32)) {
        let mut stack = Stack::new();
        if !self.nodes.is_empty() {
            stack.push(0, 0.0);
        }
        while let Some((n, _)) = stack.pop() {
            let node = &self.nodes[n];
            if node.lo.cmpgt(hi).any() || node.hi.cmplt(lo).any() {
                continue;
            }
            if node.count == 0 {
                stack.push(n + 1, 0.0);
                stack.push(node.first as usize, 0.0);
                continue;
            }
            for slot in node.first as usize..(node.first + node.count) as usize {
                let (a, b) = bounds(self.corners[slot].iter().copied());
                if !(a.cmpgt(hi).any() || b.cmplt(lo).any()) {
                    visit(self.order[slot]);
                }
            }
        }
    }

    /// Calls `visit` with every triangle on a ray; it answers how far the ray still needs to be followed.
    fn walk_ray(&self, origin: Vec3, direction: DVec3, mut visit: impl FnMut(usize, RayCrossing) -> f64) {
        let (origin, inverse) = (origin.as_dvec3(), direction.recip());
        let mut reach = f64::INFINITY;
        let mut stack = Stack::new();
        if let Some(root) = self.nodes.first() {
            stack.push(0, box_entry(root, origin, inverse) as f32);
        }
        while let Some((n, _)) = stack.pop() {
            let node = &self.nodes[n];
            if box_entry(node, origin, inverse) > reach {
                continue;
            }
            if node.count == 0 {
                let (l, r) = (n + 1, node.first as usize);
                let (dl, dr) =
                    (box_entry(&self.nodes[l], origin, inverse), box_entry(&self.nodes[r], origin, inverse));
                let (near, far) = if dl < dr { (l, r) } else { (r, l) };
                for (child, d) in [(far, dl.max(dr)), (near, dl.min(dr))] {
                    if d < f64::INFINITY {
                        stack.push(child, d as f32);
                    }
                }
                continue;
            }
            for slot in node.first as usize..(node.first + node.count) as usize {
                if let Some(hit) = cross_triangle(origin, direction, self.corners[slot])
                    && hit.t <= reach
                {
                    reach = visit(slot, hit);
                }
            }
        }
    }
}

/// A triangle while the tree is built.
#[derive(Clone, Copy)]
struct Item {
    lo: Vec3,
    hi: Vec3,
    centre: Vec3,
    triangle: u32,
}

/// Deeper than this, splits are by halves, which bounds the depth for any input.
const SAH_DEPTH: usize = 40;

fn build(nodes: &mut Vec<Node>, items: &mut [Item], first: usize, depth: usize) {
    let lo = items.iter().fold(Vec3::INFINITY, |m, i| m.min(i.lo));
    let hi = items.iter().fold(Vec3::NEG_INFINITY, |m, i| m.max(i.hi));
    let at = nodes.len();
    nodes.push(Node { lo, hi, first: first as u32, count: items.len() as u32 });
    if items.len() <= LEAF {
        return;
    }
    let split = (if depth < SAH_DEPTH { binned_split(items) } else { None }).unwrap_or_else(|| {
        let axis = widest_axis(items);
        let half = items.len() / 2;
        items.select_nth_unstable_by(half, |a, b| {
            a.centre[axis].total_cmp(&b.centre[axis]).then(a.triangle.cmp(&b.triangle))
        });
        half
    });
    let (left, right) = items.split_at_mut(split);
    build(nodes, left, first, depth + 1);
    let right_child = nodes.len();
    build(nodes, right, first + split, depth + 1);
    nodes[at].first = right_child as u32;
    nodes[at].count = 0;
}

fn widest_axis(items: &[Item]) -> usize {
    let (lo, hi) = bounds(items.iter().map(|i| i.centre));
    let extent = hi - lo;
    (0..3).max_by(|&a, &b| extent[a].total_cmp(&extent[b])).unwrap_or(0)
}

/// Partitions by the cheapest of the binned planes on the widest axis; `None` when no plane parts the items.
fn binned_split(items: &mut [Item]) -> Option<usize> {
    let axis = widest_axis(items);
    let (lo, hi) = bounds(items.iter().map(|i| i.centre));
    let extent = hi[axis] - lo[axis];
    if !(extent > 0.0 && extent.is_finite()) {
        return None;
    }
    let bin_of = |i: &Item| (((i.centre[axis] - lo[axis]) / extent * BINS as f32) as usize).min(BINS - 1);
    let mut bins = [(Vec3::INFINITY, Vec3::NEG_INFINITY, 0usize); BINS];
    for item in items.iter() {
        let bin = &mut bins[bin_of(item)];
        *bin = (bin.0.min(item.lo), bin.1.max(item.hi), bin.2 + 1);
    }
    let grow = |acc: &mut (Vec3, Vec3, usize), b: &(Vec3, Vec3, usize)| {
        *acc = (acc.0.min(b.0), acc.1.max(b.1), acc.2 + b.2);
        if acc.2 == 0 { 0.0 } else { half_area(acc.1 - acc.0) * acc.2 as f32 }
    };
    let mut below = [0.0; BINS];
    let mut acc = (Vec3::INFINITY, Vec3::NEG_INFINITY, 0);
    for (cost, bin) in below.iter_mut().zip(&bins) {
        *cost = grow(&mut acc, bin);
    }
    let mut best = (f32::INFINITY, 0);
    let mut acc = (Vec3::INFINITY, Vec3::NEG_INFINITY, 0);
    for plane in (1..BINS).rev() {
        let cost = grow(&mut acc, &bins[plane]) + below[plane - 1];
        if cost < best.0 {
            best = (cost, plane);
        }
    }
    let mut split = 0;
    for i in 0..items.len() {
        if bin_of(&items[i]) < best.1 {
            items.swap(i, split);
            split += 1;
        }
    }
    (split > 0 && split < items.len()).then_some(split)
}

fn half_area(d: Vec3) -> f32 {
    d.x * d.y + d.y * d.z + d.z * d.x
}

fn bounds(points: impl Iterator<Item = Vec3>) -> (Vec3, Vec3) {
    points.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(lo, hi), p| (lo.min(p), hi.max(p)))
}

/// Nodes still to visit, on the stack: a query allocates nothing. The tree is at most `SAH_DEPTH + 32`
/// levels deep and every level leaves one sibling waiting.
struct Stack {
    nodes: [(u32, f32); SAH_DEPTH + 34],
    len: usize,
}

impl Stack {
    fn new() -> Self {
        Self { nodes: [(0, 0.0); SAH_DEPTH + 34], len: 0 }
    }

    fn push(&mut self, node: usize, distance: f32) {
        self.nodes[self.len] = (node as u32, distance);
        self.len += 1;
    }

    fn pop(&mut self) -> Option<(usize, f32)> {
        self.len = self.len.checked_sub(1)?;
        let (node, distance) = self.nodes[self.len];
        Some((node as usize, distance))
    }
}

fn box_distance_sq(node: &Node, p: Vec3) -> f32 {
    p.distance_squared(p.max(node.lo).min(node.hi))
}

/// Where a ray enters a box; infinite when it misses.
fn box_entry(node: &Node, origin: DVec3, inverse: DVec3) -> f64 {
    // Grown by a hair so that flat boxes and rounding lose no crossing.
    let pad = DVec3::splat(1e-7) + (node.lo.abs().max(node.hi.abs())).as_dvec3() * 1e-7;
    let (lo, hi) = (node.lo.as_dvec3() - pad, node.hi.as_dvec3() + pad);
    let (a, b) = ((lo - origin) * inverse, (hi - origin) * inverse);
    let mut enter = 0.0f64;
    let mut leave = f64::INFINITY;
    for k in 0..3 {
        if inverse[k].is_finite() {
            enter = enter.max(a[k].min(b[k]));
            leave = leave.min(a[k].max(b[k]));
        } else if origin[k] < lo[k] || origin[k] > hi[k] {
            return f64::INFINITY;
        }
    }
    if enter <= leave { enter } else { f64::INFINITY }
}

/// A ray through a triangle.
struct RayCrossing {
    t: f64,
    barycentric: [f64; 3],
    /// Positive when the ray leaves through the triangle's front.
    facing: f64,
}

/// Möller & Trumbore 1997, two-sided, in f64.
fn cross_triangle(origin: DVec3, direction: DVec3, corners: [Vec3; 3]) -> Option<RayCrossing> {
    let [a, b, c] = corners.map(|p| p.as_dvec3());
    let (ab, ac) = (b - a, c - a);
    let normal = ab.cross(ac);
    let facing = normal.dot(direction);
    let p = direction.cross(ac);
    let det = ab.dot(p);
    if det == 0.0 {
        return None;
    }
    let s = origin - a;
    let v = s.dot(p) / det;
    let q = s.cross(ab);
    let w = direction.dot(q) / det;
    let t = ac.dot(q) / det;
    (v >= 0.0 && w >= 0.0 && v + w <= 1.0 && t >= 0.0).then_some(RayCrossing {
        t,
        barycentric: [1.0 - v - w, v, w],
        facing,
    })
}

/// Barycentric weights of the point of triangle `abc` nearest to `p`.
pub(crate) fn closest_on_triangle(p: Vec3, a: Vec3, b: Vec3, c: Vec3) -> [f32; 3] {
    let [a, b, c] = [a, b, c].map(|v| v.as_dvec3());
    distance::point_triangle(p.as_dvec3(), a, b, c).map(|w| w as f32)
}
