//! Live events: every call, and the messages of components for people. The
//! latest are kept for later subscribers; calls never wait for subscribers.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::broadcast;

use super::Entry;

/// The number of kept events.
const MAX_EVENTS: usize = 200;

/// An event with its number and time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Event {
    /// The number, ascending by one.
    pub number: u64,
    /// The time in milliseconds since 1970.
    pub time: i64,
    /// The event.
    #[serde(flatten)]
    pub what: EventKind,
}

/// The kinds of events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum EventKind {
    /// A call has ended.
    Call {
        /// The caller.
        caller: String,
        /// The domain.
        domain: String,
        /// The action.
        action: String,
        /// The vault.
        #[serde(skip_serializing_if = "Option::is_none")]
        vault: Option<String>,
        /// The notes it was about.
        paths: Vec<String>,
        /// `ok`, an error code, or `cancelled`.
        outcome: &'static str,
        /// The duration.
        microseconds: u64,
        /// The id of its change.
        #[serde(skip_serializing_if = "Option::is_none")]
        change: Option<String>,
    },
    /// A component shows a message to people.
    Notice {
        /// The caller.
        caller: String,
        /// The domain.
        domain: String,
        /// The vault that the call was about.
        vault: String,
        /// `debug`, `info`, `warn` or `error`.
        level: &'static str,
        /// The message: untrusted plain text.
        message: String,
    },
    /// The circuit breaker of a component opened.
    Quarantine {
        /// The domain.
        domain: String,
        /// The digest of the component.
        digest: String,
        /// The only caller that is blocked; `None` is everybody.
        #[serde(skip_serializing_if = "Option::is_none")]
        for_caller: Option<String>,
        /// The last failure.
        reason: String,
        /// The time until a trial call.
        pause_ms: u64,
    },
    /// The circuit breaker closed.
    Released {
        /// The domain.
        domain: String,
        /// The digest of the component.
        digest: String,
        /// The only caller that was blocked; `None` is everybody.
        #[serde(skip_serializing_if = "Option::is_none")]
        for_caller: Option<String>,
        /// Why it closed: a successful trial call, or an admin.
        by: &'static str,
    },
}

/// The recent events, and the subscribers.
pub struct Events {
    recent: Mutex<Recent>,
    watchers: broadcast::Sender<Arc<Event>>,
}

#[derive(Default)]
struct Recent {
    next: u64,
    events: VecDeque<Arc<Event>>,
}

impl Default for Events {
    fn default() -> Events {
        Events {
            recent: Mutex::default(),
            watchers: broadcast::channel(MAX_EVENTS).0,
        }
    }
}

impl Events {
    /// Publishes an event.
    pub fn publish(&self, time: i64, what: EventKind) {
        let mut recent = self.recent.lock();
        recent.next += 1;
        let event = Arc::new(Event {
            number: recent.next,
            time,
            what,
        });
        if recent.events.len() == MAX_EVENTS {
            recent.events.pop_front();
        }
        recent.events.push_back(event.clone());
        // Sent under the lock, so that a new subscriber misses no event and gets none twice. Fails without subscribers.
        let _ = self.watchers.send(event);
    }

    /// The kept events after a number, and a receiver of all later ones.
    pub fn watch(&self, after: u64) -> (Vec<Arc<Event>>, broadcast::Receiver<Arc<Event>>) {
        let recent = self.recent.lock();
        let events = recent.events.iter();
        let events = events.filter(|event| event.number > after).cloned();
        (events.collect(), self.watchers.subscribe())
    }
}

impl From<&Entry> for EventKind {
    fn from(entry: &Entry) -> EventKind {
        EventKind::Call {
            caller: entry.caller.clone(),
            domain: entry.domain.clone(),
            action: entry.action.clone(),
            vault: entry.vault.clone(),
            paths: entry.paths.clone(),
            outcome: entry.outcome,
            microseconds: entry.microseconds,
            change: entry.change.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notice(message: &str) -> EventKind {
        EventKind::Notice {
            caller: "ana".into(),
            domain: "system".into(),
            vault: "main".into(),
            level: "info",
            message: message.into(),
        }
    }

    #[tokio::test]
    async fn subscribers_receive_each_event_once() {
        let events = Events::default();
        for number in 0..MAX_EVENTS + 5 {
            events.publish(0, notice(&number.to_string()));
        }
        let (recent, mut following) = events.watch(0);
        assert_eq!(recent.len(), MAX_EVENTS);
        assert_eq!(recent[0].number, 6);
        events.publish(1, notice("new"));
        let next = following.recv().await.expect("one more");
        assert_eq!(next.number, MAX_EVENTS as u64 + 6);
        assert_eq!(events.watch(next.number - 1).0, [next]);
    }
}
