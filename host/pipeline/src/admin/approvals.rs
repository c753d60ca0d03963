//! What waits for a person, and what the person says. An admin that may not read all of what a change touches sees that there
//! is a question, and neither its text nor its paths; it can deny it, not approve it.

use notehost_sdk::Code;
use serde_json::json;

use super::super::authorize::Allowed;
use super::super::{CallError, EventFilter, Host};
use super::Answer;
use notehost_policy::auth::{Caller, Entrance};
use notehost_policy::{Approval, ApprovalError, ApprovalState, ConfirmedVia};

/// What stands for the summary of a change that the admin may not read.
const HIDDEN: &str = "touches notes that you may not read";

pub(super) fn list(host: &Host, caller: &Caller, with_decided: bool) -> Result<Answer, CallError> {
    let mut approvals = host.approvals().list(with_decided).map_err(refused)?;
    approvals.retain(|approval| is_known(host, caller, approval));
    let hearing = EventFilter::of(host, caller);
    let approvals: Vec<Approval> = approvals
        .into_iter()
        .map(|approval| visible(&hearing, approval))
        .collect();
    let lines: Vec<String> = approvals.iter().map(line).collect();
    let text = match lines.is_empty() {
        true => "no approvals are pending".to_owned(),
        false => lines.join("\n"),
    };
    Ok((text, json!({ "items": approvals })))
}

/// Approve a question. Over HTTP the admin's client asks its user first, who sees the question itself.
pub(super) fn approve(host: &Host, allowed: &Allowed, id: &str) -> Result<Answer, CallError> {
    let caller = &allowed.caller;
    let approval = known(host, caller, id)?;
    // A model must not be able to wave its own calls through.
    if approval.caller == caller.key() {
        return Err(refused(ApprovalError::Own(id.to_owned())));
    }
    if !is_readable(&EventFilter::of(host, caller), &approval) {
        let message = format!("the approval `{id}` {HIDDEN}");
        let hint = format!("a person decides with `notehost approval approve {id}`");
        return Err(CallError::new(Code::PermissionDenied, message).with_hint(hint));
    }
    if caller.entrance() == Entrance::Http {
        // Nor those of another of its tokens: whoever says yes is a person, or a client that is trusted to ask one.
        if !host.is_attended(caller) {
            let message = format!(
                "`{}` is not attended and cannot approve calls",
                caller.name()
            );
            return Err(CallError::new(Code::Forbidden, message).with_hint(format!(
                "a person decides with `notehost approval approve {id}`; a client that asks its user can decide with a token \
                 made with `notehost token new --attended`"
            )));
        }
        let is_brought = allowed.checked.common.approval.as_deref() == Some(id);
        if is_brought && was_confirmed_by(&approval, caller) {
            return Ok(told(&approval));
        }
        if approval.state == ApprovalState::Pending {
            return Err(to_be_asked(&approval));
        }
    }
    decide(host, caller, id, true).map(|decided| told(&decided))
}

pub(super) fn deny(host: &Host, caller: &Caller, id: &str) -> Result<Answer, CallError> {
    known(host, caller, id)?;
    let decided = decide(host, caller, id, false)?;
    Ok(told(&visible(&EventFilter::of(host, caller), decided)))
}

fn decide(host: &Host, caller: &Caller, id: &str, yes: bool) -> Result<Approval, CallError> {
    let decided = host.approvals().decide(id, yes, caller.name());
    decided.map_err(refused)
}

/// The person of the admin's client decides the question itself; the call that comes again only reports it.
fn to_be_asked(approval: &Approval) -> CallError {
    let summary = format!("approve for `{}`: {}", approval.caller, approval.summary);
    CallError::new(
        Code::ConfirmationRequired,
        format!("{summary}. Nothing was approved: a person has to decide"),
    )
    .with_hint(format!(
        "a client that supports elicitation asks its user; else a person decides with `notehost approval approve {}`",
        approval.id
    ))
    .with_details(json!({
        "approval": approval.id,
        "expires_at": approval.expires,
        "summary": summary,
        "diff": approval.diff,
    }))
}

/// Whether the person of this admin's client has just said yes.
fn was_confirmed_by(approval: &Approval, caller: &Caller) -> bool {
    approval.state == ApprovalState::Approved
        && approval.decided_via == Some(ConfirmedVia::Client)
        && approval.decided_by.as_deref() == Some(caller.name())
}

/// A question about a vault that this host serves and the caller may use: who is bound to some vaults does not know of the
/// others, and neither does a host that serves another folder with the same id.
fn known(host: &Host, caller: &Caller, id: &str) -> Result<Approval, CallError> {
    let approval = host.approvals().get(id).map_err(refused)?;
    match is_known(host, caller, &approval) {
        true => Ok(approval),
        false => Err(refused(ApprovalError::Unknown(id.to_owned()))),
    }
}

fn is_known(host: &Host, caller: &Caller, approval: &Approval) -> bool {
    let vaults = host.vaults_of(caller).unwrap_or_default();
    vaults
        .iter()
        .any(|vault| vault.identity() == approval.identity)
}

fn is_readable(hearing: &EventFilter, approval: &Approval) -> bool {
    hearing.reaches_all(&approval.identity, &approval.paths)
}

/// A question as an admin may see it.
fn visible(hearing: &EventFilter, approval: Approval) -> Approval {
    if is_readable(hearing, &approval) {
        return approval;
    }
    Approval {
        summary: HIDDEN.to_owned(),
        diff: String::new(),
        paths: Vec::new(),
        ..approval
    }
}

fn told(approval: &Approval) -> Answer {
    (line(approval), json!({ "approval": approval }))
}

fn line(approval: &Approval) -> String {
    format!(
        "{} ({}) for {}: {}",
        approval.id,
        approval.state.as_str(),
        approval.caller,
        approval.summary
    )
}

fn refused(error: ApprovalError) -> CallError {
    let code = match &error {
        ApprovalError::Unknown(_) => Code::NotFound,
        ApprovalError::Database(_) => Code::Unavailable,
        ApprovalError::Own(_) => Code::Forbidden,
        _ => Code::ApprovalInvalid,
    };
    CallError::new(code, error.to_string())
}
