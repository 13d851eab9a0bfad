//! Which joint lies across from which, by name and by where they are bound.

use super::flip;
use glam::Vec3;
use toile_assets::{Body, other_side};

/// How far a joint may be from the mirror image of its partner, as a share of the body's height: 4 cm of a grown person.
/// Skinning cares little where a joint is, and riggers place them by eye.
const TOLERANCE: f32 = 0.025;

/// Joints and the plane between them.
pub(super) struct Pairs {
    /// Per joint the one whose movement it has in the mirror.
    pub partner: Vec<usize>,
    pub plane_x: f32,
}

/// Finds the pairs. A joint on which the garment hangs (`worn`) needs a partner, or to be its own in the middle; any
/// other joint without one, such as a finger too many, moves with its parent.
pub(super) fn pair(body: &Body, worn: &[bool]) -> Result<Pairs, String> {
    let at: Vec<Vec3> = body.joint_from_bind.iter().map(|m| m.inverse().translation.into()).collect();
    let joints = &body.skeleton.joints;
    let (lo, hi) = body.mesh.bounds();
    let tolerance = TOLERANCE * (hi.y - lo.y);

    let find = |j: usize| other_side(&joints[j].name).iter().find_map(|name| body.skeleton.find(name));
    let named: Vec<Option<usize>> = (0..at.len()).map(find).collect();
    let named: Vec<Option<usize>> =
        (0..at.len()).map(|j| named[j].filter(|&k| k != j && named[k] == Some(j))).collect();
    let plane_x = plane(&at, &named).unwrap_or(0.5 * (lo.x + hi.x));
    let off = |j: usize, k: usize| at[k].distance(flip(at[j], plane_x));

    let mut partner: Vec<Option<usize>> = Vec::with_capacity(at.len());
    for j in 0..at.len() {
        if let Some(k) = named[j] {
            partner.push(Some(k).filter(|&k| off(j, k) <= tolerance));
            continue;
        }
        // Parents come first, so of joints in one place the one whose parent fits is taken; a joint of the middle is its
        // own partner unless another is clearly nearer, and twins in one place keep their order.
        let above = joints[j].parent.map(|p| partner[p]);
        let fits = |k: &usize| {
            named[*k].is_none() && off(j, *k) <= tolerance && joints[*k].parent.map(Some) == above
        };
        let nearest = (0..at.len()).filter(fits).min_by(|&a, &b| off(j, a).total_cmp(&off(j, b)));
        let itself = fits(&j) && nearest.is_none_or(|k| off(j, j) <= off(j, k) + 1e-3 * tolerance);
        partner.push(if itself { Some(j) } else { nearest });
    }
    let mutual: Vec<Option<usize>> =
        (0..at.len()).map(|j| partner[j].filter(|&k| partner[k] == Some(j))).collect();

    let mut followed: Vec<usize> = Vec::with_capacity(at.len());
    for j in 0..at.len() {
        if mutual[j].is_none() && worn[j] {
            let name = &joints[j].name;
            return Err(match named[j] {
                Some(k) => format!(
                    "joint `{name}`, on which the garment hangs, is {:.1} cm from the mirror image of `{}`",
                    100.0 * off(j, k),
                    joints[k].name
                ),
                None => format!("joint `{name}`, on which the garment hangs, has none across from it"),
            });
        }
        let with_parent = || joints[j].parent.map_or(j, |p| followed[p]);
        followed.push(mutual[j].unwrap_or_else(with_parent));
    }
    Ok(Pairs { partner: followed, plane_x })
}

/// The plane half-way between joints that are named a pair: the middle one of what all pairs say.
fn plane(at: &[Vec3], named: &[Option<usize>]) -> Option<f32> {
    let pairs = named.iter().enumerate().filter_map(|(j, k)| k.map(|k| 0.5 * (at[j].x + at[k].x)));
    let mut middles: Vec<f32> = pairs.collect();
    middles.sort_by(f32::total_cmp);
    middles.get(middles.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_assets::{Joint, Mesh, Skeleton, Skin, Transform};

    /// A rig of joints (name, parent, place) in a box-shaped body 1.7 m tall.
    fn body(rows: &[(&str, Option<usize>, [f32; 3])]) -> Body {
        let place = |j: usize| Vec3::from(rows[j].2);
        let joint = |(j, row): (usize, &(&str, Option<usize>, [f32; 3]))| Joint {
            name: row.0.into(),
            parent: row.1,
            rest: Transform::from_translation(row.1.map_or(place(j), |p| place(j) - place(p))),
        };
        let joints: Vec<Joint> = rows.iter().enumerate().map(joint).collect();
        let positions = vec![Vec3::new(-0.3, 0.0, 0.0), Vec3::new(0.3, 0.0, 0.0), Vec3::new(0.0, 1.7, 0.0)];
        let mesh = Mesh { positions, triangles: vec![[0, 1, 2]], uvs: vec![] };
        let skin = Skin::from_rows(vec![vec![(0u16, 1.0f32)]; 3]).unwrap();
        Body::bound_at_rest("rig", Skeleton::new(joints).unwrap(), mesh, skin).unwrap()
    }

    /// Hips, a spine a little beside the middle, two legs placed by eye, and a thumb that only the left hand has.
    fn rig(names: [&str; 7]) -> Body {
        body(&[
            (names[0], None, [0.002, 1.0, 0.0]),
            (names[1], Some(0), [0.006, 1.2, 0.0]),
            (names[2], Some(0), [0.10, 0.95, 0.0]),
            (names[3], Some(0), [-0.09, 0.94, 0.01]),
            (names[4], Some(1), [0.5, 1.3, 0.0]),
            (names[5], Some(1), [-0.5, 1.3, 0.0]),
            (names[6], Some(4), [0.55, 1.3, 0.04]),
        ])
    }

    #[test]
    fn names_of_every_convention_and_none_are_paired() {
        let conventions = [
            ["Hips", "Spine", "LeftUpLeg", "RightUpLeg", "LeftHand", "RightHand", "LThumb"],
            [
                "mixamorig:Hips",
                "mixamorig:Spine",
                "mixamorig:LeftUpLeg",
                "mixamorig:RightUpLeg",
                "mixamorig:LeftHand",
                "mixamorig:RightHand",
                "mixamorig:LeftHandThumb1",
            ],
            ["pelvis", "spine_01", "thigh_l", "thigh_r", "hand_l", "hand_r", "thumb_01_l"],
            ["hips", "spine", "thigh.L", "thigh.R", "hand.L", "hand.R", "thumb.01.L"],
            ["a", "b", "c", "d", "e", "f", "g"],
        ];
        for names in conventions {
            let body = rig(names);
            let pairs = pair(&body, &[true, true, true, true, true, true, false]).unwrap();
            assert_eq!(pairs.partner[..6], [0, 1, 3, 2, 5, 4], "{names:?}");
            // The thumb moves with the hand it hangs on, as the other hand does.
            assert_eq!(pairs.partner[6], 5, "{names:?}");
        }
    }

    #[test]
    fn a_joint_the_garment_hangs_on_needs_its_partner() {
        let body = rig(["Hips", "Spine", "LeftUpLeg", "RightUpLeg", "LeftHand", "RightHand", "LThumb"]);
        let gloved = pair(&body, &[true; 7]).err().unwrap();
        assert!(gloved.contains("`LThumb`") && gloved.contains("none across"), "{gloved}");
        let mut lame = body.clone();
        lame.joint_from_bind[3].translation.y += 0.1;
        let lame = pair(&lame, &[true, true, true, true, false, false, false]).err().unwrap();
        assert!(lame.contains("LeftUpLeg") && lame.contains("cm"), "{lame}");
    }
}
