//! Approvals: a question to a person and its decision. `approvals.rs` stores them.

use serde::{Deserialize, Serialize};

use notehost_records::database::{DatabaseError, now_ms};

/// The maximum number of pending approvals per caller.
pub(super) const MAX_WAITING: i64 = 50;

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The caller.
    pub caller: String,
    /// `domain.action`.
    pub action: String,
    /// The vault's id.
    pub vault: String,
    /// Which folder the vault is: ids are not unique on a machine.
    pub place: VaultPlace,
    /// Every path that would be touched.
    pub paths: Vec<String>,
    /// The hash of the arguments.
    pub arguments: String,
    /// The digest of the staged changes.
    pub change: String,
    /// A summary of the change.
    pub summary: String,
    /// The diff of the change.
    pub diff: String,
    /// The clock and random seed that the call ran with.
    pub frozen: Option<FrozenEnvironment>,
}

/// Which folder a question is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VaultPlace {
    /// Names the folder on this machine.
    pub identity: String,
    /// The folder's name, for people.
    pub folder: String,
}

/// The clock and random seed of a call, stored with its question: the call with the approval runs with the same, so
/// that an action that writes the time or a random id stages the change that was shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrozenEnvironment {
    /// The fixed time of the call's clock, in milliseconds since 1970.
    pub milliseconds: u64,
    /// The seed of its random numbers.
    pub seed: [u8; 32],
}

/// How a person confirmed a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ConfirmedVia {
    /// The caller's client, which is trusted to ask its user, reported the answer.
    Client,
    /// It was decided elsewhere: `notehost approval`, the admin tool, the console.
    Approval,
    /// The person at the terminal where the call was made.
    Terminal,
}

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
    #[error("{MAX_WAITING} approvals of this caller, or very long ones, are already pending")]
    TooMany,
    /// The records cannot be used.
    #[error(transparent)]
    Database(#[from] DatabaseError),
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

    pub(super) fn of(word: &str, expires: i64) -> ApprovalState {
        let is_late = now_ms() >= expires;
        match word {
            "denied" => ApprovalState::Denied,
            "used" => ApprovalState::Used,
            _ if is_late => ApprovalState::Expired,
            "approved" => ApprovalState::Approved,
            _ => ApprovalState::Pending,
        }
    }
}

impl ConfirmedVia {
    /// Its name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            ConfirmedVia::Client => "client",
            ConfirmedVia::Approval => "approval",
            ConfirmedVia::Terminal => "terminal",
        }
    }

    /// The word of a record; what an earlier version decided was decided elsewhere.
    pub(super) fn of(word: Option<&str>) -> ConfirmedVia {
        match word {
            Some("client") => ConfirmedVia::Client,
            Some("terminal") => ConfirmedVia::Terminal,
            _ => ConfirmedVia::Approval,
        }
    }
}
