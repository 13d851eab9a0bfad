//! What motions are measured by: soles, contacts, speeds of joints.

use glam::{Affine3A, Quat, Vec3};
use toile_assets::builtin::proportions::Proportions;
use toile_assets::{Motion, Skeleton};

/// The mannequin's.
pub fn skeleton() -> Skeleton {
    Proportions::female().skeleton()
}

/// Every joint in every frame.
pub fn worlds(motion: &Motion) -> Vec<Vec<Affine3A>> {
    motion.poses.iter().map(|p| motion.skeleton.world_from_joints(p)).collect()
}

/// Points of the soles, each with the joint that carries it, in that joint's frame: back of the heel, under the
/// ball (carried by the foot and by the toes), tip of the toes.
pub fn sole(skeleton: &Skeleton, prefix: &str) -> [(usize, Vec3); 4] {
    let rest = skeleton.world_from_joints(&skeleton.rest_pose());
    let ankle = skeleton.find(&format!("{prefix}_ankle")).unwrap();
    let ball = skeleton.find(&format!("{prefix}_midtarsal")).unwrap();
    let (a, b) = (Vec3::from(rest[ankle].translation), Vec3::from(rest[ball].translation));
    let down = |p: Vec3| Vec3::new(0.0, -p.y, 0.0);
    [
        (ankle, down(a) - Vec3::Z * (0.4 * (b.z - a.z))),
        (ankle, b - a + down(b)),
        (ball, down(b)),
        (ball, down(b) + Vec3::Z * 0.075),
    ]
}

/// Angular velocity between frames in the parent's frame, radians per second.
fn angular(a: Quat, b: Quat, fps: f32) -> Vec3 {
    let q = b * a.inverse();
    let q = if q.w < 0.0 { -q } else { q };
    q.to_scaled_axis() * fps
}

/// The greatest angular speed of a joint (degrees per second), the greatest change of it from a frame to the next,
/// and the greatest change of the root's velocity from a frame to the next (m/s), each with its frame and joint.
pub fn jerks(motion: &Motion) -> [(f32, usize, usize); 3] {
    let fps = motion.fps as f32;
    let mut most = [(0f32, 0, 0); 3];
    for f in 1..motion.len() - 1 {
        let [a, b, c] = [f - 1, f, f + 1].map(|i| &motion.poses[i].locals);
        for j in 0..motion.skeleton.len() {
            let w0 = angular(a[j].rotation, b[j].rotation, fps);
            let w1 = angular(b[j].rotation, c[j].rotation, fps);
            let (speed, change) = (w1.length().to_degrees(), (w1 - w0).length().to_degrees());
            if speed > most[0].0 {
                most[0] = (speed, f, j);
            }
            if change > most[1].0 {
                most[1] = (change, f, j);
            }
        }
        let v = (c[0].translation - 2.0 * b[0].translation + a[0].translation).length() * fps;
        if v > most[2].0 {
            most[2] = (v, f, 0);
        }
    }
    most
}

/// Every contact of a heel or a ball with the ground: first frame and how far the point slid, metres.
pub fn contacts(motion: &Motion) -> Vec<(usize, f32)> {
    let worlds = worlds(motion);
    let mut contacts = Vec::new();
    for prefix in ["l", "r"] {
        let sole = sole(&motion.skeleton, prefix);
        for (joint, p) in [sole[0], sole[2]] {
            let mut began: Option<(usize, Vec3)> = None;
            let mut farthest = 0f32;
            for (f, world) in worlds.iter().enumerate() {
                let at = world[joint].transform_point3(p);
                let down = at.y < 0.002;
                match began {
                    Some((_, from)) if down => {
                        farthest = farthest.max(Vec3::new(at.x - from.x, 0.0, at.z - from.z).length());
                    }
                    Some((since, _)) => {
                        if f - since >= 10 {
                            contacts.push((since, farthest));
                        }
                        began = None;
                    }
                    None if down => {
                        began = Some((f, at));
                        farthest = 0.0;
                    }
                    None => {}
                }
            }
            contacts.extend(began.map(|(since, _)| (since, farthest)));
        }
    }
    contacts
}
