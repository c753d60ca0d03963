//! Sessions of the session-based MCP revisions. A session belongs to the caller who started it, ends with the token
//! that was last used for it, and their number is limited per caller.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http::{Method, StatusCode};
use parking_lot::Mutex;
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

use super::credential::Credential;
use notehost_policy::auth::{Caller, Proof};

/// The maximum number of sessions, at about 55 KiB each.
const MAX_SESSIONS: usize = 4096;

/// The maximum per caller, so that none can lock out the others.
const MAX_SESSIONS_OF_CALLER: usize = 2048;

/// The session manager of rmcp. A session that is idle for so long is ended, and its client begins another one. A reply
/// that was sent is not kept for a client that requests it again: rmcp drops it only at the next event of that
/// session, so that one caller's idle sessions could hold any number of them.
pub(super) fn manager(idle: Duration) -> Arc<LocalSessionManager> {
    let mut manager = LocalSessionManager::default();
    manager.session_config.keep_alive = Some(idle);
    manager.session_config.completed_cache_ttl = Duration::ZERO;
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

/// The owners of sessions.
pub(super) struct Owners {
    manager: Arc<LocalSessionManager>,
    by_session: Mutex<HashMap<String, Held>>,
}

/// A session's owner, and what it last authenticated with: clients renew signed tokens within a session.
struct Held {
    owner: Owner,
    credential: Credential,
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

    /// The number of sessions.
    pub(super) async fn count(&self) -> usize {
        self.manager.sessions.read().await.len()
    }

    /// Whether a caller owns this session. From now on the session ends with this credential.
    pub(super) fn is_of(&self, session: &str, credential: &Credential) -> bool {
        let mut sessions = self.lock();
        let held = sessions.get_mut(session);
        let held = held.filter(|held| held.owner == Owner::of(credential.caller()));
        match held {
            Some(held) => {
                held.credential = credential.clone();
                true
            }
            None => false,
        }
    }

    /// Whether a caller can begin another session.
    pub(super) async fn has_room(&self, caller: &Caller) -> bool {
        let live = self.manager.sessions.read().await;
        let mut owners = self.lock();
        // Sessions that have ended are forgotten here, and only when they have become many: most requests pass by.
        if owners.len() > 2 * live.len() + 64 || owners.len() >= MAX_SESSIONS_OF_CALLER {
            owners.retain(|session, _| live.contains_key(session.as_str()));
        }
        let owner = Owner::of(caller);
        live.len() < MAX_SESSIONS
            && (owners.len() < MAX_SESSIONS_OF_CALLER
                || owners.values().filter(|held| held.owner == owner).count()
                    < MAX_SESSIONS_OF_CALLER)
    }

    /// Registers a session of a caller.
    pub(super) fn begin(&self, session: &str, credential: &Credential) {
        let held = Held {
            owner: Owner::of(credential.caller()),
            credential: credential.clone(),
        };
        self.lock().insert(session.to_owned(), held);
    }

    /// Ends sessions with invalid credentials.
    pub(super) async fn end_lapsed(&self, holds: impl Fn(&Credential) -> bool) {
        let held: Vec<(String, Credential)> = {
            let sessions = self.lock();
            let held = sessions.iter();
            held.map(|(id, held)| (id.clone(), held.credential.clone()))
                .collect()
        };
        for (session, credential) in held {
            if holds(&credential) {
                continue;
            }
            self.lock().remove(&session);
            // One that its client ended meanwhile is gone already.
            if let Err(error) = self.manager.close_session(&session.into()).await {
                tracing::debug!(%error, "a session could not be closed");
            }
        }
    }

    fn lock(&self) -> parking_lot::MutexGuard<'_, HashMap<String, Held>> {
        self.by_session.lock()
    }
}
