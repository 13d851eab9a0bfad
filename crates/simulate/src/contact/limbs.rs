//! Which limb a triangle of a body belongs to.
//!
//! Arms press cloth against the trunk and thighs meet: there a point of cloth touches two surfaces at once, and
//! skinned bodies may even overlap. Each limb is asked for its nearest point separately, so both push and the
//! cloth rests between them instead of jumping from one to the other.

use glam::Vec3A;
use toile_assets::{Body, Role, Skeleton};

/// Limb of each joint: 0 is the trunk. A limb begins at a joint that has a sibling with as many descendants
/// (left and right), and is not divided further.
fn joint_limbs(skeleton: &Skeleton) -> (Vec<u8>, usize) {
    let n = skeleton.len();
    let mut size = vec![1usize; n];
    for j in (0..n).rev() {
        if let Some(p) = skeleton.joints[j].parent {
            size[p] += size[j];
        }
    }
    let mut limbs = vec![0u8; n];
    let mut count = 1;
    for j in 0..n {
        let Some(p) = skeleton.joints[j].parent else { continue };
        if limbs[p] != 0 {
            limbs[j] = limbs[p];
        } else if size[j] >= 3 && skeleton.children(p).any(|s| s != j && size[s] == size[j]) && count < 16 {
            limbs[j] = count as u8;
            count += 1;
        }
    }
    (limbs, count)
}

/// Pieces of limbs that bend little in themselves, thigh and shin, upper arm and forearm: the piece of each triangle and the
/// limb of each piece. On such a piece the nearest point can be followed; on a leg it jumps from thigh to shin.
pub fn triangle_segments(body: &Body, limbs: &[u8], count: usize) -> (Vec<u8>, Vec<u8>) {
    let humanoid = body.humanoid();
    let mut segments = limbs.to_vec();
    let mut limb_of: Vec<u8> = (0..count as u8).collect();
    for role in [Role::LeftLowerLeg, Role::RightLowerLeg, Role::LeftLowerArm, Role::RightLowerArm] {
        let Some(joint) = humanoid.joint(role) else { continue };
        let mut below = vec![false; body.skeleton.len()];
        below[joint] = true;
        for (j, joint) in body.skeleton.joints.iter().enumerate() {
            below[j] |= joint.parent.is_some_and(|p| below[p]);
        }
        let share = |v: u32| -> f32 {
            body.skin.row(v as usize).filter(|(j, _)| below[*j as usize]).map(|(_, w)| w).sum()
        };
        let lower: Vec<usize> = (0..limbs.len())
            .filter(|&t| body.mesh.triangles[t].iter().map(|&v| share(v)).sum::<f32>() > 1.5)
            .collect();
        let Some(&first) = lower.first() else { continue };
        let limb = limbs[first];
        if limb_of.len() == MOST_SEGMENTS || lower.iter().any(|&t| limbs[t] != limb) {
            continue;
        }
        lower.iter().for_each(|&t| segments[t] = limb_of.len() as u8);
        limb_of.push(limb);
    }
    (segments, limb_of)
}

/// As many as there are bits to note which are near.
const MOST_SEGMENTS: usize = 16;

/// Triangles of arms from the middle of the upper arm on, where no bodice rests; none where it is not known which joints
/// are arms.
pub fn free_arms(body: &Body) -> Vec<bool> {
    let (humanoid, rest) = (body.humanoid(), body.skeleton.rest_pose());
    let joints = body.skeleton.world_from_joints(&rest);
    let skin = body.skinned_positions(&body.bones(&rest));
    let mut free = vec![false; body.mesh.triangles.len()];
    for roles in [[Role::LeftUpperArm, Role::LeftLowerArm], [Role::RightUpperArm, Role::RightLowerArm]] {
        let [Some(upper), Some(lower)] = roles.map(|role| humanoid.joint(role)) else { continue };
        let mut below = vec![false; body.skeleton.len()];
        below[upper] = true;
        for (j, joint) in body.skeleton.joints.iter().enumerate() {
            below[j] |= joint.parent.is_some_and(|p| below[p]);
        }
        let (shoulder, elbow) = (joints[upper].translation, joints[lower].translation);
        let along = elbow - shoulder;
        let middle = 0.5 * along.length_squared();
        for (free, t) in free.iter_mut().zip(&body.mesh.triangles) {
            *free |= t.iter().all(|&v| {
                let row = body.skin.row(v as usize);
                let of_arm: f32 = row.filter(|(j, _)| below[*j as usize]).map(|(_, w)| w).sum();
                of_arm > 0.9 && (Vec3A::from(skin[v as usize]) - shoulder).dot(along) > middle
            });
        }
    }
    free
}

/// Limb of each triangle by the weights of its corners, and how many limbs there are.
pub fn triangle_limbs(body: &Body) -> (Vec<u8>, usize) {
    let (joints, count) = joint_limbs(&body.skeleton);
    let of_triangle = |t: &[u32; 3]| {
        let mut weight = [0.0f32; 16];
        for &v in t {
            for (j, w) in body.skin.row(v as usize) {
                weight[joints[j as usize] as usize] += w;
            }
        }
        (0..count).max_by(|&a, &b| weight[a].total_cmp(&weight[b]).then(b.cmp(&a))).unwrap_or(0) as u8
    };
    (body.mesh.triangles.iter().map(of_triangle).collect(), count)
}

/// Per triangle, which of its corners lie where limbs meet or the surface ends; a nearest point there is no
/// contact of this limb alone.
pub fn border_corners(triangles: &[[u32; 3]], weld: &[u32], limbs: &[u8]) -> Vec<[bool; 3]> {
    let mut first = vec![u8::MAX; weld.len()];
    let mut border = vec![false; weld.len()];
    for (t, limb) in triangles.iter().zip(limbs) {
        for &v in t {
            let v = weld[v as usize] as usize;
            if first[v] == u8::MAX {
                first[v] = *limb;
            } else if first[v] != *limb {
                border[v] = true;
            }
        }
    }
    triangles.iter().map(|t| t.map(|v| border[weld[v as usize] as usize])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_assets::builtin;

    #[test]
    fn the_mannequin_has_a_trunk_and_four_limbs() {
        let body = builtin::body("mannequin:female").unwrap();
        let (limbs, count) = joint_limbs(&body.skeleton);
        assert_eq!(count, 5);
        let limb = |name: &str| limbs[body.skeleton.find(name).unwrap()];
        assert_eq!(limb("skullbase"), 0);
        assert_ne!(limb("l_knee"), limb("r_knee"));
        assert_ne!(limb("l_wrist"), 0);
        assert_eq!(limb("l_wrist"), limb("l_elbow"));
    }
}
