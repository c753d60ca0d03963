//! The review log: all reviews by month, and the data to undo the latest ones.

use notehost_sdk::dates;
use notehost_sdk::prelude::*;
use serde::{Deserialize, Serialize};

use crate::records::{Record, load, store};

/// Maximum number of reviews that can be undone.
const UNDOABLE: usize = 50;
const UNDO: &str = "undo";
const LOG: &str = "log/";

/// The reviews of a month. Paths are stored once.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Month {
    paths: Vec<String>,
    answers: Vec<LoggedReview>,
}

/// A logged review.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct LoggedReview {
    /// In milliseconds since 1970.
    pub(crate) time: i64,
    /// Index of the note path in `paths`.
    path: usize,
    /// The card.
    pub(crate) id: String,
    /// 1 to 4.
    pub(crate) rating: u8,
    /// Whether the card was in state `review`: only these reviews count for retention.
    pub(crate) review: bool,
}

/// The data to undo a review.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Undo {
    /// When the review took place.
    pub(crate) time: i64,
    /// The note of the card.
    pub(crate) path: String,
    /// The card.
    pub(crate) id: String,
    /// Its previous record and the note of that record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<(String, Record)>,
    /// The schedule comment in the note, before and after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) comment: Option<(String, String)>,
}

fn key_of(time: i64) -> String {
    let (year, month, _) = dates::civil(time.div_euclid(dates::DAY));
    format!("{LOG}{year:04}-{month:02}")
}

/// Appends a review to the log and to the undo list.
pub(crate) fn append(vault: &Vault, undo: Undo, rating: u8, review: bool) -> Result<()> {
    let key = key_of(undo.time);
    let mut month: Month = load(vault, &key)?.unwrap_or_default();
    let known = month.paths.iter().position(|path| *path == undo.path);
    let path = known.unwrap_or_else(|| {
        month.paths.push(undo.path.clone());
        month.paths.len() - 1
    });
    month.answers.push(LoggedReview {
        time: undo.time,
        path,
        id: undo.id.clone(),
        rating,
        review,
    });
    store(vault, &key, &month)?;
    let mut undoable = undoable(vault)?;
    undoable.push(undo);
    let from = undoable.len().saturating_sub(UNDOABLE);
    store(vault, UNDO, &undoable[from..].to_vec())
}

/// The reviews that can be undone, the latest last.
pub(crate) fn undoable(vault: &Vault) -> Result<Vec<Undo>> {
    Ok(load(vault, UNDO)?.unwrap_or_default())
}

/// Removes a review from the log and the undo list.
pub(crate) fn remove(vault: &Vault, undo: &Undo) -> Result<()> {
    let mut undoable = undoable(vault)?;
    undoable.retain(|known| known != undo);
    if undoable.is_empty() {
        vault.store_remove(UNDO)?;
    } else {
        store(vault, UNDO, &undoable)?;
    }
    let key = key_of(undo.time);
    let Some(mut month) = load::<Month>(vault, &key)? else {
        return Ok(());
    };
    let is_it = |answer: &LoggedReview| answer.time == undo.time && answer.id == undo.id;
    let Some(at) = month.answers.iter().rposition(is_it) else {
        return Ok(());
    };
    let path = month.answers.remove(at).path;
    // Remove an unused path only if it is the last: the indexes of others must not shift.
    if path + 1 == month.paths.len() && month.answers.iter().all(|answer| answer.path != path) {
        month.paths.pop();
    }
    if month.answers.is_empty() {
        vault.store_remove(&key)
    } else {
        store(vault, &key, &month)
    }
}

/// The reviews since a timestamp, of notes visible to the caller.
pub(crate) fn reviews_since(vault: &Vault, since: i64) -> Result<Vec<(String, LoggedReview)>> {
    let from = key_of(since);
    let mut found = Vec::new();
    for key in vault
        .store_keys(LOG)?
        .into_iter()
        .filter(|key| *key >= from)
    {
        let month: Month = load(vault, &key)?.unwrap_or_default();
        let is_visible: Vec<bool> = month
            .paths
            .iter()
            .map(|path| vault.access(path) != Tier::None)
            .collect();
        for answer in month
            .answers
            .into_iter()
            .filter(|answer| answer.time >= since)
        {
            if is_visible.get(answer.path) == Some(&true) {
                found.push((month.paths[answer.path].clone(), answer));
            }
        }
    }
    Ok(found)
}
