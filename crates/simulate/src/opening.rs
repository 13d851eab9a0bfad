//! Openings that have come off: a neckline over the head, a waist over the feet.
//!
//! Watched is the shortest of the openings that are around the trunk, by which a garment hangs. Hems may fly up over a head, and
//! feet may be drawn out of them.
//!
//! An opening is around a line of joints if that passes through any surface the opening bounds more often one way than the
//! other: a number that does not depend on the surface, and that changes only when the opening goes over an end of the line.

use glam::{Affine3A, DVec3, Vec3};
use toile_assets::{Body, Humanoid, Role};
use toile_geometry::Mesh;

/// Points that ride on joints, from the hips to an end.
type Line = Vec<(usize, Vec3)>;

/// The opening that a garment hangs by and the lines it may be around.
pub(crate) struct Opening {
    /// None where none was around the trunk.
    around: Option<Vec<u32>>,
    /// Trunk first, then legs and arms.
    lines: Vec<Line>,
}

impl Opening {
    /// Of the cloth `x`, by what its openings are around now.
    pub fn new(body: &Body, bones: &[Affine3A], x: &[Vec3], triangles: &[[u32; 3]]) -> Self {
        let lines = lines(body);
        let mesh = Mesh { positions: x.to_vec(), triangles: triangles.to_vec(), uvs: Vec::new() };
        let mut loops = mesh.topology().boundary_loops();
        // Cloth with one edge all around, a cape, is a sheet: nothing goes through it, whatever its edge is bent about.
        if loops.len() < 2 {
            return Self { around: None, lines };
        }
        loops.retain(|l| lines.first().is_some_and(|trunk| turns(l, x, &placed(trunk, bones)) != 0));
        let length = |l: &Vec<u32>| -> f32 {
            let next = l.iter().cycle().skip(1);
            l.iter().zip(next).map(|(a, b)| x[*a as usize].distance(x[*b as usize])).sum()
        };
        let around = loops.into_iter().min_by(|a, b| length(a).total_cmp(&length(b)));
        Self { around, lines }
    }

    /// Whether it is around nothing any more.
    pub fn is_off(&self, x: &[Vec3], bones: &[Affine3A]) -> bool {
        let nothing =
            |around: &Vec<u32>| self.lines.iter().all(|line| turns(around, x, &placed(line, bones)) == 0);
        self.around.as_ref().is_some_and(nothing)
    }
}

/// From the hips to the top of the head, to the toes and to the hands; none for what is no human.
fn lines(body: &Body) -> Vec<Line> {
    let roles = body.humanoid();
    let (Some(hips), Some(head)) = (roles.joint(Role::Hips), roles.joint(Role::Head)) else {
        return Vec::new();
    };
    let bind: Vec<Vec3> = body.joint_from_bind.iter().map(|m| m.inverse().translation.into()).collect();
    let to = |end: usize| -> Line {
        Humanoid::path(&body.skeleton, hips, end).into_iter().map(|j| (j, bind[j])).collect()
    };
    let mut trunk = to(head);
    let up =
        trunk.iter().rev().nth(1).map_or(Vec3::Y, |(_, below)| (bind[head] - *below).normalize_or(Vec3::Y));
    let on_head = |v: &usize| body.skin.row(*v).any(|(j, w)| j as usize == head && w > 0.5);
    let skin = (0..body.mesh.positions.len()).filter(on_head).map(|v| body.mesh.positions[v]);
    let top = skin.map(|p| (p - bind[head]).dot(up)).fold(0.0, f32::max);
    trunk.push((head, bind[head] + top * up));
    let ends = [[Role::LeftToes, Role::LeftFoot], [Role::RightToes, Role::RightFoot]].into_iter();
    let ends = ends.chain([[Role::LeftHand; 2], [Role::RightHand; 2]]);
    let limbs = ends.filter_map(|[far, near]| roles.joint(far).or(roles.joint(near))).map(to);
    std::iter::once(trunk).chain(limbs).collect()
}

fn placed(line: &Line, bones: &[Affine3A]) -> Vec<DVec3> {
    line.iter().map(|&(j, p)| bones[j].transform_point3(p).as_dvec3()).collect()
}

/// How often a line passes through the fan from a loop's middle to its edges, one way less the other.
fn turns(opening: &[u32], x: &[Vec3], line: &[DVec3]) -> i32 {
    let at: Vec<DVec3> = opening.iter().map(|v| x[*v as usize].as_dvec3()).collect();
    let middle = at.iter().sum::<DVec3>() / at.len().max(1) as f64;
    let volume = |a: DVec3, b: DVec3, c: DVec3, d: DVec3| (b - a).cross(c - a).dot(d - a);
    let mut turns = 0;
    for ends in line.windows(2) {
        let [p, q] = [ends[0], ends[1]];
        for k in 0..at.len() {
            let (a, b) = (at[k], at[(k + 1) % at.len()]);
            let (before, after) = (volume(middle, a, b, p), volume(middle, a, b, q));
            if (before > 0.0) == (after > 0.0) {
                continue;
            }
            let sides =
                [volume(p, q, middle, a), volume(p, q, a, b), volume(p, q, b, middle)].map(|v| v > 0.0);
            if sides[0] == sides[1] && sides[1] == sides[2] {
                turns += if after > 0.0 { 1 } else { -1 };
            }
        }
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_assets::builtin;

    #[test]
    fn a_poncho_over_the_head_and_a_skirt_over_the_feet_are_off() {
        let body = builtin::body("mannequin:female").unwrap();
        let rest = body.bones(&body.skeleton.rest_pose());
        for name in ["poncho", "skirt", "dress", "pants", "shirt"] {
            let g = builtin::garment(name, &body).unwrap();
            let opening = Opening::new(&body, &rest, &g.sim.positions, &g.sim.triangles);
            let moved =
                |up: f32| -> Vec<Vec3> { g.sim.positions.iter().map(|p| *p + up * Vec3::Y).collect() };
            // Slipped is still on.
            for (up, off) in [(0.0, false), (-0.08, false), (2.0, true), (-2.0, true)] {
                assert_eq!(opening.is_off(&moved(up), &rest), off, "{name} moved up by {up} m");
            }
        }
    }

    #[test]
    fn a_hem_over_the_head_is_not_off() {
        let body = builtin::body("mannequin:female").unwrap();
        let rest = body.bones(&body.skeleton.rest_pose());
        let g = builtin::garment("poncho", &body).unwrap();
        let opening = Opening::new(&body, &rest, &g.sim.positions, &g.sim.triangles);
        let neck = g.sim.positions.iter().map(|p| p.y).fold(0.0, f32::max);
        let flown: Vec<Vec3> =
            g.sim.positions.iter().map(|p| Vec3::new(p.x, 2.0 * neck - p.y, p.z)).collect();
        assert!(!opening.is_off(&flown, &rest));
    }

    #[test]
    fn what_hangs_free_is_not_watched() {
        let body = builtin::body("mannequin:female").unwrap();
        let cape = builtin::garment("cape", &body).unwrap();
        let rest = body.bones(&body.skeleton.rest_pose());
        assert!(Opening::new(&body, &rest, &cape.sim.positions, &cape.sim.triangles).around.is_none());
        // A sheet whose edge runs about the trunk: nothing goes through it.
        let sheet = [(0.0, 0.6), (-0.6, -0.4), (0.6, -0.4)].map(|(x, z)| Vec3::new(x, 1.3, z));
        assert!(Opening::new(&body, &rest, &sheet, &[[0, 1, 2]]).around.is_none());
    }
}
