//! Vertices that are within an arm or a leg are moved out of it, lanes over instances as in [`super::skin`].
//!
//! Limbs that a leader ([`super::guides`]) meets often are always looked at, others where the box about its group is near them. Every section of
//! a limb is an ellipse ([`Section`]): one look says whether a vertex is in it, and how far. Which limbs a lane is held
//! against is its own affair, and one that is not moved keeps its bits, so which instances share lanes changes nothing.
//! Measured and left: lanes over the vertices of a panel, instance by instance (twice the time: a panel of a garment is
//! half a metre long, so that most limbs are near it), and a queue of the lanes that are near a limb, worked side by side
//! whatever vertex they are of (a tenth more: with sixteen lanes half of all are near, and bringing them together costs as
//! much as it saves).

mod look;

use super::PLACED;
use super::fuse::Fuse;
use super::guides::Group;
use super::normals::inverse_sqrt;
use super::register::Register;
use glam::Vec3;
use look::{column, three, turned};
use toile_model::{Attachment, CARRIED, LimbTube, MAX_LIMBS, Section, Shield};

pub(super) use look::Look;

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

/// In which lanes each limb is near a group of vertices, bit by bit.
pub(crate) struct Near {
    pub lanes: [u32; MAX_LIMBS],
}

impl Near {
    pub const NONE: Self = Self { lanes: [0; MAX_LIMBS] };
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
        let lies_above = |(k, s): (usize, &Shape)| u32::from(s.outward < 0.0) << k;
        Self {
            above: shapes.iter().enumerate().map(lies_above).sum(),
            trunk: (((1u64 << shield.trunk) - 1) << first_of_trunk) as u32,
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
    pub fn at_trunk<R: Register<W>, const W: usize>(&self, point: &[[f32; W]; 3], posed: &[[f32; W]]) -> u32 {
        let ball: &[[f32; W]; LAST] = posed.last_chunk().expect("it comes last");
        let x = R::load(&point[0]).minus(R::load(&ball[0]));
        let y = R::load(&point[1]).minus(R::load(&ball[1]));
        let z = R::load(&point[2]).minus(R::load(&ball[2]));
        let beyond = R::splat(0.0).minus(R::load(&ball[3]));
        x.fma(x, y.fma(y, z.fma(z, beyond))).signs()
    }

    /// Which limbs a vertex meets often, and which it may meet, bit by bit.
    pub fn meets_of(&self, v: usize) -> [u32; 2] {
        self.meets.get(v).copied().unwrap_or_default()
    }

    /// Which vertices of a group meet a limb often, and which may, for every limb.
    pub fn met_by(&self, group: &[usize]) -> Vec<[u16; 2]> {
        let own: Vec<[u32; 2]> = group.iter().map(|v| self.meets_of(*v)).collect();
        (0..self.shapes.len()).map(|k| column(&own, k)).collect()
    }

    /// Which of the limbs that a group of vertices may meet are near it.
    #[inline(always)]
    pub fn near<R: Register<W>, const W: usize>(
        &self,
        group: &Group,
        posed: &[[f32; W]],
        points: &[[[f32; W]; 3]],
    ) -> Near {
        let mut near = Near::NONE;
        let met = group.met_by.iter().enumerate();
        let bits = met.fold(0u32, |bits, (k, [_, may])| bits | u32::from(*may != 0) << k);
        if bits == 0 {
            return near;
        }
        let mut low: [R; 3] = three(&points[usize::from(group.vertices[0])], 0);
        let mut high = low;
        for v in &group.vertices[1..group.count] {
            let at: [R; 3] = three(&points[usize::from(*v)], 0);
            for axis in 0..3 {
                low[axis] = at[axis].less_than(low[axis], at[axis], low[axis]);
                high[axis] = high[axis].less_than(at[axis], at[axis], high[axis]);
            }
        }
        let half = R::splat(0.5);
        let centre = |axis: usize| half.times(low[axis].plus(high[axis]));
        let extent = |axis: usize| half.times(high[axis].minus(low[axis]));
        let (centre, extent) = ([centre(0), centre(1), centre(2)], [extent(0), extent(1), extent(2)]);
        for k in (0..self.shapes.len()).filter(|k| bits >> k & 1 == 1) {
            let (shape, limb) = (&self.shapes[k], self.posed(k, posed));
            let middle: [R; 3] = three(limb, MIDDLE);
            let apart = [centre[0].minus(middle[0]), centre[1].minus(middle[1]), centre[2].minus(middle[2])];
            // A box is apart from a limb where it is so along its line, across it or to its side.
            let along = gap(&apart, &extent, &three(limb, LINE), shape.end);
            let long = gap(&apart, &extent, &three(limb, WAYS[0]), shape.beside);
            let wide = gap(&apart, &extent, &three(limb, WAYS[1]), shape.beside);
            near.lanes[k] = along.and(long).and(wide).signs();
        }
        near
    }

    /// The rows of a posed limb.
    #[inline(always)]
    pub fn posed<'a, const W: usize>(&self, k: usize, posed: &'a [[f32; W]]) -> &'a [[f32; W]; NUMBERS] {
        &posed.as_chunks::<NUMBERS>().0[k]
    }

    /// Which way is out of the body for a vertex, or into it where the limb lies on the garment.
    #[inline(always)]
    pub fn out_at<R: Register<W>, const W: usize>(&self, v: usize, k: usize, bones: &[[f32; W]]) -> [R; 3] {
        let (bone, outward) = self.outward[v];
        let bone: &[[f32; W]; 12] = bones[bone as usize..].first_chunk().expect("bones are whole");
        turned(bone, (outward * self.shapes[k].outward).to_array())
    }
}

/// What places are seen from.
#[inline(always)]
pub(crate) fn origin<const W: usize>(posed: &[[f32; W]]) -> &[[f32; W]; 3] {
    posed.last_chunk().expect("it comes last")
}

/// How far a box is beyond `reach` in a direction of a limb.
#[inline(always)]
fn gap<R: Register<W>, const W: usize>(apart: &[R; 3], half: &[R; 3], way: &[R; 3], reach: f32) -> R {
    let middle = apart[0].fma(way[0], apart[1].fma(way[1], apart[2].times(way[2])));
    let [x, y, z] = [way[0].magnitude(), way[1].magnitude(), way[2].magnitude()];
    let extent = half[0].fma(x, half[1].fma(y, half[2].fma(z, R::splat(reach))));
    middle.magnitude().minus(extent)
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
    use super::super::register::Plain;
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

    fn cleared(limbs: &Limbs, bones: &[[f32; 1]], at: Vec3) -> Vec3 {
        let mut posed = vec![[0.0f32; 1]; limbs.room()];
        limbs.pose::<Exact, 1>(bones, &mut posed);
        let mut point = at.to_array().map(|v| [v]);
        let (shape, limb) = (&limbs.shapes[0], limbs.posed(0, &posed));
        let look = Look::<Plain<Exact, 1>, 1>::new(shape, limb, origin(&posed));
        let within = look.within(&point);
        look.leave(within, shape, limb, &limbs.out_at(0, 0, bones), &mut point);
        Vec3::from_array(point.map(|[v]| v))
    }

    fn at_rest() -> Vec<[f32; 1]> {
        let one = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
        one.repeat(2).iter().map(|v| [*v]).collect()
    }

    #[test]
    fn cloth_goes_under_an_arm_that_lies_on_it_and_over_one_that_it_is_worn_on() {
        // Deep in the arm, a little above its middle.
        let at = Vec3::new(0.02, 0.005, 0.0);
        let bones = at_rest();
        let (beside, worn) = (cleared(&arm_over(0.2), &bones, at), cleared(&arm_over(1.0), &bones, at));
        assert!(beside.y < -0.05 && worn.y > 0.05, "{beside} {worn}");
        assert!(
            cleared(&arm_over(0.0), &bones, at).y > 0.05,
            "a hand that has nothing to do with the garment"
        );
        let outside = Vec3::new(0.02, 0.06, 0.0);
        assert_eq!(cleared(&arm_over(0.2), &bones, outside), outside);
    }

    #[test]
    fn what_lies_between_two_limbs_follows_both_and_keeps_its_size() {
        let mut limbs = arm_over(0.0);
        let turned = |angle: f32| {
            let m = glam::Affine3A::from_rotation_x(angle);
            m.to_cols_array().map(|v| [v])
        };
        let bones: Vec<[f32; 1]> = [0.0, 0.8, -0.8].map(turned).concat();
        limbs.shapes[0].bones = [12, 24];
        // Halfway between both it is where it was, 5 cm thick and what it is kept clear by.
        let at = Vec3::new(0.0, 0.045, 0.0);
        let out = cleared(&limbs, &bones, at);
        assert!((out.y - 0.057).abs() < 1e-3 && out.x.abs() < 1e-6 && out.z.abs() < 1e-6, "{out}");
        let outside = Vec3::new(0.0, 0.0, 0.058);
        assert_eq!(cleared(&limbs, &bones, outside), outside);
    }
}
