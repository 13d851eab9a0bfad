//! The built-in gaits beside captured ones: hip, knee and ankle in the sagittal plane over the gait cycle. Runs where
//! `TOILE_DATA` names a folder with clips of the CMU motion library under `motion/train`; else it says so and passes.

use glam::{Vec3, Vec3A};
use std::path::PathBuf;
use toile_assets::builtin::{motions, proportions::Proportions};
use toile_assets::{Motion, read};

/// Degrees at 100 points of the gait cycle: thigh from the vertical, knee, ankle.
type Curves = [Vec<f32>; 3];

/// Mean curves of all whole cycles of both legs. A cycle runs from one farthest reach of the ankle ahead of the hip to
/// the next (Zeni et al. 2008), which is close to the strike of the heel.
fn curves(motion: &Motion, joints: [[&str; 4]; 2]) -> Curves {
    let s = &motion.skeleton;
    let worlds: Vec<_> = motion.poses.iter().map(|p| s.world_from_joints(p)).collect();
    let way = worlds.last().unwrap()[0].translation - worlds[0][0].translation;
    let ahead = Vec3::new(way.x, 0.0, way.z).normalize();
    let mut sums: Curves = std::array::from_fn(|_| vec![0.0; 100]);
    let mut cycles = 0.0;
    for names in joints {
        let [hip, knee, ankle, toe] = names.map(|n| s.find(n).unwrap_or_else(|| panic!("no joint `{n}`")));
        let line =
            |f: usize, a: usize, b: usize| -> Vec3A { worlds[f][b].translation - worlds[f][a].translation };
        let lean = |v: Vec3A| Vec3::from(v).dot(ahead).atan2(-v.y).to_degrees();
        let pitch = |v: Vec3A| v.y.atan2(Vec3::from(v).dot(ahead)).to_degrees();
        let n = worlds.len();
        let reach: Vec<f32> = (0..n).map(|f| Vec3::from(line(f, hip, ankle)).dot(ahead)).collect();
        let apart = (0.45 * motion.fps) as usize;
        let strikes: Vec<usize> = (1..n - 1)
            .filter(|&f| {
                let around = &reach[f.saturating_sub(apart / 2)..(f + apart / 2).min(n)];
                reach[f] > 0.1 && around.iter().all(|&r| r <= reach[f])
            })
            .collect();
        for pair in strikes.windows(2) {
            for k in 0..100 {
                let x = pair[0] as f32 + (pair[1] - pair[0]) as f32 * k as f32 / 100.0;
                let f = x.round() as usize;
                let (thigh, shank) = (lean(line(f, hip, knee)), lean(line(f, knee, ankle)));
                let foot = pitch(line(f, ankle, toe));
                for (sum, value) in sums.iter_mut().zip([thigh, thigh - shank, foot - shank]) {
                    sum[k] += value;
                }
            }
            cycles += 1.0;
        }
    }
    assert!(cycles > 0.0, "{}: no whole gait cycle", motion.name);
    let mut curves = sums.map(|c| c.into_iter().map(|x| x / cycles).collect::<Vec<f32>>());
    // Where a skeleton puts the ball of the foot decides what its ankle calls zero; only the movement compares.
    let mean = curves[2].iter().sum::<f32>() / 100.0;
    curves[2].iter_mut().for_each(|x| *x -= mean);
    curves
}

/// Root mean square difference, `b` begun `shift` points later.
fn rms(a: &[f32], b: &[f32], shift: usize) -> f32 {
    let n = a.len();
    ((0..n).map(|k| (a[k] - b[(k + shift) % n]).powi(2)).sum::<f32>() / n as f32).sqrt()
}

#[test]
fn gaits_are_within_eight_degrees_of_captured_ones() {
    let Some(data) = std::env::var_os("TOILE_DATA").map(PathBuf::from) else {
        println!("skipped: TOILE_DATA is not set");
        return;
    };
    let skeleton = Proportions::female().skeleton();
    let ours = [["l_hip", "l_knee", "l_ankle", "l_midtarsal"], ["r_hip", "r_knee", "r_ankle", "r_midtarsal"]];
    let theirs = [
        ["LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToeBase"],
        ["RightUpLeg", "RightLeg", "RightFoot", "RightToeBase"],
    ];
    let mut failed = Vec::new();
    for (name, clip) in [
        ("walk:1.0", "16_16"),
        ("walk:1.3", "16_47"),
        ("walk:1.7", "16_21"),
        ("run:2.7", "16_36"),
        ("run:3.4", "35_20"),
        ("run:4.0", "16_45"),
    ] {
        let path = data.join(format!("motion/train/{clip}.bvh"));
        let captured = read::bvh::read_motion(&path, None).unwrap_or_else(|e| panic!("{e}")).value;
        let a = curves(&motions::motion(name, &skeleton).unwrap(), ours);
        let b = curves(&captured, theirs);
        let (_, off) = (0..100)
            .map(|shift| {
                let off: Vec<f32> = (0..3).map(|i| rms(&a[i], &b[i], shift)).collect();
                (off.iter().sum::<f32>(), off)
            })
            .min_by(|x, y| x.0.total_cmp(&y.0))
            .unwrap();
        println!("{name:9} {clip}: hip {:.1}°, knee {:.1}°, ankle {:.1}°", off[0], off[1], off[2]);
        if off.iter().any(|&x| x > 8.0) {
            failed.push(format!("{name} against {clip}: {off:?}"));
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
