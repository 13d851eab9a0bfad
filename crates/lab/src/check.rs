//! Independent checks by brute force, sharing nothing with the contact code: crossings of cloth with itself, depth in a
//! body, and where a body intersects itself.

use glam::{DVec2, DVec3, Vec3};
use std::collections::HashMap;

/// Pairs of an edge and a triangle without a common vertex that cross, every pair tried.
pub fn crossings(triangles: &[[u32; 3]], edges: &[[u32; 2]], x: &[DVec3]) -> usize {
    let mut count = 0;
    for t in triangles {
        let [a, b, c] = t.map(|i| x[i as usize]);
        let (lo, hi) = (a.min(b).min(c), a.max(b).max(c));
        for e in edges {
            if t.contains(&e[0]) || t.contains(&e[1]) {
                continue;
            }
            let (p, q) = (x[e[0] as usize], x[e[1] as usize]);
            if p.max(q).cmplt(lo).any() || p.min(q).cmpgt(hi).any() {
                continue;
            }
            count += usize::from(crosses(p, q, a, b, c));
        }
    }
    count
}

/// Whether `pq` meets `abc`, by the signs of the five tetrahedra.
fn crosses(p: DVec3, q: DVec3, a: DVec3, b: DVec3, c: DVec3) -> bool {
    let volume = |a: DVec3, b: DVec3, c: DVec3, d: DVec3| (b - a).cross(c - a).dot(d - a);
    let (s, t) = (volume(a, b, c, p), volume(a, b, c, q));
    if s * t >= 0.0 {
        return false;
    }
    let (u, v, w) = (volume(p, q, a, b), volume(p, q, b, c), volume(p, q, c, a));
    (u > 0.0 && v > 0.0 && w > 0.0) || (u < 0.0 && v < 0.0 && w < 0.0)
}

/// Side of the cubes that triangles are sorted into, m: about the size of a body's triangles.
const CUBE: f64 = 0.02;

/// A body's surface at one moment, sorted into cubes.
#[derive(Clone, Debug)]
pub struct Solid {
    x: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    cubes: HashMap<[i32; 3], Vec<u32>>,
    /// Columns along each axis, for rays.
    columns: [HashMap<[i32; 2], Vec<u32>>; 3],
    /// Where the surface crosses itself.
    faults: Vec<DVec3>,
}

fn cube(p: DVec3) -> [i32; 3] {
    (p / CUBE).floor().to_array().map(|c| c as i32)
}

/// The two axes that a column along `axis` is seen in.
fn flat(p: DVec3, axis: usize) -> DVec2 {
    DVec2::new(p[(axis + 1) % 3], p[(axis + 2) % 3])
}

impl Solid {
    /// A closed surface; vertices that coincide at rest (given by `weld`) count as one.
    pub fn new(positions: &[Vec3], triangles: &[[u32; 3]], weld: &[u32]) -> Self {
        let x: Vec<DVec3> = positions.iter().map(|p| p.as_dvec3()).collect();
        let triangles: Vec<[u32; 3]> = triangles.iter().map(|t| t.map(|i| weld[i as usize])).collect();
        let mut cubes: HashMap<[i32; 3], Vec<u32>> = HashMap::new();
        let mut columns: [HashMap<[i32; 2], Vec<u32>>; 3] = Default::default();
        for (k, t) in triangles.iter().enumerate() {
            let [a, b, c] = t.map(|i| x[i as usize]);
            let (lo, hi) = (cube(a.min(b).min(c)), cube(a.max(b).max(c)));
            for i in lo[0]..=hi[0] {
                for j in lo[1]..=hi[1] {
                    for l in lo[2]..=hi[2] {
                        cubes.entry([i, j, l]).or_default().push(k as u32);
                    }
                }
            }
            for (axis, columns) in columns.iter_mut().enumerate() {
                let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                for i in lo[u]..=hi[u] {
                    for j in lo[v]..=hi[v] {
                        columns.entry([i, j]).or_default().push(k as u32);
                    }
                }
            }
        }
        let mut solid = Self { x, triangles, cubes, columns, faults: vec![] };
        solid.faults = solid.self_crossings();
        solid
    }

    /// Vertices that lie at the same place, as the first of them.
    pub fn weld(rest: &[Vec3]) -> Vec<u32> {
        let mut first = HashMap::new();
        let key = |p: &Vec3| p.to_array().map(|c| (c + 0.0).to_bits());
        rest.iter().enumerate().map(|(i, p)| *first.entry(key(p)).or_insert(i as u32)).collect()
    }

    /// Middles of edges that cross a triangle of the same surface.
    fn self_crossings(&self) -> Vec<DVec3> {
        let mut found = Vec::new();
        for (k, t) in self.triangles.iter().enumerate() {
            let [a, b, c] = t.map(|i| self.x[i as usize]);
            let (lo, hi) = (a.min(b).min(c), a.max(b).max(c));
            let (from, to) = (cube(lo), cube(hi));
            for i in from[0]..=to[0] {
                for j in from[1]..=to[1] {
                    for l in from[2]..=to[2] {
                        for &other in self.cubes.get(&[i, j, l]).into_iter().flatten() {
                            let o = self.triangles[other as usize];
                            if other as usize == k || o.iter().any(|v| t.contains(v)) {
                                continue;
                            }
                            for e in 0..3 {
                                let (p, q) = (self.x[o[e] as usize], self.x[o[(e + 1) % 3] as usize]);
                                if p.max(q).cmplt(lo).any() || p.min(q).cmpgt(hi).any() {
                                    continue;
                                }
                                if crosses(p, q, a, b, c) {
                                    found.push(0.5 * (p + q));
                                }
                            }
                        }
                    }
                }
            }
        }
        found
    }

    /// Where the surface crosses itself.
    pub fn faults(&self) -> &[DVec3] {
        &self.faults
    }

    /// Whether `p` is within `reach` of a place where the surface crosses itself.
    pub fn near_fault(&self, p: DVec3, reach: f64) -> bool {
        self.faults.iter().any(|f| f.distance_squared(p) < reach * reach)
    }

    /// Whether `p` is inside, by the signed crossings of rays along the three axes; two of three decide.
    pub fn contains(&self, p: DVec3) -> bool {
        (0..3).filter(|&axis| self.ray(p, axis) > 0).count() >= 2
    }

    /// Times the ray from `p` along +axis leaves the solid minus the times it enters.
    fn ray(&self, p: DVec3, axis: usize) -> i32 {
        let c = cube(p);
        let mut sum = 0;
        let q = flat(p, axis);
        for &k in self.columns[axis].get(&[c[(axis + 1) % 3], c[(axis + 2) % 3]]).into_iter().flatten() {
            let corners = self.triangles[k as usize].map(|i| self.x[i as usize]);
            let [a, b, c] = corners.map(|p| flat(p, axis));
            let whole = (b - a).perp_dot(c - a);
            // Edges belong to the triangle on one side only, so that a ray through one is counted once.
            let side = |a: DVec2, b: DVec2| {
                let s = (b - a).perp_dot(q - a) * whole.signum();
                let e = (b - a) * whole.signum();
                s > 0.0 || (s == 0.0 && (e.y > 0.0 || (e.y == 0.0 && e.x < 0.0)))
            };
            if whole == 0.0 || !(side(a, b) && side(b, c) && side(c, a)) {
                continue;
            }
            let w = [(b - q).perp_dot(c - q), (c - q).perp_dot(a - q), (a - q).perp_dot(b - q)];
            let height: f64 = (0..3).map(|i| w[i] / whole * corners[i][axis]).sum();
            if height > p[axis] {
                sum += if whole > 0.0 { 1 } else { -1 };
            }
        }
        sum
    }

    /// Distance from `p` to the surface if it is less than `most`.
    fn distance(&self, p: DVec3, most: f64) -> f64 {
        let mut best = most;
        let (from, to) = (cube(p - most), cube(p + most));
        for i in from[0]..=to[0] {
            for j in from[1]..=to[1] {
                for l in from[2]..=to[2] {
                    for &k in self.cubes.get(&[i, j, l]).into_iter().flatten() {
                        let [a, b, c] = self.triangles[k as usize].map(|i| self.x[i as usize]);
                        best = best.min(distance_to_triangle(p, a, b, c));
                    }
                }
            }
        }
        best
    }

    /// How deep `p` is inside, m; 0 outside, and no more than 5 cm.
    pub fn depth(&self, p: DVec3) -> f64 {
        if self.contains(p) { self.distance(p, 0.05) } else { 0.0 }
    }

    /// Triangles of a cloth that cross the surface: an edge of either passes through a triangle of the other.
    pub fn pierced(&self, triangles: &[[u32; 3]], x: &[DVec3]) -> Vec<u32> {
        let mut near = Vec::new();
        let crosses_any = |p: [DVec3; 3], q: [DVec3; 3]| {
            (0..3).any(|e| {
                crosses(p[e], p[(e + 1) % 3], q[0], q[1], q[2])
                    || crosses(q[e], q[(e + 1) % 3], p[0], p[1], p[2])
            })
        };
        let mut found = Vec::new();
        for (k, t) in triangles.iter().enumerate() {
            let p = t.map(|i| x[i as usize]);
            let (lo, hi) = (p[0].min(p[1]).min(p[2]), p[0].max(p[1]).max(p[2]));
            let (from, to) = (cube(lo), cube(hi));
            near.clear();
            for i in from[0]..=to[0] {
                for j in from[1]..=to[1] {
                    for l in from[2]..=to[2] {
                        near.extend(self.cubes.get(&[i, j, l]).into_iter().flatten().copied());
                    }
                }
            }
            near.sort_unstable();
            near.dedup();
            if near.iter().any(|&b| crosses_any(p, self.triangles[b as usize].map(|i| self.x[i as usize]))) {
                found.push(k as u32);
            }
        }
        found
    }

    /// How deep the surface stands out through a cloth anywhere, between its vertices too, and in how many triangles;
    /// places nearer than `away` to faults of the body do not count.
    pub fn pokes_through(&self, triangles: &[[u32; 3]], x: &[DVec3], away: f64) -> (f64, usize) {
        const STEPS: u32 = 12;
        let (mut deepest, mut count) = (0.0f64, 0);
        for k in self.pierced(triangles, x) {
            let [a, b, c] = triangles[k as usize].map(|i| x[i as usize]);
            let mut here = 0.0f64;
            for i in 0..=STEPS {
                for j in 0..=STEPS - i {
                    let (u, v) = (f64::from(i) / f64::from(STEPS), f64::from(j) / f64::from(STEPS));
                    let p = a * (1.0 - u - v) + b * u + c * v;
                    if !self.near_fault(p, away) {
                        here = here.max(self.depth(p));
                    }
                }
            }
            deepest = deepest.max(here);
            count += usize::from(here > 0.0);
        }
        (deepest, count)
    }

    /// The deepest of the points that are farther than `away` from faults of the body, and how many are deeper than a
    /// millimetre.
    pub fn deepest(&self, points: &[DVec3], away: f64) -> (f64, usize) {
        let mut deepest = 0.0f64;
        let mut count = 0;
        for p in points {
            if self.near_fault(*p, away) {
                continue;
            }
            let depth = self.depth(*p);
            deepest = deepest.max(depth);
            count += usize::from(depth > 1e-3);
        }
        (deepest, count)
    }
}

/// Distance of `p` to `abc`: inside its prism to the plane, else to the nearest edge.
fn distance_to_triangle(p: DVec3, a: DVec3, b: DVec3, c: DVec3) -> f64 {
    let n = (b - a).cross(c - a);
    let inside = |a: DVec3, b: DVec3| n.dot((b - a).cross(p - a)) >= 0.0;
    if n.length_squared() > 0.0 && inside(a, b) && inside(b, c) && inside(c, a) {
        return n.dot(p - a).abs() / n.length();
    }
    let to_edge = |a: DVec3, b: DVec3| {
        let e = b - a;
        let t = if e.length_squared() > 0.0 {
            ((p - a).dot(e) / e.length_squared()).clamp(0.0, 1.0)
        } else {
            0.0
        };
        p.distance(a + e * t)
    };
    to_edge(a, b).min(to_edge(b, c)).min(to_edge(c, a))
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_geometry::Random;

    #[test]
    fn a_needle_through_a_triangle_is_seen() {
        let x = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::new(0.2, 0.2, -1.0), DVec3::new(0.2, 0.2, 1.0)];
        assert_eq!(crossings(&[[0, 1, 2]], &[[3, 4]], &x), 1);
        let beside = x.map(|p| if p.z == 0.0 { p } else { p + DVec3::X });
        assert_eq!(crossings(&[[0, 1, 2]], &[[3, 4]], &beside), 0);
    }

    /// A ball of `sides` by `rings`, facing out.
    fn ball(centre: Vec3, radius: f32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let (rings, sides) = (24u32, 32u32);
        let mut x = vec![];
        for r in 0..=rings {
            let a = std::f32::consts::PI * r as f32 / rings as f32;
            for s in 0..sides {
                let b = std::f32::consts::TAU * s as f32 / sides as f32;
                // The poles are one point each.
                let sin = if r % rings == 0 { 0.0 } else { a.sin() };
                x.push(centre + radius * Vec3::new(sin * b.sin(), a.cos(), sin * b.cos()));
            }
        }
        let at = |r: u32, s: u32| r * sides + s % sides;
        let mut t = vec![];
        for r in 0..rings {
            for s in 0..sides {
                let (a, b, c, d) = (at(r, s), at(r + 1, s), at(r + 1, s + 1), at(r, s + 1));
                t.extend([[a, b, c], [a, c, d]]);
            }
        }
        (x, t)
    }

    #[test]
    fn depth_in_a_ball_is_what_it_is() {
        let (x, t) = ball(Vec3::ZERO, 0.2);
        let solid = Solid::new(&x, &t, &Solid::weld(&x));
        assert!(solid.faults().is_empty());
        let mut r = Random::new(2);
        for _ in 0..500 {
            let p = r.vector() * 0.25;
            let depth = solid.depth(p);
            let right = (0.2 - p.length()).clamp(0.0, 0.05);
            // The facets lie up to 2 mm inside the ball.
            assert!((depth - right).abs() < 2.5e-3, "{p}: {depth} {right}");
        }
        assert!(solid.contains(DVec3::ZERO) && !solid.contains(DVec3::new(0.3, 0.0, 0.0)));
    }

    #[test]
    fn a_ball_that_pokes_through_between_vertices_is_seen() {
        let (x, t) = ball(Vec3::ZERO, 0.2);
        let solid = Solid::new(&x, &t, &Solid::weld(&x));
        // A triangle across the top whose corners and edges are outside.
        let over = |y: f64| [DVec3::new(-0.2, y, -0.12), DVec3::new(0.2, y, -0.12), DVec3::new(0.0, y, 0.24)];
        assert_eq!(solid.pokes_through(&[[0, 2, 1]], &over(0.201), 0.05), (0.0, 0));
        let (depth, count) = solid.pokes_through(&[[0, 2, 1]], &over(0.18), 0.05);
        assert!(count == 1 && (depth - 0.02).abs() < 4e-3, "{depth}");
        assert_eq!(solid.pierced(&[[0, 2, 1]], &over(0.18)), [0]);
    }

    #[test]
    fn two_balls_that_overlap_are_faulty_where_they_cross() {
        let (mut x, mut t) = ball(Vec3::ZERO, 0.1);
        let (other, more) = ball(Vec3::new(0.15, 0.003, 0.002), 0.1);
        let n = x.len() as u32;
        x.extend(other);
        t.extend(more.iter().map(|t| t.map(|i| i + n)));
        let solid = Solid::new(&x, &t, &Solid::weld(&x));
        assert!(!solid.faults().is_empty());
        for f in solid.faults() {
            let ring = (f.x - 0.075).abs() < 0.02 && (f.length() - 0.1).abs() < 0.02;
            assert!(ring, "{f}");
        }
        assert!(solid.near_fault(DVec3::new(0.075, 0.066, 0.0), 0.05));
        assert!(!solid.near_fault(DVec3::new(-0.1, 0.0, 0.0), 0.05));
        // Inside both is inside.
        assert!(solid.contains(DVec3::new(0.075, 0.0, 0.001)));
    }
}
