//! Giving memory back. Building an index takes much of it for a short time, and the system's allocator would keep most of
//! what is freed for later.

/// Hand what is free back to the system, where it can be asked to.
pub(super) fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: it takes no pointer, may be called from any thread at any time, and only releases what is free.
        #[allow(unsafe_code)]
        unsafe {
            libc::malloc_trim(0);
        }
    }
}
