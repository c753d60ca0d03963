//! Remembers what each caller dropped of each note, so that the floor for confirmations cannot be evaded in small steps.
//! The arithmetic is in `loss.rs`, what a call does to its notes in `weights.rs`. A row lives for a day after its note was
//! last changed by that caller; only hashes of words are kept, never a text.
//!
//! What cannot be read stops a call that drops something; what cannot be written is kept and written with the next.
//!
//! Every request looks into the records on a thread that answers calls, so nothing is counted, read or written as words
//! while they are held: bytes are read, then counted, then written.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, OptionalExtension as _, params};

use super::loss::{self, Ledger, NoteEdit, WINDOW_HOURS};
use super::weights::{CallWeights, NoteWeights};
use notehost_records::database::{Database, DatabaseError, now_ms};
use notehost_vault::contained;

/// Where it is remembered.
pub const DROPPED_TABLE: &str = "
CREATE TABLE IF NOT EXISTS dropped_content (
    caller TEXT NOT NULL,
    vault TEXT NOT NULL,            -- its identity
    path TEXT NOT NULL,
    updated INTEGER NOT NULL,       -- milliseconds since 1970
    words INTEGER NOT NULL,         -- how many words of others were dropped
    is_slim INTEGER NOT NULL,       -- 1: only sums are left
    ledger BLOB NOT NULL,
    PRIMARY KEY (caller, vault, path)
) STRICT;
CREATE INDEX IF NOT EXISTS dropped_content_updated ON dropped_content (updated);";

const HOUR_MS: i64 = 60 * 60 * 1000;
/// How many notes of a caller are remembered with their words, and how many bytes those take; of others only the sums.
const MAX_NOTES_WITH_WORDS: i64 = 4000;
const MAX_WORD_BYTES: i64 = 16 << 20;
/// How many notes of a caller are remembered at all. A caller that changed more is asked when it drops content of others.
const MAX_NOTES: i64 = 10_000;
/// How many changes behind one lock may wait to be written before nothing more lands.
const MAX_UNWRITTEN: usize = 8;
/// Commits of different vaults rarely wait for each other.
const LOCKS: usize = 16;
/// How many rows are read at once.
const BATCH_ROWS: usize = 32;

/// What callers dropped.
pub struct DropLedger {
    database: Arc<Database>,
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
    Unavailable(DatabaseError),
}

impl DropLedger {
    /// What is remembered in these records.
    pub fn new(database: Arc<Database>) -> DropLedger {
        DropLedger {
            database,
            locks: Default::default(),
            unwritten: Mutex::default(),
        }
    }

    /// Whether a person has to see the change because of what the caller dropped before. Nothing is counted yet.
    pub fn meets_floor(&self, count: &DropCount) -> Result<bool, DatabaseError> {
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
    pub fn lost_of_others(&self, count: &DropCount) -> Result<Vec<u64>, DatabaseError> {
        let now = now_ms();
        let mut lost = Vec::new();
        for notes in count.weights.notes.chunks(BATCH_ROWS) {
            let known = self.database.with(|connection| {
                let bytes = notes.iter().map(|note| find(connection, count, note, now));
                bytes.collect::<rusqlite::Result<Vec<_>>>()
            })?;
            lost.extend(notes.iter().zip(known).map(|(note, known)| {
                let ledger = known.and_then(|bytes| postcard::from_bytes::<Ledger>(&bytes).ok());
                note.lost_of_others(&ledger.unwrap_or_default())
            }));
        }
        Ok(lost)
    }

    /// Land a change and count it. No other call of this vault is counted in between, so several at once are added up
    /// too. `may_have_landed` decides about a failure whether it is counted as well.
    pub fn land<T, E>(
        &self,
        count: &DropCount,
        land: impl FnOnce() -> Result<T, E>,
        may_have_landed: impl FnOnce(&E) -> bool,
    ) -> Result<Result<T, E>, NotCounted> {
        let lock = lock_of(&count.vault);
        let _held = self.lock(lock);
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
            // It is on disk: whatever happens to the count, the call succeeded.
            self.unwritten().push(count.clone());
            if let Some(Err(error)) = contained(|| self.write_unwritten(lock)) {
                tracing::error!(%error, "dropped content could not be recorded; the next change tries again");
            }
        }
        Ok(landed)
    }

    fn unwritten(&self) -> MutexGuard<'_, Vec<DropCount>> {
        self.unwritten
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// What landed behind this lock and is not written yet.
    fn unwritten_of(&self, lock: usize) -> impl Iterator<Item = DropCount> {
        let unwritten = self.unwritten();
        let here = unwritten
            .iter()
            .filter(|count| lock_of(&count.vault) == lock);
        here.cloned().collect::<Vec<_>>().into_iter()
    }

    /// Write what landed, in order. The lock is held.
    fn write_unwritten(&self, lock: usize) -> Result<(), DatabaseError> {
        for count in self.unwritten_of(lock) {
            self.write(&count)?;
            let mut unwritten = self.unwritten();
            let first = unwritten
                .iter()
                .position(|count| lock_of(&count.vault) == lock);
            first.map(|at| unwritten.remove(at));
        }
        Ok(())
    }

    fn lock(&self, lock: usize) -> MutexGuard<'_, ()> {
        self.locks[lock]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn steps(&self, count: &DropCount, now: i64) -> Result<Steps, DatabaseError> {
        let notes: Vec<&NoteWeights> = count.weights.remaining().collect();
        let mut known = Vec::new();
        for notes in notes.chunks(BATCH_ROWS) {
            known.extend(self.database.with(|connection| {
                let bytes = notes.iter().map(|note| find(connection, count, note, now));
                bytes.collect::<rusqlite::Result<Vec<_>>>()
            })?);
        }
        let is_full = known.contains(&None)
            && self.database.with(|connection| {
                let known: i64 = connection.query_row(
                    "SELECT count(*) FROM dropped_content WHERE caller = ?1",
                    [&count.caller],
                    |row| row.get(0),
                )?;
                Ok(known >= MAX_NOTES)
            })?;
        Ok(Steps::of(&notes, &known, is_full, now))
    }

    fn write(&self, count: &DropCount) -> Result<(), DatabaseError> {
        let now = now_ms();
        let mut steps = self.steps(count, now)?;
        let rows: Vec<Row> = steps
            .ledgers
            .iter_mut()
            .map(|(path, ledger)| {
                if count.is_approved {
                    ledger.reset();
                }
                Row::of(path, ledger)
            })
            .collect();
        self.database.with(|connection| {
            let transaction = connection.transaction()?;
            transaction.execute(
                "DELETE FROM dropped_content WHERE updated < ?1",
                [now - WINDOW_HOURS * HOUR_MS],
            )?;
            for note in &count.weights.notes {
                if note.is_deleted || note.from.is_some() {
                    forget(&transaction, count, note.earlier_path())?;
                }
            }
            rename(&transaction, count)?;
            for row in &rows {
                keep(&transaction, count, row, now)?;
            }
            transaction.commit()
        })?;
        // It is counted: if this fails, the next change does it.
        if let Err(error) = self.bound(&count.caller, now / HOUR_MS) {
            tracing::warn!(%error, "the record of dropped content could not be trimmed");
        }
        Ok(())
    }

    /// Keep the rows of a caller small: the oldest lose their words, and keep their sums.
    fn bound(&self, caller: &str, hour: i64) -> Result<(), DatabaseError> {
        loop {
            let oldest = self
                .database
                .with(|connection| too_many(connection, caller))?;
            if oldest.is_empty() {
                return Ok(());
            }
            let slim: Vec<(i64, Vec<u8>, Vec<u8>)> = oldest
                .into_iter()
                .map(|(row, bytes)| {
                    let mut ledger: Ledger = postcard::from_bytes(&bytes).unwrap_or_default();
                    ledger.slim(hour);
                    (row, bytes, encoded(&ledger))
                })
                .collect();
            let changed = self.database.with(|connection| {
                let transaction = connection.transaction()?;
                let mut changed = 0;
                for (row, bytes, slim) in &slim {
                    // Unless it was written again meanwhile.
                    changed += transaction.execute(
                        "UPDATE dropped_content SET is_slim = 1, ledger = ?3 WHERE rowid = ?1 AND ledger = ?2",
                        params![row, bytes, slim],
                    )?;
                }
                transaction.commit()?;
                Ok(changed)
            })?;
            if changed == 0 {
                return Ok(());
            }
        }
    }
}

fn lock_of(vault: &str) -> usize {
    let hash = blake3::hash(vault.as_bytes());
    usize::from(hash.as_bytes()[0]) % LOCKS
}

/// A ledger as it is kept; `None` if there is nothing to keep.
struct Row {
    path: String,
    words: i64,
    ledger: Option<Vec<u8>>,
}

impl Row {
    fn of(path: &str, ledger: &Ledger) -> Row {
        Row {
            path: path.to_owned(),
            words: i64::try_from(ledger.lost_words()).unwrap_or(i64::MAX),
            ledger: (*ledger != Ledger::default()).then(|| encoded(ledger)),
        }
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
    /// Count a call that changes these notes, each with what is remembered of it.
    fn of(notes: &[&NoteWeights], known: &[Option<Vec<u8>>], is_full: bool, now: i64) -> Steps {
        #[cfg(test)]
        tests::while_counting();
        let mut paths = Vec::new();
        let mut edits = Vec::new();
        let mut others = Vec::new();
        let mut unknown = HashSet::new();
        for (note, known) in notes.iter().zip(known) {
            // What an earlier version wrote otherwise is counted from now on.
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
                // What is no text, or too large to be shown, is asked about in any case when it is replaced.
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

/// What other callers dropped of a note goes with it when it is renamed. Notes may take each other's names, so all of them
/// leave their old ones first.
fn rename(connection: &Connection, count: &DropCount) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "UPDATE OR REPLACE dropped_content SET path = ?1 WHERE vault = ?2 AND path = ?3 AND caller <> ?4",
    )?;
    let renames = || {
        let notes = count.weights.notes.iter();
        notes.filter_map(|note| Some((note.from.as_ref()?, &note.path)))
    };
    // No path begins like that.
    let between = |path: &str| format!("//{path}");
    for (from, to) in renames() {
        statement.execute(params![between(to), count.vault, from, count.caller])?;
    }
    for (_, to) in renames() {
        statement.execute(params![to, count.vault, between(to), count.caller])?;
    }
    Ok(())
}

fn find(
    connection: &Connection,
    count: &DropCount,
    note: &NoteWeights,
    now: i64,
) -> rusqlite::Result<Option<Vec<u8>>> {
    let mut statement = connection.prepare_cached(
        "SELECT ledger FROM dropped_content WHERE caller = ?1 AND vault = ?2 AND path = ?3 AND updated >= ?4",
    )?;
    let since = now - WINDOW_HOURS * HOUR_MS;
    let row = params![count.caller, count.vault, note.earlier_path(), since];
    statement.query_row(row, |row| row.get(0)).optional()
}

fn forget(connection: &Connection, count: &DropCount, path: &str) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "DELETE FROM dropped_content WHERE caller = ?1 AND vault = ?2 AND path = ?3",
        )?
        .execute(params![count.caller, count.vault, path])?;
    Ok(())
}

fn keep(connection: &Connection, count: &DropCount, row: &Row, now: i64) -> rusqlite::Result<()> {
    let Some(ledger) = &row.ledger else {
        return forget(connection, count, &row.path);
    };
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO dropped_content (caller, vault, path, updated, words, is_slim, ledger)
             VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6)",
        )?
        .execute(params![
            count.caller,
            count.vault,
            row.path,
            now,
            row.words,
            ledger
        ])?;
    Ok(())
}

/// The oldest rows of a caller that have to lose their words, until few enough rows and bytes are left: some of them.
fn too_many(connection: &Connection, caller: &str) -> rusqlite::Result<Vec<(i64, Vec<u8>)>> {
    let many: i64 = connection
        .prepare_cached(
            "SELECT count(*) FROM (
                 SELECT row_number() OVER latest AS rows, sum(length(ledger)) OVER latest AS bytes
                 FROM dropped_content WHERE caller = ?1 AND is_slim = 0
                 WINDOW latest AS (ORDER BY updated DESC, rowid DESC))
             WHERE rows > ?2 OR bytes > ?3 AND rows > 1",
        )?
        .query_row(
            params![caller, MAX_NOTES_WITH_WORDS, MAX_WORD_BYTES],
            |row| row.get(0),
        )?;
    if many == 0 {
        return Ok(Vec::new());
    }
    let mut statement = connection.prepare_cached(
        "SELECT rowid, ledger FROM dropped_content WHERE caller = ?1 AND is_slim = 0
         ORDER BY updated, rowid LIMIT ?2",
    )?;
    let most = many.min(i64::try_from(BATCH_ROWS).unwrap_or(many));
    let rows = statement.query_map(params![caller, most], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

#[cfg(test)]
mod tests;
