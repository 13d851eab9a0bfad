//! What lies between two legs that one garment is around: taut cloth does not sink into the gap.
//!
//! Skinned weights carry the front of a skirt with each thigh, and where the thighs come out of the hips' way, in a bow or
//! a squat, it would hang on each of them as trousers do. Cloth that goes around both is outside of their hull. An
//! ellipse between them that follows both bones by halves reaches as far out in front and behind as they do; at its sides it
//! ends within them.

use super::limbs::RadiusFit;
use glam::Vec3;
use toile_assets::{LimbTube, Skeleton};

/// How far to the sides it reaches, as a share of how far the legs do: beyond that they are the hull themselves.
const TO_THE_SIDES: f32 = 0.75;
/// Places along it and directions around it that its radius is fitted to.
const PLACES: usize = 17;
const DIRECTIONS: usize = 48;

/// One for each pair of limbs that part at the same joint, or that follow such a pair, of those that a garment is around.
pub(super) fn between(skeleton: &Skeleton, limbs: &[LimbTube], garment: &[Vec3]) -> Vec<LimbTube> {
    let within: Vec<&LimbTube> = limbs.iter().filter(|limb| limb.is_within(garment)).collect();
    let up = |limb: &LimbTube| skeleton.joints[limb.joint as usize].parent;
    let mut pairs: Vec<[usize; 2]> = Vec::new();
    let mut out = Vec::new();
    for (i, a) in within.iter().enumerate() {
        for b in &within[i + 1..] {
            let follows = |pair: &[usize; 2]| {
                let [a, b] = [up(a), up(b)];
                [a, b] == pair.map(Some) || [b, a] == pair.map(Some)
            };
            if up(a) == up(b) || pairs.iter().any(follows) {
                pairs.push([a.joint as usize, b.joint as usize]);
                out.extend(bridge(a, b));
            }
        }
    }
    out
}

/// `None` where the limbs are one behind the other.
fn bridge(a: &LimbTube, b: &LimbTube) -> Option<LimbTube> {
    let (middle, half) = (0.5 * (a.middle + b.middle), 0.5 * (a.half + b.half));
    let line = half.try_normalize()?;
    let across = (b.middle - a.middle).reject_from(line).try_normalize()?;
    let mut limb =
        LimbTube { joint: a.joint, other: Some(b.joint), middle, half, across, radius: Default::default() };
    let side = limb.side();
    let mut fit = RadiusFit::new();
    for i in 0..PLACES {
        let place = 2.0 * i as f32 / (PLACES - 1) as f32 - 1.0;
        let from = middle + place * half;
        // How far both reach in a direction: in front and behind the mean of both, to the sides the farther.
        let reach = |limb: &LimbTube, way: Vec3| {
            let at = |k: usize| {
                let (s, c) = (k as f32 / DIRECTIONS as f32 * std::f32::consts::TAU).sin_cos();
                let rho = limb.radius(place, [c, s]);
                (limb.middle + place * limb.half + rho * (c * limb.across + s * limb.side()) - from).dot(way)
            };
            (0..DIRECTIONS).map(at).fold(0.0, f32::max)
        };
        let mean = |way: Vec3| 0.5 * (reach(a, way) + reach(b, way));
        let wide = TO_THE_SIDES * reach(a, -across).max(reach(b, across));
        let (front, back) = (mean(side), mean(-side));
        let (deep, off) = (0.5 * (front + back), 0.5 * (front - back));
        for k in 0..DIRECTIONS {
            let (s, c) = (k as f32 / DIRECTIONS as f32 * std::f32::consts::TAU).sin_cos();
            // Along the direction from the line to the ellipse (x / wide)² + ((y − off) / deep)² = 1.
            let squares = (c / wide).powi(2) + (s / deep).powi(2);
            let product = s * off / (deep * deep);
            let rest = (off / deep).powi(2) - 1.0;
            let rho = (product + (product * product - squares * rest).max(0.0).sqrt()) / squares;
            fit.add(place, rho * c, rho * s, 1.0);
        }
    }
    limb.radius = fit.radius(f64::INFINITY)?;
    Some(limb)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::limbs::limbs;
    use glam::Affine3A;
    use toile_assets::builtin;
    use toile_model::Section;

    #[test]
    fn between_two_thighs_nothing_is_farther_in_front_than_they_are() {
        let body = builtin::body("mannequin:female").unwrap();
        let dress = builtin::garment("dress", &body).unwrap().sim.positions;
        let (tubes, trunk) = limbs(&body, &[vec![Affine3A::IDENTITY; body.skeleton.len()]]);
        let tubes = &tubes[..tubes.len() - trunk];
        let found = between(&body.skeleton, tubes, &dress);
        let name = |j: u32| body.skeleton.joints[j as usize].name.as_str();
        let bridge = found.iter().find(|l| name(l.joint).ends_with("_hip")).unwrap();
        assert!(name(bridge.other.unwrap()).ends_with("_hip"), "the other thigh");
        // In the middle it is as far in front as the thighs, a third of a metre below the hips.
        let section = Section::new(bridge, 0.0);
        let front = Vec3::new(0.0, bridge.middle.y, 0.0);
        let skin = body.mesh.positions.iter().filter(|p| (p.y - front.y).abs() < 0.02 && p.x.abs() < 0.2);
        let farthest = skin.map(|p| p.z).fold(f32::MIN, f32::max);
        let [near, far] = [-0.015, 0.015].map(|by| front + Vec3::Z * (farthest + by));
        assert!(section.depth_m(bridge, near) > 0.0 && section.depth_m(bridge, far) < 0.0);
        let beside = front + Vec3::X * 0.3;
        assert!(section.depth_m(bridge, beside) < -0.1, "{}", section.depth_m(bridge, beside));
    }
}
