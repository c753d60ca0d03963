//! What happens, as it happens, for whoever watches: every call, and the messages that components show to people. The
//! latest are kept for those who come later; nobody who calls waits for anybody who watches.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use tokio::sync::broadcast;

use super::Entry;

/// How many are kept.
const KEPT: usize = 200;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Event {
    /// Grows by one with each.
    pub number: u64,
    /// In milliseconds since 1970.
    pub time: i64,
    /// What.
    #[serde(flatten)]
    pub what: Happening,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Happening {
    /// Somebody called.
    Call {
        /// Who.
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
        /// How long it took.
        microseconds: u64,
        /// What it changed.
        #[serde(skip_serializing_if = "Option::is_none")]
        change: Option<String>,
    },
    /// A component has something to say to people.
    Notice {
        /// Who called it.
        caller: String,
        /// The domain.
        domain: String,
        /// The vault that the call was about.
        vault: String,
        /// `debug`, `info`, `warn` or `error`.
        level: &'static str,
        /// What it says. Written by whoever called: text, nothing else.
        message: String,
    },
    /// A component failed too often and is kept from being called for a while.
    Quarantine {
        /// The domain.
        domain: String,
        /// Of the component's content.
        digest: String,
        /// The only caller that is kept away; `None` is everybody.
        #[serde(skip_serializing_if = "Option::is_none")]
        for_caller: Option<String>,
        /// What it did.
        reason: String,
        /// How long until a call is tried again.
        pause_ms: u64,
    },
    /// It may be called again.
    Released {
        /// The domain.
        domain: String,
        /// Of the component's content.
        digest: String,
        /// The only caller that was kept away; `None` is everybody.
        #[serde(skip_serializing_if = "Option::is_none")]
        for_caller: Option<String>,
        /// What ended it: a trial that went well, or an admin.
        by: &'static str,
    },
}

/// What happened of late, and whoever watches.
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
            watchers: broadcast::channel(KEPT).0,
        }
    }
}

impl Events {
    /// Tell of something.
    pub fn tell(&self, time: i64, what: Happening) {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.next += 1;
        let event = Arc::new(Event {
            number: recent.next,
            time,
            what,
        });
        if recent.events.len() == KEPT {
            recent.events.pop_front();
        }
        recent.events.push_back(event.clone());
        // Told under the lock, so that whoever begins to watch misses none and sees none twice. Without watchers it fails.
        let _ = self.watchers.send(event);
    }

    /// What happened of late after a number, and all that happens from now on.
    pub fn watch(&self, after: u64) -> (Vec<Arc<Event>>, broadcast::Receiver<Arc<Event>>) {
        let recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let events = recent.events.iter();
        let events = events.filter(|event| event.number > after).cloned();
        (events.collect(), self.watchers.subscribe())
    }
}

impl From<&Entry> for Happening {
    fn from(entry: &Entry) -> Happening {
        Happening::Call {
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

    fn notice(message: &str) -> Happening {
        Happening::Notice {
            caller: "ana".into(),
            domain: "system".into(),
            vault: "main".into(),
            level: "info",
            message: message.into(),
        }
    }

    #[tokio::test]
    async fn whoever_watches_sees_each_once() {
        let events = Events::default();
        for number in 0..KEPT + 5 {
            events.tell(0, notice(&number.to_string()));
        }
        let (recent, mut following) = events.watch(0);
        assert_eq!(recent.len(), KEPT);
        assert_eq!(recent[0].number, 6);
        events.tell(1, notice("new"));
        let next = following.recv().await.expect("one more");
        assert_eq!(next.number, KEPT as u64 + 6);
        assert_eq!(events.watch(next.number - 1).0, [next]);
    }
}
