//! The global allocator of components. An instance serves one call on one thread, so a small allocator without locks is
//! sufficient. Growing memory is expensive, because the host requests it from the system: an instance starts with enough
//! for most calls, and grows in large chunks.

use core::alloc::Layout;
use core::arch::wasm32::memory_grow;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use talc::base::Talc;
use talc::base::binning::Binning;
use talc::cell::TalcSyncCell;
use talc::source::Source;
use talc::wasm::WasmBinning;

/// The initial heap. Its pages take no physical memory before they are used.
const INITIAL_HEAP_BYTES: usize = 1 << 20;
/// The minimum growth.
const MIN_GROWTH_BYTES: usize = 1 << 20;
const WASM_PAGE_BYTES: usize = 64 << 10;

static mut INITIAL_HEAP: MaybeUninit<[u8; INITIAL_HEAP_BYTES]> = MaybeUninit::uninit();

/// The allocator.
pub(super) type Memory = TalcSyncCell<HeapSource, WasmBinning>;

/// Creates the allocator.
pub(super) const fn memory() -> Memory {
    TalcSyncCell::new_wasm(HeapSource {
        is_initial_heap_claimed: false,
        end: None,
    })
}

/// Provides the allocator with the initial heap, then with grown memory.
#[derive(Debug)]
pub(super) struct HeapSource {
    is_initial_heap_claimed: bool,
    /// The end of the grown memory.
    end: Option<NonNull<u8>>,
}

// SAFETY: no function here allocates.
unsafe impl Source for HeapSource {
    fn acquire<B: Binning>(talc: &mut Talc<Self, B>, layout: Layout) -> Result<(), ()> {
        if !talc.source.is_initial_heap_claimed {
            talc.source.is_initial_heap_claimed = true;
            // SAFETY: this is the only use of the static, and the flag lets it run once.
            let claimed = unsafe { talc.claim((&raw mut INITIAL_HEAP).cast(), INITIAL_HEAP_BYTES) };
            return claimed.map(|_| ()).ok_or(());
        }
        // Includes the allocator's metadata and the alignment.
        let needed = layout.size() + layout.align() + WASM_PAGE_BYTES;
        let pages = needed.max(MIN_GROWTH_BYTES).div_ceil(WASM_PAGE_BYTES);
        let before = memory_grow::<0>(pages);
        if before == usize::MAX {
            return Err(());
        }
        let base = (before * WASM_PAGE_BYTES) as *mut u8;
        let size = pages * WASM_PAGE_BYTES;
        let end = talc.source.end.filter(|end| end.as_ptr() == base);
        talc.source.end = match end {
            // SAFETY: the new memory directly follows the end of the heap.
            Some(end) => Some(unsafe { talc.extend(end, base.wrapping_add(size)) }),
            // SAFETY: the memory was just grown, so nothing else uses it.
            None => unsafe { talc.claim(base, size) },
        };
        talc.source.end.map(|_| ()).ok_or(())
    }
}
