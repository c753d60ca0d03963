//! Confirmation: which changes need a person's approval before the commit: removed notes, dropped content, many notes
//! at once. The question shows the exact diff, and its approval is valid for that diff only. How a person is reached
//! (client, console, terminal) is decided elsewhere: this stage creates the question, refuses the call, and accepts the
//! approval when the call is repeated.

use notehost_sdk::Code;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::authorize::Allowed;
use super::commit::kind_word;
use super::conform::{Staged, off_worker};
use super::question_text::{Losses, Reason};
use super::run::Ran;
use super::{CallError, Host};
use notehost_config::{Confirm, ConfirmationSettings, Settings};
use notehost_policy::auth::Entrance;
use notehost_policy::{
    ApprovalError, Approvals, CallWeights, Confirmed, DropCount, DropLedger, FrozenEnvironment,
    NotCounted, Question, VaultPlace,
};
use notehost_records::database::{DatabaseError, now_ms};
use notehost_vault::{ChangeKind, CommitError, Effect, StagedChange, VaultError};

/// Changes up to this size are processed on the answering thread.
const QUICK_BYTES: usize = 64 << 10;

/// A run that may be committed.
pub(super) enum ConfirmOutcome {
    Ran(Box<Ran>, Arc<[StagedChange]>, Option<Counting>),
    /// The vault changed while the action read it.
    Conflict(Option<String>),
}

/// Counts dropped content of a committed change, so that small steps add up.
pub(super) struct Counting {
    drops: Arc<DropLedger>,
    count: DropCount,
}

impl Counting {
    /// Commits a change and counts it. If so much was dropped meanwhile that approval is required, the call runs again
    /// and requests it.
    pub(super) fn land<T>(
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
pub(super) struct Confirmation {
    approval: Option<String>,
    /// The change that was approved: the same change is not asked about twice within one call.
    approved: Option<String>,
    confirmed: Option<Confirmed>,
    /// The clock and the randomness of every run of this call; `None` for actions that only read.
    frozen: Option<FrozenEnvironment>,
    /// They come from a pending question.
    is_repeated: bool,
    /// The question's environment was dropped: no approval is required any more.
    is_renewed: bool,
}

impl Confirmation {
    pub(super) fn of(host: &Host, allowed: &Allowed) -> Result<Confirmation, CallError> {
        let approval = allowed.checked.common.approval.clone();
        let is_component = allowed.checked.found.domain.component.is_some();
        let asked = match &approval {
            Some(_) => standing(host, allowed, approval.as_deref())?,
            None => None,
        };
        let is_repeated = asked.is_some();
        let frozen = match asked {
            Some(frozen) => Some(frozen),
            None if allowed.effect > Effect::Read && is_component => Some(fresh(host)?),
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

    /// The clock and the randomness that the call runs with, if they stand still.
    pub(super) fn frozen(&self) -> Option<&FrozenEnvironment> {
        self.frozen.as_ref()
    }

    /// How a person confirmed it, if one did.
    pub(super) fn confirmed(&self) -> Option<&Confirmed> {
        self.confirmed.as_ref()
    }
}

fn fresh(host: &Host) -> Result<FrozenEnvironment, CallError> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|error| {
        CallError::new(
            Code::Unavailable,
            format!("the random number generator failed: {error}"),
        )
    })?;
    let stopped = host.stopped_clock().map(|now| now.milliseconds);
    Ok(FrozenEnvironment {
        milliseconds: stopped.unwrap_or_else(|| u64::try_from(now_ms()).unwrap_or_default()),
        seed,
    })
}

/// The environment of this call's pending question.
fn standing(
    host: &Host,
    allowed: &Allowed,
    approval: Option<&str>,
) -> Result<Option<FrozenEnvironment>, CallError> {
    let asked = host
        .approvals()
        .frozen(approval, &allowed.caller.key(), &allowed.binding());
    asked.map_err(|error| CallError::new(Code::Unavailable, error.to_string()))
}

/// Let a run pass, or ask.
pub(super) async fn confirm(
    host: &Host,
    allowed: &Allowed,
    confirmation: &mut Confirmation,
    staged: Staged,
) -> Result<ConfirmOutcome, CallError> {
    let (ran, changes) = match staged {
        Staged::Ran(ran, changes) => (ran, changes),
        Staged::Conflict => return Ok(ConfirmOutcome::Conflict(None)),
    };
    let settings = host.settings();
    let changes: Arc<[StagedChange]> = changes.into();
    let is_asked = is_asked(&settings, allowed, &changes);
    let is_quick = is_quick(&changes);
    let is_renamed = changes.iter().any(|change| change.from.is_some());
    if !is_asked && (allowed.checked.common.dry_run || !is_renamed) {
        return Ok(ConfirmOutcome::Ran(ran, changes, None));
    }
    let weights = {
        let weighed = changes.clone();
        let restored: BTreeSet<String> = changes
            .iter()
            .filter(|change| ran.transaction.has_restored_bytes(&change.path))
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
            // What nobody is asked about counts for nothing, but what others dropped goes with a note that is renamed.
            is_approved: !is_asked,
        },
    };
    if !is_asked {
        return Ok(ConfirmOutcome::Ran(ran, changes, Some(counting)));
    }
    let unavailable = |error: DatabaseError| CallError::new(Code::Unavailable, error.to_string());
    let removes = allowed.effect == Effect::Delete;
    let most = most_notes(&settings, allowed.caller.entrance());
    let reason = match reason_to_ask(removes, most, &changes, &weights) {
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
        // What needs no person need not be what a person saw some time ago.
        let is_old = confirmation.is_repeated && confirmation.approved.is_none();
        if is_old && !confirmation.is_renewed && !allowed.outside.was_asked() {
            confirmation.is_renewed = true;
            confirmation.frozen = Some(fresh(host)?);
            return Ok(ConfirmOutcome::Conflict(None));
        }
        return Ok(ConfirmOutcome::Ran(ran, changes, Some(counting)));
    };
    // What is shown must be what is there. If another commit landed meanwhile, this waits for the one that is landing.
    let is_undisturbed = ran.transaction.is_undisturbed();
    let validate = move || (ran.transaction.validate(), ran);
    let (valid, ran) = off_worker(is_undisturbed, validate).await?;
    match valid {
        Ok(()) => {}
        Err(CommitError::Conflict { path }) => return Ok(ConfirmOutcome::Conflict(path)),
        Err(CommitError::Failed(error) | CommitError::Unsettled(error)) => {
            return Err(error.into());
        }
    }
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
        return Ok(ConfirmOutcome::Ran(ran, changes, Some(counting)));
    }
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
                return Ok(ConfirmOutcome::Ran(ran, changes, Some(counting)));
            }
            // It has to be decided (again): below.
            Err(ApprovalError::OtherChange(_) | ApprovalError::Pending(_)) => {}
            Err(ApprovalError::Database(error)) => return Err(unavailable(error)),
            Err(error) => {
                return Err(CallError::new(
                    Code::ApprovalInvalid,
                    format!("{error}; call without `approval` to request a new one"),
                ));
            }
        }
    }
    // The same call was asked about before: with that clock and that randomness it may stage the same change, and then
    // there is one question instead of two.
    if !confirmation.is_repeated
        && confirmation.frozen.is_some()
        && !allowed.outside.was_asked()
        && let Some(frozen) = standing(host, allowed, None)?
    {
        confirmation.is_repeated = true;
        confirmation.frozen = Some(frozen);
        return Ok(ConfirmOutcome::Conflict(None));
    }
    let seconds = match host.is_attended(&allowed.caller) {
        true => settings.confirmation.expires_seconds,
        // The person who decides is not waiting in front of a client.
        false => settings.confirmation.unattended_expires_seconds,
    };
    // The diff may be long.
    let approvals = host.approvals().clone();
    let ask = move || ask(&approvals, seconds, &question, &changes, &sent_diff);
    Err(off_worker(false, ask).await?)
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
    let listed: Vec<Value> = changes
        .iter()
        .map(|change| {
            json!({
                "path": change.path,
                "kind": kind_word(change.kind),
                "added": change.added,
                "removed": change.removed,
            })
        })
        .collect();
    CallError::new(
        Code::ConfirmationRequired,
        format!(
            "{}. Nothing was changed. A person has to approve it; then make the same call again with `approval`: `{}`",
            question.summary, approval.id
        ),
    )
    .with_hint(format!(
        "review it with `notehost approval show {id}`, decide with `notehost approval approve {id}` or `deny`",
        id = approval.id
    ))
    .with_details(json!({
        "approval": approval.id,
        "expires_at": approval.expires,
        "summary": question.summary,
        "changes": listed,
        "diff": sent_diff,
    }))
}

/// Every path that changes touch.
fn touched(changes: &[StagedChange]) -> Vec<String> {
    let paths = changes
        .iter()
        .flat_map(|change| change.from.iter().chain([&change.path]));
    let paths: BTreeSet<String> = paths.cloned().collect();
    paths.into_iter().collect()
}

/// Whether anybody is asked about changes of this call at all.
fn is_asked(settings: &Settings, allowed: &Allowed, changes: &[StagedChange]) -> bool {
    if allowed.checked.common.dry_run || changes.is_empty() {
        return false;
    }
    // Over HTTP nobody can switch it off.
    allowed.caller.entrance() == Entrance::Http || settings.confirm != Confirm::Never
}

/// Why these changes need approval regardless of the caller's earlier changes.
fn reason_to_ask(
    removes: bool,
    most_notes: usize,
    changes: &[StagedChange],
    weights: &CallWeights,
) -> Option<Reason> {
    let is_removal = |change: &StagedChange| change.kind == ChangeKind::Delete;
    if removes || changes.iter().any(is_removal) {
        Some(Reason::Removes)
    } else if changes.len() > most_notes {
        Some(Reason::ManyNotes)
    } else if weights.drops_content() {
        Some(Reason::DropsContent)
    } else {
        None
    }
}

/// Whether the words of these changes are gone through in a moment.
fn is_quick(changes: &[StagedChange]) -> bool {
    let length = |bytes: &Option<Arc<[u8]>>| bytes.as_ref().map_or(0, |bytes| bytes.len());
    let sizes = changes
        .iter()
        .map(|change| length(&change.before) + length(&change.after));
    sizes.sum::<usize>() <= QUICK_BYTES
}

/// How many notes may change unasked. Over HTTP the config can lower it, not raise it.
fn most_notes(settings: &Settings, entrance: Entrance) -> usize {
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
        part(kind_word(change.kind).as_bytes());
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
    use notehost_vault::LineDiff;

    fn modify(before: &str, after: &str) -> StagedChange {
        let lines = |text: &str| text.lines().count() as u64;
        StagedChange {
            path: "a.md".into(),
            kind: ChangeKind::Modify,
            from: None,
            before: Some(before.as_bytes().into()),
            after: Some(after.as_bytes().into()),
            etag_before: Some("before".into()),
            etag: None,
            added: lines(after),
            removed: lines(before),
            lines: LineDiff::default(),
        }
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
