//! A question to a person and what became of it, as every room knows them. How they are kept is in `approvals.rs`.

use serde::{Deserialize, Serialize};

use notehost_records::database::{DatabaseError, now_ms};

/// How many questions of one caller may wait at once.
pub(super) const MAX_WAITING: i64 = 50;

/// What a person is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Who wants it.
    pub caller: String,
    /// `domain.action`.
    pub action: String,
    /// The vault's id.
    pub vault: String,
    /// Which folder the vault is: ids are not unique on a machine.
    pub place: VaultPlace,
    /// Every path that would be touched.
    pub paths: Vec<String>,
    /// Names the arguments.
    pub arguments: String,
    /// Names what was staged.
    pub change: String,
    /// What would happen, in a sentence.
    pub summary: String,
    /// Exactly what would happen.
    pub diff: String,
    /// The clock and the randomness that the call ran with.
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

/// The clock and the randomness that a call runs with. Both are kept with a question: the call that brings the approval
/// runs with the same, so an action that writes the time of day or a random id stages the change that was shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrozenEnvironment {
    /// The moment at which the call's clock stands, in milliseconds since 1970.
    pub milliseconds: u64,
    /// What its random numbers are made from.
    pub seed: [u8; 32],
}

/// How a person confirmed a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ConfirmedVia {
    /// The caller's client, which is trusted to ask its user, reported the answer.
    Client,
    /// Somebody decided elsewhere: `notehost approval`, the admin tool, the console.
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

/// A question, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Approval {
    /// Its name.
    pub id: String,
    /// Who wants it.
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
    /// What would happen, in a sentence.
    pub summary: String,
    /// Exactly what would happen.
    pub diff: String,
    /// When it was asked, in milliseconds since 1970.
    pub created: i64,
    /// Until when it holds.
    pub expires: i64,
    /// What became of it.
    pub state: ApprovalState,
    /// Who decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// How it was decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_via: Option<ConfirmedVia>,
}

/// What became of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalState {
    /// Nobody has decided.
    Pending,
    /// It may happen, once.
    Approved,
    /// It may not.
    Denied,
    /// It has happened.
    Used,
    /// Nobody decided, or nobody used it, in time.
    Expired,
}

/// Why an approval does not help, or cannot be decided.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ApprovalError {
    /// There is none of that name for this caller.
    #[error("no approval `{0}`")]
    Unknown(String),
    /// Nobody has decided yet.
    #[error("the approval `{0}` is not decided yet")]
    Pending(String),
    /// Somebody said no.
    #[error("the approval `{0}` was denied")]
    Denied(String),
    /// It worked once already.
    #[error("the approval `{0}` was used already; each works once")]
    Used(String),
    /// It is too late.
    #[error("the approval `{0}` has expired")]
    Expired(String),
    /// It is for something else.
    #[error(
        "the approval `{0}` is for another call: it holds for one action with the same arguments"
    )]
    OtherCall(String),
    /// The vault changed, and with it what would happen.
    #[error("the approval `{0}` is for another change: the notes are no longer as they were")]
    OtherChange(String),
    /// It cannot be decided twice.
    #[error("the approval `{0}` is decided already: {1}")]
    Decided(String, &'static str),
    /// Nobody approves their own calls.
    #[error("`{0}` was asked for by this caller, and somebody else has to decide")]
    Own(String),
    /// Nobody could look at so many.
    #[error("{MAX_WAITING} questions of this caller, or very long ones, wait for a person already")]
    TooMany,
    /// The records cannot be used.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

impl ApprovalState {
    /// The word for it.
    pub fn word(self) -> &'static str {
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
    /// The word for it in records.
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
