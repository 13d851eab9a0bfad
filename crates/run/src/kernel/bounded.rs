//! Inputs held between −1 and 1 and nearness to poses, a row at a time.
//!
//! Plain Rust inlined into functions compiled for an instruction set. Nothing is fused, and sums run over sixteen lanes
//! that are added in a fixed order: the same bits everywhere.

use super::Isa;

/// Lanes of a sum, whatever the instructions.
const LANES: usize = 16;

/// Between −1 and 1, and nearly the number itself where that is small.
#[inline(always)]
pub(crate) fn hold(x: f32) -> f32 {
    // Beyond, the square would overflow; the result is ±1 to the last bit long before.
    let x = x.clamp(-1e18, 1e18);
    x / (1.0 + x * x).sqrt()
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
#[inline(always)]
pub(crate) fn squares(x: impl Iterator<Item = f32>) -> f32 {
    let mut sums = [0.0f32; LANES];
    for (k, x) in x.enumerate() {
        sums[k % LANES] += x * x;
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
    let out = &mut out[..products.len()];
    for (products, out) in products.chunks(LANES).zip(out.chunks_mut(LANES)) {
        for (k, (product, out)) in products.iter().zip(out).enumerate() {
            let apart = product + length_sq;
            let apart = if apart > 0.0 { apart } else { 0.0 };
            least[k] = if apart < least[k] { apart } else { least[k] };
            *out = width_sq / (width_sq + apart);
        }
    }
    least.into_iter().fold(f32::INFINITY, f32::min)
}
