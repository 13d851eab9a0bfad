//! Numbers of several instances side by side, one register of them at a time.
//!
//! The compiler finds registers in plain loops over lanes only in part: of roots and of what is kept from one turn of a
//! loop to the next it made a tangle of halves and single lanes that took longer than all else together. Here they are
//! said. Every operation rounds as that of [`Fuse`] does, so all give the same bits.

use super::fuse::Fuse;
use std::marker::PhantomData;

/// `W` numbers.
pub(crate) trait Register<const W: usize>: Copy {
    /// How single lanes, and what goes across them, are worked on.
    type Fuse: Fuse;

    fn load(from: &[f32; W]) -> Self;
    fn store(self, to: &mut [f32; W]);
    /// In lanes whose bit is set.
    #[inline(always)]
    fn store_where(self, bits: u32, to: &mut [f32; W]) {
        let mut from = [0.0; W];
        self.store(&mut from);
        Self::Fuse::replace(bits, &from, to);
    }
    fn splat(value: f32) -> Self;
    fn minus(self, other: Self) -> Self;
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn over(self, other: Self) -> Self;
    fn root(self) -> Self;
    /// `self·by + to`.
    fn fma(self, by: Self, to: Self) -> Self;
    /// `−self·by + to`.
    fn less(self, by: Self, to: Self) -> Self;
    /// About `1/√self`, by its exponent: within 4 %.
    fn root_guess(self) -> Self;
    fn magnitude(self) -> Self;
    /// All bits that both have.
    fn and(self, other: Self) -> Self;
    /// Lanes with the sign of what is negative, bit by bit.
    fn signs(self) -> u32;
    /// `a` in lanes that are less than those of `other`, else `b`.
    fn less_than(self, other: Self, a: Self, b: Self) -> Self;
}

/// What halves the exponent of a number and turns it round.
const GUESS: u32 = 0x5f37_5a86;

/// Lanes in an array, for whatever registers the target has.
pub(crate) struct Plain<F, const W: usize>([f32; W], PhantomData<F>);

impl<F, const W: usize> Clone for Plain<F, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F, const W: usize> Copy for Plain<F, W> {}

impl<F: Fuse, const W: usize> Plain<F, W> {
    #[inline(always)]
    fn each(f: impl Fn(usize) -> f32) -> Self {
        let mut out = [0.0; W];
        for l in 0..W {
            out[l] = f(l);
        }
        Self(out, PhantomData)
    }
}

impl<F: Fuse, const W: usize> Register<W> for Plain<F, W> {
    type Fuse = F;

    #[inline(always)]
    fn load(from: &[f32; W]) -> Self {
        Self(*from, PhantomData)
    }

    #[inline(always)]
    fn store(self, to: &mut [f32; W]) {
        *to = self.0;
    }

    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self([value; W], PhantomData)
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        Self::each(|l| self.0[l] - other.0[l])
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Self::each(|l| self.0[l] + other.0[l])
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        Self::each(|l| self.0[l] * other.0[l])
    }

    #[inline(always)]
    fn over(self, other: Self) -> Self {
        Self::each(|l| self.0[l] / other.0[l])
    }

    #[inline(always)]
    fn root(self) -> Self {
        Self::each(|l| self.0[l].sqrt())
    }

    #[inline(always)]
    fn fma(self, by: Self, to: Self) -> Self {
        Self::each(|l| F::fma(self.0[l], by.0[l], to.0[l]))
    }

    #[inline(always)]
    fn less(self, by: Self, to: Self) -> Self {
        Self::each(|l| F::fma(-self.0[l], by.0[l], to.0[l]))
    }

    #[inline(always)]
    fn root_guess(self) -> Self {
        Self::each(|l| f32::from_bits(GUESS - (self.0[l].to_bits() >> 1)))
    }

    #[inline(always)]
    fn magnitude(self) -> Self {
        Self::each(|l| self.0[l].abs())
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self::each(|l| f32::from_bits(self.0[l].to_bits() & other.0[l].to_bits()))
    }

    #[inline(always)]
    fn signs(self) -> u32 {
        F::signs(&self.0.map(f32::to_bits))
    }

    #[inline(always)]
    fn less_than(self, other: Self, a: Self, b: Self) -> Self {
        // As masks: a choice between two places in memory would be made lane by lane.
        Self::each(|l| {
            let mask = 0u32.wrapping_sub(u32::from(self.0[l] < other.0[l]));
            f32::from_bits((a.0[l].to_bits() & mask) | (b.0[l].to_bits() & !mask))
        })
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Eight, Four, Sixteen};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::super::fuse::Apart;
    use super::{GUESS, Register};
    use std::arch::x86_64::*;

    macro_rules! register {
        ($(#[$what:meta])* $name:ident, $register:ty, $width:literal, $load:ident, $store:ident, $splat:ident, $sub:ident,
         $add:ident, $mul:ident, $div:ident, $root:ident, $fma:expr, $less:expr, $guess:expr, $lanes:ty, $magnitude:expr, $and:expr, $signs:expr, $less_than:expr) => {
            $(#[$what])*
            #[derive(Clone, Copy)]
            pub(in super::super) struct $name($register);

            // SAFETY of all below: see the type; arrays are as long as the register.
            impl Register<$width> for $name {
                type Fuse = $lanes;

                #[inline(always)]
                fn load(from: &[f32; $width]) -> Self {
                    // SAFETY: see above.
                    Self(unsafe { $load(from.as_ptr()) })
                }

                #[inline(always)]
                fn store(self, to: &mut [f32; $width]) {
                    // SAFETY: see above.
                    unsafe { $store(to.as_mut_ptr(), self.0) }
                }

                #[inline(always)]
                fn splat(value: f32) -> Self {
                    // SAFETY: see above.
                    Self(unsafe { $splat(value) })
                }

                #[inline(always)]
                fn minus(self, other: Self) -> Self {
                    // SAFETY: see above.
                    Self(unsafe { $sub(self.0, other.0) })
                }

                #[inline(always)]
                fn plus(self, other: Self) -> Self {
                    // SAFETY: see above.
                    Self(unsafe { $add(self.0, other.0) })
                }

                #[inline(always)]
                fn times(self, other: Self) -> Self {
                    // SAFETY: see above.
                    Self(unsafe { $mul(self.0, other.0) })
                }

                #[inline(always)]
                fn over(self, other: Self) -> Self {
                    // SAFETY: see above.
                    Self(unsafe { $div(self.0, other.0) })
                }

                #[inline(always)]
                fn root(self) -> Self {
                    // SAFETY: see above.
                    Self(unsafe { $root(self.0) })
                }

                #[inline(always)]
                fn fma(self, by: Self, to: Self) -> Self {
                    // SAFETY: see above.
                    Self(unsafe { $fma(self.0, by.0, to.0) })
                }

                #[inline(always)]
                fn less(self, by: Self, to: Self) -> Self {
                    // SAFETY: see above.
                    Self(unsafe { $less(self.0, by.0, to.0) })
                }

                #[inline(always)]
                fn root_guess(self) -> Self {
                    // SAFETY: see above.
                    Self(unsafe { $guess(self.0) })
                }

                #[inline(always)]
                fn magnitude(self) -> Self {
                    // SAFETY: see above.
                    Self(unsafe { $magnitude(self.0) })
                }

                #[inline(always)]
                fn and(self, other: Self) -> Self {
                    // SAFETY: see above.
                    Self(unsafe { $and(self.0, other.0) })
                }

                #[inline(always)]
                fn signs(self) -> u32 {
                    // SAFETY: see above.
                    unsafe { $signs(self.0) }
                }

                #[inline(always)]
                fn less_than(self, other: Self, a: Self, b: Self) -> Self {
                    // SAFETY: see above.
                    Self(unsafe { $less_than(self.0, other.0, a.0, b.0) })
                }
            }
        };
    }

    register!(
        /// Four lanes of any processor, products and sums rounded apart.
        Four, __m128, 4, _mm_loadu_ps, _mm_storeu_ps, _mm_set1_ps, _mm_sub_ps, _mm_add_ps, _mm_mul_ps,
        _mm_div_ps, _mm_sqrt_ps,
        |a, b, c| _mm_add_ps(_mm_mul_ps(a, b), c),
        |a, b, c| _mm_sub_ps(c, _mm_mul_ps(a, b)),
        |x| _mm_castsi128_ps(_mm_sub_epi32(_mm_set1_epi32(GUESS as i32), _mm_srli_epi32::<1>(_mm_castps_si128(x)))),
        Apart,
        |x| _mm_andnot_ps(_mm_set1_ps(-0.0), x),
        |a, b| _mm_and_ps(a, b),
        |x| _mm_movemask_ps(x) as u32,
        |x, y, a, b| {
            let mask = _mm_cmplt_ps(x, y);
            _mm_or_ps(_mm_and_ps(mask, a), _mm_andnot_ps(mask, b))
        }
    );
    register!(
        /// Eight lanes. It is named in functions compiled for AVX2 and FMA alone.
        Eight, __m256, 8, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_set1_ps, _mm256_sub_ps, _mm256_add_ps, _mm256_mul_ps,
        _mm256_div_ps, _mm256_sqrt_ps,
        |a, b, c| _mm256_fmadd_ps(a, b, c),
        |a, b, c| _mm256_fnmadd_ps(a, b, c),
        |x| _mm256_castsi256_ps(_mm256_sub_epi32(_mm256_set1_epi32(GUESS as i32), _mm256_srli_epi32::<1>(_mm256_castps_si256(x)))),
        super::super::avx2::Eight,
        |x| _mm256_andnot_ps(_mm256_set1_ps(-0.0), x),
        |a, b| _mm256_and_ps(a, b),
        |x| _mm256_movemask_ps(x) as u32,
        |x, y, a, b| _mm256_blendv_ps(b, a, _mm256_cmp_ps::<_CMP_LT_OQ>(x, y))
    );
    register!(
        /// Sixteen lanes. It is named in functions compiled for AVX-512 alone.
        Sixteen, __m512, 16, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_set1_ps, _mm512_sub_ps, _mm512_add_ps, _mm512_mul_ps,
        _mm512_div_ps, _mm512_sqrt_ps,
        |a, b, c| _mm512_fmadd_ps(a, b, c),
        |a, b, c| _mm512_fnmadd_ps(a, b, c),
        |x| _mm512_castsi512_ps(_mm512_sub_epi32(_mm512_set1_epi32(GUESS as i32), _mm512_srli_epi32::<1>(_mm512_castps_si512(x)))),
        super::super::avx512::Sixteen,
        |x| _mm512_abs_ps(x),
        |a, b| _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(a), _mm512_castps_si512(b))),
        |x| u32::from(_mm512_cmplt_epi32_mask(_mm512_castps_si512(x), _mm512_setzero_si512())),
        |x, y, a, b| _mm512_mask_blend_ps(_mm512_cmp_ps_mask::<_CMP_LT_OQ>(x, y), b, a)
    );
}
