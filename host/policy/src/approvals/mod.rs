//! Approvals: changes that a person decides before they are committed. A question is bound to one caller, one action,
//! its arguments and exactly one change; its approval is valid once, for a limited time.

mod approval;

pub use approval::{Approval, ApprovalError, ApprovalState, Confirmed};

use std::sync::Arc;

use tokio::sync::watch;

use approval::MAX_PENDING;
use notehost_platform::clock::now_ms;
use notehost_platform::random;
use notehost_records::store::{
    ApprovalDecision, ApprovalLimits, ApprovalRecord, ApprovalRecords, ConfirmedVia,
    FrozenEnvironment, NewApproval, Question,
};

/// What is kept. Approvals stay for a day after they expired.
const LIMITS: ApprovalLimits = ApprovalLimits {
    max_pending: MAX_PENDING,
    max_diff_bytes: 64 << 20,
    max_decided: 100,
    retention_ms: 24 * 60 * 60 * 1000,
};
/// The maximum number of listed approvals, and the length of each diff.
const MAX_LISTED: usize = 500;
const MAX_LISTED_DIFF_CHARS: usize = 16 << 10;
/// The length of an id.
const ID_LETTERS: usize = 16;

/// The questions of this machine.
#[derive(Clone)]
pub struct Approvals {
    records: Arc<dyn ApprovalRecords>,
    /// Counts the changes made by this process, for watchers.
    changed: watch::Sender<u64>,
}

impl Approvals {
    /// The questions in these records.
    pub fn new(records: Arc<dyn ApprovalRecords>) -> Approvals {
        Approvals {
            records,
            changed: watch::Sender::new(0),
        }
    }

    /// Counts the changes made by this process.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Creates a question. An identical pending one is reused.
    pub fn ask(&self, question: &Question, expires_ms: i64) -> Result<Approval, ApprovalError> {
        let id = random::id(ID_LETTERS).map_err(|error| {
            ApprovalError::Unknown(format!("(the random number generator failed: {error})"))
        })?;
        let stored = self.records.ask_approval(&NewApproval {
            id: &id,
            question,
            now: now_ms(),
            valid_ms: expires_ms,
            limits: LIMITS,
        })?;
        let id = stored.ok_or(ApprovalError::TooMany)?;
        self.count_change();
        self.get(&id)
    }

    /// One question.
    pub fn get(&self, id: &str) -> Result<Approval, ApprovalError> {
        let record = self.record(id, usize::MAX)?;
        Ok(Approval::of(record, now_ms()))
    }

    /// The pending approvals, optionally with decided ones, the latest first. Long diffs are cut: [`Approvals::get`]
    /// has all that is stored.
    pub fn list(&self, with_decided: bool) -> Result<Vec<Approval>, ApprovalError> {
        let now = now_ms();
        let found = self
            .records
            .approvals(with_decided, now, MAX_LISTED, MAX_LISTED_DIFF_CHARS)?;
        let found = found.into_iter().map(|record| Approval::of(record, now));
        Ok(found.collect())
    }

    /// The clock and seed of the approval that this call presents, or of its question that is pending. Reveals nothing
    /// about other callers' questions.
    pub fn frozen(
        &self,
        id: Option<&str>,
        caller: &str,
        arguments: &str,
    ) -> Result<Option<FrozenEnvironment>, ApprovalError> {
        Ok(self
            .records
            .frozen_environment(id, caller, arguments, now_ms())?)
    }

    /// Decides a pending approval elsewhere than at the client that requested it.
    pub fn decide(&self, id: &str, yes: bool, by: &str) -> Result<Approval, ApprovalError> {
        self.decide_via(id, yes, ConfirmedVia::Approval, by)
    }

    /// Decides a pending approval, and stores how the person was asked. An approval is valid for as long as the question
    /// was.
    pub fn decide_via(
        &self,
        id: &str,
        yes: bool,
        via: ConfirmedVia,
        by: &str,
    ) -> Result<Approval, ApprovalError> {
        let is_decided = self.records.decide_approval(&ApprovalDecision {
            id,
            is_approved: yes,
            via,
            by,
            now: now_ms(),
        })?;
        let approval = self.get(id)?;
        if !is_decided {
            return Err(match approval.state {
                ApprovalState::Expired => ApprovalError::Expired(id.to_owned()),
                state => ApprovalError::Decided(id.to_owned(), state.as_str()),
            });
        }
        self.count_change();
        Ok(approval)
    }

    /// Uses up an approval for exactly the call it was given for. Returns how it was given.
    pub fn use_up(&self, id: &str, question: &Question) -> Result<Confirmed, ApprovalError> {
        let owned = || id.to_owned();
        let record = self.record(id, 0)?;
        let bound = &record.question;
        // To others it does not exist.
        if bound.caller != question.caller {
            return Err(ApprovalError::Unknown(owned()));
        }
        let is_same_call = bound.action == question.action
            && bound.place.identity == question.place.identity
            && bound.arguments == question.arguments;
        if !is_same_call {
            return Err(ApprovalError::OtherCall(owned()));
        }
        let is_same_change = bound.change == question.change;
        let approval = Approval::of(record, now_ms());
        match approval.state {
            ApprovalState::Approved => {}
            ApprovalState::Pending => return Err(ApprovalError::Pending(owned())),
            ApprovalState::Denied => return Err(ApprovalError::Denied(owned())),
            ApprovalState::Used => return Err(ApprovalError::Used(owned())),
            ApprovalState::Expired => return Err(ApprovalError::Expired(owned())),
        }
        if !is_same_change {
            return Err(ApprovalError::OtherChange(owned()));
        }
        // Another call was faster with the same approval.
        if !self.records.use_approval(id, now_ms())? {
            return Err(ApprovalError::Used(owned()));
        }
        self.count_change();
        Ok(Confirmed {
            via: approval.decided_via.unwrap_or(ConfirmedVia::Approval),
            by: approval.decided_by,
        })
    }

    fn record(&self, id: &str, max_diff_chars: usize) -> Result<ApprovalRecord, ApprovalError> {
        let found = self.records.approval(id, max_diff_chars)?;
        found.ok_or_else(|| ApprovalError::Unknown(id.to_owned()))
    }

    fn count_change(&self) {
        self.changed.send_modify(|count| *count += 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use notehost_records::store::VaultPlace;

    fn approvals() -> (tempfile::TempDir, Approvals) {
        let state = tempfile::tempdir().expect("a folder");
        let records = notehost_records::open(state.path()).expect("records");
        (state, Approvals::new(records))
    }

    fn question() -> Question {
        Question {
            caller: "phone".into(),
            action: "document.remove".into(),
            vault: "main".into(),
            place: VaultPlace {
                identity: "main-0123".into(),
                folder: "Notes".into(),
            },
            paths: vec!["Plan.md".into()],
            arguments: "a".into(),
            change: "c".into(),
            summary: "removes Plan.md".into(),
            diff: "-plan".into(),
            frozen: Some(FrozenEnvironment {
                milliseconds: 5,
                seed: [7; 32],
            }),
        }
    }

    #[test]
    fn an_approval_is_valid_once_for_one_call() {
        let (_state, approvals) = approvals();
        let approval = approvals.ask(&question(), 60_000).expect("stored");
        assert_eq!(
            approvals.ask(&question(), 60_000).expect("stored").id,
            approval.id
        );
        let refused = |question: &Question| {
            approvals
                .use_up(&approval.id, question)
                .expect_err("refused")
        };
        assert!(matches!(refused(&question()), ApprovalError::Pending(_)));
        approvals
            .decide(&approval.id, true, "cli")
            .expect("decided");
        assert!(matches!(
            approvals.decide(&approval.id, false, "cli"),
            Err(ApprovalError::Decided(..))
        ));
        let other = |change: fn(&mut Question)| {
            let mut other = question();
            change(&mut other);
            other
        };
        assert!(matches!(
            refused(&other(|q| q.caller = "b".into())),
            ApprovalError::Unknown(_)
        ));
        assert!(matches!(
            refused(&other(|q| q.action = "b".into())),
            ApprovalError::OtherCall(_)
        ));
        assert!(matches!(
            refused(&other(|q| q.place.identity = "b".into())),
            ApprovalError::OtherCall(_)
        ));
        assert!(matches!(
            refused(&other(|q| q.arguments = "b".into())),
            ApprovalError::OtherCall(_)
        ));
        assert!(matches!(
            refused(&other(|q| q.change = "b".into())),
            ApprovalError::OtherChange(_)
        ));
        let frozen = |id: Option<&str>, caller: &str| {
            let found = approvals.frozen(id, caller, "a").expect("stored");
            found.map(|frozen| frozen.seed)
        };
        // It is decided, so only who brings it runs as it was shown.
        assert_eq!(frozen(Some(&approval.id), "phone"), Some([7; 32]));
        assert_eq!(frozen(Some(&approval.id), "b"), None);
        assert_eq!(frozen(None, "phone"), None);
        let confirmed = approvals.use_up(&approval.id, &question()).expect("used");
        assert_eq!(
            (confirmed.via, confirmed.by.as_deref()),
            (ConfirmedVia::Approval, Some("cli"))
        );
        assert_eq!(frozen(Some(&approval.id), "phone"), None);
        assert!(matches!(refused(&question()), ApprovalError::Used(_)));
    }

    #[test]
    fn pending_approvals_expire() {
        let (_state, approvals) = approvals();
        let approval = approvals.ask(&question(), 0).expect("stored");
        assert_eq!(approval.state, ApprovalState::Expired);
        assert!(approvals.list(false).expect("listed").is_empty());
        assert!(matches!(
            approvals.decide(&approval.id, true, "cli"),
            Err(ApprovalError::Expired(_))
        ));
        assert!(matches!(
            approvals.use_up(&approval.id, &question()),
            Err(ApprovalError::Expired(_))
        ));
    }

    #[test]
    fn a_decision_restarts_the_validity() {
        let (_state, approvals) = approvals();
        // Nearly a minute has passed since it was requested.
        let stored = approvals.records.ask_approval(&NewApproval {
            id: "late",
            question: &question(),
            now: now_ms() - 59_000,
            valid_ms: 60_000,
            limits: LIMITS,
        });
        assert_eq!(stored.expect("stored").as_deref(), Some("late"));
        let approval = approvals.get("late").expect("a question");
        let decided = approvals
            .decide(&approval.id, true, "cli")
            .expect("decided");
        assert!(decided.expires >= now_ms() + 50_000, "{decided:?}");
        let frozen = approvals.frozen(Some(&approval.id), "phone", "a");
        assert_eq!(frozen.expect("stored"), question().frozen);
    }

    #[test]
    fn stored_and_listed_approvals_are_bounded() {
        let (_state, approvals) = approvals();
        let long = Question {
            diff: "-line\n".repeat(100_000),
            ..question()
        };
        let approval = approvals.ask(&long, 60_000).expect("stored");
        assert_eq!(approval.diff, long.diff);
        let listed = approvals.list(false).expect("listed");
        assert!(listed[0].diff.len() < 17 << 10 && listed[0].diff.contains("\n… cut: "));
        for number in 0..LIMITS.max_decided + 10 {
            let next = Question {
                change: number.to_string(),
                ..question()
            };
            let approval = approvals.ask(&next, 60_000).expect("stored");
            approvals
                .decide(&approval.id, false, "cli")
                .expect("decided");
        }
        let all = approvals.list(true).expect("listed").len();
        assert!(all <= LIMITS.max_decided + 2, "{all}");
        assert_eq!(approvals.list(false).expect("listed").len(), 1);
        let huge = Question {
            diff: "-".repeat(LIMITS.max_diff_bytes + 1),
            change: "huge".into(),
            ..question()
        };
        approvals.ask(&huge, 60_000).expect("stored");
        let more = Question {
            change: "more".into(),
            ..question()
        };
        assert!(matches!(
            approvals.ask(&more, 60_000),
            Err(ApprovalError::TooMany)
        ));
    }
}
