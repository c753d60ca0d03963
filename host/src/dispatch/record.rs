//! What is written down of every call, also of refused and failed ones: who, what, how long, what came of it. Never
//! the content of notes.

use std::time::Instant;

use super::{CallError, Reply, Request};
use crate::auth::Caller;

/// A call that has begun. A call that is given up midway is recorded too, when this is dropped.
pub(super) struct Record {
    began: Instant,
    caller: String,
    domain: String,
    action: String,
    outcome: &'static str,
}

impl Record {
    pub(super) fn begin(caller: &Caller, request: &Request) -> Record {
        Record {
            began: Instant::now(),
            caller: caller.name().to_owned(),
            domain: request.domain.clone(),
            action: request.action.clone(),
            outcome: "cancelled",
        }
    }

    pub(super) fn end(mut self, outcome: &Result<Reply, CallError>) {
        self.outcome = outcome.as_ref().map_or_else(|error| error.code, |_| "ok");
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        tracing::debug!(
            caller = self.caller,
            domain = self.domain,
            action = self.action,
            outcome = self.outcome,
            microseconds = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX),
            "call"
        );
    }
}
