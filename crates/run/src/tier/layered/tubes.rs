//! Sleeves and trouser legs slide along their limbs: cloth does not grow longer.

use super::hung::Hung;
use super::wide::{Stored, Vectors};
use crate::cpu::kernel::{Lanes, WIDE, Wide};
use glam::{Affine3A, Vec3A};
use toile_model::Attachment;
use toile_model::layers::{Ride, Tube};

/// How much of what its longest strings lack a tube slides by; the rest is taken up by shear and stretch. With the next
/// one chosen on five clips of trousers against the full simulation.
const GIVES: f32 = 0.75;
/// Most that raised arms lift a shirt by, m.
const MOST_LIFTED_M: f32 = 0.06;
/// How long friction keeps a tube up where the limb has pushed it to, s.
const HOLDS_SECS: f32 = 1.5;

/// A string between two rings.
struct Piece {
    /// Numbers of its ends among `string_places`.
    ends: [u32; 2],
    length_m: f32,
    /// The ring it ends at.
    ring: u32,
    /// Whether it is the first of a string.
    first: bool,
}

/// How eight vertices go with the rings: those that any of them is between, with how much of each.
struct Riding {
    rings: Vec<(u32, Wide)>,
    up: Stored,
}

/// Some vertices' ways along the tubes, eight of them side by side.
pub(super) struct Riders(Vec<Riding>);

/// What carries a sleeve.
struct Carried {
    /// Numbers among `places`, and their mean height at rest.
    supports: std::ops::Range<usize>,
    rest_y: f32,
    trunk_joint: usize,
    slack_m: f32,
    rings: std::ops::Range<usize>,
}

/// Tubes in motion.
pub(super) struct Tubes {
    hanging: Hung,
    rest: Vec<Stored>,
    places: Vec<Vec3A>,
    pieces: Vec<Piece>,
    carried: Vec<Carried>,
    /// How many strings reach each ring; rings of all tubes one after the other, each with one to spare at its end.
    reached: Vec<f32>,
    /// Sums of fourth powers of what strings lack, then how far each ring has slid, m.
    lack: Vec<f32>,
    slid_m: Vec<f32>,
    /// Where each tube's rings begin, and how many it has.
    firsts: Vec<(u32, f32)>,
}

impl Tubes {
    pub fn new(tubes: &[Tube], attachment: &Attachment) -> Self {
        let of = |t: &'_ Tube| t.strings.iter().flatten().chain(&t.supports).copied().collect::<Vec<u32>>();
        let vertices: Vec<u32> = tubes.iter().flat_map(of).collect();
        let rest: Vec<Vec3A> = vertices.iter().map(|v| attachment.rest[*v as usize].into()).collect();
        let (mut pieces, mut reached, mut firsts, mut carried) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut at = 0u32;
        for tube in tubes {
            let first = reached.len() as u32;
            let rings = tube.rings().max(1);
            firsts.push((first, rings as f32));
            reached.resize(first as usize + rings + 1, 0.0);
            for string in &tube.strings {
                for k in 1..string.len() as u32 {
                    let ends = [at + k - 1, at + k];
                    let length_m = rest[ends[0] as usize].distance(rest[ends[1] as usize]);
                    pieces.push(Piece { ends, length_m, ring: first + k, first: k == 1 });
                    reached[(first + k) as usize] += 1.0;
                }
                at += string.len() as u32;
            }
            if !tube.supports.is_empty() {
                let supports = at as usize..at as usize + tube.supports.len();
                at = supports.end as u32;
                carried.push(Carried {
                    rest_y: mean_y(&rest[supports.clone()]),
                    supports,
                    trunk_joint: tube.trunk_joint.into(),
                    slack_m: tube.slack_m,
                    rings: first as usize..reached.len(),
                });
            }
        }
        Self {
            hanging: Hung::new(&attachment.skin, &vertices),
            places: vec![Vec3A::ZERO; vertices.len()],
            rest: rest.chunks(WIDE).map(|eight| Stored::of(eight.iter().copied())).collect(),
            pieces,
            carried,
            lack: vec![0.0; reached.len()],
            slid_m: vec![0.0; reached.len()],
            reached,
            firsts,
        }
    }

    /// Nothing has slid.
    pub fn forget(&mut self) {
        self.slid_m.fill(0.0);
    }

    #[inline(always)]
    pub fn step<L: Lanes>(&mut self, bones: &[Affine3A], dt: f32) {
        for (i, (places, rest)) in self.places.chunks_mut(WIDE).zip(&self.rest).enumerate() {
            let at = self.hanging.carry(i, bones, rest.load::<L>()).store();
            places.iter_mut().enumerate().for_each(|(k, place)| *place = at.lane(k));
        }
        self.lack.fill(0.0);
        let mut lack = 0.0f32;
        for piece in &self.pieces {
            let [a, b] = piece.ends.map(|e| self.places[e as usize]);
            lack = if piece.first { 0.0 } else { lack } + a.distance(b) - piece.length_m;
            let square = lack.max(0.0) * lack.max(0.0);
            self.lack[piece.ring as usize] += square * square;
        }
        let held = (-dt / HOLDS_SECS).exp();
        for ((slid, lack), reached) in self.slid_m.iter_mut().zip(&self.lack).zip(&self.reached) {
            // The mean of fourth powers: the longest strings count, none alone.
            let now = if *reached > 0.0 { GIVES * (lack / reached).sqrt().sqrt() } else { 0.0 };
            if *reached > 0.0 {
                *slid = now.max(*slid * held);
            }
        }
        // What is beyond a tube's last ring goes with it.
        for k in 1..self.slid_m.len() {
            if self.reached[k] == 0.0 && self.reached[k - 1] > 0.0 {
                self.slid_m[k] = self.slid_m[k - 1];
            }
        }
        for sleeve in &self.carried {
            let trunk = bones[sleeve.trunk_joint].inverse();
            let now = trunk.transform_point3a(mean(&self.places[sleeve.supports.clone()])).y;
            let falls = (sleeve.rest_y - now).clamp(-MOST_LIFTED_M, sleeve.slack_m);
            let before = self.slid_m[sleeve.rings.start];
            let slid = -falls + (before + falls).max(0.0) * held;
            self.slid_m[sleeve.rings.clone()].fill(slid);
        }
    }

    /// How these vertices go along the tubes; none do where there are no `rides`.
    pub fn riders(&self, rides: &[Ride], vertices: &[u32]) -> Riders {
        if rides.is_empty() || self.firsts.is_empty() {
            return Riders(Vec::new());
        }
        let riding = |eight: &[u32]| {
            let own = || eight.iter().map(|v| &rides[*v as usize]);
            let mut rings: Vec<(u32, Wide)> = Vec::new();
            for (k, ride) in own().enumerate() {
                for (tube, share) in ride.shares.iter().filter(|(_, share)| *share != 0.0) {
                    let (first, count) = self.firsts[usize::from(*tube)];
                    let ring = first + ride.ring.min(count - 1.0).max(0.0) as u32;
                    let fraction = ride.ring.fract();
                    for (ring, part) in [(ring, share * (1.0 - fraction)), (ring + 1, share * fraction)] {
                        let at = rings.iter().position(|(r, _)| *r == ring).unwrap_or_else(|| {
                            rings.push((ring, Wide::default()));
                            rings.len() - 1
                        });
                        rings[at].1.0[k] += part;
                    }
                }
            }
            rings.retain(|(_, parts)| *parts != Wide::default());
            Riding { rings, up: Stored::of(own().map(|r| r.up.into())) }
        };
        Riders(vertices.chunks(WIDE).map(riding).collect())
    }

    /// How far the `i`-th eight of these has slid, in the bind pose.
    #[inline(always)]
    pub fn slid<L: Lanes>(&self, riders: &Riders, i: usize) -> Vectors<L> {
        let Some(riding) = riders.0.get(i) else { return Vectors::zero() };
        let mut way = L::splat(0.0);
        for (ring, part) in &riding.rings {
            way = way + L::load(part) * L::splat(self.slid_m[*ring as usize]);
        }
        riding.up.load() * way
    }
}

fn mean(places: &[Vec3A]) -> Vec3A {
    places.iter().sum::<Vec3A>() / places.len().max(1) as f32
}

fn mean_y(places: &[Vec3A]) -> f32 {
    mean(places).y
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::kernel::Halves;
    use glam::{Quat, Vec3};
    use toile_model::Skin;

    /// A tube of four strings around an upright limb that bends in its middle, held at its top.
    fn bent(angle: f32) -> (Tubes, Riders, Vec<Affine3A>) {
        let (mut rest, mut rows, mut strings) = (Vec::new(), Vec::new(), Vec::new());
        for side in [Vec3::X, Vec3::Z, -Vec3::X, -Vec3::Z] {
            let first = rest.len() as u32;
            for k in 0..7 {
                rest.push(0.1 * side + Vec3::Y * (0.6 - 0.1 * k as f32));
                let below = ((k as f32 - 2.0) / 2.0).clamp(0.0, 1.0);
                rows.push(vec![(0, 1.0 - below), (1, below)]);
            }
            strings.push((first..first + 7).collect());
        }
        let tube = Tube { name: "leg".into(), strings, supports: vec![], trunk_joint: 0, slack_m: 0.0 };
        let ride = |v: usize| Ride { shares: [(0, 1.0), (0, 0.0)], ring: (v % 7) as f32, up: Vec3::Y };
        let rides: Vec<Ride> = (0..rest.len()).map(ride).collect();
        let knee = Affine3A::from_translation(Vec3::Y * 0.3);
        let bone = knee * Affine3A::from_quat(Quat::from_rotation_x(angle)) * knee.inverse();
        let attachment = Attachment { skin: Skin::from_rows(rows).unwrap(), rest };
        let tubes = Tubes::new(&[tube], &attachment);
        let riders = tubes.riders(&rides, &(0..28).collect::<Vec<u32>>());
        (tubes, riders, vec![Affine3A::IDENTITY, bone])
    }

    #[test]
    fn a_bent_knee_pulls_the_hem_up_and_not_the_waist_and_it_comes_down_slowly() {
        let (mut tubes, riders, straight) = bent(0.0);
        let slid = |tubes: &Tubes, v: usize| tubes.slid::<Halves>(&riders, v / WIDE).store().lane(v % WIDE);
        tubes.step::<Halves>(&straight, 1.0 / 30.0);
        assert!((0..28).all(|v| slid(&tubes, v).length() < 1e-5), "a straight leg slides nothing");
        let (.., bones) = bent(1.2);
        tubes.step::<Halves>(&bones, 1.0 / 30.0);
        let up = slid(&tubes, 6).y;
        assert!((0.02..0.12).contains(&up), "the hem rises by {up} m");
        assert!(slid(&tubes, 0).length() < 1e-6 && slid(&tubes, 1).length() < 0.01);
        // Half a second later seven tenths of it are left, whatever the step.
        for (fps, steps) in [(30.0, 15), (240.0, 120)] {
            let (mut tubes, ..) = bent(0.0);
            tubes.step::<Halves>(&bones, 1.0 / 30.0);
            (0..steps).for_each(|_| tubes.step::<Halves>(&straight, 1.0 / fps));
            let left = slid(&tubes, 6).y / up;
            assert!((0.69..0.74).contains(&left), "{left} is left");
        }
    }

    #[test]
    fn a_shirt_comes_down_with_the_arms_no_farther_than_the_shoulders_and_is_held_where_they_lifted_it() {
        let rest = vec![Vec3::new(0.2, 1.4, 0.0), Vec3::new(0.24, 1.4, 0.0), Vec3::new(0.0, 1.1, 0.1)];
        let rows = vec![vec![(1u16, 1.0)], vec![(1, 1.0)], vec![(0, 1.0)]];
        let attachment = Attachment { skin: Skin::from_rows(rows).unwrap(), rest };
        let tube =
            Tube { name: "arm".into(), strings: vec![], supports: vec![0, 1], trunk_joint: 0, slack_m: 0.02 };
        let ride = Ride { shares: [(0, 1.0), (0, 0.0)], ring: 2.7, up: Vec3::Y };
        let lowered = |m: f32| vec![Affine3A::IDENTITY, Affine3A::from_translation(Vec3::NEG_Y * m)];
        let new = || Tubes::new(std::slice::from_ref(&tube), &attachment);
        let riders = new().riders(&[ride; 3], &[0, 1, 2]);
        let slid = |tubes: &Tubes| tubes.slid::<Halves>(&riders, 0).store().lane(2);
        for (by, falls) in [(0.0, 0.0), (0.012, 0.012), (0.05, 0.02), (-0.03, -0.03), (-0.5, -MOST_LIFTED_M)]
        {
            let mut tubes = new();
            (0..600).for_each(|_| tubes.step::<Halves>(&lowered(by), 1.0 / 30.0));
            assert!((slid(&tubes).y + falls).abs() < 1e-4, "{by}: {}", slid(&tubes));
        }
        let mut tubes = new();
        tubes.step::<Halves>(&lowered(-0.04), 1.0 / 30.0);
        tubes.step::<Halves>(&lowered(0.0), 1.0 / 30.0);
        assert!((0.035..0.04).contains(&slid(&tubes).y), "friction holds it: {}", slid(&tubes));
    }
}
