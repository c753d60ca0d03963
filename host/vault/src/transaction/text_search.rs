//! Case-insensitive search for texts in notes, and a parallel scan of many notes.

use std::sync::atomic::{AtomicUsize, Ordering};

use memchr::{memchr2_iter, memmem};
use parking_lot::Mutex;
use unicode_normalization::UnicodeNormalization;

use crate::{
    access::Limits,
    error::VaultError,
    path::folded,
    storage::{ReadOutcome, Storage},
};

const MAX_THREADS: usize = 4;
/// How far into a text its rarest byte is looked for.
const MAX_PIVOT: usize = 64;
const FILES_PER_BATCH: usize = 64;

/// A text to look for.
pub(crate) enum FoldedNeedle {
    /// Lower case, and which of its bytes is the rarest in prose.
    Ascii { lower: Vec<u8>, pivot: usize },
    /// A text that neither folding nor normalising changes, as most Chinese: the bytes are enough.
    Plain(memmem::Finder<'static>),
    /// Folded.
    Folded(memmem::Finder<'static>),
}

impl FoldedNeedle {
    /// `None` for the empty text, which is in no note.
    pub(crate) fn new(text: &str) -> Option<FoldedNeedle> {
        if text.is_empty() {
            return None;
        }
        let folded = folded(text);
        Some(if folded.is_ascii() {
            let lower = folded.into_bytes();
            // The beginning of a long text is as good as the whole.
            let pivot = (0..lower.len().min(MAX_PIVOT))
                .min_by_key(|index| commonness(lower[*index]))
                .unwrap_or(0);
            FoldedNeedle::Ascii { lower, pivot }
        } else if folded == text && text.nfd().eq(text.chars()) {
            FoldedNeedle::Plain(memmem::Finder::new(text).into_owned())
        } else {
            FoldedNeedle::Folded(memmem::Finder::new(&folded).into_owned())
        })
    }
}

/// Whether one of the texts occurs.
pub(crate) fn mentions(haystack: &[u8], needles: &[FoldedNeedle]) -> bool {
    let mut fold = None;
    let is_ascii = haystack.is_ascii();
    needles.iter().any(|needle| match needle {
        FoldedNeedle::Ascii { lower, pivot } => find_ascii(haystack, lower, *pivot),
        _ if is_ascii => false,
        FoldedNeedle::Plain(finder) => finder.find(haystack).is_some(),
        FoldedNeedle::Folded(finder) => {
            let fold = fold.get_or_insert_with(|| folded(&String::from_utf8_lossy(haystack)));
            finder.find(fold.as_bytes()).is_some()
        }
    })
}

fn find_ascii(haystack: &[u8], lower: &[u8], pivot: usize) -> bool {
    let byte = lower[pivot];
    memchr2_iter(byte, byte.to_ascii_uppercase(), haystack).any(|at| {
        at.checked_sub(pivot)
            .and_then(|start| haystack.get(start..start + lower.len()))
            .is_some_and(|found| found.eq_ignore_ascii_case(lower))
    })
}

/// The approximate frequency of a byte in prose.
fn commonness(byte: u8) -> usize {
    const RARE_TO_COMMON: &[u8] = b"zqjxkvbypgfwmuclhdrnsioate ";
    match RARE_TO_COMMON.iter().position(|known| *known == byte) {
        Some(place) => place + 1,
        None => 0,
    }
}

/// Which of these files mention one of the texts. Files that cannot be read mention nothing.
pub(crate) fn scan(
    storage: &dyn Storage,
    files: &[String],
    needles: &[FoldedNeedle],
    limits: &Limits,
) -> Result<Vec<String>, VaultError> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(MAX_THREADS);
    let threads = threads.min(files.len().div_ceil(FILES_PER_BATCH)).max(1);
    let work = || -> Result<(), VaultError> {
        let mut mine = Vec::new();
        let mut buffer = Vec::new();
        loop {
            let start = next.fetch_add(FILES_PER_BATCH, Ordering::Relaxed);
            let Some(chunk) = files
                .get(start..(start + FILES_PER_BATCH).min(files.len()))
                .filter(|files| !files.is_empty())
            else {
                found.lock().append(&mut mine);
                return Ok(());
            };
            limits.check_deadline()?;
            for path in chunk {
                let outcome = storage.read(path, limits.max_file_bytes, &mut buffer);
                let is_read = matches!(outcome, Ok(ReadOutcome::Content(_)));
                if is_read && mentions(&buffer, needles) {
                    mine.push(path.clone());
                }
            }
        }
    };
    if threads == 1 {
        work()?;
    } else {
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let own = work();
            others
                .into_iter()
                .map(|other| {
                    other.join().unwrap_or_else(|_| {
                        Err(VaultError::internal("search", "a thread panicked"))
                    })
                })
                .fold(own, Result::and)
        })?;
    }
    let mut found = found.into_inner();
    found.sort_unstable();
    Ok(found)
}
