//! The state of a component's circuit breaker: recent failures, and for whom it is open. Knows nothing of calls or
//! records.

use notehost_sdk::Code;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::CallError;
use notehost_config::SupervisionSettings;
use notehost_platform::clock::now_ms;
use notehost_records::store::BreakerRecord;
use notehost_records::when;

/// The maximum number of remembered failures per component.
const MAX_FAILURES: usize = 1000;
/// The retry delay returned while another caller's call is the trial.
const TRIAL_RETRY_MS: i64 = 1000;

/// The circuit breaker state of a component.
#[derive(Default)]
pub(crate) struct State {
    strikes: VecDeque<FailedCall>,
    /// By the caller it is open for; `None` means all callers.
    pub(crate) open: HashMap<Option<String>, OpenBreaker>,
    /// When the records were last checked for breakers closed elsewhere.
    pub(crate) records_checked: Option<Instant>,
}

/// One failure.
struct FailedCall {
    at: Instant,
    caller: String,
}

/// An open breaker: the component is not called until the pause ends.
pub(crate) struct OpenBreaker {
    pub(crate) reason: String,
    pub(crate) since: i64,
    pub(crate) until: i64,
    pub(crate) pause: Duration,
    /// The trial call is running.
    pub(crate) is_half_open: bool,
    /// Whether it is recorded, so that the command line can close it.
    pub(crate) is_written: bool,
}

impl State {
    /// Lets a caller's call through unless the breaker is open for it. Returns the breakers that it is the trial call
    /// of.
    pub(crate) fn enter(
        &mut self,
        name: &str,
        caller: &str,
    ) -> Result<Vec<Option<String>>, CallError> {
        let (now, mut trials) = (now_ms(), Vec::new());
        for who in [None, Some(caller.to_owned())] {
            let Some(breaker) = self.open.get(&who) else {
                continue;
            };
            if breaker.is_half_open || now < breaker.until {
                return Err(breaker.refusal(name, now));
            }
            trials.push(who);
        }
        for who in &trials {
            if let Some(breaker) = self.open.get_mut(who) {
                breaker.is_half_open = true;
            }
        }
        Ok(trials)
    }

    /// Records a failure met by a caller.
    pub(crate) fn strike(&mut self, caller: &str, settings: &SupervisionSettings) {
        let now = Instant::now();
        let window = Duration::from_secs(settings.window_s);
        self.strikes
            .retain(|strike| now.saturating_duration_since(strike.at) < window);
        if self.strikes.len() >= MAX_FAILURES {
            self.strikes.pop_front();
        }
        self.strikes.push_back(FailedCall {
            at: now,
            caller: caller.to_owned(),
        });
    }

    /// For whom the breaker has to open after a failure met by this caller; `Some(None)` means all callers.
    pub(crate) fn due(
        &self,
        caller: &str,
        settings: &SupervisionSettings,
    ) -> Option<Option<String>> {
        if self.open.contains_key(&None) {
            return None;
        }
        let most = settings.strikes as usize;
        let callers: BTreeSet<&str> = self.strikes.iter().map(|strike| &*strike.caller).collect();
        if callers.len() > 1 && self.strikes.len() >= most {
            return Some(None);
        }
        let own = Some(caller.to_owned());
        let met = self.strikes.iter().filter(|strike| strike.caller == caller);
        (met.count() >= most && !self.open.contains_key(&own)).then_some(own)
    }

    /// Clears all failures.
    pub(crate) fn reset(&mut self) {
        self.strikes.clear();
    }

    /// Closes a breaker and clears the failures that opened it.
    pub(crate) fn release(&mut self, who: &Option<String>) {
        self.open.remove(who);
        match who {
            None => self.strikes.clear(),
            Some(caller) => self.strikes.retain(|strike| strike.caller != *caller),
        }
    }
}

impl OpenBreaker {
    fn refusal(&self, name: &str, now: i64) -> CallError {
        let wait = match self.is_half_open {
            true => TRIAL_RETRY_MS,
            false => (self.until - now).max(1),
        };
        CallError::new(
            Code::Unavailable,
            format!(
                "the circuit breaker of the component `{name}` is open; try again in {wait} ms: {}",
                self.reason
            ),
        )
        .with_hint(format!(
            "`notehost component log {name}` shows its log; `notehost component enable {name}` closes the circuit \
            breaker"
        ))
        .with_details(json!({
            "retry_after_ms": wait,
            "reason": self.reason,
            "since": when::iso(self.since),
        }))
    }
}

impl From<BreakerRecord> for OpenBreaker {
    fn from(written: BreakerRecord) -> OpenBreaker {
        OpenBreaker {
            reason: written.reason,
            since: written.since,
            until: written.until,
            pause: Duration::from_millis(u64::try_from(written.pause_ms).unwrap_or_default()),
            is_half_open: false,
            is_written: true,
        }
    }
}

/// The end of a pause, in milliseconds since 1970.
pub(crate) fn after(pause: Duration) -> i64 {
    now_ms().saturating_add(i64::try_from(pause.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> SupervisionSettings {
        SupervisionSettings {
            strikes: 3,
            ..SupervisionSettings::default()
        }
    }

    fn struck(callers: &[&str]) -> (State, Option<Option<String>>) {
        let mut state = State::default();
        let mut due = None;
        for caller in callers {
            state.strike(caller, &settings());
            due = state.due(caller, &settings());
        }
        (state, due)
    }

    fn rest(until: i64) -> OpenBreaker {
        OpenBreaker {
            reason: "it failed".into(),
            since: 0,
            until,
            pause: Duration::from_secs(1),
            is_half_open: false,
            is_written: true,
        }
    }

    #[test]
    fn failures_of_one_caller_open_the_breaker_for_that_caller_only() {
        assert_eq!(struck(&["ana", "ana"]).1, None);
        assert_eq!(struck(&["ana", "ana", "ana"]).1, Some(Some("ana".into())));
        assert_eq!(struck(&["ana", "ana", "ben"]).1, Some(None));
        let (mut state, _) = struck(&["ana", "ana", "ana"]);
        state.open.insert(Some("ana".into()), rest(i64::MAX));
        assert!(state.enter("echo", "ana").is_err());
        assert_eq!(state.enter("echo", "ben").expect("let through"), []);
        // What ana met counts, as soon as somebody else meets it too.
        state.strike("ben", &settings());
        assert_eq!(state.due("ben", &settings()), Some(None));
    }

    #[test]
    fn old_failures_expire() {
        let short = SupervisionSettings {
            window_s: 0,
            ..settings()
        };
        let mut state = State::default();
        for _ in 0..9 {
            state.strike("ana", &short);
            assert_eq!(state.due("ana", &short), None);
        }
    }

    #[test]
    fn a_half_open_breaker_admits_one_trial_call() {
        let mut state = State::default();
        state.open.insert(None, rest(0));
        assert_eq!(state.enter("echo", "ana").expect("the trial"), [None]);
        let refused = state.enter("echo", "ben").expect_err("it is being tried");
        assert_eq!(refused.code, "unavailable");
        assert!(refused.retryable());
        assert_eq!(
            refused.details().expect("details")["retry_after_ms"],
            TRIAL_RETRY_MS
        );
        state.release(&None);
        assert_eq!(state.enter("echo", "ben").expect("all is as before"), []);
    }

    #[test]
    fn refused_calls_are_not_trials() {
        let mut state = State::default();
        state.open.insert(None, rest(0));
        state.open.insert(Some("ana".into()), rest(i64::MAX));
        assert!(state.enter("echo", "ana").is_err());
        assert_eq!(state.enter("echo", "ben").expect("the trial"), [None]);
    }
}
