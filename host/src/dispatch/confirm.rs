//! What a person must have seen before it lands: that notes are removed, that content is dropped, that many notes
//! change at once. The question shows the exact diff, and its approval holds for that diff only. How a person is
//! reached (by the client, in the console, at a terminal) is none of this stage's affair: it asks, refuses, and
//! recognises the approval when the call comes again.

use std::collections::HashMap;

use notehost_sdk::text::links;
use serde_json::{Value, json};

use super::authorize::Allowed;
use super::commit::kind_word;
use super::conform::Staged;
use super::run::Ran;
use super::{CallError, Host};
use crate::auth::Entrance;
use crate::config::{Confirm, ConfirmationSettings, Settings};
use crate::policy::{ApprovalError, Question};
use crate::vault::{ChangeKind, Effect, StagedChange, unified_diff};

/// The longest diff that is put into a question.
const MOST_DIFF: usize = 256 << 10;
/// How many paths a summary names.
const MOST_NAMED: usize = 5;
/// A note that loses so many lines more than it gains has content dropped, however long it is.
const MANY_LINES: u64 = 20;

/// A run that may land.
pub(super) enum Settled {
    Ran(Box<Ran>, Vec<StagedChange>),
    /// The vault changed while the action looked at it.
    Torn(Option<String>),
}

/// What a person said about this call.
pub(super) struct Confirmation {
    approval: Option<String>,
    /// The change that was approved: the same change is not asked about twice within one call.
    approved: Option<String>,
}

impl Confirmation {
    pub(super) fn of(allowed: &Allowed) -> Confirmation {
        Confirmation {
            approval: allowed.checked.common.approval.clone(),
            approved: None,
        }
    }
}

/// Let a run pass, or ask.
pub(super) fn confirm(
    host: &Host,
    allowed: &Allowed,
    confirmation: &mut Confirmation,
    staged: Staged,
) -> Result<Settled, CallError> {
    let (ran, changes) = match staged {
        Staged::Ran(ran, changes) => (ran, changes),
        Staged::Torn => return Ok(Settled::Torn(None)),
    };
    let settings = host.settings();
    let Some(reason) = reason_to_ask(&settings, allowed, &changes) else {
        return Ok(Settled::Ran(ran, changes));
    };
    // What is shown must be what is there.
    if let Err(conflict) = ran.transaction.validate() {
        return Ok(Settled::Torn(conflict.path));
    }
    let question = Question {
        caller: allowed.caller.key(),
        action: allowed.checked.found.full_name(),
        vault: allowed.vault.id().to_owned(),
        arguments: allowed.binding(),
        change: digest(&changes),
        summary: summary(allowed, &changes, reason),
        diff: whole_diff(&changes),
    };
    if confirmation.approved.as_ref() == Some(&question.change) {
        return Ok(Settled::Ran(ran, changes));
    }
    if let Some(id) = confirmation.approval.take() {
        match host.approvals().use_up(&id, &question) {
            Ok(()) => {
                confirmation.approved = Some(question.change);
                return Ok(Settled::Ran(ran, changes));
            }
            // It has to be decided (again): below.
            Err(ApprovalError::OtherChange(_) | ApprovalError::Pending(_)) => {}
            Err(ApprovalError::Database(error)) => {
                return Err(CallError::new("unavailable", error.to_string()));
            }
            Err(error) => {
                return Err(CallError::new(
                    "approval_invalid",
                    format!("{error}; call without `approval` to ask anew"),
                ));
            }
        }
    }
    Err(ask(host, &settings, &question, &changes))
}

fn ask(
    host: &Host,
    settings: &Settings,
    question: &Question,
    changes: &[StagedChange],
) -> CallError {
    let expires_ms = settings.confirmation.expires_seconds.saturating_mul(1000);
    let expires_ms = i64::try_from(expires_ms).unwrap_or(i64::MAX / 2);
    let approval = match host.approvals().ask(question, expires_ms) {
        Ok(approval) => approval,
        Err(error @ ApprovalError::TooMany) => {
            return CallError::new("throttled", format!("{error}; nothing was changed"))
                .with_hint("decide them with `notehost approval list`, or let them expire");
        }
        Err(error) => return CallError::new("unavailable", error.to_string()),
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
        "confirmation_required",
        format!(
            "{}. Nothing was changed. A person has to approve it; then make the same call again with `approval`: `{}`",
            question.summary, approval.id
        ),
    )
    .with_hint(format!(
        "look at it with `notehost approval show {id}`, decide with `notehost approval approve {id}` or `deny`",
        id = approval.id
    ))
    .with_details(json!({
        "approval": approval.id,
        "expires_at": approval.expires,
        "summary": question.summary,
        "changes": listed,
        "diff": question.diff,
    }))
}

/// Why a person should see these changes first, if there is a reason.
fn reason_to_ask(
    settings: &Settings,
    allowed: &Allowed,
    changes: &[StagedChange],
) -> Option<&'static str> {
    if allowed.checked.common.dry_run || changes.is_empty() {
        return None;
    }
    // Over HTTP nobody can switch it off.
    if allowed.caller.entrance() != Entrance::Http && settings.confirm == Confirm::Never {
        return None;
    }
    let removes = changes
        .iter()
        .any(|change| change.kind == ChangeKind::Delete);
    if removes || allowed.effect == Effect::Delete {
        Some("removes")
    } else if changes.len() > most_notes(settings, allowed.caller.entrance()) {
        Some("changes many notes")
    } else if drops_content(changes) {
        Some("drops content")
    } else {
        None
    }
}

/// How many notes may change unasked. Over HTTP the config can lower it, not raise it.
fn most_notes(settings: &Settings, entrance: Entrance) -> usize {
    let configured = settings.confirmation.notes;
    match entrance {
        Entrance::Http => configured.min(ConfirmationSettings::default().notes),
        Entrance::Stdio | Entrance::CommandLine => configured,
    }
}

/// Whether content is lost, not only replaced or moved to another note: of some note more than half of the words are
/// gone from all of these notes, or many lines are. That links follow a note that is renamed loses nothing.
fn drops_content(changes: &[StagedChange]) -> bool {
    // What is too large to be shown is replaced whole.
    let is_replaced =
        |change: &StagedChange| change.etag_before.is_some() && change.after.is_some();
    let is_unseen = |change: &StagedChange| is_replaced(change) && change.before.is_none();
    if changes.iter().any(is_unseen) {
        return true;
    }
    // Most calls only add: nothing has to be counted for them.
    if changes.iter().all(|change| change.removed == 0) {
        return false;
    }
    let follows_rename = changes.iter().any(|change| change.from.is_some());
    let (mut added, mut removed) = (0, 0);
    let mut notes = Vec::new();
    let mut kept: HashMap<&str, i64> = HashMap::new();
    for change in changes {
        let before = words(change.before.as_deref(), follows_rename);
        let after = words(change.after.as_deref(), follows_rename);
        let (before, after) = match (before, after) {
            (Some(before), Some(after)) => (before, after),
            // What is no text is replaced whole too.
            _ if is_replaced(change) => return true,
            // Something that was not there drops nothing.
            _ => continue,
        };
        added += change.added;
        removed += change.removed;
        for word in &after {
            *kept.entry(word).or_default() += 1;
        }
        for word in &before {
            *kept.entry(word).or_default() -= 1;
        }
        notes.push((before, after));
    }
    if removed > added + MANY_LINES {
        return true;
    }
    notes.iter().any(|(before, after)| {
        let mut left: HashMap<&str, usize> = HashMap::new();
        for word in after {
            *left.entry(word).or_default() += 1;
        }
        let mut lost = 0;
        for word in before {
            match left.get_mut(word) {
                Some(count) if *count > 0 => *count -= 1,
                _ if kept.get(word).is_some_and(|kept| *kept < 0) => lost += 1,
                _ => {}
            }
        }
        lost * 2 > before.len()
    })
}

/// The words of a text; `None` if it is none. Where links follow a rename, one is as good as another.
fn words(bytes: Option<&[u8]>, links_alike: bool) -> Option<Vec<&str>> {
    let text = std::str::from_utf8(bytes.unwrap_or_default()).ok()?;
    let mut words = Vec::new();
    let mut rest = 0;
    let links = match links_alike {
        true => links::parse(text),
        false => Vec::new(),
    };
    for link in links {
        // A link may lie within another.
        if link.range.start >= rest {
            words.extend(text[rest..link.range.start].split_whitespace());
            words.push("[[]]");
            rest = link.range.end;
        }
    }
    words.extend(text[rest..].split_whitespace());
    Some(words)
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

fn summary(allowed: &Allowed, changes: &[StagedChange], reason: &str) -> String {
    let named: Vec<String> = changes
        .iter()
        .take(MOST_NAMED)
        .map(|change| {
            let kind = kind_word(change.kind);
            format!(
                "{kind} `{}` (+{} −{})",
                change.path, change.added, change.removed
            )
        })
        .collect();
    let more = match changes.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "`{}` {reason}: {}{more}",
        allowed.checked.found.full_name(),
        named.join(", ")
    )
}

fn whole_diff(changes: &[StagedChange]) -> String {
    let mut diff = String::new();
    for (index, change) in changes.iter().enumerate() {
        if diff.len() > MOST_DIFF {
            diff.push_str(&format!("… and {} more files\n", changes.len() - index));
            break;
        }
        diff.push_str(&unified_diff(change));
    }
    diff
}

#[cfg(test)]
mod tests {
    use super::*;

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
        }
    }

    #[test]
    fn content_is_dropped_where_most_of_it_is_gone() {
        let drops = |before: &str, after: &str| drops_content(&[modify(before, after)]);
        assert!(drops("one two three four\n", "something else\n"));
        assert!(drops("one two three four\n", ""));
        assert!(!drops("one two three four\n", "one two three five\n"));
        assert!(!drops("", "new\n"));
        assert!(!drops("a\nb\n", "b\na\n"));
        let long = "a line of a long note\n".repeat(100);
        assert!(drops(&long, &long[..22 * 70]));
    }

    #[test]
    fn nothing_beside_it_hides_what_is_dropped() {
        let wiped = modify("one two three four\n", "");
        let picture = StagedChange {
            path: "!.png".into(),
            kind: ChangeKind::Create,
            before: None,
            after: Some([0xff, 0xfe, 0].as_slice().into()),
            etag_before: None,
            added: 10_000,
            ..modify("", "")
        };
        assert!(drops_content(&[picture.clone(), wiped]));
        assert!(!drops_content(&[picture]));
        let too_large_to_show = StagedChange {
            before: None,
            ..modify("", "small\n")
        };
        assert!(drops_content(&[too_large_to_show]));
    }

    #[test]
    fn what_moves_to_another_note_is_not_dropped() {
        let from = modify("one two three four\n", "[[b]]\n");
        let to = StagedChange {
            path: "b.md".into(),
            ..modify("", "one two three four\n")
        };
        assert!(drops_content(std::slice::from_ref(&from)));
        assert!(!drops_content(&[from, to]));
    }

    #[test]
    fn links_that_follow_a_rename_lose_nothing() {
        let rename = StagedChange {
            path: "Our plot.md".into(),
            kind: ChangeKind::Rename,
            from: Some("My plan.md".into()),
            before: None,
            after: None,
            ..modify("", "")
        };
        let index = modify(
            "[[My plan]]\n[x](My%20plan.md)\n",
            "[[Our plot]]\n[x](Our%20plot.md)\n",
        );
        assert!(drops_content(std::slice::from_ref(&index)));
        assert!(!drops_content(&[rename.clone(), index]));
        let other = modify("all my secrets are here\n", "gone\n");
        assert!(drops_content(&[rename.clone(), other]));
        let wiped = modify("[[My plan]] [[My plan]]\n", "\n");
        assert!(drops_content(&[rename, wiped]));
    }

    #[test]
    fn another_change_has_another_digest() {
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
