//! Even triangles inside a polygon.
//!
//! Interior points start on a hexagonal grid, which is already the best a triangulation can be,
//! and a few rounds of smoothing fit it to the boundary. The boundary samples are never moved, so
//! that partner edges of a seam weld one to one; no points are ever added or dropped after
//! [`interior`], so the vertex count is known before anything is triangulated.

use crate::{Error, Result};
use glam::DVec2;
use spade::{ConstrainedDelaunayTriangulation, Point2, Triangulation};

/// Rounds of smoothing: the worst angle stops improving after about this many.
const ROUNDS: usize = 24;

/// A triangulated panel; the first vertices are the boundary, in order.
pub struct Filled {
    /// Flat coordinates in metres.
    pub points: Vec<DVec2>,
    /// Counter-clockwise.
    pub triangles: Vec<[u32; 3]>,
}

/// Hexagonal grid points of spacing `h` inside the closed polygon, none nearer to it than 0.55 `h`.
pub fn interior(boundary: &[DVec2], h: f64) -> Vec<DVec2> {
    let lo = boundary.iter().fold(DVec2::INFINITY, |a, b| a.min(*b));
    let hi = boundary.iter().fold(DVec2::NEG_INFINITY, |a, b| a.max(*b));
    let centre = 0.5 * (lo.x + hi.x);
    let row = h * 0.75f64.sqrt();
    let rows = ((hi.y - lo.y) / row).ceil() as i64;
    let columns = ((hi.x - lo.x) / h / 2.0).ceil() as i64 + 1;
    let near = Near::new(boundary, h);
    let mut out = Vec::new();
    for j in 0..=rows {
        let y = lo.y + row * (j as f64 + 0.5);
        let shift = if j % 2 == 0 { 0.0 } else { 0.5 };
        for i in -columns..=columns {
            // Symmetric about the middle, so that a symmetric outline gets a symmetric mesh.
            let p = DVec2::new(centre + h * (i as f64 + shift), y);
            if inside(boundary, p) && !near.any_within(p, 0.55 * h) {
                out.push(p);
            }
        }
    }
    out
}

/// Triangulates the closed polygon with the interior points of spacing `h`.
pub fn fill(boundary: &[DVec2], h: f64) -> Result<Filled> {
    let fixed = boundary.len();
    let mut points = boundary.to_vec();
    points.extend(interior(boundary, h));
    let mut triangles = delaunay(&points, fixed)?;
    for _ in 0..ROUNDS {
        let mut sum = vec![(DVec2::ZERO, 0.0); points.len()];
        for t in &triangles {
            let [a, b, c] = t.map(|i| points[i as usize]);
            let area = 0.5 * (b - a).perp_dot(c - a);
            let centroid = (a + b + c) / 3.0;
            for &i in t {
                sum[i as usize].0 += centroid * area;
                sum[i as usize].1 += area;
            }
        }
        for (p, (s, area)) in points.iter_mut().zip(&sum).skip(fixed) {
            if *area > 0.0 {
                *p = *s / *area;
            }
        }
        triangles = delaunay(&points, fixed)?;
    }
    Ok(Filled { points, triangles })
}

/// Constrained Delaunay triangles inside the polygon of the first `fixed` points.
fn delaunay(points: &[DVec2], fixed: usize) -> Result<Vec<[u32; 3]>> {
    let fault = |what: String| Error::Invalid(format!("a panel cannot be triangulated: {what}"));
    let mut cdt = ConstrainedDelaunayTriangulation::<Point2<f64>>::new();
    for (i, p) in points.iter().enumerate() {
        let handle = cdt.insert(Point2::new(p.x, p.y)).map_err(|e| fault(e.to_string()))?;
        if handle.index() != i {
            return Err(fault(format!("two points at {p}")));
        }
    }
    let handle = spade::handles::FixedVertexHandle::from_index;
    for i in 0..fixed {
        let (a, b) = (handle(i), handle((i + 1) % fixed));
        if !cdt.can_add_constraint(a, b) {
            return Err(fault(format!(
                "its outline crosses itself {:.0} cm from its middle and {:.0} cm above its lower edge",
                100.0 * points[i].x.abs(),
                100.0 * (points[i].y - points.iter().map(|p| p.y).fold(f64::INFINITY, f64::min))
            )));
        }
        cdt.add_constraint(a, b);
    }
    // Inside is what lies behind an odd number of constrained edges. Asking for the centroid instead
    // would let in slivers between the samples of a straight edge, which rounding makes.
    let mut odd: Vec<Option<bool>> = vec![None; cdt.num_all_faces()];
    let mut queue = vec![cdt.outer_face().index()];
    odd[queue[0]] = Some(false);
    let mut neighbours: Vec<Vec<(usize, bool)>> = vec![Vec::new(); cdt.num_all_faces()];
    for e in cdt.directed_edges() {
        neighbours[e.face().index()].push((e.rev().face().index(), e.is_constraint_edge()));
    }
    while let Some(f) = queue.pop() {
        for &(to, crossed) in &neighbours[f] {
            if odd[to].is_none() {
                odd[to] = odd[f].map(|o| o ^ crossed);
                queue.push(to);
            }
        }
    }
    let mut triangles: Vec<[u32; 3]> = cdt
        .inner_faces()
        .filter(|f| odd[f.index()] == Some(true))
        .map(|f| f.vertices().map(|v| v.index() as u32))
        .collect();
    for t in &mut triangles {
        let least = (0..3).min_by_key(|&k| t[k]).unwrap_or(0);
        t.rotate_left(least);
    }
    triangles.sort_unstable();
    Ok(triangles)
}

/// Whether the point is inside the closed polygon (crossing number).
fn inside(polygon: &[DVec2], p: DVec2) -> bool {
    let mut odd = false;
    for i in 0..polygon.len() {
        let (a, b) = (polygon[i], polygon[(i + 1) % polygon.len()]);
        if (a.y > p.y) != (b.y > p.y) && p.x < a.x + (b.x - a.x) * (p.y - a.y) / (b.y - a.y) {
            odd = !odd;
        }
    }
    odd
}

/// The segments of a polygon, binned so that nearness is asked only of the few around.
struct Near<'a> {
    polygon: &'a [DVec2],
    cells: std::collections::HashMap<(i64, i64), Vec<usize>>,
    h: f64,
}

impl<'a> Near<'a> {
    fn new(polygon: &'a [DVec2], h: f64) -> Self {
        let mut cells: std::collections::HashMap<_, Vec<usize>> = std::collections::HashMap::new();
        for i in 0..polygon.len() {
            let (a, b) = (polygon[i], polygon[(i + 1) % polygon.len()]);
            let (lo, hi) = (a.min(b) / h, a.max(b) / h);
            for x in lo.x.floor() as i64 - 1..=hi.x.floor() as i64 + 1 {
                for y in lo.y.floor() as i64 - 1..=hi.y.floor() as i64 + 1 {
                    cells.entry((x, y)).or_default().push(i);
                }
            }
        }
        Self { polygon, cells, h }
    }

    /// Whether a segment is nearer than `r`, which must not exceed the `h` of the bins.
    fn any_within(&self, p: DVec2, r: f64) -> bool {
        let cell = ((p.x / self.h).floor() as i64, (p.y / self.h).floor() as i64);
        self.cells.get(&cell).is_some_and(|list| {
            list.iter().any(|&i| {
                let (a, b) = (self.polygon[i], self.polygon[(i + 1) % self.polygon.len()]);
                let t = ((p - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
                a.lerp(b, t).distance(p) < r
            })
        })
    }
}
