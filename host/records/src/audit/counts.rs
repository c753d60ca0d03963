//! The number of successful calls of each caller in each vault: stored in the records, and after the first query also
//! counted in memory, so that a query need not wait for the writer.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::entry::Entry;
use super::writer::Writer;
use crate::store::{Records, RecordsError};

pub(super) struct Counts {
    /// By caller and vault.
    known: Mutex<HashMap<String, HashMap<String, u64>>>,
    /// On a handle of their own.
    records: Arc<dyn Records>,
}

impl Counts {
    pub(super) fn new(records: Arc<dyn Records>) -> Counts {
        Counts {
            known: Mutex::default(),
            records,
        }
    }

    /// Hands a call to the writer, and counts it.
    pub(super) fn write(&self, writer: &Writer, entry: Entry) {
        // The lock is held until the entry is handed over, so that a concurrent query does not miss it.
        let mut known = self.known.lock();
        if let (true, Some(vault)) = (entry.is_counted(), &entry.vault)
            && let Some(count) = known
                .get_mut(&entry.caller)
                .and_then(|vaults| vaults.get_mut(vault))
        {
            *count += 1;
        }
        writer.write(entry);
    }

    /// The number of successful calls so far.
    pub(super) fn of(
        &self,
        writer: &Writer,
        caller: &str,
        vault: &str,
    ) -> Result<u64, RecordsError> {
        let mut known = self.known.lock();
        if let Some(count) = known.get(caller).and_then(|vaults| vaults.get(vault)) {
            return Ok(*count);
        }
        writer.flush();
        let counted = self.records.successful_calls(caller, vault)?;
        let vaults = known.entry(caller.to_owned()).or_default();
        vaults.insert(vault.to_owned(), counted);
        Ok(counted)
    }
}
