//! Vertices that are behind the skin are moved out, lanes over instances as in [`super::skin`].

mod batch;

use super::Isa;
#[cfg(target_arch = "x86_64")]
use super::fuse::Fused;
use super::fuse::{Apart, Exact, Fuse};
use super::guides::{Found, Guides, Held, PART, SKIN, TRUNK, WORD};
use super::limbs::{Limbs, Look, Near, VERTICES, origin};
use super::register::Register;
use super::skin::Hanging;
use batch::{Batch, PosedSkin, Vertex, Which, bits};
use glam::Vec3;
use toile_model::{Attachment, NEIGHBOURS, Shield};

/// Skin farther away than this is not the skin that a vertex lies on, m².
pub(crate) const NEAR_SQ: f32 = 0.06 * 0.06;
/// Groups of leaders that are worked on at once: the longer loops are, the more seldom they end.
const GROUPS: usize = WORD / VERTICES;
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
    /// Who is looked at first.
    pub guides: Guides,
    pub margin_m: f32,
    pub limit_m: f32,
}

impl Guard {
    pub fn new(shield: &Shield, worn: &Attachment, triangles: &[[u32; 3]]) -> Self {
        let count = shield.points.len();
        let near = |all: &[u32; NEIGHBOURS]| {
            let mut own = [0; NEIGHBOURS];
            let named = all.iter().filter(|i| (**i as usize) < count);
            let found = own.iter_mut().zip(named).map(|(to, i)| *to = *i).count();
            (own, found as u32)
        };
        let (near, limbs): (Vec<_>, _) = (shield.near.iter().map(near).collect(), Limbs::new(shield, worn));
        let held = |v: usize| {
            let [often, may] = limbs.meets_of(v);
            Held { limbs: (often | may) & !limbs.trunk, skin: near[v].1 > 0, trunk: often != 0 }
        };
        let held: Vec<Held> = (0..worn.rest.len()).map(held).collect();
        let guides = Guides::new(&held, &worn.rest, triangles, |group| limbs.met_by(group));
        Self {
            points: shield.points.clone(),
            normals: shield.normals.clone(),
            hanging: Hanging::new(&shield.skin),
            near,
            limbs,
            guides,
            margin_m: shield.margin_m,
            limit_m: shield.limit_m,
        }
    }

    /// Moves the vertices of part `p` out of limbs and then out of the skin that they lie on: first those that lead, then
    /// those that follow where a leader beside them was moved.
    #[inline(always)]
    pub fn push_out<R: Register<W>, const W: usize>(
        &self,
        p: usize,
        posed: &mut [[f32; W]],
        bones: &[[f32; W]],
        points: &mut [[[f32; W]; 3]],
        found: &mut Found,
    ) {
        let part = &self.guides.parts[p];
        let (skin, limbs) = posed.split_at_mut(NUMBERS * self.points.len());
        let mut skin = PosedSkin { bones, rows: skin.as_chunks_mut::<NUMBERS>().0 };
        found.posed.fill(0);
        let words = points.len().div_ceil(WORD);
        let mut batch = Batch {
            near: [Near::NONE; GROUPS],
            before: [[[0.0f32; W]; 3]; WORD],
            one: [Vertex::default(); WORD],
        };
        let leads = part.groups.len().div_ceil(GROUPS);
        for step in 0..leads + words {
            let which = if step < leads {
                let groups = &part.groups[GROUPS * step..part.groups.len().min(GROUPS * (step + 1))];
                for (near, group) in batch.near.iter_mut().zip(groups) {
                    *near = self.limbs.near::<R, W>(group, limbs, points);
                }
                Which::Lead(groups)
            } else {
                Which::Follow(step - leads)
            };
            let any = which.any(part, found);
            if any != 0 {
                self.push_batch::<R, W>(p, &which, any, &mut batch, &mut skin, limbs, points, found);
            }
        }
    }

    /// The same of a few vertices: a group that leads, or those of a word that follow. All of them are held against a limb before the next,
    /// so that a limb is read once and looks need not wait for one another.
    #[inline(always)]
    fn push_batch<R: Register<W>, const W: usize>(
        &self,
        p: usize,
        which: &Which,
        any: u64,
        batch: &mut Batch<W>,
        skin: &mut PosedSkin<W>,
        limbs: &[[f32; W]],
        points: &mut [[[f32; W]; 3]],
        found: &mut Found,
    ) {
        let part = &self.guides.parts[p];
        let (first, all, leads) = (p * PART, u32::MAX >> (32 - W), matches!(which, Which::Lead(_)));
        for i in bits(any) {
            let v = which.vertex(i);
            batch.before[i] = points[v];
            batch.one[i] = Vertex { v, meets: self.limbs.meets_of(first + v), ..Vertex::default() };
        }
        let first_of_trunk = self.limbs.shapes.len() - self.limbs.trunk.count_ones() as usize;
        for k in 0..first_of_trunk {
            let (own, told) = which.looks(part, k, &batch.near, found);
            for i in bits(own | told) {
                let one = &mut batch.one[i];
                one.lanes = if own >> i & 1 == 1 { all } else { which.lanes(i, k, &batch.near, found) };
                one.told |= 1 << k;
            }
            self.against::<R, W>(own | told, k, batch, first, skin.bones, limbs, points, |i, within| {
                which.tell(part, i, k, within, found);
            });
        }
        let (mut at_trunk, mut in_limb, mut moved_any) = (0u64, 0u64, 0u64);
        for i in bits(any) {
            let one = &mut batch.one[i];
            let (v, [mut touched, mut again]) = (one.v, one.met);
            let (near_points, count) = &self.near[first + v];
            // What lies on no skin that it knows may be in the trunk.
            let free = if one.meets[0] != 0 { all } else { 0 };
            let (on_skin, mut look) = match which {
                Which::Lead(_) => (all, free),
                Which::Follow(_) => {
                    (touched | which.told(part, v, SKIN, all, found), which.told(part, v, TRUNK, all, found))
                }
            };
            if *count > 0 && on_skin != 0 {
                let near_points = &near_points[..*count as usize];
                self.pose_points::<R, W>(near_points, skin, found);
                let [moved, far] = self.off_the_skin::<R, W>(on_skin, near_points, skin.rows, &mut points[v]);
                again |= moved & touched;
                look = if leads { far & free } else { look | far & free };
                if moved != 0 {
                    which.tell(part, i, SKIN, moved, found);
                }
            }
            touched |= again;
            one.met = [touched, again];
            one.lanes = touched | look;
            if one.lanes != 0 {
                one.lanes &= self.limbs.at_trunk::<R, W>(&points[v], limbs);
            }
            at_trunk |= u64::from(one.lanes != 0) << i;
            in_limb |= u64::from(again != 0) << i;
            moved_any |= u64::from(touched != 0) << i;
        }
        // Out of a limb may be into the trunk, and from there, out of skin or out of one thigh into another.
        if at_trunk != 0 {
            let mut in_trunk = 0u64;
            for i in bits(at_trunk) {
                (batch.one[i].looks, batch.one[i].trunk) = (batch.one[i].lanes, 0);
            }
            for k in first_of_trunk..self.limbs.shapes.len() {
                let mut meet = 0u64;
                for i in bits(at_trunk) {
                    let one = &mut batch.one[i];
                    let [often, may] = one.meets.map(|bits| bits >> k & 1 == 1);
                    let near = if leads && !often { batch.near[i / VERTICES].lanes[k] } else { u32::MAX };
                    one.lanes = if often | may { one.looks & near } else { 0 };
                    meet |= u64::from(one.lanes != 0) << i;
                }
                self.against::<R, W>(meet, k, batch, first, skin.bones, limbs, points, |i, _| {
                    in_trunk |= 1 << i
                });
            }
            for i in bits(in_trunk) {
                let one = &mut batch.one[i];
                let [touched, again] = &mut one.met;
                *again |= one.trunk;
                *touched |= *again;
                which.tell(part, i, TRUNK, one.trunk, found);
            }
            in_limb |= in_trunk;
            moved_any |= in_trunk;
        }
        // What an arm pushes into the body comes out of it again, and then the body is right.
        if in_limb != 0 {
            for i in bits(in_limb) {
                batch.one[i].looks = batch.one[i].met[1];
            }
            for k in (0..first_of_trunk).filter(|k| self.limbs.above >> k & 1 == 0) {
                let mut meet = 0u64;
                for i in bits(in_limb) {
                    let one = &mut batch.one[i];
                    let [often, may] = one.meets.map(|bits| bits >> k & 1 == 1);
                    one.lanes = if often {
                        one.looks
                    } else if may && leads {
                        one.looks & batch.near[i / VERTICES].lanes[k]
                    } else if may && one.told >> k & 1 == 1 {
                        one.looks & which.told(part, one.v, k, all, found)
                    } else {
                        0
                    };
                    meet |= u64::from(one.lanes != 0) << i;
                }
                self.against::<R, W>(meet, k, batch, first, skin.bones, limbs, points, |_, _| ());
            }
        }
        for i in bits(moved_any) {
            let Vertex { v, met: [touched, _], .. } = batch.one[i];
            self.hold::<R, W>(touched, &batch.before[i], &mut points[v]);
        }
        which.forget(any, found);
    }

    /// Holds vertices of a batch against limb `k`, each in its lanes, and tells who was within.
    #[inline(always)]
    fn against<R: Register<W>, const W: usize>(
        &self,
        which: u64,
        k: usize,
        batch: &mut Batch<W>,
        first: usize,
        bones: &[[f32; W]],
        limbs: &[[f32; W]],
        points: &mut [[[f32; W]; 3]],
        mut tell: impl FnMut(usize, u32),
    ) {
        if which == 0 {
            return;
        }
        let (shape, limb) = (&self.limbs.shapes[k], self.limbs.posed(k, limbs));
        let look = Look::<R, W>::new(shape, limb, origin(limbs));
        let mut hit = 0u64;
        for i in bits(which) {
            let one = &mut batch.one[i];
            one.lanes &= look.within(&points[one.v]);
            hit |= u64::from(one.lanes != 0) << i;
        }
        for i in bits(hit) {
            let one = &mut batch.one[i];
            let within = one.lanes;
            let out = self.limbs.out_at(first + one.v, k, bones);
            look.leave(within, shape, limb, &out, &mut points[one.v]);
            one.met[1] |= one.met[0] & within;
            one.met[0] |= within;
            one.trunk |= within;
            tell(i, within);
        }
    }

    /// Poses points of the skin that have not been.
    #[inline(always)]
    fn pose_points<R: Register<W>, const W: usize>(
        &self,
        near: &[u32],
        skin: &mut PosedSkin<W>,
        found: &mut Found,
    ) {
        for &i in near {
            let i = i as usize;
            if found.posed[i / WORD] >> (i % WORD) & 1 == 0 {
                found.posed[i / WORD] |= 1 << (i % WORD);
                self.pose_point::<R, W>(i, skin.bones, &mut skin.rows[i]);
            }
        }
    }

    /// Moves a vertex to the plane of the nearest point where it is behind it in the lanes of `which`; lanes in which it was, and those
    /// in which it is near none, bit by bit.
    #[inline(always)]
    fn off_the_skin<R: Register<W>, const W: usize>(
        &self,
        which: u32,
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
        let behind = height.minus(R::splat(self.margin_m)).signs() & which;
        let far = !nearest.minus(R::splat(NEAR_SQ)).signs() & which;
        // Few vertices are behind a plane anywhere: normals are chosen for those only.
        if behind != 0 {
            self.rise::<R, W>(behind, near, posed, nearest, height, point);
        }
        [behind, far]
    }

    /// Moves a vertex to the plane of the point that is nearest, in the lanes in which it is behind it.
    #[inline(always)]
    fn rise<R: Register<W>, const W: usize>(
        &self,
        behind: u32,
        near: &[u32],
        posed: &[[[f32; W]; NUMBERS]],
        nearest: R,
        height: R,
        point: &mut [[f32; W]; 3],
    ) {
        let zero = R::splat(0.0);
        let (mut normal, at) =
            ([zero, zero, zero], [R::load(&point[0]), R::load(&point[1]), R::load(&point[2])]);
        // The first of several that are as near.
        for &k in near.iter().rev() {
            let near = &posed[k as usize];
            let mut apart_sq = zero;
            for axis in 0..3 {
                let apart = at[axis].minus(R::load(&near[axis]));
                apart_sq = apart.fma(apart, apart_sq);
            }
            for axis in 0..3 {
                normal[axis] = nearest.less_than(apart_sq, normal[axis], R::load(&near[3 + axis]));
            }
        }
        let limit = R::splat(self.limit_m);
        let missing = R::splat(self.margin_m).minus(height);
        let missing = zero.less_than(missing, missing, zero);
        let moved = missing.less_than(limit, missing, limit);
        for axis in 0..3 {
            normal[axis].fma(moved, at[axis]).store_where(behind, &mut point[axis]);
        }
    }

    /// Whatever moved it, a vertex that met a limb is no farther from where it was than the limit.
    #[inline(always)]
    fn hold<R: Register<W>, const W: usize>(
        &self,
        which: u32,
        from: &[[f32; W]; 3],
        point: &mut [[f32; W]; 3],
    ) {
        let mut sum = R::splat(0.0);
        for axis in 0..3 {
            let by = R::load(&point[axis]).minus(R::load(&from[axis]));
            sum = by.fma(by, sum);
        }
        let limit = R::splat(self.limit_m);
        let mut far = limit.times(limit).minus(sum).signs() & which;
        if far == 0 {
            return;
        }
        let mut length_sq = [0.0f32; W];
        sum.store(&mut length_sq);
        while far != 0 {
            let n = far.trailing_zeros() as usize;
            far &= far - 1;
            let keep = self.limit_m / length_sq[n].sqrt();
            for axis in 0..3 {
                point[axis][n] = R::Fuse::fma(point[axis][n] - from[axis][n], keep, from[axis][n]);
            }
        }
    }

    /// Numbers that posed points and limbs of so many lanes take.
    pub fn room(&self, lanes: usize) -> usize {
        (NUMBERS * self.points.len() + self.limbs.room()) * lanes
    }

    /// Panels of the garment.
    pub fn panels(&self) -> usize {
        self.near.len().div_ceil(VERTICES)
    }

    /// Makes room for what leaders find.
    pub fn provide(&self, found: &mut Found) {
        found.provide(self.points.len());
    }
}

/// Poses the limbs for all lanes of `bones`.
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
    let (_, limbs) = out.as_chunks_mut::<L>().0.split_at_mut(NUMBERS * guard.points.len());
    guard.limbs.pose::<F, L>(bones, limbs);
}

impl Guard {
    #[inline(always)]
    fn pose_point<R: Register<W>, const W: usize>(
        &self,
        i: usize,
        bones: &[[f32; W]],
        posed: &mut [[f32; W]; NUMBERS],
    ) {
        let [p, n] = [self.points[i], self.normals[i]].map(|v| v.to_array());
        let hung = self.hanging.row(i);
        let mut normal = [R::splat(0.0), R::splat(0.0), R::splat(0.0)];
        for axis in 0..3 {
            let mut blend = [R::splat(0.0), R::splat(0.0), R::splat(0.0), R::splat(0.0)];
            for &(bone, weight) in hung {
                let matrix: &[[f32; W]; 12] = bones[bone as usize..].first_chunk().expect("bones are whole");
                let weight = R::splat(weight);
                for column in 0..4 {
                    blend[column] = R::load(&matrix[3 * column + axis]).fma(weight, blend[column]);
                }
            }
            let [x, y, z, from] = blend;
            let place = z.fma(R::splat(p[2]), from);
            x.fma(R::splat(p[0]), y.fma(R::splat(p[1]), place)).store(&mut posed[axis]);
            normal[axis] = x.fma(R::splat(n[0]), y.fma(R::splat(n[1]), z.times(R::splat(n[2]))));
        }
        // Blended rotations shorten what they turn. Two of Newton's steps: never longer than one, and shorter by no more than 1e-5.
        let [x, y, z] = normal;
        let length_sq = z.fma(z, y.fma(y, x.times(x)));
        let (half, mut per) = (R::splat(0.5).times(length_sq), length_sq.root_guess());
        for _ in 0..2 {
            let error = half.times(per).less(per, R::splat(0.5));
            per = per.fma(error, per);
        }
        for axis in 0..3 {
            normal[axis].times(per).store(&mut posed[3 + axis]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Wearers;
    use super::super::fuse::Exact;
    use super::super::register::Plain;
    use super::super::skin::push_part;
    use super::*;
    use toile_model::{ALONG, AROUND, LimbTube, Skin};

    /// Where the two ends and the middle of a strip of three vertices go that are beside a limb 5 cm thick along x.
    fn pushed(at: [[f32; 3]; 3]) -> [[f32; 3]; 3] {
        let mut radius = [[0.0; AROUND]; ALONG];
        radius[0][0] = 0.05;
        let half = Vec3::new(0.5, 0.0, 0.0);
        let limb = LimbTube { joint: 1, middle: Vec3::ZERO, half, across: Vec3::Y, other: None, radius };
        let rest = vec![Vec3::ZERO, 0.03 * Vec3::X, 0.06 * Vec3::X];
        let worn = Attachment { rest, skin: Skin::from_rows(vec![vec![(0u16, 1.0)]; 3]).unwrap() };
        let shield = Shield {
            points: vec![Vec3::Y],
            normals: vec![Vec3::Y],
            skin: Skin::from_rows([vec![(0u16, 1.0)]]).unwrap(),
            near: vec![[1; NEIGHBOURS]; 3],
            margin_m: 0.003,
            limit_m: 0.15,
            limbs: vec![limb],
            trunk: 0,
            meets: vec![1; 3],
            outward: vec![Vec3::Y; 3],
        };
        // The first and the last are no neighbours: they lead, and the middle follows.
        let guard = Guard::new(&shield, &worn, &[[0, 1, 1], [1, 2, 2]]);
        let mut found = Found::default();
        guard.provide(&mut found);
        let bones = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0].repeat(2);
        let mut skin = vec![0.0; guard.room(1)];
        pose_each::<Exact, 1>(&guard, &bones, &mut skin);
        let mut points = at.concat();
        let wearers = Wearers { bones: &bones, skin: &mut skin };
        push_part::<Plain<Exact, 1>, 1>(&guard, 0, wearers, &mut points, &mut found);
        let of = |k: usize| [points[3 * k], points[3 * k + 1], points[3 * k + 2]];
        assert!(found.lanes.iter().flatten().all(|lanes| *lanes == 0), "it is empty for the next");
        assert!(found.any.iter().flatten().all(|word| *word == 0), "it is empty for the next");
        [of(0), of(1), of(2)]
    }

    #[test]
    fn who_follows_is_held_against_what_a_leader_beside_it_was_in() {
        let (far, deep) = ([0.0, 0.1, 0.0], [0.03, 0.02, 0.0]);
        let [_, alone, _] = pushed([far, deep, [0.06, 0.1, 0.0]]);
        assert_eq!(alone, deep, "nobody told it");
        for leaders in [[far, [0.06, 0.04, 0.0]], [[0.0, 0.04, 0.0], [0.06, 0.1, 0.0]]] {
            let [first, middle, last] = pushed([leaders[0], deep, leaders[1]]);
            assert!((middle[1] - 0.057).abs() < 1e-3, "{middle:?}");
            assert!(first[1] > 0.056 && last[1] > 0.056, "{first:?} {last:?}");
        }
    }
}
