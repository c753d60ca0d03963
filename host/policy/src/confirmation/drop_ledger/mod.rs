//! Remembers what each caller dropped of each note, so that the floor for confirmations cannot be evaded in small steps.
//! The arithmetic is in `loss.rs`, what a call does to its notes in `weights.rs`. A row lives for a day after its note was
//! last changed by that caller; only hashes of words are kept, never a text.
//!
//! If the records cannot be read, a call that drops something fails; if they cannot be written, the count is kept in memory
//! and written with the next.
//!
//! Every request reads the records on a thread that answers calls, so an operation on the records never includes counting:
//! bytes are read, then counted, then written.

use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use super::loss::{self, Ledger, NoteEdit, WINDOW_HOURS};
use super::weights::{CallWeights, NoteWeights};
use notehost_platform::clock::now_ms;
use notehost_records::RecordsError;
use notehost_records::store::{DropRecord, DropRecords, DropUpdate};
use notehost_vault::contained;

const HOUR_MS: i64 = 60 * 60 * 1000;
/// How many notes of a caller are remembered with their words, and how many bytes those take; of others only the sums.
const MAX_NOTES_WITH_WORDS: usize = 4000;
const MAX_WORD_BYTES: usize = 16 << 20;
/// How many notes of a caller are remembered at all. If a caller that changed more drops content of others, a person has to
/// confirm it.
const MAX_NOTES: u64 = 10_000;
/// How many changes behind one lock may wait to be written before nothing more lands.
const MAX_UNWRITTEN: usize = 8;
/// Commits of different vaults rarely wait for each other.
const LOCKS: usize = 16;
/// How many rows are read at once.
const BATCH_ROWS: usize = 32;

/// Counts what callers dropped.
pub struct DropLedger {
    records: Arc<dyn DropRecords>,
    locks: [Mutex<()>; LOCKS],
    /// What landed and could not be written yet, in order.
    unwritten: Mutex<Vec<DropCount>>,
}

/// What a call does to notes, to be counted when it lands.
#[derive(Clone)]
pub struct DropCount {
    /// Who calls.
    pub caller: String,
    /// The vault's identity.
    pub vault: String,
    /// What it does to its notes.
    pub weights: Arc<CallWeights>,
    /// A person approved it: counting restarts.
    pub is_approved: bool,
}

/// Why a change does not land.
#[derive(Debug, Clone, thiserror::Error)]
pub enum NotCounted {
    /// Meanwhile so much was dropped that a person has to see it first.
    #[error("a person has to review it first")]
    MeetsFloor,
    /// What was dropped before is not known.
    #[error("the record of dropped content cannot be read: {0}")]
    Unavailable(RecordsError),
}

impl DropLedger {
    /// Counts in these records.
    pub fn new(records: Arc<dyn DropRecords>) -> DropLedger {
        DropLedger {
            records,
            locks: Default::default(),
            unwritten: Mutex::default(),
        }
    }

    /// Whether a person has to see the change because of what the caller dropped before. Nothing is counted yet.
    pub fn meets_floor(&self, count: &DropCount) -> Result<bool, RecordsError> {
        // Most calls only add.
        if count.is_approved || count.weights.only_adds() {
            return Ok(false);
        }
        let lock = lock_of(&count.vault);
        if self.unwritten_of(lock).next().is_some() {
            let _held = self.lock(lock);
            self.write_unwritten(lock)?;
        }
        Ok(self.steps(count, now_ms())?.meets_floor)
    }

    /// How many words each change loses that its caller did not write, in the order of the changes.
    pub fn lost_of_others(&self, count: &DropCount) -> Result<Vec<u64>, RecordsError> {
        let now = now_ms();
        let notes: Vec<&NoteWeights> = count.weights.notes.iter().collect();
        let known = self.known(count, &notes, now)?;
        let lost = notes.iter().zip(known).map(|(note, known)| {
            let ledger = known.and_then(|bytes| postcard::from_bytes::<Ledger>(&bytes).ok());
            note.lost_of_others(&ledger.unwrap_or_default())
        });
        Ok(lost.collect())
    }

    /// Lands a change and counts it. No other call of this vault is counted in between, so calls at the same time are added
    /// up too. `may_have_landed` decides about a failure whether it is counted as well.
    pub fn land<T, E>(
        &self,
        count: &DropCount,
        land: impl FnOnce() -> Result<T, E>,
        may_have_landed: impl FnOnce(&E) -> bool,
    ) -> Result<Result<T, E>, NotCounted> {
        let lock = lock_of(&count.vault);
        let _held = {
            let _span = tracing::debug_span!("drop ledger lock").entered();
            self.lock(lock)
        };
        let drops = !count.is_approved && !count.weights.only_adds();
        if drops || self.unwritten_of(lock).count() >= MAX_UNWRITTEN {
            self.write_unwritten(lock)
                .map_err(NotCounted::Unavailable)?;
        }
        if drops {
            let steps = self.steps(count, now_ms());
            if steps.map_err(NotCounted::Unavailable)?.meets_floor {
                return Err(NotCounted::MeetsFloor);
            }
        }
        let landed = land();
        if landed.as_ref().err().is_none_or(may_have_landed) {
            // It is on disk: the call succeeded even if it cannot be counted.
            self.unwritten.lock().push(count.clone());
            if let Some(Err(error)) = contained(|| self.write_unwritten(lock)) {
                tracing::error!(%error, "dropped content could not be recorded; the next change tries again");
            }
        }
        Ok(landed)
    }

    /// What landed behind this lock and is not written yet.
    fn unwritten_of(&self, lock: usize) -> impl Iterator<Item = DropCount> {
        let unwritten = self.unwritten.lock();
        let here = unwritten
            .iter()
            .filter(|count| lock_of(&count.vault) == lock);
        here.cloned().collect::<Vec<_>>().into_iter()
    }

    /// Writes what landed, in order. The lock is held.
    fn write_unwritten(&self, lock: usize) -> Result<(), RecordsError> {
        for count in self.unwritten_of(lock) {
            self.write(&count)?;
            let mut unwritten = self.unwritten.lock();
            let first = unwritten
                .iter()
                .position(|count| lock_of(&count.vault) == lock);
            first.map(|at| unwritten.remove(at));
        }
        Ok(())
    }

    fn lock(&self, lock: usize) -> MutexGuard<'_, ()> {
        self.locks[lock].lock()
    }

    fn steps(&self, count: &DropCount, now: i64) -> Result<Steps, RecordsError> {
        let notes: Vec<&NoteWeights> = count.weights.remaining().collect();
        let known = self.known(count, &notes, now)?;
        let is_full = known.contains(&None)
            && self.records.dropped_content_count(&count.caller)? >= MAX_NOTES;
        Ok(Steps::of(&notes, &known, is_full, now))
    }

    fn write(&self, count: &DropCount) -> Result<(), RecordsError> {
        let now = now_ms();
        let mut steps = self.steps(count, now)?;
        let stored = steps.ledgers.iter_mut().map(|(path, ledger)| {
            if count.is_approved {
                ledger.reset();
            }
            record(path, ledger)
        });
        let notes = &count.weights.notes;
        let left = notes
            .iter()
            .filter(|note| note.is_deleted || note.from.is_some());
        let renamed = notes
            .iter()
            .filter_map(|note| Some((note.from.as_deref()?, note.path.as_str())));
        self.records.update_dropped_content(&DropUpdate {
            caller: &count.caller,
            vault: &count.vault,
            now,
            oldest: now - WINDOW_HOURS * HOUR_MS,
            forgotten: left.map(NoteWeights::earlier_path).collect(),
            renamed: renamed.collect(),
            stored: stored.collect(),
        })?;
        // It is counted: if this fails, the next change does it.
        if let Err(error) = self.bound(&count.caller, now / HOUR_MS) {
            tracing::warn!(%error, "the record of dropped content could not be trimmed");
        }
        Ok(())
    }

    /// What is recorded of notes, in their order.
    fn known(
        &self,
        count: &DropCount,
        notes: &[&NoteWeights],
        now: i64,
    ) -> Result<Vec<Option<Vec<u8>>>, RecordsError> {
        let since = now - WINDOW_HOURS * HOUR_MS;
        let mut known = Vec::with_capacity(notes.len());
        for notes in notes.chunks(BATCH_ROWS) {
            let paths: Vec<&str> = notes.iter().map(|note| note.earlier_path()).collect();
            known.extend(self.records.dropped_content(
                &count.caller,
                &count.vault,
                &paths,
                since,
            )?);
        }
        Ok(known)
    }

    /// Bounds the records of a caller: the oldest lose their words, and keep their sums.
    fn bound(&self, caller: &str, hour: i64) -> Result<(), RecordsError> {
        loop {
            let mut excess = self.records.excess_dropped_content(
                caller,
                MAX_NOTES_WITH_WORDS,
                MAX_WORD_BYTES,
                BATCH_ROWS,
            )?;
            for update in &mut excess {
                let mut ledger: Ledger = postcard::from_bytes(&update.before).unwrap_or_default();
                ledger.slim(hour);
                update.sums = encoded(&ledger);
            }
            if excess.is_empty() || self.records.slim_dropped_content(caller, &excess)? == 0 {
                return Ok(());
            }
        }
    }
}

fn lock_of(vault: &str) -> usize {
    let hash = blake3::hash(vault.as_bytes());
    usize::from(hash.as_bytes()[0]) % LOCKS
}

fn record(path: &str, ledger: &Ledger) -> DropRecord {
    DropRecord {
        path: path.to_owned(),
        words: ledger.lost_words(),
        ledger: (*ledger != Ledger::default()).then(|| encoded(ledger)),
    }
}

fn encoded(ledger: &Ledger) -> Vec<u8> {
    // Numbers can always be written.
    postcard::to_allocvec(ledger).unwrap_or_default()
}

/// The ledgers of the notes that a call changes, as they are after it.
struct Steps {
    ledgers: Vec<(String, Ledger)>,
    meets_floor: bool,
}

impl Steps {
    /// Counts a call that changes these notes, each with its record.
    fn of(notes: &[&NoteWeights], known: &[Option<Vec<u8>>], is_full: bool, now: i64) -> Steps {
        #[cfg(test)]
        tests::while_counting();
        let mut paths = Vec::new();
        let mut edits = Vec::new();
        let mut others = Vec::new();
        let mut unknown = HashSet::new();
        for (note, known) in notes.iter().zip(known) {
            // An unreadable record counts as none.
            let known = known
                .as_ref()
                .and_then(|bytes| postcard::from_bytes(bytes).ok());
            if known.is_none() {
                unknown.insert(note.path.clone());
            }
            let ledger: Ledger = known.unwrap_or_default();
            match &note.text {
                Some(text) => {
                    paths.push(note.path.clone());
                    edits.push(NoteEdit { ledger, text });
                }
                // Replacing what is not text, or too large to be shown, always has to be confirmed.
                None => others.push((note.path.clone(), ledger)),
            }
        }
        let lost = |edits: &[NoteEdit<'_>]| -> u64 {
            edits.iter().map(|note| note.ledger.lost_words()).sum()
        };
        let earlier = lost(&edits);
        let mut meets_floor = loss::count(&mut edits, now / HOUR_MS)
            .into_iter()
            .any(|meets| meets);
        let drops = lost(&edits) > earlier;
        let ledgers = edits.into_iter().map(|note| note.ledger);
        let mut ledgers: Vec<_> = paths.into_iter().zip(ledgers).chain(others).collect();
        if is_full && !unknown.is_empty() {
            meets_floor |= drops;
            ledgers.retain(|(path, _)| !unknown.contains(path));
        }
        Steps {
            ledgers,
            meets_floor,
        }
    }
}

#[cfg(test)]
mod tests;
