//! What the allocator, the system and the processor are told about memory.

/// Has large pieces of memory go back to the system when they are freed. By itself the allocator of
/// glibc keeps them from the first that is freed on: a run then has more than it uses, and more
/// than it promised.
pub fn give_back_what_is_freed() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        /// Bytes from which on a piece is mapped by itself: what glibc begins with.
        const LARGE: std::ffi::c_int = 128 << 10;
        // SAFETY: the call takes two numbers, and is safe at any time and on any thread.
        #[allow(unsafe_code, reason = "a call of the C library")]
        unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
        }
    }
}

/// Gives small pieces of memory back to the system that were freed: those of a table for each of
/// many bins, say, among which something else was put. It takes some milliseconds.
pub fn give_back_pieces() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the call takes a number, and is safe at any time and on any thread.
    #[allow(unsafe_code, reason = "a call of the C library")]
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Asks the system for large pages under memory that is not yet used: who writes all of it waits
/// for fewer of them, and random places of it are found sooner. A system without any gives others.
pub fn prefer_large_pages<T>(all: &mut [T]) {
    #[cfg(target_os = "linux")]
    {
        use rustix::mm::{Advice, madvise};

        /// Bytes of a large page, or a part of it.
        const LARGE: usize = 2 << 20;
        let bytes = size_of_val(all);
        let start = all.as_mut_ptr().cast::<u8>();
        let ahead = start.align_offset(LARGE);
        let inside = bytes.saturating_sub(ahead) / LARGE * LARGE;
        if inside > 0 {
            // SAFETY: it is our own memory, and the advice changes none of its bytes.
            #[allow(unsafe_code, reason = "the system takes an address")]
            let _ = unsafe {
                madvise(
                    start.wrapping_add(ahead).cast(),
                    inside,
                    Advice::LinuxHugepage,
                )
            };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = all;
}

/// Asks the processor for what is at a place, and will be read or written before long. Changes
/// nothing but time; there need be nothing.
#[inline(always)]
pub fn prefetch<T>(all: &[T], place: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction, and it faults on no address.
    #[allow(unsafe_code, reason = "it takes an address")]
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(all.as_ptr().wrapping_add(place).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (all, place);
}
