//! Memory that the kernels read: on cache lines, and for models on pages as large as the system gives.

use bytemuck::{Pod, Zeroable};

/// One cache line.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([f32; 16]);

/// Numbers that begin on a cache line.
#[derive(Clone, Default)]
pub(crate) struct Buffer(Vec<Line>);

impl Buffer {
    /// Zeros; rounded up to whole lines.
    pub fn new(count: usize) -> Self {
        Self(vec![Line([0.0; 16]); count.div_ceil(16)])
    }
}

impl std::ops::Deref for Buffer {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        bytemuck::cast_slice(&self.0)
    }
}

impl std::ops::DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [f32] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}

/// Bytes of a large page.
const PAGE: usize = 2 << 20;

#[repr(C, align(2097152))]
struct Page([u8; PAGE]);

/// All numbers of a model, front to back as they are read. A garment whose model is in no cache waits for memory,
/// and on small pages as long again for the tables that say where each one is: where the system lets programs ask
/// for large pages, these are.
pub(crate) struct Pages {
    /// Room only; what counts of it are the first `count` numbers.
    memory: Vec<Page>,
    count: usize,
}

impl Pages {
    /// Zeros.
    pub fn new(count: usize) -> Self {
        let mut memory: Vec<Page> = Vec::with_capacity((count * size_of::<f32>()).div_ceil(PAGE));
        let room = memory.capacity() * PAGE;
        #[cfg(target_os = "linux")]
        if room > 0 {
            // SAFETY: the range is this vector's own, and the advice changes nothing about what is in it. Where the
            // system does not follow it, pages are small and all else is the same.
            unsafe { madvise(memory.as_mut_ptr().cast(), room, HUGE) };
        }
        assert!(count * size_of::<f32>() <= room);
        // SAFETY: the room was just made, for bytes that nobody has written.
        unsafe { memory.as_mut_ptr().cast::<f32>().write_bytes(0, count) };
        Self { memory, count }
    }
}

impl std::ops::Deref for Pages {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        // SAFETY: there is room for `count` numbers, and all were written.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().cast(), self.count) }
    }
}

impl std::ops::DerefMut for Pages {
    fn deref_mut(&mut self) -> &mut [f32] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_mut_ptr().cast(), self.count) }
    }
}

/// `MADV_HUGEPAGE`.
#[cfg(target_os = "linux")]
const HUGE: std::ffi::c_int = 14;

// The standard library links the C library on Linux; one call is not worth a dependency.
#[cfg(target_os = "linux")]
unsafe extern "C" {
    fn madvise(at: *mut std::ffi::c_void, length: usize, advice: std::ffi::c_int) -> std::ffi::c_int;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_hold_zeros_and_what_is_written() {
        for count in [0, 1, 1000, PAGE / 4, PAGE / 4 + 1] {
            let mut pages = Pages::new(count);
            assert!(pages.len() == count && pages.iter().all(|v| *v == 0.0));
            assert_eq!(pages.as_ptr() as usize % PAGE, 0);
            pages.iter_mut().enumerate().for_each(|(i, v)| *v = i as f32);
            assert!(pages.iter().enumerate().all(|(i, v)| *v == i as f32));
        }
    }
}
