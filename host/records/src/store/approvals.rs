//! Questions to people, and their decisions.

use serde::{Deserialize, Serialize};

use super::RecordsError;

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The caller.
    pub caller: String,
    /// `domain.action`.
    pub action: String,
    /// The vault's id.
    pub vault: String,
    /// The folder of the vault: ids are not unique on a machine.
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

/// The folder that a question is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VaultPlace {
    /// Identifies the folder on this machine.
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

impl ConfirmedVia {
    /// Its name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            ConfirmedVia::Client => "client",
            ConfirmedVia::Approval => "approval",
            ConfirmedVia::Terminal => "terminal",
        }
    }
}

/// How far a question is. That its time has passed follows from the clock and is not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecidedState {
    /// Not decided.
    Pending,
    /// Approved, and not used.
    Approved,
    /// Denied.
    Denied,
    /// Approved and used.
    Used,
}

/// A stored question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalRecord {
    /// Its id.
    pub id: String,
    /// The question. Its diff may be cut, and its clock and seed are left out.
    pub question: Question,
    /// Whether the diff was cut.
    pub is_diff_cut: bool,
    /// When it was created, in milliseconds since 1970.
    pub created: i64,
    /// When it expires.
    pub expires: i64,
    /// How far it is.
    pub state: DecidedState,
    /// How it was decided.
    pub decided_via: Option<ConfirmedVia>,
    /// Who decided.
    pub decided_by: Option<String>,
}

/// A question to store.
#[derive(Debug, Clone, Copy)]
pub struct NewApproval<'a> {
    /// Its id, unless an identical question is pending.
    pub id: &'a str,
    /// The question.
    pub question: &'a Question,
    /// The current time, in milliseconds since 1970.
    pub now: i64,
    /// How long the question is valid, and after it the decision.
    pub valid_ms: i64,
    /// What is kept.
    pub limits: ApprovalLimits,
}

/// How many questions are kept.
#[derive(Debug, Clone, Copy)]
pub struct ApprovalLimits {
    /// The maximum number of a caller's pending questions.
    pub max_pending: usize,
    /// The size of a caller's pending and approved diffs beyond which no question is stored.
    pub max_diff_bytes: usize,
    /// The maximum number of a caller's decided or expired questions.
    pub max_decided: usize,
    /// How long questions are kept after they expired.
    pub retention_ms: i64,
}

/// A person's decision.
#[derive(Debug, Clone, Copy)]
pub struct ApprovalDecision<'a> {
    /// The question's id.
    pub id: &'a str,
    /// Whether the person approved it.
    pub is_approved: bool,
    /// How the person was asked.
    pub via: ConfirmedVia,
    /// Who decided.
    pub by: &'a str,
    /// The current time, in milliseconds since 1970.
    pub now: i64,
}

/// The questions and decisions.
pub trait ApprovalRecords: Send + Sync {
    /// Stores a pending question, after the caller's questions beyond the limits were deleted. An identical pending one is
    /// prolonged instead. Returns its id, or `None` if too much is pending.
    fn ask_approval(&self, new: &NewApproval<'_>) -> Result<Option<String>, RecordsError>;

    /// The question with this id, with so many characters of its diff at most.
    fn approval(
        &self,
        id: &str,
        max_diff_chars: usize,
    ) -> Result<Option<ApprovalRecord>, RecordsError>;

    /// The pending questions, optionally also decided and expired ones, the latest first.
    fn approvals(
        &self,
        with_decided: bool,
        now: i64,
        max: usize,
        max_diff_chars: usize,
    ) -> Result<Vec<ApprovalRecord>, RecordsError>;

    /// The clock and seed of a caller's latest valid question with these arguments: of the pending or approved one with
    /// this id, or without an id of a pending one.
    fn frozen_environment(
        &self,
        id: Option<&str>,
        caller: &str,
        arguments: &str,
        now: i64,
    ) -> Result<Option<FrozenEnvironment>, RecordsError>;

    /// Decides a question that is pending and valid; restarts its validity. Returns `false` if there is none.
    fn decide_approval(&self, decision: &ApprovalDecision<'_>) -> Result<bool, RecordsError>;

    /// Uses up an approved question that is valid. Returns `true` to exactly one of several users.
    fn use_approval(&self, id: &str, now: i64) -> Result<bool, RecordsError>;
}
