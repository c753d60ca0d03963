//! Whose session is whose, in the era that has them: a session belongs to the caller who began it, and nobody can begin
//! any number of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http::{Method, StatusCode};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

use crate::auth::{Caller, Proof};

/// So many sessions are held at once, at about 55 KiB each.
const MOST: usize = 4096;

/// And so many of one caller, so that none can keep the others out.
const MOST_OF_ONE: usize = 2048;

/// What rmcp keeps sessions in. One on which nothing happens for so long is ended; its client begins another one.
pub(super) fn manager(idle: Duration) -> Arc<LocalSessionManager> {
    let mut manager = LocalSessionManager::default();
    manager.session_config.keep_alive = Some(idle);
    Arc::new(manager)
}

/// Says that a session has ended as clients expect to hear it: rmcp answers 202, and the Python SDK takes that for a
/// failure.
pub(super) async fn tell_end(request: Request, next: Next) -> Response {
    let is_end = request.method() == Method::DELETE;
    let mut response = next.run(request).await;
    if is_end && response.status() == StatusCode::ACCEPTED {
        *response.status_mut() = StatusCode::NO_CONTENT;
    }
    response
}

/// Who began which session.
pub(super) struct Owners {
    manager: Arc<LocalSessionManager>,
    by_session: Mutex<HashMap<String, Owner>>,
}

/// A caller, as sessions know it. What it may do is looked up at each request: a token may be renewed with other scopes.
#[derive(PartialEq, Eq)]
struct Owner {
    name: String,
    proof: Proof,
}

impl Owner {
    fn of(caller: &Caller) -> Owner {
        Owner {
            name: caller.name().to_owned(),
            proof: caller.proof(),
        }
    }
}

impl Owners {
    pub(super) fn new(manager: Arc<LocalSessionManager>) -> Owners {
        Owners {
            manager,
            by_session: Mutex::default(),
        }
    }

    /// How many sessions there are.
    pub(super) async fn count(&self) -> usize {
        self.manager.sessions.read().await.len()
    }

    /// Whether a caller began this session.
    pub(super) fn is_of(&self, session: &str, caller: &Caller) -> bool {
        self.lock().get(session) == Some(&Owner::of(caller))
    }

    /// Whether a caller can begin another session.
    pub(super) async fn has_room(&self, caller: &Caller) -> bool {
        let live = self.manager.sessions.read().await;
        let mut owners = self.lock();
        // Sessions that have ended are forgotten here, and only when they have become many: most requests pass by.
        if owners.len() > 2 * live.len() + 64 || owners.len() >= MOST_OF_ONE {
            owners.retain(|session, _| live.contains_key(session.as_str()));
        }
        let owner = Owner::of(caller);
        live.len() < MOST
            && (owners.len() < MOST_OF_ONE
                || owners.values().filter(|other| **other == owner).count() < MOST_OF_ONE)
    }

    /// A caller began a session.
    pub(super) fn begin(&self, session: &str, caller: &Caller) {
        self.lock().insert(session.to_owned(), Owner::of(caller));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Owner>> {
        self.by_session
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
