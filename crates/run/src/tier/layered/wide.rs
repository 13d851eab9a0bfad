//! Vectors of eight vertices side by side.

use crate::cpu::kernel::{Lanes, WIDE, Wide};
use glam::Vec3A;
use std::ops::{Add, Mul, Sub};

/// As they are stored.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(super) struct Stored {
    x: Wide,
    y: Wide,
    z: Wide,
}

impl Stored {
    /// Those that are missing are zero.
    pub fn of(vectors: impl Iterator<Item = Vec3A>) -> Self {
        let mut wide = Self::default();
        for (k, v) in vectors.take(WIDE).enumerate() {
            (wide.x.0[k], wide.y.0[k], wide.z.0[k]) = (v.x, v.y, v.z);
        }
        wide
    }

    #[inline(always)]
    pub fn lane(&self, k: usize) -> Vec3A {
        Vec3A::new(self.x.0[k], self.y.0[k], self.z.0[k])
    }

    #[inline(always)]
    pub fn load<L: Lanes>(&self) -> Vectors<L> {
        Vectors { x: L::load(&self.x), y: L::load(&self.y), z: L::load(&self.z) }
    }
}

/// As they are worked with.
#[derive(Clone, Copy)]
pub(super) struct Vectors<L> {
    pub x: L,
    pub y: L,
    pub z: L,
}

impl<L: Lanes> Vectors<L> {
    #[inline(always)]
    pub fn splat(v: Vec3A) -> Self {
        Self { x: L::splat(v.x), y: L::splat(v.y), z: L::splat(v.z) }
    }

    #[inline(always)]
    pub fn zero() -> Self {
        Self::splat(Vec3A::ZERO)
    }

    #[inline(always)]
    pub fn store(self) -> Stored {
        Stored { x: self.x.store(), y: self.y.store(), z: self.z.store() }
    }

    #[inline(always)]
    pub fn dot(self, other: Self) -> L {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    #[inline(always)]
    pub fn length(self) -> L {
        self.dot(self).sqrt()
    }
}

impl<L: Lanes> Add for Vectors<L> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { x: self.x + other.x, y: self.y + other.y, z: self.z + other.z }
    }
}

impl<L: Lanes> Sub for Vectors<L> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self { x: self.x - other.x, y: self.y - other.y, z: self.z - other.z }
    }
}

impl<L: Lanes> Mul<L> for Vectors<L> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, by: L) -> Self {
        Self { x: self.x * by, y: self.y * by, z: self.z * by }
    }
}
