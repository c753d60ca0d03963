//! Not keeping more memory than is used. Building an index or compiling a component takes much of it for a short time, and
//! the system's allocator would keep most of what is freed for later.

/// Have threads share what they free. By default the system's allocator has eight separate heaps for each processor; one
/// for each is as fast. To be called before there are threads.
pub(crate) fn share() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        let heaps = std::thread::available_parallelism().map_or(2, |count| count.get().max(2));
        let heaps = i32::try_from(heaps).unwrap_or(i32::MAX);
        // SAFETY: it takes no pointer, and only sets a limit of the allocator.
        #[allow(unsafe_code)]
        unsafe {
            libc::mallopt(libc::M_ARENA_MAX, heaps);
        }
    }
}

/// Hand what is free back to the system, where it can be asked to.
pub(crate) fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: it takes no pointer, may be called from any thread at any time, and only releases what is free.
        #[allow(unsafe_code)]
        unsafe {
            libc::malloc_trim(0);
        }
    }
}
