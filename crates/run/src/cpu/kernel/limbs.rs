//! Vertices that are within an arm or a leg are moved out of it, lanes over instances as in [`super::skin`].
//!
//! Limbs that a vertex meets often are always looked at, others where the box about its panel is near them. What that takes is
//! the place along a limb's line and in an ellipse about it ([`Cover`]). The radius is looked up only where one of
//! the lanes is within that. Which limbs a lane is held against is its own affair, and one that is not moved keeps its bits,
//! so which instances share lanes changes nothing.
//! Measured and left: lanes over the vertices of a panel, instance by instance (twice the time: a panel of a garment is
//! half a metre long, so that most limbs are near it), and a queue of the lanes that are near a limb, worked side by side
//! whatever vertex they are of (a tenth more: with sixteen lanes half of all are near, and bringing them together costs as
//! much as it saves).

use super::fuse::Fuse;
use super::normals::inverse_sqrt;
use glam::Vec3;
use toile_model::{Attachment, CARRIED, LimbTube, MAX_LIMBS, Shield};

/// Numbers of a posed limb: its middle, its line, across and to the side, and two directions of the ellipse about it.
const NUMBERS: usize = 18;
/// Numbers of the ball about the trunk: its middle and the square of its radius.
const BALL: usize = 4;
/// Over this share of half a limb from its ends it fades, so that nothing jumps where a vertex slides over them.
pub(crate) const FADE: f32 = 0.12;
/// How far outside of limbs vertices are kept, m: between them edges cut the round of a thigh.
const BESIDE_M: f32 = 0.002;
/// Of a limb's shape, coefficients along it and terms around it that are looked at: what is left out of thighs and arms is a
/// millimetre or two, and two thirds of the work.
const KEPT_ALONG: usize = 4;
const KEPT_AROUND: usize = 5;
/// A limb that fewer than one in so many vertices meet often is rare.
const RARE: usize = 100;
/// Limbs this far from the box about a panel are held against its vertices, m: others may push them so far.
const SLACK_M: f32 = 0.03;

/// Arms and legs, ready to be posed.
pub(crate) struct Limbs {
    pub shapes: Vec<Shape>,
    /// For every vertex which shapes it meets often, and which it may meet, bit by bit.
    pub meets: Vec<[u32; 2]>,
    /// Parts of the trunk, bit by bit.
    pub trunk: u32,
    /// For every vertex the bone that carries it most, as the place of its matrix, and which way is out.
    pub outward: Vec<(u32, Vec3)>,
}

pub(crate) struct Shape {
    /// Where the bone's matrix begins.
    pub bone: usize,
    pub middle: Vec3,
    /// Half the line over the square of its length: a product with it is the place along the line, −1 to 1.
    pub along: Vec3,
    pub across: Vec3,
    pub side: Vec3,
    /// Polynomials along the line, one for each term around it.
    pub radius: [[f32; KEPT_ALONG]; KEPT_AROUND],
    /// At a place along the line nothing farther from it than `reach_m[0] + place · reach_m[1]` is within the limb.
    #[cfg_attr(not(feature = "gpu"), allow(dead_code))] // the shader's first look
    pub reach_m: [f32; 2],
    /// The largest of that.
    largest_m: f32,
    cover: Cover,
    /// Square of half the line's length.
    pub half_sq: f32,
    /// Where it ends, with what others may push a vertex by, as a place along the line.
    pub end: f32,
    pub margin_m: f32,
    /// Which way is out of it for cloth that is deep in it: 1 for what is worn over it, as a skirt over thighs, −1 for what it
    /// lies on, as an arm on a bodice.
    pub outward: f32,
}

/// Which limbs are near a panel of vertices: bit by bit in any lane, and for each limb in which lanes.
pub(crate) struct Near {
    any: u32,
    lanes: [u32; MAX_LIMBS],
}

impl Limbs {
    pub fn new(shield: &Shield, worn: &Attachment) -> Self {
        let margin_m = shield.margin_m + BESIDE_M;
        // Arms come first, legs within the garment and what is below them behind ([`toile_model::Shield`]).
        let first_within = shield.limbs.iter().position(|limb| limb.is_within(&worn.rest));
        let is_worn = |k: usize, limb: &LimbTube| {
            first_within.is_some_and(|first| k >= first)
                || (0..worn.rest.len()).any(|v| worn.skin.weight(v, limb.joint) >= CARRIED)
        };
        let first_of_trunk = shield.limbs.len() - shield.trunk;
        let shape = |(k, limb): (usize, &LimbTube)| {
            let radius = simplified(limb);
            let reach_m = reach_m(&radius, margin_m);
            Shape {
                bone: 12 * limb.joint as usize,
                middle: limb.middle,
                along: limb.half / limb.half.length_squared(),
                across: limb.across,
                side: limb.side(),
                radius,
                reach_m,
                largest_m: reach_m[0] + reach_m[1].abs(),
                cover: Cover::new(&radius, margin_m),
                half_sq: limb.half.length_squared(),
                end: 1.0 + SLACK_M / limb.half.length(),
                margin_m,
                outward: if k >= first_of_trunk || is_worn(k, limb) { 1.0 } else { -1.0 },
            }
        };
        let carried_by = |v: usize| {
            worn.skin.row(v).max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(joint, _)| u32::from(joint))
        };
        // A limb that hardly any vertex meets often, a foot within a skirt, any may meet: mostly it is far from all. A limb
        // that carries a vertex is the skin it lies on.
        let met = |k: usize| shield.meets.iter().filter(|often| *often >> k & 1 == 1).count();
        let rare: Vec<bool> = (0..shield.limbs.len()).map(|k| RARE * met(k) < shield.meets.len()).collect();
        let may_meet = |v: usize| {
            let may = |k: usize, limb: &LimbTube| {
                rare[k] && (k >= first_of_trunk || worn.skin.weight(v, limb.joint) < CARRIED)
            };
            let limbs = shield.limbs.iter().enumerate();
            limbs.fold(0, |bits, (k, limb)| bits | u32::from(may(k, limb)) << k)
        };
        let meets: Vec<[u32; 2]> =
            shield.meets.iter().enumerate().map(|(v, often)| [*often, may_meet(v) & !often]).collect();
        Self {
            trunk: (((1u64 << shield.trunk) - 1) << first_of_trunk) as u32,
            shapes: shield.limbs.iter().enumerate().map(shape).collect(),
            meets,
            outward: shield.outward.iter().enumerate().map(|(v, n)| (12 * carried_by(v), *n)).collect(),
        }
    }

    /// Numbers that posed limbs take in one lane.
    pub fn room(&self) -> usize {
        NUMBERS * self.shapes.len() + BALL
    }

    /// Poses the limbs for all lanes.
    #[inline(always)]
    pub fn pose<F: Fuse, const L: usize>(&self, bones: &[[f32; L]], out: &mut [[f32; L]]) {
        let (limbs, ball) = out.split_at_mut(NUMBERS * self.shapes.len());
        for (shape, out) in self.shapes.iter().zip(limbs.as_chunks_mut::<NUMBERS>().0) {
            let bone: &[[f32; L]; 12] = bones[shape.bone..].first_chunk().expect("bones are whole");
            for axis in 0..3 {
                for n in 0..L {
                    let turned = |v: Vec3, from: f32| {
                        let z = F::fma(bone[6 + axis][n], v.z, from);
                        F::fma(bone[axis][n], v.x, F::fma(bone[3 + axis][n], v.y, z))
                    };
                    out[axis][n] = turned(shape.middle, bone[9 + axis][n]);
                    out[3 + axis][n] = turned(shape.along, 0.0);
                    out[6 + axis][n] = turned(shape.across, 0.0);
                    out[9 + axis][n] = turned(shape.side, 0.0);
                }
            }
            for (k, [along, across, side]) in shape.cover.ways.into_iter().enumerate() {
                for axis in 0..3 {
                    for n in 0..L {
                        let beside = F::fma(out[6 + axis][n], across, out[9 + axis][n] * side);
                        out[12 + 3 * k + axis][n] = F::fma(out[3 + axis][n], along, beside);
                    }
                }
            }
        }
        self.pose_ball::<F, L>(limbs, ball);
    }

    /// The ball about all parts of the trunk, once they are posed: most vertices are beyond it.
    #[inline(always)]
    fn pose_ball<F: Fuse, const L: usize>(&self, limbs: &[[f32; L]], ball: &mut [[f32; L]]) {
        let parts = limbs.as_chunks::<NUMBERS>().0.iter().zip(&self.shapes).enumerate();
        let trunk = parts.filter(|(k, _)| self.trunk >> k & 1 == 1).map(|(_, part)| part);
        let share = 1.0 / self.trunk.count_ones().max(1) as f32;
        ball.fill([0.0; L]);
        for (limb, _) in trunk.clone() {
            for axis in 0..3 {
                for n in 0..L {
                    ball[axis][n] = F::fma(limb[axis][n], share, ball[axis][n]);
                }
            }
        }
        for (limb, shape) in trunk {
            for n in 0..L {
                let mut apart_sq = 0.0;
                for axis in 0..3 {
                    let apart = limb[axis][n] - ball[axis][n];
                    apart_sq = F::fma(apart, apart, apart_sq);
                }
                let radius = apart_sq.sqrt() + shape.ends_m();
                let radius_sq = radius * radius;
                ball[3][n] = if radius_sq > ball[3][n] { radius_sq } else { ball[3][n] };
            }
        }
    }

    /// Lanes in which a vertex is within the ball about the trunk, bit by bit.
    #[inline(always)]
    fn at_trunk<F: Fuse, const W: usize>(&self, point: &[[f32; W]; 3], posed: &[[f32; W]]) -> u32 {
        let ball: &[[f32; W]; BALL] = posed.last_chunk().expect("the ball comes last");
        let mut beyond = [0u32; W];
        for n in 0..W {
            let [x, y, z] = [0, 1, 2].map(|axis| point[axis][n] - ball[axis][n]);
            beyond[n] = F::fma(x, x, F::fma(y, y, F::fma(z, z, -ball[3][n]))).to_bits();
        }
        F::signs(&beyond)
    }

    /// Whether a vertex meets any limb often.
    pub fn meets_often(&self, v: usize) -> bool {
        self.meets.get(v).is_some_and(|[often, _]| *often != 0)
    }

    /// Which of the limbs that a panel of vertices from `first` on may meet are near it.
    #[inline(always)]
    pub fn near<F: Fuse, const W: usize>(
        &self,
        first: usize,
        posed: &[[f32; W]],
        panel: &[[[f32; W]; 3]],
    ) -> Near {
        let mut near = Near { any: 0, lanes: [0; MAX_LIMBS] };
        let own = self.meets.get(first..first + panel.len()).unwrap_or_default();
        let mut bits = own.iter().fold(0, |bits, [_, may]| bits | may);
        if bits == 0 {
            return near;
        }
        let (mut low, mut high) = (panel[0], panel[0]);
        for point in &panel[1..] {
            for axis in 0..3 {
                for n in 0..W {
                    let at = point[axis][n];
                    low[axis][n] = if at < low[axis][n] { at } else { low[axis][n] };
                    high[axis][n] = if at > high[axis][n] { at } else { high[axis][n] };
                }
            }
        }
        let (mut centre, mut half) = ([[0.0f32; W]; 3], [[0.0f32; W]; 3]);
        for axis in 0..3 {
            for n in 0..W {
                centre[axis][n] = 0.5 * (low[axis][n] + high[axis][n]);
                half[axis][n] = 0.5 * (high[axis][n] - low[axis][n]);
            }
        }
        let posed = posed.as_chunks::<NUMBERS>().0;
        while bits != 0 {
            let k = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            let (shape, limb) = (&self.shapes[k], &posed[k]);
            let apart = apart(&centre, limb);
            // A box is apart from a limb where it is so along its line, across it or to its side.
            let along = gap::<F, W>(&apart, &half, limb, 3, shape.end);
            let across = gap::<F, W>(&apart, &half, limb, 6, shape.beside_m());
            let side = gap::<F, W>(&apart, &half, limb, 9, shape.beside_m());
            let mut close = [0u32; W];
            for n in 0..W {
                close[n] = along[n].to_bits() & across[n].to_bits() & side[n].to_bits();
            }
            near.lanes[k] = F::signs(&close);
            near.any |= u32::from(near.lanes[k] != 0) << k;
        }
        near
    }

    /// Moves a vertex out of limbs, or out of the trunk, in the lanes of `which`. Lanes that were within any, and those that were
    /// within several, bit by bit.
    #[inline(always)]
    pub fn clear<F: Fuse, const W: usize>(
        &self,
        v: usize,
        trunk: bool,
        mut which: u32,
        close: &Near,
        posed: &[[f32; W]],
        bones: &[[f32; W]],
        point: &mut [[f32; W]; 3],
    ) -> [u32; 2] {
        let (mut once, mut twice) = (0, 0);
        let Some(&[often, may]) = self.meets.get(v) else { return [0; 2] };
        let mut bits = (often | may & close.any) & if trunk { self.trunk } else { !self.trunk };
        if trunk && bits != 0 {
            which &= self.at_trunk::<F, W>(point, posed);
        }
        let posed = posed.as_chunks::<NUMBERS>().0;
        while bits != 0 {
            let k = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            let lanes = which & if often >> k & 1 == 1 { u32::MAX } else { close.lanes[k] };
            if lanes == 0 {
                continue;
            }
            let (shape, limb) = (&self.shapes[k], &posed[k]);
            let apart = apart(point, limb);
            let place = dot::<F, W>(&apart, limb, 3);
            let near = shape.near::<F, W>(&apart, &place, limb) & lanes;
            if near == 0 {
                continue;
            }
            let (across, side) = (dot::<F, W>(&apart, limb, 6), dot::<F, W>(&apart, limb, 9));
            let inside = shape.inside::<F, W>(&place, [&across, &side]);
            let within = inside.signs::<F>() & near;
            if within == 0 {
                continue;
            }
            let out = self.outward_at::<F, W>(v, bones, limb, shape.outward);
            let [by_across, by_side] = shape.out_of::<F, W>(&inside, &place, [&across, &side], &out);
            let mut moved = [[0.0f32; W]; 3];
            for axis in 0..3 {
                for n in 0..W {
                    let to = F::fma(limb[6 + axis][n], by_across[n], limb[9 + axis][n] * by_side[n]);
                    moved[axis][n] = point[axis][n] + to;
                }
            }
            // What is not moved keeps its bits, the sign of a zero too.
            for axis in 0..3 {
                F::replace(within, &moved[axis], &mut point[axis]);
            }
            twice |= once & within;
            once |= within;
        }
        [once, twice]
    }

    /// Which way is out of the body for a vertex, or into it where `sign` says so: across a posed limb and to its side.
    #[inline(always)]
    fn outward_at<F: Fuse, const W: usize>(
        &self,
        v: usize,
        bones: &[[f32; W]],
        limb: &[[f32; W]; NUMBERS],
        sign: f32,
    ) -> [[f32; W]; 2] {
        let (bone, outward) = self.outward[v];
        let outward = outward * sign;
        let bone: &[[f32; W]; 12] = bones[bone as usize..].first_chunk().expect("bones are whole");
        let mut out = [[0.0f32; W]; 3];
        for axis in 0..3 {
            for n in 0..W {
                let z = bone[6 + axis][n] * outward.z;
                let yz = F::fma(bone[3 + axis][n], outward.y, z);
                out[axis][n] = F::fma(bone[axis][n], outward.x, yz);
            }
        }
        [dot::<F, W>(&out, limb, 6), dot::<F, W>(&out, limb, 9)]
    }
}

/// How far a box is beyond `reach` in a direction of a limb.
#[inline(always)]
fn gap<F: Fuse, const W: usize>(
    apart: &[[f32; W]; 3],
    half: &[[f32; W]; 3],
    limb: &[[f32; W]; NUMBERS],
    at: usize,
    reach: f32,
) -> [f32; W] {
    let middle = dot::<F, W>(apart, limb, at);
    let mut out = [0.0f32; W];
    for n in 0..W {
        let [x, y, z] = [limb[at][n].abs(), limb[at + 1][n].abs(), limb[at + 2][n].abs()];
        let extent = F::fma(half[0][n], x, F::fma(half[1][n], y, F::fma(half[2][n], z, reach)));
        out[n] = middle[n].abs() - extent;
    }
    out
}

#[inline(always)]
fn apart<const W: usize>(point: &[[f32; W]; 3], limb: &[[f32; W]; NUMBERS]) -> [[f32; W]; 3] {
    let mut apart = [[0.0f32; W]; 3];
    for axis in 0..3 {
        for n in 0..W {
            apart[axis][n] = point[axis][n] - limb[axis][n];
        }
    }
    apart
}

/// How far vertices are within a limb, in every lane.
struct Inside<const W: usize> {
    /// Terms around the limb at their place along it.
    terms: [[f32; W]; KEPT_AROUND],
    /// Distances from its line, and what they are short of the radius.
    rho: [f32; W],
    missing: [f32; W],
}

impl<const W: usize> Inside<W> {
    /// Lanes that are within, bit by bit.
    #[inline(always)]
    fn signs<F: Fuse>(&self) -> u32 {
        let mut within = [0u32; W];
        for n in 0..W {
            // Less than nothing is missing: the sign.
            within[n] = (0.0 - self.missing[n]).to_bits();
        }
        F::signs(&within)
    }
}

impl Shape {
    /// How far beside the line a panel may be and still meet the limb, m.
    pub fn beside_m(&self) -> f32 {
        self.largest_m + SLACK_M
    }

    /// From its middle to the farthest of its ends, m.
    fn ends_m(&self) -> f32 {
        self.half_sq.sqrt() + self.largest_m
    }

    /// Lanes in which a vertex may be within the limb, bit by bit.
    #[inline(always)]
    fn near<F: Fuse, const W: usize>(
        &self,
        apart: &[[f32; W]; 3],
        place: &[f32; W],
        limb: &[[f32; W]; NUMBERS],
    ) -> u32 {
        let (u, v) = (dot::<F, W>(apart, limb, 12), dot::<F, W>(apart, limb, 15));
        let ([from_u, from_v], [a, b, c]) = (self.cover.from, self.cover.reach_m);
        let mut near = [0u32; W];
        for n in 0..W {
            let (u, v) = (u[n] - from_u, v[n] - from_v);
            let reach = F::fma(F::fma(place[n], c, b), place[n], a);
            let beyond = F::fma(u, u, F::fma(v, v, -(reach * reach)));
            // By the signs: comparisons would be gathered lane by lane.
            near[n] = (place[n].abs() - 1.0).to_bits() & beyond.to_bits();
        }
        F::signs(&near)
    }

    /// How far within the limb vertices are.
    #[inline(always)]
    fn inside<F: Fuse, const W: usize>(&self, place: &[f32; W], [x, y]: [&[f32; W]; 2]) -> Inside<W> {
        // The terms around the limb at this place.
        let [a, b, c, d, e] = &self.radius;
        let of = |coefficients| polynomial::<F, W>(coefficients, place);
        // Written out: in a loop over the terms the compiler makes lanes of them.
        let terms = [of(a), of(b), of(c), of(d), of(e)];
        let (mut rho, mut cos, mut sin) = ([0.0f32; W], [0.0f32; W], [0.0f32; W]);
        for n in 0..W {
            let rho_sq = F::fma(x[n], x[n], F::fma(y[n], y[n], 1e-12));
            let per = inverse_sqrt::<F>(rho_sq);
            (rho[n], cos[n], sin[n]) = (rho_sq * per, x[n] * per, y[n] * per);
        }
        let radius = self.radius_at::<F, W>(&terms, &cos, &sin);
        let mut missing = [0.0f32; W];
        for n in 0..W {
            missing[n] = radius[n] - rho[n];
        }
        Inside { terms, rho, missing }
    }

    /// By how much a vertex is to be moved across and to the side. It goes straight away from the line where it is hardly
    /// inside; the deeper it is, the more towards the side that is out of the body for it: the front of a skirt comes
    /// out in front of a thigh that has passed through it.
    #[inline(always)]
    fn out_of<F: Fuse, const W: usize>(
        &self,
        inside: &Inside<W>,
        place: &[f32; W],
        [x, y]: [&[f32; W]; 2],
        [out_x, out_y]: &[[f32; W]; 2],
    ) -> [[f32; W]; 2] {
        let Inside { terms, rho, missing } = inside;
        let mut toward = [[0.0f32; W]; 2];
        for n in 0..W {
            let (to_x, to_y) = (F::fma(out_x[n], missing[n], x[n]), F::fma(out_y[n], missing[n], y[n]));
            let per = inverse_sqrt::<F>(F::fma(to_x, to_x, F::fma(to_y, to_y, 1e-12)));
            (toward[0][n], toward[1][n]) = (to_x * per, to_y * per);
        }
        let radius = self.radius_at::<F, W>(terms, &toward[0], &toward[1]);
        let mut by = [[0.0f32; W]; 2];
        for n in 0..W {
            let at = if radius[n] > rho[n] { radius[n] } else { rho[n] };
            let fade = (1.0 - place[n].abs()) * (1.0 / FADE);
            let fade = if fade < 1.0 { fade } else { 1.0 };
            by[0][n] = F::fma(toward[0][n], at, -x[n]) * fade;
            by[1][n] = F::fma(toward[1][n], at, -y[n]) * fade;
        }
        by
    }

    /// The radius, with the margin, in a unit direction.
    #[inline(always)]
    fn radius_at<F: Fuse, const W: usize>(
        &self,
        terms: &[[f32; W]; KEPT_AROUND],
        cos: &[f32; W],
        sin: &[f32; W],
    ) -> [f32; W] {
        let mut out = [0.0f32; W];
        for n in 0..W {
            let (c, s) = (cos[n], sin[n]);
            let (cos2, sin2) = (F::fma(c, c, -(s * s)), 2.0 * c * s);
            let first = F::fma(terms[1][n], c, F::fma(terms[2][n], s, terms[0][n] + self.margin_m));
            out[n] = F::fma(terms[3][n], cos2, F::fma(terms[4][n], sin2, first));
        }
        out
    }
}

/// An ellipse about every section of a limb, with the margin: what is beyond it is not in the limb.
struct Cover {
    /// Two directions as shares of along, across and side. A product with them, less `from`, is the place in the ellipse.
    ways: [[f32; 3]; 2],
    from: [f32; 2],
    /// Its radius, a polynomial along the line, m.
    reach_m: [f32; 3],
}

impl Cover {
    fn new(radius: &[[f32; KEPT_ALONG]; KEPT_AROUND], margin_m: f32) -> Self {
        let term = |k: usize, place: f32| radius[k].iter().rev().fold(0.0, |sum, c| sum * place + c);
        let places = || (0..=64).map(|i| i as f32 / 32.0 - 1.0);
        let mean = |k: usize| places().map(|p| term(k, p)).sum::<f32>() / 65.0;
        let slope =
            |k: usize| places().map(|p| p * term(k, p)).sum::<f32>() / places().map(|p| p * p).sum::<f32>();
        // The first harmonic is where the middle of a section is, the second how much longer it is than wide, and which way.
        let (middle, drift) = ([mean(1), mean(2)], [slope(1), slope(2)]);
        let (cos2, sin2) = (mean(3), mean(4));
        let longer = (cos2.hypot(sin2) / mean(0).abs().max(1e-3)).min(0.4);
        let (sin, cos) = (0.5 * sin2.atan2(cos2)).sin_cos();
        let axes = [[cos, sin, 1.0 + longer], [-sin, cos, 1.0 - longer]];
        let ways = axes.map(|[x, y, long]| [-(x * drift[0] + y * drift[1]) / long, x / long, y / long]);
        let from = axes.map(|[x, y, long]| (x * middle[0] + y * middle[1]) / long);
        let largest = |place: f32| {
            let terms: [f32; KEPT_AROUND] = std::array::from_fn(|k| term(k, place));
            let reach = |step: i32| {
                let (s, c) = (step as f32 / 64.0 * std::f32::consts::TAU).sin_cos();
                let around = [1.0, c, s, c * c - s * s, 2.0 * c * s];
                let rho = margin_m + terms.iter().zip(around).map(|(t, a)| t * a).sum::<f32>();
                let at = |[along, across, side]: [f32; 3]| place * along + rho * (c * across + s * side);
                (at(ways[0]) - from[0]).hypot(at(ways[1]) - from[1])
            };
            // The line itself is within, too: what is between it and the skin then is.
            let line = (place * ways[0][0] - from[0]).hypot(place * ways[1][0] - from[1]);
            (0..64).map(reach).fold(line, f32::max)
        };
        let all: Vec<(f32, f32)> = places().map(|p| (p, largest(p))).collect();
        let sum = |f: &dyn Fn(f32, f32) -> f32| all.iter().map(|(p, r)| f(*p, *r)).sum::<f32>() / 65.0;
        // Even and odd powers are apart from each other on the whole of the line.
        let (squares, fourths) = (sum(&|p, _| p * p), sum(&|p, _| p.powi(4)));
        let (flat, bent) = (sum(&|_, r| r), sum(&|p, r| p * p * r));
        let c = (bent - squares * flat) / (fourths - squares * squares);
        let b = sum(&|p, r| p * r) / squares;
        let above = all.iter().map(|(p, r)| r - b * p - c * p * p).fold(0.0, f32::max);
        // Between the places looked at it is hardly larger.
        Self { ways, from, reach_m: [1.02 * above + 0.02 * (b.abs() + c.abs()), b, c] }
    }
}

/// The shape of a limb with fewer coefficients along it and fewer terms around it: Legendre polynomials up to the degree that
/// is kept, which is nearest on the whole of the line.
fn simplified(limb: &LimbTube) -> [[f32; KEPT_ALONG]; KEPT_AROUND] {
    /// x⁴ and x⁵ by their parts along 1, x, x² and x³.
    const HIGHER: [[f32; KEPT_ALONG]; 2] =
        [[-3.0 / 35.0, 0.0, 6.0 / 7.0, 0.0], [0.0, -5.0 / 21.0, 0.0, 10.0 / 9.0]];
    std::array::from_fn(|k| {
        std::array::from_fn(|i| {
            limb.radius[i][k] + limb.radius[4][k] * HIGHER[0][i] + limb.radius[5][k] * HIGHER[1][i]
        })
    })
}

/// Where the radius of a limb with the margin ends, from place to place: no larger than `a + b · place`.
fn reach_m(radius: &[[f32; KEPT_ALONG]; KEPT_AROUND], margin_m: f32) -> [f32; 2] {
    let largest = |place: f32| {
        let term = |k: usize| radius[k].iter().rev().fold(0.0, |sum, c| sum * place + c);
        // Two harmonics reach no farther than this in any direction.
        term(0) + term(1).hypot(term(2)) + term(3).hypot(term(4))
    };
    let places: Vec<(f32, f32)> = (0..=64).map(|i| i as f32 / 32.0 - 1.0).map(|p| (p, largest(p))).collect();
    let squares: f32 = places.iter().map(|(p, _)| p * p).sum();
    let slope = places.iter().map(|(p, r)| p * r).sum::<f32>() / squares;
    let above = places.iter().map(|(p, r)| r - slope * p).fold(0.0, f32::max);
    // Between the places looked at it is hardly larger.
    [1.02 * above + 0.02 * slope.abs() + margin_m, slope]
}

/// A polynomial at the place of every lane.
#[inline(always)]
fn polynomial<F: Fuse, const W: usize>(coefficients: &[f32; KEPT_ALONG], at: &[f32; W]) -> [f32; W] {
    let [a, b, c, d] = *coefficients;
    let mut out = [0.0f32; W];
    for n in 0..W {
        out[n] = F::fma(F::fma(F::fma(d, at[n], c), at[n], b), at[n], a);
    }
    out
}

/// The product of `v` with three rows of `limb` from `at` on.
#[inline(always)]
fn dot<F: Fuse, const W: usize>(v: &[[f32; W]; 3], limb: &[[f32; W]], at: usize) -> [f32; W] {
    let limb: &[[f32; W]; 3] = limb[at..].first_chunk().expect("three rows");
    let mut out = [0.0f32; W];
    for n in 0..W {
        let z = v[2][n] * limb[2][n];
        out[n] = F::fma(v[0][n], limb[0][n], F::fma(v[1][n], limb[1][n], z));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::fuse::Exact;
    use super::*;
    use toile_geometry::Random;
    use toile_model::{AROUND, NEIGHBOURS, Skin};

    /// An upper arm along x, 5 cm thick, and a bodice below it whose outside is up.
    fn arm_over(weight_on_arm: f32) -> Limbs {
        let mut radius = [[0.0; AROUND]; toile_model::ALONG];
        radius[0][0] = 0.05;
        let limb = LimbTube {
            joint: 1,
            middle: Vec3::ZERO,
            half: Vec3::new(0.15, 0.0, 0.0),
            across: Vec3::Y,
            radius,
        };
        let rows = [vec![(0u16, 1.0 - weight_on_arm), (1, weight_on_arm)]];
        let worn = Attachment { rest: vec![Vec3::ZERO], skin: Skin::from_rows(rows).unwrap() };
        let shield = Shield {
            points: vec![Vec3::ZERO],
            normals: vec![Vec3::Y],
            skin: Skin::from_rows([vec![(0u16, 1.0)]]).unwrap(),
            near: vec![[0; NEIGHBOURS]],
            margin_m: 0.003,
            limit_m: 0.15,
            limbs: vec![limb],
            trunk: 0,
            meets: vec![1],
            outward: vec![Vec3::Y],
        };
        Limbs::new(&shield, &worn)
    }

    fn cleared(limbs: &Limbs, at: Vec3) -> Vec3 {
        let bones: Vec<[f32; 1]> = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
            .repeat(2)
            .iter()
            .map(|v| [*v])
            .collect();
        let mut posed = vec![[0.0f32; 1]; limbs.room()];
        limbs.pose::<Exact, 1>(&bones, &mut posed);
        let mut point = at.to_array().map(|v| [v]);
        let close = limbs.near::<Exact, 1>(0, &posed, &[point]);
        limbs.clear::<Exact, 1>(0, false, 1, &close, &posed, &bones, &mut point);
        Vec3::from_array(point.map(|[v]| v))
    }

    #[test]
    fn cloth_goes_under_an_arm_that_lies_on_it_and_over_one_that_it_is_worn_on() {
        // Deep in the arm, a little above its middle.
        let at = Vec3::new(0.02, 0.005, 0.0);
        let (beside, worn) = (cleared(&arm_over(0.0), at), cleared(&arm_over(1.0), at));
        assert!(beside.y < -0.05 && worn.y > 0.05, "{beside} {worn}");
        let outside = Vec3::new(0.02, 0.06, 0.0);
        assert_eq!(cleared(&arm_over(0.0), outside), outside);
    }

    #[test]
    fn nothing_of_a_limb_is_beyond_its_cover() {
        let mut random = Random::new(5);
        for _ in 0..200 {
            let mut radius = [[0.0f32; KEPT_ALONG]; KEPT_AROUND];
            for (k, row) in radius.iter_mut().enumerate() {
                row.iter_mut().for_each(|c| *c = random.signed() as f32 * if k == 0 { 0.02 } else { 0.01 });
            }
            radius[0][0] = 0.12;
            let cover = Cover::new(&radius, 0.005);
            for _ in 0..500 {
                let place = random.signed() as f32;
                let (s, c) = (random.signed() as f32 * std::f32::consts::PI).sin_cos();
                let term = |k: usize| radius[k].iter().rev().fold(0.0, |sum, c| sum * place + c);
                let around = [1.0, c, s, c * c - s * s, 2.0 * c * s];
                let skin = 0.005 + (0..KEPT_AROUND).map(|k| term(k) * around[k]).sum::<f32>();
                let rho = skin * random.signed().abs() as f32;
                let [u, v] = [0, 1].map(|k| {
                    let [along, across, side] = cover.ways[k];
                    place * along + rho * (c * across + s * side) - cover.from[k]
                });
                let [a, b, c] = cover.reach_m;
                let reach = a + place * (b + place * c);
                assert!(u.hypot(v) <= reach, "{} of {reach}", u.hypot(v));
            }
        }
    }
}
