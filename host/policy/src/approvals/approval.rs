//! A question as people see it, its state, and why it may be refused. The question itself is a record (`records::store`).

use serde::Serialize;

use notehost_records::RecordsError;
use notehost_records::store::{ApprovalRecord, ConfirmedVia, DecidedState};

/// The maximum number of pending approvals per caller.
pub(super) const MAX_PENDING: usize = 50;

/// A confirmation that was used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmed {
    /// How.
    pub via: ConfirmedVia,
    /// Who decided, where it is known.
    pub by: Option<String>,
}

/// A question and its state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Approval {
    /// Its name.
    pub id: String,
    /// The caller.
    pub caller: String,
    /// `domain.action`.
    pub action: String,
    /// The vault's id.
    pub vault: String,
    /// The name of the vault's folder.
    #[serde(skip)]
    pub folder: String,
    /// Names the vault's folder on this machine.
    #[serde(skip)]
    pub identity: String,
    /// Every path that would be touched.
    #[serde(skip)]
    pub paths: Vec<String>,
    /// A summary of the change.
    pub summary: String,
    /// The diff of the change.
    pub diff: String,
    /// When it was created, in milliseconds since 1970.
    pub created: i64,
    /// When it expires.
    pub expires: i64,
    /// Its state.
    pub state: ApprovalState,
    /// Who decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// How it was decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_via: Option<ConfirmedVia>,
}

/// The state of an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalState {
    /// Not decided yet.
    Pending,
    /// Approved; valid for one call.
    Approved,
    /// Denied.
    Denied,
    /// Used.
    Used,
    /// Not decided or not used in time.
    Expired,
}

/// Why an approval is invalid, or cannot be decided.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ApprovalError {
    /// This caller has no such approval.
    #[error("no approval `{0}`")]
    Unknown(String),
    /// It is not decided yet.
    #[error("the approval `{0}` is not decided yet")]
    Pending(String),
    /// It was denied.
    #[error("the approval `{0}` was denied")]
    Denied(String),
    /// It was already used.
    #[error("the approval `{0}` was already used; an approval is valid once")]
    Used(String),
    /// It has expired.
    #[error("the approval `{0}` has expired")]
    Expired(String),
    /// It is for another call.
    #[error(
        "the approval `{0}` is for another call: it is valid for one action with the same arguments"
    )]
    OtherCall(String),
    /// The vault changed, and with it the staged change.
    #[error("the approval `{0}` is for another change: the notes changed since")]
    OtherChange(String),
    /// It is already decided.
    #[error("the approval `{0}` is already decided: {1}")]
    Decided(String, &'static str),
    /// A caller must not approve its own calls.
    #[error("`{0}` was requested by this caller, and another caller has to decide it")]
    Own(String),
    /// Too many approvals are pending.
    #[error("{MAX_PENDING} approvals of this caller, or very long ones, are already pending")]
    TooMany,
    /// The records cannot be used.
    #[error(transparent)]
    Records(#[from] RecordsError),
}

impl ApprovalState {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            ApprovalState::Pending => "pending",
            ApprovalState::Approved => "approved",
            ApprovalState::Denied => "denied",
            ApprovalState::Used => "used",
            ApprovalState::Expired => "expired",
        }
    }

    fn of(record: &ApprovalRecord, now: i64) -> ApprovalState {
        let has_expired = now >= record.expires;
        match record.state {
            DecidedState::Denied => ApprovalState::Denied,
            DecidedState::Used => ApprovalState::Used,
            _ if has_expired => ApprovalState::Expired,
            DecidedState::Approved => ApprovalState::Approved,
            DecidedState::Pending => ApprovalState::Pending,
        }
    }
}

impl Approval {
    /// A stored question at this time.
    pub(super) fn of(record: ApprovalRecord, now: i64) -> Approval {
        let state = ApprovalState::of(&record, now);
        let question = record.question;
        let mut diff = question.diff;
        if record.is_diff_cut {
            diff.push_str(&format!(
                "\n… cut: the diff goes on; `notehost approval show {}` shows more\n",
                record.id
            ));
        }
        Approval {
            id: record.id,
            caller: question.caller,
            action: question.action,
            vault: question.vault,
            folder: question.place.folder,
            identity: question.place.identity,
            paths: question.paths,
            summary: question.summary,
            diff,
            created: record.created,
            expires: record.expires,
            state,
            decided_by: record.decided_by,
            decided_via: record.decided_via,
        }
    }
}
