//! Vertices that are within an arm or a leg are moved out of it, lanes over instances as in [`super::skin`].
//!
//! Limbs that a vertex meets often are always looked at, others where the box about its panel is near them. Every section of
//! a limb is an ellipse ([`Section`]): one look says whether a vertex is in it, and how far. Which limbs a lane is held
//! against is its own affair, and one that is not moved keeps its bits, so which instances share lanes changes nothing.
//! Measured and left: lanes over the vertices of a panel, instance by instance (twice the time: a panel of a garment is
//! half a metre long, so that most limbs are near it), and a queue of the lanes that are near a limb, worked side by side
//! whatever vertex they are of (a tenth more: with sixteen lanes half of all are near, and bringing them together costs as
//! much as it saves).

mod panel;

use super::PLACED;
use super::fuse::Fuse;
use super::normals::inverse_sqrt;
use glam::Vec3;
use panel::{column, move_out};
use toile_model::{Attachment, CARRIED, LimbTube, MAX_LIMBS, Section, Shield};

/// Numbers of a posed limb: three linear functions of a place ([`ALONG`], [`ACROSS`]), the two axes of its ellipse, each over its
/// length, its line and its middle.
const NUMBERS: usize = 24;
/// Where along its line a place is.
const ALONG: usize = 0;
/// How far a place is off its middle along both axes, but for what a bend adds.
const ACROSS: [usize; 2] = [4, 8];
const WAYS: [usize; 2] = [12, 15];
const LINE: usize = 18;
const MIDDLE: usize = 21;
/// Numbers that come after all limbs: the middle of a ball about the trunk and the square of its radius, and what places are seen
/// from, so that little is lost where the world is large.
const LAST: usize = 4 + 3;
/// Over this share of half a limb from its ends it fades, so that nothing jumps where a vertex slides over them.
pub(crate) const FADE: f32 = 0.12;
/// How far outside of limbs vertices are kept, m: between them edges cut the round of a thigh, and no thigh is quite an ellipse.
const BESIDE_M: f32 = 0.004;
/// A limb that fewer than one in so many vertices meet often is rare.
const RARE: usize = 100;
/// The least weight by which a limb carries the edge of a garment.
const EDGE: f32 = 0.02;
/// Limbs this far from the box about a panel are held against its vertices, m: others may push them so far.
const SLACK_M: f32 = 0.03;
/// Vertices of a panel.
pub(super) const VERTICES: usize = PLACED / 3;

/// Arms and legs, ready to be posed.
pub(crate) struct Limbs {
    pub shapes: Vec<Shape>,
    /// For every vertex which shapes it meets often, and which it may meet, bit by bit.
    pub meets: Vec<[u32; 2]>,
    /// The same the other way round, for every panel and shape: which vertices meet it often, and which may.
    met_by: Vec<[u16; 2]>,
    /// Parts of the trunk, bit by bit.
    pub trunk: u32,
    /// Limbs that lie on the garment.
    pub above: u32,
    /// For every vertex the bone that carries it most, as the place of its matrix, and which way is out.
    pub outward: Vec<(u32, Vec3)>,
}

pub(crate) struct Shape {
    /// Where the bones' matrices begin: of what lies between two limbs both, by halves, else the same twice.
    pub bones: [usize; 2],
    pub middle: Vec3,
    /// Half the line over the square of its length: a product with it is the place along the line, −1 to 1.
    pub along: Vec3,
    pub section: Section,
    /// From the middle to the farthest of the limb, m.
    pub ends_m: f32,
    /// Where it ends, with what others may push a vertex by, as a place along the line.
    pub end: f32,
    /// How far from its line a panel may be and still meet the limb, in the ellipse's measure.
    pub beside: f32,
    /// Which way is out of it for cloth that is deep in it: 1 where that is out of the body, as for a skirt over thighs, −1 where it
    /// is in, as for a bodice that an arm lies on.
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
        // A limb that carries the garment's edge and nothing of it whole comes out of an opening: it lies on the cloth.
        let comes_out = |limb: &LimbTube| {
            let most = (0..worn.rest.len()).map(|v| worn.skin.weight(v, limb.joint)).fold(0.0, f32::max);
            limb.other.is_none() && (EDGE..CARRIED).contains(&most) && !limb.is_within(&worn.rest)
        };
        let first_of_trunk = shield.limbs.len() - shield.trunk;
        let shape = |(k, limb): (usize, &LimbTube)| {
            let (section, half_m) = (Section::new(limb, margin_m), limb.half.length());
            Shape {
                bones: [limb.joint, limb.other.unwrap_or(limb.joint)].map(|j| 12 * j as usize),
                middle: limb.middle,
                along: limb.half / limb.half.length_squared(),
                ends_m: half_m + section.largest() * section.long[0],
                end: 1.0 + SLACK_M / half_m,
                beside: section.largest() + SLACK_M / section.long[1],
                section,
                outward: if k < first_of_trunk && comes_out(limb) { -1.0 } else { 1.0 },
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
        let shapes: Vec<Shape> = shield.limbs.iter().enumerate().map(shape).collect();
        let met_by =
            meets.chunks(VERTICES).flat_map(|panel| (0..shapes.len()).map(move |k| column(panel, k)));
        let lies_above = |(k, s): (usize, &Shape)| u32::from(s.outward < 0.0) << k;
        Self {
            above: shapes.iter().enumerate().map(lies_above).sum(),
            trunk: (((1u64 << shield.trunk) - 1) << first_of_trunk) as u32,
            met_by: met_by.collect(),
            shapes,
            meets,
            outward: shield.outward.iter().enumerate().map(|(v, n)| (12 * carried_by(v), *n)).collect(),
        }
    }

    /// Numbers that posed limbs take in one lane.
    pub fn room(&self) -> usize {
        NUMBERS * self.shapes.len() + LAST
    }

    /// Poses the limbs for all lanes.
    #[inline(always)]
    pub fn pose<F: Fuse, const L: usize>(&self, bones: &[[f32; L]], out: &mut [[f32; L]]) {
        let (limbs, last) = out.split_at_mut(NUMBERS * self.shapes.len());
        let (ball, origin) = last.split_at_mut(4);
        let origin: &mut [[f32; L]; 3] = origin.first_chunk_mut().expect("it comes last");
        for (shape, out) in self.shapes.iter().zip(limbs.as_chunks_mut::<NUMBERS>().0) {
            shape.pose::<F, L>(bones, out);
        }
        let posed = limbs.as_chunks_mut::<NUMBERS>().0;
        // Any place near the wearer would do.
        *origin = posed.last().map_or([[0.0; L]; 3], |limb| *rows(limb, MIDDLE));
        for (shape, limb) in self.shapes.iter().zip(posed) {
            shape.place::<F, L>(origin, limb);
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
                    ball[axis][n] = F::fma(limb[MIDDLE + axis][n], share, ball[axis][n]);
                }
            }
        }
        for (limb, shape) in trunk {
            for n in 0..L {
                let mut apart_sq = 0.0;
                for axis in 0..3 {
                    let apart = limb[MIDDLE + axis][n] - ball[axis][n];
                    apart_sq = F::fma(apart, apart, apart_sq);
                }
                let radius = apart_sq.sqrt() + shape.ends_m;
                let radius_sq = radius * radius;
                ball[3][n] = if radius_sq > ball[3][n] { radius_sq } else { ball[3][n] };
            }
        }
    }

    /// Lanes in which a vertex is within the ball about the trunk, bit by bit.
    #[inline(always)]
    fn at_trunk<F: Fuse, const W: usize>(&self, point: &[[f32; W]; 3], posed: &[[f32; W]]) -> u32 {
        let ball: &[[f32; W]; LAST] = posed.last_chunk().expect("it comes last");
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
            let apart = apart(&centre, rows(limb, MIDDLE));
            // A box is apart from a limb where it is so along its line, across it or to its side.
            let along = gap::<F, W>(&apart, &half, limb, LINE, shape.end);
            let long = gap::<F, W>(&apart, &half, limb, WAYS[0], shape.beside);
            let wide = gap::<F, W>(&apart, &half, limb, WAYS[1], shape.beside);
            let mut close = [0u32; W];
            for n in 0..W {
                close[n] = along[n].to_bits() & long[n].to_bits() & wide[n].to_bits();
            }
            near.lanes[k] = F::signs(&close);
            near.any |= u32::from(near.lanes[k] != 0) << k;
        }
        near
    }

    /// Moves a vertex out of `limbs` (bit by bit) in the lanes of `which`. Lanes that were within any, and those that were
    /// within several, bit by bit.
    #[inline(always)]
    pub fn clear<F: Fuse, const W: usize>(
        &self,
        v: usize,
        limbs: u32,
        mut which: u32,
        close: &Near,
        posed: &[[f32; W]],
        bones: &[[f32; W]],
        point: &mut [[f32; W]; 3],
    ) -> [u32; 2] {
        let (mut once, mut twice) = (0, 0);
        let Some(&[often, may]) = self.meets.get(v) else { return [0; 2] };
        let mut bits = (often | may & close.any) & limbs;
        if bits & self.trunk != 0 {
            which &= self.at_trunk::<F, W>(point, posed);
            if which == 0 {
                return [0; 2];
            }
        }
        let origin: &[[f32; W]; 3] = posed.last_chunk().expect("it comes last");
        let mut seen = apart(point, origin);
        let posed = posed.as_chunks::<NUMBERS>().0;
        while bits != 0 {
            let k = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            let lanes = which & if often >> k & 1 == 1 { u32::MAX } else { close.lanes[k] };
            if lanes == 0 {
                continue;
            }
            let (shape, limb) = (&self.shapes[k], &posed[k]);
            let place = at_place::<F, W>(&seen, limb, ALONG);
            let inside = shape.inside::<F, W>(&seen, &place, limb);
            let within = inside.signs::<F>(&place) & lanes;
            if within == 0 {
                continue;
            }
            let out = self.outward_at::<F, W>(v, bones, limb, shape);
            move_out::<F, W>(within, shape, limb, &inside, &place, &out, point);
            seen = apart(point, origin);
            twice |= once & within;
            once |= within;
        }
        [once, twice]
    }

    /// Which way is out of the body for a vertex, or into it where the limb lies on the garment, in the ellipse's measure.
    #[inline(always)]
    fn outward_at<F: Fuse, const W: usize>(
        &self,
        v: usize,
        bones: &[[f32; W]],
        limb: &[[f32; W]; NUMBERS],
        shape: &Shape,
    ) -> [[f32; W]; 2] {
        let (bone, outward) = self.outward[v];
        let outward = outward * shape.outward;
        let bone: &[[f32; W]; 12] = bones[bone as usize..].first_chunk().expect("bones are whole");
        let mut out = [[0.0f32; W]; 3];
        for axis in 0..3 {
            for n in 0..W {
                let z = bone[6 + axis][n] * outward.z;
                let yz = F::fma(bone[3 + axis][n], outward.y, z);
                out[axis][n] = F::fma(bone[axis][n], outward.x, yz);
            }
        }
        [dot::<F, W>(&out, limb, WAYS[0]), dot::<F, W>(&out, limb, WAYS[1])]
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

/// Three rows of a posed limb.
#[inline(always)]
fn rows<const W: usize>(limb: &[[f32; W]; NUMBERS], at: usize) -> &[[f32; W]; 3] {
    limb[at..].first_chunk().expect("three rows")
}

#[inline(always)]
fn apart<const W: usize>(point: &[[f32; W]; 3], from: &[[f32; W]; 3]) -> [[f32; W]; 3] {
    let mut apart = [[0.0f32; W]; 3];
    for axis in 0..3 {
        for n in 0..W {
            apart[axis][n] = point[axis][n] - from[axis][n];
        }
    }
    apart
}

/// One of a limb's linear functions of a place.
#[inline(always)]
fn at_place<F: Fuse, const W: usize>(
    seen: &[[f32; W]; 3],
    limb: &[[f32; W]; NUMBERS],
    at: usize,
) -> [f32; W] {
    let limb: &[[f32; W]; 4] = limb[at..].first_chunk().expect("four rows");
    let mut out = [0.0f32; W];
    for n in 0..W {
        let z = F::fma(seen[2][n], limb[2][n], limb[3][n]);
        out[n] = F::fma(seen[0][n], limb[0][n], F::fma(seen[1][n], limb[1][n], z));
    }
    out
}

/// Where vertices are in the section of a limb, in every lane.
struct Inside<const W: usize> {
    /// From the middle of the section, in the ellipse's measure, and the square of that distance.
    at: [[f32; W]; 2],
    at_sq: [f32; W],
    /// How far the section reaches.
    reach: [f32; W],
}

impl<const W: usize> Inside<W> {
    /// Lanes that are within, bit by bit.
    #[inline(always)]
    fn signs<F: Fuse>(&self, place: &[f32; W]) -> u32 {
        let mut within = [0u32; W];
        for n in 0..W {
            // By the signs: comparisons would be gathered lane by lane.
            let beyond = F::fma(self.reach[n], -self.reach[n], self.at_sq[n]);
            within[n] = (place[n].abs() - 1.0).to_bits() & beyond.to_bits();
        }
        F::signs(&within)
    }
}

impl Shape {
    /// Poses the limb for all lanes.
    #[inline(always)]
    fn pose<F: Fuse, const L: usize>(&self, bones: &[[f32; L]], limb: &mut [[f32; L]; NUMBERS]) {
        let out: &mut [[f32; L]; 12] = limb.last_chunk_mut().expect("they come last");
        let of = |k: usize| bones[self.bones[k]..].first_chunk::<12>().expect("bones are whole");
        let is_between = self.bones[0] != self.bones[1];
        let mut bone = *of(0);
        if is_between {
            for (own, other) in bone.iter_mut().zip(of(1)) {
                for n in 0..L {
                    own[n] = 0.5 * (own[n] + other[n]);
                }
            }
        }
        let ways = self.section.ways;
        for axis in 0..3 {
            for n in 0..L {
                let turned = |v: Vec3, from: f32| {
                    let z = F::fma(bone[6 + axis][n], v.z, from);
                    F::fma(bone[axis][n], v.x, F::fma(bone[3 + axis][n], v.y, z))
                };
                out[axis][n] = turned(ways[0], 0.0);
                out[3 + axis][n] = turned(ways[1], 0.0);
                out[6 + axis][n] = turned(self.along, 0.0);
                out[9 + axis][n] = turned(self.middle, bone[9 + axis][n]);
            }
        }
        if is_between {
            // Between two limbs that part directions get shorter.
            for (at, v) in [(0, ways[0]), (3, ways[1]), (6, self.along)] {
                let long_sq = v.length_squared();
                for n in 0..L {
                    let [x, y, z] = [out[at][n], out[at + 1][n], out[at + 2][n]];
                    let per = inverse_sqrt::<F>(F::fma(x, x, F::fma(y, y, F::fma(z, z, 1e-12))) / long_sq);
                    (out[at][n], out[at + 1][n], out[at + 2][n]) = (x * per, y * per, z * per);
                }
            }
        }
    }

    /// Its linear functions of a place, once it is posed.
    #[inline(always)]
    fn place<F: Fuse, const L: usize>(&self, origin: &[[f32; L]; 3], limb: &mut [[f32; L]; NUMBERS]) {
        let (line, middle) = (*rows(limb, LINE), apart(rows(limb, MIDDLE), origin));
        let along = dot::<F, L>(&middle, limb, LINE);
        limb[ALONG..ALONG + 3].copy_from_slice(&line);
        for n in 0..L {
            limb[ALONG + 3][n] = -along[n];
        }
        for i in 0..2 {
            let [begins, grows, _] = self.section.middle[i];
            let off = dot::<F, L>(&middle, limb, WAYS[i]);
            for axis in 0..3 {
                for n in 0..L {
                    limb[ACROSS[i] + axis][n] = F::fma(-grows, line[axis][n], limb[WAYS[i] + axis][n]);
                }
            }
            for n in 0..L {
                limb[ACROSS[i] + 3][n] = F::fma(grows, along[n], -off[n]) - begins;
            }
        }
    }

    /// Where vertices are in the section at their place along the limb.
    #[inline(always)]
    fn inside<F: Fuse, const W: usize>(
        &self,
        seen: &[[f32; W]; 3],
        place: &[f32; W],
        limb: &[[f32; W]; NUMBERS],
    ) -> Inside<W> {
        let mut at = [at_place::<F, W>(seen, limb, ACROSS[0]), at_place::<F, W>(seen, limb, ACROSS[1])];
        let (mut at_sq, mut reach) = ([0.0f32; W], [0.0f32; W]);
        let [a, b, c, d] = self.section.reach;
        let [bend_u, bend_v] = self.section.middle.map(|m| -m[2]);
        for n in 0..W {
            let p = place[n];
            at[0][n] = F::fma(bend_u, p * p, at[0][n]);
            at[1][n] = F::fma(bend_v, p * p, at[1][n]);
            at_sq[n] = F::fma(at[0][n], at[0][n], F::fma(at[1][n], at[1][n], 1e-12));
            reach[n] = F::fma(F::fma(F::fma(d, p, c), p, b), p, a);
        }
        Inside { at, at_sq, reach }
    }

    /// By how much a vertex is to be moved along the two axes as they are posed. It goes straight away from the middle where it is
    /// hardly inside; the deeper it is, the more towards the side that is out of the body for it: the front of a skirt
    /// comes out in front of a thigh that has passed through it.
    #[inline(always)]
    fn out_of<F: Fuse, const W: usize>(
        &self,
        inside: &Inside<W>,
        place: &[f32; W],
        out: &[[f32; W]; 2],
    ) -> [[f32; W]; 2] {
        let Inside { at, at_sq, reach } = inside;
        let [long_sq, wide_sq] = self.section.long.map(|l| l * l);
        let mut by = [[0.0f32; W]; 2];
        for n in 0..W {
            // Root and division round the same everywhere, and take a third of the time of what they are elsewhere made of.
            let rho = at_sq[n].sqrt();
            let missing = reach[n] - rho;
            let (to_u, to_v) = (F::fma(out[0][n], missing, at[0][n]), F::fma(out[1][n], missing, at[1][n]));
            let far = reach[n] / F::fma(to_u, to_u, F::fma(to_v, to_v, 1e-12)).sqrt();
            let fade = (1.0 - place[n].abs()) * (1.0 / FADE);
            let fade = if fade < 1.0 { fade } else { 1.0 };
            by[0][n] = F::fma(to_u, far, -at[0][n]) * (fade * long_sq);
            by[1][n] = F::fma(to_v, far, -at[1][n]) * (fade * wide_sq);
        }
        by
    }
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
            other: None,
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
        limbs.clear::<Exact, 1>(0, !limbs.trunk, 1, &close, &posed, &bones, &mut point);
        Vec3::from_array(point.map(|[v]| v))
    }

    #[test]
    fn cloth_goes_under_an_arm_that_lies_on_it_and_over_one_that_it_is_worn_on() {
        // Deep in the arm, a little above its middle.
        let at = Vec3::new(0.02, 0.005, 0.0);
        let (beside, worn) = (cleared(&arm_over(0.2), at), cleared(&arm_over(1.0), at));
        assert!(beside.y < -0.05 && worn.y > 0.05, "{beside} {worn}");
        assert!(cleared(&arm_over(0.0), at).y > 0.05, "a hand that has nothing to do with the garment");
        let outside = Vec3::new(0.02, 0.06, 0.0);
        assert_eq!(cleared(&arm_over(0.2), outside), outside);
    }

    #[test]
    fn what_lies_between_two_limbs_follows_both_and_keeps_its_size() {
        let mut limbs = arm_over(0.0);
        let turned = |angle: f32| {
            let m = glam::Affine3A::from_rotation_x(angle);
            m.to_cols_array().map(|v| [v])
        };
        let bones: Vec<[f32; 1]> = [0.0, 0.8, -0.8].map(turned).concat();
        let to = |limbs: &Limbs, at: Vec3| {
            let mut posed = vec![[0.0f32; 1]; limbs.room()];
            limbs.pose::<Exact, 1>(&bones, &mut posed);
            let mut point = at.to_array().map(|v| [v]);
            let close = limbs.near::<Exact, 1>(0, &posed, &[point]);
            limbs.clear::<Exact, 1>(0, !limbs.trunk, 1, &close, &posed, &bones, &mut point);
            Vec3::from_array(point.map(|[v]| v))
        };
        limbs.shapes[0].bones = [12, 24];
        // Halfway between both it is where it was, 5 cm thick and what it is kept clear by.
        let at = Vec3::new(0.0, 0.045, 0.0);
        let out = to(&limbs, at);
        assert!((out.y - 0.057).abs() < 1e-3 && out.x.abs() < 1e-6 && out.z.abs() < 1e-6, "{out}");
        let outside = Vec3::new(0.0, 0.0, 0.058);
        assert_eq!(to(&limbs, outside), outside);
    }
}
