//! Measuring with a tape: girths of a mesh and of a signed field in a plane.

use crate::Mesh;
use glam::{Vec2, Vec3};
use std::collections::HashMap;

/// Two directions that span the plane across `normal`.
fn plane_axes(normal: Vec3) -> (Vec3, Vec3) {
    let (u, v) = normal.any_orthonormal_pair();
    (u, v)
}

/// Length of the convex hull around points in a plane: what a taut tape reads.
fn hull_length(mut points: Vec<Vec2>) -> f32 {
    points.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    let mut hull: Vec<Vec2> = Vec::new();
    // Andrew's monotone chain: the lower side, then back along the upper one.
    for pass in 0..2 {
        let start = hull.len();
        for k in 0..points.len() {
            let p = if pass == 0 { points[k] } else { points[points.len() - 1 - k] };
            while hull.len() >= start + 2
                && (hull[hull.len() - 1] - hull[hull.len() - 2]).perp_dot(p - hull[hull.len() - 2]) <= 0.0
            {
                hull.pop();
            }
            hull.push(p);
        }
        hull.pop();
    }
    (0..hull.len()).map(|k| hull[k].distance(hull[(k + 1) % hull.len()])).sum()
}

/// The closed curves in which the plane through `at` across `normal` cuts `mesh`, as points in the
/// plane's own coordinates around `at`.
pub fn sections(mesh: &Mesh, at: Vec3, normal: Vec3) -> Vec<Vec<Vec2>> {
    let normal = normal.normalize_or(Vec3::Y);
    let (u, v) = plane_axes(normal);
    // Vertices exactly on the plane are pushed off it, so that every cut crosses edges.
    let height = |i: u32| {
        let h = (mesh.positions[i as usize] - at).dot(normal);
        if h == 0.0 { 1e-9 } else { h }
    };
    let mut next: HashMap<[u32; 2], ([u32; 2], Vec2)> = HashMap::new();
    for tri in &mesh.triangles {
        let h = tri.map(height);
        let (mut enter, mut leave) = (None, None);
        for k in 0..3 {
            let (a, b) = (k, (k + 1) % 3);
            if (h[a] < 0.0) == (h[b] < 0.0) {
                continue;
            }
            let s = h[a] / (h[a] - h[b]);
            let p = mesh.positions[tri[a] as usize].lerp(mesh.positions[tri[b] as usize], s) - at;
            let key = [tri[a].min(tri[b]), tri[a].max(tri[b])];
            let cut = (key, Vec2::new(p.dot(u), p.dot(v)));
            if h[a] < 0.0 { enter = Some(cut) } else { leave = Some(cut) }
        }
        if let (Some((from, p)), Some((to, _))) = (enter, leave) {
            next.insert(from, (to, p));
        }
    }
    let mut starts: Vec<[u32; 2]> = next.keys().copied().collect();
    starts.sort_unstable();
    let mut loops = Vec::new();
    for start in starts {
        let mut curve = Vec::new();
        let mut key = start;
        while let Some((to, p)) = next.remove(&key) {
            curve.push(p);
            key = to;
        }
        if curve.len() > 2 {
            loops.push(curve);
        }
    }
    loops
}

/// Area inside a closed curve.
pub fn area(curve: &[Vec2]) -> f32 {
    let n = curve.len();
    0.5 * (0..n).map(|k| curve[k].perp_dot(curve[(k + 1) % n])).sum::<f32>().abs()
}

/// Whether the closed curve goes around the plane's origin.
fn goes_around_origin(curve: &[Vec2]) -> bool {
    let n = curve.len();
    let turns: f32 = (0..n).map(|k| curve[k].angle_to(curve[(k + 1) % n])).sum();
    turns.abs() > std::f32::consts::PI
}

/// The section of `mesh` that goes around `at` in the plane across `normal`.
pub fn section_around(mesh: &Mesh, at: Vec3, normal: Vec3) -> Option<Vec<Vec2>> {
    sections(mesh, at, normal)
        .into_iter()
        .filter(|c| goes_around_origin(c))
        .min_by(|a, b| area(a).total_cmp(&area(b)))
}

/// Girth of `mesh` around the point `at` inside it, in the plane across `normal`, as a taut tape reads
/// it (the convex hull of the section). `None` where no section goes around the point.
pub fn girth(mesh: &Mesh, at: Vec3, normal: Vec3) -> Option<f32> {
    section_around(mesh, at, normal).map(hull_length)
}

/// Girth of a signed field around `at`: rays from there to the surface, then the tape around their ends.
/// The section must be star-shaped about `at`.
pub(super) fn field_girth(field: &impl Fn(Vec3) -> f32, at: Vec3, normal: Vec3) -> f32 {
    const RAYS: usize = 72;
    let (u, v) = plane_axes(normal);
    let points = (0..RAYS)
        .map(|k| {
            let dir = Vec2::from_angle(k as f32 * std::f32::consts::TAU / RAYS as f32);
            let ray = u * dir.x + v * dir.y;
            // The field is close to a distance: stepping by it converges within a few steps.
            let mut r = 0.01;
            for _ in 0..24 {
                let d = field(at + ray * r);
                r += (-d).clamp(-0.02, 0.03);
                if d.abs() < 1e-5 {
                    break;
                }
            }
            dir * r
        })
        .collect();
    hull_length(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tape_bridges_hollows() {
        let square = [(0.0, 0.0), (1.0, 0.0), (0.5, 0.4), (1.0, 1.0), (0.0, 1.0), (0.5, 0.5)];
        let length = hull_length(square.iter().map(|&(x, y)| Vec2::new(x, y)).collect());
        assert!((length - 4.0).abs() < 1e-6, "{length}");
    }

    #[test]
    fn a_field_and_its_girth_agree_on_a_ball() {
        let ball = |p: Vec3| p.length() - 0.1;
        let at = Vec3::new(0.02, 0.0, 0.03);
        let girth = field_girth(&ball, at, Vec3::Y);
        assert!((girth / (std::f32::consts::TAU * 0.1) - 1.0).abs() < 3e-3, "{girth}");
    }
}
