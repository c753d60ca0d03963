//! Whether what an action staged keeps the rules that hold for every component: the notes are those that the caller had
//! read, and they get no tags that the vault's owner does not want.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use notehost_sdk::index::{Tags, TagsOf};
use notehost_sdk::text;
use serde_json::{Map, Value, json};

use super::authorize::Allowed;
use super::run::{Attempt, Ran};
use super::{CallError, Host};
use crate::config::TagPolicy;
use crate::index::{Answer, Index, Question};
use crate::vault::{Access, Effect, Limits, StagedChange, Transaction, VaultError};

/// How long is waited for an index that is being built.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many of the tags that may be used are told.
const MOST_TAGS_TOLD: usize = 200;

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
    // The index may still be at work: not on a thread that answers calls.
    let index = allowed.index.clone();
    let there = tokio::task::spawn_blocking(move || tags_there(&index, looking))
        .await
        .unwrap_or_else(|error| Err(VaultError::broken(&error.to_string())))?;
    let is_there = |tag: &str| there.iter().any(|known| known.to_lowercase() == tag);
    let unknown: Vec<String> = new.into_iter().filter(|tag| !is_there(tag)).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let named: Vec<String> = unknown.iter().map(|tag| format!("`#{tag}`")).collect();
    let usable: Vec<String> = there.iter().take(MOST_TAGS_TOLD).cloned().collect();
    let shown: Vec<String> = usable
        .iter()
        .take(20)
        .map(|tag| format!("#{tag}"))
        .collect();
    Err(CallError::new(
        "validation_error",
        format!(
            "no note has the tag {} yet, and only existing tags are allowed here: use one that exists ({}), or ask the user first",
            named.join(", "),
            shown.join(", ")
        ),
    )
    .with_hint("an admin can allow new tags: `tags.policy = \"open\"` in the config")
    .with_details(json!({ "new_tags": unknown, "allowed": usable })))
}

/// The tags that notes have, and those above them, the most used first.
fn tags_there(index: &Index, mut looking: Transaction) -> Result<Vec<String>, VaultError> {
    let asked = TagsOf {
        by_count: true,
        limit: u32::MAX,
        ..TagsOf::default()
    };
    index.start();
    if !index.wait(Some(Instant::now() + PATIENCE)) {
        return Err(VaultError::new(
            "unavailable",
            "the index is still being built, so it cannot be told which tags exist: try again",
        ));
    }
    match index.ask(&mut looking, Question::Tags(asked))? {
        Answer::Json(json) => {
            let tags: Tags = serde_json::from_str(&json).unwrap_or_default();
            Ok(tags.items.into_iter().map(|tag| tag.tag).collect())
        }
        Answer::Paths(_) => Ok(Vec::new()),
    }
}

/// The tags of a text, spelt alike.
fn tags_of(bytes: Option<&[u8]>) -> BTreeSet<String> {
    let text = std::str::from_utf8(bytes.unwrap_or_default()).unwrap_or_default();
    let tags = text::tags(text).into_iter();
    tags.map(|tag| tag.name.to_lowercase()).collect()
}
