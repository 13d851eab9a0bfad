//! Vertices that are within an arm or a leg are moved out of it, lanes over instances as in [`super::skin`].
//!
//! Limbs that a vertex meets often are always looked at, others where the box about its panel is near them. Most vertices are
//! beside a limb, not in it: what that takes is the distance from its middle and the place along its line. The radius is
//! looked up only where one of the lanes is near enough. Which limbs a lane is held against is its own affair, and one
//! that is not moved keeps its bits, so which instances share lanes changes nothing.
//! Measured and left: lanes over the vertices of a panel, instance by instance. Nothing waits for others then, but a panel
//! of a garment is half a metre long, so that most limbs are near it, and one short product after the other waits
//! for itself: twice the time.

use super::fuse::Fuse;
use super::normals::inverse_sqrt;
use glam::Vec3;
use toile_model::{Attachment, CARRIED, LimbTube, MAX_LIMBS, Shield};

/// Numbers of a posed limb: its middle, its line, across and to the side.
const NUMBERS: usize = 12;
/// The sign of a number.
const SIGN: u32 = 1 << 31;
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
    pub reach_m: [f32; 2],
    /// The largest of that.
    largest_m: f32,
    /// Square of half the line's length.
    pub half_sq: f32,
    /// Where it ends, with what others may push a vertex by, as a place along the line.
    pub end: f32,
    pub margin_m: f32,
}

/// Which limbs are near a panel of vertices: bit by bit in any lane, and all bits of a number for each lane.
pub(crate) struct Near<const W: usize> {
    any: u32,
    lanes: [[u32; W]; MAX_LIMBS],
}

impl Limbs {
    pub fn new(shield: &Shield, worn: &Attachment) -> Self {
        let margin_m = shield.margin_m + BESIDE_M;
        let shape = |limb: &LimbTube| {
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
                half_sq: limb.half.length_squared(),
                end: 1.0 + SLACK_M / limb.half.length(),
                margin_m,
            }
        };
        let carried_by = |v: usize| {
            worn.skin.row(v).max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(joint, _)| u32::from(joint))
        };
        let first_of_trunk = shield.limbs.len() - shield.trunk;
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
        Self {
            trunk: (((1u64 << shield.trunk) - 1) << first_of_trunk) as u32,
            shapes: shield.limbs.iter().map(shape).collect(),
            meets: shield.meets.iter().enumerate().map(|(v, often)| [*often, may_meet(v) & !often]).collect(),
            outward: shield.outward.iter().enumerate().map(|(v, n)| (12 * carried_by(v), *n)).collect(),
        }
    }

    /// Numbers that posed limbs take in one lane.
    pub fn room(&self) -> usize {
        NUMBERS * self.shapes.len()
    }

    /// Poses the limbs for all lanes.
    #[inline(always)]
    pub fn pose<F: Fuse, const L: usize>(&self, bones: &[[f32; L]], out: &mut [[f32; L]]) {
        for (shape, out) in self.shapes.iter().zip(out.as_chunks_mut::<NUMBERS>().0) {
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
        }
    }

    /// Which way is out of the body for a vertex: across a posed limb and to its side.
    #[inline(always)]
    fn outward_at<F: Fuse, const W: usize>(
        &self,
        v: usize,
        bones: &[[f32; W]],
        limb: &[[f32; W]; NUMBERS],
    ) -> [[f32; W]; 2] {
        let (bone, outward) = self.outward[v];
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

    /// All bits where a vertex meets any limb often, or none.
    pub fn meets_often(&self, v: usize) -> u32 {
        0u32.wrapping_sub(u32::from(self.meets.get(v).is_some_and(|[often, _]| *often != 0)))
    }

    /// Which of the limbs that a panel of vertices from `first` on may meet are near it.
    #[inline(always)]
    pub fn near<F: Fuse, const W: usize>(
        &self,
        first: usize,
        posed: &[[f32; W]],
        panel: &[[[f32; W]; 3]],
    ) -> Near<W> {
        let mut near = Near { any: 0, lanes: [[0; W]; MAX_LIMBS] };
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
            let mut any = 0;
            for n in 0..W {
                near.lanes[k][n] = along[n].to_bits() & across[n].to_bits() & side[n].to_bits();
                any |= near.lanes[k][n];
            }
            near.any |= (any >> 31) << k;
        }
        near
    }

    /// Moves a vertex out of limbs, or out of the trunk, in lanes whose sign is set in `which`. Signs of lanes that were
    /// within any, and of those that were within several.
    #[inline(always)]
    pub fn clear<F: Fuse, const W: usize>(
        &self,
        v: usize,
        trunk: bool,
        which: &[u32; W],
        close: &Near<W>,
        posed: &[[f32; W]],
        bones: &[[f32; W]],
        point: &mut [[f32; W]; 3],
    ) -> [[u32; W]; 2] {
        let (mut once, mut twice) = ([0u32; W], [0u32; W]);
        let Some(&[often, may]) = self.meets.get(v) else { return [once, twice] };
        let posed = posed.as_chunks::<NUMBERS>().0;
        let mut bits = (often | may & close.any) & if trunk { self.trunk } else { !self.trunk };
        while bits != 0 {
            let k = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            let (shape, limb) = (&self.shapes[k], &posed[k]);
            let apart = apart(point, limb);
            let place = dot::<F, W>(&apart, limb, 3);
            let always = 0u32.wrapping_sub(often >> k & 1);
            let (mut near, mut any) = ([0u32; W], 0);
            for n in 0..W {
                let apart_sq = F::fma(apart[0][n], apart[0][n], apart[1][n] * apart[1][n]);
                let apart_sq = F::fma(apart[2][n], apart[2][n], apart_sq);
                let reach = F::fma(place[n], shape.reach_m[1], shape.reach_m[0]);
                let beyond = F::fma(-reach, reach, F::fma(-place[n] * shape.half_sq, place[n], apart_sq));
                // By the signs: comparisons would be gathered lane by lane.
                near[n] = (place[n].abs() - 1.0).to_bits()
                    & beyond.to_bits()
                    & which[n]
                    & (always | close.lanes[k][n]);
                any |= near[n];
            }
            if any & SIGN == 0 {
                continue;
            }
            let (across, side) = (dot::<F, W>(&apart, limb, 6), dot::<F, W>(&apart, limb, 9));
            let Some(inside) = shape.inside::<F, W>(&place, [&across, &side], &near) else { continue };
            let out = self.outward_at::<F, W>(v, bones, limb);
            let [by_across, by_side] = shape.out_of::<F, W>(&inside, &place, [&across, &side], &out);
            for axis in 0..3 {
                for n in 0..W {
                    let moved = F::fma(limb[6 + axis][n], by_across[n], limb[9 + axis][n] * by_side[n]);
                    // What is not moved keeps its bits, the sign of a zero too.
                    let to = point[axis][n] + moved;
                    point[axis][n] = if moved == 0.0 { point[axis][n] } else { to };
                }
            }
            for n in 0..W {
                // Less than nothing is missing: the sign.
                let within = (0.0 - inside.missing[n]).to_bits();
                twice[n] |= once[n] & within;
                once[n] |= within;
            }
        }
        [once, twice]
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

/// Vertices that are within a limb, in every lane.
struct Inside<const W: usize> {
    /// Terms around the limb at their place along it.
    terms: [[f32; W]; KEPT_AROUND],
    /// Distances from its line, and what they are short of the radius.
    rho: [f32; W],
    missing: [f32; W],
}

impl Shape {
    /// How far beside the line a panel may be and still meet the limb, m.
    pub fn beside_m(&self) -> f32 {
        self.largest_m + SLACK_M
    }

    /// How far within the limb vertices are; `None` where no lane is.
    #[inline(always)]
    fn inside<F: Fuse, const W: usize>(
        &self,
        place: &[f32; W],
        [x, y]: [&[f32; W]; 2],
        near: &[u32; W],
    ) -> Option<Inside<W>> {
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
        let (mut missing, mut inside, mut any) = ([0.0f32; W], [0u32; W], 0u32);
        for n in 0..W {
            // Its sign and that of being near.
            inside[n] = (rho[n] - radius[n]).to_bits() & near[n] & SIGN;
            any |= inside[n];
        }
        for n in 0..W {
            missing[n] = if inside[n] != 0 { radius[n] - rho[n] } else { 0.0 };
        }
        (any != 0).then_some(Inside { terms, rho, missing })
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
            let fade = if missing[n] > 0.0 { fade } else { 0.0 };
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

#[inline(always)]
fn dot<F: Fuse, const W: usize>(v: &[[f32; W]; 3], limb: &[[f32; W]; NUMBERS], at: usize) -> [f32; W] {
    let mut out = [0.0f32; W];
    for n in 0..W {
        let z = v[2][n] * limb[at + 2][n];
        out[n] = F::fma(v[0][n], limb[at][n], F::fma(v[1][n], limb[at + 1][n], z));
    }
    out
}
