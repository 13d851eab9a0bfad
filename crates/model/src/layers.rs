//! A garment taken apart into layers (Cordier and Magnenat-Thalmann 2002): what the tier `layered` steps.
//!
//! Everything here is fixed and made beforehand, from the garment as it hangs on the bind pose. Three layers: cloth
//! that sticks to the skin, cloth that keeps near it (each vertex on a disc across its limb; around the trunk a lattice
//! of 42 nodes), and cloth that floats (masses and springs). All are said as what is added to one shared attachment.

use crate::{Attachment, Skin};
use glam::{Vec3, Vec3A};

/// How a vertex moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layer {
    /// Layer 1: keeps its place on the skin.
    Stretch,
    /// Layer 2: moves near the skin point that it always covers.
    Loose,
    /// Layer 3: hangs free and may meet any part of the legs.
    Floating,
}

impl Layer {
    /// `stretch`, `loose` or `floating`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stretch => "stretch",
            Self::Loose => "loose",
            Self::Floating => "floating",
        }
    }
}

/// A garment in layers.
#[derive(Clone, Debug, PartialEq)]
pub struct Layers {
    /// Layer 1, and what the others are added to.
    pub attachment: Attachment,
    /// The layer of each vertex.
    pub layer: Vec<Layer>,
    /// Vertices of layer 1 that follow a single joint and no other layer: `(joint, vertices)`. An engine can draw them
    /// under the joint's own transform; a step does not touch them.
    pub rigid: Vec<(u16, Vec<u32>)>,
    /// Vertices that are neither rigid nor floating.
    pub kinematic: Vec<u32>,
    /// Layer 2 on limbs.
    pub discs: Vec<Disc>,
    /// Layer 2 on the trunk.
    pub trunk: Option<Trunk>,
    /// Sleeves and trouser legs that slide along their limbs.
    pub tubes: Vec<Tube>,
    /// How each vertex goes with them; empty where there are no tubes.
    pub rides: Vec<Ride>,
    /// Layer 3.
    pub floating: Option<Floating>,
    /// Joints of the wearer: what a pose must have.
    pub joints: usize,
    /// Joint of the hips, and where it is in the bind pose: a jump of it is a teleport.
    pub hips: (u16, Vec3),
    /// Height of the wearer, m: what lengths are measured by.
    pub height_m: f32,
}

/// A vertex that moves on a disc across its limb (their §6.1), in the bind pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disc {
    /// The vertex.
    pub vertex: u32,
    /// Of the skin below it.
    pub normal: Vec3,
    /// Unit vector along the limb: the disc lies across it.
    pub axis: Vec3,
    /// How far the cloth hangs below the limb at most: `a(cosh(r/a) − 1) − r`, m.
    pub drop_m: f32,
    /// How much of the vertex belongs to the disc; the rest is its neighbours' layer.
    pub share: f32,
    /// Where on its disc the vertex is at rest, from the centre, m.
    pub settled: Vec3,
}

/// How far apart a limb of radius `r` and cloth that hangs from its sides as a catenary of parameter `a` are at the
/// lowest point: `a(cosh(r/a) − 1) − r`. `None` where the catenary does not clear the limb.
pub fn catenary_drop(r: f32, a: f32) -> Option<f32> {
    let drop = a * ((r / a).cosh() - 1.0) - r;
    (a > 0.0 && drop > 0.0 && drop.is_finite()).then_some(drop)
}

/// The catenary's parameter for cloth that hangs `drop_m` below a limb of radius `r`: the inverse of
/// [`catenary_drop`].
pub fn catenary_parameter(r: f32, drop_m: f32) -> Option<f32> {
    if !(r > 0.0 && drop_m > 0.0 && drop_m < 20.0 * r) {
        return None;
    }
    // The drop falls as `a` grows: from beyond 20 r at r/6 to 0 where cosh(u) − 1 = u, at u = 1.6161….
    let (mut low, mut high) = (r / 6.5, r / 1.6162);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        match catenary_drop(r, middle) {
            Some(drop) if drop > drop_m => low = middle,
            _ => high = middle,
        }
    }
    Some(0.5 * (low + high))
}

impl Disc {
    /// Radius of the disc, and where on it the vertex comes to rest: [`hang`].
    pub fn hang(&self, acceleration: Vec3) -> (f32, Vec3) {
        let (radius, at) = hang(acceleration.into(), self.normal.into(), self.axis.into(), self.drop_m);
        (radius, at.into())
    }
}

/// Radius of a disc across `axis` over skin of that `normal`, and where on it a vertex comes to rest, for an applied
/// acceleration (gravity less the skin point's own) given in the bind pose, m/s². Their P(x) of Figure 3 with
/// `x/r = sin θ`: largest where the skin faces along the acceleration, nothing where it faces sideways or away.
#[inline(always)]
pub fn hang(acceleration: Vec3A, normal: Vec3A, axis: Vec3A, drop_m: f32) -> (f32, Vec3A) {
    let strength = acceleration.length();
    // A weightless sleeve has no side to hang to: below a fifth of gravity the disc closes.
    let facing = (acceleration.dot(normal) / (strength + 1e-3)).max(0.0) * (strength * 0.5).min(1.0);
    let radius = drop_m * facing * facing;
    // On an upright limb nothing points down within the disc; then the skin's normal is as good as any.
    let along = acceleration + 0.1 * strength * normal;
    let across = along - axis * axis.dot(along);
    let size = across.length();
    (radius, across * (radius / size.max(1e-12)))
}

/// A sleeve or trouser leg that slides along its limb. The paper holds it by friction; but a trouser leg does not grow
/// longer, so when the limb bends, the side that would have to pulls all of it up; and a shirt that was draped on spread
/// arms is held up by them, so when they come down, so does the shirt.
#[derive(Clone, Debug, PartialEq)]
pub struct Tube {
    /// For reports.
    pub name: String,
    /// Vertices down the tube, ring by ring, from where the cloth is held; some strings are shorter. Empty for sleeves.
    pub strings: Vec<Vec<u32>>,
    /// Vertices on top of the upper arm that carry the cloth at rest, and the joint of the trunk that their height is
    /// measured from. None for trouser legs.
    pub supports: Vec<u32>,
    /// See `supports`.
    pub trunk_joint: u16,
    /// How far the cloth is above the shoulders at rest, m: it falls no farther.
    pub slack_m: f32,
}

impl Tube {
    /// How many rings it has.
    pub fn rings(&self) -> usize {
        self.strings.iter().map(Vec::len).max().unwrap_or(0)
    }
}

/// How a vertex slides.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ride {
    /// The tubes it goes with, and how much with each.
    pub shares: [(u16, f32); 2],
    /// Between which rings it is.
    pub ring: f32,
    /// Along the cloth towards where it is held, in the bind pose.
    pub up: Vec3,
}

/// Nodes across, up and to the front of the lattice on the trunk.
pub const LATTICE: [usize; 3] = [3, 4, 3];
/// Nodes of that lattice.
pub const LATTICE_NODES: usize = 36;
/// Nodes at the shoulders.
pub const SHOULDER_NODES: usize = 6;

/// Layer 2 on the trunk (their §6.2): 36 nodes of a lattice and 6 at the shoulders.
#[derive(Clone, Debug, PartialEq)]
pub struct Trunk {
    /// Where the skeleton holds the nodes: the lattice with x fastest, then y, then z; then the shoulders.
    pub homes: Attachment,
    /// Half-spheres around the homes that nodes stay in: what side is open, and how far.
    pub outward: Vec<Vec3>,
    /// Radius of each half-sphere, m.
    pub reach_m: Vec<f32>,
    /// Mass of each node of the lattice, kg.
    pub mass: Vec<f32>,
    /// Between nodes.
    pub springs: Vec<Spring>,
    /// Vertices that the lattice deforms.
    pub followers: Vec<u32>,
    /// For each of them how much of every node it takes: Bernstein polynomials times its share of this layer.
    pub weights: Vec<[f32; LATTICE_NODES]>,
}

/// A spring between two particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// Its ends: free particles first, then those that are held.
    pub ends: [u32; 2],
    /// Length at rest, m.
    pub length_m: f32,
    /// N/m.
    pub stiffness: f32,
}

/// Layer 3 (their §7): masses and springs, held along their border by the other layers.
#[derive(Clone, Debug, PartialEq)]
pub struct Floating {
    /// Free vertices, ordered so that neighbours are near.
    pub free: Vec<u32>,
    /// Vertices of other layers that hold them.
    pub held: Vec<u32>,
    /// Mass of each free vertex, kg.
    pub mass: Vec<f32>,
    /// Along edges: they keep the cloth's size.
    pub edges: Vec<Spring>,
    /// Across edges: they keep folds soft.
    pub bends: Vec<Spring>,
    /// Acceleration that holds each free vertex where the drape has it against what its springs lack, in the axes of
    /// the hips, m/s².
    pub eased: Vec<Vec3>,
    /// Outer side of each free vertex in the bind pose: the side of a limb it comes out on.
    pub outward: Vec<Vec3>,
    /// What the cloth meets.
    pub limbs: Vec<LimbCylinder>,
}

/// Rings along a [`LimbCylinder`].
pub const LIMB_RINGS: usize = 9;
/// Radii around each of its rings.
pub const LIMB_SIDES: usize = 16;

/// A part of the body that floating cloth meets: a cylinder whose radius is measured around and along it, fixed to one
/// joint and given in the bind pose.
#[derive(Clone, Debug, PartialEq)]
pub struct LimbCylinder {
    /// For reports.
    pub name: String,
    /// What it moves with.
    pub joint: u16,
    /// Start of its axis.
    pub from: Vec3,
    /// End of its axis.
    pub to: Vec3,
    /// Unit vector across the axis from which sides are counted.
    pub side: Vec3,
    /// Radii in m, ring by ring.
    pub radii: Vec<[f32; LIMB_SIDES]>,
    /// Whether it ends in half-spheres, as limbs at their joints; the trunk is cut off.
    pub round: bool,
    /// Free vertices that can reach it.
    pub candidates: Vec<u32>,
}

impl LimbCylinder {
    /// The radius in the direction `(along, x, y)`: share of the axis, and the two coordinates across it.
    pub fn radius(&self, along: f32, x: f32, y: f32) -> f32 {
        let size = x.abs() + y.abs();
        // The angle that costs no arc tangent: it goes evenly around a square instead of a circle.
        let quarter = if size > 1e-12 { y.abs() / size } else { 0.0 };
        let angle = match (x >= 0.0, y >= 0.0) {
            (true, true) => quarter,
            (false, true) => 2.0 - quarter,
            (false, false) => 2.0 + quarter,
            (true, false) => 4.0 - quarter,
        };
        let (ring, side) =
            (along.clamp(0.0, 1.0) * (LIMB_RINGS - 1) as f32, angle * (LIMB_SIDES as f32 / 4.0));
        let (r, s) = ((ring as usize).min(LIMB_RINGS - 2), side as usize % LIMB_SIDES);
        let (u, v) = (ring - r as f32, (side - side.floor()).clamp(0.0, 1.0));
        let at = |r: usize| {
            let row = &self.radii[r];
            row[s] + (row[(s + 1) % LIMB_SIDES] - row[s]) * v
        };
        at(r) + (at(r + 1) - at(r)) * u
    }

    /// Direction in the plane across the axis that belongs to a column of `radii`.
    pub fn direction(side: usize) -> (f32, f32) {
        let angle = 4.0 * side as f32 / LIMB_SIDES as f32;
        let t = angle.fract();
        let (x, y) = match angle as usize {
            0 => (1.0 - t, t),
            1 => (-t, 1.0 - t),
            2 => (t - 1.0, -t),
            _ => (t, t - 1.0),
        };
        let length = (x * x + y * y).sqrt();
        (x / length, y / length)
    }
}

impl Layers {
    /// How many vertices are in a layer.
    pub fn count(&self, layer: Layer) -> usize {
        self.layer.iter().filter(|l| **l == layer).count()
    }

    /// Bytes of what is fixed, about.
    pub fn bytes(&self) -> usize {
        let skin = |skin: &Skin| (0..skin.len()).map(|v| skin.row(v).count()).sum::<usize>() * 6;
        let trunk = self.trunk.as_ref().map_or(0, |t| t.followers.len() * (4 + 4 * LATTICE_NODES));
        let floating = self.floating.as_ref().map_or(0, |f| {
            16 * (f.edges.len() + f.bends.len())
                + 24 * f.free.len()
                + f.limbs.iter().map(|l| 4 * (l.candidates.len() + LIMB_RINGS * LIMB_SIDES)).sum::<usize>()
        });
        12 * self.attachment.rest.len()
            + skin(&self.attachment.skin)
            + self.discs.len() * size_of::<Disc>()
            + trunk
            + floating
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catenary_and_its_parameter_are_inverse_and_tight_ones_are_refused() {
        for (r, drop) in [(0.04, 0.002), (0.05, 0.03), (0.09, 0.12)] {
            let a = catenary_parameter(r, drop).unwrap();
            let back = catenary_drop(r, a).unwrap();
            assert!((back - drop).abs() < 1e-4 * r.max(drop) + 1e-5, "{r} {drop}: {a} gives {back}");
        }
        assert_eq!(catenary_drop(0.05, 0.05), None, "cloth that would cut through the limb");
        assert_eq!(catenary_parameter(0.05, -0.01), None);
    }

    #[test]
    fn a_disc_opens_below_the_limb_and_is_shut_above_it() {
        let disc =
            |normal| Disc { vertex: 0, normal, axis: Vec3::X, drop_m: 0.03, share: 1.0, settled: Vec3::ZERO };
        let gravity = Vec3::new(0.0, -9.81, 0.0);
        let (radius, rest) = disc(Vec3::NEG_Y).hang(gravity);
        assert!((radius - 0.03).abs() < 1e-4 && rest.distance(Vec3::new(0.0, -0.03, 0.0)) < 1e-4);
        assert_eq!(disc(Vec3::Y).hang(gravity).0, 0.0);
        assert!(disc(Vec3::Z).hang(gravity).0 < 1e-9);
        // Upright limb: finite, and across the axis.
        let upright = Disc { axis: Vec3::Y, ..disc(Vec3::Z) };
        let (_, rest) = upright.hang(gravity + Vec3::Z * 0.5);
        assert!(rest.is_finite() && rest.y.abs() < 1e-6);
        assert_eq!(disc(Vec3::NEG_Y).hang(Vec3::ZERO).0, 0.0, "weightless");
    }

    #[test]
    fn a_limb_has_the_radius_it_was_given_in_every_direction() {
        let mut limb = LimbCylinder {
            name: "shin".into(),
            joint: 0,
            from: Vec3::ZERO,
            to: Vec3::Y,
            side: Vec3::X,
            radii: vec![[0.0; LIMB_SIDES]; LIMB_RINGS],
            round: true,
            candidates: vec![],
        };
        for (r, row) in limb.radii.iter_mut().enumerate() {
            for (s, radius) in row.iter_mut().enumerate() {
                *radius = 0.1 + 0.01 * r as f32 + 0.001 * s as f32;
            }
        }
        for s in 0..LIMB_SIDES {
            let (x, y) = LimbCylinder::direction(s);
            assert!((limb.radius(0.5, x, y) - (0.14 + 0.001 * s as f32)).abs() < 1e-5, "{s}");
        }
        assert!(limb.radius(0.3, 0.0, 0.0).is_finite());
    }
}
