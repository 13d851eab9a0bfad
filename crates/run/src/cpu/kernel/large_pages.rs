//! Memory that the kernels read and write: on cache lines, and where it is much, on pages as large as the system
//! gives. On small pages a garment whose numbers are in no cache waits for memory and then as long again for the
//! tables that say where each page is.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// Bytes of a cache line.
const LINE: usize = 64;
/// Bytes of a large page.
const PAGE: usize = 2 << 20;

/// Numbers that begin on a cache line.
pub(crate) struct Buffer {
    at: NonNull<f32>,
    count: usize,
    layout: Layout,
}

// SAFETY: a buffer owns its memory as a vector does.
unsafe impl Send for Buffer {}
// SAFETY: as above; nothing changes behind a shared reference.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Zeros; rounded up to whole lines. As much of it as fills large pages is on large pages.
    pub fn new(count: usize) -> Self {
        let count = count.next_multiple_of(LINE / size_of::<f32>());
        let bytes = count * size_of::<f32>();
        Self::zeros(count, bytes, bytes / PAGE * PAGE)
    }

    /// Zeros for a model, which is read front to back: all on large pages, unless that is mostly waste.
    pub fn for_model(count: usize) -> Self {
        let bytes = count * size_of::<f32>();
        if bytes < PAGE / 8 {
            return Self::new(count);
        }
        let whole = bytes.next_multiple_of(PAGE);
        Self::zeros(count, whole, whole)
    }

    /// `count` zeros in `bytes` of memory, of which the first `large` are better on large pages.
    fn zeros(count: usize, bytes: usize, large: usize) -> Self {
        let align = if large > 0 { PAGE } else { LINE };
        let layout = Layout::from_size_align(bytes, align).expect("less than the address space");
        if bytes == 0 {
            return Self { at: NonNull::dangling(), count: 0, layout };
        }
        // SAFETY: the layout is not empty.
        let Some(at) = NonNull::new(unsafe { alloc(layout) }) else { handle_alloc_error(layout) };
        #[cfg(target_os = "linux")]
        if large > 0 {
            // SAFETY: the range is part of what was just allocated, and the advice changes nothing about what is in
            // it. Where the system does not follow it, pages are small and all else is the same.
            unsafe { madvise(at.as_ptr().cast(), large, HUGE) };
        }
        let at = at.cast::<f32>();
        // SAFETY: `bytes` holds `count` numbers, and zeros are numbers.
        unsafe { at.as_ptr().write_bytes(0, count) };
        Self { at, count, layout }
    }
}

impl Default for Buffer {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.layout.size() > 0 {
            // SAFETY: allocated with this layout, and not used any more.
            unsafe { dealloc(self.at.as_ptr().cast(), self.layout) };
        }
    }
}

impl std::ops::Deref for Buffer {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        // SAFETY: `count` numbers were written there.
        unsafe { std::slice::from_raw_parts(self.at.as_ptr(), self.count) }
    }
}

impl std::ops::DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [f32] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.at.as_ptr(), self.count) }
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
    fn buffers_hold_zeros_and_what_is_written() {
        for count in [0, 1, 1000, PAGE / 16, PAGE / 4, PAGE / 4 + 1] {
            for mut buffer in [Buffer::new(count), Buffer::for_model(count)] {
                assert!((count..count + 16).contains(&buffer.len()) && buffer.iter().all(|v| *v == 0.0));
                assert!(count == 0 || (buffer.as_ptr() as usize).is_multiple_of(LINE));
                buffer.iter_mut().enumerate().for_each(|(i, v)| *v = i as f32);
                assert!(buffer.iter().enumerate().all(|(i, v)| *v == i as f32));
            }
        }
    }
}
