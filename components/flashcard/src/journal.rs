//! What was answered: a line for each answer, by month, and what it takes to take the latest ones back.

use notehost_sdk::dates;
use notehost_sdk::prelude::*;
use serde::{Deserialize, Serialize};

use crate::records::{Record, keep, load};

/// How many answers can be taken back.
const UNDOABLE: usize = 50;
const UNDO: &str = "undo";
const LOG: &str = "log/";

/// The answers of a month. Paths are told once.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Month {
    paths: Vec<String>,
    answers: Vec<Answer>,
}

/// One answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Answer {
    /// In milliseconds since 1970.
    pub(crate) time: i64,
    /// The place of the note's path in the month's list.
    path: usize,
    /// The card.
    pub(crate) id: String,
    /// 1 to 4.
    pub(crate) rating: u8,
    /// Whether days had passed by plan: only such answers tell how much is remembered.
    pub(crate) review: bool,
}

/// What it takes to take an answer back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Undo {
    /// When it was given.
    pub(crate) time: i64,
    /// The note of the card.
    pub(crate) path: String,
    /// The card.
    pub(crate) id: String,
    /// What was kept of it, and under which note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<(String, Record)>,
    /// The schedule in the note: before and after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) comment: Option<(String, String)>,
}

fn key_of(time: i64) -> String {
    let (year, month, _) = dates::civil(time.div_euclid(dates::DAY));
    format!("{LOG}{year:04}-{month:02}")
}

/// Write an answer down, so that it is counted and can be taken back.
pub(crate) fn record(vault: &Vault, undo: Undo, rating: u8, review: bool) -> Result<()> {
    let key = key_of(undo.time);
    let mut month: Month = load(vault, &key)?.unwrap_or_default();
    let known = month.paths.iter().position(|path| *path == undo.path);
    let path = known.unwrap_or_else(|| {
        month.paths.push(undo.path.clone());
        month.paths.len() - 1
    });
    month.answers.push(Answer {
        time: undo.time,
        path,
        id: undo.id.clone(),
        rating,
        review,
    });
    keep(vault, &key, &month)?;
    let mut undoable = undoable(vault)?;
    undoable.push(undo);
    let from = undoable.len().saturating_sub(UNDOABLE);
    keep(vault, UNDO, &undoable[from..].to_vec())
}

/// The answers that can be taken back, the latest last.
pub(crate) fn undoable(vault: &Vault) -> Result<Vec<Undo>> {
    Ok(load(vault, UNDO)?.unwrap_or_default())
}

/// Strike an answer out.
pub(crate) fn strike(vault: &Vault, undo: &Undo) -> Result<()> {
    let mut undoable = undoable(vault)?;
    undoable.retain(|known| known != undo);
    if undoable.is_empty() {
        vault.store_remove(UNDO)?;
    } else {
        keep(vault, UNDO, &undoable)?;
    }
    let key = key_of(undo.time);
    let Some(mut month) = load::<Month>(vault, &key)? else {
        return Ok(());
    };
    let is_it = |answer: &Answer| answer.time == undo.time && answer.id == undo.id;
    let Some(at) = month.answers.iter().rposition(is_it) else {
        return Ok(());
    };
    let path = month.answers.remove(at).path;
    // A path that no answer names any more goes, if it is the last: places of others must not shift.
    if path + 1 == month.paths.len() && month.answers.iter().all(|answer| answer.path != path) {
        month.paths.pop();
    }
    if month.answers.is_empty() {
        vault.store_remove(&key)
    } else {
        keep(vault, &key, &month)
    }
}

/// The answers since a moment, with their notes, as far as the caller may see those.
pub(crate) fn answers(vault: &Vault, since: i64) -> Result<Vec<(String, Answer)>> {
    let from = key_of(since);
    let mut found = Vec::new();
    for key in vault
        .store_keys(LOG)?
        .into_iter()
        .filter(|key| *key >= from)
    {
        let month: Month = load(vault, &key)?.unwrap_or_default();
        let seen: Vec<bool> = month
            .paths
            .iter()
            .map(|path| vault.access(path) != Tier::None)
            .collect();
        for answer in month
            .answers
            .into_iter()
            .filter(|answer| answer.time >= since)
        {
            if seen.get(answer.path) == Some(&true) {
                found.push((month.paths[answer.path].clone(), answer));
            }
        }
    }
    Ok(found)
}
