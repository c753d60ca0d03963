//! What is held against a component, and for whom it rests. Nothing here knows of calls or records.

use notehost_sdk::Code;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::{Duration, Instant};

use serde_json::json;

use super::super::CallError;
use notehost_config::SupervisionSettings;
use notehost_policy::Quarantine;
use notehost_records::database::now_ms;
use notehost_records::when;

/// How many failures are remembered of a component.
const MOST_STRIKES: usize = 1000;
/// What a caller is told to wait while somebody else's call is the trial.
const TRIAL_MS: i64 = 1000;

/// What is held against a component.
#[derive(Default)]
pub(super) struct State {
    strikes: VecDeque<Strike>,
    /// By the only caller that is kept away; `None` is everybody.
    pub(super) rests: HashMap<Option<String>, Rest>,
    pub(super) looked: Option<Instant>,
}

/// One failure.
struct Strike {
    at: Instant,
    caller: String,
}

/// A pause in which a component is not called.
pub(super) struct Rest {
    pub(super) reason: String,
    pub(super) since: i64,
    pub(super) until: i64,
    pub(super) pause: Duration,
    /// One call is under way to see whether it goes well again.
    pub(super) is_tried: bool,
    /// Whether the command line can see it, and so end it.
    pub(super) is_written: bool,
}

impl State {
    /// Let a caller's call through, unless a rest holds for it. Returns the rests that it is the trial of.
    pub(super) fn enter(
        &mut self,
        name: &str,
        caller: &str,
    ) -> Result<Vec<Option<String>>, CallError> {
        let (now, mut trials) = (now_ms(), Vec::new());
        for who in [None, Some(caller.to_owned())] {
            let Some(rest) = self.rests.get(&who) else {
                continue;
            };
            if rest.is_tried || now < rest.until {
                return Err(rest.refusal(name, now));
            }
            trials.push(who);
        }
        for who in &trials {
            if let Some(rest) = self.rests.get_mut(who) {
                rest.is_tried = true;
            }
        }
        Ok(trials)
    }

    /// Remember a failure that a caller met.
    pub(super) fn strike(&mut self, caller: &str, settings: &SupervisionSettings) {
        let now = Instant::now();
        let window = Duration::from_secs(settings.window_s);
        self.strikes
            .retain(|strike| now.saturating_duration_since(strike.at) < window);
        if self.strikes.len() >= MOST_STRIKES {
            self.strikes.pop_front();
        }
        self.strikes.push_back(Strike {
            at: now,
            caller: caller.to_owned(),
        });
    }

    /// For whom a rest is due after a failure that this caller met; `Some(None)` is everybody.
    pub(super) fn due(
        &self,
        caller: &str,
        settings: &SupervisionSettings,
    ) -> Option<Option<String>> {
        if self.rests.contains_key(&None) {
            return None;
        }
        let most = settings.strikes as usize;
        let callers: BTreeSet<&str> = self.strikes.iter().map(|strike| &*strike.caller).collect();
        if callers.len() > 1 && self.strikes.len() >= most {
            return Some(None);
        }
        let own = Some(caller.to_owned());
        let met = self.strikes.iter().filter(|strike| strike.caller == caller);
        (met.count() >= most && !self.rests.contains_key(&own)).then_some(own)
    }

    /// Nothing is held against it any more.
    pub(super) fn forgive(&mut self) {
        self.strikes.clear();
    }

    /// A rest is over, and what led to it is forgotten.
    pub(super) fn release(&mut self, who: &Option<String>) {
        self.rests.remove(who);
        match who {
            None => self.strikes.clear(),
            Some(caller) => self.strikes.retain(|strike| strike.caller != *caller),
        }
    }
}

impl Rest {
    fn refusal(&self, name: &str, now: i64) -> CallError {
        let wait = match self.is_tried {
            true => TRIAL_MS,
            false => (self.until - now).max(1),
        };
        CallError::new(
            Code::Unavailable,
            format!(
                "the component `{name}` is given a rest and is tried again in {wait} ms: {}",
                self.reason
            ),
        )
        .with_hint(format!(
            "`notehost component log {name}` shows what it said; `notehost component enable {name}` ends the rest"
        ))
        .with_details(json!({
            "retry_after_ms": wait,
            "reason": self.reason,
            "since": when::iso(self.since),
        }))
    }
}

impl From<Quarantine> for Rest {
    fn from(written: Quarantine) -> Rest {
        Rest {
            reason: written.reason,
            since: written.since,
            until: written.until,
            pause: Duration::from_millis(u64::try_from(written.pause_ms).unwrap_or_default()),
            is_tried: false,
            is_written: true,
        }
    }
}

/// The moment after a pause, in milliseconds since 1970.
pub(super) fn after(pause: Duration) -> i64 {
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

    fn rest(until: i64) -> Rest {
        Rest {
            reason: "it failed".into(),
            since: 0,
            until,
            pause: Duration::from_secs(1),
            is_tried: false,
            is_written: true,
        }
    }

    #[test]
    fn one_caller_locks_out_nobody_else() {
        assert_eq!(struck(&["ana", "ana"]).1, None);
        assert_eq!(struck(&["ana", "ana", "ana"]).1, Some(Some("ana".into())));
        assert_eq!(struck(&["ana", "ana", "ben"]).1, Some(None));
        let (mut state, _) = struck(&["ana", "ana", "ana"]);
        state.rests.insert(Some("ana".into()), rest(i64::MAX));
        assert!(state.enter("echo", "ana").is_err());
        assert_eq!(state.enter("echo", "ben").expect("let through"), []);
        // What ana met counts, as soon as somebody else meets it too.
        state.strike("ben", &settings());
        assert_eq!(state.due("ben", &settings()), Some(None));
    }

    #[test]
    fn what_was_long_ago_counts_no_more() {
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
    fn one_call_is_the_trial_and_others_wait_for_it() {
        let mut state = State::default();
        state.rests.insert(None, rest(0));
        assert_eq!(state.enter("echo", "ana").expect("the trial"), [None]);
        let refused = state.enter("echo", "ben").expect_err("it is being tried");
        assert_eq!(refused.code, "unavailable");
        assert!(refused.retryable());
        assert_eq!(
            refused.details.expect("details")["retry_after_ms"],
            TRIAL_MS
        );
        state.release(&None);
        assert_eq!(state.enter("echo", "ben").expect("all is as before"), []);
    }

    #[test]
    fn a_call_that_is_refused_is_no_trial() {
        let mut state = State::default();
        state.rests.insert(None, rest(0));
        state.rests.insert(Some("ana".into()), rest(i64::MAX));
        assert!(state.enter("echo", "ana").is_err());
        assert_eq!(state.enter("echo", "ben").expect("the trial"), [None]);
    }
}
