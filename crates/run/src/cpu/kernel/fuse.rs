//! How a product is added to a sum: in one rounding, by whatever means, or in two.
//!
//! All instruction sets give the same bits because every sum rounds once. Where the processor has no instruction for that,
//! as on x86 before 2013 and in WebAssembly, the compiler calls a library, which takes a hundred times as long; there the
//! same rounding is made of double precision ([`Widened`]), or given up for speed ([`Apart`]).

/// A way to add a product to a sum.
pub(crate) trait Fuse {
    /// `a·b + c`.
    fn fma(a: f32, b: f32, c: f32) -> f32;

    /// Adds a column, multiplied with one number.
    #[inline(always)]
    fn add<const R: usize>(column: &[f32; R], x: f32, sums: &mut [f32; R]) {
        for r in 0..R {
            sums[r] = Self::fma(column[r], x, sums[r]);
        }
    }

    /// The signs of all lanes, bit by bit.
    #[inline(always)]
    fn signs<const W: usize>(lanes: &[u32; W]) -> u32 {
        lanes.iter().enumerate().fold(0, |bits, (n, lane)| bits | (lane >> 31) << n)
    }

    /// Takes `from` in lanes whose bit is set.
    #[inline(always)]
    fn replace<const W: usize>(bits: u32, from: &[f32; W], to: &mut [f32; W]) {
        for n in 0..W {
            to[n] = if bits >> n & 1 == 1 { from[n] } else { to[n] };
        }
    }
}

/// By the processor's own instruction.
#[cfg_attr(target_arch = "wasm32", allow(dead_code))]
pub(crate) struct Fused;
/// In double precision: one rounding all the same.
pub(crate) struct Widened;
/// Two roundings.
pub(crate) struct Apart;

/// One rounding by what the target has.
#[cfg(any(target_arch = "aarch64", target_feature = "fma"))]
pub(crate) type Exact = Fused;
/// One rounding by what the target has.
#[cfg(not(any(target_arch = "aarch64", target_feature = "fma")))]
pub(crate) type Exact = Widened;

impl Fuse for Fused {
    #[inline(always)]
    fn fma(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
}

impl Fuse for Apart {
    #[inline(always)]
    fn fma(a: f32, b: f32, c: f32) -> f32 {
        a * b + c
    }
}

impl Fuse for Widened {
    #[inline(always)]
    fn fma(a: f32, b: f32, c: f32) -> f32 {
        let (sum, doubtful) = widened(a, b, c);
        if doubtful { a.mul_add(b, c) } else { sum }
    }

    /// Side by side, with one look for doubts.
    #[inline(always)]
    fn add<const R: usize>(column: &[f32; R], x: f32, sums: &mut [f32; R]) {
        let (mut next, mut doubts) = ([0.0f32; R], 0u32);
        for r in 0..R {
            let (sum, doubtful) = widened(column[r], x, sums[r]);
            next[r] = sum;
            doubts |= u32::from(doubtful);
        }
        if doubts != 0 {
            for r in 0..R {
                next[r] = column[r].mul_add(x, sums[r]);
            }
        }
        *sums = next;
    }
}

/// `a·b + c` by way of double precision, and whether that may have rounded twice. The product is exact there; the sum is
/// rounded once to 53 bits and then to 24, which differs from one rounding only where the first lands halfway
/// between two numbers of single precision, or below the range where those have 24 bits.
#[inline(always)]
pub(super) fn widened(a: f32, b: f32, c: f32) -> (f32, bool) {
    let sum = f64::from(a) * f64::from(b) + f64::from(c);
    let halfway = sum.to_bits() as u32 & 0x1fff_ffff == 0x1000_0000;
    let tiny = (sum.abs() < 2.0 * f64::from(f32::MIN_POSITIVE)) & (sum != 0.0);
    (sum as f32, halfway | tiny)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What goes across lanes is the same by instructions made for it.
    #[test]
    #[cfg(target_arch = "x86_64")]
    fn lanes_are_chosen_alike() {
        use super::super::{avx2::Eight, avx512::Sixteen};
        if std::arch::is_x86_feature_detected!("avx512f") {
            chosen_alike::<Sixteen, 16>();
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            chosen_alike::<Eight, 8>();
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn chosen_alike<F: Fuse, const W: usize>() {
        let mut seed = 3u32;
        let mut bits = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            seed >> 3 ^ seed << 11
        };
        for _ in 0..500 {
            let words: [u32; W] = std::array::from_fn(|_| bits());
            let numbers = words.map(|w| (w >> 8) as f32);
            let mask = bits() >> 5 & 0xffff;
            assert_eq!(F::signs(&words), Fused::signs(&words));
            let (mut a, mut b) = ([0.0; W], [0.0; W]);
            F::replace(mask, &numbers, &mut a);
            Fused::replace(mask, &numbers, &mut b);
            assert_eq!(a, b);
        }
    }

    #[test]
    fn widened_sums_have_the_bits_of_fused_ones() {
        let mut seed = 1u64;
        let mut bits = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 32) as u32
        };
        let mut doubtful = 0;
        for k in 0..300_000 {
            // Any bits; numbers of few digits, whose sums lie halfway; sums that nearly cancel; tiny ones.
            let [a, b, c] = match k % 4 {
                0 => [bits(), bits(), bits()].map(f32::from_bits),
                1 => [bits() & 0xfff, bits() & 0xfff, bits() | 1].map(|v| v as f32),
                2 => {
                    let [a, b] = [bits(), bits()].map(|v| v as f32 * 1e-9);
                    [a, b, -(a * b)]
                }
                _ => [bits(), bits(), bits()].map(|v| f32::from_bits(v & 0x9fff_ffff)),
            };
            let (fused, got) = (a.mul_add(b, c), Widened::fma(a, b, c));
            assert!(
                fused.to_bits() == got.to_bits() || (fused.is_nan() && got.is_nan()),
                "{a:e}·{b:e} + {c:e}"
            );
            doubtful += u32::from(widened(a, b, c).1);
        }
        assert!(doubtful > 1000, "the test's own premise: some are in doubt ({doubtful})");
    }
}
