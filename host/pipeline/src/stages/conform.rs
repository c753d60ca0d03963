//! Checks staged changes against the rules for every component: `if_match` holds, and the tag policy allows their new
//! tags.

use notehost_sdk::Code;
use std::collections::{BTreeSet, HashSet};
use std::time::{Duration, Instant};

use notehost_sdk::index::{Tags, TagsQuery};
use notehost_sdk::text;
use serde_json::{Map, Value, json};

use super::authorize::Allowed;
use super::run::{Ran, Run};
use super::stop::Stop;
use crate::{CallError, Host};
use notehost_config::TagPolicy;
use notehost_index::{Index, Question};
use notehost_vault::{Access, Effect, Limits, StagedChange, Transaction, VaultError};

/// How long the tag policy waits for an index that is being built.
const INDEX_TIMEOUT: Duration = Duration::from_secs(10);
/// Staged changes up to this size, before and after together, are compared on the answering thread: small enough that
/// a diff takes a few milliseconds even if every second byte is a line of its own.
pub(crate) const QUICK_BYTES: u64 = 4 << 10;
/// Replies up to this size are parsed, measured and cut on an async worker.
pub(crate) const QUICK_REPLY_BYTES: usize = 256 << 10;
/// The maximum number of existing tags in the details.
const MAX_TAGS_IN_DETAILS: usize = 200;
/// The maximum number of refused tags in the message.
const MAX_TAGS_NAMED: usize = 20;

/// A run whose staged changes satisfy `if_match` and the tag policy. Only [`conform`] creates one.
#[must_use]
pub struct Conformed {
    run: Box<Run>,
    changes: Vec<StagedChange>,
}

impl Conformed {
    pub(crate) fn into_parts(self) -> (Box<Run>, Vec<StagedChange>) {
        (self.run, self.changes)
    }
}

/// Checks what was staged.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn conform(host: &Host, allowed: &Allowed, ran: Ran) -> Result<Conformed, Stop> {
    let _stage = allowed.clock.stage("conform");
    let Ran(run) = ran;
    let is_quick = run.transaction.bytes_to_compare() <= QUICK_BYTES;
    let watches_tags = host.settings().tags.policy == TagPolicy::Existing;
    let compared = move || {
        let changes = run.transaction.changes();
        let new_tags = match watches_tags {
            true => new_tags(&changes),
            false => Vec::new(),
        };
        (run, changes, new_tags)
    };
    let (run, changes, new_tags) = off_worker(is_quick, compared).await?;
    if let Some(etag) = &allowed.checked.common.if_match {
        require_match(etag, &changes, &run.transaction)?;
    }
    if !new_tags.is_empty() {
        refuse_new_tags(allowed, new_tags).await?;
    }
    Ok(Conformed { run, changes })
}

/// Checks `if_match`: one of the changed or read notes must still have that etag.
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
        Code::Conflict,
        format!("no note has the etag `{etag}` any more: read the note again"),
    )
    .with_details(json!({ "etags": now })))
}

/// Processes staged changes here if they are small, else on a blocking thread.
pub(crate) async fn off_worker<T: Send + 'static>(
    is_quick: bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, CallError> {
    if is_quick {
        return Ok(work());
    }
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        tracing::error!("comparing the staged changes failed: {error}");
        CallError::new(
            Code::InternalError,
            "internal error in the host; nothing was changed",
        )
    })
}

/// The tags that none of the changed notes had before.
fn new_tags(changes: &[StagedChange]) -> Vec<String> {
    let mut known = BTreeSet::new();
    let mut wanted = BTreeSet::new();
    for change in changes {
        known.extend(tags_of(change.before.as_deref()));
        wanted.extend(tags_of(change.after.as_deref()));
    }
    wanted.difference(&known).cloned().collect()
}

/// Refuses tags that no note visible to this caller has yet.
async fn refuse_new_tags(allowed: &Allowed, new: Vec<String>) -> Result<(), CallError> {
    let reading = allowed.vault.begin(Access {
        rules: allowed.rules.clone(),
        effect: Effect::Read,
        component: allowed.checked.found.domain.name.clone(),
        limits: Limits::default(),
    });
    // The index may still be busy: do not block a thread that answers calls.
    let index = allowed.index.clone();
    let compared = move || {
        let mut usable = existing_tags(&index, reading)?;
        let known: HashSet<String> = usable.iter().map(|tag| tag.to_lowercase()).collect();
        let unknown = new.into_iter().filter(|tag| !known.contains(tag));
        let unknown: Vec<String> = unknown.collect();
        usable.truncate(MAX_TAGS_IN_DETAILS);
        Ok((unknown, usable))
    };
    let (mut unknown, usable) = tokio::task::spawn_blocking(compared)
        .await
        .unwrap_or_else(|error| Err(VaultError::broken(&error.to_string())))?;
    if unknown.is_empty() {
        return Ok(());
    }
    let more = match unknown.len().saturating_sub(MAX_TAGS_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    unknown.truncate(MAX_TAGS_NAMED);
    let named: Vec<String> = unknown.iter().map(|tag| format!("`#{tag}`")).collect();
    let shown: Vec<String> = usable
        .iter()
        .take(MAX_TAGS_NAMED)
        .map(|tag| format!("#{tag}"))
        .collect();
    Err(CallError::new(
        Code::ValidationError,
        format!(
            "no note has the tag {}{more} yet, and only existing tags are allowed here: use one that exists ({}), or ask the user first",
            named.join(", "),
            shown.join(", ")
        ),
    )
    .with_hint("an admin can allow new tags: `tags.policy = \"open\"` in the config")
    .with_details(json!({ "new_tags": unknown, "allowed": usable })))
}

/// The tags of notes and their parents, the most used first.
fn existing_tags(index: &Index, mut reading: Transaction) -> Result<Vec<String>, VaultError> {
    let query = TagsQuery {
        by_count: true,
        limit: u32::MAX,
        ..TagsQuery::default()
    };
    index.start();
    if !index.wait(Some(Instant::now() + INDEX_TIMEOUT)) {
        return Err(VaultError::new(
            Code::Unavailable,
            "the index is still being built and the existing tags are not known yet: try again",
        ));
    }
    let tags: Tags = index.ask(&mut reading, Question::Tags(query))?.try_into()?;
    Ok(tags.items.into_iter().map(|tag| tag.tag).collect())
}

/// The tags of a text, in lowercase.
fn tags_of(bytes: Option<&[u8]>) -> BTreeSet<String> {
    let text = std::str::from_utf8(bytes.unwrap_or_default()).unwrap_or_default();
    let tags = text::tags(text).into_iter();
    tags.map(|tag| tag.name.to_lowercase()).collect()
}
