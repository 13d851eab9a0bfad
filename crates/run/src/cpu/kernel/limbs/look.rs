//! One look says whether a vertex is within a limb; few are, and those are moved.

use super::super::register::Register;
use super::{ACROSS, ALONG, FADE, NUMBERS, Shape, WAYS};

/// Four rows of lanes from `at` on.
#[inline(always)]
fn four<R: Register<W>, const W: usize>(rows: &[[f32; W]; NUMBERS], at: usize) -> [R; 4] {
    [R::load(&rows[at]), R::load(&rows[at + 1]), R::load(&rows[at + 2]), R::load(&rows[at + 3])]
}

/// Three rows.
#[inline(always)]
pub(super) fn three<R: Register<W>, const W: usize>(rows: &[[f32; W]], at: usize) -> [R; 3] {
    let rows: &[[f32; W]; 3] = rows[at..].first_chunk().expect("three rows");
    [R::load(&rows[0]), R::load(&rows[1]), R::load(&rows[2])]
}

/// What says whether a vertex is within a limb, in registers for many of them.
pub(crate) struct Look<R, const W: usize> {
    origin: [R; 3],
    along: [R; 4],
    across: [[R; 4]; 2],
    bends: [R; 2],
    reach: [R; 4],
}

/// Where a vertex is in the section at its place along a limb.
struct Place<R> {
    along: R,
    /// From the middle of the section, in the ellipse's measure, and the square of that distance.
    at: [R; 2],
    at_sq: R,
    /// How far the section reaches.
    reach: R,
}

impl<R: Register<W>, const W: usize> Look<R, W> {
    #[inline(always)]
    pub fn new(shape: &Shape, limb: &[[f32; W]; NUMBERS], origin: &[[f32; W]; 3]) -> Self {
        // Written out: `map` over an array of registers may stay a call, which hands them over in memory.
        let [[_, _, bend_u], [_, _, bend_v]] = shape.section.middle;
        let [a, b, c, d] = shape.section.reach;
        Self {
            origin: [R::load(&origin[0]), R::load(&origin[1]), R::load(&origin[2])],
            along: four(limb, ALONG),
            across: [four(limb, ACROSS[0]), four(limb, ACROSS[1])],
            bends: [R::splat(-bend_u), R::splat(-bend_v)],
            reach: [R::splat(a), R::splat(b), R::splat(c), R::splat(d)],
        }
    }

    #[inline(always)]
    fn place(&self, point: &[[f32; W]; 3]) -> Place<R> {
        let x = R::load(&point[0]).minus(self.origin[0]);
        let y = R::load(&point[1]).minus(self.origin[1]);
        let z = R::load(&point[2]).minus(self.origin[2]);
        let place = |f: [R; 4]| x.fma(f[0], y.fma(f[1], z.fma(f[2], f[3])));
        let along = place(self.along);
        let square = along.times(along);
        let u = self.bends[0].fma(square, place(self.across[0]));
        let v = self.bends[1].fma(square, place(self.across[1]));
        let [a, b, c, d] = self.reach;
        let reach = d.fma(along, c).fma(along, b).fma(along, a);
        Place { along, at: [u, v], at_sq: u.fma(u, v.fma(v, R::splat(1e-12))), reach }
    }

    /// Lanes in which a vertex is within, bit by bit.
    #[inline(always)]
    pub fn within(&self, point: &[[f32; W]; 3]) -> u32 {
        let Place { along, at_sq, reach, .. } = self.place(point);
        along.magnitude().minus(R::splat(1.0)).and(reach.less(reach, at_sq)).signs()
    }

    /// Moves a vertex out in the lanes of `within`. It goes straight away from the middle where it is
    /// hardly inside; the deeper it is, the more towards the side that is out of the body for it: the front of a skirt
    /// comes out in front of a thigh that has passed through it. `turned` is which way is out, in the world.
    #[inline(always)]
    pub fn leave(
        &self,
        within: u32,
        shape: &Shape,
        limb: &[[f32; W]; NUMBERS],
        turned: &[R; 3],
        point: &mut [[f32; W]; 3],
    ) {
        let Place { along, at: [u, v], at_sq, reach } = self.place(point);
        let ways: [[R; 3]; 2] = [three(limb, WAYS[0]), three(limb, WAYS[1])];
        let out = |way: &[R; 3]| turned[0].fma(way[0], turned[1].fma(way[1], turned[2].times(way[2])));
        let [long_sq, wide_sq] = shape.section.long.map(|l| l * l);
        // Root and division round the same everywhere, and take a third of the time of what they are elsewhere made of.
        let missing = reach.minus(at_sq.root());
        let to_u = out(&ways[0]).fma(missing, u);
        let to_v = out(&ways[1]).fma(missing, v);
        let far = reach.over(to_u.fma(to_u, to_v.fma(to_v, R::splat(1e-12))).root());
        let one = R::splat(1.0);
        let fade = one.minus(along.magnitude()).times(R::splat(1.0 / FADE));
        let fade = fade.less_than(one, fade, one);
        let zero = R::splat(0.0);
        let by_u = to_u.fma(far, zero.minus(u)).times(fade.times(R::splat(long_sq)));
        let by_v = to_v.fma(far, zero.minus(v)).times(fade.times(R::splat(wide_sq)));
        // What is not moved keeps its bits, the sign of a zero too.
        for axis in 0..3 {
            let to = ways[0][axis].fma(by_u, ways[1][axis].times(by_v));
            R::load(&point[axis]).plus(to).store_where(within, &mut point[axis]);
        }
    }
}

/// A direction of the bind pose, turned by a bone.
#[inline(always)]
pub(super) fn turned<R: Register<W>, const W: usize>(bone: &[[f32; W]; 12], way: [f32; 3]) -> [R; 3] {
    let [x, y, z] = [R::splat(way[0]), R::splat(way[1]), R::splat(way[2])];
    let axis = |k: usize| {
        let yz = R::load(&bone[3 + k]).fma(y, R::load(&bone[6 + k]).times(z));
        R::load(&bone[k]).fma(x, yz)
    };
    [axis(0), axis(1), axis(2)]
}

/// Which vertices of a group meet shape `k` often, and which may, bit by bit.
pub(super) fn column(group: &[[u32; 2]], k: usize) -> [u16; 2] {
    let bits =
        |which: usize| group.iter().rev().fold(0, |bits, meets| bits << 1 | (meets[which] >> k & 1) as u16);
    [bits(0), bits(1)]
}
