//! Returning memory to the system. Building an index or compiling a component needs much memory for a short time, and
//! the system's allocator would keep most of what is freed.

/// Allocations of this size are returned to the system when freed. By default this threshold rises when a larger
/// one is freed, and then the memory of an index writer stays allocated.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MMAP_THRESHOLD_BYTES: i32 = 8 << 20;

/// Lets threads share freed memory. By default the system's allocator has eight separate heaps per processor; one
/// per processor is as fast. Must be called before threads are started.
pub fn share_arenas() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        let heaps = std::thread::available_parallelism().map_or(2, |count| count.get().max(2));
        let heaps = i32::try_from(heaps).unwrap_or(i32::MAX);
        // SAFETY: it takes no pointer, and only sets limits of the allocator.
        #[allow(unsafe_code)]
        unsafe {
            libc::mallopt(libc::M_ARENA_MAX, heaps);
            libc::mallopt(libc::M_MMAP_THRESHOLD, MMAP_THRESHOLD_BYTES);
        }
    }
}

/// Returns free memory to the system, if the allocator supports it.
pub fn release_free_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: it takes no pointer, may be called from any thread at any time, and only releases what is free.
        #[allow(unsafe_code)]
        unsafe {
            libc::malloc_trim(0);
        }
    }
}
