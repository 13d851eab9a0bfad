//! A tailor's dummy made from measures: a signed field blended from sweeps and ellipsoids, its surface
//! evened out to well-shaped triangles, and smooth weights to the joints.

mod body_field;
pub mod measure;
mod remesh;
mod shape;
mod surface;
mod weights;

use super::proportions::Proportions;
use crate::{Body, Mesh, Result, Skin};
use body_field::BodyField;
use glam::Vec3;

/// Grid of the first extraction, in metres: fine enough for the gap between the thighs.
const CELL: f32 = 0.011;

/// Rounds of evening out: the last three only relax, by which time edge lengths have settled.
const ROUNDS: usize = 9;

/// Builds a mannequin of the given proportions, standing on `y = 0` in its rest pose.
///
/// Takes about a third of a second. The result depends on nothing but the arguments, and its halves
/// mirror each other exactly in shape, triangles and weights.
pub fn mannequin(name: &str, p: &Proportions) -> Result<Body> {
    p.check()?;
    let joints = p.joints();
    let figure = BodyField::fitted(p, &joints);
    let field = |q: Vec3| figure.distance(q);
    let (points, triangles) = surface::half_surface(field, Vec3::new(0.0, p.waist_height, 0.0), CELL);
    let mut half = remesh::HalfMesh::new(points, triangles);
    half.even_out(&field, &|q| edge_length(&joints, q), ROUNDS);
    let (points, triangles, seam) = half.finish();
    let (mesh, mirror) = mirrored(&points, &triangles, &seam);
    let skeleton = p.skeleton();
    let rows = weights::rows(&mesh, &mirror, &figure, &joints, &skeleton);
    let skin = Skin::from_rows(rows)?;
    Body::bound_at_rest(name, skeleton, mesh, skin)
}

/// Wanted edge length at a place: fine at hands, feet and joints, coarse on the trunk.
fn edge_length(joints: &super::proportions::Joints, p: Vec3) -> f32 {
    let near = |c: Vec3, r: f32| (1.0 - (p.distance(c) - r).max(0.0) / 0.10).clamp(0.0, 1.0);
    let coarse = 0.021;
    let fine = [
        (near(joints.wrist.lerp(joints.knuckle, 1.2), 0.10), 0.0085),
        (near(joints.ankle.lerp(joints.ball, 0.6), 0.10), 0.0105),
        (near(joints.elbow, 0.04), 0.0125),
        (near(joints.knee, 0.05), 0.015),
        (near(joints.shoulder, 0.04), 0.0155),
        (near(joints.skull_base + Vec3::new(0.0, 0.0, 0.04), 0.06), 0.0165),
        (near(Vec3::new(0.02, joints.hip.y - 0.08, 0.0), 0.06), 0.0155),
    ];
    fine.iter().map(|&(w, h)| coarse + (h - coarse) * w).fold(coarse, f32::min)
}

/// Both halves as one mesh, and each vertex's mirror image.
fn mirrored(points: &[Vec3], triangles: &[[u32; 3]], seam: &[bool]) -> (Mesh, Vec<u32>) {
    let mut positions = points.to_vec();
    let mut mirror: Vec<u32> = (0..points.len() as u32).collect();
    for v in (0..points.len()).filter(|&v| !seam[v]) {
        mirror[v] = positions.len() as u32;
        mirror.push(v as u32);
        positions.push(points[v] * Vec3::new(-1.0, 1.0, 1.0));
    }
    let mut all = triangles.to_vec();
    all.extend(triangles.iter().map(|&[a, b, c]| [a, c, b].map(|v| mirror[v as usize])));
    (Mesh { positions, triangles: all, uvs: vec![] }, mirror)
}
