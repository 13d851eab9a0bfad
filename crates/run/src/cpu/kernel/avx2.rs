//! Eight lanes.
//!
//! SAFETY: every function needs AVX2 and FMA, which the dispatcher in the parent module has detected, and pointers
//! that are good for what the parent's safe wrappers have checked: `depth` rows of a panel, `depth` inputs for
//! each instance, a whole panel of outputs.

use super::fuse::{Fuse, Fused};
use super::{Found, Guard, Hanging, PLACED, PLAIN, Placement, Rows, RowsMut, Schedule, Wearers};
use std::arch::x86_64::*;

/// Sums as [`Fused`]; what goes across lanes by the instructions that there are for it.
pub(super) struct Eight;

impl Fuse for Eight {
    #[inline(always)]
    fn fma(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }

    #[inline(always)]
    fn signs<const W: usize>(lanes: &[u32; W]) -> u32 {
        const { assert!(W == 8) };
        // SAFETY: the array is as long as the register; only functions with AVX2 work with this type.
        unsafe { _mm256_movemask_ps(_mm256_loadu_ps(lanes.as_ptr().cast())) as u32 }
    }

    #[inline(always)]
    fn replace<const W: usize>(bits: u32, from: &[f32; W], to: &mut [f32; W]) {
        const { assert!(W == 8) };
        // SAFETY: as above.
        unsafe {
            let places = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            let mask = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(bits as i32), places), places);
            let (kept, other) = (_mm256_loadu_ps(to.as_ptr()), _mm256_loadu_ps(from.as_ptr()));
            _mm256_storeu_ps(to.as_mut_ptr(), _mm256_blendv_ps(kept, other, _mm256_castsi256_ps(mask)));
        }
    }
}

/// Eight entries of a panel from number `at` on; stored as `bf16` they are the upper halves of `f32`.
#[target_feature(enable = "avx2,fma")]
#[inline]
unsafe fn entries<const HALF: bool>(panel: *const f32, at: usize) -> __m256 {
    // SAFETY: handed on from the caller.
    unsafe {
        if HALF {
            let halves = _mm_loadu_si128(panel.cast::<u16>().add(at).cast());
            _mm256_castsi256_ps(_mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(halves)))
        } else {
            _mm256_loadu_ps(panel.add(at))
        }
    }
}

/// `V` vectors of outputs, from row `first` of a panel of `WIDTH` rows, for each of `N` instances: each output is
/// one chain over k.
#[target_feature(enable = "avx2,fma")]
#[inline]
unsafe fn chains<const N: usize, const V: usize, const WIDTH: usize, const HALF: bool>(
    panel: *const f32,
    first: usize,
    depth: usize,
    inputs: [*const f32; N],
    start: *const f32,
) -> [[__m256; V]; N] {
    let mut sums = [[_mm256_setzero_ps(); V]; N];
    for v in 0..V {
        // SAFETY: `start` holds a whole panel.
        let begin = unsafe { _mm256_loadu_ps(start.add(first + 8 * v)) };
        for n in 0..N {
            sums[n][v] = begin;
        }
    }
    for k in 0..depth {
        let mut column = [_mm256_setzero_ps(); V];
        for v in 0..V {
            // SAFETY: the panel has `depth` columns of `WIDTH`.
            column[v] = unsafe { entries::<HALF>(panel, WIDTH * k + first + 8 * v) };
        }
        for n in 0..N {
            // SAFETY: every instance has `depth` inputs.
            let x = unsafe { _mm256_broadcast_ss(&*inputs[n].add(k)) };
            for v in 0..V {
                sums[n][v] = _mm256_fmadd_ps(column[v], x, sums[n][v]);
            }
        }
    }
    sums
}

/// As [`chains`], for four instances and three vectors: twelve sums, three columns and one input take all sixteen registers,
/// which the compiler does not manage without putting one aside in every turn.
#[target_feature(enable = "avx2,fma")]
#[inline]
unsafe fn four_chains<const WIDTH: usize>(
    panel: *const f32,
    first: usize,
    depth: usize,
    inputs: [*const f32; 4],
    start: *const f32,
) -> [[__m256; 3]; 4] {
    let mut s = [[_mm256_setzero_ps(); 3]; 4];
    for v in 0..3 {
        // SAFETY: `start` holds a whole panel.
        let begin = unsafe { _mm256_loadu_ps(start.add(first + 8 * v)) };
        (0..4).for_each(|n| s[n][v] = begin);
    }
    if depth == 0 {
        return s;
    }
    let [mut a, mut b, mut c, mut d] = s;
    // SAFETY: reads `depth` columns of the panel and `depth` inputs of each instance, writes registers only.
    unsafe {
        std::arch::asm!(
            "2:",
            "vmovups {c0}, [{panel}]",
            "vmovups {c1}, [{panel} + 32]",
            "vmovups {c2}, [{panel} + 64]",
            "vbroadcastss {x}, [{x0} + 4*{k}]",
            "vfmadd231ps {a0}, {c0}, {x}",
            "vfmadd231ps {a1}, {c1}, {x}",
            "vfmadd231ps {a2}, {c2}, {x}",
            "vbroadcastss {x}, [{x1} + 4*{k}]",
            "vfmadd231ps {b0}, {c0}, {x}",
            "vfmadd231ps {b1}, {c1}, {x}",
            "vfmadd231ps {b2}, {c2}, {x}",
            "vbroadcastss {x}, [{x2} + 4*{k}]",
            "vfmadd231ps {d0}, {c0}, {x}",
            "vfmadd231ps {d1}, {c1}, {x}",
            "vfmadd231ps {d2}, {c2}, {x}",
            "vbroadcastss {x}, [{x3} + 4*{k}]",
            "vfmadd231ps {e0}, {c0}, {x}",
            "vfmadd231ps {e1}, {c1}, {x}",
            "vfmadd231ps {e2}, {c2}, {x}",
            "add {panel}, {step}",
            "add {k}, 1",
            "cmp {k}, {depth}",
            "jb 2b",
            panel = inout(reg) panel.add(first) => _,
            k = inout(reg) 0usize => _,
            depth = in(reg) depth,
            step = const 4 * WIDTH,
            x0 = in(reg) inputs[0],
            x1 = in(reg) inputs[1],
            x2 = in(reg) inputs[2],
            x3 = in(reg) inputs[3],
            a0 = inout(ymm_reg) a[0], a1 = inout(ymm_reg) a[1], a2 = inout(ymm_reg) a[2],
            b0 = inout(ymm_reg) b[0], b1 = inout(ymm_reg) b[1], b2 = inout(ymm_reg) b[2],
            d0 = inout(ymm_reg) c[0], d1 = inout(ymm_reg) c[1], d2 = inout(ymm_reg) c[2],
            e0 = inout(ymm_reg) d[0], e1 = inout(ymm_reg) d[1], e2 = inout(ymm_reg) d[2],
            c0 = out(ymm_reg) _, c1 = out(ymm_reg) _, c2 = out(ymm_reg) _, x = out(ymm_reg) _,
            options(nostack, readonly),
        );
    }
    [a, b, c, d]
}

/// One panel of a product for `N` instances.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn plain<const N: usize>(
    panel: *const f32,
    depth: usize,
    inputs: [*const f32; N],
    start: *const f32,
    out: [*mut f32; N],
) {
    for first in [0, PLAIN / 2] {
        // SAFETY: handed on from the caller.
        let sums = unsafe { chains::<N, { PLAIN / 16 }, PLAIN, false>(panel, first, depth, inputs, start) };
        for n in 0..N {
            for v in 0..PLAIN / 16 {
                // SAFETY: `out` has room for a panel.
                unsafe { _mm256_storeu_ps(out[n].add(first + 8 * v), sums[n][v]) };
            }
        }
    }
}

/// One panel of vertices for `N` instances, turned about the vertical and moved before it is written.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn placed<const N: usize, const HALF: bool, const STREAM: bool>(
    panel: *const f32,
    depth: usize,
    inputs: [*const f32; N],
    start: *const f32,
    places: [&Placement; N],
    out: [*mut f32; N],
) {
    const V: usize = PLACED / 16;
    for first in [0, PLACED / 2] {
        // SAFETY: handed on from the caller.
        let sums = unsafe {
            if N == 4 && !HALF {
                let four = four_chains::<PLACED>(panel, first, depth, [0, 1, 2, 3].map(|n| inputs[n]), start);
                std::array::from_fn(|n| four[n])
            } else {
                chains::<N, V, PLACED, HALF>(panel, first, depth, inputs, start)
            }
        };
        for n in 0..N {
            let others = other_horizontal(sums[n]);
            let Placement { own, other, shift } = places[n];
            for v in 0..V {
                // SAFETY: the placement's rows and `out` hold a panel.
                unsafe {
                    let moved = _mm256_fmadd_ps(
                        sums[n][v],
                        _mm256_loadu_ps(own.as_ptr().add(first + 8 * v)),
                        _mm256_loadu_ps(shift.as_ptr().add(first + 8 * v)),
                    );
                    let turned =
                        _mm256_fmadd_ps(others[v], _mm256_loadu_ps(other.as_ptr().add(first + 8 * v)), moved);
                    let to = out[n].add(first + 8 * v);
                    if STREAM { _mm256_stream_ps(to, turned) } else { _mm256_storeu_ps(to, turned) }
                }
            }
        }
    }
}

/// Eight vertices `x y z x y z …` with x and z of each exchanged.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn other_horizontal([a, b, c]: [__m256; 3]) -> [__m256; 3] {
    let within = |v, lanes| _mm256_permutevar8x32_ps(v, lanes);
    // a = x0 y0 z0 x1 y1 z1 x2 y2, b = z2 x3 y3 z3 x4 y4 z4 x5, c = y5 z5 x6 y6 z6 x7 y7 z7.
    let a0 = within(a, _mm256_setr_epi32(2, 1, 0, 5, 4, 3, 6, 7));
    let z2 = within(b, _mm256_setzero_si256());
    let b0 = within(b, _mm256_setr_epi32(0, 3, 2, 1, 6, 5, 4, 7));
    let x2 = within(a, _mm256_set1_epi32(6));
    let z5 = within(c, _mm256_set1_epi32(1));
    let c0 = within(c, _mm256_setr_epi32(0, 1, 4, 3, 2, 7, 6, 5));
    let x5 = within(b, _mm256_set1_epi32(7));
    [
        _mm256_blend_ps::<0b0100_0000>(a0, z2),
        _mm256_blend_ps::<0b1000_0000>(_mm256_blend_ps::<0b0000_0001>(b0, x2), z5),
        _mm256_blend_ps::<0b0000_0010>(c0, x5),
    ]
}

/// Copies a panel past the caches; both begin on a cache line.
#[target_feature(enable = "avx2,fma")]
pub(super) fn stream(row: &[f32; PLACED], to: &mut [f32; PLACED]) {
    for (from, to) in row.as_chunks::<8>().0.iter().zip(to.as_chunks_mut::<8>().0) {
        // SAFETY: the arrays are as long as the register; panels of rows on lines are on lines.
        unsafe { _mm256_stream_ps(to.as_mut_ptr(), _mm256_loadu_ps(from.as_ptr())) };
    }
}

/// Numbers held between limits.
#[target_feature(enable = "avx2,fma")]
pub(super) fn hold(x: &[f32], least: &[f32], most: &[f32], out: &mut [f32]) -> u32 {
    super::hold_each(x, least, most, out)
}

/// Rows to lanes: `lanes[r][n] = rows[n][r]`.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn rows_to_lanes(rows: [&[f32; PLACED]; 8], lanes: &mut [[f32; 8]; PLACED]) {
    for (r, to) in lanes.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        let columns = |n: usize| &rows[n].as_chunks::<4>().0[r];
        let block = [0, 1, 2, 3].map(|n| joined(columns(n), columns(n + 4)));
        for (to, values) in to.iter_mut().zip(transposed(block)) {
            // SAFETY: the array is as long as the register.
            unsafe { _mm256_storeu_ps(to.as_mut_ptr(), values) };
        }
    }
}

/// Lanes to rows, as panel `q` of the instances' own: four instances at a time, a whole cache line of each.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn lanes_to_rows(lanes: &[[f32; 8]; PLACED], q: usize, part: &[u32], out: &mut RowsMut) {
    let stream = out.streams();
    for (r, line) in lanes.as_chunks::<16>().0.iter().enumerate() {
        for (four, part) in part.chunks(4).enumerate() {
            let quarter = |k: usize| &line[k].as_chunks::<4>().0[four];
            let [near, far] = [0, 8]
                .map(|c| transposed([c, c + 1, c + 2, c + 3].map(|k| joined(quarter(k), quarter(k + 4)))));
            for ((i, near), far) in part.iter().zip(near).zip(far) {
                let to = out.row::<16>(*i, q * PLACED + 16 * r).as_mut_ptr();
                // SAFETY: the array is as long as two registers, and on its line where it is streamed.
                unsafe {
                    if stream {
                        _mm256_stream_ps(to, near);
                        _mm256_stream_ps(to.add(8), far);
                    } else {
                        _mm256_storeu_ps(to, near);
                        _mm256_storeu_ps(to.add(8), far);
                    }
                }
            }
        }
    }
}

/// Two halves of a register, from wherever they are: cheaper than to exchange halves between registers.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn joined(low: &[f32; 4], high: &[f32; 4]) -> __m256 {
    // SAFETY: the arrays are as long as half a register.
    unsafe { _mm256_set_m128(_mm_loadu_ps(high.as_ptr()), _mm_loadu_ps(low.as_ptr())) }
}

/// Two blocks of 4 × 4, one in each half, rows and columns exchanged: pairs, then fours.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn transposed([a, b, c, d]: [__m256; 4]) -> [__m256; 4] {
    let pd = |v| _mm256_castps_pd(v);
    let (ab, cd) = (pd(_mm256_unpacklo_ps(a, b)), pd(_mm256_unpacklo_ps(c, d)));
    let (first, second) = (_mm256_unpacklo_pd(ab, cd), _mm256_unpackhi_pd(ab, cd));
    let (ab, cd) = (pd(_mm256_unpackhi_ps(a, b)), pd(_mm256_unpackhi_ps(c, d)));
    [first, second, _mm256_unpacklo_pd(ab, cd), _mm256_unpackhi_pd(ab, cd)].map(|v| _mm256_castpd_ps(v))
}

/// A step of the normals of up to 8 instances side by side.
#[target_feature(enable = "avx2,fma")]
pub(super) fn normals(
    schedule: &Schedule,
    p: usize,
    vertices: Rows,
    part: super::normals::Part,
    scratch: &mut [f32],
    out: &mut RowsMut,
) {
    let (take, give) = (
        |rows: [&[f32; PLACED]; 8], lanes: &mut [[f32; 8]; PLACED]| rows_to_lanes(rows, lanes),
        |lanes: &[[f32; 8]; PLACED], q: usize, part: &[u32], out: &mut RowsMut| {
            lanes_to_rows(lanes, q, part, out)
        },
    );
    super::normals::step::<super::register::Eight, 8>(schedule, p, vertices, part, scratch, out, take, give);
}

/// A step of the normals of one instance.
#[target_feature(enable = "avx2,fma")]
pub(super) fn normals1(
    schedule: &Schedule,
    p: usize,
    vertices: Rows,
    part: super::normals::Part,
    scratch: &mut [f32],
    out: &mut RowsMut,
) {
    super::normals::one::<Fused>(schedule, p, vertices, part, scratch, out);
}

/// A panel of up to 8 instances, skinned side by side.
#[target_feature(enable = "avx2,fma")]
pub(super) fn hang(hanging: &Hanging, p: usize, bones: &[f32], part: &[u32], out: &mut RowsMut) {
    let (take, give) = (
        |rows: [&[f32; PLACED]; 8], lanes: &mut [[f32; 8]; PLACED]| rows_to_lanes(rows, lanes),
        |lanes: &[[f32; 8]; PLACED], q: usize, part: &[u32], out: &mut RowsMut| {
            lanes_to_rows(lanes, q, part, out)
        },
    );
    super::skin::panel::<Fused, 8>(hanging, p, bones, part, out, take, give);
}

/// The same, left side by side.
#[target_feature(enable = "avx2,fma")]
pub(super) fn carry(
    hanging: &Hanging,
    at: [usize; 2],
    bones: &[f32],
    part: &[u32],
    from: &RowsMut,
    points: &mut [f32],
) {
    let take = |rows: [&[f32; PLACED]; 8], lanes: &mut [[f32; 8]; PLACED]| rows_to_lanes(rows, lanes);
    super::skin::take::<Fused, 8>(hanging, at, bones, part, from, points, take);
}

/// Rows of what lay side by side.
#[target_feature(enable = "avx2,fma")]
pub(super) fn give([p, q]: [usize; 2], part: &[u32], points: &[f32], out: &mut RowsMut) {
    lanes_to_rows(super::skin::panel_of(points, q), p, part, out);
}

/// A part of a garment, kept outside of limbs and skin.
#[target_feature(enable = "avx2,fma")]
pub(super) fn push_out(guard: &Guard, p: usize, wearers: Wearers, points: &mut [f32], found: &mut Found) {
    super::skin::push_part::<super::register::Eight, 8>(guard, p, wearers, points, found);
}

/// A panel of one instance, skinned.
#[target_feature(enable = "avx2,fma")]
pub(super) fn hang1(hanging: &Hanging, p: usize, bones: &[f32], part: &[u32], out: &mut RowsMut) {
    super::skin::panel1::<Fused>(hanging, p, bones, part, out);
}

/// The same, as it is worked on further.
#[target_feature(enable = "avx2,fma")]
pub(super) fn carry1(
    hanging: &Hanging,
    at: [usize; 2],
    bones: &[f32],
    part: &[u32],
    from: &RowsMut,
    points: &mut [f32],
) {
    super::skin::take::<Fused, 1>(hanging, at, bones, part, from, points, |[row], lanes| {
        lanes.as_flattened_mut().copy_from_slice(row);
    });
}

/// A part of one garment, kept outside of limbs and skin.
#[target_feature(enable = "avx2,fma")]
pub(super) fn push_out1(guard: &Guard, p: usize, wearers: Wearers, points: &mut [f32], found: &mut Found) {
    super::skin::push_part::<super::register::Plain<Fused, 1>, 1>(guard, p, wearers, points, found);
}

/// All of one instance, skinned.
#[target_feature(enable = "avx2,fma")]
pub(super) fn hang_all(hanging: &Hanging, bones: &[f32], out: &mut [f32]) {
    super::skin::all::<Fused>(hanging, bones, out);
}
