//! How many calls of each caller succeeded in each vault: counted by the records, and from the first question on also in
//! memory, so that nobody waits for the records to be written.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::entry::Entry;
use super::writer::Writer;
use crate::database::{Database, DatabaseError};

pub(super) struct Counts {
    /// By caller and vault.
    known: Mutex<HashMap<String, HashMap<String, u64>>>,
    /// To count with, on a connection of its own.
    records: Database,
}

impl Counts {
    pub(super) fn new(records: Database) -> Counts {
        Counts {
            known: Mutex::default(),
            records,
        }
    }

    /// Hands a call on to be written, and counts it.
    pub(super) fn write(&self, writer: &Writer, entry: Entry) {
        // Held until it is handed on: who counts the records meanwhile would miss it.
        let mut known = self.known();
        if let (true, Some(vault)) = (entry.is_counted(), &entry.vault)
            && let Some(count) = known
                .get_mut(&entry.caller)
                .and_then(|vaults| vaults.get_mut(vault))
        {
            *count += 1;
        }
        writer.write(entry);
    }

    /// How many there are so far.
    pub(super) fn of(
        &self,
        writer: &Writer,
        caller: &str,
        vault: &str,
    ) -> Result<u64, DatabaseError> {
        let mut known = self.known();
        if let Some(count) = known.get(caller).and_then(|vaults| vaults.get(vault)) {
            return Ok(*count);
        }
        writer.flush();
        let counted = self.records.with(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT coalesce(sum(count), 0) FROM calls WHERE caller = ?1 AND vault = ?2",
            )?;
            statement.query_row([caller, vault], |row| row.get::<_, i64>(0))
        })?;
        let counted = u64::try_from(counted).unwrap_or_default();
        let vaults = known.entry(caller.to_owned()).or_default();
        vaults.insert(vault.to_owned(), counted);
        Ok(counted)
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, HashMap<String, u64>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
