//! Linear blend skinning of many instances at once, lanes over instances.
//!
//! A garment's vertices hang on the same bones in every instance, so with the bone matrices of several instances side
//! by side a vertex needs no gathering: its blended matrix is one chain of fused multiply-adds over its bones in fixed
//! order, whatever the number of lanes. Then it is moved out of the skin where it is behind it ([`super::push`]). The
//! arithmetic is plain Rust that is inlined into functions compiled for an instruction set; only the exchange of
//! rows and lanes is written for each.

use super::fuse::{Apart, Exact, Fuse};
use super::guides::{Found, PART};
use super::push::Guard;
use super::register::{Plain, Register};
use super::{Isa, PLACED, RowsMut};
use toile_model::Skin;

/// Bones and weights of every vertex, row after row.
pub(crate) struct Hanging {
    pub starts: Vec<u32>,
    /// Where a bone's matrix begins, counted in numbers of one instance, and its weight.
    pub bones: Vec<(u32, f32)>,
}

impl Hanging {
    pub fn new(skin: &Skin) -> Self {
        let mut hanging = Self { starts: vec![0], bones: Vec::new() };
        for v in 0..skin.len() {
            hanging.bones.extend(skin.row(v).map(|(j, w)| (12 * u32::from(j), w)));
            hanging.starts.push(hanging.bones.len() as u32);
        }
        hanging
    }

    /// Bones of a vertex and their weights.
    #[inline(always)]
    pub fn row(&self, v: usize) -> &[(u32, f32)] {
        &self.bones[self.starts[v] as usize..self.starts[v + 1] as usize]
    }

    /// The blended matrix of a vertex in every lane: one chain of fused multiply-adds over its bones.
    #[inline(always)]
    pub fn blend<F: Fuse, const L: usize>(&self, v: usize, bones: &[[f32; L]]) -> [[f32; L]; 12] {
        let mut blend = [[0.0f32; L]; 12];
        for &(bone, weight) in self.row(v) {
            let matrix: &[[f32; L]; 12] = bones[bone as usize..].first_chunk().expect("bones are whole");
            for e in 0..12 {
                for n in 0..L {
                    blend[e][n] = F::fma(matrix[e][n], weight, blend[e][n]);
                }
            }
        }
        blend
    }

    /// Vertices.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Carries a vertex from the bind pose to where its bones are.
    #[inline(always)]
    fn carry<F: Fuse, const W: usize>(&self, v: usize, bones: &[[f32; W]], point: &mut [[f32; W]; 3]) {
        let blend = self.blend::<F, W>(v, bones);
        let at = *point;
        for axis in 0..3 {
            for n in 0..W {
                let z = F::fma(blend[6 + axis][n], at[2][n], blend[9 + axis][n]);
                let yz = F::fma(blend[3 + axis][n], at[1][n], z);
                point[axis][n] = F::fma(blend[axis][n], at[0][n], yz);
            }
        }
    }
}

/// A wearer, or several side by side: 12 numbers a bone, three columns and the translation, and room for the points of the skin with
/// limbs that are posed, each for all lanes.
pub(crate) struct Wearers<'a> {
    pub bones: &'a [f32],
    pub skin: &'a mut [f32],
}

/// How many lanes a part of so many instances is best worked on with.
pub(crate) fn lanes_for(isa: Isa, instances: usize) -> usize {
    // Wide code costs the same however full it is.
    if 4 * instances < isa.lanes() { 1 } else { isa.lanes() }
}

/// Skins panel `p` of the instances of `part` in place; `part` has at most `lanes`.
pub(crate) fn hang(
    isa: Isa,
    hanging: &Hanging,
    p: usize,
    bones: &[f32],
    lanes: usize,
    part: &[u32],
    out: &mut RowsMut,
) {
    assert!(part.len() <= lanes && !part.is_empty());
    match (isa, lanes) {
        // SAFETY: `isa` was detected.
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx512, 16) => unsafe { super::avx512::hang(hanging, p, bones, part, out) },
        // SAFETY: `isa` was detected.
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx2, 8) => unsafe { super::avx2::hang(hanging, p, bones, part, out) },
        // SAFETY: `isa` was detected.
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx512 | Isa::Avx2, _) => unsafe { super::avx2::hang1(hanging, p, bones, part, out) },
        (Isa::Unfused, 4) => panel::<Apart, 4>(hanging, p, bones, part, out, super::to_lanes, super::to_rows),
        (Isa::Unfused, _) => panel1::<Apart>(hanging, p, bones, part, out),
        (_, 4) => panel::<Exact, 4>(hanging, p, bones, part, out, super::to_lanes, super::to_rows),
        _ => panel1::<Exact>(hanging, p, bones, part, out),
    }
}

/// The same, and what is carried stays side by side: in panel `q` of `points`.
pub(crate) fn carry(
    isa: Isa,
    hanging: &Hanging,
    [p, q]: [usize; 2],
    bones: &[f32],
    lanes: usize,
    part: &[u32],
    from: &RowsMut,
    points: &mut [f32],
) {
    assert!(part.len() <= lanes && !part.is_empty());
    match (isa, lanes) {
        // SAFETY: `isa` was detected.
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx512, 16) => unsafe { super::avx512::carry(hanging, [p, q], bones, part, from, points) },
        // SAFETY: `isa` was detected.
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx2, 8) => unsafe { super::avx2::carry(hanging, [p, q], bones, part, from, points) },
        // SAFETY: `isa` was detected.
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx512 | Isa::Avx2, _) => unsafe {
            super::avx2::carry1(hanging, [p, q], bones, part, from, points)
        },
        (Isa::Unfused, 4) => take::<Apart, 4>(hanging, [p, q], bones, part, from, points, super::to_lanes),
        (Isa::Unfused, _) => take::<Apart, 1>(hanging, [p, q], bones, part, from, points, to_lane),
        (_, 4) => take::<Exact, 4>(hanging, [p, q], bones, part, from, points, super::to_lanes),
        _ => take::<Exact, 1>(hanging, [p, q], bones, part, from, points, to_lane),
    }
}

/// Panel `q` of `points` as panel `p` of the rows of `part`.
pub(crate) fn give(
    isa: Isa,
    [p, q]: [usize; 2],
    lanes: usize,
    part: &[u32],
    points: &[f32],
    out: &mut RowsMut,
) {
    match (isa, lanes) {
        // SAFETY: `isa` was detected.
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx512, 16) => unsafe { super::avx512::give([p, q], part, points, out) },
        // SAFETY: `isa` was detected.
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx2, 8) => unsafe { super::avx2::give([p, q], part, points, out) },
        (_, 4) => super::to_rows(panel_of::<4>(points, q), p, part, out),
        _ => to_row(panel_of::<1>(points, q), p, part, out),
    }
}

/// Moves the vertices of part `p` of a garment out of limbs and skin, of several instances side by side.
pub(crate) fn push_out(
    isa: Isa,
    guard: &Guard,
    p: usize,
    wearers: Wearers,
    lanes: usize,
    points: &mut [f32],
    found: &mut Found,
) {
    match (isa, lanes) {
        // SAFETY: `isa` was detected.
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx512, 16) => unsafe { super::avx512::push_out(guard, p, wearers, points, found) },
        // SAFETY: `isa` was detected.
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx2, 8) => unsafe { super::avx2::push_out(guard, p, wearers, points, found) },
        // SAFETY: `isa` was detected.
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx512 | Isa::Avx2, _) => unsafe { super::avx2::push_out1(guard, p, wearers, points, found) },
        (Isa::Unfused, 4) => push_part::<Plain<Apart, 4>, 4>(guard, p, wearers, points, found),
        (Isa::Unfused, _) => push_part::<Plain<Apart, 1>, 1>(guard, p, wearers, points, found),
        (_, 4) => push_part::<Plain<Exact, 4>, 4>(guard, p, wearers, points, found),
        _ => push_part::<Plain<Exact, 1>, 1>(guard, p, wearers, points, found),
    }
}

#[inline(always)]
pub(super) fn push_part<R: Register<W>, const W: usize>(
    guard: &Guard,
    p: usize,
    wearers: Wearers,
    points: &mut [f32],
    found: &mut Found,
) {
    let Wearers { bones, skin } = wearers;
    let count = PART.min(guard.near.len() - p * PART);
    let points = &mut points.as_chunks_mut::<W>().0.as_chunks_mut::<3>().0[..count];
    guard.push_out::<R, W>(p, skin.as_chunks_mut::<W>().0, bones.as_chunks::<W>().0, points, found);
}

/// Skins all vertices of one instance in place, and moves them out of limbs and skin.
pub(crate) fn hang_one(
    isa: Isa,
    hanging: &Hanging,
    guard: Option<&Guard>,
    wearer: Wearers,
    found: &mut Found,
    out: &mut [f32],
) {
    let Wearers { bones, skin } = wearer;
    let out = &mut out[..3 * hanging.len()];
    match isa {
        // SAFETY: `isa` was detected.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 | Isa::Avx2 => unsafe { super::avx2::hang_all(hanging, bones, out) },
        Isa::Unfused => all::<Apart>(hanging, bones, out),
        _ => all::<Exact>(hanging, bones, out),
    }
    if let Some(guard) = guard {
        for (p, points) in out.chunks_mut(3 * PART).enumerate() {
            push_out(isa, guard, p, Wearers { bones, skin: &mut *skin }, 1, points, found);
        }
    }
}

/// All vertices of one instance.
#[inline(always)]
pub(super) fn all<F: Fuse>(hanging: &Hanging, bones: &[f32], out: &mut [f32]) {
    let bones = bones.as_chunks::<1>().0;
    for (v, point) in out.as_chunks_mut::<1>().0.as_chunks_mut::<3>().0.iter_mut().enumerate() {
        hanging.carry::<F, 1>(v, bones, point);
    }
}

/// Carries panel `p` to where its bones are.
#[inline(always)]
fn carry_panel<F: Fuse, const W: usize>(
    hanging: &Hanging,
    p: usize,
    bones: &[[f32; W]],
    panel: &mut [[f32; W]; PLACED],
) {
    let first = p * (PLACED / 3);
    let count = (PLACED / 3).min(hanging.len() - first);
    for (k, point) in panel.as_chunks_mut::<3>().0[..count].iter_mut().enumerate() {
        hanging.carry::<F, W>(first + k, bones, point);
    }
}

/// A panel of one instance.
#[inline(always)]
pub(super) fn panel1<F: Fuse>(hanging: &Hanging, p: usize, bones: &[f32], part: &[u32], out: &mut RowsMut) {
    panel::<F, 1>(hanging, p, bones, part, out, to_lane, to_row);
}

/// A panel of up to `W` instances: `take` brings rows into lanes, `give` writes lanes as panel p of the instances' rows.
#[inline(always)]
pub(super) fn panel<F: Fuse, const W: usize>(
    hanging: &Hanging,
    p: usize,
    bones: &[f32],
    part: &[u32],
    out: &mut RowsMut,
    to_lanes: impl Fn([&[f32; PLACED]; W], &mut [[f32; W]; PLACED]),
    give: impl Fn(&[[f32; W]; PLACED], usize, &[u32], &mut RowsMut),
) {
    let mut lanes = Lanes([[0.0f32; W]; PLACED]);
    take::<F, W>(hanging, [p, 0], bones, part, out, lanes.0.as_flattened_mut(), to_lanes);
    give(&lanes.0, p, part, out);
}

/// Panel p of up to `W` instances into panel q of `points`, and carried.
#[inline(always)]
pub(super) fn take<F: Fuse, const W: usize>(
    hanging: &Hanging,
    [p, q]: [usize; 2],
    bones: &[f32],
    part: &[u32],
    from: &RowsMut,
    points: &mut [f32],
    to_lanes: impl Fn([&[f32; PLACED]; W], &mut [[f32; W]; PLACED]),
) {
    let panel = points.as_chunks_mut::<W>().0[q * PLACED..].first_chunk_mut().expect("room for it");
    // Lanes without an instance repeat the last one.
    to_lanes(std::array::from_fn(|n| from.seen(part[n.min(part.len() - 1)], p * PLACED)), panel);
    carry_panel::<F, W>(hanging, p, bones.as_chunks::<W>().0, panel);
}

/// A panel of points that are side by side.
#[inline(always)]
pub(super) fn panel_of<const W: usize>(points: &[f32], q: usize) -> &[[f32; W]; PLACED] {
    points.as_chunks::<W>().0[q * PLACED..].first_chunk().expect("whole panels")
}

fn to_lane([row]: [&[f32; PLACED]; 1], lanes: &mut [[f32; 1]; PLACED]) {
    lanes.as_flattened_mut().copy_from_slice(row);
}

fn to_row(lanes: &[[f32; 1]; PLACED], q: usize, part: &[u32], out: &mut RowsMut) {
    *out.row(part[0], q * PLACED) = lanes.map(|[n]| n);
}

/// A panel of several instances, on cache lines.
#[repr(align(64))]
struct Lanes<const W: usize>([[f32; W]; PLACED]);
