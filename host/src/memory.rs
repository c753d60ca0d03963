//! Not keeping more memory than is used. Building an index or compiling a component takes much of it for a short time, and
//! the system's allocator would keep most of what is freed for later; and with it come parts of the program that nothing
//! else runs.

/// A piece of memory of this size goes back to the system as soon as it is free. By default that is so only until a larger
/// one was freed, and from then on the room of an index's writer stays between things that are kept.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: i32 = 8 << 20;

/// Have threads share what they free. By default the system's allocator has eight separate heaps for each processor; one
/// for each is as fast. To be called before there are threads.
pub(crate) fn share() {
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

/// The same after work that is done seldom, with the code of the program that only this work ran. What is run again is
/// there again at once, out of the system's cache of files.
pub(crate) fn give_back_all() {
    give_back();
    #[cfg(target_os = "linux")]
    for code in own_code() {
        // SAFETY: it is the program's own code, mapped from its file and never written to; the system maps each page of it
        // again when it is run. No other memory is in the range.
        #[allow(unsafe_code)]
        unsafe {
            libc::madvise(
                std::ptr::with_exposed_provenance_mut(code.start),
                code.len(),
                libc::MADV_DONTNEED,
            );
        }
    }
}

/// Where the code of this program is: what is mapped from its file, to be run and not to be written.
#[cfg(target_os = "linux")]
fn own_code() -> Vec<std::ops::Range<usize>> {
    let Ok(program) = std::env::current_exe() else {
        return Vec::new();
    };
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let code = maps.lines().filter_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let is_ours = rest.starts_with("r-xp") && line.ends_with(program.to_str()?);
        let (start, end) = range.split_once('-').filter(|_| is_ours)?;
        let address = |text| usize::from_str_radix(text, 16).ok();
        Some(address(start)?..address(end)?)
    });
    code.collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn code_that_was_given_back_is_there_when_it_is_run() {
        let here = give_back_all as fn() as usize;
        assert!(own_code().iter().any(|code| code.contains(&here)));
        give_back_all();
        give_back_all();
        assert!(!own_code().is_empty());
    }
}
