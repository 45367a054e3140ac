//! Memory in large pages.

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
