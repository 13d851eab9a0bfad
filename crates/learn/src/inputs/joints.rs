//! What a garment may be told of its wearer: arms, head and feet are spurious predictors of a skirt where clips are few.

use toile_assets::{Attachment, Body, Role};

/// Share of a garment's weights from which on it hangs on a joint.
const HANGS: f32 = 0.01;

/// Sets of joints to choose from, each ascending; the first is the smallest.
pub(crate) fn candidates(body: &Body, attachment: &Attachment) -> Vec<Vec<usize>> {
    let mut share = vec![0.0f32; body.skeleton.len()];
    for v in 0..attachment.skin.len() {
        attachment.skin.row(v).for_each(|(j, w)| share[j as usize] += w / attachment.skin.len() as f32);
    }
    let humanoid = body.humanoid();
    let joints = |roles: &[Role]| roles.iter().filter_map(|r| humanoid.joint(*r)).collect::<Vec<usize>>();
    use Role::*;
    let trunk = joints(&[Hips, Spine, Chest, UpperChest]);
    let legs = joints(&[LeftUpperLeg, RightUpperLeg, LeftLowerLeg, RightLowerLeg]);
    let arms =
        joints(&[LeftShoulder, RightShoulder, LeftUpperArm, RightUpperArm, LeftLowerArm, RightLowerArm]);
    let hung = |set: &[usize]| set.iter().map(|&j| share[j]).sum::<f32>();
    let mut sets = Vec::new();
    if !trunk.is_empty() && !legs.is_empty() {
        let (on_legs, on_arms) = (hung(&legs) > HANGS, hung(&arms) > HANGS);
        if on_legs || !on_arms {
            sets.push([&trunk[..], &legs].concat());
        }
        if on_arms {
            sets.push([&trunk[..], &arms].concat());
            sets.push([&trunk[..], &legs, &arms].concat());
        }
    }
    if sets.is_empty() {
        // No human: what it hangs on, and their parents.
        let hangs = (0..share.len()).filter(|&j| share[j] > HANGS);
        sets.push(hangs.flat_map(|j| [Some(j), body.skeleton.joints[j].parent]).flatten().collect());
    }
    for set in &mut sets {
        set.sort_unstable();
        set.dedup();
    }
    sets
}
