//! Sixty-four bits that tell one body, garment, fabric or clip from another, the same on every machine.

use crate::{Body, Fabric, Garment, Motion, PinTarget, Skeleton};
use glam::{Affine3A, Vec3};
use std::fmt;
use std::str::FromStr;

/// A digest of everything that makes an asset what it is; its name is not part of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(pub u64);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl FromStr for Fingerprint {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u64::from_str_radix(text, 16).map(Self)
    }
}

/// Sixteen hexadecimal digits: JavaScript has no integers of 64 bits.
#[cfg(feature = "io")]
impl serde::Serialize for Fingerprint {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

#[cfg(feature = "io")]
impl<'de> serde::Deserialize<'de> for Fingerprint {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(from)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// FNV-1a, 64 bits: the same on every machine, which the standard library's hasher does not promise.
#[derive(Clone, Copy, Debug)]
pub struct Ink(u64);

impl Default for Ink {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Ink {
    /// Adds bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
        self
    }

    /// Adds a count or an index.
    pub fn count(&mut self, n: usize) -> &mut Self {
        self.bytes(&(n as u64).to_le_bytes())
    }

    /// Adds a text with its length, so that `ab`, `c` is not `a`, `bc`.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.count(text.len()).bytes(text.as_bytes())
    }

    /// Adds numbers bit by bit.
    pub fn numbers(&mut self, numbers: &[f32]) -> &mut Self {
        for n in numbers {
            self.bytes(&n.to_le_bytes());
        }
        self
    }

    /// What has been added so far.
    pub fn print(&self) -> Fingerprint {
        Fingerprint(self.0)
    }

    fn points(&mut self, points: &[Vec3]) -> &mut Self {
        self.count(points.len());
        points.iter().for_each(|p| _ = self.numbers(&p.to_array()));
        self
    }

    fn triangles(&mut self, triangles: &[[u32; 3]]) -> &mut Self {
        self.count(triangles.len());
        triangles.iter().flatten().for_each(|v| _ = self.bytes(&v.to_le_bytes()));
        self
    }

    fn matrices(&mut self, matrices: &[Affine3A]) -> &mut Self {
        self.count(matrices.len());
        matrices.iter().for_each(|m| _ = self.numbers(&m.to_cols_array()));
        self
    }

    fn joints(&mut self, skeleton: &Skeleton) -> &mut Self {
        self.count(skeleton.len());
        for joint in &skeleton.joints {
            self.text(&joint.name).count(joint.parent.map_or(0, |p| p + 1));
        }
        self
    }
}

impl Body {
    /// Of its joints' names and tree, its bind pose, its surface and its weights.
    pub fn fingerprint(&self) -> Fingerprint {
        let mut ink = Ink::default();
        ink.joints(&self.skeleton).matrices(&self.joint_from_bind);
        ink.points(&self.mesh.positions).triangles(&self.mesh.triangles);
        for v in 0..self.mesh.positions.len() {
            for (joint, weight) in self.skin.row(v) {
                ink.count(usize::from(joint)).numbers(&[weight]);
            }
        }
        ink.print()
    }
}

impl Garment {
    /// Of what is simulated: the mesh where it was put, its flat cut and its pins.
    pub fn fingerprint(&self) -> Fingerprint {
        let mut ink = Ink::default();
        ink.points(&self.sim.positions).triangles(&self.sim.triangles);
        self.rest.iter().flatten().for_each(|p| _ = ink.numbers(&p.to_array()));
        for pin in &self.pins {
            match &pin.target {
                PinTarget::Space => ink.text("space"),
                PinTarget::Joint(name) => ink.text("joint").text(name),
                PinTarget::Body => ink.text("body"),
            };
            ink.count(pin.vertices.len());
            pin.vertices.iter().for_each(|v| _ = ink.count(*v as usize));
        }
        ink.print()
    }
}

impl Fabric {
    /// Of its values; where they come from is not part of it.
    pub fn fingerprint(&self) -> Fingerprint {
        let mut ink = Ink::default();
        for (name, value, ..) in self.values() {
            ink.text(name).bytes(&value.to_le_bytes());
        }
        ink.print()
    }
}

impl Motion {
    /// Of its rate and its poses.
    pub fn fingerprint(&self) -> Fingerprint {
        let mut ink = Ink::default();
        ink.joints(&self.skeleton).bytes(&self.fps.to_le_bytes()).count(self.poses.len());
        for local in self.poses.iter().flat_map(|p| &p.locals) {
            ink.numbers(&local.translation.to_array()).numbers(&local.rotation.to_array());
        }
        ink.print()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ink_is_fnv() {
        // Published test vector of FNV-1a.
        assert_eq!(Ink::default().bytes(b"foobar").print().to_string(), "85944171f73967e8");
        assert_eq!("85944171f73967e8".parse(), Ok(Fingerprint(0x8594_4171_f739_67e8)));
        assert_ne!(Ink::default().text("ab").text("c").print(), Ink::default().text("a").text("bc").print());
    }

    #[cfg(feature = "io")]
    #[test]
    fn what_makes_a_body_another_changes_its_fingerprint() {
        let body = crate::builtin::body("mannequin:female").unwrap();
        let print = body.fingerprint();
        assert_eq!(body.clone().fingerprint(), print);
        let renamed = Body { name: "someone".into(), ..body.clone() };
        assert_eq!(renamed.fingerprint(), print, "a file may be called anything");
        let mut joint = body.clone();
        joint.skeleton.joints[3].name.push('x');
        let mut bind = body.clone();
        bind.joint_from_bind[2].translation.x += 1e-4;
        let mut skin = body.clone();
        skin.mesh.positions[10].y += 1e-4;
        for other in [joint, bind, skin, crate::builtin::body("mannequin:male").unwrap()] {
            assert_ne!(other.fingerprint(), print);
        }
        let walk = crate::builtin::motion("walk", &body.skeleton).unwrap();
        let slower = crate::builtin::motion("walk:0.9", &body.skeleton).unwrap();
        assert_ne!(walk.fingerprint(), slower.fingerprint());
    }
}
