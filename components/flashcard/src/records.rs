//! What is kept of cards beside their notes: the component's store. Cards lie in a few files by the path of their note, so
//! that an answer rewrites little and looking at all of them opens few files.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use notehost_sdk::prelude::*;
use notehost_sdk::scheduling::{Memory, USUAL_RETENTION};
use serde::{Deserialize, Serialize};

/// How many files the cards lie in.
const SHARDS: u8 = 16;
/// What the keys of those files begin with.
const CARDS: &str = "cards/";
/// The key of the settings.
const SETTINGS: &str = "settings";

/// What is kept of a card.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Names it within its note.
    pub(crate) id: String,
    /// Which card of its passage it is, from 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) sibling: usize,
    /// The `^id` of its passage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) block: Option<String>,
    /// What it asked when it was last answered: only its words.
    pub(crate) front: String,
    /// Names what it answered.
    pub(crate) back: String,
    /// Its schedule; nothing where that stands in the note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) memory: Option<Memory>,
    /// When it is asked again, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) due: i64,
    /// On which day it is asked again.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) day: i64,
    /// In days; 0 while it goes through steps.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) interval: u32,
    /// When it was last answered.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) last: i64,
    /// How often it was answered.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) reps: u32,
    /// How often it was forgotten.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) lapses: u32,
    /// When it was put off for the day.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) skipped: i64,
    /// Whether it is not asked.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) suspended: bool,
    /// Whether it was forgotten so often that asking it is no use.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) leech: bool,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// How an owner wants to learn.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Settings {
    #[serde(default = "usual")]
    retention: f32,
}

fn usual() -> f32 {
    USUAL_RETENTION
}

type Shard = BTreeMap<String, Vec<Record>>;

/// The records of a vault's cards, read when they are needed.
pub(crate) struct Records<'v> {
    vault: &'v Vault,
    shards: RefCell<BTreeMap<u8, Shard>>,
    changed: RefCell<BTreeSet<u8>>,
    /// Which notes have a record that asks this, as they were when it was first wanted.
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

    /// What share of cards the owner wants to remember.
    pub(crate) fn retention(&self) -> Result<f32> {
        let settings: Option<Settings> = load(self.vault, SETTINGS)?;
        Ok(settings.map_or(USUAL_RETENTION, |settings| settings.retention))
    }

    /// The records of a note's cards.
    pub(crate) fn of_note(&self, path: &str) -> Result<Vec<Record>> {
        let shard = self.open(shard_of(path))?;
        Ok(self.shards.borrow()[&shard]
            .get(path)
            .cloned()
            .unwrap_or_default())
    }

    /// Where else a record of a card that asks this is kept: the paths of notes.
    pub(crate) fn elsewhere(&self, front: &str, path: &str) -> Result<Vec<String>> {
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
        // Most owners have few files or none: one question tells which.
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

    /// Keep a record, in place of the one with its id; nothing takes it away.
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

    /// Write down what was put.
    pub(crate) fn save(&self) -> Result<()> {
        let shards = self.shards.borrow();
        for number in std::mem::take(&mut *self.changed.borrow_mut()) {
            let key = key_of(number);
            match shards.get(&number).filter(|shard| !shard.is_empty()) {
                Some(shard) => keep(self.vault, &key, shard)?,
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

/// A value of the store. One that cannot be read is told, never written over.
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

/// Write a value of the store down.
pub(crate) fn keep<T: Serialize>(vault: &Vault, key: &str, value: &T) -> Result<()> {
    let bytes = serde_json::to_vec(value)
        .map_err(|error| Error::new(Code::InternalError, error.to_string()))?;
    vault.store_set(key, &bytes)
}
