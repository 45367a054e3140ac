//! What the allocator of the system is told.

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
