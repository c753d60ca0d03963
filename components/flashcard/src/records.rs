//! The records of cards in the store of the component. They are sharded by note path into a few files, so that a review
//! rewrites little data and reading all records opens few files.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use notehost_sdk::prelude::*;
use notehost_sdk::scheduling::{DEFAULT_RETENTION, Memory};
use serde::{Deserialize, Serialize};

/// Number of shards.
const SHARDS: u8 = 16;
/// Key prefix of the shards.
const CARDS: &str = "cards/";
/// The key of the settings.
const SETTINGS: &str = "settings";

/// The stored record of a card.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Its id within its note.
    pub(crate) id: String,
    /// Its index among sibling cards.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) sibling: usize,
    /// The `^id` of its passage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) block: Option<String>,
    /// Its normalised question at the last review.
    pub(crate) front: String,
    /// Hash of its answer.
    pub(crate) back: String,
    /// Its FSRS memory state; `None` if the schedule is in the note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) memory: Option<Memory>,
    /// When it is due, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) due: i64,
    /// The due day.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) day: i64,
    /// In days; 0 during learning steps.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) interval: u32,
    /// When it was last reviewed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) last: i64,
    /// Number of reviews.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) reps: u32,
    /// Number of lapses.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) lapses: u32,
    /// When it was skipped.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) skipped: i64,
    /// Whether it is suspended.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) suspended: bool,
    /// Whether it is a leech: repeated lapses.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) leech: bool,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The learning settings of the owner.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Settings {
    #[serde(default = "default_retention")]
    retention: f32,
}

fn default_retention() -> f32 {
    DEFAULT_RETENTION
}

type Shard = BTreeMap<String, Vec<Record>>;

/// The records of a vault, loaded on demand.
pub(crate) struct Records<'v> {
    vault: &'v Vault,
    shards: RefCell<BTreeMap<u8, Shard>>,
    changed: RefCell<BTreeSet<u8>>,
    /// Note paths by question, computed on first use.
    fronts: RefCell<Option<HashMap<String, Vec<String>>>>,
}

impl<'v> Records<'v> {
    /// The records of a vault.
    pub(crate) fn of(vault: &'v Vault) -> Records<'v> {
        Records {
            vault,
            shards: RefCell::default(),
            changed: RefCell::default(),
            fronts: RefCell::default(),
        }
    }

    /// The desired retention of the owner.
    pub(crate) fn retention(&self) -> Result<f32> {
        let settings: Option<Settings> = load(self.vault, SETTINGS)?;
        Ok(settings.map_or(DEFAULT_RETENTION, |settings| settings.retention))
    }

    /// The records of a note.
    pub(crate) fn of_note(&self, path: &str) -> Result<Vec<Record>> {
        let shard = self.open(shard_of(path))?;
        Ok(self.shards.borrow()[&shard]
            .get(path)
            .cloned()
            .unwrap_or_default())
    }

    /// The other notes that have a record with this question.
    pub(crate) fn other_paths(&self, front: &str, path: &str) -> Result<Vec<String>> {
        let known = self.fronts.borrow().is_some();
        if !known {
            let fronts = self.all_fronts()?;
            self.fronts.replace(Some(fronts));
        }
        let fronts = self.fronts.borrow();
        let others = fronts.iter().filter_map(|fronts| fronts.get(front));
        let others = others.flatten().filter(|other| *other != path);
        Ok(others.cloned().collect())
    }

    fn all_fronts(&self) -> Result<HashMap<String, Vec<String>>> {
        // List the existing shards first: most vaults have few or none.
        let keys = self.vault.store_keys(CARDS)?;
        for number in (0..SHARDS).filter(|number| keys.contains(&key_of(*number))) {
            self.open(number)?;
        }
        let mut fronts: HashMap<String, Vec<String>> = HashMap::new();
        for (other, records) in self.shards.borrow().values().flatten() {
            for record in records {
                let others = fronts.entry(record.front.clone()).or_default();
                others.push(other.clone());
            }
        }
        Ok(fronts)
    }

    /// Sets the record with this id; `None` removes it.
    pub(crate) fn put(&self, path: &str, id: &str, record: Option<Record>) -> Result<()> {
        let number = self.open(shard_of(path))?;
        let mut shards = self.shards.borrow_mut();
        let shard = shards.entry(number).or_default();
        let records = shard.entry(path.to_owned()).or_default();
        let at = records.iter().position(|known| known.id == id);
        match (at, record) {
            (Some(at), Some(record)) => records[at] = record,
            (Some(at), None) => drop(records.remove(at)),
            (None, Some(record)) => records.push(record),
            (None, None) => {}
        }
        if records.is_empty() {
            shard.remove(path);
        }
        self.changed.borrow_mut().insert(number);
        Ok(())
    }

    /// Writes the changed shards.
    pub(crate) fn save(&self) -> Result<()> {
        let shards = self.shards.borrow();
        for number in std::mem::take(&mut *self.changed.borrow_mut()) {
            let key = key_of(number);
            match shards.get(&number).filter(|shard| !shard.is_empty()) {
                Some(shard) => store(self.vault, &key, shard)?,
                None => self.vault.store_remove(&key)?,
            }
        }
        Ok(())
    }

    fn open(&self, number: u8) -> Result<u8> {
        let known = self.shards.borrow().contains_key(&number);
        if !known {
            let shard = load(self.vault, &key_of(number))?.unwrap_or_default();
            self.shards.borrow_mut().insert(number, shard);
        }
        Ok(number)
    }
}

fn shard_of(path: &str) -> u8 {
    blake3::hash(path.as_bytes()).as_bytes()[0] % SHARDS
}

fn key_of(number: u8) -> String {
    format!("{CARDS}{number:x}")
}

/// Loads a value from the store. An invalid value is an error and is never overwritten.
pub(crate) fn load<T: for<'a> Deserialize<'a>>(vault: &Vault, key: &str) -> Result<Option<T>> {
    let Some(bytes) = vault.store_get(key)? else {
        return Ok(None);
    };
    let value = serde_json::from_slice(&bytes).map_err(|error| {
        Error::unsupported(format!("invalid card records in the store (`{key}`): {error}"))
            .with_hint("restore the file with that name in `.notehost/store` of the vault from a backup, or delete it to start over")
    })?;
    Ok(Some(value))
}

/// Writes a value to the store.
pub(crate) fn store<T: Serialize>(vault: &Vault, key: &str, value: &T) -> Result<()> {
    let bytes = serde_json::to_vec(value)
        .map_err(|error| Error::new(Code::InternalError, error.to_string()))?;
    vault.store_set(key, &bytes)
}
