//! Commits the staged changes atomically, or only shows them in a dry run. What the call has read is checked first, so
//! that no concurrent change is lost.

use notehost_sdk::Code;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use super::authorize::Allowed;
use super::circuit_breaker::Cleared;
use super::confirm::Committable;
use super::conform::{QUICK_BYTES, off_worker};
use super::stop::Stop;
use crate::capabilities::egress::CallEgress;
use crate::{CallError, Content, Host, Reply};
use notehost_platform::clock::now_ms;
use notehost_records::audit::EventKind;
use notehost_runtime::{GuestContent, Notice};
use notehost_vault::{
    CommitError, CommitNote, StagedChange, Transaction, VaultError, contained, reply_point,
    unified_diff,
};

/// How often a call is retried, and for how long at least, before a conflict is returned: on a busy machine many
/// attempts take almost no time.
const MAX_ATTEMPTS: u32 = 40;
const MAX_RETRY_TIME: Duration = Duration::from_secs(15);
/// How often a call is retried that sends requests in each attempt.
const MAX_ATTEMPTS_WITH_REQUESTS: u32 = 4;

/// The maximum size of the diffs of one reply, larger than any reply may be.
const MAX_DIFF_BYTES: usize = 2 << 20;

/// A reply whose changes are on disk, or were only shown in a dry run. Only [`commit`] creates one.
#[must_use]
pub struct Landed {
    pub(crate) text: String,
    pub(crate) structured: Map<String, Value>,
    pub(crate) content: Vec<Content>,
    pub(crate) footprint: Footprint,
    /// Messages of the component to people.
    notices: Vec<Notice>,
}

impl Landed {
    /// A change that landed and whose reply was lost in a panic; `None` if nothing changed.
    fn without_reply(footprint: Footprint) -> Option<Landed> {
        let reply = footprint
            .is_landed
            .then(|| Reply::without_words(footprint.change.as_deref()))?;
        Some(Landed {
            text: reply.text,
            structured: reply.structured,
            content: reply.content,
            footprint,
            notices: Vec::new(),
        })
    }

    /// Publishes the notices of the component to people.
    pub(crate) fn publish_notices(&self, host: &Host, allowed: &Allowed) {
        for notice in &self.notices {
            let event = EventKind::Notice {
                caller: allowed.caller.name().to_owned(),
                domain: allowed.checked.found.domain.name.clone(),
                vault: allowed.vault.id().to_owned(),
                level: notice.level,
                message: notice.message.clone(),
            };
            host.audit().events().publish(now_ms(), event);
        }
    }
}

/// What a call changed on disk, for the records.
#[derive(Clone, Default)]
pub(crate) struct Footprint {
    /// Whether anything changed: notes, folders, or the store of a component.
    pub(crate) is_landed: bool,
    pub(crate) paths: Vec<String>,
    pub(crate) bytes_added: u64,
    pub(crate) bytes_removed: u64,
    pub(crate) bytes_written: u64,
    pub(crate) change: Option<String>,
}

impl Footprint {
    fn of(changes: &[StagedChange], change: &Option<String>, is_landed: bool) -> Footprint {
        let mut footprint = Footprint {
            is_landed,
            change: change.clone(),
            ..Footprint::default()
        };
        if change.is_none() {
            return footprint;
        }
        for change in changes {
            let length =
                |bytes: &Option<Arc<[u8]>>| bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
            let (before, after) = (length(&change.before), length(&change.after));
            footprint.bytes_added += after.saturating_sub(before);
            footprint.bytes_removed += before.saturating_sub(after);
            footprint.bytes_written += after;
            footprint.paths.push(change.path.clone());
        }
        footprint
    }
}

/// Counts how often a call has been run, and since when.
pub(crate) struct Attempts(u32, Instant);

impl Attempts {
    pub(crate) fn new() -> Attempts {
        Attempts(0, Instant::now())
    }

    /// Waits before the next attempt, or gives up.
    pub(crate) async fn wait(
        &mut self,
        path: Option<String>,
        egress: &CallEgress,
    ) -> Result<(), CallError> {
        self.0 += 1;
        let what = path.map_or_else(|| "the vault".to_owned(), |path| format!("`{path}`"));
        if egress.may_have_changed() {
            let message = format!(
                "{what} changed while the call ran; no note was changed. The call was not repeated because it had \
                already sent a request that may have changed something elsewhere: check there before \
                you try again"
            );
            return Err(CallError::new(Code::Conflict, message));
        }
        let is_enough = self.0 >= MAX_ATTEMPTS && self.1.elapsed() > MAX_RETRY_TIME;
        if is_enough || egress.was_asked() && self.0 >= MAX_ATTEMPTS_WITH_REQUESTS {
            let message =
                format!("{what} kept changing while the call ran; nothing was changed, try again");
            return Err(CallError::new(Code::Conflict, message));
        }
        tokio::time::sleep(jitter(self.0)).await;
        Ok(())
    }
}

/// Longer with each attempt, and random, so that two calls do not conflict again and again.
fn jitter(attempt: u32) -> Duration {
    use std::hash::{BuildHasher as _, RandomState};
    let most = 1000 * (1u64 << attempt.min(6));
    Duration::from_micros(RandomState::new().hash_one(attempt) % most)
}

/// Commits the staged changes, or shows them.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn commit(
    allowed: &Allowed,
    cleared: &Cleared<'_>,
    committable: Committable,
) -> Result<Landed, Stop> {
    let _stage = allowed.clock.stage("commit");
    let (run, changes, counting) = committable.into_parts();
    let mut run = *run;
    let claim = cleared.claim();
    let is_quick = run.transaction.bytes_to_compare() <= QUICK_BYTES;
    let content = shown_content(run.content, allowed.vault.id(), &mut run.transaction);
    let is_idle = run.transaction.has_no_changes();
    let dry_run = allowed.checked.common.dry_run;
    let (mut change, mut is_landed) = (None, false);
    if dry_run || is_idle {
        let mut transaction = run.transaction;
        if dry_run {
            // A dry run does not show what may no longer be done.
            allowed.live_rights.renew(&mut transaction)?;
            transaction.check_rights()?;
        }
        let is_undisturbed = transaction.is_undisturbed();
        let valid = off_worker(is_undisturbed, move || transaction.validate()).await?;
        valid?;
    } else {
        let request = &allowed.checked.found.request;
        let note = CommitNote {
            caller: allowed.caller.label(),
            action: format!("{}.{}", request.domain, request.action),
            key: claim.in_history(),
        };
        // On a separate thread, and not ended by a caller who gives up: a commit that has begun is not cancelled. The claim
        // lives as long as the commit, even if no caller waits for it any more.
        claim.set_committing(true);
        let claimed = claim.clone();
        let live_rights = allowed.live_rights.clone();
        let committed = tokio::task::spawn_blocking(move || {
            // Staged changes that are no longer permitted are not committed.
            let land = || {
                run.transaction
                    .commit_if(note, |transaction| live_rights.renew(transaction))
            };
            let committed = match &counting {
                // Dropped content is counted together with the commit.
                Some(counting) => counting.land(land),
                None => land(),
            };
            // An unsettled commit may still happen at the next start: the key stays claimed.
            if matches!(
                committed,
                Err(CommitError::Conflict { .. } | CommitError::Failed(_))
            ) {
                claimed.set_committing(false);
            }
            committed
        })
        .await;
        match committed {
            Ok(Ok(committed)) => (change, is_landed) = (committed.change, committed.is_landed),
            Ok(Err(error)) => return Err(error.into()),
            Err(error) => {
                tracing::error!("the commit task failed: {error}");
                return Err(VaultError::broken("the commit failed").into());
            }
        }
    }
    let (changes, diffs) = match dry_run {
        true => off_worker(is_quick, move || with_diffs(changes)).await?,
        false => (changes, Vec::new()),
    };
    // A committed change is reported as committed, even if building the reply panics.
    let footprint = Footprint::of(&changes, &change, is_landed);
    let landed = contained(|| {
        reply_point("reply-landed");
        // Actions of the host itself change no notes.
        let is_component = allowed.checked.found.domain.component.is_some();
        let writes = allowed.effect > notehost_vault::Effect::Read && is_component;
        Landed {
            text: match (writes, dry_run) {
                (true, true) => with_diff_list(&run.text, &changes, &diffs),
                (true, false) => with_change_list(&run.text, &changes, change.as_deref(), is_idle),
                (false, _) => run.text,
            },
            structured: if writes || dry_run {
                let diffs = dry_run.then_some(diffs);
                with_changes(run.structured, &changes, change.clone(), diffs)
            } else {
                run.structured
            },
            content,
            // A dry run publishes no notices.
            notices: if dry_run { Vec::new() } else { run.notices },
            footprint: footprint.clone(),
        }
    });
    match landed.or_else(|| Landed::without_reply(footprint)) {
        Some(landed) => Ok(landed),
        None => Err(VaultError::broken("the reply could not be built").into()),
    }
}

/// The changes with a diff for each, as long as all of them together are not too long to be sent.
fn with_diffs(changes: Arc<[StagedChange]>) -> (Arc<[StagedChange]>, Vec<String>) {
    let mut length = 0;
    let diffs = changes.iter().map(|change| {
        let diff = match length > MAX_DIFF_BYTES {
            true => "… summarised: the diffs before this one are too long already\n".to_owned(),
            false => unified_diff(change),
        };
        length += diff.len();
        diff
    });
    let diffs = diffs.collect();
    (changes, diffs)
}

fn with_changes(
    mut structured: Map<String, Value>,
    changes: &[StagedChange],
    change: Option<String>,
    diffs: Option<Vec<String>>,
) -> Map<String, Value> {
    let dry_run = diffs.is_some();
    let mut diffs = diffs.unwrap_or_default().into_iter();
    let listed: Vec<Value> = changes
        .iter()
        .map(|change| change_as_json(change, diffs.next()))
        .collect();
    structured.insert("changes".into(), listed.into());
    if let Some(change) = change {
        structured.insert("change".into(), change.into());
    }
    if dry_run {
        structured.insert("dry_run".into(), true.into());
    }
    structured
}

fn change_as_json(change: &StagedChange, diff: Option<String>) -> Value {
    let mut listed = Map::new();
    listed.insert("path".into(), change.path.clone().into());
    listed.insert("kind".into(), change.kind.as_str().into());
    if let Some(from) = &change.from {
        listed.insert("from".into(), from.clone().into());
    }
    if let Some(etag) = &change.etag {
        listed.insert("etag".into(), etag.clone().into());
    }
    listed.insert("added".into(), change.added.into());
    listed.insert("removed".into(), change.removed.into());
    if let Some(diff) = diff {
        listed.insert("diff".into(), diff.into());
    }
    listed.into()
}

/// How many changes are listed in a reply's text.
const MAX_LISTED_CHANGES: usize = 10;

/// The action's text, and one line per change.
fn with_change_list(
    text: &str,
    changes: &[StagedChange],
    id: Option<&str>,
    is_idle: bool,
) -> String {
    let mut lines = vec![text.trim_end().to_owned()];
    if is_idle {
        lines.push("Nothing changed.".to_owned());
    }
    lines.extend(changes.iter().take(MAX_LISTED_CHANGES).map(change_line));
    lines.extend(more(changes));
    lines.extend(id.map(|id| format!("Change {id} (can be undone).")));
    joined(&lines)
}

/// The same for a dry run: the text that the action would return, with the changes as diffs.
fn with_diff_list(text: &str, changes: &[StagedChange], diffs: &[String]) -> String {
    let mut lines = vec![
        "Dry run: nothing was changed. Without `dry_run`:".to_owned(),
        text.trim_end().to_owned(),
    ];
    for (change, diff) in changes.iter().zip(diffs).take(MAX_LISTED_CHANGES) {
        lines.push(change_line(change));
        lines.push(diff.trim_end().to_owned());
    }
    lines.extend(more(changes));
    joined(&lines)
}

fn change_line(change: &StagedChange) -> String {
    let moved = change
        .from
        .as_ref()
        .map(|from| format!(" (was {from})"))
        .unwrap_or_default();
    let kind = change.kind.as_str();
    format!(
        "{kind} {}{moved} +{} −{}",
        change.path, change.added, change.removed
    )
}

fn more(changes: &[StagedChange]) -> Option<String> {
    let more = changes.len().saturating_sub(MAX_LISTED_CHANGES);
    (more > 0).then(|| format!("and {more} more"))
}

fn joined(lines: &[String]) -> String {
    let lines: Vec<&str> = lines
        .iter()
        .map(String::as_str)
        .filter(|line| !line.is_empty())
        .collect();
    lines.join("\n")
}

/// Pictures, sounds, and links to what this call can see. What a link names is controlled by the component: the transaction
/// looks it up, also among what was staged, and spells it.
fn shown_content(
    content: Vec<GuestContent>,
    vault: &str,
    transaction: &mut Transaction,
) -> Vec<Content> {
    let shown = content.into_iter().filter_map(|content| match content {
        GuestContent::Image { bytes, mime } => Some(Content::Image { bytes, mime }),
        GuestContent::Audio { bytes, mime } => Some(Content::Audio { bytes, mime }),
        GuestContent::Link(path) => transaction.stat(&path).ok().map(|entry| Content::Link {
            vault: vault.to_owned(),
            path: entry.path,
        }),
    });
    shown.collect()
}
