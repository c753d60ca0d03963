//! Circuit breakers. A component that keeps failing gets its breaker opened: its calls are refused at once instead of
//! using time and memory. After a pause the breaker is half-open and lets one trial call through: success closes it,
//! failure doubles the pause. Another version of a component starts with a closed breaker, and an admin can close one
//! by hand.
//!
//! Only a component's own failures count: traps, timeouts, exceeded limits. Errors that it returns, calls that the
//! caller cancels, and calls that only waited in the queue do not count.
//!
//! A caller may be able to make a component fail, for example with a huge request, and must not take it away from
//! others. So the failures of a single caller open the breaker for that caller only; failures of several callers open
//! it for all. Someone with two tokens can still do it, and is visible in the audit log.

mod state;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::authorize::Allowed;
use super::live_rights::LiveRights;
use super::{CallError, Host};
use notehost_policy::{BreakerRecord, BreakerRecords};
use notehost_records::audit::{EventKind, Failure};
use notehost_records::database::{Database, now_ms};
use state::{OpenBreaker, State, after};

/// How often the records are checked for breakers closed by the command line.
const RECORDS_CHECK_INTERVAL: Duration = Duration::from_millis(200);
/// The circuit breakers of all components.
pub(super) struct CircuitBreakers {
    records: BreakerRecords,
    watched: Mutex<HashMap<Arc<str>, Arc<ComponentBreaker>>>,
}

/// The circuit breaker of one version of a component.
struct ComponentBreaker {
    name: Arc<str>,
    digest: String,
    state: Mutex<State>,
}

/// A running call; its outcome is reported to the breaker when this is dropped.
pub(super) struct BreakerGuard<'h> {
    host: &'h Host,
    watched: Arc<ComponentBreaker>,
    standing: Arc<LiveRights>,
    caller: String,
    action: String,
    /// The breakers that this trial call closes if it succeeds.
    trials: Vec<Option<String>>,
}

/// Lets a call through unless its component's breaker is open.
pub(super) fn check_breaker<'h>(
    host: &'h Host,
    allowed: &Allowed,
) -> Result<Option<BreakerGuard<'h>>, CallError> {
    let found = &allowed.checked.found;
    let Some(component) = &found.domain.component else {
        return Ok(None);
    };
    if host.settings().supervision.strikes == 0 {
        return Ok(None);
    }
    let breakers = host.circuit_breakers();
    let watched = breakers.watched(&found.domain.shared_name, component.digest());
    let caller = allowed.caller.key();
    let mut state = watched.state();
    if !state.open.is_empty() {
        breakers.look(host, &watched, &mut state);
    }
    let trials = state.enter(&watched.name, &caller)?;
    drop(state);
    Ok(Some(BreakerGuard {
        host,
        watched,
        standing: allowed.standing.clone(),
        caller,
        action: found.full_name(),
        trials,
    }))
}

impl Drop for BreakerGuard<'_> {
    fn drop(&mut self) {
        let conduct = self.standing.guest_outcome();
        if conduct.failure.is_none() && self.trials.is_empty() {
            return;
        }
        let mut state = self.watched.state();
        match conduct.failure {
            Some(failure) => self.strike(&mut state, failure),
            None if conduct.has_answered => {
                for who in &self.trials {
                    state.release(who);
                    self.report_closed(who, "trial");
                }
            }
            // Nobody knows how it would have ended: the next one tries again.
            None => {
                for who in &self.trials {
                    if let Some(breaker) = state.open.get_mut(who) {
                        breaker.is_half_open = false;
                    }
                }
            }
        }
    }
}

impl BreakerGuard<'_> {
    fn strike(&self, state: &mut State, failure: Failure) {
        let settings = &self.host.settings().supervision;
        state.strike(&self.caller, settings);
        for who in &self.trials {
            if let Some(breaker) = state.open.get_mut(who) {
                let longest = Duration::from_secs(settings.longest_pause_s);
                breaker.pause = breaker.pause.saturating_mul(2).min(longest);
                breaker.until = after(breaker.pause);
                breaker.is_half_open = false;
                breaker.reason = format!(
                    "{}; the trial call failed too: in `{}` {}",
                    breaker.reason.split(';').next().unwrap_or_default(),
                    self.action,
                    words(failure)
                );
                breaker.is_written = self.tell(who, breaker);
            }
        }
        let Some(who) = state.due(&self.caller, settings) else {
            return;
        };
        let pause = Duration::from_secs(settings.first_pause_s);
        let mut breaker = OpenBreaker {
            reason: format!(
                "it failed {} times within {} s; the last time, in `{}`, {}",
                settings.strikes,
                settings.window_s,
                self.action,
                words(failure)
            ),
            since: now_ms(),
            until: after(pause),
            pause,
            is_half_open: false,
            is_written: false,
        };
        breaker.is_written = self.tell(&who, &breaker);
        if who.is_none() {
            // What holds for everybody holds for each.
            for one in state.open.keys() {
                self.host.circuit_breakers().forget(&self.watched.name, one);
            }
            state.open.clear();
            state.reset();
        }
        state.open.insert(who, breaker);
    }

    /// Records an open breaker and emits an event. Returns whether it was recorded.
    fn tell(&self, who: &Option<String>, breaker: &OpenBreaker) -> bool {
        let (component, digest) = (self.watched.name.to_string(), self.watched.digest.clone());
        let pause_ms = u64::try_from(breaker.pause.as_millis()).unwrap_or(u64::MAX);
        tracing::warn!(
            component,
            caller = who,
            pause_ms,
            "the circuit breaker is open: {}",
            breaker.reason
        );
        let happening = EventKind::Quarantine {
            domain: component.clone(),
            digest: digest.clone(),
            for_caller: who.clone(),
            reason: breaker.reason.clone(),
            pause_ms,
        };
        self.host.audit().events().publish(now_ms(), happening);
        let written = self.host.circuit_breakers().records.put(&BreakerRecord {
            component,
            caller: who.clone(),
            digest,
            reason: breaker.reason.clone(),
            since: breaker.since,
            until: breaker.until,
            pause_ms: i64::try_from(pause_ms).unwrap_or(i64::MAX),
        });
        written
            .inspect_err(|error| {
                tracing::warn!("the state of a circuit breaker could not be stored: {error}")
            })
            .is_ok()
    }

    fn report_closed(&self, who: &Option<String>, by: &'static str) {
        let breakers = self.host.circuit_breakers();
        breakers.forget(&self.watched.name, who);
        released(self.host, &self.watched, who, by);
    }
}

impl CircuitBreakers {
    pub(super) fn new(database: Arc<Database>) -> CircuitBreakers {
        CircuitBreakers {
            records: BreakerRecords::new(database),
            watched: Mutex::default(),
        }
    }

    /// Closes all breakers of a component on behalf of an admin. Returns whether one was open.
    pub(super) fn close(&self, host: &Host, component: &str) -> bool {
        let written = self.records.lift(component).unwrap_or(false);
        let watched = self.lock().get(component).cloned();
        let Some(watched) = watched else {
            return written;
        };
        let mut state = watched.state();
        state.reset();
        let open = std::mem::take(&mut state.open);
        for who in open.keys() {
            released(host, &watched, who, "admin");
        }
        written || !open.is_empty()
    }

    /// The breaker of the component's current version; another version starts closed.
    fn watched(&self, name: &Arc<str>, digest: &str) -> Arc<ComponentBreaker> {
        let mut all = self.lock();
        if let Some(known) = all.get(name).filter(|known| known.digest == digest) {
            return known.clone();
        }
        // A process that was started again goes on with what is written down of this very version.
        let known = self.records.of(name).unwrap_or_default();
        let mut state = State::default();
        for written in known {
            if written.digest == digest {
                state
                    .open
                    .insert(written.caller.clone(), OpenBreaker::from(written));
            } else {
                self.forget(name, &written.caller);
            }
        }
        let watched = Arc::new(ComponentBreaker {
            name: name.clone(),
            digest: digest.to_owned(),
            state: Mutex::new(state),
        });
        all.insert(name.clone(), watched.clone());
        watched
    }

    /// Checks whether the command line has closed a breaker.
    fn look(&self, host: &Host, watched: &ComponentBreaker, state: &mut State) {
        let now = Instant::now();
        if state
            .looked
            .is_some_and(|last| now < last + RECORDS_CHECK_INTERVAL)
        {
            return;
        }
        state.looked = Some(now);
        let Ok(written) = self.records.of(&watched.name) else {
            return;
        };
        let is_there = |who: &Option<String>| written.iter().any(|row| row.caller == *who);
        let lifted: Vec<Option<String>> = state
            .open
            .iter()
            .filter(|(who, breaker)| breaker.is_written && !is_there(who))
            .map(|(who, _)| who.clone())
            .collect();
        for who in lifted {
            state.release(&who);
            released(host, watched, &who, "admin");
        }
    }

    fn forget(&self, component: &str, who: &Option<String>) {
        if let Err(error) = self.records.end(component, who.as_deref()) {
            tracing::warn!("the closing of a circuit breaker could not be stored: {error}");
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<ComponentBreaker>>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ComponentBreaker {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn released(host: &Host, watched: &ComponentBreaker, who: &Option<String>, by: &'static str) {
    tracing::info!(
        component = &*watched.name,
        caller = who,
        by,
        "the circuit breaker is closed"
    );
    let happening = EventKind::Released {
        domain: watched.name.to_string(),
        digest: watched.digest.clone(),
        for_caller: who.clone(),
        by,
    };
    host.audit().events().publish(now_ms(), happening);
}

fn words(failure: Failure) -> &'static str {
    match failure {
        Failure::Trap => "it trapped",
        Failure::OverLimit => "it exceeded a limit",
        Failure::TimedOut => "it timed out",
    }
}
