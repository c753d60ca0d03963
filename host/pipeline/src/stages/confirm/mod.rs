//! Confirmation: which changes need a person's approval before the commit: removed notes, dropped content, many notes
//! at once. The question shows the exact diff, and its approval is valid for that diff only. How a person is reached
//! (client, console, terminal) is decided elsewhere: this stage creates the question, refuses the call, and accepts the
//! approval when the call is repeated.

mod approval_diff;
pub(crate) mod question_text;

use notehost_sdk::Code;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::authorize::Allowed;
use super::conform::{Conformed, off_worker};
use super::run::Run;
use super::stop::Stop;
use crate::{CallError, Host, PendingApproval, PendingChange};
use notehost_config::{Confirm, ConfirmationSettings, Settings};
use notehost_platform::clock::now_millis;
use notehost_platform::random;
use notehost_policy::auth::{Caller, Entrance};
use notehost_policy::{
    ApprovalError, Approvals, CallWeights, Confirmed, DropCount, DropLedger, FrozenEnvironment,
    NotCounted, Question, VaultPlace,
};
use notehost_records::RecordsError;
use notehost_vault::{ChangeKind, CommitError, Effect, StagedChange, VaultError};
use question_text::{Losses, Reason};

/// Changes up to this size are processed on the answering thread.
const QUICK_BYTES: usize = 64 << 10;

/// A run that may be committed: it needs no approval, or a person gave it. Only [`confirm`] creates one.
#[must_use]
pub struct Committable {
    run: Box<Run>,
    changes: Arc<[StagedChange]>,
    counting: Option<Counting>,
}

impl Committable {
    pub(crate) fn into_parts(self) -> (Box<Run>, Arc<[StagedChange]>, Option<Counting>) {
        (self.run, self.changes, self.counting)
    }
}

/// Counts dropped content of a committed change, so that small steps add up.
pub(crate) struct Counting {
    drops: Arc<DropLedger>,
    count: DropCount,
}

impl Counting {
    /// Commits a change and counts it. If so much was dropped in the meantime that approval is required, the call runs again
    /// and requests it.
    pub(crate) fn land<T>(
        &self,
        land: impl FnOnce() -> Result<T, CommitError>,
    ) -> Result<T, CommitError> {
        let may_have_landed = |error: &CommitError| matches!(error, CommitError::Unsettled(_));
        match self.drops.land(&self.count, land, may_have_landed) {
            Ok(landed) => landed,
            Err(NotCounted::MeetsFloor) => Err(CommitError::Conflict { path: None }),
            Err(error @ NotCounted::Unavailable(_)) => Err(CommitError::Failed(VaultError::new(
                Code::Unavailable,
                format!("{error}; nothing was changed"),
            ))),
        }
    }
}

/// The decision on this call, and the environment that reproduces the change that the person saw.
pub struct Confirmation {
    approval: Option<String>,
    /// The approved change: one call does not ask twice about the same change.
    approved: Option<String>,
    confirmed: Option<Confirmed>,
    /// The clock and the randomness of every run of this call; `None` for actions that only read.
    frozen: Option<FrozenEnvironment>,
    /// `frozen` comes from a pending question.
    is_repeated: bool,
    /// The environment of the question was replaced, because no approval is required any more.
    is_renewed: bool,
}

impl Confirmation {
    /// The state at the beginning of a call: the approval that it brings, and the environment of its question.
    pub fn new(host: &Host, allowed: &Allowed) -> Result<Confirmation, CallError> {
        let approval = allowed.checked.found.request.approval.clone();
        let is_component = allowed.checked.found.domain.component.is_some();
        let pending = match &approval {
            Some(_) => pending_environment(host, allowed, approval.as_deref())?,
            None => None,
        };
        let is_repeated = pending.is_some();
        let frozen = match pending {
            Some(frozen) => Some(frozen),
            None if allowed.effect > Effect::Read && is_component => Some(fresh_environment(host)?),
            None => None,
        };
        Ok(Confirmation {
            approval,
            approved: None,
            confirmed: None,
            frozen,
            is_repeated,
            is_renewed: false,
        })
    }

    /// The fixed clock and random seed of every run of this call, if any.
    pub fn frozen(&self) -> Option<&FrozenEnvironment> {
        self.frozen.as_ref()
    }

    /// How a person confirmed it, if one did.
    pub(crate) fn confirmed(&self) -> Option<&Confirmed> {
        self.confirmed.as_ref()
    }
}

fn fresh_environment(host: &Host) -> Result<FrozenEnvironment, CallError> {
    let seed = random::bytes().map_err(|error| {
        CallError::new(
            Code::Unavailable,
            format!("the random number generator failed: {error}"),
        )
    })?;
    let stopped = host.stopped_clock().map(|now| now.milliseconds);
    Ok(FrozenEnvironment {
        milliseconds: stopped.unwrap_or_else(now_millis),
        seed,
    })
}

/// The environment of this call's pending question.
fn pending_environment(
    host: &Host,
    allowed: &Allowed,
    approval: Option<&str>,
) -> Result<Option<FrozenEnvironment>, CallError> {
    let frozen = host
        .approvals()
        .frozen(approval, &allowed.caller.key(), &allowed.binding());
    frozen.map_err(|error| CallError::new(Code::Unavailable, error.to_string()))
}

/// Lets a run pass, or refuses the call with a question to a person.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn confirm(
    host: &Host,
    allowed: &Allowed,
    confirmation: &mut Confirmation,
    conformed: Conformed,
) -> Result<Committable, Stop> {
    let _stage = allowed.clock.stage("confirm");
    let (run, changes) = conformed.into_parts();
    let settings = host.settings_of(&allowed.caller);
    let changes: Arc<[StagedChange]> = changes.into();
    let committable = |run, changes, counting| {
        Ok(Committable {
            run,
            changes,
            counting,
        })
    };
    let may_need_approval = may_need_approval(&settings, allowed, &changes);
    let is_quick = is_quick(&changes);
    let is_renamed = changes.iter().any(|change| change.from.is_some());
    if !may_need_approval && (allowed.checked.common.dry_run || !is_renamed) {
        return committable(run, changes, None);
    }
    let weights = {
        let weighed = changes.clone();
        let restored: BTreeSet<String> = changes
            .iter()
            .filter(|change| run.transaction.has_restored_bytes(&change.path))
            .map(|change| change.path.clone())
            .collect();
        let weigh = move || {
            let is_restored = |path: &str| restored.contains(path);
            Arc::new(CallWeights::with_restored(&weighed, is_restored))
        };
        off_worker(is_quick, weigh).await?
    };
    let mut counting = Counting {
        drops: host.drops().clone(),
        count: DropCount {
            caller: allowed.caller.key(),
            vault: allowed.vault.identity(),
            weights: weights.clone(),
            // A change that needs no approval does not count, but earlier drops of others move with a renamed note.
            is_approved: !may_need_approval,
        },
    };
    if !may_need_approval {
        return committable(run, changes, Some(counting));
    }
    let unavailable = |error: RecordsError| CallError::new(Code::Unavailable, error.to_string());
    let removes = allowed.effect == Effect::Delete;
    let max_notes = max_notes(&settings, allowed.caller.entrance());
    let reason = match reason_to_ask(removes, max_notes, &changes, &weights) {
        Some(reason) => Some(reason),
        None => {
            // It may wait until another commit of this vault is written.
            let only_adds = weights.only_adds();
            let (drops, count) = (counting.drops.clone(), counting.count.clone());
            let meets_floor = off_worker(only_adds, move || drops.meets_floor(&count)).await?;
            let meets_floor = meets_floor.map_err(unavailable)?;
            meets_floor.then_some(Reason::DropsMore)
        }
    };
    let Some(reason) = reason else {
        // Without a question the change need not be the one that was shown for an earlier one.
        let is_old = confirmation.is_repeated && confirmation.approved.is_none();
        if is_old && !confirmation.is_renewed && !allowed.egress.was_asked() {
            confirmation.is_renewed = true;
            confirmation.frozen = Some(fresh_environment(host)?);
            return Err(Stop::Rerun { conflict: None });
        }
        return committable(run, changes, Some(counting));
    };
    // The shown diff must be against the current files. This may wait for a commit that is being written.
    let is_undisturbed = run.transaction.is_undisturbed();
    let validate = move || (run.transaction.validate(), run);
    let (valid, run) = off_worker(is_undisturbed, validate).await?;
    valid?;
    counting.count.is_approved = true;
    let action = allowed.checked.found.full_name();
    let (change, summary, (diff, sent_diff)) = {
        let (action, shown) = (action.clone(), changes.clone());
        let (drops, count) = (counting.drops.clone(), counting.count.clone());
        let describe = move || {
            let of_others = drops.lost_of_others(&count)?;
            let losses = Losses::of(&shown, &weights, &of_others);
            Ok((
                digest(&shown),
                losses.summary(&action, reason),
                losses.diffs(),
            ))
        };
        off_worker(is_quick, describe).await?.map_err(unavailable)?
    };
    if confirmation.approved.as_ref() == Some(&change) {
        return committable(run, changes, Some(counting));
    }
    let summary = match allowed.is_named {
        true => format!("in the vault `{}`: {summary}", allowed.vault.id()),
        false => summary,
    };
    let question = Question {
        caller: allowed.caller.key(),
        action,
        vault: allowed.vault.id().to_owned(),
        place: VaultPlace {
            identity: allowed.vault.identity(),
            folder: allowed.vault.folder_name().to_owned(),
        },
        paths: touched(&changes),
        arguments: allowed.binding(),
        change,
        summary,
        diff,
        frozen: confirmation.frozen.clone(),
    };
    if let Some(id) = confirmation.approval.take() {
        match host.approvals().use_up(&id, &question) {
            Ok(confirmed) => {
                confirmation.approved = Some(question.change);
                confirmation.confirmed = Some(confirmed);
                return committable(run, changes, Some(counting));
            }
            // It has to be decided (again): below.
            Err(ApprovalError::OtherChange(_) | ApprovalError::Pending(_)) => {}
            Err(ApprovalError::Records(error)) => return Err(unavailable(error).into()),
            Err(error) => {
                return Err(CallError::new(
                    Code::ApprovalInvalid,
                    format!("{error}; call without `approval` to request a new one"),
                )
                .into());
            }
        }
    }
    // There is a pending question about the same call: with its clock and seed the call may stage the same change, and then
    // there is one question instead of two.
    if !confirmation.is_repeated
        && confirmation.frozen.is_some()
        && !allowed.egress.was_asked()
        && let Some(frozen) = pending_environment(host, allowed, None)?
    {
        confirmation.is_repeated = true;
        confirmation.frozen = Some(frozen);
        return Err(Stop::Rerun { conflict: None });
    }
    let seconds = match host.is_attended(&allowed.caller) {
        true => settings.confirmation.expires_seconds,
        // The person who decides is not waiting in front of a client.
        false => settings.confirmation.unattended_expires_seconds,
    };
    // The diff may be long: store it on a blocking thread.
    let approvals = host.approvals().clone();
    let ask = move || ask(&approvals, seconds, &question, &changes, &sent_diff);
    Err(off_worker(false, ask).await?.into())
}

fn ask(
    approvals: &Approvals,
    expires_seconds: u64,
    question: &Question,
    changes: &[StagedChange],
    sent_diff: &str,
) -> CallError {
    let expires_ms = i64::try_from(expires_seconds.saturating_mul(1000)).unwrap_or(i64::MAX / 4);
    let approval = match approvals.ask(question, expires_ms) {
        Ok(approval) => approval,
        Err(error @ ApprovalError::TooMany) => {
            return CallError::new(Code::Throttled, format!("{error}; nothing was changed"))
                .with_hint("decide them with `notehost approval list`, or let them expire");
        }
        Err(error) => return CallError::new(Code::Unavailable, error.to_string()),
    };
    let changes = changes.iter().map(|change| PendingChange {
        path: change.path.clone(),
        kind: change.kind,
        added: change.added,
        removed: change.removed,
    });
    let message = format!(
        "{}. Nothing was changed. A person has to approve it; then make the same call again with `approval`: `{}`",
        question.summary, approval.id
    );
    let hint = format!(
        "review it with `notehost approval show {id}`, decide with `notehost approval approve {id}` or `deny`",
        id = approval.id
    );
    let pending = PendingApproval {
        id: approval.id,
        expires: approval.expires,
        summary: question.summary.clone(),
        changes: changes.collect(),
        diff: sent_diff.to_owned(),
    };
    CallError::confirmation_required(message, pending).with_hint(hint)
}

/// Every path that changes touch.
fn touched(changes: &[StagedChange]) -> Vec<String> {
    let paths = changes
        .iter()
        .flat_map(|change| change.from.iter().chain([&change.path]));
    let paths: BTreeSet<String> = paths.cloned().collect();
    paths.into_iter().collect()
}

/// Whether changes of this call may need approval at all.
fn may_need_approval(settings: &Settings, allowed: &Allowed, changes: &[StagedChange]) -> bool {
    if allowed.checked.common.dry_run || changes.is_empty() {
        return false;
    }
    is_confirmed(settings, &allowed.caller)
}

/// Whether destructive changes of a caller are confirmed by a person at all.
pub(crate) fn is_confirmed(settings: &Settings, caller: &Caller) -> bool {
    // Over HTTP it cannot be switched off.
    caller.entrance() == Entrance::Http || settings.confirm != Confirm::Never
}

/// Why these changes need approval regardless of the caller's earlier changes.
fn reason_to_ask(
    removes: bool,
    max_notes: usize,
    changes: &[StagedChange],
    weights: &CallWeights,
) -> Option<Reason> {
    let is_removal = |change: &StagedChange| change.kind == ChangeKind::Delete;
    if removes || changes.iter().any(is_removal) {
        Some(Reason::Removes)
    } else if changes.len() > max_notes {
        Some(Reason::ManyNotes)
    } else if weights.drops_content() {
        Some(Reason::DropsContent)
    } else {
        None
    }
}

/// Whether these changes are small enough to be compared on the answering thread.
fn is_quick(changes: &[StagedChange]) -> bool {
    let length = |bytes: &Option<Arc<[u8]>>| bytes.as_ref().map_or(0, |bytes| bytes.len());
    let sizes = changes
        .iter()
        .map(|change| length(&change.before) + length(&change.after));
    sizes.sum::<usize>() <= QUICK_BYTES
}

/// How many notes may change without approval. Over HTTP the config can lower it, not raise it.
fn max_notes(settings: &Settings, entrance: Entrance) -> usize {
    let configured = settings.confirmation.notes;
    match entrance {
        Entrance::Http => configured.min(ConfirmationSettings::default().notes),
        Entrance::Stdio | Entrance::CommandLine => configured,
    }
}

/// Names a change exactly: the same digest is the same effect on the same notes.
fn digest(changes: &[StagedChange]) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut part = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    for change in changes {
        part(change.path.as_bytes());
        part(change.kind.as_str().as_bytes());
        part(change.from.as_deref().unwrap_or_default().as_bytes());
        part(change.before.as_deref().unwrap_or_default());
        part(change.after.as_deref().unwrap_or_default());
        part(change.etag_before.as_deref().unwrap_or_default().as_bytes());
        part(change.etag.as_deref().unwrap_or_default().as_bytes());
        part(&change.added.to_le_bytes());
        part(&change.removed.to_le_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modify(before: &str, after: &str) -> StagedChange {
        StagedChange::of_texts("a.md", before, after)
    }

    #[test]
    fn different_changes_have_different_digests() {
        let change = modify("a\n", "b\n");
        let of = |change: &StagedChange| digest(std::slice::from_ref(change));
        assert_eq!(of(&change), of(&change.clone()));
        let others = [
            modify("a\n", "c\n"),
            modify("x\n", "b\n"),
            StagedChange {
                path: "b.md".into(),
                ..change.clone()
            },
            StagedChange {
                kind: ChangeKind::Delete,
                ..change.clone()
            },
            StagedChange {
                from: Some("c.md".into()),
                ..change.clone()
            },
        ];
        for other in others {
            assert_ne!(of(&change), of(&other));
        }
    }
}
