//! Vertices that are behind the skin are moved out, lanes over instances as in [`super::skin`].

use super::Isa;
#[cfg(target_arch = "x86_64")]
use super::fuse::Fused;
use super::fuse::{Apart, Exact, Fuse};
use super::limbs::{Limbs, VERTICES};
use super::normals::inverse_sqrt;
use super::register::Register;
use super::skin::Hanging;
use glam::Vec3;
use toile_model::{Attachment, NEIGHBOURS, Shield};

/// Skin farther away than this is not the skin that a vertex lies on, m².
pub(crate) const NEAR_SQ: f32 = 0.06 * 0.06;
/// Numbers of a posed point: its place and its normal.
const NUMBERS: usize = 6;

/// The skin near a garment, ready to be posed.
pub(crate) struct Guard {
    pub points: Vec<Vec3>,
    pub normals: Vec<Vec3>,
    pub hanging: Hanging,
    /// Points that each vertex is near, and how many of them.
    pub near: Vec<([u32; NEIGHBOURS], u32)>,
    pub limbs: Limbs,
    pub margin_m: f32,
    pub limit_m: f32,
}

impl Guard {
    pub fn new(shield: &Shield, worn: &Attachment) -> Self {
        let count = shield.points.len();
        let near = |all: &[u32; NEIGHBOURS]| {
            let mut own = [0; NEIGHBOURS];
            let named = all.iter().filter(|i| (**i as usize) < count);
            let found = own.iter_mut().zip(named).map(|(to, i)| *to = *i).count();
            (own, found as u32)
        };
        Self {
            points: shield.points.clone(),
            normals: shield.normals.clone(),
            hanging: Hanging::new(&shield.skin),
            near: shield.near.iter().map(near).collect(),
            limbs: Limbs::new(shield, worn),
            margin_m: shield.margin_m,
            limit_m: shield.limit_m,
        }
    }

    /// Moves vertices from `first` on, a panel of them, out of limbs and then out of the skin that they lie on.
    #[inline(always)]
    pub fn push_out<R: Register<W>, const W: usize>(
        &self,
        first: usize,
        posed: &[[f32; W]],
        bones: &[[f32; W]],
        panel: &mut [[[f32; W]; 3]],
    ) {
        let (points, limbs) = posed.split_at(NUMBERS * self.points.len());
        let points = points.as_chunks::<NUMBERS>().0;
        let close = self.limbs.near::<R::Fuse, W>(first, limbs, panel);
        let all = u32::MAX >> (32 - W);
        let trunk = self.limbs.trunk;
        // What an arm pushes into the body comes out of it again, and then the body is right.
        let within = !trunk & !self.limbs.above;
        let mut before = [[[0.0f32; W]; 3]; VERTICES];
        before[..panel.len()].copy_from_slice(panel);
        let met = self.limbs.clear_panel::<R, W>(first, &close, limbs, bones, panel);
        for (k, point) in panel.iter_mut().enumerate() {
            let v = first + k;
            let (near, count) = &self.near[v];
            let ([mut touched, mut again], from) = (met[k], &before[k]);
            // What lies on no skin that it knows may be in the trunk.
            let free = if self.limbs.meets_often(v) { all } else { 0 };
            let (mut moved, mut far) = (0, all);
            if *count > 0 {
                [moved, far] = self.off_the_skin::<R, W>(&near[..*count as usize], points, point);
            }
            again |= moved & (touched | free);
            touched |= again;
            let looked_at = touched | far & free;
            if looked_at != 0 {
                // Out of a limb may be into the trunk, and from there, out of skin or out of one thigh into another.
                let [moved, _] =
                    self.limbs.clear::<R::Fuse, W>(v, trunk, looked_at, &close, limbs, bones, point);
                again |= moved;
                touched |= moved;
            }
            if again != 0 {
                self.limbs.clear::<R::Fuse, W>(v, within, again, &close, limbs, bones, point);
            }
            if touched != 0 {
                self.hold::<R::Fuse, W>(touched, from, point);
            }
        }
    }

    /// Moves a vertex to the plane of the nearest point where it is behind it; lanes in which it was, and those in
    /// which it is near none, bit by bit.
    #[inline(always)]
    fn off_the_skin<R: Register<W>, const W: usize>(
        &self,
        near: &[u32],
        posed: &[[[f32; W]; NUMBERS]],
        point: &mut [[f32; W]; 3],
    ) -> [u32; 2] {
        // Of the nearest point: squared distance and height above its plane.
        let (mut nearest, mut height) = (R::splat(NEAR_SQ), R::splat(self.margin_m));
        let at = [R::load(&point[0]), R::load(&point[1]), R::load(&point[2])];
        for &k in near {
            let near = &posed[k as usize];
            let (mut apart_sq, mut above) = (R::splat(0.0), R::splat(0.0));
            for axis in 0..3 {
                let apart = at[axis].minus(R::load(&near[axis]));
                apart_sq = apart.fma(apart, apart_sq);
                above = apart.fma(R::load(&near[3 + axis]), above);
            }
            height = apart_sq.less_than(nearest, above, height);
            nearest = apart_sq.less_than(nearest, apart_sq, nearest);
        }
        let behind = height.minus(R::splat(self.margin_m)).signs();
        let far = !nearest.minus(R::splat(NEAR_SQ)).signs() & (u32::MAX >> (32 - W));
        // One vertex in six is behind a plane anywhere: normals are chosen for those only.
        if behind != 0 {
            let (mut sq, mut above) = ([0.0; W], [0.0; W]);
            nearest.store(&mut sq);
            height.store(&mut above);
            self.rise::<R::Fuse, W>(behind, near, posed, &sq, &above, point);
        }
        [behind, far]
    }

    /// Moves a vertex to the plane of the point that is nearest, in the lanes in which it is behind it.
    #[inline(always)]
    fn rise<F: Fuse, const W: usize>(
        &self,
        behind: u32,
        near: &[u32],
        posed: &[[[f32; W]; NUMBERS]],
        nearest: &[f32; W],
        height: &[f32; W],
        point: &mut [[f32; W]; 3],
    ) {
        let mut normal = [[0.0f32; W]; 3];
        // The first of several that are as near.
        for &k in near.iter().rev() {
            let near = &posed[k as usize];
            let mut apart_sq = [0.0f32; W];
            for axis in 0..3 {
                for n in 0..W {
                    let apart = point[axis][n] - near[axis][n];
                    apart_sq[n] = F::fma(apart, apart, apart_sq[n]);
                }
            }
            let mut mask = [0u32; W];
            for n in 0..W {
                mask[n] = 0u32.wrapping_sub(u32::from(apart_sq[n] <= nearest[n]));
            }
            for axis in 0..3 {
                for n in 0..W {
                    normal[axis][n] = choose(mask[n], near[3 + axis][n], normal[axis][n]);
                }
            }
        }
        let mut moved = [0.0f32; W];
        for n in 0..W {
            let missing = self.margin_m - height[n];
            let missing = if missing > 0.0 { missing } else { 0.0 };
            moved[n] = if missing < self.limit_m { missing } else { self.limit_m };
        }
        // The sign of a zero is kept where nothing moves, whoever else is here.
        for axis in 0..3 {
            let mut to = [0.0f32; W];
            for n in 0..W {
                to[n] = F::fma(normal[axis][n], moved[n], point[axis][n]);
            }
            F::replace(behind, &to, &mut point[axis]);
        }
    }

    /// Whatever moved it, a vertex that met a limb is no farther from where it was than the limit.
    #[inline(always)]
    fn hold<F: Fuse, const W: usize>(&self, which: u32, from: &[[f32; W]; 3], point: &mut [[f32; W]; 3]) {
        let (mut length_sq, mut far) = ([0.0f32; W], [0u32; W]);
        for axis in 0..3 {
            for n in 0..W {
                let by = point[axis][n] - from[axis][n];
                length_sq[n] = F::fma(by, by, length_sq[n]);
            }
        }
        for n in 0..W {
            far[n] = F::fma(self.limit_m, self.limit_m, -length_sq[n]).to_bits();
        }
        let mut far = F::signs(&far) & which;
        while far != 0 {
            let n = far.trailing_zeros() as usize;
            far &= far - 1;
            let keep = self.limit_m / length_sq[n].sqrt();
            for axis in 0..3 {
                point[axis][n] = F::fma(point[axis][n] - from[axis][n], keep, from[axis][n]);
            }
        }
    }

    /// Numbers that posed points and limbs of so many lanes take.
    pub fn room(&self, lanes: usize) -> usize {
        (NUMBERS * self.points.len() + self.limbs.room()) * lanes
    }
}

/// The first where all bits of the mask are set, the second where none is.
#[inline(always)]
fn choose(mask: u32, a: f32, b: f32) -> f32 {
    f32::from_bits((a.to_bits() & mask) | (b.to_bits() & !mask))
}

/// Poses the points for all lanes of `bones`.
pub(crate) fn pose(isa: Isa, guard: &Guard, bones: &[f32], lanes: usize, out: &mut [f32]) {
    match (isa, lanes) {
        // SAFETY: `isa` was detected.
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx512, 16) => unsafe { pose512(guard, bones, out) },
        // SAFETY: `isa` was detected.
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx2, 8) => unsafe { pose2(guard, bones, out) },
        // SAFETY: `isa` was detected.
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx512 | Isa::Avx2, _) => unsafe { pose1(guard, bones, out) },
        (Isa::Unfused, 4) => pose_each::<Apart, 4>(guard, bones, out),
        (Isa::Unfused, _) => pose_each::<Apart, 1>(guard, bones, out),
        (_, 4) => pose_each::<Exact, 4>(guard, bones, out),
        _ => pose_each::<Exact, 1>(guard, bones, out),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,fma")]
fn pose512(guard: &Guard, bones: &[f32], out: &mut [f32]) {
    pose_each::<Fused, 16>(guard, bones, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn pose2(guard: &Guard, bones: &[f32], out: &mut [f32]) {
    pose_each::<Fused, 8>(guard, bones, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn pose1(guard: &Guard, bones: &[f32], out: &mut [f32]) {
    pose_each::<Fused, 1>(guard, bones, out);
}

#[inline(always)]
fn pose_each<F: Fuse, const L: usize>(guard: &Guard, bones: &[f32], out: &mut [f32]) {
    let bones = bones.as_chunks::<L>().0;
    let (points, limbs) = out.as_chunks_mut::<L>().0.split_at_mut(NUMBERS * guard.points.len());
    guard.limbs.pose::<F, L>(bones, limbs);
    for (i, posed) in points.as_chunks_mut::<NUMBERS>().0.iter_mut().enumerate() {
        let blend = guard.hanging.blend::<F, L>(i, bones);
        let (p, n) = (guard.points[i], guard.normals[i]);
        for axis in 0..3 {
            for lane in 0..L {
                let turned = |v: Vec3, from: f32| {
                    let z = F::fma(blend[6 + axis][lane], v.z, from);
                    let yz = F::fma(blend[3 + axis][lane], v.y, z);
                    F::fma(blend[axis][lane], v.x, yz)
                };
                posed[axis][lane] = turned(p, blend[9 + axis][lane]);
                posed[3 + axis][lane] = turned(n, 0.0);
            }
        }
        // Blended rotations shorten what they turn.
        for lane in 0..L {
            let [x, y, z] = [posed[3][lane], posed[4][lane], posed[5][lane]];
            let length_sq = F::fma(z, z, F::fma(y, y, x * x));
            let per = inverse_sqrt::<F>(length_sq);
            (posed[3][lane], posed[4][lane], posed[5][lane]) = (x * per, y * per, z * per);
        }
    }
}
