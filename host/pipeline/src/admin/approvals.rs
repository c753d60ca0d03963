//! Lists and decides pending approvals. An admin that may not read everything that a change touches sees that there is a
//! question, but neither its text nor its paths; it can deny it, not approve it.

use notehost_sdk::{Code, Effect, args, reply};

use super::{AdminAction, AdminCall, Answer};
use crate::{CallError, EventFilter, Host, PendingApproval};
use notehost_policy::auth::{Caller, Entrance};
use notehost_policy::{Approval, ApprovalError, ApprovalState, ConfirmedVia};

/// The summary of a change that the admin may not read.
const HIDDEN: &str = "touches notes that you may not read";

/// What waits for a person to decide, with the diff.
///
/// Example: `{}`
#[args]
pub(super) struct List {
    /// Also what is decided or expired.
    all: Option<bool>,
}

/// The approvals.
#[reply]
pub(super) struct ApprovalList {
    #[schemars(with = "Vec<ShownApproval>")]
    items: Vec<Approval>,
    /// Cursor of the next page.
    next_cursor: Option<String>,
}

// The schema of an approval. The reply contains the approval itself.
#[allow(dead_code, reason = "only its schema is used")]
#[reply]
struct ShownApproval {
    /// For `approve` and `deny`.
    id: String,
    /// Who asks.
    caller: Option<String>,
    /// What for.
    action: Option<String>,
    /// Where.
    vault: Option<String>,
    /// What would happen.
    summary: Option<String>,
    /// Exactly what would happen.
    diff: Option<String>,
    /// Milliseconds since 1970.
    created: Option<u64>,
    /// Until when it holds.
    expires: Option<u64>,
    /// pending, approved, denied, used or expired.
    state: String,
    /// Who decided.
    decided_by: Option<String>,
}

impl AdminAction for List {
    type Output = ApprovalList;
    const EFFECT: Effect = Effect::Read;

    async fn run(self, call: &AdminCall<'_>) -> Answer<ApprovalList> {
        let (host, caller) = (call.host, call.caller());
        let with_decided = self.all.unwrap_or(false);
        let mut approvals = host.approvals().list(with_decided).map_err(refused)?;
        approvals.retain(|approval| is_known(host, caller, approval));
        let filter = EventFilter::of(host, caller);
        let items: Vec<Approval> = approvals
            .into_iter()
            .map(|approval| visible(&filter, approval))
            .collect();
        let lines: Vec<String> = items.iter().map(line).collect();
        let text = match lines.is_empty() {
            true => "no approvals are pending".to_owned(),
            false => lines.join("\n"),
        };
        let next_cursor = None;
        Ok((text, ApprovalList { items, next_cursor }))
    }
}

/// Let a change happen that waits for a person. Not for calls of your own.
///
/// Example: `{"id": "7f3k9q2m"}`
#[args]
pub(super) struct Approve {
    /// The approval's id.
    id: String,
}

/// Refuse a change that waits for a person.
///
/// Example: `{"id": "7f3k9q2m"}`
#[args]
pub(super) struct Deny {
    /// The approval's id.
    id: String,
}

/// A decided approval.
#[reply]
pub(super) struct Decided {
    /// The decided approval.
    #[schemars(with = "ShownApproval")]
    approval: Approval,
}

impl AdminAction for Approve {
    type Output = Decided;
    const EFFECT: Effect = Effect::Write;

    /// Approves a question. Over HTTP the admin's client asks its user first, who sees the question itself.
    async fn run(self, call: &AdminCall<'_>) -> Answer<Decided> {
        let (host, caller, id) = (call.host, call.caller(), self.id.as_str());
        let approval = known(host, caller, id)?;
        // A model must not approve its own calls.
        if approval.caller == caller.key() {
            return Err(refused(ApprovalError::Own(id.to_owned())));
        }
        if !is_readable(&EventFilter::of(host, caller), &approval) {
            let message = format!("the approval `{id}` {HIDDEN}");
            let hint = format!("a person decides with `notehost approval approve {id}`");
            return Err(CallError::new(Code::PermissionDenied, message).with_hint(hint));
        }
        if caller.entrance() == Entrance::Http {
            // Nor those of another of its tokens: only a person approves, or a client that is trusted to ask one.
            if !host.is_attended(caller) {
                let message = format!(
                    "`{}` is not attended and cannot approve calls",
                    caller.name()
                );
                return Err(CallError::new(Code::Forbidden, message).with_hint(format!(
                    "a person decides with `notehost approval approve {id}`; a client that asks its user can decide with a \
                     token made with `notehost token new --attended`"
                )));
            }
            if call.approval() == Some(id) && was_confirmed_by(&approval, caller) {
                return Ok(answer(approval));
            }
            if approval.state == ApprovalState::Pending {
                return Err(confirmation_required(&approval));
            }
        }
        decide(host, caller, id, true).map(answer)
    }
}

impl AdminAction for Deny {
    type Output = Decided;
    const EFFECT: Effect = Effect::Write;

    async fn run(self, call: &AdminCall<'_>) -> Answer<Decided> {
        let (host, caller) = (call.host, call.caller());
        known(host, caller, &self.id)?;
        let decided = decide(host, caller, &self.id, false)?;
        Ok(answer(visible(&EventFilter::of(host, caller), decided)))
    }
}

fn decide(host: &Host, caller: &Caller, id: &str, yes: bool) -> Result<Approval, CallError> {
    let decided = host.approvals().decide(id, yes, caller.name());
    decided.map_err(refused)
}

/// The user of the admin's client decides the question itself; the repeated call only reports it.
fn confirmation_required(approval: &Approval) -> CallError {
    let summary = format!("approve for `{}`: {}", approval.caller, approval.summary);
    let message = format!("{summary}. Nothing was approved: a person has to decide");
    let pending = PendingApproval {
        id: approval.id.clone(),
        expires: approval.expires,
        summary,
        changes: Vec::new(),
        diff: approval.diff.clone(),
    };
    CallError::confirmation_required(message, pending).with_hint(format!(
        "a client that supports elicitation asks its user; else a person decides with `notehost approval approve {}`",
        approval.id
    ))
}

/// Whether the user of this admin's client has just approved it.
fn was_confirmed_by(approval: &Approval, caller: &Caller) -> bool {
    approval.state == ApprovalState::Approved
        && approval.decided_via == Some(ConfirmedVia::Client)
        && approval.decided_by.as_deref() == Some(caller.name())
}

/// A question about a vault that this host serves and the caller may use: a caller that is bound to some vaults does not
/// know of the others, and neither does a host that serves another folder with the same id.
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

fn is_readable(filter: &EventFilter, approval: &Approval) -> bool {
    filter.reaches_all(&approval.identity, &approval.paths)
}

/// A question as an admin may see it.
fn visible(filter: &EventFilter, approval: Approval) -> Approval {
    if is_readable(filter, &approval) {
        return approval;
    }
    Approval {
        summary: HIDDEN.to_owned(),
        diff: String::new(),
        paths: Vec::new(),
        ..approval
    }
}

fn answer(approval: Approval) -> (String, Decided) {
    (line(&approval), Decided { approval })
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
        ApprovalError::Records(_) => Code::Unavailable,
        ApprovalError::Own(_) => Code::Forbidden,
        _ => Code::ApprovalInvalid,
    };
    CallError::new(code, error.to_string())
}
