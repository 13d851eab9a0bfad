//! The wearer on the tailor's stand: at rest, facing +Z, middle at x = 0, soles at y = 0, and of an adult's size.
//!
//! Everything is measured and cut there, where a centimetre of ease is a centimetre on a person, and taken
//! down again to where and as large as the character is.

use crate::{Body, Error, Facing, Garment, Humanoid, Result, Role};
use glam::{Affine3A, DVec2, DVec3};

/// Between shoulder and hip joint of the grown-up whom ease and clearances are meant for, m.
const SPINE: f64 = 0.44;
/// From the middle to the shoulder joint of the same person, m.
const SHOULDER: f64 = 0.16;
/// Sizes up to this share away from an adult's are cut as they are: people differ by that much.
const LIKE_ADULT: f64 = 0.2;
/// Turns (rad) and offsets (m) below these are how a character stands, not where it was put.
const STANDS_STRAIGHT: f64 = 0.06;
const STANDS_HERE: f64 = 0.01;

/// A body as it is measured.
pub struct Stand<'a> {
    /// Who is measured.
    pub body: &'a Body,
    /// The skin at rest.
    pub positions: Vec<DVec3>,
    /// Which joint is which.
    pub roles: Humanoid,
    joints: Vec<DVec3>,
    swapped: bool,
    /// Metres of the world a metre on the stand is.
    scale: f64,
    /// How far the character is turned from +Z, as the rotation that takes (x, z) = (1, 0) to where it goes.
    turn: DVec2,
    /// Where in the world the foot of the stand is.
    foot: DVec3,
}

impl<'a> Stand<'a> {
    /// Puts a body on the stand.
    pub fn of(body: &'a Body) -> Result<Self> {
        let pose = body.skeleton.rest_pose();
        let world = body.skeleton.world_from_joints(&pose);
        let bones = body.bones(&pose);
        // Bound as it rests: then skinning would only round.
        let still = bones.iter().all(|b| b.abs_diff_eq(Affine3A::IDENTITY, 1e-5));
        let skin = if still { body.mesh.positions.clone() } else { body.skinned_positions(&bones) };
        let mut stand = Self {
            body,
            positions: skin.iter().map(|p| p.as_dvec3()).collect(),
            roles: body.humanoid(),
            joints: world.iter().map(|m| m.translation.as_dvec3()).collect(),
            swapped: false,
            scale: 1.0,
            turn: DVec2::X,
            foot: DVec3::ZERO,
        };
        use Role::*;
        for role in [LeftUpperArm, RightUpperArm, LeftUpperLeg, RightUpperLeg] {
            stand.joint(role)?;
        }
        let facing = Facing::of(body)
            .ok_or_else(|| stand.refused("its left and right joints lie on one spot, so it has no front"))?;
        let heading = f64::from(facing.heading);
        stand.swapped = facing.sides_swapped;
        if heading.abs() > STANDS_STRAIGHT {
            stand.turn = DVec2::from_angle(heading);
        }
        let middle = |a: Role, b: Role| Ok::<_, Error>(0.5 * (stand.joint(a)? + stand.joint(b)?));
        let (hips, shoulders) = (middle(LeftUpperLeg, RightUpperLeg)?, middle(LeftUpperArm, RightUpperArm)?);
        let floor = stand.positions.iter().fold(f64::INFINITY, |y, p| y.min(p.y));
        let centre = 0.5 * (hips + shoulders);
        let near = |x: f64| if x.abs() < STANDS_HERE { 0.0 } else { x };
        let turned = stand.turn != DVec2::X;
        stand.foot = DVec3::new(near(centre.x), near(floor), if turned { near(centre.z) } else { 0.0 });
        let spine = shoulders.y - hips.y;
        let breadth = 0.5 * stand.joint(LeftUpperArm)?.distance(stand.joint(RightUpperArm)?);
        if !(spine > 0.0 && breadth > 0.0) {
            return Err(stand.refused(&format!(
                "its shoulder joints are {spine:.3} m above its hip joints and {:.3} m apart",
                2.0 * breadth
            )));
        }
        let size = ((spine / SPINE) * (breadth / SHOULDER)).sqrt();
        if (size - 1.0).abs() > LIKE_ADULT {
            stand.scale = size;
        }
        let placed = stand.positions.iter().map(|p| stand.put_up(*p)).collect();
        let joints = stand.joints.iter().map(|p| stand.put_up(*p)).collect();
        (stand.positions, stand.joints) = (placed, joints);
        Ok(stand)
    }

    /// The error for a body that cannot be dressed.
    pub fn refused(&self, what: &str) -> Error {
        let size = match self.scale {
            1.0 => String::new(),
            s => format!("; lengths are those of an adult, the character's are {s:.2} of them"),
        };
        Error::Invalid(format!("no garment can be cut for body `{}`: {what}{size}", self.body.name))
    }

    /// Where the joint of a role is; left is the side towards +X.
    pub fn joint(&self, role: Role) -> Result<DVec3> {
        self.index(role).map(|j| self.joints[j])
    }

    /// The joint of a role; left is the side towards +X.
    pub fn index(&self, role: Role) -> Result<usize> {
        let named = if self.swapped { role.other_side() } else { role };
        self.roles.joint(named).ok_or_else(|| {
            self.refused(&format!(
                "no joint is its {role:?} (`toile inspect` lists which joint was taken for what)"
            ))
        })
    }

    /// The left joint of a pair and the right one seen in a mirror, in the middle between them.
    pub fn mean(&self, left: Role, right: Role) -> Result<DVec3> {
        Ok(0.5 * (self.joint(left)? + self.joint(right)? * DVec3::new(-1.0, 1.0, 1.0)))
    }

    /// For every vertex, how much it follows these joints and what hangs on them.
    pub fn share(&self, roots: &[usize]) -> Vec<f32> {
        let skeleton = &self.body.skeleton;
        let mut of = vec![false; skeleton.len()];
        for (j, joint) in skeleton.joints.iter().enumerate() {
            of[j] = roots.contains(&j) || joint.parent.is_some_and(|p| of[p]);
        }
        let skin = &self.body.skin;
        let row = |v: usize| skin.row(v).filter(|&(j, _)| of[j as usize]).map(|(_, w)| w).sum();
        (0..skin.len()).map(row).collect()
    }

    /// Metres of the world a metre on the stand is.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    fn put_up(&self, p: DVec3) -> DVec3 {
        let q = (p - self.foot) / self.scale;
        let flat = self.turn.rotate(DVec2::new(q.x, q.z));
        DVec3::new(flat.x, q.y, flat.y)
    }

    /// Carries a finished garment from the stand to the character.
    pub fn take_down(&self, garment: &mut Garment) {
        if self.scale == 1.0 && self.turn == DVec2::X && self.foot == DVec3::ZERO {
            return;
        }
        let back = DVec2::new(self.turn.x, -self.turn.y);
        for p in garment.sim.positions.iter_mut().chain(&mut garment.render.positions) {
            let q = p.as_dvec3();
            let flat = back.rotate(DVec2::new(q.x, q.z));
            *p = (DVec3::new(flat.x, q.y, flat.y) * self.scale + self.foot).as_vec3();
        }
        let scale = self.scale as f32;
        garment.rest.iter_mut().flatten().chain(&mut garment.render.uvs).for_each(|p| *p *= scale);
        garment.seams.iter_mut().for_each(|s| s.lengths = s.lengths.map(|l| l * scale));
    }
}
