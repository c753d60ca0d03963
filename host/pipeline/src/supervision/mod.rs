//! Components that keep failing are given a rest: their calls are answered at once instead of using up time and memory
//! first, and after a pause one call is let through as a trial. If it goes well all is as before, otherwise the pause
//! doubles. Another version of a component begins with nothing held against it, and an admin can end a rest by hand.
//!
//! What counts is what a component does itself: it breaks, takes too long, wants more than it may use. What it refuses
//! politely, what its caller gives up, and a call that only waited for its turn count for nothing.
//!
//! A caller may be able to make a component fail, with a huge request or a clever one, and must not take it away from
//! others by that. So what is met by one caller alone is held against the component for that caller alone; only what
//! happens to several of them lets it rest for everybody. One who has two tokens can still do it, and is found in the
//! audit.

mod rests;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::authorize::Allowed;
use super::standing::CallStanding;
use super::{CallError, Host};
use notehost_policy::{Quarantine, Quarantines};
use notehost_records::audit::{EventKind, Failure};
use notehost_records::database::{Database, now_ms};
use rests::{Rest, State, after};

/// How often it is looked whether the command line has ended a rest.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Which components rest, and what others have done of late.
pub(super) struct Supervision {
    records: Quarantines,
    watched: Mutex<HashMap<Arc<str>, Arc<Watched>>>,
}

/// One version of a component.
struct Watched {
    name: Arc<str>,
    digest: String,
    state: Mutex<State>,
}

/// A call of a component, watched until it has ended.
pub(super) struct Watching<'h> {
    host: &'h Host,
    watched: Arc<Watched>,
    standing: Arc<CallStanding>,
    caller: String,
    action: String,
    /// The rests that end if it goes well.
    trials: Vec<Option<String>>,
}

/// Let a call through, unless its component rests.
pub(super) fn supervise<'h>(
    host: &'h Host,
    allowed: &Allowed,
) -> Result<Option<Watching<'h>>, CallError> {
    let found = &allowed.checked.found;
    let Some(component) = &found.domain.component else {
        return Ok(None);
    };
    if host.settings().supervision.strikes == 0 {
        return Ok(None);
    }
    let supervision = host.supervision();
    let watched = supervision.watched(&found.domain.shared_name, component.digest());
    let caller = allowed.caller.key();
    let mut state = watched.state();
    if !state.rests.is_empty() {
        supervision.look(host, &watched, &mut state);
    }
    let trials = state.enter(&watched.name, &caller)?;
    drop(state);
    Ok(Some(Watching {
        host,
        watched,
        standing: allowed.standing.clone(),
        caller,
        action: found.full_name(),
        trials,
    }))
}

impl Drop for Watching<'_> {
    fn drop(&mut self) {
        let conduct = self.standing.conduct();
        if conduct.failure.is_none() && self.trials.is_empty() {
            return;
        }
        let mut state = self.watched.state();
        match conduct.failure {
            Some(failure) => self.strike(&mut state, failure),
            None if conduct.has_answered => {
                for who in &self.trials {
                    state.release(who);
                    self.tell_released(who, "trial");
                }
            }
            // Nobody knows how it would have ended: the next one tries again.
            None => {
                for who in &self.trials {
                    if let Some(rest) = state.rests.get_mut(who) {
                        rest.is_tried = false;
                    }
                }
            }
        }
    }
}

impl Watching<'_> {
    fn strike(&self, state: &mut State, failure: Failure) {
        let settings = &self.host.settings().supervision;
        state.strike(&self.caller, settings);
        for who in &self.trials {
            if let Some(rest) = state.rests.get_mut(who) {
                let longest = Duration::from_secs(settings.longest_pause_s);
                rest.pause = rest.pause.saturating_mul(2).min(longest);
                rest.until = after(rest.pause);
                rest.is_tried = false;
                rest.reason = format!(
                    "{}; the trial failed as well: in `{}` {}",
                    rest.reason.split(';').next().unwrap_or_default(),
                    self.action,
                    words(failure)
                );
                rest.is_written = self.tell(who, rest);
            }
        }
        let Some(who) = state.due(&self.caller, settings) else {
            return;
        };
        let pause = Duration::from_secs(settings.first_pause_s);
        let mut rest = Rest {
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
            is_tried: false,
            is_written: false,
        };
        rest.is_written = self.tell(&who, &rest);
        if who.is_none() {
            // What holds for everybody holds for each.
            for one in state.rests.keys() {
                self.host.supervision().forget(&self.watched.name, one);
            }
            state.rests.clear();
            state.forgive();
        }
        state.rests.insert(who, rest);
    }

    /// Write a rest down and tell whoever watches; whether it could be written.
    fn tell(&self, who: &Option<String>, rest: &Rest) -> bool {
        let (component, digest) = (self.watched.name.to_string(), self.watched.digest.clone());
        let pause_ms = u64::try_from(rest.pause.as_millis()).unwrap_or(u64::MAX);
        tracing::warn!(component, caller = who, pause_ms, "rests: {}", rest.reason);
        let happening = EventKind::Quarantine {
            domain: component.clone(),
            digest: digest.clone(),
            for_caller: who.clone(),
            reason: rest.reason.clone(),
            pause_ms,
        };
        self.host.audit().events().publish(now_ms(), happening);
        let written = self.host.supervision().records.put(&Quarantine {
            component,
            caller: who.clone(),
            digest,
            reason: rest.reason.clone(),
            since: rest.since,
            until: rest.until,
            pause_ms: i64::try_from(pause_ms).unwrap_or(i64::MAX),
        });
        written
            .inspect_err(|error| tracing::warn!("a rest could not be written down: {error}"))
            .is_ok()
    }

    fn tell_released(&self, who: &Option<String>, by: &'static str) {
        let supervision = self.host.supervision();
        supervision.forget(&self.watched.name, who);
        released(self.host, &self.watched, who, by);
    }
}

impl Supervision {
    pub(super) fn new(database: Arc<Database>) -> Supervision {
        Supervision {
            records: Quarantines::new(database),
            watched: Mutex::default(),
        }
    }

    /// End every rest of a component: an admin says so. Whether there was one.
    pub(super) fn lift(&self, host: &Host, component: &str) -> bool {
        let written = self.records.lift(component).unwrap_or(false);
        let watched = self.lock().get(component).cloned();
        let Some(watched) = watched else {
            return written;
        };
        let mut state = watched.state();
        state.forgive();
        let rests = std::mem::take(&mut state.rests);
        for who in rests.keys() {
            released(host, &watched, who, "admin");
        }
        written || !rests.is_empty()
    }

    /// A component as it is now; another version begins anew.
    fn watched(&self, name: &Arc<str>, digest: &str) -> Arc<Watched> {
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
                    .rests
                    .insert(written.caller.clone(), Rest::from(written));
            } else {
                self.forget(name, &written.caller);
            }
        }
        let watched = Arc::new(Watched {
            name: name.clone(),
            digest: digest.to_owned(),
            state: Mutex::new(state),
        });
        all.insert(name.clone(), watched.clone());
        watched
    }

    /// Look whether the command line has ended a rest.
    fn look(&self, host: &Host, watched: &Watched, state: &mut State) {
        let now = Instant::now();
        if state.looked.is_some_and(|last| now < last + LOOK_EVERY) {
            return;
        }
        state.looked = Some(now);
        let Ok(written) = self.records.of(&watched.name) else {
            return;
        };
        let is_there = |who: &Option<String>| written.iter().any(|row| row.caller == *who);
        let lifted: Vec<Option<String>> = state
            .rests
            .iter()
            .filter(|(who, rest)| rest.is_written && !is_there(who))
            .map(|(who, _)| who.clone())
            .collect();
        for who in lifted {
            state.release(&who);
            released(host, watched, &who, "admin");
        }
    }

    fn forget(&self, component: &str, who: &Option<String>) {
        if let Err(error) = self.records.end(component, who.as_deref()) {
            tracing::warn!("the end of a rest could not be written down: {error}");
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<Watched>>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watched {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn released(host: &Host, watched: &Watched, who: &Option<String>, by: &'static str) {
    tracing::info!(
        component = &*watched.name,
        caller = who,
        by,
        "rests no longer"
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
        Failure::Trap => "it broke",
        Failure::OverLimit => "it wanted more than it may use",
        Failure::TimedOut => "it took too long",
    }
}
