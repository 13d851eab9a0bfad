//! Roles from the names that rigs and exporters give their joints.

use super::Role;
use super::shape::{Roles, Tree};

/// Which side a name speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
    Middle,
}

/// What a name may mean before the hierarchy has been asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Hips,
    Neck,
    Head,
    /// `shoulder`: the collar bone for CMU, Mixamo and VRM, the upper arm for H-Anim and Poser.
    Shoulder,
    Collar,
    UpperArm,
    /// `arm`: the upper arm for CMU and Mixamo; any part of the arm elsewhere.
    Arm,
    LowerArm,
    Hand,
    UpperLeg,
    /// `hip`: the upper leg for H-Anim and Poser, a joint inside the pelvis for CMU.
    SideHip,
    /// `leg`: the lower leg for CMU and Mixamo; any part of the leg elsewhere.
    Leg,
    LowerLeg,
    Foot,
    Toes,
}

/// Words that say nothing: prefixes of rigs and kinds of joints.
const NOISE: [&str; 27] = [
    "mixamorig",
    "bip",
    "biped",
    "cc",
    "base",
    "def",
    "org",
    "mch",
    "j",
    "c",
    "b",
    "bn",
    "bone",
    "jnt",
    "joint",
    "skeleton",
    "armature",
    "rig",
    "sk",
    "character",
    "human",
    "valvebiped",
    "bind",
    "skin",
    "g",
    "genesis",
    "m",
];

/// Words of joints that steer others and must never be taken for the real ones.
const CONTROLS: [&str; 16] = [
    "ik", "fk", "pole", "control", "ctrl", "roll", "twist", "target", "helper", "leaf", "end", "nub", "tip",
    "slot", "effector", "site",
];

/// A name cut into lower-case words, its side taken out. `None` for controls.
pub(super) fn side_and_key(name: &str) -> (Side, Option<String>) {
    let name = name.rsplit([':', '|']).next().unwrap_or(name);
    let mut side = Side::Middle;
    let mut key = String::new();
    let mut control = false;
    for word in words(name) {
        let found = match word.as_str() {
            "left" | "l" | "lft" | "lf" | "lt" => Side::Left,
            "right" | "r" | "rgt" | "rt" => Side::Right,
            _ => Side::Middle,
        };
        if found != Side::Middle && side == Side::Middle {
            side = found;
        } else if CONTROLS.contains(&word.as_str()) {
            control = true;
        } else if !NOISE.contains(&word.as_str()) && !word.chars().all(|c| c.is_ascii_digit()) {
            key.push_str(&word);
        }
    }
    if side == Side::Middle {
        // `lThighBend` is cut as l + Thigh, but `lthigh` and `leftfoot` are one word.
        for (prefix, found) in [("left", Side::Left), ("right", Side::Right)] {
            if let Some(rest) = key.strip_prefix(prefix).or_else(|| key.strip_suffix(prefix)) {
                (side, key) = (found, rest.to_string());
                break;
            }
        }
        for (prefix, found) in [('l', Side::Left), ('r', Side::Right)] {
            if side == Side::Middle
                && let Some(rest) = key.strip_prefix(prefix)
                && sided_part(rest).is_some()
            {
                (side, key) = (found, rest.to_string());
                break;
            }
        }
    }
    (side, (!control).then_some(key))
}

/// Cuts at punctuation, at digits and where a capital starts a new word: `LHipJoint` is `l hip joint`.
fn words(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().take(200).collect();
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    for (i, &c) in chars.iter().enumerate() {
        let before = i.checked_sub(1).map(|b| chars[b]);
        let next = chars.get(i + 1);
        let cut = !c.is_alphanumeric()
            || before.is_some_and(|b| {
                (c.is_uppercase() && (b.is_lowercase() || next.is_some_and(|n| n.is_lowercase())))
                    || (b.is_ascii_digit() != c.is_ascii_digit())
            });
        if cut && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Parts in the middle of the body.
fn middle_part(key: &str) -> Option<Part> {
    Some(match key {
        "hips" | "hip" | "pelvis" | "humanoidroot" => Part::Hips,
        "neck" | "vc" | "necklower" | "cervical" => Part::Neck,
        "head" | "skullbase" | "skull" | "vheadbase" => Part::Head,
        _ => return None,
    })
}

/// Parts that exist twice.
fn sided_part(key: &str) -> Option<Part> {
    Some(match key {
        "shoulder" => Part::Shoulder,
        "collar" | "clavicle" | "clav" | "sternoclavicular" | "shouldergirdle" | "collarbone" | "scapula" => {
            Part::Collar
        }
        "upperarm" | "uparm" | "shldr" | "shldrbend" | "armupper" | "bicep" | "humerus" => Part::UpperArm,
        "arm" => Part::Arm,
        "lowerarm" | "forearm" | "lowarm" | "elbow" | "forearmbend" | "armlower" | "loarm" => Part::LowerArm,
        "hand" | "wrist" | "palm" | "radiocarpal" => Part::Hand,
        "upperleg" | "upleg" | "thigh" | "thighbend" | "legupper" | "femur" | "uplegs" => Part::UpperLeg,
        "hip" => Part::SideHip,
        "leg" => Part::Leg,
        "lowerleg" | "lowleg" | "calf" | "shin" | "knee" | "leglower" | "loleg" | "crus" => Part::LowerLeg,
        "foot" | "ankle" | "talocrural" => Part::Foot,
        "toe" | "toes" | "toebase" | "ball" | "midtarsal" | "metatarsal" | "tarsometatarsal" => Part::Toes,
        _ => return None,
    })
}

/// The roles of one side, in the order arm then leg.
pub(super) fn sided(side: Side) -> [Role; 8] {
    use Role::*;
    match side {
        Side::Right => [
            RightShoulder,
            RightUpperArm,
            RightLowerArm,
            RightHand,
            RightUpperLeg,
            RightLowerLeg,
            RightFoot,
            RightToes,
        ],
        _ => [
            LeftShoulder,
            LeftUpperArm,
            LeftLowerArm,
            LeftHand,
            LeftUpperLeg,
            LeftLowerLeg,
            LeftFoot,
            LeftToes,
        ],
    }
}

/// Everything that names alone decide, with ambiguous words settled by what else the side has.
pub(super) fn match_names(tree: &Tree) -> Roles {
    let mut roles = Roles::default();
    let parsed: Vec<(Side, Option<Part>)> = tree
        .skeleton
        .joints
        .iter()
        .map(|joint| {
            let (side, key) = side_and_key(&joint.name);
            let key = key.unwrap_or_default();
            (side, if side == Side::Middle { middle_part(&key) } else { sided_part(&key) })
        })
        .collect();
    // The first in the file's order is the one nearest to the root.
    let first = |side: Side, part: Part| parsed.iter().position(|&p| p == (side, Some(part)));

    for (part, role) in [(Part::Hips, Role::Hips), (Part::Neck, Role::Neck)] {
        roles.set(role, first(Side::Middle, part));
    }
    // `Head` may be both a joint and, in some rigs, the name of a leaf under it: the first is the joint.
    roles.set(Role::Head, first(Side::Middle, Part::Head));
    for side in [Side::Left, Side::Right] {
        let at = |part: Part| first(side, part);
        let [shoulder, upper_arm, lower_arm, hand, upper_leg, lower_leg, foot, toes] = sided(side);

        let upper = at(Part::UpperArm).or(at(Part::Arm));
        let (collar, upper) = match (at(Part::Collar), at(Part::Shoulder), upper) {
            (collar, girdle, Some(upper)) => (collar.or(girdle), Some(upper)),
            (collar, girdle, None) => (collar, girdle),
        };
        let lower = at(Part::LowerArm);
        roles.set(shoulder, collar);
        roles.set(upper_arm, upper);
        roles.set(lower_arm, lower);
        roles.set(hand, at(Part::Hand));

        let (thigh, shin) =
            match (at(Part::UpperLeg).or(at(Part::SideHip)), at(Part::LowerLeg), at(Part::Leg)) {
                (Some(thigh), shin, leg) => (Some(thigh), shin.or(leg)),
                (None, Some(shin), leg) => (leg, Some(shin)),
                (None, None, _) => (None, None),
            };
        roles.set(upper_leg, thigh);
        roles.set(lower_leg, shin);
        roles.set(foot, at(Part::Foot));
        roles.set(toes, at(Part::Toes));

        // Parts of one limb that are not below each other are a control rig's, or the names lie.
        for chain in [[upper_arm, lower_arm, hand], [upper_leg, lower_leg, foot]] {
            let joints: Vec<usize> = chain.iter().filter_map(|&r| roles.get(r)).collect();
            if !joints.windows(2).all(|w| w[0] != w[1] && tree.is_below(w[1], w[0])) {
                chain.into_iter().for_each(|role| roles.set(role, None));
            }
        }
        if !below(tree, &roles, upper_arm, shoulder) {
            roles.set(shoulder, None);
        }
        if !below(tree, &roles, toes, foot) {
            roles.set(toes, None);
        }
    }
    roles
}

/// Whether the joint of one role is below that of another; true when either is not there.
fn below(tree: &Tree, roles: &Roles, child: Role, parent: Role) -> bool {
    match (roles.get(child), roles.get(parent)) {
        (Some(c), Some(p)) => c != p && tree.is_below(c, p),
        _ => true,
    }
}
