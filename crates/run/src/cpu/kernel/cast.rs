//! The same memory as points or as numbers.

use glam::Vec3;

const _: () = assert!(size_of::<Vec3>() == 12 && align_of::<Vec3>() == 4);

/// Three numbers a point.
pub fn floats(points: &[Vec3]) -> &[f32] {
    // SAFETY: `Vec3` is `repr(C)` of three f32, as asserted, and any bits are an f32.
    unsafe { std::slice::from_raw_parts(points.as_ptr().cast(), 3 * points.len()) }
}

/// Three numbers a point.
pub fn floats_mut(points: &mut [Vec3]) -> &mut [f32] {
    // SAFETY: as above; the borrow is exclusive.
    unsafe { std::slice::from_raw_parts_mut(points.as_mut_ptr().cast(), 3 * points.len()) }
}

/// A point for every three numbers.
pub fn points(floats: &[f32]) -> &[Vec3] {
    assert_eq!(floats.len() % 3, 0);
    // SAFETY: as above; the length is a whole number of points.
    unsafe { std::slice::from_raw_parts(floats.as_ptr().cast(), floats.len() / 3) }
}

/// A point for every three numbers.
pub fn points_mut(floats: &mut [f32]) -> &mut [Vec3] {
    assert_eq!(floats.len() % 3, 0);
    // SAFETY: as above; the borrow is exclusive.
    unsafe { std::slice::from_raw_parts_mut(floats.as_mut_ptr().cast(), floats.len() / 3) }
}

/// Two halves for every number.
pub fn halves_mut(floats: &mut [f32]) -> &mut [u16] {
    // SAFETY: u16 has half the size, a smaller alignment, and any bits are one.
    unsafe { std::slice::from_raw_parts_mut(floats.as_mut_ptr().cast(), 2 * floats.len()) }
}
