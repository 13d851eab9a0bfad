//! The same pose reached twice: cloth that remembers its way hangs differently.

use glam::Vec3;
use toile_assets::Take;
use toile_model::adaptive::Database;

/// Two frames of nearly one pose.
pub struct TwoPaths {
    pub frames: [usize; 2],
    /// How far apart cloth is in them once each is carried to where the first is skinned, mm.
    pub full_mm: f64,
    pub ours_mm: f64,
}

/// Frames nearer than this in time are one visit, s.
const APART_SECS: f64 = 0.6;

/// The pair of frames, well apart in time, whose poses are nearest while the body moves in between.
pub fn two_paths(database: &Database, take: &Take, ours: &[Vec<Vec3>]) -> Option<TwoPaths> {
    let poses: Vec<Vec<f32>> =
        (0..take.len()).map(|f| database.pose(&take.roots[f], take.frame_bones(f))).collect();
    let apart = |a: usize, b: usize| -> f32 {
        poses[a].iter().zip(&poses[b]).map(|(a, b)| (a - b) * (a - b)).sum::<f32>().sqrt()
    };
    let gap = (APART_SECS * take.fps) as usize;
    let radius = database.search_radius();
    let mut best: Option<(f32, [usize; 2])> = None;
    for b in gap..take.len() {
        for a in 1..b - gap + 1 {
            // A body that stands still has no other path.
            let went = (a..b).map(|f| apart(a, f)).fold(0.0, f32::max);
            let d = apart(a, b);
            if went > 0.3 * radius && best.is_none_or(|(least, _)| d < least) {
                best = Some((d, [a, b]));
            }
        }
    }
    let (_, [a, b]) = best?;
    let offsets = |frame: &[Vec3], f: usize| -> Vec<Vec3> {
        let bones = take.frame_bones(f);
        let skin = &database.attachment.skin;
        let place = |v: usize| skin.blend(v, bones).inverse().transform_point3(frame[v]);
        (0..frame.len()).map(place).collect()
    };
    let distance = |first: &[Vec3], second: &[Vec3]| {
        let (p, q) = (offsets(first, a), offsets(second, b));
        let sum: f64 = p.iter().zip(&q).map(|(p, q)| f64::from(p.distance(*q))).sum();
        1e3 * sum / p.len().max(1) as f64
    };
    Some(TwoPaths {
        frames: [a, b],
        full_mm: distance(take.frame(a), take.frame(b)),
        ours_mm: distance(&ours[a], &ours[b]),
    })
}
