//! Plain Rust: NEON on ARM, where fused multiply-add is part of every processor, and correct everywhere else.
//!
//! SAFETY: pointers are good for what the parent's safe wrappers have checked: `depth` rows of a panel, `depth`
//! inputs for each instance, a whole panel of outputs.

use super::fuse::Fuse;
use super::{PLACED, PLAIN, Placement};

/// `R` outputs from row `first` of a panel of `WIDTH` rows, for each of `N` instances: each output is one chain
/// over k.
#[inline(always)]
unsafe fn chains<F: Fuse, const N: usize, const R: usize, const WIDTH: usize, const HALF: bool>(
    panel: *const f32,
    first: usize,
    depth: usize,
    inputs: [*const f32; N],
    start: *const f32,
) -> [[f32; R]; N] {
    // SAFETY: `start` holds a whole panel.
    let begin = unsafe { *start.add(first).cast::<[f32; R]>() };
    let mut sums = [begin; N];
    for k in 0..depth {
        // SAFETY: the panel has `depth` columns of `WIDTH`.
        let column = unsafe {
            if HALF {
                let halves = *panel.cast::<u16>().add(WIDTH * k + first).cast::<[u16; R]>();
                halves.map(|half| f32::from_bits(u32::from(half) << 16))
            } else {
                *panel.add(WIDTH * k + first).cast::<[f32; R]>()
            }
        };
        for n in 0..N {
            // SAFETY: every instance has `depth` inputs.
            let x = unsafe { *inputs[n].add(k) };
            F::add(&column, x, &mut sums[n]);
        }
    }
    sums
}

/// One panel of a product for `N` instances.
pub(super) unsafe fn plain<F: Fuse, const N: usize>(
    panel: *const f32,
    depth: usize,
    inputs: [*const f32; N],
    start: *const f32,
    out: [*mut f32; N],
) {
    for first in [0, PLAIN / 2] {
        // SAFETY: handed on from the caller.
        let sums = unsafe { chains::<F, N, { PLAIN / 2 }, PLAIN, false>(panel, first, depth, inputs, start) };
        for n in 0..N {
            // SAFETY: `out` has room for a panel.
            unsafe { *out[n].add(first).cast::<[f32; PLAIN / 2]>() = sums[n] };
        }
    }
}

/// One panel of vertices for `N` instances, turned about the vertical and moved before it is written.
pub(super) unsafe fn placed<F: Fuse, const N: usize, const HALF: bool>(
    panel: *const f32,
    depth: usize,
    inputs: [*const f32; N],
    start: *const f32,
    places: [&Placement; N],
    out: [*mut f32; N],
) {
    const SIDE: usize = PLACED / 2;
    for first in [0, SIDE] {
        // SAFETY: handed on from the caller.
        let sums = unsafe { chains::<F, N, SIDE, PLACED, HALF>(panel, first, depth, inputs, start) };
        for n in 0..N {
            let Placement { own, other, shift } = places[n];
            let mut turned = [0.0; SIDE];
            // Four vertices at a time: that much the compiler turns into lanes.
            for at in (0..SIDE).step_by(12) {
                let here: [f32; 12] = std::array::from_fn(|r| sums[n][at + r]);
                let [x0, y0, z0, x1, y1, z1, x2, y2, z2, x3, y3, z3] = here;
                let across = [z0, y0, x0, z1, y1, x1, z2, y2, x2, z3, y3, x3];
                for r in 0..12 {
                    let moved = F::fma(here[r], own[first + at + r], shift[first + at + r]);
                    turned[at + r] = F::fma(across[r], other[first + at + r], moved);
                }
            }
            // SAFETY: `out` has room for a panel.
            unsafe { *out[n].add(first).cast::<[f32; SIDE]>() = turned };
        }
    }
}
