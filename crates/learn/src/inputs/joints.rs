//! What a garment may be told of its wearer: arms, head and feet are spurious predictors of a skirt where clips are few.

use toile_assets::{Attachment, Body, Role};

/// Share of a garment's weights from which on it hangs on a joint.
const HANGS: f32 = 0.01;

/// Joints and entries of their matrices that a model may be told of, ascending.
pub(crate) type Told = Vec<(usize, usize)>;

/// A set of inputs to choose.
pub(crate) struct Offer {
    pub told: Told,
    /// It tells of limbs that carry less of the garment than others do: arms of a dress keep time with its skirt in the clips
    /// that are learned from, and in a squat they do not.
    pub has_to_pay: bool,
}

/// Sets of inputs to choose from, first those that need not pay.
pub(crate) fn candidates(body: &Body, attachment: &Attachment) -> Vec<Offer> {
    let share = shares(body, attachment);
    let humanoid = body.humanoid();
    let joints = |roles: &[Role]| roles.iter().filter_map(|r| humanoid.joint(*r)).collect::<Vec<usize>>();
    use Role::*;
    let trunk = joints(&[Hips, Spine, Chest, UpperChest]);
    let legs = joints(&[LeftUpperLeg, RightUpperLeg, LeftLowerLeg, RightLowerLeg]);
    let thighs = joints(&[LeftUpperLeg, RightUpperLeg]);
    let arms =
        joints(&[LeftShoulder, RightShoulder, LeftUpperArm, RightUpperArm, LeftLowerArm, RightLowerArm]);
    let hung = |set: &[usize]| set.iter().map(|&j| share[j]).sum::<f32>();
    let whole = |set: &[usize]| set.iter().flat_map(|&j| (0..9).map(move |k| (j, k))).collect::<Told>();
    let pointing = |set: &[usize]| {
        let along = |&j: &usize| (3 * axis(body, j)..3 * axis(body, j) + 3).map(move |k| (j, k));
        set.iter().flat_map(along).collect::<Told>()
    };
    let mut sets: Vec<Offer> = Vec::new();
    let mut offer = |told: Told, has_to_pay: bool| sets.push(Offer { told, has_to_pay });
    if !trunk.is_empty() && !legs.is_empty() {
        let (on_legs, on_arms) = (hung(&legs) > HANGS, hung(&arms) > HANGS);
        let (legs_pay, arms_pay) =
            (on_arms && hung(&arms) > hung(&legs), on_legs && hung(&legs) > hung(&arms));
        let trunk = whole(&trunk);
        if on_legs || !on_arms {
            offer([&trunk[..], &whole(&legs)].concat(), legs_pay);
            // Which way thighs point says most of what a skirt does. How they turn about themselves and what shins do changes from one
            // person to the next, and with few clips a model takes it for more than it is.
            offer([&trunk[..], &pointing(&thighs)].concat(), legs_pay);
            offer([&trunk[..], &pointing(&legs)].concat(), legs_pay);
        }
        if on_arms {
            offer([&trunk[..], &whole(&arms)].concat(), arms_pay);
            offer([&trunk[..], &pointing(&arms)].concat(), arms_pay);
            offer([&trunk[..], &whole(&legs), &whole(&arms)].concat(), on_legs);
        }
    }
    if sets.is_empty() {
        // No human: what it hangs on, and their parents.
        let hangs = (0..share.len()).filter(|&j| share[j] > HANGS);
        let parents = hangs.flat_map(|j| [Some(j), body.skeleton.joints[j].parent]).flatten();
        let told = whole(&parents.collect::<Vec<usize>>());
        sets.push(Offer { told, has_to_pay: false });
    }
    for offer in &mut sets {
        offer.told.sort_unstable();
        offer.told.dedup();
    }
    sets.sort_by_key(|offer| offer.has_to_pay);
    sets
}

/// How much of a garment each joint carries.
fn shares(body: &Body, attachment: &Attachment) -> Vec<f32> {
    let mut share = vec![0.0f32; body.skeleton.len()];
    for v in 0..attachment.skin.len() {
        attachment.skin.row(v).for_each(|(j, w)| share[j as usize] += w / attachment.skin.len() as f32);
    }
    share
}

/// The axis that a joint's bone lies along most in the bind pose: its column of a bone matrix says which way the bone points.
fn axis(body: &Body, joint: usize) -> usize {
    let place = |j: usize| body.joint_from_bind[j].inverse().translation;
    let children = (0..body.skeleton.len()).filter(|&c| body.skeleton.joints[c].parent == Some(joint));
    let along =
        children.map(|c| (place(c) - place(joint)).abs()).max_by(|a, b| a.length().total_cmp(&b.length()));
    along.map_or(1, |a| (0..3).max_by(|i, k| a[*i].total_cmp(&a[*k])).unwrap_or(1))
}

/// The same garment with a share of what hangs on legs hung on the hips instead, whole where it hangs on none. Skinned to
/// two legs a skirt is torn apart between them, and a correction has to undo that first.
pub(crate) fn drawn_to_hips(body: &Body, attachment: &Attachment, share: f32) -> Option<Attachment> {
    let humanoid = body.humanoid();
    let hips = humanoid.joint(Role::Hips)?;
    let mut on_leg = vec![false; body.skeleton.len()];
    for role in [Role::LeftUpperLeg, Role::RightUpperLeg] {
        on_leg[humanoid.joint(role)?] = true;
    }
    for (j, joint) in body.skeleton.joints.iter().enumerate() {
        on_leg[j] |= joint.parent.is_some_and(|p| on_leg[p]);
    }
    let hung = shares(body, attachment);
    if (0..hung.len()).filter(|&j| on_leg[j]).map(|j| hung[j]).sum::<f32>() <= HANGS {
        return None;
    }
    let rows = (0..attachment.skin.len()).map(|v| {
        let mut row: Vec<(u16, f32)> = Vec::new();
        let mut given = 0.0;
        for (j, w) in attachment.skin.row(v) {
            let leg = on_leg[usize::from(j)];
            given += if leg { share * w } else { 0.0 };
            row.push((j, if leg { (1.0 - share) * w } else { w }));
        }
        match row.iter_mut().find(|(j, _)| usize::from(*j) == hips) {
            Some((_, w)) => *w += given,
            None => row.push((hips as u16, given)),
        }
        row
    });
    let skin = toile_assets::Skin::from_rows(rows).ok()?;
    Some(Attachment { skin, ..attachment.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_assets::{AttachmentSettings, attach, builtin};

    #[test]
    fn a_skirt_is_told_of_thighs_and_drawn_to_the_hips_and_a_cap_is_not() {
        let body = builtin::body("mannequin:female").unwrap();
        let hang = |name: &str| {
            let garment = builtin::garment(name, &body).unwrap();
            attach(&body, &garment.sim, &AttachmentSettings::default()).unwrap()
        };
        let (dress, shirt) = (hang("dress"), hang("shirt"));
        let thigh = body.humanoid().joint(Role::LeftUpperLeg).unwrap();
        let of_thigh =
            |set: &Offer| set.told.iter().filter(|(j, _)| *j == thigh).map(|(_, k)| *k).collect::<Vec<_>>();
        let sets: Vec<Vec<usize>> = candidates(&body, &dress).iter().map(of_thigh).collect();
        assert!(sets.contains(&(0..9).collect()) && sets.contains(&vec![3, 4, 5]), "{sets:?}");
        let arm = body.humanoid().joint(Role::LeftUpperArm).unwrap();
        let of_arm = |set: &Offer| set.told.iter().filter(|(j, _)| *j == arm).count();
        let arms = candidates(&body, &shirt);
        assert!(arms.iter().any(|set| of_arm(set) == 3 && !set.has_to_pay));
        // A dress hangs on arms, too, by a few vertices.
        assert!(candidates(&body, &dress).iter().all(|set| set.has_to_pay == (of_arm(set) > 0)));

        let drawn = drawn_to_hips(&body, &dress, 0.75).unwrap();
        let hips = body.humanoid().joint(Role::Hips).unwrap() as u32;
        for v in 0..dress.skin.len() {
            let (before, after) = (dress.skin.weight(v, thigh as u32), drawn.skin.weight(v, thigh as u32));
            assert!((after - 0.25 * before).abs() < 1e-5);
            assert!(drawn.skin.weight(v, hips) >= dress.skin.weight(v, hips) - 1e-6);
            assert!((drawn.skin.row(v).map(|(_, w)| w).sum::<f32>() - 1.0).abs() < 1e-5);
        }
        let gloves =
            Attachment { skin: toile_assets::Skin::from_rows([[(arm as u16, 1.0)]]).unwrap(), ..dress };
        assert!(drawn_to_hips(&body, &gloves, 0.75).is_none());
    }
}
