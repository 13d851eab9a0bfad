//! The body in segments, one a part of the human (their §4.1), and where garment vertices lie on them.

use crate::{Attachment, Body, ClosestPoint, Error, Result, Role, TriangleTree};
use glam::Vec3;

/// A piece of the skin that moves with one part of the body.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// Which part.
    pub role: Role,
    /// The joint it is attached to.
    pub joint: usize,
    /// Triangles whose corners together lean most on that joint and those below it without a part of their own.
    pub triangles: Vec<u32>,
    /// Their vertices; those on a border are in both segments.
    pub vertices: Vec<u32>,
}

/// Parts of the body that cloth is told apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Region {
    Trunk,
    Head,
    /// 0 left, 1 right.
    Arm(usize),
    Leg(usize),
}

pub(super) fn region(role: Role) -> Region {
    use Role::*;
    match role {
        Hips | Spine | Chest | UpperChest | Neck | LeftShoulder | RightShoulder => Region::Trunk,
        Head => Region::Head,
        LeftUpperArm | LeftLowerArm | LeftHand => Region::Arm(0),
        RightUpperArm | RightLowerArm | RightHand => Region::Arm(1),
        LeftUpperLeg | LeftLowerLeg | LeftFoot | LeftToes => Region::Leg(0),
        RightUpperLeg | RightLowerLeg | RightFoot | RightToes => Region::Leg(1),
    }
}

/// The roles that layers cannot do without.
const NEEDED: [Role; 9] = {
    use Role::*;
    [
        Hips,
        LeftUpperArm,
        LeftLowerArm,
        RightUpperArm,
        RightLowerArm,
        LeftUpperLeg,
        LeftLowerLeg,
        RightUpperLeg,
        RightLowerLeg,
    ]
};

/// Least height of the shoulders over the hips, as a share of the way between them.
const UPRIGHT: f32 = 0.5;

/// A body as layers see it.
pub(super) struct Anatomy<'a> {
    pub body: &'a Body,
    /// Part that each joint belongs to: its own, or that of the nearest joint above it.
    pub role_of_joint: Vec<Role>,
    joints: Vec<(Role, usize)>,
    /// Where joints are in the bind pose.
    pub at: Vec<Vec3>,
    pub normals: Vec<Vec3>,
    pub height_m: f32,
}

impl<'a> Anatomy<'a> {
    pub fn of(body: &'a Body) -> Result<Self> {
        let humanoid = body.humanoid();
        let missing: Vec<String> = NEEDED
            .into_iter()
            .filter(|role| humanoid.joint(*role).is_none())
            .map(|role| format!("{role:?}"))
            .collect();
        if !missing.is_empty() {
            return Err(Error::Invalid(format!(
                "body `{}` has no recognisable {}, which cloth in layers hangs on; name its joints as Mixamo, VRM, \
                 Unreal or MakeHuman do (`toile inspect` shows which joint was taken for what)",
                body.name,
                missing.join(", ")
            )));
        }
        let (lo, hi) = body.mesh.bounds();
        let mut role_of_joint = vec![Role::Hips; body.skeleton.len()];
        for (j, joint) in body.skeleton.joints.iter().enumerate() {
            let own = humanoid.joints.iter().find(|(_, at)| *at == j).map(|(role, _)| *role);
            role_of_joint[j] = own.unwrap_or_else(|| joint.parent.map_or(Role::Hips, |p| role_of_joint[p]));
        }
        let anatomy = Self {
            body,
            role_of_joint,
            joints: humanoid.joints.clone(),
            at: body.joint_from_bind.iter().map(|m| m.inverse().translation.into()).collect(),
            normals: body.mesh.normals(),
            height_m: (hi.y - lo.y).max(0.01),
        };
        anatomy.check_upright()?;
        Ok(anatomy)
    }

    /// Refuses bodies whose trunk does not stand: animals, and people who lie in their bind pose.
    fn check_upright(&self) -> Result<()> {
        use Role::*;
        let middle = |pair: [Role; 2]| pair.iter().filter_map(|r| self.place(*r)).sum::<Vec3>() / 2.0;
        let trunk = middle([LeftUpperArm, RightUpperArm]) - middle([LeftUpperLeg, RightUpperLeg]);
        if trunk.y >= UPRIGHT * trunk.length() {
            return Ok(());
        }
        Err(Error::Invalid(format!(
            "body `{}` does not stand in its bind pose: its shoulders are {:.2} m above its hips and {:.2} m away from \
             them; layers are those of clothes on an upright trunk, so bind it standing, +Y up",
            self.body.name,
            trunk.y,
            trunk.length()
        )))
    }

    pub fn joint(&self, role: Role) -> Option<usize> {
        self.joints.iter().find(|(r, _)| *r == role).map(|(_, j)| *j)
    }

    /// Where a part's joint is in the bind pose.
    pub fn place(&self, role: Role) -> Option<Vec3> {
        self.joint(role).map(|j| self.at[j])
    }

    /// The part that a triangle of the skin leans on most.
    pub fn role_of_triangle(&self, t: usize) -> Role {
        let mut sums: [f32; Role::ALL.len()] = [0.0; Role::ALL.len()];
        for &v in &self.body.mesh.triangles[t] {
            for (j, w) in self.body.skin.row(v as usize) {
                sums[self.role_of_joint[j as usize] as usize] += w;
            }
        }
        let most = (0..sums.len()).max_by(|a, b| sums[*a].total_cmp(&sums[*b])).unwrap_or(0);
        Role::ALL[most]
    }

    /// How much of an attachment's row belongs to limbs.
    pub fn limb_share(&self, attachment: &Attachment, v: usize) -> f32 {
        let limb = |j: u16| matches!(region(self.role_of_joint[j as usize]), Region::Arm(_) | Region::Leg(_));
        attachment.skin.row(v).filter(|(j, _)| limb(*j)).map(|(_, w)| w).sum()
    }

    /// Unit vector along the limbs that a row of an attachment follows; `None` where it follows none.
    pub fn limb_axis(&self, attachment: &Attachment, v: usize) -> Option<Vec3> {
        let mut sum = Vec3::ZERO;
        for (j, w) in attachment.skin.row(v) {
            if let Some(axis) = self.axis(self.role_of_joint[j as usize]) {
                sum += w * axis;
            }
        }
        (sum.length() > 1e-3).then(|| sum.normalize())
    }

    /// From a limb's joint to the next; hands and feet go on as the limb above them.
    fn axis(&self, role: Role) -> Option<Vec3> {
        use Role::*;
        let (from, to) = match role {
            LeftUpperArm => (LeftUpperArm, LeftLowerArm),
            RightUpperArm => (RightUpperArm, RightLowerArm),
            LeftLowerArm | LeftHand => (LeftLowerArm, LeftHand),
            RightLowerArm | RightHand => (RightLowerArm, RightHand),
            LeftUpperLeg => (LeftUpperLeg, LeftLowerLeg),
            RightUpperLeg => (RightUpperLeg, RightLowerLeg),
            LeftLowerLeg | LeftFoot | LeftToes => (LeftLowerLeg, LeftFoot),
            RightLowerLeg | RightFoot | RightToes => (RightLowerLeg, RightFoot),
            _ => return None,
        };
        let from = self.place(from)?;
        // Hands and feet may have no joint: then the limb goes on as it came.
        let to = self.place(to).or_else(|| {
            let parent = self.body.skeleton.joints[self.joint(role)?].parent?;
            Some(from + (from - self.at[parent]))
        })?;
        (to - from).try_normalize()
    }
}

/// The body in segments.
pub fn segments(body: &Body) -> Result<Vec<Segment>> {
    let anatomy = Anatomy::of(body)?;
    let mut segments: Vec<Segment> = anatomy
        .joints
        .iter()
        .map(|&(role, joint)| Segment { role, joint, triangles: Vec::new(), vertices: Vec::new() })
        .collect();
    for t in 0..body.mesh.triangles.len() {
        let role = anatomy.role_of_triangle(t);
        if let Some(segment) = segments.iter_mut().find(|s| s.role == role) {
            segment.triangles.push(t as u32);
            segment.vertices.extend(body.mesh.triangles[t]);
        }
    }
    for segment in &mut segments {
        segment.vertices.sort_unstable();
        segment.vertices.dedup();
    }
    segments.retain(|s| !s.triangles.is_empty());
    Ok(segments)
}

/// Where a garment vertex lies over the skin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Over {
    pub role: Role,
    pub normal: Vec3,
    /// Distance above the skin, negative below it, m.
    pub gap_m: f32,
}

/// For each garment vertex the skin of the part that it follows.
pub(super) fn over(anatomy: &Anatomy<'_>, attachment: &Attachment) -> Vec<Over> {
    let regions =
        [Region::Trunk, Region::Head, Region::Arm(0), Region::Arm(1), Region::Leg(0), Region::Leg(1)];
    let mesh = &anatomy.body.mesh;
    let roles: Vec<Role> = (0..mesh.triangles.len()).map(|t| anatomy.role_of_triangle(t)).collect();
    let skins: Vec<Vec<[u32; 3]>> = regions
        .iter()
        .map(|r| {
            let own = |&(_, role): &(&[u32; 3], &Role)| region(*role) == *r;
            mesh.triangles.iter().zip(&roles).filter(own).map(|(t, _)| *t).collect()
        })
        .collect();
    let trees: Vec<TriangleTree> = skins.iter().map(|t| TriangleTree::new(&mesh.positions, t)).collect();
    let whole = TriangleTree::new(&mesh.positions, &mesh.triangles);
    let rows = 0..attachment.rest.len();
    rows.map(|v| {
        let p = attachment.rest[v];
        let mut sums: [f32; Role::ALL.len()] = [0.0; Role::ALL.len()];
        for (j, w) in attachment.skin.row(v) {
            sums[anatomy.role_of_joint[j as usize] as usize] += w;
        }
        let most = (0..sums.len()).max_by(|a, b| sums[*a].total_cmp(&sums[*b])).unwrap_or(0);
        let role = Role::ALL[most];
        let own = regions.iter().position(|r| *r == region(role)).unwrap_or(0);
        // The nearest skin of the part it follows; where another part is nearer by far, that one, which a sleeve near
        // the trunk needs not.
        let near = trees[own]
            .closest(p)
            .map(|n| (n, skins[own][n.triangle as usize]))
            .or_else(|| whole.closest(p).map(|n| (n, mesh.triangles[n.triangle as usize])));
        let Some((near, corners)) = near else { return Over { role, normal: Vec3::Y, gap_m: f32::MAX } };
        let smooth = |near: &ClosestPoint, corners: [u32; 3]| {
            let normals = corners.iter().zip(near.barycentric).map(|(c, b)| anatomy.normals[*c as usize] * b);
            normals.sum::<Vec3>().normalize_or(Vec3::Y)
        };
        let normal = smooth(&near, corners);
        // Behind the rim of its own part a skirt is still outside of the body: inside is where the nearest skin says so, too.
        let mut inside = (p - near.point).dot(normal) < 0.0;
        if let (true, Some(any)) = (inside, whole.closest(p)) {
            let normal = smooth(&any, mesh.triangles[any.triangle as usize]);
            inside = (p - any.point).dot(normal) < 0.0;
        }
        let sign = if inside { -1.0 } else { 1.0 };
        Over { role, normal, gap_m: sign * near.distance_m }
    })
    .collect()
}
