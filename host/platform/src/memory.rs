//! Memory that goes back to the system. Building an index or compiling a component takes much of it for a short time, and
//! the system's allocator would keep most of what is freed.

/// A piece of memory of this size goes back to the system as soon as it is free. By default that is so only until a larger
/// one was freed, and from then on the room of an index's writer stays between things that are kept.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: i32 = 8 << 20;

/// Have threads share what they free. By default the system's allocator has eight separate heaps for each processor; one
/// for each is as fast. To be called before there are threads.
pub fn share() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        let heaps = std::thread::available_parallelism().map_or(2, |count| count.get().max(2));
        let heaps = i32::try_from(heaps).unwrap_or(i32::MAX);
        // SAFETY: it takes no pointer, and only sets limits of the allocator.
        #[allow(unsafe_code)]
        unsafe {
            libc::mallopt(libc::M_ARENA_MAX, heaps);
            libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
        }
    }
}

/// Hand what is free back to the system, where it can be asked to.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: it takes no pointer, may be called from any thread at any time, and only releases what is free.
        #[allow(unsafe_code)]
        unsafe {
            libc::malloc_trim(0);
        }
    }
}
