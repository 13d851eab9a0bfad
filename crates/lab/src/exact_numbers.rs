//! Whole numbers of any size and polynomials over them, their roots by Descartes' rule, as little as exact collision queries need.

use std::cmp::Ordering;

/// A whole number: sign and limbs, lowest first, without leading zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Big {
    negative: bool,
    limbs: Vec<u64>,
}

impl From<i64> for Big {
    fn from(v: i64) -> Self {
        Self { negative: v < 0, limbs: vec![v.unsigned_abs()] }.trimmed()
    }
}

impl Big {
    fn trimmed(mut self) -> Self {
        while self.limbs.last() == Some(&0) {
            self.limbs.pop();
        }
        self.negative &= !self.limbs.is_empty();
        self
    }

    /// −1, 0 or 1.
    pub fn sign(&self) -> i32 {
        match (self.limbs.is_empty(), self.negative) {
            (true, _) => 0,
            (_, true) => -1,
            _ => 1,
        }
    }

    fn negated(&self) -> Self {
        Self { negative: !self.negative, limbs: self.limbs.clone() }.trimmed()
    }

    fn compare(a: &[u64], b: &[u64]) -> Ordering {
        a.len().cmp(&b.len()).then_with(|| a.iter().rev().cmp(b.iter().rev()))
    }

    /// Sum.
    pub fn add(&self, other: &Self) -> Self {
        if self.negative == other.negative {
            let (long, short) = if self.limbs.len() >= other.limbs.len() {
                (&self.limbs, &other.limbs)
            } else {
                (&other.limbs, &self.limbs)
            };
            let mut limbs = Vec::with_capacity(long.len() + 1);
            let mut carry = 0u128;
            for (k, l) in long.iter().enumerate() {
                carry += u128::from(*l) + u128::from(short.get(k).copied().unwrap_or(0));
                limbs.push(carry as u64);
                carry >>= 64;
            }
            limbs.push(carry as u64);
            return Self { negative: self.negative, limbs }.trimmed();
        }
        let (big, small) = match Self::compare(&self.limbs, &other.limbs) {
            Ordering::Less => (other, self),
            _ => (self, other),
        };
        let mut limbs = Vec::with_capacity(big.limbs.len());
        let mut borrow = 0i128;
        for (k, l) in big.limbs.iter().enumerate() {
            let d = i128::from(*l) - i128::from(small.limbs.get(k).copied().unwrap_or(0)) - borrow;
            borrow = i128::from(d < 0);
            limbs.push(d as u64);
        }
        Self { negative: big.negative, limbs }.trimmed()
    }

    /// Difference.
    pub fn sub(&self, other: &Self) -> Self {
        self.add(&other.negated())
    }

    /// Product.
    pub fn mul(&self, other: &Self) -> Self {
        let mut limbs = vec![0u64; self.limbs.len() + other.limbs.len()];
        for (i, a) in self.limbs.iter().enumerate() {
            let mut carry = 0u128;
            for (j, b) in other.limbs.iter().enumerate() {
                carry += u128::from(*a) * u128::from(*b) + u128::from(limbs[i + j]);
                limbs[i + j] = carry as u64;
                carry >>= 64;
            }
            limbs[i + other.limbs.len()] = carry as u64;
        }
        Self { negative: self.negative != other.negative, limbs }.trimmed()
    }

    /// Times 2^bits.
    pub fn shifted(&self, bits: usize) -> Self {
        if self.limbs.is_empty() {
            return self.clone();
        }
        let (whole, part) = (bits / 64, bits % 64);
        let mut limbs = vec![0; whole];
        let mut carry = 0u64;
        for l in &self.limbs {
            limbs.push((l << part) | carry);
            carry = if part == 0 { 0 } else { l >> (64 - part) };
        }
        limbs.push(carry);
        Self { negative: self.negative, limbs }.trimmed()
    }

    fn trailing_zeros(&self) -> usize {
        let whole = self.limbs.iter().take_while(|l| **l == 0).count();
        64 * whole + self.limbs.get(whole).map_or(0, |l| l.trailing_zeros() as usize)
    }

    fn lowered(&self, bits: usize) -> Self {
        let (whole, part) = (bits / 64, bits % 64);
        let rest = &self.limbs[whole.min(self.limbs.len())..];
        let limbs = (0..rest.len())
            .map(|k| {
                let above = if part == 0 { 0 } else { rest.get(k + 1).map_or(0, |l| l << (64 - part)) };
                (rest[k] >> part) | above
            })
            .collect();
        Self { negative: self.negative, limbs }.trimmed()
    }
}

/// A polynomial, constant term first, without leading zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Poly(Vec<Big>);

impl Poly {
    /// From coefficients, constant term first.
    pub fn new(mut c: Vec<Big>) -> Self {
        while c.last().is_some_and(|c| c.sign() == 0) {
            c.pop();
        }
        Self(c)
    }

    /// Whether it is zero everywhere.
    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    fn degree(&self) -> usize {
        self.0.len().saturating_sub(1)
    }

    fn each(&self, other: &Self, f: impl Fn(&Big, &Big) -> Big) -> Self {
        let zero = Big::from(0);
        let n = self.0.len().max(other.0.len());
        Self::new(
            (0..n).map(|k| f(self.0.get(k).unwrap_or(&zero), other.0.get(k).unwrap_or(&zero))).collect(),
        )
    }

    /// Sum.
    pub fn add(&self, other: &Self) -> Self {
        self.each(other, Big::add)
    }

    /// Difference.
    pub fn sub(&self, other: &Self) -> Self {
        self.each(other, Big::sub)
    }

    /// Product.
    pub fn mul(&self, other: &Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return Self(vec![]);
        }
        let mut c = vec![Big::from(0); self.0.len() + other.0.len() - 1];
        for (i, a) in self.0.iter().enumerate() {
            for (j, b) in other.0.iter().enumerate() {
                c[i + j] = c[i + j].add(&a.mul(b));
            }
        }
        Self::new(c)
    }

    fn scaled(&self, k: &Big) -> Self {
        Self::new(self.0.iter().map(|c| c.mul(k)).collect())
    }

    fn derivative(&self) -> Self {
        Self::new(self.0.iter().enumerate().skip(1).map(|(k, c)| c.mul(&Big::from(k as i64))).collect())
    }

    /// Without the powers of two that all coefficients share: keeps remainders from growing without need.
    fn reduced(self) -> Self {
        let bits = self.0.iter().filter(|c| c.sign() != 0).map(Big::trailing_zeros).min().unwrap_or(0);
        Self(self.0.iter().map(|c| c.lowered(bits)).collect())
    }

    /// Quotient and remainder of `self` times an even power of the divisor's leading coefficient, so that signs stay.
    fn divided(&self, by: &Self) -> (Self, Self) {
        let lead = by.0.last().cloned().unwrap_or_else(|| Big::from(1));
        let square = lead.mul(&lead);
        let (mut quotient, mut rest) = (Self(vec![]), self.clone());
        while !rest.is_zero() && rest.degree() >= by.degree() {
            let shift = rest.degree() - by.degree();
            let top = rest.0.last().cloned().unwrap_or_else(|| Big::from(0));
            let mut c = vec![Big::from(0); shift];
            c.push(top.mul(&lead));
            let step = Self::new(c);
            quotient = quotient.scaled(&square).add(&step);
            rest = rest.scaled(&square).sub(&step.mul(by));
        }
        (quotient, rest)
    }

    fn common_divisor(&self, other: &Self) -> Self {
        let (mut a, mut b) = (self.clone(), other.clone());
        while !b.is_zero() {
            let rest = a.divided(&b).1.reduced();
            (a, b) = (b, rest);
        }
        a
    }

    /// The polynomial with the same roots, each once.
    pub fn squarefree(&self) -> Self {
        if self.degree() == 0 {
            return self.clone();
        }
        let common = self.common_divisor(&self.derivative());
        if common.degree() == 0 { self.clone().reduced() } else { self.divided(&common).0.reduced() }
    }

    /// Sign at `a`/2^bits.
    pub fn sign_at(&self, a: &Big, bits: usize) -> i32 {
        let mut sum = Big::from(0);
        for (k, c) in self.0.iter().rev().enumerate() {
            sum = sum.mul(a).add(&c.shifted(bits * k));
        }
        sum.sign()
    }

    /// Changes of sign of the coefficients once (low, low + 1) over 2^bits is stretched to (0, ∞): at least the number of
    /// roots between, and more by an even number only (Descartes).
    fn variations(&self, low: &Big, bits: usize) -> usize {
        let n = self.0.len();
        let mut c: Vec<Big> = self.0.iter().enumerate().map(|(k, c)| c.shifted(bits * (n - 1 - k))).collect();
        shift(&mut c, low);
        c.reverse();
        shift(&mut c, &Big::from(1));
        let signs: Vec<i32> = c.iter().map(Big::sign).filter(|s| *s != 0).collect();
        signs.windows(2).filter(|w| w[0] != w[1]).count()
    }

    /// All roots in (0, 1]. Wants a polynomial without repeated roots.
    pub fn roots_in_unit(&self) -> Vec<Root> {
        let mut found = Vec::new();
        if self.degree() == 0 {
            return found;
        }
        if self.sign_at(&Big::from(1), 0) == 0 {
            found.push(Root { low: Big::from(1), bits: 0, exact: true });
        }
        let mut open = vec![(Big::from(0), 0)];
        while let Some((low, bits)) = open.pop() {
            match self.variations(&low, bits) {
                0 => {}
                1 => found.push(Root { low, bits, exact: false }),
                _ => {
                    let low = low.shifted(1);
                    let middle = low.add(&Big::from(1));
                    if self.sign_at(&middle, bits + 1) == 0 {
                        found.push(Root { low: middle.clone(), bits: bits + 1, exact: true });
                    }
                    open.push((low, bits + 1));
                    open.push((middle, bits + 1));
                }
            }
        }
        found
    }

    /// Sign at a root of `of`, which has no repeated roots.
    pub fn sign_at_root(&self, of: &Self, root: &Root) -> i32 {
        if self.degree() == 0 {
            return self.0.first().map_or(0, Big::sign);
        }
        let mut at = root.clone();
        let mut common = None;
        for round in 0.. {
            if at.exact {
                return self.sign_at(&at.low, at.bits);
            }
            if self.variations(&at.low, at.bits) == 0 {
                // No root of ours between the ends: any place there tells.
                return self.sign_at(&at.low.shifted(1).add(&Big::from(1)), at.bits + 1);
            }
            if round > 24 {
                // Two numbers that long alike are likely the same: a common root is one of the common divisor.
                let common = common.get_or_insert_with(|| of.common_divisor(self));
                if common.degree() > 0 && common.variations(&at.low, at.bits) == 1 {
                    return 0;
                }
            }
            at = at.halved(of);
        }
        0
    }
}

/// `c` as a polynomial, constant term first, of a variable that is less by `by`.
fn shift(c: &mut [Big], by: &Big) {
    if by.sign() == 0 {
        return;
    }
    for i in 0..c.len() {
        for k in (i..c.len() - 1).rev() {
            c[k] = c[k].add(&c[k + 1].mul(by));
        }
    }
}

/// Where a polynomial vanishes: at low/2^bits, or once strictly between that and (low + 1)/2^bits.
#[derive(Clone, Debug)]
pub struct Root {
    low: Big,
    bits: usize,
    exact: bool,
}

impl Root {
    /// The half of the interval in which `of` has its root.
    fn halved(&self, of: &Poly) -> Self {
        let (low, bits) = (self.low.shifted(1), self.bits + 1);
        let middle = low.add(&Big::from(1));
        if of.sign_at(&middle, bits) == 0 {
            return Self { low: middle, bits, exact: true };
        }
        let lower = of.variations(&low, bits) == 1;
        Self { low: if lower { low } else { middle }, bits, exact: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn poly(c: &[i64]) -> Poly {
        Poly::new(c.iter().map(|c| Big::from(*c)).collect())
    }

    #[test]
    fn numbers_agree_with_the_machine_where_it_suffices() {
        let mut random = toile_geometry::Random::new(8);
        for _ in 0..2000 {
            let (a, b) = (random.bits() as i64, random.bits() as i64 >> 20);
            let wide = |v: i128| {
                let (high, low) = ((v >> 62) as i64, (v & ((1 << 62) - 1)) as i64);
                Big::from(high).shifted(62).add(&Big::from(low))
            };
            assert_eq!(Big::from(a).mul(&Big::from(b)), wide(i128::from(a) * i128::from(b)));
            assert_eq!(Big::from(a).sub(&Big::from(b)), wide(i128::from(a) - i128::from(b)));
            let shift = (random.bits() % 200) as usize;
            assert_eq!(Big::from(a).shifted(shift).lowered(shift), Big::from(a));
        }
    }

    #[test]
    fn roots_are_found_and_signs_at_them_are_right() {
        // (4t − 1)(2t − 1)(3t − 5), and the same with the first factor squared.
        let p = poly(&[-1, 4]).mul(&poly(&[-1, 2])).mul(&poly(&[-5, 3]));
        assert_eq!(p.roots_in_unit().len(), 2);
        let q = p.mul(&poly(&[-1, 4])).squarefree();
        assert_eq!((q.degree(), q.roots_in_unit().len()), (3, 2));
        // Roots that no power of two hits, close together: (3t − 1)(3000t − 1001), and one at the end.
        assert_eq!(poly(&[-1, 3]).mul(&poly(&[-1001, 3000])).roots_in_unit().len(), 2);
        assert_eq!(poly(&[-1, 1]).roots_in_unit().len(), 1);
        assert_eq!(poly(&[0, 1]).roots_in_unit().len(), 0);
        // t² = ½ against t − ¾, t² − ½ and a number just below the root.
        let r = poly(&[-1, 0, 2]);
        let root = r.roots_in_unit().pop().unwrap();
        assert_eq!(poly(&[-3, 4]).sign_at_root(&r, &root), -1);
        assert_eq!(poly(&[-1, 0, 2]).sign_at_root(&r, &root), 0);
        assert_eq!(poly(&[-7071067811, 10000000000]).sign_at_root(&r, &root), 1);
        assert_eq!(poly(&[-7071067812, 10000000000]).sign_at_root(&r, &root), -1);
    }
}
