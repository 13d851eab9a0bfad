//! A limb as a straight tube: its own frame, with the bend of the middle joint taken out.

use super::place::{length, walk};
use super::shell::Shell;
use glam::{DMat3, DVec3};

/// The wearer's left arm or leg. In its frame +Y points up the limb to its first joint at the origin,
/// +Z to its outer side, so that a sleeve's middle lies along +Z.
#[derive(Clone, Debug)]
pub struct StraightLimb {
    /// The taut surface in the limb's frame.
    pub shell: Shell,
    /// Length from the first joint to the last.
    pub length: f64,
    origin: DVec3,
    world_from_limb: DMat3,
    /// The middle joint in the straight frame.
    middle: DVec3,
}

impl StraightLimb {
    /// Builds the frame from three joints and the shell from the triangles around them. `outer` is the side that
    /// looks away from the body.
    pub fn new([first, middle, last]: [DVec3; 3], outer: DVec3, triangles: &[[DVec3; 3]]) -> Self {
        let y = (first - last).normalize_or(DVec3::Y);
        let z = (outer - y * y.dot(outer)).normalize_or(DVec3::Z);
        let world_from_limb = DMat3::from_cols(y.cross(z), y, z);
        let empty = Shell::around(&[], 0.0);
        let mut limb = Self {
            shell: empty,
            length: first.distance(last),
            origin: first,
            world_from_limb,
            middle: DVec3::ZERO,
        };
        limb.middle = world_from_limb.transpose() * (middle - first);
        let local: Vec<[DVec3; 3]> = triangles.iter().map(|t| t.map(|p| limb.in_limb(p))).collect();
        limb.shell = Shell::around(&local, 0.0);
        limb
    }

    /// How far the bent axis is from the straight one at a height of the limb's frame.
    fn bend(&self, y: f64) -> DVec3 {
        let middle = self.middle.y.min(-1e-3);
        let share =
            if y > middle { y / middle } else { (y + self.length) / (middle + self.length).max(1e-3) };
        DVec3::new(self.middle.x, 0.0, self.middle.z) * share.clamp(0.0, 1.0)
    }

    /// Into the limb's frame.
    pub fn in_limb(&self, p: DVec3) -> DVec3 {
        let q = self.world_from_limb.transpose() * (p - self.origin);
        q - self.bend(q.y)
    }

    /// Out of the limb's frame.
    pub fn in_world(&self, q: DVec3) -> DVec3 {
        self.origin + self.world_from_limb * (q + self.bend(q.y))
    }

    /// This limb with its shell replaced.
    pub fn with_shell(&self, shell: Shell) -> Self {
        Self { shell, ..self.clone() }
    }
}

/// The point at a share (−1 to 1) of the way from the outer to the inner side of a ring.
pub fn at_share_around(shell: &Shell, y: f64, share: f64) -> DVec3 {
    let line = shell.half_ring(y);
    let p = walk(&line, share.abs() * length(&line));
    DVec3::new(p.x * share.signum(), y, p.y)
}
