//! Where a component's memory comes from. An instance lives for one call and has one thread, so a small allocator without
//! locks suits it; and every time that memory grows the host has to ask the system for it, so a call begins with enough
//! for most answers, and what needs more gets it in large pieces.

use core::alloc::Layout;
use core::arch::wasm32::memory_grow;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use talc::base::Talc;
use talc::base::binning::Binning;
use talc::cell::TalcSyncCell;
use talc::source::Source;
use talc::wasm::WasmBinning;

/// What an instance begins with. Nothing of it takes memory before it is used.
const FIRST: usize = 1 << 20;
/// How much it grows by at least.
const PIECE: usize = 1 << 20;
const PAGE: usize = 64 << 10;

static mut FIRST_ROOM: MaybeUninit<[u8; FIRST]> = MaybeUninit::uninit();

/// The allocator.
pub(super) type Memory = TalcSyncCell<Room, WasmBinning>;

/// An allocator for an instance.
pub(super) const fn memory() -> Memory {
    TalcSyncCell::new_wasm(Room {
        has_begun: false,
        end: None,
    })
}

/// Gives the allocator the room at hand, and then whatever the host lets it grow by.
#[derive(Debug)]
pub(super) struct Room {
    has_begun: bool,
    /// Where the memory that it grew by ends.
    end: Option<NonNull<u8>>,
}

// SAFETY: nothing here allocates.
unsafe impl Source for Room {
    fn acquire<B: Binning>(talc: &mut Talc<Self, B>, layout: Layout) -> Result<(), ()> {
        if !talc.source.has_begun {
            talc.source.has_begun = true;
            // SAFETY: this is the only use of that memory, and it comes here once.
            let claimed = unsafe { talc.claim((&raw mut FIRST_ROOM).cast(), FIRST) };
            return claimed.map(|_| ()).ok_or(());
        }
        // Room for what the allocator notes beside it, and for its alignment.
        let needed = layout.size() + layout.align() + PAGE;
        let pages = needed.max(PIECE).div_ceil(PAGE);
        let before = memory_grow::<0>(pages);
        if before == usize::MAX {
            return Err(());
        }
        let base = (before * PAGE) as *mut u8;
        let size = pages * PAGE;
        let end = talc.source.end.filter(|end| end.as_ptr() == base);
        talc.source.end = match end {
            // SAFETY: the heap ends where what was grown just now begins.
            Some(end) => Some(unsafe { talc.extend(end, base.wrapping_add(size)) }),
            // SAFETY: it was grown just now, so it is nobody's.
            None => unsafe { talc.claim(base, size) },
        };
        talc.source.end.map(|_| ()).ok_or(())
    }
}
