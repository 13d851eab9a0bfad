//! A panel of vertices is held against limb after limb.
//!
//! First who is within is asked for all of it, so that looks need not wait for one another; few are, and those are then moved.

use super::super::fuse::Fuse;
use super::super::register::Register;
use super::{ACROSS, ALONG, Inside, Limbs, NUMBERS, Near, Shape, VERTICES, WAYS, apart, at_place};

impl Limbs {
    /// Moves a panel of vertices from `first` on out of arms and legs, limb after limb so that a limb is read once for all of them.
    /// For every vertex lanes that were within any, and those that were within several, bit by bit.
    #[inline(always)]
    pub fn clear_panel<R: Register<W>, const W: usize>(
        &self,
        first: usize,
        close: &Near,
        posed: &[[f32; W]],
        bones: &[[f32; W]],
        panel: &mut [[[f32; W]; 3]],
    ) -> [[u32; 2]; VERTICES] {
        let mut met = [[0; 2]; VERTICES];
        let Some(own) = self.meets.get(first..first + panel.len()) else { return met };
        let near = own.iter().fold(0, |bits, [often, may]| bits | often | may & close.any);
        let mut bits = near & !self.trunk;
        if bits == 0 {
            return met;
        }
        let origin: &[[f32; W]; 3] = posed.last_chunk().expect("it comes last");
        let posed = posed.as_chunks::<NUMBERS>().0;
        let met_by = &self.met_by[first / VERTICES * self.shapes.len()..][..self.shapes.len()];
        while bits != 0 {
            let k = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            let (shape, limb, [often, may], lanes) = (
                &self.shapes[k],
                &posed[k],
                [u32::from(met_by[k][0]), u32::from(met_by[k][1])],
                close.lanes[k],
            );
            // First only who is within, so that looks need not wait for one another.
            let look = Look::<R, W>::new(shape, limb, origin);
            let (mut within, mut hit) = ([0u32; VERTICES], 0);
            let mut left = often | if lanes != 0 { may } else { 0 };
            while left != 0 {
                let j = left.trailing_zeros() as usize % VERTICES;
                left &= left - 1;
                within[j] = look.within(&panel[j]) & if often >> j & 1 == 1 { u32::MAX } else { lanes };
                hit |= u32::from(within[j] != 0) << j;
            }
            while hit != 0 {
                let j = hit.trailing_zeros() as usize % VERTICES;
                hit &= hit - 1;
                let seen = apart(&panel[j], origin);
                let place = at_place::<R::Fuse, W>(&seen, limb, ALONG);
                let inside = shape.inside::<R::Fuse, W>(&seen, &place, limb);
                let out = self.outward_at::<R::Fuse, W>(first + j, bones, limb, shape);
                move_out::<R::Fuse, W>(within[j], shape, limb, &inside, &place, &out, &mut panel[j]);
                met[j][1] |= met[j][0] & within[j];
                met[j][0] |= within[j];
            }
        }
        met
    }
}

/// Four rows of lanes from `at` on.
#[inline(always)]
fn four<R: Register<W>, const W: usize>(rows: &[[f32; W]; NUMBERS], at: usize) -> [R; 4] {
    [R::load(&rows[at]), R::load(&rows[at + 1]), R::load(&rows[at + 2]), R::load(&rows[at + 3])]
}

/// What says whether a vertex is within a limb, in registers for a panel of them: as [`Shape::inside`] does.
struct Look<R, const W: usize> {
    origin: [R; 3],
    along: [R; 4],
    across: [[R; 4]; 2],
    bends: [R; 2],
    reach: [R; 4],
}

impl<R: Register<W>, const W: usize> Look<R, W> {
    #[inline(always)]
    fn new(shape: &Shape, limb: &[[f32; W]; NUMBERS], origin: &[[f32; W]; 3]) -> Self {
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

    /// Lanes in which a vertex is within, bit by bit.
    #[inline(always)]
    fn within(&self, point: &[[f32; W]; 3]) -> u32 {
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
        let beyond = reach.less(reach, u.fma(u, v.fma(v, R::splat(1e-12))));
        along.magnitude().minus(R::splat(1.0)).and(beyond).signs()
    }
}

/// Moves a vertex that is within a limb in the lanes of `within`.
#[inline(always)]
pub(super) fn move_out<F: Fuse, const W: usize>(
    within: u32,
    shape: &Shape,
    limb: &[[f32; W]; NUMBERS],
    inside: &Inside<W>,
    place: &[f32; W],
    out: &[[f32; W]; 2],
    point: &mut [[f32; W]; 3],
) {
    let by = shape.out_of::<F, W>(inside, place, out);
    let mut moved = [[0.0f32; W]; 3];
    for axis in 0..3 {
        for n in 0..W {
            let to = F::fma(limb[WAYS[0] + axis][n], by[0][n], limb[WAYS[1] + axis][n] * by[1][n]);
            moved[axis][n] = point[axis][n] + to;
        }
    }
    // What is not moved keeps its bits, the sign of a zero too.
    for axis in 0..3 {
        F::replace(within, &moved[axis], &mut point[axis]);
    }
}

/// Which vertices of a panel meet shape `k` often, and which may, bit by bit.
pub(super) fn column(panel: &[[u32; 2]], k: usize) -> [u16; 2] {
    let bits =
        |which: usize| panel.iter().rev().fold(0, |bits, meets| bits << 1 | (meets[which] >> k & 1) as u16);
    [bits(0), bits(1)]
}
