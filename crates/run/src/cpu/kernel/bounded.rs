//! Inputs held between −1 and 1 and nearness to poses, a row at a time.
//!
//! Plain Rust inlined into functions compiled for an instruction set. Nothing is fused, and sums run over sixteen lanes
//! that are added in a fixed order: the same bits everywhere.

use super::Isa;
use super::fuse::Apart;
use super::normals::inverse_sqrt;

/// Lanes of a sum, whatever the instructions.
const LANES: usize = 16;

/// Between −1 and 1, and nearly the number itself where that is small.
#[inline(always)]
pub(crate) fn hold(x: f32) -> f32 {
    // Beyond, the square would overflow; the result is as near to ±1 as it gets long before.
    let x = x.clamp(-1e18, 1e18);
    x * inverse_sqrt::<Apart>(1.0 + x * x)
}

/// Holds inputs and, behind them, their change since the frame before, which is remembered. `held` has room for both.
pub(crate) fn hold_inputs(isa: Isa, x: &[f32], before: &mut [f32], scale: &[f32], held: &mut [f32]) {
    match isa {
        // SAFETY: `isa` was detected.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { hold512(x, before, scale, held) },
        // SAFETY: `isa` was detected.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { hold2(x, before, scale, held) },
        _ => hold_each(x, before, scale, held),
    }
}

/// `width / (width + d²)` from products `p`, where `d² = p + length_sq`; returns the least `d²`.
pub(crate) fn nearness(isa: Isa, products: &[f32], length_sq: f32, width_sq: f32, out: &mut [f32]) -> f32 {
    match isa {
        // SAFETY: `isa` was detected.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { near512(products, length_sq, width_sq, out) },
        // SAFETY: `isa` was detected.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { near2(products, length_sq, width_sq, out) },
        _ => near_each(products, length_sq, width_sq, out),
    }
}

/// `Σ (xₖ sₖ)²`.
pub(crate) fn squares(x: &[f32], scale: &[f32]) -> f32 {
    let mut sums = [0.0f32; LANES];
    let one = |x: f32, scale: f32, sum: &mut f32| {
        let scaled = x * scale;
        *sum += scaled * scaled;
    };
    let ((x, x_rest), (scale, scale_rest)) = (x.as_chunks::<LANES>(), scale.as_chunks::<LANES>());
    for (x, scale) in x.iter().zip(scale) {
        for k in 0..LANES {
            one(x[k], scale[k], &mut sums[k]);
        }
    }
    for (k, (x, scale)) in x_rest.iter().zip(scale_rest).enumerate() {
        one(*x, *scale, &mut sums[k]);
    }
    sums.iter().sum()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn hold512(x: &[f32], before: &mut [f32], scale: &[f32], held: &mut [f32]) {
    hold_each(x, before, scale, held);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn hold2(x: &[f32], before: &mut [f32], scale: &[f32], held: &mut [f32]) {
    hold_each(x, before, scale, held);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn near512(products: &[f32], length_sq: f32, width_sq: f32, out: &mut [f32]) -> f32 {
    near_each(products, length_sq, width_sq, out)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn near2(products: &[f32], length_sq: f32, width_sq: f32, out: &mut [f32]) -> f32 {
    near_each(products, length_sq, width_sq, out)
}

#[inline(always)]
fn hold_each(x: &[f32], before: &mut [f32], scale: &[f32], held: &mut [f32]) {
    let m = x.len();
    let (poses, changes) = held.split_at_mut(m);
    let (before, scale, changes) = (&mut before[..m], &scale[..m], &mut changes[..m]);
    for k in 0..m {
        poses[k] = hold(x[k]);
        changes[k] = hold((x[k] - before[k]) * scale[k]);
        before[k] = x[k];
    }
}

#[inline(always)]
fn near_each(products: &[f32], length_sq: f32, width_sq: f32, out: &mut [f32]) -> f32 {
    let mut least = [f32::INFINITY; LANES];
    let one = |product: f32, least: &mut f32, out: &mut f32| {
        let apart = product + length_sq;
        let apart = if apart > 0.0 { apart } else { 0.0 };
        *least = if apart < *least { apart } else { *least };
        *out = width_sq / (width_sq + apart);
    };
    let (whole, rest) = products.as_chunks::<LANES>();
    let (to_whole, to_rest) = out[..products.len()].as_chunks_mut::<LANES>();
    for (products, out) in whole.iter().zip(to_whole) {
        for k in 0..LANES {
            one(products[k], &mut least[k], &mut out[k]);
        }
    }
    for (k, (product, out)) in rest.iter().zip(to_rest).enumerate() {
        one(*product, &mut least[k], out);
    }
    least.into_iter().fold(f32::INFINITY, f32::min)
}
