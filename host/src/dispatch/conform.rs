//! Whether what an action staged keeps the rules that hold for every component: the notes are those that the caller had
//! read, and they get no tags that the vault's owner does not want.

use std::collections::BTreeSet;

use notehost_sdk::text;
use serde_json::{Map, Value, json};

use super::authorize::Allowed;
use super::run::{Attempt, Ran};
use super::{CallError, Host};
use crate::config::TagPolicy;
use crate::vault::{Access, Effect, Limits, StagedChange, Transaction, VaultError};

/// What an action staged, and it may be asked for.
pub(super) enum Staged {
    Ran(Box<Ran>, Vec<StagedChange>),
    /// The vault changed while the action looked at it.
    Torn,
}

/// Check what was staged.
pub(super) async fn conform(
    host: &Host,
    allowed: &Allowed,
    attempt: Attempt,
) -> Result<Staged, CallError> {
    let ran = match attempt {
        Attempt::Ran(ran) => ran,
        Attempt::Torn => return Ok(Staged::Torn),
    };
    let changes = ran.transaction.changes();
    if let Some(etag) = &allowed.checked.common.if_match {
        require_match(etag, &changes, &ran.transaction)?;
    }
    if host.settings().tags.policy == TagPolicy::Existing {
        refuse_new_tags(allowed, &changes).await?;
    }
    Ok(Staged::Ran(ran, changes))
}

/// The caller said what it had read: one of the notes that change, or that were looked at, must still be that.
fn require_match(
    etag: &str,
    changes: &[StagedChange],
    transaction: &Transaction,
) -> Result<(), CallError> {
    let read = transaction.read_etags();
    let now: Vec<&(String, String)> = read
        .iter()
        .filter(|(path, _)| {
            changes.is_empty()
                || changes
                    .iter()
                    .any(|change| change.from.as_ref().unwrap_or(&change.path) == path)
        })
        .collect();
    if now.iter().any(|(_, current)| current == etag) {
        return Ok(());
    }
    let now: Map<String, Value> = now
        .into_iter()
        .map(|(path, etag)| (path.clone(), etag.as_str().into()))
        .collect();
    Err(CallError::new(
        "conflict",
        format!("nothing here has the etag `{etag}` any more: read the note again"),
    )
    .with_details(json!({ "etags": now })))
}

/// Only tags that some note has already, as far as this caller can see.
async fn refuse_new_tags(allowed: &Allowed, changes: &[StagedChange]) -> Result<(), CallError> {
    let mut known = BTreeSet::new();
    let mut wanted = BTreeSet::new();
    for change in changes {
        known.extend(tags_of(change.before.as_deref()));
        wanted.extend(tags_of(change.after.as_deref()));
    }
    let new: Vec<String> = wanted.difference(&known).cloned().collect();
    if new.is_empty() {
        return Ok(());
    }
    let looking = allowed.vault.begin(Access {
        rules: allowed.rules.clone(),
        effect: Effect::Read,
        component: allowed.checked.found.domain.name.clone(),
        limits: Limits::default(),
    });
    // It may have to look at every note: not on a thread that answers calls.
    let unknown = tokio::task::spawn_blocking(move || nowhere(looking, new))
        .await
        .unwrap_or_else(|error| Err(VaultError::broken(&error.to_string())))?;
    if unknown.is_empty() {
        return Ok(());
    }
    let named: Vec<String> = unknown.iter().map(|tag| format!("`#{tag}`")).collect();
    Err(CallError::new(
        "validation_error",
        format!(
            "no note has the tag {} yet, and only existing tags are allowed here: use one that exists",
            named.join(", ")
        ),
    )
    .with_hint("an admin can allow new tags: `tags.policy = \"open\"` in the config")
    .with_details(json!({ "new_tags": unknown })))
}

/// Of these tags, those that no note has, nor one below them.
fn nowhere(mut looking: Transaction, mut tags: Vec<String>) -> Result<Vec<String>, VaultError> {
    // Letters may be spelt in the other case, which only reading tells.
    for path in looking.mentioning(&tags)? {
        if tags.is_empty() {
            break;
        }
        let Ok(blob) = looking.read(&path) else {
            continue;
        };
        let there = tags_of(Some(&blob.bytes));
        tags.retain(|tag| {
            let below = format!("{tag}/");
            !there
                .iter()
                .any(|known| known == tag || known.starts_with(&below))
        });
    }
    Ok(tags)
}

/// The tags of a text, spelt alike.
fn tags_of(bytes: Option<&[u8]>) -> BTreeSet<String> {
    let text = std::str::from_utf8(bytes.unwrap_or_default()).unwrap_or_default();
    let tags = text::tags(text).into_iter();
    tags.map(|tag| tag.name.to_lowercase()).collect()
}
