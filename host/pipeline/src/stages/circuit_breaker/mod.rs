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
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};

use super::authorize::Allowed;
use super::claim::Claim;
use super::throttle::Admitted;
use crate::capabilities::live_rights::LiveRights;
use crate::{CallError, Host};
use notehost_platform::clock::now_ms;
use notehost_records::audit::{EventKind, Failure};
use notehost_records::store::{BreakerRecord, BreakerRecords};
use state::{OpenBreaker, State, after};

/// How often the records are checked for breakers closed by the command line.
const RECORDS_CHECK_INTERVAL: Duration = Duration::from_millis(200);

/// The circuit breakers of all components.
pub(crate) struct CircuitBreakers {
    records: Arc<dyn BreakerRecords>,
    by_component: Mutex<HashMap<Arc<str>, Arc<ComponentBreaker>>>,
}

/// The circuit breaker of one version of a component.
struct ComponentBreaker {
    name: Arc<str>,
    digest: String,
    state: Mutex<State>,
}

/// A call that its component's circuit breaker lets through, with everything that was checked before. Only
/// [`check_breaker`] creates one, and only with it a call runs and commits.
#[must_use]
pub struct Cleared<'h> {
    claim: Claim,
    /// `None` if the component has no breaker.
    _guard: Option<BreakerGuard<'h>>,
}

impl Cleared<'_> {
    /// The idempotency key of the call.
    pub(crate) fn claim(&self) -> &Claim {
        &self.claim
    }
}

/// A running call; its outcome is reported to the breaker when this is dropped.
struct BreakerGuard<'h> {
    host: &'h Host,
    breaker: Arc<ComponentBreaker>,
    rights: Arc<LiveRights>,
    caller: String,
    action: String,
    /// The breakers that this trial call closes if it succeeds.
    trials: Vec<Option<String>>,
}

/// Lets a call through unless its component's breaker is open.
#[tracing::instrument(level = "debug", name = "circuit_breaker", skip_all)]
pub fn check_breaker<'h>(
    host: &'h Host,
    allowed: &Allowed,
    admitted: Admitted,
) -> Result<Cleared<'h>, CallError> {
    let _stage = allowed.clock.stage("circuit_breaker");
    Ok(Cleared {
        _guard: guard(host, allowed)?,
        claim: admitted.into_claim(),
    })
}

fn guard<'h>(host: &'h Host, allowed: &Allowed) -> Result<Option<BreakerGuard<'h>>, CallError> {
    let found = &allowed.checked.found;
    let Some(component) = &found.domain.component else {
        return Ok(None);
    };
    if host.settings().supervision.strikes == 0 {
        return Ok(None);
    }
    let breakers = host.circuit_breakers();
    let breaker = breakers.of_version(&found.domain.shared_name, component.digest());
    let caller = allowed.caller.key();
    let mut state = breaker.state();
    if !state.open.is_empty() {
        breakers.release_closed_elsewhere(host, &breaker, &mut state);
    }
    let trials = state.enter(&breaker.name, &caller)?;
    drop(state);
    Ok(Some(BreakerGuard {
        host,
        breaker,
        rights: allowed.live_rights.clone(),
        caller,
        action: found.full_name(),
        trials,
    }))
}

impl Drop for BreakerGuard<'_> {
    fn drop(&mut self) {
        let outcome = self.rights.guest_outcome();
        if outcome.failure.is_none() && self.trials.is_empty() {
            return;
        }
        let mut state = self.breaker.state();
        match outcome.failure {
            Some(failure) => self.strike(&mut state, failure),
            None if outcome.has_answered => {
                for who in &self.trials {
                    state.release(who);
                    self.report_closed(who, "trial");
                }
            }
            // The outcome is unknown: the next call is the trial.
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
                    describe(failure)
                );
                breaker.is_written = self.report_open(who, breaker);
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
                describe(failure)
            ),
            since: now_ms(),
            until: after(pause),
            pause,
            is_half_open: false,
            is_written: false,
        };
        breaker.is_written = self.report_open(&who, &breaker);
        if who.is_none() {
            // A breaker that is open for all callers replaces those of single callers.
            for one in state.open.keys() {
                self.host.circuit_breakers().forget(&self.breaker.name, one);
            }
            state.open.clear();
            state.reset();
        }
        state.open.insert(who, breaker);
    }

    /// Records an open breaker and emits an event. Returns whether it was recorded.
    fn report_open(&self, who: &Option<String>, breaker: &OpenBreaker) -> bool {
        let (component, digest) = (self.breaker.name.to_string(), self.breaker.digest.clone());
        let pause_ms = u64::try_from(breaker.pause.as_millis()).unwrap_or(u64::MAX);
        tracing::warn!(
            component,
            caller = who,
            pause_ms,
            "the circuit breaker is open: {}",
            breaker.reason
        );
        let event = EventKind::Quarantine {
            domain: component.clone(),
            digest: digest.clone(),
            for_caller: who.clone(),
            reason: breaker.reason.clone(),
            pause_ms,
        };
        self.host.audit().events().publish(now_ms(), event);
        let written = self
            .host
            .circuit_breakers()
            .records
            .store_breaker(&BreakerRecord {
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
        breakers.forget(&self.breaker.name, who);
        report_released(self.host, &self.breaker, who, by);
    }
}

impl CircuitBreakers {
    pub(crate) fn new(records: Arc<dyn BreakerRecords>) -> CircuitBreakers {
        CircuitBreakers {
            records,
            by_component: Mutex::default(),
        }
    }

    /// Closes all breakers of a component on behalf of an admin. Returns whether one was open.
    pub(crate) fn close(&self, host: &Host, component: &str) -> bool {
        let written = self.records.close_breakers(component).unwrap_or(false);
        let breaker = self.by_component.lock().get(component).cloned();
        let Some(breaker) = breaker else {
            return written;
        };
        let mut state = breaker.state();
        state.reset();
        let open = std::mem::take(&mut state.open);
        for who in open.keys() {
            report_released(host, &breaker, who, "admin");
        }
        written || !open.is_empty()
    }

    /// The breaker of the component's current version; another version starts closed.
    fn of_version(&self, name: &Arc<str>, digest: &str) -> Arc<ComponentBreaker> {
        let mut all = self.by_component.lock();
        if let Some(known) = all.get(name).filter(|known| known.digest == digest) {
            return known.clone();
        }
        // After a restart, the recorded state of this very version applies.
        let known = self.records.open_breakers_of(name).unwrap_or_default();
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
        let breaker = Arc::new(ComponentBreaker {
            name: name.clone(),
            digest: digest.to_owned(),
            state: Mutex::new(state),
        });
        all.insert(name.clone(), breaker.clone());
        breaker
    }

    /// Closes the breakers that the command line has closed in the records.
    fn release_closed_elsewhere(&self, host: &Host, breaker: &ComponentBreaker, state: &mut State) {
        let now = Instant::now();
        if state
            .records_checked
            .is_some_and(|last| now < last + RECORDS_CHECK_INTERVAL)
        {
            return;
        }
        state.records_checked = Some(now);
        let Ok(written) = self.records.open_breakers_of(&breaker.name) else {
            return;
        };
        let is_there = |who: &Option<String>| written.iter().any(|row| row.caller == *who);
        let lifted: Vec<Option<String>> = state
            .open
            .iter()
            .filter(|(who, open)| open.is_written && !is_there(who))
            .map(|(who, _)| who.clone())
            .collect();
        for who in lifted {
            state.release(&who);
            report_released(host, breaker, &who, "admin");
        }
    }

    fn forget(&self, component: &str, who: &Option<String>) {
        if let Err(error) = self.records.close_breaker(component, who.as_deref()) {
            tracing::warn!("the closing of a circuit breaker could not be stored: {error}");
        }
    }
}

impl ComponentBreaker {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

fn report_released(
    host: &Host,
    breaker: &ComponentBreaker,
    who: &Option<String>,
    by: &'static str,
) {
    tracing::info!(
        component = &*breaker.name,
        caller = who,
        by,
        "the circuit breaker is closed"
    );
    let event = EventKind::Released {
        domain: breaker.name.to_string(),
        digest: breaker.digest.clone(),
        for_caller: who.clone(),
        by,
    };
    host.audit().events().publish(now_ms(), event);
}

fn describe(failure: Failure) -> &'static str {
    match failure {
        Failure::Trap => "it trapped",
        Failure::OverLimit => "it exceeded a limit",
        Failure::TimedOut => "it timed out",
    }
}
