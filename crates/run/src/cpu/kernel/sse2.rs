//! Four lanes with products and sums rounded apart: what every x86-64 has.
//!
//! SAFETY: pointers are good for what the parent's safe wrappers have checked: `depth` rows of a panel, `depth` inputs for
//! each instance, a whole panel of outputs.

use super::{PLACED, PLAIN, Placement};
use std::arch::x86_64::*;

/// `V` vectors of outputs, from row `first` of a panel of `WIDTH` rows, for each of `N` instances: each output is one chain
/// over k.
#[inline(always)]
unsafe fn chains<const N: usize, const V: usize, const WIDTH: usize, const HALF: bool>(
    panel: *const f32,
    first: usize,
    depth: usize,
    inputs: [*const f32; N],
    start: *const f32,
) -> [[__m128; V]; N] {
    // SAFETY: `start` holds a whole panel, the panel `depth` columns of `WIDTH`, every instance `depth` inputs.
    unsafe {
        let mut sums = [[_mm_setzero_ps(); V]; N];
        for v in 0..V {
            let begin = _mm_loadu_ps(start.add(first + 4 * v));
            for n in 0..N {
                sums[n][v] = begin;
            }
        }
        for k in 0..depth {
            let mut x = [_mm_setzero_ps(); N];
            for n in 0..N {
                x[n] = _mm_set1_ps(*inputs[n].add(k));
            }
            for v in 0..V {
                let at = WIDTH * k + first + 4 * v;
                let column = if HALF {
                    let halves = _mm_loadl_epi64(panel.cast::<u16>().add(at).cast());
                    _mm_castsi128_ps(_mm_slli_epi32::<16>(_mm_unpacklo_epi16(halves, halves)))
                } else {
                    _mm_loadu_ps(panel.add(at))
                };
                for n in 0..N {
                    sums[n][v] = _mm_add_ps(_mm_mul_ps(column, x[n]), sums[n][v]);
                }
            }
        }
        sums
    }
}

/// One panel of a product for `N` instances.
pub(super) unsafe fn plain<const N: usize>(
    panel: *const f32,
    depth: usize,
    inputs: [*const f32; N],
    start: *const f32,
    out: [*mut f32; N],
) {
    const V: usize = PLAIN / 8;
    for first in [0, PLAIN / 2] {
        // SAFETY: handed on from the caller; `out` has room for a panel.
        unsafe {
            let sums = chains::<N, V, PLAIN, false>(panel, first, depth, inputs, start);
            for n in 0..N {
                for v in 0..V {
                    _mm_storeu_ps(out[n].add(first + 4 * v), sums[n][v]);
                }
            }
        }
    }
}

/// One panel of vertices for `N` instances, turned about the vertical and moved before it is written.
pub(super) unsafe fn placed<const N: usize, const HALF: bool, const STREAM: bool>(
    panel: *const f32,
    depth: usize,
    inputs: [*const f32; N],
    start: *const f32,
    places: [&Placement; N],
    out: [*mut f32; N],
) {
    // Eight vertices of three numbers: with two instances all registers are in use.
    const V: usize = 6;
    for first in (0..PLACED).step_by(4 * V) {
        // SAFETY: handed on from the caller; the placement's rows and `out` hold a panel.
        unsafe {
            let sums = chains::<N, V, PLACED, HALF>(panel, first, depth, inputs, start);
            for n in 0..N {
                let Placement { own, other, shift } = places[n];
                // By numbers that are known here: looked up by others, the sums would have to lie in memory.
                for half in 0..V / 3 {
                    let own_sums = [sums[n][3 * half], sums[n][3 * half + 1], sums[n][3 * half + 2]];
                    let others = other_horizontal(own_sums);
                    for v in 0..3 {
                        let at = first + 4 * (3 * half + v);
                        let of = |row: &[f32; PLACED]| _mm_loadu_ps(row.as_ptr().add(at));
                        let moved = _mm_add_ps(_mm_mul_ps(own_sums[v], of(own)), of(shift));
                        let turned = _mm_add_ps(_mm_mul_ps(others[v], of(other)), moved);
                        let to = out[n].add(at);
                        if STREAM { _mm_stream_ps(to, turned) } else { _mm_storeu_ps(to, turned) }
                    }
                }
            }
        }
    }
}

/// Four vertices `x0 y0 z0 x1`, `y1 z1 x2 y2`, `z2 x3 y3 z3` with x and z of each exchanged.
#[inline(always)]
fn other_horizontal([a, b, c]: [__m128; 3]) -> [__m128; 3] {
    // SAFETY: every x86-64 has these.
    unsafe {
        let pair = _mm_shuffle_ps::<0b01_00_11_10>(a, b); // z0 x1 y1 z1
        [
            // z0 y0 x0 z1
            _mm_shuffle_ps::<0b10_00_10_00>(
                _mm_shuffle_ps::<0b01_01_10_10>(a, a),
                _mm_shuffle_ps::<0b11_11_00_00>(a, pair),
            ),
            // y1 x1 z2 y2
            _mm_shuffle_ps::<0b10_00_10_00>(
                _mm_shuffle_ps::<0b01_01_10_10>(pair, pair),
                _mm_shuffle_ps::<0b11_11_00_00>(c, b),
            ),
            // x2 z3 y3 x3
            _mm_shuffle_ps::<0b01_10_11_00>(_mm_shuffle_ps::<0b11_11_10_10>(b, c), c),
        ]
    }
}

/// Forgets the upper halves of wide registers. While any is in use, every instruction here keeps those of the register that
/// it writes, and so waits for whatever wrote that register last.
#[target_feature(enable = "avx")]
pub(super) fn forget_upper_halves() {
    _mm256_zeroupper();
}
