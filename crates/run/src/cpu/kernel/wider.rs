//! Arithmetic on eight numbers side by side, with the widest registers that give the same bits.
//!
//! The compiler finds the lanes of plain loops only in part, and half the time was spent on exchanging them: lanes are
//! said. Products and sums are rounded apart in every way, so all give the same bits.

use glam::Vec4;
use std::ops::{Add, Div, Mul, Sub};

/// Lanes.
pub(crate) const WIDE: usize = 8;

/// Eight numbers as they are stored.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
#[repr(align(32))]
pub(crate) struct Wide(pub [f32; WIDE]);

/// Eight numbers as they are worked with.
pub(crate) trait Lanes:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    fn load(from: &Wide) -> Self;
    fn store(self) -> Wide;
    fn splat(value: f32) -> Self;
    fn sqrt(self) -> Self;
    fn max(self, other: Self) -> Self;
    fn min(self, other: Self) -> Self;
    /// `then` in lanes where this is above `other`, else `otherwise`.
    fn above(self, other: Self, then: Self, otherwise: Self) -> Self;
}

/// Work that is done with any lanes. `run` must be `#[inline(always)]`, and all that it calls in its loops: what is not
/// inlined is compiled for the least processor.
pub(crate) trait Work {
    fn run<L: Lanes>(self);
}

/// Does the work with registers of eight numbers where the processor has them.
pub(crate) fn widely<W: Work>(work: W) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: it was detected.
        return unsafe { avx2(work) };
    }
    work.run::<Halves>();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2<W: Work>(work: W) {
    work.run::<whole::Whole>();
}

/// Two registers of four.
#[derive(Clone, Copy)]
pub(crate) struct Halves([Vec4; 2]);

impl Halves {
    #[inline(always)]
    fn each(self, other: Self, f: impl Fn(Vec4, Vec4) -> Vec4) -> Self {
        Self([f(self.0[0], other.0[0]), f(self.0[1], other.0[1])])
    }
}

impl Lanes for Halves {
    #[inline(always)]
    fn load(from: &Wide) -> Self {
        let [a, b, c, d, e, f, g, h] = from.0;
        Self([Vec4::new(a, b, c, d), Vec4::new(e, f, g, h)])
    }

    #[inline(always)]
    fn store(self) -> Wide {
        let ([a, b, c, d], [e, f, g, h]) = (self.0[0].to_array(), self.0[1].to_array());
        Wide([a, b, c, d, e, f, g, h])
    }

    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self([Vec4::splat(value); 2])
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.map(|v| Vec4::from_array(v.to_array().map(f32::sqrt))))
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.each(other, Vec4::max)
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.each(other, Vec4::min)
    }

    #[inline(always)]
    fn above(self, other: Self, then: Self, otherwise: Self) -> Self {
        Self([0, 1].map(|k| Vec4::select(self.0[k].cmpgt(other.0[k]), then.0[k], otherwise.0[k])))
    }
}

impl Add for Halves {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.each(other, Vec4::add)
    }
}

impl Sub for Halves {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.each(other, Vec4::sub)
    }
}

impl Mul for Halves {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.each(other, Vec4::mul)
    }
}

impl Div for Halves {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.each(other, Vec4::div)
    }
}

#[cfg(target_arch = "x86_64")]
mod whole {
    use super::{Lanes, Wide};
    use std::arch::x86_64::*;
    use std::ops::{Add, Div, Mul, Sub};

    /// One register of eight. It is named in [`super::avx2`] alone, so that wherever there is one, the processor has them.
    #[derive(Clone, Copy)]
    pub(super) struct Whole(__m256);

    // SAFETY of all below: see the type.
    impl Lanes for Whole {
        #[inline(always)]
        fn load(from: &Wide) -> Self {
            // SAFETY: as long as the register, and aligned as it is.
            Self(unsafe { _mm256_load_ps(from.0.as_ptr()) })
        }

        #[inline(always)]
        fn store(self) -> Wide {
            let mut wide = Wide::default();
            // SAFETY: as long as the register, and aligned as it is.
            unsafe { _mm256_store_ps(wide.0.as_mut_ptr(), self.0) };
            wide
        }

        #[inline(always)]
        fn splat(value: f32) -> Self {
            // SAFETY: see the type.
            Self(unsafe { _mm256_set1_ps(value) })
        }

        #[inline(always)]
        fn sqrt(self) -> Self {
            // SAFETY: see the type.
            Self(unsafe { _mm256_sqrt_ps(self.0) })
        }

        #[inline(always)]
        fn max(self, other: Self) -> Self {
            // SAFETY: see the type.
            Self(unsafe { _mm256_max_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn min(self, other: Self) -> Self {
            // SAFETY: see the type.
            Self(unsafe { _mm256_min_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn above(self, other: Self, then: Self, otherwise: Self) -> Self {
            // SAFETY: see the type.
            Self(unsafe {
                let above = _mm256_cmp_ps::<_CMP_GT_OQ>(self.0, other.0);
                _mm256_blendv_ps(otherwise.0, then.0, above)
            })
        }
    }

    macro_rules! operator {
        ($operator:ident, $method:ident, $instruction:ident) => {
            impl $operator for Whole {
                type Output = Self;
                #[inline(always)]
                fn $method(self, other: Self) -> Self {
                    // SAFETY: see the type.
                    Self(unsafe { $instruction(self.0, other.0) })
                }
            }
        };
    }
    operator!(Add, add, _mm256_add_ps);
    operator!(Sub, sub, _mm256_sub_ps);
    operator!(Mul, mul, _mm256_mul_ps);
    operator!(Div, div, _mm256_div_ps);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operation once, in a chain that rounds.
    struct Chain<'a>(&'a mut [Wide]);

    impl Work for Chain<'_> {
        #[inline(always)]
        fn run<L: Lanes>(self) {
            for k in 2..self.0.len() {
                let (a, b) = (L::load(&self.0[k - 1]), L::load(&self.0[k - 2]));
                let sum = (a * b + L::splat(0.7)).max(b - a).min(L::splat(3.0));
                let root = (sum * sum + L::splat(1e-3)).sqrt();
                self.0[k] = a.above(b, sum / root, root - a * L::splat(0.3)).store();
            }
        }
    }

    #[test]
    fn wide_registers_and_narrow_ones_give_the_same_bits() {
        let begin = |k: f32| Wide(std::array::from_fn(|lane| (k + 1.3 * lane as f32).sin()));
        let mut wide = vec![begin(0.3), begin(1.9)];
        wide.resize(400, Wide::default());
        let mut narrow = wide.clone();
        widely(Chain(&mut wide));
        Chain(&mut narrow).run::<Halves>();
        assert_eq!(wide, narrow);
        assert!(wide.iter().flat_map(|w| w.0).all(f32::is_finite));
        assert_ne!(wide[399], wide[398]);
    }
}
