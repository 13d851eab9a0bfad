//! Sixteen lanes.
//!
//! SAFETY: every function needs AVX-512F, which the dispatcher in the parent module has detected, and pointers
//! that are good for what the parent's safe wrappers have checked: `depth` rows of a panel, `depth` inputs for
//! each instance, a whole panel of outputs.

use super::fuse::{Fuse, Fused};
use super::{Found, Guard, Hanging, PLACED, PLAIN, Placement, Rows, RowsMut, Schedule, Wearers};
use std::arch::x86_64::*;

/// How many columns ahead a single instance asks for: its model may be in no cache. Measured: 32 to 64 gain 10 to
/// 15 % cold and cost nothing warm, 128 costs 20 % warm.
const AHEAD: usize = 64;

/// Sums as [`Fused`]; what goes across lanes by the instructions that there are for it.
pub(super) struct Sixteen;

impl Fuse for Sixteen {
    #[inline(always)]
    fn fma(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }

    #[inline(always)]
    fn signs<const W: usize>(lanes: &[u32; W]) -> u32 {
        const { assert!(W == 16) };
        // SAFETY: the array is as long as the register; only functions with AVX-512F work with this type.
        unsafe {
            let values = _mm512_loadu_si512(lanes.as_ptr().cast());
            u32::from(_mm512_cmplt_epi32_mask(values, _mm512_setzero_si512()))
        }
    }

    #[inline(always)]
    fn replace<const W: usize>(bits: u32, from: &[f32; W], to: &mut [f32; W]) {
        const { assert!(W == 16) };
        // SAFETY: as above.
        unsafe {
            let kept = _mm512_loadu_ps(to.as_ptr());
            let chosen = _mm512_mask_loadu_ps(kept, bits as u16, from.as_ptr());
            _mm512_storeu_ps(to.as_mut_ptr(), chosen);
        }
    }
}

/// Sixteen entries of a panel from number `at` on; stored as `bf16` they are the upper halves of `f32`.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn entries<const HALF: bool>(panel: *const f32, at: usize) -> __m512 {
    // SAFETY: handed on from the caller.
    unsafe {
        if HALF {
            let halves = _mm256_loadu_si256(panel.cast::<u16>().add(at).cast());
            _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(halves)))
        } else {
            _mm512_loadu_ps(panel.add(at))
        }
    }
}

/// `V` vectors of outputs for each of `N` instances: each output is one chain over k.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn chains<const N: usize, const V: usize, const HALF: bool>(
    panel: *const f32,
    depth: usize,
    inputs: [*const f32; N],
    start: *const f32,
) -> [[__m512; V]; N] {
    let mut sums = [[_mm512_setzero_ps(); V]; N];
    for v in 0..V {
        // SAFETY: `start` holds a whole panel.
        let first = unsafe { _mm512_loadu_ps(start.add(16 * v)) };
        for n in 0..N {
            sums[n][v] = first;
        }
    }
    for k in 0..depth {
        let mut column = [_mm512_setzero_ps(); V];
        for v in 0..V {
            // SAFETY: the panel has `depth` columns of 16·V.
            column[v] = unsafe { entries::<HALF>(panel, 16 * (V * k + v)) };
            if N == 1 {
                let ahead = 16 * (V * (k + AHEAD) + v);
                _mm_prefetch::<_MM_HINT_T0>(if HALF {
                    panel.cast::<u16>().wrapping_add(ahead).cast()
                } else {
                    panel.wrapping_add(ahead).cast()
                });
            }
        }
        for n in 0..N {
            // SAFETY: every instance has `depth` inputs.
            let x = unsafe { _mm512_set1_ps(*inputs[n].add(k)) };
            for v in 0..V {
                sums[n][v] = _mm512_fmadd_ps(column[v], x, sums[n][v]);
            }
        }
    }
    sums
}

/// One panel of a product for `N` instances.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn plain<const N: usize>(
    panel: *const f32,
    depth: usize,
    inputs: [*const f32; N],
    start: *const f32,
    out: [*mut f32; N],
) {
    const V: usize = PLAIN / 16;
    // SAFETY: handed on from the caller.
    let sums = unsafe { chains::<N, V, false>(panel, depth, inputs, start) };
    for n in 0..N {
        for v in 0..V {
            // SAFETY: `out` has room for a panel.
            unsafe { _mm512_storeu_ps(out[n].add(16 * v), sums[n][v]) };
        }
    }
}

/// One panel of vertices for `N` instances, turned about the vertical and moved before it is written.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn placed<const N: usize, const HALF: bool, const STREAM: bool>(
    panel: *const f32,
    depth: usize,
    inputs: [*const f32; N],
    start: *const f32,
    places: [&Placement; N],
    out: [*mut f32; N],
) {
    const V: usize = PLACED / 16;
    // For each lane where the other horizontal coordinate of its vertex stands; y points at itself.
    // Indices from 16 on are in the second operand.
    let other0 = _mm512_setr_epi32(2, 1, 0, 5, 4, 3, 8, 7, 6, 11, 10, 9, 14, 13, 12, 17);
    let other1 = _mm512_setr_epi32(16, 15, 20, 19, 18, 23, 22, 21, 26, 25, 24, 29, 28, 27, 30, 31);
    let other2 = _mm512_setr_epi32(14, 19, 18, 17, 22, 21, 20, 25, 24, 23, 28, 27, 26, 31, 30, 29);
    // SAFETY: handed on from the caller.
    let sums = unsafe { chains::<N, V, HALF>(panel, depth, inputs, start) };
    for n in 0..N {
        let [a, b, c] = sums[n];
        let others = [
            _mm512_permutex2var_ps(a, other0, b),
            // The z of the vertex that begins at the second vector's end is in the third.
            _mm512_mask_permutexvar_ps(
                _mm512_permutex2var_ps(a, other1, b),
                1 << 14,
                _mm512_setzero_si512(),
                c,
            ),
            _mm512_permutex2var_ps(b, other2, c),
        ];
        let Placement { own, other, shift } = places[n];
        for v in 0..V {
            // SAFETY: the placement's rows and `out` hold a panel.
            unsafe {
                let moved = _mm512_fmadd_ps(
                    sums[n][v],
                    _mm512_loadu_ps(own.as_ptr().add(16 * v)),
                    _mm512_loadu_ps(shift.as_ptr().add(16 * v)),
                );
                let turned = _mm512_fmadd_ps(others[v], _mm512_loadu_ps(other.as_ptr().add(16 * v)), moved);
                let to = out[n].add(16 * v);
                if STREAM { _mm512_stream_ps(to, turned) } else { _mm512_storeu_ps(to, turned) }
            }
        }
    }
}

/// Copies a panel past the caches; both begin on a cache line.
#[target_feature(enable = "avx512f")]
pub(super) fn stream(row: &[f32; PLACED], to: &mut [f32; PLACED]) {
    for (from, to) in row.as_chunks::<16>().0.iter().zip(to.as_chunks_mut::<16>().0) {
        // SAFETY: the arrays are as long as the register; panels of rows on lines are on lines.
        unsafe { _mm512_stream_ps(to.as_mut_ptr(), _mm512_loadu_ps(from.as_ptr())) };
    }
}

/// Numbers held between limits.
#[target_feature(enable = "avx512f")]
pub(super) fn hold(x: &[f32], least: &[f32], most: &[f32], out: &mut [f32]) -> u32 {
    super::hold_each(x, least, most, out)
}

/// Rows to lanes: `lanes[r][n] = rows[n][r]`.
#[target_feature(enable = "avx512f")]
#[inline]
fn rows_to_lanes(rows: [&[f32; PLACED]; 16], lanes: &mut [[f32; 16]; PLACED]) {
    for (r, to) in lanes.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let mut block = [_mm512_setzero_ps(); 16];
        for n in 0..16 {
            // SAFETY: a row has three or six times as many numbers as the register.
            block[n] = unsafe { _mm512_loadu_ps(rows[n].as_ptr().add(16 * r)) };
        }
        for (to, values) in to.iter_mut().zip(transposed(block)) {
            // SAFETY: the array is as long as the register.
            unsafe { _mm512_storeu_ps(to.as_mut_ptr(), values) };
        }
    }
}

/// The same for 16 rows of `length`, a multiple of 16; `out` holds as many columns.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn blocks_to_lanes(rows: &[*const f32; 16], length: usize, out: &mut [f32]) {
    let columns = &mut out.as_chunks_mut::<16>().0[..length];
    for (r, to) in columns.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let mut block = [_mm512_setzero_ps(); 16];
        for (values, row) in block.iter_mut().zip(rows) {
            // SAFETY: rows are that long.
            *values = unsafe { _mm512_loadu_ps(row.add(16 * r)) };
        }
        for (to, values) in to.iter_mut().zip(transposed(block)) {
            // SAFETY: the array is as long as the register.
            unsafe { _mm512_storeu_ps(to.as_mut_ptr(), values) };
        }
    }
}

/// Lanes to rows, as panel `q` of the instances' own.
#[target_feature(enable = "avx512f")]
#[inline]
fn lanes_to_rows(lanes: &[[f32; 16]; PLACED], q: usize, part: &[u32], out: &mut RowsMut) {
    for (r, block) in lanes.as_chunks::<16>().0.iter().enumerate() {
        let mut registers = [_mm512_setzero_ps(); 16];
        for n in 0..16 {
            // SAFETY: the array is as long as the register.
            registers[n] = unsafe { _mm512_loadu_ps(block[n].as_ptr()) };
        }
        let stream = out.streams();
        for (i, values) in part.iter().zip(transposed(registers)) {
            let to = out.row::<16>(*i, q * PLACED + 16 * r).as_mut_ptr();
            // SAFETY: the array is as long as the register, and on its line where it is streamed.
            unsafe { if stream { _mm512_stream_ps(to, values) } else { _mm512_storeu_ps(to, values) } };
        }
    }
}

/// A block of 16 × 16, rows and columns exchanged: pairs, then fours, then quarters of registers.
#[target_feature(enable = "avx512f")]
#[inline]
fn transposed(r: [__m512; 16]) -> [__m512; 16] {
    let mut fours = r;
    for g in 0..4 {
        let [a, b, c, d] = [r[4 * g], r[4 * g + 1], r[4 * g + 2], r[4 * g + 3]];
        let pd = |v| _mm512_castps_pd(v);
        let (ab, cd) = (pd(_mm512_unpacklo_ps(a, b)), pd(_mm512_unpacklo_ps(c, d)));
        fours[4 * g] = _mm512_castpd_ps(_mm512_unpacklo_pd(ab, cd));
        fours[4 * g + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(ab, cd));
        let (ab, cd) = (pd(_mm512_unpackhi_ps(a, b)), pd(_mm512_unpackhi_ps(c, d)));
        fours[4 * g + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(ab, cd));
        fours[4 * g + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(ab, cd));
    }
    let mut out = r;
    for j in 0..4 {
        let [a, b, c, d] = [fours[j], fours[4 + j], fours[8 + j], fours[12 + j]];
        let (low, high) = (_mm512_shuffle_f32x4::<0x88>(a, b), _mm512_shuffle_f32x4::<0x88>(c, d));
        out[j] = _mm512_shuffle_f32x4::<0x88>(low, high);
        out[8 + j] = _mm512_shuffle_f32x4::<0xdd>(low, high);
        let (low, high) = (_mm512_shuffle_f32x4::<0xdd>(a, b), _mm512_shuffle_f32x4::<0xdd>(c, d));
        out[4 + j] = _mm512_shuffle_f32x4::<0x88>(low, high);
        out[12 + j] = _mm512_shuffle_f32x4::<0xdd>(low, high);
    }
    out
}

/// A step of the normals of up to 16 instances side by side.
#[target_feature(enable = "avx512f")]
pub(super) fn normals(
    schedule: &Schedule,
    p: usize,
    vertices: Rows,
    part: super::normals::Part,
    scratch: &mut [f32],
    out: &mut RowsMut,
) {
    let (take, give) = (
        |rows: [&[f32; PLACED]; 16], lanes: &mut [[f32; 16]; PLACED]| rows_to_lanes(rows, lanes),
        |lanes: &[[f32; 16]; PLACED], q: usize, part: &[u32], out: &mut RowsMut| {
            lanes_to_rows(lanes, q, part, out)
        },
    );
    super::normals::step::<super::register::Sixteen, 16>(
        schedule, p, vertices, part, scratch, out, take, give,
    );
}

/// A step of the normals of one instance.
#[target_feature(enable = "avx512f,fma")]
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

/// A panel of up to 16 instances, skinned side by side.
#[target_feature(enable = "avx512f,fma")]
pub(super) fn hang(hanging: &Hanging, p: usize, bones: &[f32], part: &[u32], out: &mut RowsMut) {
    let (take, give) = (
        |rows: [&[f32; PLACED]; 16], lanes: &mut [[f32; 16]; PLACED]| rows_to_lanes(rows, lanes),
        |lanes: &[[f32; 16]; PLACED], q: usize, part: &[u32], out: &mut RowsMut| {
            lanes_to_rows(lanes, q, part, out)
        },
    );
    super::skin::panel::<Fused, 16>(hanging, p, bones, part, out, take, give);
}

/// The same, left side by side.
#[target_feature(enable = "avx512f,fma")]
pub(super) fn carry(
    hanging: &Hanging,
    at: [usize; 2],
    bones: &[f32],
    part: &[u32],
    from: &RowsMut,
    points: &mut [f32],
) {
    let take = |rows: [&[f32; PLACED]; 16], lanes: &mut [[f32; 16]; PLACED]| rows_to_lanes(rows, lanes);
    super::skin::take::<Fused, 16>(hanging, at, bones, part, from, points, take);
}

/// Rows of what lay side by side.
#[target_feature(enable = "avx512f,fma")]
pub(super) fn give([p, q]: [usize; 2], part: &[u32], points: &[f32], out: &mut RowsMut) {
    lanes_to_rows(super::skin::panel_of(points, q), p, part, out);
}

/// A part of a garment, kept outside of limbs and skin.
#[target_feature(enable = "avx512f,fma")]
pub(super) fn push_out(guard: &Guard, p: usize, wearers: Wearers, points: &mut [f32], found: &mut Found) {
    super::skin::push_part::<super::register::Sixteen, 16>(guard, p, wearers, points, found);
}
